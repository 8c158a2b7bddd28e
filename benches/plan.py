#!/usr/bin/env python3
"""Plans beside Python and beside an empty program, in one run.

    python3 benches/plan.py [--binary target/dist/rock-matrix] [--rounds 21]

Prints four ratios, each the median over rounds that alternate the two sides:
  plan of 256 jobs beside Python expanding the same product with the same exclusions;
  the same beside an empty static Rust program;
  400 jobs of builds of torch, one for each of 20 families, 5 Pythons and 4 branches, beside that program;
  10 million raw cells to about a million legal jobs beside Python, with our peak memory.

Every plan runs in a directory of its own: in this repository, `plan` would read its tables instead of the shipped ones.
"""

import hashlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile

from matrices import alternate, arguments, empty_program, write_recipe

HERE = pathlib.Path(__file__).resolve().parent
PYTHONS = ["3.9", "3.10", "3.11", "3.12", "3.13", "3.14"]
ABSENT_PYTHONS = ["3.5", "3.6", "3.7", "3.8"]


def facts(binary, table):
    return json.loads(subprocess.run([binary, "compat", "list", table, "--format", "json"], check=True, capture_output=True).stdout)


def versions(count):
    return [f"{n // 1000}.{n // 10 % 100}.{n % 10}" for n in range(1000, 1000 + count)]


def plan_argv(binary, folder, matrix):
    return [binary, "plan", "--recipes", str(folder / "recipes"), str(matrix), "--format", "json"]


def write_matrix(folder, name, axes, torch, binary, in_one_run):
    """The matrix file for us, and for the peer the facts that a plan of its first version shows."""
    lines = ["version: 1", "distribution: bench", "recipe: bench", "gfx: [gfx90a, gfx942]", "axes:"]
    quoted = lambda axes: [f"  {axis}: [{', '.join(json.dumps(value) for value in values)}]" for axis, values in axes.items()]
    matrix = folder / f"{name}.yaml"
    matrix.write_text("\n".join(lines + quoted({**axes, "bench": axes["bench"][:1]})) + "\n")
    text = subprocess.run(plan_argv(binary, folder, matrix), cwd=folder, check=True, capture_output=True, text=True).stdout
    plan = json.loads(text)
    matrix.write_text("\n".join(lines + quoted(axes)) + "\n")
    computed = ["id", "matrix", "axes", "distribution", "version", "wheel", "label"]
    builds, words = {}, {}
    for job in plan["jobs"]:
        cell = job["axes"]
        tail = {key: value for key, value in job.items() if key not in computed}
        builds.setdefault(cell["torch"], {}).setdefault(cell["rocm"], {})[cell["python"]] = tail
    for row in plan["excluded"]:
        other = row["axes"]["rocm" if row["code"] == "P001" else "python"]
        said = {key: row[key] for key in ["reason", "hint", "source"]}
        words.setdefault(row["code"], {}).setdefault(row["axes"]["torch"], {})[other] = said
    minors = {version: torch[".".join(version.split(".")[:2])] for version in axes["torch"]}
    peer = {
        "distribution": "bench",
        "head": text[: text.index("\n{\"id\":")],
        "axes": axes,
        "torch": {version: {"rocm": row["rocm-index"], "python": row["python"]} for version, row in minors.items()},
        "builds": builds,
        "words": words,
        "most": plan["limits"]["jobs_per_matrix"],
        "in_one_run": in_one_run,
    }
    path = folder / f"{name}.json"
    path.write_text(json.dumps(peer))
    return plan_argv(binary, folder, matrix), [sys.executable, "-I", str(HERE / "expand.py"), str(path)]


FAMILIES = """gfx900 gfx906 gfx908 gfx90a gfx94X-dcgpu gfx950-dcgpu gfx101X-dgpu gfx1030 gfx1031 gfx1032 gfx1034 gfx1036
gfx110X-all gfx1150 gfx1151 gfx1152 gfx1153 gfx1200 gfx1201 gfx125X-dcgpu""".split()


def write_families(folder):
    """A matrix of a release type with one job a family, and the recipe that it names."""
    wheels = ["triton", "torchvision", "torchaudio", "apex"]
    recipe = ["recipe: 1", "name: families", "version-from: build", "axes: [torch-ref]", "wheels:"]
    recipe += [f"  - {{distribution: {name}, when: \"{{{{ platform == 'linux' }}}}\"}}" for name in wheels]
    recipe += ["steps:", "  - {stage: build, argv: [make]}", 'collect: {wheels: "dist/*.whl"}']
    (folder / "recipes" / "families.yaml").write_text("\n".join(recipe) + "\n")
    lines = ["version: 1", "distribution: torch", "recipe: families", "release-type: nightly", "test: {families: auto}"]
    matrix = folder / "families.yaml"
    matrix.write_text("\n".join([*lines, f"axes: {{gfx: [{', '.join(FAMILIES)}]}}"]) + "\n")
    return matrix


def rocms_of(torch, minors):
    """The ROCm versions that these minor versions of torch have wheels for, in order."""
    found = {rocm for minor in minors for rocm in torch[minor]["rocm-index"]}
    return sorted(found, key=lambda version: tuple(map(int, version.split("."))))


def digest(argv, folder):
    """SHA-256 and size of what a command writes, read as a stream."""
    hashed, size = hashlib.sha256(), 0
    with subprocess.Popen(argv, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        while block := process.stdout.read(1 << 20):
            hashed.update(block)
            size += len(block)
    if process.returncode != 0:
        raise SystemExit(f"{argv} ended with {process.returncode}")
    return hashed.hexdigest(), size


def same_bytes(ours, peer, folder):
    """How many bytes both sides write; ends the benchmark where they are not the same ones."""
    (left, size), (right, other) = digest(ours, folder), digest(peer, folder)
    if left != right:
        raise SystemExit(f"the two sides write different bytes: {size} and {other} of them")
    return size


def main():
    options = arguments(__doc__, 21)
    binary = options.binary
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        write_recipe(folder)
        torch = {row["torch"]: row for row in facts(binary, "torch")}
        in_one_run = next(row["value"] for row in facts(binary, "limits") if row["name"] == "job-artifacts")
        newest = {minor: row["patches"][-1] for minor, row in torch.items() if row["patches"]}
        minors = sorted(newest, key=lambda minor: tuple(map(int, minor.split("."))))
        recent = minors[-10:]
        rocms = rocms_of(torch, recent)
        empty = empty_program(folder)

        axes = {"bench": versions(3), "python": PYTHONS, "torch": [newest[m] for m in recent], "rocm": rocms}
        plan, peer = write_matrix(folder, "small", axes, torch, binary, in_one_run)
        size = same_bytes(plan, peer, folder)
        jobs = len(json.loads(subprocess.run(plan, cwd=folder, check=True, capture_output=True).stdout)["jobs"])
        ours, theirs = alternate(plan, peer, options.rounds, folder)
        print(f"plan of {jobs} jobs, the same {size} bytes: {ours * 1e3:.2f} ms, python3 {theirs * 1e3:.2f} ms: {theirs / ours:.1f} times faster (bar: 10)")
        ours, theirs = alternate(plan, [empty], options.rounds, folder)
        print(f"plan of {jobs} jobs: {ours * 1e3:.2f} ms, empty static program {theirs * 1e3:.2f} ms: {ours / theirs:.2f} times its time (bar: 5)")

        plan = plan_argv(binary, folder, write_families(folder))
        jobs = len(json.loads(subprocess.run(plan, cwd=folder, check=True, capture_output=True).stdout)["jobs"])
        ours, theirs = alternate(plan, [empty], options.rounds, folder)
        print(f"plan of {jobs} jobs, one a family: {ours * 1e3:.2f} ms, empty static program {theirs * 1e3:.2f} ms: {ours / theirs:.2f} times its time (bar: 10)")

        pythons = ABSENT_PYTHONS + PYTHONS
        # Tables are evaluated for at most 100,000 combinations of two axes, so each axis is as long as it can be.
        recent = minors[-12:]
        rocms = rocms_of(torch, recent)
        each = len(pythons) * len(recent) * len(rocms)
        axes = {"bench": versions(10_000_000 // each + 1), "python": pythons, "torch": [newest[m] for m in recent], "rocm": rocms}
        plan, peer = write_matrix(folder, "large", axes, torch, binary, in_one_run)
        size = same_bytes(plan, peer, folder)
        ours, theirs = alternate(plan, peer, 3, folder)
        peak = peak_mb(plan, folder)
        raw = each * len(axes["bench"])
        print(
            f"{raw} raw cells, the same {size} bytes: {ours:.2f} s, python3 {theirs:.2f} s: {theirs / ours:.1f} times faster (bar: 20); "
            f"peak memory {peak:.0f} MB (bar: 200)"
        )


def peak_mb(argv, folder):
    """Peak resident memory of one run, read from the kernel when it ends."""
    process = subprocess.Popen(argv, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, _, usage = os.wait4(process.pid, 0)
    return usage.ru_maxrss / 1024


main()
