//! Several releases with one tag.

use super::*;

#[test]
fn of_several_drafts_of_a_tag_only_empty_ones_are_deleted() {
    let desired = desired(&["a.whl"]);
    let clean = PublishPolicy {
        clean_duplicates: true,
        ..NOTHING
    };
    let both_full = || {
        vec![
            release(3, true, vec![asset(5, "a.whl", 1)]),
            release(2, true, vec![asset(6, "b", 1)]),
        ]
    };
    for policy in [NOTHING, clean] {
        let refused = Releases::of(both_full())
            .reach(&desired, policy)
            .unwrap_err();
        assert!(matches!(
            &refused[..],
            [ReleaseRefusal::Duplicates {
                others_are_empty: false,
                ..
            }]
        ));
    }
    let one_empty = || {
        vec![
            release(2, true, vec![]),
            release(3, true, vec![asset(5, "a.whl", 1)]),
        ]
    };
    assert!(Releases::of(one_empty()).reach(&desired, NOTHING).is_err());
    let steps = Releases::of(one_empty()).steps(&desired, clean);
    assert_eq!(steps, "delete release 2; publish v1 legacy");
    let ours = marked_draft(&desired, 9, vec![]);
    let steps = Releases::of(vec![release(3, true, vec![asset(5, "a.whl", 1)]), ours])
        .steps(&desired, NOTHING);
    assert_eq!(
        steps, "delete release 9; publish v1 legacy",
        "this run made it"
    );
}

#[test]
fn a_draft_that_a_run_left_goes_where_it_holds_nothing_else() {
    let desired = desired(&["a.whl"]);
    let public = || release(3, false, vec![asset(5, "a.whl", 1)]);
    let mut releases = Releases::of(vec![
        marked_draft(&desired, 2, vec![asset(6, "a.whl", 1)]),
        public(),
    ]);
    assert_eq!(
        releases.reach(&desired, NOTHING),
        Ok(vec!["delete release 2".to_owned()])
    );
    for other in [asset(6, "a.whl", 2), asset(6, "c.whl", 1)] {
        let refused = Releases::of(vec![marked_draft(&desired, 2, vec![other]), public()])
            .reach(&desired, NOTHING)
            .unwrap_err();
        assert!(
            matches!(&refused[..], [ReleaseRefusal::Duplicates { .. }]),
            "{refused:?}"
        );
    }
}

/// Two runs that see each other's files late agree on the draft that stays.
#[test]
fn of_the_drafts_of_runs_the_oldest_stays_whatever_is_in_them() {
    let desired = desired(&["a.whl"]);
    let full = || vec![asset(6, "a.whl", 1)];
    for (first, second) in [(vec![], full()), (full(), vec![]), (vec![], vec![])] {
        let deletion = PublishStep::DeleteRelease {
            release: 3,
            tag: "v1".to_owned(),
            assets: second.len(),
        };
        let observed = [
            marked_draft(&desired, 2, first),
            marked_draft(&desired, 3, second),
        ];
        let Reconciliation::Steps(steps) = reconcile(&desired, NOTHING, &observed) else {
            panic!("nothing to do")
        };
        assert_eq!(steps[0], deletion);
    }
}
