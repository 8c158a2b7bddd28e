//! A goal against releases in memory.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    Allowed, Description, Goal, MakeLatest, Memory, Next, Refusal, Step, next, spread, standing,
};
use crate::names::Digest;
use crate::publish::{AssetState, ListedAsset, ListedRelease, Wanted};

fn wanted(name: &str, byte: u8) -> Wanted {
    Wanted {
        name: name.to_owned(),
        digest: Digest::new([byte; 32]),
        size_bytes: 7,
        generated: name == "SHA256SUMS",
    }
}

fn goal(names: &[&str]) -> Goal {
    Goal {
        tag: "v1".to_owned(),
        title: None,
        body: Some("notes".to_owned()),
        target: None,
        prerelease: false,
        make_latest: MakeLatest::Legacy,
        assets: names.iter().map(|name| wanted(name, 1)).collect(),
        stays_draft: false,
        nonce: "abc".to_owned(),
        most_assets: 1000,
    }
}

fn asset(id: u64, name: &str, byte: u8) -> ListedAsset {
    let digest = Some(Digest::new([byte; 32]));
    ListedAsset {
        id,
        name: name.to_owned(),
        size: 7,
        digest,
        ..ListedAsset::default()
    }
}

fn release(id: u64, draft: bool, assets: Vec<ListedAsset>) -> ListedRelease {
    let body = Some("notes".to_owned());
    ListedRelease {
        id,
        tag_name: "v1".to_owned(),
        draft,
        assets,
        body,
        ..ListedRelease::default()
    }
}

/// Releases that steps change as GitHub would.
struct Releases {
    releases: Vec<ListedRelease>,
    last: u64,
}

impl Releases {
    fn of(releases: Vec<ListedRelease>) -> Self {
        Self {
            releases,
            last: 1000,
        }
    }

    fn asset(&mut self, id: u64) -> &mut ListedAsset {
        self.releases
            .iter_mut()
            .flat_map(|release| &mut release.assets)
            .find(|asset| asset.id == id)
            .unwrap()
    }

    fn release(&mut self, id: u64) -> &mut ListedRelease {
        self.releases
            .iter_mut()
            .find(|release| release.id == id)
            .unwrap()
    }

    fn apply(&mut self, step: &Step, goal: &Goal) {
        self.last += 1;
        match step {
            Step::Create { tag } => self.releases.push(ListedRelease {
                id: self.last,
                tag_name: tag.clone(),
                draft: true,
                body: goal.draft(tag).body,
                name: goal.draft(tag).title,
                prerelease: goal.prerelease,
                target_commitish: goal.target.clone(),
                ..ListedRelease::default()
            }),
            Step::DeleteRelease { release } => self.releases.retain(|found| found.id != *release),
            Step::DeleteAsset { asset, .. } => {
                self.releases
                    .iter_mut()
                    .for_each(|release| release.assets.retain(|found| found.id != *asset));
            }
            Step::Upload {
                release,
                name,
                as_name,
            } => {
                let wanted = goal
                    .assets
                    .iter()
                    .find(|wanted| wanted.name == *name)
                    .unwrap();
                let made = ListedAsset {
                    digest: Some(wanted.digest),
                    ..asset(self.last, as_name, 0)
                };
                assert!(
                    self.release(*release)
                        .assets
                        .iter()
                        .all(|found| found.name != *as_name),
                    "taken: {as_name}"
                );
                self.release(*release).assets.push(made);
            }
            Step::Rename { asset, to, .. } => self.asset(*asset).name.clone_from(to),
            Step::Hash { asset, .. } => self.asset(*asset).digest = Some(Digest::new([1; 32])),
            Step::Describe { release, lacks, .. } => describe(self.release(*release), lacks),
            Step::Publish { release, lacks, .. } => {
                let release = self.release(*release);
                describe(release, lacks);
                for wanted in &goal.assets {
                    let holds = release.assets.iter().any(|asset| asset.name == wanted.name);
                    assert!(
                        holds || goal.assets.len() > 900,
                        "published without {}",
                        wanted.name
                    );
                }
                release.draft = false;
            }
        }
    }

    /// Goes on to the end; the words of all steps.
    fn reach(&mut self, goal: &Goal, allowed: Allowed) -> Result<Vec<String>, Vec<Refusal>> {
        let mut words = Vec::new();
        for _ in 0..20 {
            match next(goal, allowed, &self.releases) {
                Next::Done(_) => return Ok(words),
                Next::Refused(refused) => return Err(refused),
                Next::Steps(steps) => {
                    for step in &steps {
                        self.apply(step, goal);
                        words.push(word(step));
                    }
                }
            }
        }
        panic!("it does not end: {words:?}");
    }

    fn names(&self) -> Vec<&str> {
        self.releases
            .iter()
            .flat_map(|release| &release.assets)
            .map(|asset| asset.name.as_str())
            .collect()
    }
}

fn describe(release: &mut ListedRelease, lacks: &Description) {
    release.body = lacks.body.clone().or(release.body.take());
    release.name = lacks.title.clone().or(release.name.take());
    release.prerelease = lacks.prerelease.unwrap_or(release.prerelease);
    release.target_commitish = lacks.target.clone().or(release.target_commitish.take());
}

fn word(step: &Step) -> String {
    match step {
        Step::Create { tag } => format!("create {tag}"),
        Step::DeleteRelease { release } => format!("delete release {release}"),
        Step::DeleteAsset { name, .. } => format!("delete {name}"),
        Step::Upload { as_name, .. } => format!("upload {as_name}"),
        Step::Rename { from, to, .. } => format!("rename {from} {to}"),
        Step::Hash { name, .. } => format!("hash {name}"),
        Step::Describe { tag, .. } => format!("describe {tag}"),
        Step::Publish {
            tag, make_latest, ..
        } => format!("publish {tag} {}", make_latest.as_str()),
    }
}

const NOTHING: Allowed = Allowed {
    replace: false,
    published: false,
    clean_duplicates: false,
    fetch_to_verify: false,
};

#[test]
fn a_release_is_made_as_a_draft_and_published_last_and_a_second_run_does_nothing() {
    let (goal, mut releases) = (
        goal(&["a.whl", "b.whl", "SHA256SUMS"]),
        Releases::of(Vec::new()),
    );
    let steps = releases.reach(&goal, NOTHING).unwrap();
    assert_eq!(
        steps.join("; "),
        "create v1; upload a.whl; upload b.whl; upload SHA256SUMS; publish v1 legacy"
    );
    assert_eq!(releases.reach(&goal, NOTHING), Ok(vec![]));
}

#[test]
fn what_is_left_of_an_upload_is_deleted_and_sent_again() {
    let mut left = asset(5, "a.whl", 1);
    left.state = AssetState::Starter;
    let mut releases = Releases::of(vec![release(1, true, vec![left, asset(6, "b.whl", 1)])]);
    let steps = releases.reach(&goal(&["a.whl", "b.whl"]), NOTHING).unwrap();
    assert_eq!(
        steps.join("; "),
        "delete a.whl; upload a.whl; publish v1 legacy"
    );
}

#[test]
fn other_bytes_are_refused_and_replaced_only_where_asked_for() {
    let goal = goal(&["a.whl"]);
    let present = || Releases::of(vec![release(1, true, vec![asset(5, "a.whl", 2)])]);
    assert!(matches!(
        &present().reach(&goal, NOTHING).unwrap_err()[..],
        [Refusal::Differs { .. }]
    ));
    let steps = present()
        .reach(
            &goal,
            Allowed {
                replace: true,
                ..NOTHING
            },
        )
        .unwrap();
    assert_eq!(
        steps.join("; "),
        "delete a.whl; upload a.whl; publish v1 legacy"
    );
}

/// A draft that a run made, whichever that was, is put right without a flag; one of others, and
/// what is public, is not.
#[test]
fn other_bytes_in_a_draft_of_a_run_are_replaced() {
    let goal = goal(&["a.whl", "b.whl"]);
    let body = Some("notes\n<!-- rock-matrix draft of another run -->\n".to_owned());
    let assets = vec![asset(5, "a.whl", 2), asset(6, "b.whl", 1)];
    let own = ListedRelease {
        body: body.clone(),
        ..release(1, true, assets.clone())
    };
    let mut releases = Releases::of(vec![own]);
    assert_eq!(
        releases.reach(&goal, NOTHING).unwrap().join("; "),
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
    let allowed = Allowed {
        published: true,
        ..NOTHING
    };
    let refused = Releases::of(vec![public])
        .reach(&goal, allowed)
        .unwrap_err();
    assert!(matches!(&refused[..], [Refusal::Differs { .. }]));
}

/// A draft that is to stay one is described and keeps its mark; the next run has nothing to do, and
/// another publishes it.
#[test]
fn a_draft_that_stays_one_keeps_its_mark() {
    let publishing = goal(&["a.whl"]);
    let staying = Goal {
        stays_draft: true,
        ..publishing.clone()
    };
    let mut releases = Releases::of(Vec::new());
    assert_eq!(
        releases.reach(&staying, NOTHING).unwrap().join("; "),
        "create v1; upload a.whl"
    );
    assert_eq!(
        releases.reach(
            &Goal {
                nonce: "other".to_owned(),
                ..staying.clone()
            },
            NOTHING
        ),
        Ok(vec![])
    );
    let noted = Goal {
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

/// An answer and a listing that tell of one asset otherwise are found, whatever they tell
/// otherwise.
#[test]
fn a_listing_that_contradicts_an_answer_is_found() {
    let mut memory = Memory::default();
    memory.has_asset(1, &asset(5, "a.whl", 1));
    let contradiction = |listed: ListedAsset| memory.contradiction(&release(1, true, vec![listed]));
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
    let told = |listed: ListedAsset| contradiction(listed).unwrap().listed;
    let digest = "01".repeat(32);
    assert_eq!(
        told(ListedAsset {
            size: 1,
            ..asset(5, "a.whl", 1)
        }),
        format!("`a.whl`, uploaded, 1 byte, sha256:{digest}")
    );
    assert_eq!(
        told(asset(5, "b.whl", 1)),
        format!("`b.whl`, uploaded, 7 bytes, sha256:{digest}")
    );
    let starter = ListedAsset {
        state: AssetState::Starter,
        digest: None,
        ..asset(5, "a.whl", 1)
    };
    assert_eq!(
        told(starter),
        "`a.whl`, not uploaded to its end, 7 bytes, without a digest"
    );
    assert!(contradiction(asset(5, "a.whl", 2)).is_some());
}

/// A digest that is listed later than the answer came is believed.
#[test]
fn a_digest_that_comes_late_is_believed() {
    let mut memory = Memory::default();
    memory.has_asset(
        1,
        &ListedAsset {
            digest: None,
            ..asset(5, "a.whl", 1)
        },
    );
    let seen = memory.over(&[release(1, true, vec![asset(5, "a.whl", 2)])]);
    assert_eq!(seen[0].assets[0].digest, Some(Digest::new([2; 32])));
}

#[test]
fn on_a_published_release_the_new_bytes_are_there_before_the_old_ones_go() {
    let goal = goal(&["a.whl"]);
    let allowed = Allowed {
        replace: true,
        published: true,
        ..NOTHING
    };
    let mut releases = Releases::of(vec![release(1, false, vec![asset(5, "a.whl", 2)])]);
    let steps = releases.reach(&goal, allowed).unwrap().join("; ");
    let waiting = "a.whl.tmp-010101010101";
    assert_eq!(
        steps,
        format!("upload {waiting}; delete a.whl; rename {waiting} a.whl")
    );
}

#[test]
fn a_replacement_that_was_cut_off_anywhere_is_finished() {
    let allowed = Allowed {
        replace: true,
        published: true,
        ..NOTHING
    };
    let goal = goal(&["a.whl"]);
    let waiting = "a.whl.tmp-010101010101";
    let states: [Vec<ListedAsset>; 4] = [
        vec![asset(5, "a.whl", 2), asset(6, waiting, 1)],
        vec![asset(6, waiting, 1)],
        vec![asset(5, "a.whl", 1), asset(6, waiting, 1)],
        vec![asset(5, "a.whl", 2), asset(6, "a.whl.tmp-020202020202", 2)],
    ];
    for assets in states {
        let mut releases = Releases::of(vec![release(1, false, assets)]);
        releases.reach(&goal, allowed).unwrap();
        assert_eq!(releases.names(), ["a.whl"]);
    }
}

#[test]
fn a_published_release_is_written_to_only_where_allowed_and_an_immutable_one_never() {
    let goal = goal(&["a.whl", "b.whl"]);
    let published = || release(1, false, vec![asset(5, "a.whl", 1)]);
    let refused = Releases::of(vec![published()])
        .reach(&goal, NOTHING)
        .unwrap_err();
    assert!(matches!(
        &refused[..],
        [Refusal::Published { lacking: 1, .. }]
    ));
    let allowed = Allowed {
        published: true,
        ..NOTHING
    };
    assert_eq!(
        Releases::of(vec![published()])
            .reach(&goal, allowed)
            .unwrap()
            .join("; "),
        "upload b.whl"
    );
    let immutable = || ListedRelease {
        immutable: true,
        ..published()
    };
    let refused = Releases::of(vec![immutable()])
        .reach(&goal, allowed)
        .unwrap_err();
    assert!(matches!(&refused[..], [Refusal::Immutable { .. }]));
    let finished = ListedRelease {
        assets: vec![asset(5, "a.whl", 1), asset(6, "b.whl", 1)],
        ..immutable()
    };
    assert_eq!(
        Releases::of(vec![finished]).reach(&goal, NOTHING),
        Ok(vec![]),
        "nothing is written"
    );
}

#[test]
fn what_github_stored_under_another_name_goes_before_the_draft_is_published() {
    let goal = goal(&["a+b.whl"]);
    let assets = vec![
        asset(5, "a.b.whl", 1),
        asset(6, "a.b.whl.1", 1),
        asset(7, "copy.whl", 1),
        asset(8, "a.b.whl.2", 2),
    ];
    let mut releases = Releases::of(vec![release(1, true, assets)]);
    let steps = releases.reach(&goal, NOTHING).unwrap();
    assert_eq!(
        steps.join("; "),
        "upload a+b.whl; delete a.b.whl; delete a.b.whl.1; publish v1 legacy"
    );
    assert_eq!(
        releases.names(),
        ["copy.whl", "a.b.whl.2", "a+b.whl"],
        "what others brought stays"
    );
}

#[test]
fn several_drafts_of_a_tag_are_told_and_only_empty_ones_may_go() {
    let goal = goal(&["a.whl"]);
    let clean = Allowed {
        clean_duplicates: true,
        ..NOTHING
    };
    let both_full = || {
        vec![
            release(3, true, vec![asset(5, "a.whl", 1)]),
            release(2, true, vec![asset(6, "b", 1)]),
        ]
    };
    for allowed in [NOTHING, clean] {
        let refused = Releases::of(both_full()).reach(&goal, allowed).unwrap_err();
        assert!(matches!(
            &refused[..],
            [Refusal::Duplicates {
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
    assert!(Releases::of(one_empty()).reach(&goal, NOTHING).is_err());
    let steps = Releases::of(one_empty()).reach(&goal, clean).unwrap();
    assert_eq!(steps.join("; "), "delete release 2; publish v1 legacy");
    let ours = ListedRelease {
        body: goal.draft("v1").body,
        ..release(9, true, vec![])
    };
    let steps = Releases::of(vec![release(3, true, vec![asset(5, "a.whl", 1)]), ours])
        .reach(&goal, NOTHING)
        .unwrap();
    assert_eq!(
        steps.join("; "),
        "delete release 9; publish v1 legacy",
        "this run made it"
    );
}

#[test]
fn digests_that_github_does_not_tell_are_the_sizes_or_what_was_fetched() {
    let unknown = || ListedAsset {
        digest: None,
        ..asset(5, "a.whl", 1)
    };
    let goal = goal(&["a.whl"]);
    let steps = Releases::of(vec![release(1, true, vec![unknown()])])
        .reach(&goal, NOTHING)
        .unwrap();
    assert_eq!(steps.join("; "), "publish v1 legacy");
    let full = Allowed {
        fetch_to_verify: true,
        ..NOTHING
    };
    let steps = Releases::of(vec![release(1, true, vec![unknown()])])
        .reach(&goal, full)
        .unwrap();
    assert_eq!(steps.join("; "), "hash a.whl; publish v1 legacy");
}

#[test]
fn more_files_than_a_release_holds_go_to_a_second_which_is_published_first() {
    let names: Vec<String> = (0..1001).map(|at| format!("{at:04}.whl")).collect();
    let mut goal = goal(&names.iter().map(String::as_str).collect::<Vec<_>>());
    goal.assets.push(wanted("SHA256SUMS", 1));
    // A release of others that happens to have the next tag is passed over.
    let foreign = ListedRelease {
        tag_name: "v1-2".to_owned(),
        ..release(1, false, vec![])
    };
    let mut releases = Releases::of(vec![foreign]);
    let steps = releases.reach(&goal, NOTHING).unwrap();
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
    assert_eq!(releases.reach(&goal, NOTHING), Ok(vec![]));
}

#[test]
fn the_text_and_title_of_what_is_published_change_only_where_allowed() {
    let goal = Goal {
        title: Some("One".to_owned()),
        ..goal(&["a.whl"])
    };
    let locked = || {
        let whole = release(1, false, vec![asset(5, "a.whl", 1)]);
        let old = ListedRelease {
            body: Some("old".to_owned()),
            immutable: true,
            ..whole
        };
        Releases::of(vec![old])
    };
    let refused = locked().reach(&goal, NOTHING).unwrap_err();
    assert!(
        matches!(&refused[..], [Refusal::Published { lacking: 0, .. }]),
        "{refused:?}"
    );
    let mut releases = locked();
    assert_eq!(
        releases.reach(
            &goal,
            Allowed {
                published: true,
                ..NOTHING
            }
        ),
        Ok(vec!["describe v1".to_owned()])
    );
    assert_eq!(releases.releases[0].name.as_deref(), Some("One"));
    let silent = Goal {
        body: None,
        title: None,
        ..goal
    };
    assert_eq!(
        locked().reach(&silent, NOTHING),
        Ok(vec![]),
        "what is not given stays"
    );
}

#[test]
fn a_draft_of_an_earlier_run_gets_the_settings_of_this_one_and_keeps_its_text() {
    let first = Goal {
        nonce: "first".to_owned(),
        ..goal(&["a.whl"])
    };
    let mut releases = Releases::of(vec![]);
    releases.apply(
        &Step::Create {
            tag: "v1".to_owned(),
        },
        &first,
    );
    let settings = (Some("One".to_owned()), Some("abc123".to_owned()));
    let goal = Goal {
        title: settings.0,
        target: settings.1,
        prerelease: true,
        body: None,
        ..first
    };
    releases.reach(&goal, NOTHING).unwrap();
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

#[test]
fn what_waits_for_a_file_that_is_not_wanted_is_finished_or_goes() {
    let allowed = Allowed {
        replace: true,
        published: true,
        ..NOTHING
    };
    let goal = goal(&["a.whl"]);
    let waiting = || asset(6, "b.whl.tmp-020202020202", 2);
    let of = |assets| Releases::of(vec![release(1, false, assets)]);
    let mut cut_after_the_delete = of(vec![asset(5, "a.whl", 1), waiting()]);
    assert_eq!(
        standing(&goal, &cut_after_the_delete.releases)
            .into_keys()
            .collect::<Vec<_>>(),
        ["a.whl", "b.whl"]
    );
    assert!(
        cut_after_the_delete.reach(&goal, NOTHING).is_err(),
        "it is public"
    );
    cut_after_the_delete.reach(&goal, allowed).unwrap();
    assert_eq!(
        cut_after_the_delete.names(),
        ["a.whl", "b.whl"],
        "nothing that was published is lost"
    );
    let mut cut_before_it = of(vec![asset(5, "a.whl", 1), waiting(), asset(7, "b.whl", 3)]);
    cut_before_it.reach(&goal, allowed).unwrap();
    assert_eq!(cut_before_it.names(), ["a.whl", "b.whl"]);
    let mut of_others = of(vec![
        asset(5, "a.whl", 1),
        asset(6, "b.whl.tmp-020202020202", 9),
    ]);
    assert_eq!(
        of_others.reach(&goal, NOTHING),
        Ok(vec![]),
        "its name is not made from its bytes"
    );
}

#[test]
fn a_draft_that_a_run_left_goes_where_it_holds_nothing_else() {
    let goal = goal(&["a.whl"]);
    let marked = |id, assets| ListedRelease {
        body: goal.draft("v1").body,
        ..release(id, true, assets)
    };
    let public = || release(3, false, vec![asset(5, "a.whl", 1)]);
    let mut releases = Releases::of(vec![marked(2, vec![asset(6, "a.whl", 1)]), public()]);
    assert_eq!(
        releases.reach(&goal, NOTHING),
        Ok(vec!["delete release 2".to_owned()])
    );
    for other in [asset(6, "a.whl", 2), asset(6, "c.whl", 1)] {
        let refused = Releases::of(vec![marked(2, vec![other]), public()])
            .reach(&goal, NOTHING)
            .unwrap_err();
        assert!(
            matches!(&refused[..], [Refusal::Duplicates { .. }]),
            "{refused:?}"
        );
    }
}

#[test]
fn a_file_that_lies_in_two_releases_takes_room_in_both() {
    let names: Vec<String> = (0..30).map(|at| format!("{at:02}.whl")).collect();
    let goal = Goal {
        most_assets: 20,
        ..goal(&names.iter().map(String::as_str).collect::<Vec<_>>())
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
    let shares = spread(&goal, &[&first, &second], &BTreeSet::new());
    let sizes: Vec<usize> = shares.iter().map(|share| share.assets.len()).collect();
    assert_eq!(
        sizes,
        [10, 10, 10],
        "the second is full with files of the first"
    );
}

/// Two runs that see each other's files late agree on the draft that stays.
#[test]
fn of_the_drafts_of_runs_the_oldest_stays_whatever_is_in_them() {
    let goal = goal(&["a.whl"]);
    let marked = |id, assets| ListedRelease {
        body: goal.draft("v1").body,
        ..release(id, true, assets)
    };
    let full = || vec![asset(6, "a.whl", 1)];
    for (first, second) in [(vec![], full()), (full(), vec![]), (vec![], vec![])] {
        let seen = [marked(2, first), marked(3, second)];
        let Next::Steps(steps) = next(&goal, NOTHING, &seen) else {
            panic!("nothing to do")
        };
        assert_eq!(steps[0], Step::DeleteRelease { release: 3 });
    }
}

#[test]
fn a_full_release_can_be_changed_and_one_that_others_filled_is_told() {
    let names: Vec<String> = (0..990).map(|at| format!("{at:04}.whl")).collect();
    let names: Vec<&str> = names
        .iter()
        .map(String::as_str)
        .chain(["SHA256SUMS"])
        .collect();
    let mut releases = Releases::of(vec![]);
    releases.reach(&goal(&names), NOTHING).unwrap();
    let again = Goal {
        assets: names.iter().map(|name| wanted(name, 2)).collect(),
        ..goal(&[])
    };
    let allowed = Allowed {
        replace: true,
        published: true,
        ..NOTHING
    };
    let mut rounds = 0;
    while let Next::Steps(steps) = next(&again, allowed, &releases.releases) {
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
    let refused = Releases::of(vec![release(1, true, filled)])
        .reach(&goal(&["a.whl", "SHA256SUMS"]), NOTHING);
    assert!(matches!(
        &refused.unwrap_err()[..],
        [Refusal::Full { assets: 1000, .. }]
    ));
}

#[test]
fn the_sums_of_what_is_published_change_when_all_wheels_are_there() {
    let goal = Goal {
        assets: vec![
            wanted("SHA256SUMS", 2),
            wanted("a.whl", 2),
            wanted("b.whl", 1),
        ],
        ..goal(&[])
    };
    let present = vec![asset(5, "SHA256SUMS", 1), asset(6, "a.whl", 1)];
    let mut releases = Releases::of(vec![release(1, false, present)]);
    let steps = releases
        .reach(
            &goal,
            Allowed {
                replace: true,
                published: true,
                ..NOTHING
            },
        )
        .unwrap()
        .join("; ");
    assert!(
        steps.find("upload SHA256SUMS") > steps.find("rename a.whl"),
        "{steps}"
    );
    assert!(
        steps.find("upload SHA256SUMS") > steps.find("upload b.whl"),
        "{steps}"
    );
}

#[test]
fn a_listing_that_lags_behind_is_known_better() {
    let mut memory = Memory::default();
    memory.has_release(&release(1, true, vec![]));
    memory.has_asset(1, &asset(5, "a.whl", 1));
    memory.asset_is_gone(6);
    let listed = release(1, true, vec![asset(6, "old.whl", 1)]);
    assert_eq!(memory.missing_in(&listed), [5]);
    let seen = memory.over(&[listed]);
    assert_eq!(
        seen[0]
            .assets
            .iter()
            .map(|asset| asset.id)
            .collect::<Vec<_>>(),
        [5]
    );
    assert_eq!(
        memory.over(&[])[0].assets.len(),
        1,
        "a release that is not listed yet"
    );
}

#[test]
fn from_any_state_and_after_any_kill_the_goal_is_reached() {
    // A small generator, so that a state that fails can be had again from its number.
    let mut seed = 7_u64;
    let mut draw = |below: u64| {
        seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % below
    };
    let allowed = Allowed {
        replace: true,
        published: true,
        clean_duplicates: true,
        fetch_to_verify: true,
    };
    let goal = goal(&["a.whl", "b.whl", "c.whl", "SHA256SUMS"]);
    for round in 0..5000 {
        let mut assets = BTreeMap::new();
        for name in [
            "a.whl",
            "b.whl",
            "c.whl",
            "a.whl.tmp-010101010101",
            "b.whl.tmp-020202020202",
            "foreign",
        ] {
            if draw(2) == 0 {
                let id = 10 + assets.len() as u64;
                let mut present = asset(id, name, u8::try_from(1 + draw(2)).unwrap());
                present.state = if draw(3) == 0 {
                    AssetState::Starter
                } else {
                    AssetState::Uploaded
                };
                present.digest = present.digest.filter(|_| draw(4) > 0);
                assets.insert(name, present);
            }
        }
        let is_foreign = assets.contains_key("foreign");
        let begun = release(1, draw(2) == 0, assets.into_values().collect());
        let mut releases = Releases::of(if draw(5) == 0 {
            Vec::new()
        } else {
            vec![begun]
        });
        if draw(4) == 0 {
            releases.releases.push(release(2, true, vec![]));
        }
        // A few steps, and it is killed.
        for _ in 0..draw(4) {
            let Next::Steps(steps) = next(&goal, allowed, &releases.releases) else {
                break;
            };
            let until = usize::try_from(draw(steps.len() as u64 + 1)).unwrap();
            steps[..until]
                .iter()
                .for_each(|step| releases.apply(step, &goal));
        }
        let had_release = !releases.releases.is_empty();
        releases
            .reach(&goal, allowed)
            .unwrap_or_else(|refused| panic!("round {round}: {refused:?}"));
        let [only] = &releases.releases[..] else {
            panic!("round {round}: several releases")
        };
        let mut names: Vec<&str> = only
            .assets
            .iter()
            .map(|asset| asset.name.as_str())
            .collect();
        names.sort_unstable();
        names.retain(|name| *name != "foreign");
        assert_eq!(
            names,
            ["SHA256SUMS", "a.whl", "b.whl", "c.whl"],
            "round {round}"
        );
        assert!(
            !only.draft
                && only
                    .assets
                    .iter()
                    .all(|a| a.name == "foreign" || a.digest == Some(Digest::new([1; 32])))
        );
        assert!(
            !is_foreign
                || !had_release
                || only.id != 1
                || only.assets.iter().any(|a| a.name == "foreign")
        );
    }
}
