//! Detects jobs with the same wheel name or ID, before anything is printed.

use std::collections::BTreeMap;

use itertools::Itertools as _;
use rayon::prelude::*;

use super::assemble::PlanGroup;
use super::interner::Interner;
use super::{JobView, Plan};
use crate::codes::plan as codes;
use crate::config::{AxisRole, ParsedValue};
use crate::matrix::CellRank;
use rock_bytes::start_threads;
use rock_diagnostic::{Diagnostic, Sink};

/// Maximum number of reported kinds of pairs; the others are only counted.
const SHOWN: usize = 20;

/// Maximum number of keys that are sorted on a single thread.
const SORTED_BY_ONE: usize = 1 << 15;

/// Checks that no two jobs have the same wheel name or ID.
pub(super) fn check(plan: &Plan, sink: &mut Sink) {
    wheels(plan, sink);
    ids(plan, sink);
}

fn wheels(plan: &Plan, sink: &mut Sink) {
    let mut texts: Interner<String, ()> = Interner::default();
    let mut keys: Vec<(u64, u32, u32)> = Vec::with_capacity(plan.job_count());
    // If only the build determines the versions, wheels with equal expected names may still differ.
    let named = |group: &&PlanGroup| group.space.position(AxisRole::Package).is_some();
    for (number, group) in plan
        .groups
        .iter()
        .enumerate()
        .filter(|(_, group)| named(group))
    {
        let group_number = u32::try_from(number).expect("fewer than 2^32 files");
        let escaped = group.config.distribution.escaped();
        let mut text = |text: String| texts.intern(text, || ());
        let versions: Vec<u32> = group
            .interned
            .packages
            .iter()
            .map(|package| text(format!("{escaped}-{}", package.in_name)))
            .collect();
        let mut rests: Vec<Option<u32>> = Vec::new();
        let axis = group.space.position(AxisRole::Package);
        for (at, compact) in group.compact_jobs.iter().enumerate() {
            let pair = compact.label as usize * group.interned.tags.len() + compact.tag as usize;
            if rests.len() <= pair {
                rests.resize(pair + 1, None);
            }
            let rest = *rests[pair].get_or_insert_with(|| {
                let label = group
                    .interned
                    .labels
                    .get(compact.label)
                    .as_ref()
                    .map(ToString::to_string)
                    .unwrap_or_default();
                text(format!("+{label}-{}", group.interned.tags.get(compact.tag)))
            });
            let version = versions[axis.map_or(0, |axis| group.space.index(compact.cell, axis))];
            let at = u32::try_from(at).expect("fewer than 2^32 jobs fit in memory");
            keys.push((u64::from(version) << 32 | u64::from(rest), group_number, at));
        }
    }
    // Starting threads costs more than sorting a few thousand keys.
    if keys.len() > SORTED_BY_ONE {
        start_threads();
        keys.par_sort_unstable();
    } else {
        keys.sort_unstable();
    }
    // Group pairs that differ in the same values: one of each group is shown, with the number of
    // pairs.
    let mut kinds = BTreeMap::new();
    for pair in keys.windows(2).filter(|pair| pair[0].0 == pair[1].0) {
        let (a, b) = (pair[0], pair[1]);
        let kind = (a.1, b.1, differing(plan, a, b));
        kinds.entry(kind).or_insert((a, b, 0)).2 += 1;
    }
    for (n, ((_, _, axis), (a, b, count))) in kinds.iter().enumerate() {
        if n < SHOWN {
            sink.push(collision(plan, *a, *b, axis.map(|(axis, ..)| axis), *count));
        }
    }
    if kinds.len() > SHOWN {
        sink.push(Diagnostic::new(
            &codes::COLLIDING_WHEELS,
            format!(
                "{} more kinds of pairs of jobs have the same wheel name",
                kinds.len() - SHOWN
            ),
        ));
    }
}

/// The number of a wheel name, a group index and the index of a job in the group.
type WheelKey = (u64, u32, u32);

/// Returns the first axis on which two jobs of one group differ, with both value indexes.
fn differing(plan: &Plan, a: WheelKey, b: WheelKey) -> Option<(usize, usize, usize)> {
    let group = (a.1 == b.1).then(|| &plan.groups[a.1 as usize])?;
    let (first, second) = (
        group.compact_jobs[a.2 as usize].cell,
        group.compact_jobs[b.2 as usize].cell,
    );
    let indexes = |axis| {
        (
            axis,
            group.space.index(first, axis),
            group.space.index(second, axis),
        )
    };
    (0..group.space.axes().len())
        .map(indexes)
        .find(|(_, first, second)| first != second)
}

fn collision(
    plan: &Plan,
    a: WheelKey,
    b: WheelKey,
    differing: Option<usize>,
    count: usize,
) -> Diagnostic {
    let (left, right) = (&plan.groups[a.1 as usize], &plan.groups[b.1 as usize]);
    let (first, second) = (
        &left.compact_jobs[a.2 as usize],
        &right.compact_jobs[b.2 as usize],
    );
    let wheel = JobView {
        group: left,
        compact: first,
        number: 0,
    }
    .wheel();
    let words = |group: &PlanGroup, cell: CellRank| {
        let texts = group.space.texts(cell);
        texts
            .iter()
            .map(|(name, value)| format!("{name} {value}"))
            .collect::<Vec<_>>()
            .join(", ")
    };
    let mut diagnostic = Diagnostic::new(
        &codes::COLLIDING_WHEELS,
        format!("two jobs would both build `{wheel}`"),
    )
    .note(format!("one has {}", words(left, first.cell)))
    .note(format!("the other has {}", words(right, second.cell)));
    if count > 1 {
        diagnostic = diagnostic.note(format!("{count} pairs of jobs collide this way"));
    }
    let differing = differing.or((a.1 != b.1).then_some(0));
    if let Some(axis) = differing {
        let location = |group: &PlanGroup, cell| {
            let column = group.space.axes().get(axis)?;
            let index = group.space.index(cell, axis);
            Some((
                group
                    .config
                    .locations
                    .of(&format!("axes.{}[{index}]", column.name)),
                column.values[index].as_ref()?.text.clone(),
            ))
        };
        if let Some((location, text)) = location(left, first.cell) {
            diagnostic = diagnostic.at(location, format!("one job has {text}"));
        }
        if let Some((location, text)) = location(right, second.cell) {
            diagnostic = diagnostic.also(location, format!("the other has {text}"));
        }
        let column = &left.space.axes()[axis];
        let minor = |group: &PlanGroup, cell| match &group.space.value(cell, axis)?.value {
            ParsedValue::Rocm(rocm) => Some(rocm.minor()),
            _ => None,
        };
        diagnostic = diagnostic.help(match column.role {
            _ if a.1 != b.1 => "list this combination in one of the files only".to_owned(),
            AxisRole::Rocm if minor(left, first.cell) == minor(right, second.cell) => {
                "keep one of them, or set `rocm-precision: patch`, which adds the patch version to \
                 the name"
                    .to_owned()
            }
            AxisRole::Rocm => {
                "keep one of them, or set `label-style: auto`, which writes such versions with dots"
                    .to_owned()
            }
            AxisRole::Torch => {
                "keep one of them: the name contains only the minor version of torch".to_owned()
            }
            AxisRole::Gfx => format!(
                "move the targets from `axes` to the top-level key `gfx`, which builds one wheel \
                 for all of them: `gfx: [{}]`",
                targets(left, axis).join(", ")
            ),
            _ => format!(
                "keep one of them: the name does not contain the value of `{}`",
                column.name
            ),
        });
    }
    diagnostic
}

/// Returns the targets and families that the values of an axis list, each once.
fn targets(group: &PlanGroup, axis: usize) -> Vec<&str> {
    let values = group.space.axes()[axis].values.iter().flatten();
    let names = values.flat_map(|value| value.text.split(';'));
    names.map(str::trim).unique().collect()
}

fn ids(plan: &Plan, sink: &mut Sink) {
    if plan.groups.len() < 2 {
        return;
    }
    let mut ids: Vec<(String, &str)> = plan
        .jobs()
        .map(|job| (job.id(), job.group.config.locations.source().path.as_ref()))
        .collect();
    if ids.len() > SORTED_BY_ONE {
        start_threads();
        ids.par_sort_unstable();
    } else {
        ids.sort_unstable();
    }
    for pair in ids
        .windows(2)
        .filter(|pair| pair[0].0 == pair[1].0)
        .take(SHOWN)
    {
        sink.push(
            Diagnostic::new(
                &codes::COLLIDING_IDS,
                format!("two jobs have the id `{}`", pair[0].0),
            )
            .note(format!("in {} and {}", pair[0].1, pair[1].1))
            .help("merge the files, or add another axis to one of them"),
        );
    }
}
