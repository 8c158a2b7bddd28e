//! Commands that install a published wheel.

use super::Compat;
use rock_names::{RocmVersion, Version};

/// A torch wheel in the official index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TorchWheel {
    /// The requirement (PEP 508), `torch==2.5.1+rocm6.2`.
    pub requirement: String,
    /// The URL of the index.
    pub index: String,
}

/// `pip` commands that install a wheel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstallCommands {
    /// The command if torch is already installed, or not needed.
    pub with_torch: String,
    /// The command that installs torch too; `None` if no official torch wheel is known.
    pub from_nothing: Option<String>,
}

impl Compat {
    /// Returns the newest official wheel of a torch minor version for a ROCm version.
    pub fn official_torch(&self, minor: &str, rocm: &RocmVersion) -> Option<TorchWheel> {
        let row = self.tables().torch.iter().find(|row| row.torch == minor)?;
        let newest = row.patches.last()?;
        let of_minor = rocm.minor();
        let indexes = || {
            row.rocm_index
                .iter()
                .filter_map(|text| Some((text, text.parse::<RocmVersion>().ok()?)))
        };
        let exact = indexes()
            .find(|(_, index)| index == rocm)
            .or_else(|| indexes().find(|(_, index)| *index == of_minor));
        // A local version label names the minor version, even if the index is for a patch version.
        let (suffix, _) = exact.or_else(|| indexes().find(|(_, index)| index.minor() == *rocm))?;
        let index = self.torch_index("pytorch-index", &newest.parse::<Version>().ok()?, rocm)?;
        Some(TorchWheel {
            requirement: format!("torch=={newest}+rocm{suffix}"),
            index: index.address.replace("{rocm}", suffix),
        })
    }
}

impl InstallCommands {
    /// Returns the commands for `target`, which is the quoted URL of a wheel, or a requirement that
    /// the index at the quoted URL `index` has. `index` is the first extra index, because uv takes
    /// a package from the first index that has it; pip takes the pinned version from any.
    pub fn new(target: &str, index: Option<&str>, torch: Option<&TorchWheel>) -> Self {
        let index = index
            .map(|index| format!(" --extra-index-url {index}"))
            .unwrap_or_default();
        let from_nothing = torch.map(
            |TorchWheel {
                 requirement,
                 index: of_torch,
             }| {
                format!("pip install {requirement} {target}{index} --extra-index-url {of_torch}")
            },
        );
        Self {
            with_torch: format!("pip install {target}{index}"),
            from_nothing,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::InstallCommands;
    use crate::Compat;

    #[test]
    fn torch_comes_from_the_official_index_of_its_rocm() {
        let wheel = |minor: &str, rocm: &str| {
            let wheel = Compat::embedded().official_torch(minor, &rocm.parse().unwrap())?;
            Some(format!("{} {}", wheel.requirement, wheel.index))
        };
        let expected = "torch==2.5.1+rocm6.2 https://download.pytorch.org/whl/rocm6.2";
        assert_eq!(wheel("2.5", "6.2").as_deref(), Some(expected));
        let expected = "torch==2.6.0+rocm6.2.4 https://download.pytorch.org/whl/rocm6.2.4";
        assert_eq!(wheel("2.6", "6.2.4").as_deref(), Some(expected));
        assert_eq!(
            wheel("2.6", "6.2").as_deref(),
            Some(expected),
            "a label names the minor"
        );
        assert_eq!(wheel("2.9", "7.2"), None);
        assert_eq!(wheel("2.99", "7.2"), None);
    }

    #[test]
    fn a_line_from_nothing_names_torch_and_both_indexes() {
        let torch = Compat::embedded().official_torch("2.5", &"6.2".parse().unwrap());
        let lines = InstallCommands::new(
            "a==1+rocm62torch2.5",
            Some("https://e.org/simple/"),
            torch.as_ref(),
        );
        assert_eq!(
            lines.with_torch,
            "pip install a==1+rocm62torch2.5 --extra-index-url https://e.org/simple/"
        );
        assert_eq!(
            lines.from_nothing.as_deref(),
            Some(
                "pip install torch==2.5.1+rocm6.2 a==1+rocm62torch2.5 --extra-index-url https://e.org/simple/ \
                 --extra-index-url https://download.pytorch.org/whl/rocm6.2"
            )
        );
        let lines = InstallCommands::new("https://e.org/a-1-py3-none-any.whl", None, None);
        assert_eq!(
            lines.with_torch,
            "pip install https://e.org/a-1-py3-none-any.whl"
        );
        assert_eq!(lines.from_nothing, None);
    }
}
