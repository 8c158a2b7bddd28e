//! Computes the ordered edits from the observed to the desired files of a directory.

use std::collections::BTreeMap;

use rock_names::Digest;

/// A file that a release should contain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DesiredFile {
    /// Its path relative to the release, with `/` as the separator.
    pub name: String,
    /// Its SHA-256 digest.
    pub digest: Digest,
    pub size_bytes: u64,
    /// Whether it is generated from the other files. Such a file is replaced whenever it differs.
    pub generated: bool,
}

/// A file that a release contains.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObservedFile {
    pub name: String,
    /// Its SHA-256 digest, if known; otherwise only the size is compared.
    pub digest: Option<Digest>,
    pub size_bytes: u64,
    /// Whether it is complete, and not left from an interrupted upload.
    pub whole: bool,
    /// Whether it is deleted if it is not desired: an index page without files, or a superseded
    /// wheel. All other files that are not desired are kept.
    pub disposable: bool,
}

/// An edit. Edits are applied in order, so that a file is missing only while it is replaced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DirectoryEdit {
    /// Delete the file with this name.
    Delete(String),
    /// Add this file.
    Add(String),
}

/// The handling of a file that is present with different content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnDifference {
    /// Report a conflict.
    Refuse,
    /// Replace the file.
    Replace,
}

/// A file whose content differs from the desired one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileConflict {
    pub name: String,
    /// The desired digest.
    pub wanted: Digest,
    /// The digest of the present file, if known.
    pub present: Option<Digest>,
}

/// The edits that turn the current release into the desired one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DirectoryEdits {
    /// The edits, in order.
    pub steps: Vec<DirectoryEdit>,
    /// Names of files that are already as desired.
    pub same: Vec<String>,
    /// Files that would have to be replaced, but may not be.
    pub conflicts: Vec<FileConflict>,
}

/// Compares the desired and the present files. Files are added in the order of `wanted`; disposable
/// files that are not desired are deleted last.
pub fn directory_edits(
    wanted: &[DesiredFile],
    present: &[ObservedFile],
    difference: OnDifference,
) -> DirectoryEdits {
    let mut made = DirectoryEdits::default();
    let by_name: BTreeMap<&str, &ObservedFile> = present
        .iter()
        .map(|file| (file.name.as_str(), file))
        .collect();
    let mut wanted_names = std::collections::BTreeSet::new();
    for file in wanted {
        if !wanted_names.insert(file.name.as_str()) {
            continue;
        }
        match by_name.get(file.name.as_str()) {
            None => made.steps.push(DirectoryEdit::Add(file.name.clone())),
            Some(there) if is_same(file, there) => made.same.push(file.name.clone()),
            Some(there) if there.whole && !file.generated && difference == OnDifference::Refuse => {
                made.conflicts.push(FileConflict {
                    name: file.name.clone(),
                    wanted: file.digest,
                    present: there.digest,
                });
            }
            Some(_) => {
                made.steps.push(DirectoryEdit::Delete(file.name.clone()));
                made.steps.push(DirectoryEdit::Add(file.name.clone()));
            }
        }
    }
    let leftover = by_name
        .values()
        .filter(|file| file.disposable && !wanted_names.contains(file.name.as_str()));
    made.steps
        .extend(leftover.map(|file| DirectoryEdit::Delete(file.name.clone())));
    made
}

fn is_same(wanted: &DesiredFile, present: &ObservedFile) -> bool {
    present.whole
        && wanted.size_bytes == present.size_bytes
        && present.digest.is_none_or(|digest| digest == wanted.digest)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::{DesiredFile, DirectoryEdit, ObservedFile, OnDifference, directory_edits};
    use rock_names::Digest;

    fn wanted(name: &str, byte: u8) -> DesiredFile {
        DesiredFile {
            name: name.into(),
            digest: Digest::new([byte; 32]),
            size_bytes: byte.into(),
            generated: false,
        }
    }

    fn present(name: &str, byte: u8) -> ObservedFile {
        ObservedFile {
            name: name.into(),
            digest: Some(Digest::new([byte; 32])),
            size_bytes: byte.into(),
            whole: true,
            disposable: false,
        }
    }

    fn applied(
        steps: &[DirectoryEdit],
        wanted: &[DesiredFile],
        present: &[ObservedFile],
    ) -> Vec<ObservedFile> {
        let mut files: BTreeMap<String, ObservedFile> = present
            .iter()
            .map(|f| (f.name.clone(), f.clone()))
            .collect();
        for step in steps {
            match step {
                DirectoryEdit::Delete(name) => {
                    assert!(files.remove(name).is_some(), "{name} is not there");
                }
                DirectoryEdit::Add(name) => {
                    let file = wanted.iter().find(|file| &file.name == name).unwrap();
                    let added = ObservedFile {
                        name: name.clone(),
                        digest: Some(file.digest),
                        size_bytes: file.size_bytes,
                        whole: true,
                        disposable: false,
                    };
                    assert!(
                        files.insert(name.clone(), added).is_none(),
                        "{name} is there already"
                    );
                }
            }
        }
        files.into_values().collect()
    }

    #[test]
    fn other_bytes_under_one_name_are_a_conflict_unless_replacing() {
        let (want, have) = ([wanted("a.whl", 1)], [present("a.whl", 2)]);
        let refused = directory_edits(&want, &have, OnDifference::Refuse);
        assert!(refused.steps.is_empty());
        assert_eq!(refused.conflicts[0].present, Some(Digest::new([2; 32])));
        let replaced = directory_edits(&want, &have, OnDifference::Replace);
        assert_eq!(
            replaced.steps,
            [
                DirectoryEdit::Delete("a.whl".into()),
                DirectoryEdit::Add("a.whl".into())
            ]
        );
    }

    #[test]
    fn what_a_broken_upload_left_is_replaced_without_asking() {
        let left = ObservedFile {
            whole: false,
            digest: None,
            size_bytes: 0,
            ..present("a.whl", 1)
        };
        let made = directory_edits(&[wanted("a.whl", 1)], &[left], OnDifference::Refuse);
        assert_eq!(
            made.steps,
            [
                DirectoryEdit::Delete("a.whl".into()),
                DirectoryEdit::Add("a.whl".into())
            ]
        );
    }

    #[test]
    fn a_present_file_without_a_digest_is_judged_by_its_size() {
        let unknown = ObservedFile {
            digest: None,
            ..present("a.whl", 1)
        };
        assert_eq!(
            directory_edits(
                &[wanted("a.whl", 1)],
                std::slice::from_ref(&unknown),
                OnDifference::Refuse
            )
            .same,
            ["a.whl"]
        );
        assert_eq!(
            directory_edits(&[wanted("a.whl", 2)], &[unknown], OnDifference::Refuse)
                .conflicts
                .len(),
            1
        );
    }

    #[test]
    fn files_of_others_stay() {
        let made = directory_edits(
            &[wanted("a.whl", 1)],
            &[present("notes.txt", 9)],
            OnDifference::Replace,
        );
        assert_eq!(made.steps, [DirectoryEdit::Add("a.whl".into())]);
    }

    fn any_wanted() -> impl Strategy<Value = Vec<DesiredFile>> {
        prop::collection::btree_map("[a-e]", (0u8..3, any::<bool>()), 0..5).prop_map(|files| {
            files
                .into_iter()
                .map(|(name, (byte, generated))| DesiredFile {
                    generated,
                    ..wanted(&name, byte)
                })
                .collect()
        })
    }

    fn any_present() -> impl Strategy<Value = Vec<ObservedFile>> {
        let file = (0u8..3, any::<bool>(), any::<bool>(), any::<bool>());
        prop::collection::btree_map("[a-e]", file, 0..5).prop_map(|files| {
            files
                .into_iter()
                .map(|(name, (byte, known, whole, disposable))| ObservedFile {
                    digest: known.then_some(Digest::new([byte; 32])),
                    whole,
                    disposable,
                    ..present(&name, byte)
                })
                .collect()
        })
    }

    proptest! {
        #[test]
        fn applying_the_changes_leaves_no_changes(want in any_wanted(), have in any_present()) {
            let made = directory_edits(&want, &have, OnDifference::Replace);
            prop_assert!(made.conflicts.is_empty());
            let after = directory_edits(&want, &applied(&made.steps, &want, &have), OnDifference::Replace);
            prop_assert_eq!(after.steps, vec![]);
            prop_assert_eq!(after.same.len(), want.len());
        }

        #[test]
        fn nothing_published_is_lost_without_asking(want in any_wanted(), have in any_present()) {
            let made = directory_edits(&want, &have, OnDifference::Refuse);
            let after = applied(&made.steps, &want, &have);
            for file in have.iter().filter(|file| file.whole && !file.disposable) {
                let generated = want.iter().any(|w| w.name == file.name && w.generated);
                prop_assert!(generated || after.contains(file));
            }
        }
    }
}
