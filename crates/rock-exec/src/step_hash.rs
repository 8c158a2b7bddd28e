//! The digest of everything that determines the result of a step.

use serde_json::json;
use sha2::{Digest as _, Sha256};

use rock_names::Digest;
use rock_recipe::Step;

/// Returns the digest of a step: its arguments, environment variables, directories and outputs, the
/// place where it runs (`site`: engine and image) and the listing of outside files that it reads.
/// Time limits and retries do not change its result, so they are not included.
pub fn step_hash(step: &Step, site: &str, inputs: &str) -> Digest {
    let extend: Vec<_> = step
        .env_extend
        .iter()
        .map(|(name, e)| json!([name, e.prepend, e.append, e.separator]))
        .collect();
    let jobs = step
        .jobs
        .as_ref()
        .map(|jobs| json!([jobs.variable, jobs.count, jobs.tenths_gib_per_job]));
    let only_if: Vec<_> = step
        .env_if
        .iter()
        .map(|(name, only)| json!([name, only.fact, only.value]))
        .collect();
    let outputs: Vec<_> = step
        .outputs
        .iter()
        .map(|o| json!([o.glob, o.count]))
        .collect();
    // The listing already reflects the patterns that a copy leaves out.
    let argv = &step.argv[..step.argv.len().saturating_sub(step.left_out.len())];
    let (stage, env, remove) = (&step.stage, &step.env, &step.env_remove);
    let directories = json!([step.cwd, step.clean]);
    let parts = json!([
        site,
        stage,
        argv,
        env,
        remove,
        extend,
        only_if,
        jobs,
        directories,
        outputs,
        inputs
    ]);
    Digest::new(Sha256::digest(parts.to_string().as_bytes()).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_variables_site_and_inputs_change_the_hash_and_limits_do_not() {
        let step = Step {
            stage: "build".into(),
            argv: vec!["make".into()],
            ..Step::default()
        };
        let hash = |step: &Step| step_hash(step, "local", "");
        let other = |change: &dyn Fn(&mut Step)| {
            let mut changed = step.clone();
            change(&mut changed);
            hash(&changed) != hash(&step)
        };
        assert!(other(&|step| step.argv.push("-j2".into())));
        assert!(other(&|step| drop(step.env.insert("A".into(), "1".into()))));
        assert!(other(&|step| step.env_remove.push("A".into())));
        assert!(!other(&|step| step.timeout_s = Some(3)));
        assert!(!other(&|step| step.retries = 3));
        assert_ne!(step_hash(&step, "docker image", ""), hash(&step));
        assert_ne!(step_hash(&step, "local", "file 1"), hash(&step));
    }

    #[test]
    fn moving_a_word_from_one_list_to_another_changes_the_hash() {
        let one = Step {
            argv: vec!["a".into(), "b".into()],
            ..Step::default()
        };
        let two = Step {
            argv: vec!["a".into()],
            env_remove: vec!["b".into()],
            ..Step::default()
        };
        assert_ne!(step_hash(&one, "", ""), step_hash(&two, "", ""));
    }
}
