//! The nearest known word to an unknown one, for help lines.

/// The candidate that a user most likely meant, if any is near enough.
///
/// Distance is Damerau-Levenshtein over lower-cased letters with `-` and `_` alike; near enough is
/// a third of the longer word, at least one edit.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let fold = |s: &str| {
        s.to_lowercase()
            .replace('_', "-")
            .chars()
            .collect::<Vec<_>>()
    };
    let word = fold(word);
    candidates
        .into_iter()
        .filter_map(|candidate| {
            let folded = fold(candidate);
            let limit = (word.len().max(folded.len()) / 3).max(1);
            // Each letter that one of them has more is one edit.
            let may_be_near = word.len().abs_diff(folded.len()) <= limit;
            let distance = may_be_near.then(|| distance(&word, &folded))?;
            (distance <= limit).then_some((distance, candidate))
        })
        .min()
        .map(|(_, candidate)| candidate)
}

/// A message about an unknown word, with the nearest known one: the first line alone then says what
/// to do.
pub fn with_nearest(message: String, near: Option<&str>) -> String {
    match near {
        Some(near) => format!("{message}; did you mean `{near}`?"),
        None => message,
    }
}

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
    fn a_swapped_or_missing_letter_finds_its_word() {
        assert_eq!(nearest("rcom", ["rocm", "torch"]), Some("rocm"));
        assert_eq!(
            nearest("rocm_policy", ["rocm-policy", "unknown"]),
            Some("rocm-policy")
        );
        assert_eq!(nearest("pyhton", ["python", "platform"]), Some("python"));
    }

    #[test]
    fn a_strange_word_finds_nothing() {
        assert_eq!(nearest("zebra", ["rocm", "torch", "python"]), None);
    }
}
