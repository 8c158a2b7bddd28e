//! The recipe that users start from.

/// Returns the text of a recipe with this name, which builds the Python project in the working
/// directory. Comments explain its keys.
pub fn starter(name: &str) -> String {
    // Quoted if YAML would read it as another value than text, such as `null`.
    let scalar = rock_yaml::to_yaml(&name).expect("a text has a YAML form");
    include_str!("../../../templates/starter/recipe.yaml")
        .replace("name: NAME", &format!("name: {}", scalar.trim_end()))
        .replace("NAME", name)
        .replace("MODULE", &name.replace('-', "_"))
}

#[cfg(test)]
mod tests {
    use super::starter;
    use crate::config::recipe::{RecipeSet, from_source};
    use rock_diagnostic::{Sink, SourceText};

    #[test]
    fn a_name_that_yaml_reads_as_another_value_is_quoted() {
        assert!(starter("null").contains("\nname: 'null'\n"));
        assert!(starter("my-kernels").contains("\nname: my-kernels\n"));
    }

    #[test]
    fn the_starter_is_a_valid_recipe_with_a_summary_and_a_described_variable() {
        let mut sink = Sink::new();
        let source = SourceText::new("my-kernels.yaml", starter("my-kernels"));
        let document = from_source(&source, &mut sink);
        assert!(sink.is_empty(), "{:?}", sink.finish());
        let recipes = RecipeSet::with_shipped(document);
        let overview = recipes.overview("my-kernels").unwrap().unwrap();
        assert_eq!(overview.summary(), "Builds my-kernels from its source code");
        assert_eq!(
            overview.variables[0].meaning,
            "Directory of the source code, relative to the working directory."
        );
    }
}
