//! Error replies with GitHub's texts and fields.

use serde_json::{Value, json};

use super::request::ApiReply;

/// The documentation that errors refer to.
pub const DOCS: &str = "https://docs.github.com/rest";
/// The documentation that rate limit errors refer to.
const LIMITS: &str = "https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api";

/// Returns an error with only a message.
pub fn refusal(status: u16, message: &str) -> ApiReply {
    let body = json!({"message": message, "documentation_url": DOCS, "status": status.to_string()});
    ApiReply::json(status, &body)
}

/// Returns an error of the upload host, whose fields differ from those of the API.
pub fn upload_refusal(status: u16, message: &str) -> ApiReply {
    ApiReply::json(
        status,
        &json!({"message": message, "request_id": "0400:F4CE:1:2:3", "documentation_url": DOCS}),
    )
}

/// Returns `422 Validation Failed` with the errors.
pub fn invalid(errors: &[Value]) -> ApiReply {
    let body = json!({
        "message": "Validation Failed", "errors": errors, "documentation_url": DOCS, "status": "422",
    });
    ApiReply::json(422, &body)
}

/// Returns an error with a code: `already_exists`, `missing_field`, `invalid`.
pub fn validation_error(resource: &str, code: &str, field: &str) -> Value {
    json!({"resource": resource, "code": code, "field": field})
}

/// Returns an error with a message.
pub fn custom_error(resource: &str, field: Option<&str>, message: &str) -> Value {
    let mut fault = json!({"resource": resource, "code": "custom"});
    if let Some(field) = field {
        fault["field"] = json!(field);
    }
    fault["message"] = json!(message);
    fault
}

/// Returns `404`, also for resources that a token may not see.
pub fn not_found() -> ApiReply {
    refusal(404, "Not Found")
}

/// Returns the error of a proxy that echoes the token.
pub fn echoed_token(status: u16, authorization: &str) -> ApiReply {
    refusal(
        status,
        &format!("The request with the header `Authorization: {authorization}` was refused"),
    )
}

/// Returns `401`.
pub fn bad_credentials() -> ApiReply {
    refusal(401, "Bad credentials")
}

/// Returns `403` for a token without write access.
pub fn no_write_access(is_integration: bool) -> ApiReply {
    let whom = if is_integration {
        "integration"
    } else {
        "personal access token"
    };
    let mut reply = refusal(403, &format!("Resource not accessible by {whom}"));
    reply.set("x-accepted-github-permissions", "contents=write");
    reply
}

/// Returns `403` for the token of a workflow or app that lacks this permission (REST API,
/// "Troubleshooting the REST API", "Resource not accessible").
pub fn missing_permission(permission: &str) -> ApiReply {
    let mut reply = refusal(403, "Resource not accessible by integration");
    reply.set("x-accepted-github-permissions", permission);
    reply
}

/// Returns the error of a tag ruleset: googleapis/release-please-action issue 1194 and
/// aaif-goose/goose pull request 4704 show the complete `422`. A `403` comes from hooks of
/// organizations.
pub fn tag_ruleset(status: u16) -> ApiReply {
    const RULES: &str = "pre_receive Repository rule violations found\n\nCannot create ref due to creations being restricted.\n\n";
    if status != 422 {
        return refusal(status, RULES.trim_end());
    }
    invalid(&[
        custom_error("Release", Some("pre_receive"), RULES),
        custom_error("Release", None, "Published releases must have a valid tag"),
    ])
}

/// Returns `415` for a media type that the API does not support.
pub fn unsupported_accept(accept: &str) -> ApiReply {
    refusal(
        415,
        &format!("Unsupported 'Accept' header: '{accept}'. Must accept 'application/json'."),
    )
}

/// Returns `411`, an HTML page of the frontend and not JSON (octocrab issue 463 shows that it
/// cannot be parsed).
pub fn length_required() -> ApiReply {
    ApiReply::html(411, "<h1>Length Required</h1>")
}

/// Returns the error for the hourly rate limit.
pub fn primary_limit(status: u16) -> ApiReply {
    let message = "API rate limit exceeded for installation ID 1. If you reach out to GitHub Support for help, please \
                   include the request ID 0400:F4CE:1:2:3.";
    ApiReply::json(
        status,
        &json!({"message": message, "documentation_url": LIMITS, "status": status.to_string()}),
    )
}

/// Returns the error for a secondary rate limit. GitHub does not always say how long to wait.
pub fn secondary_limit(status: u16, retry_after_s: Option<u64>) -> ApiReply {
    let message = "You have exceeded a secondary rate limit and have been temporarily blocked from content creation. \
                   Please retry your request again later.";
    let docs = format!("{LIMITS}#about-secondary-rate-limits");
    let body = json!({"message": message, "documentation_url": docs, "status": status.to_string()});
    let mut reply = ApiReply::json(status, &body);
    if let Some(seconds) = retry_after_s {
        reply.set("retry-after", &seconds.to_string());
    }
    reply
}

/// Returns the error of a failing frontend: an HTML page and not JSON.
pub fn server_error(status: u16) -> ApiReply {
    match status {
        502..=504 => ApiReply::html(
            status,
            "<p>Unicorn! We had issues producing the response to your request.</p>",
        ),
        408 => ApiReply::html(
            status,
            "<h1>408 Request Time-out</h1>Your browser didn't send a complete request in time.",
        ),
        _ => ApiReply::json(
            status,
            &json!({"message": "Server Error", "status": status.to_string()}),
        ),
    }
}
