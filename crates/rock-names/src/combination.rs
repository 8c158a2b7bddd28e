//! What a wheel is, beside Python and platform.

use super::{Accelerator, Version, WheelIdentity, cuda_version};

/// Distribution, version, accelerator, torch and backend. Both spellings of a label are one
/// combination; it sorts by field, so torch 2.10 follows 2.9.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Combination {
    /// The distribution, normalised.
    pub distribution: String,
    /// The version without its label.
    pub version: Version,
    /// The first 7 digits of the commit.
    pub git: Option<String>,
    /// What it runs on; `None` without a label.
    pub accelerator: Option<Accelerator>,
    /// Major and minor of torch, with the tail of a torch that is no release.
    pub torch: Option<Version>,
    /// The backend's tail; `None` for the default backend.
    pub backend: Option<String>,
}

/// Digits of a commit that are compared: as many as labels carry.
const GIT_DIGITS: usize = 7;

impl Combination {
    /// What a wheel's name says.
    pub fn of(identity: &WheelIdentity) -> Self {
        let tail = identity.dev.as_deref().unwrap_or_default();
        let torch = identity.torch.as_ref();
        Self {
            distribution: identity.distribution.replace('_', "-"),
            version: identity.version.clone(),
            git: identity
                .git
                .as_ref()
                .map(|git| git.get(..GIT_DIGITS).unwrap_or(git).to_owned()),
            accelerator: identity.accelerator.clone(),
            torch: torch.map(|torch| {
                format!("{torch}{tail}")
                    .parse()
                    .unwrap_or_else(|_| torch.clone())
            }),
            backend: identity.backend.clone(),
        }
    }

    /// Version and commit, `2.8.4 git 4a948e9`.
    pub fn version_text(&self) -> String {
        self.git.as_ref().map_or_else(
            || self.version.to_string(),
            |git| format!("{} git {git}", self.version),
        )
    }

    /// The accelerator's version.
    pub fn accelerator_version(&self) -> Option<String> {
        self.accelerator
            .as_ref()
            .map(|accelerator| match accelerator {
                Accelerator::Rocm(rocm) => rocm.to_string(),
                Accelerator::Cuda(digits) => cuda_version(digits),
            })
    }

    /// The accelerator's name, for headings.
    pub fn accelerator_name(&self) -> &'static str {
        match &self.accelerator {
            Some(Accelerator::Rocm(_)) => "ROCm",
            Some(Accelerator::Cuda(_)) => "CUDA",
            None => "No accelerator",
        }
    }

    /// Torch as labels print it.
    pub fn torch_text(&self) -> Option<String> {
        self.torch.as_ref().map(torch_text)
    }

    /// The backend's tail.
    pub fn backend_text(&self) -> &str {
        self.backend.as_deref().unwrap_or("default")
    }

    /// `ROCm 6.2, torch 2.5, triton`, as far as it is known.
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

/// Torch as labels print it: major, minor and the tail of one that is no release,
/// `2.15dev20261101`.
pub fn torch_text(torch: &Version) -> String {
    format!("{}{}", torch.minor(), torch.pre_tail())
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
