"""The artifacts that benches/sdk.py packs: as a ROCm build leaves them, for two GPU targets, of so many megabytes.

    python3 benches/sdk_tree.py FOLDER MEGABYTES

Libraries and programs are compiled here. What fills them is machine code and data of this machine's own compilers and
libraries, so that they compress as such files do; texts are its headers and sources. Sizes follow what ROCm has: few
large libraries, many small ones, some twenty thousand headers. A file `whole` says that the folder was made to its end.
"""

import pathlib
import random
import shutil
import subprocess
import sys
import sysconfig
import zlib

# Megabytes of each kind in 2 GB, and how many files.
PLAN_MB = 2000
HEADERS = 20_000
MINIMUM_BYTES = 40_000
# A target's code is in many files.
TARGETS = ["gfx942", "gfx1100"]
CHUNK = 1 << 20


def system_files(commands, folders, names):
    """Files of this machine, in an order that does not depend on their names."""
    found = {}
    for command in commands:
        said = subprocess.run(command, capture_output=True, text=True).stdout.strip()
        if said:
            folders = [*folders, pathlib.Path(said)]
    for folder in folders:
        folder = folder if folder.is_dir() else folder.parent
        for path in folder.rglob("*") if folder.is_dir() else ():
            if any(path.match(name) for name in names) and path.is_file() and not path.is_symlink():
                found[path.resolve()] = path.stat().st_size
    paths = sorted(found)
    random.Random(1).shuffle(paths)
    return paths, found


class MachineCode:
    """Machine code and data, one piece after the other, from the beginning again once all was given."""

    def __init__(self):
        gcc = [["gcc", f"-print-prog-name={name}"] for name in ("cc1", "cc1plus", "lto1")]
        libraries = [["gcc", "-print-file-name=libc.so.6"], ["rustc", "--print", "sysroot"]]
        python = pathlib.Path(sysconfig.get_config_var("LIBDIR") or "/usr/lib")
        paths, sizes = system_files(gcc + libraries, [python], ["*.so", "*.so.*", "cc1", "cc1plus", "lto1"])
        self.paths = [path for path in paths if sizes[path] >= 200_000]
        self.at, self.offset = 0, 0

    def pieces(self, size):
        while size > 0:
            with open(self.paths[self.at % len(self.paths)], "rb") as file:
                # The first bytes say what a file is, and this is no file of its own.
                file.seek(4096 + self.offset)
                piece = file.read(min(size, CHUNK))
            if piece:
                self.offset += len(piece)
                size -= len(piece)
                yield piece
            else:
                self.at, self.offset = self.at + 1, 0

    def write(self, path, size, head=b""):
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(path, "wb") as file:
            file.write(head)
            for piece in self.pieces(size):
                file.write(piece)


class Texts:
    """Headers and sources of this machine; once all were given, with lines of another before them."""

    def __init__(self):
        folders = [pathlib.Path("/usr/include"), pathlib.Path(sysconfig.get_path("stdlib"))]
        folders += [pathlib.Path(sysconfig.get_path("include")), pathlib.Path.home() / ".cargo/registry/src"]
        paths, sizes = system_files([], folders, ["*.h", "*.hpp", "*.py", "*.rs"])
        self.paths = [path for path in paths if 500 <= sizes[path] <= 80_000]
        self.at = 0

    def text(self):
        number, self.at = self.at, self.at + 1
        content = self.paths[number % len(self.paths)].read_bytes()
        turn = number // len(self.paths)
        if turn:
            other = self.paths[(number + turn * 7919) % len(self.paths)].read_bytes()
            content = other[: len(other) // 2] + content[len(content) // 3 :]
        return content


class Tree:
    def __init__(self, folder, megabytes):
        self.folder, self.scale = folder, megabytes / PLAN_MB
        self.code, self.texts, self.random = MachineCode(), Texts(), random.Random(2)
        self.bases = {}
        self.work = folder / "work"
        self.work.mkdir(parents=True)
        (self.work / "program.c").write_text(
            "#include <stdio.h>\nint main(int n, char **v) { return puts(v[n - 1]) < 0; }\n"
        )

    def place(self, artifact, path):
        """Where a path of an artifact's tree lies; its base is the artifact's own stage folder."""
        base = f"rocm/{artifact.split('_')[0]}/stage"
        self.bases.setdefault(artifact, set()).add(base)
        path = self.folder / "artifacts" / artifact / base / path
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def count(self, number):
        return max(2, round(number * self.scale))

    def sizes(self, number, megabytes):
        """A few large and many small, in bytes; together as many megabytes of the plan."""
        weights = [(rank + 2) ** -1.1 for rank in range(number)]
        total = megabytes * 1e6 * self.scale
        return [max(MINIMUM_BYTES, int(total * weight / sum(weights))) for weight in weights]

    def compiled(self, path, size, *words, symbols=200):
        """An ELF file around so much machine code, with symbols as its neighbours have."""
        blob, source = self.work / "blob", self.work / "code.s"
        self.code.write(blob, size)
        stem = path.name.split(".")[0].replace("-", "_").replace("+", "p")
        names = [f"{stem}_function_{number}" for number in range(symbols)]
        named = "".join(f".globl {name}\n.type {name}, @function\n{name}: ret\n" for name in names)
        source.write_text(f'.section .note.GNU-stack,"",@progbits\n.text\n{named}.section .rodata\n.incbin "{blob}"\n')
        argv = ["gcc", "-o", path, source, "-Wl,--enable-new-dtags", "-Wl,--build-id=none", *words]
        subprocess.run(argv, check=True)

    def libraries(self, artifact, folder, names, megabytes, version="7.14"):
        """Libraries with their SONAME, and the two links that lead to each file."""
        for name, size in zip(names, self.sizes(len(names), megabytes)):
            soname = f"lib{name}.so.{version.split('.')[0]}"
            path = self.place(artifact, f"{folder}/lib{name}.so.{version}.60850")
            words = ["-shared", "-fPIC", f"-Wl,-soname,{soname}", "-Wl,-rpath,$ORIGIN"]
            self.compiled(path, size, *words, symbols=min(20_000, 100 + size // 4000))
            (path.parent / soname).symlink_to(path.name)
            (path.parent / f"lib{name}.so").symlink_to(soname)

    def programs(self, artifact, folder, names, megabytes, links):
        """Programs, and for each some other names as links."""
        for name, size in zip(names, self.sizes(len(names), megabytes)):
            path = self.place(artifact, f"{folder}/{name}")
            self.compiled(path, size, self.work / "program.c", "-Wl,-rpath,$ORIGIN/../lib", symbols=50)
            target = name
            for number in range(links):
                link = f"{name}-alias{number}"
                (path.parent / link).symlink_to(target)
                target = link

    def headers(self, artifact, folder, number):
        for at in range(self.count(number)):
            ending = ("hpp", "h", "h", "cmake")[at % 4]
            self.place(artifact, f"{folder}/part{at // 200:03}/file{at:05}.{ending}").write_bytes(self.texts.text())

    def config(self, artifact, names):
        for name in names:
            for part in ("config", "config-version", "targets", "targets-release"):
                self.place(artifact, f"lib/cmake/{name}/{name}-{part}.cmake").write_bytes(self.texts.text())

    def archives(self, artifact, folder, number, megabytes):
        """Static archives, with object files of about 50 kB."""
        for at, size in enumerate(self.sizes(self.count(number), megabytes)):
            with open(self.place(artifact, f"{folder}/libpart{at}.a"), "wb") as file:
                file.write(b"!<arch>\n")
                for member in range(max(1, size // 50_000)):
                    file.write(f"{f'object{member}.o/':16}{0:<12}{0:<6}{0:<6}{'100644':8}{50_000:<10}`\n".encode())
                    file.writelines(self.code.pieces(50_000))

    def device(self, target, megabytes):
        """What a target adds: code objects, archives of compressed ones, tables, and a library of its own."""
        # The header of a shared object for AMD GPUs (machine 224).
        head = (
            b"\x7fELF\x02\x01\x01\x40" + bytes(8) + (3).to_bytes(2, "little") + (224).to_bytes(2, "little") + bytes(44)
        )
        blas, miopen = f"blas_lib_{target}", f"miopen_lib_{target}"
        number = self.count(300)
        for at, size in enumerate(self.sizes(number, megabytes * 0.4)):
            path = f"lib/rocblas/library/TensileLibrary_Type_{at:03}_{target}"
            self.code.write(self.place(blas, f"{path}.co"), size, head)
            self.place(blas, f"{path}.dat").write_bytes(self.table(size // 80))
        for name in ("blas", "fft", "rand", "miopen", "rccl"):
            artifact = f"{name}_lib_{target}"
            with open(self.place(artifact, f".kpack/{name}_lib_{target}.kpack"), "wb") as file:
                file.write(b"KPAK")
                for piece in self.code.pieces(int(megabytes * 0.4e6 / 5 * 3 * self.scale)):
                    file.write(zlib.compress(piece, 6))
        lines = [self.measured(at) for at in range(int(20_000 * self.scale) + 10)]
        self.place(miopen, f"share/miopen/db/{target}.db.txt").write_text("\n".join(lines))
        path = self.place(miopen, f"lib/libMIOpenCKGroupedConv_{target}.so")
        words = ["-shared", "-fPIC", f"-Wl,-soname,{path.name}", "-Wl,-rpath,$ORIGIN"]
        self.compiled(path, max(MINIMUM_BYTES, int(megabytes * 0.1e6 * self.scale)), *words)

    def table(self, rows):
        """MessagePack, as tables of kernels are in."""
        values = self.random.randbytes(200)
        row = lambda at: b"\xa4name\xa8kernel%02d\xa4tile\xcd" % (at % 97) + values[at % 180 :][:6]
        return b"".join(map(row, range(rows)))

    def measured(self, at):
        """A line of a database of measurements."""
        return (
            f"{at}-{self.random.randrange(10**6)}x{at % 56}-NCHW-FP32-F=ConvAsm:{self.random.random():.6f},{at % 991}"
        )

    def make(self):
        def named(stem, number):
            return [f"{stem}{at}" for at in range(self.count(number))]

        manifest = self.folder / "artifacts/base_lib_generic/base/aux-overlay/stage/share/therock"
        manifest.mkdir(parents=True)
        (manifest / "therock_manifest.json").write_text(
            '{"rocm_version": "7.14.0", "flags": {"KPACK_SPLIT_ARTIFACTS": true}}'
        )
        (manifest / "dist_info.json").write_text('{"dist_amdgpu_targets": "gfx942;gfx1100"}')
        self.bases["base_lib_generic"] = {"base/aux-overlay/stage"}
        self.place("base_run_generic", ".info/version").write_text("7.14.0\n")
        for name in ("amdclang", "amdclang++", "amdflang"):
            self.place("base_run_generic", f"bin/{name}").symlink_to(f"../lib/llvm/bin/{name}")
        # The compiler: large programs with many names, its libraries, its headers and archives.
        self.programs(
            "amd-llvm_run_generic", "lib/llvm/bin", ["clang-23", "lld", "flang-23", *named("llvm-tool", 25)], 330, 2
        )
        self.place("amd-llvm_run_generic", "lib/llvm/bin/amdclang").symlink_to("clang-23")
        self.headers("amd-llvm_run_generic", "lib/llvm/lib/clang/23/include", 600)
        self.libraries(
            "amd-llvm_lib_generic", "lib/llvm/lib", ["LLVM", "clang-cpp", "MLIR", "omp", *named("llvmpart", 26)], 260
        )
        self.headers("amd-llvm_dev_generic", "lib/llvm/include/llvm", 5000)
        self.archives("amd-llvm_dev_generic", "lib/llvm/lib", 40, 120)
        # The runtime, and what it stands on.
        self.libraries(
            "core-hip_lib_generic", "lib", ["amdhip64", "hiprtc", "hiprtc-builtins", *named("hippart", 5)], 60
        )
        self.headers("core-hip_dev_generic", "include/hip", 400)
        self.config("core-hip_dev_generic", ["hip", "hip-lang", "hiprtc"])
        self.programs("core-hip_run_generic", "bin", ["hipconfig-bin", "hipcc-bin"], 3, 1)
        self.place("core-hip_run_generic", "bin/hipcc").write_text("#!/bin/sh\nexec hipcc-bin\n")
        self.libraries("core-runtime_lib_generic", "lib", ["hsa-runtime64", "rocr-part"], 12)
        self.programs("core-runtime_run_generic", "bin", ["rocminfo"], 1, 0)
        self.libraries("sysdeps_lib_generic", "lib/rocm_sysdeps/lib", named("rocm_sysdeps_part", 45), 35, "1.3")
        self.libraries("host-blas_lib_generic", "lib/host-math/lib", ["rocm-openblas"], 30, "0.3")
        self.libraries("rocprofiler-sdk_lib_generic", "lib", named("rocprofiler-sdk", 12), 40, "1.1")
        self.programs("rocprofiler-sdk_run_generic", "bin", named("rocpd", 6), 4, 0)
        # The libraries, and two targets of theirs.
        for name, number, megabytes in (
            ("blas", 14, 170),
            ("fft", 3, 20),
            ("rand", 3, 30),
            ("miopen", 3, 120),
            ("rccl", 2, 60),
        ):
            self.libraries(f"{name}_lib_generic", "lib", [f"{name}main", *named(f"{name}part", number)], megabytes)
            self.headers(f"{name}_dev_generic", f"include/{name}", 300)
            self.config(f"{name}_dev_generic", [name, f"hip{name}"])
        self.archives("blas_dev_generic", "lib", 8, 60)
        self.place("blas_test_generic", "bin/rocblas-test").write_bytes(b"test")
        for target in TARGETS:
            self.device(target, 260)
        # What only developers have.
        for name, number in (
            ("prim", 3500),
            ("rocwmma", 1200),
            ("libhipcxx", 3000),
            ("nlohmann-json", 300),
            ("rocshmem", 300),
            ("flatbuffers", 300),
        ):
            self.headers(f"{name}_dev_generic", f"include/{name}", number)
        left = HEADERS - 600 - 5000 - 400 - 5 * 300 - 3500 - 1200 - 3000 - 900
        self.headers("hipthreads_dev_generic", "include/hipthreads", left)
        # The profilers.
        self.libraries(
            "rocprofiler-systems_lib_generic", "lib", ["rocprof-sys", "rocprof-sys-dl", "rocprof-sys-rt"], 25, "1.2"
        )
        self.programs("rocprofiler-systems_run_generic", "bin", named("rocprof-sys-tool", 6), 10, 0)
        self.headers("rocprofiler-compute_run_generic", "libexec/rocprofiler-compute", 100)
        self.place("rocprofiler-compute_run_generic", "libexec/rocprofiler-compute/rocprof-compute").write_text(
            "#!/bin/sh\n"
        )
        for artifact, bases in self.bases.items():
            text = "".join(f"{base}\n" for base in sorted(bases))
            (self.folder / "artifacts" / artifact / "artifact_manifest.txt").write_text(text)
        shutil.rmtree(self.work)
        (self.folder / "whole").touch()


if __name__ == "__main__":
    Tree(pathlib.Path(sys.argv[1]), float(sys.argv[2])).make()
