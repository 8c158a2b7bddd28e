//! Published wheels that can be installed, and those that a plan can skip.

use std::path::{Path, PathBuf};

use super::{Part, Published};
use crate::cli::Exit;
use crate::cli::told::file_url;
use crate::codes::release as codes;
use crate::compat::Compat;
use crate::diagnostic::{Diagnostic, Location, Sink};
use crate::index::BaseUrl;
use crate::names::{is_sdist, is_tree_archive};
use crate::pick::{WheelOffer, WheelOffers};
use crate::plan;
use crate::publish::{ListedRelease, ReleaseListing, newest_first};
use crate::sys;

impl Published {
    /// Returns the wheels that need no job.
    pub(in crate::cli) fn to_skip(&self, compat: &Compat, sink: &mut Sink) -> plan::PublishedSet {
        let (listing, mut published) = (
            self.listing(),
            plan::PublishedSet::new(compat.rocm_versions()),
        );
        for (_, _, name) in listing.wheels() {
            published.insert(&name);
        }
        for asset in listing.releases.iter().flat_map(|release| &release.assets) {
            if is_tree_archive(&asset.name) || is_sdist(&asset.name) {
                published.insert_archive(&asset.name);
            }
        }
        report_unreadable(&listing, sink);
        published
    }

    /// Returns the wheels that can be installed. Those of directories and manifests have local
    /// URLs, or URLs below `base`.
    ///
    /// # Errors
    /// There are none; the sink has the diagnostic.
    pub(in crate::cli) fn offers(
        &self,
        base: Option<&BaseUrl>,
        sink: &mut Sink,
    ) -> Result<WheelOffers, Exit> {
        let offers = self.all_offers(base, sink);
        if offers.is_empty() {
            sink.push(self.no_wheels());
            return Err(Exit::Fault);
        }
        Ok(offers)
    }

    /// Returns the wheels that can be installed; there may be none.
    pub(in crate::cli) fn all_offers(
        &self,
        base: Option<&BaseUrl>,
        sink: &mut Sink,
    ) -> WheelOffers {
        let mut offers = WheelOffers::default();
        // Lists of releases come first, because they have URLs.
        let (named, placed): (Vec<&Part>, Vec<&Part>) =
            self.parts.iter().partition(|part| part.folder.is_none());
        for part in named {
            offers.add_listing(&part.listing);
            part.manifests
                .iter()
                .for_each(|manifest| offers.add_rows(manifest));
        }
        let mut placed: Vec<(&ListedRelease, &Part)> = placed
            .into_iter()
            .flat_map(|part| {
                part.listing
                    .releases
                    .iter()
                    .map(move |release| (release, part))
            })
            .collect();
        newest_first(&mut placed, |(release, _)| release);
        for (release, part) in placed {
            let folder = part.folder.as_deref().unwrap_or(Path::new("."));
            let base = base.map_or_else(
                || address(folder),
                |base| format!("{}/", base.below(part.subfolder())),
            );
            part.manifests
                .iter()
                .for_each(|manifest| offers.add_manifest(manifest, &base));
            if part.manifests.is_empty() {
                offers.add_names(
                    release.assets.iter().map(|asset| asset.name.as_str()),
                    &base,
                );
            }
        }
        // Manifests whose release is in another part.
        let beside = self
            .parts
            .iter()
            .filter(|part| part.folder.is_some() && part.listing.releases.is_empty());
        beside
            .flat_map(|part| &part.manifests)
            .for_each(|manifest| offers.add_rows(manifest));
        report_unreadable(&self.listing(), sink);
        offers
    }
}

fn report_unreadable(listing: &ReleaseListing, sink: &mut Sink) {
    for (release, error) in listing.unreadable() {
        let told = Diagnostic::new(
            &codes::UNREADABLE_PUBLISHED_NAME,
            format!("published file {error}"),
        )
        .at(Location::Argument("--published".to_owned()), "")
        .help("publish it again under the name of a wheel");
        let of_release = Some(&release.tag_name).filter(|tag| !tag.is_empty());
        sink.push(match of_release {
            Some(tag) => told.note(format!("it is in release `{tag}`")),
            None => told,
        });
    }
}

/// Warns about wheels with an unknown label.
pub(in crate::cli) fn tell_unread(offers: &[WheelOffer], compat: &Compat, sink: &mut Sink) {
    for (offer, reason) in crate::pick::unread(offers, compat) {
        sink.push(
            Diagnostic::new(
                &codes::UNREADABLE_PUBLISHED_NAME,
                format!("published `{}` is skipped: {reason}", offer.file),
            )
            .at(Location::Argument("--published".to_owned()), "")
            .help("publish it again with a label that names its ROCm version"),
        );
    }
}

fn address(folder: &Path) -> String {
    file_url(&sys::real_path(folder).iter().collect::<PathBuf>())
}
