//! The GPU that a runner has assigned to a job. AMD's runners list it in files of their pods.
//!
//! Input: the directory of these files. Output: an [`AssignedGpu`] for the container.
//!
//! **Invariant:** Only devices below `/dev/dri` become options of a container engine.

use std::path::Path;

use super::limits::MAX_DEVICES_BYTES;
use crate::codes::release as codes;
use rock_diagnostic::{Diagnostic, Location};
use rock_recipe::container::{AssignedGpu, render_nodes};
use rock_sys as sys;

/// The directory of these files in the pods of AMD's runners (ROCm/TheRock and ROCm/rocm-libraries,
/// container options of tests).
pub const PODINFO: &str = "/etc/podinfo";
/// The file with environment variables for the container that isolate the GPU.
const ISOLATION: &str = "gha-gpu-isolation-settings";
/// The file with container options that pass the render nodes of the GPU.
const RENDER_DEVICES: &str = "gha-render-devices";

/// Reads which GPU is assigned; `None` if the machine has no assignment.
///
/// # Errors
/// If the device list cannot be read, or contains anything other than render nodes.
pub fn assigned_gpu(podinfo: &Path) -> Result<Option<AssignedGpu>, Diagnostic> {
    let (isolation, devices) = (podinfo.join(ISOLATION), podinfo.join(RENDER_DEVICES));
    let mut gpu = AssignedGpu::default();
    if sys::exists(&isolation) {
        gpu.env_file = Some(isolation.display().to_string());
    }
    if sys::exists(&devices) {
        let text = sys::read_text(&devices, MAX_DEVICES_BYTES).map_err(Diagnostic::from)?;
        gpu.render_nodes = render_nodes(&text).map_err(|word| {
            Diagnostic::new(
                &codes::STRANGE_DEVICE,
                format!("`{word}` is not a device below `/dev/dri`"),
            )
            .at(Location::File(devices.display().to_string().into()), "")
            .help(
                "the file should have options such as `--device /dev/dri/renderD128`: ask the \
                 operator of this machine",
            )
        })?;
    }
    Ok((gpu != AssignedGpu::default()).then_some(gpu))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods, reason = "the tests make such files")]

    use super::{MAX_DEVICES_BYTES, assigned_gpu, render_nodes};
    use rock_recipe::container::AssignedGpu;

    #[test]
    fn the_gpu_that_a_runner_assigned_is_read_when_it_is_there() {
        let directory = tempfile::tempdir().unwrap();
        assert_eq!(assigned_gpu(directory.path()).unwrap(), None);
        // Pods without an assignment have an empty file.
        std::fs::write(directory.path().join("gha-render-devices"), "\n").unwrap();
        assert_eq!(assigned_gpu(directory.path()).unwrap(), None);
        std::fs::write(
            directory.path().join("gha-render-devices"),
            "--device /dev/dri/renderD129\n",
        )
        .unwrap();
        std::fs::write(
            directory.path().join("gha-gpu-isolation-settings"),
            "ROCR_VISIBLE_DEVICES=1\n",
        )
        .unwrap();
        let file = directory
            .path()
            .join("gha-gpu-isolation-settings")
            .display()
            .to_string();
        let expected = AssignedGpu {
            env_file: Some(file),
            render_nodes: vec!["/dev/dri/renderD129".to_owned()],
        };
        assert_eq!(assigned_gpu(directory.path()).unwrap(), Some(expected));
    }

    #[test]
    fn a_list_of_devices_past_its_limit_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let most = usize::try_from(MAX_DEVICES_BYTES).unwrap();
        let write = |bytes: usize| {
            std::fs::write(
                directory.path().join("gha-render-devices"),
                " ".repeat(bytes),
            )
            .unwrap();
        };
        write(most);
        assert_eq!(assigned_gpu(directory.path()).unwrap(), None);
        write(most + 1);
        assert!(
            assigned_gpu(directory.path())
                .unwrap_err()
                .message
                .contains("larger than 4096 bytes")
        );
    }

    #[test]
    fn words_that_are_no_render_devices_are_refused() {
        let two = [
            "/dev/dri/renderD128".to_owned(),
            "/dev/dri/card1:/dev/dri/card1".to_owned(),
        ];
        assert_eq!(
            render_nodes("--device=/dev/dri/renderD128 --device /dev/dri/card1:/dev/dri/card1"),
            Ok(two.into())
        );
        for text in [
            "--privileged",
            "--device",
            "--device /dev/sda",
            "--device=/dev/dri/../sda",
            "/dev/dri",
            "--device=/dev/dri,x",
        ] {
            assert!(render_nodes(text).is_err(), "{text}");
        }
        // G364
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("gha-render-devices"), "--privileged").unwrap();
        assert_eq!(
            assigned_gpu(directory.path()).unwrap_err().message,
            "`--privileged` is not a device below `/dev/dri`"
        );
    }
}
