//! `compat refresh --actions`: compares the table `actions` with the tags of the repositories.

use crate::cli::publish::{Connection, Opened};
use crate::cli::{Exit, Shell};
use crate::compat::Compat;
use crate::compat::refresh::actions::ActionTag;
use crate::compat::refresh::{ActionReleases, ActionSource, TableComparison};
use crate::diagnostic::Sink;
use crate::github::GithubError;
use crate::names::RepoName;

/// The time limit for reading, in minutes.
const MINUTES: u64 = 10;

/// Reads the tags, and returns how they differ from the table.
///
/// # Errors
/// The exit of the command; the reason was reported.
pub(super) fn compare(
    compat: &Compat,
    connection: &Connection,
    shell: &Shell,
) -> Result<TableComparison, Exit> {
    let rows = &compat.tables().actions;
    let mut repositories = GithubRepositories {
        connection,
        compat,
        shell,
        sink: Sink::new(),
        opened: None,
    };
    let releases = ActionReleases::read(rows, env!("CARGO_PKG_VERSION"), &mut repositories);
    let mut sink = repositories.sink;
    let releases = releases.inspect_err(|_| {
        shell.report(&std::mem::take(&mut sink).finish());
    })?;
    let compared = releases.compare(rows, &shell.environment.today());
    for line in &compared.lines {
        shell.say(line);
    }
    sink.extend(compared.warnings.iter().cloned());
    shell.report(&sink.finish());
    Ok(compared)
}

/// Repositories on GitHub, read over one connection, so that rate limits and the deadline apply to
/// all requests together. The sink gets the reason for an error.
struct GithubRepositories<'s> {
    connection: &'s Connection,
    compat: &'s Compat,
    shell: &'s Shell,
    sink: Sink,
    opened: Option<Opened>,
}

impl GithubRepositories<'_> {
    /// Returns the connection for a repository.
    fn open(&mut self, repo: &RepoName) -> Result<Opened, Exit> {
        match self.opened.take() {
            Some(before) => Ok(before.at(repo.clone())),
            None => self.connection.open(
                &repo.to_string(),
                MINUTES,
                self.compat,
                self.shell,
                &mut self.sink,
            ),
        }
    }

    /// Keeps a connection after a request, or returns the exit for its error.
    fn close<T>(&mut self, opened: Opened, answer: Result<T, GithubError>) -> Result<T, Exit> {
        match answer {
            Ok(answer) => {
                self.opened = Some(opened);
                Ok(answer)
            }
            Err(error) if error.is_stop() => Err(opened.stopped(error, &mut self.sink)),
            Err(error) => {
                self.sink.push(opened.unread(error));
                Err(Exit::Machine)
            }
        }
    }
}

impl ActionSource for GithubRepositories<'_> {
    type Error = Exit;

    fn tags(&mut self, repo: &RepoName) -> Result<Option<Vec<ActionTag>>, Exit> {
        let opened = self.open(repo)?;
        self.shell.detail(&format!("reading the tags of {repo}"));
        let answer = opened.client.tags();
        self.close(opened, answer)
    }

    fn file(&mut self, repo: &RepoName, path: &str, commit: &str) -> Result<Option<String>, Exit> {
        let opened = self.open(repo)?;
        let answer = opened.client.file(path, commit);
        self.close(opened, answer)
    }
}
