//! Publishing to a GitHub on its bad days: whatever goes wrong, a run ends with all of it published, or with a draft and
//! an error, and the next run goes on. No sockets and no waiting: the clock is part of the play.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use http_body_util::BodyExt;
use rayon::prelude::*;
use rock_matrix::github::{
    Answering, Api, Applied, Body, Calls, Client, Clock, Doing, End, Source, Token, Wire, WireError, apply, of_goal,
    whole,
};
use rock_matrix::names::Digest;
use rock_matrix::publish::Wanted;
use rock_matrix::publish::remote::{Allowed, Goal, MakeLatest};
use sha2::{Digest as _, Sha256};

use crate::fake_github::model::chance::Chance;
use crate::fake_github::model::{
    Asset, Delivery, Digests, Faults, Github, Listing, Reached, Release, Request, Settings,
};

/// How many sequences of faults are played.
const SEQUENCES: u64 = 10_000;
const BEGIN_MS: u64 = 1_790_000_000_000;

/// A GitHub and the time there.
struct Play {
    github: Mutex<Github>,
    now_ms: AtomicU64,
    chance: Mutex<Chance>,
}

struct Stage(Arc<Play>);

impl Wire for Stage {
    fn send(&self, request: http::Request<Body>) -> Answering<'_> {
        Box::pin(async move {
            let (parts, body) = request.into_parts();
            let mut asked = Request::new(parts.method.as_str(), &parts.uri.to_string());
            for (name, value) in &parts.headers {
                asked = asked.header(name.as_str(), value.to_str().unwrap());
            }
            let lost = |reason: &str| WireError { reason: reason.to_owned(), is_lasting: false };
            let sent = body.collect().await.map_err(|error| lost(&error.to_string()))?.to_bytes();
            asked.body = sent.to_vec();
            if asked.length().is_none() && !asked.body.is_empty() {
                asked = asked.clone().body(asked.body.clone());
            }
            // Each answer takes its time.
            let now_ms = self.0.now_ms.fetch_add(50, Ordering::Relaxed);
            let reply = self.0.github.lock().unwrap().handle(&asked, now_ms);
            let arrived = match reply.delivery {
                Delivery::Whole | Delivery::Slow(_) => reply.body.to_vec(),
                Delivery::Cut | Delivery::Held | Delivery::CutAfter(_) => return Err(lost("the connection was cut")),
            };
            let mut response = http::Response::builder().status(reply.status);
            for (name, value) in &reply.headers {
                response = response.header(name, value);
            }
            Ok(response.body(whole(arrived)).unwrap())
        })
    }
}

impl Clock for Play {
    fn now(&self) -> Duration {
        Duration::from_millis(self.now_ms.load(Ordering::Relaxed) - BEGIN_MS)
    }

    fn epoch_seconds(&self) -> u64 {
        self.now_ms.load(Ordering::Relaxed) / 1000
    }

    fn sleep(&self, time: Duration) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        self.now_ms.fetch_add(u64::try_from(time.as_millis()).unwrap().max(1), Ordering::Relaxed);
        Box::pin(std::future::ready(()))
    }

    fn chance(&self) -> f64 {
        f64::from(u32::try_from(self.chance.lock().unwrap().below(1000)).unwrap()) / 1000.0
    }
}

struct Handle(Arc<Play>);

impl Clock for Handle {
    fn now(&self) -> Duration {
        self.0.now()
    }

    fn epoch_seconds(&self) -> u64 {
        self.0.epoch_seconds()
    }

    fn sleep(&self, time: Duration) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        self.0.sleep(time)
    }

    fn chance(&self) -> f64 {
        self.0.chance()
    }
}

impl Play {
    fn of(github: Github, seed: u64) -> Arc<Self> {
        let chance = Mutex::new(Chance::of(seed));
        Arc::new(Self { github: Mutex::new(github), now_ms: AtomicU64::new(BEGIN_MS), chance })
    }

    fn client(self: &Arc<Self>) -> Client {
        let calls = Calls {
            api: "https://api.test".parse::<Api>().unwrap(),
            token: Token::new("writer"),
            wire: Arc::new(Stage(Arc::clone(self))),
            clock: Arc::new(Handle(Arc::clone(self))),
            time: Duration::from_mins(45),
            stop: Box::new(|| false),
            on_wait: Box::new(|_, _, _| {}),
        };
        Client::new("me/wheels".parse().unwrap(), calls).unwrap()
    }

    /// One run of the program.
    fn publish(self: &Arc<Self>, files: &Files, goal: &Goal, allowed: Allowed) -> End {
        let client = self.client();
        let listed = match of_goal(&client, goal) {
            Ok(listed) => listed,
            Err(error) => return End::Failed(error),
        };
        let mut doing = Doing {
            open: &|name| Ok(Source::Text(files.0[name].clone().into())),
            on_step: &mut |_| {},
            on_sent: Arc::new(|_, _| {}),
            at_once: 2,
        };
        let Applied { end, .. } = apply(&client, goal, allowed, listed, &mut doing);
        end
    }

    /// The releases of the goal's tag.
    fn releases(&self, tag: &str) -> Vec<Arc<Release>> {
        let mut releases = self.releases_of(&self.github.lock().unwrap());
        releases.retain(|release| release.tag_name == tag);
        releases
    }

    #[expect(clippy::unused_self, reason = "it is asked of a play")]
    fn releases_of(&self, github: &Github) -> Vec<Arc<Release>> {
        github.repository("me/wheels").releases.values().cloned().collect()
    }
}

/// Files that are to be published.
struct Files(BTreeMap<String, Vec<u8>>);

impl Files {
    fn of(count: u64, seed: u64) -> Self {
        let name = |at: u64| format!("a-{at}+rocm6.2torch2.5-cp311-cp311-linux_x86_64.whl");
        let wheels = (0..count).map(|at| (name(at), format!("wheel {at} of {seed}").into_bytes()));
        Self(wheels.chain([("SHA256SUMS".to_owned(), format!("sums of {seed}").into_bytes())]).collect())
    }

    fn goal(&self, nonce: u64) -> Goal {
        let wanted = |(name, bytes): (&String, &Vec<u8>)| Wanted {
            name: name.clone(),
            digest: Digest::new(Sha256::digest(bytes).into()),
            size_bytes: bytes.len() as u64,
            generated: name == "SHA256SUMS",
        };
        Goal {
            tag: "v1".to_owned(),
            title: None,
            body: Some("what is new".to_owned()),
            target: None,
            prerelease: false,
            make_latest: MakeLatest::Legacy,
            assets: self.0.iter().map(wanted).collect(),
            nonce: format!("nonce{nonce}"),
        }
    }

    /// Whether a release holds exactly these: by digest, or by size where GitHub was not asked for more.
    fn are_in(&self, assets: &[Arc<Asset>], is_full: bool) -> bool {
        let digest = |bytes: &[u8]| Digest::new(Sha256::digest(bytes).into()).to_hex();
        let same = |asset: &Asset| {
            let bytes = self.0.get(&asset.name).filter(|bytes| bytes.len() as u64 == asset.size_bytes);
            asset.is_uploaded && bytes.is_some_and(|bytes| !is_full || asset.sha256 == Some(digest(bytes)))
        };
        assets.len() == self.0.len() && assets.iter().all(|asset| same(asset))
    }
}

fn settings(chance: &mut Chance) -> Settings {
    Settings {
        api_base: "https://api.test".to_owned(),
        uploads_base: "https://api.test".to_owned(),
        listing: chance.one(&[Listing::Fresh, Listing::Fresh, Listing::Late(3000), Listing::Flapping(2000)]),
        digests: chance.one(&[Digests::Told, Digests::Told, Digests::Null, Digests::Late(5000)]),
        clock_skew_ms: chance.one(&[0, 0, 600_000, -600_000]),
        ..Settings::default()
    }
}

/// What the sequences came to.
#[derive(Debug, Default)]
struct Tally {
    ends: BTreeMap<String, u64>,
    reached: BTreeMap<Reached, u64>,
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

impl Play {
    /// All that is known, for a sequence that fails.
    fn fail(&self, seed: u64, what: &str) -> ! {
        let github = self.github.lock().unwrap();
        let mut text = format!("sequence {seed} (again: ROCK_SEQUENCE={seed}): {what}\n");
        for request in &github.ledger.requests {
            text.push_str(&format!("{} {} {:?}\n", request.method, request.url, request.fault));
        }
        for release in github.repository("me/wheels").releases.values() {
            text.push_str(&format!("release {} {} draft: {}\n", release.id, release.tag_name, release.draft));
            for asset in &release.assets {
                text.push_str(&format!("  {} {} uploaded: {}\n", asset.id, asset.name, asset.is_uploaded));
            }
        }
        panic!("{text}{}", github.ledger.replay())
    }

    /// What holds after every run, however it ended.
    fn check(&self, seed: u64, files: &Files, end: &End, is_full: bool) {
        let releases = self.releases("v1");
        let public: Vec<_> = releases.iter().filter(|release| !release.draft).collect();
        let requests = self.github.lock().unwrap().ledger.requests.len();
        if requests > 40 + files.0.len() * 60 {
            self.fail(seed, &format!("{requests} requests"));
        }
        if public.len() > 1 {
            self.fail(seed, "two public releases of one tag");
        }
        if public.iter().any(|release| !files.are_in(&release.assets, is_full)) {
            self.fail(seed, "a public release is not whole");
        }
        if matches!(end, End::Done(_)) && public.len() != 1 {
            self.fail(seed, "it said that it was done");
        }
    }
}

/// Publishes among faults, three times if need be, and then without any.
fn play(seed: u64) -> Tally {
    let mut chance = Chance::of(seed);
    let mut github = Github::new(settings(&mut chance));
    github.repository_mut("me/wheels").has_immutable_releases = chance.below(2) == 0;
    let per_mille = chance.one(&[0, 50, 150, 300, 500]);
    github.faults = Faults::random(chance.number(), per_mille);
    let files = Files::of(1 + chance.below(5), seed);
    // Bytes that GitHub lost, and does not tell the digest of, are only seen by who fetches them.
    let fetch_to_verify = chance.below(2) == 0;
    let play = Play::of(github, seed);
    let mut tally = Tally::default();
    for run in 0..4 {
        let mut github = play.github.lock().unwrap();
        if run == 3 {
            github.faults = Faults::none();
        }
        github.ledger.requests.clear();
        drop(github);
        let allowed = Allowed { clean_duplicates: true, fetch_to_verify, replace: run == 3, ..Allowed::default() };
        let end = play.publish(&files, &files.goal(run), allowed);
        play.check(seed, &files, &end, fetch_to_verify);
        let word: String = format!("{end:?}").chars().take_while(|letter| letter.is_alphabetic()).collect();
        *tally.ends.entry(format!("run {run}: {word}")).or_default() += 1;
        // People look at what went wrong before they go on.
        play.now_ms.fetch_add(3_700_000, Ordering::Relaxed);
        match end {
            End::Done(_) => break,
            end if run == 3 => play.fail(seed, &format!("the run without faults ended with {end:?}")),
            _ => {}
        }
    }
    let releases = play.releases("v1");
    if releases.len() != 1 {
        play.fail(seed, &format!("{} releases of one tag", releases.len()));
    }
    let mut github = play.github.lock().unwrap();
    assert_eq!((&github.ledger.complaints[..], github.ledger.leaks), (&[][..], 0), "sequence {seed}");
    tally.reached.clone_from(&github.ledger.reached);
    github.faults = Faults::none();
    let before = github.ledger.writes();
    drop(github);
    if fetch_to_verify {
        // Once more: nothing is written.
        let again = play.publish(&files, &files.goal(9), Allowed { fetch_to_verify, ..Allowed::default() });
        let after = play.github.lock().unwrap().ledger.writes();
        if !matches!(again, End::Done(_)) || before != after {
            play.fail(seed, &format!("a second run wrote {} times and ended with {again:?}", after - before));
        }
    }
    tally
}

#[test]
fn whatever_goes_wrong_a_release_is_whole_and_public_or_a_draft_with_an_error_and_the_next_run_ends_it() {
    if let Ok(only) = std::env::var("ROCK_SEQUENCE") {
        play(only.parse().unwrap());
        return;
    }
    let tally = (0..SEQUENCES).into_par_iter().map(play).reduce(Tally::default, Tally::with);
    // Read by `--nocapture`: how often each state was reached.
    std::io::Write::write_all(&mut std::io::stderr(), format!("{tally:#?}\n").as_bytes()).unwrap();
    for end in ["run 0: Done", "run 0: Failed", "run 1: Done", "run 3: Done"] {
        assert!(tally.ends.get(end).is_some_and(|count| *count >= 50), "{end}: {:?}", tally.ends);
    }
}
