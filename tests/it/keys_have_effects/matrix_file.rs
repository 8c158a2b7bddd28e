use rock_matrix::config::MATRIX_FILE;
use serde_json::{Value, json};

use super::{Case, Elsewhere, assert_effects, merge, observed};
use crate::support::{Project, Wheel};

const PLAN: &str = "plan m.yaml";
const SCRIPT: &str = "render script m.yaml --engine docker --out out/";
const WORKFLOW: &str = "render workflow m.yaml --out out.yml";
const RENDER: &str = "render m.yaml --engine docker";
const INDEX: &str = "index yank dist --rules m.yaml";

/// Groups have numbers only where the device nodes are.
const ELSEWHERE: [Elsewhere; 1] = [Elsewhere {
    key: "docker.gid",
    file: "crates/rock-recipe/src/tests/container.rs",
    test: "groups_are_named_or_numbered_and_shared_memory_has_a_size",
}];

/// One legal combination, built in a container and compiled for one target.
fn base() -> Value {
    json!({
        "version": 1,
        "distribution": "flash-attn",
        "axes": {"flash-attn": ["2.8.3"], "python": ["3.11"], "torch": ["2.7.1"], "rocm": ["6.3"], "backend": ["ck"]},
        "gfx": ["gfx942"],
    })
}

/// The changes of [`base`] that build torch against the packages of the ROCm SDK.
fn torch_from_source(more: &Value) -> Value {
    let mut changes = json!({
        "distribution": "torch",
        "axes": {"flash-attn": null, "backend": null, "torch": ["2.10.0"], "python": ["3.12"], "rocm": ["7.14.0"]},
        "torch-from": "host",
        "python-from": "host",
        "unknown": "lenient",
        "vars": {"torch-ref": "main"},
        "gpu": "none",
    });
    merge(&mut changes, more);
    changes
}

fn include(set: &Value) -> Value {
    json!({"include": [{"axes": {"backend": "ck"}, "set": set}]})
}

fn cases() -> Vec<Case> {
    let none = || json!({});
    let pages = |more: Value| {
        let mut release = json!({"release": {"pages": true}});
        merge(&mut release, &more);
        release
    };
    let cell = json!({"flash-attn": "2.8.3", "python": "3.12", "torch": "2.7.1", "rocm": "6.3", "backend": "ck"});
    vec![
        Case::failing("matrix file.version", none(), json!({"version": 2}), PLAN),
        Case::new(
            "matrix file.enabled",
            none(),
            json!({"enabled": false}),
            PLAN,
        ),
        Case::new(
            "matrix file.distribution",
            none(),
            json!({"distribution": "mine", "recipe": "flash-attn", "axes": {"flash-attn": null, "mine": ["2.8.3"]}}),
            PLAN,
        ),
        Case::new(
            "matrix file.recipe",
            none(),
            json!({"recipe": "hip-extension", "vars": {"source": "."}, "axes": {"backend": null}}),
            RENDER,
        ),
        Case::new(
            "matrix file.platform",
            torch_from_source(&none()),
            json!({"platform": "windows", "runner": "windows-2022"}),
            PLAN,
        ),
        Case::new(
            "matrix file.release-type",
            torch_from_source(
                &json!({"axes": {"torch": null, "python": null, "torch-ref": null}, "vars": null, "release-type": "ci"}),
            ),
            json!({"release-type": "nightly"}),
            PLAN,
        ),
        Case::new(
            "matrix file.axes",
            none(),
            json!({"axes": {"python": ["3.12"]}}),
            PLAN,
        ),
        Case::new("matrix file.rows", none(), json!({"rows": [cell]}), PLAN),
        Case::new(
            "matrix file.gfx",
            none(),
            json!({"gfx": ["gfx90a"]}),
            SCRIPT,
        ),
        Case::new(
            "matrix file.exclude",
            none(),
            json!({"exclude": [{"backend": "ck"}]}),
            PLAN,
        ),
        Case::new(
            "include entry.axes",
            include(&json!({"gpu": "none"})),
            json!({"include": [{"axes": cell, "set": {"gpu": "none"}}]}),
            PLAN,
        ),
        Case::new(
            "set of an include entry.runner",
            none(),
            include(&json!({"runner": "ubuntu-24.04"})),
            RENDER,
        ),
        Case::new(
            "set of an include entry.gpu",
            none(),
            include(&json!({"gpu": "none"})),
            RENDER,
        ),
        Case::new(
            "set of an include entry.gfx",
            none(),
            include(&json!({"gfx": ["gfx90a"]})),
            SCRIPT,
        ),
        Case::new(
            "set of an include entry.image",
            none(),
            include(&json!({"image": "docker.io/a/b:c"})),
            RENDER,
        ),
        Case::new(
            "set of an include entry.vars",
            none(),
            include(&json!({"vars": {"max-jobs": "3"}})),
            SCRIPT,
        ),
        Case::new(
            "matrix file.rocm-policy",
            json!({"axes": {"rocm": ["6.2.4", "6.3"]}}),
            json!({"rocm-policy": "newest"}),
            PLAN,
        ),
        Case::new(
            "matrix file.rocm-precision",
            json!({"axes": {"torch": ["2.6.0"], "rocm": ["6.2.4"]}}),
            json!({"rocm-precision": "patch"}),
            PLAN,
        ),
        Case::new(
            "matrix file.label-style",
            none(),
            json!({"label-style": "dotted"}),
            PLAN,
        ),
        Case::new(
            "matrix file.unknown",
            json!({"axes": {"torch": ["2.99.0"]}}),
            json!({"unknown": "lenient"}),
            PLAN,
        ),
        Case::new(
            "matrix file.free-threaded",
            json!({"axes": {"python": ["3.13t"]}}),
            json!({"free-threaded": true}),
            PLAN,
        ),
        Case::new(
            "matrix file.torch-from",
            none(),
            json!({"torch-from": "image"}),
            SCRIPT,
        ),
        Case::new(
            "matrix file.python-from",
            none(),
            json!({"python-from": "image"}),
            SCRIPT,
        ),
        Case::new(
            "matrix file.image",
            none(),
            json!({"image": "docker.io/a/b:c"}),
            RENDER,
        ),
        Case::new(
            "image.repository",
            none(),
            json!({"image": {"repository": "rocm/dev-ubuntu-22.04"}}),
            RENDER,
        ),
        Case::new(
            "image.tag",
            none(),
            json!({"image": {"repository": "docker.io/a/b", "tag": "c"}}),
            RENDER,
        ),
        Case::new(
            "matrix file.repair",
            none(),
            json!({"repair": "off"}),
            SCRIPT,
        ),
        Case::new(
            "repair.platform",
            json!({"torch-from": "host", "python-from": "host"}),
            json!({"repair": {"platform": "manylinux_2_28_x86_64"}}),
            "render script m.yaml --out out/",
        ),
        Case::new(
            "repair.presets",
            none(),
            json!({"repair": {"presets": ["rocm"]}}),
            SCRIPT,
        ),
        Case::new(
            "repair.exclude",
            none(),
            json!({"repair": {"exclude": ["libnuma.so.1"]}}),
            SCRIPT,
        ),
        Case::failing(
            "matrix file.gfx-fallback",
            none(),
            json!({"gfx-fallback": ["gfx90a"]}),
            PLAN,
        ),
        Case::failing(
            "image.missing",
            json!({"image": {"repository": "mine/none"}}),
            json!({"image": {"missing": "error"}}),
            WORKFLOW,
        ),
        Case::failing(
            "image.digest",
            none(),
            json!({"image": {"digest": "require"}}),
            RENDER,
        ),
        Case::new(
            "docker.shm-size",
            none(),
            json!({"docker": {"shm-size": "3G"}}),
            RENDER,
        ),
        Case::new(
            "docker.groups",
            none(),
            json!({"docker": {"groups": ["render"]}}),
            RENDER,
        ),
        Case::new(
            "docker.args",
            none(),
            json!({"docker": {"args": ["--pull=never"]}}),
            RENDER,
        ),
        Case::new(
            "matrix file.gpu",
            none(),
            json!({"gpu": "required"}),
            RENDER,
        ),
        Case::new(
            "matrix file.runner",
            none(),
            json!({"runner": "ubuntu-24.04"}),
            RENDER,
        ),
        Case::new(
            "matrix file.collapse",
            json!({"axes": {"torch": ["2.7.1", "2.8.0"], "backend": ["triton"]}}),
            json!({"collapse": ["torch"]}),
            PLAN,
        ),
        Case::new(
            "runner.group",
            json!({"runner": {"group": "one"}}),
            json!({"runner": {"group": "other"}}),
            RENDER,
        ),
        Case::new(
            "runner.labels",
            json!({"runner": {"group": "one"}}),
            json!({"runner": {"labels": ["gpu"]}}),
            RENDER,
        ),
        Case::new(
            "matrix file.vars",
            none(),
            json!({"vars": {"max-jobs": "3"}}),
            SCRIPT,
        ),
        Case::new(
            "matrix file.secrets",
            none(),
            json!({"secrets": ["MY_TOKEN"]}),
            RENDER,
        ),
        Case::new(
            "indexes.torch",
            none(),
            json!({"indexes": {"torch": "https://example.org/{rocm}"}}),
            SCRIPT,
        ),
        Case::new(
            "indexes.rocm",
            torch_from_source(&none()),
            json!({"indexes": {"rocm": "https://example.org/{rocm}/"}}),
            SCRIPT,
        ),
        Case::new(
            "indexes.base",
            torch_from_source(&json!({"indexes": {"rocm": "v2", "base": "https://example.org/a"}})),
            json!({"indexes": {"base": "https://example.org/b"}}),
            SCRIPT,
        ),
        Case::new(
            "indexes.find-links",
            torch_from_source(&none()),
            json!({"indexes": {"find-links": "https://example.org/links"}}),
            SCRIPT,
        ),
        Case::new(
            "test.runner",
            none(),
            json!({"test": {"runner": "ubuntu-24.04"}}),
            WORKFLOW,
        ),
        Case::new(
            "test.families",
            none(),
            json!({"test": {"families": "auto"}}),
            WORKFLOW,
        ),
        Case::new(
            "test.gpu",
            none(),
            json!({"test": {"gpu": "required"}}),
            "test --dist dist flash-attn --matrix m.yaml --engine docker --dry-run",
        ),
        Case::new(
            "workflow.tags",
            none(),
            json!({"workflow": {"tags": ["w*"]}}),
            WORKFLOW,
        ),
        Case::new(
            "workflow.max-parallel",
            none(),
            json!({"workflow": {"max-parallel": 3}}),
            WORKFLOW,
        ),
        Case::new(
            "workflow.max-jobs",
            json!({"axes": {"python": ["3.11", "3.12"]}}),
            json!({"workflow": {"max-jobs": 1}}),
            WORKFLOW,
        ),
        Case::new(
            "workflow.pr-run-mode",
            none(),
            json!({"workflow": {"pr-run-mode": "build"}}),
            WORKFLOW,
        ),
        Case::new(
            "workflow.tool",
            none(),
            json!({"workflow": {"tool": "source"}}),
            WORKFLOW,
        ),
        Case::new(
            "workflow.cache",
            none(),
            json!({"workflow": {"cache": "on"}}),
            WORKFLOW,
        ),
        Case::new(
            "workflow.queue",
            none(),
            json!({"workflow": {"queue": "max"}}),
            WORKFLOW,
        ),
        Case::new(
            "workflow.incremental",
            none(),
            json!({"workflow": {"incremental": false}}),
            WORKFLOW,
        ),
        Case::new(
            "release.make-latest",
            none(),
            json!({"release": {"make-latest": "true"}}),
            WORKFLOW,
        ),
        Case::new(
            "release.attest",
            none(),
            json!({"release": {"attest": "off"}}),
            WORKFLOW,
        ),
        Case::new(
            "release.prerelease",
            none(),
            json!({"release": {"prerelease": "true"}}),
            WORKFLOW,
        ),
        Case::new(
            "release.pages",
            none(),
            json!({"release": {"pages": true}}),
            WORKFLOW,
        ),
        Case::new(
            "release.yank",
            pages(none()),
            json!({"release": {"yank": ["toy<2: superseded"]}}),
            INDEX,
        ),
        Case::new(
            "release.yank-older-than",
            pages(none()),
            json!({"release": {"yank-older-than": "30d"}}),
            INDEX,
        ),
        Case::new(
            "release.yank-keep",
            pages(json!({"release": {"yank-older-than": "30d"}})),
            json!({"release": {"yank-keep": 1}}),
            INDEX,
        ),
    ]
}

#[test]
fn every_key_of_a_matrix_file_has_an_effect() {
    let observe = |changes: &[&Value], command: &str| {
        let mut document = base();
        for changes in changes {
            merge(&mut document, changes);
        }
        let project = Project::new().file("m.yaml", &document.to_string());
        let builds = [
            "1.0",
            "1.1.dev20200101",
            "1.2.dev20200102",
            "1.3.dev20200103",
            "1.4.dev20200104",
        ];
        let project = builds.iter().fold(project, |project, version| {
            let name = format!("toy-{version}-py3-none-any.whl");
            project.bytes(&format!("dist/{name}"), &Wheel::named(&name).bytes())
        });
        if command == INDEX {
            project.run(&["index", "build", "dist"]).exits(0);
        }
        observed(&project, command)
    };
    assert_effects(&MATRIX_FILE, &cases(), &ELSEWHERE, |case| {
        (
            observe(&[&case.without], case.command),
            observe(&[&case.without, &case.with], case.command),
        )
    });
}
