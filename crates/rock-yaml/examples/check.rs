//! Checks a YAML text against a shape, and prints the diagnostics, the JSON Schema and the tables
//! of a reference page.

#![expect(clippy::print_stdout, reason = "an example prints its result")]

use rock_diagnostic::{Sink, SourceText, render};
use rock_yaml::shape::{FieldShape, RecordShape, Shape, check, json_schema, reference_tables};

const PYTHON: Shape = Shape::List(&Shape::Text);
const CACHE: Shape = Shape::Word(&["on", "off"]);

static BUILD: RecordShape = RecordShape {
    name: "build file",
    fields: &[
        FieldShape::required("python", PYTHON, "The Python versions to build for."),
        FieldShape::optional("cache", CACHE, "on", "Whether to reuse earlier builds."),
    ],
};

fn main() {
    let source = SourceText::new("build.yaml", "python: 3.10\ncahce: off\n");
    let shape = Shape::Record(&BUILD);
    let mut sink = Sink::new();
    if let Some(root) = rock_yaml::parse(&source, &mut sink) {
        check(&root, &shape, &source, &mut sink);
    }
    print!("{}", render::human(&sink.finish(), false));
    println!("{:#}\n", json_schema(&shape));
    print!("{}", reference_tables(&BUILD, "Fields"));
}
