//! The accelerator that a torch wheel was built for, by its local version label.

use super::{LocalLabel, RocmVersion, Version, cuda_version};

/// The accelerator that a torch wheel was built for.
///
/// ```
/// use rock_names::TorchBuild;
///
/// let build = TorchBuild::of(&"2.9.0+rocm6.4".parse()?);
/// assert_eq!(build, Some(TorchBuild::Rocm("6.4".parse()?)));
/// let build = TorchBuild::of(&"2.9.0+cu128".parse()?);
/// assert_eq!(build, Some(TorchBuild::Other("CUDA 12.8".to_owned())));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TorchBuild {
    /// ROCm, with its version.
    Rocm(RocmVersion),
    /// Another accelerator, in words: `CUDA 12.8`.
    Other(String),
}

impl TorchBuild {
    /// Returns the accelerator in the local version label of a torch version; `None` if it has no
    /// label, or one that names none.
    pub fn of(torch: &Version) -> Option<Self> {
        let label = LocalLabel::of(torch)?;
        let label = label.as_str();
        if let Some(rocm) = label.strip_prefix("rocm") {
            return RocmVersion::from_leading_numbers(rocm).map(Self::Rocm);
        }
        // `cu128`, `cpu`, `cpu.cxx11.abi`, `xpu`.
        let name = label.split('.').next().unwrap_or(label);
        let other = match (name, name.strip_prefix("cu")) {
            ("cpu", _) => "the CPU".to_owned(),
            ("xpu", _) => "Intel GPUs".to_owned(),
            (_, Some(digits)) if digits.starts_with(|c: char| c.is_ascii_digit()) => {
                format!("CUDA {}", cuda_version(digits))
            }
            _ => return None,
        };
        Some(Self::Other(other))
    }
}

#[cfg(test)]
mod tests {
    use super::TorchBuild;

    #[test]
    fn labels_of_torch_name_accelerators() {
        let build = |torch: &str| TorchBuild::of(&torch.parse().unwrap());
        let rocm = |version: &str| Some(TorchBuild::Rocm(version.parse().unwrap()));
        let other = |name: &str| Some(TorchBuild::Other(name.to_owned()));
        for (torch, expect) in [
            ("2.9.0+rocm6.4", rocm("6.4")),
            ("2.9.0+ROCm6.4", rocm("6.4")),
            ("2.9.0+rocm7.0.2.git1234567", rocm("7.0.2")),
            ("2.9.0+cu128", other("CUDA 12.8")),
            ("2.5.1+cu118.with.pypi.cudnn", other("CUDA 11.8")),
            ("2.9.0+cpu", other("the CPU")),
            ("2.5.1+cpu.cxx11.abi", other("the CPU")),
            ("2.9.0+xpu", other("Intel GPUs")),
            ("2.9.0", None),
            ("2.9.0a0+git1234567", None),
            ("2.9.0+custom", None),
        ] {
            assert_eq!(build(torch), expect, "{torch}");
        }
    }
}
