//! Evaluation of platform policies: the libraries and symbol versions that a wheel needs beyond
//! each policy, and the best platform tag that it complies with.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::inspect::InspectedFile;
use super::installed_libraries::InstalledLibraries;
use super::library::ElfLibrary;
use super::pattern::LibraryPatterns;
use super::provider::LibraryCache;
use super::resolve::{DependencyTree, ResolvedLibrary, is_libpython};
use super::search_path::LibrarySearchPath;
use super::symbol_version::newest_versions;
use super::wheel_dependencies::WheelDependencies;
use rock_compat::policy::{PlatformPolicies, PlatformPolicy, SymbolVersionNeed, is_loader};

/// Symbol versions by the library that provides them.
pub type SymbolVersions = BTreeMap<String, BTreeSet<String>>;

/// Settings for the evaluation of policies, except the policies themselves.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PolicyContext<'a> {
    /// The libraries of the system.
    pub libraries: &'a LibraryCache<'a>,
    /// The directories in which the dynamic linker searches.
    pub search_path: &'a LibrarySearchPath,
    /// Libraries that are never grafted and never reported as missing.
    pub exclude: &'a LibraryPatterns,
    /// Whether code for x86-64-v2 and later violates every policy.
    pub checks_isa: bool,
    /// Whether the wheel calls functions of a C library that neither its contents nor a requested
    /// platform identify. The policies are a guess then, and the wheel complies with none.
    pub calls_unidentified_libc: bool,
}

/// A policy, by its position in [`PlatformPolicies`](rock_compat::policy::PlatformPolicies).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PolicyIndex(usize);

impl PolicyIndex {
    fn of(policies: &PlatformPolicies, policy: PlatformPolicy<'_>) -> Self {
        Self(position(policies, policy))
    }
}

/// The needs of a file or a wheel that one policy does not permit.
#[derive(Debug, Clone)]
pub struct PolicyViolations {
    /// The policy; see [`Compliance::policy`].
    pub policy: PolicyIndex,
    /// Libraries that the policy does not permit, by the name they are needed under.
    pub libraries: BTreeMap<String, ResolvedLibrary>,
    /// Used symbols on the policy's blacklist, by library. The policy permits the library, but not
    /// these symbols: not every system has them.
    pub blacklisted: BTreeMap<String, BTreeSet<String>>,
}

/// The results of evaluating all policies for a wheel.
#[derive(Debug, Clone)]
pub struct Compliance {
    policies: Arc<PlatformPolicies>,
    overall_policy: PolicyIndex,
    symbol_policy: PolicyIndex,
    own_symbol_policy: PolicyIndex,
    library_policy: PolicyIndex,
    blacklist_policy: PolicyIndex,
    isa_policy: PolicyIndex,
    /// Whether a file calls functions of a C library that nothing in the wheel identifies, and no
    /// platform that names it was requested. The wheel complies with no policy then.
    pub calls_unidentified_libc: bool,
    /// Files of the wheel with code for x86-64-v2 or later, by index; empty if that is not checked.
    pub above_baseline: BTreeSet<usize>,
    /// Whether the floating-point handler of `fpectl` is used.
    pub uses_pyfpe: bool,
    /// Whether a Python 2 with narrow Unicode is needed.
    pub uses_ucs2: bool,
    /// The symbol versions that [`symbol_policy`](Self::symbol_policy) was determined by.
    pub versions: SymbolVersions,
    /// The symbol versions that files of the wheel need.
    pub own_versions: SymbolVersions,
    /// The violations of each policy by the wheel, highest priority first.
    pub violations: Vec<PolicyViolations>,
    /// The violations of each policy by each file, by the index of the file.
    pub violations_by_file: BTreeMap<usize, Vec<PolicyViolations>>,
    /// The dependencies of each file, by its index.
    pub trees: BTreeMap<usize, DependencyTree>,
}

/// Returns the policy with the lower priority, the first one if they are equal.
pub(super) fn lower_policy<'p>(
    left: PlatformPolicy<'p>,
    right: PlatformPolicy<'p>,
) -> PlatformPolicy<'p> {
    if right.priority() < left.priority() {
        right
    } else {
        left
    }
}

/// Returns the highest policy that permits these versions.
fn best_policy_for<'p>(
    policies: &'p PlatformPolicies,
    versions: &SymbolVersions,
) -> PlatformPolicy<'p> {
    let needs = versions.iter().flat_map(|(library, versions)| {
        versions
            .iter()
            .map(|version| SymbolVersionNeed { library, version })
    });
    policies.symbol_compliance(needs).best
}

/// Evaluates all policies for a wheel. `considered` are the indexes of the files that are
/// libraries for its architecture and C library.
pub(crate) fn evaluate_policies(
    files: &[InspectedFile],
    considered: &[usize],
    policies: &Arc<PlatformPolicies>,
    context: PolicyContext<'_>,
) -> Compliance {
    let installed = InstalledLibraries::new(files);
    let wheel = WheelDependencies::new(&installed, considered, policies, context);
    let violations_by_file = wheel.violations_by_file(policies);
    let violations = wheel.violations(policies, &violations_by_file);

    let own_versions = symbol_versions(wheel.libraries.iter().map(|library| library.elf));
    let (symbol_policy, versions) = symbol_policy(policies, &own_versions, |policy| {
        // Not from `violations`, which have one library per name: two files may find two under it.
        wheel
            .roots
            .iter()
            .flat_map(|root| {
                violations_by_file[&root.file_index][policy]
                    .libraries
                    .values()
            })
            .collect()
    });
    let library_policy =
        highest_without(policies, &violations, |found| !found.libraries.is_empty());
    let blacklist_policy =
        highest_without(policies, &violations, |found| !found.blacklisted.is_empty());
    let (isa_policy, above_baseline) = if context.checks_isa {
        (wheel.isa_policy(policies), wheel.roots_above_baseline())
    } else {
        (policies.highest(), BTreeSet::new())
    };
    let uses_pyfpe = wheel.libraries.iter().any(|library| library.elf.uses_pyfpe);
    let uses_ucs2 = wheel.libraries.iter().any(|library| library.elf.uses_ucs2);
    let libc_policy = if context.calls_unidentified_libc {
        policies.linux()
    } else {
        policies.highest()
    };
    let overall_policy = [
        blacklist_policy,
        isa_policy,
        python_policy(policies, uses_pyfpe, uses_ucs2),
        library_policy,
        libc_policy,
    ]
    .into_iter()
    .fold(symbol_policy, lower_policy);
    Compliance {
        policies: Arc::clone(policies),
        overall_policy: PolicyIndex::of(policies, overall_policy),
        symbol_policy: PolicyIndex::of(policies, symbol_policy),
        own_symbol_policy: PolicyIndex::of(policies, best_policy_for(policies, &own_versions)),
        library_policy: PolicyIndex::of(policies, library_policy),
        blacklist_policy: PolicyIndex::of(policies, blacklist_policy),
        isa_policy: PolicyIndex::of(policies, isa_policy),
        calls_unidentified_libc: context.calls_unidentified_libc,
        above_baseline,
        uses_pyfpe,
        uses_ucs2,
        versions,
        own_versions,
        violations,
        violations_by_file,
        trees: wheel.trees,
    }
}

/// Returns the position of a policy among all of them.
fn position(policies: &PlatformPolicies, policy: PlatformPolicy<'_>) -> usize {
    policies
        .iter()
        .position(|other| other == policy)
        .expect("the policy is one of these")
}

/// Returns the symbol versions that libraries need, without those of the dynamic linker.
fn symbol_versions<'l>(libraries: impl Iterator<Item = &'l ElfLibrary>) -> SymbolVersions {
    let mut versions = SymbolVersions::new();
    for need in libraries
        .flat_map(|library| &library.versions)
        .filter(|need| !is_loader(&need.library))
    {
        versions
            .entry(need.library.clone())
            .or_default()
            .extend(need.versions.iter().cloned());
    }
    versions
}

/// Returns the highest policy that permits the symbol versions of the wheel and of the libraries
/// that would be grafted under it, and these versions. `external_libraries` returns the libraries
/// beyond the policy with this index.
fn symbol_policy<'p, 'l>(
    policies: &'p PlatformPolicies,
    own_versions: &SymbolVersions,
    external_libraries: impl Fn(usize) -> Vec<&'l ResolvedLibrary>,
) -> (PlatformPolicy<'p>, SymbolVersions) {
    let mut best: Option<(PlatformPolicy<'p>, SymbolVersions)> = None;
    for (index, policy) in policies
        .iter()
        .enumerate()
        .filter(|(_, policy)| !policy.is_linux())
    {
        let grafted: BTreeMap<&str, &ElfLibrary> = external_libraries(index)
            .into_iter()
            .filter_map(|library| match library {
                ResolvedLibrary::System(system) => Some((system.real_path.as_str(), &system.elf)),
                _ => None,
            })
            .collect();
        let mut versions = own_versions.clone();
        for (library, grafted_versions) in symbol_versions(grafted.into_values()) {
            versions
                .entry(library)
                .or_default()
                .extend(grafted_versions);
        }
        let policy = lower_policy(best_policy_for(policies, &versions), policy);
        if best
            .as_ref()
            .is_none_or(|(best, _)| best.priority() < policy.priority())
        {
            best = Some((policy, versions));
        }
    }
    best.unwrap_or_else(|| {
        (
            best_policy_for(policies, own_versions),
            own_versions.clone(),
        )
    })
}

/// Returns the highest policy that has no violation of one kind.
fn highest_without<'p>(
    policies: &'p PlatformPolicies,
    violations: &[PolicyViolations],
    has_violation: impl Fn(&PolicyViolations) -> bool,
) -> PlatformPolicy<'p> {
    policies
        .iter()
        .zip(violations)
        .find(|(_, violations)| !has_violation(violations))
        .map_or(policies.linux(), |(policy, _)| policy)
}

/// Returns the highest policy for wheels that need a special build of Python or not.
fn python_policy(
    policies: &PlatformPolicies,
    uses_pyfpe: bool,
    uses_ucs2: bool,
) -> PlatformPolicy<'_> {
    if uses_pyfpe || uses_ucs2 {
        policies.linux()
    } else {
        policies.highest()
    }
}

/// Returns the build of Python that uses of `fpectl` or of narrow Unicode require, in words.
pub(super) fn python_need(uses_pyfpe: bool, uses_ucs2: bool) -> Option<&'static str> {
    match (uses_pyfpe, uses_ucs2) {
        (false, false) => None,
        (true, false) => Some("a Python with the floating-point handler of `--with-fpectl`"),
        (false, true) => Some("a Python 2 with narrow Unicode"),
        (true, true) => {
            Some("a Python 2 with narrow Unicode and the floating-point handler of `--with-fpectl`")
        }
    }
}

impl PolicyViolations {
    /// Creates the result of a wheel that complies with the policy at `index`.
    pub(super) fn none(index: usize) -> Self {
        Self {
            policy: PolicyIndex(index),
            libraries: BTreeMap::new(),
            blacklisted: BTreeMap::new(),
        }
    }

    /// Returns the needs of a file that the policy at `index` does not permit, including those of
    /// libraries that it does not permit.
    pub(super) fn of_file(
        index: usize,
        policy: PlatformPolicy<'_>,
        library: &ElfLibrary,
        tree: &DependencyTree,
    ) -> Self {
        let mut violations = Self::none(index);
        if policy.is_linux() {
            return violations;
        }
        let needed = tree.needed.iter().map(String::as_str);
        for (provider, symbol) in
            policy.blacklist_hits(needed, |symbol| library.undefined.contains(symbol))
        {
            violations
                .blacklisted
                .entry(provider.to_owned())
                .or_default()
                .insert(symbol.to_owned());
        }
        let is_external = |name: &&String| !policy.permits_library(name);
        let mut names: Vec<&String> = tree.needed.iter().filter(is_external).collect();
        let mut visited: BTreeSet<&String> = BTreeSet::new();
        while let Some(name) = names.pop() {
            let Some(node) = tree.nodes.get(name).filter(|_| visited.insert(name)) else {
                continue;
            };
            names.extend(node.needed.iter().filter(is_external));
            if !matches!(node.library, ResolvedLibrary::Wheel(_)) {
                violations
                    .libraries
                    .insert(name.clone(), node.library.clone());
            }
        }
        violations
    }

    /// Adds the violations of the same policy by another file.
    pub(super) fn extend(&mut self, other: &Self) {
        self.libraries.extend(other.libraries.clone());
        for (library, symbols) in &other.blacklisted {
            self.blacklisted
                .entry(library.clone())
                .or_default()
                .extend(symbols.iter().cloned());
        }
    }
}

impl Compliance {
    /// Returns the evaluated policies.
    pub fn policies(&self) -> &PlatformPolicies {
        &self.policies
    }

    /// Returns the evaluated policies, for another evaluation.
    pub(super) fn shared_policies(&self) -> &Arc<PlatformPolicies> {
        &self.policies
    }

    /// Returns a policy by its index.
    ///
    /// # Panics
    ///
    /// Panics if the index is that of another evaluation with more policies.
    pub fn policy(&self, index: PolicyIndex) -> PlatformPolicy<'_> {
        self.policies
            .iter()
            .nth(index.0)
            .expect("the index is one of these policies")
    }

    /// Returns the index of an evaluated policy.
    pub(super) fn policy_index(&self, policy: PlatformPolicy<'_>) -> PolicyIndex {
        PolicyIndex::of(&self.policies, policy)
    }

    /// Returns the highest policy that the wheel complies with as it is.
    pub fn overall_policy(&self) -> PlatformPolicy<'_> {
        self.policy(self.overall_policy)
    }

    /// Returns the highest policy that has the symbol versions needed by the wheel and by the
    /// libraries of the system that would be grafted.
    pub fn symbol_policy(&self) -> PlatformPolicy<'_> {
        self.policy(self.symbol_policy)
    }

    /// Returns the highest policy that has the symbol versions needed by files of the wheel.
    pub fn own_symbol_policy(&self) -> PlatformPolicy<'_> {
        self.policy(self.own_symbol_policy)
    }

    /// Returns the highest policy for which no external library is needed.
    pub fn library_policy(&self) -> PlatformPolicy<'_> {
        self.policy(self.library_policy)
    }

    /// Returns the highest policy whose blacklist contains none of the used symbols.
    pub fn blacklist_policy(&self) -> PlatformPolicy<'_> {
        self.policy(self.blacklist_policy)
    }

    /// Returns the highest policy that permits the needed level of x86-64.
    pub fn isa_policy(&self) -> PlatformPolicy<'_> {
        self.policy(self.isa_policy)
    }

    /// Returns the newest version of each prefix (`GLIBC`, `CXXABI`) that files of the wheel need,
    /// sorted by prefix.
    pub fn newest_own_versions(&self) -> Vec<&str> {
        let versions = self.own_versions.values().flatten().map(String::as_str);
        newest_versions(versions.filter(|version| version.contains('_')))
            .into_values()
            .collect()
    }

    /// Returns the violations of a policy by the wheel.
    pub fn violations(&self, policy: PlatformPolicy<'_>) -> Option<&PolicyViolations> {
        self.violations
            .iter()
            .find(|violations| self.policy(violations.policy) == policy)
    }

    /// Returns the violations of a policy by a file; `None` if the policy was not evaluated, or not
    /// for this file.
    pub fn file_violations(
        &self,
        file_index: usize,
        policy: PlatformPolicy<'_>,
    ) -> Option<&PolicyViolations> {
        self.violations_by_file
            .get(&file_index)?
            .iter()
            .find(|violations| self.policy(violations.policy) == policy)
    }

    /// Returns the highest policy that grafting libraries can reach: the violations of higher ones
    /// are in the files themselves.
    pub fn best_repairable_policy(&self) -> PlatformPolicy<'_> {
        self.limits()
            .into_iter()
            .map(|(policy, _)| policy)
            .fold(self.policies.highest(), lower_policy)
    }

    /// Returns the highest policies that the contents of the files permit, each with the reason
    /// for its limit.
    pub(super) fn limits(&self) -> [(PlatformPolicy<'_>, &'static str); 4] {
        let python_policy = python_policy(&self.policies, self.uses_pyfpe, self.uses_ucs2);
        [
            (self.symbol_policy(), "symbols"),
            (self.blacklist_policy(), "symbols that it does not provide"),
            (self.isa_policy(), "an x86-64 level above the baseline"),
            (python_policy, self.python_need().unwrap_or("Python")),
        ]
    }

    /// Returns the build of Python that the wheel needs, where no policy has it (PEP 513, "fpectl
    /// builds vs. no fpectl builds" and "UCS-2 vs UCS-4 builds"). Python had `--with-fpectl` up to
    /// 3.6, and narrow Unicode up to 3.2.
    pub fn python_need(&self) -> Option<&'static str> {
        python_need(self.uses_pyfpe, self.uses_ucs2)
    }

    /// Returns the names of `libpython` that extension modules need, although PEP 513 forbids it.
    pub fn libpython(&self) -> BTreeSet<&str> {
        self.trees
            .values()
            .flat_map(|tree| &tree.needed)
            .map(String::as_str)
            .filter(|name| is_libpython(name))
            .collect()
    }
}
