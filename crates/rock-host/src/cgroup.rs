//! Limits of the control groups (version 1 and 2) that a process is in.
//!
//! Sources: Linux, `admin-guide/cgroup-v1` and `admin-guide/cgroup-v2.rst`. The limits of outer
//! groups apply as well, so the effective limit is the least of all groups up to the mount.

/// The effective limits of a process.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CgroupLimits {
    /// The limit on CPU time in thousandths of a CPU. `None` if there is no limit.
    pub cpu_millis: Option<CgroupLimit>,
    /// The limit on memory in bytes. `None` if there is no limit.
    pub memory_bytes: Option<CgroupLimit>,
}

/// A limit and the control group that sets it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct CgroupLimit {
    /// The value, in thousandths of a CPU or in bytes.
    pub value: u64,
    /// The directory of the control group.
    pub directory: String,
}

/// The resource that a hierarchy limits, and the version of the files that contain the limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CgroupLimitKind {
    /// `cpu.max`.
    CpuV2,
    /// `cpu.cfs_quota_us` and `cpu.cfs_period_us`.
    CpuV1,
    /// `memory.max`.
    MemoryV2,
    /// `memory.limit_in_bytes`.
    MemoryV1,
}

/// The control groups that can set a limit for a process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CgroupHierarchy {
    /// The kind of the limit.
    pub kind: CgroupLimitKind,
    /// The directories of the control groups, from that of the process up to the mount.
    pub directories: Vec<String>,
}

/// Larger values of `memory.limit_in_bytes` mean that there is no limit: the kernel then writes the
/// largest multiple of the page size.
const NO_LIMIT_BYTES: u64 = 1 << 60;

/// A file of a control group without a valid limit. The message is the end of a sentence about the
/// file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LimitError {
    /// The file is empty.
    #[error("is empty")]
    Empty,
    /// The file contains this word instead of a number.
    #[error("holds `{}`", .0.escape_debug())]
    NotANumber(String),
}

impl CgroupLimitKind {
    /// Returns the names of the files to read in each directory. A directory without the first one
    /// sets no limit.
    pub fn files(self) -> &'static [&'static str] {
        match self {
            Self::CpuV2 => &["cpu.max"],
            Self::CpuV1 => &["cpu.cfs_quota_us", "cpu.cfs_period_us"],
            Self::MemoryV2 => &["memory.max"],
            Self::MemoryV1 => &["memory.limit_in_bytes"],
        }
    }

    /// Returns whether this is a limit on CPU time, not on memory.
    pub fn is_cpu(self) -> bool {
        matches!(self, Self::CpuV1 | Self::CpuV2)
    }

    /// Parses the texts of [`Self::files`], in their order, as thousandths of a CPU or bytes.
    /// Returns `None` if they set no limit.
    ///
    /// # Errors
    /// Returns an error if a file is empty or contains another word than a number.
    pub fn limit(self, texts: &[String]) -> Result<Option<u64>, LimitError> {
        let mut words = texts.iter().flat_map(|text| text.split_whitespace());
        let first = words.next().ok_or(LimitError::Empty)?;
        let number = |word: &str| {
            word.parse::<u64>()
                .map_err(|_| LimitError::NotANumber(word.to_owned()))
        };
        match self {
            Self::CpuV1 | Self::CpuV2 if matches!(first, "max" | "-1" | "0") => Ok(None),
            Self::CpuV1 | Self::CpuV2 => {
                let quota = number(first)?;
                // The default period of the kernel in microseconds, for a file with only a quota.
                let period = words.next().map_or(Ok(100_000), number)?;
                Ok((period > 0).then(|| quota.saturating_mul(1000) / period))
            }
            Self::MemoryV2 | Self::MemoryV1 if matches!(first, "max" | "-1") => Ok(None),
            Self::MemoryV2 | Self::MemoryV1 => {
                Ok(Some(number(first)?).filter(|bytes| *bytes < NO_LIMIT_BYTES))
            }
        }
    }
}

/// Finds the control groups of a process in the texts of `/proc/self/mountinfo` and
/// `/proc/self/cgroup`, sorted by the kind of limit.
pub fn hierarchies(mountinfo: &str, cgroup: &str) -> Vec<CgroupHierarchy> {
    let mounts: Vec<CgroupMount> = mountinfo.lines().filter_map(CgroupMount::parse).collect();
    let mut found = Vec::new();
    for line in cgroup.lines() {
        // `4:memory:/path`, and `0::/path` for version 2.
        let mut fields = line.splitn(3, ':');
        let (Some(number), Some(controllers), Some(path)) =
            (fields.next(), fields.next(), fields.next())
        else {
            continue;
        };
        let has = |name: &str| controllers.split(',').any(|controller| controller == name);
        let kinds: &[CgroupLimitKind] = match (number, controllers) {
            ("0", "") => &[CgroupLimitKind::CpuV2, CgroupLimitKind::MemoryV2],
            _ if has("cpu") => &[CgroupLimitKind::CpuV1],
            _ if has("memory") => &[CgroupLimitKind::MemoryV1],
            _ => &[],
        };
        for &kind in kinds {
            if let Some(mount) = mounts.iter().find(|mount| mount.has_controller(kind)) {
                found.push(CgroupHierarchy {
                    kind,
                    directories: mount.directories(path),
                });
            }
        }
    }
    found.sort_by_key(|hierarchy| hierarchy.kind);
    found
}

impl CgroupLimits {
    /// Applies a limit if it is less than the current one.
    pub fn tighten(&mut self, kind: CgroupLimitKind, limit: CgroupLimit) {
        let slot = if kind.is_cpu() {
            &mut self.cpu_millis
        } else {
            &mut self.memory_bytes
        };
        if slot.as_ref().is_none_or(|known| limit.value < known.value) {
            *slot = Some(limit);
        }
    }
}

/// A mounted control group hierarchy.
#[derive(Debug)]
struct CgroupMount {
    /// The control group that is mounted.
    root: String,
    /// The directory that it is mounted at.
    point: String,
    /// The controllers of version 1, separated by commas; `None` for version 2.
    controllers: Option<String>,
}

impl CgroupMount {
    /// Parses a line of mountinfo (`proc_pid_mountinfo(5)`): ID, parent ID, device, root, mount
    /// point, options, tags, `-`, file system type, source, super options. Returns `None` for other
    /// file systems.
    fn parse(line: &str) -> Option<Self> {
        let (left, right) = line.split_once(" - ")?;
        let mut left = left.split(' ').skip(3);
        let (root, point) = (unescape(left.next()?), unescape(left.next()?));
        let mut right = right.split(' ');
        let controllers = match right.next()? {
            "cgroup2" => None,
            "cgroup" => Some(right.nth(1).unwrap_or_default().to_owned()),
            _ => return None,
        };
        Some(Self {
            root,
            point,
            controllers,
        })
    }

    /// Returns whether the mounted hierarchy sets limits of a kind.
    fn has_controller(&self, kind: CgroupLimitKind) -> bool {
        let has = |name: &str| {
            self.controllers
                .as_ref()
                .is_some_and(|all| all.split(',').any(|one| one == name))
        };
        match kind {
            CgroupLimitKind::CpuV2 | CgroupLimitKind::MemoryV2 => self.controllers.is_none(),
            CgroupLimitKind::CpuV1 => has("cpu"),
            CgroupLimitKind::MemoryV1 => has("memory"),
        }
    }

    /// Returns the directory of a control group below this mount and its parents up to the mount.
    /// For a group outside the mounted one, as seen in a container, returns the mount point.
    fn directories(&self, path: &str) -> Vec<String> {
        let inner = match path.strip_prefix(self.root.trim_end_matches('/')) {
            Some(rest)
                if (rest.is_empty() || rest.starts_with('/'))
                    && !rest.split('/').any(|part| part == "..") =>
            {
                rest
            }
            _ => "",
        };
        let mut directory = format!(
            "{}{}",
            self.point.trim_end_matches('/'),
            inner.trim_end_matches('/')
        );
        let mut directories = vec![directory.clone()];
        while directory.len() > self.point.len() {
            directory.truncate(directory.rfind('/').unwrap_or(0));
            directories.push(directory.clone());
        }
        directories
    }
}

/// Replaces the octal escapes of mountinfo, such as `\040` for a space.
fn unescape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        let code = rest
            .get(at + 1..at + 4)
            .and_then(|digits| u8::from_str_radix(digits, 8).ok());
        out.push_str(&rest[..at]);
        if let Some(code) = code {
            out.push(char::from(code));
            rest = &rest[at + 4..];
        } else {
            out.push('\\');
            rest = &rest[at + 1..];
        }
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    const V2: &str =
        "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n";
    const V1: &str = "31 23 0:27 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n\
                      32 23 0:28 /docker/abc /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n\
                      33 23 0:29 / /sys/fs/cgroup/my\\040place rw - cgroup cgroup rw,cpuset\n";

    #[test]
    fn version_two_has_every_directory_up_to_the_mount() {
        let found = hierarchies(V2, "0::/user.slice/job.scope\n");
        let directories = [
            "/sys/fs/cgroup/user.slice/job.scope",
            "/sys/fs/cgroup/user.slice",
            "/sys/fs/cgroup",
        ];
        assert_eq!(
            found.iter().map(|h| h.kind).collect::<Vec<_>>(),
            [CgroupLimitKind::CpuV2, CgroupLimitKind::MemoryV2]
        );
        assert!(
            found.iter().all(|h| h.directories == directories),
            "{found:?}"
        );
    }

    #[test]
    fn version_one_has_a_mount_per_controller() {
        let found = hierarchies(
            V1,
            "5:cpuset:/\n4:memory:/a/b\n3:cpu,cpuacct:/docker/abc\n0::/\n",
        );
        let cpu = CgroupHierarchy {
            kind: CgroupLimitKind::CpuV1,
            directories: vec!["/sys/fs/cgroup/cpu,cpuacct".to_owned()],
        };
        let memory = [
            "/sys/fs/cgroup/memory/a/b",
            "/sys/fs/cgroup/memory/a",
            "/sys/fs/cgroup/memory",
        ];
        assert_eq!(
            found,
            [
                cpu,
                CgroupHierarchy {
                    kind: CgroupLimitKind::MemoryV1,
                    directories: memory.map(str::to_owned).to_vec()
                }
            ]
        );
    }

    #[test]
    fn a_group_outside_the_mount_is_the_mount_point() {
        for path in ["0::/../../other", "0::/"] {
            assert!(
                hierarchies(V2, path)
                    .iter()
                    .all(|h| h.directories == ["/sys/fs/cgroup"]),
                "{path}"
            );
        }
        let other = hierarchies(V1, "3:cpu,cpuacct:/docker/abcdef\n");
        assert_eq!(other[0].directories, ["/sys/fs/cgroup/cpu,cpuacct"]);
    }

    #[test]
    fn limits_are_thousandths_of_a_cpu_and_bytes() {
        let check = |kind: CgroupLimitKind, texts: &[&str], expect: Result<Option<u64>, &str>| {
            let texts: Vec<String> = texts.iter().map(|text| format!("{text}\n")).collect();
            assert_eq!(
                kind.limit(&texts).map_err(|error| error.to_string()),
                expect.map_err(str::to_owned),
                "{texts:?}"
            );
        };
        check(CgroupLimitKind::CpuV2, &["150000 100000"], Ok(Some(1500)));
        check(CgroupLimitKind::CpuV2, &["max 100000"], Ok(None));
        check(CgroupLimitKind::CpuV2, &["200000"], Ok(Some(2000)));
        check(CgroupLimitKind::CpuV1, &["-1", "100000"], Ok(None));
        check(CgroupLimitKind::CpuV1, &["400000", "50000"], Ok(Some(8000)));
        check(CgroupLimitKind::MemoryV2, &["max"], Ok(None));
        check(
            CgroupLimitKind::MemoryV2,
            &["8589934592"],
            Ok(Some(8 << 30)),
        );
        check(
            CgroupLimitKind::MemoryV1,
            &["9223372036854771712"],
            Ok(None),
        );
        check(CgroupLimitKind::MemoryV1, &[""], Err("is empty"));
        check(CgroupLimitKind::MemoryV1, &["many"], Err("holds `many`"));
    }

    #[test]
    fn the_least_limit_applies() {
        let mut limits = CgroupLimits::default();
        for (value, directory) in [(8 << 30, "/inner"), (4 << 30, "/outer"), (16 << 30, "/top")] {
            limits.tighten(
                CgroupLimitKind::MemoryV2,
                CgroupLimit {
                    value,
                    directory: directory.to_owned(),
                },
            );
        }
        assert_eq!(
            limits.memory_bytes,
            Some(CgroupLimit {
                value: 4 << 30,
                directory: "/outer".to_owned()
            })
        );
        assert_eq!(limits.cpu_millis, None);
    }

    #[test]
    fn escapes_of_mount_points_are_replaced() {
        assert_eq!(unescape("/my\\040place\\x"), "/my place\\x");
    }
}
