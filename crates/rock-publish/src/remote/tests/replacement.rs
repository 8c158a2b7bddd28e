//! Replaced assets and their temporary names.

use super::*;

#[test]
fn other_bytes_are_refused_and_replaced_only_where_asked_for() {
    let desired = desired(&["a.whl"]);
    let present = || Releases::draft(vec![asset(5, "a.whl", 2)]);
    assert!(matches!(
        &present().reach(&desired, NOTHING).unwrap_err()[..],
        [ReleaseRefusal::Differs { .. }]
    ));
    let replace = PublishPolicy {
        replace: true,
        ..NOTHING
    };
    assert_eq!(
        present().steps(&desired, replace),
        "delete a.whl; upload a.whl; publish v1 legacy"
    );
}

#[test]
fn on_a_published_release_the_new_bytes_are_there_before_the_old_ones_go() {
    let desired = desired(&["a.whl"]);
    let mut releases = Releases::published(vec![asset(5, "a.whl", 2)]);
    let steps = releases.steps(&desired, REPLACE_PUBLISHED);
    let waiting = "a.whl.tmp-010101010101";
    assert_eq!(
        steps,
        format!("upload {waiting}; delete a.whl; rename {waiting} a.whl")
    );
}

#[test]
fn a_replacement_that_was_cut_off_anywhere_is_finished() {
    let desired = desired(&["a.whl"]);
    let waiting = "a.whl.tmp-010101010101";
    let states: [Vec<ListedAsset>; 4] = [
        vec![asset(5, "a.whl", 2), asset(6, waiting, 1)],
        vec![asset(6, waiting, 1)],
        vec![asset(5, "a.whl", 1), asset(6, waiting, 1)],
        vec![asset(5, "a.whl", 2), asset(6, "a.whl.tmp-020202020202", 2)],
    ];
    for assets in states {
        let mut releases = Releases::published(assets);
        releases.reach(&desired, REPLACE_PUBLISHED).unwrap();
        assert_eq!(releases.names(), ["a.whl"]);
    }
}

#[test]
fn digests_that_github_does_not_tell_are_the_sizes_or_what_was_fetched() {
    let unknown = || ListedAsset {
        digest: None,
        ..asset(5, "a.whl", 1)
    };
    let desired = desired(&["a.whl"]);
    let steps = Releases::draft(vec![unknown()]).steps(&desired, NOTHING);
    assert_eq!(steps, "publish v1 legacy");
    let full = PublishPolicy {
        fetch_to_verify: true,
        ..NOTHING
    };
    let steps = Releases::draft(vec![unknown()]).steps(&desired, full);
    assert_eq!(steps, "hash a.whl; publish v1 legacy");
}

#[test]
fn what_waits_for_a_file_that_is_not_wanted_is_finished_or_goes() {
    let desired = desired(&["a.whl"]);
    let waiting = || asset(6, "b.whl.tmp-020202020202", 2);
    let mut cut_after_the_delete = Releases::published(vec![asset(5, "a.whl", 1), waiting()]);
    assert_eq!(
        standing(&desired, &cut_after_the_delete.releases)
            .into_keys()
            .collect::<Vec<_>>(),
        ["a.whl", "b.whl"]
    );
    assert!(
        cut_after_the_delete.reach(&desired, NOTHING).is_err(),
        "it is public"
    );
    cut_after_the_delete
        .reach(&desired, REPLACE_PUBLISHED)
        .unwrap();
    assert_eq!(
        cut_after_the_delete.names(),
        ["a.whl", "b.whl"],
        "nothing that was published is lost"
    );
    let mut cut_before_it =
        Releases::published(vec![asset(5, "a.whl", 1), waiting(), asset(7, "b.whl", 3)]);
    cut_before_it.reach(&desired, REPLACE_PUBLISHED).unwrap();
    assert_eq!(cut_before_it.names(), ["a.whl", "b.whl"]);
    let mut of_others = Releases::published(vec![
        asset(5, "a.whl", 1),
        asset(6, "b.whl.tmp-020202020202", 9),
    ]);
    assert_eq!(
        of_others.reach(&desired, NOTHING),
        Ok(vec![]),
        "its name is not made from its bytes"
    );
}

#[test]
fn the_sums_of_what_is_published_change_when_all_wheels_are_there() {
    let desired = DesiredRelease {
        assets: vec![
            wanted("SHA256SUMS", 2),
            wanted("a.whl", 2),
            wanted("b.whl", 1),
        ],
        ..desired(&[])
    };
    let present = vec![asset(5, "SHA256SUMS", 1), asset(6, "a.whl", 1)];
    let mut releases = Releases::published(present);
    let steps = releases.steps(&desired, REPLACE_PUBLISHED);
    assert!(
        steps.find("upload SHA256SUMS") > steps.find("rename a.whl"),
        "{steps}"
    );
    assert!(
        steps.find("upload SHA256SUMS") > steps.find("upload b.whl"),
        "{steps}"
    );
}
