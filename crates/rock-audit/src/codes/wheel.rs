//! The `W` codes, for names, repairs, checks and embedding.

use rock_diagnostic::{Code, ExitClass};

/// All `W` codes of this crate, sorted by ID.
pub const ALL: &[&Code] = &[
    &BAD_WHEEL_NAME,
    &UNKNOWN_PRESET,
    &UNMATCHED_EXCLUDE,
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
    &EMBEDDED_ALREADY,
    &LINKS_IN_ROCM,
    &UNTRIED_EMBEDDING,
];

/// A filename that is not a wheel name.
pub const BAD_WHEEL_NAME: Code = Code::error(
    "W016",
    "bad-wheel-name",
    "The filename is not that of a wheel, `{distribution}-{version}(-{build})-{python}-{abi}-{platform}.whl`. Hyphens of the distribution are written as `_`, and the local version label follows a `+`. GitHub replaces the `+` by a dot if it is not encoded in the upload.\n\nRename the file. If its name contains `%2B`, write `+`: pip refuses the encoded form in local filenames.",
);
/// An unknown preset of excluded libraries.
pub const UNKNOWN_PRESET: Code = Code::error(
    "W030",
    "unknown-preset",
    "The compatibility data has no preset of this name. `--exclude-preset` takes names of sets of libraries that repairs do not graft.\n\n`rock-matrix compat list presets` shows the presets.",
)
.exits_with(ExitClass::Usage);
/// An exclude pattern that matches nothing.
pub const UNMATCHED_EXCLUDE: Code = Code::warning(
    "W031",
    "unmatched-exclude",
    "A pattern of `--exclude` matches no library that the wheel needs, so it has no effect.\n\nPatterns match whole names: `libamdhip64.so` does not match `libamdhip64.so.6`, but `libamdhip64.so*` does.",
);
/// An invalid pattern.
pub const BAD_PATTERN: Code = Code::error(
    "W032",
    "bad-pattern",
    "A pattern is not valid. Patterns for libraries are shell patterns: `*` matches any characters, `?` one character, `[ab]` one of the characters in the brackets. Some options and compatibility tables take regular expressions instead.",
);
/// Identical copies of a library.
pub const COPIED_LIBRARY: Code = Code::warning(
    "W041",
    "copied-library",
    "The wheel contains the same library several times. Wheels cannot contain symbolic links, so a chain such as `libx.so`, `libx.so.1` and `libx.so.1.2.3` becomes three files. The copies take space, and a process that loads two of the names has two copies of the library, each with its own global variables.\n\nPackage the file only under its SONAME, or let `rock-matrix wheel repair --dedup-sonames` drop the copies whose names no file of the wheel mentions.",
);
/// An existing file with the name of the output.
pub const OUTPUT_EXISTS: Code = Code::error(
    "W061",
    "output-exists",
    "A file with the name of the output exists and has different content. It is not replaced by default.\n\nPass `--replace` to replace it, or write to another directory with `--out DIR`. A file with identical content is left as it is. Inputs and other results of the same run are not replaced even with `--replace`.",
);
/// An output that would replace the input.
pub const OUTPUT_IS_INPUT: Code = Code::error(
    "W062",
    "output-is-input",
    "The output would replace the wheel that it is made from. The input is never changed.\n\nWrite to another directory with `--out DIR`.",
);
/// A platform that no policy describes.
pub const UNKNOWN_PLATFORM: Code = Code::error(
    "W070",
    "unknown-platform",
    "No policy has the platform tag in `--plat`.\n\nPass one such as `manylinux_2_28_x86_64` or `manylinux2014_x86_64`, or `auto` for the best one that the wheel can comply with. The policies are those of PEP 513, 571, 599, 600 and 656 for the architecture of the wheel.",
);
/// A platform that the wheel cannot comply with.
pub const PLATFORM_OUT_OF_REACH: Code = Code::error(
    "W071",
    "platform-out-of-reach",
    "A repair grafts libraries. It cannot make the wheel's own files need older symbol versions than they were linked against, so the wheel cannot comply with a platform that lacks them.\n\nBuild in an older container image, or repair for a newer platform.",
);
/// An external library that cannot be found.
pub const LIBRARY_NOT_FOUND: Code = Code::error(
    "W072",
    "library-not-found",
    "A file of the wheel needs a library that the platform does not guarantee. The library is neither in the wheel nor in the search path of the dynamic linker on this machine, so it cannot be grafted.\n\nInstall it, name its directory with `--ldpaths` or `--sysroot`, or pass `--exclude` if another package provides it.",
);
/// External libraries that may not be grafted.
pub const GRAFTS_FORBIDDEN: Code = Code::error(
    "W073",
    "grafts-forbidden",
    "The wheel needs libraries that its platform does not guarantee, but `--no-graft` forbids grafting them.\n\nPass `--exclude` for libraries that another package provides, or build the wheel so that it does not need them.",
);
/// A repaired wheel that does not match its plan.
pub const UNSOUND_RESULT: Code = Code::error(
    "W074",
    "unsound-result",
    "A repaired wheel is audited again before it gets its name. Every edited library must match the repair plan, every grafted library must be found from its installed path, no needed library may be lost, and the platforms in the filename must provide the rest. This wheel failed the audit, and nothing was written.\n\nThis is a bug in rock-matrix, or a library has too little room for the change, for example for another entry of its search path. Please report it with the output of `--dry-run`.",
);
/// A member that a grafted library replaces.
pub const GRAFT_REPLACES_MEMBER: Code = Code::warning(
    "W075",
    "graft-replaces-member",
    "A grafted library has the start of its SHA-256 digest in its filename, and the wheel already contains a file of that name with different content. An earlier repair, by another program or with other options, left it there, or it was added by hand. The library of the host replaces it, so that the repaired wheel matches the repair plan.\n\nRepair the original wheel, before anything was grafted. To keep the file too, graft into another directory: `--lib-sdir .more`.",
);
/// A grafted library that would need two libraries under one name.
pub const AMBIGUOUS_GRAFT: Code = Code::error(
    "W076",
    "ambiguous-graft",
    "Two files of the wheel lead to the same external library. From there, one NEEDED name resolves to two different libraries, because the files have different search paths. The library is grafted once and can need only one of them.\n\nBuild both files with the same search paths, or pass `--exclude` for the ambiguous library if another package provides it.",
);
/// A platform tag that grafted libraries do not comply with.
pub const CLAIM_OVERTAKEN: Code = Code::warning(
    "W077",
    "claim-overtaken",
    "The wheel's own files comply with the platform in the filename, but a grafted library of the host needs a newer symbol version or processor than this platform has. The repaired wheel does not load there, so the repair drops the tag.\n\nRepair with an older library, such as in the image in which the wheel was built or with `--sysroot`, or pass `--exclude` if another package provides it.",
);
/// An expected wheel that does not exist.
pub const WHEEL_NOT_THERE: Code = Code::error(
    "W080",
    "wheel-not-there",
    "`wheel check` found no wheel in a directory, or none of a distribution that `--expect` names. If the compatibility data says that the distribution has none for the platform of the other wheels, this is a note.\n\nSee the log of the build that should have produced it.",
);
/// Several wheels of one distribution.
pub const SEVERAL_WHEELS: Code = Code::warning(
    "W081",
    "several-wheels",
    "There are several wheels of a distribution that `--expect` names. The outputs of `--github-output` use the first one by name. Often one of them is left over from an earlier build.\n\nRemove it, or check the wheels of one Python version at a time.",
);
/// A wheel that is too small to be complete.
pub const WHEEL_TOO_SMALL: Code = Code::error(
    "W082",
    "wheel-too-small",
    "The wheel of a distribution that `--expect` names is smaller than any finished one, so its libraries are missing. The minimum is `least-bytes` in the compatibility data: `rock-matrix compat list wheel-contents`.\n\nSee the log of the build.",
);
/// An unknown feature.
pub const UNKNOWN_FEATURE: Code = Code::error(
    "W083",
    "unknown-feature",
    "`--with` names a feature that no row of the table `wheel-contents` has, so its files cannot be checked.\n\n`rock-matrix compat list wheel-contents` shows the known features.",
);
/// A wheel without an embedding rule.
pub const NO_EMBEDDING: Code = Code::error(
    "W090",
    "no-embedding",
    "The table `embeddings` of the compatibility data has no row for the distribution and platform of this wheel, so `wheel embed` does not know where its ROCm belongs.\n\nPass a wheel of `rock-matrix compat list embeddings`, or write a row and load it with `--compat`.",
);
/// A module without the marker line.
pub const MARKER_NOT_FOUND: Code = Code::error(
    "W091",
    "marker-not-found",
    "`wheel embed` inserts a statement that finds the embedded ROCm before one line of a module. That line is missing or occurs several times, so the result would not load. Nothing was written.\n\nThe row of the table `embeddings` was written for another version of the module. Correct it, and load it with `--compat`.",
);
/// A ROCm directory that cannot be embedded.
pub const BAD_ROCM_FOLDER: Code = Code::error(
    "W092",
    "bad-rocm-folder",
    "The directory in `--rocm` has no files to embed, or contains something that a wheel cannot contain: a symbolic link that is dangling or leads out of the directory, a pipe, a socket or a device. Without it, ROCm could fail at run time.\n\nPass the directory in which ROCm is installed, or remove what does not belong there.",
);
/// A wheel in which ROCm is already embedded.
pub const EMBEDDED_ALREADY: Code = Code::note(
    "W093",
    "embedded-already",
    "The wheel already has files in the directory for the embedded ROCm, so it is not changed. To embed another ROCm, start from the wheel as it was built.",
);
/// Symbolic links in a ROCm directory.
pub const LINKS_IN_ROCM: Code = Code::note(
    "W094",
    "links-in-rocm",
    "Wheels cannot contain symbolic links, because installers write them as text files. A library that links point to is packed once, under its SONAME, which is the name that the dynamic linker looks up. Links to other files become copies; links to directories and to excluded files are left out.",
);
/// An embedding rule that has not been tested.
pub const UNTRIED_EMBEDDING: Code = Code::warning(
    "W095",
    "untried-embedding",
    "The row of the table `embeddings` is marked as experimental: no wheel made with it has been run. The search paths of its libraries lead to the embedded ROCm, and `wheel verify` passes, but ROCm may not find everything that it loads at run time.\n\nTest the wheel on a machine without ROCm.",
);
