//! Parsers of files in `/proc` and `/etc`.

use std::collections::{BTreeMap, BTreeSet};

/// The memory of the machine, from `/proc/meminfo`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MemoryInfo {
    /// `MemTotal` in bytes.
    pub total_bytes: u64,
    /// `MemAvailable` in bytes, or `MemFree` on kernels without it.
    pub available_bytes: u64,
}

/// The user, groups and CPUs of a process, from `/proc/self/status`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProcessInfo {
    /// The effective user ID.
    pub uid: u32,
    /// The IDs of the effective and the supplementary groups.
    pub groups: BTreeSet<u32>,
    /// The number of CPUs that the process may run on; `None` if the kernel does not report it.
    pub cpus_allowed: Option<u32>,
}

/// Parses `/proc/meminfo` (`proc_meminfo(5)`), lines of `Name:  N kB`.
pub fn parse_meminfo(text: &str) -> Option<MemoryInfo> {
    let kib = |name: &str| -> Option<u64> {
        let rest = text
            .lines()
            .find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
        rest.trim().strip_suffix("kB")?.trim().parse().ok()
    };
    let total_bytes = kib("MemTotal")?.checked_mul(1024)?;
    let available_bytes = kib("MemAvailable")
        .or_else(|| kib("MemFree"))?
        .checked_mul(1024)?;
    Some(MemoryInfo {
        total_bytes,
        available_bytes,
    })
}

/// Parses `/proc/self/status` (`proc_pid_status(5)`). Returns `None` without the effective IDs.
pub fn parse_status(text: &str) -> Option<ProcessInfo> {
    let field = |name: &str| {
        text.lines()
            .find_map(|line| line.strip_prefix(name)?.strip_prefix(':').map(str::trim))
    };
    let effective =
        |name: &str| -> Option<u32> { field(name)?.split_whitespace().nth(1)?.parse().ok() };
    let mut groups: BTreeSet<u32> = field("Groups")
        .unwrap_or_default()
        .split_whitespace()
        .filter_map(|gid| gid.parse().ok())
        .collect();
    groups.insert(effective("Gid")?);
    Some(ProcessInfo {
        uid: effective("Uid")?,
        groups,
        cpus_allowed: field("Cpus_allowed_list")
            .and_then(count_cpu_list)
            .filter(|count| *count > 0),
    })
}

/// Counts the CPUs of a list such as `0-3,7`. Returns `None` if it is invalid.
pub fn count_cpu_list(text: &str) -> Option<u32> {
    text.trim()
        .split(',')
        .filter(|part| !part.is_empty())
        .try_fold(0u32, |sum, part| {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let (first, last): (u32, u32) = (first.parse().ok()?, last.parse().ok()?);
            sum.checked_add(last.checked_sub(first)?.checked_add(1)?)
        })
}

/// Counts the CPUs in `/proc/stat`: the lines that start with `cpu` and a number.
pub fn count_online_cpus(stat: &str) -> u32 {
    let is_cpu = |line: &&str| {
        line.strip_prefix("cpu")
            .is_some_and(|rest| rest.starts_with(|first: char| first.is_ascii_digit()))
    };
    u32::try_from(stat.lines().filter(is_cpu).count()).unwrap_or(u32::MAX)
}

/// Parses `/etc/group` (`group(5)`), lines of `name:password:gid:members`, into names by ID. The
/// first name of an ID counts; invalid lines are ignored.
pub fn parse_groups(text: &str) -> BTreeMap<u32, String> {
    let mut names = BTreeMap::new();
    for line in text.lines() {
        let mut fields = line.split(':');
        if let (Some(name), Some(gid)) = (
            fields.next(),
            fields.nth(1).and_then(|gid| gid.parse().ok()),
        ) {
            names.entry(gid).or_insert_with(|| name.to_owned());
        }
    }
    names
}

/// Returns the evidence that the process runs in a container: a marker file of an engine, the
/// environment variable `container`, or the name of a control group.
pub fn container_evidence(
    marker_files: &[&str],
    variable: Option<&str>,
    cgroup: &str,
) -> Option<String> {
    if let Some(file) = marker_files.first() {
        return Some(format!("`{file}` exists"));
    }
    if let Some(value) = variable {
        return Some(format!("the variable `container` is `{value}`"));
    }
    ["docker", "kubepods", "libpod", "lxc", "containerd"]
        .into_iter()
        .find(|word| {
            cgroup.lines().any(|line| {
                line.rsplit(':')
                    .next()
                    .is_some_and(|path| path.contains(word))
            })
        })
        .map(|word| format!("the name of the control group contains `{word}`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn meminfo_is_in_kibibytes() {
        let memory =
            parse_meminfo("MemTotal:       16384 kB\nMemFree:  1 kB\nMemAvailable:    8192 kB\n")
                .unwrap();
        assert_eq!(
            memory,
            MemoryInfo {
                total_bytes: 16 << 20,
                available_bytes: 8 << 20
            }
        );
        assert_eq!(parse_meminfo("MemTotal: lots\n"), None);
    }

    #[test]
    fn status_has_ids_groups_and_cpus() {
        let text = "Name:\tx\nUid:\t0\t1000\t0\t0\nGid:\t7\t1000\t7\t7\nGroups:\t44 105 \nCpus_allowed_list:\t0-3,7\n";
        let process = parse_status(text).unwrap();
        assert_eq!(
            process,
            ProcessInfo {
                uid: 1000,
                groups: [44, 105, 1000].into(),
                cpus_allowed: Some(5)
            }
        );
        assert_eq!(parse_status("Name:\tx\n"), None);
    }

    #[test]
    fn cpu_lists_are_counted_and_invalid_ones_rejected() {
        assert_eq!(count_cpu_list("0\n"), Some(1));
        assert_eq!(count_cpu_list("0-191"), Some(192));
        for text in ["3-1", "a", "0-"] {
            assert_eq!(count_cpu_list(text), None, "{text}");
        }
        assert_eq!(
            count_online_cpus("cpu  1 2\ncpu0 1\ncpu1 1\nintr 5\ncpufreq 1\n"),
            2
        );
    }

    #[test]
    fn group_names_are_found_by_id() {
        let names = parse_groups("root:x:0:\nvideo:x:44:me\nbroken\nrender:x:105:\nalias:x:44:\n");
        assert_eq!(names.get(&44).map(String::as_str), Some("video"));
        assert_eq!(names.len(), 3);
    }

    #[test]
    fn a_container_has_a_marker_a_variable_or_a_control_group() {
        assert_eq!(
            container_evidence(&["/.dockerenv"], None, "").as_deref(),
            Some("`/.dockerenv` exists")
        );
        assert_eq!(
            container_evidence(&[], Some("podman"), "").as_deref(),
            Some("the variable `container` is `podman`")
        );
        let cgroup = "0::/kubepods/besteffort/pod1\n";
        assert_eq!(
            container_evidence(&[], None, cgroup).as_deref(),
            Some("the name of the control group contains `kubepods`")
        );
        assert_eq!(
            container_evidence(&[], None, "4:memory:/user.slice\n"),
            None
        );
    }
}
