//! Versions that came out lately: torch, ROCm and its HIP, flash-attn, indexes and images.

use serde_json::Value;

use crate::support::Project;

fn plan(text: &str) -> Value {
    let ran = Project::new()
        .file("m.yaml", text)
        .run(&["plan", "m.yaml", "--format", "json"])
        .exits(0);
    assert_eq!(ran.stderr, "", "nothing is unknown");
    ran.json()
}

fn wheels(plan: &Value) -> Vec<&str> {
    plan["jobs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|job| job["wheel"].as_str().unwrap())
        .collect()
}

#[test]
fn torch_2_15_is_planned_for_rocm_10_and_python_3_15() {
    let matrix = "version: 1\ndistribution: rmx-vecadd\nrecipe: hip-extension\nvars: {source: .}\nlabel-style: dotted\n\
                  gfx: [gfx942]\naxes:\n  rmx-vecadd: [\"0.1.0\"]\n  python: [\"3.10\", \"3.15\"]\n  torch: [\"2.14.1\", \"2.15.0\"]\n\
                  \x20 rocm: [\"7.2\", \"7.14\", \"10.0\"]\n";
    insta::assert_snapshot!(wheels(&plan(matrix)).join("\n"), @"
    rmx_vecadd-0.1.0+rocm7.2torch2.14-cp310-cp310-linux_x86_64.whl
    rmx_vecadd-0.1.0+rocm7.14torch2.14-cp310-cp310-linux_x86_64.whl
    rmx_vecadd-0.1.0+rocm7.14torch2.15-cp315-cp315-linux_x86_64.whl
    rmx_vecadd-0.1.0+rocm10.0torch2.15-cp315-cp315-linux_x86_64.whl
    ");
}

#[test]
fn flash_attn_2_8_3_post2_comes_with_its_digest() {
    let matrix = "version: 1\ndistribution: flash-attn\nrecipe: flash-attn\ngfx: [gfx942]\naxes:\n  flash-attn: [\"2.8.3.post2\"]\n\
                  \x20 python: [\"3.12\"]\n  torch: [\"2.9.1\"]\n  rocm: [\"6.4\"]\n  backend: [ck]\n";
    let ran = Project::new()
        .file("m.yaml", matrix)
        .run(&["render", "script", "m.yaml"])
        .exits(0);
    let digest = "d0f9f0b08a986cdeadbffcf5ec8b3a8f514366c68ad1853d3ab061bc83cc340b";
    assert!(
        ran.stdout.contains("flash-attn==2.8.3.post2") && ran.stdout.contains(digest),
        "{}",
        ran.stdout
    );
    assert_eq!(ran.stderr, "");
}

#[test]
fn targets_newer_than_a_rocm_are_left_out() {
    let explained = |gfx: &str, code: i32| {
        let arguments = [
            "compat",
            "explain",
            &format!("gfx={gfx}"),
            "rocm=6.1",
            "--format",
            "json",
        ]
        .map(str::to_owned);
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let text = Project::new().run(&arguments).exits(code).stdout;
        text.contains(&format!("{gfx} needs ROCm 6.2 or later"))
    };
    for gfx in ["gfx1151", "gfx1200", "gfx1201"] {
        assert!(explained(gfx, 1), "{gfx}");
    }
    assert!(!explained("gfx1100", 0));
}

#[test]
fn families_are_refused_on_the_platform_that_lacks_them() {
    let matrix = |platform: &str, runner: &str| {
        format!(
            "version: 1\ndistribution: torch\nrecipe: torch\nplatform: {platform}\nrunner: {runner}\nlabel-style: dotted\n\
             rocm-precision: patch\ntorch-from: host\ngfx: [gfx90c, gfx1151]\n\
             axes: {{python: [\"3.12\"], torch-ref: [release/2.12], rocm: [\"7.14.0\"]}}\n"
        )
    };
    let targets = |text: &str| {
        let project = Project::new().file("m.yaml", text);
        project
            .run(&["plan", "m.yaml", "--format", "json"])
            .exits(0)
            .json()["jobs"][0]["gfx"]
            .clone()
    };
    assert_eq!(
        targets(&matrix("linux", "self-hosted")),
        serde_json::json!(["gfx90c", "gfx1151"])
    );
    assert_eq!(
        targets(&matrix("windows", "windows-2022")),
        serde_json::json!(["gfx1151"])
    );
}

#[test]
fn shipped_torch_matrices_plan_without_unknown_rows() {
    for name in ["pytorch", "pytorch-windows", "aotriton"] {
        let file = format!("matrices/{name}.yaml");
        let ran = Project::new()
            .copy(&file, &file)
            .run(&["plan", &file, "--format", "json"])
            .exits(0);
        assert_eq!(ran.stderr, "", "{name}");
        assert_eq!(ran.json()["excluded"], serde_json::json!([]), "{name}");
    }
    let script = Project::new()
        .copy("matrices/pytorch.yaml", "m.yaml")
        .run(&["render", "script", "m.yaml", "--json"])
        .exits(0)
        .stdout;
    assert!(
        script.contains("https://repo.amd.com/rocm/whl-multi-arch/"),
        "{script}"
    );
    assert!(
        script.contains("rocm[libraries,devel,device-gfx942,"),
        "{script}"
    );
}

#[test]
fn archives_of_aotriton_are_named_for_the_hip_of_a_rocm() {
    let digests = ["1".repeat(64), "2".repeat(64)]
        .map(|digest| format!("\"{digest}\""))
        .join("\n");
    let cmake = format!(
        "set(__AOTRITON_VER \"0.13b\")\nset(__AOTRITON_MANYLINUX_LIST\n\"manylinux_2_28\"\n\"manylinux_2_28\")\n\
         set(__AOTRITON_ROCM_LIST\n\"rocm7.14\"\n\"rocm7.15\")\nif(DEFINED ENV{{PYTORCH_AOTRITON_COMMIT}})\n\
         set(__AOTRITON_CI_COMMIT \"$ENV{{PYTORCH_AOTRITON_COMMIT}}\")\nelse()\n\
         set(__AOTRITON_CI_COMMIT \"6e00ef3e335b45dfb49065259533b59c68995bfe\")\nendif()\n\
         set(__AOTRITON_SHA256_LIST\n{digests})\nset(__AOTRITON_Z \"gz\")\n"
    );
    let project = Project::new()
        .file("torch/version.txt", "2.14.0a0\n")
        .file("torch/cmake/External/aotriton.cmake", &cmake);
    let taken = |rocm: &str| {
        let arguments = [
            "source", "pins", "torch", "--rocm", rocm, "--format", "json",
        ];
        project.run(&arguments).exits(0).json()["aotriton"]["taken"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    assert_eq!(
        taken("7.14"),
        "aotriton-0.13b-manylinux_2_28_x86_64-rocm7.14-shared.tar.gz"
    );
    assert_eq!(
        taken("10.0.0"),
        "aotriton-0.13b-manylinux_2_28_x86_64-rocm7.15-shared.tar.gz"
    );
    assert!(
        taken("10.1").starts_with("none: the library is built from source"),
        "{}",
        taken("10.1")
    );
}
