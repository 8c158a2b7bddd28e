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

/// A grafted library, with the facts about it that the plan does not contain.
#[derive(Debug, Clone)]
pub(crate) struct SbomComponent<'g> {
    /// The library.
    pub graft: &'g Graft,
    /// The SHA-256 digest of the file in the wheel, in hexadecimal. It differs from that of the
    /// original file, because the library was edited.
    pub digest: String,
    /// The package URL of the package that installed the original file, if it is known.
    pub owner: Option<String>,
}

/// Returns the SBOM of a repaired wheel. `grafted` are the planned grafts, and
/// `excluded` the names of the excluded libraries.
///
/// It depends only on the wheel and the libraries, not on time or machine.
pub(crate) fn sbom<'e>(
    name: &WheelName,
    plan: &RepairChanges,
    grafted: &[SbomComponent<'_>],
    excluded: impl IntoIterator<Item = &'e str>,
) -> Vec<u8> {
    let root = format!(
        "pkg:pypi/{}@{}",
        name.distribution().normalized(),
        percent_encode(name.version().to_string())
    );
    let file_name = percent_encode(name.to_string());
    let mut components: Vec<Value> = Vec::new();
    for SbomComponent {
        graft,
        digest,
        owner,
    } in grafted
    {
        let name = graft.library.real_path.rsplit('/').next();
        let mut component = json!({
            "type": "library",
            "bom-ref": reference(plan, &graft.name),
            "name": name,
            "hashes": hashes(digest),
            "pedigree": {"ancestors": [{"type": "library", "name": name, "hashes": hashes(&graft.digest)}]},
        });
        if let Some(owner) = owner {
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
        "dependencies": dependencies(plan, &root),
    });
    let mut text =
        serde_json::to_vec_pretty(&document).expect("strings, lists and maps of strings serialize");
    text.push(b'\n');
    text
}

fn hashes(digest: &str) -> Value {
    json!([{"alg": "SHA-256", "content": digest}])
}

/// Returns the `bom-ref` of a grafted library.
fn reference(plan: &RepairChanges, graft_name: &str) -> String {
    format!("file:{}/{graft_name}", plan.library_dir)
}

/// Returns the dependencies: the wheel needs the libraries that its files need or that no other
/// library does, and the libraries need each other.
fn dependencies(plan: &RepairChanges, root: &str) -> Vec<Value> {
    let needed_by_files: BTreeSet<&str> = plan.edits.values().flat_map(needed_grafts).collect();
    let needed_by_grafts: BTreeSet<&str> = plan
        .grafts
        .iter()
        .flat_map(|graft| needed_grafts(&graft.edits))
        .collect();
    let direct: BTreeSet<&str> = plan
        .grafts
        .iter()
        .map(|graft| graft.name.as_str())
        .filter(|name| needed_by_files.contains(name) || !needed_by_grafts.contains(name))
        .collect();
    std::iter::once(dependency(plan, root, &direct))
        .chain(plan.grafts.iter().map(|graft| {
            let from = reference(plan, &graft.name);
            dependency(plan, &from, &needed_grafts(&graft.edits))
        }))
        .collect()
}

fn dependency(plan: &RepairChanges, from: &str, grafts: &BTreeSet<&str>) -> Value {
    let references: Vec<String> = grafts.iter().map(|name| reference(plan, name)).collect();
    json!({"ref": from, "dependsOn": references})
}

/// Returns the names of the grafts that a file needs with these edits.
fn needed_grafts(edits: &ElfEdits) -> BTreeSet<&str> {
    edits.rename_needed.values().map(String::as_str).collect()
}
