//! Two runs that publish the same release at once, and releases that go while a run works on them:
//! one of them ends it. Their calls alternate by chance, and lists lag behind.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};

use rock_matrix::github::{
    GithubError, HttpBody, PublishResult, PublishRun, ResponseFuture, Transport,
};
use rock_matrix::publish::remote::{PublishPolicy, ReleaseRefusal};

use crate::publish_waits::play;
use crate::support::play::{Files, Play, Stage, run_over};
use fake_github::model::rng::SplitMixRng;
use fake_github::model::{FakeGithub, GithubSettings, ListingMode};

/// Lets one of several runs go on at a time: whose turn it is, is drawn when each of them has a
/// call to make or has ended.
struct Turns {
    state: Mutex<State>,
    is_changed: Condvar,
}

struct State {
    chance: SplitMixRng,
    waiting: Vec<bool>,
    ended: Vec<bool>,
    turn: Option<usize>,
}

impl Turns {
    fn of(seed: u64, runs: usize) -> Arc<Self> {
        let (waiting, ended) = (vec![false; runs], vec![false; runs]);
        let state = State {
            chance: SplitMixRng::new(seed),
            waiting,
            ended,
            turn: None,
        };
        Arc::new(Self {
            state: Mutex::new(state),
            is_changed: Condvar::new(),
        })
    }

    fn draw(&self, state: &mut State) {
        let runs = 0..state.waiting.len();
        let open: Vec<usize> = runs.filter(|at| !state.ended[*at]).collect();
        if state.turn.is_none() && !open.is_empty() && open.iter().all(|at| state.waiting[*at]) {
            state.turn = Some(state.chance.choose(&open));
            self.is_changed.notify_all();
        }
    }

    /// Waits for the turn of a run, which lasts until its next call.
    fn wait(&self, run: usize) {
        let mut state = self.state.lock().unwrap();
        if state.turn == Some(run) {
            state.turn = None;
        }
        state.waiting[run] = true;
        self.draw(&mut state);
        let mut state = self
            .is_changed
            .wait_while(state, |state| state.turn != Some(run))
            .unwrap();
        state.waiting[run] = false;
    }

    fn end(&self, run: usize) {
        let mut state = self.state.lock().unwrap();
        if state.turn == Some(run) {
            state.turn = None;
        }
        state.ended[run] = true;
        self.draw(&mut state);
    }
}

/// The way of one run's calls.
struct InTurn {
    turns: Arc<Turns>,
    run: usize,
    stage: Stage,
}

impl Transport for InTurn {
    fn send(&self, request: http::Request<HttpBody>) -> ResponseFuture<'_> {
        self.turns.wait(self.run);
        self.stage.send(request)
    }
}

/// Two runs at once: how each ended.
fn both(play: &Arc<Play>, files: &Files, seed: u64) -> [Result<PublishRun, GithubError>; 2] {
    let turns = Turns::of(seed, 2);
    std::thread::scope(|scope| {
        let runs = [0, 1].map(|run| {
            let turns = Arc::clone(&turns);
            scope.spawn(move || {
                let stage = Stage(Arc::clone(play));
                let client = play.client_over(Arc::new(InTurn {
                    turns: Arc::clone(&turns),
                    run,
                    stage,
                }));
                turns.wait(run);
                let ended = run_over(
                    &client,
                    files,
                    &files.desired_release(run as u64),
                    PublishPolicy::default(),
                );
                turns.end(run);
                ended
            })
        });
        runs.map(|run| run.join().unwrap())
    })
}

#[test]
fn of_two_runs_at_once_one_publishes_and_neither_is_at_a_loss() {
    for seed in 0..200 {
        let lag_ms = [0, 600, 3000, 9000][usize::try_from(seed % 4).unwrap()];
        let listing = if seed % 8 < 4 {
            ListingMode::Late(lag_ms)
        } else {
            ListingMode::Flapping(lag_ms)
        };
        let listing = if lag_ms == 0 {
            ListingMode::Fresh
        } else {
            listing
        };
        let play = Play::of(
            FakeGithub::new(GithubSettings {
                listing,
                ..GithubSettings::default()
            }),
            seed,
        );
        let files = Files {
            at_once: 1 + usize::try_from(seed / 4 % 2).unwrap(),
            ..Files::of(3, 1)
        };
        let ended = both(&play, &files, seed)
            .map(|one| one.map_or_else(PublishResult::Failed, |applied| applied.end));
        let what = format!("seed {seed}, lag {lag_ms}: {ended:?}");
        let public: Vec<_> = play
            .releases()
            .into_iter()
            .filter(|release| !release.draft)
            .collect();
        let [release] = &public[..] else {
            panic!("one is public: {what}")
        };
        assert!(files.are_in(&release.assets, true), "{what}");
        assert!(
            ended
                .iter()
                .any(|end| matches!(end, PublishResult::Done(_))),
            "{what}"
        );
        let is_clear = |end: &PublishResult| match end {
            PublishResult::Done(_) | PublishResult::Failed(GithubError::Contested { .. }) => true,
            PublishResult::Refused(why) => matches!(why[..], [ReleaseRefusal::Published { .. }]),
            _ => false,
        };
        assert!(ended.iter().all(is_clear), "{what}");
        // The next run finds nothing to do but what the other left.
        play.pass(60_000);
        let end = play.publish(&files, &files.desired_release(9), PublishPolicy::default());
        assert!(matches!(end, PublishResult::Done(_)), "{what}: {end:?}");
        assert_eq!(play.releases().len(), 1, "{what}");
    }
}

/// Deletes all releases before each of so many uploads.
struct Deleting {
    play: Arc<Play>,
    left: AtomicUsize,
    stage: Stage,
}

impl Transport for Deleting {
    fn send(&self, request: http::Request<HttpBody>) -> ResponseFuture<'_> {
        let is_upload =
            request.method() == http::Method::POST && request.uri().path().ends_with("/assets");
        let less = |left: usize| left.checked_sub(1);
        if is_upload
            && self
                .left
                .fetch_update(Ordering::Relaxed, Ordering::Relaxed, less)
                .is_ok()
        {
            self.play
                .github()
                .repository_mut("me/wheels")
                .releases
                .clear();
        }
        self.stage.send(request)
    }
}

#[test]
fn a_draft_that_is_deleted_under_way_is_made_once_more_and_not_again_and_again() {
    for (times, lag_ms) in [(1, 0), (1, 3000), (9, 0)] {
        let play = play(
            GithubSettings {
                listing: ListingMode::Late(lag_ms),
                ..GithubSettings::default()
            },
            &[],
        );
        let (stage, left) = (Stage(Arc::clone(&play)), AtomicUsize::new(times));
        let client = play.client_over(Arc::new(Deleting {
            play: Arc::clone(&play),
            left,
            stage,
        }));
        let files = Files {
            at_once: 1,
            ..Files::of(2, 1)
        };
        let applied = run_over(
            &client,
            &files,
            &files.desired_release(1),
            PublishPolicy::default(),
        )
        .unwrap();
        match (times, applied.end) {
            (1, PublishResult::Done(_)) => {
                let [release] = &play.releases()[..] else {
                    panic!("one release")
                };
                assert!(!release.draft && files.are_in(&release.assets, true));
            }
            (9, PublishResult::Failed(GithubError::Contested { tag })) => {
                assert_eq!((tag.as_str(), play.releases().len()), ("v1", 0));
            }
            (_, end) => panic!("deleted {times} times: {end:?}"),
        }
    }
}
