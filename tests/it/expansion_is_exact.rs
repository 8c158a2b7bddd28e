//! Expansion prunes, and still gives what enumerating every cell would give.

use std::collections::BTreeSet;

use proptest::prelude::*;
use rock_matrix::compat::{Compat, ImportQuery, Support};
use rock_matrix::config::{self, Lookups, MatrixConfig, RecipeProfile, recipe};
use rock_matrix::diagnostic::{Sink, SourceText};
use rock_matrix::matrix::{AxisSpace, CellSelection, expand};
use rock_matrix::names::{PackageVersion, PythonVersion, RocmVersion, Version};
use rock_matrix::plan::{self, PlanInputs};

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

fn matrix(axes: &[(&str, Vec<&str>)], exclude: &[Vec<(&str, &str)>]) -> String {
    let mut text =
        "version: 1\ndistribution: flash-attn\nrecipe: flash-attn\nunknown: lenient\nfree-threaded: true\naxes:\n"
            .to_owned();
    for (name, values) in axes {
        text.push_str(&format!(
            "  {name}: [{}]\n",
            values
                .iter()
                .map(|v| format!("\"{v}\""))
                .collect::<Vec<_>>()
                .join(", ")
        ));
    }
    if !exclude.is_empty() {
        text.push_str("exclude:\n");
    }
    for keys in exclude {
        text.push_str(&format!(
            "  - {{{}}}\n",
            keys.iter()
                .map(|(k, v)| format!("{k}: \"{v}\""))
                .collect::<Vec<_>>()
                .join(", ")
        ));
    }
    text
}

/// Returns the axes of flash-attn with these values.
fn flash_attn_axes(
    package: Vec<&'static str>,
    python: Vec<&'static str>,
    torch: Vec<&'static str>,
    rocm: Vec<&'static str>,
    backend: Vec<&'static str>,
) -> [(&'static str, Vec<&'static str>); 5] {
    [
        ("flash-attn", package),
        ("python", python),
        ("torch", torch),
        ("rocm", rocm),
        ("backend", backend),
    ]
}

/// Returns rules that exclude one or two values of the axes. Each of `picks` has the positions of
/// two axes, then those of their values.
fn exclude_rules<'a>(
    axes: &[(&'a str, Vec<&'a str>)],
    picks: &[(usize, usize, usize, usize)],
) -> Vec<Vec<(&'a str, &'a str)>> {
    let pick = |axis: usize, value: usize| {
        let (name, values) = &axes[axis];
        (*name, values[value % values.len()])
    };
    picks
        .iter()
        .map(|&(first, second, value, other)| {
            if first == second {
                vec![pick(first, value)]
            } else {
                vec![pick(first, value), pick(second, other)]
            }
        })
        .collect()
}

/// Returns all cells of a matrix with these axes.
fn product<'a>(axes: &[(&'a str, Vec<&'a str>)]) -> Vec<Vec<(&'a str, &'a str)>> {
    let mut cells: Vec<Vec<(&str, &str)>> = vec![Vec::new()];
    for (name, values) in axes {
        cells = cells
            .iter()
            .flat_map(|cell| {
                values
                    .iter()
                    .map(move |value| [cell.as_slice(), &[(*name, *value)]].concat())
            })
            .collect();
    }
    cells
}

/// Whether a cell is legal, asked of the facts one question at a time.
fn legal(compat: &Compat, cell: &[(&str, &str)], exclude: &[Vec<(&str, &str)>]) -> bool {
    let get = |axis: &str| {
        cell.iter()
            .find(|(name, _)| *name == axis)
            .map(|(_, value)| *value)
    };
    let no = |verdict: Support| matches!(verdict, Support::Unsupported(_));
    let package: PackageVersion = get("flash-attn").unwrap().parse().unwrap();
    let python: PythonVersion = get("python").unwrap().parse().unwrap();
    let torch: Version = get("torch").unwrap().parse().unwrap();
    let rocm: RocmVersion = get("rocm").unwrap().parse().unwrap();
    let excluded = exclude
        .iter()
        .any(|keys| !keys.is_empty() && keys.iter().all(|(axis, value)| get(axis) == Some(value)));
    !no(compat.torch_rocm_support(&torch, &rocm))
        && !no(compat.torch_python_support(&torch, python))
        && !no(compat.package_backend_support("flash-attn", &package, get("backend").unwrap()))
        && !no(compat.package_python_support("flash-attn", &package, python))
        && !no(compat.import_support(ImportQuery {
            package: "flash-attn",
            version: &package,
            backend: get("backend").unwrap(),
            torch: &torch,
        }))
        && !excluded
}

/// Whether the facts do not know the torch of a cell with its ROCm or Python.
fn unknown(compat: &Compat, cell: &[(&str, &str)]) -> bool {
    let get = |axis: &str| cell.iter().find(|(name, _)| *name == axis).unwrap().1;
    let (torch, rocm, python): (Version, RocmVersion, PythonVersion) = (
        get("torch").parse().unwrap(),
        get("rocm").parse().unwrap(),
        get("python").parse().unwrap(),
    );
    [
        compat.torch_rocm_support(&torch, &rocm),
        compat.torch_python_support(&torch, python),
    ]
    .iter()
    .any(|support| matches!(support, Support::Unknown(_)))
}

fn some_of(values: &'static [&'static str]) -> impl Strategy<Value = Vec<&'static str>> {
    proptest::sample::subsequence(values, 1..=values.len().min(4)).prop_shuffle()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn pruning_gives_what_the_product_and_a_filter_give(
        package in some_of(&["2.6.3", "2.7.4", "2.8.3", "2.8.3.post1"]),
        python in some_of(&["3.8", "3.9", "3.10", "3.12", "3.13", "3.13t", "3.14"]),
        torch in some_of(&["2.3.1", "2.5.1", "2.6.0", "2.8.0", "2.10.0", "2.12.1", "2.14.0"]),
        rocm in some_of(&["6.0", "6.1", "6.2", "6.2.4", "6.4", "7.1", "7.1.1", "7.2", "7.14"]),
        backend in some_of(&["ck", "triton"]),
        excludes in proptest::collection::vec((0_usize..5, 0_usize..5, 0_usize..4, 0_usize..4), 0..3),
        order in Just(vec![0_usize, 1, 2, 3, 4]).prop_shuffle(),
    ) {
        let all = flash_attn_axes(package, python, torch, rocm, backend);
        let axes: Vec<(&str, Vec<&str>)> = order.iter().map(|&axis| all[axis].clone()).collect();
        let exclude = exclude_rules(&axes, &excludes);
        let (config, profile) = read(&matrix(&axes, &exclude));
        let compat = Compat::embedded();
        let expansion =
            expand(&config, &profile, &compat, &CellSelection::default(), &mut Sink::new()).unwrap();

        let cells = product(&axes);
        let expected: Vec<Vec<(&str, &str)>> = cells.iter().filter(|cell| legal(&compat, cell, &exclude)).cloned().collect();
        let found: Vec<Vec<(String, String)>> =
            expansion.legs.iter().map(|&leg| expansion.space.texts(leg).into_iter().collect()).collect();
        let found: Vec<Vec<(&str, &str)>> =
            found.iter().map(|cell| cell.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect()).collect();
        prop_assert_eq!(&found, &expected, "the legs stand in the order of the file");
        prop_assert_eq!(found.iter().collect::<BTreeSet<_>>().len(), found.len());
        let excluded: u64 = expansion.excluded.iter().map(|row| row.count).sum();
        prop_assert_eq!(excluded + found.len() as u64, cells.len() as u64, "no cell is lost or counted twice");
    }

    /// A combination that the facts do not know is reported if a cell is left that nothing excludes.
    #[test]
    fn an_unknown_combination_is_reported_unless_all_its_cells_are_excluded(
        package in some_of(&["2.7.4", "2.8.3"]),
        python in some_of(&["3.8", "3.10", "3.12"]),
        torch in some_of(&["2.5.1", "2.6.0", "2.99.0"]),
        rocm in some_of(&["6.1", "6.2", "6.2.9"]),
        backend in some_of(&["ck", "triton"]),
        excludes in proptest::collection::vec((0_usize..5, 0_usize..5, 0_usize..4, 0_usize..4), 0..4),
        strict in any::<bool>(),
    ) {
        let axes = flash_attn_axes(package, python, torch, rocm, backend);
        let exclude = exclude_rules(&axes, &excludes);
        let mode = if strict { "unknown: strict" } else { "unknown: lenient" };
        let (config, profile) = read(&matrix(&axes, &exclude).replace("unknown: lenient", mode));
        let compat = Compat::embedded();
        let mut sink = Sink::new();
        let expansion = expand(&config, &profile, &compat, &CellSelection::default(), &mut sink).unwrap();

        let cells = product(&axes);
        let left: Vec<&Vec<(&str, &str)>> = cells.iter().filter(|cell| legal(&compat, cell, &exclude)).collect();
        let unknown = left.iter().filter(|cell| unknown(&compat, cell)).count();
        let reported = sink.finish().iter().any(|found| found.code.id == "P009");
        prop_assert_eq!(reported, unknown > 0);
        prop_assert_eq!(expansion.legs.len(), left.len() - if strict { unknown } else { 0 });
        let excluded: u64 = expansion.excluded.iter().map(|row| row.count).sum();
        prop_assert_eq!(excluded + expansion.legs.len() as u64, cells.len() as u64);
    }

    /// Each job once under an id of its own, in the order of the file, and nothing in a
    /// leg but texts.
    #[test]
    fn legs_have_ids_of_their_own_in_the_order_of_the_plan_and_texts_only(
        package in some_of(&["2.7.4", "2.8.3", "2.8.3.post1", "fa2:4a948e9b1c2d"]),
        python in some_of(&["3.9", "3.10", "3.12", "3.13", "3.13t"]),
        torch in some_of(&["2.5.1", "2.6.0", "2.8.0", "2.14.0"]),
        rocm in some_of(&["6.1", "6.2", "6.2.4", "6.4", "7.2"]),
        backend in some_of(&["ck", "triton"]),
        most in 1_usize..40,
    ) {
        let axes = flash_attn_axes(package, python, torch, rocm, backend);
        let (config, profile) = read(&format!("{}rocm-precision: patch\ntest: {{runner: mi300x}}\n", matrix(&axes, &[])));
        let options = PlanInputs { jobs_per_matrix: most, ..PlanInputs::default() };
        let mut sink = Sink::new();
        let made = plan::plan(vec![(config, profile)], &Compat::embedded(), &options, &mut sink);
        let made = made.unwrap_or_else(|| panic!("{:?}", std::mem::take(&mut sink).finish()));
        let ids: Vec<String> = made.jobs().map(plan::JobView::id).collect();
        prop_assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), ids.len(), "{:?}", ids);
        let legal = |id: &String| (1..=80).contains(&id.len())
            && id.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b"._-".contains(&b));
        prop_assert!(ids.iter().all(legal), "{:?}", ids);
        let github = plan::github(&made, &mut sink).unwrap();
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
    fn a_plan_reads_back_as_the_jobs_it_was_made_of(
        python in some_of(&["3.9", "3.10", "3.11", "3.12"]),
        backend in some_of(&["ck", "triton"]),
        gfx in some_of(&["gfx90a", "gfx942", "gfx1030", "gfx1100"]),
    ) {
        prop_assume!(gfx.contains(&"gfx90a") || gfx.contains(&"gfx942"));
        let axes = flash_attn_axes(
            vec!["2.8.3", "2.7.4"],
            python,
            vec!["2.5.1"],
            vec!["6.1", "6.2"],
            backend,
        );
        let (config, profile) = read(&format!("{}gfx: [{}]\n", matrix(&axes, &[]), gfx.join(", ")));
        let mut sink = Sink::new();
        let made = plan::plan(vec![(config, profile)], &Compat::embedded(), &PlanInputs::default(), &mut sink).unwrap();
        let mut bytes = Vec::new();
        plan::write_json(&made, "rock-matrix test", &[], &mut bytes).unwrap();
        let source = SourceText::new("plan.json", String::from_utf8(bytes).unwrap());
        let jobs = plan::read_json(&source, &mut sink).unwrap();
        let expected: Vec<plan::Job> = made.jobs().map(plan::JobView::to_job).collect();
        prop_assert_eq!(jobs, expected);
    }
}

/// Ten million raw cells of which the facts leave a thousand: what a prefix rules out is one row,
/// and its cells are not enumerated, so that this ends at once even without optimisation.
#[test]
fn a_prefix_that_is_ruled_out_costs_one_step() {
    let versions: Vec<String> = (0..1000).map(|n| format!("1.{n}")).collect();
    // torch 2.3 has wheels for two versions of ROCm that are not here.
    let torch: Vec<String> = (0..99)
        .map(|n| format!("2.3.{n}"))
        .chain(["2.5.1".to_owned()])
        .collect();
    let texts = |list: &'_ [String]| {
        list.iter()
            .map(|text| text.clone().leak() as &str)
            .collect::<Vec<_>>()
    };
    let python = vec![
        "3.0", "3.1", "3.2", "3.3", "3.4", "3.5", "3.6", "3.7", "3.8", "3.12",
    ];
    let rocm = vec![
        "5.2", "6.1", "6.2.4", "6.3", "6.4", "7.0", "7.1", "7.2", "7.14", "10.0",
    ];
    let axes = [
        ("flash-attn", texts(&versions)),
        ("python", python),
        ("torch", texts(&torch)),
        ("rocm", rocm),
        ("backend", vec!["ck"]),
    ];
    let (config, profile) = read(&matrix(&axes, &[]));
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
        "one row a pair: torch and rocm"
    );
    assert_eq!(rows.iter().map(|row| row.1).sum::<u64>(), 10_000_000 - 1000);
}
