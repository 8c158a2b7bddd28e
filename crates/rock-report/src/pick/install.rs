//! The lines that a person types on a machine to install the wheel for it.

use super::{TargetMachine, WheelCandidate, torch_sentence};
use rock_compat::InstallCommands;
use rock_plan::config::RunTime;

/// Returns the line for this machine, with what it does: the one for an installed torch, or the one
/// from nothing. A machine that says nothing of torch gets both.
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
    // A torch that is named takes the place of what the machine said.
    let is_missing = !is_installed && (machine.has_no_torch || machine.foreign_torch.is_some());
    let sentence = torch_sentence(wheel.torch.is_some());
    match (from_nothing, &wheel.official_torch) {
        (Some(line), Some(torch)) if is_missing => {
            format!(
                "  {line}\n\nThe line installs {} as well.\n",
                torch.requirement
            )
        }
        (Some(line), _) if !is_installed => {
            format!("  {with_torch}\n\n{sentence}\nWhere nothing is installed:\n\n  {line}\n")
        }
        _ => format!("  {with_torch}\n\n{sentence}\n"),
    }
}

/// Returns the needs at run time as text, with a line for a shell for each variable; empty where
/// there are none.
pub fn run_time_text(run_time: &RunTime) -> String {
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
