//! Wheels of torch that were split: a host wheel without code for GPUs, and device wheels that hold
//! it.

use crate::support::bundle::{self, part};
use crate::support::{Outcome, Project, Wheel, appears};

const HOST: &str = "torch-2.13.0+rocm10.0.0-cp312-cp312-linux_x86_64.whl";

/// A host wheel as the splitter of rocm-kpack leaves it: METADATA has an extra for each target, and
/// one for all.
fn host(targets: &[&str]) -> Wheel {
    let reference =
        bundle::kpack_reference("lib/libtorch_hip.so", &["../.kpack/torch_@GFXARCH@.kpack"]);
    let library = bundle::library(&[
        part(".rocm_kpack_ref", reference),
        part(".hipFatBinSegment", bundle::wrappers(1, *b"HIPK")),
    ]);
    let wheel = Wheel::named(HOST)
        .executable("torch/lib/libtorch_hip.so", library)
        .requires("rocm-bootstrap");
    let wheel = targets.iter().fold(wheel, |wheel, target| {
        wheel
            .header(&format!("Provides-Extra: device-{target}"))
            .requires(&format!(
                "amd-torch-device-{target} == 2.13.0+rocm10.0.0; extra == \"device-{target}\""
            ))
    });
    targets.iter().fold(
        wheel.header("Provides-Extra: device-all"),
        |wheel, target| {
            wheel.requires(&format!(
                "amd-torch-device-{target} == 2.13.0+rocm10.0.0; extra == \"device-all\""
            ))
        },
    )
}

/// A device wheel by its name, with code for a target.
fn device(bundle: &str, target: &str) -> Wheel {
    Wheel::named(&format!(
        "amd_torch_device_{bundle}-2.13.0+rocm10.0.0-cp312-cp312-linux_x86_64.whl"
    ))
    .file(
        &format!("torch/.kpack/torch_{target}.kpack"),
        bundle::kpack(&[target], &["lib/libtorch_hip.so#0"]),
    )
    .requires("torch == 2.13.0+rocm10.0.0")
}

#[track_caller]
fn checked(wheels: &[&Wheel], more: &[&str], code: i32) -> Outcome {
    let project = wheels.iter().fold(Project::new(), |project, wheel| {
        project.bytes(wheel.name(), &wheel.bytes())
    });
    let names: Vec<&str> = wheels.iter().map(|wheel| wheel.name()).collect();
    project
        .run(
            &[
                &["wheel", "check", "--no-host-libs", "--quiet"],
                &names[..],
                more,
            ]
            .concat(),
        )
        .exits(code)
}

#[test]
fn a_host_wheel_is_whole_without_its_device_wheels() {
    let wheel = host(&["gfx942", "gfx1100"]);
    checked(&[&wheel], &[], 0);
    checked(&[&wheel], &["--expect", "gfx942,gfx1100"], 0);
    let project = Project::new().bytes(HOST, &wheel.bytes());
    let run = project
        .run(&["wheel", "check", "--no-host-libs", HOST])
        .exits(0);
    insta::assert_snapshot!(run.stderr, @r"
    note[R130 kpack-missing]: the code of 1 library is in device wheels, for gfx942, gfx1100
    --> torch-2.13.0+rocm10.0.0-cp312-cp312-linux_x86_64.whl
    help: `torch[device-gfx942]` installs one with it; pass the device wheels too to check them together
    ");
    let refused = checked(&[&wheel], &["--expect", "gfx942,gfx90a"], 1);
    insta::assert_snapshot!(refused.stderr, @r"
    error[R120 gfx-not-as-expected]: gfx90a is missing, and gfx1100 was not requested
    --> torch-2.13.0+rocm10.0.0-cp312-cp312-linux_x86_64.whl: torch/lib/libtorch_hip.so
    help: check the variables that set the targets of the build, such as `PYTORCH_ROCM_ARCH`
    ");
    project
        .run(&["wheel", "gfx", HOST, "--expect", "gfx942,gfx1100"])
        .exits(0);
    project
        .run(&["wheel", "gfx", HOST, "--expect", "gfx90a"])
        .exits(1);
    // With a device wheel beside it, what they hold counts.
    checked(
        &[
            &wheel,
            &device("gfx942", "gfx942"),
            &device("gfx1100", "gfx1100"),
        ],
        &["--expect", "gfx942,gfx1100"],
        0,
    );
    let one = checked(
        &[&wheel, &device("gfx942", "gfx942")],
        &["--expect", "gfx942,gfx1100"],
        1,
    );
    assert!(
        one.stderr.contains("[R120 ") && one.stderr.contains("gfx1100 is missing"),
        "{}",
        one.stderr
    );
    // Without extras nothing says where the code is.
    let bare = checked(&[&host(&[])], &[], 1);
    assert!(bare.stderr.contains("error[R130 "), "{}", bare.stderr);
}

/// Kernels of AOTriton are in the device wheels.
#[test]
fn a_host_wheel_with_aotriton_needs_no_kernels_in_it() {
    let stderr_of = |targets: &[&str]| {
        let wheel = host(targets).file("torch/lib/libaotriton_v2.so", b"x".to_vec());
        checked(&[&wheel], &["--expect", "torch", "--with", "aotriton"], 1).stderr
    };
    let kernels = "aotriton.images";
    assert!(
        !stderr_of(&["gfx942"]).contains(kernels),
        "{}",
        stderr_of(&["gfx942"])
    );
    assert!(stderr_of(&[]).contains(kernels), "{}", stderr_of(&[]));
}

#[test]
fn code_in_a_device_wheel_is_for_the_target_in_its_name() {
    let wrong = |name: &str, target: &str| checked(&[&device(name, target)], &[], 1).stderr;
    let right = |name: &str, target: &str| checked(&[&device(name, target)], &[], 0).stderr;
    insta::assert_snapshot!(wrong("gfx942", "gfx90a"), @r"
    error[R133 other-device-code]: the name of the wheel says gfx942, but this code is for gfx90a
    --> amd_torch_device_gfx942-2.13.0+rocm10.0.0-cp312-cp312-linux_x86_64.whl: torch/.kpack/torch_gfx90a.kpack
    help: split the host wheel again: code for a target belongs in the device wheel that is named after it
    ");
    appears(
        "R133",
        &wrong("gfx942", "gfx90a"),
        &right("gfx942", "gfx942"),
    );
    appears(
        "R133",
        &wrong("gfx12_0", "gfx1100"),
        &right("gfx12_0", "gfx1201"),
    );
    appears(
        "R133",
        &wrong("gfx110x", "gfx1151"),
        &right("gfx11", "gfx11-generic"),
    );
    appears(
        "R133",
        &wrong("gfx90a", "gfx942:xnack+"),
        &right("gfx90a", "gfx90a:xnack+"),
    );
}
