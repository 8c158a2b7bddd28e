//! Known causes of failed steps.

use itertools::Itertools as _;

use super::step_failure::StepError;
use rock_compat::Compat;
use rock_diagnostic::Diagnostic;
use rock_doctor::known_failures;
use rock_recipe::Step;

/// Adds the known failures that match a failed step: its name, command, variables and output.
/// `resume` is the command that resumes the build.
pub(super) fn add_known_failures(
    mut diagnostic: Diagnostic,
    error: &StepError,
    steps: &[Step],
    compat: &Compat,
    resume: &str,
) -> Diagnostic {
    let step = steps.iter().find(|step| step.stage == error.stage);
    let variables = step
        .iter()
        .flat_map(|step| &step.env)
        .map(|(name, value)| format!("{name}={value}"));
    let output = error.output.errors.iter().chain(&error.output.tail);
    let text = [error.stage.clone(), error.command.clone()]
        .into_iter()
        .chain(variables)
        .chain(output.cloned())
        .join("\n");
    let known = known_failures(compat, &text);
    for row in &known {
        let source = compat.cite("run-time.yaml", &row.failure, &row.origin);
        diagnostic = diagnostic.note(format!("known problem: {} ({source})", row.reason));
    }
    let help = known
        .iter()
        .map(|row| row.help.as_str())
        .unique()
        .join("; ");
    if help.is_empty() {
        diagnostic
    } else {
        diagnostic.help(format!("{help}, then run `{resume}`"))
    }
}
