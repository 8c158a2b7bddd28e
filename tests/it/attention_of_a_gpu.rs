//! `attention`: the library that torch takes on a GPU, the validation script, and the judge
//! of its output.

use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use rock_matrix::doctor::attention::SCRIPT;

use crate::support::{Outcome, Project};

fn ask(arguments: &[&str]) -> Outcome {
    Project::new()
        .run(&[&["attention", "report"], arguments].concat())
        .exits(0)
}

#[test]
fn preferring_ck_on_gfx1151_keeps_aotriton_with_a_reason() {
    insta::assert_snapshot!(ask(&["--gfx", "gfx1151", "--torch", "2.12.0", "--prefer-ck"]).stdout, @"
    gfx1151: torch's attention uses AOTriton
      because: Composable Kernel is preferred, but this has no effect: torch only uses it on gfx90a, gfx942, gfx950
      because: AOTriton treats this GPU as experimental
      set: TORCH_ROCM_AOTRITON_ENABLE_EXPERIMENTAL=1 before torch is imported; otherwise torch warns and uses the math backend
      from: compat/attention.yaml, aotriton gfx1151 >=2.9,<2.13, checked 2026-11-26
      read in: ROCm/aotriton HEAD 30ae96716, README and sources, 0.11b to 0.11.2b: v3src/util.cc, isArchExperimentallySupported (verified)
    ");
}

#[test]
fn a_gpu_of_ck_takes_it_only_where_torch_was_built_with_it() {
    insta::assert_snapshot!(ask(&["--gfx", "gfx942:xnack-", "--prefer-ck"]).stdout, @"
    gfx942:xnack-: torch's attention uses Composable Kernel
      because: Composable Kernel has fused attention for it
      set: TORCH_ROCM_FA_PREFER_CK=1 before torch is imported; otherwise torch uses AOTriton
      only if: torch was built with USE_ROCM_CK_SDPA=1: then `torch.backends.cuda.is_ck_sdpa_available()` is True
      otherwise: torch uses AOTriton
      from: compat/attention.yaml, ck gfx90a gfx942, checked 2026-11-22
      read in: pytorch/pytorch, the file that ref names, aten/src/ATen/Context.cpp, setROCmFAPreferredBackend (verified)
    ");
    let choice = |arguments: &[&str]| {
        let all = [&["attention", "report", "--format", "json"], arguments].concat();
        Project::new().run(&all).exits(0).json()["choices"][0].clone()
    };
    let ck = choice(&["--gfx", "gfx942", "--prefer-ck"]);
    assert_eq!(
        (&ck["library"], &ck["otherwise"]),
        (&"ck".into(), &"aotriton".into())
    );
    assert_eq!(
        (&ck["preferred_by"], &ck["built_with"]),
        (
            &"TORCH_ROCM_FA_PREFER_CK=1".into(),
            &"USE_ROCM_CK_SDPA=1".into()
        )
    );
    let stays = choice(&["--gfx", "gfx1151", "--prefer-ck"]);
    assert_eq!(
        (&stays["library"], &stays["preferred_in_vain"]),
        (&"aotriton".into(), &"ck".into())
    );
    let math = choice(&["--gfx", "gfx1151", "--torch", "2.7.1"]);
    assert_eq!(
        (&math["library"], &math["help"]),
        (&"math".into(), &"use torch >=2.8".into())
    );
}

#[test]
fn a_machine_without_gpus_needs_a_target() {
    let project = Project::new();
    let outcome = project
        .run(&["attention", "report", "--gfx", "1151"])
        .exits(2)
        .stderr;
    assert!(outcome.contains("is not a gfx target"), "{outcome}");
    for bad in [
        &["script", "x"][..],
        &["judge", "x", "--prefer-ck"],
        &["judge"],
        &["report", "--torch", "new"],
    ] {
        project.run(&[&["attention"], bad].concat()).exits(2);
    }
    if !std::path::Path::new("/sys/class/kfd").exists() {
        let stderr = project.run(&["attention", "report"]).exits(1).stderr;
        assert!(
            stderr.starts_with("error[H030 no-target-named]: no GPU was found on this machine\n"),
            "{stderr}"
        );
    }
}

/// A torch that answers as one on a machine with a GPU would. `ANSWERS` is Python: names to what
/// they give.
const TORCH: &str = r#"
import os
answers = {
    "device": True, "gfx": "gfx1151", "library": "_ROCmFABackend.AOTriton", "flash": True,
    "FLASH_ATTENTION": None, "EFFICIENT_ATTENTION": "HIP error: invalid argument\nCompile with ...", "MATH": None,
    "CUDNN_ATTENTION": "Torch was not compiled with cuDNN attention.",
}
answers.update(eval(os.environ["ANSWERS"]))
__version__ = "2.9.0+rocm7.10.0"
float16 = "float16"
class version: hip = "7.10.0"
class cuda:
    is_available = staticmethod(lambda: answers["device"])
    get_device_name = staticmethod(lambda index: "AMD Radeon Graphics")
    @staticmethod
    def get_device_properties(index):
        class properties: gcnArchName = answers["gfx"]
        return properties
    @staticmethod
    def synchronize():
        if forced[0] and answers[forced[0]]: raise RuntimeError(answers[forced[0]])
class ops: pass
forced = [None]
def randn(*shape, device, dtype):
    assert shape == (1, 1, 128, 64) and (device, dtype) == ("cuda", float16)
    return shape
from . import nn, backends
"#;

const BACKENDS: &str = r#"
class cuda:
    is_flash_attention_available = staticmethod(lambda: True)
    flash_sdp_enabled = staticmethod(lambda: True)
    mem_efficient_sdp_enabled = staticmethod(lambda: True)
    math_sdp_enabled = staticmethod(lambda: True)
    @staticmethod
    def preferred_rocm_fa_library():
        from . import answers
        return answers["library"]
    SDPAParams = staticmethod(lambda *arguments: arguments)
    @staticmethod
    def can_use_flash_attention(params, debug):
        from . import answers
        return answers["flash"]
    can_use_efficient_attention = staticmethod(lambda params, debug: True)
"#;

const ATTENTION: &str = r#"
import contextlib, torch
class SDPBackend:
    FLASH_ATTENTION, EFFICIENT_ATTENTION, MATH, CUDNN_ATTENTION = "FLASH_ATTENTION EFFICIENT_ATTENTION MATH CUDNN_ATTENTION".split()
@contextlib.contextmanager
def sdpa_kernel(backend):
    torch.forced[0] = backend
    yield
    torch.forced[0] = None
"#;

/// A project with that torch in `site`, and the script as the program prints it.
fn machine() -> Project {
    let script = Project::new().run(&["attention", "script"]).exits(0).stdout;
    assert_eq!(script, SCRIPT);
    let functional =
        "def scaled_dot_product_attention(query, key, value, is_causal):\n    assert is_causal\n";
    Project::new()
        .file("check.py", &script)
        .file("site/torch/__init__.py", TORCH)
        .file("site/torch/backends.py", BACKENDS)
        .file("site/torch/nn/__init__.py", "from . import functional\n")
        .file("site/torch/nn/functional.py", functional)
        .file("site/torch/nn/attention.py", ATTENTION)
}

/// What the script prints on a machine that answers so, and its exit code.
fn run_script(
    project: &Project,
    answers: &str,
    variables: &[(&str, &str)],
) -> (String, Option<i32>) {
    let mut command = Command::new("python3");
    command.arg("check.py").current_dir(project.root());
    for name in [
        "TORCH_ROCM_AOTRITON_ENABLE_EXPERIMENTAL",
        "TORCH_ROCM_FA_PREFER_CK",
        "PYTORCH_ROCM_ARCH",
        "HSA_OVERRIDE_GFX_VERSION",
        "HIP_VISIBLE_DEVICES",
        "AMD_SERIALIZE_KERNEL",
    ] {
        command.env_remove(name);
    }
    command
        .env("PYTHONPATH", project.path("site"))
        .env("ANSWERS", answers)
        .envs(variables.iter().copied());
    let output = command.output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    (
        String::from_utf8(output.stdout).unwrap(),
        output.status.code(),
    )
}

const EXPERIMENTAL: (&str, &str) = ("TORCH_ROCM_AOTRITON_ENABLE_EXPERIMENTAL", "1");

/// The judge's word about a log.
fn judge(project: Project, log: &str, arguments: &[&str], code: i32) -> Outcome {
    project
        .file("check.log", log)
        .run(&[&["attention", "judge", "check.log"], arguments].concat())
        .exits(code)
}

#[test]
fn a_good_log_of_gfx1151_is_right_with_efficient_attention_failing_as_it_does_there() {
    let project = machine();
    let compiled = Command::new("python3")
        .args(["-m", "py_compile", "check.py"])
        .current_dir(project.root())
        .status();
    assert!(compiled.unwrap().success());
    let (log, code) = run_script(&project, "{}", &[EXPERIMENTAL]);
    assert_eq!(code, Some(0));
    insta::assert_snapshot!(log, @"
    === SDPA Backend Check ===
    Torch: 2.9.0+rocm7.10.0
    HIP: 7.10.0
    CUDA available: True
    Device 0: AMD Radeon Graphics
    gfx: gfx1151

    === Environment Variables ===
    TORCH_ROCM_AOTRITON_ENABLE_EXPERIMENTAL: 1
    TORCH_ROCM_FA_PREFER_CK: Not set
    PYTORCH_ROCM_ARCH: Not set
    HSA_OVERRIDE_GFX_VERSION: Not set
    HIP_VISIBLE_DEVICES: Not set
    AMD_SERIALIZE_KERNEL: Not set

    === AOTriton Ops ===
    torch.ops.aotriton: none

    === SDPA Feature Flags ===
    is_flash_attention_available: True
    is_ck_sdpa_available: n/a
    flash_sdp_enabled: True
    mem_efficient_sdp_enabled: True
    math_sdp_enabled: True
    cudnn_sdp_enabled: n/a
    preferred_rocm_fa_library(): _ROCmFABackend.AOTriton

    === Backend Viability (can_use_*) ===
    can_use_flash_attention: True
    can_use_efficient_attention: True

    === Forced Execution Per Backend ===
    FLASH_ATTENTION: OK
    EFFICIENT_ATTENTION: ERR: HIP error: invalid argument Compile with ...
    MATH: OK
    CUDNN_ATTENTION: ERR: Torch was not compiled with cuDNN attention.

    Done.
    ");
    let outcome = judge(project, &log, &[], 0);
    assert_eq!(outcome.stderr, "");
    insta::assert_snapshot!(outcome.stdout, @"
    gfx1151, torch 2.9.0+rocm7.10.0: 8 lines checked
      ok      is_flash_attention_available  True
      ok      flash_sdp_enabled             True
      ok      preferred_rocm_fa_library()   _ROCmFABackend.AOTriton
      ok      can_use_flash_attention       True
      ok      FLASH_ATTENTION               OK
      normal  EFFICIENT_ATTENTION           ERR: HIP error: invalid argument Compile with ...
      ok      MATH                          OK
      normal  CUDNN_ATTENTION               ERR: Torch was not compiled with cuDNN attention.
    ");
}

#[test]
fn a_bad_log_is_reported_line_by_line_with_expectation_and_help() {
    let project = machine();
    let answers = "{'library': '_ROCmFABackend.Ck', 'flash': False, 'FLASH_ATTENTION': 'No available kernel. Aborting execution.'}";
    let (log, code) = run_script(&project, answers, &[("TORCH_ROCM_FA_PREFER_CK", "1")]);
    assert_eq!(code, Some(0), "the judge decides, not the script");
    insta::assert_snapshot!(judge(project, &log, &[], 1).stderr, @"
    error[H027 attention-miss]: `preferred_rocm_fa_library()` is `_ROCmFABackend.Ck`, not `_ROCmFABackend.AOTriton`
      --> check.log:26:1
       |
     9 | TORCH_ROCM_AOTRITON_ENABLE_EXPERIMENTAL: Not set
       | ------------------------------------------------ gfx1151 needs TORCH_ROCM_AOTRITON_ENABLE_EXPERIMENTAL=1
    ...
    26 | preferred_rocm_fa_library(): _ROCmFABackend.Ck
       | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ expected `_ROCmFABackend.AOTriton`
       |
       = note: the expected value means that torch uses AOTriton: Composable Kernel has no fused attention for these GPUs
    help: unset TORCH_ROCM_FA_PREFER_CK

    error[H027 attention-miss]: `can_use_flash_attention` is `False`, not `True`
      --> check.log:29:1
       |
     9 | TORCH_ROCM_AOTRITON_ENABLE_EXPERIMENTAL: Not set
       | ------------------------------------------------ gfx1151 needs TORCH_ROCM_AOTRITON_ENABLE_EXPERIMENTAL=1
    ...
    29 | can_use_flash_attention: False
       | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ expected `True`
       |
       = note: the expected value means that torch uses flash attention for the script's tensors
    help: set TORCH_ROCM_AOTRITON_ENABLE_EXPERIMENTAL=1 before torch is imported (`rock-matrix env --profile run`), and check that torch/lib/aotriton.images contains the GPU

    error[H027 attention-miss]: `FLASH_ATTENTION` is `ERR: No available kernel. Aborting execution.`, not `OK`
      --> check.log:33:1
       |
     9 | TORCH_ROCM_AOTRITON_ENABLE_EXPERIMENTAL: Not set
       | ------------------------------------------------ gfx1151 needs TORCH_ROCM_AOTRITON_ENABLE_EXPERIMENTAL=1
    ...
    33 | FLASH_ATTENTION: ERR: No available kernel. Aborting execution.
       | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ expected `OK`
       |
       = note: the expected value means that flash attention runs
    help: check the error on this line; with the variables of `rock-matrix env --profile debug` it is reported where it occurs
    ");
}

#[test]
fn the_profile_is_that_of_the_gpu() {
    let efficient = "{'gfx': 'gfx942:sramecc+:xnack-', 'library': '_ROCmFABackend.Ck'}";
    let project = machine();
    let (log, _) = run_script(&project, efficient, &[]);
    let outcome = judge(project, &log, &["--format", "json"], 1);
    let json: serde_json::Value = serde_json::from_str(&outcome.stdout).unwrap();
    assert_eq!(
        (&json["gfx"], &json["ok"]),
        (&"gfx942:sramecc+:xnack-".into(), &false.into())
    );
    let misses: Vec<&str> = json["lines"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|line| line["state"] == "miss")
        .map(|line| line["line"].as_str().unwrap())
        .collect();
    assert_eq!(
        misses,
        ["EFFICIENT_ATTENTION"],
        "normal on gfx11 alone; either library is right"
    );
    judge(machine(), &log, &["--gfx", "gfx1036"], 1);
    let stderr = judge(machine(), &log, &["--gfx", "gfx1151"], 1).stderr;
    assert!(
        stderr.contains(
            "`preferred_rocm_fa_library()` is `_ROCmFABackend.Ck`, not `_ROCmFABackend.AOTriton`"
        ),
        "{stderr}"
    );
}

#[test]
fn a_machine_without_a_gpu_is_no_fault_and_one_without_torch_is() {
    let project = machine();
    let (log, code) = run_script(&project, "{'device': False}", &[]);
    assert_eq!(code, Some(0));
    insta::assert_snapshot!(judge(project, &log, &[], 0).stderr, @"
    note[H029 no-device-in-log]: the log is from a machine without a GPU
     = note: the checks that need a GPU were skipped
    help: run the script on a machine with a GPU
    ");
    let project = machine().file(
        "site/torch/__init__.py",
        "raise ImportError('libamdhip64.so.7: cannot open')\n",
    );
    let (log, code) = run_script(&project, "{}", &[]);
    assert_eq!(code, Some(1));
    insta::assert_snapshot!(judge(project, &log, &[], 1).stderr, @"
    error[H027 attention-miss]: torch cannot be imported
     --> check.log:2:1
      |
    2 | Failed to import torch: libamdhip64.so.7: cannot open
      | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
      |
    help: install torch for ROCm into this Python
    ");
}

#[test]
fn a_log_that_is_cut_foreign_or_unreadable_is_a_fault() {
    let project = machine();
    let (log, _) = run_script(&project, "{}", &[EXPERIMENTAL]);
    let cut = &log[..log.find("MATH:").unwrap()];
    insta::assert_snapshot!(judge(project, cut, &[], 1).stderr, @"
    error[H028 unjudged-log]: the end of the log is missing
      --> check.log:34:1
       |
    34 | EFFICIENT_ATTENTION: ERR: HIP error: invalid argument Compile with ...
       | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ the last line
       |
    help: check why the script stopped there, or save its full output: `python check.py > check.log 2>&1`
    ");
    insta::assert_snapshot!(judge(machine(), "Torch: 2.9\n", &[], 1).stderr, @"
    error[H028 unjudged-log]: this is not the output of the validation script
    --> check.log
    help: run the script that `rock-matrix attention script` prints, and save its output
    ");
    let outcome = machine()
        .bytes("check.log", b"\xff\xfe")
        .run(&["attention", "judge", "check.log"])
        .exits(1);
    assert!(
        outcome.stderr.starts_with("error[H020 cannot-read-file]"),
        "{}",
        outcome.stderr
    );
    let unnamed = log.replace("gfx: gfx1151\n", "");
    let stderr = judge(machine(), &unnamed, &[], 1).stderr;
    assert!(
        stderr.starts_with("error[H028 unjudged-log]: the log does not name its GPU\n"),
        "{stderr}"
    );
    judge(machine(), &unnamed, &["--gfx", "gfx1151"], 0);
}

#[test]
fn a_line_that_is_missing_is_a_miss_and_standard_input_is_a_log() {
    let (log, _) = run_script(&machine(), "{}", &[EXPERIMENTAL]);
    let without: String = log
        .lines()
        .filter(|line| !line.starts_with("FLASH_ATTENTION"))
        .map(|line| format!("{line}\n"))
        .collect();
    let project = Project::new().file("check.log", &without);
    let input = std::fs::File::open(project.path("check.log")).unwrap();
    let output = project
        .command(&["attention", "judge", "-"])
        .stdin(input)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    insta::assert_snapshot!(String::from_utf8(output.stderr).unwrap(), @"
    error[H027 attention-miss]: the log does not contain the line `FLASH_ATTENTION`, which should be `OK`
    --> standard input
     = note: expected `OK`
     = note: the expected value means that flash attention runs
    help: check the error on this line; with the variables of `rock-matrix env --profile debug` it is reported where it occurs
    ");
}

/// The lines of a page that a reader types, in order.
fn typed(page: &str) -> String {
    let mut is_console = false;
    let mut lines = String::new();
    for line in page.lines() {
        match line {
            "```console" => is_console = true,
            "```" => is_console = false,
            _ if is_console => lines.extend([line.strip_prefix("$ ").unwrap(), "\n"]),
            _ => {}
        }
    }
    lines
}

#[test]
fn the_lines_of_the_page_about_attention_run_one_after_the_other() {
    let page =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/attention.md")).unwrap();
    // What is wrong with the machine is no fault of the page.
    let script = typed(&page).replace("rock-matrix doctor\n", "rock-matrix doctor || [ $? = 3 ]\n");
    assert!(script.lines().count() > 20, "{script}");
    let python = "#!/bin/sh\n[ \"$*\" = '-m rocm_sdk path --root' ] && echo /opt/rocm\n";
    let bench = "import os\nassert os.environ['AMD_SERIALIZE_KERNEL'] == '0'\n";
    let project = machine()
        .file("lines.sh", &script)
        .file(".venv/bin/python", python)
        .file("attention-bench.py", bench);
    std::fs::set_permissions(
        project.path(".venv/bin/python"),
        PermissionsExt::from_mode(0o755),
    )
    .unwrap();
    let programs = std::path::Path::new(env!("CARGO_BIN_EXE_rock-matrix"))
        .parent()
        .unwrap();
    let path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap());
    let mut bash = Command::new("bash");
    bash.args(["-eu", "lines.sh"])
        .current_dir(project.root())
        .env("PATH", path);
    bash.env("PYTHONPATH", project.path("site"))
        .env("ANSWERS", "{}")
        .env_remove("GITHUB_ACTIONS");
    let output = bash.output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        output.status.success(),
        "{}\n{stderr}",
        String::from_utf8_lossy(&output.stdout)
    );
    let file = project.read("rocm.env");
    assert!(
        file.contains("ROCM_PATH=/opt/rocm\n") && file.contains("HIP_ARCH=gfx1151\n"),
        "{file}"
    );
}
