//! Publishing to a directory.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::built_torch::check_torch;
use super::{
    Args, Exit, Format, Shell, links, load, named, parse_tag, read_plan, report_audit_errors,
};
use crate::codes::release as codes;
use crate::compat::Compat;
use crate::diagnostic::{Diagnostic, Diagnostics, Sink};
use crate::index::{IndexFile, YankStatus, carry_over, yank_notes};
use crate::names::Digest;
use crate::publish::{
    CheckDepth, DigestCache, DownloadedArtifacts, FileTransfer, INDEX, LocalAsset, OnDifference,
    PublishSummary, ReleaseContents, ReleaseDirectory, ReleaseDirectoryError, ReleaseLock, TagName,
    as_release, audit_errors, expand_paths, file_in_path_error, inherited_yanks,
    missing_rocm_labels, nested_release_error, read_assets, read_yanked_files, unique_by_name,
    without_paths,
};
use crate::sys::Signals;

/// Publishes to a directory.
pub(super) fn publish(
    args: &Args,
    mut directory: PathBuf,
    shell: &Shell,
    sink: &mut Sink,
) -> Result<Exit, Exit> {
    let help = "separate its parts with `-`, as in `release-1`";
    let tag: Option<TagName> = parse_tag(args.tag.as_deref(), help, sink);
    let links = links(args.base_url.as_deref(), vec!["..".to_owned()], sink);
    if let Some(tag) = &tag {
        directory.push(tag.as_str());
    }
    let compat = load::compat(shell)?;
    let plan = read_plan(args, sink)?;
    let artifacts = match &args.artifacts {
        Some(directory) => {
            let reports = args.legs.all_reports(&plan.jobs, shell, sink)?;
            let opened = DownloadedArtifacts::open(directory, reports, sink);
            Some(opened.map_err(|errors| Exit::collect(errors, sink))?)
        }
        None => None,
    };
    let files = artifacts.as_ref().map_or_else(
        || expand_paths(&named(args), sink),
        DownloadedArtifacts::asset_paths,
    );
    let cache = DigestCache::empty();
    let offered = read_assets(&files, CheckDepth::Verify, &cache, compat, sink);
    if let Some(artifacts) = &artifacts {
        artifacts.check(&plan.jobs, &offered, sink);
    }
    check_torch(&offered, args, compat, sink);
    as_release(&without_paths(&offered), sink);
    sink.extend(file_in_path_error(&directory).or_else(|| nested_release_error(&directory)));
    let Some(links) = links.filter(|_| !sink.has_errors()) else {
        report_audit_errors(&plan, offered, args, compat, sink);
        return Err(Exit::Fault);
    };

    let (opened, lock) = open(&directory, args.dry_run, compat, shell, sink)?;
    let offered = unique_by_name(offered);
    let difference = if args.replace {
        OnDifference::Replace
    } else {
        OnDifference::Refuse
    };
    let (kept, superseded) = opened.kept_assets(&offered, difference, sink);
    let tag = tag.map(|tag| tag.to_string());
    let details = plan.details(tag, &offered, &kept, compat);
    let assets = without_paths(&offered);
    let names: BTreeSet<&str> = kept.iter().map(LocalAsset::name).collect();
    let allowed = args.allowed_differences();
    plan.check(&assets, &names, &details, allowed, compat, sink);
    sink.extend(audit_errors(&assets, &details, &args.allow));
    let mut all: Vec<LocalAsset> = offered.into_iter().chain(kept).collect();
    let notes = carry_over_yanks(&files, &opened, &directory.join(INDEX), &mut all)
        .map_err(|errors| Exit::collect(errors, sink))?;
    let before = opened.manifest();
    let release = ReleaseContents::of(without_paths(&all), &details, before, &links, compat)
        .map_err(|error| {
            sink.push(Diagnostic::new(&codes::CANNOT_INDEX, error.to_string()));
            Exit::Fault
        })?;
    let edits = opened.edits(&release, &superseded, difference, sink);
    let is_written = !args.dry_run && !sink.has_errors();
    let is_kept = |name: &str| is_written || opened.has_asset(name);
    sink.extend(missing_rocm_labels(&assets, &details, is_kept));
    if sink.has_errors() {
        return Err(Exit::Fault);
    }
    for note in &notes {
        shell.say(note);
    }
    let summary = PublishSummary::new(&directory, &release, &edits, args.dry_run, compat);
    if let Some(lock) = lock.filter(|_| !edits.steps.is_empty()) {
        let transfer = if artifacts.is_some() {
            FileTransfer::Link
        } else {
            FileTransfer::Copy
        };
        let signals = Signals::listen().unwrap_or_default();
        opened
            .write(lock, &release, &edits, &all, transfer, &signals)
            .map_err(|error| match error {
                ReleaseDirectoryError::Stopped(signal) => signal.into(),
                ReleaseDirectoryError::Diagnostics(errors) => Exit::collect(errors, sink),
            })?;
    }
    Ok(shell.print(&match args.format.get() {
        Format::Json => summary.to_json(),
        Format::Human => summary.to_text(),
    }))
}

/// Yanks the assets that the index of the release yanks, and those that are new in the release and
/// yanked by the index next to their file. Returns notes about yanked files whose bytes changed or
/// that are no longer listed, and about files of the release that only the other index yanks.
fn carry_over_yanks(
    files: &[PathBuf],
    opened: &ReleaseDirectory,
    index: &Path,
    assets: &mut [LocalAsset],
) -> Result<Vec<String>, Diagnostics> {
    let directories: BTreeSet<&Path> = files.iter().filter_map(|file| file.parent()).collect();
    let inherited = inherited_yanks(directories, index)?;
    let indexed = read_yanked_files(index)?;
    let published: BTreeSet<(&str, Digest)> = opened
        .manifest()
        .filter(|_| indexed.is_some())
        .into_iter()
        .flat_map(|manifest| &manifest.files)
        .map(|file| (file.name.as_str(), file.sha256))
        .collect();
    let is_published = |file: &IndexFile| {
        file.digest
            .is_some_and(|digest| published.contains(&(file.name.as_str(), digest)))
    };
    let yanked = indexed.unwrap_or_default();
    let new = assets
        .iter_mut()
        .map(|file| &mut file.asset.file)
        .filter(|file| !is_published(file));
    carry_over(&inherited, new);
    let all = assets.iter_mut().map(|file| &mut file.asset.file);
    carry_over(&yanked.clone().ignoring_digests(), all);
    let files = || assets.iter().map(|file| &file.asset.file);
    let mut notes = yank_notes(&yanked, files());
    let is_offered = |file: &&IndexFile| file.yanked == YankStatus::No;
    let is_inherited = |file: &&IndexFile| inherited.reason(&file.name, file.digest).is_some();
    let not_yanked = files().filter(is_offered).filter(is_inherited);
    notes.extend(not_yanked.map(|file| {
        format!(
            "not yanked, although the index next to the given file yanks it (yank it with `index \
             yank`): {}",
            file.name
        )
    }));
    Ok(notes)
}

/// Reads the directory of the release, and locks it for replacement unless this is a dry run.
fn open(
    directory: &Path,
    is_dry_run: bool,
    compat: &Compat,
    shell: &Shell,
    sink: &mut Sink,
) -> Result<(ReleaseDirectory, Option<ReleaseLock>), Exit> {
    let on_wait =
        || shell.say("another run is publishing to this directory; waiting for it to end");
    let opened = if is_dry_run {
        ReleaseDirectory::open(directory, compat, sink).map(|opened| (opened, None))
    } else {
        ReleaseDirectory::open_locked(directory, on_wait, compat, sink)
            .map(|(opened, lock)| (opened, Some(lock)))
    };
    opened.map_err(|errors| Exit::collect(errors, sink))
}
