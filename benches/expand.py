"""The peer of `rock-matrix plan --format json`: the same product, the same exclusions, the same bytes, by the standard
library.

Usage: python3 expand.py MATRIX.json

MATRIX.json holds the facts as this script needs them, so that it spends no time on finding them:
  head    what the document begins with, as text
  axes    distribution, python, torch and rocm, each with its values
  torch   torch version -> {"rocm": [...], "python": [...]}
  builds  torch version -> ROCm -> Python -> what a job of them ends with (image, runner, warnings, ...)
  words   code -> torch version -> the other value -> reason, hint and source of what is left out
  most    how many jobs a shard holds
  in_one_run  how many jobs one workflow holds
"""

import collections
import itertools
import json
import sys


def main() -> None:
    with open(sys.argv[1], encoding="utf-8") as file:
        matrix = json.load(file)
    names = list(matrix["axes"])
    distribution = matrix["distribution"]
    file_form = distribution.replace("-", "_")
    facts = {torch: (frozenset(row["rocm"]), frozenset(row["python"])) for torch, row in matrix["torch"].items()}
    builds = matrix["builds"]
    excluded = collections.Counter()
    numbers = set()
    wheels = set()
    cells = []
    for values in itertools.product(*matrix["axes"].values()):
        version, python, torch, rocm = values
        rocms, pythons = facts[torch]
        if rocm not in rocms:
            excluded["P001", torch, rocm] += 1
            continue
        if python not in pythons:
            excluded["P002", torch, python] += 1
            continue
        number = ".".join(rocm.split(".")[:2])
        if not any(int(part) > 9 for part in number.split(".")):
            number = number.replace(".", "")
        numbers.add(number)
        label = f"rocm{number}torch{'.'.join(torch.split('.')[:2])}"
        tag = "cp" + python.replace(".", "")
        wheel = f"{file_form}-{version}+{label}-{tag}-{tag}-linux_x86_64.whl"
        if wheel in wheels:
            raise SystemExit(f"two jobs would make {wheel}")
        wheels.add(wheel)
        cells.append((values, wheel, label))

    write = sys.stdout.write
    dump = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
    write(matrix["head"])
    for number, (values, wheel, label) in enumerate(cells):
        version, python, torch, rocm = values
        job = {
            "id": f"{distribution}-{version}-rocm{rocm}-torch{torch}-py{python}",
            "matrix": 0,
            "axes": dict(zip(names, values)),
            "distribution": distribution,
            "version": version,
            "wheel": wheel,
            "label": label,
            **builds[torch][rocm][python],
        }
        write(",\n" if number else "\n")
        write(dump(job))
    rows = []
    for (code, torch, value), count in excluded.items():
        axes = {"torch": torch, "rocm": value} if code == "P001" else {"python": value, "torch": torch}
        rows.append({"matrix": 0, "axes": axes, "count": count, "code": code, **matrix["words"][code][torch][value]})
    rows.sort(key=lambda row: (row["code"], [(axis, *map(int, value.split("."))) for axis, value in row["axes"].items()]))
    most = matrix["most"]
    shards = [{"first": first, "count": min(most, len(cells) - first)} for first in range(0, len(cells), most)]
    notes = []
    if len(shards) > 1:
        in_one_run = matrix["in_one_run"]
        fits = len(cells) <= in_one_run
        notes.append(
            f"{len(cells)} jobs make {len(shards)} matrices of at most {most}; a rendered workflow has "
            + (f"them in one run, up to {in_one_run} jobs" if fits else f"up to {in_one_run} jobs, so render several with fewer matrix files each")
        )
    dotted, compact = sorted(n for n in numbers if "." in n), sorted(n for n in numbers if "." not in n)
    if dotted and compact:
        notes.append(
            f"`rocm{dotted[0]}` has dots because `rocm{dotted[0].replace('.', '')}` could be another version, unlike `rocm{compact[0]}`; "
            "`label-style: dotted` gives all labels dots"
        )
    write(f'],\n"excluded":{dump(rows)},\n"covered":[],\n"published":[],\n"not_failed":[],\n"shards":{dump(shards)},\n')
    write(f'"limits":{dump({"jobs_per_matrix": most})},\n"notes":{dump(notes)}}}\n')


main()
