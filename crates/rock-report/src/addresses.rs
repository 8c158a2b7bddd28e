//! URLs of releases and their files.

use rock_index::BaseUrl;
use rock_names::{RepoName, percent_encode, web_address};
use rock_publish::{ListedAsset, ListedRelease};

/// Returns the repository of a release from its page, `https://HOST/OWNER/REPO/releases/…`.
pub fn repository_of(release: &ListedRelease) -> Option<RepoName> {
    repository_in(release.html_url.as_deref()?)
}

/// Returns the repository of a URL below its releases, `https://HOST/OWNER/REPO/releases/…`.
pub fn repository_in(address: &str) -> Option<RepoName> {
    let (before, _) = address.split_once("/releases/")?;
    let (_, path) = before.split_once("://")?.1.split_once('/')?;
    path.parse().ok()
}

/// The prefix of the tag in the URLs of a draft. These URLs stop working when the draft is
/// published.
const DRAFT: &str = "untagged-";

fn is_of_draft(address: &str) -> bool {
    address.contains(&format!("/releases/download/{DRAFT}"))
}

/// Returns the download URL of an asset: below `base` if given, otherwise the URL in the listing,
/// or else one that is derived from the page of the release or from the repository.
pub(super) fn asset(
    release: &ListedRelease,
    asset: &ListedAsset,
    name: &str,
    base: Option<&BaseUrl>,
    repository: Option<&RepoName>,
) -> Option<String> {
    if let Some(base) = base {
        let base = base.below(release.subdirectory.as_deref());
        return Some(format!("{base}/{}", percent_encode(name)));
    }
    let listed = asset
        .browser_download_url
        .as_deref()
        .filter(|url| !is_of_draft(url))
        .and_then(web_address);
    let of_page = || {
        let (before, tag) = release.html_url.as_deref()?.split_once("/releases/tag/")?;
        let own = percent_encode(&release.tag_name);
        let tag = if tag.starts_with(DRAFT) {
            own.as_str()
        } else {
            tag
        };
        web_address(&format!(
            "{before}/releases/download/{tag}/{}",
            percent_encode(name)
        ))
    };
    let of_repository = || {
        let tag = Some(release.tag_name.as_str()).filter(|tag| !tag.is_empty())?;
        Some(format!(
            "https://github.com/{}/releases/download/{}/{}",
            repository?,
            percent_encode(tag),
            percent_encode(name)
        ))
    };
    listed.or_else(of_page).or_else(of_repository)
}

/// Returns the URL of the page of a release.
pub(super) fn page(release: &ListedRelease, repository: Option<&RepoName>) -> Option<String> {
    let tag = Some(release.tag_name.as_str()).filter(|tag| !tag.is_empty());
    let listed =
        release
            .html_url
            .as_deref()
            .and_then(|url| match url.split_once("/releases/tag/") {
                Some((before, of_draft)) if of_draft.starts_with(DRAFT) => {
                    web_address(&format!("{before}/releases/tag/{}", percent_encode(tag?)))
                }
                _ => web_address(url),
            });
    listed.or_else(|| {
        Some(format!(
            "https://github.com/{}/releases/tag/{}",
            repository?,
            percent_encode(tag?)
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::{asset, repository_of};
    use rock_names::RepoName;
    use rock_publish::{ListedAsset, ListedRelease};

    #[test]
    fn an_asset_without_an_address_gets_the_one_its_release_implies() {
        let release = ListedRelease {
            tag_name: "v1+2".into(),
            html_url: Some("https://h.org/o/r/releases/tag/v1%2B2".into()),
            ..ListedRelease::default()
        };
        let file = ListedAsset::default();
        let address = asset(&release, &file, "a+b.whl", None, None);
        assert_eq!(
            address.as_deref(),
            Some("https://h.org/o/r/releases/download/v1%2B2/a%2Bb.whl")
        );
        assert_eq!(repository_of(&release).unwrap().to_string(), "o/r");
        let bare = ListedRelease {
            tag_name: "v1+2".into(),
            ..ListedRelease::default()
        };
        let repository: RepoName = "o/r".parse().unwrap();
        let address = asset(&bare, &file, "a+b.whl", None, Some(&repository));
        assert_eq!(
            address.as_deref(),
            Some("https://github.com/o/r/releases/download/v1%2B2/a%2Bb.whl")
        );
        assert_eq!(asset(&bare, &file, "a+b.whl", None, None), None);
    }

    #[test]
    fn a_draft_has_the_addresses_that_it_gets_when_it_is_published() {
        let draft = ListedRelease {
            tag_name: "v1".into(),
            draft: true,
            html_url: Some("https://h.org/o/r/releases/tag/untagged-0f1e".into()),
            ..ListedRelease::default()
        };
        let file = ListedAsset {
            browser_download_url: Some(
                "https://h.org/o/r/releases/download/untagged-0f1e/a.whl".into(),
            ),
            ..ListedAsset::default()
        };
        let address = asset(&draft, &file, "a.whl", None, None);
        assert_eq!(
            address.as_deref(),
            Some("https://h.org/o/r/releases/download/v1/a.whl")
        );
        assert_eq!(
            super::page(&draft, None).as_deref(),
            Some("https://h.org/o/r/releases/tag/v1")
        );
    }
}
