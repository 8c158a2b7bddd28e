//! Starter matrices of the shipped recipes that build one distribution from its sources.
//!
//! **Invariant:** each matrix file is complete: `check` accepts it as it is.

use std::collections::BTreeMap;

use itertools::Itertools as _;
use serde::Serialize;

use super::{FLASH_ATTN, PROJECT_RECIPE, StarterMatrix, fault};
use crate::config::recipe::RecipeSet;
use rock_compat::Compat;
use rock_diagnostic::{Diagnostic, nearest::nearest};
use rock_template::render;

/// The starter of a shipped recipe.
#[derive(Debug, Clone, Copy, Serialize)]
pub(super) struct ShippedStarter {
    /// The recipe.
    pub(super) recipe: &'static str,
    /// The distribution that it builds.
    pub(super) distribution: &'static str,
    /// The axis or variable that selects what is built.
    variable: &'static str,
    /// The project of the table `torch-companions` that it builds; empty for others.
    companion: &'static str,
    /// The template of the matrix file.
    #[serde(skip)]
    template: &'static str,
}

/// The values of a template.
#[derive(Serialize)]
struct ShippedView<'a> {
    #[serde(flatten)]
    starter: &'a ShippedStarter,
    /// The minor versions of projects by torch minor.
    companions: BTreeMap<&'a str, &'a BTreeMap<String, String>>,
}

/// The matrix file of packages that are compiled against torch.
const TORCH_PACKAGE: &str = include_str!("../../templates/starter/torch-package.yaml");

/// The starters, sorted by recipe.
const STARTERS: [ShippedStarter; 8] = [
    ShippedStarter {
        recipe: "aotriton",
        distribution: "aotriton",
        variable: "aotriton",
        companion: "",
        template: include_str!("../../templates/starter/aotriton.yaml"),
    },
    ShippedStarter {
        recipe: "apex",
        distribution: "apex",
        variable: "apex-ref",
        companion: "",
        template: TORCH_PACKAGE,
    },
    ShippedStarter {
        recipe: "ck",
        distribution: "composable-kernel",
        variable: "ck-ref",
        companion: "",
        template: include_str!("../../templates/starter/ck.yaml"),
    },
    ShippedStarter {
        recipe: "rocm-sdk-packages",
        distribution: "rocm",
        variable: "version",
        companion: "",
        template: include_str!("../../templates/starter/rocm-sdk-packages.yaml"),
    },
    ShippedStarter {
        recipe: "torch",
        distribution: "torch",
        variable: "torch-ref",
        companion: "",
        template: include_str!("../../templates/starter/torch.yaml"),
    },
    ShippedStarter {
        recipe: "torchaudio",
        distribution: "torchaudio",
        variable: "audio-ref",
        companion: "audio",
        template: TORCH_PACKAGE,
    },
    ShippedStarter {
        recipe: "torchvision",
        distribution: "torchvision",
        variable: "vision-ref",
        companion: "vision",
        template: TORCH_PACKAGE,
    },
    ShippedStarter {
        recipe: "triton",
        distribution: "triton",
        variable: "triton-ref",
        companion: "",
        template: include_str!("../../templates/starter/triton.yaml"),
    },
];

/// Returns the starter of the recipe with this name.
pub(super) fn by_recipe(recipe: &str) -> Option<&'static ShippedStarter> {
    STARTERS.iter().find(|starter| starter.recipe == recipe)
}

/// Returns the starter of the recipe that builds this distribution, a normalized name.
pub(super) fn by_distribution(distribution: &str) -> Option<&'static ShippedStarter> {
    STARTERS
        .iter()
        .find(|starter| starter.distribution == distribution)
}

impl ShippedStarter {
    /// Returns the starter matrix.
    ///
    /// # Errors
    /// If a version is given, which the matrix file sets.
    pub(super) fn matrix(
        &self,
        version: Option<&str>,
        compat: &Compat,
    ) -> Result<StarterMatrix, Diagnostic> {
        let Self {
            recipe,
            distribution,
            variable,
            ..
        } = self;
        if version.is_some() {
            let message =
                format!("the version of {distribution} is set in its matrix file, by `{variable}`");
            return Err(fault(message).help(format!(
                "leave out the version, and edit `{variable}` in matrices/{distribution}.yaml \
                 afterwards"
            )));
        }
        let rows = compat.source_tables().torch_companions.iter();
        let view = ShippedView {
            starter: self,
            companions: rows.map(|row| (&*row.torch, &row.companions)).collect(),
        };
        let matrix = render("starter.yaml", self.template, &view)
            .map_err(|error| fault(error.to_string()))?;
        Ok(StarterMatrix {
            distribution: (*distribution).to_owned(),
            matrix,
            recipe: None,
            why: format!("{distribution} with the recipe {recipe}, as requested"),
        })
    }
}

/// Returns the error for a recipe that builds only one distribution, and not the requested one.
pub(super) fn other_distribution(recipe: &str, distribution: &str) -> Diagnostic {
    fault(format!("the recipe {recipe} only builds {distribution}")).help(format!(
        "omit `--distribution`, or pass `--recipe {PROJECT_RECIPE}`"
    ))
}

/// Returns the error for a recipe without a starter: a part of other recipes, or an unknown name.
pub(super) fn no_starter(recipe: &str) -> Diagnostic {
    let known = || {
        STARTERS
            .iter()
            .map(|starter| starter.recipe)
            .chain([PROJECT_RECIPE, FLASH_ATTN])
            .sorted_unstable()
    };
    let recipes = RecipeSet::with_shipped([]);
    let users = known()
        .filter(|name| {
            recipes
                .known(name)
                .is_some_and(|whole| whole.used.iter().any(|used| used == recipe))
        })
        .join(", ");
    if !users.is_empty() {
        let message =
            format!("the recipe `{recipe}` is a part of other recipes and has no starter matrix");
        return fault(message).help(format!(
            "start with a recipe that uses it: {users}; `rock-matrix recipe show {recipe}` \
             describes it"
        ));
    }
    let message = format!("there is no starter matrix for the recipe `{recipe}`");
    let near = nearest(recipe, known())
        .map(|near| format!("did you mean `{near}`? "))
        .unwrap_or_default();
    fault(message).help(format!(
        "{near}pass one of {}, or the name of a recipe of yours in `matrices/recipes`; \
         `rock-matrix recipe new NAME` writes one",
        known().join(", ")
    ))
}

#[cfg(test)]
mod tests {
    use super::{STARTERS, by_distribution, by_recipe, no_starter};
    use crate::config::recipe::{RecipeSet, embedded_names};
    use crate::config::{Lookups, read};
    use crate::starter::is_starter_recipe;
    use rock_compat::Compat;
    use rock_diagnostic::{Sink, SourceText};

    #[test]
    fn every_matrix_file_is_valid() {
        let compat = Compat::embedded();
        let lookups = Lookups::new(&compat, RecipeSet::with_shipped([]).into());
        for starter in &STARTERS {
            let found = starter.matrix(None, &compat).unwrap();
            let mut sink = Sink::new();
            let source = SourceText::new("m.yaml", found.matrix.as_str());
            let config = read(&source, &lookups, &mut sink);
            assert!(sink.is_empty(), "{}: {:?}", starter.recipe, sink.finish());
            assert_eq!(config.unwrap().recipe, starter.recipe);
            let variable = format!("{}: ", starter.variable);
            assert!(found.matrix.contains(&variable), "{}", found.matrix);
        }
    }

    #[test]
    fn a_recipe_without_a_starter_is_a_part_of_others() {
        let helps: Vec<String> = embedded_names()
            .filter(|name| !is_starter_recipe(name))
            .map(|name| no_starter(name).help.unwrap())
            .collect();
        assert_eq!(
            helps,
            [
                "start with a recipe that uses it: aotriton, apex, torch, torchaudio, \
                 torchvision, triton; `rock-matrix recipe show rocm-sdk` describes it",
                "start with a recipe that uses it: apex, torch, torchaudio, torchvision, triton; \
                 `rock-matrix recipe show torch-environment` describes it",
            ]
        );
        assert!(by_distribution("composable-kernel").is_some());
        let help = no_starter("troch").help.unwrap();
        assert!(
            help.starts_with("did you mean `torch`? pass one of aotriton, "),
            "{help}"
        );
    }

    #[test]
    fn a_version_is_refused_with_the_key_that_sets_it() {
        let starter = by_recipe("torch").unwrap();
        let error = starter
            .matrix(Some("2.10.0"), &Compat::embedded())
            .unwrap_err();
        assert_eq!(
            error.help.unwrap(),
            "leave out the version, and edit `torch-ref` in matrices/torch.yaml afterwards"
        );
    }
}
