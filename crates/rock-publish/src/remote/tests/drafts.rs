//! Drafts from creation to publication.

use super::*;

#[test]
fn a_release_is_made_as_a_draft_and_published_last_and_a_second_run_does_nothing() {
    let (desired, mut releases) = (
        desired(&["a.whl", "b.whl", "SHA256SUMS"]),
        Releases::of(Vec::new()),
    );
    let steps = releases.steps(&desired, NOTHING);
    assert_eq!(
        steps,
        "create v1; upload a.whl; upload b.whl; upload SHA256SUMS; publish v1 legacy"
    );
    assert_eq!(releases.reach(&desired, NOTHING), Ok(vec![]));
}

#[test]
fn what_is_left_of_an_upload_is_deleted_and_sent_again() {
    let mut left = asset(5, "a.whl", 1);
    left.state = AssetState::Starter;
    let mut releases = Releases::draft(vec![left, asset(6, "b.whl", 1)]);
    let steps = releases.steps(&desired(&["a.whl", "b.whl"]), NOTHING);
    assert_eq!(steps, "delete a.whl; upload a.whl; publish v1 legacy");
}

/// A draft that any run created is corrected without a flag; drafts of others and published
/// releases are not.
#[test]
fn other_bytes_in_a_draft_of_a_run_are_replaced() {
    let desired = desired(&["a.whl", "b.whl"]);
    let body = Some("notes\n<!-- rock-matrix draft of another run -->\n".to_owned());
    let assets = vec![asset(5, "a.whl", 2), asset(6, "b.whl", 1)];
    let own = ListedRelease {
        body: body.clone(),
        ..release(1, true, assets.clone())
    };
    let mut releases = Releases::of(vec![own]);
    assert_eq!(
        releases.steps(&desired, NOTHING),
        "delete a.whl; upload a.whl; publish v1 legacy"
    );
    assert_eq!(
        releases.release(1).body.as_deref(),
        Some("notes"),
        "the mark goes when it is published"
    );
    let public = ListedRelease {
        body,
        ..release(1, false, assets)
    };
    let refused = Releases::of(vec![public])
        .reach(&desired, CHANGE_PUBLISHED)
        .unwrap_err();
    assert!(matches!(&refused[..], [ReleaseRefusal::Differs { .. }]));
}

/// A draft that stays a draft gets its metadata and keeps its mark. The next run has nothing to do,
/// and a run that publishes completes it.
#[test]
fn a_draft_that_stays_one_keeps_its_mark() {
    let publishing = desired(&["a.whl"]);
    let staying = DesiredRelease {
        stays_draft: true,
        ..publishing.clone()
    };
    let mut releases = Releases::of(Vec::new());
    assert_eq!(releases.steps(&staying, NOTHING), "create v1; upload a.whl");
    assert_eq!(
        releases.reach(
            &DesiredRelease {
                nonce: "other".to_owned(),
                ..staying.clone()
            },
            NOTHING
        ),
        Ok(vec![])
    );
    let noted = DesiredRelease {
        body: Some("other notes".to_owned()),
        ..staying
    };
    assert_eq!(
        releases.reach(&noted, NOTHING),
        Ok(vec!["describe v1".to_owned()])
    );
    let draft = &releases.releases[0];
    assert_eq!(
        (draft.draft, draft.body.as_deref()),
        (true, Some("other notes\n<!-- rock-matrix draft abc -->\n"))
    );
    assert_eq!(
        releases.reach(&publishing, NOTHING),
        Ok(vec!["publish v1 legacy".to_owned()])
    );
    assert_eq!(releases.releases[0].body.as_deref(), Some("notes"));
}

#[test]
fn what_github_stored_under_another_name_goes_before_the_draft_is_published() {
    let desired = desired(&["a+b.whl"]);
    let assets = vec![
        asset(5, "a.b.whl", 1),
        asset(6, "a.b.whl.1", 1),
        asset(7, "copy.whl", 1),
        asset(8, "a.b.whl.2", 2),
    ];
    let mut releases = Releases::draft(assets);
    let steps = releases.steps(&desired, NOTHING);
    assert_eq!(
        steps,
        "upload a+b.whl; delete a.b.whl; delete a.b.whl.1; publish v1 legacy"
    );
    assert_eq!(
        releases.names(),
        ["copy.whl", "a.b.whl.2", "a+b.whl"],
        "what others brought stays"
    );
}

#[test]
fn a_draft_of_an_earlier_run_gets_the_settings_of_this_one_and_keeps_its_text() {
    let first = DesiredRelease {
        nonce: "first".to_owned(),
        ..desired(&["a.whl"])
    };
    let mut releases = Releases::of(vec![]);
    releases.apply(
        &PublishStep::Create {
            tag: "v1".to_owned(),
        },
        &first,
    );
    let settings = (Some("One".to_owned()), Some("abc123".to_owned()));
    let desired = DesiredRelease {
        title: settings.0,
        target: settings.1,
        prerelease: true,
        body: None,
        ..first
    };
    releases.reach(&desired, NOTHING).unwrap();
    let made = &releases.releases[0];
    assert_eq!(
        (made.name.as_deref(), made.target_commitish.as_deref()),
        (Some("One"), Some("abc123"))
    );
    assert!(
        made.prerelease && made.body.as_deref() == Some("notes\n"),
        "{made:?}"
    );
}
