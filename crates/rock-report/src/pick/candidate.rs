//! Published wheels with the properties that a decision compares.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use rock_compat::{Compat, InstallCommands, RuntimeRequirements, TorchWheel};
use rock_names::{self as names, BuildTag, GfxTarget, LabelParts, RocmVersion};
use rock_plan::config::recipe::shipped_runtime_requirements;
use rock_publish::GfxOrigin;

use super::devices::{self, DeviceOffer};
use super::{PlatformNeed, PythonRange, TorchSeries, WheelOffer};

/// A published wheel with the properties that are matched against a machine.
#[derive(Debug, Clone)]
pub struct WheelCandidate {
    /// The wheel and its URL.
    pub offer: WheelOffer,
    /// The normalized name of the distribution.
    pub distribution: String,
    /// The public version.
    pub version: String,
    /// The position among the wheels of its distribution by version and backend: 0 is the newest
    /// release with the backend that labels do not name; prereleases come last with
    /// [`PrereleaseMode::IfNecessary`].
    pub rank: usize,
    /// The accelerator that it is for.
    pub accelerator: WheelAccelerator,
    /// The torch series that it is for; `None` for wheels without torch, or if nothing names the
    /// series.
    pub torch: Option<TorchSeries>,
    /// The backend in its label.
    pub backend: Option<String>,
    /// The supported Python versions.
    pub pythons: Vec<PythonRange>,
    /// The supported platforms.
    pub platforms: Vec<PlatformNeed>,
    /// The GPUs that it has code for.
    pub gfx: GfxCode,
    /// Its compiled code.
    pub compiled_code: CompiledCode,
    /// The matching torch in the official index.
    pub official_torch: Option<TorchWheel>,
    /// The needs at run time.
    pub run_time: RuntimeRequirements,
    /// The device wheels with its GPU code.
    pub devices: Vec<DeviceOffer>,
    /// The index that serves the requirements of the device wheels; set only if there are device
    /// wheels.
    pub device_index: Option<String>,
}

/// The accelerator that a wheel is for, according to its manifest or label.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WheelAccelerator {
    /// ROCm, with its version.
    Rocm(RocmVersion),
    /// Another accelerator, in words: `CUDA 12.4`.
    Other(String),
    /// Nothing names an accelerator, but the libraries need one of these major versions of ROCm.
    RocmLibraries(Vec<u32>),
    /// Neither the manifest nor the label names an accelerator.
    Unsaid,
}

/// The GPUs that a wheel has code for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GfxCode {
    /// The wheel has no GPU code.
    Any,
    /// Code for these processors, sorted.
    Targets(Vec<String>),
    /// The GPUs are unknown.
    Unsaid,
}

/// The compiled code of a wheel, which decides whether versions of ROCm and torch matter to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CompiledCode {
    /// None: the wheel is for any platform.
    Absent,
    /// Libraries that need no ROCm library and have no GPU code, according to a manifest.
    WithoutRocm,
    /// Libraries that may need ROCm.
    Present,
}

impl CompiledCode {
    /// Returns the case of the table `reach` for a machine with another ROCm; `None` if it depends
    /// on the versions.
    pub fn rocm_case(self) -> Option<&'static str> {
        match self {
            Self::Absent => Some("no-compiled-code"),
            Self::WithoutRocm => Some("no-rocm-library"),
            Self::Present => None,
        }
    }

    /// Returns the case of the table `reach` for a machine with another torch. Libraries that need
    /// no ROCm may still need torch.
    pub fn torch_case(self) -> &'static str {
        match self {
            Self::Absent => "no-compiled-code",
            Self::WithoutRocm | Self::Present => "other-minor",
        }
    }
}

/// Needs at run time, by distribution and backend.
type RequirementsByBackend = BTreeMap<(String, Option<String>), RuntimeRequirements>;

/// The order of prereleases and final versions (PEP 440).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PrereleaseMode {
    /// Every final version is preferred to any prerelease, as installers do by default.
    IfNecessary,
    /// Only the versions are compared, as with `pip install --pre`.
    Allow,
}

/// Returns the wheels in order of preference: newest version, default backend, latest build tag,
/// newest ROCm and torch, tags that name the required C library. Leaves out wheels whose label
/// cannot be parsed, which [`unread`] reports. Device wheels are attached to their host wheel.
pub fn candidates(
    offers: Vec<WheelOffer>,
    compat: &Compat,
    mode: PrereleaseMode,
) -> Vec<WheelCandidate> {
    let known = compat.rocm_versions();
    let (mut tags, mut run_times) = (BTreeMap::new(), RequirementsByBackend::new());
    let (offers, mut devices) = devices::apart(offers, compat);
    let read = offers
        .into_iter()
        .filter(|offer| label_fault(offer, known).is_none());
    let with_devices = |wheel: WheelCandidate| {
        let own = devices::take(&mut devices, &wheel.offer);
        wheel.with_devices(own, compat)
    };
    let mut wheels: Vec<WheelCandidate> = read
        .map(|offer| candidate(offer, known, compat, &mut tags, &mut run_times))
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

/// Returns the wheels whose label cannot be parsed, so that their target is unknown, with the
/// reason.
pub fn unread<'o>(offers: &'o [WheelOffer], compat: &Compat) -> Vec<(&'o WheelOffer, String)> {
    let known = compat.rocm_versions();
    offers
        .iter()
        .filter_map(|offer| Some((offer, label_fault(offer, known)?)))
        .collect()
}

fn label_fault(offer: &WheelOffer, known: &[RocmVersion]) -> Option<String> {
    // A wheel without compiled code may support every accelerator and name none.
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

/// Returns the sort key: distribution; prereleases after final versions if the mode asks for it;
/// newest version first; backend.
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
    run_times: &mut RequirementsByBackend,
) -> WheelCandidate {
    let name = &offer.name;
    let label = name.label();
    // An ambiguous label is not used on its own; a manifest contains the intended reading.
    let parsed = label
        .as_ref()
        .and_then(|label| LabelParts::parse(label, known).ok());
    let certain = parsed
        .as_ref()
        .filter(|parsed| !parsed.ambiguous)
        .map(|parsed| &parsed.parts.accelerator);
    let recorded = offer.row.as_ref().and_then(|row| row.accelerator.as_ref());
    let accelerator = match (recorded, certain) {
        (Some(recorded), _) if recorded.name == "rocm" => recorded
            .version
            .parse()
            .map_or(WheelAccelerator::Unsaid, WheelAccelerator::Rocm),
        (Some(recorded), _) => WheelAccelerator::Other(format!(
            "{} {}",
            recorded.name.to_uppercase(),
            names::cuda_version(&recorded.version)
        )),
        (None, Some(names::Accelerator::Rocm(rocm))) => WheelAccelerator::Rocm(rocm.release()),
        (None, Some(names::Accelerator::Cuda(digits))) => {
            WheelAccelerator::Other(format!("CUDA {}", names::cuda_version(digits)))
        }
        (None, None) => match offer.row.as_ref().map(|row| &row.needs_rocm) {
            Some(majors) if !majors.is_empty() => WheelAccelerator::RocmLibraries(majors.clone()),
            _ => WheelAccelerator::Unsaid,
        },
    };
    let (torch, backend) = match (parsed, &label) {
        (Some(parsed), _) => (parsed.parts.torch, parsed.parts.backend),
        (None, Some(label)) => LabelParts::parse_without_accelerator(label).unwrap_or_default(),
        (None, None) => (None, None),
    };
    let torch = torch.as_ref().map(TorchSeries::of);
    let official_torch = match (&torch, &accelerator) {
        // The official index has no ROCm build of torch for Windows.
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
                .or_insert_with(|| {
                    shipped_runtime_requirements(name.distribution(), backend.as_deref())
                })
                .clone(),
        )
    });
    let platforms = PlatformNeed::of(name, tags);
    let gfx = gfx(&offer, compat);
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
        compiled_code: compiled_code(&offer, &platforms, &gfx),
        platforms,
        gfx,
        official_torch,
        run_time: run_time.unwrap_or_default(),
        devices: Vec::new(),
        device_index: None,
        offer,
    }
}

impl WheelCandidate {
    /// Returns the commands that install it with its code for these GPUs, or for all GPUs if none
    /// are given; `None` if its URL is unknown.
    pub fn install_lines(&self, gfx: &BTreeSet<String>) -> Option<InstallCommands> {
        let url = Some(&self.offer.url).filter(|url| !url.is_empty())?;
        let words = devices::words(url, &self.devices, gfx);
        Some(InstallCommands::new(
            &words,
            self.device_index.as_deref(),
            self.official_torch.as_ref(),
        ))
    }

    /// Returns the device wheels with its code for these GPUs, or for all GPUs if none are given.
    pub fn needed_devices<'c>(
        &'c self,
        gfx: &'c BTreeSet<String>,
    ) -> impl Iterator<Item = &'c DeviceOffer> {
        self.devices.iter().filter(|device| device.is_needed(gfx))
    }

    /// Adds device wheels, and the AMD index that serves their requirements.
    fn with_devices(mut self, devices: Vec<DeviceOffer>, compat: &Compat) -> Self {
        let Some(targets) = devices::targets(&devices) else {
            return self;
        };
        self.gfx = GfxCode::Targets(targets);
        if self.compiled_code == CompiledCode::WithoutRocm {
            self.compiled_code = CompiledCode::Present;
        }
        if let WheelAccelerator::Rocm(rocm) = &self.accelerator {
            let index = compat.torch_index("amd-index", self.offer.name.version(), rocm);
            self.device_index = index
                .filter(|index| index.device_extras)
                .map(|index| index.address.clone());
        }
        self.devices = devices;
        self
    }

    /// Removes yanked device wheels, and the targets that have none left.
    pub(super) fn without_devices(mut self, is_yanked: impl Fn(&WheelOffer) -> bool) -> Self {
        if self.devices.iter().any(|device| is_yanked(&device.offer)) {
            self.devices.retain(|device| !is_yanked(&device.offer));
            self.gfx = GfxCode::Targets(devices::targets(&self.devices).unwrap_or_default());
        }
        self
    }

    /// Returns whether the wheel may need a ROCm that nothing names.
    pub(super) fn has_unknown_rocm(&self) -> bool {
        self.accelerator == WheelAccelerator::Unsaid && self.gfx != GfxCode::Any
    }

    /// Formats the supported Python versions.
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

/// Returns the compiled code of a wheel. A manifest that lists the GPU code as read from the wheel
/// lists the ROCm that its libraries need, too. Only Linux libraries are read.
fn compiled_code(offer: &WheelOffer, platforms: &[PlatformNeed], gfx: &GfxCode) -> CompiledCode {
    if offer.name.is_platform_independent() {
        return CompiledCode::Absent;
    }
    let is_read = *gfx == GfxCode::Any
        && platforms
            .iter()
            .all(|need| need.system.starts_with("linux"));
    let needs_rocm = offer
        .row
        .as_ref()
        .is_none_or(|row| !row.needs_rocm.is_empty());
    if is_read && !needs_rocm {
        CompiledCode::WithoutRocm
    } else {
        CompiledCode::Present
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
