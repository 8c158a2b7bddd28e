//! Publishing to a GitHub on its bad days: whatever goes wrong, a run ends with all of it
//! published, or with a draft and an error, and the next run goes on. No sockets and no waiting:
//! the clock is part of the play.

use std::collections::BTreeMap;
use std::sync::Arc;

use rayon::prelude::*;
use rock_matrix::github::PublishResult;
use rock_matrix::publish::remote::PublishPolicy;

use crate::support::play::{Files, Play};
use fake_github::model::rng::SplitMixRng;
use fake_github::model::{
    DigestMode, FakeGithub, FaultSchedule, GithubSettings, ListingMode, ReachedState, StoredAsset,
    StoredRelease,
};

/// How many sequences of faults are played.
const SEQUENCES: u64 = 10_000;
/// Assets that others left in a release which has room for a few more: the rest goes to a second
/// one.
const FULL: u64 = 986;

/// What the sequences came to.
#[derive(Debug, Default)]
struct Tally {
    ends: BTreeMap<String, u64>,
    reached: BTreeMap<ReachedState, u64>,
}

impl Tally {
    fn with(mut self, other: Self) -> Self {
        for (end, count) in other.ends {
            *self.ends.entry(end).or_default() += count;
        }
        for (state, count) in other.reached {
            *self.reached.entry(state).or_default() += count;
        }
        self
    }
}

/// One sequence: a GitHub, files, and what is known of them.
struct Sequence {
    seed: u64,
    chance: SplitMixRng,
    play: Arc<Play>,
    files: Files,
    lag_ms: u64,
    /// Whether files without a digest are fetched and hashed: bytes that GitHub lost are only seen
    /// so.
    is_full: bool,
    runs: u64,
    /// Whether others made the draft that the files go to.
    has_foreign_draft: bool,
    has_changed: bool,
    tally: Tally,
}

/// Whether a release is of others.
fn is_foreign(release: &StoredRelease) -> bool {
    release.tag_name.starts_with("other") || release.id == FOREIGN_SECOND
}

/// A release of others that has the tag which the desired release would take second.
const FOREIGN_SECOND: u64 = 499_998;

impl Sequence {
    fn of(seed: u64) -> Self {
        let mut chance = SplitMixRng::new(seed);
        let lag_ms = chance.choose(&[0, 0, 400, 3000]);
        let settings = GithubSettings {
            listing: match (lag_ms, chance.below(2)) {
                (0, _) => ListingMode::Fresh,
                (_, 0) => ListingMode::Late(lag_ms),
                _ => ListingMode::Flapping(lag_ms),
            },
            digests: chance.choose(&[
                DigestMode::Told,
                DigestMode::Told,
                DigestMode::Null,
                DigestMode::Late(5000),
            ]),
            clock_skew_ms: chance.choose(&[0, 0, 600_000, -600_000]),
            ..GithubSettings::default()
        };
        let mut github = FakeGithub::new(settings);
        let repository = github.repository_mut("me/wheels");
        repository.has_immutable_releases = chance.below(2) == 0;
        let mut add = |release: StoredRelease| {
            drop(repository.releases.insert(release.id, Arc::new(release)));
        };
        for at in 0..chance.choose(&[0, 0, 2, 120]) {
            add(StoredRelease {
                id: 400_000 + at,
                tag_name: format!("other-{at}"),
                ..StoredRelease::default()
            });
        }
        if chance.below(50) == 0 {
            let asset = |at: u64| StoredAsset {
                id: 500_000 + at,
                name: format!("of-others-{at}.txt"),
                is_uploaded: true,
                size_bytes: 1,
                sha256: Some("1".repeat(64)),
                ..StoredAsset::default()
            };
            let assets = (0..FULL).map(|at| Arc::new(asset(at))).collect();
            add(StoredRelease {
                id: 499_999,
                tag_name: "v1".to_owned(),
                draft: true,
                assets,
                ..StoredRelease::default()
            });
            add(StoredRelease {
                id: FOREIGN_SECOND,
                tag_name: "v1-2".to_owned(),
                ..StoredRelease::default()
            });
        }
        let per_mille = chance.choose(&[0, 50, 150, 300, 500]);
        github.faults = FaultSchedule::random(chance.next_u64(), per_mille);
        let is_spilling = github
            .repository("me/wheels")
            .releases
            .contains_key(&499_999);
        let files = Files::of(if is_spilling { 20 } else { 1 + chance.below(5) }, seed);
        let files = Files {
            at_once: usize::try_from(1 + chance.below(4)).unwrap(),
            ..files
        };
        let is_full = chance.below(2) == 0;
        let play = Play::of(github, seed);
        let (has_foreign_draft, tally) = (is_spilling, Tally::default());
        Self {
            seed,
            chance,
            play,
            files,
            lag_ms,
            is_full,
            runs: 0,
            has_foreign_draft,
            has_changed: false,
            tally,
        }
    }

    /// All that is known, for a sequence that fails.
    fn fail(&self, what: &str) -> ! {
        let github = self.play.github();
        let mut text = format!(
            "sequence {0} (again: ROCK_SEQUENCE={0}): {what}\n",
            self.seed
        );
        for request in &github.ledger.requests {
            let line = (
                request.at_ms % 100_000_000,
                request.status,
                &request.method,
                &request.url,
                request.fault,
            );
            text.push_str(&format!("{line:?}\n"));
        }
        for release in github
            .repository("me/wheels")
            .releases
            .values()
            .filter(|release| !is_foreign(release))
        {
            text.push_str(&format!(
                "release {} {} draft: {} {:?}\n",
                release.id, release.tag_name, release.draft, release.body
            ));
            for asset in release
                .assets
                .iter()
                .filter(|asset| !asset.name.starts_with("of-others"))
            {
                text.push_str(&format!(
                    "  {} {} uploaded: {}\n",
                    asset.id, asset.name, asset.is_uploaded
                ));
            }
        }
        panic!("{text}{}", github.ledger.replay())
    }

    /// The releases that make up the desired one, and what of their files is not of others.
    fn own(&self) -> (Vec<Arc<StoredRelease>>, Vec<Arc<StoredAsset>>) {
        let mut releases = self.play.releases();
        releases.retain(|release| !is_foreign(release));
        let assets = releases
            .iter()
            .flat_map(|release| release.assets.iter().cloned());
        let assets = assets.filter(|asset| !asset.name.starts_with("of-others"));
        // Old bytes that GitHub stored under another name cannot be told from what others brought.
        let is_renamed =
            |asset: &StoredAsset| !asset.name.contains("x86_64.whl") || !asset.name.contains('+');
        let is_left = |asset: &StoredAsset| {
            is_renamed(asset) && !asset.name.contains(".tmp-") && asset.name != "SHA256SUMS"
        };
        let assets = assets.filter(|asset| !self.has_changed || !is_left(asset));
        // Nor can what GitHub stored under another name and would not show.
        let not_found: Vec<String> = {
            let github = self.play.github();
            let requests = github.ledger.requests.iter();
            requests
                .filter(|request| request.status == 404 && request.method == "GET")
                .filter_map(|request| request.url.split('?').next().map(str::to_owned))
                .collect()
        };
        let is_hidden = |asset: &StoredAsset| {
            let end = format!("/{}", asset.id);
            not_found.iter().any(|path| path.ends_with(&end))
        };
        let assets = assets
            .filter(|asset| self.files.bytes.contains_key(&asset.name) || !is_hidden(asset))
            .collect();
        (releases, assets)
    }

    fn is_public(&self) -> bool {
        self.own()
            .0
            .iter()
            .any(|release| release.tag_name == "v1" && !release.draft)
    }

    /// One run, and what holds after it, however it ended.
    fn run(&mut self, allowed: PublishPolicy) -> PublishResult {
        self.play.github().ledger.requests.clear();
        self.play.waits.lock().unwrap().clear();
        self.runs += 1;
        let end = self
            .play
            .publish(&self.files, &self.files.desired_release(self.runs), allowed);
        let text = format!("{end:?} {}", self.play.waits.lock().unwrap().join(" "));
        if text.contains("writer") {
            self.fail(&format!("the token is printed: {text}"));
        }
        self.check(&end);
        end
    }

    fn check(&self, end: &PublishResult) {
        let (releases, assets) = self.own();
        let (count, faults, is_made_after_401) = {
            let github = self.play.github();
            let requests = &github.ledger.requests;
            let mut after = requests
                .iter()
                .skip_while(|request| request.status != 401)
                .skip(1);
            let faults = requests.iter().filter(|request| request.fault.is_some());
            (
                requests.len(),
                faults.count(),
                after.any(|request| request.method == "POST"),
            )
        };
        // Three pages of releases, or ten of assets, each time that is looked.
        let pages = if self.files.bytes.len() > 20 { 16 } else { 4 };
        let most = self.files.bytes.len() * 4 + pages * (12 + 4 * faults);
        if count > most {
            self.fail(&format!(
                "{count} requests with {faults} faults, and not {most}"
            ));
        }
        if is_made_after_401 {
            self.fail("something is made after a 401");
        }
        let public = releases
            .iter()
            .filter(|release| release.tag_name == "v1" && !release.draft)
            .count();
        if public > 1 {
            self.fail("two public releases of one tag");
        }
        if matches!(end, PublishResult::Done(_)) && public != 1 {
            self.fail("it reported that it was done");
        }
        if matches!(end, PublishResult::Done(_)) && !self.files.are_in(&assets, self.is_full) {
            self.fail("it reported that it was done, and files are not what they should be");
        }
    }

    /// Runs among faults, three times if need be, and then without any. `check` looks at each state
    /// between.
    fn reach(&mut self, allowed: PublishPolicy, is_changing: bool, check: impl Fn(&Self)) {
        for run in 0..4 {
            if run == 3 {
                self.play.github().faults = FaultSchedule::none();
            }
            // Files of the drafts that runs made are replaced without a flag; in a draft of others
            // they are not.
            let is_in_foreign = self.has_foreign_draft && (is_changing || run == 3);
            let allowed = PublishPolicy {
                replace: allowed.replace || is_in_foreign,
                ..allowed
            };
            let end = self.run(allowed);
            check(self);
            let word: String = format!("{end:?}")
                .chars()
                .take_while(|letter| letter.is_alphabetic())
                .collect();
            let what = if allowed.published {
                "a public release, run"
            } else {
                "run"
            };
            *self
                .tally
                .ends
                .entry(format!("{what} {run}: {word}"))
                .or_default() += 1;
            // People look at what went wrong before they go on, for a moment or for an hour.
            let pause_ms = self.chance.choose(&[self.lag_ms + 1, 30_000, 3_700_000]);
            self.play.pass(pause_ms);
            match end {
                PublishResult::Done(_) => return,
                end if run == 3 => self.fail(&format!("the run without faults ended with {end:?}")),
                _ => {}
            }
            // What is public in part is not changed without being asked for.
            if is_changing
                && self.chance.below(3) == 0
                && self.own().0.iter().all(|release| release.draft)
            {
                self.change();
            }
        }
    }

    /// Builds a wheel anew, and adds one.
    fn change(&mut self) {
        self.has_changed = true;
        let number = self.chance.below(1000);
        let first = self
            .files
            .bytes
            .keys()
            .find(|name| name.contains("cp311"))
            .unwrap()
            .clone();
        self.files
            .bytes
            .insert(first, format!("built again {number}").into_bytes());
        let added = format!(
            "b-{}+rocm6.2torch2.5-cp311-cp311-linux_x86_64.whl",
            self.chance.below(3)
        );
        self.files
            .bytes
            .insert(added, format!("added {number}").into_bytes());
        self.files.bytes.insert(
            "SHA256SUMS".to_owned(),
            format!("new sums {number}").into_bytes(),
        );
    }
}

/// Publishes among faults, and perhaps changes what is public.
fn play(seed: u64) -> Tally {
    let mut it = Sequence::of(seed);
    let allowed = PublishPolicy {
        clean_duplicates: true,
        fetch_to_verify: it.is_full,
        ..PublishPolicy::default()
    };
    let is_changing = it.chance.below(4) == 0;
    it.reach(allowed, is_changing, |it| {
        let (_, assets) = it.own();
        if it.is_public() && !it.files.are_in(&assets, it.is_full) {
            it.fail("a public release is not whole");
        }
    });
    let is_immutable = it
        .play
        .github()
        .repository("me/wheels")
        .has_immutable_releases;
    if it.chance.below(3) == 0 {
        let before: Vec<String> = it.files.bytes.keys().cloned().collect();
        let faults = FaultSchedule::random(it.chance.next_u64(), it.chance.choose(&[50, 150, 300]));
        it.change();
        let allowed = PublishPolicy {
            replace: true,
            published: true,
            ..allowed
        };
        if is_immutable {
            let end = it.run(allowed);
            // Without a digest, other bytes of the same size are not seen.
            let is_right =
                matches!(end, PublishResult::Refused(_) | PublishResult::Failed(_)) || !it.is_full;
            if !is_right || it.play.github().ledger.writes() > 0 {
                it.fail(&format!("an immutable release is written to: {end:?}"));
            }
            return it.tally;
        }
        it.play.github().faults = faults;
        it.reach(allowed, false, |it| {
            let (_, assets) = it.own();
            let is_there = |name: &String| {
                let waits = format!("{name}.tmp-");
                assets
                    .iter()
                    .any(|a| a.is_uploaded && (a.name == *name || a.name.starts_with(&waits)))
            };
            if !before.iter().all(is_there) {
                it.fail("a file that was public is gone");
            }
        });
    }
    let (releases, _) = it.own();
    let firsts = releases
        .iter()
        .filter(|release| release.tag_name == "v1")
        .count();
    if firsts != 1 || releases.iter().any(|release| release.draft) {
        it.fail(&format!("{} releases of one tag", releases.len()));
    }
    let github = it.play.github();
    if !github.ledger.complaints.is_empty() || github.ledger.leaks > 0 {
        let what = format!(
            "{:?}, {} leaks",
            github.ledger.complaints, github.ledger.leaks
        );
        drop(github);
        it.fail(&what);
    }
    it.tally.reached.clone_from(&github.ledger.reached);
    drop(github);
    it.play.github().faults = FaultSchedule::none();
    let before = it.play.github().ledger.writes();
    if it.is_full {
        // Once more: nothing is written.
        let again = it.run(PublishPolicy {
            fetch_to_verify: true,
            ..PublishPolicy::default()
        });
        let after = it.play.github().ledger.writes();
        if !matches!(again, PublishResult::Done(_)) || after != 0 {
            it.fail(&format!(
                "a second run wrote {after} times after {before} and ended with {again:?}"
            ));
        }
    }
    it.tally
}

#[test]
fn whatever_goes_wrong_a_release_is_whole_and_public_or_a_draft_with_an_error_and_the_next_run_ends_it()
 {
    if let Ok(only) = std::env::var("ROCK_SEQUENCE") {
        play(only.parse().unwrap());
        return;
    }
    let tally = (0..SEQUENCES)
        .into_par_iter()
        .map(play)
        .reduce(Tally::default, Tally::with);
    // Read by `--nocapture`: how often each state was reached.
    std::io::Write::write_all(&mut std::io::stderr(), format!("{tally:#?}\n").as_bytes()).unwrap();
    for end in [
        "run 0: Done",
        "run 0: Failed",
        "run 1: Done",
        "run 3: Done",
        "a public release, run 0: Done",
        "a public release, run 0: Failed",
        "a public release, run 1: Done",
    ] {
        assert!(
            tally.ends.get(end).is_some_and(|count| *count >= 50),
            "{end}: {:?}",
            tally.ends
        );
    }
}
