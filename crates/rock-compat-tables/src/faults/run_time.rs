//! Faults of the tables about what builds and wheels run in.
//!
//! This file is also compiled into the build script, so it uses nothing of the crate but the rows.

use std::collections::BTreeSet;

use super::{Fault, Row, is_gfx, is_numbers, table};
use crate::rows::Tables;

/// What a value may have in braces.
const PLACES: [&str; 2] = ["rocm", "gfx"];
/// Platforms that rows are about.
const PLATFORMS: [&str; 2] = ["linux", "windows"];

/// Everything that cannot be right in these tables.
pub(super) fn find(tables: &Tables, faults: &mut Vec<Fault>) {
    variables(tables, faults);
    attention(tables, faults);
    machines(tables, faults);
}

fn variables(tables: &Tables, faults: &mut Vec<Fault>) {
    let known: BTreeSet<&str> = tables
        .profiles
        .iter()
        .map(|row| row.profile.as_str())
        .collect();
    let profiles = |row: &mut Row<'_>, named: &[String]| {
        for profile in named
            .iter()
            .filter(|profile| !known.contains(profile.as_str()))
        {
            row.expect(false, || {
                format!("profiles: no profile is called `{profile}`")
            });
        }
    };
    let mut rows = table("profiles", tables, faults);
    for (number, of) in tables.profiles.iter().enumerate() {
        let mut row = rows.row(number, of.profile.clone(), &of.origin);
        row.expect(is_word(&of.profile), || {
            "profile: write a word such as bench-ck".to_owned()
        });
        row.each("stages", &of.stages, "a word such as bench", is_word);
    }
    let mut taken = BTreeSet::new();
    let mut rows = table("variables", tables, faults);
    for (number, of) in tables.variables.iter().enumerate() {
        let mut row = rows.row(number, format!("{} {}", of.variable, of.value), &of.origin);
        row.expect(is_variable(&of.variable), || {
            format!("variable: `{}` is no name of one", of.variable)
        });
        row.expect(!of.profiles.is_empty(), || {
            "profiles: a variable is of at least one".to_owned()
        });
        profiles(&mut row, &of.profiles);
        for profile in &of.profiles {
            row.expect(taken.insert((&of.variable, profile)), || {
                format!("profiles: another row gives it in `{profile}`")
            });
        }
        for place in places(&of.value)
            .into_iter()
            .filter(|place| !PLACES.contains(place))
        {
            row.expect(false, || format!("value: nothing is put for `{{{place}}}`"));
        }
        row.each(
            "gfx",
            &of.gfx,
            "the beginning of a gfx target such as gfx11",
            is_beginning,
        );
    }
    let mut rows = table("variable-rules", tables, faults);
    for (number, of) in tables.variable_rules.iter().enumerate() {
        let name = format!("{} {}", of.variable, of.profiles.join(" "));
        let mut row = rows.row(number, name.trim_end().to_owned(), &of.origin);
        row.expect(is_variable(&of.variable), || {
            format!("variable: `{}` is no name of one", of.variable)
        });
        profiles(&mut row, &of.profiles);
        row.expect(!of.allowed.is_empty(), || {
            "allowed: at least one value is".to_owned()
        });
        row.expect(["warning", "note"].contains(&of.severity.as_str()), || {
            format!("severity: `{}` is not warning or note", of.severity)
        });
    }
}

fn attention(tables: &Tables, faults: &mut Vec<Fault>) {
    let mut rows = table("attention", tables, faults);
    for (number, of) in tables.attention.iter().enumerate() {
        let name = format!("{} {} {}", of.library, of.gfx.join(" "), of.torch);
        let mut row = rows.row(number, name.trim_end().to_owned(), &of.origin);
        row.expect(is_word(&of.library), || {
            "library: write a word such as aotriton".to_owned()
        });
        row.expect(!of.gfx.is_empty(), || {
            "gfx: a row has at least one target".to_owned()
        });
        row.gfx("gfx", &of.gfx);
        row.expect(is_range(&of.torch), || {
            format!("torch: `{}` is no range such as >=2.8,<2.9", of.torch)
        });
        for (column, text) in [
            ("preferred-by", &of.preferred_by),
            ("needs", &of.needs),
            ("built-with", &of.built_with),
        ] {
            let is_setting = text
                .split_once('=')
                .is_some_and(|(name, value)| is_variable(name) && !value.is_empty());
            row.expect(text.is_empty() || is_setting, || {
                format!("{column}: `{text}` is not NAME=VALUE")
            });
        }
    }
    let mut rows = table("attention-expects", tables, faults);
    for (number, of) in tables.attention_expects.iter().enumerate() {
        let name = format!("{} {}", of.line, of.gfx.join(" "));
        let mut row = rows.row(number, name.trim_end().to_owned(), &of.origin);
        row.expect(!of.line.is_empty() && !of.line.contains(':'), || {
            "line: what stands before the colon".to_owned()
        });
        row.expect(!of.expect.is_empty(), || {
            "expect: at least one text is right".to_owned()
        });
        row.each(
            "gfx",
            &of.gfx,
            "the beginning of a gfx target such as gfx11",
            is_beginning,
        );
    }
}

fn machines(tables: &Tables, faults: &mut Vec<Fault>) {
    let platform = |row: &mut Row<'_>, text: &str| {
        row.expect(PLATFORMS.contains(&text), || {
            format!("platform: `{text}` is not linux or windows")
        });
    };
    let mut rows = table("tools", tables, faults);
    for (number, of) in tables.tools.iter().enumerate() {
        let mut row = rows.row(number, format!("{} {}", of.tool, of.platform), &of.origin);
        platform(&mut row, &of.platform);
        row.expect(is_numbers(&of.least, 1..=4), || {
            format!("least: `{}` is no version such as 1.13.1", of.least)
        });
    }
    let mut rows = table("paths", tables, faults);
    for (number, of) in tables.paths.iter().enumerate() {
        let mut row = rows.row(number, format!("{} {}", of.path, of.platform), &of.origin);
        platform(&mut row, &of.platform);
        row.expect(["python", "folder"].contains(&of.path.as_str()), || {
            format!("path: `{}` is not python or folder", of.path)
        });
        row.expect(of.longest.is_some() || of.no_blanks, || {
            "the row asks for nothing".to_owned()
        });
    }
    let mut rows = table("known-failures", tables, faults);
    for (number, of) in tables.known_failures.iter().enumerate() {
        let mut row = rows.row(number, of.failure.clone(), &of.origin);
        row.expect(!of.words.is_empty(), || {
            "words: a failure is known by at least one".to_owned()
        });
        row.each("words", &of.words, "a text in lower case", |text| {
            !text.is_empty() && text.to_lowercase() == text
        });
    }
}

/// The words in braces, `rocm` of `{rocm}/lib`.
fn places(value: &str) -> Vec<&str> {
    value
        .split('{')
        .skip(1)
        .map(|rest| rest.split('}').next().unwrap_or_default())
        .collect()
}

fn is_word(text: &str) -> bool {
    let part = |part: &str| {
        !part.is_empty()
            && part
                .bytes()
                .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
    };
    text.split('-').all(part)
}

/// A name that every shell takes: letters in capitals, digits and underscores, no digit first
/// (POSIX, 8.1).
fn is_variable(text: &str) -> bool {
    let letter = |b: u8| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_';
    text.bytes().all(letter)
        && text
            .bytes()
            .next()
            .is_some_and(|first| !first.is_ascii_digit())
}

/// `gfx11`, `gfx942`.
fn is_beginning(text: &str) -> bool {
    text.strip_prefix("gfx").is_some_and(|digits| {
        !digits.is_empty()
            && digits
                .bytes()
                .all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
    }) || is_gfx(text)
}

/// Bounds with commas between, `>=2.8,<2.9`, or nothing.
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
    use crate::rows::Tables;

    fn check(change: impl FnOnce(&mut Tables), expect: &str) {
        let mut tables = crate::shipped::tables();
        change(&mut tables);
        let faults: Vec<String> = super::super::find(&tables)
            .iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(faults, [expect]);
    }

    #[test]
    fn a_variable_is_given_once_a_profile_with_what_is_known() {
        check(
            |t| t.variables[1].profiles.push("fast".into()),
            "variables HIP_PLATFORM amd: profiles: no profile is called `fast`",
        );
        check(
            |t| t.variables[1].value = "{sdk}".into(),
            "variables HIP_PLATFORM {sdk}: value: nothing is put for `{sdk}`",
        );
        check(
            |t| t.variables[1].variable = "HIP PATH".into(),
            "variables HIP PATH amd: variable: `HIP PATH` is no name of one",
        );
        check(
            |t| {
                (t.variables[2].variable, t.variables[2].profiles) =
                    ("HIP_PLATFORM".into(), vec!["run".into()]);
            },
            "variables HIP_PLATFORM {rocm}: profiles: another row gives it in `run`",
        );
        check(
            |t| t.variable_rules[0].severity = "error".into(),
            "variable-rules AMD_SERIALIZE_KERNEL bench bench-ck: severity: `error` is not warning or note",
        );
    }

    #[test]
    fn rows_about_attention_and_machines_have_the_form_that_is_computed_with() {
        check(
            |t| t.attention[0].torch = "2.5".into(),
            "attention aotriton gfx90a gfx942 2.5: torch: `2.5` is no range such as >=2.8,<2.9",
        );
        check(
            |t| t.attention[1].needs = "EXPERIMENTAL".into(),
            "attention aotriton gfx950 >=2.7,<2.8: needs: `EXPERIMENTAL` is not NAME=VALUE",
        );
        check(
            |t| t.attention_expects[0].expect.clear(),
            "attention-expects is_flash_attention_available: expect: at least one text is right",
        );
        check(
            |t| t.tools[0].least = "new".into(),
            "tools ninja windows: least: `new` is no version such as 1.13.1",
        );
        check(
            |t| t.paths[0].longest = None,
            "paths folder windows: the row asks for nothing",
        );
        check(
            |t| t.known_failures[0].words.push("CMake".into()),
            "known-failures aotriton-ccache: words: `CMake` is not a text in lower case",
        );
    }
}
