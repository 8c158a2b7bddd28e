//! Environment variables as text for a shell, conda, a workflow or docker.
//!
//! **Invariant:** A value is the same in every format; a value that a format cannot represent is
//! rejected, not changed.

use serde::Serialize;

use super::script::{plain_or_quoted, single_quoted};
use super::windows;
use rock_compat::{EnvVariable, UnsetVariable};

/// The format of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EnvironmentFormat {
    /// A script to source in a POSIX shell.
    Sh,
    /// A conda command that stores the variables in the active environment.
    Conda,
    /// An `env:` block of a GitHub workflow.
    Yaml,
    /// A file for `docker run --env-file`.
    EnvFile,
    /// PowerShell.
    PowerShell,
    /// A batch file of cmd.
    Cmd,
}

impl EnvironmentFormat {
    /// Whether a list of directories keeps its existing entries; otherwise the variable contains
    /// only our directories.
    pub fn keeps_lists(self) -> bool {
        matches!(self, Self::Sh | Self::PowerShell | Self::Cmd)
    }
}

/// A value that a format cannot represent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{name}` {why}")]
pub struct UnwritableValue {
    /// The variable.
    pub name: String,
    /// The reason.
    pub why: &'static str,
}

/// Renders the variables in a format, with a final line break.
///
/// # Errors
/// Returns the first variable that the format cannot represent.
pub fn environment(
    variables: &[EnvVariable],
    taker: EnvironmentFormat,
) -> Result<String, UnwritableValue> {
    match taker {
        EnvironmentFormat::Sh => variables.iter().map(sh).collect(),
        EnvironmentFormat::Conda => Ok(conda(variables)),
        EnvironmentFormat::Yaml => Ok(yaml(variables)),
        EnvironmentFormat::EnvFile => variables.iter().map(env_line).collect(),
        EnvironmentFormat::PowerShell => Ok(variables.iter().map(windows::powershell).collect()),
        EnvironmentFormat::Cmd => variables.iter().map(windows::cmd).collect(),
    }
}

fn unwritable(one: &EnvVariable, why: &'static str) -> UnwritableValue {
    UnwritableValue {
        name: one.name.clone(),
        why,
    }
}

/// Renders one export. A directory is prepended to a list once, however often the text is sourced.
fn sh(one: &EnvVariable) -> Result<String, UnwritableValue> {
    let EnvVariable { name, value, .. } = one;
    if !one.prepend {
        return Ok(format!("export {name}={}\n", plain_or_quoted(value)));
    }
    if value.contains(':') {
        return Err(unwritable(
            one,
            "is a list of folders separated by `:`, but a folder's name contains `:`",
        ));
    }
    let folder = single_quoted(value);
    Ok(format!(
        "case \":${{{name}-}}:\" in\n  *:{folder}:*) ;;\n  *) {name}={folder}\"${{{name}:+:${name}}}\" ;;\nesac\nexport {name}\n"
    ))
}

fn conda(variables: &[EnvVariable]) -> String {
    let words = variables
        .iter()
        .map(|one| plain_or_quoted(&format!("{}={}", one.name, one.value)));
    format!(
        "conda env config vars set {}\n",
        words.collect::<Vec<_>>().join(" ")
    )
}

fn yaml(variables: &[EnvVariable]) -> String {
    // GitHub evaluates expressions in any value (GitHub documentation, "Evaluate expressions"), so
    // `${{` is replaced by an expression that yields it.
    let value = |one: &EnvVariable| one.value.replace("${{", "${{ '${{' }}");
    let values: indexmap::IndexMap<&str, String> = variables
        .iter()
        .map(|one| (one.name.as_str(), value(one)))
        .collect();
    let block = indexmap::IndexMap::from([("env", values)]);
    rock_yaml::to_yaml(&block).expect("a map of strings can be written as YAML")
}

/// Renders a line as docker reads it: the text after the first `=` up to the end of the line,
/// without quotes (docker/cli, `pkg/kvfile`, which also strips a trailing carriage return).
fn env_line(one: &EnvVariable) -> Result<String, UnwritableValue> {
    if one.value.contains(['\n', '\r']) {
        return Err(unwritable(
            one,
            "contains a line break, which an environment file cannot contain",
        ));
    }
    Ok(format!("{}={}\n", one.name, one.value))
}

/// Incremented when a field is removed or changes its meaning.
const VERSION: u32 = 1;

#[derive(Serialize)]
struct EnvironmentDocument<'a> {
    version: u32,
    profile: &'a str,
    variables: Vec<EnvironmentRow<'a>>,
    left_out: Vec<MissingVariable<'a>>,
}

#[derive(Serialize)]
struct EnvironmentRow<'a> {
    name: &'a str,
    value: &'a str,
    prepend: bool,
    effect: &'a str,
}

#[derive(Serialize)]
struct MissingVariable<'a> {
    name: &'a str,
    wants: &'a str,
}

/// Renders the variables as a JSON object.
///
/// # Panics
/// Never: strings always serialize.
pub fn environment_json(
    profile: &str,
    variables: &[EnvVariable],
    left_out: &[UnsetVariable],
) -> String {
    let variables = variables
        .iter()
        .map(
            |EnvVariable {
                 name,
                 value,
                 prepend,
                 effect,
             }| EnvironmentRow {
                name,
                value,
                prepend: *prepend,
                effect,
            },
        )
        .collect();
    let left_out = left_out
        .iter()
        .map(
            |UnsetVariable {
                 name,
                 missing: wants,
             }| MissingVariable { name, wants },
        )
        .collect();
    let document = EnvironmentDocument {
        version: VERSION,
        profile,
        variables,
        left_out,
    };
    serde_json::to_string_pretty(&document).expect("strings always serialize") + "\n"
}

#[cfg(test)]
mod tests {
    use super::{EnvironmentFormat, environment};
    use rock_compat::EnvVariable;

    fn variable(name: &str, value: &str, prepend: bool) -> EnvVariable {
        EnvVariable {
            name: name.to_owned(),
            value: value.to_owned(),
            prepend,
            effect: String::new(),
        }
    }

    fn text(value: &str, taker: EnvironmentFormat) -> Result<String, String> {
        environment(&[variable("A", value, false)], taker).map_err(|fault| fault.to_string())
    }

    #[test]
    fn nasty_values_are_quoted_as_each_form_asks() {
        assert_eq!(
            text("it's $HOME", EnvironmentFormat::Sh).unwrap(),
            "export A='it'\\''s $HOME'\n"
        );
        assert_eq!(
            text("a b", EnvironmentFormat::Conda).unwrap(),
            "conda env config vars set 'A=a b'\n"
        );
        assert_eq!(
            text("0", EnvironmentFormat::Yaml).unwrap(),
            "env:\n  A: '0'\n"
        );
        let block: serde_yaml::Value =
            serde_yaml::from_str(&text("a ${{ b }}: #", EnvironmentFormat::Yaml).unwrap()).unwrap();
        assert_eq!(block["env"]["A"].as_str(), Some("a ${{ '${{' }} b }}: #"));
        assert_eq!(
            text("\"a b\" # c", EnvironmentFormat::EnvFile).unwrap(),
            "A=\"a b\" # c\n"
        );
        for value in ["a\nb", "a\r"] {
            let fault = text(value, EnvironmentFormat::EnvFile).unwrap_err();
            assert_eq!(
                fault,
                "`A` contains a line break, which an environment file cannot contain"
            );
        }
        let list = [variable("A", "/a:b", true)];
        assert!(
            environment(&list, EnvironmentFormat::Sh).is_err(),
            "a list cannot hold a folder with a colon"
        );
    }
}
