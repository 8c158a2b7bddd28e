//! The `H` codes, for problems of the machine.

use rock_diagnostic::Code;

/// All codes of this module, sorted by ID.
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
    &ATTENTION_MISS,
    &UNJUDGED_LOG,
    &NO_DEVICE_IN_LOG,
    &OLD_BUILD_TOOL,
    &UNFIT_PATH,
];

/// No AMD GPU is listed by the kernel driver.
pub const NO_GPU: Code = Code::note(
    "H001",
    "no-gpu",
    "The kernel's amdgpu driver lists no AMD GPU below `/sys/class/kfd/kfd/topology/nodes`.\n\nBuilds do not need one: the compiler generates code for the targets in the matrix file. Only `gfx: [host]` and tests with `gpu: required` look for a GPU.",
);
/// An unreadable or invalid node of the KFD topology.
pub const GPU_NODE_UNREADABLE: Code = Code::warning(
    "H002",
    "gpu-node-unreadable",
    "A node of the KFD topology cannot be read, or its `properties` are not in the driver's format, so the node is skipped.\n\n`gfx_target_version` and `simd_count` must be present, in decimal. The version is major × 10000 + minor × 100 + step, with minor and step up to 15. Kernels before 5.11 do not write it: name the targets in the matrix file instead of using `gfx: [host]`.",
);
/// A `gpu_id` file that contradicts its node.
pub const WRONG_GPU_ID: Code = Code::warning(
    "H003",
    "wrong-gpu-id",
    "The `gpu_id` file of a node is missing, is not a number, or is 0 (a CPU), while the node's `properties` describe a GPU.\n\nThe GPU is kept, because its target comes from `properties` alone. Please report this to the vendor of the driver.",
);
/// A GPU that a container hides.
pub const MASKED_GPU: Code = Code::note(
    "H004",
    "masked-gpu",
    "The node of a GPU is listed, but this process may not read it (`EPERM`): the device control group of a container hides it.\n\nContainers get only some of a machine's GPUs this way. If this one should be visible, pass its render node with `--device`.",
);
/// Listed GPUs without `/dev/kfd`.
pub const KFD_ABSENT: Code = Code::warning(
    "H005",
    "kfd-absent",
    "The topology lists GPUs, but `/dev/kfd` does not exist, so programs cannot use them. A container sees the `/sys` of the host, but not its devices.\n\nIn a container, pass `--device=/dev/kfd --device=/dev/dri`. On the host, load the `amdgpu` driver. Builds do not need it.",
);
/// A device path that is not a device.
pub const NOT_A_DEVICE: Code = Code::error(
    "H006",
    "not-a-device",
    "`/dev/kfd` or a render node exists, but is not a character device.\n\nThis happens if a path that did not exist was mounted into a container: the engine created a directory of that name. Pass devices with `--device`, not with `--volume`, and remove the leftovers on the host.",
);
/// A device that this user may not open.
pub const NO_DEVICE_PERMISSION: Code = Code::error(
    "H007",
    "no-device-permission",
    "A device exists, but its owner, group and mode do not let this user open it (`EACCES`).\n\nBecome a member of the owning group, and log in again. In a container, add the group by number, as in `--group-add 105`: names are looked up in the image, where `render` is often missing.",
);
/// A device that a device control group refuses.
pub const DEVICE_REFUSED: Code = Code::warning(
    "H008",
    "device-refused",
    "A device exists, but no user may open it (`EPERM`): the device control group of the container does not allow it.\n\nStart the container with `--device=/dev/kfd --device=/dev/dri`. A node that was created by hand or mounted as a volume is not enough.",
);
/// A device that fails to open.
pub const BROKEN_DEVICE: Code = Code::error(
    "H009",
    "broken-device",
    "A device node exists and may be opened, but the system reports an error: its driver is gone or has failed.\n\n`dmesg` shows the messages of amdgpu. The device node may also be left over from a driver that was unloaded.",
);
/// Neither docker nor podman on the `PATH`.
pub const NO_CONTAINER_ENGINE: Code = Code::note(
    "H010",
    "no-container-engine",
    "Neither `docker` nor `podman` is on the `PATH`, so `build --engine docker` and `--engine podman` cannot run here.\n\n`build --engine local` needs neither. `render docker` prints the commands for another machine.",
);
/// A docker client without a daemon.
pub const ENGINE_UNREACHABLE: Code = Code::warning(
    "H011",
    "engine-unreachable",
    "The docker client is installed, but no daemon responds.\n\nStart the daemon, join the group that owns its socket, or set `DOCKER_HOST` to its address.",
);
/// A control group that allows less than the machine has.
pub const LIMITED_BY_CGROUP: Code = Code::note(
    "H012",
    "limited-by-cgroup",
    "The control group of this process allows fewer CPUs or less memory than the machine has. Builds use the lower numbers; tools that query the machine (`free`, `nproc --all`) show the higher ones.\n\nA build that uses the numbers of the machine starts too many compilers and is killed by the kernel.",
);
/// Too little memory for one compiler of GPU kernels.
pub const LITTLE_MEMORY: Code = Code::warning(
    "H013",
    "little-memory",
    "A build on this machine has less than 4 GiB of memory. Compiling a file with GPU kernels takes about that much, so the kernel may kill even a single compiler.\n\nWheels without kernels (Triton, pure Python) need less.",
);
/// Too little free disk space.
pub const LITTLE_DISK: Code = Code::warning(
    "H014",
    "little-disk",
    "Less than 14 GB are free where builds write; GitHub guarantees that much on its own runners. A ROCm toolchain with torch and a build tree of kernels can take more.\n\nBelow 1 GB this is an error, because nothing useful can be built. Free some space, or set `TMPDIR` to a larger disk.",
);
/// An override of the GPU's target.
pub const RUNTIME_OVERRIDE: Code = Code::note(
    "H015",
    "runtime-override",
    "`HSA_OVERRIDE_GFX_VERSION` makes the ROCm runtime, `rocminfo` and torch treat the GPU as another processor. `/sys` shows the real one.\n\nBuild targets never come from this variable. If wheels should run both with and without it, name both targets in the matrix file.",
);
/// An override that is not a version.
pub const BAD_RUNTIME_OVERRIDE: Code = Code::warning(
    "H016",
    "bad-runtime-override",
    "`HSA_OVERRIDE_GFX_VERSION` must be major, minor and step in decimal, separated by dots: `11.0.0` for gfx1100, `9.0.10` for gfx90a.\n\nWith any other value the ROCm runtime stops, or ignores it.",
);
/// GPUs that are hidden from programs.
pub const HIDDEN_GPUS: Code = Code::note(
    "H017",
    "hidden-gpus",
    "`ROCR_VISIBLE_DEVICES` or `HIP_VISIBLE_DEVICES` is set, so programs see only the GPUs that it names. `/sys` shows all of them.\n\nBuilds are not affected; a test with `gpu: required` runs on the visible GPUs.",
);
/// An unreadable file below `/proc`, `/etc` or the control group.
pub const UNREADABLE_HOST_FILE: Code = Code::warning(
    "H018",
    "unreadable-host-file",
    "A file below `/proc`, `/etc` or the control group's directory cannot be read, or is not in the kernel's format, so its information is unknown. A hardened container may hide such files.\n\nBuilds cannot respect a limit that cannot be read: set `max-jobs` in the matrix file.",
);
/// Attention that does not behave as expected.
pub const ATTENTION_MISS: Code = Code::error(
    "H027",
    "attention-miss",
    "A line of the validation script's output is not the expected one for this GPU (table `attention-expects`), or is missing: torch's attention does not work, or uses another library.\n\nThe usual cause is a variable that is not set, or was set after torch was imported. `rock-matrix attention report --gfx TARGET` shows which library torch uses and what it needs, and `rock-matrix env` prints the variables.",
);
/// A validation log that cannot be evaluated.
pub const UNJUDGED_LOG: Code = Code::error(
    "H028",
    "unjudged-log",
    "The input is not the complete output of the validation script, or it is from a GPU for which no expected results are recorded.\n\n`rock-matrix attention script` prints the script. Save its whole output, and name the GPU with `--gfx` if the log does not.",
);
/// A validation log from a machine without a GPU.
pub const NO_DEVICE_IN_LOG: Code = Code::note(
    "H029",
    "no-device-in-log",
    "The validation script found no GPU, so it skipped the checks that need one. This is not an error: torch for ROCm can be imported and inspected on machines without a GPU.",
);
/// A tool that is too old to build torch.
pub const OLD_BUILD_TOOL: Code = Code::warning(
    "H031",
    "old-build-tool",
    "A tool on this machine is older than torch's build from source requires (table `tools`). It may be recent enough for other builds.\n\nInstall a newer version; `python -m pip install ninja` installs one for that Python.",
);
/// A path that torch builds cannot handle.
pub const UNFIT_PATH: Code = Code::warning(
    "H032",
    "unfit-path",
    "Building torch from source is known to fail with such a path (table `paths`). On Windows, command lines grow with the path of the build directory until they are too long, and spaces in the path of Python split arguments.\n\nMove the directory or the Python installation.",
);
