//! The platform policies of one family and architecture.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use super::PolicyFile;
use rock_compat_tables::policy::ExpandedPolicies;
use rock_names::Arch;

/// A text that is borrowed from the embedded tables, or owned if a policy file was read.
type CowText = Cow<'static, str>;
/// A set of policies; each policy has one bit.
type PolicyMask = u64;

/// The name of the policy that permits everything.
pub(super) const LINUX: &str = "linux";
/// The bit of `linux`.
const LINUX_MASK: PolicyMask = 1 << 63;
/// Maximal number of policies of a file, without `linux`.
pub(super) const MOST_POLICIES: usize = 63;

const MANYLINUX: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/manylinux.bin"));
const MUSLLINUX: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/musllinux.bin"));

/// A family of platform policies; each is about one C library.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PolicyFamily {
    /// glibc (PEP 600).
    Manylinux,
    /// musl (PEP 656).
    Musllinux,
}

impl PolicyFamily {
    /// Returns the prefix of platform tags of the family.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Manylinux => "manylinux",
            Self::Musllinux => "musllinux",
        }
    }

    /// Returns the family of a platform tag: manylinux for `manylinux2014_x86_64`, `None` for
    /// `linux_x86_64`.
    pub fn of_platform_tag(tag: &str) -> Option<Self> {
        [Self::Manylinux, Self::Musllinux]
            .into_iter()
            .find(|family| tag.starts_with(family.as_str()))
    }

    fn embedded(self) -> ExpandedPolicies<&'static str> {
        let bytes = match self {
            Self::Manylinux => MANYLINUX,
            Self::Musllinux => MUSLLINUX,
        };
        postcard::from_bytes(bytes)
            .expect("the build script wrote these tables with the same types")
    }
}

/// A symbol version that a wheel needs from a library.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SymbolVersionNeed<'n> {
    /// The SONAME of the library, `libc.so.6`.
    pub library: &'n str,
    /// The version with its prefix, `GLIBC_2.34`.
    pub version: &'n str,
}

/// The platform policies of one family and architecture. The last policy is always `linux`, which
/// permits everything.
#[derive(Debug, Clone)]
pub struct PlatformPolicies {
    family: PolicyFamily,
    arch: Arch,
    /// By falling priority.
    rows: Vec<PolicyEntry>,
    libraries: BTreeMap<CowText, PolicyMask>,
    prefixes: BTreeMap<CowText, PrefixVersions>,
    blacklist: BTreeMap<CowText, BTreeMap<CowText, PolicyMask>>,
}

#[derive(Debug, Clone)]
struct PolicyEntry {
    mask: PolicyMask,
    name: CowText,
    aliases: Vec<CowText>,
    priority: u32,
}

/// The symbol versions of a prefix.
#[derive(Debug, Clone, Default)]
struct PrefixVersions {
    /// The policies that name the prefix; others permit all its versions.
    named: PolicyMask,
    versions: BTreeMap<CowText, PolicyMask>,
}

/// A platform policy.
#[derive(Clone, Copy)]
pub struct PlatformPolicy<'p> {
    policies: &'p PlatformPolicies,
    index: usize,
}

/// A policy that a wheel does not comply with.
#[derive(Debug, Clone, PartialEq)]
pub struct UnmetPolicy<'p, 'n> {
    /// The policy.
    pub policy: PlatformPolicy<'p>,
    /// The symbol versions that it does not permit, sorted and without duplicates.
    pub violations: Vec<SymbolVersionNeed<'n>>,
}

/// The result of evaluating all policies for a set of symbol versions.
#[derive(Debug, Clone, PartialEq)]
pub struct SymbolCompliance<'p, 'n> {
    /// The policy of highest priority that permits all of them.
    pub best: PlatformPolicy<'p>,
    /// The policies that do not, by falling priority.
    pub unmet: Vec<UnmetPolicy<'p, 'n>>,
}

impl PlatformPolicies {
    /// Decodes and returns the policies that are embedded in the program; only `linux` for an
    /// architecture without policies.
    pub fn embedded(family: PolicyFamily, arch: Arch) -> Self {
        let all = family.embedded();
        let Some(own) = all.arches.into_iter().find(|row| row.arch == arch.as_str()) else {
            return Self::new(family, arch, Vec::new());
        };
        let rows =
            all.policies
                .into_iter()
                .enumerate()
                .map(|(index, (name, aliases, priority))| PolicyEntry {
                    mask: 1 << index,
                    name: name.into(),
                    aliases: aliases.into_iter().map(Into::into).collect(),
                    priority,
                });
        let mut policies = Self::new(
            family,
            arch,
            rows.filter(|row| row.mask & own.policies != 0).collect(),
        );
        policies.libraries = all
            .libraries
            .into_iter()
            .map(|(name, mask)| (name.into(), mask))
            .collect();
        if !own.libc.is_empty() {
            policies.libraries.insert(own.libc.into(), own.policies);
        }
        let set = |set: Vec<(&'static str, PolicyMask)>| {
            set.into_iter()
                .map(|(name, mask)| (name.into(), mask))
                .collect()
        };
        policies.prefixes = own
            .versions
            .into_iter()
            .map(|(prefix, versions)| {
                (
                    prefix.into(),
                    PrefixVersions {
                        named: own.policies,
                        versions: set(versions),
                    },
                )
            })
            .collect();
        policies.blacklist = all
            .blacklist
            .into_iter()
            .map(|(library, symbols)| (library.into(), set(symbols)))
            .collect();
        policies
    }

    /// Returns the policies of a file for a family and architecture. `libc.so` in a musllinux
    /// whitelist is replaced by the SONAME on the architecture, `libc.musl-x86_64.so.1`.
    pub fn from_file(file: &PolicyFile, family: PolicyFamily, arch: Arch) -> Self {
        let libc = family
            .embedded()
            .arches
            .iter()
            .find(|row| row.arch == arch.as_str())
            .map_or("", |row| row.libc);
        let own: Vec<_> = file
            .policies()
            .iter()
            .filter(|policy| {
                PolicyFamily::of_platform_tag(&policy.name) == Some(family)
                    && policy.symbol_versions.contains_key(arch.as_str())
            })
            .collect();
        let mut policies = Self::new(family, arch, Vec::new());
        for (index, policy) in own.into_iter().enumerate().take(MOST_POLICIES) {
            let mask = 1 << index;
            let aliases = policy
                .aliases
                .iter()
                .map(|alias| alias.clone().into())
                .collect();
            let row = PolicyEntry {
                mask,
                name: policy.name.clone().into(),
                aliases,
                priority: policy.priority,
            };
            policies.rows.insert(index, row);
            for library in &policy.lib_whitelist {
                let name = if library == "libc.so" && !libc.is_empty() {
                    libc
                } else {
                    library
                };
                *policies
                    .libraries
                    .entry(name.to_owned().into())
                    .or_default() |= mask;
            }
            for (prefix, versions) in policy
                .symbol_versions
                .get(arch.as_str())
                .into_iter()
                .flatten()
            {
                let of_prefix = policies.prefixes.entry(prefix.clone().into()).or_default();
                of_prefix.named |= mask;
                for version in versions {
                    *of_prefix
                        .versions
                        .entry(version.clone().into())
                        .or_default() |= mask;
                }
            }
            for (library, symbols) in &policy.blacklist {
                let of_library = policies
                    .blacklist
                    .entry(library.clone().into())
                    .or_default();
                for symbol in symbols {
                    *of_library.entry(symbol.clone().into()).or_default() |= mask;
                }
            }
        }
        policies
    }

    fn new(family: PolicyFamily, arch: Arch, mut rows: Vec<PolicyEntry>) -> Self {
        rows.push(PolicyEntry {
            mask: LINUX_MASK,
            name: LINUX.into(),
            aliases: Vec::new(),
            priority: 0,
        });
        let (libraries, prefixes, blacklist) = Default::default();
        Self {
            family,
            arch,
            rows,
            libraries,
            prefixes,
            blacklist,
        }
    }

    /// Returns the family.
    pub fn family(&self) -> PolicyFamily {
        self.family
    }

    /// Returns the architecture.
    pub fn arch(&self) -> Arch {
        self.arch
    }

    /// Returns the policies by falling priority; the last is `linux`.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = PlatformPolicy<'_>> + ExactSizeIterator {
        (0..self.rows.len()).map(|index| PlatformPolicy {
            policies: self,
            index,
        })
    }

    /// Returns the policy that most systems meet; `linux` if there is no other.
    pub fn highest(&self) -> PlatformPolicy<'_> {
        PlatformPolicy {
            policies: self,
            index: 0,
        }
    }

    /// Returns the policy before `linux`, which the fewest systems meet; `linux` if there is no other.
    pub fn lowest(&self) -> PlatformPolicy<'_> {
        PlatformPolicy {
            policies: self,
            index: self.rows.len().saturating_sub(2),
        }
    }

    /// Returns the policy that permits everything.
    pub fn linux(&self) -> PlatformPolicy<'_> {
        PlatformPolicy {
            policies: self,
            index: self.rows.len() - 1,
        }
    }

    /// Returns the policy with this name or alias, with or without the architecture:
    /// `manylinux_2_28`, `manylinux2014_x86_64`.
    pub fn get(&self, name: &str) -> Option<PlatformPolicy<'_>> {
        let plain = name
            .strip_suffix(self.arch.as_str())
            .and_then(|rest| rest.strip_suffix('_'))
            .unwrap_or(name);
        self.iter()
            .find(|policy| policy.name() == plain || policy.aliases().any(|alias| alias == plain))
    }

    /// Returns the policy for a platform tag. PEP 600 permits tags of any glibc version; a tag
    /// without a policy gets the last policy before it. `None` for other families and
    /// architectures, and for versions before the first policy.
    pub fn for_tag(&self, tag: &str) -> Option<PlatformPolicy<'_>> {
        if Arch::of_platform_tag(tag) != Some(self.arch) {
            return None;
        }
        self.get(tag).or_else(|| {
            let claimed = parse_policy_version(
                self.family,
                tag.strip_suffix(self.arch.as_str())?.strip_suffix('_')?,
            )?;
            let before = self
                .iter()
                .filter_map(|policy| Some((policy.version()?, policy)));
            before
                .filter(|(version, _)| *version <= claimed)
                .max_by_key(|(version, _)| *version)
                .map(|(_, policy)| policy)
        })
    }

    /// Returns one of the policies and `linux`. musl has no symbol versions, so the policy of a wheel
    /// is determined by the musl version that it was built with.
    #[must_use]
    pub fn only(&self, policy: PlatformPolicy<'_>) -> Self {
        let mut one = self.clone();
        let kept = self.rows[policy.index].mask | LINUX_MASK;
        one.rows.retain(|row| row.mask & kept != 0);
        one
    }

    /// Evaluates all policies for a set of symbol versions.
    pub fn symbol_compliance<'n>(
        &self,
        needs: impl IntoIterator<Item = SymbolVersionNeed<'n>>,
    ) -> SymbolCompliance<'_, 'n> {
        let mut refused: BTreeMap<SymbolVersionNeed<'n>, PolicyMask> = BTreeMap::new();
        for need in needs {
            let permitted = self.permitting(need.version);
            if self.rows.iter().any(|row| row.mask & permitted == 0) {
                refused.insert(need, permitted);
            }
        }
        let refusal = |policy: PlatformPolicy<'_>| -> Vec<SymbolVersionNeed<'n>> {
            let mask = self.rows[policy.index].mask;
            refused
                .iter()
                .filter(|(_, permitted)| **permitted & mask == 0)
                .map(|(need, _)| *need)
                .collect()
        };
        let all = self.iter().map(|policy| UnmetPolicy {
            policy,
            violations: refusal(policy),
        });
        let (met, refused): (Vec<_>, Vec<_>) =
            all.partition(|refusal| refusal.violations.is_empty());
        SymbolCompliance {
            best: met.first().map_or(self.linux(), |refusal| refusal.policy),
            unmet: refused,
        }
    }

    /// Returns all symbols that any policy forbids, may repeat. Readers of symbol tables need to keep
    /// no others.
    pub fn blacklisted_symbols(&self) -> impl Iterator<Item = &str> {
        self.blacklist
            .values()
            .flat_map(BTreeMap::keys)
            .map(|symbol| &**symbol)
    }

    /// Returns the policies that permit a symbol version: those that list it, and those that do not
    /// name its prefix, the text before the first `_`.
    fn permitting(&self, version: &str) -> PolicyMask {
        let (prefix, rest) = version.split_once('_').unwrap_or((version, ""));
        let Some(prefix) = self.prefixes.get(prefix) else {
            return PolicyMask::MAX;
        };
        prefix.versions.get(rest).copied().unwrap_or_default() | !prefix.named | LINUX_MASK
    }
}

impl<'p> PlatformPolicy<'p> {
    fn entry(&self) -> &'p PolicyEntry {
        &self.policies.rows[self.index]
    }

    fn has(&self, mask: PolicyMask) -> bool {
        self.entry().mask & mask != 0
    }

    /// Returns the name without the architecture, `manylinux_2_28` or `linux`.
    pub fn name(&self) -> &'p str {
        &self.entry().name
    }

    /// Returns older names, `manylinux2014`.
    pub fn aliases(&self) -> impl Iterator<Item = &'p str> + use<'p> {
        self.entry().aliases.iter().map(|alias| &**alias)
    }

    /// Returns the priority; a policy of higher priority is met by more systems, and `linux` has 0.
    pub fn priority(&self) -> u32 {
        self.entry().priority
    }

    /// Returns whether this is `linux`, which permits everything.
    pub fn is_linux(&self) -> bool {
        self.has(LINUX_MASK)
    }

    /// Returns the libc version in the name: 2 and 28 for `manylinux_2_28`.
    pub fn version(&self) -> Option<(u32, u32)> {
        parse_policy_version(self.policies.family, self.name())
    }

    /// Returns the platform tag, `manylinux_2_28_x86_64`.
    pub fn tag(&self) -> String {
        format!("{}_{}", self.name(), self.policies.arch)
    }

    /// Returns the platform tags of the name and the aliases.
    pub fn tags(&self) -> Vec<String> {
        std::iter::once(self.name())
            .chain(self.aliases())
            .map(|name| format!("{name}_{}", self.policies.arch))
            .collect()
    }

    /// Returns whether the policy permits an external library: a listed one, or the dynamic linker,
    /// which every system has. `linux` permits every library.
    pub fn permits_library(&self, name: &str) -> bool {
        self.is_linux()
            || is_loader(name)
            || self
                .policies
                .libraries
                .get(name)
                .is_some_and(|mask| self.has(*mask))
    }

    /// Returns the listed libraries, sorted.
    pub fn libraries(&self) -> impl Iterator<Item = &'p str> + use<'p> {
        let policy = *self;
        self.policies
            .libraries
            .iter()
            .filter(move |(_, mask)| policy.has(**mask))
            .map(|(name, _)| &**name)
    }

    /// Returns whether the policy permits a symbol version such as `GLIBC_2.28`. It permits all
    /// versions of prefixes that it does not name.
    pub fn permits_version(&self, version: &str) -> bool {
        self.has(self.policies.permitting(version))
    }

    /// Returns the prefixes that the policy names, sorted, with the permitted versions without prefix.
    pub fn symbol_versions(&self) -> impl Iterator<Item = (&'p str, Vec<&'p str>)> + use<'p> {
        let policy = *self;
        self.policies
            .prefixes
            .iter()
            .filter(move |(_, prefix)| policy.has(prefix.named))
            .map(move |(name, prefix)| {
                let versions = prefix
                    .versions
                    .iter()
                    .filter(|(_, mask)| policy.has(**mask));
                (&**name, versions.map(|(version, _)| &**version).collect())
            })
    }

    /// Returns the libraries with forbidden symbols, sorted, with these symbols.
    pub fn blacklist(&self) -> impl Iterator<Item = (&'p str, Vec<&'p str>)> + use<'p> {
        let policy = *self;
        let symbols =
            move |(library, symbols): (&'p CowText, &'p BTreeMap<CowText, PolicyMask>)| {
                let own = symbols
                    .iter()
                    .filter(|(_, mask)| policy.has(**mask))
                    .map(|(symbol, _)| &**symbol);
                (&**library, own.collect::<Vec<_>>())
            };
        self.policies
            .blacklist
            .iter()
            .map(symbols)
            .filter(|(_, symbols)| !symbols.is_empty())
    }

    /// Returns the forbidden symbols of an ELF file as pairs of library and symbol, sorted. `needed`
    /// has its NEEDED entries; `is_undefined` returns whether it has an undefined dynamic symbol of
    /// that name that is not weak.
    pub fn blacklist_hits<'s>(
        &self,
        needed: impl IntoIterator<Item = &'s str>,
        is_undefined: impl Fn(&str) -> bool,
    ) -> Vec<(&'p str, &'p str)> {
        let of_library = |name: &str| self.policies.blacklist.get_key_value(name);
        let mut hits: Vec<(&'p str, &'p str)> = needed
            .into_iter()
            .filter_map(of_library)
            .flat_map(|(library, symbols)| {
                symbols
                    .iter()
                    .map(move |(symbol, mask)| (&**library, &**symbol, *mask))
            })
            .filter(|(_, symbol, mask)| self.has(*mask) && is_undefined(symbol))
            .map(|(library, symbol, _)| (library, symbol))
            .collect();
        hits.sort_unstable();
        hits.dedup();
        hits
    }
}

impl PartialEq for PlatformPolicy<'_> {
    fn eq(&self, other: &Self) -> bool {
        (self.policies.arch, self.name()) == (other.policies.arch, other.name())
    }
}

impl fmt::Debug for PlatformPolicy<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.tag())
    }
}

/// Returns whether a NEEDED entry is the dynamic linker: `ld-linux-x86-64.so.2`, or `ld64.so.1` and
/// `ld64.so.2` on s390x and ppc64le.
pub fn is_loader(name: &str) -> bool {
    name.starts_with("ld-linux") || matches!(name, "ld64.so.1" | "ld64.so.2")
}

/// Parses the libc version in the name of a policy, `manylinux_2_28`.
pub(super) fn parse_policy_version(family: PolicyFamily, name: &str) -> Option<(u32, u32)> {
    let (major, minor) = name
        .strip_prefix(family.as_str())?
        .strip_prefix('_')?
        .split_once('_')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::{PlatformPolicies, PlatformPolicy, PolicyFamily, SymbolVersionNeed};
    use rock_names::Arch;

    fn manylinux(arch: Arch) -> PlatformPolicies {
        PlatformPolicies::embedded(PolicyFamily::Manylinux, arch)
    }

    fn newest<'p>(policy: PlatformPolicy<'p>, prefix: &str) -> Option<&'p str> {
        let number = |text: &str| {
            text.split('.')
                .map(str::parse)
                .collect::<Result<Vec<u32>, _>>()
                .ok()
        };
        let (_, versions) = policy.symbol_versions().find(|(name, _)| *name == prefix)?;
        versions
            .into_iter()
            .filter(|version| number(version).is_some())
            .max_by_key(|version| number(version))
    }

    #[test]
    fn the_ceilings_of_x86_64_rise_from_policy_to_policy() {
        let policies = manylinux(Arch::X86_64);
        for (name, expect) in [
            ("manylinux_2_5", ["2.5", "3.4.8", "1.3.1", "4.2.0", "", ""]),
            (
                "manylinux_2_12",
                ["2.12", "3.4.13", "1.3.3", "4.3.0", "1.2.2.4", ""],
            ),
            (
                "manylinux_2_17",
                ["2.17", "3.4.19", "1.3.7", "4.8.0", "1.2.5.2", ""],
            ),
            (
                "manylinux_2_24",
                ["2.24", "3.4.22", "1.3.10", "4.8.0", "1.2.5.2", "1.2"],
            ),
            (
                "manylinux_2_26",
                ["2.26", "3.4.22", "1.3.10", "4.8.0", "1.2.5.2", "1.2"],
            ),
            (
                "manylinux_2_27",
                ["2.27", "3.4.24", "1.3.11", "7.0.0", "1.2.9", "1.2"],
            ),
            (
                "manylinux_2_28",
                ["2.28", "3.4.24", "1.3.11", "7.0.0", "1.2.9", "1.2"],
            ),
            (
                "manylinux_2_31",
                ["2.31", "3.4.28", "1.3.12", "7.0.0", "1.2.9", "1.2"],
            ),
            (
                "manylinux_2_34",
                ["2.34", "3.4.29", "1.3.13", "7.0.0", "1.2.9", "1.2"],
            ),
            (
                "manylinux_2_35",
                ["2.35", "3.4.30", "1.3.13", "12.0.0", "1.2.9", "1.2"],
            ),
            (
                "manylinux_2_36",
                ["2.36", "3.4.30", "1.3.13", "12.0.0", "1.2.9", "1.2"],
            ),
            (
                "manylinux_2_37",
                ["2.36", "3.4.30", "1.3.13", "12.0.0", "1.2.12", "1.2"],
            ),
            (
                "manylinux_2_39",
                ["2.39", "3.4.33", "1.3.15", "14.0.0", "1.2.12", "1.2"],
            ),
            (
                "manylinux_2_41",
                ["2.41", "3.4.33", "1.3.15", "14.0.0", "1.2.12", "1.2"],
            ),
        ] {
            let policy = policies.get(name).unwrap();
            let prefixes = ["GLIBC", "GLIBCXX", "CXXABI", "GCC", "ZLIB", "LIBATOMIC"];
            assert_eq!(
                prefixes.map(|prefix| newest(policy, prefix).unwrap_or_default()),
                expect,
                "{name}"
            );
        }
    }

    #[test]
    fn permitted_versions_exist_on_the_architecture() {
        for (arch, policy, version, expect) in [
            (Arch::X86_64, "manylinux_2_41", "GLIBC_2.2.5", true),
            (Arch::X86_64, "manylinux_2_41", "GLIBC_2.0", false),
            (Arch::X86_64, "manylinux_2_41", "GLIBC_2.19", false),
            (Arch::X86_64, "manylinux_2_41", "GLIBC_2.37", false),
            (Arch::I686, "manylinux_2_41", "GLIBC_2.37", true),
            (Arch::X86_64, "manylinux_2_12", "CXXABI_TM_1", false),
            (Arch::X86_64, "manylinux_2_17", "CXXABI_TM_1", true),
            (Arch::X86_64, "manylinux_2_17", "CXXABI_FLOAT128", false),
            (Arch::X86_64, "manylinux_2_24", "CXXABI_FLOAT128", true),
            (Arch::Aarch64, "manylinux_2_41", "CXXABI_FLOAT128", false),
            (Arch::X86_64, "manylinux_2_35", "GLIBC_ABI_DT_RELR", false),
            (Arch::X86_64, "manylinux_2_36", "GLIBC_ABI_DT_RELR", true),
            (Arch::Riscv64, "manylinux_2_36", "GLIBC_ABI_DT_RELR", false),
            (Arch::Aarch64, "manylinux_2_17", "GLIBC_2.17", true),
            (Arch::Aarch64, "manylinux_2_41", "GLIBC_2.16", false),
            (Arch::Riscv64, "manylinux_2_31", "GLIBC_2.27", true),
            (Arch::Riscv64, "manylinux_2_31", "GLIBC_2.26", false),
            (Arch::Loongarch64, "manylinux_2_36", "GLIBC_2.36", true),
            (Arch::Loongarch64, "manylinux_2_36", "GLIBC_2.35", false),
            (
                Arch::Ppc64le,
                "manylinux_2_34",
                "GLIBCXX_IEEE128_3.4.29",
                true,
            ),
            (Arch::S390x, "manylinux_2_17", "GLIBCXX_LDBL_3.4.7", true),
            (Arch::X86_64, "manylinux_2_41", "GLIBC_PRIVATE", false),
            (Arch::X86_64, "manylinux_2_5", "LIBTORCH_2.5", true),
            (Arch::X86_64, "linux", "GLIBC_9.99", true),
        ] {
            let policies = manylinux(arch);
            assert_eq!(
                policies.get(policy).unwrap().permits_version(version),
                expect,
                "{policy} {arch} {version}"
            );
        }
    }

    #[test]
    fn an_architecture_begins_with_its_first_policy() {
        for (arch, highest, lowest) in [
            (
                Arch::X86_64,
                "manylinux_2_5_x86_64",
                "manylinux_2_41_x86_64",
            ),
            (
                Arch::Aarch64,
                "manylinux_2_17_aarch64",
                "manylinux_2_41_aarch64",
            ),
            (Arch::Ppc64, "manylinux_2_17_ppc64", "manylinux_2_17_ppc64"),
            (
                Arch::Riscv64,
                "manylinux_2_31_riscv64",
                "manylinux_2_41_riscv64",
            ),
            (
                Arch::Loongarch64,
                "manylinux_2_36_loongarch64",
                "manylinux_2_41_loongarch64",
            ),
        ] {
            let policies = manylinux(arch);
            assert_eq!(
                (policies.highest().tag(), policies.lowest().tag()),
                (highest.into(), lowest.into())
            );
            assert!(policies.linux().is_linux() && policies.linux().priority() == 0);
        }
        assert_eq!(manylinux(Arch::X86_64).iter().len(), 17);
        assert!(
            PlatformPolicies::embedded(PolicyFamily::Musllinux, Arch::Ppc64)
                .highest()
                .is_linux(),
            "there are none"
        );
    }

    #[test]
    fn later_policies_permit_more() {
        for (family, arch) in Arch::ALL.into_iter().flat_map(|arch| {
            [
                (PolicyFamily::Manylinux, arch),
                (PolicyFamily::Musllinux, arch),
            ]
        }) {
            let policies = PlatformPolicies::embedded(family, arch);
            let all: Vec<_> = policies.iter().collect();
            for pair in all.windows(2) {
                assert!(pair[0].priority() > pair[1].priority());
                assert!(
                    pair[0]
                        .libraries()
                        .all(|library| pair[1].permits_library(library)),
                    "{pair:?}"
                );
                let versions = pair[0].symbol_versions();
                let mut flat = versions.flat_map(|(prefix, set)| {
                    set.into_iter().map(move |v| format!("{prefix}_{v}"))
                });
                assert!(
                    flat.all(|version| pair[1].permits_version(&version)),
                    "{pair:?}"
                );
            }
        }
    }

    #[test]
    fn a_policy_is_found_by_name_alias_and_tag() {
        let policies = manylinux(Arch::X86_64);
        for (name, expect) in [
            ("manylinux_2_17", Some("manylinux_2_17_x86_64")),
            ("manylinux2014_x86_64", Some("manylinux_2_17_x86_64")),
            ("manylinux1", Some("manylinux_2_5_x86_64")),
            ("linux_x86_64", Some("linux_x86_64")),
            ("manylinux_2_17_aarch64", None),
            ("manylinux_2_30", None),
        ] {
            assert_eq!(
                policies.get(name).map(|policy| policy.tag()).as_deref(),
                expect,
                "{name}"
            );
        }
        let tags = policies.get("manylinux2014").unwrap().tags();
        assert_eq!(tags, ["manylinux_2_17_x86_64", "manylinux2014_x86_64"]);
    }

    #[test]
    fn a_tag_without_a_policy_gets_the_one_before_it() {
        let policies = manylinux(Arch::X86_64);
        for (tag, expect) in [
            ("manylinux_2_30_x86_64", Some("manylinux_2_28_x86_64")),
            ("manylinux_2_99_x86_64", Some("manylinux_2_41_x86_64")),
            ("manylinux2010_x86_64", Some("manylinux_2_12_x86_64")),
            ("manylinux_2_3_x86_64", None),
            ("manylinux_2_28_i686", None),
            ("musllinux_1_2_x86_64", None),
            ("linux_x86_64", Some("linux_x86_64")),
            ("any", None),
        ] {
            assert_eq!(
                policies.for_tag(tag).map(|policy| policy.tag()).as_deref(),
                expect,
                "{tag}"
            );
        }
    }

    #[test]
    fn glibc_2_32_complies_with_manylinux_2_34() {
        let policies = manylinux(Arch::X86_64);
        let need = |version| SymbolVersionNeed {
            library: "libc.so.6",
            version,
        };
        let needs = [
            need("GLIBC_2.32"),
            need("GLIBC_2.17"),
            need("GLIBC_2.32"),
            need("HIP_6.2"),
        ];
        let verdict = policies.symbol_compliance(needs);
        assert_eq!(verdict.best.tag(), "manylinux_2_34_x86_64");
        let of = |name: &str| {
            let refused = verdict
                .unmet
                .iter()
                .find(|refusal| refusal.policy.name() == name);
            refused.map(|refusal| refusal.violations.clone())
        };
        assert_eq!(of("manylinux_2_28"), Some(vec![need("GLIBC_2.32")]));
        assert_eq!(
            of("manylinux_2_12"),
            Some(vec![need("GLIBC_2.17"), need("GLIBC_2.32")])
        );
        assert_eq!(of("manylinux_2_35"), None);
        assert_eq!(verdict.unmet.len(), 8);
        let none = policies.symbol_compliance([]);
        assert_eq!((none.best, none.unmet.len()), (policies.highest(), 0));
        assert!(
            policies
                .symbol_compliance([need("GLIBC_PRIVATE")])
                .best
                .is_linux()
        );
    }

    #[test]
    fn system_libraries_and_the_dynamic_linker_are_permitted() {
        let policies = manylinux(Arch::X86_64);
        for (policy, library, expect) in [
            ("manylinux_2_5", "libc.so.6", true),
            ("manylinux_2_5", "libexpat.so.1", false),
            ("manylinux_2_12", "libexpat.so.1", true),
            ("manylinux_2_17", "libmvec.so.1", false),
            ("manylinux_2_24", "libmvec.so.1", true),
            ("manylinux_2_41", "ld-linux-x86-64.so.2", true),
            ("manylinux_2_41", "ld64.so.1", true),
            ("manylinux_2_41", "libamdhip64.so.7", false),
            ("manylinux_2_41", "libcrypt.so.1", false),
            ("linux", "libamdhip64.so.7", true),
        ] {
            assert_eq!(
                policies.get(policy).unwrap().permits_library(library),
                expect,
                "{policy} {library}"
            );
        }
    }

    #[test]
    fn musl_has_one_libc_per_architecture_and_no_versions() {
        for (arch, expect) in [
            (Arch::I686, "libc.musl-x86.so.1"),
            (Arch::X86_64, "libc.musl-x86_64.so.1"),
            (Arch::Aarch64, "libc.musl-aarch64.so.1"),
            (Arch::S390x, "libc.musl-s390x.so.1"),
            (Arch::Ppc64le, "libc.musl-ppc64le.so.1"),
            (Arch::Armv7l, "libc.musl-armv7.so.1"),
            (Arch::Riscv64, "libc.musl-riscv64.so.1"),
            (Arch::Loongarch64, "libc.musl-loongarch64.so.1"),
        ] {
            let policies = PlatformPolicies::embedded(PolicyFamily::Musllinux, arch);
            let highest = policies.highest();
            assert_eq!(
                highest.libraries().collect::<Vec<_>>(),
                [expect, "libz.so.1"],
                "{arch}"
            );
            assert_eq!(highest.symbol_versions().count(), 0);
            assert_eq!(policies.lowest().tag(), format!("musllinux_1_2_{arch}"));
        }
        let policies = PlatformPolicies::embedded(PolicyFamily::Musllinux, Arch::X86_64);
        let one = policies.only(policies.get("musllinux_1_2").unwrap());
        assert_eq!(
            one.iter().map(|p| p.tag()).collect::<Vec<_>>(),
            ["musllinux_1_2_x86_64", "linux_x86_64"]
        );
    }

    #[test]
    fn forbidden_symbols_need_their_library() {
        let policies = manylinux(Arch::X86_64);
        let hits = |policy: &str, needed: &[&'static str], symbol: &str| {
            let policy = policies.get(policy).unwrap();
            policy.blacklist_hits(needed.iter().copied(), |name| name == symbol)
        };
        assert_eq!(
            hits(
                "manylinux_2_17",
                &["libc.so.6", "libm.so.6"],
                "__issignalingf"
            ),
            [
                ("libc.so.6", "__issignalingf"),
                ("libm.so.6", "__issignalingf"),
            ]
        );
        assert_eq!(hits("manylinux_2_24", &["libc.so.6"], "__issignalingf"), []);
        assert_eq!(
            hits("manylinux_2_31", &["libz.so.1"], "uncompress2"),
            [("libz.so.1", "uncompress2")]
        );
        assert_eq!(hits("manylinux_2_34", &["libz.so.1"], "uncompress2"), []);
        assert_eq!(
            hits("manylinux_2_41", &["libz.so.1"], "zcalloc"),
            [("libz.so.1", "zcalloc")]
        );
        assert_eq!(hits("manylinux_2_41", &["libc.so.6"], "zcalloc"), []);
        assert_eq!(hits("linux", &["libz.so.1"], "zcalloc"), []);
        assert!(
            policies
                .blacklisted_symbols()
                .any(|symbol| symbol == "zcalloc")
        );
    }
}
