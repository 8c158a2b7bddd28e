//! Checks of `.tar.gz` archives that are published beside wheels: source distributions (PEP 517, PEP 625; source
//! distribution format, packaging.python.org) and archives of install trees.
//!
//! Archives are read as streams. The paths of the members and one `PKG-INFO` are held in memory, within the
//! [`limits`](super::limits).

use std::collections::HashMap;
use std::io::{self, Read};

use flate2::read::MultiGzDecoder;

use super::Headers;
use super::identity::is_same_distribution;
use super::limits::{MAX_FOLDER_PATH_BYTES, MAX_PATH_COMPONENTS};
use super::verify::{Findings, check_core_metadata, required, shortened};
use super::zip::limits::MAX_HEADERS_BYTES;
use crate::archive::{Unpacked, UnpackedKind, each_member, is_damage};
use crate::diagnostic::registry::wheel as codes;
use crate::diagnostic::{Code, Diagnostic, Place, Sink};
use crate::names::Version;

/// Checks a source distribution: that it can be unpacked, that installers unpack each member, that `PKG-INFO` and
/// `pyproject.toml` or `setup.py` are in its one top folder, and `PKG-INFO` against the project and version of the file
/// name. `shown` is the path that findings name.
///
/// # Errors
/// When `source` cannot be read.
pub fn verify_source_distribution(
    source: impl Read,
    shown: &str,
    project: &str,
    version: &Version,
) -> io::Result<Vec<Diagnostic>> {
    let mut listing = Listing::new(shown);
    if listing.read(source)? {
        listing.check_distribution(project, version);
    }
    Ok(listing.finish())
}

/// Checks an archive of an install tree: that it can be unpacked, and that each member stays in its folder. `shown` is the
/// path that findings name.
///
/// # Errors
/// When `source` cannot be read.
pub fn verify_tree_archive(source: impl Read, shown: &str) -> io::Result<Vec<Diagnostic>> {
    let mut listing = Listing::new(shown);
    listing.read(source)?;
    Ok(listing.finish())
}

/// What is at a path of the archive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Entry {
    Folder,
    File,
    Link,
}

/// The members of an archive, as far as it was read.
struct Listing {
    findings: Findings,
    sink: Sink,
    /// Every path and each folder above it, without `.` components.
    entries: HashMap<String, Entry>,
    /// Bytes of the paths of folders among them.
    folder_path_bytes: usize,
    /// The first `PKG-INFO` in a top folder.
    package_info: Option<PackageInfo>,
}

/// `PKG-INFO` of a top folder.
struct PackageInfo {
    top: String,
    size_bytes: u64,
    /// Its contents, unless it is too large.
    bytes: Vec<u8>,
}

impl Listing {
    fn new(shown: &str) -> Self {
        let findings = Findings { wheel: shown.to_owned() };
        Self { findings, sink: Sink::new(), entries: HashMap::new(), folder_path_bytes: 0, package_info: None }
    }

    fn finish(self) -> Vec<Diagnostic> {
        shortened(self.sink.finish(), &self.findings)
    }

    /// Reads the archive to its end, and returns whether it is complete.
    fn read(&mut self, source: impl Read) -> io::Result<bool> {
        // Python reads all of several gzip members (`gzip.GzipFile`).
        let read = each_member(MultiGzDecoder::new(source), |member, content| self.add(&member, content));
        match read {
            Ok(()) if self.entries.is_empty() => self.report_damage("the archive is empty"),
            Ok(()) => return Ok(true),
            Err(error) if is_damage(&error) => {
                self.report_damage(format!("it cannot be unpacked: {error}"));
            }
            Err(error) => return Err(error),
        }
        Ok(false)
    }

    fn add(&mut self, member: &Unpacked, content: &mut dyn Read) -> io::Result<()> {
        let Some(written) = member.path.as_deref() else {
            let message =
                format!("the path of the member at byte {} of the unpacked archive is not UTF-8", member.start);
            self.report(&codes::UNSAFE_ARCHIVE_MEMBER, message, "build the archive again without this member");
            return Ok(());
        };
        let Some(path) = normalized(written) else {
            self.refuse(written, "its path leads out of the folder that the archive is unpacked in");
            return Ok(());
        };
        if let Err(reason) = self.place(&path, &member.kind) {
            self.refuse(written, reason);
            return Ok(());
        }
        if let Some((top, "PKG-INFO")) = path.split_once('/')
            && let UnpackedKind::File { size_bytes, .. } = member.kind
            && self.package_info.is_none()
        {
            let mut bytes = Vec::new();
            if size_bytes <= MAX_HEADERS_BYTES {
                content.read_to_end(&mut bytes)?;
            }
            self.package_info = Some(PackageInfo { top: top.to_owned(), size_bytes, bytes });
        }
        if self.folder_path_bytes > MAX_FOLDER_PATH_BYTES {
            let reason =
                format!("the paths of its folders take more than {} MiB together", MAX_FOLDER_PATH_BYTES >> 20);
            return Err(io::Error::new(io::ErrorKind::InvalidData, reason));
        }
        Ok(())
    }

    /// Notes what is at a path, or returns why installers do not unpack it.
    fn place(&mut self, path: &str, kind: &UnpackedKind) -> Result<(), String> {
        let entry = match kind {
            UnpackedKind::Folder => Entry::Folder,
            UnpackedKind::File { .. } => Entry::File,
            UnpackedKind::Link(target) if leads_out(path, target) => {
                return Err(format!(
                    "its link target `{}` leads out of the archive's top folder",
                    target.escape_debug()
                ));
            }
            UnpackedKind::Link(_) => Entry::Link,
            UnpackedKind::Again(target) => {
                let is_file = normalized(target).is_some_and(|path| self.entries.get(&path) == Some(&Entry::File));
                if !is_file {
                    let target = target.escape_debug();
                    return Err(format!("it is a hard link to `{target}`, which is not a file in front of it"));
                }
                Entry::File
            }
            UnpackedKind::Other(what) => return Err(format!("it is {what}, which installers refuse")),
        };
        if path.split('/').count() > MAX_PATH_COMPONENTS {
            return Err(format!("its path has more than {MAX_PATH_COMPONENTS} components"));
        }
        for (end, _) in path.match_indices('/') {
            match self.entries.get(&path[..end]) {
                Some(Entry::Folder) => {}
                Some(Entry::File) => return Err(format!("`{}` is a file", path[..end].escape_debug())),
                Some(Entry::Link) => {
                    return Err(format!("its path leads through the link `{}`", path[..end].escape_debug()));
                }
                None => {
                    self.folder_path_bytes += end;
                    self.entries.insert(path[..end].to_owned(), Entry::Folder);
                }
            }
        }
        match self.entries.insert(path.to_owned(), entry) {
            Some(earlier) if (earlier, entry) != (Entry::Folder, Entry::Folder) => {
                Err("another member has the same path".to_owned())
            }
            Some(_) | None => Ok(()),
        }
    }

    fn check_distribution(&mut self, project: &str, version: &Version) {
        let mut tops: Vec<String> = self.entries.keys().filter(|path| !path.contains('/')).cloned().collect();
        tops.sort_unstable();
        let [top] = tops.as_slice() else {
            let shown: Vec<String> = tops.iter().take(3).map(|top| format!("`{}`", top.escape_debug())).collect();
            let more = if tops.len() > 3 { " and more" } else { "" };
            let message = format!("there is more than one top folder: {}{more}", shown.join(", "));
            return self.report_incomplete(message);
        };
        let is_file = |name: &str| self.entries.get(&format!("{top}/{name}")) == Some(&Entry::File);
        if !is_file("pyproject.toml") && !is_file("setup.py") {
            let message = format!("there is neither `{top}/pyproject.toml` nor `{top}/setup.py`");
            self.report_incomplete(message);
        }
        let member = format!("{top}/PKG-INFO");
        let Some(info) = self.package_info.take().filter(|info| info.top == *top) else {
            return self.report_incomplete(format!("there is no `{member}`"));
        };
        if info.size_bytes > MAX_HEADERS_BYTES {
            let message = format!("`{member}` has {} bytes; at most {MAX_HEADERS_BYTES} are read", info.size_bytes);
            return self.sink.push(self.findings.member(&codes::BAD_WHEEL_HEADER, &member, message));
        }
        match Headers::read(info.bytes, &member) {
            Ok(headers) => self.check_package_info(&headers, &member, project, version),
            Err(error) => self.sink.push(error.diagnostic(&self.findings.wheel)),
        }
    }

    fn check_package_info(&mut self, headers: &Headers, member: &str, project: &str, version: &Version) {
        check_core_metadata(headers, member, &self.findings, &mut self.sink);
        if let Ok(written) = required(headers, "Name")
            && !is_same_distribution(&written, project)
        {
            let message = format!("PKG-INFO says `Name: {written}`, and the file is named after `{project}`");
            self.sink.push(self.findings.member(&codes::NAME_MISMATCH, member, message));
        }
        if let Ok(written) = required(headers, "Version") {
            let finding = match written.parse::<Version>() {
                Ok(in_metadata) if in_metadata == *version => return,
                Ok(in_metadata) => {
                    let message = format!("PKG-INFO says `Version: {in_metadata}`, and the file's name `{version}`");
                    self.findings.member(&codes::VERSION_MISMATCH, member, message)
                }
                Err(error) => self.findings.member(&codes::BAD_WHEEL_HEADER, member, error.to_string()),
            };
            self.sink.push(finding);
        }
    }

    fn report_damage(&mut self, reason: impl Into<String>) {
        self.report(&codes::DAMAGED_ARCHIVE, reason.into(), "build the archive again, or download it again");
    }

    fn report_incomplete(&mut self, reason: String) {
        self.report(&codes::INCOMPLETE_SOURCE_DISTRIBUTION, reason, "create it with `python -m build --sdist`");
    }

    fn report(&mut self, code: &'static Code, message: String, help: &str) {
        let place = Place::File(self.findings.wheel.as_str().into());
        self.sink.push(Diagnostic::new(code, message).at(place, "").help(help));
    }

    fn refuse(&mut self, path: &str, reason: impl AsRef<str>) {
        let message = format!("the member `{}` is refused: {}", path.escape_debug(), reason.as_ref());
        let finding = self.findings.member(&codes::UNSAFE_ARCHIVE_MEMBER, path, message);
        self.sink.push(finding.help("build the archive again without this member"));
    }
}

/// Returns a path without `.` components; `None` for one that is absolute, empty or leads upwards. Windows takes
/// backslashes for separators and a letter with a colon for a drive.
fn normalized(path: &str) -> Option<String> {
    let has_drive = matches!(path.as_bytes(), [letter, b':', ..] if letter.is_ascii_alphabetic());
    let leads_up = path.split(['/', '\\']).any(|part| part == "..");
    if path.starts_with(['/', '\\']) || has_drive || leads_up || path.contains('\0') {
        return None;
    }
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    (!parts.is_empty()).then(|| parts.join("/"))
}

/// Returns whether the link at a path leads out of the top folder. `..` behind another component is refused, since that
/// component may be a link, too.
fn leads_out(path: &str, target: &str) -> bool {
    let below = target.split('/').skip_while(|part| *part == ".." || *part == ".");
    let below = below.collect::<Vec<_>>().join("/");
    let ups = target.split('/').take_while(|part| *part == ".." || *part == ".").filter(|part| *part == "..").count();
    // A member directly below the top folder has one folder above it, and may not leave that.
    let is_too_high = ups > 0 && ups >= path.split('/').count() - 1;
    let is_inside = below.is_empty() || normalized(&below).is_some();
    target.is_empty() || is_too_high || !is_inside
}
