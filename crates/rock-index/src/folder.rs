//! The directory of the index that a file belongs to.

use std::fmt;

use rock_names::{Accelerator, Combination, LabelParts, RocmVersion, Version, torch_text};

/// A directory of the index. Sorts the newest accelerator and torch first, and `any` last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IndexFolder {
    /// `rocm6.2-torch2.5`, or `rocm6.2` for files without a torch version.
    Rocm(RocmVersion, Option<Version>),
    /// `cu124-torch2.5`; the digits are kept as written in the label.
    Cuda(String, Option<Version>),
    /// `any`: files whose version has no local version label.
    Any,
}

impl From<&Combination> for IndexFolder {
    fn from(combination: &Combination) -> Self {
        Self::with(combination.accelerator.as_ref(), combination.torch.as_ref())
    }
}

impl IndexFolder {
    /// Returns the directory of a file with this label. Patch versions of torch share a directory;
    /// nightlies of different dates do not. Nightlies of a ROCm version go into the directory of
    /// its release.
    pub fn of(label: Option<&LabelParts>) -> Self {
        Self::with(
            label.map(|parts| &parts.accelerator),
            label.and_then(|parts| parts.torch.as_ref()),
        )
    }

    fn with(accelerator: Option<&Accelerator>, torch: Option<&Version>) -> Self {
        match accelerator {
            Some(Accelerator::Rocm(rocm)) => Self::Rocm(rocm.release(), torch.map(cut)),
            Some(Accelerator::Cuda(digits)) => Self::Cuda(digits.clone(), torch.map(cut)),
            None => Self::Any,
        }
    }

    /// Returns the torch version of the directory, as labels write it.
    pub fn torch(&self) -> Option<String> {
        match self {
            Self::Rocm(_, torch) | Self::Cuda(_, torch) => torch.as_ref().map(torch_text),
            Self::Any => None,
        }
    }

    /// Returns a heading that says what the files run on: `ROCm 6.2 with torch 2.5`.
    pub fn title(&self) -> String {
        let accelerator = match self {
            Self::Rocm(rocm, _) => format!("ROCm {}", short(rocm)),
            Self::Cuda(digits, _) => format!("CUDA {digits}"),
            Self::Any => return "Not specific to a ROCm or torch version".to_owned(),
        };
        self.torch().map_or_else(
            || accelerator.clone(),
            |torch| format!("{accelerator} with torch {torch}"),
        )
    }

    fn rank(&self) -> (u8, [u32; 4], u64, Option<&Version>) {
        match self {
            Self::Rocm(rocm, torch) => (2, rocm.parts(), 0, torch.as_ref()),
            Self::Cuda(digits, torch) => (1, [0; 4], digits.parse().unwrap_or(0), torch.as_ref()),
            Self::Any => (0, [0; 4], 0, None),
        }
    }
}

impl Ord for IndexFolder {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        if self == other {
            return std::cmp::Ordering::Equal;
        }
        other
            .rank()
            .cmp(&self.rank())
            .then_with(|| self.to_string().cmp(&other.to_string()))
    }
}

impl PartialOrd for IndexFolder {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for IndexFolder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rocm(rocm, _) => write!(f, "rocm{}", short(rocm))?,
            Self::Cuda(digits, _) => write!(f, "cu{digits}")?,
            Self::Any => f.write_str("any")?,
        }
        self.torch()
            .map_or(Ok(()), |torch| write!(f, "-torch{torch}"))
    }
}

/// Returns at least major and minor, without trailing zeros: `6.2.0` and `6.2` share a directory.
fn short(rocm: &RocmVersion) -> String {
    let parts = rocm.parts();
    let length = parts
        .iter()
        .rposition(|part| *part != 0)
        .map_or(2, |last| (last + 1).max(2));
    parts[..length]
        .iter()
        .map(u32::to_string)
        .collect::<Vec<_>>()
        .join(".")
}

fn cut(torch: &Version) -> Version {
    let printed = torch_text(torch);
    if printed == torch.as_str() {
        torch.clone()
    } else {
        printed.parse().unwrap_or_else(|_| torch.public())
    }
}

#[cfg(test)]
mod tests {
    use super::IndexFolder;
    use rock_names::{Accelerator, LabelParts};

    fn folder(accelerator: &str, torch: Option<&str>) -> IndexFolder {
        let accelerator = accelerator.parse().map_or_else(
            |_| Accelerator::Cuda(accelerator.to_owned()),
            Accelerator::Rocm,
        );
        IndexFolder::of(Some(&LabelParts {
            accelerator,
            torch: torch.map(|t| t.parse().unwrap()),
            git: None,
            backend: None,
            cxx11abi: None,
        }))
    }

    #[test]
    fn a_folder_names_one_rocm_and_one_torch_minor() {
        let name = |rocm, torch| folder(rocm, torch).to_string();
        assert_eq!(name("6.2", Some("2.5.1")), "rocm6.2-torch2.5");
        assert_eq!(name("6.2.4", Some("2.10.0")), "rocm6.2.4-torch2.10");
        assert_eq!(
            name("7.14", Some("2.15.0.dev20261101")),
            "rocm7.14-torch2.15dev20261101"
        );
        assert_eq!(
            name("10.1", Some("2.15.0a0+rocm10.1")),
            "rocm10.1-torch2.15a0"
        );
        assert_eq!(name("5.2", None), "rocm5.2");
        assert_eq!(name("124", Some("2.5")), "cu124-torch2.5");
        assert_eq!(IndexFolder::of(None).to_string(), "any");
    }

    #[test]
    fn patches_of_one_torch_share_a_folder_and_the_newest_is_first() {
        assert_eq!(folder("6.2", Some("2.5.0")), folder("6.2.0", Some("2.5.1")));
        let mut folders = [
            IndexFolder::Any,
            folder("7.2", Some("2.9")),
            folder("124", Some("2.5")),
            folder("7.14", Some("2.14")),
            folder("7.2", Some("2.10")),
            folder("7.2", None),
        ];
        folders.sort();
        let names: Vec<String> = folders.iter().map(ToString::to_string).collect();
        assert_eq!(
            names,
            [
                "rocm7.14-torch2.14",
                "rocm7.2-torch2.10",
                "rocm7.2-torch2.9",
                "rocm7.2",
                "cu124-torch2.5",
                "any"
            ]
        );
    }
}
