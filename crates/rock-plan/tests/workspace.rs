//! Matrix files, recipes, tables and jobs of a directory, without the command line.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "tests create files"
)]

use std::path::{Path, PathBuf};

use rock_compat::Compat;
use rock_diagnostic::{Diagnostic, Diagnostics, ExitClass, SourceText};
use rock_plan::config::AxisOverrides;
use rock_plan::workspace::{
    DataDirectories, JobSelection, ReadyJob, Workspace, WorkspaceOptions, check_docker_arguments,
    check_fact_names,
};
use rock_plan::{JobView, Plan, PlanInputs, write_json};
use rock_sys::{Environment, HostRoots};
use tempfile::TempDir;

const MATRIX: &str = "version: 1
distribution: flash-attn
recipe: flash-attn
axes: {flash-attn: ['2.8.3'], python: ['3.12'], torch: ['2.6.0'], rocm: ['6.2.4'], backend: [ck]}
";

const RECIPE: &str = "recipe: 1
name: mine
version-from: build
steps:
  - {stage: build, argv: [make]}
collect: {wheels: 'dist/*.whl'}
";

/// A recipe, and a matrix file of which one job builds the wheel for two versions of ROCm.
const COLLAPSIBLE: [(&str, &str); 2] = [
    (
        "matrices/recipes/demo.yaml",
        "recipe: 1
name: demo
requires: [rocm]
backends: {hip: {collapsible: [rocm], label: hip}}
steps:
  - {stage: build, argv: [make]}
collect: {wheels: 'dist/*.whl'}
",
    ),
    (
        "m.yaml",
        "version: 1
distribution: demo
recipe: demo
collapse: [rocm]
gfx: [gfx942, gfx950]
exclude: [{python: '3.11'}]
axes: {demo: ['1.0'], python: ['3.11', '3.12'], rocm: ['6.3', '7.0'], backend: [hip]}
",
    ),
];

/// A directory with files, and the data that its workspace is loaded with.
struct Fixture {
    directory: TempDir,
    compat: Compat,
    directories: DataDirectories,
    environment: Environment,
}

impl Fixture {
    fn new(files: &[(&str, &str)]) -> Self {
        let directory = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = directory.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        Self {
            directories: DataDirectories::discover(directory.path()),
            directory,
            compat: Compat::embedded(),
            environment: Environment::default(),
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn argument(&self, name: &str) -> String {
        self.path(name).display().to_string()
    }

    /// The machine is the directory `machine`.
    fn options(&self) -> WorkspaceOptions<'_> {
        let roots = HostRoots {
            machine: self.path("machine"),
            sysfs: None,
        };
        WorkspaceOptions::new(&self.compat, &self.directories, &self.environment)
            .with_host_roots(roots)
    }

    /// Plans `m.yaml`.
    fn plan(&self, overrides: AxisOverrides) -> Result<(Plan, Vec<Diagnostic>), Diagnostics> {
        let options = self.options().with_overrides(overrides);
        let (workspace, _) = Workspace::load(&[self.path("m.yaml")], &options)?;
        workspace.plan(&PlanInputs::default())
    }

    /// Returns the IDs of the jobs of `m.yaml`.
    fn ids(&self, overrides: AxisOverrides) -> Result<Vec<String>, Diagnostics> {
        let (plan, _) = self.plan(overrides)?;
        Ok(plan.jobs().map(JobView::id).collect())
    }

    /// Selects jobs by files of the directory and names.
    fn select(&self, files: &[&str], names: &[&str]) -> Result<JobSelection, Diagnostics> {
        let mut arguments: Vec<String> = files.iter().map(|file| self.argument(file)).collect();
        arguments.extend(names.iter().map(|name| (*name).to_owned()));
        JobSelection::load(&arguments, &self.options()).map(|(selection, _)| selection)
    }
}

fn messages(diagnostics: impl IntoIterator<Item = Diagnostic>) -> Vec<String> {
    diagnostics
        .into_iter()
        .map(|diagnostic| diagnostic.message)
        .collect()
}

/// Returns the reasons for targets that the jobs of a plan do not compile for.
fn dropped_reasons(plan: &Plan) -> Vec<String> {
    let dropped = plan.jobs().flat_map(JobView::dropped_gfx);
    dropped.map(|(_, reason)| reason.reason.clone()).collect()
}

/// Both versions have the same compatibility data.
#[test]
fn a_reason_for_a_dropped_target_names_the_version_of_the_job() {
    let versions = "['fa2:0251105aaaaa', 'fa2:1251105bbbbb']";
    let matrix = MATRIX.replace("['2.8.3']", versions) + "gfx: [gfx942, gfx1030]\n";
    let fixture = Fixture::new(&[("m.yaml", matrix.as_str())]);
    let (plan, _) = fixture.plan(AxisOverrides::default()).unwrap();
    let named: Vec<String> = dropped_reasons(&plan)
        .iter()
        .filter_map(|reason| Some(reason.split_once(" only builds for ")?.0.to_owned()))
        .collect();
    assert_eq!(
        named,
        [
            "flash-attn fa2:0251105aaaaa (ck)",
            "flash-attn fa2:1251105bbbbb (ck)"
        ]
    );
}

#[test]
fn a_reason_for_a_dropped_target_names_the_rocm_of_a_collapsed_job() {
    let fixture = Fixture::new(&COLLAPSIBLE);
    let (plan, _) = fixture.plan(AxisOverrides::default()).unwrap();
    assert_eq!(
        dropped_reasons(&plan),
        ["gfx950 needs ROCm 7.0 or later, not 6.3"]
    );
}

/// No value of a file is wrong because of the targets of the command line: ROCm 6.3 cannot compile
/// for gfx950.
#[test]
fn a_value_that_only_an_override_of_gfx_excludes_is_not_reported() {
    let fixture = Fixture::new(&COLLAPSIBLE);
    let overrides = AxisOverrides::default().with_gfx("gfx950");
    let (plan, warnings) = fixture.plan(overrides).unwrap();
    assert_eq!(plan.job_count(), 1);
    let without_job = warnings.into_iter().filter(|one| one.code.id == "P025");
    assert_eq!(messages(without_job), ["no job has python 3.11"]);
}

#[test]
fn host_values_are_those_of_the_given_machine() {
    let matrix = MATRIX.replace("['6.2.4']", "[host]") + "gfx: [host]\n";
    let node = "machine/sys/class/kfd/kfd/topology/nodes/1";
    let properties = format!("{node}/properties");
    let gpu_id = format!("{node}/gpu_id");
    let files = [
        ("m.yaml", matrix.as_str()),
        ("machine/opt/rocm/.info/version", "6.2.4\n"),
        (gpu_id.as_str(), "51110\n"),
        (
            properties.as_str(),
            "simd_count 304\ngfx_target_version 90402\nvendor_id 4098\n",
        ),
    ];
    let fixture = Fixture::new(&files);
    let selection = fixture.select(&["m.yaml"], &[]).unwrap();
    let [ready] = selection.jobs() else {
        panic!("{:?}", selection.jobs());
    };
    assert_eq!(ready.job.rocm.as_ref().unwrap().to_string(), "6.2.4");
    let gfx: Vec<String> = ready.job.gfx.iter().map(ToString::to_string).collect();
    assert_eq!(gfx, ["gfx942"]);
    let without_gpu = Fixture::new(&files[..2]);
    let errors = without_gpu.ids(AxisOverrides::default()).unwrap_err();
    assert_eq!(errors.exit_class(), ExitClass::Input);
    assert_eq!(
        messages(errors),
        ["`gfx: [host]` selects this machine's GPUs, and it has none"]
    );
}

#[test]
fn overrides_replace_values_of_matrix_files() {
    let fixture = Fixture::new(&[("m.yaml", MATRIX)]);
    let overrides = AxisOverrides::default()
        .with_axis("python", "3.10, 3.11")
        .with_gfx("gfx942");
    assert_eq!(fixture.ids(overrides).unwrap().len(), 2);
}

#[test]
fn an_override_makes_no_entry_idle_or_incomplete() {
    let entries = "gfx: [gfx942]\nexclude: [{python: '3.9', rocm: '6.2.4'}]\n\
        include: [{axes: {python: '3.12'}, set: {gpu: none}}]\n";
    let fixture = Fixture::new(&[("m.yaml", &(MATRIX.to_owned() + entries))]);
    let warnings = |overrides: AxisOverrides| {
        let options = fixture.options().with_overrides(overrides);
        let (_, warnings) = Workspace::load(&[fixture.path("m.yaml")], &options).unwrap();
        messages(warnings)
    };
    let idle = ["no cell has `python: 3.9`, so this entry excludes nothing"];
    assert_eq!(warnings(AxisOverrides::default()), idle);
    let torch = AxisOverrides::default().with_axis("torch", "2.5.1");
    assert_eq!(warnings(torch), idle);
    let python = AxisOverrides::default().with_axis("python", "3.11");
    assert!(warnings(python).is_empty());
}

#[test]
fn an_invalid_override_is_an_error_of_the_command_line() {
    let exit_class = |matrix: &str, gfx: Option<&str>| {
        let fixture = Fixture::new(&[("m.yaml", matrix)]);
        let options =
            fixture
                .options()
                .with_overrides(gfx.map_or_else(AxisOverrides::default, |gfx| {
                    AxisOverrides::default().with_gfx(gfx)
                }));
        Workspace::load(&[fixture.path("m.yaml")], &options)
            .unwrap_err()
            .exit_class()
    };
    assert_eq!(exit_class(MATRIX, Some("gfx94")), ExitClass::Usage);
    let matrix = MATRIX.to_owned() + "gfx: [gfx94]\n";
    assert_eq!(exit_class(&matrix, None), ExitClass::Input);
}

#[test]
fn a_workspace_needs_valid_files_unless_only_valid_ones_are_loaded() {
    let fixture = Fixture::new(&[
        ("m.yaml", &(MATRIX.to_owned() + "gfx: [gfx942]\n")),
        ("broken.yaml", "version: 1\ndistribution: a b\n"),
    ]);
    let files = [fixture.path("m.yaml"), fixture.path("broken.yaml")];
    let errors = Workspace::load(&files, &fixture.options()).unwrap_err();
    assert_eq!(errors.exit_class(), ExitClass::Input);
    let (workspace, sink) = Workspace::load_valid(&files, &fixture.options()).unwrap();
    assert_eq!(messages(sink.finish()), messages(errors));
    assert_eq!((workspace.file_count(), workspace.matrices().len()), (2, 1));
    assert_eq!(workspace.matrices()[0].path(), fixture.argument("m.yaml"));
    let (plan, _) = workspace.plan(&PlanInputs::default()).unwrap();
    assert_eq!(plan.job_count(), 1);
    let source = SourceText::new("broken.yaml", "version: 1\ndistribution: a b\n");
    assert!(Workspace::from_matrix(&source, &[], &fixture.options()).is_err());
}

#[test]
fn jobs_are_selected_by_prefix_and_unknown_names_are_errors_of_the_command_line() {
    let fixture = Fixture::new(&[("m.yaml", &(MATRIX.to_owned() + "gfx: [gfx942]\n"))]);
    let selection = fixture.select(&["m.yaml"], &["flash-attn"]).unwrap();
    assert!(selection.is_by_name() && selection.plan().is_some());
    let id = "flash-attn-2.8.3-rocm6.2.4-torch2.6.0-py3.12-ck";
    assert_eq!(selection.names_hint(), format!("name one of {id}"));
    assert_eq!(selection.into_jobs().len(), 1);
    let errors = fixture.select(&["m.yaml"], &["other"]).unwrap_err();
    assert_eq!(errors.exit_class(), ExitClass::Usage);
    assert_eq!(errors.to_string(), "no job is called `other`");
    let errors = fixture.select(&["none.yaml"], &[]).unwrap_err();
    assert_eq!(errors.exit_class(), ExitClass::Input);
}

#[test]
fn a_recipe_file_serves_matrix_files_and_saved_plans() {
    let matrix = "version: 1\ndistribution: mine\nrecipe: mine\ngfx: [gfx942]\n\
        axes: {python: ['3.12'], rocm: ['7.14.0']}\nunknown: lenient\n\
        torch-from: host\npython-from: host\n";
    let fixture = Fixture::new(&[("m.yaml", matrix), ("mine.yaml", RECIPE)]);
    let selection = fixture.select(&["mine.yaml", "m.yaml"], &[]).unwrap();
    let mut saved = Vec::new();
    write_json(selection.plan().unwrap(), "test", &[], &mut saved).unwrap();
    std::fs::write(fixture.path("plan.json"), saved).unwrap();
    // The plan and the matrix file have the same job.
    let both = fixture.select(&["mine.yaml", "m.yaml", "plan.json"], &[]);
    let recipes: Vec<String> = both
        .unwrap()
        .jobs()
        .iter()
        .map(|ready: &ReadyJob| ready.recipe.name.clone())
        .collect();
    assert_eq!(recipes, ["mine", "mine"]);
    let saved = fixture.select(&["mine.yaml", "plan.json"], &[]).unwrap();
    assert!(saved.plan().is_none());
    assert_eq!(saved.jobs().len(), 1);
    let errors = fixture.select(&["plan.json"], &[]).unwrap_err();
    assert_eq!(messages(errors), ["there is no recipe `mine`"]);
}

#[test]
fn a_recipe_is_planned_without_a_matrix_file() {
    let fixture = Fixture::new(&[]);
    let settings = [
        ("flash-attn", "2.8.3"),
        ("python", "3.12"),
        ("torch", "2.6.0"),
        ("rocm", "6.2.4"),
        ("backend", "ck"),
        ("gfx", "gfx942"),
    ]
    .map(|(name, value)| (name.to_owned(), value.to_owned()));
    let (selection, _) =
        JobSelection::from_recipe("flash-attn", &settings, &fixture.options()).unwrap();
    assert!(!selection.is_by_name());
    assert_eq!(selection.jobs().len(), 1);
    let errors = JobSelection::from_recipe("flash-atn", &[], &fixture.options()).unwrap_err();
    assert_eq!(errors.exit_class(), ExitClass::Usage);
    assert_eq!(
        errors.to_string(),
        "there is no recipe `flash-atn`; did you mean `flash-attn`?"
    );
}

#[test]
fn options_of_jobs_are_checked_against_rules_and_recipes() {
    let fixture = Fixture::new(&[("m.yaml", &(MATRIX.to_owned() + "gfx: [gfx942]\n"))]);
    let selection = fixture.select(&["m.yaml"], &[]).unwrap();
    let facts = [("no-such-fact".to_owned(), "1".to_owned())];
    let errors = check_fact_names(selection.jobs(), &facts).unwrap_err();
    assert_eq!(
        messages(errors),
        ["no recipe of these jobs has a fact `no-such-fact`"]
    );
    assert!(check_fact_names(&[], &facts).is_ok());
    assert!(check_docker_arguments(&["--cpus=4".to_owned()]).is_ok());
    assert!(check_docker_arguments(&["image".to_owned()]).is_err());
}

#[test]
fn directories_next_to_the_matrix_files_overlay_the_built_in_data() {
    let row = "{rocm: '6.4', hip: '6.4.99999', origin: {status: reported, source: own, checked: 2026-11-21}}";
    let table = format!("sources: {{own: our measurements}}\nrocm:\n  - {row}\n");
    let fixture = Fixture::new(&[
        ("matrices/compat/own.yaml", &table),
        ("matrices/recipes/mine.yaml", RECIPE),
    ]);
    assert_eq!(fixture.directories.notes().len(), 2);
    let compat = fixture.directories.load_compat().unwrap().unwrap();
    let (built_in, own) = (&fixture.compat.tables().rocm, &compat.tables().rocm);
    assert_eq!(own.len(), built_in.len());
    let row = own.iter().find(|row| row.rocm == "6.4").unwrap();
    assert_eq!(row.hip, "6.4.99999");
    let (recipes, warnings) = fixture.directories.load_recipes().unwrap();
    assert!(warnings.is_empty());
    assert!(recipes.names().contains(&"mine") && recipes.names().contains(&"torch"));
    // Named directories are used instead. Tables replace all built-in ones, recipes do not.
    let named = DataDirectories::discover(fixture.directory.path())
        .with_compat(fixture.path("matrices/compat"))
        .with_recipes(fixture.path("matrices/recipes"));
    assert_eq!(
        (named.compat_overlay(), named.recipe_overlay()),
        (None, None)
    );
    assert_eq!(
        named.named_compat(),
        Some(&*fixture.path("matrices/compat"))
    );
    assert!(named.notes().is_empty());
    assert_eq!(named.load_compat().unwrap().unwrap().tables().rocm.len(), 1);
    let (recipes, _) = named.load_recipes().unwrap();
    assert!(recipes.names().contains(&"mine") && recipes.names().contains(&"torch"));
    let errors = named.with_recipes(fixture.path("x")).load_recipes();
    assert!(errors.is_err(), "a named directory has recipes");
    let built_in = DataDirectories::default();
    assert!(built_in.load_compat().unwrap().is_none());
}

#[test]
fn an_invalid_row_of_an_overlay_is_reported_at_its_place() {
    let table = "rocm:\n  - {rocm: '9.9', origin: {status: reported, source: third, checked: 2026-11-21}}\n  - {rocm: six, origin: {status: reported, source: third, checked: 2026-11-21}}\n";
    let fixture = Fixture::new(&[("matrices/compat/own.yaml", table)]);
    let errors = fixture.directories.load_compat().unwrap_err();
    let [error] = errors.as_slice() else {
        panic!("{errors:?}");
    };
    assert_eq!(
        error.message,
        "rocm six: it is not a ROCm version such as 6.2 or 6.2.4"
    );
    let text = rock_diagnostic::render::human(std::slice::from_ref(error), false);
    let place = Path::new("matrices/compat/own.yaml:3:6");
    assert!(text.contains(place.to_str().unwrap()), "{text}");
}
