//! The steps that fetch sources.

use super::context::SHELL_VARIABLE;
use super::step::{CHECKOUT_OPTION, Step};
use super::step_builder::{StepBuilder, THIS_PROGRAM};
use crate::codes::build as codes;
use rock_diagnostic::Diagnostic;
use rock_names::is_absolute;
use rock_plan::config::recipe::SourceDocument;

const COPY: &str = concat!(
    include_str!("../templates/recipe/inside.py"),
    include_str!("../templates/recipe/copy.py"),
    include_str!("../templates/recipe/date.py"),
);
const DATE: &str = concat!(
    include_str!("../templates/recipe/inside.py"),
    "import subprocess\n\ntree = target = sys.argv[1]\n",
    include_str!("../templates/recipe/date.py")
);
const UNPACK: &str = concat!(
    include_str!("../templates/recipe/inside.py"),
    include_str!("../templates/recipe/unpack.py")
);

/// Patterns of the files that a copy of a source tree excludes: version control, directories of
/// this program, and results of earlier builds. A pattern with a slash is a path from the root of
/// the tree; any other is a name anywhere in it.
const LEFT_OUT: [&str; 6] = [
    "/.git",
    ".rock",
    "/build",
    "/dist",
    "/*.egg-info",
    "__pycache__",
];
/// The files, relative to the job directory, with the commit times of sources, in seconds since
/// 1970-01-01 UTC.
pub const SOURCE_DATES: &str = "facts/source_date.*";
/// The earliest time that a zip archive can hold, 1980-01-01: the timestamp in archives if no
/// source has a commit.
pub const FIRST_DATE_S: i64 = 315_532_800;

impl StepBuilder<'_> {
    /// Returns the steps that fetch a source.
    ///
    /// # Errors
    /// If an expression cannot be evaluated, if git would parse a reference as an option, or if the
    /// sparse directory is not a path inside the repository.
    pub(super) fn source(
        &self,
        name: &str,
        source: &SourceDocument,
        warnings: &mut Vec<Diagnostic>,
    ) -> Result<Vec<Step>, Diagnostic> {
        let context = self.context;
        let target = format!("src/{name}");
        let named = source
            .path
            .as_deref()
            .map(|path| context.required(path))
            .transpose()?;
        let is_named = named.as_deref().is_some_and(|path| !path.is_empty());
        if let (Some(project), false) = (&source.project, is_named) {
            return Ok(vec![
                self.checkout(name, project, source, &target)?,
                self.date(name, target),
            ]);
        }
        let digest = context.required(&source.sha256)?;
        if (source.sdist.is_some() || source.artifact.is_some()) && digest.is_empty() {
            let message = format!("source `{name}` has no digest, so its content is not checked");
            let help = match &self.document.source {
                Some(file) => format!("set its `sha256` in `{}`", file.path),
                None => "set its `sha256`".to_owned(),
            };
            warnings.push(Diagnostic::new(&codes::UNPINNED_SOURCE, message).help(help));
        }
        if let Some(requirement) = &source.sdist {
            let requirement = context.required(requirement)?;
            let archives = format!("sdist/{name}");
            let mut fetch = Step {
                stage: format!("fetch-{name}"),
                argv: vec![self.python.to_owned()],
                clean: vec![archives.clone()],
                retries: 2,
                ..Step::default()
            };
            let words = [
                "-m",
                "pip",
                "download",
                "--no-deps",
                "--no-build-isolation",
                "--no-binary",
                ":all:",
                "--dest",
            ];
            fetch.argv.extend(words.map(str::to_owned));
            fetch.argv.extend([archives.clone(), requirement]);
            self.set_env(&mut fetch, &source.env)?;
            return Ok(vec![
                fetch,
                self.program(format!("unpack-{name}"), UNPACK, [archives, digest, target]),
            ]);
        }
        if let (Some(address), false) = (&source.git, is_named) {
            let reference = context.required(&source.r#ref)?;
            if reference.starts_with('-') {
                let fault = Diagnostic::new(
                    &codes::BAD_EXPRESSION,
                    format!("`{reference}` is not a valid commit, tag or branch"),
                );
                return Err(fault.help("write the full commit hash"));
            }
            let is_hex = reference.bytes().all(|b| b.is_ascii_hexdigit());
            if !(is_hex && reference.len() == 40) {
                let message = format!(
                    "source `{name}` is `{reference}` of a repository, which may point to another \
                     commit later"
                );
                warnings.push(
                    Diagnostic::new(&codes::UNPINNED_SOURCE, message)
                        .help("write the full commit hash"),
                );
            }
            let address = context.required(address)?;
            let git = |words: &[&str]| {
                ["git"]
                    .iter()
                    .chain(words)
                    .map(|word| (*word).to_owned())
                    .collect::<Vec<_>>()
            };
            let step = |stage: String, argv| Step {
                stage,
                argv,
                ..Step::default()
            };
            // A clone knows a branch only by its upstream name.
            let named = if is_hex && reference.len() >= 7 {
                None
            } else {
                Some(format!("--branch={reference}"))
            };
            let words = ["clone", "--no-checkout", "--filter=blob:none"]
                .into_iter()
                .chain(named.as_deref());
            let words: Vec<&str> = words.chain(["--", &address, &target]).collect();
            let mut clone = step(format!("fetch-{name}"), git(&words));
            clone.clean = vec![target.clone()];
            clone.retries = 2;
            let wanted = if named.is_some() { "HEAD" } else { &reference };
            let checkout = git(&["-C", &target, "checkout", "--detach", wanted]);
            let folder = context.required(&source.sparse)?;
            if folder.starts_with('-')
                || is_absolute(&folder)
                || folder.split('/').any(|part| part == "..")
            {
                let fault = Diagnostic::new(
                    &codes::BAD_EXPRESSION,
                    format!("`{folder}` is not a valid folder in a repository"),
                );
                return Err(fault
                    .help("write its path from the repository's root, such as `projects/NAME`"));
            }
            let mut steps = vec![clone];
            if !folder.is_empty() {
                let sparse = git(&["-C", &target, "sparse-checkout", "set", "--cone", &folder]);
                steps.push(step(format!("sparse-{name}"), sparse));
            }
            steps.push(step(format!("checkout-{name}"), checkout));
            if source.submodules {
                let words = [
                    "-C",
                    &target,
                    "submodule",
                    "update",
                    "--init",
                    "--recursive",
                    "--depth",
                    "1",
                ];
                let mut submodules = step(format!("submodules-{name}"), git(&words));
                submodules.retries = 2;
                steps.push(submodules);
            }
            for step in &mut steps {
                self.set_env(step, &source.env)?;
            }
            steps.push(self.date(name, target));
            return Ok(steps);
        }
        let stage = format!("fetch-{name}");
        if let Some(archive) = &source.artifact {
            let archive = self.of_caller(context.required(archive)?);
            let mut unpack = self.program(stage, UNPACK, [archive.clone(), digest, target]);
            unpack.inputs.push(archive);
            return Ok(vec![unpack]);
        }
        let path = self.of_caller(named.unwrap_or_default());
        let mut copy = self.program(stage, COPY, [path.clone(), target]);
        for pattern in LEFT_OUT {
            copy.leave_out(pattern);
        }
        copy.inputs.push(path);
        Ok(vec![copy])
    }

    /// Returns the step that records the time of a checkout's commit.
    fn date(&self, name: &str, target: String) -> Step {
        self.program(format!("date-{name}"), DATE, [target])
    }

    /// Returns the step in which this program checks out a source in the job directory. Changes and
    /// commits of an earlier build there are discarded.
    fn checkout(
        &self,
        name: &str,
        project: &str,
        source: &SourceDocument,
        target: &str,
    ) -> Result<Step, Diagnostic> {
        let words = [
            THIS_PROGRAM,
            "source",
            "checkout",
            project,
            CHECKOUT_OPTION,
            target,
        ];
        let mut step = Step {
            stage: format!("fetch-{name}"),
            argv: words.map(str::to_owned).into(),
            host: true,
            ..Step::default()
        };
        let reference = self.context.required(&source.r#ref)?;
        if !reference.is_empty() {
            step.argv.extend(["--ref".to_owned(), reference]);
        }
        step.argv.extend(self.context.words(&source.checkout)?);
        step.argv
            .extend(["--discard-changes", "--discard-commits"].map(str::to_owned));
        self.set_env(&mut step, &source.env)?;
        Ok(step)
    }

    /// Resolves a path against the directory in which rock-matrix is called.
    pub(super) fn of_caller(&self, path: String) -> String {
        // The value of a deferred fact is an absolute path.
        if is_absolute(&path) || path.starts_with(SHELL_VARIABLE) {
            path
        } else {
            format!("{}/{path}", self.site.caller())
        }
    }
}
