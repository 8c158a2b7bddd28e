//! Rate limits and the clock.

use serde_json::json;

use super::super::{ApiRequest, SecondaryLimits};
use super::{NOW, REPO, TestClient, refused};

fn header(reply: &super::ApiReply, name: &str) -> u64 {
    reply.get(name).unwrap().parse().unwrap()
}

#[test]
fn the_hourly_limit_counts_down_refuses_and_comes_back() {
    let mut client = TestClient::with(|settings| settings.requests_per_hour = 3);
    let left: Vec<u64> = (0..3)
        .map(|_| header(&client.get(""), "x-ratelimit-remaining"))
        .collect();
    assert_eq!(left, [2, 1, 0]);
    let reply = client.get("");
    assert_eq!(reply.status, 403);
    assert!(refused(&reply).1.starts_with("API rate limit exceeded for"));
    assert_eq!(header(&reply, "x-ratelimit-remaining"), 0);
    let reset_s = header(&reply, "x-ratelimit-reset");
    assert!(reset_s * 1000 >= NOW + 3_600_000);
    assert_eq!(
        client
            .send(&ApiRequest::complete("GET", REPO, "reader"))
            .status,
        200,
        "each token has its own"
    );
    client.now = reset_s * 1000;
    assert_eq!(client.get("").status, 200);
}

#[test]
fn without_a_token_there_are_sixty_requests_an_hour() {
    let mut client = TestClient::with(|settings| *settings = settings.clone().with_real_limits());
    let get = ApiRequest::new("GET", REPO).header("user-agent", "x");
    let answers = (0..61)
        .map(|_| client.send(&get).status)
        .filter(|status| *status == 200);
    assert_eq!(answers.count(), 60);
}

#[test]
fn making_too_much_in_a_minute_or_an_hour_is_a_secondary_limit() {
    let limits = SecondaryLimits {
        content_per_minute: 2,
        content_per_hour: 3,
        points_per_minute: 1000,
    };
    let mut client = TestClient::with(|settings| settings.secondary = Some(limits));
    let made = |client: &mut TestClient, tag: &str| {
        client.ask(
            "POST",
            "/releases",
            &json!({"tag_name": tag, "draft": true}),
        )
    };
    assert_eq!(
        [made(&mut client, "a").status, made(&mut client, "b").status],
        [201, 201]
    );
    let reply = made(&mut client, "c");
    assert_eq!((reply.status, reply.get("retry-after")), (403, Some("60")));
    assert!(refused(&reply).1.contains("secondary rate limit"));
    assert_eq!(client.get("").status, 200, "reading goes on");
    client.now += 60_000;
    assert_eq!(
        [made(&mut client, "c").status, made(&mut client, "d").status],
        [201, 403],
        "three an hour"
    );
    client.now += 3_600_000;
    assert_eq!(made(&mut client, "d").status, 201);
}

#[test]
fn reads_cost_one_point_and_writes_five() {
    let limits = SecondaryLimits {
        content_per_minute: 99,
        content_per_hour: 99,
        points_per_minute: 7,
    };
    let mut client = TestClient::with(|settings| settings.secondary = Some(limits));
    client.draft("v1");
    assert_eq!(
        [
            client.get("").status,
            client.get("").status,
            client.get("").status
        ],
        [200, 200, 403]
    );
    client.now += 60_000;
    assert_eq!(client.get("").status, 200);
}

#[test]
fn a_clock_that_is_wrong_is_wrong_everywhere() {
    let mut client = TestClient::with(|settings| settings.clock_skew_ms = -3_600_000);
    let reply = client.get("");
    assert_eq!(reply.get("date"), Some("Sat, 21 Nov 2026 16:22:58 GMT"));
    assert_eq!(header(&reply, "x-ratelimit-reset"), NOW / 1000 + 1);
    let id = client.draft("v1");
    assert_eq!(
        client.get(&format!("/releases/{id}")).value()["created_at"],
        "2026-11-21T16:22:58Z"
    );
}

#[test]
fn a_client_that_does_not_wait_as_requested_is_reported() {
    for (rule, wait_ms) in [
        ("retry-after:429:20", 20_000),
        ("limit:403:30", 30_000),
        ("secondary:403", 60_000),
    ] {
        let mut client = TestClient::with(|settings| settings.clock_skew_ms = 7_000)
            .faults(&[&format!("#1={rule}")]);
        let begun = client.now;
        client.get("");
        for (after_ms, complaints) in [(900, 0), (1100, 1), (wait_ms - 2000, 2), (wait_ms, 2)] {
            client.now = begun + after_ms;
            client.get("");
            assert_eq!(
                client.github.ledger.complaints.len(),
                complaints,
                "{rule} after {after_ms} ms"
            );
        }
    }
    let mut client = TestClient::new().faults(&["#1=retry-after:429:20"]);
    client.get("");
    client.now += 5000;
    client.github.forget_waits();
    client.get("");
    assert!(client.github.ledger.complaints.is_empty(), "another run");
}

#[test]
fn a_client_that_writes_after_its_token_was_refused_is_reported() {
    let mut client = TestClient::new().faults(&["upload=bad-credentials"]);
    let id = client.draft("v1");
    let mut send = |after_ms: u64| {
        client.now += after_ms;
        assert_eq!(client.upload(id, "a", b"a").status, 401);
        client.github.ledger.complaints.len()
    };
    assert_eq!([send(0), send(900), send(1900)], [0, 0, 1]);
    client.get("");
    client.now += 5000;
    client.draft("v2");
    assert_eq!(
        client.github.ledger.complaints.len(),
        1,
        "a read resets the count"
    );
}
