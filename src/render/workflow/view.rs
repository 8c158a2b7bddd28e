//! What the template lays out.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::Words;
use super::options::Agreed;
use crate::compat::Compat;
use crate::config::{CheckProfile, Leaves, PrRunMode, Switch, ToolFrom};
use crate::names;
use crate::plan::Plan;
use crate::render::quote;

/// The runner of jobs that build nothing.
const LIGHT: &str = "ubuntu-24.04";
/// Minutes that publishing may take, and with `--slow`, whose own deadline is 300.
const PUBLISH_MIN: (u32, u32) = (60, 315);
/// Files that GitHub takes of one repository in an hour (docs.github.com, "Rate limits for the REST API": 500 requests
/// that create content), with room for the release itself and what else it has.
const FILES_AN_HOUR: usize = 440;

#[derive(Debug, Serialize)]
pub(super) struct View<'a> {
    generator: &'a str,
    sources: String,
    command: String,
    name: String,
    /// Patterns of the tags that start it.
    tags: &'a [String],
    /// Whether pull requests run anything, and the files whose change makes them.
    pull_requests: bool,
    paths: Vec<String>,
    uses: BTreeMap<&'static str, String>,
    tool: &'static str,
    /// Where the tool is built, one job an architecture; none where the action brings it.
    tools: Vec<Tool>,
    light: &'static str,
    /// Options before the subcommand: for jobs with a checkout, and for those without.
    options: String,
    global: String,
    files: String,
    shards: Vec<Shard>,
    max_parallel: u32,
    queue: &'static str,
    cache: bool,
    /// Whether files are attested: `auto`, `on` or `off`.
    attest: &'static str,
    has_wheels: bool,
    has_sdists: bool,
    has_archives: bool,
    /// What kind of wheels are checked, as an option.
    profile: String,
    secrets: &'a [String],
    /// Jobs that test the wheels of a matrix where a GPU is.
    tests: Vec<Shard>,
    /// Whether a wheel is tested on the runners of several families.
    by_family: bool,
    publish: Publish,
    failures: Failures,
    pages: bool,
    /// The matrix file that says what the index of the pages withdraws: any, since they agree on it.
    rules: String,
}

#[derive(Debug, Serialize)]
struct Tool {
    job: String,
    name: String,
    runner: String,
    artifact: String,
}

/// A job with a matrix of its own.
#[derive(Debug, Serialize)]
struct Shard {
    number: usize,
    job: String,
    needs: String,
    when: String,
}

#[derive(Debug, Serialize)]
struct Publish {
    needs: Vec<String>,
    when: String,
    timeout: u32,
    slow: &'static str,
    make_latest: &'static str,
    /// Whether it may write storage records.
    records: bool,
}

/// The job that says which legs failed.
#[derive(Debug, Serialize)]
struct Failures {
    when: String,
    results: String,
}

impl<'a> View<'a> {
    pub(super) fn new(
        plan: &'a Plan,
        compat: &Compat,
        agreed: &'a Agreed,
        uses: BTreeMap<&'static str, String>,
        words: &Words<'a>,
    ) -> Self {
        let read: Vec<String> = plan.groups.iter().map(|group| plain(&group.config.places.source().path)).collect();
        let rules = read.first().map(|file| quote(file)).unwrap_or_default();
        let from_source = agreed.workflow.tool == ToolFrom::Source;
        let tools = if from_source { tools(plan, compat) } else { Vec::new() };
        let shards = shards(plan, agreed.workflow.pr_run_mode, &tools);
        let files: String = words.files.iter().map(|file| format!(" {}", quote(&plain(file)))).collect();
        let option = |name: &str, value: Option<&str>| {
            value.map(|value| format!(" {name} {}", quote(&plain(value)))).unwrap_or_default()
        };
        let global = option("--compat", words.compat);
        let options = format!("{global}{}", option("--recipes", words.recipes));
        let slow = plan.job_count() > FILES_AN_HOUR;
        let tests = tests(plan, agreed.workflow.pr_run_mode, &tools, &shards);
        let leaves = |what: Leaves| plan.groups.iter().any(|group| group.profile.leaves == what);
        let before_publish = || shards.iter().chain(&tests).map(|shard| shard.job.as_str());
        Self {
            generator: words.generator,
            sources: read.join(", "),
            command: format!("rock-matrix{options} render workflow{files}{}", option("--out", Some(words.out))),
            name: format!("{} wheels", agreed.distributions.join(" and ")),
            tags: &agreed.workflow.tags,
            pull_requests: agreed.workflow.pr_run_mode != PrRunMode::Skip,
            paths: changes(words),
            uses,
            tool: if from_source { "source" } else { "action" },
            light: LIGHT,
            options,
            global,
            files,
            max_parallel: agreed.workflow.max_parallel,
            queue: agreed.workflow.queue.word(),
            cache: agreed.workflow.cache == Switch::On,
            attest: agreed.release.attest.word(),
            has_wheels: leaves(Leaves::Wheels) || leaves(Leaves::Sdist),
            has_sdists: leaves(Leaves::Sdist),
            has_archives: leaves(Leaves::Archive),
            profile: match agreed.checked_as {
                CheckProfile::Default => String::new(),
                CheckProfile::Sdk => format!("--profile {} ", agreed.checked_as),
            },
            secrets: &agreed.secrets,
            publish: Publish {
                needs: std::iter::once("plan").chain(before_publish()).map(str::to_owned).collect(),
                when: publish_when(&before_publish().collect::<Vec<_>>()),
                timeout: if slow { PUBLISH_MIN.1 } else { PUBLISH_MIN.0 },
                slow: if slow { " --slow" } else { "" },
                make_latest: agreed.release.make_latest.word(),
                records: agreed.workflow.artifact_metadata == Switch::On,
            },
            failures: failures(&before_publish().collect::<Vec<_>>(), agreed.workflow.pr_run_mode),
            pages: agreed.release.pages,
            rules,
            tools,
            shards,
            tests,
            by_family: plan.tests_by_family(),
        }
    }
}

/// A path as GitHub compares it with those of a repository, which have no `./`; `.` for the root.
fn plain(path: &str) -> String {
    match names::without_dots(path) {
        Some(path) if path.is_empty() => ".".to_owned(),
        Some(path) => path,
        None => path.to_owned(),
    }
}

/// Patterns of the files whose change may change the plan; none where a name would be read as a pattern itself, so that
/// every change counts.
fn changes(words: &Words<'_>) -> Vec<String> {
    let has_signs = |path: &&str| path.contains(['*', '?', '[', ']', '!', '+']);
    let folders = || words.recipes.into_iter().chain(words.compat);
    if words.files.iter().map(String::as_str).chain(folders()).any(|path| has_signs(&path)) {
        return Vec::new();
    }
    let mut files: Vec<String> = words.files.iter().map(|file| plain(file)).collect();
    if files.is_empty() {
        // Those that a later change adds as well.
        files.extend(["matrices/*.yaml", "matrices/*.yml"].map(str::to_owned));
    }
    let all = |folder: &str| if folder == "." { "**".to_owned() } else { format!("{folder}/**") };
    files.extend(folders().map(|folder| all(&plain(folder))));
    files
}

/// One job for each architecture that a job of the plan runs on, and for `x86_64`.
fn tools(plan: &Plan, compat: &Compat) -> Vec<Tool> {
    let mut arches: BTreeSet<&str> = plan.jobs().map(|job| job.place().arch.as_str()).collect();
    arches.insert("x86_64");
    let runner = |arch: &str| {
        // The oldest system that GitHub hosts: what is built there runs on the newer ones.
        let hosted = |row: &&crate::compat::rows::RunnerRow| {
            row.kind == "hosted" && row.arch == arch && row.name.starts_with("ubuntu")
        };
        let row = compat.tables().runners.iter().find(hosted);
        row.and_then(|row| row.labels.first()).map_or(LIGHT, String::as_str).to_owned()
    };
    // x86_64 is what most jobs need, and sorts last.
    let tool = |arch: &str| Tool {
        job: format!("tool-{arch}"),
        name: format!("Build rock-matrix for {arch}"),
        runner: runner(arch),
        artifact: format!("rock-matrix-{arch}"),
    };
    arches.into_iter().rev().map(tool).collect()
}

/// What every job of a pull request asks first. Code of a fork never runs on machines of one's own.
fn begins(pull_requests: PrRunMode) -> &'static str {
    match pull_requests {
        PrRunMode::Build => {
            "(github.event_name != 'pull_request' || github.event.pull_request.head.repo.full_name == github.repository)"
        }
        PrRunMode::Plan | PrRunMode::Skip => "github.event_name != 'pull_request'",
    }
}

/// `needs` as it stands in the file.
fn needs<'n>(jobs: impl Iterator<Item = &'n str>) -> String {
    match jobs.collect::<Vec<_>>().as_slice() {
        [one] => (*one).to_owned(),
        several => format!("[{}]", several.join(", ")),
    }
}

/// The name of the job of one matrix among several.
fn job_name(word: &str, number: usize, count: usize) -> String {
    if count == 1 { word.to_owned() } else { format!("{word}-{number}") }
}

fn shards(plan: &Plan, pull_requests: PrRunMode, tools: &[Tool]) -> Vec<Shard> {
    let count = plan.job_count().div_ceil(plan.jobs_per_matrix).max(1);
    let one = |number: usize| {
        let has_jobs = match number {
            0 => "needs.plan.outputs.count != '0'".to_owned(),
            number => format!("needs.plan.outputs.matrix_{number} != ''"),
        };
        Shard {
            number,
            job: job_name("build", number, count),
            needs: needs(std::iter::once("plan").chain(tools.iter().map(|tool| tool.job.as_str()))),
            when: format!("{has_jobs} && {}", begins(pull_requests)),
        }
    };
    (0..count).map(one).collect()
}

/// One job for each matrix, where the matrix files name a runner for tests.
fn tests(plan: &Plan, pull_requests: PrRunMode, tools: &[Tool], shards: &[Shard]) -> Vec<Shard> {
    if plan.groups.iter().all(|group| group.config.test.runner.is_empty()) && !plan.tests_by_family() {
        return Vec::new();
    }
    let one = |shard: &Shard| Shard {
        number: shard.number,
        job: job_name("gpu-test", shard.number, shards.len()),
        needs: needs(["plan", &shard.job].into_iter().chain(tools.iter().map(|tool| tool.job.as_str()))),
        when: format!("needs.plan.outputs.test_{} != '' && {}", shard.number, begins(pull_requests)),
    };
    shards.iter().map(one).collect()
}

/// Publishing follows the builds of a tag when every one of them succeeded; a job that has no legs today is skipped, and
/// the first one always has some.
fn publish_when(jobs: &[&str]) -> String {
    let tag = "startsWith(github.ref, 'refs/tags/')";
    let [first, others @ ..] = jobs else { return tag.to_owned() };
    if others.is_empty() {
        return tag.to_owned();
    }
    let skipped = |job: &&str| format!("(needs.{job}.result == 'success' || needs.{job}.result == 'skipped')");
    let others: Vec<String> = others.iter().map(skipped).collect();
    // Bare, YAML would take the first sign for that of a tag.
    format!("${{{{ !cancelled() && {tag} && needs.{first}.result == 'success' && {} }}}}", others.join(" && "))
}

/// Where a leg failed nothing is published, and that job is told instead of `publish`. GitHub calls the result of a leg
/// that ran out of its `timeout-minutes` `cancelled`, and means by `cancelled()` only that somebody stopped the run (see
/// <https://github.com/NixOS/nixpkgs/pull/433097>).
fn failures(jobs: &[&str], pull_requests: PrRunMode) -> Failures {
    let result = |job: &&str| format!("{job}: ${{{{ needs.{job}.result }}}}");
    Failures {
        when: format!(
            "${{{{ !cancelled() && (contains(needs.*.result, 'failure') || contains(needs.*.result, 'cancelled')) && needs.plan.result == 'success' && {} }}}}",
            begins(pull_requests)
        ),
        results: format!("\"{}\"", jobs.iter().map(result).collect::<Vec<_>>().join(", ")),
    }
}
