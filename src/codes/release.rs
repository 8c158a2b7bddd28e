//! The `G` codes, for releases in directories and on GitHub, and for published wheels.

use rock_diagnostic::Code;
pub use rock_exec::codes::release::*;
pub use rock_github::codes::release::*;
pub use rock_index::codes::release::*;
pub use rock_plan::codes::release::*;
pub use rock_publish::codes::published::*;
pub use rock_publish::codes::release::*;
pub use rock_report::codes::release::*;

/// All codes of this module, sorted by ID.
pub const ALL: &[&Code] = &[
    &BAD_BASE_URL,
    &NO_TARGET,
    &BAD_GITHUB_ADDRESS,
    &BAD_ENVIRONMENT,
];

/// An invalid base URL.
pub const BAD_BASE_URL: Code = Code::error(
    "G015",
    "bad-base-url",
    "`--base-url` is the URL under which the files will be served: each link is that URL, a slash and the filename. It must be an `https`, `http` or `file` URL without query, fragment or password.",
);
/// A `publish` without a target.
pub const NO_TARGET: Code = Code::error(
    "G017",
    "no-target",
    "`publish` needs a target.\n\n`--repo OWNER/REPO --tag TAG` publishes a release on GitHub. `--out DIR` creates the same release in a directory, with wheels, checksums, manifest and index, and needs neither an account nor a network.",
);
/// An invalid repository name or API URL.
pub const BAD_GITHUB_ADDRESS: Code = Code::error(
    "G111",
    "bad-github-address",
    "A repository has the form `OWNER/REPO`, and the API is a URL, for example `https://github.example.com/api/v3`. A URL without encryption is accepted only for this machine, because the token would cross the network in plain text, and only in `--api-url`, not in `GITHUB_API_URL`. `--uploads-host` takes a host, with a port if it does not use the default one.",
);
/// An invalid environment.
pub const BAD_ENVIRONMENT: Code = Code::error(
    "G206",
    "bad-environment",
    "The file in `--environment` does not describe a machine.\n\nPass the output of `rock-matrix doctor --format json` on the machine that the wheel is for.",
);
