//! The repository, ref and patches of each project, with their origins, as the document of
//! `source plan`.

use std::collections::BTreeMap;
use std::path::Path;

use rock_compat::Compat;
use rock_diagnostic::{Diagnostic, Diagnostics, Sink};
use serde::Serialize;

use crate::patch_sets::{self, PatchSetSelection, SelectedPatchSet};
use crate::{
    ExplicitSelection, ProjectQuery, ProjectSelection, ResolvedProject, SourceRef, resolve,
};

/// The resolved sources of projects.
#[derive(Debug, Clone, Serialize)]
pub struct SourcePlan {
    version: u32,
    platform: String,
    preset: Option<String>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    env: BTreeMap<String, String>,
    projects: Vec<PlannedProject>,
}

/// The resolved source of one project.
#[derive(Debug, Clone, Serialize)]
pub struct PlannedProject {
    /// The name of the project, `audio`.
    pub project: String,
    /// The directory of the project, `pytorch_audio`.
    #[serde(rename = "folder")]
    pub directory: String,
    /// The URL of the repository.
    pub origin: PlannedValue,
    /// The branch, tag or commit; unknown if a file of the missing torch checkout will contain it.
    #[serde(rename = "ref")]
    pub reference: PlannedValue,
    /// The patch set; unknown if no patches are applied.
    pub patchset: PlannedValue,
    /// Whether hipify runs.
    pub hipify: bool,
    /// The origin of `hipify`.
    pub hipify_from: String,
    /// The number of parallel fetches.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jobs: Option<u32>,
}

/// A value, if it is known, and its origin.
#[derive(Debug, Clone, Serialize)]
pub struct PlannedValue {
    /// The value.
    pub value: Option<String>,
    /// The origin of the value, or the reason why there is none.
    pub from: String,
}

impl SourcePlan {
    /// Resolves the sources of the named projects, or of all selected ones if there are no names,
    /// and returns them with the warnings about their pins. Patch sets are looked up in
    /// `patch_dir`; without it, the plan has the name of the set that a checkout would look up.
    ///
    /// # Errors
    /// When a project or preset is unknown, or a required pin is missing or invalid.
    pub fn resolve(
        selection: &ProjectSelection,
        names: &[String],
        explicit: &ExplicitSelection,
        patch_dir: Option<&Path>,
        compat: &Compat,
        current_dir: &Path,
    ) -> Result<(Self, Vec<Diagnostic>), Diagnostics> {
        let selected = selection.select(compat, names)?;
        let (files, warnings) = selection.read_pins(compat, &selected, explicit, current_dir)?;
        let mut sink = Sink::new();
        sink.extend(warnings);
        let mut projects = Vec::new();
        for row in &selected.rows {
            let query = ProjectQuery {
                row,
                explicit,
                preset: selected.preset,
                files: &files,
                related_os: &selection.related_os,
            };
            let planned = resolve(&query, compat).and_then(|resolved| {
                let patch_set = plan_patch_set(&resolved.patch_set.value, patch_dir, current_dir)?;
                Ok(PlannedProject::new(resolved, patch_set))
            });
            match planned {
                Ok(planned) => projects.push(planned),
                Err(error) => sink.push(error),
            }
        }
        if sink.has_errors() {
            return Err(sink.finish().into());
        }
        let plan = Self {
            version: 1,
            platform: selection.platform.clone(),
            preset: selected.preset.map(|preset| preset.name.clone()),
            env: selected
                .preset
                .map(|preset| preset.env.clone())
                .unwrap_or_default(),
            projects,
        };
        Ok((plan, sink.finish()))
    }

    /// Returns the projects in build order.
    pub fn projects(&self) -> &[PlannedProject] {
        &self.projects
    }

    /// Returns the environment variables that the preset sets for builds.
    pub fn build_environment(&self) -> &BTreeMap<String, String> {
        &self.env
    }

    /// Returns the plan as JSON.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("a struct of texts and numbers serialises") + "\n"
    }
}

impl PlannedProject {
    fn new(resolved: ResolvedProject, patch_set: PlannedValue) -> Self {
        let reference = match resolved.reference {
            SourceRef::Known(reference) => PlannedValue {
                value: Some(reference.value),
                from: reference.from.to_string(),
            },
            SourceRef::Later(file) => PlannedValue {
                value: None,
                from: format!("torch's {file}, once it is checked out"),
            },
        };
        Self {
            project: resolved.project,
            directory: resolved.directory,
            origin: PlannedValue {
                value: Some(resolved.url.value),
                from: resolved.url.from.to_string(),
            },
            reference,
            patchset: patch_set,
            hipify: resolved.hipify.value,
            hipify_from: resolved.hipify.from.to_string(),
            jobs: resolved.fetch_jobs,
        }
    }
}

/// Returns the patch set: an existing set if a directory of sets is given, or else the name that a
/// checkout looks up.
///
/// # Errors
/// When the name is not valid, or a named set does not exist.
fn plan_patch_set(
    selection: &PatchSetSelection,
    root: Option<&Path>,
    current_dir: &Path,
) -> Result<PlannedValue, Diagnostic> {
    let planned = |value: Option<String>, from: &str| PlannedValue {
        value,
        from: from.to_owned(),
    };
    let Some(root) = root else {
        return Ok(match selection {
            PatchSetSelection::Named(name) => {
                patch_sets::check(name)?;
                planned(Some(name.clone()), "named")
            }
            PatchSetSelection::Fitting(name) => planned(Some(name.clone()), "if it exists"),
            PatchSetSelection::Pinned => planned(None, "the commit is pinned"),
        });
    };
    let directory = current_dir.join(root);
    let found = patch_sets::look_up(selection, &root.display().to_string(), |name| {
        rock_sys::is_directory(&directory.join(name))
    })?;
    Ok(match found {
        SelectedPatchSet::Found(name) => planned(Some(name), &format!("in {}", root.display())),
        SelectedPatchSet::Absent(names) => planned(
            None,
            &format!("{} has none of {}", root.display(), names.join(", ")),
        ),
        SelectedPatchSet::Pinned => planned(None, "the commit is pinned"),
    })
}

#[cfg(test)]
mod tests {
    use super::SourcePlan;
    use crate::{ExplicitSelection, ProjectSelection};
    use rock_compat::Compat;

    #[test]
    fn a_plan_has_the_ref_and_the_patch_set_of_a_project() {
        let compat = Compat::embedded();
        let directory = tempfile::tempdir().unwrap();
        rock_sys::create_directory(&directory.path().join("sets/v2.9.0")).unwrap();
        let explicit = ExplicitSelection {
            reference: Some("v2.9.0-rc1".to_owned()),
            ..ExplicitSelection::default()
        };
        let plan = |patch_dir: Option<&str>| {
            let (plan, warnings) = SourcePlan::resolve(
                &ProjectSelection::new("linux"),
                &["torch".to_owned()],
                &explicit,
                patch_dir.map(std::path::Path::new),
                &compat,
                directory.path(),
            )
            .unwrap();
            assert!(warnings.is_empty());
            let torch = &plan.projects()[0];
            assert_eq!(torch.reference.value.as_deref(), Some("v2.9.0-rc1"));
            assert_eq!(torch.reference.from, "--ref");
            (torch.patchset.value.clone(), torch.patchset.from.clone())
        };
        let value = |name: &str, from: &str| (Some(name.to_owned()), from.to_owned());
        assert_eq!(plan(None), value("v2.9.0-rc1", "if it exists"));
        assert_eq!(plan(Some("sets")), value("v2.9.0", "in sets"));
        let absent = "other has none of v2.9.0-rc1, v2.9.0".to_owned();
        assert_eq!(plan(Some("other")), (None, absent));
    }
}
