//! The rules of a command line and of matrix files that select files to yank and unyank.

use std::collections::BTreeSet;

use rock_diagnostic::nearest::{nearest, with_nearest};
use rock_diagnostic::{Diagnostic, Location, Severity, shell_quoted};
use rock_index::{IndexFile, YankChanges, YankRule, is_selected, yank_changes};
use rock_names::{Age, Version, YankSelection, YankSelectionError, YankSelector};
use rock_plan::config::MatrixConfig;

use crate::codes::release::BAD_YANK_RULE;

/// Maximum number of projects or versions that a message lists.
const MAX_LISTED_NAMES: usize = 5;

/// Rules that select files to yank and to unyank, each with its location.
#[derive(Debug, Clone, Default)]
pub struct YankRuleSet {
    yank: Vec<YankRule>,
    unyank: Vec<YankSelector>,
    selectors: Vec<LocatedSelector>,
}

/// A selector and its location.
#[derive(Debug, Clone)]
struct LocatedSelector {
    selector: YankSelector,
    location: Location,
    /// The severity if it matches no file.
    unmatched: Severity,
}

impl YankRuleSet {
    /// Adds a selection of the command line to yank, such as `flash-attn<2.6: superseded`.
    ///
    /// # Errors
    /// The text is not a selection.
    pub fn add_yank(&mut self, text: &str) -> Result<(), Diagnostic> {
        let selection: YankSelection = text.parse().map_err(|error| invalid_yank(&error, text))?;
        self.add_selection(
            selection,
            Location::Argument(text.to_owned()),
            Severity::Error,
        );
        Ok(())
    }

    /// Adds a selector of the command line to unyank, such as `flash-attn<2.6`.
    ///
    /// # Errors
    /// The text is not a selector.
    pub fn add_unyank(&mut self, text: &str) -> Result<(), Diagnostic> {
        let selector: YankSelector = text.parse().map_err(|error| invalid_unyank(&error, text))?;
        self.selectors.push(LocatedSelector {
            selector: selector.clone(),
            location: Location::Argument(text.to_owned()),
            unmatched: Severity::Error,
        });
        self.unyank.push(selector);
        Ok(())
    }

    /// Adds a rule that yanks nightly builds older than `age`, except the `keep` newest versions.
    pub fn add_nightly(&mut self, age: Age, keep: usize) {
        self.yank.push(YankRule::Nightly { age, keep });
    }

    /// Adds the rules of a matrix file and returns whether it has any. They outlive their files, so
    /// that one that matches no file is a warning.
    pub fn add_matrix(&mut self, config: &MatrixConfig) -> bool {
        let before = self.yank.len();
        let release = &config.release;
        for (number, selection) in release.yank.iter().enumerate() {
            self.add_selection(
                selection.clone(),
                config.locations.of(&format!("release.yank[{number}]")),
                Severity::Warning,
            );
        }
        if let Some(age) = release.yank_older_than {
            self.add_nightly(age, release.yank_keep);
        }
        self.yank.len() > before
    }

    /// Returns a diagnostic for each selector that matches no file, yanked already or not. Rules by
    /// age may match none.
    pub fn unmatched(&self, files: &[IndexFile]) -> Vec<Diagnostic> {
        self.selectors
            .iter()
            .enumerate()
            .filter(|(_, located)| {
                !files
                    .iter()
                    .any(|file| is_selected(&located.selector, file))
            })
            .map(|(number, located)| {
                let error = unmatched_selector(&located.selector, files)
                    .at(located.location.clone(), "")
                    .severity(located.unmatched);
                match separate_version_help(&self.selectors[..=number]) {
                    Some(help) => error.help(help),
                    None => error,
                }
            })
            .collect()
    }

    /// Returns the changes that the rules make to these files at this time, in seconds since 1970.
    pub fn changes(&self, files: &[IndexFile], now_s: u64) -> YankChanges {
        yank_changes(files, &self.yank, &self.unyank, now_s)
    }

    /// Returns a note for each selector of one version without a label that also selects files with
    /// a label, as `==` of PEP 440 does.
    pub fn label_notes(&self, files: &[IndexFile]) -> Vec<String> {
        self.selectors
            .iter()
            .filter_map(|located| label_note(&located.selector, files))
            .collect()
    }

    fn add_selection(&mut self, selection: YankSelection, location: Location, unmatched: Severity) {
        self.selectors.push(LocatedSelector {
            selector: selection.selector.clone(),
            location,
            unmatched,
        });
        self.yank.push(YankRule::These(selection));
    }
}

fn label_note(selector: &YankSelector, files: &[IndexFile]) -> Option<String> {
    let YankSelector::Versions(project, specifiers) = selector else {
        return None;
    };
    let version = specifiers.strip_prefix("==")?.trim();
    if version.starts_with('=') || version.contains([',', '*']) {
        return None;
    }
    let versions: BTreeSet<_> = files
        .iter()
        .filter(|file| is_selected(selector, file))
        .map(|file| &file.version)
        .collect();
    let labelled = versions.iter().find(|version| version.local().is_some())?;
    if versions.len() < 2 {
        return None;
    }
    let one = format!("{}==={version}", project.normalized());
    Some(format!(
        "`{selector}` includes versions with a label, such as {labelled} (PEP 440); `{}` or a \
         filename selects one",
        shell_quoted(&one)
    ))
}

fn invalid_yank(error: &YankSelectionError, text: &str) -> Diagnostic {
    invalid_rule(error, text).help(
        "write it like `'flash-attn<2.6'`, with a reason after a colon: `'flash-attn<2.6: superseded'`",
    )
}

fn invalid_unyank(error: &YankSelectionError, text: &str) -> Diagnostic {
    let error = invalid_rule(error, text);
    match text.split_once(':') {
        Some((selector, _)) => error.help(format!(
            "`index unyank` takes no reason: use `{}`",
            shell_quoted(selector.trim())
        )),
        None => error.help("write it like `'flash-attn<2.6'`"),
    }
}

fn invalid_rule(error: &YankSelectionError, text: &str) -> Diagnostic {
    Diagnostic::new(&BAD_YANK_RULE, error.to_string()).at(Location::Argument(text.to_owned()), "")
}

/// Returns the diagnostic for a selector that matches no file, with the names that it could have.
fn unmatched_selector(selector: &YankSelector, files: &[IndexFile]) -> Diagnostic {
    let (near, help) = match selector {
        YankSelector::File(given) => {
            let name = given.rsplit('/').next().unwrap_or(given);
            let near = nearest(name, files.iter().map(|file| file.name.as_str()));
            (
                near.map(str::to_owned),
                "pass the name of a file of the index, without a directory".to_owned(),
            )
        }
        YankSelector::Versions(project, _) | YankSelector::Labelled(project, _) => {
            let project = project.normalized();
            let versions: BTreeSet<_> = files
                .iter()
                .filter(|file| file.project.normalized() == project)
                .map(|file| &file.version)
                .collect();
            if versions.is_empty() {
                nearest_project(&project, files)
            } else {
                let newest = listed(versions.iter().rev().map(ToString::to_string));
                (None, format!("the versions of `{project}` are {newest}"))
            }
        }
    };
    Diagnostic::new(
        &BAD_YANK_RULE,
        with_nearest(
            format!("no file of the index matches `{selector}`"),
            near.as_deref(),
        ),
    )
    .help(help)
}

/// Returns help for a version that follows its project as an argument of its own, which is the last
/// of these selectors; `None` for other selectors.
fn separate_version_help(selectors: &[LocatedSelector]) -> Option<String> {
    let [.., before, last] = selectors else {
        return None;
    };
    let (YankSelector::Versions(project, specifiers), Location::Argument(text)) =
        (&before.selector, &last.location)
    else {
        return None;
    };
    let (version, reason) = match text.split_once(':') {
        Some((version, reason)) => (version.trim(), format!(": {}", reason.trim())),
        None => (text.trim(), String::new()),
    };
    version.parse::<Version>().ok()?;
    let selection = format!("{}=={version}{reason}", project.normalized());
    specifiers.is_empty().then(|| {
        format!(
            "write the project and its version as one argument: `{}`",
            shell_quoted(&selection)
        )
    })
}

/// Returns the project with the most similar name, and the projects of the index.
fn nearest_project(project: &str, files: &[IndexFile]) -> (Option<String>, String) {
    let projects: BTreeSet<String> = files.iter().map(|file| file.project.normalized()).collect();
    let near = nearest(project, projects.iter().map(String::as_str));
    let help = if projects.is_empty() {
        "the index lists nothing".to_owned()
    } else {
        format!(
            "the projects of the index are {}",
            listed(projects.iter().cloned())
        )
    };
    (near.map(str::to_owned), help)
}

fn listed(names: impl Iterator<Item = String>) -> String {
    names
        .take(MAX_LISTED_NAMES)
        .map(|name| format!("`{name}`"))
        .collect::<Vec<_>>()
        .join(", ")
}

#[cfg(test)]
mod tests {
    use rock_diagnostic::Severity;

    use super::YankRuleSet;
    use crate::testing::asset;
    use rock_index::IndexFile;

    fn file(name: &str) -> IndexFile {
        asset(name, 1).file
    }

    #[test]
    fn selectors_that_match_no_file_are_errors_with_a_suggestion() {
        let files = [file("flash_attn-2.8.3-cp311-cp311-linux_x86_64.whl")];
        let mut rules = YankRuleSet::default();
        rules.add_yank("flash-attn<3: superseded").unwrap();
        assert_eq!(rules.unmatched(&files), []);
        rules.add_unyank("flash-atn<3").unwrap();
        let [error] = &rules.unmatched(&files)[..] else {
            panic!("one selector matches nothing");
        };
        assert_eq!(error.severity, Severity::Error);
        assert!(error.message.contains("flash-attn"), "{}", error.message);
        assert_eq!(
            error.help.as_deref(),
            Some("the projects of the index are `flash-attn`")
        );
    }

    #[test]
    fn a_version_after_its_project_belongs_to_one_argument() {
        let files = [file("demo-1.0-cp311-cp311-linux_x86_64.whl")];
        let help = |selections: &[&str]| {
            let mut rules = YankRuleSet::default();
            for selection in selections {
                rules.add_yank(selection).unwrap();
            }
            rules.unmatched(&files).pop().unwrap().help
        };
        for (selections, selection) in [
            (["demo", "1.0"], "demo==1.0"),
            (["demo", "1.0: broken"], "'demo==1.0: broken'"),
        ] {
            let expected =
                format!("write the project and its version as one argument: `{selection}`");
            assert_eq!(help(&selections), Some(expected));
        }
        for selections in [&["1.0"][..], &["demo<2", "1.0"], &["demo", "other"]] {
            let other = help(selections).unwrap();
            assert_eq!(other, "the projects of the index are `demo`");
        }
    }

    #[test]
    fn an_exact_version_that_includes_labels_is_noted() {
        let files = [
            file("a-1.0-cp311-cp311-linux_x86_64.whl"),
            file("a-1.0+rocm7.0-cp311-cp311-linux_x86_64.whl"),
        ];
        let notes = |selection: &str, files: &[IndexFile]| {
            let mut rules = YankRuleSet::default();
            rules.add_yank(selection).unwrap();
            rules.label_notes(files)
        };
        assert_eq!(
            notes("a==1.0: broken", &files),
            [
                "`a==1.0` includes versions with a label, such as 1.0+rocm7.0 (PEP 440); `a===1.0` or a filename selects one"
            ]
        );
        assert!(notes("a===1.0", &files).is_empty() && notes("a<2", &files).is_empty());
        assert!(notes("a==1.0", &files[1..]).is_empty(), "one version");
    }

    #[test]
    fn text_that_is_no_selection_is_refused() {
        let error = YankRuleSet::default()
            .add_yank("flash-attn<: reason")
            .unwrap_err();
        assert_eq!(error.code.id, "G019");
    }
}
