//! The `S` codes: Python packages of the ROCm SDK.

use crate::diagnostic::Code;

/// Every one of these codes, in order.
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

/// An artifact is missing.
pub const NO_ARTIFACT: Code = Code::error(
    "S001",
    "no-artifact",
    "A package of the SDK is made of artifacts that are not there. Artifacts are folders named `NAME_COMPONENT_GPUS`, such as `blas_lib_gfx942`, with an `artifact_manifest.txt`, or archives of them (`.tar.zst`, `.tar.xz`); folders without one are passed over.\n\nFetch what is missing into the folder of artifacts. Which artifacts feed which package is shown by `rock-matrix compat list sdk-packages`.",
);
/// A folder that is named like an artifact is none.
pub const BAD_ARTIFACT: Code = Code::error(
    "S002",
    "bad-artifact",
    "Something in the folder of artifacts looks like an artifact and cannot be one: its name has a component that does not exist, or writes GPUs in another case than everyone else, its manifest names a path outside of it, or it holds what no package can: a name that is no UTF-8 text, a device, a damaged library. Or it is an archive that is cut off, damaged, not the one whose `.sha256sum` lies beside it, or without the manifest as its first member.\n\nFetch the artifact anew, or take it out of the folder.",
);
/// The manifest of the build is missing or cannot be read.
pub const NO_SDK_MANIFEST: Code = Code::error(
    "S003",
    "no-sdk-manifest",
    "The file `therock_manifest.json` of the artifact `base_lib_generic` tells how the ROCm build was made, above all whether code for GPUs is split from the libraries (`KPACK_SPLIT_ARTIFACTS`). Without it the packages would be made in the wrong way.\n\nFetch the artifact `base_lib_generic` of the same run, or say how the build was made with `--mode`.",
);
/// Two artifacts have a path with different bytes.
pub const OVERLAPPING_FILES: Code = Code::warning(
    "S004",
    "overlapping-files",
    "Two artifacts of one package have a file under the same path, and the bytes differ. The one of the artifact that comes first by name is packed, so that the result does not depend on the order in which a file system lists folders; the tree to build against has what a package that is run from has. With `--strict` it is an error.",
);
/// A path is a file in one artifact and a folder in another.
pub const FILE_AND_FOLDER: Code = Code::error(
    "S005",
    "file-and-folder",
    "A path is a file in one artifact and a folder in another. Both cannot be in one package. Artifacts of different runs were mixed, or two projects install over each other.",
);
/// A link leads out of its artifact, or to itself.
pub const LINK_TO_NOWHERE: Code = Code::warning(
    "S006",
    "link-to-nowhere",
    "A symbolic link of an artifact leads out of the artifact, or by some way to itself. No package can hold it. It is left out, also of the one to build against.\n\nLinks to what another artifact has are no fault: they are left out of packages that are run from and are in the one to build against. `rock-matrix sdk plan` lists all that is left out, with reasons.",
);
/// Names differ only in case.
pub const CASE_CLASH: Code = Code::warning(
    "S007",
    "case-clash",
    "Two paths of one package differ only in case. On Windows, and on most disks of macOS, one of them would take the place of the other. For packages of Windows it is an error.",
);
/// What was asked for is not how the build was made.
pub const OTHER_SDK_MODE: Code = Code::warning(
    "S008",
    "other-sdk-mode",
    "The way of making packages does not go with the artifacts: `--mode` says other than the build's manifest, or the build is said to be split while no artifact is for one GPU target.",
);
/// GPU targets are missing.
pub const MISSING_TARGETS: Code = Code::error(
    "S009",
    "missing-targets",
    "A GPU target that was asked for has no artifacts, so that there would be no package for it. Nothing is written.\n\nFetch the artifacts of the target, or take it out of the families that were asked for.",
);
/// The version is none.
pub const BAD_SDK_VERSION: Code = Code::error(
    "S010",
    "bad-sdk-version",
    "The version of the packages must be one that installers take, in its normal form (version specifiers, \"Normalization\"): `7.10.0`, `7.10.0a20251120`, `7.10.0.dev0+0123abcd`. Installers normalize the versions of wheels and would not find one that is written otherwise.",
);
/// The output folder holds other packages.
pub const SDK_OUTPUT_EXISTS: Code = Code::error(
    "S011",
    "sdk-output-exists",
    "The output folder has packages already. A second run would mix its packages with those of the first.\n\nGive another folder, or `--overwrite`, which replaces the folder `dist` in it as a whole.",
);
/// A link to a program for Windows.
pub const PROGRAM_LINK: Code = Code::error(
    "S012",
    "program-link",
    "A symbolic link leads to a program, and nothing can stand for it in a wheel: wheels hold no links, on Windows there is no small program that becomes another, and elsewhere there is one for x86-64 and AArch64 only.",
);
/// No library has another name that was asked for.
pub const NO_SUCH_ALIAS: Code = Code::warning(
    "S013",
    "no-such-alias",
    "A library is packed once, under the name that loaders ask for. `--runtime-alias GLOB` puts a small library that opens it under its other names, for programs that open `libx.so` at run time. Globs are over whole paths, `lib/libhsa-runtime64.so` or `lib/*.so`. No other name of a library matches this one: the library is not there, has no SONAME, or its file has the name already.",
);
/// An artifact is there in several forms.
pub const ARTIFACT_TWICE: Code = Code::warning(
    "S014",
    "artifact-twice",
    "An artifact is there as a folder and as an archive, or as two archives. The folder is taken, then what was packed by zstd, then by xz. Where one was fetched anew and the other was not, the packages are made of the older one.\n\nRemove the forms that are not meant.",
);
/// Artifacts are of several builds.
pub const MIXED_ARTIFACTS: Code = Code::warning(
    "S015",
    "mixed-artifacts",
    "Artifacts of several builds are mixed. Little in them tells of which build they are: `.info/version` and the manifest of the build name the version of ROCm, and where code for GPUs is split from the libraries, the list beside the libraries (`.kpack/NAME_COMPONENT.kpm`) knows the size of each archive with that code. Code of another build than that of its libraries is not found, or ends the program.\n\nFetch all artifacts of one run.",
);
/// Two packages would have one name.
pub const PACKAGE_TWICE: Code = Code::error(
    "S016",
    "package-twice",
    "Two packages would have one file name, so that one would take the place of the other: names of projects know neither upper and lower case nor whether words are joined by `-`, `_` or `.`. Their artifacts are for GPUs whose names differ in nothing else, such as `gfx13X-all` and `gfx13x-all`. Nothing is written.\n\nWrite the GPUs of all artifacts in one way, or take some of them out of the folder.",
);
/// A folder has no packages of the SDK.
pub const NO_SDK_PACKAGES: Code = Code::error(
    "S030",
    "no-sdk-packages",
    "The folder has no packages of the ROCm SDK: neither in itself nor in a folder of it is a wheel or a source distribution of `rocm`. A wheel of something else that lies among packages is told by a warning and not looked at.\n\nGive the folder `dist` that `rock-matrix sdk build` wrote.",
);
/// Packages of a set differ in what must be the same, or are named otherwise than installers and
/// the SDK expect.
pub const SDK_PACKAGE_NAME: Code = Code::error(
    "S031",
    "sdk-package-name",
    "The packages of the SDK require each other in one version, and find each other in one environment. So all have one version and one platform, and their tags are `py3-none-PLATFORM`.\n\nKeep the packages of one build in a folder.",
);
/// A package that others ask for is not there.
pub const SDK_PACKAGE_MISSING: Code = Code::error(
    "S032",
    "sdk-package-missing",
    "`rocm` requires the core package, and its extras the others. One of them is not in the folder, so that `pip install rocm[libraries,devel]` finds nothing, or finds one of another build. A package for one GPU target is nothing without the libraries that its code belongs to.\n\nPut all packages of one build into the folder.",
);
/// Two packages have one path.
pub const PATH_OF_TWO: Code = Code::error(
    "S033",
    "path-of-two",
    "Two packages have the same path below `site-packages`, or one has a file where the other has a folder. Installers put one over the other, and whoever removes one package takes the file away from the other: without its `__init__.py` a folder is no package any more, and its libraries are not found.",
);
/// A path that does not fit everywhere.
pub const LONG_SDK_PATH: Code = Code::warning(
    "S034",
    "long-sdk-path",
    "A path has more than 200 bytes below `site-packages`. On Windows a whole path has at most 260 characters unless the machine was set up otherwise, and environments lie deep.",
);
/// A package lies otherwise than the others expect.
pub const SDK_PACKAGE_LAYOUT: Code = Code::error(
    "S035",
    "sdk-package-layout",
    "The packages of the SDK find each other by where they lie: `_rocm_sdk_core` beside `_rocm_sdk_libraries`, both beside `rocm_sdk`. So `WHEEL` says `Root-Is-Purelib: true`, all files of a package are in its folder and its module, and the folder has an `__init__.py`. Packages for one GPU target lie in the folder of the libraries, which they require in their own version, and leave its `__init__.py` to them.",
);
/// A console script that runs nothing.
pub const SCRIPT_WITHOUT_PROGRAM: Code = Code::error(
    "S036",
    "script-without-program",
    "A console script has no function behind it, so that it ends with a traceback whoever runs it, or its function runs a program that the package does not have. The second is a warning: a build may leave projects out, and the script then says so.\n\nFetch the artifacts that bring the program, or leave the script out of the package.",
);
/// A search path that does not lead where it must.
pub const SDK_SEARCH_PATH: Code = Code::error(
    "S037",
    "sdk-search-path",
    "Libraries and programs of the SDK find those of the core package by their RPATH, from wherever they are. It is an RPATH and no RUNPATH, which `LD_LIBRARY_PATH` would override with the ROCm of the machine; it leads to the folders of the core package that the row of `rock-matrix compat list sdk-packages` names; and what it names relative to the file is a folder of these packages. A folder of the machine in it is a warning.",
);
/// A library that is needed and not found.
pub const UNREACHABLE_LIBRARY: Code = Code::error(
    "S038",
    "unreachable-library",
    "A library or program needs a library that is in these packages and lies in none of the folders that are searched for it: those of its own RPATH, and of the RPATH of what loads it. It is a warning where the library lies beside it, so that it is found once something else has loaded it, and where it is in no package and is none that every Linux system has.",
);
/// A library has another name than its file.
pub const OTHER_SONAME: Code = Code::error(
    "S039",
    "other-soname",
    "Loaders ask for a library by its SONAME, and look for a file of that name. A library of the SDK is packed once, under that name; under any other it is found by nobody, or is there a second time and loaded twice. It is a warning where nothing in its folder has that name: what opens it by its path, as plugins are opened, finds it.",
);
/// A program that stands for a link to nothing.
pub const STUB_TO_NOWHERE: Code = Code::error(
    "S040",
    "stub-to-nowhere",
    "Wheels hold no links, so a small program stands for a link to a program, and runs what lies at the text of that link, seen from its own folder. There is no program in the package at that place, or the small program may not be run.",
);
/// The tree to build against is not as its extractor needs it.
pub const SDK_DEVEL_TREE: Code = Code::error(
    "S041",
    "sdk-devel-tree",
    "The tree to build against is an archive in its wheel, which `rocm-sdk` unpacks at the first use. All its members are in the folder of the package; its links lead to members of it or to files that other packages have, since everything else would be left behind or broken. It removes a folder when it first meets something that lies right in it, so files of a folder come before what lies in the folders of that; and a link comes after the file that it leads to, so that it becomes a hard link.\n\nA link to nothing is a warning: `rock-matrix sdk build --keep-dangling` keeps those.",
);
/// The list of a device package's files is not that of its files.
pub const DEVICE_LINKS: Code = Code::error(
    "S042",
    "device-links",
    "A package for one GPU target has the list `.devel_links/TARGET.json` of its files: with it they get into the tree to build against, and out of it again when the package is removed. The list names the version of the package, each of its files once, and for each the way from the tree to the file.",
);
/// The source distribution of `rocm` does not fit the packages.
pub const BAD_SELECTOR: Code = Code::error(
    "S043",
    "bad-selector",
    "The source distribution of `rocm` chooses among the packages on the machine that it is installed on. So it must know exactly the targets or families that there are packages for, in its own version, and its texts have no CR, so that builds on Windows and on Linux give the same one.",
);
/// An archive goes beyond a limit.
pub const ARCHIVE_LIMIT: Code = Code::error(
    "S050",
    "archive-limit",
    "An artifact exceeds a limit that bounds the memory of reading it: 4,096 bytes per path or link target, 64 KiB per extended header, 250,000 members, 64 MiB of paths, a zstd window of 128 MiB, 256 MiB for an xz dictionary, 1,000 folders in its manifest, or 1 GiB for listing all artifacts of a folder. A whole ROCm has about 60,000 files, and none of its artifacts comes near a limit.\n\nFetch the artifact again, or remove it from the folder. Repack your own with shorter paths, without extended attributes, or with a smaller window (`zstd -19`, `xz -6`).",
);
/// An output folder with files that are not packages.
pub const FOREIGN_OUTPUT: Code = Code::error(
    "S051",
    "foreign-output",
    "`--overwrite` replaces the whole folder `dist`. The folder contains something that is not an SDK package, or it is a symbolic link. Nothing was written or removed.\n\nMove the other files elsewhere, or choose another folder with `--dest-dir`.",
);
