//! The options of a repair.

use super::LibraryDirSuffix;
use crate::pattern::LibraryPatterns;
use rock_names::LocalLabel;
use rock_wheel::DosTime;

/// Options of a repair. The platform is that of the audit, [`AuditOptions::requested_platform`].
///
/// [`AuditOptions::requested_platform`]: crate::AuditOptions::requested_platform
#[derive(Debug, Clone)]
pub struct RepairOptions {
    /// Use only the requested platform tag, even if the wheel also complies with a better one.
    pub only_platform: bool,
    /// Keep platform tags of the name that the symbols contradict.
    pub keep_claimed_tags: bool,
    /// Set the platform tags that the repaired wheel complies with.
    pub update_tags: bool,
    /// Appended to the distribution name for the directory of grafted libraries, `.libs`.
    pub library_dir_suffix: LibraryDirSuffix,
    /// Remove absolute, relative and empty search paths from all libraries.
    pub fix_rpaths: bool,
    /// Graft libraries; a wheel that needs some is not repaired otherwise.
    pub allow_grafts: bool,
    /// Remove symbols and debug sections from all libraries.
    pub strip: bool,
    /// Remove redundant copies of libraries, except those that match.
    pub remove_copies_except: Option<LibraryPatterns>,
    /// Set this local version label.
    pub local_label: Option<LocalLabel>,
    /// Compression level of changed members, from 0 (none) to 9 (smallest); see
    /// [`RewriteOptions::level`](rock_wheel::RewriteOptions::level).
    pub compression_level: u32,
    /// Compress all members again.
    pub recompress: bool,
    /// Do not verify the RECORD rows of members that do not change.
    pub trust_record: bool,
    /// The modification time of all members; `None` to keep the time of each.
    pub time: Option<DosTime>,
    /// Rewrite a wheel that needs no other change to set `time`.
    pub force_rewrite_for_time: bool,
}

impl Default for RepairOptions {
    fn default() -> Self {
        Self {
            only_platform: false,
            keep_claimed_tags: false,
            update_tags: true,
            library_dir_suffix: LibraryDirSuffix::default(),
            fix_rpaths: false,
            allow_grafts: true,
            strip: false,
            remove_copies_except: None,
            local_label: None,
            compression_level: 6,
            recompress: false,
            trust_record: false,
            time: None,
            force_rewrite_for_time: true,
        }
    }
}
