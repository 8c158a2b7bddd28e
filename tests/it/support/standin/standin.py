"""Stands in for the build of a package: notes how it was called in `ran.json`, and makes a real wheel of its tree.

`standin.json` says of what: `name` and `version`, in which variables of the environment may stand in braces, `module`,
and `tag` where it is not that of this Python. A file `trouble` makes it go wrong: `none` leaves no wheel, `two` leaves two, `half` ends the builder and itself
once with half a wheel written.
"""
import base64
import hashlib
import json
import os
import signal
import sys
import zipfile


def setup():
    """What setup.py does: `setup.py bdist_wheel --dist-dir FOLDER`."""
    assert sys.argv[1:3] == ["bdist_wheel", "--dist-dir"], sys.argv
    build_wheel(sys.argv[3])


def get_requires_for_build_wheel(config_settings=None):
    return []


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    said, info = about()
    os.makedirs(os.path.join(metadata_directory, info))
    for name, text in described(said).items():
        with open(os.path.join(metadata_directory, info, name), "w", encoding="utf-8") as file:
            file.write(text)
    return info


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    seen = {"argv": sys.argv, "settings": config_settings, "cwd": os.getcwd(), "env": dict(os.environ)}
    with open("ran.json", "w", encoding="utf-8") as file:
        json.dump(seen, file)
    os.makedirs(wheel_directory, exist_ok=True)
    trouble = open("trouble").read().strip() if os.path.exists("trouble") else ""
    said, info = about()
    name = f"{info.removesuffix('.dist-info')}-{said['tag']}.whl"
    if trouble == "none":
        return name
    if trouble == "half" and not os.path.exists(os.path.join(wheel_directory, "..", "half")):
        with open(os.path.join(wheel_directory, name), "w") as file:
            file.write("half")
        open(os.path.join(wheel_directory, "..", "half"), "w").close()
        os.kill(builder(), signal.SIGKILL)
        os.kill(os.getpid(), signal.SIGKILL)
    files = {path: open(path, "rb").read() for path in packed(said["module"], config_settings or {})}
    files.update((f"{info}/{name}", text.encode()) for name, text in described(said).items())
    lines = [f"{path},sha256={digest(content)},{len(content)}\n" for path, content in files.items()]
    files[f"{info}/RECORD"] = "".join([*lines, f"{info}/RECORD,,\n"]).encode()
    for target in [name, name.replace("-cp", "-1-cp")][: 2 if trouble == "two" else 1]:
        with zipfile.ZipFile(os.path.join(wheel_directory, target), "w") as wheel:
            for path, content in files.items():
                wheel.writestr(zipfile.ZipInfo(path), content)
    return name


def about():
    with open("standin.json", encoding="utf-8") as file:
        said = {key: value.format_map(os.environ) for key, value in json.load(file).items()}
    python = "cp%d%d" % sys.version_info[:2]
    said.setdefault("tag", f"{python}-{python}-linux_x86_64")
    return said, f"{said['name'].replace('-', '_')}-{said['version']}.dist-info"


def described(said):
    pure = str(said["tag"].endswith("-any")).lower()
    required = os.environ.get("PYTORCH_EXTRA_INSTALL_REQUIREMENTS", "") if said["name"] == "torch" else ""
    requires = "".join(f"Requires-Dist: {each}\n" for each in required.split("|") if each)
    return {
        "METADATA": f"Metadata-Version: 2.1\nName: {said['name']}\nVersion: {said['version']}\n{requires}",
        "WHEEL": f"Wheel-Version: 1.0\nGenerator: standin\nRoot-Is-Purelib: {pure}\nTag: {said['tag']}\n",
    }


def packed(module, settings):
    """The files of the module. A build by scikit-build-core leaves out what git ignores, unless it is named."""
    ignored = set()
    if os.path.exists("pyproject.toml") and "scikit_build_core" in open("pyproject.toml").read():
        ignored = set(open(".gitignore").read().split())
        ignored -= {name.removeprefix("wheel.force-include.") for name in settings}
    found = [os.path.join(folder, name) for folder, _, names in os.walk(module) for name in names]
    return sorted(path for path in found if path not in ignored and "__pycache__" not in path)


def digest(content):
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()


def builder():
    """The process that runs the build's steps."""
    process = os.getpid()
    while open(f"/proc/{process}/comm").read().strip() != "rock-matrix":
        process = int(open(f"/proc/{process}/stat").read().rsplit(")", 1)[1].split()[1])
    return process
