//! The commands that install a wheel on a machine.

use super::{TargetMachine, WheelCandidate, torch_sentence};
use rock_compat::{InstallCommands, RuntimeRequirements};

/// Returns the install command for this machine and its effect: the command for an installed torch,
/// or the one from scratch. If nothing is known about torch on the machine, both are returned.
pub fn for_machine(
    lines: InstallCommands,
    wheel: &WheelCandidate,
    machine: &TargetMachine,
) -> String {
    let InstallCommands {
        with_torch,
        from_nothing,
    } = lines;
    let is_installed = machine.torch.is_some() && machine.foreign_torch.is_none();
    // A torch that the user names takes precedence over the detected one.
    let is_missing = !is_installed && (machine.has_no_torch || machine.foreign_torch.is_some());
    let sentence = torch_sentence(wheel.torch.is_some());
    match (from_nothing, &wheel.official_torch) {
        (Some(line), Some(torch)) if is_missing => {
            format!("  {line}\n\nThis also installs {}.\n", torch.requirement)
        }
        (Some(line), _) if !is_installed => {
            format!("  {with_torch}\n\n{sentence}\nIf torch is not installed:\n\n  {line}\n")
        }
        _ => format!("  {with_torch}\n\n{sentence}\n"),
    }
}

/// Returns the needs at run time as text, with a shell command for each variable; empty if there
/// are none.
pub fn run_time_text(run_time: &RuntimeRequirements) -> String {
    if run_time.is_empty() {
        return String::new();
    }
    if run_time.env.is_empty() {
        return format!("{}.\n", run_time.sentence());
    }
    let exports: String = run_time
        .assignments()
        .map(|text| format!("  export {text}\n"))
        .collect();
    format!("{}:\n\n{exports}\n", run_time.sentence())
}
