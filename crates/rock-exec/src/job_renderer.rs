//! Renders the build of a job without running it: container command, script, steps and dry run.

use std::collections::BTreeMap;
use std::path::Path;

use rock_compat::Compat;
use rock_diagnostic::render::escape_line;
use rock_diagnostic::{Diagnostic, Sink};
use rock_plan::Job;
use rock_plan::config::Platform;
use rock_plan::config::recipe::RecipeDocument;
use rock_plan::workspace::is_stdin;
use rock_recipe::codes::{build as codes, host};
use rock_recipe::container::{self, ContainerRun, DeviceAccess, EngineProgram, PROXY_VARIABLES};
use rock_recipe::render::{self, WindowsShell};
use rock_recipe::{self as recipe, Build, BuildSite, shell_variable};

use crate::{ROOT, SOURCE_DATE, exclude_matrix_directory};

/// The shell that runs a script.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScriptShell {
    /// bash, for Linux jobs.
    Bash,
    /// A shell of Windows, for Windows jobs.
    Windows(WindowsShell),
}

impl ScriptShell {
    /// Returns the extension of its scripts.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Bash => "sh",
            Self::Windows(WindowsShell::PowerShell) => "ps1",
            Self::Windows(WindowsShell::Cmd) => "cmd",
        }
    }
}

/// The settings of a build that is rendered.
#[derive(Debug, Clone, Copy)]
pub struct RenderOptions<'a> {
    /// The container engine; `None` for this machine.
    pub engine: Option<EngineProgram>,
    /// Whether a container was requested explicitly, which builds for Windows refuse.
    pub requires_container: bool,
    /// The image to use instead of the one in the plan.
    pub image: Option<&'a str>,
    /// Additional arguments of the container engine.
    pub docker_args: &'a [String],
    /// Facts that a build would detect.
    pub facts: &'a [(String, String)],
    /// The shell of scripts; `None` for the default of the job's platform.
    pub shell: Option<ScriptShell>,
    /// Matrix files and plans that contain the jobs; empty for the default.
    pub files: &'a [String],
    /// Options that select the compatibility tables and recipes, repeated in commands.
    pub data_options: &'a [String],
    /// The directory that relative paths of a matrix file start from.
    pub current_dir: &'a Path,
    /// Name and version of the program in rendered files.
    pub generator: &'a str,
}

/// Renders the build of one job without running it.
#[derive(Debug, Clone, Copy)]
pub struct JobRenderer<'a> {
    /// The job.
    pub job: &'a Job,
    /// Its recipe.
    pub recipe: &'a RecipeDocument,
    /// The compatibility tables.
    pub compat: &'a Compat,
    /// The settings.
    pub options: &'a RenderOptions<'a>,
}

impl JobRenderer<'_> {
    /// Returns the shell of the job's script.
    pub fn shell(&self) -> ScriptShell {
        self.options.shell.unwrap_or(if self.is_for_windows() {
            ScriptShell::Windows(WindowsShell::PowerShell)
        } else {
            ScriptShell::Bash
        })
    }

    /// Refuses settings that the platform of the job does not support: containers on Windows, and
    /// the shells of the other platform.
    ///
    /// # Errors
    /// The setting that does not fit.
    pub fn check(&self) -> Result<(), Vec<Diagnostic>> {
        let options = self.options;
        let has_container_options = options.requires_container
            || options.image.is_some()
            || !options.docker_args.is_empty();
        let (message, help) = match (self.is_for_windows(), self.shell()) {
            (true, _) if has_container_options => (
                "is for Windows, where builds do not use containers",
                "leave out the container options",
            ),
            (true, ScriptShell::Bash) => (
                "is for Windows",
                "use `--shell powershell` or `--shell cmd`",
            ),
            (false, ScriptShell::Windows(_)) => (
                "is for Linux",
                "leave out `--shell`: its script is for bash",
            ),
            _ => return Ok(()),
        };
        Err(vec![self.windows_fault(message).help(help)])
    }

    /// Returns the script that builds the job.
    ///
    /// # Errors
    /// The recipe refuses the job, or the shell cannot represent a value.
    pub fn script(&self, sink: &mut Sink) -> Result<String, Vec<Diagnostic>> {
        let site = self.site();
        let build = self.build(&site, sink)?;
        let (job, generator) = (self.job, self.options.generator);
        let shell = match self.shell() {
            ScriptShell::Bash => return Ok(render::script(job, &build, &site, generator)),
            ScriptShell::Windows(shell) => shell,
        };
        let python = recipe::named(job, self.recipe);
        render::windows_script(job, &build, &python, shell, self.compat, generator).map_err(
            |error| {
                let message = format!("job `{}`: {error}", job.id);
                let fault = Diagnostic::new(&host::UNWRITABLE_VARIABLE, message);
                vec![fault.help("use `--shell powershell`, or another value")]
            },
        )
    }

    /// Returns the steps with all values filled in, as YAML.
    ///
    /// # Errors
    /// The recipe refuses the job.
    pub fn recipe(&self, sink: &mut Sink) -> Result<String, Vec<Diagnostic>> {
        Ok(render::recipe(self.job, &self.build(&self.site(), sink)?))
    }

    /// Returns the command that starts the container of the job, with comments about the commands
    /// before and after it.
    ///
    /// # Errors
    /// The recipe refuses the job, it is for Windows, or no image is known.
    pub fn docker(&self, sink: &mut Sink) -> Result<String, Vec<Diagnostic>> {
        if self.is_for_windows() {
            let fault = self.windows_fault("is for Windows, where builds do not use containers");
            return Err(vec![fault.help("`render script` prints its build script")]);
        }
        let build = self.build(&BuildSite::Container, sink)?;
        let command = self.command(&build, sink).map_err(|fault| vec![fault])?;
        let job = self.job;
        let directory = format!("{ROOT}/{}", job.id);
        let written = render::command(&self.script_command(&directory));
        // At a terminal, the command would wait for standard input.
        let mut files = self.options.files.iter();
        let (redirect, input) = if files.any(|file| is_stdin(Path::new(file))) {
            (
                " < FILE",
                "# FILE contains what this command read from standard input.\n",
            )
        } else {
            ("", "")
        };
        // The container does not have this program, so checkouts are made before it starts.
        let checkouts: Vec<String> = build
            .steps
            .iter()
            .filter(|step| step.host)
            .map(|step| render::command(&step.argv))
            .collect();
        let checkouts = match checkouts.as_slice() {
            [] => String::new(),
            all => {
                let directory = render::command(std::slice::from_ref(&directory));
                let all = escape_line(&all.join(" && "));
                format!(
                    "# Check out the sources first: \
                     (mkdir -p {directory} && cd {directory} && {all})\n"
                )
            }
        };
        let finishing = match recipe::finishing(job, build.relabel) {
            None => String::new(),
            Some(mut words) => {
                if recipe::is_repaired(job) {
                    words.extend([
                        "--sysroot".to_owned(),
                        format!("{directory}/{}", recipe::LIBRARIES_FOLDER),
                    ]);
                }
                words.extend(["--out", "dist"].map(str::to_owned));
                let words = format!("{} {directory}/{}", render::command(&words), build.wheels);
                format!("# Finish the wheel afterwards: {}\n", escape_line(&words))
            }
        };
        let (wheel, written) = (render::comment(&job.wheel), escape_line(&written));
        Ok(format!(
            "# {wheel}\n{checkouts}# Write the script that it runs: {written}{redirect}\n\
             {input}{finishing}{command}"
        ))
    }

    /// Returns everything that the build does, for people.
    ///
    /// # Errors
    /// The recipe refuses the job, or no image is known.
    pub fn dry_run(&self, sink: &mut Sink) -> Result<String, Vec<Diagnostic>> {
        let site = self.site();
        let build = self.build(&site, sink)?;
        if site != BuildSite::Container {
            let place = if self.is_for_windows() {
                "none: it builds on a Windows machine"
            } else {
                "none: it builds on this machine"
            };
            return Ok(render::dry_run(self.job, &build, Err(place), 0));
        }
        let command = self.command(&build, sink).map_err(|fault| vec![fault])?;
        Ok(render::dry_run(self.job, &build, Ok(&command), 0))
    }

    fn is_for_windows(&self) -> bool {
        self.job.settings.platform == Platform::Windows
    }

    fn windows_fault(&self, message: &str) -> Diagnostic {
        Diagnostic::new(
            &codes::WINDOWS_JOB,
            format!("job `{}` {message}", self.job.id),
        )
    }

    /// Returns where the steps run. Builds for Windows do not use containers.
    fn site(&self) -> BuildSite {
        match self.options.engine {
            Some(_) if !self.is_for_windows() => BuildSite::Container,
            _ => BuildSite::Script,
        }
    }

    /// Returns the engine of a container command.
    fn container_engine(&self) -> EngineProgram {
        self.options.engine.unwrap_or(EngineProgram::Docker)
    }

    fn build(&self, site: &BuildSite, sink: &mut Sink) -> Result<Build, Vec<Diagnostic>> {
        let given: BTreeMap<String, String> = self.options.facts.iter().cloned().collect();
        let mut build = recipe::build(self.job, self.recipe, self.compat, site, &given)?;
        exclude_matrix_directory(&mut build, site, self.options.current_dir);
        sink.extend(std::mem::take(&mut build.warnings));
        Ok(build)
    }

    /// Returns the command that writes the script of the container, with the options of this run.
    fn script_command(&self, directory: &str) -> Vec<String> {
        let mut words = vec!["rock-matrix".to_owned()];
        words.extend(self.options.data_options.iter().cloned());
        words.extend(["render", "script"].map(str::to_owned));
        if self.options.files.is_empty() {
            words.push(self.job.settings.matrix.clone());
        } else {
            words.extend(self.options.files.iter().cloned());
        }
        words.push(self.job.id.clone());
        words.extend(["--engine", self.container_engine().program()].map(str::to_owned));
        for (name, value) in self.options.facts {
            words.extend(["--set".to_owned(), format!("{name}={value}")]);
        }
        words.extend(["--out".to_owned(), format!("{directory}/build.sh")]);
        words
    }

    /// Returns the container command; its paths are relative to where it is run.
    fn command(&self, build: &Build, sink: &mut Sink) -> Result<String, Diagnostic> {
        let job = self.job;
        let (image, warnings) = container::image(job, self.options.image)?;
        sink.extend(warnings);
        let here = shell_variable("PWD");
        // As in `build`. A variable that is unset where the command is run is unset in the
        // container too (docker(1), `--env`).
        let mut pass_env = container::passed_env(job, build);
        pass_env.extend(PROXY_VARIABLES.map(str::to_owned));
        pass_env.push(SOURCE_DATE.to_owned());
        let container = ContainerRun {
            engine: self.container_engine(),
            image,
            devices: DeviceAccess::Absent,
            folder: &format!("{here}/{ROOT}/{}", job.id),
            caller: build.uses_caller.then_some(&here),
            assigned: None,
            device_gids: &[],
            pass_env: &pass_env,
            extra: self.options.docker_args,
            name: None,
        };
        Ok(render::docker(job, &container))
    }
}
