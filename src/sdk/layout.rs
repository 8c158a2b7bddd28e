//! All packages with all their files.

use std::collections::{BTreeMap, BTreeSet};

use globset::GlobSet;

use super::artifact::{Artifact, EntryKind};
use super::place::{Content, Dropped, Fate, Origin, Placed, Placing};
use super::resolve;
use super::select::{For, Paths, globs};
use crate::compat::rows::{SdkPackageRow, Tables};
use crate::config::Platform;
use crate::diagnostic::registry::{sdk as codes, wheel::BAD_PATTERN};
use crate::diagnostic::{Diagnostic, Place};
use crate::names::{DistributionName, folders_above};

/// How the code for GPUs is split from the libraries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Libraries for any GPU, and files with the code for each target beside them.
    Kpack,
    /// Libraries that hold the code for a family of targets.
    Legacy,
}

impl Mode {
    /// The word of options and facts.
    pub fn word(self) -> &'static str {
        match self {
            Self::Kpack => "kpack",
            Self::Legacy => "legacy",
        }
    }
}

/// What is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wish {
    /// How code for GPUs is split.
    pub mode: Mode,
    /// What the packages are made for.
    pub platform: Platform,
    /// What is appended to the names of the folders that hold files, so that two versions can lie side by side.
    pub nonce: String,
    /// Globs of other names of libraries, without which programs that open libraries by those find none.
    pub aliases: Vec<String>,
}

/// Which package.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum PackageKind {
    /// The compiler, the run-time libraries and their tools.
    Core,
    /// Profilers.
    Profiler,
    /// Libraries of mathematics and machine learning.
    Libraries,
    /// Their code for one target.
    Device,
    /// What building against all of them needs.
    Devel,
}

impl PackageKind {
    /// The word of the facts.
    pub fn word(self) -> &'static str {
        match self {
            Self::Core => "core",
            Self::Profiler => "profiler",
            Self::Libraries => "libraries",
            Self::Device => "device",
            Self::Devel => "devel",
        }
    }
}

/// The target or family that a package is for.
pub(super) type Family = Option<String>;

/// A package that is run from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Package {
    /// Which it is.
    pub kind: PackageKind,
    /// The target or family that it is for.
    pub made_for: Family,
    /// The name of its project, `rocm-sdk-device-gfx942`.
    pub distribution: String,
    /// The folder of `site-packages` that its files are in, `_rocm_sdk_libraries`.
    pub folder: String,
    /// Its files by path in that folder.
    pub files: BTreeMap<String, Placed>,
    /// Paths of its artifacts that are not in it.
    pub dropped: BTreeMap<String, (Dropped, Origin)>,
}

/// A path that two artifacts have, of which the first is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Overlap {
    /// The one that is taken.
    pub kept: Origin,
    /// The one that is not.
    pub other: Origin,
}

/// All packages that are run from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    /// They, in the order in which they are made: core, profiler, libraries, devices.
    pub packages: Vec<Package>,
    /// Paths that several artifacts of one package have. Whether their bytes differ is to be seen.
    pub overlaps: Vec<Overlap>,
}

/// Lays out the packages that are run from. `artifacts` must be sorted by name.
///
/// # Errors
/// Rows of the facts that cannot be right, artifacts that are missing, and paths that are a file in one artifact and a
/// folder in another.
pub fn lay_out(artifacts: &[Artifact], facts: &Tables, wish: &Wish) -> Result<Layout, Vec<Diagnostic>> {
    let paths: Vec<resolve::Paths<'_>> = artifacts.iter().map(resolve::Paths::new).collect();
    let aliases = globs(&wish.aliases).map_err(|error| {
        let place = Place::Argument(format!("--runtime-alias {}", error.glob().unwrap_or_default()));
        let fault = Diagnostic::new(&BAD_PATTERN, format!("it is no glob: {}", error.kind())).at(place, "");
        vec![fault.help("give one over whole paths, such as `lib/libhsa-runtime64.so`")]
    })?;
    let mut builder = Builder { artifacts, paths, facts, wish, aliases, overlaps: Vec::new(), faults: Vec::new() };
    let mut packages = Vec::new();
    packages.extend(builder.package(PackageKind::Core, None));
    packages.extend(builder.package(PackageKind::Profiler, None));
    match wish.mode {
        Mode::Kpack => {
            packages.extend(builder.package(PackageKind::Libraries, None));
            for target in builder.bases(PackageKind::Device) {
                packages.extend(builder.package(PackageKind::Device, Some(target)));
            }
        }
        Mode::Legacy => {
            for family in builder.bases(PackageKind::Libraries) {
                packages.extend(builder.package(PackageKind::Libraries, Some(family)));
            }
        }
    }
    if builder.faults.is_empty() { Ok(Layout { packages, overlaps: builder.overlaps }) } else { Err(builder.faults) }
}

/// The project that the packages are installed by: a source distribution that chooses among them.
pub const SELECTOR: &str = "rocm";

/// Whether a project, as indexes write its name, is a package of the SDK.
pub fn is_package(project: &str, facts: &Tables) -> bool {
    let is_of = |row: &SdkPackageRow| {
        project.strip_prefix(row.distribution.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
    };
    project == SELECTOR || facts.sdk_packages.iter().any(is_of)
}

/// The folder of `site-packages` that holds the files of a package.
pub(super) fn folder_of(distribution: &str, nonce: &str) -> String {
    format!("_{}{nonce}", distribution.replace('-', "_"))
}

/// The row of a package.
pub(super) fn row(facts: &Tables, kind: PackageKind) -> Option<&SdkPackageRow> {
    facts.sdk_packages.iter().find(|row| row.package == kind.word())
}

struct Builder<'b> {
    artifacts: &'b [Artifact],
    paths: Vec<resolve::Paths<'b>>,
    facts: &'b Tables,
    wish: &'b Wish,
    aliases: GlobSet,
    overlaps: Vec<Overlap>,
    faults: Vec<Diagnostic>,
}

impl Builder<'_> {
    /// The targets or families that artifacts of a package are for, sorted.
    fn bases(&self, kind: PackageKind) -> BTreeSet<String> {
        let Some(row) = row(self.facts, kind) else { return BTreeSet::new() };
        let feeds = self.artifacts.iter().filter(|artifact| row.takes(artifact, self.wish.mode));
        feeds.filter_map(|artifact| artifact.name.base()).map(str::to_owned).collect()
    }

    fn package(&mut self, kind: PackageKind, made_for: Family) -> Option<Package> {
        let row = row(self.facts, kind)?;
        if !row.is_for(self.wish.platform) {
            return None;
        }
        let wanted = match (kind, self.wish.mode, made_for.as_deref()) {
            (PackageKind::Device, _, Some(target)) => For::Target(target),
            (PackageKind::Libraries, _, Some(family)) => For::AnyAnd(family),
            (PackageKind::Libraries, Mode::Kpack, None) => For::Any,
            _ => For::All,
        };
        let fed_by = row.fed_by(self.artifacts, self.wish.mode, wanted);
        if fed_by.is_empty() {
            let names: Vec<&str> = row.takes.iter().flat_map(|take| &take.names).map(String::as_str).collect();
            let message = format!("no artifact feeds the package `{}`", row.distribution);
            self.faults.push(
                Diagnostic::new(&codes::NO_ARTIFACT, message)
                    .help(format!("it is made of {}; fetch one of them into the folder", names.join(", "))),
            );
            return None;
        }
        let (selected, short_names) = match (Paths::of(row), globs(&row.short_names)) {
            (Ok(selected), Ok(short_names)) => (selected, short_names),
            (Err(error), _) | (_, Err(error)) => {
                let message = format!("a row of `sdk-packages` has a bad glob: {error}");
                self.faults.push(Diagnostic::new(&BAD_PATTERN, message).help("correct the facts"));
                return None;
            }
        };
        let distribution = match &made_for {
            Some(gpus) => format!("{}-{gpus}", row.distribution),
            None => row.distribution.clone(),
        };
        // Devices go into the folder of the libraries.
        let home = match kind {
            PackageKind::Device => self.distribution(PackageKind::Libraries),
            _ => distribution.clone(),
        };
        let core = folder_of(&self.distribution(PackageKind::Core), &self.wish.nonce);
        let placing = Placing {
            platform: self.wish.platform,
            core: &core,
            search: &row.search,
            is_once: kind != PackageKind::Device,
            aliases: &self.aliases.clone(),
        };
        let mut package = Package {
            kind,
            made_for,
            distribution,
            folder: folder_of(&home, &self.wish.nonce),
            files: BTreeMap::new(),
            dropped: BTreeMap::new(),
        };
        let mut owners: BTreeMap<&str, Origin> = BTreeMap::new();
        for artifact in fed_by {
            for (entry, listed) in self.artifacts[artifact].entries.iter().enumerate() {
                if matches!(listed.kind, EntryKind::Folder) || !selected.takes(&listed.path) {
                    continue;
                }
                let origin = Origin { artifact, entry };
                if let Some(kept) = owners.get(listed.path.as_str()) {
                    self.overlaps.push(Overlap { kept: *kept, other: origin });
                    continue;
                }
                owners.insert(&listed.path, origin);
                match placing.fate(&self.artifacts[artifact], origin, &self.paths[artifact]) {
                    Fate::Nothing => {}
                    Fate::Placed(placed) => drop(package.files.insert(listed.path.clone(), placed)),
                    Fate::Dropped(why) => drop(package.dropped.insert(listed.path.clone(), (why, origin))),
                }
            }
        }
        self.short_names(&mut package, &placing, |path| short_names.is_match(path));
        self.extra_links(&mut package, &placing, &row.extra_links);
        self.check_folders(&package);
        Some(package)
    }

    fn distribution(&self, kind: PackageKind) -> String {
        row(self.facts, kind).map(|row| row.distribution.clone()).unwrap_or_default()
    }

    /// Puts what a path holds under another one, too.
    fn again(&self, package: &mut Package, placing: &Placing<'_>, path: &str, under: String) {
        if package.files.contains_key(&under) {
            return;
        }
        let Some(placed) = package.files.get(path) else { return };
        let (Content::Copy(bytes) | Content::Searching(bytes, _)) = placed.content else { return };
        let EntryKind::File(facts) = &self.artifacts[bytes.artifact].entries[bytes.entry].kind else { return };
        let content = placing.content(&under, facts, bytes);
        let again = Placed { content, ..placed.clone() };
        package.dropped.remove(&under);
        package.files.insert(under, again);
    }

    fn short_names(&self, package: &mut Package, placing: &Placing<'_>, is_of: impl Fn(&str) -> bool) {
        let paths: Vec<String> = package.files.keys().filter(|path| is_of(path)).cloned().collect();
        for path in paths {
            if let Some((short, _)) = path.rsplit_once('.') {
                self.again(package, placing, &path, short.to_owned());
            }
        }
    }

    fn extra_links(&self, package: &mut Package, placing: &Placing<'_>, links: &BTreeMap<String, String>) {
        for (path, target) in links {
            self.again(package, placing, target, path.clone());
        }
    }

    /// A path cannot be a file here and a folder there.
    fn check_folders(&mut self, package: &Package) {
        for path in package.files.keys() {
            for folder in folders_above(path) {
                if package.files.contains_key(folder) {
                    let message = format!("`{folder}` is a file and a folder in `{}`", package.distribution);
                    let place = Place::File(shown(self.artifacts, package.files[folder].from).into());
                    self.faults.push(
                        Diagnostic::new(&codes::FILE_AND_FOLDER, message)
                            .at(place, format!("the folder holds `{path}`"))
                            .help("one of the artifacts was built by another version; fetch all of one run"),
                    );
                }
            }
        }
    }
}

/// A path of an artifact as a person knows it.
pub fn shown(artifacts: &[Artifact], origin: Origin) -> String {
    let artifact = &artifacts[origin.artifact];
    let entry = &artifact.entries[origin.entry];
    format!("{}/{}/{}", artifact.name, artifact.roots[entry.root], entry.path)
}

/// The name of a project as file names have it.
pub fn file_word(distribution: &str) -> String {
    distribution.parse::<DistributionName>().map(|name| name.normalized().replace('-', "_")).unwrap_or_default()
}
