//! Rows about what a build and its wheels run in: variables, attention libraries, tools, known
//! failures.
//!
//! This file is also compiled into the build script, so it uses nothing of the crate but the origin
//! of a row.

use serde::{Deserialize, Serialize};

use super::Provenance;

/// A purpose that programs are run for, with variables of its own.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ProfileRow {
    /// `bench`.
    pub profile: String,
    /// The purpose in words.
    pub about: String,
    /// Words in the name of a recipe's stage that say that it runs for this purpose.
    #[serde(default)]
    pub stages: Vec<String>,
    pub origin: Provenance,
}

/// A variable of one or several profiles.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct VariableRow {
    pub variable: String,
    /// Text with `{rocm}` for the folder of ROCm and `{gfx}` for the targets.
    pub value: String,
    pub profiles: Vec<String>,
    /// Beginnings of gfx targets that need it; empty: all.
    #[serde(default)]
    pub gfx: Vec<String>,
    /// Whether it is a list of folders, and the value goes before what it holds.
    #[serde(default)]
    pub prepend: bool,
    /// What it does.
    pub effect: String,
    pub origin: Provenance,
}

/// Values of a variable that do no harm for a purpose.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct VariableRuleRow {
    pub variable: String,
    /// Profiles it is about; empty: all.
    #[serde(default)]
    pub profiles: Vec<String>,
    pub allowed: Vec<String>,
    /// `warning` or `note`.
    pub severity: String,
    /// What another value does.
    pub reason: String,
    pub origin: Provenance,
}

/// The library that torch's attention uses on some targets.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct AttentionRow {
    /// `aotriton` or `ck`.
    pub library: String,
    /// The library as its makers write it; once is enough.
    #[serde(default)]
    pub title: String,
    pub gfx: Vec<String>,
    /// Versions of torch, `>=2.8`; empty: all.
    #[serde(default)]
    pub torch: String,
    /// What makes torch take it where it is not the first choice, `TORCH_ROCM_FA_PREFER_CK=1`.
    #[serde(default)]
    pub preferred_by: String,
    /// What must be set at run time, `TORCH_ROCM_AOTRITON_ENABLE_EXPERIMENTAL=1`.
    #[serde(default)]
    pub needs: String,
    /// What torch must have been built with, `USE_ROCM_CK_SDPA=1`.
    #[serde(default)]
    pub built_with: String,
    pub reason: String,
    pub origin: Provenance,
}

/// What the output of the validation script should say.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct AttentionExpectRow {
    /// What stands before the colon of the line.
    pub line: String,
    /// Beginnings of gfx targets it is about; empty: all that torch has a library for.
    #[serde(default)]
    pub gfx: Vec<String>,
    /// Texts that are right.
    pub expect: Vec<String>,
    /// Texts that are normal where one of them is part of another answer.
    #[serde(default)]
    pub normal: Vec<String>,
    /// What it means.
    pub reason: String,
    /// What to do about a miss.
    #[serde(default)]
    pub help: String,
    pub origin: Provenance,
}

/// What a tool or a path of a machine must be for builds.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ToolRow {
    /// `ninja`.
    pub tool: String,
    /// `linux` or `windows`.
    pub platform: String,
    /// The oldest version that will do.
    pub least: String,
    pub reason: String,
    pub origin: Provenance,
}

/// What a path must be like.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct PathRow {
    /// `python`, or `folder` for the one that builds are made in.
    pub path: String,
    /// `linux` or `windows`.
    pub platform: String,
    /// Most characters; none: any.
    #[serde(default)]
    pub longest: Option<u32>,
    /// Whether blanks in it do harm.
    #[serde(default)]
    pub no_blanks: bool,
    pub reason: String,
    pub help: String,
    pub origin: Provenance,
}

/// A failure that is known by its words.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct KnownFailureRow {
    /// `aotriton-ccache`.
    pub failure: String,
    /// Texts that all stand in the last lines, or in the command; case does not count.
    pub words: Vec<String>,
    pub reason: String,
    pub help: String,
    pub origin: Provenance,
}
