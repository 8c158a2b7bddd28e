//! The `G` codes, for releases in directories and on GitHub, and for published wheels.

use rock_diagnostic::Code;

/// All codes of this module, sorted by ID.
pub const ALL: &[&Code] = &[&STRANGE_DEVICE];

/// A device option of a runner that is not a render node.
pub const STRANGE_DEVICE: Code = Code::error(
    "G364",
    "strange-device",
    "AMD's runners list the render nodes that a job may use in `/etc/podinfo/gha-render-devices`, as docker options such as `--device /dev/dri/renderD128`. The file contains something else, which would become an option of the container engine, so nothing is started.\n\nAsk the operator of the machine to correct the file.",
);
