//! Recipes of torch and its companions as real processes on stand-ins of their sources, which note
//! how they were called and make wheels that pip installs.

use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::process::Command;

use crate::support::bundle::hip_bundle;
use crate::support::{Family, PYPROJECT, sdk};

/// The libraries that a torch for ROCm 7.14 preloads, dependencies first.
const PRELOADS: [&str; 22] = [
    "amd_comgr",
    "amd_smi",
    "amdhip64",
    "hiprtc",
    "hipblas",
    "hipfft",
    "hiprand",
    "hipsparse",
    "hipsparselt",
    "hipsolver",
    "hipblaslt",
    "miopen",
    "hipdnn",
    "rocm_sysdeps_liblzma",
    "rocm-openblas",
    "rocm_smi64",
    "rocprofiler-sdk",
    "rocprofiler-sdk-roctx",
    "roctracer64",
    "roctx64",
    "rccl",
    "hipfile",
];

/// A torch alone, with the SDK that is there.
const ALONE: &str =
    "rocm-from: installed, triton: \"off\", audio: \"off\", vision: \"off\", apex: \"off\"";

/// What a Python of the environment prints.
fn python(family: &Family, program: &str) -> String {
    let output = Command::new(family.path("venv/bin/python"))
        .args(["-c", program])
        .output()
        .unwrap();
    family.ended(0, output).0.trim_end().to_owned()
}

/// One job builds all five wheels, each with the environment that the SDK says;
/// torch loads the SDK's libraries first.
#[test]
fn torch_and_what_belongs_to_it_are_built_by_one_job() {
    let family = Family::new();
    let wheelhouse = family.path("wheelhouse").display().to_string();
    family.matrix(
        "torch",
        &format!("rocm-find-links: {wheelhouse}"),
        "gfx: [gfx942, gfx1151]\n",
    );
    let (stdout, stderr) = family.build(0, &[]);
    assert_eq!(stdout.lines().count(), 5, "{stdout}\n{stderr}");
    let cp = format!(
        "cp{0}-cp{0}-linux_x86_64.whl",
        family.python.replace('.', "")
    );
    let names = [
        "apex-2.9.0",
        "torch-2.9.0",
        "torchaudio-2.9.0",
        "torchvision-0.24.0",
        "triton-3.4.0",
    ];
    let expected = names.map(|name| format!("{name}+rocm7.14.0-{cp}"));
    assert_eq!(family.wheels().into_keys().collect::<Vec<_>>(), expected);

    let torch = family.called("torch");
    assert_eq!(torch.cwd, "[JOB]/src/torch");
    assert_eq!(
        torch.argv[1..],
        ["--wheel", "--no-isolation", "--outdir", "[JOB]/dist/torch"]
    );
    let of_all = [
        "PYTHONUTF8",
        "CMAKE_PREFIX_PATH",
        "ROCM_HOME",
        "ROCM_PATH",
        "PYTORCH_ROCM_ARCH",
        "USE_KINETO",
        "USE_GLOO",
        "TRITON_APPEND_CMAKE_ARGS",
        "CPPFLAGS",
        "HIP_DEVICE_LIB_PATH",
        "BLAS",
        "OpenBLAS_HOME",
        "OpenBLAS_LIB_NAME",
        "CMAKE_C_COMPILER_LAUNCHER",
        "CMAKE_CXX_COMPILER_LAUNCHER",
        "HIP_CLANG_LAUNCHER",
    ];
    let common = "\
PYTHONUTF8=1
CMAKE_PREFIX_PATH=[SDK]/lib/cmake
ROCM_HOME=[SDK]
ROCM_PATH=[SDK]
PYTORCH_ROCM_ARCH=gfx942;gfx1151
USE_KINETO=ON
USE_GLOO=ON
TRITON_APPEND_CMAKE_ARGS=-DCMAKE_FIND_USE_CMAKE_ENVIRONMENT_PATH=FALSE
CPPFLAGS=-Wno-error=maybe-uninitialized -Wno-error=uninitialized -Wno-error=restrict
HIP_DEVICE_LIB_PATH=[SDK]/lib/llvm/amdgcn/bitcode
BLAS=OpenBLAS
OpenBLAS_HOME=[SDK]/lib/host-math
OpenBLAS_LIB_NAME=rocm-openblas
CMAKE_C_COMPILER_LAUNCHER=(not set)
CMAKE_CXX_COMPILER_LAUNCHER=(not set)
HIP_CLANG_LAUNCHER=(not set)
";
    for tree in [
        "torch",
        "triton/python",
        "torchaudio",
        "torchvision",
        "apex",
    ] {
        let called = family.called(tree);
        assert_eq!(called.variables(&of_all), common, "{tree}");
        assert!(
            called.env["PATH"].starts_with("[SDK]/bin:"),
            "{tree}: {}",
            called.env["PATH"]
        );
    }
    let own = [
        "USE_ROCM",
        "USE_CUDA",
        "USE_MPI",
        "USE_NUMA",
        "PYTORCH_BUILD_VERSION",
        "PYTORCH_BUILD_NUMBER",
        "PYTORCH_EXTRA_INSTALL_REQUIREMENTS",
        "USE_FLASH_ATTENTION",
        "USE_MEM_EFF_ATTENTION",
        "USE_FBGEMM_GENAI",
        "CXXFLAGS",
        "LDFLAGS",
        "PKG_CONFIG_PATH",
        "LD_LIBRARY_PATH",
    ];
    assert_eq!(
        torch.variables(&own),
        "\
USE_ROCM=ON
USE_CUDA=OFF
USE_MPI=OFF
USE_NUMA=OFF
PYTORCH_BUILD_VERSION=2.9.0+rocm7.14.0
PYTORCH_BUILD_NUMBER=1
PYTORCH_EXTRA_INSTALL_REQUIREMENTS=rocm[libraries]==7.14.0|triton==3.4.0+rocm7.14.0
USE_FLASH_ATTENTION=ON
USE_MEM_EFF_ATTENTION=ON
USE_FBGEMM_GENAI=(not set)
CXXFLAGS=-Wno-error=maybe-uninitialized -Wno-error=uninitialized -Wno-error=restrict -I[SDK]/lib/rocm_sysdeps/include -I[SDK]/include/roctracer
LDFLAGS=-outer -L[SDK]/lib/rocm_sysdeps/lib
PKG_CONFIG_PATH=[SDK]/lib/rocm_sysdeps/lib/pkgconfig
LD_LIBRARY_PATH=[SDK]/lib/rocm_sysdeps/lib:/outer/lib
"
    );
    let triton = family.called("triton/python");
    assert_eq!(
        triton.argv,
        ["setup.py", "bdist_wheel", "--dist-dir", "[JOB]/dist/triton"]
    );
    assert_eq!(
        triton.variables(&[
            "TRITON_WHEEL_NAME",
            "TRITON_WHEEL_VERSION_SUFFIX",
            "LLVM_BUILD_DIR"
        ]),
        "TRITON_WHEEL_NAME=triton\nTRITON_WHEEL_VERSION_SUFFIX=+rocm7.14.0\nLLVM_BUILD_DIR=(not set)\n"
    );
    let audio = family.called("torchaudio");
    assert_eq!(
        audio.argv,
        [
            "setup.py",
            "bdist_wheel",
            "--dist-dir",
            "[JOB]/dist/torchaudio"
        ]
    );
    let names = [
        "BUILD_VERSION",
        "BUILD_NUMBER",
        "USE_ROCM",
        "USE_CUDA",
        "USE_FFMPEG",
        "USE_OPENMP",
        "BUILD_SOX",
    ];
    assert_eq!(
        audio.variables(&names),
        "BUILD_VERSION=2.9.0+rocm7.14.0\nBUILD_NUMBER=1\nUSE_ROCM=1\nUSE_CUDA=0\nUSE_FFMPEG=1\nUSE_OPENMP=1\nBUILD_SOX=0\n"
    );
    let vision = family.called("torchvision");
    assert_eq!(
        vision.argv,
        [
            "setup.py",
            "bdist_wheel",
            "--dist-dir",
            "[JOB]/dist/torchvision"
        ]
    );
    let names = [
        "BUILD_VERSION",
        "VERSION_NAME",
        "BUILD_NUMBER",
        "FORCE_CUDA",
        "TORCHVISION_USE_NVJPEG",
        "TORCHVISION_USE_VIDEO_CODEC",
    ];
    assert_eq!(
        vision.variables(&names),
        "BUILD_VERSION=0.24.0+rocm7.14.0\nVERSION_NAME=0.24.0+rocm7.14.0\nBUILD_NUMBER=1\nFORCE_CUDA=1\n\
         TORCHVISION_USE_NVJPEG=0\nTORCHVISION_USE_VIDEO_CODEC=0\n"
    );
    let apex = family.called("apex");
    assert_eq!(
        apex.settings,
        serde_json::json!({"--build-option": ["--cpp_ext", "--cuda_ext"]})
    );
    assert_eq!(
        apex.variables(&["BUILD_VERSION", "BUILD_NUMBER"]),
        "BUILD_VERSION=2.9.0+rocm7.14.0\nBUILD_NUMBER=1\n"
    );

    let edited = std::fs::read_to_string(family.job("src/torchaudio/CMakeLists.txt")).unwrap();
    assert!(
        edited.contains("add_library(kineto INTERFACE IMPORTED)"),
        "{edited}"
    );
    assert_eq!(
        python(
            &family,
            "import torch, triton; print(torch.cuda.is_available(), triton.__version__)"
        ),
        "False of the tree"
    );
    let init = std::fs::read_to_string(family.site("torch/_rocm_init.py")).unwrap();
    let names: String = PRELOADS
        .iter()
        .map(|name| format!("            \"{name}\",\n"))
        .collect();
    assert_eq!(
        init,
        format!(
            "# Written by rock-matrix for ROCm SDK 7.14.0.\ndef initialize():\n    import rocm_sdk\n\n    rocm_sdk.initialize_process(\n        \
             preload_shortnames=[\n{names}        ],\n        check_version=\"7.14.0\",\n    )\n"
        )
    );
    let loaded = "import json, torch; from rocm_sdk import _libraries; print(json.dumps(list(_libraries._loaded)))";
    let loaded: Vec<String> = serde_json::from_str(&python(&family, loaded)).unwrap();
    assert_eq!(loaded, PRELOADS, "they are loaded, in this order");
    let mapped = python(
        &family,
        "import torch; print(open('/proc/self/maps').read())",
    );
    assert!(
        mapped.contains("/_rocm_sdk_libraries/lib/libMIOpen.so.1"),
        "{mapped}"
    );
    python(
        &family,
        "import py_compile, torch; py_compile.compile(torch._rocm_init.__file__, doraise=True)",
    );
}

/// How a build is called goes by what the tree has.
#[test]
fn a_build_by_scikit_build_core_takes_the_file_that_git_ignores() {
    let family = Family::with_sdk();
    family.matrix("torch", ALONE, "");
    let pyproject = |text: &str| family.write("trees/torch/pyproject.toml", text);
    pyproject(&format!(
        "{PYPROJECT}# scikit_build_core.build would stand there\n"
    ));
    family.build(0, &[]);
    assert!(family.site("torch/_rocm_init.py").exists());
    let scikit = family.called("torch");
    let force = "-Cwheel.force-include.torch/_rocm_init.py=torch/_rocm_init.py";
    assert_eq!(
        scikit.argv[1..],
        [
            "--wheel",
            "--no-isolation",
            force,
            "--outdir",
            "[JOB]/dist/torch"
        ]
    );
    // The others need not come to their end.
    family.write("trees/torch/trouble", "none");
    pyproject(PYPROJECT);
    family.build(4, &["--continue", "auto"]);
    let plain = family.called("torch");
    assert_eq!(
        plain.argv[1..],
        ["--wheel", "--no-isolation", "--outdir", "[JOB]/dist/torch"]
    );
    std::fs::remove_file(family.path("trees/torch/pyproject.toml")).unwrap();
    family.build(4, &["--continue", "auto"]);
    let old = family.called("torch");
    assert_eq!(
        old.argv,
        ["setup.py", "bdist_wheel", "--dist-dir", "[JOB]/dist/torch"]
    );
    assert_eq!(
        plain.variables(&["PYTORCH_EXTRA_INSTALL_REQUIREMENTS", "USE_FLASH_ATTENTION"]),
        "PYTORCH_EXTRA_INSTALL_REQUIREMENTS=rocm[libraries]==7.14.0\nUSE_FLASH_ATTENTION=OFF\n"
    );
}

/// Each of the companions is built alone as well, for a torch that is there.
#[test]
fn each_companion_of_torch_is_built_alone_too() {
    let family = Family::with_sdk();
    for (recipe, tree, wheel) in [
        ("triton", "triton/python", "triton-3.4.0+rocm7.14.0"),
        ("torchaudio", "torchaudio", "torchaudio-2.9.0+rocm7.14.0"),
        ("apex", "apex", "apex-2.9.0+rocm7.14.0"),
    ] {
        family.matrix(recipe, "rocm-from: installed", "");
        family.build(0, &[]);
        assert!(
            family.wheels().keys().any(|name| name.starts_with(wheel)),
            "{:?}",
            family.wheels().keys()
        );
        assert_eq!(family.called(tree).env["ROCM_HOME"], "[SDK]");
        std::fs::remove_dir_all(family.path(".rock")).unwrap();
    }
}

/// Extensions of torch are built by pip, from a commit or from a folder, for the label of the plan.
#[test]
fn flash_attn_and_extensions_for_hip_are_built_by_pip() {
    let family = Family::with_sdk_and_pip();
    let python = family.path("venv/bin/python").display().to_string();
    let matrix = |distribution: &str, recipe: &str, axes: &str, vars: &str| {
        let text = format!(
            "version: 1\ndistribution: {distribution}\nrecipe: {recipe}\naxes: {{{axes}, python: [\"{}\"], rocm: [\"7.0\"]}}\nunknown: lenient\n\
             torch-from: host\npython-from: host\ngfx: [gfx942]\nvars: {{python: {python}, {vars}}}\n",
            family.python
        );
        family.write("m.yaml", text);
    };
    let what = serde_json::json!({
        "name": "flash_attn", "module": "flash_attn", "version": "2.8.4+{FLASH_ATTN_LOCAL_VERSION}", "tag": "py3-none-any",
    });
    let files = [
        "flash_attn_interface.py",
        "flash_attn_triton_amd/fwd.py",
        "cute/interface.py",
    ];
    family.tree("upstream", &what, &files.map(|name| (name, b"".as_slice())));
    let commit = commit_all(&family, "upstream");
    let repository = family.path("upstream").display().to_string();
    let axes = format!("flash-attn: [\"fa2:{commit}\"], torch: [\"2.10.0\"], backend: [triton]");
    matrix(
        "flash-attn",
        "flash-attn",
        &axes,
        &format!("repository: {repository}"),
    );
    family.build(0, &[]);
    let wheel = format!(
        "flash_attn-2.8.4+rocm70torch2.10git{}triton-py3-none-any.whl",
        &commit[..7]
    );
    assert_eq!(family.wheels().into_keys().collect::<Vec<_>>(), [wheel]);
    let called = family.called("flash-attn-git");
    let names = [
        "BUILD_TARGET",
        "FLASH_ATTENTION_FORCE_BUILD",
        "FLASH_ATTENTION_TRITON_AMD_ENABLE",
        "GPU_ARCHS",
    ];
    assert_eq!(
        called.variables(&names),
        "BUILD_TARGET=rocm\nFLASH_ATTENTION_FORCE_BUILD=TRUE\nFLASH_ATTENTION_TRITON_AMD_ENABLE=TRUE\nGPU_ARCHS=(not set)\n"
    );
    std::fs::remove_dir_all(family.path(".rock")).unwrap();
    std::fs::remove_dir_all(family.path("dist")).unwrap();

    let what = serde_json::json!({"name": "ext", "module": "ext", "version": "1.0+of.the.project"});
    let kernels = hip_bundle(&[("gfx942", 0x4c)], 512);
    family.tree("extension", &what, &[("kernels.hipfb", &kernels)]);
    // The project's folder has the sources of the package too, which the tests of it must not
    // import.
    family.write("extension/ext/__init__.py", "BUILT = __file__\n");
    family.write(
        "extension/tests/try.py",
        "import ext, sys\nprint(*sys.argv[1:], ext.BUILT)\n",
    );
    let variables = "source: extension, module: ext, test: \"python tests/try.py 'a word' b\", isolation: \"off\"";
    matrix("ext", "hip-extension", "ext: [\"1.0\"]", variables);
    family.build(0, &[]);
    let wheel = format!(
        "ext-1.0+rocm70-cp{0}-cp{0}-linux_x86_64.whl",
        family.python.replace('.', "")
    );
    assert_eq!(family.wheels().into_keys().collect::<Vec<_>>(), [wheel]);
    assert_eq!(
        family.called("extension").env["PYTORCH_ROCM_ARCH"],
        "gfx942"
    );
    let log = std::fs::read_to_string(family.job("logs/build.log")).unwrap();
    let smoke = family.job("smoke/ext/__init__.py").display().to_string();
    assert!(
        log.contains("ext imports\nrunning ") && log.contains(&format!("a word b {smoke}")),
        "{log}"
    );

    // A test that fails fails the build.
    family.write("extension/tests/try.py", "raise SystemExit(3)\n");
    let failed = family.build(4, &[]).1;
    assert!(failed.contains("the test ended with 3"), "{failed}");
}

/// Commits all of a folder; gives the commit.
fn commit_all(family: &Family, folder: &str) -> String {
    let git = |words: &str| {
        let mut git = Command::new("git");
        git.args(["-c", "user.name=A", "-c", "user.email=a@example.com"])
            .args(words.split(' '));
        family
            .ended(0, git.current_dir(family.path(folder)).output().unwrap())
            .0
    };
    git("init --quiet");
    git("add --all");
    git("commit --quiet --message all");
    git("rev-parse HEAD").trim_end().to_owned()
}

/// A build of torchvision, the smallest of the family, with the SDK that is there.
fn vision(family: &Family, vars: &str, more: &str) {
    family.matrix("torchvision", &format!("rocm-from: installed{vars}"), more);
}

/// The targets that are named go before those of the caller, and those before the SDK's;
/// however they are separated, CMake gets a list.
#[test]
fn targets_are_passed_to_cmake_as_a_list_whoever_names_them() {
    let family = Family::with_sdk();
    family.write("trees/torchvision/trouble", "none");
    let targets = |named: &str, caller: &str, sdk: &str| {
        vision(&family, &format!(", rocm-arch: \"{named}\""), "");
        let mut build = family.command(&["build", "--all"]);
        sdk::set_targets(&family.site(""), sdk);
        let output = build.env("PYTORCH_ROCM_ARCH", caller).output().unwrap();
        family.ended(4, output);
        family.called("torchvision").env["PYTORCH_ROCM_ARCH"].clone()
    };
    for content in ["gfx942 gfx1151", "gfx942,gfx1151", "gfx942;gfx1151, gfx942"] {
        assert_eq!(targets("caller", "", content), "gfx942;gfx1151");
    }
    assert_eq!(
        targets("caller", "gfx942, gfx1151", "gfx90a"),
        "gfx942;gfx1151"
    );
    assert_eq!(
        targets("gfx942 gfx1151", "gfx1201", "gfx90a"),
        "gfx942;gfx1151"
    );
    assert_eq!(
        targets("", "gfx1201", "gfx90a"),
        "gfx942",
        "those of the matrix file"
    );
    family.matrix("torch", &format!("{ALONE}, rocm-arch: caller"), "");
    let (_, text) = family.build(1, &[]);
    assert!(
        text.contains("error[B003 refused-by-recipe]: no gfx targets are set"),
        "{text}"
    );
}

/// The label is that of a day, or of the SDK with the commit of a development release.
#[test]
fn versions_name_the_day_or_the_commit_that_they_were_built_of() {
    let family = Family::with_sdk();
    let version = |vars: &str| {
        vision(
            &family,
            &format!(", rocm-sdk-version: \"==7.14.0\"{vars}"),
            "",
        );
        family.build(0, &["--continue", "auto"]);
        family.called("torchvision").env["BUILD_VERSION"].clone()
    };
    let log = || std::fs::read_to_string(family.job("logs/build.log")).unwrap();
    assert_eq!(
        version(", release-type: date, date: 2025-05-28"),
        "0.24.0+rocmsdk20250528"
    );
    assert!(!log().contains("is not a checkout"), "{}", log());
    assert_eq!(version(", release-type: dev"), "0.24.0+rocm7.14.0");
    assert!(
        log().contains("warning: src/torchvision is no checkout, so its version names no commit"),
        "{}",
        log()
    );
    let commit = commit_all(&family, "trees/torchvision");
    let developed = format!("0.24.0+git{}.rocm7.14.0", &commit[..8]);
    assert_eq!(version(", release-type: dev"), developed);
    assert!(
        family.wheels().keys().any(|name| name.contains(&developed)),
        "{:?}",
        family.wheels().keys()
    );
    assert_eq!(version(", version-suffix: +rocm.own"), "0.24.0+rocm.own");
}

/// A label that the plan does not expect would be refused once hours are spent.
#[test]
fn a_label_beside_that_of_the_plan_is_refused_before_anything_runs() {
    let family = Family::with_sdk();
    for (vars, what) in [
        ("release-type: date, date: 2025-05-28", "release-type: date"),
        ("version-suffix: +rocm.own", "version-suffix"),
    ] {
        vision(&family, &format!(", {vars}"), "");
        let (_, text) = family.build(1, &[]);
        let expected =
            format!("the plan expects the label `rocm7.14.0`, and `{what}` makes another");
        assert!(
            text.contains(&expected) && text.contains("set `rocm-sdk-version: \"==7.14.0\"`"),
            "{text}"
        );
    }
    for same in ["version-suffix: +rocm7.14.0", "release-type: dev"] {
        vision(&family, &format!(", {same}"), "");
        family.build(0, &[]);
    }
}

/// One wheel is delivered; none and several are distinguished.
#[test]
fn a_build_that_leaves_no_wheel_or_two_has_failed() {
    let family = Family::with_sdk();
    vision(&family, "", "");
    family.write("trees/torchvision/trouble", "none");
    let (_, none) = family.build(4, &[]);
    assert!(
        none.contains(
            "error[B053 output-missing]: stage `vision` produced no file for \
             `dist/torchvision/torchvision-*.whl`"
        ),
        "{none}"
    );
    family.write("trees/torchvision/trouble", "two");
    let (_, two) = family.build(4, &["--continue", "auto"]);
    assert!(
        two.contains(
            "stage `vision` produced 2 files for `dist/torchvision/torchvision-*.whl`, not 1"
        ),
        "{two}"
    );
    assert!(two.contains("-1-cp") && family.wheels().is_empty(), "{two}");
    family.write("trees/torchvision/trouble", "half");
    let output = family
        .command(&["build", "--all", "--continue", "auto"])
        .output()
        .unwrap();
    assert_eq!(
        output.status.signal(),
        Some(9),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert_eq!(
        std::fs::read_dir(family.job("dist/torchvision"))
            .unwrap()
            .count(),
        1,
        "half a wheel"
    );
    let (_, stderr) = family.build(0, &["--continue", "auto"]);
    assert!(
        stderr.contains("] vision\n") && !stderr.contains("] rocm\n"),
        "{stderr}"
    );
    assert_eq!(family.wheels().len(), 1);
}

/// A compiler cache that notes what it is asked, and counted some calls.
fn cache(family: &Family, name: &str) {
    let counts = "case \"$*\" in
  --print-stats) printf 'cache_miss\\t3\\ndirect_cache_hit\\t10\\npreprocessed_cache_hit\\t2\\nstats_updated_timestamp\\t0\\n' ;;
  *json) echo '{\"stats\": {\"cache_hits\": {\"counts\": {\"C/C++\": 4, \"HIP\": 1}}, \"cache_misses\": {\"counts\": {}}}}' ;;
esac";
    let path = family.path("asked");
    family.write(
        &format!("bin/{name}"),
        format!(
            "#!/bin/sh\necho \"$0 $*\" >>'{}'\n{counts}\n",
            path.display()
        ),
    );
    std::fs::set_permissions(
        family.path(&format!("bin/{name}")),
        PermissionsExt::from_mode(0o755),
    )
    .unwrap();
}

/// `build` with the caches of the folder only, and further variables.
fn cached(family: &Family, code: i32, more: &[(&str, &str)]) -> String {
    let mut build = family.command(&["build", "--all"]);
    let path = format!("{}:/usr/bin:/bin", family.path("bin").display());
    build
        .env("PATH", path)
        .env("HOME", family.path("home"))
        .envs(more.iter().copied());
    family.ended(code, build.output().unwrap()).1
}

fn cache_requests(family: &Family) -> String {
    let requests = std::fs::read_to_string(family.path("asked")).unwrap_or_default();
    let _ = std::fs::remove_file(family.path("asked"));
    requests.replace(family.project.root().to_str().unwrap(), "[HERE]")
}

const LAUNCHERS: [&str; 3] = [
    "CMAKE_C_COMPILER_LAUNCHER",
    "CMAKE_CXX_COMPILER_LAUNCHER",
    "HIP_CLANG_LAUNCHER",
];

/// What compilers are called through, and what the caches are asked before and after, also
/// when the build fails.
#[test]
fn a_compiler_cache_is_counted_from_its_beginning_to_the_end_even_of_a_failure() {
    let family = Family::with_sdk();
    cache(&family, "ccache");
    vision(&family, ", compiler-cache: ccache", "");
    let stderr = cached(&family, 0, &[]);
    assert!(stderr.contains("\nccache: 12 hits, 3 misses\n"), "{stderr}");
    let here = "[HERE]/bin/ccache";
    assert_eq!(
        cache_requests(&family),
        format!("{here} --zero-stats\n{here} --show-stats\n{here} --print-stats\n")
    );
    let record: serde_json::Value =
        serde_json::from_slice(&std::fs::read(family.job("build.json")).unwrap()).unwrap();
    assert_eq!(
        record["figures"],
        serde_json::json!({"ccache": {"hits": 12, "misses": 3}})
    );
    assert_eq!(
        family.called("torchvision").variables(&LAUNCHERS),
        format!(
            "CMAKE_C_COMPILER_LAUNCHER={here}\nCMAKE_CXX_COMPILER_LAUNCHER={here}\nHIP_CLANG_LAUNCHER=(not set)\n"
        )
    );
    // One that lies where CI images have it.
    cache(&family, "../home/.cargo/bin/sccache");
    family.write("trees/torchvision/trouble", "none");
    vision(&family, ", compiler-cache: sccache", "");
    let stderr = cached(&family, 4, &[]);
    let here = "[HERE]/home/.cargo/bin/sccache";
    assert_eq!(
        cache_requests(&family),
        format!(
            "{here} --start-server\n{here} --zero-stats\n{here} --show-stats\n{here} --show-stats --stats-format json\n"
        )
    );
    assert!(
        stderr.contains("error[B053 output-missing]: stage `vision`"),
        "{stderr}"
    );
    assert!(stderr.contains("] cache-end: done after "), "{stderr}");
    assert!(stderr.contains("\nsccache: 5 hits, 0 misses\n"), "{stderr}");
    assert_eq!(
        family.called("torchvision").variables(&LAUNCHERS),
        format!(
            "CMAKE_C_COMPILER_LAUNCHER={here}\nCMAKE_CXX_COMPILER_LAUNCHER={here}\nHIP_CLANG_LAUNCHER={here}\n"
        )
    );
    vision(
        &family,
        ", compiler-cache: sccache, sccache-wrap: \"off\"",
        "",
    );
    cached(&family, 4, &[]);
    assert_eq!(
        family.called("torchvision").variables(&LAUNCHERS[2..]),
        "HIP_CLANG_LAUNCHER=(not set)\n"
    );
}

/// The script that a container would run makes the same wheel, and asks the cache after a
/// failure too.
#[test]
fn a_rendered_script_makes_the_wheel_that_build_makes() {
    let family = Family::with_sdk();
    cache(&family, "ccache");
    vision(&family, ", compiler-cache: ccache", "");
    cached(&family, 0, &[]);
    let (name, built) = family.wheels().pop_first().unwrap();
    cache_requests(&family);
    let render = family
        .project
        .command(&["render", "script", "m.yaml", "--engine", "local"])
        .output()
        .unwrap();
    family.write("build.sh", &render.stdout);
    family.ended(0, render);
    let script = || {
        let mut bash = Command::new("bash");
        let path = format!("{}:/usr/bin:/bin", family.path("bin").display());
        bash.arg("build.sh")
            .current_dir(family.project.root())
            .envs(family.surroundings());
        bash.env("PATH", path)
            .env("ROCK_FOLDER", family.path("by-script"))
            .output()
            .unwrap()
    };
    family.ended(0, script());
    assert!(
        std::fs::read(family.path(&format!("by-script/dist/torchvision/{name}"))).unwrap() == built
    );
    let counted = "[HERE]/bin/ccache --zero-stats\n[HERE]/bin/ccache --show-stats\n[HERE]/bin/ccache --print-stats\n";
    assert_eq!(cache_requests(&family), counted);
    family.write("trees/torchvision/trouble", "none");
    let (stdout, stderr) = family.ended(1, script());
    assert!(
        stderr.contains("== 1 expected for dist/torchvision/torchvision-*.whl, 0 there"),
        "{stderr}"
    );
    assert!(stdout.ends_with("== cache-end\n"), "{stdout}");
    assert_eq!(cache_requests(&family), counted);
}

/// A cache that is not there is reported before anything runs.
#[test]
fn a_missing_compiler_cache_is_reported_before_anything_runs() {
    let family = Family::with_sdk();
    for name in ["ccache", "sccache"] {
        vision(&family, &format!(", compiler-cache: {name}"), "");
        let stderr = cached(&family, 1, &[]);
        assert!(
            stderr.contains(&format!(
                "error[B003 refused-by-recipe]: `compiler-cache: {name}` is set, but none of these exists: {name}"
            )),
            "{stderr}"
        );
        assert!(
            stderr.contains(&format!(
                "help: install {name}, or set `compiler-cache: none`"
            )),
            "{stderr}"
        );
        assert!(!family.path(".rock").exists());
    }
}

/// A pull request from a fork has no credentials for the storage of sccache, nor has another
/// repository.
#[test]
fn a_run_for_a_fork_goes_without_sccache_and_with_ccache() {
    let family = Family::with_sdk();
    cache(&family, "sccache");
    cache(&family, "ccache");
    family.write("trees/torchvision/trouble", "none");
    let event = family.path("event.json").display().to_string();
    let of = |head: &str| {
        let repo = serde_json::json!({"full_name": head, "name": "x"});
        let pull = serde_json::json!({"title": "\"head\": {", "head": {"user": {"login": "a"}, "repo": repo}});
        family.write(
            "event.json",
            serde_json::to_string_pretty(&serde_json::json!({"pull_request": pull})).unwrap(),
        );
    };
    let launcher = |vars: &str, run: &str| {
        vision(&family, vars, "");
        let stderr = cached(
            &family,
            4,
            &[("GITHUB_REPOSITORY", run), ("GITHUB_EVENT_PATH", &event)],
        );
        let left_out = stderr.contains("] cache-left-out");
        let launcher = family.called("torchvision").variables(&LAUNCHERS[..1]);
        assert_eq!(left_out, launcher.contains("(not set)"), "{stderr}");
        !left_out
    };
    of("fork/wheels");
    assert!(!launcher(", compiler-cache: sccache", "own/wheels"));
    assert!(launcher(", compiler-cache: ccache", "own/wheels"));
    of("own/wheels");
    assert!(launcher(", compiler-cache: sccache", "own/wheels"));
    assert!(!launcher(
        ", compiler-cache: sccache, cache-repository: other/wheels",
        "own/wheels"
    ));
    family.write(
        "event.json",
        "{\"head_commit\": {\"id\": \"0\"}, \"repository\": {\"full_name\": \"own/wheels\"}}",
    );
    assert!(launcher(", compiler-cache: sccache", "own/wheels"));
}

/// The SDK comes from an index, is there already, or is made of artifacts of a run or of this
/// machine.
#[test]
fn the_sdk_comes_by_each_of_the_four_ways() {
    let family = Family::new();
    let stages = |vars: &str| {
        family.matrix("rocm-sdk", vars, "");
        let output = family
            .command(&["build", "--all", "--dry-run"])
            .output()
            .unwrap();
        let stdout = family.ended(0, output).0;
        let python = family
            .path("venv/bin/python")
            .display()
            .to_string()
            .replace(family.project.root().to_str().unwrap(), "[HERE]");
        let python = format!("{python} ");
        let of_python = |line: &&str| line.starts_with(&python) && !line.contains(" -c ");
        let commands = stdout
            .lines()
            .map(str::trim)
            .filter(|line| of_python(line) || line.starts_with("rock-matrix sdk "));
        commands
            .map(|line| line.strip_prefix(&python).unwrap_or(line).to_owned())
            .collect::<Vec<_>>()
    };
    let install = "-m pip install --force-reinstall --pre";
    let requirement = "'rocm[libraries,devel]==7.14.0'";
    assert_eq!(
        stages("rocm-index: 'https://example.org/v2/gfx94X-dcgpu/'"),
        [format!(
            "{install} --index-url https://example.org/v2/gfx94X-dcgpu/ {requirement}"
        )]
    );
    assert_eq!(stages("rocm-from: installed"), ["-m rocm_sdk version"]);
    let packages = ".rock/JOB/rocm-packages";
    let of = |words: Vec<String>| {
        words
            .iter()
            .map(|word| job_as_word(word))
            .collect::<Vec<_>>()
    };
    let build = |from: &str| {
        format!(
            "rock-matrix sdk build --artifact-dir={from} --out=rocm-packages --platform=linux --version=7.14.0"
        )
    };
    let fetch = |which: &str| {
        format!(
            "rock-matrix sdk fetch --run-id=123 --run-github-repo=ROCm/TheRock --platform=linux {which} --out=rocm-artifacts"
        )
    };
    let installed = format!("{install} --find-links [HERE]/{packages}/dist {requirement}");
    for (group, which) in [
        (", artifact-group: gfx94X-dcgpu", "--gfx=gfx94X-dcgpu"),
        ("", "--gfx=gfx942"),
    ] {
        assert_eq!(
            of(stages(&format!("rocm-from: run, run-id: \"123\"{group}"))),
            [fetch(which), build("rocm-artifacts"), installed.clone()]
        );
    }
    for (folder, shown) in [
        ("/srv/artifacts", "/srv/artifacts"),
        ("made", "[HERE]/made"),
    ] {
        let vars = format!("rocm-from: artifacts, artifact-dir: {folder}");
        assert_eq!(of(stages(&vars)), [build(shown), installed.clone()]);
    }
    // The last one for real: pip finds nothing of it but what was made of the artifacts.
    for entry in std::fs::read_dir(family.path("wheelhouse")).unwrap() {
        let path = entry.unwrap().path();
        if path
            .file_name()
            .unwrap()
            .to_str()
            .unwrap()
            .starts_with("rocm")
        {
            std::fs::remove_file(path).unwrap();
        }
    }
    sdk::artifacts(&family.project);
    family.matrix("rocm-sdk", "rocm-from: artifacts", "");
    family.build(0, &[]);
    assert_eq!(
        python(&family, "import rocm_sdk; print(rocm_sdk.__version__)"),
        "7.14.0"
    );
    for name in [
        "rocm",
        "rocm_sdk_core",
        "rocm_sdk_devel",
        "rocm_sdk_libraries",
    ] {
        assert!(
            family.site(&format!("{name}-7.14.0.dist-info")).exists(),
            "{name}"
        );
    }
    assert!(
        family.site("_rocm_sdk_devel/bin/hipcc").exists(),
        "what is built against is unpacked"
    );
    let record: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(family.job("build.json")).unwrap()).unwrap();
    assert_eq!(record["used"]["rocm-sdk"], "7.14.0");
}

/// A line with the job's id as `JOB`.
fn job_as_word(line: &str) -> String {
    let id = line
        .split_once(".rock/")
        .and_then(|(_, rest)| rest.split_once('/'))
        .map(|(id, _)| id.to_owned());
    id.map_or_else(|| line.to_owned(), |id| line.replace(&id, "JOB"))
}
