//! Wheels of other distributions that a job leaves beside its own.

use serde_json::{Map, Value as Json, json};

use super::naming::{Words, wheel_tag};
use super::view::own_vars;
use crate::config::recipe::WheelDocument;
use crate::config::{AxisRole, Config, Overrides, Profile};
use crate::diagnostic::{Diagnostic, Sink, registry::build as codes};
use crate::matrix::{Cell, Universe};
use crate::names::{DistributionName, ExpectedWheel};
use crate::template::{Expressions, Serde, Value};

/// Says which further wheels the jobs of a group leave.
#[derive(Debug)]
pub(super) struct Further<'a> {
    config: &'a Config,
    profile: &'a Profile,
    universe: &'a Universe,
    /// File forms of the distributions.
    names: Vec<String>,
    expressions: Expressions,
    /// Field axes, where a condition may ask for their values.
    asked: Vec<usize>,
}

impl<'a> Further<'a> {
    pub(super) fn new(config: &'a Config, profile: &'a Profile, universe: &'a Universe) -> Self {
        let file_form = |wheel: &WheelDocument| {
            let name = wheel.distribution.parse::<DistributionName>();
            name.map_or_else(|_| wheel.distribution.clone(), |name| name.file_form())
        };
        let has_conditions = profile.wheels.iter().any(|wheel| wheel.when.is_some());
        let is_asked = |axis: &usize| has_conditions && universe.axes()[*axis].role == AxisRole::Field;
        Self {
            config,
            profile,
            universe,
            names: profile.wheels.iter().map(file_form).collect(),
            expressions: Expressions::default(),
            asked: (0..universe.axes().len()).filter(is_asked).collect(),
        }
    }

    /// Whether there are none for any job.
    pub(super) fn is_none(&self) -> bool {
        self.profile.wheels.is_empty()
    }

    /// The values of a cell that conditions may ask for.
    pub(super) fn asked(&self, cell: Cell) -> Vec<usize> {
        self.asked.iter().map(|&axis| self.universe.index(cell, axis)).collect()
    }

    /// The names for a cell, in the order of the recipe. A condition that cannot be evaluated is a fault.
    pub(super) fn of(
        &self,
        cell: Cell,
        words: &Words<'_>,
        label: Option<&str>,
        changes: &Overrides,
        sink: &mut Sink,
    ) -> Vec<String> {
        let values = self.values(cell, words, changes);
        let mut found = Vec::new();
        for (wheel, name) in self.profile.wheels.iter().zip(&self.names) {
            match wheel.when.as_ref().map_or(Ok(true), |when| self.expressions.is_true(when, &values)) {
                Ok(true) => {
                    let plus = label.map(|label| format!("+{label}")).unwrap_or_default();
                    let tag =
                        wheel_tag(words, wheel.tag.as_deref().or(words.backend.tag.as_deref()), self.config.platform);
                    found.push(format!("{name}-{}{plus}-{tag}.whl", ExpectedWheel::version_text(None)));
                }
                Ok(false) => {}
                Err(error) => {
                    let when = wheel.when.as_deref().unwrap_or_default();
                    let message = format!("cannot evaluate `{when}` of the wheel `{}`", wheel.distribution);
                    let fault = Diagnostic::new(&codes::BAD_EXPRESSION, message).note(error.to_string());
                    sink.push(
                        fault
                            .note(format!("in the recipe `{}`", self.profile.name))
                            .help("such a condition sees the axes, `vars`, `platform`, `backend` and `python`"),
                    );
                }
            }
        }
        found
    }

    fn values(&self, cell: Cell, words: &Words<'_>, changes: &Overrides) -> Value {
        let snake = |name: &str| name.replace('-', "_");
        let own = own_vars(self.profile, self.universe, cell, changes);
        let vars = self.profile.vars.iter().chain(&self.config.vars).chain(&own);
        let vars: Map<String, Json> = vars.map(|(name, value)| (snake(name), json!(value))).collect();
        let texts = self.universe.texts(cell);
        let mut values: Map<String, Json> = texts.iter().map(|(name, value)| (snake(name), json!(value))).collect();
        let python = words.python.map(|python| python.to_string()).unwrap_or_default();
        let more = [
            ("platform", json!(self.config.platform.word())),
            ("backend", json!(words.backend.name)),
            ("python", json!(python)),
            ("vars", Json::Object(vars)),
        ];
        values.extend(more.map(|(name, value)| (name.to_owned(), value)));
        Value::from(Serde(&values))
    }
}
