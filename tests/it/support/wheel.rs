//! Real wheels made by code, written with an independent zip library.

use std::io::{Cursor, Write};

use rock_matrix::names::{Digest, WheelName};
use sha2::{Digest as _, Sha256};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

/// A wheel under construction. Its METADATA, WHEEL and RECORD fit its name unless a story edits
/// them.
///
/// ```ignore
/// let wheel = Wheel::named("flash_attn-2.7.4.post1+rocm62torch2.5triton-py3-none-any.whl")
///     .file("flash_attn/__init__.py", "")
///     .edit("METADATA", |text| text.replace("Version: 2.8.3+", "Version: 2.8.4+"));
/// let project = Project::new().bytes(wheel.name(), &wheel.bytes());
/// ```
pub struct Wheel {
    file_name: String,
    name: WheelName,
    files: Vec<(String, Vec<u8>, u32)>,
    headers: Vec<String>,
    edits: Vec<(String, Edit)>,
    method: CompressionMethod,
    latin_1: bool,
}

/// A change of a text file.
type Edit = Box<dyn Fn(String) -> String>;

impl Wheel {
    /// A wheel with this file name and one module named after the distribution.
    #[track_caller]
    pub fn named(file_name: &str) -> Self {
        let name: WheelName = file_name.parse().unwrap();
        let module = format!("{}/__init__.py", name.distribution());
        Self {
            file_name: file_name.to_owned(),
            name,
            files: vec![(module, b"\"\"\"A module.\"\"\"\n".to_vec(), 0o644)],
            headers: Vec::new(),
            edits: Vec::new(),
            method: CompressionMethod::Deflated,
            latin_1: false,
        }
    }

    /// Adds a file, or replaces the one of this name.
    pub fn file(self, path: &str, content: impl Into<Vec<u8>>) -> Self {
        self.with_mode(path, content, 0o644)
    }

    /// Adds an executable file or shared library.
    pub fn executable(self, path: &str, content: impl Into<Vec<u8>>) -> Self {
        self.with_mode(path, content, 0o755)
    }

    fn with_mode(mut self, path: &str, content: impl Into<Vec<u8>>, mode: u32) -> Self {
        self.files.retain(|(name, ..)| name != path);
        self.files.push((path.to_owned(), content.into(), mode));
        self
    }

    /// Adds a `Requires-Dist` line to METADATA.
    pub fn requires(self, requirement: &str) -> Self {
        self.header(&format!("Requires-Dist: {requirement}"))
    }

    /// Adds a line to METADATA.
    pub fn header(mut self, line: &str) -> Self {
        self.headers.push(line.to_owned());
        self
    }

    /// Edits `METADATA`, `WHEEL` (before RECORD is made) or `RECORD`.
    pub fn edit(mut self, file: &str, edit: impl Fn(String) -> String + 'static) -> Self {
        self.edits.push((file.to_owned(), Box::new(edit)));
        self
    }

    /// Writes METADATA in Latin-1.
    pub fn in_latin_1(mut self) -> Self {
        self.latin_1 = true;
        self
    }

    /// Stores members as they are.
    pub fn stored(mut self) -> Self {
        self.method = CompressionMethod::Stored;
        self
    }

    /// The file name.
    pub fn name(&self) -> &str {
        &self.file_name
    }

    /// The folder of METADATA, WHEEL and RECORD.
    pub fn dist_info(&self) -> String {
        self.name.dist_info()
    }

    /// The file.
    pub fn bytes(&self) -> Vec<u8> {
        let mut files = self.files.clone();
        let dist_info = self.dist_info();
        for (file, text) in [("METADATA", self.metadata()), ("WHEEL", self.wheel())] {
            let text = self.edited(file, text);
            let latin = || text.chars().map(|c| u8::try_from(c).unwrap()).collect();
            let bytes = if self.latin_1 {
                latin()
            } else {
                text.clone().into_bytes()
            };
            files.push((format!("{dist_info}/{file}"), bytes, 0o644));
        }
        let mut record: String = files
            .iter()
            .map(|(name, content, _)| row(name, content))
            .collect();
        record.push_str(&format!("{dist_info}/RECORD,,\n"));
        files.push((
            format!("{dist_info}/RECORD"),
            self.edited("RECORD", record).into_bytes(),
            0o644,
        ));
        let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
        for (name, content, mode) in files {
            let options = SimpleFileOptions::default()
                .compression_method(self.method)
                .unix_permissions(mode);
            writer.start_file(name, options).unwrap();
            writer.write_all(&content).unwrap();
        }
        writer.finish().unwrap().into_inner()
    }

    fn edited(&self, file: &str, text: String) -> String {
        self.edits
            .iter()
            .filter(|(name, _)| name == file)
            .fold(text, |text, (_, edit)| edit(text))
    }

    fn metadata(&self) -> String {
        let name = self.name.distribution().as_str().replace('_', "-");
        let lines: String = self
            .headers
            .iter()
            .map(|line| format!("{line}\n"))
            .collect();
        format!(
            "Metadata-Version: 2.1\nName: {name}\nVersion: {}\nSummary: Made for a test\n{lines}\nA description.\n",
            self.name.version()
        )
    }

    fn wheel(&self) -> String {
        let build = self
            .name
            .build_tag()
            .map(|build| format!("Build: {build}\n"))
            .unwrap_or_default();
        let tags: String = self
            .name
            .expanded_tags()
            .iter()
            .map(|tag| format!("Tag: {tag}\n"))
            .collect();
        let purelib = self.name.is_platform_independent();
        format!(
            "Wheel-Version: 1.0\nGenerator: made for a test\nRoot-Is-Purelib: {purelib}\n{build}{tags}"
        )
    }
}

/// The row of RECORD for a file.
pub fn row(name: &str, content: &[u8]) -> String {
    let name = if name.contains([',', '"']) {
        format!("\"{}\"", name.replace('"', "\"\""))
    } else {
        name.to_owned()
    };
    let digest = Digest::new(Sha256::digest(content).into());
    format!("{name},sha256={},{}\n", digest.to_base64(), content.len())
}
