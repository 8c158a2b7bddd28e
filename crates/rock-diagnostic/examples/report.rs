//! Prints one diagnostic for people, as JSON and as a GitHub annotation.

#![expect(clippy::print_stdout, reason = "an example prints its result")]

use rock_diagnostic::render::{GithubAnnotations, human, json};
use rock_diagnostic::{Code, Diagnostic, Sink, SourceText};

static DUPLICATE_KEY: Code = Code::error(
    "M001",
    "duplicate-key",
    "Readers disagree on which of two equal keys wins.",
);

fn main() {
    let source = SourceText::new("build.yaml", "jobs: 8\ncache: on\njobs: 4\n");
    let mut sink = Sink::new();
    sink.push(
        Diagnostic::new(&DUPLICATE_KEY, "the key `jobs` occurs twice")
            .at(source.location(18..22), "again here")
            .also(source.location(0..4), "first here")
            .help("remove one of them"),
    );
    let diagnostics = sink.finish();
    print!("{}", human(&diagnostics, false));
    print!("{}", json(&diagnostics));
    let file_path = |path: &str| Some(path.to_owned());
    let annotations = GithubAnnotations::default().commands(&diagnostics, file_path);
    print!("{annotations}");
}
