//! An index of the SDK's packages.

use rock_matrix::names::has_wheel_extension;

use crate::support::Project;
use crate::support::artifacts::{Artifacts, library};

fn build(project: &Project, more: &[&str]) {
    let words = [
        "sdk",
        "build",
        "--artifact-dir",
        "artifacts",
        "--dest-dir",
        "out",
        "--overwrite",
    ];
    project.run(&[&words, more].concat()).exits(0);
}

/// The addresses and texts of the links of a page, in order.
fn links(page: &str) -> Vec<(String, String)> {
    let link =
        regex::Regex::new(r##"<a href="([^"#]*)(?:#sha256=[0-9a-f]{64})?"[^>]*>([^<]*)</a>"##)
            .unwrap();
    link.captures_iter(page)
        .map(|found| (found[1].to_owned(), found[2].to_owned()))
        .collect()
}

/// A `+` is encoded in addresses and stays in texts, files are sorted by version, and what
/// lies in folders of tools is not there.
#[test]
fn packages_of_a_build_with_a_label_are_in_the_index() {
    let project = Project::new();
    Artifacts::split(&project);
    build(&project, &["--version", "7.10.0.dev0+g9"]);
    let older = project.path("out/dist");
    std::fs::rename(&older, project.path("older")).unwrap();
    build(&project, &["--version", "7.10.0.dev0+g10"]);
    for file in std::fs::read_dir(project.path("older"))
        .unwrap()
        .map(Result::unwrap)
    {
        std::fs::rename(file.path(), project.path("out/dist").join(file.file_name())).unwrap();
    }
    let core = "rocm_sdk_core-7.9.0-py3-none-linux_x86_64.whl";
    std::fs::create_dir(project.path("out/dist/.kpack_staging")).unwrap();
    std::fs::write(project.path("out/dist/.kpack_staging").join(core), b"").unwrap();
    let outcome = project.run(&["index", "build", "out/dist"]).exits(0);
    assert_eq!(outcome.stderr, "", "nothing is left out");
    let files = project.files();
    let is_wheel = |file: &&String| {
        let name = file.strip_prefix("out/dist/");
        name.is_some_and(|name| has_wheel_extension(name) && !name.contains('/'))
    };
    let wheel_count = files.iter().filter(is_wheel).count();
    assert_eq!(
        outcome.stdout,
        format!(
            "wrote out/dist/simple: 17 pages\n\
             wrote {wheel_count} `.metadata` files next to the wheels\ninstall with:\n  \
             pip install 'rocm[libraries,devel]' --no-build-isolation --index-url file://[ROOT]/out/dist/simple/any/\n"
        )
    );
    // Of labels that are texts, `g10` comes before `g9`.
    let page = links(&project.read("out/dist/simple/any/rocm-sdk-core/index.html"));
    let expected = ["g10", "g9"].map(|label| {
        let name = |plus: &str| {
            format!("rocm_sdk_core-7.10.0.dev0{plus}{label}-py3-none-linux_x86_64.whl")
        };
        (format!("../../../{}", name("%2B")), name("+"))
    });
    assert_eq!(page, expected);
    let page = links(&project.read("out/dist/simple/any/rocm/index.html"));
    assert_eq!(
        page[1],
        (
            "../../../rocm-7.10.0.dev0%2Bg9.tar.gz".to_owned(),
            "rocm-7.10.0.dev0+g9.tar.gz".to_owned()
        )
    );
    let names: Vec<String> = links(&project.read("out/dist/simple/any/index.html"))
        .into_iter()
        .map(|(_, name)| name)
        .collect();
    assert_eq!(
        names,
        [
            "rocm",
            "rocm-profiler",
            "rocm-sdk-core",
            "rocm-sdk-devel",
            "rocm-sdk-device-gfx1100",
            "rocm-sdk-device-gfx942",
            "rocm-sdk-libraries"
        ]
    );
    let landing = project.read("out/dist/simple/index.html");
    assert!(
        landing.contains(
            "pip install &#39;rocm[libraries,devel]&#39; --no-build-isolation --index-url"
        ),
        "{landing}"
    );
    assert!(
        !landing.contains("--no-deps") && landing.contains("<p><code>rocm-sdk-core</code></p>"),
        "{landing}"
    );
    // A second run knows them by the manifest of nothing, and writes nothing.
    let stdout = project.run(&["index", "build", "out/dist"]).exits(0).stdout;
    assert!(
        stdout.starts_with("out/dist/simple is up to date"),
        "{stdout}"
    );
}

/// Of a build by families each has an index with its own files and those that all families
/// share.
#[test]
fn the_index_of_a_family_leads_to_what_lies_above_it() {
    let project = Project::new();
    let artifacts = Artifacts::new(&project, false);
    artifacts.executable(
        "core-hip_lib_generic/hip/stage/lib/libamdhip64.so.7",
        library("libamdhip64.so.7"),
    );
    artifacts.executable(
        "rocprofiler-compute_run_generic/p/stage/libexec/rocprofiler-compute/rocprof-compute",
        b"#!/bin/sh\n",
    );
    artifacts.file(
        "blas_dev_generic/blas/stage/include/hipblas/hipblas.h",
        b"#pragma once\n",
    );
    for family in ["gfx94X-dcgpu", "gfx110X-all"] {
        artifacts.file(
            &format!("blas_lib_{family}/blas/stage/lib/rocblas/library/{family}.co"),
            b"code",
        );
    }
    build(&project, &["--version", "7.10.0"]);
    for family in ["gfx94X-dcgpu", "gfx110X-all"] {
        let own = format!("out/dist/{family}");
        let site = format!("{own}/simple");
        project
            .run(&[
                "index",
                "build",
                "--published",
                "out/dist",
                "--published",
                &own,
                "--out",
                &site,
            ])
            .exits(0);
        let page = |project_name: &str| {
            links(&project.read(&format!("{site}/any/{project_name}/index.html")))
        };
        assert_eq!(
            page("rocm"),
            [(
                "../../../rocm-7.10.0.tar.gz".to_owned(),
                "rocm-7.10.0.tar.gz".to_owned()
            )]
        );
        let core = "rocm_sdk_core-7.10.0-py3-none-linux_x86_64.whl";
        assert_eq!(
            page("rocm-sdk-core"),
            [(format!("../../../../{core}"), core.to_owned())]
        );
        let devel = page("rocm-sdk-devel");
        assert!(
            devel[0].0.starts_with("../../../rocm_sdk_devel-"),
            "{devel:?}"
        );
    }
}
