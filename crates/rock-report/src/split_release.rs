//! Splits a release of a directory into the releases that it becomes on GitHub.

use std::collections::BTreeSet;

use rock_index::BaseUrl;
use rock_names::{percent_decode, percent_encode};
use rock_publish::remote::{DesiredRelease, MakeLatest, partition_assets};
use rock_publish::{DesiredFile, ListedRelease};

/// Splits a release the way publishing would if none of it existed yet: assets beyond
/// `most_assets`, GitHub's limit per release, move to `TAG-2` and so on. Returns `None` if `base`
/// is not the URL of that tag's files on GitHub, or if an asset has no digest.
pub fn split_release(
    release: &ListedRelease,
    base: &BaseUrl,
    most_assets: usize,
) -> Option<Vec<ListedRelease>> {
    let base = base.to_string();
    let (before, tag) = base.split_once("/releases/download/")?;
    if percent_decode(tag)? != release.tag_name {
        return None;
    }
    let wanted = release.assets.iter().map(|asset| {
        Some(DesiredFile {
            name: asset.name.clone(),
            digest: asset.digest?,
            size_bytes: asset.size,
            generated: false,
        })
    });
    let desired = DesiredRelease {
        tag: release.tag_name.clone(),
        title: None,
        body: None,
        target: None,
        prerelease: false,
        make_latest: MakeLatest::default(),
        assets: wanted.collect::<Option<_>>()?,
        stays_draft: false,
        nonce: String::new(),
        most_assets,
    };
    let parts = partition_assets(&desired, &[], &BTreeSet::new());
    let one = |part: &rock_publish::remote::ReleasePart<'_>| {
        let names: BTreeSet<&str> = part
            .assets
            .iter()
            .map(|wanted| wanted.name.as_str())
            .collect();
        let is_there = |name: &str| names.contains(name);
        ListedRelease {
            html_url: Some(format!(
                "{before}/releases/tag/{}",
                percent_encode(&part.tag)
            )),
            tag_name: part.tag.clone(),
            assets: release
                .assets
                .iter()
                .filter(|asset| is_there(&asset.name))
                .cloned()
                .collect(),
            ..release.clone()
        }
    };
    Some(parts.iter().map(one).collect())
}

#[cfg(test)]
mod tests {
    use super::split_release;
    use crate::{ListingContext, WheelListing};
    use rock_compat::Compat;
    use rock_names::Digest;
    use rock_publish::{ListedAsset, ListedRelease};

    /// A release with `count` wheels, as a manifest lists them.
    fn release(count: usize) -> ListedRelease {
        let asset = |at: usize| ListedAsset {
            name: format!("a-1.{at}+rocm6.2-py3-none-any.whl"),
            digest: Some(Digest::new([7; 32])),
            ..ListedAsset::default()
        };
        ListedRelease {
            tag_name: "v1/x".into(),
            assets: (0..count).map(asset).collect(),
            ..ListedRelease::default()
        }
    }

    #[test]
    fn wheels_beyond_990_are_linked_in_the_continuation() {
        let most = Compat::embedded().limit_value("release-assets");
        let base = "https://github.com/o/r/releases/download/v1/x"
            .parse()
            .unwrap();
        let dealt = split_release(&release(1_100), &base, most).unwrap();
        let counts: Vec<(&str, usize)> = dealt
            .iter()
            .map(|r| (r.tag_name.as_str(), r.assets.len()))
            .collect();
        assert_eq!(counts, [("v1/x", 990), ("v1/x-2", 110)]);
        let wheels = WheelListing::of(&dealt, ListingContext::default());
        let of = |name: &str| {
            wheels
                .all
                .iter()
                .find(|wheel| wheel.name == name)
                .unwrap()
                .address
                .clone()
                .unwrap()
        };
        for (at, tag) in [
            (0, "v1%2Fx"),
            (989, "v1%2Fx"),
            (990, "v1%2Fx-2"),
            (1_099, "v1%2Fx-2"),
        ] {
            let name = format!("a-1.{at}+rocm6.2-py3-none-any.whl");
            let encoded = name.replace('+', "%2B");
            assert_eq!(
                of(&name),
                format!("https://github.com/o/r/releases/download/{tag}/{encoded}")
            );
        }
        let dealt = split_release(&release(990), &base, most).unwrap();
        assert_eq!(dealt.len(), 1);
    }

    #[test]
    fn other_addresses_have_no_release() {
        for base in [
            "https://example.org/v1/x",
            "https://github.com/o/r/releases/download/v2",
        ] {
            assert_eq!(
                split_release(&release(3), &base.parse().unwrap(), 14),
                None,
                "{base}"
            );
        }
    }
}
