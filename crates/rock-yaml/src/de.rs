//! Deserialization of [`Node`] trees with serde.
//!
//! The target type decides how a scalar is read: a `String` gets the text as written, a number or
//! boolean is parsed. For types that accept any value, such as untagged enums, a plain scalar is a
//! boolean if it is `true` or `false`, an `i64` if formatting it gives the same text (`8`, not
//! `08`), and otherwise text.
//!
//! **Invariant:** `3.10` without quotes is text for every type except floats.

use serde::de::value::StrDeserializer;
use serde::de::{self, DeserializeSeed, IntoDeserializer, Visitor};
use serde::forward_to_deserialize_any;

use super::{MapKey, Node, NodeValue, Scalar};
use rock_diagnostic::Span;

/// A value that does not fit the target type, with its location.
#[derive(Debug, Clone, thiserror::Error, PartialEq, Eq)]
#[error("{message}")]
pub struct FromNodeError {
    /// The byte range of the value or key in the source text.
    pub span: Span,
    /// The problem, such as ``expected a number, found `many` ``.
    pub message: String,
}

/// Deserializes a tree into a typed value.
///
/// # Errors
/// Returns the first value that does not fit the type.
///
/// ```
/// use rock_diagnostic::{Sink, SourceText};
///
/// let source = SourceText::new("m.yaml", "python: [3.10, 3.12]\n");
/// let root = rock_yaml::parse(&source, &mut Sink::new()).unwrap();
/// let file: std::collections::BTreeMap<String, Vec<String>> = rock_yaml::de::from_node(&root)?;
/// assert_eq!(file["python"], ["3.10", "3.12"]);
/// # Ok::<(), rock_yaml::de::FromNodeError>(())
/// ```
pub fn from_node<T: de::DeserializeOwned>(node: &Node) -> Result<T, FromNodeError> {
    T::deserialize(NodeDeserializer(node)).map_err(|error| FromNodeError {
        span: error.span.unwrap_or_else(|| node.span.clone()),
        message: error.message,
    })
}

/// An error inside the deserializer. The innermost function that knows the location sets it.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
struct ReadError {
    span: Option<Span>,
    message: String,
}

impl ReadError {
    fn at(mut self, span: &Span) -> Self {
        self.span.get_or_insert_with(|| span.clone());
        self
    }
}

impl de::Error for ReadError {
    fn custom<T: std::fmt::Display>(message: T) -> Self {
        Self {
            span: None,
            message: message.to_string(),
        }
    }
}

/// A serde deserializer of a node.
#[derive(Clone, Copy)]
struct NodeDeserializer<'n>(&'n Node);

impl<'n> NodeDeserializer<'n> {
    /// Creates the error for another kind than the expected one.
    fn mismatch(self, expected: &str) -> ReadError {
        let found = match &self.0.value {
            NodeValue::Scalar(scalar) => format!("`{}`", scalar.text),
            _ => self.0.kind().to_owned(),
        };
        ReadError {
            span: Some(self.0.span.clone()),
            message: format!("expected {expected}, found {found}"),
        }
    }

    fn number<T: std::str::FromStr>(self) -> Result<T, ReadError> {
        match &self.0.value {
            NodeValue::Scalar(Scalar { text, plain: true }) => text.parse().ok(),
            _ => None,
        }
        .ok_or_else(|| self.mismatch("a number"))
    }

    fn scalar(self) -> Result<&'n str, ReadError> {
        self.0.text().ok_or_else(|| self.mismatch("a string"))
    }

    fn list<V: Visitor<'n>>(self, items: &'n [Node], visitor: V) -> Result<V::Value, ReadError> {
        let mut access = ListReader(items.iter());
        let value = visitor.visit_seq(&mut access)?;
        if access.0.len() == 0 {
            Ok(value)
        } else {
            Err(self.mismatch("fewer items"))
        }
    }
}

/// Parses a plain scalar whose number formats to the same text: `8`, but not `08` or `+8`.
fn whole_number(scalar: &Scalar) -> Option<i64> {
    let number: i64 = scalar.text.parse().ok().filter(|_| scalar.plain)?;
    (number.to_string() == scalar.text).then_some(number)
}

macro_rules! numbers {
    ($($method:ident $visit:ident),+ $(,)?) => {
        $(fn $method<V: Visitor<'n>>(self, visitor: V) -> Result<V::Value, ReadError> {
            visitor.$visit(self.number()?).map_err(|error: ReadError| error.at(&self.0.span))
        })+
    };
}

impl<'n> de::Deserializer<'n> for NodeDeserializer<'n> {
    type Error = ReadError;

    fn deserialize_any<V: Visitor<'n>>(self, visitor: V) -> Result<V::Value, ReadError> {
        match &self.0.value {
            NodeValue::Null => visitor.visit_unit(),
            NodeValue::List(items) => self.list(items, visitor),
            NodeValue::Map(entries) => visitor.visit_map(MapReader {
                rest: entries.iter(),
                value: None,
            }),
            NodeValue::Scalar(scalar) => match (self.0.boolean(), whole_number(scalar)) {
                (Some(truth), _) => visitor.visit_bool(truth),
                (None, Some(number)) => visitor.visit_i64(number),
                (None, None) => visitor.visit_borrowed_str(&scalar.text),
            },
        }
        .map_err(|error| error.at(&self.0.span))
    }

    fn deserialize_bool<V: Visitor<'n>>(self, visitor: V) -> Result<V::Value, ReadError> {
        visitor.visit_bool(
            self.0
                .boolean()
                .ok_or_else(|| self.mismatch("`true` or `false`"))?,
        )
    }

    numbers! {
        deserialize_i8 visit_i8, deserialize_i16 visit_i16, deserialize_i32 visit_i32, deserialize_i64 visit_i64,
        deserialize_u8 visit_u8, deserialize_u16 visit_u16, deserialize_u32 visit_u32, deserialize_u64 visit_u64,
        deserialize_f32 visit_f32, deserialize_f64 visit_f64,
    }

    fn deserialize_str<V: Visitor<'n>>(self, visitor: V) -> Result<V::Value, ReadError> {
        visitor
            .visit_borrowed_str(self.scalar()?)
            .map_err(|error: ReadError| error.at(&self.0.span))
    }

    fn deserialize_string<V: Visitor<'n>>(self, visitor: V) -> Result<V::Value, ReadError> {
        self.deserialize_str(visitor)
    }

    fn deserialize_char<V: Visitor<'n>>(self, visitor: V) -> Result<V::Value, ReadError> {
        self.deserialize_str(visitor)
    }

    fn deserialize_identifier<V: Visitor<'n>>(self, visitor: V) -> Result<V::Value, ReadError> {
        self.deserialize_str(visitor)
    }

    fn deserialize_option<V: Visitor<'n>>(self, visitor: V) -> Result<V::Value, ReadError> {
        if self.0.value == NodeValue::Null {
            visitor.visit_none()
        } else {
            visitor.visit_some(self)
        }
    }

    fn deserialize_unit<V: Visitor<'n>>(self, visitor: V) -> Result<V::Value, ReadError> {
        if self.0.value == NodeValue::Null {
            visitor.visit_unit()
        } else {
            Err(self.mismatch("nothing"))
        }
    }

    fn deserialize_unit_struct<V: Visitor<'n>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        self.deserialize_unit(visitor)
    }

    fn deserialize_newtype_struct<V: Visitor<'n>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'n>>(self, visitor: V) -> Result<V::Value, ReadError> {
        let items = self.0.items().ok_or_else(|| self.mismatch("a list"))?;
        self.list(items, visitor)
            .map_err(|error| error.at(&self.0.span))
    }

    fn deserialize_tuple<V: Visitor<'n>>(
        self,
        _: usize,
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'n>>(
        self,
        _: &'static str,
        _: usize,
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_map<V: Visitor<'n>>(self, visitor: V) -> Result<V::Value, ReadError> {
        let entries = self.0.entries().ok_or_else(|| self.mismatch("a mapping"))?;
        visitor
            .visit_map(MapReader {
                rest: entries.iter(),
                value: None,
            })
            .map_err(|error| error.at(&self.0.span))
    }

    fn deserialize_struct<V: Visitor<'n>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        self.deserialize_map(visitor)
    }

    fn deserialize_enum<V: Visitor<'n>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        match &self.0.value {
            NodeValue::Scalar(scalar) => {
                visitor.visit_enum(scalar.text.as_str().into_deserializer())
            }
            NodeValue::Map(entries) if entries.len() == 1 => {
                visitor.visit_enum(EnumReader(&entries[0].0, &entries[0].1))
            }
            _ => Err(self.mismatch("a word, or a mapping with one key")),
        }
        .map_err(|error: ReadError| error.at(&self.0.span))
    }

    fn deserialize_ignored_any<V: Visitor<'n>>(self, visitor: V) -> Result<V::Value, ReadError> {
        visitor.visit_unit()
    }

    forward_to_deserialize_any! { <V: Visitor<'n>> i128 u128 bytes byte_buf }
}

/// The items of a list.
struct ListReader<'n>(std::slice::Iter<'n, Node>);

impl<'n> de::SeqAccess<'n> for &mut ListReader<'n> {
    type Error = ReadError;

    fn next_element_seed<T: DeserializeSeed<'n>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, ReadError> {
        self.0
            .next()
            .map(|node| {
                seed.deserialize(NodeDeserializer(node))
                    .map_err(|error| error.at(&node.span))
            })
            .transpose()
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.0.len())
    }
}

/// The entries of a mapping.
struct MapReader<'n> {
    rest: std::slice::Iter<'n, (MapKey, Node)>,
    value: Option<&'n Node>,
}

impl<'n> de::MapAccess<'n> for MapReader<'n> {
    type Error = ReadError;

    fn next_key_seed<K: DeserializeSeed<'n>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, ReadError> {
        let Some((key, value)) = self.rest.next() else {
            return Ok(None);
        };
        self.value = Some(value);
        let text: StrDeserializer<'n, ReadError> = key.text.as_str().into_deserializer();
        seed.deserialize(text)
            .map(Some)
            .map_err(|error| error.at(&key.span))
    }

    fn next_value_seed<V: DeserializeSeed<'n>>(&mut self, seed: V) -> Result<V::Value, ReadError> {
        let node = self
            .value
            .take()
            .ok_or_else(|| de::Error::custom("a value was requested before its key"))?;
        seed.deserialize(NodeDeserializer(node))
            .map_err(|error| error.at(&node.span))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.rest.len())
    }
}

/// An enum variant that is written as a mapping with one key.
struct EnumReader<'n>(&'n MapKey, &'n Node);

impl<'n> de::EnumAccess<'n> for EnumReader<'n> {
    type Error = ReadError;
    type Variant = NodeDeserializer<'n>;

    fn variant_seed<V: DeserializeSeed<'n>>(
        self,
        seed: V,
    ) -> Result<(V::Value, NodeDeserializer<'n>), ReadError> {
        let text: StrDeserializer<'n, ReadError> = self.0.text.as_str().into_deserializer();
        Ok((
            seed.deserialize(text)
                .map_err(|error| error.at(&self.0.span))?,
            NodeDeserializer(self.1),
        ))
    }
}

impl<'n> de::VariantAccess<'n> for NodeDeserializer<'n> {
    type Error = ReadError;

    fn unit_variant(self) -> Result<(), ReadError> {
        if self.0.value == NodeValue::Null {
            Ok(())
        } else {
            Err(self.mismatch("nothing"))
        }
    }

    fn newtype_variant_seed<T: DeserializeSeed<'n>>(self, seed: T) -> Result<T::Value, ReadError> {
        seed.deserialize(self)
    }

    fn tuple_variant<V: Visitor<'n>>(self, _: usize, visitor: V) -> Result<V::Value, ReadError> {
        de::Deserializer::deserialize_seq(self, visitor)
    }

    fn struct_variant<V: Visitor<'n>>(
        self,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        de::Deserializer::deserialize_map(self, visitor)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde::Deserialize;

    use super::from_node;
    use crate::{Node, parse};
    use rock_diagnostic::{Sink, SourceText};

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(rename_all = "kebab-case", deny_unknown_fields)]
    struct Sample {
        name: String,
        #[serde(default)]
        count: u32,
        #[serde(default)]
        is_on: bool,
        #[serde(default)]
        maybe: Option<String>,
        #[serde(default)]
        list: Vec<String>,
        #[serde(default)]
        map: BTreeMap<String, Kind>,
    }

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    enum Kind {
        Plain,
        With(String),
        Both { a: u8 },
    }

    fn node(text: &str) -> Node {
        parse(&SourceText::new("t", text), &mut Sink::new()).unwrap()
    }

    /// Returns the text that the error points at, and its message.
    fn error(text: &str) -> (String, String) {
        let error = from_node::<Sample>(&node(text)).unwrap_err();
        (text[error.span].to_owned(), error.message)
    }

    #[test]
    fn typed_values_come_out_as_written() {
        let text = "name: 3.10\ncount: 4\nis-on: true\nmaybe:\nlist: [1, true, 0x1f, 'q']\nmap: {x: plain, y: {with: 1.0}, z: {both: {a: 2}}}\n";
        let sample: Sample = from_node(&node(text)).unwrap();
        assert_eq!(
            (
                sample.name.as_str(),
                sample.count,
                sample.is_on,
                &sample.maybe
            ),
            ("3.10", 4, true, &None)
        );
        assert_eq!(sample.list, ["1", "true", "0x1f", "q"]);
        assert_eq!(sample.map["x"], Kind::Plain);
        assert_eq!(sample.map["y"], Kind::With("1.0".into()));
        assert_eq!(sample.map["z"], Kind::Both { a: 2 });
    }

    #[test]
    fn a_value_of_the_wrong_kind_is_reported_with_its_location() {
        assert_eq!(
            error("name: a\ncount: many\n"),
            ("many".into(), "expected a number, found `many`".into())
        );
        assert_eq!(error("name: a\nis-on: 'true'\n").0, "'true'");
        assert_eq!(
            error("name: [a]\n"),
            ("[a]".into(), "expected a string, found a list".into())
        );
        assert_eq!(
            error("name: a\nlist: x\n"),
            ("x".into(), "expected a list, found `x`".into())
        );
        assert_eq!(error("name: a\nlist: [x, {}]\n").0, "{}");
        let (at, message) = error("name: a\nnmae: b\n");
        assert!(
            at == "nmae" && message.starts_with("unknown field `nmae`"),
            "{at} {message}"
        );
        assert!(error("count: 1\n").1.contains("missing field `name`"));
    }

    #[test]
    fn any_value_keeps_versions_as_text() {
        let value: serde_json::Value =
            from_node(&node("[3.10, 8, 08, true, 'true', ~, yes]")).unwrap();
        assert_eq!(
            value,
            serde_json::json!(["3.10", 8, "08", true, "true", null, "yes"])
        );
    }
}
