//! The planned files that are not published, as text, as a list and as JSON.

use rock_diagnostic::{counted, is_or_are};

use super::{
    CoverageShare, ExpectedCells, MatchedArchive, MatchedCell, MissingGrid, WheelListing,
    archives_text, called, documents, grids, listed, matched_archives, missing_text,
};

/// The planned wheels and archives of install trees, and which of them are missing.
#[derive(Debug, Clone)]
pub struct MissingReport<'a> {
    /// The cells of wheels, by platform, distribution and version.
    pub grids: Vec<MissingGrid>,
    /// The archives of install trees.
    pub archives: Vec<MatchedArchive<'a>>,
    /// The names of the missing files.
    pub files: Vec<String>,
    /// The published and missing cells of wheels and archives.
    pub share: CoverageShare,
    /// The noun for the missing files: `wheel`, `archive`, or `file` if there are both.
    noun: &'static str,
}

impl<'a> MissingReport<'a> {
    /// Compares the wheels and archives of a plan with the published ones. `found` are the cells
    /// with the wheels that fill them, from [`matched`](super::matched).
    pub fn new(
        expected: &'a ExpectedCells,
        found: &[MatchedCell<'_>],
        wheels: &WheelListing,
    ) -> Self {
        let archives = matched_archives(expected, wheels);
        let grids = grids(expected, found);
        let mut files = listed(found);
        let mut share = grids.iter().fold(CoverageShare::default(), |share, grid| {
            share.plus(grid.share)
        });
        for archive in &archives {
            share.count(archive.is_there);
        }
        let absent: Vec<String> = archives
            .iter()
            .filter(|archive| !archive.is_there)
            .map(|archive| archive.archive.name.text.clone())
            .collect();
        let noun = called(files.len(), absent.len());
        files.extend(absent);
        Self {
            grids,
            archives,
            files,
            share,
            noun,
        }
    }

    /// Returns the grids and the archives as text.
    pub fn text(&self) -> String {
        missing_text(&self.grids) + &archives_text(&self.archives)
    }

    /// Returns the names of the missing files, one per line.
    pub fn list(&self) -> String {
        self.files.iter().map(|name| format!("{name}\n")).collect()
    }

    /// Returns the report as JSON with a final newline. `wheels` are the published wheels.
    pub fn json(&self, wheels: &WheelListing) -> String {
        documents::missing_json(self, wheels)
    }

    /// Returns a line with the number of missing cells; `None` if none is missing.
    pub fn summary(&self) -> Option<String> {
        let missing = self.share.missing;
        (missing > 0).then(|| {
            format!(
                "{missing} of {} {} missing, in {}",
                counted(self.share.total(), "cell"),
                is_or_are(missing),
                counted(self.files.len(), self.noun)
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use rock_diagnostic::Sink;
    use rock_plan::SavedPlan;
    use rock_publish::ReleaseListing;

    use super::MissingReport;
    use crate::{ExpectedCells, ListingContext, WheelListing, matched};

    #[test]
    fn a_missing_wheel_is_in_every_form() {
        let names = ["3.11", "3.12"].map(|python| {
            let python = python.replace('.', "");
            format!("a-1+rocm6.2torch2.5-cp{python}-cp{python}-linux_x86_64.whl")
        });
        let plan = SavedPlan {
            published: names.to_vec(),
            ..SavedPlan::default()
        };
        let mut sink = Sink::new();
        let expected = ExpectedCells::of(&plan, &[], &mut sink);
        assert!(!sink.has_errors());
        let listing =
            ReleaseListing::from_json(&format!(r#"[{{"name": "{}"}}]"#, names[0])).unwrap();
        let wheels = WheelListing::published(&listing, ListingContext::default());
        let report = MissingReport::new(&expected, &matched(&expected, &wheels), &wheels);
        assert_eq!(report.list(), format!("{}\n", names[1]));
        assert_eq!(
            report.summary().as_deref(),
            Some("1 of 2 cells is missing, in 1 wheel")
        );
        assert!(report.text().contains("MISSING"), "{}", report.text());
        let document: serde_json::Value = serde_json::from_str(&report.json(&wheels)).unwrap();
        assert_eq!(
            (&document["present"], &document["wheels"][0]),
            (&1.into(), &names[1].clone().into())
        );
    }
}
