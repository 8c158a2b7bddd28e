//! The JSON body of a request, with GitHub's errors for invalid values.

use serde_json::{Map, Value};

use super::errors;
use super::request::{ApiReply, ApiRequest};

/// The fields of a body.
#[derive(Debug)]
pub struct JsonFields(Map<String, Value>);

impl JsonFields {
    /// Parses a body.
    ///
    /// # Errors
    /// The reply `400` if it is not JSON or not an object: `Problems parsing JSON` and `Body should
    /// be a JSON object` (GitHub Docs, "Troubleshooting the REST API", formerly "Client errors").
    pub fn parse(request: &ApiRequest) -> Result<Self, ApiReply> {
        match serde_json::from_slice(&request.body) {
            Ok(Value::Object(object)) => Ok(Self(object)),
            Ok(_) => Err(errors::refusal(400, "Body should be a JSON object")),
            Err(_) => Err(errors::refusal(400, "Problems parsing JSON")),
        }
    }

    /// Returns the keys that are not documented.
    pub fn others(&self, documented: &[&str]) -> Vec<&str> {
        self.0
            .keys()
            .map(String::as_str)
            .filter(|key| !documented.contains(key))
            .collect()
    }

    /// Returns a string; null counts as missing.
    ///
    /// # Errors
    /// The reply `422` for other types (GitHub Docs, "Troubleshooting the REST API", "Validation
    /// Failed").
    pub fn text(&self, key: &str) -> Result<Option<String>, ApiReply> {
        self.read(key, "string", |value| value.as_str().map(str::to_owned))
    }

    /// Returns a boolean; null counts as missing.
    ///
    /// # Errors
    /// The reply `422` for other types.
    pub fn flag(&self, key: &str) -> Result<Option<bool>, ApiReply> {
        self.read(key, "boolean", Value::as_bool)
    }

    /// Returns `make_latest`, which is a string even for true and false.
    ///
    /// # Errors
    /// The reply `422` for values other than `true`, `false` and `legacy`.
    pub fn make_latest(&self) -> Result<Option<String>, ApiReply> {
        match self.text("make_latest")? {
            Some(text) if !["true", "false", "legacy"].contains(&text.as_str()) => {
                Err(errors::refusal(
                    422,
                    &format!(
                        "Invalid request.\n\n{text} is not a member of [\"true\", \"false\", \"legacy\"]."
                    ),
                ))
            }
            text => Ok(text),
        }
    }

    fn read<T>(
        &self,
        key: &str,
        kind: &str,
        read: impl Fn(&Value) -> Option<T>,
    ) -> Result<Option<T>, ApiReply> {
        match self.0.get(key).filter(|value| !value.is_null()) {
            None => Ok(None),
            Some(value) => match read(value) {
                Some(found) => Ok(Some(found)),
                None => Err(errors::refusal(
                    422,
                    &format!(
                        "Invalid request.\n\nFor 'properties/{key}', {value} is not a {kind}."
                    ),
                )),
            },
        }
    }
}
