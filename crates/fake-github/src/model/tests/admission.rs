//! Headers, tokens, permissions, renamed repositories.

use serde_json::json;

use super::super::{ApiOperation, ApiRequest, FakeGithub, GithubSettings, TagRuleset};
use super::{NOW, REPO, TestClient, check_refused};

#[test]
fn a_request_without_user_agent_is_forbidden() {
    let mut client = TestClient::new();
    let reply = client.send(&ApiRequest::new("GET", REPO));
    assert_eq!(reply.status, 403);
    assert!(String::from_utf8_lossy(&reply.body).contains("User-Agent"));
}

#[test]
fn an_unknown_token_is_bad_credentials_and_none_is_enough_to_read_what_is_public() {
    let mut client = TestClient::new();
    check_refused(
        &client.send(&ApiRequest::complete("GET", REPO, "nobody")),
        401,
        "Bad credentials",
    );
    let anonymous = |method: &str| ApiRequest::new(method, REPO).header("user-agent", "x");
    assert_eq!(client.send(&anonymous("GET")).status, 200);
    let post = ApiRequest {
        url: format!("{REPO}/releases"),
        ..anonymous("POST")
    }
    .json(&json!({"tag_name": "v1"}));
    check_refused(&client.send(&post), 401, "Requires authentication");
}

#[test]
fn a_token_without_the_right_may_read_and_not_write() {
    let mut client = TestClient::new();
    for (token, whom) in [
        ("reader", "integration"),
        ("reader-pat", "personal access token"),
    ] {
        assert_eq!(
            client
                .send(&ApiRequest::complete("GET", REPO, token))
                .value()["permissions"]["push"],
            false
        );
        let post = ApiRequest::complete("POST", &format!("{REPO}/releases"), token)
            .json(&json!({"tag_name": "v1"}));
        let reply = client.send(&post);
        check_refused(&reply, 403, &format!("Resource not accessible by {whom}"));
        assert_eq!(
            reply.get("x-accepted-github-permissions"),
            Some("contents=write")
        );
    }
    assert_eq!(client.get("").value()["permissions"]["push"], true);
}

#[test]
fn a_repository_that_a_token_may_not_see_is_not_found() {
    let mut client = TestClient::new();
    client.github.repository_mut("me/wheels").is_private = true;
    check_refused(
        &client.send(&ApiRequest::complete("GET", REPO, "stranger")),
        404,
        "Not Found",
    );
    assert_eq!(
        client
            .send(&ApiRequest::complete("GET", REPO, "reader"))
            .value()["private"],
        true
    );
    assert_eq!(client.get("x").status, 404, "no such repository");
}

#[test]
fn an_archived_repository_is_read_only() {
    let mut client = TestClient::new();
    client.github.repository_mut("me/wheels").is_archived = true;
    let reply = client.ask("POST", "/releases", &json!({"tag_name": "v1"}));
    check_refused(&reply, 403, "Repository was archived so is read-only.");
}

#[test]
fn a_renamed_repository_is_elsewhere_by_number() {
    let mut client = TestClient::new();
    client
        .github
        .repository_mut("me/wheels")
        .old_names
        .push("me/old".to_owned());
    let old = "http://api.test/repos/me/old";
    let reply = client.send(&ApiRequest::complete(
        "GET",
        &format!("{old}/releases?page=2"),
        "writer",
    ));
    let there = reply.get("location").unwrap().to_owned();
    let id = client.github.repository("me/wheels").id;
    assert_eq!(
        (reply.status, there),
        (
            301,
            format!("http://api.test/repositories/{id}/releases?page=2")
        )
    );
    let post = ApiRequest::complete("POST", &format!("{old}/releases"), "writer")
        .json(&json!({"tag_name": "v1"}));
    let reply = client.send(&post);
    assert_eq!(reply.status, 307, "the method is kept");
    let again = ApiRequest {
        url: reply.get("location").unwrap().to_owned(),
        ..post
    };
    assert_eq!(client.send(&again).status, 201);
}

#[test]
fn a_version_of_the_api_that_is_none_is_refused_and_a_missing_one_is_noted() {
    let mut client = TestClient::new();
    let old = ApiRequest::new("GET", REPO)
        .header("user-agent", "x")
        .header("x-github-api-version", "2019-01-01");
    assert_eq!(client.send(&old).status, 400);
    assert!(client.github.ledger.complaints.is_empty());
    client.send(&ApiRequest::new("GET", REPO).header("user-agent", "x"));
    assert_eq!(
        client.github.ledger.complaints,
        [
            "GET repository: no X-GitHub-Api-Version",
            "GET repository: no Accept"
        ]
    );
}

#[test]
fn every_request_is_written_down_without_its_secrets() {
    let mut client = TestClient::new();
    let id = client.draft("v1");
    client.upload(id, "a", b"12");
    let logged = &client.github.ledger.requests[1];
    assert_eq!(
        (
            logged.number,
            logged.operation,
            logged.size_bytes,
            logged.status
        ),
        (2, ApiOperation::Upload, 2, 201)
    );
    assert!(logged.url.ends_with("/assets?name=a"));
    assert!(!format!("{:?}", client.github.ledger).contains("writer"));
    assert_eq!(
        (
            client.github.ledger.writes(),
            client
                .github
                .ledger
                .request_count(ApiOperation::CreateRelease)
        ),
        (2, 1)
    );
}

#[test]
fn uploads_have_a_host_of_their_own_on_request() {
    let settings = GithubSettings {
        uploads_base: "http://uploads.test".to_owned(),
        ..GithubSettings::default()
    };
    let mut client = TestClient {
        github: FakeGithub::new(settings),
        now: NOW,
    };
    let id = client.draft("v1");
    let template = client.get(&format!("/releases/{id}")).value()["upload_url"]
        .as_str()
        .unwrap()
        .to_owned();
    let url = template.strip_suffix("{?name,label}").unwrap();
    assert!(url.starts_with("http://uploads.test/repos/me/wheels/releases/"));
    assert_eq!(
        client.upload(id, "a", b"1").status,
        404,
        "the API takes none"
    );
    let upload = ApiRequest::complete("POST", &format!("{url}?name=a"), "writer").body("1");
    assert_eq!(client.send(&upload).status, 201);
    assert_eq!(
        client
            .send(&ApiRequest::complete("GET", url, "writer"))
            .status,
        404,
        "and that host nothing else"
    );
}

#[test]
fn what_nobody_offers_is_not_found() {
    let mut client = TestClient::new();
    for path in [
        "/releases/x",
        "/issues",
        "/releases/1/assets/2",
        "/git/tags/x",
    ] {
        assert_eq!(client.get(path).status, 404, "{path}");
    }
    for url in [
        "http://api.test/",
        "http://api.test/zen",
        "http://other.test/repos/me/wheels",
    ] {
        assert_eq!(
            client
                .send(&ApiRequest::complete("GET", url, "writer"))
                .status,
            404,
            "{url}"
        );
    }
    assert_eq!(
        client
            .send(&ApiRequest::complete(
                "GET",
                "http://api.test/rate_limit",
                "writer"
            ))
            .status,
        200
    );
}

/// A chunked body, or a write without a length, is answered with 411; uploads have their own error.
#[test]
fn a_write_without_a_length_is_refused() {
    let mut client = TestClient::new();
    let id = client.draft("v1");
    let release = format!("{REPO}/releases/{id}");
    for method in ["POST", "PATCH", "PUT"] {
        assert_eq!(
            client
                .send(&ApiRequest::complete(method, &release, "writer"))
                .status,
            411,
            "{method}"
        );
    }
    let chunked = ApiRequest::complete("PATCH", &release, "writer")
        .json(&json!({}))
        .header("transfer-encoding", "chunked");
    let reply = client.send(&chunked);
    assert_eq!(
        (reply.status, reply.get("content-type")),
        (411, Some("text/html"))
    );
    assert_eq!(
        client
            .send(&ApiRequest::complete("DELETE", &release, "writer"))
            .status,
        204,
        "no body, no length"
    );
}

/// A media type that the API does not support is refused.
#[test]
fn an_unknown_media_type_is_refused() {
    let mut client = TestClient::new();
    let accepting = |kind: &str| {
        ApiRequest::new("GET", REPO)
            .header("user-agent", "x")
            .header("accept", kind)
    };
    let text = "Unsupported 'Accept' header: 'text/html'. Must accept 'application/json'.";
    check_refused(&client.send(&accepting("text/html")), 415, text);
    for kind in [
        "application/vnd.github+json",
        "application/vnd.github.raw+json",
        "*/*",
        "text/html, application/json;q=1",
    ] {
        assert_eq!(client.send(&accepting(kind)).status, 200, "{kind}");
    }
}

/// Invalid JSON, JSON that is not an object and fields of a wrong type get different errors.
#[test]
fn bodies_that_are_no_objects_are_refused() {
    let mut client = TestClient::new();
    let post =
        |body: &str| ApiRequest::complete("POST", &format!("{REPO}/releases"), "writer").body(body);
    check_refused(&client.send(&post("{")), 400, "Problems parsing JSON");
    check_refused(&client.send(&post("")), 400, "Problems parsing JSON");
    check_refused(
        &client.send(&post("[]")),
        400,
        "Body should be a JSON object",
    );
    let text = "Invalid request.\n\nFor 'properties/draft', \"yes\" is not a boolean.";
    check_refused(
        &client.send(&post(r#"{"tag_name": "v1", "draft": "yes"}"#)),
        422,
        text,
    );
}

/// A field that an operation does not document is noted.
#[test]
fn undocumented_fields_are_noted() {
    let mut client = TestClient::new();
    client.ask(
        "POST",
        "/releases",
        &json!({"tag_name": "v1", "draft": true, "make_latest": "false"}),
    );
    assert!(client.github.ledger.complaints.is_empty());
    client.ask(
        "POST",
        "/releases",
        &json!({"tag_name": "v1", "draft": true, "assets": []}),
    );
    let complaint = "POST create-release: a field that the operation does not document";
    assert_eq!(client.github.ledger.complaints, [complaint]);
}

/// The tag of a release must be valid in git.
#[test]
fn tags_that_git_does_not_take_are_refused() {
    let mut client = TestClient::new();
    for tag in [
        "a b", "a~1", "a^", "a:b", "a?", "a*", "a[b", "a\\b", "a..b", "a@{b", "a.", "/a", "a/",
        "a//b", ".a", "a.lock", "\u{7f}", "@",
    ] {
        let reply = client.ask(
            "POST",
            "/releases",
            &json!({"tag_name": tag, "draft": true}),
        );
        check_refused(
            &reply,
            422,
            "Release custom tag_name tag_name is not a valid tag",
        );
    }
    for tag in [
        "v2.8.3+rocm6.2",
        "nightly/2026-11-21",
        "a-b_c.d",
        "100%",
        "a#b",
        "a&b=c;d,e!f'g(h)i\"j<k>l|m",
        "ü",
    ] {
        client.draft(tag);
    }
}

/// REST API, "Get an environment": anyone can read those of public repositories; private ones need
/// "Actions" (read).
#[test]
fn environments_of_a_private_repository_need_the_right_to_read_actions() {
    let mut client = TestClient::new();
    let repository = client.github.repository_mut("me/wheels");
    repository
        .environments
        .insert("release".to_owned(), Some(vec!["v*".to_owned()]));
    let url = format!("{REPO}/environments/release");
    let mut status = |token: &str| {
        client
            .send(&ApiRequest::complete("GET", &url, token))
            .status
    };
    assert_eq!(["reader", "planner", "stranger"].map(&mut status), [200; 3]);
    client.github.repository_mut("me/wheels").is_private = true;
    let reply = client.send(&ApiRequest::complete("GET", &url, "reader"));
    check_refused(&reply, 403, "Resource not accessible by integration");
    assert_eq!(
        reply.get("x-accepted-github-permissions"),
        Some("actions=read")
    );
    let mut status = |token: &str| {
        client
            .send(&ApiRequest::complete("GET", &url, token))
            .status
    };
    assert_eq!(
        ["planner", "reader-pat", "stranger"].map(&mut status),
        [200, 200, 404]
    );
}

/// REST API, "Get all repository rulesets" and "Get a repository ruleset".
#[test]
fn rulesets_have_rules_only_when_requested_one_by_one() {
    let mut client = TestClient::new();
    assert_eq!(client.get("/rulesets?targets=tag").value(), json!([]));
    let ruleset = TagRuleset {
        include: vec!["refs/tags/v*".to_owned()],
        ..TagRuleset::default()
    };
    assert!(ruleset.refuses("v2") && !ruleset.refuses("w2") && !ruleset.refuses("v/2"));
    client.github.repository_mut("me/wheels").tag_ruleset = Some(ruleset);
    assert_eq!(client.get("/rulesets?targets=branch").value(), json!([]));
    let listed = client.get("/rulesets?targets=branch,tag").value();
    assert_eq!(
        (&listed[0]["enforcement"], listed[0].get("rules")),
        (&json!("active"), None)
    );
    let whole = client
        .get(&format!("/rulesets/{}", listed[0]["id"]))
        .value();
    assert_eq!(
        whole["conditions"]["ref_name"],
        json!({"include": ["refs/tags/v*"], "exclude": []})
    );
    assert_eq!(
        (
            &whole["current_user_can_bypass"],
            whole.get("bypass_actors")
        ),
        (&json!("never"), None)
    );
    assert_eq!(client.get("/rulesets/7").status, 404);
}
