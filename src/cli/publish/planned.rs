//! What a plan says of the wheels that are published.

use std::collections::BTreeMap;

use super::super::assets::Gathered;
use super::super::{Exit, load, release_folder};
use crate::config::RunTime;
use crate::diagnostic::Sink;
use crate::names::Digest;
use crate::plan::{self, Job};
use crate::publish::{PlannedWheel, WheelCell};

/// What a plan says of wheels.
#[derive(Debug, Default)]
pub(super) struct Planned {
    pub(super) expected: Vec<PlannedWheel>,
    /// Archives of install trees and source distributions, each with its job.
    pub(super) archives: Vec<(String, String)>,
    /// For each of the expected, the Pythons it is for.
    pythons: Vec<Vec<String>>,
    /// For each of the expected, the gfx targets it is built for.
    gfx: Vec<Vec<String>>,
    /// For each of the expected, its needs at run time.
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
            // A plan that this program wrote has wheel names that it can read.
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

    /// Name of a file → the Pythons that its job is for.
    pub(super) fn covers<'a>(
        &self,
        files: impl Iterator<Item = &'a Gathered>,
    ) -> BTreeMap<String, Vec<String>> {
        self.by_file(&self.pythons, files)
    }

    /// Name of a file → the gfx targets that its job builds for.
    pub(super) fn gfx<'a>(
        &self,
        files: impl Iterator<Item = &'a Gathered>,
    ) -> BTreeMap<String, Vec<String>> {
        self.by_file(&self.gfx, files)
    }

    /// Name of a file → its needs at run time.
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
