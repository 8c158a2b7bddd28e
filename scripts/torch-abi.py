#!/usr/bin/env python3
"""Makes matrices/compat/torch-abi.yaml: exported symbols that tell torch minors apart.

  scripts/torch-abi.py exports torch-2.8.0-*.whl > exports/2.8.0-x86_64.tsv     one file a wheel, any number a minor
  scripts/torch-abi.py needs torchvision-*.whl extension.o names.txt > needs.txt
  scripts/torch-abi.py table --checked 2026-11-21 --needs needs.txt exports/*.tsv > matrices/compat/torch-abi.yaml

`exports` lists what the libraries in a torch wheel export, `needs` what extensions leave undefined (wheels, libraries,
object files, or plain lists of names). `table` keeps the needs that some minors export and others do not. Names of
export files begin with the torch version. Needs nm and c++filt.

A minor has a symbol when any of its wheels has it, so that a row holds for every build of that minor. Where a name
holds std::string, the two spellings of that (before and since the cxx11 ABI) count as one symbol for the spelling of
today; the older spelling ends with the last minor that was published with it. A row keeps the shortest names: those are
of what most extensions use, and a table of thousands would say no more. Symbols of libc10_cuda also stand for
those that the same sources give libc10_hip.
"""

import argparse
import collections
import io
import os
import re
import subprocess
import sys
import tempfile
import zipfile

# Names that a row keeps.
MOST = 30
LIBRARIES = ("libc10.so", "libc10_cuda.so", "libc10_hip.so", "libtorch.so", "libtorch_cpu.so", "libtorch_python.so")
OURS = re.compile(r"^(_ZN?[A-Z]*\d*.*?(2at|3c10|5torch)|_Z\d+THP|THP|aoti_torch_|torch_)")
FOREIGN = re.compile(r"^_ZN?K?(St|S[absiod]|9__gnu_cxx)")
STRING = re.compile(r"std::(__cxx11::)?basic_string<char, std::char_traits<char>, std::allocator<char> ?>")
HEAD = """\
# C++ symbols that some torch minors export and others do not, for telling which torch a built extension fits.
# Made by `scripts/torch-abi.py`, which says how to make it anew. `since` is the first minor that has the symbols, `until`
# the last; without `until` the newest one that was read still has them.
# `torch-abi-read` lists the wheels that were read.
"""


def symbols(path, which):
    shown = subprocess.run(["nm", *which, path], capture_output=True, text=True).stdout
    return {line.split()[-1].split("@")[0] for line in shown.splitlines() if line.split()}


def members(wheel, is_wanted):
    """Base name and path of an unpacked copy, one member at a time."""
    with zipfile.ZipFile(wheel) as archive:
        for member in archive.namelist():
            if is_wanted(member):
                with tempfile.NamedTemporaryFile(suffix=".so") as copy:
                    with archive.open(member) as source:
                        while chunk := source.read(1 << 20):
                            copy.write(chunk)
                    copy.flush()
                    yield os.path.basename(member), copy.name


def exports(arguments):
    def is_wanted(member):
        return member.startswith("torch/lib/") and os.path.basename(member) in LIBRARIES

    for library, path in members(arguments.wheel, is_wanted):
        for symbol in sorted(symbols(path, ["-D", "--defined-only"])):
            print(library, symbol, sep="\t")


def needs(arguments):
    found = set()
    for path in arguments.files:
        if path.endswith(".whl"):
            for _, library in members(path, lambda member: member.endswith(".so")):
                found |= symbols(library, ["-D", "--undefined-only"])
        elif path.endswith(".txt"):
            with open(path) as names:
                found |= {line.strip() for line in names if line.strip() and not line.startswith("#")}
        else:
            found |= symbols(path, ["-u"] if path.endswith(".o") else ["-D", "--undefined-only"])
    print("\n".join(sorted(name for name in found if OURS.match(name) and not FOREIGN.match(name))))


def demangled(names):
    shown = subprocess.run(["c++filt"], input="\n".join(names), capture_output=True, text=True).stdout.split("\n")
    return dict(zip(names, shown))


def in_hip(symbol):
    """The name that the same source has in a ROCm build: every identifier in it with HIP for CUDA."""
    out, at = "", 0
    while at < len(symbol):
        length = re.match(r"\d+", symbol[at:])
        if length and symbol[at + len(length[0]) : at + len(length[0]) + int(length[0])].isidentifier():
            at += len(length[0])
            word = symbol[at : at + int(length[0])]
            at += len(word)
            word = word.replace("CUDA", "HIP").replace("cuda", "hip")
            out += f"{len(word)}{word}"
        else:
            out += symbol[at]
            at += 1
    return out


def table(arguments):
    number = lambda version: tuple(int(part) for part in version.split("."))
    wheels, libraries = collections.defaultdict(list), {}
    exported = collections.defaultdict(set)
    with open(arguments.needs) as names:
        wanted = [line.strip() for line in names]
    every = set()
    for path in sorted(arguments.exports):
        name = os.path.basename(path).removesuffix(".tsv")
        minor = ".".join(name.split("-")[0].split(".")[:2])
        wheels[minor].append(name.replace("-", " "))
        with open(path) as rows:
            for row in rows:
                library, symbol = row.rstrip("\n").split("\t")
                exported[minor].add(symbol)
                libraries[symbol] = library
    minors = sorted(wheels, key=number)
    # What a name is called whichever way it spells std::string.
    plain = {}
    with_strings = {s for s in libraries if "__cxx11" in s or "B5cxx11" in s or "Ss" in s}
    # What returns a string is tagged today and was not before.
    with_strings |= {s.replace("B5cxx11", "") for s in with_strings} & libraries.keys()
    for symbol, text in demangled(sorted(with_strings)).items():
        plain[symbol] = STRING.sub("std::string", text).replace("[abi:cxx11]", "")
    spelled = {minor: {plain[s] for s in exported[minor] if s in plain} for minor in minors}

    rows = collections.defaultdict(set)
    for symbol in sorted(set(wanted) & libraries.keys()):
        is_today = symbol in plain and ("__cxx11" in symbol or "B5cxx11" in symbol)
        has = [m for m in minors if symbol in exported[m] or (is_today and plain[symbol] in spelled[m])]
        first, last = minors.index(has[0]), minors.index(has[-1])
        is_whole = has == minors[first : last + 1]
        if len(has) < len(minors) and is_whole:
            until = "" if has[-1] == minors[-1] else has[-1]
            rows[libraries[symbol], has[0], until].add(symbol)
            if libraries[symbol] == "libc10_cuda.so":
                rows["libc10_hip.so", has[0], until].add(in_hip(symbol))

    out = io.StringIO()
    out.write(HEAD + "torch-abi-read:\n")
    day = arguments.checked
    for minor in minors:
        listed = ", ".join(f'"{name}"' for name in wheels[minor])
        out.write(f'  - {{torch: "{minor}", wheels: [{listed}], ')
        out.write(f"origin: {{status: verified, source: pypi, ref: torch, checked: {day}}}}}\n")
    out.write("torch-abi:\n")
    by_range = lambda row: (row[0][0], number(row[0][1]), number(row[0][2] or "999"))
    for (library, since, until), of_row in sorted(rows.items(), key=by_range):
        out.write(f'  - library: {library}\n    since: "{since}"\n')
        if until:
            out.write(f'    until: "{until}"\n')
        kept = sorted(sorted(of_row, key=lambda symbol: (len(symbol), symbol))[:MOST])
        out.write("    symbols:\n" + "".join(f"      - {symbol}\n" for symbol in kept))
        if library == "libc10_hip.so":
            note = "the names that the sources of libc10_cuda.so have in a ROCm build"
            origin = f"status: inferred, source: pypi, ref: torch, checked: {day}, note: {note}"
        else:
            origin = f"status: verified, source: pypi, ref: torch, checked: {day}"
        out.write(f"    origin: {{{origin}}}\n")
    sys.stdout.write(out.getvalue())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    command = commands.add_parser("exports")
    command.add_argument("wheel")
    command.set_defaults(run=exports)
    command = commands.add_parser("needs")
    command.add_argument("files", nargs="+")
    command.set_defaults(run=needs)
    command = commands.add_parser("table")
    command.add_argument("--checked", required=True)
    command.add_argument("--needs", required=True)
    command.add_argument("exports", nargs="+")
    command.set_defaults(run=table)
    arguments = parser.parse_args()
    arguments.run(arguments)


if __name__ == "__main__":
    main()
