//! Matrix files with as many jobs, cells and entries as are read, and with one more.

use rock_matrix::config::limits as config;

use crate::support::Project;
use crate::support::hostile::{Bounds, bounded};

const BOUNDS: Bounds = Bounds {
    address_mib: 1024,
    peak_mib: 192,
    cpu_s: 60,
};

fn refused(bytes: &[u8], first_line: &str) {
    let project = Project::new().bytes("m.yaml", bytes);
    let outcome = project.run(&["check", "m.yaml"]).exits(1);
    assert_eq!(outcome.stderr.lines().next(), Some(first_line));
    assert_eq!(project.files(), ["m.yaml"], "nothing is written");
}

/// A plan repeats the values of axes for each job.
#[test]
fn long_values_of_many_jobs_take_little_memory() {
    let versions = |first: &str| {
        (0..70)
            .map(|number| format!("\"{first}.{number}\""))
            .collect::<Vec<_>>()
            .join(", ")
    };
    let file = |bytes: usize| {
        let long = "x".repeat(bytes);
        let fields = ["repository", "max-jobs", "gib-per-job", "cache-gib"]
            .map(|name| format!("  {name}: [{long}]\n"));
        format!(
            "version: 1\ndistribution: flash-attn\nunknown: lenient\nrocm-policy: newest\ntorch-from: host\npython-from: host\ngfx: [gfx942]\naxes:\n  \
             flash-attn: [{}]\n  torch: [{}]\n  python: [\"3.12\"]\n  rocm: [\"6.2\"]\n  backend: [ck]\n{}",
            versions("2.8"),
            versions("2"),
            fields.concat()
        )
    };
    let words = ["plan", "m.yaml", "--format", "json", "--out", "plan.json"];
    let within = Bounds {
        peak_mib: 128,
        cpu_s: 120,
        ..BOUNDS
    };
    let project = Project::new().file("m.yaml", &file(config::LONGEST_TEXT_BYTES));
    bounded(&project, within, &words, 0);
    assert_eq!(project.read("plan.json").matches("\"id\"").count(), 4900);
    for bytes in [config::LONGEST_TEXT_BYTES + 1, 19 << 10] {
        let project = Project::new().file("m.yaml", &file(bytes));
        let stderr = bounded(&project, within, &words, 1).stderr;
        assert_eq!(
            stderr.matches("error[M072 too-long]").count(),
            4,
            "{stderr}"
        );
    }
}

/// Each of 20,000 includes is looked up among as many excludes.
#[test]
fn as_many_includes_as_excludes_are_read_in_time() {
    let versions = (0..20_000)
        .map(|number| format!("\"2.8.{number}\""))
        .collect::<Vec<_>>();
    let exclude = versions
        .iter()
        .map(|version| format!("  - {{flash-attn: {version}}}\n"));
    let others = "python: \"3.10\", torch: \"2.5.1\", rocm: \"6.2\"";
    let include = versions
        .iter()
        .map(|version| format!("  - axes: {{flash-attn: {version}, {others}}}\n"));
    let file = format!(
        "version: 1\ndistribution: flash-attn\nenabled: false\naxes:\n  flash-attn: [{}]\n  python: [\"3.10\"]\n  torch: [\"2.5.1\"]\n  \
         rocm: [\"6.2\"]\nexclude:\n{}include:\n{}",
        versions.join(", "),
        exclude.collect::<String>(),
        include.collect::<String>(),
    );
    let stderr = bounded(
        &Project::new().file("m.yaml", &file),
        BOUNDS,
        &["check", "m.yaml"],
        0,
    )
    .stderr;
    assert!(
        stderr.ends_with("1 file, 0 errors, 0 warnings\n"),
        "{stderr}"
    );
}

#[test]
fn lists_that_no_build_needs_are_refused_at_the_first_entry_too_many() {
    let head = "version: 1\ndistribution: flash-attn\naxes:\n  flash-attn: [\"2.8.3\"]\n  python: [\"3.10\"]\n  torch: [\"2.5.1\"]\n  rocm: [\"6.2\"]\n";
    let list = |name: &str, count: usize, entry: fn(usize) -> String| {
        format!(
            "{head}{name}: [{}]\n",
            (0..count).map(entry).collect::<Vec<_>>().join(", ")
        )
    };
    let secret = |number: usize| format!("S{number}");
    let target = |number: usize| format!("gfx9{number:x}");
    let cell = |number: usize| format!("{{flash-attn: \"2.8.{number}\"}}");
    for (name, most, entry) in [
        ("secrets", 300, secret as fn(usize) -> String),
        ("gfx", 1000, target),
        ("exclude", 20_000, cell),
    ] {
        let expected = format!(
            "error[M071 too-many-entries]: `{name}` has {} entries, but at most {most} are allowed",
            most + 1
        );
        let stderr_of = |count: usize| {
            let project = Project::new().file("m.yaml", &list(name, count, entry));
            project
                .command(&["check", "m.yaml"])
                .output()
                .map(|out| String::from_utf8_lossy(&out.stderr).into_owned())
        };
        assert!(stderr_of(most + 1).unwrap().contains(&expected), "{name}");
        assert!(!stderr_of(most).unwrap().contains("M071"), "{name}");
    }
}

#[test]
fn more_cells_than_can_be_counted_are_refused_before_any_is_made() {
    let values = (0..70_000)
        .map(|n| n.to_string())
        .collect::<Vec<_>>()
        .join(",");
    let mut text =
        "version: 1\ndistribution: flash-attn\naxes:\n  flash-attn: [\"2.8.3\"]\n".to_owned();
    for axis in ["opt-dim", "max-jobs", "gib-per-job", "repository"] {
        text += &format!("  {axis}: [{values}]\n");
    }
    refused(
        text.as_bytes(),
        "error[P011 too-many-cells]: the axes have more than 2^64 cells",
    );
}

#[test]
fn more_jobs_than_anyone_runs_are_refused_while_they_are_counted() {
    let values = |count: u32| {
        (0..count)
            .map(|n| n.to_string())
            .collect::<Vec<_>>()
            .join(",")
    };
    let versions = |count: u32| {
        (0..count)
            .map(|n| format!("\"2.8.{n}\""))
            .collect::<Vec<_>>()
            .join(",")
    };
    let mut text = format!(
        "version: 1\ndistribution: flash-attn\nunknown: lenient\ntorch-from: host\npython-from: host\naxes:\n  flash-attn: [{}]\n  python: [\"3.12\"]\n  torch: [\"2.6.0\"]\n  rocm: [\"6.1\"]\n",
        versions(40)
    );
    for axis in ["opt-dim", "max-jobs"] {
        text += &format!("  {axis}: [{}]\n", values(200_000));
    }
    let first = "error[P011 too-many-cells]: more than 10000000 cells are legal";
    // A cell that is left out over two long axes takes no more memory than over two short ones.
    text += "exclude: [{opt-dim: \"1\", max-jobs: \"2\"}]\n";
    refused(text.as_bytes(), first);
    let project = Project::new().file("m.yaml", &text);
    let stderr = project.run(&["plan", "m.yaml"]).exits(1).stderr;
    assert!(
        stderr.contains("\nhelp: list fewer values, or split the matrix into several files\n"),
        "{stderr}"
    );
    assert!(stderr.contains(" --> m.yaml:6:1\n"), "{stderr}");
}
