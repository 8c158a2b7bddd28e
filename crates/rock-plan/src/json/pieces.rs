//! Serialized pieces of one group's jobs.

use indexmap::IndexMap;
use serde::Serialize;

use super::piece::{inner, keep};
use super::{DroppedDocument, EstimateDocument};
use crate::assemble::PlanGroup;
use crate::{DroppedGfx, JobView};
use rock_compat::RuntimeRequirements;

#[derive(Serialize)]
struct VersionPart<'a> {
    distribution: &'a str,
    version: Option<&'a str>,
}

#[derive(Serialize)]
struct LabelPart<'a> {
    label: Option<&'a str>,
}

#[derive(Serialize)]
struct WheelsPart<'a> {
    wheels: &'a [String],
}

#[derive(Serialize)]
struct RecipePart<'a> {
    backend: &'a str,
    recipe: &'a str,
    gates: Vec<&'static str>,
    #[serde(skip_serializing_if = "RuntimeRequirements::is_empty")]
    run_time: &'a RuntimeRequirements,
}

#[derive(Serialize)]
struct DeviceCodePart<'a> {
    gfx: Vec<String>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    families: &'a [String],
    dropped_gfx: Vec<DroppedDocument>,
}

#[derive(Serialize)]
struct RunnerPart<'a> {
    image: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    image_glibc: Option<String>,
    runner: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    runner_group: Option<&'a str>,
    gpu: &'a str,
}

impl<'a> RunnerPart<'a> {
    fn of(job: JobView<'a>) -> Self {
        let (choice, machine) = (job.runner_choice(), job.machine());
        let (image, runner_group) = (choice.image.as_deref(), machine.group.as_deref());
        let image_glibc = choice.image_glibc.as_ref().map(ToString::to_string);
        Self {
            image,
            image_glibc,
            runner: &machine.labels,
            runner_group,
            gpu: choice.gpu.word(),
        }
    }
}

#[derive(Serialize)]
struct EstimatePart {
    estimate: Option<EstimateDocument>,
}

#[derive(Serialize)]
struct CoversPart {
    covers: IndexMap<String, Vec<String>>,
}

#[derive(Serialize)]
struct VarsPart {
    vars: IndexMap<String, String>,
}

#[derive(Serialize)]
struct WarningsPart<'a> {
    warnings: Vec<&'a str>,
}

/// Serialized pieces of one group's jobs, by the numbers of its interned values.
pub(super) struct SerializedPieces {
    head: Vec<u8>,
    package_axis: Option<usize>,
    axes: Vec<Vec<Vec<u8>>>,
    /// The job up to and including the version in the wheel name.
    packages: Vec<Vec<u8>>,
    /// The label in the wheel name, and the `label` field after it.
    labels: Vec<Option<(String, Vec<u8>)>>,
    recipes: Vec<Option<Vec<u8>>>,
    device_codes: Vec<Option<Vec<u8>>>,
    runner_choices: Vec<Option<Vec<u8>>>,
    /// `,"warnings":[…]` for jobs whose package has no warnings; empty if there are none.
    runner_warnings: Vec<Option<Vec<u8>>>,
    packages_with_warnings: Vec<bool>,
    /// Whether a job may have variables that differ from those of the matrix file.
    has_own_vars: bool,
    estimates: Vec<Option<Vec<u8>>>,
}

impl SerializedPieces {
    pub(super) fn new(group: &PlanGroup, number: usize) -> Self {
        let piece = |name: &str, text: &str| {
            let pair = IndexMap::from([(name, text)]);
            inner(&pair)
        };
        let axes = group.space.axes().iter().map(|column| {
            let value = |value: &Option<crate::config::AxisValue>| {
                value
                    .as_ref()
                    .map(|value| piece(&column.name, &value.text))
                    .unwrap_or_default()
            };
            column.values.iter().map(value).collect()
        });
        let mut pieces = Self {
            head: format!("\"matrix\":{number},\"axes\":{{").into_bytes(),
            package_axis: group.space.position(crate::config::AxisRole::Package),
            axes: axes.collect(),
            packages: Vec::new(),
            labels: Vec::new(),
            recipes: Vec::new(),
            device_codes: Vec::new(),
            runner_choices: Vec::new(),
            runner_warnings: Vec::new(),
            has_own_vars: !group.config.rows.is_empty()
                || !group.config.include.is_empty()
                || group
                    .space
                    .axes()
                    .iter()
                    .any(|column| column.role == crate::config::AxisRole::Field),
            packages_with_warnings: group
                .interned
                .packages
                .iter()
                .map(|package| !package.warnings.is_empty())
                .collect(),
            estimates: Vec::new(),
        };
        let escaped = group.config.distribution.escaped();
        for package in &group.interned.packages {
            let version = package.version.as_ref().map(ToString::to_string);
            let distribution = group.config.distribution.as_str();
            let mut piece = inner(&VersionPart {
                distribution,
                version: version.as_deref(),
            });
            piece.extend_from_slice(
                format!(",\"wheel\":\"{escaped}-{}", package.in_name).as_bytes(),
            );
            pieces.packages.push(piece);
        }
        for compact in &group.compact_jobs {
            let view = JobView {
                group,
                compact,
                number,
            };
            keep(&mut pieces.labels, compact.label, || {
                let plus = view
                    .label()
                    .map(|label| format!("+{label}"))
                    .unwrap_or_default();
                (
                    plus,
                    inner(&LabelPart {
                        label: view.label(),
                    }),
                )
            });
            keep(&mut pieces.recipes, compact.tag, || {
                let backend = view.backend();
                inner(&RecipePart {
                    backend: &backend.name,
                    recipe: &group.config.recipe,
                    gates: backend.gates.iter().map(|gate| gate.word()).collect(),
                    run_time: &backend.run_time,
                })
            });
            keep(&mut pieces.device_codes, compact.device_code, || {
                let gfx: Vec<String> = view
                    .device_code()
                    .gfx
                    .iter()
                    .map(ToString::to_string)
                    .collect();
                inner(&DeviceCodePart {
                    families: if gfx == view.families() {
                        &[]
                    } else {
                        view.families()
                    },
                    gfx,
                    dropped_gfx: view
                        .dropped_gfx()
                        .iter()
                        .map(|dropped| DroppedDocument::from(&DroppedGfx::from(dropped)))
                        .collect(),
                })
            });
            keep(&mut pieces.runner_choices, compact.runner_choice, || {
                inner(&RunnerPart::of(view))
            });
            keep(&mut pieces.runner_warnings, compact.runner_choice, || {
                let warnings: Vec<&str> =
                    view.runner_choice().note.as_deref().into_iter().collect();
                if warnings.is_empty() {
                    return Vec::new();
                }
                let mut piece = vec![b','];
                piece.extend_from_slice(&inner(&WarningsPart { warnings }));
                piece
            });
            keep(&mut pieces.estimates, compact.estimate, || {
                inner(&EstimatePart {
                    estimate: view.estimate().map(EstimateDocument::from),
                })
            });
        }
        pieces
    }

    /// Appends `,\n` and one job.
    pub(super) fn job(&self, job: JobView<'_>, text: &mut Vec<u8>) {
        text.extend_from_slice(b",\n{\"id\":\"");
        text.extend_from_slice(job.id().as_bytes());
        text.extend_from_slice(b"\",");
        text.extend_from_slice(&self.head);
        let mut first = true;
        for (axis, values) in self.axes.iter().enumerate() {
            let piece = &values[job.group.space.index(job.compact.cell, axis)];
            if !piece.is_empty() {
                if !first {
                    text.push(b',');
                }
                text.extend_from_slice(piece);
                first = false;
            }
        }
        text.extend_from_slice(b"},");
        let compact = job.compact;
        let package = self
            .package_axis
            .map_or(0, |axis| job.group.space.index(compact.cell, axis));
        text.extend_from_slice(&self.packages[package]);
        if let Some((plus, label)) = &self.labels[compact.label as usize] {
            text.extend_from_slice(plus.as_bytes());
            text.extend_from_slice(job.tag().as_bytes());
            text.extend_from_slice(b"\",");
            let wheels = job.extra_wheels();
            if !wheels.is_empty() {
                text.extend_from_slice(&inner(&WheelsPart { wheels }));
                text.push(b',');
            }
            text.extend_from_slice(label);
        }
        let of_pool = (job.runner_choice().machines.len() > 1).then(|| inner(&RunnerPart::of(job)));
        for (pieces, number) in [
            (&self.recipes, compact.tag),
            (&self.device_codes, compact.device_code),
            (&self.runner_choices, compact.runner_choice),
            (&self.estimates, compact.estimate),
        ] {
            text.push(b',');
            match &of_pool {
                Some(choice) if std::ptr::eq(pieces, &raw const self.runner_choices) => {
                    text.extend_from_slice(choice);
                }
                _ => text.extend_from_slice(pieces[number as usize].as_deref().unwrap_or_default()),
            }
        }
        if compact.covers != 0 {
            text.push(b',');
            text.extend_from_slice(&inner(&CoversPart {
                covers: job.covers(),
            }));
        }
        let vars = if self.has_own_vars {
            job.own_vars()
        } else {
            IndexMap::new()
        };
        if !vars.is_empty() {
            text.push(b',');
            text.extend_from_slice(&inner(&VarsPart { vars }));
        }
        let of_package = self.packages_with_warnings[package];
        if of_package {
            text.extend_from_slice(b",");
            text.extend_from_slice(&inner(&WarningsPart {
                warnings: job.warnings().collect(),
            }));
        } else if let Some(warnings) = self.runner_warnings[compact.runner_choice as usize]
            .as_deref()
            .filter(|text| !text.is_empty())
        {
            text.extend_from_slice(warnings);
        }
        text.push(b'}');
    }
}
