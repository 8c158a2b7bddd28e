//! Small texts of `/proc` and `/etc`.

use std::collections::{BTreeMap, BTreeSet};

/// Memory of the machine.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Memory {
    /// `MemTotal`.
    pub total_bytes: u64,
    /// `MemAvailable`.
    pub available_bytes: u64,
}

/// What `/proc/self/status` says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Process {
    /// The effective user.
    pub uid: u32,
    /// The effective and the supplementary groups.
    pub groups: BTreeSet<u32>,
    /// How many CPUs this process may run on.
    pub cpus_allowed: Option<u32>,
}

/// Parses `/proc/meminfo` (proc(5)): `Name:  N kB`.
pub fn parse_meminfo(text: &str) -> Option<Memory> {
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
    Some(Memory {
        total_bytes,
        available_bytes,
    })
}

/// Parses `/proc/self/status` (proc(5)).
pub fn parse_status(text: &str) -> Option<Process> {
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
    Some(Process {
        uid: effective("Uid")?,
        groups,
        cpus_allowed: field("Cpus_allowed_list")
            .and_then(count_cpu_list)
            .filter(|count| *count > 0),
    })
}

/// How many CPUs a list such as `0-3,7` names.
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

/// Counts the CPUs of `/proc/stat`: lines that start with `cpu` and a number.
pub fn count_online_cpus(stat: &str) -> u32 {
    let is_cpu = |line: &&str| {
        line.strip_prefix("cpu")
            .is_some_and(|rest| rest.starts_with(|first: char| first.is_ascii_digit()))
    };
    u32::try_from(stat.lines().filter(is_cpu).count()).unwrap_or(u32::MAX)
}

/// Names of groups by number out of `/etc/group` (group(5)): `name:password:gid:members`.
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

/// What says that this process runs in a container: the engine's marker files, the variable
/// `container`, or the name of the control group.
pub fn container_hint(
    marker_files: &[&str],
    variable: Option<&str>,
    cgroup: &str,
) -> Option<String> {
    if let Some(file) = marker_files.first() {
        return Some(format!("`{file}` is there"));
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
        .map(|word| format!("the control group's name has `{word}`"))
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
            Memory {
                total_bytes: 16 << 20,
                available_bytes: 8 << 20
            }
        );
        assert_eq!(parse_meminfo("MemTotal: lots\n"), None);
    }

    #[test]
    fn the_status_gives_the_effective_ids_all_groups_and_the_cpus() {
        let text = "Name:\tx\nUid:\t0\t1000\t0\t0\nGid:\t7\t1000\t7\t7\nGroups:\t44 105 \nCpus_allowed_list:\t0-3,7\n";
        let process = parse_status(text).unwrap();
        assert_eq!(
            process,
            Process {
                uid: 1000,
                groups: [44, 105, 1000].into(),
                cpus_allowed: Some(5)
            }
        );
        assert_eq!(parse_status("Name:\tx\n"), None);
    }

    #[test]
    fn cpu_lists_are_counted_and_nonsense_is_refused() {
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
    fn group_names_are_found_by_number_and_bad_lines_are_passed_over() {
        let names = parse_groups("root:x:0:\nvideo:x:44:me\nbroken\nrender:x:105:\nalias:x:44:\n");
        assert_eq!(names.get(&44).map(String::as_str), Some("video"));
        assert_eq!(names.len(), 3);
    }

    #[test]
    fn a_container_is_known_by_its_marker_its_variable_or_its_control_group() {
        assert_eq!(
            container_hint(&["/.dockerenv"], None, "").as_deref(),
            Some("`/.dockerenv` is there")
        );
        assert_eq!(
            container_hint(&[], Some("podman"), "").as_deref(),
            Some("the variable `container` is `podman`")
        );
        let cgroup = "0::/kubepods/besteffort/pod1\n";
        assert_eq!(
            container_hint(&[], None, cgroup).as_deref(),
            Some("the control group's name has `kubepods`")
        );
        assert_eq!(container_hint(&[], None, "4:memory:/user.slice\n"), None);
    }
}
