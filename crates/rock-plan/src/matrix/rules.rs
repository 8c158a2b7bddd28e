//! The rules that exclude cells: compatibility data, policies and the user's excludes, each with
//! the axes that it reads.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use indexmap::IndexMap;

use super::axis_space::AxisSpace;
use super::limits::{MOST_COMBINATIONS, MOST_PLACES};
use super::walk::TooLarge;
use crate::codes::plan as codes;
use crate::config::{
    AxisRole, AxisValue, ExcludeEntry, MatrixConfig, ParsedValue, PythonFrom, RecipeProfile,
    RocmPolicy, TorchFrom,
};
use rock_compat::{Compat, ImportQuery, Support, SupportReason};
use rock_diagnostic::Code;
use rock_names::{PackageVersion, PythonVersion, RocmVersion, Version};

/// A rule with its answers for every combination of the axes that it reads.
#[derive(Debug)]
pub(super) struct ExclusionRule {
    /// Positions of the axes that it reads.
    pub(super) axes: Vec<usize>,
    /// Answers by mixed-radix number of the value indexes on `axes`; 0 means that nothing was
    /// found.
    answers: RuleAnswers,
    /// The findings; answer `n` refers to `findings[n - 1]`.
    findings: Vec<RuleFinding>,
    /// Number of values of each axis.
    sizes: Vec<usize>,
}

/// Answers by number.
#[derive(Debug)]
enum RuleAnswers {
    /// One answer for every number.
    All(Vec<u32>),
    /// Only nonzero answers: a few excludes over long axes would not fit otherwise.
    Few(HashMap<usize, u32>),
}

/// The reason why the cells with these values are excluded or doubtful.
#[derive(Debug, Clone)]
pub(super) struct RuleFinding {
    /// The rule's code.
    pub(super) code: &'static Code,
    /// The reason, its hint and its source.
    pub(super) because: SupportReason,
    /// The effect on the cells.
    pub(super) effect: RuleEffect,
    /// The values that it applies to: axis positions and value indexes.
    pub(super) values: Vec<(usize, usize)>,
}

/// The effect of a finding on cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RuleEffect {
    /// The cells are excluded.
    Exclude,
    /// The cells are excluded, and the plan fails.
    Fail,
    /// The cells are legs, with a warning.
    Warn,
    /// The cells are legs, with a note.
    Note,
}

impl RuleEffect {
    /// Whether the cells are excluded.
    pub(super) fn leaves_out(self) -> bool {
        matches!(self, Self::Exclude | Self::Fail)
    }
}

impl ExclusionRule {
    /// Returns the number of the finding for these value indexes (one per axis of the universe), if
    /// any.
    #[inline]
    pub(super) fn ask(&self, indexes: &[usize]) -> Option<usize> {
        let at = self
            .axes
            .iter()
            .zip(&self.sizes)
            .fold(0, |at, (&axis, size)| at * size + indexes[axis]);
        let answer = match &self.answers {
            RuleAnswers::All(answers) => answers[at],
            RuleAnswers::Few(answers) => answers.get(&at).copied().unwrap_or(0),
        };
        answer.checked_sub(1).map(|n| n as usize)
    }

    /// Returns all findings, in the order of the values.
    pub(super) fn findings(&self) -> &[RuleFinding] {
        &self.findings
    }

    /// Calls `judge` for every combination of values on `axes`; skips combinations with absent
    /// values.
    ///
    /// # Errors
    /// If there are too many combinations.
    fn tabulate(
        universe: &AxisSpace,
        axes: Vec<usize>,
        mut judge: impl FnMut(&[&ParsedValue]) -> Option<(&'static Code, SupportReason, RuleEffect)>,
    ) -> Result<Self, TooLarge> {
        let count = Self::combinations(universe, &axes)?;
        let sizes: Vec<usize> = axes
            .iter()
            .map(|&axis| universe.axes()[axis].values.len())
            .collect();
        let (mut answers, mut findings) = (vec![0_u32; count], Vec::new());
        let mut indexes = vec![0; axes.len()];
        for answer in &mut answers {
            let words: Option<Vec<&ParsedValue>> = axes
                .iter()
                .zip(&indexes)
                .map(|(&axis, &index): (&usize, &usize)| {
                    universe.axes()[axis].values[index]
                        .as_ref()
                        .map(|v| &v.value)
                })
                .collect();
            if let Some((code, because, effect)) = words.and_then(|words| judge(&words)) {
                let values = axes.iter().copied().zip(indexes.iter().copied()).collect();
                findings.push(RuleFinding {
                    code,
                    because,
                    effect,
                    values,
                });
                *answer = u32::try_from(findings.len()).unwrap_or(u32::MAX);
            }
            for (index, size) in indexes.iter_mut().zip(&sizes).rev() {
                *index += 1;
                if *index < *size {
                    break;
                }
                *index = 0;
            }
        }
        Ok(Self {
            axes,
            answers: RuleAnswers::All(answers),
            findings,
            sizes,
        })
    }

    /// Returns the number of value combinations of these axes.
    fn combinations(universe: &AxisSpace, axes: &[usize]) -> Result<usize, TooLarge> {
        let count = axes
            .iter()
            .map(|&axis| universe.axes()[axis].values.len())
            .product();
        if count > MOST_COMBINATIONS {
            Err(TooLarge::Facts)
        } else {
            Ok(count)
        }
    }
}

/// Returns all rules that apply to a matrix file. If several rules exclude a cell, their order
/// determines the reported reason.
///
/// # Errors
/// If the compatibility data would have to be evaluated for too many combinations.
pub(super) fn rules(
    config: &MatrixConfig,
    universe: &AxisSpace,
    profile: &RecipeProfile,
    compat: &Compat,
) -> Result<Vec<ExclusionRule>, TooLarge> {
    let unknown = match config.unknown {
        crate::config::Strictness::Strict => RuleEffect::Fail,
        crate::config::Strictness::Lenient => RuleEffect::Warn,
    };
    let verdict = |code, verdict| match verdict {
        Support::Supported { .. } => None,
        Support::Unsupported(because) => Some((code, because, RuleEffect::Exclude)),
        Support::Unknown(because) => Some((&codes::UNKNOWN_COMBINATION, because, unknown)),
    };
    let at = |role| universe.position(role);
    let mut rules = Vec::new();
    let mut add = |rule: ExclusionRule| {
        if !rule.findings.is_empty() {
            rules.push(rule);
        }
    };
    let judged_by_index = config.torch_from == TorchFrom::PytorchIndex;
    if let (Some(torch), Some(rocm)) = (at(AxisRole::Torch), at(AxisRole::Rocm)) {
        if judged_by_index {
            add(ExclusionRule::tabulate(
                universe,
                vec![torch, rocm],
                |words| match words {
                    [ParsedValue::Torch(torch), ParsedValue::Rocm(rocm)] => verdict(
                        &codes::TORCH_WITHOUT_ROCM,
                        compat.torch_rocm_support(torch, rocm),
                    ),
                    _ => None,
                },
            )?);
        }
        if config.torch_from == TorchFrom::Image {
            let carries = |torch: &Version, rocm: &RocmVersion, python: Option<PythonVersion>| {
                let repository = &config.image.repository;
                verdict(
                    &codes::TORCH_NOT_IN_IMAGE,
                    compat.torch_image_support(repository, torch, rocm, python),
                )
            };
            let of_image = at(AxisRole::Python).filter(|_| config.python_from == PythonFrom::Image);
            let axes = [torch, rocm].into_iter().chain(of_image).collect();
            add(ExclusionRule::tabulate(
                universe,
                axes,
                |words| match words {
                    [ParsedValue::Torch(torch), ParsedValue::Rocm(rocm)] => {
                        carries(torch, rocm, None)
                    }
                    [
                        ParsedValue::Torch(torch),
                        ParsedValue::Rocm(rocm),
                        ParsedValue::Python(python),
                    ] => carries(torch, rocm, Some(*python)),
                    _ => None,
                },
            )?);
        }
        if config.rocm_policy != RocmPolicy::All {
            ExclusionRule::combinations(universe, &[torch, rocm])?;
            let kept = kept_rocms(config, universe, [torch, rocm], compat);
            add(ExclusionRule::tabulate(
                universe,
                vec![torch, rocm],
                |words| match words {
                    [ParsedValue::Torch(torch), ParsedValue::Rocm(rocm)] => {
                        policy(config.rocm_policy, torch, rocm, kept.get(torch))
                    }
                    _ => None,
                },
            )?);
        }
    }
    if let (Some(torch), Some(python)) = (at(AxisRole::Torch), at(AxisRole::Python))
        && judged_by_index
    {
        add(ExclusionRule::tabulate(
            universe,
            vec![torch, python],
            |words| match words {
                [ParsedValue::Torch(torch), ParsedValue::Python(python)] => verdict(
                    &codes::TORCH_WITHOUT_PYTHON,
                    compat.torch_python_support(torch, *python),
                ),
                _ => None,
            },
        )?);
    }
    if let Some(python) = at(AxisRole::Python)
        && !config.free_threaded
    {
        add(ExclusionRule::tabulate(
            universe,
            vec![python],
            |words| match words {
                [ParsedValue::Python(python)] if python.is_free_threaded() => {
                    Some(free_threaded(*python))
                }
                _ => None,
            },
        )?);
    }
    if let Some(package) = at(AxisRole::Package) {
        let default = profile
            .backends
            .first()
            .map(|b| b.name.as_str())
            .unwrap_or_default();
        let ask = |version: &PackageVersion, backend: &str| {
            doubtful(verdict(
                &codes::BACKEND_NOT_IN_VERSION,
                compat.package_backend_support(&profile.package, version, backend),
            ))
        };
        match at(AxisRole::Backend) {
            Some(backend) => {
                add(ExclusionRule::tabulate(
                    universe,
                    vec![package, backend],
                    |words| match words {
                        [ParsedValue::Package(version), ParsedValue::Text(backend)] => {
                            ask(version, backend)
                        }
                        _ => None,
                    },
                )?);
            }
            None => add(ExclusionRule::tabulate(
                universe,
                vec![package],
                |words| match words {
                    [ParsedValue::Package(version)] => ask(version, default),
                    _ => None,
                },
            )?),
        }
        if let Some(torch) = at(AxisRole::Torch) {
            let ask = |version: &PackageVersion, backend: &str, torch: &Version| {
                let asked = ImportQuery {
                    package: &profile.package,
                    version,
                    backend,
                    torch,
                };
                imports(config.torch_from, compat.import_support(asked))
            };
            let axes = [package, torch]
                .into_iter()
                .chain(at(AxisRole::Backend))
                .collect();
            add(ExclusionRule::tabulate(
                universe,
                axes,
                |words| match words {
                    [ParsedValue::Package(version), ParsedValue::Torch(torch)] => {
                        ask(version, default, torch)
                    }
                    [
                        ParsedValue::Package(version),
                        ParsedValue::Torch(torch),
                        ParsedValue::Text(backend),
                    ] => ask(version, backend, torch),
                    _ => None,
                },
            )?);
        }
        if let Some(python) = at(AxisRole::Python) {
            add(ExclusionRule::tabulate(
                universe,
                vec![package, python],
                |words| match words {
                    [ParsedValue::Package(version), ParsedValue::Python(python)] => verdict(
                        &codes::PYTHON_TOO_OLD,
                        compat.package_python_support(&profile.package, version, *python),
                    )
                    .filter(|(_, _, effect)| *effect == RuleEffect::Exclude),
                    _ => None,
                },
            )?);
        }
    }
    for rule in user_excludes(config, universe) {
        add(rule);
    }
    Ok(rules)
}

/// Excludes a wheel that cannot be imported with the torch in its label. Images and the AMD index
/// may have another version of torch's requirements than the official wheels, so for them this is
/// only a note.
fn imports(
    torch_from: TorchFrom,
    verdict: Support,
) -> Option<(&'static Code, SupportReason, RuleEffect)> {
    match (verdict, torch_from) {
        (Support::Supported { .. }, _) => None,
        (Support::Unsupported(because), TorchFrom::PytorchIndex | TorchFrom::Host) => {
            Some((&codes::IMPORT_CONFLICT, because, RuleEffect::Exclude))
        }
        (Support::Unsupported(because), TorchFrom::Image | TorchFrom::AmdIndex) => {
            let reason = format!(
                "{}; torch from another source may require another version",
                because.reason
            );
            Some((
                &codes::IMPORT_UNTRIED,
                SupportReason { reason, ..because },
                RuleEffect::Note,
            ))
        }
        (Support::Unknown(because), _) => Some((&codes::IMPORT_UNTRIED, because, RuleEffect::Note)),
    }
}

/// Downgrades failures to warnings: `unknown` applies to torch, ROCm and Python, while an unknown
/// version of the package itself is kept with a warning.
fn doubtful(
    found: Option<(&'static Code, SupportReason, RuleEffect)>,
) -> Option<(&'static Code, SupportReason, RuleEffect)> {
    found.map(|(code, because, effect)| match effect {
        RuleEffect::Fail => (code, because, RuleEffect::Warn),
        RuleEffect::Exclude | RuleEffect::Warn | RuleEffect::Note => (code, because, effect),
    })
}

fn free_threaded(python: PythonVersion) -> (&'static Code, SupportReason, RuleEffect) {
    let because = SupportReason {
        reason: format!("Python {python} is free-threaded, and `free-threaded` is off"),
        hint: "set `free-threaded: true` to build it".into(),
        source: String::new(),
    };
    (&codes::FREE_THREADED_OFF, because, RuleEffect::Exclude)
}

/// Returns the ROCm version that the policy keeps for each torch, among the matrix's legal ones.
fn kept_rocms<'u>(
    config: &MatrixConfig,
    universe: &'u AxisSpace,
    [torch_axis, rocm_axis]: [usize; 2],
    compat: &Compat,
) -> BTreeMap<&'u Version, RocmVersion> {
    let legal = |torch: &Version, rocm: &RocmVersion| match config.torch_from {
        TorchFrom::PytorchIndex => !matches!(
            compat.torch_rocm_support(torch, rocm),
            Support::Unsupported(_)
        ),
        TorchFrom::Image => {
            let verdict = compat.torch_image_support(&config.image.repository, torch, rocm, None);
            !matches!(verdict, Support::Unsupported(_))
        }
        TorchFrom::AmdIndex | TorchFrom::Host => true,
    };
    // An exclude that names only a torch, a ROCm or a pair of both leaves no cell to keep.
    let names = [torch_axis, rocm_axis].map(|axis| universe.axes()[axis].name.as_str());
    let pair = |exclude: &'_ ExcludeEntry| -> Option<(Option<Version>, Option<String>)> {
        let [torch, rocm] = names.map(|name| exclude.axes.get(name));
        let is_pair =
            exclude.axes.len() == usize::from(torch.is_some()) + usize::from(rocm.is_some());
        let torch = torch.map(|text| text.parse()).transpose().ok()?;
        (is_pair && !exclude.axes.is_empty()).then(|| (torch, rocm.cloned()))
    };
    let excluded: BTreeSet<_> = config.exclude.iter().filter_map(pair).collect();
    let is_excluded = |torch: &Version, rocm: &str| {
        if excluded.is_empty() {
            return false;
        }
        let (torch, rocm) = (Some(torch.clone()), Some(rocm.to_owned()));
        [(torch.clone(), None), (None, rocm.clone()), (torch, rocm)]
            .iter()
            .any(|pair| excluded.contains(pair))
    };
    let kept = |value: &'u AxisValue| {
        let ParsedValue::Torch(torch) = &value.value else {
            return None;
        };
        let versions = universe.axes()[rocm_axis]
            .values
            .iter()
            .flatten()
            .filter_map(|value| match &value.value {
                ParsedValue::Rocm(rocm) => {
                    (!is_excluded(torch, &value.text) && legal(torch, rocm)).then_some(rocm)
                }
                _ => None,
            });
        let kept = match config.rocm_policy {
            RocmPolicy::Newest => versions.max(),
            RocmPolicy::All | RocmPolicy::Oldest => versions.min(),
        };
        Some((torch, kept?.clone()))
    };
    universe.axes()[torch_axis]
        .values
        .iter()
        .flatten()
        .filter_map(kept)
        .collect()
}

fn policy(
    policy: RocmPolicy,
    torch: &Version,
    rocm: &RocmVersion,
    kept: Option<&RocmVersion>,
) -> Option<(&'static Code, SupportReason, RuleEffect)> {
    let kept = kept.filter(|kept| *kept != rocm)?;
    let because = SupportReason {
        reason: format!("`rocm-policy: {policy}` keeps {kept} for torch {torch}"),
        hint: "set `rocm-policy: all` to build all of them".into(),
        source: String::new(),
    };
    Some((&codes::ROCM_POLICY, because, RuleEffect::Exclude))
}

/// Returns one rule for each set of axes that excludes name, in the order of the file.
fn user_excludes(config: &MatrixConfig, universe: &AxisSpace) -> Vec<ExclusionRule> {
    let mut by_axes: IndexMap<Vec<usize>, Vec<Vec<usize>>> = IndexMap::new();
    for exclude in config
        .exclude
        .iter()
        .filter(|exclude| !exclude.axes.is_empty())
    {
        let axes: Vec<usize> = (0..universe.axes().len())
            .filter(|&a| exclude.axes.contains_key(&universe.axes()[a].name))
            .collect();
        let index = |&axis: &usize| {
            let column = &universe.axes()[axis];
            column.index_of(&exclude.axes[&column.name])
        };
        let values: Option<Vec<usize>> = axes.iter().map(index).collect();
        if let Some(values) = values.filter(|values| !values.is_empty()) {
            by_axes.entry(axes).or_default().push(values);
        }
    }
    by_axes
        .into_iter()
        .map(|(axes, excludes)| exclude_rule(universe, axes, &excludes))
        .collect()
}

fn exclude_rule(universe: &AxisSpace, axes: Vec<usize>, excludes: &[Vec<usize>]) -> ExclusionRule {
    let sizes: Vec<usize> = axes
        .iter()
        .map(|&axis| universe.axes()[axis].values.len())
        .collect();
    let (mut few, mut findings) = (HashMap::new(), Vec::new());
    for indexes in excludes {
        let at = indexes
            .iter()
            .zip(&sizes)
            .fold(0_usize, |at, (index, size)| at * size + index);
        few.entry(at).or_insert_with(|| {
            let because = SupportReason {
                reason: "excluded by the matrix file".into(),
                hint: String::new(),
                source: String::new(),
            };
            let values = axes.iter().copied().zip(indexes.iter().copied()).collect();
            findings.push(RuleFinding {
                code: &codes::EXCLUDED_BY_USER,
                because,
                effect: RuleEffect::Exclude,
                values,
            });
            u32::try_from(findings.len()).unwrap_or(u32::MAX)
        });
    }
    let places: usize = sizes.iter().product();
    let answers = if places > MOST_PLACES {
        RuleAnswers::Few(few)
    } else {
        RuleAnswers::All(
            (0..places)
                .map(|at| few.get(&at).copied().unwrap_or(0))
                .collect(),
        )
    };
    ExclusionRule {
        axes,
        answers,
        findings,
        sizes,
    }
}

#[cfg(test)]
mod tests {
    use super::{AxisSpace, Compat, MOST_PLACES, RuleAnswers, user_excludes};
    use crate::config::{self, Lookups, recipe};
    use rock_diagnostic::{Sink, SourceText};

    /// Returns whether an exclude over two axes of these lengths has an answer for every
    /// combination, and whether it finds its own.
    fn answers(jobs: usize, dims: usize) -> (bool, bool) {
        let values = |count: usize| {
            (1..=count)
                .map(|number| number.to_string())
                .collect::<Vec<_>>()
                .join(", ")
        };
        let text = format!(
            "version: 1\ndistribution: flash-attn\nrecipe: flash-attn\nunknown: lenient\ngfx: [gfx942]\naxes:\n  \
             flash-attn: [\"2.8.3\"]\n  torch: [\"2.6.0\"]\n  rocm: [\"6.2\"]\n  python: [\"3.12\"]\n  max-jobs: [{}]\n  \
             opt-dim: [{}]\nexclude: [{{max-jobs: \"{jobs}\", opt-dim: \"{dims}\"}}]\n",
            values(jobs),
            values(dims)
        );
        let compat = Compat::embedded();
        let lookups = Lookups::new(&compat, recipe::RecipeSet::with_shipped([]).into());
        let config =
            config::read(&SourceText::new("m.yaml", text), &lookups, &mut Sink::new()).unwrap();
        let universe = AxisSpace::new(&config).unwrap();
        let rules = user_excludes(&config, &universe);
        let last: Vec<usize> = universe
            .axes()
            .iter()
            .map(|axis| axis.values.len() - 1)
            .collect();
        (
            matches!(rules[0].answers, RuleAnswers::All(_)),
            rules[0].ask(&last).is_some(),
        )
    }

    #[test]
    fn excludes_have_an_answer_for_each_place_up_to_the_limit() {
        assert_eq!(answers(MOST_PLACES / 256, 256), (true, true));
        assert_eq!(answers(MOST_PLACES + 1, 1), (false, true));
    }
}
