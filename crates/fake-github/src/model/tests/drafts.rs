//! Releases from draft to immutable.

use serde_json::json;

use super::super::{ApiRequest, ReachedState, TagRuleset};
use super::{REPO, TestClient, check_refused};

#[test]
fn a_draft_is_found_by_paging_and_by_number_and_never_by_its_tag() {
    let mut client = TestClient::new();
    let id = client.draft("v1");
    assert_eq!(client.get("/releases").value()[0]["id"], id);
    let draft = client.get(&format!("/releases/{id}")).value();
    assert_eq!(
        (draft["draft"].as_bool(), draft["published_at"].is_null()),
        (Some(true), true)
    );
    assert!(
        draft["html_url"]
            .as_str()
            .unwrap()
            .contains("/tag/untagged-")
    );
    assert_eq!(client.get("/releases/tags/v1").status, 404);
    assert_eq!(client.publish(id).status, 200);
    assert_eq!(client.get("/releases/tags/v1").value()["id"], id);
    assert_eq!(client.github.ledger.times(ReachedState::Published), 1);
}

#[test]
fn a_draft_is_nothing_to_those_who_may_not_write() {
    let mut client = TestClient::new();
    let id = client.draft("v1");
    for token in ["reader", "stranger"] {
        let mut get = |path: &str| {
            client.send(&ApiRequest::complete(
                "GET",
                &format!("{REPO}{path}"),
                token,
            ))
        };
        assert_eq!(get("/releases").value(), json!([]));
        assert_eq!(get(&format!("/releases/{id}")).status, 404);
        assert_eq!(get(&format!("/releases/{id}/assets")).status, 404);
    }
}

#[test]
fn a_tag_has_any_number_of_drafts_and_one_published_release() {
    let mut client = TestClient::new();
    let (first, second) = (client.draft("v1"), client.draft("v1"));
    assert_eq!(client.publish(second).status, 200);
    check_refused(
        &client.publish(first),
        422,
        "Release already_exists tag_name",
    );
    let again = client.ask("POST", "/releases", &json!({"tag_name": "v1"}));
    check_refused(&again, 422, "Release already_exists tag_name");
    client.draft("v1");
    assert_eq!(client.get("/releases").value().as_array().unwrap().len(), 3);
}

#[test]
fn publishing_locks_where_the_repository_locks_releases() {
    let mut client = TestClient::new().immutable();
    assert_eq!(client.get("/immutable-releases").value()["enabled"], true);
    let id = client.draft("v1");
    client.upload(id, "a", b"1");
    assert_eq!(
        client.get(&format!("/releases/{id}")).value()["immutable"],
        false,
        "a draft is open"
    );
    assert_eq!(client.publish(id).value()["immutable"], true);

    let asset = client.asset(id)["id"].as_u64().unwrap();
    check_refused(
        &client.upload(id, "b", b"2"),
        422,
        "Cannot upload assets to an immutable release.",
    );
    let gone = client.remove(&format!("/releases/assets/{asset}"));
    check_refused(
        &gone,
        422,
        "ReleaseAsset custom  Cannot delete asset from an immutable release",
    );
    assert_eq!(
        client
            .ask(
                "PATCH",
                &format!("/releases/assets/{asset}"),
                &json!({"name": "c"})
            )
            .status,
        422
    );
    for change in [json!({"tag_name": "v2"}), json!({"draft": true})] {
        assert_eq!(
            client
                .ask("PATCH", &format!("/releases/{id}"), &change)
                .status,
            422,
            "{change}"
        );
    }
    let text = client.ask(
        "PATCH",
        &format!("/releases/{id}"),
        &json!({"body": "notes", "make_latest": "true"}),
    );
    assert_eq!(text.value()["body"], "notes", "text and rank stay open");
}

#[test]
fn the_tag_of_an_immutable_release_is_burned() {
    let mut client = TestClient::new().immutable();
    let id = client.draft("v1");
    client.publish(id);
    assert_eq!(client.remove(&format!("/releases/{id}")).status, 204);
    let next = client.draft("v1");
    check_refused(
        &client.publish(next),
        422,
        "Release custom tag_name tag_name was used by an immutable release",
    );
    assert_eq!(
        client.get(&format!("/releases/{next}")).value()["draft"],
        true,
        "it stays a draft"
    );
}

#[test]
fn publishing_makes_the_tag_unless_a_ruleset_forbids_it() {
    let mut client = TestClient::new();
    assert_eq!(client.get("/git/ref/tags/v2").status, 404);
    let id = client.draft("v2");
    assert_eq!(
        client.get("/git/ref/tags/v2").status,
        404,
        "a draft makes none"
    );
    client.publish(id);
    let main = client.get("/commits/main").value()["sha"].clone();
    assert_eq!(
        client.get("/git/ref/tags/v2").value()["object"],
        json!({
            "sha": main, "type": "commit", "url": format!("{REPO}/git/commits/{}", main.as_str().unwrap()),
        })
    );

    client.github.repository_mut("me/wheels").tag_ruleset = Some(TagRuleset::default());
    let id = client.draft("v3");
    let reply = client.publish(id);
    assert_eq!(reply.status, 422);
    assert!(
        reply.value()["errors"][0]["message"]
            .as_str()
            .unwrap()
            .contains("Cannot create ref")
    );
    assert_eq!(
        client
            .get("/git/matching-refs/tags/v")
            .value()
            .as_array()
            .unwrap()
            .len(),
        2
    );
}

#[test]
fn a_target_that_is_no_commit_is_refused_when_the_tag_has_to_be_made() {
    let mut client = TestClient::new();
    let draft = json!({"tag_name": "v9", "target_commitish": "gone", "draft": true});
    let id = client.ask("POST", "/releases", &draft).value()["id"]
        .as_u64()
        .unwrap();
    check_refused(&client.publish(id), 422, "Release invalid target_commitish");
}

#[test]
fn bodies_that_do_not_fit_are_refused() {
    let mut client = TestClient::new();
    let url = format!("{REPO}/releases");
    let broken = ApiRequest::complete("POST", &url, "writer").body("{");
    check_refused(&client.send(&broken), 400, "Problems parsing JSON");
    let text = "Invalid request.\n\n\"tag_name\" wasn't supplied.";
    check_refused(&client.ask("POST", "/releases", &json!({})), 422, text);
    let text = "Invalid request.\n\nFor 'properties/draft', \"yes\" is not a boolean.";
    check_refused(
        &client.ask(
            "POST",
            "/releases",
            &json!({"tag_name": "x", "draft": "yes"}),
        ),
        422,
        text,
    );
    for refused in [
        json!({"tag_name": "a b"}),
        json!({"tag_name": "x", "make_latest": true}),
        json!({"tag_name": "x", "make_latest": "newest"}),
        json!({"tag_name": "x", "draft": true, "make_latest": "true"}),
        json!({"tag_name": "x", "body": "é".repeat(125_001)}),
    ] {
        assert_eq!(
            client.ask("POST", "/releases", &refused).status,
            422,
            "{}",
            refused["tag_name"]
        );
    }
    let longest = json!({"tag_name": "x", "body": "é".repeat(125_000)});
    assert_eq!(client.ask("POST", "/releases", &longest).status, 201);
}

#[test]
fn make_latest_chooses_what_is_shown_first() {
    let mut client = TestClient::new();
    let publish = |client: &mut TestClient, tag: &str, make_latest: &str| {
        client.now += 1000;
        let reply = client.ask(
            "POST",
            "/releases",
            &json!({"tag_name": tag, "make_latest": make_latest}),
        );
        assert_eq!(reply.status, 201);
    };
    let latest =
        |client: &mut TestClient| client.get("/releases/latest").value()["tag_name"].clone();
    assert_eq!(client.get("/releases/latest").status, 404);
    publish(&mut client, "v1", "legacy");
    publish(&mut client, "v2", "false");
    assert_eq!(latest(&mut client), "v1");
    publish(&mut client, "v3", "legacy");
    assert_eq!(latest(&mut client), "v3");
    publish(&mut client, "v0.9", "true");
    publish(&mut client, "v4", "legacy");
    assert_eq!(latest(&mut client), "v0.9");
}

#[test]
fn a_published_release_of_a_mutable_repository_may_be_hidden_again() {
    let mut client = TestClient::new();
    let id = client.draft("v1");
    client.publish(id);
    assert_eq!(
        client
            .ask("PATCH", &format!("/releases/{id}"), &json!({"draft": true}))
            .value()["draft"],
        true
    );
    assert_eq!(client.github.ledger.times(ReachedState::Unpublished), 1);
}

#[test]
fn an_annotated_tag_is_an_object_that_names_its_commit() {
    let mut client = TestClient::new();
    let repository = client.github.repository_mut("me/wheels");
    repository.annotated.insert("v1".to_owned(), "b".repeat(40));
    let object = client.get("/git/ref/tags/v1").value()["object"].clone();
    assert_eq!(object["type"], "tag");
    let tag = client
        .get(&format!("/git/tags/{}", object["sha"].as_str().unwrap()))
        .value();
    assert_eq!(
        tag["object"]["sha"],
        client.get("/commits/v1").value()["sha"]
    );
    assert_eq!(client.get("/commits/nothing").status, 422);
}
