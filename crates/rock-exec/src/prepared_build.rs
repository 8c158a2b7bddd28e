//! Builds of jobs: their steps and containers are planned before anything runs or is written.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::build_options::{BuildOptions, CallerEnv, ResumeRequest};
use super::build_report::BuildReport;
use super::build_start::{BuildStart, UnknownStage, first_step};
use super::collect::wheel_matches;
use super::fact_detector::FactDetector;
use super::job_container::{ContainerInputs, JobContainer};
use super::job_directory::JobDirectory;
use super::known_failures::add_known_failures;
use super::mask::SecretMasks;
use super::missing_sources::missing_sources;
use super::record::BuildRecord;
use super::resume_points::{ResumePoint, reached_points};
use super::run::{BuildEvent, RunLimits};
use super::runner::StepExecutor;
use super::session::{BuildSession, FinishedBuild, StartError, build};
use super::source_tree::{exclude_matrix_directory, source_listing};
use super::step_failure::{MessageContext, StagesOutcome};
use super::wheel_delivery::WheelDelivery;
use super::wheels_to_test::WheelToTest;
use super::{HostEnv, SOURCE_DATE};
use crate::codes::build as codes;
use rock_audit::ProgressReporter;
use rock_diagnostic::{Diagnostic, Diagnostics, ExitClass};
use rock_plan::Job;
use rock_plan::config::Platform;
use rock_plan::config::recipe::RecipeDocument;
use rock_recipe::codes::build as recipe_codes;
use rock_recipe::container::{self, CALLER_MOUNT};
use rock_recipe::time_cap::TimeCap;
use rock_recipe::{self as recipe, Build, BuildSite, Step, render};
use rock_sys::{self as sys, Signals};

/// Name and version of this program in records and scripts.
pub(super) const GENERATOR: &str = concat!("rock-matrix ", env!("CARGO_PKG_VERSION"));
/// The pause before a failed download is tried again.
const RETRY_PAUSE: Duration = Duration::from_secs(5);
/// The help for a directory without the wheels to test.
const BUILT_INTO: &str = "pass the directory that the wheel was built into";

/// A build of one job, ready to run.
#[derive(Debug)]
pub struct PreparedBuild<'a> {
    pub(super) job: Job,
    pub(super) build: Build,
    pub(super) directory: JobDirectory,
    pub(super) options: &'a BuildOptions,
    pub(super) caller: CallerEnv<'a>,
    container: Option<JobContainer>,
    container_name: String,
    masks: SecretMasks,
}

/// The surroundings of a run, which its caller owns.
#[derive(Clone, Copy)]
pub struct BuildContext<'a> {
    /// The signals that stop the build.
    pub signals: &'a Signals,
    /// The command that resumes the build, for messages.
    pub resume_command: &'a str,
    /// The command that prints the steps of the build, for messages.
    pub dry_run_command: &'a str,
    /// Receives the progress of repairs of large wheels.
    pub progress: &'a dyn ProgressReporter,
}

impl<'a> PreparedBuild<'a> {
    /// Plans the steps of a job and the container that runs them. Facts of the recipe are detected
    /// on this machine; nothing is written.
    ///
    /// # Errors
    /// If the job is for Windows, the recipe cannot be evaluated, a fact has no value, there is no
    /// container image, or a source on this machine does not exist.
    pub fn prepare(
        job: &Job,
        recipe: &RecipeDocument,
        options: &'a BuildOptions,
        caller: CallerEnv<'a>,
    ) -> Result<Self, Diagnostics> {
        if job.settings.platform == Platform::Windows {
            let message = format!("job `{}` is for Windows", job.id);
            return Err(Diagnostic::new(&recipe_codes::WINDOWS_JOB, message).into());
        }
        let caller_directory = caller.directory().display().to_string();
        let directory = JobDirectory::new(caller.directory(), &job.id)
            .map_err(|error| Diagnostic::from(&error))?;
        let path = utf8_path(&directory)?.to_owned();
        let mut job = job.clone();
        if options.test.is_some() {
            job.gpu = job.settings.test.gpu;
        }
        let site = match options.engine {
            None => BuildSite::Host {
                folder: path.clone(),
                caller: caller_directory.clone(),
            },
            Some(_) => BuildSite::Container,
        };
        let detector = FactDetector {
            recipe,
            options,
            caller,
            site: &site,
            directory: directory.path(),
        };
        let facts = detector.detect(&job)?;
        let mut build = recipe::build(&job, recipe, caller.compat, &site, &facts)?;
        if options.test.is_some() {
            build = build.only_test();
        }
        if let Some(out) = caller.directory().join(&options.out).to_str() {
            let below = out.strip_prefix(&caller_directory);
            build.leave_out(&below.map_or_else(|| out.to_owned(), |below| site.caller() + below));
        }
        exclude_matrix_directory(&mut build, &site, caller.directory());
        for step in build
            .steps
            .iter_mut()
            .filter(|step| step.timeout_s.is_none())
        {
            step.timeout_s = options.stage_timeout_s;
        }
        if !options.dry_run && options.resume == ResumeRequest::Fresh && options.test.is_none() {
            Diagnostics::check(missing_sources(recipe, &build, caller.directory()))?;
        }
        let container_name = container::name(&job.id, &path);
        let container = options
            .engine
            .map(|engine| {
                let inputs = ContainerInputs {
                    engine,
                    options,
                    caller,
                    directory: &path,
                    name: &container_name,
                };
                JobContainer::new(&job, &mut build, &inputs)
            })
            .transpose()?;
        let masks = SecretMasks::new(
            job.settings
                .secrets
                .iter()
                .filter_map(|name| caller.environment.get(name)),
        );
        Ok(Self {
            job,
            build,
            directory,
            options,
            caller,
            container,
            container_name,
            masks,
        })
    }

    /// Returns the ID of the job.
    pub fn job_id(&self) -> &str {
        &self.job.id
    }

    /// Returns the warnings to show before the build runs.
    pub fn warnings(&self) -> &[Diagnostic] {
        &self.build.warnings
    }

    /// Returns the path of the log, for messages.
    pub fn log(&self) -> String {
        self.caller.shown(&self.directory.log())
    }

    /// Whether the steps run in a container.
    pub(super) fn is_contained(&self) -> bool {
        self.container.is_some()
    }

    /// Returns where the build starts. A resume point of the recipe stands for its first stage.
    pub fn start(&self) -> BuildStart {
        let is_test = self.options.test.is_some();
        match &self.options.resume {
            ResumeRequest::Fresh | ResumeRequest::Auto if is_test => BuildStart::Test,
            ResumeRequest::Fresh => BuildStart::Fresh,
            ResumeRequest::Auto => BuildStart::Auto,
            ResumeRequest::At(name) => {
                let points = &self.build.resume_points;
                let stage = points
                    .iter()
                    .find(|(point, _)| point == name)
                    .map_or(name, |(_, number)| &self.build.steps[*number].stage);
                BuildStart::Stage(stage.clone())
            }
        }
    }

    /// Checks that the job has the stage or resume point that the build is to resume at.
    ///
    /// # Errors
    /// If it has neither; a command-line error.
    pub fn check_start(&self) -> Result<(), Diagnostics> {
        let start = self.start();
        if !matches!(start, BuildStart::Stage(_)) {
            return Ok(());
        }
        let stages: Vec<(String, String)> = self
            .build
            .steps
            .iter()
            .map(|step| (step.stage.clone(), String::new()))
            .collect();
        first_step(&start, &stages, &[])
            .map(drop)
            .map_err(|error| self.unknown_stage(error))
    }

    /// Returns the points at which an earlier build of the job can be resumed; none unless this one
    /// starts anew.
    pub fn resume_points(&self) -> Vec<ResumePoint> {
        if self.start() != BuildStart::Fresh {
            return Vec::new();
        }
        match self.directory.last_record() {
            Ok(Some(last)) => reached_points(&self.build, &self.directory, &last),
            _ => Vec::new(),
        }
    }

    /// Returns a description of the container and of every step, without secrets.
    pub fn describe(&self) -> String {
        let command = self.container_command();
        let docker = command.as_deref().ok_or("none: it builds on this machine");
        let from = self.starting_step();
        self.masks
            .hide(&render::dry_run(&self.job, &self.build, docker, from))
    }

    /// Returns the description as one line of JSON, without secrets.
    pub fn describe_json(&self) -> String {
        let command = self.container_command();
        let from = self.starting_step();
        let line = render::dry_run_json(&self.job, &self.build, command.as_deref(), from);
        self.masks.hide(&line)
    }

    /// Returns the command that starts the container.
    fn container_command(&self) -> Option<String> {
        let container = self.container.as_ref()?;
        Some(render::command(&container.argv))
    }

    /// Returns the number of the step that a dry run starts at.
    fn starting_step(&self) -> usize {
        match self.start() {
            BuildStart::Stage(stage) => self
                .build
                .steps
                .iter()
                .position(|step| step.stage == stage)
                .unwrap_or_default(),
            BuildStart::Fresh | BuildStart::Auto | BuildStart::Test => 0,
        }
    }

    /// Runs the steps. If all succeed and the build is not only a test, checks the wheels, sets
    /// their labels, repairs them and copies them to the output directory: all or none.
    ///
    /// A step that fails and a wheel that is rejected are results, not errors; see
    /// [`BuildReport`].
    ///
    /// # Errors
    /// If the build cannot be started. In that case, no step has run and no record has changed.
    pub fn run(
        &self,
        context: BuildContext<'_>,
        runner: &mut dyn StepExecutor,
        on_event: &mut dyn FnMut(BuildEvent<'_>),
    ) -> Result<BuildReport, Diagnostics> {
        let wheels = self
            .options
            .test
            .as_ref()
            .map_or_else(|| Ok(Vec::new()), |dist| self.wheels_to_test(dist))
            .map_err(|error| Diagnostics::from(error).exits_with(ExitClass::Input))?;
        let host_env = self.caller.host_env();
        let log = self.log();
        let messages = MessageContext {
            log: &log,
            resume: context.resume_command,
            dry_run: context.dry_run_command,
        };
        let session = self.session(wheels, &host_env, context.signals);
        let finished =
            build(session, runner, on_event).map_err(|error| self.start_error(error, &messages))?;
        on_event(BuildEvent::StagesEnded {
            diagnostics: &self.stage_diagnostics(&finished, &messages),
            figures: &finished.record.figures,
        });
        let has_outputs = !(self.build.wheels.is_empty() && self.build.archive.is_empty());
        let is_done = matches!(finished.end, StagesOutcome::Done);
        if is_done && has_outputs && self.options.test.is_none() {
            let delivery = WheelDelivery {
                prepared: self,
                progress: context.progress,
                on_event,
            };
            return Ok(delivery.finish(finished));
        }
        Ok(BuildReport::new(finished))
    }

    /// Returns the diagnostics about an unreadable earlier record and about the end of the stages.
    fn stage_diagnostics(
        &self,
        finished: &FinishedBuild,
        messages: &MessageContext<'_>,
    ) -> Vec<Diagnostic> {
        let mut diagnostics = Vec::new();
        if let Some(reason) = &finished.unreadable {
            let path = self.caller.shown(&self.directory.record());
            let message = format!("`{path}` cannot be read: {reason}");
            diagnostics.push(
                Diagnostic::new(&codes::BAD_BUILD_FILE, message)
                    .help("no action is needed: the file is written again"),
            );
        }
        diagnostics.extend(finished.end.diagnostic(messages).map(
            |diagnostic| match &finished.end {
                StagesOutcome::Failed(error) => add_known_failures(
                    diagnostic,
                    error,
                    &self.build.steps,
                    self.caller.compat,
                    messages.resume,
                ),
                _ => diagnostic,
            },
        ));
        diagnostics
    }

    /// Returns the error for a build that cannot be started.
    fn start_error(&self, error: StartError, messages: &MessageContext<'_>) -> Diagnostics {
        let diagnostic = match error {
            StartError::Open(error) => Diagnostic::from(&error),
            StartError::Wheels(error) => error.into(),
            StartError::Engine(failure) => failure.diagnostic(messages),
            StartError::Stage(error) => return self.unknown_stage(error),
        };
        Diagnostics::from(diagnostic).exits_with(ExitClass::Machine)
    }

    /// Returns the error for a name that is neither a stage nor a resume point of the job.
    fn unknown_stage(&self, error: UnknownStage) -> Diagnostics {
        let points = self.build.resume_points.iter().map(|(name, _)| name);
        let known = points.clone().cloned().chain(
            error
                .known
                .into_iter()
                .filter(|stage| !points.clone().any(|name| name == stage)),
        );
        let error = UnknownStage {
            stage: error.stage,
            known: known.collect(),
        };
        Diagnostics::from(Diagnostic::from(&error)).exits_with(ExitClass::Usage)
    }

    /// Returns the filenames of the wheels that the options select for a test; empty for a build,
    /// and if they are not found.
    pub fn tested_wheels(&self) -> Vec<String> {
        let wheels = self.options.test.as_ref();
        let wheels = wheels.and_then(|dist| self.wheels_to_test(dist).ok());
        wheels
            .unwrap_or_default()
            .iter()
            .map(|wheel| file_name(&wheel.path).to_owned())
            .collect()
    }

    /// Returns the wheels of the job in a directory, with the directories in which the test looks
    /// for them.
    ///
    /// # Errors
    /// Unless the directory has exactly one wheel for each wheel of the job.
    fn wheels_to_test(&self, dist: &Path) -> Result<Vec<WheelToTest>, Diagnostic> {
        if !sys::exists(dist) {
            let message = format!("the directory `{}` does not exist", dist.display());
            return Err(Diagnostic::new(&codes::WRONG_WHEEL, message).help(BUILT_INTO));
        }
        let present = sys::files_with_extension(dist, &["whl"]).map_err(Diagnostic::from)?;
        let mut wheels = Vec::new();
        for expected in self.job.wheels() {
            let found: Vec<&PathBuf> = present
                .iter()
                .filter(|path| wheel_matches(expected, file_name(path)).is_ok())
                .collect();
            let [wheel] = found.as_slice() else {
                let message = format!(
                    "`{}` has {} wheels of the job `{}`",
                    dist.display(),
                    found.len(),
                    self.job.id
                );
                return Err(Diagnostic::new(&codes::WRONG_WHEEL, message)
                    .note(format!("exactly one must match `{expected}`"))
                    .help(BUILT_INTO));
            };
            wheels.push(WheelToTest {
                path: (*wheel).clone(),
                directory: wheel_directory(&self.build.wheels, file_name(wheel)),
            });
        }
        Ok(wheels)
    }

    /// Returns the inputs of the run.
    fn session<'s>(
        &'s self,
        wheels: Vec<WheelToTest>,
        surroundings: &'s HostEnv<'s>,
        signals: &'s Signals,
    ) -> BuildSession<'s> {
        let now_s = sys::now_s();
        BuildSession {
            directory: &self.directory,
            start: self.start(),
            steps: &self.build.steps,
            containment: self
                .container
                .as_ref()
                .map(|container| container.setup(&self.container_name, self.directory.path())),
            container_name: &self.container_name,
            wheels,
            inputs: self.inputs(),
            record: self.new_record(now_s),
            surroundings,
            limits: RunLimits {
                cap: self.options.cap_s.map(|at_s| TimeCap { at_s }),
                used_before_s: self
                    .options
                    .cap_starts_at_s
                    .map_or(0, |started_s| now_s.saturating_sub(started_s)),
                retry_pause: RETRY_PAUSE,
            },
            masks: &self.masks,
            signals,
        }
    }

    /// Returns the record of the build before it starts.
    fn new_record(&self, now_s: u64) -> BuildRecord {
        let job = &self.job;
        let mut record = BuildRecord::new(GENERATOR, &job.id, &job.wheel);
        record.axes = job
            .axes
            .iter()
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        record.gfx = job.gfx.iter().map(ToString::to_string).collect();
        self.options
            .engine
            .map_or("local", container::EngineProgram::program)
            .clone_into(&mut record.engine);
        record.image = self
            .container
            .as_ref()
            .map(|container| container.image.clone());
        record.started_s = now_s;
        record
    }

    /// Lists the files outside the job directory that each stage reads. A path that cannot be read
    /// has an empty list: the stage reports it.
    fn inputs(&self) -> BTreeMap<String, String> {
        let steps = self.build.steps.iter();
        steps
            .filter(|step| !step.inputs.is_empty())
            .map(|step| {
                let listings = step.inputs.iter().map(|path| self.listing(step, path));
                (step.stage.clone(), listings.collect())
            })
            .collect()
    }

    /// Lists the files at a path that a step reads.
    fn listing(&self, step: &Step, path: &str) -> String {
        let directory = self.caller.directory();
        let path = match path.strip_prefix(CALLER_MOUNT) {
            Some(rest) => directory.display().to_string() + rest,
            None => path.to_owned(),
        };
        let path = directory.join(path);
        let listed = match step.left_out.as_slice() {
            [] => sys::file_listing(&path, &mut |_, _| false),
            left_out => source_listing(&path, left_out),
        };
        listed.unwrap_or_default()
    }

    /// Returns the time that the caller sets for archives, if any.
    pub(super) fn given_source_date(&self) -> Option<&'a str> {
        self.caller.environment.get(SOURCE_DATE)
    }
}

/// Returns the path of a job directory, which containers and scripts need as text.
fn utf8_path(directory: &JobDirectory) -> Result<&str, Diagnostic> {
    let path = directory.path();
    path.to_str().ok_or_else(|| {
        let message = format!(
            "the path of the directory `{}` is not UTF-8",
            path.display()
        );
        Diagnostic::new(&codes::BUILD_FOLDER, message)
            .help("build in a directory whose path is UTF-8")
    })
}

/// Returns the name of a file; empty if it is not UTF-8.
fn file_name(path: &Path) -> &str {
    path.file_name()
        .and_then(|name| name.to_str())
        .unwrap_or_default()
}

/// Returns the directory, relative to the job's, in which a build leaves a wheel of this name.
/// Recipes with several wheels name directories after the distribution, so patterns in the glob's
/// directories stand for it.
fn wheel_directory(glob: &str, wheel: &str) -> PathBuf {
    let distribution = wheel.split('-').next().unwrap_or(wheel);
    let directories = glob
        .rsplit_once('/')
        .map_or("", |(directories, _)| directories)
        .split('/');
    directories
        .map(|name| {
            if name.contains(['*', '?', '[', '{']) {
                distribution
            } else {
                name
            }
        })
        .collect()
}
