//! Evaluation of platform policies: the libraries and symbol versions that a wheel needs beyond
//! each policy, and the best platform tag that it complies with.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::inspect::{InspectedFile, InspectedKind};
use super::library::ElfLibrary;
use super::pattern::LibraryPatterns;
use super::provider::LibraryCache;
use super::resolve::{
    DependencyNode, DependencyTree, ResolveContext, ResolvedLibrary, is_libpython,
    resolve_dependencies,
};
use super::search_path::{LibrarySearchPath, installed};
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
    /// Whether the wheel calls functions of a C library that nothing identifies. The policies are
    /// a guess then, and the wheel complies with none.
    pub is_libc_unknown: bool,
}

/// A policy, by its position in [`PlatformPolicies`](rock_compat::policy::PlatformPolicies).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PolicyIndex(usize);

/// The needs of a file or a wheel that one policy does not permit.
#[derive(Debug, Clone)]
pub struct PolicyGap {
    /// The policy; see [`Compliance::policy`].
    pub policy: PolicyIndex,
    /// Libraries that the policy does not permit, by the name they are needed under.
    pub libraries: BTreeMap<String, ResolvedLibrary>,
    /// Symbols on the policy's blacklist although their library has the version, by library.
    pub forbidden: BTreeMap<String, BTreeSet<String>>,
}

/// The results of evaluating all policies for a wheel.
#[derive(Debug, Clone)]
pub struct Compliance {
    policies: Arc<PlatformPolicies>,
    overall: PolicyIndex,
    symbols: PolicyIndex,
    own_symbols: PolicyIndex,
    libraries: PolicyIndex,
    forbidden: PolicyIndex,
    isa: PolicyIndex,
    /// Whether nothing identifies the C library.
    pub is_libc_unknown: bool,
    /// Files of the wheel with code for x86-64-v2 or later, by index; empty if that is not checked.
    pub above_baseline: BTreeSet<usize>,
    /// Whether the floating-point handler of `fpectl` is used.
    pub uses_pyfpe: bool,
    /// Whether a Python 2 with narrow Unicode is needed.
    pub uses_ucs2: bool,
    /// The symbol versions that [`symbols`](Self::symbols) was determined by.
    pub versions: SymbolVersions,
    /// The symbol versions that files of the wheel need.
    pub own_versions: SymbolVersions,
    /// The gap between the wheel and each policy, highest priority first.
    pub gaps: Vec<PolicyGap>,
    /// The gap between each file and each policy, by the index of the file.
    pub gaps_by_file: BTreeMap<usize, Vec<PolicyGap>>,
    /// The dependencies of each file, by its index.
    pub trees: BTreeMap<usize, DependencyTree>,
}

fn lower<'p>(one: PlatformPolicy<'p>, other: PlatformPolicy<'p>) -> PlatformPolicy<'p> {
    if other.priority() < one.priority() {
        other
    } else {
        one
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
    let all: Vec<PlatformPolicy<'_>> = policies.iter().collect();
    let (linux, highest) = (policies.linux(), policies.highest());
    // Sorted by installed path, which may differ from the path in the wheel.
    let mut placed: Vec<(&str, usize, &ElfLibrary)> = Vec::new();
    for (at, file) in files.iter().enumerate() {
        if let InspectedKind::Library(library) = &file.kind {
            placed.push((installed(&file.path), at, library));
        }
    }
    placed.sort_by_key(|(path, at, _)| (*path, *at));
    let beside: Vec<(&str, &ElfLibrary)> = placed
        .iter()
        .map(|(path, _, library)| (*path, *library))
        .collect();
    let places: BTreeMap<usize, usize> = placed
        .iter()
        .enumerate()
        .map(|(place, (_, at, _))| (*at, place))
        .collect();
    let permitted = |name: &str| !highest.is_linux() && highest.permits_library(name);
    let around = ResolveContext {
        files: &beside,
        libraries: context.libraries,
        search_path: context.search_path,
        exclude: context.exclude,
        is_permitted: &permitted,
    };
    let chosen: Vec<(usize, &ElfLibrary)> = considered
        .iter()
        .filter_map(|at| places.get(at))
        .map(|place| (*place, beside[*place].1))
        .collect();
    let mut trees: BTreeMap<usize, DependencyTree> = chosen
        .iter()
        .map(|(at, _)| (*at, resolve_dependencies(*at, around)))
        .collect();
    complete_trees(&mut trees, &chosen);

    let needed: BTreeSet<&str> = trees
        .values()
        .flat_map(|tree| &tree.needed)
        .map(String::as_str)
        .collect();
    let name_of = |path: &'_ str| path.rsplit('/').next().unwrap_or_default().to_owned();
    let roots: Vec<usize> = chosen
        .iter()
        .filter(|(at, library)| {
            library.extension.is_some() || !needed.contains(name_of(beside[*at].0).as_str())
        })
        .map(|(at, _)| *at)
        .collect();
    let gaps_by_file: BTreeMap<usize, Vec<PolicyGap>> = chosen
        .iter()
        .map(|(at, library)| {
            (
                *at,
                all.iter()
                    .enumerate()
                    .map(|(index, policy)| policy_gap((index, *policy), library, &trees[at]))
                    .collect(),
            )
        })
        .collect();
    let mut gaps: Vec<PolicyGap> = (0..all.len()).map(PolicyGap::none).collect();
    for root in &roots {
        for (whole, one) in gaps.iter_mut().zip(&gaps_by_file[root]) {
            whole.libraries.extend(one.libraries.clone());
            for (library, symbols) in &one.forbidden {
                whole
                    .forbidden
                    .entry(library.clone())
                    .or_default()
                    .extend(symbols.iter().cloned());
            }
        }
    }

    let own_versions = own_versions(chosen.iter().map(|(_, library)| *library));
    // Not from `gaps`, which have one library per name: two files may find two under it.
    let gaps_of = &gaps_by_file;
    let grafted = |index: usize| {
        roots
            .iter()
            .flat_map(move |root| gaps_of[root][index].libraries.values())
    };
    let (symbols, versions) = symbol_policy(policies, &all, &own_versions, grafted);
    let best = |fits: &dyn Fn(&PolicyGap) -> bool| {
        gaps.iter()
            .find(|gap| fits(gap))
            .map_or(linux, |gap| all[gap.policy.0])
    };
    let libraries = best(&|one| one.libraries.is_empty());
    let forbidden = best(&|one| one.forbidden.is_empty());
    let isa = if context.checks_isa {
        isa_policy(policies, &roots, &beside, &trees)
    } else {
        highest
    };
    let is_above = |at: &&usize| context.checks_isa && is_above_baseline(beside[**at].1);
    let above_baseline: BTreeSet<usize> = roots
        .iter()
        .filter(is_above)
        .map(|at| placed[*at].1)
        .collect();
    let uses_pyfpe = chosen.iter().any(|(_, library)| library.uses_pyfpe);
    let uses_ucs2 = chosen.iter().any(|(_, library)| library.uses_ucs2);
    let python = if uses_pyfpe || uses_ucs2 {
        linux
    } else {
        highest
    };
    let libc = if context.is_libc_unknown {
        linux
    } else {
        highest
    };
    let overall = [forbidden, isa, python, libraries, libc]
        .into_iter()
        .fold(symbols, lower);
    let back = |place: usize| placed[place].1;
    let index = |policy: PlatformPolicy<'_>| PolicyIndex(position(policies, policy));
    Compliance {
        policies: Arc::clone(policies),
        overall: index(overall),
        symbols: index(symbols),
        own_symbols: index(best_policy_for(policies, &own_versions)),
        libraries: index(libraries),
        forbidden: index(forbidden),
        isa: index(isa),
        is_libc_unknown: context.is_libc_unknown,
        above_baseline,
        uses_pyfpe,
        uses_ucs2,
        versions,
        own_versions,
        gaps,
        gaps_by_file: gaps_by_file
            .into_iter()
            .map(|(at, gaps)| (back(at), gaps))
            .collect(),
        trees: trees
            .into_iter()
            .map(|(at, tree)| (back(at), with_file_indexes(tree, &back)))
            .collect(),
    }
}

/// Returns the position of a policy among all of them.
fn position(policies: &PlatformPolicies, policy: PlatformPolicy<'_>) -> usize {
    policies
        .iter()
        .position(|other| other == policy)
        .expect("the policy is one of these")
}

/// Replaces the indexes of files in a tree by those of the caller.
fn with_file_indexes(mut tree: DependencyTree, back: &dyn Fn(usize) -> usize) -> DependencyTree {
    for node in tree.nodes.values_mut() {
        if let ResolvedLibrary::Wheel(at) = &mut node.found {
            *at = back(*at);
        }
    }
    tree
}

/// Completes the dependencies of libraries that are not extension modules. They are loaded by
/// another file of the wheel: a library that they do not find themselves was found by a file that
/// needs them and finds everything.
fn complete_trees(trees: &mut BTreeMap<usize, DependencyTree>, chosen: &[(usize, &ElfLibrary)]) {
    let is_missing = |tree: &DependencyTree| {
        tree.nodes
            .values()
            .any(|node| matches!(node.found, ResolvedLibrary::Missing))
    };
    let complete: Vec<DependencyTree> = trees
        .values()
        .filter(|tree| !is_missing(tree))
        .cloned()
        .collect();
    for (at, _) in chosen
        .iter()
        .filter(|(_, library)| library.extension.is_none())
    {
        let Some(tree) = trees.get_mut(at).filter(|tree| is_missing(tree)) else {
            continue;
        };
        let leads_here = |other: &&DependencyTree| {
            other
                .nodes
                .values()
                .any(|node| matches!(node.found, ResolvedLibrary::Wheel(found) if found == *at))
        };
        let Some(other) = complete.iter().find(leads_here) else {
            continue;
        };
        let missing =
            |(_, node): &(&String, &DependencyNode)| matches!(node.found, ResolvedLibrary::Missing);
        let mut wanted: Vec<String> = tree
            .nodes
            .iter()
            .filter(missing)
            .map(|(name, _)| name.clone())
            .collect();
        while let Some(name) = wanted.pop() {
            let Some(node) = other.nodes.get(&name) else {
                continue;
            };
            let is_new = tree
                .nodes
                .get(&name)
                .is_none_or(|node| matches!(node.found, ResolvedLibrary::Missing));
            if is_new {
                tree.nodes.insert(name, node.clone());
                wanted.extend(
                    node.needed
                        .iter()
                        .filter(|needed| !tree.nodes.contains_key(*needed))
                        .cloned(),
                );
            }
        }
    }
}

/// Returns the needs of a file that a policy does not permit, including those of libraries that it
/// does not permit.
fn policy_gap(
    (index, policy): (usize, PlatformPolicy<'_>),
    library: &ElfLibrary,
    tree: &DependencyTree,
) -> PolicyGap {
    let mut found = PolicyGap::none(index);
    if policy.is_linux() {
        return found;
    }
    let needed = tree.needed.iter().map(String::as_str);
    for (offers, symbol) in
        policy.blacklist_hits(needed, |symbol| library.undefined.contains(symbol))
    {
        found
            .forbidden
            .entry(offers.to_owned())
            .or_default()
            .insert(symbol.to_owned());
    }
    let is_beyond = |name: &&String| !policy.permits_library(name);
    let mut wanted: Vec<&String> = tree.needed.iter().filter(is_beyond).collect();
    let mut seen: BTreeSet<&String> = BTreeSet::new();
    while let Some(name) = wanted.pop() {
        let Some(node) = tree.nodes.get(name).filter(|_| seen.insert(name)) else {
            continue;
        };
        wanted.extend(node.needed.iter().filter(is_beyond));
        if !matches!(node.found, ResolvedLibrary::Wheel(_)) {
            found.libraries.insert(name.clone(), node.found.clone());
        }
    }
    found
}

fn own_versions<'l>(libraries: impl Iterator<Item = &'l ElfLibrary>) -> SymbolVersions {
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
/// that would be grafted under it, and these versions. `grafted` returns the libraries beyond the
/// policy with this index.
fn symbol_policy<'p, 'f, I: Iterator<Item = &'f ResolvedLibrary>>(
    policies: &'p PlatformPolicies,
    all: &[PlatformPolicy<'p>],
    own: &SymbolVersions,
    grafted: impl Fn(usize) -> I,
) -> (PlatformPolicy<'p>, SymbolVersions) {
    let mut best: Option<(PlatformPolicy<'p>, SymbolVersions)> = None;
    for (at, policy) in all
        .iter()
        .enumerate()
        .filter(|(_, policy)| !policy.is_linux())
    {
        let mut libraries: BTreeMap<&str, &ElfLibrary> = BTreeMap::new();
        for found in grafted(at) {
            if let ResolvedLibrary::System(machine) = found {
                libraries.insert(&machine.real_path, &machine.library);
            }
        }
        let mut versions = own.clone();
        for (library, more) in own_versions(libraries.into_values()) {
            versions.entry(library).or_default().extend(more);
        }
        let policy = lower(best_policy_for(policies, &versions), *policy);
        if best
            .as_ref()
            .is_none_or(|(one, _)| one.priority() < policy.priority())
        {
            best = Some((policy, versions));
        }
    }
    best.unwrap_or_else(|| (best_policy_for(policies, own), own.clone()))
}

fn is_above_baseline(library: &ElfLibrary) -> bool {
    library.isa_level.is_some_and(|level| level > 0)
}

/// Returns the highest policy that permits the needed level of x86-64. None permits code above the
/// first level, except in libraries of the system that a policy permits: its systems provide their
/// own.
fn isa_policy<'p>(
    policies: &'p PlatformPolicies,
    roots: &[usize],
    files: &[(&str, &ElfLibrary)],
    trees: &BTreeMap<usize, DependencyTree>,
) -> PlatformPolicy<'p> {
    if roots.iter().any(|at| is_above_baseline(files[*at].1)) {
        return policies.linux();
    }
    let mut policy = policies.highest();
    for (name, node) in roots.iter().flat_map(|at| &trees[at].nodes) {
        if let ResolvedLibrary::System(machine) = &node.found
            && is_above_baseline(&machine.library)
        {
            let granting = policies
                .iter()
                .find(|one| !one.is_linux() && one.permits_library(name));
            policy = lower(policy, granting.unwrap_or(policies.linux()));
        }
    }
    policy
}

/// Returns the build of Python that the use of `fpectl` or of narrow Unicode takes.
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

impl PolicyGap {
    /// Creates the gap of a wheel that complies with the policy at `index`.
    fn none(index: usize) -> Self {
        Self {
            policy: PolicyIndex(index),
            libraries: BTreeMap::new(),
            forbidden: BTreeMap::new(),
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
    pub fn policy(&self, index: PolicyIndex) -> PlatformPolicy<'_> {
        self.policies
            .iter()
            .nth(index.0)
            .expect("the index is one of these policies")
    }

    /// Returns the highest policy that the wheel complies with as it is.
    pub fn overall(&self) -> PlatformPolicy<'_> {
        self.policy(self.overall)
    }

    /// Returns the highest policy that has the symbol versions needed by the wheel and by the
    /// libraries of the system that would be grafted.
    pub fn symbols(&self) -> PlatformPolicy<'_> {
        self.policy(self.symbols)
    }

    /// Returns the highest policy that has the symbol versions needed by files of the wheel.
    pub fn own_symbols(&self) -> PlatformPolicy<'_> {
        self.policy(self.own_symbols)
    }

    /// Returns the highest policy for which no external library is needed.
    pub fn libraries(&self) -> PlatformPolicy<'_> {
        self.policy(self.libraries)
    }

    /// Returns the highest policy whose blacklist has none of the used symbols.
    pub fn forbidden(&self) -> PlatformPolicy<'_> {
        self.policy(self.forbidden)
    }

    /// Returns the highest policy that permits the needed level of x86-64.
    pub fn isa(&self) -> PlatformPolicy<'_> {
        self.policy(self.isa)
    }

    /// Returns the gap between the wheel and a policy.
    pub fn gap(&self, policy: PlatformPolicy<'_>) -> Option<&PolicyGap> {
        self.gaps
            .iter()
            .find(|gap| self.policy(gap.policy) == policy)
    }

    /// Returns the highest policy that grafting libraries can reach: the violations of higher ones
    /// are in the files themselves.
    pub fn reach(&self) -> PlatformPolicy<'_> {
        self.limits()
            .into_iter()
            .map(|(policy, _)| policy)
            .fold(self.policies.highest(), lower)
    }

    /// Returns the highest policies that the contents of the files permit, each with the reason
    /// for its limit.
    pub(super) fn limits(&self) -> [(PlatformPolicy<'_>, &'static str); 4] {
        let python = if self.uses_pyfpe || self.uses_ucs2 {
            self.policies.linux()
        } else {
            self.policies.highest()
        };
        [
            (self.symbols(), "symbols"),
            (self.forbidden(), "symbols that it does not offer"),
            (self.isa(), "a level of x86-64 above the first"),
            (python, self.python_need().unwrap_or("Python")),
        ]
    }

    /// Returns the build of Python that the wheel needs, where no policy has it (PEP 513, "fpectl
    /// builds vs. no fpectl builds" and "UCS-2 vs UCS-4 builds"). Python had `--with-fpectl` up to
    /// 3.6, and narrow Unicode up to 3.2.
    pub fn python_need(&self) -> Option<&'static str> {
        python_need(self.uses_pyfpe, self.uses_ucs2)
    }

    /// Returns the names of `libpython` that extension modules need and must not.
    pub fn libpython(&self) -> BTreeSet<&str> {
        self.trees
            .values()
            .flat_map(|tree| &tree.needed)
            .map(String::as_str)
            .filter(|one| is_libpython(one))
            .collect()
    }
}
