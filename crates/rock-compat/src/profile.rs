//! Variables of a profile, and what the facts say against a value.

use super::Compat;
use super::rows::{ProfileRow, VariableRow, VariableRuleRow};
use crate::codes::facts as codes;
use rock_diagnostic::{Diagnostic, Severity};
use rock_names::GfxTarget;

/// What is put into the values of a profile.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProfileContext {
    /// The folder of ROCm, absolute.
    pub rocm: Option<String>,
    /// The gfx targets that are meant.
    pub gfx: Vec<GfxTarget>,
}

/// A variable with its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EnvVariable {
    /// `LD_LIBRARY_PATH`.
    pub name: String,
    /// The value; of a list of folders, the folder that goes first.
    pub value: String,
    /// Whether it is a list of folders that keeps what it holds.
    pub prepend: bool,
    /// What it does; empty where no row says.
    pub effect: String,
}

/// A variable without a value, and what is missing for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnsetVariable {
    /// `ROCM_PATH`.
    pub name: String,
    /// `rocm` or `gfx`.
    pub missing: &'static str,
}

/// The variables of a profile, in the order of the facts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProfileVariables {
    /// Those with a value.
    pub set: Vec<EnvVariable>,
    /// Those without.
    pub unset: Vec<UnsetVariable>,
}

impl Compat {
    /// The profile of this name.
    pub fn profile(&self, name: &str) -> Option<&ProfileRow> {
        self.machine_tables()
            .profiles
            .iter()
            .find(|row| row.profile == name)
    }

    /// The profiles that a recipe's stage of this name runs for: those with a word of it,
    /// `bench-attention`.
    pub fn stage_profiles<'a>(&'a self, stage: &str) -> impl Iterator<Item = &'a str> {
        let words: Vec<String> = stage
            .split(|c: char| !c.is_ascii_alphanumeric())
            .map(str::to_lowercase)
            .collect();
        let is_meant = move |row: &&ProfileRow| row.stages.iter().any(|word| words.contains(word));
        self.machine_tables()
            .profiles
            .iter()
            .filter(is_meant)
            .map(|row| row.profile.as_str())
    }

    /// The variables of a profile. Where no targets are named, those that only some targets need
    /// are there too.
    pub fn profile_variables(
        &self,
        profile: &str,
        surroundings: &ProfileContext,
    ) -> ProfileVariables {
        let mut found = ProfileVariables::default();
        let is_of_profile = |row: &&VariableRow| row.profiles.iter().any(|name| name == profile);
        let needs = |row: &&VariableRow| {
            row.gfx.is_empty()
                || surroundings.gfx.is_empty()
                || surroundings
                    .gfx
                    .iter()
                    .any(|t| matches_gfx_prefix(&row.gfx, t))
        };
        for row in self
            .machine_tables()
            .variables
            .iter()
            .filter(is_of_profile)
            .filter(needs)
        {
            match substitute(&row.value, surroundings) {
                Ok(value) => found.set.push(EnvVariable {
                    name: row.variable.clone(),
                    value,
                    prepend: row.prepend,
                    effect: row.effect.clone(),
                }),
                Err(wants) => found.unset.push(UnsetVariable {
                    name: row.variable.clone(),
                    missing: wants,
                }),
            }
        }
        found
    }

    /// What speaks against a value of a variable in one of these profiles, or in general where
    /// there is none.
    pub fn broken_variable_rules<'a>(
        &'a self,
        profiles: &[&str],
        name: &str,
        value: &str,
    ) -> Vec<&'a VariableRuleRow> {
        let concerns = |row: &VariableRuleRow| {
            row.profiles.is_empty() || row.profiles.iter().any(|p| profiles.contains(&p.as_str()))
        };
        let rules = self
            .machine_tables()
            .variable_rules
            .iter()
            .filter(|row| row.variable == name && concerns(row));
        rules
            .filter(|row| !row.allowed.iter().any(|allowed| allowed == value.trim()))
            .collect()
    }
}

/// What is said where a rule speaks against a setting, `AMD_SERIALIZE_KERNEL=1`, of someone such as
/// a profile.
pub fn variable_diagnostic(rule: &VariableRuleRow, who: &str, setting: &str) -> Diagnostic {
    let severity = if rule.severity == "note" {
        Severity::Note
    } else {
        Severity::Warning
    };
    Diagnostic::new(
        &codes::VARIABLE_AGAINST_PROFILE,
        format!("{who} has `{setting}`: {}", rule.reason),
    )
    .severity(severity)
    .help(format!("set it to {}", rule.allowed.join(" or ")))
}

/// Whether a target begins as one of these texts says: `gfx11` and `gfx1151`, whatever its
/// features.
pub fn matches_gfx_prefix(beginnings: &[String], target: &GfxTarget) -> bool {
    beginnings
        .iter()
        .any(|beginning| target.processor().starts_with(beginning.as_str()))
}

/// A value with what is known put into it, or what is missing.
fn substitute(value: &str, surroundings: &ProfileContext) -> Result<String, &'static str> {
    let gfx = surroundings
        .gfx
        .iter()
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join(";");
    let mut text = value.to_owned();
    for (place, word, known) in [
        ("{rocm}", "rocm", surroundings.rocm.as_deref()),
        (
            "{gfx}",
            "gfx",
            Some(gfx.as_str()).filter(|gfx| !gfx.is_empty()),
        ),
    ] {
        if text.contains(place) {
            text = text.replace(place, known.ok_or(word)?);
        }
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::ProfileContext;
    use crate::Compat;

    fn around(rocm: &str, gfx: &str) -> ProfileContext {
        let rocm = (!rocm.is_empty()).then(|| rocm.to_owned());
        ProfileContext {
            rocm,
            gfx: gfx
                .split(' ')
                .filter(|t| !t.is_empty())
                .map(|t| t.parse().unwrap())
                .collect(),
        }
    }

    /// TA11
    #[test]
    fn values_are_relative_to_the_folder_of_rocm_and_left_out_without_it() {
        let compat = Compat::embedded();
        let found = compat.profile_variables("debug", &around("/opt/rocm", "gfx1151 gfx1201"));
        let value = |name: &str| {
            found
                .set
                .iter()
                .find(|v| v.name == name)
                .map(|v| v.value.as_str())
        };
        assert_eq!(value("HIP_CLANG_PATH"), Some("/opt/rocm/lib/llvm/bin"));
        assert_eq!(
            (value("PYTORCH_ROCM_ARCH"), value("AMD_SERIALIZE_KERNEL")),
            (Some("gfx1151;gfx1201"), Some("1"))
        );
        assert!(found.unset.is_empty());
        let found = compat.profile_variables("bench", &around("", ""));
        let wanting = |word| found.unset.iter().filter(|one| one.missing == word).count();
        assert_eq!((wanting("rocm"), wanting("gfx")), (10, 2));
        assert!(
            found
                .set
                .iter()
                .any(|v| v.name == "TORCH_ROCM_AOTRITON_ENABLE_EXPERIMENTAL"),
            "no target is named"
        );
    }

    #[test]
    fn a_variable_for_some_targets_is_there_where_one_of_them_is_meant() {
        let compat = Compat::embedded();
        let has = |gfx: &str| {
            let found = compat.profile_variables("bench", &around("", gfx));
            found
                .set
                .iter()
                .any(|v| v.name == "TORCH_ROCM_AOTRITON_ENABLE_EXPERIMENTAL")
        };
        assert!(has("gfx1151") && has("gfx942 gfx1201") && !has("gfx942") && !has("gfx90a:xnack-"));
    }

    /// TA16
    #[test]
    fn serialized_kernels_are_advised_against_for_benchmarks_only() {
        let compat = Compat::embedded();
        let against = |profiles: &[&str], value: &str| {
            let rows = compat.broken_variable_rules(profiles, "AMD_SERIALIZE_KERNEL", value);
            rows.iter()
                .map(|row| row.severity.clone())
                .collect::<Vec<_>>()
        };
        assert_eq!(against(&["bench"], "1"), ["warning"]);
        assert_eq!(against(&["bench"], "0"), [""; 0]);
        assert_eq!(against(&["debug"], "1"), [""; 0]);
        assert_eq!(against(&[], "3"), ["note"], "torch warns about it");
        assert_eq!(against(&["bench", "bench-ck"], "3"), ["warning", "note"]);
        assert!(
            compat
                .broken_variable_rules(&["bench"], "PATH", "x")
                .is_empty()
        );
    }

    #[test]
    fn a_stage_is_of_a_profile_by_a_whole_word_of_its_name() {
        let compat = Compat::embedded();
        let profiles = |stage: &str| compat.stage_profiles(stage).collect::<Vec<_>>().join(" ");
        assert_eq!(profiles("bench-attention"), "bench bench-ck");
        assert_eq!(profiles("run_benchmark"), "bench bench-ck");
        assert_eq!(profiles("workbench"), "");
    }
}
