//! Checks of `.tar.gz` archives that are published with wheels: sdists (PEP 625; source
//! distribution format, packaging.python.org) and archives of install trees.
//!
//! Archives are read as streams. The paths of the members and one `PKG-INFO` are kept in memory,
//! within [`archive::limits`](rock_bytes::archive::limits).
//!
//! The rules are stricter than tarfile's filter `data` (PEP 706, PEP 721), which not every tool
//! applies: absolute paths, `..`, links through links and duplicate paths are refused, not
//! corrected.

use std::collections::HashMap;
use std::io::{self, Read};

use super::HeaderDocument;
use super::identity::is_same_distribution;
use super::verify::{FindingCollector, MAX_FINDINGS, check_core_metadata, required};
use super::zip::limits::{MAX_HEADERS_BYTES, MAX_NAME_PART_BYTES};
use crate::codes::wheel as codes;
use rock_bytes::archive::limits::{
    MAX_DIRECTORIES, MAX_DIRECTORY_PATH_BYTES, MAX_PATH_COMPONENTS, MAX_UNPACKED_BYTES,
};
use rock_bytes::archive::{
    ArchiveLimit, ParsedMember, ParsedMemberKind, for_each_member, gunzip, is_damage,
};
use rock_diagnostic::{Code, Diagnostic, Location, Severity};
use rock_names::{DistributionName, Version};

/// Checks an sdist: that it can be unpacked, the paths and links of its members, that `PKG-INFO`
/// and `pyproject.toml` or `setup.py` are in its only top-level directory, and that `PKG-INFO` has
/// the project and version of the filename. `display_path` is the path in findings.
///
/// # Errors
/// Fails if `source` cannot be read.
pub fn verify_source_distribution(
    source: impl Read,
    display_path: &str,
    project: &DistributionName,
    version: &Version,
) -> io::Result<Vec<Diagnostic>> {
    let mut index = ArchiveIndex::new(display_path, ArchiveLayout::SourceDistribution);
    if index.read(source, MAX_UNPACKED_BYTES)? {
        index.check_distribution(project, version);
    }
    Ok(index.finish())
}

/// Checks an archive of an install tree: that it can be unpacked, and that its members and links
/// stay inside the directory that it is unpacked to. `display_path` is the path in findings.
///
/// # Errors
/// Fails if `source` cannot be read.
pub fn verify_tree_archive(source: impl Read, display_path: &str) -> io::Result<Vec<Diagnostic>> {
    let mut index = ArchiveIndex::new(display_path, ArchiveLayout::InstallTree);
    index.read(source, MAX_UNPACKED_BYTES)?;
    Ok(index.finish())
}

/// The location of the files in an archive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ArchiveLayout {
    /// In one top-level directory.
    SourceDistribution,
    /// In the directory that the archive is unpacked to.
    InstallTree,
}

/// Kind of the entry at a path of the archive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TarEntryKind {
    Directory,
    File,
    Link,
}

/// The members of an archive read so far, and the findings about them.
struct ArchiveIndex {
    layout: ArchiveLayout,
    findings: FindingCollector,
    members: u64,
    /// Number of refused members.
    refused: usize,
    /// Kinds by path of members and their parents, without `.` components.
    entries: HashMap<String, TarEntryKind>,
    dirs: usize,
    dir_path_bytes: usize,
    /// Whether a path starts with a `.` component.
    has_dot_paths: bool,
    package_info: Option<PackageInfo>,
}

/// The first `PKG-INFO` in a top-level directory.
struct PackageInfo {
    top: String,
    size_bytes: u64,
    /// Its content; empty if it is too large.
    bytes: Vec<u8>,
}

impl ArchiveIndex {
    fn new(display_path: &str, layout: ArchiveLayout) -> Self {
        Self {
            layout,
            findings: FindingCollector::new(display_path.to_owned()),
            members: 0,
            refused: 0,
            entries: HashMap::new(),
            dirs: 0,
            dir_path_bytes: 0,
            has_dot_paths: false,
            package_info: None,
        }
    }

    fn finish(mut self) -> Vec<Diagnostic> {
        if let Some(more) = self
            .refused
            .checked_sub(MAX_FINDINGS)
            .filter(|more| *more > 0)
        {
            self.report(
                &codes::UNSAFE_ARCHIVE_MEMBER,
                format!("{more} more findings of this kind"),
                WITHOUT_MEMBER,
            );
        }
        self.findings.finish()
    }

    /// Reads the archive, and returns whether it is complete.
    fn read(&mut self, source: impl Read, max_bytes: u64) -> io::Result<bool> {
        let read = gunzip(source).and_then(|source| {
            let source = LimitedReader {
                source,
                left: max_bytes,
            };
            for_each_member(source, |member, content| self.add(&member, content))
        });
        let reason = match read {
            Ok(()) if self.members > 0 => return Ok(true),
            Ok(()) => "the archive is empty".to_owned(),
            Err(error) if is_damage(&error) => format!("it cannot be unpacked: {error}"),
            Err(error) => return Err(error),
        };
        self.report(
            &codes::DAMAGED_ARCHIVE,
            reason,
            "build the archive again, or download it again",
        );
        Ok(false)
    }

    fn add(&mut self, member: &ParsedMember, content: &mut dyn Read) -> io::Result<()> {
        self.members += 1;
        let Some(written) = member.path.as_deref() else {
            let message = format!(
                "the path of the member at byte {} of the unpacked archive is not UTF-8",
                member.content_offset
            );
            self.refused += 1;
            self.report(&codes::UNSAFE_ARCHIVE_MEMBER, message, WITHOUT_MEMBER);
            return Ok(());
        };
        self.has_dot_paths |= written == "." || written.starts_with("./");
        let path = match normalize_path(written) {
            Ok(path) => path,
            Err(reason) => {
                self.refuse(written, reason);
                return Ok(());
            }
        };
        if path.is_empty() {
            if written.is_empty() || member.kind != ParsedMemberKind::Directory {
                self.refuse(written, "its path is empty");
            }
            return Ok(());
        }
        if let Err(reason) = self.insert(&path, &member.kind) {
            self.refuse(written, &reason);
        } else if self.layout == ArchiveLayout::SourceDistribution
            && let Some((top, "PKG-INFO")) = path.split_once('/')
            && let ParsedMemberKind::File { size_bytes, .. } = member.kind
            && self.package_info.is_none()
        {
            let mut bytes = Vec::new();
            if size_bytes <= MAX_HEADERS_BYTES {
                content.read_to_end(&mut bytes)?;
            }
            self.package_info = Some(PackageInfo {
                top: top.to_owned(),
                size_bytes,
                bytes,
            });
        }
        if self.dirs > MAX_DIRECTORIES {
            return Err(ArchiveLimit::Directories.into());
        }
        if self.dir_path_bytes > MAX_DIRECTORY_PATH_BYTES {
            return Err(ArchiveLimit::DirectoryPaths.into());
        }
        Ok(())
    }

    /// Adds a member and its parents, or returns why the member is refused.
    fn insert(&mut self, path: &str, kind: &ParsedMemberKind) -> Result<(), String> {
        let entry = match kind {
            ParsedMemberKind::Directory => TarEntryKind::Directory,
            ParsedMemberKind::File { .. } => TarEntryKind::File,
            ParsedMemberKind::Symlink(target) if self.leads_out(path, target) => {
                let root = match self.layout {
                    ArchiveLayout::SourceDistribution => "the top-level directory of the archive",
                    ArchiveLayout::InstallTree => {
                        "the directory into which the archive is unpacked"
                    }
                };
                return Err(format!(
                    "its link target `{}` may lead out of {root}",
                    target.escape_debug()
                ));
            }
            ParsedMemberKind::Symlink(_) => TarEntryKind::Link,
            ParsedMemberKind::HardLink(target) => {
                // pip searches for the path exactly as in the archive.
                if self.entries.get(target) != Some(&TarEntryKind::File) {
                    let target = target.escape_debug();
                    return Err(format!(
                        "it is a hard link to `{target}`, which is not an earlier file of the archive"
                    ));
                }
                TarEntryKind::File
            }
            ParsedMemberKind::Unsupported(what) => return Err(format!("it is {what}")),
        };
        for (end, _) in path.match_indices('/') {
            let parent = &path[..end];
            match self.entries.get(parent) {
                Some(TarEntryKind::Directory) => {}
                Some(TarEntryKind::File) => {
                    return Err(format!("`{}` is a file", parent.escape_debug()));
                }
                Some(TarEntryKind::Link) => {
                    return Err(format!(
                        "its path leads through the link `{}`",
                        parent.escape_debug()
                    ));
                }
                None => self.insert_dir(parent),
            }
        }
        match self.entries.get(path) {
            Some(TarEntryKind::Directory) if entry == TarEntryKind::Directory => {}
            Some(_) => return Err("another member has the same path".to_owned()),
            None if entry == TarEntryKind::Directory => self.insert_dir(path),
            None => drop(self.entries.insert(path.to_owned(), entry)),
        }
        Ok(())
    }

    fn insert_dir(&mut self, path: &str) {
        self.dirs += 1;
        self.dir_path_bytes += path.len();
        self.entries
            .insert(path.to_owned(), TarEntryKind::Directory);
    }

    /// Returns whether the link at a path may lead out of the root of its layout. `..` after
    /// another component is refused, because that component may be a link, too.
    fn leads_out(&self, path: &str, target: &str) -> bool {
        let is_up = |part: &&str| *part == ".." || *part == ".";
        let ups = target
            .split('/')
            .take_while(is_up)
            .filter(|part| *part == "..")
            .count();
        let below: Vec<&str> = target.split('/').skip_while(is_up).collect();
        let parents = path.split('/').count() - 1;
        let max_ups = match self.layout {
            ArchiveLayout::SourceDistribution => parents.saturating_sub(1),
            ArchiveLayout::InstallTree => parents,
        };
        target.is_empty() || ups > max_ups || normalize_path(&below.join("/")).is_err()
    }

    fn check_distribution(&mut self, project: &DistributionName, version: &Version) {
        if self.has_dot_paths {
            self.report_incomplete(
                "paths start with `./`, which pip treats as the top-level directory".to_owned(),
            );
        }
        let mut tops: Vec<String> = self
            .entries
            .keys()
            .filter(|path| !path.contains('/'))
            .cloned()
            .collect();
        tops.sort_unstable();
        let [top] = tops.as_slice() else {
            // Refused members may be in the top-level directory.
            if !tops.is_empty() {
                let shown: Vec<String> = tops
                    .iter()
                    .take(3)
                    .map(|top| format!("`{}`", top.escape_debug()))
                    .collect();
                let more = if tops.len() > 3 { " and more" } else { "" };
                self.report_incomplete(format!(
                    "there is more than one top-level entry: {}{more}",
                    shown.join(", ")
                ));
            }
            return;
        };
        self.check_top_dir(top, project, version);
        let is_there = |name: &str| {
            matches!(
                self.entries.get(&format!("{top}/{name}")),
                Some(TarEntryKind::File | TarEntryKind::Link)
            )
        };
        if !is_there("pyproject.toml") && !is_there("setup.py") {
            let top = top.escape_debug();
            self.report_incomplete(format!(
                "there is neither `{top}/pyproject.toml` nor `{top}/setup.py`"
            ));
        }
        let member = format!("{top}/PKG-INFO");
        let Some(info) = self.package_info.take().filter(|info| info.top == *top) else {
            let is_link = self.entries.contains_key(&member);
            let member = member.escape_debug();
            return self.report_incomplete(if is_link {
                format!("`{member}` is not a regular file")
            } else {
                format!("there is no `{member}`")
            });
        };
        if info.size_bytes > MAX_HEADERS_BYTES {
            let message = format!(
                "PKG-INFO has {} bytes; at most {MAX_HEADERS_BYTES} are read",
                info.size_bytes
            );
            let finding = self
                .findings
                .member(&codes::BAD_WHEEL_HEADER, &member, message);
            return self.findings.push(finding.help(CORRECT_METADATA));
        }
        match HeaderDocument::read(info.bytes, &member) {
            Ok(headers) => self.check_package_info(&headers, &member, project, version),
            Err(error) => self.findings.push(
                error
                    .diagnostic(&self.findings.wheel)
                    .help(CORRECT_METADATA),
            ),
        }
    }

    /// Warns about a top-level directory that is not named after project and version. Installers
    /// accept any name.
    fn check_top_dir(&mut self, top: &str, project: &DistributionName, version: &Version) {
        let is_named = top.rsplit_once('-').is_some_and(|(name, text)| {
            is_same_distribution(name, project)
                && text
                    .parse::<Version>()
                    .is_ok_and(|top_version| top_version == *version)
        });
        if !is_named {
            let top = top.escape_debug();
            let message = format!(
                "the top-level directory is named `{top}`, but should be named \
                 `{project}-{version}`"
            );
            let finding = Diagnostic::new(&codes::INCOMPLETE_SOURCE_DISTRIBUTION, message)
                .severity(Severity::Warning);
            self.findings.push(
                finding
                    .at(Location::File(self.findings.wheel.as_str().into()), "")
                    .help(CREATE),
            );
        }
    }

    fn check_package_info(
        &mut self,
        headers: &HeaderDocument,
        member: &str,
        project: &DistributionName,
        version: &Version,
    ) {
        let mut findings = FindingCollector::new(self.findings.wheel.clone());
        check_core_metadata(headers, member, &mut findings);
        if let Ok(written) = required(headers, "Name")
            && !is_same_distribution(&written, project)
        {
            let message =
                format!("PKG-INFO has `Name: {written}`, but the filename has `{project}`");
            findings.push(self.findings.member(&codes::NAME_MISMATCH, member, message));
        }
        if let Ok(written) = required(headers, "Version") {
            match written.parse::<Version>() {
                Ok(in_metadata) if in_metadata == *version => {}
                Ok(_) => {
                    let message = format!(
                        "PKG-INFO has `Version: {written}`, but the filename has `{version}`"
                    );
                    findings.push(
                        self.findings
                            .member(&codes::VERSION_MISMATCH, member, message),
                    );
                }
                Err(error) => findings.push(self.findings.member(
                    &codes::BAD_WHEEL_HEADER,
                    member,
                    error.to_string(),
                )),
            }
        }
        for finding in findings.finish() {
            // Installers do not read PKG-INFO, and PyPI has files with malformed lines.
            let is_malformed = finding.code.id == codes::MALFORMED_HEADER.id;
            let severity = if is_malformed {
                Severity::Warning
            } else {
                finding.severity
            };
            self.findings
                .push(finding.severity(severity).help(CORRECT_METADATA));
        }
    }

    fn report_incomplete(&mut self, reason: String) {
        self.report(&codes::INCOMPLETE_SOURCE_DISTRIBUTION, reason, CREATE);
    }

    fn report(&mut self, code: &'static Code, message: String, help: &str) {
        let place = Location::File(self.findings.wheel.as_str().into());
        self.findings
            .push(Diagnostic::new(code, message).at(place, "").help(help));
    }

    fn refuse(&mut self, path: &str, reason: &str) {
        self.refused += 1;
        if self.refused <= MAX_FINDINGS {
            let message = format!("the member `{}` is refused: {reason}", path.escape_debug());
            let finding = self
                .findings
                .member(&codes::UNSAFE_ARCHIVE_MEMBER, path, message);
            self.findings.push(finding.help(WITHOUT_MEMBER));
        }
    }
}

/// Help for refused members.
const WITHOUT_MEMBER: &str = "build the archive again without this member";
/// Help for findings in `PKG-INFO`.
const CORRECT_METADATA: &str =
    "correct the metadata of the project, and build the source distribution again";
/// Help for source distributions with an invalid layout.
const CREATE: &str = "create it with `python -m build --sdist`";

/// Returns a path without `.` components, empty for the root of the archive, or the reason why it
/// is refused. On Windows, backslashes are separators and a letter with a colon is a drive.
fn normalize_path(path: &str) -> Result<String, &'static str> {
    let has_drive = matches!(path.as_bytes(), [letter, b':', ..] if letter.is_ascii_alphabetic());
    if path.starts_with(['/', '\\']) || has_drive {
        return Err("its path is absolute");
    }
    if path.chars().any(char::is_control) {
        return Err("its path has a control character");
    }
    if path.split(['/', '\\']).any(|part| part == "..") {
        return Err("its path has a `..` component");
    }
    let parts: Vec<&str> = path
        .split('/')
        .filter(|part| !part.is_empty() && *part != ".")
        .collect();
    if parts.first().is_some_and(|top| top.contains('\\')) {
        return Err(
            "its path has a backslash in the first component, which pip treats as a separator",
        );
    }
    if parts.iter().any(|part| part.len() > MAX_NAME_PART_BYTES) {
        return Err("its path has a component of more than 255 bytes");
    }
    if parts.len() > MAX_PATH_COMPONENTS {
        return Err("its path has more than 128 components");
    }
    Ok(parts.join("/"))
}

/// A reader that fails if more than `left` bytes are read.
struct LimitedReader<R> {
    source: R,
    left: u64,
}

impl<R: Read> Read for LimitedReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.source.read(buffer)?;
        self.left = self
            .left
            .checked_sub(read as u64)
            .ok_or(ArchiveLimit::Unpacked)?;
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::{ArchiveIndex, ArchiveLayout};

    #[test]
    fn archives_are_unpacked_up_to_the_limit() {
        let mut builder = tar::Builder::new(Vec::new());
        let mut header = tar::Header::new_gnu();
        header.set_entry_type(tar::EntryType::Regular);
        header.set_mode(0o644);
        header.set_size(1000);
        builder
            .append_data(&mut header, "a", [1; 1000].as_slice())
            .unwrap();
        let tar = builder.into_inner().unwrap();
        let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
        packed.write_all(&tar).unwrap();
        let packed = packed.finish().unwrap();
        let read = |max_bytes: u64| {
            let mut index = ArchiveIndex::new("a-tree.tar.gz", ArchiveLayout::InstallTree);
            index.read(packed.as_slice(), max_bytes).unwrap();
            index
                .finish()
                .into_iter()
                .map(|finding| finding.message)
                .collect::<Vec<_>>()
        };
        let bytes = tar.len() as u64;
        assert!(read(bytes).is_empty(), "{:?}", read(bytes));
        assert_eq!(
            read(bytes - 1),
            ["it cannot be unpacked: more than 64 GiB without compression"]
        );
    }
}
