//! A published wheel as a decision sees it.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use rock_compat::{Compat, InstallCommands, TorchWheel};
use rock_names::{self as names, BuildTag, GfxTarget, LabelParts, RocmVersion};
use rock_plan::config::RunTime;
use rock_publish::GfxOrigin;

use super::devices::{self, DeviceOffer};
use super::{PlatformNeed, PythonRange, TorchSeries, WheelOffer};

/// A wheel with all that a machine is asked for.
#[derive(Debug, Clone)]
pub struct WheelCandidate {
    /// The wheel and where it is.
    pub offer: WheelOffer,
    /// The project, normalised.
    pub distribution: String,
    /// Its version without the label.
    pub version: String,
    /// Position among those of its project by version and backend: 0 is the newest release with the
    /// backend that labels do not name; prereleases come last with [`PrereleaseMode::IfNecessary`].
    pub rank: usize,
    /// What it runs on.
    pub accelerator: WheelAccelerator,
    /// The torch it is for; `None` for wheels without torch, and where nothing says which.
    pub torch: Option<TorchSeries>,
    /// The backend that its label names.
    pub backend: Option<String>,
    /// The Pythons it is for.
    pub pythons: Vec<PythonRange>,
    /// The systems it is for.
    pub platforms: Vec<PlatformNeed>,
    /// The GPUs it has code for.
    pub gfx: GfxCode,
    /// Its torch in the official index.
    pub official_torch: Option<TorchWheel>,
    /// Its needs at run time.
    pub run_time: RunTime,
    /// The wheels with its code for GPUs.
    pub devices: Vec<DeviceOffer>,
    /// The index that serves what those need; only where there are some.
    pub device_index: Option<String>,
}

/// What a wheel's label says it runs on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WheelAccelerator {
    /// This ROCm.
    Rocm(RocmVersion),
    /// Something else, in words: `CUDA 12.4`.
    Other(String),
    /// Nothing says so.
    Unsaid,
}

/// The GPUs that a wheel has code for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GfxCode {
    /// It holds no code for a GPU.
    Any,
    /// These processors, sorted.
    Targets(Vec<String>),
    /// Nothing says so.
    Unsaid,
}

/// Needs at run time by distribution and backend.
type RunTimes = BTreeMap<(String, Option<String>), RunTime>;

/// Order of prereleases and final versions (PEP 440).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PrereleaseMode {
    /// Every final version is preferred to any prerelease, as installers do by default.
    IfNecessary,
    /// Versions are compared alone, as with `pip install --pre`.
    Allow,
}

/// Returns the wheels in the order in which one that fits is preferred: newest version, the backend
/// that labels do not name, latest build, newest ROCm and torch, tags that say which C library is
/// needed. Leaves out those whose label cannot be parsed; [`unread`] reports them. Device wheels go
/// with their host wheel.
pub fn candidates(
    offers: Vec<WheelOffer>,
    compat: &Compat,
    mode: PrereleaseMode,
) -> Vec<WheelCandidate> {
    let known = compat.rocm_versions();
    let (mut tags, mut run_times) = (BTreeMap::new(), RunTimes::new());
    let (offers, mut devices) = devices::apart(offers, compat);
    let read = offers
        .into_iter()
        .filter(|offer| label_fault(offer, &known).is_none());
    let with_devices = |wheel: WheelCandidate| {
        let own = devices::take(&mut devices, &wheel.offer);
        wheel.with_devices(own, compat)
    };
    let mut wheels: Vec<WheelCandidate> = read
        .map(|offer| candidate(offer, &known, compat, &mut tags, &mut run_times))
        .map(with_devices)
        .collect();
    let rank_key = |wheel: &WheelCandidate| rank_key(wheel, mode);
    wheels.sort_by_cached_key(|wheel| (rank_key(wheel), preference(wheel)));
    let mut rank = 0;
    for at in 1..wheels.len() {
        let (before, after) = wheels.split_at_mut(at);
        let (before, after) = (&before[at - 1], &mut after[0]);
        rank = match before.distribution == after.distribution {
            true if rank_key(before) == rank_key(after) => rank,
            true => rank + 1,
            false => 0,
        };
        after.rank = rank;
    }
    wheels
}

/// The wheels whose label cannot be taken apart, and why: what they are for is not known.
pub fn unread<'o>(offers: &'o [WheelOffer], compat: &Compat) -> Vec<(&'o WheelOffer, String)> {
    let known = compat.rocm_versions();
    offers
        .iter()
        .filter_map(|offer| Some((offer, label_fault(offer, &known)?)))
        .collect()
}

fn label_fault(offer: &WheelOffer, known: &[RocmVersion]) -> Option<String> {
    // A wheel without compiled code may be the same for every accelerator, and name none.
    if offer
        .row
        .as_ref()
        .is_some_and(|row| row.accelerator.is_some())
        || offer.name.is_platform_independent()
    {
        return None;
    }
    let label = offer.name.label()?;
    LabelParts::parse(&label, known)
        .err()
        .map(|error| error.to_string())
}

/// Name of the project; prereleases after final versions where the mode asks for it, newest first;
/// the backend.
fn rank_key(
    wheel: &WheelCandidate,
    mode: PrereleaseMode,
) -> (String, bool, Reverse<names::Version>, Option<String>) {
    let version = wheel.offer.name.version().public();
    let is_last = mode == PrereleaseMode::IfNecessary && version.is_prerelease();
    (
        wheel.distribution.clone(),
        is_last,
        Reverse(version),
        wheel.backend.clone(),
    )
}

type Preference = (
    Reverse<Option<BuildTag>>,
    Reverse<Option<RocmVersion>>,
    Reverse<Option<TorchSeries>>,
    bool,
    String,
);

fn preference(wheel: &WheelCandidate) -> Preference {
    let rocm = match &wheel.accelerator {
        WheelAccelerator::Rocm(rocm) => Some(rocm.clone()),
        _ => None,
    };
    let is_silent = wheel
        .platforms
        .iter()
        .all(|need| need.libc.is_none() && need.system != "any");
    (
        Reverse(wheel.offer.name.build_tag().cloned()),
        Reverse(rocm),
        Reverse(wheel.torch.clone()),
        is_silent,
        wheel.offer.file.clone(),
    )
}

fn candidate(
    offer: WheelOffer,
    known: &[RocmVersion],
    compat: &Compat,
    tags: &mut BTreeMap<String, PlatformNeed>,
    run_times: &mut RunTimes,
) -> WheelCandidate {
    let name = &offer.name;
    let label = name.label();
    // A label with two readings says nothing by itself; a manifest has the one that was meant.
    let parsed = label
        .as_ref()
        .and_then(|label| LabelParts::parse(label, known).ok());
    let certain = parsed
        .as_ref()
        .filter(|parsed| !parsed.ambiguous)
        .map(|parsed| &parsed.parts.accelerator);
    let told = offer.row.as_ref().and_then(|row| row.accelerator.as_ref());
    let accelerator = match (told, certain) {
        (Some(told), _) if told.name == "rocm" => told
            .version
            .parse()
            .map_or(WheelAccelerator::Unsaid, WheelAccelerator::Rocm),
        (Some(told), _) => WheelAccelerator::Other(format!(
            "{} {}",
            told.name.to_uppercase(),
            names::cuda_version(&told.version)
        )),
        (None, Some(names::Accelerator::Rocm(rocm))) => WheelAccelerator::Rocm(rocm.release()),
        (None, Some(names::Accelerator::Cuda(digits))) => {
            WheelAccelerator::Other(format!("CUDA {}", names::cuda_version(digits)))
        }
        (None, None) => WheelAccelerator::Unsaid,
    };
    let (torch, backend) = match (parsed, &label) {
        (Some(parsed), _) => (parsed.parts.torch, parsed.parts.backend),
        (None, Some(label)) => LabelParts::parse_without_accelerator(label).unwrap_or_default(),
        (None, None) => (None, None),
    };
    let torch = torch.as_ref().map(TorchSeries::of);
    let official_torch = match (&torch, &accelerator) {
        // The official index has no torch for ROCm on Windows.
        (Some(torch), WheelAccelerator::Rocm(rocm))
            if torch.tail.is_empty() && !name.is_windows_only() =>
        {
            compat.official_torch(&torch.to_string(), rocm)
        }
        _ => None,
    };
    let of_row = offer
        .row
        .as_ref()
        .map(|row| &row.run_time)
        .filter(|run_time| !run_time.is_empty());
    let run_time = of_row.cloned().or_else(|| {
        let found = run_times.entry((name.distribution().to_string(), backend.clone()));
        Some(
            found
                .or_insert_with(|| RunTime::of_shipped(name.distribution(), backend.as_deref()))
                .clone(),
        )
    });
    WheelCandidate {
        distribution: name.distribution().normalized(),
        version: name.version().public().to_string(),
        rank: 0,
        accelerator,
        torch,
        backend,
        pythons: PythonRange::of(
            name,
            offer
                .row
                .as_ref()
                .and_then(|row| row.requires_python.as_deref()),
        ),
        platforms: PlatformNeed::of(name, tags),
        gfx: gfx(&offer, compat),
        official_torch,
        run_time: run_time.unwrap_or_default(),
        devices: Vec::new(),
        device_index: None,
        offer,
    }
}

impl WheelCandidate {
    /// Returns the lines that install it with its code for these GPUs, or for all where none is
    /// known; none where nothing says where it is.
    pub fn install_lines(&self, gfx: &BTreeSet<String>) -> Option<InstallCommands> {
        let url = Some(&self.offer.url).filter(|url| !url.is_empty())?;
        let words = devices::words(url, &self.devices, gfx);
        Some(InstallCommands::new(
            &words,
            self.device_index.as_deref(),
            self.official_torch.as_ref(),
        ))
    }

    /// Returns the wheels with its code for these GPUs, or for all where none is known.
    pub fn needed_devices<'c>(
        &'c self,
        gfx: &'c BTreeSet<String>,
    ) -> impl Iterator<Item = &'c DeviceOffer> {
        self.devices.iter().filter(|device| device.is_needed(gfx))
    }

    /// Adds the wheels with its code for GPUs, and the index of AMD that has what they need.
    fn with_devices(mut self, devices: Vec<DeviceOffer>, compat: &Compat) -> Self {
        let Some(targets) = devices::targets(&devices) else {
            return self;
        };
        self.gfx = GfxCode::Targets(targets);
        if let WheelAccelerator::Rocm(rocm) = &self.accelerator {
            let index = compat.torch_index("amd-index", self.offer.name.version(), rocm);
            self.device_index = index
                .filter(|index| index.device_extras)
                .map(|index| index.address.clone());
        }
        self.devices = devices;
        self
    }

    /// Leaves out device wheels, and the targets that have none any more.
    pub(super) fn without_devices(mut self, is_withdrawn: impl Fn(&WheelOffer) -> bool) -> Self {
        if self
            .devices
            .iter()
            .any(|device| is_withdrawn(&device.offer))
        {
            self.devices.retain(|device| !is_withdrawn(&device.offer));
            self.gfx = GfxCode::Targets(devices::targets(&self.devices).unwrap_or_default());
        }
        self
    }

    /// Prints the Pythons that it is for.
    pub fn shown_pythons(&self) -> String {
        if self.pythons.is_empty() {
            return "no CPython".to_owned();
        }
        self.pythons
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join(" or ")
    }
}

fn gfx(offer: &WheelOffer, compat: &Compat) -> GfxCode {
    if offer.name.is_platform_independent() {
        return GfxCode::Any;
    }
    let listed = offer.row.as_ref().map_or(&[][..], |row| &row.gfx);
    if listed.is_empty()
        && offer
            .row
            .as_ref()
            .is_some_and(|row| row.gfx_from == Some(GfxOrigin::Wheel))
    {
        return GfxCode::Any;
    }
    let mut targets = Vec::new();
    for text in listed {
        match compat.family(text) {
            Some(members) => targets.extend(members.iter().cloned()),
            None => targets.extend(
                text.parse::<GfxTarget>()
                    .ok()
                    .map(|target| target.processor().to_owned()),
            ),
        }
    }
    targets.sort_by_key(|target| (target.len(), target.clone()));
    targets.dedup();
    if targets.is_empty() {
        GfxCode::Unsaid
    } else {
        GfxCode::Targets(targets)
    }
}
