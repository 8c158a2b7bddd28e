//! Keys of the compiler cache that a capped build hands to its next attempt.
//!
//! What is kept is ccache's folder. Keeping the build tree instead does not work for ROCm: its sources are generated
//! anew by each run, without dependency files, so everything would be compiled again.
//!
//! Only tests call this yet: the keys are for the workflow that is rendered.

use std::collections::BTreeMap;

use sha2::{Digest as _, Sha256};

use crate::plan::Job;

/// What the compiled objects depend on beside the sources: versions by name, `rocm`, `torch`, `hipcc`, `image`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Toolchain(pub BTreeMap<String, String>);

impl Toolchain {
    /// What the plan knows of a job's toolchain; `used` is what the build recorded (`used.json`).
    pub fn of(job: &Job, used: &BTreeMap<String, String>) -> Self {
        let mut parts = used.clone();
        let planned = [
            ("plan.rocm", job.rocm.as_ref().map(ToString::to_string)),
            ("plan.torch", job.torch.as_ref().map(ToString::to_string)),
            ("plan.python", job.python.map(|python| python.to_string())),
            ("plan.image", job.image.clone()),
        ];
        parts.extend(planned.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))));
        Self(parts)
    }

    /// Sixteen hexadecimal digits that change when any part does.
    pub fn fingerprint(&self) -> String {
        let mut hash = Sha256::new();
        for (name, value) in &self.0 {
            hash.update(format!("{}:{name}={}:{value}\n", name.len(), value.len()));
        }
        hash.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect()
    }
}

/// Keys of one attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CacheKeys {
    /// Saved under this; immutable, so each attempt has its own.
    pub save: String,
    /// Prefixes to restore from, the nearest first: an earlier attempt of this run, then any run of this cell.
    pub restore: Vec<String>,
}

/// The keys of an attempt: the cell, its toolchain, the run and the attempt's number, in this order.
pub fn cache_keys(cell: &str, toolchain: &Toolchain, run: &str, attempt: u32) -> CacheKeys {
    let cell = format!("rock-ccache-{cell}-{}-", toolchain.fingerprint());
    let run = format!("{cell}{run}-");
    CacheKeys { save: format!("{run}{attempt}"), restore: vec![run, cell] }
}

#[cfg(test)]
mod tests {
    use super::{Toolchain, cache_keys};

    fn toolchain(pairs: &[(&str, &str)]) -> Toolchain {
        Toolchain(pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect())
    }

    /// B8
    #[test]
    fn a_key_pins_the_cell_the_toolchain_and_the_run() {
        let tools = toolchain(&[("rocm", "6.2"), ("hipcc", "6.2.41133")]);
        let keys = cache_keys("flash-attn-2.8.3-rocm6.2-torch2.5.1-py3.11-ck", &tools, "1234567", 2);
        let fingerprint = tools.fingerprint();
        let cell = format!("rock-ccache-flash-attn-2.8.3-rocm6.2-torch2.5.1-py3.11-ck-{fingerprint}-");
        assert_eq!(keys.save, format!("{cell}1234567-2"));
        assert_eq!(keys.restore, [format!("{cell}1234567-"), cell]);
        assert!(!keys.save.contains(','), "commas are not allowed in cache keys");
        assert!(keys.save.len() < 512);
    }

    /// B8
    #[test]
    fn another_compiler_is_another_key_and_parts_do_not_run_together() {
        let of = |pairs| toolchain(pairs).fingerprint();
        assert_ne!(of(&[("hipcc", "6.2.41133")]), of(&[("hipcc", "6.2.41134")]));
        assert_ne!(of(&[("a", "b\n1:c=1:d")]), of(&[("a", "b"), ("c", "d")]));
        assert_eq!(of(&[("a", "1"), ("b", "2")]), of(&[("b", "2"), ("a", "1")]));
    }
}
