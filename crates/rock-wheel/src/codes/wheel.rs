//! The `W` codes: archives, dist-info, and renaming of wheels.

use rock_diagnostic::Code;

/// All `W` codes, sorted by ID.
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
    "A wheel is a zip archive, and ends with the record that says where its table of contents lies. This file has none: it is another kind of file, or its end is missing.\n\nA download that stopped early looks like this. Compare its size and SHA-256 with what the index or the release says.",
);
/// Contradictory zip structures.
pub const DAMAGED_ZIP: Code = Code::error(
    "W002",
    "damaged-zip",
    "The table of contents of the zip archive cannot be read, or points to places where nothing fitting lies.\n\nFor a wheel of more than 4 GiB look at its ZIP64 fields: some tools write them wrongly. Bytes in front of the archive or behind its table make it invalid too, although some programs read on.",
);
/// An encrypted member.
pub const ENCRYPTED_MEMBER: Code = Code::error(
    "W003",
    "encrypted-member",
    "A member of the wheel is encrypted. No installer asks for a password, so such a wheel cannot be installed.",
);
/// A part of a multi-part archive.
pub const MULTI_DISK_ZIP: Code = Code::error(
    "W004",
    "multi-disk-zip",
    "The file is one part of an archive that was split over several files. Wheels are always one file; join the parts first.",
);
/// A compression method that wheels do not use.
pub const UNSUPPORTED_COMPRESSION: Code = Code::error(
    "W005",
    "unsupported-compression",
    "Members of a wheel are stored or deflated; installers read nothing else. bzip2, LZMA and Zstandard members are valid in zip archives, but not here.\n\nPack the wheel again with deflate.",
);
/// A member name that is not safe to unpack.
pub const UNSAFE_MEMBER_NAME: Code = Code::error(
    "W006",
    "unsafe-member-name",
    "Member names are relative paths with `/` between their parts. An absolute name, a part `..` or `.`, an empty part, a backslash, a drive letter or a NUL could write outside the folder of the installation, or mean one file here and another there.\n\nNames must be UTF-8, with the UTF-8 flag if they are not ASCII, and have no control or invisible characters; uv and PyPI refuse others. A name may have at most 2,048 bytes, and each component 255.",
);
/// Two members of one name.
pub const DUPLICATE_MEMBER: Code = Code::error(
    "W007",
    "duplicate-member",
    "Two members have the same name. Which of them is installed depends on the program that unpacks the wheel, so checks on one say nothing about the other.",
);
/// Contradictory central and local headers.
pub const HEADERS_DIFFER: Code = Code::error(
    "W008",
    "headers-differ",
    "A zip archive describes each member twice: in the table of contents and in front of the data. Here the two contradict each other, so programs that read one see another file than programs that read the other.",
);
/// Overlapping members.
pub const OVERLAPPING_MEMBERS: Code = Code::error(
    "W009",
    "overlapping-members",
    "Two members use the same bytes of the archive. No packing tool does this; it is how small files are made that unpack to enormous ones.",
);
/// A symbolic link.
pub const SYMLINK_MEMBER: Code = Code::error(
    "W010",
    "symlink-member",
    "A member is a symbolic link. Wheels have no links: installers write the link's text as the content of a regular file, and a library of that name cannot be loaded.\n\nPack the file that the link points to, under the name that is loaded.",
);
/// Names that differ only in case.
pub const NAMES_DIFFER_IN_CASE: Code = Code::warning(
    "W011",
    "names-differ-in-case",
    "Two member names differ only in upper and lower case. On systems that do not tell them apart, one replaces the other.",
);
/// Data that does not match its headers.
pub const CORRUPT_MEMBER: Code = Code::error(
    "W012",
    "corrupt-member",
    "The data of a member cannot be unpacked, or has another size or CRC-32 than its header says: the file was damaged after it was packed.\n\nBuild or download the wheel again.",
);
/// A zip64 extra field with superfluous values.
pub const INEXACT_ZIP64_FIELD: Code = Code::error(
    "W013",
    "inexact-zip64-field",
    "The ZIP64 field of a member must hold exactly the values that do not fit the header, and this one holds more. pip reads it; uv refuses it.\n\n`rock-matrix wheel repair`, `label` and `retag` rewrite the wheel with exact fields.",
);
/// No dist-info directory, several, or one of another wheel.
pub const DIST_INFO_FOLDER: Code = Code::error(
    "W014",
    "dist-info-folder",
    "A wheel has exactly one folder `NAME-VERSION.dist-info` at its top, of the same name and version as the file. Installers refuse any other number, and a folder of another name or version.\n\nA file that was renamed by hand looks like this; `rock-matrix wheel label` changes both.",
);
/// Missing METADATA, WHEEL or RECORD.
pub const MISSING_DIST_INFO_FILE: Code = Code::error(
    "W015",
    "missing-dist-info-file",
    "The dist-info folder of a wheel holds `METADATA`, `WHEEL` and `RECORD`. Without them it cannot be installed.",
);
/// A metadata file above its limit.
pub const MEMBER_TOO_LARGE: Code = Code::error(
    "W017",
    "member-too-large",
    "A text file of the wheel exceeds its limit, so it is not read into memory. The limits are 16 MiB and 65,536 header lines for `METADATA` and for `WHEEL`, 64 MiB and 262,145 rows for `RECORD`, and 1 MiB for `entry_points.txt`.",
);
/// A member that RECORD does not list.
pub const MEMBER_NOT_IN_RECORD: Code = Code::error(
    "W020",
    "member-not-in-record",
    "A file of the wheel is not listed in `RECORD`. pip installs it all the same and does not remove it later; other installers refuse the wheel.\n\nIt was added after the wheel was made. Add files before packing, or pack with a tool that writes `RECORD`.",
);
/// A row of RECORD without a member.
pub const RECORD_NAMES_NO_MEMBER: Code = Code::error(
    "W021",
    "record-names-no-member",
    "`RECORD` lists a file that is not in the wheel: it was removed or renamed after the wheel was made.",
);
/// A hash or size that differs from RECORD.
pub const RECORD_MISMATCH: Code = Code::error(
    "W022",
    "record-mismatch",
    "A file has another SHA-256 or size than `RECORD` says. It was changed after the wheel was made, for example by a tool that edits libraries without writing `RECORD` anew, or by damage.",
);
/// An invalid RECORD.
pub const BAD_RECORD: Code = Code::error(
    "W023",
    "bad-record",
    "`RECORD` is a table of three columns separated by commas: path, hash, size. Each path stands once; only `RECORD` itself and its signatures have no hash.",
);
/// A missing hash, or one weaker than SHA-256.
pub const WEAK_RECORD_HASH: Code = Code::error(
    "W024",
    "weak-record-hash",
    "Hashes in `RECORD` are SHA-256 or stronger. MD5, SHA-1 and unknown ones may not be used, and only `RECORD` itself and its signatures have none, so nothing vouches for the file. Some tools that repack wheels write `RECORD` without hashes at all.\n\n`rock-matrix wheel repair` reads every member and writes its SHA-256 into `RECORD`, with a warning, for it vouches for the bytes as they were found. `label` and `retag` read no files that they do not change and keep their rows, so `verify` reports those again; `repair --relabel` sets a label on the way, and its result can be given other tags. With `--trust-record` rows stay as they are.",
);
/// A distribution name that differs from the filename.
pub const NAME_MISMATCH: Code = Code::error(
    "W050",
    "name-mismatch",
    "The `Name` in `METADATA`, or in `PKG-INFO` of a source distribution, is not the distribution that the file is named after. Installers refuse the file.\n\nUpper and lower case and runs of `-`, `_`, `.` do not count.",
);
/// A version that differs from the filename.
pub const VERSION_MISMATCH: Code = Code::error(
    "W051",
    "version-mismatch",
    "The `Version` in `METADATA`, or in `PKG-INFO` of a source distribution, is not the one in the file's name. Installers refuse the file, or install it under the other version.\n\nOften only the label after `+` of a wheel is missing, because the file was renamed by hand. `rock-matrix wheel label` changes both; start from the file under its first name.",
);
/// A torch requirement that contradicts the local version label.
pub const TORCH_REQUIREMENT: Code = Code::error(
    "W052",
    "torch-requirement",
    "The label says which torch the wheel was built against, and `Requires-Dist` allows only others: the wheel would be installed beside a torch that it cannot be loaded with.\n\nRequire `torch` without a version, and let the label and the index folder choose it. A pin that fits the label is accepted.",
);
/// A `Root-Is-Purelib` that contradicts the platform tag.
pub const PURELIB_MISMATCH: Code = Code::error(
    "W054",
    "purelib-mismatch",
    "`Root-Is-Purelib` in `WHEEL` says whether the files go where code for every platform lies. A wheel for one platform says `false`; only a wheel for `any` platform says `true`. Where the two folders differ, the wheel would end up in the wrong one; most systems have one folder for both, so that a platform wheel that says `true` is a warning. What lies in `NAME.data` goes where its folder says, and needs no line.\n\n`rock-matrix wheel retag --platform-tag` corrects it along with the tag.",
);
/// A missing or invalid header.
pub const BAD_WHEEL_HEADER: Code = Code::error(
    "W055",
    "bad-wheel-header",
    "`METADATA`, or `PKG-INFO` of a source distribution, needs `Metadata-Version: 1.x` or `2.x`, `Name` and `Version`; `WHEEL` needs `Wheel-Version: 1.x`, `Root-Is-Purelib` and `Tag`. One of them is missing or cannot be read.",
);
/// A `__version__` that differs from the wheel's version.
pub const OTHER_VERSION_STRING: Code = Code::warning(
    "W056",
    "other-version-string",
    "A module of the wheel sets `__version__` to another version than the wheel has. Programs that ask the module see that one; pip sees the wheel's.\n\nWhere only the label is missing it is a note: most packages never carry it in the module. The file is not changed.",
);
/// An existing local version label.
pub const HAS_LABEL: Code = Code::error(
    "W060",
    "has-label",
    "The wheel's version has a local part already, and a label is not put over it unasked.\n\n`--replace` puts the new label in its place; `--append` writes the new one behind it, after a dot.",
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
    "The extra fields of a header are truncated or duplicate, or a ZIP64 field lacks sizes that the header leaves to it. pip, uv and PyPI each refuse some of these archives.\n\nBuild the wheel again; wheels need no extra fields except ZIP64.",
);
/// A path that is both a file and a directory.
pub const MEMBER_AND_FOLDER: Code = Code::error(
    "W102",
    "member-and-folder",
    "A member is a file, and other members are in a folder of the same name. No file system can have both, so the installation fails or depends on the order of the members.",
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
    "The comment of the archive has control characters (0x01 to 0x08), as the records of a zip archive do. Another archive hidden in the comment can make two programs see different files; uv refuses it.\n\nBuild the wheel without a comment.",
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
    "A header requires a newer version of the zip format than 6.3, the newest that exists. pip and uv refuse it.",
);
/// A zip64 EOCD with extensible data.
pub const ZIP64_EXTENSION: Code = Code::error(
    "W109",
    "zip64-extension",
    "The ZIP64 end record is longer than its fields. The extra bytes are meant for encryption and can hide other records; uv and PyPI refuse them.",
);
/// An archive beyond the limits.
pub const ARCHIVE_TOO_LARGE: Code = Code::error(
    "W110",
    "archive-too-large",
    "The archive exceeds a limit that bounds the memory of reading it: 262,144 members, 32 MiB of central directory, or 4 KiB of comment.",
);
/// An entry point that installers refuse.
pub const BAD_ENTRY_POINT: Code = Code::error(
    "W111",
    "bad-entry-point",
    "`entry_points.txt` consists of groups `[NAME]` with lines `NAME = MODULE:OBJECT`, without duplicates. Lines end with a line feed; characters that only some installers take for the end of a line, such as a lone carriage return or U+2028, could hide entries. Entries of `console_scripts` and `gui_scripts` become programs: a name must not contain spaces or path separators or replace Python itself, and a value must be `MODULE:FUNCTION` without spaces around the colon. Otherwise pip or uv refuses the wheel, or they install different programs.",
);
/// A `.data` directory that installers refuse.
pub const BAD_DATA_FOLDER: Code = Code::error(
    "W112",
    "bad-data-folder",
    "The folder `NAME-VERSION.data` must have the same name and version as the dist-info folder and may only contain the folders `data`, `headers`, `platlib`, `purelib` and `scripts`. `scripts` must not contain folders or a program that replaces Python itself. No file may be installed at the path of another file of the wheel. Otherwise pip or uv refuses the wheel, installs the files where they are not found, or they install different files.",
);
/// An invalid requirement.
pub const BAD_REQUIREMENT: Code = Code::error(
    "W113",
    "bad-requirement",
    "`Requires-Dist` must be a PEP 508 requirement, such as `torch>=2.5; python_version > \"3.8\"`, and `Requires-Python` PEP 440 version specifiers, such as `>=3.9,<4`. Installers refuse or ignore requirements that they cannot parse.\n\nCorrect the dependencies of the project, and build the wheel or source distribution again.",
);
/// An invalid header line.
pub const MALFORMED_HEADER: Code = Code::error(
    "W114",
    "malformed-header",
    "A line of `METADATA`, `WHEEL` or `PKG-INFO` before the first empty line is not a valid header: it has no colon, a space before the colon, or a line break that only some programs recognize. pip treats the rest as the description, uv as a header with another name.",
);
/// A wheel that unpacks to far more than its size.
pub const COMPRESSION_RATIO: Code = Code::warning(
    "W115",
    "compression-ratio",
    "The wheel unpacks to more than 64 MiB and to more than 50 times its own size. PyPI takes such a file for a decompression bomb and refuses it; pip and uv install it.\n\nLeave out the data that compresses so well, or create it when it is first needed.",
);
/// A `.tar.gz` archive that cannot be unpacked.
pub const DAMAGED_ARCHIVE: Code = Code::error(
    "W116",
    "damaged-archive",
    "A source distribution or an archive of an install tree cannot be unpacked: it is not a gzip-compressed tar archive, is truncated or damaged, has headers that programs read differently, or exceeds a limit: 250,000 members, 4 KiB for one path and 64 MiB for all, 100,000 folders, 16 MiB for the paths of folders, 64 GiB without compression.\n\nBuild it again. A file that was downloaded may be an error page of the server.",
);
/// A member of a `.tar.gz` archive that is unsafe to unpack.
pub const UNSAFE_ARCHIVE_MEMBER: Code = Code::error(
    "W117",
    "unsafe-archive-member",
    "A member of a source distribution or of an archive of an install tree has an absolute path, a `..` component, more than 128 components or one of more than 255 bytes; is a link that may lead out of the top folder of a source distribution, or out of the folder that a tree is unpacked in; lies behind a link; is a hard link to something else than an earlier file; is a device, a pipe or a sparse file; or has the path of another member.\n\nThe rules are stricter than those of Python's extraction filter `data` (PEP 706, PEP 721), because not every tool applies that filter. Build the archive again without the member.",
);
/// An sdist without the files that a build needs.
pub const INCOMPLETE_SOURCE_DISTRIBUTION: Code = Code::error(
    "W118",
    "incomplete-source-distribution",
    "A source distribution has one top folder, `NAME-VERSION`, with `PKG-INFO` and either `pyproject.toml` or `setup.py` in it, and its paths do not begin with `./`. PyPI refuses an archive without the first, and installers cannot build one without the others. Another name of the top folder is a warning.\n\nCreate it with `python -m build --sdist`.",
);
