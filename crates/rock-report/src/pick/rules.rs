//! What a decision weighs, and what the facts say of wheels beside other versions.

use std::collections::BTreeMap;

use rock_compat::Compat;

/// How far a difference takes a wheel away, and what an assumption costs. The numbers only order
/// wheels; larger is harder to change: a machine's processor, then its GPU, its C library, and last
/// what one command installs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MatchWeights {
    /// Another operating system or processor.
    pub system: u64,
    /// Another C library.
    pub libc_kind: u64,
    /// An older C library, beside the steps to the needed one.
    pub libc: u64,
    /// No code for any of the GPUs.
    pub gfx: u64,
    /// A wheel for something else than ROCm.
    pub accelerator: u64,
    /// Another ROCm, beside the steps to it.
    pub rocm: u64,
    /// Another torch, beside the steps to it.
    pub torch: u64,
    /// Another Python, beside the steps to it.
    pub python: u64,
    /// The other build of it: with or without its global lock.
    pub python_build: u64,
    /// Another backend than the one that was asked for.
    pub backend: u64,
    /// A step from one major version to the next.
    pub major_step: u64,
    /// The most major versions that count.
    pub most_major_steps: u64,
    /// The most that steps between minor versions count.
    pub most_minor_steps: u64,
    /// Assumed: a tag that names no C library.
    pub unsaid_libc: u64,
    /// Assumed: the machine's C library is new enough.
    pub unknown_libc: u64,
    /// Assumed: a wheel has code for this GPU.
    pub unsaid_gfx: u64,
    /// A wheel without code for one of several GPUs.
    pub partial_gfx: u64,
    /// Assumed: a wheel without a label that can be read is for this ROCm.
    pub unsaid_rocm: u64,
    /// Another ROCm that the facts allow, beside the steps to it.
    pub other_rocm: u64,
}

/// The numbers that are used.
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

/// What the facts say of a wheel beside another version than it was built for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VersionReach {
    /// Whether it runs.
    pub fits: bool,
    /// Why, how sure that is, and when it was read. `compat list reach` has where.
    pub said: String,
}

/// What a decision is taken by.
#[derive(Debug, Clone)]
pub struct MatchRules {
    /// By `about when`: `rocm newer-minor`.
    pub reach: BTreeMap<String, VersionReach>,
    /// HIP and ROCm minors that differ, `7.15` and `10.0`.
    pub hip: Vec<[String; 2]>,
}

impl MatchRules {
    /// The rules out of the facts.
    pub fn of(compat: &Compat) -> Self {
        let row = |row: &rock_compat::rows::ReachRow| {
            let name = format!("{} {}", row.about, row.when);
            let said = format!(
                "{} ({}, checked {})",
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
            reach: compat.tables().reach.iter().map(row).collect(),
            hip,
        }
    }

    /// What is known of a wheel in this case; nothing known means that it does not fit.
    pub fn reach(&self, about: &str, when: &str) -> Option<&VersionReach> {
        self.reach.get(&format!("{about} {when}"))
    }
}

impl MatchWeights {
    /// Steps between two versions by major and minor.
    pub fn steps(&self, from: (u64, u64), to: (u64, u64)) -> u64 {
        match from.0.abs_diff(to.0) {
            0 => from.1.abs_diff(to.1).min(self.most_minor_steps),
            majors => majors.min(self.most_major_steps) * self.major_step,
        }
    }
}
