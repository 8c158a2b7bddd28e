//! Workflows that somebody wrote: every action that one of ours uses, or an example or a template,
//! is one of the facts, by its commit; and those that run here, and those that tests render, have
//! what one asks of a workflow.

use regex::Regex;
use rock_matrix::compat::Compat;
use serde_json::Value;

use crate::none;
use crate::sources::{self, SourceFile};

/// This project's own action has no row before its first release; templates name it by its major
/// version.
const OWN: &str = "org/rock-action";

/// Where the rendered workflows of the tests lie.
const RENDERED: &str = "tests/it/render_a_workflow/";

/// What stands after `uses:`, with the comment behind it.
fn uses(text: &str) -> Vec<String> {
    let line = Regex::new(r"(?m)^\s*(?:- )?(?:\{?\s*)uses:\s*(.+?)\s*$").unwrap();
    line.captures_iter(text)
        .map(|found| found[1].trim_matches(['"', '\'']).to_owned())
        .collect()
}

/// Why it is not a pin of the facts. A template's `<< >>` is filled with the facts when it is
/// rendered.
fn fault(used: &str, compat: &Compat) -> Option<String> {
    let (reference, comment) = used.split_once(" # ").unwrap_or((used, ""));
    if reference.starts_with("<<")
        || reference.starts_with("./")
        || reference.starts_with(&format!("{OWN}@"))
    {
        return None;
    }
    let Some((action, commit)) = reference.split_once('@') else {
        return Some(format!("`{used}` has no commit"));
    };
    let repository = action.splitn(3, '/').take(2).collect::<Vec<_>>().join("/");
    let Some(row) = compat.action(&repository) else {
        return Some(format!("the facts have no `{repository}`"));
    };
    if commit.starts_with("<<") && comment.starts_with("<<") {
        return None;
    }
    (commit != row.sha || comment != row.version)
        .then(|| format!("`{used}`, but the facts say {} # {}", row.sha, row.version))
}

/// Workflows and actions: those that run, and what they are rendered of.
fn workflows() -> impl Iterator<Item = SourceFile> {
    let is_yaml = |path: &str| path.ends_with(".yml") || path.ends_with(".yaml");
    let folders = [
        ".github/",
        "templates/",
        "examples/",
        "action/",
        "tests/real/",
        RENDERED,
    ];
    sources::all().into_iter().filter(move |file| {
        is_yaml(&file.path)
            && (file.path == "action.yml"
                || folders.iter().any(|folder| file.path.starts_with(folder)))
    })
}

#[test]
fn every_action_used_is_pinned_by_the_facts() {
    let compat = Compat::embedded();
    let mut seen = 0;
    let mut faults = Vec::new();
    for file in workflows() {
        let used = uses(&file.text);
        seen += used.len();
        faults.extend(
            used.iter()
                .filter_map(|used| Some(format!("{}: {}", file.path, fault(used, &compat)?)))
                .collect::<Vec<_>>(),
        );
    }
    assert!(seen > 10, "only {seen} uses were found");
    none("actions", &faults);
}

/// A row that nothing uses would be kept up to date for nothing.
#[test]
fn every_action_of_the_facts_is_used() {
    let used: Vec<String> = workflows().flat_map(|file| uses(&file.text)).collect();
    let is_used = |name: &str| {
        used.iter()
            .filter_map(|used| used.strip_prefix(name))
            .any(|rest| rest.starts_with(['@', '/']))
    };
    let compat = Compat::embedded();
    let rows = compat.tables().actions.iter().map(|row| row.name.as_str());
    none(
        "actions that nothing uses",
        &rows
            .filter(|name| !is_used(name))
            .map(str::to_owned)
            .collect::<Vec<_>>(),
    );
}

/// What is missing in a workflow: least rights with their reasons, time-outs, names, bash, scripts
/// without expressions.
fn hygiene(text: &str, compat: &Compat) -> Vec<String> {
    let workflow: Value = match serde_yaml::from_str(text) {
        Ok(workflow) => workflow,
        Err(fault) => return vec![fault.to_string()],
    };
    let mut faults = Vec::new();
    let mut want = |holds: bool, what: String| faults.extend((!holds).then_some(what));
    want(
        workflow["permissions"] == serde_json::json!({}),
        "rights at the top".to_owned(),
    );
    want(
        workflow["concurrency"]["group"].is_string(),
        "no concurrency".to_owned(),
    );
    let is_hosted = |label: &str| compat.runner(label).is_some_and(|row| row.kind == "hosted");
    for (id, job) in workflow["jobs"].as_object().into_iter().flatten() {
        want(job["name"].is_string(), format!("{id} has no name"));
        want(
            job["permissions"].is_object(),
            format!("{id} does not say its rights"),
        );
        let timeout = &job["timeout-minutes"];
        let is_short = timeout.as_u64().is_some_and(|minutes| minutes <= 360);
        want(
            is_short || timeout == "${{ fromJSON(matrix.timeout) }}",
            format!("{id} has no time-out"),
        );
        want(
            job["secrets"] != "inherit",
            format!("{id} hands on every secret"),
        );
        let writes = job["permissions"]
            .as_object()
            .is_some_and(|rights| rights.values().any(|right| right == "write"));
        let stops = |at: &Value| at["concurrency"]["cancel-in-progress"] == true;
        want(
            !writes || !stops(job) && !stops(&workflow),
            format!("{id} writes, and can be stopped"),
        );
        // A label of one's own would have to be told to actionlint, and a moving one changes what
        // is built.
        let legs = job["strategy"]["matrix"]["include"]
            .as_array()
            .into_iter()
            .flatten();
        let runners = legs
            .map(|leg| &leg["runner"])
            .chain([&job["runs-on"]])
            .filter_map(Value::as_str);
        for runner in runners.filter(|runner| !runner.starts_with("${{ ")) {
            want(
                is_hosted(runner),
                format!("{id} runs on `{runner}`, which the facts do not have"),
            );
        }
        for (number, step) in job["steps"].as_array().into_iter().flatten().enumerate() {
            let at = format!("{id}, step {}", number + 1);
            want(step["name"].is_string(), format!("{at} has no name"));
            if let Some(script) = step["run"].as_str() {
                want(step["shell"] == "bash", format!("{at} does not name bash"));
                want(
                    !script.contains("${{"),
                    format!("{at} has an expression in its script"),
                );
            }
            let is_checkout = step["uses"]
                .as_str()
                .is_some_and(|used| used.starts_with("actions/checkout@"));
            want(
                !is_checkout || step["with"]["persist-credentials"] == false,
                format!("{at} keeps credentials"),
            );
        }
    }
    let right = Regex::new(r"^\s+[a-z-]+: (read|write)$").unwrap();
    faults.extend(
        text.lines()
            .filter(|line| right.is_match(line))
            .map(|line| format!("`{}` has no reason", line.trim())),
    );
    faults
}

#[test]
fn the_workflows_of_this_repository_and_rendered_ones_are_clean() {
    let compat = Compat::embedded();
    let is_one = |path: &str| path.starts_with(".github/workflows/") || path.starts_with(RENDERED);
    let own: Vec<_> = workflows().filter(|file| is_one(&file.path)).collect();
    let names: Vec<&str> = own
        .iter()
        .filter_map(|file| file.path.rsplit('/').next())
        .collect();
    for name in ["ci.yml", "release.yml", "wheels.yml", "everything.yml"] {
        assert!(names.contains(&name), "{names:?}");
    }
    let faults = own.iter().flat_map(|file| {
        hygiene(&file.text, &compat)
            .into_iter()
            .map(|fault| format!("{}: {fault}", file.path))
    });
    none("workflows", &faults.collect::<Vec<_>>());
    let planted = "on: push\njobs:\n  a:\n    runs-on: ubuntu-latest\n    permissions:\n      contents: write\n    steps:\n      \
                   - run: echo ${{ github.actor }}\n      - uses: actions/checkout@v7\n";
    assert_eq!(
        hygiene(planted, &compat).len(),
        11,
        "{:#?}",
        hygiene(planted, &compat)
    );
    let planted = "permissions: {}\nconcurrency: {group: x, cancel-in-progress: true}\njobs:\n  a:\n    name: A\n    secrets: inherit\n    \
                   timeout-minutes: 400\n    permissions: {contents: write}\n    strategy: {matrix: {include: [{runner: mi300x}]}}\n    runs-on: ${{ matrix.runner }}\n";
    assert_eq!(
        hygiene(planted, &compat).len(),
        4,
        "{:#?}",
        hygiene(planted, &compat)
    );
}

#[test]
fn planted_faults_of_actions_are_caught() {
    let compat = Compat::embedded();
    let row = compat.action("actions/checkout").unwrap();
    let pinned = format!("actions/checkout@{} # {}", row.sha, row.version);
    let text = format!(
        "steps:\n  - uses: {pinned}\n  - name: x\n    uses: \"actions/nothing@v1\"\n# uses: not/this@v1\n"
    );
    assert_eq!(uses(&text), [pinned.as_str(), "actions/nothing@v1"]);
    assert_eq!(fault(&pinned, &compat), None);
    assert_eq!(fault("<< uses.checkout >>", &compat), None);
    assert_eq!(
        fault(
            "actions/checkout@<< checkout.sha >> # << checkout.version >>",
            &compat
        ),
        None
    );
    assert_eq!(fault("org/rock-action@v1", &compat), None);
    for wrong in [
        "actions/checkout@v7".to_owned(),
        "actions/checkout".to_owned(),
        format!("actions/checkout@{}", row.sha),
        format!("actions/checkout@{} # v1.0.0", row.sha),
        format!("actions/checkout@{} # {}", "0".repeat(40), row.version),
        "actions/nothing@3d3c42e5aac5ba805825da76410c181273ba90b1 # v1.0.0".to_owned(),
    ] {
        assert!(fault(&wrong, &compat).is_some(), "{wrong}");
    }
}
