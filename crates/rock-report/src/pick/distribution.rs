//! Selects the distribution of a wheel.

use rock_diagnostic::nearest::{nearest, with_nearest};
use rock_diagnostic::{Diagnostic, Location};
use rock_names::DistributionName;

use super::WheelCandidate;
use crate::codes::release as codes;

/// Returns the normalized name of the requested distribution, or of the only one among the
/// candidates. The candidates must be in the order of [`super::candidates`].
///
/// # Errors
/// If no wheel of the distribution is published, or none is requested and there are several.
pub fn select_distribution(
    requested: Option<&DistributionName>,
    wheels: &[WheelCandidate],
) -> Result<String, Diagnostic> {
    let mut published: Vec<&str> = wheels
        .iter()
        .map(|wheel| wheel.distribution.as_str())
        .collect();
    published.dedup();
    match (requested.map(DistributionName::normalized), &published[..]) {
        (None, [only]) => Ok((*only).to_owned()),
        (None, _) => Err(several_projects(&published)),
        (Some(requested), _) if published.contains(&requested.as_str()) => Ok(requested),
        (Some(requested), _) => Err(no_such_project(&requested, &published)),
    }
}

fn several_projects(published: &[&str]) -> Diagnostic {
    Diagnostic::new(
        &codes::SEVERAL_PROJECTS,
        format!("wheels of {} projects are published", published.len()),
    )
    .note(format!("they are {}", quoted(published)))
    .help(format!(
        "name one, such as `{}`",
        published.first().copied().unwrap_or_default()
    ))
}

fn no_such_project(requested: &str, published: &[&str]) -> Diagnostic {
    let message = with_nearest(
        format!("no wheel of `{requested}` is published"),
        nearest(requested, published.iter().copied()),
    );
    Diagnostic::new(&codes::NO_SUCH_PROJECT, message)
        .at(Location::Argument(requested.to_owned()), "")
        .help(format!("the published projects are {}", quoted(published)))
}

fn quoted(names: &[&str]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use rock_compat::Compat;

    use super::select_distribution;
    use crate::pick::{PrereleaseMode, WheelCandidate, WheelOffers, candidates};

    fn wheels(names: &[&str]) -> Vec<WheelCandidate> {
        let mut offers = WheelOffers::default();
        offers.add_names(names.iter().copied(), "");
        candidates(
            offers.into_wheels(),
            &Compat::embedded(),
            PrereleaseMode::Allow,
        )
    }

    #[test]
    fn the_only_distribution_is_selected_and_others_by_name() {
        let one = wheels(&["a_b-1-py3-none-any.whl", "a_b-2-py3-none-any.whl"]);
        assert_eq!(select_distribution(None, &one).unwrap(), "a-b");

        let two = wheels(&["a_b-1-py3-none-any.whl", "torch-2-py3-none-any.whl"]);
        let error = select_distribution(None, &two).unwrap_err();
        assert_eq!(error.notes, ["they are `a-b`, `torch`"]);
        let select = |name: &str| select_distribution(Some(&name.parse().unwrap()), &two);
        assert_eq!(select("A.B").unwrap(), "a-b");
        let error = select("trch").unwrap_err();
        assert!(
            error.message.ends_with("did you mean `torch`?"),
            "{error:?}"
        );
    }
}
