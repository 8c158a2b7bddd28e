//! Faults, each with what it does and what it leaves.

use serde_json::json;

use super::super::{Delivery, Fault, Faults, Reached, Request};
use super::{Lab, NOW, REPO, refused};

fn create(fault: &str) -> (super::Reply, Lab) {
    let mut lab = Lab::new().faults(&[&format!("create-release#1={fault}")]);
    let reply = lab.ask(
        "POST",
        "/releases",
        &json!({"tag_name": "v1", "draft": true}),
    );
    (reply, lab)
}

fn made(lab: &mut Lab) -> usize {
    lab.get("/releases").value().as_array().unwrap().len()
}

#[test]
fn a_server_fault_does_nothing_or_everything_and_is_a_page_from_before_github() {
    for status in [500, 502, 503, 504, 408] {
        let (reply, mut lab) = create(&status.to_string());
        assert_eq!((reply.status, made(&mut lab)), (status, 0));
        assert_eq!(
            reply.get("content-type") == Some("text/html"),
            status != 500
        );
        let (reply, mut lab) = create(&format!("done:{status}"));
        assert_eq!((reply.status, made(&mut lab)), (status, 1));
    }
}

#[test]
fn a_cut_request_does_nothing_and_a_cut_answer_comes_after_the_deed() {
    let (reply, mut lab) = create("cut:0");
    assert_eq!((reply.delivery, made(&mut lab)), (Delivery::Cut, 0));
    let (reply, mut lab) = create("mute:0");
    assert_eq!((reply.delivery, made(&mut lab)), (Delivery::Cut, 1));
    let (reply, mut lab) = create("mute:60");
    assert_eq!(
        (reply.delivery, reply.arrives(), made(&mut lab)),
        (Delivery::CutAfter(60), false, 1)
    );
    assert_eq!(lab.github.ledger.times(Reached::AnswerCut), 1);
    assert_eq!(lab.github.ledger.requests[0].fault, Some(Fault::Mute(60)));
}

#[test]
fn a_slow_answer_is_whole() {
    let (reply, _) = create("slow:100");
    assert_eq!(
        (reply.delivery, reply.arrives()),
        (Delivery::Slow(100), true)
    );
}

#[test]
fn limits_come_in_both_styles_and_as_text_alone() {
    for status in [403, 429] {
        let (reply, mut lab) = create(&format!("retry-after:{status}:7"));
        assert_eq!(
            (reply.status, reply.get("retry-after"), made(&mut lab)),
            (status, Some("7"), 0)
        );
        let (reply, _) = create(&format!("limit:{status}:90"));
        assert_eq!((reply.status, reply.get("retry-after")), (status, None));
        assert_eq!(reply.get("x-ratelimit-remaining"), Some("0"));
        assert_eq!(
            reply.get("x-ratelimit-reset"),
            Some((NOW / 1000 + 90).to_string().as_str())
        );
        let (reply, lab) = create(&format!("secondary:{status}"));
        assert_eq!((reply.status, reply.get("retry-after")), (status, None));
        assert_ne!(reply.get("x-ratelimit-remaining"), Some("0"));
        assert!(refused(&reply).1.contains("secondary rate limit"));
        assert_eq!(lab.github.ledger.times(Reached::Limited), 1);
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
        let (reply, mut lab) = create(fault);
        assert_eq!(
            (reply.status, reply.get("retry-after"), made(&mut lab)),
            (status, None, 0),
            "{fault}"
        );
        assert_ne!(reply.get("x-ratelimit-remaining"), Some("0"));
    }
    assert_eq!(create("tag-ruleset:403").0.status, 403);
}

#[test]
fn a_redirect_elsewhere_keeps_path_and_query_and_tells_on_the_token() {
    for status in [301, 302, 307, 308] {
        let mut lab = Lab::new().faults(&[&format!("#1=elsewhere:{status}")]);
        let reply = lab.get("/releases?page=2");
        let there = reply.get("location").unwrap().to_owned();
        assert_eq!(
            (reply.status, there.as_str()),
            (
                status,
                "http://storage.test/repos/me/wheels/releases?page=2"
            )
        );
        lab.send(&Request::new("GET", &there));
        assert_eq!(lab.github.ledger.leaks, 0);
        lab.send(&Request::careful("GET", &there, "writer"));
        assert_eq!(lab.github.ledger.leaks, 1);
    }
}

#[test]
fn a_garbled_answer_is_a_page_with_a_good_status() {
    let (reply, mut lab) = create("garbled");
    assert_eq!(
        (reply.status, reply.value().is_null(), made(&mut lab)),
        (200, true, 0)
    );
}

#[test]
fn an_upload_may_get_another_name_digest_or_length_or_tell_no_digest() {
    for (fault, name, size, same_digest) in [
        ("wrong-name", "a.b", 5, true),
        ("wrong-digest", "a+b", 5, false),
        ("short", "a+b", 4, false),
        ("no-digest", "a+b", 5, false),
    ] {
        let mut lab = Lab::new().faults(&[&format!("upload={fault}")]);
        let id = lab.draft("v1");
        let asset = lab.upload(id, "a%2Bb", b"bytes").value();
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
        let (reply, mut lab) = create(fault);
        assert_eq!((reply.arrives(), made(&mut lab)), (false, count), "{fault}");
    }
    let mut lab = Lab::new().faults(&["upload=hold-upload:2"]);
    let id = lab.draft("v1");
    assert!(!lab.upload(id, "a", b"bytes").arrives());
    assert_eq!(lab.asset(id)["state"], "starter");
}

#[test]
fn faults_that_were_drawn_can_be_had_again_by_number() {
    let run = |faults: Faults| {
        let mut lab = Lab::new();
        lab.github.faults = faults;
        let statuses: Vec<u16> = (0..40)
            .map(|at| {
                lab.ask(
                    "POST",
                    "/releases",
                    &json!({"tag_name": format!("t{at}"), "draft": true}),
                )
                .status
            })
            .collect();
        (statuses, lab)
    };
    let (statuses, lab) = run(Faults::random(11, 400));
    let given: Vec<(u64, Fault)> = lab
        .github
        .ledger
        .requests
        .iter()
        .filter_map(|one| Some((one.number, one.fault?)))
        .collect();
    assert!(given.len() > 5 && given.len() < 35);
    let replay = lab.github.ledger.replay();
    assert!(replay.starts_with("--fault '#"), "{replay}");
    assert_eq!(run(Faults::script(given)).0, statuses);
    assert!(REPO.ends_with("me/wheels"));
}

#[test]
fn whatever_is_drawn_nothing_breaks_and_what_is_published_stays_whole() {
    for seed in 0..300 {
        let mut lab = Lab::new();
        lab.github.faults = Faults::random(seed, 300);
        for step in 0..30_u64 {
            lab.now += 1000;
            match step % 5 {
                0 => {
                    lab.ask(
                        "POST",
                        "/releases",
                        &json!({"tag_name": "v1", "draft": true}),
                    );
                }
                4 => {
                    let ids: Vec<u64> = lab
                        .github
                        .repository("me/wheels")
                        .releases
                        .keys()
                        .copied()
                        .collect();
                    if let Some(id) = ids.last() {
                        lab.publish(*id);
                    }
                }
                _ => {
                    let ids: Vec<u64> = lab
                        .github
                        .repository("me/wheels")
                        .releases
                        .keys()
                        .copied()
                        .collect();
                    if let Some(id) = ids.first() {
                        lab.upload(*id, &format!("a{step}"), b"bytes");
                    }
                }
            }
        }
        let repository = lab.github.repository("me/wheels");
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
