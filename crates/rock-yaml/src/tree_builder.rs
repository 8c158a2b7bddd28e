//! Parser events to a tree, with an explicit stack.
//!
//! **Invariant:** a tree never nests deeper than [`DEPTH_LIMIT`], aliases included, so
//! that code above may recurse on it.

use std::collections::HashMap;

use super::limits::{
    MAX_ALIAS_BYTES, MAX_ALIAS_VALUES, MAX_DEPTH, MAX_KEY_BYTES, MAX_TEXT_BYTES, MAX_VALUES,
};
use super::{MapKey, Node, NodeValue, Scalar, diagnostics};
use crate::codes::matrix as codes;
use rock_diagnostic::{Diagnostic, Sink, SourceText, Span};

/// A list or mapping that is not closed yet.
struct OpenCollection {
    start: usize,
    anchor: usize,
    open: PartialCollection,
}

enum PartialCollection {
    List(Vec<Node>),
    Map {
        entries: Vec<(MapKey, Node)>,
        positions: HashMap<String, usize>,
        pending: NextNode,
    },
}

/// What the next value of a mapping is.
enum NextNode {
    /// A key.
    Key,
    /// The value of this key.
    Value(MapKey),
    /// The value of a key that was refused.
    Rejected,
}

/// A complete node that aliases may name.
struct AnchoredNode {
    node: Node,
    measure: TreeSize,
}

/// The size of a tree.
#[derive(Debug, Clone, Copy, Default)]
struct TreeSize {
    /// How many values it holds.
    nodes: usize,
    /// How deep it nests.
    depth: usize,
    /// The memory that a copy takes.
    bytes: usize,
}

/// Collects events into a tree.
pub(super) struct TreeBuilder<'a> {
    source: &'a SourceText,
    sink: &'a mut Sink,
    stack: Vec<OpenCollection>,
    anchors: HashMap<usize, AnchoredNode>,
    alias_nodes: usize,
    /// Memory of the copies that anchors keep and aliases are.
    copied_bytes: usize,
    /// Scalars, lists and mappings of the text itself.
    values: usize,
    root: Option<Node>,
    /// Whether nothing was left out that a later check would miss.
    is_whole: bool,
}

impl<'a> TreeBuilder<'a> {
    pub(super) fn new(source: &'a SourceText, sink: &'a mut Sink) -> Self {
        Self {
            source,
            sink,
            stack: Vec::new(),
            anchors: HashMap::new(),
            alias_nodes: 0,
            copied_bytes: 0,
            values: 0,
            root: None,
            is_whole: true,
        }
    }

    pub(super) fn push_fault(&mut self, diagnostic: Diagnostic) {
        self.sink.push(diagnostic);
    }

    /// The tree, `None` for an empty document, and whether nothing was left out of it that later
    /// checks would miss.
    pub(super) fn finish(self) -> (Option<Node>, bool) {
        (
            self.root.filter(|node| node.value != NodeValue::Null),
            self.is_whole,
        )
    }

    /// Each of the following returns `false` when parsing must stop.
    pub(super) fn scalar(&mut self, span: Span, text: &str, plain: bool, anchor: usize) -> bool {
        let longest = if self.wants_key() {
            MAX_KEY_BYTES
        } else {
            MAX_TEXT_BYTES
        };
        if text.len() > longest {
            self.sink.push(diagnostics::too_long(
                self.source,
                span,
                text.len(),
                longest,
            ));
            return false;
        }
        let value =
            if plain && matches!(text, "" | "~" | "null" | "Null" | "NULL") && !self.wants_key() {
                NodeValue::Null
            } else {
                NodeValue::Scalar(Scalar {
                    text: text.to_owned(),
                    plain,
                })
            };
        self.place(Node { span, value }, anchor)
    }

    pub(super) fn open_list(&mut self, span: Span, anchor: usize) -> bool {
        self.open(span, anchor, PartialCollection::List(Vec::new()))
    }

    pub(super) fn open_map(&mut self, span: Span, anchor: usize) -> bool {
        self.open(
            span,
            anchor,
            PartialCollection::Map {
                entries: Vec::new(),
                positions: HashMap::new(),
                pending: NextNode::Key,
            },
        )
    }

    fn open(&mut self, span: Span, anchor: usize, open: PartialCollection) -> bool {
        if self.stack.len() >= MAX_DEPTH {
            self.sink.push(diagnostics::too_deep(self.source, span));
            return false;
        }
        self.stack.push(OpenCollection {
            start: span.start,
            anchor,
            open,
        });
        true
    }

    pub(super) fn close(&mut self, span: Span) -> bool {
        let Some(OpenCollection {
            start,
            anchor,
            open,
        }) = self.stack.pop()
        else {
            return true;
        };
        let (value, last) = match open {
            PartialCollection::List(items) => {
                let last = items.last().map(|node| node.span.end);
                (NodeValue::List(items), last)
            }
            PartialCollection::Map { entries, .. } => {
                let last = entries
                    .last()
                    .map(|(key, node)| node.span.end.max(key.span.end));
                (NodeValue::Map(entries), last)
            }
        };
        // A block collection ends where the parser noticed, lines below: its last value is the
        // better end.
        let end = if span.is_empty() {
            last.unwrap_or(span.end)
        } else {
            span.end
        };
        self.place(
            Node {
                span: start..end.max(start),
                value,
            },
            anchor,
        )
    }

    pub(super) fn alias(&mut self, span: Span, anchor: usize) -> bool {
        let Some(anchored) = self.anchors.get(&anchor) else {
            self.sink.push(diagnostics::self_alias(self.source, span));
            return false;
        };
        let TreeSize {
            nodes,
            depth,
            bytes,
        } = anchored.measure;
        self.alias_nodes += nodes;
        if self.alias_nodes > MAX_ALIAS_VALUES {
            self.sink.push(diagnostics::alias_budget(self.source, span));
            return false;
        }
        self.copied_bytes += bytes;
        if self.copied_bytes > MAX_ALIAS_BYTES {
            self.sink.push(diagnostics::alias_bytes(self.source, span));
            return false;
        }
        if self.stack.len() + depth > MAX_DEPTH {
            self.sink.push(diagnostics::too_deep(self.source, span));
            return false;
        }
        let value = anchored.node.value.clone();
        self.put(Node { span, value });
        true
    }

    fn wants_key(&self) -> bool {
        matches!(
            self.stack.last(),
            Some(OpenCollection {
                open: PartialCollection::Map {
                    pending: NextNode::Key,
                    ..
                },
                ..
            })
        )
    }

    fn place(&mut self, node: Node, anchor: usize) -> bool {
        self.values += 1;
        if self.values > MAX_VALUES {
            self.sink
                .push(diagnostics::too_many_values(self.source, node.span));
            return false;
        }
        if anchor != 0 {
            let measure = tree_size(&node);
            self.copied_bytes += measure.bytes;
            if self.copied_bytes > MAX_ALIAS_BYTES {
                self.sink
                    .push(diagnostics::alias_bytes(self.source, node.span));
                return false;
            }
            self.anchors.insert(
                anchor,
                AnchoredNode {
                    node: node.clone(),
                    measure,
                },
            );
        }
        self.put(node);
        true
    }

    fn put(&mut self, node: Node) {
        match self.stack.last_mut().map(|frame| &mut frame.open) {
            None => self.root = Some(node),
            Some(PartialCollection::List(items)) => items.push(node),
            Some(PartialCollection::Map {
                entries,
                positions: places,
                pending,
            }) => {
                *pending = match std::mem::replace(pending, NextNode::Key) {
                    NextNode::Key => match key(node, self.source) {
                        Err(diagnostic) => {
                            self.is_whole &= ![codes::KEY_NOT_TEXT.id, codes::TOO_LONG.id]
                                .contains(&diagnostic.code.id);
                            self.sink.push(diagnostic);
                            NextNode::Rejected
                        }
                        Ok(key) => match places.get(&key.text) {
                            Some(&first) => {
                                let first =
                                    entries.get(first).map_or(0..0, |(key, _)| key.span.clone());
                                self.sink.push(diagnostics::duplicate_key(
                                    self.source,
                                    &key,
                                    first,
                                ));
                                NextNode::Rejected
                            }
                            None => {
                                places.insert(key.text.clone(), entries.len());
                                NextNode::Value(key)
                            }
                        },
                    },
                    NextNode::Value(key) => {
                        entries.push((key, node));
                        NextNode::Key
                    }
                    NextNode::Rejected => NextNode::Key,
                };
            }
        }
    }
}

fn key(node: Node, source: &SourceText) -> Result<MapKey, Diagnostic> {
    match node.value {
        NodeValue::Scalar(Scalar { text, plain: true }) if text == "<<" => {
            Err(diagnostics::merge_key(source, node.span))
        }
        // An alias of a long text.
        NodeValue::Scalar(Scalar { text, .. }) if text.len() > MAX_KEY_BYTES => Err(
            diagnostics::too_long(source, node.span, text.len(), MAX_KEY_BYTES),
        ),
        NodeValue::Scalar(Scalar { text, .. }) => Ok(MapKey {
            span: node.span,
            text,
        }),
        _ => Err(diagnostics::key_not_text(source, node.span)),
    }
}

/// Returns the size of a tree. Trees here are at most `DEPTH_LIMIT` deep.
fn tree_size(node: &Node) -> TreeSize {
    let own = TreeSize {
        nodes: 1,
        depth: 0,
        bytes: size_of::<Node>(),
    };
    let add = |whole: TreeSize, one: TreeSize| TreeSize {
        nodes: whole.nodes + one.nodes,
        depth: whole.depth.max(one.depth + 1),
        bytes: whole.bytes + one.bytes,
    };
    match &node.value {
        NodeValue::Null => own,
        NodeValue::Scalar(scalar) => TreeSize {
            bytes: own.bytes + scalar.text.len(),
            ..own
        },
        NodeValue::List(items) => items
            .iter()
            .map(tree_size)
            .fold(TreeSize { depth: 1, ..own }, add),
        NodeValue::Map(entries) => {
            let keys: usize = entries
                .iter()
                .map(|(key, _)| size_of::<MapKey>() + key.text.len())
                .sum();
            let own = TreeSize {
                depth: 1,
                bytes: own.bytes + keys,
                ..own
            };
            entries
                .iter()
                .map(|(_, value)| tree_size(value))
                .fold(own, add)
        }
    }
}
