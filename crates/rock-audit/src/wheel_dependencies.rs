//! The libraries of a wheel that policies are evaluated for, and the violations of each policy by
//! them.

use std::collections::{BTreeMap, BTreeSet};

use super::compliance::{PolicyContext, PolicyViolations, lower_policy};
use super::installed_libraries::{InstalledLibraries, InstalledLibrary};
use super::resolve::{DependencyTree, ResolveContext, ResolvedLibrary, resolve_dependencies};
use super::tree_completion::complete_trees;
use rock_compat::policy::{PlatformPolicies, PlatformPolicy};

/// The libraries that policies are evaluated for, with their dependencies.
pub(super) struct WheelDependencies<'f> {
    /// In the order of the files.
    pub(super) libraries: Vec<InstalledLibrary<'f>>,
    /// The dependencies of each library, by the index of its file.
    pub(super) trees: BTreeMap<usize, DependencyTree>,
    /// Extension modules, and libraries that no file of the wheel needs.
    pub(super) roots: Vec<InstalledLibrary<'f>>,
}

impl<'f> WheelDependencies<'f> {
    /// Resolves the dependencies of the considered files.
    pub(super) fn new(
        installed: &InstalledLibraries<'f>,
        considered: &[usize],
        policies: &PlatformPolicies,
        context: PolicyContext<'_>,
    ) -> Self {
        let highest = policies.highest();
        let resolve_context = ResolveContext {
            wheel: installed,
            libraries: context.libraries,
            search_path: context.search_path,
            exclude: context.exclude,
            is_permitted: &|name| !highest.is_linux() && highest.permits_library(name),
        };
        let libraries: Vec<InstalledLibrary<'f>> = considered
            .iter()
            .filter_map(|file_index| installed.of_file(*file_index))
            .collect();
        let mut trees: BTreeMap<usize, DependencyTree> = libraries
            .iter()
            .map(|library| {
                let tree = resolve_dependencies(*library, resolve_context);
                (library.file_index, tree)
            })
            .collect();
        complete_trees(&mut trees, &libraries, installed);
        let needed: BTreeSet<&str> = trees
            .values()
            .flat_map(|tree| &tree.needed)
            .map(String::as_str)
            .collect();
        let roots = libraries
            .iter()
            .filter(|library| {
                library.elf.extension.is_some() || !needed.contains(library.file_name())
            })
            .copied()
            .collect();
        Self {
            libraries,
            trees,
            roots,
        }
    }

    /// Returns the violations of each policy by each file, by the index of the file.
    pub(super) fn violations_by_file(
        &self,
        policies: &PlatformPolicies,
    ) -> BTreeMap<usize, Vec<PolicyViolations>> {
        self.libraries
            .iter()
            .map(|library| {
                let tree = &self.trees[&library.file_index];
                let violations = policies
                    .iter()
                    .enumerate()
                    .map(|(index, policy)| {
                        PolicyViolations::of_file(index, policy, library.elf, tree)
                    })
                    .collect();
                (library.file_index, violations)
            })
            .collect()
    }

    /// Returns the violations of each policy by the wheel: those of all roots, whose dependencies
    /// include the other files.
    pub(super) fn violations(
        &self,
        policies: &PlatformPolicies,
        violations_by_file: &BTreeMap<usize, Vec<PolicyViolations>>,
    ) -> Vec<PolicyViolations> {
        let mut violations: Vec<PolicyViolations> = (0..policies.iter().len())
            .map(PolicyViolations::none)
            .collect();
        for root in &self.roots {
            let of_root = &violations_by_file[&root.file_index];
            for (violations, root_violations) in violations.iter_mut().zip(of_root) {
                violations.extend(root_violations);
            }
        }
        violations
    }

    /// Returns the roots with code for x86-64-v2 or later, by the index of the file.
    pub(super) fn roots_above_baseline(&self) -> BTreeSet<usize> {
        self.roots
            .iter()
            .filter(|root| root.elf.is_above_isa_baseline())
            .map(|root| root.file_index)
            .collect()
    }

    /// Returns the highest policy that permits the needed level of x86-64. None permits code above
    /// the first level, except in libraries of the system that a policy permits: its systems
    /// provide their own.
    pub(super) fn isa_policy<'p>(&self, policies: &'p PlatformPolicies) -> PlatformPolicy<'p> {
        if self
            .roots
            .iter()
            .any(|root| root.elf.is_above_isa_baseline())
        {
            return policies.linux();
        }
        self.roots
            .iter()
            .flat_map(|root| &self.trees[&root.file_index].nodes)
            .filter(|(_, node)| match &node.library {
                ResolvedLibrary::System(system) => system.elf.is_above_isa_baseline(),
                _ => false,
            })
            .map(|(name, _)| {
                policies
                    .iter()
                    .find(|policy| !policy.is_linux() && policy.permits_library(name))
                    .unwrap_or(policies.linux())
            })
            .fold(policies.highest(), lower_policy)
    }
}
