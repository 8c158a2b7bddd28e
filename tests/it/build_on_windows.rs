//! Scripts of Windows jobs. PowerShell and cmd are not here: what they would do is done by hand,
//! and `tests/real/windows-scripts.sh` has cmd run one and grammars read both.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::support::Project;

/// A recipe whose words and variables hold what these shells give a meaning to, and one of whose
/// stages fails.
const RECIPE: &str = include_str!("../real/windows/tiny.yaml");

fn project(more: &str) -> Project {
    let matrix = format!(
        "version: 1\ndistribution: tiny\nrecipe: tiny\nplatform: windows\nrunner: windows-2022\n\
         axes: {{tiny: [\"1.0\"], python: [\"3.12\"], rocm: [\"7.2\"]}}\ngfx: [gfx1151]\nunknown: lenient\n\
         torch-from: host\npython-from: host\n{more}"
    );
    Project::new()
        .file("recipes/tiny.yaml", RECIPE)
        .file("m.yaml", &matrix)
}

fn script(project: &Project, shell: &[&str]) -> String {
    let words = [
        &["--recipes", "recipes", "render", "script", "m.yaml"],
        shell,
    ]
    .concat();
    project.run(&words).exits(0).stdout
}

/// The words of a line of cmd: quotation marks keep blanks, `%NAME%` is a variable and `%%` the
/// sign.
fn words(line: &str, variable: &dyn Fn(&str) -> String) -> Vec<String> {
    let mut expanded = String::new();
    for (number, part) in line.replace("%%", "\u{1}").split('%').enumerate() {
        expanded += &if number % 2 == 1 {
            variable(part)
        } else {
            part.to_owned()
        };
    }
    let (mut words, mut word, mut quoted) = (Vec::new(), None::<String>, false);
    for c in expanded.replace('\u{1}', "%").chars() {
        match c {
            '"' => {
                quoted = !quoted;
                word.get_or_insert_default();
            }
            ' ' if !quoted => words.extend(word.take()),
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

/// Does what cmd would do with a script, by Python, in the folder `job`: the codes of its programs,
/// and what they said.
fn carry_out(project: &Project, text: &str) -> (Vec<i32>, String) {
    carry_out_in(&project.path("job"), project, text)
}

fn carry_out_in(folder: &Path, project: &Project, text: &str) -> (Vec<i32>, String) {
    for name in ["done", "facts", "words"] {
        std::fs::create_dir_all(folder.join(name)).unwrap();
    }
    std::fs::write(project.path("build.cmd"), text).unwrap();
    let variables: [(String, String); 2] = [
        ("LIST".into(), "C:/old".into()),
        ("GONE".into(), "here".into()),
    ];
    let (mut codes, mut content) = (Vec::new(), String::new());
    let mut of_step: Vec<(String, String)> = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let known = |name: &str| match name {
            "ROCK_SCRIPT" => project.path("build.cmd").display().to_string(),
            "ROCK_CALLER" => project.root().display().to_string(),
            "ROCK_FOLDER" => folder.display().to_string(),
            "ROCK_PYTHON" => "python3".to_owned(),
            _ => match name.strip_prefix("ROCK_FACT_") {
                Some(fact) => {
                    std::fs::read_to_string(folder.join("facts").join(fact)).unwrap_or_default()
                }
                None => of_step
                    .iter()
                    .chain(&variables)
                    .find(|(key, _)| key == name)
                    .map_or_else(String::new, |v| v.1.clone()),
            },
        };
        let (test, set) = match line
            .strip_prefix("if ")
            .and_then(|rest| rest.split_once(" set \""))
        {
            Some((test, _)) => (test, &line[3 + test.len() + 1..]),
            None => ("", line),
        };
        if let Some(set) = set
            .strip_prefix("set \"")
            .filter(|_| !line.contains("ROCK_S") && !line.contains("%1"))
        {
            let name = test.rsplit(' ').next().unwrap();
            let is_set = !known(name).is_empty();
            if test.is_empty() || is_set != test.starts_with("not") {
                let set = words(&format!("\"{set}"), &known).concat();
                let (name, value) = set.split_once('=').unwrap();
                of_step.insert(0, (name.to_owned(), value.to_owned()));
            }
        } else if line.starts_with("\"%ROCK_PYTHON%\"") {
            let mut words = words(&line.replace("words\\run.py", "words/run.py"), &known);
            words
                .iter_mut()
                .filter(|word| *word == "python")
                .for_each(|word| *word = "python3".into());
            let mut command = Command::new(&words[0]);
            command.args(&words[1..]).current_dir(folder);
            let facts = ["said", "silent"].map(|name| {
                (
                    format!("ROCK_FACT_{name}"),
                    known(&format!("ROCK_FACT_{name}")),
                )
            });
            for (name, value) in variables.iter().chain(of_step.iter().rev()).chain(&facts) {
                // Neither shell knows a variable without a text.
                if value.is_empty() {
                    command.env_remove(name)
                } else {
                    command.env(name, value)
                };
            }
            let output = command.output().unwrap();
            let messages = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
            codes.push(output.status.code().unwrap());
            of_step.clear();
            content += &messages;
            if !output.status.success() {
                let after = lines
                    .by_ref()
                    .find(|line| line.contains(" goto ") || line.contains(" exit "))
                    .unwrap();
                let Some((_, label)) = after.split_once(" goto ") else {
                    return (codes, content);
                };
                let _ = lines
                    .by_ref()
                    .find(|line| line.strip_prefix(':') == Some(label));
            }
        }
    }
    (codes, content)
}

/// On Windows
#[test]
fn a_windows_script_gives_each_step_its_words_and_variables_as_they_are() {
    let project = project("");
    let text = script(&project, &["--shell", "cmd"]);
    assert!(
        text.replace("\r\n", "").find('\n').is_none() && text.starts_with("@echo off\r\n"),
        "lines end as cmd wants"
    );
    let (codes, output) = carry_out(&project, &text.replace("\r\n", "\n"));
    assert_eq!(
        codes,
        [0, 0, 0, 0, 9, 0],
        "files of words, a look, facts, and three stages: {output}"
    );
    let document: Value = serde_json::from_str(&project.read("job/out/told.json")).unwrap();
    let path = "C:/r (x86)&b";
    let words = json!([
        "a \"b\" c\\",
        "100% of %PATH% & x | y ^ z! <q>",
        "it's",
        "ü ’",
        "C:\\x\\",
        "@at",
        path,
        format!("in {path} \"q\"")
    ]);
    assert_eq!(document[0], words, "a fact without an answer is no word");
    let list = format!("{path}/bin;C:/old");
    assert_eq!(
        document[1],
        json!([
            format!("50% {path}; it's & x"),
            null,
            list,
            "-O2",
            format!("-I{path}"),
            null,
            "3"
        ])
    );
    assert_eq!(project.read("job/tries"), "xx");
    assert!(project.has("job/done/tell") && !project.has("job/done/fail"));
}

#[test]
fn what_is_to_run_at_the_end_of_a_windows_script_runs_after_a_failure_too() {
    let project = project("");
    let text = script(&project, &["--shell", "cmd"]).replace("\r\n", "\n");
    let _ = carry_out(&project, &text);
    assert!(
        project.has("job/last") && !project.has("job/never"),
        "{:?}",
        project.files()
    );
    let (_, end) = text.split_once("\n:ends\n").unwrap();
    assert!(
        end.starts_with("if not \"%ROCK_FAILED%\"==\"0\" exit /b %ROCK_FAILED%\n"),
        "{end}"
    );
    let failing = script(&project, &["--shell", "cmd"])
        .replace("\r\n", "\n")
        .replace("open('last', 'w')", "fail");
    assert_eq!(carry_out(&project, &failing).0.last(), Some(&1));
    let powershell = script(&project, &[]);
    let last = "  step 'last' {\r\n    $env:LIST = (@(($env:ROCK_FACT_said + '/bin'), $env:LIST) | Where-Object { $_ }) -join ';'\r\n  } \
                @('--', 'python', '-c', 'open(''last'', ''w'')') -last\r\n";
    assert!(powershell.contains(last), "{powershell}");
    assert_eq!(powershell.matches(" -last\r\n").count(), 1);
    assert!(powershell.contains("  if ($script:failed -and -not $last) { return }\r\n"));
    assert!(powershell.contains("  if ($failed) { exit $failed }\r\n"));
}

#[test]
fn a_windows_script_looks_for_what_it_copies_before_its_first_stage() {
    let project = project("vars: {tree: \"no such (x86) & b\"}\n");
    let text = script(&project, &["--shell", "cmd"]).replace("\r\n", "\n");
    let (codes, content) = carry_out(&project, &text);
    assert_eq!(codes, [0, 1], "{content}");
    let path = project.path("no such (x86) & b").display().to_string();
    assert!(
        content.ends_with(&format!(
            "== the source tree is to come from {path}, which is not there\n"
        )),
        "{content}"
    );
    assert!(text.contains("if defined ROCK_FROM goto looked\n"));
    let look = "    & $python words/run.py --look @('20', 'the command lines of the build grow \
                with it, and Windows limits \
                them to 32,767 characters', 'tree', ('@=' + $env:ROCK_CALLER + '/no such (x86) & \
                b'))\r\n";
    assert!(script(&project, &[]).contains(look));
}

#[test]
fn a_windows_script_reports_a_directory_that_is_too_long() {
    let project = project("");
    let text = script(&project, &["--shell", "cmd"]).replace("\r\n", "\n");
    let folder = project.path("a folder that is long");
    let (_, content) = carry_out_in(&folder, &project, &text);
    let (folder, length) = (
        folder.display(),
        folder.display().to_string().chars().count(),
    );
    assert!(
        content.contains(&format!(
            "== warning: {folder} has {length} characters, more than 20: the command lines "
        )),
        "{content}"
    );
    assert!(
        content.contains("== ROCK_FOLDER names a shorter folder\n"),
        "{content}"
    );
}

#[test]
fn powershell_is_the_shell_of_a_windows_job_and_keeps_what_a_step_sets_to_it() {
    let text = script(&project(""), &[]);
    assert_eq!(
        text.chars().next(),
        Some('\u{feff}'),
        "PowerShell 5.1 reads letters of other code pages otherwise"
    );
    for line in [
        "    $env:GONE = $null\r\n",
        "    $env:WORD = ('50% ' + $env:ROCK_FACT_said + '; it''s & x')\r\n",
        "    $env:LIST = (@(($env:ROCK_FACT_said + '/bin'), $env:LIST) | Where-Object { $_ }) -join ';'\r\n",
        "    if ($env:ROCK_FACT_silent) { $env:NOT = 'never' }\r\n",
        "  step 'fail' {\r\n",
        "('@?' + $env:ROCK_FACT_said), ('@?' + $env:ROCK_FACT_silent), '@<tell-6')\r\n",
        "#|in @{ROCK_FACT_said} \"q\"\r\n",
        "#|# \"quoted\" @{}{x} %PATH%\r\n",
    ] {
        assert!(text.contains(line), "{line}{text}");
    }
    let ends = |shell: &[&str], end: &str| {
        let project = project("");
        let _ = project
            .run(
                &[
                    &[
                        "--recipes",
                        "recipes",
                        "render",
                        "script",
                        "m.yaml",
                        "--out",
                        "x/",
                    ],
                    shell,
                ]
                .concat(),
            )
            .exits(0);
        assert!(
            project
                .files()
                .iter()
                .any(|file| file.starts_with("x/") && file.ends_with(end)),
            "{:?}",
            project.files()
        );
    };
    ends(&[], "-win.ps1");
    ends(&["--shell", "cmd"], "-win.cmd");
}

#[test]
fn what_a_job_of_windows_has_not_is_refused_with_what_to_do() {
    let refused = |arguments: &[&str], message: &str, help: &str| {
        let stderr = project("")
            .run(&[&["--recipes", "recipes"], arguments].concat())
            .exits(1)
            .stderr;
        assert!(
            stderr.starts_with("error[B007 windows-job]: ")
                && stderr.contains(message)
                && stderr.contains(help),
            "{stderr}"
        );
    };
    refused(
        &["build", "--all", "--matrix", "m.yaml"],
        "is for Windows\n",
        "help: run the output of `rock-matrix render script ",
    );
    refused(
        &["render", "docker", "m.yaml"],
        "builds do not use containers",
        "`render script` prints",
    );
    refused(
        &["render", "script", "m.yaml", "--engine", "docker"],
        "builds do not use containers",
        "leave out the container options",
    );
    refused(
        &["render", "script", "m.yaml", "--shell", "sh"],
        "is for Windows\n",
        "`--shell cmd`",
    );
    let linux = Project::new().file("recipes/tiny.yaml", RECIPE).file(
        "m.yaml",
        &project("")
            .read("m.yaml")
            .replace("platform: windows\nrunner: windows-2022\n", ""),
    );
    let stderr = linux
        .run(&[
            "--recipes",
            "recipes",
            "render",
            "script",
            "m.yaml",
            "--shell",
            "cmd",
        ])
        .exits(1)
        .stderr;
    assert!(stderr.contains("is for Linux\n"), "{stderr}");
    let _ = linux
        .run(&[
            "--recipes",
            "recipes",
            "render",
            "recipe",
            "m.yaml",
            "--shell",
            "cmd",
        ])
        .exits(2);
}

#[test]
fn a_value_that_cmd_cannot_be_given_is_refused_and_powershell_takes_it() {
    let quoted = || {
        let recipe = RECIPE.replace(
            "      GONE: null\n",
            "      GONE: null\n      QUOTED: '-DX=\"a b\"'\n",
        );
        project("").file("recipes/tiny.yaml", &recipe)
    };
    let stderr = quoted()
        .run(&[
            "--recipes",
            "recipes",
            "render",
            "script",
            "m.yaml",
            "--shell",
            "cmd",
        ])
        .exits(1)
        .stderr;
    assert!(
        stderr.contains("error[H026 unwritable-variable]: ")
            && stderr.contains("`QUOTED` contains a quotation mark"),
        "{stderr}"
    );
    assert!(
        stderr.contains("help: use `--shell powershell`"),
        "{stderr}"
    );
    assert!(script(&quoted(), &[]).contains("$env:QUOTED = '-DX=\"a b\"'"));
}
