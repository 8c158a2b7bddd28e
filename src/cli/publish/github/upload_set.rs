//! Reads the files to publish, and what the command line and the plan contain about them.

use crate::cli::publish::built_torch::check_torch;
use crate::cli::publish::{
    Args, Exit, GIT_TAG_HELP, Shell, digest_cache, load, named, parse_tag, read_plan,
    report_audit_errors,
};
use crate::compat::Compat;
use crate::diagnostic::Sink;
use crate::github::{UploadSet, accepted_files};
use crate::publish::{
    CheckDepth, GitTag, MetadataBody, as_github_release, cache_note, expand_paths, left_out,
    read_assets, unique_by_name, without_paths,
};
use crate::sys;

/// Reads the compatibility data and the files to publish, and reports every error.
pub(super) fn read_upload_set(
    args: &Args,
    shell: &Shell,
    sink: &mut Sink,
) -> Result<(UploadSet, &'static Compat), Exit> {
    let tag: Option<GitTag> = parse_tag(args.tag.as_deref(), GIT_TAG_HELP, sink);
    let compat = load::compat(shell)?;
    let plan = read_plan(args, sink)?;
    let given = expand_paths(&named(args), sink);
    // Before anything is read, because the largest files are the ones that are refused.
    let accepted = accepted_files(&given, compat, sink);
    let cache = digest_cache(
        &args.known,
        args.read_all,
        &accepted,
        MetadataBody::Skip,
        shell,
        sink,
    )?;
    let files = read_assets(&accepted, CheckDepth::Verify, &cache, compat, sink);
    shell.detail(&cache_note(&files));
    check_torch(&files, args, compat, sink);
    as_github_release(&without_paths(&files), &left_out(&given, &files), sink);
    let max_notes_bytes = compat.limit_value("release-text") as u64;
    let notes = args
        .github
        .notes
        .as_ref()
        .map(|path| sys::read_text(path, max_notes_bytes))
        .transpose();
    let notes = notes.unwrap_or_else(|error| {
        sink.push(error.into());
        None
    });
    let Some(tag) = tag.filter(|_| !sink.has_errors()) else {
        report_audit_errors(&plan, files, args, compat, sink);
        return Err(Exit::Fault);
    };
    let upload = UploadSet {
        tag,
        plan,
        notes,
        files: unique_by_name(files),
    };
    Ok((upload, compat))
}
