//! The fake GitHub over real sockets. Its rules are tested beside them.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use fake_github::model::{FakeGithub, FaultRule, GithubSettings, ReachedState};
use fake_github::server::FakeServer;

/// A server with faults, and a draft on it.
fn server(rules: &[&str]) -> (FakeServer, u64) {
    let server = FakeServer::start(FakeGithub::new(GithubSettings::default()));
    let body = r#"{"tag_name": "v1", "draft": true}"#;
    let answer = ask(
        &server,
        "POST",
        "/repos/me/wheels/releases",
        body.as_bytes(),
    );
    assert!(answer.starts_with("HTTP/1.1 201"), "{answer}");
    let id = server
        .github()
        .repository("me/wheels")
        .releases
        .keys()
        .next()
        .copied()
        .unwrap();
    for rule in rules {
        server
            .github()
            .faults
            .add(rule.parse::<FaultRule>().unwrap());
    }
    (server, id)
}

fn head(server: &FakeServer, method: &str, path: &str, length: usize) -> String {
    format!(
        "{method} {path} HTTP/1.1\r\nHost: {}\r\nUser-Agent: a-test\r\nAuthorization: Bearer writer\r\n\
         Accept: application/vnd.github+json\r\nX-GitHub-Api-Version: 2022-11-28\r\n\
         Content-Type: application/octet-stream\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n",
        server.address
    )
}

/// What comes back, up to the end or the cut of the connection.
fn ask(server: &FakeServer, method: &str, path: &str, body: &[u8]) -> String {
    let mut stream = TcpStream::connect(server.address).unwrap();
    stream
        .write_all(head(server, method, path, body.len()).as_bytes())
        .unwrap();
    // A server that cuts the connection takes not all of it.
    let _ = stream.write_all(body);
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    String::from_utf8_lossy(&answer).into_owned()
}

fn upload(server: &FakeServer, release: u64, body: &[u8]) -> String {
    ask(
        server,
        "POST",
        &format!("/repos/me/wheels/releases/{release}/assets?name=a%2Bb"),
        body,
    )
}

fn is_starter(server: &FakeServer, release: u64) -> bool {
    let github = server.github();
    let assets = &github.repository("me/wheels").releases[&release].assets;
    assets.len() == 1 && !assets[0].is_uploaded
}

#[test]
fn an_upload_over_a_socket_is_hashed_while_it_comes() {
    let (server, id) = server(&[]);
    let body = vec![7; 3 << 20];
    let answer = upload(&server, id, &body);
    assert!(answer.starts_with("HTTP/1.1 201"), "{answer}");
    let github = server.github();
    let asset = &github.repository("me/wheels").releases[&id].assets[0];
    assert_eq!(
        (asset.name.as_str(), asset.size_bytes, asset.is_uploaded),
        ("a+b", 3 << 20, true)
    );
    assert!(
        asset.content.is_none(),
        "three megabytes are more than is kept"
    );
    let answer = answer.to_lowercase();
    assert!(
        answer.contains(asset.sha256.as_deref().unwrap())
            && answer.contains("x-ratelimit-remaining"),
        "{answer}"
    );
}

#[test]
fn an_upload_is_really_cut_and_leaves_a_starter() {
    let (server, id) = server(&["upload=cut:100000"]);
    assert_eq!(
        upload(&server, id, &vec![7; 8 << 20]),
        "",
        "no byte of an answer"
    );
    assert!(is_starter(&server, id));
    assert_eq!(
        server.github().ledger.requests.last().unwrap().size_bytes,
        100_000
    );
}

#[test]
fn an_answer_is_cut_before_its_head_or_in_its_body() {
    let (server, id) = server(&["get-release#1=mute:0", "get-release#2=mute:10"]);
    let path = format!("/repos/me/wheels/releases/{id}");
    assert_eq!(ask(&server, "GET", &path, b""), "");
    let part = ask(&server, "GET", &path, b"");
    let (head, body) = part.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.1 200"), "{head}");
    assert_eq!(body.len(), 10, "{body}");
    assert!(ask(&server, "GET", &path, b"").ends_with('}'));
}

#[test]
fn a_slow_answer_takes_its_time() {
    let (server, id) = server(&["get-release=slow:20000"]);
    let before = Instant::now();
    let answer = ask(
        &server,
        "GET",
        &format!("/repos/me/wheels/releases/{id}"),
        b"",
    );
    assert!(
        answer.ends_with('}') && before.elapsed() >= Duration::from_millis(100),
        "{:?}",
        before.elapsed()
    );
}

#[test]
fn a_client_that_dies_in_an_upload_leaves_a_starter() {
    let (server, id) = server(&["upload=hold-upload:5"]);
    let mut stream = TcpStream::connect(server.address).unwrap();
    let path = format!("/repos/me/wheels/releases/{id}/assets?name=a");
    stream
        .write_all(head(&server, "POST", &path, 100).as_bytes())
        .unwrap();
    stream.write_all(b"12345").unwrap();
    let held = server.wait_held(Duration::from_secs(20));
    assert!(held.is_some());
    drop(stream);
    wait_until(|| {
        server.github().ledger.times(ReachedState::UploadCut) == 1 || {
            server.release_held();
            false
        }
    });
    assert!(is_starter(&server, id));
}

#[test]
fn a_held_request_is_done_when_it_is_let_go_and_never_when_its_client_dies() {
    let (server, id) = server(&["edit-release#1=hold-before", "edit-release#2=hold-before"]);
    let path = format!("/repos/me/wheels/releases/{id}");
    let body = br#"{"name": "title"}"#;
    let is_titled = || {
        server.github().repository("me/wheels").releases[&id]
            .name
            .is_some()
    };

    let mut stream = TcpStream::connect(server.address).unwrap();
    stream
        .write_all(head(&server, "PATCH", &path, body.len()).as_bytes())
        .unwrap();
    stream.write_all(body).unwrap();
    assert!(server.wait_held(Duration::from_secs(20)).is_some());
    drop(stream);
    wait_until(|| server.wait_held(Duration::ZERO).is_none());
    assert!(!is_titled());

    std::thread::scope(|scope| {
        let client = scope.spawn(|| ask(&server, "PATCH", &path, body));
        assert!(server.wait_held(Duration::from_secs(20)).is_some());
        assert!(!is_titled());
        server.release_held();
        assert!(client.join().unwrap().starts_with("HTTP/1.1 200"));
    });
    assert!(is_titled());
}

#[test]
fn a_chunked_upload_is_refused_as_github_refuses_it() {
    let (server, id) = server(&[]);
    let path = format!("/repos/me/wheels/releases/{id}/assets?name=a");
    let head =
        head(&server, "POST", &path, 0).replace("Content-Length: 0", "Transfer-Encoding: chunked");
    let mut stream = TcpStream::connect(server.address).unwrap();
    stream
        .write_all(format!("{head}5\r\nbytes\r\n0\r\n\r\n").as_bytes())
        .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(
        answer.starts_with("HTTP/1.1 400") && answer.contains("Bad Content-Length"),
        "{answer}"
    );
}

/// The API answers a body in chunks, and a write that tells no length, with 411.
#[test]
fn chunked_calls_and_calls_without_a_length_are_refused() {
    let (server, id) = server(&[]);
    let path = format!("/repos/me/wheels/releases/{id}");
    let request_head = head(&server, "PATCH", &path, 0);
    for (other, body) in [
        ("Transfer-Encoding: chunked", "2\r\n{}\r\n0\r\n\r\n"),
        ("X-Nothing: 1", ""),
    ] {
        let mut stream = TcpStream::connect(server.address).unwrap();
        stream
            .write_all(
                format!("{}{body}", request_head.replace("Content-Length: 0", other)).as_bytes(),
            )
            .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(
            answer.starts_with("HTTP/1.1 411 Length Required"),
            "{other}: {answer}"
        );
    }
    assert!(ask(&server, "PATCH", &path, b"{}").starts_with("HTTP/1.1 200"));
}

#[test]
fn an_ordinary_client_downloads_through_the_redirect_and_keeps_its_token_to_itself() {
    let (server, id) = server(&[]);
    upload(&server, id, b"the bytes");
    ask(
        &server,
        "PATCH",
        &format!("/repos/me/wheels/releases/{id}"),
        br#"{"draft": false}"#,
    );
    let url = format!("{}/me/wheels/releases/download/v1/a%2Bb", server.url());
    let mut answer = ureq::get(&url).call().unwrap();
    assert_eq!(answer.body_mut().read_to_string().unwrap(), "the bytes");
    assert_eq!(server.github().ledger.leaks, 0);
    assert_ne!(server.address.port(), server.storage.port());
}

#[test]
fn an_upload_that_is_read_slowly_takes_its_time_and_is_whole() {
    let (server, id) = server(&["upload=slow-read:1000000"]);
    let before = Instant::now();
    assert!(upload(&server, id, &vec![7; 200_000]).starts_with("HTTP/1.1 201"));
    assert!(
        before.elapsed() >= Duration::from_millis(200),
        "{:?}",
        before.elapsed()
    );
}

#[test]
fn two_gibibytes_are_refused_before_the_first_byte_of_them() {
    let (server, id) = server(&[]);
    let path = format!("/repos/me/wheels/releases/{id}/assets?name=a");
    let mut stream = TcpStream::connect(server.address).unwrap();
    stream
        .write_all(head(&server, "POST", &path, 2 << 30).as_bytes())
        .unwrap();
    stream.write_all(&vec![7; 1 << 20]).unwrap();
    let mut answer = String::new();
    // The connection may end with a reset, since the rest of the body is not read.
    let _ = stream.read_to_string(&mut answer);
    assert!(
        answer.starts_with("HTTP/1.1 422") && answer.contains("size must be less than"),
        "{answer}"
    );
    assert_eq!(
        server.github().repository("me/wheels").releases[&id]
            .assets
            .len(),
        0
    );
}

#[test]
fn uploads_have_a_port_of_their_own_on_request() {
    let settings = GithubSettings {
        uploads_base: "http://uploads.test".to_owned(),
        ..GithubSettings::default()
    };
    let server = FakeServer::start(FakeGithub::new(settings));
    let answer = ask(
        &server,
        "POST",
        "/repos/me/wheels/releases",
        br#"{"tag_name": "v1", "draft": true}"#,
    );
    let uploads = server.github().settings.uploads_base.clone();
    assert!(uploads.starts_with("http://127.0.0.1:") && uploads != server.url());
    assert!(
        answer.contains(&format!(
            "\"upload_url\":\"{uploads}/repos/me/wheels/releases/"
        )),
        "{answer}"
    );
}

fn wait_until(is_so: impl Fn() -> bool) {
    let end = Instant::now() + Duration::from_secs(20);
    while !is_so() {
        assert!(Instant::now() < end, "it did not come");
        std::thread::sleep(Duration::from_millis(5));
    }
}
