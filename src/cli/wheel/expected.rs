//! What `wheel check` expects: gfx targets of every file, or finished wheels of distributions.

use std::path::{Path, PathBuf};

use crate::audit::{self, Expected};
use crate::bytes::ReadAt;
use crate::cli::{Exit, Shell, targets};
use crate::codes::wheel as codes;
use crate::compat::Compat;
use crate::diagnostic::{Diagnostic, Location, nearest};
use crate::names::{DistributionName, GfxTarget, WheelName, is_wheel_file};
use crate::sys::{self, PositionalFile};
use crate::wheel::{Wheel, WheelError};

/// The words of `--expect`, by kind.
#[derive(Debug, Clone, Default)]
pub(super) struct ExpectedWords {
    /// Code for these targets is expected.
    pub(super) targets: Vec<GfxTarget>,
    /// Wheels of these distributions are expected.
    distributions: Vec<DistributionName>,
}

/// Sorts the words of `--expect` into gfx targets, which families and products stand for, and
/// distributions.
///
/// # Errors
/// The exit of the command, after reporting a word that is none of them.
pub(super) fn words(
    given: &[String],
    compat: &Compat,
    shell: &Shell,
) -> Result<ExpectedWords, Exit> {
    let is_gfx = |word: &&String| word.starts_with("gfx") || compat.resolve_gfx(word).is_ok();
    let (gfx, names): (Vec<&String>, Vec<&String>) = given.iter().partition(is_gfx);
    let mut distributions = Vec::new();
    for name in names {
        match name.parse() {
            Ok(name) => distributions.push(name),
            Err(error) => {
                let error: crate::names::DistributionNameError = error;
                let fault = Diagnostic::new(&codes::WHEEL_NOT_THERE, error.to_string());
                let fault = fault.at(Location::Argument(format!("--expect {name}")), "");
                shell
                    .report(&[fault.help("name gfx targets, families, products or distributions")]);
                return Err(Exit::Usage);
            }
        }
    }
    let gfx = targets::GfxWords(gfx.into_iter().cloned().collect());
    Ok(ExpectedWords {
        targets: targets::targets(&gfx, "--expect", compat, shell)?,
        distributions,
    })
}

/// The files among these paths, and the wheels of the folders among them; a folder without wheels
/// is told of.
pub(super) fn files(paths: &[PathBuf]) -> (Vec<PathBuf>, Vec<Diagnostic>) {
    let (mut files, mut faults) = (Vec::new(), Vec::new());
    for path in paths {
        if !path.is_dir() {
            files.push(path.clone());
            continue;
        }
        let is_wheel = |path: &Path| {
            path.file_name()
                .is_some_and(|name| is_wheel_file(&name.to_string_lossy()))
        };
        match sys::read_entries(path) {
            Ok(entries) => {
                let before = files.len();
                files.extend(
                    entries
                        .into_iter()
                        .map(|entry| entry.path)
                        .filter(|path| is_wheel(path)),
                );
                if files.len() == before {
                    let message = format!("there are no wheels in `{}`", path.display());
                    let fault = Diagnostic::new(&codes::WHEEL_NOT_THERE, message);
                    faults.push(
                        fault
                            .at(Location::File(path.display().to_string().into()), "")
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
    words: &ExpectedWords,
    features: &[String],
    files: &[PathBuf],
    compat: &Compat,
    shell: &Shell,
) -> Result<Expected, Exit> {
    let known = audit::features(compat);
    if let Some(unknown) = features
        .iter()
        .find(|feature| !known.contains(&feature.as_str()))
    {
        let near = nearest::nearest(unknown, known.iter().copied());
        let message =
            nearest::with_nearest(format!("nothing is known of wheels with `{unknown}`"), near);
        let fault = Diagnostic::new(&codes::UNKNOWN_FEATURE, message)
            .at(Location::Argument("--with".to_owned()), "");
        return Err(
            match shell.report(&[fault.help(format!("known are {}", known.join(", ")))]) {
                Exit::Fault => Exit::Usage,
                exit => exit,
            },
        );
    }
    let name = |path: &PathBuf| path.file_name()?.to_str()?.parse::<WheelName>().ok();
    let mut names: Vec<WheelName> = files.iter().filter_map(name).collect();
    names.sort_by_cached_key(ToString::to_string);
    Ok(Expected {
        distributions: words.distributions.clone(),
        features: features.to_vec(),
        names,
    })
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
    expected
        .lacks(&shown, &wheel, file.size_bytes(), name, compat)
        .map_err(fault)
}

/// The version of each distribution's wheel, for later steps of a workflow.
pub(super) fn outputs(expected: &Expected) -> Vec<(String, String)> {
    let output = |distribution: &DistributionName| {
        let wheel = expected.of(distribution).next()?;
        Some((
            format!("{}_version", distribution.escaped()),
            wheel.version.to_string(),
        ))
    };
    expected.distributions.iter().filter_map(output).collect()
}
