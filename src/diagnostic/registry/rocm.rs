//! The `R` codes: what a wheel for ROCm says of itself against what it holds.

use super::super::Code;

/// Every `R` code, in order.
pub const ALL: &[&Code] = &[
    &FALSE_PLATFORM_TAG,
    &CODE_IN_ANY_WHEEL,
    &TAG_MISMATCH,
    &PURELIB_WITH_LIBRARIES,
    &ABSOLUTE_RPATH,
    &VENDORED_ROCM,
    &TWO_ROCM_MAJORS,
    &RPATH_LEAVES_WHEEL,
    &EMPTY_RPATH_ENTRY,
    &LABEL_NOT_IN_CONTENTS,
];

/// A platform that the symbols do not allow.
pub const FALSE_PLATFORM_TAG: Code = Code::error(
    "R101",
    "false-platform-tag",
    "The file name promises systems on which the wheel's own libraries do not load: they need a version of a symbol that these systems do not have. pip installs the wheel there by its name, and the import fails.\n\nThe judgement rests on the files of the wheel alone, never on libraries of the machine that looks. Build in an older container image, or let `rock-matrix wheel repair` drop the false tag and set the one that is true.",
);
/// Machine code in a wheel for any platform.
pub const CODE_IN_ANY_WHEEL: Code = Code::error(
    "R102",
    "code-in-any-wheel",
    "The file name ends with `none-any`, so pip installs the wheel everywhere, but it holds libraries for one kind of processor or code objects for GPUs.\n\nGive it the tag of its platform with `rock-matrix wheel retag --platform-tag`, or build it as a platform wheel.",
);
/// Other tags.
pub const TAG_MISMATCH: Code = Code::error(
    "R103",
    "tag-mismatch",
    "The `Tag` and `Build` lines in `WHEEL` do not say the same as the file's name. Installers go by the name; tools that look inside go by `WHEEL`.\n\n`rock-matrix wheel retag` changes both.",
);
/// Libraries where pure Python code goes.
pub const PURELIB_WITH_LIBRARIES: Code = Code::warning(
    "R104",
    "purelib-with-libraries",
    "`Root-Is-Purelib: true` sends the files of the wheel to the folder of pure Python code. Libraries belong into the other one; on systems where the two differ, packages end up split between them.\n\n`rock-matrix wheel retag --platform-tag` sets the line along with the tag.",
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
    "The wheel carries a library of the ROCm runtime itself. Where another package of the process loads its own, there are two runtimes in one process, each with its own view of the GPUs.\n\nRepair with `--exclude-preset rocm`, and say in METADATA what brings the runtime.",
);
/// Libraries of two ROCm releases.
pub const TWO_ROCM_MAJORS: Code = Code::error(
    "R112",
    "two-rocm-majors",
    "Files of the wheel need one library of ROCm in two major versions. Both would be loaded into one process.\n\nBuild all of the wheel against one release. Variants that are loaded one at a time are told by `_rocmNN` in their names.",
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
    "An empty entry of RPATH or RUNPATH, from a colon at an end or two in a row, makes the loader search the folder in which the program was started. Whoever writes files there decides what is loaded.\n\nMend the link options, or let `rock-matrix wheel repair --fix-rpath` drop the entry.",
);
/// A label that the contents contradict.
pub const LABEL_NOT_IN_CONTENTS: Code = Code::error(
    "R125",
    "label-not-in-contents",
    "The local version label names a ROCm, torch or Python that the libraries of the wheel were not built for: the SONAMEs they need are of another major version, or symbols are of another torch.\n\nBuild against what the label says, or give the label that is true with `rock-matrix wheel label`.",
);
