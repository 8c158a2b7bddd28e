//! The container command of a job as text.

use super::script::{command, quote};
use crate::container::{self, ContainerRun, DEVICE_NODES, DeviceAccess};
use rock_plan::Job;
use rock_plan::config::GpuPolicy;

/// Renders the container command for pasting into a shell. For `gpu: auto` it tests for the device
/// nodes first and runs one of two commands, as a comment says.
pub fn docker(job: &Job, container: &ContainerRun<'_>) -> String {
    let with = |devices| {
        let container = ContainerRun {
            devices,
            ..container.clone()
        };
        wrapped(&container::argv(job, &container))
    };
    match job.gpu {
        GpuPolicy::None => with(DeviceAccess::Absent),
        GpuPolicy::Required => with(DeviceAccess::Present),
        GpuPolicy::Auto => {
            let test: Vec<String> = DEVICE_NODES
                .iter()
                .map(|node| format!("[ -e {} ]", quote(node)))
                .collect();
            let indent = |text: String| {
                text.lines()
                    .map(|line| format!("  {line}\n"))
                    .collect::<String>()
            };
            format!(
                "# One of these runs: with a GPU, the first command, which passes its devices; \
                 without one, the second.\n\
                 if {}; then\n{}else\n{}fi\n",
                test.join(" && "),
                indent(with(DeviceAccess::Present)),
                indent(with(DeviceAccess::Absent))
            )
        }
    }
}

/// Writes one option per line, each continued with a backslash; the last line has the image and its
/// command.
fn wrapped(argv: &[String]) -> String {
    const TAKES_A_WORD: [&str; 4] = ["--group-add", "--security-opt", "--shm-size", "--ulimit"];
    let mut lines: Vec<String> = Vec::new();
    let mut words = argv.iter();
    lines.push(command(
        &words.by_ref().take(3).cloned().collect::<Vec<_>>(),
    ));
    while let Some(word) = words.next() {
        let mut line = vec![word.clone()];
        if TAKES_A_WORD.contains(&word.as_str()) {
            line.extend(words.next().cloned());
        } else if !word.starts_with('-') {
            line.extend(words.by_ref().cloned());
        }
        lines.push(
            line.iter()
                .map(|word| quote(word))
                .collect::<Vec<_>>()
                .join(" "),
        );
    }
    lines.join(" \\\n  ") + "\n"
}
