//! Recipe values with several forms. `Deserialize` is implemented by hand, so that errors describe
//! the forms in the terms of the recipe format.

use std::fmt;

use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

const KEYS: &[&str] = &[
    "prepend",
    "append",
    "sep",
    "count",
    "gib-per-job",
    "if",
    "value",
];

/// The keyword for the separator of path variables: `:`, or `;` on Windows.
pub const PATH_SEPARATOR: &str = "path";

/// The value of an environment variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EnvValue {
    /// A text; an expression that evaluates to none removes the variable.
    Text(String),
    /// Several texts, joined with a space. Those that evaluate to none are dropped; if all do, the
    /// variable is left unchanged.
    List(Vec<String>),
    /// `null`: the variable is removed.
    Remove,
    /// The variable's value with text prepended or appended.
    Extend {
        /// The text to prepend.
        prepend: Option<String>,
        /// The text to append.
        append: Option<String>,
        /// The separator, or [`PATH_SEPARATOR`].
        separator: String,
    },
    /// A text, if a deferred fact has a value; otherwise the variable is left unchanged.
    If {
        /// The deferred fact.
        fact: String,
        /// The text.
        value: String,
    },
    /// The number of parallel jobs that memory and processors allow, unless the variable is already
    /// set.
    Jobs {
        /// An explicit number; if empty, computed from processors and memory.
        count: String,
        /// Memory per job in GiB.
        gib_per_job: String,
    },
}

impl<'de> Deserialize<'de> for EnvValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct AnyForm;
        impl<'de> Visitor<'de> for AnyForm {
            type Value = EnvValue;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(
                    "a string, a list of strings, nothing, or a mapping with `prepend`, `append`, \
                     `if` or `gib-per-job`",
                )
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<EnvValue, E> {
                Ok(EnvValue::Text(text.to_owned()))
            }
            fn visit_bool<E: de::Error>(self, value: bool) -> Result<EnvValue, E> {
                Err(E::invalid_type(
                    de::Unexpected::Bool(value),
                    &"a quoted string such as \"TRUE\"",
                ))
            }
            fn visit_u64<E: de::Error>(self, value: u64) -> Result<EnvValue, E> {
                Ok(EnvValue::Text(value.to_string()))
            }
            fn visit_i64<E: de::Error>(self, value: i64) -> Result<EnvValue, E> {
                Ok(EnvValue::Text(value.to_string()))
            }
            fn visit_unit<E: de::Error>(self) -> Result<EnvValue, E> {
                Ok(EnvValue::Remove)
            }
            fn visit_none<E: de::Error>(self) -> Result<EnvValue, E> {
                Ok(EnvValue::Remove)
            }
            fn visit_some<D: Deserializer<'de>>(
                self,
                deserializer: D,
            ) -> Result<EnvValue, D::Error> {
                deserializer.deserialize_any(self)
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<EnvValue, A::Error> {
                let mut list = Vec::new();
                while let Some(item) = items.next_element()? {
                    list.push(item);
                }
                Ok(EnvValue::List(list))
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<EnvValue, A::Error> {
                let (mut prepend, mut append, mut separator) = (None, None, None);
                let (mut count, mut gib_per_job) = (None, None);
                let (mut fact, mut value) = (None, None);
                while let Some(key) = map.next_key::<String>()? {
                    let place = match key.as_str() {
                        "prepend" => &mut prepend,
                        "append" => &mut append,
                        "sep" => &mut separator,
                        "gib-per-job" => &mut gib_per_job,
                        "count" => &mut count,
                        "if" => &mut fact,
                        "value" => &mut value,
                        _ => return Err(de::Error::unknown_field(&key, KEYS)),
                    };
                    *place = Some(map.next_value::<String>()?);
                }
                match (fact, value) {
                    (None, None) => {}
                    (Some(fact), Some(value))
                        if gib_per_job.is_none() && prepend.is_none() && append.is_none() =>
                    {
                        return Ok(EnvValue::If { fact, value });
                    }
                    _ => {
                        return Err(de::Error::custom(
                            "`if` and `value` require each other and exclude other keys",
                        ));
                    }
                }
                match (gib_per_job, prepend, append) {
                    (Some(gib_per_job), None, None) => Ok(EnvValue::Jobs {
                        count: count.unwrap_or_default(),
                        gib_per_job,
                    }),
                    (None, None, None) => Err(de::Error::custom(
                        "one of `prepend`, `append`, `if`, `gib-per-job` is needed",
                    )),
                    (Some(_), _, _) => {
                        Err(de::Error::custom("`gib-per-job` excludes the other keys"))
                    }
                    (None, prepend, append) => {
                        let separator = separator.unwrap_or_else(|| PATH_SEPARATOR.to_owned());
                        Ok(EnvValue::Extend {
                            prepend,
                            append,
                            separator,
                        })
                    }
                }
            }
        }
        deserializer.deserialize_any(AnyForm)
    }
}
