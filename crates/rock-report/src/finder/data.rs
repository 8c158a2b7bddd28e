//! The data of the page: columns of indexes into lists of distinct values, which keep the data of
//! thousands of wheels small.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::values::ValueColumn;
use crate::pick::{
    DeviceOffer, GfxCode, GilBuild, LibcKind, MatchRules, MatchWeights, PythonRange, TorchSeries,
    WEIGHTS, WheelAccelerator, WheelCandidate, torch_sentence,
};
use rock_compat::Compat;
use rock_names::{BuildTag, RocmVersion, percent_encode, to_base64};

/// The version of the data format, incremented when a field is removed or changes its meaning.
const VERSION: u32 = 2;

/// The values that a user can choose from, by field. Versions are sorted newest first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FinderChoices {
    /// ROCm versions that wheels are for.
    pub rocm: Vec<String>,
    /// torch series that wheels are for.
    pub torch: Vec<String>,
    /// Python versions that wheels name individually. If a wheel supports a range, also the
    /// versions of that range that torch supports.
    pub python: Vec<String>,
    /// gfx targets that wheels have code for; if no wheel lists any, all targets of torch.
    pub gfx: Vec<String>,
    pub backend: Vec<String>,
}

/// Collects the choices that these wheels and the compatibility data offer.
pub fn choices(wheels: &[WheelCandidate], compat: &Compat) -> FinderChoices {
    let rocm: BTreeSet<RocmVersion> = wheels
        .iter()
        .filter_map(|wheel| match &wheel.accelerator {
            WheelAccelerator::Rocm(rocm) => Some(rocm.clone()),
            _ => None,
        })
        .collect();
    let torch: BTreeSet<TorchSeries> = wheels
        .iter()
        .filter_map(|wheel| wheel.torch.clone())
        .collect();
    let backend: BTreeSet<&str> = wheels
        .iter()
        .map(|wheel| wheel.backend.as_deref().unwrap_or("default"))
        .collect();
    FinderChoices {
        rocm: rocm
            .into_iter()
            .rev()
            .map(|rocm| rocm.to_string())
            .collect(),
        torch: torch
            .into_iter()
            .rev()
            .map(|torch| torch.to_string())
            .collect(),
        python: pythons(wheels, compat),
        gfx: gfx(wheels, compat),
        backend: backend.into_iter().map(str::to_owned).collect(),
    }
}

fn pythons(wheels: &[WheelCandidate], compat: &Compat) -> Vec<String> {
    let ranges = || wheels.iter().flat_map(|wheel| &wheel.pythons);
    let exact = ranges()
        .filter(|range| range.to == Some(range.from.1))
        .map(|range| (range.from, range.build));
    let mut found: BTreeSet<((u8, u8), bool)> = exact
        .map(|(from, build)| (from, build == GilBuild::Free))
        .collect();
    if ranges().any(|range| range.to != Some(range.from.1)) {
        let known = compat.tables().torch.iter().flat_map(|row| &row.python);
        let parsed = known.filter_map(|text| text.parse::<rock_names::PythonVersion>().ok());
        let fits = parsed.filter(|python| ranges().any(|range| range.has(*python)));
        found.extend(fits.map(|python| (python.numbers(), python.is_free_threaded())));
    }
    let text = |((major, minor), free): ((u8, u8), bool)| {
        format!("{major}.{minor}{}", if free { "t" } else { "" })
    };
    found.into_iter().rev().map(text).collect()
}

fn gfx(wheels: &[WheelCandidate], compat: &Compat) -> Vec<String> {
    let mut targets: Vec<String> = wheels
        .iter()
        .filter_map(|wheel| match &wheel.gfx {
            GfxCode::Targets(targets) => Some(targets.iter().cloned()),
            _ => None,
        })
        .flatten()
        .collect();
    if targets.is_empty() {
        targets.extend(
            compat
                .tables()
                .torch_gfx
                .iter()
                .flat_map(|row| row.gfx.iter().cloned()),
        );
    }
    targets.sort_by_key(|target| (target.len(), target.clone()));
    targets.dedup();
    targets
}

/// Returns the device wheels of a host wheel, as distributions with targets, and the index of their
/// requirements; `null` if there are no device wheels.
fn devices(wheel: &WheelCandidate) -> Value {
    let one = |device: &DeviceOffer| {
        json!([
            device.offer.name.distribution().as_str(),
            device.package.targets
        ])
    };
    let all: Vec<Value> = wheel.devices.iter().map(one).collect();
    if all.is_empty() {
        Value::Null
    } else {
        json!([all, wheel.device_index])
    }
}

/// Returns the data of the page. `yanked_count` is the number of yanked wheels that were left out.
pub fn data(
    wheels: &[WheelCandidate],
    rules: &MatchRules,
    choices: &FinderChoices,
    repository: Option<&str>,
    yanked_count: usize,
) -> Value {
    let mut values = serde_json::Map::new();
    let mut columns = serde_json::Map::new();
    let mut column = |name: &str, of: &dyn Fn(&WheelCandidate) -> Value| {
        let (own_values, rows) = ValueColumn::of(wheels.iter().map(of)).into_parts();
        values.insert(name.to_owned(), own_values);
        columns.insert(name.to_owned(), rows);
    };
    column("distribution", &|wheel| {
        json!([wheel.offer.name.distribution().as_str(), wheel.distribution])
    });
    column("version", &|wheel| {
        json!(wheel.offer.name.version().public().as_str())
    });
    column("label", &|wheel| {
        json!(wheel.offer.name.version().local().unwrap_or_default())
    });
    column("build", &|wheel| {
        json!(wheel.offer.name.build_tag().map_or("", BuildTag::as_str))
    });
    column("tags", &|wheel| {
        let name = &wheel.offer.name;
        json!(name.compressed_tag())
    });
    column("release", &release);
    column("system", &system);
    column("gfx", &|wheel| match &wheel.gfx {
        GfxCode::Any => json!(0),
        GfxCode::Targets(targets) => json!(targets),
        GfxCode::Unsaid => Value::Null,
    });
    column("rocm", &rocm);
    column("torch", &|wheel| match &wheel.torch {
        Some(torch) => json!([
            torch.to_string(),
            torch.minor,
            torch.tail,
            wheel.compiled_code.torch_case()
        ]),
        None => Value::Null,
    });
    column("python", &python);
    column("backend", &|wheel| json!(wheel.backend));
    column("official_torch", &|wheel| match &wheel.official_torch {
        Some(torch) => json!([torch.requirement, torch.index]),
        None => Value::Null,
    });
    column("devices", &devices);
    column("run_time", &|wheel| {
        let needs = || {
            json!([
                wheel.run_time.sentence(),
                wheel.run_time.assignments().collect::<Vec<_>>()
            ])
        };
        if wheel.run_time.is_empty() {
            Value::Null
        } else {
            needs()
        }
    });
    columns.insert(
        "rank".to_owned(),
        wheels.iter().map(|wheel| wheel.rank).collect(),
    );
    columns.insert(
        "size".to_owned(),
        wheels
            .iter()
            .map(|wheel| wheel.offer.size_bytes.unwrap_or(0))
            .collect(),
    );
    let digest = |wheel: &WheelCandidate| {
        wheel
            .offer
            .digest
            .map_or_else(String::new, |digest| to_base64(digest.as_bytes()))
    };
    columns.insert("sha256".to_owned(), wheels.iter().map(digest).collect());
    let reach = rules
        .reach
        .iter()
        .map(|(name, reach)| (name.clone(), json!([reach.fits, reach.said])));
    json!({
        "version": VERSION,
        "repository": repository,
        "yanked": yanked_count,
        "weights": weights(&WEIGHTS),
        "reach": reach.collect::<serde_json::Map<_, _>>(),
        "hip": rules.hip,
        "about_torch": [torch_sentence(true), torch_sentence(false)],
        "choices": {
            "rocm": choices.rocm,
            "torch": choices.torch,
            "python": choices.python,
            "gfx": choices.gfx,
            "backend": choices.backend,
        },
        "values": values,
        "columns": columns,
    })
}

/// Returns the release tag and the URL prefix of its files; the prefix is `null` if it is unknown.
fn release(wheel: &WheelCandidate) -> Value {
    let offer = &wheel.offer;
    let folder = offer
        .url
        .strip_suffix(&percent_encode(&offer.file))
        .filter(|folder| folder.ends_with('/'));
    json!([offer.release, folder])
}

fn system(wheel: &WheelCandidate) -> Value {
    let shown: Vec<String> = wheel.platforms.iter().map(ToString::to_string).collect();
    let need = |need: &crate::pick::PlatformNeed| match need.libc {
        Some((LibcKind::Glibc, major, minor)) => json!([need.system, "glibc", major, minor]),
        Some((LibcKind::Musl, major, minor)) => json!([need.system, "musl", major, minor]),
        None => json!([need.system, "", 0, 0]),
    };
    json!([
        shown.join(" or "),
        wheel.platforms.iter().map(need).collect::<Vec<_>>()
    ])
}

fn rocm(wheel: &WheelCandidate) -> Value {
    match &wheel.accelerator {
        WheelAccelerator::Rocm(rocm) => {
            let written = rocm.as_str().split('.').count();
            json!([
                "rocm",
                rocm.as_str(),
                rocm.parts()[..written.min(4)],
                wheel.compiled_code.rocm_case()
            ])
        }
        WheelAccelerator::Other(other) => json!(["other", other, []]),
        WheelAccelerator::RocmLibraries(majors) => {
            let shown: Vec<String> = majors.iter().map(u32::to_string).collect();
            json!(["libraries", shown.join(" or "), majors])
        }
        WheelAccelerator::Unsaid => json!(["unsaid", "", []]),
    }
}

fn python(wheel: &WheelCandidate) -> Value {
    let range = |range: &PythonRange| {
        let build = match range.build {
            GilBuild::Plain => "plain",
            GilBuild::Free => "free",
            GilBuild::Either => "either",
        };
        json!([range.from.0, range.from.1, range.to, build])
    };
    json!([
        wheel.shown_pythons(),
        wheel.pythons.iter().map(range).collect::<Vec<_>>()
    ])
}

fn weights(weights: &MatchWeights) -> Value {
    let MatchWeights {
        system,
        libc_kind,
        libc,
        gfx,
        accelerator,
        rocm,
        torch,
        python,
        python_build,
        backend,
        major_step,
        most_major_steps,
        most_minor_steps,
        unsaid_libc,
        unknown_libc,
        unsaid_gfx,
        partial_gfx,
        unsaid_rocm,
        other_rocm,
    } = *weights;
    json!({
        "system": system, "libc_kind": libc_kind, "libc": libc, "gfx": gfx, "accelerator": accelerator, "rocm": rocm,
        "torch": torch, "python": python, "python_build": python_build, "backend": backend, "major_step": major_step,
        "most_major_steps": most_major_steps, "most_minor_steps": most_minor_steps, "unsaid_libc": unsaid_libc,
        "unknown_libc": unknown_libc, "unsaid_gfx": unsaid_gfx, "partial_gfx": partial_gfx, "unsaid_rocm": unsaid_rocm,
        "other_rocm": other_rocm,
    })
}
