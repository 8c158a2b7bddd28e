//! The `H` codes.

use crate::diagnostic::Code;
pub use rock_diagnostic::codes::host::*;

/// Every `H` code, in order.
pub const ALL: &[&Code] = &[
    &NO_GPU,
    &GPU_NODE_UNREADABLE,
    &WRONG_GPU_ID,
    &MASKED_GPU,
    &KFD_ABSENT,
    &NOT_A_DEVICE,
    &NO_DEVICE_PERMISSION,
    &DEVICE_REFUSED,
    &BROKEN_DEVICE,
    &NO_CONTAINER_ENGINE,
    &ENGINE_UNREACHABLE,
    &LIMITED_BY_CGROUP,
    &LITTLE_MEMORY,
    &LITTLE_DISK,
    &RUNTIME_OVERRIDE,
    &BAD_RUNTIME_OVERRIDE,
    &HIDDEN_GPUS,
    &UNREADABLE_HOST_FILE,
    &NO_SUCH_TREE,
    &UNKNOWN_CODE,
    &VARIABLES_LEFT_OUT,
    &LISTS_REPLACED,
    &NO_ROCM_SDK,
    &UNWRITABLE_VARIABLE,
    &ATTENTION_MISS,
    &UNJUDGED_LOG,
    &NO_DEVICE_IN_LOG,
    &NO_TARGET_NAMED,
    &OLD_BUILD_TOOL,
    &UNFIT_PATH,
    &TOO_MUCH_OUTPUT,
];

/// The kernel driver lists no AMD GPU.
pub const NO_GPU: Code = Code::note(
    "H001",
    "no-gpu",
    "The kernel's amdgpu driver lists no AMD GPU below `/sys/class/kfd/kfd/topology/nodes`.\n\nBuilds need none: the compiler makes code for the targets that the matrix file names. Only `gfx: [host]` and tests with `gpu: required` look for one.",
);
/// A node of the topology cannot be read or makes no sense.
pub const GPU_NODE_UNREADABLE: Code = Code::warning(
    "H002",
    "gpu-node-unreadable",
    "A node of the KFD topology cannot be read, or its `properties` are not what the driver writes, so it is left out.\n\n`gfx_target_version` and `simd_count` must be there, in decimal. The version is major × 10000 + minor × 100 + step, minor and step up to 15. Kernels before 5.11 do not write it: name the targets in the matrix file instead of `gfx: [host]`.",
);
/// The `gpu_id` file does not fit the rest of its node.
pub const WRONG_GPU_ID: Code = Code::warning(
    "H003",
    "wrong-gpu-id",
    "The `gpu_id` file of a node is missing, is no number, or says 0 (a CPU), while the node's `properties` describe a GPU.\n\nThe GPU is kept: its target comes from `properties` alone. A driver that writes this is worth reporting to its makers.",
);
/// A container hides a GPU.
pub const MASKED_GPU: Code = Code::note(
    "H004",
    "masked-gpu",
    "The node of a GPU is listed, but this process may not read it (`EPERM`): the device control group of a container hides it.\n\nThat is how a container is given some of a machine's GPUs. Pass the GPU's render node with `--device` if it should be seen.",
);
/// GPUs are listed, but `/dev/kfd` is missing.
pub const KFD_ABSENT: Code = Code::warning(
    "H005",
    "kfd-absent",
    "The topology lists GPUs, but `/dev/kfd` is not there, so programs cannot use them. `/sys` is the host's even inside a container; devices are not.\n\nIn a container, pass `--device=/dev/kfd --device=/dev/dri`. On the machine itself, load the `amdgpu` driver. Builds do not need it.",
);
/// A device name is taken by something that is no device.
pub const NOT_A_DEVICE: Code = Code::error(
    "H006",
    "not-a-device",
    "`/dev/kfd` or a render node is there, but is no character device.\n\nThis happens when a path that did not exist was mounted into a container: the engine made a folder of that name. Pass devices with `--device`, not with `--volume`, and remove what was left on the host.",
);
/// The group that owns a device is not one of this process.
pub const NO_DEVICE_PERMISSION: Code = Code::error(
    "H007",
    "no-device-permission",
    "A device is there, but its owner, group and mode keep this user out (`EACCES`).\n\nBecome a member of the owning group, and log in again. In a container, add the group by number, as in `--group-add 105`: names are looked up in the image, where `render` is often missing.",
);
/// A device control group refuses a device.
pub const DEVICE_REFUSED: Code = Code::warning(
    "H008",
    "device-refused",
    "A device is there, but opening it is refused to every user (`EPERM`): the device control group of the container does not allow it.\n\nStart the container with `--device=/dev/kfd --device=/dev/dri`; a node made by hand or mounted as a volume is not enough.",
);
/// A device does not answer.
pub const BROKEN_DEVICE: Code = Code::error(
    "H009",
    "broken-device",
    "A device node is there and may be opened, but the system reports an error: the driver behind it is gone or has failed.\n\n`dmesg` shows what amdgpu says. A node left over from an unloaded driver looks like this too.",
);
/// Neither docker nor podman is installed.
pub const NO_CONTAINER_ENGINE: Code = Code::note(
    "H010",
    "no-container-engine",
    "Neither `docker` nor `podman` is on the `PATH`, so `build --engine docker` and `--engine podman` cannot run here.\n\n`build --engine local` needs neither; `render docker` prints the commands for another machine.",
);
/// The docker client has no daemon to talk to.
pub const ENGINE_UNREACHABLE: Code = Code::warning(
    "H011",
    "engine-unreachable",
    "The docker client is installed, but no daemon answers it.\n\nStart the daemon, become a member of the group that owns its socket, or set `DOCKER_HOST` to where it listens.",
);
/// The control group allows less than the machine has.
pub const LIMITED_BY_CGROUP: Code = Code::note(
    "H012",
    "limited-by-cgroup",
    "The control group of this process allows fewer CPUs or less memory than the machine has. Builds go by the lower numbers; tools that look at the machine (`free`, `nproc --all`) show the higher ones.\n\nA build that takes the machine's numbers for its own starts too many compilers and is ended by the kernel.",
);
/// Too little memory for one compile job of a large package.
pub const LITTLE_MEMORY: Code = Code::warning(
    "H013",
    "little-memory",
    "A build here has less than 4 GiB of memory. Compilers of GPU kernels take about that for each file, so even one at a time may be ended by the kernel.\n\nWheels without kernels (Triton, pure Python) build in less.",
);
/// Too little free space.
pub const LITTLE_DISK: Code = Code::warning(
    "H014",
    "little-disk",
    "Less than 14 GB are free where builds write, which is what GitHub promises on its own runners. A ROCm toolchain with torch and a build tree of kernels can take more.\n\nBelow 1 GB this is an error: nothing useful can be built. Free some space, or set `TMPDIR` to a larger disk.",
);
/// The runtime is told to take the GPU for another.
pub const RUNTIME_OVERRIDE: Code = Code::note(
    "H015",
    "runtime-override",
    "`HSA_OVERRIDE_GFX_VERSION` makes the ROCm runtime, `rocminfo` and torch take the GPU for another processor. `/sys` shows the real one.\n\nBuild targets are never taken from it. Name both targets in the matrix file if wheels should run with and without it.",
);
/// The override is no version.
pub const BAD_RUNTIME_OVERRIDE: Code = Code::warning(
    "H016",
    "bad-runtime-override",
    "`HSA_OVERRIDE_GFX_VERSION` must be major, minor and step in decimal, joined by dots: `11.0.0` for gfx1100, `9.0.10` for gfx90a.\n\nThe ROCm runtime stops or ignores it when it is anything else.",
);
/// GPUs are hidden from programs.
pub const HIDDEN_GPUS: Code = Code::note(
    "H017",
    "hidden-gpus",
    "`ROCR_VISIBLE_DEVICES` or `HIP_VISIBLE_DEVICES` is set, so programs see only the GPUs it names. `/sys` shows all of them.\n\nIt changes nothing for builds; a test with `gpu: required` runs on what is left.",
);
/// A file of the machine tells nothing.
pub const UNREADABLE_HOST_FILE: Code = Code::warning(
    "H018",
    "unreadable-host-file",
    "A file below `/proc`, `/etc` or the control group's folder is there, but cannot be read or is not what the kernel writes. What it would have told is taken as unknown.\n\nA hardened container may hide such files; limits that cannot be read cannot be obeyed, so set `max-jobs` in the matrix file.",
);
/// The tree given has no `sys`.
pub const NO_SUCH_TREE: Code = Code::error(
    "H019",
    "no-such-tree",
    "`--sysfs-root` names the folder that holds a copy of `sys`, as in `DIR/sys/class/kfd/kfd/topology/nodes`.\n\nGive the folder above `sys`, not `sys` itself.",
);
/// `explain` is asked about what is no code.
pub const UNKNOWN_CODE: Code = Code::error(
    "H022",
    "unknown-code",
    "`rock-matrix explain` takes a code as it stands in a message, `M001`, or its name, `duplicate-key`. Without one it lists them all.",
);
/// Variables whose values nobody has said.
pub const VARIABLES_LEFT_OUT: Code = Code::note(
    "H023",
    "variables-left-out",
    "Some variables of the profile are relative to the folder of ROCm, or name the gfx targets, and these are not known. They are left out, never guessed.\n\nGive the folder with `--rocm`, or a Python that has the packages of the ROCm SDK with `--python`; give the targets with `--gfx`.",
);
/// A form that cannot keep what a list of folders holds.
pub const LISTS_REPLACED: Code = Code::note(
    "H024",
    "lists-replaced",
    "Variables such as `LD_LIBRARY_PATH` are lists of folders. The form for a shell puts the folder before what the list holds, once. conda, the `env:` of a workflow and a file for `docker run --env-file` hold plain values, so there the list is this folder alone.\n\nWhere a list must be kept, source the form for a shell.",
);
/// An interpreter without the packages of the ROCm SDK.
pub const NO_ROCM_SDK: Code = Code::error(
    "H025",
    "no-rocm-sdk",
    "The interpreter given by `--python` was asked for the folder of ROCm with `-m rocm_sdk path --root`, and did not answer with an absolute path: it cannot be started, or the packages of the ROCm SDK are not installed there.\n\nInstall `rocm[libraries,devel]` into it, or give the folder with `--rocm`.",
);
/// A value that the form asked for cannot hold.
pub const UNWRITABLE_VARIABLE: Code = Code::error(
    "H026",
    "unwritable-variable",
    "A variable has a value that the form asked for cannot hold: a line break in a file for `docker run --env-file`, or a folder with `:` in its name in a list of folders. It is refused, since any other value would be another value.",
);
/// Attention does not do what is expected on a GPU.
pub const ATTENTION_MISS: Code = Code::error(
    "H027",
    "attention-miss",
    "A line of the validation script's output is not what the facts expect on this GPU (table `attention-expects`), or is missing: torch's attention does not work there, or takes another library.\n\nMost often a variable is not set, or was set after torch was imported. `rock-matrix doctor attention --arch TARGET` says which library torch takes and what it needs, and `rock-matrix env` prints the variables.",
);
/// A log that cannot be judged.
pub const UNJUDGED_LOG: Code = Code::error(
    "H028",
    "unjudged-log",
    "What was given is not the whole output of the validation script, or it is of a GPU that nothing is expected of. Nothing is concluded from it.\n\n`rock-matrix doctor attention --script` prints the script. Keep all of its output, and name the GPU with `--arch` where the log does not.",
);
/// A log of a machine without a GPU.
pub const NO_DEVICE_IN_LOG: Code = Code::note(
    "H029",
    "no-device-in-log",
    "The validation script found no GPU, so it asked torch for nothing that needs one. That is no fault: torch for ROCm is imported and looked at on machines without GPUs too.",
);
/// Attention is asked about on a machine without GPUs.
pub const NO_TARGET_NAMED: Code = Code::error(
    "H030",
    "no-target-named",
    "`rock-matrix doctor attention` answers for the GPUs of this machine, and there is none. Name the target that is meant with `--arch`.",
);
/// A tool that is too old for builds of torch.
pub const OLD_BUILD_TOOL: Code = Code::warning(
    "H031",
    "old-build-tool",
    "A tool of this machine is older than builds of torch from source need (table `tools`). Other builds may do with it.\n\nInstall a newer one; `python -m pip install ninja` puts one beside that Python.",
);
/// A path that builds of torch have trouble with.
pub const UNFIT_PATH: Code = Code::warning(
    "H032",
    "unfit-path",
    "Builds of torch from source are known to fail with such a path (table `paths`): on Windows command lines grow with the folder of the build until they are too long, and blanks in the path of Python are taken for the end of a word.\n\nMove the one or the other.",
);
/// A program wrote more than is kept of any.
pub const TOO_MUCH_OUTPUT: Code = Code::error(
    "H045",
    "too-much-output",
    "A program whose output is parsed, such as `git ls-remote`, wrote more than 64 MiB. It was stopped and its output was discarded.\n\nRun the command to see what it prints; a server that lists millions of refs can cause this.",
);
