//! `compat`: tables, questions, and facts folders with something wrong in them.

use crate::support::Project;

/// The first line of what is said when a command fails.
#[track_caller]
fn fault(project: &Project, arguments: &[&str]) -> String {
    let said = project.run(arguments).exits(1).stderr;
    assert!(said.contains("\nhelp: "), "{said}");
    said.lines().next().unwrap_or_default().to_owned()
}

#[test]
fn a_question_is_answered_with_the_row_it_rests_on() {
    let project = Project::new();
    let said = project.run(&["compat", "explain", "torch=2.6.0", "rocm=6.2"]).exits(0).stdout;
    assert!(said.starts_with("torch 2.6.0 with ROCm 6.2: no\n"), "{said}");
    assert!(said.contains("checked 2026-"), "{said}");
}

#[test]
fn the_tables_are_listed_and_each_can_be_shown() {
    let project = Project::new();
    let counts = project.run(&["compat", "list", "--format", "json"]).exits(0).json();
    for (table, _) in counts.as_object().unwrap() {
        assert!(!project.run(&["compat", "list", table]).exits(0).stdout.is_empty(), "{table}");
    }
}

#[test]
fn questions_that_facts_cannot_answer_say_what_to_ask() {
    let project = Project::new();
    let check = |arguments: &[&str], expect: &str| {
        assert_eq!(fault(&project, &[&["compat", "explain"], arguments].concat()), expect);
    };
    check(&["torch=2.6.0", "colour=blue"], "error[K006 bad-question]: `colour` is nothing that facts speak about");
    check(&["nonsense"], "error[K006 bad-question]: `nonsense` is not of the form AXIS=VALUE");
    check(&["torch=2.6.0"], "error[K006 bad-question]: no fact joins these values");
    let table = fault(&project, &["compat", "list", "torhc"]);
    assert_eq!(table, "error[K005 unknown-table]: there is no table `torhc`");
}

#[test]
fn a_facts_folder_is_checked_before_it_is_believed() {
    let empty = Project::new().file("facts/readme.txt", "");
    assert_eq!(
        fault(&empty, &["compat", "list", "--compat", "facts"]),
        "error[K003 no-tables]: there are no tables in `facts`"
    );
    let unknown = Project::new().file("facts/libc.yaml", "libc:\n  - nonsense: 1\n");
    assert!(
        fault(&unknown, &["compat", "list", "--compat", "facts"])
            .starts_with("error[K001 bad-table]: unknown field `nonsense`")
    );
    let unsourced = Project::new().file(
        "facts/libc.yaml",
        "libc:\n  - {host: x, glibc: \"2.28\", glibcxx-max: \"3.4.24\", origin: {status: verified, source: nobody, checked: 2026-11-21}}\n",
    );
    assert!(fault(&unsourced, &["compat", "list", "--compat", "facts"]).starts_with("error[K002 bad-row]: "));
}

#[test]
fn an_index_without_pages_of_torch_changes_nothing() {
    let project = Project::new().file("pages/other/index.html", "");
    let said = fault(&project, &["compat", "refresh", "--from", "pages"]);
    assert_eq!(said, "error[K004 cannot-fetch]: `pages` holds no pages such as rocm6.2/torch/index.html");
}

#[test]
fn a_facts_file_that_cannot_be_read_is_told_with_its_code() {
    let project = Project::new().bytes("facts/libc.yaml", b"\xff\xfe");
    let said = project.run(&["compat", "list", "--compat", "facts"]).exits(1).stderr;
    assert!(said.starts_with("error[H020 cannot-read-file]: cannot read `facts/libc.yaml`: it is not UTF-8"), "{said}");
}
