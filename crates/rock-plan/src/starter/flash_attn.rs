//! The starter matrix for flash-attn with Triton kernels.
//!
//! **Invariant:** the wheel can be imported with its torch, according to the compatibility data.

use itertools::Itertools as _;
use serde::Serialize;

use super::{
    FLASH_ATTN, StarterError, StarterMatrix, StarterRequest, StarterValues, fault, pairs,
    starter_fault,
};
use rock_compat::{Compat, ImportQuery, Support};
use rock_diagnostic::Diagnostic;
use rock_names::{PackageVersion, Version};
use rock_template::render;

#[derive(Serialize)]
struct FlashAttnView {
    version: String,
    #[serde(flatten)]
    values: StarterValues,
}

/// Returns the starter with flash-attn and Triton kernels.
///
/// # Errors
/// If a version is given, which the compatibility data chooses.
pub(super) fn flash_attn_starter(
    request: &StarterRequest,
    compat: &Compat,
) -> Result<StarterMatrix, Diagnostic> {
    if request.version.is_some() {
        return Err(fault(
            "the version of flash-attn is chosen by the compatibility data".to_owned(),
        )
        .help(
            "leave out the version, and edit it in the matrix file; `--distribution NAME` \
                 starts with another package",
        ));
    }
    let why = if request.recipe.is_some() || request.distribution.is_some() {
        "flash-attn, as requested, with Triton kernels, which build in minutes".to_owned()
    } else {
        format!(
            "there is no pyproject.toml or setup.py in {}, so this starts with flash-attn and \
             Triton kernels, which build in minutes; `rock-matrix recipe new NAME` starts a \
             package of your own, and `--distribution NAME --set version=VERSION` a package on \
             PyPI",
            request.place()
        )
    };
    Ok(StarterMatrix {
        distribution: FLASH_ATTN.to_owned(),
        matrix: flash_attn_matrix(compat).map_err(|error| starter_fault(&error))?,
        recipe: None,
        why,
    })
}

/// Returns the matrix file for the newest flash-attn whose Triton kernels can be imported with a
/// torch that has wheels.
///
/// # Errors
/// If the compatibility data has no such flash-attn.
pub(super) fn flash_attn_matrix(compat: &Compat) -> Result<String, StarterError> {
    let package = "flash-attn";
    let rows = compat
        .tables()
        .packages
        .iter()
        .rev()
        .filter(|row| row.package == package && row.commit_families.is_empty());
    let with_triton = rows.filter(|row| row.backends.iter().any(|backend| backend == "triton"));
    let versions = with_triton.flat_map(|row| row.same.iter().rev().chain([&row.version]));
    let candidates = versions.filter_map(|text| text.parse::<PackageVersion>().ok());
    let fits = |version: &PackageVersion, values: &StarterValues| {
        let Ok(torch) = values.torch.parse::<Version>() else {
            return false;
        };
        let question = ImportQuery {
            package,
            version,
            backend: "triton",
            torch: &torch,
        };
        compat.import_requirements(question).next().is_some()
            && matches!(compat.import_support(question), Support::Supported { .. })
    };
    let (version, values) = candidates
        .cartesian_product(pairs(compat, None, &[]).collect::<Vec<_>>())
        .find(|(version, values)| fits(version, values))
        .ok_or(StarterError::NoFlashAttn)?;
    let view = FlashAttnView {
        version: version.to_string(),
        values,
    };
    Ok(render(
        "flash-attn.yaml",
        include_str!("../../templates/starter/flash-attn.yaml"),
        &view,
    )?)
}
