//! What the machine has, as plain values, and pure parsers of the texts it is read from.
//!
//! Input: the text of files below `/sys`, `/proc`, `/etc` and `/dev`, read by `sys::host`. Output:
//! [`HostFacts`].
//!
//! **Invariant:** nothing here opens a file or asks the system; every fact comes in as a value.

pub mod cgroup;
pub mod device;
mod facts;
pub mod kfd;
pub mod proc;
mod python;

pub use cgroup::{CgroupLimits, Limit};
pub use device::{DeviceNode, DeviceState};
pub use facts::{
    Disk, Engine, HostFacts, Overrides, RocmInstall, Unreadable, build_memory_bytes, build_threads,
    device_group_ids, gfx_targets, has_usable_gpu, system_rocm,
};
pub use kfd::{Gpu, Topology};
pub use python::{PYTHON_FACTS, PythonFacts};
