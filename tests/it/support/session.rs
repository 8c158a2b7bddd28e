//! Sessions at a terminal: a folder of described files, commands, and everything that they write.
//!
//! ```text
//! A description of the session.
//!
//! --- m.yaml
//! the text of the file, up to the next section
//!
//! --- demo-1.0-py3-none-any.whl
//! the properties of the wheel; see `described`
//!
//! $ rock-matrix check m.yaml
//! the output of the command: standard output and error, in order
//! exit 1
//! ```
//!
//! Sections other than files:
//! - `--- shared NAME`: the sections of `shared/NAME.files`
//! - `--- copy FROM TO`: a file or folder of this repository
//! - `--- artifacts`: artifacts of a ROCm build in `artifacts`
//! - `--- github`: a GitHub with these faults, which the commands use
//!
//! A file that begins with `#!` may be run, and those in `bin` come first in `PATH`. A command that
//! succeeds has no `exit` line.

use std::fmt::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::LazyLock;

use fake_github::model::{DigestMode, FakeGithub, FaultRule, GithubSettings};
use fake_github::server::FakeServer;
use regex::Regex;

use super::project::{copy_tree, path_with_program};
use super::{Project, described};

/// Environment variables that make commits and messages the same on every machine.
const VARIABLES: [(&str, &str); 13] = [
    ("LC_ALL", "C.UTF-8"),
    ("TZ", "UTC"),
    ("GIT_CONFIG_GLOBAL", "/dev/null"),
    ("GIT_CONFIG_NOSYSTEM", "1"),
    ("GIT_CONFIG_COUNT", "1"),
    ("GIT_CONFIG_KEY_0", "protocol.file.allow"),
    ("GIT_CONFIG_VALUE_0", "always"),
    ("GIT_AUTHOR_NAME", "A Person"),
    ("GIT_AUTHOR_EMAIL", "person@example.com"),
    ("GIT_AUTHOR_DATE", "2026-01-02T03:04:05Z"),
    ("GIT_COMMITTER_NAME", "A Person"),
    ("GIT_COMMITTER_EMAIL", "person@example.com"),
    ("GIT_COMMITTER_DATE", "2026-01-02T03:04:05Z"),
];

/// A session that is read from the text of a file.
pub struct Session<'t> {
    setup: &'t str,
    commands: Vec<&'t str>,
}

/// The folder of a session, and the server that its commands use.
struct Scene<'f> {
    project: Project,
    github: Option<FakeServer>,
    shared: &'f Path,
}

impl<'t> Session<'t> {
    /// Reads the text: sections up to the first line with a command, and the commands.
    pub fn parse(text: &'t str) -> Self {
        let start = text.find("\n$ ").expect("a line with a command, `$ …`") + 1;
        let (setup, rest) = text.split_at(start);
        let commands = rest.lines().filter_map(|line| line.strip_prefix("$ "));
        Self {
            setup,
            commands: commands.collect(),
        }
    }

    /// Whether files of the session are built by the C compiler, so that sizes depend on it.
    fn has_compiled_files(&self) -> bool {
        let is_compiled = |line: &str| {
            line.starts_with("library ") || ["--- artifacts", "--- shared sdk"].contains(&line)
        };
        self.setup.lines().any(is_compiled)
    }

    /// Runs the commands in a new folder. Returns the text with what they write now.
    pub fn run(&self, shared: &Path) -> String {
        let mut scene = Scene {
            project: Project::new(),
            github: None,
            shared,
        };
        scene.set_up(self.setup);
        let mut text = self.setup.to_owned();
        for command in &self.commands {
            let _ = writeln!(text, "$ {command}");
            let (mut written, code) = scene.run(command);
            if self.has_compiled_files() {
                written = without_sizes(&written);
            }
            assert!(
                !written.lines().any(|line| line.starts_with("$ ")),
                "`{command}` prints a line that would be read as a command: {written}"
            );
            text.push_str(&written);
            if !written.is_empty() && !written.ends_with('\n') {
                text.push('\n');
            }
            if code != 0 {
                let _ = writeln!(text, "exit {code}");
            }
            if code != 0 || !written.is_empty() {
                text.push('\n');
            }
        }
        format!("{}\n", text.trim_end_matches('\n'))
    }
}

impl Scene<'_> {
    fn set_up(&mut self, text: &str) {
        for section in text.split("\n--- ").skip(1) {
            let (title, body) = section.split_once('\n').unwrap_or((section, ""));
            let body = body.trim_end_matches('\n');
            match title.split(' ').collect::<Vec<_>>()[..] {
                ["shared", name] => {
                    let path = self.shared.join(format!("{name}.files"));
                    let text = std::fs::read_to_string(&path)
                        .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
                    self.set_up(&text);
                }
                ["copy", from, to] => copy_tree(
                    &Path::new(env!("CARGO_MANIFEST_DIR")).join(from),
                    &self.project.path(to),
                ),
                ["artifacts"] => described::artifacts(&self.project, body),
                ["github"] => self.github = Some(github(body)),
                _ => self.write(title, body),
            }
        }
    }

    fn write(&self, path: &str, body: &str) {
        let name = path.rsplit('/').next().unwrap_or(path);
        let kind = body.split(' ').next().unwrap_or_default();
        let bytes = match Path::new(name).extension().and_then(|end| end.to_str()) {
            Some("whl") => described::wheel(name, body),
            Some("gz") => described::source_archive(name, body),
            _ if ["elf", "library"].contains(&kind) => described::library(body),
            _ if body.is_empty() => Vec::new(),
            _ => format!("{body}\n").into_bytes(),
        };
        let path = self.project.path(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, &bytes).unwrap();
        if bytes.starts_with(b"#!") {
            let mode = std::fs::Permissions::from_mode(0o755);
            std::fs::set_permissions(path, mode).unwrap();
        }
    }

    /// Runs a line as bash does. Returns all that is written and the exit code.
    fn run(&self, line: &str) -> (String, i32) {
        let mut bash = self.project.program("bash");
        // One pipe for both outputs keeps them in order, as a terminal does.
        bash.args(["-o", "pipefail", "-c", &format!("exec 2>&1\n{line}")]);
        let path = format!(
            "{}:{}",
            self.project.path("bin").display(),
            path_with_program()
        );
        bash.env("PATH", path)
            .env("HOME", self.project.root())
            .envs(VARIABLES);
        if let Some(github) = &self.github {
            bash.env("ROCK_MATRIX_API_URL", github.url())
                .env("GITHUB_TOKEN", "writer");
        }
        let output = bash.output().unwrap();
        let code = output
            .status
            .code()
            .unwrap_or_else(|| panic!("`{line}` ends with {}", output.status));
        (normalized(&self.project.shown(output.stdout)), code)
    }
}

/// Starts a server with these lines: `fault RULE`, `private`, `immutable`, `no-digests`.
fn github(lines: &str) -> FakeServer {
    let mut settings = GithubSettings::default();
    if lines.lines().any(|line| line == "no-digests") {
        settings.digests = DigestMode::Null;
    }
    let server = FakeServer::start(FakeGithub::new(settings));
    for line in lines.lines() {
        let mut github = server.github();
        match line.split_once(' ').unwrap_or((line, "")) {
            ("fault", rule) => github.faults.add(rule.parse::<FaultRule>().unwrap()),
            ("private", "") => github.repository_mut("me/wheels").is_private = true,
            ("immutable", "") => {
                github.repository_mut("me/wheels").has_immutable_releases = true;
            }
            ("no-digests", "") => {}
            _ => panic!("a GitHub has no `{line}`"),
        }
    }
    server
}

/// Replaces what differs from run to run: ports and times.
fn normalized(text: &str) -> String {
    static PORT: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"(http://)?127\.0\.0\.1:[0-9]+").unwrap());
    static TIME: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"\b(after|in) [0-9]+ (ms|s|min)\b").unwrap());
    let text = PORT.replace_all(text, "[GITHUB]");
    TIME.replace_all(&text, "$1 [TIME]").into_owned()
}

/// Replaces sizes, which differ from compiler to compiler.
fn without_sizes(text: &str) -> String {
    static SIZE: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"\b[0-9]+(\.[0-9]+)? [kMG]B\b").unwrap());
    SIZE.replace_all(text, "[SIZE]").into_owned()
}
