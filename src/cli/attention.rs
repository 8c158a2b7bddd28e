//! `attention`: the attention backend that torch selects, and whether it works.

use std::path::PathBuf;

use super::gfx_targets::{GfxWords, gfx_words, targets};
use super::wheel::fail;
use super::{Exit, Format, OutputFormat, Shell, load};
use crate::codes::host as codes;
use crate::compat::Compat;
use crate::diagnostic::Diagnostic;
use crate::doctor::attention::{self, AttentionPreference, AttentionQuery};
use crate::names::{GfxTarget, Version};
use crate::sys::{self, HostRoots};

#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  rock-matrix attention report --gfx gfx1151  backend that torch selects on a GPU
  rock-matrix attention script > check.py     program that tests attention on a GPU
  rock-matrix attention judge check.log       check the output of that program")]
pub(super) struct Args {
    #[command(subcommand)]
    command: AttentionCommand,
}

#[derive(Debug, clap::Subcommand)]
enum AttentionCommand {
    Report(ReportArgs),
    Script(ScriptArgs),
    Judge(JudgeArgs),
}

/// Show the attention backend that torch selects on a GPU
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  rock-matrix attention report --gfx gfx1151 --torch 2.7.1
  rock-matrix attention report --gfx gfx1151 --prefer-ck")]
struct ReportArgs {
    /// GPU targets, families or products [default: GPUs of this machine]
    #[arg(
        long,
        aliases = ["arch", "gpu"],
        value_name = "LIST",
        value_parser = gfx_words
    )]
    gfx: Option<GfxWords>,
    /// Show the effect of `TORCH_ROCM_FA_PREFER_CK=1` (prefer Composable Kernel)
    #[arg(long)]
    prefer_ck: bool,
    /// Version of torch [default: the newest known]
    #[arg(long, value_name = "VERSION")]
    torch: Option<Version>,
    #[command(flatten)]
    format: OutputFormat,
}

/// Print a Python program that tests attention on a machine with a GPU
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  rock-matrix attention script > check.py
  python3 check.py > check.log             on the machine with the GPU")]
struct ScriptArgs {}

/// Check the output of that program
///
/// Exits with 1 if attention does not work as expected on the GPU, or if the output cannot be
/// checked.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  rock-matrix attention judge check.log
  python3 check.py | rock-matrix attention judge -")]
struct JudgeArgs {
    /// Output of the program; `-` reads standard input
    #[arg(value_name = "FILE")]
    log: PathBuf,
    /// GPU target, family or product [default: GPU of the output]
    #[arg(
        long,
        aliases = ["arch", "gpu"],
        value_name = "LIST",
        value_parser = gfx_words
    )]
    gfx: Option<GfxWords>,
    #[command(flatten)]
    format: OutputFormat,
}

/// Runs the command.
pub(super) fn run(args: &Args, shell: &Shell) -> Exit {
    let result = match &args.command {
        AttentionCommand::Script(ScriptArgs {}) => return shell.print_data(attention::SCRIPT),
        AttentionCommand::Report(args) => report(args, shell),
        AttentionCommand::Judge(args) => judge(args, shell),
    };
    result.unwrap_or_else(|exit| exit)
}

fn report(args: &ReportArgs, shell: &Shell) -> Result<Exit, Exit> {
    let compat = load::compat(shell)?;
    let preference = if args.prefer_ck {
        AttentionPreference::Ck
    } else {
        AttentionPreference::None
    };
    let choice = |gfx: &GfxTarget| {
        attention::choose(
            compat,
            &AttentionQuery {
                gfx,
                torch: args.torch.as_ref(),
                preference,
            },
        )
    };
    let choices: Vec<_> = gfx(args, compat, shell)?.iter().map(choice).collect();
    Ok(shell.print(&match args.format.get() {
        Format::Human => attention::choices_text(compat, &choices),
        Format::Json => attention::choices_json(compat, &choices, args.torch.as_ref()),
    }))
}

/// Returns the targets of `--gfx`, or those of this machine.
fn gfx(args: &ReportArgs, compat: &Compat, shell: &Shell) -> Result<Vec<GfxTarget>, Exit> {
    if let Some(words) = &args.gfx {
        return targets(words, "--gfx", compat, shell).map_err(|errors| fail(shell, &errors));
    }
    let found = crate::host::gfx_targets(&sys::read_host_facts(
        &HostRoots::default(),
        &shell.environment,
        &[],
    ));
    if found.is_empty() {
        let fault = Diagnostic::new(&codes::NO_TARGET_NAMED, "no GPU was found on this machine");
        return Err(shell.report(&[fault.help("name one with `--gfx`, such as `--gfx gfx1151`")]));
    }
    Ok(found)
}

fn judge(args: &JudgeArgs, shell: &Shell) -> Result<Exit, Exit> {
    let compat = load::compat(shell)?;
    let source = load::source(shell, &args.log)?;
    let named = args
        .gfx
        .as_ref()
        .map(|words| targets(words, "--gfx", compat, shell))
        .transpose()
        .map_err(|errors| fail(shell, &errors))?;
    let judgement = attention::judge(
        compat,
        &source,
        named.as_ref().and_then(|named| named.first()),
    );
    let printed = match args.format.get() {
        Format::Human if judgement.lines.is_empty() => Exit::Done,
        Format::Human => shell.print(&attention::judgement_text(&judgement)),
        Format::Json => shell.print(&attention::judgement_json(&judgement)),
    };
    Ok(match shell.report(&judgement.findings) {
        Exit::Done => printed,
        exit => exit,
    })
}
