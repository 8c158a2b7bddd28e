//! The values of a job that the expressions of every recipe see.

use serde_json::{Map, Value as Json, json};

use super::context::{BuildSite, CALLER_VARIABLE, shell_variable};
use rock_compat::Compat;
use rock_plan::Job;
use rock_plan::config::Switch;
use rock_plan::config::recipe::RecipeDocument;

/// Returns the values that every recipe sees.
pub(super) fn values_of(
    job: &Job,
    document: &RecipeDocument,
    compat: &Compat,
    site: &BuildSite,
) -> Map<String, Json> {
    let snake = |name: &str| name.replace('-', "_");
    let mut values = Map::new();
    for (name, value) in &job.axes {
        values.insert(snake(name), json!(value));
    }
    let mut vars = Map::new();
    for (name, default) in &document.vars {
        vars.insert(
            snake(name),
            json!(job.settings.vars.get(name).unwrap_or(default)),
        );
    }
    let distribution = job.distribution.normalized();
    let package = if document.package.is_empty() {
        &distribution
    } else {
        &document.package
    };
    let row = job
        .package
        .as_ref()
        .and_then(|version| compat.package(package, version));
    let text = |value: Option<String>| json!(value.unwrap_or_default());
    let full_version = match (&job.version, &job.label) {
        (Some(version), Some(label)) => format!("{}+{label}", version.normalized()),
        (Some(version), None) => version.normalized(),
        (None, _) => String::new(),
    };
    let more = [
        ("id", json!(job.id)),
        ("recipe", json!(document.name)),
        ("distribution", json!(distribution)),
        ("file_form", json!(job.distribution.escaped())),
        (
            "version",
            text(job.version.as_ref().map(ToString::to_string)),
        ),
        ("full_version", json!(full_version)),
        ("label", text(job.label.as_ref().map(ToString::to_string))),
        ("wheel", json!(job.wheel)),
        ("backend", json!(job.backend)),
        ("families", json!(job.families)),
        ("indexes", json!(job.settings.indexes)),
        (
            "device_extras",
            json!(if job.settings.device_extras {
                super::prepare::device_extras(job)
            } else {
                Vec::new()
            }),
        ),
        (
            "gfx",
            json!(job.gfx.iter().map(ToString::to_string).collect::<Vec<_>>()),
        ),
        ("rocm", text(job.rocm.as_ref().map(ToString::to_string))),
        ("torch", text(job.torch.as_ref().map(ToString::to_string))),
        ("python", text(job.python.map(|python| python.to_string()))),
        ("torch_from", json!(job.settings.torch_from.word())),
        ("python_from", json!(job.settings.python_from.word())),
        ("platform", json!(job.settings.platform.word())),
        ("compiler_cache", json!(job.settings.cache == Switch::On)),
        ("compiler_cache_mb", json!(job.settings.cache_mb)),
        ("folder", json!(site.folder())),
        (
            "caller",
            // Only steps outside of the container use it.
            json!(if *site == BuildSite::Container {
                shell_variable(CALLER_VARIABLE)
            } else {
                site.caller()
            }),
        ),
        ("in_container", json!(*site == BuildSite::Container)),
        (
            "interpreter",
            json!(super::prepare::interpreter(job, document, site)),
        ),
        (
            "has_own_python",
            json!(super::prepare::has_own_python(job, document)),
        ),
        ("vars", Json::Object(vars)),
        (
            "package",
            json!({
                "known": row.is_some(),
                "version": row.map(|row| row.version.as_str()).unwrap_or_default(),
                "env": row.map(|row| row.env.as_slice()).unwrap_or_default(),
                "cxx_std": row.map(|row| row.cxx_std.as_str()).unwrap_or_default(),
                "tag": row.map(|row| row.tag.as_str()).unwrap_or_default(),
                "commit": match &job.package {
                    Some(rock_names::PackageVersion::Commit { hash, .. }) => hash.as_str(),
                    _ => "",
                },
                "sdist_sha256": row
                    .and_then(|row| row.sdist_sha256.get(job.version.as_ref()?.as_str()))
                    .map(String::as_str)
                    .unwrap_or_default(),
            }),
        ),
    ];
    values.extend(more.map(|(name, value)| (name.to_owned(), value)));
    values
}
