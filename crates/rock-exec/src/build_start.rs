//! Determines the stage at which a build starts.

use super::record::{StageRecord, StageState};

/// The stage at which a build starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BuildStart {
    /// The first stage, in an empty directory.
    Fresh,
    /// The first stage that changed or did not succeed.
    Auto,
    /// This stage, regardless of the state of earlier ones.
    Stage(String),
    /// Like [`Self::Auto`], but the last stage if all are done: the tests of a wheel from another
    /// build.
    Test,
}

/// A stage that the build does not have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the build has no stage `{stage}`")]
pub struct UnknownStage {
    /// The given name.
    pub stage: String,
    /// The stages of the build.
    pub known: Vec<String>,
}

/// Returns the number of the first stage to run, or the number of stages if all are done. `stages`
/// are the names and hashes of this build's stages, `before` the records of the last build's.
///
/// # Errors
/// If the requested stage does not exist.
pub fn first_step(
    start: &BuildStart,
    stages: &[(String, String)],
    before: &[StageRecord],
) -> Result<usize, UnknownStage> {
    match start {
        BuildStart::Fresh => Ok(0),
        BuildStart::Auto | BuildStart::Test => {
            let is_done = |((stage, hash), old): &(&(String, String), &StageRecord)| {
                *stage == old.stage && *hash == old.hash && old.state == StageState::Done
            };
            let done = stages.iter().zip(before).take_while(is_done).count();
            let last = stages.len().saturating_sub(1);
            Ok(if *start == BuildStart::Test {
                done.min(last)
            } else {
                done
            })
        }
        BuildStart::Stage(wanted) => stages
            .iter()
            .position(|(stage, _)| stage == wanted)
            .ok_or_else(|| UnknownStage {
                stage: wanted.clone(),
                known: stages.iter().map(|(stage, _)| stage.clone()).collect(),
            }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stages(words: &str) -> Vec<(String, String)> {
        words
            .split(' ')
            .map(|word| (word[..1].to_owned(), word.to_owned()))
            .collect()
    }

    fn check(start: &BuildStart, now: &str, before: &str) -> Option<usize> {
        let before: Vec<StageRecord> = before
            .split(' ')
            .filter(|word| !word.is_empty())
            .map(|word| StageRecord {
                stage: word[..1].to_owned(),
                hash: word.trim_end_matches('!').to_owned(),
                answers: String::new(),
                state: if word.ends_with('!') {
                    StageState::Failed
                } else {
                    StageState::Done
                },
                seconds: 0,
                tries: 1,
                ended: None,
            })
            .collect();
        first_step(start, &stages(now), &before).ok()
    }

    #[test]
    fn auto_begins_at_the_first_stage_that_changed_or_failed() {
        let auto = BuildStart::Auto;
        assert_eq!(check(&auto, "a1 b1 c1", "a1 b1! c1"), Some(1));
        assert_eq!(check(&auto, "a1 b2 c1", "a1 b1 c1"), Some(1));
        assert_eq!(check(&auto, "a1 x1 b1", "a1 b1 c1"), Some(1));
        assert_eq!(check(&auto, "a1 b1 c1", "a1"), Some(1));
        assert_eq!(check(&auto, "a1 b1 c1", "a1 b1 c1"), Some(3));
        assert_eq!(check(&auto, "a1", ""), Some(0));
    }

    #[test]
    fn tests_of_a_wheel_run_again_though_they_passed_before() {
        assert_eq!(check(&BuildStart::Test, "a1 b1", "a1 b1"), Some(1));
        assert_eq!(check(&BuildStart::Test, "a1 b1 c1", "a2 b1 c1"), Some(0));
        assert_eq!(check(&BuildStart::Test, "a1", ""), Some(0));
    }

    #[test]
    fn a_named_stage_is_forced_and_must_exist() {
        assert_eq!(
            check(&BuildStart::Stage("b".into()), "a1 b1 c1", "a1 b1 c1"),
            Some(1)
        );
        assert_eq!(check(&BuildStart::Stage("z".into()), "a1 b1 c1", ""), None);
        assert_eq!(check(&BuildStart::Fresh, "a1", "a1"), Some(0));
    }
}
