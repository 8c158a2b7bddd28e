//! Texts of recipes: plain text, text with `{{ }}` in it, or one expression that keeps its type.

use std::fmt::Write as _;
use std::sync::OnceLock;

use minijinja::{Environment, Value};

/// A template or expression that could not be evaluated.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct TemplateError {
    /// The template's name or the expression's text.
    pub name: String,
    /// The reason, on one line.
    pub reason: String,
    /// The one-based line in the template, if known.
    pub line: Option<usize>,
}

impl TemplateError {
    pub(super) fn new(name: &str, error: &minijinja::Error) -> Self {
        let mut reason = error.to_string();
        let mut source = std::error::Error::source(error);
        while let Some(inner) = source {
            reason = format!("{reason}: {inner}");
            source = inner.source();
        }
        Self {
            name: name.to_owned(),
            reason,
            line: error.line(),
        }
    }
}

/// The minijinja environment for texts of recipes.
#[derive(Debug, Default)]
pub struct ExpressionEnv {
    /// Created on first use, because plain text needs none.
    environment: OnceLock<Environment<'static>>,
    /// The environment that marks the results of expressions, for [`Self::spans`].
    marking: OnceLock<Environment<'static>>,
}

/// Returns an environment that puts control characters around the results of expressions.
fn marking_environment() -> Environment<'static> {
    let mut environment = super::environment();
    environment.set_formatter(|out, state, value| {
        out.write_char(OPEN)?;
        minijinja::escape_formatter(out, state, value)?;
        out.write_char(CLOSE)?;
        Ok(())
    });
    environment
}

impl ExpressionEnv {
    fn environment(&self) -> &Environment<'static> {
        self.environment.get_or_init(super::environment)
    }

    /// Evaluates a text. A text that is exactly `{{ … }}` keeps the type of its expression (list,
    /// boolean, none); any other evaluates to text.
    ///
    /// # Errors
    /// If the text does not parse, uses an unknown name, or exceeds the limits on expressions.
    pub fn evaluate(&self, text: &str, context: &Value) -> Result<Value, TemplateError> {
        self.compile(text)?.evaluate(context)
    }

    /// Compiles a text that is evaluated several times.
    ///
    /// # Errors
    /// If the text is a single expression that does not parse, or exceeds the limits on
    /// expressions.
    pub fn compile(&self, text: &str) -> Result<CompiledText<'_>, TemplateError> {
        super::limits::check(text)?;
        let form = match single_expression(text) {
            Some(expression) => TextForm::Expression(
                self.environment()
                    .compile_expression_owned(expression.to_owned())
                    .map_err(|error| TemplateError::new(text, &error))?,
            ),
            None if text.contains("{{") || text.contains("{%") => {
                TextForm::Template(self.environment())
            }
            None => TextForm::Plain,
        };
        Ok(CompiledText {
            text: text.to_owned(),
            form,
        })
    }

    /// Evaluates to text; `None` if the expression evaluates to none.
    ///
    /// # Errors
    /// If [`Self::evaluate`] fails.
    pub fn text(&self, text: &str, context: &Value) -> Result<Option<String>, TemplateError> {
        self.evaluate(text, context).map(|value| {
            if value.is_none() {
                None
            } else {
                Some(value.to_string())
            }
        })
    }

    /// Evaluates to text, and keeps literal text apart from the results of expressions.
    ///
    /// # Errors
    /// If [`Self::evaluate`] would fail, the text contains the control characters that mark
    /// insertions, or a value contains one of them unpaired.
    pub fn spans(&self, text: &str, context: &Value) -> Result<Vec<TemplateSpan>, TemplateError> {
        let fault = |reason: &str| TemplateError {
            name: text.to_owned(),
            reason: reason.to_owned(),
            line: None,
        };
        super::limits::check(text)?;
        if single_expression(text).is_some() {
            return Ok(self
                .text(text, context)?
                .map(TemplateSpan::Inserted)
                .into_iter()
                .collect());
        }
        if text.contains([OPEN, CLOSE]) {
            return Err(fault("it contains a control character"));
        }
        let rendered = self
            .marking
            .get_or_init(marking_environment)
            .render_str(text, context)
            .map_err(|error| TemplateError::new(text, &error))?;
        let (mut spans, mut depth, mut rest) = (Vec::new(), 0_u32, rendered.as_str());
        while let Some(at) = rest.find([OPEN, CLOSE]) {
            push_span(&mut spans, &rest[..at], depth > 0);
            let is_open = rest[at..].starts_with(OPEN);
            let next = if is_open {
                depth.checked_add(1)
            } else {
                depth.checked_sub(1)
            };
            depth = next.ok_or_else(|| fault("a value contains a control character"))?;
            rest = &rest[at + OPEN.len_utf8()..];
        }
        push_span(&mut spans, rest, depth > 0);
        if depth == 0 {
            Ok(spans)
        } else {
            Err(fault("a value contains a control character"))
        }
    }

    /// Evaluates a condition; text is true unless it is empty or `false`.
    ///
    /// # Errors
    /// If [`Self::evaluate`] fails.
    pub fn is_true(&self, text: &str, context: &Value) -> Result<bool, TemplateError> {
        self.compile(text)?.is_true(context)
    }
}

/// A compiled text.
#[derive(Debug)]
pub struct CompiledText<'e> {
    text: String,
    form: TextForm<'e>,
}

#[derive(Debug)]
enum TextForm<'e> {
    Plain,
    /// Text with expressions in it; compiled each time.
    Template(&'e Environment<'static>),
    Expression(minijinja::Expression<'e, 'static>),
}

impl CompiledText<'_> {
    /// Evaluates the text as [`ExpressionEnv::evaluate`] does.
    ///
    /// # Errors
    /// If the text does not parse or uses an unknown name.
    pub fn evaluate(&self, context: &Value) -> Result<Value, TemplateError> {
        let fault = |error: minijinja::Error| TemplateError::new(&self.text, &error);
        match &self.form {
            TextForm::Plain => Ok(Value::from(self.text.as_str())),
            TextForm::Template(environment) => environment
                .render_str(&self.text, context)
                .map(Value::from)
                .map_err(fault),
            TextForm::Expression(expression) => {
                let value = expression.eval(context).map_err(fault)?;
                if value.is_undefined() {
                    let expression = single_expression(&self.text).unwrap_or_default();
                    return Err(TemplateError {
                        name: self.text.clone(),
                        reason: format!("`{}` is undefined", expression.trim()),
                        line: None,
                    });
                }
                Ok(value)
            }
        }
    }

    /// Evaluates a condition as [`ExpressionEnv::is_true`] does.
    ///
    /// # Errors
    /// If [`Self::evaluate`] fails.
    pub fn is_true(&self, context: &Value) -> Result<bool, TemplateError> {
        self.evaluate(context).map(|value| match value.as_str() {
            Some(text) => !matches!(text, "" | "false"),
            None => value.is_true(),
        })
    }
}

/// A part of an evaluated text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TemplateSpan {
    /// Literal text of the recipe.
    Written(String),
    /// The result of an expression.
    Inserted(String),
}

/// Control characters that mark insertions while a text is evaluated.
const OPEN: char = '\u{2}';
const CLOSE: char = '\u{3}';

fn push_span(spans: &mut Vec<TemplateSpan>, text: &str, is_inserted: bool) {
    match (text.is_empty(), is_inserted) {
        (true, _) => {}
        (false, true) => spans.push(TemplateSpan::Inserted(text.to_owned())),
        (false, false) => spans.push(TemplateSpan::Written(text.to_owned())),
    }
}

/// Returns the inside of a text that is a single expression and nothing else.
fn single_expression(text: &str) -> Option<&str> {
    let inside = text.trim().strip_prefix("{{")?.strip_suffix("}}")?;
    (!inside.contains("{{") && !inside.contains("}}")).then_some(inside)
}

#[cfg(test)]
mod tests {
    use super::{ExpressionEnv, TemplateSpan};
    use minijinja::{Value, context};

    fn check(text: &str) -> Value {
        ExpressionEnv::default()
            .evaluate(
                text,
                &context! { gfx => ["gfx90a", "gfx942"], rocm => "6.2.4" },
            )
            .unwrap()
    }

    #[test]
    fn one_expression_keeps_its_type_and_mixed_text_is_text() {
        assert_eq!(check("{{ gfx }}").len(), Some(2));
        assert!(check("{{ none }}").is_none());
        assert_eq!(check("rocm{{ rocm }}").as_str(), Some("rocm6.2.4"));
        assert_eq!(check("plain").as_str(), Some("plain"));
    }

    #[test]
    fn literal_text_and_groups_of_replacements_are_kept_apart() {
        let spans =
            |text: &str| ExpressionEnv::default().spans(text, &context! { x => r"\1\n", y => "" });
        let written = |text: &str| TemplateSpan::Written(text.to_owned());
        let inserted = |text: &str| TemplateSpan::Inserted(text.to_owned());
        assert_eq!(
            spans(r"\1{{ x }}\2{{ y }}").unwrap(),
            [written(r"\1"), inserted(r"\1\n"), written(r"\2")]
        );
        assert_eq!(spans("{{ x }}").unwrap(), [inserted(r"\1\n")]);
        let nested = "{% set z %}a{{ x }}{% endset %}{{ z }}b";
        assert_eq!(
            spans(nested).unwrap(),
            [inserted("a"), inserted(r"\1\n"), written("b")]
        );
        assert_eq!(spans("plain").unwrap(), [written("plain")]);
        for bad in ["{{ 'a\u{3}' }}b", "\u{2}", "{{ torhc }}x"] {
            assert!(spans(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn an_unknown_name_is_an_error_in_both_forms() {
        for text in [
            "{{ torhc }}",
            "x{{ torhc }}",
            "{{ gfx| }}",
            "{{ gfx.nothing }}",
        ] {
            assert!(
                ExpressionEnv::default()
                    .evaluate(text, &context! { gfx => 1 })
                    .is_err(),
                "{text}"
            );
        }
    }

    #[test]
    fn filters_print_versions_and_lists_as_builds_want_them() {
        assert_eq!(check("{{ gfx|semis }}").as_str(), Some("gfx90a;gfx942"));
        assert_eq!(check("{{ gfx|commas }}").as_str(), Some("gfx90a,gfx942"));
        assert_eq!(check("{{ rocm|dotless }}").as_str(), Some("624"));
        assert_eq!(check("{{ rocm|minor }}").as_str(), Some("6.2"));
        assert_eq!(check("{{ '3.13t'|cp_tag }}").as_str(), Some("cp313-cp313t"));
        assert_eq!(check("{{ 'a b'|quote }}").as_str(), Some("'a b'"));
        assert!(check("{{ '2.14.0'|in_range('>=2.14') }}").is_true());
        assert!(!check("{{ '2.9.1'|in_range('>=2.14') }}").is_true());
        assert!(check("{{ gfx|starts_any(['gfx94']) }}").is_true());
        let below = |path: &str| {
            check(&format!("{{{{ '{path}'|below('/c') }}}}"))
                .as_str()
                .map(str::to_owned)
        };
        assert_eq!(
            ["a/b", "/a", ""].map(below),
            ["/c/a/b", "/a", ""].map(|path| Some(path.to_owned()))
        );
        assert_eq!(check("{{ '/a/b.whl'|basename }}").as_str(), Some("b.whl"));
        assert_eq!(
            check("{{ 'gfx942, gfx1151;gfx942'|words|semis }}").as_str(),
            Some("gfx942;gfx1151")
        );
        assert_eq!(
            check("{{ gfx|translate(['gfx942=MI300X', 'gfx1100'])|semis }}").as_str(),
            Some("MI300X")
        );
        assert_eq!(
            check("{{ '2.10.0-RC1'|pep440 }}").as_str(),
            Some("2.10.0rc1")
        );
        assert_eq!(check("{{ '3.10'|yaml }}").as_str(), Some("'3.10'"));
        assert_eq!(
            check("{{ gfx|json }}").as_str(),
            Some("[\"gfx90a\",\"gfx942\"]")
        );
    }

    #[test]
    fn functions_make_version_suffixes_and_requirements() {
        assert_eq!(
            check("2.9.0{{ rocm_suffix('7.10.0.dev0+efed3c') }}").as_str(),
            Some("2.9.0+devrocm7.10.0.dev0.efed3c")
        );
        assert_eq!(
            check("{{ '2.7.0' ~ rocmsdk_suffix('2025-05-28') }}").as_str(),
            Some("2.7.0+rocmsdk20250528")
        );
        let dev =
            "{{ local_version([git_segment('1a2b3c4d5e6f'), rocm_suffix('7.10.0'), none, '']) }}";
        assert_eq!(check(dev).as_str(), Some("git1a2b3c4d.rocm7.10.0"));
        assert_eq!(check("{{ local_version([]) }}").as_str(), Some(""));
        for text in [
            "{{ rocm_suffix('x') }}",
            "{{ rocmsdk_suffix('x') }}",
            "{{ local_version(['+a+b']) }}",
        ] {
            assert!(
                ExpressionEnv::default()
                    .evaluate(text, &context! {})
                    .is_err(),
                "{text}"
            );
        }
    }

    /// A triton wheel adds a second requirement.
    #[test]
    fn requirements_are_joined_with_a_pipe_and_empty_ones_left_out() {
        let torch = |triton: &str| {
            check(&format!(
                "{{{{ requirements(['rocm[libraries]==7.10.0', {triton}]) }}}}"
            ))
        };
        let wheel = "'out/triton-3.4.0+rocm7.10.0-cp312-cp312-linux_x86_64.whl'|requirement";
        assert_eq!(
            torch(wheel).as_str(),
            Some("rocm[libraries]==7.10.0|triton==3.4.0+rocm7.10.0")
        );
        for none in ["''", "none"] {
            assert_eq!(torch(none).as_str(), Some("rocm[libraries]==7.10.0"));
        }
    }
}
