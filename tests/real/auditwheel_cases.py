"""Wheels made with gcc, each for one thing that auditwheel decides."""

import base64
import dataclasses
import hashlib
import struct
import subprocess
import zipfile

from auditwheel_elf import MACHINES, Foreign, of_glibc, of_musl

STEM = "case-1.0"
MODULE = r"""
#include <Python.h>
%(before)s
static PyObject *answer(PyObject *self, PyObject *none) { return PyLong_FromLong(%(answer)s); }
static PyMethodDef methods[] = {{"answer", answer, METH_NOARGS, 0}, {0}};
static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "%(name)s", 0, -1, methods};
PyMODINIT_FUNC PyInit_%(name)s(void) { return PyModule_Create(&definition); }
"""


@dataclasses.dataclass
class Part:
    """A file that gcc makes: `source` is C, or C++ where `compiler` is g++."""

    source: str
    flags: tuple = ()
    compiler: str = "gcc"
    soname: str = ""
    # The file that the SONAME is a link to, where it is one.
    real: str = ""
    program: bool = False


def module(name, answer="42", before="", flags=(), compiler="gcc"):
    """An extension module with a function that must answer 42."""
    return Part(MODULE % {"name": name, "answer": answer, "before": before}, tuple(flags), compiler)


def library(soname, source, *flags):
    return Part(source, tuple(flags), soname=soname)


def reaching(symbol):
    """What a module needs for a reference to a symbol of a system library, as a declaration and an answer."""
    return f'extern char target[] __asm__("{symbol}"); static char *volatile reached = target;', "reached ? 42 : 0"


@dataclasses.dataclass
class Case:
    """A wheel, and what is done with it."""

    name: str
    # Members of the wheel: parts, bytes, or texts.
    files: dict = dataclasses.field(default_factory=dict)
    # Files beside the wheel, in the folder `{outside}`; made first, so that members can be linked with them.
    outside: dict = dataclasses.field(default_factory=dict)
    tag: str = "cp311-cp311-linux_x86_64"
    environment: dict = dataclasses.field(default_factory=dict)
    # Options of both commands, of `repair` alone, and of ours alone.
    options: tuple = ()
    repair_options: tuple = ()
    our_repair_options: tuple = ()
    repairs: bool = True
    # Python statements that must end well with the repaired wheel.
    works: tuple = ()
    # They run in an environment of their own: programs find the installation that they are part of.
    in_environment: bool = False
    # What is outside is still there then.
    keeps_outside: bool = False
    # Members that RECORD does not list.
    unlisted: tuple = ()


# Not LD_LIBRARY_PATH: Python itself would load what only has the name of a system library.
OUTSIDE = {"AUDITWHEEL_LD_LIBRARY_PATH": "{outside}"}
WORKS = ("from case import ext; assert ext.answer() == 42",)
SUFFIX = ".cpython-311-x86_64-linux-gnu.so"
EXT = f"case/ext{SUFFIX}"
INIT = {"case/__init__.py": ""}


def simple(name, part, **more):
    return Case(name, files={**INIT, EXT: part}, works=more.pop("works", WORKS), **more)


# Functions of glibc, by the version that a program linked with glibc 2.36 needs of them.
LADDER = ["malloc", "quick_exit", "memcpy", "secure_getenv", "__cxa_thread_atexit_impl", "getrandom", "reallocarray",
          "glob64", "fcntl64", "gettid", "__libc_single_threaded", "mallinfo2", "pthread_create", "epoll_pwait2", "arc4random"]
LADDER_MATH = ["logf", "exp", "fmaximum"]
CXX = {
    "string": "#include <string>\nstatic int run() { std::string text(\"x\"); for (int at = 0; at < 41; at++) text += 'y'; return text.size(); }",
    "filesystem": "#include <filesystem>\nstatic int run() { return std::filesystem::current_path().empty() ? 0 : 42; }",
    "to-chars": "#include <charconv>\nstatic int run() { char text[64]; double volatile x = 1.5; std::to_chars(text, text + 64, (double)x); return text[0] == '1' ? 42 : 0; }",
    "entropy": "#include <random>\nstatic int run() { return std::random_device().entropy() < 0 ? 0 : 42; }",
    "thread": "#include <thread>\nstatic int run() { int found = 0; std::thread one([&] { found = 42; }); one.join(); return found; }",
    "throw": "static int run() { try { throw 42; } catch (int found) { return found; } }",
}


def cxx(source, *flags):
    text = MODULE % {"name": "ext", "answer": "run()", "before": source}
    return Part(text.replace("{0}}", "{nullptr}}"), flags, "g++")


def from_outside(answer="foo()"):
    return module("ext", answer, "extern int foo(void);", ["-L{outside}", "-lfoo", "-Wl,--allow-shlib-undefined"])


FOO = library("libfoo.so.1", "int foo(void) { return 42; }")
# Its functions carry versions, so that renaming it must rename the versions' library too.
VERSIONED = Part("int foo(void) { return 42; }", ("-Wl,--version-script={here}/foo.map",), soname="libfoo.so.1")
MAP = "FOO_1.0 { global: foo; local: *; };"


def cases():
    """All of them."""
    return [*system_libraries(), *own_libraries(), *programs(), *pythons(), *odd_files(), *names_and_paths(), *machines(), *suite()]


def system_libraries():
    for symbol in LADDER:
        before, answer = reaching(symbol)
        yield simple(f"glibc-{symbol.strip('_').replace('_', '-')}", module("ext", answer, before, ["-fno-builtin"]))
    for symbol in LADDER_MATH:
        before, answer = reaching(symbol)
        yield simple(f"libm-{symbol}", module("ext", answer, before, ["-fno-builtin", "-lm"]))
    for name, source in CXX.items():
        yield simple(f"cxx-{name}", cxx(source))
    yield simple("cxx-static", cxx(CXX["throw"], "-static-libstdc++", "-static-libgcc"))
    before, answer = reaching("_ZGVbN2v_sin")
    yield simple("libmvec", module("ext", answer, before, ["-lmvec", "-lm"]))
    yield simple("packed-relocations", module("ext", flags=["-Wl,-z,pack-relative-relocs"]))
    yield simple("gomp", module("ext", "omp_get_max_threads() > 0 ? 42 : 0", "#include <omp.h>", ["-fopenmp"]))
    yield simple("quadmath", module("ext", "(long)sqrtq(1764)", "#include <quadmath.h>", ["-lquadmath"]))
    before, answer = reaching("inflateReset2")
    yield simple("zlib", module("ext", answer, before, ["-l:libz.so.1"]))
    before, answer = reaching("inflateValidate")
    yield simple("zlib-new", module("ext", answer, before, ["-l:libz.so.1"]))
    private = library("libz.so.1", "int _tr_align(void) { return 42; } int inflate(void) { return 42; }")
    for name, symbol, how in [("zlib-private", "_tr_align", ""), ("zlib-weak", "_tr_align", "__attribute__((weak))"), ("zlib-public", "inflate", "")]:
        part = module("ext", f"{symbol}()", f"extern int {symbol}(void) {how};", ["-L{outside}", "-l:libz.so.1"])
        yield simple(name, part, outside={"libz.so.1": private}, works=())
    # GNU ld's hash table does not say how many symbols there are where none is exported.
    start = "extern int _tr_align(void); static int x; __attribute__((constructor)) static void start(void) { x = _tr_align(); }"
    part = Part(start, ("-fvisibility=hidden", "-Wl,--hash-style=gnu", "-L{outside}", "-l:libz.so.1"))
    yield Case("zlib-private-without-exports", {**INIT, "case/plugin.so": part}, outside={"libz.so.1": private})
    for name, how in [("blacklisted", ""), ("blacklisted-weak", "__attribute__((weak))")]:
        symbol = "__cxa_thread_atexit_impl"
        stub = library("libc.so.6", f"int {symbol}(void) {{ return 42; }}", "-nostdlib")
        part = module("ext", f"{symbol} ? 42 : 0", f"extern int {symbol}(void) {how};", ["-nostdlib", "-L{outside}", "-l:libc.so.6"])
        yield simple(name, part, outside={"libc.so.6": stub}, works=())
    for soname in ["libX11.so.6", "libexpat.so.1", "libatomic.so.1", "libGL.so.1", "libcrypt.so.1", "libglib-2.0.so.0"]:
        part = module("ext", "stub()", "extern int stub(void);", ["-L{outside}", f"-l:{soname}"])
        stub = library(soname, "int stub(void) { return 42; }")
        yield simple(f"needs-{soname.split('.')[0].lower()}", part, outside={soname: stub}, environment=OUTSIDE, works=())


def own_libraries():
    yield simple("grafted", from_outside(), outside={"libfoo.so": FOO}, environment={"LD_LIBRARY_PATH": "{outside}/as"})
    yield simple("grafted-versioned", from_outside(), outside={"foo.map": MAP, "libfoo.so": VERSIONED}, environment={"LD_LIBRARY_PATH": "{outside}/as"})
    yield simple("grafted-own-variable", from_outside(), outside={"libfoo.so": FOO}, environment={"AUDITWHEEL_LD_LIBRARY_PATH": "{outside}/as"})
    yield simple("grafted-ldpaths", from_outside(), outside={"libfoo.so": FOO}, options=("--ldpaths", "{outside}/as"))
    yield simple("grafted-by-rpath", dataclasses.replace(from_outside(), flags=("-L{outside}", "-lfoo", "-Wl,--disable-new-dtags,-rpath,{outside}/as")), outside={"libfoo.so": FOO})
    yield simple("grafted-by-runpath", dataclasses.replace(from_outside(), flags=("-L{outside}", "-lfoo", "-Wl,--enable-new-dtags,-rpath,{outside}/as")), outside={"libfoo.so": FOO})
    before, answer = reaching("arc4random")
    newer = library("libfoo.so.1", f"{before} int foo(void) {{ return {answer}; }}")
    yield simple("grafted-newer", from_outside(), outside={"libfoo.so": newer}, environment={"LD_LIBRARY_PATH": "{outside}/as"})
    bar = library("libbar.so.2", "int bar(void) { return 41; }")
    chain = library("libfoo.so.1", "extern int bar(void); int foo(void) { return bar() + 1; }", "-L{outside}", "-lbar")
    yield simple("grafted-chain", from_outside(), outside={"libbar.so": bar, "libfoo.so": chain}, environment={"LD_LIBRARY_PATH": "{outside}/as"})
    as_installed = {"LD_LIBRARY_PATH": "{outside}/as"}
    linked = dataclasses.replace(FOO, real="libfoo.so.1.2.3")
    yield simple("grafted-link", from_outside(), outside={"libfoo.so": linked}, environment=as_installed)
    part = module("ext", "foo() + bar() - 41", "extern int foo(void), bar(void);", ["-L{outside}", "-lfoo", "-lbar", "-Wl,--disable-new-dtags,-rpath,$ORIGIN/libs"])
    yield Case("grafted-keeps-rpath", {**INIT, EXT: part, "case/libs/libbar.so.2": bar}, outside={"libbar.so": bar, "libfoo.so": FOO}, environment=as_installed, works=WORKS)
    yield simple("grafted-two", part, outside={"libbar.so": bar, "libfoo.so": FOO}, environment=as_installed)
    program = Part("extern int foo(void); int main(void) { return foo(); }", ("-L{outside}", "-lfoo"), program=True)
    yield Case("grafted-program", {**INIT, "case/bin/run": program}, outside={"libfoo.so": FOO}, environment=as_installed, tag="py2.py3-none-linux_x86_64", works=("import subprocess; assert subprocess.run(['{site}/case/bin/run']).returncode == 42",))
    yield simple("excluded-all", from_outside(), outside={"libfoo.so": FOO}, environment=as_installed, repair_options=("--exclude", "*"), works=())
    yield simple("missing", from_outside(), outside={"libfoo.so": FOO}, works=())
    yield simple("excluded", from_outside(), outside={"libfoo.so": FOO}, environment={"LD_LIBRARY_PATH": "{outside}/as"}, repair_options=("--exclude", "libfoo.so.?"), keeps_outside=True, works=())
    yield simple("excluded-missing", from_outside(), outside={"libfoo.so": FOO}, repair_options=("--exclude", "libf*"), works=())
    yield simple("excluded-by-path", from_outside(), outside={"libfoo.so": FOO}, environment={"LD_LIBRARY_PATH": "{outside}/as"}, repair_options=("--exclude", "*/outside/*"), works=())
    yield simple("excluded-inner", from_outside(), outside={"libbar.so": bar, "libfoo.so": chain}, environment={"LD_LIBRARY_PATH": "{outside}/as"}, repair_options=("--exclude", "libbar.so.2"), works=())
    inner = ["-L{outside}", "-lfoo"]
    for name, flag in [("internal-rpath", "--disable-new-dtags"), ("internal-runpath", "--enable-new-dtags")]:
        part = module("ext", "foo()", "extern int foo(void);", [*inner, f"-Wl,{flag},-rpath,$ORIGIN/libs"])
        yield Case(name, {**INIT, EXT: part, "case/libs/libfoo.so.1": FOO}, outside={"libfoo.so": FOO}, works=WORKS)
    part = module("ext", "foo()", "extern int foo(void);", inner)
    yield Case("internal-unreached", {**INIT, EXT: part, "case/libs/libfoo.so.1": FOO}, outside={"libfoo.so": FOO})
    # A library of the wheel that finds its own need only through who loads it.
    part = module("ext", "foo()", "extern int foo(void);", [*inner, "-lbar", "-Wl,--no-as-needed,--disable-new-dtags,-rpath,$ORIGIN/libs"])
    yield Case("internal-chain", {**INIT, EXT: part, "case/libs/libfoo.so.1": chain, "case/libs/libbar.so.2": bar}, outside={"libbar.so": bar, "libfoo.so": chain}, works=WORKS)
    yield Case("two-packages", {**INIT, EXT: from_outside(), "other/__init__.py": "", f"other/ext{SUFFIX}": from_outside()}, outside={"libfoo.so": FOO}, environment={"LD_LIBRARY_PATH": "{outside}/as"}, works=(*WORKS, "from other import ext; assert ext.answer() == 42"))
    yield Case("at-the-top", {f"ext{SUFFIX}": from_outside()}, outside={"libfoo.so": FOO}, environment={"LD_LIBRARY_PATH": "{outside}/as"}, works=("import ext; assert ext.answer() == 42",))
    plain = library("libplain.so", "extern int foo(void); int plain(void) { return foo(); }", "-L{outside}", "-lfoo")
    yield Case("library-alone", {**INIT, "case/libplain.so": plain}, outside={"libfoo.so": FOO}, environment={"LD_LIBRARY_PATH": "{outside}/as"}, tag="py3-none-linux_x86_64", works=("import ctypes; assert ctypes.CDLL('{site}/case/libplain.so').plain() == 42",))
    for level in ["v2", "v3", "v4"]:
        yield simple(f"isa-{level}", module("ext", flags=[f"-Wl,-z,x86-64-{level}"]), works=())
    yield simple("isa-v3-allowed", module("ext", flags=["-Wl,-z,x86-64-v3"]), options=("--disable-isa-ext-check",), works=())
    level = library("libfoo.so.1", "int foo(void) { return 42; }", "-Wl,-z,x86-64-v3")
    yield simple("isa-v3-grafted", from_outside(), outside={"libfoo.so": level}, environment={"LD_LIBRARY_PATH": "{outside}/as"}, works=())


def programs():
    main = "int main(void) { return 42; }"
    scripts = f"{STEM}.data/scripts/run"
    yield Case("program", {**INIT, EXT: module("ext"), scripts: Part(main, program=True)}, works=WORKS)
    yield Case("program-in-package", {**INIT, "case/bin/run": Part(main, program=True)}, works=("import subprocess; assert subprocess.run(['{site}/case/bin/run']).returncode == 42",))
    yield Case("program-static", {**INIT, EXT: module("ext"), "case/run": Part(main, ("-static",), program=True)}, works=WORKS)
    yield Case("program-static-alone", {**INIT, "case/run": Part(main, ("-static",), program=True)}, tag="py3-none-linux_x86_64", works=("import subprocess; assert subprocess.run(['{site}/case/run']).returncode == 42",))
    yield Case("program-static-pie", {**INIT, "case/run": Part(main, ("-static-pie",), program=True)}, tag="py3-none-linux_x86_64")
    part = Part("extern int foo(void); int main(void) { return foo(); }", ("-L{outside}", "-lfoo"), program=True)
    yield Case("program-grafted", {**INIT, scripts: part}, outside={"libfoo.so": FOO}, environment={"LD_LIBRARY_PATH": "{outside}/as"}, tag="py3-none-linux_x86_64", in_environment=True, works=("import subprocess, sys; assert subprocess.run([sys.prefix + '/bin/run']).returncode == 42",))


def pythons():
    stub = library("libpython3.11.so.1.0", "int nothing;")
    part = module("ext", flags=["-Wl,--no-as-needed", "-L{outside}", "-l:libpython3.11.so.1.0"])
    yield simple("libpython", part, outside={"libpython3.11.so.1.0": stub})
    yield simple("libpython-found", part, outside={"libpython3.11.so.1.0": stub}, environment={"AUDITWHEEL_LD_LIBRARY_PATH": "{outside}"})
    before = "extern int PyFPE_jbuf, PyFPE_dummy;"
    yield simple("pyfpe", module("ext", "PyFPE_jbuf + PyFPE_dummy", before, ["-Wl,-z,lazy"]), works=())
    two = Part("extern void PyUnicodeUCS2_Decode(void); extern void *malloc(unsigned long); void *initext(void) { PyUnicodeUCS2_Decode(); return malloc(1); }")
    yield Case("ucs2", {**INIT, "case/ext.so": two}, tag="cp27-cp27m-linux_x86_64")
    four = Part("extern void PyUnicodeUCS4_Decode(void); extern void *malloc(unsigned long); void *initext(void) { PyUnicodeUCS4_Decode(); return malloc(1); }")
    yield Case("ucs4", {**INIT, "case/ext.so": four}, tag="cp27-cp27mu-linux_x86_64")
    untold = Part("void _cffi_pypyinit_ext(void) {}")
    yield Case("libc-untold", {**INIT, "case/ext.abi3.so": untold}, tag="cp36-abi3-linux_x86_64")
    yield Case("cffi", {**INIT, "case/ext.abi3.so": Part("extern void *malloc(unsigned long); void *_cffi_pypyinit_ext(void) { return malloc(1); }")}, tag="cp36-abi3-linux_x86_64")


def odd_files():
    yield Case("pure", {**INIT}, tag="py3-none-any")
    yield Case("pure-allowed", {**INIT}, tag="py3-none-any", options=("--allow-pure-python-wheel",))
    yield Case("no-libraries", {**INIT, "case/data.bin": b"\0" * 100})
    yield Case("other-machine", {**INIT, EXT: module("ext"), "case/other.so": header(machine=183)}, works=WORKS)
    yield Case("device-code", {**INIT, EXT: module("ext"), "case/kernel.co": header(machine=224, abi=64)}, works=WORKS)
    yield Case("truncated", {**INIT, EXT: module("ext"), "case/short.so": b"\x7fELF\2\1\1"}, works=WORKS)
    yield Case("not-in-record", {**INIT, EXT: module("ext"), "case/more.so": from_outside()}, outside={"libfoo.so": FOO}, unlisted=("case/more.so",))
    yield Case("python-that-is-elf", {**INIT, EXT: module("ext"), "case/odd.py": b"\x7fELF not really"}, works=WORKS)
    yield Case("in-purelib", {**INIT, f"{STEM}.data/purelib/case/ext{SUFFIX}": module("ext")})
    yield Case("in-platlib", {**INIT, f"{STEM}.data/platlib/case/ext{SUFFIX}": from_outside()}, outside={"libfoo.so": FOO}, environment={"LD_LIBRARY_PATH": "{outside}/as"}, works=WORKS)
    bare = Part("int bare(void) { return 42; }", ("-nostdlib",))
    yield Case("needs-nothing", {**INIT, "case/libbare.so": bare}, tag="py3-none-linux_x86_64")
    musl = library("libc.musl-x86_64.so.1", "int malloc(void) { return 42; }", "-nostdlib")
    part = Part("extern int malloc(void); void PyInit_ext(void) { malloc(); }", ("-nostdlib", "-L{outside}", "-l:libc.musl-x86_64.so.1"))
    yield Case("musl", {**INIT, "case/ext.cpython-311-x86_64-linux-musl.so": part}, outside={"libc.musl-x86_64.so.1": musl})


def names_and_paths():
    before, answer = reaching("arc4random")
    newer = module("ext", answer, before)
    yield simple("claims-too-much", newer, tag="cp311-cp311-manylinux_2_17_x86_64")
    yield simple("claims-less", module("ext"), tag="cp311-cp311-manylinux_2_28_x86_64")
    yield simple("claims-two", module("ext"), tag="cp311-cp311-manylinux2014_x86_64.manylinux_2_17_x86_64")
    yield simple("plat-lower", module("ext"), repair_options=("--plat", "manylinux_2_28_x86_64"))
    yield simple("plat-only", module("ext"), repair_options=("--plat", "manylinux_2_28_x86_64", "--only-plat"))
    yield simple("plat-alias", module("ext"), repair_options=("--plat", "manylinux2014_x86_64", "--only-plat"))
    yield simple("plat-too-high", newer, repair_options=("--plat", "manylinux_2_17_x86_64"), works=())
    yield simple("no-update-tags", module("ext"), repair_options=("--no-update-tags",))
    yield simple("lib-sdir", from_outside(), outside={"libfoo.so": FOO}, environment={"LD_LIBRARY_PATH": "{outside}/as"}, repair_options=("-L", "_vendored"))
    yield simple("strip", from_outside(), outside={"libfoo.so": FOO}, environment={"LD_LIBRARY_PATH": "{outside}/as"}, repair_options=("--strip",))
    yield simple("stored", module("ext"), repair_options=("-z", "0"))


def machines():
    """Wheels for other machines, made on this one."""
    for name, (*_, oldest, _) in MACHINES.items():
        tag = f"cp311-cp311-linux_{name}"
        if name in ("mips64", "armv5l"):
            for claimed in [name, "x86_64"]:
                part = of_glibc(name)
                yield Case(f"machine-{name}-as-{claimed.replace('_', '-')}", {**INIT, "case/ext.so": part}, tag=f"cp311-cp311-linux_{claimed}")
            continue
        known = f"case/ext.cpython-311-{name}-linux"
        yield Case(f"machine-{name.replace('_', '-')}", {**INIT, f"{known}-gnu.so": of_glibc(name)}, tag=tag)
        yield Case(f"machine-{name.replace('_', '-')}-musl", {**INIT, f"{known}-musl.so": of_musl(name)}, tag=tag)
        for version in ["GLIBC_2.28", "GLIBC_2.34", "GLIBC_2.38", "GLIBC_2.99"]:
            files = {**INIT, f"{known}-gnu.so": of_glibc(name, version)}
            yield Case(f"machine-{name.replace('_', '-')}-{version[6:].replace('.', '-')}", files, tag=tag, repairs=False)
        needs = (("libc.so.6", (oldest,)), ("libstdc++.so.6", ("GLIBCXX_3.4.22", "CXXABI_1.3.9")), ("libgcc_s.so.1", ("GCC_3.3.1",)))
        yield Case(f"machine-{name.replace('_', '-')}-cxx", {**INIT, f"{known}-gnu.so": Foreign(name, needs)}, tag=tag, repairs=False)
        if name != "x86_64":
            yield Case(f"machine-{name}-as-x86-64", {**INIT, f"{known}-gnu.so": of_glibc(name)})
    for symbol in ["__issignaling", "__issignalingl", "pthread_getattr_default_np", "__cxa_thread_atexit_impl"]:
        part = of_glibc("aarch64", undefined=(symbol,))
        yield Case(f"machine-aarch64-{symbol.strip('_').replace('_', '-')}", {**INIT, "case/ext.so": part}, tag="cp311-cp311-linux_aarch64")


def suite():
    """What auditwheel's own tests of whole wheels look at, where no other case does."""
    as_installed = {"LD_LIBRARY_PATH": "{outside}/as"}
    foo = {"outside": {"libfoo.so": FOO}, "environment": as_installed, "works": ()}
    for name, pattern in [("set", "libfoo.so.[1,2]"), ("other-set", "libfoo.so.[2,3]"), ("other-name", "libfoo.so.noexist"), ("start", "libfoo.so.*"), ("all", "*")]:
        yield simple(f"excluded-by-{name}", from_outside(), repair_options=("--exclude", pattern), **foo)
    own = {**foo, "environment": {"AUDITWHEEL_LD_LIBRARY_PATH": "{outside}/as"}}
    yield simple("excluded-by-path-of-own-variable", from_outside(), repair_options=("--exclude", "*/outside/as/*"), **own)
    for said in [0, 315532799, 315532801, 315532802, 650203201]:
        yield simple(f"dated-{said}", from_outside(), outside={"libfoo.so": FOO}, environment={**as_installed, "SOURCE_DATE_EPOCH": str(said)})
    before, answer = reaching("arc4random")
    stub = library("libpython3.11.so.1.0", "int nothing;")
    part = module("ext", answer, before, ["-Wl,--no-as-needed", "-L{outside}", "-l:libpython3.11.so.1.0"])
    claimed = {"outside": {"libpython3.11.so.1.0": stub}, "tag": "cp311-cp311-manylinux2014_x86_64"}
    yield simple("libpython-claims", part, **claimed)
    yield simple("libpython-claims-kept", part, our_repair_options=("--keep-claimed-tags",), **claimed)
    static = Part("int main(void) { return 42; }", ("-static",), program=True)
    tag = "py2.py3-none-manylinux_2_5_x86_64.manylinux1_x86_64.musllinux_1_1_x86_64"
    yield Case("program-static-of-both", {**INIT, "case/run": static}, tag=tag)
    # A program that needs a library and one that needs none, in a wheel that is for any platform by its name.
    linked = Part("extern int foo(void); int main(void) { return foo(); }", ("-L{outside}", "-lfoo"), program=True)
    plain = Part("int main(void) { return 42; }", program=True)
    works = tuple(f"import subprocess, sys; assert subprocess.run([sys.prefix + '/bin/{name}']).returncode == 42" for name in ["linked", "plain"])
    works += ("import sys; assert open(sys.prefix + '/bin/linked', 'rb').read(2) == b'#!'", "import sys; assert open(sys.prefix + '/bin/plain', 'rb').read(4) == b'\\x7fELF'")
    files = {**INIT, f"{STEM}.data/scripts/linked": linked, f"{STEM}.data/scripts/plain": plain}
    yield Case("programs-for-any", files, outside={"libfoo.so": FOO}, environment=as_installed, tag="py3-none-any", in_environment=True, works=works)
    deep = library("libbar.so.2", "int bar(void) { return 41; }")
    for kind, flag in [("rpath", "--disable-new-dtags"), ("runpath", "--enable-new-dtags")]:
        chain = library("libfoo.so.1", "extern int bar(void); int foo(void) { return bar() + 1; }", "-L{outside}", "-lbar", f"-Wl,{flag},-rpath,{{outside}}/as")
        yield simple(f"chain-by-{kind}", from_outside(), outside={"libbar.so": deep, "libfoo.so": chain}, environment=as_installed)
    # Two packages, each with a library of its own, of which one needs the other.
    chain = library("libfoo.so.1", "extern int bar(void); int foo(void) { return bar() + 1; }", "-L{outside}", "-lbar")
    other = module("ext", "bar() + 1", "extern int bar(void);", ["-L{outside}", "-lbar"])
    works = (*WORKS, "from other.deep import ext; assert ext.answer() == 42")
    files = {**INIT, EXT: from_outside(), "other/__init__.py": "", "other/deep/__init__.py": "", f"other/deep/ext{SUFFIX}": other}
    yield Case("two-packages-two-libraries", files, outside={"libbar.so": deep, "libfoo.so": chain}, environment=as_installed, works=works)
    # One module with a library beside it, another with one from outside.
    inside = module("ext", "foo()", "extern int foo(void);", ["-L{outside}", "-lfoo", "-Wl,--disable-new-dtags,-rpath,$ORIGIN"])
    outer = module("out", "bar() + 1", "extern int bar(void);", ["-L{outside}", "-lbar"])
    files = {**INIT, EXT: inside, "case/libfoo.so.1": FOO, f"case/out{SUFFIX}": outer}
    yield Case("internal-and-grafted", files, outside={"libbar.so": deep, "libfoo.so": FOO}, environment=as_installed, works=(*WORKS, "from case import out; assert out.answer() == 42"))
    # A library of the wheel whose need only who loads it knows, and that lies outside.
    whole = module("ext", "foo()", "extern int foo(void);", ["-L{outside}", "-lfoo", "-lbar", "-Wl,--no-as-needed,--disable-new-dtags,-rpath,$ORIGIN/libs:{outside}/as"])
    yield Case("partly-found", {**INIT, EXT: whole, "case/libs/libfoo.so.1": chain}, outside={"libbar.so": deep, "libfoo.so": chain}, works=WORKS)
    crypt = module("ext", "crypt(\"x\", \"ab\")[0] == 'a' ? 42 : 0", "#include <crypt.h>", ["-lcrypt"])
    yield simple("crypt", crypt)
    plain = library("libplain.so", "#include <crypt.h>\nint plain(void) { return crypt(\"x\", \"ab\")[0] == 'a' ? 42 : 0; }", "-lcrypt")
    yield Case("crypt-of-a-library", {**INIT, "case/libplain.so": plain}, tag="py3-none-linux_x86_64", works=("import ctypes; assert ctypes.CDLL('{site}/case/libplain.so').plain() == 42",))
    newer = library("libfoo.so.1", f"{before} int foo(void) {{ return {answer}; }}")
    above = {"outside": {"libfoo.so": newer}, "environment": as_installed}
    yield simple("plat-too-high-by-graft", from_outside(), repair_options=("--plat", "manylinux_2_17_x86_64"), works=(), **above)
    yield simple("plat-reached-with-graft", from_outside(), repair_options=("--plat", "manylinux_2_36_x86_64"), **above)
    for alias in ["manylinux1", "manylinux2010", "manylinux2014"]:
        yield simple(f"plat-{alias}", module("ext"), repair_options=("--plat", f"{alias}_x86_64"))
    yield simple("build-number", module("ext"), tag="1local-cp311-cp311-linux_x86_64")
    abi3 = Part(module("ext", "getpid() > 0 ? 42 : 0", "#include <unistd.h>").source, ("-DPy_LIMITED_API=0x03090000",))
    yield Case("many-pythons", {**INIT, "case/ext.abi3.so": abi3}, tag="cp39.cp310.cp311-abi3-linux_x86_64", works=WORKS)
    level = library("libfoo.so.1", "int foo(void) { return 42; }", "-Wl,-z,x86-64-v2")
    part = dataclasses.replace(from_outside(), flags=(*from_outside().flags, "-Wl,-z,x86-64-v2"))
    for name, options in [("isa-v2-with-graft", ()), ("isa-v2-with-graft-allowed", ("--disable-isa-ext-check",))]:
        yield simple(name, part, outside={"libfoo.so": level}, environment=as_installed, options=options, works=())


def header(machine, abi=0):
    """An ELF file for x86_64's class and byte order that is nothing but its header."""
    ident = b"\x7fELF" + bytes([2, 1, 1, abi]) + bytes(8)
    return ident + struct.pack("<HHIQQQIHHHHHH", 3, machine, 1, 0, 0, 0, 0, 64, 56, 0, 64, 0, 0)


class Shop:
    """Makes the wheels of cases."""

    def __init__(self, folder, include):
        self.folder, self.include = folder, include

    def make(self, case, place):
        """The path of the case's wheel."""
        outside = place / "outside"
        outside.mkdir(parents=True, exist_ok=True)
        for name, content in case.outside.items():
            target = outside / name
            if isinstance(content, Part):
                self.compile(content, target, outside)
                # The loader finds it under its own name, in a folder where the linker's name is not.
                own = outside / "as" / content.soname
                own.parent.mkdir(exist_ok=True)
                real = own.with_name(content.real or content.soname)
                real.write_bytes(target.read_bytes())
                real.chmod(0o755)
                if content.real:
                    own.symlink_to(content.real)
            else:
                target.write_text(content)
        parts = place / "parts"
        parts.mkdir(exist_ok=True)
        made = {}
        for number, (name, content) in enumerate(case.files.items()):
            if isinstance(content, Part):
                built = parts / f"{number}"
                self.compile(content, built, outside)
                content = built.read_bytes()
            elif isinstance(content, Foreign):
                content = content.build()
            made[name] = content.encode() if isinstance(content, str) else content
        folder = place / "wheel"
        folder.mkdir(exist_ok=True)
        return write_wheel(folder, case, made)

    def compile(self, part, target, outside):
        suffix = ".cc" if part.compiler == "g++" else ".c"
        source = target.with_name(target.name + suffix)
        source.write_text(part.source)
        fill = lambda flag: flag.replace("{outside}", str(outside)).replace("{here}", str(outside))
        kind = ["-O1"] if part.program else ["-O1", "-shared", "-fPIC"]
        soname = [f"-Wl,-soname,{part.soname}"] if part.soname else []
        links = [f"-Wl,-rpath-link,{outside}/as"]
        argv = [part.compiler, "-w", *kind, f"-I{self.include}", str(source), "-o", str(target), *soname, *links, *map(fill, part.flags)]
        done = subprocess.run(argv, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"{' '.join(argv)}\n{done.stderr}")


def write_wheel(folder, case, members):
    info = f"{STEM}.dist-info"
    *build, python, abi, platform = case.tag.split("-")
    tags = [f"{one}-{abi}-{other}" for one in python.split(".") for other in platform.split(".")]
    number = "".join(f"Build: {one}\n" for one in build)
    purelib = "true" if case.tag.endswith("any") else "false"
    members = {
        **members,
        f"{info}/METADATA": b"Metadata-Version: 2.1\nName: case\nVersion: 1.0\n",
        f"{info}/WHEEL": ("Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: " + purelib + "\n" + number + "".join(f"Tag: {tag}\n" for tag in tags)).encode(),
    }
    rows = []
    path = folder / f"{STEM}-{case.tag}.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            entry = zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100755 if content[:4] == b"\x7fELF" else 0o100644) << 16
            archive.writestr(entry, content)
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
            if name not in case.unlisted:
                rows.append(f"{name},sha256={digest},{len(content)}\n")
        archive.writestr(f"{info}/RECORD", "".join(rows) + f"{info}/RECORD,,\n")
    return path
