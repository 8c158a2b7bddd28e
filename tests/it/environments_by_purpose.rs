//! `env`: the variables of a purpose as shells, conda, workflows and docker take them.

use std::collections::BTreeMap;
use std::process::Command;

use crate::support::toy::Toy;
use crate::support::{Outcome, Project};

fn env(arguments: &[&str]) -> Outcome {
    Project::new().run(&[&["env"], arguments].concat()).exits(0)
}

const ASKED: [&str; 6] = [
    "--profile",
    "debug",
    "--rocm",
    "/opt/rocm 7",
    "--gfx",
    "gfx1151",
];

#[test]
fn a_profile_is_printed_for_shells_conda_workflows_and_docker() {
    let text = |format: &str| env(&[&ASKED[..], &["--format", format]].concat()).stdout;
    insta::assert_snapshot!(text("sh"), @r#"
    export ROCM_PATH='/opt/rocm 7'
    export HIP_PLATFORM=amd
    export HIP_PATH='/opt/rocm 7'
    export HIP_CLANG_PATH='/opt/rocm 7/lib/llvm/bin'
    export HIP_INCLUDE_PATH='/opt/rocm 7/include'
    export HIP_LIB_PATH='/opt/rocm 7/lib'
    export HIP_DEVICE_LIB_PATH='/opt/rocm 7/lib/llvm/amdgcn/bitcode'
    export HIP_ARCH=gfx1151
    case ":${LD_LIBRARY_PATH-}:" in
      *:'/opt/rocm 7/lib':*) ;;
      *) LD_LIBRARY_PATH='/opt/rocm 7/lib'"${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" ;;
    esac
    export LD_LIBRARY_PATH
    case ":${LIBRARY_PATH-}:" in
      *:'/opt/rocm 7/lib':*) ;;
      *) LIBRARY_PATH='/opt/rocm 7/lib'"${LIBRARY_PATH:+:$LIBRARY_PATH}" ;;
    esac
    export LIBRARY_PATH
    case ":${CPATH-}:" in
      *:'/opt/rocm 7/include':*) ;;
      *) CPATH='/opt/rocm 7/include'"${CPATH:+:$CPATH}" ;;
    esac
    export CPATH
    case ":${PKG_CONFIG_PATH-}:" in
      *:'/opt/rocm 7/lib/pkgconfig':*) ;;
      *) PKG_CONFIG_PATH='/opt/rocm 7/lib/pkgconfig'"${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}" ;;
    esac
    export PKG_CONFIG_PATH
    export PYTORCH_ROCM_ARCH=gfx1151
    export HIP_VISIBLE_DEVICES=0
    export TORCH_ROCM_AOTRITON_ENABLE_EXPERIMENTAL=1
    export TORCH_ROCM_AOTRITON_PREFER_DEFAULT=1
    export AMD_SERIALIZE_KERNEL=1
    export HIP_LAUNCH_BLOCKING=1
    export AOTRITON_DEBUG_LEVEL=3
    "#);
    insta::assert_snapshot!(text("conda"), @"conda env config vars set 'ROCM_PATH=/opt/rocm 7' HIP_PLATFORM=amd 'HIP_PATH=/opt/rocm 7' 'HIP_CLANG_PATH=/opt/rocm 7/lib/llvm/bin' 'HIP_INCLUDE_PATH=/opt/rocm 7/include' 'HIP_LIB_PATH=/opt/rocm 7/lib' 'HIP_DEVICE_LIB_PATH=/opt/rocm 7/lib/llvm/amdgcn/bitcode' HIP_ARCH=gfx1151 'LD_LIBRARY_PATH=/opt/rocm 7/lib' 'LIBRARY_PATH=/opt/rocm 7/lib' 'CPATH=/opt/rocm 7/include' 'PKG_CONFIG_PATH=/opt/rocm 7/lib/pkgconfig' PYTORCH_ROCM_ARCH=gfx1151 HIP_VISIBLE_DEVICES=0 TORCH_ROCM_AOTRITON_ENABLE_EXPERIMENTAL=1 TORCH_ROCM_AOTRITON_PREFER_DEFAULT=1 AMD_SERIALIZE_KERNEL=1 HIP_LAUNCH_BLOCKING=1 AOTRITON_DEBUG_LEVEL=3");
    insta::assert_snapshot!(text("yaml"), @"
    env:
      ROCM_PATH: /opt/rocm 7
      HIP_PLATFORM: amd
      HIP_PATH: /opt/rocm 7
      HIP_CLANG_PATH: /opt/rocm 7/lib/llvm/bin
      HIP_INCLUDE_PATH: /opt/rocm 7/include
      HIP_LIB_PATH: /opt/rocm 7/lib
      HIP_DEVICE_LIB_PATH: /opt/rocm 7/lib/llvm/amdgcn/bitcode
      HIP_ARCH: gfx1151
      LD_LIBRARY_PATH: /opt/rocm 7/lib
      LIBRARY_PATH: /opt/rocm 7/lib
      CPATH: /opt/rocm 7/include
      PKG_CONFIG_PATH: /opt/rocm 7/lib/pkgconfig
      PYTORCH_ROCM_ARCH: gfx1151
      HIP_VISIBLE_DEVICES: '0'
      TORCH_ROCM_AOTRITON_ENABLE_EXPERIMENTAL: '1'
      TORCH_ROCM_AOTRITON_PREFER_DEFAULT: '1'
      AMD_SERIALIZE_KERNEL: '1'
      HIP_LAUNCH_BLOCKING: '1'
      AOTRITON_DEBUG_LEVEL: '3'
    ");
    insta::assert_snapshot!(text("env-file"), @"
    ROCM_PATH=/opt/rocm 7
    HIP_PLATFORM=amd
    HIP_PATH=/opt/rocm 7
    HIP_CLANG_PATH=/opt/rocm 7/lib/llvm/bin
    HIP_INCLUDE_PATH=/opt/rocm 7/include
    HIP_LIB_PATH=/opt/rocm 7/lib
    HIP_DEVICE_LIB_PATH=/opt/rocm 7/lib/llvm/amdgcn/bitcode
    HIP_ARCH=gfx1151
    LD_LIBRARY_PATH=/opt/rocm 7/lib
    LIBRARY_PATH=/opt/rocm 7/lib
    CPATH=/opt/rocm 7/include
    PKG_CONFIG_PATH=/opt/rocm 7/lib/pkgconfig
    PYTORCH_ROCM_ARCH=gfx1151
    HIP_VISIBLE_DEVICES=0
    TORCH_ROCM_AOTRITON_ENABLE_EXPERIMENTAL=1
    TORCH_ROCM_AOTRITON_PREFER_DEFAULT=1
    AMD_SERIALIZE_KERNEL=1
    HIP_LAUNCH_BLOCKING=1
    AOTRITON_DEBUG_LEVEL=3
    ");
}

/// The values that a shell has after it sourced the text twice.
fn sourced(shell: &str, project: &Project, before: &[(&str, &str)]) -> BTreeMap<String, String> {
    let mut command = Command::new(shell);
    command
        .env_clear()
        .envs(before.iter().copied())
        .current_dir(project.root());
    let output = command
        .args(["-c", "set -eu; . ./rocm.sh; . ./rocm.sh; /usr/bin/env -0"])
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{shell}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    let stdout = String::from_utf8(output.stdout).unwrap();
    stdout
        .split_terminator('\0')
        .filter_map(|line| line.split_once('='))
        .map(|(a, b)| (a.into(), b.into()))
        .collect()
}

#[test]
fn shells_read_every_value_as_it_is_and_lists_do_not_grow_when_it_is_sourced_again() {
    let folder = "/opt/it's \"$HOME\" `id` [a]*";
    let nasty = "--set=NASTY=a 'b' \"c\" $(d) \\ *\n~";
    let text = env(&[
        "--profile",
        "bench",
        "--rocm",
        folder,
        "--gfx",
        "gfx942,gfx1151",
        nasty,
    ])
    .stdout;
    let project = Project::new().file("rocm.sh", &text);
    let lib = format!("{folder}/lib");
    for shell in ["sh", "bash", "dash"] {
        let listed =
            |before: &[(&str, &str)]| sourced(shell, &project, before)["LD_LIBRARY_PATH"].clone();
        assert_eq!(listed(&[]), lib, "{shell}");
        assert_eq!(
            listed(&[("LD_LIBRARY_PATH", "")]),
            lib,
            "{shell}: an empty list has no folder"
        );
        assert_eq!(
            listed(&[("LD_LIBRARY_PATH", "/a:/b")]),
            format!("{lib}:/a:/b"),
            "{shell}"
        );
        let held = format!("/a:{lib}");
        assert_eq!(
            listed(&[("LD_LIBRARY_PATH", &held)]),
            held,
            "{shell}: it is there already"
        );
        let values = sourced(shell, &project, &[]);
        assert_eq!(values["NASTY"], "a 'b' \"c\" $(d) \\ *\n~", "{shell}");
        assert_eq!(
            values["HIP_CLANG_PATH"],
            format!("{folder}/lib/llvm/bin"),
            "{shell}"
        );
        assert_eq!(
            (
                &*values["PYTORCH_ROCM_ARCH"],
                &*values["AMD_SERIALIZE_KERNEL"]
            ),
            ("gfx942;gfx1151", "0")
        );
    }
}

#[test]
fn a_workflow_and_a_file_for_docker_hold_the_same_values() {
    let text = |format: &str| env(&[&ASKED[..], &["--format", format]].concat()).stdout;
    let block: BTreeMap<String, BTreeMap<String, String>> =
        serde_yaml::from_str(&text("yaml")).unwrap();
    let file: BTreeMap<String, String> = text("env-file")
        .lines()
        .filter_map(|line| line.split_once('='))
        .map(|(a, b)| (a.into(), b.into()))
        .collect();
    assert_eq!(block["env"], file);
    assert_eq!(file["LD_LIBRARY_PATH"], "/opt/rocm 7/lib");
    let json = Project::new()
        .run(&[&["env"], &ASKED[..], &["--format", "json"]].concat())
        .exits(0)
        .json();
    assert_eq!(
        (&json["version"], &json["profile"]),
        (&1.into(), &"debug".into())
    );
    let rows = json["variables"].as_array().unwrap();
    let of_json: BTreeMap<String, String> = rows
        .iter()
        .map(|row| {
            (
                row["name"].as_str().unwrap().to_owned(),
                row["value"].as_str().unwrap().to_owned(),
            )
        })
        .collect();
    assert_eq!(of_json, file);
}

#[test]
fn a_value_with_a_line_break_is_refused_for_docker() {
    let arguments = [
        "env",
        "--profile",
        "run",
        "--format",
        "env-file",
        "--set",
        "A=a\nb",
    ];
    insta::assert_snapshot!(Project::new().run(&arguments).exits(1).stderr, @"
    error[H026 unwritable-variable]: `A` contains a line break, which an environment file cannot contain
    help: use `--format sh`, or another value
    ");
}

#[test]
fn what_is_not_known_is_left_out_with_a_note() {
    let outcome = env(&["--profile", "bench"]);
    assert!(
        !outcome.stdout.contains("ROCM_PATH") && !outcome.stdout.contains("PYTORCH_ROCM_ARCH"),
        "{}",
        outcome.stdout
    );
    insta::assert_snapshot!(outcome.stderr, @"
    note[H023 variables-left-out]: 10 variables left out: the ROCm directory is unknown
     = note: ROCM_PATH, HIP_PATH, HIP_CLANG_PATH, HIP_INCLUDE_PATH, HIP_LIB_PATH, HIP_DEVICE_LIB_PATH, LD_LIBRARY_PATH, LIBRARY_PATH, CPATH, PKG_CONFIG_PATH
    help: give it with `--rocm DIR`, or a Python with the ROCm SDK packages with `--python`

    note[H023 variables-left-out]: 2 variables left out: no gfx target is given
     = note: HIP_ARCH, PYTORCH_ROCM_ARCH
    help: give the targets with `--gfx`, such as `--gfx gfx1151`
    ");
    let stderr = env(&[
        "--profile",
        "run",
        "--rocm",
        "/opt/rocm",
        "--gfx",
        "gfx942",
        "--format",
        "yaml",
    ])
    .stderr;
    insta::assert_snapshot!(stderr, @"
    note[H024 lists-replaced]: in this format, search paths contain only the ROCm directory
     = note: LD_LIBRARY_PATH, LIBRARY_PATH, CPATH, PKG_CONFIG_PATH
    help: source the output of `--format sh` to keep their present entries
    ");
}

#[test]
fn the_folder_is_that_of_the_packages_of_the_sdk() {
    let module = "import sys\nassert sys.argv[1:] == ['path', '--root'], sys.argv\nprint('/sdk/_rocm_sdk_devel')\n";
    let project = Project::new()
        .file("sdk/rocm_sdk/__main__.py", module)
        .file("sdk/rocm_sdk/__init__.py", "");
    let sdk = project.path("sdk");
    let arguments = ["env", "--profile", "run", "--python", "python3"];
    let empty = project.run(&arguments).exits(3).stderr;
    let project = project.env("PYTHONPATH", sdk);
    let stdout = project.run(&arguments).exits(0).stdout;
    assert!(
        stdout.starts_with("export ROCM_PATH=/sdk/_rocm_sdk_devel\n"),
        "{stdout}"
    );
    insta::assert_snapshot!(empty, @"
    error[H025 no-rocm-sdk]: `python3 -m rocm_sdk path --root` printed no directory
    --> argument `--python python3`
    help: install `rocm[libraries,devel]` for that Python, or give the directory with `--rocm`
    ");
    let stderr = project
        .run(&["env", "--profile", "run", "--python", "./no/python"])
        .exits(3)
        .stderr;
    assert!(
        stderr.starts_with(
            "error[H025 no-rocm-sdk]: `./no/python -m rocm_sdk path --root` printed no directory"
        ),
        "{stderr}"
    );
    project
        .run(&[&arguments[..], &["--rocm", "/opt/rocm"]].concat())
        .exits(2);
}

#[test]
fn a_variable_that_no_program_reads_is_listed_as_unread() {
    assert!(
        env(&["--profile", "run"])
            .stdout
            .contains("export TORCH_ROCM_AOTRITON_PREFER_DEFAULT=1\n")
    );
    let rows = Project::new()
        .run(&["compat", "list", "variables"])
        .exits(0)
        .stdout;
    assert!(
        rows.contains("no program was found that reads it"),
        "{rows}"
    );
}

#[test]
fn serialized_kernels_in_a_benchmark_are_a_warning() {
    let outcome = env(&[
        "--profile",
        "bench",
        "--rocm",
        "/usr",
        "--gfx",
        "gfx1151",
        "--set",
        "AMD_SERIALIZE_KERNEL=1",
    ]);
    assert!(
        outcome.stdout.contains("export AMD_SERIALIZE_KERNEL=1\n"),
        "{}",
        outcome.stdout
    );
    insta::assert_snapshot!(outcome.stderr, @"
    warning[K011 variable-against-profile]: profile `bench` has `AMD_SERIALIZE_KERNEL=1`: kernels wait for each other, so the measurements are not what users get
    --> argument `--set AMD_SERIALIZE_KERNEL=1`
    help: set it to 0
    ");
    let outcome = env(&[
        "--profile",
        "debug",
        "--rocm",
        "/usr",
        "--gfx",
        "gfx1151",
        "--set",
        "AMD_SERIALIZE_KERNEL=3",
    ]);
    insta::assert_snapshot!(outcome.stderr, @"
    note[K011 variable-against-profile]: profile `debug` has `AMD_SERIALIZE_KERNEL=3`: torch reads it as a flag and warns about values other than 0 and 1; HIP knows 2 and 3 as well, and torch's own advice names 3
    --> argument `--set AMD_SERIALIZE_KERNEL=3`
    help: set it to 0 or 1
    ");
}

#[test]
fn everyday_use_shows_programs_all_gpus() {
    let of = |profile: &str| {
        env(&[
            "--profile",
            profile,
            "--rocm",
            "/opt/rocm",
            "--gfx",
            "gfx942",
        ])
        .stdout
    };
    assert!(!of("run").contains("VISIBLE_DEVICES"), "{}", of("run"));
    assert!(
        of("bench").contains("export HIP_VISIBLE_DEVICES=0\n"),
        "one GPU is measured"
    );
}

#[test]
fn what_a_wheel_needs_is_added_to_a_profile() {
    let wheel = "dist/flash_attn-2.7.4.post1+rocm62torch2.5triton-py3-none-any.whl";
    let of = |wheel: &str| {
        env(&[
            "--profile",
            "run",
            "--rocm",
            "/opt/rocm",
            "--gfx",
            "gfx942",
            "--wheel",
            wheel,
        ])
    };
    assert!(
        of(wheel)
            .stdout
            .ends_with("export FLASH_ATTENTION_TRITON_AMD_ENABLE=TRUE\n"),
        "{}",
        of(wheel).stdout
    );
    let ck = of("flash_attn-2.8.3+rocm62torch2.5-cp311-cp311-linux_x86_64.whl");
    assert!(!ck.stdout.contains("FLASH_ATTENTION"), "{}", ck.stdout);
    assert!(
        ck.stderr
            .starts_with("no variables are known for flash_attn-2.8.3+rocm62torch2.5-"),
        "{}",
        ck.stderr
    );
    let refused = Project::new()
        .run(&["env", "--profile", "run", "--wheel", "flash_attn.whl"])
        .exits(2)
        .stderr;
    assert!(refused.contains("flash_attn.whl"), "{refused}");
}

#[test]
fn an_unknown_profile_is_reported_with_the_nearest() {
    let stderr = Project::new().run(&["env", "debgu"]).exits(2).stderr;
    insta::assert_snapshot!(stderr, @"
    error[K010 unknown-profile]: there is no profile `debgu`; did you mean `debug`?
    --> argument `debgu`
    help: the profiles are run, debug, bench, bench-ck
    ");
    for bad in [
        &["--gfx", "942"][..],
        &["--gfx", " "],
        &["--set", "A B=c"],
        &["--set", "A"],
        &["--rocm", ""],
    ] {
        Project::new()
            .run(&[&["env", "--profile", "run"], bad].concat())
            .exits(2);
    }
}

/// What `check` says of a toy whose step is a benchmark.
fn checked(toy: &Toy) -> String {
    let output = toy.command(&["check"]).output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    stderr
}

#[test]
fn a_recipe_that_serializes_kernels_in_a_bench_step_gets_a_warning() {
    let serialized = "    env: {AMD_SERIALIZE_KERNEL: \"{{ vars.serialize }}\"}\n";
    let toy = |value: &str| {
        let toy = Toy::with_recipe("true", serialized).recipe(
            "python: python3\n",
            &format!("python: python3\n  serialize: \"{value}\"\n"),
        );
        toy.recipe("stage: build", "stage: bench-attention")
    };
    let stderr = checked(&toy("1"));
    let first = "warning[K011 variable-against-profile]: stage `bench-attention` has \
        `AMD_SERIALIZE_KERNEL=1`: kernels wait for each other, so the measurements are not what \
        users get\n";
    assert!(
        stderr.contains(first)
            && stderr.contains("help: set it to 0\n")
            && stderr.contains("for job `toy"),
        "{stderr}"
    );
    assert!(!checked(&toy("0")).contains("K011"));
    let stderr = checked(&Toy::with_recipe(
        "true",
        "    env: {AMD_SERIALIZE_KERNEL: \"1\"}\n",
    ));
    assert!(
        !stderr.contains("K011"),
        "a build is no benchmark: {stderr}"
    );
    let stderr = checked(&Toy::with_recipe(
        "true",
        "    env: {AMD_SERIALIZE_KERNEL: \"3\"}\n",
    ));
    assert!(
        stderr.contains(
            "note[K011 variable-against-profile]: stage `build` has `AMD_SERIALIZE_KERNEL=3`: torch"
        ),
        "{stderr}"
    );
}

#[test]
fn a_container_that_serializes_kernels_gets_a_warning() {
    let arguments = "docker: {args: [--env, AMD_SERIALIZE_KERNEL=1, -eHIP_LAUNCH_BLOCKING=0]}\n";
    let toy = Toy::building("true")
        .matrix(arguments)
        .recipe("stage: build", "stage: benchmark");
    let stderr = checked(&toy);
    insta::assert_snapshot!(stderr.replace(toy.folder.to_str().unwrap(), "[HERE]"), @"
    warning[K011 variable-against-profile]: the container of `docker` has `AMD_SERIALIZE_KERNEL=1`: kernels wait for each other, so the measurements are not what users get
      --> matrices/toy.yaml:12:9
       |
    12 | docker: {args: [--env, AMD_SERIALIZE_KERNEL=1, -eHIP_LAUNCH_BLOCKING=0]}
       |         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
       |
       = note: for job `toy-1.0-rocm6.2-py3.11`
    help: set it to 0

    1 file, 0 errors, 1 warning
    ");
    assert!(!checked(&Toy::building("true").matrix(arguments)).contains("K011"));
}

#[test]
fn the_shells_of_windows_get_assignments_with_folders_as_they_are_there() {
    let arguments = [
        "--profile",
        "bench",
        "--rocm",
        "C:\\ROCm 7",
        "--gfx",
        "gfx1151",
        "--set",
        "RATIO=50%",
        "--format",
    ];
    let stdout = env(&[&arguments[..], &["powershell"]].concat()).stdout;
    assert!(
        stdout.starts_with("$env:ROCM_PATH = 'C:\\ROCm 7'\r\n")
            && stdout.contains("$env:RATIO = '50%'\r\n"),
        "{stdout}"
    );
    assert!(stdout.contains("-notcontains 'C:\\ROCm 7/lib'"), "{stdout}");
    let stdout = env(&[&arguments[..], &["cmd"]].concat()).stdout;
    assert!(
        stdout.starts_with("set \"ROCM_PATH=C:\\ROCm 7\"\r\n")
            && stdout.contains("set \"RATIO=50%%\"\r\n"),
        "{stdout}"
    );
    let refused = ["env", "--profile", "run", "--rocm", "C:/rocm"];
    let stderr = Project::new().run(&refused).exits(1).stderr;
    assert!(
        stderr.starts_with(
            "error[H026 unwritable-variable]: `LD_LIBRARY_PATH` is a list of folders \
            separated by `:`"
        ),
        "{stderr}"
    );
}
