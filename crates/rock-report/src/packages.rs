//! The package page: every published wheel with its links.

use std::collections::BTreeMap;

use super::markdown::{self, AnchorNames};
use super::{Combination, MachineTag, PublishedWheel, UnreadableName, WheelListing, WheelPythons};
use rock_index::HtmlEscaped;

/// The wheels of all releases for one Python, platform and combination.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackageRow<'a> {
    /// The platform.
    pub machine: &'a MachineTag,
    pub combination: &'a Combination,
    /// The supported Python versions.
    pub pythons: &'a WheelPythons,
    /// The wheels, the newest release first.
    pub wheels: Vec<&'a PublishedWheel>,
}

/// Groups the wheels into rows, in order. Wheels of several releases that fill the same cell share
/// a row.
pub fn package_rows(wheels: &WheelListing) -> Vec<PackageRow<'_>> {
    wheels
        .all
        .chunk_by(|one, other| one.what() == other.what())
        .filter_map(|of_cell| {
            let first = of_cell.first()?;
            Some(PackageRow {
                machine: &first.machine,
                combination: &first.combination,
                pythons: &first.pythons,
                wheels: of_cell.iter().collect(),
            })
        })
        .collect()
}

impl PackageRow<'_> {
    /// Returns the backend, with the C++ ABI if the label names one.
    pub fn backend(&self) -> String {
        let backend = self.combination.backend_text();
        match self.wheels.first().and_then(|wheel| wheel.cxx11abi) {
            Some(abi) => format!("{backend}, cxx11abi {abi}"),
            None => backend.to_owned(),
        }
    }

    /// Returns the newest wheel whose gfx targets are known.
    pub fn with_gfx(&self) -> Option<&PublishedWheel> {
        self.wheels
            .iter()
            .copied()
            .find(|wheel| wheel.gfx_text(&[]).is_some())
    }

    /// Returns the link text of each wheel: its release, and what distinguishes it from the other
    /// wheels of that release.
    pub fn link_words(&self) -> Vec<String> {
        let mut of_tag: BTreeMap<&str, usize> = BTreeMap::new();
        for wheel in &self.wheels {
            *of_tag.entry(&wheel.tag).or_default() += 1;
        }
        let words = |wheel: &&PublishedWheel| {
            let mut words = if wheel.tag.is_empty() {
                "wheel".to_owned()
            } else {
                wheel.tag.clone()
            };
            if let Some(build) = &wheel.build {
                words.push_str(&format!(" build {build}"));
            }
            if of_tag
                .get(wheel.tag.as_str())
                .is_some_and(|count| *count > 1)
            {
                words.push_str(&format!(" {}", wheel.tags));
            }
            if wheel.is_prerelease {
                words.push_str(" (pre-release)");
            }
            words + &wheel.yanked_mark()
        };
        self.wheels.iter().map(words).collect()
    }
}

/// Renders the page as Markdown: a table of contents, then a collapsed table per version.
pub fn packages(wheels: &WheelListing) -> String {
    let rows = package_rows(wheels);
    let mut anchors = AnchorNames::default();
    let (mut contents, mut body) = (String::new(), String::new());
    for platform in rows.chunk_by(|one, other| one.machine == other.machine) {
        let Some(first) = platform.first() else {
            continue;
        };
        let title = first.machine.title();
        let place = anchors.place(&[&title]);
        contents.push_str(&format!("- [{}](#{place})\n", markdown::text(&title)));
        body.push_str(&format!(
            "\n<a id=\"{place}\"></a>\n\n## {}\n",
            markdown::text(&title)
        ));
        for project in platform
            .chunk_by(|one, other| one.combination.distribution == other.combination.distribution)
        {
            let name = project
                .first()
                .map(|row| row.combination.distribution.as_str())
                .unwrap_or_default();
            let place = anchors.place(&[&title, name]);
            contents.push_str(&format!("  - [{}](#{place})\n", markdown::text(name)));
            body.push_str(&format!(
                "\n<a id=\"{place}\"></a>\n\n### {}\n",
                markdown::text(name)
            ));
            let same = |one: &PackageRow<'_>, other: &PackageRow<'_>| {
                (&one.combination.version, &one.combination.git)
                    == (&other.combination.version, &other.combination.git)
            };
            for version in project.chunk_by(same) {
                let shown = version
                    .first()
                    .map(|row| row.combination.version_text())
                    .unwrap_or_default();
                let place = anchors.place(&[&title, name, &shown]);
                contents.push_str(&format!("    - [{}](#{place})\n", markdown::text(&shown)));
                body.push_str(&format!("\n<a id=\"{place}\"></a>\n\n"));
                body.push_str(&folded(name, &shown, version));
            }
        }
    }
    let count = wheels.all.len();
    let mut text = format!(
        "# Packages\n\n{} of {}.\n",
        counted(count, "wheel"),
        counted(releases(wheels), "release")
    );
    if count > 0 {
        text.push_str(&format!("\n{contents}"));
    }
    text.push_str(&body);
    text.push_str(&unread_part(&wheels.unread, 2));
    text
}

fn releases(wheels: &WheelListing) -> usize {
    wheels
        .all
        .iter()
        .map(|wheel| wheel.tag.as_str())
        .collect::<std::collections::BTreeSet<_>>()
        .len()
}

/// Formats a count with its noun: `1 wheel`, `2 wheels`.
pub(super) fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// Renders the tables of a version in a collapsed block.
fn folded(name: &str, version: &str, rows: &[PackageRow<'_>]) -> String {
    let summary = HtmlEscaped::of(&format!("{name} {version}: {}", counted(rows.len(), "row")));
    let has_gfx = rows.iter().any(|row| row.with_gfx().is_some());
    let mut text = format!("<details>\n<summary>{summary}</summary>\n\n");
    let mut by_accelerator: Vec<&[PackageRow<'_>]> = rows
        .chunk_by(|one, other| {
            one.combination.accelerator_name() == other.combination.accelerator_name()
        })
        .collect();
    let name_of = |part: &[PackageRow<'_>]| {
        part.first()
            .map_or("", |row| row.combination.accelerator_name())
    };
    // ROCm wheels come first, because most users look for them.
    by_accelerator.sort_by_key(|part| name_of(part) != "ROCm");
    for part in by_accelerator {
        let mut head = vec!["Python", "torch", name_of(part), "backend"];
        head.extend(has_gfx.then_some("gfx targets"));
        head.push("files");
        let mut cells: Vec<Vec<String>> = part.iter().map(|row| cells(row, has_gfx)).collect();
        if part.iter().all(|row| row.combination.accelerator.is_none()) {
            markdown::remove_column(&mut head, &mut cells, 2);
        }
        text.push_str(&markdown::table(&head, &cells));
        text.push('\n');
    }
    text.push_str("</details>\n");
    text
}

fn cells(row: &PackageRow<'_>, has_gfx: bool) -> Vec<String> {
    let or_none =
        |text: Option<String>| text.map_or_else(|| "–".to_owned(), |text| markdown::text(&text));
    let mut cells = vec![
        markdown::text(&row.pythons.to_string()),
        or_none(row.combination.torch_text()),
        or_none(row.combination.accelerator_version()),
        markdown::text(&row.backend()),
    ];
    cells.extend(has_gfx.then(|| or_none(row.with_gfx().and_then(|wheel| wheel.gfx_text(&[])))));
    let links = row
        .wheels
        .iter()
        .zip(row.link_words())
        .map(|(wheel, words)| match &wheel.address {
            Some(address) => markdown::link(&markdown::text(&words), address),
            None => format!("{} {}", markdown::text(&words), markdown::code(&wheel.name)),
        });
    cells.push(links.collect::<Vec<_>>().join(", "));
    cells
}

/// Renders the files whose names cannot be parsed; empty if there are none.
pub(super) fn unread_part(unread: &[UnreadableName], level: usize) -> String {
    if unread.is_empty() {
        return String::new();
    }
    let rows: Vec<Vec<String>> = unread
        .iter()
        .map(|file| {
            vec![
                markdown::code(&file.name),
                markdown::code(&file.tag),
                markdown::text(&file.reason),
            ]
        })
        .collect();
    format!(
        "\n{} Files whose names cannot be parsed\n\nThese are not in the tables above.\n\n{}",
        "#".repeat(level),
        markdown::table(&["file", "release", "why"], &rows)
    )
}
