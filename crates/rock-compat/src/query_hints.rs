//! Hints about the nearest values that all answers to a query support.

use std::borrow::Cow;

use itertools::iproduct;

use super::gfx::contains_target;
use super::images::TORCH_REPOSITORY;
use super::rows::TorchRow;
use super::support::foreign_torch_support;
use super::{
    Compat, CompatAnswer, CompatQuery, Hint, Support, SupportReason, ValueChange, is_supported,
};
use rock_names::{GfxTarget, PythonVersion, RocmVersion, Version};

/// The distance of values from those of a query; fewer changed values are nearer.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Distance {
    changes: usize,
    /// Whether torch, Python and ROCm are changed: a change of ROCm is nearer than one of torch.
    changed_axes: [bool; 3],
    /// The number of rows between both versions, and whether it is an older version.
    torch: (usize, bool),
    /// A rank by the common part of both versions, the number of known versions between them, and
    /// whether it is an older version.
    rocm: (u8, usize, bool),
    /// Whether only one of both is free-threaded, the difference, and whether it is an older
    /// version.
    python: (bool, u8, bool),
}

impl Compat {
    /// Replaces the hints of unsupported answers, each of which considers only two values, by the
    /// nearest values that all answers support. Hints about versions and backends of the package
    /// remain.
    pub(super) fn replace_hints(&self, query: &CompatQuery, answers: &mut [CompatAnswer<'_>]) {
        if !is_several_pairs(query) {
            return;
        }
        let of_package = answers
            .iter()
            .filter(|answer| answer.subject.is_of_package());
        let is_package_supported = is_supported(of_package);
        let reasons: Vec<&mut SupportReason> = answers
            .iter_mut()
            .filter(|answer| answer.is_decisive() && !answer.subject.is_of_package())
            .filter_map(|answer| match &mut answer.support {
                Support::Unsupported(reason) => Some(reason),
                Support::Supported { .. } | Support::Unknown(_) => None,
            })
            .collect();
        if reasons.is_empty() {
            return;
        }
        let mut query = query.clone();
        if !is_package_supported {
            query.package = None;
            query.backend = None;
        }
        let change = self.nearest_values(&query);
        let query = rocm_query(&query);
        let torch_source = match (&query.torch, &query.rocm) {
            (Some(torch), Some(rocm))
                if reasons.len() == 1 && self.torch_rocm_support(torch, rocm).is_unsupported() =>
            {
                self.other_source_of_torch(TORCH_REPOSITORY, torch, rocm)
            }
            _ => None,
        };
        let hint = change.map(|change| Hint::Change {
            change,
            torch_source,
        });
        for reason in reasons {
            reason.hint.clone_from(&hint);
        }
    }

    /// Returns the change to the nearest values that all answers support; if there are none, to the
    /// nearest values that no answer rules out. `None` if there are none of these either, or the
    /// query itself is not ruled out. Targets without code in any official torch wheels are ignored.
    fn nearest_values(&self, query: &CompatQuery) -> Option<ValueChange> {
        let in_wheels = |target: &&GfxTarget| {
            let mut rows = self.tables().torch_gfx.iter();
            rows.any(|row| contains_target(&row.gfx, target))
        };
        let targets: Vec<GfxTarget> = query.gfx.iter().filter(in_wheels).cloned().collect();
        let from = rocm_query(query);
        let mut candidates = self.candidates(&from);
        candidates.sort_by_cached_key(|candidate| self.distance(&from, candidate));
        let mut without_data = None;
        for candidate in candidates {
            match self.support_of_all(&candidate, &targets) {
                Some(true) => return self.change(query, &candidate, &targets),
                Some(false) => {}
                None => without_data = without_data.or(Some(candidate)),
            }
        }
        self.change(query, &without_data?, &targets)
    }

    /// Returns the query with all combinations of its values and those of official torch wheels.
    fn candidates(&self, query: &CompatQuery) -> Vec<CompatQuery> {
        let versions = self
            .tables()
            .torch
            .iter()
            .filter(|row| !row.patches.is_empty())
            .filter_map(|row| row.torch.parse::<Version>().ok());
        let has_other_minor = |other: &Version| {
            let given = query.torch.as_ref();
            given.is_none_or(|given| given.minor() != other.minor())
        };
        let mut candidates = Vec::new();
        for torch in choices(query.torch.as_ref(), versions.filter(has_other_minor)) {
            let rows = self.rows_of_torch(torch.as_ref());
            let indexes = rows.iter().flat_map(|row| &row.rocm_index);
            let indexes = indexes.filter_map(|text| text.parse::<RocmVersion>().ok());
            let rocm = choices(query.rocm.as_ref(), indexes);
            let python = choices(query.python.as_ref(), pythons(&rows).into_iter());
            candidates.extend(iproduct!(rocm, python).map(|(rocm, python)| CompatQuery {
                torch: torch.clone(),
                rocm,
                python,
                ..query.clone()
            }));
        }
        candidates
    }

    /// Returns the row of a torch version, or all rows without one.
    fn rows_of_torch(&self, torch: Option<&Version>) -> Vec<&TorchRow> {
        match torch {
            Some(torch) => self.torch(torch).into_iter().collect(),
            None => self.tables().torch.iter().collect(),
        }
    }

    /// Returns whether all answers support a query; `None` if an answer is unknown and none rules the
    /// query out.
    fn support_of_all(&self, query: &CompatQuery, wheel_targets: &[GfxTarget]) -> Option<bool> {
        let answers = self.answers(query, wheel_targets);
        let mut decisive = answers.iter().filter(|answer| answer.is_decisive());
        let is_ruled_out = decisive.any(|answer| answer.support.is_unsupported());
        if is_ruled_out || !is_supported(&answers) {
            return Some(false);
        }
        let mut decisive = answers.iter().filter(|answer| answer.is_decisive());
        decisive
            .all(|answer| matches!(answer.support, Support::Supported { .. }))
            .then_some(true)
    }

    fn distance(&self, from: &CompatQuery, to: &CompatQuery) -> Distance {
        let changed_axes = [
            to.torch != from.torch,
            to.python != from.python,
            to.rocm != from.rocm,
        ];
        Distance {
            changes: changed_axes.iter().filter(|&&changed| changed).count(),
            changed_axes,
            torch: self.torch_distance(from.torch.as_ref(), to.torch.as_ref()),
            rocm: match (&from.rocm, &to.rocm) {
                (Some(from), Some(to)) => self.rocm_distance(from, to),
                _ => (0, 0, false),
            },
            python: match (from.python, to.python) {
                (Some(from), Some(to)) => python_distance(from, to),
                _ => (false, 0, false),
            },
        }
    }

    fn torch_distance(&self, from: Option<&Version>, to: Option<&Version>) -> (usize, bool) {
        let rows = &self.tables().torch;
        let position = |torch: Option<&Version>| {
            let minor = torch.map(Version::minor)?;
            rows.iter().position(|row| row.torch == minor)
        };
        let from = position(from).unwrap_or(rows.len());
        let to = position(to).unwrap_or(rows.len());
        (from.abs_diff(to), to < from)
    }

    fn rocm_distance(&self, from: &RocmVersion, to: &RocmVersion) -> (u8, usize, bool) {
        let is_older = to < from;
        let rank = if to == from {
            0
        } else if to.has_same_minor(from) {
            1
        } else if to.major() == from.major() {
            2
        } else if is_older {
            3
        } else {
            4
        };
        let (first, last) = if is_older { (to, from) } else { (from, to) };
        let is_between = |known: &&RocmVersion| first < *known && *known < last;
        let steps = self.rocm_versions().iter().filter(is_between).count();
        (rank, steps, is_older)
    }

    /// Returns the change from a query to other values; `None` if they are the same.
    fn change(
        &self,
        from: &CompatQuery,
        to: &CompatQuery,
        targets: &[GfxTarget],
    ) -> Option<ValueChange> {
        let torch = to.torch.clone().filter(|_| to.torch != from.torch);
        let rocm = match (&to.rocm, &torch) {
            (Some(rocm), _) if to.rocm != from.rocm => vec![rocm.clone()],
            (None, Some(torch)) => self.rocm_with_targets(torch, targets),
            _ => Vec::new(),
        };
        let python = to.python.filter(|_| to.python != from.python);
        let change = ValueChange {
            torch,
            rocm,
            python: python.and_then(|python| self.python_range(to, python, targets)),
        };
        (change != ValueChange::default()).then_some(change)
    }

    /// Returns the ROCm versions for which wheels of a torch version have code objects for targets;
    /// none without targets.
    fn rocm_with_targets(&self, torch: &Version, targets: &[GfxTarget]) -> Vec<RocmVersion> {
        let has_targets = |rocm: &RocmVersion| {
            let support = |target| self.torch_gfx_support(target, rocm);
            !targets.is_empty()
                && targets
                    .iter()
                    .all(|target| matches!(support(target), Support::Supported { .. }))
        };
        let indexes = self.rows_of_torch(Some(torch));
        let indexes = indexes.iter().flat_map(|row| &row.rocm_index);
        indexes
            .filter_map(|text| text.parse::<RocmVersion>().ok())
            .filter(has_targets)
            .collect()
    }

    /// Returns the first and the last Python version that fit the other values of a query as well as
    /// its own, `python`, does.
    fn python_range(
        &self,
        query: &CompatQuery,
        python: PythonVersion,
        targets: &[GfxTarget],
    ) -> Option<[PythonVersion; 2]> {
        let support = self.support_of_all(query, targets);
        let fits = |other: &PythonVersion| {
            let candidate = CompatQuery {
                python: Some(*other),
                ..query.clone()
            };
            other.is_free_threaded() == python.is_free_threaded()
                && self.support_of_all(&candidate, targets) == support
        };
        let mut fitting = pythons(&self.rows_of_torch(query.torch.as_ref()));
        fitting.retain(fits);
        Some([*fitting.iter().min()?, *fitting.iter().max()?])
    }
}

/// Returns the query with the public version of a torch that is built for another accelerator.
fn rocm_query(query: &CompatQuery) -> Cow<'_, CompatQuery> {
    match &query.torch {
        Some(torch) if foreign_torch_support(torch).is_some() => Cow::Owned(CompatQuery {
            torch: Some(torch.public()),
            ..query.clone()
        }),
        _ => Cow::Borrowed(query),
    }
}

/// Returns whether a query has several pairs of related values, or a pair without a hint of its own.
fn is_several_pairs(query: &CompatQuery) -> bool {
    let is_foreign = query
        .torch
        .as_ref()
        .is_some_and(|torch| foreign_torch_support(torch).is_some());
    let values = [
        query.torch.is_some(),
        query.rocm.is_some(),
        query.python.is_some(),
        query.package.is_some(),
    ];
    let values = values.iter().filter(|&&given| given).count() + query.gfx.len();
    values + usize::from(is_foreign) > 2 || (query.torch.is_some() && !query.gfx.is_empty())
}

/// Returns a given value and the distinct other ones; only `None` if none is given.
fn choices<T: Clone + PartialEq>(
    given: Option<&T>,
    others: impl Iterator<Item = T>,
) -> Vec<Option<T>> {
    let Some(given) = given else {
        return vec![None];
    };
    let mut choices = vec![Some(given.clone())];
    for other in others.map(Some) {
        if !choices.contains(&other) {
            choices.push(other);
        }
    }
    choices
}

/// Returns the Python versions of rows, free-threaded ones included.
fn pythons(rows: &[&TorchRow]) -> Vec<PythonVersion> {
    rows.iter()
        .flat_map(|row| row.python.iter().chain(&row.free_threaded))
        .filter_map(|text| text.parse().ok())
        .collect()
}

fn python_distance(from: PythonVersion, to: PythonVersion) -> (bool, u8, bool) {
    (
        from.is_free_threaded() != to.is_free_threaded(),
        from.numbers().1.abs_diff(to.numbers().1),
        to < from,
    )
}

#[cfg(test)]
mod tests {
    use crate::{AnswerSubject, Compat, CompatAnswer, CompatQuery, Hint, Support, is_supported};

    fn query(compat: &Compat, text: &str) -> CompatQuery {
        let pairs: Vec<String> = text.split(' ').map(str::to_owned).collect();
        compat.parse_query(&pairs).unwrap()
    }

    /// Returns the first hint of answers that rule values out.
    fn first_hint(answers: Vec<CompatAnswer<'_>>) -> Option<Hint> {
        answers.into_iter().find_map(|answer| match answer.support {
            Support::Unsupported(reason) => reason.hint,
            _ => None,
        })
    }

    #[test]
    fn hints_keep_as_many_values_as_possible() {
        let compat = Compat::embedded();
        let hint = |text: &str| {
            first_hint(compat.explain(&query(&compat, text))).map(|hint| hint.to_string())
        };
        for (query, expect) in [
            (
                "torch=2.9 rocm=6.4 python=3.13 gfx=gfx1151",
                "use torch 2.10 with ROCm 7.0",
            ),
            (
                "torch=2.9 rocm=7.0 python=3.13 gfx=gfx1151",
                "use torch 2.10; AMD's index (`torch-from: amd-index`) may have both, but no table lists its wheels",
            ),
            (
                "torch=2.9 gfx=gfx1151",
                "use torch 2.10 with ROCm 7.0 or 7.1",
            ),
            (
                "torch=2.10 gfx=gfx1100 python=3.9",
                "use Python 3.10 to 3.14",
            ),
            (
                "rocm=6.4 gfx=gfx1151 python=3.9",
                "use ROCm 7.0 and Python 3.10 to 3.14",
            ),
            ("torch=2.9.0+cu128", "use torch 2.9.0"),
            ("torch=2.9.0+cu128 rocm=6.4", "use torch 2.9.0"),
            (
                "torch=2.9.0+cu128 rocm=7.0",
                "use torch 2.9.0 with ROCm 6.4; AMD's index (`torch-from: amd-index`) may have both, but no table lists its wheels",
            ),
            (
                "torch=2.9.0+cpu python=3.9",
                "use torch 2.9.0 with Python 3.10 to 3.14",
            ),
        ] {
            assert_eq!(hint(query).as_deref(), Some(expect), "{query}");
        }
        // No wheels contain code for this target, so that there is nothing to propose for it.
        assert_eq!(hint("torch=2.9 rocm=6.4 gfx=gfx1031"), None);
    }

    /// The code in wheels of other torch versions would contradict the answer about ROCm.
    #[test]
    fn wheels_that_do_not_exist_have_no_answer_about_targets() {
        let compat = Compat::embedded();
        for text in [
            "torch=2.9 rocm=7.0 gfx=gfx942",
            "torch=2.9 rocm=7.0 gfx=gfx1031",
            "torch=2.9.0+cu128 rocm=7.0 gfx=gfx942",
            "torch=2.9.0+cu128 gfx=gfx942",
        ] {
            let answers = compat.explain(&query(&compat, text));
            assert!(answers[0].support.is_unsupported());
            assert!(
                !answers
                    .iter()
                    .any(|answer| matches!(answer.subject, AnswerSubject::WheelsGfx(..))),
                "{answers:?}"
            );
        }
    }

    /// The values that a hint proposes are not ruled out, so that hints do not go in circles.
    #[test]
    fn a_hint_that_is_followed_leads_to_no_other_hint() {
        let compat = Compat::embedded();
        let tables = compat.tables();
        for row in &tables.torch {
            for (rocm, gfx) in [
                ("6.2", "gfx90a"),
                ("6.4", "gfx1151"),
                ("7.0", "gfx1201"),
                ("7.2", "gfx900"),
                ("10.1", "gfx1103"),
            ] {
                for (python, local) in [("3.9", ""), ("3.13t", ""), ("3.15", "+cu128")] {
                    let text = format!(
                        "torch={}{local} rocm={rocm} python={python} gfx={gfx}",
                        row.torch
                    );
                    let given = query(&compat, &text);
                    let hint = first_hint(compat.explain(&given));
                    let Some(Hint::Change { change, .. }) = hint else {
                        continue;
                    };
                    let followed = CompatQuery {
                        torch: change.torch.clone().or(given.torch),
                        rocm: change.rocm.first().cloned().or(given.rocm),
                        python: change.python.map(|[first, _]| first).or(given.python),
                        ..given
                    };
                    let answers = compat.explain(&followed);
                    assert!(is_supported(&answers), "{text}: {change:?}: {answers:?}");
                }
            }
        }
    }
}
