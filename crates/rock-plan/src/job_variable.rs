//! The job of a workflow's leg, in an environment variable.

use crate::codes::plan as codes;
use crate::is_id;
use rock_diagnostic::{Diagnostic, Location};

/// Returns the ID of the job that an environment variable holds: the workflow's matrix entry as
/// JSON, `${{ toJSON(matrix) }}`. `text` is the value of the variable, if it is set.
///
/// # Errors
/// If the variable is not set, or is not an object with the ID of a job.
pub fn job_of_variable(variable: &str, text: Option<&str>) -> Result<String, Diagnostic> {
    let text = text.ok_or_else(|| invalid(variable, "is not set"))?;
    let leg: serde_json::Value =
        serde_json::from_str(text).map_err(|_| invalid(variable, "is not JSON"))?;
    leg.get("id")
        .and_then(serde_json::Value::as_str)
        .filter(|id| is_id(id))
        .map(str::to_owned)
        .ok_or_else(|| invalid(variable, "is not an object with an `id`"))
}

fn invalid(variable: &str, reason: &str) -> Diagnostic {
    let message = format!("the variable `{variable}` {reason}");
    let place = Location::Argument(format!("--job-env {variable}"));
    Diagnostic::new(&codes::BAD_JOB_VARIABLE, message)
        .at(place, "")
        .help(format!(
            "set it with `env: {{{variable}: \"${{{{ toJSON(matrix) }}}}\"}}`"
        ))
}

#[cfg(test)]
mod tests {
    use super::job_of_variable;

    #[test]
    fn the_id_is_that_of_the_leg() {
        let read = |text| job_of_variable("ROCK_JOB", text).map_err(|error| error.message);
        assert_eq!(
            read(Some(r#"{"id": "a-1", "n": "0"}"#)),
            Ok("a-1".to_owned())
        );
        for (text, reason) in [
            (None, "is not set"),
            (Some("{"), "is not JSON"),
            (Some("{}"), "is not an object with an `id`"),
            (Some(r#"{"id": "../x"}"#), "is not an object with an `id`"),
        ] {
            assert_eq!(read(text), Err(format!("the variable `ROCK_JOB` {reason}")));
        }
    }
}
