//! The page for published releases.

use rock_compat::Compat;
use rock_diagnostic::{Diagnostic, Severity};
use rock_index::BaseUrl;
use rock_publish::{PublishedReleases, PublishedYanks, rebuilt_warning};
use rock_template::TemplateError;

use super::{FinderPage, choices, data, local_links_warning, page};
use crate::pick::{
    MatchRules, PrereleaseMode, WheelCandidate, WheelOffers, candidates, label_warnings, split,
};

/// A rendered page of published wheels.
#[derive(Debug)]
pub struct PublishedPage {
    /// The HTML document.
    pub html: String,
    /// The number of wheels on the page.
    pub wheel_count: usize,
    /// The number of yanked wheels, which are left out.
    pub yanked_count: usize,
}

/// The wheels that a page offers.
#[derive(Debug)]
pub struct FinderWheels {
    available: Vec<WheelCandidate>,
    yanked_count: usize,
    /// `OWNER/REPO`, if a listing names it.
    repository: Option<String>,
    warnings: Vec<Diagnostic>,
}

impl FinderWheels {
    /// Collects the published wheels that are not yanked. Those of directories and manifests have
    /// URLs below `base`, or else `file:` URLs.
    pub fn new(
        published: &PublishedReleases,
        base: Option<&BaseUrl>,
        yanks: &PublishedYanks,
        compat: &Compat,
    ) -> Self {
        let mut warnings = published.name_warnings();
        let mut offers = WheelOffers::of_published(published, base, yanks);
        offers.remove_rebuilt_of_yanked();
        warnings.extend(rebuilt_warning(&offers.rebuilt));
        let repository = offers.repository.take();
        let offers = offers.into_wheels();
        warnings.extend(label_warnings(&offers, compat));
        let candidates = candidates(offers, compat, PrereleaseMode::IfNecessary);
        let (available, yanked_wheels) = split(candidates);
        warnings.extend(local_links_warning(&available));
        if available.is_empty() {
            let none = published.no_wheels().severity(Severity::Warning);
            warnings.push(if yanked_wheels.is_empty() {
                none
            } else {
                none.note("all published wheels are yanked")
            });
        }
        Self {
            available,
            yanked_count: yanked_wheels.len(),
            repository,
            warnings,
        }
    }

    /// Returns warnings about unreadable names, rebuilt files, local links, and missing wheels.
    pub fn warnings(&self) -> &[Diagnostic] {
        &self.warnings
    }

    /// Renders the page with this title and heading.
    ///
    /// # Errors
    /// When rendering the template fails, which is a bug.
    pub fn page(&self, title: &str, compat: &Compat) -> Result<PublishedPage, TemplateError> {
        let choices = choices(&self.available, compat);
        let data = data(
            &self.available,
            &MatchRules::of(compat),
            &choices,
            self.repository.as_deref(),
            self.yanked_count,
        );
        Ok(PublishedPage {
            html: page(&FinderPage { title, data: &data })?,
            wheel_count: self.available.len(),
            yanked_count: self.yanked_count,
        })
    }
}

#[cfg(test)]
mod tests {
    use rock_compat::Compat;
    use rock_publish::{PublishedReleases, PublishedSource, PublishedYanks, ReleaseListing};

    use super::FinderWheels;

    #[test]
    fn an_empty_page_is_a_warning() {
        let compat = Compat::embedded();
        let render = |json: &str| {
            let mut published: PublishedReleases = PublishedReleases::new(&["releases.json"]);
            let listing = ReleaseListing::from_json(json).unwrap();
            published.add(PublishedSource::new(listing, vec![]));
            let wheels = FinderWheels::new(&published, None, &PublishedYanks::default(), &compat);
            let page = wheels.page("Wheels", &compat).unwrap();
            assert!(page.html.contains("<title>Wheels</title>"));
            (page.wheel_count, wheels.warnings().len())
        };
        assert_eq!(render(r#"[{"tag_name": "v1"}]"#), (0, 1));
        assert_eq!(render(r#"["a-1-py3-none-any.whl"]"#), (1, 0));
    }
}
