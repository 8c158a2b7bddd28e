//! What a step of GitHub Actions sees of the program: outputs, masks, annotations, summaries,
//! groups.

use crate::support::Project;
use crate::support::toy::Toy;

const MATRIX: &str = "version: 1\ndistribution: flash-attn\nrecipe: flash-attn\naxes:\n  flash-attn: [\"2.6.3\", \"2.7.4\", \"2.8.3\"]\n  \
                      python: [\"3.10\", \"3.11\", \"3.12\"]\n  torch: [\"2.5.1\", \"2.6.0\"]\n  rocm: [\"6.1\", \"6.2\"]\n";

/// A project in a step, with the files that the runner makes.
fn step() -> Project {
    Project::new()
        .file("m.yaml", MATRIX)
        .file("outputs", "before=1\n")
        .file("summary.md", "before\n")
        .env("GITHUB_ACTIONS", "true")
        .env("GITHUB_OUTPUT", "outputs")
        .env("GITHUB_STEP_SUMMARY", "summary.md")
}

/// 1.6
#[test]
fn outputs_and_summaries_are_appended_as_utf_8_that_ends_its_last_line() {
    let project = step();
    for _ in 0..2 {
        let _ = project.run(&["plan", "m.yaml", "--github-output"]).exits(0);
    }
    let (outputs, summary) = (project.read("outputs"), project.read("summary.md"));
    assert!(
        outputs.starts_with("before=1\ncount=27\n") && outputs.ends_with('\n'),
        "{outputs}"
    );
    assert_eq!(outputs.matches("\ncount=27\n").count(), 2);
    assert!(
        summary.starts_with("before\n### Coverage\n") && summary.ends_with("|\n"),
        "{summary}"
    );
    assert_eq!(summary.matches("### 27 jobs\n").count(), 2);
}

/// 1.6
#[test]
fn a_local_run_has_its_outputs_on_stdout_with_a_note() {
    let outcome = Project::new()
        .file("m.yaml", MATRIX)
        .run(&["plan", "m.yaml", "--github-output"])
        .exits(0);
    assert!(
        outcome.stdout.starts_with("count=27\nhas_jobs=true\n"),
        "{}",
        outcome.stdout
    );
    assert!(
        outcome
            .stderr
            .contains("GITHUB_OUTPUT is not set; the outputs follow on stdout\n"),
        "{}",
        outcome.stderr
    );
}

/// 1.6: a file that cannot be written is the machine's fault, not a crash.
#[test]
fn an_output_file_that_cannot_be_written_is_reported() {
    let project = Project::new()
        .file("m.yaml", MATRIX)
        .env("GITHUB_OUTPUT", "no/such/folder");
    let outcome = project.run(&["plan", "m.yaml", "--github-output"]).exits(3);
    assert!(
        outcome.stderr.contains("no/such/folder"),
        "{}",
        outcome.stderr
    );
}

/// 1.6
#[test]
fn outputs_that_a_full_disk_does_not_take_fail_the_step() {
    let project = step()
        .env("GITHUB_OUTPUT", "/dev/full")
        .env("NO_COLOR", "1");
    let outcome = project.run(&["plan", "m.yaml", "--github-output"]).exits(3);
    insta::assert_snapshot!(outcome.stderr.split("\n\n").next().unwrap(), @r"
    error[H021 cannot-write-file]: cannot append to `/dev/full`: No space left on device (os error 28)
    help: free some space, or use a path on another disk
    ");
    assert_eq!(
        outcome.stdout, "",
        "a step whose outputs are lost does not show them as if they were there"
    );
}

/// 1.6
#[test]
fn an_empty_variable_of_the_runner_counts_as_none() {
    let project = step()
        .env("GITHUB_OUTPUT", "")
        .env("GITHUB_STEP_SUMMARY", "");
    let outcome = project.run(&["plan", "m.yaml", "--github-output"]).exits(0);
    assert!(
        outcome.stdout.starts_with("count=27\nhas_jobs=true\n"),
        "{}",
        outcome.stdout
    );
    assert_eq!(
        outcome.stderr,
        "GITHUB_OUTPUT is not set; the outputs follow on stdout\n"
    );
    assert_eq!(project.read("summary.md"), "before\n");
}

/// 1.4, 1.6: the outputs are what later jobs wait for, and a summary is for people.
#[test]
fn a_summary_that_cannot_be_written_is_a_warning_and_the_outputs_are_there() {
    for (summary, reason) in [
        ("no/such/folder", "No such file or directory"),
        ("/dev/full", "No space left on device"),
    ] {
        let project = step()
            .env("GITHUB_STEP_SUMMARY", summary)
            .env("NO_COLOR", "1");
        let outcome = project.run(&["plan", "m.yaml", "--github-output"]).exits(0);
        let expected =
            format!("warning[H021 cannot-write-file]: cannot append to `{summary}`: {reason}");
        assert!(outcome.stderr.starts_with(&expected), "{}", outcome.stderr);
        assert!(outcome.stderr.contains("\nhelp: "), "{}", outcome.stderr);
        assert!(
            project.read("outputs").starts_with("before=1\ncount=27\n"),
            "{}",
            project.read("outputs")
        );
    }
}

/// 1.7
#[test]
fn the_token_is_masked_before_anything_else_is_written() {
    let token = "ghs_0123456789%abc";
    let run = |actions: &str| {
        let project = Project::new()
            .env("GITHUB_ACTIONS", actions)
            .env("GITHUB_TOKEN", token);
        project.run(&[
            "publish",
            "--repo",
            "o/r",
            "--tag",
            "v1",
            "missing.whl",
            "--api-url",
            "http://127.0.0.1:9",
        ])
    };
    let outcome = run("true").exits(1);
    assert!(
        outcome
            .stderr
            .starts_with("::add-mask::ghs_0123456789%25abc\n"),
        "{}",
        outcome.stderr
    );
    assert_eq!(outcome.stderr.matches("ghs_").count(), 1);
    assert!(
        !outcome.stdout.contains("ghs_"),
        "stdout may go to a file that everybody reads"
    );
    let outcome = run("false").exits(1);
    assert!(
        !outcome.stderr.contains("ghs_") && !outcome.stdout.contains("ghs_"),
        "{}",
        outcome.stderr
    );
}

/// 1.7
#[test]
fn a_file_that_stderr_goes_to_never_holds_the_token() {
    let project = Project::new()
        .env("GITHUB_ACTIONS", "true")
        .env("GITHUB_TOKEN", "ghs_secret");
    let log = std::fs::File::create(project.path("log")).unwrap();
    let mut command = project.command(&["publish", "--repo", "o/r", "--tag", "v1", "missing.whl"]);
    assert_eq!(command.stderr(log).output().unwrap().status.code(), Some(1));
    let log = project.read("log");
    assert!(
        log.contains("missing.whl") && !log.contains("ghs_"),
        "{log}"
    );
}

/// 6.58, 1.7: what an annotation is about stands in the file that was read.
#[test]
fn an_annotation_is_at_the_line_of_the_matrix_file() {
    let project = step().file("m.yaml", &MATRIX.replace("torch:", "torhc:"));
    let outcome = project.run(&["plan", "m.yaml", "--github-output"]).exits(1);
    assert!(
        outcome
            .stderr
            .contains("\n::error file=m.yaml,line=7,endLine=7,col=3,endColumn=8,title=M"),
        "{}",
        outcome.stderr
    );
    assert_eq!(
        (outcome.stdout.as_str(), project.read("outputs").as_str()),
        ("", "before=1\n")
    );
}

/// 1.7
#[test]
fn an_annotation_names_the_file_below_the_root_of_the_repository() {
    let broken = MATRIX.replace("torch:", "torhc:");
    let project = step()
        .file("ws/sub/m.yaml", &broken)
        .file("ws/m.yaml", &broken)
        .file("out.yaml", &broken);
    std::os::unix::fs::symlink("ws", project.path("link")).unwrap();
    let absolute = project.path("ws/sub/m.yaml");
    let annotated = |workspace: &str, folder: &str, path: &str| {
        let mut command = project.command(&["plan", path]);
        command
            .current_dir(project.path(folder))
            .env("GITHUB_WORKSPACE", workspace);
        command.env("GITHUB_STEP_SUMMARY", project.path("summary.md"));
        let stderr = String::from_utf8(command.output().unwrap().stderr).unwrap();
        let line = stderr
            .lines()
            .find(|line| line.starts_with("::error file="))
            .unwrap_or_else(|| panic!("{stderr}"));
        line["::error file=".len()..]
            .split(',')
            .next()
            .unwrap()
            .to_owned()
    };
    let root = |name: &str| project.path(name).to_str().unwrap().to_owned();
    for workspace in [root("ws"), root("link")] {
        assert_eq!(annotated(&workspace, "ws/sub", "m.yaml"), "sub/m.yaml");
        assert_eq!(annotated(&workspace, "ws/sub", "../m.yaml"), "m.yaml");
        assert_eq!(annotated(&workspace, "ws", "./sub/m.yaml"), "sub/m.yaml");
        assert_eq!(
            annotated(&workspace, ".", absolute.to_str().unwrap()),
            "sub/m.yaml"
        );
        assert_eq!(
            annotated(&workspace, ".", "./out.yaml"),
            "out.yaml",
            "it is outside"
        );
    }
    assert_eq!(annotated("", "ws/sub", "m.yaml"), "m.yaml");
    assert_eq!(
        annotated("", "ws/sub", absolute.to_str().unwrap()),
        absolute.to_str().unwrap()
    );
}

/// 1.7
#[test]
fn an_annotation_of_what_is_no_file_names_none() {
    let project = step().env("GITHUB_WORKSPACE", ".");
    std::fs::create_dir(project.path("folder")).unwrap();
    for path in ["$(touch pwn)", "folder", "gone.yaml"] {
        let stderr = project.run(&["check", path]).exits(1).stderr;
        let line = stderr
            .lines()
            .find(|line| line.starts_with("::error "))
            .unwrap();
        assert!(
            line.starts_with("::error title=") && line.contains(path),
            "{line}"
        );
    }
}

/// 1.7
#[test]
fn a_command_line_without_its_subcommand_is_annotated_as_that() {
    let stderr = step().run(&["report"]).exits(2).stderr;
    let expected = "::error title=rock-matrix::a subcommand is required%0AUsage: rock-matrix report [OPTIONS] <COMMAND>\n";
    assert!(stderr.starts_with(expected), "{stderr}");
    let stderr = step().run(&["report", "--quiet"]).exits(2).stderr;
    assert!(
        stderr.starts_with("::error title=rock-matrix::'rock-matrix report' requires a subcommand"),
        "{stderr}"
    );
}

/// 1.7
#[test]
fn annotations_can_be_requested_elsewhere() {
    let project = Project::new().file("m.yaml", "version: 1\n");
    assert!(
        !project
            .run(&["check", "m.yaml"])
            .exits(1)
            .stderr
            .contains("::error ")
    );
    assert!(
        project
            .run(&["check", "m.yaml", "--annotations"])
            .exits(1)
            .stderr
            .contains("\n::error file=m.yaml")
    );
}

/// 1.7
#[test]
fn ten_errors_are_annotated_in_the_order_of_the_file_and_all_are_in_the_summary() {
    let rows: String = (0..14)
        .map(|number| format!("strange-{number:02}: 1\n"))
        .collect();
    let project = step().file("m.yaml", &format!("{MATRIX}{rows}"));
    let outcome = project.run(&["check", "m.yaml"]).exits(1);
    let annotations: Vec<&str> = outcome
        .stderr
        .lines()
        .filter(|line| line.starts_with("::error "))
        .collect();
    assert_eq!(annotations.len(), 10);
    for (number, line) in annotations.iter().enumerate() {
        assert!(
            line.starts_with(&format!("::error file=m.yaml,line={},", number + 9)),
            "{line}"
        );
    }
    let summary = project.read("summary.md");
    assert_eq!(
        summary
            .matches("\n| error | M020 unknown-key | `m.yaml:")
            .count(),
        14,
        "{summary}"
    );
    let few = step().file("m.yaml", &format!("{MATRIX}strange: 1\n"));
    let _ = few.run(&["check", "m.yaml"]).exits(1);
    assert_eq!(
        few.read("summary.md"),
        "before\n",
        "what is annotated whole needs no list"
    );
}

/// 1.4, 1.7
#[test]
fn a_summary_is_below_1_mib_and_counts_the_omitted_rows() {
    let before = (1 << 20) - 1500;
    let project = step().file("summary.md", &"x".repeat(before));
    for _ in 0..3 {
        let _ = project.run(&["plan", "m.yaml", "--github-output"]).exits(0);
    }
    let summary = project.read("summary.md");
    assert!(summary.len() <= 1 << 20, "{}", summary.len());
    let own = &summary[before..];
    let rows = own
        .lines()
        .filter(|line| line.starts_with("| `flash_attn"))
        .count();
    assert!(
        rows > 2
            && own
                .lines()
                .all(|line| !line.starts_with('|') || line.ends_with('|')),
        "{own}"
    );
    assert!(
        own.contains(&format!(
            "\n{} jobs omitted from this summary, which is full.\n",
            27 - rows
        )),
        "{own}"
    );
    assert!(
        project.read("outputs").matches("count=27").count() == 3,
        "outputs do not depend on it"
    );
}

/// How much of the matrix there is already.
#[test]
fn the_summary_has_coverage_and_the_published_share() {
    let plan = step()
        .run(&["plan", "m.yaml", "--format", "json"])
        .exits(0)
        .json();
    let names: Vec<String> = plan["jobs"]
        .as_array()
        .unwrap()
        .iter()
        .take(9)
        .map(|job| job["wheel"].to_string())
        .collect();
    let listing = format!(
        "{{\"releases\": [{{\"tag_name\": \"v1\", \"assets\": [{}]}}]}}",
        names
            .iter()
            .map(|name| format!("{{\"name\": {name}}}"))
            .collect::<Vec<_>>()
            .join(", ")
    );
    let project = step().file("releases.json", &listing);
    let _ = project
        .run(&[
            "plan",
            "m.yaml",
            "--github-output",
            "--published",
            "releases.json",
        ])
        .exits(0);
    let summary = project.read("summary.md");
    assert!(
        summary.contains(
            "| `m.yaml` | 36 | 9 | 27 | 18 |\n\n9 of 27 wheels are already published, 33 %.\n"
        ),
        "{summary}"
    );
}

const HOSTILE: &str =
    "echo '::error::from the build'\necho '  ::stop-commands::x'\necho 'see ##[error]this'\nexit 1";

/// 1.7
#[test]
fn what_a_build_prints_is_a_group_in_the_log_and_never_a_command() {
    let toy = Toy::building(HOSTILE);
    let output = toy
        .command(&["--verbose", "build", crate::support::toy::JOB])
        .env("GITHUB_ACTIONS", "true")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(4));
    let log = String::from_utf8(output.stderr).unwrap();
    assert!(
        log.contains("::group::[2/2] build\n::stop-commands::")
            || log.contains("] build\n::stop-commands::"),
        "{log}"
    );
    let (mut word, mut open, mut quoted, mut words) = (None::<String>, 0, 0, Vec::new());
    for line in log.lines() {
        let text = line.trim_start();
        if let Some(stopped) = &word {
            quoted += usize::from(text.contains("from the build") || text.contains("##["));
            if text == format!("::{stopped}::") {
                word = None;
            }
        } else if let Some(stop) = text.strip_prefix("::stop-commands::") {
            assert_eq!(stop.len(), 32, "{log}");
            words.push(stop.to_owned());
            word = Some(stop.to_owned());
        } else if text.starts_with("::group::") {
            open += 1;
        } else if text == "::endgroup::" {
            open -= 1;
        } else {
            // Our own annotation is one line, in which what it quotes is escaped.
            let is_ours = line.starts_with("::error title=B050 step-failed::");
            assert!(
                is_ours || !(line.contains("##[") || text.starts_with("::")),
                "{line}\n{log}"
            );
        }
    }
    assert!(word.is_none() && open == 0, "what is begun is ended\n{log}");
    assert!(
        quoted >= 4,
        "in the stage and in the fault's last lines\n{log}"
    );
    words.dedup();
    let count = words.len();
    words.sort();
    words.dedup();
    assert_eq!(words.len(), count, "each part has a word of its own");
}

#[test]
fn a_build_elsewhere_has_no_groups() {
    let toy = Toy::building(HOSTILE);
    let (_, stderr) = toy.build(4, &[]);
    assert!(
        !stderr.contains("::group::") && !stderr.contains("::stop-commands::0"),
        "{stderr}"
    );
}
