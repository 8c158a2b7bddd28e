"""Links libraries with zig, and compares what `wheel show` and `wheel repair` read of them with pyelftools and auditwheel."""

import argparse
import functools
import json
import pathlib
import subprocess

from auditwheel_cases import INIT, Case, write_wheel
from auditwheel_diff import compare, in_processes, report
from elftools.elf.elffile import ELFFile

# Zig's targets by the CPU in platform tags.
TARGETS = {
    "x86_64": "x86_64-linux-gnu",
    "aarch64": "aarch64-linux-gnu",
    "i686": "x86-linux-gnu",
    "armv7l": "arm-linux-gnueabihf",
    "ppc64le": "powerpc64le-linux-gnu",
    "s390x": "s390x-linux-gnu",
    "riscv64": "riscv64-linux-gnu",
}
# Zig offers the symbols of this glibc; a library needs the versions that its functions had first.
GLIBC = "2.34"
HASH_STYLES = ["gnu", "sysv", "both"]
MODULE = "void *volatile kept; int PyInit_ext(void) {{ {uses} return 0; }}"
# It defines nothing for others, so that GNU's hash table lists no symbol.
PLUGIN = "static void *volatile kept; __attribute__((constructor)) static void start(void) {{ {uses} }}"
# The source and its functions: of the oldest glibc, of 2.25, of 2.34, and one that is no part of zlib's interface.
LIBRARIES = {
    "old": (MODULE, ["malloc"]),
    "threads": (MODULE, ["malloc", "getrandom", "pthread_create"]),
    "plugin": (PLUGIN, ["malloc", "getrandom", "_tr_align"]),
}


def run(*command, **options):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, **options)
    if done.returncode != 0:
        raise RuntimeError(f"{command}: {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


class Linker:
    def __init__(self, zig, folder):
        self.zig, self.folder = zig, folder
        folder.mkdir(parents=True)

    def link(self, cpu, source, target, *flags):
        run(self.zig, "cc", "-target", f"{TARGETS[cpu]}.{GLIBC}", "-shared", "-fPIC", "-O1", "-w", "-o", target, source, *flags)

    def prepare(self, cpu):
        """Links a stub of zlib with a function that is no part of its interface."""
        source = self.folder / f"{cpu}-zlib.c"
        source.write_text("int _tr_align(void) { return 1; }")
        self.link(cpu, source, self.folder / f"{cpu}-libz.so.1", "-nostdlib", "-Wl,-soname,libz.so.1")

    def library(self, cpu, name, style):
        form, used = LIBRARIES[name]
        declared = "".join(f"extern char {one}[]; " for one in used)
        source = self.folder / f"{cpu}-{name}-{style}.c"
        source.write_text(declared + form.format(uses=" ".join(f"kept = (void *){one};" for one in used)))
        more = [self.folder / f"{cpu}-libz.so.1"] if "_tr_align" in used else []
        target = source.with_suffix(".so")
        self.link(cpu, source, target, f"-Wl,--hash-style={style}", "-fno-builtin", *more)
        return target


def read(path):
    """Reads needed libraries, the greatest needed version of each kind, and hash tables with pyelftools."""
    with path.open("rb") as file:
        elf = ELFFile(file)
        tags = [tag for tag in elf.get_section_by_name(".dynamic").iter_tags()]
        needed = [tag.needed for tag in tags if tag.entry.d_tag == "DT_NEEDED"]
        greatest = {}
        versions = elf.get_section_by_name(".gnu.version_r")
        for _, auxiliary in versions.iter_versions() if versions else []:
            for one in auxiliary:
                kind, _, number = one.name.rpartition("_")
                parts = tuple(int(part) for part in number.split("."))
                greatest[kind] = max(greatest.get(kind, ()), parts)
        tables = {tag.entry.d_tag for tag in tags} & {"DT_HASH", "DT_GNU_HASH"}
        section = elf.get_section_by_name(".hash")
        symbols = [symbol for symbol in elf.get_section_by_name(".dynsym").iter_symbols() if symbol.name]
        exports = [symbol.name for symbol in symbols if symbol["st_shndx"] != "SHN_UNDEF"]
    numbers = {kind: ".".join(map(str, parts)) for kind, parts in greatest.items()}
    return {"needed": needed, "max_versions": numbers}, tables, section and section["sh_entsize"], exports


def check(rock, path, wheel, style, form):
    """Returns how `wheel show` differs from pyelftools, and what is wrong with the library itself."""
    expected, tables, word_bytes, exports = read(path)
    wanted = {"gnu": {"DT_GNU_HASH"}, "sysv": {"DT_HASH"}, "both": {"DT_HASH", "DT_GNU_HASH"}}[style]
    # lld's words have 4 bytes for every CPU, which is what this is about.
    if tables != wanted or word_bytes not in (None, 4) or bool(exports) != (form is MODULE):
        yield f"the linker made another library: {tables}, words of {word_bytes} bytes, {exports}"
    shown = json.loads(run(rock, "wheel", "show", "--json", wheel))["rock"]
    (elf,) = shown["elf"].values()
    for key, value in expected.items():
        if elf[key] != value:
            yield f"{key}: ours {elf[key]}, pyelftools' {value}"
    damaged = [finding for finding in shown["findings"] if finding["code"] == "E001"]
    if damaged:
        yield f"it is damaged: {damaged}"


def compare_linked(linker, work, rock, job):
    """Links a library, and compares what is read of it and what is made of its wheel."""
    cpu, name, style = job
    path = linker.library(*job)
    place = work / "-".join(job)
    place.mkdir()
    case = Case(place.name, tag=f"cp311-cp311-linux_{cpu}", repairs=style == "both")
    wheel = write_wheel(place, case, {**{member: text.encode() for member, text in INIT.items()}, "case/ext.so": path.read_bytes()})
    _, found, fault = compare(case, wheel, place, rock)
    faults = [fault] if fault else []
    return case.name, found, "\n".join([*faults, *check(rock, path, wheel, style, LIBRARIES[name][0])])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("rock", "zig", "work"):
        parser.add_argument(f"--{name}", required=True, type=pathlib.Path)
    options = parser.parse_args()
    work, rock = options.work.resolve(), options.rock.resolve()
    linker = Linker(options.zig, work / "linked")
    jobs = [(cpu, name, style) for cpu in TARGETS for name in LIBRARIES for style in HASH_STYLES]

    in_processes(linker.prepare, list(TARGETS))
    report(in_processes(functools.partial(compare_linked, linker, work, rock), jobs), {})


main()
