//! The container command of a job as text.

use super::script::{command, quote};
use crate::config::GpuPolicy;
use crate::plan::Job;
use crate::recipe::container::{self, Container, DEVICE_NODES, Devices};

/// The command as a person pastes it. For `gpu: auto` it looks for the device nodes first and takes one of two.
pub fn docker(job: &Job, container: &Container<'_>) -> String {
    let with = |devices| {
        let container = Container { devices, ..container.clone() };
        wrapped(&container::argv(job, &container))
    };
    match job.gpu {
        GpuPolicy::None => with(Devices::Absent),
        GpuPolicy::Required => with(Devices::Present),
        GpuPolicy::Auto => {
            let test: Vec<String> = DEVICE_NODES.iter().map(|node| format!("[ -e {} ]", quote(node))).collect();
            let indent = |text: String| text.lines().map(|line| format!("  {line}\n")).collect::<String>();
            format!(
                "if {}; then\n{}else\n{}fi\n",
                test.join(" && "),
                indent(with(Devices::Present)),
                indent(with(Devices::Absent))
            )
        }
    }
}

/// One option a line, each continued with a backslash.
fn wrapped(argv: &[String]) -> String {
    let mut lines: Vec<String> = Vec::new();
    let mut words = argv.iter().peekable();
    let mut line: Vec<String> = words.by_ref().take(3).cloned().collect();
    for word in words {
        let takes_next = line.len() == 1 && line[0].starts_with("--") && !line[0].contains('=');
        if !takes_next || word.starts_with("--") {
            lines.push(command(&line));
            line.clear();
        }
        line.push(word.clone());
    }
    lines.push(command(&line));
    lines.join(" \\\n  ") + "\n"
}
