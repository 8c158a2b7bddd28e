"""Packages that are made once, and environments that tests install them into."""

from __future__ import annotations

import compileall
import fcntl
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Callable, List, Optional

import artifacts
import packages
import pip
import pytest
import uv

# Neither settings of the person nor of the machine may decide.
CLEAN = {
    name: value
    for name, value in os.environ.items()
    if not name.startswith(("PIP_", "PYTHON", "ROCM_", "LD_", "VIRTUAL_ENV"))
}


def run_uv(*arguments: str, **env: str) -> None:
    """Runs uv without an index, a cache or settings of the machine."""
    argv = [uv.find_uv_bin(), *arguments, "--quiet", "--no-index", "--no-cache", "--no-config", "--link-mode", "copy"]
    done = subprocess.run(argv, env={**CLEAN, **env}, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


class Environment:
    """A virtual environment and what is installed in it."""

    def __init__(self, folder: Path, dist: Path) -> None:
        self.folder, self.dist = folder, dist
        if not folder.exists():
            subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True, env=CLEAN)
        self.python = folder / "bin" / "python"
        self.site = next((folder / "lib").glob("python3*/site-packages"))
        # No GPU of this machine, and no tool of it.
        self.env = {**CLEAN, "PATH": f"{folder}/bin:/usr/bin:/bin", "ROCM_SDK_SYSFS_ROOT": str(folder / "no-sys")}

    def copied(self, folder: Path) -> Environment:
        """The same in another place; console scripts name their interpreter."""
        shutil.copytree(self.folder, folder, symlinks=True)
        for script in (folder / "bin").iterdir():
            if not script.is_symlink():
                script.write_text(script.read_text("utf-8").replace(str(self.folder), str(folder)), "utf-8")
        return Environment(folder, self.dist)

    def compiled(self) -> None:
        """Compiles the modules, so that no copy of the environment does it again."""
        compileall.compile_dir(self.site, quiet=1)

    def pip(self, *arguments: str, ok: bool = True) -> "subprocess.CompletedProcess[str]":
        # What `--python` comes to, without a process that only starts the other.
        argv = [str(self.python), str(Path(pip.__file__).parent), "--isolated", "--disable-pip-version-check"]
        done = subprocess.run([*argv, *arguments], env=self.env, capture_output=True, text=True)
        assert not ok or done.returncode == 0, done.stdout + done.stderr
        return done

    def install(self, *names: str) -> None:
        """Installs with uv, which needs a tenth of pip's time."""
        run_uv("pip", "install", "--python", str(self.python), "--pre", "--find-links", str(self.dist), *names)

    def install_with_pip(self, *names: str) -> None:
        argv = ["install", "-q", "--no-compile", "--no-index", "--pre", "--no-cache-dir"]
        self.pip(*argv, "--find-links", str(self.dist), *names)

    def uninstall(self, *names: str) -> None:
        self.pip("uninstall", "-q", "-y", *names)

    def run(self, *argv: str, code: int = 0, **env: str) -> "subprocess.CompletedProcess[str]":
        done = subprocess.run(argv, env={**self.env, **env}, capture_output=True, text=True, cwd=self.folder)
        assert done.returncode == code, f"{argv}: {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done

    def sdk(self, *arguments: str, code: int = 0, **env: str) -> "subprocess.CompletedProcess[str]":
        return self.run(str(self.folder / "bin" / "rocm-sdk"), *arguments, code=code, **env)

    def own_tests(self, *names: str, **env: str) -> None:
        """Runs some tests of the packages themselves. `sdk("test")` runs all, a process for each of the libraries."""
        self.run(str(self.python), "-m", "unittest", *(f"rocm_sdk.tests.{name}" for name in names), **env)

    def script(self, name: str, *arguments: str, code: int = 0, **env: str) -> List[str]:
        return self.run(str(self.folder / "bin" / name), *arguments, code=code, **env).stdout.splitlines()

    def python_says(self, text: str, *arguments: str, code: int = 0, **env: str) -> str:
        done = self.run(str(self.python), "-c", text, *arguments, code=code, **env)
        return done.stdout.strip() if code == 0 else done.stderr.strip()

    @property
    def devel(self) -> Path:
        return self.site / "_rocm_sdk_devel"

    @property
    def installed_names(self) -> List[str]:
        """The projects of the SDK, by the lists of what is installed."""
        return sorted(path.name.partition("-")[0] for path in self.site.glob("rocm*.dist-info"))

    @property
    def left(self) -> List[str]:
        """What of the SDK is in the environment."""
        return sorted(path.name for path in self.site.iterdir() if "rocm" in path.name)

    def record(self, dist: str) -> List[str]:
        """The paths of a RECORD as they stand, repeated ones too."""
        import csv

        (path,) = self.site.glob(f"{dist}-*.dist-info/RECORD")
        with open(path, encoding="utf-8", newline="") as file:
            return [row[0] for row in csv.reader(file)]


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "once: of installers and of the program, so that one Python shows it")
    config.addinivalue_line("markers", "slow: left out under Pythons between the oldest and the newest")


Once = Callable[[str, Callable[[Path], object]], Path]


@pytest.fixture(scope="session")
def once(tmp_path_factory: pytest.TempPathFactory) -> Once:
    """Has a function fill a directory in the first worker that asks for it; the others find it filled."""
    root = tmp_path_factory.getbasetemp()
    # Each worker of pytest-xdist has a directory below that of the whole run.
    root = root.parent if "PYTEST_XDIST_WORKER" in os.environ else root

    def filled(name: str, fill: Callable[[Path], object]) -> Path:
        folder, mark = root / f"once-{name}", root / f"once-{name}.filled"
        with open(root / f"once-{name}.lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not mark.exists():
                shutil.rmtree(folder, ignore_errors=True)
                folder.mkdir()
                fill(folder)
                mark.touch()
        return folder

    return filled


@pytest.fixture(scope="session")
def stand(once: Once) -> packages.Stand:
    return packages.compiled(once("compiled", packages.compiled))


@pytest.fixture(scope="session")
def wheelhouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What building the source distribution needs, so that its own environment can be made without an index."""
    folder = os.environ.get("ROCK_WHEELHOUSE")
    path = Path(folder) if folder else tmp_path_factory.mktemp("wheelhouse")
    if not list(path.glob("setuptools-*.whl")):
        argv = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", str(path), "setuptools>=70.2,<81"]
        done = subprocess.run(argv, capture_output=True, text=True)
        if done.returncode != 0:
            pytest.skip(f"setuptools cannot be had: {done.stderr.strip().splitlines()[-1]}")
    return path


@pytest.fixture(scope="session")
def backend(once: Once, wheelhouse: Path) -> Environment:
    """An environment with what the source distribution is built with."""
    folder = once("backend", lambda folder: Environment(folder / "env", wheelhouse).install("setuptools"))
    return Environment(folder / "env", wheelhouse)


def call_hook(backend: Environment, hook: str, source: Path, folder: Path, **env: str) -> Path:
    """Has a hook of PEP 517 of a source distribution make something, and returns that."""
    folder.mkdir(exist_ok=True)
    subprocess.run(["tar", "-x", "-f", source, "-C", folder], check=True)
    (root,) = [path for path in folder.iterdir() if path.is_dir()]
    text = "import setuptools.build_meta as backend, sys; print(getattr(backend, sys.argv[1])(sys.argv[2]))"
    argv = [str(backend.python), "-c", text, hook, str(folder)]
    done = subprocess.run(argv, env={**backend.env, **env}, cwd=root, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return folder / done.stdout.splitlines()[-1]


@pytest.fixture(scope="session")
def dist(once: Once, stand: packages.Stand, backend: Environment) -> Path:
    """The packages of one build, `rocm` as a wheel."""

    def fill(folder: Path) -> None:
        packages.all_wheels(folder, stand, packages.Build())
        source = packages.sdist(folder / "sdist", packages.Build())
        shutil.move(str(call_hook(backend, "build_wheel", source, folder / "work")), folder)

    return once("dist", fill)


@pytest.fixture(scope="session")
def program() -> Path:
    """The program that makes the packages of others."""
    target = Path(os.environ.get("CARGO_TARGET_DIR") or packages.REPOSITORY / "target")
    path = Path(os.environ.get("ROCK_MATRIX_BIN") or target / "debug" / "rock-matrix")
    if not path.exists():
        pytest.skip(f"there is no {path}: cargo build")
    return path


@pytest.fixture(scope="session")
def build_with(program: Path, stand: packages.Stand) -> Callable[..., Path]:
    """Makes artifacts for these targets in a folder, and has the program build packages of them."""

    def build(folder: Path, targets: List[str], is_kpack: bool = True) -> Path:
        artifacts.write(folder / "artifacts", stand, targets, is_kpack)
        argv = [program, "sdk", "build", "-q", "--artifact-dir", folder / "artifacts", "--dest-dir", folder]
        done = subprocess.run([*argv, "--version", packages.VERSION], capture_output=True, text=True, env=CLEAN)
        assert done.returncode == 0, done.stderr
        return folder / "dist"

    return build


@pytest.fixture(scope="session")
def built_once(once: Once, build_with: Callable[..., Path], wheelhouse: Path) -> Environment:
    """What `installed_once` is, of packages that the program built."""

    def fill(folder: Path) -> None:
        dist = build_with(folder, ["gfx1100", "gfx942"])
        # As an installer does it, in an environment of its own.
        argv = ["build", "--wheel", "--python", sys.executable, "--find-links", str(wheelhouse), "-o", str(dist)]
        run_uv(*argv, str(dist / f"rocm-{packages.VERSION}.tar.gz"), ROCM_SDK_SYSFS_ROOT=str(dist / "no-sys"))
        made = Environment(folder / "env", dist)
        made.install("rocm[libraries,devel,profiler,device-gfx942]")
        made.compiled()

    folder = once("built", fill)
    return Environment(folder / "env", folder / "dist")


@pytest.fixture
def built(tmp_path: Path, built_once: Environment) -> Environment:
    """A copy of that environment, which a test may change."""
    return built_once.copied(tmp_path / "env")


@pytest.fixture
def environment(tmp_path: Path, once: Once, dist: Path) -> Environment:
    """An empty environment beside the packages."""
    empty = once("empty", lambda folder: Environment(folder / "env", dist))
    return Environment(empty / "env", dist).copied(tmp_path / "env")


@pytest.fixture(scope="session")
def installed_once(once: Once, dist: Path) -> Environment:
    """An environment with the runtime, the libraries, the development files and one device package."""

    def fill(folder: Path) -> None:
        made = Environment(folder / "env", dist)
        made.install_with_pip("rocm[libraries,devel,device-gfx942]")
        made.compiled()

    return Environment(once("installed", fill) / "env", dist)


@pytest.fixture
def installed(tmp_path: Path, installed_once: Environment) -> Environment:
    """A copy of that environment, which a test may change."""
    return installed_once.copied(tmp_path / "env")


@pytest.fixture(scope="session")
def sources_once(once: Once) -> Path:
    """The modules of a build, as they are when installed, and compiled but for those that differ between builds."""

    def fill(folder: Path) -> None:
        for module, package in packages.MODULES.items():
            packages.written(folder, packages.python_of(module, packages.Build(), package))
        compileall.compile_dir(folder, quiet=1)
        for path in folder.rglob("_dist_info.*.pyc"):
            path.unlink()

    return once("sources", fill)


@pytest.fixture
def sources(tmp_path: Path, sources_once: Path) -> Callable[..., Path]:
    """Writes the modules of a build below a folder."""

    def write(build: Optional[packages.Build] = None) -> Path:
        folder = tmp_path / "sources"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(sources_once, folder)
        for module, package in packages.MODULES.items():
            (folder / module / "_dist_info.py").write_bytes(packages.dist_info(build or packages.Build(), package))
        return folder

    return write
