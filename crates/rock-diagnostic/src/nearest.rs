//! Suggestions for misspelled words.

/// Returns the candidate that is most similar to a word, if one is similar enough.
///
/// The distance is that of Damerau and Levenshtein (optimal string alignment), ignoring case and
/// the difference between `-` and `_`. The maximum distance is a third of the characters of the
/// longer word, and at least one edit.
///
/// ```
/// use rock_diagnostic::nearest::nearest;
///
/// assert_eq!(nearest("pyhton", ["python", "torch"]), Some("python"));
/// assert_eq!(nearest("zebra", ["python", "torch"]), None);
/// ```
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    distances(word, candidates)
        .min()
        .map(|(_, candidate)| candidate)
}

/// Returns the candidates that are most similar to a word, as [`nearest`] does, sorted: several if
/// they are equally similar.
///
/// ```
/// use rock_diagnostic::nearest::nearest_all;
///
/// assert_eq!(nearest_all("mi300z", ["mi300x", "mi300a", "mi325x"]), ["mi300a", "mi300x"]);
/// ```
pub fn nearest_all<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let mut found: Vec<_> = distances(word, candidates).collect();
    found.sort_unstable();
    found.dedup();
    let least = found.first().map(|(distance, _)| *distance);
    found.retain(|(distance, _)| Some(*distance) == least);
    found.into_iter().map(|(_, candidate)| candidate).collect()
}

/// Returns up to three candidates that are similar to a word, the most similar first.
///
/// ```
/// use rock_diagnostic::nearest::{did_you_mean, nearest_few};
///
/// let near = nearest_few("py3.12", ["py3.11", "py3.12-ck", "torch"]);
/// assert_eq!(did_you_mean(&near), "did you mean `py3.11`, or `py3.12-ck`?");
/// ```
pub fn nearest_few<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let mut found: Vec<_> = distances(word, candidates).collect();
    found.sort_unstable();
    found.dedup();
    found.truncate(3);
    found.into_iter().map(|(_, candidate)| candidate).collect()
}

/// Returns the question `did you mean …?`; the candidates must not be empty.
pub fn did_you_mean(candidates: &[&str]) -> String {
    let quoted: Vec<String> = candidates.iter().map(|name| format!("`{name}`")).collect();
    match quoted.split_last() {
        Some((last, [])) => format!("did you mean {last}?"),
        Some((last, others)) => format!("did you mean {}, or {last}?", others.join(", ")),
        None => String::new(),
    }
}

/// Returns the candidates that are similar enough to a word, with their distances.
fn distances<'a>(
    word: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> impl Iterator<Item = (usize, &'a str)> {
    let word = fold(word);
    candidates.into_iter().filter_map(move |candidate| {
        let folded = fold(candidate);
        let limit = (word.len().max(folded.len()) / 3).max(1);
        // The distance is at least the difference of the lengths.
        let may_be_near = word.len().abs_diff(folded.len()) <= limit;
        let distance = may_be_near.then(|| distance(&word, &folded))?;
        (distance <= limit).then_some((distance, candidate))
    })
}

/// Returns the characters that words are compared by.
fn fold(word: &str) -> Vec<char> {
    word.to_lowercase().replace('_', "-").chars().collect()
}

/// Appends `; did you mean …?` to a message about an unknown word, if there is a suggestion.
pub fn with_nearest(message: String, near: Option<&str>) -> String {
    match near {
        Some(near) => format!("{message}; did you mean `{near}`?"),
        None => message,
    }
}

/// Returns the number of insertions, deletions, substitutions and transpositions of neighbours that
/// turn `a` into `b`.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut before = vec![0; b.len() + 1];
    let mut above: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let cost = usize::from(a[i - 1] != b[j - 1]);
            row[j] = (above[j] + 1).min(row[j - 1] + 1).min(above[j - 1] + cost);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before[j - 2] + 1);
            }
        }
        before = std::mem::replace(&mut above, row);
    }
    above[b.len()]
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn a_typing_error_finds_its_word() {
        assert_eq!(nearest("rcom", ["rocm", "torch"]), Some("rocm"));
        assert_eq!(
            nearest("rocm_policy", ["rocm-policy", "unknown"]),
            Some("rocm-policy")
        );
        assert_eq!(nearest("pyhton", ["python", "platform"]), Some("python"));
    }

    #[test]
    fn an_unrelated_word_finds_nothing() {
        assert_eq!(nearest("zebra", ["rocm", "torch", "python"]), None);
    }
}
