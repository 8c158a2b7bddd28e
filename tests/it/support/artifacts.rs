//! Artifacts of a ROCm build, as folders or archives: real libraries and programs of this machine's
//! compiler under the names that ROCm's have.

use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use rock_matrix::archive::ArchiveCompression;

use super::Project;

/// A folder of artifacts in a project.
pub struct Artifacts<'p> {
    project: &'p Project,
}

impl<'p> Artifacts<'p> {
    /// The folder `artifacts` of a project, with the manifest of a build.
    pub fn new(project: &'p Project, is_split: bool) -> Self {
        let artifacts = Self { project };
        let manifest = format!(
            "{{\"the_rock_commit\": null, \"rocm_version\": \"7.10.0\", \"flags\": {{\"KPACK_SPLIT_ARTIFACTS\": {is_split}}}}}"
        );
        artifacts.file(
            "base_lib_generic/base/aux-overlay/stage/share/therock/therock_manifest.json",
            manifest.as_bytes(),
        );
        let targets = r#"{"dist_amdgpu_targets": "gfx942;gfx1100"}"#;
        artifacts.file(
            "base_lib_generic/base/aux-overlay/stage/share/therock/dist_info.json",
            targets.as_bytes(),
        );
        artifacts
    }

    /// The artifacts of a build that is split: core, libraries, two targets, profilers, and what is
    /// built against.
    pub fn split(project: &'p Project) -> Self {
        let all = Self::new(project, true);
        all.executable(
            "core-hip_lib_generic/hip/stage/lib/libamdhip64.so.7.1.0",
            library("libamdhip64.so.7"),
        );
        all.link(
            "core-hip_lib_generic/hip/stage/lib/libamdhip64.so.7",
            "libamdhip64.so.7.1.0",
        );
        all.link(
            "core-hip_lib_generic/hip/stage/lib/libamdhip64.so",
            "libamdhip64.so.7",
        );
        all.executable(
            "core-hip_run_generic/hip/stage/bin/hipcc",
            b"#!/bin/sh\necho hipcc\n",
        );
        all.file(
            "core-hip_dev_generic/hip/stage/include/hip/hip_runtime.h",
            b"#pragma once\n",
        );
        all.file(
            "core-hip_dev_generic/hip/stage/lib/cmake/hip/hip-config.cmake",
            b"set(hip_FOUND TRUE)\n",
        );
        all.executable(
            "amd-llvm_run_generic/llvm/stage/lib/llvm/bin/clang-23",
            program(),
        );
        all.link(
            "amd-llvm_run_generic/llvm/stage/lib/llvm/bin/clang",
            "clang-23",
        );
        all.link(
            "amd-llvm_run_generic/llvm/stage/lib/llvm/bin/clang++",
            "clang",
        );
        all.link("amd-llvm_run_generic/llvm/stage/llvm", "lib/llvm");
        all.file(
            "amd-llvm_dev_generic/llvm/stage/lib/llvm/include/llvm/a.h",
            b"#pragma once\n",
        );
        all.link(
            "base_run_generic/base/stage/bin/amdclang",
            "../lib/llvm/bin/clang",
        );
        all.file("base_run_generic/base/stage/.info/version", b"7.10.0\n");
        all.executable(
            "blas_lib_generic/blas/stage/lib/libhipblas.so.3",
            library("libhipblas.so.3"),
        );
        all.link(
            "blas_lib_generic/blas/stage/lib/libhipblas.so",
            "libhipblas.so.3",
        );
        all.file(
            "blas_dev_generic/blas/stage/include/hipblas/hipblas.h",
            b"#pragma once\n",
        );
        all.file("blas_test_generic/blas/stage/bin/blas-test", b"test");
        for target in ["gfx942", "gfx1100"] {
            let stage = format!("blas_lib_{target}/blas/stage");
            let archive = super::bundle::kpack(&[target], &["blas"]);
            all.file(&format!("{stage}/.kpack/blas_lib_{target}.kpack"), &archive);
            all.file(
                &format!("{stage}/lib/rocblas/library/Kernels_{target}.co"),
                target.as_bytes(),
            );
            let own = format!("libMIOpenCKGroupedConv_{target}.so");
            all.executable(&format!("{stage}/lib/{own}"), library(&own));
        }
        all.executable(
            "rocprofiler-systems_lib_generic/p/stage/lib/librocprof-sys.so.1",
            library("librocprof-sys.so.1"),
        );
        all.executable(
            "rocprofiler-systems_lib_generic/p/stage/lib/libx.so.1",
            library("libx.so.1"),
        );
        all.executable(
            "rocprofiler-compute_run_generic/p/stage/libexec/rocprofiler-compute/rocprof-compute",
            b"#!/bin/sh\n",
        );
        all
    }

    /// Adds every program that a console script of Linux runs and that is not there yet.
    pub fn programs(&self) {
        let compat = rock_matrix::compat::Compat::embedded();
        for row in &compat.sdk_tables().sdk_scripts {
            let stage = match row.package.as_str() {
                "core" => "base_run_generic/base/stage",
                _ => "rocprofiler-systems_run_generic/p/stage",
            };
            let is_of_linux = row.platforms.iter().any(|word| word == "linux");
            if is_of_linux && !["bin/hipcc", "bin/rocprof-compute"].contains(&row.program.as_str())
            {
                self.executable(&format!("{stage}/{}", row.program), b"#!/bin/sh\n");
            }
        }
    }

    /// Adds a library for Windows to the artifacts of every package that is run from there.
    pub fn windows(&self, targets: &[&str]) {
        let generic = ["core-hip_lib_generic/hip", "blas_lib_generic/blas"].map(str::to_owned);
        for stage in generic.into_iter().chain(
            targets
                .iter()
                .map(|target| format!("blas_lib_{target}/blas")),
        ) {
            let name = stage.split('/').next().unwrap_or_default();
            self.file(
                &format!("{stage}/stage/bin/{name}.dll"),
                &super::bundle::pe_library(&[]),
            );
        }
    }

    /// Adds a file; `path` is `ARTIFACT/ROOT/stage/PATH`, and the root is listed in the artifact's
    /// manifest.
    pub fn file(&self, path: &str, bytes: &[u8]) {
        std::fs::write(self.place(path), bytes).unwrap();
    }

    /// Adds a file that may be run.
    pub fn executable(&self, path: &str, bytes: impl AsRef<[u8]>) {
        let place = self.place(path);
        std::fs::write(&place, bytes).unwrap();
        std::fs::set_permissions(place, std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// Takes out a file.
    pub fn remove(&self, path: &str) {
        std::fs::remove_file(self.place(path)).unwrap();
    }

    /// Adds a link with this text.
    pub fn link(&self, path: &str, text: &str) {
        symlink(text, self.place(path)).unwrap();
    }

    /// Makes archives of all artifacts, as builds publish them, in the place of the folders.
    pub fn pack(&self, compression: ArchiveCompression) {
        for entry in std::fs::read_dir(self.project.path("artifacts")).unwrap() {
            let folder = entry.unwrap().path();
            if folder.is_file() {
                continue;
            }
            let tar = tar_of(&folder);
            std::fs::write(
                with_suffix(&folder, compression.suffix()),
                compressed(&tar, compression),
            )
            .unwrap();
            std::fs::remove_dir_all(folder).unwrap();
        }
    }

    /// Publishes archives of all artifacts as a bucket has them, below a folder of the project.
    pub fn publish(&self, staging: &str, run: &str) -> PathBuf {
        self.pack(ArchiveCompression::Zstd);
        let folder = self.project.path(staging).join(run);
        std::fs::create_dir_all(folder.parent().unwrap()).unwrap();
        std::fs::rename(self.project.path("artifacts"), &folder).unwrap();
        folder
    }

    /// Writes an archive of an artifact with what a story puts into it, behind the manifest where
    /// there is one.
    pub fn archive(
        &self,
        name: &str,
        manifest: Option<&str>,
        fill: impl FnOnce(&mut tar::Builder<Vec<u8>>),
    ) -> PathBuf {
        let mut builder = tar::Builder::new(Vec::new());
        if let Some(manifest) = manifest {
            append(&mut builder, "artifact_manifest.txt", manifest.as_bytes());
        }
        fill(&mut builder);
        let path = self
            .project
            .path("artifacts")
            .join(format!("{name}.tar.zst"));
        std::fs::write(
            &path,
            compressed(&builder.into_inner().unwrap(), ArchiveCompression::Zstd),
        )
        .unwrap();
        path
    }

    fn place(&self, path: &str) -> PathBuf {
        let (artifact, below) = path.split_once('/').unwrap();
        let root = format!("{}/stage", below.split_once("/stage/").unwrap().0);
        let folder = self.project.path("artifacts").join(artifact);
        let place = folder.join(below);
        std::fs::create_dir_all(place.parent().unwrap()).unwrap();
        let manifest = folder.join("artifact_manifest.txt");
        let mut listed = std::fs::read_to_string(&manifest).unwrap_or_default();
        if !listed.lines().any(|line| line == root) {
            listed += &format!("{root}\n");
            std::fs::write(manifest, listed).unwrap();
        }
        place
    }
}

/// A library with this SONAME, and a RUNPATH as ROCm's have.
pub fn library(soname: &str) -> Vec<u8> {
    super::elf::Library::new()
        .soname(soname)
        .exports("answer")
        .runpath("$ORIGIN/llvm/lib")
        .build()
}

/// A program that says its arguments and the file that it runs from; compiled once.
pub fn program() -> &'static [u8] {
    static PROGRAM: OnceLock<Vec<u8>> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        let source = "#include <stdio.h>\n#include <unistd.h>\nint main(int n, char **v) { char exe[4096] = {0}; \
                      if (readlink(\"/proc/self/exe\", exe, 4095) < 0) return 3; puts(exe); \
                      for (int i = 0; i < n; i++) puts(v[i]); return 7; }\n";
        std::fs::write(folder.path().join("p.c"), source).unwrap();
        compiled(folder.path(), &["p.c", "-o", "p"]);
        std::fs::read(folder.path().join("p")).unwrap()
    })
}

/// Adds a file under a path that need not be a safe one.
pub fn append(builder: &mut tar::Builder<Vec<u8>>, path: &str, bytes: &[u8]) {
    let mut header = tar::Header::new_gnu();
    header.as_mut_bytes()[..path.len()].copy_from_slice(path.as_bytes());
    header.set_mode(0o644);
    header.set_size(bytes.len() as u64);
    header.set_cksum();
    builder.append(&header, bytes).unwrap();
}

/// Adds a member that is no file: a link of either kind, or a device.
pub fn append_other(
    builder: &mut tar::Builder<Vec<u8>>,
    kind: tar::EntryType,
    path: &str,
    text: &str,
) {
    let mut header = tar::Header::new_gnu();
    header.set_entry_type(kind);
    header.set_path(path).unwrap();
    header.set_link_name_literal(text).unwrap();
    header.set_mode(0o777);
    header.set_size(0);
    header.set_cksum();
    builder.append(&header, std::io::empty()).unwrap();
}

/// A tar of an artifact, its manifest first; what the system lists later comes later.
fn tar_of(folder: &Path) -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    builder.follow_symlinks(false);
    builder
        .append_path_with_name(
            folder.join("artifact_manifest.txt"),
            "artifact_manifest.txt",
        )
        .unwrap();
    for root in std::fs::read_to_string(folder.join("artifact_manifest.txt"))
        .unwrap()
        .lines()
    {
        builder.append_dir_all(root, folder.join(root)).unwrap();
    }
    builder.into_inner().unwrap()
}

/// Bytes compressed as archives are.
pub fn compressed(bytes: &[u8], compression: ArchiveCompression) -> Vec<u8> {
    match compression {
        ArchiveCompression::Zstd => zstd::encode_all(bytes, 3).unwrap(),
        ArchiveCompression::Xz => {
            let mut made = Vec::new();
            rock_matrix::archive::compress_xz(&bytes.to_vec(), 2, &mut made).unwrap();
            made
        }
    }
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

fn compiled(folder: &Path, words: &[&str]) {
    assert!(
        Command::new("cc")
            .current_dir(folder)
            .args(words)
            .status()
            .unwrap()
            .success(),
        "{words:?}"
    );
}
