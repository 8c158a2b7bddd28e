//! The weights of a decision, and compatibility data about wheels used with other versions.

use std::collections::BTreeMap;

use rock_compat::Compat;

/// The weights of mismatches and the costs of assumptions. They only order wheels. Larger values
/// are harder to change: from the processor of a machine down to what a single command installs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MatchWeights {
    /// A different operating system or processor.
    pub system: u64,
    /// A different C library.
    pub libc_kind: u64,
    /// An older C library, in addition to the steps to the required version.
    pub libc: u64,
    /// No code for any of the GPUs.
    pub gfx: u64,
    /// A wheel for something other than ROCm.
    pub accelerator: u64,
    /// A different ROCm version, in addition to the steps to it.
    pub rocm: u64,
    /// A different torch series, in addition to the steps to it.
    pub torch: u64,
    /// A different Python version, in addition to the steps to it.
    pub python: u64,
    /// The other build of Python: with or without its global lock.
    pub python_build: u64,
    /// A backend other than the requested one.
    pub backend: u64,
    /// A step from one major version to the next.
    pub major_step: u64,
    /// The maximum number of major version steps that count.
    pub most_major_steps: u64,
    /// The maximum number of minor version steps that count.
    pub most_minor_steps: u64,
    /// Assumption: a wheel whose tag names no C library fits.
    pub unsaid_libc: u64,
    /// Assumption: the machine's C library is new enough.
    pub unknown_libc: u64,
    /// Assumption: a wheel has code for this GPU.
    pub unsaid_gfx: u64,
    /// A wheel without code for one of several GPUs.
    pub partial_gfx: u64,
    /// Assumption: a wheel whose name does not say what it is for is for this ROCm.
    pub unsaid_rocm: u64,
    /// A different ROCm version or torch series that the compatibility data allows, in addition to
    /// the steps to it.
    pub other_rocm: u64,
}

/// The weights that are used.
pub const WEIGHTS: MatchWeights = MatchWeights {
    system: 1000,
    libc_kind: 900,
    libc: 100,
    gfx: 400,
    accelerator: 800,
    rocm: 20,
    torch: 20,
    python: 30,
    python_build: 15,
    backend: 10,
    major_step: 100,
    most_major_steps: 20,
    most_minor_steps: 90,
    unsaid_libc: 1,
    unknown_libc: 5,
    unsaid_gfx: 50,
    partial_gfx: 20,
    unsaid_rocm: 60,
    other_rocm: 1,
};

/// Compatibility data about a wheel used with another version than it was built for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VersionReach {
    /// Whether the wheel runs.
    pub fits: bool,
    /// The reason, its confidence, and the date of the last check. `compat list reach` shows the
    /// source.
    pub said: String,
}

/// The rules of a decision, from the compatibility data.
#[derive(Debug, Clone)]
pub struct MatchRules {
    /// Reach by subject and case: `rocm newer-minor`.
    pub reach: BTreeMap<String, VersionReach>,
    /// HIP and ROCm minor versions that differ, `7.15` and `10.0`.
    pub hip: Vec<[String; 2]>,
}

impl MatchRules {
    /// Creates the rules from the compatibility data.
    pub fn of(compat: &Compat) -> Self {
        let row = |row: &rock_compat::rows::ReachRow| {
            let name = format!("{} {}", row.about, row.when);
            let runtimes = if name == "rocm other-major" {
                hip_runtimes(compat)
            } else {
                String::new()
            };
            let said = format!(
                "{}{runtimes} ({}, checked {})",
                row.why,
                row.origin.status.as_str(),
                row.origin.checked
            );
            (
                name,
                VersionReach {
                    fits: row.fits,
                    said,
                },
            )
        };
        let hip = compat
            .hip_pairs()
            .map(|(hip, rocm)| [hip.to_owned(), rocm.to_owned()])
            .collect();
        Self {
            reach: compat.library_tables().reach.iter().map(row).collect(),
            hip,
        }
    }

    /// Returns the reach of a wheel in this case. Without data, the wheel does not fit.
    pub fn reach(&self, about: &str, when: &str) -> Option<&VersionReach> {
        self.reach.get(&format!("{about} {when}"))
    }
}

/// Returns the names of the HIP runtime by ROCm major version, after a colon:
/// `: libamdhip64.so.6 in ROCm 6, libamdhip64.so.7 in ROCm 7`.
fn hip_runtimes(compat: &Compat) -> String {
    let rows = compat.library_tables().sonames.iter();
    let names: Vec<String> = rows
        .filter(|row| row.soname.starts_with(HIP_RUNTIME))
        .map(|row| format!("{} in ROCm {}", row.soname, row.rocm))
        .collect();
    if names.is_empty() {
        String::new()
    } else {
        format!(": {}", names.join(", "))
    }
}

/// The library that every program for ROCm needs.
const HIP_RUNTIME: &str = "libamdhip64.so.";

impl MatchWeights {
    /// Returns the distance between two versions by major and minor.
    pub fn steps(&self, from: (u64, u64), to: (u64, u64)) -> u64 {
        match from.0.abs_diff(to.0) {
            0 => from.1.abs_diff(to.1).min(self.most_minor_steps),
            majors => majors.min(self.most_major_steps) * self.major_step,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::MatchRules;
    use rock_compat::Compat;

    #[test]
    fn another_major_is_explained_with_the_runtime_of_each() {
        let rules = MatchRules::of(&Compat::embedded());
        let said = &rules.reach("rocm", "other-major").unwrap().said;
        assert!(
            said.starts_with(
                "the libraries have different names in another major: libamdhip64.so.4 in ROCm 4, \
                 libamdhip64.so.5 in ROCm 5, libamdhip64.so.6 in ROCm 6, libamdhip64.so.7 in ROCm 7 ("
            ),
            "{said}"
        );
    }
}
