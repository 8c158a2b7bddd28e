//! Checks that every leg has the matrix keys that the workflow reads.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::codes::plan as codes;
use rock_diagnostic::{Diagnostic, Sink};
use rock_plan::GithubPlan;

/// Reports keys that a job of the workflow reads but a leg of its matrix lacks: GitHub would
/// replace them by an empty string.
pub(super) fn check(text: &str, plan: &GithubPlan, sink: &mut Sink) {
    for (job, legs, keys) in jobs(text, plan) {
        for key in keys {
            let lacking = legs
                .iter()
                .filter(|leg| !leg.contains_key(key.as_str()))
                .count();
            if lacking > 0 {
                let message = format!(
                    "the job `{job}` reads `matrix.{key}`, but {lacking} of its {} legs do not \
                     have this key",
                    legs.len()
                );
                let fault = Diagnostic::new(&codes::MATRIX_KEY_MISSING, message);
                sink.push(fault.help(
                    "split the jobs into several workflows, or report this with the rendered file",
                ));
            }
        }
    }
}

/// The keys of a leg. Their values are not parsed.
type LegKeys<'t> = BTreeMap<&'t str, &'t RawValue>;

/// The legs of a matrix.
#[derive(Default, Deserialize)]
struct MatrixLegs<'t> {
    #[serde(borrow)]
    include: Vec<LegKeys<'t>>,
}

/// A job with the keys of each of its legs, and the keys that it reads.
type JobReads<'t> = (&'t str, Vec<LegKeys<'t>>, BTreeSet<String>);

fn jobs<'t>(text: &'t str, plan: &'t GithubPlan) -> Vec<JobReads<'t>> {
    let mut found: Vec<JobReads<'_>> = Vec::new();
    let body = text.split_once("\njobs:\n").map_or("", |(_, body)| body);
    for line in body.lines() {
        if let Some(job) = line
            .strip_prefix("  ")
            .filter(|rest| !rest.starts_with([' ', '#']))
        {
            found.push((job.trim_end_matches(':'), Vec::new(), BTreeSet::new()));
        }
        let Some((_, legs, keys)) = found.last_mut() else {
            continue;
        };
        if let Some(output) = line
            .split_once("fromJSON(needs.plan.outputs.")
            .and_then(|(_, rest)| rest.split(')').next())
        {
            *legs = keys_of(output, plan);
        }
        keys.extend(read_in(line));
    }
    found
}

/// Returns the keys of each leg of an output, `matrix_0` or `test_0`.
fn keys_of<'t>(output: &str, plan: &'t GithubPlan) -> Vec<LegKeys<'t>> {
    let Some((kind, number)) = output.split_once('_') else {
        return Vec::new();
    };
    let number: usize = number.parse().unwrap_or(usize::MAX);
    let json = match kind {
        "matrix" => plan.shards.get(number).map(|shard| shard.json.as_str()),
        _ => plan.tests.get(number).and_then(Option::as_deref),
    };
    // Our keys contain no escapes, so they can be borrowed from the text.
    json.and_then(|json| serde_json::from_str::<MatrixLegs<'t>>(json).ok())
        .unwrap_or_default()
        .include
}

/// Returns the names after `matrix.` in a line.
fn read_in(line: &str) -> impl Iterator<Item = String> {
    line.match_indices("matrix.").filter_map(|(at, word)| {
        let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
        let begins = !line[..at].ends_with(is_part);
        let rest = &line[at + word.len()..];
        let end = rest
            .find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '-')))
            .unwrap_or(rest.len());
        (begins && end > 0).then(|| rest[..end].to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::check;
    use rock_diagnostic::Sink;
    use rock_plan::{GithubPlan, PlanShard};

    fn findings(body: &str) -> Vec<String> {
        let legs = "{\"include\":[{\"id\":\"a\",\"runner\":\"x\"},{\"id\":\"b\"}]}";
        let plan = GithubPlan {
            shards: vec![PlanShard {
                json: legs.to_owned(),
                count: 2,
            }],
            tests: vec![Some(
                "{\"include\":[{\"id\":\"a\",\"family\":\"gfx942\"}]}".to_owned(),
            )],
            count: 2,
            slim: false,
            whole_bytes: 0,
        };
        let mut sink = Sink::new();
        check(&format!("name: x\njobs:\n{body}"), &plan, &mut sink);
        sink.finish()
            .iter()
            .map(|one| format!("{} {}", one.code, one.message))
            .collect()
    }

    #[test]
    fn matrix_key_missing_is_what_a_job_reads_and_one_of_its_legs_lacks() {
        let job = |name: &str, output: &str, line: &str| {
            format!(
                "  {name}:\n    strategy:\n      matrix: ${{{{ fromJSON(needs.plan.outputs.{output}) }}}}\n    {line}\n"
            )
        };
        let sound = [
            job("build", "matrix_0", "name: ${{ matrix.id }}"),
            job(
                "gpu-test",
                "test_0",
                "name: ${{ matrix.id }} on ${{ matrix.family }}",
            ),
            "  plan:\n    x: ${{ needs.plan.outputs.matrix_0 }} of a matrix.\n".to_owned(),
        ];
        assert_eq!(findings(&sound.concat()), Vec::<String>::new());
        let some = job(
            "build",
            "matrix_0",
            "runs-on: ${{ fromJSON(matrix.runner) }}",
        );
        assert_eq!(
            findings(&some),
            [
                "P053 matrix-key-missing the job `build` reads `matrix.runner`, but 1 of its 2 \
                 legs do not have this key"
            ]
        );
        let all = job("build", "matrix_0", "x: ${{ matrix.x }}");
        assert_eq!(
            findings(&all),
            [
                "P053 matrix-key-missing the job `build` reads `matrix.x`, but 2 of its 2 legs do \
                 not have this key"
            ]
        );
    }
}
