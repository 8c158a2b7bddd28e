//! The files of the repository, and the part of a Rust file that is not its tests.

use std::path::Path;
use std::process::Command;

/// A text file of the repository.
#[derive(Debug, Clone)]
pub(crate) struct SourceFile {
    /// The path from the root, with `/`.
    pub(crate) path: String,
    /// The whole text.
    pub(crate) text: String,
    /// Whether the whole file is compiled for tests only.
    pub(crate) is_test: bool,
}

impl SourceFile {
    /// A file that is not on disk, for planted faults.
    pub(crate) fn planted(path: &str, text: &str) -> Self {
        Self {
            path: path.to_owned(),
            text: text.to_owned(),
            is_test: path.ends_with("/tests.rs") || path.contains("/tests/"),
        }
    }

    /// The text up to its unit tests, without comments: what the program is made of.
    pub(crate) fn code(&self) -> String {
        let lines = self.text.lines().take(self.code_lines());
        lines
            .map(|line| {
                if line.trim_start().starts_with("//") {
                    ""
                } else {
                    line
                }
            })
            .collect::<Vec<_>>()
            .join("\n")
    }

    /// The unit tests.
    pub(crate) fn tests(&self) -> String {
        self.text
            .lines()
            .skip(self.code_lines())
            .collect::<Vec<_>>()
            .join("\n")
    }

    /// How many lines come before the unit tests.
    pub(crate) fn code_lines(&self) -> usize {
        if self.is_test {
            return 0;
        }
        let lines: Vec<&str> = self.text.lines().collect();
        let begins_tests = |at: usize| {
            lines[at] == "#[cfg(test)]"
                && lines.get(at + 1).is_some_and(|next| {
                    next.ends_with('{') && (next.starts_with("mod ") || next.starts_with("impl "))
                })
        };
        (0..lines.len())
            .find(|at| begins_tests(*at))
            .unwrap_or(lines.len())
    }

    /// The module path: `["plan", "json"]` for `src/plan/json.rs`, `["elf", "edit"]` for
    /// `crates/rock-elf/src/edit.rs`, empty for the roots of the main crate.
    pub(crate) fn module(&self) -> Vec<&str> {
        let (library, inner) = match self.path.strip_prefix("crates/rock-") {
            Some(path) => path.split_once("/src/").unzip(),
            None => (None, self.path.strip_prefix("src/")),
        };
        let Some(inner) = inner.and_then(|path| path.strip_suffix(".rs")) else {
            return Vec::new();
        };
        let inner = inner.strip_suffix("/mod").unwrap_or(inner);
        let inner = Some(inner).filter(|inner| !["lib", "main"].contains(inner));
        library
            .into_iter()
            .chain(inner.into_iter().flat_map(|inner| inner.split('/')))
            .collect()
    }

    /// Whether it is compiled into the program.
    pub(crate) fn is_program(&self) -> bool {
        self.path.starts_with("src/")
            || self.path.starts_with("crates/rock-")
                && !self.path.starts_with("crates/rock-testkit/")
                && self.path.contains("/src/")
    }

    /// Whether it is the root of a module of the crate.
    pub(crate) fn is_module_root(&self) -> bool {
        self.module().len() == 1
    }
}

/// Every text file that git knows; without git, every file but those that builds make.
pub(crate) fn all() -> Vec<SourceFile> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let listed = Command::new("git")
        .args(["ls-files", "-z", "--cached"])
        .current_dir(root)
        .output();
    let mut paths: Vec<String> = match listed {
        Ok(output) if output.status.success() && !output.stdout.is_empty() => {
            String::from_utf8(output.stdout)
                .unwrap()
                .split_terminator('\0')
                .map(str::to_owned)
                .collect()
        }
        _ => walk(root),
    };
    paths.sort();
    let read = |path: String| {
        Some(SourceFile::planted(
            &path,
            &std::fs::read_to_string(root.join(&path)).ok()?,
        ))
    };
    let mut files: Vec<SourceFile> = paths.into_iter().filter_map(read).collect();
    let only_for_tests: Vec<String> = files.iter().flat_map(test_modules).collect();
    for file in &mut files {
        file.is_test |= only_for_tests.contains(&file.path);
    }
    files
}

/// What stands before modules of tests, and of builders that fuzzing uses, too.
const ONLY_FOR_TESTS: [&str; 2] = ["#[cfg(test)]", "#[cfg(any(test, fuzzing))]"];

/// The files of modules that a file declares for tests only.
fn test_modules(file: &SourceFile) -> Vec<String> {
    let folder = match file.path.rsplit_once('/') {
        Some((folder, "mod.rs" | "lib.rs" | "main.rs")) => folder,
        _ => file.path.strip_suffix(".rs").unwrap_or(&file.path),
    };
    let lines: Vec<&str> = file.text.lines().collect();
    let declared = lines
        .windows(2)
        .filter(|pair| ONLY_FOR_TESTS.contains(&pair[0]))
        .filter_map(|pair| {
            let declaration = pair[1].strip_prefix("pub ").unwrap_or(pair[1]);
            declaration.strip_prefix("mod ")?.strip_suffix(';')
        });
    declared.map(|name| format!("{folder}/{name}.rs")).collect()
}

/// The program's own Rust files.
pub(crate) fn rust() -> Vec<SourceFile> {
    let is_build = |path: &str| path == "build.rs" || path.ends_with("/build.rs");
    all()
        .into_iter()
        .filter(|file| file.path.ends_with(".rs") && (file.is_program() || is_build(&file.path)))
        .collect()
}

fn walk(root: &Path) -> Vec<String> {
    let (mut found, mut open) = (Vec::new(), vec![root.to_owned()]);
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if path.is_dir() && !["target", ".git", ".rock"].contains(&name.as_str()) {
                open.push(path);
            } else if path.is_file() {
                found.push(
                    path.strip_prefix(root)
                        .unwrap()
                        .to_string_lossy()
                        .into_owned(),
                );
            }
        }
    }
    found
}

#[test]
fn tests_and_comments_are_not_code() {
    let text = "//! x\nuse a;\n// use b;\n#[cfg(test)]\nuse c;\n#[cfg(test)]\nmod tests {\n    use d;\n}\n";
    let file = SourceFile::planted("src/plan/json.rs", text);
    assert_eq!(file.code(), "\nuse a;\n\n#[cfg(test)]\nuse c;");
    assert!(file.tests().contains("use d;"));
    assert_eq!(file.module(), ["plan", "json"]);
    let module = |path| SourceFile::planted(path, "").module().join("/");
    assert_eq!(module("crates/rock-elf/src/edit/mod.rs"), "elf/edit");
    assert_eq!(module("crates/rock-elf/src/lib.rs"), "elf");
    assert_eq!(module("src/lib.rs"), "");
}

#[test]
fn a_module_for_tests_is_no_code() {
    let file = SourceFile::planted(
        "src/recipe/mod.rs",
        "#[cfg(test)]\npub mod fixture;\nmod step;\n",
    );
    assert_eq!(test_modules(&file), ["src/recipe/fixture.rs"]);
    let file = SourceFile::planted("src/names/label.rs", "#[cfg(test)]\nmod tests;\n");
    assert_eq!(test_modules(&file), ["src/names/label/tests.rs"]);
}

#[test]
fn the_repository_is_found() {
    let paths: Vec<String> = all().into_iter().map(|file| file.path).collect();
    assert!(
        paths.contains(&"Cargo.toml".to_owned()) && paths.contains(&"src/lib.rs".to_owned()),
        "{paths:?}"
    );
}
