//! Text to [`Node`] tree, with every syntax fault as a diagnostic.

use super::Node;
use crate::diagnostic::{Sink, Source};

/// Parses one YAML document. Faults go to the sink; `None` when nothing usable is left.
///
/// Duplicate keys, merge keys, tags, aliases that expand beyond the budget, deep nesting and a second document are
/// faults.
pub fn parse(source: &Source, sink: &mut Sink) -> Option<Node> {
    let _ = (source, sink);
    None
}
