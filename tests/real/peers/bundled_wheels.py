"""Compares `wheel show` and `wheel repair` with auditwheel on every wheel below a folder.

What may differ is read from the rows of docs/auditwheel.md that begin with `wheel` and the name of a file.
"""

import argparse
import concurrent.futures
import os
import pathlib

from auditwheel_cases import Case
from auditwheel_diff import compare, listed, report


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rock", required=True, type=pathlib.Path)
    parser.add_argument("--auditwheel", required=True, type=pathlib.Path)
    parser.add_argument("--differences", required=True, type=pathlib.Path)
    parser.add_argument("--work", required=True, type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    options = parser.parse_args()
    wheels = sorted(options.folder.rglob("*.whl"))
    if len(wheels) < 20:
        raise SystemExit(f"only {len(wheels)} wheels below {options.folder}")
    programs = (options.rock.resolve(), options.auditwheel)

    def one(wheel):
        return compare(Case(wheel.name), wheel, options.work / wheel.name, programs)

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        report(pool.map(one, wheels), listed(options.differences, "| wheel `"))


main()
