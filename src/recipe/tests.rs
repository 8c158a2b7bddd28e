//! What the shipped recipes make of jobs.

use std::collections::BTreeMap;

use super::container::{self, Container, Devices, Engine};
use super::fixture::{argv, environment, flash_attn, jobs, made, made_at};
use super::{Question, Site, build, check, questions};
use crate::compat::Compat;
use crate::config::GpuPolicy;
use crate::config::recipe::from_source;
use crate::diagnostic::{Sink, Source};

fn stages(build: &super::Build) -> Vec<&str> {
    build.steps.iter().map(|step| step.stage.as_str()).collect()
}

fn told(faults: &[crate::diagnostic::Diagnostic]) -> Vec<String> {
    faults.iter().map(|fault| format!("{}: {}", fault.code.id, fault.message)).collect()
}

/// B1
#[test]
fn the_environment_of_a_ck_build_is_exactly_this() {
    let build = made(&flash_attn("2.8.3", "6.2", "2.5.1", "ck", "")).unwrap();
    assert_eq!(
        environment(&build, "build"),
        [
            "-OPT_DIM",
            "BUILD_TARGET=rocm",
            "FLASH_ATTENTION_FORCE_BUILD=TRUE",
            "FLASH_ATTENTION_SKIP_CK_BUILD=FALSE",
            "FLASH_ATTENTION_TRITON_AMD_ENABLE=FALSE",
            "FLASH_ATTN_LOCAL_VERSION=rocm62torch2.5",
            "GPU_ARCHS=gfx90a;gfx942",
            "MAX_JOBS=(28 per job)",
        ]
    );
}

/// B1
#[test]
fn the_environment_of_a_triton_build_is_exactly_this() {
    let build = made(&flash_attn("2.8.3", "6.2", "2.5.1", "triton", "")).unwrap();
    let expected = [
        "-GPU_ARCHS",
        "-OPT_DIM",
        "BUILD_TARGET=rocm",
        "FLASH_ATTENTION_FORCE_BUILD=TRUE",
        "FLASH_ATTENTION_SKIP_CK_BUILD=TRUE",
        "FLASH_ATTENTION_TRITON_AMD_ENABLE=TRUE",
        "FLASH_ATTN_LOCAL_VERSION=rocm62torch2.5triton",
        "MAX_JOBS=(28 per job)",
    ];
    assert_eq!(environment(&build, "build"), expected);
    let fetch = environment(&build, "fetch-flash-attn");
    assert!(!fetch.iter().any(|line| line.contains("LOCAL_VERSION")), "pip refuses a labelled source: {fetch:?}");
    assert!(fetch.contains(&"BUILD_TARGET=rocm".to_owned()));
}

/// B2
#[test]
fn only_versions_that_know_the_switch_get_skip_ck_build() {
    let skips = |version, rocm, torch| {
        let build = made(&flash_attn(version, rocm, torch, "triton", "")).unwrap();
        environment(&build, "build").iter().any(|line| line.starts_with("FLASH_ATTENTION_SKIP_CK_BUILD="))
    };
    assert!(skips("2.8.3", "6.2", "2.5.1"));
    assert!(!skips("2.7.4", "6.2", "2.5.1"));
    assert!(!skips("fa2:4a948e9d1a2b3c4d5e6f708192a3b4c5d6e7f809", "7.2", "2.14.0"));
}

/// B3
#[test]
fn head_dimensions_are_refused_where_the_version_does_not_read_them() {
    let with = |version| made(&flash_attn(version, "6.2", "2.5.1", "ck", "vars: {opt-dim: \"128\"}"));
    assert!(environment(&with("2.8.3").unwrap(), "build").contains(&"OPT_DIM=128".to_owned()));
    let faults = with("2.7.4").unwrap_err();
    assert_eq!(told(&faults), ["B003: flash-attn 2.7.4 does not read OPT_DIM, so `opt-dim` would have no effect"]);
    assert_eq!(faults[0].help.as_deref(), Some("take `opt-dim` out of `vars`, or build 2.8.3 or later"));
}

/// B4
#[test]
fn the_standard_is_rewritten_for_torch_2_14_and_ck_alone() {
    let edits = |version, rocm, torch, backend| {
        let build = made(&flash_attn(version, rocm, torch, backend, "")).unwrap();
        build.steps.iter().filter(|step| step.argv.iter().any(|word| word == "-std=c++20")).count()
    };
    assert_eq!(edits("2.8.3", "7.2", "2.14.0", "ck"), 1);
    assert_eq!(edits("2.8.3", "7.2", "2.14.0", "triton"), 0);
    assert_eq!(edits("2.8.3", "6.2", "2.5.1", "ck"), 0);
}

/// B5
#[test]
fn flash_attention_4_is_removed_from_the_sources() {
    let build = made(&flash_attn("2.8.3", "6.2", "2.5.1", "triton", "")).unwrap();
    assert!(argv(&build, "edit-1").ends_with("src/flash-attn/flash_attn/cute"));
}

/// B6
#[test]
fn each_backend_has_its_own_output_folder_and_cleans_no_other() {
    for (backend, other) in [("ck", "triton"), ("triton", "ck")] {
        let build = made(&flash_attn("2.8.3", "6.2", "2.5.1", backend, "")).unwrap();
        assert_eq!(build.wheels, format!("dist/{backend}/flash_attn-*.whl"));
        let cleaned: Vec<&String> = build.steps.iter().flat_map(|step| &step.clean).collect();
        assert!(cleaned.contains(&&format!("dist/{backend}")));
        let touches_other = |path: &&&String| **path == "dist" || path.starts_with(&format!("dist/{other}"));
        assert_eq!(cleaned.iter().find(touches_other), None);
    }
}

/// B7
#[test]
fn a_number_of_jobs_in_the_matrix_file_is_taken() {
    let build =
        made(&flash_attn("2.8.3", "6.2", "2.5.1", "ck", "vars: {max-jobs: \"6\", gib-per-job: \"4\"}")).unwrap();
    let jobs = build.steps.iter().find_map(|step| step.jobs.clone()).unwrap();
    assert_eq!((jobs.variable.as_str(), jobs.count, jobs.tenths_gib_per_job), ("MAX_JOBS", Some(6), 40));
    let faults = made(&flash_attn("2.8.3", "6.2", "2.5.1", "ck", "vars: {max-jobs: many}")).unwrap_err();
    assert_eq!(told(&faults), ["B002: `many` is no number of jobs for `MAX_JOBS`"]);
}

/// B9
#[test]
fn the_compiler_cache_is_bounded_and_checks_the_compiler_by_content() {
    let build = made(&flash_attn("2.8.3", "6.2", "2.5.1", "ck", "workflow: {cache: on}")).unwrap();
    let environment = environment(&build, "build");
    for line in [
        "CCACHE_BASEDIR=/rock",
        "CCACHE_COMPILERCHECK=content",
        "CCACHE_DIR=/rock/ccache",
        "CCACHE_MAXSIZE=5G",
        "PYTORCH_NVCC=/rock/bin/cached-hipcc",
    ] {
        assert!(environment.contains(&line.to_owned()), "{line}: {environment:?}");
    }
    assert!(stages(&build).contains(&"compiler-cache"));
    let smaller = "workflow: {cache: on}\nvars: {cache-gib: \"2\"}";
    let smaller = made(&flash_attn("2.8.3", "6.2", "2.5.1", "ck", smaller)).unwrap();
    assert!(super::fixture::environment(&smaller, "build").contains(&"CCACHE_MAXSIZE=2G".to_owned()));
    let without = made(&flash_attn("2.8.3", "6.2", "2.5.1", "ck", "")).unwrap();
    assert!(!stages(&without).contains(&"compiler-cache"));
    assert!(!super::fixture::environment(&without, "build").iter().any(|line| line.contains("CCACHE")));
}

/// B12
#[test]
fn triton_on_main_warns_of_what_its_setup_installs() {
    let job = flash_attn("fa2:4a948e9d1a2b3c4d5e6f708192a3b4c5d6e7f809", "7.2", "2.14.0", "triton", "");
    assert!(job.warnings.iter().any(|warning| warning.contains("aiter") && warning.contains("no torch")), "{job:?}");
}

/// D3, 6.34
#[test]
fn a_container_with_a_gpu_gets_exactly_these_options() {
    let job = flash_attn("2.8.3", "6.2", "2.5.1", "ck", "");
    assert_eq!(
        container_argv(&job, Devices::Present, &[]),
        "docker run --rm --device=/dev/kfd --device=/dev/dri --group-add video --cap-add=SYS_PTRACE \
         --security-opt seccomp=unconfined --ipc=host --shm-size 8G --env=MAX_JOBS --env=ROCK_CAP_S --env=ROCK_FROM \
         --volume=/jobs/x:/rock --workdir=/rock example.org/image:1 bash /rock/build.sh"
    );
}

#[test]
fn a_folder_with_a_colon_is_mounted_whole() {
    let job = flash_attn("2.8.3", "6.2", "2.5.1", "ck", "");
    let container = Container {
        engine: Engine::Podman,
        image: "x",
        devices: Devices::Absent,
        folder: "/a:b,c",
        caller: Some("/plain"),
        device_gids: &[],
        pass_env: &[],
        extra: &[],
        name: Some("rock-1"),
    };
    let argv = container::argv(&job, &container);
    assert_eq!(argv[..4], ["podman", "run", "--rm", "--name=rock-1"]);
    assert!(argv.contains(&"--ipc=host".to_owned()), "{argv:?}");
    assert!(!argv.contains(&"--shm-size".to_owned()), "podman refuses a size of the host's shared memory: {argv:?}");
    assert!(argv.contains(&"--mount=type=bind,\"source=/a:b,c\",target=/rock".to_owned()), "{argv:?}");
    assert!(argv.contains(&"--volume=/plain:/rock-caller:ro".to_owned()), "{argv:?}");
}

/// D4
#[test]
fn without_a_gpu_there_is_no_device_no_group_and_no_ptrace() {
    let job = flash_attn("2.8.3", "6.2", "2.5.1", "ck", "");
    let argv = container_argv(&job, Devices::Absent, &[44]);
    for gone in ["/dev/", "--group-add", "SYS_PTRACE", "seccomp"] {
        assert!(!argv.contains(gone), "{gone}: {argv}");
    }
    assert_eq!(Devices::resolve(GpuPolicy::Auto, false), Devices::Absent);
    assert_eq!(Devices::resolve(GpuPolicy::Auto, true), Devices::Present);
    assert_eq!(Devices::resolve(GpuPolicy::None, true), Devices::Absent);
    assert_eq!(Devices::resolve(GpuPolicy::Required, false), Devices::Present);
}

/// D5
#[test]
fn groups_are_named_or_numbered_and_shared_memory_has_a_size() {
    let groups = |more: &str, gids: &[u32]| {
        let argv = container_argv(&flash_attn("2.8.3", "6.2", "2.5.1", "ck", more), Devices::Present, gids);
        let words: Vec<String> = argv.split(' ').map(str::to_owned).collect();
        words.windows(2).filter(|pair| pair[0] == "--group-add").map(|pair| pair[1].clone()).collect::<Vec<_>>()
    };
    let both = "docker: {groups: [video, render, \"4711\"], shm-size: 16G}";
    assert_eq!(groups(both, &[]), ["video", "render", "4711"]);
    assert_eq!(groups(both, &[44, 109]), ["44", "109", "4711"]);
    assert_eq!(groups("docker: {groups: [video, render], gid: name}", &[44, 109]), ["video", "render"]);
    let argv = container_argv(&flash_attn("2.8.3", "6.2", "2.5.1", "ck", both), Devices::Absent, &[]);
    assert!(argv.contains("--shm-size 16G"));
}

/// D6
#[test]
fn the_stack_is_raised_above_three_targets() {
    let raised = |gfx: &str| {
        let job = jobs(&format!(
            "distribution: rmx-vecadd\nrecipe: hip-extension\naxes: {{rmx-vecadd: [\"0.1.0\"], python: [\"3.11\"], rocm: [\"6.2\"]}}\n\
             gfx: [{gfx}]\ntorch-from: host\n"
        ))
        .remove(0);
        container_argv(&job, Devices::Absent, &[]).contains("--ulimit stack=67108864:67108864")
    };
    assert!(!raised("gfx906, gfx90a, gfx942"));
    assert!(raised("gfx906, gfx90a, gfx942, gfx1030"));
}

/// D7
#[test]
fn an_image_with_another_python_is_refused_where_its_python_is_used() {
    let image = "rocm/pytorch:rocm7.1.1_ubuntu24.04_py3.12_pytorch_release_2.9.1";
    let with = |from: &str| {
        flash_attn("2.8.3", "6.2", "2.5.1", "ck", &format!("python-from: {from}\nimage: {{digest: ignore}}"))
    };
    let fault = container::image(&with("image"), Some(image)).unwrap_err();
    assert_eq!(fault.code.id, "B009");
    assert_eq!(fault.message, format!("image `{image}` holds Python 3.12, and the job is for 3.11"));
    assert!(container::image(&with("uv"), Some(image)).is_ok());
    assert!(
        container::image(&with("image"), Some("rocm/pytorch:rocm6.2_ubuntu22.04_py3.11_pytorch_release_2.5.1")).is_ok()
    );
}

/// D7
#[test]
fn each_source_of_python_has_its_own_step() {
    let python = |from: &str| {
        let build = made(&flash_attn("2.8.3", "6.2", "2.5.1", "ck", &format!("python-from: {from}"))).unwrap();
        let step = build.steps.into_iter().find(|step| step.stage == "python").unwrap();
        step.argv.into_iter().filter(|word| !word.contains('\n')).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(python("uv"), "bash -c uv.sh 3.11 /rock/venv");
    assert_eq!(python("deadsnakes"), "bash -c deadsnakes.sh python3.11  python3.11 /rock/venv");
    assert_eq!(python("manylinux"), "/opt/python/cp311-cp311/bin/python -m venv /rock/venv");
    assert_eq!(python("image"), "python3 -m venv --system-site-packages /rock/venv");
}

/// D8
#[test]
fn the_index_has_the_exact_suffix_of_the_facts() {
    let torch = |rocm, torch, more| argv(&made(&flash_attn("2.8.3", rocm, torch, "ck", more)).unwrap(), "torch");
    assert_eq!(
        torch("6.2.4", "2.6.0", ""),
        "/rock/venv/bin/python -m pip install torch==2.6.0 --index-url https://download.pytorch.org/whl/rocm6.2.4"
    );
    assert!(torch("7.1.1", "2.10.0", "").ends_with("/whl/rocm7.1"));
    assert_eq!(
        torch("7.2", "2.15.0.dev20261101", "unknown: lenient"),
        "/rock/venv/bin/python -m pip install --pre torch==2.15.0.dev20261101 --index-url \
         https://download.pytorch.org/whl/nightly/rocm7.2"
    );
    assert_eq!(
        torch("7.2", "2.14.0rc1", "unknown: lenient"),
        "/rock/venv/bin/python -m pip install --pre torch==2.14.0rc1 --index-url \
         https://download.pytorch.org/whl/test/rocm7.2",
        "a release candidate is on the test index, not on the nightly one"
    );
    assert!(
        torch("6.2", "2.5.1", "torch-from: amd-index")
            .ends_with("--find-links https://repo.radeon.com/rocm/manylinux/rocm-rel-6.2/")
    );
    let mirror = "indexes: {torch: \"https://mirror.example.org/rocm{rocm}\"}";
    assert!(torch("6.2", "2.5.1", mirror).ends_with("--index-url https://mirror.example.org/rocm6.2"));
}

/// D8
#[test]
fn torch_of_the_image_or_the_machine_is_not_installed() {
    let mut image = flash_attn("2.8.3", "6.2", "2.5.1", "ck", "python-from: image");
    image.settings.torch_from = crate::config::TorchFrom::Image;
    let build = made(&image).unwrap();
    assert_eq!(stages(&build)[..2], ["tools", "fetch-flash-attn"]);
    assert!(argv(&build, "build").starts_with("python3 -m pip wheel"));
    let job = flash_attn(
        "2.8.3",
        "6.2",
        "2.5.1",
        "triton",
        "torch-from: host\npython-from: host\nvars: {python: /usr/bin/python3}",
    );
    let build = made_at(&job, &Site::Script).unwrap();
    assert_eq!(stages(&build), ["fetch-flash-attn", "unpack-flash-attn", "edit-1", "build", "record", "smoke-test"]);
    assert!(argv(&build, "build").starts_with("/usr/bin/python3 -m pip wheel --no-build-isolation --no-deps"));
}

/// D9
#[test]
fn tools_that_an_image_lacks_are_installed() {
    let build = made(&flash_attn("2.8.3", "6.2", "2.5.1", "ck", "")).unwrap();
    let tools = argv(&build, "tools");
    for tool in ["git:git", "ninja:ninja-build", "patchelf:patchelf", "ccache:ccache", "time:time", "gh:gh"] {
        assert!(tools.contains(tool), "{tool}");
    }
    let host = made_at(&flash_attn("2.8.3", "6.2", "2.5.1", "ck", ""), &Site::Script).unwrap();
    assert!(!stages(&host).contains(&"tools"), "nothing is installed into a person's machine");
}

/// D11
#[test]
fn an_image_without_a_digest_is_a_warning_an_error_or_nothing() {
    let pinned = format!("example.org/image:1@sha256:{}", "ab".repeat(32));
    let job = |rule: &str| flash_attn("2.8.3", "6.2", "2.5.1", "ck", &format!("image: {{digest: {rule}}}"));
    let (image, found) = container::image(&job("warn"), Some(&pinned)).map(|(i, t)| (i.to_owned(), t)).unwrap();
    assert_eq!((image.as_str(), found.len()), (pinned.as_str(), 0));
    let found = container::image(&job("warn"), Some("example.org/image:1")).unwrap().1;
    assert_eq!(told(&found), ["B006: image `example.org/image:1` is not pinned by a digest"]);
    assert!(!found[0].is_error());
    assert!(container::image(&job("require"), Some("example.org/image@sha256:abc")).unwrap_err().is_error());
    assert!(container::image(&job("ignore"), Some("example.org/image:1")).unwrap().1.is_empty());
    let mut none = job("warn");
    none.image = None;
    assert_eq!(container::image(&none, None).unwrap_err().code.id, "B005");
}

/// W6
#[test]
fn the_install_test_asks_the_metadata_for_the_label() {
    let build = made(&flash_attn("2.8.3", "6.2", "2.5.1", "triton", "")).unwrap();
    let step = build.steps.last().unwrap();
    assert_eq!(step.stage, "smoke-test");
    assert_eq!(step.argv[3..6], ["dist/triton/flash_attn-*.whl", "flash-attn", "2.8.3+rocm62torch2.5triton"]);
    assert!(step.argv[2].contains("importlib.metadata.version(distribution)"));
    assert!(step.argv[6].contains("flash_attn_triton_amd"));
    let ck = made(&flash_attn("2.8.3", "6.2", "2.5.1", "ck", "")).unwrap();
    assert!(ck.steps.last().unwrap().argv[6].contains("import torch, flash_attn_2_cuda"));
}

#[test]
fn a_commit_and_a_version_without_a_source_distribution_come_from_git() {
    let commit = "fa2:4a948e9d1a2b3c4d5e6f708192a3b4c5d6e7f809";
    let build = made(&flash_attn(commit, "7.2", "2.14.0", "ck", "")).unwrap();
    assert!(
        argv(&build, "checkout-flash-attn-git").ends_with("checkout --detach 4a948e9d1a2b3c4d5e6f708192a3b4c5d6e7f809")
    );
    assert!(build.warnings.is_empty());
    let tagged = made(&flash_attn("2.7.4", "6.2", "2.5.1", "ck", "")).unwrap();
    assert!(argv(&tagged, "fetch-flash-attn-git").contains(" --branch=v2.7.4 "));
    assert!(argv(&tagged, "checkout-flash-attn-git").ends_with("checkout --detach HEAD"));
    assert_eq!(tagged.warnings[0].code.id, "B011");
}

#[test]
fn what_a_job_cannot_be_built_with_is_told() {
    let mut windows = flash_attn("2.8.3", "6.2", "2.5.1", "ck", "");
    windows.settings.platform = crate::config::Platform::Windows;
    windows.settings.python_from = crate::config::PythonFrom::Manylinux;
    assert_eq!(told(&made(&windows).unwrap_err()), ["B007: there is no Python of `python-from: manylinux` on Windows"]);
    let mut unknown = flash_attn("2.8.3", "6.2", "2.5.1", "ck", "");
    unknown.settings.vars.insert("opt-dims".into(), "64".into());
    let faults = made(&unknown).unwrap_err();
    assert_eq!(told(&faults), ["B008: recipe `flash-attn` has no variable `opt-dims`"]);
    assert_eq!(faults[0].help.as_deref(), Some("did you mean `opt-dim`?"));
    let mut image = flash_attn("2.8.3", "6.2", "2.5.1", "ck", "");
    image.settings.torch_from = crate::config::TorchFrom::Image;
    let faults = made(&image).unwrap_err();
    assert_eq!(told(&faults), ["B010: the torch of `torch-from: image` is not there for `python-from: uv`"]);
}

#[test]
fn no_path_of_a_recipe_leaves_the_folder_of_the_job() {
    let job = flash_attn("2.8.3", "6.2", "2.5.1", "ck", "");
    let make = |text: &str| {
        build(&job, &document(text), &Compat::embedded(), &Site::Container, &BTreeMap::new()).map_err(|f| told(&f))
    };
    for (part, path) in [
        ("edits: [{remove: [/etc/passwd]}]", "/etc/passwd"),
        ("edits: [{file: src/../../x, find: y}]", "src/../../x"),
        ("collect: {wheels: ../*.whl}", "../*.whl"),
    ] {
        let faults = make(&format!("{part}\nsteps: [{{stage: build, argv: [make]}}]\n")).unwrap_err();
        assert_eq!(faults, [format!("B012: `{path}` is not in the job's folder")]);
    }
    for part in ["clean: [..]", "cwd: /tmp", "outputs: {wheel: {glob: ../x}}"] {
        let faults = make(&format!("steps: [{{stage: build, argv: [make], {part}}}]\n")).unwrap_err();
        assert!(faults[0].starts_with("B012: "), "{faults:?}");
    }
    assert!(make("steps: [{stage: build, argv: [make], clean: [dist/..x, .hidden]}]\n").is_ok());
}

fn document(rest: &str) -> crate::config::recipe::RecipeDocument {
    let mut sink = Sink::new();
    let text = format!("recipe: 1\nname: flash-attn\n{rest}");
    let found = from_source(&Source::new("recipes/flash-attn.yaml", text), &mut sink);
    found.unwrap_or_else(|| panic!("{:?}", sink.finish()))
}

const STEP: &str = "steps: [{stage: build, argv: [make, \"{{ last }}\"]}]\n";

#[test]
fn facts_are_computed_in_the_order_they_need_and_a_circle_is_an_error() {
    let job = flash_attn("2.8.3", "6.2", "2.5.1", "ck", "");
    let given = BTreeMap::new();
    let make = |text: &str| build(&job, &document(text), &Compat::embedded(), &Site::Container, &given);
    let ordered = make(&format!(
        "facts: {{last: {{expr: \"{{{{ middle ~ '!' }}}}\"}}, middle: {{expr: \"{{{{ rocm }}}}\"}}}}\n{STEP}"
    ));
    assert_eq!(argv(&ordered.unwrap(), "build"), "make 6.2!");
    let faults =
        make(&format!("facts: {{last: {{expr: \"{{{{ other }}}}\"}}, other: {{expr: \"{{{{ last }}}}\"}}}}\n{STEP}"))
            .unwrap_err();
    assert_eq!(told(&faults), ["B004: recipe `flash-attn`: facts `last`, `other` cannot be computed"]);
    assert_eq!(faults[0].labels[0].place.to_string(), "recipes/flash-attn.yaml:3:9");
}

#[test]
fn a_fact_may_not_have_the_name_of_a_value_that_every_recipe_has() {
    let job = flash_attn("2.8.3", "6.2", "2.5.1", "ck", "");
    let document = document(&format!("facts: {{last: {{expr: x}}, version: {{expr: x}}}}\n{STEP}"));
    let faults = build(&job, &document, &Compat::embedded(), &Site::Container, &BTreeMap::new()).unwrap_err();
    assert_eq!(told(&faults), ["B001: fact `version` has the name of a value that every recipe sees"]);
}

#[test]
fn a_fact_of_a_table_is_the_first_row_that_fits() {
    let job = flash_attn("2.8.3", "6.2", "2.5.1", "ck", "");
    let make = |fact: &str| {
        let document = document(&format!("facts: {{last: {fact}}}\n{STEP}"));
        build(&job, &document, &Compat::embedded(), &Site::Container, &BTreeMap::new())
    };
    let found = make("{table: torch, where: {torch: \"{{ torch|minor }}\"}, column: rocm-index}").unwrap();
    assert_eq!(argv(&found, "build"), "make 6.1 6.2");
    let found = make("{table: torch, where: {rocm-index: \"6.2.4\", python: \"3.13\"}, column: torch}").unwrap();
    assert_eq!(argv(&found, "build"), "make 2.6");
    let found = make("{table: torch, where: {torch: \"0.1\"}, column: torch, default: none}").unwrap();
    assert_eq!(argv(&found, "build"), "make none");
    for (fact, message) in [
        ("{table: torhc, column: x}", "B002: fact `last`: there is no table `torhc`"),
        ("{table: torch, column: x}", "B002: fact `last`: table `torch` has no column `x`"),
        (
            "{table: torch, where: {torch: \"0.1\"}, column: torch}",
            "B002: fact `last`: table `torch` has no row with torch 0.1",
        ),
    ] {
        let faults = make(fact).unwrap_err();
        let notes = faults[0].notes.join(" ");
        assert!(told(&faults)[0] == message || notes.contains(&message[6..]), "{faults:?}");
    }
}

/// TB16
#[test]
fn the_newest_row_up_to_a_version_is_taken() {
    let job = flash_attn("2.8.3", "6.2", "2.5.1", "ck", "");
    let names = |platform: &str, sdk: &str| {
        let fact = format!(
            "{{table: preloads, where: {{platform: {platform}}}, at-most: {{since: \"{sdk}\"}}, column: names}}"
        );
        let document = document(&format!("facts: {{last: {fact}}}\n{STEP}"));
        let build = build(&job, &document, &Compat::embedded(), &Site::Container, &BTreeMap::new());
        build.map(|build| argv(&build, "build")).map_err(|faults| faults[0].notes.join(" "))
    };
    let seed = names("linux", "7.0.0").unwrap();
    assert!(seed.starts_with("make amd_comgr amdhip64 rocprofiler-sdk-roctx ") && !seed.contains("hipdnn"), "{seed}");
    assert!(
        names("linux", "7.14.0a20260815").unwrap().ends_with("roctx64 rccl"),
        "a prerelease of 7.14 is older than it"
    );
    assert!(names("linux", "7.15.0").unwrap().ends_with("roctx64 rccl hipfile"));
    assert!(names("windows", "7.14.0").unwrap().ends_with("miopen hipdnn rocm-openblas"));
    let why = names("linux", "6.4.0").unwrap_err();
    assert!(why.contains("has no row with platform linux, since up to 6.4.0"), "{why}");
}

/// TB13
#[test]
fn the_first_path_that_is_there_is_asked_for() {
    let job = flash_attn("2.8.3", "6.2", "2.5.1", "ck", "");
    let document = document(&format!("facts: {{last: {{path: [src/t/python/setup.py, src/t/setup.py]}}}}\n{STEP}"));
    let asked =
        questions(&job, &document, &Compat::embedded(), &Site::Container, &BTreeMap::new(), &mut |_, _| None).unwrap();
    let paths = ["src/t/python/setup.py", "src/t/setup.py"].map(str::to_owned);
    assert_eq!(asked, [("last".to_owned(), Question::FirstPath(paths.into()))]);
}

#[test]
fn a_pattern_takes_its_group_out_of_a_file() {
    assert_eq!(super::found(" 2.9.0a0\n", "").as_deref(), Some("2.9.0a0"));
    assert_eq!(super::found("set(V 1)\nset(W 23)", r"set\(W (\d+)\)").as_deref(), Some("23"));
    assert_eq!(
        super::found("build-backend = \"scikit_build_core.build\"", "scikit_build_core").as_deref(),
        Some("scikit_build_core")
    );
    assert_eq!(super::found("x", "y"), None);
}

#[test]
fn a_check_takes_stand_ins_for_what_conditions_look_into() {
    let job = flash_attn("2.8.3", "6.2", "2.5.1", "ck", "");
    let when = "steps: [{stage: old, argv: [a], when: \"{{ base|in_range('<2.11') }}\"}, {stage: new, argv: [b]}]\n";
    let make = |fact: &str| {
        let document = document(&format!("facts: {{base: {fact}}}\n{when}"));
        let build = build(&job, &document, &Compat::embedded(), &Site::Container, &BTreeMap::new());
        build.map(|build| build.steps.iter().any(|step| step.stage == "old")).map_err(|faults| told(&faults))
    };
    assert_eq!(make("{file: version.txt, stand-in: 2.9.0}"), Ok(true));
    assert_eq!(make("{file: version.txt, stand-in: 2.12.0, default: 2.9.0}"), Ok(false));
    assert!(make("{file: version.txt}").is_err(), "`<base>` is no version");
}

#[test]
fn a_variable_is_extended_where_an_earlier_line_set_it() {
    let job = flash_attn("2.8.3", "6.2", "2.5.1", "ck", "");
    let document = document(
        "env: {A: one, B: {prepend: /b}, C: null}\nsteps:\n  - {stage: x, argv: [a], env: {A: {append: two, sep: ' '}, B: {prepend: /c}, C: \
         {append: z}, D: {append: ''}}}\n",
    );
    let build = build(&job, &document, &Compat::embedded(), &Site::Container, &BTreeMap::new()).unwrap();
    let step = build.steps.iter().find(|step| step.stage == "x").unwrap();
    assert_eq!((step.env["A"].as_str(), step.env["C"].as_str()), ("one two", "z"));
    assert_eq!(step.env_extend["B"].apply(Some("/usr")), "/c:/b:/usr");
    assert!(!step.env_extend.contains_key("D") && step.env_remove.is_empty());
}

#[test]
fn what_a_step_made_is_installed_where_later_ones_need_it() {
    let job = flash_attn("2.8.3", "6.2", "2.5.1", "ck", "");
    let document = document("steps: [{stage: x, argv: [a], outputs: {triton: {glob: dist/t-*.whl, install: true}}}]\n");
    let build = build(&job, &document, &Compat::embedded(), &Site::Container, &BTreeMap::new()).unwrap();
    let install = build.steps.iter().find(|step| step.stage == "install-triton").unwrap();
    assert_eq!(install.argv[3..], ["dist/t-*.whl", "1"]);
}

#[test]
fn questions_are_asked_until_all_is_known() {
    let job = flash_attn("2.8.3", "6.2", "2.5.1", "ck", "");
    let document = document(&format!(
        "facts:\n  root: {{command: [rocm_sdk, path, --root]}}\n  release: {{file: \"{{{{ root }}}}/version.txt\"}}\n  \
         token: {{env: TOKEN, default: none}}\n  last: {{expr: \"{{{{ release }}}}\"}}\n{STEP}"
    ));
    let ask = |given: &BTreeMap<String, String>| {
        questions(&job, &document, &Compat::embedded(), &Site::Container, given, &mut |_, _| None).unwrap()
    };
    let mut given = BTreeMap::new();
    let command = Question::Command(["rocm_sdk", "path", "--root"].map(str::to_owned).into());
    assert_eq!(ask(&given), [("root".to_owned(), command), ("token".to_owned(), Question::Variable("TOKEN".into()))]);
    given.insert("root".to_owned(), "/opt/rocm".to_owned());
    given.insert("token".to_owned(), String::new());
    assert_eq!(
        ask(&given),
        [("release".to_owned(), Question::File { path: "/opt/rocm/version.txt".into(), find: String::new() })]
    );
    given.insert("release".to_owned(), "7.10.0".to_owned());
    assert_eq!(ask(&given), []);
    let known = build(&job, &document, &Compat::embedded(), &Site::Container, &given).unwrap();
    assert_eq!(argv(&known, "build"), "make 7.10.0");
    let dry = build(&job, &document, &Compat::embedded(), &Site::Container, &BTreeMap::new()).unwrap();
    assert_eq!(argv(&dry, "build"), "make <release>");
}

#[test]
fn every_fault_of_a_recipe_is_told_once_with_how_many_jobs_have_it() {
    let jobs = jobs(
        "axes: {flash-attn: [\"2.8.3\"], python: [\"3.10\", \"3.11\"], torch: [\"2.5.1\"], rocm: [\"6.1\", \"6.2\"]}\ngfx: [gfx90a]\n",
    );
    let document = document(
        "edits: [{file: ../outside, find: x}]\nsteps:\n  - {stage: one, argv: [make, \"{{ verison }}\"]}\n  - {stage: two, when: \
         \"{{ python == '3.10' and nothing }}\", argv: [make]}\n",
    );
    let mut sink = Sink::new();
    check(jobs, &document, &Compat::embedded(), &mut sink);
    let found = sink.finish();
    let lines: Vec<String> = found
        .iter()
        .map(|d| {
            format!(
                "{} {} ({})",
                d.labels.first().map(|l| l.place.to_string()).unwrap_or_default(),
                d.message,
                d.notes.last().unwrap()
            )
        })
        .collect();
    assert_eq!(
        lines,
        [
            "recipes/flash-attn.yaml:5:32 cannot evaluate `{{ verison }}` (for 4 jobs, such as `flash-attn-2.8.3-rocm6.1-torch2.5.1-py3.10`)",
            "recipes/flash-attn.yaml:6:25 cannot evaluate `{{ python == '3.10' and nothing }}` (for 2 jobs, such as `flash-attn-2.8.3-rocm6.1-torch2.5.1-py3.10`)",
            " `../outside` is not in the job's folder (for 4 jobs, such as `flash-attn-2.8.3-rocm6.1-torch2.5.1-py3.10`)",
        ]
    );
}

#[test]
fn the_page_of_recipes_names_every_value() {
    let page = include_str!("../../docs/recipes.md");
    let job = flash_attn("2.8.3", "6.2", "2.5.1", "ck", "");
    let document = crate::config::recipe::embedded("flash-attn").unwrap();
    let values = super::context::values_of(&job, document, &Compat::embedded(), &Site::Container);
    for name in values.keys().filter(|name| *name != "flash_attn") {
        assert!(page.contains(&format!("`{name}`")), "{name}");
    }
}

fn container_argv(job: &crate::plan::Job, devices: Devices, gids: &[u32]) -> String {
    let container = Container {
        engine: Engine::Docker,
        image: "example.org/image:1",
        devices,
        folder: "/jobs/x",
        caller: None,
        device_gids: gids,
        pass_env: &made(job).map(|build| container::passed_env(job, &build)).unwrap_or_default(),
        extra: &[],
        name: None,
    };
    container::argv(job, &container).join(" ")
}
