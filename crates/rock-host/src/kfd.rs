//! The topology that the amdgpu kernel driver shows below `/sys/class/kfd/kfd/topology/nodes`.
//!
//! A node folder holds `gpu_id` and `properties`, the latter lines of `key value` in decimal
//! (Linux, `drivers/gpu/drm/amd/amdkfd/kfd_topology.c`). The ISA is `gfx_target_version` and
//! nothing else: `name` says `ip discovery` on current GPUs.

use std::collections::BTreeMap;

use super::device::Refusal;
use rock_names::GfxTarget;

/// AMD's PCI vendor id, 0x1002.
const AMD: u64 = 4098;
/// `HSA_HEAPTYPE_FRAME_BUFFER_PUBLIC` and `_PRIVATE` (libhsakmt, `hsakmttypes.h`).
const FRAME_BUFFER_HEAPS: [u64; 2] = [1, 2];

/// The GPUs of a machine and what stood in the way of reading others.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Topology {
    /// The folder it was read from.
    pub folder: String,
    /// Whether that folder is there: without the driver it is not.
    pub is_present: bool,
    /// GPUs, by node number.
    pub gpus: Vec<Gpu>,
    /// Nodes that are no GPU and no fault: CPUs and devices of other vendors.
    pub other_nodes: Vec<u32>,
    /// Nodes that could not be read, by number.
    pub skipped: Vec<SkippedNode>,
}

/// A GPU as the driver describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gpu {
    /// The node number; not an index among GPUs.
    pub node: u32,
    /// Processor, from `gfx_target_version`.
    pub target: GfxTarget,
    /// Compute units: `simd_count` / `simd_per_cu`.
    pub compute_units: Option<u64>,
    /// Memory on the card, where `mem_banks` tells it.
    pub vram_bytes: Option<u64>,
    /// N of `/dev/dri/renderDN`.
    pub render_minor: Option<u64>,
    /// `0000:03:00.0`.
    pub pci_location: Option<String>,
    /// PCI device id.
    pub device_id: Option<u64>,
    /// Accelerator dies in one device: 8 on an MI300X.
    pub xcc_count: Option<u64>,
    /// The driver's own id of the GPU, or what is wrong with the file.
    pub gpu_id: Result<u32, String>,
}

/// A node that is left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkippedNode {
    /// Its number.
    pub node: u32,
    /// Why.
    pub why: Skip,
}

/// Why a node is left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Skip {
    /// The device control group of a container hides it (`EPERM`).
    Masked,
    /// Its files cannot be read.
    Unreadable(String),
    /// Its `properties` are not what the driver writes.
    Malformed(String),
}

/// The texts of one node folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeText {
    /// The folder's number.
    pub node: u32,
    /// The `gpu_id` file.
    pub gpu_id: Result<String, Refusal>,
    /// The `properties` file.
    pub properties: Result<String, Refusal>,
    /// The `properties` files below `mem_banks`, in any order.
    pub mem_banks: Vec<String>,
}

impl Topology {
    /// Makes the topology out of node texts in any order.
    pub fn from_nodes(folder: impl Into<String>, mut nodes: Vec<NodeText>) -> Self {
        let mut topology = Self {
            folder: folder.into(),
            is_present: true,
            ..Self::default()
        };
        nodes.sort_by_key(|text| text.node);
        for text in &nodes {
            match read_node(text) {
                Ok(Some(gpu)) => topology.gpus.push(gpu),
                Ok(None) => topology.other_nodes.push(text.node),
                Err(why) => topology.skipped.push(SkippedNode {
                    node: text.node,
                    why,
                }),
            }
        }
        topology
    }
}

/// Reads one node: a GPU, or `None` for a CPU and for devices of other vendors.
///
/// # Errors
/// When the files cannot be read or make no sense.
pub fn read_node(text: &NodeText) -> Result<Option<Gpu>, Skip> {
    let properties = match &text.properties {
        Ok(properties) => Properties::parse(properties),
        Err(Refusal::NotPermitted) => return Err(Skip::Masked),
        Err(Refusal::Absent) => {
            return Err(Skip::Unreadable("it has no `properties` file".to_owned()));
        }
        Err(refusal) => {
            return Err(Skip::Unreadable(format!(
                "its `properties` cannot be read: {refusal}"
            )));
        }
    };
    let version = properties.required("gfx_target_version")?;
    let simds = properties.required("simd_count")?;
    if simds == 0
        || properties
            .number("vendor_id")?
            .is_some_and(|vendor| vendor != AMD)
    {
        return Ok(None);
    }
    let target = u32::try_from(version)
        .ok()
        .and_then(GfxTarget::from_kfd_version)
        .ok_or_else(|| {
            Skip::Malformed(format!(
                "`gfx_target_version {version}` names no processor: minor and step go up to 15"
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
            Err(Refusal::Absent) => Err("is missing".to_owned()),
            Err(refusal) => Err(format!("cannot be read: {refusal}")),
        },
    }))
}

/// Parses a `gpu_id` file: one decimal number, not 0, which stands for a CPU.
///
/// # Errors
/// With what is wrong, as the rest of a sentence about the file.
pub fn parse_gpu_id(text: &str) -> Result<u32, String> {
    match text.trim().parse() {
        Ok(0) => Err("holds 0, which stands for a CPU".to_owned()),
        Ok(id) => Ok(id),
        Err(_) => Err(format!(
            "holds `{}`, not a number",
            text.trim().escape_debug()
        )),
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

fn vram_bytes(mem_banks: &[String]) -> Option<u64> {
    let banks = mem_banks.iter().filter_map(|text| {
        let bank = Properties::parse(text);
        let heap = bank.number("heap_type").ok()??;
        FRAME_BUFFER_HEAPS
            .contains(&heap)
            .then(|| bank.number("size_in_bytes").ok().flatten())
            .flatten()
    });
    Some(banks.sum()).filter(|sum| *sum > 0)
}

/// The lines of a `properties` file; a value is judged when it is asked for.
#[derive(Debug)]
struct Properties<'a>(BTreeMap<&'a str, &'a str>);

impl<'a> Properties<'a> {
    fn parse(text: &'a str) -> Self {
        Self(
            text.lines()
                .filter_map(|line| line.trim().split_once(' '))
                .map(|(k, v)| (k, v.trim()))
                .collect(),
        )
    }

    fn number(&self, key: &str) -> Result<Option<u64>, Skip> {
        let Some(value) = self.0.get(key) else {
            return Ok(None);
        };
        value.parse().map(Some).map_err(|_| {
            Skip::Malformed(format!(
                "`{key}` is `{}`, not a number",
                value.escape_debug()
            ))
        })
    }

    fn required(&self, key: &str) -> Result<u64, Skip> {
        self.number(key)?
            .ok_or_else(|| Skip::Malformed(format!("`properties` has no `{key}`")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(number: u32, properties: &str) -> NodeText {
        NodeText {
            node: number,
            gpu_id: Ok("4672\n".to_owned()),
            properties: Ok(properties.to_owned()),
            mem_banks: vec![],
        }
    }

    const W7900: &str = "simd_count 192\nsimd_per_cu 2\ngfx_target_version 110000\nvendor_id 4098\nlocation_id 768\n\
                         domain 0\ndrm_render_minor 128\n";

    #[test]
    fn a_gpu_is_read_out_of_its_properties() {
        let gpu = read_node(&node(1, W7900)).unwrap().unwrap();
        assert_eq!(gpu.target.to_string(), "gfx1100");
        assert_eq!((gpu.compute_units, gpu.render_minor), (Some(96), Some(128)));
        assert_eq!(gpu.pci_location.as_deref(), Some("0000:03:00.0"));
        assert_eq!((gpu.gpu_id, gpu.xcc_count), (Ok(4672), None));
    }

    #[test]
    fn two_keys_are_enough_and_unknown_keys_do_no_harm() {
        let gpu = read_node(&node(
            1,
            "gfx_target_version 90010\nsimd_count 440\ncapability2 what\n",
        ))
        .unwrap()
        .unwrap();
        assert_eq!(gpu.target.to_string(), "gfx90a");
        assert_eq!((gpu.compute_units, gpu.pci_location), (None, None));
    }

    #[test]
    fn cpus_and_other_vendors_are_no_gpus() {
        assert_eq!(
            read_node(&node(
                0,
                "simd_count 0\ngfx_target_version 0\nvendor_id 0\n"
            )),
            Ok(None)
        );
        assert_eq!(
            read_node(&node(
                1,
                "simd_count 8\ngfx_target_version 90010\nvendor_id 4318\n"
            )),
            Ok(None)
        );
    }

    #[test]
    fn malformed_properties_are_left_out_with_the_reason() {
        let reason = |text: &str| match read_node(&node(1, text)) {
            Err(Skip::Malformed(reason)) => reason,
            other => panic!("{other:?}"),
        };
        assert_eq!(
            reason("simd_count 80\ngfx_target_version 115100\n"),
            "`gfx_target_version 115100` names no processor: minor and step go up to 15"
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
                .split(" names")
                .next(),
            Some("`gfx_target_version 0`")
        );
        assert_eq!(reason(""), "`properties` has no `gfx_target_version`");
    }

    #[test]
    fn a_node_that_the_container_may_not_read_is_masked_not_wrong() {
        let masked = NodeText {
            properties: Err(Refusal::from_errno(Some(1), "")),
            ..node(3, "")
        };
        let topology = Topology::from_nodes("/sys", vec![masked, node(1, W7900)]);
        assert_eq!(topology.gpus.len(), 1);
        assert_eq!(
            topology.skipped,
            [SkippedNode {
                node: 3,
                why: Skip::Masked
            }]
        );
    }

    #[test]
    fn nodes_sort_by_number_not_as_text() {
        let nodes = [10, 2, 11, 1, 9].map(|number| node(number, W7900)).to_vec();
        let order: Vec<u32> = Topology::from_nodes("/sys", nodes)
            .gpus
            .iter()
            .map(|gpu| gpu.node)
            .collect();
        assert_eq!(order, [1, 2, 9, 10, 11]);
    }

    #[test]
    fn a_wrong_gpu_id_file_is_told_and_the_gpu_is_kept() {
        for (text, told) in [
            ("abc", "holds `abc`, not a number"),
            ("0\n", "holds 0, which stands for a CPU"),
        ] {
            let gpu = read_node(&NodeText {
                gpu_id: Ok(text.to_owned()),
                ..node(1, W7900)
            })
            .unwrap()
            .unwrap();
            assert_eq!(gpu.gpu_id, Err(told.to_owned()));
        }
        let gpu = read_node(&NodeText {
            gpu_id: Err(Refusal::Absent),
            ..node(1, W7900)
        })
        .unwrap()
        .unwrap();
        assert_eq!(gpu.gpu_id, Err("is missing".to_owned()));
    }

    #[test]
    fn memory_on_the_card_is_the_sum_of_its_frame_buffers() {
        let bank =
            |heap: u32, size: u64| format!("heap_type {heap}\nsize_in_bytes {size}\nflags 0\n");
        let text = NodeText {
            mem_banks: vec![bank(2, 24 << 30), bank(4, 64 << 10), bank(1, 1 << 30)],
            ..node(1, W7900)
        };
        assert_eq!(
            read_node(&text).unwrap().unwrap().vram_bytes,
            Some(25 << 30)
        );
    }
}
