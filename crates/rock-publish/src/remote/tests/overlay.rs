//! Listings that lag behind or contradict responses.

use super::*;

/// Every difference between a response and the listing of an asset is found.
#[test]
fn a_listing_that_contradicts_an_answer_is_found() {
    let mut overlay = ObservedOverlay::default();
    overlay.record_asset(1, &asset(5, "a.whl", 1));
    let contradiction =
        |listed: ListedAsset| overlay.contradiction(&release(1, true, vec![listed]));
    for listed in [
        asset(5, "a.whl", 1),
        ListedAsset {
            digest: None,
            ..asset(5, "a.whl", 1)
        },
        asset(6, "a.whl", 2),
    ] {
        assert_eq!(contradiction(listed.clone()), None, "{listed:?}");
    }
    let listed_of = |listed: ListedAsset| contradiction(listed).unwrap().listed;
    let digest = "01".repeat(32);
    assert_eq!(
        listed_of(ListedAsset {
            size: 1,
            ..asset(5, "a.whl", 1)
        }),
        format!("`a.whl`, uploaded, 1 byte, sha256:{digest}")
    );
    assert_eq!(
        listed_of(asset(5, "b.whl", 1)),
        format!("`b.whl`, uploaded, 7 bytes, sha256:{digest}")
    );
    let starter = ListedAsset {
        state: AssetState::Starter,
        digest: None,
        ..asset(5, "a.whl", 1)
    };
    assert_eq!(
        listed_of(starter),
        "`a.whl`, incomplete, 7 bytes, without a digest"
    );
    assert!(contradiction(asset(5, "a.whl", 2)).is_some());
}

/// A digest that is listed after the response is accepted.
#[test]
fn a_digest_that_comes_late_is_believed() {
    let mut overlay = ObservedOverlay::default();
    overlay.record_asset(
        1,
        &ListedAsset {
            digest: None,
            ..asset(5, "a.whl", 1)
        },
    );
    let observed = overlay.over(&[release(1, true, vec![asset(5, "a.whl", 2)])]);
    assert_eq!(observed[0].assets[0].digest, Some(Digest::new([2; 32])));
}

#[test]
fn a_listing_that_lags_behind_is_known_better() {
    let mut overlay = ObservedOverlay::default();
    overlay.record_release(&release(1, true, vec![]));
    overlay.record_asset(1, &asset(5, "a.whl", 1));
    overlay.record_asset_deleted(6);
    let listed = release(1, true, vec![asset(6, "old.whl", 1)]);
    assert_eq!(overlay.missing_in(&listed), [5]);
    let observed = overlay.over(&[listed]);
    assert_eq!(
        observed[0]
            .assets
            .iter()
            .map(|asset| asset.id)
            .collect::<Vec<_>>(),
        [5]
    );
    assert_eq!(
        overlay.over(&[])[0].assets.len(),
        1,
        "a release that is not listed yet"
    );
}
