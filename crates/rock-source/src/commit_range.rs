//! The commits between upstream and a head, as a linear history.

use std::collections::BTreeMap;

/// The linear history from upstream (exclusive) to a head, newest commit first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommitRange {
    upstream: String,
    commits: Vec<String>,
}

/// The reason why commits are not a linear history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoLine {
    /// This commit has several parents.
    Merge(String),
    /// Upstream is not an ancestor of the head.
    Apart,
}

/// The parent of the oldest commit of a range, and the newest commit.
pub type RangeBounds = (String, String);

impl CommitRange {
    /// Parses the output of `git rev-list --parents HEAD --not UPSTREAM`.
    ///
    /// # Errors
    /// When there is a merge, or upstream is not an ancestor of the head.
    pub fn new(listed: &str, upstream: &str, head: &str) -> Result<Self, NoLine> {
        let parents: BTreeMap<&str, Vec<&str>> = listed
            .lines()
            .filter_map(|line| line.split_once(' '))
            .map(|(commit, parents)| (commit, parents.split(' ').collect()))
            .collect();
        let (mut commits, mut commit) = (Vec::new(), head);
        while commit != upstream {
            match parents.get(commit).map(Vec::as_slice) {
                Some([parent]) => {
                    commits.push(commit.to_owned());
                    commit = parent;
                }
                Some(_) => return Err(NoLine::Merge(commit.to_owned())),
                None => return Err(NoLine::Apart),
            }
        }
        Ok(Self {
            upstream: upstream.to_owned(),
            commits,
        })
    }

    /// Splits the commits at the commit of hipify. Returns the commits before it, and those after
    /// it; the second is `None` if the commit of hipify is not among the commits, and then the
    /// first contains all of them. An empty range is `None`.
    pub fn split(
        &self,
        hipify: Option<&str>,
    ) -> (Option<RangeBounds>, Option<Option<RangeBounds>>) {
        let range =
            |below: &str, commits: &[String]| Some((below.to_owned(), commits.first()?.clone()));
        match hipify.and_then(|hipify| self.commits.iter().position(|commit| commit == hipify)) {
            Some(at) => {
                let above = range(&self.commits[at], &self.commits[..at]);
                (range(&self.upstream, &self.commits[at + 1..]), Some(above))
            }
            None => (range(&self.upstream, &self.commits), None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(below: &str, last: &str) -> RangeBounds {
        (below.to_owned(), last.to_owned())
    }

    #[test]
    fn commits_are_split_at_that_of_hipify() {
        let line = CommitRange::new("d c\nc b\nb a\n", "a", "d").unwrap();
        assert_eq!(
            line.split(Some("c")),
            (Some(pair("a", "b")), Some(Some(pair("c", "d"))))
        );
        assert_eq!(line.split(Some("b")), (None, Some(Some(pair("b", "d")))));
        assert_eq!(line.split(Some("d")), (Some(pair("a", "c")), Some(None)));
        assert_eq!(line.split(None), (Some(pair("a", "d")), None));
        assert_eq!(
            line.split(Some("x")),
            (Some(pair("a", "d")), None),
            "it is not of the line"
        );
        assert_eq!(
            CommitRange::new("", "a", "a").unwrap().split(None),
            (None, None)
        );
    }

    #[test]
    fn a_merge_and_a_head_beside_upstream_are_reported() {
        assert_eq!(
            CommitRange::new("d c x\nc a\nx a\n", "a", "d"),
            Err(NoLine::Merge("d".into()))
        );
        assert_eq!(CommitRange::new("d c\n", "a", "d"), Err(NoLine::Apart));
    }
}
