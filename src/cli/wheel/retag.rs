//! `wheel retag`: change the tags and the build number.

use std::path::PathBuf;

use super::OutputFormat;
use super::check::code;
use super::output::{self, DestinationArgs, first};
use crate::audit::{
    Inspection, WheelFile, check_python_tags, check_under_name, contradicts_claim,
    unfit_python_tag, unknown_python_tags,
};
use crate::cli::{Exit, Shell, load};
use crate::codes::rocm as codes;
use crate::compat::Compat;
use crate::diagnostic::{Code, Diagnostic, Severity};
use crate::names::{AbiKind, PlatformKind, PythonKind, WheelName};
use crate::wheel::{BuildTagChange, LabelCheck, RetagOptions, TagChange, Wheel, ZipMember, retag};

/// Change the tags or the build number of wheels, in their filenames and metadata
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
A tag replaces the present ones, or is added to them with `+` in front. Separate several tags with
dots.

The input is not modified: the new wheel is written under its new name, and its path is printed.
Platforms that the wheel's own libraries contradict or that no installer knows, Pythons that its
extension modules are not built for, Python tags of no implementation, and Python tags without an
ABI tag that fits them are refused, unless --allow accepts them. --json prints one document for
each wheel, on one line.

Examples:
  rock-matrix wheel retag built.whl --platform-tag manylinux_2_28_x86_64
  rock-matrix wheel retag built.whl --build 2   or --build '' to remove the build number
  rock-matrix wheel retag built.whl --platform-tag +manylinux_2_24_x86_64   add a tag
  rock-matrix wheel retag dist/*.whl --python-tag py3 --abi-tag none --out wheelhouse
  rock-matrix wheel retag built.whl --platform-tag manylinux_2_17_x86_64 --allow R101")]
#[command(
    group = clap::ArgGroup::new("change")
        .args(["python_tag", "abi_tag", "platform_tag", "build"])
        .required(true)
        .multiple(true)
)]
pub(super) struct Args {
    /// Wheels to retag, or directories with wheels; the files are not modified
    #[arg(required = true, value_name = "WHEEL|DIR")]
    wheels: Vec<PathBuf>,
    /// Set or add Python tags, such as cp312 or +py3
    #[arg(long, alias = "python", value_name = "[+]TAG", help_heading = "Tags")]
    python_tag: Option<TagChange<PythonKind>>,
    /// Set or add ABI tags, such as cp312, abi3 or none
    #[arg(long, alias = "abi", value_name = "[+]TAG", help_heading = "Tags")]
    abi_tag: Option<TagChange<AbiKind>>,
    #[arg(
        help = "Set or add platform tags, such as linux_x86_64 or +manylinux_2_28_x86_64",
        long,
        aliases = ["platform", "plat"],
        value_name = "[+]TAG",
        help_heading = "Tags"
    )]
    platform_tag: Option<TagChange<PlatformKind>>,
    /// Set the build number; an empty string removes it
    #[arg(long, value_name = "BUILD", help_heading = "Tags")]
    build: Option<BuildTagChange>,
    /// Accept the tags despite these findings, given by code or name
    ///
    /// The findings are reported as warnings. Separate several with commas.
    #[arg(
        long,
        value_name = "CODES",
        value_delimiter = ',',
        value_parser = code,
        help_heading = "Tags"
    )]
    allow: Vec<&'static Code>,
    #[command(flatten, next_help_heading = "Output")]
    destination: DestinationArgs,
    #[command(flatten, next_help_heading = "Output")]
    format: OutputFormat,
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
    output::rename_each(
        &args.wheels,
        args.destination.destination(),
        &args.format,
        shell,
        LabelCheck::MustMatch,
        |wheel, file| {
            retag(wheel, &file.name, &change)
                .map_err(|error| error.diagnostic(&file.file_name).into())
        },
        |mut changed, wheel, file| {
            let mut refused = Vec::new();
            for finding in contradictions(args, &changed.name, wheel, file, compat)? {
                if args.allow.contains(&finding.code) {
                    changed.findings.push(finding.severity(Severity::Warning));
                    continue;
                }
                let id = finding.code.id;
                let allow = format!("use `--allow {id}` if this is intended");
                // Help with options is about those of `wheel check`.
                let is_kept = |help: &String| !help.contains("`--");
                let has_help = finding.help.as_ref().is_some_and(is_kept);
                refused.push(if contradicts_claim(&finding) && !has_help {
                    finding.help(allow)
                } else {
                    finding.note(allow)
                });
            }
            output::unless_refused(changed, refused, wheel, file)
        },
    )
}

/// Returns the findings that the new tags of a wheel are wrong.
fn contradictions(
    args: &Args,
    name: &WheelName,
    wheel: &Wheel<'_>,
    file: &WheelFile,
    compat: &Compat,
) -> Result<Vec<Diagnostic>, Diagnostic> {
    let mut findings = Vec::new();
    if args.platform_tag.is_some() {
        // The platform cannot be confirmed for a wheel that cannot be read.
        findings = check_under_name(name, &file.file, Inspection::LIBRARIES, compat)
            .map_err(|error| first(error.diagnostics()))?;
        findings.retain(|finding| {
            contradicts_claim(finding) || finding.code == &codes::UNKNOWN_PLATFORM_TAG
        });
    }
    if args.python_tag.is_some() || args.abi_tag.is_some() {
        let members = wheel.archive().members().iter();
        let members = members.map(ZipMember::name);
        let contradiction = check_python_tags(&name.to_string(), name, members);
        let mut wrong_tags = unknown_python_tags(&file.file_name, name);
        // The tags of modules that contradict the name are the right ones for it.
        if contradiction.is_none() || args.allow.contains(&&codes::NAME_NOT_IN_CONTENTS) {
            wrong_tags.extend(unfit_python_tag(&file.file_name, name));
        }
        let as_error = |finding: Diagnostic| finding.severity(Severity::Error);
        findings.extend(wrong_tags.into_iter().map(as_error));
        findings.extend(contradiction);
    }
    Ok(findings)
}
