//! Following links inside one artifact.

use rustc_hash::FxHashMap;

use super::{Artifact, EntryKind};
use crate::names::folders_above;

/// Linux follows no more (`namei.c`, `MAXSYMLINKS`).
const MOST_LINKS: usize = 40;

/// Where a link leads in the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Target {
    /// To this entry, a regular file.
    File(usize),
    /// To a folder.
    Folder,
    /// To nothing in the artifact.
    Nothing,
    /// Out of the artifact.
    Outside,
    /// To itself, by some way.
    Loop,
}

/// Every path of an artifact.
pub(super) struct Paths<'a> {
    artifact: &'a Artifact,
    known: FxHashMap<String, Option<usize>>,
}

impl<'a> Paths<'a> {
    /// The paths of an artifact, with the folders above them.
    pub(super) fn new(artifact: &'a Artifact) -> Self {
        let mut known = FxHashMap::default();
        for (number, entry) in artifact.entries.iter().enumerate() {
            let path = format!("{}/{}", artifact.roots[entry.root], entry.path);
            for folder in folders_above(&path) {
                if known.contains_key(folder) {
                    break;
                }
                known.insert(folder.to_owned(), None);
            }
            known.insert(path, Some(number));
        }
        Self { artifact, known }
    }

    /// Where the link with this text leads that is entry `number`.
    pub(super) fn follow(&self, number: usize, text: &str) -> Target {
        let entry = &self.artifact.entries[number];
        let path = format!("{}/{}", self.artifact.roots[entry.root], entry.path);
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        self.walk(folder.to_owned(), text, &mut 0)
    }

    /// Walks a text from a folder, as the system does it: word by word.
    fn walk(&self, mut at: String, text: &str, links: &mut usize) -> Target {
        *links += 1;
        if *links > MOST_LINKS {
            return Target::Loop;
        }
        if text.starts_with('/') {
            return Target::Outside;
        }
        let mut words = text.split('/').filter(|word| !word.is_empty() && *word != ".").peekable();
        while let Some(word) = words.next() {
            if word == ".." {
                if at.is_empty() {
                    return Target::Outside;
                }
                at = at.rsplit_once('/').map_or_else(String::new, |(above, _)| above.to_owned());
                continue;
            }
            let next = if at.is_empty() { word.to_owned() } else { format!("{at}/{word}") };
            let Some(number) = self.known.get(&next) else { return Target::Nothing };
            let kind = number.map_or(&EntryKind::Folder, |number| &self.artifact.entries[number].kind);
            match (kind, number) {
                (EntryKind::Folder, _) => at = next,
                (EntryKind::File(_), Some(number)) if words.peek().is_none() => return Target::File(*number),
                (EntryKind::File(_), _) => return Target::Nothing,
                (EntryKind::Link(text), _) => {
                    let rest: Vec<&str> = words.collect();
                    let text = [text.as_str()].into_iter().chain(rest).collect::<Vec<_>>().join("/");
                    return self.walk(at, &text, links);
                }
            }
        }
        Target::Folder
    }
}
