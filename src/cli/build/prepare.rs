//! Preparation of a job's build, which changes nothing yet.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::containment::{Owned, contained};
use super::recipe_facts::given;
use super::{AUTO, BuildRequest};
use crate::cli::command_line::repeated;
use crate::cli::jobs::{Ready, is_file_of_jobs};
use crate::cli::{Exit, Shell};
use crate::codes::build as codes;
use crate::compat::Compat;
use crate::config::Platform;
use crate::diagnostic::{Diagnostic, shell_line};
use crate::exec::{
    self, BuildRecord, BuildSession, ContainerSetup, HostEnv, JobFolder, ResumePoint, RunLimits,
    SecretMasks, UnknownStage, WheelToTest, first_step,
};
use crate::host::{HostFacts, build_memory_bytes, build_threads};
use crate::plan::Job;
use crate::recipe::container::{self, CALLER_MOUNT};
use crate::recipe::time_cap::TimeCap;
use crate::recipe::{self, Build, BuildSite, Step};
use crate::render;
use crate::sys::{self, Signals};

pub(super) const GENERATOR: &str = concat!("rock-matrix ", env!("CARGO_PKG_VERSION"));
/// The pause before a failed download is tried again.
const RETRY_PAUSE: Duration = Duration::from_secs(5);

/// A job that is ready to be built.
#[derive(Debug)]
pub(super) struct Prepared {
    pub(super) job: Job,
    pub(super) build: Build,
    pub(super) folder: JobFolder,
    containment: Option<Owned>,
    caller: String,
    container_name: String,
    masks: SecretMasks,
}

/// Plans the steps of a job and the container that runs them.
pub(super) fn prepare(
    ready: &Ready,
    args: &BuildRequest<'_>,
    shell: &Shell,
    compat: &Compat,
    facts: &HostFacts,
) -> Result<Prepared, Vec<Diagnostic>> {
    if ready.job.settings.platform == Platform::Windows {
        let fault = Diagnostic::new(
            &codes::WINDOWS_JOB,
            format!("job `{}` is for Windows", ready.job.id),
        );
        if let Some(recipe) = &args.recipe {
            let help = format!(
                "write `recipe: {recipe}` and these settings into a matrix file, and run the output of `rock-matrix render script` on a Windows machine"
            );
            return Err(vec![fault.help(help)]);
        }
        let files = args
            .options
            .matrix
            .iter()
            .chain(&args.options.plan)
            .map(|path| path.display().to_string());
        let files = args
            .options
            .words
            .iter()
            .filter(|word| is_file_of_jobs(word))
            .cloned()
            .chain(files);
        let words = ["rock-matrix", "render", "script"]
            .map(str::to_owned)
            .into_iter();
        let command = shell_line(words.chain(files).chain([ready.job.id.clone()]));
        return Err(vec![fault.help(format!(
            "run the output of `{command}` on a Windows machine"
        ))]);
    }
    let caller = shell.environment.current_dir.display().to_string();
    let folder = JobFolder::new(&shell.environment.current_dir, &ready.job.id)
        .map_err(|fault| vec![Diagnostic::from(&fault)])?;
    let Some(path) = folder.path().to_str().map(str::to_owned) else {
        let message = format!(
            "the path of the folder `{}` is not UTF-8",
            folder.path().display()
        );
        return Err(vec![
            Diagnostic::new(&codes::BUILD_FOLDER, message)
                .help("build in a folder whose path is UTF-8"),
        ]);
    };
    let mut job = ready.job.clone();
    if args.test.is_some() {
        job.gpu = job.settings.test.gpu;
    }
    let site = match args.engine.container() {
        None => BuildSite::Host {
            folder: path.clone(),
            caller: caller.clone(),
        },
        Some(_) => BuildSite::Container,
    };
    let given = given(&job, ready, args, shell, compat, &site, folder.path())?;
    let mut build = recipe::build(&job, &ready.recipe, compat, &site, &given)?;
    if args.test.is_some() {
        build = build.only_test();
    }
    if let Some(out) = shell.environment.current_dir.join(args.out).to_str() {
        let below = out.strip_prefix(&caller);
        build.leave_out(&below.map_or_else(|| out.to_owned(), |below| site.caller() + below));
    }
    exec::exclude_matrix_folder(&mut build, &site, &shell.environment.current_dir);
    for step in build
        .steps
        .iter_mut()
        .filter(|step| step.timeout_s.is_none())
    {
        step.timeout_s = args.options.timeout.map(|minutes| minutes * 60);
    }
    if !args.options.dry_run && args.options.resume().is_none() && args.test.is_none() {
        let missing = exec::missing_sources(&ready.recipe, &build, &shell.environment.current_dir);
        if !missing.is_empty() {
            return Err(missing);
        }
    }
    let container_name = container::name(&job.id, &path);
    let containment = match args.engine.container() {
        None => None,
        Some(engine) => Some(contained(
            engine,
            &job,
            &mut build,
            args,
            (facts, shell),
            (&path, &caller, &container_name),
        )?),
    };
    let masks = SecretMasks::new(
        job.settings
            .secrets
            .iter()
            .filter_map(|name| shell.environment.get(name)),
    );
    Ok(Prepared {
        job,
        build,
        folder,
        containment,
        caller,
        container_name,
        masks,
    })
}

/// Returns the wheels of a job in a folder, with the folders in which the test looks for them.
///
/// # Errors
/// Fails unless the folder has exactly one wheel for each wheel of the job.
pub(super) fn wheels_to_test(job: &Prepared, dist: &Path) -> Result<Vec<WheelToTest>, Diagnostic> {
    if !sys::exists(dist) {
        let message = format!("the folder `{}` of `--dist` does not exist", dist.display());
        return Err(Diagnostic::new(&codes::WRONG_WHEEL, message)
            .help("give the folder that the wheel was built into"));
    }
    let wheels = sys::files_with_extension(dist, &["whl"]).map_err(Diagnostic::from)?;
    let name = |path: &Path| {
        path.file_name()
            .and_then(|name| name.to_str())
            .unwrap_or_default()
            .to_owned()
    };
    let find = |expected: &String| {
        let found: Vec<_> = wheels
            .iter()
            .filter(|path| exec::wheel_matches(expected, &name(path)).is_ok())
            .collect();
        let [wheel] = found.as_slice() else {
            let message = format!(
                "`{}` has {} wheels of the job `{}`",
                dist.display(),
                found.len(),
                job.job.id
            );
            let fault = Diagnostic::new(&codes::WRONG_WHEEL, message)
                .note(format!("exactly one must match `{expected}`"));
            return Err(fault.help("give the folder that the wheel was built into"));
        };
        Ok(WheelToTest {
            path: (*wheel).clone(),
            folder: place_of(&job.build.wheels, &name(wheel)),
        })
    };
    job.job.wheels().map(find).collect()
}

/// Returns the folder, relative to the job's, in which a build leaves a wheel of this name. Recipes
/// with several wheels name folders after the distribution, so patterns in the glob's folders stand
/// for it.
fn place_of(glob: &str, wheel: &str) -> PathBuf {
    let distribution = wheel.split('-').next().unwrap_or(wheel);
    let folders = glob
        .rsplit_once('/')
        .map_or("", |(folders, _)| folders)
        .split('/');
    folders
        .map(|name| {
            if name.contains(['*', '?', '[', '{']) {
                distribution
            } else {
                name
            }
        })
        .collect()
}

/// Returns the environment and the resources of this machine for the steps.
pub(super) fn surroundings<'a>(shell: &'a Shell, facts: &HostFacts) -> HostEnv<'a> {
    const TENTH_OF_GIB: u64 = (1 << 30) / 10;
    HostEnv {
        environment: &shell.environment,
        threads: build_threads(facts),
        memory_tenths_gib: u32::try_from(build_memory_bytes(facts) / TENTH_OF_GIB)
            .unwrap_or(u32::MAX),
    }
}

/// Returns the command line that resumes the build of this run.
pub(super) fn resume(shell: &Shell) -> String {
    repeated(
        &shell.arguments,
        &[
            "--continue=",
            "--resume[=]",
            "--dry-run",
            "-n",
            "--started-at=",
        ],
        &["--resume"],
    )
}

/// Returns a path for messages, relative to the current directory if it is below it.
pub(super) fn shown(path: &Path, shell: &Shell) -> String {
    path.strip_prefix(&shell.environment.current_dir)
        .unwrap_or(path)
        .display()
        .to_string()
}

impl Prepared {
    /// Whether the steps run in a container.
    pub(super) fn is_contained(&self) -> bool {
        self.containment.is_some()
    }

    /// Returns where the build starts. A resume point of the recipe stands for its first stage.
    pub(super) fn wish(&self, args: &BuildRequest<'_>) -> ResumePoint {
        match args.options.resume() {
            None | Some(AUTO) if args.test.is_some() => ResumePoint::Test,
            None => ResumePoint::Fresh,
            Some(AUTO) => ResumePoint::Auto,
            Some(word) => {
                let point = self.build.points.iter().find(|(name, _)| name == word);
                ResumePoint::Stage(
                    point
                        .map_or(word, |(_, at)| &self.build.steps[*at].stage)
                        .to_owned(),
                )
            }
        }
    }

    /// Returns the error for a name that is neither a stage nor a resume point of the job.
    pub(super) fn unknown(&self, fault: &UnknownStage) -> Diagnostic {
        let mut known: Vec<String> = self
            .build
            .points
            .iter()
            .map(|(name, _)| name.clone())
            .collect();
        known.extend(
            fault
                .known
                .iter()
                .filter(|stage| !self.build.points.iter().any(|(name, _)| name == *stage))
                .cloned(),
        );
        Diagnostic::from(&UnknownStage {
            stage: fault.stage.clone(),
            known,
        })
    }

    /// Returns a description of every step.
    pub(super) fn dry_run(&self, args: &BuildRequest<'_>) -> String {
        let command = self
            .containment
            .as_ref()
            .map(|owned| render::command(&owned.argv));
        let docker = command.as_deref().ok_or("none: it builds on this machine");
        let from = match self.wish(args) {
            ResumePoint::Stage(stage) => self
                .build
                .steps
                .iter()
                .position(|step| step.stage == stage)
                .unwrap_or_default(),
            ResumePoint::Fresh | ResumePoint::Auto | ResumePoint::Test => 0,
        };
        self.masks
            .hide(&render::dry_run(&self.job, &self.build, docker, from))
    }

    /// Reports a value of `--resume` that is not a stage of this job, and returns the exit code.
    pub(super) fn cannot_go_on(&self, args: &BuildRequest<'_>, shell: &Shell) -> Option<Exit> {
        match self.wish(args) {
            ResumePoint::Test => None,
            ResumePoint::Auto => {
                shell.say("the stage at which it resumes depends on this machine, so a dry run shows every stage");
                None
            }
            wish => {
                let stages: Vec<(String, String)> = self
                    .build
                    .steps
                    .iter()
                    .map(|step| (step.stage.clone(), String::new()))
                    .collect();
                let fault = first_step(&wish, &stages, &[]).err()?;
                shell.report(&[self.unknown(&fault)]);
                Some(Exit::Usage)
            }
        }
    }

    /// Returns the build in the form that `exec` runs.
    pub(super) fn session<'a>(
        &'a self,
        args: &BuildRequest<'_>,
        shell: &Shell,
        wheels: Vec<WheelToTest>,
        surroundings: &'a HostEnv<'a>,
        signals: &'a Signals,
    ) -> BuildSession<'a> {
        let now_s = sys::now_s();
        let job = &self.job;
        let mut record = BuildRecord::new(GENERATOR, &job.id, &job.wheel);
        record.axes = job
            .axes
            .iter()
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        record.gfx = job.gfx.iter().map(ToString::to_string).collect();
        args.engine.word().clone_into(&mut record.engine);
        record.image = self.containment.as_ref().map(|owned| owned.image.clone());
        record.started_s = now_s;
        BuildSession {
            folder: &self.folder,
            wish: self.wish(args),
            steps: &self.build.steps,
            containment: self
                .containment
                .as_ref()
                .map(|owned| self.containment(owned)),
            container_name: &self.container_name,
            wheels,
            inputs: self.inputs(shell),
            record,
            surroundings,
            limits: RunLimits {
                cap: args
                    .options
                    .cap
                    .map(|minutes| TimeCap { at_s: minutes * 60 }),
                used_before_s: args
                    .options
                    .started_at
                    .map_or(0, |started_s| now_s.saturating_sub(started_s)),
                retry_pause: RETRY_PAUSE,
            },
            masks: &self.masks,
            signals,
        }
    }

    fn containment<'a>(&'a self, owned: &'a Owned) -> ContainerSetup<'a> {
        let folder = self.folder.path().display().to_string();
        ContainerSetup {
            engine: owned.engine,
            image: &owned.image,
            script: &owned.script,
            argv: owned.argv.clone(),
            remove: container::removal(owned.engine, &self.container_name),
            give_back: container::giving_back(
                owned.engine,
                &owned.image,
                &folder,
                sys::effective_ids(),
            ),
            inspect: container::inspection(owned.engine, &owned.image),
        }
    }

    /// Lists the files outside the folder that each stage reads. A path that cannot be read has an
    /// empty list: the stage reports it.
    fn inputs(&self, shell: &Shell) -> BTreeMap<String, String> {
        let listing = |step: &Step, path: &String| {
            let path = path
                .strip_prefix(CALLER_MOUNT)
                .map_or_else(|| path.clone(), |rest| self.caller.clone() + rest);
            let path = shell.environment.current_dir.join(path);
            let listed = match step.left_out.as_slice() {
                [] => sys::file_listing(&path, &mut |_, _| false),
                left_out => exec::source_listing(&path, left_out),
            };
            listed.unwrap_or_default()
        };
        let read = self
            .build
            .steps
            .iter()
            .filter(|step| !step.inputs.is_empty());
        read.map(|step| {
            (
                step.stage.clone(),
                step.inputs.iter().map(|path| listing(step, path)).collect(),
            )
        })
        .collect()
    }
}
