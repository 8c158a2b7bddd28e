//! Matrix files and recipe files as YAML trees.

use std::path::Path;

use rock_diagnostic::{Sink, SourceText};
use rock_yaml::{self as yaml, Node};

/// The help for an empty recipe file.
const EMPTY_RECIPE_HELP: &str = "write a recipe, or remove the file and create one with \
    `rock-matrix recipe new NAME`; `rock-matrix help recipes` explains the format";

/// A file that was parsed once, before it is checked as a matrix file or a recipe.
#[derive(Debug)]
pub struct ParsedFile {
    /// The text of the file.
    pub(super) source: SourceText,
    /// `None` after an error that leaves no usable tree.
    pub(super) tree: Option<Node>,
    /// Whether the parser reported errors.
    pub(super) has_errors: bool,
}

impl ParsedFile {
    /// Parses a file that may be a matrix file or a recipe. Errors go to the sink.
    pub fn parse(source: SourceText, sink: &mut Sink) -> Self {
        Self::parsed(source, yaml::parse, sink)
    }

    /// Parses a file of a recipe directory. Errors go to the sink.
    pub fn parse_recipe(source: SourceText, sink: &mut Sink) -> Self {
        let parse = |source: &SourceText, sink: &mut Sink| {
            yaml::parse_with_help(source, EMPTY_RECIPE_HELP, sink)
        };
        Self::parsed(source, parse, sink)
    }

    fn parsed(
        source: SourceText,
        parse: impl FnOnce(&SourceText, &mut Sink) -> Option<Node>,
        sink: &mut Sink,
    ) -> Self {
        let errors = sink.error_count();
        let tree = parse(&source, sink);
        Self {
            source,
            tree,
            has_errors: sink.error_count() > errors,
        }
    }

    /// Whether the file is a recipe, and not a matrix file: it has `steps`, or else a name and
    /// neither `version` nor `axes`. `None` if there is no tree.
    pub fn is_recipe(&self) -> Option<bool> {
        let root = self.tree.as_ref()?;
        let has = |key: &str| root.get(key).is_some();
        let is_named = has("recipe") && has("name") && !has("version") && !has("axes");
        Some(has("steps") || is_named)
    }

    /// Returns the name of a recipe file, whatever errors it has: the declared one, or else the
    /// stem of the filename.
    pub fn recipe_name(&self) -> Option<String> {
        let declared = self.tree.as_ref().and_then(|root| root.get("name")?.text());
        let stem = || Path::new(&*self.source.path).file_stem()?.to_str();
        declared.or_else(stem).map(str::to_owned)
    }

    /// Returns the path of the file.
    pub fn path(&self) -> &str {
        &self.source.path
    }
}
