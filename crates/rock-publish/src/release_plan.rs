//! The plan that a release is published against.

use std::collections::BTreeMap;

use rock_compat::{Compat, RunTime};
use rock_diagnostic::{Sink, SourceText};
use rock_names::Digest;
use rock_plan::Job;

use crate::{LocalAsset, PlannedWheel, ReleaseDetails, WheelCell, sha256, wheel_code_read};

/// The files that a plan expects in a release, and its data about them. Without a plan it is empty.
#[derive(Debug, Default)]
pub struct ReleasePlan {
    /// The expected wheels.
    pub wheels: Vec<PlannedWheel>,
    /// The expected archives of install trees and source distributions, each after the ID of its
    /// job.
    pub archives: Vec<(String, String)>,
    /// The digest of the plan; `None` without a plan.
    pub digest: Option<Digest>,
    /// The jobs of the plan.
    pub jobs: Vec<Job>,
    /// The data of each expected wheel.
    facts: Vec<WheelFacts>,
}

/// The data of a job about its wheel.
#[derive(Debug)]
struct WheelFacts {
    pythons: Vec<String>,
    gfx: Vec<String>,
    run_time: RunTime,
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
        for (name, code) in wheel_code_read(offered, compat) {
            gfx_read.insert(name.clone(), code.gfx);
            rocm_read.insert(name, code.needs_rocm);
        }
        let facts = self.facts_by_name(offered.iter().chain(kept));
        ReleaseDetails {
            tag,
            plan: self.digest,
            covers: select(&facts, |facts| &facts.pythons),
            gfx: select(&facts, |facts| &facts.gfx),
            gfx_read,
            rocm_read,
            run_time: select(&facts, |facts| &facts.run_time),
        }
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
