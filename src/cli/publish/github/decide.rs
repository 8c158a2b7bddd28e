//! Decides the contents of the release from the given files and the existing release.

use std::collections::BTreeMap;

use super::offer::Offer;
use super::there::There;
use crate::cli::publish::contents::gfx_read;
use crate::cli::publish::{Args, Exit, cloned};
use crate::codes::release as codes;
use crate::compat::Compat;
use crate::diagnostic::{Diagnostic, Severity, Sink};
use crate::publish::remote::{DesiredRelease, locked, standing};
use crate::publish::{
    DesiredFile, ListedAsset, MissingRule, ReleaseContents, ReleaseDetails, against_plan,
    archives_against_plan, targets_against_plan,
};

/// Returns the contents of the release and sets the files of the goal, after reporting every reason
/// against it.
pub(super) fn decide(
    args: &Args,
    offer: &Offer,
    goal: &mut DesiredRelease,
    there: &There,
    sink: &mut Sink,
) -> Result<ReleaseContents, Exit> {
    let (offered, planned) = (&offer.files, &offer.planned);
    let standing = standing(goal, &there.listed);
    let particulars = ReleaseDetails {
        tag: Some(goal.tag.clone()),
        plan: planned.digest,
        covers: planned.covers(offered.iter()),
        gfx: planned.gfx(offered.iter()),
        gfx_read: gfx_read(offered),
        run_time: planned.run_time(offered.iter()),
    };
    let before = there.manifest.as_ref();
    let known = offer.compat.rocm_versions();
    let (release, untold) =
        ReleaseContents::on_github(cloned(offered), &particulars, before, &standing, &known);
    goal.assets = release.wanted();
    match locked(goal, &there.listed) {
        // No other advice would help. Without another error, this is reported with the steps.
        Some(refusal) if sink.has_errors() => sink.push(refusal.into()),
        Some(_) => {}
        None => {
            if args.plan.is_some() {
                let rule = if args.allows(&codes::MISSING_WHEEL) {
                    MissingRule::Allow
                } else {
                    MissingRule::Refuse
                };
                let kept: Vec<_> = standing
                    .keys()
                    .filter_map(|name| name.parse().ok())
                    .collect();
                against_plan(&planned.expected, &cloned(offered), &kept, rule, sink);
                let names = standing.keys().copied().collect();
                archives_against_plan(&planned.archives, &cloned(offered), &names, rule, sink);
                let is_allowed = args.allows(&codes::PLANNED_TARGET_MISSING);
                targets_against_plan(
                    &cloned(offered),
                    &particulars,
                    is_allowed,
                    offer.compat,
                    sink,
                );
            }
            tell_untold(&untold, sink);
            let many = if args.dry_run {
                Severity::Warning
            } else {
                Severity::Error
            };
            if !args.github.slow {
                tell_many(&goal.assets, &standing, offer.compat, many, sink);
            }
        }
    }
    if sink.has_errors() {
        Err(Exit::Fault)
    } else {
        Ok(release)
    }
}

/// Reports that there are more files than GitHub accepts in an hour.
fn tell_many(
    wanted: &[DesiredFile],
    standing: &BTreeMap<&str, &ListedAsset>,
    compat: &Compat,
    severity: Severity,
    sink: &mut Sink,
) {
    let is_sent = |wanted: &&DesiredFile| {
        let holds = |asset: &&ListedAsset| {
            asset.size == wanted.size_bytes
                && asset.digest.is_none_or(|digest| digest == wanted.digest)
        };
        !standing.get(wanted.name.as_str()).is_some_and(holds)
    };
    let sent = wanted.iter().filter(is_sent).count();
    if sent > compat.uploads_per_hour() {
        let most_per_hour = compat.limit_value("content-per-hour");
        let message =
            format!("{sent} files to upload, but GitHub accepts about {most_per_hour} per hour");
        sink.push(
            Diagnostic::new(&codes::TOO_MANY_CALLS, message)
                .severity(severity)
                .help("publish them with `--slow`, which takes longer than an hour, or publish fewer files at a time"),
        );
    }
}

/// Reports wheels of the release about which neither a manifest nor GitHub has enough data.
fn tell_untold(names: &[String], sink: &mut Sink) {
    let Some(first) = names.first() else { return };
    let others = names.len() - 1;
    let and = if others == 0 {
        String::new()
    } else {
        format!(" and {others} more")
    };
    sink.push(
        Diagnostic::new(
            &codes::NOT_IN_SUMS,
            format!(
                "`{first}`{and} of the release will not be in `SHA256SUMS` and `rock-manifest.json`"
            ),
        )
        .help("publish these wheels again with the others, so that their digests are known"),
    );
}
