//! The connection to GitHub: API, token and proxy.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::cli::actions::TOKENS;
use crate::cli::reporters::MovingLine;
use crate::cli::whole_number::{Unit, whole_number};
use crate::cli::{Exit, Shell, Verbosity};
use crate::codes::release as codes;
use crate::compat::Compat;
use crate::diagnostic::{Diagnostic, Location, Severity, Sink, shell_quoted};
use crate::github::{
    ApiEndpoint, CallOptions, GithubError, HttpClient, LARGEST_TOKEN_BYTES, LONGEST_DEADLINE_MIN,
    OnReply, OnWait, ProxySettings, RateLimits, ReleaseClient, RequestWait, SystemClock, Token,
    UploadsHost,
};
use crate::names::{RepoName, RepoNameError};
use crate::sys::{self, Signals, StopSignal};

// Options for the connection to GitHub.
#[derive(Debug, Clone, clap::Args)]
pub(in crate::cli) struct Connection {
    /// URL of the GitHub API [default: `GITHUB_API_URL`, or that of github.com]
    ///
    /// `http:` is accepted only for a server on this machine.
    #[arg(
        long,
        value_name = "URL",
        hide_short_help = true,
        help_heading = "GitHub"
    )]
    api_url: Option<String>,
    /// File with the token, instead of `GITHUB_TOKEN` or `GH_TOKEN`
    #[arg(
        long,
        value_name = "FILE",
        hide_short_help = true,
        help_heading = "GitHub"
    )]
    token_file: Option<PathBuf>,
    /// Limit in minutes for all requests and waits together
    ///
    /// The default is 45 for publishing, 300 with --slow, 10 for reading published releases, and 5
    /// for `release preflight`.
    #[arg(
        long,
        value_name = "MINUTES",
        value_parser = whole_number::<u64>(Unit::Minutes, 1..=LONGEST_DEADLINE_MIN),
        hide_short_help = true,
        help_heading = "GitHub"
    )]
    deadline: Option<u64>,
}

/// An open connection.
pub(in crate::cli) struct Opened {
    pub(in crate::cli) repo: RepoName,
    pub(in crate::cli) api: ApiEndpoint,
    pub(in crate::cli) client: ReleaseClient,
    pub(in crate::cli) token: Option<Token>,
    /// The moving line of the terminal, above which waits are written.
    pub(in crate::cli) line: MovingLine,
    stopped: Arc<Mutex<Option<StopSignal>>>,
}

impl Connection {
    /// Opens a connection to a repository, for reading. Without a token, only public data is read.
    ///
    /// # Errors
    /// The exit of the command; the sink has the reason.
    pub(in crate::cli) fn open(
        &self,
        repo: &str,
        minutes: u64,
        compat: &Compat,
        shell: &Shell,
        sink: &mut Sink,
    ) -> Result<Opened, Exit> {
        self.open_to_send(repo, minutes, &[], compat, shell, sink)
    }

    /// Opens a connection for uploads, which may also go to these hosts.
    ///
    /// # Errors
    /// The exit of the command; the sink has the reason.
    pub(in crate::cli) fn open_to_send(
        &self,
        repo: &str,
        minutes: u64,
        hosts: &[UploadsHost],
        compat: &Compat,
        shell: &Shell,
        sink: &mut Sink,
    ) -> Result<Opened, Exit> {
        let opened = self
            .api(
                non_empty(shell, "ROCK_MATRIX_API_URL"),
                shell.environment.get("GITHUB_API_URL"),
            )
            .and_then(|api| {
                let repo: RepoName = repo.parse().map_err(|error: RepoNameError| {
                    bad_address(error.to_string(), "--repo")
                        .help("name the repository as in its URL, `OWNER/REPO`")
                })?;
                Ok((api.with_uploads(hosts), repo))
            });
        let (api, repo) = opened.map_err(|diagnostic| {
            sink.push(diagnostic);
            Exit::Usage
        })?;
        let token = self.token(shell).map_err(|diagnostic| {
            sink.push(diagnostic);
            Exit::Machine
        })?;
        let through = ProxySettings::from_variables(|name| shell.environment.get(name));
        let transport = Arc::new(HttpClient::new(through));
        let signals = Signals::listen().ok();
        let stopped = Arc::new(Mutex::new(None));
        let seen = Arc::clone(&stopped);
        let stop = move || {
            let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
            *seen = seen.or_else(|| signals.as_ref().and_then(Signals::take));
            seen.is_some()
        };
        let clock = Arc::new(SystemClock::default());
        let line = MovingLine::default();
        let calls = CallOptions {
            api: api.clone(),
            token: token.clone(),
            transport,
            clock,
            rates: RateLimits::of(compat),
            time: Duration::from_secs(60 * self.deadline.unwrap_or(minutes)),
            stop: Box::new(stop),
            on_wait: on_wait(shell, &line),
            on_reply: on_reply(shell),
        };
        let client = client(repo.clone(), calls, shell)?;
        Ok(Opened {
            repo,
            api,
            client,
            token,
            line,
            stopped,
        })
    }

    /// The API that was chosen: by the option, else by the environment, else GitHub's own.
    fn api(
        &self,
        default: Option<&str>,
        variable: Option<&str>,
    ) -> Result<ApiEndpoint, Diagnostic> {
        let read = |text: &str, at: &str| {
            text.parse::<ApiEndpoint>().map_err(|error| {
                bad_address(error.to_string(), at).help(format!(
                    "set `{at}` to the URL of the API, or leave it out for github.com"
                ))
            })
        };
        if let (None, Some(text)) = (&self.api_url, default) {
            return read(text, "ROCK_MATRIX_API_URL");
        }
        match (&self.api_url, variable) {
            (Some(text), _) => read(text, "--api-url"),
            (None, None) => Ok(ApiEndpoint::public()),
            (None, Some(text)) => match read(text, "GITHUB_API_URL")? {
                api if api.is_encrypted() => Ok(api),
                // A token is sent in plain text only if the user sets the URL.
                _ => Err(
                    bad_address(format!("`{text}` is not encrypted"), "GITHUB_API_URL").help(
                        format!(
                            "for a server on this machine, name it with `--api-url {}`",
                            shell_quoted(text)
                        ),
                    ),
                ),
            },
        }
    }

    fn token(&self, shell: &Shell) -> Result<Option<Token>, Diagnostic> {
        let no_token = |place: &str| {
            Diagnostic::new(&codes::BAD_TOKEN, format!("`{place}` holds no token"))
                .help("write the token on one line")
        };
        let Some(path) = &self.token_file else {
            let set = |name| {
                Some((
                    name,
                    shell
                        .environment
                        .get(name)
                        .filter(|text| !text.trim().is_empty())?,
                ))
            };
            let Some((name, text)) = TOKENS.into_iter().find_map(set) else {
                return Ok(None);
            };
            return Token::new(text).map(Some).ok_or_else(|| no_token(name));
        };
        let text = sys::read_text(path, LARGEST_TOKEN_BYTES)?;
        shell.mask(text.trim());
        Token::new(&text)
            .map(Some)
            .ok_or_else(|| no_token(&path.display().to_string()))
    }
}

/// A client of a repository.
///
/// # Errors
/// The exit of the command; the reason was reported.
fn client(repo: RepoName, calls: CallOptions, shell: &Shell) -> Result<ReleaseClient, Exit> {
    ReleaseClient::new(repo, calls).map_err(|error| no_client(&error, shell))
}

/// Reports that the system cannot create a client.
pub(in crate::cli) fn no_client(error: &std::io::Error, shell: &Shell) -> Exit {
    shell.report(&[Diagnostic::new(
        &codes::NO_ANSWER,
        format!("cannot connect to GitHub: {error}"),
    )]);
    Exit::Machine
}

/// Returns a callback that reports waits: all of them when verbose, otherwise those of two seconds
/// or more.
fn on_wait(shell: &Shell, line: &MovingLine) -> Box<OnWait> {
    let (verbosity, voice, line) = (shell.verbosity, shell.voice(), line.clone());
    Box::new(move |wait: &RequestWait<'_>| {
        let is_shown = match verbosity {
            Verbosity::Quiet => false,
            Verbosity::Normal => wait.duration >= Duration::from_secs(2),
            Verbosity::Verbose => true,
        };
        if is_shown {
            line.write_above(|| voice.tell(&wait.to_string()));
        }
    })
}

/// Returns a callback that reports each response when verbose.
fn on_reply(shell: &Shell) -> Box<OnReply> {
    let (is_shown, voice) = (shell.verbosity == Verbosity::Verbose, shell.voice());
    Box::new(move |call: &str, status: u16, request_id: Option<&str>| {
        if is_shown {
            let id = request_id.map_or_else(String::new, |id| format!(", request ID {id}"));
            voice.tell(&format!("{call}: {status}{id}"));
        }
    })
}

impl Opened {
    /// Returns the connection for another repository.
    pub(in crate::cli) fn at(self, repo: RepoName) -> Self {
        Self {
            client: self.client.at(repo.clone()),
            repo,
            ..self
        }
    }

    /// Reports a missing token, which changes require. `done` is a participle such as `published`.
    ///
    /// # Errors
    /// There is no token; the sink has the diagnostic.
    pub(in crate::cli) fn need_token(&self, done: &str, sink: &mut Sink) -> Result<(), Exit> {
        if self.token.is_some() {
            return Ok(());
        }
        sink.push(
            Diagnostic::new(
                &codes::BAD_TOKEN,
                format!("there is no token, and without one nothing can be {done}"),
            )
            .help("set `GITHUB_TOKEN` or `GH_TOKEN`, or name a file with `--token-file`"),
        );
        Err(Exit::Machine)
    }

    /// Returns the diagnostic for a failed read, with advice.
    pub(in crate::cli) fn unread(&self, error: GithubError) -> Diagnostic {
        let help = match &error {
            GithubError::Status { status: 401, .. } => {
                "set `GITHUB_TOKEN` to a valid token, or unset it: public data needs no token"
            }
            GithubError::Deadline { .. }
            | GithubError::Limited { .. }
            | GithubError::Status {
                status: 403 | 429, ..
            } if self.token.is_none() => {
                "set `GITHUB_TOKEN`: without a token GitHub answers 60 requests per hour"
            }
            _ => return error.into(),
        };
        Diagnostic::from(error).help(help)
    }

    /// Returns the exit of a command that a signal stopped. Notes the wait that it ended, if any,
    /// because its reason may be an earlier error.
    pub(in crate::cli) fn stopped(&self, error: GithubError, sink: &mut Sink) -> Exit {
        let error = error.cause();
        if matches!(error, GithubError::StoppedDuringWait { .. }) {
            sink.push(Diagnostic::from(error).severity(Severity::Note));
        }
        let seen = self.stopped.lock().unwrap_or_else(PoisonError::into_inner);
        seen.map_or(Exit::Machine, Exit::from)
    }
}

/// Returns the value of an environment variable that is set and not empty.
fn non_empty<'s>(shell: &'s Shell, name: &str) -> Option<&'s str> {
    shell.environment.get(name).filter(|text| !text.is_empty())
}

fn bad_address(text: String, argument: &str) -> Diagnostic {
    Diagnostic::new(&codes::BAD_GITHUB_ADDRESS, text)
        .at(Location::Argument(argument.to_owned()), "")
}

impl std::fmt::Debug for Opened {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Opened")
            .field("api", &self.api)
            .finish_non_exhaustive()
    }
}
