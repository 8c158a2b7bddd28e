//! Combinations: the identity of a wheel without its Python and platform.

use super::{Accelerator, Version, WheelIdentity, cuda_version};

/// The distribution, version, accelerator, torch version and backend of a wheel.
///
/// Compact and dotted labels give equal combinations. Combinations are ordered by field, so torch
/// 2.10 follows 2.9.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Combination {
    /// The normalized name of the distribution.
    pub distribution: String,
    /// The public version.
    pub version: Version,
    /// The first 7 hex digits of the commit; `None` for a release.
    pub git: Option<String>,
    /// The accelerator; `None` without a label.
    pub accelerator: Option<Accelerator>,
    /// Major and minor version of torch, with the suffix of a prerelease.
    pub torch: Option<Version>,
    /// The backend; `None` for the default one.
    pub backend: Option<String>,
}

/// The number of hex digits of a commit in a label.
const GIT_DIGITS: usize = 7;

impl Combination {
    /// Returns the combination of a wheel.
    pub fn of(identity: &WheelIdentity) -> Self {
        let tail = identity.torch_prerelease().unwrap_or_default();
        Self {
            distribution: identity.distribution().normalized(),
            version: identity.version().clone(),
            git: identity
                .git()
                .map(|git| git.get(..GIT_DIGITS).unwrap_or(git).to_owned()),
            accelerator: identity.accelerator().cloned(),
            torch: identity.torch_minor().map(|torch| {
                format!("{torch}{tail}")
                    .parse()
                    .unwrap_or_else(|_| torch.clone())
            }),
            backend: identity.backend().map(str::to_owned),
        }
    }

    /// Returns the version and the commit, `2.8.4 git 4a948e9`.
    pub fn version_text(&self) -> String {
        self.git.as_ref().map_or_else(
            || self.version.to_string(),
            |git| format!("{} git {git}", self.version),
        )
    }

    /// Returns the version of the accelerator.
    pub fn accelerator_version(&self) -> Option<String> {
        self.accelerator
            .as_ref()
            .map(|accelerator| match accelerator {
                Accelerator::Rocm(rocm) => rocm.to_string(),
                Accelerator::Cuda(digits) => cuda_version(digits),
            })
    }

    /// Returns the name of the accelerator for headings.
    pub fn accelerator_name(&self) -> &'static str {
        match &self.accelerator {
            Some(Accelerator::Rocm(_)) => "ROCm",
            Some(Accelerator::Cuda(_)) => "CUDA",
            None => "No accelerator",
        }
    }

    /// Returns the torch version as printed in labels.
    pub fn torch_text(&self) -> Option<String> {
        self.torch.as_ref().map(torch_text)
    }

    /// Returns the backend, or `default`.
    pub fn backend_text(&self) -> &str {
        self.backend.as_deref().unwrap_or("default")
    }

    /// Returns a summary of the known parts, `ROCm 6.2, torch 2.5, triton`.
    pub fn runs_with(&self) -> String {
        let accelerator = self
            .accelerator_version()
            .map(|version| format!("{} {version}", self.accelerator_name()));
        let torch = self.torch_text().map(|torch| format!("torch {torch}"));
        let parts: Vec<String> = [accelerator, torch, self.backend.clone()]
            .into_iter()
            .flatten()
            .collect();
        if parts.is_empty() {
            "no label".to_owned()
        } else {
            parts.join(", ")
        }
    }
}

/// Returns a torch version as printed in labels: major, minor and the suffix of a prerelease,
/// `2.15dev20261101`.
pub fn torch_text(torch: &Version) -> String {
    format!("{}{}", torch.minor(), torch.prerelease_suffix())
}

#[cfg(test)]
mod tests {
    use super::Combination;
    use crate::WheelIdentity;

    fn of(label: &str) -> Combination {
        let name = format!("flash_attn-2.8.3+{label}-cp312-cp312-linux_x86_64.whl");
        Combination::of(&WheelIdentity::parse(&name, &[]).unwrap())
    }

    #[test]
    fn both_spellings_and_any_length_of_commit_are_one_combination() {
        assert_eq!(of("rocm62torch2.5triton"), of("rocm6.2torch2.5triton"));
        assert_eq!(
            of("rocm72torch2.14git4a948e9"),
            of("rocm7.2torch2.14git4a948e912")
        );
        assert_ne!(
            of("rocm72torch2.14git4a948e9"),
            of("rocm72torch2.14git4a948e8")
        );
        assert_ne!(of("rocm62torch2.5"), of("rocm62torch2.5triton"));
    }

    #[test]
    fn ten_follows_nine_and_a_nightly_comes_before_its_release() {
        let mut all = [
            "rocm72torch2.15",
            "rocm72torch2.10",
            "rocm72torch2.15dev20261101",
            "rocm72torch2.9",
        ]
        .map(of);
        all.sort();
        let torch: Vec<String> = all.iter().filter_map(Combination::torch_text).collect();
        assert_eq!(torch, ["2.9", "2.10", "2.15dev20261101", "2.15"]);
    }
}
