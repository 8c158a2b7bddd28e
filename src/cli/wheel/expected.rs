//! What `wheel check` expects: gfx targets of every file, or finished wheels of distributions.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use crate::audit::{self, Expected};
use crate::bytes::ReadAt;
use crate::cli::{Exit, Shell};
use crate::compat::Compat;
use crate::diagnostic::registry::wheel as codes;
use crate::diagnostic::{Diagnostic, Place, nearest};
use crate::names::{DistributionName, GfxTarget, WheelName, is_wheel_file};
use crate::sys::{self, PositionalFile};
use crate::wheel::{Wheel, WheelError};

/// What is expected.
#[derive(Debug, Clone)]
pub(super) enum Word {
    /// Code for this target.
    Target(GfxTarget),
    /// A wheel of this distribution.
    Distribution(DistributionName),
}

impl FromStr for Word {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text.starts_with("gfx") {
            return text.parse().map(Self::Target).map_err(|error: crate::names::GfxTargetError| error.to_string());
        }
        text.parse().map(Self::Distribution).map_err(|error: crate::names::DistributionNameError| error.to_string())
    }
}

/// The files among these paths, and the wheels of the folders among them; a folder without wheels is told of.
pub(super) fn files(paths: &[PathBuf]) -> (Vec<PathBuf>, Vec<Diagnostic>) {
    let (mut files, mut faults) = (Vec::new(), Vec::new());
    for path in paths {
        if !path.is_dir() {
            files.push(path.clone());
            continue;
        }
        let is_wheel = |path: &Path| path.file_name().is_some_and(|name| is_wheel_file(&name.to_string_lossy()));
        match sys::entries(path) {
            Ok(entries) => {
                let before = files.len();
                files.extend(entries.into_iter().map(|entry| entry.path).filter(|path| is_wheel(path)));
                if files.len() == before {
                    let message = format!("there are no wheels in `{}`", path.display());
                    let fault = Diagnostic::new(&codes::WHEEL_NOT_THERE, message);
                    faults.push(
                        fault
                            .at(Place::File(path.display().to_string().into()), "")
                            .help("see the log of the build that should have left some"),
                    );
                }
            }
            Err(error) => faults.push(error.into()),
        }
    }
    (files, faults)
}

/// What is expected of wheels of these files, as the options say it.
///
/// # Errors
/// The exit of the command, after telling of a feature that no row knows.
pub(super) fn expected(
    words: &[Word],
    features: &[String],
    files: &[PathBuf],
    compat: &Compat,
    shell: &Shell,
) -> Result<Expected, Exit> {
    let known = audit::features(compat);
    if let Some(unknown) = features.iter().find(|feature| !known.contains(&feature.as_str())) {
        let near = nearest::nearest(unknown, known.iter().copied());
        let message = nearest::with_nearest(format!("nothing is known of wheels with `{unknown}`"), near);
        let fault = Diagnostic::new(&codes::UNKNOWN_FEATURE, message).at(Place::Argument("--with".to_owned()), "");
        return Err(match shell.report(&[fault.help(format!("known are {}", known.join(", ")))]) {
            Exit::Fault => Exit::Usage,
            exit => exit,
        });
    }
    let distribution = |word: &Word| match word {
        Word::Distribution(name) => Some(name.clone()),
        Word::Target(_) => None,
    };
    let name = |path: &PathBuf| path.file_name()?.to_str()?.parse::<WheelName>().ok();
    let mut names: Vec<WheelName> = files.iter().filter_map(name).collect();
    names.sort_by_cached_key(ToString::to_string);
    let distributions = words.iter().filter_map(distribution).collect();
    Ok(Expected { distributions, features: features.to_vec(), names })
}

/// What a built wheel lacks of what its distribution must hold, as a gate of builds.
///
/// # Errors
/// What keeps the wheel from being read.
pub(in crate::cli) fn contents(
    file: &PositionalFile,
    name: &WheelName,
    compat: &Compat,
    expected: &Expected,
) -> Result<Vec<Diagnostic>, Vec<Diagnostic>> {
    let shown = name.to_string();
    let fault = |error: WheelError| vec![error.diagnostic(&shown)];
    let wheel = Wheel::open(file).map_err(fault)?;
    expected.lacks(&shown, &wheel, file.size_bytes(), name, compat).map_err(fault)
}

/// The version of each distribution's wheel, for later steps of a workflow.
pub(super) fn outputs(expected: &Expected) -> Vec<(String, String)> {
    let output = |distribution: &DistributionName| {
        let wheel = expected.of(distribution).next()?;
        Some((format!("{}_version", distribution.file_form()), wheel.version.to_string()))
    };
    expected.distributions.iter().filter_map(output).collect()
}
