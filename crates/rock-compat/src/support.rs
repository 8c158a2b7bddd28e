//! Support: whether a combination of versions works, and why.

use super::compat::join_with_and;
use super::images::{TORCH_REPOSITORY, without_docker_hub};
use super::{Compat, Hint, TorchSource, ValueChange};
use rock_names::{PackageVersion, PythonVersion, RocmVersion, TorchBuild, Version};

/// Whether a combination of versions is supported, with the row that says so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Support {
    /// A row lists the combination, or no row restricts it.
    Supported {
        /// File, row and date: `compat/torch.yaml, torch 2.6, checked 2026-11-21`; empty without a
        /// row.
        source: String,
    },
    /// A row rules the combination out.
    Unsupported(SupportReason),
    /// No row covers the combination.
    Unknown(SupportReason),
}

/// The reason why a combination is unsupported or unknown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SupportReason {
    /// One line: `torch 2.6.0 has ROCm wheels for 6.1 and 6.2.4, not 6.2`.
    pub reason: String,
    /// The nearest alternative, `use ROCm 6.2.4`, if there is one.
    pub hint: Option<Hint>,
    /// File, row and date; empty without a row.
    pub source: String,
}

impl Support {
    /// Returns whether a row rules the combination out.
    pub fn is_unsupported(&self) -> bool {
        matches!(self, Self::Unsupported(_))
    }
}

impl SupportReason {
    /// Returns the hint as text; empty if there is none.
    pub fn hint_text(&self) -> String {
        self.hint
            .as_ref()
            .map(ToString::to_string)
            .unwrap_or_default()
    }
}

/// Returns the answer for a torch version whose local version label names another accelerator than
/// ROCm, `2.9.0+cu128`; `None` for other versions.
pub(super) fn foreign_torch_support(torch: &Version) -> Option<Support> {
    let accelerator = match TorchBuild::of(torch)? {
        TorchBuild::Rocm(_) => return None,
        TorchBuild::Cuda => "CUDA",
        TorchBuild::Cpu => "the CPU",
        TorchBuild::Xpu => "Intel GPUs",
    };
    let change = ValueChange {
        torch: Some(torch.public()),
        ..ValueChange::default()
    };
    Some(Support::Unsupported(SupportReason {
        reason: format!("torch {torch} is built for {accelerator}, not for ROCm"),
        hint: Some(change.into()),
        source: String::new(),
    }))
}

impl Compat {
    /// Returns whether an official index has wheels of a torch version for a ROCm version. The index
    /// of a minor version (`7.1`) is used for its patch versions (`7.1.1`), except those with an
    /// index (`6.2.4`). A torch version that is built for another accelerator is unsupported.
    pub fn torch_rocm_support(&self, torch: &Version, rocm: &RocmVersion) -> Support {
        self.torch_index_support(TORCH_REPOSITORY, torch, rocm)
    }

    /// Returns the answer of [`Self::torch_rocm_support`], with a hint about images of a repository.
    pub fn torch_index_support(
        &self,
        repository: &str,
        torch: &Version,
        rocm: &RocmVersion,
    ) -> Support {
        if let Some(support) = foreign_torch_support(torch) {
            return support;
        }
        let Some(row) = self.torch(torch) else {
            return self.unknown_torch(torch);
        };
        let parsed = &self.parsed().torch_rocm;
        let number = self
            .core
            .torch
            .iter()
            .position(|other| std::ptr::eq(other, row));
        let listed = number.map_or(&[][..], |number| &parsed[number]);
        let has_its_own = parsed.iter().flatten().any(|index| index == rocm);
        let minor = rocm.minor();
        let serves = |index: &RocmVersion| index == rocm || (!has_its_own && *index == minor);
        if !has_its_own && !self.has_rocm(rocm) {
            return self.unknown_rocm(rocm);
        }
        if listed.iter().any(serves) {
            return Support::Supported {
                source: self.cite("torch.yaml", &["torch ", &row.torch].concat(), &row.origin),
            };
        }
        Support::Unsupported(SupportReason {
            reason: format!(
                "torch {torch} has wheels for ROCm {}, not {rocm}",
                join_with_and(&row.rocm_index)
            ),
            hint: nearest_rocm(listed, rocm).map(|near| Hint::Change {
                change: ValueChange {
                    rocm: vec![near.clone()],
                    ..ValueChange::default()
                },
                torch_source: self.other_source_of_torch(repository, torch, rocm),
            }),
            source: self.cite("torch.yaml", &["torch ", &row.torch].concat(), &row.origin),
        })
    }

    /// Returns another source of torch: images with this torch and ROCm version or a patch version
    /// of it, otherwise AMD's index.
    pub(super) fn other_source_of_torch(
        &self,
        repository: &str,
        torch: &Version,
        rocm: &RocmVersion,
    ) -> Option<TorchSource> {
        match self.nearest_image(repository, torch, rocm, None) {
            Some(image) if image.has_rocm(rocm) => Some(TorchSource::Image),
            Some(image) if image.rocm.has_same_minor(rocm) => {
                Some(TorchSource::ImageForPatch(image.rocm.clone()))
            }
            _ => self
                .torch_index("amd-index", torch, rocm)
                .map(|_| TorchSource::AmdIndex),
        }
    }

    /// Returns whether a torch version has wheels for a Python version; free-threaded Pythons have a
    /// column of their own.
    pub fn torch_python_support(&self, torch: &Version, python: PythonVersion) -> Support {
        let Some(row) = self.torch(torch) else {
            return self.unknown_torch(torch);
        };
        let listed = if python.is_free_threaded() {
            &row.free_threaded
        } else {
            &row.python
        };
        let source = self.cite("torch.yaml", &["torch ", &row.torch].concat(), &row.origin);
        if listed.iter().any(|text| {
            text.parse::<PythonVersion>()
                .is_ok_and(|known| known == python)
        }) {
            return Support::Supported { source };
        }
        let known: Vec<PythonVersion> =
            listed.iter().filter_map(|text| text.parse().ok()).collect();
        let hint = match (known.first(), known.last()) {
            (Some(first), Some(last)) => Hint::from(ValueChange {
                python: Some([*first, *last]),
                ..ValueChange::default()
            }),
            _ => Hint::Advice(format!(
                "use a Python with the GIL: {} to {}",
                row.python[0],
                row.python[row.python.len() - 1]
            )),
        };
        let which = if listed.is_empty() {
            "no free-threaded Python".to_owned()
        } else {
            format!("Python {}", join_with_and(listed))
        };
        Support::Unsupported(SupportReason {
            reason: format!("torch {torch} has wheels for {which}, not {python}"),
            hint: Some(hint),
            source,
        })
    }

    /// Returns whether an image of a repository has these torch and ROCm versions, and this Python
    /// version if the image's own is used.
    pub fn torch_image_support(
        &self,
        repository: &str,
        torch: &Version,
        rocm: &RocmVersion,
        python: Option<PythonVersion>,
    ) -> Support {
        if !self.has_rocm(rocm) {
            return self.unknown_rocm(rocm);
        }
        match self
            .images(repository)
            .find(|image| image.has(rocm, Some(torch), python))
        {
            Some(image) => Support::Supported {
                source: format!("images.yaml, tag {}", image.row.tag),
            },
            None => {
                let hint = match self.nearest_image(repository, torch, rocm, python) {
                    Some(image) => format!(
                        "write `rocm: [\"{}\"]`: the image {} has this torch",
                        image.rocm, image.row.tag
                    ),
                    None => {
                        let near = self.nearest_tags(repository, rocm, Some(torch), python);
                        format!("the nearest tags are {}", near.join(", "))
                    }
                };
                let and_python = python
                    .map(|python| format!(" and Python {python}"))
                    .unwrap_or_default();
                Support::Unsupported(SupportReason {
                    reason: format!(
                        "no image of {} contains torch {torch} with ROCm {rocm}{and_python}",
                        without_docker_hub(repository)
                    ),
                    hint: Some(hint.into()),
                    source: "images.yaml".to_owned(),
                })
            }
        }
    }

    /// Returns whether a package version has a backend. A version without a row is unknown, a family
    /// that cannot be built for AMD GPUs is unsupported, and a package without rows is supported.
    pub fn package_backend_support(
        &self,
        package: &str,
        version: &PackageVersion,
        backend: &str,
    ) -> Support {
        if !self.has_package(package) {
            return Support::Supported {
                source: String::new(),
            };
        }
        let file = format!("{package}.yaml");
        if let PackageVersion::Commit { family, .. } = version
            && let Some(row) = self
                .core
                .absent_families
                .iter()
                .find(|r| r.package == package && r.family == *family)
        {
            return Support::Unsupported(SupportReason {
                reason: format!("{version}: {}", row.reason),
                hint: None,
                source: self.cite(&file, &row.family, &row.origin),
            });
        }
        let Some(row) = self.package(package, version) else {
            return self.unknown_package(package, version);
        };
        let source = self.cite(&file, &format!("{package} {}", row.version), &row.origin);
        if row.backends.iter().any(|known| known == backend) {
            return Support::Supported { source };
        }
        let since = self.core.packages.iter().filter(|r| r.package == package);
        let first = since
            .filter(|r| r.backends.iter().any(|known| known == backend))
            .map(|r| r.version.as_str())
            .next();
        Support::Unsupported(SupportReason {
            reason: format!("{package} {version} has no {backend} backend"),
            hint: first.map(|first| format!("{backend} is available since {first}").into()),
            source,
        })
    }

    /// Returns whether a package version supports a Python version.
    pub fn package_python_support(
        &self,
        package: &str,
        version: &PackageVersion,
        python: PythonVersion,
    ) -> Support {
        let Some(row) = self.package(package, version) else {
            return self.unknown_package(package, version);
        };
        let source = self.cite(
            &format!("{package}.yaml"),
            &format!("{package} {}", row.version),
            &row.origin,
        );
        let least = row.python_min.parse::<PythonVersion>();
        let plain = python.plain().parse::<PythonVersion>();
        match (least, plain) {
            (Ok(least), Ok(plain)) if plain < least => Support::Unsupported(SupportReason {
                reason: format!("{package} {version} needs Python {least} or later, not {python}"),
                hint: Some(format!("use Python {least} or later").into()),
                source,
            }),
            _ => Support::Supported { source },
        }
    }

    pub(super) fn unknown_package(&self, package: &str, version: &PackageVersion) -> Support {
        Support::Unknown(SupportReason {
            reason: format!("the compatibility data does not cover {package} {version}"),
            hint: Some(Hint::Advice(format!(
                "known versions are {}",
                join_with_and(&self.known_versions(package))
            ))),
            source: String::new(),
        })
    }

    fn known_versions(&self, package: &str) -> Vec<String> {
        let rows = self
            .core
            .packages
            .iter()
            .filter(|row| row.package == package && row.is_released());
        rows.flat_map(|row| std::iter::once(&row.version).chain(&row.same))
            .cloned()
            .collect()
    }

    /// Returns whether the table `rocm` or `torch` has a ROCm version.
    pub(super) fn has_rocm(&self, rocm: &RocmVersion) -> bool {
        self.rocm_versions().contains(rocm)
    }

    fn unknown_rocm(&self, rocm: &RocmVersion) -> Support {
        let known = self.rocm_versions();
        let near = describe_known_rocm(known, rocm)
            .or_else(|| {
                Some(format!(
                    "the nearest known version is {}",
                    nearest_rocm(known, rocm)?
                ))
            })
            .map_or_else(String::new, |text| text + "; ");
        Support::Unknown(SupportReason {
            reason: format!("the compatibility data does not cover ROCm {rocm}"),
            hint: Some(Hint::Advice(format!(
                "{near}set `unknown: lenient`, or add it to the compatibility data as `rock-matrix \
                 compat refresh --help` explains"
            ))),
            source: String::new(),
        })
    }

    pub(super) fn unknown_torch(&self, torch: &Version) -> Support {
        let known: Vec<String> = self
            .core
            .torch
            .iter()
            .map(|row| row.torch.clone())
            .collect();
        Support::Unknown(SupportReason {
            reason: format!("the compatibility data does not cover torch {torch}"),
            hint: Some(Hint::Advice(format!(
                "known versions are {} to {}; `rock-matrix compat list torch` shows them; \
                 `unknown: lenient` in the matrix file builds with others",
                known.first().map_or("none", String::as_str),
                known.last().map_or("none", String::as_str)
            ))),
            source: String::new(),
        })
    }
}

/// Returns the newest of the sorted known versions in words if the wanted one is later, and their
/// range if none has the same major version: neither is a misspelled version.
pub(super) fn describe_known_rocm(known: &[RocmVersion], wanted: &RocmVersion) -> Option<String> {
    let (first, last) = (known.first()?, known.last()?);
    if last < wanted {
        return Some(format!("the newest known version is {last}"));
    }
    let has_major = known
        .iter()
        .any(|version| version.major() == wanted.major());
    (!has_major).then(|| format!("the known versions are {first} to {last}"))
}

/// Returns the listed version that is nearest to a wanted one: of its minor version, else of its
/// major version, else the last one before it, else the first one after it.
pub(super) fn nearest_rocm<'a>(
    listed: &'a [RocmVersion],
    wanted: &RocmVersion,
) -> Option<&'a RocmVersion> {
    let of_minor = listed.iter().find(|version| version.has_same_minor(wanted));
    let distance = |version: &&RocmVersion| {
        (
            version.parts()[1].abs_diff(wanted.parts()[1]),
            *version < wanted,
        )
    };
    let of_major = || {
        listed
            .iter()
            .filter(|version| version.major() == wanted.major())
            .min_by_key(distance)
    };
    let before = || listed.iter().filter(|version| *version < wanted).max();
    of_minor
        .or_else(of_major)
        .or_else(before)
        .or_else(|| listed.iter().min())
}

#[cfg(test)]
mod tests {
    use super::{Support, SupportReason};
    use crate::rows::CompatTables;
    use crate::{Compat, Hint};
    use rock_names::{PythonVersion, RocmVersion, Version};

    fn torch_rocm(torch: &str, rocm: &str) -> Support {
        Compat::embedded().torch_rocm_support(&torch.parse().unwrap(), &rocm.parse().unwrap())
    }

    #[track_caller]
    fn unsupported_reason(support: Support) -> SupportReason {
        match support {
            Support::Unsupported(reason) => reason,
            other => panic!("{other:?}"),
        }
    }

    /// Returns the text of the hint.
    #[track_caller]
    fn hint(support: Support) -> String {
        unsupported_reason(support).hint.unwrap().to_string()
    }

    fn is_supported(support: &Support) -> bool {
        matches!(support, Support::Supported { .. })
    }

    #[test]
    fn patch_versions_of_torch_share_a_row() {
        for rocm in ["6.4", "7.0", "7.1", "7.2", "7.14", "10.0"] {
            let answers =
                ["2.12.0", "2.12.1", "2.12.7"].map(|torch| is_supported(&torch_rocm(torch, rocm)));
            assert_eq!(answers, [["7.1", "7.2"].contains(&rocm); 3], "{rocm}");
        }
    }

    #[test]
    fn a_refused_pair_names_the_nearest_rocm_that_works() {
        let because = unsupported_reason(torch_rocm("2.6.0", "6.2"));
        assert_eq!(
            because.reason,
            "torch 2.6.0 has wheels for ROCm 6.1 and 6.2.4, not 6.2"
        );
        assert_eq!(
            because.source,
            "compat/torch.yaml, torch 2.6, checked 2026-11-21"
        );
        let near = |torch: &str, rocm: &str| match unsupported_reason(torch_rocm(torch, rocm)).hint
        {
            Some(Hint::Change { change, .. }) => change.rocm,
            other => panic!("{other:?}"),
        };
        for (torch, rocm, expect) in [
            ("2.6.0", "6.2", "6.2.4"),
            ("2.9.1", "7.2", "6.4"),
            // The first one after it.
            ("2.5.1", "5.7", "6.1"),
        ] {
            let expect: RocmVersion = expect.parse().unwrap();
            assert_eq!(near(torch, rocm), [expect], "{torch} {rocm}");
        }
    }

    #[test]
    fn torch_that_is_built_for_another_accelerator_is_unsupported() {
        for (torch, accelerator) in [
            ("2.8.0+cu128", "CUDA"),
            ("2.8.0+cpu", "the CPU"),
            ("2.99.0+xpu", "Intel GPUs"),
        ] {
            let because = unsupported_reason(torch_rocm(torch, "6.4"));
            let reason = format!("torch {torch} is built for {accelerator}, not for ROCm");
            assert_eq!(because.reason, reason);
        }
        assert_eq!(hint(torch_rocm("2.8.0+cu128", "6.4")), "use torch 2.8.0");
        assert!(is_supported(&torch_rocm("2.8.0+rocm6.4", "6.4")));
    }

    /// The ROCm version in a hint about images is one that the planner accepts.
    #[test]
    fn hints_about_images_name_rocm_versions_of_images() {
        let of_index = |torch: &str, rocm: &str| hint(torch_rocm(torch, rocm));
        let by_image = |torch: &str, rocm: &str| {
            Compat::embedded().torch_image_support(
                "docker.io/rocm/pytorch",
                &torch.parse().unwrap(),
                &rocm.parse().unwrap(),
                None,
            )
        };
        assert_eq!(
            of_index("2.8", "7.0"),
            "use ROCm 6.4, or `torch-from: image` with `rocm: [\"7.0.2\"]`: an image has both"
        );
        assert!(!is_supported(&by_image("2.8", "7.0")));
        assert!(is_supported(&by_image("2.8", "7.0.2")));
        assert_eq!(
            of_index("2.9.1", "7.2"),
            "use ROCm 6.4, or `torch-from: image`: an image has both"
        );
        assert!(is_supported(&by_image("2.9.1", "7.2")));
        assert_eq!(
            of_index("2.6.0", "6.2"),
            "use ROCm 6.2.4; AMD's index (`torch-from: amd-index`) may have both, but no table lists \
             its wheels"
        );
        assert_eq!(
            hint(by_image("2.6.0", "6.4")),
            "write `rocm: [\"6.4.1\"]`: the image rocm6.4.1_ubuntu22.04_py3.10_pytorch_release_2.6.0 \
             has this torch"
        );
        assert!(is_supported(&by_image("2.6.0", "6.4.1")));
    }

    #[test]
    fn the_index_of_a_minor_version_is_used_for_patch_versions() {
        assert!(is_supported(&torch_rocm("2.10.0", "7.1.1")));
        assert!(is_supported(&torch_rocm("2.6.0", "6.2.4")));
        assert!(
            !is_supported(&torch_rocm("2.5.1", "6.2.4")),
            "6.2.4 has its own index, and 2.5 is not in it"
        );
        assert!(
            !is_supported(&torch_rocm("2.14.0", "7.1.4")),
            "7.1.4 is not 7.14"
        );
    }

    #[test]
    fn flash_attn_has_triton_since_2_7() {
        let compat = Compat::embedded();
        let ask = |version: &str, backend: &str| {
            compat.package_backend_support("flash-attn", &version.parse().unwrap(), backend)
        };
        let because = unsupported_reason(ask("2.6.3", "triton"));
        assert!(
            because.reason.contains("has no triton backend"),
            "{}",
            because.reason
        );
        assert_eq!(because.hint, Some("triton is available since 2.7.4".into()));
        for version in [
            "2.7.4",
            "2.7.4.post1",
            "2.8.3",
            "2.8.3.post1",
            "fa2:4a948e9",
        ] {
            assert!(
                is_supported(&ask(version, "triton")) && is_supported(&ask(version, "ck")),
                "{version}"
            );
        }
        assert!(is_supported(&ask("2.6.3", "ck")));
        assert!(matches!(ask("2.5.0", "ck"), Support::Unknown(_)));
        assert!(matches!(ask("fa4:4a948e9", "ck"), Support::Unknown(_)));
        assert!(
            unsupported_reason(ask("fa3:4a948e9", "ck"))
                .reason
                .contains("does not support AMD GPUs")
        );
    }

    #[test]
    fn free_threaded_pythons_are_listed() {
        let compat = Compat::embedded();
        let has = |torch: &str, python: &str| {
            is_supported(
                &compat.torch_python_support(&torch.parse().unwrap(), python.parse().unwrap()),
            )
        };
        assert!(has("2.6.0", "3.13t") && has("2.9.1", "3.14t") && has("2.14.0", "3.14t"));
        assert!(!has("2.5.1", "3.12t") && !has("2.12.0", "3.13t") && !has("2.8.0", "3.14t"));
        let because = unsupported_reason(
            compat.torch_python_support(&"2.5.1".parse().unwrap(), "3.13t".parse().unwrap()),
        );
        assert_eq!(
            because.reason,
            "torch 2.5.1 has wheels for no free-threaded Python, not 3.13t"
        );
        assert_eq!(
            because.hint,
            Some("use a Python with the GIL: 3.9 to 3.12".into())
        );
        let python = compat.torch_python_support(&"2.7".parse().unwrap(), "3.14t".parse().unwrap());
        assert_eq!(hint(python), "use Python 3.13t");
    }

    #[test]
    fn versions_without_rows_are_unknown() {
        assert!(matches!(torch_rocm("2.99.0", "7.2"), Support::Unknown(_)));
        let python = Compat::embedded()
            .torch_python_support(&"2.99.0".parse().unwrap(), "3.12".parse().unwrap());
        assert!(matches!(python, Support::Unknown(_)));
        let empty = Compat::new(CompatTables::default());
        let torch: Version = "2.6.0".parse().unwrap();
        assert!(matches!(
            empty.torch_rocm_support(&torch, &"6.2".parse().unwrap()),
            Support::Unknown(_)
        ));
    }

    #[test]
    fn torch_2_5_to_2_14_have_98_supported_cells() {
        let compat = Compat::embedded();
        let pythons: Vec<PythonVersion> = (9..=14)
            .map(|minor| format!("3.{minor}").parse().unwrap())
            .collect();
        let mut cells = 0;
        for minor in 5..=14 {
            let row = compat
                .torch(&format!("2.{minor}").parse().unwrap())
                .unwrap();
            let torch: Version = row.patches.last().unwrap().parse().unwrap();
            for rocm in &row.rocm_index {
                assert!(is_supported(
                    &compat.torch_rocm_support(&torch, &rocm.parse().unwrap())
                ));
                cells += pythons
                    .iter()
                    .filter(|python| is_supported(&compat.torch_python_support(&torch, **python)))
                    .count();
            }
        }
        assert_eq!(cells, 98);
    }
}
