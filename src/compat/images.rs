//! Container images: tags are looked up and parsed, never computed.

use super::Compat;
use super::rows::ImageRow;
use crate::names::{PythonVersion, RocmVersion, Version};

/// What an image tag says it holds: `rocm<R>_ubuntu<U>_py<P>_pytorch_release_<T>` and two older forms.
#[derive(Debug, Clone)]
pub(super) struct Holds {
    rocm: RocmVersion,
    torch: Version,
    python: PythonVersion,
}

/// A tag of the table with what it holds.
#[derive(Debug, Clone, Copy)]
pub struct ImageTag<'a> {
    /// The row.
    pub row: &'a ImageRow,
    /// The ROCm inside.
    pub rocm: &'a RocmVersion,
    /// The torch inside.
    pub torch: &'a Version,
    /// The one Python inside.
    pub python: PythonVersion,
}

/// Parses every tag; those of another form, such as `latest`, say nothing and are left out.
pub(super) fn parse_all(rows: &[ImageRow]) -> Vec<(usize, Holds)> {
    let parse = |row: &ImageRow| {
        let mut parts = row.tag.split('_');
        let rocm = parts.next()?.strip_prefix("rocm")?.parse().ok()?;
        parts.next()?.strip_prefix("ubuntu")?;
        let python = parts.next()?.strip_prefix("py")?.parse().ok()?;
        let torch = parts.next_back()?.parse().ok()?;
        Some(Holds { rocm, torch, python })
    };
    rows.iter().enumerate().filter_map(|(number, row)| Some((number, parse(row)?))).collect()
}

impl ImageTag<'_> {
    /// The reference: with the digest where one is known.
    pub fn reference(&self) -> String {
        let tag = format!("{}:{}", self.row.repository, self.row.tag);
        if self.row.digest.is_empty() { tag } else { format!("{tag}@{}", self.row.digest) }
    }
}

impl Compat {
    /// The images of a repository whose tags say what they hold.
    pub fn images(&self, repository: &str) -> impl Iterator<Item = ImageTag<'_>> {
        self.all_images().filter(move |image| image.row.repository == repository)
    }

    fn all_images(&self) -> impl Iterator<Item = ImageTag<'_>> {
        self.parsed().images.iter().map(|(number, holds)| ImageTag {
            row: &self.tables().images[*number],
            rocm: &holds.rocm,
            torch: &holds.torch,
            python: holds.python,
        })
    }

    /// The image of this repository for these versions, with its digest where known. `python` is given where the
    /// image's own Python is used; torch and ROCm must be the tag's in any case.
    ///
    /// # Errors
    /// One line for people when the table has no such tag, with the nearest tags.
    pub fn image(
        &self,
        repository: &str,
        rocm: &RocmVersion,
        torch: Option<&Version>,
        python: Option<PythonVersion>,
    ) -> Result<String, String> {
        let fits = |image: &ImageTag<'_>| {
            image.rocm == rocm
                && torch.is_none_or(|torch| image.torch == torch)
                && python.is_none_or(|python| image.python == python)
        };
        if let Some(image) = self.images(repository).find(fits) {
            return Ok(image.reference());
        }
        let mut wanted = format!("ROCm {rocm}");
        if let Some(torch) = torch {
            wanted.push_str(&format!(" with torch {torch}"));
        }
        if let Some(python) = python {
            wanted.push_str(&format!(" and Python {python}"));
        }
        let near = self.nearest_tags(repository, rocm, torch, python);
        let near = if near.is_empty() {
            "the table has no tags of it".to_owned()
        } else {
            format!("nearest: {}", near.join(", "))
        };
        Err(format!("no {repository} image for {wanted}; {near}"))
    }

    /// An image with this ROCm and an old glibc.
    pub fn builder(&self, rocm: &RocmVersion) -> Option<String> {
        let serves = |listed: &String| listed.parse::<RocmVersion>().is_ok_and(|l| l == *rocm || l == rocm.minor());
        let row = self.tables().builders.iter().find(|row| row.rocm.is_empty() || row.rocm.iter().any(serves))?;
        let version = row.rocm.iter().find(|listed| serves(listed)).map_or(rocm.as_str(), String::as_str);
        Some(row.image.replace("{rocm}", version))
    }

    /// Whether an image of any repository carries this torch with this ROCm or a patch of it.
    pub(super) fn torch_is_in_an_image(&self, torch: &Version, rocm: &RocmVersion) -> bool {
        self.all_images().any(|image| image.torch == torch && image.rocm.minor() == rocm.minor())
    }

    /// The three tags nearest to the wanted versions.
    pub(super) fn nearest_tags(
        &self,
        repository: &str,
        rocm: &RocmVersion,
        torch: Option<&Version>,
        python: Option<PythonVersion>,
    ) -> Vec<String> {
        let distance = |image: &ImageTag<'_>| {
            let ([major, minor, patch, _], wanted) = (image.rocm.parts(), rocm.parts());
            let other_torch = torch.is_some_and(|torch| image.torch.release().get(..2) != torch.release().get(..2));
            let other_python = python.is_some_and(|python| image.python != python);
            (major.abs_diff(wanted[0]), minor.abs_diff(wanted[1]), other_torch, other_python, patch.abs_diff(wanted[2]))
        };
        let mut images: Vec<ImageTag<'_>> = self.images(repository).collect();
        images.sort_by_cached_key(distance);
        images.into_iter().take(3).map(|image| image.row.tag.clone()).collect()
    }
}
