//! The starter matrix for a recipe of the user.
//!
//! **Invariant:** the matrix file has every axis that the recipe requires, or there is none.

use serde::Serialize;

use super::{
    MissingTorch, ProjectFiles, ProjectOverrides, StarterMatrix, StarterRequest, fault,
    project_fault, project_values, starter_fault,
};
use crate::config::VersionFrom;
use crate::config::recipe::RecipeDocument;
use rock_compat::Compat;
use rock_diagnostic::Diagnostic;
use rock_template::render;

/// Axes that the matrix file can have.
const AXES: [&str; 4] = ["version", "python", "torch", "rocm"];

#[derive(Serialize)]
struct OwnRecipeView<'a> {
    name: String,
    recipe: &'a str,
    version: Option<String>,
    python: String,
    torch: Option<String>,
    missing_torch: Option<MissingTorch>,
    rocm: String,
    gfx: Vec<&'static str>,
}

/// Returns the starter for a recipe of the user. The distribution is the given one, that of the
/// recipe or of the directory's project, otherwise the recipe's name.
///
/// # Errors
/// If the recipe requires values that only its author knows, or if the name or the version is
/// neither given nor in the project's files.
pub(super) fn own_recipe_starter(
    files: &ProjectFiles,
    request: &StarterRequest,
    recipe: &RecipeDocument,
    compat: &Compat,
) -> Result<StarterMatrix, Diagnostic> {
    let axes = recipe.requires.iter().map(String::as_str);
    let unknown: Vec<&str> = axes
        .filter(|axis| !AXES.contains(axis) && *axis != recipe.distribution)
        .chain(recipe.required_vars.iter().map(String::as_str))
        .collect();
    if !unknown.is_empty() {
        let message = format!(
            "the recipe `{}` requires values for `{}`, which `init` does not know",
            recipe.name,
            unknown.join("`, `")
        );
        return Err(fault(message)
            .help("write the matrix file yourself: `rock-matrix help matrix` shows an example"));
    }
    let of_recipe = || match recipe.distribution.as_str() {
        "" if files.is_project() => None,
        "" => Some(&recipe.name),
        _ => Some(&recipe.distribution),
    };
    let name = match &request.distribution {
        Some(name) => Some(name.clone()),
        None => of_recipe().and_then(|name| name.parse().ok()),
    };
    let has_version = recipe.version_from == VersionFrom::Axis;
    if has_version && request.version.is_none() && !files.is_project() {
        let place = request.place();
        let message = format!("there is no pyproject.toml or setup.py in {place} with a version");
        return Err(fault(message)
            .help("pass it with `--set version=VERSION`, such as `--set version=1.2`"));
    }
    let overrides = ProjectOverrides {
        name,
        version: match (&request.version, has_version) {
            // The version is not written.
            (None, false) => Some("0".to_owned()),
            (version, _) => version.clone(),
        },
    };
    let project = files
        .project(&overrides)
        .map_err(|error| project_fault(&error))?;
    let needs_torch = project.needs_torch || recipe.requires.iter().any(|axis| axis == "torch");
    let (values, missing_torch) =
        project_values(&project, needs_torch, compat).map_err(|error| starter_fault(&error))?;
    let name = project.name.normalized();
    let has_device_code = recipe
        .profile(&name)
        .backends
        .first()
        .is_none_or(|backend| backend.device_code);
    let view = OwnRecipeView {
        name: name.clone(),
        recipe: &recipe.name,
        version: has_version.then(|| project.version.to_string()),
        python: values.python,
        torch: needs_torch.then_some(values.torch),
        missing_torch,
        rocm: values.rocm,
        gfx: if has_device_code {
            values.gfx
        } else {
            Vec::new()
        },
    };
    let template = include_str!("../../templates/starter/own-recipe.yaml");
    let matrix =
        render("own-recipe.yaml", template, &view).map_err(|error| starter_fault(&error.into()))?;
    Ok(StarterMatrix {
        why: format!("{name} with the recipe {}, as requested", recipe.name),
        distribution: name,
        matrix,
        recipe: None,
    })
}
