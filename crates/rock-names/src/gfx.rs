//! LLVM AMDGPU processors and target IDs.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

/// A gfx target: a processor, `gfx942`, a generic processor, `gfx11-generic`, or a target ID with
/// features, `gfx90a:xnack-` (LLVM "User Guide for AMDGPU Backend", "Target ID").
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GfxTarget {
    processor: String,
    features: Vec<String>,
}

/// The error of parsing a [`GfxTarget`]; holds the text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not a gfx target: `gfx` with hex digits, such as `gfx942`, `gfx11-generic` or `gfx90a:xnack-`"
)]
pub struct GfxTargetError(pub String);

impl GfxTarget {
    /// Returns the processor without features, `gfx90a`.
    pub fn processor(&self) -> &str {
        &self.processor
    }

    /// Returns the features with their signs, `xnack-`.
    pub fn features(&self) -> &[String] {
        &self.features
    }

    /// Returns the target of a KFD `gfx_target_version`, which is major × 10000 + minor × 100 +
    /// stepping; targets print minor and stepping in hex. Returns `None` for 0 (a CPU node) and for a
    /// minor or stepping above 15.
    pub fn from_kfd_version(version: u32) -> Option<Self> {
        let (major, minor, step) = (version / 10_000, version / 100 % 100, version % 100);
        (major > 0 && minor <= 15 && step <= 15).then(|| Self {
            processor: format!("gfx{major}{minor:x}{step:x}"),
            features: Vec::new(),
        })
    }
}

impl FromStr for GfxTarget {
    type Err = GfxTargetError;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let fault = || GfxTargetError(text.to_owned());
        let mut parts = text.split(':');
        let processor = parts.next().unwrap_or_default();
        let digits = processor.strip_prefix("gfx").ok_or_else(fault)?;
        let hex = |s: &str| {
            s.bytes()
                .all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
        };
        let generic = digits.strip_suffix("-generic");
        let well_formed = match generic {
            Some(d) => !d.is_empty() && d.split('-').all(|p| !p.is_empty() && hex(p)),
            None => (3..=4).contains(&digits.len()) && hex(digits),
        };
        let features: Vec<String> = parts.map(str::to_owned).collect();
        let mut names = BTreeSet::new();
        let features_fit = features.iter().all(|feature| {
            let name = feature.strip_suffix(['+', '-']).unwrap_or_default();
            !name.is_empty() && name.bytes().all(|b| b.is_ascii_lowercase()) && names.insert(name)
        });
        if well_formed && features_fit && digits.as_bytes()[0].is_ascii_digit() {
            Ok(Self {
                processor: processor.to_owned(),
                features,
            })
        } else {
            Err(fault())
        }
    }
}

impl fmt::Display for GfxTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.processor)?;
        self.features
            .iter()
            .try_for_each(|feature| write!(f, ":{feature}"))
    }
}

#[cfg(test)]
mod tests {
    use super::GfxTarget;

    #[test]
    fn the_decimal_step_of_kfd_becomes_hex() {
        let name = |v| GfxTarget::from_kfd_version(v).map(|t| t.to_string());
        assert_eq!(name(90_010).as_deref(), Some("gfx90a"));
        assert_eq!(name(90_402).as_deref(), Some("gfx942"));
        assert_eq!(name(110_501).as_deref(), Some("gfx1151"));
        assert_eq!(name(120_001).as_deref(), Some("gfx1201"));
        assert_eq!(name(0), None);
        assert_eq!(name(115_100), None);
    }

    #[test]
    fn target_ids_round_trip_and_other_words_are_refused() {
        for text in [
            "gfx90a:xnack-",
            "gfx906:sramecc+:xnack-",
            "gfx11-generic",
            "gfx9-4-generic",
            "gfx1100",
        ] {
            assert_eq!(text.parse::<GfxTarget>().unwrap().to_string(), text);
        }
        for text in [
            "gfx",
            "GFX942",
            "gfx94X",
            "sm_90",
            "gfx90a:xnack",
            "gfx90a:",
            "gfx90a:xnack-:xnack+",
            "gfx-generic",
        ] {
            assert!(text.parse::<GfxTarget>().is_err(), "{text}");
        }
    }
}
