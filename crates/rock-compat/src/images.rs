//! Container images.
//!
//! **Invariant:** image tags are looked up in the table and parsed, never computed.

use std::collections::BTreeMap;

use itertools::Itertools as _;

use super::Compat;
use super::rows::{BuilderRow, ImageRow};
use rock_names::{PythonVersion, RocmVersion, Version};

/// The versions in an image tag, `rocm<R>_ubuntu<U>_py<P>_pytorch_release_<T>` or one of two older
/// forms.
#[derive(Debug, Clone)]
pub(super) struct TagContents {
    rocm: RocmVersion,
    ubuntu: String,
    torch: Version,
    python: PythonVersion,
}

/// A tag of the table `images` with the versions in it.
#[derive(Debug, Clone, Copy)]
pub struct ImageTag<'a> {
    /// The row of the tag.
    pub row: &'a ImageRow,
    /// The ROCm version.
    pub rocm: &'a RocmVersion,
    /// The Ubuntu release, `22.04`.
    pub ubuntu: &'a str,
    /// The torch version.
    pub torch: &'a Version,
    /// The Python version.
    pub python: PythonVersion,
}

/// Parses the tags of rows; returns indexes of rows, without tags of another form, such as `latest`.
pub(super) fn parse_tags(rows: &[ImageRow]) -> Vec<(usize, TagContents)> {
    rows.iter()
        .enumerate()
        .filter_map(|(number, row)| Some((number, parse_tag(&row.tag)?)))
        .collect()
}

/// Returns the indexes of the images of each torch version.
pub(super) fn indexes_by_torch(images: &[(usize, TagContents)]) -> BTreeMap<Version, Vec<usize>> {
    let mut indexes: BTreeMap<Version, Vec<usize>> = BTreeMap::new();
    for (index, (_, holds)) in images.iter().enumerate() {
        indexes.entry(holds.torch.clone()).or_default().push(index);
    }
    indexes
}

fn parse_tag(tag: &str) -> Option<TagContents> {
    let parts: Vec<&str> = tag.split('_').collect();
    let ([rocm, ubuntu, python, torch]
    | [rocm, ubuntu, python, "pytorch", torch]
    | [rocm, ubuntu, python, "pytorch", "release", torch]) = parts[..]
    else {
        return None;
    };
    Some(TagContents {
        rocm: rocm.strip_prefix("rocm")?.parse().ok()?,
        ubuntu: ubuntu
            .strip_prefix("ubuntu")
            .filter(|release| !release.is_empty())?
            .to_owned(),
        torch: torch.parse().ok()?,
        python: python.strip_prefix("py")?.parse().ok()?,
    })
}

impl ImageTag<'_> {
    /// Returns whether the image has a ROCm version, compared as text: `7.11.0` is not `7.11`.
    pub fn has_rocm(&self, rocm: &RocmVersion) -> bool {
        self.rocm.as_str() == rocm.as_str()
    }

    /// Returns whether the image has a ROCm version, and a torch and Python version if given.
    pub fn has(
        &self,
        rocm: &RocmVersion,
        torch: Option<&Version>,
        python: Option<PythonVersion>,
    ) -> bool {
        self.has_rocm(rocm) && self.has_torch(torch, python)
    }

    /// Returns whether the image has a torch and Python version, if given.
    fn has_torch(&self, torch: Option<&Version>, python: Option<PythonVersion>) -> bool {
        torch.is_none_or(|torch| self.torch == torch)
            && python.is_none_or(|python| self.python == python)
    }

    /// Returns the image reference, with the digest if it is known.
    fn reference(&self, repository: &str) -> String {
        let tag = format!("{repository}:{}", self.row.tag);
        if self.row.digest.is_empty() {
            tag
        } else {
            format!("{tag}@{}", self.row.digest)
        }
    }
}

/// The repository of images with torch, unless a matrix file names another.
pub(super) const TORCH_REPOSITORY: &str = "rocm/pytorch";

/// The registry of image names without one. References for Podman name it, because Debian's
/// Podman has no default registry.
const DOCKER_HUB: &str = "docker.io/";

pub(super) fn without_docker_hub(name: &str) -> &str {
    name.strip_prefix(DOCKER_HUB).unwrap_or(name)
}

/// No image has the wanted versions.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no {repository} image for {wanted}; {}", self.alternatives())]
pub struct ImageNotFoundError {
    /// The repository, without Docker Hub's registry.
    pub repository: String,
    /// The wanted versions in words, `ROCm 6.2 with torch 2.5.1`.
    pub wanted: String,
    /// The nearest tags of the repository, at most three.
    pub nearest: Vec<String>,
}

impl ImageNotFoundError {
    fn alternatives(&self) -> String {
        if self.nearest.is_empty() {
            "the table has no tags of this repository".to_owned()
        } else {
            format!("nearest: {}", self.nearest.join(", "))
        }
    }
}

impl Compat {
    /// Returns the images of a repository, without tags that name no versions. A repository without
    /// a registry is on Docker Hub.
    pub fn images(&self, repository: &str) -> impl Iterator<Item = ImageTag<'_>> {
        let repository = without_docker_hub(repository);
        self.all_images()
            .filter(move |image| image.row.repository == repository)
    }

    fn all_images(&self) -> impl Iterator<Item = ImageTag<'_>> {
        let images = self.parsed().images.iter();
        images.map(|(number, contents)| self.image_tag(*number, contents))
    }

    fn image_tag<'a>(&'a self, row: usize, contents: &'a TagContents) -> ImageTag<'a> {
        ImageTag {
            row: &self.tables().images[row],
            rocm: &contents.rocm,
            ubuntu: &contents.ubuntu,
            torch: &contents.torch,
            python: contents.python,
        }
    }

    /// Returns the reference of the image with these versions, with its digest if it is known.
    /// `python` is given if the image's own Python is used.
    ///
    /// # Errors
    /// No tag in the table has these versions.
    pub fn image(
        &self,
        repository: &str,
        rocm: &RocmVersion,
        torch: Option<&Version>,
        python: Option<PythonVersion>,
    ) -> Result<String, ImageNotFoundError> {
        if let Some(image) = self
            .images(repository)
            .find(|image| image.has(rocm, torch, python))
        {
            return Ok(image.reference(repository));
        }
        let mut wanted = format!("ROCm {rocm}");
        if let Some(torch) = torch {
            wanted.push_str(&format!(" with torch {torch}"));
        }
        if let Some(python) = python {
            wanted.push_str(&format!(" and Python {python}"));
        }
        let near = self.nearest_tags(repository, rocm, torch, python);
        Err(ImageNotFoundError {
            repository: without_docker_hub(repository).to_owned(),
            wanted,
            nearest: near,
        })
    }

    /// Returns a builder image with a ROCm version and an old glibc, for portable wheels. An image
    /// for a minor version is used for its patch versions.
    pub fn builder(&self, rocm: &RocmVersion) -> Option<String> {
        let builders = &self.tables().builders;
        let named = |wanted: &RocmVersion| {
            let row = builders
                .iter()
                .find(|row| row.rocm.iter().any(|listed| listed == wanted.as_str()))?;
            Some(row.image.replace("{rocm}", wanted.as_str()))
        };
        let of_any = || builders.iter().find(|row| row.rocm.is_empty());
        named(rocm)
            .or_else(|| named(&rocm.minor()))
            .or_else(|| of_any().map(|row| row.image.replace("{rocm}", rocm.as_str())))
    }

    /// Returns the glibc version of an image, from the Ubuntu release in its tag, the base of a
    /// builder image, or the name of a manylinux image.
    pub fn glibc_of_image(&self, reference: &str) -> Option<Version> {
        let name = without_docker_hub(reference.split('@').next().unwrap_or_default());
        let last = name.rsplit('/').next().unwrap_or_default();
        let tag = last.split_once(':').map(|(_, tag)| tag).unwrap_or_default();
        let is_of = |row: &BuilderRow| match without_docker_hub(&row.image).split_once("{rocm}") {
            Some((before, after)) => name.starts_with(before) && name.ends_with(after),
            None => name == without_docker_hub(&row.image),
        };
        let builder = || {
            self.tables()
                .builders
                .iter()
                .find(|row| is_of(row))
                .map(|row| row.base.clone())
        };
        let base = parse_tag(tag)
            .map(|holds| format!("ubuntu {}", holds.ubuntu))
            .or_else(builder);
        let is_host = |host: &str| {
            base.as_deref() == Some(host) || (!host.contains(' ') && last.starts_with(host))
        };
        let row = self
            .tables()
            .libc
            .iter()
            .find(|row| row.host.split(" / ").any(is_host))?;
        row.glibc.parse().ok()
    }

    /// Returns the image with this torch, and this Python version if it is given, whose ROCm version
    /// is nearest to the wanted one and known to the compatibility data: a matrix with this ROCm
    /// version passes [`Self::torch_image_support`].
    pub(super) fn nearest_image(
        &self,
        repository: &str,
        torch: &Version,
        rocm: &RocmVersion,
        python: Option<PythonVersion>,
    ) -> Option<ImageTag<'_>> {
        let wanted = rocm.parts();
        let repository = without_docker_hub(repository);
        let parsed = self.parsed();
        let of_torch = parsed.images_of_torch.get(torch).into_iter().flatten();
        of_torch
            .map(|&index| {
                let (row, contents) = &parsed.images[index];
                self.image_tag(*row, contents)
            })
            .filter(|image| {
                image.row.repository == repository
                    && python.is_none_or(|python| image.python == python)
                    && self.has_rocm(image.rocm)
            })
            .min_by_key(|image| {
                let [major, minor, patch, _] = image.rocm.parts();
                (
                    major.abs_diff(wanted[0]),
                    minor.abs_diff(wanted[1]),
                    !image.has_rocm(rocm),
                    patch.abs_diff(wanted[2]),
                )
            })
    }

    /// Returns the three tags that are nearest to the wanted versions.
    pub(super) fn nearest_tags(
        &self,
        repository: &str,
        rocm: &RocmVersion,
        torch: Option<&Version>,
        python: Option<PythonVersion>,
    ) -> Vec<String> {
        let wanted = rocm.parts();
        let minor_of_torch = torch.map(|torch| torch.release().get(..2));
        let distance = |image: &ImageTag<'_>| {
            let [major, minor, patch, _] = image.rocm.parts();
            let has_other_torch =
                minor_of_torch.is_some_and(|wanted| image.torch.release().get(..2) != wanted);
            let has_other_python = python.is_some_and(|python| image.python != python);
            (
                major.abs_diff(wanted[0]),
                minor.abs_diff(wanted[1]),
                has_other_torch,
                has_other_python,
                patch.abs_diff(wanted[2]),
            )
        };
        let images: Vec<ImageTag<'_>> = self.images(repository).collect();
        let distances = images.iter().map(distance);
        distances
            .zip(0..)
            .k_smallest(3)
            .map(|(_, number): (_, usize)| images[number].row.tag.clone())
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::parse_tag;
    use crate::Compat;

    /// The answer for ROCm, torch and Python (`-` for one that is not asked for), without the
    /// repository.
    fn look(rocm: &str, torch: &str, python: &str) -> Result<String, String> {
        let torch = (torch != "-").then(|| torch.parse().unwrap());
        let python = (python != "-").then(|| python.parse().unwrap());
        let found = Compat::embedded().image(
            "rocm/pytorch",
            &rocm.parse().unwrap(),
            torch.as_ref(),
            python,
        );
        found
            .map(|reference| reference.trim_start_matches("rocm/pytorch:").to_owned())
            .map_err(|error| error.to_string())
    }

    fn hit(versions: (&str, &str, &str), tag: &str) {
        assert_eq!(
            look(versions.0, versions.1, versions.2).as_deref(),
            Ok(tag),
            "{versions:?}"
        );
    }

    fn miss(versions: (&str, &str, &str), wanted: &str, nearest: &str) {
        let error = look(versions.0, versions.1, versions.2).unwrap_err();
        assert!(
            error.starts_with(&format!(
                "no rocm/pytorch image for {wanted}; nearest: {nearest}"
            )),
            "{error}"
        );
    }

    #[test]
    fn an_image_keeps_the_registry_of_its_repository() {
        let image = |repository: &str| {
            Compat::embedded()
                .image(repository, &"6.2".parse().unwrap(), None, None)
                .unwrap()
        };
        let tag = image("rocm/pytorch")
            .trim_start_matches("rocm/pytorch:")
            .to_owned();
        assert_eq!(
            image("docker.io/rocm/pytorch"),
            format!("docker.io/rocm/pytorch:{tag}")
        );
        let builder = Compat::embedded().builder(&"6.2".parse().unwrap()).unwrap();
        assert!(builder.starts_with("docker.io/"), "{builder}");
    }

    #[test]
    fn images_are_found_or_the_nearest_tags_named() {
        assert_eq!(Compat::embedded().images("rocm/pytorch").count(), 41);
        hit(
            ("7.1.1", "2.9.1", "3.12"),
            "rocm7.1.1_ubuntu24.04_py3.12_pytorch_release_2.9.1",
        );
        hit(
            ("7.1.1", "2.10.0", "-"),
            "rocm7.1.1_ubuntu24.04_py3.12_pytorch_release_2.10.0",
        );
        hit(
            ("7.2", "2.9.1", "3.10"),
            "rocm7.2_ubuntu22.04_py3.10_pytorch_release_2.9.1",
        );
        hit(
            ("7.2", "2.10.0", "3.13"),
            "rocm7.2_ubuntu24.04_py3.13_pytorch_release_2.10.0",
        );
        hit(("6.0", "-", "-"), "rocm6.0_ubuntu22.04_py3.9_pytorch_2.0.1");
        hit(
            ("7.11.0", "2.11.0", "3.12"),
            "rocm7.11.0_ubuntu24.04_py3.12_pytorch_release_2.11.0",
        );
        hit(
            ("10.0", "2.13.0", "3.14"),
            "rocm10.0_ubuntu26.04_py3.14_pytorch_release_2.13.0@sha256:3174cb7061d94c427da96c0edef4adea28046fa3f3b2ff3948dc4e995665ff8c",
        );
        hit(
            ("10.0", "2.13.0", "3.12"),
            "rocm10.0_ubuntu24.04_py3.12_pytorch_release_2.13.0@sha256:bbdaba66029f905321be3bbc95206a2d9a56a2bc5300877d146ad24d40db9a12",
        );
        hit(
            ("10.1.0", "2.14.0", "3.12"),
            "rocm10.1.0_ubuntu24.04_py3.12_pytorch_release_2.14.0",
        );
        hit(
            ("7.14", "2.12.0", "3.12"),
            "rocm7.14_ubuntu24.04_py3.12_pytorch_release_2.12.0@sha256:c38eeda81d85f00fbe35d3d50ce42ce59c524e87d810624f4eb5c52fddb3b9ad",
        );
        miss(
            ("7.1", "2.9.1", "3.12"),
            "ROCm 7.1 with torch 2.9.1 and Python 3.12",
            "rocm7.1.1_ubuntu24.04_py3.12_pytorch_release_2.9.1",
        );
        miss(
            ("7.2", "2.9.1", "3.11"),
            "ROCm 7.2 with torch 2.9.1 and Python 3.11",
            "rocm7.2_ubuntu22.04_py3.10_pytorch_release_2.9.1",
        );
        miss(
            ("6.2", "2.5.1", "-"),
            "ROCm 6.2 with torch 2.5.1",
            "rocm6.2_ubuntu20.04_py3.9_pytorch_release_2.3.0",
        );
        miss(
            ("7.11", "2.11.0", "3.12"),
            "ROCm 7.11 with torch 2.11.0 and Python 3.12",
            "rocm7.11.0_ubuntu24.04_py3.12_pytorch_release_2.11.0",
        );
    }

    #[test]
    fn tags_are_parsed_and_keep_the_text_of_the_rocm_version() {
        let rocm = |tag: &str| parse_tag(tag).map(|holds| holds.rocm.as_str().to_owned());
        for version in ["7.11.0", "7.14", "10.0", "6.2.3"] {
            let tag = format!("rocm{version}_ubuntu24.04_py3.12_pytorch_release_2.11.0");
            assert_eq!(rocm(&tag).as_deref(), Some(version));
        }
        assert!(
            look("7.11", "2.11.0", "-").is_err(),
            "rocm7.11 is not rocm7.11.0"
        );
        assert!(
            look("10.1", "2.14.0", "-").is_err(),
            "rocm10.1 is not rocm10.1.0"
        );
        assert_eq!(
            rocm("rocm6.0_ubuntu22.04_py3.9_pytorch_2.0.1").as_deref(),
            Some("6.0")
        );
        assert_eq!(
            rocm("rocm5.7_ubuntu22.04_py3.10_2.0.1").as_deref(),
            Some("5.7")
        );
        for other in [
            "latest",
            "rocm7.2_ubuntu24.04_py3.12_tensorflow_2.1",
            "rocm7.2_ubuntu24.04_py3.12",
            "rocm_ubuntu_py_2",
        ] {
            assert_eq!(rocm(other), None, "{other}");
        }
    }

    #[test]
    fn the_glibc_of_an_image_is_that_of_its_base() {
        let glibc = |image: &str| {
            Compat::embedded()
                .glibc_of_image(image)
                .map(|glibc| glibc.to_string())
        };
        let of_tag = "rocm/pytorch:rocm6.4.2_ubuntu22.04_py3.10_pytorch_release_2.5.1@sha256:00";
        assert_eq!(glibc(of_tag).as_deref(), Some("2.35"));
        assert_eq!(
            glibc("example.org/mirror/pytorch:rocm7.2_ubuntu24.04_py3.12_pytorch_release_2.9.1")
                .as_deref(),
            Some("2.39")
        );
        assert_eq!(
            glibc("docker.io/pytorch/manylinux2_28-builder:rocm7.1").as_deref(),
            Some("2.28")
        );
        assert_eq!(
            glibc("rocm/dev-almalinux-8:6.2-complete").as_deref(),
            Some("2.28")
        );
        assert_eq!(
            glibc("quay.io/pypa/manylinux_2_34_x86_64:2026.11.01-1").as_deref(),
            Some("2.34")
        );
        assert_eq!(
            glibc("rocm/pytorch:rocm10.0_ubuntu26.04_py3.14_pytorch_release_2.13.0"),
            None
        );
        assert_eq!(glibc("mine:latest"), None);
    }

    #[test]
    fn a_builder_image_has_the_same_rocm_version() {
        let builder = |rocm: &str| Compat::embedded().builder(&rocm.parse().unwrap());
        assert_eq!(
            builder("6.2.4").as_deref(),
            Some("docker.io/pytorch/manylinux2_28-builder:rocm6.2.4")
        );
        assert_eq!(
            builder("6.2").as_deref(),
            Some("docker.io/rocm/dev-almalinux-8:6.2-complete")
        );
        assert_eq!(
            builder("7.1.1").as_deref(),
            Some("docker.io/pytorch/manylinux2_28-builder:rocm7.1")
        );
        assert_eq!(builder("10.1"), None);
    }
}
