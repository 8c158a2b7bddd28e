//! The GPU topology of the amdgpu kernel driver, in `/sys/class/kfd/kfd/topology/nodes`.
//!
//! The directory of a node contains `gpu_id` and `properties`; the latter has lines of a key and a
//! decimal value (Linux, `drivers/gpu/drm/amd/amdkfd/kfd_topology.c`). The processor is derived
//! from `gfx_target_version`, because `name` is `ip discovery` on current GPUs.

use std::collections::BTreeMap;

use super::device::AccessError;
use rock_names::GfxTarget;

/// The PCI vendor ID of AMD, 0x1002.
const AMD_VENDOR_ID: u64 = 4098;
/// `HSA_HEAPTYPE_FRAME_BUFFER_PUBLIC` and `_PRIVATE` (libhsakmt, `hsakmttypes.h`).
const FRAME_BUFFER_HEAPS: [u64; 2] = [1, 2];

/// The GPUs of a machine.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GpuTopology {
    /// The directory that the topology was read from.
    pub directory: String,
    /// Whether the directory exists, which means that the driver is loaded.
    pub is_present: bool,
    /// The GPUs, sorted by node number.
    pub gpus: Vec<Gpu>,
    /// The nodes of CPUs and of devices of other vendors.
    pub other_nodes: Vec<u32>,
    /// The nodes that could not be read, sorted by number.
    pub skipped: Vec<SkippedNode>,
}

/// A GPU, as the driver describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gpu {
    /// The node number, which is not an index of the GPUs.
    pub node: u32,
    /// The processor, from `gfx_target_version`.
    pub target: GfxTarget,
    /// The number of compute units, `simd_count` / `simd_per_cu`.
    pub compute_units: Option<u64>,
    /// The size of the frame buffers in bytes, if `mem_banks` lists them.
    pub vram_bytes: Option<u64>,
    /// The number N of `/dev/dri/renderDN`.
    pub render_minor: Option<u64>,
    /// The PCI address, `0000:03:00.0`.
    pub pci_location: Option<String>,
    /// The PCI device ID.
    pub device_id: Option<u64>,
    /// The number of accelerator dies (XCC), 8 on an MI300X.
    pub xcc_count: Option<u64>,
    /// The ID that the driver gives the GPU, or the error of the `gpu_id` file.
    pub gpu_id: Result<u32, GpuIdError>,
}

/// A node that could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkippedNode {
    /// The node number.
    pub node: u32,
    /// The error.
    pub error: NodeError,
}

/// An error that prevents reading a node.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NodeError {
    /// The device control group of a container hides the node (`EPERM`).
    #[error("hidden by a device control group")]
    Masked,
    /// The files cannot be read.
    #[error("{0}")]
    Unreadable(String),
    /// The contents of `properties` are invalid.
    #[error("{0}")]
    Malformed(String),
}

/// A `gpu_id` file without a valid ID. The message is the end of a sentence about the file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GpuIdError {
    /// The file does not exist.
    #[error("is missing")]
    Missing,
    /// The file cannot be read.
    #[error("cannot be read: {0}")]
    Unreadable(#[source] AccessError),
    /// The ID is 0, which the driver writes for CPUs.
    #[error("contains 0, which means a CPU")]
    Cpu,
    /// The file contains this text instead of a number.
    #[error("contains `{}`, not a number", .0.escape_debug())]
    NotANumber(String),
}

/// The contents of the files of one node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeFiles {
    /// The node number, the name of the directory.
    pub node: u32,
    /// The contents of `gpu_id`.
    pub gpu_id: Result<String, AccessError>,
    /// The contents of `properties`.
    pub properties: Result<String, AccessError>,
    /// The contents of `mem_banks/*/properties`, in any order.
    pub mem_banks: Vec<String>,
}

impl GpuTopology {
    /// Parses nodes in any order. `directory` is the one that they were read from.
    pub fn from_nodes(directory: impl Into<String>, mut nodes: Vec<NodeFiles>) -> Self {
        let mut topology = Self {
            directory: directory.into(),
            is_present: true,
            ..Self::default()
        };
        nodes.sort_by_key(|text| text.node);
        for text in &nodes {
            match parse_node(text) {
                Ok(Some(gpu)) => topology.gpus.push(gpu),
                Ok(None) => topology.other_nodes.push(text.node),
                Err(error) => topology.skipped.push(SkippedNode {
                    node: text.node,
                    error,
                }),
            }
        }
        topology
    }
}

/// Parses a node. Returns `None` for CPUs and devices of other vendors.
///
/// # Errors Returns an error if `properties` cannot be read or is invalid. An invalid `gpu_id` is
/// not an error of the node.
pub fn parse_node(text: &NodeFiles) -> Result<Option<Gpu>, NodeError> {
    let properties = match &text.properties {
        Ok(properties) => NodeProperties::parse(properties),
        Err(AccessError::NotPermitted) => return Err(NodeError::Masked),
        Err(AccessError::NotFound) => {
            return Err(NodeError::Unreadable(
                "it has no `properties` file".to_owned(),
            ));
        }
        Err(error) => {
            return Err(NodeError::Unreadable(format!(
                "its `properties` cannot be read: {error}"
            )));
        }
    };
    let version = properties.required("gfx_target_version")?;
    let simds = properties.required("simd_count")?;
    if simds == 0
        || properties
            .number("vendor_id")?
            .is_some_and(|vendor| vendor != AMD_VENDOR_ID)
    {
        return Ok(None);
    }
    let target = u32::try_from(version)
        .ok()
        .and_then(GfxTarget::from_kfd_version)
        .ok_or_else(|| {
            NodeError::Malformed(format!(
                "`gfx_target_version {version}` is not a valid processor: minor and step go up to \
                 15"
            ))
        })?;
    let simds_per_cu = properties
        .number("simd_per_cu")?
        .filter(|count| *count != 0);
    Ok(Some(Gpu {
        node: text.node,
        target,
        compute_units: simds_per_cu.map(|per_cu| simds / per_cu),
        vram_bytes: vram_bytes(&text.mem_banks),
        render_minor: properties
            .number("drm_render_minor")?
            .filter(|minor| *minor != 0),
        pci_location: properties.number("location_id")?.map(|location| {
            pci_location(
                properties.number("domain").ok().flatten().unwrap_or(0),
                location,
            )
        }),
        device_id: properties.number("device_id")?,
        xcc_count: properties.number("num_xcc")?,
        gpu_id: match &text.gpu_id {
            Ok(gpu_id) => parse_gpu_id(gpu_id),
            Err(AccessError::NotFound) => Err(GpuIdError::Missing),
            Err(error) => Err(GpuIdError::Unreadable(error.clone())),
        },
    }))
}

/// Parses the contents of `gpu_id`: one decimal number other than 0.
///
/// # Errors
/// Returns an error for 0 and for texts that are not a number.
pub fn parse_gpu_id(text: &str) -> Result<u32, GpuIdError> {
    match text.trim().parse() {
        Ok(0) => Err(GpuIdError::Cpu),
        Ok(id) => Ok(id),
        Err(_) => Err(GpuIdError::NotANumber(text.trim().to_owned())),
    }
}

/// Formats `domain` and `location_id` (`bus << 8 | device << 3 | function`) as
/// `domain:bus:device.function`.
fn pci_location(domain: u64, location: u64) -> String {
    format!(
        "{domain:04x}:{:02x}:{:02x}.{}",
        location >> 8 & 0xff,
        location >> 3 & 0x1f,
        location & 7
    )
}

/// Sums the sizes of the frame buffers. Returns `None` if there are none.
fn vram_bytes(mem_banks: &[String]) -> Option<u64> {
    let banks = mem_banks.iter().filter_map(|text| {
        let bank = NodeProperties::parse(text);
        let heap = bank.number("heap_type").ok()??;
        FRAME_BUFFER_HEAPS
            .contains(&heap)
            .then(|| bank.number("size_in_bytes").ok().flatten())
            .flatten()
    });
    Some(banks.sum()).filter(|sum| *sum > 0)
}

/// The lines of a `properties` file by key. Values are parsed on access.
#[derive(Debug)]
struct NodeProperties<'a>(BTreeMap<&'a str, &'a str>);

impl<'a> NodeProperties<'a> {
    fn parse(text: &'a str) -> Self {
        Self(
            text.lines()
                .filter_map(|line| line.trim().split_once(' '))
                .map(|(k, v)| (k, v.trim()))
                .collect(),
        )
    }

    fn number(&self, key: &str) -> Result<Option<u64>, NodeError> {
        let Some(value) = self.0.get(key) else {
            return Ok(None);
        };
        value.parse().map(Some).map_err(|_| {
            NodeError::Malformed(format!(
                "`{key}` is `{}`, not a number",
                value.escape_debug()
            ))
        })
    }

    fn required(&self, key: &str) -> Result<u64, NodeError> {
        self.number(key)?
            .ok_or_else(|| NodeError::Malformed(format!("`properties` has no `{key}`")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(number: u32, properties: &str) -> NodeFiles {
        NodeFiles {
            node: number,
            gpu_id: Ok("4672\n".to_owned()),
            properties: Ok(properties.to_owned()),
            mem_banks: vec![],
        }
    }

    const W7900: &str = "simd_count 192\nsimd_per_cu 2\ngfx_target_version 110000\nvendor_id 4098\nlocation_id 768\n\
                         domain 0\ndrm_render_minor 128\n";

    #[test]
    fn a_gpu_is_parsed() {
        let gpu = parse_node(&node(1, W7900)).unwrap().unwrap();
        assert_eq!(gpu.target.to_string(), "gfx1100");
        assert_eq!((gpu.compute_units, gpu.render_minor), (Some(96), Some(128)));
        assert_eq!(gpu.pci_location.as_deref(), Some("0000:03:00.0"));
        assert_eq!((gpu.gpu_id, gpu.xcc_count), (Ok(4672), None));
    }

    #[test]
    fn two_keys_are_enough_and_unknown_keys_are_ignored() {
        let gpu = parse_node(&node(
            1,
            "gfx_target_version 90010\nsimd_count 440\ncapability2 what\n",
        ))
        .unwrap()
        .unwrap();
        assert_eq!(gpu.target.to_string(), "gfx90a");
        assert_eq!((gpu.compute_units, gpu.pci_location), (None, None));
    }

    #[test]
    fn cpus_and_other_vendors_are_not_gpus() {
        assert_eq!(
            parse_node(&node(
                0,
                "simd_count 0\ngfx_target_version 0\nvendor_id 0\n"
            )),
            Ok(None)
        );
        assert_eq!(
            parse_node(&node(
                1,
                "simd_count 8\ngfx_target_version 90010\nvendor_id 4318\n"
            )),
            Ok(None)
        );
    }

    #[test]
    fn malformed_properties_are_reported() {
        let reason = |text: &str| match parse_node(&node(1, text)) {
            Err(NodeError::Malformed(reason)) => reason,
            other => panic!("{other:?}"),
        };
        assert_eq!(
            reason("simd_count 80\ngfx_target_version 115100\n"),
            "`gfx_target_version 115100` is not a valid processor: minor and step go up to 15"
        );
        assert_eq!(
            reason("simd_count 80\n"),
            "`properties` has no `gfx_target_version`"
        );
        assert_eq!(
            reason("gfx_target_version 90010\nsimd_count 0x1b8\n"),
            "`simd_count` is `0x1b8`, not a number"
        );
        assert_eq!(
            reason("gfx_target_version 0\nsimd_count 80\n")
                .split(" is not")
                .next(),
            Some("`gfx_target_version 0`")
        );
        assert_eq!(reason(""), "`properties` has no `gfx_target_version`");
    }

    #[test]
    fn a_node_that_the_container_hides_is_masked() {
        let masked = NodeFiles {
            properties: Err(AccessError::from_errno(Some(1), "")),
            ..node(3, "")
        };
        let topology = GpuTopology::from_nodes("/sys", vec![masked, node(1, W7900)]);
        assert_eq!(topology.gpus.len(), 1);
        assert_eq!(
            topology.skipped,
            [SkippedNode {
                node: 3,
                error: NodeError::Masked
            }]
        );
    }

    #[test]
    fn nodes_sort_by_number_not_as_text() {
        let nodes = [10, 2, 11, 1, 9].map(|number| node(number, W7900)).to_vec();
        let order: Vec<u32> = GpuTopology::from_nodes("/sys", nodes)
            .gpus
            .iter()
            .map(|gpu| gpu.node)
            .collect();
        assert_eq!(order, [1, 2, 9, 10, 11]);
    }

    #[test]
    fn a_gpu_with_an_invalid_gpu_id_is_kept() {
        for (text, message) in [
            ("abc", "contains `abc`, not a number"),
            ("0\n", "contains 0, which means a CPU"),
        ] {
            let gpu = parse_node(&NodeFiles {
                gpu_id: Ok(text.to_owned()),
                ..node(1, W7900)
            })
            .unwrap()
            .unwrap();
            assert_eq!(gpu.gpu_id.unwrap_err().to_string(), message);
        }
        let gpu = parse_node(&NodeFiles {
            gpu_id: Err(AccessError::NotFound),
            ..node(1, W7900)
        })
        .unwrap()
        .unwrap();
        assert_eq!(gpu.gpu_id, Err(GpuIdError::Missing));
    }

    #[test]
    fn vram_is_the_sum_of_the_frame_buffers() {
        let bank =
            |heap: u32, size: u64| format!("heap_type {heap}\nsize_in_bytes {size}\nflags 0\n");
        let text = NodeFiles {
            mem_banks: vec![bank(2, 24 << 30), bank(4, 64 << 10), bank(1, 1 << 30)],
            ..node(1, W7900)
        };
        assert_eq!(
            parse_node(&text).unwrap().unwrap().vram_bytes,
            Some(25 << 30)
        );
    }
}
