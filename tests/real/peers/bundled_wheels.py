"""Compares `wheel show` and `wheel repair` with auditwheel on every wheel below a folder.

What may differ is read from the rows of docs/auditwheel.md that begin with `wheel` and the name of a file.
"""

import argparse
import functools
import pathlib

from auditwheel_cases import Case
from auditwheel_diff import compare, in_processes, listed, report


def compare_bundled(work, rock, wheel):
    place = work / wheel.name
    place.mkdir(exist_ok=True)
    return compare(Case(wheel.name), wheel, place, rock)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rock", required=True, type=pathlib.Path)
    parser.add_argument("--differences", required=True, type=pathlib.Path)
    parser.add_argument("--work", required=True, type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    options = parser.parse_args()
    wheels = sorted(options.folder.rglob("*.whl"))
    if len(wheels) < 20:
        raise SystemExit(f"only {len(wheels)} wheels below {options.folder}")
    outcomes = in_processes(functools.partial(compare_bundled, options.work, options.rock.resolve()), wheels)
    report(outcomes, listed(options.differences, "| wheel `"))


main()
