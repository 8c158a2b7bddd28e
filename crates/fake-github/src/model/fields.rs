//! The JSON body of a request, with GitHub's refusals for what does not fit.

use serde_json::{Map, Value};

use super::errors;
use super::request::{Reply, Request};

/// The fields of a body.
#[derive(Debug)]
pub struct Fields(Map<String, Value>);

impl Fields {
    /// Reads a body.
    ///
    /// # Errors
    /// With the answer `400`, when it is no JSON, or no object: `Problems parsing JSON` and
    /// `Body should be a JSON object` (GitHub Docs, "Troubleshooting the REST API", once "Client
    /// errors").
    pub fn of(request: &Request) -> Result<Self, Reply> {
        match serde_json::from_slice(&request.body) {
            Ok(Value::Object(object)) => Ok(Self(object)),
            Ok(_) => Err(errors::refusal(400, "Body should be a JSON object")),
            Err(_) => Err(errors::refusal(400, "Problems parsing JSON")),
        }
    }

    /// The keys that are none of these.
    pub fn others(&self, documented: &[&str]) -> Vec<&str> {
        self.0
            .keys()
            .map(String::as_str)
            .filter(|key| !documented.contains(key))
            .collect()
    }

    /// A text, where there is one; null counts as none.
    ///
    /// # Errors
    /// With the answer `422`, when it is something else (GitHub Docs, "Troubleshooting the REST
    /// API", "Validation Failed").
    pub fn text(&self, key: &str) -> Result<Option<String>, Reply> {
        self.read(key, "string", |value| value.as_str().map(str::to_owned))
    }

    /// A yes or no, where there is one; null counts as none.
    ///
    /// # Errors
    /// With the answer `422`, when it is something else.
    pub fn flag(&self, key: &str) -> Result<Option<bool>, Reply> {
        self.read(key, "boolean", Value::as_bool)
    }

    /// `make_latest`, which is a text even for yes and no.
    ///
    /// # Errors
    /// With the answer `422`, when it is none of `true`, `false`, `legacy`.
    pub fn make_latest(&self) -> Result<Option<String>, Reply> {
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
    ) -> Result<Option<T>, Reply> {
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
