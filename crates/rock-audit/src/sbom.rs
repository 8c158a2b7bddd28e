//! SBOM of the grafted libraries (`CycloneDX` 1.4, JSON).

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::repair::{Graft, RepairChanges};
use rock_elf::ElfEdits;
use rock_names::{WheelName, percent_encode};

/// Returns the path in dist-info of the SBOM of a wheel's first or later repair (PEP 770).
pub(crate) fn sbom_path(repair: usize) -> String {
    match repair {
        0 | 1 => "sboms/rock-matrix.cdx.json".to_owned(),
        more => format!("sboms/rock-matrix-{more}.cdx.json"),
    }
}

/// The facts about a grafted library that the plan does not contain.
#[derive(Debug, Clone)]
pub(crate) struct SbomComponent {
    /// The SHA-256 digest of the file in the wheel, in hexadecimal. It differs from that of the
    /// original file, because the library was edited.
    pub digest: String,
    /// The package URL of the package that installed the original file, if it is known.
    pub owner: Option<String>,
}

/// Returns the SBOM of a repaired wheel. `parts` are in the order of the planned grafts; `excluded`
/// are the excluded libraries.
///
/// It depends only on the wheel and the libraries, not on time or machine.
pub(crate) fn sbom<'e>(
    name: &WheelName,
    plan: &RepairChanges,
    parts: &[SbomComponent],
    excluded: impl IntoIterator<Item = &'e str>,
) -> Vec<u8> {
    let root = format!(
        "pkg:pypi/{}@{}",
        name.distribution().normalized(),
        percent_encode(name.version().to_string())
    );
    let file_name = percent_encode(name.to_string());
    let mut components: Vec<Value> = Vec::new();
    let reference = |name: &str| format!("file:{}/{name}", plan.folder);
    for (graft, part) in plan.grafts.iter().zip(parts) {
        let name = graft.library.real_path.rsplit('/').next();
        let hashes = |digest: &str| json!([{"alg": "SHA-256", "content": digest}]);
        let mut component = json!({
            "type": "library",
            "bom-ref": reference(&graft.name),
            "name": name,
            "hashes": hashes(&part.digest),
            "pedigree": {"ancestors": [{"type": "library", "name": name, "hashes": hashes(&graft.digest)}]},
        });
        if let Some(owner) = &part.owner {
            component["purl"] = json!(owner);
        }
        components.push(component);
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
                "name": name.distribution().as_str(),
                "version": name.version().to_string(),
                "purl": format!("{root}?file_name={file_name}"),
            },
            "tools": [{"name": "rock-matrix", "version": env!("CARGO_PKG_VERSION")}],
        },
        "components": components,
        "dependencies": dependencies(plan, &root, &reference),
    });
    let mut text =
        serde_json::to_vec_pretty(&document).expect("texts, lists and maps of texts serialise");
    text.push(b'\n');
    text
}

/// Returns the dependencies: the wheel needs the libraries that its files need or that no other
/// library does, and the libraries need each other.
fn dependencies(
    plan: &RepairChanges,
    root: &str,
    reference: &dyn Fn(&str) -> String,
) -> Vec<Value> {
    let needs = |edits: &ElfEdits| {
        edits
            .rename_needed
            .values()
            .cloned()
            .collect::<BTreeSet<String>>()
    };
    let of_files: BTreeSet<String> = plan.edits.values().flat_map(needs).collect();
    let of_others: BTreeSet<String> = plan
        .grafts
        .iter()
        .flat_map(|graft| needs(&graft.edits))
        .collect();
    let is_direct =
        |graft: &&Graft| of_files.contains(&graft.name) || !of_others.contains(&graft.name);
    let of_wheel = plan
        .grafts
        .iter()
        .filter(is_direct)
        .map(|graft| graft.name.clone())
        .collect();
    let entry = |from: &str, to: BTreeSet<String>| json!({"ref": from, "dependsOn": to.iter().map(|name| reference(name)).collect::<Vec<_>>()});
    let of_grafts = plan
        .grafts
        .iter()
        .map(|graft| entry(&reference(&graft.name), needs(&graft.edits)));
    std::iter::once(entry(root, of_wheel))
        .chain(of_grafts)
        .collect()
}
