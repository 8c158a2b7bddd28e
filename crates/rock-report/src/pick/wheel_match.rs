//! Matches one wheel against one machine, axis by axis.

use std::fmt;

use rock_names::RocmVersion;

use super::hint::MachineNeed;
use super::rules::WEIGHTS;
use super::torch_match::torch;
use super::{
    GfxCode, MachineLibc, MachineProperty, MatchRules, PlatformNeed, TargetMachine,
    WheelAccelerator, WheelCandidate,
};

/// A property that a wheel and a machine must agree on. The hardest to change comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum MatchAxis {
    /// Operating system, processor and C library.
    System,
    /// The GPUs.
    Gpu,
    /// The ROCm version.
    Rocm,
    /// The torch series.
    Torch,
    /// The Python version and build.
    Python,
    /// The backend.
    Backend,
}

impl MatchAxis {
    /// All axes, in order.
    pub const ALL: [Self; 6] = [
        Self::System,
        Self::Gpu,
        Self::Rocm,
        Self::Torch,
        Self::Python,
        Self::Backend,
    ];

    /// Returns the name in JSON.
    pub fn key(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::Gpu => "gfx",
            Self::Rocm => "rocm",
            Self::Torch => "torch",
            Self::Python => "python",
            Self::Backend => "backend",
        }
    }
}

impl fmt::Display for MatchAxis {
    /// Formats the name for sentences.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::System => "system",
            Self::Gpu => "GPU",
            Self::Rocm => "ROCm",
            Self::Torch => "torch",
            Self::Python => "Python",
            Self::Backend => "backend",
        })
    }
}

/// An assumption about a wheel that fits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MatchNote {
    /// The axis of the assumption.
    pub axis: MatchAxis,
    /// The assumption in words.
    pub text: String,
}

/// A reason why a wheel does not fit a machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mismatch {
    /// The axis of the mismatch.
    pub axis: MatchAxis,
    /// The value that the wheel is for.
    pub wheel: String,
    /// The value of the machine, or the requested one.
    pub yours: String,
    /// The reason, if the compatibility data gives one.
    pub why: Option<String>,
    /// The weight of the mismatch.
    pub size: u64,
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            axis, wheel, yours, ..
        } = self;
        let verb = if *axis == MatchAxis::Backend {
            "asked for"
        } else {
            "have"
        };
        write!(f, "{axis}: the wheel is for {wheel}, you {verb} {yours}")?;
        self.why.as_ref().map_or(Ok(()), |why| write!(f, "; {why}"))
    }
}

impl Mismatch {
    /// Returns the property of the machine that differs from what a wheel with these platforms
    /// needs; `None` for a request.
    pub(super) fn property(
        &self,
        platforms: &[PlatformNeed],
        platform: Option<&str>,
    ) -> Option<MachineProperty> {
        let is_for = |need: &PlatformNeed| platform.is_none_or(|platform| platform == need.system);
        match self.axis {
            MatchAxis::System if platforms.iter().any(is_for) => Some(MachineProperty::Libc),
            MatchAxis::System => Some(MachineProperty::Platform),
            MatchAxis::Gpu => Some(MachineProperty::Gfx),
            MatchAxis::Rocm => Some(MachineProperty::Rocm),
            MatchAxis::Torch => Some(MachineProperty::Torch),
            MatchAxis::Python => Some(MachineProperty::Python),
            MatchAxis::Backend => None,
        }
    }

    /// Returns the property that a machine needs for a wheel with these platforms: another value of
    /// the axis, or a newer C library than that of the machine.
    pub(super) fn needed(
        &self,
        platforms: &[PlatformNeed],
        platform: Option<&str>,
        libc: Option<MachineLibc>,
    ) -> MachineNeed<'_> {
        if self.axis == MatchAxis::System
            && let Some(own) = libc
            && let Some(needed) = PlatformNeed::newer_libc(platforms, platform, own)
        {
            return MachineNeed::NewerLibc { own, needed };
        }
        MachineNeed::ValueOf(self)
    }
}

/// The result of one axis.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum AxisMatch {
    /// The wheel fits without an assumption.
    Exact,
    /// The wheel fits with an assumption of this cost.
    Fine { cost: u64, text: String },
    /// The wheel does not fit.
    Differs {
        size: u64,
        wheel: String,
        yours: String,
        why: Option<String>,
    },
}

/// The results of all axes for one wheel.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct WheelMatch {
    pub(super) cost: u64,
    pub(super) notes: Vec<MatchNote>,
    pub(super) differences: Vec<Mismatch>,
}

pub(super) fn verdict(
    wheel: &WheelCandidate,
    machine: &TargetMachine,
    rules: &MatchRules,
) -> WheelMatch {
    let mut verdict = WheelMatch::default();
    for axis in MatchAxis::ALL {
        let judged = match axis {
            MatchAxis::System => system(wheel, machine),
            MatchAxis::Gpu => gpu(wheel, machine),
            MatchAxis::Rocm => rocm(wheel, machine, rules),
            MatchAxis::Torch => torch(wheel, machine, rules),
            MatchAxis::Python => python(wheel, machine),
            MatchAxis::Backend => backend(wheel, machine),
        };
        match judged {
            AxisMatch::Exact => {}
            AxisMatch::Fine { cost, text } => {
                verdict.cost += cost;
                verdict.notes.push(MatchNote { axis, text });
            }
            AxisMatch::Differs {
                size,
                wheel,
                yours,
                why,
            } => {
                verdict.differences.push(Mismatch {
                    axis,
                    wheel,
                    yours,
                    why,
                    size,
                });
            }
        }
    }
    verdict
}

pub(super) fn not_known(wheel: &str) -> AxisMatch {
    AxisMatch::Fine {
        cost: 0,
        text: format!("the wheel is for {wheel}; yours is unknown"),
    }
}

/// Matches the platform. A wheel with several platform tags is for all of them; the best match
/// counts. If only the C library is known, it is compared on every platform of the wheel.
fn system(wheel: &WheelCandidate, machine: &TargetMachine) -> AxisMatch {
    let shown = joined(&wheel.platforms, " or ");
    let platform = machine.platform.as_deref();
    match best_system(&wheel.platforms, platform, machine.libc) {
        AxisMatch::Differs { size, why, .. } => AxisMatch::Differs {
            size,
            wheel: shown,
            yours: shown_system(platform, machine.libc),
            why,
        },
        fits if platform.is_some() || wheel.platforms.iter().any(|need| need.system == "any") => {
            fits
        }
        _ => match machine.libc {
            Some(libc) => AxisMatch::Fine {
                cost: 0,
                text: format!("the wheel is for {shown}; you have {libc} on an unknown platform"),
            },
            None => not_known(&shown),
        },
    }
}

/// Returns the mismatch between a wheel's platform tags and a system with this C library; `None` if
/// none is known. If the platform is unknown, the C library is compared on every platform of the
/// wheel.
pub(super) fn system_difference(
    platforms: &[PlatformNeed],
    platform: Option<&str>,
    libc: Option<MachineLibc>,
) -> Option<Mismatch> {
    match best_system(platforms, platform, libc) {
        AxisMatch::Differs { size, why, .. } => {
            let (wheel, yours) = (joined(platforms, " or "), shown_system(platform, libc));
            Some(Mismatch {
                axis: MatchAxis::System,
                wheel,
                yours,
                why,
                size,
            })
        }
        AxisMatch::Exact | AxisMatch::Fine { .. } => None,
    }
}

/// Returns the result of the platform tag that fits best.
fn best_system(
    platforms: &[PlatformNeed],
    platform: Option<&str>,
    libc: Option<MachineLibc>,
) -> AxisMatch {
    let rank = |judged: &AxisMatch| match judged {
        AxisMatch::Exact => (0, 0),
        AxisMatch::Fine { cost, .. } => (1, *cost),
        AxisMatch::Differs { size, .. } => (2, *size),
    };
    let answers = platforms
        .iter()
        .map(|need| one_system(need, platform.unwrap_or(&need.system), libc));
    answers.min_by_key(rank).unwrap_or(AxisMatch::Exact)
}

fn shown_system(platform: Option<&str>, libc: Option<MachineLibc>) -> String {
    let parts = [
        platform.map(str::to_owned),
        libc.map(|libc| libc.to_string()),
    ];
    parts
        .into_iter()
        .flatten()
        .collect::<Vec<_>>()
        .join(" with ")
}

fn one_system(need: &PlatformNeed, platform: &str, libc: Option<MachineLibc>) -> AxisMatch {
    let differs = |size| AxisMatch::Differs {
        size,
        wheel: String::new(),
        yours: String::new(),
        why: None,
    };
    if need.system == "any" {
        return AxisMatch::Exact;
    }
    if need.system != platform {
        return differs(WEIGHTS.system);
    }
    let Some((kind, major, minor)) = need.libc else {
        if !need.system.starts_with("linux") {
            return AxisMatch::Exact;
        }
        let text = format!(
            "the tag {} does not say which C library the wheel needs",
            need.system
        );
        return AxisMatch::Fine {
            cost: WEIGHTS.unsaid_libc,
            text,
        };
    };
    match libc {
        Some(MachineLibc { kind: own, .. }) if own != kind => differs(WEIGHTS.libc_kind),
        Some(MachineLibc {
            version: Some(own), ..
        }) if own >= (major, minor) => AxisMatch::Exact,
        Some(MachineLibc {
            version: Some(own), ..
        }) => differs(WEIGHTS.libc + WEIGHTS.steps(own, (major, minor))),
        _ => {
            let text = format!("the wheel needs {kind} {major}.{minor} or newer; yours is unknown");
            AxisMatch::Fine {
                cost: WEIGHTS.unknown_libc,
                text,
            }
        }
    }
}

/// Matches the GPUs. Code for one of the GPUs is enough; the others are named in the assumption.
fn gpu(wheel: &WheelCandidate, machine: &TargetMachine) -> AxisMatch {
    let targets = match &wheel.gfx {
        GfxCode::Any => return AxisMatch::Exact,
        GfxCode::Unsaid => {
            let text = "it is unknown which GPUs the wheel has code for".to_owned();
            return AxisMatch::Fine {
                cost: WEIGHTS.unsaid_gfx,
                text,
            };
        }
        GfxCode::Targets(targets) => targets,
    };
    let shown = joined(targets, ", ");
    if machine.gfx.is_empty() {
        return not_known(&shown);
    }
    let (covered, bare): (Vec<&String>, Vec<&String>) =
        machine.gfx.iter().partition(|gfx| targets.contains(gfx));
    if covered.is_empty() {
        let yours = joined(&bare, ", ");
        return AxisMatch::Differs {
            size: WEIGHTS.gfx,
            wheel: shown,
            yours,
            why: None,
        };
    }
    if bare.is_empty() {
        return AxisMatch::Exact;
    }
    let text = format!(
        "the wheel has code for {}, but not for {}",
        joined(&covered, ", "),
        joined(&bare, ", ")
    );
    AxisMatch::Fine {
        cost: WEIGHTS.partial_gfx,
        text,
    }
}

fn rocm(wheel: &WheelCandidate, machine: &TargetMachine, rules: &MatchRules) -> AxisMatch {
    let own = match &wheel.accelerator {
        WheelAccelerator::Rocm(own) => own,
        WheelAccelerator::Other(other) => {
            let yours = machine
                .rocm
                .as_ref()
                .map_or_else(|| "an AMD GPU".to_owned(), |rocm| format!("ROCm {rocm}"));
            return AxisMatch::Differs {
                size: WEIGHTS.accelerator,
                wheel: other.clone(),
                yours,
                why: None,
            };
        }
        WheelAccelerator::RocmLibraries(majors) => return rocm_libraries(majors, machine, rules),
        WheelAccelerator::Unsaid => {
            let text = "the wheel's name does not contain a ROCm version".to_owned();
            return AxisMatch::Fine {
                cost: WEIGHTS.unsaid_rocm,
                text,
            };
        }
    };
    let Some(rocm) = &machine.rocm else {
        return not_known(own.as_str());
    };
    let Some(when) = relation(own, rocm) else {
        return AxisMatch::Exact;
    };
    let when = wheel.compiled_code.rocm_case().unwrap_or(when);
    let (from, to) = (minor(own), minor(rocm));
    let reach = rules.reach("rocm", when);
    match reach.filter(|reach| reach.fits) {
        Some(reach) => {
            let text = format!("the wheel is for {own}, you have {rocm}; {}", reach.said);
            AxisMatch::Fine {
                cost: WEIGHTS.other_rocm + WEIGHTS.steps(from, to),
                text,
            }
        }
        None => AxisMatch::Differs {
            size: WEIGHTS.rocm + WEIGHTS.steps(from, to),
            wheel: own.to_string(),
            yours: rocm.to_string(),
            why: reach.map(|reach| reach.said.clone()),
        },
    }
}

/// Matches the ROCm of a wheel whose name does not contain it, by what its libraries need.
fn rocm_libraries(majors: &[u32], machine: &TargetMachine, rules: &MatchRules) -> AxisMatch {
    let own: Vec<String> = majors.iter().map(u32::to_string).collect();
    let own = own.join(" or ");
    let Some(rocm) = &machine.rocm else {
        return not_known(&own);
    };
    if majors.contains(&rocm.major()) {
        let text = format!(
            "the wheel's name does not contain a ROCm version; its libraries need ROCm {own}"
        );
        return AxisMatch::Fine {
            cost: WEIGHTS.unsaid_rocm,
            text,
        };
    }
    let to = minor(rocm);
    let steps = majors
        .iter()
        .map(|&major| WEIGHTS.steps((major.into(), 0), to))
        .min()
        .unwrap_or_default();
    let reach = rules.reach("rocm", "other-major");
    match reach.filter(|reach| reach.fits) {
        Some(reach) => AxisMatch::Fine {
            cost: WEIGHTS.other_rocm + steps,
            text: format!("the wheel is for {own}, you have {rocm}; {}", reach.said),
        },
        None => AxisMatch::Differs {
            size: WEIGHTS.rocm + steps,
            wheel: own,
            yours: rocm.to_string(),
            why: reach.map(|reach| reach.said.clone()),
        },
    }
}

/// Returns whether the wheel fits the ROCm version of the machine, or is assumed to.
pub(super) fn supports_rocm(
    wheel: &WheelCandidate,
    machine: &TargetMachine,
    rules: &MatchRules,
) -> bool {
    !matches!(rocm(wheel, machine, rules), AxisMatch::Differs { .. })
}

fn minor(rocm: &RocmVersion) -> (u64, u64) {
    let [major, minor, ..] = rocm.parts();
    (major.into(), minor.into())
}

/// Returns the reach case of a machine's ROCm relative to a wheel's; `None` if they match. If one
/// of them does not name a patch version, patch versions are not compared.
fn relation(wheel: &RocmVersion, machine: &RocmVersion) -> Option<&'static str> {
    let names_patch = |rocm: &RocmVersion| rocm.as_str().split('.').count() > 2;
    let (from, to) = (minor(wheel), minor(machine));
    if from.0 != to.0 {
        Some("other-major")
    } else if to.1 > from.1 {
        Some("newer-minor")
    } else if to.1 < from.1 {
        Some("older-minor")
    } else if names_patch(wheel) && names_patch(machine) && wheel.parts()[2] != machine.parts()[2] {
        Some("other-patch")
    } else {
        None
    }
}

fn python(wheel: &WheelCandidate, machine: &TargetMachine) -> AxisMatch {
    let shown = wheel.shown_pythons();
    let Some(python) = machine.python else {
        return if wheel.pythons.is_empty() {
            let size = WEIGHTS.python + WEIGHTS.major_step;
            AxisMatch::Differs {
                size,
                wheel: shown,
                yours: "CPython".to_owned(),
                why: None,
            }
        } else {
            not_known(&shown)
        };
    };
    if wheel.pythons.iter().any(|range| range.has(python)) {
        return AxisMatch::Exact;
    }
    let (major, minor) = python.numbers();
    let own = (u64::from(major), u64::from(minor));
    let away = wheel.pythons.iter().map(|range| {
        let first = (u64::from(range.from.0), u64::from(range.from.1));
        let last = (first.0, range.to.map_or(u64::MAX, u64::from));
        let steps = if own < first {
            WEIGHTS.steps(own, first)
        } else if own > last {
            WEIGHTS.steps(own, last)
        } else {
            0
        };
        steps
            + if range.has_build(python) {
                0
            } else {
                WEIGHTS.python_build
            }
    });
    let size = WEIGHTS.python + away.min().unwrap_or(WEIGHTS.major_step);
    AxisMatch::Differs {
        size,
        wheel: shown,
        yours: python.to_string(),
        why: None,
    }
}

fn backend(wheel: &WheelCandidate, machine: &TargetMachine) -> AxisMatch {
    let own = wheel.backend.as_deref().unwrap_or("default");
    match &machine.backend {
        Some(wanted) if wanted != own => AxisMatch::Differs {
            size: WEIGHTS.backend,
            wheel: own.to_owned(),
            yours: wanted.clone(),
            why: None,
        },
        _ => AxisMatch::Exact,
    }
}

fn joined<T: fmt::Display>(words: &[T], between: &str) -> String {
    words
        .iter()
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join(between)
}
