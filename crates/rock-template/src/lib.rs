//! Evaluates the expressions of recipes and renders templates, with minijinja.
//!
//! Input: a text and its values. Output: an [`ExpressionEnv`] evaluates texts of recipes, and
//! [`render`] fills in the templates of the program. Recipes use `{{ }}` inside quoted scalars;
//! templates of workflows, scripts and pages use `<< >>`, `<% %>` and `<# #>`, so that `${{ }}` and
//! `{{ }}` are kept unchanged. Undefined names are errors in both.
//!
//! ```
//! use std::collections::BTreeMap;
//!
//! let values = BTreeMap::from([("torch", "2.9.1")]);
//! let text = rock_template::render("requirements.txt", "torch==<< torch|minor >>.*", &values)?;
//! assert_eq!(text, "torch==2.9.*");
//! # Ok::<(), rock_template::TemplateError>(())
//! ```
//!
//! **Invariant:** templates have access only to the values that they are given: no files, no
//! environment, no clock.

mod expression;
mod filters;
mod limits;

use minijinja::{Environment, UndefinedBehavior, syntax::SyntaxConfig};
use serde::Serialize;

pub use expression::{CompiledText, ExpressionEnv, TemplateError, TemplateSpan};
pub use limits::{MOST_BLOCKS, MOST_OPERATORS};
pub use minijinja::{
    Value,
    value::{Object, Serde, merge_maps},
};

/// Renders a template of the program, with strict undefined values and without escaping.
///
/// # Errors
/// If the template uses a value that it was not given; that is a bug in the program, caught by
/// tests.
pub fn render(name: &str, source: &str, context: &impl Serialize) -> Result<String, TemplateError> {
    let mut environment = environment();
    let syntax = SyntaxConfig::builder()
        .block_delimiters("<%", "%>")
        .variable_delimiters("<<", ">>")
        .comment_delimiters("<#", "#>")
        .trim_blocks(true)
        .lstrip_blocks(true)
        .keep_trailing_newline(true)
        .build()
        .map_err(|e| TemplateError::new(name, &e))?;
    environment.set_syntax(syntax);
    environment
        .render_named_str(name, source, minijinja::value::Serde(context))
        .map_err(|e| TemplateError::new(name, &e))
}

fn environment() -> Environment<'static> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_auto_escape_callback(|_| minijinja::AutoEscape::None);
    filters::add_to(&mut environment);
    environment
}
