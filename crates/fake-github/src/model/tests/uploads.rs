//! Assets: names, sizes, states, downloads.

use serde_json::json;

use super::super::{Digests, Reached, Request};
use super::{Lab, REPO, WHEEL, check_refused, digest};

#[test]
fn an_encoded_plus_is_kept_and_a_raw_one_is_a_space_that_becomes_a_period() {
    let mut lab = Lab::new();
    let id = lab.draft("v1");
    let reply = lab.upload(id, &WHEEL.replace('+', "%2B"), b"wheel");
    assert_eq!(
        (reply.status, reply.value()["name"].as_str()),
        (201, Some(WHEEL))
    );
    let reply = lab.upload(id, WHEEL, b"wheel");
    assert_eq!(
        reply.value()["name"].as_str(),
        Some(WHEEL.replace('+', ".").as_str())
    );
    assert_eq!(
        lab.github.ledger.complaints,
        ["POST upload: a name that is not encoded"]
    );
}

#[test]
fn an_uploaded_asset_tells_size_digest_and_state() {
    let mut lab = Lab::new();
    let id = lab.draft("v1");
    let asset = lab.upload(id, "a.json&label=A%20label", b"bytes").value();
    assert_eq!(asset["state"], "uploaded");
    assert_eq!(
        (asset["size"].as_u64(), &asset["digest"]),
        (Some(5), &digest(b"bytes"))
    );
    assert_eq!(
        (&asset["label"], &asset["content_type"]),
        (&json!("A label"), &json!("application/octet-stream"))
    );
    assert_eq!(lab.asset(id), asset);
    assert_eq!(
        lab.get(&format!("/releases/{id}")).value()["assets"][0],
        asset
    );
    assert_eq!(
        lab.get(&format!("/releases/assets/{}", asset["id"]))
            .value(),
        asset
    );
}

#[test]
fn a_name_that_is_taken_is_refused_in_any_case_of_its_letters() {
    let mut lab = Lab::new();
    let id = lab.draft("v1");
    lab.upload(id, "a%20b", b"1");
    for name in ["a.b", "A.B", "a~b"] {
        check_refused(
            &lab.upload(id, name, b"2"),
            422,
            "ReleaseAsset already_exists name",
        );
    }
    assert_eq!(lab.github.ledger.times(Reached::NameTaken), 3);
}

#[test]
fn digests_are_null_or_late_where_that_is_asked() {
    for (digests, expect) in [
        (Digests::Null, [false, false]),
        (Digests::Late(500), [false, true]),
        (Digests::Told, [true, true]),
    ] {
        let mut lab = Lab::with(|settings| settings.digests = digests);
        let id = lab.draft("v1");
        let now = lab.upload(id, "a", b"1").value()["digest"].is_string();
        lab.now += 1000;
        assert_eq!(
            [now, lab.asset(id)["digest"].is_string()],
            expect,
            "{digests:?}"
        );
    }
}

#[test]
fn lengths_that_are_missing_zero_or_too_large_are_refused() {
    let mut lab = Lab::with(|settings| settings.asset_bytes = 10);
    let id = lab.draft("v1");
    let url = format!("{REPO}/releases/{id}/assets?name=a");
    let chunked = Request::careful("POST", &url, "writer").header("transfer-encoding", "chunked");
    check_refused(&lab.send(&chunked), 400, "Bad Content-Length: ");
    check_refused(
        &lab.upload(id, "a", b""),
        422,
        "ReleaseAsset custom size size must be greater than or equal to 1",
    );
    check_refused(
        &lab.upload(id, "a", b"0123456789"),
        422,
        "ReleaseAsset custom size size must be less than 10",
    );
    assert_eq!(lab.upload(id, "a", b"012345678").status, 201);
    check_refused(&lab.upload(id, "", b"1"), 400, "Invalid name for request");
    assert_eq!(lab.upload(id, &"a".repeat(256), b"1").status, 422);
    assert_eq!(lab.upload(9, "b", b"1").status, 404);
}

#[test]
fn the_limit_of_two_gibibytes_is_the_default() {
    let settings = super::super::Settings::default();
    assert_eq!(
        (settings.asset_bytes, settings.assets_per_release),
        (2_147_483_648, 1000)
    );
}

#[test]
fn a_release_has_so_many_assets_and_no_more() {
    let mut lab = Lab::with(|settings| settings.assets_per_release = 2);
    let id = lab.draft("v1");
    lab.upload(id, "a", b"1");
    lab.upload(id, "b", b"1");
    let text = "ReleaseAsset custom file_count file_count limited to 2 assets per release";
    check_refused(&lab.upload(id, "c", b"1"), 422, text);
}

#[test]
fn a_cut_upload_leaves_a_starter_that_blocks_its_name_until_it_is_deleted() {
    let mut lab = Lab::new().faults(&["upload#1=cut:3"]);
    let id = lab.draft("v1");
    assert!(!lab.upload(id, "a", b"bytes").arrives());
    let left = lab.asset(id);
    assert_eq!(
        (&left["state"], &left["digest"]),
        (&json!("starter"), &json!(null))
    );
    check_refused(
        &lab.upload(id, "a", b"bytes"),
        422,
        "ReleaseAsset already_exists name",
    );
    assert_eq!(
        lab.remove(&format!("/releases/assets/{}", left["id"]))
            .status,
        204
    );
    assert_eq!(lab.upload(id, "a", b"bytes").status, 201);
    let ledger = &lab.github.ledger;
    let times = [
        Reached::UploadBegun,
        Reached::UploadCut,
        Reached::StarterDeleted,
        Reached::Uploaded,
    ];
    assert_eq!(times.map(|state| ledger.times(state)), [2, 1, 1, 1]);
    assert_eq!(ledger.requests[1].size_bytes, 3);
}

#[test]
fn an_upload_that_ends_early_leaves_a_starter() {
    let mut lab = Lab::new();
    let id = lab.draft("v1");
    let url = format!("{REPO}/releases/{id}/assets?name=a");
    let mut request = Request::careful("POST", &url, "writer").body("bytes");
    request.body.truncate(2);
    assert!(!lab.send(&request).arrives());
    assert_eq!(lab.asset(id)["state"], "starter");
}

#[test]
fn a_bad_gateway_leaves_a_starter_or_the_whole_asset_and_a_lost_upload_nothing() {
    for (fault, left) in [
        ("502", vec!["starter"]),
        ("done:502", vec!["uploaded"]),
        ("mute:0", vec!["uploaded"]),
        ("lost:2", vec![]),
    ] {
        let mut lab = Lab::new().faults(&[&format!("upload={fault}")]);
        let id = lab.draft("v1");
        let reply = lab.upload(id, "a", b"bytes");
        assert!(reply.status == 502 || !reply.arrives(), "{fault}");
        let states: Vec<String> = lab
            .assets(id)
            .iter()
            .map(|one| one["state"].as_str().unwrap().to_owned())
            .collect();
        assert_eq!(states, left, "{fault}");
    }
}

#[test]
fn an_asset_is_renamed_by_the_same_rule_and_not_onto_another() {
    let mut lab = Lab::new();
    let id = lab.draft("v1");
    let first = lab.upload(id, "a.tmp-1", b"1").value()["id"].clone();
    lab.upload(id, "a", b"0");
    let rename = |lab: &mut Lab, name: &str| {
        lab.ask(
            "PATCH",
            &format!("/releases/assets/{first}"),
            &json!({"name": name}),
        )
    };
    check_refused(
        &rename(&mut lab, "A"),
        422,
        "ReleaseAsset already_exists name",
    );
    assert_eq!(rename(&mut lab, "b c").value()["name"], "b.c");
    assert_eq!(
        rename(&mut lab, "B.c").value()["name"],
        "B.c",
        "its own name is free to it"
    );
    assert_eq!(lab.github.ledger.times(Reached::AssetRenamed), 2);
}

#[test]
fn bytes_come_from_the_other_host_which_needs_no_token_and_minds_one() {
    let mut lab = Lab::new();
    let id = lab.draft("v1");
    let asset = lab.upload(id, "a%2Bb", b"0123456789").value();
    let url = asset["url"].as_str().unwrap();
    let ask = Request::careful("GET", url, "writer");
    let ask = Request {
        headers: vec![],
        ..ask
    }
    .header("user-agent", "x")
    .header("authorization", "token writer")
    .header("accept", "application/octet-stream");
    let reply = lab.send(&ask);
    let there = reply.get("location").unwrap().to_owned();
    assert_eq!(
        (
            reply.status,
            there.starts_with("http://storage.test/objects/")
        ),
        (302, true)
    );

    let reply = lab.send(&Request::new("GET", &there));
    assert_eq!(
        (reply.status, &*reply.body),
        (200, b"0123456789".as_slice())
    );
    let reply = lab.send(&Request::new("GET", &there).header("range", "bytes=2-4"));
    assert_eq!(
        (reply.status, &*reply.body, reply.get("content-range")),
        (206, b"234".as_slice(), Some("bytes 2-4/10"))
    );
    assert_eq!(
        lab.send(&Request::new("GET", &there).header("range", "bytes=-3"))
            .body[..],
        *b"789"
    );
    assert_eq!(
        lab.send(&Request::new("GET", &there).header("range", "bytes=10-"))
            .status,
        416
    );

    assert_eq!(lab.github.ledger.leaks, 0);
    assert_eq!(
        lab.send(&Request::careful("GET", &there, "writer")).status,
        400
    );
    assert_eq!(lab.github.ledger.leaks, 1);
    assert_eq!(
        lab.send(&Request::new("GET", &there.replace("sig=", "sig=0")))
            .status,
        403
    );
    lab.now += 301_000;
    assert_eq!(
        lab.send(&Request::new("GET", &there)).status,
        403,
        "a redirect is good for five minutes"
    );
}

#[test]
fn people_download_by_tag_and_name_from_published_releases_alone() {
    let mut lab = Lab::new();
    let id = lab.draft("v1");
    let shown = lab.upload(id, "a%2Bb", b"1").value()["browser_download_url"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(shown.contains("/untagged-"), "{shown}");
    let urls = [
        "http://api.test/me/wheels/releases/download/v1/a+b",
        "http://api.test/me/wheels/releases/download/v1/a%2Bb",
    ];
    let get = |url: &str| Request::new("GET", url).header("user-agent", "pip");
    assert_eq!(lab.send(&get(urls[0])).status, 404);
    lab.publish(id);
    for url in urls {
        assert_eq!(lab.send(&get(url)).status, 302, "{url}");
    }
    let asset = lab.asset(id);
    assert_eq!(
        (&asset["browser_download_url"], &asset["download_count"]),
        (&json!(urls[1]), &json!(2))
    );
}

#[test]
fn bytes_beyond_the_limit_are_hashed_and_not_kept() {
    let mut lab = Lab::with(|settings| settings.keep_bytes = 4);
    let id = lab.draft("v1");
    assert_eq!(
        lab.upload(id, "a", b"12345").value()["digest"],
        digest(b"12345")
    );
    lab.upload(id, "b", b"1234");
    assert_eq!(
        lab.github
            .objects()
            .map(|(_, bytes)| bytes.len())
            .collect::<Vec<_>>(),
        [4]
    );
}

/// An upload that is answered as it was sent can be listed with another name, state, size or
/// digest.
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
        let mut lab = Lab::new().faults(&[&format!("upload={fault}")]);
        let id = lab.draft("v1");
        let answered = lab.upload(id, "a%2Bb", b"bytes").value();
        let told = (
            &answered["name"],
            &answered["state"],
            answered["size"].as_u64(),
            &answered["digest"],
        );
        assert_eq!(
            told,
            (
                &json!("a+b"),
                &json!("uploaded"),
                Some(5),
                &digest(b"bytes")
            ),
            "{fault}"
        );
        assert_eq!(lab.asset(id)[field], listed, "{fault}");
    }
}
