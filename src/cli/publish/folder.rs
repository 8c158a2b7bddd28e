//! Publishing to a directory.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use super::artifacts::Artifacts;
use super::contents::{check_torch, gfx_read};
use super::planned::Planned;
use super::{
    Args, Exit, Gathered, Shell, Told, assets, cloned, links, load, named, once, parsed,
    release_folder,
};
use crate::cli::assets::Depth;
use crate::cli::index::withdrawn_in;
use crate::cli::known::Known;
use crate::cli::release_folder::{Opened, Transfer};
use crate::cli::withdrawals::tell_of_names;
use crate::codes::release as codes;
use crate::diagnostic::{Diagnostic, Location, Sink};
use crate::index::carry_over;
use crate::publish::{
    FileConflict, INDEX, MissingRule, OnDifference, ReleaseContents, ReleaseDetails, TagName,
    against_plan, archives_against_plan, as_release, folder_edits, superseded,
    targets_against_plan,
};

/// Publishes to a directory.
pub(super) fn publish(
    args: &Args,
    mut folder: PathBuf,
    shell: &Shell,
    sink: &mut Sink,
) -> Result<Exit, Exit> {
    let tag: Option<TagName> = parsed(
        args.tag.as_deref(),
        &codes::BAD_TAG,
        "--tag",
        "separate its parts with `-`, as in `release-1`",
        sink,
    );
    let links = links(args.base_url.as_deref(), vec!["..".to_owned()], sink);
    if let Some(tag) = &tag {
        folder.push(tag.as_str());
    }
    let compat = load::compat(shell)?;
    let planned = match &args.plan {
        Some(path) => Planned::read(path, sink)?,
        None => Planned::default(),
    };
    let plan = args.plan.as_deref();
    args.legs.check_plan(plan, planned.digest, sink);
    let artifacts = match &args.artifacts {
        Some(folder) => Some(Artifacts::open(
            folder,
            args.legs.all_reports(&planned.jobs, shell, sink)?,
            sink,
        )?),
        None => None,
    };
    let files = artifacts
        .as_ref()
        .map_or_else(|| assets::files(&named(args), sink), Artifacts::assets);
    let offered = assets::gather(&files, Depth::Verify, &Known::nothing(), compat, sink);
    if let Some(artifacts) = &artifacts {
        artifacts.check(&planned.jobs, &offered, sink);
    }
    check_torch(&offered, args, compat, sink);
    as_release(&cloned(&offered), sink);
    release_folder::report_enclosing(&folder, sink);
    let Some(links) = links.filter(|_| !sink.has_errors()) else {
        return Err(Exit::Fault);
    };

    let opened = release_folder::open(&folder, compat, args.dry_run, shell, sink)?;
    let offered = once(offered);
    let (kept, gone) = kept(&opened, &offered, args.replace, sink);
    if args.plan.is_some() {
        let rule = if args.allows(&codes::MISSING_WHEEL) {
            MissingRule::Allow
        } else {
            MissingRule::Refuse
        };
        let names: BTreeSet<&str> = kept.iter().map(|g| g.asset.name()).collect();
        archives_against_plan(&planned.archives, &cloned(&offered), &names, rule, sink);
        let kept: Vec<_> = kept
            .iter()
            .filter_map(|g| g.asset.wheel().cloned())
            .collect();
        against_plan(&planned.expected, &cloned(&offered), &kept, rule, sink);
    }
    let particulars = ReleaseDetails {
        tag: tag.map(|tag| tag.to_string()),
        plan: planned.digest,
        covers: planned.covers(offered.iter().chain(&kept)),
        gfx: planned.gfx(offered.iter().chain(&kept)),
        gfx_read: gfx_read(&offered),
        run_time: planned.run_time(offered.iter().chain(&kept)),
    };
    targets_against_plan(
        &cloned(&offered),
        &particulars,
        args.allows(&codes::PLANNED_TARGET_MISSING),
        compat,
        sink,
    );
    let mut all: Vec<Gathered> = offered.into_iter().chain(kept).collect();
    let withdrawn = withdrawn_in(&folder.join(INDEX), sink)?.unwrap_or_default();
    carry_over(
        &withdrawn.clone().ignoring_digests(),
        all.iter_mut().map(|gathered| &mut gathered.asset.file),
    );
    tell_of_names(
        &withdrawn,
        &all.iter()
            .map(|gathered| &gathered.asset.file)
            .collect::<Vec<_>>(),
        shell,
    );
    let before = opened.manifest.as_ref();
    let release = ReleaseContents::of(cloned(&all), &particulars, before, &links, compat).map_err(
        |error| {
            sink.push(Diagnostic::new(&codes::CANNOT_INDEX, error.to_string()));
            Exit::Fault
        },
    )?;
    let difference = if args.replace {
        OnDifference::Replace
    } else {
        OnDifference::Refuse
    };
    let made = folder_edits(&release.wanted(), &opened.present(&gone), difference);
    made.conflicts
        .iter()
        .for_each(|conflict| sink.push(differs(conflict, &folder)));
    if !made.steps.is_empty() {
        opened.report_foreign(sink);
    }
    if sink.has_errors() {
        return Err(Exit::Fault);
    }
    let told = Told {
        folder: &folder,
        release: &release,
        changes: &made,
        dry_run: args.dry_run,
        compat,
    };
    if !made.steps.is_empty() && !args.dry_run {
        let paths: BTreeMap<&str, &std::path::Path> = all
            .iter()
            .map(|g| (g.asset.name(), g.path.as_path()))
            .collect();
        let transfer = if artifacts.is_some() {
            Transfer::Link
        } else {
            Transfer::Copy
        };
        opened.apply(&release, &made, &paths, transfer, sink)?;
    }
    Ok(shell.print(&told.text(args.format.get())))
}

/// Returns the files of the release that are kept, and the names of the wheels that new ones
/// supersede.
fn kept(
    opened: &Opened,
    offered: &[Gathered],
    replace: bool,
    sink: &mut Sink,
) -> (Vec<Gathered>, BTreeSet<String>) {
    let names: BTreeSet<&str> = offered.iter().map(|g| g.asset.name()).collect();
    let mut kept: Vec<Gathered> = opened
        .assets
        .iter()
        .filter(|g| !names.contains(g.asset.name()))
        .cloned()
        .collect();
    let taken = superseded(&cloned(offered), &cloned(&kept));
    opened.report_faults(&names, replace, sink);
    if !replace {
        report_taken(&taken, sink);
        return (kept, BTreeSet::new());
    }
    kept.retain(|g| !taken.contains_key(g.asset.name()));
    (kept, taken.into_keys().collect())
}

fn report_taken(taken: &BTreeMap<String, String>, sink: &mut Sink) {
    for (old, new) in taken {
        sink.push(
            Diagnostic::new(
                &codes::SAME_CELL_TWICE,
                format!("the release contains `{old}`, which `{new}` supersedes"),
            )
            .help("remove the old one with `--replace`"),
        );
    }
}

fn differs(conflict: &FileConflict, folder: &std::path::Path) -> Diagnostic {
    let present = conflict
        .present
        .map_or_else(|| "unknown".to_owned(), |digest| digest.to_string());
    Diagnostic::new(
        &codes::ASSET_DIFFERS,
        format!("the release has a `{}` with other bytes", conflict.name),
    )
    .at(
        Location::File(folder.join(&conflict.name).display().to_string().into()),
        "",
    )
    .note(format!("published: {present}"))
    .note(format!("given: {}", conflict.wanted))
    .help("give it another version or build tag, or replace it with `--replace`")
}
