//! Documents that are made of the program's own tables; `ROCK_BLESS=1 cargo test` writes them anew.

use crate::support::{Project, assert_file};

#[test]
fn the_page_of_diagnostics_is_made_of_the_registry() {
    assert_file("docs/diagnostics.md", &rock_matrix::codes::reference());
}

#[test]
fn the_reference_of_matrix_files_is_made_of_their_fields() {
    assert_file(
        "docs/matrix-reference.md",
        &rock_matrix::config::reference(),
    );
}

#[test]
fn each_recipe_has_a_page_that_is_made_of_it() {
    use rock_matrix::config::recipe;
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("matrices/recipes");
    let list = std::fs::read_to_string(folder.join("../../docs/recipes.md")).unwrap();
    for name in recipe::embedded_names() {
        let text = std::fs::read_to_string(folder.join(format!("{name}.yaml"))).unwrap();
        let mut sink = rock_matrix::diagnostic::Sink::new();
        let source =
            rock_matrix::diagnostic::SourceText::new(format!("{name}.yaml"), text.as_str());
        let read = recipe::from_source(&source, &mut sink)
            .unwrap_or_else(|| panic!("{:?}", sink.finish()));
        let unplaced = recipe::RecipeDocument {
            source: None,
            ..read
        };
        assert_eq!(
            *recipe::embedded(name).unwrap(),
            unplaced,
            "{name} reads otherwise from the program"
        );
        assert_file(
            &format!("docs/recipes/{name}.md"),
            &recipe::page(&unplaced, &text),
        );
        assert!(
            list.contains(&format!("(recipes/{name}.md)")),
            "docs/recipes.md does not name {name}"
        );
    }
}

#[test]
fn the_committed_schema_is_what_the_program_prints() {
    let printed = Project::new().run(&["schema"]).exits(0).stdout;
    assert_file("docs/matrix.schema.json", &printed);
    let schema: serde_json::Value = serde_json::from_str(&printed).unwrap();
    for file in [
        "matrices/flash-attn.yaml",
        "matrices/pytorch.yaml",
        "matrices/pytorch-windows.yaml",
        "matrices/aotriton.yaml",
        "examples/quickstart/flash-attn.yaml",
        "examples/quickstart/hip-extension.yaml",
    ] {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
        let value: serde_json::Value =
            serde_yaml::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        assert!(jsonschema::is_valid(&schema, &value), "{file}");
    }
}

/// The codes with which `publish` rejects wheels are listed in the documentation.
#[test]
fn each_code_of_a_rejected_wheel_is_documented() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/publishing.md");
    let text = std::fs::read_to_string(path).unwrap();
    let heading = "\n## Wheels whose names their contents contradict\n";
    let (_, section) = text.split_once(heading).unwrap();
    let (section, _) = section.split_once("\n## ").unwrap();
    for code in rock_matrix::publish::REFUSED_CODES {
        assert!(section.contains(code.id), "{}: {section}", code.id);
    }
}
