//! Rows of tables about the environment of builds and wheels: environment profiles, attention
//! libraries, tools, paths and known failures.

use serde::{Deserialize, Serialize};

use super::Provenance;

/// An environment profile: a purpose with its environment variables.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ProfileRow {
    /// The name, `bench`.
    pub profile: String,
    /// A description of the purpose.
    pub about: String,
    /// Words in the name of a recipe's stage that select the profile.
    #[serde(default)]
    pub stages: Vec<String>,
    /// The provenance of the row.
    pub origin: Provenance,
}

/// An environment variable of one or more profiles.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct VariableRow {
    /// The name, `HIP_PLATFORM`.
    pub variable: String,
    /// The value, with `{rocm}` for the ROCm directory and `{gfx}` for the gfx targets.
    pub value: String,
    /// Profiles that set the variable, at least one.
    pub profiles: Vec<String>,
    /// Prefixes of gfx targets that need it, `gfx11`; empty for all.
    #[serde(default)]
    pub gfx: Vec<String>,
    /// Whether the variable is a search path to which the value is prepended.
    #[serde(default)]
    pub prepend: bool,
    /// The effect, in prose.
    pub effect: String,
    /// The provenance of the row.
    pub origin: Provenance,
}

/// The allowed values of an environment variable in some profiles.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct VariableRuleRow {
    /// The name of the variable.
    pub variable: String,
    /// Profiles to which the rule applies; empty for all.
    #[serde(default)]
    pub profiles: Vec<String>,
    /// Allowed values, at least one.
    pub allowed: Vec<String>,
    /// The severity of the diagnostic for other values, `warning` or `note`.
    pub severity: String,
    /// The effect of other values, in prose.
    pub reason: String,
    /// The provenance of the row.
    pub origin: Provenance,
}

/// The library that torch's attention uses on some gfx targets.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct AttentionRow {
    /// The key of the library, `aotriton` or `ck`.
    pub library: String,
    /// The display name, `AOTriton`; one row per library suffices.
    #[serde(default)]
    pub title: String,
    /// gfx targets, at least one.
    pub gfx: Vec<String>,
    /// A range of torch versions, `>=2.8,<2.9`; empty for all.
    #[serde(default)]
    pub torch: String,
    /// The environment setting that makes torch prefer it, `TORCH_ROCM_FA_PREFER_CK=1`; empty if it
    /// is the default.
    #[serde(default)]
    pub preferred_by: String,
    /// An environment setting that is required at run time,
    /// `TORCH_ROCM_AOTRITON_ENABLE_EXPERIMENTAL=1`; may be empty.
    #[serde(default)]
    pub needs: String,
    /// A setting with which torch must have been built, `USE_ROCM_CK_SDPA=1`; may be empty.
    #[serde(default)]
    pub built_with: String,
    /// The reason that is shown to users.
    pub reason: String,
    /// The provenance of the row.
    pub origin: Provenance,
}

/// The expected output of a line of the attention validation script.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct AttentionExpectRow {
    /// The text before the colon of the line.
    pub line: String,
    /// Prefixes of gfx targets to which the row applies; empty for all with an attention library.
    #[serde(default)]
    pub gfx: Vec<String>,
    /// Correct texts after the colon, at least one.
    pub expect: Vec<String>,
    /// Texts that are acceptable as part of other output.
    #[serde(default)]
    pub normal: Vec<String>,
    /// The meaning of the line.
    pub reason: String,
    /// The action to take if the output differs.
    #[serde(default)]
    pub help: String,
    /// The provenance of the row.
    pub origin: Provenance,
}

/// The minimum version of a build tool.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ToolRow {
    /// The tool, `ninja`.
    pub tool: String,
    /// `linux` or `windows`.
    pub platform: String,
    /// The minimum version, `1.13.1`.
    pub least: String,
    /// The reason that is shown to users.
    pub reason: String,
    /// The provenance of the row.
    pub origin: Provenance,
}

/// Restrictions on a path of a build machine. At least one restriction is set.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct PathRow {
    /// `python` for the interpreter, or `folder` for the build directory.
    pub path: String,
    /// `linux` or `windows`.
    pub platform: String,
    /// Maximum length in characters; `None` for any length.
    #[serde(default)]
    pub longest: Option<u32>,
    /// Whether the path must not contain spaces.
    #[serde(default)]
    pub no_blanks: bool,
    /// The reason that is shown to users.
    pub reason: String,
    /// The action to take.
    pub help: String,
    /// The provenance of the row.
    pub origin: Provenance,
}

/// A build failure that is recognized by its output.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct KnownFailureRow {
    /// The key, `aotriton-ccache`.
    pub failure: String,
    /// Lower-case texts that must all occur in the last output lines, the command or its variables,
    /// ignoring case.
    pub words: Vec<String>,
    /// The cause that is shown to users.
    pub reason: String,
    /// The action to take.
    pub help: String,
    /// The provenance of the row.
    pub origin: Provenance,
}
