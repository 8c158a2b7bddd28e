//! Refusals in GitHub's words and shape.

use serde_json::{Value, json};

use super::request::Reply;

/// Where refusals send a person.
pub const DOCS: &str = "https://docs.github.com/rest";
/// Where refusals for limits send a person.
const LIMITS: &str = "https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api";

/// A refusal with a message alone.
pub fn refusal(status: u16, message: &str) -> Reply {
    let body = json!({"message": message, "documentation_url": DOCS, "status": status.to_string()});
    Reply::json(status, &body)
}

/// A refusal of uploads, which are another program than the API.
pub fn upload_refusal(status: u16, message: &str) -> Reply {
    Reply::json(
        status,
        &json!({"message": message, "request_id": "0400:F4CE:1:2:3", "documentation_url": DOCS}),
    )
}

/// `422 Validation Failed` with its faults.
pub fn invalid(errors: &[Value]) -> Reply {
    let body = json!({
        "message": "Validation Failed", "errors": errors, "documentation_url": DOCS, "status": "422",
    });
    Reply::json(422, &body)
}

/// A fault that is a code alone: `already_exists`, `missing_field`, `invalid`.
pub fn fault(resource: &str, code: &str, field: &str) -> Value {
    json!({"resource": resource, "code": code, "field": field})
}

/// A fault in words.
pub fn custom(resource: &str, field: Option<&str>, message: &str) -> Value {
    let mut fault = json!({"resource": resource, "code": "custom"});
    if let Some(field) = field {
        fault["field"] = json!(field);
    }
    fault["message"] = json!(message);
    fault
}

/// `404`, which also stands for what a token may not see.
pub fn not_found() -> Reply {
    refusal(404, "Not Found")
}

/// What something between says that tells all it got.
pub fn echo(status: u16, authorization: &str) -> Reply {
    refusal(
        status,
        &format!("The request with the header `Authorization: {authorization}` was refused"),
    )
}

/// `401`
pub fn bad_credentials() -> Reply {
    refusal(401, "Bad credentials")
}

/// `403` for a token without the right.
pub fn no_right(is_integration: bool) -> Reply {
    let whom = if is_integration {
        "integration"
    } else {
        "personal access token"
    };
    let mut reply = refusal(403, &format!("Resource not accessible by {whom}"));
    reply.set("x-accepted-github-permissions", "contents=write");
    reply
}

/// `403` for the token of a workflow or an app without a right, and the right that it lacks (REST
/// API, "Troubleshooting the REST API", "Resource not accessible").
pub fn lacks(permission: &str) -> Reply {
    let mut reply = refusal(403, "Resource not accessible by integration");
    reply.set("x-accepted-github-permissions", permission);
    reply
}

/// Returns the refusal of a tag ruleset: googleapis/release-please-action issue 1194 and
/// aaif-goose/goose pull request 4704 have the whole `422`. A `403` comes from hooks of
/// organisations.
pub fn tag_ruleset(status: u16) -> Reply {
    const RULES: &str = "pre_receive Repository rule violations found\n\nCannot create ref due to creations being restricted.\n\n";
    if status != 422 {
        return refusal(status, RULES.trim_end());
    }
    invalid(&[
        custom("Release", Some("pre_receive"), RULES),
        custom("Release", None, "Published releases must have a valid tag"),
    ])
}

/// `415` for a media type that the API does not give.
pub fn unsupported_accept(accept: &str) -> Reply {
    refusal(
        415,
        &format!("Unsupported 'Accept' header: '{accept}'. Must accept 'application/json'."),
    )
}

/// `411`, which comes from what stands before the API: a page, no JSON (octocrab issue 463 shows
/// that it cannot be parsed).
pub fn length_required() -> Reply {
    Reply::html(411, "<h1>Length Required</h1>")
}

/// The hourly limit is used up.
pub fn primary_limit(status: u16) -> Reply {
    let message = "API rate limit exceeded for installation ID 1. If you reach out to GitHub Support for help, please \
                   include the request ID 0400:F4CE:1:2:3.";
    Reply::json(
        status,
        &json!({"message": message, "documentation_url": LIMITS, "status": status.to_string()}),
    )
}

/// Too much at once; GitHub does not always say how long to wait.
pub fn secondary_limit(status: u16, retry_after_s: Option<u64>) -> Reply {
    let message = "You have exceeded a secondary rate limit and have been temporarily blocked from content creation. \
                   Please retry your request again later.";
    let docs = format!("{LIMITS}#about-secondary-rate-limits");
    let body = json!({"message": message, "documentation_url": docs, "status": status.to_string()});
    let mut reply = Reply::json(status, &body);
    if let Some(seconds) = retry_after_s {
        reply.set("retry-after", &seconds.to_string());
    }
    reply
}

/// What stands before GitHub and fails: a page, no JSON.
pub fn server_fault(status: u16) -> Reply {
    match status {
        502..=504 => Reply::html(
            status,
            "<p>Unicorn! We had issues producing the response to your request.</p>",
        ),
        408 => Reply::html(
            status,
            "<h1>408 Request Time-out</h1>Your browser didn't send a complete request in time.",
        ),
        _ => Reply::json(
            status,
            &json!({"message": "Server Error", "status": status.to_string()}),
        ),
    }
}
