//! The recipe that users start from.

/// Returns the text of a recipe with this name, which builds the Python project in the working
/// directory. Comments explain its keys.
pub fn starter(name: &str) -> String {
    // YAML reads these words as other values than text.
    let is_word = ["false", "no", "null", "off", "on", "true", "yes"].contains(&name);
    let quote = if is_word { "\"" } else { "" };
    include_str!("../../../templates/starter/recipe.yaml")
        .replace("name: NAME", &format!("name: {quote}{name}{quote}"))
        .replace("NAME", name)
        .replace("MODULE", &name.replace('-', "_"))
}

#[cfg(test)]
mod tests {
    use super::starter;
    use crate::config::recipe::{RecipeSet, from_source};
    use rock_diagnostic::{Sink, SourceText};

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
