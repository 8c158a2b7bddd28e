//! Resolution of the options of a checkout into the desired trees.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use rock_compat::Compat;
use rock_diagnostic::{Diagnostic, Diagnostics, Sink};

use crate::checkout;
use crate::codes::sources as codes;
use crate::manifest_checkout::{ManifestCheckout, ManifestTree};
use crate::patch_sets::{self, PatchSetSelection, SelectedPatchSet};
use crate::{
    CheckoutSpec, DiscardPolicy, ExplicitSelection, HipifyMode, PatchSet, ProjectQuery,
    ProjectSelection, SourceRef, resolve,
};

/// Options of a checkout that apply to each of its trees.
///
/// Notes about trees without patches go to the callback `on_note` of its methods.
#[derive(Debug, Clone)]
pub struct CheckoutOptions {
    /// The directory that relative paths are resolved against.
    pub current_dir: PathBuf,
    /// The name of the outer repository's directory in a patch set; `None` for the directory of the
    /// project or tree.
    pub repository_name: Option<String>,
    /// Whether patches are applied.
    pub applies_patches: bool,
    /// The directory of patch sets; `None` for `patches/NAME` with the name of the outer
    /// repository's directory.
    pub patch_dir: Option<PathBuf>,
    /// Whether a missing patch set is a note instead of an error.
    pub allows_missing_patch_set: bool,
    /// Whether hipify runs; `None` for the value of the project.
    pub hipify: Option<bool>,
    /// Whether the changes of hipify are committed.
    pub commits_hipify: bool,
    /// Whether submodules are checked out, recursively.
    pub submodules: bool,
    /// The number of commits of history to fetch; `None` for the full history.
    pub depth: Option<u32>,
    /// The number of parallel fetches; `None` for the number of the project.
    pub jobs: Option<u32>,
    /// The Python interpreter that runs hipify.
    pub python: String,
    /// The user changes that may be discarded.
    pub discard: DiscardPolicy,
}

/// A repository that is not a known project.
#[derive(Debug, Clone)]
pub struct RepositoryCheckout {
    /// The URL or path of the repository.
    pub url: String,
    /// The branch, tag or commit.
    pub reference: String,
    /// The directory of the tree.
    pub directory: PathBuf,
    /// The patch set; `None` for the one that belongs to the ref, if it exists.
    pub patch_set: Option<String>,
}

/// The properties of a tree that do not come from options common to all trees.
struct TreeSource {
    project: Option<String>,
    url: String,
    reference: String,
    name: String,
    directory: PathBuf,
    patch_set: PatchSetSelection,
    hipify: bool,
    jobs: Option<u32>,
}

impl CheckoutOptions {
    /// Creates the default options: patches and submodules, the full history, and no user changes
    /// are discarded.
    pub fn new(current_dir: &Path) -> Self {
        Self {
            current_dir: current_dir.to_owned(),
            repository_name: None,
            applies_patches: true,
            patch_dir: None,
            allows_missing_patch_set: false,
            hipify: None,
            commits_hipify: true,
            submodules: true,
            depth: None,
            jobs: None,
            python: "python3".to_owned(),
            discard: DiscardPolicy::default(),
        }
    }

    /// Returns the desired tree of a project in `directory`, by default the directory of the
    /// project, with the warnings about its pins.
    ///
    /// # Errors
    /// When the project or preset is unknown, a required pin is missing or invalid, or the patches
    /// cannot be read.
    pub fn resolve_project(
        &self,
        project: &str,
        directory: Option<&Path>,
        selection: &ProjectSelection,
        explicit: &ExplicitSelection,
        compat: &Compat,
        on_note: &mut dyn FnMut(&str),
    ) -> Result<(CheckoutSpec, Vec<Diagnostic>), Diagnostics> {
        let selected = selection.select(compat, &[project.to_owned()])?;
        let (files, warnings) =
            selection.read_pins(compat, &selected, explicit, &self.current_dir)?;
        let query = ProjectQuery {
            row: selected.rows.first().expect("one project for one name"),
            explicit,
            preset: selected.preset,
            files: &files,
            related_os: &selection.related_os,
        };
        let spec = project_source(&query, project, directory, compat)
            .map_err(Diagnostics::from)
            .and_then(|source| self.resolve(source, on_note));
        match spec {
            Ok(spec) => Ok((spec, warnings)),
            Err(errors) => Err(warnings
                .into_iter()
                .chain(errors)
                .collect::<Vec<_>>()
                .into()),
        }
    }

    /// Returns the desired tree of a repository that is not a known project.
    ///
    /// # Errors
    /// When the patches cannot be read.
    pub fn resolve_repository(
        &self,
        repository: RepositoryCheckout,
        on_note: &mut dyn FnMut(&str),
    ) -> Result<CheckoutSpec, Diagnostics> {
        let RepositoryCheckout {
            url,
            reference,
            directory,
            patch_set,
        } = repository;
        let name = directory
            .file_name()
            .map(|name| name.to_string_lossy().into_owned())
            .unwrap_or_default();
        let patch_set = patch_set.map_or_else(
            || PatchSetSelection::Fitting(reference.clone()),
            PatchSetSelection::Named,
        );
        let source = TreeSource {
            project: None,
            url,
            reference,
            name,
            directory,
            patch_set,
            hipify: self.hipify.unwrap_or(true),
            jobs: None,
        };
        self.resolve(source, on_note)
    }

    /// Returns the desired trees of a manifest with this name, in build order, torch first.
    ///
    /// # Errors
    /// When the manifest is invalid, lacks a selected project, or has torch at another ref, or the
    /// patches of a tree cannot be read or differ from those in the manifest.
    pub fn resolve_manifest(
        &self,
        manifest: &ManifestCheckout,
        text: &str,
        name: &str,
        compat: &Compat,
        on_note: &mut dyn FnMut(&str),
    ) -> Result<Vec<CheckoutSpec>, Diagnostics> {
        let mut sink = Sink::new();
        let mut specs = Vec::new();
        for tree in manifest.trees(text, name, compat, &mut sink) {
            match self.resolve_tree(tree, on_note) {
                Ok(spec) => specs.push(spec),
                Err(errors) => sink.extend(errors),
            }
        }
        Diagnostics::check(sink.finish())?;
        Ok(specs)
    }

    /// Returns the desired state of a tree of a manifest.
    ///
    /// # Errors
    /// When its patches cannot be read, or differ from those in the manifest.
    fn resolve_tree(
        &self,
        tree: ManifestTree<'_>,
        on_note: &mut dyn FnMut(&str),
    ) -> Result<CheckoutSpec, Diagnostics> {
        let ManifestTree {
            row,
            entry,
            directory,
        } = tree;
        let hipify = self.hipify.filter(|_| !row.hipify_is_fixed);
        let source = TreeSource {
            project: Some(row.project.clone()),
            url: entry.repo,
            reference: entry.commit,
            name: row.folder.clone(),
            directory,
            patch_set: entry
                .patchset
                .map_or(PatchSetSelection::Pinned, PatchSetSelection::Named),
            hipify: hipify.unwrap_or(row.hipify),
            jobs: row.fetch_jobs,
        };
        let spec = self.resolve(source, on_note)?;
        let series = spec.patches.iter().flat_map(|set| &set.series);
        let digests: BTreeMap<String, String> = series
            .flat_map(|series| &series.patches)
            .map(|patch| (patch.path.clone(), patch.digest.to_hex()))
            .collect();
        if !self.applies_patches || digests == entry.patches {
            return Ok(spec);
        }
        let message = format!(
            "the patches of {} differ from those in the manifest",
            row.project
        );
        Err(Diagnostic::new(&codes::OTHER_PATCHES, message)
            .help(
                "pass the directory of the right patches with `--patch-dir`, or apply none with \
                 `--no-patch`",
            )
            .into())
    }

    /// Returns the desired state of a tree.
    ///
    /// # Errors
    /// When its patches cannot be read.
    fn resolve(
        &self,
        source: TreeSource,
        on_note: &mut dyn FnMut(&str),
    ) -> Result<CheckoutSpec, Diagnostics> {
        let name = self.repository_name.clone().unwrap_or(source.name);
        let patches = if self.applies_patches {
            self.read_patches(&source.patch_set, &name, on_note)?
        } else {
            None
        };
        let hipify = match (source.hipify, self.commits_hipify) {
            (false, _) => HipifyMode::Skip,
            (true, true) => HipifyMode::Commit,
            (true, false) => HipifyMode::Leave,
        };
        Ok(CheckoutSpec {
            directory: rock_sys::real_path(&self.current_dir.join(&source.directory)),
            project: source.project,
            origin: absolute_if_path(&source.url, &self.current_dir),
            reference: source.reference,
            name,
            patches,
            hipify,
            submodules: self.submodules,
            depth: self.depth,
            jobs: self.jobs.or(source.jobs),
            python: absolute_if_path(&self.python, &self.current_dir),
            build_environment: BTreeMap::new(),
            discard: self.discard,
        })
    }

    /// Reads the selected patch set, if it exists.
    ///
    /// # Errors
    /// When a named set does not exist, or the set cannot be read.
    fn read_patches(
        &self,
        selection: &PatchSetSelection,
        name: &str,
        on_note: &mut dyn FnMut(&str),
    ) -> Result<Option<PatchSet>, Diagnostics> {
        let root = self
            .patch_dir
            .clone()
            .unwrap_or_else(|| patch_sets::default_root(name));
        let directory = self.current_dir.join(&root);
        let has = |name: &str| {
            rock_sys::read_entries(&directory.join(name)).is_ok_and(|found| !found.is_empty())
        };
        match patch_sets::look_up(selection, &root.display().to_string(), has) {
            Err(error) if self.allows_missing_patch_set && error.code == &codes::NO_PATCH_SET => {
                on_note(&format!("no patches: {}", error.message));
                Ok(None)
            }
            Err(error) => Err(error.into()),
            Ok(SelectedPatchSet::Found(set)) => {
                let set_directory = rock_sys::real_path(&directory.join(&set));
                Ok(Some(checkout::read_set(&set, &set_directory)?))
            }
            Ok(SelectedPatchSet::Absent(names)) if rock_sys::exists(&directory) => {
                on_note(&format!(
                    "no patches: `{}` has none of {}",
                    root.display(),
                    names.join(", ")
                ));
                Ok(None)
            }
            Ok(SelectedPatchSet::Absent(_) | SelectedPatchSet::Pinned) => Ok(None),
        }
    }
}

/// Resolves the source of a project.
///
/// # Errors
/// When a required pin is missing or invalid.
fn project_source(
    query: &ProjectQuery<'_>,
    project: &str,
    directory: Option<&Path>,
    compat: &Compat,
) -> Result<TreeSource, Diagnostic> {
    let found = resolve(query, compat)?;
    let reference = match found.reference {
        SourceRef::Known(reference) => reference.value,
        SourceRef::Later(file) => {
            let message = format!(
                "torch's `{file}` pins the commit of `{project}`, but torch is not checked out"
            );
            return Err(Diagnostic::new(&codes::NO_PIN, message).help(
                "check out torch first and pass its directory with `--torch-dir`, or pass `--ref`",
            ));
        }
    };
    Ok(TreeSource {
        project: Some(found.project),
        url: found.url.value,
        reference,
        directory: directory.map_or_else(|| PathBuf::from(&found.directory), Path::to_owned),
        name: found.directory,
        patch_set: found.patch_set.value,
        hipify: found.hipify.value,
        jobs: found.fetch_jobs,
    })
}

/// Makes the path of an existing file absolute; returns any other text unchanged.
fn absolute_if_path(text: &str, current_dir: &Path) -> String {
    let path = current_dir.join(text);
    let is_name = !text.contains('/') && text != "." && text != "..";
    if text.contains("://") || is_name || !rock_sys::exists(&path) {
        return text.to_owned();
    }
    rock_sys::real_path(&path).display().to_string()
}

#[cfg(test)]
mod tests {
    use super::{CheckoutOptions, RepositoryCheckout};
    use crate::manifest_checkout::ManifestCheckout;
    use crate::{ExplicitSelection, HipifyMode, ProjectSelection};
    use rock_compat::Compat;

    const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";

    #[test]
    fn a_project_is_resolved_to_its_default_tree() {
        let compat = Compat::embedded();
        let directory = tempfile::tempdir().unwrap();
        let options = CheckoutOptions::new(directory.path());
        let explicit = ExplicitSelection {
            reference: Some("v2.9.0".to_owned()),
            ..ExplicitSelection::default()
        };
        let selection = ProjectSelection::new("linux");
        let (spec, warnings) = options
            .resolve_project("torch", None, &selection, &explicit, &compat, &mut |note| {
                panic!("{note}")
            })
            .unwrap();
        assert!(warnings.is_empty());
        assert_eq!(
            spec.directory,
            rock_sys::real_path(&directory.path().join("pytorch"))
        );
        assert_eq!(
            (spec.reference.as_str(), spec.name.as_str()),
            ("v2.9.0", "pytorch")
        );
        assert_eq!((spec.hipify, spec.patches), (HipifyMode::Commit, None));
    }

    /// A patch set that belongs to the ref may be missing; a named one must exist.
    #[test]
    fn a_missing_patch_set_is_a_note_or_an_error() {
        let directory = tempfile::tempdir().unwrap();
        rock_sys::create_directory(&directory.path().join("patches/audio")).unwrap();
        let mut options = CheckoutOptions::new(directory.path());
        let resolve = |options: &CheckoutOptions, patch_set: Option<&str>| {
            let repository = RepositoryCheckout {
                url: "https://example.com/audio".to_owned(),
                reference: "v1-rc1".to_owned(),
                directory: "audio".into(),
                patch_set: patch_set.map(str::to_owned),
            };
            let mut notes = Vec::new();
            options
                .resolve_repository(repository, &mut |note| notes.push(note.to_owned()))
                .map(|_| notes.join("\n"))
                .map_err(|errors| errors.to_string())
        };
        assert_eq!(
            resolve(&options, None),
            Ok("no patches: `patches/audio` has none of v1-rc1, v1".to_owned())
        );
        let missing = "`patches/audio` has no patch set `x`";
        assert_eq!(resolve(&options, Some("x")), Err(missing.to_owned()));
        options.allows_missing_patch_set = true;
        assert_eq!(
            resolve(&options, Some("x")),
            Ok(format!("no patches: {missing}"))
        );
    }

    #[test]
    fn a_manifest_with_other_patches_is_refused() {
        let compat = Compat::embedded();
        let directory = tempfile::tempdir().unwrap();
        let patch = directory
            .path()
            .join("patches/pytorch/main/pytorch/base/0001-x.patch");
        rock_sys::write_atomic(&patch, b"x").unwrap();
        let text = format!(
            "{{\"pytorch\": {{\"repo\": \"r\", \"commit\": \"{COMMIT}\", \"patchset\": \"main\"}}}}"
        );
        let mut options = CheckoutOptions::new(directory.path());
        let resolve = |options: &CheckoutOptions| {
            let manifest = ManifestCheckout::new("linux");
            options
                .resolve_manifest(&manifest, &text, "m.json", &compat, &mut |_| ())
                .map_err(|errors| errors.to_string())
        };
        assert_eq!(
            resolve(&options),
            Err("the patches of torch differ from those in the manifest".to_owned())
        );
        options.applies_patches = false;
        let specs = resolve(&options).unwrap();
        assert_eq!((specs.len(), specs[0].reference.as_str()), (1, COMMIT));
    }
}
