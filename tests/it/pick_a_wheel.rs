//! A person asks at the terminal which published wheel they need.

use serde_json::json;

use crate::support::{Outcome, Project};

const CP312: &str = "flash_attn-2.8.3+rocm64torch2.9-cp312-cp312-manylinux_2_28_x86_64.whl";
const CP311: &str = "flash_attn-2.8.3+rocm64torch2.8-cp311-cp311-manylinux_2_28_x86_64.whl";

/// What the only given machine of these tests has.
const MACHINE: [&str; 11] = [
    "--only-given",
    "--python",
    "3.12",
    "--torch",
    "2.9.1",
    "--rocm",
    "6.4",
    "--platform",
    "linux_x86_64",
    "--glibc",
    "2.35",
];

fn listing(names: &[&str]) -> String {
    let asset = |name: &&str| {
        let url = format!("https://github.com/o/r/releases/download/v1/{name}");
        json!({"name": name, "browser_download_url": url, "size": 7, "digest": format!("sha256:{}", "ab".repeat(32))})
    };
    json!([{"id": 1, "tag_name": "v1", "assets": names.iter().map(asset).collect::<Vec<_>>()}])
        .to_string()
}

fn project(names: &[&str]) -> Project {
    Project::new().file("releases.json", &listing(names))
}

fn pick(project: &Project, more: &[&str], code: i32) -> Outcome {
    project
        .run(&[&["pick", "--published", "releases.json"], more].concat())
        .exits(code)
}

/// Asserts that a run reports a code.
#[track_caller]
fn assert_reported(outcome: &Outcome, code: &str, expect: bool) {
    assert_eq!(
        outcome.stderr.contains(&format!("[{code}")),
        expect,
        "{code}: {}",
        outcome.stderr
    );
}

/// As with `pip install --pre`, a nightly of the next version is newer than the last final version.
#[test]
fn with_prereleases_the_newest_version_is_picked() {
    let nightly = CP312.replace("2.8.3", "2.9.0.dev20261126");
    let project = project(&[CP312, &nightly]);
    let picked = |more: &[&str]| {
        let outcome = pick(&project, &[&MACHINE[..], more].concat(), 0);
        outcome.stdout.lines().next().unwrap_or_default().to_owned()
    };
    assert_eq!(picked(&[]), CP312);
    assert_eq!(picked(&["--prereleases"]), nightly);
}

/// A listing's address is taken where it is of the web; else the repository's is, or none.
#[test]
fn only_web_addresses_of_a_listing_are_printed() {
    let output_of = |url: &str, repository: &str| {
        let asset = json!({"name": CP312, "browser_download_url": url, "size": 7});
        let releases = json!([{"id": 1, "tag_name": "v1", "assets": [asset]}]);
        let listing = match repository {
            "" => releases,
            name => json!({"repository": name, "releases": releases}),
        };
        let project = Project::new().file("releases.json", &listing.to_string());
        let stdout = pick(&project, &MACHINE, 0).stdout;
        let lines: Vec<&str> = stdout
            .lines()
            .skip(1)
            .take_while(|line| !line.starts_with("note"))
            .collect();
        lines.join("\n").trim().to_owned() + "\n"
    };
    let nowhere = "its URL is unknown\n";
    assert_eq!(output_of("--index-url=https://x.org/a.whl", ""), nowhere);
    assert_eq!(output_of("file:///etc/passwd", ""), nowhere);
    assert_eq!(output_of("javascript:alert(1)", ""), nowhere);
    let own = output_of("file:///etc/passwd", "o/r");
    assert!(
        own.starts_with(
            "https://github.com/o/r/releases/download/v1/flash_attn-2.8.3%2Brocm64torch2.9-"
        ),
        "{own}"
    );
    let encoded = output_of("https://x.org/a/$(touch x)\n/b.whl", "");
    assert!(
        encoded.starts_with("https://x.org/a/%24%28touch%20x%29%0A/flash_attn-2.8.3%2B"),
        "{encoded}"
    );
}

#[test]
fn the_wheel_its_address_and_the_line_that_installs_it_are_printed() {
    let outcome = pick(&project(&[CP312, CP311]), &MACHINE, 0);
    insta::assert_snapshot!(outcome.stdout, @r"
    flash_attn-2.8.3+rocm64torch2.9-cp312-cp312-manylinux_2_28_x86_64.whl
    https://github.com/o/r/releases/download/v1/flash_attn-2.8.3%2Brocm64torch2.9-cp312-cp312-manylinux_2_28_x86_64.whl

      pip install https://github.com/o/r/releases/download/v1/flash_attn-2.8.3%2Brocm64torch2.9-cp312-cp312-manylinux_2_28_x86_64.whl

    The installer keeps an installed torch, and takes the other requirements from its usual index.
    note: GPU: it is unknown which GPUs the wheel has code for
    ");
    assert_eq!(
        outcome.stderr,
        "looking for flash-attn for Python 3.12, torch 2.9, ROCm 6.4, linux_x86_64, glibc 2.35\n"
    );
    assert_reported(&outcome, "G200 no-wheel-fits", false);
}

#[test]
fn without_a_fit_the_nearest_wheel_is_shown_and_the_exit_is_1() {
    let project = project(&[CP311]);
    let outcome = pick(&project, &MACHINE, 1);
    assert_eq!(outcome.stdout, "");
    insta::assert_snapshot!(outcome.stderr, @r"
    looking for flash-attn for Python 3.12, torch 2.9, ROCm 6.4, linux_x86_64, glibc 2.35
    error[G200 no-wheel-fits]: no wheel of flash-attn fits Python 3.12, torch 2.9, ROCm 6.4, linux_x86_64, glibc 2.35
     = note: the nearest is flash_attn-2.8.3+rocm64torch2.8-cp311-cp311-manylinux_2_28_x86_64.whl
     = note:   torch: the wheel is for 2.8, you have 2.9; torch's C++ symbols change between minors, and loading fails with an undefined symbol (reported, checked 2026-11-21)
     = note:   Python: the wheel is for 3.11, you have 3.12
    help: use torch 2.8 and Python 3.11, or build the wheel with `rock-matrix build`
    ");
    let json = pick(&project, &[&MACHINE[..], &["--format", "json"]].concat(), 1).json();
    assert_eq!(json["wheel"], json!(null));
    assert_eq!(json["nearest"][0]["name"], CP311);
    assert_eq!(json["nearest"][0]["differences"][1]["axis"], "python");
}

#[test]
fn a_decision_for_programs_has_all_that_people_read() {
    let json = pick(
        &project(&[CP312]),
        &[&MACHINE[..], &["--format", "json"]].concat(),
        0,
    )
    .json();
    assert_eq!(json["version"], 1);
    assert_eq!(json["machine"]["torch"], "2.9");
    assert_eq!(json["wheel"]["sha256"], "ab".repeat(32));
    assert_eq!(json["wheel"]["notes"][0]["axis"], "gfx");
    assert!(
        json["wheel"]["install"]
            .as_str()
            .unwrap()
            .contains("flash_attn-2.8.3%2Brocm64torch2.9-cp312")
    );
    assert_eq!(json["fitting"], 1);
}

#[test]
fn this_machine_is_looked_at_and_what_is_given_takes_its_place() {
    let python = "#!/bin/sh\necho '{\"version\": \"3.12\", \"platform\": \"linux_x86_64\", \"libc\": \"glibc 2.39\", \"torch\": \"2.9.1+rocm6.4\"}'\n";
    let project = project(&[CP312]).file("bin/python3", python);
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(project.path("bin/python3"), mode).unwrap();
    let path = format!("{}:/usr/bin:/bin", project.path("bin").display());
    let project = project.env("PATH", path);
    let stderr = pick(&project, &[], 0).stderr;
    assert!(
        stderr.contains("Python 3.12, torch 2.9, ROCm 6.4"),
        "{stderr}"
    );
    assert!(stderr.contains("linux_x86_64, glibc 2.39"), "{stderr}");
    assert!(
        pick(&project, &["--torch", "2.8"], 1)
            .stderr
            .contains("torch 2.8, ROCm 6.4")
    );
}

#[test]
fn the_report_of_doctor_on_another_machine_does_as_well() {
    let report = r#"{"build": {"gfx": ["gfx942"]}, "python": {"version": "3.12", "platform": "linux_x86_64",
        "libc": "glibc 2.39", "torch": "2.9.1", "torch_hip": "6.4.43482"}}"#;
    let project = project(&[CP312])
        .file("doctor.json", report)
        .file("wrong.json", "[]");
    let outcome = pick(&project, &["--environment", "doctor.json"], 0);
    assert!(outcome.stdout.starts_with(CP312));
    assert_reported(&outcome, "G206 bad-environment", false);
    let wrong = pick(&project, &["--environment", "wrong.json"], 1);
    assert_reported(&wrong, "G206 bad-environment", true);
    assert!(
        wrong
            .stderr
            .contains("rock-matrix doctor --format json > doctor.json"),
        "{}",
        wrong.stderr
    );
}

#[test]
fn doctor_reports_the_python_and_the_torch_of_this_machine() {
    let python = "#!/bin/sh\necho '{\"version\": \"3.12\", \"platform\": \"linux_x86_64\", \"torch\": \"2.9.1\", \"torch_hip\": \"6.4.4\"}'\n";
    let project = Project::new().file("bin/python3", python);
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(project.path("bin/python3"), mode).unwrap();
    let path = format!("{}:/usr/bin:/bin", project.path("bin").display());
    let project = project.env("PATH", path);
    let report = project
        .command(&["doctor", "--format", "json"])
        .output()
        .unwrap();
    let json: serde_json::Value = serde_json::from_slice(&report.stdout).unwrap();
    assert_eq!(json["python"]["torch_hip"], "6.4.4");
    assert_eq!(json["python"]["free_threaded"], false);
    let shown = project.command(&["doctor"]).output().unwrap();
    assert!(
        String::from_utf8(shown.stdout)
            .unwrap()
            .contains("2.9.1, HIP 6.4.4")
    );
}

#[test]
fn a_torch_for_the_cpu_is_warned_of() {
    let report = |local: &str| {
        format!(r#"{{"build": {{}}, "python": {{"version": "3.12", "torch": "2.9.1+{local}"}}}}"#)
    };
    let project = project(&[CP312])
        .file("cpu.json", &report("cpu"))
        .file("rocm.json", &report("rocm6.4"));
    assert_reported(
        &pick(&project, &["--environment", "cpu.json", "--rocm", "6.4"], 0),
        "G207 torch-not-for-rocm",
        true,
    );
    assert_reported(
        &pick(&project, &["--environment", "rocm.json"], 0),
        "G207 torch-not-for-rocm",
        false,
    );
}

#[test]
fn a_torch_is_given_as_it_reports_its_version() {
    let project = project(&[CP312]);
    let given = |torch: &str, more: &[&str], code: i32| {
        pick(
            &project,
            &[
                &["--only-given", "--python", "3.12", "--torch", torch],
                more,
            ]
            .concat(),
            code,
        )
    };
    let rocm = given("2.9.1+rocm6.4", &[], 0);
    assert!(
        rocm.stderr
            .starts_with("looking for flash-attn for Python 3.12, torch 2.9, ROCm 6.4\n"),
        "{}",
        rocm.stderr
    );
    assert_reported(&rocm, "G207 torch-not-for-rocm", false);
    assert!(
        given("2.9.1+rocm6.4", &["--rocm", "5.7"], 1)
            .stderr
            .contains("ROCm 5.7"),
        "what is said apart counts"
    );
    for foreign in ["2.9.1+cpu", "2.9.1+cu126", "2.9.1+cuda12.6"] {
        let outcome = given(foreign, &[], 0);
        assert_reported(&outcome, "G207 torch-not-for-rocm", true);
        assert!(outcome.stderr.contains(foreign), "{}", outcome.stderr);
    }
}

#[test]
fn only_given_facts_restrict_and_a_backend_has_a_suggestion() {
    let triton = "flash_attn-2.8.3+rocm64torch2.9triton-py3-none-any.whl";
    let project = project(&[CP312, CP311, triton]);
    let stdout = pick(
        &project,
        &["--only-given", "--torch", "2.9", "--gfx", "gfx942"],
        0,
    )
    .stdout;
    assert!(
        stdout.ends_with("1 other wheel fits too: narrow the selection with `--python`, `--backend`, or list all with `--format json`\n"),
        "{stdout}"
    );
    let stderr = pick(&project, &["--only-given", "--backend", "trton"], 1).stderr;
    assert!(
        stderr.contains(
            "no wheel has this backend; the published ones are `default`, `triton`; did you mean `triton`?"
        ),
        "{stderr}"
    );
}

#[test]
fn a_system_is_no_tag_of_a_wheel() {
    let project = project(&[CP312]);
    let stderr_of = |words: &[&str]| pick(&project, words, 2).stderr;
    let tag = stderr_of(&["--platform", "manylinux_2_28_x86_64"]);
    assert!(
        tag.contains("give the system, such as `linux_x86_64`, and `--glibc` or `--musl`"),
        "{tag}"
    );
    assert!(
        stderr_of(&["--platform", "x86_64"])
            .contains("use the form of platform tags, such as `linux_x86_64`")
    );
    assert!(stderr_of(&["--glibc", "new"]).contains("write major and minor, such as `2.35`"));
}

#[test]
fn a_python_without_torch_is_warned_of() {
    let report =
        |torch: &str| format!(r#"{{"build": {{}}, "python": {{"version": "3.12"{torch}}}}}"#);
    let project = project(&[CP312])
        .file("bare.json", &report(""))
        .file("full.json", &report(r#", "torch": "2.9.1+rocm6.4""#));
    let outcome = pick(
        &project,
        &["--environment", "bare.json", "--rocm", "6.4"],
        0,
    );
    assert_reported(&outcome, "G208 no-torch", true);
    assert!(
        outcome
            .stderr
            .contains("needs torch 2.9, and torch is not installed"),
        "{}",
        outcome.stderr
    );
    assert_reported(
        &pick(&project, &["--environment", "full.json"], 0),
        "G208 no-torch",
        false,
    );
    assert_reported(
        &pick(
            &project,
            &[
                "--environment",
                "bare.json",
                "--torch",
                "2.9",
                "--rocm",
                "6.4",
            ],
            0,
        ),
        "G208 no-torch",
        false,
    );
}

#[test]
fn a_wheel_with_a_meaningless_label_is_no_answer() {
    let weird = "flash_attn-2.9.0+weird-cp312-cp312-manylinux_2_28_x86_64.whl";
    let outcome = pick(&project(&[weird, CP312]), &MACHINE, 0);
    assert!(outcome.stdout.starts_with(CP312), "{}", outcome.stdout);
    assert_reported(&outcome, "G300 unreadable-published-name", true);
    assert_reported(
        &pick(&project(&[CP312]), &MACHINE, 0),
        "G300 unreadable-published-name",
        false,
    );
}

#[test]
fn with_several_projects_one_must_be_named_and_a_misspelt_one_is_guessed() {
    let project = project(&[
        CP312,
        "rmx_vecadd-0.1.0+rocm64-cp312-cp312-manylinux_2_28_x86_64.whl",
    ]);
    assert_reported(&pick(&project, &MACHINE, 1), "G202 several-projects", true);
    let named = pick(
        &project,
        &[&MACHINE[..], &["--distribution", "Flash_Attn"]].concat(),
        0,
    );
    assert_reported(&named, "G202 several-projects", false);
    assert_reported(&named, "G201 no-such-project", false);
    let misspelt = pick(
        &project,
        &[&MACHINE[..], &["--distribution", "flash-atn"]].concat(),
        1,
    );
    assert_reported(&misspelt, "G201 no-such-project", true);
    assert!(
        misspelt.stderr.contains("flash-attn"),
        "{}",
        misspelt.stderr
    );
}

#[test]
fn missing_wheels_and_unreadable_published_names_are_reported() {
    let project = project(&[
        CP312,
        "flash_attn-2.8.3.rocm64torch2.9-cp312-cp312-linux_x86_64.whl",
    ])
    .file("empty.json", "[]")
    .file("other.json", "{}");
    let outcome = pick(&project, &MACHINE, 0);
    assert_reported(&outcome, "G300 unreadable-published-name", true);
    assert!(
        outcome.stderr.contains("became a dot"),
        "{}",
        outcome.stderr
    );
    assert_reported(&outcome, "G203 no-published-wheels", false);
    assert_reported(&outcome, "G114 not-a-listing", false);
    let with = |file: &str| {
        project
            .run(&["pick", "--published", file, "--only-given"])
            .exits(1)
    };
    assert_reported(&with("empty.json"), "G203 no-published-wheels", true);
    assert_reported(&with("other.json"), "G114 not-a-listing", true);
    let fine = crate::support::Project::new().file("releases.json", &listing(&[CP312]));
    assert_reported(
        &pick(&fine, &MACHINE, 0),
        "G300 unreadable-published-name",
        false,
    );
}

#[test]
fn a_folder_of_wheels_gives_addresses_of_files() {
    let project = Project::new().file(&format!("dist one/{CP312}"), "");
    let outcome = project
        .run(&[&["pick", "--published", "dist one"], &MACHINE[..]].concat())
        .exits(0);
    assert!(
        outcome
            .stderr
            .contains("because it has no rock-manifest.json; `--wheels 'dist one'` reads them"),
        "{}",
        outcome.stderr
    );
    let line = outcome.stdout.lines().nth(1).unwrap();
    assert_eq!(
        line,
        format!("file://[ROOT]/dist%20one/{}", CP312.replace('+', "%2B"))
    );
}

/// A host wheel has no code for GPUs: the wheel of the GPU goes into the line, and those of a
/// bundle that it is in.
#[test]
fn torch_is_installed_with_the_device_wheels_of_the_gpu() {
    const TAGS: &str = "2.13.0+rocm10.0.0-cp312-cp312-linux_x86_64.whl";
    let names = [
        "torch",
        "amd_torch_device_gfx942",
        "amd_torch_device_gfx1201",
        "amd_torch_device_gfx12_0",
    ];
    let names = names.map(|name| format!("{name}-{TAGS}"));
    let project = project(&names.each_ref().map(String::as_str));
    let machine = [
        "--only-given",
        "--python",
        "3.12",
        "--rocm",
        "10.0",
        "--platform",
        "linux_x86_64",
    ];
    let outcome_of =
        |gfx: &str, code: i32| pick(&project, &[&machine[..], &["--gfx", gfx]].concat(), code);
    insta::assert_snapshot!(outcome_of("gfx942", 0).stdout, @r"
    torch-2.13.0+rocm10.0.0-cp312-cp312-linux_x86_64.whl
    https://github.com/o/r/releases/download/v1/torch-2.13.0%2Brocm10.0.0-cp312-cp312-linux_x86_64.whl

      pip install https://github.com/o/r/releases/download/v1/torch-2.13.0%2Brocm10.0.0-cp312-cp312-linux_x86_64.whl https://github.com/o/r/releases/download/v1/amd_torch_device_gfx942-2.13.0%2Brocm10.0.0-cp312-cp312-linux_x86_64.whl --extra-index-url https://stable.repo.amd.com/rocm/whl-next/

    The installer takes the requirements from its usual index.
    note: system: the tag linux_x86_64 does not say which C library the wheel needs
    ");
    let line = |outcome: &Outcome| {
        let line = outcome
            .stdout
            .lines()
            .find(|line| line.starts_with("  pip install "))
            .unwrap()
            .to_owned();
        line.replace("https://github.com/o/r/releases/download/v1/", "")
            .replace("-2.13.0%2Brocm10.0.0-cp312-cp312-linux_x86_64.whl", "")
    };
    let index = "--extra-index-url https://stable.repo.amd.com/rocm/whl-next/";
    let expected =
        format!("  pip install torch amd_torch_device_gfx1201 amd_torch_device_gfx12_0 {index}");
    assert_eq!(line(&outcome_of("gfx1201", 0)), expected);
    let all = "  pip install torch amd_torch_device_gfx1201 amd_torch_device_gfx12_0 amd_torch_device_gfx942";
    assert_eq!(line(&pick(&project, &machine, 0)), format!("{all} {index}"));
    let none = outcome_of("gfx1100", 1).stderr;
    assert!(
        none.contains("GPU: the wheel is for gfx942, gfx1201, you have gfx1100"),
        "{none}"
    );
    let document = pick(
        &project,
        &[&machine[..], &["--gfx", "gfx942", "--format", "json"]].concat(),
        0,
    )
    .json();
    assert_eq!(document["wheel"]["device_wheels"], json!([names[1]]));
}
