//! Check of a written wheel against the plan of its repair: policies are evaluated again, with every
//! file at the path where it is installed.
//!
//! Input: the audit of the original wheel, the plan, and the inspected members of the written wheel
//! that were not copied. Output: errors, none if the wheel is as planned.
//!
//! **Invariant:** copied members are not read again; their facts are those of the original wheel.

use std::collections::{BTreeMap, BTreeSet};

use super::RepairChanges;
use crate::audited_libraries::AuditedLibraries;
use crate::codes::wheel as codes;
use crate::compliance::{Compliance, PolicyContext, evaluate_policies};
use crate::inspect::{InspectedFile, InspectedKind, libraries};
use crate::library::ElfLibrary;
use crate::resolve::{DependencyTree, ResolvedLibrary, is_libpython};
use rock_diagnostic::{Diagnostic, Location};
use rock_elf::{ElfEdits, SearchPathEdit};
use rock_names::WheelName;
use rock_wheel::ZipArchive;

/// The original wheel.
#[derive(Debug, Clone, Copy)]
pub(super) struct OriginalWheel<'o> {
    pub name: &'o WheelName,
    /// The inspected files, sorted by path.
    pub files: &'o [InspectedFile],
    /// The results of evaluating the policies.
    pub compliance: &'o Compliance,
    /// The settings of that evaluation.
    pub context: PolicyContext<'o>,
}

/// The written wheel.
pub(super) struct WrittenWheel<'w> {
    pub name: &'w WheelName,
    pub archive: &'w ZipArchive<'w>,
    /// The inspected members that were not copied, sorted by path.
    pub files: Vec<InspectedFile>,
    /// Members of the original wheel that were removed.
    pub removed: &'w BTreeSet<String>,
    /// Returns the path of a member of the original wheel in the written one.
    pub new_path: &'w dyn Fn(&str) -> String,
}

/// Returns the deviations of a written wheel from the plan: members are missing or not edited as
/// planned, libraries are not found from where they are installed, or a platform of the name does
/// not permit the needs of the wheel.
pub(super) fn deviations(
    before: OriginalWheel<'_>,
    plan: &RepairChanges,
    written: &WrittenWheel<'_>,
) -> Vec<Diagnostic> {
    let mut check = DeviationCheck {
        before,
        plan,
        written,
        rewritten: written
            .files
            .iter()
            .map(|file| (file.path.as_str(), file))
            .collect(),
        deviations: Vec::new(),
    };
    check.check_edited_files();
    let files = check.written_files();
    let file_name = written.name.to_string();
    let considered = AuditedLibraries::select(&file_name, written.name, &files).file_indexes;
    let policies = before.compliance.shared_policies();
    let after = evaluate_policies(&files, &considered, policies, before.context);
    check.check_dependencies(&files, &after);
    check.check_needs(&files, &after);
    check.check_tags(&after);
    check.deviations
}

/// The comparison of a written wheel with the plan.
struct DeviationCheck<'c> {
    before: OriginalWheel<'c>,
    plan: &'c RepairChanges,
    written: &'c WrittenWheel<'c>,
    /// The members of the written wheel that were not copied.
    rewritten: BTreeMap<&'c str, &'c InspectedFile>,
    deviations: Vec<Diagnostic>,
}

impl DeviationCheck<'_> {
    fn report(&mut self, path: &str, message: impl Into<String>) {
        let location = Location::Member {
            wheel: self.written.name.to_string(),
            member: path.to_owned(),
        };
        self.deviations
            .push(unsound_result(message).at(location, ""));
    }

    /// Returns the path of a grafted library in the written wheel.
    fn graft_path(&self, file_name: &str) -> String {
        (self.written.new_path)(&format!("{}/{file_name}", self.plan.library_dir))
    }

    /// Checks that edited files of the wheel and grafted libraries are as the edits make them.
    fn check_edited_files(&mut self) {
        let (plan, written) = (self.plan, self.written);
        for (path, library) in libraries(self.before.files) {
            if let Some(edits) = plan
                .edits
                .get(path)
                .filter(|_| !written.removed.contains(path))
            {
                self.check_edited(&(written.new_path)(path), library, edits);
            }
        }
        let present: BTreeSet<String> = plan
            .present
            .iter()
            .map(|path| (written.new_path)(path))
            .collect();
        for graft in &plan.grafts {
            let path = self.graft_path(&graft.name);
            if !present.contains(&path) {
                self.check_edited(&path, &graft.library.elf, &graft.edits);
            }
        }
    }

    /// Checks that a library has the planned edits, in all properties that dynamic linkers and
    /// policies use.
    fn check_edited(&mut self, path: &str, original: &ElfLibrary, edits: &ElfEdits) {
        match self.rewritten.get(path).map(|file| &file.kind) {
            None => self.report(path, "it should have changed but did not"),
            Some(InspectedKind::Library(written)) => {
                let expected = DynamicNames::of(original).after(edits);
                let actual = DynamicNames::of(written);
                for (entry, expected, actual) in expected.differences(&actual) {
                    self.report(
                        path,
                        format!("its {entry} is {actual}, but {expected} was planned"),
                    );
                }
            }
            Some(InspectedKind::Damaged(reason)) => {
                self.report(path, format!("it cannot be read: {reason}"));
            }
            Some(_) => self.report(path, "it is not a library"),
        }
    }

    /// Returns the files of the written wheel, sorted by path: those that were not copied, and those
    /// of the original wheel. Reports files of the original wheel that changed or are lost.
    fn written_files(&mut self) -> Vec<InspectedFile> {
        let written = self.written;
        let mut files = Vec::new();
        for file in self
            .before
            .files
            .iter()
            .filter(|file| !written.removed.contains(&file.path))
        {
            let path = (written.new_path)(&file.path);
            if self.rewritten.contains_key(path.as_str()) {
                continue;
            }
            match written.archive.member(&path) {
                Some(member)
                    if (member.size_bytes(), member.crc32()) == (file.size_bytes, file.crc32) =>
                {
                    files.push(InspectedFile {
                        path,
                        ..file.clone()
                    });
                }
                Some(_) => self.report(&path, "it changed, but should not have changed"),
                None => self.report(&path, "it is missing"),
            }
        }
        files.extend(written.files.iter().cloned());
        files.sort_by(|left, right| left.path.cmp(&right.path));
        files
    }

    /// Checks that all files find the libraries that they found before, or the grafts that replace
    /// them.
    fn check_dependencies(&mut self, files: &[InspectedFile], after: &Compliance) {
        let (before, plan, written) = (self.before, self.plan, self.written);
        let indexes: BTreeMap<&str, usize> = files
            .iter()
            .enumerate()
            .map(|(index, file)| (file.path.as_str(), index))
            .collect();
        for graft in &plan.grafts {
            self.dependencies(&self.graft_path(&graft.name), &indexes, after);
        }
        // By the path of the original: two files may need two libraries under one name.
        let graft_names: BTreeMap<&str, &str> = plan
            .grafts
            .iter()
            .flat_map(|graft| {
                graft
                    .sources
                    .iter()
                    .map(|source| (source.as_str(), graft.name.as_str()))
            })
            .collect();
        for (file_index, tree) in &before.compliance.trees {
            let old_path = &before.files[*file_index].path;
            // Members that a graft replaced have the dependencies of the graft.
            if written.removed.contains(old_path) || plan.replaced.contains(old_path) {
                continue;
            }
            let path = (written.new_path)(old_path);
            let Some(tree_after) = self.dependencies(&path, &indexes, after) else {
                continue;
            };
            let grafted = self.external_libraries(before.compliance, *file_index);
            for (needed, node) in &tree.nodes {
                let (name, target) = match &node.library {
                    ResolvedLibrary::Wheel(needed_index) => {
                        let target = (written.new_path)(&before.files[*needed_index].path);
                        (needed.as_str(), target)
                    }
                    ResolvedLibrary::System(library) if grafted.contains(needed.as_str()) => {
                        match graft_names.get(library.real_path.as_str()) {
                            Some(name) => (*name, self.graft_path(name)),
                            None => {
                                self.report(
                                    &path,
                                    format!(
                                        "`{needed}` should be grafted, but the plan does not \
                                         contain it"
                                    ),
                                );
                                continue;
                            }
                        }
                    }
                    _ => continue,
                };
                let found = tree_after.nodes.get(name).map(|node| &node.library);
                if !matches!(found, Some(ResolvedLibrary::Wheel(index)) if files[*index].path == target)
                {
                    self.report(
                        &path,
                        format!("`{name}` is not found in the wheel from its installed path"),
                    );
                }
            }
        }
    }

    /// Returns the dependencies of a library; reports one that is missing or not loadable.
    fn dependencies<'a>(
        &mut self,
        path: &str,
        indexes: &BTreeMap<&str, usize>,
        after: &'a Compliance,
    ) -> Option<&'a DependencyTree> {
        let tree = indexes.get(path).and_then(|index| after.trees.get(index));
        if tree.is_none() {
            self.report(path, "it is not among the audited libraries");
        }
        tree
    }

    /// Returns the libraries of a file that the planned policy does not permit.
    fn external_libraries<'a>(
        &self,
        compliance: &'a Compliance,
        file_index: usize,
    ) -> BTreeSet<&'a str> {
        self.plan
            .platform
            .policy
            .and_then(|policy| compliance.file_violations(file_index, compliance.policy(policy)))
            .into_iter()
            .flat_map(|violations| violations.libraries.keys().map(String::as_str))
            .collect()
    }

    /// Checks that no file needs a library beyond the planned policy.
    fn check_needs(&mut self, files: &[InspectedFile], after: &Compliance) {
        for file_index in after.violations_by_file.keys() {
            for name in self.external_libraries(after, *file_index) {
                if !is_libpython(name) {
                    self.report(
                        &files[*file_index].path,
                        format!("`{name}` is needed, but was not grafted"),
                    );
                }
            }
        }
    }

    /// Checks that the platforms of the new name permit all needs.
    fn check_tags(&mut self, after: &Compliance) {
        let (before, written) = (self.before, self.written);
        let limit_before = before.compliance.best_repairable_policy();
        let limit_after = after.best_repairable_policy();
        for tag in written.name.platform_tags() {
            let Some(claimed) = after
                .policies()
                .for_tag(tag)
                .filter(|claimed| !claimed.is_linux())
            else {
                continue;
            };
            // A tag that was false before stays only if that was requested.
            let was_false = before.name.platform_tags().contains(tag)
                && claimed.priority() > limit_before.priority();
            if claimed.priority() > limit_after.priority() && !was_false {
                let message =
                    format!("its filename claims `{tag}`, which does not provide what it needs");
                let location = Location::File(written.name.to_string().into());
                self.deviations
                    .push(unsound_result(message).at(location, ""));
            }
        }
    }
}

fn unsound_result(message: impl Into<String>) -> Diagnostic {
    Diagnostic::new(&codes::UNSOUND_RESULT, message)
        .help("nothing was written; this is a bug, please report it")
}

/// The dynamic entries and symbol versions of a library that edits change.
#[derive(Debug, PartialEq, Eq)]
struct DynamicNames {
    soname: Option<String>,
    needed: Vec<String>,
    rpath: Option<String>,
    runpath: Option<String>,
    versions: Vec<(String, Vec<String>)>,
}

impl DynamicNames {
    fn of(library: &ElfLibrary) -> Self {
        let versions = library
            .versions
            .iter()
            .map(|need| (need.library.clone(), need.versions.clone()));
        Self {
            soname: library.soname.clone(),
            needed: library.needed.clone(),
            rpath: library.rpath.clone(),
            runpath: library.runpath.clone(),
            versions: versions.collect(),
        }
    }

    /// Applies edits to these names.
    fn after(mut self, edits: &ElfEdits) -> Self {
        let (rpath, runpath) = match &edits.rpath {
            SearchPathEdit::Keep => (self.rpath, self.runpath),
            SearchPathEdit::Remove => (None, None),
            SearchPathEdit::Rpath(text) => (Some(text.clone()), None),
            SearchPathEdit::Runpath(text) => (None, Some(text.clone())),
        };
        self.needed
            .retain(|name| !edits.remove_needed.contains(name));
        Self {
            soname: edits.soname.clone().or(self.soname),
            needed: self
                .needed
                .into_iter()
                .map(|name| renamed(name, edits))
                .collect(),
            rpath,
            runpath,
            versions: self
                .versions
                .into_iter()
                .map(|(library, versions)| (renamed(library, edits), versions))
                .collect(),
        }
    }

    /// Returns the entries that differ: name, value here, and value there.
    fn differences(&self, other: &Self) -> Vec<(&'static str, String, String)> {
        self.entries()
            .into_iter()
            .zip(other.entries())
            .filter(|((_, value), (_, other_value))| value != other_value)
            .map(|((entry, value), (_, other_value))| (entry, value, other_value))
            .collect()
    }

    fn entries(&self) -> [(&'static str, String); 5] {
        [
            ("SONAME", format!("{:?}", self.soname)),
            ("NEEDED", format!("{:?}", self.needed)),
            ("RPATH", format!("{:?}", self.rpath)),
            ("RUNPATH", format!("{:?}", self.runpath)),
            ("list of symbol versions", format!("{:?}", self.versions)),
        ]
    }
}

/// Returns the name of a needed library after the edits.
fn renamed(name: String, edits: &ElfEdits) -> String {
    edits.rename_needed.get(&name).cloned().unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audited::AuditedWheel;
    use crate::library::ExtensionPython;
    use crate::provider::{LibraryProvider, SystemLibrary};
    use crate::repair::planner::RepairPlanner;
    use crate::search_path::LibrarySearchPath;
    use crate::{AuditOptions, Auditor, RepairOptions};
    use rock_bytes::ReadAt;
    use rock_codeobj::CodeInventory;
    use rock_compat::Compat;
    use rock_compat::policy::PolicyFamily;
    use rock_elf::{ElfClass, ElfFormat, ElfHeader, Endianness, VersionNeed, machine};
    use rock_names::Arch;
    use rock_wheel::{MemberOptions, Wheel, ZipWriter};
    use std::sync::Arc;

    const OLD: &str = "demo-1.0-cp312-cp312-linux_x86_64.whl";
    const GRAFT: &str = "demo.libs/libhost-780d84b2.so.1";

    fn library(needed: &[&str], runpath: Option<&str>) -> ElfLibrary {
        ElfLibrary {
            header: ElfHeader {
                format: ElfFormat {
                    class: ElfClass::Elf64,
                    endianness: Endianness::Little,
                },
                os_abi: 0,
                abi_version: 0,
                kind: 3,
                machine: machine::X86_64,
                flags: 0,
                segments_offset: 64,
                segment_count: 1,
                sections_offset: 0,
                section_count: 0,
                name_section_index: 0,
            },
            interpreter: None,
            soname: None,
            needed: needed.iter().map(|name| (*name).to_owned()).collect(),
            rpath: None,
            runpath: runpath.map(str::to_owned),
            versions: vec![VersionNeed {
                library: "libc.so.6".to_owned(),
                versions: vec!["GLIBC_2.17".to_owned()],
                indexes: vec![2],
            }],
            version_users: BTreeMap::new(),
            extension: Some(ExtensionPython::Python3),
            undefined: BTreeSet::new(),
            libc_symbol: None,
            uses_pyfpe: false,
            uses_ucs2: false,
            isa_level: None,
        }
    }

    fn file(path: &str, library: ElfLibrary) -> InspectedFile {
        InspectedFile {
            path: path.to_owned(),
            size_bytes: 3,
            crc32: crc32fast::hash(b"elf"),
            kind: InspectedKind::Library(Box::new(library)),
            inventory: CodeInventory::default(),
            layout_errors: Vec::new(),
            record_verified: false,
        }
    }

    /// A system with one library.
    struct FakeSystem;

    impl LibraryProvider for FakeSystem {
        fn read(&self, path: &str) -> Option<SystemLibrary> {
            let elf = ElfLibrary {
                extension: None,
                ..library(&["libc.so.6"], None)
            };
            let (path, real_path) = (path.to_owned(), path.to_owned());
            path.ends_with("/libhost.so.1").then_some(SystemLibrary {
                path,
                real_path,
                elf,
            })
        }

        fn open(&self, _: &str) -> std::io::Result<Box<dyn ReadAt>> {
            Ok(Box::new(b"elf".to_vec()))
        }

        fn search_path(&self) -> LibrarySearchPath {
            LibrarySearchPath {
                environment: Vec::new(),
                system: vec!["/opt".to_owned()],
            }
        }
    }

    /// Returns an archive with these members.
    fn archive(members: &[(&str, &[u8])]) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut writer = ZipWriter::new(&mut bytes);
        for (path, content) in members {
            writer
                .add(path, content, &MemberOptions::default())
                .unwrap();
        }
        writer.finish().unwrap();
        bytes
    }

    fn edited(library: &ElfLibrary, edits: &ElfEdits) -> ElfLibrary {
        let names = DynamicNames::of(library).after(edits);
        ElfLibrary {
            soname: names.soname,
            needed: names.needed,
            rpath: names.rpath,
            runpath: names.runpath,
            ..library.clone()
        }
    }

    /// Returns the deviations of a written wheel that `change` changes: one extension needs a
    /// library of the system, and one a library of the wheel.
    fn deviations_after(
        name: &str,
        change: impl FnOnce(&mut Vec<InspectedFile>, &mut Vec<&'static str>),
    ) -> Vec<String> {
        let compat = Compat::embedded();
        let auditor = Auditor::new(&compat, FakeSystem, AuditOptions::default());
        let context = auditor.policy_context(false);
        let files = vec![
            file(
                "demo/_demo.so",
                library(&["libhost.so.1", "libc.so.6"], None),
            ),
            file(
                "demo/_other.so",
                library(&["libbeside.so", "libc.so.6"], Some("$ORIGIN")),
            ),
            file("demo/libbeside.so", library(&["libc.so.6"], None)),
        ];
        let policies = Arc::new(auditor.policies(PolicyFamily::Manylinux, Arch::X86_64));
        let compliance = evaluate_policies(&files, &[0, 1, 2], &policies, context);
        let old: WheelName = OLD.parse().unwrap();
        let original = archive(&[
            (
                "demo-1.0.dist-info/METADATA",
                b"Metadata-Version: 2.1\nName: demo\nVersion: 1.0\n",
            ),
            ("demo-1.0.dist-info/WHEEL", b"Wheel-Version: 1.0\n"),
            ("demo-1.0.dist-info/RECORD", b""),
        ]);
        let audited = AuditedWheel {
            auditor: &auditor,
            file_name: OLD.to_owned(),
            name: old.clone(),
            file: &original,
            wheel: Wheel::open(&original).unwrap(),
            files: files.clone(),
            arch: Some(Arch::X86_64),
            compliance: None,
            foreign_system: None,
            rocm_majors: BTreeMap::new(),
            torch: None,
            findings: Vec::new(),
        };
        let planner = RepairPlanner {
            audited: &audited,
            options: RepairOptions::default(),
        };
        let plan = planner.plan_changes(&compliance).unwrap();
        let InspectedKind::Library(original) = &files[0].kind else {
            panic!("it is a library")
        };
        let mut written = vec![
            file(
                "demo/_demo.so",
                edited(original, &plan.edits["demo/_demo.so"]),
            ),
            file(
                GRAFT,
                edited(&plan.grafts[0].library.elf, &plan.grafts[0].edits),
            ),
        ];
        let mut members = vec![
            "demo/_demo.so",
            "demo/_other.so",
            "demo/libbeside.so",
            GRAFT,
        ];
        change(&mut written, &mut members);

        let members: Vec<(&str, &[u8])> = members
            .into_iter()
            .map(|path| (path, &b"elf"[..]))
            .collect();
        let bytes = archive(&members);
        let archive = ZipArchive::open(&bytes).unwrap();
        let before = OriginalWheel {
            name: &old,
            files: &files,
            compliance: &compliance,
            context,
        };
        let name = &name.parse().unwrap();
        let removed = &BTreeSet::new();
        let written = WrittenWheel {
            name,
            archive: &archive,
            files: written,
            removed,
            new_path: &str::to_owned,
        };
        let deviations = deviations(before, &plan, &written);
        assert!(
            deviations
                .iter()
                .all(|deviation| deviation.code == &codes::UNSOUND_RESULT)
        );
        deviations
            .into_iter()
            .map(|deviation| deviation.message)
            .collect()
    }

    const NEW: &str = "demo-1.0-cp312-cp312-manylinux_2_17_x86_64.whl";
    const NOT_FOUND: &str =
        "`libhost-780d84b2.so.1` is not found in the wheel from its installed path";

    fn library_mut(files: &mut [InspectedFile], index: usize) -> &mut ElfLibrary {
        match &mut files[index].kind {
            InspectedKind::Library(library) => library,
            _ => panic!("it is a library"),
        }
    }

    #[test]
    fn a_result_as_planned_has_no_deviations() {
        let none: [&str; 0] = [];
        assert_eq!(deviations_after(NEW, |_, _| ()), none);
        let newer = "demo-1.0-cp312-cp312-manylinux_2_40_x86_64.whl";
        assert_eq!(deviations_after(newer, |_, _| ()), none);
    }

    #[test]
    fn a_tag_that_lacks_needed_symbols_is_reported() {
        assert_eq!(
            deviations_after("demo-1.0-cp312-cp312-manylinux_2_12_x86_64.whl", |_, _| ()),
            ["its filename claims `manylinux_2_12_x86_64`, which does not provide what it needs"]
        );
    }

    #[test]
    fn a_lost_graft_is_reported() {
        assert_eq!(
            deviations_after(NEW, |written, _| drop(written.remove(1))),
            [
                "it should have changed but did not",
                "it is not among the audited libraries",
                NOT_FOUND,
                "`libhost-780d84b2.so.1` is needed, but was not grafted"
            ]
        );
    }

    #[test]
    fn a_changed_rpath_is_reported() {
        assert_eq!(
            deviations_after(NEW, |written, _| library_mut(written, 0).rpath = None),
            [
                "its RPATH is None, but Some(\"$ORIGIN/../demo.libs\") was planned",
                NOT_FOUND,
                "`libhost-780d84b2.so.1` is needed, but was not grafted"
            ]
        );
    }

    #[test]
    fn a_lost_need_is_reported() {
        assert_eq!(
            deviations_after(NEW, |written, _| library_mut(written, 0).needed.truncate(1)),
            ["its NEEDED is [\"libhost-780d84b2.so.1\"], but \
                 [\"libhost-780d84b2.so.1\", \"libc.so.6\"] was planned"]
        );
    }

    #[test]
    fn a_lost_member_is_reported() {
        assert_eq!(
            deviations_after(NEW, |_, members| members
                .retain(|member| *member != "demo/libbeside.so")),
            [
                "it is missing",
                "`libbeside.so` is not found in the wheel from its installed path",
                "it is not among the audited libraries",
                "`libbeside.so` is needed, but was not grafted"
            ]
        );
    }

    #[test]
    fn a_damaged_graft_is_reported() {
        let deviations = deviations_after(NEW, |written, _| {
            written[1].kind = InspectedKind::Damaged("cut off".to_owned());
        });
        assert_eq!(deviations[0], "it cannot be read: cut off");
    }

    /// The version differs from the plan, and the platform lacks it.
    #[test]
    fn a_newer_symbol_version_is_reported() {
        let deviations = deviations_after(NEW, |written, _| {
            library_mut(written, 1).versions[0]
                .versions
                .push("GLIBC_2.38".to_owned());
        });
        assert_eq!(deviations.len(), 2);
    }
}
