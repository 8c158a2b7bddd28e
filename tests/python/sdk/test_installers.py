"""What other installers make of it: uv links files of its cache into the environment, and reads RECORD its own way."""

import hashlib
import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.once
NAMES = ("rocm", "rocm-sdk-core", "rocm-sdk-libraries", "rocm-sdk-devel", "rocm-sdk-device-gfx942")


@pytest.fixture
def uv(environment, tmp_path):
    env = {**environment.env, "UV_CACHE_DIR": str(tmp_path / "cache"), "UV_NO_CONFIG": "1", "UV_OFFLINE": "1"}

    def run(*arguments):
        argv = [sys.executable, "-m", "uv", "-q", "pip", *arguments, "--python", str(environment.python)]
        done = subprocess.run(argv, env=env, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr

    return run


def cached(cache):
    """The content of each file of the cache."""
    found = {}
    for folder, _, files in os.walk(cache):
        for name in files:
            path = os.path.join(folder, name)
            if not os.path.islink(path) and not name.endswith((".lock", ".pyc")):
                with open(path, "rb") as file:
                    found[os.path.relpath(path, cache)] = hashlib.sha256(file.read()).hexdigest()
    return found


@pytest.mark.parametrize("mode, order", [("hardlink", NAMES), ("symlink", NAMES[::-1]), ("copy", NAMES[::-1])])
def test_uv_installs_and_uninstalls_and_keeps_its_cache(environment, uv, tmp_path, mode, order):
    wanted = ["rocm[libraries,devel,device-gfx942]", "--no-index", "--find-links", str(environment.dist), "--pre"]
    uv("install", "--link-mode", mode, *wanted)
    before = cached(tmp_path / "cache")
    environment.sdk("test", PYTHONDONTWRITEBYTECODE="1")
    assert environment.script("amdclang")[1].startswith(str(environment.devel)) or mode == "symlink"
    assert cached(tmp_path / "cache") == before
    uv("uninstall", *order)
    assert environment.left == []
    uv("install", "--link-mode", mode, *wanted)
    assert environment.sdk("init").stdout == f"{environment.devel}\n"
