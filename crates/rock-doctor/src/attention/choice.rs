//! Chooses the library that attention uses for a GPU target, a torch version and a preference, by
//! the rows of the table `attention`.

use rock_compat::Compat;
use rock_compat::rows::AttentionRow;
use rock_names::{GfxTarget, Version};

/// A preference for an attention library.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AttentionPreference {
    /// No preference: torch's default.
    None,
    /// Composable Kernel.
    Ck,
}

/// The setting that `--prefer-ck` stands for.
const PREFER_CK: &str = "TORCH_ROCM_FA_PREFER_CK=1";

impl AttentionPreference {
    /// Returns the library that torch prefers with this setting; without a preference, torch's
    /// default library.
    pub(super) fn library(self, compat: &Compat) -> &str {
        let preferred_by = if self == Self::Ck { PREFER_CK } else { "" };
        let row = compat
            .machine_tables()
            .attention
            .iter()
            .find(|row| row.preferred_by == preferred_by);
        row.map_or("", |row| row.library.as_str())
    }
}

/// A query for the attention library of a GPU.
#[derive(Debug, Clone, Copy)]
pub struct AttentionQuery<'a> {
    /// The GPU.
    pub gfx: &'a GfxTarget,
    /// The torch version, if known.
    pub torch: Option<&'a Version>,
    /// The preferred library.
    pub preference: AttentionPreference,
}

/// The library that torch's attention uses on a GPU, and the reasons.
#[derive(Debug, Clone, PartialEq)]
pub struct AttentionChoice<'a> {
    /// The GPU.
    pub gfx: GfxTarget,
    /// The row of the library; `None` if only the math backend is left.
    pub row: Option<&'a AttentionRow>,
    /// The row of the library that is used if torch was not built with the preferred one.
    pub otherwise: Option<&'a AttentionRow>,
    /// The preferred library, if preferring it has no effect.
    pub in_vain: Option<&'a str>,
    /// The reasons, most important first.
    pub because: Vec<String>,
    /// The suggested action, if there is one.
    pub help: Option<String>,
}

/// Returns the library that torch's attention uses for a query, and the reasons.
pub fn choose<'a>(compat: &'a Compat, asked: &AttentionQuery<'_>) -> AttentionChoice<'a> {
    let usual = row_of(compat, AttentionPreference::None.library(compat), asked);
    let mut choice = AttentionChoice {
        gfx: asked.gfx.clone(),
        row: usual,
        otherwise: None,
        in_vain: None,
        because: Vec::new(),
        help: None,
    };
    if asked.preference != AttentionPreference::None {
        let library = asked.preference.library(compat);
        match row_of(compat, library, asked) {
            Some(row) => (choice.row, choice.otherwise) = (Some(row), usual),
            None => {
                choice.in_vain = Some(library);
                choice.because.push(format!(
                    "{} is preferred, but this has no effect: torch only uses it on {}",
                    title(compat, library),
                    targets(compat, library).join(", ")
                ));
            }
        }
    }
    match choice.row {
        Some(row) => choice.because.push(row.reason.clone()),
        None => left_with_math(compat, asked, &mut choice),
    }
    choice
}

/// Adds the reason why no library is available and, if another torch version has one, the advice to
/// use it.
fn left_with_math(compat: &Compat, asked: &AttentionQuery<'_>, choice: &mut AttentionChoice<'_>) {
    let usual = AttentionPreference::None.library(compat);
    let name = title(compat, usual);
    let rows: Vec<&AttentionRow> = of_library(compat, usual)
        .filter(|row| is_for(row, asked.gfx))
        .collect();
    match (rows.as_slice(), asked.torch) {
        ([], _) => {
            choice.because.push(format!(
                "no known torch version has {name} for {}",
                asked.gfx
            ));
        }
        (rows, torch) => {
            let ranges = joined(rows.iter().map(|row| row.torch.as_str()));
            let torch = torch.map_or_else(|| "torch".to_owned(), |torch| format!("torch {torch}"));
            choice
                .because
                .push(format!("{torch} has no {name} for {}", asked.gfx));
            choice.help = Some(format!("use torch {}", ranges.join(" or ")));
        }
    }
}

/// Joins adjacent ranges, where one ends with the version that the next begins with: `>=2.8,<2.9`
/// and `>=2.9` become `>=2.8`.
fn joined<'a>(ranges: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for range in ranges {
        let begin = range
            .split(',')
            .next()
            .and_then(|first| first.strip_prefix(">="));
        let last = found
            .last_mut()
            .filter(|last| begin.is_some_and(|at| last.ends_with(&format!(",<{at}"))));
        match (last, range.find(',')) {
            (Some(last), end) => {
                last.truncate(last.rfind(',').unwrap_or(last.len()));
                last.push_str(end.map_or("", |end| &range[end..]));
            }
            (None, _) => found.push(range.to_owned()),
        }
    }
    found
}

/// Returns the last row that matches the query: the newest torch's if the torch version is unknown.
fn row_of<'a>(
    compat: &'a Compat,
    library: &str,
    asked: &AttentionQuery<'_>,
) -> Option<&'a AttentionRow> {
    let holds = |row: &&AttentionRow| {
        let fits = asked.torch.is_none_or(|torch| {
            row.torch.is_empty() || torch.satisfies(&row.torch).unwrap_or(false)
        });
        is_for(row, asked.gfx) && fits
    };
    of_library(compat, library).filter(holds).last()
}

fn of_library<'a>(compat: &'a Compat, library: &str) -> impl Iterator<Item = &'a AttentionRow> {
    compat
        .machine_tables()
        .attention
        .iter()
        .filter(move |row| row.library == library)
}

fn is_for(row: &AttentionRow, gfx: &GfxTarget) -> bool {
    row.gfx.iter().any(|target| target == gfx.processor())
}

fn targets(compat: &Compat, library: &str) -> Vec<String> {
    of_library(compat, library)
        .flat_map(|row| row.gfx.iter().cloned())
        .collect()
}

/// Returns a library's name in the spelling of its authors.
pub(super) fn title<'a>(compat: &'a Compat, library: &'a str) -> &'a str {
    let named = of_library(compat, library)
        .map(|row| row.title.as_str())
        .find(|title| !title.is_empty());
    named.unwrap_or(library)
}

#[cfg(test)]
mod tests {
    use super::{AttentionChoice, AttentionPreference, AttentionQuery, choose};
    use rock_compat::Compat;

    fn check(
        gfx: &str,
        torch: &str,
        preference: AttentionPreference,
        see: impl FnOnce(&AttentionChoice<'_>),
    ) {
        let compat = Compat::embedded();
        let (gfx, torch) = (gfx.parse().unwrap(), torch.parse().ok());
        see(&choose(
            &compat,
            &AttentionQuery {
                gfx: &gfx,
                torch: torch.as_ref(),
                preference,
            },
        ));
    }

    fn library<'a>(choice: &AttentionChoice<'a>) -> &'a str {
        choice.row.map_or("math", |row| row.library.as_str())
    }

    #[test]
    fn preferring_ck_on_gfx1151_leaves_aotriton() {
        check("gfx1151", "2.12.0", AttentionPreference::Ck, |choice| {
            assert_eq!((library(choice), choice.in_vain), ("aotriton", Some("ck")));
            let why = "Composable Kernel is preferred, but this has no effect: torch only uses it \
                on gfx90a, gfx942, gfx950";
            assert_eq!(choice.because[0], why);
            assert_eq!(
                choice.row.unwrap().needs,
                "TORCH_ROCM_AOTRITON_ENABLE_EXPERIMENTAL=1"
            );
        });
    }

    #[test]
    fn preferring_ck_on_gfx942_takes_it_only_where_torch_was_built_with_it() {
        check("gfx942", "", AttentionPreference::Ck, |choice| {
            assert_eq!(library(choice), "ck");
            assert_eq!(choice.row.unwrap().built_with, "USE_ROCM_CK_SDPA=1");
            assert_eq!(choice.otherwise.unwrap().library, "aotriton");
        });
        check("gfx942", "", AttentionPreference::None, |choice| {
            assert_eq!(
                (library(choice), choice.row.unwrap().needs.as_str()),
                ("aotriton", "")
            );
        });
    }

    #[test]
    fn a_torch_whose_aotriton_lacks_the_gpu_is_left_with_math() {
        check("gfx1151", "2.7.1", AttentionPreference::None, |choice| {
            assert_eq!(library(choice), "math");
            assert_eq!(choice.because, ["torch 2.7.1 has no AOTriton for gfx1151"]);
            assert_eq!(choice.help.as_deref(), Some("use torch >=2.8"));
        });
        check(
            "gfx1151",
            "2.8.0+rocm6.4",
            AttentionPreference::None,
            |choice| {
                assert_eq!(library(choice), "aotriton");
            },
        );
        check("gfx1151", "2.13.0", AttentionPreference::None, |choice| {
            assert_eq!(choice.row.unwrap().needs, "");
        });
        check("gfx1200", "2.8.0", AttentionPreference::None, |choice| {
            assert_eq!(
                (library(choice), choice.help.as_deref()),
                ("math", Some("use torch >=2.9"))
            );
        });
        check("gfx1036", "", AttentionPreference::None, |choice| {
            assert_eq!(
                choice.because,
                ["no known torch version has AOTriton for gfx1036"]
            );
        });
    }

    #[test]
    fn where_torch_is_not_known_the_row_of_the_newest_holds() {
        let needs = |torch: &str| {
            let mut found = String::new();
            check("gfx950", torch, AttentionPreference::None, |choice| {
                found = choice.row.unwrap().needs.clone();
            });
            found
        };
        assert_eq!(needs("2.7.1"), "TORCH_ROCM_AOTRITON_ENABLE_EXPERIMENTAL=1");
        assert_eq!((needs("2.8.0"), needs("")), (String::new(), String::new()));
    }
}
