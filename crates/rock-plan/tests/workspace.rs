//! Matrix files, recipes, tables and jobs of a directory, without the command line.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "tests create files"
)]

use std::path::{Path, PathBuf};

use rock_compat::Compat;
use rock_diagnostic::{ExitClass, Sink};
use rock_plan::config::AxisOverrides;
use rock_plan::workspace::{
    DataDirectories, HostProbe, JobLookup, Workspace, WorkspaceData, load_compat,
};
use rock_plan::{JobView, PlanInputs};
use rock_sys::{Environment, HostRoots};
use tempfile::TempDir;

const MATRIX: &str = "version: 1
distribution: flash-attn
recipe: flash-attn
axes: {flash-attn: ['2.8.3'], python: ['3.12'], torch: ['2.6.0'], rocm: ['6.2.4'], backend: [ck]}
";

/// A directory with files, and what a workspace is loaded with.
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
            directories: DataDirectories::default().find_overlays(directory.path()),
            directory,
            compat: Compat::embedded(),
            environment: Environment::default(),
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// The machine is the directory `machine`.
    fn data(&self) -> WorkspaceData<'_> {
        let roots = HostRoots {
            machine: self.path("machine"),
            sysfs: None,
        };
        WorkspaceData {
            compat: &self.compat,
            directories: &self.directories,
            host: HostProbe::with_roots(roots, &self.environment),
        }
    }

    fn ids(&self, overrides: &AxisOverrides) -> Result<Vec<String>, Vec<String>> {
        let mut sink = Sink::new();
        let files = [self.path("m.yaml")];
        let plan = Workspace::load(self.data(), &files, overrides, &mut sink)
            .unwrap()
            .plan(&PlanInputs::default(), &mut sink);
        plan.map(|plan| plan.jobs().map(JobView::id).collect())
            .ok_or_else(|| {
                let errors = sink.finish();
                errors.into_iter().map(|error| error.message).collect()
            })
    }
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
    let lookup = JobLookup::new(fixture.data());
    let words = [fixture.path("m.yaml").display().to_string()];
    let selection = lookup.find(&words).unwrap();
    let [ready] = selection.jobs.as_slice() else {
        panic!("{:?}", selection.jobs);
    };
    assert_eq!(ready.job.rocm.as_ref().unwrap().to_string(), "6.2.4");
    let gfx: Vec<String> = ready.job.gfx.iter().map(ToString::to_string).collect();
    assert_eq!(gfx, ["gfx942"]);
    let without_gpu = Fixture::new(&files[..2]);
    assert_eq!(
        without_gpu.ids(&AxisOverrides::default()).unwrap_err(),
        ["`gfx: [host]` selects this machine's GPUs, and it has none"]
    );
}

#[test]
fn lists_of_the_command_line_replace_values() {
    let fixture = Fixture::new(&[("m.yaml", MATRIX)]);
    let axes = [("python".to_owned(), "3.10, 3.11".to_owned())];
    let overrides = AxisOverrides::from_lists(None, &axes, Some("gfx942"), None);
    assert_eq!(fixture.ids(&overrides).unwrap().len(), 2);
}

#[test]
fn jobs_are_found_by_prefix_and_unknown_names_are_errors_of_the_command_line() {
    let fixture = Fixture::new(&[("m.yaml", &(MATRIX.to_owned() + "gfx: [gfx942]\n"))]);
    let lookup = JobLookup::new(fixture.data());
    let file = fixture.path("m.yaml").display().to_string();
    let selection = lookup
        .find(&[file.clone(), "flash-attn".to_owned()])
        .unwrap();
    assert!(selection.by_name);
    assert_eq!(selection.jobs.len(), 1);
    let errors = lookup.find(&[file, "other".to_owned()]).unwrap_err();
    assert_eq!(errors.exit_class(), ExitClass::Usage);
    assert_eq!(errors.to_string(), "no job is called `other`");
    let missing = fixture.path("none.yaml").display().to_string();
    let errors = lookup.find(&[missing]).unwrap_err();
    assert_eq!(errors.exit_class(), ExitClass::Input);
}

#[test]
fn directories_next_to_the_matrix_files_overlay_the_built_in_data() {
    let row = "{rocm: '6.4', hip: '6.4.99999', origin: {status: reported, source: own, checked: 2026-11-21}}";
    let table = format!("sources: {{own: our measurements}}\nrocm:\n  - {row}\n");
    let recipe = "recipe: 1\nname: mine\nsteps:\n  - {stage: build, argv: [make]}\n";
    let fixture = Fixture::new(&[
        ("matrices/compat/own.yaml", &table),
        ("matrices/recipes/mine.yaml", recipe),
    ]);
    assert_eq!(fixture.directories.notes().len(), 2);
    let compat = load_compat(&fixture.directories).unwrap().unwrap();
    let (built_in, own) = (&fixture.compat.tables().rocm, &compat.tables().rocm);
    assert_eq!(own.len(), built_in.len());
    let row = own.iter().find(|row| row.rocm == "6.4").unwrap();
    assert_eq!(row.hip, "6.4.99999");
    let recipes =
        rock_plan::workspace::load_recipes(&fixture.directories, [], &mut Sink::new()).unwrap();
    assert!(recipes.names().contains(&"mine") && recipes.names().contains(&"torch"));
    // Named directories are used instead.
    let named = DataDirectories::named(Some(fixture.path("x")), Some(fixture.path("y")))
        .find_overlays(fixture.directory.path());
    assert!(named.notes().is_empty());
}

#[test]
fn an_invalid_row_of_an_overlay_is_reported_at_its_place() {
    let table = "rocm:\n  - {rocm: '9.9', origin: {status: reported, source: third, checked: 2026-11-21}}\n  - {rocm: six, origin: {status: reported, source: third, checked: 2026-11-21}}\n";
    let fixture = Fixture::new(&[("matrices/compat/own.yaml", table)]);
    let errors = load_compat(&fixture.directories).unwrap_err();
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
