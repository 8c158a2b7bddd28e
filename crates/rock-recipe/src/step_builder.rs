//! Creates the steps of a build: sources, edits and steps of the recipe, in order.

use std::cell::OnceCell;
use std::collections::BTreeSet;

use super::build::{Build, RECORD_FILE};
use super::context::{BuildSite, CALLER_VARIABLE, ExpressionContext, shell_variable};
use super::deferred_facts::FactStage;
use super::smoke::TestPreparation;
use super::step::{Step, StepOutput};
use crate::codes::build as codes;
use rock_diagnostic::Diagnostic;
use rock_names::is_absolute;
use rock_plan::Job;
use rock_plan::config::recipe::{
    ESCAPES, EditDocument, PlaceDocument, RecipeDocument, ReplacementPart, StepDocument,
};
use rock_plan::config::{Leaves, Platform};
use rock_template::TemplateSpan;

const EDIT: &str = concat!(
    include_str!("../templates/recipe/inside.py"),
    include_str!("../templates/recipe/edit.py")
);
const INSTALL: &str = include_str!("../templates/recipe/install.py");
const PLACE: &str = include_str!("../templates/recipe/place.py");
const RECORD: &str = include_str!("../templates/recipe/record.py");
const REMOVE: &str = concat!(
    include_str!("../templates/recipe/inside.py"),
    include_str!("../templates/recipe/remove.py")
);
const WRITE: &str = concat!(
    include_str!("../templates/recipe/inside.py"),
    include_str!("../templates/recipe/write.py")
);

/// The name of this program in commands.
pub(super) const THIS_PROGRAM: &str = "rock-matrix";

/// Creates steps from the parts of a recipe.
pub(super) struct StepBuilder<'a> {
    pub(super) document: &'a RecipeDocument,
    pub(super) context: &'a ExpressionContext<'a>,
    pub(super) job: &'a Job,
    /// The interpreter that runs our own programs.
    pub(super) python: &'a str,
    pub(super) site: &'a BuildSite,
    pub(super) platform: Platform,
    /// The directory of the programs that are installed next to the job's own Python, such as ninja
    /// and cmake.
    pub(super) programs: Option<String>,
    /// The variables of every step, on an otherwise empty step; created when the first step needs
    /// them.
    pub(super) shared: OnceCell<Step>,
}

impl StepBuilder<'_> {
    /// Returns the build: the steps `before`, which prepare the environment, and all others. On
    /// failure, returns the errors of every part.
    pub(super) fn build(
        &self,
        before: Vec<Step>,
        libraries: Option<Step>,
    ) -> Result<Build, Vec<Diagnostic>> {
        let (document, context) = (self.document, self.context);
        let mut faults = Vec::new();
        let ready = before.len();
        let (mut checkouts, mut steps) = (Vec::new(), before);
        let mut warnings = Vec::new();
        for (name, source) in &document.sources {
            match context.holds(source.when.as_deref()) {
                Ok(false) => {}
                Ok(true) => match self.source(name, source, &mut warnings) {
                    Ok(made) => {
                        let (host, inside): (Vec<_>, Vec<_>) =
                            made.into_iter().partition(|step| step.host);
                        checkouts.extend(host);
                        steps.extend(inside);
                    }
                    Err(fault) => faults.push(fault),
                },
                Err(fault) => faults.push(fault),
            }
        }
        for (number, edit) in document.edits.iter().enumerate() {
            let made = context
                .holds(edit.when.as_deref())
                .and_then(|holds| holds.then(|| self.edit(number, edit)).transpose());
            made.map_or_else(|fault| faults.push(fault), |step| steps.extend(step));
        }
        let mut asked = BTreeSet::new();
        let mut make = |written: &StepDocument,
                        steps: &mut Vec<Step>,
                        faults: &mut Vec<Diagnostic>| match self
            .written(written, &mut asked)
        {
            Ok(made) => steps.extend(made),
            Err(fault) => faults.push(fault),
        };
        let (last, steps_of_build): (Vec<_>, Vec<_>) =
            document.steps.iter().partition(|written| written.finally);
        for written in steps_of_build {
            make(written, &mut steps, &mut faults);
        }
        let wheels = inside(context.required(&document.collect.wheels)).unwrap_or_else(|fault| {
            faults.push(fault);
            String::new()
        });
        let archive = inside(context.required(&document.collect.archive)).unwrap_or_else(|fault| {
            faults.push(fault);
            String::new()
        });
        let is_missing = match document.leaves {
            Leaves::Wheels => wheels.is_empty(),
            Leaves::Sdist => wheels.is_empty() || archive.is_empty(),
            Leaves::Archive => archive.is_empty(),
            Leaves::Tree => false,
        };
        if is_missing && faults.is_empty() {
            faults.push(nothing_collected(document));
        }
        if !document.collect.record.is_empty() {
            self.record()
                .map_or_else(|fault| faults.push(fault), |step| steps.push(step));
        }
        let mut elsewhere = TestPreparation::default();
        if document.leaves == Leaves::Wheels && !wheels.is_empty() {
            self.smoke(&wheels)
                .map_or_else(|fault| faults.push(fault), |step| steps.push(step));
            steps.extend(libraries);
            self.elsewhere()
                .map_or_else(|fault| faults.push(fault), |found| elsewhere = found);
        }
        for written in last {
            make(written, &mut steps, &mut faults);
        }
        if !faults.is_empty() {
            return Err(faults);
        }
        // Steps that this program runs itself come before those that a container may run:
        // checkouts, then steps of the recipe.
        let (own, steps): (Vec<_>, Vec<_>) = steps.into_iter().partition(|step| step.host);
        let ready = ready + checkouts.len() + own.len();
        let steps: Vec<Step> = checkouts.into_iter().chain(own).chain(steps).collect();
        let caller = shell_variable(CALLER_VARIABLE);
        let of_caller = |step: &&Step| {
            let mut words = step.argv.iter().chain(step.env.values());
            !step.inputs.is_empty() || words.any(|word| word.contains(&caller))
        };
        let is_inside = |step: &&Step| !(step.host && *self.site == BuildSite::Container);
        let uses_caller = steps.iter().filter(is_inside).any(|step| of_caller(&step));
        let resume_points = resume_points(document, &steps);
        let relabel = document.collect.relabel;
        Ok(Build {
            steps,
            ready,
            resume_points,
            wheels,
            archive,
            relabel,
            uses_caller,
            elsewhere,
            warnings,
        })
    }

    /// Returns a step that runs one of our own programs.
    pub(super) fn program<const N: usize>(
        &self,
        stage: String,
        program: &str,
        arguments: [String; N],
    ) -> Step {
        let argv = [self.python.to_owned(), "-c".to_owned(), program.to_owned()]
            .into_iter()
            .chain(arguments)
            .collect();
        Step {
            stage,
            argv,
            ..Step::default()
        }
    }

    fn edit(&self, number: usize, edit: &EditDocument) -> Result<Step, Diagnostic> {
        let stage = format!("edit-{}", number + 1);
        let Some(file) = &edit.file else {
            let mut step = self.program(stage, REMOVE, []);
            for path in self.context.words(&edit.remove)? {
                step.argv.push(inside(Ok(path))?);
            }
            return Ok(step);
        };
        let path = inside(self.context.required(file))?;
        if let Some(content) = &edit.write {
            // An expression drops the final line break.
            let end = if content.ends_with('\n') { "\n" } else { "" };
            return Ok(self.program(stage, WRITE, [path, self.context.required(content)? + end]));
        }
        let arguments = [
            path,
            edit.find.clone(),
            self.context.required(&edit.unless)?,
            self.context.required(&edit.only_with)?,
            edit.count
                .map(|count| count.to_string())
                .unwrap_or_default(),
        ];
        let mut step = self.program(stage, EDIT, arguments);
        step.argv.extend(self.replacement(&edit.replace)?);
        Ok(step)
    }

    /// Returns the words of a replacement, in which values of expressions are literal.
    fn replacement(&self, text: &str) -> Result<Vec<String>, Diagnostic> {
        let mut words = Vec::new();
        for span in self.context.spans(text)? {
            match span {
                TemplateSpan::Inserted(value) => words.push(ReplacementPart::Text(value).word()),
                TemplateSpan::Written(text) => {
                    let fault = |reason: String| {
                        Diagnostic::new(&codes::BAD_REPLACEMENT, reason).help(ESCAPES)
                    };
                    let parts = ReplacementPart::parse(&text).map_err(fault)?;
                    words.extend(parts.iter().map(ReplacementPart::word));
                }
            }
        }
        Ok(words)
    }

    /// Returns a step of the recipe with the steps that detect facts before and after it, if its
    /// condition holds.
    fn written(
        &self,
        written: &StepDocument,
        asked: &mut BTreeSet<String>,
    ) -> Result<Vec<Step>, Diagnostic> {
        let mut made = Vec::new();
        if self.context.holds(written.when.as_deref())? {
            made.extend(self.ask(&written.stage, FactStage::Before, asked)?);
            made.extend(self.step(written, asked)?);
            made.extend(self.ask(&written.stage, FactStage::After, asked)?);
        }
        for step in &mut made {
            step.finally = written.finally;
        }
        Ok(made)
    }

    /// Returns a step of the recipe, and the steps that install its outputs.
    fn step(
        &self,
        written: &StepDocument,
        asked: &BTreeSet<String>,
    ) -> Result<Vec<Step>, Diagnostic> {
        let context = self.context;
        let argv = match (&written.place, &written.shell) {
            (Some(place), _) => self.place(place)?,
            (None, None) if !written.rock_matrix.is_empty() => {
                let words = context.words(&written.rock_matrix)?;
                std::iter::once(THIS_PROGRAM.to_owned())
                    .chain(words)
                    .collect()
            }
            (None, None) => context.words(&written.argv)?,
            (None, Some(_)) => ["bash", "-euo", "pipefail", "-c", &written.script]
                .map(str::to_owned)
                .into(),
        };
        let mut step = Step {
            stage: written.stage.clone(),
            argv,
            cwd: inside(context.required(&written.cwd))?,
            timeout_s: written.timeout_min.map(|minutes| minutes * 60),
            retries: written.retry,
            host: !written.rock_matrix.is_empty(),
            ..Step::default()
        };
        for path in context.words(&written.inputs)? {
            step.inputs.push(self.of_caller(path));
        }
        for path in context.words(&written.clean)? {
            step.clean.push(inside(Ok(path))?);
        }
        for path in context.words(&written.outdated)? {
            step.outdated.push(inside(Ok(path))?);
        }
        for (name, output) in &written.outputs {
            let glob = inside(context.required(&output.glob))?;
            step.outputs.push(StepOutput {
                name: name.clone(),
                glob,
                count: output.count,
            });
        }
        // The recipe's variables for its own programs may use facts that are only detected once
        // they run.
        if !step.host {
            self.set_shared_env(&mut step)?;
            Self::leave_out_unasked(&mut step, asked);
        }
        self.set_env(&mut step, &written.env)?;
        self.check_asked(&step, asked)?;
        let mut steps = vec![step];
        for (name, output) in written.outputs.iter().filter(|(_, output)| output.install) {
            let arguments = [
                inside(self.context.required(&output.glob))?,
                output.count.to_string(),
            ];
            steps.push(self.program(format!("install-{name}"), INSTALL, arguments));
        }
        Ok(steps)
    }

    /// Returns the command that places files in an environment.
    fn place(&self, place: &PlaceDocument) -> Result<Vec<String>, Diagnostic> {
        let context = self.context;
        let into = self.of_caller(context.required(&place.into)?);
        let mut argv = self
            .program(
                String::new(),
                PLACE,
                [into, inside(context.required(&place.holds))?],
            )
            .argv;
        for row in &place.rows {
            if context.holds(row.when.as_deref())? {
                let need = if row.one { "one" } else { "some" }.to_owned();
                let folders = context
                    .words(&row.to)?
                    .into_iter()
                    .map(|folder| inside(Ok(folder)));
                let folders = folders.collect::<Result<Vec<_>, _>>()?;
                argv.extend([
                    inside(context.required(&row.from))?,
                    need,
                    inside(context.required(&row.link))?,
                ]);
                argv.extend([
                    inside(context.required(&row.replaces))?,
                    folders.len().to_string(),
                ]);
                argv.extend(folders);
            }
        }
        Ok(argv)
    }

    fn record(&self) -> Result<Step, Diagnostic> {
        let mut step = self.program("record".to_owned(), RECORD, [RECORD_FILE.to_owned()]);
        for (name, command) in &self.document.collect.record {
            let words = self.context.words(command)?;
            let quoted: Vec<_> = words
                .iter()
                .map(|word| shlex::try_quote(word).unwrap_or_default())
                .collect();
            step.argv.extend([name.clone(), quoted.join(" ")]);
        }
        Ok(step)
    }
}

/// Returns the step that each resume point starts at: the first of its stages, or the detection of
/// facts right before it. A point without a stage in this job starts where the next one does.
fn resume_points(document: &RecipeDocument, steps: &[Step]) -> Vec<(String, usize)> {
    let begin = |stage: &String| {
        let at = steps.iter().position(|step| step.stage == *stage)?;
        let questions = steps[..at]
            .iter()
            .rev()
            .take_while(|step| step.stage.starts_with(&format!("facts-of-{stage}")));
        Some(at - questions.count())
    };
    let mut next = None;
    let mut found = Vec::new();
    for (name, stages) in document.points.iter().rev() {
        next = stages.iter().filter_map(begin).min().or(next);
        found.extend(next.map(|at| (name.clone(), at)));
    }
    found.reverse();
    found
}

/// Returns the error for a job for which the patterns of `collect` are empty.
fn nothing_collected(document: &RecipeDocument) -> Diagnostic {
    let message = "the recipe does not collect a file that its job produces, so a build would \
        deliver nothing";
    let error = Diagnostic::new(&codes::BAD_RECIPE, message)
        .help("write patterns in `collect` that are not empty for any job");
    match document.place_of("collect:") {
        Some(place) => error.at(place, ""),
        None => error,
    }
}

/// Checks that a path stays in the job directory.
pub(super) fn inside(path: Result<String, Diagnostic>) -> Result<String, Diagnostic> {
    let path = path?;
    if is_absolute(&path) || path.split(['/', '\\']).any(|part| part == "..") {
        let fault = Diagnostic::new(
            &codes::PATH_OUTSIDE,
            format!("`{path}` is not in the job's folder"),
        );
        return Err(fault.help("write a path relative to the job's folder, without `..`"));
    }
    Ok(path)
}
