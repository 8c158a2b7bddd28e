//! One wheel against one machine, question by question.

use std::fmt;

use rock_names::RocmVersion;

use super::rules::WEIGHTS;
use super::{Accelerator, Candidate, GfxCode, Libc, Machine, PlatformNeed, Rules};

/// A question that a wheel and a machine answer, the hardest to change first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Axis {
    /// Operating system, processor and C library.
    System,
    /// The GPUs.
    Gpu,
    /// ROCm.
    Rocm,
    /// torch.
    Torch,
    /// Python.
    Python,
    /// The backend.
    Backend,
}

impl Axis {
    /// All questions.
    pub const ALL: [Self; 6] = [
        Self::System,
        Self::Gpu,
        Self::Rocm,
        Self::Torch,
        Self::Python,
        Self::Backend,
    ];

    /// The word of JSON.
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

impl fmt::Display for Axis {
    /// The word of sentences.
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

/// What is assumed of a wheel that fits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// About what.
    pub axis: Axis,
    /// In words.
    pub text: String,
}

/// What keeps a wheel from a machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// In what.
    pub axis: Axis,
    /// What the wheel is for.
    pub wheel: String,
    /// What the machine has.
    pub yours: String,
    /// Why that keeps it away, where the facts say so.
    pub why: Option<String>,
    /// How much it counts.
    pub size: u64,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            axis, wheel, yours, ..
        } = self;
        let verb = if *axis == Axis::Backend {
            "asked for"
        } else {
            "have"
        };
        write!(f, "{axis}: the wheel is for {wheel}, you {verb} {yours}")?;
        self.why.as_ref().map_or(Ok(()), |why| write!(f, "; {why}"))
    }
}

/// The answer to one question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Judged {
    /// Nothing to say.
    Exact,
    /// It fits with an assumption of this cost.
    Fine { cost: u64, text: String },
    /// It does not fit.
    Differs {
        size: u64,
        wheel: String,
        yours: String,
        why: Option<String>,
    },
}

/// All that was found about one wheel.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Verdict {
    pub(super) cost: u64,
    pub(super) notes: Vec<Note>,
    pub(super) differences: Vec<Difference>,
}

pub(super) fn verdict(wheel: &Candidate, machine: &Machine, rules: &Rules) -> Verdict {
    let mut verdict = Verdict::default();
    for axis in Axis::ALL {
        let judged = match axis {
            Axis::System => system(wheel, machine),
            Axis::Gpu => gpu(wheel, machine),
            Axis::Rocm => rocm(wheel, machine, rules),
            Axis::Torch => torch(wheel, machine, rules),
            Axis::Python => python(wheel, machine),
            Axis::Backend => backend(wheel, machine),
        };
        match judged {
            Judged::Exact => {}
            Judged::Fine { cost, text } => {
                verdict.cost += cost;
                verdict.notes.push(Note { axis, text });
            }
            Judged::Differs {
                size,
                wheel,
                yours,
                why,
            } => {
                verdict.differences.push(Difference {
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

/// The case of a wheel for any platform: no library in it was linked with anything.
const NO_COMPILED_CODE: &str = "no-compiled-code";

fn not_known(wheel: &str) -> Judged {
    Judged::Fine {
        cost: 0,
        text: format!("the wheel is for {wheel}; yours is not known"),
    }
}

/// A wheel with several platform tags is for all of them; the one that fits best counts.
fn system(wheel: &Candidate, machine: &Machine) -> Judged {
    let shown = joined(&wheel.platforms, " or ");
    let Some(platform) = &machine.platform else {
        return if wheel.platforms.iter().any(|need| need.system == "any") {
            Judged::Exact
        } else {
            not_known(&shown)
        };
    };
    match best_system(&wheel.platforms, Some(platform), machine.libc) {
        Judged::Differs { size, why, .. } => Judged::Differs {
            size,
            wheel: shown,
            yours: shown_system(Some(platform), machine.libc),
            why,
        },
        fits => fits,
    }
}

/// Returns what keeps a wheel with these platform tags from a system with this C library; `None`
/// where nothing is known to. A C library counts on every system where that is not known.
pub(super) fn system_difference(
    platforms: &[PlatformNeed],
    platform: Option<&str>,
    libc: Option<Libc>,
) -> Option<Difference> {
    match best_system(platforms, platform, libc) {
        Judged::Differs { size, why, .. } => {
            let (wheel, yours) = (joined(platforms, " or "), shown_system(platform, libc));
            Some(Difference {
                axis: Axis::System,
                wheel,
                yours,
                why,
                size,
            })
        }
        Judged::Exact | Judged::Fine { .. } => None,
    }
}

/// The answer of the platform tag that fits best.
fn best_system(platforms: &[PlatformNeed], platform: Option<&str>, libc: Option<Libc>) -> Judged {
    let rank = |judged: &Judged| match judged {
        Judged::Exact => (0, 0),
        Judged::Fine { cost, .. } => (1, *cost),
        Judged::Differs { size, .. } => (2, *size),
    };
    let answers = platforms
        .iter()
        .map(|need| one_system(need, platform.unwrap_or(&need.system), libc));
    answers.min_by_key(rank).unwrap_or(Judged::Exact)
}

fn shown_system(platform: Option<&str>, libc: Option<Libc>) -> String {
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

fn one_system(need: &PlatformNeed, platform: &str, libc: Option<Libc>) -> Judged {
    let differs = |size| Judged::Differs {
        size,
        wheel: String::new(),
        yours: String::new(),
        why: None,
    };
    if need.system == "any" {
        return Judged::Exact;
    }
    if need.system != platform {
        return differs(WEIGHTS.system);
    }
    let Some((kind, major, minor)) = need.libc else {
        if !need.system.starts_with("linux") {
            return Judged::Exact;
        }
        let text = format!(
            "the tag {} does not say which C library the wheel needs",
            need.system
        );
        return Judged::Fine {
            cost: WEIGHTS.unsaid_libc,
            text,
        };
    };
    match libc {
        Some(Libc { kind: own, .. }) if own != kind => differs(WEIGHTS.libc_kind),
        Some(Libc {
            version: Some(own), ..
        }) if own >= (major, minor) => Judged::Exact,
        Some(Libc {
            version: Some(own), ..
        }) => differs(WEIGHTS.libc + WEIGHTS.steps(own, (major, minor))),
        _ => {
            let text =
                format!("the wheel needs {kind} {major}.{minor} or newer; yours is not known");
            Judged::Fine {
                cost: WEIGHTS.unknown_libc,
                text,
            }
        }
    }
}

/// One GPU that the wheel has code for will do; the others are told.
fn gpu(wheel: &Candidate, machine: &Machine) -> Judged {
    let targets = match &wheel.gfx {
        GfxCode::Any => return Judged::Exact,
        GfxCode::Unsaid => {
            let text = "nothing says which GPUs the wheel has code for".to_owned();
            return Judged::Fine {
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
        return Judged::Differs {
            size: WEIGHTS.gfx,
            wheel: shown,
            yours,
            why: None,
        };
    }
    if bare.is_empty() {
        return Judged::Exact;
    }
    let text = format!(
        "the wheel has code for {} and none for {}",
        joined(&covered, ", "),
        joined(&bare, ", ")
    );
    Judged::Fine {
        cost: WEIGHTS.partial_gfx,
        text,
    }
}

fn rocm(wheel: &Candidate, machine: &Machine, rules: &Rules) -> Judged {
    let own = match &wheel.accelerator {
        Accelerator::Rocm(own) => own,
        Accelerator::Other(other) => {
            let yours = machine
                .rocm
                .as_ref()
                .map_or_else(|| "an AMD GPU".to_owned(), |rocm| format!("ROCm {rocm}"));
            return Judged::Differs {
                size: WEIGHTS.accelerator,
                wheel: other.clone(),
                yours,
                why: None,
            };
        }
        Accelerator::Unsaid => {
            let text = "the wheel's name does not say which it is for".to_owned();
            return Judged::Fine {
                cost: WEIGHTS.unsaid_rocm,
                text,
            };
        }
    };
    let Some(rocm) = &machine.rocm else {
        return not_known(own.as_str());
    };
    let Some(when) = relation(own, rocm) else {
        return Judged::Exact;
    };
    let when = if wheel.gfx == GfxCode::Any {
        NO_COMPILED_CODE
    } else {
        when
    };
    let (from, to) = (minor(own), minor(rocm));
    let reach = rules.reach("rocm", when);
    match reach.filter(|reach| reach.fits) {
        Some(reach) => {
            let text = format!("the wheel is for {own}, you have {rocm}; {}", reach.said);
            Judged::Fine {
                cost: WEIGHTS.other_rocm + WEIGHTS.steps(from, to),
                text,
            }
        }
        None => Judged::Differs {
            size: WEIGHTS.rocm + WEIGHTS.steps(from, to),
            wheel: own.to_string(),
            yours: rocm.to_string(),
            why: reach.map(|reach| reach.said.clone()),
        },
    }
}

fn minor(rocm: &RocmVersion) -> (u64, u64) {
    let [major, minor, ..] = rocm.parts();
    (major.into(), minor.into())
}

/// What a machine's ROCm is to a wheel's; `None` where they are the same. A patch that one of them
/// does not name is the other's.
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

fn torch(wheel: &Candidate, machine: &Machine, rules: &Rules) -> Judged {
    let Some(own) = &wheel.torch else {
        return Judged::Exact;
    };
    let Some(torch) = &machine.torch else {
        return not_known(&own.to_string());
    };
    if own == torch {
        return Judged::Exact;
    }
    let steps = WEIGHTS.steps(own.minor, torch.minor);
    let when = if wheel.gfx == GfxCode::Any {
        NO_COMPILED_CODE
    } else {
        "other-minor"
    };
    let reach = rules.reach("torch", when);
    match reach.filter(|reach| reach.fits) {
        Some(reach) => {
            let text = format!("the wheel is for {own}, you have {torch}; {}", reach.said);
            Judged::Fine {
                cost: WEIGHTS.other_rocm + steps,
                text,
            }
        }
        None => Judged::Differs {
            size: WEIGHTS.torch + steps,
            wheel: own.to_string(),
            yours: torch.to_string(),
            why: reach.map(|reach| reach.said.clone()),
        },
    }
}

fn python(wheel: &Candidate, machine: &Machine) -> Judged {
    let shown = wheel.shown_pythons();
    let Some(python) = machine.python else {
        return if wheel.pythons.is_empty() {
            let size = WEIGHTS.python + WEIGHTS.major_step;
            Judged::Differs {
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
        return Judged::Exact;
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
    Judged::Differs {
        size,
        wheel: shown,
        yours: python.to_string(),
        why: None,
    }
}

fn backend(wheel: &Candidate, machine: &Machine) -> Judged {
    let own = wheel.backend.as_deref().unwrap_or("default");
    match &machine.backend {
        Some(asked) if asked != own => Judged::Differs {
            size: WEIGHTS.backend,
            wheel: own.to_owned(),
            yours: asked.clone(),
            why: None,
        },
        _ => Judged::Exact,
    }
}

fn joined<T: fmt::Display>(words: &[T], between: &str) -> String {
    words
        .iter()
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join(between)
}
