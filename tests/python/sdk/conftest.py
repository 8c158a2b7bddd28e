"""Packages that are made once, and environments that tests install them into."""

from __future__ import annotations

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
    config.addinivalue_line("markers", "slow: left out under Pythons between the oldest and the newest")


@pytest.fixture(scope="session")
def stand(tmp_path_factory: pytest.TempPathFactory) -> packages.Stand:
    return packages.compiled(tmp_path_factory.mktemp("compiled"))


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


def build_rocm(dist: Path, source: Path, wheelhouse: Path, **env: str) -> Path:
    """Builds `rocm` from its source distribution as an installer does, in an environment of its own."""
    argv = ["build", "--wheel", "--python", sys.executable, "--find-links", str(wheelhouse), "-o", str(dist)]
    run_uv(*argv, str(source), **{"ROCM_SDK_SYSFS_ROOT": str(dist / "no-sys"), **env})
    (path,) = dist.glob("rocm-*.whl")
    return path


@pytest.fixture(scope="session")
def dist(tmp_path_factory: pytest.TempPathFactory, stand: packages.Stand, wheelhouse: Path) -> Path:
    """The packages of one build, `rocm` as a wheel."""
    folder = tmp_path_factory.mktemp("dist")
    packages.all_wheels(folder, stand, packages.Build())
    build_rocm(folder, packages.sdist(folder / "sdist", packages.Build()), wheelhouse)
    return folder


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
def built_once(
    tmp_path_factory: pytest.TempPathFactory, build_with: Callable[..., Path], wheelhouse: Path
) -> Environment:
    """What `installed_once` is, of packages that the program built."""
    folder = tmp_path_factory.mktemp("built")
    dist = build_with(folder, ["gfx1100", "gfx942"])
    build_rocm(dist, dist / f"rocm-{packages.VERSION}.tar.gz", wheelhouse)
    made = Environment(folder / "env", dist)
    made.install("rocm[libraries,devel,profiler,device-gfx942]")
    return made


@pytest.fixture
def built(tmp_path: Path, built_once: Environment) -> Environment:
    """A copy of that environment, which a test may change."""
    return built_once.copied(tmp_path / "env")


@pytest.fixture
def environment(tmp_path: Path, dist: Path) -> Environment:
    """An empty environment beside the packages."""
    return Environment(tmp_path / "env", dist)


@pytest.fixture(scope="session")
def installed_once(tmp_path_factory: pytest.TempPathFactory, dist: Path) -> Environment:
    """An environment with the runtime, the libraries, the development files and one device package."""
    made = Environment(tmp_path_factory.mktemp("installed") / "env", dist)
    made.install_with_pip("rocm[libraries,devel,device-gfx942]")
    return made


@pytest.fixture
def installed(tmp_path: Path, installed_once: Environment) -> Environment:
    """A copy of that environment, which a test may change."""
    return installed_once.copied(tmp_path / "env")


@pytest.fixture
def sources(tmp_path: Path) -> Callable[..., Path]:
    """Writes the modules of a build below a folder, as they are when installed."""

    def write(build: Optional[packages.Build] = None) -> Path:
        build = build or packages.Build()
        folder = tmp_path / "sources"
        for module, package in packages.MODULES.items():
            packages.written(folder, packages.python_of(module, build, package))
        return folder

    return write
