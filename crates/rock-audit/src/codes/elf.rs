//! The `E` codes, for ELF files in wheels.

use rock_diagnostic::Code;

/// All `E` codes of this crate, sorted by ID.
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

/// An ELF file that cannot be parsed.
pub const DAMAGED_ELF: Code = Code::error(
    "E001",
    "damaged-elf",
    "A file starts like an ELF file, but its headers cannot be parsed: it is truncated, or a tool damaged it. The dynamic linker refuses it. It is left out of the audit; `wheel show` only reports it, while `wheel verify`, `wheel check` and `wheel repair` fail. For a file whose name marks it as data, this is a note, because nothing loads it. A truncated code object for a GPU is R132.\n\nBuild the file again, or use it as the linker produced it.",
);
/// A library in a directory for pure Python code.
pub const ELF_IN_PURELIB: Code = Code::error(
    "E002",
    "elf-in-purelib",
    "A shared library is below a directory `purelib`, where installers put code that runs on every platform.\n\nBuild the wheel as a platform wheel.",
);
/// A library for another processor.
pub const OTHER_ARCHITECTURE: Code = Code::warning(
    "E003",
    "other-architecture",
    "A library is for another processor than the wheel: the one in the filename, or that of the wheel's first library if the filename does not name a single one. It is left out of the audit. If no library remains, this is an error.\n\nBuild one wheel per architecture.",
);
/// A library for another C library.
pub const OTHER_LIBC: Code = Code::warning(
    "E004",
    "other-libc",
    "A library is linked against another C library than the rest of the wheel. glibc and musl cannot be mixed in one process. The library is left out of the audit. If no library remains, this is an error.\n\nBuild one wheel per C library.",
);
/// An extension module whose C library is unknown.
pub const UNKNOWN_LIBC: Code = Code::warning(
    "E005",
    "unknown-libc",
    "The C library of an extension module is unknown: neither the libraries that it needs, nor its program interpreter, its filename or the filename of the wheel identifies it. It is audited against the C library of the host, or against glibc if that is unknown.\n\nName the platform in the filename of the wheel.",
);
/// An extension module that is linked against libpython.
pub const NEEDS_LIBPYTHON: Code = Code::warning(
    "E006",
    "needs-libpython",
    "An extension module has libpython in NEEDED. The interpreter that loads the module already provides these symbols, and many interpreters are installed without the shared library, so the import fails there (PEP 513). In a wheel with a manylinux or musllinux tag this is an error.\n\nLink without `-lpythonX.Y`. `rock-matrix wheel repair` removes the NEEDED entry.",
);
/// An ELF file that cannot be edited.
pub const UNEDITABLE_ELF: Code = Code::error(
    "E007",
    "uneditable-elf",
    "An ELF file cannot be edited: its layout is invalid, or has no room for the change without moving other bytes. Nothing was written.\n\nUse the file as the linker produced it: a tool that edited it before may have left it in this state. `rock-matrix wheel verify` reports what is wrong with its layout.",
);
/// More dependencies between libraries than can be resolved.
pub const TOO_MANY_LIBRARIES: Code = Code::error(
    "E008",
    "too-many-libraries",
    "Resolving the dependencies of the wheel's libraries would take too much memory. The result grows with the number of libraries times that of their dependencies: a thousand libraries that lead to a thousand others make a million entries. Real wheels are far below this limit. None of the libraries was audited.",
);
/// A library whose C library is unknown.
pub const OPEN_LIBC: Code = Code::warning(
    "E010",
    "open-libc",
    "A library calls functions of the C library, but neither links one nor needs versioned symbols. Linkers for musl may produce such files, and up to Python 3.10 extension modules have the same suffix on glibc and musl. The library could be for either, so no manylinux or musllinux tag is certain: `wheel show` reports `linux`, and `wheel repair` keeps the platform tag.\n\nLink the library with its C library, name the platform in the filename of the wheel, or choose one with `--plat`.",
);
