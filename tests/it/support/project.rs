//! A project folder to run the binary in.

use std::ffi::OsString;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::printed_commands::try_printed_commands;

/// Variables that would change what the binary does, by prefix.
const SCRUBBED: [&str; 8] = [
    "GITHUB_",
    "RUNNER_",
    "GH_",
    "ROCK_",
    "NO_COLOR",
    "CI",
    "CLICOLOR",
    "FLASH_ATTENTION_",
];

/// A temporary folder with files, and the way the binary is run in it.
///
/// ```ignore
/// let done = Project::new().file("m.yaml", text).run(&["check", "m.yaml"]).exits(1);
/// assert!(done.stderr.starts_with("error[M020 unknown-key]"));
/// ```
#[derive(Debug)]
pub struct Project {
    folder: tempfile::TempDir,
    variables: Vec<(String, OsString)>,
}

impl Project {
    /// An empty folder.
    pub fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
            variables: Vec::new(),
        }
    }

    /// Adds a text file; parents are made.
    pub fn file(self, path: &str, text: &str) -> Self {
        self.bytes(path, text.as_bytes())
    }

    /// Adds a file of any bytes; parents are made.
    pub fn bytes(self, path: &str, bytes: &[u8]) -> Self {
        keep(path, bytes);
        let path = self.path(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
        self
    }

    /// Adds a source distribution that has what installers need,
    /// `source_distribution("dist/toy-1.0.tar.gz")`.
    pub fn source_distribution(self, path: &str) -> Self {
        let name = path.rsplit('/').next().unwrap();
        self.bytes(path, &super::SourceArchive::named(name).bytes())
    }

    /// Adds a copy of a file or folder of this package,
    /// `copy("matrices/flash-attn.yaml", "m.yaml")`.
    pub fn copy(self, from: &str, to: &str) -> Self {
        copy_tree(
            &Path::new(env!("CARGO_MANIFEST_DIR")).join(from),
            &self.path(to),
        );
        self
    }

    /// Sets a variable for the binary.
    pub fn env(mut self, name: &str, value: impl Into<OsString>) -> Self {
        self.variables.push((name.to_owned(), value.into()));
        self
    }

    /// The folder.
    pub fn root(&self) -> &Path {
        self.folder.path()
    }

    /// A path in the folder.
    pub fn path(&self, path: &str) -> PathBuf {
        self.root().join(path)
    }

    /// The text of a file in the folder.
    #[track_caller]
    pub fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.path(path)).unwrap_or_else(|e| panic!("{path}: {e}"))
    }

    /// Whether there is something at a path in the folder.
    pub fn has(&self, path: &str) -> bool {
        self.path(path).exists()
    }

    /// Every file in the folder, sorted, with `/` between folders.
    pub fn files(&self) -> Vec<String> {
        let mut found = Vec::new();
        let mut folders = vec![self.root().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(&folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    found.push(
                        path.strip_prefix(self.root())
                            .unwrap()
                            .to_str()
                            .unwrap()
                            .to_owned(),
                    );
                }
            }
        }
        found.sort();
        found
    }

    /// The command, not yet run: for stories that need more than [`Self::run`] gives.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.program(env!("CARGO_BIN_EXE_rock-matrix"));
        command.args(arguments);
        command
    }

    /// A program in the folder of the project, with nothing of this machine in its environment that
    /// the binary reads.
    pub fn program(&self, name: &str) -> Command {
        let mut command = Command::new(name);
        command.current_dir(self.root()).stdin(Stdio::null());
        for (name, _) in std::env::vars_os() {
            if name
                .to_str()
                .is_some_and(|name| SCRUBBED.iter().any(|prefix| name.starts_with(prefix)))
            {
                command.env_remove(name);
            }
        }
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command
    }

    /// Runs the binary to its end. The exit code must then be asserted with [`Ran::exits`].
    ///
    /// Commands that its messages print are tried as well.
    pub fn run(&self, arguments: &[&str]) -> Ran {
        let ran = self.ran(self.command(arguments), arguments);
        try_printed_commands(&ran.stderr, |words| self.command(words));
        ran
    }

    /// The same where no file may get longer than so many KiB, as on a disk that is full.
    pub fn run_limited(&self, kib: u32, arguments: &[&str]) -> Ran {
        let mut command = self.program("bash");
        let script = format!("ulimit -f {kib}; exec \"$0\" \"$@\"");
        command
            .args(["-c", &script, env!("CARGO_BIN_EXE_rock-matrix")])
            .args(arguments);
        self.ran(command, arguments)
    }

    /// Runs the binary where its user may have this many threads and processes: 1 permits the first
    /// thread alone.
    ///
    /// The system does not limit root, so that the binary then runs as a user without other
    /// processes who may write root's files (setrlimit(2), `RLIMIT_NPROC`).
    pub fn run_in_threads(&self, limit: u32, arguments: &[&str]) -> Ran {
        let mut command = if std::fs::metadata("/proc/self").unwrap().uid() == 0 {
            let user = (1_000_000 + std::process::id()).to_string();
            let mut command = self.program("setpriv");
            command.args(["--reuid", &user, "--regid", &user, "--clear-groups"]);
            command.args([
                "--inh-caps=+dac_override",
                "--ambient-caps=+dac_override",
                "prlimit",
            ]);
            command
        } else {
            self.program("prlimit")
        };
        command
            .arg(format!("--nproc={limit}"))
            .arg(env!("CARGO_BIN_EXE_rock-matrix"))
            .args(arguments);
        self.ran(command, arguments)
    }

    /// Runs a command that a message prints, as a shell reads it: the first one between backticks
    /// after `before`.
    #[track_caller]
    pub fn follow(&self, message: &str, before: &str) -> Ran {
        let line =
            printed_command(message, before).replace("[ROOT]", self.root().to_str().unwrap());
        let mut shell = self.program("bash");
        shell.args(["-c", &line]).env("PATH", path_with_program());
        self.ran(shell, &[&line])
    }

    fn ran(&self, mut command: Command, arguments: &[&str]) -> Ran {
        let output = command.output().unwrap();
        Ran {
            line: format!("rock-matrix {}", arguments.join(" ")),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
            code: output.status.code(),
            outcome: Outcome {
                stdout: self.shown(output.stdout),
                stderr: self.shown(output.stderr),
            },
        }
    }

    /// Returns an output with `[ROOT]` for the folder and `[VERSION]` for the version of the
    /// program.
    pub fn shown(&self, output: Vec<u8>) -> String {
        let text = String::from_utf8(output).expect("the binary writes UTF-8");
        let canonical = self.root().canonicalize().unwrap();
        text.replace(canonical.to_str().unwrap(), "[ROOT]")
            .replace(self.root().to_str().unwrap(), "[ROOT]")
            .replace(
                concat!("rock-matrix ", env!("CARGO_PKG_VERSION")),
                "rock-matrix [VERSION]",
            )
    }
}

/// The first command between backticks after `before` in a message.
#[track_caller]
pub fn printed_command<'a>(message: &'a str, before: &str) -> &'a str {
    let (_, rest) = message
        .split_once(before)
        .unwrap_or_else(|| panic!("no `{before}` in: {message}"));
    rest.split('`')
        .nth(1)
        .unwrap_or_else(|| panic!("no command after `{before}` in: {message}"))
}

/// `PATH` with the folder of the binary in front.
pub fn path_with_program() -> String {
    let folder = Path::new(env!("CARGO_BIN_EXE_rock-matrix"))
        .parent()
        .unwrap();
    format!("{}:{}", folder.display(), std::env::var("PATH").unwrap())
}

/// A finished run whose exit code was not looked at yet.
#[derive(Debug)]
#[must_use = "the exit code must be asserted with `exits`"]
pub struct Ran {
    line: String,
    stderr: String,
    code: Option<i32>,
    outcome: Outcome,
}

impl Ran {
    /// Asserts the exit code and gives the outputs.
    #[track_caller]
    pub fn exits(self, code: i32) -> Outcome {
        let Outcome { stdout, stderr } = &self.outcome;
        assert_eq!(
            self.code,
            Some(code),
            "`{}`\n--- stdout\n{stdout}\n--- stderr\n{stderr}",
            self.line
        );
        self.outcome
    }
}

/// What a run wrote, with `[ROOT]` for the project's folder and `[VERSION]` for the version of the
/// program.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// Data.
    pub stdout: String,
    /// Talk.
    pub stderr: String,
}

impl Outcome {
    /// Standard output as JSON.
    #[track_caller]
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|e| panic!("{e}: {}", self.stdout))
    }
}

/// Keeps a copy of each wheel that a story makes in `$ROCK_STORY_WHEELS/STORY/NUMBER/`, for other
/// programs to judge.
fn keep(path: &str, bytes: &[u8]) {
    let is_wheel = Path::new(path)
        .extension()
        .is_some_and(|ending| ending == "whl");
    let Some(folder) = std::env::var_os("ROCK_STORY_WHEELS").filter(|_| is_wheel) else {
        return;
    };
    let story = std::thread::current()
        .name()
        .unwrap_or("main")
        .replace("::", ".");
    let story = PathBuf::from(folder).join(story);
    let number = std::fs::read_dir(&story).map_or(0, Iterator::count);
    let place = story.join(format!("{number:03}"));
    std::fs::create_dir_all(&place).unwrap();
    std::fs::write(place.join(path.rsplit('/').next().unwrap()), bytes).unwrap();
}

pub(super) fn copy_tree(from: &Path, to: &Path) {
    if from.is_dir() {
        std::fs::create_dir_all(to).unwrap();
        for entry in std::fs::read_dir(from).unwrap() {
            let entry = entry.unwrap();
            copy_tree(&entry.path(), &to.join(entry.file_name()));
        }
    } else {
        std::fs::create_dir_all(to.parent().unwrap()).unwrap();
        std::fs::copy(from, to).unwrap();
    }
}
