//! The desired content of a release, in a directory or on GitHub, and the actual content of a
//! directory.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::{
    Asset, DesiredFile, GfxOrigin, ListedAsset, MANIFEST, ManifestFile, ObservedFile,
    ReleaseManifest, SUMS, WheelCell, sha256, sums,
};
use rock_compat::{Compat, RuntimeRequirements};
use rock_diagnostic::Diagnostic;
use rock_index::{FileLinks, IndexError, IndexFile, repository};
use rock_names::{Digest, RocmVersion, has_wheel_extension};
use rock_plan::config::recipe::shipped_runtime_requirements;

/// The directory of the index in a release.
pub const INDEX: &str = "simple";

/// The desired content of a release.
#[derive(Debug, Clone)]
pub struct ReleaseContents {
    /// Its wheels, source distributions and archives of install trees, in the order of the index.
    pub assets: Vec<Asset>,
    /// The files generated from the assets, by path relative to the release.
    pub generated: BTreeMap<String, Vec<u8>>,
}

/// Facts about a release in addition to its files.
#[derive(Debug, Clone, Default)]
pub struct ReleaseDetails {
    pub tag: Option<String>,
    /// The digest of the plan that it is published against.
    pub plan: Option<Digest>,
    /// Python versions that a file is for, by filename.
    pub covers: BTreeMap<String, Vec<String>>,
    /// gfx targets that a file was built for, by filename.
    pub gfx: BTreeMap<String, Vec<String>>,
    /// gfx targets of a file's own code, by filename, if the code was read.
    pub gfx_read: BTreeMap<String, Vec<String>>,
    /// Major versions of ROCm of which a file's libraries need one, by filename, if they were read.
    pub rocm_read: BTreeMap<String, Vec<u32>>,
    /// Errors of an audit that are reported when a file is published, by filename, if it was read.
    pub audit_errors: BTreeMap<String, Vec<Diagnostic>>,
    /// Needs of a file at run time, by filename, if a plan states them.
    pub run_time: BTreeMap<String, RuntimeRequirements>,
}

impl ReleaseDetails {
    /// Returns the gfx targets of a file's code, if it was read now or if a manifest lists them as
    /// read.
    pub(super) fn gfx_read<'p>(&'p self, asset: &'p Asset) -> Option<&'p Vec<String>> {
        self.gfx_read.get(asset.name()).or(asset.gfx_read.as_ref())
    }

    /// Returns the major versions of ROCm of which a file's libraries need one, from the file or
    /// from a manifest; empty if they need none or were not read.
    pub(super) fn needs_rocm<'p>(&'p self, asset: &'p Asset) -> &'p [u32] {
        self.rocm_read
            .get(asset.name())
            .unwrap_or(&asset.needs_rocm)
    }
}

/// A file in the directory of a release.
#[derive(Debug, Clone)]
pub struct DirectoryFile {
    /// Its path relative to the release, with `/` as the separator.
    pub name: String,
    /// Its size; `None` if it is not a regular file.
    pub size_bytes: Option<u64>,
    /// Its SHA-256 digest, if it was read.
    pub digest: Option<Digest>,
}

/// The files in the directory of a release, by owner.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DirectoryContents {
    /// Names of assets that the manifest lists and that exist.
    pub assets: Vec<String>,
    /// Names of assets that the manifest lists and that are missing.
    pub missing: Vec<String>,
    /// Names of files generated from the assets.
    pub generated: Vec<String>,
    /// Names of files that this program did not write.
    pub foreign: Vec<String>,
}

impl ReleaseContents {
    /// Creates the content of a release with these assets. Facts that are not in `details` are
    /// taken from `before`.
    ///
    /// # Errors
    /// If two indexed files have the same name up to the case of letters, or if a page of the index
    /// cannot be rendered.
    pub fn of(
        mut assets: Vec<Asset>,
        details: &ReleaseDetails,
        before: Option<&ReleaseManifest>,
        links: &FileLinks,
        compat: &Compat,
    ) -> Result<Self, IndexError> {
        for asset in &mut assets {
            let planned = details.run_time.get(asset.name()).cloned();
            asset.file.run_time = planned.map(Arc::new).or_else(|| asset.file.run_time.take());
        }
        rock_index::sort_by_file(&mut assets, |asset| &asset.file);
        let mut generated = taken_metadata(&mut assets);
        // A wheel whose label does not say what it is for is published, but not indexed.
        let files = assets.iter().map(|asset| &asset.file);
        let listed: Vec<&IndexFile> = files.filter(|file| file.is_listed()).collect();
        let made = repository(&listed, links, compat, shipped_runtime_requirements)?;
        generated.extend(
            made.pages
                .into_iter()
                .map(|(page, bytes)| (format!("{INDEX}/{page}"), bytes)),
        );
        generated.extend(documents(&assets, &[], details, before));
        Ok(Self { assets, generated })
    }

    /// Creates the content of a release on GitHub, whose index is elsewhere. Other assets in
    /// `standing` stay in the checksum file and the manifest, with their row in `before` or else
    /// with the facts from their name and digest. Also returns the names of wheels for which
    /// neither is sufficient. `known` are the ROCm versions that are used to parse labels.
    pub fn on_github(
        mut assets: Vec<Asset>,
        details: &ReleaseDetails,
        before: Option<&ReleaseManifest>,
        standing: &BTreeMap<&str, &ListedAsset>,
        known: &[RocmVersion],
    ) -> (Self, Vec<String>) {
        rock_index::sort_by_file(&mut assets, |asset| &asset.file);
        let offered: BTreeSet<&str> = assets.iter().map(Asset::name).collect();
        let (mut rows, mut untold) = (Vec::new(), Vec::new());
        for (name, asset) in standing.iter().filter(|(name, _)| !offered.contains(*name)) {
            let told = before
                .and_then(|manifest| manifest.file(name))
                .filter(|row| row.size_bytes == asset.size);
            let told = told
                .filter(|row| asset.digest.is_none_or(|digest| digest == row.sha256))
                .cloned();
            match told.or_else(|| Some(Asset::of_listed(name, asset, known)?.row(None))) {
                Some(row) => rows.push(row),
                None if has_wheel_extension(name) => untold.push((*name).to_owned()),
                None => {}
            }
        }
        let generated = documents(&assets, &rows, details, before);
        (Self { assets, generated }, untold)
    }

    /// Returns every file, assets first and the manifest last, so that a release without a manifest
    /// is recognizably incomplete.
    pub fn desired_files(&self) -> Vec<DesiredFile> {
        let assets = self.assets.iter().map(|asset| DesiredFile {
            name: asset.file.name.clone(),
            digest: asset.digest,
            size_bytes: asset.file.size_bytes,
            generated: false,
        });
        let mut names: Vec<&String> = self.generated.keys().collect();
        names.sort_by_key(|name| (*name == MANIFEST, *name == SUMS, *name));
        let generated = names.into_iter().map(|name| {
            let bytes = &self.generated[name];
            DesiredFile {
                name: name.clone(),
                digest: sha256(bytes),
                size_bytes: bytes.len() as u64,
                generated: true,
            }
        });
        assets.chain(generated).collect()
    }
}

/// Returns the checksum file and the manifest of these assets and of the files in the `kept` rows.
fn documents(
    assets: &[Asset],
    kept: &[ManifestFile],
    details: &ReleaseDetails,
    before: Option<&ReleaseManifest>,
) -> BTreeMap<String, Vec<u8>> {
    let offered = assets.iter().map(|asset| {
        let earlier = before
            .and_then(|m| m.file(asset.name()))
            .filter(|r| r.sha256 == asset.digest);
        let planned = details.covers.get(asset.name()).cloned();
        let read = details
            .gfx_read(asset)
            .map(|gfx| (gfx, Some(GfxOrigin::Wheel)));
        let before = earlier.map(|row| (&row.gfx, row.gfx_from));
        let before = before.filter(|(_, from)| {
            *from == Some(GfxOrigin::Wheel) || !details.gfx.contains_key(asset.name())
        });
        let of_plan = details
            .gfx
            .get(asset.name())
            .map(|gfx| (gfx, Some(GfxOrigin::Plan)));
        let gfx = read
            .or(before)
            .or(of_plan)
            .map(|(gfx, from)| (gfx.clone(), from));
        let (gfx, gfx_from) = gfx.unwrap_or_default();
        let row = asset.row(planned.or_else(|| earlier.map(|row| row.covers.clone())));
        let needs_rocm = match (details.needs_rocm(asset), earlier) {
            ([], Some(row)) if !details.rocm_read.contains_key(asset.name()) => {
                row.needs_rocm.clone()
            }
            (majors, _) => majors.to_vec(),
        };
        let of_before = earlier
            .map(|row| &row.run_time)
            .filter(|run_time| !run_time.is_empty());
        let run_time = details.run_time.get(asset.name()).or(of_before).cloned();
        let run_time = run_time.unwrap_or_else(|| row.run_time.clone());
        (
            asset.clone(),
            ManifestFile {
                gfx,
                gfx_from,
                needs_rocm,
                run_time,
                ..row
            },
        )
    });
    // Kept files are sorted as if they were offered again.
    let kept = kept
        .iter()
        .filter_map(|row| Some((Asset::of_row(row, None)?, row.clone())));
    let mut rows: Vec<(Asset, ManifestFile)> = offered.chain(kept).collect();
    rock_index::sort_by_file(&mut rows, |(asset, _)| &asset.file);
    let listed: Vec<(String, Digest)> = rows
        .iter()
        .map(|(asset, _)| (asset.name().to_owned(), asset.digest))
        .collect();
    let manifest = ReleaseManifest::new(
        details
            .tag
            .clone()
            .or_else(|| before.and_then(|m| m.tag.clone())),
        details
            .plan
            .map(|digest| digest.to_string())
            .or_else(|| before.and_then(|m| m.plan.clone())),
        rows.into_iter().map(|(_, row)| row).collect(),
    );
    let manifest = manifest.to_json().into_bytes();
    let listed = listed.iter().map(|(name, digest)| (name.as_str(), *digest));
    let sums = sums(listed.chain([(MANIFEST, sha256(&manifest))]));
    BTreeMap::from([
        (SUMS.to_owned(), sums.into_bytes()),
        (MANIFEST.to_owned(), manifest),
    ])
}

impl DirectoryContents {
    /// Sorts the files that were found by owner.
    pub fn of(manifest: Option<&ReleaseManifest>, found: &[DirectoryFile]) -> Self {
        let listed: BTreeSet<&str> = manifest
            .iter()
            .flat_map(|m| &m.files)
            .map(|file| file.name.as_str())
            .collect();
        let mut holding = Self::default();
        for file in found {
            let name = file.name.as_str();
            let of_a_page = name
                .strip_prefix(INDEX)
                .is_some_and(|rest| rest.starts_with('/'));
            let generated = [SUMS, MANIFEST].contains(&name)
                || of_a_page
                || name
                    .strip_suffix(".metadata")
                    .is_some_and(|wheel| listed.contains(wheel));
            let place = match file.size_bytes {
                Some(_) if listed.contains(name) => &mut holding.assets,
                Some(_) if generated && manifest.is_some() => &mut holding.generated,
                _ => &mut holding.foreign,
            };
            place.push(file.name.clone());
        }
        let there: BTreeSet<&str> = holding.assets.iter().map(String::as_str).collect();
        holding.missing = listed
            .iter()
            .filter(|name| !there.contains(*name))
            .map(|name| (*name).to_owned())
            .collect();
        holding
    }

    /// Returns the files in the form that [`super::directory_edits()`] takes. Generated files and
    /// superseded wheels are disposable.
    pub fn present(
        &self,
        found: &[DirectoryFile],
        superseded: &BTreeSet<String>,
    ) -> Vec<ObservedFile> {
        let generated: BTreeSet<&String> = self.generated.iter().collect();
        let files = found.iter().filter_map(|file| {
            Some(ObservedFile {
                name: file.name.clone(),
                digest: file.digest,
                size_bytes: file.size_bytes?,
                whole: true,
                disposable: generated.contains(&file.name) || superseded.contains(&file.name),
            })
        });
        files.collect()
    }
}

/// Returns the kept wheels whose cell an offered wheel with another name takes, each with the name
/// of that wheel.
pub fn superseded(offered: &[Asset], kept: &[Asset]) -> BTreeMap<String, String> {
    let cells: BTreeMap<WheelCell, &str> = offered
        .iter()
        .filter_map(|asset| Some((WheelCell::of(asset.wheel()?), asset.name())))
        .collect();
    let taken = kept.iter().filter_map(|asset| {
        let by = cells.get(&WheelCell::of(asset.wheel()?))?;
        (*by != asset.name()).then(|| (asset.name().to_owned(), (*by).to_owned()))
    });
    taken.collect()
}

/// Moves METADATA out of the indexed assets, as files next to their wheels, so that it is in memory
/// only once.
fn taken_metadata(assets: &mut [Asset]) -> BTreeMap<String, Vec<u8>> {
    let listed = assets
        .iter_mut()
        .map(|asset| &mut asset.file)
        .filter(|file| file.is_listed());
    let texts = listed.filter_map(|file| {
        Some((
            format!("{}.metadata", file.name),
            file.metadata.as_mut()?.bytes.take()?,
        ))
    });
    texts.collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{DirectoryContents, DirectoryFile, ReleaseContents, ReleaseDetails, superseded};
    use crate::testing::asset;
    use crate::{Asset, DirectoryEdit, MANIFEST, OnDifference, ReleaseManifest, directory_edits};
    use rock_compat::Compat;
    use rock_index::FileLinks;
    use rock_names::Digest;

    const ONE: &str = "a-1+rocm62torch2.5-cp311-cp311-linux_x86_64.whl";
    const TWO: &str = "a-1+rocm62torch2.5-cp312-cp312-linux_x86_64.whl";

    fn release(assets: &[Asset], before: Option<&ReleaseManifest>) -> ReleaseContents {
        let links = FileLinks::Relative(vec!["..".into()]);
        ReleaseContents::of(
            assets.to_vec(),
            &ReleaseDetails::default(),
            before,
            &links,
            &Compat::embedded(),
        )
        .unwrap()
    }

    fn manifest(release: &ReleaseContents) -> ReleaseManifest {
        ReleaseManifest::from_json(std::str::from_utf8(&release.generated[MANIFEST]).unwrap())
            .unwrap()
    }

    fn found(release: &ReleaseContents) -> Vec<DirectoryFile> {
        let file = |name: String, size, digest| DirectoryFile {
            name,
            size_bytes: Some(size),
            digest: Some(digest),
        };
        release
            .desired_files()
            .into_iter()
            .map(|desired| file(desired.name, desired.size_bytes, desired.digest))
            .collect()
    }

    #[test]
    fn the_manifest_comes_last_and_the_sums_name_it() {
        let made = release(&[asset(ONE, 1)], None);
        let names: Vec<String> = made
            .desired_files()
            .into_iter()
            .map(|file| file.name)
            .collect();
        assert_eq!(names.first().map(String::as_str), Some(ONE));
        assert_eq!(
            names[names.len() - 2..],
            ["SHA256SUMS", "rock-manifest.json"]
        );
        assert!(
            String::from_utf8_lossy(&made.generated["SHA256SUMS"])
                .ends_with("  rock-manifest.json\n")
        );
    }

    #[test]
    fn a_finished_release_has_no_changes() {
        let made = release(&[asset(ONE, 1), asset(TWO, 2)], None);
        let holding = DirectoryContents::of(Some(&manifest(&made)), &found(&made));
        assert_eq!(
            (
                holding.assets.len(),
                holding.foreign.len(),
                holding.missing.len()
            ),
            (2, 0, 0)
        );
        let again = release(&[asset(TWO, 2), asset(ONE, 1)], Some(&manifest(&made)));
        let present = holding.present(&found(&made), &BTreeSet::new());
        assert_eq!(
            directory_edits(&again.desired_files(), &present, OnDifference::Refuse).steps,
            []
        );
    }

    #[test]
    fn facts_of_a_plan_stay_when_publishing_without_one() {
        let details = ReleaseDetails {
            tag: Some("v1".into()),
            plan: Some(Digest::new([9; 32])),
            covers: [(ONE.to_owned(), vec!["3.11".to_owned(), "3.12".to_owned()])].into(),
            ..ReleaseDetails::default()
        };
        let links = FileLinks::Relative(vec!["..".into()]);
        let planned = manifest(
            &ReleaseContents::of(
                vec![asset(ONE, 1)],
                &details,
                None,
                &links,
                &Compat::embedded(),
            )
            .unwrap(),
        );
        let kept = manifest(&release(&[asset(ONE, 1), asset(TWO, 2)], Some(&planned)));
        assert_eq!(
            (kept.tag, kept.plan),
            (planned.tag.clone(), planned.plan.clone())
        );
        assert_eq!(kept.files[0].covers, ["3.11", "3.12"]);
        let other_bytes = manifest(&release(&[asset(ONE, 3)], Some(&planned)));
        assert_eq!(other_bytes.files[0].covers, ["3.11"]);
    }

    #[test]
    fn pages_of_a_directory_that_lost_its_last_wheel_go() {
        let before = release(&[asset(ONE, 1), asset("b-1-py3-none-any.whl", 2)], None);
        let after = release(&[asset(ONE, 1)], None);
        let holding = DirectoryContents::of(Some(&manifest(&before)), &found(&before));
        let present = holding.present(&found(&before), &["b-1-py3-none-any.whl".to_owned()].into());
        let steps = directory_edits(&after.desired_files(), &present, OnDifference::Refuse).steps;
        for name in [
            "simple/any/index.html",
            "simple/any/b/index.json",
            "b-1-py3-none-any.whl",
        ] {
            assert!(
                steps.contains(&DirectoryEdit::Delete(name.into())),
                "{name}"
            );
        }
    }

    #[test]
    fn files_of_others_are_seen_and_without_a_manifest_all_are() {
        let made = release(&[asset(ONE, 1)], None);
        let mut files = found(&made);
        files.push(DirectoryFile {
            name: "notes.txt".into(),
            size_bytes: Some(1),
            digest: None,
        });
        files.push(DirectoryFile {
            name: "simple/link".into(),
            size_bytes: None,
            digest: None,
        });
        assert_eq!(
            DirectoryContents::of(Some(&manifest(&made)), &files).foreign,
            ["notes.txt", "simple/link"]
        );
        assert_eq!(
            DirectoryContents::of(None, &files).foreign.len(),
            files.len()
        );
        assert_eq!(
            DirectoryContents::of(Some(&manifest(&made)), &files[1..]).missing,
            [ONE]
        );
    }

    #[test]
    fn a_repaired_wheel_supersedes_the_raw_one() {
        let repaired = asset(
            "a-1+rocm62torch2.5-cp311-cp311-manylinux_2_28_x86_64.whl",
            3,
        );
        let taken = superseded(
            std::slice::from_ref(&repaired),
            &[asset(ONE, 1), asset(TWO, 2), repaired.clone()],
        );
        assert_eq!(taken.into_keys().collect::<Vec<_>>(), [ONE]);
    }
}
