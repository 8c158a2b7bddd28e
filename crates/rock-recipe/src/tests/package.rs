//! Builds of flash-attn by its recipe: environments, edits, outputs.

use super::{messages, stages};
use crate::fixture::{argv, environment, flash_attn, made};

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

#[test]
fn the_environment_of_a_triton_build_is_exactly_this() {
    let build = made(&flash_attn("2.7.4.post1", "6.2", "2.5.1", "triton", "")).unwrap();
    let expected = [
        "-FLASH_ATTENTION_SKIP_CK_BUILD",
        "-GPU_ARCHS",
        "-OPT_DIM",
        "BUILD_TARGET=rocm",
        "FLASH_ATTENTION_FORCE_BUILD=TRUE",
        "FLASH_ATTENTION_TRITON_AMD_ENABLE=TRUE",
        "FLASH_ATTN_LOCAL_VERSION=rocm62torch2.5triton",
        "MAX_JOBS=(28 per job)",
    ];
    assert_eq!(environment(&build, "build"), expected);
    let fetch = environment(&build, "fetch-flash-attn");
    assert!(
        !fetch.iter().any(|line| line.contains("LOCAL_VERSION")),
        "pip refuses a labelled source: {fetch:?}"
    );
    assert!(fetch.contains(&"BUILD_TARGET=rocm".to_owned()));
}

#[test]
fn only_versions_that_know_the_switch_get_skip_ck_build() {
    let skips = |version, rocm, torch| {
        let build = made(&flash_attn(version, rocm, torch, "triton", "")).unwrap();
        environment(&build, "build")
            .iter()
            .any(|line| line.starts_with("FLASH_ATTENTION_SKIP_CK_BUILD="))
    };
    assert!(skips("2.8.3", "6.2.4", "2.6.0"));
    assert!(!skips("2.7.4", "6.2", "2.5.1"));
    assert!(!skips(
        "fa2:4a948e9d1a2b3c4d5e6f708192a3b4c5d6e7f809",
        "7.2",
        "2.14.0"
    ));
}

#[test]
fn head_dimensions_are_refused_where_the_version_does_not_read_them() {
    let with = |version| {
        made(&flash_attn(
            version,
            "6.2",
            "2.5.1",
            "ck",
            "vars: {opt-dim: \"128\"}",
        ))
    };
    assert!(environment(&with("2.8.3").unwrap(), "build").contains(&"OPT_DIM=128".to_owned()));
    let faults = with("2.7.4").unwrap_err();
    assert_eq!(
        messages(&faults),
        ["B003: flash-attn 2.7.4 does not read OPT_DIM, so `opt-dim` would have no effect"]
    );
    assert_eq!(
        faults[0].help.as_deref(),
        Some("remove `opt-dim` from `vars`, or build 2.8.3 or later")
    );
}

#[test]
fn the_standard_is_rewritten_for_torch_2_14_and_ck_alone() {
    let edits = |version, rocm, torch, backend| {
        let build = made(&flash_attn(version, rocm, torch, backend, "")).unwrap();
        build
            .steps
            .iter()
            .filter(|step| step.argv.iter().any(|word| word == "-std=c++20"))
            .count()
    };
    assert_eq!(edits("2.8.3", "7.2", "2.14.0", "ck"), 1);
    assert_eq!(edits("2.8.3", "7.2", "2.14.0", "triton"), 0);
    assert_eq!(edits("2.8.3", "6.2", "2.5.1", "ck"), 0);
}

#[test]
fn flash_attention_4_is_removed_from_the_sources() {
    let build = made(&flash_attn("2.7.4.post1", "6.2", "2.5.1", "triton", "")).unwrap();
    assert!(argv(&build, "edit-1").ends_with("src/flash-attn/flash_attn/cute"));
}

#[test]
fn each_backend_has_its_own_output_folder_and_cleans_no_other() {
    for (backend, other) in [("ck", "triton"), ("triton", "ck")] {
        let build = made(&flash_attn("2.8.3", "6.1", "2.6.0", backend, "")).unwrap();
        assert_eq!(build.wheels, format!("dist/{backend}/flash_attn-*.whl"));
        let cleaned: Vec<&String> = build.steps.iter().flat_map(|step| &step.clean).collect();
        assert!(cleaned.contains(&&format!("dist/{backend}")));
        let touches_other =
            |path: &&&String| **path == "dist" || path.starts_with(&format!("dist/{other}"));
        assert_eq!(cleaned.iter().find(touches_other), None);
    }
}

#[test]
fn a_number_of_jobs_in_the_matrix_file_is_taken() {
    let build = made(&flash_attn(
        "2.8.3",
        "6.2",
        "2.5.1",
        "ck",
        "vars: {max-jobs: \"6\", gib-per-job: \"4\"}",
    ))
    .unwrap();
    let jobs = build
        .steps
        .iter()
        .find_map(|step| step.jobs.clone())
        .unwrap();
    assert_eq!(
        (jobs.variable.as_str(), jobs.count, jobs.tenths_gib_per_job),
        ("MAX_JOBS", Some(6), 40)
    );
    let faults = made(&flash_attn(
        "2.8.3",
        "6.2",
        "2.5.1",
        "ck",
        "vars: {max-jobs: many}",
    ))
    .unwrap_err();
    assert_eq!(
        messages(&faults),
        ["B002: `many` is not a valid number of jobs for `MAX_JOBS`"]
    );
}

#[test]
fn the_compiler_cache_is_bounded_and_checks_the_compiler_by_content() {
    let build = made(&flash_attn(
        "2.8.3",
        "6.2",
        "2.5.1",
        "ck",
        "workflow: {cache: on}",
    ))
    .unwrap();
    let environment = environment(&build, "build");
    for line in [
        "CCACHE_BASEDIR=/rock",
        "CCACHE_COMPILERCHECK=content",
        "CCACHE_DIR=/rock/ccache",
        "CCACHE_MAXSIZE=5G",
        "PYTORCH_NVCC=/rock/bin/cached-hipcc",
    ] {
        assert!(
            environment.contains(&line.to_owned()),
            "{line}: {environment:?}"
        );
    }
    assert!(stages(&build).contains(&"compiler-cache"));
    let smaller = "workflow: {cache: on}\nvars: {cache-gib: \"2\"}";
    let smaller = made(&flash_attn("2.8.3", "6.2", "2.5.1", "ck", smaller)).unwrap();
    assert!(
        crate::fixture::environment(&smaller, "build").contains(&"CCACHE_MAXSIZE=2G".to_owned())
    );
    let mut shared = flash_attn("2.8.3", "6.2", "2.5.1", "ck", "workflow: {cache: on}");
    for (share, expected) in [(36, "CCACHE_MAXSIZE=36M"), (10_000, "CCACHE_MAXSIZE=5G")] {
        shared.settings.cache_mb = Some(share);
        let build = made(&shared).unwrap();
        assert!(
            crate::fixture::environment(&build, "build").contains(&expected.to_owned()),
            "{share}"
        );
    }
    let without = made(&flash_attn("2.8.3", "6.2", "2.5.1", "ck", "")).unwrap();
    assert!(!stages(&without).contains(&"compiler-cache"));
    assert!(
        !crate::fixture::environment(&without, "build")
            .iter()
            .any(|line| line.contains("CCACHE"))
    );
}

#[test]
fn triton_on_main_warns_of_what_its_setup_installs() {
    let job = flash_attn(
        "fa2:4a948e9d1a2b3c4d5e6f708192a3b4c5d6e7f809",
        "7.2",
        "2.14.0",
        "triton",
        "",
    );
    assert!(
        job.warnings
            .iter()
            .any(|warning| warning.contains("aiter") && warning.contains("does not list torch")),
        "{job:?}"
    );
}

#[test]
fn the_install_test_asks_the_metadata_for_the_label() {
    let build = made(&flash_attn("2.7.4.post1", "6.2", "2.5.1", "triton", "")).unwrap();
    let step = build.steps.last().unwrap();
    assert_eq!(step.stage, "smoke-test");
    assert_eq!(
        step.argv[3..6],
        [
            "dist/triton/flash_attn-*.whl",
            "flash-attn",
            "2.7.4.post1+rocm62torch2.5triton"
        ]
    );
    assert!(step.argv[2].contains("importlib.metadata.version(distribution)"));
    assert!(step.argv[6].contains("flash_attn_triton_amd"));
    let ck = made(&flash_attn("2.8.3", "6.2", "2.5.1", "ck", "")).unwrap();
    let [.., step, libraries] = ck.steps.as_slice() else {
        panic!("{:?}", ck.steps)
    };
    assert!(step.argv[6].contains("import torch, flash_attn_2_cuda"));
    // A wheel for one platform is repaired, and may graft libraries of the container.
    assert_eq!(
        (libraries.stage.as_str(), &libraries.argv[3..5]),
        (
            "libraries",
            ["smoke", "libraries"].map(str::to_owned).as_slice()
        )
    );
}

#[test]
fn a_commit_and_a_version_without_a_source_distribution_come_from_git() {
    let commit = "fa2:4a948e9d1a2b3c4d5e6f708192a3b4c5d6e7f809";
    let build = made(&flash_attn(commit, "7.2", "2.14.0", "ck", "")).unwrap();
    assert!(
        argv(&build, "checkout-flash-attn-git")
            .ends_with("checkout --detach 4a948e9d1a2b3c4d5e6f708192a3b4c5d6e7f809")
    );
    assert!(build.warnings.is_empty());
    let tagged = made(&flash_attn("2.7.4", "6.2", "2.5.1", "ck", "")).unwrap();
    assert!(argv(&tagged, "fetch-flash-attn-git").contains(" --branch=v2.7.4 "));
    assert!(argv(&tagged, "checkout-flash-attn-git").ends_with("checkout --detach HEAD"));
    assert_eq!(tagged.warnings[0].code.id, "B011");
}
