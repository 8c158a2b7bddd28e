//! Queries about a set of versions, packages and gfx targets.

use super::compat::join_with_and;
use super::rows::{ClaimRow, Provenance, TorchRow};
use super::support::foreign_torch_support;
use super::{
    AnswerScope, AnswerSubject, Compat, CompatAnswer, ImportQuery, OfficialWheels, PackageRelease,
    Support, SupportReason, WheelVersions,
};
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

/// The answers to a query, while they are collected.
#[derive(Default)]
struct AnswerList<'a>(Vec<CompatAnswer<'a>>);

impl<'a> AnswerList<'a> {
    fn add(
        &mut self,
        subject: AnswerSubject,
        scope: AnswerScope,
        support: Support,
        provenance: Option<&'a Provenance>,
    ) {
        let provenance = provenance.filter(|_| !matches!(support, Support::Unknown(_)));
        self.0.push(CompatAnswer {
            subject,
            scope,
            support,
            provenance,
        });
    }
}

impl Compat {
    /// Returns an answer for each pair of values that a table relates; empty if there is none. Hints
    /// of unsupported pairs name values that fit all others.
    pub fn explain(&self, query: &CompatQuery) -> Vec<CompatAnswer<'_>> {
        let mut answers = self.answers(query, &query.gfx);
        self.replace_hints(query, &mut answers);
        answers
    }

    /// Returns the answers with hints that consider only their pair of values. Those about torch's
    /// wheels are only for `wheel_targets`.
    pub(super) fn answers(
        &self,
        query: &CompatQuery,
        wheel_targets: &[GfxTarget],
    ) -> Vec<CompatAnswer<'_>> {
        let mut answers = AnswerList::default();
        if let Some(torch) = &query.torch {
            self.explain_torch(query, torch, &mut answers);
        }
        if let Some((package, version)) = &query.package {
            self.explain_package(query, (package, version), &mut answers);
        }
        // Without wheels of the torch version, the code in those of other versions does not matter.
        let has_no_wheels = answers.0.iter().any(|answer| {
            let is_of_wheels = matches!(
                answer.subject,
                AnswerSubject::TorchRocm(..) | AnswerSubject::TorchBuild(_)
            );
            is_of_wheels && answer.support.is_unsupported()
        });
        for target in &query.gfx {
            if let Some(rocm) = &query.rocm {
                answers.add(
                    AnswerSubject::ToolchainGfx(rocm.clone(), target.clone()),
                    AnswerScope::Requested,
                    self.toolchain_gfx_support(target, rocm),
                    self.toolchain_provenance(target, rocm),
                );
            }
            if has_no_wheels || !wheel_targets.contains(target) {
                continue;
            }
            match (&query.rocm, &query.torch) {
                (Some(rocm), torch) => {
                    self.explain_rocm_gfx(rocm, torch.is_some(), target, &mut answers);
                }
                (None, Some(torch)) => self.explain_torch_gfx(torch, target, &mut answers),
                (None, None) => {}
            }
        }
        if let (None, Some(rocm), Some(python)) = (&query.torch, &query.rocm, query.python) {
            self.explain_rocm_python(rocm, python, &mut answers);
        }
        answers.0
    }

    /// Adds an answer about the official torch wheels for a ROCm version.
    fn explain_rocm_gfx<'a>(
        &'a self,
        rocm: &RocmVersion,
        has_torch: bool,
        target: &GfxTarget,
        answers: &mut AnswerList<'a>,
    ) {
        let (torch, scope) = if has_torch {
            (WheelVersions::Any, AnswerScope::Requested)
        } else {
            let rows = self.torch_rows_for(rocm);
            if rows.is_empty() {
                return;
            }
            let torch = WheelVersions::OneOf(versions_of(&rows));
            (torch, AnswerScope::Related)
        };
        let wheels = OfficialWheels {
            torch,
            rocm: WheelVersions::OneOf(vec![rocm.clone()]),
        };
        answers.add(
            AnswerSubject::WheelsGfx(wheels, target.clone()),
            scope,
            self.torch_gfx_support(target, rocm),
            self.torch_gfx(rocm).map(|row| &row.origin),
        );
    }

    /// Adds an answer about the wheels of a torch version for all ROCm versions. One ROCm version
    /// with code for the target is enough.
    fn explain_torch_gfx<'a>(
        &'a self,
        torch: &Version,
        target: &GfxTarget,
        answers: &mut AnswerList<'a>,
    ) {
        let row = self.torch(torch);
        let indexes: Vec<RocmVersion> = row
            .iter()
            .flat_map(|row| &row.rocm_index)
            .filter_map(|text| text.parse().ok())
            .collect();
        let (mut with, mut origin, mut unknown) = (Vec::new(), None, None);
        for rocm in &indexes {
            if self.gfx_too_new(target, rocm).is_some() {
                continue;
            }
            match self.torch_gfx_support(target, rocm) {
                Support::Supported { .. } => {
                    with.push(rocm.clone());
                    origin = origin.or_else(|| self.torch_gfx(rocm));
                }
                Support::Unsupported(_) => {}
                other @ Support::Unknown(_) => unknown = unknown.or(Some(other)),
            }
        }
        let subject = |rocm| {
            let torch = WheelVersions::OneOf(vec![torch.clone()]);
            AnswerSubject::WheelsGfx(OfficialWheels { torch, rocm }, target.clone())
        };
        if let Some(gfx) = origin {
            answers.add(
                subject(WheelVersions::OneOf(with)),
                AnswerScope::Requested,
                Support::Supported {
                    source: self.cite_gfx("torch-gfx", gfx),
                },
                Some(&gfx.origin),
            );
            return;
        }
        let support = match (row, unknown) {
            (None, _) => self.unknown_torch(torch),
            (Some(_), Some(unknown)) => unknown,
            (Some(row), None) => Support::Unsupported(SupportReason {
                reason: format!(
                    "torch {torch} has wheels for ROCm {}, which contain no code for {target}",
                    join_with_and(&row.rocm_index)
                ),
                hint: None,
                source: self.cite("torch.yaml", &format!("torch {}", row.torch), &row.origin),
            }),
        };
        answers.add(
            subject(WheelVersions::Any),
            AnswerScope::Requested,
            support,
            row.map(|row| &row.origin),
        );
    }

    /// Adds an answer about the official torch wheels for a ROCm version and a Python version.
    fn explain_rocm_python<'a>(
        &'a self,
        rocm: &RocmVersion,
        python: PythonVersion,
        answers: &mut AnswerList<'a>,
    ) {
        let rows = self.torch_rows_for(rocm);
        let support = |row: &TorchRow| {
            let torch = row.torch.parse::<Version>().ok()?;
            Some(self.torch_python_support(&torch, python))
        };
        let with: Vec<&TorchRow> = rows
            .iter()
            .copied()
            .filter(|row| matches!(support(row), Some(Support::Supported { .. })))
            .collect();
        let named = if with.is_empty() { rows } else { with };
        let Some((newest, answer)) = named.last().and_then(|row| Some((*row, support(row)?)))
        else {
            return;
        };
        let wheels = OfficialWheels {
            torch: WheelVersions::OneOf(versions_of(&named)),
            rocm: WheelVersions::OneOf(vec![rocm.clone()]),
        };
        answers.add(
            AnswerSubject::WheelsPython(wheels, python),
            AnswerScope::Related,
            answer,
            Some(&newest.origin),
        );
    }

    fn explain_torch<'a>(
        &'a self,
        query: &CompatQuery,
        torch: &Version,
        answers: &mut AnswerList<'a>,
    ) {
        if let Some(support) = foreign_torch_support(torch) {
            let subject = match &query.rocm {
                Some(rocm) => AnswerSubject::TorchRocm(torch.clone(), rocm.clone()),
                None => AnswerSubject::TorchBuild(torch.clone()),
            };
            answers.add(subject, AnswerScope::Requested, support, None);
            return;
        }
        let origin = self.torch(torch).map(|row| &row.origin);
        if let Some(rocm) = &query.rocm {
            answers.add(
                AnswerSubject::TorchRocm(torch.clone(), rocm.clone()),
                AnswerScope::Requested,
                self.torch_rocm_support(torch, rocm),
                origin,
            );
        }
        if let Some(python) = query.python {
            answers.add(
                AnswerSubject::TorchPython(torch.clone(), python),
                AnswerScope::Requested,
                self.torch_python_support(torch, python),
                origin,
            );
        }
    }

    fn explain_package<'a>(
        &'a self,
        query: &CompatQuery,
        (package, version): (&str, &PackageVersion),
        answers: &mut AnswerList<'a>,
    ) {
        let release = PackageRelease {
            name: package.to_owned(),
            version: version.clone(),
        };
        let row = self.package(package, version);
        let origin = row.map(|row| &row.origin);
        let of_row = row.iter().flat_map(|row| &row.backends);
        let backends: Vec<(&String, AnswerScope)> = match &query.backend {
            Some(backend) => vec![(backend, AnswerScope::Requested)],
            None => of_row
                .map(|backend| (backend, AnswerScope::Backend(backend.clone())))
                .collect(),
        };
        for (backend, scope) in &backends {
            let support = self.package_backend_support(package, version, backend);
            let builds = matches!(support, Support::Supported { .. });
            answers.add(
                AnswerSubject::PackageBackend(release.clone(), (*backend).clone()),
                scope.clone(),
                support,
                origin,
            );
            for target in query.gfx.iter().filter(|_| builds) {
                answers.add(
                    AnswerSubject::PackageGfx {
                        package: release.clone(),
                        backend: (*backend).clone(),
                        target: target.clone(),
                    },
                    scope.clone(),
                    self.package_gfx_support(package, version, backend, target),
                    origin,
                );
            }
        }
        if row.is_none() && query.backend.is_none() {
            answers.add(
                AnswerSubject::Package(release.clone()),
                AnswerScope::Requested,
                self.unlisted_package_support(package, version),
                None,
            );
        }
        if let Some(torch) = &query.torch {
            for (backend, scope) in backends {
                let import = ImportQuery {
                    package,
                    version,
                    backend,
                    torch,
                };
                if let Some(requirement) = self.import_requirements(import).next() {
                    answers.add(
                        AnswerSubject::Import {
                            package: release.clone(),
                            backend: backend.clone(),
                            torch: torch.clone(),
                        },
                        scope,
                        self.import_support(import),
                        Some(&requirement.origin),
                    );
                }
            }
        }
        if let Some(python) = query.python {
            answers.add(
                AnswerSubject::PackagePython(release, python),
                AnswerScope::Requested,
                self.package_python_support(package, version, python),
                origin,
            );
        }
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

/// Returns the torch versions of rows.
fn versions_of(rows: &[&TorchRow]) -> Vec<Version> {
    rows.iter()
        .filter_map(|row| row.torch.parse().ok())
        .collect()
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
    use crate::{Compat, Support, is_supported};

    fn check(question: &CompatQuery, expect: &[(&str, &str)]) {
        let compat = Compat::embedded();
        let answers = compat.explain(question);
        let word = |verdict: &Support| match verdict {
            Support::Supported { .. } => "yes",
            Support::Unsupported(_) => "no",
            Support::Unknown(_) => "unknown",
        };
        let subjects: Vec<String> = answers.iter().map(|a| a.subject.to_string()).collect();
        let words = answers.iter().map(|answer| word(&answer.support));
        let found: Vec<(&str, &str)> = subjects.iter().map(String::as_str).zip(words).collect();
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
                ("torch's wheels for ROCm 6.4 on gfx950", "no"),
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
    fn a_target_and_a_rocm_are_answered_with_the_torch_versions_of_the_wheels() {
        let query = |rocm: &str| CompatQuery {
            rocm: Some(rocm.parse().unwrap()),
            gfx: vec!["gfx1100".parse().unwrap()],
            ..CompatQuery::default()
        };
        check(
            &query("6.4"),
            &[
                ("ROCm 6.4 compiling for gfx1100", "yes"),
                (
                    "the wheels of torch 2.8 and 2.9 for ROCm 6.4 on gfx1100",
                    "yes",
                ),
            ],
        );
        check(
            &query("7.0.2"),
            &[
                ("ROCm 7.0.2 compiling for gfx1100", "yes"),
                ("the wheels of torch 2.10 for ROCm 7.0.2 on gfx1100", "yes"),
            ],
        );
    }

    #[test]
    fn a_torch_and_a_target_are_answered_for_all_rocm_versions_of_the_wheels() {
        let query = |torch: &str, gfx: &str, python: Option<&str>| CompatQuery {
            torch: Some(torch.parse().unwrap()),
            python: python.map(|python| python.parse().unwrap()),
            gfx: vec![gfx.parse().unwrap()],
            ..CompatQuery::default()
        };
        check(
            &query("2.9", "gfx1151", None),
            &[("the wheels of torch 2.9 on gfx1151", "no")],
        );
        check(
            &query("2.10", "gfx1100", Some("3.9")),
            &[
                ("torch 2.10 with Python 3.9", "no"),
                (
                    "the wheels of torch 2.10 for ROCm 7.0 and 7.1 on gfx1100",
                    "yes",
                ),
            ],
        );
        check(
            &query("2.6", "gfx1100", None),
            &[("the wheels of torch 2.6 on gfx1100", "unknown")],
        );
        check(
            &query("2.99", "gfx1100", None),
            &[("the wheels of torch 2.99 on gfx1100", "unknown")],
        );
        check(
            &CompatQuery {
                rocm: Some("7.0".parse().unwrap()),
                python: Some("3.9".parse().unwrap()),
                ..CompatQuery::default()
            },
            &[(
                "the wheels of torch 2.10 for ROCm 7.0 with Python 3.9",
                "no",
            )],
        );
    }

    #[test]
    fn a_query_is_supported_unless_an_answer_rules_it_out() {
        let compat = Compat::embedded();
        let is_supported = |text: &str| {
            let pairs: Vec<String> = text.split(' ').map(str::to_owned).collect();
            is_supported(&compat.explain(&compat.parse_query(&pairs).unwrap()))
        };
        assert!(is_supported("torch=2.9.1 rocm=6.4"));
        assert!(!is_supported("torch=2.9.1 rocm=7.2"));
        assert!(!is_supported("torch=2.9 gfx=gfx1151"));
        assert!(is_supported("torch=2.99.0 rocm=7.2"), "unknown");
        assert!(is_supported("flash-attn=2.8.3 gfx=gfx1100"), "with triton");
        assert!(!is_supported("flash-attn=2.8.3 backend=ck gfx=gfx1100"));
        assert!(!is_supported("flash-attn=2.6.3 gfx=gfx1100"), "only ck");
        assert!(
            is_supported("gfx=gfx1031 rocm=7.2"),
            "only torch's wheels lack it"
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
