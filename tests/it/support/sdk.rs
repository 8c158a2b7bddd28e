//! A ROCm SDK to build against: packages that `sdk build` makes of small artifacts, with real
//! libraries and the real Python, installed as an installer does it.

use std::io::Read as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use super::Project;
use super::artifacts::{Artifacts, library};

/// The version of all its packages.
pub const VERSION: &str = "7.14.0";
/// Its source distribution.
const ROCM: &str = "rocm-7.14.0.tar.gz";
/// Its targets, as its build reported them.
const TARGETS: &str = "gfx942;gfx1151";
/// Libraries that torch loads, beside those of every split build: the artifact, the folder, the
/// SONAME.
const LIBRARIES: [(&str, &str, &str); 20] = [
    ("amd-llvm_lib_generic", "lib", "libamd_comgr.so.3"),
    ("core-amdsmi_lib_generic", "lib", "libamd_smi.so.26"),
    ("core-hip_lib_generic", "lib", "libhiprtc.so.7"),
    ("fft_lib_generic", "lib", "libhipfft.so.0"),
    ("rand_lib_generic", "lib", "libhiprand.so.1"),
    ("blas_lib_generic", "lib", "libhipsparse.so.4"),
    ("blas_lib_generic", "lib", "libhipsparselt.so.0"),
    ("blas_lib_generic", "lib", "libhipsolver.so.1"),
    ("blas_lib_generic", "lib", "libhipblaslt.so.1"),
    ("miopen_lib_generic", "lib", "libMIOpen.so.1"),
    ("hipdnn_lib_generic", "lib", "libhipdnn_backend.so.0"),
    (
        "sysdeps_lib_generic",
        "lib/rocm_sysdeps/lib",
        "librocm_sysdeps_liblzma.so.5",
    ),
    (
        "host-blas_lib_generic",
        "lib/host-math/lib",
        "librocm-openblas.so.0",
    ),
    ("core-amdsmi_lib_generic", "lib", "librocm_smi64.so.7"),
    (
        "rocprofiler-sdk_lib_generic",
        "lib",
        "librocprofiler-sdk.so.1",
    ),
    (
        "rocprofiler-sdk_lib_generic",
        "lib",
        "librocprofiler-sdk-roctx.so.1",
    ),
    ("rocprofiler-sdk_lib_generic", "lib", "libroctracer64.so.4"),
    ("rocprofiler-sdk_lib_generic", "lib", "libroctx64.so.4"),
    ("rccl_lib_generic", "lib", "librccl.so.1"),
    ("hipfile_lib_generic", "lib", "libhipfile.so.0"),
];

/// The artifacts that it is made of, in the folder `artifacts` of a project.
pub fn artifacts(project: &Project) {
    let all = Artifacts::split(project);
    let info = format!("{{\"dist_amdgpu_targets\": \"{TARGETS}\"}}");
    all.file(
        "base_lib_generic/base/aux-overlay/stage/share/therock/dist_info.json",
        info.as_bytes(),
    );
    for (artifact, folder, soname) in LIBRARIES {
        all.executable(
            &format!("{artifact}/torch/stage/{folder}/{soname}"),
            library(soname),
        );
    }
    all.file(
        "amd-llvm_run_generic/llvm/stage/lib/llvm/amdgcn/bitcode/ocml.bc",
        b"BC",
    );
    all.file(
        "sysdeps_dev_generic/torch/stage/lib/rocm_sysdeps/include/lzma.h",
        b"#pragma once\n",
    );
    all.file(
        "rocprofiler-sdk_dev_generic/torch/stage/include/roctracer/roctracer.h",
        b"#pragma once\n",
    );
}

/// The packages, which the first of all tests that wants them makes for those that follow. Another
/// program makes others.
fn packages() -> PathBuf {
    let metadata = Path::new(env!("CARGO_BIN_EXE_rock-matrix"))
        .metadata()
        .unwrap();
    let built = metadata
        .modified()
        .unwrap()
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap()
        .as_nanos();
    let base = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let kept = base.join(format!("sdk-{built:x}-{:x}", metadata.len()));
    if !kept.exists() {
        let project = Project::new();
        artifacts(&project);
        let own = tempfile::tempdir_in(base).unwrap();
        let made = own.path().to_str().unwrap();
        let words = [
            "sdk",
            "build",
            "--artifact-dir",
            "artifacts",
            "--version",
            VERSION,
            "--dest-dir",
            made,
        ];
        project.run(&words).exits(0);
        // Where another test was faster its packages are there, with the same bytes.
        let _ = std::fs::rename(own.path().join("dist"), &kept);
    }
    kept
}

/// Copies all packages into a folder that pip looks into.
pub fn copy(folder: &Path) {
    std::fs::create_dir_all(folder).unwrap();
    for entry in std::fs::read_dir(packages()).unwrap() {
        let path = entry.unwrap().path();
        std::fs::copy(&path, folder.join(path.file_name().unwrap())).unwrap();
    }
}

/// Installs `rocm[libraries,devel]` into a folder of Python packages: the wheels with their
/// RECORDs, and what the source distribution holds.
pub fn install(site: &Path) {
    let packages = packages();
    for name in ["rocm_sdk_core", "rocm_sdk_libraries", "rocm_sdk_devel"] {
        unpack(
            &packages.join(format!("{name}-{VERSION}-py3-none-linux_x86_64.whl")),
            site,
        );
    }
    let sdist = flate2::read::GzDecoder::new(std::fs::File::open(packages.join(ROCM)).unwrap());
    let mut record = String::new();
    for entry in tar::Archive::new(sdist).entries().unwrap() {
        let mut entry = entry.unwrap();
        let path = entry.path().unwrap().into_owned();
        let below = path.strip_prefix(format!("rocm-{VERSION}")).unwrap();
        let place = match below.strip_prefix("src") {
            Ok(module) if module.starts_with("rocm_sdk") => module.to_owned(),
            _ if below == Path::new("PKG-INFO") => {
                PathBuf::from(format!("rocm-{VERSION}.dist-info/METADATA"))
            }
            _ => continue,
        };
        let mut content = Vec::new();
        entry.read_to_end(&mut content).unwrap();
        write(&site.join(&place), &content, false);
        record += &format!("{},,\n", place.display());
    }
    record += &format!("rocm-{VERSION}.dist-info/RECORD,,\n");
    write(
        &site.join(format!("rocm-{VERSION}.dist-info/RECORD")),
        record.as_bytes(),
        false,
    );
}

/// Has an installed SDK say other targets, as those of its build.
pub fn set_targets(site: &Path, targets: &str) {
    let text = serde_json::json!({"dist_amdgpu_targets": targets}).to_string();
    std::fs::write(
        site.join("_rocm_sdk_core/share/therock/dist_info.json"),
        text,
    )
    .unwrap();
}

fn unpack(wheel: &Path, site: &Path) {
    let mut archive = zip::ZipArchive::new(std::fs::File::open(wheel).unwrap()).unwrap();
    for at in 0..archive.len() {
        let mut member = archive.by_index(at).unwrap();
        let is_executable = member.unix_mode().is_some_and(|mode| mode & 0o100 != 0);
        let place = site.join(member.name().unwrap().as_ref());
        let mut content = Vec::new();
        member.read_to_end(&mut content).unwrap();
        write(&place, &content, is_executable);
    }
}

fn write(path: &Path, content: &[u8], is_executable: bool) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, content).unwrap();
    let mode = if is_executable { 0o755 } else { 0o644 };
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}
