//! Pages, and lists that lag.

use serde_json::json;

use super::super::{ApiRequest, ListingMode};
use super::{REPO, TestClient};

#[test]
fn releases_come_in_pages_whose_links_name_the_repository_by_number() {
    let mut client = TestClient::new();
    let ids: Vec<u64> = (0..5).map(|at| client.draft(&format!("v{at}"))).collect();
    let first = client.get("/releases?per_page=2");
    let link = first.get("link").unwrap();
    let (next, rest) = link.split_once('>').unwrap();
    assert!(rest.starts_with("; rel=\"next\""), "{link}");
    assert!(
        next.contains("/repositories/") && next.ends_with("?per_page=2&page=2"),
        "{link}"
    );
    let second = client.send(&ApiRequest::complete("GET", &next[1..], "writer"));
    let numbers = |value: serde_json::Value| -> Vec<u64> {
        value
            .as_array()
            .unwrap()
            .iter()
            .map(|release| release["id"].as_u64().unwrap())
            .collect()
    };
    assert_eq!(
        [numbers(first.value()), numbers(second.value())].concat(),
        [ids[4], ids[3], ids[2], ids[1]]
    );
}

#[test]
fn tags_come_backwards_by_their_letters_each_with_its_commit() {
    let mut client = TestClient::new();
    let tags = &mut client.github.repository_mut("me/wheels").tags;
    tags.extend(["v9", "v10"].map(|tag| (tag.to_owned(), format!("commit of {tag}"))));
    client
        .github
        .repository_mut("me/wheels")
        .annotated
        .insert("v10".to_owned(), "an object".to_owned());
    let first = client.get("/tags?per_page=2");
    let listed = first.value();
    let seen: Vec<_> = listed
        .as_array()
        .unwrap()
        .iter()
        .map(|tag| [&tag["name"], &tag["commit"]["sha"]])
        .collect();
    assert_eq!(
        json!(seen),
        json!([["v9", "commit of v9"], ["v10", "commit of v10"]])
    );
    let link = first.get("link").unwrap();
    assert!(
        link.contains("/tags?per_page=2&page=2>; rel=\"next\"") && link.contains("/repositories/"),
        "{link}"
    );
}

#[test]
fn a_file_is_its_text_on_request() {
    let mut client = TestClient::new();
    let repository = client.github.repository_mut("me/wheels");
    let commit = repository.tags["v1"].clone();
    repository
        .files
        .entry(commit.clone())
        .or_default()
        .insert("a/b.yml".to_owned(), "runs: x\n".to_owned());
    let path = format!("{REPO}/contents/a/b.yml?ref={commit}");
    let mut raw = ApiRequest::complete("GET", &path, "writer");
    raw.headers.retain(|(name, _)| name != "accept");
    let reply = client.send(&raw.header("accept", "application/vnd.github.raw+json"));
    assert_eq!((reply.status, &*reply.body), (200, &b"runs: x\n"[..]));
    assert_eq!(
        client.get("/contents/a/b.yml?ref=v1").value()["type"],
        "file"
    );
    for missing in [
        "/contents/a/c.yml?ref=v1",
        "/contents/a/b.yml?ref=v7",
        "/contents/a/b.yml?ref=v",
    ] {
        assert_eq!(client.get(missing).status, 404, "{missing}");
    }
}

#[test]
fn pages_have_30_assets_by_default_and_100_at_most() {
    let mut client = TestClient::new();
    let id = client.draft("v1");
    for at in 0..120 {
        client.upload(id, &format!("a{at}"), b"1");
    }
    for (query, count) in [
        ("", 30),
        ("?per_page=1000", 100),
        ("?per_page=100&page=2", 20),
        ("?page=9", 0),
    ] {
        let page = client.get(&format!("/releases/{id}/assets{query}"));
        assert_eq!(page.value().as_array().unwrap().len(), count, "{query}");
    }
}

#[test]
fn a_list_shows_what_is_new_changed_or_gone_only_after_a_while() {
    let mut client = TestClient::with(|settings| settings.listing = ListingMode::Late(5000));
    client.now += 10_000;
    let id = client.draft("v1");
    assert_eq!(client.get("/releases").value(), json!([]));
    assert_eq!(
        client.get(&format!("/releases/{id}")).status,
        200,
        "by number it is there at once"
    );
    assert_eq!(client.assets(id).len(), 0);
    client.now += 5000;
    assert_eq!(client.get("/releases").value()[0]["draft"], true);

    let asset = client.upload(id, "a", b"1").value()["id"].clone();
    assert_eq!(client.assets(id).len(), 0);
    client.now += 5000;
    assert_eq!(client.assets(id).len(), 1);
    client.remove(&format!("/releases/assets/{asset}"));
    assert_eq!(
        client.assets(id).len(),
        1,
        "the list still shows what is gone"
    );
    assert_eq!(client.get(&format!("/releases/assets/{asset}")).status, 404);
    client.publish(id);
    assert_eq!(client.get("/releases").value()[0]["draft"], true);
    client.now += 5001;
    assert_eq!(
        (
            client.assets(id).len(),
            client.get("/releases").value()[0]["draft"].as_bool()
        ),
        (0, Some(false))
    );
    assert!(client.github.repository("me/wheels").snapshots.len() < 10);
}

#[test]
fn of_two_replicas_one_lags() {
    let mut client = TestClient::with(|settings| settings.listing = ListingMode::Flapping(5000));
    client.now += 10_000;
    client.draft("v1");
    let mut counts = (0..4).map(|_| client.get("/releases").value().as_array().unwrap().len());
    assert_eq!(
        [counts.next(), counts.next(), counts.next(), counts.next()].map(Option::unwrap),
        [1, 0, 1, 0]
    );
}

#[test]
fn a_next_page_may_be_on_another_host() {
    let mut client = TestClient::new().faults(&["list-releases=next-elsewhere"]);
    client.draft("v1");
    client.draft("v2");
    let reply = client.get("/releases?per_page=1");
    assert!(
        reply
            .get("link")
            .unwrap()
            .starts_with("<http://storage.test/repositories/")
    );
    assert!(REPO.starts_with("http://api.test/"));
}
