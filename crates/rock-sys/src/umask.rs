//! Permissions of new files: what the user's umask leaves.

use std::sync::OnceLock;

use rustix::fs::Mode;

/// What a file that nobody runs may be for everybody (open(2)).
const ALL_READ_AND_WRITE: u32 = 0o666;

/// Returns the permission bits of a new file that is made first and given its permissions later.
///
/// The system applies the umask where a file is opened, except for `O_TMPFILE` on some file systems
/// before Linux 6.0.
pub(super) fn new_file_mode() -> u32 {
    ALL_READ_AND_WRITE & !umask()
}

/// Returns the umask of the process, which is read once: this program does not change it.
fn umask() -> u32 {
    static UMASK: OnceLock<u32> = OnceLock::new();
    *UMASK.get_or_init(|| written_umask().unwrap_or_else(exchanged_umask))
}

/// Reads it where the system writes it (`proc_pid_status(5)`, since Linux 4.7).
fn written_umask() -> Option<u32> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("Umask:"))?;
    u32::from_str_radix(line.trim(), 8).ok()
}

/// Asks for it by setting another for a moment, in which files of other threads are for nobody
/// else.
fn exchanged_umask() -> u32 {
    let umask = rustix::process::umask(Mode::RWXG | Mode::RWXO);
    rustix::process::umask(umask);
    umask.as_raw_mode()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_read_the_same_umask() {
        assert_eq!(written_umask(), Some(exchanged_umask()));
        assert_eq!(new_file_mode() & 0o111, 0);
    }
}
