//! A first matrix file, the meaning of a code, and what `check` says without files.

use crate::support::Project;

#[test]
fn init_starts_with_triton_where_there_is_no_project() {
    let project = Project::new();
    let outcome = project.run(&["init"]).exits(0);
    assert_eq!(outcome.stdout, "");
    insta::assert_snapshot!(outcome.stderr, @r"
    there is no pyproject.toml or setup.py in this directory, so this starts with flash-attn and Triton kernels, which build in minutes; `rock-matrix recipe new NAME` starts a package of your own, and `--distribution NAME --set version=VERSION` a package on PyPI
    wrote matrices/flash-attn.yaml
    wrote .github/workflows/wheels.yml
    next: edit matrices/flash-attn.yaml, then `rock-matrix check`, `rock-matrix plan` and
    `rock-matrix render workflow --out .github/workflows/wheels.yml`
    ");
    let checked = project.run(&["render", "workflow", "--check"]).exits(0);
    assert_eq!(
        checked.stderr.lines().last().unwrap(),
        ".github/workflows/wheels.yml is up to date"
    );
    assert_eq!(
        project.files(),
        [".github/workflows/wheels.yml", "matrices/flash-attn.yaml"]
    );
    assert_eq!(
        project.run(&["check"]).exits(0).stderr,
        "1 file, 0 errors, 0 warnings\n"
    );
    let plan = project.run(&["plan", "--format", "json"]).exits(0).json();
    let jobs = plan["jobs"].as_array().unwrap();
    assert_eq!((jobs.len(), &jobs[0]["backend"]), (1, &"triton".into()));
    assert_eq!(
        (&plan["excluded"], &plan["notes"]),
        (&serde_json::json!([]), &serde_json::json!([])),
        "nothing is left out"
    );
    let text = project.read(".github/workflows/wheels.yml");
    assert!(
        text.contains("uses: org/rock-action@") && !text.contains("cargo"),
        "{text}"
    );
    let workflow: serde_json::Value = serde_yaml::from_str(&text).unwrap();
    assert_eq!(
        workflow["on"]["push"]["tags"],
        serde_json::json!(["v*"]),
        "README's tag starts it"
    );
}

/// The project of the folder decides: name, version, module, and torch where it is compiled with
/// it.
#[test]
fn init_starts_from_the_project_in_the_folder() {
    let project = Project::new()
        .file(
            "pyproject.toml",
            "[build-system]\nrequires = [\"setuptools\", \"torch\"]\n\n[project]\nname = \"My.Ops\"\nversion = \"1.2.0\"\n",
        )
        .file("my_ops/__init__.py", "");
    let outcome = project.run(&["init"]).exits(0);
    insta::assert_snapshot!(outcome.stderr, @r"
    pyproject.toml describes my-ops 1.2.0, so this starts with that project: pip builds it (recipe hip-extension), against torch, because its build needs it
    wrote matrices/my-ops.yaml
    wrote .github/workflows/wheels.yml
    next: edit matrices/my-ops.yaml, then `rock-matrix check`, `rock-matrix plan` and
    `rock-matrix render workflow --out .github/workflows/wheels.yml`
    ");
    let matrix: serde_json::Value =
        serde_yaml::from_str(&project.read("matrices/my-ops.yaml")).unwrap();
    assert_eq!(matrix["axes"]["my-ops"], serde_json::json!(["1.2.0"]));
    assert_eq!(
        matrix["vars"],
        serde_json::json!({"source": ".", "module": "my_ops"})
    );
    assert_eq!(
        project.run(&["check"]).exits(0).stderr,
        "1 file, 0 errors, 0 warnings\n"
    );
    let plan = project.run(&["plan", "--format", "json"]).exits(0).json();
    assert_eq!(plan["jobs"].as_array().unwrap().len(), 1);
    let _ = project.run(&["render", "workflow", "--check"]).exits(0);
}

#[test]
fn init_takes_a_setup_py_and_what_is_given() {
    let project = Project::new().file(
        "setup.py",
        "from setuptools import setup\nsetup(name='other', version='3.1')\n",
    );
    let outcome = project.run(&["init"]).exits(0);
    assert!(
        outcome
            .stderr
            .starts_with("setup.py describes other 3.1, so "),
        "{}",
        outcome.stderr
    );
    let outcome = project
        .run(&["init", "--distribution", "mine", "--set", "version=4"])
        .exits(0);
    assert!(
        outcome.stderr.contains("wrote matrices/mine.yaml"),
        "{}",
        outcome.stderr
    );
    let outcome = project.run(&["init", "--recipe", "flash-attn"]).exits(0);
    assert!(
        outcome
            .stderr
            .starts_with("flash-attn, as requested, with Triton kernels, which build in minutes\n"),
        "{}",
        outcome.stderr
    );
}

#[test]
fn init_refuses_projects_it_cannot_start_from() {
    let dynamic = "[project]\nname = \"my-ops\"\ndynamic = [\"version\"]\n";
    let project = Project::new().file("pyproject.toml", dynamic);
    let stderr = project.run(&["init"]).exits(1).stderr;
    insta::assert_snapshot!(stderr, @r"
    error[P090 no-starter]: the version of `my-ops` is computed during the build, so it cannot be read from its files
    help: pass it with `--set version=VERSION`, such as `--set version=1.2`
    ");
    assert!(!project.has("matrices"), "nothing is written");
    let _ = project.run(&["init", "--set", "version=1.2"]).exits(0);
    assert!(project.has("matrices/my-ops.yaml"));
    let stderr = Project::new()
        .run(&["init", "--recipe", "hip-extension"])
        .exits(1)
        .stderr;
    insta::assert_snapshot!(stderr, @r"
    error[P090 no-starter]: there is no pyproject.toml or setup.py in this directory
    help: run it in the project's directory; `rock-matrix recipe new NAME` starts a package of your own, `--distribution NAME --set version=VERSION` a package on PyPI, and no option flash-attn
    ");
    let elsewhere = Project::new()
        .run(&["init", "../own", "--recipe", "hip-extension"])
        .exits(1)
        .stderr;
    let message = "error[P090 no-starter]: there is no pyproject.toml or setup.py in `../own`\n";
    assert!(elsewhere.starts_with(message), "{elsewhere}");
    let stderr = Project::new()
        .run(&["init", "--recipe", "torch-environment"])
        .exits(1)
        .stderr;
    insta::assert_snapshot!(stderr, @r"
    error[P090 no-starter]: the recipe `torch-environment` is a part of other recipes and has no starter matrix
    help: start with a recipe that uses it: apex, torch, torchaudio, torchvision, triton; `rock-matrix recipe show torch-environment` describes it
    ");
    let words = ["init", "--recipe", "hip-extension", "--distribution"];
    let refused = |distribution: &str| {
        let words = [&words[..], &[distribution]].concat();
        Project::new().run(&words).exits(1).stderr
    };
    insta::assert_snapshot!(refused("torch"), @r"
    error[P090 no-starter]: there is no pyproject.toml or setup.py in this directory
    help: run it in the project's directory, or leave out `--recipe hip-extension`: `--distribution torch` starts with the recipe that builds torch from its sources
    ");
    insta::assert_snapshot!(refused("my-kernels==1.2"), @r"
    error[P090 no-starter]: there is no pyproject.toml or setup.py in this directory
    help: run it in the project's directory, or leave out `--recipe hip-extension`: `--distribution my-kernels --set version=VERSION` starts with the package on PyPI, and `rock-matrix recipe new my-kernels` starts a package of your own
    ");
    let stderr = Project::new()
        .run(&["init", "--distribution", "torch==2.10.0"])
        .exits(1)
        .stderr;
    insta::assert_snapshot!(stderr, @r"
    error[P090 no-starter]: the version of torch is set in its matrix file, by `torch-ref`
    help: leave out the version, and edit `torch-ref` in matrices/torch.yaml afterwards
    ");
}

/// Each shipped recipe that builds a distribution has a matrix file to start with, which `--recipe`
/// and `--distribution` select.
#[test]
fn init_starts_from_shipped_recipes() {
    for (recipe, distribution) in [
        ("aotriton", "aotriton"),
        ("apex", "apex"),
        ("ck", "composable-kernel"),
        ("rocm-sdk-packages", "rocm"),
        ("torch", "torch"),
        ("torchaudio", "torchaudio"),
        ("torchvision", "torchvision"),
        ("triton", "triton"),
    ] {
        let project = Project::new();
        let stderr = project.run(&["init", "--recipe", recipe]).exits(0).stderr;
        let path = format!("matrices/{distribution}.yaml");
        let beginning =
            format!("{distribution} with the recipe {recipe}, as requested\nwrote {path}\n");
        assert!(stderr.starts_with(&beginning), "{stderr}");
        assert_eq!(
            project.run(&["check"]).exits(0).stderr,
            "1 file, 0 errors, 0 warnings\n",
            "{recipe}"
        );
        let ids = project.run(&["plan", "--format", "ids"]).exits(0).stdout;
        assert_eq!(ids.lines().count(), 1, "{ids}");
        // The tree of Composable Kernel stays on the machine that builds it.
        assert_eq!(project.has(".github"), recipe != "ck");
        if recipe == "ck" {
            assert!(stderr.ends_with("`rock-matrix build --all`\n"), "{stderr}");
        } else {
            let _ = project.run(&["render", "workflow", "--check"]).exits(0);
        }
        let other = Project::new();
        let _ = other
            .run(&["init", "--distribution", distribution])
            .exits(0);
        assert_eq!(other.read(&path), project.read(&path));
    }
}

/// The recipe that `init` writes builds the source distribution.
#[test]
fn init_starts_from_a_package_on_pypi() {
    let project = Project::new();
    let words = ["init", "--distribution", "my-kernels"];
    let stderr = project.run(&words).exits(1).stderr;
    assert!(
        stderr.starts_with("error[P090 no-starter]") && stderr.contains("--set version=VERSION"),
        "{stderr}"
    );
    assert!(!project.has("matrices"), "nothing is written");
    let words = [&words[..], &["--set", "version=1.2"]].concat();
    let stderr = project.run(&words).exits(0).stderr;
    for file in [
        "matrices/recipes/my-kernels.yaml",
        "matrices/my-kernels.yaml",
        ".github/workflows/wheels.yml",
    ] {
        assert!(stderr.contains(&format!("\nwrote {file}\n")), "{stderr}");
    }
    assert_eq!(
        project.run(&["check"]).exits(0).stderr,
        "1 file, 0 errors, 0 warnings\n"
    );
    let recipe = "matrices/recipes/my-kernels.yaml";
    project.run(&["check", recipe]).exits(0);
    let ids = project.run(&["plan", "--format", "ids"]).exits(0).stdout;
    assert!(ids.starts_with("my-kernels-1.2-rocm"), "{ids}");
    let _ = project.run(&["render", "workflow", "--check"]).exits(0);
    let script = project.run(&["render", "script"]).exits(0).stdout;
    assert!(script.contains("my-kernels==1.2"), "{script}");
    let other = Project::new();
    let _ = other
        .run(&["init", "--distribution", "my-kernels==1.2"])
        .exits(0);
    assert_eq!(other.read(recipe), project.read(recipe));
    let given_twice = "init --distribution my-kernels==1.2 --set version=1.3";
    let given_twice: Vec<&str> = given_twice.split(' ').collect();
    let stderr = other.run(&given_twice).exits(2).stderr;
    assert!(stderr.contains("the version is given twice"), "{stderr}");
    // The recipe is kept and used from now on.
    let stderr = project.run(&words).exits(0).stderr;
    assert!(!stderr.contains("wrote"), "{stderr}");
    let stderr = project
        .run(&["init", "--distribution", "other", "--set", "version=a:b"])
        .exits(1)
        .stderr;
    insta::assert_snapshot!(stderr, @r"
    error[P090 no-starter]: `a:b` is not a version: expected version to start with a number, but no leading ASCII digits were found
    help: pass a release, such as `--set version=1.2`
    ");
}

/// In another directory, `init` uses the recipe there, and does not announce a version that the
/// existing matrix file does not have.
#[test]
fn init_uses_the_recipes_of_another_directory() {
    let project = Project::new();
    let init = |version: &str| {
        let setting = format!("version={version}");
        let words = [
            "init",
            "sub",
            "--distribution",
            "my-kernels",
            "--set",
            setting.as_str(),
        ];
        project.run(&words).exits(0).stderr
    };
    init("1.2");
    insta::assert_snapshot!(init("1.3"), @r"
    kept sub/matrices/my-kernels.yaml, which already exists
    kept sub/.github/workflows/wheels.yml, which already exists
    ");
    std::fs::remove_dir_all(project.path("sub/.github")).unwrap();
    std::fs::remove_file(project.path("sub/matrices/my-kernels.yaml")).unwrap();
    let stderr = init("1.3");
    assert!(
        stderr.starts_with(
            "my-kernels with the recipe my-kernels, as requested\n\
             wrote sub/matrices/my-kernels.yaml\n"
        ),
        "{stderr}"
    );
    let workflow = project.read("sub/.github/workflows/wheels.yml");
    assert!(workflow.contains("matrices/recipes"), "{workflow}");
    assert!(!workflow.contains("sub/"), "{workflow}");
}

#[test]
fn the_name_of_a_recipe_is_no_new_directory() {
    let project = Project::new();
    let stderr = project.run(&["init", "flash-attn"]).exits(1).stderr;
    insta::assert_snapshot!(stderr, @r"
    error[P090 no-starter]: `flash-attn` is the name of a recipe, and there is no directory of this name
    help: `rock-matrix init --recipe flash-attn` starts with it in this directory; `rock-matrix init ./flash-attn` creates the directory
    ");
    let stderr = project.run(&["init", "torch-environment"]).exits(1).stderr;
    assert!(
        stderr.contains("`rock-matrix recipe show torch-environment`"),
        "{stderr}"
    );
    project.run(&["init", "./flash-attn"]).exits(0);
    assert!(project.has("flash-attn/matrices/flash-attn.yaml"));
    let stderr = project.run(&["init", "my-kernels"]).exits(0).stderr;
    assert!(
        stderr.starts_with(
            "`my-kernels` is a new directory; to start a package of your own, run `rock-matrix \
             recipe new my-kernels`, then "
        ),
        "{stderr}"
    );
}

/// The tables are those that commands find in the directory, not those of the working directory.
#[test]
fn init_uses_the_tables_of_its_directory() {
    let broken = "torch: 1\n";
    let project = Project::new()
        .file("matrices/compat/own.yaml", broken)
        .file("repo/matrices/compat/own.yaml", broken);
    let stderr = project.run(&["init", "repo"]).exits(1).stderr;
    assert!(
        stderr.contains("--> repo/matrices/compat/own.yaml:1:8"),
        "{stderr}"
    );
    let _ = project.run(&["init", "new"]).exits(0);
    let workflow = project.read("new/.github/workflows/wheels.yml");
    assert!(!workflow.contains("matrices/compat"), "{workflow}");
}

#[test]
fn init_overwrites_nothing_and_reports_what_it_kept() {
    let project = Project::new().file("repo/matrices/flash-attn.yaml", "mine");
    let outcome = project.run(&["init", "repo"]).exits(0);
    assert!(
        outcome.stderr.contains(
            "kept repo/matrices/flash-attn.yaml, which already exists\ncreate the workflow of your matrix files with"
        ),
        "{}",
        outcome.stderr
    );
    assert!(
        !project.has("repo/.github"),
        "a workflow of another matrix file would be wrong"
    );
    assert_eq!(project.read("repo/matrices/flash-attn.yaml"), "mine");
    let _ = project.run(&["init", "new"]).exits(0);
    let again = project.run(&["init", "new"]).exits(0);
    assert_eq!(
        again
            .stderr
            .lines()
            .filter(|line| line.starts_with("kept "))
            .count(),
        2
    );
    assert!(!again.stderr.contains("wrote"), "{}", again.stderr);
}

#[test]
fn a_plan_has_an_estimate_of_runner_hours() {
    let matrix = "version: 1\ndistribution: flash-attn\nrecipe: flash-attn\naxes:\n  flash-attn: [\"2.8.3\"]\n  python: [\"3.12\"]\n  \
                  torch: [\"2.9.1\"]\n  rocm: [\"6.4\"]\n  backend: [ck, triton]\ngfx: [gfx90a, gfx942]\n";
    let project = Project::new().file("matrices/m.yaml", matrix);
    let note = project.run(&["plan", "--format", "json"]).exits(0).json()["notes"][0].clone();
    let text = note.as_str().unwrap();
    assert!(
        text.starts_with("about ")
            && text.ends_with(
                " runner-hours in total, without 1 job, for which there are no measurements"
            ),
        "{text}"
    );
    let plan = project.run(&["plan"]).exits(0).stdout;
    assert!(plan.contains(&format!("\nnote: {text}\n")), "{plan}");
}

#[test]
fn a_code_is_explained_by_number_by_name_and_as_it_is_printed() {
    let project = Project::new();
    let by_number = project.run(&["explain", "m001"]).exits(0).stdout;
    assert!(
        by_number.starts_with("M001 duplicate-key (error)\n\nA mapping has the same key twice."),
        "{by_number}"
    );
    assert_eq!(
        project.run(&["explain", "duplicate-key"]).exits(0).stdout,
        by_number
    );
    assert_eq!(
        project
            .run(&["explain", "error[M001 duplicate-key]"])
            .exits(0)
            .stdout,
        by_number
    );
    let printed = ["explain", "error[M001", "duplicate-key]:"];
    assert_eq!(project.run(&printed).exits(0).stdout, by_number);
    let both = project.run(&["explain", "M001", "P025"]).exits(0).stdout;
    assert!(
        both.starts_with(&format!("{by_number}\nP025 value-without-job (warning)\n")),
        "{both}"
    );
    let mixed = project.run(&["explain", "M001", "X999"]).exits(2);
    assert_eq!(mixed.stdout, by_number);
    assert!(
        mixed
            .stderr
            .starts_with("error[H022 unknown-code]: there is no code `X999`\n"),
        "{}",
        mixed.stderr
    );
    let all = project.run(&["explain"]).exits(0).stdout;
    assert_eq!(all.lines().count(), rock_matrix::codes::all().count());
}

#[test]
fn an_unknown_code_is_a_wrong_command_line_with_the_nearest_one() {
    let outcome = Project::new().run(&["explain", "duplicate-kye"]).exits(2);
    assert!(
        outcome
            .stderr
            .starts_with("error[H022 unknown-code]: there is no code `duplicate-kye`\n"),
        "{}",
        outcome.stderr
    );
    assert!(
        outcome
            .stderr
            .contains("help: did you mean `duplicate-key`?\n"),
        "{}",
        outcome.stderr
    );
}

#[test]
fn check_without_files_reads_the_directory_matrices() {
    let outcome = Project::new().run(&["check"]).exits(1);
    assert_eq!(
        outcome.stderr,
        "error[M049 no-matrix-file]: there is no matrix file in `matrices/`\nhelp: name one, or create one with `rock-matrix init`\n\n"
    );
}

#[test]
fn check_reads_recipes_too() {
    let recipe = "recipe: 1\nname: mine\nsteps: []\n";
    let project = Project::new().file("mine.yaml", recipe);
    let outcome = project.run(&["check", "mine.yaml"]).exits(1);
    assert!(
        outcome.stderr.contains("--> mine.yaml") && outcome.stderr.contains("no steps"),
        "{}",
        outcome.stderr
    );
}

#[test]
fn check_gives_json_on_stdout() {
    let project = Project::new().file("m.yaml", "version: 1\ndistribution: flash-attn\n");
    let outcome = project
        .run(&["check", "m.yaml", "--format", "json"])
        .exits(1);
    let row: serde_json::Value =
        serde_json::from_str(outcome.stdout.lines().next().unwrap()).unwrap();
    assert_eq!(
        (
            row["name"].as_str(),
            row["file"].as_str(),
            row["line"].as_u64()
        ),
        (Some("no-cells"), Some("m.yaml"), Some(2))
    );
    assert_eq!(outcome.stderr, "1 file, 1 error, 0 warnings\n");
}

#[test]
fn init_takes_a_python_that_the_project_supports() {
    let python = |requires: &str| {
        let text = format!(
            "[project]\nname = \"own\"\nversion = \"1.0\"\nrequires-python = \"{requires}\"\n"
        );
        let project = Project::new().file("pyproject.toml", &text);
        let _ = project.run(&["init"]).exits(0);
        let matrix: serde_json::Value =
            serde_yaml::from_str(&project.read("matrices/own.yaml")).unwrap();
        let _ = project.run(&["check"]).exits(0);
        matrix["axes"]["python"][0].as_str().unwrap().to_owned()
    };
    assert_eq!(
        [">=3.13", ">=3.8", ">=3.8,<3.12"].map(python),
        ["3.13", "3.12", "3.11"]
    );
    let project = Project::new().file(
        "pyproject.toml",
        "[project]\nname = \"own\"\nversion = \"1\"\nrequires-python = \"<3.5\"\n",
    );
    let stderr = project.run(&["init"]).exits(1).stderr;
    assert!(
        stderr.contains("no torch with ROCm wheels for Python <3.5, which the project requires"),
        "{stderr}"
    );
}
