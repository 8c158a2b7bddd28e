//! The builder of a tree from parser events.
//!
//! **Invariant:** a tree is at most [`MAX_DEPTH`] deep, including aliases, so that other code can
//! recurse on it; the builder itself has an explicit stack.

use std::collections::HashMap;

use super::limits::{
    MAX_ALIAS_BYTES, MAX_ALIAS_VALUES, MAX_DEPTH, MAX_KEY_BYTES, MAX_TEXT_BYTES, MAX_VALUES,
};
use super::{MapKey, Node, NodeValue, Scalar, diagnostics};
use crate::codes::matrix as codes;
use rock_diagnostic::{Diagnostic, Sink, SourceText, Span};

/// A list or mapping that is not closed yet.
struct OpenCollection {
    /// The byte offset of the start.
    start: usize,
    /// The ID of the anchor, 0 without one.
    anchor: usize,
    contents: PartialCollection,
}

/// The part of a list or mapping that was read so far.
enum PartialCollection {
    List(Vec<Node>),
    Map {
        entries: Vec<(MapKey, Node)>,
        /// The index in `entries` of each key.
        positions: HashMap<String, usize>,
        next: NextNode,
    },
}

/// The role of the next node of a mapping.
enum NextNode {
    /// A key.
    Key,
    /// The value of this key.
    Value(MapKey),
    /// The value of a rejected key, which is dropped.
    RejectedValue,
}

/// A complete node with an anchor.
struct AnchoredNode {
    node: Node,
    size: TreeSize,
}

/// The size of a tree.
#[derive(Debug, Clone, Copy, Default)]
struct TreeSize {
    /// The number of values.
    nodes: usize,
    /// The levels of lists and mappings.
    depth: usize,
    /// The memory in bytes that a copy takes.
    bytes: usize,
}

impl TreeSize {
    /// Returns the size of a collection with one more child.
    fn with_child(self, child: Self) -> Self {
        Self {
            nodes: self.nodes + child.nodes,
            depth: self.depth.max(child.depth + 1),
            bytes: self.bytes + child.bytes,
        }
    }
}

/// Builds a tree from the events of the parser.
///
/// The methods for events return the diagnostic of an error with which parsing must stop; other
/// diagnostics are added to the sink.
pub(super) struct TreeBuilder<'a> {
    source: &'a SourceText,
    sink: &'a mut Sink,
    stack: Vec<OpenCollection>,
    anchors: HashMap<usize, AnchoredNode>,
    /// The number of values that aliases added.
    alias_nodes: usize,
    /// The memory in bytes of the copies that anchors and aliases made.
    copied_bytes: usize,
    /// The number of scalars, lists and mappings, not counting copies.
    values: usize,
    root: Option<Node>,
    /// Whether no key was dropped that a later check would report as missing.
    is_complete: bool,
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
            is_complete: true,
        }
    }

    pub(super) fn push_diagnostic(&mut self, diagnostic: Diagnostic) {
        self.sink.push(diagnostic);
    }

    /// Returns the tree, `None` for an empty document, and whether no key was dropped that a later
    /// check would report as missing.
    pub(super) fn finish(self) -> (Option<Node>, bool) {
        (
            self.root.filter(|node| node.value != NodeValue::Null),
            self.is_complete,
        )
    }

    pub(super) fn scalar(
        &mut self,
        span: Span,
        text: &str,
        plain: bool,
        anchor: usize,
    ) -> Result<(), Diagnostic> {
        let limit = if self.expects_key() {
            MAX_KEY_BYTES
        } else {
            MAX_TEXT_BYTES
        };
        if text.len() > limit {
            return Err(diagnostics::too_long(self.source, span, text.len(), limit));
        }
        let value = if plain
            && matches!(text, "" | "~" | "null" | "Null" | "NULL")
            && !self.expects_key()
        {
            NodeValue::Null
        } else {
            NodeValue::Scalar(Scalar {
                text: text.to_owned(),
                plain,
            })
        };
        self.add(Node { span, value }, anchor)
    }

    pub(super) fn open_list(&mut self, span: Span, anchor: usize) -> Result<(), Diagnostic> {
        self.open(span, anchor, PartialCollection::List(Vec::new()))
    }

    pub(super) fn open_map(&mut self, span: Span, anchor: usize) -> Result<(), Diagnostic> {
        self.open(
            span,
            anchor,
            PartialCollection::Map {
                entries: Vec::new(),
                positions: HashMap::new(),
                next: NextNode::Key,
            },
        )
    }

    fn open(
        &mut self,
        span: Span,
        anchor: usize,
        contents: PartialCollection,
    ) -> Result<(), Diagnostic> {
        if self.stack.len() >= MAX_DEPTH {
            return Err(diagnostics::too_deep(self.source, span));
        }
        self.stack.push(OpenCollection {
            start: span.start,
            anchor,
            contents,
        });
        Ok(())
    }

    pub(super) fn close(&mut self, span: Span) -> Result<(), Diagnostic> {
        let Some(OpenCollection {
            start,
            anchor,
            contents,
        }) = self.stack.pop()
        else {
            return Ok(());
        };
        let (value, last) = match contents {
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
        // The parser ends a block collection at the token after it; the end of its last value is
        // better.
        let end = if span.is_empty() {
            last.unwrap_or(span.end)
        } else {
            span.end
        };
        self.add(
            Node {
                span: start..end.max(start),
                value,
            },
            anchor,
        )
    }

    pub(super) fn alias(&mut self, span: Span, anchor: usize) -> Result<(), Diagnostic> {
        let Some(anchored) = self.anchors.get(&anchor) else {
            return Err(diagnostics::self_alias(self.source, span));
        };
        let TreeSize {
            nodes,
            depth,
            bytes,
        } = anchored.size;
        self.alias_nodes += nodes;
        if self.alias_nodes > MAX_ALIAS_VALUES {
            return Err(diagnostics::alias_budget(self.source, span));
        }
        self.copied_bytes += bytes;
        if self.copied_bytes > MAX_ALIAS_BYTES {
            return Err(diagnostics::alias_bytes(self.source, span));
        }
        if self.stack.len() + depth > MAX_DEPTH {
            return Err(diagnostics::too_deep(self.source, span));
        }
        let value = anchored.node.value.clone();
        self.insert(Node { span, value });
        Ok(())
    }

    fn expects_key(&self) -> bool {
        matches!(
            self.stack.last(),
            Some(OpenCollection {
                contents: PartialCollection::Map {
                    next: NextNode::Key,
                    ..
                },
                ..
            })
        )
    }

    /// Adds a node of the text and registers its anchor.
    fn add(&mut self, node: Node, anchor: usize) -> Result<(), Diagnostic> {
        self.values += 1;
        if self.values > MAX_VALUES {
            return Err(diagnostics::too_many_values(self.source, node.span));
        }
        if anchor != 0 {
            let size = tree_size(&node);
            self.copied_bytes += size.bytes;
            if self.copied_bytes > MAX_ALIAS_BYTES {
                return Err(diagnostics::alias_bytes(self.source, node.span));
            }
            self.anchors.insert(
                anchor,
                AnchoredNode {
                    node: node.clone(),
                    size,
                },
            );
        }
        self.insert(node);
        Ok(())
    }

    /// Inserts a node into the innermost open collection.
    fn insert(&mut self, node: Node) {
        match self.stack.last_mut().map(|frame| &mut frame.contents) {
            None => self.root = Some(node),
            Some(PartialCollection::List(items)) => items.push(node),
            Some(PartialCollection::Map {
                entries,
                positions: places,
                next,
            }) => {
                *next = match std::mem::replace(next, NextNode::Key) {
                    NextNode::Key => match to_key(node, self.source) {
                        Err(diagnostic) => {
                            self.is_complete &= ![codes::KEY_NOT_TEXT.id, codes::TOO_LONG.id]
                                .contains(&diagnostic.code.id);
                            self.sink.push(diagnostic);
                            NextNode::RejectedValue
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
                                NextNode::RejectedValue
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
                    NextNode::RejectedValue => NextNode::Key,
                };
            }
        }
    }
}

/// Converts a node to a key.
fn to_key(node: Node, source: &SourceText) -> Result<MapKey, Diagnostic> {
    match node.value {
        NodeValue::Scalar(Scalar { text, plain: true }) if text == "<<" => {
            Err(diagnostics::merge_key(source, node.span))
        }
        // The text of an alias can be longer than a key of the text itself.
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

/// Measures a tree. The recursion is bounded by [`MAX_DEPTH`].
fn tree_size(node: &Node) -> TreeSize {
    let own = TreeSize {
        nodes: 1,
        depth: 0,
        bytes: size_of::<Node>(),
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
            .fold(TreeSize { depth: 1, ..own }, TreeSize::with_child),
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
                .fold(own, TreeSize::with_child)
        }
    }
}
