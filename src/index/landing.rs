//! The page a person opens first: every folder with the line that installs from it.

use itertools::Itertools as _;
use serde::Serialize;

use super::escape::Html;
use super::{Folder, Installing, Named, Yanked};
use crate::template::{TemplateError, render};

/// The mark by which a page of ours is known: what `<meta name="generator">` says.
pub const GENERATOR: &str = "rock-matrix index";

#[derive(Serialize)]
struct Page {
    generator: Html,
    folders: Vec<FolderView>,
}

#[derive(Serialize)]
struct FolderView {
    name: Html,
    title: Html,
    why: Html,
    projects: Vec<ProjectView>,
}

#[derive(Serialize)]
struct ProjectView {
    name: Html,
    /// What is written behind `pip install`; empty where another project brings this one along.
    install: Html,
    versions: Vec<Html>,
    requires: Vec<Html>,
}

/// Renders the page for files that are sorted. What is withdrawn is not shown.
pub(super) fn page(files: &[Named<'_>]) -> Result<String, TemplateError> {
    let offered: Vec<&Named<'_>> = files.iter().filter(|(_, file)| file.yanked == Yanked::No).collect();
    let folders = offered.chunk_by(|(_, a), (_, b)| a.folder == b.folder).map(folder).collect();
    render(
        "landing.html",
        include_str!("../../templates/pages/landing.html"),
        &Page { generator: Html::of(GENERATOR), folders },
    )
}

fn folder(files: &[&Named<'_>]) -> FolderView {
    let folder = &files[0].1.folder;
    let ways: Vec<Installing> = files.iter().map(|(_, file)| Installing::of(file)).unique().collect();
    FolderView {
        name: Html::of(&folder.to_string()),
        title: Html::of(&folder.title()),
        why: Html::of(&why(folder, &ways)),
        projects: files.chunk_by(|(a, _), (b, _)| a == b).map(|files| project(files, &ways)).collect(),
    }
}

fn project(files: &[&Named<'_>], ways: &[Installing]) -> ProjectView {
    let (name, file) = files[0];
    let words = Installing::of(file).words(name, ways.iter().copied());
    ProjectView {
        install: Html::of(&words.unwrap_or_default()),
        name: Html::of(&files[0].0),
        versions: unique(files.iter().rev().map(|(_, file)| file.version.as_str())),
        requires: unique(files.iter().flat_map(|(_, file)| file.requires.iter().map(String::as_str))),
    }
}

fn unique<'t>(texts: impl Iterator<Item = &'t str>) -> Vec<Html> {
    texts.unique().map(Html::of).collect()
}

fn why(folder: &Folder, ways: &[Installing]) -> String {
    let of_sdk = "The ROCm SDK is built where it is installed, without isolation, because this index has no setuptools: \
                  install that before. Its packages need each other and nothing else.";
    match (ways.contains(&Installing::Chooses), ways.contains(&Installing::Alone)) {
        (true, false) => of_sdk.to_owned(),
        (true, true) => format!("{} {of_sdk}", why_no_deps(folder)),
        (false, _) => why_no_deps(folder),
    }
}

fn why_no_deps(folder: &Folder) -> String {
    match (folder, folder.torch()) {
        (Folder::Any, _) => "With --no-deps, because this index holds no other projects: install what the files \
                             need from where you always do."
            .to_owned(),
        (_, Some(torch)) => format!(
            "Install torch {torch} for this accelerator first. With --no-deps, because an installer that resolves \
             dependencies would take torch from its default index and replace the one you have by a build without \
             ROCm."
        ),
        (_, None) => "With --no-deps, because an installer that resolves dependencies would take them from its \
                      default index, where a torch comes without ROCm."
            .to_owned(),
    }
}
