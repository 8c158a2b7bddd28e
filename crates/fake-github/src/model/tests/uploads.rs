//! Names, sizes, states and downloads of assets.

use serde_json::json;

use super::super::{ApiRequest, DigestMode, ReachedState};
use super::{REPO, TestClient, WHEEL, check_refused, digest};

#[test]
fn an_encoded_plus_is_kept_and_a_raw_one_is_a_space_that_becomes_a_period() {
    let mut client = TestClient::new();
    let id = client.draft("v1");
    let reply = client.upload(id, &WHEEL.replace('+', "%2B"), b"wheel");
    assert_eq!(
        (reply.status, reply.value()["name"].as_str()),
        (201, Some(WHEEL))
    );
    let reply = client.upload(id, WHEEL, b"wheel");
    assert_eq!(
        reply.value()["name"].as_str(),
        Some(WHEEL.replace('+', ".").as_str())
    );
    assert_eq!(
        client.github.ledger.complaints,
        ["POST upload: a name that is not encoded"]
    );
}

#[test]
fn an_uploaded_asset_has_size_digest_and_state() {
    let mut client = TestClient::new();
    let id = client.draft("v1");
    let asset = client
        .upload(id, "a.json&label=A%20label", b"bytes")
        .value();
    assert_eq!(asset["state"], "uploaded");
    assert_eq!(
        (asset["size"].as_u64(), &asset["digest"]),
        (Some(5), &digest(b"bytes"))
    );
    assert_eq!(
        (&asset["label"], &asset["content_type"]),
        (&json!("A label"), &json!("application/octet-stream"))
    );
    assert_eq!(client.asset(id), asset);
    assert_eq!(
        client.get(&format!("/releases/{id}")).value()["assets"][0],
        asset
    );
    assert_eq!(
        client
            .get(&format!("/releases/assets/{}", asset["id"]))
            .value(),
        asset
    );
}

#[test]
fn a_name_that_is_taken_is_refused_in_any_case_of_its_letters() {
    let mut client = TestClient::new();
    let id = client.draft("v1");
    client.upload(id, "a%20b", b"1");
    for name in ["a.b", "A.B", "a~b"] {
        check_refused(
            &client.upload(id, name, b"2"),
            422,
            "ReleaseAsset already_exists name",
        );
    }
    assert_eq!(client.github.ledger.times(ReachedState::NameTaken), 3);
}

#[test]
fn digests_are_null_or_late_on_request() {
    for (digests, expect) in [
        (DigestMode::Null, [false, false]),
        (DigestMode::Late(500), [false, true]),
        (DigestMode::Told, [true, true]),
    ] {
        let mut client = TestClient::with(|settings| settings.digests = digests);
        let id = client.draft("v1");
        let now = client.upload(id, "a", b"1").value()["digest"].is_string();
        client.now += 1000;
        assert_eq!(
            [now, client.asset(id)["digest"].is_string()],
            expect,
            "{digests:?}"
        );
    }
}

#[test]
fn lengths_that_are_missing_zero_or_too_large_are_refused() {
    let mut client = TestClient::with(|settings| settings.asset_bytes = 10);
    let id = client.draft("v1");
    let url = format!("{REPO}/releases/{id}/assets?name=a");
    let chunked =
        ApiRequest::complete("POST", &url, "writer").header("transfer-encoding", "chunked");
    check_refused(&client.send(&chunked), 400, "Bad Content-Length: ");
    check_refused(
        &client.upload(id, "a", b""),
        422,
        "ReleaseAsset custom size size must be greater than or equal to 1",
    );
    check_refused(
        &client.upload(id, "a", b"0123456789"),
        422,
        "ReleaseAsset custom size size must be less than 10",
    );
    assert_eq!(client.upload(id, "a", b"012345678").status, 201);
    check_refused(
        &client.upload(id, "", b"1"),
        400,
        "Invalid name for request",
    );
    assert_eq!(client.upload(id, &"a".repeat(256), b"1").status, 422);
    assert_eq!(client.upload(9, "b", b"1").status, 404);
}

#[test]
fn the_limit_of_two_gibibytes_is_the_default() {
    let settings = super::super::GithubSettings::default();
    assert_eq!(
        (settings.asset_bytes, settings.assets_per_release),
        (2_147_483_648, 1000)
    );
}

#[test]
fn a_release_has_so_many_assets_and_no_more() {
    let mut client = TestClient::with(|settings| settings.assets_per_release = 2);
    let id = client.draft("v1");
    client.upload(id, "a", b"1");
    client.upload(id, "b", b"1");
    let text = "ReleaseAsset custom file_count file_count limited to 2 assets per release";
    check_refused(&client.upload(id, "c", b"1"), 422, text);
}

#[test]
fn a_cut_upload_leaves_a_starter_that_blocks_its_name_until_it_is_deleted() {
    let mut client = TestClient::new().faults(&["upload#1=cut:3"]);
    let id = client.draft("v1");
    assert!(!client.upload(id, "a", b"bytes").arrives());
    let left = client.asset(id);
    assert_eq!(
        (&left["state"], &left["digest"]),
        (&json!("starter"), &json!(null))
    );
    check_refused(
        &client.upload(id, "a", b"bytes"),
        422,
        "ReleaseAsset already_exists name",
    );
    assert_eq!(
        client
            .remove(&format!("/releases/assets/{}", left["id"]))
            .status,
        204
    );
    assert_eq!(client.upload(id, "a", b"bytes").status, 201);
    let ledger = &client.github.ledger;
    let times = [
        ReachedState::UploadBegun,
        ReachedState::UploadCut,
        ReachedState::StarterDeleted,
        ReachedState::Uploaded,
    ];
    assert_eq!(times.map(|state| ledger.times(state)), [2, 1, 1, 1]);
    assert_eq!(ledger.requests[1].size_bytes, 3);
}

#[test]
fn an_upload_that_ends_early_leaves_a_starter() {
    let mut client = TestClient::new();
    let id = client.draft("v1");
    let url = format!("{REPO}/releases/{id}/assets?name=a");
    let mut request = ApiRequest::complete("POST", &url, "writer").body("bytes");
    request.body.truncate(2);
    assert!(!client.send(&request).arrives());
    assert_eq!(client.asset(id)["state"], "starter");
}

#[test]
fn a_bad_gateway_leaves_a_starter_or_the_whole_asset_and_a_lost_upload_nothing() {
    for (fault, left) in [
        ("502", vec!["starter"]),
        ("done:502", vec!["uploaded"]),
        ("mute:0", vec!["uploaded"]),
        ("lost:2", vec![]),
    ] {
        let mut client = TestClient::new().faults(&[&format!("upload={fault}")]);
        let id = client.draft("v1");
        let reply = client.upload(id, "a", b"bytes");
        assert!(reply.status == 502 || !reply.arrives(), "{fault}");
        let states: Vec<String> = client
            .assets(id)
            .iter()
            .map(|one| one["state"].as_str().unwrap().to_owned())
            .collect();
        assert_eq!(states, left, "{fault}");
    }
}

#[test]
fn an_asset_is_renamed_by_the_same_rule_and_not_onto_another() {
    let mut client = TestClient::new();
    let id = client.draft("v1");
    let first = client.upload(id, "a.tmp-1", b"1").value()["id"].clone();
    client.upload(id, "a", b"0");
    let rename = |client: &mut TestClient, name: &str| {
        client.ask(
            "PATCH",
            &format!("/releases/assets/{first}"),
            &json!({"name": name}),
        )
    };
    check_refused(
        &rename(&mut client, "A"),
        422,
        "ReleaseAsset already_exists name",
    );
    assert_eq!(rename(&mut client, "b c").value()["name"], "b.c");
    assert_eq!(
        rename(&mut client, "B.c").value()["name"],
        "B.c",
        "its own name is free to it"
    );
    assert_eq!(client.github.ledger.times(ReachedState::AssetRenamed), 2);
}

#[test]
fn bytes_come_from_the_other_host_which_needs_no_token_and_minds_one() {
    let mut client = TestClient::new();
    let id = client.draft("v1");
    let asset = client.upload(id, "a%2Bb", b"0123456789").value();
    let url = asset["url"].as_str().unwrap();
    let ask = ApiRequest::complete("GET", url, "writer");
    let ask = ApiRequest {
        headers: vec![],
        ..ask
    }
    .header("user-agent", "x")
    .header("authorization", "token writer")
    .header("accept", "application/octet-stream");
    let reply = client.send(&ask);
    let there = reply.get("location").unwrap().to_owned();
    assert_eq!(
        (
            reply.status,
            there.starts_with("http://storage.test/objects/")
        ),
        (302, true)
    );

    let reply = client.send(&ApiRequest::new("GET", &there));
    assert_eq!(
        (reply.status, &*reply.body),
        (200, b"0123456789".as_slice())
    );
    let reply = client.send(&ApiRequest::new("GET", &there).header("range", "bytes=2-4"));
    assert_eq!(
        (reply.status, &*reply.body, reply.get("content-range")),
        (206, b"234".as_slice(), Some("bytes 2-4/10"))
    );
    assert_eq!(
        client
            .send(&ApiRequest::new("GET", &there).header("range", "bytes=-3"))
            .body[..],
        *b"789"
    );
    assert_eq!(
        client
            .send(&ApiRequest::new("GET", &there).header("range", "bytes=10-"))
            .status,
        416
    );

    assert_eq!(client.github.ledger.leaks, 0);
    assert_eq!(
        client
            .send(&ApiRequest::complete("GET", &there, "writer"))
            .status,
        400
    );
    assert_eq!(client.github.ledger.leaks, 1);
    assert_eq!(
        client
            .send(&ApiRequest::new("GET", &there.replace("sig=", "sig=0")))
            .status,
        403
    );
    client.now += 301_000;
    assert_eq!(
        client.send(&ApiRequest::new("GET", &there)).status,
        403,
        "a redirect is good for five minutes"
    );
}

#[test]
fn people_download_by_tag_and_name_from_published_releases_alone() {
    let mut client = TestClient::new();
    let id = client.draft("v1");
    let shown = client.upload(id, "a%2Bb", b"1").value()["browser_download_url"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(shown.contains("/untagged-"), "{shown}");
    let urls = [
        "http://api.test/me/wheels/releases/download/v1/a+b",
        "http://api.test/me/wheels/releases/download/v1/a%2Bb",
    ];
    let get = |url: &str| ApiRequest::new("GET", url).header("user-agent", "pip");
    assert_eq!(client.send(&get(urls[0])).status, 404);
    client.publish(id);
    for url in urls {
        assert_eq!(client.send(&get(url)).status, 302, "{url}");
    }
    let asset = client.asset(id);
    assert_eq!(
        (&asset["browser_download_url"], &asset["download_count"]),
        (&json!(urls[1]), &json!(2))
    );
}

#[test]
fn bytes_beyond_the_limit_are_hashed_and_not_kept() {
    let mut client = TestClient::with(|settings| settings.keep_bytes = 4);
    let id = client.draft("v1");
    assert_eq!(
        client.upload(id, "a", b"12345").value()["digest"],
        digest(b"12345")
    );
    client.upload(id, "b", b"1234");
    assert_eq!(
        client
            .github
            .objects()
            .map(|(_, bytes)| bytes.len())
            .collect::<Vec<_>>(),
        [4]
    );
}

/// An upload with a correct reply can be listed with another name, state, size or digest.
#[test]
fn a_listing_can_contradict_the_answer_to_an_upload() {
    for (fault, field, listed) in [
        (
            "later-digest",
            "digest",
            json!(format!("sha256:{}", "0".repeat(64))),
        ),
        ("later-size", "size", json!(1)),
        ("later-starter", "state", json!("starter")),
        ("later-name", "name", json!("a.b")),
    ] {
        let mut client = TestClient::new().faults(&[&format!("upload={fault}")]);
        let id = client.draft("v1");
        let answered = client.upload(id, "a%2Bb", b"bytes").value();
        let asset = (
            &answered["name"],
            &answered["state"],
            answered["size"].as_u64(),
            &answered["digest"],
        );
        assert_eq!(
            asset,
            (
                &json!("a+b"),
                &json!("uploaded"),
                Some(5),
                &digest(b"bytes")
            ),
            "{fault}"
        );
        assert_eq!(client.asset(id)[field], listed, "{fault}");
    }
}
