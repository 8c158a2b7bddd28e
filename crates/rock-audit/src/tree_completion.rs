//! Completion of the dependencies of libraries that another file of the wheel loads.

use std::collections::BTreeMap;

use super::installed_libraries::{InstalledLibraries, InstalledLibrary};
use super::resolve::{DependencyNode, DependencyTree, ResolvedLibrary};

/// Completes the dependencies of libraries that are not extension modules. They are loaded by
/// another file of the wheel: a library that they do not find themselves was found by a file that
/// needs them and finds everything.
pub(super) fn complete_trees(
    trees: &mut BTreeMap<usize, DependencyTree>,
    libraries: &[InstalledLibrary<'_>],
    installed: &InstalledLibraries<'_>,
) {
    let complete: Vec<DependencyTree> = installed
        .iter()
        .filter_map(|library| trees.get(&library.file_index))
        .filter(|tree| !tree.nodes.values().any(is_missing))
        .cloned()
        .collect();
    for library in libraries
        .iter()
        .filter(|library| library.elf.extension.is_none())
    {
        let Some(tree) = trees
            .get_mut(&library.file_index)
            .filter(|tree| tree.nodes.values().any(is_missing))
        else {
            continue;
        };
        let loader = complete
            .iter()
            .find(|tree| tree.nodes.values().any(|node| is_file(node, library)));
        if let Some(loader) = loader {
            complete_tree(tree, loader);
        }
    }
}

/// Replaces the missing libraries of a tree by those of another one, with their dependencies.
fn complete_tree(tree: &mut DependencyTree, complete: &DependencyTree) {
    let mut names: Vec<String> = tree
        .nodes
        .iter()
        .filter(|(_, node)| is_missing(node))
        .map(|(name, _)| name.clone())
        .collect();
    while let Some(name) = names.pop() {
        let Some(node) = complete.nodes.get(&name) else {
            continue;
        };
        if tree.nodes.get(&name).is_none_or(is_missing) {
            tree.nodes.insert(name, node.clone());
            names.extend(
                node.needed
                    .iter()
                    .filter(|needed| !tree.nodes.contains_key(*needed))
                    .cloned(),
            );
        }
    }
}

fn is_missing(node: &DependencyNode) -> bool {
    matches!(node.library, ResolvedLibrary::Missing)
}

fn is_file(node: &DependencyNode, library: &InstalledLibrary<'_>) -> bool {
    matches!(node.library, ResolvedLibrary::Wheel(file_index) if file_index == library.file_index)
}
