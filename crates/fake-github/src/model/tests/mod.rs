//! Tests of the model, one claim each.

mod admission;
mod drafts;
mod faults;
mod lists;
mod rate_limits;
mod uploads;

use serde_json::{Value, json};

use super::{
    ApiReply, ApiRequest, FakeGithub, FaultRule, FaultSchedule, GithubSettings, InjectedFault,
};

/// 2026-11-21 17:22:58 UTC.
pub(super) const NOW: u64 = 1_795_281_778_000;
/// The URL of the repository in the API.
pub(super) const REPO: &str = "http://api.test/repos/me/wheels";
/// A wheel name with a local version label.
pub(super) const WHEEL: &str = "flash_attn-2.8.3+rocm62torch2.5-cp310-cp310-linux_x86_64.whl";

/// A model, a clock, and a client without mistakes.
pub(super) struct TestClient {
    pub(super) github: FakeGithub,
    pub(super) now: u64,
}

impl TestClient {
    pub(super) fn new() -> Self {
        Self::with(|_| {})
    }

    pub(super) fn with(change: impl FnOnce(&mut GithubSettings)) -> Self {
        let mut settings = GithubSettings::default();
        change(&mut settings);
        Self {
            github: FakeGithub::new(settings),
            now: NOW,
        }
    }

    pub(super) fn faults(mut self, rules: &[&str]) -> Self {
        self.github.faults =
            FaultSchedule::by_rule(rules.iter().map(|rule| rule.parse::<FaultRule>().unwrap()));
        self
    }

    pub(super) fn immutable(mut self) -> Self {
        self.github
            .repository_mut("me/wheels")
            .has_immutable_releases = true;
        self
    }

    pub(super) fn send(&mut self, request: &ApiRequest) -> ApiReply {
        self.github.handle(request, self.now)
    }

    pub(super) fn get(&mut self, path: &str) -> ApiReply {
        self.send(&ApiRequest::complete(
            "GET",
            &format!("{REPO}{path}"),
            "writer",
        ))
    }

    pub(super) fn ask(&mut self, method: &str, path: &str, body: &Value) -> ApiReply {
        self.send(&ApiRequest::complete(method, &format!("{REPO}{path}"), "writer").json(body))
    }

    pub(super) fn remove(&mut self, path: &str) -> ApiReply {
        self.send(&ApiRequest::complete(
            "DELETE",
            &format!("{REPO}{path}"),
            "writer",
        ))
    }

    /// Creates a draft, and returns its ID.
    pub(super) fn draft(&mut self, tag: &str) -> u64 {
        let reply = self.ask(
            "POST",
            "/releases",
            &json!({"tag_name": tag, "draft": true}),
        );
        assert_eq!(reply.status, 201, "{}", reply.value());
        reply.value()["id"].as_u64().unwrap()
    }

    pub(super) fn publish(&mut self, id: u64) -> ApiReply {
        self.ask(
            "PATCH",
            &format!("/releases/{id}"),
            &json!({"draft": false}),
        )
    }

    /// Uploads bytes under a name that is already encoded.
    pub(super) fn upload(&mut self, release: u64, raw_name: &str, bytes: &[u8]) -> ApiReply {
        let url = format!("{REPO}/releases/{release}/assets?name={raw_name}");
        let request = ApiRequest::complete("POST", &url, "writer")
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

    /// Returns the only asset of a release.
    pub(super) fn asset(&mut self, release: u64) -> Value {
        let [asset] = self.assets(release).try_into().unwrap();
        asset
    }
}

/// Returns the status, and the resource, code, field and message of the first error, or the message
/// of the reply if it has no errors.
pub(super) fn refused(reply: &ApiReply) -> (u16, String) {
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
pub(super) fn check_refused(reply: &ApiReply, status: u16, text: &str) {
    assert_eq!(refused(reply), (status, text.to_owned()));
}

/// Returns a digest as GitHub writes it.
pub(super) fn digest(bytes: &[u8]) -> Value {
    json!(format!(
        "sha256:{}",
        super::ReceivedBody::from_bytes(bytes, 0).sha256
    ))
}

#[test]
fn a_saved_state_is_applied_on_another_day() {
    let mut client = TestClient::new().immutable();
    let id = client.draft("v1");
    client.upload(id, "a%2Bb", b"bytes");
    client.publish(id);
    let (text, objects) = (
        client.github.to_json(),
        client
            .github
            .objects()
            .map(|(sha, bytes)| (sha.to_owned(), bytes.to_vec()))
            .collect::<Vec<_>>(),
    );
    let mut other = TestClient::new();
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
        client.get(&format!("/releases/{id}")).value()
    );
    let next = other.draft("v2");
    assert!(next > id, "numbers go on");
    assert!(other.github.restore("{}", |_| None).is_err());
    assert!("502".parse::<InjectedFault>().is_ok());
}
