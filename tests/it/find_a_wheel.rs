//! A person finds their wheel on the page: one file that decides as `pick` does, asks nothing of
//! the network, and lets no name become markup.

use std::collections::BTreeSet;
use std::io::Write as _;

use rock_matrix::compat::Compat;
use rock_matrix::finder;
use rock_matrix::pick::{
    self, MatchNote, MatchRules, PickDecision, TargetMachine, WheelCandidate, WheelOffers,
};
use serde_json::{Value, json};

use crate::support::Project;

const PYTHONS: [&str; 5] = [
    "cp310-cp310",
    "cp312-cp312",
    "cp313-cp313t",
    "cp39-abi3",
    "py3-none",
];
const PLATFORMS: [&str; 5] = [
    "linux_x86_64",
    "manylinux_2_28_x86_64",
    "manylinux2014_x86_64.manylinux_2_17_x86_64",
    "musllinux_1_2_x86_64",
    "any",
];
/// `Requires-Python` with a hole, and with one patch release, among them.
const REQUIRES: [Option<&str>; 6] = [
    Some(">=3.9,<3.14"),
    None,
    Some(">=3.8,!=3.12.*"),
    None,
    Some(">=3.9,<3.14"),
    Some("==3.13.4"),
];
const LABELS: [&str; 12] = [
    "+rocm62torch2.5",
    "+rocm6.2.4torch2.6",
    "+rocm64torch2.9",
    "+rocm64torch2.9triton",
    "+rocm71torch2.10",
    "+rocm7.14torch2.14",
    "+rocm714torch2.14",
    "+rocm72torch2.15dev20261101",
    "+rocm52",
    "+cu124torch2.5",
    "+rocm72torch2.14git4a948e9",
    "",
];

/// Wheels with everything that names can say, some with a manifest that says more.
fn wheels() -> Vec<WheelCandidate> {
    let mut files = Vec::new();
    for (number, label) in LABELS.iter().enumerate() {
        for (at, python) in PYTHONS.iter().enumerate() {
            let platform = PLATFORMS[(number + at) % PLATFORMS.len()];
            for project in [
                "flash_attn-2.8.3",
                "flash_attn-2.9.0rc1",
                "rmx_vecadd-0.1.0",
            ] {
                let build = if (number + at) % 7 == 0 { "-2" } else { "" };
                let name = format!("{project}{label}{build}-{python}-{platform}.whl");
                let gfx = match (number * 5 + at) % 4 {
                    0 => None,
                    1 => Some(json!(["gfx90a", "gfx942"])),
                    2 => Some(json!(["gfx1100", "gfx1151:xnack-", "gfx120X-all"])),
                    _ => Some(json!([])),
                };
                let requires = REQUIRES[(number + at) % REQUIRES.len()];
                files.push(file_row(&name, gfx, requires));
            }
        }
    }
    for name in [
        "torch",
        "amd_torch_device_gfx942",
        "amd_torch_device_gfx9_4",
        "amd_torch_device_gfx1100",
    ] {
        files.push(file_row(
            &format!("{name}-2.13.0+rocm10.0.0-cp312-cp312-linux_x86_64.whl"),
            None,
            None,
        ));
    }
    for (version, majors) in [("0.2.0", json!([7])), ("0.3.0", json!([6, 7]))] {
        let name = format!("rmx_vecadd-{version}-cp312-cp312-linux_x86_64.whl");
        let mut row = file_row(&name, Some(json!(["gfx942"])), None);
        row["needs_rocm"] = majors;
        files.push(row);
    }
    for label in ["rocm6.4torch2.9", "rocm7.14torch2.10"] {
        let name = format!("rmx_vecadd-0.4.0+{label}-cp312-cp312-linux_x86_64.whl");
        let mut row = file_row(&name, Some(json!([])), None);
        row["gfx_from"] = "wheel".into();
        files.push(row);
    }
    let manifest = json!({"version": 1, "tag": "v1+2", "plan": null, "files": files}).to_string();
    let mut offers = WheelOffers::default();
    offers.add_manifest(
        &rock_matrix::publish::ReleaseManifest::from_json(&manifest).unwrap(),
        "https://example.org/v1%2B2/",
    );
    offers.add_names(["odd-1-py3-none-any.whl"], "file:///srv/a%20b/");
    pick::candidates(
        offers.into_wheels(),
        &Compat::embedded(),
        pick::PrereleaseMode::IfNecessary,
    )
}

fn file_row(name: &str, gfx: Option<Value>, requires: Option<&str>) -> Value {
    let mut parts = name.split('-');
    let (project, version) = (
        parts.next().unwrap().replace('_', "-"),
        parts.next().unwrap().split('+').next().unwrap(),
    );
    let mut row = json!({
        "name": name, "sha256": "ab".repeat(32), "size_bytes": 123_456_789, "distribution": project, "version": version,
        "label": null, "accelerator": null, "torch": null, "git": null, "backend": null, "build": null, "python": [],
        "abi": [], "platform": [], "covers": [], "requires_python": requires, "metadata_sha256": null, "index": "",
    });
    if let Some(gfx) = gfx {
        row["gfx"] = gfx;
    }
    row
}

/// Numbers that look random and are the same in every run (a linear congruential generator, Knuth's
/// constants).
struct Numbers(u64);

impl Numbers {
    fn of<'a, T>(&mut self, choices: &'a [T]) -> &'a T {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        &choices[usize::try_from(self.0 >> 33).unwrap() % choices.len()]
    }
}

/// What a person could choose on the page.
fn texts(numbers: &mut Numbers) -> Value {
    json!({
        "distribution": numbers.of(&[None, Some("flash-attn"), Some("rmx-vecadd"), Some("flash-attn")]),
        "rocm": numbers.of(&[None, Some("5.2"), Some("6.2"), Some("6.2.3"), Some("6.4.1"), Some("7.1"), Some("7.2"), Some("7.14"), Some("10.1")]),
        "torch": numbers.of(&[None, Some("2.5.1"), Some("2.6"), Some("2.9.1+rocm6.4"), Some("2.10.0"), Some("2.14"), Some("2.15.0.dev20261101"), Some("2.14.0rc1")]),
        "python": numbers.of(&[None, Some("3.8"), Some("3.10"), Some("3.12"), Some("3.13"), Some("3.13t"), Some("3.14"), Some("2.7")]),
        "gfx": numbers.of(&[vec![], vec!["gfx942"], vec!["gfx1100", "gfx1036"], vec!["gfx1200", "gfx1151"], vec!["gfx90a:xnack-"]]),
        "backend": numbers.of(&[None, None, Some("default"), Some("triton"), Some("ck")]),
        "platform": numbers.of(&[None, Some("linux_x86_64"), Some("linux_x86_64"), Some("linux_aarch64"), Some("win_amd64")]),
        "libc": numbers.of(&[None, Some("glibc 2.17"), Some("glibc 2.35"), Some("musl 1.2"), Some("musl")]),
    })
}

fn machine(texts: &Value) -> TargetMachine {
    let text = |name: &str| texts[name].as_str();
    let gfx = texts["gfx"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(Value::as_str);
    TargetMachine {
        distribution: text("distribution").map(str::to_owned),
        rocm: text("rocm").map(|text| text.parse().unwrap()),
        detected: pick::DetectedProperties::default(),
        torch: text("torch").map(|text| text.parse().unwrap()),
        python: text("python").map(|text| text.parse().unwrap()),
        gfx: gfx
            .map(|text| text.split(':').next().unwrap().to_owned())
            .collect(),
        backend: text("backend").map(str::to_owned),
        platform: text("platform").map(str::to_owned),
        libc: text("libc").map(|text| text.parse().unwrap()),
        foreign_torch: None,
        has_no_torch: false,
    }
}

fn expected(decision: &PickDecision) -> Value {
    let notes = |notes: &[MatchNote]| {
        notes
            .iter()
            .map(|note| json!([note.axis.key(), note.text]))
            .collect::<Vec<_>>()
    };
    let near = decision.near.iter().map(|near| {
        let differences = near.differences.iter().map(|one| json!([one.axis.key(), one.to_string()]));
        json!([near.index, {"notes": notes(&near.notes), "differences": differences.collect::<Vec<_>>()}])
    });
    json!({
        "fits": decision.fits.iter().map(|fit| fit.index).collect::<Vec<_>>(),
        "best": decision.fits.iter().take(1).map(|fit| notes(&fit.notes)).collect::<Vec<_>>(),
        "near": near.collect::<Vec<_>>(),
    })
}

/// Reports of doctor, right and wrong, and what a machine is by them.
fn reports() -> Vec<Value> {
    let python = |torch: &str, hip: &str| {
        format!(
            r#"{{"build": {{"gfx": ["gfx942", "gfx90a:sramecc+", "nonsense"]}}, "rocm": [{{"version": "7.2.1-43"}}],
                "hip_version": "6.1.1", "python": {{"version": "3.13", "free_threaded": true, "platform": "linux_x86_64",
                "libc": "glibc 2.39", "torch": {torch}, "torch_hip": {hip}}}}}"#
        )
    };
    let texts = [
        python("\"2.9.1+rocm6.4\"", "\"6.4.43482\""),
        python("\"2.15.0.dev20261101\"", "\"7.2.53211-abc\""),
        python("\"2.10.0a0+git123\"", "null"),
        python("\"2.13.0\"", "\"7.15.26333\""),
        python("\"2.14.0\"", "\"7.16.26385-abc\""),
        python("\"2.99.0\"", "\"7.99.1\""),
        python("\"2.9.1+cpu\"", "null"),
        python("\"2.5.1+cu124\"", "null"),
        python("\"2.5.1+cuda12.4\"", "null"),
        python("\"2.9.1+xpu\"", "null"),
        python("\"2.9.1+custom\"", "null"),
        python("\"not a version\"", "null"),
        python("null", "null"),
        r#"{"build": {"gfx": ["gfx1151"]}, "overrides": {"runtime_gfx": "gfx1100"}, "hip_version": "5.2.21153"}"#
            .to_owned(),
        r#"{"build": {}, "python": null, "rocm": [{"version": "6"}]}"#.to_owned(),
        r#"{"build": {}, "hip_version": "7.15.26333"}"#.to_owned(),
        r#"{"build": {}, "hip_version": "8"}"#.to_owned(),
        r#"{"build": {}, "python": {"version": "3", "libc": "musl"}}"#.to_owned(),
        "{}".to_owned(),
        "[]".to_owned(),
        "doctor".to_owned(),
        String::new(),
    ];
    let known = |report: String| {
        let expected = TargetMachine::from_json(&report, &Compat::embedded())
            .ok()
            .map(|machine| {
                json!({
                    "rocm": machine.rocm.map(|rocm| rocm.to_string()),
                    "torch": machine.torch.map(|torch| torch.to_string()),
                    "python": machine.python.map(|python| python.to_string()),
                    "gfx": machine.gfx,
                    "platform": machine.platform,
                    "libc": machine.libc.map(|libc| libc.to_string()),
                    "foreignTorch": machine.foreign_torch,
                })
            });
        json!({"report": report, "expected": expected})
    };
    texts.map(known).into()
}

#[test]
fn the_page_decides_as_pick_does() {
    const MACHINES: usize = 2000;
    let mut all = wheels();
    for wheel in all.iter_mut().step_by(4) {
        wheel.offer.yanked = Some(String::new());
    }
    let (wheels, yanked) = pick::split(all.clone());
    let compat = Compat::embedded();
    let rules = MatchRules::of(&compat);
    let data = finder::data(
        &wheels,
        &rules,
        &finder::choices(&wheels, &compat),
        None,
        yanked.len(),
    );
    let mut passed_over = 0;
    let mut numbers = Numbers(7);
    let cases: Vec<Value> = std::iter::repeat_with(|| texts(&mut numbers))
        .take(MACHINES)
        .map(|texts| {
            let machine = machine(&texts);
            let decision = pick::decide(&wheels, &machine, &rules);
            // What is yanked changes nothing among the others.
            let fits = |wheels: &[WheelCandidate], decision: &PickDecision| {
                let offers = decision.fits.iter().map(|fit| &wheels[fit.index].offer);
                let offered = offers.filter(|offer| offer.yanked.is_none());
                offered.map(|offer| offer.file.clone()).collect::<Vec<_>>()
            };
            let of_all = pick::decide(&all, &machine, &rules);
            assert_eq!(fits(&wheels, &decision), fits(&all, &of_all));
            let of_yanked = pick::decide(&yanked, &machine, &rules);
            let missed = pick::passed_over((&wheels, &decision), (&yanked, &of_yanked));
            assert_eq!(missed.len() + decision.fits.len(), of_all.fits.len());
            passed_over += missed.len();
            json!({"texts": texts, "expected": expected(&decision)})
        })
        .collect();
    assert!(
        passed_over > MACHINES / 5,
        "{passed_over} yanked wheels fit"
    );
    let fitting = cases
        .iter()
        .filter(|case| !case["expected"]["fits"].as_array().unwrap().is_empty())
        .count();
    assert!(
        (MACHINES / 5..MACHINES * 4 / 5).contains(&fitting),
        "{fitting} of {MACHINES} cases have a wheel"
    );
    let lines: Vec<Value> = wheels
        .iter()
        .map(|wheel| {
            let lines = wheel
                .install_lines(&BTreeSet::from(["gfx942".to_owned()]))
                .unwrap();
            json!([
                wheel.offer.file,
                wheel.offer.url,
                lines.with_torch,
                lines.from_nothing
            ])
        })
        .collect();
    let document = json!({"data": data, "cases": cases, "reports": reports(), "lines": lines});
    let project = Project::new()
        .file("agree.js", include_str!("find_a_wheel/agree.js"))
        .file("decide.js", finder::SCRIPT)
        .file("cases.json", &document.to_string());
    let node = std::process::Command::new("node")
        .args(["agree.js", "decide.js", "cases.json"])
        .current_dir(project.root())
        .output();
    let Ok(node) = node else {
        // The real stage `finder` runs the page in Chromium and compares it with the program.
        writeln!(
            std::io::stderr(),
            "SKIP: node is not installed, so the page's decision was not compared"
        )
        .unwrap();
        return;
    };
    let stdout = String::from_utf8(node.stdout).unwrap();
    assert!(
        node.status.success(),
        "{}",
        String::from_utf8_lossy(&node.stderr)
    );
    assert_eq!(
        stdout.lines().take(3).collect::<Vec<_>>().join("\n"),
        format!(
            "compared {MACHINES} machines, {} reports and {} addresses",
            reports().len(),
            lines.len()
        )
    );
}

const LISTING: &str = r#"[{"id": 1, "tag_name": "v1<script>alert(1)</script>", "assets": [
    {"name": "flash_attn-2.8.3+rocm64torch2.9-cp312-cp312-linux_x86_64.whl", "size": 7, "browser_download_url":
     "https://github.com/o/r/releases/download/v1/flash_attn-2.8.3+rocm64torch2.9-cp312-cp312-linux_x86_64.whl"}]}]"#;

fn page(title: &str) -> String {
    let project = Project::new().file("releases.json", LISTING);
    let written = project
        .run(&[
            "report",
            "page",
            "--published",
            "releases.json",
            "--title",
            title,
        ])
        .exits(0);
    written.stdout
}

#[test]
fn no_name_and_no_title_becomes_markup() {
    let text = page("</title><script>alert(2)</script> \"&");
    assert!(text.contains(
        "<title>&lt;/title&gt;&lt;script&gt;alert(2)&lt;/script&gt; &quot;&amp;</title>"
    ));
    assert!(
        text.contains(r"v1\u003cscript>alert(1)\u003c/script>"),
        "the data cannot end its element"
    );
    assert_eq!(
        text.matches("<script").count(),
        2,
        "one for the data, one for the script"
    );
    let script = text.rsplit_once("<script>").unwrap().1;
    for word in [
        "innerHTML",
        "outerHTML",
        "insertAdjacentHTML",
        "document.write",
        "eval(",
        "new Function",
        "fetch(",
        "XMLHttp",
    ] {
        assert!(!script.contains(word), "the script uses {word}");
    }
}

#[test]
fn the_page_asks_nothing_of_the_network_and_runs_only_its_own_script() {
    let text = page("Wheels");
    let policy = text
        .split("Content-Security-Policy\" content=\"")
        .nth(1)
        .unwrap()
        .split('"')
        .next()
        .unwrap();
    assert!(
        policy.starts_with("default-src 'none'; script-src 'sha256-"),
        "{policy}"
    );
    assert!(
        !policy.contains("unsafe") && !policy.contains("http"),
        "{policy}"
    );
    let links = regex::Regex::new(r#"(?:src|href|url)\s*[=(]\s*["']?([^"'\s>)]+)"#).unwrap();
    let head = text.split("<script").next().unwrap();
    let found: Vec<&str> = links
        .captures_iter(head)
        .map(|found| found.get(1).unwrap().as_str())
        .collect();
    assert_eq!(found, ["data:,", "#answer-heading"]);
}

#[test]
fn the_page_is_small_and_written_once() {
    let project = Project::new().file("releases.json", LISTING);
    let arguments = [
        "report",
        "page",
        "--published",
        "releases.json",
        "--out",
        "site/index.html",
    ];
    std::fs::create_dir(project.path("site")).unwrap();
    let first = project.run(&arguments).exits(0).stderr;
    assert_eq!(first, "1 wheel on the page\nwrote site/index.html\n");
    assert_eq!(
        project.run(&arguments).exits(0).stderr,
        "1 wheel on the page\nunchanged: site/index.html\n"
    );
    let check = [&arguments[..], &["--check"]].concat();
    project.run(&check).exits(0);
    let text = project.read("site/index.html");
    // The data are one long line, of which the difference is shown.
    std::fs::write(
        project.path("site/index.html"),
        text.replace("2.8.3", "2.8.4"),
    )
    .unwrap();
    let stderr = project.run(&check).exits(1).stderr;
    let line = stderr
        .lines()
        .find(|line| line.starts_with("site/index.html:"))
        .unwrap();
    assert!(line.contains("…") && line.chars().count() < 300, "{line}");
    std::fs::write(project.path("site/index.html"), "another").unwrap();
    project.run(&check).exits(1);
    assert_eq!(project.read("site/index.html"), "another");
    let (_, rest) = text.split_once("id=\"data\">").unwrap();
    let data = rest.split("</script>").next().unwrap().len();
    assert!(
        text.len() - data < 100_000,
        "{} bytes beside the data",
        text.len() - data
    );
}

#[test]
fn a_base_address_is_where_the_wheels_of_a_manifest_are() {
    let manifest = json!({"version": 1, "tag": null, "plan": null, "files": [file_row("a-1+rocm64-py3-none-any.whl", None, None)]});
    let project = Project::new().file("rock-manifest.json", &manifest.to_string());
    let arguments = [
        "report",
        "page",
        "--published",
        "rock-manifest.json",
        "--base-url",
    ];
    let run = |url: &str| project.run(&[&arguments[..], &[url]].concat());
    let served = run("https://example.org/r/").exits(0);
    assert!(served.stdout.contains(r#"[["","https://example.org/r/"]]"#));
    assert_eq!(served.stderr, "");
    // Without one they lie on this machine, and a deployed page leads nowhere.
    let local = project.run(&arguments[..4]).exits(0);
    assert!(local.stdout.contains("file://"), "{}", local.stdout);
    let expected =
        "warning[G307 address-of-this-machine]: the page links to 1 wheel on this machine only";
    assert!(
        local.stderr.starts_with(expected) && local.stderr.contains("`--base-url`"),
        "{}",
        local.stderr
    );
    let refused = run("https://example.org/?x").exits(1).stderr;
    assert!(refused.starts_with("error[G015 bad-base-url]"), "{refused}");
}
