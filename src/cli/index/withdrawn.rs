//! Withdrawing files from an index, and offering them again.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use serde::Serialize;

use super::{Diagnostic, Exit, Location, Shell, Sink, codes, load};
use crate::compat::Compat;
use crate::config::MatrixConfig;
use crate::diagnostic::{
    Severity,
    nearest::{nearest, with_nearest},
};
use crate::index::{IndexFile, YankRule, means, yank_changes};
use crate::names::{Age, YankSelection, YankSelectionError, YankSelector};
use crate::sys;

/// Which files installers pass over
#[derive(Debug, Clone, clap::Args)]
pub(super) struct Options {
    /// Withdraw these files: PROJECT with a version specifier, or a file name, and a reason after a
    /// colon
    #[arg(long, value_name = "WHAT[: WHY]", help_heading = "Withdrawing")]
    yank: Vec<String>,
    /// Withdraw nightly builds (.dev versions, releases called nightly…) older than this: 30d, 4w
    #[arg(long, value_name = "AGE", help_heading = "Withdrawing")]
    yank_older_than: Option<Age>,
    /// With --yank-older-than: versions of each project and folder that stay, the newest
    #[arg(
        long,
        value_name = "COUNT",
        default_value_t = 3,
        requires = "yank_older_than",
        help_heading = "Withdrawing"
    )]
    keep: usize,
    /// Offer these files again
    #[arg(long, value_name = "WHAT", help_heading = "Withdrawing")]
    unyank: Vec<String>,
    /// A matrix file: withdraw what its `release` says. A rule there that means no file is a
    /// warning
    #[arg(long, value_name = "FILE", help_heading = "Withdrawing")]
    rules: Vec<PathBuf>,
    /// Withdraw and offer again; without it this is only told
    #[arg(long, help_heading = "Withdrawing")]
    apply: bool,
}

/// The rules that were given.
pub(super) struct Rules {
    yank: Vec<YankRule>,
    unyank: Vec<YankSelector>,
    /// What each selector says and where, and how bad it is that it means no file.
    selectors: Vec<(YankSelector, Location, Severity)>,
    is_applied: bool,
}

/// What is withdrawn and offered again, or would be.
#[derive(Debug, Serialize)]
pub(super) struct Decided {
    applied: bool,
    yanked: BTreeMap<String, String>,
    unyanked: BTreeSet<String>,
}

impl Options {
    /// The rules; what is wrong with them goes to the sink.
    ///
    /// # Errors
    /// When a matrix file cannot be read; the sink has why.
    pub(super) fn rules(
        &self,
        compat: &Compat,
        shell: &Shell,
        sink: &mut Sink,
    ) -> Result<Rules, Exit> {
        let fault = |error: &YankSelectionError, argument: &str| {
            Diagnostic::new(&codes::BAD_YANK_RULE, error.to_string()).at(Location::Argument(argument.to_owned()), "").help(
                "write it like `flash-attn<2.6`, with a reason after a colon: `--yank 'flash-attn<2.6: superseded'`",
            )
        };
        let mut rules = Rules {
            yank: Vec::new(),
            unyank: Vec::new(),
            selectors: Vec::new(),
            is_applied: self.apply,
        };
        for text in &self.yank {
            match text.parse() {
                Ok(rule) => {
                    rules.withdraw(
                        rule,
                        Location::Argument("--yank".to_owned()),
                        Severity::Error,
                    );
                }
                Err(error) => sink.push(fault(&error, "--yank")),
            }
        }
        for text in &self.unyank {
            match text.parse::<YankSelector>() {
                Ok(selector) => rules.offer(selector),
                Err(error) => sink.push(fault(&error, "--unyank")),
            }
        }
        rules
            .yank
            .extend(self.yank_older_than.map(|age| YankRule::Nightly {
                age,
                keep: self.keep,
            }));
        if !self.rules.is_empty() {
            for matrix in load::matrices(shell, compat, &self.rules, sink)? {
                if !rules.add_kept(&matrix.config) {
                    let file = &matrix.config.places.source().path;
                    shell.say(&format!(
                        "{file} has no rules: `release` has neither `yank` nor `yank-older-than`"
                    ));
                }
            }
        }
        Ok(rules)
    }
}

impl Rules {
    /// Checks that each rule means a file, withdrawn already or not; the sink has which does not.
    /// One by age may mean none, and rules that are kept outlive their files.
    ///
    /// # Errors
    /// When one that was given by hand means none.
    pub(super) fn check(&self, files: &[IndexFile], sink: &mut Sink) -> Result<(), Exit> {
        let is_unmatched =
            |selector: &YankSelector| !files.iter().any(|file| means(selector, file));
        let mut is_fault = false;
        for (selector, place, severity) in self
            .selectors
            .iter()
            .filter(|(selector, ..)| is_unmatched(selector))
        {
            sink.push(
                means_no_file(selector, files)
                    .at(place.clone(), "")
                    .severity(*severity),
            );
            is_fault |= *severity == Severity::Error;
        }
        if is_fault { Err(Exit::Fault) } else { Ok(()) }
    }

    fn withdraw(&mut self, rule: YankSelection, place: Location, unmatched: Severity) {
        self.selectors
            .push((rule.selector.clone(), place, unmatched));
        self.yank.push(YankRule::These(rule));
    }

    fn offer(&mut self, selector: YankSelector) {
        self.selectors.push((
            selector.clone(),
            Location::Argument("--unyank".to_owned()),
            Severity::Error,
        ));
        self.unyank.push(selector);
    }

    /// Adds the rules that a matrix file keeps, and tells whether there are any.
    fn add_kept(&mut self, config: &MatrixConfig) -> bool {
        let before = self.yank.len();
        for (number, rule) in config.release.yank.iter().enumerate() {
            self.withdraw(
                rule.clone(),
                config.places.of(&format!("release.yank[{number}]")),
                Severity::Warning,
            );
        }
        let keep = config.release.yank_keep;
        self.yank.extend(
            config
                .release
                .yank_older_than
                .map(|age| YankRule::Nightly { age, keep }),
        );
        self.yank.len() > before
    }
}

fn means_no_file(selector: &YankSelector, files: &[IndexFile]) -> Diagnostic {
    let projects: BTreeSet<String> = files.iter().map(|file| file.project.normalized()).collect();
    let some = |words: &mut dyn Iterator<Item = String>| {
        words
            .take(5)
            .map(|word| format!("`{word}`"))
            .collect::<Vec<_>>()
            .join(", ")
    };
    let (near, help) = match selector {
        YankSelector::File(given) => {
            let name = given.rsplit('/').next().unwrap_or(given);
            let near = nearest(name, files.iter().map(|file| file.name.as_str()));
            (
                near,
                "give the name of a file of the index, without its folder".to_owned(),
            )
        }
        YankSelector::Versions(project, _) | YankSelector::Labelled(project, _) => {
            let project = project.normalized();
            let of_project = files
                .iter()
                .filter(|file| file.project.normalized() == project);
            let versions: BTreeSet<_> = of_project.map(|file| &file.version).collect();
            if versions.is_empty() {
                let near = nearest(&project, projects.iter().map(String::as_str));
                let listed = some(&mut projects.iter().cloned());
                let nothing = "the index lists nothing".to_owned();
                (
                    near,
                    if listed.is_empty() {
                        nothing
                    } else {
                        format!("projects of the index are {listed}")
                    },
                )
            } else {
                let newest = some(&mut versions.iter().rev().map(ToString::to_string));
                (None, format!("versions of `{project}` are {newest}"))
            }
        }
    };
    Diagnostic::new(
        &codes::BAD_YANK_RULE,
        with_nearest(format!("no file of the index is `{selector}`"), near),
    )
    .help(help)
}

impl Decided {
    /// Decides, and changes the files if that was asked for.
    pub(super) fn decide(rules: &Rules, files: &mut [IndexFile], shell: &Shell) -> Self {
        let changes = yank_changes(files, &rules.yank, &rules.unyank, sys::now_s());
        if let Some(first) = changes.undated.first() {
            let count = changes.undated.len();
            shell.say(&format!(
                "{count} nightly builds stay, since nothing tells their day: `{first}` is the first"
            ));
        }
        if rules.is_applied {
            changes.apply(files);
        }
        Self {
            applied: rules.is_applied,
            yanked: changes.yank,
            unyanked: changes.unyank,
        }
    }

    /// The words for people.
    pub(super) fn text(&self) -> String {
        let would = if self.applied { "" } else { "would be " };
        let mut text = String::new();
        for (name, reason) in &self.yanked {
            let reason = if reason.is_empty() {
                String::new()
            } else {
                format!(": {reason}")
            };
            text.push_str(&format!("{would}yanked: {name}{reason}\n"));
        }
        self.unyanked
            .iter()
            .for_each(|name| text.push_str(&format!("{would}offered again: {name}\n")));
        if !self.applied && !text.is_empty() {
            text.push_str("nothing was withdrawn or offered again: `--apply` does it\n");
        }
        text
    }
}
