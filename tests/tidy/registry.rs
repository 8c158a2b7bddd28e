//! Every diagnostic code has a test and its place in the documents; every template is embedded.

use std::collections::HashSet;

use rock_matrix::codes::all;
use rock_matrix::diagnostic::Code;

use crate::none;
use crate::sources::{self, SourceFile};

/// The words of a text that may name codes.
struct CodeWords<'text> {
    /// Identifiers, numbers and IDs.
    identifiers: HashSet<&'text str>,
    /// Quoted words of lower-case letters, digits and hyphens.
    quoted: HashSet<&'text str>,
}

impl<'text> CodeWords<'text> {
    fn of(text: &'text str) -> Self {
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let is_name = |word: &&str| {
            let mut letters = word.bytes();
            !word.is_empty()
                && letters.all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == b'-')
        };
        Self {
            identifiers: text.split(|c| !is_part(c)).collect(),
            quoted: text.split('"').filter(is_name).collect(),
        }
    }

    /// Whether a code is named by its ID, its name, or the name of its constant.
    fn name(&self, code: &Code) -> bool {
        let constant = code.name.to_uppercase().replace('-', "_");
        self.identifiers.contains(code.id)
            || self.identifiers.contains(constant.as_str())
            || self.quoted.contains(code.name)
    }
}

/// All tests in one text: unit tests, stories with what they expect, and real stages.
fn tests(files: &[SourceFile]) -> String {
    let mut text = String::new();
    for file in files {
        if file.is_program() {
            text.push_str(&file.tests());
        } else if file.path.starts_with("tests/") && !file.path.starts_with("tests/tidy/") {
            text.push_str(&file.text);
        }
    }
    text
}

fn codes_missing_in(text: &str) -> Vec<String> {
    let words = CodeWords::of(text);
    all()
        .filter(|code| !words.name(code))
        .map(ToString::to_string)
        .collect()
}

fn templates_missing_in(paths: &[&str], code: &str) -> Vec<String> {
    let is_named = |path: &&&str| {
        !code.split("include_str!(").skip(1).any(|rest| {
            rest.split(')')
                .next()
                .is_some_and(|argument| argument.contains(**path))
        })
    };
    paths
        .iter()
        .filter(is_named)
        .map(|path| format!("{path} is in no include_str!"))
        .collect()
}

#[test]
fn every_code_has_a_test() {
    none(
        "codes without a test",
        &codes_missing_in(&tests(&sources::all())),
    );
}

/// Codes of a table that its list leaves out, so that nobody could ask for them.
fn unlisted_codes(table: &str) -> Vec<String> {
    let constant = regex::Regex::new(r"pub const (\w+): Code\b").unwrap();
    let list = table.replace(char::is_whitespace, "");
    let names = constant
        .captures_iter(table)
        .map(|found| found[1].to_owned());
    names
        .filter(|name| !list.contains(&format!("&{name},")) && !list.contains(&format!("&{name}]")))
        .collect()
}

#[test]
fn every_code_is_in_the_list_of_its_table() {
    let tables = sources::rust()
        .into_iter()
        .filter(|file| file.path.contains("src/codes/"));
    none(
        "unlisted codes",
        &tables
            .flat_map(|file| unlisted_codes(&file.text))
            .collect::<Vec<_>>(),
    );
    assert_eq!(
        unlisted_codes("pub const A: Code = x;\npub const B: Code = y;\nALL = [\n    &B,\n]"),
        ["A"]
    );
}

/// Codes of wheels that no call of `appears` names: it shows a code with a fault, and shows it
/// absent without.
fn codes_without_both(text: &str) -> Vec<String> {
    let call = regex::Regex::new(r#"\b(?:appears|edited)\(\s*"([A-Z]\d{3})""#).unwrap();
    let shown: std::collections::BTreeSet<&str> = call
        .captures_iter(text)
        .map(|found| found.get(1).expect("the group is no option").as_str())
        .collect();
    let is_of_wheels =
        |code: &&Code| code.id.starts_with(['W', 'E', 'R']) || ["K007", "K008"].contains(&code.id);
    all()
        .filter(is_of_wheels)
        .filter(|code| !shown.contains(code.id))
        .map(ToString::to_string)
        .collect()
}

#[test]
fn every_code_of_wheels_is_shown_with_its_fault_and_absent_without() {
    none(
        "codes that no `appears` shows",
        &codes_without_both(&tests(&sources::all())),
    );
}

/// Codes that nothing gives.
fn idle_codes(code: &str) -> Vec<String> {
    let is_idle = |entry: &&Code| {
        let constant = entry.name.to_uppercase().replace('-', "_");
        !regex::Regex::new(&format!(r"\b{constant}\b"))
            .unwrap()
            .is_match(code)
    };
    all()
        .filter(is_idle)
        .map(|entry| format!("{entry} is given nowhere"))
        .collect()
}

#[test]
fn every_code_is_given_somewhere() {
    let code: String = sources::rust()
        .iter()
        .filter(|file| !file.path.contains("src/codes/"))
        .map(SourceFile::code)
        .collect::<Vec<_>>()
        .join("\n");
    none("idle codes", &idle_codes(&code));
}

#[test]
fn every_code_is_documented() {
    let page = sources::all()
        .into_iter()
        .find(|file| file.path == "docs/diagnostics.md")
        .expect("docs/diagnostics.md");
    let missing =
        all().filter(|code| !page.text.contains(code.id) || !page.text.contains(code.name));
    none(
        "codes without a document",
        &missing.map(ToString::to_string).collect::<Vec<_>>(),
    );
}

#[test]
fn every_template_is_embedded() {
    let files = sources::all();
    let paths: Vec<&str> = files
        .iter()
        .map(|file| file.path.as_str())
        .filter(|path| path.starts_with("templates/"))
        .collect();
    let code: String = files
        .iter()
        .filter(|file| file.is_program())
        .map(|file| file.text.as_str())
        .collect();
    assert!(!paths.is_empty());
    none("templates", &templates_missing_in(&paths, &code));
}

#[test]
fn a_code_without_a_test_and_a_template_without_a_user_are_caught() {
    let all = all().count();
    assert_eq!(codes_missing_in("nothing").len(), all);
    assert_eq!(codes_missing_in("error[H001 no-gpu]").len(), all - 1);
    assert_eq!(codes_missing_in("codes::NO_GPU").len(), all - 1);
    assert_eq!(idle_codes("codes::NO_GPU, NO_GPUS").len(), all - 1);
    let of_wheels = codes_without_both("appear(\"W001\"); appears(W001)").len();
    assert!(of_wheels > 60, "{of_wheels}");
    assert_eq!(
        codes_without_both("appears(\"W001\", with); edited(\n\"E001\"").len(),
        of_wheels - 2
    );
    let code = "const A: &str = include_str!(\"../../templates/docker/run.j2\");";
    assert!(templates_missing_in(&["templates/docker/run.j2"], code).is_empty());
    assert_eq!(
        templates_missing_in(&["templates/docker/other.j2"], code),
        ["templates/docker/other.j2 is in no include_str!"]
    );
}
