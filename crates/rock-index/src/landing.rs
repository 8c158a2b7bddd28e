//! The landing page for people: every directory of the index with its install commands.

use itertools::Itertools as _;
use serde::Serialize;

use super::escape::HtmlEscaped;
use super::install::{BackendRelease, RuntimeRequirementsLookup, backend_releases};
use super::{IndexFile, IndexFolder, InstallCommand, NormalizedFile, YankStatus};
use rock_compat::{Compat, TorchWheel};
use rock_template::{TemplateError, render};

/// The content of `<meta name="generator">`, by which pages of this program are recognized.
pub const GENERATOR: &str = "rock-matrix index";

#[derive(Serialize)]
struct LandingPage {
    generator: HtmlEscaped,
    folders: Vec<FolderView>,
}

#[derive(Serialize)]
struct FolderView {
    name: HtmlEscaped,
    title: HtmlEscaped,
    why: HtmlEscaped,
    projects: Vec<ProjectView>,
}

#[derive(Serialize)]
struct ProjectView {
    name: HtmlEscaped,
    /// Arguments of `pip install` with only this index; empty if `releases` has the commands, or if
    /// another project requires this one.
    install: HtmlEscaped,
    releases: Vec<BackendReleaseView>,
    versions: Vec<HtmlEscaped>,
    requires: Vec<HtmlEscaped>,
}

#[derive(Serialize)]
struct BackendReleaseView {
    /// Empty if the project has one backend.
    backend: HtmlEscaped,
    requirement: HtmlEscaped,
    /// Empty for a wheel without a torch version.
    torch: HtmlEscaped,
    torch_requirement: HtmlEscaped,
    torch_index: HtmlEscaped,
    needs: HtmlEscaped,
    assignments: Vec<HtmlEscaped>,
}

/// Renders the page for sorted files. Yanked files are left out.
pub(super) fn page(
    files: &[NormalizedFile<'_>],
    compat: &Compat,
    run_time: RuntimeRequirementsLookup,
) -> Result<String, TemplateError> {
    let offered: Vec<&NormalizedFile<'_>> = files
        .iter()
        .filter(|(_, file)| file.yanked == YankStatus::No)
        .collect();
    let folders = offered
        .chunk_by(|(_, a), (_, b)| a.folder == b.folder)
        .map(|files| folder(files, compat, run_time))
        .collect();
    render(
        "landing.html",
        include_str!("../templates/pages/landing.html"),
        &LandingPage {
            generator: HtmlEscaped::of(GENERATOR),
            folders,
        },
    )
}

fn folder(
    files: &[&NormalizedFile<'_>],
    compat: &Compat,
    run_time: RuntimeRequirementsLookup,
) -> FolderView {
    let folder = &files[0].1.folder;
    let kinds: Vec<InstallCommand> = files
        .iter()
        .map(|(_, file)| InstallCommand::of(file))
        .unique()
        .collect();
    FolderView {
        name: HtmlEscaped::of(&folder.to_string()),
        title: HtmlEscaped::of(&folder.title()),
        why: HtmlEscaped::of(&why(folder, &kinds)),
        projects: files
            .chunk_by(|(a, _), (b, _)| a == b)
            .map(|files| project(files, &kinds, compat, run_time))
            .collect(),
    }
}

fn project(
    files: &[&NormalizedFile<'_>],
    kinds: &[InstallCommand],
    compat: &Compat,
    run_time: RuntimeRequirementsLookup,
) -> ProjectView {
    let (name, file) = files[0];
    let own: Vec<&IndexFile> = files.iter().map(|(_, file)| *file).collect();
    let releases = match InstallCommand::of(file) {
        InstallCommand::Alone => backend_releases(name, &own, compat),
        InstallCommand::Chooses | InstallCommand::Chosen => Vec::new(),
    };
    let words = InstallCommand::of(file)
        .words(name, kinds.iter().copied())
        .filter(|_| releases.is_empty());
    let has_backends = releases.len() > 1;
    ProjectView {
        install: HtmlEscaped::of(&words.unwrap_or_default()),
        releases: releases
            .iter()
            .map(|release| view(release, file, has_backends, run_time))
            .collect(),
        name: HtmlEscaped::of(&files[0].0),
        versions: unique(files.iter().rev().map(|(_, file)| file.version.as_str())),
        requires: unique(
            files
                .iter()
                .flat_map(|(_, file)| file.requires.iter().map(String::as_str)),
        ),
    }
}

fn view(
    release: &BackendRelease<'_>,
    file: &IndexFile,
    has_backends: bool,
    run_time: RuntimeRequirementsLookup,
) -> BackendReleaseView {
    let backend = release.backend.as_deref().unwrap_or("default");
    let run_time = release.run_time(run_time);
    let torch = |field: fn(&TorchWheel) -> &String| {
        release.torch.as_ref().map(field).map_or("", String::as_str)
    };
    BackendReleaseView {
        backend: HtmlEscaped::of(if has_backends { backend } else { "" }),
        requirement: HtmlEscaped::of(&release.requirement),
        torch: HtmlEscaped::of(&file.folder.torch().unwrap_or_default()),
        torch_requirement: HtmlEscaped::of(torch(|torch| &torch.requirement)),
        torch_index: HtmlEscaped::of(torch(|torch| &torch.index)),
        needs: HtmlEscaped::of(&run_time.sentence()),
        assignments: run_time
            .assignments()
            .map(|text| HtmlEscaped::of(&text))
            .collect(),
    }
}

fn unique<'t>(texts: impl Iterator<Item = &'t str>) -> Vec<HtmlEscaped> {
    texts.unique().map(HtmlEscaped::of).collect()
}

fn why(folder: &IndexFolder, kinds: &[InstallCommand]) -> String {
    let of_sdk = "The ROCm SDK is built on the machine it is installed on, without build \
                  isolation, because this index has no setuptools: install that first. Its \
                  packages require only each other.";
    match (
        kinds.contains(&InstallCommand::Chooses),
        kinds.contains(&InstallCommand::Alone),
    ) {
        (true, false) => of_sdk.to_owned(),
        (true, true) => format!("{} {of_sdk}", why_these_lines(folder)),
        (false, _) => why_these_lines(folder),
    }
}

fn why_these_lines(folder: &IndexFolder) -> String {
    match (folder, folder.torch()) {
        (IndexFolder::Any, _) => {
            "With --no-deps, because this index has no other projects: install the dependencies \
             from your usual index."
                .to_owned()
        }
        (_, Some(torch)) => format!(
            "An installer keeps an installed torch {torch} and gets other dependencies from its \
             default index. If torch is not installed, it would install one without ROCm from \
             there."
        ),
        (_, None) => "Other dependencies come from the default index of the installer.".to_owned(),
    }
}
