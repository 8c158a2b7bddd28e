//! Which platforms have what a wheel needs.

use std::collections::{BTreeMap, BTreeSet};

use super::inspect::{FileFacts, FileKind};
use super::library::Library;
use super::search::{SearchPath, installed};
use super::tree::{Excludes, Found, Known, Surroundings, Tree, is_libpython, walk};
use rock_compat::policy::{PlatformPolicies, PlatformPolicy, SymbolVersionNeed, is_loader};

/// Versions of symbols, by the library that offers them.
pub type Versions = BTreeMap<String, BTreeSet<String>>;

/// What a wheel is judged with.
#[derive(Debug, Clone, Copy)]
pub struct Judging<'a> {
    /// The policies of its architecture and C library.
    pub policies: &'a PlatformPolicies,
    /// The libraries of the machine.
    pub known: &'a Known<'a>,
    /// Where the loader searches.
    pub path: &'a SearchPath,
    /// What is left where it is.
    pub excludes: &'a Excludes,
    /// Whether a level of x86-64 above the first rules out every policy.
    pub checks_isa: bool,
    /// Whether the wheel calls a C library, and nothing tells which: the policies are a guess then,
    /// and none is met.
    pub is_libc_open: bool,
}

/// What a file or a wheel needs beyond what one policy grants.
#[derive(Debug, Clone)]
pub struct Reference<'p> {
    /// The policy.
    pub policy: PlatformPolicy<'p>,
    /// Libraries that its platforms need not have, by the name they are needed under.
    pub libraries: BTreeMap<String, Found>,
    /// Symbols that its platforms need not have although their library has the version, by library.
    pub forbidden: BTreeMap<String, BTreeSet<String>>,
}

/// What is known of the platforms that a wheel runs on.
#[derive(Debug, Clone)]
pub struct Verdict<'p> {
    /// What it was judged with.
    pub judging: Judging<'p>,
    /// The highest policy that the wheel meets as it is.
    pub overall: PlatformPolicy<'p>,
    /// The highest policy that has the versions of symbols, those of libraries of the machine among
    /// them.
    pub symbols: PlatformPolicy<'p>,
    /// The highest policy that has the versions of symbols that files of the wheel need.
    pub own_symbols: PlatformPolicy<'p>,
    /// The highest policy that needs no library from elsewhere.
    pub libraries: PlatformPolicy<'p>,
    /// The highest policy that forbids no symbol that is used.
    pub forbidden: PlatformPolicy<'p>,
    /// The highest policy that allows the level of x86-64 that is needed.
    pub isa: PlatformPolicy<'p>,
    /// The files of the wheel that need a level above the first, by their numbers; none where
    /// nobody asks.
    pub above_baseline: BTreeSet<usize>,
    /// Whether the floating-point handler of `fpectl` is used.
    pub uses_pyfpe: bool,
    /// Whether a Python 2 with narrow Unicode is needed.
    pub uses_ucs2: bool,
    /// The versions that `symbols` was found for.
    pub versions: Versions,
    /// The versions that files of the wheel need.
    pub own_versions: Versions,
    /// What the wheel needs beyond each policy, the highest policy first.
    pub references: Vec<Reference<'p>>,
    /// What each file needs beyond each policy.
    pub by_file: BTreeMap<usize, Vec<Reference<'p>>>,
    /// What each file leads to.
    pub trees: BTreeMap<usize, Tree>,
}

fn lower<'p>(one: PlatformPolicy<'p>, other: PlatformPolicy<'p>) -> PlatformPolicy<'p> {
    if other.priority() < one.priority() {
        other
    } else {
        one
    }
}

/// The highest policy that permits these versions.
fn best_for<'p>(policies: &'p PlatformPolicies, versions: &Versions) -> PlatformPolicy<'p> {
    let needs = versions.iter().flat_map(|(library, versions)| {
        versions
            .iter()
            .map(|version| SymbolVersionNeed { library, version })
    });
    policies.symbol_compliance(needs).best
}

/// Judges files of a wheel: those with these numbers are libraries for its architecture and C
/// library.
pub fn judge<'p>(files: &[FileFacts], considered: &[usize], judging: Judging<'p>) -> Verdict<'p> {
    let all: Vec<PlatformPolicy<'p>> = judging.policies.iter().collect();
    let (linux, highest) = (judging.policies.linux(), judging.policies.highest());
    // Where loaders find them, which is not where they lie in the wheel.
    let mut placed: Vec<(&str, usize, &Library)> = Vec::new();
    for (at, file) in files.iter().enumerate() {
        if let FileKind::Library(library) = &file.kind {
            placed.push((installed(&file.path), at, library));
        }
    }
    placed.sort_by_key(|(path, at, _)| (*path, *at));
    let beside: Vec<(&str, &Library)> = placed
        .iter()
        .map(|(path, _, library)| (*path, *library))
        .collect();
    let places: BTreeMap<usize, usize> = placed
        .iter()
        .enumerate()
        .map(|(place, (_, at, _))| (*at, place))
        .collect();
    let given = |name: &str| !highest.is_linux() && highest.permits_library(name);
    let around = Surroundings {
        files: &beside,
        known: judging.known,
        path: judging.path,
        excludes: judging.excludes,
        is_given: &given,
    };
    let chosen: Vec<(usize, &Library)> = considered
        .iter()
        .filter_map(|at| places.get(at))
        .map(|place| (*place, beside[*place].1))
        .collect();
    let mut trees: BTreeMap<usize, Tree> = chosen
        .iter()
        .map(|(at, _)| (*at, walk(*at, around)))
        .collect();
    mend(&mut trees, &chosen);

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
    let by_file: BTreeMap<usize, Vec<Reference<'p>>> = chosen
        .iter()
        .map(|(at, library)| {
            (
                *at,
                all.iter()
                    .map(|policy| reference(*policy, library, &trees[at]))
                    .collect(),
            )
        })
        .collect();
    let mut references: Vec<Reference<'p>> = all
        .iter()
        .map(|policy| Reference {
            policy: *policy,
            libraries: BTreeMap::new(),
            forbidden: BTreeMap::new(),
        })
        .collect();
    for root in &roots {
        for (whole, one) in references.iter_mut().zip(&by_file[root]) {
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
    // Not of `references`, which have one library a name: two files may find two under it.
    let by_file_of = &by_file;
    let along = |at: usize| {
        roots
            .iter()
            .flat_map(move |root| by_file_of[root][at].libraries.values())
    };
    let (symbols, versions) = symbol_policy(judging.policies, &all, &own_versions, along);
    let best = |fits: &dyn Fn(&Reference<'p>) -> bool| {
        references
            .iter()
            .find(|one| fits(one))
            .map_or(linux, |one| one.policy)
    };
    let libraries = best(&|one| one.libraries.is_empty());
    let forbidden = best(&|one| one.forbidden.is_empty());
    let isa = if judging.checks_isa {
        isa_policy(judging.policies, &roots, &beside, &trees)
    } else {
        highest
    };
    let is_above = |at: &&usize| judging.checks_isa && is_above_baseline(beside[**at].1);
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
    let libc = if judging.is_libc_open { linux } else { highest };
    let overall = [forbidden, isa, python, libraries, libc]
        .into_iter()
        .fold(symbols, lower);
    let back = |place: usize| placed[place].1;
    Verdict {
        judging,
        overall,
        symbols,
        own_symbols: best_for(judging.policies, &own_versions),
        libraries,
        forbidden,
        isa,
        above_baseline,
        uses_pyfpe,
        uses_ucs2,
        versions,
        own_versions,
        references,
        by_file: by_file
            .into_iter()
            .map(|(at, references)| (back(at), references))
            .collect(),
        trees: trees
            .into_iter()
            .map(|(at, tree)| (back(at), with_numbers(tree, &back)))
            .collect(),
    }
}

/// The numbers of files in a tree, as the caller counts them.
fn with_numbers(mut tree: Tree, back: &dyn Fn(usize) -> usize) -> Tree {
    for node in tree.nodes.values_mut() {
        if let Found::Wheel(at) = &mut node.found {
            *at = back(*at);
        }
    }
    tree
}

/// A library that is no extension module is loaded by another file of the wheel: what it does not
/// find itself was found by a file that leads to it and finds everything.
fn mend(trees: &mut BTreeMap<usize, Tree>, chosen: &[(usize, &Library)]) {
    let is_missing = |tree: &Tree| {
        tree.nodes
            .values()
            .any(|node| matches!(node.found, Found::Nowhere))
    };
    let complete: Vec<Tree> = trees
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
        let leads_here = |other: &&Tree| {
            other
                .nodes
                .values()
                .any(|node| matches!(node.found, Found::Wheel(found) if found == *at))
        };
        let Some(other) = complete.iter().find(leads_here) else {
            continue;
        };
        let missing =
            |(_, node): &(&String, &super::tree::Node)| matches!(node.found, Found::Nowhere);
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
                .is_none_or(|node| matches!(node.found, Found::Nowhere));
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

/// What a file needs beyond a policy, directly and through libraries that are themselves beyond it.
fn reference<'p>(policy: PlatformPolicy<'p>, library: &Library, tree: &Tree) -> Reference<'p> {
    let mut found = Reference {
        policy,
        libraries: BTreeMap::new(),
        forbidden: BTreeMap::new(),
    };
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
        if !matches!(node.found, Found::Wheel(_)) {
            found.libraries.insert(name.clone(), node.found.clone());
        }
    }
    found
}

fn own_versions<'l>(libraries: impl Iterator<Item = &'l Library>) -> Versions {
    let mut versions = Versions::new();
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

/// The highest policy that has the versions of the wheel and of the libraries that would be grafted
/// under it, and these versions. `along` tells what is needed beyond the policy at a place of the
/// list.
fn symbol_policy<'p, 'f, I: Iterator<Item = &'f Found>>(
    policies: &'p PlatformPolicies,
    all: &[PlatformPolicy<'p>],
    own: &Versions,
    along: impl Fn(usize) -> I,
) -> (PlatformPolicy<'p>, Versions) {
    let mut best: Option<(PlatformPolicy<'p>, Versions)> = None;
    for (at, policy) in all
        .iter()
        .enumerate()
        .filter(|(_, policy)| !policy.is_linux())
    {
        let mut libraries: BTreeMap<&str, &Library> = BTreeMap::new();
        for found in along(at) {
            if let Found::Machine(machine) = found {
                libraries.insert(&machine.real_path, &machine.library);
            }
        }
        let mut versions = own.clone();
        for (library, more) in own_versions(libraries.into_values()) {
            versions.entry(library).or_default().extend(more);
        }
        let policy = lower(best_for(policies, &versions), *policy);
        if best
            .as_ref()
            .is_none_or(|(one, _)| one.priority() < policy.priority())
        {
            best = Some((policy, versions));
        }
    }
    best.unwrap_or_else(|| (best_for(policies, own), own.clone()))
}

fn is_above_baseline(library: &Library) -> bool {
    library.isa_level.is_some_and(|level| level > 0)
}

/// A file of a level above the first runs on no platform of a policy, unless it is a library of the
/// machine that some policy grants: such platforms bring their own.
fn isa_policy<'p>(
    policies: &'p PlatformPolicies,
    roots: &[usize],
    files: &[(&str, &Library)],
    trees: &BTreeMap<usize, Tree>,
) -> PlatformPolicy<'p> {
    if roots.iter().any(|at| is_above_baseline(files[*at].1)) {
        return policies.linux();
    }
    let mut policy = policies.highest();
    for (name, node) in roots.iter().flat_map(|at| &trees[at].nodes) {
        if let Found::Machine(machine) = &node.found
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

impl<'p> Verdict<'p> {
    /// The highest policy that bringing libraries along can reach: what stands in the way of higher
    /// ones is in the files themselves.
    pub fn reach(&self) -> PlatformPolicy<'p> {
        self.limits()
            .into_iter()
            .map(|(policy, _)| policy)
            .fold(self.judging.policies.highest(), lower)
    }

    /// The highest policies that what is in the files allows, and what that is.
    pub(super) fn limits(&self) -> [(PlatformPolicy<'p>, &'static str); 4] {
        let policies = self.judging.policies;
        let python = if self.uses_pyfpe || self.uses_ucs2 {
            policies.linux()
        } else {
            policies.highest()
        };
        [
            (self.symbols, "symbols"),
            (self.forbidden, "symbols that it does not offer"),
            (self.isa, "a level of x86-64 above the first"),
            (python, self.python_need().unwrap_or("Python")),
        ]
    }

    /// Returns the build of Python that the wheel needs, where no policy has it (PEP 513, "fpectl
    /// builds vs. no fpectl builds" and "UCS-2 vs UCS-4 builds"). Python had `--with-fpectl` up to
    /// 3.6, and narrow Unicode up to 3.2.
    pub fn python_need(&self) -> Option<&'static str> {
        python_need(self.uses_pyfpe, self.uses_ucs2)
    }

    /// Names of Python's library that extension modules need and must not.
    pub fn libpython(&self) -> BTreeSet<&str> {
        self.trees
            .values()
            .flat_map(|tree| &tree.needed)
            .map(String::as_str)
            .filter(|one| is_libpython(one))
            .collect()
    }
}
