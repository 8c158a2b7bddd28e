//! The directories of an index, and how to install from them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use rock_compat::{Compat, InstallCommands};
use rock_index::{IndexFile, IndexFolder, InstallCommand, YankStatus, backend_releases};
use rock_names::percent_encode;
use rock_sys::directory_url;
use serde::Serialize;

/// One directory of an index.
///
/// It serializes without the commands.
#[derive(Debug, Serialize)]
pub struct IndexSummary {
    folder: String,
    /// Whether the commands are printed, because the index is new.
    #[serde(skip)]
    is_new: bool,
    url: String,
    projects: BTreeSet<String>,
    /// The commands that install each project.
    #[serde(skip)]
    install: Vec<InstallCommands>,
}

/// Returns the directories of the index below `root`, in order, with the projects that they list.
/// `is_new` returns whether a directory did not exist before.
pub fn index_summaries<'a>(
    files: impl Iterator<Item = &'a IndexFile>,
    root: &Path,
    is_new: impl Fn(&str) -> bool,
    compat: &Compat,
) -> Vec<IndexSummary> {
    let mut folders: BTreeMap<&IndexFolder, BTreeMap<String, Vec<&IndexFile>>> = BTreeMap::new();
    let offered: Vec<&IndexFile> = files
        .filter(|file| file.yanked == YankStatus::No && file.is_listed())
        .collect();
    for files in offered.chunk_by(|a, b| a.folder == b.folder && a.project == b.project) {
        folders
            .entry(&files[0].folder)
            .or_default()
            .entry(files[0].project.normalized())
            .or_default()
            .extend(files);
    }
    let root = directory_url(root);
    folders
        .into_iter()
        .map(|(folder, projects)| IndexSummary {
            is_new: is_new(&folder.to_string()),
            ..index_summary(folder, &projects, &root, compat)
        })
        .collect()
}

/// Returns the commands that install from the new indexes, if there is anything to install.
pub fn install_text(indexes: &[IndexSummary]) -> String {
    let new = || indexes.iter().filter(|index| index.is_new);
    if new().next().is_none() {
        return String::new();
    }
    let commands = || new().flat_map(|index| &index.install);
    let mut text = "install with:\n".to_owned();
    text.extend(commands().map(|commands| format!("  {}\n", commands.with_torch)));
    let mut from_nothing = commands()
        .filter_map(|commands| commands.from_nothing.as_ref())
        .peekable();
    if from_nothing.peek().is_some() {
        text.push_str("if torch is not installed:\n");
        text.extend(from_nothing.map(|command| format!("  {command}\n")));
    }
    text
}

fn index_summary(
    folder: &IndexFolder,
    projects: &BTreeMap<String, Vec<&IndexFile>>,
    root: &str,
    compat: &Compat,
) -> IndexSummary {
    let url = format!("{root}{}/", percent_encode(folder.to_string()));
    let kinds: Vec<InstallCommand> = projects
        .values()
        .map(|files| InstallCommand::of(files[0]))
        .collect();
    let install = projects
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
            kind => kind
                .words(name, kinds.iter().copied())
                .map(|words| InstallCommands {
                    with_torch: format!("pip install {words} --index-url {url}"),
                    from_nothing: None,
                })
                .into_iter()
                .collect::<Vec<_>>(),
        })
        .collect();
    IndexSummary {
        folder: folder.to_string(),
        is_new: true,
        install,
        url,
        projects: projects.keys().cloned().collect(),
    }
}
