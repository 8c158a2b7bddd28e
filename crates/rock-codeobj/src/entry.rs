//! Entries of code containers, and their bundle entry IDs.

use super::code_object::{CodeObject, is_known_processor};
use super::limits::MAX_ID_BYTES;
use super::target::CodeTarget;

/// The offload kind: the first word of a bundle entry ID (clang, "Offload Bundler", "Bundle Entry
/// ID").
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OffloadKind {
    /// The host; its entry is empty.
    Host,
    /// HIP with code objects before version 4.
    Hip,
    /// HIP with code objects of version 4 or later.
    HipV4,
    /// OpenMP.
    OpenMp,
    /// Any other word.
    Other,
}

/// A bundle entry ID: `KIND-TRIPLE-TARGET`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BundleEntryId {
    /// The ID as in the file.
    pub text: String,
    /// The offload kind.
    pub kind: OffloadKind,
    /// The target; `None` for the host.
    pub target: Option<CodeTarget>,
}

impl BundleEntryId {
    /// Parses an ID; `None` if it is empty, longer than 256 bytes, or not printable ASCII.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let is_text = !bytes.is_empty()
            && bytes.len() as u64 <= MAX_ID_BYTES
            && bytes
                .iter()
                .all(|byte| byte.is_ascii_graphic() || *byte == b' ');
        let text = std::str::from_utf8(bytes).ok().filter(|_| is_text)?;
        let (kind, rest) = text.split_once('-').unwrap_or((text, ""));
        let kind = match kind {
            "host" => OffloadKind::Host,
            "hip" => OffloadKind::Hip,
            "hipv4" => OffloadKind::HipV4,
            "openmp" => OffloadKind::OpenMp,
            _ => OffloadKind::Other,
        };
        let target = (kind != OffloadKind::Host).then(|| CodeTarget::from_text(target_text(rest)));
        Some(Self {
            text: text.to_owned(),
            kind,
            target,
        })
    }

    /// Returns `true` if compilers write this offload kind.
    pub fn is_known(&self) -> bool {
        self.kind != OffloadKind::Other
    }
}

/// Returns the text after the triple. The triple has three or four words, of which the fourth may
/// be empty; the processor may contain hyphens (`gfx9-4-generic`).
fn target_text(rest: &str) -> &str {
    if let Some(at) = rest.find("-gfx") {
        return &rest[at + 1..];
    }
    match rest.split_once("--") {
        Some((_, target)) => target,
        None => rest.splitn(4, '-').nth(3).unwrap_or_default(),
    }
}

/// An entry of a code container: a bundle entry, or a code object without a bundle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContainerEntry {
    /// The bundle entry ID; `None` outside of bundles.
    pub id: Option<BundleEntryId>,
    /// The offset in the decompressed bundle or, without a bundle, in the file.
    pub offset: u64,
    /// The size, in bytes.
    pub size_bytes: u64,
    /// The parsed ELF header, if it was read and is that of a code object.
    pub object: Option<CodeObject>,
}

impl ContainerEntry {
    /// Returns the target by ID, or by ELF header without an ID; `None` for the host.
    pub fn target(&self) -> Option<&CodeTarget> {
        match &self.id {
            Some(id) => id.target.as_ref(),
            None => self.object.as_ref().map(|object| &object.target),
        }
    }

    /// Returns `true` if the entry contains code for a GPU.
    pub fn is_device(&self) -> bool {
        self.size_bytes > 0 && self.target().is_some()
    }

    /// Returns `true` if the ELF header contradicts the ID.
    ///
    /// Version 2 headers have no processor, and version 3 headers no disabled features, so less is
    /// compared there. An unknown machine number contradicts only processors whose number is known.
    pub fn is_mismatch(&self) -> bool {
        let (Some(said), Some(object)) = (self.target(), &self.object) else {
            return false;
        };
        let (said, found) = match (said, &object.target, object.version) {
            (.., Some(2)) => return false,
            (CodeTarget::Gfx(said), CodeTarget::Gfx(found), _) => (said, found),
            (CodeTarget::Gfx(said), CodeTarget::Unknown(_), _) => {
                return is_known_processor(said.processor());
            }
            (_, CodeTarget::Unknown(_), _) => return false,
            (said, found, _) => return said != found,
        };
        let is_told = |feature: &&String| object.version != Some(3) || feature.ends_with('+');
        said.processor() != found.processor()
            || !said
                .features()
                .iter()
                .filter(is_told)
                .eq(found.features().iter().filter(is_told))
    }
}

#[cfg(test)]
mod tests {
    use super::super::parse_code_object;
    use super::{BundleEntryId, ContainerEntry};
    use rock_testkit::bundle::code_object;

    #[test]
    fn ids_of_all_compilers_name_their_target() {
        let check = |text: &str, expect: &str| {
            let id = BundleEntryId::parse(text.as_bytes()).unwrap();
            let target = id
                .target
                .as_ref()
                .map_or("-".to_owned(), ToString::to_string);
            assert_eq!(format!("{:?} {target}", id.kind), expect, "{text}");
        };
        check("host-x86_64-unknown-linux", "Host -");
        check("host-x86_64-unknown-linux-gnu-", "Host -");
        check("host-x86_64-unknown-linux--", "Host -");
        check(
            "hipv4-amdgcn-amd-amdhsa--gfx90a:xnack+",
            "HipV4 gfx90a:xnack+",
        );
        check(
            "hipv4-amdgcn-amd-amdhsa--gfx9-4-generic",
            "HipV4 gfx9-4-generic",
        );
        check("hipv4-amdgcn-amd-amdhsa-unknown-gfx1201", "HipV4 gfx1201");
        check("hip-amdgcn-amd-amdhsa-gfx803", "Hip gfx803");
        check("hip-spirv64-amd-amdhsa--amdgcnspirv", "Hip amdgcnspirv");
        check("hip-spirv64-amd-amdhsa-amdgcnspirv", "Hip amdgcnspirv");
        check("openmp-amdgcn-amd-amdhsa--gfx908", "OpenMp gfx908");
        check("sycl-nvptx64-nvidia-cuda--sm_80", "Other sm_80");
        check("hip", "Hip ");
    }

    #[test]
    fn what_is_no_text_is_no_id() {
        for bytes in [&b""[..], b"hip\0", b"hipv4-\xff", &[b'a'; 257]] {
            assert_eq!(BundleEntryId::parse(bytes), None);
        }
        assert!(BundleEntryId::parse(&[b'a'; 256]).is_some_and(|id| !id.is_known()));
    }

    #[test]
    fn a_header_contradicts_its_id_by_processor_or_known_feature() {
        let check = |id: &str, abi_version: u8, flags: u32, expect: bool| {
            let id = BundleEntryId::parse(format!("hipv4-amdgcn-amd-amdhsa--{id}").as_bytes());
            let object = parse_code_object(&code_object(flags, abi_version, 64));
            let entry = ContainerEntry {
                id,
                offset: 0,
                size_bytes: 64,
                object,
            };
            assert_eq!(entry.is_mismatch(), expect, "{entry:?}");
        };
        check("gfx90a", 3, 0x53f, false);
        check("gfx90a:xnack-", 3, 0x63f, false);
        check("gfx90a:xnack+", 3, 0x63f, true);
        check("gfx90a", 3, 0x63f, true);
        check("gfx906", 3, 0x53f, true);
        check("gfx906:sramecc+:xnack-", 1, 0x22f, false);
        check("gfx906:xnack-", 1, 0x12f, true);
        check("gfx906", 0, 0x01, false);
    }

    #[test]
    fn a_machine_number_that_is_not_known_contradicts_known_processors_alone() {
        let is_mismatch = |id: &str, number: u32| {
            let id = BundleEntryId::parse(format!("hipv4-amdgcn-amd-amdhsa--{id}").as_bytes());
            let object = parse_code_object(&code_object(number, 3, 64));
            ContainerEntry {
                id,
                offset: 0,
                size_bytes: 64,
                object,
            }
            .is_mismatch()
        };
        assert!(
            !is_mismatch("gfx1999", 0xf0)
                && !is_mismatch("gfx1399:xnack+", 0x7e)
                && !is_mismatch("other", 0xf0)
        );
        assert!(is_mismatch("gfx906", 0xf0) && is_mismatch("gfx1999", 0x2f));
    }
}
