//! Permissions of new files, according to the umask.

use std::sync::OnceLock;

use rustix::fs::Mode;

/// The mode that open(2) callers usually request for a new file that is not executable.
const ALL_READ_AND_WRITE: u32 = 0o666;

/// Returns the permission bits for a new file whose permissions are set after it was created.
///
/// The kernel applies the umask when it creates a file, except for `O_TMPFILE` on some file systems
/// before Linux 6.0.
pub(super) fn new_file_mode() -> u32 {
    ALL_READ_AND_WRITE & !umask()
}

/// Returns the umask of the process, read once: this program does not change it.
fn umask() -> u32 {
    static UMASK: OnceLock<u32> = OnceLock::new();
    *UMASK.get_or_init(|| umask_from_status().unwrap_or_else(umask_by_exchange))
}

/// Reads the umask from `/proc/self/status` (`proc_pid_status(5)`, since Linux 4.7).
fn umask_from_status() -> Option<u32> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("Umask:"))?;
    u32::from_str_radix(line.trim(), 8).ok()
}

/// Reads the umask by setting another one for a moment, in which other threads create files for
/// their owner only.
fn umask_by_exchange() -> u32 {
    let umask = rustix::process::umask(Mode::RWXG | Mode::RWXO);
    rustix::process::umask(umask);
    umask.as_raw_mode()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_read_the_same_umask() {
        assert_eq!(umask_from_status(), Some(umask_by_exchange()));
        assert_eq!(new_file_mode() & 0o111, 0);
    }
}
