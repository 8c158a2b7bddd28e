//! Shared libraries and programs made by the C compiler of this machine, with the needs that a test
//! asks for.
//!
//! What a library needs is linked from stand-ins that are made for it, so that the versions of this
//! machine's own libraries play no part.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

use sha2::{Digest as _, Sha256};

/// A note that says that x86-64-v3 is needed: `NT_GNU_PROPERTY_TYPE_0` with
/// `GNU_PROPERTY_X86_ISA_1_NEEDED`.
pub const NEEDS_X86_64_V3: &str = "
    .section .note.gnu.property,\"a\",@note
    .p2align 3
    .long 4, 16, 5
    .asciz \"GNU\"
    .long 0xc0008002, 4, 4, 0
";

/// A library to be made.
#[derive(Debug, Clone, Default)]
pub struct Library {
    soname: String,
    needs: Vec<(String, Vec<String>)>,
    linked: Vec<String>,
    undefined: Vec<String>,
    exports: Vec<String>,
    assembly: String,
    flags: Vec<String>,
    is_program: bool,
}

impl Library {
    /// A library without needs.
    pub fn new() -> Self {
        Self::default()
    }

    /// An extension module of Python 3.
    pub fn extension(module: &str) -> Self {
        Self::default().exports(&format!("PyInit_{module}"))
    }

    /// A program instead of a library.
    pub fn program() -> Self {
        Self {
            is_program: true,
            ..Self::default()
        }
    }

    /// Its own name.
    pub fn soname(mut self, name: &str) -> Self {
        name.clone_into(&mut self.soname);
        self
    }

    /// A library that it needs, with these versions of symbols.
    pub fn needs(mut self, soname: &str, versions: &[&str]) -> Self {
        let mut versions: Vec<String> = versions.iter().map(|one| (*one).to_owned()).collect();
        versions.dedup();
        self.needs.push((soname.to_owned(), versions));
        self
    }

    /// A library that it needs without using it.
    pub fn linked(mut self, soname: &str) -> Self {
        self.linked.push(soname.to_owned());
        self
    }

    /// A symbol that it needs of any library.
    pub fn undefined(mut self, symbol: &str) -> Self {
        self.undefined.push(symbol.to_owned());
        self
    }

    /// A function that it defines; it returns 42.
    pub fn exports(mut self, symbol: &str) -> Self {
        self.exports.push(symbol.to_owned());
        self
    }

    /// Its RPATH.
    pub fn rpath(self, path: &str) -> Self {
        self.flag("-Wl,--disable-new-dtags")
            .flag(&format!("-Wl,-rpath,{path}"))
    }

    /// Its RUNPATH.
    pub fn runpath(self, path: &str) -> Self {
        self.flag("-Wl,--enable-new-dtags")
            .flag(&format!("-Wl,-rpath,{path}"))
    }

    /// Assembly that goes into it, such as sections.
    pub fn assembly(mut self, text: &str) -> Self {
        self.assembly.push_str(text);
        self
    }

    /// An option of the compiler.
    pub fn flag(mut self, flag: &str) -> Self {
        self.flags.push(flag.to_owned());
        self
    }

    /// Returns the bytes of the file. They are compiled once and cached by the library's
    /// properties, the text of this file and the compiler.
    pub fn build(&self) -> Vec<u8> {
        let mut key = Sha256::new();
        key.update(include_str!("elf.rs"));
        key.update(format!("{:?}{self:?}", compiler()));
        let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("libraries");
        let path = cache.join(rock_matrix::names::Digest::new(key.finalize().into()).to_hex());
        if let Ok(bytes) = std::fs::read(&path) {
            return bytes;
        }
        let bytes = self.compile();
        std::fs::create_dir_all(&cache).unwrap();
        let mut pending = tempfile::NamedTempFile::new_in(&cache).unwrap();
        pending.write_all(&bytes).unwrap();
        pending.persist(&path).unwrap();
        bytes
    }

    fn compile(&self) -> Vec<u8> {
        let folder = tempfile::tempdir().unwrap();
        let mut code = String::new();
        let (mut calls, mut inputs) = (String::new(), Vec::new());
        for (soname, versions) in &self.needs {
            inputs.push(stand_in(folder.path(), soname, versions));
            let symbols = symbols(soname, versions);
            for (symbol, _) in &symbols {
                let _ = writeln!(code, "void {symbol}(void);");
                let _ = write!(calls, "{symbol}();");
            }
        }
        inputs.extend(
            self.linked
                .iter()
                .map(|soname| stand_in(folder.path(), soname, &[])),
        );
        for symbol in &self.undefined {
            let _ = writeln!(code, "void f_{0}(void) __asm__(\"{symbol}\");", calls.len());
            let place = calls.len();
            let _ = write!(calls, "f_{place}();");
        }
        for symbol in &self.exports {
            let _ = writeln!(code, "int {symbol}(void) {{ return 42; }}");
        }
        let _ = writeln!(code, "void call_everything(void) {{ {calls} }}");
        if self.is_program {
            code.push_str("void _start(void) { call_everything(); }\n");
        }
        std::fs::write(folder.path().join("code.c"), &code).unwrap();
        std::fs::write(
            folder.path().join("more.s"),
            format!(
                "{}\n.section .note.GNU-stack,\"\",@progbits\n",
                self.assembly
            ),
        )
        .unwrap();
        let mut command = cc(folder.path());
        command.args(if self.is_program {
            ["-pie", "-fPIE"]
        } else {
            ["-shared", "-fPIC"]
        });
        if !self.soname.is_empty() {
            command.arg(format!("-Wl,-soname,{}", self.soname));
        }
        command.args([
            "-Wl,--unresolved-symbols=ignore-all",
            "-Wl,--no-as-needed",
            "-o",
            "out",
            "code.c",
            "more.s",
        ]);
        run(command.args(&inputs).args(&self.flags));
        std::fs::read(folder.path().join("out")).unwrap()
    }
}

/// A symbol for each version; without versions one that has none.
fn symbols(soname: &str, versions: &[String]) -> Vec<(String, Option<String>)> {
    let word = |text: &str| {
        text.chars()
            .map(|c| if c.is_ascii_alphanumeric() { c } else { '_' })
            .collect::<String>()
    };
    if versions.is_empty() {
        return vec![(format!("of_{}", word(soname)), None)];
    }
    versions
        .iter()
        .map(|one| {
            (
                format!("of_{}_{}", word(soname), word(one)),
                Some(one.clone()),
            )
        })
        .collect()
}

/// Links a library of this name that offers these versions, and tells its file's name.
fn stand_in(folder: &Path, soname: &str, versions: &[String]) -> String {
    let (mut code, mut script) = (String::new(), String::new());
    for (symbol, version) in symbols(soname, versions) {
        let _ = writeln!(code, "void {symbol}(void) {{}}");
        if let Some(version) = version {
            let _ = writeln!(script, "{version} {{ global: {symbol}; }};");
        }
    }
    let file = format!("stand-in-{}", soname.replace('/', "-"));
    std::fs::write(folder.join("stand-in.c"), code).unwrap();
    std::fs::write(folder.join("stand-in.map"), script).unwrap();
    let mut command = cc(folder);
    command
        .args(["-shared", "-fPIC", "stand-in.c", "-o", &file])
        .arg(format!("-Wl,-soname,{soname}"));
    if !versions.is_empty() {
        command.arg("-Wl,--version-script=stand-in.map");
    }
    run(&mut command);
    file
}

/// The C compiler in PATH: its real path, size and modification time.
fn compiler() -> Option<(PathBuf, u64, Option<SystemTime>)> {
    let path = std::env::var_os("PATH")?;
    let found =
        std::env::split_paths(&path).find_map(|folder| folder.join("cc").canonicalize().ok())?;
    let metadata = found.metadata().ok()?;
    Some((found, metadata.len(), metadata.modified().ok()))
}

fn cc(folder: &Path) -> Command {
    let mut command = Command::new("cc");
    command
        .current_dir(folder)
        .args(["-nostdlib", "-fno-stack-protector", "-O1"]);
    command
}

fn run(command: &mut Command) {
    let output = command
        .output()
        .expect("a C compiler, which Rust needs to link");
    assert!(
        output.status.success(),
        "{command:?}\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
}
