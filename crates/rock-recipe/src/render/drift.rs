//! The first difference between a file and its rendered text.

/// Describes the first difference in one line; returns `None` if the texts are equal.
pub fn drift(path: &str, present: Option<&str>, rendered: &str) -> Option<String> {
    let Some(present) = present else {
        return Some(format!("{path}: the file does not exist"));
    };
    if present == rendered {
        return None;
    }
    let mut line = 0;
    let (mut old, mut new) = (present.split('\n'), rendered.split('\n'));
    loop {
        line += 1;
        match (old.next(), new.next()) {
            (None, None) => return None,
            (old, new) if old == new => {}
            (old, new) => {
                let same = old
                    .unwrap_or_default()
                    .chars()
                    .zip(new.unwrap_or_default().chars());
                let same = same.take_while(|(old, new)| old == new).count();
                let shown = |text: Option<&str>| {
                    text.map_or_else(
                        || "nothing".to_owned(),
                        |text| format!("`{}`", part(text, same)),
                    )
                };
                return Some(format!(
                    "{path}:{line}: is {}, should be {}",
                    shown(old),
                    shown(new)
                ));
            }
        }
    }
}

/// The number of characters of a line that are shown, and of those before the difference. The data
/// of a document may be one long line.
const SHOWN: usize = 100;
const BEFORE: usize = 20;

/// Returns a short line unchanged, or the part of a long one around the first different character.
fn part(line: &str, same: usize) -> String {
    if line.chars().nth(SHOWN).is_none() {
        return line.to_owned();
    }
    let first = same.saturating_sub(BEFORE);
    let mut rest = line.chars().skip(first);
    let shown: String = rest.by_ref().take(SHOWN).collect();
    let gap = |is_there: bool| if is_there { "…" } else { "" };
    format!("{}{shown}{}", gap(first > 0), gap(rest.next().is_some()))
}

#[cfg(test)]
mod tests {
    use super::drift;

    #[test]
    fn the_first_line_that_differs_is_reported() {
        assert_eq!(drift("a", Some("x\ny\n"), "x\ny\n"), None);
        assert_eq!(
            drift("a", Some("x\ny\n"), "x\nz\n").unwrap(),
            "a:2: is `y`, should be `z`"
        );
        assert_eq!(
            drift("a", Some("x"), "x\n").unwrap(),
            "a:2: is nothing, should be ``"
        );
        assert_eq!(drift("a", None, "x").unwrap(), "a: the file does not exist");
    }

    #[test]
    fn of_a_long_line_the_difference_is_shown() {
        let long = |word: &str| format!("{}{word}{}\n", "ä".repeat(5000), "b".repeat(5000));
        let difference = drift("a", Some(&long("one")), &long("three")).unwrap();
        let (before, after) = ("ä".repeat(20), "b".repeat(75));
        assert_eq!(
            difference,
            format!("a:1: is `…{before}one{after}bb…`, should be `…{before}three{after}…`")
        );
        let difference = drift("a", Some(&long("")), "short\n").unwrap();
        assert_eq!(
            difference,
            format!("a:1: is `{}…`, should be `short`", "ä".repeat(100))
        );
        assert!(drift("a", Some(&long("")), &long("")).is_none());
    }
}
