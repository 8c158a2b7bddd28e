//! Every key of a matrix file and of a recipe changes something that a user can observe.
//!
//! A key that is parsed, checked and documented may still have no effect. For each key of the
//! format there is a [`Case`]: a file without the key and one with it, and a command that must
//! answer differently. `plan --format json` is not such a command, since it repeats many keys as
//! they are written.

mod matrix_file;
mod recipe_file;

use std::collections::BTreeSet;

use rock_matrix::yaml::shape::{RecordShape, Shape};
use serde_json::Value;

use crate::support::Project;

/// One key, and the difference that it makes.
struct Case {
    /// The path of the key: `workflow.max-parallel`, `include[].set.gpu`.
    key: &'static str,
    /// Changes of the base document without the key, merged into it mapping by mapping.
    without: Value,
    /// Changes of the base document with the key, merged after `without`.
    with: Value,
    /// The command, whose output and files are compared.
    command: &'static str,
    /// The exit code with the key.
    code: i32,
}

impl Case {
    fn new(key: &'static str, without: Value, with: Value, command: &'static str) -> Self {
        Self {
            key,
            without,
            with,
            command,
            code: 0,
        }
    }

    /// The same for a key that makes the command fail.
    fn failing(key: &'static str, without: Value, with: Value, command: &'static str) -> Self {
        Self {
            code: 1,
            ..Self::new(key, without, with, command)
        }
    }
}

/// Merges mappings recursively; anything else replaces what is there, and null removes it.
fn merge(into: &mut Value, from: &Value) {
    match (into, from) {
        (Value::Object(into), Value::Object(from)) => {
            for (key, value) in from {
                if value.is_null() {
                    into.remove(key);
                } else {
                    merge(into.entry(key).or_insert(Value::Null), value);
                }
            }
        }
        (into, from) => *into = from.clone(),
    }
}

/// The keys of a format, each after the name of its mapping: `workflow.max-parallel`. A key that
/// only holds mappings with known keys is left to these, unless another key holds the same.
fn keys(shape: &Shape) -> BTreeSet<String> {
    fn add_keys(shape: &Shape, seen: &mut BTreeSet<&'static str>, found: &mut BTreeSet<String>) {
        for record in records(shape) {
            if !seen.insert(record.name) {
                continue;
            }
            for field in record.fields {
                let is_repeated = records(&field.shape)
                    .iter()
                    .any(|record| seen.contains(record.name));
                if !only_holds_records(&field.shape) || is_repeated {
                    found.insert(format!("{}.{}", record.name.replace('`', ""), field.name));
                }
                add_keys(&field.shape, seen, found);
            }
        }
    }
    let mut found = BTreeSet::new();
    add_keys(shape, &mut BTreeSet::new(), &mut found);
    found
}

/// The mappings with known keys that a value of this shape may be or hold.
fn records(shape: &Shape) -> Vec<&'static RecordShape> {
    match shape {
        Shape::Record(record) => vec![record],
        Shape::List(inner) | Shape::Map(inner) => records(inner),
        Shape::AnyOf(shapes) => shapes.iter().flat_map(records).collect(),
        Shape::Text
        | Shape::Integer
        | Shape::Boolean
        | Shape::Word(_)
        | Shape::Null
        | Shape::Any => vec![],
    }
}

/// Whether a value of this shape is never anything else than mappings with known keys.
fn only_holds_records(shape: &Shape) -> bool {
    match shape {
        Shape::Record(_) => true,
        Shape::List(inner) | Shape::Map(inner) => only_holds_records(inner),
        Shape::AnyOf(shapes) => shapes.iter().all(only_holds_records),
        Shape::Text
        | Shape::Integer
        | Shape::Boolean
        | Shape::Word(_)
        | Shape::Null
        | Shape::Any => false,
    }
}

/// A key whose effect only a test inside the library can observe, since it depends on the devices
/// of the machine.
struct Elsewhere {
    key: &'static str,
    file: &'static str,
    test: &'static str,
}

/// Asserts that the cases cover the keys of `shape`, one by one, and that each makes its
/// difference.
///
/// `observe` runs the command of a case without its key and with it, and returns both observations.
fn assert_effects(
    shape: &Shape,
    cases: &[Case],
    elsewhere: &[Elsewhere],
    observe: impl Fn(&Case) -> (Observation, Observation),
) {
    let keys_elsewhere = elsewhere.iter().map(|test| test.key.to_owned());
    let covered: BTreeSet<String> = cases
        .iter()
        .map(|case| case.key.to_owned())
        .chain(keys_elsewhere)
        .collect();
    assert_eq!(
        covered,
        keys(shape),
        "the keys with a case, and the keys of the format"
    );
    for Elsewhere { file, test, .. } in elsewhere {
        let text =
            std::fs::read_to_string(std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(file))
                .unwrap();
        assert!(
            text.contains(&format!("fn {test}()")),
            "{file} has no test `{test}`"
        );
    }
    let mut faults = Vec::new();
    for case in cases {
        let (without, with) = observe(case);
        if with.code != Some(case.code) {
            faults.push(format!(
                "`{}` fails with `{}`:\n{}",
                case.command, case.key, with.text
            ));
        } else if without == with {
            faults.push(format!(
                "`{}` makes no difference to `{}`",
                case.key, case.command
            ));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// An exit code with everything that a command printed and wrote.
#[derive(PartialEq)]
struct Observation {
    code: Option<i32>,
    text: String,
}

/// Runs a command in a project and returns its output with every file that it wrote.
fn observed(project: &Project, command: &str) -> Observation {
    let inputs = project.files();
    let words: Vec<&str> = command.split(' ').collect();
    let run = project.command(&words).output().unwrap();
    let mut text = String::new();
    for bytes in [&run.stdout, &run.stderr] {
        text += &String::from_utf8_lossy(bytes).replace(project.root().to_str().unwrap(), "[ROOT]");
    }
    for file in project
        .files()
        .into_iter()
        .filter(|file| !inputs.contains(file))
    {
        text += &format!(
            "\n== {file}\n{}",
            String::from_utf8_lossy(&std::fs::read(project.path(&file)).unwrap())
        );
    }
    Observation {
        code: run.status.code(),
        text,
    }
}
