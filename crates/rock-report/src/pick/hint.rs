//! Hints for a machine that no wheel fits.

use std::fmt;

use rock_diagnostic::nearest::{nearest, with_nearest};
use rock_names::RocmVersion;

use super::{MachineLibc, Mismatch};

/// The wheel or machine that is needed if no wheel fits; displayed as the help of the error.
#[derive(Debug)]
pub(super) enum PickHint<'p> {
    /// Another backend than the requested one, which no wheel has.
    OtherBackend {
        requested: &'p str,
        /// The backends of the published wheels.
        published: Vec<&'p str>,
    },
    /// Another wheel than the nearest one, whose ROCm version is unknown.
    UnknownRocm,
    /// Another wheel than the nearest one, whose tags match no Python version.
    NoPython,
    /// A wheel with code for the GPUs of this mismatch, and for the ROCm version if no wheel
    /// supports it. The other mismatches do not matter, because nobody changes the GPU for a wheel.
    OtherGpu(&'p Mismatch, Option<&'p RocmVersion>),
    /// A wheel that is not yanked.
    Unyanked,
    /// Another machine, or a wheel for the ROCm version if no wheel supports it.
    OtherMachine(Vec<MachineNeed<'p>>, Option<&'p RocmVersion>),
    /// A new wheel.
    Build,
}

/// A property that a machine needs for a wheel. Prints as `torch 2.9`.
#[derive(Debug)]
pub(super) enum MachineNeed<'m> {
    /// A newer version of its C library.
    NewerLibc {
        own: MachineLibc,
        needed: (u64, u64),
    },
    /// The value of the wheel.
    ValueOf(&'m Mismatch),
}

impl fmt::Display for PickHint<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OtherBackend {
                requested,
                published,
            } => {
                let list: Vec<String> = published.iter().map(|name| format!("`{name}`")).collect();
                let text = format!(
                    "no wheel has this backend; the published ones are {}",
                    list.join(", ")
                );
                f.write_str(&with_nearest(
                    text,
                    nearest(requested, published.iter().copied()),
                ))
            }
            Self::UnknownRocm => f.write_str(
                "build the wheel with `rock-matrix build`; the ROCm version of the nearest one is \
                 unknown: check it with `rock-matrix wheel show`",
            ),
            Self::NoPython => f.write_str(
                "build the wheel with `rock-matrix build`; the tags of the nearest one match no \
                 Python version",
            ),
            Self::OtherGpu(Mismatch { wheel, yours, .. }, rocm) => {
                write!(
                    f,
                    "the nearest wheel only has code for {wheel}; build the wheel with \
                     `rock-matrix build` if the sources support "
                )?;
                if let Some(rocm) = rocm {
                    write!(f, "ROCm {rocm} and ")?;
                }
                f.write_str(yours)
            }
            Self::Unyanked => f.write_str(
                "publish a wheel that is not yanked, or build one with `rock-matrix build`",
            ),
            Self::OtherMachine(needs, rocm) => {
                let needs: Vec<String> = needs.iter().map(ToString::to_string).collect();
                write!(
                    f,
                    "use {}, or build the wheel with `rock-matrix build`",
                    needs.join(" and ")
                )?;
                match rocm {
                    // Old versions may be supported neither by the sources nor by torch.
                    Some(rocm) => write!(f, " if the sources support ROCm {rocm}"),
                    None => Ok(()),
                }
            }
            Self::Build => f.write_str("build the wheel with `rock-matrix build`"),
        }
    }
}

impl fmt::Display for MachineNeed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NewerLibc {
                own,
                needed: (major, minor),
            } => write!(
                f,
                "a system with {} {major}.{minor} or newer ({own} is too old)",
                own.kind
            ),
            Self::ValueOf(Mismatch { axis, wheel, .. }) => write!(f, "{axis} {wheel}"),
        }
    }
}
