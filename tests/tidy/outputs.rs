//! Every diagnostic that a user can hit is shown in a whole output, as the user sees it.
//!
//! Whole outputs are the files `*.stderr` and `*.console` below `tests`, and inline snapshots.

use std::collections::BTreeSet;

use regex::Regex;
use rock_matrix::codes::all;
use rock_matrix::diagnostic::Code;

use crate::none;
use crate::sources::{self, SourceFile};

/// Codes that no session can show: the reason, and the test that shows them.
const WITHOUT_OUTPUT: [(&str, &str, &str); 21] = [
    (
        "B051",
        "the shortest time limit is a minute",
        "every_trouble_has_its_code",
    ),
    (
        "B068",
        "the check of the recipe refuses such paths before a build",
        "every_trouble_has_its_code",
    ),
    (
        "B069",
        "plans with such IDs are refused when they are read",
        "faults_before_the_first_stage_have_codes_and_help",
    ),
    (
        "B074",
        "needs a system that refuses signal handlers",
        "every_trouble_has_its_code",
    ),
    (
        "E008",
        "needs thousands of libraries",
        "a_circle_of_thousands_of_libraries_is_an_error_and_fills_no_memory",
    ),
    (
        "G109",
        "needs a file that changes during its upload",
        "a_file_that_is_gone_or_another_when_its_turn_comes_leaves_a_draft",
    ),
    (
        "G345",
        "a step of a workflow prints it, without the program",
        "a_replaced_program_is_not_started",
    ),
    (
        "H004",
        "needs a GPU that a container hides",
        "a_masked_node_is_a_note_and_a_malformed_one_a_warning",
    ),
    (
        "H005",
        "needs a machine with a GPU",
        "a_missing_kfd_has_other_help_in_a_container",
    ),
    (
        "H006",
        "needs a machine with a GPU",
        "a_refused_a_broken_and_a_false_device_differ",
    ),
    (
        "H007",
        "needs a machine with a GPU",
        "no_permission_names_the_numeric_group_and_the_exact_option",
    ),
    (
        "H008",
        "needs a machine with a GPU",
        "a_refused_a_broken_and_a_false_device_differ",
    ),
    (
        "H009",
        "needs a machine with a GPU",
        "a_refused_a_broken_and_a_false_device_differ",
    ),
    (
        "H012",
        "depends on the limits of the machine",
        "a_control_group_below_the_host_is_a_note_and_too_little_memory_a_warning",
    ),
    (
        "H013",
        "depends on the limits of the machine",
        "a_control_group_below_the_host_is_a_note_and_too_little_memory_a_warning",
    ),
    (
        "H014",
        "needs a disk that is nearly full",
        "a_full_disk_is_reported_once_and_may_be_an_error",
    ),
    (
        "H018",
        "needs a machine without `/proc`",
        "hidden_gpus_and_uninformative_files_are_reported",
    ),
    (
        "H030",
        "needs a machine without a GPU",
        "a_machine_without_gpus_needs_a_target",
    ),
    (
        "P049",
        "no output of a command has such a value",
        "a_refused_output_is_reported_and_another_is_not",
    ),
    (
        "P053",
        "a rendered workflow reads no key that a job lacks",
        "matrix_key_missing_is_what_a_job_reads_and_one_of_its_legs_lacks",
    ),
    (
        "W074",
        "needs a search path as long as any that is read",
        "a_result_that_is_not_as_planned_is_no_result",
    ),
];

/// The IDs of the codes that whole outputs show, such as `M001` of `error[M001 duplicate-key]`.
fn shown_codes(files: &[SourceFile]) -> BTreeSet<String> {
    let code = Regex::new(r"\[([A-Z]\d{3}) [a-z]").unwrap();
    let ids = |text: &str| -> Vec<String> {
        let found = code.captures_iter(text);
        found.map(|captures| captures[1].to_owned()).collect()
    };
    let mut shown = BTreeSet::new();
    for file in files.iter().filter(|file| file.path.starts_with("tests/")) {
        if file.path.ends_with(".stderr") || file.path.ends_with(".console") {
            shown.extend(ids(&file.text));
        } else if file.path.ends_with(".rs") && !file.path.starts_with("tests/tidy/") {
            for snapshot in snapshots(&file.text) {
                shown.extend(ids(snapshot));
            }
        }
    }
    shown
}

/// The texts of inline snapshots: `@"…"`, `@r"…"` and `@r#"…"#`.
fn snapshots(text: &str) -> Vec<&str> {
    let plain = Regex::new(r#"@r?"([^"]*)""#).unwrap();
    let raw = Regex::new(r##"(?s)@r#"(.*?)"#"##).unwrap();
    [plain, raw]
        .iter()
        .flat_map(|pattern| pattern.captures_iter(text))
        .filter_map(|captures| Some(captures.get(1)?.as_str()))
        .collect()
}

/// Codes that no whole output shows, though nothing keeps one from it.
fn codes_without_output(shown: &BTreeSet<String>) -> Vec<String> {
    let is_listed = |code: &&Code| WITHOUT_OUTPUT.iter().any(|(id, ..)| *id == code.id);
    all()
        .filter(|code| !shown.contains(code.id) && !is_listed(code))
        .map(ToString::to_string)
        .collect()
}

/// Entries of the list that are shown after all, that are not codes, or whose test is gone.
fn idle_entries(shown: &BTreeSet<String>, text: &str) -> Vec<String> {
    let mut faults = Vec::new();
    for (id, _, test) in WITHOUT_OUTPUT {
        if shown.contains(id) {
            faults.push(format!("{id} has a whole output"));
        }
        if !all().any(|code| code.id == id) {
            faults.push(format!("{id} is not a code"));
        }
        if !text.contains(&format!("fn {test}(")) {
            faults.push(format!("{id}: there is no test `{test}`"));
        }
    }
    faults
}

#[test]
fn every_code_is_shown_in_a_whole_output() {
    let files = sources::all();
    let shown = shown_codes(&files);
    none(
        "codes without a whole output; add one to `tests/it/mistakes_in_commands`",
        &codes_without_output(&shown),
    );
    let text: String = files.iter().map(|file| file.text.as_str()).collect();
    none("the list `WITHOUT_OUTPUT`", &idle_entries(&shown, &text));
}

#[test]
fn a_code_that_is_only_searched_for_has_no_output() {
    let file = |path: &str, text: &str| SourceFile::planted(path, text);
    let shown = shown_codes(&[
        file(
            "tests/it/a.rs",
            "stderr.contains(\"error[M001 duplicate-key]\")",
        ),
        file(
            "tests/it/b.rs",
            "(stderr, @r\"\n    error[M002 bad-syntax]: x\n    \");",
        ),
        file(
            "tests/it/c.rs",
            "(stderr, @r#\"\n    error[M003 tab]: \"x\"\n    \"#);",
        ),
        file("tests/it/d/d.console", "$ x\nerror[M006 merge-key]: x\n"),
        file("crates/e/e.console", "$ x\nerror[M007 tag]: x\n"),
    ]);
    assert_eq!(shown.iter().collect::<Vec<_>>(), ["M002", "M003", "M006"]);
    let missing = codes_without_output(&BTreeSet::new()).len();
    assert_eq!(missing, all().count() - WITHOUT_OUTPUT.len());
    assert_eq!(codes_without_output(&shown).len(), missing - 3);
    let listed = BTreeSet::from(["B051".to_owned()]);
    assert_eq!(
        idle_entries(&listed, "fn every_trouble_has_its_code() {}").len(),
        1 + WITHOUT_OUTPUT.len() - 3
    );
}
