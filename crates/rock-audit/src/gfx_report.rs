//! The report on the GPU targets that a wheel contains code for, file by file.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::document::{FindingView, GfxDocument};
use super::findings::{
    KpackLocation, SplitCode, UnexpectedTargets, gfx_findings, kpack_locations, unexpected_targets,
};
use super::inspect::{InspectedFile, InspectedKind};
use super::summary::format_size;
use rock_codeobj::{CodeContainerKind, CodeInventory, CodeTarget, InventoryTotals, SourceKind};
use rock_compat::Compat;
use rock_diagnostic::{Diagnostic, counted};
use rock_names::GfxTarget;

/// The version of the JSON document.
const VERSION: u32 = 1;

/// The GPU targets that a wheel contains code for, and the problems of its GPU code.
#[derive(Debug)]
pub struct GfxReport<'r> {
    wheel: &'r str,
    files: &'r [InspectedFile],
    splits: &'r [SplitCode],
    document: GfxDocument,
    findings: Vec<Diagnostic>,
}

impl<'r> GfxReport<'r> {
    /// Creates the report of a wheel with this file name. `splits` is the split-off code of all
    /// wheels of the run. Every file with offload bundles must have the `expected` targets.
    pub fn new(
        wheel: &'r str,
        files: &'r [InspectedFile],
        splits: &'r [SplitCode],
        expected: Option<(&[GfxTarget], UnexpectedTargets)>,
    ) -> Self {
        let mut findings: Vec<Diagnostic> = files
            .iter()
            .flat_map(|file| gfx_findings(wheel, file))
            .collect();
        if let Some((targets, unexpected)) = expected {
            let differences = unexpected_targets(wheel, files, splits, targets, unexpected);
            findings.extend(differences);
        }
        Self {
            wheel,
            files,
            splits,
            document: GfxDocument::with_other_wheels(wheel, files, splits),
            findings,
        }
    }

    /// Returns the problems of the GPU code.
    pub fn findings(&self) -> &[Diagnostic] {
        &self.findings
    }

    /// Returns the report as a line of JSON.
    pub fn to_json(&self) -> String {
        let findings: Vec<FindingView> = self.findings.iter().map(FindingView::new).collect();
        let document = serde_json::json!({
            "version": VERSION,
            "wheel": self.wheel,
            "gfx": self.document,
            "findings": findings,
        });
        format!("{document}\n")
    }

    /// Returns the line of JSON for a wheel that cannot be read.
    pub fn unreadable_json(wheel: &str, error: &Diagnostic) -> String {
        let document = serde_json::json!({
            "version": VERSION,
            "wheel": wheel,
            "error": error.message,
        });
        format!("{document}\n")
    }

    /// Returns the report for people, with the products of each target.
    pub fn to_text(&self, compat: &Compat) -> String {
        let mut text = format!("{}\n", self.wheel);
        self.add_targets(compat, &mut text);
        self.add_files_with_code(&mut text);
        self.add_split_files(&mut text);
        for (kind, word) in [
            (SourceKind::Source, "source file"),
            (SourceKind::Bitcode, "bitcode file"),
        ] {
            let is_source = |file: &&InspectedFile| file.kind == InspectedKind::Source(kind);
            let count = self.files.iter().filter(is_source).count();
            if count > 0 {
                let _ = writeln!(text, "  {} (not GPU code)", counted(count, word));
            }
        }
        text
    }

    /// Adds the targets of all files.
    fn add_targets(&self, compat: &Compat, text: &mut String) {
        let targets = self.document.targets();
        let all = if targets.is_empty() {
            "none".to_owned()
        } else {
            targets.join(" ")
        };
        let _ = writeln!(text, "  targets   {all}");
        // Target features follow the processor (LLVM AMDGPU usage, "Target ID").
        let mut processors: Vec<&str> = targets
            .iter()
            .map(|target| target.split(':').next().unwrap_or_default())
            .collect();
        // The targets are sorted by processor.
        processors.dedup();
        for processor in processors {
            if let Some(products) = compat.product_names(processor) {
                let _ = writeln!(text, "            {processor}: {products}");
            }
        }
        if !self.document.elsewhere().is_empty() {
            let _ = writeln!(text, "  elsewhere {}", self.document.elsewhere().join(" "));
        }
    }

    /// Adds the files that contain code, grouped by their targets, and each target.
    fn add_files_with_code(&self, text: &mut String) {
        // Most files of a build have the same targets, which are listed once.
        let mut sets: BTreeMap<Vec<CodeTarget>, Vec<&InspectedFile>> = BTreeMap::new();
        for file in self.files {
            if !file.inventory.containers.is_empty() {
                let targets = file.inventory.targets().into_keys().collect();
                sets.entry(targets).or_default().push(file);
            }
        }
        let mut sets: Vec<Vec<&InspectedFile>> = sets.into_values().collect();
        sets.sort_by(|one, other| {
            let path = |set: &[&InspectedFile]| set.first().map(|file| file.path.clone());
            path(one).cmp(&path(other))
        });
        for set in sets {
            let mut union = InventoryTotals::default();
            for file in &set {
                let inventory = &file.inventory;
                let unpacked = match inventory.raw_bytes() {
                    raw if raw == inventory.packed_bytes() => String::new(),
                    raw => format!(" for {} unpacked", format_size(raw)),
                };
                let _ = writeln!(
                    text,
                    "  {}: {}, {}{unpacked}",
                    file.path,
                    container_counts(inventory),
                    format_size(inventory.packed_bytes()),
                );
                union.add(inventory);
            }
            if set.len() > 1 {
                let _ = writeln!(text, "  these {} files together:", set.len());
            }
            for (target, totals) in union.targets {
                let objects = counted(totals.objects, "object");
                let held = if totals.objects == 0 {
                    String::new()
                } else {
                    format!("{objects}, {}", format_size(totals.bytes))
                };
                let line = format!("    {:24}{held}", target.to_string());
                let _ = writeln!(text, "{}", line.trim_end());
            }
        }
    }

    /// Adds the files whose code is in archives, with the archives of each target.
    fn add_split_files(&self, text: &mut String) {
        for file in self.files {
            let references = &file.inventory.kpack_references;
            if references.is_empty() {
                continue;
            }
            let _ = writeln!(text, "  {}: code split off", file.path);
            for (target, archives) in kpack_locations(&file.path, references, self.splits) {
                let archives: Vec<String> =
                    archives.iter().map(|archive| self.place(archive)).collect();
                let archives = archives.join(" and ");
                let _ = writeln!(text, "    {:24}{archives}", target.to_string());
            }
        }
    }

    /// Returns the path of an archive, with the wheel if it is another one.
    fn place(&self, archive: &KpackLocation) -> String {
        if archive.wheel == self.wheel {
            archive.path.clone()
        } else {
            format!("{} of {}", archive.path, archive.wheel)
        }
    }
}

/// Returns the number of containers of each kind.
fn container_counts(inventory: &CodeInventory) -> String {
    let mut counts: BTreeMap<CodeContainerKind, usize> = BTreeMap::new();
    for container in &inventory.containers {
        *counts.entry(container.kind).or_default() += 1;
    }
    let describe = |(kind, count): (CodeContainerKind, usize)| match kind {
        CodeContainerKind::Bundle => counted(count, "bundle"),
        CodeContainerKind::Compressed(_) => {
            format!("{} ({kind})", counted(count, "compressed bundle"))
        }
        CodeContainerKind::Elf => counted(count, "code object"),
        CodeContainerKind::Kpack => counted(count, "archive"),
        CodeContainerKind::Data => counted(count, "data file"),
    };
    let counts: Vec<String> = counts.into_iter().map(describe).collect();
    counts.join(" and ")
}

#[cfg(test)]
mod tests {
    use super::{GfxReport, UnexpectedTargets};
    use crate::testing::{gpu_library, wheel};
    use crate::{AuditOptions, Auditor, NoLibraries};
    use rock_compat::Compat;
    use rock_names::GfxTarget;

    const NAME: &str = "demo-1.0-cp312-cp312-linux_x86_64.whl";

    #[test]
    fn files_with_the_same_targets_list_them_once() {
        let library = gpu_library(&[("gfx90a", 0x3f), ("gfx942", 0x4c)]);
        let library = library.as_slice();
        let file = wheel(&[("demo/_a.so", library), ("demo/_b.so", library)]);
        let compat = Compat::embedded();
        let auditor = Auditor::new(&compat, NoLibraries, AuditOptions::default());
        let audited = auditor.audit(&NAME.parse().unwrap(), &file).unwrap();
        let splits = [audited.split_code()];
        let report = |targets: &[&str], unexpected| {
            let targets: Vec<GfxTarget> = targets.iter().map(|t| t.parse().unwrap()).collect();
            let expected = Some((targets.as_slice(), unexpected));
            let report = GfxReport::new(NAME, audited.files(), &splits, expected);
            (
                report.to_text(&compat),
                report.to_json(),
                report.findings().len(),
            )
        };
        let (text, json, count) = report(&["gfx942", "gfx90a"], UnexpectedTargets::Rejected);
        assert_eq!(count, 0, "{json}");
        let lines: Vec<&str> = text
            .lines()
            .filter(|line| !line.starts_with("            gfx"))
            .collect();
        assert_eq!(lines[..2], [NAME, "  targets   gfx90a gfx942"], "{text}");
        let of_files: Vec<&&str> = lines.iter().filter(|line| line.contains(".so: ")).collect();
        assert_eq!(of_files.len(), 2, "{text}");
        assert!(
            of_files[0].starts_with("  demo/_a.so: 1 bundle, "),
            "{text}"
        );
        assert_eq!(lines.len(), 7, "{text}");
        assert_eq!(lines[4], "  these 2 files together:", "{text}");
        let of_target = format!("    {:24}2 objects, ", "gfx90a");
        assert!(lines[5].starts_with(&of_target), "{text}");
        let document: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert_eq!(document["wheel"], NAME);
        assert_eq!(document["gfx"]["targets"][1], "gfx942");
        assert_eq!(document["findings"], serde_json::json!([]));

        // Both files have a target too many, and lack one.
        assert_eq!(report(&["gfx90a"], UnexpectedTargets::Allowed).2, 0);
        assert!(report(&["gfx90a"], UnexpectedTargets::Rejected).2 > 0);
        assert!(report(&["gfx1100"], UnexpectedTargets::Allowed).2 > 0);
    }
}
