//! Requirements between packages: versions needed for an import, and versions that torch requires.

use super::rows::{ImportRequirementRow, TorchRequirementRow};
use super::{Compat, Hint, Support, SupportReason};
use rock_names::{PackageVersion, Version};

/// A package, backend and torch version whose import is looked up.
#[derive(Debug, Clone, Copy)]
pub struct ImportQuery<'a> {
    /// The package, by its normalized name.
    pub package: &'a str,
    /// Its version.
    pub version: &'a PackageVersion,
    /// Its backend.
    pub backend: &'a str,
    /// The torch that it is installed with.
    pub torch: &'a Version,
}

impl Compat {
    /// Returns whether a package can be imported with the versions that torch requires. Unknown if
    /// no row has this torch version, or the combination is untested.
    pub fn import_support(&self, query: ImportQuery<'_>) -> Support {
        let verdicts = self
            .import_requirements(query)
            .map(|row| self.row_import_support(row, query));
        let rank = |verdict: &Support| match verdict {
            Support::Unsupported(_) => 0,
            Support::Unknown(_) => 1,
            Support::Supported { .. } => 2,
        };
        verdicts.min_by_key(rank).unwrap_or(Support::Supported {
            source: String::new(),
        })
    }

    /// Returns the rows about packages that the import of a package version needs.
    pub fn import_requirements(
        &self,
        query: ImportQuery<'_>,
    ) -> impl Iterator<Item = &ImportRequirementRow> {
        let rows = self
            .tables()
            .import_requirements
            .iter()
            .zip(&self.parsed().import_requirements);
        let is_about = move |row: &ImportRequirementRow, versions: &[Version]| {
            let has_backend = row.backend.is_empty() || row.backend == query.backend;
            let has_version = || match query.version {
                PackageVersion::Commit { family, .. } => row.commit_families.contains(family),
                PackageVersion::Released(version) => versions.contains(&version.public()),
            };
            row.package == query.package && has_backend && has_version()
        };
        rows.filter(move |(row, versions)| is_about(row, versions))
            .map(|(row, _)| row)
    }

    /// Returns the row with the version of a package that a torch version requires.
    pub fn torch_requirement(
        &self,
        torch: &Version,
        package: &str,
    ) -> Option<&TorchRequirementRow> {
        let torch = torch.public();
        let rows = self
            .tables()
            .torch_requirements
            .iter()
            .zip(&self.parsed().torch_requirements);
        let mut rows = rows.filter(|(row, _)| row.package == package);
        rows.find(|(_, versions)| versions.contains(&torch))
            .map(|(row, _)| row)
    }

    fn row_import_support(&self, row: &ImportRequirementRow, query: ImportQuery<'_>) -> Support {
        let ImportQuery {
            package,
            version,
            torch,
            ..
        } = query;
        let backend = if row.backend.is_empty() {
            String::new()
        } else {
            format!(" ({})", row.backend)
        };
        let what = format!("{package} {version}{backend}");
        let source = self.cite(
            &format!("{package}.yaml"),
            &format!("{package} {}{backend}", row.of[0]),
            &row.origin,
        );
        let needs = &row.needs;
        let Some(required) = self.torch_requirement(torch, needs) else {
            return Support::Unknown(SupportReason {
                reason: format!(
                    "{what} needs {needs}, but the compatibility data does not say which version \
                     torch {torch} requires"
                ),
                hint: Some("add a row to the table `torch-requirements`".into()),
                source,
            });
        };
        match RequirementFit::of(row, required) {
            RequirementFit::Tried => Support::Supported { source },
            RequirementFit::Untried => Support::Unknown(SupportReason {
                reason: format!(
                    "importing {what} with {needs} {}, which torch {torch} requires, is untested",
                    required_version(required)
                ),
                hint: Some(Hint::Advice(format!(
                    "import it with this {needs}; if that works, add the version to `tried` in its \
                     row"
                ))),
                source,
            }),
            RequirementFit::Conflict => {
                let otherwise = if row.otherwise.is_empty() {
                    String::new()
                } else {
                    format!(": {}", row.otherwise)
                };
                Support::Unsupported(SupportReason {
                    reason: format!(
                        "{what} needs {needs} {}, but torch {torch} requires {}{otherwise}",
                        row.versions,
                        required_version(required)
                    ),
                    hint: self.import_hint(row, required, query),
                    source,
                })
            }
        }
    }

    /// Returns alternatives: the first later torch version for this package version, and other
    /// package versions for this torch version.
    fn import_hint(
        &self,
        row: &ImportRequirementRow,
        required: &TorchRequirementRow,
        query: ImportQuery<'_>,
    ) -> Option<Hint> {
        let rows = self
            .tables()
            .torch_requirements
            .iter()
            .filter(|other| other.package == row.needs);
        let fitting = rows
            .filter(|other| RequirementFit::of(row, other) != RequirementFit::Conflict)
            .flat_map(|other| &other.torch);
        let versions = fitting.filter_map(|text| text.parse::<Version>().ok());
        let torch = versions
            .filter(|version| version > query.torch)
            .min()
            .map(|torch| format!("torch {torch}"));
        let is_other = |other: &&ImportRequirementRow| {
            other.package == query.package
                && other.backend == row.backend
                && other.needs == row.needs
        };
        let others = self.tables().import_requirements.iter().filter(is_other);
        let others: Vec<String> = others
            .filter(|other| RequirementFit::of(other, required) != RequirementFit::Conflict)
            .flat_map(|other| other.of.clone())
            .collect();
        let package =
            (!others.is_empty()).then(|| format!("{} {}", query.package, others.join(" or ")));
        let works: Vec<String> = torch.into_iter().chain(package).collect();
        (!works.is_empty()).then(|| format!("use {}", works.join(", or ")).into())
    }
}

/// The relation between the version that torch requires and the versions that a package needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RequirementFit {
    /// The import was tested.
    Tried,
    /// The version is permitted, but untested.
    Untried,
    /// The version is not permitted.
    Conflict,
}

/// Returns the version in the only clause of a requirement of torch.
fn required_version(row: &TorchRequirementRow) -> &str {
    row.versions.trim_start_matches(['=', '~', ' '])
}

impl RequirementFit {
    /// Compares the versions that a package needs with the version that torch requires.
    fn of(needs: &ImportRequirementRow, torch: &TorchRequirementRow) -> Self {
        let satisfies = |version: &str, specifiers: &str| {
            version
                .parse::<Version>()
                .is_ok_and(|version| version.satisfies(specifiers).unwrap_or(false))
        };
        if needs
            .tried
            .iter()
            .any(|tried| satisfies(tried, &torch.versions))
        {
            Self::Tried
        } else if satisfies(required_version(torch), &needs.versions) {
            Self::Untried
        } else {
            Self::Conflict
        }
    }
}

#[cfg(test)]
mod tests {
    use super::ImportQuery;
    use crate::{Compat, Support};

    fn ask(version: &str, backend: &str, torch: &str) -> Support {
        let (version, torch) = (version.parse().unwrap(), torch.parse().unwrap());
        let query = ImportQuery {
            package: "flash-attn",
            version: &version,
            backend,
            torch: &torch,
        };
        Compat::embedded().import_support(query)
    }

    #[test]
    fn a_version_that_needs_another_triton_is_unsupported() {
        let Support::Unsupported(because) = ask("2.8.3", "triton", "2.5.1") else {
            panic!("2.5.1 has triton 3.1.0")
        };
        assert_eq!(
            because.reason,
            "flash-attn 2.8.3 (triton) needs triton >=3.2, <3.9, but torch 2.5.1 requires 3.1.0: \
             `import flash_attn` \
             raises ValueError, because a key of triton.autotune is not an argument of its kernel"
        );
        assert_eq!(
            because.hint,
            Some("use torch 2.6.0, or flash-attn 2.7.4 or 2.7.4.post1".into())
        );
        assert!(
            because
                .source
                .starts_with("compat/flash-attn.yaml, flash-attn 2.8.3 (triton), checked"),
            "{because:?}"
        );
        for (version, torch) in [
            ("2.7.4.post1", "2.5.1"),
            ("2.8.3", "2.6.0"),
            ("2.8.3", "2.7.1"),
            ("2.8.3", "2.14.1"),
        ] {
            assert!(
                matches!(ask(version, "triton", torch), Support::Supported { .. }),
                "{version} {torch}"
            );
        }
        assert!(
            matches!(
                ask("fa2:4a948e9", "triton", "2.9.1"),
                Support::Unsupported(_)
            ),
            "triton 3.5.1"
        );
        assert!(
            matches!(ask("2.8.3", "triton", "2.15.0"), Support::Unsupported(_)),
            "triton 3.9"
        );
    }

    #[test]
    fn no_row_constrains_nothing_and_an_unknown_torch_is_unknown() {
        assert!(
            matches!(ask("2.8.3", "ck", "2.5.1"), Support::Supported { .. }),
            "it needs no triton"
        );
        let Support::Unknown(because) = ask("2.8.3", "triton", "2.99.0") else {
            panic!("no row has torch 2.99.0")
        };
        assert!(
            because.reason.ends_with(
                "the compatibility data does not say which version torch 2.99.0 requires"
            ),
            "{}",
            because.reason
        );
    }
}
