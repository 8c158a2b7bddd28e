//! A bill of the libraries that came along (`CycloneDX` 1.4, JSON).

use serde_json::{Value, json};

use super::repair::Plan;
use crate::names::{DistributionName, WheelName, percent_encode};

/// Where the bill of a wheel's first repair lies in dist-info, or of another (PEP 770).
pub fn sbom_path(repair: usize) -> String {
    match repair {
        0 | 1 => "sboms/rock-matrix.cdx.json".to_owned(),
        more => format!("sboms/rock-matrix-{more}.cdx.json"),
    }
}

/// The bill of a repaired wheel. `owners` holds the package URL of each library that came along, in order, where one is
/// known; `excluded` names what was left to others.
///
/// Nothing in it depends on when or where it was made but the libraries themselves.
pub fn sbom<'e>(
    name: &WheelName,
    plan: &Plan,
    owners: &[Option<String>],
    excluded: impl IntoIterator<Item = &'e str>,
) -> Vec<u8> {
    let project = name.distribution.parse::<DistributionName>();
    let project = project.map_or_else(|_| name.distribution.clone(), |project| project.normalized());
    let root = format!("pkg:pypi/{}@{}", project, percent_encode(name.version.to_string()));
    let file_name = percent_encode(name.to_string());
    let mut components: Vec<Value> = Vec::new();
    let mut references: Vec<Value> = Vec::new();
    for (graft, owner) in plan.grafts.iter().zip(owners) {
        let reference = format!("file:{}/{}", plan.folder, graft.name);
        let mut component = json!({
            "type": "library",
            "bom-ref": reference,
            "name": graft.library.real_path.rsplit('/').next(),
            "hashes": [{"alg": "SHA-256", "content": graft.digest}],
        });
        if let Some(owner) = owner {
            component["purl"] = json!(owner);
        }
        components.push(component);
        references.push(json!(reference));
    }
    for library in excluded {
        components.push(json!({"type": "library", "name": library, "scope": "excluded"}));
    }
    let document = json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.4",
        "version": 1,
        "metadata": {
            "component": {
                "type": "library",
                "bom-ref": root,
                "name": name.distribution,
                "version": name.version.to_string(),
                "purl": format!("{root}?file_name={file_name}"),
            },
            "tools": [{"name": "rock-matrix", "version": env!("CARGO_PKG_VERSION")}],
        },
        "components": components,
        "dependencies": [{"ref": root, "dependsOn": references}],
    });
    let mut text = serde_json::to_vec_pretty(&document).expect("texts, lists and maps of texts serialise");
    text.push(b'\n');
    text
}
