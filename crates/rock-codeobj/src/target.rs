//! Targets of GPU code.

use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::fmt;

use rock_names::GfxTarget;

/// The target of a code object or bundle entry.
///
/// Gfx targets are sorted by processor version, then by features; other targets follow.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum CodeTarget {
    /// A target ID with its features in alphabetical order (LLVM AMDGPU usage, "Target ID").
    Gfx(GfxTarget),
    /// An unknown machine number.
    Unknown(u8),
    /// Any other name, such as `amdgcnspirv`.
    Named(String),
}

impl CodeTarget {
    /// Parses a target; a text that is not a target ID becomes [`Named`](Self::Named).
    pub fn from_text(text: &str) -> Self {
        let mut parts = text.split(':');
        let processor = parts.next().unwrap_or_default();
        let mut features: Vec<&str> = parts.collect();
        features.sort_unstable();
        let sorted = features
            .iter()
            .fold(processor.to_owned(), |all, feature| all + ":" + feature);
        sorted
            .parse()
            .map_or_else(|_| Self::Named(text.to_owned()), Self::Gfx)
    }

    /// Returns the gfx target, if it is one.
    pub fn gfx(&self) -> Option<&GfxTarget> {
        match self {
            Self::Gfx(target) => Some(target),
            Self::Unknown(_) | Self::Named(_) => None,
        }
    }

    /// Returns `true` for a generic target (LLVM AMDGPU usage, "Generic Processor Versioning").
    pub fn is_generic(&self) -> bool {
        self.gfx()
            .is_some_and(|target| target.processor().ends_with("-generic"))
    }
}

impl From<&GfxTarget> for CodeTarget {
    /// Converts a gfx target; sorts its features.
    fn from(target: &GfxTarget) -> Self {
        Self::from_text(&target.to_string())
    }
}

/// The difference between expected and actual targets. Targets are compared with features; generic
/// targets match only themselves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TargetDifference {
    /// Expected targets that are absent, sorted.
    pub missing: Vec<CodeTarget>,
    /// Present targets that are not expected, sorted.
    pub extra: Vec<CodeTarget>,
}

impl TargetDifference {
    /// Compares expected targets: each must be in `own`, and `held` must not have any other.
    pub fn between(
        expected: &BTreeSet<CodeTarget>,
        own: &BTreeSet<CodeTarget>,
        held: &BTreeSet<CodeTarget>,
    ) -> Self {
        let difference =
            |one: &BTreeSet<CodeTarget>, other| one.difference(other).cloned().collect();
        Self {
            missing: difference(expected, own),
            extra: difference(held, expected),
        }
    }
}

/// Returns major version, minor version and stepping of a processor, and whether it is generic. The
/// last two digits are minor version and stepping in hexadecimal, the others the major version in
/// decimal; in a generic processor hyphens separate them (LLVM AMDGPU usage, "Processors").
fn processor_version(processor: &str) -> (u32, u32, u32, bool) {
    let digits = processor.strip_prefix("gfx").unwrap_or(processor);
    if let Some(generic) = digits.strip_suffix("-generic") {
        let mut parts = generic
            .split('-')
            .map(|part| part.parse().unwrap_or(u32::MAX));
        let mut next = || parts.next().unwrap_or(0);
        return (next(), next(), next(), true);
    }
    let (major, rest) = digits.split_at(digits.len().saturating_sub(2));
    let hex = |at: usize| {
        rest.get(at..=at)
            .and_then(|digit| u32::from_str_radix(digit, 16).ok())
            .unwrap_or(0)
    };
    (major.parse().unwrap_or(u32::MAX), hex(0), hex(1), false)
}

impl Ord for CodeTarget {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Gfx(one), Self::Gfx(two)) => {
                let key = |target: &GfxTarget| processor_version(target.processor());
                key(one).cmp(&key(two)).then_with(|| one.cmp(two))
            }
            (Self::Unknown(one), Self::Unknown(two)) => one.cmp(two),
            (Self::Named(one), Self::Named(two)) => one.cmp(two),
            (Self::Gfx(_), _) | (Self::Unknown(_), Self::Named(_)) => Ordering::Less,
            (_, Self::Gfx(_)) | (Self::Named(_), Self::Unknown(_)) => Ordering::Greater,
        }
    }
}

impl PartialOrd for CodeTarget {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for CodeTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Gfx(target) => target.fmt(f),
            Self::Unknown(machine) => write!(f, "unknown({machine:#04x})"),
            Self::Named(name) => f.write_str(name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::CodeTarget;

    #[test]
    fn targets_sort_by_number_and_not_by_letter() {
        let mut targets: Vec<CodeTarget> = [
            "amdgcnspirv",
            "gfx1030",
            "gfx90a:xnack+",
            "gfx90a",
            "gfx11-generic",
            "gfx900",
            "gfx942",
            "gfx9-4-generic",
        ]
        .map(CodeTarget::from_text)
        .into();
        targets.push(CodeTarget::Unknown(0x7e));
        targets.sort();
        let texts: Vec<String> = targets.iter().map(CodeTarget::to_string).collect();
        assert_eq!(
            texts,
            [
                "gfx900",
                "gfx90a",
                "gfx90a:xnack+",
                "gfx9-4-generic",
                "gfx942",
                "gfx1030",
                "gfx11-generic",
                "unknown(0x7e)",
                "amdgcnspirv"
            ]
        );
    }

    #[test]
    fn features_are_reported_in_alphabetical_order() {
        assert_eq!(
            CodeTarget::from_text("gfx90a:xnack-:sramecc+").to_string(),
            "gfx90a:sramecc+:xnack-"
        );
        assert!(
            CodeTarget::from_text("gfx9-generic").is_generic()
                && !CodeTarget::from_text("gfx90a").is_generic()
        );
    }
}
