//! More assets than one release can have.

use super::*;

#[test]
fn more_files_than_a_release_holds_go_to_a_second_which_is_published_first() {
    let names = numbered(1001);
    let mut desired = desired(&as_strs(&names));
    desired.assets.push(desired_file("SHA256SUMS", 1));
    // An unrelated release that has the next tag is skipped.
    let foreign = ListedRelease {
        tag_name: "v1-2".to_owned(),
        ..release(1, false, vec![])
    };
    let mut releases = Releases::of(vec![foreign]);
    let steps = releases.reach(&desired, NOTHING).unwrap();
    let count = |tag: &str| {
        releases
            .releases
            .iter()
            .find(|r| r.tag_name == tag)
            .map(|r| r.assets.len())
    };
    assert_eq!(
        (count("v1"), count("v1-2"), count("v1-3")),
        (Some(991), Some(0), Some(11))
    );
    assert_eq!(steps[..2], ["create v1", "create v1-3"]);
    let end = &steps[steps.len() - 2..];
    assert_eq!(end, ["publish v1-3 false", "publish v1 legacy"]);
    assert_eq!(releases.reach(&desired, NOTHING), Ok(vec![]));
}

#[test]
fn a_file_that_lies_in_two_releases_takes_room_in_both() {
    let names = numbered(30);
    let desired = DesiredRelease {
        most_assets: 20,
        ..desired(&as_strs(&names))
    };
    let ten = || {
        (100..)
            .zip(&names[..10])
            .map(|(id, name)| asset(id, name, 1))
            .collect()
    };
    let first = release(1, true, ten());
    let second = ListedRelease {
        tag_name: "v1-2".to_owned(),
        ..release(2, true, ten())
    };
    let parts = partition_assets(&desired, &[&first, &second], &BTreeSet::new());
    let sizes: Vec<usize> = parts.iter().map(|part| part.assets.len()).collect();
    assert_eq!(
        sizes,
        [10, 10, 10],
        "the second is full with files of the first"
    );
}

#[test]
fn a_full_release_can_be_changed_unless_others_filled_it() {
    let names = numbered(990);
    let names = [as_strs(&names), vec!["SHA256SUMS"]].concat();
    let mut releases = Releases::of(vec![]);
    releases.reach(&desired(&names), NOTHING).unwrap();
    let again = DesiredRelease {
        assets: names.iter().map(|name| desired_file(name, 2)).collect(),
        ..desired(&[])
    };
    let mut rounds = 0;
    while let Reconciliation::Steps(steps) =
        reconcile(&again, REPLACE_PUBLISHED, &releases.releases)
    {
        for step in &steps {
            releases.apply(step, &again);
            assert!(releases.releases[0].assets.len() <= 1000);
        }
        rounds += 1;
    }
    assert!(rounds > 100, "as many at once as there is room");
    assert!(
        releases.releases[0]
            .assets
            .iter()
            .all(|asset| asset.digest == Some(Digest::new([2; 32])))
    );

    let filled = (0..1000)
        .map(|at| asset(at, &format!("of others {at}"), 1))
        .collect();
    let refused = Releases::draft(filled).reach(&desired(&["a.whl", "SHA256SUMS"]), NOTHING);
    assert!(matches!(
        &refused.unwrap_err()[..],
        [ReleaseRefusal::Full { assets: 1000, .. }]
    ));
}
