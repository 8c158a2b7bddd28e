"""The peer of `rock-matrix plan --format json`: the same product, the same exclusions, the same bytes, by the standard
library.

Usage: python3 expand.py MATRIX.json

MATRIX.json holds `axes` (distribution, python, torch, rocm), `torch` (minor -> {"rocm": [...], "python": [...]}) and
`tail`, the text that every job ends with. Jobs go to standard output in the form of the plan, one a line.
"""

import itertools
import json
import sys


def main() -> None:
    with open(sys.argv[1], encoding="utf-8") as file:
        matrix = json.load(file)
    names = list(matrix["axes"])
    distribution = matrix["distribution"]
    file_form = distribution.replace("-", "_")
    facts = {
        torch: (frozenset(row["rocm"]), frozenset(row["python"])) for torch, row in matrix["torch"].items()
    }
    tail = matrix["tail"]
    write = sys.stdout.write
    dumps = json.dumps
    seen = set()
    jobs = []
    for values in itertools.product(*matrix["axes"].values()):
        version, python, torch, rocm = values
        minor = ".".join(torch.split(".")[:2])
        rocms, pythons = facts[minor]
        if rocm not in rocms or python not in pythons:
            continue
        dotted = any(int(part) > 9 for part in rocm.split("."))
        number = ".".join(rocm.split(".")[:2])
        label = f"rocm{number if dotted else number.replace('.', '')}torch{minor}"
        tag = "cp" + python.replace(".", "")
        wheel = f"{file_form}-{version}+{label}-{tag}-{tag}-linux_x86_64.whl"
        if wheel in seen:
            raise SystemExit(f"two jobs would make {wheel}")
        seen.add(wheel)
        job = {
            "id": f"{distribution}-{version}-rocm{rocm}-torch{torch}-py{python}",
            "matrix": 0,
            "axes": dict(zip(names, values)),
            "distribution": distribution,
            "version": version,
            "wheel": wheel,
            "label": label,
            **tail,
        }
        jobs.append(job)
    write('{"version":1,\n"jobs":[')
    for number, job in enumerate(jobs):
        write(",\n" if number else "\n")
        write(dumps(job, separators=(",", ":")))
    write("]}\n")


main()
