//! Recipes that a user brings.

use crate::support::Project;
use crate::support::hostile::{Bounds, bounded};

const MATRIX: &str = "version: 1\ndistribution: mine\nrecipe: mine\naxes: {python: [\"3.12\"], rocm: [\"7.14.0\"]}\nunknown: lenient\n\
    gfx: [gfx942]\ntorch-from: host\npython-from: host\n";
const RECIPE: &str = "recipe: 1\nname: mine\nversion-from: build\nsources: {mine: {path: tree}}\nsteps:\n  - use: rocm-sdk\n  - {stage: \
    build, cwd: src/mine, argv: [make]}\nleaves: tree\n";

fn stages(project: &Project, files: &[&str]) -> Vec<String> {
    let words = [&["render", "recipe"], files, &["--engine", "local"]].concat();
    let stdout = project.run(&words).exits(0).stdout;
    stdout
        .lines()
        .filter_map(|line| line.trim().strip_prefix("- stage: "))
        .map(str::to_owned)
        .collect()
}

/// Each fault is searched for in the file, but only as far as faults are shown.
#[test]
fn sixty_thousand_faults_of_a_recipe_take_seconds() {
    let edits: String = (0..60_000)
        .map(|n| format!("  - {{file: a, find: b, replace: '\\q{n:06}'}}\n"))
        .collect();
    let recipe = format!(
        "recipe: 1\nname: mine\nsteps:\n  - {{stage: build, argv: [make]}}\nedits:\n{edits}collect: {{wheels: \"dist/*.whl\"}}\n"
    );
    let project = Project::new()
        .file("mine.yaml", &recipe)
        .file("m.yaml", "version: 1\n");
    let bounds = Bounds {
        address_mib: 2048,
        peak_mib: 512,
        cpu_s: 30,
    };
    let stderr = bounded(
        &project,
        bounds,
        &["render", "recipe", "mine.yaml", "m.yaml"],
        1,
    )
    .stderr;
    assert!(
        stderr.contains("mine.yaml:6:") && stderr.contains("59002 more diagnostics are not shown"),
        "{stderr}"
    );
}

#[test]
fn a_recipe_beside_the_matrix_file_is_put_together_with_the_shipped_one_that_it_uses() {
    let project = Project::new()
        .file("mine.yaml", RECIPE)
        .file("m.yaml", MATRIX)
        .file("own/mine.yaml", RECIPE);
    let found = stages(&project, &["mine.yaml", "m.yaml"]);
    assert_eq!(
        found,
        [
            "fetch-mine",
            "rocm-cache",
            "rocm",
            "facts-rocm",
            "facts-rocm-2",
            "build",
            "record"
        ]
    );
    assert_eq!(stages(&project, &["m.yaml", "--recipes", "own"]), found);
}

/// minijinja recurses on chains of operators, which took the stack of the process.
#[test]
fn a_chain_of_operators_in_a_recipe_is_refused_with_a_diagnostic() {
    for chain in ["-".repeat(20_000), "not ".repeat(16_000)] {
        let recipe = RECIPE.replace(
            "argv: [make]",
            &format!("argv: [make, \"{{{{ {chain}1 }}}}\"]"),
        );
        let project = Project::new()
            .file("mine.yaml", &recipe)
            .file("m.yaml", MATRIX);
        let stderr = project
            .run(&[
                "render",
                "recipe",
                "mine.yaml",
                "m.yaml",
                "--engine",
                "local",
            ])
            .exits(1)
            .stderr;
        let shown: String = stderr.chars().take(2000).collect();
        assert!(
            stderr.starts_with("error[B")
                && stderr.contains("an expression has more than 150 operators"),
            "{shown}"
        );
    }
}

#[test]
fn what_a_recipe_uses_may_stand_beside_it() {
    let used =
        "recipe: 1\nname: rocm-sdk\nsteps:\n  - {stage: rocm, argv: [\"true\"]}\nleaves: tree\n";
    let project = Project::new()
        .file("mine.yaml", RECIPE)
        .file("rocm-sdk.yaml", used)
        .file("m.yaml", MATRIX);
    assert_eq!(
        stages(&project, &["mine.yaml", "rocm-sdk.yaml", "m.yaml"]),
        ["fetch-mine", "rocm", "build"]
    );
}

#[test]
fn a_shipped_recipe_that_does_not_fit_its_uses_is_reported() {
    // `torch-environment` has facts that are asked beside the stage `rocm`.
    let used =
        "recipe: 1\nname: rocm-sdk\nsteps:\n  - {stage: sdk, argv: [\"true\"]}\nleaves: tree\n";
    let matrix = MATRIX.replace("mine", "torchaudio");
    let project = Project::new()
        .file("rocm-sdk.yaml", used)
        .file("m.yaml", &matrix);
    let stderr = project
        .run(&["check", "rocm-sdk.yaml", "m.yaml"])
        .exits(1)
        .stderr;
    assert!(
        stderr.contains("refers to `rocm`, which is not a stage"),
        "{stderr}"
    );
}

#[test]
fn programs_beside_the_jobs_own_python_come_before_those_of_the_machine() {
    let matrix = MATRIX.replace("python-from: host", "python-from: uv");
    let project = Project::new()
        .file("mine.yaml", RECIPE)
        .file("m.yaml", &matrix);
    let stdout = project
        .run(&[
            "render",
            "recipe",
            "mine.yaml",
            "m.yaml",
            "--engine",
            "local",
        ])
        .exits(0)
        .stdout;
    let build = stdout.split("stage: build\n").nth(1).unwrap();
    assert!(
        build.contains("prepend: '${ROCK_FACT_sdk_bin}:${ROCK_FOLDER}/venv/bin'"),
        "{build}"
    );
}

#[test]
fn a_branch_that_is_not_the_default_one_is_checked_out() {
    let project = Project::new()
        .file("upstream/word", "main\n")
        .file("m.yaml", MATRIX);
    let git = |words: &[&str]| {
        let mut git = std::process::Command::new("git");
        let as_somebody = ["-c", "user.name=x", "-c", "user.email=x@example.org"];
        assert!(
            git.current_dir(project.path("upstream"))
                .args(as_somebody)
                .args(words)
                .status()
                .unwrap()
                .success()
        );
    };
    git(&["init", "--quiet", "--initial-branch=main"]);
    git(&["add", "--all"]);
    git(&["commit", "--quiet", "--message", "one"]);
    git(&["checkout", "--quiet", "-b", "other"]);
    std::fs::write(project.path("upstream/word"), "other\n").unwrap();
    git(&["commit", "--quiet", "--all", "--message", "two"]);
    git(&["checkout", "--quiet", "main"]);
    let recipe = format!(
        "recipe: 1\nname: mine\nversion-from: build\nleaves: tree\nsources:\n  mine: {{git: \"{}\", ref: other}}\nsteps:\n  - {{stage: build, \
         argv: [grep, other, src/mine/word]}}\n",
        project.path("upstream").display()
    );
    let project = project.file("mine.yaml", &recipe);
    project
        .run(&[
            "build",
            "--all",
            "--matrix",
            "m.yaml",
            "--matrix",
            "mine.yaml",
        ])
        .exits(0);
}

#[test]
fn one_folder_of_a_repository_is_checked_out_alone() {
    let project = Project::new()
        .file("upstream/top", "")
        .file("upstream/projects/mine/deep/word", "")
        .file("upstream/projects/other/word", "")
        .file("m.yaml", MATRIX);
    let git = |words: &[&str]| {
        let mut git = std::process::Command::new("git");
        let as_somebody = ["-c", "user.name=x", "-c", "user.email=x@example.org"];
        let output = git
            .current_dir(project.path("upstream"))
            .args(as_somebody)
            .args(words)
            .output()
            .unwrap();
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    };
    git(&["init", "--quiet", "--initial-branch=main"]);
    git(&["add", "--all"]);
    git(&["commit", "--quiet", "--message", "one"]);
    let (commit, upstream) = (
        git(&["rev-parse", "HEAD"]),
        project.path("upstream").display().to_string(),
    );
    let recipe = |folder: &str, reference: &str| {
        format!(
            "recipe: 1\nname: mine\nversion-from: build\nleaves: tree\nsources:\n  mine: {{git: \"{upstream}\", ref: {reference}, \
             sparse: \"{folder}\"}}\nsteps:\n  - {{stage: build, shell: bash, script: \"cd src/mine && find . -type f -not -path './.git/*' | \
             sort >../../found\"}}\n"
        )
    };
    let project = project.file("mine.yaml", &recipe("projects/mine", "main"));
    for reference in ["main", &commit] {
        std::fs::write(
            project.path("mine.yaml"),
            recipe("projects/mine", reference),
        )
        .unwrap();
        project
            .run(&[
                "build",
                "--all",
                "--matrix",
                "m.yaml",
                "--matrix",
                "mine.yaml",
            ])
            .exits(0);
        let found = project
            .files()
            .into_iter()
            .find(|file| file.ends_with("/found"))
            .unwrap();
        assert_eq!(
            project.read(&found),
            "./projects/mine/deep/word\n./top\n",
            "{reference}"
        );
    }
    for folder in ["../other", "/etc", "--stdin"] {
        std::fs::write(project.path("mine.yaml"), recipe(folder, "main")).unwrap();
        let stderr = project
            .run(&["check", "mine.yaml", "m.yaml"])
            .exits(1)
            .stderr;
        assert!(
            stderr.contains(&format!("`{folder}` is not a valid folder in a repository")),
            "{stderr}"
        );
    }
}

#[test]
fn keys_of_another_kind_of_source_are_refused() {
    let recipe = |keys: &str| {
        format!(
            "recipe: 1\nname: mine\nversion-from: build\nsources: {{mine: {{{keys}}}}}\nsteps:\n  - {{stage: build, argv: [make]}}\nleaves: tree\n"
        )
    };
    for (keys, reason) in [
        (
            "path: tree, sparse: folder",
            "source `mine`: `sparse` only has an effect with `git`",
        ),
        (
            "sdist: \"mine==1\", submodules: true",
            "source `mine`: `submodules` only has an effect with `git`",
        ),
        (
            "path: tree, checkout: [--no-hipify]",
            "source `mine`: `checkout` only has an effect with `project`",
        ),
    ] {
        let project = Project::new()
            .file("mine.yaml", &recipe(keys))
            .file("m.yaml", MATRIX);
        let stderr = project
            .run(&["check", "mine.yaml", "m.yaml"])
            .exits(1)
            .stderr;
        assert!(
            stderr.contains(reason) && stderr.contains("help: remove it"),
            "{stderr}"
        );
    }
}

#[test]
fn the_example_of_a_new_package_is_two_yaml_files() {
    let project = Project::new()
        .file(
            "xerv-crayon.yaml",
            include_str!("../../examples/new-package/xerv-crayon.yaml"),
        )
        .file(
            "matrix.yaml",
            include_str!("../../examples/new-package/matrix.yaml"),
        );
    project
        .run(&["check", "xerv-crayon.yaml", "matrix.yaml"])
        .exits(0);
    let planned = project
        .run(&["plan", "xerv-crayon.yaml", "matrix.yaml"])
        .exits(0)
        .stdout;
    assert!(
        planned.contains("xerv_crayon-5.7.16+rocm52-cp311-cp311-linux_x86_64.whl  gfx90a gfx1030"),
        "{planned}"
    );
    let rendered = project
        .run(&[
            "render",
            "recipe",
            "xerv-crayon.yaml",
            "matrix.yaml",
            "--engine",
            "local",
        ])
        .exits(0);
    assert!(
        rendered.stdout.contains("--offload-arch=gfx90a"),
        "{}",
        rendered.stdout
    );
}

/// What a value has that Python's `re` would take for a group or a character stays as it is.
#[test]
fn values_in_replacements_of_edits_are_literal() {
    let recipe = "recipe: 1\nname: mine\nversion-from: build\nleaves: tree\nvars: {value: '\\1\\n\\x41\\'}\nsources: {mine: {path: tree}}\nedits:\n  \
                  - {file: src/mine/a.txt, find: '(o)(?P<rest>l)d(x)?', replace: '\\1{{ vars.value }}0\\g<rest>\\t\\g<0>\\3\\n\\\\'}\nsteps:\n  \
                  - {stage: build, argv: [cp, src/mine/a.txt, result]}\n";
    let project = Project::new()
        .file("mine.yaml", recipe)
        .file("m.yaml", MATRIX)
        .file("tree/a.txt", "an old\n");
    project
        .run(&[
            "build",
            "--all",
            "--matrix",
            "m.yaml",
            "--matrix",
            "mine.yaml",
        ])
        .exits(0);
    let files = project.files();
    let edited = files
        .iter()
        .find(|file| file.ends_with("src/mine/a.txt"))
        .unwrap();
    assert_eq!(project.read(edited), "an o\\1\\n\\x41\\0l\told\n\\\n");
}

#[test]
fn replacements_of_edits_with_other_escapes_are_refused() {
    let recipe = |replace: &str| {
        format!(
            "recipe: 1\nname: mine\nversion-from: build\nsources: {{mine: {{path: tree}}}}\nedits:\n  - file: src/mine/a.txt\n    find: old\n    replace: '{replace}'\nsteps:\n  - {{stage: build, argv: [make]}}\nleaves: tree\n"
        )
    };
    let mut errors = String::new();
    for replace in [r"\x41", r"a\d", r"\0", r"\123", r"\{{ vars.value }}"] {
        let project = Project::new()
            .file("mine.yaml", &recipe(replace))
            .file("m.yaml", MATRIX);
        let stderr = project
            .run(&["check", "mine.yaml", "m.yaml"])
            .exits(1)
            .stderr;
        errors.extend(
            stderr
                .split("\n\n")
                .filter(|one| one.starts_with("error[B080"))
                .map(|one| format!("{one}\n\n")),
        );
    }
    insta::assert_snapshot!(errors, @r"
    error[B080 bad-replacement]: `\x` is not a supported escape in a replacement
     --> mine.yaml:8:15
      |
    8 |     replace: '\x41'
      |               ^^^^
      |
    help: write `\\` for a backslash; the supported escapes are `\1`, `\g<N>`, `\n` and `\t`

    error[B080 bad-replacement]: `\d` is not a supported escape in a replacement
     --> mine.yaml:8:15
      |
    8 |     replace: 'a\d'
      |               ^^^
      |
    help: write `\\` for a backslash; the supported escapes are `\1`, `\g<N>`, `\n` and `\t`

    error[B080 bad-replacement]: `\0` is not a supported escape in a replacement
     --> mine.yaml:8:15
      |
    8 |     replace: '\0'
      |               ^^
      |
    help: write `\\` for a backslash; the supported escapes are `\1`, `\g<N>`, `\n` and `\t`

    error[B080 bad-replacement]: `\1` is not a supported escape in a replacement
     --> mine.yaml:8:15
      |
    8 |     replace: '\123'
      |               ^^^^
      |
    help: write `\\` for a backslash; the supported escapes are `\1`, `\g<N>`, `\n` and `\t`

    error[B080 bad-replacement]: `\` is not a supported escape in a replacement
     --> mine.yaml:8:15
      |
    8 |     replace: '\{{ vars.value }}'
      |               ^^^^^^^^^^^^^^^^^
      |
    help: write `\\` for a backslash; the supported escapes are `\1`, `\g<N>`, `\n` and `\t`
    ");
}

/// A recipe that cannot guess says so before anything is built.
#[test]
fn a_variable_that_the_recipe_requires_is_missed_by_check() {
    let matrix = "version: 1\ndistribution: ext\nrecipe: hip-extension\naxes: {ext: [\"1.0\"], python: [\"3.11\"], rocm: [\"6.2\"]}\n\
        gfx: [gfx90a]\ntorch-from: host\npython-from: host\n";
    let project = Project::new()
        .file("m.yaml", matrix)
        .file("project/setup.py", "");
    insta::assert_snapshot!(project.run(&["check", "m.yaml"]).exits(1).stderr, @r"
    error[P070 missing-variable]: the recipe `hip-extension` needs the variable `source`, which is not set
     --> m.yaml:3:9
      |
    3 | recipe: hip-extension
      |         ^^^^^^^^^^^^^
      |
    help: set `source` under `vars`; `rock-matrix recipe show hip-extension` describes it

    1 file, 1 error, 0 warnings
    ");
    // The help works.
    project.run(&["recipe", "show", "hip-extension"]).exits(0);
    let with = |more: &str| {
        std::fs::write(project.path("m.yaml"), format!("{matrix}{more}")).unwrap();
        project.run(&["check", "m.yaml"])
    };
    with("vars: {source: project}\n").exits(0);
    with("include: [{axes: {python: \"3.11\"}, set: {vars: {source: project}}}]\n").exits(0);
    let rows =
        "rows:\n  - {ext: \"1.0\", python: \"3.12\", rocm: \"6.2\", vars: {source: project}}\n";
    let stderr = with(rows).exits(1).stderr;
    assert!(
        stderr.contains("1 of 2 jobs do not have it, such as `ext-1.0-rocm6.2-py3.11`"),
        "{stderr}"
    );
}

#[test]
fn a_recipe_of_ones_own_requires_variables_too() {
    let recipe = "# Builds mine.\nrecipe: 1\nname: mine\nversion-from: build\nrequired-vars: [tree, other]\nvars:\n  # Where it is.\n  tree: here\nsteps:\n  - {stage: build, argv: [make]}\nleaves: tree\n";
    let project = Project::new().file("own/mine.yaml", recipe);
    insta::assert_snapshot!(project.run(&["recipe", "show", "mine", "--recipes", "own"]).exits(1).stderr, @r"
    error[B001 bad-recipe]: the required variable `tree` has the default `here`
     --> own/mine.yaml:5:17
      |
    5 | required-vars: [tree, other]
      |                 ^^^^
      |
    help: remove the default, or remove the variable from `required-vars`

    error[B001 bad-recipe]: the required variable `other` is not in `vars`
     --> own/mine.yaml:5:23
      |
    5 | required-vars: [tree, other]
      |                       ^^^^^
      |
    help: add it to `vars` with an empty value, and describe it in a comment above
    ");
}

#[test]
fn variables_of_a_recipe_are_shown_with_meaning_and_default() {
    let recipe = "# Builds mine. With care.\nrecipe: 1\nname: mine\nversion-from: build\nrequires: [rocm]\nrequired-vars: [tree]\nvars:\n  # Where it is:\n  # a folder.\n  tree: \"\"\n  # How hard.\n  level: \"3\"\nsteps:\n  - {use: small}\n  - {stage: build, argv: [make]}\ncollect: {wheels: \"dist/*.whl\"}\n";
    let used = "# Small.\nrecipe: 1\nname: small\nvars:\n  # Of the small one.\n  size: \"1\"\nsteps:\n  - {stage: small, argv: [make]}\nleaves: tree\n";
    let project = Project::new()
        .file("own/mine.yaml", recipe)
        .file("own/small.yaml", used);
    let run = |words: &[&str]| project.run(&[&["recipe"], words, &["--recipes", "own"]].concat());
    insta::assert_snapshot!(run(&["show", "mine"]).exits(0).stdout, @r"
    mine
      Builds mine. With care.

    required axes: rocm

    variables, set under `vars` in a matrix file:
      tree (required)
          Where it is: a folder.
      level (default: 3)
          How hard.
      size (default: 1)
          Of the small one.

    stages, in order; `rock-matrix build JOB --resume=STAGE` starts at one of them:
      small  make
      build  make

    Before these stages, a build prepares Python and torch and copies the sources. After them, it tests
    the wheel.
    ");
    insta::assert_snapshot!(run(&["show", "mine", "--format", "json"]).exits(0).stdout, @r#"
    {"version":1,"recipe":{"name":"mine","about":"Builds mine. With care.","requires":["rocm"],"backends":[],"variables":[{"name":"tree","meaning":"Where it is: a folder.","default":"","required":true},{"name":"level","meaning":"How hard.","default":"3","required":false},{"name":"size","meaning":"Of the small one.","default":"1","required":false}],"stages":["small","build"]}}
    "#);
    let listed = run(&["list"]).exits(0).stdout;
    assert!(
        listed
            .lines()
            .any(|line| line == "mine               Builds mine"),
        "{listed}"
    );
    assert!(
        listed.lines().any(|line| line.starts_with("flash-attn  ")),
        "{listed}"
    );
    insta::assert_snapshot!(run(&["show", "mime"]).exits(2).stderr, @r"
    error[P015 unknown-recipe]: there is no recipe `mime`; did you mean `mine`?
    help: `rock-matrix recipe list` shows all recipes; `rock-matrix recipe new NAME` creates one
    ");
}

const SOURCE_MATRIX: &str = "version: 1\ndistribution: my-kernels\nrecipe: my-kernels\n\
    axes: {my-kernels: [\"1.0\"], python: [\"3.12\"], rocm: [\"7.14.0\"]}\nunknown: lenient\n\
    gfx: [gfx942]\ntorch-from: host\npython-from: host\n";

/// The written recipe is valid, is used without an option, and is never overwritten.
#[test]
fn a_new_recipe_is_a_valid_file_to_start_from() {
    let project = Project::new().file("m.yaml", SOURCE_MATRIX);
    insta::assert_snapshot!(project.run(&["recipe", "new", "my-kernels"]).exits(0).stderr, @r"
    wrote matrices/recipes/my-kernels.yaml
    next: edit it, then `rock-matrix check matrices/recipes/my-kernels.yaml`; `rock-matrix init --recipe my-kernels --set version=VERSION` writes a matrix file that uses it
    ");
    project
        .run(&["check", "matrices/recipes/my-kernels.yaml", "m.yaml"])
        .exits(0);
    project.run(&["check", "m.yaml"]).exits(0);
    let listed = project.run(&["recipe", "list"]).exits(0).stdout;
    assert!(
        listed.contains("\nmy-kernels         Builds my-kernels from its source code\n"),
        "{listed}"
    );
    insta::assert_snapshot!(project.run(&["recipe", "new", "my-kernels"]).exits(1).stderr, @r"
    error[H021 cannot-write-file]: `matrices/recipes/my-kernels.yaml` already exists
    help: edit the file, or choose another name
    ");
    project
        .run(&["recipe", "new", "other", "--recipes", "own"])
        .exits(0);
    assert!(project.has("own/other.yaml"));
    insta::assert_snapshot!(project.run(&["recipe", "new", "torch"]).exits(1).stderr, @r"
    error[H021 cannot-write-file]: `torch` is a recipe of the program
    help: choose another name: a file with this one would replace the recipe in all matrix files
    ");
    project.run(&["recipe", "new", "3d"]).exits(2);
    let refused = project.run(&["recipe", "new", "My Kernels"]).exits(2);
    assert!(
        refused
            .stderr
            .contains("a name has lower-case letters, digits and `-`"),
        "{}",
        refused.stderr
    );
}

/// The recipe in `help recipes` is a whole one.
#[test]
fn the_recipe_in_the_help_is_valid() {
    let help = Project::new().run(&["help", "recipes"]).exits(0).stdout;
    let lines: Vec<&str> = help
        .lines()
        .skip_while(|line| !line.starts_with("  # Builds"))
        .map_while(|line| line.strip_prefix("  "))
        .collect();
    let recipe = lines.join("\n") + "\n";
    assert!(recipe.contains("\nrecipe: 1\n"), "{help}");
    let project = Project::new()
        .file("my-kernels.yaml", &recipe)
        .file("m.yaml", SOURCE_MATRIX);
    project
        .run(&["check", "my-kernels.yaml", "m.yaml"])
        .exits(0);
}
