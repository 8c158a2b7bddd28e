//! The offers of published releases from several sources.

use rock_compat::Compat;
use rock_diagnostic::{Diagnostic, Location};
use rock_index::BaseUrl;
use rock_publish::{
    ListedRelease, PublishedReleases, PublishedSource, PublishedYanks, newest_first,
};

use super::{WheelOffer, WheelOffers, unread};
use crate::codes::release as codes;

impl WheelOffers {
    /// Collects the wheels that can be installed; there may be none. Those of directories and
    /// manifests have URLs below `base`, or else `file:` URLs. If several releases contain a wheel
    /// of the same name, the newest release that does not yank it wins.
    pub fn of_published(
        published: &PublishedReleases,
        base: Option<&BaseUrl>,
        yanks: &PublishedYanks,
    ) -> Self {
        let mut offers = Self::default();
        // Lists of releases come first, because they have URLs.
        let (listed, local): (Vec<&PublishedSource>, Vec<&PublishedSource>) = published
            .sources
            .iter()
            .partition(|source| source.directory.is_none());
        for source in listed {
            offers.add_listing_with_yanks(&source.listing, yanks);
            source
                .manifests
                .iter()
                .for_each(|manifest| offers.add_rows(manifest));
        }
        let mut releases: Vec<(&ListedRelease, &PublishedSource)> = local
            .iter()
            .flat_map(|source| {
                source
                    .listing
                    .releases
                    .iter()
                    .map(move |release| (release, *source))
            })
            .collect();
        newest_first(&mut releases, |(release, _)| release);
        for (release, source) in releases {
            let url = source.files_url(base);
            let mut wheels = Self::default();
            source
                .manifests
                .iter()
                .for_each(|manifest| wheels.add_manifest(manifest, &url));
            if source.manifests.is_empty() {
                wheels.add_names(release.assets.iter().map(|asset| asset.name.as_str()), &url);
            }
            offers.add_release(wheels, &|offer| {
                let reason = yanks.reason(
                    source.directory.as_deref(),
                    release,
                    &offer.file,
                    offer.digest,
                );
                reason.map(str::to_owned)
            });
        }
        // Manifests whose release is in another source.
        local
            .iter()
            .filter(|source| source.listing.releases.is_empty())
            .flat_map(|source| &source.manifests)
            .for_each(|manifest| offers.add_rows(manifest));
        offers
    }
}

/// Returns a warning for each wheel with an unknown label, which is never selected.
pub fn label_warnings(offers: &[WheelOffer], compat: &Compat) -> Vec<Diagnostic> {
    unread(offers, compat)
        .into_iter()
        .map(|(offer, reason)| {
            Diagnostic::new(
                &codes::UNREADABLE_PUBLISHED_NAME,
                format!("published `{}` is skipped: {reason}", offer.file),
            )
            .at(Location::Argument("--published".to_owned()), "")
            .help("publish it again with a label that names its ROCm version")
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use rock_compat::Compat;
    use rock_publish::{PublishedReleases, PublishedSource, PublishedYanks, ReleaseListing};

    use super::{WheelOffers, label_warnings};

    #[test]
    fn wheels_of_a_listing_have_its_urls_and_unknown_labels_are_reported() {
        let listing = ReleaseListing::from_json(
            r#"[{"tag_name": "v1", "assets": [
                {"name": "a-1-cp312-cp312-linux_x86_64.whl"},
                {"name": "a-1+odd-cp312-cp312-linux_x86_64.whl"}
            ]}]"#,
        );
        let mut listing = listing.unwrap();
        listing.repository = Some("o/r".to_owned());
        let mut published: PublishedReleases = PublishedReleases::new(&["o/r"]);
        published.add(PublishedSource::new(listing, vec![]));
        let yanks = PublishedYanks::default();
        let wheels = WheelOffers::of_published(&published, None, &yanks).into_wheels();
        let urls: Vec<&str> = wheels.iter().map(|wheel| wheel.url.as_str()).collect();
        let base = "https://github.com/o/r/releases/download/v1/a-1";
        assert_eq!(
            urls,
            [
                format!("{base}%2Bodd-cp312-cp312-linux_x86_64.whl"),
                format!("{base}-cp312-cp312-linux_x86_64.whl"),
            ]
        );
        let warnings = label_warnings(&wheels, &Compat::embedded());
        assert_eq!(warnings.len(), 1);
        assert!(
            warnings[0].message.contains("a-1+odd-"),
            "{}",
            warnings[0].message
        );
    }
}
