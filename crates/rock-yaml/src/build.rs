//! Parser events to a tree, with an explicit stack.
//!
//! **Invariant:** a tree never nests deeper than [`DEPTH_LIMIT`], aliases included, so
//! that code above may recurse on it.

use std::collections::HashMap;

use super::limits::{
    ALIAS_BUDGET, ALIAS_BUDGET_BYTES, DEPTH_LIMIT, LONGEST_KEY_BYTES, LONGEST_TEXT_BYTES,
    MOST_VALUES,
};
use super::{Key, Node, Scalar, Value, fault};
use crate::codes::matrix as codes;
use rock_diagnostic::{Diagnostic, Sink, Source, Span};

/// A list or mapping that is not closed yet.
struct Frame {
    start: usize,
    anchor: usize,
    open: Open,
}

enum Open {
    List(Vec<Node>),
    Map {
        entries: Vec<(Key, Node)>,
        places: HashMap<String, usize>,
        pending: Pending,
    },
}

/// What the next value of a mapping is.
enum Pending {
    /// A key.
    Key,
    /// The value of this key.
    Value(Key),
    /// The value of a key that was refused.
    Refused,
}

/// A complete node that aliases may name.
struct Anchored {
    node: Node,
    measure: Measure,
}

/// The size of a tree.
#[derive(Debug, Clone, Copy, Default)]
struct Measure {
    /// How many values it holds.
    nodes: usize,
    /// How deep it nests.
    depth: usize,
    /// The memory that a copy takes.
    bytes: usize,
}

/// Collects events into a tree.
pub(super) struct Builder<'a> {
    source: &'a Source,
    sink: &'a mut Sink,
    stack: Vec<Frame>,
    anchors: HashMap<usize, Anchored>,
    alias_nodes: usize,
    /// Memory of the copies that anchors keep and aliases are.
    copied_bytes: usize,
    /// Scalars, lists and mappings of the text itself.
    values: usize,
    root: Option<Node>,
    /// Whether nothing was left out that a later check would miss.
    is_whole: bool,
}

impl<'a> Builder<'a> {
    pub(super) fn new(source: &'a Source, sink: &'a mut Sink) -> Self {
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
            self.root.filter(|node| node.value != Value::Null),
            self.is_whole,
        )
    }

    /// Each of the following returns `false` when parsing must stop.
    pub(super) fn scalar(&mut self, span: Span, text: &str, plain: bool, anchor: usize) -> bool {
        let longest = if self.wants_key() {
            LONGEST_KEY_BYTES
        } else {
            LONGEST_TEXT_BYTES
        };
        if text.len() > longest {
            self.sink
                .push(fault::too_long(self.source, span, text.len(), longest));
            return false;
        }
        let value =
            if plain && matches!(text, "" | "~" | "null" | "Null" | "NULL") && !self.wants_key() {
                Value::Null
            } else {
                Value::Scalar(Scalar {
                    text: text.to_owned(),
                    plain,
                })
            };
        self.place(Node { span, value }, anchor)
    }

    pub(super) fn open_list(&mut self, span: Span, anchor: usize) -> bool {
        self.open(span, anchor, Open::List(Vec::new()))
    }

    pub(super) fn open_map(&mut self, span: Span, anchor: usize) -> bool {
        self.open(
            span,
            anchor,
            Open::Map {
                entries: Vec::new(),
                places: HashMap::new(),
                pending: Pending::Key,
            },
        )
    }

    fn open(&mut self, span: Span, anchor: usize, open: Open) -> bool {
        if self.stack.len() >= DEPTH_LIMIT {
            self.sink.push(fault::too_deep(self.source, span));
            return false;
        }
        self.stack.push(Frame {
            start: span.start,
            anchor,
            open,
        });
        true
    }

    pub(super) fn close(&mut self, span: Span) -> bool {
        let Some(Frame {
            start,
            anchor,
            open,
        }) = self.stack.pop()
        else {
            return true;
        };
        let (value, last) = match open {
            Open::List(items) => {
                let last = items.last().map(|node| node.span.end);
                (Value::List(items), last)
            }
            Open::Map { entries, .. } => {
                let last = entries
                    .last()
                    .map(|(key, node)| node.span.end.max(key.span.end));
                (Value::Map(entries), last)
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
            self.sink.push(fault::self_alias(self.source, span));
            return false;
        };
        let Measure {
            nodes,
            depth,
            bytes,
        } = anchored.measure;
        self.alias_nodes += nodes;
        if self.alias_nodes > ALIAS_BUDGET {
            self.sink.push(fault::alias_budget(self.source, span));
            return false;
        }
        self.copied_bytes += bytes;
        if self.copied_bytes > ALIAS_BUDGET_BYTES {
            self.sink.push(fault::alias_bytes(self.source, span));
            return false;
        }
        if self.stack.len() + depth > DEPTH_LIMIT {
            self.sink.push(fault::too_deep(self.source, span));
            return false;
        }
        let value = anchored.node.value.clone();
        self.put(Node { span, value });
        true
    }

    fn wants_key(&self) -> bool {
        matches!(
            self.stack.last(),
            Some(Frame {
                open: Open::Map {
                    pending: Pending::Key,
                    ..
                },
                ..
            })
        )
    }

    fn place(&mut self, node: Node, anchor: usize) -> bool {
        self.values += 1;
        if self.values > MOST_VALUES {
            self.sink
                .push(fault::too_many_values(self.source, node.span));
            return false;
        }
        if anchor != 0 {
            let measure = measure(&node);
            self.copied_bytes += measure.bytes;
            if self.copied_bytes > ALIAS_BUDGET_BYTES {
                self.sink.push(fault::alias_bytes(self.source, node.span));
                return false;
            }
            self.anchors.insert(
                anchor,
                Anchored {
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
            Some(Open::List(items)) => items.push(node),
            Some(Open::Map {
                entries,
                places,
                pending,
            }) => {
                *pending = match std::mem::replace(pending, Pending::Key) {
                    Pending::Key => match key(node, self.source) {
                        Err(diagnostic) => {
                            self.is_whole &= ![codes::KEY_NOT_TEXT.id, codes::TOO_LONG.id]
                                .contains(&diagnostic.code.id);
                            self.sink.push(diagnostic);
                            Pending::Refused
                        }
                        Ok(key) => match places.get(&key.text) {
                            Some(&first) => {
                                let first =
                                    entries.get(first).map_or(0..0, |(key, _)| key.span.clone());
                                self.sink
                                    .push(fault::duplicate_key(self.source, &key, first));
                                Pending::Refused
                            }
                            None => {
                                places.insert(key.text.clone(), entries.len());
                                Pending::Value(key)
                            }
                        },
                    },
                    Pending::Value(key) => {
                        entries.push((key, node));
                        Pending::Key
                    }
                    Pending::Refused => Pending::Key,
                };
            }
        }
    }
}

fn key(node: Node, source: &Source) -> Result<Key, Diagnostic> {
    match node.value {
        Value::Scalar(Scalar { text, plain: true }) if text == "<<" => {
            Err(fault::merge_key(source, node.span))
        }
        // An alias of a long text.
        Value::Scalar(Scalar { text, .. }) if text.len() > LONGEST_KEY_BYTES => Err(
            fault::too_long(source, node.span, text.len(), LONGEST_KEY_BYTES),
        ),
        Value::Scalar(Scalar { text, .. }) => Ok(Key {
            span: node.span,
            text,
        }),
        _ => Err(fault::key_not_text(source, node.span)),
    }
}

/// Returns the size of a tree. Trees here are at most `DEPTH_LIMIT` deep.
fn measure(node: &Node) -> Measure {
    let own = Measure {
        nodes: 1,
        depth: 0,
        bytes: size_of::<Node>(),
    };
    let add = |whole: Measure, one: Measure| Measure {
        nodes: whole.nodes + one.nodes,
        depth: whole.depth.max(one.depth + 1),
        bytes: whole.bytes + one.bytes,
    };
    match &node.value {
        Value::Null => own,
        Value::Scalar(scalar) => Measure {
            bytes: own.bytes + scalar.text.len(),
            ..own
        },
        Value::List(items) => items
            .iter()
            .map(measure)
            .fold(Measure { depth: 1, ..own }, add),
        Value::Map(entries) => {
            let keys: usize = entries
                .iter()
                .map(|(key, _)| size_of::<Key>() + key.text.len())
                .sum();
            let own = Measure {
                depth: 1,
                bytes: own.bytes + keys,
                ..own
            };
            entries
                .iter()
                .map(|(_, value)| measure(value))
                .fold(own, add)
        }
    }
}
