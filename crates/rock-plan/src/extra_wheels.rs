//! Wheels of other distributions that a job produces in addition to its own.

use std::collections::BTreeMap;

use serde_json::{Map, Value as Json, json};

use super::interned_values::DeviceCode;
use super::job_view::own_vars;
use super::naming::{CellValues, wheel_tag};
use crate::codes::build as codes;
use crate::config::recipe::WheelDocument;
use crate::config::{AxisRole, MatrixConfig, RecipeProfile, RowOverrides};
use crate::matrix::{AxisSpace, CellRank};
use rock_diagnostic::{Diagnostic, Sink};
use rock_names::{
    AbiTags, DistributionName, DistributionNameError, ExpectedWheel, LocalLabel, PlatformTags,
    PythonTags, TagSetError, Version,
};
use rock_template::{CompiledText, ExpressionEnv, Serde, TemplateError, Value, merge_maps};

/// Name of the variable that holds the current item of a row with `each`.
const EACH: &str = "each";

/// Determines the extra wheels of a group's jobs.
#[derive(Debug)]
pub(super) struct ExtraWheels<'a> {
    config: &'a MatrixConfig,
    profile: &'a RecipeProfile,
    space: &'a AxisSpace,
    expressions: &'a ExpressionEnv,
    /// The compiled condition of each wheel of the recipe.
    conditions: Vec<Option<Result<CompiledText<'a>, TemplateError>>>,
    /// Field axes whose values a condition may use.
    condition_axes: Vec<usize>,
}

/// The values of a job that the names of its extra wheels depend on.
#[derive(Debug, Clone, Copy)]
pub(super) struct JobNameValues<'a> {
    /// The public version; `None` if it is unknown before the build.
    pub(super) version: Option<&'a Version>,
    pub(super) label: Option<&'a LocalLabel>,
    pub(super) device: &'a DeviceCode,
    /// The platform tag before repair.
    pub(super) platform: &'a str,
}

impl<'a> ExtraWheels<'a> {
    pub(super) fn new(
        config: &'a MatrixConfig,
        profile: &'a RecipeProfile,
        space: &'a AxisSpace,
        expressions: &'a ExpressionEnv,
    ) -> Self {
        let condition = |wheel: &WheelDocument| {
            let when = wheel.when.as_ref()?;
            Some(expressions.compile(when))
        };
        let has_conditions = profile
            .wheels
            .iter()
            .any(|wheel| wheel.when.is_some() || wheel.each.is_some());
        let is_used = |axis: &usize| has_conditions && space.axes()[*axis].role == AxisRole::Field;
        Self {
            config,
            profile,
            space,
            expressions,
            conditions: profile.wheels.iter().map(condition).collect(),
            condition_axes: (0..space.axes().len()).filter(is_used).collect(),
        }
    }

    /// Whether no job has extra wheels.
    pub(super) fn is_none(&self) -> bool {
        self.profile.wheels.is_empty()
    }

    /// Returns the values that a cell's names depend on in addition to its label and tags: axis
    /// values that conditions may use, and the numbers of its version and device code if they are
    /// used.
    pub(super) fn name_values(&self, cell: CellRank, package: usize, device: u32) -> Vec<usize> {
        let wheels = &self.profile.wheels;
        let of_version = wheels
            .iter()
            .any(|wheel| wheel.same_version)
            .then_some(package);
        let of_device = wheels
            .iter()
            .any(|wheel| wheel.when.is_some() || wheel.each.is_some());
        let of_device = of_device.then_some(device as usize);
        let of_axes = self
            .condition_axes
            .iter()
            .map(|&axis| self.space.index(cell, axis));
        of_axes.chain(of_version).chain(of_device).collect()
    }

    /// Returns the names for a cell in recipe order, without duplicates. Reports expressions that
    /// cannot be evaluated.
    pub(super) fn of(
        &self,
        cell: CellRank,
        values: &CellValues<'_>,
        own: &JobNameValues<'_>,
        overrides: &RowOverrides,
        sink: &mut Sink,
    ) -> Vec<String> {
        let context = Value::from(Serde(self.context(cell, values, own, overrides)));
        let mut found = Vec::new();
        let mut tags = WheelTagCache::default();
        for (wheel, condition) in self.profile.wheels.iter().zip(&self.conditions) {
            let is_made = match condition {
                None => Ok(true),
                Some(Ok(condition)) => condition.is_true(&context),
                Some(Err(error)) => Err(error.clone()),
            };
            let names = match is_made {
                Ok(true) => self.names(wheel, values, own, &context, &mut tags),
                Ok(false) => continue,
                Err(error) => Err((error.name.clone(), error.to_string())),
            };
            match names {
                Ok(names) => {
                    for name in names {
                        if !found.contains(&name) {
                            found.push(name);
                        }
                    }
                }
                Err((text, reason)) => {
                    let message = format!(
                        "cannot evaluate `{text}` of the wheel `{}`",
                        wheel.distribution
                    );
                    let fault = Diagnostic::new(&codes::BAD_EXPRESSION, message).note(reason);
                    sink.push(fault.note(format!("in the recipe `{}`", self.profile.name)).help(
                        "expressions of wheels can use the axes, `vars`, `platform`, `backend`, \
                         `python`, `gfx` and `families`",
                    ));
                }
            }
        }
        found
    }

    /// Returns the wheel names of a recipe row, or the text that cannot be evaluated with the
    /// reason.
    fn names(
        &self,
        wheel: &'a WheelDocument,
        values: &CellValues<'_>,
        own: &JobNameValues<'_>,
        context: &Value,
        tags: &mut WheelTagCache<'a>,
    ) -> Result<Vec<String>, (String, String)> {
        let distributions = self.distributions(wheel, context)?;
        let fixed = wheel.tag.as_deref();
        let (python, abi, platform) = tags
            .0
            .entry(fixed)
            .or_insert_with(|| {
                let fixed = fixed.or(values.backend.tag.as_deref());
                let tag = wheel_tag(values, fixed, own.platform);
                read_tag(&tag).map_err(|error| (tag, error.to_string()))
            })
            .as_ref()
            .map_err(Clone::clone)?;
        let version = own.version.filter(|_| wheel.same_version);
        let name = |distribution| {
            let (python, abi, platform) = (python.clone(), abi.clone(), platform.clone());
            ExpectedWheel::new(&distribution, version, own.label, python, abi, platform).to_string()
        };
        Ok(distributions.into_iter().map(name).collect())
    }

    /// Returns the distributions of a recipe row, or the text that cannot be evaluated with the
    /// reason.
    fn distributions(
        &self,
        wheel: &WheelDocument,
        context: &Value,
    ) -> Result<Vec<DistributionName>, (String, String)> {
        let fault = |text: &str| {
            let text = text.to_owned();
            move |error: TemplateError| (text, error.to_string())
        };
        let text = &wheel.distribution;
        let name = |context: &Value| {
            let name = self.expressions.text(text, context).map_err(fault(text))?;
            name.unwrap_or_default()
                .parse()
                .map_err(|error: DistributionNameError| (text.clone(), error.to_string()))
        };
        let Some(each) = &wheel.each else {
            return Ok(vec![name(context)?]);
        };
        let list = self
            .expressions
            .evaluate(each, context)
            .map_err(fault(each))?;
        let items = list
            .try_iter()
            .map_err(|error| (each.clone(), error.to_string()))?;
        items
            .map(|item| {
                let item = Value::from(BTreeMap::from([(EACH, item.to_string())]));
                name(&merge_maps([item, context.clone()]))
            })
            .collect()
    }

    fn context(
        &self,
        cell: CellRank,
        values: &CellValues<'_>,
        of_job: &JobNameValues<'_>,
        overrides: &RowOverrides,
    ) -> Map<String, Json> {
        let snake = |name: &str| name.replace('-', "_");
        let own = own_vars(self.profile, self.space, cell, overrides);
        let vars = self
            .profile
            .vars
            .iter()
            .chain(&self.config.vars)
            .chain(&own);
        let vars: Map<String, Json> = vars
            .map(|(name, value)| (snake(name), json!(value)))
            .collect();
        let texts = self.space.texts(cell);
        let mut context: Map<String, Json> = texts
            .iter()
            .map(|(name, value)| (snake(name), json!(value)))
            .collect();
        let python = values
            .python
            .map(|python| python.to_string())
            .unwrap_or_default();
        let more = [
            ("platform", json!(self.config.platform.word())),
            ("backend", json!(values.backend.name)),
            ("python", json!(python)),
            (
                "gfx",
                json!(
                    of_job
                        .device
                        .gfx
                        .iter()
                        .map(ToString::to_string)
                        .collect::<Vec<_>>()
                ),
            ),
            ("families", json!(of_job.device.families)),
            ("vars", Json::Object(vars)),
        ];
        context.extend(more.map(|(name, value)| (name.to_owned(), value)));
        context
    }
}

type WheelTags = (PythonTags, AbiTags, PlatformTags);

/// The tags of a job's wheels, or the text that is not a tag with the reason, by the tag in the
/// recipe.
#[derive(Default)]
struct WheelTagCache<'a>(BTreeMap<Option<&'a str>, Result<WheelTags, (String, String)>>);

/// Parses a wheel tag with compressed tag sets.
fn read_tag(tag: &str) -> Result<WheelTags, TagSetError> {
    let mut parts = tag.splitn(3, '-');
    let mut part = || parts.next().unwrap_or_default();
    Ok((part().parse()?, part().parse()?, part().parse()?))
}
