"""Stands in for setuptools where nothing can be downloaded: runs a project's setup.py, and makes a wheel of what that says."""

import base64
import hashlib
import os
import runpy
import sys
import zipfile

_said = {}


def setup(**said):
    _said.update(said)


def get_requires_for_build_wheel(config_settings=None):
    return []


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    sys.modules["setuptools"] = sys.modules[__name__]
    runpy.run_path("setup.py", run_name="__main__")
    stem = f"{_said['name']}-{_said['version']}"
    info = f"{stem}.dist-info"
    files = {}
    for package in _said["packages"]:
        folder = os.path.join(_said["package_dir"][""], *package.split("."))
        wanted = _said["package_data"].get(package, [])
        for name in sorted(os.listdir(folder)):
            if name.endswith(".py") or name in wanted:
                with open(os.path.join(folder, name), "rb") as file:
                    files[f"{package.replace('.', '/')}/{name}"] = file.read()
    scripts = "".join(f"{line}\n" for line in _said["entry_points"]["console_scripts"])
    files[f"{info}/METADATA"] = _metadata().encode()
    files[f"{info}/WHEEL"] = b"Wheel-Version: 1.0\nGenerator: standin\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    files[f"{info}/entry_points.txt"] = f"[console_scripts]\n{scripts}".encode()
    lines = [f"{path},sha256={_digest(content)},{len(content)}\n" for path, content in files.items()]
    files[f"{info}/RECORD"] = "".join([*lines, f"{info}/RECORD,,\n"]).encode()
    name = f"{stem}-py3-none-any.whl"
    with zipfile.ZipFile(os.path.join(wheel_directory, name), "w") as wheel:
        for path, content in files.items():
            wheel.writestr(zipfile.ZipInfo(path), content)
    return name


def _metadata():
    lines = ["Metadata-Version: 2.1", f"Name: {_said['name']}", f"Version: {_said['version']}"]
    lines += [f"Requires-Dist: {line}" for line in _said["install_requires"]]
    for extra, required in _said["extras_require"].items():
        lines.append(f"Provides-Extra: {extra}")
        for line in required:
            needed, _, marker = (part.strip() for part in line.partition(";"))
            where = f'({marker}) and extra == "{extra}"' if marker else f'extra == "{extra}"'
            lines.append(f"Requires-Dist: {needed}; {where}")
    return "\n".join([*lines, ""])


def _digest(content):
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
