//! The part of a local version label after accelerator and torch: gfx targets, Pythons and
//! backends, concatenated or separated by dots.
//!
//! **Invariant:** a text is parsed completely or not at all: no word is found inside another.

use rock_names::GfxTarget;

/// A word of a local version label.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Word {
    /// A gfx target.
    Gfx(GfxTarget),
    /// A Python version by its digits, `312`.
    Python(String),
    /// The C++ ABI; true for that of GCC 5 and later.
    Abi(bool),
    /// A backend that the contents of a wheel can contradict.
    Backend(&'static str),
    /// An unknown word.
    Other(String),
}

/// The backend whose kernels are compiled at run time.
pub(super) const TRITON: &str = "triton";
/// The backend whose kernels are compiled ahead of time.
pub(super) const CK: &str = "ck";

/// Splits `triton.gfx942` or `gfx942ck` into words.
pub(super) fn words(tail: &str) -> Vec<Word> {
    let segments = tail.split('.').filter(|segment| !segment.is_empty());
    segments
        .flat_map(|segment| read(segment).unwrap_or_else(|| vec![Word::Other(segment.to_owned())]))
        .collect()
}

/// Splits a text into known words; `None` if it contains anything else.
fn read(text: &str) -> Option<Vec<Word>> {
    if text.is_empty() {
        return Some(Vec::new());
    }
    let fixed = [
        (TRITON, Word::Backend(TRITON)),
        (CK, Word::Backend(CK)),
        ("cxx11abitrue", Word::Abi(true)),
        ("cxx11abifalse", Word::Abi(false)),
    ];
    if let Some((rest, word)) = fixed
        .into_iter()
        .find_map(|(known, word)| Some((text.strip_prefix(known)?, word)))
    {
        return followed_by(word, rest);
    }
    if let Some(rest) = text.strip_prefix("py").or_else(|| text.strip_prefix("cp")) {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        return if digits == 0 {
            None
        } else {
            followed_by(Word::Python(rest[..digits].to_owned()), &rest[digits..])
        };
    }
    // Three or four digits follow `gfx`. The last ones are hexadecimal, and the first letter of the
    // next word may look like one.
    ["gfx".len() + 4, "gfx".len() + 3]
        .into_iter()
        .find_map(|length| {
            let (target, rest) = text.split_at_checked(length)?;
            followed_by(Word::Gfx(target.parse().ok()?), rest)
        })
}

fn followed_by(word: Word, rest: &str) -> Option<Vec<Word>> {
    let mut words = vec![word];
    words.extend(read(rest)?);
    Some(words)
}

#[cfg(test)]
mod tests {
    use super::{Word, words};

    #[track_caller]
    fn check(tail: &str, expect: &[Word]) {
        assert_eq!(words(tail), expect, "{tail}");
    }

    #[test]
    fn words_are_concatenated_or_separated_by_dots() {
        let gfx = |name: &str| Word::Gfx(name.parse().unwrap());
        check("gfx942", &[gfx("gfx942")]);
        check("gfx90agfx1100", &[gfx("gfx90a"), gfx("gfx1100")]);
        check("gfx942ck", &[gfx("gfx942"), Word::Backend("ck")]);
        check(
            "py312triton",
            &[Word::Python("312".to_owned()), Word::Backend("triton")],
        );
        check("triton.gfx942", &[Word::Backend("triton"), gfx("gfx942")]);
        check("cxx11abifalse", &[Word::Abi(false)]);
        check(
            "hipblaslt.ckx",
            &[
                Word::Other("hipblaslt".to_owned()),
                Word::Other("ckx".to_owned()),
            ],
        );
        check("", &[]);
    }
}
