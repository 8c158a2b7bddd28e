//! A matrix file made from a recipe and command-line settings, for a build without a file.

use serde_json::{Map, json};

use super::VersionFrom;
use super::fields::MATRIX_FILE;
use super::recipe::RecipeDocument;
use crate::codes::matrix::UNKNOWN_KEY;
use crate::codes::plan::{MISSING_AXIS, MISSING_VARIABLE};
use rock_diagnostic::nearest::{nearest, with_nearest};
use rock_diagnostic::{Code, Diagnostic, Location, SourceText};
use rock_yaml::shape::Shape;
use rock_yaml::to_yaml;

/// The name under which diagnostics show the text that [`matrix_of_settings`] returns.
const SETTINGS_SOURCE: &str = "<--set>";

/// The axis of the distribution's versions, whatever the distribution's name.
const VERSION: &str = "version";

/// Axes that every recipe supports, in addition to the one named after the distribution.
const AXES: [&str; 5] = [VERSION, "python", "torch", "rocm", "backend"];

/// The key of the distribution's name, which defaults to the recipe's.
const DISTRIBUTION: &str = "distribution";

/// Keys that the recipe determines or that do not apply to a single build.
const NOT_SETTABLE: [&str; 4] = ["version", "recipe", "enabled", "release-type"];

/// Returns a matrix file that builds with `recipe` and these settings: values of axes, variables of
/// the recipe, and keys of matrix files that take a text or a list of texts. An axis or list that
/// is set several times has all of these values. `vars.NAME` is always a variable, even if an axis
/// has the same name.
///
/// # Errors
/// If a setting is none of these, or if the recipe requires an axis or a variable that no setting
/// provides; one diagnostic for each.
pub fn matrix_of_settings(
    recipe: &RecipeDocument,
    settings: &[(String, String)],
) -> Result<SourceText, Vec<Diagnostic>> {
    let named = settings
        .iter()
        .rev()
        .find(|(name, _)| name == DISTRIBUTION)
        .map(|(_, value)| value);
    let distribution = named.unwrap_or(if recipe.distribution.is_empty() {
        &recipe.name
    } else {
        &recipe.distribution
    });
    let axes: Vec<&str> = [distribution.as_str()]
        .into_iter()
        .chain(AXES)
        .chain(recipe.axes.iter().map(String::as_str))
        .collect();
    let keys = keys();
    let (mut of_axes, mut of_vars, mut of_keys) = (Vec::new(), Vec::new(), Vec::new());
    let mut faults = Vec::new();
    for (name, value) in settings {
        let name = name.as_str();
        let variable = name.strip_prefix("vars.").unwrap_or(name);
        if axes.contains(&name) {
            of_axes.push((name, value));
        } else if recipe.vars.contains_key(variable) {
            of_vars.push((variable, value));
        } else if keys.iter().any(|(key, _)| *key == name) {
            of_keys.push((name, value));
        } else {
            let known = axes
                .iter()
                .copied()
                .chain(recipe.vars.keys().map(String::as_str));
            faults.push(unknown_setting(
                &recipe.name,
                name,
                known.chain(keys.iter().map(|(key, _)| *key)),
            ));
        }
    }
    if named.is_none() && recipe.distribution.is_empty() {
        let message = format!(
            "the recipe `{}` builds any project, but no project is given",
            recipe.name
        );
        let fault = Diagnostic::new(&MISSING_AXIS, message)
            .at(Location::Argument(format!("--recipe {}", recipe.name)), "");
        faults.push(fault.help("add `--set distribution=NAME` and `--set version=VERSION`"));
    }
    let is_version = |name: &str| name == distribution || name == VERSION;
    let is_set = |name: &str| of_axes.iter().any(|(set, _)| *set == name);
    let is_named = named.is_some() || !recipe.distribution.is_empty();
    if is_named
        && recipe.version_from == VersionFrom::Axis
        && !of_axes.iter().any(|(name, _)| is_version(name))
    {
        faults.push(missing_setting(&MISSING_AXIS, &recipe.name, distribution));
    }
    let unset = recipe.requires.iter().filter(|name| !is_set(name));
    faults.extend(unset.map(|name| missing_setting(&MISSING_AXIS, &recipe.name, name)));
    let unset = recipe
        .required_vars
        .iter()
        .filter(|name| !of_vars.iter().any(|(set, _)| set == name));
    faults.extend(unset.map(|name| missing_setting(&MISSING_VARIABLE, &recipe.name, name)));
    if !faults.is_empty() {
        return Err(faults);
    }
    let mut matrix = Map::new();
    matrix.insert("version".to_owned(), json!(1));
    matrix.insert(DISTRIBUTION.to_owned(), json!(distribution));
    matrix.insert("recipe".to_owned(), json!(recipe.name));
    for (key, shape) in keys.into_iter().filter(|(key, _)| *key != DISTRIBUTION) {
        let values = values_of(key, &of_keys);
        if let Some(last) = values.last() {
            let value = match (shape, *last) {
                (Shape::List(_), _) => json!(
                    values
                        .iter()
                        .flat_map(|value| value.split(','))
                        .collect::<Vec<_>>()
                ),
                (Shape::Boolean, "true" | "false") => json!(*last == "true"),
                _ => json!(last),
            };
            matrix.insert(key.to_owned(), value);
        }
    }
    let set = axes
        .iter()
        .map(|axis| (*axis, values_of(axis, &of_axes)))
        .filter(|(_, values)| !values.is_empty());
    matrix.insert(
        "axes".to_owned(),
        set.map(|(axis, values)| (axis.to_owned(), json!(values)))
            .collect(),
    );
    let set = recipe
        .vars
        .keys()
        .filter_map(|name| Some((name.clone(), json!(values_of(name, &of_vars).last()?))));
    matrix.insert("vars".to_owned(), set.collect());
    let text =
        to_yaml(&matrix).expect("strings, lists and mappings of strings can be written as YAML");
    Ok(SourceText::new(SETTINGS_SOURCE, text))
}

/// Returns the keys of matrix files that a text or a list of texts can set.
fn keys() -> Vec<(&'static str, &'static Shape)> {
    let Shape::Record(record) = MATRIX_FILE else {
        return Vec::new();
    };
    let settable = record
        .fields
        .iter()
        .filter(|field| !NOT_SETTABLE.contains(&field.name) && is_text(&field.shape));
    settable.map(|field| (field.name, &field.shape)).collect()
}

fn is_text(shape: &Shape) -> bool {
    match shape {
        Shape::Text | Shape::Word(_) | Shape::Boolean => true,
        Shape::List(inner) => matches!(inner, Shape::Text),
        Shape::AnyOf(shapes) => shapes.iter().any(is_text),
        _ => false,
    }
}

fn values_of<'s>(name: &str, settings: &[(&str, &'s String)]) -> Vec<&'s str> {
    settings
        .iter()
        .filter(|(set, _)| *set == name)
        .map(|(_, value)| value.as_str())
        .collect()
}

fn missing_setting(code: &'static Code, recipe: &str, name: &str) -> Diagnostic {
    Diagnostic::new(
        code,
        format!("the recipe `{recipe}` requires a value for `{name}`"),
    )
    .at(Location::Argument(format!("--recipe {recipe}")), "")
    .help(format!("add `--set {name}=VALUE`"))
}

fn unknown_setting<'s>(
    recipe: &str,
    name: &str,
    known: impl Iterator<Item = &'s str>,
) -> Diagnostic {
    let message = format!(
        "`{name}` is neither an axis or a variable of the recipe `{recipe}` nor a key of matrix \
         files"
    );
    Diagnostic::new(&UNKNOWN_KEY, with_nearest(message, nearest(name, known)))
        .at(Location::Argument(format!("--set {name}")), "")
        .help(format!(
            "`rock-matrix recipe show {recipe}` lists the variables, `rock-matrix schema` the keys"
        ))
}
