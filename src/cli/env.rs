//! `env`: environment profiles in the format of a shell, conda, a workflow or docker.

use std::path::{Path, PathBuf};

use super::completed_value::{self, CompletedValue};
use super::gfx_targets::{GfxWords, gfx_words, targets};
use super::{Exit, Shell, load};
use crate::codes::{facts, host};
use crate::compat::{Compat, ProfileContext, ProfileVariables, variable_diagnostic};
use crate::config::recipe::shipped_runtime_requirements_of_wheel;
use crate::diagnostic::nearest::{nearest, with_nearest};
use crate::diagnostic::{Diagnostic, Location, counted};
use crate::exec::RocmSdkQuery;
use crate::names::{WheelName, WheelNameError, is_absolute};
use crate::render::{self, EnvironmentFormat};
use crate::sys;

#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
`rock-matrix compat list profiles` and `rock-matrix compat list variables` show the profiles and the
effect of their variables. Variables that depend on the ROCm directory or on the GPU are left out if
these are not given.

Examples:
  rock-matrix env run --rocm /opt/rocm --gfx gfx1151 > rocm.sh
  rock-matrix env bench --format env-file  for docker run --env-file")]
pub(super) struct Args {
    // clap does not require it next to `--profile`, which excludes it.
    /// Environment profile, such as run, debug, bench or bench-ck
    #[arg(
        value_name = "PROFILE",
        required = true,
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
    /// Returns whether the variables are for programs on this machine, and not for containers,
    /// workflows or another system.
    fn is_for_this_machine(self) -> bool {
        match self {
            Self::Sh | Self::Conda | Self::Json => true,
            Self::Powershell | Self::Cmd => cfg!(windows),
            Self::Yaml | Self::EnvFile => false,
        }
    }

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
    let profile = args.profile.as_deref().or(args.profile_option.as_deref());
    let profile = profile.expect("clap requires a profile");
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
        let needs = shipped_runtime_requirements_of_wheel(wheel, compat.rocm_versions());
        if needs.env.is_empty() {
            shell.say(&format!("no variables are known for {wheel}"));
        }
        for (name, value) in &needs.env {
            variables.assign(name, value);
        }
    }
    for (name, value) in &args.set {
        variables.assign(name, value);
    }
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
    shell.report(&warnings(args, profile, &variables, compat, shell));
    shell.print_data(&text)
}

/// Returns warnings about the variables of the output, and those left out.
fn warnings(
    args: &Args,
    profile: &str,
    variables: &ProfileVariables,
    compat: &Compat,
    shell: &Shell,
) -> Vec<Diagnostic> {
    let mut warnings = Vec::new();
    warnings.extend(missing_rocm_warning(args, shell));
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
    for (placeholder, reason, help) in [
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
        let names = variables.left_out(placeholder);
        if !names.is_empty() {
            let message = format!("{} left out: {reason}", counted(names.len(), "variable"));
            warnings.push(
                Diagnostic::new(&host::VARIABLES_LEFT_OUT, message)
                    .note(names.join(", "))
                    .help(help),
            );
        }
    }
    let lists = variables.directory_lists();
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

/// Returns a warning if the directory in `--rocm` does not exist on this machine.
fn missing_rocm_warning(args: &Args, shell: &Shell) -> Option<Diagnostic> {
    let folder = args.rocm.as_deref()?;
    let path = shell.environment.current_dir.join(folder);
    if !args.format.is_for_this_machine() || sys::is_directory(&path) {
        return None;
    }
    let message = format!("the ROCm directory `{folder}` does not exist");
    Some(
        Diagnostic::new(&host::NO_ROCM_DIRECTORY, message)
            .at(Location::Argument(format!("--rocm {folder}")), "")
            .help("correct the path, or query a Python with the ROCm SDK packages with `--python`"),
    )
}

fn unknown(name: &str, compat: &Compat) -> Diagnostic {
    let known = compat.profile_names();
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

/// Returns the ROCm directory of a Python with the packages of the ROCm SDK.
fn query_python(python: &Path, shell: &Shell) -> Result<String, Diagnostic> {
    let query = RocmSdkQuery::new(python);
    shell.detail(&format!("running {query}"));
    query.run(&shell.environment).ok_or_else(|| {
        let message = format!("`{query}` printed no directory");
        let argument = format!("--python {}", python.display());
        Diagnostic::new(&host::NO_ROCM_SDK, message)
            .at(Location::Argument(argument), "")
            .help(
                "install `rocm[libraries,devel]` for that Python, or give the directory with \
                 `--rocm`",
            )
    })
}
