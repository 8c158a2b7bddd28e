//! Facts of a machine that matter for GPU builds, and parsers of the files that they come from.
//!
//! Input: texts of files below `/sys`, `/proc`, `/etc` and `/dev`, which `rock_sys::host` reads.
//! Output: [`HostFacts`].
//!
//! ```
//! use rock_host::kfd::{GpuTopology, NodeFiles};
//!
//! let node = NodeFiles {
//!     node: 1,
//!     gpu_id: Ok("51110\n".to_owned()),
//!     properties: Ok("simd_count 192\ngfx_target_version 110000\n".to_owned()),
//!     mem_banks: Vec::new(),
//! };
//! let topology = GpuTopology::from_nodes("/sys/class/kfd/kfd/topology/nodes", vec![node]);
//! assert_eq!(topology.gpus[0].target.to_string(), "gfx1100");
//! ```
//!
//! **Invariant:** nothing here opens a file or queries the system; every fact is an argument.

pub mod cgroup;
pub mod device;
mod facts;
pub mod kfd;
pub mod proc;
mod python;

pub use cgroup::{CgroupLimit, CgroupLimits};
pub use device::{DeviceNode, DeviceState};
pub use facts::{
    ContainerEngine, DiskSpace, GfxOverrideError, HostFacts, RocmInstallation, RuntimeOverrides,
    UnreadableFile, build_memory_bytes, build_threads, device_group_ids, gfx_targets,
    has_usable_gpu, system_rocm, system_rocm_source,
};
pub use kfd::{Gpu, GpuTopology};
pub use python::{PYTHON_FACTS_SCRIPT, PythonFacts};
