//! Options that select the artifacts of a run.

use std::collections::BTreeSet;

use regex::Regex;
use rock_audit::codes::wheel::BAD_PATTERN;
use rock_compat::Compat;
use rock_diagnostic::{Diagnostic, Diagnostics, Location};
use rock_names::{ArtifactComponent, GfxTarget};

use crate::bucket::{ArtifactSelection, BucketArchive, BucketFile};
use crate::codes::sdk as codes;
use crate::{TargetList, base_target, expand};

/// The number of artifacts that a message lists.
const SHOWN: usize = 8;

/// Options of an [`ArtifactSelection`].
#[derive(Debug, Clone, Default)]
pub struct SelectionOptions {
    /// Regular expressions of which at least one must match the name, unless there are none.
    pub includes: Vec<String>,
    /// Regular expressions that must not match the name.
    pub excludes: Vec<String>,
    /// The GPU targets, families and products, in addition to artifacts for any GPU; all if it is
    /// empty.
    pub gpus: TargetList,
    /// Whether artifacts for each target of the families are selected, too.
    pub expands_families: bool,
    /// Components to skip.
    pub without_components: BTreeSet<ArtifactComponent>,
    /// Names of projects whose artifacts are skipped.
    pub without_names: BTreeSet<String>,
}

impl ArtifactSelection {
    /// Compiles a selection.
    ///
    /// # Errors
    /// When regular expressions are invalid or families unknown.
    pub fn compile(options: SelectionOptions, compat: &Compat) -> Result<Self, Diagnostics> {
        let mut errors = Vec::new();
        let includes = compile_patterns(&options.includes, "", &mut errors);
        let excludes = compile_patterns(&options.excludes, "--exclude ", &mut errors);
        let made_for = options
            .made_for(compat)
            .map_err(|error| errors.push(error))
            .unwrap_or_default();
        Diagnostics::check(errors)?;
        Ok(Self {
            made_for: (!made_for.is_empty()).then_some(made_for),
            includes,
            excludes,
            without_components: options.without_components,
            without_names: options.without_names,
        })
    }

    /// Returns the selected archives among the files of a run, like [`of`](Self::of).
    ///
    /// # Errors
    /// When nothing is selected. `location` is that of the run.
    pub fn select(
        &self,
        files: &[BucketFile],
        location: Location,
    ) -> Result<Vec<BucketArchive>, Diagnostic> {
        let selected = self.of(files);
        if !selected.is_empty() {
            return Ok(selected);
        }
        let all = Self::default().of(files);
        let message = format!("none of the {} artifacts of the run is selected", all.len());
        let names: Vec<String> = all
            .iter()
            .take(SHOWN)
            .map(|archive| archive.name.to_string())
            .collect();
        let ellipsis = if all.len() > SHOWN { ", …" } else { "" };
        Err(Diagnostic::new(&codes::NO_ARTIFACT, message)
            .at(location, "")
            .note(format!("the run has {}{ellipsis}", names.join(", ")))
            .help("select other GPUs or names"))
    }
}

impl SelectionOptions {
    /// Returns the families and targets whose artifacts are selected, without the features of
    /// targets, because names of artifacts are compared without them.
    fn made_for(&self, compat: &Compat) -> Result<BTreeSet<String>, Diagnostic> {
        let gpus: Vec<&str> = self
            .gpus
            .words()
            .map(|word| compat.product(word).map_or(word, |row| row.gfx.as_str()))
            .collect();
        let mut made_for: BTreeSet<String> = gpus.iter().map(|&word| word.to_owned()).collect();
        if self.expands_families {
            let rows = &compat.tables().families;
            // Targets need no row: there may be artifacts for some that the tables do not have yet.
            let families: Vec<&str> = gpus
                .into_iter()
                .filter(|word| word.parse::<GfxTarget>().is_err())
                .collect();
            let targets = expand(&families.join(","), rows)
                .map_err(|unknown| self.gpus.unknown_families(&unknown, rows))?;
            made_for.extend(targets);
        }
        Ok(made_for
            .iter()
            .map(|word| base_target(word).to_owned())
            .collect())
    }
}

/// Compiles regular expressions. `option` is the text before each of them on the command line.
fn compile_patterns(patterns: &[String], option: &str, errors: &mut Vec<Diagnostic>) -> Vec<Regex> {
    let mut compiled = Vec::new();
    for pattern in patterns {
        match Regex::new(pattern) {
            Ok(regex) => compiled.push(regex),
            Err(error) => errors.push(bad_pattern(pattern, option, &error)),
        }
    }
    compiled
}

fn bad_pattern(pattern: &str, option: &str, error: &regex::Error) -> Diagnostic {
    let text = error.to_string();
    let reason = text.lines().last().unwrap_or_default();
    let message = format!("`{pattern}` is not a regular expression: {reason}");
    Diagnostic::new(&BAD_PATTERN, message)
        .at(Location::Argument(format!("{option}{pattern}")), "")
        .help("escape special characters with a backslash, such as `\\(` or `\\+`")
}

#[cfg(test)]
mod tests {
    use super::SelectionOptions;
    use crate::TargetList;
    use crate::bucket::ArtifactSelection;
    use rock_compat::Compat;
    use rock_diagnostic::Location;

    #[test]
    fn families_are_expanded_and_unknown_words_are_reported() {
        let compat = Compat::embedded();
        let compile = |gpus: &str, expands_families: bool| {
            let options = SelectionOptions {
                gpus: TargetList::new(gpus),
                expands_families,
                ..SelectionOptions::default()
            };
            ArtifactSelection::compile(options, &compat)
                .map(|selection| selection.made_for.into_iter().flatten().collect::<Vec<_>>())
                .map_err(|errors| errors.to_string())
        };
        assert_eq!(compile("gfx942:xnack+", false).unwrap(), ["gfx942"]);
        assert_eq!(
            compile("gfx94X-dcgpu", true).unwrap(),
            ["gfx942", "gfx94X-dcgpu"]
        );
        assert_eq!(
            compile("gfx12", true),
            Err("there is no family `gfx12`".to_owned())
        );
        assert!(compile("gfx12", false).is_ok());
    }

    #[test]
    fn an_empty_selection_is_an_error_with_the_names_of_the_run() {
        let options = SelectionOptions {
            includes: vec!["^nothing".to_owned()],
            ..SelectionOptions::default()
        };
        let selection = ArtifactSelection::compile(options, &Compat::embedded()).unwrap();
        let files = [("base_lib_generic.tar.zst".to_owned(), 1)];
        let error = selection
            .select(&files, Location::Argument("run".to_owned()))
            .unwrap_err();
        assert_eq!(
            error.message,
            "none of the 1 artifacts of the run is selected"
        );
        assert_eq!(error.notes, ["the run has base_lib_generic"]);
        let options = SelectionOptions {
            includes: vec!["[".to_owned()],
            excludes: vec!["(".to_owned()],
            ..SelectionOptions::default()
        };
        let errors = ArtifactSelection::compile(options, &Compat::embedded()).unwrap_err();
        let locations: Vec<String> = errors
            .into_iter()
            .map(|error| error.labels[0].location.to_string())
            .collect();
        assert_eq!(locations, ["argument `[`", "argument `--exclude (`"]);
    }
}
