//! Whatever a person and a checkout do in turn, and wherever it is killed, no work is lost without
//! a flag.

use rustix::process::{Pid, Signal, kill_process};

use crate::support::Sources;

/// How many histories are tried, and how long each is.
const HISTORIES: u64 = 4;
const ACTS: usize = 10;
const FOLDERS: [&str; 3] = ["co", "co/third_party/a", "co/third_party/a/deep/b"];

/// Numbers that look drawn (Numerical Recipes, section 7.1), the same on every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

/// What a person made: a file of this content, in a repository.
#[derive(Debug)]
struct Work {
    folder: &'static str,
    name: String,
    text: String,
    is_committed: bool,
}

/// Whether the work is in the tree, in the commit at the head, or in what an ended checkout kept.
fn is_there(sources: &Sources, work: &Work) -> bool {
    let file = sources.path(work.folder).join(&work.name);
    if std::fs::read_to_string(file).is_ok_and(|text| text == work.text) {
        return true;
    }
    let kept = sources.git_command(
        work.folder,
        &[
            "for-each-ref",
            "--format=%(refname)",
            "refs/rock-matrix/saved",
        ],
    );
    let kept = String::from_utf8({ kept }.output().unwrap().stdout).unwrap();
    kept.lines().chain(["HEAD"]).any(|place| {
        let shown = sources
            .git_command(work.folder, &["show", &format!("{place}:{}", work.name)])
            .output()
            .unwrap();
        shown.status.success() && shown.stdout == work.text.as_bytes()
    })
}

#[test]
fn random_work_between_checkouts_and_kills_is_never_lost_without_a_flag() {
    for seed in 0..HISTORIES {
        let (sources, mut numbers) = (Sources::new(), Numbers(seed));
        sources.patch(
            "top",
            "first.txt",
            "first\n",
            "First",
            "patches/top/v1/top/base/0001-First.patch",
        );
        sources.checkout(&[]).exits(0);
        let (mut all, mut acts): (Vec<Work>, Vec<String>) = (Vec::new(), Vec::new());
        for number in 0..ACTS {
            let folder = FOLDERS[usize::try_from(numbers.below(3)).unwrap()];
            // After a kill a submodule may not be there.
            let has_folder =
                sources.path(folder).join(".git").exists() && sources.is_settled(folder);
            let act = match numbers.below(6) {
                0 | 1 if has_folder => {
                    let (name, text) =
                        (format!("work{number}.txt"), format!("{number} of {seed}\n"));
                    sources.write(&format!("{folder}/{name}"), &text);
                    all.push(Work {
                        folder,
                        name,
                        text,
                        is_committed: false,
                    });
                    format!("write in {folder}")
                }
                2 if has_folder => {
                    let done = sources
                        .git_command(folder, &["add", "--all"])
                        .status()
                        .unwrap();
                    let words = ["commit", "--quiet", "--allow-empty", "--message", "mine"];
                    if done.success()
                        && sources
                            .git_command(folder, &words)
                            .status()
                            .unwrap()
                            .success()
                    {
                        all.iter_mut()
                            .filter(|work| work.folder == folder)
                            .for_each(|work| work.is_committed = true);
                    }
                    format!("commit in {folder}")
                }
                3 => {
                    let mut child = sources
                        .project
                        .command(&Sources::words(&["--ref", "v2", "--quiet"]))
                        .spawn()
                        .unwrap();
                    std::thread::sleep(std::time::Duration::from_millis(numbers.below(400)));
                    let _ = kill_process(
                        Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap(),
                        Signal::KILL,
                    );
                    child.wait().unwrap();
                    "killed checkout".to_owned()
                }
                4 => {
                    sources.checkout_any(&["--ref", "v1", "--discard-changes"]);
                    all.retain(|work| work.is_committed);
                    "checkout that discards changes".to_owned()
                }
                _ => {
                    sources
                        .checkout_any(&["--ref", if numbers.below(2) == 0 { "v1" } else { "v2" }]);
                    "checkout".to_owned()
                }
            };
            acts.push(act);
            for work in &all {
                assert!(
                    is_there(&sources, work),
                    "history {seed}: {work:?} is lost after {acts:#?}"
                );
            }
        }
        // In the end nothing keeps the tree from being made.
        sources
            .checkout(&["--discard-changes", "--discard-commits"])
            .exits(0);
        let done = sources.checkout(&[]).exits(0);
        assert!(done.stdout.starts_with("up to date: "), "{}", done.stdout);
    }
}
