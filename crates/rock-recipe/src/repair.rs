//! The steps and the command that repair a finished wheel.

use super::context::BuildSite;
use super::step::Step;
use super::step_builder::StepBuilder;
use rock_compat::Compat;
use rock_names::ExpectedWheel;
use rock_plan::Job;
use rock_plan::config::{Platform, RepairConfig, RepairPlatform};

const LIBRARIES: &str = include_str!("../templates/recipe/libraries.py");

/// The directory that `smoke.py` installs the wheels in, relative to the job directory.
const INSTALLED: &str = "smoke";
/// The directory, relative to the job directory, with copies of the container's libraries at their
/// paths in the container.
pub const LIBRARIES_FOLDER: &str = "libraries";

/// Returns whether wheels of the job are repaired for a platform.
pub fn is_repaired(job: &Job) -> bool {
    let is_for_platform = |wheel: &String| {
        wheel
            .parse::<ExpectedWheel>()
            .is_ok_and(|w| !w.name_with_placeholder().is_platform_independent())
    };
    job.settings.repair.platform != RepairPlatform::Off
        && job.settings.platform == Platform::Linux
        && job.wheels().any(is_for_platform)
}

/// Returns the names and shell patterns of the libraries that are excluded from a repair.
pub fn outside(repair: &RepairConfig, compat: &Compat) -> Vec<String> {
    let of_presets = repair
        .presets
        .iter()
        .filter_map(|name| compat.preset(name))
        .flat_map(|preset| &preset.patterns);
    of_presets.chain(&repair.exclude).cloned().collect()
}

/// Returns the words of the command that labels and repairs the finished wheels of a job, for users
/// who run its steps without this program; wheels and `--out` follow. Returns `None` if the
/// wheels stay as they were built.
pub fn finishing(job: &Job, relabels: bool) -> Option<Vec<String>> {
    let label = job
        .label
        .as_ref()
        .filter(|_| relabels)
        .map(ToString::to_string);
    let mut words: Vec<String> = [super::step_builder::THIS_PROGRAM, "wheel"]
        .map(str::to_owned)
        .into();
    let mut add = |more: &[&str]| words.extend(more.iter().map(|word| (*word).to_owned()));
    if !is_repaired(job) {
        add(&["label", "--local", label.as_deref()?, "--replace"]);
        return Some(words);
    }
    let repair = &job.settings.repair;
    let presets = if repair.presets.is_empty() {
        "none".to_owned()
    } else {
        repair.presets.join(",")
    };
    add(&[
        "repair",
        "--plat",
        &repair.platform.to_string(),
        "--exclude-preset",
        &presets,
    ]);
    for pattern in &repair.exclude {
        add(&["--exclude", pattern]);
    }
    if let Some(label) = &label {
        add(&["--relabel", label]);
    }
    Some(words)
}

impl StepBuilder<'_> {
    /// Returns the step that copies the libraries of a container that may be grafted into the
    /// wheel; `None` if the wheel is not repaired, or is repaired on the system that it was built
    /// on.
    pub(super) fn libraries(&self, job: &Job, compat: &Compat) -> Option<Step> {
        if *self.site != BuildSite::Container || !is_repaired(job) {
            return None;
        }
        let folders = [INSTALLED.to_owned(), LIBRARIES_FOLDER.to_owned()];
        let mut step = self.program("libraries".to_owned(), LIBRARIES, folders);
        step.argv.extend(outside(&job.settings.repair, compat));
        step.clean = vec![LIBRARIES_FOLDER.to_owned()];
        Some(step)
    }
}
