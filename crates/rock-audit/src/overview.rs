//! The results of an audit for people: the platforms of a wheel, its needs and its GPU code.

use std::fmt::Write as _;

use super::audited::AuditedWheel;
use super::document::GfxDocument;
use super::inspect::InspectedKind;
use super::policy_blockers::policy_blockers;
use super::resolve::ResolvedLibrary;
use super::summary::format_size;
use rock_diagnostic::{count_more, counted};

/// Maximum number of reasons against a platform that are shown; the rest is counted.
const SHOWN: usize = 3;
/// Width of the first column.
const WIDTH: usize = 10;

fn line(text: &mut String, word: &str, fact: &str) {
    let _ = writeln!(text, "  {word:WIDTH$}{fact}");
}

impl AuditedWheel<'_> {
    /// Returns the platforms that the wheel runs on, those that its name claims, its needs and its
    /// GPU code, a fact a line.
    pub fn overview(&self) -> String {
        overview(self)
    }
}

fn overview(audited: &AuditedWheel<'_>) -> String {
    let libraries = audited
        .files()
        .iter()
        .filter(|file| matches!(file.kind, InspectedKind::Library(_)))
        .count();
    let unpacked: u64 = audited
        .wheel()
        .archive()
        .members()
        .iter()
        .map(rock_wheel::ZipMember::size_bytes)
        .sum();
    let mut text = format!("{}\n", audited.name());
    let Some(compliance) = audited.compliance() else {
        line(&mut text, "platform", &unaudited(audited));
        gfx_line(&mut text, audited);
        return text;
    };
    line(
        &mut text,
        "holds",
        &format!(
            "{}, {} unpacked",
            counted(libraries, "ELF file"),
            format_size(unpacked)
        ),
    );
    let claimed = audited.name().platform_tags().as_slice().join(", ");
    let unaudited_tags = audited.unaudited_tags();
    let verdict = if !unaudited_tags.is_empty() {
        ""
    } else if audited.is_claim_accurate() {
        " (accurate)"
    } else {
        " (not accurate)"
    };
    line(&mut text, "claims", &(claimed + verdict));
    if !unaudited_tags.is_empty() {
        let verb = if unaudited_tags.len() == 1 {
            "is"
        } else {
            "are"
        };
        line(
            &mut text,
            "",
            &format!("{} {verb} not audited", unaudited_tags.join(", ")),
        );
    }
    line(&mut text, "platform", &compliance.overall_policy().tag());
    line(&mut text, "symbols", &symbols(audited));
    if compliance.symbol_policy() != compliance.own_symbol_policy() {
        let with_libraries = format!(
            "{} with the libraries of this machine that it needs",
            compliance.symbol_policy().tag()
        );
        line(&mut text, "", &with_libraries);
    }
    if let Some(next) = policy_blockers(audited.files(), compliance) {
        let hidden = next.reasons.len().saturating_sub(SHOWN);
        let more = (hidden > 0).then(|| count_more(hidden, "and "));
        for (number, reason) in next.reasons.iter().take(SHOWN).chain(&more).enumerate() {
            let word = if number == 0 {
                format!("{} lacks ", next.tag)
            } else {
                " ".repeat(next.tag.len() + 7)
            };
            line(
                &mut text,
                if number == 0 { "next" } else { "" },
                &(word + reason),
            );
        }
    }
    let external = compliance
        .violations
        .first()
        .map(|violations| &violations.libraries);
    for (number, (name, found)) in external.into_iter().flatten().enumerate() {
        let place = match found {
            ResolvedLibrary::System(library) => format!("{name} => {}", library.real_path),
            _ => format!("{name}, not found here"),
        };
        line(&mut text, if number == 0 { "needs" } else { "" }, &place);
    }
    gfx_line(&mut text, audited);
    let rocm: Vec<String> = audited
        .rocm_majors()
        .iter()
        .map(|(major, names)| {
            format!(
                "{major}, by {}",
                names.iter().next().map_or("", String::as_str)
            )
        })
        .collect();
    if !rocm.is_empty() {
        line(&mut text, "ROCm", &rocm.join("; "));
    }
    if let Some(need) = audited.torch() {
        line(
            &mut text,
            "torch",
            &format!("{need}, by the symbols that it needs"),
        );
    }
    text
}

/// Returns the platform of a wheel without audited libraries.
fn unaudited(audited: &AuditedWheel<'_>) -> String {
    let claims = audited.name().platform_tags().as_slice().join(", ");
    if audited.has_unaudited_libraries() {
        "none: no library can be audited".to_owned()
    } else if let Some(system) = audited.unaudited_system() {
        format!("{claims} by its name: files for {system} are not audited")
    } else {
        format!(
            "{claims}{}: it contains no libraries to audit",
            if audited.name().is_platform_independent() {
                ""
            } else {
                " by its name"
            }
        )
    }
}

fn gfx_line(text: &mut String, audited: &AuditedWheel<'_>) {
    let gfx = GfxDocument::new(audited.files());
    if !gfx.targets().is_empty() {
        line(text, "gfx", &gfx.targets().join(" "));
    }
}

/// Returns the policy that the wheel's own symbols comply with, and the newest version of each
/// prefix.
fn symbols(audited: &AuditedWheel<'_>) -> String {
    let Some(compliance) = audited.compliance() else {
        return String::new();
    };
    match compliance.newest_own_versions().as_slice() {
        [] => compliance.own_symbol_policy().tag(),
        versions => format!(
            "{}: {}",
            compliance.own_symbol_policy().tag(),
            versions.join(", ")
        ),
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{gpu_library, wheel};
    use crate::{AuditOptions, Auditor, NoLibraries};
    use rock_compat::Compat;
    use rock_names::WheelName;

    /// Returns the overview of a wheel with these members.
    fn overview(name: &str, members: &[(&str, &[u8])]) -> String {
        let compat = Compat::embedded();
        let auditor = Auditor::new(&compat, NoLibraries, AuditOptions::default());
        let file = wheel(members);
        let name: WheelName = name.parse().unwrap();
        auditor.audit(&name, &file).unwrap().overview()
    }

    #[test]
    fn a_wheel_without_libraries_has_the_platform_of_its_name() {
        assert_eq!(
            overview("demo-1.0-py3-none-any.whl", &[("demo.py", b"")]),
            "demo-1.0-py3-none-any.whl\n  platform  any: it contains no libraries to audit\n"
        );
        assert_eq!(
            overview("demo-1.0-cp312-cp312-linux_x86_64.whl", &[("demo.py", b"")]),
            "demo-1.0-cp312-cp312-linux_x86_64.whl\n  platform  linux_x86_64 by its name: it \
             contains no libraries to audit\n"
        );
    }

    #[test]
    fn a_library_that_no_policy_permits_is_needed() {
        let library = rock_testkit::library(&["libc.so.6", "libother.so.1"], &[]);
        let gpu = gpu_library(&[("gfx942", 0x4c)]);
        let members = [
            ("demo/_demo.so", library.as_slice()),
            ("demo/_gpu.so", gpu.as_slice()),
        ];
        let text = overview("demo-1.0-cp312-cp312-linux_x86_64.whl", &members);
        for line in [
            "  claims    linux_x86_64 (accurate)\n",
            "  platform  linux_x86_64\n",
            "  needs     libother.so.1, not found here\n",
            "  gfx       gfx942\n",
        ] {
            assert!(text.contains(line), "{text}");
        }
    }
}
