//! The command that goes on with a publish.

use std::path::PathBuf;

use super::options::AT_ONCE;
use crate::cli::publish::word::quoted;
use crate::cli::publish::{Args, named};

/// How the command that goes on learns the digests of the files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reading {
    /// As this one did.
    Same,
    /// By reading them: what was known of one is wrong.
    All,
}

/// The same command again.
pub(super) fn resume(args: &Args, repo: &str, reading: Reading) -> String {
    let mut words = vec!["rock-matrix publish --repo".to_owned(), repo.to_owned()];
    words.extend(["--tag".to_owned(), quoted(args.tag.as_deref().unwrap_or_default())]);
    // `-d` would be read as an option.
    let file = |file: &PathBuf| match quoted(file) {
        name if file.as_os_str().as_encoded_bytes().starts_with(b"-") => format!("--dist={name}"),
        name => name,
    };
    words.extend(named(args).iter().map(file));
    if let Some(plan) = &args.plan {
        words.extend(["--plan".to_owned(), quoted(plan)]);
    }
    if let Some(notes) = &args.github.notes {
        words.extend(["--notes".to_owned(), quoted(notes)]);
    }
    let options = &args.github;
    for (flag, value) in [("--title", &options.title), ("--target", &options.target)] {
        words.extend(value.iter().flat_map(|value| [flag.to_owned(), quoted(value)]));
    }
    for (flag, value, default) in
        [("--make-latest", &options.make_latest, "legacy"), ("--verify", &options.verify, "size")]
    {
        if value != default {
            words.extend([flag.to_owned(), value.clone()]);
        }
    }
    if options.prerelease != "false" {
        words.push(format!("--prerelease={}", options.prerelease));
    }
    let known = args.known.iter().filter(|_| reading == Reading::Same);
    words.extend(known.flat_map(|known| ["--known".to_owned(), quoted(known)]));
    if options.at_once != AT_ONCE {
        words.extend(["--at-once".to_owned(), options.at_once.to_string()]);
    }
    words.extend(options.uploads_host.iter().flat_map(|host| ["--uploads-host".to_owned(), host.to_string()]));
    words.extend(args.connection.words());
    let flags = [
        (args.allow_missing, "--allow-missing"),
        (args.replace, "--replace"),
        (args.github.draft, "--draft"),
        (args.github.allow_published, "--allow-published"),
        (args.github.clean_duplicates, "--clean-duplicates"),
        (args.github.slow, "--slow"),
        (args.read_all || reading == Reading::All, "--read-all"),
    ];
    words.extend(flags.iter().filter(|(is_set, _)| *is_set).map(|(_, flag)| (*flag).to_owned()));
    words.join(" ")
}
