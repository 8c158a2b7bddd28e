//! Release notes: what a release contains, what is missing and why, how to install and verify it.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::failures::{MissingFile, absent};
use super::packages::{counted, unread_part};
use super::{
    Combination, ExpectedCell, ExpectedCells, JobOutcomes, PublishedArchive, PublishedWheel,
    WheelListing, addresses, called, markdown, matched, matched_archives,
};
use rock_compat::{Compat, InstallCommands, TorchWheel};
use rock_diagnostic::{is_or_are, shell_quoted};
use rock_index::{BaseUrl, IndexFolder};
use rock_names::{RepoName, WheelName};
use rock_plan::config::recipe::shipped_runtime_requirements;
use rock_publish::{AssetState, ListedAsset, ListedRelease, SUMS, sums};
use rock_template::{TemplateError, render};

/// The input of release notes.
#[derive(Debug, Clone, Copy)]
pub struct ReleaseNotes<'a> {
    pub tag: &'a str,
    /// The release of the tag, followed by the releases that continue it.
    pub releases: &'a [&'a ListedRelease],
    /// The wheels of these releases.
    pub wheels: &'a WheelListing,
    /// The cells and archives that the plan expects.
    pub expected: &'a ExpectedCells,
    /// The outcomes of the jobs.
    pub outcomes: &'a JobOutcomes,
    /// The root URL of the package indexes, if there are any.
    pub index: Option<&'a BaseUrl>,
    /// The compatibility data, for the torch to install with the wheels.
    pub compat: &'a Compat,
    pub repository: Option<&'a RepoName>,
    /// Whether the release has a manifest, and therefore `SHA256SUMS`.
    pub has_manifest: bool,
    /// Whether the files are attested; `None` if unknown.
    pub attested: Option<bool>,
    /// The maximum size of a release's text in bytes.
    pub most_bytes: u64,
}

/// The maximum number of missing files in a table that is open; a longer table is collapsed.
const MOST_ABSENT: usize = 10;
/// The maximum number of missing files that short notes list.
const MOST_SHORT: usize = 100;

#[derive(Serialize)]
struct NotesView {
    summary: String,
    sections: String,
    /// The noun for the files: `wheel`, `archive` or `file`.
    noun: &'static str,
    is_short: bool,
    absent: String,
    absent_summary: String,
    are_absent_many: bool,
    installs: Vec<InstallView>,
    needs_torch: bool,
    has_urls: bool,
    has_index: bool,
    has_sums: bool,
    check_sums: String,
    is_attested: bool,
    check_attestation: String,
    is_immutable: bool,
    check_release: String,
    has_digests: bool,
    sums: String,
    unread: String,
}

#[derive(Serialize)]
struct InstallView {
    title: String,
    lines: String,
    /// Needs at run time, one paragraph per distribution and backend.
    needs: String,
}

/// Bytes that publishing may add to the text of a release to link the releases that continue it.
const ADDED: u64 = 1000;

/// The level of detail of notes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd)]
enum NotesDetail {
    /// Everything.
    Whole,
    /// Without digests, which are in `SHA256SUMS`.
    NoSums,
    /// Additionally, wheels that differ only in the Python share a row without links, and the list
    /// of missing files is truncated.
    Short,
    /// Additionally, wheels are only counted.
    Counts,
}

/// Renders the notes as Markdown, with as much detail as a release can hold.
///
/// # Errors
/// When rendering the template fails, which is a bug.
pub fn notes(notes: &ReleaseNotes<'_>) -> Result<String, TemplateError> {
    for detail in [NotesDetail::Whole, NotesDetail::NoSums, NotesDetail::Short] {
        let text = with_detail(notes, detail)?;
        if text.len() as u64 + ADDED <= notes.most_bytes {
            return Ok(text);
        }
    }
    with_detail(notes, NotesDetail::Counts)
}

fn with_detail(notes: &ReleaseNotes<'_>, detail: NotesDetail) -> Result<String, TemplateError> {
    let (expected, wheels) = (notes.expected, notes.wheels);
    let mut absent: Vec<Vec<String>> = absent(
        &matched(expected, wheels),
        &matched_archives(expected, wheels),
        notes.outcomes,
    )
    .iter()
    .map(|missing| missing.cells().to_vec())
    .collect();
    let of_wheels: BTreeSet<_> = expected
        .cells
        .iter()
        .map(|cell| (&cell.wheel, &cell.job))
        .collect();
    let planned = of_wheels.len() + expected.archives.len();
    let noun = called(of_wheels.len(), expected.archives.len());
    let count = count_of(wheels);
    let summary = match (planned, absent.len()) {
        (0, _) => format!("{count}."),
        (planned, 0) => format!("{count}. All {planned} that were planned are present."),
        (planned, absent) => format!(
            "{count}. Of the {planned} that were planned, {absent} {} missing.",
            is_or_are(absent)
        ),
    };
    let absent_count = absent.len();
    absent.truncate(match detail {
        NotesDetail::Whole | NotesDetail::NoSums => usize::MAX,
        NotesDetail::Short => MOST_SHORT,
        NotesDetail::Counts => 0,
    });
    let of_archives = wheels
        .archives
        .iter()
        .filter_map(|archive| Some((archive.name.text.as_str(), archive.digest?)));
    let digests: Vec<(&str, rock_names::Digest)> = wheels
        .all
        .iter()
        .filter_map(|wheel| Some((wheel.name.as_str(), wheel.digest?)))
        .chain(of_archives)
        .collect();
    let repository = notes
        .repository
        .map(|repository| format!(" --repo {repository}"))
        .unwrap_or_default();
    let first = notes.releases.first();
    let is_immutable = first.is_some_and(|release| release.immutable);
    // GitHub reports immutability of public releases only, and notes are written before
    // publication.
    let may_be_immutable =
        notes.repository.is_some() && first.is_some_and(|release| release.draft || release.id == 0);
    let tag = shell_quoted(notes.tag);
    let mut files = notes.releases.iter().flat_map(|release| &release.assets);
    let is_sums = |file: &ListedAsset| file.name == SUMS && file.state == AssetState::Uploaded;
    let view = NotesView {
        summary,
        sections: section(wheels, expected, 2, detail) + &trees(wheels, 2, detail),
        noun: called(wheels.all.len(), wheels.archives.len()),
        is_short: detail >= NotesDetail::Short,
        are_absent_many: absent.len() > MOST_ABSENT,
        absent_summary: match absent.len() {
            shown if shown == absent_count => {
                format!("{absent_count} of the {planned} planned {noun}s:")
            }
            shown => {
                format!("{absent_count} of the {planned} planned {noun}s; the first {shown} are:")
            }
        },
        absent: if absent.is_empty() {
            String::new()
        } else {
            markdown::table(&MissingFile::head(noun), &absent)
                .trim_end()
                .to_owned()
        },
        installs: installs(notes),
        needs_torch: wheels
            .all
            .iter()
            .any(|wheel| wheel.combination.torch_text().is_some()),
        has_urls: wheels.all.iter().any(|wheel| wheel.address.is_some()),
        has_index: notes.index.is_some(),
        has_sums: notes.has_manifest || files.any(is_sums),
        check_sums: block(&format!("sha256sum --check --ignore-missing {SUMS}")),
        is_attested: notes.attested == Some(true),
        check_attestation: notes
            .repository
            .filter(|_| notes.attested != Some(false))
            .map(|_| block(&format!("gh attestation verify FILE{repository}")))
            .unwrap_or_default(),
        is_immutable,
        check_release: if is_immutable || may_be_immutable {
            block(&format!(
                "gh release verify {tag}{repository}\ngh release verify-asset {tag} FILE{repository}"
            ))
        } else {
            String::new()
        },
        has_digests: !digests.is_empty(),
        sums: if digests.is_empty() || detail > NotesDetail::Whole {
            String::new()
        } else {
            markdown::fenced("text", &sums(digests))
                .trim_end()
                .to_owned()
        },
        unread: if detail == NotesDetail::Counts {
            String::new()
        } else {
            unread_part(&notes.wheels.unread, 2)
        },
    };
    let text = render(
        "notes.md",
        include_str!("../templates/notes/notes.md"),
        &view,
    )?;
    Ok(tidied(&text))
}

/// Collapses consecutive empty lines and ends the text with one line break.
fn tidied(text: &str) -> String {
    let mut tidy = String::with_capacity(text.len());
    for line in text.lines() {
        if !line.is_empty() || !tidy.ends_with("\n\n") {
            tidy.push_str(line);
            tidy.push('\n');
        }
    }
    format!("{}\n", tidy.trim_matches('\n'))
}

fn block(lines: &str) -> String {
    markdown::fenced("sh", lines).trim_end().to_owned()
}

/// Renders a heading per platform with a table per accelerator below it. `level` is the level of
/// the platform headings.
fn section(
    wheels: &WheelListing,
    expected: &ExpectedCells,
    level: usize,
    detail: NotesDetail,
) -> String {
    let found = matched(expected, wheels);
    let planned: BTreeMap<&str, &ExpectedCell> = found
        .iter()
        .filter_map(|matched| Some((matched.by?.name.as_str(), matched.cell)))
        .collect();
    let marks = "#".repeat(level);
    let mut text = String::new();
    for platform in wheels
        .all
        .chunk_by(|one, other| one.machine == other.machine)
    {
        let Some(first) = platform.first() else {
            continue;
        };
        text.push_str(&format!(
            "\n{marks} {}\n",
            markdown::text(&first.machine.title())
        ));
        let mut parts: BTreeMap<&str, Vec<&PublishedWheel>> = BTreeMap::new();
        for wheel in platform {
            parts
                .entry(wheel.combination.accelerator_name())
                .or_default()
                .push(wheel);
        }
        // ROCm wheels come first, because most users look for them.
        let mut names: Vec<&str> = parts.keys().copied().collect();
        names.sort_by_key(|name| (*name != "ROCm", *name));
        for name in names {
            text.push_str(&format!("\n{marks}# {name}\n\n"));
            if detail == NotesDetail::Counts {
                text.push_str(&format!("{}.\n", counted(parts[name].len(), "wheel")));
                continue;
            }
            let mut head = vec![
                "distribution",
                "version",
                name,
                "torch",
                "Python",
                "gfx targets",
                "backend",
                "link",
            ];
            let mut rows: Vec<Vec<String>> = parts[name]
                .iter()
                .map(|wheel| row(wheel, planned.get(wheel.name.as_str()).copied()))
                .collect();
            if detail == NotesDetail::Short {
                markdown::remove_column(&mut head, &mut rows, LINK);
                rows = by_python(rows);
            }
            if parts[name]
                .iter()
                .all(|wheel| wheel.combination.accelerator.is_none())
            {
                markdown::remove_column(&mut head, &mut rows, 2);
            }
            text.push_str(&markdown::table(&head, &rows));
        }
    }
    text
}

/// Renders a heading and a table of the install tree archives; empty if there are none.
fn trees(wheels: &WheelListing, level: usize, detail: NotesDetail) -> String {
    if wheels.archives.is_empty() {
        return String::new();
    }
    let head = format!("\n{} Install trees\n\n", "#".repeat(level));
    if detail == NotesDetail::Counts {
        return format!("{head}{}.\n", counted(wheels.archives.len(), "archive"));
    }
    let row = |archive: &PublishedArchive| {
        let name = &archive.name;
        let file = match &archive.address {
            Some(address) => markdown::link(&markdown::code(&name.text), address),
            None => markdown::code(&name.text),
        };
        vec![
            markdown::text(&name.distribution),
            markdown::text(&name.machine.title()),
            file,
        ]
    };
    let rows: Vec<Vec<String>> = wheels.archives.iter().map(row).collect();
    head + &markdown::table(&["distribution", "platform", "file"], &rows)
}

/// Formats the number of wheels and archives.
fn count_of(wheels: &WheelListing) -> String {
    let archives = counted(wheels.archives.len(), "archive");
    match (wheels.all.len(), wheels.archives.len()) {
        (_, 0) => counted(wheels.all.len(), "wheel"),
        (0, _) => archives,
        (count, _) => format!("{} and {archives}", counted(count, "wheel")),
    }
}

/// Column indexes of a table row.
const PYTHON: usize = 4;
const LINK: usize = 7;

/// Merges rows that differ only in the Python, at the position of the first one.
fn by_python(rows: Vec<Vec<String>>) -> Vec<Vec<String>> {
    let mut places: BTreeMap<Vec<String>, usize> = BTreeMap::new();
    let mut merged: Vec<Vec<String>> = Vec::new();
    for row in rows {
        let mut key = row.clone();
        let python = key.remove(PYTHON);
        match places.get(&key) {
            Some(place)
                if merged[*place][PYTHON]
                    .split(", ")
                    .all(|other| other != python) =>
            {
                merged[*place][PYTHON].push_str(&format!(", {python}"));
            }
            Some(_) => {}
            None => {
                places.insert(key, merged.len());
                merged.push(row);
            }
        }
    }
    merged
}

fn row(wheel: &PublishedWheel, planned: Option<&ExpectedCell>) -> Vec<String> {
    let or_none =
        |text: Option<String>| text.map_or_else(|| "–".to_owned(), |text| markdown::text(&text));
    let what = &wheel.combination;
    let of_plan = planned.map(|cell| cell.gfx.as_slice()).unwrap_or_default();
    vec![
        markdown::text(&what.distribution),
        markdown::text(&(what.version_text() + &wheel.yanked_mark())),
        or_none(what.accelerator_version()),
        or_none(what.torch_text()),
        markdown::text(&wheel.pythons.to_string()),
        or_none(wheel.gfx_text(of_plan)),
        markdown::text(what.backend_text()),
        match &wheel.address {
            Some(address) => markdown::link(&markdown::code(&wheel.tags), address),
            None => markdown::code(&wheel.name),
        },
    ]
}

/// Returns the install commands for each directory of the index: with torch installed, and from
/// scratch.
fn installs(notes: &ReleaseNotes<'_>) -> Vec<InstallView> {
    let mut folders: BTreeMap<IndexFolder, BTreeMap<&str, Vec<&PublishedWheel>>> = BTreeMap::new();
    for wheel in notes
        .wheels
        .all
        .iter()
        .filter(|wheel| wheel.yanked.is_none())
    {
        let of_folder = folders
            .entry(IndexFolder::from(&wheel.combination))
            .or_default();
        of_folder
            .entry(&wheel.combination.distribution)
            .or_default()
            .push(wheel);
    }
    let install = |(folder, distributions): (IndexFolder, BTreeMap<&str, Vec<&PublishedWheel>>)| {
        let torch = match &folder {
            IndexFolder::Rocm(rocm, Some(torch)) if !torch.is_prerelease() => {
                notes.compat.official_torch(&torch.minor(), rocm)
            }
            _ => None,
        };
        let chosen: Vec<&PublishedWheel> = distributions
            .values()
            .flat_map(|wheels| examples(wheels, notes.index.is_some()))
            .collect();
        let lines: Vec<InstallCommands> = chosen
            .iter()
            .map(|wheel| lines(wheel, &folder, notes.index, torch.as_ref()))
            .collect();
        let mut text: Vec<String> = lines.iter().map(|lines| lines.with_torch.clone()).collect();
        if let Some(name) = folder.torch() {
            text.insert(0, format!("# with torch {name} installed"));
        }
        let from_nothing: Vec<String> = lines
            .into_iter()
            .filter_map(|lines| lines.from_nothing)
            .collect();
        if !from_nothing.is_empty() {
            text.push("# from scratch".to_owned());
            text.extend(from_nothing);
        }
        let needs: BTreeSet<String> = chosen.iter().filter_map(|wheel| needs(wheel)).collect();
        InstallView {
            title: markdown::text(&folder.title()),
            lines: block(&text.join("\n")),
            needs: needs.into_iter().collect::<Vec<_>>().join("\n\n"),
        }
    };
    folders.into_iter().map(install).collect()
}

/// Returns the wheels to show install commands for: the newest version of each backend. With an
/// index, one wheel per backend is enough, because the installer selects by platform and Python.
/// Without an index, the wheel for the newest Python of each platform is shown.
fn examples<'w>(wheels: &[&'w PublishedWheel], has_index: bool) -> Vec<&'w PublishedWheel> {
    let mut newest: BTreeMap<(Option<&str>, String), &PublishedWheel> = BTreeMap::new();
    let key = |wheel: &PublishedWheel| {
        let Combination { version, git, .. } = &wheel.combination;
        (version.clone(), git.is_none(), wheel.pythons.clone())
    };
    for wheel in wheels {
        let platform = if has_index {
            String::new()
        } else {
            wheel.machine.title()
        };
        let place = newest
            .entry((wheel.combination.backend.as_deref(), platform))
            .or_insert(wheel);
        if key(place) <= key(wheel) {
            *place = wheel;
        }
    }
    newest.into_values().collect()
}

fn lines(
    wheel: &PublishedWheel,
    folder: &IndexFolder,
    index: Option<&BaseUrl>,
    torch: Option<&TorchWheel>,
) -> InstallCommands {
    // The official index has no ROCm build of torch for Windows.
    let name = wheel.name.parse::<WheelName>().ok();
    let torch = torch.filter(|_| name.as_ref().is_none_or(|name| !name.is_windows_only()));
    match (index, name.as_ref().map(WheelName::version)) {
        (Some(index), Some(version)) => {
            let address = shell_quoted(format!("{index}/{folder}/"));
            let distribution = &wheel.combination.distribution;
            if *folder == IndexFolder::Any {
                let with_torch =
                    format!("pip install {distribution} --no-deps --index-url {address}");
                return InstallCommands {
                    with_torch,
                    from_nothing: None,
                };
            }
            InstallCommands::new(&format!("{distribution}=={version}"), Some(&address), torch)
        }
        _ => {
            let place = wheel
                .address
                .clone()
                .unwrap_or_else(|| format!("./{}", wheel.name));
            InstallCommands::new(&format!("'{place}'"), None, torch)
        }
    }
}

/// Returns the needs of a wheel at run time as Markdown; `None` if there are none.
fn needs(wheel: &PublishedWheel) -> Option<String> {
    let Combination {
        distribution,
        backend,
        ..
    } = &wheel.combination;
    let shipped = || {
        Some(shipped_runtime_requirements(
            &distribution.parse().ok()?,
            backend.as_deref(),
        ))
    };
    let run_time = wheel
        .run_time
        .clone()
        .or_else(shipped)
        .filter(|run_time| !run_time.is_empty())?;
    let backend = backend
        .as_ref()
        .map(|backend| format!(" ({backend})"))
        .unwrap_or_default();
    let named = markdown::text(&format!("{distribution}{backend}"));
    let sentence = format!(
        "{named}: {}",
        run_time
            .sentence()
            .replacen("At run time it needs", "at run time it needs", 1)
    );
    if run_time.env.is_empty() {
        return Some(format!("{sentence}."));
    }
    let exports: Vec<String> = run_time
        .assignments()
        .map(|text| format!("export {text}"))
        .collect();
    Some(format!("{sentence}:\n\n{}", block(&exports.join("\n"))))
}

/// Renders the history section of a release: `### TAG`, a link, and a heading per platform.
pub fn history_section(notes: &ReleaseNotes<'_>) -> String {
    let page = notes
        .releases
        .first()
        .and_then(|release| addresses::page(release, notes.repository));
    let link = page.map_or_else(
        || "Release".to_owned(),
        |page| markdown::link("Release", &page),
    );
    format!(
        "### {}\n\n{link}, {}.\n{}{}",
        markdown::text(notes.tag),
        count_of(notes.wheels),
        section(notes.wheels, notes.expected, 4, NotesDetail::Whole),
        trees(notes.wheels, 4, NotesDetail::Whole)
    )
}
