//! Check of a written wheel against the plan of its repair: policies are evaluated again, with every
//! file at the path where it is installed.
//!
//! Input: the audit of the original wheel, the plan, and the inspected members of the written wheel
//! that were not copied. Output: errors, none if the wheel is as planned.
//!
//! **Invariant:** copied members are not read again; their facts are those of the original wheel.

use std::collections::{BTreeMap, BTreeSet};

use super::RepairChanges;
use crate::codes::wheel as codes;
use crate::compliance::{Compliance, PolicyContext, evaluate_policies};
use crate::inspect::{InspectedFile, InspectedKind, libraries};
use crate::library::ElfLibrary;
use crate::resolve::{DependencyTree, ResolvedLibrary, is_libpython};
use crate::select::select_libraries;
use rock_diagnostic::{Diagnostic, Location};
use rock_elf::{ElfEdits, SearchPathEdit};
use rock_names::WheelName;
use rock_wheel::ZipArchive;

/// The original wheel.
#[derive(Debug, Clone, Copy)]
pub(super) struct OriginalWheel<'o> {
    /// Its name.
    pub name: &'o WheelName,
    /// Its inspected files, sorted by path.
    pub files: &'o [InspectedFile],
    /// The results of evaluating the policies.
    pub compliance: &'o Compliance,
    /// The settings of that evaluation.
    pub context: PolicyContext<'o>,
}

/// The written wheel.
pub(super) struct WrittenWheel<'w> {
    /// Its name.
    pub name: &'w WheelName,
    /// Its members.
    pub archive: &'w ZipArchive<'w>,
    /// Its members that were not copied, sorted by path.
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
    written: WrittenWheel<'_>,
) -> Vec<Diagnostic> {
    let compliance = before.compliance;
    let mut check = ResultCheck {
        written: written.name,
        found: Vec::new(),
    };
    let graft_path = |name: &str| (written.new_path)(&format!("{}/{name}", plan.folder));
    let fresh: BTreeMap<&str, &InspectedFile> = written
        .files
        .iter()
        .map(|file| (file.path.as_str(), file))
        .collect();

    let edits = |path: &str| {
        plan.edits
            .get(path)
            .filter(|_| !written.removed.contains(path))
    };
    let edited = libraries(before.files)
        .filter_map(|(path, library)| Some(((written.new_path)(path), library, edits(path)?)));
    let grafted = plan.grafts.iter().map(|graft| {
        (
            graft_path(&graft.name),
            &graft.library.library,
            &graft.edits,
        )
    });
    let is_new = |path: &str| {
        !plan
            .present
            .iter()
            .any(|present| (written.new_path)(present) == path)
    };
    let grafted = grafted.filter(|(path, ..)| is_new(path));
    for (path, library, edits) in edited.chain(grafted) {
        check.check_edited(&path, fresh.get(path.as_str()).copied(), library, edits);
    }

    let mut files = Vec::new();
    for file in before
        .files
        .iter()
        .filter(|file| !written.removed.contains(&file.path))
    {
        let path = (written.new_path)(&file.path);
        if fresh.contains_key(path.as_str()) {
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
            Some(_) => check.report(&path, "it changed, and was to stay as it was"),
            None => check.report(&path, "it is lost"),
        }
    }
    files.extend(written.files);
    files.sort_by(|one, other| one.path.cmp(&other.path));
    let numbers: BTreeMap<&str, usize> = files
        .iter()
        .enumerate()
        .map(|(at, file)| (file.path.as_str(), at))
        .collect();
    let considered = select_libraries(written.name, &files).considered;
    let after = evaluate_policies(
        &files,
        &considered,
        compliance.shared_policies(),
        before.context,
    );

    for graft in &plan.grafts {
        check.dependencies(&graft_path(&graft.name), &numbers, &after);
    }
    // By the path of the original: two files may need two libraries under one name.
    let new_names: BTreeMap<&str, &str> = plan
        .grafts
        .iter()
        .flat_map(|graft| {
            graft
                .sources
                .iter()
                .map(|source| (source.as_str(), graft.name.as_str()))
        })
        .collect();
    // Members that a graft replaced have the dependencies of the graft.
    let is_replaced = |path: &str| written.removed.contains(path) || plan.replaced.contains(path);
    let stays = |number: usize| !is_replaced(&before.files[number].path);
    for (number, tree) in compliance
        .trees
        .iter()
        .filter(|(number, _)| stays(**number))
    {
        let path = (written.new_path)(&before.files[*number].path);
        let Some(tree_after) = check.dependencies(&path, &numbers, &after) else {
            continue;
        };
        let beyond = compliance.gaps_by_file[number]
            .iter()
            .filter(|one| compliance.policy(one.policy).name() == plan.platform.policy);
        let grafted_names: BTreeSet<&str> = beyond
            .flat_map(|one| one.libraries.keys().map(String::as_str))
            .collect();
        for (needed, node) in &tree.nodes {
            let (name, target) = match &node.found {
                ResolvedLibrary::Wheel(at) => {
                    (needed.as_str(), (written.new_path)(&before.files[*at].path))
                }
                ResolvedLibrary::System(library) if grafted_names.contains(needed.as_str()) => {
                    match new_names.get(library.real_path.as_str()) {
                        Some(name) => (*name, graft_path(name)),
                        None => {
                            check.report(
                                &path,
                                format!("`{needed}` was to come along, and is not planned to"),
                            );
                            continue;
                        }
                    }
                }
                _ => continue,
            };
            let found = tree_after.nodes.get(name).map(|node| &node.found);
            if !matches!(found, Some(ResolvedLibrary::Wheel(at)) if files[*at].path == target) {
                check.report(
                    &path,
                    format!("`{name}` is not found in the wheel from where this is installed"),
                );
            }
        }
    }
    check.check_platforms(before, plan, &files, &after);
    check.found
}

/// The collected deviations.
struct ResultCheck<'m> {
    written: &'m WheelName,
    found: Vec<Diagnostic>,
}

impl ResultCheck<'_> {
    fn report(&mut self, path: &str, message: impl Into<String>) {
        let place = Location::Member {
            wheel: self.written.to_string(),
            member: path.to_owned(),
        };
        self.found.push(unsound_result(message).at(place, ""));
    }

    /// Checks that a library is as the edits make it, in everything that dynamic linkers and
    /// policies use.
    fn check_edited(
        &mut self,
        path: &str,
        written: Option<&InspectedFile>,
        library: &ElfLibrary,
        edits: &ElfEdits,
    ) {
        match written.map(|file| &file.kind) {
            None => self.report(path, "it was to change and did not"),
            Some(InspectedKind::Library(written)) => {
                let (expected, actual) = (
                    DynamicNames::of(library).after(edits),
                    DynamicNames::of(written),
                );
                for (what, expected, actual) in expected.differences(&actual) {
                    self.report(
                        path,
                        format!("its {what} is {actual}, and {expected} was planned"),
                    );
                }
            }
            Some(InspectedKind::Damaged(reason)) => {
                self.report(path, format!("it cannot be read: {reason}"));
            }
            Some(_) => self.report(path, "it is no library"),
        }
    }

    /// Returns the dependencies of a library; reports one that is missing or not loadable.
    fn dependencies<'a>(
        &mut self,
        path: &str,
        numbers: &BTreeMap<&str, usize>,
        after: &'a Compliance,
    ) -> Option<&'a DependencyTree> {
        let tree = numbers.get(path).and_then(|number| after.trees.get(number));
        if tree.is_none() {
            self.report(path, "it is not among the libraries that count");
        }
        tree
    }

    /// Checks that the platforms of the new name permit all needs.
    fn check_platforms(
        &mut self,
        before: OriginalWheel<'_>,
        plan: &RepairChanges,
        files: &[InspectedFile],
        after: &Compliance,
    ) {
        let compliance = before.compliance;
        for (number, references) in &after.gaps_by_file {
            let beyond = references
                .iter()
                .filter(|one| compliance.policy(one.policy).name() == plan.platform.policy);
            for name in beyond
                .flat_map(|one| one.libraries.keys())
                .filter(|name| !is_libpython(name))
            {
                self.report(
                    &files[*number].path,
                    format!("`{name}` is needed, and did not come along"),
                );
            }
        }
        let policies = after.policies();
        for tag in self.written.platform_tags() {
            let Some(claimed) = policies.for_tag(tag).filter(|claimed| !claimed.is_linux()) else {
                continue;
            };
            // A tag that was false before stays only if that was requested.
            let was_false = before.name.platform_tags().contains(tag)
                && claimed.priority() > compliance.reach().priority();
            if claimed.priority() > after.reach().priority() && !was_false {
                let message = format!("its name says `{tag}`, which lacks what is needed");
                self.found.push(
                    unsound_result(message).at(Location::File(self.written.to_string().into()), ""),
                );
            }
        }
    }
}

fn unsound_result(message: impl Into<String>) -> Diagnostic {
    Diagnostic::new(&codes::UNSOUND_RESULT, message)
        .help("nothing was written; please report it, for a plan must not lead to this")
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

    fn after(mut self, edits: &ElfEdits) -> Self {
        let new = |name: &mut String| {
            if let Some(new) = edits.rename_needed.get(name) {
                new.clone_into(name);
            }
        };
        self.needed
            .retain(|name| !edits.remove_needed.contains(name));
        self.needed.iter_mut().for_each(new);
        self.versions
            .iter_mut()
            .for_each(|(library, _)| new(library));
        self.soname = edits.soname.clone().or(self.soname);
        (self.rpath, self.runpath) = match &edits.rpath {
            SearchPathEdit::Keep => (self.rpath, self.runpath),
            SearchPathEdit::Remove => (None, None),
            SearchPathEdit::Rpath(text) => (Some(text.clone()), None),
            SearchPathEdit::Runpath(text) => (None, Some(text.clone())),
        };
        self
    }

    /// Returns the differences: name, value here, and value there.
    fn differences(&self, other: &Self) -> Vec<(&'static str, String, String)> {
        let texts = |names: &Self| {
            [
                ("SONAME", format!("{:?}", names.soname)),
                ("NEEDED", format!("{:?}", names.needed)),
                ("RPATH", format!("{:?}", names.rpath)),
                ("RUNPATH", format!("{:?}", names.runpath)),
                ("list of symbol versions", format!("{:?}", names.versions)),
            ]
        };
        let pairs = texts(self).into_iter().zip(texts(other));
        pairs
            .filter(|(one, other)| one.1 != other.1)
            .map(|(one, other)| (one.0, one.1, other.1))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::library::ExtensionPython;
    use crate::pattern::LibraryPatterns;
    use crate::provider::{LibraryCache, LibraryProvider, SystemLibrary};
    use crate::repair::{LibraryDigest, PlanOptions, PlatformTarget, plan_changes};
    use crate::search_path::LibrarySearchPath;
    use rock_bytes::ReadAt;
    use rock_codeobj::CodeInventory;
    use rock_compat::policy::{PlatformPolicies, PolicyFamily};
    use rock_elf::{ElfClass, ElfFormat, ElfHeader, Endianness, VersionNeed, machine};
    use rock_names::Arch;
    use rock_wheel::{MemberOptions, ZipWriter};
    use std::sync::Arc;

    const OLD: &str = "demo-1.0-cp312-cp312-linux_x86_64.whl";
    const GRAFT: &str = "demo.libs/libhost-01234567.so.1";

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
    struct Machine;

    impl LibraryProvider for Machine {
        fn read(&self, path: &str) -> Option<SystemLibrary> {
            let library = ElfLibrary {
                extension: None,
                ..library(&["libc.so.6"], None)
            };
            let (path, real_path) = (path.to_owned(), path.to_owned());
            path.ends_with("/libhost.so.1").then_some(SystemLibrary {
                path,
                real_path,
                library,
            })
        }

        fn open(&self, _: &str) -> std::io::Result<Box<dyn ReadAt>> {
            Err(std::io::ErrorKind::NotFound.into())
        }
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
        let policies = Arc::new(PlatformPolicies::embedded(
            PolicyFamily::Manylinux,
            Arch::X86_64,
        ));
        let (libraries, exclude) = (LibraryCache::new(Machine), LibraryPatterns::default());
        let path = LibrarySearchPath {
            environment: Vec::new(),
            system: vec!["/opt".to_owned()],
        };
        let context = PolicyContext {
            libraries: &libraries,
            search_path: &path,
            exclude: &exclude,
            checks_isa: true,
            is_libc_unknown: false,
        };
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
        let compliance = evaluate_policies(&files, &[0, 1, 2], &policies, context);
        let old: WheelName = OLD.parse().unwrap();
        let options = PlanOptions {
            target: PlatformTarget::Best,
            only_target: false,
            keeps_claims: false,
            keeps_tags: false,
            library_dir_suffix: ".libs".to_owned(),
            fixes_rpaths: false,
            allowed_rpaths: LibraryPatterns::default(),
            rocm_libraries: LibraryPatterns::default(),
            existing_paths: BTreeSet::new(),
        };
        let plan = plan_changes(&old, &files, &compliance, &options, &mut |_| {
            Ok(LibraryDigest {
                digest: "0123456789".to_owned(),
                size_bytes: 1,
            })
        })
        .unwrap();
        let InspectedKind::Library(own) = &files[0].kind else {
            panic!("it is a library")
        };
        let mut written = vec![
            file("demo/_demo.so", edited(own, &plan.edits["demo/_demo.so"])),
            file(
                GRAFT,
                edited(&plan.grafts[0].library.library, &plan.grafts[0].edits),
            ),
        ];
        let mut members = vec![
            "demo/_demo.so",
            "demo/_other.so",
            "demo/libbeside.so",
            GRAFT,
        ];
        change(&mut written, &mut members);

        let mut bytes = Vec::new();
        let mut writer = ZipWriter::new(&mut bytes);
        for member in members {
            writer
                .add(member, b"elf", &MemberOptions::default())
                .unwrap();
        }
        writer.finish().unwrap();
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
        let found = deviations(before, &plan, written);
        assert!(found.iter().all(|one| one.code == &codes::UNSOUND_RESULT));
        found.into_iter().map(|one| one.message).collect()
    }

    fn own(files: &mut [InspectedFile], at: usize) -> &mut ElfLibrary {
        match &mut files[at].kind {
            InspectedKind::Library(library) => library,
            _ => panic!("it is a library"),
        }
    }

    #[test]
    fn a_result_as_planned_is_sound_and_every_other_is_deviations_after() {
        const NEW: &str = "demo-1.0-cp312-cp312-manylinux_2_17_x86_64.whl";
        let none: [&str; 0] = [];
        assert_eq!(deviations_after(NEW, |_, _| ()), none);
        assert_eq!(
            deviations_after("demo-1.0-cp312-cp312-manylinux_2_40_x86_64.whl", |_, _| ()),
            none
        );
        assert_eq!(
            deviations_after("demo-1.0-cp312-cp312-manylinux_2_12_x86_64.whl", |_, _| ()),
            ["its name says `manylinux_2_12_x86_64`, which lacks what is needed"]
        );
        let not_found =
            "`libhost-01234567.so.1` is not found in the wheel from where this is installed";
        assert_eq!(
            deviations_after(NEW, |written, _| drop(written.remove(1))),
            [
                "it was to change and did not",
                "it is not among the libraries that count",
                not_found,
                "`libhost-01234567.so.1` is needed, and did not come along"
            ]
        );
        assert_eq!(
            deviations_after(NEW, |written, _| own(written, 0).rpath = None),
            [
                "its RPATH is None, and Some(\"$ORIGIN/../demo.libs\") was planned",
                not_found,
                "`libhost-01234567.so.1` is needed, and did not come along"
            ]
        );
        assert_eq!(
            deviations_after(NEW, |written, _| own(written, 0).needed.truncate(1)),
            [
                "its NEEDED is [\"libhost-01234567.so.1\"], and [\"libhost-01234567.so.1\", \"libc.so.6\"] was planned"
            ]
        );
        assert_eq!(
            deviations_after(NEW, |_, members| members
                .retain(|member| *member != "demo/libbeside.so")),
            [
                "it is lost",
                "`libbeside.so` is not found in the wheel from where this is installed",
                "it is not among the libraries that count",
                "`libbeside.so` is needed, and did not come along"
            ]
        );
        let damaged = |written: &mut Vec<InspectedFile>, _: &mut Vec<&str>| {
            written[1].kind = InspectedKind::Damaged("cut off".to_owned());
        };
        assert_eq!(
            deviations_after(NEW, damaged)[0],
            "it cannot be read: cut off"
        );
        let newer = |written: &mut Vec<InspectedFile>, _: &mut Vec<&str>| {
            own(written, 1).versions[0]
                .versions
                .push("GLIBC_2.38".to_owned());
        };
        assert_eq!(
            deviations_after(NEW, newer).len(),
            2,
            "a version that was not there, and a platform that lacks it"
        );
    }
}
