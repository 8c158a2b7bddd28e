//! `env`: the variables of a purpose, in the form of who takes them.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::targets::{GfxWords, gfx_words, targets};
use super::{Exit, Shell, load};
use crate::codes::{facts, host};
use crate::compat::{Compat, EnvVariable, ProfileContext, ProfileVariables, variable_diagnostic};
use crate::config::RunTime;
use crate::diagnostic::nearest::{nearest, with_nearest};
use crate::diagnostic::{Diagnostic, Location, counted};
use crate::names::{WheelName, WheelNameError, is_absolute};
use crate::render::{self, EnvironmentFormat};
use crate::sys;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Profiles and their variables are facts: `rock-matrix compat list profiles` and `rock-matrix compat
list variables` show them with what they do. What depends on the folder of ROCm or on the GPU is
left out where that is not said.

Examples:
  rock-matrix env --profile run --rocm /opt/rocm --gfx gfx1151 > rocm.sh
  rock-matrix env --profile debug --format conda      a command for the active environment
  rock-matrix env --profile bench --format env-file   for docker run --env-file
  rock-matrix env --profile bench --format yaml       for a workflow
  rock-matrix env --profile run --python .venv/bin/python --gfx gfx942
                                                      the folder that the SDK's packages name
  rock-matrix env --profile run --wheel flash_attn-2.7.4.post1+rocm62torch2.5triton-py3-none-any.whl
                                                      with what this wheel needs")]
pub(super) struct Args {
    /// The purpose, such as run, debug, bench or bench-ck
    #[arg(long, value_name = "PROFILE")]
    profile: String,
    /// Who takes the text: a shell, conda, a workflow, docker, or a program
    #[arg(long, value_enum, default_value = "sh", value_name = "FORMAT")]
    format: Form,
    /// The folder of ROCm
    #[arg(long, value_name = "DIR", conflicts_with = "python", value_parser = folder)]
    rocm: Option<String>,
    /// Ask this Python, which has the packages of the ROCm SDK, for the folder
    #[arg(long, value_name = "PROGRAM")]
    python: Option<PathBuf>,
    /// The GPUs, by targets, families or products, with `;`, commas or blanks between
    #[arg(long, value_name = "TARGETS", value_parser = gfx_words)]
    gfx: Option<GfxWords>,
    /// Add the variables that this wheel needs, given by its name or path, such as
    /// flash_attn-2.7.4.post1+rocm62torch2.5triton-py3-none-any.whl
    #[arg(long, value_name = "WHEEL", value_parser = wheel)]
    wheel: Vec<WheelName>,
    /// Another value for a variable, or one more
    #[arg(long, value_name = "NAME=VALUE", value_parser = setting)]
    set: Vec<(String, String)>,
}

/// Who takes the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Form {
    /// Exports for a POSIX shell
    Sh,
    /// A command that keeps them in the active conda environment
    Conda,
    /// An `env:` block of a workflow
    Yaml,
    /// A file for `docker run --env-file`
    EnvFile,
    /// Assignments for PowerShell
    Powershell,
    /// Assignments for a batch file of cmd
    Cmd,
    /// One JSON object
    Json,
}

impl Form {
    fn taker(self) -> Option<EnvironmentFormat> {
        match self {
            Self::Sh => Some(EnvironmentFormat::Sh),
            Self::Conda => Some(EnvironmentFormat::Conda),
            Self::Yaml => Some(EnvironmentFormat::Yaml),
            Self::EnvFile => Some(EnvironmentFormat::EnvFile),
            Self::Powershell => Some(EnvironmentFormat::PowerShell),
            Self::Cmd => Some(EnvironmentFormat::Cmd),
            Self::Json => None,
        }
    }
}

fn folder(text: &str) -> Result<String, String> {
    if text.is_empty() {
        Err("there is no folder".to_owned())
    } else {
        Ok(text.to_owned())
    }
}

/// The name of a wheel that is named or whose file is.
fn wheel(text: &str) -> Result<WheelName, String> {
    let name = text.rsplit('/').next().unwrap_or(text);
    name.parse()
        .map_err(|error: WheelNameError| error.kind.to_string())
}

fn setting(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("write NAME=VALUE")?;
    let letter = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let is_name = name.chars().all(letter) && name.starts_with(|c: char| !c.is_ascii_digit());
    if is_name {
        Ok((name.to_owned(), value.to_owned()))
    } else {
        Err(format!("`{name}` is no name of a variable"))
    }
}

/// Runs the command.
pub(super) fn run(args: &Args, shell: &Shell) -> Exit {
    let compat = match load::compat(shell) {
        Ok(compat) => compat,
        Err(exit) => return exit,
    };
    if compat.profile(&args.profile).is_none() {
        return shell.report(&[unknown(&args.profile, compat)]);
    }
    let rocm = match rocm(args, shell) {
        Ok(rocm) => rocm,
        Err(fault) => {
            shell.report(&[fault]);
            return Exit::Machine;
        }
    };
    let gfx = match args
        .gfx
        .as_ref()
        .map(|words| targets(words, "--gfx", compat, shell))
        .transpose()
    {
        Ok(gfx) => gfx.unwrap_or_default(),
        Err(errors) => return super::wheel::fail(shell, &errors),
    };
    let mut variables = compat.profile_variables(&args.profile, &ProfileContext { rocm, gfx });
    for wheel in &args.wheel {
        let needs = RunTime::of_wheel(wheel, &compat.rocm_versions());
        if needs.env.is_empty() {
            shell.say(&format!("no variable is known that {wheel} needs"));
        }
        put(&needs.env.into_iter().collect::<Vec<_>>(), &mut variables);
    }
    put(&args.set, &mut variables);
    let text = match args.format.taker() {
        None => render::environment_json(&args.profile, &variables.set, &variables.unset),
        Some(taker) => match render::environment(&variables.set, taker) {
            Ok(text) => text,
            Err(fault) => {
                let told = Diagnostic::new(&host::UNWRITABLE_VARIABLE, fault.to_string());
                return shell.report(&[told.help("take the form for a shell, or another folder")]);
            }
        },
    };
    shell.report(&told(args, &variables, compat));
    shell.print_data(&text)
}

/// Puts what the command line sets in the place of what the profile has.
fn put(settings: &[(String, String)], variables: &mut ProfileVariables) {
    for (name, value) in settings {
        variables.unset.retain(|one| one.name != *name);
        let put = EnvVariable {
            name: name.clone(),
            value: value.clone(),
            prepend: false,
            effect: String::new(),
        };
        match variables.set.iter_mut().find(|one| one.name == *name) {
            Some(one) => {
                *one = EnvVariable {
                    effect: one.effect.clone(),
                    ..put
                }
            }
            None => variables.set.push(put),
        }
    }
}

/// What a reader should know about the text.
fn told(args: &Args, variables: &ProfileVariables, compat: &Compat) -> Vec<Diagnostic> {
    let mut told = Vec::new();
    for one in &variables.set {
        let setting = format!("{}={}", one.name, one.value);
        let is_asked_for = args.set.iter().any(|(name, _)| *name == one.name);
        for rule in compat.broken_variable_rules(&[&args.profile], &one.name, &one.value) {
            let found = variable_diagnostic(rule, &format!("profile `{}`", args.profile), &setting);
            let place = Location::Argument(format!("--set {setting}"));
            told.push(if is_asked_for {
                found.at(place, "")
            } else {
                found
            });
        }
    }
    for (wants, what, help) in [
        (
            "rocm",
            "the folder of ROCm is not known",
            "give it with `--rocm DIR`, or a Python with the SDK's packages with `--python`",
        ),
        (
            "gfx",
            "no gfx target is named",
            "give them with `--gfx`, such as `--gfx gfx1151`",
        ),
    ] {
        let names: Vec<&str> = variables
            .unset
            .iter()
            .filter(|one| one.missing == wants)
            .map(|one| one.name.as_str())
            .collect();
        if !names.is_empty() {
            let message = format!("{} left out: {what}", counted(names.len(), "variable"));
            told.push(
                Diagnostic::new(&host::VARIABLES_LEFT_OUT, message)
                    .note(names.join(", "))
                    .help(help),
            );
        }
    }
    let lists: Vec<&str> = variables
        .set
        .iter()
        .filter(|one| one.prepend)
        .map(|one| one.name.as_str())
        .collect();
    if args
        .format
        .taker()
        .is_some_and(|taker| !taker.keeps_lists())
        && !lists.is_empty()
    {
        let message = "lists of folders hold the folder of ROCm alone in this form";
        told.push(
            Diagnostic::new(&host::LISTS_REPLACED, message)
                .note(lists.join(", "))
                .help(
                    "source the form for a shell (`--format sh`) where what they hold must be kept",
                ),
        );
    }
    told
}

fn unknown(name: &str, compat: &Compat) -> Diagnostic {
    let known: Vec<&str> = compat
        .machine_tables()
        .profiles
        .iter()
        .map(|row| row.profile.as_str())
        .collect();
    let near = nearest(name, known.iter().copied());
    let fault = Diagnostic::new(
        &facts::UNKNOWN_PROFILE,
        with_nearest(format!("there is no profile `{name}`"), near),
    );
    fault
        .at(Location::Argument(format!("--profile {name}")), "")
        .help(match near {
            Some(near) => format!("write `--profile {near}`"),
            None => format!("there are {}", known.join(", ")),
        })
}

/// The folder of ROCm, absolute, where one is said or asked for.
fn rocm(args: &Args, shell: &Shell) -> Result<Option<String>, Diagnostic> {
    if let Some(folder) = &args.rocm {
        if is_absolute(folder) {
            return Ok(Some(folder.clone()));
        }
        let folder = shell.environment.current_dir.join(folder);
        return Ok(Some(folder.display().to_string()));
    }
    args.python
        .as_deref()
        .map(|python| asked(python, shell))
        .transpose()
}

/// What `python -m rocm_sdk path --root` says. The first time it may unpack gigabytes.
fn asked(python: &Path, shell: &Shell) -> Result<String, Diagnostic> {
    const PATIENCE: Duration = Duration::from_mins(10);
    let question = ["-m", "rocm_sdk", "path", "--root"];
    let shown = format!("{} {}", python.display(), question.join(" "));
    shell.detail(&format!("asking {shown}"));
    let is_path = python.components().count() > 1;
    let program = if is_path {
        Some(shell.environment.current_dir.join(python))
    } else {
        python
            .to_str()
            .and_then(|name| sys::find_program(name, &shell.environment))
    };
    let answer =
        program.map(|program| sys::probe(&program, &question, &shell.environment, PATIENCE));
    let folder = answer
        .and_then(|answer| answer.first_line_of_success())
        .filter(|line| line.starts_with('/'));
    folder.ok_or_else(|| {
        Diagnostic::new(&host::NO_ROCM_SDK, format!("`{shown}` names no folder"))
            .at(Location::Argument(format!("--python {}", python.display())), "")
            .help("install `rocm[libraries,devel]` into that Python, or give the folder with `--rocm`")
    })
}
