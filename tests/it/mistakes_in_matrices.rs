//! Mistakes in matrix files: `NAME.yaml` beside the whole of what is said about it, `NAME.stderr`.
//!
//! `ROCK_BLESS=1 cargo test --test it mistakes` writes the expected texts anew. A bug report
//! becomes a file here first.

use std::path::Path;

use proptest::prelude::*;
use rock_matrix::diagnostic::{Sink, SourceText};
use rock_matrix::yaml::limits::{MAX_KEY_BYTES, MAX_TEXT_BYTES};

use crate::support::hostile::{Bounds, bounded};
use crate::support::{Project, appears, assert_file};

const FOLDER: &str = "tests/it/mistakes_in_matrices";

fn names() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(FOLDER);
    let files = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = files
        .filter_map(|file| Some(file.strip_suffix(".yaml")?.to_owned()))
        .collect();
    names.sort();
    names
}

fn text(name: &str) -> String {
    std::fs::read_to_string(
        Path::new(env!("CARGO_MANIFEST_DIR"))
            .join(FOLDER)
            .join(format!("{name}.yaml")),
    )
    .unwrap()
}

#[test]
fn each_mistake_is_named_with_its_place_and_what_to_do() {
    let names = names();
    assert!(names.len() >= 60, "{}", names.len());
    for name in names {
        let file = format!("{name}.yaml");
        let project = Project::new().file(&file, &text(&name));
        let expected = rock_matrix_exit(&project, &file);
        let outcome = project.run(&["check", &file]).exits(expected);
        assert_eq!(outcome.stdout, "", "{name}");
        assert_file(&format!("{FOLDER}/{name}.stderr"), &outcome.stderr);
    }
}

/// 1 where an error is reported, 0 where only notes and warnings are.
fn rock_matrix_exit(project: &Project, file: &str) -> i32 {
    let output = project
        .command(&["check", file, "--format", "json"])
        .output()
        .unwrap();
    let rows = String::from_utf8(output.stdout).unwrap();
    i32::from(rows.lines().any(|row| {
        let row: serde_json::Value = serde_json::from_str(row).unwrap();
        row["severity"] == "error"
    }))
}

#[test]
fn every_first_line_is_an_error_in_the_users_words() {
    for name in names() {
        let expected = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join(FOLDER)
            .join(format!("{name}.stderr"));
        let Ok(expected) = std::fs::read_to_string(expected) else {
            continue;
        };
        for line in expected.lines().filter(|line| {
            ["error[", "warning[", "note["]
                .iter()
                .any(|s| line.starts_with(s))
        }) {
            let message = line.split_once("]: ").unwrap().1;
            assert!(
                !message.ends_with('.') && message.chars().count() < 200,
                "{name}: {line}"
            );
            assert!(
                !message.starts_with(|c: char| c.is_ascii_uppercase()),
                "{name}: {line}"
            );
        }
    }
}

/// Checks one file of any bytes; the exit is 1 and nothing else is said than these diagnostics.
fn refused(bytes: &[u8], first_line: &str) {
    let project = Project::new().bytes("m.yaml", bytes);
    let outcome = project.run(&["check", "m.yaml"]).exits(1);
    assert_eq!(outcome.stderr.lines().next(), Some(first_line));
    assert_eq!(project.files(), ["m.yaml"], "nothing is written");
}

#[test]
fn files_that_are_no_text_are_refused() {
    refused(
        b"version: 1\nname: \xff\xfe\n",
        "error[M004 not-utf8]: the file is not UTF-8 text: byte 17 is 0xff",
    );
    let utf16: Vec<u8> = "\u{feff}version: 1\n"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    let project = Project::new().bytes("m.yaml", &utf16);
    let outcome = project.run(&["check", "m.yaml"]).exits(1);
    assert!(
        outcome
            .stderr
            .contains("help: save the file as UTF-8; it looks like UTF-16"),
        "{}",
        outcome.stderr
    );
    refused(
        b"\0\0\0\0",
        "error[M038 control-character]: the control character U+0000 is not allowed in a YAML file",
    );
}

#[test]
fn wheels_in_place_of_matrix_files_are_recognized() {
    let wheel = "a-1-py3-none-any.whl";
    let archive = b"PK\x03\x04\x14\0\xff\xfe";
    let project = Project::new()
        .bytes(wheel, archive)
        .bytes(&format!("dist/{wheel}"), archive);
    let is_wheel = "is a wheel, not a matrix file";
    for (command, file, message, help) in [
        ("check", wheel, is_wheel, wheel),
        ("plan", wheel, is_wheel, wheel),
        ("plan", "dist", "there is no matrix file in `dist/`", "dist"),
    ] {
        let stderr = project.run(&[command, file]).exits(1).stderr;
        let help = format!("with `rock-matrix wheel check {help}`\n");
        assert!(
            stderr.contains(message) && stderr.contains(&help),
            "{stderr}"
        );
    }
    refused(
        archive,
        "error[M004 not-utf8]: the file is a ZIP archive, not a matrix file",
    );
}

/// The memory and time that reading any matrix file may take.
const BOUNDS: Bounds = Bounds {
    address_mib: 1024,
    peak_mib: 192,
    cpu_s: 60,
};

/// The path to each of many values can be 500 times as long as its text, and so can each of their
/// faults.
#[test]
fn long_keys_around_many_values_take_little_memory() {
    let head = "version: 1\ndistribution: flash-attn\naxes:\n  flash-attn: [\"2.8.3\"]\n  \
                python: [\"3.12\"]\n  torch: [\"2.5.1\"]\n  rocm: [\"6.2\"]\n";
    let key = "k".repeat(1000);
    let nested = format!(
        "{head}nested: {}[{}]{}\n",
        format!("{{{key}: ").repeat(55),
        "x,".repeat(40_000),
        "}".repeat(55)
    );
    let faults = format!("{head}  {key}: [{}]\n", "[],".repeat(100_000));
    let explicit = |bytes: usize| {
        format!(
            "{head}  ? {}\n  : [{}]\n",
            "k".repeat(bytes),
            (0..4000).map(|n| format!("v{n},")).collect::<String>()
        )
    };
    let codes_of = |file: &str| {
        let stderr = bounded(
            &Project::new().file("m.yaml", file),
            BOUNDS,
            &["check", "m.yaml"],
            1,
        )
        .stderr;
        let codes = stderr
            .lines()
            .filter_map(|line| line.split_once(']')?.0.strip_prefix("error["));
        codes.map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(codes_of(&nested), ["M020 unknown-key"]);
    assert_eq!(
        codes_of(&faults)
            .iter()
            .filter(|code| *code == "M022 wrong-kind")
            .count(),
        1000
    );
    assert_eq!(codes_of(&explicit(MAX_KEY_BYTES)), ["M032 unknown-axis"]);
    assert_eq!(codes_of(&explicit(MAX_KEY_BYTES + 1)), ["M072 too-long"]);
    assert_eq!(codes_of(&explicit(1 << 20)), ["M072 too-long"]);
}

/// One text of 64 KiB with many aliases stands for gigabytes though it adds few values.
#[test]
fn aliases_of_a_long_text_are_refused_before_they_take_memory() {
    let long = "x".repeat(MAX_TEXT_BYTES);
    let file = |aliases: usize| {
        let list = vec!["*a"; aliases].join(",");
        format!(
            "version: 1\ndistribution: flash-attn\nvars: {{source: &a \"{long}\"}}\ndocker: {{args: [{list}]}}\n"
        )
    };
    for (aliases, is_over) in [(254, false), (255, true), (32_000, true)] {
        let project = Project::new().file("m.yaml", &file(aliases));
        let stderr = bounded(&project, BOUNDS, &["check", "m.yaml"], 1).stderr;
        let expected =
            "error[M008 alias-budget]: anchors and aliases add more than 16 MiB to this file";
        assert_eq!(
            stderr.contains(expected),
            is_over,
            "{aliases}: {}",
            &stderr[..stderr.len().min(500)]
        );
    }
}

#[test]
fn a_file_with_every_part_is_taken() {
    let stderr = Project::new()
        .file("m.yaml", RICH)
        .run(&["check", "m.yaml"])
        .exits(0)
        .stderr;
    // The workflow keeps no caches, and its jobs need several attempts.
    assert!(
        stderr.contains("warning[P045 ") && stderr.ends_with("1 file, 0 errors, 1 warning\n"),
        "{stderr}"
    );
}

#[test]
fn a_byte_order_mark_is_a_warning_and_the_file_is_read() {
    let seed = include_str!("../../matrices/flash-attn.yaml");
    let project = Project::new().file("m.yaml", &format!("\u{feff}{seed}"));
    let outcome = project.run(&["check", "m.yaml"]).exits(0);
    assert!(
        outcome.stderr.starts_with("warning[M005 byte-order-mark]"),
        "{}",
        outcome.stderr
    );
}

#[test]
fn ten_megabytes_of_nesting_are_refused_at_once() {
    for opening in ["[", "{a: ", "- "] {
        let text = format!(
            "version: 1\naxes:\n  {}",
            opening.repeat(10_000_000 / opening.len())
        );
        refused(
            text.as_bytes(),
            "error[M010 too-deep]: values are nested more than 64 levels deep",
        );
    }
}

#[test]
fn an_alias_bomb_is_refused_before_it_expands() {
    let mut text =
        "version: 1\ndistribution: x\nvars:\n  a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n".to_owned();
    for i in 1..30 {
        text += &format!(
            "  a{i}: &a{i} [{}]\n",
            vec![format!("*a{}", i - 1); 10].join(",")
        );
    }
    refused(
        text.as_bytes(),
        "error[M008 alias-budget]: aliases add more than 100000 values to this file",
    );
}

/// Each pair of a torch and a ROCm may have a finding: 9 million of them took minutes and
/// gigabytes.
#[test]
fn more_pairs_of_versions_than_facts_judge_are_refused() {
    let output_of = |torches: u32| {
        let versions = |first: u32, count: u32| {
            (0..count)
                .map(|minor| format!("\"{first}.{minor}\""))
                .collect::<Vec<_>>()
                .join(",")
        };
        let text = format!(
            "version: 1\ndistribution: flash-attn\nrecipe: flash-attn\nunknown: lenient\nrocm-policy: newest\n\
             torch-from: host\npython-from: host\naxes:\n  flash-attn: [\"2.8.3\"]\n  python: [\"3.12\"]\n  \
             torch: [{}]\n  rocm: [{}]\ngfx: [gfx942]\n",
            versions(2, torches),
            versions(6, 200)
        );
        Project::new()
            .file("m.yaml", &text)
            .stderr_of(&["check", "m.yaml"])
    };
    let first = "error[P011 too-many-cells]: the compatibility data would have to be evaluated for \
                 more than 100000 combinations of two or three axes\n";
    let refused = output_of(501);
    assert!(refused.starts_with(first), "{refused}");
    appears("P011", &refused, &output_of(500));
}

#[test]
fn a_huge_file_and_a_missing_one_are_refused_by_name() {
    refused(
        &vec![b'#'; 17 << 20],
        "error[H020 cannot-read-file]: cannot read `m.yaml`: it is larger than 16777216 bytes",
    );
    let outcome = Project::new().run(&["check", "nowhere.yaml"]).exits(1);
    assert!(
        outcome.stderr.contains("cannot read `nowhere.yaml`") && outcome.stderr.contains("help: "),
        "{}",
        outcome.stderr
    );
    let outcome = Project::new()
        .file("folder/m.yaml", "x")
        .run(&["check", "folder"])
        .exits(1);
    assert!(
        outcome.stderr.contains("--> folder/m.yaml:1:1\n"),
        "{}",
        outcome.stderr
    );
}

#[test]
fn one_run_shows_every_fault_of_every_file() {
    let project = Project::new()
        .file("a.yaml", &text("mistyped-key"))
        .file("b.yaml", &text("unclosed-list"))
        .file("matrices/c.yaml", &text("empty-axis"))
        .bytes("d.yaml", b"\xff");
    let outcome = project
        .run(&[
            "check",
            "a.yaml",
            "b.yaml",
            "matrices/c.yaml",
            "d.yaml",
            "e.yaml",
        ])
        .exits(1);
    for file in ["a.yaml:", "b.yaml:", "matrices/c.yaml:", "d.yaml", "e.yaml"] {
        assert!(
            outcome.stderr.contains(&format!("--> {file}")),
            "{file}: {}",
            outcome.stderr
        );
    }
    assert!(
        outcome.stderr.ends_with("5 files, 5 errors, 0 warnings\n"),
        "{}",
        outcome.stderr
    );
}

#[test]
fn annotations_are_written_where_github_asks_for_them() {
    let project = Project::new()
        .file("m.yaml", &text("mistyped-key"))
        .env("GITHUB_ACTIONS", "true");
    let outcome = project
        .run(&["check", "m.yaml", "--color", "never"])
        .exits(1);
    assert_eq!(outcome.stdout, "", "stdout is data");
    let annotation = outcome
        .stderr
        .split_once("\n::")
        .map(|(_, rest)| format!("::{rest}"))
        .unwrap();
    assert!(
        annotation
            .starts_with("::error file=m.yaml,line=8,endLine=8,col=1,endColumn=8,title=M020 unknown-key::unknown key"),
        "{}",
        outcome.stderr
    );
}

#[test]
fn check_is_quiet_on_request_and_colours_only_on_request() {
    let project = Project::new().file("m.yaml", include_str!("../../matrices/flash-attn.yaml"));
    assert_eq!(
        project.run(&["check", "m.yaml", "--quiet"]).exits(0).stderr,
        ""
    );
    let wrong = Project::new().file("m.yaml", &text("mistyped-key"));
    assert!(
        !wrong
            .run(&["check", "m.yaml"])
            .exits(1)
            .stderr
            .contains('\u{1b}')
    );
    assert!(
        wrong
            .run(&["check", "m.yaml", "--color", "always"])
            .exits(1)
            .stderr
            .contains('\u{1b}')
    );
    let wrong = wrong.env("NO_COLOR", "1").env("CLICOLOR_FORCE", "1");
    assert!(
        !wrong
            .run(&["check", "m.yaml"])
            .exits(1)
            .stderr
            .contains('\u{1b}')
    );
}

/// A file with every part that the seed matrix leaves out.
const RICH: &str = r#"version: 1
distribution: flash-attn
axes: {flash-attn: ["2.8.3", "fa2:4a948e9"], python: [3.10, "3.11"], torch: ["2.6.0"], rocm: ["6.1"], gpu: [auto], opt-dim: ["64"]}
rows:
  - {flash-attn: "2.7.4", python: "3.12", torch: "2.5.1", rocm: "6.2", runner: mi300x, gfx: [gfx942], vars: {max-jobs: 4}}
gfx: [gfx90a:xnack-, gfx110X-all]
exclude: [{torch: "2.6", python: "3.11", flash-attn: "2.8.3"}]
include:
  - axes: {torch: "2.6.0", gpu: auto}
    set: {image: "rocm/pytorch:x", gpu: required}
image: {repository: rocm/pytorch, tag: latest}
docker: {shm-size: 8G, groups: [video, "44"], gid: name, args: ["--env=A=b", -v, "/a:/b"]}
secrets: [HF_TOKEN]
indexes: {torch: "https://example.org/{rocm}/"}
workflow: {max-parallel: 3, cache: off}
release: {make-latest: true, pages: true}
"#;

/// One change to a text: cut, doubled, or a piece put in.
fn mutated(seeds: [&'static str; 2]) -> impl Strategy<Value = String> {
    let pieces = prop_oneof![
        Just("\t"),
        Just("["),
        Just("}"),
        Just("\""),
        Just("'"),
        Just(": "),
        Just("- "),
        Just("&a "),
        Just("*a"),
        Just("<<: *a"),
        Just("!!int "),
        Just("\n---\n"),
        Just("\u{0}"),
        Just("\u{feff}"),
        Just("\u{202e}"),
        Just("é"),
        Just("|\n"),
        Just(">-\n"),
        Just("? "),
        Just("#"),
        Just("0x1f"),
        Just("-1"),
        Just("1e999"),
        Just("null"),
        Just("{}"),
        Just("[]"),
        Just("99999999999999999999"),
        Just("%YAML 1.1\n"),
        Just(","),
        Just("\r"),
    ];
    let change = (
        any::<prop::sample::Index>(),
        any::<prop::sample::Index>(),
        pieces,
        0..3_u8,
    );
    (0..2_usize, proptest::collection::vec(change, 0..6)).prop_map(move |(seed, changes)| {
        let mut text = seeds[seed].to_owned();
        for (from, to, piece, kind) in changes {
            let spots: Vec<usize> = text
                .char_indices()
                .map(|(at, _)| at)
                .chain([text.len()])
                .collect();
            let (a, b) = (spots[from.index(spots.len())], spots[to.index(spots.len())]);
            let (a, b) = (a.min(b), a.max(b).min(a.min(b) + 40));
            let b = text.ceil_char_boundary(b);
            match kind {
                0 => text.insert_str(a, piece),
                1 => text.replace_range(a..b, piece),
                _ => text = [&text[..b], &text[a..]].concat(),
            }
        }
        text
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn no_change_to_a_matrix_makes_check_panic(
        text in mutated([include_str!("../../matrices/flash-attn.yaml"), RICH])
    ) {
        let compat = rock_matrix::compat::Compat::embedded();
        let recipes = std::sync::Arc::new(rock_matrix::config::recipe::RecipeSet::with_shipped([]));
        let lookups = rock_matrix::config::Lookups::new(&compat, recipes.clone());
        let mut sink = Sink::new();
        let config = rock_matrix::config::read(&SourceText::new("m.yaml", text.as_str()), &lookups, &mut sink);
        prop_assert_eq!(config.is_none(), sink.has_errors());
        if let Some(config) = config
            && let Some(recipe) = recipes.known(&config.recipe)
        {
            let profile = recipe.profile(&config.distribution.normalized());
            let options = rock_matrix::plan::PlanInputs::default();
            let _ = rock_matrix::plan::plan(vec![(config, profile)], &compat, &options, &mut sink);
        }
        let found = sink.finish();
        rock_matrix::diagnostic::render::human(&found, false);
        rock_matrix::diagnostic::render::GithubAnnotations::default().commands(&found, |path| Some(path.to_owned()));
        rock_matrix::diagnostic::render::json(&found);
    }
}

#[test]
fn errors_are_reported_first_and_all_counted() {
    let rows: String = (0..3000)
        .map(|n| {
            format!(
                "  - {{flash-attn: \"2.8.{n}\", python: \"3.12\", torch: \"2.5.1\", rocm: \"6.2\", runner: box-{n}}}\n"
            )
        })
        .collect();
    let text = format!(
        "version: 1\ndistribution: flash-attn\nrecipe: flash-attn\ngfx: [gfx942]\nrunnr: x\nunknown: never\nrows:\n{rows}"
    );
    let stderr = Project::new()
        .file("m.yaml", &text)
        .run(&["check", "m.yaml"])
        .exits(1)
        .stderr;
    assert!(
        stderr.contains("`runnr`") && stderr.contains("never"),
        "no error is lost among warnings\n{}",
        &stderr[..2000]
    );
    assert!(
        stderr
            .lines()
            .last()
            .unwrap()
            .starts_with("1 file, 2 errors, "),
        "{:?}",
        stderr.lines().last()
    );
}

#[test]
fn a_value_as_long_as_a_file_does_not_make_the_message_so() {
    let text = format!(
        "version: 1\ndistribution: flash-attn\nrunner: {}\naxes: []\n",
        "x".repeat(5 << 20)
    );
    let stderr = Project::new()
        .file("m.yaml", &text)
        .run(&["check", "m.yaml"])
        .exits(1)
        .stderr;
    assert!(
        stderr.lines().all(|line| line.len() < 4000),
        "{}",
        stderr.lines().map(str::len).max().unwrap()
    );
}

#[test]
fn what_a_recipe_refuses_is_placed_in_the_matrix_file() {
    let text = "version: 1\ndistribution: flash-attn\nrecipe: flash-attn\ngfx: [gfx942]\nvars: {opt-dim: \"64\"}\naxes: {flash-attn: [\"2.7.4\"], python: [\"3.12\"], torch: [\"2.5.1\"], rocm: [\"6.2\"]}\n";
    let stderr = Project::new()
        .file("m.yaml", text)
        .run(&["check", "m.yaml"])
        .exits(1)
        .stderr;
    assert!(
        stderr.starts_with("error[B003 refused-by-recipe]")
            && stderr.contains(" --> m.yaml:5:17\n"),
        "{stderr}"
    );
}

#[test]
fn a_failed_write_to_stdout_is_reported() {
    for command in [&["schema"][..], &["compat", "list", "torch"], &["explain"]] {
        let full = std::fs::OpenOptions::new()
            .write(true)
            .open("/dev/full")
            .unwrap();
        let output = Project::new()
            .command(command)
            .stdout(full)
            .output()
            .unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(3), "{command:?}");
        assert!(
            stderr.starts_with("error[H021 cannot-write-file]: cannot write to stdout: "),
            "{command:?}: {stderr}"
        );
    }
}
