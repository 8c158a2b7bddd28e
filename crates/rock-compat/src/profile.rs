//! Environment profiles: their variables, and the rules that a value breaks.

use super::Compat;
use super::rows::{ProfileRow, VariableRow, VariableRuleRow};
use crate::codes::facts as codes;
use rock_diagnostic::{Diagnostic, Severity};
use rock_names::GfxTarget;

/// The values of placeholders in the variables of a profile.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProfileContext {
    /// The absolute path of the ROCm directory, for `{rocm}`.
    pub rocm: Option<String>,
    /// The selected gfx targets, for `{gfx}`; empty for all.
    pub gfx: Vec<GfxTarget>,
}

/// An environment variable of a profile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EnvVariable {
    /// `LD_LIBRARY_PATH`.
    pub name: String,
    /// The value; for a list of directories, the directory to prepend.
    pub value: String,
    /// Whether the value is prepended to a list of directories instead of replacing it.
    pub prepend: bool,
    /// The effect in words; may be empty.
    pub effect: String,
}

/// A variable that cannot be set, because a placeholder has no value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnsetVariable {
    /// `ROCM_PATH`.
    pub name: String,
    /// The placeholder without a value, `rocm` or `gfx`.
    pub missing: &'static str,
}

/// The variables of an environment profile, in the order of the table.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProfileVariables {
    /// The variables with a value.
    pub set: Vec<EnvVariable>,
    /// The variables that cannot be set.
    pub unset: Vec<UnsetVariable>,
}

impl ProfileVariables {
    /// Sets a variable, or replaces its value.
    pub fn assign(&mut self, name: &str, value: &str) {
        self.unset.retain(|variable| variable.name != name);
        match self.set.iter_mut().find(|variable| variable.name == name) {
            Some(variable) => {
                value.clone_into(&mut variable.value);
                variable.prepend = false;
            }
            None => self.set.push(EnvVariable {
                name: name.to_owned(),
                value: value.to_owned(),
                prepend: false,
                effect: String::new(),
            }),
        }
    }

    /// Returns the names of the variables that cannot be set because a placeholder, `rocm` or
    /// `gfx`, has no value.
    pub fn left_out(&self, placeholder: &str) -> Vec<&str> {
        let missing = self.unset.iter();
        missing
            .filter(|variable| variable.missing == placeholder)
            .map(|variable| variable.name.as_str())
            .collect()
    }

    /// Returns the names of the variables that are lists of directories.
    pub fn directory_lists(&self) -> Vec<&str> {
        let set = self.set.iter();
        set.filter(|variable| variable.prepend)
            .map(|variable| variable.name.as_str())
            .collect()
    }
}

impl Compat {
    /// Returns the names of all profiles, in the order of the table.
    pub fn profile_names(&self) -> Vec<&str> {
        let profiles = self.machine_tables().profiles.iter();
        profiles.map(|row| row.profile.as_str()).collect()
    }

    /// Returns the profile with this name.
    pub fn profile(&self, name: &str) -> Option<&ProfileRow> {
        self.machine_tables()
            .profiles
            .iter()
            .find(|row| row.profile == name)
    }

    /// Returns the names of the profiles of a recipe's stage: those for which the name of the stage
    /// contains a word, `bench` in `bench-attention`.
    pub fn stage_profiles<'a>(&'a self, stage: &str) -> impl Iterator<Item = &'a str> {
        let words: Vec<String> = stage
            .split(|c: char| !c.is_ascii_alphanumeric())
            .map(str::to_lowercase)
            .collect();
        let is_selected =
            move |row: &&ProfileRow| row.stages.iter().any(|word| words.contains(word));
        self.machine_tables()
            .profiles
            .iter()
            .filter(is_selected)
            .map(|row| row.profile.as_str())
    }

    /// Returns the variables of a profile. Without selected targets, variables for some targets are
    /// included.
    pub fn profile_variables(&self, profile: &str, context: &ProfileContext) -> ProfileVariables {
        let mut found = ProfileVariables::default();
        let is_of_profile = |row: &&VariableRow| row.profiles.iter().any(|name| name == profile);
        let needs = |row: &&VariableRow| {
            row.gfx.is_empty()
                || context.gfx.is_empty()
                || context.gfx.iter().any(|t| matches_gfx_prefix(&row.gfx, t))
        };
        for row in self
            .machine_tables()
            .variables
            .iter()
            .filter(is_of_profile)
            .filter(needs)
        {
            match substitute(&row.value, context) {
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

    /// Returns the rules that a value of a variable breaks: rules for all profiles and for these
    /// profiles.
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

/// Returns the diagnostic for a setting that breaks a rule, such as `AMD_SERIALIZE_KERNEL=1`; `who`
/// is its owner, such as a profile.
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

/// Returns whether a target starts with one of these prefixes, as `gfx1151` does with `gfx11`;
/// target features are ignored.
pub fn matches_gfx_prefix(prefixes: &[String], target: &GfxTarget) -> bool {
    prefixes
        .iter()
        .any(|prefix| target.processor().starts_with(prefix.as_str()))
}

/// Replaces the placeholders of a value.
///
/// # Errors
/// The name of a placeholder that has no value.
fn substitute(value: &str, context: &ProfileContext) -> Result<String, &'static str> {
    let gfx = context
        .gfx
        .iter()
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join(";");
    let mut text = value.to_owned();
    for (place, word, known) in [
        ("{rocm}", "rocm", context.rocm.as_deref()),
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

    fn context(rocm: &str, gfx: &str) -> ProfileContext {
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

    #[test]
    fn values_need_the_rocm_directory() {
        let compat = Compat::embedded();
        let found = compat.profile_variables("debug", &context("/opt/rocm", "gfx1151 gfx1201"));
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
        let found = compat.profile_variables("bench", &context("", ""));
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
    fn a_variable_for_some_targets_needs_one_of_them() {
        let compat = Compat::embedded();
        let has = |gfx: &str| {
            let found = compat.profile_variables("bench", &context("", gfx));
            found
                .set
                .iter()
                .any(|v| v.name == "TORCH_ROCM_AOTRITON_ENABLE_EXPERIMENTAL")
        };
        assert!(has("gfx1151") && has("gfx942 gfx1201") && !has("gfx942") && !has("gfx90a:xnack-"));
    }

    #[test]
    fn serialized_kernels_break_a_rule_in_benchmarks() {
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

    #[test]
    fn an_assigned_variable_is_no_longer_left_out() {
        let compat = Compat::embedded();
        let mut variables = compat.profile_variables("run", &ProfileContext::default());
        let left_out: Vec<String> = variables
            .left_out("rocm")
            .into_iter()
            .map(str::to_owned)
            .collect();
        let name = left_out.first().unwrap();
        variables.assign(name, "/opt/rocm");
        variables.assign(name, "/opt/other");
        assert!(!variables.left_out("rocm").contains(&name.as_str()));
        let set: Vec<&str> = variables
            .set
            .iter()
            .filter(|variable| variable.name == *name)
            .map(|variable| variable.value.as_str())
            .collect();
        assert_eq!(set, ["/opt/other"]);
    }
}
