//! PEP 440 version specifiers, `>=2.7,<3`.
//!
//! `pep440_rs` 0.7.3 parses and orders versions correctly, but its specifiers differ from PEP 440
//! in four places: `<V` for a pre-release `V` rejects the earlier pre-releases of the same release,
//! `==V.*` matches a version with fewer release numbers than `V`, `!=V.*` does not match it, and
//! `===` compares normalised texts. The rules here follow the specification "Version specifiers" of
//! the Python Packaging Authority and agree with `packaging` 26.3 (`packaging/_ranges.py`).
//!
//! **Invariant:** no other module implements the operators of specifiers.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use super::{Version, VersionError};

/// A set of clauses that must all hold, `>=2.7,<3`; the empty set allows every version.
///
/// Pre-releases are not filtered: `>=2.7` contains `2.8rc1`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct VersionSpecifiers {
    clauses: Vec<SpecifierClause>,
}

/// One clause, `>=2.7`.
#[derive(Debug, Clone, PartialEq, Eq)]
struct SpecifierClause {
    operator: SpecifierOperator,
    /// The version as written, without `.*`.
    text: String,
    /// The version; `None` for `===`, whose text may be anything.
    version: Option<pep440_rs::Version>,
}

/// The operators of PEP 440; those with a prefix end in `.*`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SpecifierOperator {
    Compatible,
    Equal,
    EqualPrefix,
    NotEqual,
    NotEqualPrefix,
    AtMost,
    AtLeast,
    Below,
    Above,
    Identical,
}

/// The spellings of the operators; the prefix forms of `==` and `!=` share theirs.
const OPERATORS: [(&str, SpecifierOperator); 8] = [
    ("===", SpecifierOperator::Identical),
    ("~=", SpecifierOperator::Compatible),
    ("==", SpecifierOperator::Equal),
    ("!=", SpecifierOperator::NotEqual),
    ("<=", SpecifierOperator::AtMost),
    (">=", SpecifierOperator::AtLeast),
    ("<", SpecifierOperator::Below),
    (">", SpecifierOperator::Above),
];

/// A patch number greater than that of any release; the greatest so far are in the twenties.
const LAST_PATCH: u64 = 999;

impl VersionSpecifiers {
    /// Returns whether every clause allows the version.
    pub fn contains(&self, version: &Version) -> bool {
        let public = version.parsed().clone().without_local();
        self.clauses
            .iter()
            .all(|clause| clause.allows(version, &public))
    }

    /// Returns the specifiers with the clauses of others, which must hold, too.
    #[must_use]
    pub fn and(mut self, others: Self) -> Self {
        self.clauses.extend(others.clauses);
        self
    }

    /// Returns whether any patch release of a minor version is allowed. The answer can change only
    /// next to a patch release that a clause names, so only these, their neighbors and the first
    /// and last patch releases are checked.
    pub fn allows_minor(&self, (major, minor): (u8, u8)) -> bool {
        let named = self.releases().filter_map(|release| match release[..] {
            [own_major, own_minor, patch, ..]
                if (own_major, own_minor) == (major.into(), minor.into()) =>
            {
                Some(patch)
            }
            _ => None,
        });
        let beside =
            named.flat_map(|patch| [patch.saturating_sub(1), patch, patch.saturating_add(1)]);
        [0, LAST_PATCH].into_iter().chain(beside).any(|patch| {
            let version = format!("{major}.{minor}.{patch}").parse::<Version>();
            version.is_ok_and(|version| self.contains(&version))
        })
    }

    /// Returns the release numbers that clauses name, `[3, 12, 4]` for `>=3.12.4`. Between two of
    /// them all releases are allowed, or none.
    fn releases(&self) -> impl Iterator<Item = Vec<u64>> {
        let version = |clause: &SpecifierClause| match &clause.version {
            Some(version) => Some(version.clone()),
            None => clause.text.parse::<pep440_rs::Version>().ok(),
        };
        self.clauses
            .iter()
            .filter_map(version)
            .map(|version| version.release().to_vec())
    }
}

impl SpecifierClause {
    /// Returns whether the clause allows a version; `public` is the version without its local part.
    ///
    /// Local parts of a version count only where the clause has one, too ("Version matching"),
    /// which `==` and `!=` alone may have.
    fn allows(&self, version: &Version, public: &pep440_rs::Version) -> bool {
        let Some(bound) = &self.version else {
            return self.text.eq_ignore_ascii_case(version.as_str());
        };
        let matched = if bound.is_local() {
            version.parsed()
        } else {
            public
        };
        match self.operator {
            SpecifierOperator::Equal => matched == bound,
            SpecifierOperator::NotEqual => matched != bound,
            SpecifierOperator::EqualPrefix => has_prefix(public, bound.epoch(), bound.release()),
            SpecifierOperator::NotEqualPrefix => {
                !has_prefix(public, bound.epoch(), bound.release())
            }
            SpecifierOperator::Compatible => {
                let series = bound
                    .release()
                    .split_last()
                    .map_or(&[][..], |(_, series)| series);
                public >= bound && has_prefix(public, bound.epoch(), series)
            }
            SpecifierOperator::AtMost => public <= bound,
            SpecifierOperator::AtLeast => public >= bound,
            SpecifierOperator::Below => public < bound && !is_pre_release_of(public, bound),
            SpecifierOperator::Above => public > bound && !is_post_release_of(public, bound),
            SpecifierOperator::Identical => false,
        }
    }
}

/// Returns whether the release begins with these numbers, where missing numbers are 0 ("Version
/// matching").
fn has_prefix(version: &pep440_rs::Version, epoch: u64, prefix: &[u64]) -> bool {
    let release = version.release();
    version.epoch() == epoch
        && prefix
            .iter()
            .enumerate()
            .all(|(at, number)| release.get(at).copied().unwrap_or(0) == *number)
}

/// Returns whether the version is a pre-release or development release of a bound that is neither
/// ("Exclusive ordered comparison").
fn is_pre_release_of(version: &pep440_rs::Version, bound: &pep440_rs::Version) -> bool {
    !bound.any_prerelease() && *version >= bound.clone().with_dev(Some(0))
}

/// Returns whether the version is a post-release of a bound that is none ("Exclusive ordered
/// comparison"), or a development release of one.
fn is_post_release_of(version: &pep440_rs::Version, bound: &pep440_rs::Version) -> bool {
    !bound.is_post()
        && !bound.is_dev()
        && version.is_post()
        && version.epoch() == bound.epoch()
        && version.pre() == bound.pre()
        && is_same_release(version.release(), bound.release())
}

/// Returns whether two releases are equal when the shorter is padded with zeros.
fn is_same_release(one: &[u64], other: &[u64]) -> bool {
    let number = |release: &[u64], at: usize| release.get(at).copied().unwrap_or(0);
    (0..one.len().max(other.len()))
        .all(|at| number(one, at).cmp(&number(other, at)) == Ordering::Equal)
}

impl FromStr for VersionSpecifiers {
    type Err = VersionError;

    /// Parses clauses separated by commas; empty ones are skipped, as in `packaging`.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let clauses = text
            .split(',')
            .map(str::trim)
            .filter(|clause| !clause.is_empty());
        let clauses: Result<Vec<SpecifierClause>, VersionError> = clauses.map(str::parse).collect();
        clauses
            .map(|clauses| Self { clauses })
            .map_err(|error| VersionError {
                text: text.to_owned(),
                ..error
            })
    }
}

impl FromStr for SpecifierClause {
    type Err = VersionError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let fault = |reason: String| VersionError {
            text: text.to_owned(),
            reason,
        };
        let end = text
            .find(|c: char| !"<>=!~".contains(c))
            .unwrap_or(text.len());
        // `===` may be followed by anything, so by more such signs.
        let end = if text.starts_with("===") { 3 } else { end };
        let (sign, rest) = text.split_at(end);
        let Some((_, operator)) = OPERATORS.iter().find(|(known, _)| *known == sign) else {
            let signs = OPERATORS.map(|(known, _)| known).join(" ");
            let message = if sign.is_empty() {
                "it does not begin with an operator".into()
            } else {
                format!("`{sign}` is not an operator")
            };
            return Err(fault(format!("{message}; operators are {signs}")));
        };
        let operator = *operator;
        let written = rest.trim();
        if written.is_empty() {
            return Err(fault(format!("`{sign}` is not followed by a version")));
        }
        if operator == SpecifierOperator::Identical {
            let is_text = !written.contains(|c: char| c.is_whitespace() || matches!(c, ';' | ')'));
            return if is_text {
                Ok(Self {
                    operator,
                    text: written.to_owned(),
                    version: None,
                })
            } else {
                Err(fault(format!(
                    "`{written}` after `{sign}` contains whitespace, `;` or `)`"
                )))
            };
        }
        let (number, operator) = match (written.strip_suffix(".*"), operator) {
            (Some(number), SpecifierOperator::Equal) => (number, SpecifierOperator::EqualPrefix),
            (Some(number), SpecifierOperator::NotEqual) => {
                (number, SpecifierOperator::NotEqualPrefix)
            }
            (Some(_), _) => {
                return Err(fault(format!(
                    "`.*` is only allowed after `==` and `!=`, not after `{sign}`"
                )));
            }
            (None, operator) => (written, operator),
        };
        let version = number
            .parse::<pep440_rs::Version>()
            .map_err(|error| fault(format!("`{number}` is not a version: {error}")))?;
        let is_prefix = matches!(
            operator,
            SpecifierOperator::EqualPrefix | SpecifierOperator::NotEqualPrefix
        );
        let is_release = !version.any_prerelease() && !version.is_post() && !version.is_local();
        if is_prefix && !is_release {
            return Err(fault(format!(
                "`.*` is only allowed after the numbers of a release, not after `{number}`"
            )));
        }
        if version.is_local()
            && !matches!(
                operator,
                SpecifierOperator::Equal | SpecifierOperator::NotEqual
            )
        {
            return Err(fault(format!(
                "a local version is only allowed after `==` and `!=`, not after `{sign}`"
            )));
        }
        if operator == SpecifierOperator::Compatible && version.release().len() < 2 {
            return Err(fault(format!(
                "`~=` needs at least two numbers, such as `~={number}.0`"
            )));
        }
        Ok(Self {
            operator,
            text: number.to_owned(),
            version: Some(version),
        })
    }
}

impl fmt::Display for VersionSpecifiers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, clause) in self.clauses.iter().enumerate() {
            let comma = if at == 0 { "" } else { "," };
            write!(f, "{comma}{clause}")?;
        }
        Ok(())
    }
}

impl fmt::Display for SpecifierClause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (sign, star) = match self.operator {
            SpecifierOperator::Compatible => ("~=", ""),
            SpecifierOperator::Equal => ("==", ""),
            SpecifierOperator::EqualPrefix => ("==", ".*"),
            SpecifierOperator::NotEqual => ("!=", ""),
            SpecifierOperator::NotEqualPrefix => ("!=", ".*"),
            SpecifierOperator::AtMost => ("<=", ""),
            SpecifierOperator::AtLeast => (">=", ""),
            SpecifierOperator::Below => ("<", ""),
            SpecifierOperator::Above => (">", ""),
            SpecifierOperator::Identical => ("===", ""),
        };
        write!(f, "{sign}{}{star}", self.text)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::VersionSpecifiers;
    use crate::Version;

    /// Versions of one project in their order.
    const VERSIONS: &[&str] = &[
        "1.9",
        "2",
        "2.1.0.dev5",
        "2.1a1",
        "2.1rc1.post2",
        "2.1",
        "2.1+cpu",
        "2.1.post1.dev0",
        "2.1.post1",
        "2.1.5+rocm6.4",
        "2.10.0.dev20250731",
        "2.10.0.dev20250801",
        "2.10.0",
        "1!0.1",
    ];

    /// Prints which versions a specifier allows.
    fn allowed(specifier: &str) -> String {
        let set: VersionSpecifiers = specifier.parse().unwrap();
        let is_allowed = |text: &&&str| set.contains(&text.parse().unwrap());
        let versions: Vec<&str> = VERSIONS.iter().filter(is_allowed).copied().collect();
        format!("{set}: {}\n", versions.join(" "))
    }

    #[test]
    fn a_minor_version_is_allowed_with_any_of_its_patch_releases() {
        let allows = |text: &str, minor: u8| {
            let set: VersionSpecifiers = text.parse().unwrap();
            set.allows_minor((3, minor))
        };
        assert!(allows(">=3.12.4", 12) && allows("<3.12.1", 12) && allows("!=3.12.0", 12));
        assert!(!allows(">=3.12.4", 11) && !allows("<3.12", 12) && !allows("!=3.12.*", 12));
    }

    /// A bound that is a nightly allows earlier nightlies of its release, one that is a release
    /// allows none.
    #[test]
    fn bounds_treat_pre_and_post_releases_as_pep_440() {
        let specifiers = [
            "<2.10.0.dev20250801",
            "<2.10",
            "<2.1",
            "<2.1.post1",
            "<=2.1",
            ">2.1",
            ">2.1rc1",
            ">2.1.post0",
            ">2.1.0.dev5",
            ">=2.1,<2.10",
            "<1!0",
        ];
        insta::assert_snapshot!(specifiers.map(allowed).concat(), @r"
        <2.10.0.dev20250801: 1.9 2 2.1.0.dev5 2.1a1 2.1rc1.post2 2.1 2.1+cpu 2.1.post1.dev0 2.1.post1 2.1.5+rocm6.4 2.10.0.dev20250731
        <2.10: 1.9 2 2.1.0.dev5 2.1a1 2.1rc1.post2 2.1 2.1+cpu 2.1.post1.dev0 2.1.post1 2.1.5+rocm6.4
        <2.1: 1.9 2
        <2.1.post1: 1.9 2 2.1.0.dev5 2.1a1 2.1rc1.post2 2.1 2.1+cpu
        <=2.1: 1.9 2 2.1.0.dev5 2.1a1 2.1rc1.post2 2.1 2.1+cpu
        >2.1: 2.1.5+rocm6.4 2.10.0.dev20250731 2.10.0.dev20250801 2.10.0 1!0.1
        >2.1rc1: 2.1 2.1+cpu 2.1.post1.dev0 2.1.post1 2.1.5+rocm6.4 2.10.0.dev20250731 2.10.0.dev20250801 2.10.0 1!0.1
        >2.1.post0: 2.1.post1.dev0 2.1.post1 2.1.5+rocm6.4 2.10.0.dev20250731 2.10.0.dev20250801 2.10.0 1!0.1
        >2.1.0.dev5: 2.1a1 2.1rc1.post2 2.1 2.1+cpu 2.1.post1.dev0 2.1.post1 2.1.5+rocm6.4 2.10.0.dev20250731 2.10.0.dev20250801 2.10.0 1!0.1
        >=2.1,<2.10: 2.1 2.1+cpu 2.1.post1.dev0 2.1.post1 2.1.5+rocm6.4
        <1!0: 1.9 2 2.1.0.dev5 2.1a1 2.1rc1.post2 2.1 2.1+cpu 2.1.post1.dev0 2.1.post1 2.1.5+rocm6.4 2.10.0.dev20250731 2.10.0.dev20250801 2.10.0
        ");
    }

    /// A missing release number is 0 in a prefix, and a local part counts where the specifier has
    /// one.
    #[test]
    fn prefixes_pad_releases_and_locals_count_when_named() {
        let specifiers = [
            "==2.1.*",
            "!=2.1.*",
            "==2.0.*",
            "~=2.1",
            "~=2.1.0",
            "~=2.0a1",
            "==2.1",
            "==2.1+cpu",
            "!=2.1+cpu",
            "===2.1",
            "===2.1+CPU",
            "",
            ",>1!0,",
        ];
        insta::assert_snapshot!(specifiers.map(allowed).concat(), @r"
        ==2.1.*: 2.1.0.dev5 2.1a1 2.1rc1.post2 2.1 2.1+cpu 2.1.post1.dev0 2.1.post1 2.1.5+rocm6.4
        !=2.1.*: 1.9 2 2.10.0.dev20250731 2.10.0.dev20250801 2.10.0 1!0.1
        ==2.0.*: 2
        ~=2.1: 2.1 2.1+cpu 2.1.post1.dev0 2.1.post1 2.1.5+rocm6.4 2.10.0.dev20250731 2.10.0.dev20250801 2.10.0
        ~=2.1.0: 2.1 2.1+cpu 2.1.post1.dev0 2.1.post1 2.1.5+rocm6.4
        ~=2.0a1: 2 2.1.0.dev5 2.1a1 2.1rc1.post2 2.1 2.1+cpu 2.1.post1.dev0 2.1.post1 2.1.5+rocm6.4 2.10.0.dev20250731 2.10.0.dev20250801 2.10.0
        ==2.1: 2.1 2.1+cpu
        ==2.1+cpu: 2.1+cpu
        !=2.1+cpu: 1.9 2 2.1.0.dev5 2.1a1 2.1rc1.post2 2.1 2.1.post1.dev0 2.1.post1 2.1.5+rocm6.4 2.10.0.dev20250731 2.10.0.dev20250801 2.10.0 1!0.1
        ===2.1: 2.1
        ===2.1+CPU: 2.1+cpu
        : 1.9 2 2.1.0.dev5 2.1a1 2.1rc1.post2 2.1 2.1+cpu 2.1.post1.dev0 2.1.post1 2.1.5+rocm6.4 2.10.0.dev20250731 2.10.0.dev20250801 2.10.0 1!0.1
        >1!0: 1!0.1
        ");
    }

    /// Every text that PEP 440 does not allow is refused with the reason.
    #[test]
    fn malformed_specifiers_have_a_reason() {
        let texts = [
            "2.0",
            "=>2.0",
            "==",
            "~=1",
            "~=1.0+5",
            ">=1.0+x",
            "<1.0.*",
            "~=1.0.*",
            "==1.0a1.*",
            "!=1.post1.*",
            "==1.0+5.*",
            "==1.0.*.5",
            "=== a b",
            "===",
            ">=1,<<2",
            "== 1. 0",
            "==1.0.*+5",
        ];
        let reasons =
            texts.map(|text| text.parse::<VersionSpecifiers>().unwrap_err().to_string() + "\n");
        insta::assert_snapshot!(reasons.concat(), @r"
        `2.0` is not a version: it does not begin with an operator; operators are === ~= == != <= >= < >
        `=>2.0` is not a version: `=>` is not an operator; operators are === ~= == != <= >= < >
        `==` is not a version: `==` is not followed by a version
        `~=1` is not a version: `~=` needs at least two numbers, such as `~=1.0`
        `~=1.0+5` is not a version: a local version is only allowed after `==` and `!=`, not after `~=`
        `>=1.0+x` is not a version: a local version is only allowed after `==` and `!=`, not after `>=`
        `<1.0.*` is not a version: `.*` is only allowed after `==` and `!=`, not after `<`
        `~=1.0.*` is not a version: `.*` is only allowed after `==` and `!=`, not after `~=`
        `==1.0a1.*` is not a version: `.*` is only allowed after the numbers of a release, not after `1.0a1`
        `!=1.post1.*` is not a version: `.*` is only allowed after the numbers of a release, not after `1.post1`
        `==1.0+5.*` is not a version: `.*` is only allowed after the numbers of a release, not after `1.0+5`
        `==1.0.*.5` is not a version: `1.0.*.5` is not a version: wildcards are not allowed in a version
        `=== a b` is not a version: `a b` after `===` contains whitespace, `;` or `)`
        `===` is not a version: `===` is not followed by a version
        `>=1,<<2` is not a version: `<<` is not an operator; operators are === ~= == != <= >= < >
        `== 1. 0` is not a version: `1. 0` is not a version: after parsing `1`, found `. 0`, which is not part of a valid version
        `==1.0.*+5` is not a version: `1.0.*+5` is not a version: wildcards are not allowed in a version
        ");
    }

    proptest! {
        /// Each operator and its opposite part all versions between them, except where exclusive
        /// bounds leave out more.
        #[test]
        fn opposite_operators_never_both_hold(
            version in "[0-3](\\.[0-3]){0,2}((a|rc)[0-2])?(\\.post[0-2])?(\\.dev[0-2])?(\\+x)?",
            bound in "[0-3](\\.[0-3]){0,2}((a|rc)[0-2])?(\\.post[0-2])?(\\.dev[0-2])?",
            release in "[0-3](\\.[0-3]){0,2}",
        ) {
            let version: Version = version.parse().unwrap();
            let holds = |specifier: String| specifier.parse::<VersionSpecifiers>().unwrap().contains(&version);
            let [equal, unequal] = ["==", "!="].map(|sign| holds(format!("{sign}{bound}")));
            let [inside, outside] = ["==", "!="].map(|sign| holds(format!("{sign}{release}.*")));
            prop_assert!(equal != unequal && inside != outside);
            let [most, least, below, above] = ["<=", ">=", "<", ">"].map(|sign| holds(format!("{sign}{bound}")));
            prop_assert!((most || least) && !(below && least) && !(above && most));
            prop_assert_eq!(most && least, equal);
        }

        #[test]
        fn reading_a_specifier_never_panics(text in "[a-z0-9<>=!~.*+, ]{0,24}") {
            let _ = text.parse::<VersionSpecifiers>();
        }
    }
}
