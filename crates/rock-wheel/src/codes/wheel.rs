//! The `W` codes, for archives, dist-info and relabelling of wheels.

use rock_diagnostic::Code;

/// All `W` codes of this crate, sorted by ID.
pub const ALL: &[&Code] = &[
    &NOT_A_ZIP,
    &DAMAGED_ZIP,
    &ENCRYPTED_MEMBER,
    &MULTI_DISK_ZIP,
    &UNSUPPORTED_COMPRESSION,
    &UNSAFE_MEMBER_NAME,
    &DUPLICATE_MEMBER,
    &HEADERS_DIFFER,
    &OVERLAPPING_MEMBERS,
    &SYMLINK_MEMBER,
    &NAMES_DIFFER_IN_CASE,
    &CORRUPT_MEMBER,
    &INEXACT_ZIP64_FIELD,
    &DIST_INFO_FOLDER,
    &MISSING_DIST_INFO_FILE,
    &MEMBER_TOO_LARGE,
    &MEMBER_NOT_IN_RECORD,
    &RECORD_NAMES_NO_MEMBER,
    &RECORD_MISMATCH,
    &BAD_RECORD,
    &WEAK_RECORD_HASH,
    &NAME_MISMATCH,
    &VERSION_MISMATCH,
    &TORCH_REQUIREMENT,
    &PURELIB_MISMATCH,
    &BAD_WHEEL_HEADER,
    &OTHER_VERSION_STRING,
    &HAS_LABEL,
    &BAD_SOURCE_DATE,
    &UNICODE_PATH,
    &BAD_EXTRA_FIELD,
    &MEMBER_AND_FOLDER,
    &HIDDEN_BYTES,
    &RECORDS_IN_COMMENT,
    &FALSE_DATA_DESCRIPTOR,
    &DATA_DESCRIPTOR,
    &MEMBER_COMMENT,
    &ZIP_VERSION,
    &ZIP64_EXTENSION,
    &ARCHIVE_TOO_LARGE,
    &BAD_ENTRY_POINT,
    &BAD_DATA_FOLDER,
    &BAD_REQUIREMENT,
    &MALFORMED_HEADER,
    &COMPRESSION_RATIO,
    &DAMAGED_ARCHIVE,
    &UNSAFE_ARCHIVE_MEMBER,
    &INCOMPLETE_SOURCE_DISTRIBUTION,
];

/// Not a zip archive.
pub const NOT_A_ZIP: Code = Code::error(
    "W001",
    "not-a-zip",
    "A wheel is a zip archive, which ends with a record that locates its central directory (EOCD). This file has none: it is another kind of file, or its end is missing.\n\nThe usual cause is an incomplete download: compare its size and SHA-256 digest with those on the index or in the release.",
);
/// Contradictory zip structures.
pub const DAMAGED_ZIP: Code = Code::error(
    "W002",
    "damaged-zip",
    "The central directory of the zip archive cannot be parsed, or has wrong offsets.\n\nIf the wheel is larger than 4 GiB, check its zip64 fields, which some tools write incorrectly. Bytes before the archive or after its end also make it invalid, although some programs accept them.",
);
/// An encrypted member.
pub const ENCRYPTED_MEMBER: Code = Code::error(
    "W003",
    "encrypted-member",
    "A member of the wheel is encrypted. Installers do not ask for a password, so the wheel cannot be installed.\n\nPack the wheel again without encryption.",
);
/// A part of a multi-part archive.
pub const MULTI_DISK_ZIP: Code = Code::error(
    "W004",
    "multi-disk-zip",
    "The file is one part of an archive that was split into several files. A wheel is always one file.\n\nJoin the parts first.",
);
/// A compression method that wheels do not use.
pub const UNSUPPORTED_COMPRESSION: Code = Code::error(
    "W005",
    "unsupported-compression",
    "Members of a wheel must be stored or deflated; installers read nothing else. bzip2, LZMA and Zstandard are valid in zip archives, but not in wheels.\n\nPack the wheel again with DEFLATE.",
);
/// A member name that is not safe to unpack.
pub const UNSAFE_MEMBER_NAME: Code = Code::error(
    "W006",
    "unsafe-member-name",
    "Member names are relative paths whose components are separated by `/`. An absolute name, an empty, `.` or `..` component, a backslash, a drive letter or a NUL could write outside the installation directory, or mean different files on different systems.\n\nNames must be UTF-8, with the UTF-8 flag if they are not ASCII, and have no control or invisible characters; uv and PyPI refuse others. A name may have at most 2,048 bytes, and each component 255.",
);
/// Two members with the same name.
pub const DUPLICATE_MEMBER: Code = Code::error(
    "W007",
    "duplicate-member",
    "Two members have the same name. The program that unpacks the wheel decides which of them is installed, so a check of one does not cover the other.\n\nBuild the wheel again.",
);
/// Contradictory central and local headers.
pub const HEADERS_DIFFER: Code = Code::error(
    "W008",
    "headers-differ",
    "A zip archive describes each member twice: in the central directory and in the local file header before its data. Here the two contradict each other, so programs that read one see other files than programs that read the other.\n\nBuild the wheel again.",
);
/// Overlapping members.
pub const OVERLAPPING_MEMBERS: Code = Code::error(
    "W009",
    "overlapping-members",
    "Two members share bytes of the archive. Packing tools do not do this, but zip bombs do: small files that unpack to enormous ones.\n\nBuild the wheel again, and do not install it if its source is unknown.",
);
/// A symbolic link.
pub const SYMLINK_MEMBER: Code = Code::error(
    "W010",
    "symlink-member",
    "A member is a symbolic link. Wheels cannot contain links: installers write the link target as the content of a regular file, so a library of that name cannot be loaded.\n\nPack the file that the link points to, under the name that is loaded.",
);
/// Names that differ only in case.
pub const NAMES_DIFFER_IN_CASE: Code = Code::warning(
    "W011",
    "names-differ-in-case",
    "Two member names differ only in case. On case-insensitive file systems, one file replaces the other.\n\nRename one of them.",
);
/// Data that does not match its headers.
pub const CORRUPT_MEMBER: Code = Code::error(
    "W012",
    "corrupt-member",
    "The data of a member cannot be decompressed, or its size or CRC-32 differs from its header. The file was damaged after it was packed.\n\nBuild or download the wheel again.",
);
/// A zip64 extra field with superfluous values.
pub const INEXACT_ZIP64_FIELD: Code = Code::error(
    "W013",
    "inexact-zip64-field",
    "The zip64 extra field of a member must contain exactly the values that do not fit into the header, and this one contains more. pip reads it; uv refuses it.\n\n`rock-matrix wheel repair`, `label` and `retag` rewrite the wheel with exact fields.",
);
/// No dist-info directory, several, or one of another wheel.
pub const DIST_INFO_FOLDER: Code = Code::error(
    "W014",
    "dist-info-folder",
    "A wheel has exactly one top-level directory `NAME-VERSION.dist-info`, with the name and version in the filename. Installers refuse wheels with none or several, or with another name or version.\n\nThe usual cause is a wheel that was renamed by hand; `rock-matrix wheel label` changes both.",
);
/// Missing METADATA, WHEEL or RECORD.
pub const MISSING_DIST_INFO_FILE: Code = Code::error(
    "W015",
    "missing-dist-info-file",
    "The dist-info directory must contain METADATA, WHEEL and RECORD. Installers refuse a wheel without them.\n\nBuild the wheel again.",
);
/// A metadata file above its limit.
pub const MEMBER_TOO_LARGE: Code = Code::error(
    "W017",
    "member-too-large",
    "A text file of the wheel exceeds its limit, so it is not read into memory. The limits are 16 MiB and 65,536 header lines for METADATA and for WHEEL, 64 MiB and 262,145 rows for RECORD, and 1 MiB for `entry_points.txt`.",
);
/// A member that RECORD does not list.
pub const MEMBER_NOT_IN_RECORD: Code = Code::error(
    "W020",
    "member-not-in-record",
    "A file of the wheel is not listed in RECORD. pip installs it anyway and does not remove it on uninstall; other installers refuse the wheel.\n\nThe file was added after the wheel was built. Add files before packing, or pack with a tool that updates RECORD.",
);
/// A row of RECORD without a member.
pub const RECORD_NAMES_NO_MEMBER: Code = Code::error(
    "W021",
    "record-names-no-member",
    "RECORD lists a file that is not in the wheel. The file was removed or renamed after the wheel was built.\n\nBuild the wheel again, or remove files with a tool that updates RECORD.",
);
/// A hash or size that differs from RECORD.
pub const RECORD_MISMATCH: Code = Code::error(
    "W022",
    "record-mismatch",
    "The SHA-256 hash or size of a file differs from RECORD. The file was damaged, or changed after the wheel was built, for example by a tool that edits libraries without updating RECORD.\n\nBuild or download the wheel again, or edit it with a tool that updates RECORD.",
);
/// An invalid RECORD.
pub const BAD_RECORD: Code = Code::error(
    "W023",
    "bad-record",
    "RECORD must be a table with three columns separated by commas: path, hash and size. Each path must occur once, and only RECORD itself and its signatures have no hash.\n\nBuild the wheel again.",
);
/// A missing hash, or one weaker than SHA-256.
pub const WEAK_RECORD_HASH: Code = Code::error(
    "W024",
    "weak-record-hash",
    "Hashes in RECORD must be SHA-256 or stronger. MD5, SHA-1 and unknown algorithms are not permitted, and only RECORD itself and its signatures may lack a hash; any other file cannot be verified. Some tools that repack wheels write RECORD without any hashes.\n\n`rock-matrix wheel repair WHEEL` reads every file and writes a new wheel with its SHA-256 hash in RECORD. It warns, because it cannot know whether the bytes are the original ones. `label` and `retag` do not read files that they do not change and keep their rows, so `verify` reports those again. Use `repair --relabel LABEL` to set a label as well, then `retag` the output. With `--trust-record` all rows are kept.",
);
/// A distribution name that differs from the filename.
pub const NAME_MISMATCH: Code = Code::error(
    "W050",
    "name-mismatch",
    "`Name` in METADATA, or in PKG-INFO of an sdist, is not the distribution in the filename. Installers refuse the file.\n\nNames are compared in normalized form: case does not matter, and runs of `-`, `_` and `.` are equal.",
);
/// A version that differs from the filename.
pub const VERSION_MISMATCH: Code = Code::error(
    "W051",
    "version-mismatch",
    "`Version` in METADATA, or in PKG-INFO of an sdist, is not the version in the filename. Installers refuse the file, or install it under the other version.\n\nOften only the local version label of a wheel is missing, because the file was renamed by hand. `rock-matrix wheel label` changes both; start from the original filename.",
);
/// A torch requirement that contradicts the local version label.
pub const TORCH_REQUIREMENT: Code = Code::error(
    "W052",
    "torch-requirement",
    "The local version label names the torch version that the wheel was built against, but `Requires-Dist` permits only others. The wheel would be installed with a torch that cannot load it. A pin to one torch version in a wheel whose label names none is a warning.\n\nRequire `torch` without a version, and let the label and the index select it. A pin that agrees with the label is accepted.",
);
/// A `Root-Is-Purelib` that contradicts the platform tag.
pub const PURELIB_MISMATCH: Code = Code::error(
    "W054",
    "purelib-mismatch",
    "`Root-Is-Purelib` in WHEEL says whether the files are installed into `purelib`, the directory for platform-independent code. A wheel for one platform says `false`; only a wheel for `any` platform says `true`. On systems where `purelib` and `platlib` differ, the wheel would end up in the wrong one. Most systems have one directory for both, so a platform wheel that says `true` is a warning. Files in `NAME.data` are installed by their scheme and do not depend on the header.\n\n`rock-matrix wheel retag --platform-tag` corrects the header along with the tag.",
);
/// A missing or invalid header.
pub const BAD_WHEEL_HEADER: Code = Code::error(
    "W055",
    "bad-wheel-header",
    "METADATA, or PKG-INFO of an sdist, needs `Metadata-Version: 1.x` or `2.x`, `Name` and `Version`; WHEEL needs `Wheel-Version: 1.x`, `Root-Is-Purelib` and `Tag`. One of them is missing or invalid.",
);
/// A `__version__` that differs from the wheel's version.
pub const OTHER_VERSION_STRING: Code = Code::warning(
    "W056",
    "other-version-string",
    "A module of the wheel sets `__version__` to another version than that of the wheel. Programs that import the module see one version, and pip shows the other.\n\nIf only the local version label is missing, this is a note, because most packages never include it. The file is not changed.",
);
/// An existing local version label.
pub const HAS_LABEL: Code = Code::error(
    "W060",
    "has-label",
    "The wheel's version already has a local version label, which is not replaced by default.\n\n`--replace` replaces it; `--append` appends the new label after a dot. `rock-matrix wheel label WHEEL --remove` removes a label.",
);
/// An invalid `SOURCE_DATE_EPOCH`.
pub const BAD_SOURCE_DATE: Code = Code::error(
    "W063",
    "bad-source-date",
    "`SOURCE_DATE_EPOCH` must be a whole number of seconds since 1970-01-01 UTC. It becomes the time of the archive's members. Zip archives represent times from 1980 to 2107 in steps of two seconds; other times are rounded to the nearest of these.",
);
/// A Unicode Path field that contradicts the name in its header.
pub const UNICODE_PATH: Code = Code::error(
    "W100",
    "unicode-path",
    "A member has an Info-ZIP Unicode Path extra field (0x7075) that differs from the name in its header. uv, and pip on Python 3.12 and later, install the member under the name in the field, older Pythons under the name in the header, so different files are installed.\n\nWheels do not need the field. Build the wheel again without it.",
);
/// Extra fields that installers refuse.
pub const BAD_EXTRA_FIELD: Code = Code::error(
    "W101",
    "bad-extra-field",
    "The extra fields of a header are truncated or duplicate, or a ZIP64 field lacks sizes that are not in the header. pip, uv and PyPI each refuse some of these archives.\n\nBuild the wheel again; wheels need no extra fields except ZIP64.",
);
/// A path that is both a file and a directory.
pub const MEMBER_AND_FOLDER: Code = Code::error(
    "W102",
    "member-and-folder",
    "A member is a file, and other members are in a directory of the same name. No file system can have both, so the installation fails or depends on the order of the members.\n\nBuild the wheel again without one of them.",
);
/// Bytes that belong to no member.
pub const HIDDEN_BYTES: Code = Code::error(
    "W103",
    "hidden-bytes",
    "The archive has bytes before, between or after its members, often a member that the central directory does not list. Programs that read the archive from its start see other files than those that read the central directory; uv and PyPI refuse it.\n\nTypical causes are a member deleted only from the central directory and a program prepended to the archive. Build the wheel again.",
);
/// Zip records in the comment of the archive.
pub const RECORDS_IN_COMMENT: Code = Code::error(
    "W104",
    "records-in-comment",
    "The comment of the archive has control characters (0x01 to 0x08), like the records of a zip archive. Another archive in the comment can make two programs see different files; uv refuses it.\n\nBuild the wheel without a comment.",
);
/// A missing or contradictory data descriptor.
pub const FALSE_DATA_DESCRIPTOR: Code = Code::error(
    "W105",
    "false-data-descriptor",
    "Bit 3 of a header announces a data descriptor (CRC-32 and sizes) after the data. It is missing or contradicts the central directory. uv and PyPI refuse the archive.\n\nBuild the wheel again.",
);
/// A data descriptor.
pub const DATA_DESCRIPTOR: Code = Code::error(
    "W106",
    "data-descriptor",
    "The CRC-32 and sizes of a member are in a data descriptor after its data, because the archive was written as a stream. PyPI refuses it, and so does uv if the data is stored uncompressed.\n\n`rock-matrix wheel repair`, `label` and `retag` remove data descriptors.",
);
/// A comment of a member.
pub const MEMBER_COMMENT: Code = Code::error(
    "W107",
    "member-comment",
    "A member has a comment in the central directory. PyPI refuses it.\n\n`rock-matrix wheel repair`, `label` and `retag` remove comments of members.",
);
/// A format version after 6.3.
pub const ZIP_VERSION: Code = Code::error(
    "W108",
    "zip-version",
    "A header requires a newer version of the zip format than 6.3, the newest that exists. pip and uv refuse it.\n\nBuild the wheel again with another tool.",
);
/// A zip64 EOCD with extensible data.
pub const ZIP64_EXTENSION: Code = Code::error(
    "W109",
    "zip64-extension",
    "The zip64 EOCD is longer than its fields. The extra bytes are reserved for encryption and can hide other records; uv and PyPI refuse them.\n\nBuild the wheel again.",
);
/// An archive beyond the limits.
pub const ARCHIVE_TOO_LARGE: Code = Code::error(
    "W110",
    "archive-too-large",
    "The archive exceeds a limit that bounds the memory for reading it: 262,144 members, 32 MiB of central directory, or 4 KiB of comment.",
);
/// An entry point that installers refuse.
pub const BAD_ENTRY_POINT: Code = Code::error(
    "W111",
    "bad-entry-point",
    "`entry_points.txt` consists of groups `[NAME]` with lines `NAME = MODULE:OBJECT`, without duplicates. Lines end with a line feed; characters that only some installers treat as a line end, such as a lone carriage return or U+2028, could hide entries. Entries of `console_scripts` and `gui_scripts` become programs: a name must not contain spaces or path separators or replace Python itself, and a value must be `MODULE:FUNCTION` without spaces around the colon. Otherwise pip or uv refuses the wheel, or they install different programs.",
);
/// A `.data` directory that installers refuse.
pub const BAD_DATA_FOLDER: Code = Code::error(
    "W112",
    "bad-data-folder",
    "The directory `NAME-VERSION.data` must have the same name and version as the dist-info directory and may contain only the directories `data`, `headers`, `platlib`, `purelib` and `scripts`. `scripts` must not contain directories or a program that replaces Python itself. No file may be installed at the path of another file of the wheel. Otherwise pip or uv refuses the wheel, they install different files, or the installed files are not found.",
);
/// An invalid requirement.
pub const BAD_REQUIREMENT: Code = Code::error(
    "W113",
    "bad-requirement",
    "`Requires-Dist` must be a PEP 508 requirement, such as `torch>=2.5; python_version > \"3.8\"`, and `Requires-Python` a list of PEP 440 version specifiers, such as `>=3.9,<4`. Installers refuse or ignore requirements that they cannot parse.\n\nCorrect the dependencies of the project, and build the wheel or sdist again.",
);
/// An invalid header line.
pub const MALFORMED_HEADER: Code = Code::error(
    "W114",
    "malformed-header",
    "A line of `METADATA`, `WHEEL` or `PKG-INFO` before the first empty line is not a valid header: it has no colon, a space before the colon, or a line break that only some programs recognize. pip treats the rest as the description, uv as a header with another name.\n\nCorrect the line in the metadata of the project, and build the wheel or sdist again.",
);
/// A wheel that unpacks to far more than its size.
pub const COMPRESSION_RATIO: Code = Code::warning(
    "W115",
    "compression-ratio",
    "The wheel unpacks to more than 64 MiB and to more than 50 times its own size. PyPI rejects such a file as a decompression bomb; pip and uv install it.\n\nLeave out the data that compresses so well, or generate it when it is first needed.",
);
/// A `.tar.gz` archive that cannot be unpacked.
pub const DAMAGED_ARCHIVE: Code = Code::error(
    "W116",
    "damaged-archive",
    "An sdist or an archive of an install tree cannot be unpacked: it is not a gzip-compressed tar archive, is truncated or damaged, has headers that programs read differently, or exceeds a limit: 250,000 members, 4 KiB for one path and 64 MiB for all, 100,000 directories, 16 MiB for the paths of directories, 64 GiB without compression.\n\nBuild it again. A downloaded file may be an error page of the server.",
);
/// A member of a `.tar.gz` archive that is unsafe to unpack.
pub const UNSAFE_ARCHIVE_MEMBER: Code = Code::error(
    "W117",
    "unsafe-archive-member",
    "A member of an sdist or of an archive of an install tree is not safe to unpack, for one of these reasons:\n\n- Its path is absolute, has a `..` component, has more than 128 components or one of more than 255 bytes, or is that of another member.\n- It is a link that may lead out of the top-level directory of an sdist, or out of the directory into which a tree is unpacked.\n- It is below a link.\n- It is a hard link to anything but an earlier file.\n- It is a device, a pipe or a sparse file.\n\nThe rules are stricter than those of Python's extraction filter `data` (PEP 706, PEP 721), because not every tool applies that filter. Build the archive again without the member.",
);
/// An sdist without the files that a build needs.
pub const INCOMPLETE_SOURCE_DISTRIBUTION: Code = Code::error(
    "W118",
    "incomplete-source-distribution",
    "An sdist has one top-level directory, `NAME-VERSION`, with PKG-INFO and either `pyproject.toml` or `setup.py` in it, and its paths do not start with `./`. PyPI refuses an archive without the first, and installers cannot build one without the others. Another name of the directory is a warning.\n\nCreate it with `python -m build --sdist`.",
);
