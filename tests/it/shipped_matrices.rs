//! Every job of every shipped matrix file can be built as far as its recipe goes.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use rock_matrix::compat::Compat;
use rock_matrix::config::recipe::{RecipeDocument, RecipeSet};
use rock_matrix::config::{self, Lookups, Platform};
use rock_matrix::diagnostic::{Severity, Sink, SourceText};
use rock_matrix::plan::{self, Job, Plan, PlanInputs};
use rock_matrix::recipe::{self, Build, BuildSite};
use rock_matrix::render::{self, WindowsShell};

/// The matrix files: name and text.
fn files() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("matrices");
    let paths = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_file());
    let name = |path: &Path| format!("matrices/{}", path.file_name().unwrap().to_str().unwrap());
    paths
        .map(|path| (name(&path), std::fs::read_to_string(&path).unwrap()))
        .collect()
}

/// The plan of a file, and its recipe; nothing but notes may be said of it.
fn planned(name: &str, text: &str, compat: &Compat) -> (Plan, Arc<RecipeDocument>) {
    let recipes: Arc<RecipeSet> = RecipeSet::with_shipped([]).into();
    let lookups = Lookups::new(compat, recipes.clone());
    let mut sink = Sink::new();
    let config = config::read(&SourceText::new(name, text), &lookups, &mut sink);
    let Some(config) = config else {
        panic!("{name}: {:?}", sink.finish())
    };
    let document = recipes.whole(&config.recipe).unwrap().unwrap();
    let profile = document.profile(&config.distribution.normalized());
    let plan = plan::plan(
        vec![(config, profile)],
        compat,
        &PlanInputs::default(),
        &mut sink,
    );
    let Some(plan) = plan else {
        panic!("{name}: {:?}", sink.finish())
    };
    let findings = sink.finish();
    assert!(
        findings
            .iter()
            .all(|findings| findings.severity == Severity::Note),
        "{name}: {findings:?}"
    );
    (plan, document)
}

/// What every rendering must hold: each stage once, each with a program, and no expression that is
/// left over.
fn is_complete(job: &Job, document: &RecipeDocument, build: &Build, text: &str) {
    let id = &job.id;
    let stages: Vec<&str> = build.steps.iter().map(|step| step.stage.as_str()).collect();
    assert_eq!(
        stages.iter().collect::<BTreeSet<_>>().len(),
        stages.len(),
        "{id}: {stages:?}"
    );
    for (number, step) in build.steps.iter().enumerate() {
        let stage = &step.stage;
        assert!(
            step.argv.first().is_some_and(|program| !program.is_empty()),
            "{id}: {stage} runs nothing"
        );
        assert!(
            text.contains(&format!("   {}/{} {stage}\n", number + 1, stages.len())),
            "{id}: {stage} is not shown"
        );
        let made = step
            .argv
            .iter()
            .filter(|word| !word.contains('\n'))
            .chain(step.env.values());
        for value in made
            .chain([&step.cwd])
            .chain(step.outputs.iter().map(|output| &output.glob))
        {
            assert!(
                !value.contains("{{") && !value.contains("{%"),
                "{id}: {stage} is given {value}"
            );
        }
    }
    for step in document.steps.iter().filter(|step| step.when.is_none()) {
        assert!(
            stages.contains(&step.stage.as_str()),
            "{id}: {} is missing",
            step.stage
        );
    }
    let leaves_wheels = job.wheels().next().is_some();
    assert_eq!(
        !build.wheels.is_empty(),
        leaves_wheels,
        "{id}: what it leaves is known"
    );
    let leaves_archive = job.archive().or_else(|| job.sdist()).is_some();
    assert_eq!(
        !build.archive.is_empty(),
        leaves_archive,
        "{id}: what it leaves is known"
    );
}

/// Builds a job for each place that it can be built in, and renders all that there is to render.
fn renders(job: &Job, document: &RecipeDocument, compat: &Compat) {
    let is_windows = job.settings.platform == Platform::Windows;
    let sites: &[BuildSite] = if is_windows {
        &[BuildSite::Script]
    } else {
        &[BuildSite::Container, BuildSite::Script]
    };
    for site in sites {
        let build = recipe::build(job, document, compat, site, &BTreeMap::new());
        let build = build.unwrap_or_else(|faults| panic!("{} for {site:?}: {faults:?}", job.id));
        // Tags of flash-attn have no digest.
        let warnings = build
            .warnings
            .iter()
            .filter(|warning| warning.code.name != "unpinned-source")
            .collect::<Vec<_>>();
        assert!(warnings.is_empty(), "{}: {warnings:?}", job.id);
        is_complete(
            job,
            document,
            &build,
            &render::dry_run(job, &build, Err("none"), 0),
        );
        let mut scripts = Vec::new();
        if is_windows {
            for shell in [WindowsShell::PowerShell, WindowsShell::Cmd] {
                let text = render::windows_script(job, &build, "python", shell, compat, "test");
                scripts
                    .push(text.unwrap_or_else(|fault| panic!("{} for {shell:?}: {fault}", job.id)));
            }
        } else {
            scripts.push(render::script(job, &build, site, "test"));
        }
        for step in build
            .steps
            .iter()
            .filter(|step| !(step.host && *site == BuildSite::Container))
        {
            assert!(
                scripts.iter().all(|text| text.contains(&step.stage)),
                "{}: {} is not run",
                job.id,
                step.stage
            );
        }
    }
}

/// The cells that a job stands for: itself, and those with the other Pythons that it covers.
fn cells(job: Job) -> Vec<Job> {
    let Some(pythons) = job.covers.get("python").cloned() else {
        return vec![job];
    };
    let with = |python: String| Job {
        python: Some(python.parse().unwrap()),
        ..job.clone()
    };
    pythons.into_iter().map(with).collect()
}

#[test]
fn every_cell_of_every_shipped_matrix_has_all_its_commands() {
    let compat = Compat::embedded();
    let mut counts = BTreeMap::new();
    for (name, text) in files() {
        let (plan, document) = planned(&name, &text, &compat);
        let cells: Vec<Job> = plan.jobs().flat_map(|view| cells(view.to_job())).collect();
        for cell in &cells {
            renders(cell, &document, &compat);
        }
        counts.insert(name, cells.len());
    }
    assert_eq!(
        counts["matrices/flash-attn.yaml"],
        27 + 12,
        "a job of Triton covers three Pythons"
    );
    assert_eq!(counts["matrices/pytorch.yaml"], 20);
    assert_eq!(
        counts["matrices/rocm-sdk.yaml"], 1,
        "one job makes the packages of all families"
    );
    assert!(counts.values().all(|count| *count > 0), "{counts:?}");
}
