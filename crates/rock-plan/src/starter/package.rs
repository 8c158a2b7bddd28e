//! The starter matrix and recipe for a package on PyPI.
//!
//! **Invariant:** the matrix file is that of the recipe: it has the axes that the recipe requires.

use serde::Serialize;

use super::own_recipe::own_recipe_starter;
use super::{ProjectFiles, StarterMatrix, StarterRequest, fault};
use crate::config::{recipe, released_version};
use rock_compat::Compat;
use rock_diagnostic::{Diagnostic, Sink, SourceText};
use rock_names::{PackageVersion, Version};
use rock_template::render;

#[derive(Serialize)]
struct PackageView<'a> {
    name: &'a str,
    version: String,
}

/// Returns the starter for a package whose source distribution is on PyPI, with a recipe that
/// builds it. `name` is that of the package, normalized.
///
/// # Errors
/// If the version is missing or not a release that an axis can have.
pub(super) fn package_starter(
    name: &str,
    request: &StarterRequest,
    compat: &Compat,
) -> Result<StarterMatrix, Diagnostic> {
    let Some(version) = &request.version else {
        let message = format!(
            "there is no pyproject.toml or setup.py in {}, and no version of `{name}` on PyPI is \
             given",
            request.place()
        );
        return Err(fault(message).help(
            "pass a version with a source distribution, `--set version=VERSION`, or run it in the \
             directory of the project",
        ));
    };
    let version = sdist_version(version)
        .map_err(|reason| fault(reason).help("pass a release, such as `--set version=1.2`"))?;
    let view = PackageView {
        name,
        version: version.to_string(),
    };
    let template = include_str!("../../templates/starter/sdist-recipe.yaml");
    let text =
        render("sdist-recipe.yaml", template, &view).map_err(|error| fault(error.to_string()))?;
    let mut sink = Sink::new();
    let source = SourceText::new(format!("{name}.yaml"), text.as_str());
    let Some(document) = recipe::from_source(&source, &mut sink) else {
        return Err(fault(format!("`{name}` cannot be the name of a recipe"))
            .help("write the recipe yourself: `rock-matrix help recipes` shows an example"));
    };
    let starter = own_recipe_starter(&ProjectFiles::default(), request, &document, compat)?;
    Ok(StarterMatrix {
        why: format!(
            "there is no pyproject.toml or setup.py in {}, so this starts with the source \
             distribution of {name} {version} on PyPI",
            request.place()
        ),
        recipe: Some(text),
        ..starter
    })
}

/// Parses the version of a source distribution, or returns the reason why there is none.
fn sdist_version(text: &str) -> Result<Version, String> {
    if let Ok(PackageVersion::Commit { .. }) = text.parse() {
        return Err(format!(
            "`{text}` is a commit, and source distributions on PyPI are releases"
        ));
    }
    released_version(text).map_err(|(reason, _)| reason)
}

#[cfg(test)]
mod tests {
    use super::package_starter;
    use crate::config::recipe::{RecipeSet, from_source};
    use crate::config::{Lookups, read};
    use crate::starter::StarterRequest;
    use rock_compat::Compat;
    use rock_diagnostic::{Sink, SourceText};

    fn request(version: Option<&str>) -> StarterRequest {
        StarterRequest {
            version: version.map(str::to_owned),
            distribution: Some("My_Kernels".parse().unwrap()),
            ..StarterRequest::default()
        }
    }

    #[test]
    fn the_recipe_and_the_matrix_file_are_valid() {
        let (compat, request) = (Compat::embedded(), request(Some("0.3")));
        let starter = package_starter("my-kernels", &request, &compat).unwrap();
        assert_eq!(starter.distribution, "my-kernels");
        let mut sink = Sink::new();
        let recipe = SourceText::new("my-kernels.yaml", starter.recipe.unwrap());
        let document = from_source(&recipe, &mut sink).unwrap();
        let recipes = RecipeSet::with_shipped([document]);
        let matrix = SourceText::new("m.yaml", starter.matrix);
        let config = read(&matrix, &Lookups::new(&compat, recipes.into()), &mut sink);
        assert!(sink.is_empty(), "{:?}", sink.finish());
        assert_eq!(config.unwrap().recipe, "my-kernels");
    }

    #[test]
    fn a_released_version_is_required() {
        let compat = Compat::embedded();
        let versions = [
            None,
            Some("new"),
            Some("main:abcdef1"),
            Some("v1.2.0"),
            Some("1.0+cu12"),
            Some("1!2.0"),
        ];
        let messages = versions.map(|version| {
            let request = request(version);
            let error = package_starter("my-kernels", &request, &compat).unwrap_err();
            assert_eq!(error.code.id, "P090");
            error.message
        });
        assert_eq!(
            messages,
            [
                "there is no pyproject.toml or setup.py in this directory, and no version of \
                 `my-kernels` on PyPI is given",
                "`new` is not a version: expected version to start with a number, but no leading \
                 ASCII digits were found",
                "`main:abcdef1` is a commit, and source distributions on PyPI are releases",
                "`v1.2.0` is not a plain version; did you mean `1.2.0`?",
                "`1.0+cu12` already has a label; the plan adds the label",
                "`1!2.0` has an epoch, which names of release files cannot contain",
            ]
        );
    }
}
