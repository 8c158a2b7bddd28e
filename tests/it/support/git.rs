//! Repositories to check out: made by git, with submodules in submodules and hundreds of commits.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use sha2::{Digest as _, Sha256};

use super::Project;
use super::project::{Ran, copy_tree};

/// Writes beside each `.cu` file what it becomes, and a line into a file that is there.
const HIPIFY: &str = "\
import pathlib, os, sys, time
if os.path.exists('../slow'):
    pathlib.Path('half.hip').write_text('half')
    pathlib.Path('../ready').write_text(str(os.getpid()))
    time.sleep(600)
if os.path.exists('../bad'):
    pathlib.Path('half.hip').write_text('half')
    sys.exit('cannot hipify k.cu')
for path in sorted(pathlib.Path('.').rglob('*.cu')):
    path.with_suffix('.hip').write_text(path.read_text().replace('cuda', 'hip'))
notes = pathlib.Path('notes.txt')
notes.write_text(notes.read_text() + 'hipified\\n')
";
/// The tag on what upstream has.
pub const UPSTREAM: &str = "THEROCK_UPSTREAM_DIFFBASE";
/// Commits below the first tag of the outer repository.
const HISTORY: usize = 300;
/// A file that names the folder in which the repositories were created.
const CREATED_IN: &str = "created-in";

/// A folder with `upstream/top`, which has the submodule `third_party/a` with the submodule
/// `deep/b`.
pub struct Sources {
    pub project: Project,
}

impl Sources {
    /// The repositories, at the tags `v1` and `v2` of `top`. The first test creates them, the
    /// others copy them.
    pub fn new() -> Self {
        let sources = Self::empty();
        let template = template();
        copy_tree(&template, &sources.path(""));
        // The addresses of submodules are absolute.
        for config in [
            "upstream/a/.git/config",
            "upstream/a/.git/modules/deep/b/config",
            "upstream/top/.git/config",
            "upstream/top/.git/modules/third_party/a/config",
        ] {
            let path = sources.path(config);
            let text = std::fs::read_to_string(&path).unwrap();
            let here = sources.project.root().display().to_string();
            let created_in = std::fs::read_to_string(template.join(CREATED_IN)).unwrap();
            assert!(text.contains(&created_in), "{config}: {text}");
            std::fs::write(path, text.replace(&created_in, &here)).unwrap();
        }
        std::fs::remove_file(sources.path(CREATED_IN)).unwrap();
        sources
    }

    fn empty() -> Self {
        let project = Project::new()
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_CONFIG_COUNT", "1")
            .env("GIT_CONFIG_KEY_0", "protocol.file.allow")
            .env("GIT_CONFIG_VALUE_0", "always");
        Self { project }
    }

    fn create() -> Self {
        let sources = Self::empty();
        for name in ["b", "a", "top"] {
            std::fs::create_dir_all(sources.path(&format!("upstream/{name}"))).unwrap();
            sources.git(&format!("upstream/{name}"), &["init", "-q", "-b", "main"]);
        }
        sources
            .write("upstream/b/b.txt", "b\n")
            .commit("upstream/b", "b");
        sources
            .write("upstream/a/a.cu", "cuda a\n")
            .submodule("upstream/a", "b", "deep/b")
            .commit("upstream/a", "a");
        sources.history();
        sources
            .write("upstream/top/k.cu", "cuda\n")
            .write("upstream/top/notes.txt", "notes\n")
            .write("upstream/top/tools/amd_build/build_amd.py", HIPIFY)
            .submodule("upstream/top", "a", "third_party/a")
            .commit("upstream/top", "top");
        sources.git("upstream/top", &["tag", "v1"]);
        sources
            .write("upstream/top/notes.txt", "notes\nmore\n")
            .commit("upstream/top", "more");
        sources.git(
            "upstream/top",
            &["tag", "--annotate", "--message", "v2", "v2"],
        );
        sources.write(CREATED_IN, &sources.project.root().display().to_string());
        sources
    }

    /// Many commits at once.
    fn history(&self) {
        let commit = |number: usize| {
            let text = format!("{number}\n");
            let message = format!("commit {number}");
            format!(
                "commit refs/heads/main\ncommitter x <x@example.com> {} +0000\ndata {}\n{message}\n\
                 M 100644 inline count.txt\ndata {}\n{text}\n",
                1_000_000_000 + number,
                message.len(),
                text.len(),
            )
        };
        let stream: String = (1..=HISTORY).map(commit).collect();
        let file = self.path("stream");
        std::fs::write(&file, stream).unwrap();
        let import = Command::new("git")
            .args(["fast-import", "--quiet"])
            .current_dir(self.path("upstream/top"))
            .stdin(std::fs::File::open(&file).unwrap())
            .status();
        assert!(import.unwrap().success());
        std::fs::remove_file(file).unwrap();
        self.git("upstream/top", &["reset", "-q", "--hard"]);
    }

    /// A path in the project's folder.
    pub fn path(&self, path: &str) -> std::path::PathBuf {
        self.project.path(path)
    }

    /// Writes a file.
    pub fn write(&self, path: &str, text: &str) -> &Self {
        let path = self.path(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
        self
    }

    fn submodule(&self, folder: &str, name: &str, path: &str) -> &Self {
        self.git(
            folder,
            &["submodule", "--quiet", "add", &format!("../{name}"), path],
        );
        self
    }

    /// Commits all that is changed.
    pub fn commit(&self, folder: &str, message: &str) -> &Self {
        self.git(folder, &["add", "--all"]);
        self.git(
            folder,
            &["commit", "--quiet", "--allow-empty", "--message", message],
        );
        self
    }

    /// Runs git as a person would, and gives what it printed.
    #[track_caller]
    pub fn git(&self, folder: &str, words: &[&str]) -> String {
        let done = self.git_command(folder, words).output().unwrap();
        let stderr = String::from_utf8_lossy(&done.stderr);
        assert!(done.status.success(), "git {words:?} in {folder}: {stderr}");
        String::from_utf8(done.stdout)
            .unwrap()
            .trim_end()
            .to_owned()
    }

    /// The command of a person, not yet run.
    pub fn git_command(&self, folder: &str, words: &[&str]) -> Command {
        let mut command = Command::new("git");
        command
            .args(words)
            .current_dir(self.path(folder))
            .stdin(Stdio::null());
        for (name, value) in [
            ("GIT_CONFIG_GLOBAL", "/dev/null"),
            ("GIT_CONFIG_NOSYSTEM", "1"),
            ("GIT_CONFIG_COUNT", "1"),
            ("GIT_CONFIG_KEY_0", "protocol.file.allow"),
            ("GIT_CONFIG_VALUE_0", "always"),
            ("GIT_AUTHOR_NAME", "A Person"),
            ("GIT_AUTHOR_EMAIL", "person@example.com"),
            ("GIT_COMMITTER_NAME", "A Person"),
            ("GIT_COMMITTER_EMAIL", "person@example.com"),
        ] {
            command.env(name, value);
        }
        command
    }

    /// The commit that a repository is at.
    #[track_caller]
    pub fn head(&self, folder: &str) -> String {
        self.git(folder, &["rev-parse", "HEAD"])
    }

    /// Fetches the tags of upstream into a checkout, which does not need them.
    pub fn fetch_tags(&self, folder: &str) -> &Self {
        self.git(
            folder,
            &[
                "fetch",
                "--quiet",
                "--tags",
                "--no-recurse-submodules",
                "origin",
            ],
        );
        self
    }

    /// The subjects of the commits above a ref, the first first.
    #[track_caller]
    pub fn subjects(&self, folder: &str, above: &str) -> Vec<String> {
        let text = self.git(
            folder,
            &["log", "--reverse", "--format=%s", &format!("{above}..HEAD")],
        );
        text.lines().map(str::to_owned).collect()
    }

    /// The tree below the head of a repository.
    #[track_caller]
    pub fn tree(&self, folder: &str) -> String {
        self.git(folder, &["rev-parse", "HEAD^{tree}"])
    }

    /// Makes a patch of a change of one file, in a checkout of its own.
    pub fn patch(&self, upstream: &str, file: &str, text: &str, subject: &str, to: &str) -> &Self {
        let work = format!("work-{}", to.replace('/', "-"));
        self.git(
            "upstream",
            &["clone", "--quiet", upstream, &format!("../{work}")],
        );
        self.write(&format!("{work}/{file}"), text)
            .commit(&work, subject);
        let patch = self.git(&work, &["format-patch", "--stdout", "-1"]);
        self.write(to, &(patch + "\n"));
        std::fs::remove_dir_all(self.path(&work)).unwrap();
        self
    }

    /// `source checkout` of `top` into `co`.
    pub fn checkout(&self, words: &[&str]) -> Ran {
        self.project.run(&Self::words(words))
    }

    /// The same, however it ends.
    pub fn checkout_any(&self, words: &[&str]) {
        self.project.command(&Self::words(words)).output().unwrap();
    }

    /// The arguments of such a checkout. Options that are given replace those that are not.
    pub fn words<'a>(words: &[&'a str]) -> Vec<&'a str> {
        let mut all = vec!["source", "checkout"];
        for pair in [
            ["--origin", "upstream/top"],
            ["--ref", "v1"],
            ["--checkout-dir", "co"],
            ["--repo-name", "top"],
        ] {
            if !words.contains(&pair[0]) {
                all.extend(pair);
            }
        }
        all.extend(words);
        all
    }

    /// Whether nothing of git's is under way or locked in a checkout.
    pub fn is_settled(&self, folder: &str) -> bool {
        let git = self.path(folder).join(".git");
        ["rebase-apply", "index.lock", "HEAD.lock"]
            .iter()
            .all(|name| !Path::new(&git).join(name).exists())
    }
}

/// Returns the folder with the repositories, which depends on the text of this file and on git.
fn template() -> PathBuf {
    let version = Command::new("git").arg("--version").output().unwrap();
    let mut key = Sha256::new();
    key.update(include_str!("git.rs"));
    key.update(version.stdout);
    let name = rock_matrix::names::Digest::new(key.finalize().into()).to_hex();
    let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("repositories");
    let template = cache.join(name);
    if !template.exists() {
        let sources = Sources::create();
        std::fs::create_dir_all(&cache).unwrap();
        let pending = tempfile::tempdir_in(&cache).unwrap();
        copy_tree(&sources.path(""), &pending.path().join("tree"));
        let renamed = std::fs::rename(pending.path().join("tree"), &template);
        // Another test may have created them in the meantime.
        assert!(template.exists(), "{}: {renamed:?}", template.display());
    }
    template
}
