//! Facts of recipes: their order, tables, files and questions.

use std::collections::BTreeMap;

use super::{built, document, messages};
use crate::fixture::{argv, flash_attn};
use crate::{BuildSite, FactSource, build, found, questions};
use rock_compat::Compat;

const STEP: &str = "steps: [{stage: build, argv: [make, \"{{ last }}\"]}]\n";

#[test]
fn facts_are_computed_in_the_order_they_need_and_a_circle_is_an_error() {
    let make = |text: &str| built(&document(text));
    let ordered = make(&format!(
        "facts: {{last: {{expr: \"{{{{ middle ~ '!' }}}}\"}}, middle: {{expr: \"{{{{ rocm }}}}\"}}}}\n{STEP}"
    ));
    assert_eq!(argv(&ordered.unwrap(), "build"), "make 6.2!");
    let faults =
        make(&format!("facts: {{last: {{expr: \"{{{{ other }}}}\"}}, other: {{expr: \"{{{{ last }}}}\"}}}}\n{STEP}"))
            .unwrap_err();
    assert_eq!(
        messages(&faults),
        ["B004: recipe `flash-attn`: facts `last`, `other` cannot be computed"]
    );
    assert_eq!(
        faults[0].labels[0].location.to_string(),
        "recipes/flash-attn.yaml:3:9"
    );
}

#[test]
fn a_fact_may_not_have_the_name_of_a_value_that_every_recipe_has() {
    let document = document(&format!(
        "facts: {{last: {{expr: x}}, version: {{expr: x}}}}\n{STEP}"
    ));
    let faults = built(&document).unwrap_err();
    assert_eq!(
        messages(&faults),
        ["B001: fact `version` has the name of a value that every recipe can use"]
    );
}

#[test]
fn a_fact_of_a_table_is_the_first_row_that_fits() {
    let make = |fact: &str| {
        let document = document(&format!("facts: {{last: {fact}}}\n{STEP}"));
        built(&document)
    };
    let found =
        make("{table: torch, where: {torch: \"{{ torch|minor }}\"}, column: rocm-index}").unwrap();
    assert_eq!(argv(&found, "build"), "make 6.1 6.2");
    let found =
        make("{table: torch, where: {rocm-index: \"6.2.4\", python: \"3.13\"}, column: torch}")
            .unwrap();
    assert_eq!(argv(&found, "build"), "make 2.6");
    let found =
        make("{table: torch, where: {torch: \"0.1\"}, column: torch, default: none}").unwrap();
    assert_eq!(argv(&found, "build"), "make none");
    for (fact, message) in [
        (
            "{table: torhc, column: x}",
            "B002: fact `last`: there is no table `torhc`",
        ),
        (
            "{table: torch, column: x}",
            "B002: fact `last`: table `torch` has no column `x`",
        ),
        (
            "{table: torch, where: {torch: \"0.1\"}, column: torch}",
            "B002: fact `last`: table `torch` has no row with torch 0.1",
        ),
    ] {
        let faults = make(fact).unwrap_err();
        let notes = faults[0].notes.join(" ");
        assert!(
            messages(&faults)[0] == message || notes.contains(&message[6..]),
            "{faults:?}"
        );
    }
}

#[test]
fn the_newest_row_up_to_a_version_is_taken() {
    let names = |platform: &str, sdk: &str| {
        let fact = format!(
            "{{table: preloads, where: {{platform: {platform}}}, at-most: {{since: \"{sdk}\"}}, column: names}}"
        );
        let document = document(&format!("facts: {{last: {fact}}}\n{STEP}"));
        let build = built(&document);
        build
            .map(|build| argv(&build, "build"))
            .map_err(|faults| faults[0].notes.join(" "))
    };
    let seed = names("linux", "7.0.0").unwrap();
    assert!(
        seed.starts_with("make amd_comgr amdhip64 rocprofiler-sdk-roctx ")
            && !seed.contains("hipdnn"),
        "{seed}"
    );
    assert!(
        names("linux", "7.14.0a20260815")
            .unwrap()
            .ends_with("roctx64 rccl"),
        "a prerelease of 7.14 is older than it"
    );
    assert!(
        names("linux", "7.15.0")
            .unwrap()
            .ends_with("roctx64 rccl hipfile")
    );
    assert!(
        names("windows", "7.14.0")
            .unwrap()
            .ends_with("miopen hipdnn rocm-openblas")
    );
    let why = names("linux", "6.4.0").unwrap_err();
    assert!(
        why.contains("has no row with platform linux, since up to 6.4.0"),
        "{why}"
    );
}

#[test]
fn the_first_path_that_exists_is_requested() {
    let job = flash_attn("2.8.3", "6.2", "2.5.1", "ck", "");
    let document = document(&format!(
        "facts: {{last: {{path: [src/t/python/setup.py, src/t/setup.py]}}}}\n{STEP}"
    ));
    let sources = questions(
        &job,
        &document,
        &Compat::embedded(),
        &BuildSite::Container,
        &BTreeMap::new(),
        &mut |_, _| None,
    )
    .unwrap();
    let paths = ["src/t/python/setup.py", "src/t/setup.py"].map(str::to_owned);
    assert_eq!(
        sources,
        [("last".to_owned(), FactSource::FirstPath(paths.into()))]
    );
}

#[test]
fn a_pattern_takes_its_group_out_of_a_file() {
    assert_eq!(found(" 2.9.0a0\n", "").as_deref(), Some("2.9.0a0"));
    assert_eq!(
        found("set(V 1)\nset(W 23)", r"set\(W (\d+)\)").as_deref(),
        Some("23")
    );
    assert_eq!(
        found(
            "build-backend = \"scikit_build_core.build\"",
            "scikit_build_core"
        )
        .as_deref(),
        Some("scikit_build_core")
    );
    assert_eq!(found("x", "y"), None);
}

#[test]
fn a_check_takes_stand_ins_for_what_conditions_look_into() {
    let when = "steps: [{stage: old, argv: [a], when: \"{{ base|in_range('<2.11') }}\"}, {stage: new, argv: [b]}]\n";
    let make = |fact: &str| {
        let document = document(&format!("facts: {{base: {fact}}}\n{when}"));
        let build = built(&document);
        build
            .map(|build| build.steps.iter().any(|step| step.stage == "old"))
            .map_err(|faults| messages(&faults))
    };
    assert_eq!(make("{file: version.txt, stand-in: 2.9.0}"), Ok(true));
    assert_eq!(
        make("{file: version.txt, stand-in: 2.12.0, default: 2.9.0}"),
        Ok(false)
    );
    assert!(
        make("{file: version.txt}").is_err(),
        "`<base>` is no version"
    );
}

#[test]
fn questions_continue_until_all_facts_are_known() {
    let job = flash_attn("2.8.3", "6.2", "2.5.1", "ck", "");
    let document = document(&format!(
        "facts:\n  root: {{command: [rocm_sdk, path, --root]}}\n  release: {{file: \"{{{{ root }}}}/version.txt\"}}\n  \
         token: {{env: TOKEN, default: none}}\n  last: {{expr: \"{{{{ release }}}}\"}}\n{STEP}"
    ));
    let ask = |given: &BTreeMap<String, String>| {
        questions(
            &job,
            &document,
            &Compat::embedded(),
            &BuildSite::Container,
            given,
            &mut |_, _| None,
        )
        .unwrap()
    };
    let mut given = BTreeMap::new();
    let command = FactSource::Command(["rocm_sdk", "path", "--root"].map(str::to_owned).into());
    assert_eq!(
        ask(&given),
        [
            ("root".to_owned(), command),
            ("token".to_owned(), FactSource::Variable("TOKEN".into()))
        ]
    );
    given.insert("root".to_owned(), "/opt/rocm".to_owned());
    given.insert("token".to_owned(), String::new());
    assert_eq!(
        ask(&given),
        [(
            "release".to_owned(),
            FactSource::File {
                path: "/opt/rocm/version.txt".into(),
                find: String::new()
            }
        )]
    );
    given.insert("release".to_owned(), "7.10.0".to_owned());
    assert_eq!(ask(&given), []);
    let known = build(
        &job,
        &document,
        &Compat::embedded(),
        &BuildSite::Container,
        &given,
    )
    .unwrap();
    assert_eq!(argv(&known, "build"), "make 7.10.0");
    let dry = built(&document).unwrap();
    assert_eq!(argv(&dry, "build"), "make <release>");
}
