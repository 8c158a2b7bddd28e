//! Rulesets for tags, and the check whether one applies to a tag.

use super::TagGlob;

/// An active ruleset that targets tags (REST API version 2022-11-28, "Get all repository
/// rulesets").
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TagRuleset {
    pub name: String,
    /// Its conditions and rules (REST API, "Get a repository ruleset"); `None` if the token may not
    /// read them.
    pub details: Option<TagRulesetDetails>,
}

/// The conditions and rules of a ruleset.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TagRulesetDetails {
    /// Whether one of its rules is `creation`.
    pub restricts_creation: bool,
    /// Patterns of the refs that it applies to, `refs/tags/v*` or `~ALL`.
    pub include: Vec<String>,
    /// Patterns of the refs that it does not apply to.
    pub exclude: Vec<String>,
    /// Whether the user of the token may bypass it; `None` if GitHub does not report it.
    pub may_bypass: Option<bool>,
}

impl TagRulesetDetails {
    /// Whether the ruleset applies to a tag; `None` if that depends on a pattern with unsupported
    /// syntax.
    pub(super) fn applies_to(&self, tag: &str) -> Option<bool> {
        let any = |patterns: &[String]| {
            let fits: Vec<Option<bool>> = patterns
                .iter()
                .map(|pattern| ref_fits(pattern, tag))
                .collect();
            match () {
                () if fits.contains(&Some(true)) => Some(true),
                () if fits.contains(&None) => None,
                () => Some(false),
            }
        };
        match (any(&self.include), any(&self.exclude)) {
            (Some(false), _) | (_, Some(true)) => Some(false),
            (Some(true), Some(false)) => Some(true),
            _ => None,
        }
    }
}

/// Whether a pattern of a ruleset matches a tag; `None` if its syntax is not supported. Patterns
/// follow fnmatch with `FNM_PATHNAME`, in which `*` does not match `/` and `**/` matches any
/// directories (GitHub Docs, "Creating rulesets for a repository", "Using fnmatch syntax"). Sets
/// such as `[ab]` are not supported.
fn ref_fits(pattern: &str, tag: &str) -> Option<bool> {
    if pattern == "~ALL" {
        return Some(true);
    }
    if pattern.contains(['[', '{', '\\']) || tag.contains('/') {
        return None;
    }
    let Some(mut glob) = pattern.strip_prefix("refs/tags/") else {
        // Without the full prefix, a pattern can only match through `**`.
        return if pattern.contains("**") {
            None
        } else {
            Some(false)
        };
    };
    while let Some(rest) = glob.strip_prefix("**/") {
        glob = rest;
    }
    Some(!glob.contains('/') && TagGlob::matches(glob, tag))
}

#[cfg(test)]
mod tests {
    use super::TagRulesetDetails;

    fn applies(include: &[&str], exclude: &[&str]) -> Option<bool> {
        let texts = |patterns: &[&str]| patterns.iter().map(|text| (*text).to_owned()).collect();
        let details = TagRulesetDetails {
            include: texts(include),
            exclude: texts(exclude),
            ..TagRulesetDetails::default()
        };
        details.applies_to("v1.2")
    }

    #[test]
    fn a_ruleset_applies_to_what_is_included_and_not_excluded() {
        assert_eq!(applies(&["~ALL"], &[]), Some(true));
        assert_eq!(applies(&["refs/tags/x", "refs/tags/v*"], &[]), Some(true));
        assert_eq!(applies(&["refs/tags/**/*"], &["refs/tags/v2*"]), Some(true));
        for (include, exclude) in [
            (&[][..], &[][..]),
            (&["refs/tags/*/v*"], &[]),
            (&["v*"], &[]),
            (&["~ALL"], &["refs/tags/v1.?"]),
        ] {
            assert_eq!(
                applies(include, exclude),
                Some(false),
                "{include:?} {exclude:?}"
            );
        }
    }

    #[test]
    fn patterns_that_are_not_understood_leave_it_open() {
        assert_eq!(applies(&["refs/tags/[vw]*"], &[]), None);
        assert_eq!(applies(&["~ALL"], &["**/v*"]), None);
        assert_eq!(
            applies(&["refs/tags/[vw]*", "refs/tags/v*"], &[]),
            Some(true)
        );
        assert_eq!(applies(&["refs/tags/[vw]*"], &["~ALL"]), Some(false));
    }
}
