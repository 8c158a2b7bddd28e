//! Listings of the buckets that store the artifacts of CI runs, and the selection of artifacts.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use quick_xml::Reader;
use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::Event;
use regex::Regex;

use super::limits::{MAX_FILES, MAX_LISTING_DEPTH};
use rock_bytes::archive::ArchiveCompression;
use rock_names::Platform;
use rock_names::{ArtifactComponent, ArtifactName, Digest};

/// Returns the prefix of a run in a bucket, with a trailing slash: `123-linux/`, or
/// `OWNER-REPO/123-linux/` in a bucket that several repositories share (ROCm/TheRock,
/// `build_tools/_therock_utils/workflow_outputs.py`).
pub fn directory_of_run(shared_by: Option<&str>, run: &str, platform: Platform) -> String {
    let repository = shared_by
        .map(|repository| repository.replace('/', "-") + "/")
        .unwrap_or_default();
    format!("{repository}{run}-{}/", platform.word())
}

/// The name of a file and its size in bytes.
pub type BucketFile = (String, u64);

/// One page of the listing of a bucket.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BucketPage {
    /// The files on this page.
    pub objects: Vec<BucketFile>,
    /// The continuation token of the next page, if there is one.
    pub next: Option<String>,
}

/// The length of `]]>`.
const CDATA_END: u64 = 3;

/// Parses a page of a listing (Amazon S3, `ListObjectsV2`) in linear time.
///
/// # Errors
/// Returns the reason for which the text is not a listing.
pub fn page(xml: &str) -> Result<BucketPage, String> {
    let mut reader = Reader::from_str(xml);
    let (mut page, mut path, mut text) =
        (BucketPage::default(), Vec::<String>::new(), String::new());
    let (mut key, mut size_bytes, mut is_listing) = (None, None, false);
    loop {
        match reader.read_event().map_err(|error| error.to_string())? {
            Event::Start(tag) => {
                if path.len() == MAX_LISTING_DEPTH {
                    let at = reader.buffer_position();
                    return Err(format!(
                        "it has more than {MAX_LISTING_DEPTH} nested elements, at byte {at}"
                    ));
                }
                path.push(tag.local_name().as_ref().to_owned());
                text.clear();
                if is_object(&path) {
                    (key, size_bytes) = (None, None);
                }
            }
            Event::Text(part) => text.push_str(legal_text(&part, reader.buffer_position())?),
            Event::CData(part) => {
                text.push_str(legal_text(&part, reader.buffer_position() - CDATA_END)?);
            }
            Event::GeneralRef(entity) => match entity
                .resolve_char_ref()
                .map_err(|error| error.to_string())?
            {
                Some(character) => text.push(character),
                None => {
                    let named = resolve_predefined_entity(&entity);
                    text.push_str(named.ok_or_else(|| format!("`&{};` is unknown", &*entity))?);
                }
            },
            Event::End(_) => {
                let words: Vec<&str> = path.iter().map(String::as_str).collect();
                match words[..] {
                    ["ListBucketResult", "Contents", "Key"] if text.contains(char::is_control) => {
                        let at = reader.buffer_position();
                        return Err(format!(
                            "the key {text:?} has a control character, before byte {at}"
                        ));
                    }
                    ["ListBucketResult", "Contents", "Key"] => {
                        key = Some(text.clone()).filter(|key| !key.is_empty());
                    }
                    ["ListBucketResult", "Contents", "Size"] => {
                        size_bytes = Some(
                            text.parse()
                                .map_err(|_| format!("`{text}` is not a size"))?,
                        );
                    }
                    ["ListBucketResult", "Contents"] if page.objects.len() == MAX_FILES => {
                        return Err(format!("it has more than {MAX_FILES} files"));
                    }
                    ["ListBucketResult", "Contents"] => {
                        let (Some(key), Some(size_bytes)) = (key.take(), size_bytes.take()) else {
                            let at = reader.buffer_position();
                            return Err(format!(
                                "it has a file without a key or size, before byte {at}"
                            ));
                        };
                        page.objects.push((key, size_bytes));
                    }
                    ["ListBucketResult", "NextContinuationToken"] => page.next = Some(text.clone()),
                    ["ListBucketResult"] => is_listing = true,
                    _ => {}
                }
                path.pop();
            }
            Event::Eof => break,
            _ => {}
        }
    }
    if is_listing {
        Ok(page)
    } else {
        Err("it is not the listing of a bucket".to_owned())
    }
}

/// Whether an element is a file of a listing.
fn is_object(path: &[String]) -> bool {
    path.iter().eq(["ListBucketResult", "Contents"])
}

/// Returns a text that ends before byte `end`.
///
/// # Errors
/// If it contains a control character that XML forbids even as a reference (XML 1.0, section 2.2,
/// "Characters").
fn legal_text(text: &str, end: u64) -> Result<&str, String> {
    let is_illegal = |c: char| c < ' ' && !matches!(c, '\t' | '\n' | '\r');
    match text.find(is_illegal) {
        None => Ok(text),
        Some(at) => Err(format!(
            "it has a control character at byte {}",
            end - (text.len() - at) as u64
        )),
    }
}

/// Selects artifacts of a run.
#[derive(Debug, Clone, Default)]
pub struct ArtifactSelection {
    /// The families and targets, in addition to artifacts for any GPU; `None` for all.
    pub made_for: Option<BTreeSet<String>>,
    /// Patterns of which at least one must match the name, unless there are none.
    pub includes: Vec<Regex>,
    /// Patterns that must not match the name.
    pub excludes: Vec<Regex>,
    /// Components to skip.
    pub without_components: BTreeSet<ArtifactComponent>,
    /// Names of projects whose artifacts are skipped.
    pub without_names: BTreeSet<String>,
}

/// A published archive of an artifact.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BucketArchive {
    /// The name of the artifact.
    pub name: ArtifactName,
    /// The compression of the archive.
    pub compression: ArchiveCompression,
    /// The size of the archive.
    pub size_bytes: u64,
    /// Whether a checksum file is published next to it.
    pub has_sum: bool,
}

impl BucketArchive {
    /// Returns the filename of the archive.
    pub fn file(&self) -> String {
        format!("{}{}", self.name, self.compression.suffix())
    }
}

/// The extension of an archive's checksum file.
pub const SUM: &str = ".sha256sum";
/// The file in an unpacked directory with the digest of the archive it came from. No package
/// contains it.
pub const UNPACKED_SUM: &str = ".archive.sha256sum";

/// Returns the path of an archive's checksum file.
pub fn path_of_sum(archive: &Path) -> PathBuf {
    let mut path = archive.as_os_str().to_owned();
    path.push(SUM);
    path.into()
}

/// Formats a line of a checksum file, like `sha256sum`.
pub fn sum_line(digest: Digest, file: &str) -> String {
    format!("{}  {file}\n", digest.to_hex())
}

/// Parses the digest at the start of a checksum file, with or without a filename after it.
///
/// # Errors
/// Returns the first word if it is not a digest.
pub fn sum_in(text: &str) -> Result<Digest, &str> {
    let word = text.split_whitespace().next().unwrap_or_default();
    format!("sha256:{}", word.to_ascii_lowercase())
        .parse()
        .map_err(|_| word)
}

impl ArtifactSelection {
    /// Returns the selected archives among the files of a run, sorted by name. If an artifact has
    /// several archives, takes the one that decompresses fastest.
    pub fn of(&self, files: &[BucketFile]) -> Vec<BucketArchive> {
        let sums: BTreeSet<&str> = files
            .iter()
            .filter_map(|(file, _)| file.strip_suffix(SUM))
            .collect();
        let mut best: BTreeMap<ArtifactName, BucketArchive> = BTreeMap::new();
        for (file, size_bytes) in files {
            let Some((name, compression)) = ArchiveCompression::from_file_name(file) else {
                continue;
            };
            let Ok(name) = name.parse::<ArtifactName>() else {
                continue;
            };
            if !self.takes(&name) {
                continue;
            }
            let has_sum = sums.contains(file.as_str());
            let published = BucketArchive {
                name: name.clone(),
                compression,
                size_bytes: *size_bytes,
                has_sum,
            };
            match best.get(&name) {
                Some(other) if other.compression <= compression => {}
                _ => drop(best.insert(name, published)),
            }
        }
        best.into_values().collect()
    }

    fn takes(&self, name: &ArtifactName) -> bool {
        let text = name.to_string();
        let is_for = match (name.base(), &self.made_for) {
            (None, _) | (_, None) => true,
            (Some(base), Some(wanted)) => wanted.contains(base),
        };
        is_for
            && (self.includes.is_empty() || self.includes.iter().any(|regex| regex.is_match(&text)))
            && !self.excludes.iter().any(|regex| regex.is_match(&text))
            && !self.without_components.contains(&name.component())
            && !self.without_names.contains(name.name())
    }
}

#[cfg(test)]
mod tests {
    use regex::Regex;

    use super::{
        ArtifactSelection, BucketArchive, MAX_FILES, MAX_LISTING_DEPTH, directory_of_run, page,
    };
    use rock_names::Platform;

    #[test]
    fn runs_have_a_directory_and_share_buckets_under_the_name_of_their_repository() {
        assert_eq!(directory_of_run(None, "123", Platform::Linux), "123-linux/");
        assert_eq!(
            directory_of_run(Some("me/TheRock"), "123", Platform::Windows),
            "me-TheRock/123-windows/"
        );
    }

    #[test]
    fn a_listing_has_names_sizes_and_the_next_page() {
        let xml = "<?xml version=\"1.0\"?><ListBucketResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><Name>b</Name>\
                   <NextContinuationToken>1/a+b=</NextContinuationToken><IsTruncated>true</IsTruncated>\
                   <Contents><Key>1-linux/a_lib_gfx90a:xnack&#43;.tar.zst</Key><Size>7</Size></Contents>\
                   <Contents><Key>1-linux/b&amp;c</Key><Size>6000000000</Size></Contents></ListBucketResult>";
        let read = page(xml).unwrap();
        assert_eq!(
            read.objects,
            [
                ("1-linux/a_lib_gfx90a:xnack+.tar.zst".to_owned(), 7),
                ("1-linux/b&c".to_owned(), 6_000_000_000)
            ]
        );
        assert_eq!(read.next.as_deref(), Some("1/a+b="));
        assert_eq!(
            page("<ListBucketResult></ListBucketResult>").unwrap(),
            super::BucketPage::default()
        );
        for none in [
            "",
            "<html></html>",
            "<ListBucketResult><Contents>",
            "<Error><Code>NoSuchBucket</Code></Error>",
            "x",
        ] {
            assert!(page(none).is_err(), "{none}");
        }
    }

    #[test]
    fn listings_are_read_up_to_their_limits_and_not_beyond() {
        let nested = |depth: usize| {
            let inner = format!("{}{}", "<a>".repeat(depth), "</a>".repeat(depth));
            page(&format!("<ListBucketResult>{inner}</ListBucketResult>"))
        };
        assert_eq!(
            nested(MAX_LISTING_DEPTH - 1),
            Ok(super::BucketPage::default())
        );
        let expected = "it has more than 32 nested elements, at byte 114";
        assert_eq!(nested(MAX_LISTING_DEPTH), Err(expected.to_owned()));
        let files = |count: usize| {
            let all = "<Contents><Key>k</Key><Size>1</Size></Contents>".repeat(count);
            page(&format!("<ListBucketResult>{all}</ListBucketResult>"))
                .map(|page| page.objects.len())
        };
        assert_eq!(files(MAX_FILES), Ok(MAX_FILES));
        assert_eq!(
            files(MAX_FILES + 1),
            Err("it has more than 100000 files".to_owned())
        );
        // A megabyte of nested elements used to take minutes.
        let open = "<a>".repeat(1 << 20);
        assert_eq!(page(&open).map_err(|error| error.len() > 10), Err(true));
    }

    /// An object does not inherit the key or size of the previous one.
    #[test]
    fn objects_without_key_or_size_are_refused() {
        let whole = "<Contents><Key>a</Key><Size>1</Size></Contents>";
        let parts = [
            "<Key>b</Key>",
            "<Size>2</Size>",
            "<Key></Key><Size>2</Size>",
            "<Size>2</Size><Owner><Key>b</Key></Owner>",
        ];
        let reasons = parts.map(|part| {
            page(&format!(
                "<ListBucketResult>{whole}<Contents>{part}</Contents></ListBucketResult>"
            ))
            .unwrap_err()
        });
        insta::assert_snapshot!(reasons.join("\n"), @r"
        it has a file without a key or size, before byte 98
        it has a file without a key or size, before byte 100
        it has a file without a key or size, before byte 111
        it has a file without a key or size, before byte 127
        ");
    }

    /// Keys become filenames and lines of messages.
    #[test]
    fn keys_with_control_characters_are_refused() {
        let key = |key: &str| {
            let inside = format!("<Contents><Key>{key}</Key><Size>1</Size></Contents>");
            match page(&format!("<ListBucketResult>{inside}</ListBucketResult>")) {
                Ok(read) => format!("{:?}\n", read.objects),
                Err(why) => format!("{why}\n"),
            }
        };
        let keys = [
            "a&#32;\u{e9}",
            "<![CDATA[a&b]]>",
            "a\0b",
            "a&#0;b",
            "a\x1b",
            "a&#27;",
            "a\nb",
            "a&#10;b",
            "a\u{7f}",
        ];
        let read: String = keys
            .iter()
            .chain(&["a\u{9b}", "<![CDATA[a\0]]>"])
            .map(|text| key(text))
            .collect();
        insta::assert_snapshot!(read, @r#"
        [("a é", 1)]
        [("a&b", 1)]
        it has a control character at byte 34
        invalid character reference: 0x0 character is not permitted in XML
        it has a control character at byte 34
        the key "a\u{1b}" has a control character, before byte 45
        the key "a\nb" has a control character, before byte 42
        the key "a\nb" has a control character, before byte 46
        the key "a\u{7f}" has a control character, before byte 41
        the key "a\u{9b}" has a control character, before byte 42
        it has a control character at byte 43
        "#);
        let token = "<ListBucketResult><NextContinuationToken>a\0</NextContinuationToken></ListBucketResult>";
        assert!(page(token).is_err());
    }

    #[test]
    fn what_is_wanted_is_chosen_by_base_target_pattern_and_component() {
        let files: Vec<super::BucketFile> = [
            "blas_lib_generic.tar.xz",
            "blas_lib_generic.tar.zst",
            "blas_lib_generic.tar.zst.sha256sum",
            "blas_lib_gfx942.tar.xz",
            "blas_lib_gfx942:xnack+.tar.zst",
            "blas_lib_gfx1100.tar.zst",
            "blas_test_generic.tar.zst",
            "rand_lib_generic.tar.zst",
            "logs.tar.zst",
            "index.html",
        ]
        .map(|file| (file.to_owned(), 1))
        .to_vec();
        let of = |choice: &ArtifactSelection| {
            choice
                .of(&files)
                .iter()
                .map(BucketArchive::file)
                .collect::<Vec<_>>()
        };
        assert_eq!(of(&ArtifactSelection::default()).len(), 6);
        let mut choice = ArtifactSelection {
            made_for: Some(["gfx942".to_owned()].into()),
            without_names: ["rand".to_owned()].into(),
            ..ArtifactSelection::default()
        };
        choice.without_components = ["test".parse().unwrap()].into();
        assert_eq!(
            of(&choice),
            [
                "blas_lib_generic.tar.zst",
                "blas_lib_gfx942.tar.xz",
                "blas_lib_gfx942:xnack+.tar.zst"
            ]
        );
        assert!(choice.of(&files)[0].has_sum && !choice.of(&files)[1].has_sum);
        choice.includes = vec![Regex::new("_gfx").unwrap(), Regex::new("^none").unwrap()];
        choice.excludes = vec![Regex::new("xnack").unwrap()];
        assert_eq!(of(&choice), ["blas_lib_gfx942.tar.xz"]);
    }
}
