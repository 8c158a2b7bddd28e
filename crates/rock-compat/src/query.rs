//! Queries about a set of versions, packages and gfx targets.

use itertools::iproduct;

use super::rows::{ClaimRow, Provenance};
use super::{Compat, ImportQuery, Support};
use rock_names::{GfxTarget, PackageVersion, PythonVersion, RocmVersion, Version};

/// Versions, package and gfx targets whose compatibility is looked up.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CompatQuery {
    /// A torch version.
    pub torch: Option<Version>,
    /// A ROCm version.
    pub rocm: Option<RocmVersion>,
    /// A Python version.
    pub python: Option<PythonVersion>,
    /// A package, by its normalized name, and its version.
    pub package: Option<(String, PackageVersion)>,
    /// A backend of the package.
    pub backend: Option<String>,
    /// gfx targets.
    pub gfx: Vec<GfxTarget>,
}

/// Whether one pair of values is supported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompatAnswer<'a> {
    /// The pair in words: `torch 2.6.0 with ROCm 6.2`.
    pub subject: String,
    /// Whether the pair is supported, and the reason if not.
    pub support: Support,
    /// The provenance of the row; `None` if the support is unknown.
    pub provenance: Option<&'a Provenance>,
}

impl Compat {
    /// Returns an answer for each pair of values that a table relates; empty if there is none.
    pub fn explain(&self, query: &CompatQuery) -> Vec<CompatAnswer<'_>> {
        let mut answers = Vec::new();
        let mut add = |question: String, verdict: Support, origin| {
            let origin = if matches!(verdict, Support::Unknown(_)) {
                None
            } else {
                origin
            };
            answers.push(CompatAnswer {
                subject: question,
                support: verdict,
                provenance: origin,
            });
        };
        if let Some(torch) = &query.torch {
            let origin = self.torch(torch).map(|row| &row.origin);
            if let Some(rocm) = &query.rocm {
                add(
                    format!("torch {torch} with ROCm {rocm}"),
                    self.torch_rocm_support(torch, rocm),
                    origin,
                );
            }
            if let Some(python) = query.python {
                add(
                    format!("torch {torch} with Python {python}"),
                    self.torch_python_support(torch, python),
                    origin,
                );
            }
        }
        if let Some((package, version)) = &query.package {
            let row = self.package(package, version);
            let origin = row.map(|row| &row.origin);
            let named = query.backend.iter();
            let of_row = row
                .iter()
                .filter(|_| query.backend.is_none())
                .flat_map(|row| &row.backends);
            for backend in named.chain(of_row) {
                let verdict = self.package_backend_support(package, version, backend);
                let builds = matches!(verdict, Support::Supported { .. });
                add(
                    format!("{package} {version} with the {backend} backend"),
                    verdict,
                    origin,
                );
                for target in query.gfx.iter().filter(|_| builds) {
                    let question = format!("{package} {version} ({backend}) for {target}");
                    add(
                        question,
                        self.package_gfx_support(package, version, backend, target),
                        origin,
                    );
                }
            }
            if row.is_none() && query.backend.is_none() {
                add(
                    format!("{package} {version}"),
                    self.unlisted_package_support(package, version),
                    None,
                );
            }
            if let Some(torch) = &query.torch {
                let of_row = row
                    .iter()
                    .filter(|_| query.backend.is_none())
                    .flat_map(|row| &row.backends);
                for backend in query.backend.iter().chain(of_row) {
                    let question = ImportQuery {
                        package,
                        version,
                        backend,
                        torch,
                    };
                    let requirement = self.import_requirements(question).next();
                    if let Some(requirement) = requirement {
                        let question_text =
                            format!("importing {package} {version} ({backend}) with torch {torch}");
                        add(
                            question_text,
                            self.import_support(question),
                            Some(&requirement.origin),
                        );
                    }
                }
            }
            if let Some(python) = query.python {
                let verdict = self.package_python_support(package, version, python);
                add(
                    format!("{package} {version} with Python {python}"),
                    verdict,
                    origin,
                );
            }
        }
        for (target, rocm) in iproduct!(&query.gfx, &query.rocm) {
            let origin = self.toolchain_provenance(target, rocm);
            add(
                format!("ROCm {rocm} compiling for {target}"),
                self.toolchain_gfx_support(target, rocm),
                origin,
            );
            if query.torch.is_some() {
                let origin = self.torch_gfx(rocm).map(|row| &row.origin);
                add(
                    format!("torch's wheels for ROCm {rocm} on {target}"),
                    self.torch_gfx_support(target, rocm),
                    origin,
                );
            }
        }
        answers
    }

    /// Returns the claims about a query: all claims about free-threaded Pythons if the Python is
    /// one, and the claims about the package, gfx targets and ROCm that contain one of the values.
    pub fn claims_about(&self, query: &CompatQuery) -> Vec<&ClaimRow> {
        let package = query.package.as_ref();
        let mut values: Vec<String> = query.gfx.iter().map(ToString::to_string).collect();
        values.extend(query.backend.clone());
        values.extend(package.map(|(_, version)| version.to_string()));
        values.extend(query.rocm.as_ref().map(ToString::to_string));
        let names_a_value = |claim: &str| values.iter().any(|value| contains_value(claim, value));
        let concerns = |claim: &&ClaimRow| match claim.about.as_str() {
            "free-threaded" => query.python.is_some_and(PythonVersion::is_free_threaded),
            "gfx" | "rocm" => names_a_value(&claim.claim),
            about => package.is_some_and(|(name, _)| name == about) && names_a_value(&claim.claim),
        };
        self.claim_tables().claims.iter().filter(concerns).collect()
    }

    fn unlisted_package_support(&self, package: &str, version: &PackageVersion) -> Support {
        match self.package_backend_support(package, version, "") {
            Support::Supported { .. } => self.unknown_package(package, version),
            other => other,
        }
    }
}

/// Returns whether a text contains a value as a whole word: not `2.8.3` in `2.8.3.post1`, nor `7.1`
/// in `7.14`.
fn contains_value(text: &str, value: &str) -> bool {
    let inside = |c: char| c.is_ascii_alphanumeric();
    text.match_indices(value).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let mut after = text[at + value.len()..].chars();
        let follows = match after.next() {
            Some('.') => after.next().is_some_and(inside),
            other => other.is_some_and(inside),
        };
        !follows && !before.is_some_and(|c| inside(c) || c == '.')
    })
}

#[cfg(test)]
mod tests {
    use super::{CompatQuery, contains_value};
    use crate::{Compat, Support};

    fn check(question: &CompatQuery, expect: &[(&str, &str)]) {
        let compat = Compat::embedded();
        let answers = compat.explain(question);
        let word = |verdict: &Support| match verdict {
            Support::Supported { .. } => "yes",
            Support::Unsupported(_) => "no",
            Support::Unknown(_) => "unknown",
        };
        let found: Vec<(&str, &str)> = answers
            .iter()
            .map(|a| (a.subject.as_str(), word(&a.support)))
            .collect();
        assert_eq!(found, expect);
        assert!(
            answers
                .iter()
                .all(|a| a.provenance.is_some() != matches!(a.support, Support::Unknown(_)))
        );
    }

    #[test]
    fn every_related_pair_is_answered() {
        check(
            &CompatQuery {
                torch: Some("2.9.1".parse().unwrap()),
                rocm: Some("6.4".parse().unwrap()),
                python: Some("3.14".parse().unwrap()),
                package: Some(("flash-attn".into(), "2.8.3".parse().unwrap())),
                backend: Some("ck".into()),
                gfx: vec!["gfx950".parse().unwrap()],
            },
            &[
                ("torch 2.9.1 with ROCm 6.4", "yes"),
                ("torch 2.9.1 with Python 3.14", "yes"),
                ("flash-attn 2.8.3 with the ck backend", "yes"),
                ("flash-attn 2.8.3 (ck) for gfx950", "yes"),
                ("flash-attn 2.8.3 with Python 3.14", "yes"),
                ("ROCm 6.4 compiling for gfx950", "no"),
                ("torch's wheels for ROCm 6.4 on gfx950", "unknown"),
            ],
        );
    }

    #[test]
    fn a_package_alone_is_answered_for_each_backend() {
        let gfx = vec!["gfx1100".parse().unwrap()];
        check(
            &CompatQuery {
                package: Some(("flash-attn".into(), "2.7.4".parse().unwrap())),
                gfx: gfx.clone(),
                ..CompatQuery::default()
            },
            &[
                ("flash-attn 2.7.4 with the ck backend", "yes"),
                ("flash-attn 2.7.4 (ck) for gfx1100", "no"),
                ("flash-attn 2.7.4 with the triton backend", "yes"),
                ("flash-attn 2.7.4 (triton) for gfx1100", "yes"),
            ],
        );
        let unknown = Some(("flash-attn".into(), "9.9".parse().unwrap()));
        check(
            &CompatQuery {
                package: unknown,
                gfx,
                ..CompatQuery::default()
            },
            &[("flash-attn 9.9", "unknown")],
        );
        check(
            &CompatQuery {
                torch: Some("2.6.0".parse().unwrap()),
                ..CompatQuery::default()
            },
            &[],
        );
    }

    #[test]
    fn claims_that_contain_a_value_are_shown() {
        assert!(
            contains_value("7.1 and 7.14 are both", "7.14")
                && !contains_value("only 7.14 here", "7.1")
        );
        assert!(!contains_value("v2.8.3.post1", "2.8.3") && contains_value("for 2.8.3.", "2.8.3"));
        let compat = Compat::embedded();
        let ft = CompatQuery {
            python: Some("3.14t".parse().unwrap()),
            ..CompatQuery::default()
        };
        assert_eq!(
            compat.claims_about(&ft).len(),
            3,
            "what is contested is told"
        );
        let target = CompatQuery {
            package: Some(("flash-attn".into(), "2.8.3".parse().unwrap())),
            gfx: vec!["gfx1030".parse().unwrap()],
            ..CompatQuery::default()
        };
        let claims = compat.claims_about(&target);
        assert!(
            claims
                .iter()
                .any(|row| row.claim.starts_with("gfx1030 is in no released")),
            "{claims:?}"
        );
        assert_eq!(
            compat.claims_about(&CompatQuery::default()),
            Vec::<&super::ClaimRow>::new()
        );
    }

    #[test]
    fn notes_and_claims_name_sources_in_full() {
        fn texts<'v>(value: &'v serde_json::Value, found: &mut Vec<&'v str>) {
            match value {
                serde_json::Value::Object(map) => map.iter().for_each(|(key, inner)| match inner {
                    serde_json::Value::String(text)
                        if ["ref", "note", "claim"].contains(&&**key) =>
                    {
                        found.push(text);
                    }
                    _ => texts(inner, found),
                }),
                serde_json::Value::Array(items) => items.iter().for_each(|item| texts(item, found)),
                _ => {}
            }
        }
        let tables = serde_json::to_value(Compat::embedded().all_tables()).unwrap();
        let mut found = Vec::new();
        texts(&tables, &mut found);
        assert!(found.len() > 500, "{}", found.len());
        let short = ["ti", "ptb", "mj", "mjn", "mji", "rfa", "inv"];
        let shorthand = |text: &&&str| {
            text.split(|c: char| !c.is_ascii_alphanumeric())
                .any(|word| short.contains(&word))
        };
        assert_eq!(
            found.iter().filter(shorthand).collect::<Vec<_>>(),
            Vec::<&&str>::new()
        );
    }
}
