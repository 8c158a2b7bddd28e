//! The `E` codes: ELF files in wheels.

use rock_diagnostic::Code;

/// All of them, sorted by ID.
pub const ALL: &[&Code] = &[
    &DAMAGED_ELF,
    &ELF_IN_PURELIB,
    &OTHER_ARCHITECTURE,
    &OTHER_LIBC,
    &UNKNOWN_LIBC,
    &NEEDS_LIBPYTHON,
    &UNEDITABLE_ELF,
    &TOO_MANY_LIBRARIES,
    &OPEN_LIBC,
];

/// An ELF file that cannot be read.
pub const DAMAGED_ELF: Code = Code::error(
    "E001",
    "damaged-elf",
    "A file begins as an ELF file, and its tables cannot be read: it is cut off, or was damaged by a tool. No loader takes it. All else of the wheel was judged without it: `show` only tells it, `verify`, `check` and `repair` fail. A data file, by its name, is a remark: nothing loads it. A code object for a GPU that is cut off is R132.",
);
/// A library in the folder of pure Python code.
pub const ELF_IN_PURELIB: Code = Code::error(
    "E002",
    "elf-in-purelib",
    "A library lies below a folder `purelib`, which installers put where code for every platform goes. Build the wheel as a platform wheel.",
);
/// A library for another processor.
pub const OTHER_ARCHITECTURE: Code = Code::warning(
    "E003",
    "other-architecture",
    "A library is for another processor than the wheel's file name, or the wheel's first library, says. It was left out of the judgement. Where no library is left, this is an error.",
);
/// A library for another C library.
pub const OTHER_LIBC: Code = Code::warning(
    "E004",
    "other-libc",
    "A library needs another C library than the others: glibc and musl do not mix in one process. It was left out of the judgement. Where no library is left, this is an error.",
);
/// An extension module without a C library.
pub const UNKNOWN_LIBC: Code = Code::warning(
    "E005",
    "unknown-libc",
    "Nothing tells whether an extension module is for glibc or musl: not what it needs, not its interpreter, not its file name, not the wheel's. It was judged by the C library of the machine that looks, glibc where none was looked at. Name the platform in the file name of the wheel.",
);
/// An extension module that is linked to Python's library.
pub const NEEDS_LIBPYTHON: Code = Code::warning(
    "E006",
    "needs-libpython",
    "An extension module needs Python's own library. The interpreter that loads the module has these symbols already, and many interpreters have no such library, so the module does not load there (PEP 513). In a wheel whose name claims a policy, manylinux or musllinux, this is an error. Repairing removes the entry; link without `-lpythonX.Y`.",
);
/// A library that cannot be changed.
pub const UNEDITABLE_ELF: Code = Code::error(
    "E007",
    "uneditable-elf",
    "A library had to be changed, and its layout leaves no way to do so without moving bytes, or is damaged already. Nothing was written.\n\nTake the library as the linker made it: tools that edited it before may have left it in this state. `rock-matrix wheel verify` tells what is wrong with its layout.",
);
/// More libraries than can be followed.
pub const TOO_MANY_LIBRARIES: Code = Code::error(
    "E008",
    "too-many-libraries",
    "The wheel has so many libraries, and they need so many others, that what each of them leads to cannot be held in memory: a thousand libraries that lead to a thousand are a million. No real wheel comes near. None of them was judged.",
);
/// A file that calls a C library, and nothing tells which.
pub const OPEN_LIBC: Code = Code::warning(
    "E010",
    "open-libc",
    "A library calls functions of the C library, but neither links one nor needs versioned symbols. Linkers for musl may produce such files, and up to Python 3.10 extension modules have the same suffix on glibc and musl. The library could be for either, so no manylinux or musllinux tag is certain: `show` reports `linux`, and `repair` keeps the platform tag.\n\nLink the library with its C library, name the platform in the file name of the wheel, or choose one with `--plat`.",
);
