//! What code is for.

use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::fmt;

use rock_names::GfxTarget;

/// What a code object or an entry of a bundle is for. Sorts by processor number, then by features;
/// what is no gfx target comes last.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Target {
    /// A gfx target, its features in alphabetical order (LLVM AMDGPU usage, "Target ID").
    Gfx(GfxTarget),
    /// A machine number that the table does not have.
    Unknown(u8),
    /// Any other name, such as `amdgcnspirv`.
    Named(String),
}

impl Target {
    /// The target that a text names, whatever the text is.
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

    /// The gfx target, where it is one.
    pub fn gfx(&self) -> Option<&GfxTarget> {
        match self {
            Self::Gfx(target) => Some(target),
            Self::Unknown(_) | Self::Named(_) => None,
        }
    }

    /// Whether it stands for several processors (LLVM AMDGPU usage, "Generic Processor
    /// Versioning").
    pub fn is_generic(&self) -> bool {
        self.gfx()
            .is_some_and(|target| target.processor().ends_with("-generic"))
    }
}

impl From<&GfxTarget> for Target {
    /// The same with its features in order.
    fn from(target: &GfxTarget) -> Self {
        Self::from_text(&target.to_string())
    }
}

/// The targets in which code is not what was expected. Targets are compared whole, features and
/// generic ones too.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TargetDifference {
    /// Targets that are expected and not there, sorted.
    pub missing: Vec<Target>,
    /// Targets that are there and not expected, sorted.
    pub extra: Vec<Target>,
}

impl TargetDifference {
    /// Compares expected targets with those that must have them (`own`) and those that must have no
    /// others (`held`).
    pub fn between(
        expected: &BTreeSet<Target>,
        own: &BTreeSet<Target>,
        held: &BTreeSet<Target>,
    ) -> Self {
        let difference = |one: &BTreeSet<Target>, other| one.difference(other).cloned().collect();
        Self {
            missing: difference(expected, own),
            extra: difference(held, expected),
        }
    }
}

/// Major, minor and step of a processor: the last two digits are hexadecimal minor and step, those
/// before them the decimal major version; a generic processor has them apart (LLVM AMDGPU usage,
/// "Processors").
fn numbers(processor: &str) -> (u32, u32, u32, bool) {
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

impl Ord for Target {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Gfx(one), Self::Gfx(two)) => {
                let key = |target: &GfxTarget| numbers(target.processor());
                key(one).cmp(&key(two)).then_with(|| one.cmp(two))
            }
            (Self::Unknown(one), Self::Unknown(two)) => one.cmp(two),
            (Self::Named(one), Self::Named(two)) => one.cmp(two),
            (Self::Gfx(_), _) | (Self::Unknown(_), Self::Named(_)) => Ordering::Less,
            (_, Self::Gfx(_)) | (Self::Named(_), Self::Unknown(_)) => Ordering::Greater,
        }
    }
}

impl PartialOrd for Target {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for Target {
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
    use super::Target;

    #[test]
    fn targets_sort_by_number_and_not_by_letter() {
        let mut targets: Vec<Target> = [
            "amdgcnspirv",
            "gfx1030",
            "gfx90a:xnack+",
            "gfx90a",
            "gfx11-generic",
            "gfx900",
            "gfx942",
            "gfx9-4-generic",
        ]
        .map(Target::from_text)
        .into();
        targets.push(Target::Unknown(0x7e));
        targets.sort();
        let texts: Vec<String> = targets.iter().map(Target::to_string).collect();
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
    fn features_are_told_in_alphabetical_order() {
        assert_eq!(
            Target::from_text("gfx90a:xnack-:sramecc+").to_string(),
            "gfx90a:sramecc+:xnack-"
        );
        assert!(
            Target::from_text("gfx9-generic").is_generic()
                && !Target::from_text("gfx90a").is_generic()
        );
    }
}
