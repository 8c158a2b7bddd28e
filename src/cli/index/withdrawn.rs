//! Withdrawing files from an index, and offering them again.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::{Diagnostic, Exit, Place, Shell, Sink, codes};
use crate::diagnostic::{
    Severity,
    nearest::{nearest, with_nearest},
};
use crate::index::{IndexFile, YankRule, means, yank_changes};
use crate::names::{Selector, WithdrawalError};
use crate::sys;

/// Which files installers pass over
#[derive(Debug, Clone, clap::Args)]
pub(super) struct Options {
    /// Withdraw these files: PROJECT with a version specifier, or a file name, and a reason after a colon
    #[arg(long, value_name = "WHAT[: WHY]", help_heading = "Withdrawing")]
    yank: Vec<String>,
    /// Withdraw nightly builds (.dev versions, releases called nightly…) older than this: 30d, 4w
    #[arg(long, value_name = "AGE", help_heading = "Withdrawing")]
    yank_older_than: Option<String>,
    /// With --yank-older-than: versions of each project and folder that stay, the newest
    #[arg(long, value_name = "COUNT", default_value_t = 3, help_heading = "Withdrawing")]
    keep: usize,
    /// Offer these files again
    #[arg(long, value_name = "WHAT", help_heading = "Withdrawing")]
    unyank: Vec<String>,
    /// A rule that means no file is a warning, for rules that outlive their files
    #[arg(long, help_heading = "Withdrawing")]
    allow_unmatched: bool,
    /// Withdraw and offer again; without it this is only told
    #[arg(long, help_heading = "Withdrawing")]
    apply: bool,
}

/// The rules that were given.
pub(super) struct Rules {
    yank: Vec<YankRule>,
    unyank: Vec<Selector>,
    unmatched: Severity,
    is_applied: bool,
}

/// What is withdrawn and offered again, or would be.
#[derive(Debug, Serialize)]
pub(super) struct Withdrawn {
    applied: bool,
    yanked: BTreeMap<String, String>,
    unyanked: BTreeSet<String>,
}

impl Options {
    /// The rules; what is wrong with them goes to the sink.
    pub(super) fn rules(&self, sink: &mut Sink) -> Rules {
        let mut fault = |error: String, argument: &str| {
            sink.push(
                Diagnostic::new(&codes::BAD_YANK_RULE, error)
                    .at(Place::Argument(argument.to_owned()), "")
                    .help("write it like `--yank 'flash-attn<2.6: superseded'` or `--yank-older-than 30d`"),
            );
        };
        let unmatched = if self.allow_unmatched { Severity::Warning } else { Severity::Error };
        let mut rules = Rules { yank: Vec::new(), unyank: Vec::new(), unmatched, is_applied: self.apply };
        for text in &self.yank {
            text.parse().map_or_else(|e: WithdrawalError| fault(e.to_string(), "--yank"), |r| rules.yank.push(r));
        }
        for text in &self.unyank {
            text.parse().map_or_else(|e: WithdrawalError| fault(e.to_string(), "--unyank"), |s| rules.unyank.push(s));
        }
        if let Some(text) = &self.yank_older_than {
            match days(text) {
                Some(days) => rules.yank.push(YankRule::Nightly { days, keep: self.keep }),
                None => fault(format!("`{text}` is no age in days or weeks"), "--yank-older-than"),
            }
        }
        rules
    }
}

impl Rules {
    /// Checks that each rule means a file, withdrawn already or not; the sink has which does not. One by age may mean none.
    ///
    /// # Errors
    /// When one means none and that is not allowed.
    pub(super) fn check(&self, files: &[IndexFile], sink: &mut Sink) -> Result<(), Exit> {
        let yank = self.yank.iter().filter_map(|rule| match rule {
            YankRule::These(selector, _) => Some(("--yank", selector)),
            YankRule::Nightly { .. } => None,
        });
        let rules = yank.chain(self.unyank.iter().map(|selector| ("--unyank", selector)));
        let mut is_fault = false;
        for (argument, selector) in rules.filter(|(_, selector)| !files.iter().any(|file| means(selector, file))) {
            sink.push(means_no_file(argument, selector, files).severity(self.unmatched));
            is_fault = self.unmatched == Severity::Error;
        }
        if is_fault { Err(Exit::Fault) } else { Ok(()) }
    }
}

fn means_no_file(argument: &str, selector: &Selector, files: &[IndexFile]) -> Diagnostic {
    let projects: BTreeSet<String> = files.iter().map(|file| file.project.normalized()).collect();
    let some = |words: &mut dyn Iterator<Item = String>| {
        words.take(5).map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
    };
    let (near, help) = match selector {
        Selector::File(given) => {
            let name = given.rsplit('/').next().unwrap_or(given);
            let near = nearest(name, files.iter().map(|file| file.name.as_str()));
            (near, "give the name of a file of the index, without its folder".to_owned())
        }
        Selector::Versions(project, _) | Selector::Labelled(project, _) => {
            let project = project.normalized();
            let of_project = files.iter().filter(|file| file.project.normalized() == project);
            let versions: BTreeSet<_> = of_project.map(|file| &file.version).collect();
            if versions.is_empty() {
                let near = nearest(&project, projects.iter().map(String::as_str));
                (near, format!("projects of the index are {}", some(&mut projects.iter().cloned())))
            } else {
                let newest = some(&mut versions.iter().rev().map(ToString::to_string));
                (None, format!("versions of `{project}` are {newest}"))
            }
        }
    };
    Diagnostic::new(&codes::BAD_YANK_RULE, with_nearest(format!("no file of the index is `{selector}`"), near))
        .at(Place::Argument(argument.to_owned()), "")
        .help(help)
}

impl Withdrawn {
    /// Decides, and changes the files if that was asked for.
    pub(super) fn decide(rules: &Rules, files: &mut [IndexFile], shell: &Shell) -> Self {
        let changes = yank_changes(files, &rules.yank, &rules.unyank, sys::now_s());
        if let Some(first) = changes.undated.first() {
            let count = changes.undated.len();
            shell.say(&format!("{count} nightly builds stay, since nothing tells their day: `{first}` is the first"));
        }
        if rules.is_applied {
            changes.apply(files);
        }
        Self { applied: rules.is_applied, yanked: changes.yank, unyanked: changes.unyank }
    }

    /// The words for people.
    pub(super) fn text(&self) -> String {
        let would = if self.applied { "" } else { "would be " };
        let mut text = String::new();
        for (name, reason) in &self.yanked {
            let reason = if reason.is_empty() { String::new() } else { format!(": {reason}") };
            text.push_str(&format!("{would}yanked: {name}{reason}\n"));
        }
        self.unyanked.iter().for_each(|name| text.push_str(&format!("{would}offered again: {name}\n")));
        if !self.applied && !text.is_empty() {
            text.push_str("nothing was withdrawn or offered again: `--apply` does it\n");
        }
        text
    }
}

/// `30d` and `4w`.
fn days(text: &str) -> Option<u64> {
    let (number, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    let number: u64 = number.parse().ok().filter(|number| *number < 36_500)?;
    match unit {
        "d" => Some(number),
        "w" => Some(7 * number),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::days;

    #[test]
    fn ages_are_days_and_weeks() {
        assert_eq!((days("30d"), days("4w"), days("0d")), (Some(30), Some(28), Some(0)));
        for text in ["", "d", "30", "30m", "-1d", "1.5d", "99999999999999999999w", "3ü"] {
            assert_eq!(days(text), None, "{text}");
        }
    }
}
