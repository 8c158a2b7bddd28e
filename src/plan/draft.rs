//! Legs to jobs in compact form.

use std::collections::{BTreeMap, HashMap};

use super::changes::Changes;
use super::estimate::{Question, estimate};
use super::further::{Further, Own};
use super::naming::{Labels, Words, name_end};
use super::place::{Place, places};
use super::refused::Refused;
use super::shared::{Device, Draft, Shared, Site};
use super::{DroppedGfx, Estimate, Options};
use crate::compat::Compat;
use crate::config::{AxisRole, AxisValue, Config, Gfx, GpuPolicy, Leaves, Overrides, Profile, TorchFrom, Word};
use crate::diagnostic::{Diagnostic, Sink, registry::plan as codes};
use crate::matrix::{Cell, Excluded, Universe, choose_gfx};
use crate::names::{GfxTarget, LocalLabel};

/// Makes the compact jobs of one group.
pub(super) struct Drafting<'a> {
    config: &'a Config,
    profile: &'a Profile,
    universe: &'a Universe,
    compat: &'a Compat,
    labels: &'a Labels,
    options: &'a Options,
    changes: Changes<'a>,
    further: Further<'a>,
    refused: Refused<'a>,
    at: BTreeMap<AxisRole, usize>,
    runner_axis: Option<usize>,
    gpu_axis: Option<usize>,
}

impl<'a> Drafting<'a> {
    pub(super) fn new(
        config: &'a Config,
        profile: &'a Profile,
        universe: &'a Universe,
        compat: &'a Compat,
        labels: &'a Labels,
        options: &'a Options,
    ) -> Self {
        let named = |name: &str| universe.axes().iter().position(|column| column.name == name);
        let at = universe.axes().iter().enumerate().map(|(axis, column)| (column.role, axis)).collect();
        Self {
            config,
            profile,
            universe,
            compat,
            labels,
            options,
            changes: Changes::new(config, universe),
            further: Further::new(config, profile, universe),
            refused: Refused::new(universe, compat, config.platform),
            at,
            runner_axis: named("runner"),
            gpu_axis: named("gpu"),
        }
    }

    /// The compact jobs with what they share, and what has no job because none of its families can be built.
    pub(super) fn all(
        &self,
        mut shared: Shared,
        legs: &[Cell],
        sink: &mut Sink,
    ) -> (Vec<Draft>, Shared, Vec<Excluded>) {
        let mut drafts: Vec<Draft> = Vec::with_capacity(legs.len());
        let mut refused = Vec::new();
        let mut collapsed: HashMap<Cell, usize> = HashMap::new();
        for &cell in legs {
            let Some(words) = Words::of(self.universe, cell, self.profile) else { continue };
            if let Some(axis) = self.collapsed_axis(&words) {
                let key = self.universe.with(cell, axis, 0);
                let index = self.universe.index(cell, axis);
                if let Some(&present) = collapsed.get(&key) {
                    self.cover(&mut shared, &mut drafts[present], axis, index, cell);
                    continue;
                }
                let mut draft = self.draft(&mut shared, cell, &words, sink);
                if shared.devices.get(draft.device).is_refused {
                    refused.push((cell, self.refused.of(self.universe, cell)));
                    continue;
                }
                collapsed.insert(key, drafts.len());
                self.cover(&mut shared, &mut draft, axis, index, cell);
                drafts.push(draft);
                continue;
            }
            let draft = self.draft(&mut shared, cell, &words, sink);
            if shared.devices.get(draft.device).is_refused {
                refused.push((cell, self.refused.of(self.universe, cell)));
            } else {
                drafts.push(draft);
            }
        }
        let gfx_axis = self.at.get(&AxisRole::Gfx).copied();
        let excluded = self.refused.excluded(self.universe, &refused, gfx_axis);
        (drafts, shared, excluded)
    }

    /// The axis whose legal values share one wheel for this backend.
    fn collapsed_axis(&self, words: &Words<'_>) -> Option<usize> {
        words
            .backend
            .collapse
            .iter()
            .find_map(|name| self.universe.axes().iter().position(|column| column.name == *name))
    }

    /// Adds a value to what a job covers; the job runs under the lowest value that is not free-threaded.
    fn cover(&self, shared: &mut Shared, draft: &mut Draft, axis: usize, index: usize, cell: Cell) {
        if draft.covers == 0 {
            shared.covers.push((axis, Vec::new()));
            draft.covers = u32::try_from(shared.covers.len()).expect("fewer than 2^32 jobs fit in memory");
        }
        let covered = &mut shared.covers[draft.covers as usize - 1].1;
        if !covered.contains(&index) {
            covered.push(index);
        }
        let python = |cell: Cell| match self.universe.value(cell, axis).map(|value| &value.value) {
            Some(Word::Python(python)) => Some((python.is_free_threaded(), *python)),
            _ => None,
        };
        if python(cell) < python(draft.cell) {
            draft.cell = cell;
        }
    }

    fn index(&self, cell: Cell, role: AxisRole) -> usize {
        self.at.get(&role).map_or(0, |&axis| self.universe.index(cell, axis))
    }

    fn draft(&self, shared: &mut Shared, cell: Cell, words: &Words<'_>, sink: &mut Sink) -> Draft {
        let package = self.index(cell, AxisRole::Package);
        let (torch, rocm) = (self.index(cell, AxisRole::Torch), self.index(cell, AxisRole::Rocm));
        let (backend, python) = (self.index(cell, AxisRole::Backend), self.index(cell, AxisRole::Python));
        let gfx = self.index(cell, AxisRole::Gfx);
        let axis_index = |axis: Option<usize>| axis.map_or(0, |axis| self.universe.index(cell, axis));
        let (runner, gpu) = (axis_index(self.runner_axis), axis_index(self.gpu_axis));
        let matching = self.changes.matching(self.universe, cell);
        let changes = self.changes_of(shared, &matching);
        let key = changes as usize;
        let (kind, commit) = shared.packages.get(package).map_or((0, 0), |package| (package.kind, package.commit));
        let label =
            shared.labels.number((torch, rocm, commit, backend), || self.labels.label(words, self.config, sink));
        let refused = self.refused.of(self.universe, cell);
        let device = shared.devices.number((kind, rocm, backend, gfx, key, refused), || {
            self.device(cell, words, refused, (shared.changes.get(changes), &matching), sink)
        });
        // The targets are a part of the name of a tree, and no part of that of a wheel.
        let leaves = self.profile.leaves;
        let made_for = if matches!(leaves, Leaves::Wheels | Leaves::Sdist) { 0 } else { device as usize };
        let targets = &shared.devices.get(device).gfx;
        let tag =
            shared.tags.number((python, backend, made_for), || name_end(words, leaves, targets, self.config.platform));
        // The image depends on the Python only where that is the image's own.
        let python = if self.config.python_from == crate::config::PythonFrom::Image { python } else { 0 };
        let site = shared
            .sites
            .number((torch, rocm, python, runner, gpu, key), || self.site(cell, words, shared.changes.get(changes)));
        let estimate = shared.estimates.number((device as usize, site as usize, backend), || {
            self.estimate(words, shared.devices.get(device), shared.sites.get(site))
        });
        let wheels = self.further_wheels(shared, cell, words, (label, tag, changes), device, sink);
        Draft { cell, label, tag, device, site, estimate, changes, wheels, covers: 0 }
    }

    /// The number of the names of the further wheels.
    fn further_wheels(
        &self,
        shared: &mut Shared,
        cell: Cell,
        words: &Words<'_>,
        (label, tag, changes): (u32, u32, u32),
        device: u32,
        sink: &mut Sink,
    ) -> u32 {
        if self.further.is_none() {
            return Shared::NO_WHEELS;
        }
        let package = self.index(cell, AxisRole::Package);
        let key = (label, tag, changes, self.further.asked(cell, package, device));
        let Shared { wheels, labels, changes: all, devices, packages, .. } = shared;
        let own = Own {
            version: packages.get(package).map_or("", |package| package.in_name.as_str()),
            label: labels.get(label).as_ref().map(LocalLabel::as_str),
            device: devices.get(device),
        };
        wheels.number(key, || self.further.of(cell, words, &own, all.get(changes), sink))
    }

    /// The number of what these rows change together.
    fn changes_of(&self, shared: &mut Shared, matching: &[usize]) -> u32 {
        if matching.is_empty() {
            // Not asked of the pool: comparing two empty keys in it took two fifths of planning a million jobs.
            return Shared::NO_CHANGES;
        }
        shared.changes.number(matching.to_vec(), || self.changes.merged(matching))
    }

    /// The device code of a cell, with the rows that change it. None of the wanted targets left is a fault.
    fn device(
        &self,
        cell: Cell,
        words: &Words<'_>,
        refused: u64,
        (changes, matching): (&Overrides, &[usize]),
        sink: &mut Sink,
    ) -> Device {
        let none = Device { families: Vec::new(), gfx: Vec::new(), dropped: Vec::new(), is_refused: false };
        if !words.backend.device_code {
            return none;
        }
        let of_axis = self.at.get(&AxisRole::Gfx).and_then(|&axis| self.universe.value(cell, axis));
        let (wanted, families): (&[GfxTarget], Vec<String>) = match (of_axis, &changes.gfx, &self.config.gfx) {
            (Some(AxisValue { text, value: Word::Gfx(targets) }), _, _) => {
                (targets, text.split(';').map(str::to_owned).collect())
            }
            (_, Some(targets), _) => (targets, changes.families.clone().unwrap_or_default()),
            (_, _, Gfx::Targets(targets)) => (targets, self.config.families.clone()),
            (_, None, Gfx::Host) => return none,
        };
        let (left, taken): (Vec<String>, Vec<String>) =
            families.into_iter().partition(|family| self.refused.why(refused, family).is_none());
        if left.is_empty() && !taken.is_empty() {
            return Device { is_refused: true, ..none };
        }
        let mut dropped = Vec::new();
        let wanted: Vec<GfxTarget> = if taken.is_empty() {
            wanted.to_vec()
        } else {
            // A target may stand in another family still.
            let kept: Vec<GfxTarget> = left.iter().flat_map(|family| self.members(family)).collect();
            for family in &taken {
                let reason = self.refused.why(refused, family).unwrap_or_default();
                let gone = self.members(family).into_iter().filter(|target| !kept.contains(target));
                dropped.extend(gone.map(|target| DroppedGfx { target, reason: reason.clone() }));
            }
            wanted.iter().filter(|target| kept.contains(target)).cloned().collect()
        };
        let wanted = wanted.as_slice();
        let torch_wheels = self.config.torch_from == TorchFrom::PytorchIndex && words.torch.is_some();
        let package = (self.profile.package.as_str(), words.package);
        let choice = choose_gfx(wanted, self.compat, package, &words.backend.name, words.rocm, torch_wheels);
        if choice.kept.is_empty() && !wanted.is_empty() {
            sink.push(self.no_gfx_left(cell, words, matching, &choice.dropped));
        }
        dropped.extend(choice.dropped.into_iter().map(|(target, reason)| DroppedGfx { target, reason }));
        let is_compiled = |family: &String| self.members(family).iter().any(|target| choice.kept.contains(target));
        let families = left.into_iter().filter(is_compiled).collect();
        Device { families, gfx: choice.kept, dropped, is_refused: false }
    }

    /// The targets of a family; a target is a family of its own.
    fn members(&self, family: &str) -> Vec<GfxTarget> {
        match self.compat.family(family) {
            Some(members) => members.iter().filter_map(|member| member.parse().ok()).collect(),
            None => family.parse().into_iter().collect(),
        }
    }

    fn no_gfx_left(
        &self,
        cell: Cell,
        words: &Words<'_>,
        matching: &[usize],
        dropped: &[(GfxTarget, String)],
    ) -> Diagnostic {
        let why: Vec<String> = dropped.iter().map(|(target, why)| format!("{target}: {why}")).collect();
        let place_on_axis = |role: AxisRole| {
            let axis = *self.at.get(&role)?;
            let (column, index) = (&self.universe.axes()[axis], self.universe.index(cell, axis));
            let text = &column.values[index].as_ref()?.text;
            Some((format!("axes.{}[{index}]", column.name), format!("{} {text}", column.name)))
        };
        let of_axis = place_on_axis(AxisRole::Gfx).map(|(path, _)| path);
        let path = of_axis.or_else(|| self.changes.path_of_gfx(matching)).unwrap_or_else(|| "gfx".to_owned());
        let diagnostic = Diagnostic::new(&codes::NO_GFX_LEFT, format!("no gfx target is left ({})", why.join("; ")))
            .at(self.config.places.of(&path), format!("for the backend `{}`", words.backend.name))
            .help("add a target that the build accepts, or exclude this combination");
        let also = [AxisRole::Package, AxisRole::Rocm].into_iter().filter_map(place_on_axis);
        also.fold(diagnostic, |diagnostic, (path, text)| diagnostic.also(self.config.places.of(&path), text))
    }

    fn site(&self, cell: Cell, words: &Words<'_>, changes: &Overrides) -> Site {
        let text = |axis: Option<usize>| axis.and_then(|axis| self.universe.value(cell, axis)).map(|v| v.text.as_str());
        let runner = changes.runner.as_deref().or(text(self.runner_axis)).unwrap_or(&self.config.runner);
        let places = places(runner, self.compat);
        let gpu = changes.gpu.or(text(self.gpu_axis).and_then(GpuPolicy::from_word)).unwrap_or(self.config.gpu);
        let (image, note) = match &changes.image {
            Some(image) => (Some(image.clone()), None),
            None => super::image::choose(self.config, self.compat, words),
        };
        Site {
            image,
            note,
            gpu,
            // Where a pool decides, the estimate is that of its smallest member.
            threads: self.options.runner.map(|shape| shape.threads).or(least(&places, |place| place.threads)),
            limit_min: least(&places, |place| place.limit_min),
            tested_at: match self.config.test.runner.as_str() {
                "" => Vec::new(),
                runner => super::place::places(runner, self.compat),
            },
            places,
        }
    }

    fn estimate(&self, words: &Words<'_>, device: &Device, site: &Site) -> Option<Estimate> {
        estimate(
            &self.compat.tables().build_costs,
            &Question {
                package: &self.profile.package,
                backend: &words.backend.name,
                targets: u32::try_from(device.gfx.len()).unwrap_or(u32::MAX),
                threads: site.threads?,
                limit_min: site.limit_min,
                levers: &words.backend.levers,
            },
        )
    }
}

fn least(places: &[Place], of: impl Fn(&Place) -> Option<u32>) -> Option<u32> {
    places.iter().filter_map(of).min()
}
