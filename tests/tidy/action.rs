//! `action.yml` agrees with what it runs: the script behind it, the commands of the program, and
//! the outputs that these write. So does the list of versions that the script reads line by line.

use std::collections::BTreeSet;
use std::path::Path;

use serde_yaml::Value;

use crate::none;

/// The outputs that the program itself writes, by the option that makes it do so, in the words of
/// the option's help.
const WRITTEN_BY: [(&str, &[&str]); 2] = [
    ("plan", &["count", "matrix_0"]),
    ("publish", &["release-id", "release-url"]),
];
/// The outputs that the script writes.
const WRITTEN_BY_THE_SCRIPT: [&str; 3] = ["binary", "plan-path", "version"];

fn read(path: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap()
}

fn action() -> Value {
    serde_yaml::from_str(&read("action.yml")).unwrap()
}

fn keys(value: &Value) -> Vec<String> {
    value
        .as_mapping()
        .unwrap()
        .keys()
        .map(|key| key.as_str().unwrap().to_owned())
        .collect()
}

fn variable(input: &str) -> String {
    format!("INPUT_{}", input.to_uppercase().replace('-', "_"))
}

/// What is wrong between the inputs, the variables of the step, and the variables that the script
/// reads.
fn input_faults(action: &Value, script: &str) -> Vec<String> {
    let step = &action["runs"]["steps"][0];
    let read = regex::Regex::new(r"\$\{(INPUT_[A-Z_]+)").unwrap();
    let read: BTreeSet<String> = read
        .captures_iter(script)
        .map(|found| found[1].to_owned())
        .collect();
    let inputs = keys(&action["inputs"]);
    let mut faults = Vec::new();
    for input in &inputs {
        let (name, value) = (variable(input), format!("${{{{ inputs.{input} }}}}"));
        if step["env"][name.as_str()].as_str() != Some(value.as_str()) {
            faults.push(format!("the step does not hand on the input `{input}`"));
        }
        if !read.contains(&name) {
            faults.push(format!("the script does not read {name}"));
        }
        if action["inputs"][input.as_str()]["default"]
            .as_str()
            .is_none()
        {
            faults.push(format!("the input `{input}` has no default that is a text"));
        }
    }
    let known: BTreeSet<String> = inputs.iter().map(|input| variable(input)).collect();
    faults.extend(
        read.difference(&known)
            .map(|name| format!("the script reads {name}, which is no input")),
    );
    faults.extend(
        keys(&step["env"])
            .into_iter()
            .filter(|name| !known.contains(name))
            .map(|name| format!("{name} is no input")),
    );
    faults
}

#[test]
fn inputs_reach_the_script_and_no_shell() {
    let (action, script) = (action(), read("action/bootstrap.sh"));
    none("inputs", &input_faults(&action, &script));
    let steps = action["runs"]["steps"].as_sequence().unwrap();
    assert_eq!(
        (action["runs"]["using"].as_str(), steps.len()),
        (Some("composite"), 1)
    );
    let run = steps[0]["run"].as_str().unwrap();
    assert!(!run.contains("${{"), "an expression in a shell: {run}");
    assert!(
        !script
            .lines()
            .any(|line| line.split_whitespace().any(|word| word == "eval")),
        "the script evaluates text"
    );

    let planted = script.replace("INPUT_SUMMARY", "INPUT_SUMMERY");
    let faults = input_faults(&action, &planted);
    assert_eq!(
        faults,
        [
            "the script does not read INPUT_SUMMARY",
            "the script reads INPUT_SUMMERY, which is no input"
        ]
    );
}

/// The words that the script allows for an input.
fn allowed(script: &str, input: &str) -> Vec<String> {
    let line = script
        .lines()
        .find(|line| line.contains(&format!("one_of {input} ")))
        .unwrap();
    let words = line
        .split_once(&format!("one_of {input} "))
        .unwrap()
        .1
        .split_whitespace()
        .skip(1);
    words.map(str::to_owned).collect()
}

#[test]
fn commands_of_the_action_are_commands_of_the_program() {
    let (action, script, program) = (
        action(),
        read("action/bootstrap.sh"),
        rock_matrix::cli::command(),
    );
    let commands = allowed(&script, "command");
    assert_eq!(
        commands,
        [
            "check", "plan", "render", "build", "test", "publish", "release", "report"
        ]
    );
    for name in &commands {
        assert!(
            program.find_subcommand(name).is_some(),
            "the program has no `{name}`"
        );
    }
    // What the description of an input says is what the script allows.
    for input in ["command", "verify", "fallback", "annotations", "summary"] {
        let description = action["inputs"][input]["description"].as_str().unwrap();
        for word in allowed(&script, input) {
            assert!(
                description.contains(&word),
                "the description of `{input}` has no `{word}`: {description}"
            );
        }
    }
    // The options that the script adds.
    for words in [
        "plan --github-output --max-shards 1 --format json --out plan.json m.yaml",
        "build --job-env ROCK_JOB --matrix=m.yaml",
        "test --job-env ROCK_JOB --matrix=m.yaml",
        "publish --dist dist --repo o/r --tag v1 --github-output",
        "check m.yaml",
        "render workflow m.yaml",
    ] {
        let words = std::iter::once("rock-matrix").chain(words.split(' '));
        program.clone().try_get_matches_from(words).unwrap();
    }
}

#[test]
fn outputs_of_the_action_are_what_the_program_writes() {
    let (action, script, program) = (
        action(),
        read("action/bootstrap.sh"),
        rock_matrix::cli::command(),
    );
    let mut written: Vec<&str> = WRITTEN_BY_THE_SCRIPT.to_vec();
    for name in WRITTEN_BY_THE_SCRIPT {
        assert!(
            script.contains(&format!("{name}=%s\\n")),
            "the script does not write `{name}`"
        );
    }
    for (command, outputs) in WRITTEN_BY {
        let command = program.find_subcommand(command).unwrap();
        let option = command
            .get_arguments()
            .find(|option| option.get_id() == "github_output")
            .unwrap();
        let help = option.get_long_help().or(option.get_help());
        let help = help.unwrap().to_string();
        for output in outputs {
            assert!(
                help.contains(output),
                "the help does not tell `{output}`: {help}"
            );
            written.push(output);
        }
    }
    let named = regex::Regex::new(r"steps\.run\.outputs\.([\w-]+)").unwrap();
    let mut read: Vec<String> = Vec::new();
    for output in keys(&action["outputs"]) {
        let value = action["outputs"][output.as_str()]["value"]
            .as_str()
            .unwrap();
        let inner = named.captures(value).unwrap()[1].to_owned();
        assert!(
            inner == output || (output.as_str(), inner.as_str()) == ("matrix", "matrix_0"),
            "{output}: {value}"
        );
        read.push(inner);
    }
    read.sort();
    written.sort_unstable();
    assert_eq!(read, written);
}

#[test]
fn the_document_describes_every_input_and_output() {
    let (action, page) = (action(), read("docs/action.md"));
    for part in ["inputs", "outputs"] {
        for name in keys(&action[part]) {
            assert!(
                page.contains(&format!("\n| `{name}` |")),
                "docs/action.md has no row for `{name}` of the {part}"
            );
        }
    }
}

/// The one form of `action/versions.json`: one binary a line, as `action/add-version.sh` writes it.
fn canonical(list: &serde_json::Value) -> String {
    let rows = |platforms: &serde_json::Value| {
        let row = |(platform, row): (&String, &serde_json::Value)| {
            format!(
                "      \"{platform}\": {{\"file\": {}, \"sha256\": {}}}",
                row["file"], row["sha256"]
            )
        };
        platforms
            .as_object()
            .unwrap()
            .iter()
            .map(row)
            .collect::<Vec<_>>()
            .join(",\n")
    };
    let versions = list["versions"].as_object().unwrap().iter();
    let versions: Vec<String> = versions
        .map(|(version, platforms)| format!("    \"{version}\": {{\n{}\n    }}", rows(platforms)))
        .collect();
    let versions = if versions.is_empty() {
        String::new()
    } else {
        versions.join(",\n") + "\n"
    };
    format!(
        "{{\n  \"releases\": {},\n  \"versions\": {{\n{versions}  }}\n}}\n",
        list["releases"]
    )
}

#[test]
fn the_list_of_versions_has_the_form_that_the_script_reads() {
    let text = read("action/versions.json");
    let list: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(
        text,
        canonical(&list),
        "action/add-version.sh writes this file"
    );
    assert!(list["releases"].as_str().unwrap().starts_with("https://"));

    let digest = "0".repeat(64);
    let row = serde_json::json!({"file": "rock-matrix-x86_64-linux", "sha256": digest});
    let list = serde_json::json!({"releases": "https://h/o/r", "versions": {"1.2.3": {"x86_64-linux": row}}});
    let expected = format!(
        "{{\n  \"releases\": \"https://h/o/r\",\n  \"versions\": {{\n    \"1.2.3\": {{\n      \"x86_64-linux\": \
         {{\"file\": \"rock-matrix-x86_64-linux\", \"sha256\": \"{digest}\"}}\n    }}\n  }}\n}}\n"
    );
    assert_eq!(canonical(&list), expected);
}
