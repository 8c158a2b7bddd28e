//! What was checked of a wheel, in a few lines for a person.

use super::sizes::size;
use crate::audit::{GfxDocument, Report};
use crate::diagnostic::counted;
use crate::wheel::Wheel;

/// What a wheel is, as it was found: its platform and what it was built against, its code for GPUs,
/// its size.
pub(super) fn summary(wheel: &Wheel<'_>, report: &Report<'_>, size_bytes: u64) -> Vec<String> {
    let mut first = vec![platform(report)];
    let rocm = |(major, names): (&String, &std::collections::BTreeSet<String>)| {
        format!(
            "ROCm {major} by {}",
            names.iter().next().map_or("", String::as_str)
        )
    };
    first.extend(report.rocm.iter().map(rocm));
    first.extend(
        report
            .torch
            .as_ref()
            .map(|need| format!("symbols of torch {need}")),
    );
    let mut lines = vec![first.join(", ")];
    lines.extend(gfx(report));
    let members = wheel
        .archive()
        .members()
        .iter()
        .filter(|member| !member.is_dir())
        .count();
    lines.push(format!(
        "{} in {}",
        size(size_bytes),
        counted(members, "file")
    ));
    lines
}

/// The platforms of the name, and the one that the wheel's own symbols allow where it is another.
fn platform(report: &Report<'_>) -> String {
    let claims = report.name.platform.tags().join(", ");
    match &report.verdict {
        None if report.has_unjudged_libraries() => {
            format!("{claims}, of which no library can be judged")
        }
        None if report.foreign_system.is_some() || report.has_windows_files() => {
            let system = report.foreign_system.unwrap_or("Windows");
            format!("{claims}, of which files for {system} are not judged")
        }
        None => format!("{claims}, without libraries"),
        Some(verdict)
            if report
                .name
                .platform
                .tags()
                .contains(&verdict.own_symbols.tag()) =>
        {
            claims
        }
        Some(verdict) => format!(
            "{claims}, with the symbols of {}",
            verdict.own_symbols.tag()
        ),
    }
}

fn gfx(report: &Report<'_>) -> Option<String> {
    let document = GfxDocument::new(&report.files);
    let with_code = report
        .files
        .iter()
        .filter(|file| !file.inventory.targets().is_empty());
    let (files, bytes) = with_code.fold((0_u64, 0_u64), |(files, bytes), file| {
        (
            files + 1,
            bytes.saturating_add(file.inventory.packed_bytes()),
        )
    });
    let targets = document.targets().join(" ");
    (files > 0).then(|| {
        format!(
            "{targets}, {} of code in {}",
            size(bytes),
            counted(files, "file")
        )
    })
}
