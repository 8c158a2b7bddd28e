//! What stands in the packages of a folder.

use std::collections::{BTreeMap, BTreeSet};

use super::texts::AssignedValues;
use crate::PackageKind;
use crate::layout::{folder_of, row};
use rock_bytes::archive::ParsedMemberKind;
use rock_compat::rows::{SdkPackageRow, SdkTables};
use rock_diagnostic::{Code, Diagnostic, Location};
use rock_names::Platform;
use rock_names::WheelName;

/// The packages of a folder.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OpenedPackages {
    /// The wheels, by path.
    pub wheels: Vec<OpenedWheel>,
    /// Source distributions of `rocm`, by path.
    pub selectors: Vec<SelectorSdist>,
}

/// A source distribution of `rocm`, which chooses among the packages.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SelectorSdist {
    /// Its path below the folder.
    pub path: String,
    /// What its files hold, by path.
    pub files: BTreeMap<String, Vec<u8>>,
    /// Why it cannot be read to its end.
    pub fault: Option<String>,
}

/// A tree to build against, as it is packed in a wheel.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PackedTree {
    /// Its path in the wheel.
    pub member: String,
    /// Its members in their order.
    pub entries: Vec<PayloadEntry>,
    /// Why it cannot be read to its end.
    pub fault: Option<String>,
}

/// A member of a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PayloadEntry {
    /// Its path as written.
    pub path: String,
    /// What it is.
    pub kind: ParsedMemberKind,
    /// What a loader would make of it.
    pub held: LoaderView,
}

/// A wheel of the SDK.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenedWheel {
    /// Its path below the folder: its name, below the name of a family where there are packages for
    /// several.
    pub path: String,
    /// Its name.
    pub name: WheelName,
    /// The name of its project as METADATA has it, `rocm-sdk-libraries-gfx94X-dcgpu`.
    pub project: String,
    /// Which package it is.
    pub kind: PackageKind,
    /// The target or family that it is for.
    pub made_for: Option<String>,
    /// Whether WHEEL says `Root-Is-Purelib: true`.
    pub is_purelib: bool,
    /// The values of `Requires-Dist`.
    pub requires: Vec<String>,
    /// Its files by path, those of dist-info too.
    pub files: BTreeMap<String, OpenedFile>,
    /// What its short texts say: those that [`is_read`](super::is_read) names.
    pub texts: BTreeMap<String, String>,
    /// The trees to build against that are packed in it.
    pub payloads: Vec<PackedTree>,
}

/// A file of a wheel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenedFile {
    /// Its size.
    pub size_bytes: u64,
    /// Whether it may be run.
    pub is_executable: bool,
    /// What a loader would make of it.
    pub held: LoaderView,
}

/// What a loader would make of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LoaderView {
    /// Nothing.
    Data,
    /// A library or program that is linked with others, for a processor whose files get a search
    /// path.
    Linked(Box<DynamicInfo>),
    /// A program that stands for a link with this text.
    Stub(String),
}

/// What a loader reads of a library or program.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DynamicInfo {
    /// The name that loaders ask for.
    pub soname: Option<String>,
    /// The libraries that it needs.
    pub needed: Vec<String>,
    /// Its RPATH.
    pub rpath: Option<String>,
    /// Its RUNPATH.
    pub runpath: Option<String>,
}

/// Which package a project is, and for which target or family; `None` where it is none of the
/// SDK's.
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
    /// Whether two packages can be installed beside each other: those of different families are
    /// alternatives.
    pub(super) fn are_together(one: &str, other: &str) -> bool {
        let (one, other) = (family_folder(one), family_folder(other));
        one.is_empty() || other.is_empty() || one == other
    }

    /// The wheels that can be installed beside a package at this path, itself included.
    pub(super) fn beside<'o>(
        &'o self,
        path: &'o str,
    ) -> impl Iterator<Item = &'o OpenedWheel> + Clone {
        self.wheels
            .iter()
            .filter(move |wheel| Self::are_together(&wheel.path, path))
    }
}

/// The folder of a family that a package lies in; empty for those at the top.
pub(super) fn family_folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

impl OpenedWheel {
    /// The row of the facts for it.
    pub(super) fn row<'f>(&self, facts: &'f SdkTables) -> Option<&'f SdkPackageRow> {
        row(facts, self.kind)
    }

    /// The platform that it is for.
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

    /// What its generated module says; empty for packages that have none.
    pub(super) fn assigned(&self) -> AssignedValues<'_> {
        let module = format!("{}/_dist_info.py", self.module());
        AssignedValues::read(self.texts.get(&module).map_or("", String::as_str))
    }

    /// The module beside its folder, `rocm_sdk_core`.
    pub(super) fn module(&self) -> String {
        crate::python::module(&self.project)
    }

    /// The folder of `site-packages` that its files are in. Devices go into that of the libraries.
    pub(super) fn folder(&self, facts: &SdkTables) -> String {
        format!("{}{}", self.home(facts), self.nonce(facts))
    }

    /// What ends the names of folders of this build.
    pub(super) fn nonce(&self, facts: &SdkTables) -> String {
        let home = self.home(facts);
        let of_folder = || {
            self.tops()
                .find_map(|top| top.strip_prefix(&home))
                .unwrap_or_default()
                .to_owned()
        };
        self.assigned()
            .text("PY_PACKAGE_SUFFIX_NONCE")
            .unwrap_or_else(of_folder)
    }

    /// Its folder in a build whose folders end as their packages do.
    fn home(&self, facts: &SdkTables) -> String {
        let libraries =
            row(facts, PackageKind::Libraries).filter(|_| self.kind == PackageKind::Device);
        folder_of(libraries.map_or(&self.project, |row| &row.distribution), "")
    }

    /// The names at the top of `site-packages` that it has.
    pub(super) fn tops(&self) -> impl Iterator<Item = &str> {
        let tops: BTreeSet<&str> = self
            .files
            .keys()
            .filter_map(|path| path.split('/').next())
            .collect();
        tops.into_iter()
    }

    /// The name of its dist-info folder.
    pub(super) fn dist_info(&self) -> &str {
        self.tops()
            .find(|top| top.ends_with(".dist-info"))
            .unwrap_or_default()
    }

    /// What of it is linked with other libraries, with the path of each. Windows has no search
    /// paths.
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

    /// A finding about it as a whole.
    pub(super) fn fault(&self, code: &'static Code, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(code, message).at(Location::File(self.path.as_str().into()), "")
    }

    /// A finding about one of its members.
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
