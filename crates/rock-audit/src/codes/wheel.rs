//! The `W` codes: wheels as containers, their dist-info, and changing their names.

use rock_diagnostic::Code;

/// All of them, sorted by ID.
pub const ALL: &[&Code] = &[
    &BAD_WHEEL_NAME,
    &BAD_PATTERN,
    &COPIED_LIBRARY,
    &OUTPUT_EXISTS,
    &OUTPUT_IS_INPUT,
    &UNKNOWN_PLATFORM,
    &PLATFORM_OUT_OF_REACH,
    &LIBRARY_NOT_FOUND,
    &GRAFTS_FORBIDDEN,
    &UNSOUND_RESULT,
    &GRAFT_REPLACES_MEMBER,
    &AMBIGUOUS_GRAFT,
    &CLAIM_OVERTAKEN,
    &WHEEL_NOT_THERE,
    &SEVERAL_WHEELS,
    &WHEEL_TOO_SMALL,
    &UNKNOWN_FEATURE,
    &NO_EMBEDDING,
    &MARKER_NOT_FOUND,
    &BAD_ROCM_FOLDER,
    &LINKS_IN_ROCM,
    &UNTRIED_EMBEDDING,
];

/// A file name that is no wheel name.
pub const BAD_WHEEL_NAME: Code = Code::error(
    "W016",
    "bad-wheel-name",
    "A wheel is named `{distribution}-{version}(-{build})-{python}-{abi}-{platform}.whl`. Hyphens of the distribution are written `_`, and the `+` before the label must be there: a release that was uploaded without encoding it stores a dot.\n\nA local file whose name contains `%2B` is refused by pip; save it with `+`.",
);
/// A pattern that cannot be read.
pub const BAD_PATTERN: Code = Code::error(
    "W032",
    "bad-pattern",
    "Patterns of libraries are shell patterns: `*` stands for any letters, `?` for one, `[ab]` for one of those in it.",
);
/// One library under several names.
pub const COPIED_LIBRARY: Code = Code::warning(
    "W041",
    "copied-library",
    "The same library is in the wheel several times. A wheel cannot hold links, so a chain such as `libx.so`, `libx.so.1` and `libx.so.1.2.3` becomes that many files. They take space, and a process that asks for two of the names loads the library twice, with two sets of its variables.\n\nPackage the file under its SONAME alone, or let `rock-matrix wheel repair --dedup-sonames` drop the copies whose names stand in no file of the wheel.",
);
/// Another file has the output's name.
pub const OUTPUT_EXISTS: Code = Code::error(
    "W061",
    "output-exists",
    "A file with the name of the result is there and has other content. It is not replaced unasked.\n\nUse `--force` to replace it, or `-w DIR` to write elsewhere. A file with the same content is left as it is.",
);
/// The output would replace the input.
pub const OUTPUT_IS_INPUT: Code = Code::error(
    "W062",
    "output-is-input",
    "The result would have the name and folder of the wheel it is made from, and the input is never changed.\n\nGive another folder with `-w DIR`.",
);
/// A platform that no policy describes.
pub const UNKNOWN_PLATFORM: Code = Code::error(
    "W070",
    "unknown-platform",
    "`--plat` names a platform by its tag, such as `manylinux_2_28_x86_64`, `manylinux2014_x86_64`, or `auto` for the best that the wheel can be. The platforms are those of PEP 513, 571, 599, 600 and 656 for the architecture of the wheel.",
);
/// A platform that repairing cannot reach.
pub const PLATFORM_OUT_OF_REACH: Code = Code::error(
    "W071",
    "platform-out-of-reach",
    "Repairing brings libraries along. It cannot make the wheel's own files need older symbols than they were linked against, so a wheel fits no platform that lacks them.\n\nBuild in an older image, or repair for a newer platform.",
);
/// A library that should come along and is nowhere.
pub const LIBRARY_NOT_FOUND: Code = Code::error(
    "W072",
    "library-not-found",
    "A library that the platform need not have is needed by a file of the wheel, and lies neither in the wheel nor where the loader of this machine searches.\n\nInstall it, say where it lies, or leave it out with `--exclude` where another package brings it.",
);
/// Libraries that would come along.
pub const GRAFTS_FORBIDDEN: Code = Code::error(
    "W073",
    "grafts-forbidden",
    "The wheel needs libraries that its platform need not have, and `--no-graft` says that none may be brought along. Exclude those that another package brings, or link without them.",
);
/// A repaired wheel that is not what was planned.
pub const UNSOUND_RESULT: Code = Code::error(
    "W074",
    "unsound-result",
    "A repaired wheel is judged again before it gets its name: every edited library must be as it was planned, every library that came along must be found from where it is installed, none that was needed may be lost, and the platforms of the name must have the rest. This one is not so, and nothing was written.\n\nThis is a fault of rock-matrix or a library at the edge of what can be edited, such as one whose search path has no room for another entry. Please report it with the output of `--dry-run`.",
);
/// A member in the place of which a library comes along.
pub const GRAFT_REPLACES_MEMBER: Code = Code::warning(
    "W075",
    "graft-replaces-member",
    "A library that comes along gets a name with the start of its SHA-256 in it, and the wheel holds a file of that name with other bytes: what an earlier repair left, by another program or with other options, or something that was put there by hand. The library of this machine takes its place, so that the repaired wheel is what the plan says.\n\nRepair the wheel as it was built, before anything came along. To keep the file too, put what comes along into another folder: `--lib-sdir .more`.",
);
/// A library that would come along once and lead to two others under one name.
pub const AMBIGUOUS_GRAFT: Code = Code::error(
    "W076",
    "ambiguous-graft",
    "Two files of the wheel lead to the same library of this machine, and from there, under one name, to two different ones, for they search in different folders. The library comes along once, and can need only one of them under its new name.\n\nBuild both files with the same search paths, or leave the library out that is found twice, where another package brings it.",
);
/// A claim of the name that is true of the wheel as it was, and no longer with what comes along.
pub const CLAIM_OVERTAKEN: Code = Code::warning(
    "W077",
    "claim-overtaken",
    "The file name promises systems that have all that the wheel's own files need. A library of this machine comes along, and needs a newer version of a symbol, or a newer processor, than these systems have. So the repaired wheel does not load there, and its name says so no longer.\n\nRepair where the library is older, such as in the image that the wheel was built in or with `--sysroot`, or leave it out with `--exclude` where another package brings it.",
);
/// An expected wheel that is not there.
pub const WHEEL_NOT_THERE: Code = Code::error(
    "W080",
    "wheel-not-there",
    "`wheel check` was given a folder without wheels, or no wheel of a distribution that `--expect` names. Where the facts say that there are none for the platform of the other wheels, it is a remark.\n\nSee the log of the build that should have left it.",
);
/// Two wheels of one distribution.
pub const SEVERAL_WHEELS: Code = Code::warning(
    "W081",
    "several-wheels",
    "There are several wheels of a distribution that `--expect` names. The first, by name, is taken for the outputs of `--github-output`. Often one of them is left from an earlier build.\n\nRemove it, or check the wheels of one Python at a time.",
);
/// A wheel that holds next to nothing.
pub const WHEEL_TOO_SMALL: Code = Code::error(
    "W082",
    "wheel-too-small",
    "The wheel of a distribution that `--expect` names is smaller than any finished one: its libraries are not in it. The bound is `least-bytes` of a row of the facts, `rock-matrix compat list wheel-contents`.\n\nSee the log of the build.",
);
/// A feature that no row knows.
pub const UNKNOWN_FEATURE: Code = Code::error(
    "W083",
    "unknown-feature",
    "`--with` names what the expected wheels were built with, by a word of the rows of `wheel-contents`: `rock-matrix compat list wheel-contents` shows them.",
);
/// A wheel that ROCm is not put into.
pub const NO_EMBEDDING: Code = Code::error(
    "W090",
    "no-embedding",
    "`wheel embed` puts ROCm into wheels of the distributions and platforms that `embeddings` of the facts has rows for: `rock-matrix compat list embeddings`.\n\nGive such a wheel, or write a row and read it with `--compat`.",
);
/// The line that a statement goes before.
pub const MARKER_NOT_FOUND: Code = Code::error(
    "W091",
    "marker-not-found",
    "ROCm in the wheel is found by a statement that goes before one line of a module. That line is not there, or stands there several times, so the result would not load, and nothing was written.\n\nThe row of `embeddings` in the facts was written for another version of the module: correct it, and read it with `--compat`.",
);
/// A folder of ROCm that cannot be packed.
pub const BAD_ROCM_FOLDER: Code = Code::error(
    "W092",
    "bad-rocm-folder",
    "The folder that `--rocm` names has nothing that goes into a wheel, or has what no wheel can hold: a link that leads out of it or nowhere, a pipe, a socket, a device. Left out without a word it would be missing where the wheel is used.\n\nGive the folder that ROCm was installed into, or remove what does not belong there.",
);
/// Links of a folder of ROCm.
pub const LINKS_IN_ROCM: Code = Code::note(
    "W094",
    "links-in-rocm",
    "Installers write a link in a wheel as a text file, so a wheel holds none. A library that links lead to is packed once, under its SONAME, which is the name that loaders ask for; links to other files become copies, and links to folders and to what stays out are left out.",
);
/// A way that nobody has tried.
pub const UNTRIED_EMBEDDING: Code = Code::warning(
    "W095",
    "untried-embedding",
    "The row of `embeddings` says that nobody has run a wheel made so yet. Search paths of its libraries lead to ROCm in the wheel, and `wheel verify` passes; whether all that ROCm loads while it runs is found is another question.\n\nTry the wheel on a machine without ROCm.",
);
