//! Lookup of projects and presets in the compatibility data by name.

use crate::codes::sources as codes;
use rock_compat::Compat;
use rock_compat::rows::{ProjectRow, TorchSourceRow};
use rock_diagnostic::nearest::{nearest, with_nearest};
use rock_diagnostic::{Diagnostic, Location};

/// Returns the projects of a platform, in build order.
pub fn on<'a>(compat: &'a Compat, platform: &str) -> Vec<&'a ProjectRow> {
    compat
        .source_tables()
        .projects
        .iter()
        .filter(|row| row.platforms.iter().any(|known| known == platform))
        .collect()
}

/// Returns the project with this name, directory or distribution: `audio`, `pytorch_audio` and
/// `torchaudio` are the same project.
///
/// # Errors
/// When no project has the name, or the project is not built on this platform.
pub fn find<'a>(
    compat: &'a Compat,
    name: &str,
    platform: &str,
) -> Result<&'a ProjectRow, Diagnostic> {
    let is = |row: &ProjectRow| {
        [&row.project, &row.folder, &row.distribution]
            .iter()
            .any(|known| *known == name)
    };
    let rows = on(compat, platform);
    if let Some(row) = rows.iter().find(|row| is(row)) {
        return Ok(row);
    }
    let names = rows.iter().map(|row| row.project.as_str());
    let unknown = |message: String| {
        Diagnostic::new(&codes::UNKNOWN_PROJECT, message)
            .at(Location::Argument(name.to_owned()), "")
            .help(format!(
                "the projects on {platform} are {}",
                names.clone().collect::<Vec<_>>().join(", ")
            ))
    };
    Err(
        match compat.source_tables().projects.iter().find(|row| is(row)) {
            Some(row) => unknown(format!("`{}` is not built on {platform}", row.project)),
            None => unknown(with_nearest(
                format!("there is no project `{name}`"),
                nearest(name, names.clone()),
            )),
        },
    )
}

/// Returns the preset with this name.
///
/// # Errors
/// When no preset has this name.
pub fn preset<'a>(compat: &'a Compat, name: &str) -> Result<&'a TorchSourceRow, Diagnostic> {
    let rows = &compat.source_tables().torch_sources;
    rows.iter().find(|row| row.name == name).ok_or_else(|| {
        let names: Vec<&str> = rows.iter().map(|row| row.name.as_str()).collect();
        let message = with_nearest(
            format!("there is no preset `{name}`"),
            nearest(name, names.iter().copied()),
        );
        Diagnostic::new(&codes::UNKNOWN_SOURCE_PRESET, message)
            .at(Location::Argument(name.to_owned()), "")
            .help(format!("the presets are {}", names.join(", ")))
    })
}

/// Returns the projects that a preset builds on a platform, in build order.
///
/// # Errors
/// When the preset does not support the platform.
pub fn of_preset<'a>(
    compat: &'a Compat,
    preset: &TorchSourceRow,
    platform: &str,
) -> Result<Vec<&'a ProjectRow>, Diagnostic> {
    let Some(packages) = preset.packages.get(platform) else {
        let known: Vec<&str> = preset.packages.keys().map(String::as_str).collect();
        let message = format!("preset `{}` is not built on {platform}", preset.name);
        return Err(Diagnostic::new(&codes::UNKNOWN_SOURCE_PRESET, message)
            .at(Location::Argument(preset.name.clone()), "")
            .help(format!("it is built on {}", known.join(", "))));
    };
    let rows = on(compat, platform);
    Ok(rows
        .into_iter()
        .filter(|row| packages.contains(&row.project))
        .collect())
}
