//! `compat`: tables, questions, and facts folders with something wrong in them.

use crate::support::Project;

/// The first line of what is said when a command fails.
#[track_caller]
fn fault(project: &Project, arguments: &[&str], code: i32) -> String {
    let stderr = project.run(arguments).exits(code).stderr;
    assert!(stderr.contains("\nhelp: "), "{stderr}");
    stderr.lines().next().unwrap_or_default().to_owned()
}

#[test]
fn a_question_is_answered_with_the_row_it_rests_on() {
    let project = Project::new();
    let stdout = project
        .run(&["compat", "explain", "torch=2.6.0", "rocm=6.2"])
        .exits(1)
        .stdout;
    insta::assert_snapshot!(stdout, @r"
    torch 2.6.0 with ROCm 6.2: no
      because: torch 2.6.0 has wheels for ROCm 6.1 and 6.2.4, not 6.2
      help: use ROCm 6.2.4; AMD's index (`torch-from: amd-index`) may have both, but no table lists its wheels
    ");
    let stdout = project
        .run(&["compat", "explain", "torch=2.6.0", "rocm=6.2", "-v"])
        .exits(1)
        .stdout;
    assert!(
        stdout.contains("  from: compat/torch.yaml, torch 2.6, checked 2026-"),
        "{stdout}"
    );
    assert!(
        stdout.contains("  read in: pytorch/test-infra "),
        "{stdout}"
    );
}

/// Facts of a made-up world, so that new releases change no answer.
const SMALL_FACTS: &str = r#"
sources: {pages: "the pages of its makers"}
torch:
  - {torch: "3.0", patches: ["3.0.0"], rocm-index: ["8.0"], python: ["3.12"], origin: &o {status: verified, source: pages, ref: page 1, checked: 2026-11-26}}
  - {torch: "3.1", patches: ["3.1.0", "3.1.1"], rocm-index: ["8.0", "8.1"], python: ["3.12", "3.13"], free-threaded: ["3.13t"], origin: *o}
rocm:
  - {rocm: "8.0", origin: *o}
  - {rocm: "8.1", origin: *o}
torch-gfx:
  - {rocm: ["8.1"], gfx: [gfx942, gfx1201], origin: *o}
rocm-gfx:
  - {rocm: ["8.0"], gfx: [gfx942], origin: *o}
gfx-since:
  - {gfx: gfx1201, rocm: "8.1", origin: *o}
products:
  - {product: rx9070, name: Radeon RX 9070, gfx: gfx1201, rocm: "8.1", origin: *o}
attention:
  - {library: aotriton, title: AOTriton, gfx: [gfx1201], torch: ">=3.1", needs: EXPERIMENTAL=1, reason: so, origin: *o}
packages:
  - {package: flash-attn, version: "2.8.3", tag: v2.8.3, python-min: "3.9", backends: [ck, triton], gfx: {ck: [gfx942]}, env: [], origin: *o}
"#;

#[test]
fn one_value_is_answered_with_what_works_with_it() {
    let project = Project::new().file("facts/all.yaml", SMALL_FACTS);
    let explain = |words: &[&str]| {
        project
            .run(&[&["compat", "explain", "--compat", "facts"], words].concat())
            .exits(0)
            .stdout
    };
    insta::assert_snapshot!(explain(&["gfx=rx9070"]), @r"
    gfx1201 (Radeon RX 9070)
      ROCm        8.1 or later can compile for it
                  8.1 or later supports the Radeon RX 9070
      torch       official wheels contain code for it: 3.1 for ROCm 8.1
      flash-attn  2.8.3: triton
      attention   AOTriton with torch >=3.1, needs EXPERIMENTAL=1
    ");
    insta::assert_snapshot!(explain(&["rocm=8.1"]), @r"
    ROCm 8.1
      torch  3.1 have official wheels for it
      GPUs   torch's wheels contain code for gfx942 and gfx1201
    ");
    insta::assert_snapshot!(explain(&["torch=3.1.1"]), @r"
    torch 3.1.1
      ROCm    official wheels for 8.0 and 8.1
      Python  3.12, 3.13 and 3.13t
      GPUs    wheels for ROCm 8.1 contain code for gfx942 and gfx1201
    ");
    insta::assert_snapshot!(explain(&["python=3.12"]), @r"
    Python 3.12
      torch  3.0 and 3.1 have official wheels for it
    ");
    insta::assert_snapshot!(explain(&["flash-attn=2.8.3"]), @r"
    flash-attn 2.8.3 with the ck backend: yes
    flash-attn 2.8.3 with the triton backend: yes
    ");
    insta::assert_snapshot!(explain(&["rocm=8.1", "-v"]), @r"
    ROCm 8.1
      torch  3.1 have official wheels for it
               from compat/torch.yaml, torch 3.1, checked 2026-11-26: the pages of its makers, page 1 (verified)
      GPUs   torch's wheels contain code for gfx942 and gfx1201
               from compat/gfx.yaml, torch-gfx 8.1, checked 2026-11-26: the pages of its makers, page 1 (verified)
    ");
    let json = project
        .run(&[
            "compat",
            "explain",
            "--compat",
            "facts",
            "gfx=gfx1201",
            "--format",
            "json",
        ])
        .exits(0)
        .json();
    let row = &json["overviews"][0]["lines"][0]["rows"][0];
    assert_eq!(
        (&row["row"], &row["origin"]["status"]),
        (
            &"compat/gfx.yaml, gfx-since gfx1201, checked 2026-11-26".into(),
            &"verified".into()
        )
    );
    for question in [
        "gfx=gfx1201",
        "gfx=mi300x",
        "rocm=7.2",
        "torch=2.9.1",
        "python=3.13",
    ] {
        let shipped = project
            .run(&["compat", "explain", question])
            .exits(0)
            .stdout;
        assert!(shipped.lines().count() > 1, "{question}: {shipped}");
    }
}

#[test]
fn product_names_are_accepted_wherever_a_target_is() {
    let project = Project::new().file(
        "matrices/m.yaml",
        "version: 1\ndistribution: flash-attn\nrecipe: flash-attn\naxes:\n  flash-attn: [\"2.8.3\"]\n  python: [\"3.12\"]\n  \
         torch: [\"2.9.1\"]\n  rocm: [\"6.4\"]\n  backend: [ck]\ngfx: [mi300x, MI250X]\n",
    );
    let plan = |more: &[&str]| {
        project
            .run(&[&["plan", "--format", "json"], more].concat())
            .exits(0)
            .json()
    };
    assert_eq!(
        plan(&[])["jobs"][0]["gfx"],
        serde_json::json!(["gfx942", "gfx90a"])
    );
    assert_eq!(
        plan(&["--gfx", "AMD Instinct MI300X"])["jobs"][0]["gfx"],
        serde_json::json!(["gfx942"])
    );
    assert_eq!(
        plan(&["--only", "gfx=mi300x"])["jobs"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
    assert_eq!(
        plan(&["--gfx", "mi210"])["jobs"][0]["gfx"],
        serde_json::json!(["gfx90a"])
    );
    let explained = project
        .run(&[
            "compat",
            "explain",
            "gfx=rx7900xtx",
            "rocm=7.2",
            "torch=2.11.0",
        ])
        .exits(0)
        .stdout;
    assert!(
        explained.contains("torch's wheels for ROCm 7.2 on gfx1100: yes"),
        "{explained}"
    );
    assert_eq!(
        project
            .run(&["compat", "expand", "strix-halo;mi355x"])
            .exits(0)
            .stdout,
        "gfx1151,gfx950\n"
    );
    let attention = project
        .run(&["attention", "report", "--gfx", "mi300x"])
        .exits(0);
    assert!(attention.stdout.contains("gfx942"), "{}", attention.stdout);
    assert!(
        attention.stderr.contains("Instinct MI300X is gfx942"),
        "{}",
        attention.stderr
    );
    let variables = project
        .run(&["env", "--profile", "run", "--gfx", "rx9070xt"])
        .exits(0);
    assert!(
        variables.stderr.contains("Radeon RX 9070 XT is gfx1201"),
        "{}",
        variables.stderr
    );
}

#[test]
fn an_unknown_product_suggests_the_nearest_one() {
    let project = Project::new();
    let stderr = project
        .run(&["attention", "report", "--gfx", "mi300q"])
        .exits(2)
        .stderr;
    insta::assert_snapshot!(stderr, @r"
    error[M037 bad-gfx]: `mi300q` is not a gfx target, a family or a product; did you mean `mi300a`, or `mi300x`?
    --> argument `--gfx mi300q`
    help: `rock-matrix compat list products` and `compat list families` show the names
    ");
    let message = fault(&project, &["compat", "explain", "gfx=rx7900xtxx"], 2);
    let expect = "error[K006 bad-question]: `rx7900xtxx` is not a gfx target, a family or a product; did you mean `rx7900xtx`?";
    assert_eq!(message, expect);
    let stderr = project
        .run(&["attention", "report", "--gfx", "RX7900"])
        .exits(2)
        .stderr;
    insta::assert_snapshot!(stderr, @r"
    error[M037 bad-gfx]: `RX7900` is not a gfx target, a family or a product; did you mean `rx7900xt`, `rx7900xtx`, or `rx7900gre`?
    --> argument `--gfx RX7900`
    help: `rock-matrix compat list products` and `compat list families` show the names
    ");
    let short = project
        .run(&[
            "attention",
            "report",
            "--gfx",
            "7900 XTX,AMD Radeon RX 6800",
        ])
        .exits(0)
        .stderr;
    insta::assert_snapshot!(short, @r"
    Radeon RX 7900 XTX is gfx1100
    Radeon RX 6800 is gfx1030
    ");
}

#[test]
fn the_tables_are_listed_and_each_can_be_shown() {
    let project = Project::new();
    let counts = project
        .run(&["compat", "list", "--format", "json"])
        .exits(0)
        .json();
    for (table, _) in counts.as_object().unwrap() {
        assert!(
            !project
                .run(&["compat", "list", table])
                .exits(0)
                .stdout
                .is_empty(),
            "{table}"
        );
    }
}

#[test]
fn questions_without_an_answer_have_help() {
    let project = Project::new();
    let check = |arguments: &[&str], expect: &str| {
        assert_eq!(
            fault(&project, &[&["compat", "explain"], arguments].concat(), 2),
            expect
        );
    };
    check(
        &["torch=2.6.0", "colour=blue"],
        "error[K006 bad-question]: the compatibility data has no axis `colour`",
    );
    check(
        &["nonsense"],
        "error[K006 bad-question]: `nonsense` is not of the form AXIS=VALUE",
    );
    check(
        &["torch=0.1.0"],
        "error[K006 bad-question]: unknown torch version `0.1.0`",
    );
    let table = fault(&project, &["compat", "list", "torhc"], 2);
    assert_eq!(
        table,
        "error[K005 unknown-table]: there is no table `torhc`"
    );
}

/// Nothing is answered about a value that no table has.
#[test]
fn unknown_values_of_a_question_are_named() {
    let project = Project::new().file("facts/all.yaml", SMALL_FACTS);
    let explain = |words: &[&str]| {
        project.run(&[&["compat", "explain", "--compat", "facts"], words].concat())
    };
    insta::assert_snapshot!(explain(&["gfx=gfx9999"]).exits(2).stderr, @r"
    error[K006 bad-question]: unknown gfx target `gfx9999`
    --> argument `gfx=gfx9999`
    help: known targets that begin with `gfx9`: gfx942
    ");
    insta::assert_snapshot!(explain(&["rocm=8.9"]).exits(2).stderr, @r"
    error[K006 bad-question]: unknown ROCm version `8.9`
    --> argument `rocm=8.9`
    help: the newest known version is 8.1; `rock-matrix compat list rocm` shows all
    ");
    insta::assert_snapshot!(explain(&["torch=9"]).exits(2).stderr, @r"
    error[K006 bad-question]: unknown torch version `9`
    --> argument `torch=9`
    help: the known versions are 3.0 to 3.1; `rock-matrix compat list torch` shows them
    ");
    insta::assert_snapshot!(explain(&["python=9.9"]).exits(2).stderr, @r"
    error[K006 bad-question]: unknown Python version `9.9`
    --> argument `python=9.9`
    help: the known versions are 3.12 to 3.13
    ");
    insta::assert_snapshot!(explain(&["rocm=99"]).exits(2).stderr, @r"
    error[K006 bad-question]: `99` is not a ROCm version: two to four numbers with dots, such as `6.2` or `7.1.1`
    --> argument `rocm=99`
    help: `rock-matrix compat list rocm` shows the known versions
    ");
    // Answers about other values remain.
    let answered = explain(&["gfx=gfx9999", "rocm=8.1"]).exits(1);
    assert!(
        answered
            .stdout
            .starts_with("ROCm 8.1 compiling for gfx9999: unknown\n")
    );
    assert!(
        answered
            .stderr
            .starts_with("warning[K006 bad-question]: unknown gfx target")
    );
    let unknown = explain(&["torch=9", "gfx=gfx942"]).exits(1).stdout;
    assert!(
        unknown.starts_with("the wheels of torch 9 on gfx942: unknown\n"),
        "{unknown}"
    );
}

/// Hints consider all values of a query.
#[test]
fn all_pairs_are_answered_with_values_that_fit_each_other() {
    let project = Project::new().file("facts/all.yaml", SMALL_FACTS);
    let explain = |words: &[&str], code: i32| {
        project
            .run(&[&["compat", "explain", "--compat", "facts"], words].concat())
            .exits(code)
            .stdout
    };
    insta::assert_snapshot!(explain(&["torch=3.0", "gfx=gfx1201"], 1), @r"
    the wheels of torch 3.0 on gfx1201: no
      because: torch 3.0 has wheels for ROCm 8.0, which contain no code for gfx1201
      help: use torch 3.1 with ROCm 8.1
    ");
    insta::assert_snapshot!(explain(&["torch=3.1", "gfx=gfx1201", "python=3.11"], 1), @r"
    torch 3.1 with Python 3.11: no
      because: torch 3.1 has wheels for Python 3.12 and 3.13, not 3.11
      help: use Python 3.12 to 3.13
    the wheels of torch 3.1 for ROCm 8.1 on gfx1201: yes
    ");
    insta::assert_snapshot!(explain(&["torch=3.0", "rocm=8.1", "python=3.13"], 1), @r"
    torch 3.0 with ROCm 8.1: no
      because: torch 3.0 has wheels for ROCm 8.0, not 8.1
      help: use torch 3.1
    torch 3.0 with Python 3.13: no
      because: torch 3.0 has wheels for Python 3.12, not 3.13
    ");
}

#[test]
fn a_facts_folder_is_checked_before_it_is_believed() {
    let empty = Project::new().file("facts/readme.txt", "");
    assert_eq!(
        fault(&empty, &["compat", "list", "--compat", "facts"], 1),
        "error[K003 no-tables]: there are no tables in `facts`"
    );
    let unknown = Project::new().file("facts/libc.yaml", "libc:\n  - nonsense: 1\n");
    assert!(
        fault(&unknown, &["compat", "list", "--compat", "facts"], 1)
            .starts_with("error[K001 bad-table]: unknown field `nonsense`")
    );
    let unsourced = Project::new().file(
        "facts/libc.yaml",
        "libc:\n  - {host: x, glibc: \"2.28\", glibcxx-max: \"3.4.24\", origin: {status: verified, source: nobody, checked: 2026-11-21}}\n",
    );
    assert!(
        fault(&unsourced, &["compat", "list", "--compat", "facts"], 1)
            .starts_with("error[K002 bad-row]: ")
    );
}

#[test]
fn an_index_without_pages_of_torch_changes_nothing() {
    let project = Project::new().file("pages/other/index.html", "");
    let message = fault(&project, &["compat", "refresh", "--from", "pages"], 1);
    assert_eq!(
        message,
        "error[K004 cannot-fetch]: `pages` contains no pages such as rocm6.2/torch/index.html"
    );
}

#[test]
fn a_facts_file_that_cannot_be_read_is_reported_with_its_code() {
    let project = Project::new().bytes("facts/libc.yaml", b"\xff\xfe");
    let stderr = project
        .run(&["compat", "list", "--compat", "facts"])
        .exits(1)
        .stderr;
    assert!(
        stderr.starts_with(
            "error[H020 cannot-read-file]: cannot read `facts/libc.yaml`: it is not UTF-8"
        ),
        "{stderr}"
    );
}
