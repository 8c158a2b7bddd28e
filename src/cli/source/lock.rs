//! `source lock`: writes a manifest of local source trees, or of the current state of their
//! repositories.

use std::path::PathBuf;

use super::{Exit, Shell, failed, listen, load};
use crate::codes::host;
use crate::compat::Compat;
use crate::diagnostic::Diagnostic;
use crate::source::{LockOptions, SourceLock};

/// Write a manifest with the commits of source trees
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
A tree made by `rock-matrix source checkout` is listed with the commit of its repository, its ref
and its patches; any other tree with the commit, branch and remote that git reports. Nothing is
fetched, except with --remote: then one commit of each repository, and of it only the files with
versions and pins.

Examples:
  rock-matrix source lock --out manifest.json          lock all trees in the working directory
  rock-matrix source lock --remote --preset rocm-2.13  lock a preset without checking it out
  rock-matrix source lock --checkout-root b --out b    name the file after the platform and ref
  rock-matrix source lock torch triton --suffix +rocm7.2 --out manifest.json")]
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
    let options = LockOptions {
        platform: args.platform.clone(),
        projects: args.projects.clone(),
        checkout_root: args.checkout_root.clone(),
        version_suffix: args.suffix.clone(),
        torch_ref: args.pytorch_git_ref.clone(),
    };
    let lock = if args.remote {
        match lock_remotes(args, &options, compat, shell) {
            Ok(lock) => lock,
            Err(exit) => return exit,
        }
    } else {
        SourceLock::of_trees(&options, compat, &shell.environment)
    };
    match shell.report(lock.diagnostics()) {
        Exit::Done => {}
        exit => return exit,
    }
    let current_dir = &shell.environment.current_dir;
    let out = args.out.as_ref().map(|path| {
        if current_dir.join(path).is_dir() {
            path.join(lock.file_name())
        } else {
            path.clone()
        }
    });
    load::write_output(shell, out.as_deref(), |file| {
        file.write_all(lock.manifest().to_json().as_bytes())
    })
}

/// Locks remote repositories in a temporary directory.
fn lock_remotes(
    args: &Args,
    options: &LockOptions,
    compat: &Compat,
    shell: &Shell,
) -> Result<SourceLock, Exit> {
    let scratch = tempfile::tempdir().map_err(|error| {
        let message = format!("cannot create a temporary directory: {error}");
        shell.report(&[Diagnostic::new(&host::CANNOT_WRITE_FILE, message)
            .help("set TMPDIR to a writable directory")]);
        Exit::Machine
    })?;
    let signals = listen(shell)?;
    SourceLock::of_remotes(
        options,
        args.preset.as_deref(),
        scratch.path(),
        compat,
        &shell.environment,
        &signals,
        &mut |reference, url| shell.say(&format!("reading {reference} of {url}")),
    )
    .map_err(|error| failed(error, shell))
}
