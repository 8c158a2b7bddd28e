//! An expansion skips prefixes that a rule excludes, and still has the legs and exclusions of an
//! enumeration of all cells.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use rock_matrix::compat::{Compat, ImportQuery, Support};
use rock_matrix::config::{
    self, Lookups, MatrixConfig, PythonFrom, RecipeProfile, RocmPolicy, Strictness, TorchFrom,
    recipe,
};
use rock_matrix::diagnostic::{Sink, SourceText};
use rock_matrix::matrix::{AxisSpace, CellSelection, ExclusionRow, expand, table_command};
use rock_matrix::names::{PackageVersion, PythonVersion, RocmVersion, Version};
use rock_matrix::plan::{self, PlanInputs};

/// Axis names and values of a cell, or of a part of one.
type Cell = Vec<(&'static str, &'static str)>;

/// Axes with their values, in the order of the file.
type Axes = Vec<(&'static str, Vec<&'static str>)>;

/// A matrix file of flash-attn.
#[derive(Debug, Clone, Default)]
struct Matrix {
    /// Keys of the file with their values, except those below.
    settings: Vec<(&'static str, &'static str)>,
    axes: Axes,
    exclude: Vec<Cell>,
    /// Cells that name every axis.
    rows: Vec<Cell>,
    /// Entries that name every axis.
    include: Vec<Cell>,
}

impl Matrix {
    /// Creates a file that permits unknown combinations and free-threaded Pythons.
    fn lenient(axes: Axes) -> Self {
        Self {
            settings: vec![("unknown", "lenient"), ("free-threaded", "true")],
            axes,
            ..Self::default()
        }
    }

    fn text(&self) -> String {
        let mut text = "version: 1\ndistribution: flash-attn\nrecipe: flash-attn\n".to_owned();
        for (key, value) in &self.settings {
            text.push_str(&format!("{key}: {value}\n"));
        }
        text.push_str("axes:\n");
        for (name, values) in &self.axes {
            let values: Vec<String> = values.iter().map(|value| format!("\"{value}\"")).collect();
            text.push_str(&format!("  {name}: [{}]\n", values.join(", ")));
        }
        let lists = [
            ("exclude", "", &self.exclude),
            ("rows", "", &self.rows),
            ("include", "axes: ", &self.include),
        ];
        for (key, prefix, cells) in lists {
            if !cells.is_empty() {
                text.push_str(&format!("{key}:\n"));
            }
            for cell in cells {
                let values: Vec<String> = cell
                    .iter()
                    .map(|(axis, value)| format!("{axis}: \"{value}\""))
                    .collect();
                text.push_str(&format!("  - {prefix}{{{}}}\n", values.join(", ")));
            }
        }
        text
    }

    /// Returns the cells of the product and of explicit cells, in the order of the values.
    fn cells(&self) -> Vec<Cell> {
        let mut axes = self.axes.clone();
        for (name, value) in self.rows.iter().chain(&self.include).flatten() {
            let axis = axes.iter_mut().find(|(axis, _)| axis == name);
            let (_, values) = axis.unwrap();
            if !values.contains(value) {
                values.push(*value);
            }
        }
        let is_cell = |cell: &Cell| {
            self.is_in_product(cell) || self.rows.contains(cell) || self.include.contains(cell)
        };
        all_cells(&axes).into_iter().filter(is_cell).collect()
    }

    fn is_in_product(&self, cell: &Cell) -> bool {
        let mut values = cell.iter().zip(&self.axes);
        values.all(|((_, value), (_, values))| values.contains(value))
    }
}

/// Returns the product of the axes.
fn all_cells(axes: &Axes) -> Vec<Cell> {
    let mut cells: Vec<Cell> = vec![Vec::new()];
    for (name, values) in axes {
        let with_each = |cell: Cell| -> Vec<Cell> {
            let with = |value: &&'static str| [cell.as_slice(), &[(*name, *value)]].concat();
            values.iter().map(with).collect()
        };
        cells = cells.into_iter().flat_map(with_each).collect();
    }
    cells
}

fn value(cell: &Cell, axis: &str) -> &'static str {
    let named = cell.iter().find(|(name, _)| *name == axis);
    named.map(|(_, value)| *value).unwrap()
}

/// Whether a cell has all of these values of axes.
fn has_values<'t>(cell: &Cell, mut values: impl Iterator<Item = (&'t str, &'t str)>) -> bool {
    values.all(|(axis, text)| value(cell, axis) == text)
}

fn read(text: &str) -> (MatrixConfig, RecipeProfile) {
    let mut sink = Sink::new();
    let document = recipe::embedded("flash-attn").unwrap();
    let compat = Compat::embedded();
    let lookups = Lookups::new(&compat, recipe::RecipeSet::with_shipped([]).into());
    let config = config::read(&SourceText::new("m.yaml", text), &lookups, &mut sink);
    (
        config.unwrap_or_else(|| panic!("{text}\n{:?}", sink.finish())),
        document.profile("flash-attn"),
    )
}

/// A rule that excludes a cell: the depth at which its axes are bound, its number, and its code.
/// The smallest one has precedence.
type Violation = (usize, usize, &'static str);

/// The order in which axes are bound.
const DEPTHS: [&str; 5] = ["torch", "rocm", "flash-attn", "backend", "python"];
const BACKEND_DEPTH: usize = 3;
const PYTHON_DEPTH: usize = 4;

/// The code of an entry of `exclude`.
const BY_USER: &str = "P008";
/// The code of `rocm-policy`.
const BY_POLICY: &str = "P007";
/// The code of an unknown combination.
const UNKNOWN: &str = "P009";

/// Evaluates all rules for one cell at a time.
struct Oracle<'a> {
    matrix: &'a Matrix,
    config: &'a MatrixConfig,
    compat: &'a Compat,
    /// The ROCm version that the policy keeps for each torch and, where images determine it,
    /// Python.
    kept: BTreeMap<(&'static str, Option<&'static str>), &'static str>,
}

impl<'a> Oracle<'a> {
    fn new(
        matrix: &'a Matrix,
        config: &'a MatrixConfig,
        compat: &'a Compat,
        cells: &[Cell],
    ) -> Self {
        let mut oracle = Self {
            matrix,
            config,
            compat,
            kept: BTreeMap::new(),
        };
        if config.rocm_policy == RocmPolicy::All {
            return oracle;
        }
        let mut candidates: BTreeMap<_, BTreeSet<(RocmVersion, &str)>> = BTreeMap::new();
        for cell in cells {
            // A cell that only an `include` entry names does not change the choice.
            let is_candidate = matrix.is_in_product(cell) || matrix.rows.contains(cell);
            let is_legal = !is_unsupported(&oracle.torch_rocm_support(cell));
            if is_candidate && is_legal && !oracle.is_excluded_from_policy(cell) {
                let rocm = value(cell, "rocm");
                let of_torch = candidates.entry(oracle.policy_key(cell)).or_default();
                of_torch.insert((rocm.parse().unwrap(), rocm));
            }
        }
        for (key, versions) in candidates {
            let kept = match config.rocm_policy {
                RocmPolicy::Oldest => versions.first(),
                _ => versions.last(),
            };
            oracle.kept.insert(key, kept.unwrap().1);
        }
        oracle
    }

    fn reads_python_of_image(&self) -> bool {
        self.is_from_image() && self.config.python_from == PythonFrom::Image
    }

    fn is_from_image(&self) -> bool {
        self.config.torch_from == TorchFrom::Image
    }

    fn policy_key(&self, cell: &Cell) -> (&'static str, Option<&'static str>) {
        let python = self.reads_python_of_image().then(|| value(cell, "python"));
        (value(cell, "torch"), python)
    }

    /// Whether an entry of `exclude` that names only the axes of the policy matches the cell.
    fn is_excluded_from_policy(&self, cell: &Cell) -> bool {
        let is_of_policy = |axis: &str| match axis {
            "torch" | "rocm" => true,
            "python" => self.reads_python_of_image(),
            _ => false,
        };
        let mut excludes = self.matrix.exclude.iter();
        excludes.any(|exclude| {
            exclude.iter().all(|(axis, _)| is_of_policy(axis))
                && has_values(cell, exclude.iter().copied())
        })
    }

    fn torch_rocm_support(&self, cell: &Cell) -> Support {
        let torch: Version = value(cell, "torch").parse().unwrap();
        let rocm: RocmVersion = value(cell, "rocm").parse().unwrap();
        if !self.is_from_image() {
            return self.compat.torch_rocm_support(&torch, &rocm);
        }
        let python = self.reads_python_of_image().then(|| python(cell));
        let repository = &self.config.image.repository;
        self.compat
            .torch_image_support(repository, &torch, &rocm, python)
    }

    /// Returns whether torch exists for the Python; `None` if images have their own.
    fn torch_python_support(&self, cell: &Cell) -> Option<Support> {
        let torch: Version = value(cell, "torch").parse().unwrap();
        let support = || self.compat.torch_python_support(&torch, python(cell));
        (!self.is_from_image()).then(support)
    }

    /// Returns all rules that exclude a cell.
    fn violated(&self, cell: &Cell) -> BTreeSet<Violation> {
        let package: PackageVersion = value(cell, "flash-attn").parse().unwrap();
        let torch: Version = value(cell, "torch").parse().unwrap();
        let (python, backend) = (python(cell), value(cell, "backend"));
        let (torch_code, torch_depth) = match (self.is_from_image(), self.reads_python_of_image()) {
            (false, _) => ("P001", 1),
            (true, false) => ("P003", 1),
            (true, true) => ("P003", PYTHON_DEPTH),
        };
        let kept = self.kept.get(&self.policy_key(cell));
        let compat = self.compat;
        let import = compat.import_support(ImportQuery {
            package: "flash-attn",
            version: &package,
            backend,
            torch: &torch,
        });
        let rules = [
            (
                torch_depth,
                torch_code,
                is_unsupported(&self.torch_rocm_support(cell)),
            ),
            (
                torch_depth,
                BY_POLICY,
                kept.is_some_and(|kept| *kept != value(cell, "rocm")),
            ),
            (
                PYTHON_DEPTH,
                "P002",
                self.torch_python_support(cell)
                    .is_some_and(|support| is_unsupported(&support)),
            ),
            (
                PYTHON_DEPTH,
                "P006",
                python.is_free_threaded() && !self.config.free_threaded,
            ),
            (
                BACKEND_DEPTH,
                "P004",
                is_unsupported(&compat.package_backend_support("flash-attn", &package, backend)),
            ),
            (
                BACKEND_DEPTH,
                "P078",
                !self.is_from_image() && is_unsupported(&import),
            ),
            (
                PYTHON_DEPTH,
                "P005",
                is_unsupported(&compat.package_python_support("flash-attn", &package, python)),
            ),
        ];
        let mut violated = BTreeSet::new();
        for (number, (depth, code, is_violated)) in rules.into_iter().enumerate() {
            if is_violated {
                violated.insert((depth, number, code));
            }
        }
        for exclude in &self.matrix.exclude {
            if has_values(cell, exclude.iter().copied()) {
                let depths = exclude.iter().map(|(axis, _)| depth(axis));
                violated.insert((depths.max().unwrap(), rules.len(), BY_USER));
            }
        }
        violated
    }

    /// Whether the compatibility data does not cover the torch of a cell with its ROCm or Python.
    fn is_unknown(&self, cell: &Cell) -> bool {
        let supports = [
            Some(self.torch_rocm_support(cell)),
            self.torch_python_support(cell),
        ];
        let mut supports = supports.iter().flatten();
        supports.any(|support| matches!(support, Support::Unknown(_)))
    }

    /// Returns the code of the rule that a cell is excluded for, or `None` if it is a leg. An
    /// `include` entry restores a cell of the product that only `exclude` and `rocm-policy` exclude,
    /// and its own cell outside the product ignores both.
    fn reason(&self, cell: &Cell) -> Option<&'static str> {
        let mut violated = self.violated(cell);
        let is_overridden = |(.., code): &Violation| [BY_USER, BY_POLICY].contains(code);
        if self.matrix.include.contains(cell)
            && (violated.iter().all(is_overridden) || !self.matrix.is_in_product(cell))
        {
            violated.retain(|violation| !is_overridden(violation));
        }
        let is_failed = self.config.unknown == Strictness::Strict && self.is_unknown(cell);
        let first = violated.first().map(|(.., code)| *code);
        first.or_else(|| is_failed.then_some(UNKNOWN))
    }
}

fn python(cell: &Cell) -> PythonVersion {
    value(cell, "python").parse().unwrap()
}

fn depth(axis: &str) -> usize {
    DEPTHS.iter().position(|name| *name == axis).unwrap()
}

fn is_unsupported(support: &Support) -> bool {
    matches!(support, Support::Unsupported(_))
}

/// Compares an expansion with an enumeration of all cells.
fn check(matrix: &Matrix) -> Result<(), TestCaseError> {
    let (config, profile) = read(&matrix.text());
    let compat = Compat::embedded();
    let mut sink = Sink::new();
    let all = CellSelection::default();
    let expansion = expand(&config, &profile, &compat, &all, &mut sink).unwrap();

    let cells = matrix.cells();
    let oracle = Oracle::new(matrix, &config, &compat, &cells);
    let reasons: Vec<Option<&str>> = cells.iter().map(|cell| oracle.reason(cell)).collect();
    let legs: Vec<Cell> = cells
        .iter()
        .zip(&reasons)
        .filter(|(_, reason)| reason.is_none())
        .map(|(cell, _)| cell.clone())
        .collect();
    let found: Vec<Vec<(String, String)>> = expansion
        .legs
        .iter()
        .map(|&leg| expansion.space.texts(leg).into_iter().collect())
        .collect();
    let found: Vec<Vec<(&str, &str)>> = found
        .iter()
        .map(|cell| {
            cell.iter()
                .map(|(axis, text)| (axis.as_str(), text.as_str()))
                .collect()
        })
        .collect();
    prop_assert_eq!(&found, &legs, "the legs are in the order of the file");
    prop_assert_eq!(expansion.cell_count, cells.len() as u64);

    let mut expected: BTreeMap<&str, u64> = BTreeMap::new();
    for code in reasons.iter().flatten() {
        *expected.entry(*code).or_default() += 1;
    }
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    for row in &expansion.excluded {
        *counts.entry(row.code.id).or_default() += row.count;
        let has_command = table_command(row.code).is_some();
        prop_assert!(row.source.is_empty() || has_command, "{:?}", row);
    }
    prop_assert_eq!(counts, expected, "each cell counts for one rule");

    let has_row_values = |cell: &Cell, row: &ExclusionRow| {
        let mut values = row.axes.iter();
        values.all(|(axis, text)| value(cell, axis) == text.as_str())
    };
    for (cell, reason) in cells.iter().zip(&reasons) {
        let violated = oracle.violated(cell);
        let mut has_reason = false;
        for row in &expansion.excluded {
            if has_row_values(cell, row) {
                let is_violated = violated.iter().any(|(.., code)| *code == row.code.id)
                    || (row.code.id == UNKNOWN && oracle.is_unknown(cell));
                prop_assert!(is_violated, "{:?} does not violate {:?}", cell, row);
                has_reason |= Some(row.code.id) == *reason;
            }
        }
        prop_assert!(has_reason || reason.is_none(), "{:?} has no row", cell);
    }

    let mut with_reasons = cells.iter().zip(&reasons);
    let is_unknown_reported = with_reasons
        .any(|(cell, reason)| reason.is_none_or(|code| code == UNKNOWN) && oracle.is_unknown(cell));
    let reported = sink.finish();
    let is_reported = reported.iter().any(|found| found.code.id == UNKNOWN);
    prop_assert_eq!(is_reported, is_unknown_reported);
    Ok(())
}

fn some_of(values: &'static [&'static str]) -> impl Strategy<Value = Vec<&'static str>> {
    proptest::sample::subsequence(values, 1..=values.len().min(4)).prop_shuffle()
}

fn one_of(values: &'static [&'static str]) -> impl Strategy<Value = &'static str> {
    proptest::sample::select(values)
}

/// Two axes and a value of each, by numbers; an exclude names one axis if both are the same.
type ExcludeNumbers = (usize, usize, usize, usize);

fn exclude_numbers() -> impl Strategy<Value = Vec<ExcludeNumbers>> {
    proptest::collection::vec((0_usize..5, 0_usize..5, 0_usize..4, 0_usize..4), 0..4)
}

/// Returns the excludes with these numbers.
fn excludes(axes: &Axes, numbers: &[ExcludeNumbers]) -> Vec<Cell> {
    let pick = |axis: usize, value: usize| {
        let (name, values) = &axes[axis];
        (*name, values[value % values.len()])
    };
    numbers
        .iter()
        .map(|&(a, b, x, y)| {
            if a == b {
                vec![pick(a, x)]
            } else {
                vec![pick(a, x), pick(b, y)]
            }
        })
        .collect()
}

const PACKAGES: &[&str] = &["2.6.3", "2.7.4", "2.8.3"];
const PYTHONS: &[&str] = &["3.10", "3.12", "3.13", "3.13t"];
const TORCHES: &[&str] = &["2.4.0", "2.8.0", "2.9.1", "2.10.0"];
const ROCMS: &[&str] = &["6.3", "6.4", "7.1", "7.1.1", "7.2", "7.2.4"];
const BACKENDS: &[&str] = &["ck", "triton"];

/// Cells that name every axis, also with values that the product lacks.
fn explicit_cells() -> impl Strategy<Value = Vec<Cell>> {
    let cell = (
        one_of(PACKAGES),
        one_of(PYTHONS),
        one_of(TORCHES),
        one_of(ROCMS),
        one_of(BACKENDS),
    );
    let cell = cell.prop_map(|(package, python, torch, rocm, backend)| {
        vec![
            ("flash-attn", package),
            ("python", python),
            ("torch", torch),
            ("rocm", rocm),
            ("backend", backend),
        ]
    });
    proptest::collection::vec(cell, 0..3)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_legs_and_reasons_are_those_of_an_enumeration(
        package in some_of(&["2.6.3", "2.7.4", "2.8.3", "2.8.3.post1"]),
        python in some_of(&["3.8", "3.9", "3.10", "3.12", "3.13", "3.13t", "3.14"]),
        torch in some_of(&["2.3.1", "2.5.1", "2.6.0", "2.8.0", "2.10.0", "2.12.1", "2.14.0"]),
        rocm in some_of(&["6.0", "6.1", "6.2", "6.2.4", "6.4", "7.1", "7.1.1", "7.2", "7.14"]),
        backend in some_of(&["ck", "triton"]),
        numbers in exclude_numbers(),
        order in Just(vec![0_usize, 1, 2, 3, 4]).prop_shuffle(),
    ) {
        let all = [("flash-attn", package), ("python", python), ("torch", torch), ("rocm", rocm), ("backend", backend)];
        let axes: Axes = order.iter().map(|&axis| all[axis].clone()).collect();
        let exclude = excludes(&axes, &numbers);
        check(&Matrix { exclude, ..Matrix::lenient(axes) })?;
    }

    /// A combination that the compatibility data does not cover is reported if a cell is left that
    /// nothing excludes.
    #[test]
    fn an_unknown_combination_is_reported_unless_all_its_cells_are_excluded(
        package in some_of(&["2.7.4", "2.8.3"]),
        python in some_of(&["3.8", "3.10", "3.12"]),
        torch in some_of(&["2.5.1", "2.6.0", "2.99.0"]),
        rocm in some_of(&["6.1", "6.2", "6.2.9"]),
        backend in some_of(&["ck", "triton"]),
        numbers in exclude_numbers(),
        unknown in one_of(&["strict", "lenient"]),
    ) {
        let axes = vec![("flash-attn", package), ("python", python), ("torch", torch), ("rocm", rocm), ("backend", backend)];
        let exclude = excludes(&axes, &numbers);
        let settings = vec![("unknown", unknown)];
        check(&Matrix { settings, axes, exclude, ..Matrix::default() })?;
    }

    /// The settings that rules depend on, with cells that are not in the product.
    #[test]
    fn explicit_cells_and_policies_are_those_of_an_enumeration(
        package in some_of(PACKAGES),
        python in some_of(PYTHONS),
        torch in some_of(TORCHES),
        rocm in some_of(ROCMS),
        backend in some_of(BACKENDS),
        numbers in exclude_numbers(),
        rows in explicit_cells(),
        include in explicit_cells(),
        policy in one_of(&["all", "oldest", "newest"]),
        torch_from in one_of(&["pytorch-index", "image"]),
        python_from in one_of(&["uv", "image"]),
        free_threaded in one_of(&["true", "false"]),
    ) {
        let axes = vec![("flash-attn", package), ("python", python), ("torch", torch), ("rocm", rocm), ("backend", backend)];
        let exclude = excludes(&axes, &numbers);
        let settings = vec![
            ("unknown", "lenient"),
            ("rocm-policy", policy),
            ("torch-from", torch_from),
            ("python-from", python_from),
            ("free-threaded", free_threaded),
        ];
        check(&Matrix { settings, axes, exclude, rows, include })?;
    }

    /// Each job appears once, with a unique ID, in the order of the file, and all values of its
    /// entry in a workflow matrix are texts.
    #[test]
    fn matrix_legs_have_unique_ids_in_plan_order_and_only_texts(
        package in some_of(&["2.7.4", "2.8.3", "2.8.3.post1", "fa2:4a948e9b1c2d"]),
        python in some_of(&["3.9", "3.10", "3.12", "3.13", "3.13t"]),
        torch in some_of(&["2.5.1", "2.6.0", "2.8.0", "2.14.0"]),
        rocm in some_of(&["6.1", "6.2", "6.2.4", "6.4", "7.2"]),
        backend in some_of(&["ck", "triton"]),
        most in 1_usize..40,
    ) {
        let axes = vec![("flash-attn", package), ("python", python), ("torch", torch), ("rocm", rocm), ("backend", backend)];
        let text = Matrix::lenient(axes).text();
        let (config, profile) = read(&format!("{text}rocm-precision: patch\ntest: {{runner: mi300x}}\n"));
        let options = PlanInputs { jobs_per_matrix: most, ..PlanInputs::default() };
        let mut sink = Sink::new();
        let planned = plan::plan(vec![(config, profile)], &Compat::embedded(), &options, &mut sink);
        let planned = planned.unwrap_or_else(|| panic!("{:?}", std::mem::take(&mut sink).finish()));
        let ids: Vec<String> = planned.jobs().map(plan::JobView::id).collect();
        prop_assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), ids.len(), "{:?}", ids);
        let is_valid = |id: &String| (1..=80).contains(&id.len())
            && id.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b"._-".contains(&b));
        prop_assert!(ids.iter().all(is_valid), "{:?}", ids);
        let github = plan::github(&planned, &mut sink).unwrap();
        prop_assert!(github.shards.iter().all(|shard| (1..=most).contains(&shard.count)));
        let legs = |json: &str| serde_json::from_str::<serde_json::Value>(json).unwrap()["include"].as_array().unwrap().clone();
        let built: Vec<serde_json::Value> = github.shards.iter().flat_map(|shard| legs(&shard.json)).collect();
        let tested: Vec<serde_json::Value> = github.tests.iter().flatten().flat_map(|json| legs(json)).collect();
        prop_assert_eq!(built.iter().map(|leg| leg["id"].as_str().unwrap()).collect::<Vec<_>>(), ids.iter().map(String::as_str).collect::<Vec<_>>());
        for leg in built.iter().chain(&tested) {
            prop_assert!(leg.as_object().unwrap().values().all(serde_json::Value::is_string), "{}", leg);
        }
    }

    #[test]
    fn a_saved_plan_has_the_jobs_of_the_plan(
        python in some_of(&["3.9", "3.10", "3.11", "3.12"]),
        backend in some_of(&["ck", "triton"]),
        gfx in some_of(&["gfx90a", "gfx942", "gfx1030", "gfx1100"]),
    ) {
        prop_assume!(gfx.contains(&"gfx90a") || gfx.contains(&"gfx942"));
        let axes = vec![("flash-attn", vec!["2.8.3", "2.7.4"]), ("python", python), ("torch", vec!["2.5.1"]), ("rocm", vec!["6.1", "6.2"]), ("backend", backend)];
        let text = Matrix::lenient(axes).text();
        let (config, profile) = read(&format!("{text}gfx: [{}]\n", gfx.join(", ")));
        let mut sink = Sink::new();
        let planned = plan::plan(vec![(config, profile)], &Compat::embedded(), &PlanInputs::default(), &mut sink).unwrap();
        let mut bytes = Vec::new();
        plan::write_json(&planned, "rock-matrix test", &[], &mut bytes).unwrap();
        let source = SourceText::new("plan.json", String::from_utf8(bytes).unwrap());
        let jobs = plan::read_json(&source, &mut sink).unwrap();
        let expected: Vec<plan::Job> = planned.jobs().map(plan::JobView::to_job).collect();
        prop_assert_eq!(jobs, expected);
    }
}

/// The product has ten million cells, of which one thousand are legs. A prefix that a rule excludes
/// is one row, and its cells are not enumerated, so this ends at once even without optimization.
#[test]
fn an_excluded_prefix_takes_one_step() {
    let texts = |list: Vec<String>| -> Vec<&'static str> {
        list.into_iter().map(|text| &*text.leak()).collect()
    };
    let versions = texts((0..1000).map(|n| format!("1.{n}")).collect());
    // torch 2.3 has wheels for two versions of ROCm that are not here.
    let torch = (0..99).map(|n| format!("2.3.{n}"));
    let torch = texts(torch.chain(["2.5.1".to_owned()]).collect());
    let python = vec![
        "3.0", "3.1", "3.2", "3.3", "3.4", "3.5", "3.6", "3.7", "3.8", "3.12",
    ];
    let rocm = vec![
        "5.2", "6.1", "6.2.4", "6.3", "6.4", "7.0", "7.1", "7.2", "7.14", "10.0",
    ];
    let axes = vec![
        ("flash-attn", versions),
        ("python", python),
        ("torch", torch),
        ("rocm", rocm),
        ("backend", vec!["ck"]),
    ];
    let (config, profile) = read(&Matrix::lenient(axes).text());
    assert_eq!(AxisSpace::new(&config).unwrap().cell_count(), 10_000_000);
    let all = CellSelection::default();
    let compat = Compat::embedded();
    let expansion = expand(&config, &profile, &compat, &all, &mut Sink::new()).unwrap();
    assert_eq!(expansion.legs.len(), 1000);
    let rows: Vec<(usize, u64)> = expansion
        .excluded
        .iter()
        .map(|row| (row.axes.len(), row.count))
        .collect();
    assert_eq!(
        rows.iter().filter(|row| **row == (2, 10_000)).count(),
        999,
        "one row for each pair of torch and ROCm"
    );
    assert_eq!(rows.iter().map(|row| row.1).sum::<u64>(), 10_000_000 - 1000);
}
