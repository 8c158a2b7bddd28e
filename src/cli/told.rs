//! The report at the end of `publish` and `index build`: the changes, and how to install.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::Serialize;

use super::Format;
use crate::compat::{Compat, InstallCommands};
use crate::diagnostic::render::visible;
use crate::index::{IndexFile, IndexFolder, InstallCommand, YankStatus, backend_releases};
use crate::names::percent_encode;
use crate::publish::{FolderEdit, FolderEdits, INDEX, ReleaseContents};

/// Returns the `file:` URL of a directory, with a slash at its end.
pub(super) fn file_url(folder: &Path) -> String {
    let absolute = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    let parts = absolute.components().filter_map(|part| match part {
        std::path::Component::Normal(name) => Some(percent_encode(name.as_encoded_bytes())),
        _ => None,
    });
    parts.fold("file:///".to_owned(), |url, part| url + &part + "/")
}

/// The report at the end of `publish`.
#[derive(Debug)]
pub(super) struct Told<'a> {
    pub(super) folder: &'a Path,
    pub(super) release: &'a ReleaseContents,
    pub(super) changes: &'a FolderEdits,
    pub(super) dry_run: bool,
    pub(super) compat: &'a Compat,
}

#[derive(Serialize)]
struct Document {
    version: u32,
    release: String,
    dry_run: bool,
    changed: bool,
    added: Vec<String>,
    replaced: Vec<String>,
    removed: Vec<String>,
    same: usize,
    indexes: Vec<IndexDocument>,
}

/// One folder of an index.
#[derive(Debug, Serialize)]
pub(super) struct IndexDocument {
    folder: String,
    url: String,
    projects: BTreeSet<String>,
    /// The commands that install each project.
    #[serde(skip)]
    install: Vec<InstallCommands>,
}

/// Returns the folders of the index below `root`, in order, with the projects that they list.
pub(super) fn indexes<'a>(
    files: impl Iterator<Item = &'a IndexFile>,
    root: &Path,
    compat: &Compat,
) -> Vec<IndexDocument> {
    let mut folders: BTreeMap<&IndexFolder, BTreeMap<String, Vec<&IndexFile>>> = BTreeMap::new();
    for file in files.filter(|file| file.yanked == YankStatus::No && file.is_listed()) {
        folders
            .entry(&file.folder)
            .or_default()
            .entry(file.project.normalized())
            .or_default()
            .push(file);
    }
    let root = file_url(root);
    let document = |(folder, projects): (&IndexFolder, BTreeMap<String, Vec<&IndexFile>>)| {
        let url = format!("{root}{}/", percent_encode(folder.to_string()));
        let kinds: Vec<InstallCommand> = projects
            .values()
            .map(|files| InstallCommand::of(files[0]))
            .collect();
        let lines = projects
            .iter()
            .zip(&kinds)
            .flat_map(|((name, files), kind)| match kind {
                InstallCommand::Alone if *folder != IndexFolder::Any => {
                    backend_releases(name, files, compat)
                        .iter()
                        .map(|release| {
                            InstallCommands::new(
                                &release.requirement,
                                Some(&url),
                                release.torch.as_ref(),
                            )
                        })
                        .collect()
                }
                kind => {
                    let words = kind.words(name, kinds.iter().copied());
                    let line = |words: String| InstallCommands {
                        with_torch: format!("pip install {words} --index-url {url}"),
                        from_nothing: None,
                    };
                    words.map(line).into_iter().collect::<Vec<_>>()
                }
            });
        IndexDocument {
            folder: folder.to_string(),
            install: lines.collect(),
            url,
            projects: projects.keys().cloned().collect(),
        }
    };
    folders.into_iter().map(document).collect()
}

/// Returns the commands that install from the indexes, if there is anything to install.
pub(super) fn install_lines(indexes: &[IndexDocument]) -> String {
    let lines = || indexes.iter().flat_map(|index| &index.install);
    if indexes.is_empty() {
        return String::new();
    }
    let mut text = "install with:\n".to_owned();
    text.extend(lines().map(|lines| format!("  {}\n", lines.with_torch)));
    if lines().any(|lines| lines.from_nothing.is_some()) {
        text.push_str("if torch is not installed:\n");
        text.extend(
            lines().filter_map(|lines| Some(format!("  {}\n", lines.from_nothing.as_ref()?))),
        );
    }
    text
}

impl Told<'_> {
    pub(super) fn text(&self, format: Format) -> String {
        let document = self.document();
        match format {
            Format::Json => {
                let mut text = serde_json::to_string_pretty(&document)
                    .expect("a struct of text and numbers serialises");
                text.push('\n');
                text
            }
            Format::Human => self.human(&document),
        }
    }

    fn document(&self) -> Document {
        let names = |deleted: bool, added: bool| {
            let is = |wanted: &dyn Fn(&String) -> FolderEdit, name: &String| {
                self.changes.steps.contains(&wanted(name))
            };
            let steps = self.changes.steps.iter().filter_map(|step| match step {
                FolderEdit::Delete(name)
                    if deleted && is(&|n| FolderEdit::Add(n.clone()), name) == added =>
                {
                    Some(name.clone())
                }
                FolderEdit::Add(name)
                    if !deleted && !is(&|n| FolderEdit::Delete(n.clone()), name) =>
                {
                    Some(name.clone())
                }
                _ => None,
            });
            steps.collect()
        };
        Document {
            version: 1,
            release: self.folder.display().to_string(),
            dry_run: self.dry_run,
            changed: !self.changes.steps.is_empty(),
            added: names(false, true),
            replaced: names(true, true),
            removed: names(true, false),
            same: self.changes.same.len(),
            indexes: indexes(
                self.release.assets.iter().map(|asset| &asset.file),
                &self.folder.join(INDEX),
                self.compat,
            ),
        }
    }

    fn human(&self, document: &Document) -> String {
        let release = visible(&document.release);
        let mut text = match (document.changed, self.dry_run) {
            (false, _) => format!(
                "{release} is up to date: {} files, nothing written\n",
                document.same
            ),
            (true, true) => format!("{release} would change:\n"),
            (true, false) => format!("published to {release}:\n"),
        };
        let is_asset = |name: &&String| !self.is_generated(name);
        for (sign, names) in [
            ('+', &document.added),
            ('~', &document.replaced),
            ('-', &document.removed),
        ] {
            names
                .iter()
                .filter(is_asset)
                .for_each(|name| text.push_str(&format!("  {sign} {name}\n")));
        }
        let generated = self.changes.steps.iter().filter(|step| {
            let (FolderEdit::Add(name) | FolderEdit::Delete(name)) = step;
            matches!(step, FolderEdit::Add(_)) && self.is_generated(name)
        });
        match generated.count() {
            0 => {}
            count => text.push_str(&format!(
                "  and {count} generated files: checksums, manifest, index\n"
            )),
        }
        text.push_str(&install_lines(&document.indexes));
        text
    }

    fn is_generated(&self, name: &str) -> bool {
        !self.release.assets.iter().any(|asset| asset.name() == name)
            && !Path::new(name)
                .extension()
                .is_some_and(|e| e == "whl" || e == "gz")
    }
}
