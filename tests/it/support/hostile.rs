//! Files that lie, made byte by byte, and runs of the binary that may take only so much.

use std::process::Command;

use super::{Outcome, Project};

/// A library for x86-64 of one loaded segment that holds the whole file, with tables as a test
/// wants them.
#[derive(Debug, Clone, Default)]
pub struct RawElf {
    /// The dynamic strings, without the zero byte at either end.
    pub strings: Vec<u8>,
    /// Tables after the strings, each with the tag of the entry that leads to it.
    pub tables: Vec<(u64, Vec<u8>)>,
    /// More dynamic entries.
    pub entries: Vec<(u64, u64)>,
    /// What `DT_STRSZ` says, where it lies.
    pub claimed_strings: Option<u64>,
    /// What the loaded segment says of its size in the file, where it lies.
    pub claimed_loaded: Option<u64>,
    /// More program headers: kind, offset, size.
    pub segments: Vec<(u32, u64, u64)>,
}

/// Where the first table begins.
const START: usize = 64;

impl RawElf {
    /// The bytes.
    pub fn build(&self) -> Vec<u8> {
        let mut file = vec![0; START];
        let strings_at = file.len() as u64;
        file.push(0);
        file.extend(&self.strings);
        file.push(0);
        let mut entries = self.entries.clone();
        // DT_STRTAB and DT_STRSZ.
        entries.extend([
            (5, strings_at),
            (
                10,
                self.claimed_strings
                    .unwrap_or(file.len() as u64 - strings_at),
            ),
        ]);
        for (tag, table) in &self.tables {
            file.resize(file.len().next_multiple_of(8), 0);
            entries.push((*tag, file.len() as u64));
            file.extend(table);
        }
        entries.push((0, 0));
        file.resize(file.len().next_multiple_of(8), 0);
        let (dynamic_at, dynamic_bytes) = (file.len() as u64, entries.len() as u64 * 16);
        file.extend(
            entries
                .iter()
                .flat_map(|(tag, value)| [tag.to_le_bytes(), value.to_le_bytes()].concat()),
        );
        let segments_at = file.len() as u64;
        let mut segments = vec![(1_u32, 0_u64, 0_u64), (2, dynamic_at, dynamic_bytes)];
        segments.extend(&self.segments);
        let size = segments_at + segments.len() as u64 * 56;
        segments[0].2 = self.claimed_loaded.unwrap_or(size);
        for (kind, offset, size) in &segments {
            file.extend([kind.to_le_bytes(), 6_u32.to_le_bytes()].concat());
            for word in [*offset, *offset, *offset, *size, *size, 4096] {
                file.extend(word.to_le_bytes());
            }
        }
        file[..8].copy_from_slice(b"\x7fELF\x02\x01\x01\0");
        // A library for x86-64, version 1.
        file[16..24].copy_from_slice(&[3, 0, 62, 0, 1, 0, 0, 0]);
        file[32..40].copy_from_slice(&segments_at.to_le_bytes());
        let count = u16::try_from(segments.len()).unwrap().to_le_bytes();
        file[52..58].copy_from_slice(&[64, 0, 56, 0, count[0], count[1]]);
        file[58] = 64;
        file
    }
}

/// What a run may take.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// Addresses, in MiB: it is killed by the system where it needs more.
    pub address_mib: u64,
    /// Memory that was really in use at its largest, in MiB. The binary itself, built for tests,
    /// takes about 30.
    pub peak_mib: u64,
    /// Time of the processor, in seconds, of a binary that may be built without optimization.
    pub cpu_s: u64,
}

/// Runs a command within two limits, and writes to a file how much memory it had at its largest, in
/// KiB.
const MEASURE: &str = "
import os, resource, sys
peak, address, seconds, *command = sys.argv[1:]
child = os.fork()
if child == 0:
    resource.setrlimit(resource.RLIMIT_AS, (int(address), int(address)))
    resource.setrlimit(resource.RLIMIT_CPU, (int(seconds), int(seconds)))
    os.execv(command[0], command)
_, status, usage = os.wait4(child, 0)
open(peak, 'w').write(str(usage.ru_maxrss))
code = os.waitstatus_to_exitcode(status)
sys.exit(code if code >= 0 else 128 - code)
";

/// Runs the binary within bounds.
#[track_caller]
pub fn bounded(project: &Project, bounds: Bounds, arguments: &[&str], code: i32) -> Outcome {
    measured(project, bounds, arguments, &[code]).0
}

/// Runs the binary within bounds; it ends with one of these codes.
#[track_caller]
pub fn bounded_to_any(
    project: &Project,
    bounds: Bounds,
    arguments: &[&str],
    codes: &[i32],
) -> Outcome {
    measured(project, bounds, arguments, codes).0
}

/// Runs the binary, which succeeds, within bounds; returns the memory that it had at its largest,
/// in KiB.
#[track_caller]
pub fn peak_kib(project: &Project, bounds: Bounds, arguments: &[&str]) -> u64 {
    measured(project, bounds, arguments, &[0]).1
}

#[track_caller]
fn measured(
    project: &Project,
    bounds: Bounds,
    arguments: &[&str],
    codes: &[i32],
) -> (Outcome, u64) {
    let inner = project.command(arguments);
    let peak = tempfile::NamedTempFile::new().unwrap();
    let mut command = Command::new("python3");
    // Without `site`, which takes longer than most commands that are measured.
    command.args(["-I", "-S", "-c", MEASURE]).arg(peak.path());
    command.args([
        (bounds.address_mib << 20).to_string(),
        bounds.cpu_s.to_string(),
    ]);
    command
        .arg(inner.get_program())
        .args(inner.get_args())
        .current_dir(project.root());
    for (name, value) in inner.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    // Each thread reserves addresses of its own.
    command
        .env("RAYON_NUM_THREADS", "2")
        .env("MALLOC_ARENA_MAX", "2");
    let output = command.output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    let outcome = Outcome {
        stdout: text(output.stdout),
        stderr: text(output.stderr),
    };
    let messages: String = outcome.stderr.chars().take(3000).collect();
    assert!(
        output
            .status
            .code()
            .is_some_and(|code| codes.contains(&code)),
        "{arguments:?}: {:?}, not {codes:?}\n{messages}",
        output.status
    );
    let peak_kib: u64 = std::fs::read_to_string(peak.path())
        .unwrap()
        .parse()
        .unwrap();
    assert!(
        peak_kib <= bounds.peak_mib << 10,
        "{arguments:?} had {} MiB at its largest",
        peak_kib >> 10
    );
    (outcome, peak_kib)
}
