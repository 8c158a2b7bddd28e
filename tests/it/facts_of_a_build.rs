//! What a build asks while it runs: recipes whose later steps need what earlier ones found or made.

use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use crate::support::toy::{JOB, Toy};

/// A recipe that installs a stand-in for an SDK, asks it where it lies, and builds with that.
const RECIPE: &str = r#"recipe: 1
name: toy
distribution: toy
vars: {python: python3}
facts:
  root: {command: [./sdk, root], after: sdk}
  math: {path: ["{{ root }}/blas", "{{ root }}/math"], after: sdk, default: ""}
  release: {file: "{{ root }}/version", find: "release (\\S+)", after: sdk}
  tracer: {command: [./sdk, tracer], after: sdk, default: ""}
env:
  ROCM_HOME: "{{ root }}"
  PATH: {prepend: "{{ root }}/bin"}
  CXXFLAGS: -Wno-error
steps:
  - stage: sdk
    argv: [bash, -c, "mkdir -p 'the root/math' 'the root/bin'; echo 'release 7.2 of ROCm' >'the root/version'; printf '#!/bin/sh\ncase $1 in root) echo \"$PWD/the root\";; *) exit 3;; esac\n' >sdk; chmod +x sdk"]
  - stage: build
    env:
      BLAS: {if: math, value: OpenBLAS}
      OPENBLAS_HOME: {if: math, value: "{{ math }}"}
      TRACER: {if: tracer, value: "{{ tracer }}"}
      CXXFLAGS: {append: "-I {{ root }}/include", sep: " "}
    argv: [bash, -c, "env | grep -E '^(ROCM_HOME|BLAS|OPENBLAS_HOME|TRACER|CXXFLAGS|PATH)=' | sort >said; echo \"$1\" >>said; mkdir -p dist; cp \"$WHEELS\"/*.whl dist/", "{{ tracer }}", sh, "{{ root }}/{{ release }}"]
    outputs: {wheel: {glob: "dist/*.whl"}}
collect: {wheels: "dist/*.whl"}
"#;

fn toy() -> Toy {
    let toy = Toy::building("true");
    toy.write("recipes/toy.yaml", RECIPE.as_bytes());
    // A Python for the program that asks facts; the stand-in of the toy does nothing.
    let python = "#!/bin/bash\ncase $2 in *'Asks facts'*) exec python3 \"$@\";; esac\n";
    toy.write("python", python.as_bytes());
    std::fs::set_permissions(toy.path("python"), PermissionsExt::from_mode(0o755)).unwrap();
    toy
}

fn printed_lines(toy: &Toy) -> Vec<String> {
    let root = toy.job("the root").display().to_string();
    let text = toy.text("said").replace(&root, "[ROOT]");
    text.lines()
        .map(|line| line.split(':').next().unwrap_or_default().to_owned())
        .collect()
}

const PRINTED: [&str; 6] = [
    "BLAS=OpenBLAS",
    "CXXFLAGS=-Wno-error -I [ROOT]/include",
    "OPENBLAS_HOME=[ROOT]/math",
    "PATH=[ROOT]/bin",
    "ROCM_HOME=[ROOT]",
    "[ROOT]/7.2",
];

#[test]
fn later_steps_get_what_earlier_ones_found() {
    let toy = toy();
    toy.build(0, &[]);
    assert_eq!(printed_lines(&toy), PRINTED);
    let log = toy.text("logs/build.log");
    assert!(log.contains("tracer: none (`./sdk` ended with 3)"), "{log}");
    assert!(
        log.contains("== facts-sdk\n") && log.contains("== facts-sdk-2\n"),
        "`math` is asked after `root`: {log}"
    );
}

/// 1 MiB, asked before the build and by the program that asks facts between its steps.
#[test]
fn a_file_of_facts_at_the_limit_is_read_and_a_larger_one_is_not() {
    for past in [0, 1] {
        let toy = toy();
        let release = "release 7.2 of ROCm\n";
        toy.write(
            "version",
            (release.to_owned() + &" ".repeat((1 << 20) + past - release.len())).as_bytes(),
        );
        let before = RECIPE.replace("{file: \"{{ root }}/version\"", "{file: version");
        let before = before.replace(", after: sdk}\n  tracer", "}\n  tracer");
        let between = RECIPE.replace(
            "echo 'release 7.2 of ROCm' >",
            &format!("cp '{}' ", toy.path("version").display()),
        );
        for recipe in [before, between] {
            toy.write("recipes/toy.yaml", recipe.as_bytes());
            let output = toy.start(&[]).wait_with_output().unwrap();
            let stderr = String::from_utf8(output.stderr).unwrap();
            assert_eq!(
                (output.status.success(), stderr.contains("release")),
                (past == 0, past == 1),
                "{stderr}"
            );
        }
    }
}

#[test]
fn a_rendered_script_hands_on_what_earlier_steps_found() {
    let toy = toy();
    let script = toy
        .command(&["render", "script", "matrices/toy.yaml", JOB])
        .output()
        .unwrap();
    assert!(
        script.status.success(),
        "{}",
        String::from_utf8_lossy(&script.stderr)
    );
    toy.write("build.sh", &script.stdout);
    let mut bash = Command::new("bash");
    bash.arg("build.sh")
        .current_dir(&toy.folder)
        .env("WHEELS", toy.path("wheels"));
    let run = bash.output().unwrap();
    assert!(
        run.status.success(),
        "{}",
        String::from_utf8_lossy(&run.stderr)
    );
    assert_eq!(printed_lines(&toy), PRINTED);
    std::fs::remove_file(toy.job("said")).unwrap();
    let run = bash.env("ROCK_FROM", "build").output().unwrap();
    assert!(
        run.status.success(),
        "{}",
        String::from_utf8_lossy(&run.stderr)
    );
    assert_eq!(
        printed_lines(&toy),
        PRINTED,
        "going on reads what the first run found"
    );
}

#[test]
fn a_fact_that_is_given_is_not_detected() {
    let toy = toy();
    let (_, stderr) = toy.build(0, &["--fact", "tracer=/opt/tracer"]);
    assert!(
        printed_lines(&toy).contains(&"TRACER=/opt/tracer".to_owned()),
        "{stderr}"
    );
    assert!(!toy.text("logs/build.log").contains("tracer:"));
}

#[test]
fn a_fact_without_an_answer_and_a_default_ends_the_build_there() {
    let toy = toy().recipe(
        "tracer: {command: [./sdk, tracer], after: sdk, default: \"\"}",
        "tracer: {command: [./sdk, tracer], after: sdk}",
    );
    let (_, stderr) = toy.build(4, &[]);
    assert!(stderr.contains("stage `facts-sdk` failed"), "{stderr}");
    assert!(
        stderr.contains("the fact `tracer` has no value: `./sdk` ended with 3"),
        "{stderr}"
    );
    assert!(!toy.job("said").exists());
}

#[test]
fn a_stage_that_needs_a_later_fact_is_an_error_before_the_build() {
    let toy = toy().recipe(
        "- stage: sdk\n    argv: [bash, -c, \"",
        "- stage: sdk\n    argv: [bash, -c, \"true {{ math }};",
    );
    let (_, stderr) = toy.build(1, &[]);
    assert!(
        stderr
            .contains("stage `sdk` needs the fact `math`, which is only evaluated at stage `sdk`"),
        "{stderr}"
    );
    assert!(!toy.job("sdk").exists(), "nothing ran");
}
