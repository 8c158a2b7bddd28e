//! Checks of matrix files against the profiles of their recipes.

use itertools::Itertools as _;

use super::fields::COLLAPSED_AXES;
use super::read::CompleteParts;
use super::{AxisRole, MatrixConfig, RecipeBackend, RecipeProfile, VersionFrom};
use crate::codes::plan as codes;
use rock_diagnostic::{Diagnostic, Sink, nearest::nearest};

/// Checks a matrix file without errors against the profile of its recipe. Returns whether the
/// recipe has the backends of all cells: without them, no rule can be evaluated.
pub(crate) fn check_recipe(
    config: &MatrixConfig,
    profile: &RecipeProfile,
    sink: &mut Sink,
) -> bool {
    let errors = sink.error_count();
    check_backends(config, profile, sink);
    let has_backends = sink.error_count() == errors;
    check_axes(config, profile, sink);
    check_collapse(config, profile, sink);
    check_variables(config, profile, sink);
    has_backends
}

/// Checks a matrix file with errors against the profile of its recipe, as far as the parts that a
/// check depends on are complete.
pub(super) fn check_complete_parts(
    config: &MatrixConfig,
    complete: CompleteParts,
    profile: &RecipeProfile,
    sink: &mut Sink,
) {
    if !complete.explicit_cells {
        return;
    }
    if complete.backends {
        check_backends(config, profile, sink);
    }
    if !complete.axes || config.axes.is_empty() {
        return;
    }
    check_axes(config, profile, sink);
    check_collapse(config, profile, sink);
    // An unknown key in an entry of `rows` or `include` may be a misspelled `vars`.
    if complete.vars && config.rows.is_empty() && config.include.is_empty() {
        check_variables(config, profile, sink);
    }
}

/// Checks that the matrix file has the axis of versions and those that the recipe requires.
fn check_axes(config: &MatrixConfig, profile: &RecipeProfile, sink: &mut Sink) {
    if profile.version_from == VersionFrom::Axis {
        check_version_axis(config, sink);
    }
    check_required_axes(config, profile, sink);
}

/// Checks that the recipe has the backend of every cell.
fn check_backends(config: &MatrixConfig, profile: &RecipeProfile, sink: &mut Sink) {
    let known = || profile.backends.iter().map(|backend| backend.name.as_str());
    let axes = config.axes.iter();
    let of_product = axes
        .filter(|axis| axis.role == AxisRole::Backend)
        .flat_map(|axis| &axis.values);
    let rows = config.rows.iter().chain(&config.include);
    let explicit = rows
        .flat_map(|row| &row.axes)
        .filter(|(name, value)| value.value.role(name) == AxisRole::Backend)
        .map(|(_, value)| value);
    let names = of_product.chain(explicit).map(|value| value.text.as_str());
    for (number, name) in names.unique().enumerate() {
        if profile.backend(Some(name)).is_some() {
            continue;
        }
        let help = match nearest(name, known()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("the recipe's backends are {}", known().join(", ")),
        };
        let message = format!("recipe `{}` has no backend `{name}`", profile.name);
        let location = config.locations.of(&format!("axes.backend[{number}]"));
        sink.push(
            Diagnostic::new(&codes::UNKNOWN_BACKEND, message)
                .at(location, "")
                .help(help),
        );
    }
}

/// Checks that an axis or every row has the version of the distribution.
fn check_version_axis(config: &MatrixConfig, sink: &mut Sink) {
    let named = config
        .axes
        .iter()
        .any(|axis| axis.role == AxisRole::Package);
    let in_rows = config.axes.is_empty()
        && config
            .rows
            .iter()
            .all(|row| row.axes.contains_key(config.distribution.as_str()));
    if !named && !in_rows {
        sink.push(
            Diagnostic::new(
                &codes::NO_VERSION_AXIS,
                format!("no axis lists the versions of {}", config.distribution),
            )
            .at(config.locations.of("axes"), "")
            .help(format!("add `{}: [\"…\"]` to `axes`", config.distribution)),
        );
    }
}

/// Checks that the matrix file has all axes that the recipe requires.
fn check_required_axes(config: &MatrixConfig, profile: &RecipeProfile, sink: &mut Sink) {
    for name in &profile.requires {
        let is_axis = config.axes.iter().any(|axis| axis.name == *name);
        let in_rows =
            !config.rows.is_empty() && config.rows.iter().all(|row| row.axes.contains_key(name));
        if !is_axis && !in_rows {
            let message = format!("the recipe `{}` needs the axis `{name}`", profile.name);
            sink.push(
                Diagnostic::new(&codes::MISSING_AXIS, message)
                    .at(config.locations.of("axes"), "")
                    .help(format!("add `{name}: [\"…\"]` to `axes`")),
            );
        }
    }
}

/// Checks that `collapse` lists axes of the matrix file that the recipe allows a backend to
/// collapse.
fn check_collapse(config: &MatrixConfig, profile: &RecipeProfile, sink: &mut Sink) {
    for (number, name) in config.collapse.iter().enumerate() {
        if !COLLAPSED_AXES.contains(&name.as_str()) {
            // The check of the file's keys reported the word.
            continue;
        }
        let location = config.locations.of(&format!("collapse[{number}]"));
        let fault = |message: String| {
            Diagnostic::new(&codes::CANNOT_COLLAPSE, message).at(location.clone(), "")
        };
        let allows = |backend: &RecipeBackend| {
            backend.collapse.contains(name) || backend.collapsible.contains(name)
        };
        let in_rows = config.rows.iter().any(|row| row.axes.contains_key(name));
        if !profile.backends.iter().any(allows) {
            let message = format!(
                "the recipe `{}` cannot build one wheel for several values of `{name}`",
                profile.name
            );
            sink.push(
                fault(message)
                    .help("remove it, or add it to `collapsible` of a backend in your own recipe"),
            );
        } else if !in_rows && !config.axes.iter().any(|axis| axis.name == *name) {
            sink.push(
                fault(format!("the matrix file has no axis `{name}` to collapse"))
                    .help("remove it"),
            );
        }
    }
}

/// Checks that the matrix file sets the variables that the recipe requires in `vars`, by an axis or
/// for some cells; then the jobs are checked when they are planned.
fn check_variables(config: &MatrixConfig, profile: &RecipeProfile, sink: &mut Sink) {
    for name in &profile.required_vars {
        let of_file = config.vars.get(name).is_some_and(|text| !text.is_empty());
        let is_axis = config.axes.iter().any(|axis| axis.name == *name);
        let mut rows = config.rows.iter().chain(&config.include);
        let in_rows =
            rows.any(|row| row.axes.contains_key(name) || row.set.vars.contains_key(name));
        if !of_file && !is_axis && !in_rows {
            sink.push(missing_variable(config, profile, name));
        }
    }
}

/// Returns the error that a variable that the recipe requires is not set.
pub(crate) fn missing_variable(
    config: &MatrixConfig,
    profile: &RecipeProfile,
    name: &str,
) -> Diagnostic {
    let message = format!(
        "the recipe `{}` needs the variable `{name}`, which is not set",
        profile.name
    );
    let key = ["vars", "recipe"].into_iter().find(|key| {
        let span = config.locations.span(key);
        span.is_some_and(|span| !span.is_empty())
    });
    let location = config.locations.of(key.unwrap_or("distribution"));
    let command = format!("`rock-matrix recipe show {}`", profile.name);
    Diagnostic::new(&codes::MISSING_VARIABLE, message)
        .at(location, "")
        .help(format!("set `{name}` under `vars`; {command} describes it"))
}

#[cfg(test)]
mod tests {
    use crate::config::{Lookups, read, recipe::RecipeSet};
    use rock_compat::Compat;
    use rock_diagnostic::{Sink, SourceText};

    /// Returns the codes of the errors of a matrix file, sorted.
    fn errors(text: &str) -> Vec<&'static str> {
        let compat = Compat::embedded();
        let lookups = Lookups::new(&compat, RecipeSet::with_shipped([]).into());
        let source = SourceText::new("m.yaml", format!("version: 1\n{text}"));
        let mut sink = Sink::new();
        assert!(read(&source, &lookups, &mut sink).is_none());
        let found = sink.finish();
        let mut codes: Vec<&str> = found
            .iter()
            .filter(|one| one.is_error())
            .map(|one| one.code.id)
            .collect();
        codes.sort_unstable();
        codes
    }

    #[test]
    fn errors_of_keys_do_not_hide_those_against_the_recipe() {
        let flash_attn = "distribution: flash-attn\ncolapse: [python]\naxes:\n  \
            flash-attn: ['2.8.3']\n  python: ['3.12']\n  torch: ['2.9.1']\n  backend: [tritn]\n";
        assert_eq!(errors(flash_attn), ["M020", "P016", "P030"]);
        let extension = "distribution: mine\nrecipe: hip-extension\ngfx: [unknown]\n\
            axes: {mine: ['1.0'], python: ['3.12'], rocm: ['6.4']}\n";
        assert_eq!(errors(extension), ["M037", "P070"]);
    }

    #[test]
    fn an_error_does_not_cause_others() {
        let misspelled_axes = "distribution: flash-attn\naxs: {flash-attn: ['2.8.3']}\n";
        assert_eq!(errors(misspelled_axes), ["M020"]);
        let misspelled_axis = "distribution: flash-attn\naxes: {flash-attn: ['2.8.3'], \
            pyton: ['3.12'], torch: ['2.9.1'], rocm: ['6.4']}\n";
        assert_eq!(errors(misspelled_axis), ["M032"]);
        let misspelled_variable = "distribution: mine\nrecipe: hip-extension\n\
            vars: {sourc: '.'}\naxes: {mine: ['1.0'], python: ['3.12'], rocm: ['6.4']}\n";
        assert_eq!(errors(misspelled_variable), ["B008"]);
        let misspelled_word = "distribution: flash-attn\ncollapse: [pyton]\naxes: \
            {flash-attn: ['2.8.3'], python: ['3.12'], torch: ['2.9.1'], rocm: ['6.4']}\n";
        assert_eq!(errors(misspelled_word), ["M023"]);
        let misspelled_recipe = "distribution: flash-attn\nrecpe: hip-extension\n\
            axes: {flash-attn: ['2.8.3'], python: ['3.12'], rocm: ['6.4']}\n";
        assert_eq!(errors(misspelled_recipe), ["M020"]);
        let misspelled_key_of_row = "distribution: mine\nrecipe: hip-extension\n\
            axes: {mine: ['1.0'], python: ['3.12'], rocm: ['6.4']}\n\
            include: [{axes: {python: '3.12'}, set: {varz: {source: .}}}]\n";
        assert_eq!(errors(misspelled_key_of_row), ["M020"]);
        let variables_of_wrong_kind = "distribution: mine\nrecipe: hip-extension\nvars: source\n\
            axes: {mine: ['1.0'], python: ['3.12'], rocm: ['6.4']}\n";
        assert_eq!(errors(variables_of_wrong_kind), ["M022"]);
    }
}
