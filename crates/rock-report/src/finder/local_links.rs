//! Links of a page to files on this machine.

use rock_diagnostic::{Diagnostic, counted};

use crate::codes::release as codes;
use crate::pick::WheelCandidate;

/// Returns a warning about links to local files, which are dead on a deployed page; `None` if there
/// are none.
pub fn local_links_warning(wheels: &[WheelCandidate]) -> Option<Diagnostic> {
    let mut local = wheels
        .iter()
        .map(|wheel| wheel.offer.url.as_str())
        .filter(|url| url.starts_with("file:"));
    let first = local.next()?;
    let count = counted(1 + local.count(), "wheel");
    Some(
        Diagnostic::new(
            &codes::ADDRESS_OF_THIS_MACHINE,
            format!("the page links to {count} on this machine only"),
        )
        .note(format!("the first is `{first}`"))
        .help("set the URL that the files will be served from with `--base-url`"),
    )
}

#[cfg(test)]
mod tests {
    use rock_compat::Compat;

    use super::local_links_warning;
    use crate::pick::{PrereleaseMode, WheelOffers, candidates};

    #[test]
    fn only_file_urls_are_counted() {
        let warning = |base: &str| {
            let mut offers = WheelOffers::default();
            offers.add_names(["a-1-py3-none-any.whl", "b-1-py3-none-any.whl"], base);
            let compat = Compat::embedded();
            let wheels = candidates(offers.into_wheels(), &compat, PrereleaseMode::Allow);
            local_links_warning(&wheels).map(|warning| warning.message)
        };
        assert_eq!(warning("https://example.org/"), None);
        assert_eq!(
            warning("file:///dist/").as_deref(),
            Some("the page links to 2 wheels on this machine only")
        );
    }
}
