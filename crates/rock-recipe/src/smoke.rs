//! The step that installs and tests the built wheel, and the preparation for this test in a place
//! where the wheel was not built.

use super::step::Step;
use super::step_builder::StepBuilder;
use rock_diagnostic::Diagnostic;

const SMOKE: &str = include_str!("../templates/recipe/smoke.py");

/// The stage that installs and tests the wheel.
pub(super) const SMOKE_TEST: &str = "smoke-test";

/// The preparation for testing a finished wheel in a place where it was not built.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TestPreparation {
    /// Stages of the build that run first.
    pub stages: Vec<String>,
    /// An additional step that installs packages.
    pub requires: Option<Step>,
}

impl StepBuilder<'_> {
    /// Returns the step that installs and tests the wheels that match a glob.
    ///
    /// # Errors
    /// If an expression cannot be evaluated.
    pub(super) fn smoke(&self, wheels: &str) -> Result<Step, Diagnostic> {
        let (context, test) = (self.context, &self.document.test);
        let version = if self.document.collect.relabel {
            ""
        } else {
            "{{ full_version }}"
        };
        let arguments = [
            wheels.to_owned(),
            context.required("{{ distribution }}")?,
            context.required(version)?,
            context.required(&test.cpu)?,
            context.required(&test.gpu)?,
            context.required("{{ gfx|semis }}")?,
            if test.pytest.is_some() {
                "pytest"
            } else {
                "program"
            }
            .to_owned(),
        ];
        let mut step = self.program(SMOKE_TEST.to_owned(), SMOKE, arguments);
        step.argv
            .extend(context.words(test.pytest.as_deref().unwrap_or_default())?);
        step.env.extend(self.job.run_time.env.clone());
        self.set_env(&mut step, &test.env)?;
        Ok(step)
    }

    /// Returns the preparation for the smoke test in a place where the wheel was not built.
    ///
    /// # Errors
    /// See [`Self::smoke`].
    pub(super) fn elsewhere(&self) -> Result<TestPreparation, Diagnostic> {
        let packages = self.context.words(&self.document.test.requires)?;
        let install = ["-m", "pip", "install", "--quiet"].map(str::to_owned);
        let requires = (!packages.is_empty()).then(|| Step {
            stage: "test-requirements".to_owned(),
            argv: [self.python.to_owned()]
                .into_iter()
                .chain(install)
                .chain(packages)
                .collect(),
            retries: 2,
            ..Step::default()
        });
        Ok(TestPreparation {
            stages: self.document.test.stages.clone(),
            requires,
        })
    }
}
