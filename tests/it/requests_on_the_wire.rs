//! The bytes of requests to GitHub as they arrive at sockets.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use rock_matrix::compat::Compat;
use rock_matrix::github::{
    ApiEndpoint, CallOptions, HttpClient, PendingUpload, ProxySettings, RateLimits, ReleaseClient,
    SystemClock, Token, Transport as _, UploadSource, full_body,
};
use rock_matrix::names::Digest;
use rock_matrix::publish::remote::ReleaseDescription;
use sha2::{Digest as _, Sha256};

use fake_github::model::{FakeGithub, GithubSettings};
use fake_github::server::FakeServer;

/// A server that records what arrives, with uploads and stored bytes on hosts of their own.
fn recording_server() -> FakeServer {
    let settings = GithubSettings {
        uploads_base: "http://uploads.test".to_owned(),
        ..GithubSettings::default()
    };
    let server = FakeServer::start(FakeGithub::new(settings));
    server.record();
    server
}

fn network() -> Arc<HttpClient> {
    Arc::new(HttpClient::new(ProxySettings::default()))
}

fn client(server: &FakeServer) -> ReleaseClient {
    let uploads = server.github().settings.uploads_base.clone();
    let uploads = uploads.strip_prefix("http://").unwrap().parse().unwrap();
    let calls = CallOptions {
        api: server
            .url()
            .parse::<ApiEndpoint>()
            .unwrap()
            .with_uploads(&[uploads]),
        token: Token::new("writer"),
        transport: network(),
        clock: Arc::new(SystemClock::default()),
        rates: RateLimits {
            between_writes: Duration::ZERO,
            ..RateLimits::of(&Compat::embedded())
        },
        time: Duration::from_mins(1),
        stop: Box::new(|| false),
        on_wait: Box::new(|_| {}),
        on_reply: Box::new(|_, _, _| {}),
    };
    ReleaseClient::new("me/wheels".parse().unwrap(), calls).unwrap()
}

/// The requests of every connection: a head with the bytes that it announces, and nothing between
/// two of them.
fn requests(server: &FakeServer) -> Vec<String> {
    let mut requests = Vec::new();
    for connection in server.recorded() {
        let mut rest = connection.bytes.as_slice();
        while !rest.is_empty() {
            let end = rest
                .windows(4)
                .position(|four| four == b"\r\n\r\n")
                .expect("the end of a head")
                + 4;
            let mut head = String::from_utf8(rest[..end].to_vec()).unwrap();
            let length = head
                .lines()
                .find_map(|line| line.strip_prefix("content-length: "));
            let length: usize = length.map_or(0, |length| length.parse().unwrap());
            let body = String::from_utf8_lossy(&rest[end..end + length]).into_owned();
            // The address of stored bytes is signed, another way each time.
            if let (Some(from), Some(to)) = (head.find("?se="), head.find(" HTTP/1.1")) {
                head.replace_range(from..to, "?SIGNED");
            }
            requests.push(format!(
                "[{}]\n{}{body}",
                connection.base,
                head.replace("\r\n", "\n")
            ));
            rest = &rest[end + length..];
        }
    }
    requests
}

/// The requests in their order, with the hosts called after what they are.
fn shown(server: &FakeServer) -> String {
    let settings = server.github().settings.clone();
    let hosts = [
        (settings.api_base, "api"),
        (settings.uploads_base, "uploads"),
        (settings.storage_base, "storage"),
    ];
    let mut text = requests(server).join("\n");
    for (base, name) in &hosts {
        text = text
            .replace(base, name)
            .replace(base.trim_start_matches("http://"), name);
    }
    text.replace(
        concat!("rock-matrix/", env!("CARGO_PKG_VERSION")),
        "rock-matrix/VERSION",
    )
}

/// Every request that has a body tells its length, none is sent in chunks, and the token stays with
/// the API and uploads.
#[test]
fn requests_send_their_length_and_never_chunks() {
    let server = recording_server();
    let client = client(&server);
    let description = ReleaseDescription {
        title: Some("A".to_owned()),
        body: Some("é\n".to_owned()),
        ..ReleaseDescription::default()
    };
    let draft = client.create("v1", &description).unwrap();
    let bytes = b"the bytes of a wheel";
    let upload = PendingUpload {
        to: draft.upload_url.clone().unwrap(),
        name: "a-1+rocm6.2-py3-none-any.whl".to_owned(),
        path: Box::new(|| "dist/a-1+rocm6.2-py3-none-any.whl".to_owned()),
        open_file: Box::new(|| Ok(UploadSource::File(Box::new(bytes.as_slice())))),
        size_bytes: bytes.len() as u64,
        digest: Digest::new(Sha256::digest(bytes).into()),
        on_sent: Arc::new(|_| {}),
    };
    let sent = client.upload(&[upload], 1);
    let asset = sent[0].clone().unwrap().unwrap();
    client.releases(|_| true).unwrap();
    client.release(draft.id).unwrap();
    assert_eq!(
        client.hash(asset.id),
        Ok((Digest::new(Sha256::digest(bytes).into()), 20))
    );
    client.rename(asset.id, "b.whl").unwrap();
    client.delete_asset(asset.id).unwrap();
    client
        .update(draft.id, &serde_json::json!({"draft": false}))
        .unwrap();
    assert_eq!(server.github().ledger.leaks, 0);
    insta::assert_snapshot!(shown(&server), @r#"
    [api]
    POST /repos/me/wheels/releases HTTP/1.1
    accept: application/vnd.github+json
    user-agent: rock-matrix/VERSION
    x-github-api-version: 2022-11-28
    content-type: application/json
    authorization: Bearer writer
    content-length: 55
    host: api

    {"name":"A","body":"é\n","tag_name":"v1","draft":true}
    [api]
    GET /repos/me/wheels/releases?per_page=100 HTTP/1.1
    accept: application/vnd.github+json
    user-agent: rock-matrix/VERSION
    x-github-api-version: 2022-11-28
    authorization: Bearer writer
    host: api


    [api]
    GET /repos/me/wheels/releases/1002 HTTP/1.1
    accept: application/vnd.github+json
    user-agent: rock-matrix/VERSION
    x-github-api-version: 2022-11-28
    authorization: Bearer writer
    host: api


    [api]
    GET /repos/me/wheels/releases/assets/1003 HTTP/1.1
    accept: application/octet-stream
    user-agent: rock-matrix/VERSION
    x-github-api-version: 2022-11-28
    authorization: Bearer writer
    host: api


    [api]
    PATCH /repos/me/wheels/releases/assets/1003 HTTP/1.1
    accept: application/vnd.github+json
    user-agent: rock-matrix/VERSION
    x-github-api-version: 2022-11-28
    content-type: application/json
    authorization: Bearer writer
    content-length: 16
    host: api

    {"name":"b.whl"}
    [api]
    DELETE /repos/me/wheels/releases/assets/1003 HTTP/1.1
    accept: application/vnd.github+json
    user-agent: rock-matrix/VERSION
    x-github-api-version: 2022-11-28
    content-type: application/json
    authorization: Bearer writer
    host: api


    [api]
    PATCH /repos/me/wheels/releases/1002 HTTP/1.1
    accept: application/vnd.github+json
    user-agent: rock-matrix/VERSION
    x-github-api-version: 2022-11-28
    content-type: application/json
    authorization: Bearer writer
    content-length: 15
    host: api

    {"draft":false}
    [uploads]
    POST /repos/me/wheels/releases/1002/assets?name=a-1%2Brocm6.2-py3-none-any.whl HTTP/1.1
    accept: application/vnd.github+json
    user-agent: rock-matrix/VERSION
    x-github-api-version: 2022-11-28
    content-type: application/octet-stream
    authorization: Bearer writer
    content-length: 20
    host: uploads

    the bytes of a wheel
    [storage]
    GET /objects/1003?SIGNED HTTP/1.1
    accept: application/octet-stream
    user-agent: rock-matrix/VERSION
    x-github-api-version: 2022-11-28
    host: storage
    "#);
}

/// A request that expects a body and has none says that it is 0 bytes long; one that expects none
/// says nothing.
#[test]
fn bodyless_writes_send_a_length_of_zero() {
    let server = recording_server();
    let network = network();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    for method in ["POST", "PUT", "PATCH", "DELETE", "GET"] {
        let request = http::Request::builder()
            .method(method)
            .uri(format!("{}/{method}", server.url()));
        runtime
            .block_on(network.send(request.body(full_body("")).unwrap()))
            .unwrap();
    }
    let lengths: BTreeMap<String, bool> = requests(&server)
        .iter()
        .map(|request| {
            assert!(!request.contains("transfer-encoding"), "{request}");
            let method = request.lines().nth(1).unwrap().split(' ').next().unwrap();
            (method.to_owned(), request.contains("content-length: 0\n"))
        })
        .collect();
    let wanted = [
        ("DELETE", false),
        ("GET", false),
        ("PATCH", true),
        ("POST", true),
        ("PUT", true),
    ];
    assert_eq!(
        lengths,
        wanted
            .map(|(method, has_length)| (method.to_owned(), has_length))
            .into_iter()
            .collect()
    );
}

/// A body that is shorter or longer than its announced length is not sent at all.
#[test]
fn a_wrongly_announced_length_is_not_sent() {
    let server = recording_server();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let request = http::Request::post(server.url())
        .header("content-length", "4")
        .body(full_body("12345"))
        .unwrap();
    let error = runtime.block_on(network().send(request)).unwrap_err();
    assert_eq!(
        error.reason,
        "a body of 5 bytes was announced with the length \"4\""
    );
    assert_eq!(requests(&server), Vec::<String>::new());
}
