//! The `S` codes, for the Python packages of the ROCm SDK.

use rock_diagnostic::Code;

/// All codes of this module, sorted by ID.
pub const ALL: &[&Code] = &[
    &NO_ARTIFACT,
    &BAD_ARTIFACT,
    &NO_SDK_MANIFEST,
    &OVERLAPPING_FILES,
    &FILE_AND_FOLDER,
    &LINK_TO_NOWHERE,
    &CASE_CLASH,
    &OTHER_SDK_MODE,
    &MISSING_TARGETS,
    &BAD_SDK_VERSION,
    &SDK_OUTPUT_EXISTS,
    &PROGRAM_LINK,
    &NO_SUCH_ALIAS,
    &ARTIFACT_TWICE,
    &MIXED_ARTIFACTS,
    &PACKAGE_TWICE,
    &NO_SDK_PACKAGES,
    &SDK_PACKAGE_NAME,
    &SDK_PACKAGE_MISSING,
    &PATH_OF_TWO,
    &LONG_SDK_PATH,
    &SDK_PACKAGE_LAYOUT,
    &SCRIPT_WITHOUT_PROGRAM,
    &SDK_SEARCH_PATH,
    &UNREACHABLE_LIBRARY,
    &OTHER_SONAME,
    &STUB_TO_NOWHERE,
    &SDK_DEVEL_TREE,
    &DEVICE_LINKS,
    &BAD_SELECTOR,
    &ARCHIVE_LIMIT,
    &FOREIGN_OUTPUT,
];

/// A missing artifact.
pub const NO_ARTIFACT: Code = Code::error(
    "S001",
    "no-artifact",
    "An SDK package is made from artifacts that are missing. Artifacts are directories named `NAME_COMPONENT_GPUS`, such as `blas_lib_gfx942`, that contain an `artifact_manifest.txt`, or archives of them (`.tar.zst`, `.tar.xz`). Directories without this file are ignored.\n\nFetch the missing artifacts into the artifact directory. `rock-matrix compat list sdk-packages` shows which artifacts each package is made from.",
);
/// An invalid artifact.
pub const BAD_ARTIFACT: Code = Code::error(
    "S002",
    "bad-artifact",
    "An entry of the artifact directory looks like an artifact but is invalid. Its name has an unknown component, or GPUs in unusual case; its manifest names a path outside of it; or it contains something that no package can contain: a name that is not UTF-8, a device, a damaged library. An archive may be truncated or damaged, not match the `.sha256sum` next to it, or not start with the manifest.\n\nFetch the artifact again, or remove it from the directory.",
);
/// A missing or unreadable build manifest.
pub const NO_SDK_MANIFEST: Code = Code::error(
    "S003",
    "no-sdk-manifest",
    "The file `therock_manifest.json` of the artifact `base_lib_generic` describes how ROCm was built, in particular whether GPU code is split from the libraries (`KPACK_SPLIT_ARTIFACTS`). Without it the packages could be made in the wrong way.\n\nFetch the artifact `base_lib_generic` of the same run, or set the mode with `--mode`.",
);
/// Different files at one path in two artifacts.
pub const OVERLAPPING_FILES: Code = Code::warning(
    "S004",
    "overlapping-files",
    "Two artifacts of one package have different files at the same path. The file of the artifact whose name sorts first is packed, so that the result does not depend on the order in which the file system lists directories. The devel tree has the same file as the runtime package. With `--strict` this is an error.\n\nFetch all artifacts of one run.",
);
/// A path that is a file and a directory.
pub const FILE_AND_FOLDER: Code = Code::error(
    "S005",
    "file-and-folder",
    "A path is a file in one artifact and a directory in another, and a package cannot contain both. Artifacts of different runs are mixed, or two projects install to the same path.\n\nFetch all artifacts of one run.",
);
/// A link that leads out of its artifact.
pub const LINK_TO_NOWHERE: Code = Code::warning(
    "S006",
    "link-to-nowhere",
    "A symbolic link of an artifact leads out of the artifact, or to itself. No package can contain it, so it is omitted, also from the devel tree.\n\nLinks to files of other artifacts are fine: they are omitted from runtime packages and included in the devel tree. `rock-matrix sdk plan` lists everything that is omitted, with reasons.",
);
/// Paths that differ only in case.
pub const CASE_CLASH: Code = Code::warning(
    "S007",
    "case-clash",
    "Two paths of one package differ only in case. On Windows, and on most macOS disks, one would overwrite the other. For Windows packages this is an error.",
);
/// A mode that does not match the artifacts.
pub const OTHER_SDK_MODE: Code = Code::warning(
    "S008",
    "other-sdk-mode",
    "The mode does not match the artifacts: `--mode` contradicts the build's manifest, or the device code should be split from the libraries, but no artifact is for a single GPU target.\n\nUse the mode of the manifest, or fetch the artifacts of the GPU targets.",
);
/// Targets without artifacts.
pub const MISSING_TARGETS: Code = Code::error(
    "S009",
    "missing-targets",
    "A requested GPU target has no artifacts, so there would be no package for it. Nothing is written.\n\nFetch the artifacts of the target, or remove it from the requested families.",
);
/// An invalid version of the packages.
pub const BAD_SDK_VERSION: Code = Code::error(
    "S010",
    "bad-sdk-version",
    "The version of the packages must be a valid version in its normal form (version specifiers, \"Normalization\"): `7.10.0`, `7.10.0a20251120`, `7.10.0.dev0+0123abcd`. Installers normalize the versions of wheels and would not find one that is written differently.",
);
/// An output directory that already has packages.
pub const SDK_OUTPUT_EXISTS: Code = Code::error(
    "S011",
    "sdk-output-exists",
    "The output directory already contains packages, and a second run would mix its packages with them.\n\nChoose another directory, or pass `--replace`, which replaces the whole directory `dist` in it.",
);
/// A link to a program that cannot be replaced.
pub const PROGRAM_LINK: Code = Code::error(
    "S012",
    "program-link",
    "A symbolic link leads to a program, and wheels cannot contain links. A small stub program usually replaces such a link, but there is none for Windows, and on other systems only for x86-64 and AArch64.",
);
/// An alias that matches no library.
pub const NO_SUCH_ALIAS: Code = Code::warning(
    "S013",
    "no-such-alias",
    "A library is packed once, under the name that the dynamic linker looks up. For programs that open `libx.so` at run time, `--runtime-alias GLOB` adds stub libraries under its other names. Globs match whole paths, `lib/libhsa-runtime64.so` or `lib/*.so`. This one matches no other name of a library: the library does not exist, has no SONAME, or its file already has this name.\n\n`rock-matrix sdk plan` lists the other names that are left out.",
);
/// An artifact that exists in several forms.
pub const ARTIFACT_TWICE: Code = Code::warning(
    "S014",
    "artifact-twice",
    "An artifact exists as a directory and as an archive, or as two archives. The directory is used, otherwise the zstd archive, otherwise the xz archive. If only one of them was fetched again, the packages may be made from the older one.\n\nRemove the others.",
);
/// Artifacts of several builds.
pub const MIXED_ARTIFACTS: Code = Code::warning(
    "S015",
    "mixed-artifacts",
    "Artifacts of several builds are mixed. GPU code of another build than its libraries is not found, or crashes the program. This is detected by the ROCm version in `.info/version` and in the manifest of the build, and by the sizes of GPU code archives in the list next to the libraries (`.kpack/NAME_COMPONENT.kpm`).\n\nFetch all artifacts of one run.",
);
/// Two packages with the same name.
pub const PACKAGE_TWICE: Code = Code::error(
    "S016",
    "package-twice",
    "Two packages would have the same filename, so one would overwrite the other. Project names are not case-sensitive, and `-`, `_` and `.` are equal in them. The GPUs of their artifacts differ only in this way, such as `gfx13X-all` and `gfx13x-all`. Nothing is written.\n\nSpell the GPUs of all artifacts in the same way, or remove some from the directory.",
);
/// A directory without SDK packages.
pub const NO_SDK_PACKAGES: Code = Code::error(
    "S030",
    "no-sdk-packages",
    "The directory has no packages of the ROCm SDK: neither it nor one of its subdirectories contains a wheel or sdist of `rocm`. Other wheels among the packages are skipped with a warning.\n\nPass the directory `dist` that `rock-matrix sdk build` wrote.",
);
/// Packages with different versions or platforms.
pub const SDK_PACKAGE_NAME: Code = Code::error(
    "S031",
    "sdk-package-name",
    "The SDK packages require each other at one version and find each other in one environment. All must therefore have the same version and platform, and the tag `py3-none-PLATFORM`.\n\nKeep only the packages of one build in a directory.",
);
/// A missing package that others require.
pub const SDK_PACKAGE_MISSING: Code = Code::error(
    "S032",
    "sdk-package-missing",
    "`rocm` requires the core package, and its extras require the others. One of them is not in the directory, so `pip install rocm[libraries,devel]` would fail, or install one of another build. A device package is useless without the libraries that its code belongs to.\n\nPut all packages of one build into the directory.",
);
/// A path that two packages contain.
pub const PATH_OF_TWO: Code = Code::error(
    "S033",
    "path-of-two",
    "Two packages contain the same path below `site-packages`, or one has a file where the other has a directory. Installers overwrite one with the other, and uninstalling one package removes the file of the other: a directory without its `__init__.py` is no longer a package, and its libraries are not found.",
);
/// A long path.
pub const LONG_SDK_PATH: Code = Code::warning(
    "S034",
    "long-sdk-path",
    "A path is longer than 200 bytes below `site-packages`. Unless Windows is configured otherwise, a complete path has at most 260 characters there, and environments are often deep in the file system.",
);
/// A package with an unexpected layout.
pub const SDK_PACKAGE_LAYOUT: Code = Code::error(
    "S035",
    "sdk-package-layout",
    "The SDK packages find each other by their location: `_rocm_sdk_core` next to `_rocm_sdk_libraries`, both next to `rocm_sdk`. `WHEEL` must therefore say `Root-Is-Purelib: true`, all files of a package must be in its directory and its module, and the directory must have an `__init__.py`. Device packages are in the directory of the libraries package, which they require at their own version, and do not contain its `__init__.py`.",
);
/// A console script without its program.
pub const SCRIPT_WITHOUT_PROGRAM: Code = Code::error(
    "S036",
    "script-without-program",
    "A console script refers to a function that does not exist, so it ends with a traceback, or to one that runs a program that the package does not contain. The second case is a warning: a build may omit projects, and the script then prints a message.\n\nFetch the artifacts with the program, or omit the script from the package.",
);
/// A wrong search path.
pub const SDK_SEARCH_PATH: Code = Code::error(
    "S037",
    "sdk-search-path",
    "Libraries and programs of the SDK find those of the core package through their RPATH, wherever they are. It must be an RPATH, because `LD_LIBRARY_PATH` would override a RUNPATH with the ROCm of the machine. It must lead to the directories of the core package that the row in `rock-matrix compat list sdk-packages` lists, and its relative entries must be directories of these packages. An absolute directory in it is a warning.\n\nBuild the packages with `rock-matrix sdk build`, which writes this RPATH.",
);
/// A needed library that is not found.
pub const UNREACHABLE_LIBRARY: Code = Code::error(
    "S038",
    "unreachable-library",
    "A library or program needs a library of these packages that is in none of the searched directories: those in its own RPATH, and those in the RPATH of the files that load it. This is a warning if the library is in the same directory, because it is found once another file has loaded it. It is also a warning if the library is in no package and not on every Linux system.",
);
/// A library whose filename is not its SONAME.
pub const OTHER_SONAME: Code = Code::error(
    "S039",
    "other-soname",
    "The dynamic linker looks up a library by its SONAME and expects a file of that name. An SDK library is packed once, under that name; under another name it is not found, or exists twice and is loaded twice. If no file in its directory has that name, this is a warning, because programs that open it by its path, like a plugin, find it.",
);
/// A stub program whose target does not exist.
pub const STUB_TO_NOWHERE: Code = Code::error(
    "S040",
    "stub-to-nowhere",
    "Wheels cannot contain links, so a stub program replaces a link to a program. The stub runs the program at the target of that link, relative to its own directory. Here the package has no program there, or the stub is not executable.",
);
/// A devel tree that cannot be extracted.
pub const SDK_DEVEL_TREE: Code = Code::error(
    "S041",
    "sdk-devel-tree",
    "The devel tree is an archive in its wheel, which `rocm-sdk` extracts when it is first used. All members must be in the directory of the package, and links must lead to members or to files of other packages, because installers could not remove other members, and other links would be broken. The extractor removes a directory when it first meets a file directly in it, so the files of a directory must come before those of its subdirectories. A link must come after the file that it leads to, so that it becomes a hard link.\n\nA dangling link is a warning: `rock-matrix sdk build --keep-dangling` keeps them.",
);
/// A wrong file list of a device package.
pub const DEVICE_LINKS: Code = Code::error(
    "S042",
    "device-links",
    "A device package lists its files in `.devel_links/TARGET.json`. With the list they are added to the devel tree, and removed from it when the package is uninstalled. It must contain the version of the package, each of its files once, and for each the path from the devel tree to the file.",
);
/// An sdist of `rocm` that does not match the packages.
pub const BAD_SELECTOR: Code = Code::error(
    "S043",
    "bad-selector",
    "The sdist of `rocm` selects packages for the machine on which it is installed. It must therefore list exactly the targets or families that have packages, at its own version. Its text files must not contain CR characters, so that builds on Windows and on Linux are identical.",
);
/// An artifact that exceeds a limit.
pub const ARCHIVE_LIMIT: Code = Code::error(
    "S050",
    "archive-limit",
    "An artifact exceeds a limit that bounds the memory of reading it: 4,096 bytes per path or link target, 64 KiB per extended header, 250,000 members, 64 MiB of paths, a zstd window of 128 MiB, 256 MiB for an xz dictionary, 1,000 directories in its manifest, or 1 GiB for listing all artifacts of a directory. A complete ROCm has about 60,000 files, and its artifacts are far below these limits.\n\nFetch the artifact again, or remove it from the directory. Repack your own with shorter paths, without extended attributes, or with a smaller window (`zstd -19`, `xz -6`).",
);
/// An output directory with files that are not packages.
pub const FOREIGN_OUTPUT: Code = Code::error(
    "S051",
    "foreign-output",
    "`--replace` replaces the whole directory `dist`. It contains something that is not an SDK package, or it is a symbolic link. Nothing was written or removed.\n\nMove the other files elsewhere, or choose another directory with `--out`.",
);
