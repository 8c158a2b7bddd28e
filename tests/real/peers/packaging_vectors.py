"""Puts the vectors of packaging's tests to rock-matrix, and prints how many agree."""

import argparse
import base64
import hashlib
import importlib
import itertools
import json
import pathlib
import subprocess
import sys
import zipfile

import metadata_vectors
from packaging.tags import compatible_tags, cpython_tags
from packaging.version import InvalidVersion, Version


def parameters(function):
    """The rows of a test's parameters."""
    for mark in getattr(function, "pytestmark", []):
        if mark.name == "parametrize":
            for row in mark.args[1]:
                yield getattr(row, "values", row)


def wheel(path, project, version, metadata=None):
    """Writes a wheel without a module, with this METADATA or the least there is."""
    folder = f"{project}-{version}.dist-info"
    members = {
        f"{folder}/METADATA": f"Metadata-Version: 2.1\nName: {project}\nVersion: {version}\n".encode() if metadata is None else metadata,
        f"{folder}/WHEEL": b"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    digest = lambda content: base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    record = "".join(f"{name},sha256={digest(content)},{len(content)}\n" for name, content in members.items())
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in {**members, f"{folder}/RECORD": f"{record}{folder}/RECORD,,\n".encode()}.items():
            archive.writestr(name, content)


# The fewest vectors of each kind, somewhat below those of packaging 26.3 and of our grid. Where there are fewer, the tests of
# packaging have other names than here, and nothing was compared.
LEAST = {
    "versions in specifiers": 140,
    "valid and invalid specifiers": 30,
    "valid and invalid versions": 90,
    "tags for CPython 3.12 on x86_64 with glibc 2.35": 1680,
    "tags for CPython 3.12 on x86_64 with musl 1.2": 90,
    "tags for CPython 3.12 on aarch64 with glibc 2.35": 90,
    "tags for free-threaded CPython 3.13 on x86_64 with glibc 2.35": 144,
    "METADATA": 250,
}


class Peers:
    def __init__(self, arguments):
        self.rock, self.work, self.wrong = arguments.rock, pathlib.Path(arguments.work), []

    def run(self, *words):
        return subprocess.run([self.rock, *words], capture_output=True, text=True, cwd=self.work, check=False)

    def tell(self, what, right, count, more=""):
        print(f"    {what}: {right} of {count} agree{more}")
        if count < LEAST[what]:
            self.wrong.append(f"{what}: only {count} vectors, at least {LEAST[what]} are expected")

    def yanked(self, specifier):
        """The versions that a specifier allows, or None where it is refused."""
        done = self.run("index", "yank", "dist", f"demo{specifier}: x")
        if "is not a valid yank rule" in done.stderr:
            return None
        if done.returncode not in (0, 1) or done.returncode == 1 and "no file of the index matches" not in done.stderr:
            sys.exit(f"{specifier}: {done.returncode}: {done.stderr}")
        starts = [line for line in done.stdout.splitlines() + done.stderr.splitlines() if line.startswith("would be yanked: ")]
        return {line.split("demo-")[1].split("-py3")[0] for line in starts}

    def specifiers(self, tests):
        rows = [row for row in parameters(tests.TestSpecifier.test_specifiers)]
        # A label that names no accelerator is in no index, and `===` compares texts, which file names change.
        asked = [row for row in rows if "+" not in row[0] + row[1] and "===" not in row[1]]
        written = lambda text: str(Version(text))
        (self.work / "dist").mkdir(exist_ok=True)
        for version in sorted({written(version) for version, _, _ in asked}):
            wheel(self.work / "dist" / f"demo-{version}-py3-none-any.whl", "demo", version)
        self.run("index", "build", "dist")
        known, right = {}, 0
        for version, specifier, expected in asked:
            if specifier not in known:
                known[specifier] = self.yanked(specifier)
            if known[specifier] is not None and (written(version) in known[specifier]) == expected:
                right += 1
            else:
                self.wrong.append(f"{version} in {specifier}: packaging says {expected}")
        self.tell("versions in specifiers", right, len(asked), f", {len(rows) - len(asked)} cannot be asked here")
        valid = [row if isinstance(row, str) else row[0] for row in parameters(tests.TestSpecifier.test_specifiers_valid)]
        # A text without an operator is a project's name here.
        invalid = [row if isinstance(row, str) else row[0] for row in parameters(tests.TestSpecifier.test_specifiers_invalid)]
        invalid = [text for text in invalid if text[0] in "<>=!~"]
        good = [text for text in valid if self.yanked(text) is not None] + [text for text in invalid if self.yanked(text) is None]
        self.wrong += [f"specifier {text}" for text in valid + invalid if text not in good]
        self.tell("valid and invalid specifiers", len(good), len(valid) + len(invalid))

    def versions(self, tests):
        """Versions of wheel names, each valid or not, and their order."""
        texts = [row if isinstance(row, str) else row[0] for row in parameters(tests.TestVersion.test_valid_versions)]
        bad = [row if isinstance(row, str) else row[0] for row in parameters(tests.TestVersion.test_invalid_versions)]
        usable = lambda text: "-" not in text and "/" not in text and not any(c.isspace() for c in text)
        asked = [text for text in texts + bad if usable(text)]
        right = 0
        for text in asked:
            path = self.work / f"demo-{text}-py3-none-any.whl"
            wheel(path, "demo", "1.0")
            done = self.run("wheel", "verify", path.name)
            path.unlink()
            is_refused = "bad-wheel-name" in done.stderr
            try:
                Version(text)
                expected = False
            except InvalidVersion:
                expected = True
            if is_refused == expected:
                right += 1
            else:
                self.wrong.append(f"version {text}: {done.stderr}")
        self.tell("valid and invalid versions", right, len(asked), f", {len(texts) + len(bad) - len(asked)} cannot be asked here")

    def tags(self):
        """Tags of grids, each against the tags that packaging lists for a machine."""
        manylinux = lambda arch, oldest: [f"manylinux_2_{minor}_{arch}" for minor in range(35, oldest - 1, -1)]
        musllinux = [f"musllinux_1_{minor}_x86_64" for minor in range(2, -1, -1)]
        pythons = ["cp31", "cp32", "cp39", "cp311", "cp312", "cp313", "cp3", "cp0312", "py2", "py3", "py312", "py313", "pp310", "py"]
        abis = ["cp312", "cp311", "cp312t", "cp312m", "abi3", "none", "pypy310_pp73", "abi4"]
        systems = ["any", "linux_x86_64", "linux_aarch64", "manylinux1_x86_64", "manylinux2014_x86_64", "manylinux_2_4_x86_64"]
        systems += ["manylinux_2_5_x86_64", "manylinux_2_28_x86_64", "manylinux_2_35_x86_64", "manylinux_2_36_x86_64"]
        systems += ["manylinux_02_28_x86_64", "manylinux_1_9_x86_64", "manylinux_2_28_aarch64", "musllinux_1_2_x86_64", "win_amd64"]
        self.grid(
            "tags for CPython 3.12 on x86_64 with glibc 2.35",
            ["--python", "3.12", "--platform", "linux_x86_64", "--glibc", "2.35"],
            ((3, 12), "cp312"),
            [*manylinux("x86_64", 5), "manylinux2014_x86_64", "manylinux2010_x86_64", "manylinux1_x86_64", "linux_x86_64"],
            (pythons, abis, systems),
        )
        pythons, abis = ["cp39", "cp312", "py3"], ["cp312", "abi3", "none"]
        systems = ["any", "linux_x86_64", "manylinux_2_17_x86_64", "musllinux_1_0_x86_64", "musllinux_1_2_x86_64"]
        systems += ["musllinux_1_3_x86_64", "musllinux_0_9_x86_64", "musllinux_01_2_x86_64", "musllinux_1_2_aarch64", "musllinux_2_0_x86_64"]
        self.grid(
            "tags for CPython 3.12 on x86_64 with musl 1.2",
            ["--python", "3.12", "--platform", "linux_x86_64", "--musl", "1.2"],
            ((3, 12), "cp312"),
            [*musllinux, "linux_x86_64"],
            (pythons, abis, systems),
        )
        systems = ["any", "linux_aarch64", "linux_x86_64", "manylinux1_aarch64", "manylinux2014_aarch64", "manylinux_2_5_aarch64"]
        systems += ["manylinux_2_16_aarch64", "manylinux_2_17_aarch64", "manylinux_2_35_aarch64", "manylinux_2_36_aarch64"]
        self.grid(
            "tags for CPython 3.12 on aarch64 with glibc 2.35",
            ["--python", "3.12", "--platform", "linux_aarch64", "--glibc", "2.35"],
            ((3, 12), "cp312"),
            [*manylinux("aarch64", 17), "manylinux2014_aarch64", "linux_aarch64"],
            (pythons, abis, systems),
        )
        self.grid(
            "tags for free-threaded CPython 3.13 on x86_64 with glibc 2.35",
            ["--python", "3.13t", "--platform", "linux_x86_64", "--glibc", "2.35"],
            ((3, 13), "cp313t"),
            [*manylinux("x86_64", 5), "linux_x86_64"],
            (
                ["cp312", "cp313", "cp314", "cp313t", "py3", "py313"],
                ["cp313", "cp313t", "cp313td", "cp312t", "abi3", "none"],
                ["any", "linux_x86_64", "manylinux_2_28_x86_64", "manylinux_2_36_x86_64"],
            ),
        )

    def grid(self, what, machine, python, platforms, axes):
        """Tags of a grid, against those for a Python, `((3, 13), "cp313t")`, on these platforms."""
        version, abi = python
        taken = {str(tag) for tag in cpython_tags(version, [abi], platforms)}
        taken |= {str(tag) for tag in compatible_tags(version, f"cp{version[0]}{version[1]}", platforms)}
        grid = ["-".join(tags) for tags in itertools.product(*axes)]
        right = 0
        for tag in grid:
            assets = [{"name": f"demo-1.0+rocm64-{tag}.whl", "size": 1}]
            (self.work / "listing.json").write_text(json.dumps([{"id": 1, "tag_name": "v1", "assets": assets}]))
            done = self.run("pick", "--published", "listing.json", "--only-given", *machine, "--format", "json")
            fits = json.loads(done.stdout)["wheel"] is not None
            if fits == (tag in taken):
                right += 1
            else:
                self.wrong.append(f"{what}: {tag}: packaging says {tag in taken}")
        self.tell(what, right, len(grid))

    def metadata(self, tests):
        """METADATA of packaging's tests, in a wheel that `wheel verify` reads."""
        documents, agreeing, explained, occurring = metadata_vectors.recorded(pathlib.Path(tests)), 0, 0, set()
        for content in documents:
            fields = metadata_vectors.invalid_fields(content)
            project, version = metadata_vectors.wheel_name(content)
            path = self.work / f"{project}-{version}-py3-none-any.whl"
            wheel(path, project, version, content)
            done = self.run("wheel", "verify", path.name)
            path.unlink()
            is_refused = done.returncode == 1 and "error[" in done.stderr
            if is_refused == bool(fields):
                agreeing += 1
            elif not is_refused and done.returncode == 0 and all(field in metadata_vectors.UNREAD for field in fields):
                explained += 1
                occurring.update(fields)
            else:
                self.wrong.append(f"METADATA {content!r}: packaging finds {fields or 'nothing'} invalid; ours: {done.stderr}")
        gone = metadata_vectors.UNREAD.keys() - occurring
        self.wrong += [f"METADATA: `{field}` is listed as different and is not" for field in sorted(gone)]
        self.tell("METADATA", agreeing, len(documents), f", {explained} are refused by packaging alone for a listed reason")


def main():
    parser = argparse.ArgumentParser()
    for name in ("rock", "tests", "work"):
        parser.add_argument(f"--{name}", required=True)
    arguments = parser.parse_args()
    sys.path.insert(0, arguments.tests)
    peers = Peers(arguments)
    peers.specifiers(importlib.import_module("tests.test_specifiers"))
    peers.versions(importlib.import_module("tests.test_version"))
    peers.tags()
    peers.metadata(arguments.tests)
    if peers.wrong:
        sys.exit("differs:\n" + "\n".join(peers.wrong))


main()
