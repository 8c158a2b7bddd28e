//! What the fake GitHub does, one claim a test.

mod asked;
mod drafts;
mod lists;
mod strikes;
mod uploads;
mod waits;

use serde_json::{Value, json};

use super::{Fault, Faults, Github, Reply, Request, Rule, Settings};

/// 2026-11-21 17:22:58 UTC.
pub(super) const NOW: u64 = 1_795_281_778_000;
/// The API of the repository that there is.
pub(super) const REPO: &str = "http://api.test/repos/me/wheels";
/// A name with a label in it.
pub(super) const WHEEL: &str = "flash_attn-2.8.3+rocm62torch2.5-cp310-cp310-linux_x86_64.whl";

/// A GitHub, a clock, and a client that does everything right.
pub(super) struct Lab {
    pub(super) github: Github,
    pub(super) now: u64,
}

impl Lab {
    pub(super) fn new() -> Self {
        Self::with(|_| {})
    }

    pub(super) fn with(change: impl FnOnce(&mut Settings)) -> Self {
        let mut settings = Settings::default();
        change(&mut settings);
        Self {
            github: Github::new(settings),
            now: NOW,
        }
    }

    pub(super) fn faults(mut self, rules: &[&str]) -> Self {
        self.github.faults =
            Faults::by_rule(rules.iter().map(|rule| rule.parse::<Rule>().unwrap()));
        self
    }

    pub(super) fn immutable(mut self) -> Self {
        self.github
            .repository_mut("me/wheels")
            .has_immutable_releases = true;
        self
    }

    pub(super) fn send(&mut self, request: &Request) -> Reply {
        self.github.handle(request, self.now)
    }

    pub(super) fn get(&mut self, path: &str) -> Reply {
        self.send(&Request::careful("GET", &format!("{REPO}{path}"), "writer"))
    }

    pub(super) fn ask(&mut self, method: &str, path: &str, body: &Value) -> Reply {
        self.send(&Request::careful(method, &format!("{REPO}{path}"), "writer").json(body))
    }

    pub(super) fn remove(&mut self, path: &str) -> Reply {
        self.send(&Request::careful(
            "DELETE",
            &format!("{REPO}{path}"),
            "writer",
        ))
    }

    /// Makes a draft and gives its number.
    pub(super) fn draft(&mut self, tag: &str) -> u64 {
        let reply = self.ask(
            "POST",
            "/releases",
            &json!({"tag_name": tag, "draft": true}),
        );
        assert_eq!(reply.status, 201, "{}", reply.value());
        reply.value()["id"].as_u64().unwrap()
    }

    pub(super) fn publish(&mut self, id: u64) -> Reply {
        self.ask(
            "PATCH",
            &format!("/releases/{id}"),
            &json!({"draft": false}),
        )
    }

    /// Uploads bytes under a name as it stands in the query.
    pub(super) fn upload(&mut self, release: u64, raw_name: &str, bytes: &[u8]) -> Reply {
        let url = format!("{REPO}/releases/{release}/assets?name={raw_name}");
        let request = Request::careful("POST", &url, "writer")
            .header("content-type", "application/octet-stream");
        self.send(&request.body(bytes))
    }

    pub(super) fn assets(&mut self, release: u64) -> Vec<Value> {
        self.get(&format!("/releases/{release}/assets?per_page=100"))
            .value()
            .as_array()
            .unwrap()
            .clone()
    }

    /// The only asset of a release.
    pub(super) fn asset(&mut self, release: u64) -> Value {
        let [asset] = self.assets(release).try_into().unwrap();
        asset
    }
}

/// Status and the code, field and text of the first fault of an answer; the message, where it has
/// no faults.
pub(super) fn refused(reply: &Reply) -> (u16, String) {
    let value = reply.value();
    let first = &value["errors"][0];
    let text = if first.is_null() {
        value["message"].as_str().unwrap_or_default().to_owned()
    } else {
        let parts = ["resource", "code", "field", "message"]
            .map(|key| first[key].as_str().unwrap_or_default());
        parts.join(" ").trim_end().to_owned()
    };
    (reply.status, text)
}

#[track_caller]
pub(super) fn check_refused(reply: &Reply, status: u16, text: &str) {
    assert_eq!(refused(reply), (status, text.to_owned()));
}

/// The state of a digest as GitHub writes it.
pub(super) fn digest(bytes: &[u8]) -> Value {
    json!(format!("sha256:{}", super::Received::of(bytes, 0).sha256))
}

#[test]
fn what_was_saved_goes_on_another_day() {
    let mut lab = Lab::new().immutable();
    let id = lab.draft("v1");
    lab.upload(id, "a%2Bb", b"bytes");
    lab.publish(id);
    let (text, objects) = (
        lab.github.to_json(),
        lab.github
            .objects()
            .map(|(sha, bytes)| (sha.to_owned(), bytes.to_vec()))
            .collect::<Vec<_>>(),
    );
    let mut other = Lab::new();
    other
        .github
        .restore(&text, |sha| {
            objects
                .iter()
                .find(|(known, _)| known == sha)
                .map(|(_, bytes)| bytes.clone())
        })
        .unwrap();
    assert_eq!(other.github.to_json(), text);
    assert_eq!(
        other.get(&format!("/releases/{id}")).value(),
        lab.get(&format!("/releases/{id}")).value()
    );
    let next = other.draft("v2");
    assert!(next > id, "numbers go on");
    assert!(other.github.restore("{}", |_| None).is_err());
    assert!("502".parse::<Fault>().is_ok());
}
