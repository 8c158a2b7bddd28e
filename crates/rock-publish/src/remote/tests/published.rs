//! Changes of published and immutable releases.

use super::*;

#[test]
fn a_published_release_is_written_to_only_where_allowed_and_an_immutable_one_never() {
    let desired = desired(&["a.whl", "b.whl"]);
    let published = || release(1, false, vec![asset(5, "a.whl", 1)]);
    let refused = Releases::of(vec![published()])
        .reach(&desired, NOTHING)
        .unwrap_err();
    assert!(matches!(
        &refused[..],
        [ReleaseRefusal::Published {
            changed_files: 1,
            ..
        }]
    ));
    assert_eq!(
        Releases::of(vec![published()]).steps(&desired, CHANGE_PUBLISHED),
        "upload b.whl"
    );
    let immutable = || ListedRelease {
        immutable: true,
        ..published()
    };
    let refused = Releases::of(vec![immutable()])
        .reach(&desired, CHANGE_PUBLISHED)
        .unwrap_err();
    assert!(matches!(&refused[..], [ReleaseRefusal::Immutable { .. }]));
    let finished = ListedRelease {
        assets: vec![asset(5, "a.whl", 1), asset(6, "b.whl", 1)],
        ..immutable()
    };
    assert_eq!(
        Releases::of(vec![finished]).reach(&desired, NOTHING),
        Ok(vec![]),
        "nothing is written"
    );
}

/// The attempts of a step are counted by its key, so details that change must not reset them.
#[test]
fn a_step_keeps_its_key_when_its_details_change() {
    let describe = |title: &str| PublishStep::Describe {
        release: 1,
        tag: "v1".to_owned(),
        changes: ReleaseDescription {
            title: Some(title.to_owned()),
            ..ReleaseDescription::default()
        },
    };
    assert_eq!(describe("One").key(), describe("Two").key());
    let upload = |as_name: &str| PublishStep::Upload {
        release: 1,
        name: "a.whl".to_owned(),
        as_name: as_name.to_owned(),
    };
    assert_ne!(
        upload("a.whl").key(),
        upload("a.whl.tmp-010101010101").key()
    );
}

#[test]
fn the_text_and_title_of_what_is_published_change_only_where_allowed() {
    let desired = DesiredRelease {
        title: Some("One".to_owned()),
        ..desired(&["a.whl"])
    };
    let immutable = || {
        let whole = release(1, false, vec![asset(5, "a.whl", 1)]);
        let old = ListedRelease {
            body: Some("old".to_owned()),
            immutable: true,
            ..whole
        };
        Releases::of(vec![old])
    };
    let refused = immutable().reach(&desired, NOTHING).unwrap_err();
    assert!(
        matches!(
            &refused[..],
            [ReleaseRefusal::Published {
                changed_files: 0,
                ..
            }]
        ),
        "{refused:?}"
    );
    let mut releases = immutable();
    assert_eq!(
        releases.reach(&desired, CHANGE_PUBLISHED),
        Ok(vec!["describe v1".to_owned()])
    );
    assert_eq!(releases.releases[0].name.as_deref(), Some("One"));
    let silent = DesiredRelease {
        body: None,
        title: None,
        ..desired
    };
    assert_eq!(
        immutable().reach(&silent, NOTHING),
        Ok(vec![]),
        "what is not given stays"
    );
}
