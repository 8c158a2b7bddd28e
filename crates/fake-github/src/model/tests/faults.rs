//! The effects of each fault.

use serde_json::json;

use super::super::{ApiRequest, FaultSchedule, InjectedFault, ReachedState, ReplyDelivery};
use super::{NOW, REPO, TestClient, refused};

fn create(fault: &str) -> (super::ApiReply, TestClient) {
    let mut client = TestClient::new().faults(&[&format!("create-release#1={fault}")]);
    let reply = client.ask(
        "POST",
        "/releases",
        &json!({"tag_name": "v1", "draft": true}),
    );
    (reply, client)
}

fn made(client: &mut TestClient) -> usize {
    client.get("/releases").value().as_array().unwrap().len()
}

#[test]
fn a_server_fault_does_nothing_or_everything_and_is_a_page_from_before_github() {
    for status in [500, 502, 503, 504, 408] {
        let (reply, mut client) = create(&status.to_string());
        assert_eq!((reply.status, made(&mut client)), (status, 0));
        assert_eq!(
            reply.get("content-type") == Some("text/html"),
            status != 500
        );
        let (reply, mut client) = create(&format!("done:{status}"));
        assert_eq!((reply.status, made(&mut client)), (status, 1));
    }
}

#[test]
fn a_cut_request_does_nothing_and_a_cut_answer_comes_after_the_deed() {
    let (reply, mut client) = create("cut:0");
    assert_eq!((reply.delivery, made(&mut client)), (ReplyDelivery::Cut, 0));
    let (reply, mut client) = create("mute:0");
    assert_eq!((reply.delivery, made(&mut client)), (ReplyDelivery::Cut, 1));
    let (reply, mut client) = create("mute:60");
    assert_eq!(
        (reply.delivery, reply.arrives(), made(&mut client)),
        (ReplyDelivery::CutAfter(60), false, 1)
    );
    assert_eq!(client.github.ledger.times(ReachedState::AnswerCut), 1);
    assert_eq!(
        client.github.ledger.requests[0].fault,
        Some(InjectedFault::Mute(60))
    );
}

#[test]
fn a_slow_answer_is_whole() {
    let (reply, _) = create("slow:100");
    assert_eq!(
        (reply.delivery, reply.arrives()),
        (ReplyDelivery::Slow(100), true)
    );
}

#[test]
fn limits_come_in_both_styles_and_as_text_alone() {
    for status in [403, 429] {
        let (reply, mut client) = create(&format!("retry-after:{status}:7"));
        assert_eq!(
            (reply.status, reply.get("retry-after"), made(&mut client)),
            (status, Some("7"), 0)
        );
        let (reply, _) = create(&format!("limit:{status}:90"));
        assert_eq!((reply.status, reply.get("retry-after")), (status, None));
        assert_eq!(reply.get("x-ratelimit-remaining"), Some("0"));
        assert_eq!(
            reply.get("x-ratelimit-reset"),
            Some((NOW / 1000 + 90).to_string().as_str())
        );
        let (reply, client) = create(&format!("secondary:{status}"));
        assert_eq!((reply.status, reply.get("retry-after")), (status, None));
        assert_ne!(reply.get("x-ratelimit-remaining"), Some("0"));
        assert!(refused(&reply).1.contains("secondary rate limit"));
        assert_eq!(client.github.ledger.times(ReachedState::Limited), 1);
    }
}

#[test]
fn a_right_that_is_taken_back_has_no_hint_to_wait() {
    for (fault, status) in [
        ("bad-credentials", 401),
        ("no-right", 403),
        ("hidden", 404),
        ("tag-ruleset:422", 422),
    ] {
        let (reply, mut client) = create(fault);
        assert_eq!(
            (reply.status, reply.get("retry-after"), made(&mut client)),
            (status, None, 0),
            "{fault}"
        );
        assert_ne!(reply.get("x-ratelimit-remaining"), Some("0"));
    }
    assert_eq!(create("tag-ruleset:403").0.status, 403);
}

#[test]
fn a_redirect_keeps_path_and_query_and_records_a_leaked_token() {
    for status in [301, 302, 307, 308] {
        let mut client = TestClient::new().faults(&[&format!("#1=elsewhere:{status}")]);
        let reply = client.get("/releases?page=2");
        let there = reply.get("location").unwrap().to_owned();
        assert_eq!(
            (reply.status, there.as_str()),
            (
                status,
                "http://storage.test/repos/me/wheels/releases?page=2"
            )
        );
        client.send(&ApiRequest::new("GET", &there));
        assert_eq!(client.github.ledger.leaks, 0);
        client.send(&ApiRequest::complete("GET", &there, "writer"));
        assert_eq!(client.github.ledger.leaks, 1);
    }
}

#[test]
fn a_garbled_answer_is_a_page_with_a_good_status() {
    let (reply, mut client) = create("garbled");
    assert_eq!(
        (reply.status, reply.value().is_null(), made(&mut client)),
        (200, true, 0)
    );
}

#[test]
fn an_upload_may_get_another_name_digest_or_length() {
    for (fault, name, size, same_digest) in [
        ("wrong-name", "a.b", 5, true),
        ("wrong-digest", "a+b", 5, false),
        ("short", "a+b", 4, false),
        ("no-digest", "a+b", 5, false),
    ] {
        let mut client = TestClient::new().faults(&[&format!("upload={fault}")]);
        let id = client.draft("v1");
        let asset = client.upload(id, "a%2Bb", b"bytes").value();
        assert_eq!(
            (asset["name"].as_str(), asset["size"].as_u64()),
            (Some(name), Some(size)),
            "{fault}"
        );
        assert_eq!(
            asset["digest"] == super::digest(b"bytes"),
            same_digest,
            "{fault}"
        );
        assert_eq!(asset["digest"].is_null(), fault == "no-digest");
    }
}

#[test]
fn what_is_held_is_to_a_client_without_patience_as_if_cut() {
    for (fault, count) in [("hold-before", 0), ("hold-after", 1)] {
        let (reply, mut client) = create(fault);
        assert_eq!(
            (reply.arrives(), made(&mut client)),
            (false, count),
            "{fault}"
        );
    }
    let mut client = TestClient::new().faults(&["upload=hold-upload:2"]);
    let id = client.draft("v1");
    assert!(!client.upload(id, "a", b"bytes").arrives());
    assert_eq!(client.asset(id)["state"], "starter");
}

#[test]
fn faults_that_were_drawn_can_be_had_again_by_number() {
    let run = |faults: FaultSchedule| {
        let mut client = TestClient::new();
        client.github.faults = faults;
        let statuses: Vec<u16> = (0..40)
            .map(|at| {
                client
                    .ask(
                        "POST",
                        "/releases",
                        &json!({"tag_name": format!("t{at}"), "draft": true}),
                    )
                    .status
            })
            .collect();
        (statuses, client)
    };
    let (statuses, client) = run(FaultSchedule::random(11, 400));
    let given: Vec<(u64, InjectedFault)> = client
        .github
        .ledger
        .requests
        .iter()
        .filter_map(|one| Some((one.number, one.fault?)))
        .collect();
    assert!(given.len() > 5 && given.len() < 35);
    let replay = client.github.ledger.replay();
    assert!(replay.starts_with("--fault '#"), "{replay}");
    assert_eq!(run(FaultSchedule::script(given)).0, statuses);
    assert!(REPO.ends_with("me/wheels"));
}

#[test]
fn whatever_is_drawn_nothing_breaks_and_what_is_published_stays_whole() {
    for seed in 0..300 {
        let mut client = TestClient::new();
        client.github.faults = FaultSchedule::random(seed, 300);
        for step in 0..30_u64 {
            client.now += 1000;
            match step % 5 {
                0 => {
                    client.ask(
                        "POST",
                        "/releases",
                        &json!({"tag_name": "v1", "draft": true}),
                    );
                }
                4 => {
                    let ids: Vec<u64> = client
                        .github
                        .repository("me/wheels")
                        .releases
                        .keys()
                        .copied()
                        .collect();
                    if let Some(id) = ids.last() {
                        client.publish(*id);
                    }
                }
                _ => {
                    let ids: Vec<u64> = client
                        .github
                        .repository("me/wheels")
                        .releases
                        .keys()
                        .copied()
                        .collect();
                    if let Some(id) = ids.first() {
                        client.upload(*id, &format!("a{step}"), b"bytes");
                    }
                }
            }
        }
        let repository = client.github.repository("me/wheels");
        assert!(
            repository
                .releases
                .values()
                .filter(|release| !release.draft)
                .count()
                <= 1,
            "seed {seed}"
        );
    }
}
