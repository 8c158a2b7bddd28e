//! `env`: environment profiles in the format of a shell, conda, a workflow or docker.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::error::ErrorKind;

use super::completed_value::{self, CompletedValue};
use super::targets::{GfxWords, gfx_words, targets};
use super::{Exit, Shell, load, misused};
use crate::codes::{facts, host};
use crate::compat::{Compat, EnvVariable, ProfileContext, ProfileVariables, variable_diagnostic};
use crate::config::RunTime;
use crate::diagnostic::nearest::{nearest, with_nearest};
use crate::diagnostic::{Diagnostic, Location, counted};
use crate::names::{WheelName, WheelNameError, is_absolute};
use crate::render::{self, EnvironmentFormat};
use crate::sys;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "\
Examples:
  rock-matrix env run --rocm /opt/rocm --gfx gfx1151 > rocm.sh
  rock-matrix env bench --format env-file  for docker run --env-file",
    after_long_help = "\
`rock-matrix compat list profiles` and `rock-matrix compat list variables` show the profiles and the
effect of their variables. Variables that depend on the ROCm directory or on the GPU are left out if
these are not given.

Examples:
  rock-matrix env run --rocm /opt/rocm --gfx gfx1151 > rocm.sh
  rock-matrix env bench --format env-file  for docker run --env-file"
)]
pub(super) struct Args {
    /// Environment profile, such as run, debug, bench or bench-ck
    #[arg(
        value_name = "PROFILE",
        value_parser = CompletedValue(completed_value::profiles),
        hide_possible_values = true
    )]
    profile: Option<String>,
    // The former spelling of the argument.
    #[arg(
        long = "profile",
        value_name = "PROFILE",
        conflicts_with = "profile",
        hide = true
    )]
    profile_option: Option<String>,
    /// Output format
    #[arg(
        long,
        value_enum,
        default_value = "sh",
        default_value_if("json", "true", "json"),
        value_name = "FORMAT"
    )]
    format: Form,
    /// Same as --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,
    /// ROCm directory
    #[arg(long, value_name = "DIR", conflicts_with = "python", value_parser = folder)]
    rocm: Option<String>,
    /// Python with the ROCm SDK packages, to query for the ROCm directory
    #[arg(long, value_name = "PROGRAM")]
    python: Option<PathBuf>,
    /// GPU targets, families or products
    ///
    /// Separated by semicolons, commas or spaces.
    #[arg(long, alias = "gpu", value_name = "LIST", value_parser = gfx_words)]
    gfx: Option<GfxWords>,
    /// Add the variables that a wheel needs, given by filename or path; can be repeated
    ///
    /// For example flash_attn-2.7.4.post1+rocm62torch2.5triton-py3-none-any.whl.
    #[arg(long, value_name = "WHEEL", value_parser = wheel)]
    wheel: Vec<WheelName>,
    /// Set or add a variable; can be repeated
    #[arg(long, value_name = "NAME=VALUE", value_parser = setting)]
    set: Vec<(String, String)>,
}

/// The output format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Form {
    /// Exports for a POSIX shell
    Sh,
    /// Command that stores the variables in the active conda environment
    Conda,
    /// `env:` block of a GitHub workflow
    Yaml,
    /// File for `docker run --env-file`
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
        Err("the directory is empty".to_owned())
    } else {
        Ok(text.to_owned())
    }
}

/// Parses the filename of a wheel, or the last component of its path.
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
        Err(format!("`{name}` is not a valid variable name"))
    }
}

/// Runs the command.
pub(super) fn run(args: &Args, shell: &Shell) -> Exit {
    let compat = match load::compat(shell) {
        Ok(compat) => compat,
        Err(exit) => return exit,
    };
    let profile = match (&args.profile, &args.profile_option) {
        (Some(profile), _) | (None, Some(profile)) => profile.as_str(),
        (None, None) => {
            let text = format!("name a profile: {}", profiles(compat).join(", "));
            return misused(&["env"], ErrorKind::MissingRequiredArgument, &text);
        }
    };
    if compat.profile(profile).is_none() {
        shell.report(&[unknown(profile, compat)]);
        return Exit::Usage;
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
    let mut variables = compat.profile_variables(profile, &ProfileContext { rocm, gfx });
    for wheel in &args.wheel {
        let needs = RunTime::of_wheel(wheel, &compat.rocm_versions());
        if needs.env.is_empty() {
            shell.say(&format!("no variables are known for {wheel}"));
        }
        put(&needs.env.into_iter().collect::<Vec<_>>(), &mut variables);
    }
    put(&args.set, &mut variables);
    let text = match args.format.taker() {
        None => render::environment_json(profile, &variables.set, &variables.unset),
        Some(taker) => match render::environment(&variables.set, taker) {
            Ok(text) => text,
            Err(fault) => {
                let unwritable = Diagnostic::new(&host::UNWRITABLE_VARIABLE, fault.to_string());
                return shell.report(&[unwritable.help("use `--format sh`, or another value")]);
            }
        },
    };
    shell.report(&warnings(args, profile, &variables, compat));
    shell.print_data(&text)
}

/// Adds variables to a profile, or replaces their values.
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

/// Returns warnings about the variables of the output, and those left out.
fn warnings(
    args: &Args,
    profile: &str,
    variables: &ProfileVariables,
    compat: &Compat,
) -> Vec<Diagnostic> {
    let mut warnings = Vec::new();
    for one in &variables.set {
        let setting = format!("{}={}", one.name, one.value);
        let is_set_by_option = args.set.iter().any(|(name, _)| *name == one.name);
        for rule in compat.broken_variable_rules(&[profile], &one.name, &one.value) {
            let found = variable_diagnostic(rule, &format!("profile `{profile}`"), &setting);
            let place = Location::Argument(format!("--set {setting}"));
            warnings.push(if is_set_by_option {
                found.at(place, "")
            } else {
                found
            });
        }
    }
    for (wants, what, help) in [
        (
            "rocm",
            "the ROCm directory is unknown",
            "give it with `--rocm DIR`, or a Python with the ROCm SDK packages with `--python`",
        ),
        (
            "gfx",
            "no gfx target is given",
            "give the targets with `--gfx`, such as `--gfx gfx1151`",
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
            warnings.push(
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
        let message = "in this format, search paths contain only the ROCm directory";
        warnings.push(
            Diagnostic::new(&host::LISTS_REPLACED, message)
                .note(lists.join(", "))
                .help("source the output of `--format sh` to keep their present entries"),
        );
    }
    warnings
}

/// Returns the names of all profiles.
pub(super) fn profiles(compat: &Compat) -> Vec<&str> {
    compat
        .machine_tables()
        .profiles
        .iter()
        .map(|row| row.profile.as_str())
        .collect()
}

fn unknown(name: &str, compat: &Compat) -> Diagnostic {
    let known = profiles(compat);
    let near = nearest(name, known.iter().copied());
    Diagnostic::new(
        &facts::UNKNOWN_PROFILE,
        with_nearest(format!("there is no profile `{name}`"), near),
    )
    .at(Location::Argument(name.to_owned()), "")
    .help(format!("the profiles are {}", known.join(", ")))
}

/// Returns the absolute ROCm directory of `--rocm` or `--python`.
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
        .map(|python| query_python(python, shell))
        .transpose()
}

/// Returns the output of `python -m rocm_sdk path --root`. The first call may unpack gigabytes.
fn query_python(python: &Path, shell: &Shell) -> Result<String, Diagnostic> {
    const TIMEOUT: Duration = Duration::from_mins(10);
    let arguments = ["-m", "rocm_sdk", "path", "--root"];
    let shown = format!("{} {}", python.display(), arguments.join(" "));
    shell.detail(&format!("running {shown}"));
    let is_path = python.components().count() > 1;
    let program = if is_path {
        Some(shell.environment.current_dir.join(python))
    } else {
        python
            .to_str()
            .and_then(|name| sys::find_program(name, &shell.environment))
    };
    let output =
        program.map(|program| sys::probe(&program, &arguments, &shell.environment, TIMEOUT));
    let folder = output
        .and_then(|output| output.first_line_of_success())
        .filter(|line| line.starts_with('/'));
    folder.ok_or_else(|| {
        Diagnostic::new(
            &host::NO_ROCM_SDK,
            format!("`{shown}` printed no directory"),
        )
        .at(
            Location::Argument(format!("--python {}", python.display())),
            "",
        )
        .help(
            "install `rocm[libraries,devel]` for that Python, or give the directory with `--rocm`",
        )
    })
}
