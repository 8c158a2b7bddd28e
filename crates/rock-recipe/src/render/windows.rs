//! Text for the shells of Windows, which separate the directories in a list by `;`.
//!
//! A text may contain script variables, each enclosed in [`SHELL_VARIABLE`]; both shells read them
//! from the environment.

use super::environment::UnwritableValue;
use crate::SHELL_VARIABLE;
use rock_compat::EnvVariable;

/// Renders one assignment for PowerShell.
pub(super) fn powershell(one: &EnvVariable) -> String {
    let EnvVariable { name, value, .. } = one;
    let text = powershell_text(value);
    if !one.prepend {
        return format!("$env:{name} = {text}\r\n");
    }
    // If the variable is unset, the split yields one empty string.
    format!(
        "if (($env:{name} -split ';') -notcontains {text}) {{ $env:{name} = (@({text}) + @($env:{name} -split ';' -ne '')) -join ';' }}\r\n"
    )
}

/// Renders a text as a PowerShell expression: the parts between variables are quoted.
pub(super) fn powershell_text(text: &str) -> String {
    let part = |(number, part): (usize, &str)| match (number % 2, part) {
        (1, name) => Some(format!("$env:{name}")),
        (_, "") => None,
        (_, text) => Some(powershell_quoted(text)),
    };
    let parts: Vec<String> = text
        .split(SHELL_VARIABLE)
        .enumerate()
        .filter_map(part)
        .collect();
    match parts.as_slice() {
        [] => "''".to_owned(),
        [one] => one.clone(),
        _ => format!("({})", parts.join(" + ")),
    }
}

/// Quotes a literal text for PowerShell: in single quotes, which are doubled inside. The four
/// typographic single quotes count as the same character (PowerShell language specification,
/// 2.3.5.2).
fn powershell_quoted(text: &str) -> String {
    let is_quote = |c: &char| matches!(c, '\'' | '\u{2018}'..='\u{201b}');
    let doubled = text
        .chars()
        .flat_map(|c| std::iter::repeat_n(c, if is_quote(&c) { 2 } else { 1 }));
    format!("'{}'", doubled.collect::<String>())
}

/// Renders one assignment for a batch file of cmd.
pub(super) fn cmd(one: &EnvVariable) -> Result<String, UnwritableValue> {
    let EnvVariable { name, value, .. } = one;
    let text = cmd_text(name, value)?;
    if !one.prepend {
        return Ok(format!("set \"{name}={text}\"\r\n"));
    }
    if value.contains(['%', '=', ';']) {
        return Err(unwritable(
            name,
            "is a list of folders, but a folder's name contains one of `%=;`",
        ));
    }
    Ok(format!(
        "if not defined {name} set \"{name}={value}\"\r\n\
         set \"ROCK_LIST=;%{name}%;\"\r\n\
         if \"%ROCK_LIST:;{value};=%\"==\"%ROCK_LIST%\" set \"{name}={value};%{name}%\"\r\n\
         set \"ROCK_LIST=\"\r\n"
    ))
}

/// Escapes a text for use between double quotes in a batch file of cmd: percent signs are doubled,
/// everything else is literal. Line breaks are rejected, and so are double quotes, after which cmd
/// would interpret `&` and other characters.
pub(super) fn cmd_text(name: &str, text: &str) -> Result<String, UnwritableValue> {
    if text.contains(['\n', '\r']) {
        return Err(unwritable(
            name,
            "contains a line break, which a variable of cmd cannot contain",
        ));
    }
    if text.contains('"') {
        return Err(unwritable(
            name,
            "contains a quotation mark, after which cmd interprets special characters",
        ));
    }
    let part = |(number, part): (usize, &str)| match number % 2 {
        1 => format!("%{part}%"),
        _ => part.replace('%', "%%"),
    };
    Ok(text.split(SHELL_VARIABLE).enumerate().map(part).collect())
}

fn unwritable(name: &str, why: &'static str) -> UnwritableValue {
    UnwritableValue {
        name: name.to_owned(),
        why,
    }
}

#[cfg(test)]
mod tests {
    use super::{cmd, cmd_text, powershell, powershell_text};
    use crate::shell_variable;
    use rock_compat::EnvVariable;

    fn variable(value: &str, prepend: bool) -> EnvVariable {
        EnvVariable {
            name: "A".to_owned(),
            value: value.to_owned(),
            prepend,
            effect: String::new(),
        }
    }

    #[test]
    fn powershell_takes_nasty_values_as_they_are() {
        let text = |value| powershell(&variable(value, false));
        assert_eq!(
            text("$env:X `n \"b\" %C% #"),
            "$env:A = '$env:X `n \"b\" %C% #'\r\n"
        );
        assert_eq!(text("it's"), "$env:A = 'it''s'\r\n");
        assert_eq!(
            text("\u{2018}a\u{2019}"),
            "$env:A = '\u{2018}\u{2018}a\u{2019}\u{2019}'\r\n"
        );
        assert_eq!(text(""), "$env:A = ''\r\n");
        let list = "if (($env:A -split ';') -notcontains 'C:/r/lib') { $env:A = (@('C:/r/lib') + @($env:A -split ';' -ne '')) -join ';' }\r\n";
        assert_eq!(powershell(&variable("C:/r/lib", true)), list);
    }

    #[test]
    fn cmd_takes_nasty_values_as_they_are_or_they_are_refused() {
        let text = |value| cmd(&variable(value, false)).map_err(|fault| fault.why);
        assert_eq!(
            text("a & b | c > d ^ (e) !f!").unwrap(),
            "set \"A=a & b | c > d ^ (e) !f!\"\r\n"
        );
        assert_eq!(
            text("100% of %PATH%").unwrap(),
            "set \"A=100%% of %%PATH%%\"\r\n"
        );
        assert!(text("a\"b").is_err() && text("a\nb").is_err());
        let list = cmd(&variable("C:/r/lib", true)).unwrap();
        assert!(
            list.contains(
                "if \"%ROCK_LIST:;C:/r/lib;=%\"==\"%ROCK_LIST%\" set \"A=C:/r/lib;%A%\"\r\n"
            ),
            "{list}"
        );
        assert!(cmd(&variable("C:/a=b", true)).is_err());
    }
    #[test]
    fn text_around_shell_variables_is_quoted() {
        let text = format!("50% {}/it's", shell_variable("ROCK_FOLDER"));
        assert_eq!(
            powershell_text(&text),
            "('50% ' + $env:ROCK_FOLDER + '/it''s')"
        );
        assert_eq!(cmd_text("A", &text).unwrap(), "50%% %ROCK_FOLDER%/it's");
        assert_eq!(
            powershell_text(&shell_variable("ROCK_FACT_sdk")),
            "$env:ROCK_FACT_sdk"
        );
    }
}
