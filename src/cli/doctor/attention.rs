//! `doctor attention`: the library that torch's attention takes, and whether it works.

use std::path::{Path, PathBuf};

use crate::cli::targets::{GfxWords, gfx_words, targets};
use crate::cli::wheel::fail;
use crate::cli::{Exit, Format, Shell, load};
use crate::codes::host as codes;
use crate::compat::Compat;
use crate::diagnostic::{Diagnostic, SourceText};
use crate::doctor::attention::{self, AttentionPreference, AttentionQuery};
use crate::names::{GfxTarget, Version};
use crate::sys::{self, HostRoots};

/// Say which library torch's attention takes on a GPU, or judge what a validation script printed
/// there
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Exits with 1 when the log shows that attention does not work as it should there, or cannot be
judged.

Examples:
  rock-matrix doctor attention --arch gfx1151 --prefer-ck   does preferring Composable Kernel help
  rock-matrix doctor attention --arch gfx1151 --torch 2.7.1
  rock-matrix doctor attention --script > check.py          what to run on the machine with the GPU
  rock-matrix doctor attention --log check.log              whether that machine does what it should
  rock-matrix doctor attention --log - --format json        the same of standard input, for programs")]
pub(super) struct Args {
    /// The GPUs, by targets, families or products [default: those of this machine's GPUs, or what
    /// the log says]
    #[arg(long, value_name = "TARGETS", value_parser = gfx_words)]
    arch: Option<GfxWords>,
    #[arg(help = "As if TORCH_ROCM_FA_PREFER_CK=1 were set", long)]
    prefer_ck: bool,
    /// The torch [default: the newest that is known]
    #[arg(long, value_name = "VERSION")]
    torch: Option<Version>,
    /// Print the Python program that asks torch what works
    #[arg(long, conflicts_with_all = ["arch", "prefer_ck", "torch", "log", "format"])]
    script: bool,
    /// Judge what that program printed; `-` is standard input
    #[arg(long, value_name = "FILE", conflicts_with_all = ["prefer_ck", "torch"])]
    log: Option<PathBuf>,
    /// What to print
    #[arg(long, value_enum, default_value = "human", value_name = "FORMAT")]
    format: Format,
}

/// Runs the command.
pub(super) fn run(args: &Args, shell: &Shell) -> Exit {
    if args.script {
        return shell.print_data(attention::SCRIPT);
    }
    let result = match &args.log {
        Some(log) => judged(log, args, shell),
        None => chosen(args, shell),
    };
    result.unwrap_or_else(|exit| exit)
}

fn chosen(args: &Args, shell: &Shell) -> Result<Exit, Exit> {
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
    Ok(shell.print(&match args.format {
        Format::Human => attention::choices_text(compat, &choices),
        Format::Json => attention::choices_json(compat, &choices, args.torch.as_ref()),
    }))
}

/// The targets that are named, or those of this machine.
fn gfx(args: &Args, compat: &Compat, shell: &Shell) -> Result<Vec<GfxTarget>, Exit> {
    if let Some(words) = &args.arch {
        return targets(words, "--arch", compat, shell).map_err(|errors| fail(shell, &errors));
    }
    let found = crate::host::gfx_targets(&sys::read_host_facts(
        &HostRoots::default(),
        &shell.environment,
        &[],
    ));
    if found.is_empty() {
        let fault = Diagnostic::new(
            &codes::NO_TARGET_NAMED,
            "this machine has no GPU to answer for",
        );
        return Err(shell.report(&[fault.help("name one with `--arch`, such as `--arch gfx1151`")]));
    }
    Ok(found)
}

fn judged(log: &Path, args: &Args, shell: &Shell) -> Result<Exit, Exit> {
    let compat = load::compat(shell)?;
    let source = if log == Path::new("-") {
        let text =
            load::text(Path::new("/dev/stdin")).map_err(|error| shell.report(&[error.into()]))?;
        SourceText::new("standard input", text)
    } else {
        load::source(shell, log)?
    };
    let named = args
        .arch
        .as_ref()
        .map(|words| targets(words, "--arch", compat, shell))
        .transpose()
        .map_err(|errors| fail(shell, &errors))?;
    let judgement = attention::judge(
        compat,
        &source,
        named.as_ref().and_then(|named| named.first()),
    );
    let printed = match args.format {
        Format::Human if judgement.lines.is_empty() => Exit::Done,
        Format::Human => shell.print(&attention::judgement_text(&judgement)),
        Format::Json => shell.print(&attention::judgement_json(&judgement)),
    };
    Ok(match shell.report(&judgement.findings) {
        Exit::Done => printed,
        exit => exit,
    })
}
