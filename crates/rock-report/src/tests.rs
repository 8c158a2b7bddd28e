use proptest::prelude::*;

use super::*;
use rock_compat::Compat;
use rock_diagnostic::Sink;
use rock_plan::SavedPlan;
use rock_publish::{ListedAsset, ListedRelease, ReleaseListing};

/// Lists the 40 assets of the fixture in three releases, some of them more than once.
fn listing() -> ReleaseListing {
    let fixture =
        ReleaseListing::from_json(include_str!("../../../tests/fixtures/assets.json")).unwrap();
    let assets = &fixture.releases[0].assets;
    let release = |tag: &str, id, assets: &[ListedAsset]| ListedRelease {
        id,
        tag_name: tag.to_owned(),
        published_at: Some(format!("2026-11-0{id}T00:00:00Z")),
        html_url: Some(format!("https://example.org/o/r/releases/tag/{tag}")),
        assets: assets.to_vec(),
        ..ListedRelease::default()
    };
    let releases = vec![
        release("v9", 1, &assets[..20]),
        release("v10", 2, &assets[10..]),
        release("v10-2", 2, &assets[..3]),
    ];
    ReleaseListing {
        repository: None,
        releases,
    }
}

fn expected() -> ExpectedCells {
    let names = ["3.10", "3.11", "3.12"].map(|python| python.replace('.', ""));
    let wheel = |python: &String| {
        format!("flash_attn-2.8.3+rocm62torch2.5-cp{python}-cp{python}-linux_x86_64.whl")
    };
    let missing = ["2.9", "2.10"]
        .map(|torch| format!("flash_attn-2.8.3+rocm7.2torch{torch}-cp312-cp312-linux_x86_64.whl"));
    let published = names.iter().map(wheel).chain(missing).collect();
    let mut sink = Sink::new();
    let made = ExpectedCells::of(
        &SavedPlan {
            published,
            ..SavedPlan::default()
        },
        &[],
        &mut sink,
    );
    assert!(!sink.has_errors());
    made
}

fn documents(listing: &ReleaseListing) -> Vec<String> {
    let wheels = WheelListing::published(listing, ListingContext::default());
    let expected = expected();
    let found = matched(&expected, &wheels);
    let releases = listing.of_tag("v10");
    let of_tag = WheelListing::of(releases.iter().copied(), ListingContext::default());
    let outcomes = JobOutcomes::default();
    let about = ReleaseNotes {
        tag: "v10",
        releases: &releases,
        wheels: &of_tag,
        expected: &expected,
        outcomes: &outcomes,
        index: None,
        compat: &Compat::embedded(),
        repository: None,
        has_manifest: false,
        attested: None,
        most_bytes: 125_000,
    };
    let counted = coverage(&expected, &found, &matched_archives(&expected, &wheels));
    let mut documents = vec![
        packages(&wheels),
        notes(&about).unwrap(),
        history_section(&about),
        badges(&counted),
        coverage_table(&counted),
        missing_text(&grids(&expected, &found)),
    ];
    documents.extend(
        heatmaps(&found)
            .iter()
            .map(|heatmap| svg(heatmap, ColorScheme::Auto)),
    );
    documents
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Documents do not depend on the order in which an API lists releases and assets.
    #[test]
    fn a_shuffled_listing_gives_equal_bytes(order in Just((0..40usize).collect::<Vec<_>>()).prop_shuffle(), turn in 0..3usize) {
        let listing = listing();
        let mut shuffled = listing.clone();
        shuffled.releases.rotate_left(turn);
        for release in &mut shuffled.releases {
            let assets = release.assets.clone();
            release.assets = order.iter().filter_map(|at| assets.get(*at).cloned()).collect();
        }
        prop_assert_eq!(documents(&shuffled), documents(&listing));
    }

    #[test]
    fn no_name_breaks_a_table(name in "\\PC{0,40}", tag in "\\PC{0,20}") {
        let asset = ListedAsset { name: format!("{name}.whl"), ..ListedAsset::default() };
        let release = ListedRelease { tag_name: tag, assets: vec![asset], ..ListedRelease::default() };
        let listing = ReleaseListing { repository: None, releases: vec![release] };
        let page = packages(&WheelListing::published(&listing, ListingContext::default()));
        for line in page.lines().filter(|line| line.starts_with('|')) {
            let bars = line.match_indices('|').filter(|(at, _)| !line[..*at].ends_with('\\')).count();
            prop_assert_eq!(bars, 4, "{}", line);
        }
    }
}

#[test]
fn ten_comes_after_nine_everywhere() {
    let texts = documents(&listing());
    let missing = &texts[5];
    assert!(
        missing.find("torch 2.9").unwrap() < missing.find("torch 2.10").unwrap(),
        "{missing}"
    );
    let packages = &texts[0];
    let (nine, ten) = (
        packages.find("| 3.9 | 2.5 |").unwrap(),
        packages.find("| 3.10 | 2.5 | 6.2 |").unwrap(),
    );
    assert!(
        nine < ten || packages[nine..].contains("| 3.10 | 2.5 | 6.2 |"),
        "{packages}"
    );
}
