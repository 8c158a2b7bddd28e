//! The steps before a recipe's own: tools, Python and torch.

use std::collections::BTreeMap;

use super::{document, messages, stages};
use crate::fixture::{argv, flash_attn, jobs, made, made_at};
use crate::{BuildSite, build};
use rock_compat::Compat;

#[test]
fn each_source_of_python_has_its_own_step() {
    let python = |from: &str| {
        let build = made(&flash_attn(
            "2.8.3",
            "6.2",
            "2.5.1",
            "ck",
            &format!("python-from: {from}"),
        ))
        .unwrap();
        let step = build
            .steps
            .into_iter()
            .find(|step| step.stage == "python")
            .unwrap();
        step.argv
            .into_iter()
            .filter(|word| !word.contains('\n'))
            .collect::<Vec<_>>()
            .join(" ")
    };
    assert_eq!(python("uv"), "bash -c uv.sh 3.11 /rock/venv");
    assert_eq!(
        python("deadsnakes"),
        "bash -c deadsnakes.sh python3.11  python3.11 /rock/venv"
    );
    assert_eq!(
        python("manylinux"),
        "/opt/python/cp311-cp311/bin/python -m venv /rock/venv"
    );
    assert_eq!(
        python("image"),
        "python3 -m venv --system-site-packages /rock/venv"
    );
}

#[test]
fn the_index_has_the_exact_suffix_of_the_facts() {
    let torch = |rocm: &str, torch: &str, more: &str| {
        argv(
            &made(&flash_attn("2.8.3", rocm, torch, "ck", more)).unwrap(),
            "torch",
        )
    };
    assert_eq!(
        torch("6.2.4", "2.6.0", ""),
        "/rock/venv/bin/python -m pip install torch==2.6.0 --index-url https://download.pytorch.org/whl/rocm6.2.4"
    );
    assert!(torch("7.1.1", "2.10.0", "").ends_with("/whl/rocm7.1"));
    assert_eq!(
        torch("7.14", "2.15.0.dev20261101", "unknown: lenient"),
        "/rock/venv/bin/python -m pip install --pre torch==2.15.0.dev20261101 --index-url \
         https://download.pytorch.org/whl/nightly/rocm7.14"
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
    let amd = |rocm, torch_version, more: &str| {
        let more = format!("torch-from: amd-index\n{more}");
        let line = torch(rocm, torch_version, &more);
        line.strip_prefix("/rock/venv/bin/python -m pip install ")
            .unwrap_or(&line)
            .to_owned()
    };
    assert_eq!(
        amd(
            "7.14.0",
            "2.12.0",
            "gfx: [gfx942, gfx950]\nrocm-precision: patch"
        ),
        "torch[device-gfx942,device-gfx950]==2.12.0+rocm7.14.0 --index-url https://repo.amd.com/rocm/whl-multi-arch/"
    );
    assert_eq!(
        amd("10.1", "2.14.0", "gfx: [gfx942]"),
        "torch[device-gfx942]==2.14.0+rocm10.1.0 --index-url https://stable.repo.amd.com/rocm/whl-next/"
    );
    assert_eq!(
        amd("10.1", "2.14.0rc2", "gfx: [gfx942]\nunknown: lenient"),
        "torch[device-gfx942]==2.14.0rc2 --index-url https://rc.repo.amd.com/rocm/whl-next/"
    );
    let mirror = "indexes: {torch: \"https://mirror.example.org/rocm{rocm}\"}";
    assert!(
        torch("6.2", "2.5.1", mirror).ends_with("--index-url https://mirror.example.org/rocm6.2")
    );
}

#[test]
fn a_build_of_torch_installs_no_torch() {
    let job = flash_attn("2.8.3", "6.2", "2.5.1", "ck", "");
    let installed = |more: &str| document(more).installed_torch(&job).cloned();
    let steps = "steps: [{stage: build, argv: [make]}]\n";
    assert_eq!(installed(steps), job.torch);
    assert_eq!(installed(&format!("builds-torch: true\n{steps}")), None);
}

#[test]
fn torch_of_the_image_or_the_machine_is_not_installed() {
    let mut image = flash_attn("2.8.3", "6.2", "2.5.1", "ck", "python-from: image");
    image.settings.torch_from = rock_plan::config::TorchFrom::Image;
    let build = made(&image).unwrap();
    assert_eq!(stages(&build)[..2], ["tools", "fetch-flash-attn"]);
    assert!(argv(&build, "build").starts_with("python3 -m pip wheel"));
    let job = flash_attn(
        "2.7.4.post1",
        "6.2",
        "2.5.1",
        "triton",
        "torch-from: host\npython-from: host\nvars: {python: /usr/bin/python3}",
    );
    let build = made_at(&job, &BuildSite::Script).unwrap();
    assert_eq!(
        stages(&build),
        [
            "fetch-flash-attn",
            "unpack-flash-attn",
            "edit-1",
            "build",
            "record",
            "smoke-test"
        ]
    );
    assert!(
        argv(&build, "build")
            .starts_with("/usr/bin/python3 -m pip wheel --no-build-isolation --no-deps")
    );
}

#[test]
fn build_requirements_of_a_project_are_installed_next_to_torch() {
    let extension = |axes: &str, more: &str| {
        let job = jobs(&format!(
            "distribution: own\nrecipe: hip-extension\ngfx: [gfx942]\n\
             axes: {{own: [\"1.0\"], python: [\"3.12\"], rocm: [\"6.4\"]{axes}}}\n{more}\n"
        ))
        .remove(0);
        let build = made(&job).unwrap();
        let is_isolated = !argv(&build, "build").contains("--no-build-isolation");
        let step = build
            .steps
            .iter()
            .find(|step| step.stage == "build-requirements");
        (is_isolated, step.map(|step| step.argv[0].clone()))
    };
    let torch = ", torch: [\"2.9.1\"]";
    let python = Some("/rock/venv/bin/python".to_owned());
    assert_eq!(extension(torch, "vars: {source: .}"), (false, python));
    assert_eq!(extension("", "vars: {source: .}"), (true, None));
    assert_eq!(
        extension(torch, "vars: {source: ., isolation: \"on\"}"),
        (true, None)
    );
    assert_eq!(
        extension(torch, "vars: {source: ., isolation: \"off\"}"),
        (false, None)
    );
    // The path begins like that of the job directory in a container, `/rock`.
    let host = "vars: {source: ., python: /rock-env/bin/python}\npython-from: host\n\
        torch-from: host";
    assert_eq!(
        extension(torch, host),
        (false, None),
        "nothing is installed into the Python of the host"
    );
}

#[test]
fn tools_that_an_image_lacks_are_installed() {
    let build = made(&flash_attn("2.8.3", "6.2", "2.5.1", "ck", "")).unwrap();
    let tools = argv(&build, "tools");
    for tool in [
        "git:git",
        "ninja:ninja-build",
        "patchelf:patchelf",
        "ccache:ccache",
        "time:time",
        "gh:gh",
    ] {
        assert!(tools.contains(tool), "{tool}");
    }
    let host = made_at(
        &flash_attn("2.8.3", "6.2", "2.5.1", "ck", ""),
        &BuildSite::Script,
    )
    .unwrap();
    assert!(
        !stages(&host).contains(&"tools"),
        "nothing is installed into a person's machine"
    );
}

#[test]
fn errors_that_prevent_a_build_are_reported() {
    let mut windows = flash_attn("2.8.3", "6.2", "2.5.1", "ck", "");
    windows.settings.platform = rock_names::Platform::Windows;
    windows.settings.python_from = rock_plan::config::PythonFrom::Manylinux;
    assert_eq!(
        messages(&made(&windows).unwrap_err()),
        ["B007: `python-from: manylinux` is not available on Windows"]
    );
    let mut unknown = flash_attn("2.8.3", "6.2", "2.5.1", "ck", "");
    unknown.settings.vars.insert("opt-dims".into(), "64".into());
    let faults = made(&unknown).unwrap_err();
    assert_eq!(
        messages(&faults),
        ["B008: recipe `flash-attn` has no variable `opt-dims`"]
    );
    assert_eq!(faults[0].help.as_deref(), Some("did you mean `opt-dim`?"));
    let mut image = flash_attn("2.8.3", "6.2", "2.5.1", "ck", "");
    image.settings.torch_from = rock_plan::config::TorchFrom::Image;
    let faults = made(&image).unwrap_err();
    assert_eq!(
        messages(&faults),
        ["B010: `python-from: uv` cannot use the torch of `torch-from: image`"]
    );
}

/// The address is not guessed: pip would install a torch for another vendor from its default index.
#[test]
fn without_an_index_of_torch_the_job_is_refused() {
    let mut tables = Compat::embedded().all_tables();
    tables.torch_indexes.clear();
    let compat = Compat::new(tables);
    let document = rock_plan::config::recipe::embedded("flash-attn").unwrap();
    let of = |more: &str| {
        let job = flash_attn("2.8.3", "6.2", "2.5.1", "ck", more);
        build(
            &job,
            document,
            &compat,
            &BuildSite::Container,
            &BTreeMap::new(),
        )
        .map(|_| ())
        .map_err(|faults| messages(&faults))
    };
    let message =
        "B073: the compatibility data has no index of `torch-from: pytorch-index` for torch 2.5.1"
            .to_owned();
    assert_eq!(of(""), Err(vec![message]));
    assert_eq!(
        of("indexes: {torch: \"https://mirror.example.org/rocm{rocm}\"}"),
        Ok(())
    );
}
