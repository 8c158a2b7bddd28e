//! Recipe documents from YAML trees and from the embedded form.

use std::sync::OnceLock;

use super::{ESCAPES, RecipeDocument, ReplacementPart, StepDocument, shape::RECIPE};
use crate::codes::build as codes;
use crate::config::{Leaves, ParsedFile, VersionFrom};
use rock_diagnostic::{Diagnostic, Location, Sink, SourceText};
use rock_names::{AbiTags, DistributionName, PlatformTags, PythonTags};
use rock_yaml as yaml;

/// The shipped recipes, sorted: the name, the JSON that the build script made from
/// `matrices/recipes/*.yaml`, and the text of that file.
const EMBEDDED: &[(&str, &str, &str)] = include!(concat!(env!("OUT_DIR"), "/recipes.rs"));

/// Reads a recipe file. Adds every structural error to the sink, and returns `None` if there is
/// one.
pub fn from_source(source: &SourceText, sink: &mut Sink) -> Option<RecipeDocument> {
    let file = ParsedFile::parse_recipe(source.clone(), sink);
    from_parsed(&file, sink)
}

/// Reads a recipe file whose syntax errors are in the sink, like [`from_source`].
pub fn from_parsed(file: &ParsedFile, sink: &mut Sink) -> Option<RecipeDocument> {
    let errors = sink.error_count();
    let (source, node) = (&file.source, file.tree.as_ref()?);
    yaml::shape::check(node, &RECIPE, source, sink);
    if file.has_errors || sink.error_count() > errors {
        return None;
    }
    match yaml::de::from_node::<RecipeDocument>(node) {
        Ok(document) => checked(document, source, sink),
        Err(error) => {
            sink.push(
                Diagnostic::new(&codes::BAD_RECIPE, error.message.clone())
                    .at(source.location(error.span.clone()), "")
                    .help("docs/recipes.md describes the format"),
            );
            None
        }
    }
}

/// The shipped recipes, parsed on first use.
static READ: [OnceLock<RecipeDocument>; EMBEDDED.len()] =
    [const { OnceLock::new() }; EMBEDDED.len()];

/// Returns the shipped recipe with this name, as written.
pub fn embedded(name: &str) -> Option<&'static RecipeDocument> {
    let number = EMBEDDED.iter().position(|(known, ..)| *known == name)?;
    let document = &READ[number];
    if document.get().is_none() {
        let _ = document.set(serde_json::from_str(EMBEDDED[number].1).ok()?);
    }
    document.get()
}

/// Returns the names of the shipped recipes, sorted.
pub fn embedded_names() -> impl Iterator<Item = &'static str> {
    EMBEDDED.iter().map(|(name, ..)| *name)
}

/// Whether this is the text of a shipped recipe's file.
#[cfg(feature = "workspace")]
pub(crate) fn is_embedded(text: &str) -> bool {
    EMBEDDED.iter().any(|(.., known)| *known == text)
}

/// Returns the text of the file of the shipped recipe with this name.
pub(super) fn embedded_text(name: &str) -> Option<&'static str> {
    EMBEDDED
        .iter()
        .find(|(known, ..)| *known == name)
        .map(|(.., text)| *text)
}

impl RecipeDocument {
    /// Returns the first location of a text in the recipe's file, or the file if the text is
    /// written differently there. `None` for a shipped recipe.
    pub fn place_of(&self, text: &str) -> Option<Location> {
        self.source.as_ref().map(|source| place_of(source, text))
    }
}

fn place_of(source: &SourceText, text: &str) -> Location {
    let text = text.trim();
    match source.text.find(text) {
        Some(start) if !text.is_empty() => source.location(start..start + text.len()),
        _ => Location::File(source.path.clone()),
    }
}

/// Returns the location of the next error. Errors that are only counted are not searched for,
/// because the text of each may be at the end of a large file.
fn place_of_next(sink: &Sink, source: &SourceText, text: &str) -> Location {
    if sink.is_full() {
        Location::File(source.path.clone())
    } else {
        place_of(source, text)
    }
}

/// Reports the errors that the types alone do not rule out.
fn checked(
    mut document: RecipeDocument,
    source: &SourceText,
    sink: &mut Sink,
) -> Option<RecipeDocument> {
    let errors = sink.error_count();
    let mut fault = |near: &str, message: String, help: &str| {
        let place = place_of_next(sink, source, near);
        sink.push(
            Diagnostic::new(&codes::BAD_RECIPE, message)
                .at(place, "")
                .help(help),
        );
    };
    if document.recipe != 1 {
        let message = format!(
            "this program reads recipes of version 1, not {}",
            document.recipe
        );
        fault("recipe:", message, "write `recipe: 1`");
    }
    for name in &document.required_vars {
        match document.vars.get(name).map(String::as_str) {
            None => {
                let message = format!("the required variable `{name}` is not in `vars`");
                fault(
                    name,
                    message,
                    "add it to `vars` with an empty value, and describe it in a comment above",
                );
            }
            Some("") => {}
            Some(default) => {
                let message = format!("the required variable `{name}` has the default `{default}`");
                fault(
                    name,
                    message,
                    "remove the default, or remove the variable from `required-vars`",
                );
            }
        }
    }
    if document.steps.is_empty() {
        fault(
            "steps:",
            "the recipe has no steps".to_owned(),
            "add at least one step with `stage` and `argv`",
        );
    }
    let collect = &document.collect;
    let collected = (!collect.wheels.is_empty(), !collect.archive.is_empty());
    let (fits, needs) = match document.leaves {
        Leaves::Wheels => (!collected.1, "`wheels` and no `archive`"),
        Leaves::Sdist => (collected == (true, true), "`wheels` and `archive`"),
        Leaves::Archive => (collected == (false, true), "`archive` and no `wheels`"),
        Leaves::Tree => (
            collected == (false, false),
            "neither `wheels` nor `archive`",
        ),
    };
    let has_wheels = matches!(document.leaves, Leaves::Wheels | Leaves::Sdist);
    if !fits || (!has_wheels && !document.wheels.is_empty()) {
        let message = format!(
            "a recipe that produces {} must have {needs} under `collect`",
            describe(document.leaves)
        );
        fault(
            "collect:",
            message,
            "set `leaves` to what the recipe produces: wheels, a source distribution, an archive \
             or a tree",
        );
    }
    if document.leaves == Leaves::Wheels && collected == (false, false) {
        let near = if source.text.contains("\ncollect:") {
            "collect:"
        } else {
            "steps:"
        };
        let message = "the recipe does not collect a wheel, so a build would deliver nothing";
        fault(
            near,
            message.to_owned(),
            "add `collect: {wheels: \"dist/*.whl\"}` with the path of the wheel in the job \
             directory, or `leaves: tree` if the recipe produces no file",
        );
    }
    let is_named_whole = matches!(document.leaves, Leaves::Archive | Leaves::Sdist);
    if is_named_whole && document.version_from == VersionFrom::Build {
        let what = describe(document.leaves);
        let message = format!(
            "the name of {what} contains the version, which is unknown with `version-from: build`"
        );
        fault(
            "version-from:",
            message,
            "remove it, so that an axis sets the version",
        );
    }
    for wheel in &document.wheels {
        let name = &wheel.distribution;
        let is_plain = !name.contains("{{");
        if let (true, Err(error)) = (is_plain, name.parse::<DistributionName>()) {
            fault(
                name,
                error.to_string(),
                "write the project's name as on the package index",
            );
        }
        if let Some(tag) = wheel.tag.as_deref().filter(|tag| !is_wheel_tag(tag)) {
            fault(
                tag,
                format!("`{tag}` is not a wheel tag"),
                "write Python tag, ABI tag and platform tag, such as `py3-none-any`",
            );
        }
    }
    let mut stages = std::collections::BTreeSet::new();
    for step in &document.steps {
        let stage = &step.stage;
        if !step.r#use.is_empty() {
            let bare = StepDocument {
                r#use: step.r#use.clone(),
                when: step.when.clone(),
                ..StepDocument::default()
            };
            if *step != bare {
                let message = format!(
                    "a step that uses `{}` may only have `when` in addition",
                    step.r#use
                );
                fault(&step.r#use, message, "move the rest to its own step");
            }
            continue;
        }
        if !is_name(stage) {
            fault(
                stage,
                format!("`{stage}` is not a valid stage name"),
                "use letters, digits, `-` and `_`",
            );
        }
        if !stages.insert(stage.as_str()) {
            fault(
                stage,
                format!("two steps have the stage `{stage}`"),
                "give each step its own stage",
            );
        }
        let own = !step.rock_matrix.is_empty();
        match (
            step.argv.is_empty() && !own,
            step.shell.as_deref(),
            step.script.is_empty(),
            step.place.is_some(),
        ) {
            (false, None, true, false) if own != step.argv.is_empty() => {
                fault(
                    stage,
                    format!("step `{stage}` has both `argv` and `rock-matrix`"),
                    "keep one of them",
                );
            }
            (false, None, true, false)
            | (true, Some("bash"), false, false)
            | (true, None, true, true) => {}
            _ => fault(
                stage,
                format!(
                    "step `{stage}` needs either `argv`, or `rock-matrix`, or `shell: bash` with `script`, or `place`"
                ),
                "name the program and its arguments as a list",
            ),
        }
        if step.script.contains("{{") {
            fault(
                stage,
                format!("the script of step `{stage}` contains an expression"),
                "set a variable in `env` and use it as `\"$NAME\"`: values are never inserted into \
                 scripts",
            );
        }
    }
    for name in document
        .points
        .keys()
        .filter(|name| !is_name(name) || *name == "auto")
    {
        fault(
            name,
            format!("`{name}` is not a valid point name"),
            "use letters, digits, `-` and `_`, but not `auto`",
        );
    }
    for (name, fact) in &document.facts {
        let kinds = [
            fact.expr.is_some(),
            fact.command.is_some(),
            fact.file.is_some(),
            fact.path.is_some(),
            fact.env.is_some(),
            fact.table.is_some(),
        ];
        if kinds.iter().filter(|kind| **kind).count() != 1 {
            let message = format!(
                "fact `{name}` needs exactly one of `expr`, `command`, `file`, `path`, `env`, `table`"
            );
            fault(&format!("{name}:"), message, "keep one of them");
        }
        let is_late = fact.stage().is_some();
        if is_late && fact.command.is_none() && fact.file.is_none() && fact.path.is_none() {
            let message =
                format!("fact `{name}`: `after` and `before` require `command`, `file` or `path`");
            fault(
                &format!("{name}:"),
                message,
                "remove it, or use one of these",
            );
        }
        if !fact.after.is_empty() && !fact.before.is_empty() {
            fault(
                &format!("{name}:"),
                format!("fact `{name}` has both `after` and `before`"),
                "keep one of them",
            );
        }
        if let Err(error) = regex::Regex::new(&fact.find) {
            fault(
                &fact.find,
                format!("fact `{name}`: `find` is not a valid regular expression: {error}"),
                "fix the expression",
            );
        }
        if fact.table.is_some() == fact.column.is_empty() {
            let message = format!("fact `{name}`: `table` and `column` must be set together");
            fault(
                &format!("{name}:"),
                message,
                "set the table and the column whose value to use",
            );
        }
    }
    for run_time in std::iter::once(&document.run_time)
        .chain(document.backends.values().map(|own| &own.run_time))
    {
        if let Some((text, reason)) = run_time.invalid_text() {
            fault(
                text,
                format!("`run-time`: {reason}"),
                "pages show it as a shell command, so write a single plain word",
            );
        }
    }
    for (name, from) in &document.sources {
        let own_path = from.path.is_some() && from.project.is_none() && from.git.is_none();
        let kinds = [
            from.sdist.is_some(),
            from.git.is_some(),
            own_path,
            from.artifact.is_some(),
            from.project.is_some(),
        ];
        if kinds.iter().filter(|kind| **kind).count() != 1 {
            let message = format!(
                "source `{name}` needs exactly one of `sdist`, `git`, `path`, `artifact`, `project`"
            );
            fault(&format!("{name}:"), message, "keep one of them");
        }
        for (key, is_written, kind, is_kind) in [
            ("submodules", from.submodules, "git", from.git.is_some()),
            ("sparse", !from.sparse.is_empty(), "git", from.git.is_some()),
            (
                "checkout",
                !from.checkout.is_empty(),
                "project",
                from.project.is_some(),
            ),
        ] {
            if is_written && !is_kind {
                let message = format!("source `{name}`: `{key}` only has an effect with `{kind}`");
                fault(&format!("{key}:"), message, "remove it");
            }
        }
        if from.git.is_some() && from.r#ref.is_empty() {
            let message = format!("source `{name}` has no `ref`");
            fault(
                &format!("{name}:"),
                message,
                "set it to the commit or tag to build",
            );
        }
    }
    for name in document.sources.keys().filter(|name| !is_name(name)) {
        fault(
            name,
            format!("`{name}` is not a valid source name"),
            "use letters, digits, `-` and `_`",
        );
    }
    let env = document.steps.iter().flat_map(|step| step.env.keys());
    let env = env
        .chain(
            document
                .sources
                .values()
                .flat_map(|source| source.env.keys()),
        )
        .chain(document.env.keys());
    for name in env.filter(|name| !is_variable(name)) {
        fault(
            name,
            format!("`{name}` is not a valid variable name"),
            "use letters, digits and `_`, and no digit first",
        );
    }
    for name in document.facts.keys().filter(|name| !is_variable(name)) {
        let message = format!("`{name}` is not a valid fact name");
        fault(
            name,
            message,
            "use letters, digits and `_`, and no digit first, because expressions refer to it",
        );
    }
    for (number, edit) in document.edits.iter().enumerate() {
        let kinds = [
            !edit.find.is_empty(),
            edit.write.is_some(),
            !edit.remove.is_empty(),
        ];
        if kinds.iter().filter(|kind| **kind).count() != 1
            || edit.file.is_some() != edit.remove.is_empty()
        {
            let message = format!(
                "edit {} needs either `file` with `find` or `write`, or `remove`",
                number + 1
            );
            fault("edits:", message, "keep one of them");
        }
    }
    for edit in &document.edits {
        if let Err(reason) = ReplacementPart::check(&edit.replace) {
            let place = place_of_next(sink, source, &edit.replace);
            sink.push(
                Diagnostic::new(&codes::BAD_REPLACEMENT, reason)
                    .at(place, "")
                    .help(ESCAPES),
            );
        }
    }
    document.source = Some(source.clone());
    (sink.error_count() == errors).then_some(document)
}

fn describe(leaves: Leaves) -> &'static str {
    match leaves {
        Leaves::Wheels => "wheels",
        Leaves::Sdist => "a source distribution",
        Leaves::Archive => "an archive",
        Leaves::Tree => "a tree",
    }
}

/// Whether a text is a wheel tag: Python, ABI and platform, each one tag or several.
fn is_wheel_tag(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let [python, abi, platform] = *parts else {
        return false;
    };
    python.parse::<PythonTags>().is_ok()
        && abi.parse::<AbiTags>().is_ok()
        && platform.parse::<PlatformTags>().is_ok()
}

/// Whether a text can be a word of a shell and the name of a directory.
fn is_name(text: &str) -> bool {
    !text.is_empty()
        && !text.starts_with('-')
        && text
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
}

fn is_variable(text: &str) -> bool {
    is_name(text) && !text.contains('-') && !text.starts_with(|c: char| c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::from_source;
    use rock_diagnostic::{Sink, SourceText};

    fn read(text: &str) -> (Option<crate::config::recipe::RecipeDocument>, Vec<String>) {
        let mut sink = Sink::new();
        let document = from_source(&SourceText::new("recipes/x.yaml", text), &mut sink);
        let findings = sink.finish().into_iter().map(|d| {
            let place = d
                .labels
                .first()
                .map(|label| label.location.to_string())
                .unwrap_or_default();
            format!("{place}: {}", d.message)
        });
        (document, findings.collect())
    }

    #[test]
    fn every_fault_of_a_recipe_is_reported_at_its_place() {
        let (document, text) = read(
            "recipe: 1\nname: x\nfacts:\n  both: {expr: '{{ 1 }}', env: HOME}\n  rows: {table: rocm-gfx}\nsources:\n  tree: {}\n  \
             repo: {git: 'https://example.org/x'}\nedits:\n  - {file: a}\nsteps:\n  - {stage: build}\n  - {stage: build, argv: [make]}\n  - \
             {stage: 'a b', argv: [make]}\n  - {stage: paste, shell: bash, script: 'echo {{ version }}'}\ncollect: {wheels: 'dist/*.whl'}\n",
        );
        assert!(document.is_none());
        assert_eq!(
            text,
            [
                "recipes/x.yaml:4:3: fact `both` needs exactly one of `expr`, `command`, `file`, `path`, `env`, `table`",
                "recipes/x.yaml:5:3: fact `rows`: `table` and `column` must be set together",
                "recipes/x.yaml:7:3: source `tree` needs exactly one of `sdist`, `git`, `path`, `artifact`, `project`",
                "recipes/x.yaml:8:3: source `repo` has no `ref`",
                "recipes/x.yaml:9:1: edit 1 needs either `file` with `find` or `write`, or `remove`",
                "recipes/x.yaml:12:13: step `build` needs either `argv`, or `rock-matrix`, or `shell: bash` with `script`, or `place`",
                "recipes/x.yaml:12:13: two steps have the stage `build`",
                "recipes/x.yaml:14:14: `a b` is not a valid stage name",
                "recipes/x.yaml:15:13: the script of step `paste` contains an expression",
            ]
        );
    }

    #[test]
    fn a_recipe_collects_a_wheel_or_produces_no_file() {
        let steps = "recipe: 1\nname: x\nsteps:\n  - {stage: build, argv: [make]}\n";
        let nothing = "the recipe does not collect a wheel, so a build would deliver nothing";
        for (rest, line) in [
            ("", 3),
            ("collect: {gates: [check]}\n", 5),
            ("collect:\n  wheels: ''\n", 5),
        ] {
            let (document, text) = read(&format!("{steps}{rest}"));
            assert!(document.is_none());
            assert_eq!(text, [format!("recipes/x.yaml:{line}:1: {nothing}")]);
        }
        for rest in ["leaves: tree\n", "collect: {wheels: 'dist/*.whl'}\n"] {
            let (document, text) = read(&format!("{steps}{rest}"));
            assert!(document.is_some(), "{text:?}");
        }
    }

    #[test]
    fn an_unknown_key_is_an_error() {
        let (document, text) =
            read("recipe: 1\nname: x\nsteps:\n  - {stage: a, argv: [make], enviroment: {}}\n");
        assert!(document.is_none());
        assert!(
            text.iter().any(|line| line.contains("enviroment")),
            "{text:?}"
        );
    }

    #[test]
    fn a_variable_may_be_text_a_list_nothing_or_an_extension() {
        use crate::config::recipe::EnvValue;
        let (document, text) = read(
            "recipe: 1\nname: x\nsteps:\n  - stage: a\n    argv: [make]\n    env:\n      A: 3.10\n      B: [x, y]\n      C:\n      \
             D: {prepend: /bin, sep: path}\n      E: {gib-per-job: 2.8}\ncollect: {wheels: 'dist/*.whl'}\n",
        );
        assert_eq!(text, Vec::<String>::new());
        let env = document.unwrap().steps[0].env.clone();
        assert_eq!(env["A"], EnvValue::Text("3.10".into()));
        assert_eq!(env["B"], EnvValue::List(vec!["x".into(), "y".into()]));
        assert_eq!(env["C"], EnvValue::Remove);
        assert!(
            matches!(&env["D"], EnvValue::Extend { separator, .. } if separator == super::super::PATH_SEPARATOR)
        );
        assert_eq!(
            env["E"],
            EnvValue::Jobs {
                count: String::new(),
                gib_per_job: "2.8".into()
            }
        );
    }
}
