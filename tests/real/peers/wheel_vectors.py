"""Wheels with one thing wrong each, written field by field (APPNOTE.TXT 6.3.10, binary distribution format)."""

import base64
import hashlib
import struct
import zlib
from dataclasses import dataclass, field

INFO = "demo-1.0.dist-info"
DATA = "demo-1.0.data"


@dataclass
class Member:
    """A member of an archive with the fields that a vector may want to be wrong."""

    name: bytes
    content: bytes = b""
    flags: int = 0
    method: int = 0
    version: int = 20
    local_extra: bytes = b""
    central_extra: bytes = b""
    comment: bytes = b""
    before: bytes = b""
    behind: bytes = b""
    crc: int | None = None
    streamed: bool = False
    hidden: bool = False
    local_name: bytes | None = None

    @property
    def data(self):
        if self.method == 0:
            return self.content
        deflate = zlib.compressobj(6, zlib.DEFLATED, -15)
        return deflate.compress(self.content) + deflate.flush()

    def crc32(self):
        return zlib.crc32(self.content) if self.crc is None else self.crc

    def fields(self, local):
        values = (0, 0, 0) if local and self.streamed else (self.crc32(), len(self.data), len(self.content))
        return struct.pack("<HHHHHLLL", self.version, self.flags, self.method, 0, 33, *values)

    def descriptor(self, wide=False):
        return b"PK\x07\x08" + struct.pack("<LQQ" if wide else "<LLL", self.crc32(), len(self.data), len(self.content))


def text(name, content=""):
    return Member(name.encode(), content.encode(), 0 if name.isascii() else 1 << 11)


@dataclass
class Archive:
    """Members, and what lies around them."""

    members: list
    gap: bytes = b""
    comment: bytes = b""
    extension: bytes | None = None

    def bytes(self):
        out, central, count = b"", b"", 0
        for member in self.members:
            out += member.before
            offset = len(out)
            name = member.name if member.local_name is None else member.local_name
            out += b"PK\x03\x04" + member.fields(True) + struct.pack("<HH", len(name), len(member.local_extra))
            out += name + member.local_extra + member.data + member.behind
            if member.hidden:
                continue
            count += 1
            lengths = (len(member.name), len(member.central_extra), len(member.comment))
            central += b"PK\x01\x02" + struct.pack("<H", 0x314) + member.fields(False) + struct.pack("<HHH", *lengths)
            central += struct.pack("<HHLL", 0, 0, 0o100644 << 16, offset)
            central += member.name + member.central_extra + member.comment
        out += self.gap
        offset = len(out)
        out += central
        if self.extension is not None:
            at = len(out)
            out += b"PK\x06\x06" + struct.pack("<QHHLLQQQQ", 44 + len(self.extension), 45, 45, 0, 0, count, count, len(central), offset)
            out += self.extension + b"PK\x06\x07" + struct.pack("<LQL", 0, at, 1)
        out += b"PK\x05\x06" + struct.pack("<HHHHLLH", 0, 0, count, count, len(central), offset, len(self.comment))
        return out + self.comment


def row(member):
    digest = base64.urlsafe_b64encode(hashlib.sha256(member.content).digest()).rstrip(b"=").decode()
    return f"{member.name.decode(errors='replace')},sha256={digest},{len(member.content)}\n"


def wheel(*members, headers="", name="Name: demo", edit=None, body="\nA description.\n"):
    """An archive of a module, these members, and dist-info; `edit` changes the archive once RECORD is made."""
    metadata = f"Metadata-Version: 2.1\n{name}\nVersion: 1.0\n{headers}{body}"
    tags = "Wheel-Version: 1.0\nGenerator: vectors\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    files = [text("demo/__init__.py", "x = 1\n"), *members, text(f"{INFO}/METADATA", metadata), text(f"{INFO}/WHEEL", tags)]
    record = "".join(row(member) for member in files if not member.name.endswith(b"/") and b"," not in member.name)
    archive = Archive([*files, text(f"{INFO}/RECORD", f"{record}{INFO}/RECORD,,\n")])
    if edit:
        edit(archive)
    return archive


def first(**changes):
    """A sound wheel with other fields of its first member."""

    def edit(archive):
        member = archive.members[0]
        for key, value in changes.items():
            setattr(member, key, value(member) if callable(value) else value)

    return wheel(edit=edit)


def extra(number, content):
    return struct.pack("<HH", number, len(content)) + content


def unicode_path(name, path):
    return extra(0x7075, b"\x01" + struct.pack("<L", zlib.crc32(name)) + path)


def entry_points(lines, group="console_scripts"):
    return wheel(text(f"{INFO}/entry_points.txt", f"[{group}]\n{lines}\n"))


def changed(**changes):
    def edit(archive):
        for key, value in changes.items():
            setattr(archive, key, value)

    return wheel(edit=edit)


def inserted(at, member):
    return wheel(edit=lambda archive: archive.members.insert(at, member))


@dataclass
class Vector:
    """A wheel, and whether `wheel verify` refuses it; `why` where neither pip nor uv does."""

    name: str
    archive: Archive
    refused: bool = True
    why: str = ""


PYPI = "PyPI's zipfiles.py"
SPECIFICATION = "the specification"
ABOUT_SAFETY = "two readers see different files"


def sound():
    streamed = dict(flags=8, method=8, streamed=True, behind=lambda member: member.descriptor())
    return [
        Vector("plain", wheel(), False),
        Vector("deflated", first(method=8), False),
        Vector("comment-of-the-archive", changed(comment=b"a comment"), False),
        Vector("zip64-end", changed(extension=b""), False),
        Vector("name-beyond-ascii", wheel(text("demo/ü日本.py")), False),
        Vector("name-of-255-bytes", wheel(text(f"demo/{'a' * 252}.so")), False),
        Vector("unicode-path-of-the-same-name", first(local_extra=unicode_path(b"demo/__init__.py", b"demo/__init__.py")), False),
        Vector("folder-entry", wheel(text("demo/sub/"), text("demo/sub/x.py")), False),
        Vector("time-field", first(local_extra=extra(0x5455, b"\1\0\0\0\0")), False),
        Vector("zip64-field-that-repeats", first(local_extra=extra(1, struct.pack("<QQ", 6, 6))), False),
        Vector("version-6.3", first(version=63), False),
        Vector("scripts", entry_points("demo = demo.cli:main\ndemo-gpu=demo:App.run [gpu]"), False),
        Vector("script-of-digits", entry_points("foo = 1case:2main"), False),
        Vector("script-over-a-script", wheel(text(f"{DATA}/scripts/foo", "#!python\n"), text(f"{INFO}/entry_points.txt", "[console_scripts]\nfoo = demo:x\n")), False),
        Vector("data-below-a-folder", wheel(text(f"demo/{DATA}/nonsense/x")), False),
        Vector("data-in-two-folders", wheel(text(f"{DATA}/purelib/demo/a.py"), text(f"{DATA}/platlib/demo/b.py")), False),
        Vector("scripts-with-comments", entry_points("# a comment\n\n  demo = demo:main"), False),
        Vector("plugins", entry_points("any name = demo\n", "demo.plugins"), False),
        *[Vector(f"data-{scheme}", wheel(text(f"{DATA}/{scheme}/demo-file", "#!python\n")), False) for scheme in SCHEMES],
        Vector("requirements", wheel(headers="Requires-Dist: a>=1,<2; python_version < '3'\nRequires-Python: >=3.8,!=3.9.*\n"), False),
        Vector("requirement-in-parentheses", wheel(headers="Requires-Dist: a[x] (==1.*) ; extra == 'b'\nProvides-Extra: b\n"), False),
        Vector("streamed", first(**streamed), True, PYPI),
        Vector("comment-of-a-member", first(comment=b"a comment"), True, PYPI),
    ]


SCHEMES = ["data", "headers", "platlib", "purelib", "scripts"]


def archives():
    name = b"demo/__init__.py"
    inner = Archive([text("demo/__init__.py", "evil = 1\n")]).bytes()
    hidden = Member(b"demo/hidden.py", b"evil = 1\n", hidden=True)
    descriptor = dict(flags=8, method=8, streamed=True)
    wrong = lambda at: lambda member: bytes(byte ^ (i == at) for i, byte in enumerate(member.descriptor()))
    return [
        Vector("unicode-path-central", inserted(1, Member(b"demo/z.bin", central_extra=unicode_path(b"demo/z.bin", b"demo/other.py")))),
        Vector("unicode-path-local", inserted(1, Member(b"demo/z.bin", local_extra=unicode_path(b"demo/z.bin", b"demo/other.py")))),
        Vector("unicode-path-old", inserted(1, Member(b"demo/z.bin", central_extra=unicode_path(b"demo/y.bin", b"demo/other.py"))), True, ABOUT_SAFETY),
        Vector("extra-too-long", first(central_extra=b"UT\x09\0\1")),
        Vector("extra-too-long-local", first(local_extra=b"UT\x09\0\1")),
        Vector("extra-rest", first(local_extra=b"\0\0\0"), True, PYPI),
        Vector("extra-twice", first(local_extra=extra(0x5455, b"\1") * 2)),
        Vector("extra-twice-central", first(central_extra=extra(0x5455, b"\1") * 2)),
        Vector("zip64-local-differs", first(local_extra=extra(1, bytes(16)))),
        Vector("zip64-local-of-24-bytes", first(local_extra=extra(1, bytes(24)))),
        Vector("zip64-central-too-long", first(central_extra=extra(1, bytes(8)))),
        Vector("file-and-folder", inserted(4, text("demo"))),
        Vector("folder-and-file", inserted(0, text("demo"))),
        Vector("prefix", first(before=b"#!/bin/sh\n")),
        Vector("gap", inserted(1, Member(b"demo/a.py", before=b"\0"))),
        Vector("gap-before-the-table", changed(gap=bytes(7))),
        Vector("hidden-first", inserted(0, hidden)),
        Vector("hidden-last", inserted(4, hidden)),
        Vector("descriptor-unannounced", first(behind=lambda member: member.descriptor())),
        Vector("descriptor-missing", first(**descriptor)),
        Vector("descriptor-crc", first(**descriptor, behind=wrong(4))),
        Vector("descriptor-size", first(**descriptor, behind=wrong(12))),
        Vector("descriptor-wide", first(**descriptor, behind=lambda member: member.descriptor(True))),
        Vector("comment-with-an-archive", changed(comment=inner)),
        Vector("comment-with-an-end", changed(comment=b"PK\5\6" + bytes(18))),
        Vector("comment-with-a-signature", changed(comment=b"PK\5\6")),
        Vector("zip64-extension", changed(extension=b"extension")),
        Vector("version-6.4", first(version=64)),
        Vector("folder-with-crc", inserted(1, Member(b"demo/sub/", crc=7))),
        Vector("local-name-differs", first(local_name=b"demo/__init__.pz")),
        Vector("duplicate", inserted(1, Member(name, b"evil = 1\n"))),
        Vector("name-with-a-newline", wheel(Member(b"demo/a\nb.py"))),
        Vector("name-with-a-tab", wheel(Member(b"demo/a\tb.py"))),
        Vector("name-with-delete", wheel(Member(b"demo/a\x7fb.py"))),
        Vector("name-with-a-direction-mark", wheel(text("demo/a\u202eb.py"))),
        Vector("name-unmarked", wheel(Member("demo/ü.py".encode()))),
        Vector("name-not-utf-8", wheel(Member(b"demo/\xff.py", flags=1 << 11))),
        Vector("name-of-256-bytes", wheel(text(f"demo/{'a' * 253}.so"))),
        Vector("name-of-4000-bytes", wheel(text("demo/" + "abcdefghi/" * 400 + "x")), True, "a limit of this program"),
        Vector("name-with-dots", wheel(text("demo/../../evil.py"))),
        Vector("name-absolute", wheel(text("/tmp/evil.py"))),
        Vector("link-out", wheel(text("demo\\x.py")), True, ABOUT_SAFETY),
    ]


def dist_info():
    lines = [
        "../foo = case:main",
        "sub/foo = case:main",
        ".. = case:main",
        "foo",
        "foo =",
        "foo = case",
        "foo = case:",
        "foo = :main",
        "foo = case:main:x",
        "foo = case main",
        "foo = case : main",
        "foo = my-case:main",
        "foo = case:main [",
        "foo = case:main [a.b]",
        "foo = case:main # note",
        "python = case:main",
        "Python3.12 = case:main",
        "pypy3.py = case:main",
        "/tmp/foo = case:main",
        "..\\foo = case:main",
        ". = case:main",
        "= case:main",
        "foo = .case:main",
        "foo = case.:main",
        "foo = case:main.",
        "foo = case/main",
        "foo = case:main()",
        "foo = case:main [a",
        "foo = case:main a]",
        "foo\x07 = case:main",
        "foo: case:main",
    ]
    groups = {
        "group-with-a-space": "[bad group]\na = b\n",
        "group-open": "[console_scripts\na = b:c\n",
        "group-empty": "[]\na = b\n",
        "group-with-a-slash": "[../demo]\na = b\n",
        "group-with-empty-words": "[demo..plugins]\na = b\n",
        "entry-without-a-group": "a = b:c\n[console_scripts]\n",
        "gui-script-outside": "[gui_scripts]\n../foo = case:main\n",
        "gui-script-without-a-function": "[gui_scripts]\nfoo = case\n",
        "plugin-without-a-value": "[demo.plugins]\nfoo\n",
    }
    # pip reads `splitlines()`; uv ends lines at carriage returns and line feeds only.
    ends = [end for end in map(chr, range(0x10000)) if end != "\n" and len(f"a{end}b".splitlines()) == 2]
    groups |= {f"script-behind-u+{ord(end):04x}": f"[x]\na = b{end}[console_scripts]{end}demo = demo:main\n" for end in ends}
    groups["script-outside-behind-a-carriage-return"] = "[x]\na = b\r[console_scripts]\r../evil = demo:main\n"
    data = {
        "data-upper-case": f"{DATA}/Scripts/x",
        "data-include": f"{DATA}/include/x",
        "data-out-of-data": f"{DATA}/data/../../x",
        "data-out-of-scripts": f"{DATA}/scripts/../x",
        "data-out-of-purelib": f"{DATA}/purelib/../../../x",
        "data-scheme-of-dots": f"{DATA}/../x",
        "data-over-a-folder": f"{DATA}/purelib/demo",
        "data-below-a-module": f"{DATA}/purelib/demo/__init__.py/a.py",
    }
    ambiguous = {
        "data-absolute": [f"{DATA}/data//tmp/x"],
        "data-backslash": [f"{DATA}/data/..\\..\\x"],
        "data-of-another-case": ["Demo-1.0.data/data/x"],
        "data-of-another-version": ["demo-2.0.data/data/x"],
        "data-over-a-module": [f"{DATA}/purelib/demo/__init__.py"],
        "data-in-purelib-and-platlib": [f"{DATA}/purelib/demo/a.py", f"{DATA}/platlib/demo/a.py"],
        "data-in-platlib-and-purelib": [f"{DATA}/platlib/demo/a.py", f"{DATA}/purelib/demo/a.py"],
        "data-in-scripts-and-bin": [f"{DATA}/scripts/foo", f"{DATA}/data/bin/foo"],
    }
    twice = [
        ("twice", "foo = case:main\nfoo = other:main"),
        ("my-tool", "my tool = case:main"),
        ("semicolon", ";foo = case:main"),
        ("two-groups", "foo = case:main\n[console_scripts]\nbar = case:main"),
    ]
    headers = {
        "requirement-without-version": "Requires-Dist: a>=\n",
        "requirement-with-bad-marker": "Requires-Dist: a; bad\n",
        "requirement-with-open-marker": "Requires-Dist: a; (python_version < '3'\n",
        "requirement-with-unknown-variable": "Requires-Dist: a; banana == '1'\n",
        "requirement-of-one-equals": "Requires-Dist: a=1; python_version < '3'\n",
        "requires-python-of-words": "Requires-Python: three\n",
        "requires-python-without-version": "Requires-Python: >=\n",
    }
    # uv repairs these, and so does an old pip.
    repaired = {
        "requirement-with-star": "Requires-Dist: a>=1.*; python_version < '3'\n",
        "requirement-without-comma": "Requires-Dist: a>=1<2; python_version < '3'\n",
    }
    return [
        *[Vector(f"script {line}", entry_points(line), True, SPECIFICATION) for line in lines],
        *[Vector(f"script {name}", entry_points(line), True, SPECIFICATION) for name, line in twice],
        *[Vector(name, wheel(text(f"{INFO}/entry_points.txt", lines)), True, SPECIFICATION) for name, lines in groups.items()],
        *[Vector(name, wheel(text(path))) for name, path in data.items()],
        *[Vector(name, wheel(*[text(path, f"#!python\n{path!r}\n") for path in paths]), True, ABOUT_SAFETY) for name, paths in ambiguous.items()],
        Vector("entry-points-not-utf-8", wheel(Member(f"{INFO}/entry_points.txt".encode(), b"[x]\n\xff = a\n"))),
        Vector("data-unknown", wheel(text(f"{DATA}/nonsense/x"))),
        Vector("data-none", wheel(text(f"{DATA}/x"))),
        Vector("data-file", wheel(text("x.data"))),
        Vector("data-of-another", wheel(text("other-1.0.data/data/x")), True, ABOUT_SAFETY),
        Vector("data-scripts-folder", wheel(text(f"{DATA}/scripts/sub/x"))),
        Vector("data-scripts-python", wheel(text(f"{DATA}/scripts/python3"))),
        Vector("data-data-bin-python", wheel(text(f"{DATA}/data/bin/python"))),
        Vector("name-with-space", wheel(name="Name : demo")),
        Vector("header-without-colon", wheel(headers="no header\nRequires-Python: >=3\n"), True, ABOUT_SAFETY),
        Vector("header-with-cr", wheel(headers="Summary: x\rRequires-Python: >=9\n")),
        *[Vector(name, wheel(headers=lines)) for name, lines in headers.items()],
        *[Vector(name, wheel(headers=lines), True, SPECIFICATION) for name, lines in repaired.items()],
    ]


def vectors():
    return [*sound(), *archives(), *dist_info()]
