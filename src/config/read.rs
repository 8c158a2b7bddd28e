//! A matrix file from text to [`Config`], with every fault of the file.
//!
//! Input: a [`Source`] and what is known of the rest of the world ([`Lookups`]). Output: a checked value, or
//! diagnostics.
//!
//! **Invariant:** a part that the structural check refused yields no second fault here.

mod axes;
mod cells;
mod complete;
mod fields;
mod gfx;
mod numbers;
mod place_all;
mod texts;

use super::fields::MATRIX_FILE;
use super::{Config, Lookups, Places};
use crate::diagnostic::{Code, Diagnostic, Sink, Source};
use crate::yaml::{self, Node, Value};

/// Reads one matrix file. Every fault goes to the sink; `None` when there was an error among them.
pub fn read(source: &Source, lookups: &Lookups, sink: &mut Sink) -> Option<Config> {
    let errors = sink.error_count();
    let tree = yaml::parse(source, sink)?;
    yaml::shape::check(&tree, &MATRIX_FILE, source, sink);
    texts::check_characters(&tree, source, sink);
    if !matches!(tree.value, Value::Map(_)) {
        return None;
    }
    numbers::note_unquoted(&tree, source, sink);
    let mut places = Places::new(source.clone());
    place_all::insert(&tree, source, &mut places);
    let whole = complete::complete(&tree, &MATRIX_FILE);
    let config = Reader { source, lookups, sink }.config(&whole, places);
    config.filter(|_| sink.error_count() == errors)
}

/// Reads the parts of one file, each into its checked form.
struct Reader<'a> {
    source: &'a Source,
    lookups: &'a Lookups,
    sink: &'a mut Sink,
}

impl Reader<'_> {
    /// Adds a fault at a value.
    fn fault(&mut self, code: &'static Code, node: &Node, message: impl Into<String>, help: impl Into<String>) {
        self.sink.push(Diagnostic::new(code, message).at(self.source.place(node.span.clone()), "").help(help));
    }

    /// Adds a fault that has more to say than one place and a help.
    fn push(&mut self, diagnostic: Diagnostic) {
        self.sink.push(diagnostic);
    }
}

/// The text under a key; empty when it is absent or of another kind.
fn text<'n>(node: &'n Node, key: &str) -> &'n str {
    node.get(key).and_then(Node::text).unwrap_or_default()
}

/// The items under a key; none when it is absent or of another kind.
fn items<'n>(node: &'n Node, key: &str) -> &'n [Node] {
    node.get(key).and_then(Node::items).unwrap_or_default()
}

/// The entries under a key; none when it is absent or of another kind.
fn entries<'n>(node: &'n Node, key: &str) -> &'n [(yaml::Key, Node)] {
    node.get(key).and_then(Node::entries).unwrap_or_default()
}
