//! `compat refresh --requirements`: what releases of torch require, as PyPI's JSON API answers it.

use crate::publish_bad_input::{Stub, TLS, reply};
use crate::support::Project;
use crate::support::http::Served;

/// A server with these releases of torch and what each requires of triton.
fn served(releases: &[(&str, &str)]) -> (Project, Served) {
    let versions: Vec<String> = releases
        .iter()
        .map(|(version, _)| format!("\"{version}\": []"))
        .collect();
    let mut project = Project::new().file(
        "pypi/torch/json",
        &format!("{{\"releases\": {{{}}}}}", versions.join(", ")),
    );
    for (version, triton) in releases {
        let text = format!(
            "{{\"info\": {{\"requires_dist\": [\"filelock\", \"{triton}; platform_system == 'Linux'\"]}}}}"
        );
        project = project.file(&format!("pypi/torch/{version}/json"), &text);
    }
    let server = Served::folder(project.root());
    (project, server)
}

#[test]
fn a_new_release_of_torch_gets_a_row_by_a_patch() {
    let (project, server) = served(&[
        ("1.13.1", "triton==1.0"),
        ("2.15.0", "triton~=3.9.0"),
        ("2.99.0rc1", "triton==8.0.0"),
        ("2.99.0", "triton==9.1.0"),
    ]);
    let url = server.url();
    let outcome = project
        .run(&["compat", "refresh", "--requirements", &url, "--check"])
        .exits(1);
    assert_eq!(
        outcome.stderr,
        "torch 2.99.0 requires triton==9.1.0, but the table has no row for it\n"
    );
    let added: Vec<&str> = outcome
        .stdout
        .lines()
        .filter(|line| line.starts_with('+') && !line.starts_with("+++"))
        .collect();
    assert_eq!(added.len(), 1, "{}", outcome.stdout);
    assert!(added[0].starts_with(
        "+  - {torch: [\"2.99.0\"], package: triton, versions: \"==9.1.0\", origin: {status: verified, source: pypi,"
    ));
    let requests = server.requests();
    assert!(
        requests.contains(&"/pypi/torch/2.15.0/json".to_owned())
            && !requests.iter().any(|path| path.contains("1.13")),
        "{requests:?}"
    );
    let document = project
        .run(&[
            "compat",
            "refresh",
            "--requirements",
            &url,
            "--format",
            "json",
        ])
        .exits(0)
        .json();
    assert_eq!(document["differences"][0]["found"], "==9.1.0");
}

#[test]
fn a_table_that_is_up_to_date_gives_no_patch() {
    let (project, server) = served(&[("2.15.0", "triton~=3.9.0")]);
    let outcome = project
        .run(&[
            "compat",
            "refresh",
            "--requirements",
            &server.url(),
            "--check",
        ])
        .exits(0);
    assert_eq!(
        (outcome.stdout.as_str(), outcome.stderr.as_str()),
        ("", "the table of torch's requirements is up to date\n")
    );
}

#[test]
fn an_answer_that_is_no_metadata_is_reported_with_its_address() {
    let project = Project::new().file("pypi/torch/json", "<html>");
    let server = Served::folder(project.root());
    let stderr = project
        .run(&["compat", "refresh", "--requirements", &server.url()])
        .exits(3)
        .stderr;
    assert!(
        stderr.contains("the response is not in the format of PyPI's JSON API")
            && stderr.contains("/pypi/torch/json"),
        "{stderr}"
    );
}

#[test]
fn a_server_over_tls_is_trusted_by_ssl_cert_file() {
    let server = Stub::start_secure(|request| {
        let releases = r#"{"releases": {"2.15.0": []}}"#;
        let requires =
            r#"{"info": {"requires_dist": ["triton~=3.9.0; platform_system == 'Linux'"]}}"#;
        reply(
            "200 OK",
            if request.starts_with("GET /pypi/torch/json ") {
                releases
            } else {
                requires
            },
        )
    });
    let url = format!("https://localhost:{}", server.address.port());
    let arguments = ["compat", "refresh", "--requirements", &url, "--check"];
    let refused = |project: Project, reason: &str| {
        let stderr = project.run(&arguments).exits(3).stderr;
        assert!(stderr.contains(reason), "{stderr}");
        assert_eq!(server.heard(), "");
    };
    refused(Project::new(), "set `SSL_CERT_FILE`");
    refused(
        Project::new()
            .env("SSL_CERT_FILE", "/nonexistent.pem")
            .env("SSL_CERT_DIR", "/nonexistent"),
        "cannot read certificates",
    );
    Project::new()
        .env("SSL_CERT_FILE", format!("{TLS}/ca.pem"))
        .run(&arguments)
        .exits(0);
    assert!(
        server.heard().contains("GET /pypi/torch/2.15.0/json "),
        "{}",
        server.heard()
    );
}
