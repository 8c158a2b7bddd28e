//! Data of a plan about the published wheels.

use std::collections::BTreeMap;

use super::super::assets::Gathered;
use super::super::{Exit, load, release_folder};
use crate::config::RunTime;
use crate::diagnostic::Sink;
use crate::names::Digest;
use crate::plan::{self, Job};
use crate::publish::{PlannedWheel, WheelCell};

/// The wheels of a plan, and data about them.
#[derive(Debug, Default)]
pub(super) struct Planned {
    pub(super) expected: Vec<PlannedWheel>,
    /// Archives of install trees and source distributions, each with its job.
    pub(super) archives: Vec<(String, String)>,
    /// The Python versions of each expected wheel.
    pythons: Vec<Vec<String>>,
    /// The GPU targets of each expected wheel.
    gfx: Vec<Vec<String>>,
    /// The run-time requirements of each expected wheel.
    run_time: Vec<RunTime>,
    pub(super) digest: Option<Digest>,
    pub(super) jobs: Vec<Job>,
}

impl Planned {
    pub(super) fn read(path: &std::path::Path, sink: &mut Sink) -> Result<Self, Exit> {
        let source = load::read_limited(path, plan::LARGEST_PLAN_BYTES, sink)?;
        let jobs = plan::read_json(&source, sink).ok_or(Exit::Fault)?;
        let mut planned = Self {
            digest: Some(release_folder::digest(source.text.as_bytes())),
            ..Self::default()
        };
        for job in &jobs {
            let gfx: Vec<String> = job.gfx.iter().map(ToString::to_string).collect();
            let covered = job.covers.get("python").cloned();
            let pythons =
                covered.unwrap_or_else(|| job.python.iter().map(ToString::to_string).collect());
            let archive = job.archive().or_else(|| job.sdist());
            planned
                .archives
                .extend(archive.map(|archive| (job.id.clone(), archive.to_owned())));
            // Plans that this program wrote contain only valid wheel names.
            for wheel in job.wheels().filter_map(|wheel| wheel.parse().ok()) {
                planned.expected.push(PlannedWheel {
                    job: job.id.clone(),
                    wheel,
                });
                planned.gfx.push(gfx.clone());
                planned.run_time.push(job.run_time.clone());
                planned.pythons.push(pythons.clone());
            }
        }
        planned.jobs = jobs;
        Ok(planned)
    }

    /// Returns the Python versions of the jobs, by filename.
    pub(super) fn covers<'a>(
        &self,
        files: impl Iterator<Item = &'a Gathered>,
    ) -> BTreeMap<String, Vec<String>> {
        self.by_file(&self.pythons, files)
    }

    /// Returns the GPU targets of the jobs, by filename.
    pub(super) fn gfx<'a>(
        &self,
        files: impl Iterator<Item = &'a Gathered>,
    ) -> BTreeMap<String, Vec<String>> {
        self.by_file(&self.gfx, files)
    }

    /// Returns the run-time requirements, by filename.
    pub(super) fn run_time<'a>(
        &self,
        files: impl Iterator<Item = &'a Gathered>,
    ) -> BTreeMap<String, RunTime> {
        self.by_file(&self.run_time, files)
    }

    fn by_file<'a, T: Clone>(
        &self,
        told: &[T],
        files: impl Iterator<Item = &'a Gathered>,
    ) -> BTreeMap<String, T> {
        let jobs = self
            .expected
            .iter()
            .map(|job| WheelCell::expected(&job.wheel));
        let by_cell: BTreeMap<WheelCell, &T> = jobs.zip(told).collect();
        let of_file = |g: &Gathered| {
            let planned = WheelCell::as_planned(g.asset.wheel()?)
                .iter()
                .find_map(|cell| by_cell.get(cell))?;
            Some((g.asset.name().to_owned(), (*planned).clone()))
        };
        files.filter_map(of_file).collect()
    }
}
