//! What goes wrong around a publish on GitHub: each fault is a diagnostic with a code and help,
//! nothing is lost, and the token is in no output.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use rock_matrix::names::percent_encode;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

use crate::support::{Project, Wheel};
use fake_github::model::{
    ApiOperation, ApiToken, DigestMode, FakeGithub, FaultRule, GithubSettings, StoredRelease,
    TokenKind, TokenRights,
};
use fake_github::server::FakeServer;

/// Each kind of letter that a token may have and an address may not.
const TOKEN: &str = "ghs_s3cret/of+the=run~'Zy9Xw8Vu7";
const WHEEL: &str = "flash_attn-2.8.3+rocm62torch2.5-cp311-cp311-linux_x86_64.whl";
/// An authority and a certificate of `localhost` and `github.example.com`, see the README beside
/// them.
pub const TLS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/tls");

/// As chatty as it gets.
fn project() -> Project {
    let project = Project::new()
        .env("GITHUB_TOKEN", TOKEN)
        .env("RUST_LOG", "trace")
        .env("RUST_BACKTRACE", "full");
    let project = project
        .env("HTTPS_PROXY", "")
        .env("https_proxy", "")
        .env("NO_PROXY", "")
        .env("no_proxy", "");
    project.bytes(&format!("dist/{WHEEL}"), &Wheel::named(WHEEL).bytes())
}

fn server(rules: &[&str]) -> FakeServer {
    let mut github = FakeGithub::new(GithubSettings::default());
    github.tokens.insert(
        TOKEN.to_owned(),
        ApiToken {
            rights: TokenRights::Write,
            kind: TokenKind::Integration,
        },
    );
    for rule in rules {
        github.faults.add(rule.parse::<FaultRule>().unwrap());
    }
    FakeServer::start(github)
}

/// Every form in which a token could get into an output.
fn contains_token(text: &str) -> bool {
    let lower = percent_encode(TOKEN).to_lowercase();
    let pieces = TOKEN
        .as_bytes()
        .windows(10)
        .map(|piece| String::from_utf8(piece.to_vec()).unwrap());
    let forms = [
        percent_encode(TOKEN),
        lower,
        base64(TOKEN),
        base64(&format!("x-access-token:{TOKEN}")),
    ];
    pieces
        .chain(forms)
        .any(|form| text.contains(form.trim_end_matches('=')))
}

fn base64(text: &str) -> String {
    rock_matrix::names::to_base64(text.as_bytes())
}

/// Publishes with these words; what is said of it, which must not be the token.
fn publish(project: &Project, url: &str, more: &[&str], exit: i32) -> String {
    let all = [
        "publish",
        "--verbose",
        "--dist",
        "dist",
        "--repo",
        "me/wheels",
        "--tag",
        "v1",
        "--api-url",
        url,
    ];
    // The last of several `--repo` would be refused: it is replaced.
    let mut words: Vec<&str> = all.to_vec();
    for word in more {
        if *word == "--repo" {
            words.retain(|word| !["--repo", "me/wheels"].contains(word));
        }
        words.push(word);
    }
    let outcome = project.run(&words).exits(exit);
    assert!(
        !contains_token(&outcome.stdout) && !contains_token(&outcome.stderr),
        "the token is printed: {}",
        outcome.stderr
    );
    outcome.stderr
}

/// It fails with this code and says what to do.
fn fails(project: &Project, url: &str, more: &[&str], exit: i32, code: &str) -> String {
    let stderr = publish(project, url, more, exit);
    assert!(
        stderr.contains(&format!("error[{code} ")),
        "{code}: {stderr}"
    );
    assert!(
        stderr.contains("help: "),
        "{code} does not say what to do: {stderr}"
    );
    stderr
}

fn request_count(server: &FakeServer, operation: ApiOperation) -> usize {
    let github = server.github();
    assert_eq!(github.ledger.leaks, 0, "the token went elsewhere");
    github.ledger.request_count(operation)
}

#[test]
fn a_form_of_the_token_is_found_wherever_it_is() {
    let basic = base64(&format!("x-access-token:{TOKEN}"));
    for text in [
        TOKEN,
        &percent_encode(TOKEN),
        &percent_encode(TOKEN).to_lowercase(),
        &basic,
        &TOKEN[3..20],
    ] {
        assert!(contains_token(&format!("a {text} b")), "{text}");
    }
    assert!(!contains_token(
        "POST /repos/me/wheels/releases: 401 Bad credentials"
    ));
}

#[test]
fn wrong_missing_and_powerless_tokens_are_not_tried_again() {
    let server = server(&[]);
    server.github().tokens.remove(TOKEN);
    fails(&project(), &server.url(), &[], 3, "G103");
    assert_eq!(request_count(&server, ApiOperation::ListReleases), 1);
    let missing = project().env("GITHUB_TOKEN", "");
    fails(&missing, &server.url(), &[], 3, "G103");
    assert_eq!(request_count(&server, ApiOperation::ListReleases), 1);
    for kind in [TokenKind::Integration, TokenKind::Personal] {
        let before = request_count(&server, ApiOperation::CreateRelease);
        server.github().tokens.insert(
            TOKEN.to_owned(),
            ApiToken {
                rights: TokenRights::Read,
                kind,
            },
        );
        let stderr = fails(&project(), &server.url(), &[], 3, "G104");
        assert!(stderr.contains("contents: write"), "{stderr}");
        assert_eq!(
            request_count(&server, ApiOperation::CreateRelease),
            before + 1,
            "a right does not come by asking again"
        );
    }
}

#[test]
fn a_variable_without_a_valid_token_is_reported_by_name() {
    let server = server(&[]);
    for more in [&[][..], &["--dry-run"]] {
        let odd = project()
            .env("GITHUB_TOKEN", "wri ter")
            .env("GH_TOKEN", TOKEN);
        let stderr = fails(&odd, &server.url(), more, 3, "G103");
        assert!(
            stderr.contains("`GITHUB_TOKEN` holds no token") && !stderr.contains("wri ter"),
            "{stderr}"
        );
    }
    assert_eq!(request_count(&server, ApiOperation::ListReleases), 0);
    publish(
        &project().env("GITHUB_TOKEN", " ").env("GH_TOKEN", TOKEN),
        &server.url(),
        &[],
        0,
    );
}

#[test]
fn missing_and_invisible_repositories_are_reported() {
    let server = server(&[]);
    fails(&project(), &server.url(), &["--repo", "me/none"], 3, "G105");
    server.github().repository_mut("me/wheels").is_private = true;
    server.github().tokens.insert(
        TOKEN.to_owned(),
        ApiToken {
            rights: TokenRights::Stranger,
            kind: TokenKind::Personal,
        },
    );
    fails(&project(), &server.url(), &[], 3, "G105");
}

#[test]
fn moved_tags_and_immutable_releases_are_refused_before_writes() {
    let server = server(&[]);
    fails(
        &project(),
        &server.url(),
        &["--target", "0123456789abcdef0123456789abcdef01234567"],
        1,
        "G116",
    );
    assert_eq!(server.github().ledger.writes(), 0);
    server
        .github()
        .repository_mut("me/wheels")
        .has_immutable_releases = true;
    publish(&project(), &server.url(), &[], 0);
    let before = server.github().ledger.writes();
    let other = project().bytes(
        &format!("dist/{WHEEL}"),
        &Wheel::named(WHEEL).file("flash_attn/b.py", b"").bytes(),
    );
    fails(
        &other,
        &server.url(),
        &["--replace", "--allow-published"],
        1,
        "G100",
    );
    assert_eq!(server.github().ledger.writes(), before);
}

#[test]
fn a_file_of_two_gibibytes_is_refused_without_reading_it() {
    let server = server(&[]);
    let project = project();
    for (size, ending) in [(2_u64 << 30, "tar.gz"), (3 << 30, "whl")] {
        let name = if ending == "whl" {
            "large-1-py3-none-any.whl"
        } else {
            "large-1.tar.gz"
        };
        let file = std::fs::File::create(project.path(&format!("dist/{name}"))).unwrap();
        file.set_len(size).unwrap();
    }
    let stderr = fails(&project, &server.url(), &[], 1, "G112");
    assert_eq!(
        stderr
            .matches("GitHub accepts fewer than 2147483648")
            .count(),
        2,
        "{stderr}"
    );
    assert_eq!(server.github().ledger.requests.len(), 0);
}

#[test]
fn a_name_that_github_would_change_is_an_error_and_nothing_is_sent() {
    let server = server(&[]);
    for (name, code) in [
        ("a-1!2.0-py3-none-any.whl", "G012"),
        ("a-1!2.0.tar.gz", "G012"),
        ("a-1~2.tar.gz", "G001"),
        ("a b-1.tar.gz", "G001"),
        (".a-1.tar.gz", "G001"),
        ("a-1..2.tar.gz", "G001"),
        ("a-1..tar.gz", "G001"),
    ] {
        let bytes = if name.ends_with("whl") {
            Wheel::named(name).bytes()
        } else {
            b"x".to_vec()
        };
        let project = project().bytes(&format!("dist/{name}"), &bytes);
        let stderr = fails(&project, &server.url(), &[], 1, code);
        assert!(stderr.contains(name), "{stderr}");
    }
    assert_eq!(server.github().ledger.requests.len(), 0);
}

#[test]
fn two_files_of_one_name_and_other_bytes_are_refused() {
    let server = server(&[]);
    let other = Wheel::named(WHEEL).file("flash_attn/b.py", b"").bytes();
    let project = project().bytes(&format!("dist2/{WHEEL}"), &other);
    let stderr = fails(&project, &server.url(), &["dist2"], 1, "G014");
    assert_eq!(stderr.matches("sha256:").count(), 2, "{stderr}");
    assert_eq!(server.github().ledger.requests.len(), 0);
}

#[test]
fn a_plan_and_a_folder_that_disagree_are_refused() {
    let server = server(&[]);
    let matrix = "version: 1\ndistribution: flash-attn\nrecipe: flash-attn\ngfx: [gfx90a]\naxes:\n  \
                  flash-attn: [\"2.8.3\"]\n  python: [\"3.10\"]\n  torch: [\"2.5.1\"]\n  rocm: [\"6.2\"]\n  backend: [ck]\n";
    let project = project().file("matrix.yaml", matrix);
    let plan = project
        .run(&["plan", "matrix.yaml", "--format", "json"])
        .exits(0)
        .stdout;
    let project = project.file("plan.json", &plan);
    fails(&project, &server.url(), &["--plan", "plan.json"], 1, "G004");
    fails(&project, &server.url(), &["--plan", "plan.json"], 1, "G005");
    assert_eq!(server.github().ledger.writes(), 0);
}

#[test]
fn a_limit_is_judged_by_the_clock_of_the_server() {
    for skew_ms in [3_600_000, -3_600_000] {
        let server = server(&["list-releases#1=limit:403:1"]);
        server.github().settings.clock_skew_ms = skew_ms;
        // An hour by the clock of this machine would be beyond the deadline, and so would fail.
        publish(&project(), &server.url(), &["--deadline", "10"], 0);
        let github = server.github();
        let times: Vec<u64> = github
            .ledger
            .requests
            .iter()
            .take(2)
            .map(|request| request.at_ms)
            .collect();
        assert!(times[1] - times[0] >= 1000, "{times:?}");
    }
}

#[test]
fn a_server_that_leads_elsewhere_gets_no_token_there() {
    for rule in [
        "list-releases=elsewhere:302",
        "create-release=elsewhere:307",
        "list-releases=next-elsewhere",
    ] {
        let server = server(&[rule]);
        if rule.ends_with("next-elsewhere") {
            let old = |id| StoredRelease {
                id,
                tag_name: format!("v0.{id}"),
                ..StoredRelease::default()
            };
            let releases = (1..=101).map(|id| (id, Arc::new(old(id))));
            server
                .github()
                .repository_mut("me/wheels")
                .releases
                .extend(releases);
        }
        fails(&project(), &server.url(), &[], 3, "G108");
        request_count(&server, ApiOperation::Storage);
    }
    let uploads = server(&["upload=elsewhere:307"]);
    publish(&project(), &uploads.url(), &[], 3);
    assert_eq!(
        (
            request_count(&uploads, ApiOperation::Storage),
            uploads.github().ledger.leaks
        ),
        (0, 0)
    );
    // Files are fetched from elsewhere, and without the token.
    let files = server(&[]);
    files.github().settings.digests = DigestMode::Null;
    publish(&project(), &files.url(), &[], 0);
    publish(&project(), &files.url(), &["--verify", "full"], 0);
    assert!(request_count(&files, ApiOperation::Storage) > 0);
    let github = files.github();
    let of_storage = github
        .ledger
        .requests
        .iter()
        .filter(|request| request.operation == ApiOperation::Storage);
    assert!(
        of_storage
            .flat_map(|request| &request.headers)
            .all(|(name, _)| name != "authorization")
    );
}

/// A server of one answer for each request, which keeps what was asked.
pub struct Stub {
    pub address: SocketAddr,
    heard: Arc<Mutex<Vec<String>>>,
}

type Answer = dyn Fn(&str) -> String + Send + Sync;

impl Stub {
    pub fn start(answer: impl Fn(&str) -> String + Send + Sync + 'static) -> Self {
        Self::with(move |mut stream, heard| converse(&mut stream, &answer, heard))
    }

    /// The same over TLS.
    pub fn start_secure(answer: impl Fn(&str) -> String + Send + Sync + 'static) -> Self {
        let chain = vec![CertificateDer::from_pem_file(format!("{TLS}/server.pem")).unwrap()];
        let key = PrivateKeyDer::from_pem_file(format!("{TLS}/server.key.pem")).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = rustls::ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap();
        let config = Arc::new(
            config
                .with_no_client_auth()
                .with_single_cert(chain, key)
                .unwrap(),
        );
        Self::with(move |stream, heard| {
            let connection = rustls::ServerConnection::new(Arc::clone(&config)).unwrap();
            converse(
                &mut rustls::StreamOwned::new(connection, stream),
                &answer,
                heard,
            );
        })
    }

    fn with(serve: impl Fn(TcpStream, &Mutex<Vec<String>>) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (address, heard, serve) = (
            listener.local_addr().unwrap(),
            Arc::default(),
            Arc::new(serve),
        );
        let kept: Arc<Mutex<Vec<String>>> = Arc::clone(&heard);
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (kept, serve) = (Arc::clone(&kept), Arc::clone(&serve));
                std::thread::spawn(move || serve(stream, &kept));
            }
        });
        Self { address, heard }
    }

    pub fn heard(&self) -> String {
        self.heard.lock().unwrap().join("\n")
    }
}

/// The head of a request; nothing when the other side has gone.
fn head(stream: &mut impl Read) -> Option<String> {
    let (mut head, mut byte) = (Vec::new(), [0]);
    while !head.ends_with(b"\r\n\r\n") {
        if stream.read(&mut byte).ok()? == 0 {
            return None;
        }
        head.push(byte[0]);
    }
    String::from_utf8(head).ok()
}

fn converse(stream: &mut (impl Read + Write), answer: &Answer, heard: &Mutex<Vec<String>>) {
    while let Some(head) = head(stream) {
        let reply = answer(&head);
        heard.lock().unwrap().push(head);
        if stream
            .write_all(reply.as_bytes())
            .and_then(|()| stream.flush())
            .is_err()
        {
            return;
        }
    }
}

/// An answer with this status line and a JSON body.
pub fn reply(status: &str, body: &str) -> String {
    format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
}

/// An API without releases, whose tags are all at one commit.
pub fn empty_api(head: &str) -> String {
    let is_tag = head
        .lines()
        .next()
        .is_some_and(|line| line.contains("/git/ref/"));
    let sha = "0".repeat(40);
    let tag = format!(
        r#"{{"ref": "refs/tags/v1", "node_id": "x", "url": "https://api.example.com/ref", "object": {{"sha": "{sha}", "type": "commit", "url": "https://api.example.com/commit"}}}}"#
    );
    reply("200 OK", if is_tag { &tag } else { "[]" })
}

#[test]
fn a_server_that_echoes_the_token_is_quoted_without_it() {
    for status in [
        "400 Bad Request",
        "403 Forbidden",
        "422 Unprocessable Entity",
        "200 OK",
    ] {
        for form in [
            TOKEN.to_owned(),
            percent_encode(TOKEN),
            percent_encode(TOKEN).to_lowercase(),
        ] {
            let text = format!(
                r#"{{"message": "what is {form}?", "errors": [{{"message": "{form}", "code": "{form}"}}]}}"#
            );
            let stub = Stub::start(move |_| reply(status, &text));
            fails(
                &project(),
                &format!("http://{}", stub.address),
                &[],
                3,
                if status.starts_with("403") {
                    "G104"
                } else {
                    "G106"
                },
            );
            assert!(
                stub.heard().contains(TOKEN),
                "it was told to the API itself"
            );
        }
    }
}

#[test]
fn a_certificate_that_nobody_trusts_is_refused_and_that_of_the_own_authority_is_taken() {
    let api = Stub::start_secure(empty_api);
    let url = format!("https://localhost:{}", api.address.port());
    let stderr = fails(&project(), &url, &[], 3, "G107");
    assert!(
        stderr.contains("certificate") && stderr.contains("SSL_CERT_FILE"),
        "{stderr}"
    );
    assert_eq!(api.heard(), "", "nothing was asked");
    let trusting = project().env("SSL_CERT_FILE", format!("{TLS}/ca.pem"));
    publish(&trusting, &url, &["--dry-run"], 0);
    assert!(api.heard().contains(TOKEN));
    let nothing_trusted = project().env("SSL_CERT_FILE", "/nonexistent.pem");
    fails(&nothing_trusted, &url, &[], 3, "G107");
}

/// Lets through what it is asked for, to this address whatever the name.
fn tunnel(to: SocketAddr) -> Stub {
    Stub::with(move |mut stream, heard| {
        let Some(head) = head(&mut stream) else {
            return;
        };
        heard.lock().unwrap().push(head);
        stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").unwrap();
        let server = TcpStream::connect(to).unwrap();
        let (mut from, mut into) = (stream.try_clone().unwrap(), server.try_clone().unwrap());
        std::thread::spawn(move || std::io::copy(&mut from, &mut into));
        let (mut from, mut into) = (server, stream);
        let _ = std::io::copy(&mut from, &mut into);
    })
}

#[test]
fn a_proxy_carries_it_and_sees_neither_token_nor_calls() {
    let api = Stub::start_secure(empty_api);
    let proxy = tunnel(api.address);
    let project = project().env("SSL_CERT_FILE", format!("{TLS}/ca.pem")).env(
        "HTTPS_PROXY",
        format!("http://somebody:passw0rd@{}", proxy.address),
    );
    publish(
        &project,
        "https://github.example.com/api/v3",
        &["--dry-run"],
        0,
    );
    assert!(
        api.heard()
            .contains("GET /api/v3/repos/me/wheels/releases?per_page=100"),
        "{}",
        api.heard()
    );
    let seen = proxy.heard();
    assert!(
        seen.starts_with("CONNECT github.example.com:443 ") && seen.contains("Basic "),
        "{seen}"
    );
    assert!(!contains_token(&seen), "{seen}");
}

#[test]
fn this_machine_is_never_reached_through_a_proxy() {
    let (api, proxy) = (
        Stub::start_secure(empty_api),
        Stub::start(|_| reply("403 Forbidden", "")),
    );
    let project = project()
        .env("SSL_CERT_FILE", format!("{TLS}/ca.pem"))
        .env("HTTPS_PROXY", format!("http://{}", proxy.address))
        .env("HTTP_PROXY", format!("http://{}", proxy.address));
    for host in ["localhost", "127.0.0.1"] {
        publish(
            &project,
            &format!("https://{host}:{}", api.address.port()),
            &["--dry-run"],
            0,
        );
    }
    publish(&project, &server(&[]).url(), &[], 0);
    assert_eq!(proxy.heard(), "");
}

#[test]
fn a_proxy_that_refuses_is_named_at_once_and_without_its_password() {
    // A port below 1024 (IANA: tcpmux): no test that runs beside this one can get it from the system.
    let closed = "127.0.0.1:1";
    let refusing = Stub::start(|_| reply("403 Forbidden", "")).address;
    let asking = Stub::start(|_| reply("407 Proxy Authentication Required", "")).address;
    for (proxy, word) in [
        (format!("http://somebody:passw0rd@{closed}"), "refused"),
        (
            format!("http://somebody:passw0rd@{refusing}"),
            "unsuccessful",
        ),
        (
            format!("http://somebody:passw0rd@{asking}"),
            "authorization",
        ),
    ] {
        let project = project().env("HTTPS_PROXY", &proxy);
        let stderr = fails(
            &project,
            "https://github.example.com/api/v3",
            &[],
            3,
            "G107",
        );
        assert!(
            stderr.contains(word) && !stderr.contains("passw0rd"),
            "{proxy}: {stderr}"
        );
        let address = proxy.rsplit('@').next().unwrap();
        assert!(
            stderr.contains(&format!("proxy {address}"))
                || stderr.contains(&format!("proxy `{address}`")),
            "{stderr}"
        );
    }
}

#[test]
fn a_proxy_that_cannot_be_used_is_an_error() {
    let fault = |variable: &str, proxy: &str| {
        let project = project().env(variable, proxy);
        fails(
            &project,
            "https://github.example.com/api/v3",
            &[],
            3,
            "G107",
        )
    };
    let of_socks = fault("ALL_PROXY", "socks5://somebody:passw0rd@127.0.0.1:9");
    insta::assert_snapshot!(of_socks, @r"
    1 files read, 0 known by their digest
    error[G107 no-answer]: GET /api/v3/repos/me/wheels/releases: no response: `all_proxy` is a `socks5:` proxy, but only `http:` proxies are supported
    --> GET /api/v3/repos/me/wheels/releases
    help: check the network, and the proxy in `https_proxy` or `all_proxy` if one is set
    ");
    for proxy in [
        "nonsense proxy",
        ":::",
        "http://",
        "http://h:99999",
        "http://somebody:passw0rd@",
    ] {
        let stderr = fault("HTTPS_PROXY", proxy);
        assert!(
            stderr.contains("the value of `https_proxy` is not the address of a proxy"),
            "{proxy}: {stderr}"
        );
        assert!(!stderr.contains("passw0rd"), "{stderr}");
    }
    // A host without a proxy needs none that works.
    let project = project()
        .env("HTTPS_PROXY", ":::")
        .env("NO_PROXY", "localhost");
    publish(&project, &server(&[]).url(), &[], 0);
}
