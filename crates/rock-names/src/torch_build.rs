//! The accelerator that a torch wheel was built for, by its local version label.

use super::{LocalLabel, RocmVersion, Version};

/// The accelerator that a torch wheel was built for.
///
/// ```
/// use rock_names::TorchBuild;
///
/// let build = TorchBuild::of(&"2.9.0+rocm6.4".parse()?);
/// assert_eq!(build, Some(TorchBuild::Rocm("6.4".parse()?)));
/// let build = TorchBuild::of(&"2.9.0+cu128".parse()?);
/// assert_eq!(build, Some(TorchBuild::Cuda));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TorchBuild {
    /// ROCm, with its version.
    Rocm(RocmVersion),
    /// CUDA.
    Cuda,
    /// No accelerator: the CPU alone.
    Cpu,
    /// Intel GPUs.
    Xpu,
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
        // `cpu.cxx11.abi`, `xpu`, `cuda`, `cuda12.4`, `cu128`.
        match label.split('.').next()? {
            "cpu" => Some(Self::Cpu),
            "xpu" => Some(Self::Xpu),
            "cuda" => Some(Self::Cuda),
            name => {
                let version = name
                    .strip_prefix("cuda")
                    .or_else(|| name.strip_prefix("cu"))?;
                version
                    .starts_with(|c: char| c.is_ascii_digit())
                    .then_some(Self::Cuda)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::TorchBuild;

    #[test]
    fn labels_of_torch_name_accelerators() {
        let build = |torch: &str| TorchBuild::of(&torch.parse().unwrap());
        let rocm = |version: &str| Some(TorchBuild::Rocm(version.parse().unwrap()));
        for (torch, expect) in [
            ("2.9.0+rocm6.4", rocm("6.4")),
            ("2.9.0+ROCm6.4", rocm("6.4")),
            ("2.9.0+rocm7.0.2.git1234567", rocm("7.0.2")),
            ("2.9.0+cu128", Some(TorchBuild::Cuda)),
            ("2.5.1+cu118.with.pypi.cudnn", Some(TorchBuild::Cuda)),
            ("2.9.0+cuda12.4", Some(TorchBuild::Cuda)),
            ("2.9.0+cuda", Some(TorchBuild::Cuda)),
            ("2.9.0+cpu", Some(TorchBuild::Cpu)),
            ("2.5.1+cpu.cxx11.abi", Some(TorchBuild::Cpu)),
            ("2.9.0+xpu", Some(TorchBuild::Xpu)),
            ("2.9.0", None),
            ("2.9.0a0+git1234567", None),
            ("2.9.0+custom", None),
        ] {
            assert_eq!(build(torch), expect, "{torch}");
        }
    }
}
