//! Tests against a minimal server on the loopback interface.

use std::io::{BufRead, BufReader, Read as _, Write};
use std::net::TcpListener;
use std::time::Duration;

use super::{FetchError, ProxySettings, TimeLimit, check_status, get, get_range, open, send};

/// Serves these responses one after another, then stops. Returns the address.
fn serve(answers: Vec<Vec<u8>>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for answer in answers {
            let (mut stream, _) = listener.accept().unwrap();
            let mut lines = BufReader::new(stream.try_clone().unwrap())
                .lines()
                .map_while(Result::ok);
            let mut head = || {
                lines
                    .by_ref()
                    .take_while(|line| !line.is_empty())
                    .collect::<Vec<String>>()
            };
            if head()
                .first()
                .is_some_and(|line| line.starts_with("CONNECT "))
            {
                let _ = stream.write_all(b"HTTP/1.1 200 Connected\r\n\r\n");
                head();
            }
            let _ = stream.write_all(&answer);
        }
    });
    address
}

fn answer(status: &str, headers: &str, body: &[u8]) -> Vec<u8> {
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n{headers}\r\n",
        body.len()
    );
    [head.as_bytes(), body].concat()
}

fn fails(answers: Vec<Vec<u8>>) -> FetchError {
    get(
        &format!("{}/page", serve(answers)),
        100,
        &ProxySettings::default(),
    )
    .unwrap_err()
}

#[test]
fn redirects_are_followed_and_invalid_utf8_is_replaced() {
    let address = serve(vec![
        answer("301 Moved", "Location: /there\r\n", b""),
        answer("200 OK", "", b"caf\xe9 <a href=x.whl>"),
    ]);
    assert_eq!(
        get(&format!("{address}/here"), 100, &ProxySettings::default()).unwrap(),
        "caf\u{fffd} <a href=x.whl>"
    );
}

#[test]
fn an_error_names_the_address_and_the_status() {
    let error = fails(vec![answer("404 Not Found", "", b"")]);
    assert_eq!(error.status, Some(404));
    assert!(
        error
            .to_string()
            .starts_with("cannot fetch http://127.0.0.1:"),
        "{error}"
    );
    assert!(
        error
            .to_string()
            .ends_with("/page: the server responded with 404"),
        "{error}"
    );
    assert_eq!(
        fails(vec![answer("204 No Content", "", b"")]).status,
        Some(204),
        "only 200 is a page"
    );
}

#[test]
fn a_page_over_the_limit_is_rejected() {
    let error = fails(vec![answer("200 OK", "", &[b'x'; 101])]);
    assert_eq!(error.reason, "the page is larger than 100 bytes");
    let endless = [
        b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n".to_vec(),
        vec![b'x'; 1 << 16],
    ]
    .concat();
    assert_eq!(
        fails(vec![endless]).reason,
        "the page is larger than 100 bytes"
    );
    assert!(
        get(
            &serve(vec![answer("200 OK", "", &[b'x'; 100])]),
            100,
            &ProxySettings::default()
        )
        .is_ok()
    );
}

#[test]
fn a_redirect_loop_ends() {
    let error = fails(vec![answer("302 Found", "Location: /page\r\n", b""); 10]);
    assert!(error.reason.contains("redirect"), "{error}");
}

#[test]
fn truncated_pages_and_closed_ports_are_errors() {
    let cut = b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nshort".to_vec();
    assert_eq!(fails(vec![cut]).status, None);
    let closed = {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        format!("http://{}/", listener.local_addr().unwrap())
    };
    assert_eq!(
        get(&closed, 100, &ProxySettings::default())
            .unwrap_err()
            .status,
        None
    );
    assert!(get("not an address", 100, &ProxySettings::default()).is_err());
}

#[test]
fn the_proxy_is_used_except_for_no_proxy() {
    let proxy = serve(vec![answer("200 OK", "", b"by proxy")]);
    let direct = serve(vec![answer("200 OK", "", b"direct")]);
    let get_with = |variables: &[(&str, &str)], address: &str| {
        let value = |name: &str| {
            variables
                .iter()
                .find(|(known, _)| *known == name)
                .map(|(_, value)| *value)
        };
        get(address, 100, &ProxySettings::from_variables(value)).unwrap()
    };
    assert_eq!(
        get_with(&[("http_proxy", &proxy)], &direct),
        "direct",
        "this machine"
    );
    assert_eq!(
        get_with(&[("http_proxy", &proxy)], "http://index.example/torch/"),
        "by proxy"
    );
}

#[test]
fn transient_errors_are_distinguished() {
    for (status, is_transient) in [
        ("404 Not Found", false),
        ("403 Forbidden", false),
        ("503 Slow Down", true),
    ] {
        assert_eq!(
            fails(vec![answer(status, "", b"")]).is_transient,
            is_transient,
            "{status}"
        );
    }
    assert!(
        fails(vec![
            b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nshort".to_vec()
        ])
        .is_transient
    );
    assert!(
        fails(vec![Vec::new()]).is_transient,
        "closed without an answer"
    );
    assert!(
        !fails(vec![answer("200 OK", "", &[b'x'; 101])]).is_transient,
        "too large"
    );
    assert!(
        !get("not an address", 100, &ProxySettings::default())
            .unwrap_err()
            .is_transient
    );
}

#[test]
fn a_range_is_used_only_if_it_matches() {
    let none = ProxySettings::default();
    let rest_of = |answer: Vec<u8>| {
        get_range(&serve(vec![answer]), 3, "\"v\"", &none).map(|body| {
            body.map(|mut body| {
                let mut text = String::new();
                body.read_to_string(&mut text).unwrap();
                text
            })
        })
    };
    let part = |range: &str| {
        answer(
            "206 Partial Content",
            &format!("Content-Range: {range}\r\n"),
            b"def",
        )
    };
    assert_eq!(
        rest_of(part("bytes 3-5/6")).unwrap().as_deref(),
        Some("def")
    );
    assert_eq!(rest_of(part("bytes 0-2/6")).unwrap(), None);
    assert_eq!(rest_of(answer("200 OK", "", b"abcdef")).unwrap(), None);
    assert_eq!(
        rest_of(answer("416 Range Not Satisfiable", "", b"")).unwrap(),
        None
    );
    assert_eq!(
        rest_of(answer("404 Not Found", "", b""))
            .unwrap_err()
            .status,
        Some(404)
    );
    let version = |tag: &str| {
        open(&serve(vec![answer("200 OK", tag, b"")]), &none)
            .unwrap()
            .1
    };
    assert_eq!(version("ETag: \"v\"\r\n").as_deref(), Some("\"v\""));
    assert_eq!((version(""), version("ETag: W/\"v\"\r\n")), (None, None));
}

#[test]
fn a_stalled_server_times_out() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let (done, waits) = std::sync::mpsc::channel::<()>();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let _ = stream.read(&mut [0; 1024]);
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nshort");
        // Keep the connection open until the test is over.
        let _ = waits.recv();
    });
    let limit = TimeLimit::without_data(Duration::from_millis(50));
    let response = check_status(
        &address,
        send(&address, &[], limit, &ProxySettings::default()).unwrap(),
    )
    .unwrap();
    let error = response
        .into_body()
        .read_to_end(&mut Vec::new())
        .unwrap_err();
    assert_eq!(error.to_string(), "no data for 0.05 s");
    drop(done);
}

/// Accepts one request, answers it, and returns its head.
fn request_to(answer: &'static [u8]) -> (String, std::sync::mpsc::Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let (sender, head) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let lines = BufReader::new(stream.try_clone().unwrap()).lines();
        let lines = lines.map_while(Result::ok);
        let text: Vec<String> = lines.take_while(|line| !line.is_empty()).collect();
        let _ = stream.write_all(answer);
        let _ = sender.send(text.join("\n"));
    });
    (address, head)
}

const EMPTY_PAGE: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";

#[test]
fn a_proxy_gets_the_whole_address_and_its_credentials() {
    let (proxy, head) = request_to(EMPTY_PAGE);
    let proxy = format!("http://me:secret@{proxy}");
    let proxies =
        ProxySettings::from_variables(|name| (name == "http_proxy").then_some(proxy.as_str()));
    get("http://index.example/whl/", 100, &proxies).unwrap();
    let head = head.recv().unwrap();
    assert!(
        head.starts_with("GET http://index.example/whl/ HTTP/1.1\n"),
        "{head}"
    );
    assert!(
        head.contains("proxy-authorization: Basic bWU6c2VjcmV0"),
        "{head}"
    );
}

#[test]
fn credentials_of_an_address_are_sent_to_its_server_alone() {
    let (address, head) = request_to(EMPTY_PAGE);
    let url = format!("http://me:s%3Acret@{address}/whl/");
    get(&url, 100, &ProxySettings::default()).unwrap();
    let head = head.recv().unwrap();
    assert!(head.contains("authorization: Basic bWU6czpjcmV0"), "{head}");
    let (other, foreign) = request_to(EMPTY_PAGE);
    let answer = format!(
        "HTTP/1.1 302 Found\r\nLocation: http://{other}/x\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    );
    let (address, _) = request_to(answer.leak().as_bytes());
    let url = format!("http://me:secret@{address}/whl/");
    get(&url, 100, &ProxySettings::default()).unwrap();
    let foreign = foreign.recv().unwrap();
    assert!(!foreign.contains("uthorization"), "{foreign}");
}

#[test]
fn other_schemes_are_permanent_errors() {
    let error = get("ftp://x/y", 100, &ProxySettings::default()).unwrap_err();
    assert_eq!(
        (error.reason.as_str(), error.is_transient),
        ("`ftp:` is not supported", false)
    );
}
