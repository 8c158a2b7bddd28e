//! The plan that a release is published against.

use std::collections::{BTreeMap, BTreeSet};

use rock_compat::{Compat, RuntimeRequirements};
use rock_diagnostic::{Severity, Sink, SourceText};
use rock_names::{Digest, WheelName};
use rock_plan::Job;

use crate::checks::{PlannedWheel, against_plan, archives_against_plan};
use crate::target_shortfall::targets_against_plan;
use crate::{Asset, LocalAsset, ReleaseDetails, WheelCell, sha256, wheel_code_read};

/// The files that a plan expects in a release, and its data about them. Without a plan it is empty.
#[derive(Debug, Default)]
pub struct ReleasePlan {
    /// The expected wheels.
    wheels: Vec<PlannedWheel>,
    /// The expected archives of install trees and source distributions, each after the ID of its
    /// job.
    archives: Vec<(String, String)>,
    /// The digest of the plan; `None` without a plan.
    pub digest: Option<Digest>,
    /// The jobs of the plan.
    pub jobs: Vec<Job>,
    /// The data of each expected wheel.
    facts: Vec<WheelFacts>,
}

/// The differences from the plan that are not errors.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct AllowedDifferences {
    /// Whether planned wheels and archives may be missing, with a warning.
    pub missing_files: bool,
    /// Whether wheels may lack code for GPU targets of the plan, with a note.
    pub missing_targets: bool,
}

/// The data of a job about its wheel.
#[derive(Debug)]
struct WheelFacts {
    pythons: Vec<String>,
    gfx: Vec<String>,
    run_time: RuntimeRequirements,
}

impl ReleasePlan {
    /// Parses a saved plan, `plan.json`. Returns `None` after reporting that it is not one.
    pub fn parse(source: &SourceText, sink: &mut Sink) -> Option<Self> {
        let jobs = rock_plan::read_json(source, sink)?;
        let mut plan = Self {
            digest: Some(sha256(source.text.as_bytes())),
            ..Self::default()
        };
        for job in &jobs {
            plan.add(job);
        }
        plan.jobs = jobs;
        Some(plan)
    }

    /// Returns the details of a release with these files: `offered` are published, `kept` stay in
    /// it.
    pub fn details(
        &self,
        tag: Option<String>,
        offered: &[LocalAsset],
        kept: &[LocalAsset],
        compat: &Compat,
    ) -> ReleaseDetails {
        let (mut gfx_read, mut rocm_read) = (BTreeMap::new(), BTreeMap::new());
        let mut audit_errors = BTreeMap::new();
        for (name, code) in wheel_code_read(offered, compat) {
            gfx_read.insert(name.clone(), code.gfx);
            rocm_read.insert(name.clone(), code.needs_rocm);
            audit_errors.insert(name, code.audit_errors);
        }
        let facts = self.facts_by_name(offered.iter().chain(kept));
        ReleaseDetails {
            tag,
            plan: self.digest,
            covers: select(&facts, |facts| &facts.pythons),
            gfx: select(&facts, |facts| &facts.gfx),
            gfx_read,
            rocm_read,
            audit_errors,
            run_time: select(&facts, |facts| &facts.run_time),
        }
    }

    /// Compares the files of a release with the plan. Reports planned wheels, archives and GPU
    /// targets that the release would lack, and offered files that are not in the plan. `kept` are
    /// the names of the files that are already in the release. Without a plan, reports nothing.
    pub fn check(
        &self,
        offered: &[Asset],
        kept: &BTreeSet<&str>,
        details: &ReleaseDetails,
        allowed: AllowedDifferences,
        compat: &Compat,
        sink: &mut Sink,
    ) {
        if self.digest.is_none() {
            return;
        }
        let missing = if allowed.missing_files {
            Severity::Warning
        } else {
            Severity::Error
        };
        let kept_wheels: Vec<WheelName> =
            kept.iter().filter_map(|name| name.parse().ok()).collect();
        against_plan(&self.wheels, offered, &kept_wheels, missing, sink);
        archives_against_plan(&self.archives, offered, kept, missing, sink);
        targets_against_plan(offered, details, allowed.missing_targets, compat, sink);
    }

    fn add(&mut self, job: &Job) {
        let gfx: Vec<String> = job.gfx.iter().map(ToString::to_string).collect();
        let pythons = job
            .covers
            .get("python")
            .cloned()
            .unwrap_or_else(|| job.python.iter().map(ToString::to_string).collect());
        let archive = job.archive().or_else(|| job.sdist());
        self.archives
            .extend(archive.map(|archive| (job.id.clone(), archive.to_owned())));
        // Plans that this program wrote contain only valid wheel names.
        for wheel in job.wheels().filter_map(|wheel| wheel.parse().ok()) {
            self.wheels.push(PlannedWheel {
                job: job.id.clone(),
                wheel,
            });
            self.facts.push(WheelFacts {
                pythons: pythons.clone(),
                gfx: gfx.clone(),
                run_time: job.run_time.clone(),
            });
        }
    }

    /// Returns the data of the planned wheel that each file is.
    fn facts_by_name<'a>(
        &self,
        files: impl Iterator<Item = &'a LocalAsset>,
    ) -> BTreeMap<&'a str, &WheelFacts> {
        let by_cell: BTreeMap<WheelCell, &WheelFacts> = self
            .wheels
            .iter()
            .map(|planned| WheelCell::expected(&planned.wheel))
            .zip(&self.facts)
            .collect();
        files
            .filter_map(|file| {
                let facts = WheelCell::as_planned(file.asset.wheel()?)
                    .iter()
                    .find_map(|cell| by_cell.get(cell))?;
                Some((file.name(), *facts))
            })
            .collect()
    }
}

/// Returns one value of each file by name.
fn select<T: Clone>(
    facts: &BTreeMap<&str, &WheelFacts>,
    value: fn(&WheelFacts) -> &T,
) -> BTreeMap<String, T> {
    facts
        .iter()
        .map(|(name, facts)| ((*name).to_owned(), value(facts).clone()))
        .collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use rock_compat::Compat;
    use rock_diagnostic::Sink;

    use super::{AllowedDifferences, ReleasePlan};
    use crate::testing::asset;
    use crate::{ReleaseDetails, sha256};

    fn check(plan: &ReleasePlan) -> Vec<String> {
        let mut sink = Sink::new();
        plan.check(
            &[asset("a-1-py3-none-any.whl", 1)],
            &BTreeSet::new(),
            &ReleaseDetails::default(),
            AllowedDifferences::default(),
            &Compat::embedded(),
            &mut sink,
        );
        sink.finish().into_iter().map(|one| one.message).collect()
    }

    #[test]
    fn files_are_compared_with_a_plan_only_if_there_is_one() {
        assert_eq!(check(&ReleasePlan::default()), [""; 0]);
        let empty = ReleasePlan {
            digest: Some(sha256(b"[]")),
            ..ReleasePlan::default()
        };
        assert_eq!(
            check(&empty),
            ["no job of the plan builds `a-1-py3-none-any.whl`"]
        );
    }
}
