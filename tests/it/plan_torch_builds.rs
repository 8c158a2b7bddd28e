//! Builds of torch from source: what their matrices say, and what a plan makes of them.

use serde_json::Value;

use crate::support::toy::Toy;
use crate::support::{Project, Wheel};

/// A recipe of the kind that builds torch: the version stands in the sources, and several wheels
/// come out.
const RECIPE: &str = r#"recipe: 1
name: torch-build
distribution: torch
version-from: build
axes: [torch-ref]
vars: {apex: "on"}
wheels:
  - {distribution: triton, when: "{{ platform == 'linux' }}"}
  - {distribution: torchvision}
  - {distribution: apex, when: "{{ platform == 'linux' and vars.apex == 'on' }}"}
steps:
  - {stage: build, argv: [make]}
collect: {wheels: "dist/*.whl"}
"#;

/// A project with that recipe, and a matrix file of these lines.
fn project(lines: &str) -> Project {
    let head = "version: 1\ndistribution: torch\nrecipe: torch-build\n";
    Project::new()
        .file("recipes/torch-build.yaml", RECIPE)
        .file("m.yaml", &format!("{head}{lines}"))
}

fn plan(lines: &str) -> Value {
    project(lines)
        .run(&["--recipes", "recipes", "plan", "m.yaml", "--format", "json"])
        .exits(0)
        .json()
}

fn texts<'a>(plan: &'a Value, key: &str) -> Vec<&'a str> {
    plan["jobs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|job| job[key].as_str().unwrap())
        .collect()
}

const ONE: &str = "axes: {python: [\"3.12\"], torch-ref: [release/2.12]}\n";

#[test]
fn a_version_that_only_the_build_knows_needs_no_axis_and_is_a_star_in_the_name() {
    let plan = plan(ONE);
    assert_eq!(
        texts(&plan, "wheel"),
        ["torch-*-cp312-cp312-linux_x86_64.whl"]
    );
    assert_eq!(plan["jobs"][0]["version"], Value::Null);
}

#[test]
fn a_wheel_of_a_recipe_has_the_name_of_a_project_and_three_tags() {
    let recipe = RECIPE.replace(
        "{distribution: torchvision}",
        "{distribution: 'a b', tag: py3-none}",
    );
    let project = project(ONE).file("recipes/torch-build.yaml", &recipe);
    let stderr = project
        .run(&["--recipes", "recipes", "plan", "m.yaml"])
        .exits(1)
        .stderr;
    insta::assert_snapshot!(stderr);
}

#[test]
fn a_job_expects_the_wheels_whose_condition_holds() {
    let further = |lines: &str| {
        let plan = plan(lines);
        let wheels = plan["jobs"][0]["wheels"].as_array().unwrap().iter();
        wheels
            .map(|wheel| wheel.as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    let on_linux = |name: &str| format!("{name}-*-cp312-cp312-linux_x86_64.whl");
    assert_eq!(
        further(ONE),
        ["triton", "torchvision", "apex"].map(on_linux)
    );
    assert_eq!(
        further(&format!("{ONE}vars: {{apex: \"off\"}}\n")),
        ["triton", "torchvision"].map(on_linux)
    );
    let windows = format!("{ONE}platform: windows\nrunner: windows-2022\n");
    assert_eq!(
        further(&windows),
        ["torchvision-*-cp312-cp312-win_amd64.whl"]
    );
    let with_rocm = ONE.replace("{python", "{rocm: [\"7.2.1\"], python");
    assert_eq!(
        further(&with_rocm)[0],
        "triton-*+rocm72-cp312-cp312-linux_x86_64.whl"
    );
    let shown = project(ONE)
        .run(&["--recipes", "recipes", "plan", "m.yaml"])
        .exits(0)
        .stdout;
    assert!(
        shown.contains("\n    and triton-*-cp312-cp312-linux_x86_64.whl\n"),
        "{shown}"
    );
}

#[test]
fn an_unknown_name_in_a_condition_is_reported_with_alternatives() {
    let recipe = RECIPE.replace("vars.apex ==", "vars.apx ==");
    let project = project(ONE).file("recipes/torch-build.yaml", &recipe);
    let stderr = project
        .run(&["--recipes", "recipes", "plan", "m.yaml"])
        .exits(1)
        .stderr;
    insta::assert_snapshot!(stderr);
}

const TWO: &str = "axes: {python: [\"3.12\"], torch-ref: [release/2.12, nightly]}\n";

/// The wheels of both jobs of `TWO`.
const BUILT: [&str; 8] = [
    "torch-2.12.0-cp312-cp312-manylinux_2_28_x86_64.whl",
    "torch-2.13.0a0-cp312-cp312-linux_x86_64.whl",
    "triton-3.5.0-cp312-cp312-linux_x86_64.whl",
    "triton-3.6.0-cp312-cp312-linux_x86_64.whl",
    "torchvision-0.27.0-cp312-cp312-linux_x86_64.whl",
    "torchvision-0.28.0a0-cp312-cp312-linux_x86_64.whl",
    "apex-1.12.0-cp312-cp312-linux_x86_64.whl",
    "apex-1.13.0-cp312-cp312-linux_x86_64.whl",
];

/// A project with these wheels in `dist` and the plan of `TWO`.
fn planned(wheels: &[&str]) -> Project {
    let project = project(TWO);
    let project = wheels.iter().fold(project, |project, name| {
        project.bytes(&format!("dist/{name}"), &Wheel::named(name).bytes())
    });
    let _ = project
        .run(&[
            "--recipes",
            "recipes",
            "plan",
            "m.yaml",
            "--format",
            "json",
            "--out",
            "plan.json",
        ])
        .exits(0);
    project
}

#[test]
fn a_release_is_whole_with_every_wheel_of_every_job() {
    let publish = ["publish", "--to", "release", "--plan", "plan.json", "dist"];
    let _ = planned(&BUILT).run(&publish).exits(0);
    let stderr = planned(&BUILT[..7]).run(&publish).exits(1).stderr;
    insta::assert_snapshot!(stderr);
    let project = planned(&BUILT[..7]);
    let _ = project
        .run(&[&publish[..], &["--allow-missing"]].concat())
        .exits(0);
    let missing = [
        "report",
        "missing",
        "--plan",
        "plan.json",
        "--published",
        "release",
        "--list",
    ];
    let listed = project.run(&missing).exits(1).stdout;
    assert_eq!(listed, "apex-*-cp312-cp312-linux_x86_64.whl\n");
    let coverage = project
        .run(&[
            "report",
            "coverage",
            "--plan",
            "plan.json",
            "--published",
            "release",
        ])
        .exits(0)
        .stdout;
    assert!(coverage.contains("| `apex` | 1 | 1 |"), "{coverage}");
    assert!(coverage.contains("| `torch` | 2 | 0 |"), "{coverage}");
}

#[test]
fn jobs_are_left_out_once_all_their_wheels_are_published() {
    let left = |wheels: &[&str]| {
        let project = planned(wheels);
        let plan = [
            "--recipes",
            "recipes",
            "plan",
            "m.yaml",
            "--published",
            "dist",
            "--format",
            "json",
        ];
        let plan = project.run(&plan).exits(0).json();
        (
            plan["jobs"].as_array().unwrap().len(),
            plan["published"].as_array().unwrap().len(),
        )
    };
    assert_eq!(left(&BUILT), (0, 8));
    assert_eq!(
        left(&BUILT[..7]),
        (2, 0),
        "which of the two jobs lacks its wheel cannot be determined"
    );
}

#[test]
fn a_wheel_that_several_jobs_expect_names_none_of_them() {
    let name = "torch-*-cp312-cp312-linux_x86_64.whl";
    let stderr = planned(&[])
        .run(&[
            "--recipes",
            "recipes",
            "build",
            "plan.json",
            name,
            "--dry-run",
        ])
        .exits(2)
        .stderr;
    insta::assert_snapshot!(stderr);
}

#[test]
fn a_build_delivers_each_of_its_wheels_and_none_where_one_is_missing() {
    let extra = "toy_extra-2.0-cp311-cp311-linux_x86_64.whl";
    let toy = || {
        let toy = Toy::building("mkdir -p dist; cp \"$WHEELS\"/*.whl dist/");
        toy.recipe(
            "collect:\n",
            "wheels: [{distribution: toy-extra}]\ncollect:\n",
        )
    };
    let short = toy();
    let (_, text) = short.build(1, &[]);
    assert!(
        text.contains("the build produced 1 wheels for") && text.contains("not 2"),
        "{text}"
    );
    assert!(!short.path("dist").join(crate::support::toy::WHEEL).exists());
    let whole = toy();
    let labelled = extra.replace("2.0", "2.0+rocm62");
    whole.write(
        &format!("wheels/{labelled}"),
        &Wheel::named(&labelled).bytes(),
    );
    let (stdout, _) = whole.build(0, &[]);
    assert_eq!(stdout.lines().count(), 2, "{stdout}");
    assert!(whole.path("dist").join(&labelled).exists());
    assert_eq!(whole.record()["wheels"].as_array().unwrap().len(), 2);
    let other = toy();
    other.write(&format!("wheels/{extra}"), &Wheel::named(extra).bytes());
    let (_, text) = other.build(1, &[]);
    assert!(text.contains("the label is ``, not `rocm62`"), "{text}");
}

/// Runs `plan` with further arguments, which must end well, and gives the plan.
fn planned_with(lines: &str, arguments: &[&str]) -> Value {
    let all = [
        &["--recipes", "recipes", "plan", "m.yaml", "--format", "json"],
        arguments,
    ]
    .concat();
    project(lines).run(&all).exits(0).json()
}

/// How many jobs a plan has.
fn count(plan: &Value) -> usize {
    plan["jobs"].as_array().unwrap().len()
}

/// The value of an axis of each job.
fn axis<'a>(plan: &'a Value, name: &str) -> Vec<&'a str> {
    plan["jobs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|job| job["axes"][name].as_str().unwrap())
        .collect()
}

const WINDOWS: &str = "platform: windows\nrunner: windows-2022\n";

#[test]
fn a_release_type_gives_the_axes_that_are_not_listed() {
    let jobs = |lines: &str, kind: &str| count(&planned_with(lines, &["--release-type", kind]));
    assert_eq!((jobs("", "ci"), jobs(WINDOWS, "ci")), (2, 1));
    assert_eq!(
        (jobs("", "prerelease"), jobs(WINDOWS, "prerelease")),
        (15, 15)
    );
    for kind in ["dev", "dev-bkc", "nightly", "nightly-bkc"] {
        assert_eq!((jobs("", kind), jobs(WINDOWS, kind)), (20, 20), "{kind}");
    }
    let by_file = plan("release-type: ci\n");
    assert_eq!(
        axis(&by_file, "torch-ref"),
        ["release/2.12", "release/2.13"]
    );
    // Python is the outer one.
    let nightly = planned_with("", &["--release-type", "nightly"]);
    assert_eq!(
        &axis(&nightly, "python")[..5],
        ["3.10", "3.10", "3.10", "3.10", "3.11"]
    );
    assert_eq!(
        count(&plan("release-type: nightly\naxes: {python: [\"3.12\"]}\n")),
        4,
        "what is listed counts"
    );
    let arguments = [
        "--recipes",
        "recipes",
        "plan",
        "m.yaml",
        "--release-type",
        "nightli",
    ];
    let stderr = project("").run(&arguments).exits(2).stderr;
    insta::assert_snapshot!(stderr);
}

/// The location of the error is the argument, not the matrix file.
#[test]
fn a_bad_value_of_the_command_line_is_reported_at_its_argument() {
    let lines = "release-type: nightly\naxes: {python: [\"3.12\"]}\ngfx: [gfx942]\ntest: {families: auto}\n";
    let stderr_of = |argument: &str, value: &str| {
        let arguments = ["--recipes", "recipes", "plan", "m.yaml", argument, value];
        project(lines).run(&arguments).exits(2).stderr
    };
    for (argument, value) in [
        ("--release-type", "foo"),
        ("--axis", "python=3.08"),
        ("--axis", "foo=1"),
        ("--test-families", "none;gfx942"),
        ("--gfx", "gfx94"),
    ] {
        insta::assert_snapshot!(stderr_of(argument, value));
    }
}

#[test]
fn values_of_the_command_line_take_the_place_of_those_of_the_file() {
    let plan = planned_with(
        TWO,
        &[
            "--axis",
            "python=3.11,3.12;3.13 3.14",
            "--axis",
            "torch-ref=nightly",
        ],
    );
    assert_eq!(axis(&plan, "python"), ["3.11", "3.12", "3.13", "3.14"]);
    assert_eq!(axis(&plan, "torch-ref"), ["nightly"; 4]);
    let plan = planned_with(TWO, &["--gfx", "gfx94X-dcgpu;gfx120X-all"]);
    assert_eq!(
        plan["jobs"][0]["families"],
        serde_json::json!(["gfx94X-dcgpu", "gfx120X-all"])
    );
    let arguments = [
        "--recipes",
        "recipes",
        "plan",
        "m.yaml",
        "--gfx",
        "gfx94X-dcgpu,gfx1201,gfx94X-dcgpv",
    ];
    let stderr = project(TWO).run(&arguments).exits(2).stderr;
    insta::assert_snapshot!(stderr);
}

#[test]
fn families_that_a_branch_cannot_be_built_for_are_left_out_and_a_job_without_others_too() {
    let lines = "axes: {python: [\"3.12\"], torch-ref: [release/2.12, release/2.13, my-branch]}\n";
    let families = |gfx: &str| {
        let plan = plan(&format!("{lines}gfx: [{gfx}]\n"));
        let jobs = plan["jobs"].as_array().unwrap().iter();
        let targets = |job: &Value| {
            let gfx = job["gfx"]
                .as_array()
                .unwrap()
                .iter()
                .map(|target| target.as_str().unwrap().to_owned());
            (
                job["axes"]["torch-ref"].as_str().unwrap().to_owned(),
                gfx.collect::<Vec<_>>().join(";"),
            )
        };
        (
            jobs.map(targets).collect::<Vec<_>>(),
            plan["excluded"].clone(),
        )
    };
    let (jobs, excluded) = families("gfx94X-dcgpu, gfx90c");
    let both = |name: &str, gfx: &str| (name.to_owned(), gfx.to_owned());
    let expected = [
        both("release/2.12", "gfx942;gfx90c"),
        both("release/2.13", "gfx942"),
        both("my-branch", "gfx942;gfx90c"),
    ];
    assert_eq!(
        (jobs, excluded.as_array().unwrap().len()),
        (expected.to_vec(), 0)
    );
    let (jobs, excluded) = families("gfx90c");
    assert_eq!(jobs.len(), 2);
    assert_eq!(excluded[0]["code"], "P052");
    assert_eq!(
        excluded[0]["axes"],
        serde_json::json!({"torch-ref": "release/2.13"})
    );
    assert_eq!(
        excluded[0]["reason"],
        "torch-ref release/2.13 cannot be built for gfx90c"
    );
    // None at all is a matrix without legs, whose jobs are skipped by their condition.
    let none = "axes: {python: [\"3.12\"], torch-ref: [release/2.13]}\ngfx: [gfx90c]\n";
    let project = project(none).env("GITHUB_OUTPUT", "outputs");
    let _ = project
        .run(&["--recipes", "recipes", "plan", "m.yaml", "--github-output"])
        .exits(0);
    assert!(
        project
            .read("outputs")
            .starts_with("count=0\nhas_jobs=false\n"),
        "{}",
        project.read("outputs")
    );
}

#[test]
fn families_stand_for_their_targets_and_unknown_ones_list_those_that_are_known() {
    let expand = |arguments: &[&str], code| {
        Project::new()
            .run(&[&["compat", "expand"], arguments].concat())
            .exits(code)
    };
    assert_eq!(
        expand(&["gfx94X-dcgpu;gfx120X-all"], 0).stdout,
        "gfx942,gfx1200,gfx1201\n"
    );
    assert_eq!(
        expand(&["gfx120X-all; gfx1201;gfx906"], 0).stdout,
        "gfx1200,gfx1201,gfx906\n"
    );
    assert_eq!(expand(&["7900 XTX,gfx942"], 0).stdout, "gfx1100,gfx942\n");
    let extras = expand(&["gfx94X-dcgpu;gfx1151", "--as", "device-extras"], 0).stdout;
    assert_eq!(extras, "device-gfx942,device-gfx1151\n");
    let stderr = expand(&["gfx94X-dgpu"], 2).stderr;
    insta::assert_snapshot!(stderr);
    let plan = plan(&format!("{ONE}gfx: [gfx94X-dcgpu, gfx120X-all]\n"));
    assert_eq!(
        plan["jobs"][0]["gfx"],
        serde_json::json!(["gfx942", "gfx1200", "gfx1201"])
    );
}

/// The legs that test, as `family runner`.
fn tests(lines: &str, arguments: &[&str]) -> Vec<String> {
    let project = project(lines).env("GITHUB_OUTPUT", "outputs");
    let all = [
        &["--recipes", "recipes", "plan", "m.yaml", "--github-output"],
        arguments,
    ]
    .concat();
    let _ = project.run(&all).exits(0);
    let outputs = project.read("outputs");
    let Some(line) = outputs
        .lines()
        .find_map(|line| line.strip_prefix("test_0="))
    else {
        return Vec::new();
    };
    let legs: Value = serde_json::from_str(line).unwrap();
    let leg = |leg: &Value| {
        format!(
            "{} {}",
            leg["family"].as_str().unwrap(),
            leg["runner"].as_str().unwrap()
        )
    };
    legs["include"]
        .as_array()
        .unwrap()
        .iter()
        .map(leg)
        .collect()
}

#[test]
fn wheels_are_tested_on_the_runners_of_the_families_that_the_facts_know() {
    let built = format!("{ONE}gfx: [gfx110X-all, gfx906, gfx1151]\n");
    let auto = [
        "gfx110X-all [\"linux-gfx110X-gpu-rocm\"]",
        "gfx1151 [\"linux-gfx1151-gpu-rocm\"]",
    ];
    for word in ["auto", "built", "\"\""] {
        assert_eq!(
            tests(&format!("{built}test: {{families: {word}}}\n"), &[]),
            auto,
            "{word}"
        );
    }
    assert_eq!(tests(&built, &["--test-families", "auto"]), auto);
    for word in ["none", "skip"] {
        assert_eq!(
            tests(&format!("{built}test: {{families: {word}}}\n"), &[]),
            [""; 0]
        );
    }
    assert_eq!(tests(&built, &["--test-families", "gfx1151"]), &auto[1..]);
    let shown = |lines: &str| {
        project(&format!("{built}{lines}")).run(&["--recipes", "recipes", "plan", "m.yaml"])
    };
    let note = shown("test: {families: auto}\n").exits(0).stdout;
    insta::assert_snapshot!(note);
    let stderr = shown("test: {families: [gfx1151, none]}\n").exits(1).stderr;
    insta::assert_snapshot!(stderr);
    let stderr = shown("test: {families: auto, runner: mi300x}\n")
        .exits(1)
        .stderr;
    insta::assert_snapshot!(stderr);
    // On Windows the newest Python is not tested with a nightly.
    let lines =
        format!("{WINDOWS}release-type: nightly\ngfx: [gfx1151]\ntest: {{families: auto}}\n");
    assert_eq!(tests(&lines, &[]).len(), 19);
}

/// A matrix of one job for each of twenty families, five Pythons and four branches.
fn four_hundred() -> String {
    let families = "gfx900, gfx906, gfx908, gfx90a, gfx94X-dcgpu, gfx950-dcgpu, gfx101X-dgpu, gfx1030, gfx1031, gfx1032, \
                    gfx1034, gfx110X-all, gfx1150, gfx1151, gfx1152, gfx1153, gfx1200, gfx1201, gfx125X-dcgpu, gfx1036";
    format!("release-type: nightly\naxes: {{gfx: [{families}]}}\n")
}

#[test]
fn more_jobs_than_one_matrix_takes_make_several_or_end_with_their_number() {
    let plan = plan(&four_hundred());
    assert_eq!(count(&plan), 400);
    assert_eq!(
        plan["shards"],
        serde_json::json!([{"first": 0, "count": 256}, {"first": 256, "count": 144}])
    );
    let one = [
        "--recipes",
        "recipes",
        "plan",
        "m.yaml",
        "--github-output",
        "--most-matrices",
        "1",
    ];
    let stderr = project(&four_hundred())
        .env("GITHUB_OUTPUT", "outputs")
        .run(&one)
        .exits(1)
        .stderr;
    insta::assert_snapshot!(stderr);
    let tested = format!(
        "{}test: {{families: gfx94X-dcgpu;gfx950-dcgpu}}\n",
        four_hundred()
    );
    let stderr = project(&tested)
        .run(&[
            "--recipes",
            "recipes",
            "plan",
            "m.yaml",
            "--format",
            "github",
        ])
        .exits(1)
        .stderr;
    insta::assert_snapshot!(stderr);
}

#[test]
fn an_index_is_a_layout_below_a_base_or_an_address() {
    let recipe = "  - stage: build\n    argv: [install, \"{{ indexes.rocm }}\", \"{{ device_extras|commas }}\", \"{{ families|semis }}\"]\n";
    let shown = |lines: &str, code: i32| {
        let recipe = RECIPE.replace("  - {stage: build, argv: [make]}\n", recipe);
        let project = project(&format!("{ONE}python-from: host\n{lines}"))
            .file("recipes/torch-build.yaml", &recipe);
        let ran = project
            .run(&["--recipes", "recipes", "render", "script", "m.yaml"])
            .exits(code);
        let line = ran
            .stdout
            .lines()
            .find(|line| line.contains("install http"))
            .unwrap_or_default()
            .trim()
            .to_owned();
        if code == 0 { line } else { ran.stderr }
    };
    let base = "base: \"https://rocm.example.org/\"";
    let v2 = format!("gfx: [gfx110X-dgpu]\nindexes: {{rocm: v2, {base}}}\n");
    assert!(
        shown(&v2, 0).contains("install https://rocm.example.org/v2/gfx110X-dgpu/ gfx110X-dgpu"),
        "{}",
        shown(&v2, 0)
    );
    let multi =
        format!("gfx: [gfx94X-dcgpu, gfx1151]\nindexes: {{rocm: whl-multi-arch, {base}}}\n");
    let command = shown(&multi, 0);
    let expected = "install https://rocm.example.org/whl-multi-arch/ device-gfx942,device-gfx1151 'gfx94X-dcgpu;gfx1151'";
    assert!(command.contains(expected), "{command}");
    let stderr = shown(&multi.replace("whl-multi-arch", "v2"), 1);
    insta::assert_snapshot!(stderr);
    let public = "gfx: [gfx110X-dgpu]\nindexes: {rocm: v2}\n";
    assert!(
        shown(public, 0).contains("install https://rocm.nightlies.amd.com/v2/gfx110X-dgpu/"),
        "{}",
        shown(public, 0)
    );
    let next = "gfx: [gfx942]\nindexes: {rocm: whl-next}\n";
    let stable = "install https://stable.repo.amd.com/rocm/whl-next/ device-gfx942 gfx942";
    assert!(shown(next, 0).contains(stable), "{}", shown(next, 0));
    let of_stream = format!("release-type: prerelease\n{next}");
    let command = shown(&of_stream, 0);
    assert!(
        command.contains("install https://rc.repo.amd.com/rocm/whl-next/ device-gfx942"),
        "{command}"
    );
    let both =
        "indexes: {rocm: \"https://a.example.org\", find-links: \"https://b.example.org\"}\n";
    assert!(
        shown(both, 1).contains("`rocm` and `find-links` both set"),
        "{}",
        shown(both, 1)
    );
}

#[test]
fn a_workflow_tests_each_wheel_on_the_runners_of_its_families() {
    let lines = "release-type: ci\ngfx: [gfx94X-dcgpu, gfx1151]\ntest: {families: auto}\n";
    let rendered = project(lines)
        .run(&["--recipes", "recipes", "render", "workflow", "m.yaml"])
        .exits(0)
        .stdout;
    let workflow: Value = serde_yaml::from_str(&rendered).unwrap();
    let test = &workflow["jobs"]["gpu-test"];
    assert_eq!(
        test["name"],
        "Test ${{ matrix.id }} on ${{ matrix.family }}"
    );
    assert_eq!(test["runs-on"], "${{ fromJSON(matrix.runner) }}");
    assert!(
        rendered.contains("          name: result-${{ matrix.id }}-${{ matrix.family }}\n"),
        "{rendered}"
    );
}

/// The name of a wheel whose version only the build knows does not tell the branches of torch
/// apart.
#[test]
fn each_line_of_a_plan_names_its_branch() {
    let lines = "axes: {python: [\"3.12\"], torch-ref: [release/2.12, nightly]}\n";
    let text = project(lines)
        .run(&["--recipes", "recipes", "plan", "m.yaml"])
        .exits(0)
        .stdout;
    insta::assert_snapshot!(text);
}
