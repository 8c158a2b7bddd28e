//! Artifacts read and laid out, with everything that a person should know of it.

use std::collections::{BTreeMap, BTreeSet};

use super::mixed;
use super::read::{self, Read};
use super::wanted::{Made, Wanted};
use crate::bytes::is_same;
use crate::cli::wheel::report;
use crate::cli::{Exit, Shell, load};
use crate::config::Platform;
use crate::diagnostic::registry::sdk as codes;
use crate::diagnostic::{Diagnostic, Place, Severity};
use crate::sdk::{self, Content, DevelTree, Dropped, EntryKind, Layout, Mode, Overlap, Wish};
use crate::sys::Room;

/// What is made of which artifacts.
pub(super) struct Laid {
    pub(super) read: Read,
    pub(super) made: Made,
    pub(super) layout: Layout,
    pub(super) devel: Vec<DevelTree>,
}

/// Reads the artifacts and lays them out; what must be kept of archives is kept in `room`, and what was found is told.
/// `Err` is the exit of a command that cannot go on. Where libraries are made for families, only those of `families` are
/// taken, or all when none is asked for.
pub(super) fn lay_out(
    wanted: &Wanted,
    (nonce, families): (&str, &BTreeSet<String>),
    room: &Room,
    shell: &Shell,
) -> Result<Laid, Exit> {
    let compat = load::compat(shell)?;
    let (laid, findings) =
        laid(wanted, (nonce, families), room, compat.sdk_tables()).map_err(|faults| report(shell, &faults))?;
    match shell.report(&findings) {
        Exit::Done => Ok(laid),
        exit => Err(exit),
    }
}

fn laid(
    wanted: &Wanted,
    (nonce, families): (&str, &BTreeSet<String>),
    room: &Room,
    facts: &crate::compat::rows::Tables,
) -> Result<(Laid, Vec<Diagnostic>), Vec<Diagnostic>> {
    let one = |fault: Diagnostic| vec![fault];
    let mut read = read::read(&wanted.artifact_dir, room)?;
    let mut findings = std::mem::take(&mut read.findings);
    if read.artifacts.is_empty() {
        let place = Place::File(wanted.artifact_dir.display().to_string().into());
        findings.push(
            Diagnostic::new(&codes::NO_ARTIFACT, "there is no artifact in the folder")
                .at(place, "")
                .help("artifacts are folders such as `base_lib_generic`, each with an `artifact_manifest.txt`, or archives of them"),
        );
        return Err(findings);
    }
    let (made, told) = match wanted.made(&read) {
        Ok(made) => made,
        Err(fault) => {
            findings.push(fault);
            return Err(findings);
        }
    };
    findings.extend(told);
    if made.mode == Mode::Legacy {
        read.keep_families(families);
    }
    findings.extend(mixed::findings(&read, made.version.as_deref()).map_err(|error| one(error.into()))?);
    let aliases = wanted.runtime_alias.clone();
    let wish = Wish { mode: made.mode, platform: wanted.platform, nonce: nonce.to_owned(), aliases };
    let layout = match sdk::lay_out(&read.artifacts, facts, &wish) {
        Ok(layout) => layout,
        Err(faults) => {
            findings.extend(faults);
            return Err(findings);
        }
    };
    findings.extend(overlaps(&read, &layout.overlaps, wanted.strict).map_err(one)?);
    findings.extend(strange(&read, &layout, wish.platform));
    findings.extend(no_aliases(&layout, &wish));
    let devel = sdk::devel_trees(&read.artifacts, facts, &wish, &layout, wanted.keep_dangling);
    if findings.iter().any(Diagnostic::is_error) {
        return Err(findings);
    }
    Ok((Laid { read, made, layout, devel }, findings))
}

/// Paths that several artifacts have with different bytes.
fn overlaps(read: &Read, overlaps: &[Overlap], is_strict: bool) -> Result<Vec<Diagnostic>, Diagnostic> {
    let mut found = Vec::new();
    for overlap in overlaps {
        let kind = |origin: sdk::Origin| &read.artifacts[origin.artifact].entries[origin.entry].kind;
        let is_equal = match (kind(overlap.kept), kind(overlap.other)) {
            (EntryKind::File(kept), EntryKind::File(other)) if kept.size_bytes == other.size_bytes => {
                let (kept, other) = (read.open(overlap.kept)?, read.open(overlap.other)?);
                is_same(kept.as_ref(), other.as_ref()).is_ok_and(|same| same)
            }
            (kept, other) => kept == other,
        };
        if is_equal {
            continue;
        }
        let shown = |origin| sdk::shown(&read.artifacts, origin);
        let path = &read.artifacts[overlap.kept.artifact].entries[overlap.kept.entry].path;
        let message = format!("two artifacts have `{path}`, and it is not the same in both");
        let severity = if is_strict { Severity::Error } else { Severity::Warning };
        found.push(
            Diagnostic::new(&codes::OVERLAPPING_FILES, message)
                .severity(severity)
                .at(Place::File(shown(overlap.other).into()), "this one is left out")
                .note(format!("taken is {}", shown(overlap.kept)))
                .help("fetch all artifacts of one run; `--strict` makes this an error"),
        );
    }
    Ok(found)
}

/// Globs of other names of libraries that match none.
fn no_aliases(layout: &Layout, wish: &Wish) -> Vec<Diagnostic> {
    let is_alias = |content: &Content| matches!(content, Content::Alias(_));
    let files = || layout.packages.iter().flat_map(|package| &package.files);
    let made: Vec<&str> =
        files().filter(|(_, placed)| is_alias(&placed.content)).map(|(path, _)| path.as_str()).collect();
    let is_idle = |glob: &&String| {
        let set = sdk::globs(std::slice::from_ref(glob));
        set.is_ok_and(|set| !made.iter().any(|path| set.is_match(path)))
    };
    let tell = |glob: &String| {
        Diagnostic::new(&codes::NO_SUCH_ALIAS, format!("no library has another name that matches `{glob}`"))
            .at(Place::Argument(format!("--runtime-alias {glob}")), "")
            .help("`rock-matrix sdk plan` lists the other names that are left out")
    };
    wish.aliases.iter().filter(is_idle).map(tell).collect()
}

/// Links that lead to nothing that could be packed, and names that some disks cannot tell apart.
fn strange(read: &Read, layout: &Layout, platform: Platform) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for package in &layout.packages {
        for (path, (why, origin)) in &package.dropped {
            let place = Place::File(sdk::shown(&read.artifacts, *origin).into());
            let (code, message, help) = match why {
                Dropped::Outside => (
                    &codes::LINK_TO_NOWHERE,
                    "the link leads out of its artifact",
                    "make the link relative, below the artifact",
                ),
                Dropped::Loop => (&codes::LINK_TO_NOWHERE, "the link leads to itself", "mend the build that made it"),
                Dropped::ProgramLink => (
                    &codes::PROGRAM_LINK,
                    "a link to a program cannot be packed for Windows",
                    "install the program twice",
                ),
                Dropped::NoStub(_) => (
                    &codes::PROGRAM_LINK,
                    "there is nothing that could stand for a link to a program of this processor",
                    "install the program twice, or leave the link out of the artifact",
                ),
                Dropped::Alias(_) | Dropped::Dangling | Dropped::ToFolder => continue,
            };
            found.push(
                Diagnostic::new(code, format!("`{path}` of `{}`: {message}", package.distribution))
                    .at(place, "")
                    .help(help),
            );
        }
        let mut seen: BTreeMap<String, &str> = BTreeMap::new();
        for path in package.files.keys() {
            if let Some(other) = seen.insert(path.to_lowercase(), path) {
                let message = format!("`{other}` and `{path}` of `{}` differ only in case", package.distribution);
                let severity = if platform == Platform::Windows { Severity::Error } else { Severity::Warning };
                found.push(
                    Diagnostic::new(&codes::CASE_CLASH, message)
                        .severity(severity)
                        .help("on disks that do not tell case apart, one takes the place of the other; rename one"),
                );
            }
        }
    }
    found
}
