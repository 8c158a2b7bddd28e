//! `wheel retag`: change tags and build number.

use std::path::PathBuf;

use super::Printing;
use super::check::code;
use super::output::{self, Destination, first};
use crate::audit::{InspectionDepth, check_under_name, contradicts_claim};
use crate::cli::{Exit, Shell, load};
use crate::codes::rocm as codes;
use crate::diagnostic::{Code, Diagnostic, Severity};
use crate::names::{AbiTag, PlatformTag, PythonTag};
use crate::wheel::{BuildTagChange, LabelCheck, RetagOptions, TagChange, retag};

/// Change the tags or the build number of a wheel, in its name and inside
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A tag replaces those that are there; with `+` in front it is added to them. Several are joined with
dots. The wheel itself stays as it is; a new one is written under the new name, and its path
printed. A platform that the wheel's own libraries contradict, or that no installer knows, is
refused unless --allow says that it is meant.

Examples:
  rock-matrix wheel retag built.whl --platform-tag manylinux_2_28_x86_64
  rock-matrix wheel retag built.whl --platform-tag +manylinux_2_24_x86_64
  rock-matrix wheel retag built.whl --python-tag py3 --abi-tag none -w wheelhouse
  rock-matrix wheel retag built.whl --platform-tag manylinux_2_17_x86_64 --allow R101
  rock-matrix wheel retag built.whl --build 2  or --build '' for none")]
#[command(group = clap::ArgGroup::new("change").args(["python_tag", "abi_tag", "platform_tag", "build"]).required(true).multiple(true))]
pub(super) struct Args {
    /// The wheel
    wheel: PathBuf,
    /// Python tags, such as cp312 or +py3
    #[arg(long, value_name = "[+]TAG")]
    python_tag: Option<TagChange<PythonTag>>,
    /// ABI tags, such as cp312, abi3 or none
    #[arg(long, value_name = "[+]TAG")]
    abi_tag: Option<TagChange<AbiTag>>,
    #[arg(
        help = "Platform tags, such as linux_x86_64 or +manylinux_2_28_x86_64",
        long,
        value_name = "[+]TAG"
    )]
    platform_tag: Option<TagChange<PlatformTag>>,
    /// The build number; an empty text removes it
    #[arg(long, value_name = "BUILD")]
    build: Option<BuildTagChange>,
    /// Findings not to refuse a platform for, by code or name
    #[arg(long, value_name = "CODES", value_delimiter = ',', value_parser = code)]
    allow: Vec<&'static Code>,
    #[command(flatten)]
    destination: Destination,
    #[command(flatten)]
    printing: Printing,
}

/// Runs the command.
pub(super) fn run(args: &Args, shell: &Shell) -> Exit {
    let change = RetagOptions {
        python: args.python_tag.clone(),
        abi: args.abi_tag.clone(),
        platform: args.platform_tag.clone(),
        build: args.build.clone(),
    };
    let compat = match load::compat(shell) {
        Ok(compat) => compat,
        Err(exit) => return exit,
    };
    output::change(
        &args.wheel,
        &args.destination,
        &args.printing,
        shell,
        LabelCheck::MustMatch,
        |wheel, file| {
            let mut changed = retag(wheel, &file.name, &change)
                .map_err(|error| error.diagnostic(&file.file_name))?;
            if args.platform_tag.is_none() {
                return Ok(changed);
            }
            // What cannot be read vouches for no name.
            let found = check_under_name(
                &changed.name,
                &file.file,
                InspectionDepth::Libraries,
                compat,
            )
            .map_err(|error| first(error.diagnostics()))?;
            let is_unknown = |finding: &Diagnostic| finding.code == &codes::UNKNOWN_PLATFORM_TAG;
            for finding in found
                .into_iter()
                .filter(|finding| contradicts_claim(finding) || is_unknown(finding))
            {
                if !args.allow.contains(&finding.code) {
                    let id = finding.code.id;
                    let allow = format!("say that it is meant with `--allow {id}`");
                    return Err(if is_unknown(&finding) {
                        finding.note(allow)
                    } else {
                        finding.help(allow)
                    });
                }
                changed.findings.push(finding.severity(Severity::Warning));
            }
            Ok(changed)
        },
    )
}
