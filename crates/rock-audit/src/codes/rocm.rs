//! The `R` codes: what a wheel for ROCm says of itself against what it holds.

use rock_diagnostic::Code;

/// All of them, sorted by ID.
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
    &LABEL_NOT_IN_CONTENTS,
    &NEW_CODE_OBJECT,
    &WRAPPERS_DIFFER,
    &LABEL_NOT_READ,
    &KPACK_MISSING,
    &DAMAGED_LAYOUT,
    &DAMAGED_CODE_OBJECTS,
    &OTHER_DEVICE_CODE,
    &WHEEL_TOO_LARGE,
    &CONTENT_MISSING,
    &REQUIREMENT_MISSING,
    &CONTENT_DISAGREES,
    &UNKNOWN_PLATFORM_TAG,
    &FOREIGN_SYSTEM,
];

/// A platform that the symbols do not allow.
pub const FALSE_PLATFORM_TAG: Code = Code::error(
    "R101",
    "false-platform-tag",
    "The file name promises systems on which the wheel's own libraries do not load: they need a version of a symbol, or a symbol, that these systems do not have, a level of x86-64 above the first, or another processor, C library or system. pip installs the wheel there by its name, and the import fails.\n\nThe judgement rests on the files of the wheel alone, never on libraries of the machine that looks. Build in an older container image, or let `rock-matrix wheel repair` drop the false tag and set the one that is true.",
);
/// Machine code in a wheel for any platform.
pub const CODE_IN_ANY_WHEEL: Code = Code::error(
    "R102",
    "code-in-any-wheel",
    "The file name ends with `none-any`, so pip installs the wheel everywhere, but it holds libraries for one kind of processor or code objects for GPUs. Programs and libraries for Windows count only with code for GPUs in them: wheels for any platform carry launchers on purpose.\n\nGive it the tag of its platform with `rock-matrix wheel retag --platform-tag`, or build it as a platform wheel.",
);
/// Libraries where pure Python code goes.
pub const PURELIB_WITH_LIBRARIES: Code = Code::warning(
    "R104",
    "purelib-with-libraries",
    "`Root-Is-Purelib: true` sends the files of the wheel to the folder of pure Python code. Libraries belong into the other one; on systems where the two differ, packages end up split between them.\n\n`rock-matrix wheel retag --platform-tag` sets the line along with the tag.",
);
/// A library that nothing brings.
pub const LIBRARY_FROM_ELSEWHERE: Code = Code::error(
    "R105",
    "library-from-elsewhere",
    "The file name promises systems of a policy, and a library of the wheel needs another one that is not on all of these systems (PEP 600) and that it does not find in the wheel, where its search path does not lead even if it is there. The import fails where it is not installed by chance. Libraries of ROCm, torch and the like are left out of this: other packages bring them, by the presets of `--exclude-preset`. Of several platforms in the name the oldest is told.\n\nA plugin that needs a Python module of the same wheel is a note: it loads once the module is imported, as plugins of triton need `libtriton.so`.\n\nBring the library along with `rock-matrix wheel repair`, link it statically, or say with `--exclude` that another package brings it.",
);
/// A search path of the machine that built the wheel.
pub const ABSOLUTE_RPATH: Code = Code::error(
    "R110",
    "absolute-rpath",
    "RPATH or RUNPATH of a library names a folder from the root, such as `/opt/rocm/lib` or a folder of the machine that built it. On other machines it is missing, or holds another version, which is then loaded without a word.\n\nSet the search path from `$ORIGIN` when building, let `rock-matrix wheel repair --fix-rpath` drop such entries, or allow it with `--allow-rpath`.",
);
/// ROCm's runtime inside the wheel.
pub const VENDORED_ROCM: Code = Code::warning(
    "R111",
    "vendored-rocm",
    "The wheel carries a library of the ROCm runtime itself. Where another package of the process loads its own, there are two runtimes in one process, each with its own view of the GPUs.\n\n`rock-matrix wheel repair` leaves it outside unless `--exclude-preset` names other sets; say in METADATA what brings the runtime.",
);
/// Libraries of two ROCm releases.
pub const TWO_ROCM_MAJORS: Code = Code::error(
    "R112",
    "two-rocm-majors",
    "One library of ROCm is needed by files of the wheel, or lies in it, in two major versions. Both would be loaded into one process.\n\nBuild all of the wheel against one release. Variants that are loaded one at a time are told by `_rocmNN` in their paths; within one of them, and with what lies outside of all, one release counts.",
);
/// A search path out of site-packages.
pub const RPATH_LEAVES_WHEEL: Code = Code::warning(
    "R113",
    "rpath-leaves-wheel",
    "An entry of RPATH or RUNPATH leads from `$ORIGIN` above the folder that the wheel is installed into. What lies there is not of any package. Paths to sibling packages, such as `$ORIGIN/../_rocm_sdk_core/lib`, stay inside and are fine.",
);
/// An empty search path.
pub const EMPTY_RPATH_ENTRY: Code = Code::error(
    "R114",
    "empty-rpath-entry",
    "An empty entry of RPATH or RUNPATH, from a colon at an end or two in a row, makes the loader search the folder in which the program was started, and an entry that begins neither with a slash nor with `$ORIGIN` one below it. Whoever writes files there decides what is loaded.\n\nMend the link options, or let `rock-matrix wheel repair --fix-rpath` drop the entry.",
);
/// A needed library that is named by a path.
pub const NEEDED_BY_PATH: Code = Code::error(
    "R115",
    "needed-by-path",
    "NEEDED of a library holds a path, not a name: the library was linked by its path, and has no SONAME. The loader opens that path and searches nowhere else. On other machines nothing is there, or a library of another version.\n\nGive the library a SONAME, or link with `-L` and `-l`. `rock-matrix wheel repair` brings the library along under a name, where it is found; `--allow-rpath` takes a path for meant.",
);
/// Other GPU targets than expected.
pub const GFX_NOT_AS_EXPECTED: Code = Code::error(
    "R120",
    "gfx-not-as-expected",
    "The code objects in the wheel are not for the gfx targets that the plan, or `--expect`, names: one is missing, so nothing runs on these GPUs, or one is there that nobody asked for.\n\nLook at the variables that the build reads for its targets, such as `PYTORCH_ROCM_ARCH`, and at the ones that were really compiled with `rock-matrix wheel gfx`.",
);
/// Files for different GPU targets.
pub const GFX_SETS_DIFFER: Code = Code::warning(
    "R121",
    "gfx-sets-differ",
    "Libraries of one wheel carry code for different sets of gfx targets. On a GPU that only some of them know, the wheel works until it reaches the others.",
);
/// HIP code without code for any GPU.
pub const NO_DEVICE_CODE: Code = Code::error(
    "R122",
    "no-device-code",
    "A library was compiled with HIP, and its bundles hold no code object. It loads, and every kernel launch fails.\n\nThe build probably ran without a list of targets on a machine without a GPU: set it, for example `PYTORCH_ROCM_ARCH=gfx942;gfx1100`.",
);
/// A code object for another target than its entry says.
pub const GFX_MISLABELLED: Code = Code::error(
    "R123",
    "gfx-mislabelled",
    "The entry of a bundle names one gfx target, and the code object behind it is for another (`e_flags` of its ELF header). The runtime picks it by its entry, and the GPU refuses it or computes nonsense. A processor newer than the facts, under a machine number that they do not have either, is taken at its word.\n\nCompile the file again; tools that edit bundles can do this.",
);
/// Compressed code objects.
pub const COMPRESSED_BUNDLE: Code = Code::note(
    "R124",
    "compressed-bundle",
    "The code objects are compressed. A HIP runtime reads the form of its own compiler and older ones: version 2 needs ROCm 6.2 or later, version 3 ROCm 7.1 or later.",
);
/// A label that the contents contradict.
pub const LABEL_NOT_IN_CONTENTS: Code = Code::error(
    "R125",
    "label-not-in-contents",
    "The file name says what the libraries of the wheel were not built for. Its local version label names a ROCm whose major version is not that of the SONAMEs they need, or not of all of them, a torch or a C++ ABI that is not that of the symbols they need, CUDA beside libraries of ROCm or the other way round, a Python that the tags do not allow, other gfx targets than those they hold code for, or the backend `triton`, whose kernels are compiled where they run, beside compiled ones; or its Python tag is not that of its extension modules. Or it says by `rocm.` in front that `wheel embed` put ROCm into the wheel where that is not so, or does not say it where it is.\n\nBuild against what the name says, or give the one that is true with `rock-matrix wheel label` or `retag`.",
);
/// Code objects newer than the label's ROCm.
pub const NEW_CODE_OBJECT: Code = Code::warning(
    "R126",
    "new-code-object",
    "Code objects of version 6 and generic targets are read by ROCm 6.3 and later. The label says an older one.",
);
/// Bundles that nothing registers.
pub const WRAPPERS_DIFFER: Code = Code::warning(
    "R127",
    "wrappers-differ",
    "A library has one wrapper for each bundle in `.hip_fatbin`, by which it registers the kernels when it is loaded. Their numbers differ: some kernels are never registered, or a wrapper leads nowhere.",
);
/// A label that nothing is known of.
pub const LABEL_NOT_READ: Code = Code::note(
    "R128",
    "label-not-read",
    "The local version label, or a part of it, is not of the form `rocm6.2torch2.5`, with a backend, a Python or gfx targets behind it. What it says was not held against the contents of the wheel, and indexes list the wheel as one for every machine. Where it seems to name ROCm or torch, that is a warning.\n\nGive the wheel another label with `rock-matrix wheel label --replace`.",
);
/// Split-off code objects that are not there.
pub const KPACK_MISSING: Code = Code::error(
    "R130",
    "kpack-missing",
    "The code objects of a library were split off into `.kpack` files, and the wheels of the command line hold the one without the other: a reference to an archive that is not there or has no code of the library, or an archive that nothing refers to. An archive of another build is there and has no code of the library: its table of contents lists the libraries it is for, each under the name that the reference gives, and the loader finds nothing under another. Paths are those below site-packages, where all wheels of a release are installed.\n\nA host wheel whose METADATA requires device wheels, as extras or always, is complete without them; that it was looked at alone is a remark.\n\nName the wheels of one release together, so that device wheels are seen beside their libraries.",
);
/// A library that loaders refuse or crash on.
pub const DAMAGED_LAYOUT: Code = Code::error(
    "R131",
    "damaged-layout",
    "The program headers of a library contradict each other or the file. Editing it with a tool that assumes where they lie does this, above all to libraries whose code objects were split off. `wheel verify` and `check` look at every library; `wheel repair` only warns, and of libraries up to 32 MiB.\n\nTake the library as the linker made it, and edit it with `rock-matrix wheel repair`, which moves no byte of it.",
);
/// Code for another target than a device wheel is named for.
pub const OTHER_DEVICE_CODE: Code = Code::error(
    "R133",
    "other-device-code",
    "A wheel named `amd_torch_device_gfx942` or the like holds the code for one GPU target of another wheel, or for the targets of a bundle such as `gfx12-0`, and the code in it is for others. Installers take it by its name, by way of an extra such as `torch[device-gfx942]`, and the GPU finds no kernel. Bundles are rows of the facts: `rock-matrix compat list device-bundles`.\n\nSplit the host wheel again, and rename no device wheel.",
);
/// A wheel larger than where it goes takes.
pub const WHEEL_TOO_LARGE: Code = Code::error(
    "R140",
    "wheel-too-large",
    "The wheel is larger than the limit given with `--max-size`, or than what a release on GitHub takes, under 2 GiB, where none is given. That PyPI takes 100 MiB a file, unless a project asks for more, is a remark. Both are rows of the facts: `rock-matrix compat list limits`.\n\nBuild for fewer gfx targets, compress code objects (`--offload-compress`), or strip the libraries.",
);
/// Code objects that cannot be read.
pub const DAMAGED_CODE_OBJECTS: Code = Code::error(
    "R132",
    "damaged-code-objects",
    "A bundle, a code object or an archive of them begins as one and cannot be read as one: it is cut off, or was changed by a tool that did not know what it is. The runtime fails on it when a kernel of it is first needed.\n\nTake the library as the compiler made it.",
);
/// A member that a finished wheel of the distribution has.
pub const CONTENT_MISSING: Code = Code::error(
    "R150",
    "content-missing",
    "The wheel lacks a file that every finished wheel of its distribution has, or every one that was built with a feature that `--with` names. It installs, and fails where the file is needed. What a wheel must hold are rows of the facts: `rock-matrix compat list wheel-contents`.\n\nSee the help of the row, and the log of the build.",
);
/// A requirement that a finished wheel of the distribution has.
pub const REQUIREMENT_MISSING: Code = Code::error(
    "R151",
    "requirement-missing",
    "METADATA does not require what a finished wheel of its distribution requires, by the rows of `wheel-contents`: a package by its pattern, or one of which a wheel lies beside, at that wheel's version. Installers then leave it out, or take another version.\n\nBuild the wheel again with its requirements set.",
);
/// Two texts of a wheel that should be one.
pub const CONTENT_DISAGREES: Code = Code::error(
    "R152",
    "content-disagrees",
    "A file of the wheel names one version of what it needs, and METADATA requires another. Installers follow METADATA, and the wheel then refuses what they installed. Which two must agree is a row of `wheel-contents`.\n\nMake both from the same ROCm, and build again.",
);
/// A platform tag that nobody knows.
pub const UNKNOWN_PLATFORM_TAG: Code = Code::error(
    "R160",
    "unknown-platform-tag",
    "A platform tag in the file name is in no specification: it is neither `any`, nor a Linux, manylinux or musllinux tag, nor one of another system. No installer selects the wheel for it, and PyPI refuses the wheel.",
);
/// A Linux platform for a wheel of another system.
pub const FOREIGN_SYSTEM: Code = Code::error(
    "R161",
    "foreign-system",
    "`wheel repair --plat` names a Linux platform, but all tags of the wheel are for another system: Android, iOS, macOS, Windows, WebAssembly or a BSD. Wheels for other systems are not audited or changed. Nothing was written.",
);
