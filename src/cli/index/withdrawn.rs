//! Yanking and unyanking files of an index.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use serde::Serialize;

use super::{Diagnostic, Exit, Format, Location, Shell, Sink, codes, load};
use crate::compat::Compat;
use crate::config::MatrixConfig;
use crate::diagnostic::{
    Severity,
    nearest::{nearest, with_nearest},
};
use crate::index::{IndexFile, YankRule, means, yank_changes};
use crate::names::{Age, YankSelection, YankSelectionError, YankSelector};
use crate::sys;

/// The files that a command yanks and unyanks.
#[derive(Debug, Default)]
pub(super) struct YankRequest<'a> {
    /// Selections to yank, such as `flash-attn<2.6: superseded`.
    pub(super) yank: &'a [String],
    /// Selections to unyank.
    pub(super) unyank: &'a [String],
    /// Yanks nightly builds older than this.
    pub(super) older_than: Option<Age>,
    /// The number of the newest nightly versions that are kept.
    pub(super) keep: usize,
    /// Matrix files with further rules.
    pub(super) rules: &'a [PathBuf],
    /// Whether the files are yanked and unyanked, instead of listed.
    pub(super) is_applied: bool,
    /// Whether nothing else in the index may change.
    pub(super) is_edit: bool,
}

/// The rules that were given.
pub(super) struct Rules {
    yank: Vec<YankRule>,
    unyank: Vec<YankSelector>,
    /// Each selector with its location, and the severity if it matches no file.
    selectors: Vec<(YankSelector, Location, Severity)>,
    is_applied: bool,
}

/// The files that are yanked and unyanked, or would be.
#[derive(Debug, Serialize)]
pub(super) struct Decided {
    applied: bool,
    yanked: BTreeMap<String, String>,
    unyanked: BTreeSet<String>,
}

impl YankRequest<'_> {
    /// Parses the rules; their errors go to the sink.
    ///
    /// # Errors
    /// A matrix file cannot be read; the sink has the reason.
    pub(super) fn rules(
        &self,
        compat: &Compat,
        shell: &Shell,
        sink: &mut Sink,
    ) -> Result<Rules, Exit> {
        let fault = |error: &YankSelectionError, argument: &str| {
            Diagnostic::new(&codes::BAD_YANK_RULE, error.to_string()).at(Location::Argument(argument.to_owned()), "").help(
                "write it like `flash-attn<2.6`, with a reason after a colon: `'flash-attn<2.6: superseded'`",
            )
        };
        let mut rules = Rules {
            yank: Vec::new(),
            unyank: Vec::new(),
            selectors: Vec::new(),
            is_applied: self.is_applied,
        };
        for text in self.yank {
            match text.parse() {
                Ok(rule) => {
                    rules.withdraw(rule, Location::Argument(text.clone()), Severity::Error);
                }
                Err(error) => sink.push(fault(&error, text)),
            }
        }
        for text in self.unyank {
            match text.parse::<YankSelector>() {
                Ok(selector) => rules.offer(selector, Location::Argument(text.clone())),
                Err(error) => sink.push(fault(&error, text)),
            }
        }
        rules
            .yank
            .extend(self.older_than.map(|age| YankRule::Nightly {
                age,
                keep: self.keep,
            }));
        if !self.rules.is_empty() {
            for matrix in load::workspace(shell, compat, self.rules, sink)?.matrices() {
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
    /// Checks that each rule matches a file, yanked already or not; the sink has those that do not.
    /// Rules by age may match none. Rules of a matrix file outlive their files, so that these are
    /// warnings.
    ///
    /// # Errors
    /// A rule of the command line matches no file.
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

    fn offer(&mut self, selector: YankSelector, place: Location) {
        self.selectors
            .push((selector.clone(), place, Severity::Error));
        self.unyank.push(selector);
    }

    /// Adds the rules of a matrix file and returns whether there are any.
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
                "pass the name of a file of the index, without a directory".to_owned(),
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
                        format!("the projects of the index are {listed}")
                    },
                )
            } else {
                let newest = some(&mut versions.iter().rev().map(ToString::to_string));
                (None, format!("the versions of `{project}` are {newest}"))
            }
        }
    };
    Diagnostic::new(
        &codes::BAD_YANK_RULE,
        with_nearest(format!("no file of the index matches `{selector}`"), near),
    )
    .help(help)
}

impl Decided {
    /// Decides, and changes the files if the rules are applied.
    pub(super) fn decide(rules: &Rules, files: &mut [IndexFile], shell: &Shell) -> Self {
        let changes = yank_changes(files, &rules.yank, &rules.unyank, sys::now_s());
        if let Some(first) = changes.undated.first() {
            let count = changes.undated.len();
            shell.say(&format!(
                "{count} nightly builds are kept, because their date is unknown; the first is `{first}`"
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

    /// Returns the decision as text or JSON.
    pub(super) fn document(&self, format: Format) -> String {
        match format {
            Format::Human if self.yanked.is_empty() && self.unyanked.is_empty() => {
                "nothing to change\n".to_owned()
            }
            Format::Human => self.text(),
            Format::Json => {
                let document = serde_json::json!({ "version": 1, "yank": self });
                format!("{document:#}\n")
            }
        }
    }

    /// Returns the text for people.
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
            .for_each(|name| text.push_str(&format!("{would}unyanked: {name}\n")));
        if !self.applied && !text.is_empty() {
            text.push_str("nothing was changed; add `--apply` to change the index\n");
        }
        text
    }
}
