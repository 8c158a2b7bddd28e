//! The version of the program, the major tag of its action, and what files of the repository name
//! agree.

use crate::{none, sources};

const VERSION: &str = env!("CARGO_PKG_VERSION");
/// Documents show the major tag, which the release job moves.
const DOCUMENTS: [&str; 3] = ["README.md", "docs/", "examples/"];

/// Faults of one file: references to the action that neither name this version nor its major tag.
fn reference_faults(path: &str, text: &str) -> Vec<String> {
    let major = VERSION.split('.').next().unwrap();
    let named = regex::Regex::new(r"org/rock-action@(v[0-9][0-9A-Za-z.-]*)").unwrap();
    let is_document = DOCUMENTS.iter().any(|folder| path.starts_with(folder));
    let is_right =
        |tag: &str| tag == format!("v{major}") || (!is_document && tag == format!("v{VERSION}"));
    let found = named
        .captures_iter(text)
        .map(|found| found[1].trim_end_matches('.').to_owned());
    found
        .filter(|tag| !is_right(tag))
        .map(|tag| format!("{path} names the action by {tag}"))
        .collect()
}

#[test]
fn files_name_the_action_by_this_version_or_its_major_tag() {
    let files = sources::all();
    let is_text = |path: &str| {
        [".md", ".yml", ".yaml", ".sh"]
            .iter()
            .any(|end| path.ends_with(end))
    };
    let own = files.iter().filter(|file| is_text(&file.path));
    none(
        "references",
        &own.flat_map(|file| reference_faults(&file.path, &file.text))
            .collect::<Vec<_>>(),
    );
    let readme = files.iter().find(|file| file.path == "README.md").unwrap();
    assert!(readme.text.contains(&format!(
        "org/rock-action@v{}\n",
        VERSION.split('.').next().unwrap()
    )));

    assert_eq!(
        reference_faults("README.md", "uses: org/rock-action@v0").len(),
        1
    );
    assert_eq!(
        reference_faults("README.md", &format!("org/rock-action@v{VERSION}")).len(),
        1
    );
    assert_eq!(
        reference_faults("tests/x.yml", &format!("org/rock-action@v{VERSION} # x")).len(),
        0
    );
}

#[test]
fn the_lock_file_and_the_rendered_workflow_have_this_version() {
    let files = sources::all();
    let text = |path: &str| &files.iter().find(|file| file.path == path).unwrap().text;
    let package = format!(
        "name = \"rock-matrix\"
version = \"{VERSION}\"
"
    );
    assert!(text("Cargo.lock").contains(&package));
    let first = text(".github/workflows/wheels.yml").lines().next().unwrap();
    assert!(
        first.starts_with(&format!("# Rendered by rock-matrix {VERSION} from ")),
        "{first}"
    );
    // The major tag is made of the tag of the release.
    assert!(!VERSION.starts_with("0."), "the major tag would be v0");
}
