//! Selects the container image of a cell.

use super::naming::CellValues;
use crate::config::{MatrixConfig, MissingImage, Platform, PythonFrom, TorchFrom};
use rock_compat::Compat;

/// Returns the image reference, and a note if there is none or a fallback is used.
///
/// An exact tag in the matrix file wins, then the tag in the compatibility data for these versions,
/// then, with `missing: builder`, an image with this ROCm version and an old glibc.
pub(super) fn choose(
    config: &MatrixConfig,
    compat: &Compat,
    values: &CellValues<'_>,
) -> (Option<String>, Option<String>) {
    if config.platform == Platform::Windows {
        return (None, None);
    }
    if !config.image.tag.is_empty() {
        return (
            Some(format!("{}:{}", config.image.repository, config.image.tag)),
            None,
        );
    }
    if config.torch_from == TorchFrom::Host {
        return (None, None);
    }
    let Some(rocm) = values.rocm else {
        return (None, Some("no image: the cell has no ROCm version".into()));
    };
    let python = values
        .python
        .filter(|_| config.python_from == PythonFrom::Image);
    match compat.image(&config.image.repository, rocm, values.torch, python) {
        Ok(image) => (Some(image), None),
        // A builder image has no torch and only its own Python versions.
        Err(miss)
            if config.image.missing == MissingImage::Builder
                && config.torch_from != TorchFrom::Image
                && config.python_from != PythonFrom::Image =>
        {
            match compat.builder(rocm) {
                Some(image) => {
                    let note = format!("{miss}; built in {image}");
                    (Some(image), Some(note))
                }
                None => (None, Some(miss.to_string())),
            }
        }
        Err(miss) => (None, Some(miss.to_string())),
    }
}
