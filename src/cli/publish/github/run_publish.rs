//! Uploads the missing files of a release, and shows the progress.

use std::sync::Arc;

use crate::cli::publish::outcome::describe_step;
use crate::cli::publish::{Args, Shell};
use crate::cli::reporters::{MovingLine, UploadReporter};
use crate::codes::release as codes;
use crate::github::{PublishCallbacks, PublishRun, ReleaseClient, UploadContents, apply};
use crate::publish::ListedRelease;
use crate::publish::remote::{DeleteReason, DesiredRelease, PublishPolicy, PublishStep};

/// Uploads the missing files and shows the progress. `line` is the moving line of the terminal.
pub(super) fn run_publish(
    args: &Args,
    client: &ReleaseClient,
    desired: &DesiredRelease,
    releases: Vec<ListedRelease>,
    contents: UploadContents<'_>,
    shell: &Shell,
    line: &MovingLine,
) -> PublishRun {
    let options = &args.github;
    let policy = PublishPolicy {
        replace: args.replace,
        published: args.allows(&codes::RELEASE_IS_PUBLISHED),
        clean_duplicates: options.clean_duplicates,
        fetch_to_verify: options.verify == "full",
    };
    let reporter = Arc::new(UploadReporter::new(desired, &releases, shell, line));
    let sent = Arc::clone(&reporter);
    let mut callbacks = PublishCallbacks {
        open_file: &|name| contents.open(name),
        path_of: &|name| contents.path_of(name),
        on_step: &mut |step| {
            match step {
                // A published wheel is deleted here.
                PublishStep::DeleteAsset {
                    name,
                    why: DeleteReason::DifferentContent,
                    ..
                } => {
                    line.write_above(|| {
                        shell.tell(&format!(
                            "replacing {name}: the release has a file with different content"
                        ));
                    });
                }
                step => shell.detail(&describe_step(step)),
            }
            reporter.step(step);
        },
        on_sent: Arc::new(move |name, bytes| sent.sent(name, bytes)),
        at_once: usize::from(options.jobs),
    };
    let run = apply(client, desired, policy, releases, &mut callbacks);
    reporter.finish();
    run
}
