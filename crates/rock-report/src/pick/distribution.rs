//! Selects the distribution of a wheel, and its version.

use std::str::FromStr;

use rock_diagnostic::nearest::{nearest, with_nearest};
use rock_diagnostic::{Diagnostic, Location};
use rock_names::{DistributionName, DistributionNameError, Version, VersionError, WheelName};

use super::WheelCandidate;
use crate::codes::release as codes;

/// The maximum number of published versions that an error lists.
const MAX_VERSIONS: usize = 8;

/// A distribution, or one version of it: `flash-attn` or `flash-attn==2.8.3`. A version without a
/// local version label selects all labels.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestedWheel {
    /// The distribution.
    pub distribution: DistributionName,
    /// The version; `None` for all versions.
    pub version: Option<Version>,
}

/// The error of parsing a [`RequestedWheel`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RequestedWheelError {
    /// The text has a version specifier other than `==`.
    #[error("a version is selected with `NAME==VERSION`")]
    NotExact,
    /// The distribution is invalid.
    #[error(transparent)]
    Distribution(#[from] DistributionNameError),
    /// The version is invalid.
    #[error(transparent)]
    Version(#[from] VersionError),
}

impl FromStr for RequestedWheel {
    type Err = RequestedWheelError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (distribution, version) = match text.split_once("==") {
            Some((distribution, version)) => (distribution.trim(), Some(version)),
            None => (text, None),
        };
        if distribution.contains(['<', '>', '=', '!', '~']) {
            return Err(RequestedWheelError::NotExact);
        }
        Ok(Self {
            distribution: distribution.parse()?,
            version: version.map(str::parse).transpose()?,
        })
    }
}

impl RequestedWheel {
    /// Whether a wheel is of this distribution and version.
    pub fn matches(&self, name: &WheelName) -> bool {
        let has_version = |version: &Version| match version.local() {
            Some(_) => name.version() == version,
            None => name.version().public() == *version,
        };
        name.distribution().normalized() == self.distribution.normalized()
            && self.version.as_ref().is_none_or(has_version)
    }
}

/// Returns the candidates of the requested version. The candidates must be in the order of
/// [`super::candidates`].
///
/// # Errors
/// If there is none.
pub fn select_version(
    requested: &RequestedWheel,
    wheels: Vec<WheelCandidate>,
) -> Result<Vec<WheelCandidate>, Diagnostic> {
    let (selected, others): (Vec<_>, Vec<_>) = wheels
        .into_iter()
        .partition(|wheel| requested.matches(&wheel.offer.name));
    if !selected.is_empty() {
        return Ok(selected);
    }
    let distribution = requested.distribution.normalized();
    let mut versions: Vec<&str> = others
        .iter()
        .filter(|wheel| wheel.distribution == distribution)
        .map(|wheel| wheel.version.as_str())
        .collect();
    versions.dedup();
    versions.truncate(MAX_VERSIONS);
    let version = requested.version.as_ref().map(ToString::to_string);
    let message = format!(
        "no wheel of {distribution} has version {}",
        version.unwrap_or_default()
    );
    Err(
        Diagnostic::new(&codes::NO_WHEEL_FITS, message).help(format!(
            "the newest published versions are {}",
            quoted(&versions)
        )),
    )
}

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

    use super::{RequestedWheel, RequestedWheelError, select_distribution, select_version};
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
    fn a_version_selects_wheels_with_any_label_and_one_label() {
        let published = wheels(&[
            "a_b-1.0+rocm6.2-cp312-cp312-linux_x86_64.whl",
            "a_b-1.0+rocm6.3-cp312-cp312-linux_x86_64.whl",
            "a_b-2.0+rocm6.3-cp312-cp312-linux_x86_64.whl",
            "other-3.0-py3-none-any.whl",
        ]);
        let select = |text: &str| {
            let requested: RequestedWheel = text.parse().unwrap();
            select_version(&requested, published.clone())
        };
        for (text, count) in [("A.B", 3), ("a-b==1", 2), ("a-b == 1.0+rocm6.3", 1)] {
            assert_eq!(select(text).unwrap().len(), count, "{text}");
        }
        let error = select("a-b==3.0").unwrap_err();
        assert_eq!(error.message, "no wheel of a-b has version 3.0");
        assert_eq!(
            error.help.as_deref(),
            Some("the newest published versions are `2.0`, `1.0`")
        );
        for text in ["a>=1", "a=1", "a~=1"] {
            let error = text.parse::<RequestedWheel>().unwrap_err();
            assert_eq!(error, RequestedWheelError::NotExact, "{text}");
        }
        assert!("a==1.*".parse::<RequestedWheel>().is_err());
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
