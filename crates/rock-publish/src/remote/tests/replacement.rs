//! Replaced assets and their temporary names.

use super::*;

#[test]
fn other_bytes_are_refused_and_replaced_only_on_request() {
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

/// A generated file is replaced whoever uploaded it, but not in a release that may not be changed.
#[test]
fn generated_files_are_replaced_without_a_request() {
    let desired = desired(&["a.whl", "SHA256SUMS"]);
    let assets = || vec![asset(5, "SHA256SUMS", 2), asset(6, "a.whl", 1)];
    assert_eq!(
        Releases::draft(assets()).steps(&desired, NOTHING),
        "delete SHA256SUMS; upload SHA256SUMS; publish v1 legacy"
    );
    let refused = Releases::published(assets())
        .reach(&desired, NOTHING)
        .unwrap_err();
    assert!(
        matches!(
            &refused[..],
            [ReleaseRefusal::Published {
                changed_files: 1,
                ..
            }]
        ),
        "{refused:?}"
    );
    let replacement = "SHA256SUMS.tmp-010101010101";
    assert_eq!(
        Releases::published(assets()).steps(&desired, CHANGE_PUBLISHED),
        format!("upload {replacement}; delete SHA256SUMS; rename {replacement} SHA256SUMS")
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
fn assets_without_a_digest_are_compared_by_size_or_fetched() {
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

/// A timestamp has the form of a digest prefix.
#[test]
fn an_asset_of_others_whose_name_looks_temporary_is_left_alone() {
    let desired = desired(&["a.whl"]);
    let verify = PublishPolicy {
        fetch_to_verify: true,
        ..REPLACE_PUBLISHED
    };
    for name in ["a.whl.tmp-202401011230", "b.whl.tmp-202401011230"] {
        for digest in [None, Some(Digest::new([1; 32])), Some(Digest::new([2; 32]))] {
            for (draft, policy) in [
                (true, REPLACE_PUBLISHED),
                (false, REPLACE_PUBLISHED),
                (true, verify),
                (false, verify),
            ] {
                let of_others = ListedAsset {
                    digest,
                    ..asset(6, name, 2)
                };
                let assets = vec![asset(5, "a.whl", 1), of_others];
                let mut releases = Releases::of(vec![release(1, draft, assets)]);
                let steps = releases.reach(&desired, policy).unwrap();
                let is_other =
                    |step: &String| step.starts_with("hash ") || step == "publish v1 legacy";
                assert!(steps.iter().all(is_other), "{name}, {digest:?}: {steps:?}");
                assert_eq!(releases.names(), ["a.whl", name]);
            }
        }
    }
}

/// Without a digest, only the name of the desired content is certain to be from this program.
#[test]
fn a_leftover_without_a_digest_is_completed_if_its_name_or_its_content_is_known() {
    let without_digest = |name: &str| ListedAsset {
        digest: None,
        ..asset(6, name, 1)
    };
    let verify = PublishPolicy {
        fetch_to_verify: true,
        ..REPLACE_PUBLISHED
    };
    let waiting = "a.whl.tmp-010101010101";
    assert_eq!(
        Releases::published(vec![without_digest(waiting)])
            .steps(&desired(&["a.whl"]), REPLACE_PUBLISHED),
        format!("rename {waiting} a.whl")
    );
    // Downloads in these tests have the content 1.
    for (policy, expected) in [
        (REPLACE_PUBLISHED, String::new()),
        (verify, format!("hash {waiting}; rename {waiting} a.whl")),
    ] {
        let assets = vec![asset(5, "b.whl", 1), without_digest(waiting)];
        let steps = Releases::published(assets).steps(&desired(&["b.whl"]), policy);
        assert_eq!(steps, expected);
    }
}

#[test]
fn what_github_derived_from_a_temporary_name_goes_without_a_digest_too() {
    let derived = ListedAsset {
        digest: None,
        ..asset(6, "a.b.whl.tmp-010101010101", 1)
    };
    let mut releases = Releases::published(vec![asset(5, "a+b.whl", 1), derived]);
    let steps = releases.steps(&desired(&["a+b.whl"]), REPLACE_PUBLISHED);
    assert_eq!(steps, "delete a.b.whl.tmp-010101010101");
}

/// An incomplete upload has no digest. That of a file which is not desired may be in progress.
#[test]
fn an_incomplete_temporary_asset_goes_with_the_file_it_is_for() {
    let incomplete = |name: &str| ListedAsset {
        digest: None,
        state: AssetState::Starter,
        ..asset(6, name, 1)
    };
    for (name, expected) in [
        ("a.whl.tmp-020202020202", "delete a.whl.tmp-020202020202"),
        ("b.whl.tmp-020202020202", ""),
    ] {
        let mut releases = Releases::published(vec![asset(5, "a.whl", 1), incomplete(name)]);
        assert_eq!(
            releases.steps(&desired(&["a.whl"]), REPLACE_PUBLISHED),
            expected
        );
    }
}

/// A deletion and a renaming are one file.
#[test]
fn a_refusal_counts_each_file_once() {
    let replace = PublishPolicy {
        replace: true,
        ..NOTHING
    };
    let waiting = asset(6, "a.whl.tmp-010101010101", 1);
    let mut releases = Releases::published(vec![asset(5, "a.whl", 2), waiting]);
    let refused = releases
        .reach(&desired(&["a.whl", "b.whl"]), replace)
        .unwrap_err();
    assert_eq!(
        refused,
        [ReleaseRefusal::Published {
            tag: "v1".to_owned(),
            changed_files: 2
        }]
    );
}

#[test]
fn the_sums_of_what_is_published_change_when_all_wheels_are_there() {
    let desired = DesiredRelease {
        assets: vec![
            desired_file("SHA256SUMS", 2),
            desired_file("a.whl", 2),
            desired_file("b.whl", 1),
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
