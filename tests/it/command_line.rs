//! The command line itself: help, completions, manual pages, colours, exit codes.

use std::process::{Command, Stdio};

use crate::support::{Project, assert_file};

const SHELLS: [&str; 5] = ["bash", "elvish", "fish", "powershell", "zsh"];

#[test]
fn the_reference_page_is_fresh() {
    assert_file("docs/cli.md", &rock_matrix::cli::reference());
}

#[test]
fn every_command_shows_examples_and_every_argument_has_help() {
    fn check(command: &clap::Command, path: &str, around: &str) {
        let name = format!("{path}{}", command.get_name());
        let has_commands = command.get_subcommands().next().is_some();
        let after = command
            .get_after_long_help()
            .map(ToString::to_string)
            .unwrap_or_default();
        // A command inside another may have its examples there.
        let has_examples =
            after.contains("Examples:\n  rock-matrix ") || around.contains(&format!("\n  {name} "));
        assert!(has_commands || has_examples, "`{name}` has no examples");
        assert!(
            command.get_about().is_some(),
            "`{name}` does not say what it does"
        );
        for argument in command
            .get_arguments()
            .filter(|argument| !argument.is_hide_set())
        {
            assert!(
                argument.get_help().is_some(),
                "`{name}` does not explain `{argument}`"
            );
        }
        command
            .get_subcommands()
            .for_each(|inner| check(inner, &format!("{name} "), &after));
    }
    check(&rock_matrix::cli::command(), "", "");
}

#[test]
fn a_bad_command_line_exits_with_2_and_help_and_version_with_0() {
    let project = Project::new();
    project.run(&[]).exits(2);
    project.run(&["no-such-command"]).exits(2);
    project.run(&["doctor", "--no-such-option"]).exits(2);
    assert_eq!(
        project.run(&["--version"]).exits(0).stdout,
        "rock-matrix [VERSION]\n"
    );
    assert!(
        project
            .run(&["doctor", "--help"])
            .exits(0)
            .stdout
            .contains("--sysfs-root")
    );
}

#[test]
fn each_shell_gets_a_script_that_names_the_commands() {
    let project = Project::new();
    for shell in SHELLS {
        let script = project.run(&["completions", shell]).exits(0).stdout;
        assert!(
            script.contains("doctor") && script.contains("sysfs-root"),
            "{shell}"
        );
    }
}

#[test]
fn bash_reads_its_script_and_completes_with_it() {
    let project = Project::new();
    let script = project.run(&["completions", "bash"]).exits(0).stdout;
    let project = project.file("completion.bash", &script);
    let question = "source completion.bash\n\
                    COMP_WORDS=(rock-matrix doc) COMP_CWORD=1\n\
                    _rock__matrix rock-matrix doc rock-matrix\n\
                    echo \"${COMPREPLY[@]}\"";
    let output = Command::new("bash")
        .args(["-c", question])
        .current_dir(project.root())
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "doctor");
}

#[test]
fn man_writes_one_page_a_command_and_nothing_the_second_time() {
    let project = Project::new();
    let stderr = project.run(&["man", "--out", "man1"]).exits(0).stderr;
    let pages = project.files();
    assert!(
        pages.contains(&"man1/rock-matrix.1".to_owned())
            && pages.contains(&"man1/rock-matrix-doctor.1".to_owned())
    );
    assert_eq!(
        stderr,
        format!("wrote {} pages into man1, 0 were up to date\n", pages.len())
    );
    for page in &pages {
        let text = project.read(page);
        assert!(
            text.contains(".TH rock-matrix") && text.contains(".SH SYNOPSIS"),
            "{page}"
        );
    }
    let again = project.run(&["man", "--out", "man1"]).exits(0).stderr;
    assert_eq!(
        again,
        format!("wrote 0 pages into man1, {} were up to date\n", pages.len())
    );
    let program = project
        .run(&["man"])
        .exits(0)
        .stdout
        .replace("[VERSION]", env!("CARGO_PKG_VERSION"));
    assert_eq!(program, project.read("man1/rock-matrix.1"));
}

#[test]
fn man_pages_that_cannot_be_written_are_the_machines_fault() {
    let project = Project::new().file("man1", "a file");
    let stderr = project.run(&["man", "--out", "man1"]).exits(3).stderr;
    assert!(
        stderr.starts_with("error[H021 cannot-write-file]: cannot write `man1/rock-matrix.1`"),
        "{stderr}"
    );
}

#[test]
fn a_hyphen_as_output_is_stdout_or_refused() {
    let matrix = "matrices/flash-attn.yaml";
    let project = Project::new();
    project.run(&["init"]).exits(0);
    for command in [
        &["plan", matrix][..],
        &["plan", matrix, "--format", "ids"],
        &["render", "workflow", matrix],
    ] {
        let printed = project.run(command).exits(0).stdout;
        let done = project.run(&[command, &["-o", "-"]].concat()).exits(0);
        assert_eq!(done.stdout, printed);
        assert!(!done.stderr.contains("wrote -"), "{}", done.stderr);
    }
    for command in [
        &["man"][..],
        &["build", "--all"],
        &["publish", "dist"],
        &["wheel", "repair", "a.whl"],
        &["wheel", "label", "a.whl", "rocm7.1"],
    ] {
        let stderr = project
            .run(&[command, &["-o", "-"]].concat())
            .exits(2)
            .stderr;
        let error = "several files cannot be written to stdout";
        assert!(stderr.contains(error), "{command:?}: {stderr}");
    }
    assert!(!project.has("-"));
}

#[test]
fn no_color_is_obeyed_and_color_can_be_forced() {
    let check = |project: Project, arguments: &[&str], is_coloured: bool| {
        let empty = project.file("tree/sys/empty", "");
        let outcome = empty
            .run(&[arguments, &["doctor", "--sysfs-root", "tree"]].concat())
            .exits(0);
        assert_eq!(
            outcome.stderr.contains('\x1b'),
            is_coloured,
            "{arguments:?} {:?}",
            outcome.stderr
        );
        assert!(!outcome.stdout.contains('\x1b'), "data is never coloured");
    };
    check(Project::new(), &[], false);
    check(Project::new(), &["--color", "always"], true);
    check(Project::new().env("CLICOLOR_FORCE", "1"), &[], true);
    check(
        Project::new()
            .env("CLICOLOR_FORCE", "1")
            .env("NO_COLOR", "1"),
        &[],
        false,
    );
    check(
        Project::new().env("CLICOLOR_FORCE", "1"),
        &["--color", "never"],
        false,
    );
}

#[test]
fn a_reader_that_goes_away_is_no_fault() {
    let project = Project::new();
    let mut child = project
        .command(&["completions", "zsh"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let ended = child.wait_with_output().unwrap();
    assert_eq!(ended.status.code(), Some(0));
    assert_eq!(String::from_utf8_lossy(&ended.stderr), "");
}

#[test]
fn what_is_written_goes_where_out_leads_and_never_over_what_is_read() {
    let seed = include_str!("../../matrices/flash-attn.yaml");
    let project = Project::new().file("m.yaml", seed).file("real.json", "old");
    let plan = |out: &str, code: i32| {
        project
            .run(&["plan", "m.yaml", "--format", "json", "--out", out])
            .exits(code)
    };
    std::os::unix::fs::symlink("real.json", project.path("link.json")).unwrap();
    plan("link.json", 0);
    assert!(
        project.path("link.json").is_symlink()
            && project.read("real.json").starts_with("{\"version\":1")
    );
    std::os::unix::fs::symlink("m.yaml", project.path("alias.yaml")).unwrap();
    for out in ["m.yaml", "./m.yaml", "alias.yaml"] {
        let stderr = plan(out, 1).stderr;
        assert!(
            stderr.starts_with(&format!(
                "error[P031 out-is-input]: `--out {out}` would overwrite an input"
            )),
            "{stderr}"
        );
    }
    let rendered = project.run(&[
        "render",
        "script",
        "m.yaml",
        "flash-attn-2.8.3-rocm6.2-torch2.5.1-py3.12",
        "--out",
        "m.yaml",
    ]);
    assert!(rendered.exits(1).stderr.contains("P031"));
    assert_eq!(project.read("m.yaml"), seed);
    let pipe = project.path("pipe");
    assert!(
        std::process::Command::new("mkfifo")
            .arg(&pipe)
            .status()
            .unwrap()
            .success()
    );
    let reader = std::thread::spawn({
        let pipe = pipe.clone();
        move || std::fs::read_to_string(pipe).unwrap()
    });
    plan("pipe", 0);
    assert!(reader.join().unwrap().ends_with("}\n"));
    assert!(
        std::os::unix::fs::FileTypeExt::is_fifo(&std::fs::metadata(&pipe).unwrap().file_type()),
        "it is a pipe still"
    );
}

#[test]
fn what_might_be_piped_has_a_form_for_programs() {
    let project = Project::new().file("m.yaml", include_str!("../../matrices/flash-attn.yaml"));
    let codes = project
        .run(&["explain", "--format", "json"])
        .exits(0)
        .json();
    assert_eq!(
        codes["codes"].as_array().unwrap().len(),
        rock_matrix::codes::all().count()
    );
    assert_eq!(
        project
            .run(&["explain", "M001", "--format", "json"])
            .exits(0)
            .json()["codes"][0]["name"],
        "duplicate-key"
    );
    for kind in ["docker", "script", "recipe"] {
        let made = project
            .run(&["render", kind, "m.yaml", "--format", "json"])
            .exits(0)
            .json();
        let jobs = made["jobs"].as_array().unwrap();
        let one = project
            .run(&["render", kind, "m.yaml", jobs[0]["job"].as_str().unwrap()])
            .exits(0)
            .stdout;
        assert_eq!(
            (&made["kind"], &jobs[0]["text"]),
            (&kind.into(), &one.into())
        );
    }
    let checked = project
        .run(&["check", "m.yaml", "--format", "json"])
        .exits(0)
        .json();
    assert_eq!(
        (&checked["checked"], &checked["errors"]),
        (&1.into(), &0.into())
    );
    std::fs::create_dir_all(project.path(".rock/a-1.0")).unwrap();
    let cleaned = project
        .run(&["clean", "--all", "--whole", "--format", "json"])
        .exits(0)
        .json();
    assert_eq!(cleaned["folders"][0]["job"], "a-1.0");
    assert!(!project.path(".rock/a-1.0").exists());
}

/// A sound file, and what asks for one job of it.
const JOB: &str = "flash-attn-2.8.3-rocm6.2-torch2.5.1-py3.12";

fn seed() -> Project {
    Project::new().file("m.yaml", include_str!("../../matrices/flash-attn.yaml"))
}

#[test]
fn a_folder_of_recipes_that_is_not_there_or_empty_is_refused() {
    let project = seed().file("empty/readme.md", "none");
    for folder in ["nowhere", "empty"] {
        let stderr = project
            .run(&["check", "m.yaml", "--recipes", folder])
            .exits(1)
            .stderr;
        assert!(
            stderr.starts_with(&format!(
                "error[B075 no-recipes]: there are no recipes in `{folder}`\n"
            )),
            "{stderr}"
        );
        assert!(
            stderr.contains("help: give a directory with recipe files"),
            "{stderr}"
        );
    }
}

#[test]
fn container_arguments_of_the_command_line_follow_the_rule_of_the_file() {
    for command in [
        &["render", "docker", "m.yaml", JOB][..],
        &[
            "build",
            JOB,
            "--matrix",
            "m.yaml",
            "--engine",
            "docker",
            "--dry-run",
        ],
    ] {
        let refused =
            |arguments: &[&str]| seed().run(&[command, arguments].concat()).exits(1).stderr;
        let stderr = refused(&["--docker-arg", "x"]);
        let first = "error[M045 bad-docker-argument]: the first argument of the container is `x`, \
            which docker would interpret as the image\n";
        assert!(stderr.starts_with(first), "{stderr}");
        assert!(refused(&["--docker-arg", ""]).contains("an argument of the container is empty"));
        let sound = seed()
            .run(&[command, &["--docker-arg", "--env", "--docker-arg", "A=b"]].concat())
            .exits(0)
            .stdout;
        let words: Vec<&str> = sound
            .split_whitespace()
            .filter(|word| *word != "\\")
            .collect();
        assert!(
            words.windows(2).any(|pair| pair == ["--env", "A=b"]),
            "{sound}"
        );
    }
}

#[test]
fn an_image_without_a_name_is_a_bad_command_line() {
    for image in ["", "a b", "-x"] {
        let image = format!("--image={image}");
        let stderr = seed()
            .run(&["render", "docker", "m.yaml", JOB, &image])
            .exits(2)
            .stderr;
        assert!(stderr.contains("expected an image name"), "{stderr}");
        let build = [
            "build",
            JOB,
            "--matrix",
            "m.yaml",
            "--engine",
            "docker",
            "--dry-run",
            &image,
        ];
        assert!(
            seed()
                .run(&build)
                .exits(2)
                .stderr
                .contains("expected an image name")
        );
    }
}

#[test]
fn a_fact_that_no_recipe_asks_for_is_refused_with_those_that_are_known() {
    for command in [
        &["render", "script", "m.yaml", JOB][..],
        &["build", JOB, "--matrix", "m.yaml", "--dry-run"],
    ] {
        let facts = ["--fact", "gfx-list=gfx942", "--fact", "nope=1"];
        let stderr = seed().run(&[command, &facts].concat()).exits(1).stderr;
        insta::allow_duplicates! {
            insta::assert_snapshot!(stderr, @r"
            error[B076 unknown-fact]: no recipe of these jobs has a fact `gfx-list`; did you mean `gfx_list`?
            --> argument `gfx-list=gfx942`
            help: use `gfx_list=gfx942`

            error[B076 unknown-fact]: no recipe of these jobs has a fact `nope`
            --> argument `nope=1`
            help: the facts are cache_size, cached, from_git, gfx_list, source, triton_switch
            ");
        }
    }
}

#[test]
fn the_local_engine_has_no_container_to_render() {
    let stderr = seed()
        .run(&["render", "docker", "m.yaml", JOB, "--engine", "local"])
        .exits(2)
        .stderr;
    assert!(
        stderr.contains("`render script --engine local` prints its script"),
        "{stderr}"
    );
    let stderr = seed()
        .run(&[
            "render", "m.yaml", JOB, "--engine", "local", "--image", "a:b",
        ])
        .exits(2)
        .stderr;
    assert!(
        stderr.contains("`--image` and `--docker-arg` need a container"),
        "{stderr}"
    );
}

#[test]
fn a_pipe_is_no_matrix_file_and_is_not_waited_for() {
    let project = seed();
    assert!(
        std::process::Command::new("mkfifo")
            .arg(project.path("pipe.yaml"))
            .status()
            .unwrap()
            .success()
    );
    let stderr = project.run(&["check", "pipe.yaml"]).exits(1).stderr;
    assert!(
        stderr.starts_with(
            "error[H020 cannot-read-file]: cannot read `pipe.yaml`: it is a pipe, not a file\n"
        ),
        "{stderr}"
    );
    assert!(
        stderr.contains("help: save its content as a file"),
        "{stderr}"
    );
}

#[test]
fn help_that_cannot_be_written_is_no_success() {
    let full = std::fs::OpenOptions::new()
        .write(true)
        .open("/dev/full")
        .unwrap();
    let output = Project::new()
        .command(&["--help"])
        .stdout(full)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(3));
    assert!(
        String::from_utf8(output.stderr)
            .unwrap()
            .starts_with("error[H021 cannot-write-file]: cannot write")
    );
}

/// What bash offers after the last of these words.
fn completed(words: &[&str]) -> String {
    let project = Project::new();
    let script = project.run(&["completions", "bash"]).exits(0).stdout;
    std::fs::write(project.path("completions"), script).unwrap();
    let list = words
        .iter()
        .map(|word| format!("'{word}'"))
        .collect::<Vec<_>>()
        .join(" ");
    let (last, at) = (words[words.len() - 1], words.len() - 1);
    let before = words[at - 1];
    let line = format!(
        ". ./completions; COMP_WORDS=({list}); COMP_CWORD={at}; $(complete -p rock-matrix | grep -o '_rock[^ ]*') rock-matrix '{last}' '{before}'; echo \"${{COMPREPLY[*]}}\""
    );
    let run = project
        .program("bash")
        .args(["--norc", "-c", &line])
        .output()
        .unwrap();
    assert!(
        run.status.success(),
        "{}",
        String::from_utf8_lossy(&run.stderr)
    );
    String::from_utf8(run.stdout).unwrap().trim().to_owned()
}

#[test]
fn bash_completes_commands_options_and_values_at_every_level() {
    assert_eq!(completed(&["rock-matrix", "reci"]), "recipe");
    assert_eq!(completed(&["rock-matrix", "wheel", "rep"]), "repair");
    assert_eq!(completed(&["rock-matrix", "build", "--en"]), "--engine");
    assert_eq!(
        completed(&["rock-matrix", "build", "--engine", "po"]),
        "podman"
    );
    assert_eq!(
        completed(&["rock-matrix", "compat", "refresh", "--act"]),
        "--actions"
    );
}

/// `-h`, `help` and an empty command line show the same groups; `help global` has the options.
#[test]
fn help_is_grouped_and_explains_global_options_once() {
    let project = Project::new();
    let short = project.run(&["-h"]).exits(0).stdout;
    for group in ["Plan:", "Build:", "Wheels:", "Publish:", "Install:"] {
        assert!(short.contains(&format!("\n{group}\n")), "{group}: {short}");
    }
    assert!(!short.contains("--compat"), "{short}");
    assert_eq!(project.run(&[]).exits(2).stderr, short);
    let global = project.run(&["help", "global"]).exits(0).stdout;
    assert!(global.contains("--message-format"), "{global}");
    let config = project.run(&["help", "config"]).exits(0).stdout;
    for setting in ["rock-matrix.toml", "ROCK_MATRIX_COMPAT", "engine = "] {
        assert!(config.contains(setting), "{setting}: {config}");
    }
    let all = project.run(&["help", "--all"]).exits(0).stdout;
    for command in [
        "sdk fetch",
        "source checkout",
        "release prune",
        "attention judge",
    ] {
        assert!(all.contains(&format!("\n  {command} ")), "{command}: {all}");
    }
    let by_topic = project.run(&["help", "wheel", "repair"]).exits(0).stdout;
    let by_option = project.run(&["wheel", "repair", "--help"]).exits(0).stdout;
    assert_eq!(by_topic, by_option);
    assert!(by_option.contains("Global options:"), "{by_option}");
    project.run(&["help", "no-such-command"]).exits(2);
}

#[test]
fn options_that_became_commands_are_answered_with_them() {
    let project = Project::new();
    for (words, form) in [
        (&["publish", "--prune"][..], "rock-matrix release prune"),
        (
            &["publish", "x", "--subjects", "s"],
            "rock-matrix release subjects FILES --out FILE",
        ),
        (
            &["build", "x", "--test", "dist"],
            "rock-matrix test JOB --dist DIR",
        ),
        (
            &["index", "build", "dist", "--yank", "x"],
            "rock-matrix index yank DIR FILES",
        ),
        (&["doctor", "--script"], "rock-matrix attention script"),
    ] {
        let stderr = project.run(words).exits(2).stderr;
        assert!(stderr.contains(&format!("tip: use `{form}`")), "{stderr}");
    }
}

/// `-q` hides notes and messages, but neither warnings nor results.
#[test]
fn quiet_commands_show_only_errors_and_warnings() {
    let matrix = "version: 1\ndistribution: flash-attn\nrecipe: flash-attn\naxes:\n  flash-attn: [\"2.8.3.post2\"]\n  \
                  python: [3.10]\n  torch: [\"2.14.1\"]\n  rocm: [\"7.14\"]\n  backend: [triton]\n";
    let project = Project::new().file("m.yaml", matrix);
    for command in ["check", "plan"] {
        let outcome = project.run(&[command, "m.yaml"]).exits(0);
        assert!(
            outcome.stderr.starts_with("note[M030 "),
            "{}",
            outcome.stderr
        );
        for format in ["human", "json"] {
            let words = [command, "m.yaml", "-q", "--message-format", format];
            let quiet = project.run(&words).exits(0);
            assert_eq!((&*quiet.stderr, &quiet.stdout), ("", &outcome.stdout));
        }
    }
    // Warnings remain.
    let warned = project.file("m.yaml", &(matrix.to_owned() + "gfx: [gfx9042]\n"));
    let stderr = warned.run(&["check", "m.yaml", "-q"]).exits(0).stderr;
    assert!(stderr.starts_with("warning[M050 unknown-gfx]"), "{stderr}");
}

#[test]
fn misspelled_topics_and_subcommands_suggest_existing_ones() {
    let project = Project::new();
    let tip = |words: &[&str]| {
        let stderr = project.run(words).exits(2).stderr;
        let tips = stderr.lines().filter_map(|line| line.split_once("tip: "));
        tips.map(|(_, tip)| tip.to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(
        tip(&["help", "gloabl"]),
        ["did you mean `rock-matrix help global`?"]
    );
    assert_eq!(
        tip(&["help", "confg"]),
        ["did you mean `rock-matrix help config`?"]
    );
    assert_eq!(
        tip(&["help", "buld"]),
        ["a similar subcommand exists: 'build'"]
    );
    assert_eq!(
        tip(&["wheel", "info"]),
        ["did you mean `rock-matrix wheel show`?"]
    );
    assert_eq!(tip(&["graph"]), ["did you mean `rock-matrix plan`?"]);
    assert_eq!(
        tip(&["env", "--list"]),
        ["`rock-matrix compat list profiles` lists the profiles"]
    );
    // An argument of `render` may be a job, so the subcommand is suggested only if there is none.
    let project = Project::new().copy("matrices/flash-attn.yaml", "matrices/flash-attn.yaml");
    let stderr = project.run(&["render", "dokcer"]).exits(2).stderr;
    assert!(
        stderr.starts_with(
            "error: no job or subcommand is called 'dokcer'\n\n  tip: did you mean `rock-matrix render docker`?\n"
        ),
        "{stderr}"
    );
    let stderr = project.run(&["render", "no-such-job"]).exits(2).stderr;
    assert!(
        stderr.starts_with("error[P017 unknown-selection]"),
        "{stderr}"
    );
}
