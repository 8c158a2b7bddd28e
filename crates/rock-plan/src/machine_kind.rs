//! The machines that jobs run on: one runner, or the members of a pool.

use sha2::{Digest as _, Sha256};

use crate::config::RunnerSelector;
use rock_compat::Compat;
use rock_compat::rows::RunnerRow;

/// Minutes between the timeout and the runner's own limit, so that a job ends by its timeout and is
/// not lost.
const BEFORE_LIMIT_MIN: u32 = 5;
/// Minutes between the cap of a build and the timeout of its job: enough to save a compiler cache
/// of a few GiB.
const AFTER_CAP_MIN: u32 = 25;
/// Default limit of a runner, and default lifetime of a job's token, if the compatibility data has
/// none: one day.
const DAY_MIN: u32 = 1440;

/// A kind of machine that runs jobs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MachineKind {
    /// Runner labels for `runs-on`.
    pub labels: Vec<String>,
    /// Runner group for `runs-on`.
    pub group: Option<String>,
    /// Relative frequency with which it is chosen among the members of its pool.
    pub weight: u32,
    /// The architecture, such as `x86_64`.
    pub arch: String,
    /// Whether it can run containers.
    pub docker: bool,
    /// Number of hardware threads, if known.
    pub threads: Option<u32>,
    /// Free disk space in GiB, if known, including the space that a rendered workflow frees first.
    pub disk_gib: Option<u32>,
    /// Minutes after which the runner stops a job, if it does.
    pub limit_min: Option<u32>,
    /// Minutes after which the workflow stops a job.
    pub timeout_min: u32,
}

impl MachineKind {
    /// Returns the minutes after the start of a job at which its build stops itself.
    pub fn cap_min(&self) -> u32 {
        self.timeout_min.saturating_sub(AFTER_CAP_MIN).max(1)
    }

    fn of(
        (group, labels): (Option<String>, Vec<String>),
        row: Option<&RunnerRow>,
        weight: u32,
        compat: &Compat,
    ) -> Self {
        let limit = |name: &str| {
            compat
                .limit(name)
                .and_then(|row| u32::try_from(row.value).ok())
        };
        let limit_min = row.and_then(|row| row.limit_min);
        let longest = limit_min
            .or_else(|| limit("self-hosted-job"))
            .unwrap_or(DAY_MIN);
        let token = limit("job-token").unwrap_or(DAY_MIN);
        let of_labels = || {
            labels
                .iter()
                .find_map(|label| arch_of_label(label))
                .unwrap_or(DEFAULT_ARCH)
        };
        Self {
            arch: row
                .map_or_else(of_labels, |row| row.arch.as_str())
                .to_owned(),
            group,
            labels,
            weight,
            docker: row.is_none_or(|row| row.docker),
            threads: row.and_then(|row| row.threads),
            disk_gib: row.and_then(|row| Some(row.disk_gib? + row.freed_gib.unwrap_or(0))),
            limit_min,
            timeout_min: longest.saturating_sub(BEFORE_LIMIT_MIN).min(token).max(1),
        }
    }
}

/// The architecture of runners without a row or a label that states it.
const DEFAULT_ARCH: &str = "x86_64";

/// Returns the architecture that a label names: GitHub labels self-hosted runners `X64` or `ARM64`.
pub(super) fn arch_of_label(label: &str) -> Option<&'static str> {
    match label.to_ascii_lowercase().as_str() {
        "x64" | "x86_64" | "amd64" => Some("x86_64"),
        "arm64" | "aarch64" => Some("aarch64"),
        _ => None,
    }
}

/// Returns the machines that a selector matches. A single label selects the runner with this name,
/// label or alias, or the members of the pool with this name; otherwise the machine has the group
/// and labels as written.
pub(super) fn machines_of(runner: &RunnerSelector, compat: &Compat) -> Vec<MachineKind> {
    let RunnerSelector {
        group: None,
        labels,
    } = runner
    else {
        return vec![MachineKind::of(
            (runner.group.clone(), runner.labels.clone()),
            None,
            1,
            compat,
        )];
    };
    let [word] = labels.as_slice() else {
        let is_known = |row: &&RunnerRow| {
            row.labels.len() == labels.len() && labels.iter().all(|l| row.labels.contains(l))
        };
        let row = compat.tables().runners.iter().find(is_known);
        return vec![MachineKind::of((None, labels.clone()), row, 1, compat)];
    };
    let machine = |word: &str, weight: u32| {
        let row = compat.runner(word);
        let labels = row.map_or_else(|| vec![word.to_owned()], |row| row.labels.clone());
        MachineKind::of((None, labels), row, weight, compat)
    };
    match compat.pool(word) {
        Some(pool) => pool
            .members
            .iter()
            .map(|member| machine(&member.runner, member.weight))
            .collect(),
        None => vec![machine(word, 1)],
    }
}

/// Returns the machine of a job among those of its pool. It is chosen by a hash of the job's ID, so
/// that a job stays on one kind of machine whatever other jobs there are.
///
/// # Panics
/// If `machines` is empty, which cannot happen: every pool has members, and every member has a
/// weight (`compat::validate_tables`).
pub(super) fn chosen(machines: &[MachineKind], id: impl FnOnce() -> String) -> &MachineKind {
    let total: u64 = machines
        .iter()
        .map(|machine| u64::from(machine.weight))
        .sum();
    let first = machines.first().expect("a job has a machine");
    if machines.len() == 1 || total == 0 {
        return first;
    }
    let hash = Sha256::digest(id().as_bytes());
    let mut at = hash
        .iter()
        .take(8)
        .fold(0_u64, |number, byte| number << 8 | u64::from(*byte))
        % total;
    for machine in machines {
        if at < u64::from(machine.weight) {
            return machine;
        }
        at -= u64::from(machine.weight);
    }
    first
}

#[cfg(test)]
mod tests {
    use super::{MachineKind, chosen, machines_of};
    use crate::config::RunnerSelector;
    use rock_compat::Compat;

    fn one(word: &str) -> MachineKind {
        let found = machines_of(&RunnerSelector::label(word), &Compat::embedded());
        assert_eq!(found.len(), 1, "{word}");
        found[0].clone()
    }

    #[test]
    fn a_job_ends_by_its_timeout_before_the_runner_ends_it() {
        let hosted = one("ubuntu-22.04");
        assert_eq!((hosted.timeout_min, hosted.cap_min()), (355, 330));
        // The job's token lives for one day, whatever the runner allows.
        let own = one("self-hosted");
        assert_eq!((own.timeout_min, own.cap_min()), (1440, 1415));
        assert_eq!(one("some-label-of-ours").timeout_min, 1440);
    }

    #[test]
    fn several_labels_are_those_of_one_runner_and_name_its_architecture() {
        let of = |text: &str| {
            let found = machines_of(&text.parse().unwrap(), &Compat::embedded());
            (
                found[0].group.clone(),
                found[0].labels.join(" "),
                found[0].arch.clone(),
            )
        };
        let expected = |group: Option<&str>, labels: &str, arch: &str| {
            (group.map(str::to_owned), labels.to_owned(), arch.to_owned())
        };
        assert_eq!(
            of("self-hosted,linux,mi300"),
            expected(None, "self-hosted linux mi300", "x86_64")
        );
        assert_eq!(
            of("self-hosted,Linux,ARM64"),
            expected(None, "self-hosted Linux ARM64", "aarch64")
        );
        assert_eq!(
            of("group=GPU runners,linux"),
            expected(Some("GPU runners"), "linux", "x86_64")
        );
        assert_eq!(
            of("ubuntu-24.04-arm"),
            expected(None, "ubuntu-24.04-arm", "aarch64")
        );
    }

    #[test]
    fn an_old_label_gives_the_labels_of_the_day() {
        assert_eq!(
            one("linux.rocm.gpu.gfx950.1").labels,
            ["linux.rocm.gpu.mi350.1"]
        );
        assert_eq!(one("some-label-of-ours").labels, ["some-label-of-ours"]);
    }

    #[test]
    fn a_pool_of_the_facts_gives_each_member_its_share_and_each_job_one_place() {
        let compat = Compat::embedded();
        let pool = compat.pool("rocm-scale").unwrap();
        let members = machines_of(&RunnerSelector::label("rocm-scale"), &compat);
        let named = |at: usize| {
            compat
                .runner(&pool.members[at].runner)
                .unwrap()
                .labels
                .clone()
        };
        for (at, member) in members.iter().enumerate() {
            assert_eq!(
                (member.weight, &member.labels),
                (pool.members[at].weight, &named(at))
            );
        }
        let ids: Vec<String> = (0..4000)
            .map(|number| format!("flash-attn-2.8.{number}-rocm6.2"))
            .collect();
        let total: u32 = members.iter().map(|member| member.weight).sum();
        for member in &members {
            let got = ids
                .iter()
                .filter(|id| chosen(&members, || (*id).clone()).labels == member.labels)
                .count();
            let share = 4000 * member.weight as usize / total as usize;
            assert!(
                got.abs_diff(share) < 200,
                "{:?}: {got} of {share}",
                member.labels
            );
        }
        // The choice must be the same on every machine and in every release; otherwise a job would
        // not find its cache.
        let of = |id: &str| chosen(&members, || id.to_owned()).labels[0].clone();
        assert_eq!(
            of("flash-attn-2.8.3-rocm6.2-torch2.5.1-py3.11"),
            "aws-linux-scale-rocm-prod"
        );
        assert_eq!(
            of("flash-attn-2.8.3-rocm6.2-torch2.5.1-py3.12"),
            "azure-linux-scale-rocm"
        );
    }

    #[test]
    fn a_pool_is_shared_by_weight_and_a_job_stays_where_it_is() {
        let machine = |label: &str, weight: u32| MachineKind {
            labels: vec![label.to_owned()],
            weight,
            ..one("self-hosted")
        };
        let pool = [machine("a", 3), machine("b", 1)];
        let of = |id: &str| chosen(&pool, || id.to_owned()).labels[0].clone();
        let ids: Vec<String> = (0..4000).map(|number| format!("job-{number}")).collect();
        let on_a = ids.iter().filter(|id| of(id) == "a").count();
        assert!((2850..=3150).contains(&on_a), "{on_a}");
        assert!(ids.iter().all(|id| of(id) == of(id)));
        assert_eq!(
            chosen(&pool[..1], || panic!("one machine needs no id")).labels,
            ["a"]
        );
    }
}
