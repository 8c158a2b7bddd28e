//! Finished wheels of a build: all there, and each with what wheels of its distribution hold and
//! require.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::support::{Project, Wheel};

const TORCH: &str = "torch-2.9.0+rocm7.10.0-cp312-cp312-linux_x86_64.whl";
const WINDOWS: &str = "torch-2.9.0+rocm7.10.0-cp312-cp312-win_amd64.whl";
const AUDIO: &str = "torchaudio-2.9.0+rocm7.10.0-cp312-cp312-linux_x86_64.whl";
const VISION: &str = "torchvision-0.24.0+rocm7.10.0-cp312-cp312-linux_x86_64.whl";
const TRITON: &str = "triton-3.5.0+rocm7.10.0-cp312-cp312-linux_x86_64.whl";
const ROCM: &str = "rocm[libraries]==7.10.0";
const IMAGE: &str = "torch/lib/aotriton.images/amd-gfx11xx/flash/attn_fwd.zip";

fn init(version: &str) -> String {
    format!(
        "def initialize():\n    import rocm_sdk\n    rocm_sdk.initialize_process(check_version='{version}')\n"
    )
}

/// Bytes that no compression makes fewer of.
fn noise(count: u32) -> Vec<u8> {
    (0..count)
        .map(|at| (at.wrapping_mul(2_654_435_761) >> 13).to_le_bytes()[0])
        .collect()
}

/// A wheel that is large enough.
fn large(name: &str) -> Wheel {
    Wheel::named(name).file("data.bin", noise(200_000)).stored()
}

fn torch() -> Wheel {
    large(TORCH)
        .file("torch/_rocm_init.py", init("7.10.0"))
        .requires(ROCM)
}

/// Torch for Windows, as an output folder there has it.
fn torch_of_windows() -> Wheel {
    large(WINDOWS)
        .file("torch/_rocm_init.py", init("7.10.0"))
        .requires(ROCM)
}

fn aotriton() -> Wheel {
    torch()
        .executable("torch/lib/libaotriton_v2.so.0.11.0", noise(64))
        .file(IMAGE, noise(64))
}

fn in_dist(wheels: &[&Wheel]) -> Project {
    let project = Project::new().file("dist/build.log", "");
    wheels.iter().fold(project, |project, wheel| {
        project.bytes(&format!("dist/{}", wheel.name()), &wheel.bytes())
    })
}

/// The codes of errors and warnings, as annotations give them, and the exit.
fn codes_and_exit(project: &Project, more: &[&str]) -> (Vec<String>, i32) {
    let arguments = [
        &[
            "wheel",
            "check",
            "dist",
            "--no-host-libs",
            "--format",
            "json",
        ],
        more,
    ]
    .concat();
    let output = project.command(&arguments).output().unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    let codes: BTreeSet<String> = errors
        .lines()
        .filter_map(|line| {
            line.split_once('[')
                .filter(|(word, _)| matches!(*word, "error" | "warning" | "note"))
        })
        .map(|(_, rest)| rest.split(' ').next().unwrap_or_default().to_owned())
        .collect();
    (codes.into_iter().collect(), output.status.code().unwrap())
}

/// Asserts that a finding appears among some wheels, makes the command fail, and is absent with
/// others.
#[track_caller]
fn appears(code: &str, with: &[&Wheel], without: &[&Wheel], more: &[&str]) {
    let (found, exit) = codes_and_exit(&in_dist(with), more);
    assert!(
        found.contains(&code.to_owned()) && exit == 1,
        "{code} in {found:?}, exit {exit}"
    );
    let (found, exit) = codes_and_exit(&in_dist(without), more);
    assert!(
        !found.contains(&code.to_owned()) && exit == 0,
        "{code} in {found:?}, exit {exit}"
    );
}

const ALL: &[&str] = &["--expect", "torch,torchaudio,torchvision"];
const ONE: &[&str] = &["--expect", "torch"];

/// A folder that is whole; small, misnamed and missing wheels, and an empty folder.
#[test]
fn a_folder_of_finished_wheels_passes_and_one_that_lacks_something_does_not() {
    let (torch, audio, vision) = (torch(), large(AUDIO), large(VISION));
    let whole = [&torch, &audio, &vision];
    assert_eq!(codes_and_exit(&in_dist(&whole), ALL), (vec![], 0));
    appears("W080", &[&torch, &audio], &whole, ALL);
    appears(
        "W082",
        &[&torch, &Wheel::named(AUDIO), &vision],
        &whole,
        ALL,
    );
    let (found, exit) = codes_and_exit(&in_dist(&[]), ALL);
    assert_eq!((found, exit), (vec!["W080".to_owned()], 1));

    let project = in_dist(&[&torch, &audio]).bytes("dist/torchvision-cp312.whl", &vision.bytes());
    let (found, exit) = codes_and_exit(&project, ALL);
    assert!(found.contains(&"W080".to_owned()) && exit == 1, "{found:?}");
    let renamed = VISION.replace("0.24.0", "0.25.0");
    let project = in_dist(&[&torch, &audio]).bytes(&format!("dist/{renamed}"), &vision.bytes());
    let (found, exit) = codes_and_exit(&project, ALL);
    assert!(
        exit == 1 && found.iter().any(|code| code == "W051"),
        "METADATA against the name: {found:?}"
    );
}

/// What wheels of torch hold and require.
#[test]
fn torch_holds_its_start_of_rocm_at_the_version_that_it_requires() {
    let whole = torch();
    appears("R150", &[&large(TORCH).requires(ROCM)], &[&whole], ONE);
    appears(
        "R151",
        &[&large(TORCH).file("torch/_rocm_init.py", init("7.10.0"))],
        &[&whole],
        ONE,
    );
    let other = |version| {
        large(TORCH)
            .file("torch/_rocm_init.py", init(version))
            .requires(ROCM)
    };
    appears("R152", &[&other("7.9.0")], &[&whole], ONE);
    assert_eq!(
        codes_and_exit(&in_dist(&[&other("7.10")]), ONE),
        (vec![], 0),
        "the same version"
    );
    let marked = large(TORCH)
        .file("torch/_rocm_init.py", init("7.10.0"))
        .requires("rocm[libraries] (==7.10.0) ; platform_system == \"Linux\"");
    assert_eq!(codes_and_exit(&in_dist(&[&marked]), ONE), (vec![], 0));
    assert_eq!(
        codes_and_exit(&in_dist(&[&large(TORCH)]), &[]),
        (vec![], 0),
        "nothing is expected without the option"
    );
}

/// A wheel of triton beside it.
#[test]
fn torch_requires_the_triton_that_lies_beside_it() {
    let triton = Wheel::named(TRITON);
    let with = |requirement| torch().requires(requirement);
    appears(
        "R151",
        &[&torch(), &triton],
        &[&with("triton==3.5.0+rocm7.10.0"), &triton],
        ONE,
    );
    appears("R151", &[&with("triton==3.4.0"), &triton], &[&torch()], ONE);
    let old = Wheel::named("pytorch_triton_rocm-3.4.0-cp312-cp312-linux_x86_64.whl");
    assert_eq!(
        codes_and_exit(
            &in_dist(&[&with("pytorch_triton_rocm == 3.4.0"), &old]),
            ONE
        ),
        (vec![], 0)
    );
}

/// With flash attention the wheel holds `AOTriton` and kernels of at least one pack.
#[test]
fn a_wheel_with_aotriton_holds_its_library_and_its_images() {
    let more = &["--expect", "torch", "--with", "aotriton"][..];
    let library = torch().executable("torch/lib/libaotriton_v2.so.0.11.0", noise(64));
    appears("R150", &[&library], &[&aotriton()], more);
    appears(
        "R150",
        &[&torch().file(IMAGE, noise(64))],
        &[&aotriton()],
        more,
    );
    let hollow = library
        .file(IMAGE, "")
        .file("torch/lib/aotriton.images/README", "x");
    appears("R150", &[&hollow], &[&aotriton()], more);
    assert_eq!(
        codes_and_exit(&in_dist(&[&torch()]), ONE),
        (vec![], 0),
        "without the feature it is not asked for"
    );
    let windows = torch_of_windows()
        .file("torch/lib/aotriton_v2.dll", noise(64))
        .file(IMAGE, noise(64));
    assert_eq!(codes_and_exit(&in_dist(&[&windows]), more), (vec![], 0));
}

#[test]
fn a_feature_that_no_row_knows_is_a_fault_of_the_command_line() {
    fn appears(code: &str, with: &str, without: &str) {
        let project = in_dist(&[&aotriton()]);
        let (found, exit) = codes_and_exit(&project, &["--expect", "torch", "--with", with]);
        assert_eq!((found, exit), (vec![code.to_owned()], 2));
        assert_eq!(
            codes_and_exit(&project, &["--expect", "torch", "--with", without]),
            (vec![], 0)
        );
    }
    appears("W083", "aotritn", "aotriton");
}

/// Versions for later steps; apex is missed on Linux, and not on Windows.
#[test]
fn versions_of_the_wheels_go_to_later_steps() {
    let written = |project: &Project, expect: &str, exit: i32| {
        let arguments = [
            "wheel",
            "check",
            "dist",
            "--expect",
            expect,
            "--github-output",
            "--no-host-libs",
        ];
        let output = project
            .command(&arguments)
            .env("GITHUB_OUTPUT", project.path("out.txt"))
            .output()
            .unwrap();
        assert_eq!(
            output.status.code(),
            Some(exit),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        std::fs::read_to_string(project.path("out.txt")).unwrap_or_default()
    };
    let every = "torch,torchaudio,torchvision,triton,apex";
    let torch = torch().requires("triton==3.5.0+rocm7.10.0");
    let apex = Wheel::named("apex-1.9.0+rocm7.10.0-cp312-cp312-linux_x86_64.whl");
    let linux = [
        &torch,
        &large(AUDIO),
        &large(VISION),
        &Wheel::named(TRITON),
        &apex,
    ];
    assert_eq!(
        written(&in_dist(&linux), every, 0),
        "torch_version=2.9.0+rocm7.10.0\n\
         torchaudio_version=2.9.0+rocm7.10.0\n\
         torchvision_version=0.24.0+rocm7.10.0\n\
         triton_version=3.5.0+rocm7.10.0\n\
         apex_version=1.9.0+rocm7.10.0\n"
    );
    assert_eq!(
        written(&in_dist(&linux[..4]), every, 1),
        "",
        "apex is missing"
    );

    let of_windows = |name: &str| large(&name.replace("linux_x86_64", "win_amd64"));
    let windows = [&torch_of_windows(), &of_windows(AUDIO), &of_windows(VISION)];
    let outputs = written(&in_dist(&windows), every, 0);
    assert!(
        outputs.starts_with("torch_version=2.9.0+rocm7.10.0\n") && !outputs.contains("apex"),
        "{outputs}"
    );
    assert_eq!(
        written(&in_dist(&windows[..2]), every, 1),
        "",
        "torchvision is built everywhere"
    );
}

#[test]
fn of_several_wheels_the_first_by_name_is_taken_with_a_warning() {
    fn appears(code: &str, with: &Project, without: &Project) {
        let check = |project: &Project| codes_and_exit(project, &["--expect", "torchaudio"]);
        assert_eq!(
            (check(with), check(without)),
            ((vec![code.to_owned()], 0), (vec![], 0))
        );
    }
    let newer = large(&AUDIO.replace("2.9.0", "2.9.1"));
    let project = in_dist(&[&newer, &large(AUDIO)]);
    appears("W081", &project, &in_dist(&[&newer]));
    let arguments = [
        "wheel",
        "check",
        "dist",
        "--expect",
        "torchaudio",
        "--github-output",
        "--no-host-libs",
    ];
    let output = project
        .command(&arguments)
        .env("GITHUB_OUTPUT", project.path("out.txt"))
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0));
    let outputs = std::fs::read_to_string(project.path("out.txt")).unwrap();
    assert_eq!(outputs, "torchaudio_version=2.9.0+rocm7.10.0\n");
}

#[test]
fn targets_and_distributions_may_be_expected_together() {
    let project = in_dist(&[&torch()]);
    let document = project.run(&[
        "wheel",
        "check",
        "dist",
        "--expect",
        "gfx942,torch",
        "--json",
        "--allow",
        "R120",
    ]);
    let document: Value = serde_json::from_str(&document.exits(0).stdout).unwrap();
    assert_eq!(document["wheel"], format!("dist/{TORCH}"));
    project
        .run(&["wheel", "check", "dist", "--expect", "gfx9z"])
        .exits(2);
    project
        .run(&["wheel", "check", "dist", "--expect", "a b"])
        .exits(2);
    project
        .run(&["wheel", "check", "dist", "--with", "aotriton"])
        .exits(2);
}
