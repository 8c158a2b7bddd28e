//! The `R` codes, for wheels whose contents contradict their filename or METADATA, or do not run
//! with ROCm.

use rock_diagnostic::Code;

/// All `R` codes of this crate, sorted by ID.
pub const ALL: &[&Code] = &[
    &FALSE_PLATFORM_TAG,
    &CODE_IN_ANY_WHEEL,
    &PURELIB_WITH_LIBRARIES,
    &LIBRARY_FROM_ELSEWHERE,
    &ABSOLUTE_RPATH,
    &VENDORED_ROCM,
    &TWO_ROCM_MAJORS,
    &RPATH_LEAVES_WHEEL,
    &EMPTY_RPATH_ENTRY,
    &NEEDED_BY_PATH,
    &GFX_NOT_AS_EXPECTED,
    &GFX_SETS_DIFFER,
    &NO_DEVICE_CODE,
    &GFX_MISLABELLED,
    &COMPRESSED_BUNDLE,
    &NAME_NOT_IN_CONTENTS,
    &NEW_CODE_OBJECT,
    &WRAPPERS_DIFFER,
    &LABEL_NOT_READ,
    &KPACK_MISSING,
    &DAMAGED_LAYOUT,
    &DAMAGED_CODE_OBJECTS,
    &OTHER_DEVICE_CODE,
    &WRITABLE_FIRST_SEGMENT,
    &WHEEL_TOO_LARGE,
    &REJECTED_BY_PYPI,
    &CONTENT_MISSING,
    &REQUIREMENT_MISSING,
    &CONTENT_DISAGREES,
    &UNKNOWN_PLATFORM_TAG,
    &FOREIGN_SYSTEM,
    &UNKNOWN_PYTHON_TAG,
];

/// A platform tag that the wheel does not comply with.
pub const FALSE_PLATFORM_TAG: Code = Code::error(
    "R101",
    "false-platform-tag",
    "The filename names systems on which the wheel's own libraries do not load, because they need a symbol or symbol version that these systems lack, an x86-64 level above the baseline, another processor, C library or operating system, or a Python with unusual build options. pip selects the wheel by its filename, and the import fails.\n\nOnly files of the wheel are considered, never libraries of the host. Build in an older container image, or let `rock-matrix wheel repair` replace the tag with one that the wheel complies with.",
);
/// Machine code in a wheel for any platform.
pub const CODE_IN_ANY_WHEEL: Code = Code::error(
    "R102",
    "code-in-any-wheel",
    "The platform tag includes `any`, so pip installs the wheel everywhere, but it contains libraries for one kind of processor or code objects for GPUs. Windows programs and libraries count only if they contain GPU code, because wheels for any platform ship launchers on purpose.\n\nSet the platform tag with `rock-matrix wheel retag --platform-tag`, or build the wheel as a platform wheel.",
);
/// Libraries in a wheel that is installed as pure Python code.
pub const PURELIB_WITH_LIBRARIES: Code = Code::warning(
    "R104",
    "purelib-with-libraries",
    "`Root-Is-Purelib: true` in WHEEL makes installers put the files into `purelib`, but shared libraries belong into `platlib`. On systems where the two directories differ, packages are split between them.\n\n`rock-matrix wheel retag --platform-tag` corrects the header along with the tag.",
);
/// A needed library that neither the wheel nor the policy provides.
pub const LIBRARY_FROM_ELSEWHERE: Code = Code::error(
    "R105",
    "library-from-elsewhere",
    "The filename has a manylinux or musllinux tag, but a file of the wheel needs a library that not all systems of this policy have (PEP 600), and its search path does not lead to a copy in the wheel. The import fails unless the library happens to be installed. If the filename has several platform tags, the one for the oldest systems is checked. Libraries of ROCm, torch and similar packages are not reported, because other packages provide them; see the presets of `--exclude-preset`.\n\nIf the library is a Python module of the same wheel, this is a note: it can be loaded once that module is imported. Plugins of triton need `libtriton.so` in this way.\n\nGraft the library with `rock-matrix wheel repair`, link it statically, or pass `--exclude` if another package provides it. If it is in the wheel already, correct the search path.",
);
/// An absolute search path.
pub const ABSOLUTE_RPATH: Code = Code::error(
    "R110",
    "absolute-rpath",
    "RPATH or RUNPATH of a library contains an absolute path, such as `/opt/rocm/lib` or a directory of the build machine. On other machines the directory is missing, or contains another version of the library, which is then loaded silently.\n\nLink with a search path relative to `$ORIGIN`, let `rock-matrix wheel repair --fix-rpath` drop such entries, or permit them with `--allow-rpath GLOB`.",
);
/// A library of the ROCm runtime inside the wheel.
pub const VENDORED_ROCM: Code = Code::warning(
    "R111",
    "vendored-rocm",
    "The wheel contains a library of the ROCm runtime. If another package in the process loads its own copy, two runtimes run in one process, each with its own view of the GPUs.\n\n`rock-matrix wheel repair` excludes these libraries unless `--exclude-preset` names other presets. Require the package that provides the runtime in METADATA.",
);
/// Libraries of two ROCm releases.
pub const TWO_ROCM_MAJORS: Code = Code::error(
    "R112",
    "two-rocm-majors",
    "Files of the wheel need or contain one ROCm library in two major versions. Both would be loaded into one process.\n\nBuild the whole wheel against one ROCm release. Variants that are loaded one at a time are recognized by `_rocmNN` in their paths; each variant is checked together with the files outside all variants.",
);
/// A search path that leads out of site-packages.
pub const RPATH_LEAVES_WHEEL: Code = Code::warning(
    "R113",
    "rpath-leaves-wheel",
    "An entry of RPATH or RUNPATH leads from `$ORIGIN` to a directory above site-packages. Files there do not belong to any package, so which library is found depends on the machine. Paths to sibling packages, such as `$ORIGIN/../_rocm_sdk_core/lib`, stay inside site-packages and are fine.\n\nLink with a search path that stays inside.",
);
/// An empty or relative entry of a search path.
pub const EMPTY_RPATH_ENTRY: Code = Code::error(
    "R114",
    "empty-rpath-entry",
    "An empty entry of RPATH or RUNPATH (a leading, trailing or doubled colon) makes the dynamic linker search the current working directory. An entry that starts neither with a slash nor with `$ORIGIN` is relative to that directory. Anyone who can write files there controls which code is loaded.\n\nFix the linker options, or let `rock-matrix wheel repair --fix-rpath` drop the entry.",
);
/// A NEEDED entry that is a path.
pub const NEEDED_BY_PATH: Code = Code::error(
    "R115",
    "needed-by-path",
    "A NEEDED entry of a library is a path instead of a name: a library without SONAME was linked by its path. The dynamic linker opens exactly that path and ignores the search path. On other machines the file is missing, or is another version of the library.\n\nGive the library a SONAME, or link with `-L` and `-l`. `rock-matrix wheel repair` grafts the library under a name if it is found; `--allow-rpath GLOB` permits the path.",
);
/// Other gfx targets than expected.
pub const GFX_NOT_AS_EXPECTED: Code = Code::error(
    "R120",
    "gfx-not-as-expected",
    "The gfx targets of the wheel's code objects differ from those in the plan, in `wheel check --expect`, or in `--require` or `--exact` of `wheel gfx`. Nothing runs on GPUs of a missing target; an extra target was not requested.\n\nCheck the variables from which the build takes its targets, such as `PYTORCH_ROCM_ARCH`. `rock-matrix wheel gfx` lists the targets that were compiled. A project without code for a GPU needs a recipe whose backend has `device-code: false`: `backends: {default: {device-code: false}}`.",
);
/// Libraries with different gfx targets.
pub const GFX_SETS_DIFFER: Code = Code::warning(
    "R121",
    "gfx-sets-differ",
    "Libraries of one wheel contain code for different sets of gfx targets. On a GPU that only some of the libraries support, the wheel works until it launches a kernel of another one. `publish` lists only the targets that all libraries have in the manifest, so `pick` does not offer the wheel for others. If the libraries have no target in common, it lists all of them. Libraries of which one process loads one, such as `libdemo_rocm64.so` and `libdemo_rocm72.so`, may differ.\n\nBuild all libraries for the same gfx targets.",
);
/// HIP libraries without code for a GPU.
pub const NO_DEVICE_CODE: Code = Code::error(
    "R122",
    "no-device-code",
    "A library was compiled with HIP, but its offload bundles contain no code object for a GPU. It loads, and every kernel launch fails.\n\nThe build probably ran without a list of targets on a machine without a GPU. Set the list, for example `PYTORCH_ROCM_ARCH=gfx942;gfx1100`.",
);
/// A code object for another target than its bundle entry ID.
pub const GFX_MISLABELLED: Code = Code::error(
    "R123",
    "gfx-mislabelled",
    "A bundle entry ID names one gfx target, but its code object is for another one (`e_flags` of the ELF header). The HIP runtime selects the code by the bundle entry ID, and the GPU rejects it or computes garbage. A processor that is newer than the compatibility data and has an unknown machine number is not checked.\n\nCompile the file again. Tools that edit offload bundles can cause this.",
);
/// Compressed code objects.
pub const COMPRESSED_BUNDLE: Code = Code::note(
    "R124",
    "compressed-bundle",
    "The code objects are compressed. A HIP runtime reads the format of its own compiler and older ones: version 2 requires ROCm 6.2 or later, version 3 ROCm 7.1 or later.",
);
/// A filename that the contents contradict.
pub const NAME_NOT_IN_CONTENTS: Code = Code::error(
    "R125",
    "name-not-in-contents",
    "The filename contradicts the contents of the wheel in one of these ways:\n\n- The ROCm release in the local version label has another major version than the SONAMEs that the libraries need.\n- The torch version or C++ ABI in the label is not that of the torch symbols that the libraries need.\n- The label names CUDA, but the libraries are for ROCm, or the reverse.\n- The label names a Python that the wheel tag does not permit, or gfx targets other than those of the code objects. If there are no code objects at all, this is a warning, because kernels may be compiled at run time.\n- The label names a backend that compiles kernels at run time (`triton`), but the wheel contains compiled kernels; or it names `ck`, but the wheel contains no library.\n- The Python tag is not that of the extension modules.\n- The label starts with `rocm.`, as `wheel embed` sets it, but no ROCm is embedded, or the reverse.\n\nBuild against the versions in the filename, or correct it with `rock-matrix wheel label` or `retag`.",
);
/// Code objects that are newer than the ROCm release in the label.
pub const NEW_CODE_OBJECT: Code = Code::warning(
    "R126",
    "new-code-object",
    "Code objects of version 6 and generic targets require ROCm 6.3 or later, but the local version label names an older release, whose runtime cannot load them.\n\nBuild with the ROCm release in the label, or correct the label with `rock-matrix wheel label`.",
);
/// Offload bundles that are not registered.
pub const WRAPPERS_DIFFER: Code = Code::warning(
    "R127",
    "wrappers-differ",
    "A library registers its kernels through fatbin wrappers, one for each offload bundle in `.hip_fatbin`. Here the numbers of wrappers and bundles differ, so some kernels are never registered, or a wrapper points to no bundle.\n\nBuild the library again, and do not edit its offload bundles.",
);
/// A local version label that cannot be parsed.
pub const LABEL_NOT_READ: Code = Code::note(
    "R128",
    "label-not-read",
    "The local version label, or a part of it, does not have the form `rocm6.2torch2.5`, optionally followed by a backend, a Python version or gfx targets. It was not compared with the contents of the wheel, and indexes list the wheel for every machine. If the label seems to name ROCm, CUDA, torch or a gfx target, this is a warning.\n\nSet another label with `rock-matrix wheel label --replace`.",
);
/// A missing kpack archive.
pub const KPACK_MISSING: Code = Code::error(
    "R130",
    "kpack-missing",
    "The code objects of a library were split off into `.kpack` archives, but the wheels on the command line do not fit together: a library refers to an archive that is missing or lacks the library's code, or no library refers to an archive. Without its code objects, a library cannot launch kernels.\n\nAn archive of another build can be present and still lack the code. Its table of contents lists libraries by name, and the loader looks up only the name in the reference. Paths are compared below site-packages, where all wheels of a release are installed.\n\nA host wheel whose METADATA requires its device wheels, directly or as extras, is complete without them; a note says that it was checked alone.\n\nPass all wheels of one release together, so that device wheels are checked with their libraries.",
);
/// A library with an invalid layout.
pub const DAMAGED_LAYOUT: Code = Code::error(
    "R131",
    "damaged-layout",
    "The program headers of a library contradict each other or the file, so the dynamic linker refuses the library or crashes. The usual cause is a tool that edited the library with wrong assumptions about its layout, above all after its code objects were split off. `wheel verify` and `wheel check` check every library; `wheel repair` only warns, and checks libraries up to 32 MiB.\n\nUse the library as the linker produced it, and edit it with `rock-matrix wheel repair`, which moves none of its bytes.",
);
/// A device wheel with code for another target than its name.
pub const OTHER_DEVICE_CODE: Code = Code::error(
    "R133",
    "other-device-code",
    "The name of a device wheel, such as `amd_torch_device_gfx942`, contains the gfx target that its code is for; a bundle such as `gfx12-0` stands for several targets. The code in this wheel is for other targets. Installers select the wheel by its name, through an extra such as `torch[device-gfx942]`, and the GPU finds no kernel. `rock-matrix compat list device-bundles` shows the targets of each bundle.\n\nSplit the host wheel again, and do not rename device wheels.",
);
/// A program whose first segment is writable.
pub const WRITABLE_FIRST_SEGMENT: Code = Code::warning(
    "R134",
    "writable-first-segment",
    "The first loaded segment of a program is writable. Linkers usually put a read-only or executable segment first. patchelf adds a writable one before all others, and some programs are published with one, such as `ptxas` in wheels of triton. Such programs load and run, except that old kernels (Linux 4.18) may kill one that patchelf edited.\n\nNothing needs to be done for a program of another vendor. Edit your own programs with `rock-matrix wheel repair`, which adds no such segment.",
);
/// A wheel that exceeds a size limit.
pub const WHEEL_TOO_LARGE: Code = Code::error(
    "R140",
    "wheel-too-large",
    "The wheel is larger than the limit in `--max-size` or, without that option, than GitHub permits for a release asset, which must be smaller than 2 GiB. For a wheel above PyPI's default limit of 100 MiB per file, this is a note. `rock-matrix compat list limits` shows both limits.\n\nBuild for fewer gfx targets, compress code objects (`--offload-compress`), or strip the libraries.",
);
/// A wheel that PyPI rejects.
pub const REJECTED_BY_PYPI: Code = Code::error(
    "R141",
    "rejected-by-pypi",
    "PyPI rejects wheels with a local version label (PEP 440), with a platform tag such as `linux_x86_64` (PEP 513), and above its size limit. `wheel check --profile pypi` reports all three.\n\nSet the platform tag with `rock-matrix wheel repair`. Publish wheels with a label in an index of your own, with `rock-matrix publish` or `rock-matrix index build`.",
);
/// GPU code that cannot be parsed.
pub const DAMAGED_CODE_OBJECTS: Code = Code::error(
    "R132",
    "damaged-code-objects",
    "An offload bundle, a code object or a kpack archive cannot be parsed after its first bytes: it is truncated, or a tool that does not know the format changed it. The HIP runtime fails when it first needs one of its kernels. A file that exceeds a limit of the scan is reported too, because only part of it was checked.\n\nUse the library as the compiler produced it.",
);
/// A missing file that finished wheels of the distribution have.
pub const CONTENT_MISSING: Code = Code::error(
    "R150",
    "content-missing",
    "The wheel lacks a file that every finished wheel of its distribution contains, or every one that was built with a feature in `--with`. It installs, but fails when the file is needed. `rock-matrix compat list wheel-contents` shows the expected files.\n\nSee the help of the row and the log of the build.",
);
/// A missing requirement that finished wheels of the distribution have.
pub const REQUIREMENT_MISSING: Code = Code::error(
    "R151",
    "requirement-missing",
    "METADATA lacks a requirement that the table `wheel-contents` expects of this distribution: one that matches a pattern, or a pin to the version of another wheel of the same build. Without it, installers do not install that package, or install another version.\n\nBuild the wheel again with its requirements set.",
);
/// A version in a file of the wheel that METADATA contradicts.
pub const CONTENT_DISAGREES: Code = Code::error(
    "R152",
    "content-disagrees",
    "A file of the wheel names one version of a dependency, but METADATA requires another. Installers follow METADATA, and the wheel then rejects the installed version at run time. The table `wheel-contents` names the file and the requirement that must agree.\n\nGenerate both from the same ROCm release, and build the wheel again.",
);
/// An unknown platform tag.
pub const UNKNOWN_PLATFORM_TAG: Code = Code::error(
    "R160",
    "unknown-platform-tag",
    "A platform tag in the filename is not in any specification: it is not `any`, not a Linux, manylinux or musllinux tag, and not one of another system. A Linux tag without an architecture, such as `manylinux_2_28`, is unknown too. No installer selects the wheel for it, and PyPI rejects the wheel. `wheel retag` sets such a tag only with `--allow R160`.\n\nSet the right tag with `rock-matrix wheel retag --platform-tag`.",
);
/// A Linux platform for a wheel of another system.
pub const FOREIGN_SYSTEM: Code = Code::error(
    "R161",
    "foreign-system",
    "`wheel repair --plat` names a Linux platform, but all platform tags of the wheel are for another system: Android, iOS, macOS, Windows, WebAssembly or a BSD. Wheels for other systems are neither audited nor changed. Nothing was written.\n\nLeave out `--plat` to copy the wheel unchanged.",
);
/// A Python or ABI tag of no known implementation.
pub const UNKNOWN_PYTHON_TAG: Code = Code::warning(
    "R162",
    "unknown-python-tag",
    "A Python tag in the filename is not the abbreviation of an implementation and a version (PEP 425), such as `py3`, `cp312` and `pp310`, or an ABI tag is neither `none` nor one with a number, such as `abi3` and `cp313t`. Dots separate tags, so `3.12` is the tags `3` and `12`. Or a Python tag fits none of the ABI tags, as in `cp313-cp312` and `py3-cp312`. No installer selects the wheel for such a tag; its other tags still count.\n\n`wheel retag` sets such a tag only with `--allow R162`. Set the right one with `rock-matrix wheel retag --python-tag` or `--abi-tag`.",
);
