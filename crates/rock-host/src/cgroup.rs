//! Limits of the control group a process is in, versions 1 and 2 (Linux, `admin-guide/cgroup-v1`
//! and `cgroup-v2.rst`).
//!
//! A limit of an outer group binds as well, so the least on the way up to the mount counts.

/// What the control group allows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CgroupLimits {
    /// CPU time in thousandths of a CPU.
    pub cpu_millis: Option<Limit>,
    /// Memory in bytes.
    pub memory_bytes: Option<Limit>,
}

/// A limit and the folder that sets it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Limit {
    /// The value; its unit is the field's that holds it.
    pub value: u64,
    /// The control group's folder.
    pub folder: String,
}

/// What a hierarchy limits and which files say so.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// `cpu.max`.
    CpuV2,
    /// `cpu.cfs_quota_us` and `cpu.cfs_period_us`.
    CpuV1,
    /// `memory.max`.
    MemoryV2,
    /// `memory.limit_in_bytes`.
    MemoryV1,
}

/// Where a kind of limit is found: the process's own folder first, then the outer ones up to the
/// mount.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hierarchy {
    /// What it limits.
    pub kind: Kind,
    /// Folders, innermost first.
    pub folders: Vec<String>,
}

/// `memory.limit_in_bytes` without a limit is the largest multiple of a page; nothing real is that
/// large.
const NO_LIMIT_BYTES: u64 = 1 << 60;

impl Kind {
    /// The files to read in each folder; a folder without the first sets no limit.
    pub fn files(self) -> &'static [&'static str] {
        match self {
            Self::CpuV2 => &["cpu.max"],
            Self::CpuV1 => &["cpu.cfs_quota_us", "cpu.cfs_period_us"],
            Self::MemoryV2 => &["memory.max"],
            Self::MemoryV1 => &["memory.limit_in_bytes"],
        }
    }

    /// Whether it limits CPU time, not memory.
    pub fn is_cpu(self) -> bool {
        matches!(self, Self::CpuV1 | Self::CpuV2)
    }

    /// The limit that these texts (one a file, in order) set: thousandths of a CPU, or bytes.
    ///
    /// # Errors
    /// With what is wrong, as the rest of a sentence about the file.
    pub fn limit(self, texts: &[String]) -> Result<Option<u64>, String> {
        let mut words = texts.iter().flat_map(|text| text.split_whitespace());
        let first = words.next().ok_or("is empty")?;
        let number = |word: &str| {
            word.parse::<u64>()
                .map_err(|_| format!("holds `{}`", word.escape_debug()))
        };
        match self {
            Self::CpuV1 | Self::CpuV2 if matches!(first, "max" | "-1" | "0") => Ok(None),
            Self::CpuV1 | Self::CpuV2 => {
                let quota = number(first)?;
                // The kernel's default period, for a file that holds the quota alone.
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

/// Finds the folders that limit a process, from `/proc/self/mountinfo` and `/proc/self/cgroup`.
pub fn hierarchies(mountinfo: &str, cgroup: &str) -> Vec<Hierarchy> {
    let mounts: Vec<Mount> = mountinfo.lines().filter_map(Mount::parse).collect();
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
        let kinds: &[Kind] = match (number, controllers) {
            ("0", "") => &[Kind::CpuV2, Kind::MemoryV2],
            _ if has("cpu") => &[Kind::CpuV1],
            _ if has("memory") => &[Kind::MemoryV1],
            _ => &[],
        };
        for &kind in kinds {
            if let Some(mount) = mounts.iter().find(|mount| mount.carries(kind)) {
                found.push(Hierarchy {
                    kind,
                    folders: mount.folders(path),
                });
            }
        }
    }
    found.sort_by_key(|hierarchy| hierarchy.kind);
    found
}

impl CgroupLimits {
    /// Takes a limit in when it is less than what is known.
    pub fn tighten(&mut self, kind: Kind, limit: Limit) {
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
struct Mount {
    root: String,
    point: String,
    /// `None` for version 2.
    controllers: Option<String>,
}

impl Mount {
    /// Parses a line of mountinfo (proc(5)): id, parent, device, root, mount point, options, tags,
    /// `-`, type, source, super options.
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

    fn carries(&self, kind: Kind) -> bool {
        let has = |name: &str| {
            self.controllers
                .as_ref()
                .is_some_and(|all| all.split(',').any(|one| one == name))
        };
        match kind {
            Kind::CpuV2 | Kind::MemoryV2 => self.controllers.is_none(),
            Kind::CpuV1 => has("cpu"),
            Kind::MemoryV1 => has("memory"),
        }
    }

    /// The folder of a group below this mount and those above it. A group outside of what is
    /// mounted, as seen from inside a container, is the mount itself.
    fn folders(&self, path: &str) -> Vec<String> {
        let inner = match path.strip_prefix(self.root.trim_end_matches('/')) {
            Some(rest)
                if (rest.is_empty() || rest.starts_with('/'))
                    && !rest.split('/').any(|part| part == "..") =>
            {
                rest
            }
            _ => "",
        };
        let mut folder = format!(
            "{}{}",
            self.point.trim_end_matches('/'),
            inner.trim_end_matches('/')
        );
        let mut folders = vec![folder.clone()];
        while folder.len() > self.point.len() {
            folder.truncate(folder.rfind('/').unwrap_or(0));
            folders.push(folder.clone());
        }
        folders
    }
}

/// Undoes the octal escapes of mountinfo: `\040` for a space.
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
    fn version_two_reads_every_folder_up_to_the_mount() {
        let found = hierarchies(V2, "0::/user.slice/job.scope\n");
        let folders = [
            "/sys/fs/cgroup/user.slice/job.scope",
            "/sys/fs/cgroup/user.slice",
            "/sys/fs/cgroup",
        ];
        assert_eq!(
            found.iter().map(|h| h.kind).collect::<Vec<_>>(),
            [Kind::CpuV2, Kind::MemoryV2]
        );
        assert!(found.iter().all(|h| h.folders == folders), "{found:?}");
    }

    #[test]
    fn version_one_finds_each_controller_and_strips_what_the_mount_hides() {
        let found = hierarchies(
            V1,
            "5:cpuset:/\n4:memory:/a/b\n3:cpu,cpuacct:/docker/abc\n0::/\n",
        );
        let cpu = Hierarchy {
            kind: Kind::CpuV1,
            folders: vec!["/sys/fs/cgroup/cpu,cpuacct".to_owned()],
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
                Hierarchy {
                    kind: Kind::MemoryV1,
                    folders: memory.map(str::to_owned).to_vec()
                }
            ]
        );
    }

    #[test]
    fn a_group_outside_the_mount_is_the_mount_itself() {
        for path in ["0::/../../other", "0::/"] {
            assert!(
                hierarchies(V2, path)
                    .iter()
                    .all(|h| h.folders == ["/sys/fs/cgroup"]),
                "{path}"
            );
        }
        let other = hierarchies(V1, "3:cpu,cpuacct:/docker/abcdef\n");
        assert_eq!(other[0].folders, ["/sys/fs/cgroup/cpu,cpuacct"]);
    }

    #[test]
    fn limits_are_thousandths_of_a_cpu_and_bytes() {
        let check = |kind: Kind, texts: &[&str], expect: Result<Option<u64>, &str>| {
            let texts: Vec<String> = texts.iter().map(|text| format!("{text}\n")).collect();
            assert_eq!(
                kind.limit(&texts),
                expect.map_err(str::to_owned),
                "{texts:?}"
            );
        };
        check(Kind::CpuV2, &["150000 100000"], Ok(Some(1500)));
        check(Kind::CpuV2, &["max 100000"], Ok(None));
        check(Kind::CpuV2, &["200000"], Ok(Some(2000)));
        check(Kind::CpuV1, &["-1", "100000"], Ok(None));
        check(Kind::CpuV1, &["400000", "50000"], Ok(Some(8000)));
        check(Kind::MemoryV2, &["max"], Ok(None));
        check(Kind::MemoryV2, &["8589934592"], Ok(Some(8 << 30)));
        check(Kind::MemoryV1, &["9223372036854771712"], Ok(None));
        check(Kind::MemoryV1, &[""], Err("is empty"));
        check(Kind::MemoryV1, &["many"], Err("holds `many`"));
    }

    #[test]
    fn the_least_limit_on_the_way_up_counts() {
        let mut limits = CgroupLimits::default();
        for (value, folder) in [(8 << 30, "/inner"), (4 << 30, "/outer"), (16 << 30, "/top")] {
            limits.tighten(
                Kind::MemoryV2,
                Limit {
                    value,
                    folder: folder.to_owned(),
                },
            );
        }
        assert_eq!(
            limits.memory_bytes,
            Some(Limit {
                value: 4 << 30,
                folder: "/outer".to_owned()
            })
        );
        assert_eq!(limits.cpu_millis, None);
    }

    #[test]
    fn escapes_of_mount_points_are_undone() {
        assert_eq!(unescape("/my\\040place\\x"), "/my place\\x");
    }
}
