//! Building of one package: files of its artifacts, and files that are derived from them.

use std::collections::{BTreeMap, BTreeSet};

use globset::GlobSet;

use super::artifact::{BuildArtifact, EntryKind};
use super::layout::{
    DeviceFamily, LayoutRequest, PackageKind, PathOverlap, RuntimePackage, SplitMode, directory_of,
    row,
};
use super::lint::file_and_directory;
use super::placement::{
    DropReason, EntryFate, FileContent, FileOrigin, PackageFile, PlacementRules,
};
use super::resolve::{self, LinkTarget, way};
use super::select::{self, DeviceScope, PathSelection, globs};
use super::stub::stub;
use crate::codes::sdk as codes;
use rock_audit::codes::wheel::BAD_PATTERN;
use rock_compat::rows::{SdkPackageRow, SdkTables};
use rock_diagnostic::Diagnostic;
use rock_names::{parent_directories, resolve_link};

/// A builder of runtime packages.
pub(super) struct PackageBuilder<'b> {
    pub(super) artifacts: &'b [BuildArtifact],
    /// The path index of each artifact.
    pub(super) paths: Vec<resolve::ArtifactPaths<'b>>,
    pub(super) facts: &'b SdkTables,
    pub(super) request: &'b LayoutRequest,
    /// Globs of the library names that get a stub library.
    pub(super) aliases: GlobSet,
}

impl PackageBuilder<'_> {
    /// Returns the targets or families of the artifacts that a package uses, sorted.
    pub(super) fn bases(&self, kind: PackageKind) -> BTreeSet<String> {
        let Some(row) = row(self.facts, kind) else {
            return BTreeSet::new();
        };
        let feeds = self
            .artifacts
            .iter()
            .filter(|artifact| select::takes(row, artifact, self.request.mode));
        feeds
            .filter_map(|artifact| artifact.name.base())
            .map(str::to_owned)
            .collect()
    }

    /// Builds a package. Returns it with the paths that several of its artifacts have, or `None` if
    /// it does not exist for the platform.
    ///
    /// # Errors
    /// When no artifact feeds the package, a glob of its row is invalid, or a path is both a file
    /// and a directory.
    pub(super) fn package(
        &self,
        kind: PackageKind,
        made_for: DeviceFamily,
    ) -> Result<Option<(RuntimePackage, Vec<PathOverlap>)>, Vec<Diagnostic>> {
        let Some(row) =
            row(self.facts, kind).filter(|row| select::is_for(row, self.request.platform))
        else {
            return Ok(None);
        };
        let fed_by = self
            .fed_by(row, kind, made_for.as_deref())
            .map_err(|fault| vec![fault])?;
        let (selected, short_names) = both(PathSelection::of(row), globs(&row.short_names))
            .map_err(|error| {
                let message = format!("a row of `sdk-packages` has a bad glob: {error}");
                vec![Diagnostic::new(&BAD_PATTERN, message).help("correct the compatibility data")]
            })?;
        let core = directory_of(
            &self.distribution(PackageKind::Core),
            &self.request.name_suffix,
        );
        let placing = PlacementRules {
            platform: self.request.platform,
            core: &core,
            search: &row.search,
            is_once: kind != PackageKind::Device,
            aliases: &self.aliases,
        };
        let mut package = self.empty(row, kind, made_for);
        let overlaps = self.fill(&mut package, &fed_by, &selected, &placing);
        self.own_names(&mut package, &placing);
        self.short_names(&mut package, &placing, |path| short_names.is_match(path));
        self.extra_links(&mut package, &placing, &row.extra_links);
        self.straighten(&mut package);
        let faults = self.files_and_directories(&package);
        if faults.is_empty() {
            Ok(Some((package, overlaps)))
        } else {
            Err(faults)
        }
    }

    /// Returns the indices of the artifacts that feed a package.
    fn fed_by(
        &self,
        row: &SdkPackageRow,
        kind: PackageKind,
        made_for: Option<&str>,
    ) -> Result<Vec<usize>, Diagnostic> {
        let wanted = match (kind, self.request.mode, made_for) {
            (PackageKind::Device, _, Some(target)) => DeviceScope::Target(target),
            (PackageKind::Libraries, _, Some(family)) => DeviceScope::AnyAnd(family),
            (PackageKind::Libraries, SplitMode::Kpack, None) => DeviceScope::Any,
            _ => DeviceScope::All,
        };
        let fed_by = select::fed_by(row, self.artifacts, self.request.mode, wanted);
        if !fed_by.is_empty() {
            return Ok(fed_by);
        }
        let names: Vec<&str> = row
            .takes
            .iter()
            .flat_map(|take| &take.names)
            .map(String::as_str)
            .collect();
        let message = format!(
            "there is no artifact for the package `{}`",
            row.distribution
        );
        Err(Diagnostic::new(&codes::NO_ARTIFACT, message).help(format!(
            "it is made from {}; fetch one of them into the directory",
            names.join(", ")
        )))
    }

    fn empty(
        &self,
        row: &SdkPackageRow,
        kind: PackageKind,
        made_for: DeviceFamily,
    ) -> RuntimePackage {
        let distribution = match &made_for {
            Some(gpus) => format!("{}-{gpus}", row.distribution),
            None => row.distribution.clone(),
        };
        // Device packages use the directory of the libraries package.
        let home = match kind {
            PackageKind::Device => self.distribution(PackageKind::Libraries),
            _ => distribution.clone(),
        };
        let directory = directory_of(&home, &self.request.name_suffix);
        RuntimePackage {
            kind,
            made_for,
            distribution,
            directory,
            files: BTreeMap::new(),
            dropped: BTreeMap::new(),
        }
    }

    fn distribution(&self, kind: PackageKind) -> String {
        row(self.facts, kind)
            .map(|row| row.distribution.clone())
            .unwrap_or_default()
    }

    /// Adds the selected entries of artifacts to a package. The first artifact with a path wins;
    /// returns the overlaps.
    fn fill(
        &self,
        package: &mut RuntimePackage,
        fed_by: &[usize],
        selected: &PathSelection,
        placing: &PlacementRules<'_>,
    ) -> Vec<PathOverlap> {
        let mut overlaps = Vec::new();
        let mut owners: BTreeMap<&str, FileOrigin> = BTreeMap::new();
        for &artifact in fed_by {
            for (entry, listed) in self.artifacts[artifact].entries.iter().enumerate() {
                if matches!(listed.kind, EntryKind::Directory) || !selected.takes(&listed.path) {
                    continue;
                }
                let origin = FileOrigin { artifact, entry };
                if let Some(kept) = owners.get(listed.path.as_str()) {
                    overlaps.push(PathOverlap {
                        kept: *kept,
                        other: origin,
                    });
                    continue;
                }
                owners.insert(&listed.path, origin);
                match placing.fate(&self.artifacts[artifact], origin, &self.paths[artifact]) {
                    EntryFate::Nothing => {}
                    EntryFate::Placed(placed) => {
                        drop(package.files.insert(listed.path.clone(), placed));
                    }
                    EntryFate::Dropped(why) => {
                        drop(package.dropped.insert(listed.path.clone(), (why, origin)));
                    }
                }
            }
        }
        overlaps
    }

    /// Packs libraries under their own filenames if no file in their directory is named like their
    /// SONAME.
    fn own_names(&self, package: &mut RuntimePackage, placing: &PlacementRules<'_>) {
        let as_it_is = PlacementRules {
            is_once: false,
            ..*placing
        };
        let is_there = |path: &str, soname: &str| {
            let named = resolve_link(path, soname).and_then(|path| package.files.get(&path));
            named.is_some_and(|placed| !matches!(placed.content, FileContent::Alias(_)))
        };
        let left_out = package
            .dropped
            .iter()
            .filter_map(|(path, (why, origin))| match why {
                DropReason::Alias(soname) if !is_there(path, soname) => {
                    Some((path.clone(), *origin))
                }
                _ => None,
            });
        let stood_for = package
            .files
            .iter()
            .filter_map(|(path, placed)| match &placed.content {
                FileContent::Alias(alias) if !is_there(path, &alias.soname) => {
                    Some((path.clone(), placed.from))
                }
                _ => None,
            });
        for (path, origin) in left_out.chain(stood_for).collect::<Vec<_>>() {
            let FileOrigin { artifact, .. } = origin;
            if let EntryFate::Placed(placed) =
                as_it_is.fate(&self.artifacts[artifact], origin, &self.paths[artifact])
            {
                package.dropped.remove(&path);
                package.files.insert(path, placed);
            }
        }
    }

    /// Packs the file at `path` at `under` as well, unless there is a file already.
    fn again(
        &self,
        package: &mut RuntimePackage,
        placing: &PlacementRules<'_>,
        path: &str,
        under: String,
    ) {
        if package.files.contains_key(&under) {
            return;
        }
        let Some(placed) = package.files.get(path) else {
            return;
        };
        let (FileContent::Copy(bytes) | FileContent::Searching(bytes, _)) = placed.content else {
            return;
        };
        let EntryKind::File(facts) = &self.artifacts[bytes.artifact].entries[bytes.entry].kind
        else {
            return;
        };
        let content = placing.content(&under, facts, bytes);
        let again = PackageFile {
            content,
            ..placed.clone()
        };
        package.dropped.remove(&under);
        package.files.insert(under, again);
    }

    fn short_names(
        &self,
        package: &mut RuntimePackage,
        placing: &PlacementRules<'_>,
        is_of: impl Fn(&str) -> bool,
    ) {
        let paths: Vec<String> = package
            .files
            .keys()
            .filter(|path| is_of(path))
            .cloned()
            .collect();
        for path in paths {
            if let Some((short, _)) = path.rsplit_once('.') {
                self.again(package, placing, &path, short.to_owned());
            }
        }
    }

    fn extra_links(
        &self,
        package: &mut RuntimePackage,
        placing: &PlacementRules<'_>,
        links: &BTreeMap<String, String>,
    ) {
        for (path, target) in links {
            self.again(package, placing, target, path.clone());
        }
    }

    /// Points stub programs at the final target of their symlink if its text does not resolve in
    /// the package. This is the case if it leads through a symlink to a directory, which wheels do
    /// not contain.
    fn straighten(&self, package: &mut RuntimePackage) {
        let mut mended = Vec::new();
        for (path, placed) in &package.files {
            let FileContent::Stub { machine, text } = &placed.content else {
                continue;
            };
            let FileOrigin { artifact, entry } = placed.from;
            if is_way(path, text, package) {
                continue;
            }
            let LinkTarget::File(target) = self.paths[artifact].follow(entry, text) else {
                continue;
            };
            let text = way(path, &self.artifacts[artifact].entries[target].path);
            if stub(*machine, &text).is_ok() {
                mended.push((
                    path.clone(),
                    FileContent::Stub {
                        machine: *machine,
                        text,
                    },
                ));
            }
        }
        for (path, content) in mended {
            if let Some(placed) = package.files.get_mut(&path) {
                placed.content = content;
            }
        }
    }

    /// Reports paths that are both a file and a directory.
    fn files_and_directories(&self, package: &RuntimePackage) -> Vec<Diagnostic> {
        let mut torn: BTreeMap<&str, (FileOrigin, FileOrigin)> = BTreeMap::new();
        for (path, inside) in &package.files {
            for directory in parent_directories(path) {
                if let Some(file) = package.files.get(directory) {
                    torn.entry(directory).or_insert((file.from, inside.from));
                }
            }
        }
        let tell = |(path, (file, inside)): (&str, (FileOrigin, FileOrigin))| {
            file_and_directory(self.artifacts, (&package.distribution, path), file, inside)
        };
        torn.into_iter().map(tell).collect()
    }
}

/// Whether a target text leads from a path to a file of the package without passing through a
/// directory that may not exist.
fn is_way(path: &str, text: &str, package: &RuntimePackage) -> bool {
    let down = text.trim_start_matches("../");
    let target = resolve_link(path, text)
        .filter(|target| target != path && down.split('/').all(|word| word != ".."));
    target.is_some_and(|target| package.files.contains_key(&target))
}

fn both<A, B, E>(one: Result<A, E>, other: Result<B, E>) -> Result<(A, B), E> {
    Ok((one?, other?))
}
