//! The same for the shells of Windows. Their lists of folders have `;` between.

use super::{Unwritable, unwritable};
use crate::compat::Variable;

/// One assignment for PowerShell.
pub(super) fn powershell(one: &Variable) -> String {
    let Variable { name, value, .. } = one;
    let value = powershell_quoted(value);
    if !one.prepend {
        return format!("$env:{name} = {value}\r\n");
    }
    // Without the variable, the list is one empty text.
    format!(
        "if (($env:{name} -split ';') -notcontains {value}) {{ $env:{name} = (@({value}) + @($env:{name} -split ';' -ne '')) -join ';' }}\r\n"
    )
}

/// A text that PowerShell takes as it is: in single quotes, which are doubled inside. It takes the four typographic
/// ones for the same sign (PowerShell language specification, 2.3.5.2).
fn powershell_quoted(text: &str) -> String {
    let is_quote = |c: &char| matches!(c, '\'' | '\u{2018}'..='\u{201b}');
    let doubled = text.chars().flat_map(|c| std::iter::repeat_n(c, if is_quote(&c) { 2 } else { 1 }));
    format!("'{}'", doubled.collect::<String>())
}

/// One assignment for a batch file of cmd. Percent signs are doubled there, and all else is literal inside the quotes,
/// but for a quotation mark, behind which `&` and others would be signs of cmd.
pub(super) fn cmd(one: &Variable) -> Result<String, Unwritable> {
    let Variable { name, value, .. } = one;
    if value.contains(['\n', '\r']) {
        return Err(unwritable(one, "has a line break, which a variable of cmd cannot be given"));
    }
    if value.contains('"') {
        return Err(unwritable(one, "has a quotation mark, behind which cmd reads signs of its own"));
    }
    if !one.prepend {
        return Ok(format!("set \"{name}={}\"\r\n", value.replace('%', "%%")));
    }
    if value.contains(['%', '=', ';']) {
        return Err(unwritable(one, "is a list of folders, and the folder has one of `%=;` in its name"));
    }
    Ok(format!(
        "if not defined {name} set \"{name}={value}\"\r\n\
         set \"ROCK_LIST=;%{name}%;\"\r\n\
         if \"%ROCK_LIST:;{value};=%\"==\"%ROCK_LIST%\" set \"{name}={value};%{name}%\"\r\n\
         set \"ROCK_LIST=\"\r\n"
    ))
}

#[cfg(test)]
mod tests {
    use super::{cmd, powershell};
    use crate::compat::Variable;

    fn variable(value: &str, prepend: bool) -> Variable {
        Variable { name: "A".to_owned(), value: value.to_owned(), prepend, effect: String::new() }
    }

    /// TA11
    #[test]
    fn powershell_takes_nasty_values_as_they_are() {
        let text = |value| powershell(&variable(value, false));
        assert_eq!(text("$env:X `n \"b\" %C% #"), "$env:A = '$env:X `n \"b\" %C% #'\r\n");
        assert_eq!(text("it's"), "$env:A = 'it''s'\r\n");
        assert_eq!(text("\u{2018}a\u{2019}"), "$env:A = '\u{2018}\u{2018}a\u{2019}\u{2019}'\r\n");
        assert_eq!(text(""), "$env:A = ''\r\n");
        let list = "if (($env:A -split ';') -notcontains 'C:/r/lib') { $env:A = (@('C:/r/lib') + @($env:A -split ';' -ne '')) -join ';' }\r\n";
        assert_eq!(powershell(&variable("C:/r/lib", true)), list);
    }

    /// TA11
    #[test]
    fn cmd_takes_nasty_values_as_they_are_or_they_are_refused() {
        let text = |value| cmd(&variable(value, false)).map_err(|fault| fault.why);
        assert_eq!(text("a & b | c > d ^ (e) !f!").unwrap(), "set \"A=a & b | c > d ^ (e) !f!\"\r\n");
        assert_eq!(text("100% of %PATH%").unwrap(), "set \"A=100%% of %%PATH%%\"\r\n");
        assert!(text("a\"b").is_err() && text("a\nb").is_err());
        let list = cmd(&variable("C:/r/lib", true)).unwrap();
        assert!(list.contains("if \"%ROCK_LIST:;C:/r/lib;=%\"==\"%ROCK_LIST%\" set \"A=C:/r/lib;%A%\"\r\n"), "{list}");
        assert!(cmd(&variable("C:/a=b", true)).is_err());
    }
}
