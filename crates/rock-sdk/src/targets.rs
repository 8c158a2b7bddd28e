//! Lists of GPU targets and families.

use std::collections::BTreeSet;
use std::path::Path;

use rock_compat::rows::FamilyRow;
use rock_diagnostic::{Diagnostic, Location};

use crate::codes::sdk as codes;
use crate::declared_families;
use crate::limits::MAX_TARGETS_BYTES;

/// A list of GPU targets and families, separated by commas or semicolons.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TargetList {
    /// The option whose value is the list.
    option: &'static str,
    text: String,
}

impl Default for TargetList {
    fn default() -> Self {
        Self::new("")
    }
}

impl TargetList {
    /// Creates a list, the value of `--gfx`.
    pub fn new(text: &str) -> Self {
        Self::of_option("--gfx", text)
    }

    /// Creates a list, the value of another option.
    pub(crate) fn of_option(option: &'static str, text: &str) -> Self {
        Self {
            option,
            text: text.to_owned(),
        }
    }

    /// Returns whether the list has no items.
    pub fn is_empty(&self) -> bool {
        self.words().next().is_none()
    }

    /// Returns the items.
    pub fn words(&self) -> impl Iterator<Item = &str> {
        words(&self.text)
    }

    /// Returns the items without the features of targets.
    pub fn base_targets(&self) -> BTreeSet<String> {
        self.words().map(base_target).map(str::to_owned).collect()
    }

    /// Expands the families of the list to gfx targets, in list order without duplicates.
    ///
    /// # Errors
    /// When an item is unknown.
    pub fn expand(&self, families: &[FamilyRow]) -> Result<Vec<String>, Diagnostic> {
        self.expand_some(families, |_| true)
    }

    /// Expands the items that match a predicate.
    pub(crate) fn expand_some(
        &self,
        families: &[FamilyRow],
        predicate: impl Fn(&str) -> bool,
    ) -> Result<Vec<String>, Diagnostic> {
        let words: Vec<&str> = self.words().filter(|word| predicate(word)).collect();
        expand(&words.join(","), families)
            .map_err(|unknown| self.unknown_families(&unknown, families))
    }

    /// Returns the targets of the whole list under its text.
    ///
    /// # Errors
    /// When the list is empty or an item is unknown.
    pub fn as_family(&self, families: &[FamilyRow]) -> Result<(String, Vec<String>), Diagnostic> {
        if self.is_empty() {
            return Err(self.unknown_families(std::slice::from_ref(&self.text), families));
        }
        Ok((self.text.clone(), self.expand(families)?))
    }

    /// Returns the error for unknown families.
    pub(crate) fn unknown_families(
        &self,
        unknown: &[String],
        families: &[FamilyRow],
    ) -> Diagnostic {
        let known: Vec<&str> = families.iter().map(|row| row.family.as_str()).collect();
        let message = format!("there is no family `{}`", unknown.join("`, `"));
        let argument = format!("{} {}", self.option, self.text);
        Diagnostic::new(&codes::MISSING_TARGETS, message)
            .at(Location::Argument(argument), "")
            .help(format!(
                "known families are {}; their targets are accepted too",
                known.join(", ")
            ))
    }
}

/// Reads the families that `cmake/therock_amdgpu_targets.cmake` of a ROCm/TheRock checkout
/// declares.
///
/// # Errors
/// When the file cannot be read, or declares no targets.
pub fn read_families(path: &Path) -> Result<Vec<FamilyRow>, Diagnostic> {
    let text = rock_sys::read_text(path, MAX_TARGETS_BYTES)?;
    declared_families(&text).map_err(|error| {
        Diagnostic::new(&codes::MISSING_TARGETS, error.to_string())
            .at(Location::File(path.display().to_string().into()), "")
            .help("pass `cmake/therock_amdgpu_targets.cmake` of a ROCm/TheRock checkout")
    })
}

/// Splits a list at commas and semicolons, and skips empty items.
pub fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split([',', ';'])
        .map(str::trim)
        .filter(|word| !word.is_empty())
}

/// Returns the gfx target of a target ID, without its features. Artifacts for `gfx942` and for
/// `gfx942:xnack+` are used together: asking for one includes the other (ROCm/TheRock,
/// `build_tools/fetch_artifacts.py`).
pub fn base_target(word: &str) -> &str {
    word.split(':').next().unwrap_or_default()
}

/// Expands a list of families, separated by commas or semicolons, to gfx targets in list order
/// without duplicates. A gfx target is accepted as a family of one.
///
/// # Errors
/// Returns the unknown items, in list order.
pub fn expand(text: &str, rows: &[FamilyRow]) -> Result<Vec<String>, Vec<String>> {
    let (mut targets, mut unknown): (Vec<String>, Vec<String>) = Default::default();
    for word in words(text).map(base_target) {
        let own = [word.to_owned()];
        let members: &[String] = match rows.iter().find(|row| row.family == word) {
            Some(row) => &row.members,
            None if rows
                .iter()
                .any(|row| row.members.iter().any(|member| member == word)) =>
            {
                &own
            }
            None => {
                unknown.push(word.to_owned());
                continue;
            }
        };
        for member in members {
            if !targets.contains(member) {
                targets.push(member.clone());
            }
        }
    }
    if unknown.is_empty() {
        Ok(targets)
    } else {
        Err(unknown)
    }
}

#[cfg(test)]
mod tests {
    use super::{TargetList, expand};
    use rock_compat::Compat;

    #[test]
    fn an_unknown_family_is_reported_with_its_argument() {
        let compat = Compat::embedded();
        let families = &compat.tables().families;
        let list = TargetList::new("gfx94X-dcgpu;gfx12");
        let error = list.expand(families).unwrap_err();
        assert_eq!(error.message, "there is no family `gfx12`");
        assert_eq!(
            error.labels[0].location.to_string(),
            "argument `--gfx gfx94X-dcgpu;gfx12`"
        );
        assert!(TargetList::new(" ;").as_family(families).is_err());
    }

    #[test]
    fn families_become_their_targets_in_order_and_each_once() {
        let compat = Compat::embedded();
        let of = |words| expand(words, &compat.tables().families);
        assert_eq!(
            of("gfx110X-dgpu; gfx942,gfx94X-dcgpu,"),
            Ok(["gfx1100", "gfx1101", "gfx1102", "gfx942"]
                .map(str::to_owned)
                .to_vec())
        );
        assert_eq!(
            of("gfx120X-dgpu,gfx942,x"),
            Err(vec!["gfx120X-dgpu".to_owned(), "x".to_owned()])
        );
        assert_eq!(
            of("gfx942:xnack+,gfx942,gfx90a:sramecc-:xnack+"),
            Ok(["gfx942", "gfx90a"].map(str::to_owned).to_vec())
        );
        assert_eq!(of(""), Ok(Vec::new()));
    }
}
