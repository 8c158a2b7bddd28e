//! The build script of a job: what a person can paste and what a container runs.

use serde::Serialize;

use crate::plan::Job;
use crate::recipe::{Build, Step};
use crate::template;

const TEMPLATE: &str = include_str!("../../templates/docker/build.sh");

#[derive(Serialize)]
struct View<'a> {
    id: &'a str,
    wheel: &'a str,
    generator: &'a str,
    folder: &'a str,
    wheels: String,
    uses_jobs: bool,
    steps: Vec<StepView>,
}

#[derive(Serialize)]
struct StepView {
    stage: String,
    stage_word: String,
    seconds: u64,
    tries: u32,
    clean: Vec<String>,
    environment: Vec<String>,
    command: String,
    outputs: Vec<OutputView>,
}

#[derive(Serialize)]
struct OutputView {
    glob: String,
    count: usize,
}

/// The script that runs the steps of a build, with every word quoted. `folder` is the job's folder as the script sees
/// it, unless `ROCK_FOLDER` names another.
pub fn script(job: &Job, build: &Build, folder: &str, generator: &str) -> String {
    let view = View {
        id: &job.id,
        wheel: &job.wheel,
        generator,
        folder,
        wheels: quote(&build.wheels),
        uses_jobs: build.steps.iter().any(|step| step.jobs.is_some()),
        steps: build.steps.iter().map(step_view).collect(),
    };
    template::render("build.sh", TEMPLATE, &view).expect("the template names only fields of its view")
}

fn step_view(step: &Step) -> StepView {
    let mut environment = Vec::new();
    for name in &step.env_remove {
        environment.push(format!("unset {name}"));
    }
    for (name, value) in &step.env {
        environment.push(format!("export {name}={}", quote(value)));
    }
    for (name, extend) in &step.env_extend {
        let separator = quote(&extend.separator);
        let mut value = String::new();
        if let Some(prepend) = &extend.prepend {
            value.push_str(&format!("{}${{{name}:+{separator}}}", quote(prepend)));
        }
        value.push_str(&format!("\"${{{name}:-}}\""));
        if let Some(append) = &extend.append {
            value.push_str(&format!("${{{name}:+{separator}}}{}", quote(append)));
        }
        environment.push(format!("export {name}={value}"));
    }
    if let Some(jobs) = &step.jobs {
        let (name, tenths) = (&jobs.variable, jobs.tenths_gib_per_job);
        let number = jobs.count.map_or_else(|| format!("$(parallel_jobs {tenths})"), |count| count.to_string());
        environment.push(format!("export {name}=\"${{{name}:-{number}}}\""));
    }
    let command = command(&step.argv);
    StepView {
        stage: step.stage.clone(),
        stage_word: quote(&step.stage),
        seconds: step.timeout_s.unwrap_or(0),
        tries: step.retries + 1,
        clean: step.clean.iter().map(|path| quote(path)).collect(),
        environment,
        command: if step.cwd.is_empty() { command } else { format!("env -C {} {command}", quote(&step.cwd)) },
        outputs: step.outputs.iter().map(|o| OutputView { glob: quote(&o.glob), count: o.count }).collect(),
    }
}

/// Words as one line for a POSIX shell.
pub fn command(words: &[String]) -> String {
    words.iter().map(|word| quote(word)).collect::<Vec<_>>().join(" ")
}

/// One word for a POSIX shell. NUL cannot stand in a word and is left out; nothing that reaches this has one.
pub fn quote(word: &str) -> String {
    shlex::try_quote(&word.replace('\0', "")).map(std::borrow::Cow::into_owned).unwrap_or_default()
}
