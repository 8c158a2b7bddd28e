//! Validation of the tables of environment profiles, attention libraries, tools, paths and known
//! failures.

use std::collections::BTreeSet;

use super::{RowError, RowValidator, TableValidator, is_gfx, is_numbers};
use crate::rows::CompatTables;

/// Placeholders in braces that the value of a variable may contain.
const PLACEHOLDERS: [&str; 2] = ["rocm", "gfx"];

/// Returns the errors of the tables of environment profiles, attention libraries, tools, paths and
/// known failures.
pub(super) fn validate_run_time(tables: &CompatTables) -> Vec<RowError> {
    [
        validate_variables(tables),
        validate_attention(tables),
        validate_machines(tables),
    ]
    .concat()
}

/// Validates the tables `profiles`, `variables` and `variable-rules`.
fn validate_variables(tables: &CompatTables) -> Vec<RowError> {
    let mut errors = Vec::new();
    let known: BTreeSet<&str> = tables
        .profiles
        .iter()
        .map(|row| row.profile.as_str())
        .collect();
    let mut rows = TableValidator::new("profiles", tables, &mut errors);
    for (number, of) in tables.profiles.iter().enumerate() {
        let mut row = rows.check_row(number, of.profile.clone(), &of.origin);
        row.require(is_word(&of.profile), || {
            "profile: write a word such as bench-ck".to_owned()
        });
        row.require_each("stages", &of.stages, "a word such as bench", is_word);
    }
    let mut taken = BTreeSet::new();
    let mut rows = TableValidator::new("variables", tables, &mut errors);
    for (number, of) in tables.variables.iter().enumerate() {
        let mut row = rows.check_row(number, format!("{} {}", of.variable, of.value), &of.origin);
        row.require(is_variable(&of.variable), || {
            format!("variable: `{}` is not a valid variable name", of.variable)
        });
        row.require(!of.profiles.is_empty(), || {
            "profiles: a variable has at least one profile".to_owned()
        });
        require_profiles(&mut row, &known, &of.profiles);
        for profile in &of.profiles {
            row.require(taken.insert((&of.variable, profile)), || {
                format!("profiles: another row sets it in `{profile}`")
            });
        }
        for place in placeholders(&of.value)
            .into_iter()
            .filter(|place| !PLACEHOLDERS.contains(place))
        {
            row.require(false, || {
                format!("value: `{{{place}}}` is not a valid placeholder")
            });
        }
        row.require_each(
            "gfx",
            &of.gfx,
            "a prefix of a gfx target such as gfx11",
            is_gfx_prefix,
        );
    }
    let mut rows = TableValidator::new("variable-rules", tables, &mut errors);
    for (number, of) in tables.variable_rules.iter().enumerate() {
        let name = format!("{} {}", of.variable, of.profiles.join(" "));
        let mut row = rows.check_row(number, name.trim_end().to_owned(), &of.origin);
        row.require(is_variable(&of.variable), || {
            format!("variable: `{}` is not a valid variable name", of.variable)
        });
        require_profiles(&mut row, &known, &of.profiles);
        row.require(!of.allowed.is_empty(), || {
            "allowed: at least one value must be allowed".to_owned()
        });
        row.require(["warning", "note"].contains(&of.severity.as_str()), || {
            format!("severity: `{}` is not warning or note", of.severity)
        });
    }
    errors
}

/// Validates the tables `attention` and `attention-expects`.
fn validate_attention(tables: &CompatTables) -> Vec<RowError> {
    let mut errors = Vec::new();
    let mut rows = TableValidator::new("attention", tables, &mut errors);
    for (number, of) in tables.attention.iter().enumerate() {
        let name = format!("{} {} {}", of.library, of.gfx.join(" "), of.torch);
        let mut row = rows.check_row(number, name.trim_end().to_owned(), &of.origin);
        row.require(is_word(&of.library), || {
            "library: write a word such as aotriton".to_owned()
        });
        row.require(!of.gfx.is_empty(), || {
            "gfx: a row has at least one target".to_owned()
        });
        row.require_gfx_targets("gfx", &of.gfx);
        row.require(is_range(&of.torch), || {
            format!("torch: `{}` is not a range such as >=2.8,<2.9", of.torch)
        });
        for (column, text) in [
            ("preferred-by", &of.preferred_by),
            ("needs", &of.needs),
            ("built-with", &of.built_with),
        ] {
            let is_setting = text
                .split_once('=')
                .is_some_and(|(name, value)| is_variable(name) && !value.is_empty());
            row.require(text.is_empty() || is_setting, || {
                format!("{column}: `{text}` is not NAME=VALUE")
            });
        }
    }
    let mut rows = TableValidator::new("attention-expects", tables, &mut errors);
    for (number, of) in tables.attention_expects.iter().enumerate() {
        let name = format!("{} {}", of.line, of.gfx.join(" "));
        let mut row = rows.check_row(number, name.trim_end().to_owned(), &of.origin);
        row.require(!of.line.is_empty() && !of.line.contains(':'), || {
            "line: write the text before the colon".to_owned()
        });
        row.require(!of.expect.is_empty(), || {
            "expect: at least one text must be expected".to_owned()
        });
        row.require_each(
            "gfx",
            &of.gfx,
            "a prefix of a gfx target such as gfx11",
            is_gfx_prefix,
        );
    }
    errors
}

/// Validates the tables `tools`, `paths` and `known-failures`.
fn validate_machines(tables: &CompatTables) -> Vec<RowError> {
    let mut errors = Vec::new();
    let mut rows = TableValidator::new("tools", tables, &mut errors);
    for (number, of) in tables.tools.iter().enumerate() {
        let mut row = rows.check_row(number, format!("{} {}", of.tool, of.platform), &of.origin);
        row.require_platform(&of.platform);
        row.require(is_numbers(&of.least, 1..=4), || {
            format!("least: `{}` is not a version such as 1.13.1", of.least)
        });
    }
    let mut rows = TableValidator::new("paths", tables, &mut errors);
    for (number, of) in tables.paths.iter().enumerate() {
        let mut row = rows.check_row(number, format!("{} {}", of.path, of.platform), &of.origin);
        row.require_platform(&of.platform);
        row.require(["python", "folder"].contains(&of.path.as_str()), || {
            format!("path: `{}` is not python or folder", of.path)
        });
        row.require(of.longest.is_some() || of.no_blanks, || {
            "the row has no requirement".to_owned()
        });
    }
    let mut rows = TableValidator::new("known-failures", tables, &mut errors);
    for (number, of) in tables.known_failures.iter().enumerate() {
        let mut row = rows.check_row(number, of.failure.clone(), &of.origin);
        row.require(!of.words.is_empty(), || {
            "words: a failure has at least one".to_owned()
        });
        row.require_each("words", &of.words, "a text in lower case", |text| {
            !text.is_empty() && text.to_lowercase() == text
        });
    }
    errors
}

/// Requires names of existing profiles.
fn require_profiles(row: &mut RowValidator<'_>, known: &BTreeSet<&str>, profiles: &[String]) {
    for profile in profiles {
        row.require(known.contains(profile.as_str()), || {
            format!("profiles: unknown profile `{profile}`")
        });
    }
}

/// Returns the placeholders of a value, `rocm` of `{rocm}/lib`.
fn placeholders(value: &str) -> Vec<&str> {
    value
        .split('{')
        .skip(1)
        .map(|rest| rest.split('}').next().unwrap_or_default())
        .collect()
}

/// Returns whether a text consists of lower-case letters and digits, in parts separated by hyphens.
fn is_word(text: &str) -> bool {
    let part = |part: &str| {
        !part.is_empty()
            && part
                .bytes()
                .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
    };
    text.split('-').all(part)
}

/// Returns whether a text is a portable name of an environment variable: upper-case letters, digits
/// and underscores, the first not a digit (POSIX.1-2017, XBD 8.1).
fn is_variable(text: &str) -> bool {
    let letter = |b: u8| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_';
    text.bytes().all(letter)
        && text
            .bytes()
            .next()
            .is_some_and(|first| !first.is_ascii_digit())
}

/// Returns whether a text is a prefix of a gfx target, `gfx11` or `gfx942`.
fn is_gfx_prefix(text: &str) -> bool {
    text.strip_prefix("gfx").is_some_and(|digits| {
        !digits.is_empty()
            && digits
                .bytes()
                .all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
    }) || is_gfx(text)
}

/// Returns whether a text is empty or has the form of a version specifier, `>=2.8,<2.9`.
fn is_range(text: &str) -> bool {
    let bound = |bound: &str| {
        let version = [">=", "<=", "==", "!=", "<", ">"]
            .iter()
            .find_map(|sign| bound.strip_prefix(sign));
        version.is_some_and(|version| is_numbers(version, 1..=3))
    };
    text.is_empty() || text.split(',').all(bound)
}

#[cfg(test)]
mod tests {
    use crate::rows::CompatTables;

    fn check(change: impl FnOnce(&mut CompatTables), expect: &str) {
        let mut tables = crate::shipped::tables();
        change(&mut tables);
        let errors: Vec<String> = super::super::validate_tables(&tables)
            .iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(errors, [expect]);
    }

    #[test]
    fn variables_have_one_row_per_profile() {
        check(
            |t| t.variables[1].profiles.push("fast".into()),
            "variables HIP_PLATFORM amd: profiles: unknown profile `fast`",
        );
        check(
            |t| t.variables[1].value = "{sdk}".into(),
            "variables HIP_PLATFORM {sdk}: value: `{sdk}` is not a valid placeholder",
        );
        check(
            |t| t.variables[1].variable = "HIP PATH".into(),
            "variables HIP PATH amd: variable: `HIP PATH` is not a valid variable name",
        );
        check(
            |t| {
                (t.variables[2].variable, t.variables[2].profiles) =
                    ("HIP_PLATFORM".into(), vec!["run".into()]);
            },
            "variables HIP_PLATFORM {rocm}: profiles: another row sets it in `run`",
        );
        check(
            |t| t.variable_rules[0].severity = "error".into(),
            "variable-rules AMD_SERIALIZE_KERNEL bench bench-ck: severity: `error` is not warning or note",
        );
    }

    #[test]
    fn attention_and_machine_rows_are_well_formed() {
        check(
            |t| t.attention[0].torch = "2.5".into(),
            "attention aotriton gfx90a gfx942 2.5: torch: `2.5` is not a range such as >=2.8,<2.9",
        );
        check(
            |t| t.attention[1].needs = "EXPERIMENTAL".into(),
            "attention aotriton gfx950 >=2.7,<2.8: needs: `EXPERIMENTAL` is not NAME=VALUE",
        );
        check(
            |t| t.attention_expects[0].expect.clear(),
            "attention-expects is_flash_attention_available: expect: at least one text must be \
             expected",
        );
        check(
            |t| t.tools[0].least = "new".into(),
            "tools ninja windows: least: `new` is not a version such as 1.13.1",
        );
        check(
            |t| t.paths[0].longest = None,
            "paths folder windows: the row has no requirement",
        );
        check(
            |t| t.known_failures[0].words.push("CMake".into()),
            "known-failures aotriton-ccache: words: `CMake` is not a text in lower case",
        );
    }
}
