"""Libraries for machines that no compiler here makes code for: an ELF file with tables, and no code.

Layout: gABI chapters 4 and 5. Machines and flags: the processor supplements of each. 64-bit s390x has hash tables of
8-byte words (zSeries supplement, "Hash Table Section").
"""

import dataclasses
import struct

# Machine, bits, byte order, flags; the C library's file and the oldest version of its symbols; musl's name for it.
MACHINES = {
    "i686": (3, 32, "<", 0, "GLIBC_2.0", "x86"),
    "x86_64": (62, 64, "<", 0, "GLIBC_2.2.5", "x86_64"),
    "aarch64": (183, 64, "<", 0, "GLIBC_2.17", "aarch64"),
    "armv7l": (40, 32, "<", 0x05000400, "GLIBC_2.4", "armv7"),
    "ppc64le": (21, 64, "<", 2, "GLIBC_2.17", "ppc64le"),
    "s390x": (22, 64, ">", 0, "GLIBC_2.2", "s390x"),
    "riscv64": (243, 64, "<", 5, "GLIBC_2.27", "riscv64"),
    "loongarch64": (258, 64, "<", 0x43, "GLIBC_2.36", "loongarch64"),
    # Of these there are no wheels.
    "mips64": (8, 64, ">", 0, "GLIBC_2.0", "mips64"),
    "armv5l": (40, 32, "<", 0x05000200, "GLIBC_2.4", "arm"),
}
DT_HASH, DT_STRTAB, DT_SYMTAB, DT_STRSZ, DT_SYMENT, DT_NEEDED = 4, 5, 6, 10, 11, 1
DT_VERSYM, DT_VERNEED, DT_VERNEEDNUM = 0x6FFFFFF0, 0x6FFFFFFE, 0x6FFFFFFF
PAGE = 0x10000


@dataclasses.dataclass
class Foreign:
    """A library for another machine: `needs` are files with versions of their symbols."""

    machine: str
    needs: tuple = ()
    exports: tuple = ("PyInit_ext",)
    undefined: tuple = ()

    def build(self):
        number, bits, order, flags, _, _ = MACHINES[self.machine]
        wide = bits == 64
        word = "Q" if wide else "I"

        def pack(layout, *values):
            return struct.pack(order + layout.replace("W", word), *values)

        strings = bytearray(b"\0")

        def name(text):
            strings.extend(text.encode() + b"\0")
            return len(strings) - len(text) - 1

        def symbol(text, defined):
            # STB_GLOBAL, STT_FUNC; a defined one lies in the first section.
            start, section = name(text), 1 if defined else 0
            return pack("IBBHQQ", start, 0x12, 0, section, 64, 4) if wide else pack("IIIBBH", start, 64, 4, 0x12, 0, section)

        names = [(text, False) for text in self.undefined] + [(text, True) for text in self.exports]
        symbols = bytes(24 if wide else 16) + b"".join(symbol(*one) for one in names)
        needed = [(DT_NEEDED, name(soname)) for soname, _ in self.needs]
        verneed, other = b"", 2
        versioned = [(soname, versions) for soname, versions in self.needs if versions]
        for at, (soname, versions) in enumerate(versioned):
            size = 16 * (len(versions) + 1)
            verneed += pack("HHIII", 1, len(versions), name(soname), 16, size if at + 1 < len(versioned) else 0)
            for place, version in enumerate(versions):
                last = place + 1 == len(versions)
                verneed += pack("IHHII", sysv_hash(version), 0, other, name(version), 0 if last else 16)
                other += 1
        count = len(names) + 1
        # One bucket whose chain is every symbol.
        entry = "Q" if self.machine == "s390x" else "I"
        table = pack(f"{count + 3}{entry}", 1, count, count - 1, *([0] + list(range(count - 1))))
        versym = pack(f"{count}H", *([1] * count))

        file = bytearray(64 + 2 * 56)
        placed = {}

        def place(title, content):
            file.extend(bytes(-len(file) % 8))
            placed[title] = (len(file), len(content))
            file.extend(content)

        place(".dynsym", symbols)
        place(".dynstr", bytes(strings))
        place(".hash", table)
        place(".gnu.version", versym)
        if verneed:
            place(".gnu.version_r", verneed)
        entries = needed + [(DT_HASH, placed[".hash"][0]), (DT_STRTAB, placed[".dynstr"][0]), (DT_SYMTAB, placed[".dynsym"][0])]
        entries += [(DT_STRSZ, len(strings)), (DT_SYMENT, 24 if wide else 16), (DT_VERSYM, placed[".gnu.version"][0])]
        if verneed:
            entries += [(DT_VERNEED, placed[".gnu.version_r"][0]), (DT_VERNEEDNUM, len(versioned))]
        place(".dynamic", b"".join(pack("WW", *one) for one in [*entries, (0, 0)]))
        titles = [".dynsym", ".dynstr", ".hash", ".gnu.version", *([".gnu.version_r"] if verneed else []), ".dynamic", ".shstrtab"]
        shstrtab = bytearray(b"\0")
        starts = {}
        for title in titles:
            starts[title] = len(shstrtab)
            shstrtab.extend(title.encode() + b"\0")
        place(".shstrtab", bytes(shstrtab))
        # Kind, link, info, size of an entry.
        kinds = {
            ".dynsym": (11, 2, 1, 24 if wide else 16), ".dynstr": (3, 0, 0, 0), ".hash": (5, 1, 0, 4),
            ".gnu.version": (0x6FFFFFFF, 1, 0, 2), ".gnu.version_r": (0x6FFFFFFE, 2, len(versioned), 0),
            ".dynamic": (6, 2, 0, 16 if wide else 8), ".shstrtab": (3, 0, 0, 0),
        }
        file.extend(bytes(-len(file) % 8))
        sections_at = len(file)
        file.extend(pack("IIWWWWIIWW", *([0] * 10)))
        for title in titles:
            kind, link, info, size = kinds[title]
            start, length = placed[title]
            loaded = title != ".shstrtab"
            file.extend(pack("IIWWWWIIWW", starts[title], kind, 2 if loaded else 0, start if loaded else 0, start, length, link, info, 8, size))
        loads = [(1, 0, placed[".shstrtab"][0], PAGE), (2, *placed[".dynamic"], 8)]
        headers = b""
        for kind, start, length, align in loads:
            rest = (start, start, start, length, length)
            headers += pack("IIQQQQQQ", kind, 6, *rest, align) if wide else pack("IIIIIIII", kind, *rest, 6, align)
        header_size = 64 if wide else 52
        ident = b"\x7fELF" + bytes([2 if wide else 1, 1 if order == "<" else 2, 1]) + bytes(9)
        header = ident + pack(
            "HHIWWWIHHHHHH", 3, number, 1, 0, header_size, sections_at, flags, header_size,
            56 if wide else 32, len(loads), 64 if wide else 40, len(titles) + 1, len(titles),
        )
        file[: len(header)] = header
        file[header_size : header_size + len(headers)] = headers
        return bytes(file)


def sysv_hash(name):
    """The hash of symbols and versions (gABI, "Hash Table")."""
    value = 0
    for byte in name.encode():
        value = (value << 4) + byte
        high = value & 0xF0000000
        value = (value ^ (high >> 24)) & ~high & 0xFFFFFFFF
    return value


def of_glibc(machine, *versions, **more):
    """An extension module of glibc, with the machine's oldest symbols and these versions."""
    return Foreign(machine, (("libc.so.6", (MACHINES[machine][4], *versions)),), **more)


def of_musl(machine):
    """An extension module of musl."""
    return Foreign(machine, ((f"libc.musl-{MACHINES[machine][5]}.so.1", ()),))
