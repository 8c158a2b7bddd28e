//! The container image of a cell.

use super::naming::CellValues;
use crate::config::{MatrixConfig, MissingImage, Platform, PythonFrom, TorchFrom};
use rock_compat::Compat;

/// The image reference, or why there is none; a note may come with an image too.
///
/// An exact tag of the matrix file wins; else the table's tag for these versions; else, with
/// `missing: builder`, an image with this ROCm and an old glibc.
pub(super) fn choose(
    config: &MatrixConfig,
    compat: &Compat,
    words: &CellValues<'_>,
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
    let Some(rocm) = words.rocm else {
        return (
            None,
            Some("no image: the cell names no ROCm version".into()),
        );
    };
    let python = words
        .python
        .filter(|_| config.python_from == PythonFrom::Image);
    match compat.image(&config.image.repository, rocm, words.torch, python) {
        Ok(image) => (Some(image), None),
        // A builder image has no torch, and the Pythons it has are its own.
        Err(miss)
            if config.image.missing == MissingImage::Builder
                && config.torch_from != TorchFrom::Image
                && config.python_from != PythonFrom::Image =>
        {
            match compat.builder(rocm) {
                Some(image) => {
                    let note = format!("{miss}; it is built in {image}");
                    (Some(image), Some(note))
                }
                None => (None, Some(miss.to_string())),
            }
        }
        Err(miss) => (None, Some(miss.to_string())),
    }
}
