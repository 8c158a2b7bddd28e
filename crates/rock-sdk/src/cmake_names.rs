//! Target families that a checkout of `TheRock` declares, for GPUs that are not in the
//! compatibility data.

use rock_compat::rows::{Confidence, FamilyRow, Provenance};

/// The function that declares a target (ROCm/TheRock, `cmake/therock_amdgpu_targets.cmake`):
/// `therock_add_amdgpu_target(TARGET "PRODUCT" FAMILY NAME... EXCLUDE_TARGET_PROJECTS NAME...)`.
const DECLARES: &str = "therock_add_amdgpu_target";
/// The keywords of the function that start a list.
const LISTS: [&str; 2] = ["FAMILY", "EXCLUDE_TARGET_PROJECTS"];

/// The reason for which a file declares no families.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DeclaredError {
    /// The function is never called.
    #[error("it declares no GPU target: there is no call of `{DECLARES}`")]
    Nothing,
    /// A call has too few arguments or does not end. Contains its number, counted from 1.
    #[error("call {0} of `{DECLARES}` is truncated")]
    CutOff(usize),
    /// A target is declared twice.
    #[error("the GPU target `{0}` is declared twice")]
    Twice(String),
}

/// A token of the CMake language.
#[derive(Debug, PartialEq, Eq)]
enum CmakeToken {
    Word(String),
    Open,
    Close,
}

/// Returns the families that a file declares, in the order of their first mention, each with its
/// targets in order. A target without a family is a family of one.
///
/// ```
/// let text = "therock_add_amdgpu_target(gfx1250 \"MI450\" FAMILY dcgpu-all gfx125X-all) # new";
/// let families = rock_sdk::declared_families(text).unwrap();
/// assert_eq!((families[1].family.as_str(), families[1].members.as_slice()), ("gfx125X-all", ["gfx1250".to_owned()].as_slice()));
/// ```
///
/// # Errors
/// When the file declares no target, declares a target twice, or a call is cut off.
pub fn declared_families(text: &str) -> Result<Vec<FamilyRow>, DeclaredError> {
    let (mut rows, mut targets): (Vec<FamilyRow>, Vec<String>) = (Vec::new(), Vec::new());
    let mut tokens = tokens(text).into_iter().peekable();
    while let Some(token) = tokens.next() {
        if token != CmakeToken::Word(DECLARES.to_owned())
            || tokens.next_if_eq(&CmakeToken::Open).is_none()
        {
            continue;
        }
        let cut = DeclaredError::CutOff(targets.len() + 1);
        let mut words = Vec::new();
        loop {
            match tokens.next() {
                Some(CmakeToken::Word(word)) => words.push(word),
                Some(CmakeToken::Close) => break,
                Some(CmakeToken::Open) | None => return Err(cut),
            }
        }
        let [target, _product, rest @ ..] = words.as_slice() else {
            return Err(cut);
        };
        if targets.contains(target) {
            return Err(DeclaredError::Twice(target.clone()));
        }
        targets.push(target.clone());
        let mut families: Vec<&String> = Vec::new();
        let mut list = "";
        for word in rest {
            match LISTS.into_iter().find(|known| known == word) {
                Some(known) => list = known,
                None if list == LISTS[0] => families.push(word),
                None => {}
            }
        }
        if families.is_empty() {
            families.push(target);
        }
        for family in families {
            match rows.iter_mut().find(|row| row.family == *family) {
                Some(row) => row.members.push(target.clone()),
                None => rows.push(row(family, target)),
            }
        }
    }
    if targets.is_empty() {
        Err(DeclaredError::Nothing)
    } else {
        Ok(rows)
    }
}

fn row(family: &str, target: &str) -> FamilyRow {
    let origin = Provenance {
        status: Confidence::Verified,
        source: "targets-file".to_owned(),
        r#ref: String::new(),
        checked: String::new(),
        note: String::new(),
    };
    FamilyRow {
        family: family.to_owned(),
        members: vec![target.to_owned()],
        origin,
    }
}

/// Splits a text in the CMake language into tokens, without comments (cmake-language(7)).
fn tokens(text: &str) -> Vec<CmakeToken> {
    let mut tokens = Vec::new();
    let mut chars = text.chars().peekable();
    while let Some(first) = chars.next() {
        match first {
            '#' => drop(chars.by_ref().find(|c| *c == '\n')),
            '(' => tokens.push(CmakeToken::Open),
            ')' => tokens.push(CmakeToken::Close),
            '"' => {
                let mut word = String::new();
                while let Some(c) = chars.next().filter(|c| *c != '"') {
                    word.extend(if c == '\\' { chars.next() } else { Some(c) });
                }
                tokens.push(CmakeToken::Word(word));
            }
            c if c.is_whitespace() || c == ';' => {}
            c => {
                let mut word = String::from(c);
                while let Some(c) = chars.next_if(|c| !c.is_whitespace() && !"#()\";".contains(*c))
                {
                    word.push(c);
                }
                tokens.push(CmakeToken::Word(word));
            }
        }
    }
    tokens
}

#[cfg(test)]
mod tests {
    use super::{DeclaredError, declared_families};

    fn families(text: &str) -> Result<Vec<String>, DeclaredError> {
        let rows = declared_families(text)?;
        Ok(rows
            .into_iter()
            .map(|row| format!("{}: {}", row.family, row.members.join(" ")))
            .collect())
    }

    #[test]
    fn targets_are_in_the_families_that_their_calls_name() {
        let text = "# therock_add_amdgpu_target(gfx1 \"no\")\n\
                    function(therock_add_amdgpu_target gfx_target product_name)\n  foo(\"(\" ${x})\nendfunction()\n\
                    therock_add_amdgpu_target(gfx90a \"MI210 (\\\"a\\\")\" FAMILY dcgpu-all gfx90X-all\n\
                    \x20 EXCLUDE_TARGET_PROJECTS\n    hipSPARSELt # FAMILY x)\n)\n\
                    therock_add_amdgpu_target (gfx942 MI300 FAMILY dcgpu-all;gfx94X-all)\n\
                    therock_add_amdgpu_target(gfx9999 \"\" stray)\n";
        assert_eq!(
            families(text).unwrap(),
            [
                "dcgpu-all: gfx90a gfx942",
                "gfx90X-all: gfx90a",
                "gfx94X-all: gfx942",
                "gfx9999: gfx9999"
            ]
        );
    }

    #[test]
    fn a_file_that_declares_nothing_or_half_is_none() {
        assert_eq!(families("set(x)\n"), Err(DeclaredError::Nothing));
        for text in [
            "therock_add_amdgpu_target(gfx1 \"x",
            "therock_add_amdgpu_target(gfx1)",
            "therock_add_amdgpu_target(a b (",
        ] {
            assert_eq!(families(text), Err(DeclaredError::CutOff(1)), "{text}");
        }
        let twice = "therock_add_amdgpu_target(a b)\ntherock_add_amdgpu_target(a b)";
        assert_eq!(families(twice), Err(DeclaredError::Twice("a".to_owned())));
    }
}
