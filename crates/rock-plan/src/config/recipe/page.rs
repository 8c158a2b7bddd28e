//! The page that documents a recipe, generated from the recipe's file.

use std::fmt::Write as _;

use super::{EnvValue, RecipeDocument, WheelDocument};
use crate::config::Leaves;

/// Returns the page of a recipe, `docs/recipes/NAME.md`. `text` is its file: the comment at its top
/// describes the build, and the comment above a variable describes that variable.
pub fn page(document: &RecipeDocument, text: &str) -> String {
    let mut page = format!("# The recipe `{}`\n\n{}\n", document.name, head(text));
    let _ = writeln!(
        page,
        "\nThis page is generated from `matrices/recipes/{}.yaml`.",
        document.name
    );
    if !document.requires.is_empty() {
        let _ = writeln!(
            page,
            "A matrix file for it needs the axes {}.",
            code(&document.requires)
        );
    }
    if !document.axes.is_empty() {
        let _ = writeln!(
            page,
            "In addition to the axes of every matrix file, it has {}.",
            code(&document.axes)
        );
    }
    let used: Vec<String> = document
        .steps
        .iter()
        .map(|step| step.r#use.clone())
        .filter(|name| !name.is_empty())
        .collect();
    if !used.is_empty() {
        let links: Vec<String> = used
            .iter()
            .map(|name| format!("[`{name}`]({name}.md)"))
            .collect();
        let _ = writeln!(
            page,
            "It uses {}, including all variables and stages.",
            links.join(", ")
        );
    }
    list(
        &mut page,
        if document.leaves == Leaves::Sdist {
            "Wheels in addition to the source distribution"
        } else {
            "Wheels"
        },
        document.wheels.iter().map(|wheel| match &wheel.when {
            None => of_each(wheel),
            Some(when) => format!("{}, when {}", of_each(wheel), code_of(when)),
        }),
    );
    if !document.vars.is_empty() {
        page.push_str("\n## Variables\n\n| variable | default | meaning |\n| --- | --- | --- |\n");
        let comments = comments(text);
        for (name, default) in &document.vars {
            let default = match default.as_str() {
                "" if document.required_vars.contains(name) => "required".to_owned(),
                "" => String::new(),
                default => format!("`{default}`"),
            };
            let what = comments
                .iter()
                .find(|(known, _)| known == name)
                .map_or("", |(_, comment)| comment.as_str());
            let _ = writeln!(page, "| `{name}` | {default} | {} |", cell(what));
        }
    }
    for (title, refusals) in [
        ("Refused combinations", &document.refuse),
        ("Combinations with a warning", &document.warn),
    ] {
        list(
            &mut page,
            title,
            refusals.iter().map(|refusal| {
                let help = if refusal.help.is_empty() {
                    String::new()
                } else {
                    format!("; {}", refusal.help)
                };
                format!("{}{help}", refusal.reason)
            }),
        );
    }
    if !document.env.is_empty() {
        page.push_str("\n## Environment of every stage\n\n| variable | value |\n| --- | --- |\n");
        for (name, value) in &document.env {
            let _ = writeln!(page, "| `{name}` | {} |", cell(&value_of(value)));
        }
    }
    page.push_str("\n## Stages\n\n| stage | when | own variables |\n| --- | --- | --- |\n");
    for step in &document.steps {
        let stage = if step.r#use.is_empty() {
            format!("`{}`", step.stage)
        } else {
            format!("those of [`{0}`]({0}.md)", step.r#use)
        };
        let when = step.when.as_deref().map(code_of);
        let at_end = step
            .finally
            .then(|| "at the end, also after a failure".to_owned());
        let when = at_end
            .into_iter()
            .chain(when)
            .collect::<Vec<_>>()
            .join(", if ");
        let names: Vec<String> = step.env.keys().cloned().collect();
        let _ = writeln!(page, "| {stage} | {} | {} |", cell(&when), code(&names));
    }
    if !document.points.is_empty() {
        let names: Vec<String> = document.points.keys().cloned().collect();
        let _ = writeln!(
            page,
            "\n`--resume` also accepts {}, each for the first stage of its part.",
            code(&names)
        );
    }
    page
}

/// Returns the distribution of a wheel, and the list if there is one wheel for each of its items.
fn of_each(wheel: &WheelDocument) -> String {
    let name = format!("`{}`", wheel.distribution);
    wheel.each.as_deref().map_or_else(
        || name.clone(),
        |each| format!("{name} for each of {}", code_of(each)),
    )
}

/// Returns the comment at the top of the file as one paragraph.
pub(super) fn head(text: &str) -> String {
    let lines = text.lines().map_while(|line| line.strip_prefix('#'));
    lines.map(str::trim).collect::<Vec<_>>().join(" ")
}

/// Returns the comment above each variable.
pub(super) fn comments(text: &str) -> Vec<(String, String)> {
    let vars = text.lines().skip_while(|line| *line != "vars:").skip(1);
    let (mut found, mut comment) = (Vec::new(), Vec::new());
    for line in vars.take_while(|line| line.starts_with("  ") || line.is_empty()) {
        let line = line.trim();
        if let Some(words) = line.strip_prefix('#') {
            comment.push(words.trim().to_owned());
        } else if let Some((name, _)) = line.split_once(':') {
            found.push((name.to_owned(), comment.join(" ")));
            comment.clear();
        }
    }
    found
}

fn list(page: &mut String, title: &str, items: impl Iterator<Item = String>) {
    let items: Vec<String> = items.map(|item| format!("- {item}\n")).collect();
    if !items.is_empty() {
        let _ = write!(page, "\n## {title}\n\n{}", items.concat());
    }
}

fn code(names: &[String]) -> String {
    names
        .iter()
        .map(|name| format!("`{name}`"))
        .collect::<Vec<_>>()
        .join(", ")
}

/// Formats a condition as code, without the braces around it.
fn code_of(when: &str) -> String {
    let bare = when
        .trim()
        .strip_prefix("{{")
        .and_then(|text| text.strip_suffix("}}"))
        .unwrap_or(when);
    format!("`{}`", bare.trim())
}

fn value_of(value: &EnvValue) -> String {
    match value {
        EnvValue::Text(text) => format!("`{text}`"),
        EnvValue::List(items) => code(items),
        EnvValue::Remove => "removed".to_owned(),
        EnvValue::Extend {
            prepend, append, ..
        } => {
            let part = |what: &str, text: &Option<String>| {
                text.as_ref().map(|text| format!("{what} `{text}`"))
            };
            let parts = [part("begins with", prepend), part("ends with", append)];
            parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
        }
        EnvValue::If { fact, value } => format!("`{value}`, if `{fact}` has a value"),
        EnvValue::Jobs { gib_per_job, .. } => format!("parallel jobs of `{gib_per_job}` GiB each"),
    }
}

/// Escapes text for a table cell.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}
