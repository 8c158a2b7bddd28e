//! Limits on the libraries of a wheel, so that an audit takes bounded memory and time whatever they
//! claim.

/// Maximum number of libraries that one file needs. Each is searched for in each directory of the
/// search path. Linked files need a few dozen.
pub(super) const MAX_NEEDED: usize = 4096;
/// Maximum size of an RPATH or RUNPATH in bytes: 16 of the longest paths (limits.h, `PATH_MAX`).
pub(super) const MAX_SEARCH_PATH_BYTES: usize = 1 << 16;
/// Maximum number of libraries resolved for all files of a wheel together, at about 200 bytes each:
/// the number of files times the names that they need. As many as 700 libraries that each lead to
/// all of them.
pub(super) const MAX_TREE_NODES: usize = 1 << 19;
/// Maximum number of needs followed for all files of a wheel together, which bounds the time: the
/// number of files times all that they need.
pub(super) const MAX_TREE_EDGES: usize = 1 << 25;
/// Maximum length of the file name of a redundant copy in bytes (limits.h, `NAME_MAX`); longer ones
/// stay.
pub(super) const MAX_FILE_NAME_BYTES: usize = 255;
/// Maximum size of a member that is kept in memory if it must be read out of order, in bytes.
/// Larger ones go to a temporary file.
pub(super) const MAX_HELD_BYTES: u64 = 512 << 20;
/// Memory budget in bytes for all members other than the largest: a few dozen that are streamed.
pub(super) const MAX_OTHERS_BYTES: u64 = 32 << 20;
/// Maximum size of the buffers that are kept for reuse, in bytes.
pub(super) const MAX_SPARE_BYTES: usize = 12 << 20;

#[cfg(test)]
mod tests {
    use super::super::audited_libraries::excess_dependencies;
    use super::super::inspect::{InspectedFile, InspectedKind, budget_bytes};
    use super::super::library::ElfLibrary;
    use super::*;
    use rock_bytes::{BufferPool, MemoryBudget};
    use rock_elf::{Elf, ElfError, tag};

    fn read(needed: &[&str], texts: &[(u64, &str)]) -> Result<ElfLibrary, ElfError> {
        let bytes = rock_testkit::library(needed, texts);
        ElfLibrary::read(&bytes, &Elf::read(&bytes).unwrap(), "demo.so", &|_| false)
    }

    /// A library that needs as many libraries as the limit is read, and one that needs another is
    /// refused.
    #[test]
    fn needed_libraries_are_read_up_to_the_limit() {
        let needs = |count: usize| read(&vec!["libc.so.6"; count], &[]);
        assert_eq!(needs(MAX_NEEDED).unwrap().needed.len(), MAX_NEEDED);
        assert_eq!(
            needs(MAX_NEEDED + 1).unwrap_err().to_string(),
            "it needs 4097 libraries, more than 4096"
        );
    }

    /// Either search path is read up to the limit, and a longer one is refused.
    #[test]
    fn search_paths_are_read_up_to_the_limit() {
        for tag in [tag::RPATH, tag::RUNPATH] {
            let searches = |bytes: usize| read(&["libc.so.6"], &[(tag, &"x".repeat(bytes))]);
            assert!(searches(MAX_SEARCH_PATH_BYTES).is_ok());
            let message = searches(MAX_SEARCH_PATH_BYTES + 1).unwrap_err().to_string();
            assert_eq!(message, "its search path has 65537 bytes, more than 65536");
        }
    }

    /// Returns `count` libraries, of which the first one needs these libraries.
    fn files(count: usize, needed: impl IntoIterator<Item = usize>) -> Vec<InspectedFile> {
        let library = read(&[], &[]).unwrap();
        let needed = needed
            .into_iter()
            .map(|index| format!("lib{index}.so"))
            .collect();
        let first = ElfLibrary {
            needed,
            ..library.clone()
        };
        let file = |library: ElfLibrary| InspectedFile {
            path: "demo.so".to_owned(),
            size_bytes: 0,
            crc32: 0,
            kind: InspectedKind::Library(Box::new(library)),
            inventory: rock_codeobj::CodeInventory::default(),
            layout_errors: Vec::new(),
            record_verified: false,
        };
        std::iter::once(first)
            .chain(std::iter::repeat_n(library, count - 1))
            .map(file)
            .collect()
    }

    fn excess(files: &[InspectedFile]) -> Option<String> {
        excess_dependencies(files, &(0..files.len()).collect::<Vec<_>>())
    }

    /// The limit is on the number of files times the names that they need.
    #[test]
    fn trees_have_nodes_up_to_the_limit() {
        let names = MAX_TREE_NODES / 512;
        assert_eq!(excess(&files(512, 0..names)), None);
        let message = "its 512 libraries need 1025 others, which is too many to resolve";
        assert_eq!(excess(&files(512, 0..=names)).as_deref(), Some(message));
    }

    /// The limit is on the number of files times all needs, however few names these are.
    #[test]
    fn trees_have_edges_up_to_the_limit() {
        let edges = MAX_TREE_EDGES / 512;
        let needs = |edges: usize| files(512, (0..edges).map(|edge| edge % 2));
        assert_eq!(excess(&needs(edges)), None);
        let message = "its 512 libraries need 2 others, which is too many to resolve";
        assert_eq!(excess(&needs(edges + 1)).as_deref(), Some(message));
    }

    /// Members other than the largest are held in memory up to the limit.
    #[test]
    fn other_members_are_held_up_to_the_limit() {
        let budget = MemoryBudget::new(budget_bytes(1));
        let largest = budget.try_take(1);
        assert!(largest.is_some() && budget.try_take(MAX_OTHERS_BYTES + 1).is_none());
        assert!(budget.try_take(MAX_OTHERS_BYTES).is_some());
    }

    /// Returned buffers are kept up to the limit.
    #[test]
    fn buffers_are_kept_up_to_the_limit() {
        let is_kept = |bytes: usize| {
            let spare = BufferPool::new(MAX_SPARE_BYTES);
            drop(spare.take(bytes));
            spare.take(1).len() >= MAX_SPARE_BYTES
        };
        assert!(is_kept(MAX_SPARE_BYTES) && !is_kept(MAX_SPARE_BYTES + 1));
    }

    /// The largest member is held in memory up to the limit, in addition to all others.
    #[test]
    fn members_are_held_up_to_the_limit() {
        let limit = MAX_HELD_BYTES;
        let other_bytes =
            [limit - 1, limit, limit + 1].map(|largest| budget_bytes(largest) - MAX_OTHERS_BYTES);
        assert_eq!(other_bytes, [limit - 1, limit, limit]);
    }
}
