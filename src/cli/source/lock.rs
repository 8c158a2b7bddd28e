//! `source lock`: writes a manifest of local source trees, or of the current state of their
//! repositories.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::choices::Choices;
use super::limits::LARGEST_LOCKED_BYTES;
use super::{Exit, Shell, failed, listen, load};
use crate::checkout::{self, STATE};
use crate::codes::{host, sources as codes};
use crate::compat::Compat;
use crate::compat::rows::ProjectRow;
use crate::diagnostic::render::redact_urls;
use crate::diagnostic::{Diagnostic, Location, Sink};
use crate::source::manifest::{ManifestEntry, SourceManifest, file_name};
use crate::source::related::is_commit;
use crate::source::{
    CheckoutOutcome, CheckoutState, ExplicitSelection, ProjectQuery, ResolvedProject, SourceRef,
    projects, resolve,
};
use crate::sys::{self, Environment};

/// The file with the version of a project.
const VERSION: &str = "version.txt";
/// Time limit for reading the state of a checkout with git.
const ASKED: Duration = Duration::from_secs(10);

/// Write a manifest with the commits of source trees
#[derive(Debug, clap::Args)]
#[command(
    after_help = "\
Examples:
  rock-matrix source lock --out manifest.json          lock all trees in the working directory
  rock-matrix source lock --remote --preset rocm-2.13  lock a preset without checking it out",
    after_long_help = "\
A tree made by `rock-matrix source checkout` is listed with the commit of its repository, its ref
and its patches; any other tree with the commit, branch and remote that git reports. Nothing is
fetched, except with --remote: then one commit of each repository, and of it only the files with
versions and pins.

Examples:
  rock-matrix source lock --out manifest.json          lock all trees in the working directory
  rock-matrix source lock --remote --preset rocm-2.13  lock a preset without checking it out
  rock-matrix source lock --checkout-root b --out b    name the file after the platform and ref
  rock-matrix source lock torch triton --suffix +rocm7.2 --out manifest.json"
)]
pub(super) struct Args {
    /// Projects by name, directory or wheel [default: all that are checked out]
    ///
    /// With --remote the default is all projects of the preset or platform.
    #[arg(value_name = "PROJECT")]
    projects: Vec<String>,
    /// Directory that contains the source trees
    ///
    /// Each tree is in a subdirectory with the name of its project's directory.
    #[arg(long, value_name = "DIR", default_value = ".")]
    checkout_root: PathBuf,
    /// Read remote repositories instead of local trees
    #[arg(long, conflicts_with = "checkout_root")]
    remote: bool,
    /// Use the refs of a preset, such as rocm-2.13 (requires --remote)
    ///
    /// `rock-matrix compat list torch-sources` lists the presets.
    #[arg(long, value_name = "NAME", requires = "remote")]
    preset: Option<String>,
    /// Target platform
    #[arg(
        long,
        default_value = "linux",
        value_parser = ["linux", "windows"],
        value_name = "PLATFORM"
    )]
    platform: String,
    /// Text to append to versions, such as +rocm7.2
    #[arg(
        long,
        value_name = "SUFFIX",
        default_value = "",
        allow_hyphen_values = true
    )]
    suffix: String,
    /// Ref of torch to record [default: that of the tree]
    ///
    /// With --remote, also the ref to read torch at.
    #[arg(long, value_name = "REF")]
    pytorch_git_ref: Option<String>,
    /// File or directory to write to [default: stdout]
    ///
    /// In a directory, the file gets the name `therock-manifest_torch_PLATFORM_REF.json`.
    #[arg(short, long, value_name = "PATH")]
    out: Option<PathBuf>,
}

/// Runs the command.
pub(super) fn run(args: &Args, shell: &Shell) -> Exit {
    let compat = match load::compat(shell) {
        Ok(compat) => compat,
        Err(exit) => return exit,
    };
    let mut sink = Sink::new();
    let manifest = if args.remote {
        match args.of_remotes(compat, shell, &mut sink) {
            Ok(manifest) => manifest,
            Err(exit) => return exit,
        }
    } else {
        args.manifest(&args.checkout_root, compat, shell, &mut sink)
    };
    for (project, version, minor) in manifest.strangers(compat) {
        sink.push(
            Diagnostic::new(
                &codes::STRANGE_COMPANION,
                format!("{project} is {version}, but this torch needs {minor}"),
            )
            .help("check out the ref that fits this torch, or ignore this if it is on purpose"),
        );
    }
    if manifest.entries.is_empty() && !sink.has_errors() {
        let root = args.checkout_root.display().to_string();
        sink.push(
            Diagnostic::new(&codes::NO_TREE, format!("no source tree found in `{root}`"))
                .at(Location::File(root.into()), "")
                .help(
                    "pass the folder that contains the trees with `--checkout-root`, or create \
                     them with `rock-matrix source checkout`",
                ),
        );
    }
    match shell.report(&sink.finish()) {
        Exit::Done => {}
        exit => return exit,
    }
    let torch = projects::on(compat, &args.platform)
        .first()
        .and_then(|row| manifest.entry(&row.folder));
    let reference = torch.map_or("unknown", |torch| {
        torch.branch.as_deref().unwrap_or(&torch.commit)
    });
    let here = &shell.environment.current_dir;
    let out = args.out.as_ref().map(|path| {
        if here.join(path).is_dir() {
            path.join(file_name(&args.platform, reference))
        } else {
            path.clone()
        }
    });
    load::write_output(shell, out.as_deref(), |file| {
        file.write_all(manifest.to_json().as_bytes())
    })
}

impl Args {
    /// Returns the manifest of the trees below a directory.
    fn manifest(
        &self,
        root: &Path,
        compat: &Compat,
        shell: &Shell,
        sink: &mut Sink,
    ) -> SourceManifest {
        let mut rows = projects::on(compat, &self.platform);
        let is_named = !self.projects.is_empty();
        if is_named {
            let mut named = Vec::new();
            for name in &self.projects {
                match projects::find(compat, name, &self.platform) {
                    Ok(row) => named.push(row),
                    Err(fault) => sink.push(fault),
                }
            }
            rows.retain(|row| named.contains(row));
        }
        let torch = projects::on(compat, &self.platform)
            .first()
            .map(|row| root.join(&row.folder));
        let mut manifest = SourceManifest::default();
        for row in rows {
            let folder = root.join(&row.folder);
            if !sys::exists(&shell.environment.current_dir.join(&folder).join(".git")) {
                if is_named {
                    let shown = folder.display().to_string();
                    sink.push(
                        Diagnostic::new(
                            &codes::NO_TREE,
                            format!("there is no git checkout of {} at `{shown}`", row.project),
                        )
                        .at(Location::File(shown.into()), "")
                        .help(format!(
                            "create it with `rock-matrix source checkout {}`",
                            row.project
                        )),
                    );
                }
                continue;
            }
            match entry(row, &folder, shell) {
                Ok((mut entry, told)) => {
                    sink.extend(told);
                    if Some(&folder) == torch.as_ref() && self.pytorch_git_ref.is_some() {
                        entry.branch.clone_from(&self.pytorch_git_ref);
                    }
                    entry.version = version(row, &folder, torch.as_deref(), compat)
                        .map(|text| text + &self.suffix);
                    manifest.entries.push(entry);
                }
                Err(fault) => sink.push(*fault),
            }
        }
        manifest
    }

    /// Returns the manifest of remote repositories. Only the required files are fetched, to a
    /// temporary directory. Torch comes first because it pins the others.
    fn of_remotes(
        &self,
        compat: &Compat,
        shell: &Shell,
        sink: &mut Sink,
    ) -> Result<SourceManifest, Exit> {
        let told = |error: std::io::Error| {
            let help = "set TMPDIR to a writable folder";
            let fault = Diagnostic::new(
                &host::CANNOT_WRITE_FILE,
                format!("cannot create a temporary folder: {error}"),
            );
            shell.report(&[fault.help(help)]);
            Exit::Machine
        };
        let folder = tempfile::tempdir().map_err(told)?;
        let signals = listen(shell)?;
        let choices = Choices::of_remotes(&self.platform, self.preset.clone());
        let Some(chosen) = choices.chosen(compat, &self.projects, sink) else {
            return Ok(SourceManifest::default());
        };
        let torch = projects::on(compat, &self.platform).into_iter().next();
        let mut rows = chosen.rows.clone();
        if let Some(torch) = torch.filter(|torch| !rows.contains(torch)) {
            rows.insert(0, torch);
        }
        let pins = compat
            .source_tables()
            .pins
            .iter()
            .filter(|pin| pin.beside == "torch")
            .map(|pin| pin.file.as_str());
        let files: Vec<&str> = std::iter::once(VERSION).chain(pins).collect();
        let mut asked = Vec::new();
        for row in rows {
            let is_torch = Some(row) == torch;
            let explicit = ExplicitSelection {
                reference: self.pytorch_git_ref.clone().filter(|_| is_torch),
                ..ExplicitSelection::default()
            };
            let beside = torch
                .filter(|_| !is_torch)
                .map(|torch| folder.path().join(&torch.folder));
            let choices = Choices {
                torch_dir: beside,
                ..Choices::of_remotes(&self.platform, self.preset.clone())
            };
            let Some(pins) = choices.pin_files(compat, &chosen, &explicit, shell, sink) else {
                break;
            };
            let question = ProjectQuery {
                row,
                explicit: &explicit,
                preset: chosen.preset,
                files: &pins,
                related_os: &choices.related_os,
            };
            let ResolvedProject {
                url,
                reference: SourceRef::Known(reference),
                ..
            } = resolve(&question, compat).map_err(|fault| shell.report(&[fault]))?
            else {
                continue;
            };
            shell.say(&format!("reading {} of {}", reference.value, url.value));
            let place = folder.path().join(&row.folder);
            sys::create_directory(&place).map_err(|error| {
                shell.report(&[Diagnostic::from(error)]);
                Exit::Machine
            })?;
            let wanted = if is_torch {
                files.as_slice()
            } else {
                &files[..1]
            };
            checkout::glimpse(
                &place,
                &url.value,
                &reference.value,
                wanted,
                &shell.environment,
                &signals,
            )
            .map_err(|fault| failed(fault, shell))?;
            asked.push((row.folder.as_str(), url.value, reference.value));
        }
        let mut manifest = self.manifest(folder.path(), compat, shell, sink);
        for (key, url, reference) in asked {
            if let Some(entry) = manifest.entries.iter_mut().find(|entry| entry.key == key) {
                entry.repo = url;
                entry.branch = Some(reference).filter(|reference| !is_commit(reference));
            }
        }
        Ok(manifest)
    }
}

/// Returns the manifest entry of a tree, and a diagnostic if it has changed since its checkout.
fn entry(
    row: &ProjectRow,
    folder: &Path,
    shell: &Shell,
) -> Result<(ManifestEntry, Option<Diagnostic>), Box<Diagnostic>> {
    let shown = folder.display().to_string();
    let fault = |message: String, help: &str| {
        Box::new(
            Diagnostic::new(&codes::NO_TREE, message)
                .at(Location::File(shown.as_str().into()), "")
                .help(help),
        )
    };
    let path = folder.join(STATE);
    let head = asked(folder, &["rev-parse", "--verify", "HEAD"], shell);
    if !sys::exists(&path) {
        let (Some(commit), Some(repo)) =
            (head, asked(folder, &["remote", "get-url", "origin"], shell))
        else {
            return Err(fault(
                format!("`{shown}` has no commit or no remote `origin`"),
                "clone it from its repository",
            ));
        };
        let branch = asked(
            folder,
            &["symbolic-ref", "--short", "--quiet", "HEAD"],
            shell,
        );
        let repo = redact_urls(&repo).into_owned();
        return Ok((
            ManifestEntry {
                key: row.folder.clone(),
                repo,
                commit,
                branch,
                ..ManifestEntry::default()
            },
            None,
        ));
    }
    let text =
        sys::read_text(&path, LARGEST_LOCKED_BYTES).map_err(|error| Box::new(error.into()))?;
    let again = "run `rock-matrix source checkout` there again";
    let state = CheckoutState::parse(&text)
        .map_err(|error| fault(format!("`{}`: {error}", path.display()), again))?;
    let Some(commit) = state
        .commit
        .clone()
        .filter(|_| state.outcome == CheckoutOutcome::Done)
    else {
        return Err(fault(
            format!("the checkout in `{shown}` is incomplete"),
            again,
        ));
    };
    let made = state
        .repositories
        .iter()
        .find(|repository| repository.path.is_empty());
    let is_moved = made
        .zip(head.as_ref())
        .is_some_and(|(made, head)| made.head != *head);
    let told = is_moved.then(|| {
        let message = format!(
            "`{shown}` has changed since its checkout: the manifest cannot list its new commits"
        );
        Diagnostic::new(&codes::TREE_MOVED, message)
            .at(Location::File(shown.as_str().into()), "")
            .help(
                "save them with `rock-matrix source save-patches`, and check out again with the \
                 patches",
            )
    });
    let (set, patches) = state
        .patches
        .map(|patches| (patches.set, patches.files))
        .unwrap_or_default();
    let entry = ManifestEntry {
        key: row.folder.clone(),
        repo: state.origin,
        commit,
        branch: Some(state.reference).filter(|reference| !is_commit(reference)),
        version: None,
        patchset: Some(set).filter(|_| !patches.is_empty()),
        patches,
    };
    Ok((entry, told))
}

/// Returns the version of a tree. The version of triton is in torch's tree.
fn version(
    row: &ProjectRow,
    folder: &Path,
    torch: Option<&Path>,
    compat: &Compat,
) -> Option<String> {
    let pin = compat
        .source_tables()
        .pins
        .iter()
        .find(|pin| pin.pin == row.release_pin);
    let file = match pin {
        Some(pin) => torch?.join(&pin.file),
        None => folder.join(VERSION),
    };
    let text = sys::read_text(&file, LARGEST_LOCKED_BYTES).ok()?;
    Some(text.trim().to_owned()).filter(|text| !text.is_empty())
}

/// Returns the first line of output of a git command in a repository, independent of `GIT_*`
/// variables.
fn asked(folder: &Path, words: &[&str], shell: &Shell) -> Option<String> {
    let mut variables = shell.environment.variables.clone();
    variables.retain(|name, _| !name.starts_with("GIT_"));
    let environment = Environment {
        variables,
        ..shell.environment.clone()
    };
    let git = sys::find_program("git", &environment)?;
    let here = shell
        .environment
        .current_dir
        .join(folder)
        .display()
        .to_string();
    sys::probe(
        &git,
        &[&["-C", here.as_str()], words].concat(),
        &environment,
        ASKED,
    )
    .first_line_of_success()
}

#[cfg(test)]
mod tests {
    use super::{Compat, LARGEST_LOCKED_BYTES, VERSION, sys, version};

    #[test]
    fn a_version_in_a_file_at_the_limit_is_read_and_in_a_larger_one_is_not() {
        let (compat, folder) = (Compat::embedded(), tempfile::tempdir().unwrap());
        let row = compat
            .source_tables()
            .projects
            .iter()
            .find(|row| row.release_pin.is_empty())
            .unwrap();
        let read = |bytes: u64| {
            let text =
                "2.9.0".to_owned() + &" ".repeat(usize::try_from(bytes).unwrap() - "2.9.0".len());
            sys::write_atomic(&folder.path().join(VERSION), text.as_bytes()).unwrap();
            version(row, folder.path(), None, &compat)
        };
        assert_eq!(
            (read(LARGEST_LOCKED_BYTES), read(LARGEST_LOCKED_BYTES + 1)),
            (Some("2.9.0".to_owned()), None)
        );
    }
}
