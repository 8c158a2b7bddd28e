//! The values of the workflow template.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::WorkflowOverrides;
use super::options::WorkflowOptions;
use crate::codes::handover;
use crate::render::quote;
use rock_compat::Compat;
use rock_names as names;
use rock_plan::Plan;
use rock_plan::config::{CheckProfile, Leaves, PrRunMode, Switch, ToolFrom};

/// The runner of jobs that build nothing.
const LIGHT: &str = "ubuntu-24.04";
/// The time limit of publishing in minutes, and that with `--slow`, whose own deadline is 300.
const PUBLISH_MIN: (u32, u32) = (60, 315);
/// The number of files that a release has in addition to those of the jobs: `SHA256SUMS` and
/// `rock-manifest.json`.
const GENERATED_FILES: usize = 2;

#[derive(Debug, Serialize)]
pub(super) struct WorkflowView<'a> {
    generator: &'a str,
    sources: String,
    command: String,
    name: String,
    /// Patterns of the tags that start the workflow.
    tags: &'a [String],
    /// Whether pull requests run anything, and the patterns of the files whose change triggers
    /// them.
    pull_requests: bool,
    paths: Vec<String>,
    uses: BTreeMap<&'static str, String>,
    tool: &'static str,
    /// The artifact with the program of `tool`, in jobs that build nothing and in legs.
    light_tool: ArtifactOutputs,
    leg_tool: ArtifactOutputs,
    /// Code and name of the diagnostic for a downloaded program that was replaced.
    program_replaced: String,
    /// The jobs that build the tool, one per architecture; empty if the action installs it.
    tools: Vec<ToolView>,
    light: &'static str,
    /// Options before the subcommand, for jobs with a checkout and for those without.
    options: String,
    global: String,
    /// Whether the checkout has compatibility tables, which every command reads.
    has_tables: bool,
    files: String,
    shards: Vec<ShardView>,
    /// Options that name the variables with the job reports of the legs.
    legs: String,
    /// The number of legs that have outputs.
    max_legs: usize,
    queue: &'static str,
    incremental: bool,
    cache: bool,
    /// Whether files are attested: `auto`, `on` or `off`.
    attest: &'static str,
    has_wheels: bool,
    /// The kind of wheels to check, as an option.
    profile: String,
    secrets: &'a [String],
    /// Jobs that test the wheels of a matrix on a machine with a GPU.
    tests: Vec<ShardView>,
    /// Whether a wheel is tested on the runners of several families.
    by_family: bool,
    publish: PublishView,
    failures: FailuresView,
    pages: bool,
    /// The jobs that the job `pages` needs.
    pages_needs: String,
    /// The matrix file with the yank rules for the index of the pages: any file, since all agree on
    /// them.
    rules: String,
}

#[derive(Debug, Serialize)]
struct ToolView {
    arch: String,
    job: String,
    name: String,
    runner: String,
    artifact: String,
}

/// Expressions for the artifact that a job uploaded, and for its digest.
#[derive(Debug, Default, Serialize)]
struct ArtifactOutputs {
    artifact: String,
    digest: String,
}

impl ArtifactOutputs {
    /// Returns the outputs of the job that built the program for the architecture of a leg.
    fn for_leg(tools: &[ToolView]) -> Self {
        let output = |name: &str| {
            let Some((last, others)) = tools.split_last() else {
                return String::new();
            };
            let conditional = |tool: &ToolView| {
                format!(
                    "matrix.arch == '{}' && needs.{}.outputs.{name}",
                    tool.arch, tool.job
                )
            };
            // The last one needs no condition: every leg has one of these architectures.
            let unconditional = format!("needs.{}.outputs.{name}", last.job);
            others
                .iter()
                .map(conditional)
                .chain([unconditional])
                .collect::<Vec<_>>()
                .join(" || ")
        };
        Self {
            artifact: output("artifact"),
            digest: output("digest"),
        }
    }
}

/// A job with its own matrix.
#[derive(Debug, Serialize)]
struct ShardView {
    number: usize,
    job: String,
    needs: String,
    when: String,
    /// The expression for the outputs of its legs.
    reports: String,
    /// The number of legs when the workflow is rendered.
    legs: usize,
    max_parallel: u32,
}

#[derive(Debug, Serialize)]
struct PublishView {
    needs: Vec<String>,
    when: String,
    timeout: u32,
    slow: &'static str,
    make_latest: &'static str,
    prerelease: &'static str,
}

/// The job that reports failed legs.
#[derive(Debug, Serialize)]
struct FailuresView {
    when: String,
    results: String,
}

impl<'a> WorkflowView<'a> {
    pub(super) fn new(
        plan: &'a Plan,
        compat: &Compat,
        agreed: &'a WorkflowOptions,
        uses: BTreeMap<&'static str, String>,
        words: &WorkflowOverrides<'a>,
    ) -> Self {
        let read: Vec<String> = plan
            .groups
            .iter()
            .map(|group| plain(&group.config.locations.source().path))
            .collect();
        let rules = read.first().map(|file| quote(file)).unwrap_or_default();
        let from_source = agreed.workflow.tool == ToolFrom::Source;
        let tools = if from_source {
            tools(plan, compat)
        } else {
            Vec::new()
        };
        let shards = shards(plan, agreed, &tools);
        let files: String = words
            .files
            .iter()
            .map(|file| format!(" {}", quote(&plain(file))))
            .collect();
        let option = |name: &str, value: Option<&str>| {
            value
                .map(|value| format!(" {name} {}", quote(&plain(value))))
                .unwrap_or_default()
        };
        let global = option("--compat", words.compat);
        let options = format!("{global}{}", option("--recipes", words.recipes));
        let slow = plan.file_count() + GENERATED_FILES > compat.uploads_per_hour();
        let tests = tests(plan, agreed, &tools, &shards);
        let leaves = |what: Leaves| plan.groups.iter().any(|group| group.profile.leaves == what);
        let tool_job = from_source.then_some("tool-x86_64");
        let before_publish = || shards.iter().chain(&tests).map(|shard| shard.job.as_str());
        Self {
            generator: words.generator,
            sources: read.join(", "),
            command: format!(
                "rock-matrix{options} render workflow{files}{}",
                option("--out", Some(words.out))
            ),
            name: format!("{} wheels", agreed.distributions.join(" and ")),
            tags: &agreed.workflow.tags,
            pull_requests: agreed.workflow.pr_run_mode != PrRunMode::Skip,
            paths: changes(words),
            uses,
            tool: if from_source { "source" } else { "action" },
            light_tool: ArtifactOutputs::for_leg(
                tools
                    .iter()
                    .find(|tool| tool.arch == "x86_64")
                    .map_or(&[], std::slice::from_ref),
            ),
            leg_tool: ArtifactOutputs::for_leg(&tools),
            program_replaced: format!(
                "{} {}",
                handover::PROGRAM_REPLACED.id,
                handover::PROGRAM_REPLACED.name
            ),
            light: LIGHT,
            options,
            has_tables: words.compat.or(words.compat_overlay).is_some(),
            global,
            files,
            legs: shards
                .iter()
                .map(|shard| format!(" --legs-env LEGS_{}", shard.number))
                .collect(),
            max_legs: plan.job_count().max(1),
            queue: agreed.workflow.queue.word(),
            incremental: agreed.workflow.incremental,
            cache: agreed.workflow.cache == Switch::On,
            attest: agreed.release.attest.word(),
            has_wheels: leaves(Leaves::Wheels) || leaves(Leaves::Sdist),
            profile: match agreed.checked_as {
                CheckProfile::Default => String::new(),
                CheckProfile::Sdk => format!("--profile {} ", agreed.checked_as),
            },
            secrets: &agreed.secrets,
            publish: PublishView {
                needs: std::iter::once("plan")
                    .chain(tool_job)
                    .chain(before_publish())
                    .map(str::to_owned)
                    .collect(),
                when: publish_when(&before_publish().collect::<Vec<_>>()),
                timeout: if slow { PUBLISH_MIN.1 } else { PUBLISH_MIN.0 },
                slow: if slow { " --slow" } else { "" },
                make_latest: agreed.release.make_latest.word(),
                prerelease: agreed.release.prerelease.word(),
            },
            failures: failures(
                &before_publish().collect::<Vec<_>>(),
                agreed.workflow.pr_run_mode,
            ),
            pages: agreed.release.pages,
            pages_needs: needs(std::iter::once("publish").chain(tool_job)),
            rules,
            tools,
            shards,
            tests,
            by_family: plan.tests_by_family(),
        }
    }
}

/// Normalizes a path for GitHub's comparison with the paths of a repository, which have no `./`;
/// the root is `.`.
fn plain(path: &str) -> String {
    match names::without_dots(path) {
        Some(path) if path.is_empty() => ".".to_owned(),
        Some(path) => path,
        None => path.to_owned(),
    }
}

/// Returns patterns of the files whose change may change the plan. If a name would itself be read
/// as a pattern, there are none, so that every change counts.
fn changes(words: &WorkflowOverrides<'_>) -> Vec<String> {
    let has_signs = |path: &&str| path.contains(['*', '?', '[', ']', '!', '+']);
    let folders = || {
        let named = words.recipes.into_iter().chain(words.compat);
        named
            .chain(words.recipe_overlay)
            .chain(words.compat_overlay)
    };
    let sources = || {
        words
            .sources
            .iter()
            .map(|path| plain(path))
            .filter(|path| !path.starts_with(".."))
    };
    if sources().any(|path| has_signs(&path.as_str())) {
        return Vec::new();
    }
    if words
        .files
        .iter()
        .map(String::as_str)
        .chain(folders())
        .any(|path| has_signs(&path))
    {
        return Vec::new();
    }
    let mut files: Vec<String> = words.files.iter().map(|file| plain(file)).collect();
    if files.is_empty() {
        // Include files that a later change adds.
        files.extend(["matrices/*.yaml", "matrices/*.yml"].map(str::to_owned));
    }
    let all = |folder: &str| {
        if folder == "." {
            "**".to_owned()
        } else {
            format!("{folder}/**")
        }
    };
    files.extend(folders().map(|folder| all(&plain(folder))));
    // A source may also be a file.
    files.extend(sources().flat_map(|path| {
        if path == "." {
            vec![all(".")]
        } else {
            vec![path.clone(), all(&path)]
        }
    }));
    files
}

/// Returns one job for each architecture that a job of the plan runs on, and for `x86_64`.
fn tools(plan: &Plan, compat: &Compat) -> Vec<ToolView> {
    let mut arches: BTreeSet<&str> = plan.jobs().map(|job| job.machine().arch.as_str()).collect();
    arches.insert("x86_64");
    let runner = |arch: &str| {
        // The oldest system that GitHub hosts: programs built there run on newer ones.
        let hosted = |row: &&rock_compat::rows::RunnerRow| {
            row.kind == "hosted" && row.arch == arch && row.name.starts_with("ubuntu")
        };
        let row = compat.tables().runners.iter().find(hosted);
        row.and_then(|row| row.labels.first())
            .map_or(LIGHT, String::as_str)
            .to_owned()
    };
    // Most jobs need x86_64, which sorts last.
    let tool = |arch: &str| ToolView {
        arch: arch.to_owned(),
        job: format!("tool-{arch}"),
        name: format!("Build rock-matrix for {arch}"),
        runner: runner(arch),
        artifact: format!("rock-matrix-{arch}"),
    };
    arches.into_iter().rev().map(tool).collect()
}

/// Returns the condition on pull requests that every job starts with. Code of a fork never runs on
/// self-hosted machines.
fn begins(pull_requests: PrRunMode) -> &'static str {
    match pull_requests {
        PrRunMode::Build => {
            "(github.event_name != 'pull_request' || github.event.pull_request.head.repo.full_name == github.repository)"
        }
        PrRunMode::Plan => {
            "github.event_name != 'pull_request' && github.event_name != 'merge_group'"
        }
        PrRunMode::Skip => "github.event_name != 'pull_request'",
    }
}

/// Formats the value of `needs`.
fn needs<'n>(jobs: impl Iterator<Item = &'n str>) -> String {
    match jobs.collect::<Vec<_>>().as_slice() {
        [one] => (*one).to_owned(),
        several => format!("[{}]", several.join(", ")),
    }
}

/// Returns the name of the job of one matrix among several.
fn job_name(word: &str, number: usize, count: usize) -> String {
    if count == 1 {
        word.to_owned()
    } else {
        format!("{word}-{number}")
    }
}

/// The division of the maximum number of parallel legs among the matrices of a workflow.
struct ParallelLegs {
    /// The number of parallel legs of each matrix, at least 1.
    shares: Vec<u32>,
    /// The distance between a matrix and the earlier one that it waits for; `None` if all run at
    /// once.
    lanes: Option<usize>,
}

impl ParallelLegs {
    /// Divides `most` among matrices in proportion to their legs. If there are more matrices than
    /// that, each runs one leg at a time, and waits for the one `most` places before it.
    fn divided(most: u32, legs: &[usize]) -> Self {
        let most = most as usize;
        let mut shares: Vec<u32> = vec![1; legs.len()];
        if legs.len() > most {
            return Self {
                shares,
                lanes: Some(most),
            };
        }
        for _ in legs.len()..most {
            // The matrix whose legs wait longest (D'Hondt's method); the first one of equals.
            let longest = (0..legs.len()).rev().max_by(|&one, &other| {
                (legs[one] * shares[other] as usize).cmp(&(legs[other] * shares[one] as usize))
            });
            if let Some(longest) = longest {
                shares[longest] += 1;
            }
        }
        Self {
            shares,
            lanes: None,
        }
    }

    /// Returns the number of the matrix that this one waits for, if any.
    fn before(&self, number: usize) -> Option<usize> {
        number.checked_sub(self.lanes?)
    }
}

fn shards(plan: &Plan, agreed: &WorkflowOptions, tools: &[ToolView]) -> Vec<ShardView> {
    let (per_matrix, all) = (plan.jobs_per_matrix, plan.job_count());
    let count = all.div_ceil(per_matrix).max(1);
    let legs: Vec<usize> = (0..count)
        .map(|number| (all - number * per_matrix).min(per_matrix))
        .collect();
    let parallel = ParallelLegs::divided(agreed.workflow.max_parallel, &legs);
    let begins = begins(agreed.workflow.pr_run_mode);
    let one = |number: usize| {
        let has_jobs = match number {
            0 => "needs.plan.outputs.count != '0'".to_owned(),
            number => format!("needs.plan.outputs.matrix_{number} != ''"),
        };
        let tools = || tools.iter().map(|tool| tool.job.as_str());
        let before = parallel
            .before(number)
            .map(|before| job_name("build", before, count));
        let when = match before {
            None => format!("{has_jobs} && {begins}"),
            // Regardless of how the earlier matrix ended.
            Some(_) => {
                let ready: String = std::iter::once("plan")
                    .chain(tools())
                    .map(|job| format!("needs.{job}.result == 'success' && "))
                    .collect();
                format!("${{{{ !cancelled() && {ready}{has_jobs} && {begins} }}}}")
            }
        };
        let job = job_name("build", number, count);
        // A matrix without legs in this run is skipped and has no outputs; the first one always has
        // some.
        let reports = match number {
            0 => format!("toJSON(needs.{job}.outputs)"),
            _ => {
                format!("needs.{job}.result != 'skipped' && toJSON(needs.{job}.outputs) || '{{}}'")
            }
        };
        ShardView {
            number,
            job,
            reports,
            needs: needs(
                std::iter::once("plan")
                    .chain(tools())
                    .chain(before.as_deref()),
            ),
            when,
            legs: legs[number].max(1),
            max_parallel: parallel.shares[number],
        }
    };
    (0..count).map(one).collect()
}

/// Returns one job per matrix if the matrix files name a runner for tests.
fn tests(
    plan: &Plan,
    agreed: &WorkflowOptions,
    tools: &[ToolView],
    shards: &[ShardView],
) -> Vec<ShardView> {
    if plan
        .groups
        .iter()
        .all(|group| group.config.test.runner.is_empty())
        && !plan.tests_by_family()
    {
        return Vec::new();
    }
    let tested: Vec<usize> = plan.jobs().map(|job| job.tests().len()).collect();
    let legs: Vec<usize> = tested
        .chunks(plan.jobs_per_matrix)
        .map(|tests| tests.iter().sum())
        .collect();
    let parallel = ParallelLegs::divided(agreed.workflow.max_parallel, &legs);
    let begins = begins(agreed.workflow.pr_run_mode);
    let one = |shard: &ShardView| {
        let before = parallel
            .before(shard.number)
            .map(|before| job_name("gpu-test", before, shards.len()));
        let has_tests = format!("needs.plan.outputs.test_{} != '' && {begins}", shard.number);
        let when = match before {
            None => has_tests,
            // Regardless of how the earlier tests ended, and the builds that this build waited for.
            Some(_) => format!(
                "${{{{ !cancelled() && needs.{}.result == 'success' && {has_tests} }}}}",
                shard.job
            ),
        };
        let tools = tools.iter().map(|tool| tool.job.as_str());
        ShardView {
            number: shard.number,
            job: job_name("gpu-test", shard.number, shards.len()),
            reports: String::new(),
            needs: needs(
                ["plan", &shard.job]
                    .into_iter()
                    .chain(tools)
                    .chain(before.as_deref()),
            ),
            when,
            legs: legs.get(shard.number).copied().unwrap_or_default(),
            max_parallel: parallel.shares.get(shard.number).copied().unwrap_or(1),
        }
    };
    shards.iter().map(one).collect()
}

/// Returns the condition for publishing: the run is for a tag, and every build succeeded. A job
/// without legs in this run is skipped; the first one always has some.
fn publish_when(jobs: &[&str]) -> String {
    let tag = "startsWith(github.ref, 'refs/tags/')";
    let [first, others @ ..] = jobs else {
        return tag.to_owned();
    };
    if others.is_empty() {
        return tag.to_owned();
    }
    let skipped = |job: &&str| {
        format!("(needs.{job}.result == 'success' || needs.{job}.result == 'skipped')")
    };
    let others: Vec<String> = others.iter().map(skipped).collect();
    // Without `${{ }}`, YAML would parse the leading `!` as a tag.
    format!(
        "${{{{ !cancelled() && {tag} && needs.{first}.result == 'success' && {} }}}}",
        others.join(" && ")
    )
}

/// Returns the job that reports failed legs. If a leg failed, nothing is published, and this job
/// runs instead of `publish`. GitHub calls the result of a leg that exceeds its `timeout-minutes`
/// `cancelled`, but `cancelled()` is true only if somebody stopped the run (see
/// <https://github.com/NixOS/nixpkgs/pull/433097>).
fn failures(jobs: &[&str], pull_requests: PrRunMode) -> FailuresView {
    let result = |job: &&str| format!("{job}: ${{{{ needs.{job}.result }}}}");
    FailuresView {
        when: format!(
            "${{{{ !cancelled() && (contains(needs.*.result, 'failure') || contains(needs.*.result, 'cancelled')) && needs.plan.result == 'success' && {} }}}}",
            begins(pull_requests)
        ),
        results: format!(
            "\"{}\"",
            jobs.iter().map(result).collect::<Vec<_>>().join(", ")
        ),
    }
}
