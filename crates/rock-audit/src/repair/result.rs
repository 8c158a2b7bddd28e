//! Whether a repaired wheel is what was planned: all of it is judged again, with every file where
//! it is installed.
//!
//! In: the report of the old wheel, the plan, and the facts of those members of the new one that
//! are not of the old one. Out: what is wrong with the new one.
//!
//! **Invariant:** what was not changed is not read again; its facts are those of the old wheel.

use std::collections::{BTreeMap, BTreeSet};

use super::Plan;
use crate::codes::wheel as codes;
use crate::inspect::{FileFacts, FileKind};
use crate::library::Library;
use crate::report::Report;
use crate::select::select;
use crate::tree::{Found, Tree, is_libpython};
use crate::verdict::{Verdict, judge};
use rock_diagnostic::{Diagnostic, Location};
use rock_elf::{ElfEdits, SearchPathEdit};
use rock_names::WheelName;
use rock_wheel::ZipArchive;

/// A repaired wheel.
pub struct Made<'m> {
    /// Its name.
    pub name: &'m WheelName,
    /// Its members.
    pub archive: &'m ZipArchive<'m>,
    /// The facts of the members that changed or came along, by their paths in it.
    pub files: Vec<FileFacts>,
    /// Files of the old wheel that it leaves out.
    pub removed: &'m BTreeSet<String>,
    /// The path in it of what lies at a path of the old wheel.
    pub new_path: &'m dyn Fn(&str) -> String,
}

impl std::fmt::Debug for Made<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Made({})", self.name)
    }
}

/// What a repaired wheel falls short of: files are missing or are not as edited, libraries are not
/// found from where they are installed, or a platform of the name lacks what is needed. Empty for a
/// wheel that is as planned.
pub fn shortfalls(before: &Report<'_>, plan: &Plan, made: Made<'_>) -> Vec<Diagnostic> {
    let Some(verdict) = &before.verdict else {
        return Vec::new();
    };
    let mut check = Check {
        made: made.name,
        found: Vec::new(),
    };
    let graft_path = |name: &str| (made.new_path)(&format!("{}/{name}", plan.folder));
    let fresh: BTreeMap<&str, &FileFacts> = made
        .files
        .iter()
        .map(|file| (file.path.as_str(), file))
        .collect();

    let edits = |path: &str| {
        plan.edits
            .get(path)
            .filter(|_| !made.removed.contains(path))
    };
    let edited = before
        .libraries()
        .filter_map(|(path, library)| Some(((made.new_path)(path), library, edits(path)?)));
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
            .any(|present| (made.new_path)(present) == path)
    };
    let grafted = grafted.filter(|(path, ..)| is_new(path));
    for (path, library, edits) in edited.chain(grafted) {
        check.edited(&path, fresh.get(path.as_str()).copied(), library, edits);
    }

    let mut files = Vec::new();
    for file in before
        .files
        .iter()
        .filter(|file| !made.removed.contains(&file.path))
    {
        let path = (made.new_path)(&file.path);
        if fresh.contains_key(path.as_str()) {
            continue;
        }
        match made.archive.member(&path) {
            Some(member)
                if (member.size_bytes(), member.crc32()) == (file.size_bytes, file.crc32) =>
            {
                files.push(FileFacts {
                    path,
                    ..file.clone()
                });
            }
            Some(_) => check.tell(&path, "it changed, and was to stay as it was"),
            None => check.tell(&path, "it is lost"),
        }
    }
    files.extend(made.files);
    files.sort_by(|one, other| one.path.cmp(&other.path));
    let numbers: BTreeMap<&str, usize> = files
        .iter()
        .enumerate()
        .map(|(at, file)| (file.path.as_str(), at))
        .collect();
    let considered = select(made.name, &files).considered;
    let after = judge(&files, &considered, verdict.judging);

    for graft in &plan.grafts {
        check.counts(&graft_path(&graft.name), &numbers, &after);
    }
    // By the files that they are taken from: two files may need two libraries under one name.
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
    // What gave way to a library that came along leads where that one does.
    let gives_way = |path: &str| made.removed.contains(path) || plan.replaced.contains(path);
    let stays = |number: usize| !gives_way(&before.files[number].path);
    for (number, tree) in verdict.trees.iter().filter(|(number, _)| stays(**number)) {
        let path = (made.new_path)(&before.files[*number].path);
        let Some(tree_after) = check.counts(&path, &numbers, &after) else {
            continue;
        };
        let beyond = verdict.by_file[number]
            .iter()
            .filter(|one| one.policy.name() == plan.platform.policy);
        let come_along: BTreeSet<&str> = beyond
            .flat_map(|one| one.libraries.keys().map(String::as_str))
            .collect();
        for (needed, node) in &tree.nodes {
            let (name, target) = match &node.found {
                Found::Wheel(at) => (needed.as_str(), (made.new_path)(&before.files[*at].path)),
                Found::Machine(library) if come_along.contains(needed.as_str()) => {
                    match new_names.get(library.real_path.as_str()) {
                        Some(name) => (*name, graft_path(name)),
                        None => {
                            check.tell(
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
            if !matches!(found, Some(Found::Wheel(at)) if files[*at].path == target) {
                check.tell(
                    &path,
                    format!("`{name}` is not found in the wheel from where this is installed"),
                );
            }
        }
    }
    check.promises(before, verdict, plan, &files, &after);
    check.found
}

/// Gathers what is wrong.
struct Check<'m> {
    made: &'m WheelName,
    found: Vec<Diagnostic>,
}

impl Check<'_> {
    fn tell(&mut self, path: &str, message: impl Into<String>) {
        let place = Location::Member {
            wheel: self.made.to_string(),
            member: path.to_owned(),
        };
        self.found.push(unsound(message).at(place, ""));
    }

    /// A library must be as the edits make it, in everything that loaders and policies go by.
    fn edited(
        &mut self,
        path: &str,
        made: Option<&FileFacts>,
        library: &Library,
        edits: &ElfEdits,
    ) {
        match made.map(|file| &file.kind) {
            None => self.tell(path, "it was to change and did not"),
            Some(FileKind::Library(made)) => {
                let (expected, actual) = (Names::of(library).after(edits), Names::of(made));
                for (what, expected, actual) in expected.against(&actual) {
                    self.tell(
                        path,
                        format!("its {what} is {actual}, and {expected} was planned"),
                    );
                }
            }
            Some(FileKind::Damaged(reason)) => {
                self.tell(path, format!("it cannot be read: {reason}"));
            }
            Some(_) => self.tell(path, "it is no library"),
        }
    }

    /// What a library leads to; one that is not there or that nobody would load is told.
    fn counts<'a>(
        &mut self,
        path: &str,
        numbers: &BTreeMap<&str, usize>,
        after: &'a Verdict<'_>,
    ) -> Option<&'a Tree> {
        let tree = numbers.get(path).and_then(|number| after.trees.get(number));
        if tree.is_none() {
            self.tell(path, "it is not among the libraries that count");
        }
        tree
    }

    /// The platforms of the new name must have all that is needed.
    fn promises(
        &mut self,
        before: &Report<'_>,
        verdict: &Verdict<'_>,
        plan: &Plan,
        files: &[FileFacts],
        after: &Verdict<'_>,
    ) {
        for (number, references) in &after.by_file {
            let beyond = references
                .iter()
                .filter(|one| one.policy.name() == plan.platform.policy);
            for name in beyond
                .flat_map(|one| one.libraries.keys())
                .filter(|name| !is_libpython(name))
            {
                self.tell(
                    &files[*number].path,
                    format!("`{name}` is needed, and did not come along"),
                );
            }
        }
        let policies = after.judging.policies;
        for tag in self.made.platform.tags() {
            let Some(claimed) = policies.for_tag(tag).filter(|claimed| !claimed.is_linux()) else {
                continue;
            };
            // What was false before stays only where that was asked for.
            let was_false = before.name.platform.tags().contains(tag)
                && claimed.priority() > verdict.reach().priority();
            if claimed.priority() > after.reach().priority() && !was_false {
                let message = format!("its name says `{tag}`, which lacks what is needed");
                self.found
                    .push(unsound(message).at(Location::File(self.made.to_string().into()), ""));
            }
        }
    }
}

fn unsound(message: impl Into<String>) -> Diagnostic {
    Diagnostic::new(&codes::UNSOUND_RESULT, message)
        .help("nothing was written; please report it, for a plan must not lead to this")
}

/// The names in a library that edits change.
#[derive(Debug, PartialEq, Eq)]
struct Names {
    soname: Option<String>,
    needed: Vec<String>,
    rpath: Option<String>,
    runpath: Option<String>,
    versions: Vec<(String, Vec<String>)>,
}

impl Names {
    fn of(library: &Library) -> Self {
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

    /// What differs: what it is, and how it is here and there.
    fn against(&self, other: &Self) -> Vec<(&'static str, String, String)> {
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
    use crate::library::Extension;
    use crate::repair::{Fingerprint, Repair, Wanted, plan};
    use crate::search::SearchPath as Path;
    use crate::tree::{Excludes, Known, MachineLibraries, MachineLibrary};
    use crate::verdict::Judging;
    use rock_bytes::ReadAt;
    use rock_codeobj::CodeInventory;
    use rock_compat::policy::{PlatformPolicies, PolicyFamily};
    use rock_elf::{ElfClass, ElfFormat, ElfHeader, Endianness, VersionNeed, machine};
    use rock_names::Arch;
    use rock_wheel::{MemberOptions, ZipWriter};

    const OLD: &str = "demo-1.0-cp312-cp312-linux_x86_64.whl";
    const GRAFT: &str = "demo.libs/libhost-01234567.so.1";

    fn library(needed: &[&str], runpath: Option<&str>) -> Library {
        Library {
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
            extension: Some(Extension::Python3),
            undefined: BTreeSet::new(),
            libc_symbol: None,
            uses_pyfpe: false,
            uses_ucs2: false,
            isa_level: None,
        }
    }

    fn file(path: &str, library: Library) -> FileFacts {
        FileFacts {
            path: path.to_owned(),
            size_bytes: 3,
            crc32: crc32fast::hash(b"elf"),
            kind: FileKind::Library(Box::new(library)),
            inventory: CodeInventory::default(),
            layout_faults: Vec::new(),
            is_vouched: false,
        }
    }

    /// A machine that has one library.
    struct Machine;

    impl MachineLibraries for Machine {
        fn read(&self, path: &str) -> Option<MachineLibrary> {
            let library = Library {
                extension: None,
                ..library(&["libc.so.6"], None)
            };
            let (path, real_path) = (path.to_owned(), path.to_owned());
            path.ends_with("/libhost.so.1").then_some(MachineLibrary {
                path,
                real_path,
                library,
            })
        }

        fn open(&self, _: &str) -> std::io::Result<Box<dyn ReadAt>> {
            Err(std::io::ErrorKind::NotFound.into())
        }
    }

    fn edited(library: &Library, edits: &ElfEdits) -> Library {
        let names = Names::of(library).after(edits);
        Library {
            soname: names.soname,
            needed: names.needed,
            rpath: names.rpath,
            runpath: names.runpath,
            ..library.clone()
        }
    }

    /// What a result falls short of that differs from what was planned as told: one extension that
    /// needs a library of the machine, and one that needs a library beside it.
    fn told(
        name: &str,
        change: impl FnOnce(&mut Vec<FileFacts>, &mut Vec<&'static str>),
    ) -> Vec<String> {
        let policies = PlatformPolicies::embedded(PolicyFamily::Manylinux, Arch::X86_64);
        let (known, excludes) = (Known::new(&Machine), Excludes::default());
        let path = Path {
            environment: Vec::new(),
            system: vec!["/opt".to_owned()],
        };
        let judging = Judging {
            policies: &policies,
            known: &known,
            path: &path,
            excludes: &excludes,
            checks_isa: true,
            is_libc_open: false,
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
        let verdict = judge(&files, &[0, 1, 2], judging);
        let old: WheelName = OLD.parse().unwrap();
        let how = Repair {
            wanted: Wanted::Best,
            only_wanted: false,
            keeps_claims: false,
            keeps_tags: false,
            folder_ending: ".libs".to_owned(),
            mends_paths: false,
            allowed_paths: Excludes::default(),
            of_rocm: Excludes::default(),
            taken: BTreeSet::new(),
        };
        let plan = plan(&old, &files, &verdict, &how, &mut |_| {
            Ok(Fingerprint {
                digest: "0123456789".to_owned(),
                size_bytes: 1,
            })
        })
        .unwrap();
        let FileKind::Library(own) = &files[0].kind else {
            panic!("it is a library")
        };
        let mut made = vec![
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
        change(&mut made, &mut members);

        let mut bytes = Vec::new();
        let mut writer = ZipWriter::new(&mut bytes);
        for member in members {
            writer
                .add(member, b"elf", &MemberOptions::default())
                .unwrap();
        }
        writer.finish().unwrap();
        let archive = ZipArchive::open(&bytes).unwrap();
        let (arch, rocm, findings) = (Some(Arch::X86_64), BTreeMap::new(), Vec::new());
        let before = Report {
            name: old,
            files,
            arch,
            verdict: Some(verdict),
            foreign_system: None,
            rocm,
            torch: None,
            findings,
        };
        let name = &name.parse().unwrap();
        let removed = &BTreeSet::new();
        let made = Made {
            name,
            archive: &archive,
            files: made,
            removed,
            new_path: &str::to_owned,
        };
        let found = shortfalls(&before, &plan, made);
        assert!(found.iter().all(|one| one.code == &codes::UNSOUND_RESULT));
        found.into_iter().map(|one| one.message).collect()
    }

    fn own(files: &mut [FileFacts], at: usize) -> &mut Library {
        match &mut files[at].kind {
            FileKind::Library(library) => library,
            _ => panic!("it is a library"),
        }
    }

    #[test]
    fn a_result_as_planned_is_sound_and_every_other_is_told() {
        const NEW: &str = "demo-1.0-cp312-cp312-manylinux_2_17_x86_64.whl";
        let none: [&str; 0] = [];
        assert_eq!(told(NEW, |_, _| ()), none);
        assert_eq!(
            told("demo-1.0-cp312-cp312-manylinux_2_40_x86_64.whl", |_, _| ()),
            none
        );
        assert_eq!(
            told("demo-1.0-cp312-cp312-manylinux_2_12_x86_64.whl", |_, _| ()),
            ["its name says `manylinux_2_12_x86_64`, which lacks what is needed"]
        );
        let not_found =
            "`libhost-01234567.so.1` is not found in the wheel from where this is installed";
        assert_eq!(
            told(NEW, |made, _| drop(made.remove(1))),
            [
                "it was to change and did not",
                "it is not among the libraries that count",
                not_found,
                "`libhost-01234567.so.1` is needed, and did not come along"
            ]
        );
        assert_eq!(
            told(NEW, |made, _| own(made, 0).rpath = None),
            [
                "its RPATH is None, and Some(\"$ORIGIN/../demo.libs\") was planned",
                not_found,
                "`libhost-01234567.so.1` is needed, and did not come along"
            ]
        );
        assert_eq!(
            told(NEW, |made, _| own(made, 0).needed.truncate(1)),
            [
                "its NEEDED is [\"libhost-01234567.so.1\"], and [\"libhost-01234567.so.1\", \"libc.so.6\"] was planned"
            ]
        );
        assert_eq!(
            told(NEW, |_, members| members
                .retain(|member| *member != "demo/libbeside.so")),
            [
                "it is lost",
                "`libbeside.so` is not found in the wheel from where this is installed",
                "it is not among the libraries that count",
                "`libbeside.so` is needed, and did not come along"
            ]
        );
        let damaged = |made: &mut Vec<FileFacts>, _: &mut Vec<&str>| {
            made[1].kind = FileKind::Damaged("cut off".to_owned());
        };
        assert_eq!(told(NEW, damaged)[0], "it cannot be read: cut off");
        let newer = |made: &mut Vec<FileFacts>, _: &mut Vec<&str>| {
            own(made, 1).versions[0]
                .versions
                .push("GLIBC_2.38".to_owned());
        };
        assert_eq!(
            told(NEW, newer).len(),
            2,
            "a version that was not there, and a platform that lacks it"
        );
    }
}
