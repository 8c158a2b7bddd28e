//! The opened packages of a directory.

use std::collections::{BTreeMap, BTreeSet};

use super::texts::AssignedValues;
use crate::PackageKind;
use crate::layout::{directory_of, row};
use rock_bytes::archive::ParsedMemberKind;
use rock_compat::rows::{SdkPackageRow, SdkTables};
use rock_diagnostic::{Code, Diagnostic, Location};
use rock_names::Platform;
use rock_names::WheelName;

/// The packages of a directory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OpenedPackages {
    /// The wheels, sorted by path.
    pub wheels: Vec<OpenedWheel>,
    /// The sdists of `rocm`, sorted by path.
    pub selectors: Vec<SelectorSdist>,
}

/// An sdist of `rocm`, which selects among the packages.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SelectorSdist {
    /// The path relative to the directory.
    pub path: String,
    /// The contents of the files by path.
    pub files: BTreeMap<String, Vec<u8>>,
    /// The reason for which the sdist cannot be read to the end.
    pub fault: Option<String>,
}

/// A devel tree, packed in a wheel.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PackedTree {
    /// The path of the archive in the wheel.
    pub member: String,
    /// The members in archive order.
    pub entries: Vec<PayloadEntry>,
    /// The reason for which the archive cannot be read to the end.
    pub fault: Option<String>,
}

/// A member of a devel tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PayloadEntry {
    /// The path as written in the archive.
    pub path: String,
    /// The type of the member.
    pub kind: ParsedMemberKind,
    /// The file as the dynamic linker sees it.
    pub held: LoaderView,
}

/// A wheel of the SDK.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenedWheel {
    /// The path relative to the directory: the filename, in the subdirectory of a family if there
    /// are packages for several.
    pub path: String,
    /// The wheel name.
    pub name: WheelName,
    /// The distribution name in METADATA, `rocm-sdk-libraries-gfx94X-dcgpu`.
    pub project: String,
    /// The kind of the package.
    pub kind: PackageKind,
    /// The target or family, if the package is for one.
    pub made_for: Option<String>,
    /// Whether WHEEL says `Root-Is-Purelib: true`.
    pub is_purelib: bool,
    /// The values of `Requires-Dist`.
    pub requires: Vec<String>,
    /// The files by path, including those of dist-info.
    pub files: BTreeMap<String, OpenedFile>,
    /// The contents of the text files that [`is_read`](super::is_read) selects, by path.
    pub texts: BTreeMap<String, String>,
    /// The devel trees in the wheel.
    pub payloads: Vec<PackedTree>,
}

/// A file of a wheel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenedFile {
    /// The size of the file.
    pub size_bytes: u64,
    /// Whether the file is executable.
    pub is_executable: bool,
    /// The file as the dynamic linker sees it.
    pub held: LoaderView,
}

/// A file as the dynamic linker sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LoaderView {
    /// Any other file.
    Data,
    /// A dynamically linked library or program, for a processor whose files get a search path.
    Linked(Box<DynamicInfo>),
    /// A stub program with this target text.
    Stub(String),
}

/// The dynamic entries of a library or program.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DynamicInfo {
    /// The SONAME.
    pub soname: Option<String>,
    /// The NEEDED libraries.
    pub needed: Vec<String>,
    /// The RPATH.
    pub rpath: Option<String>,
    /// The RUNPATH.
    pub runpath: Option<String>,
}

/// Returns the kind of a distribution and its target or family, or `None` if it is not an SDK
/// package.
pub fn identify(project: &str, facts: &SdkTables) -> Option<(PackageKind, Option<String>)> {
    let is_named =
        |kind: PackageKind| row(facts, kind).is_some_and(|row| row.distribution == project);
    let plain = [
        PackageKind::Core,
        PackageKind::Profiler,
        PackageKind::Libraries,
        PackageKind::Devel,
    ];
    if let Some(kind) = plain.into_iter().find(|kind| is_named(*kind)) {
        return Some((kind, None));
    }
    [PackageKind::Device, PackageKind::Libraries]
        .into_iter()
        .find_map(|kind| {
            let rest = project
                .strip_prefix(&row(facts, kind)?.distribution)?
                .strip_prefix('-')?;
            (!rest.is_empty()).then(|| (kind, Some(rest.to_owned())))
        })
}

impl OpenedPackages {
    /// Whether two packages can be installed together: those of different families are
    /// alternatives.
    pub(super) fn are_together(one: &str, other: &str) -> bool {
        let (one, other) = (family_directory(one), family_directory(other));
        one.is_empty() || other.is_empty() || one == other
    }

    /// Returns the wheels that can be installed together with the package at this path, including
    /// itself.
    pub(super) fn beside<'o>(
        &'o self,
        path: &'o str,
    ) -> impl Iterator<Item = &'o OpenedWheel> + Clone {
        self.wheels
            .iter()
            .filter(move |wheel| Self::are_together(&wheel.path, path))
    }
}

/// Returns the subdirectory of a package, which is named after a family; empty at the top level.
pub(super) fn family_directory(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(directory, _)| directory)
}

impl OpenedWheel {
    /// Returns the row for the package in the compatibility data.
    pub(super) fn row<'f>(&self, facts: &'f SdkTables) -> Option<&'f SdkPackageRow> {
        row(facts, self.kind)
    }

    /// Returns the platform of the wheel.
    pub(super) fn platform(&self) -> Platform {
        let is_windows = self
            .name
            .platform_tags()
            .iter()
            .any(|tag| tag.starts_with("win"));
        if is_windows {
            Platform::Windows
        } else {
            Platform::Linux
        }
    }

    /// Returns the values in the generated module; empty for packages without one.
    pub(super) fn assigned(&self) -> AssignedValues<'_> {
        let module = format!("{}/_dist_info.py", self.module());
        AssignedValues::read(self.texts.get(&module).map_or("", String::as_str))
    }

    /// Returns the name of the module next to the directory of files, `rocm_sdk_core`.
    pub(super) fn module(&self) -> String {
        crate::python::module(&self.project)
    }

    /// Returns the directory in `site-packages` with the files. Device packages use that of the
    /// libraries package.
    pub(super) fn directory(&self, facts: &SdkTables) -> String {
        format!("{}{}", self.home(facts), self.name_suffix(facts))
    }

    /// Returns the suffix of the names of this build's directories.
    pub(super) fn name_suffix(&self, facts: &SdkTables) -> String {
        let home = self.home(facts);
        let of_directory = || {
            self.tops()
                .find_map(|top| top.strip_prefix(&home))
                .unwrap_or_default()
                .to_owned()
        };
        self.assigned()
            .text("PY_PACKAGE_SUFFIX_NONCE")
            .unwrap_or_else(of_directory)
    }

    /// Returns the name of the directory without the suffix.
    fn home(&self, facts: &SdkTables) -> String {
        let libraries =
            row(facts, PackageKind::Libraries).filter(|_| self.kind == PackageKind::Device);
        directory_of(libraries.map_or(&self.project, |row| &row.distribution), "")
    }

    /// Returns the top-level names that the wheel has in `site-packages`.
    pub(super) fn tops(&self) -> impl Iterator<Item = &str> {
        let tops: BTreeSet<&str> = self
            .files
            .keys()
            .filter_map(|path| path.split('/').next())
            .collect();
        tops.into_iter()
    }

    /// Returns the name of the dist-info directory.
    pub(super) fn dist_info(&self) -> &str {
        self.tops()
            .find(|top| top.ends_with(".dist-info"))
            .unwrap_or_default()
    }

    /// Returns the dynamically linked libraries and programs with their paths; none for Windows,
    /// which has no search paths.
    pub(super) fn linked(&self) -> impl Iterator<Item = (&str, &DynamicInfo)> {
        let files = self
            .files
            .iter()
            .filter(|_| self.platform() == Platform::Linux);
        files.filter_map(|(path, file)| match &file.held {
            LoaderView::Linked(linked) => Some((path.as_str(), linked.as_ref())),
            LoaderView::Data | LoaderView::Stub(_) => None,
        })
    }

    /// Creates a finding about the whole wheel.
    pub(super) fn fault(&self, code: &'static Code, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(code, message).at(Location::File(self.path.as_str().into()), "")
    }

    /// Creates a finding about a member.
    pub(super) fn fault_at(
        &self,
        code: &'static Code,
        member: &str,
        message: impl Into<String>,
    ) -> Diagnostic {
        let place = Location::Member {
            wheel: self.path.clone(),
            member: member.to_owned(),
        };
        Diagnostic::new(code, message).at(place, "")
    }
}
