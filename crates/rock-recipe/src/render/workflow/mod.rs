//! A GitHub Actions workflow that plans, builds, attests and publishes the wheels of matrix files.
//!
//! Input: a plan, the compatibility data, and the command-line arguments that the workflow repeats.
//! Output: the text of one file.
//!
//! **Invariant:** Every action is pinned to a commit in the compatibility data (our own to a
//! version, while it has no commit there), no expression occurs inside a shell script, and a file
//! that GitHub would reject is an error instead of a text.

mod keys;
mod limits;
mod options;
mod pins;
mod view;

use rock_compat::Compat;
use rock_diagnostic::Sink;
use rock_plan::{self as plan, Plan};
use rock_template::render;

pub use limits::warn_of_attempts;
pub use options::for_windows;

/// The start of every rendered workflow file.
pub const FIRST_WORDS: &str = "# Rendered by rock-matrix ";

/// Returns the command that renders a workflow again, as its second line names it. `None` for a
/// file that was not rendered.
pub fn rendering_command(text: &str) -> Option<&str> {
    let mut lines = text.lines();
    lines.next().filter(|line| line.starts_with(FIRST_WORDS))?;
    lines.next()?.split('`').nth(1)
}

/// Whether two rendered workflows differ in more than the version of the program, which the first
/// line names.
pub fn workflows_differ(left: &str, right: &str) -> bool {
    let [left, right] = [left, right].map(|text| text.split_once('\n').map(|(_, rest)| rest));
    left != right
}

/// The command-line arguments that a workflow repeats, in addition to the plan.
#[derive(Debug, Clone, Copy)]
pub struct WorkflowOverrides<'a> {
    /// Name and version of the program, `rock-matrix 0.1.0`.
    pub generator: &'a str,
    /// Matrix files as named on the command line; if empty, those of `matrices/`.
    pub files: &'a [String],
    /// The file that is written or compared.
    pub out: &'a str,
    /// The argument of `--compat`.
    pub compat: Option<&'a str>,
    /// Files and directories of the checkout that recipes build from.
    pub sources: &'a [String],
    /// The argument of `--recipes`.
    pub recipes: Option<&'a str>,
    /// The overlay directory `matrices/compat`, which commands of the workflow find in the checkout
    /// without an option.
    pub compat_overlay: Option<&'a str>,
    /// The overlay directory `matrices/recipes`, which they find likewise.
    pub recipe_overlay: Option<&'a str>,
}

/// Renders the workflow of a plan. Reports everything that prevents this to the sink, and then
/// returns `None`.
pub fn workflow(
    plan: &Plan,
    compat: &Compat,
    words: &WorkflowOverrides<'_>,
    sink: &mut Sink,
) -> Option<String> {
    let errors = sink.error_count();
    let options = options::agreed(plan, sink);
    options::check_paths(plan, words, sink);
    let pins = pins::pins(compat, sink);
    let attest = options
        .as_ref()
        .map(|options| options.release.attest)
        .unwrap_or_default();
    limits::check_jobs(plan, attest, compat, sink);
    warn_of_attempts(plan, |_| true, sink);
    limits::warn_of_host_values(plan, sink);
    plan::warn_of_caches(plan, sink);
    let (Some(options), Some(pins), true) = (options, pins, sink.error_count() == errors) else {
        return None;
    };
    let view = view::WorkflowView::new(plan, compat, &options, pins, words);
    let text = render("templates/workflow/wheels.yml", TEMPLATE, &view);
    let text = text.expect("the view has every value that the template uses");
    keys::check(&text, &plan::github(plan, sink)?, sink);
    limits::check_text(text, compat, sink).filter(|_| sink.error_count() == errors)
}

const TEMPLATE: &str = include_str!("../../../templates/workflow/wheels.yml");
