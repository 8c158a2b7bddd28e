//! A package whose build is a handful of shell commands, for stories about building.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use super::printed_commands::try_printed_commands;
use super::project::{path_with_program, printed_command};
use super::{Project, Wheel};

/// The wheel that the toy's plan expects.
pub const WHEEL: &str = "toy-1.0+rocm62-cp311-cp311-linux_x86_64.whl";
/// The toy's job.
pub const JOB: &str = "toy-1.0-rocm6.2-py3.11";
/// Longer than anything here takes on a busy machine.
const PATIENCE: Duration = Duration::from_mins(1);

/// A project with a recipe of four stages: `prepare`, `build`, and the `record` and `smoke-test`
/// that every recipe has, which a stand-in for Python passes.
pub struct Toy {
    pub project: Project,
    /// Where the program is called: a folder whose name has a blank and letters beyond ASCII.
    pub folder: PathBuf,
}

impl Toy {
    /// A toy whose `build` stage is this script. `$WHEELS` in it is a folder with wheels to take.
    pub fn building(build: &str) -> Self {
        Self::with_recipe(build, "")
    }

    /// The same with further lines for the `build` step of the recipe, each indented by four.
    pub fn with_recipe(build: &str, more: &str) -> Self {
        let project = Project::new();
        let folder = project.path("grö ße");
        let toy = Self { project, folder };
        let indented: String = build
            .lines()
            .map(|line| format!("\n        {line}"))
            .collect();
        let recipe = format!(
            "recipe: 1\nname: toy\ndistribution: toy\nvars:\n  python: python3\nsteps:\n\
             - stage: prepare\n    argv: [bash, -c, \"echo preparing; echo prepare >>order\"]\n\
             - stage: build\n    argv:\n      - bash\n      - -c\n      - |{indented}\n{more}\
             collect:\n  wheels: \"dist/*.whl\"\n  record: {{torch: [unused]}}\n"
        )
        .replace("\n- stage", "\n  - stage");
        toy.write("recipes/toy.yaml", recipe.as_bytes());
        let python = "#!/bin/bash\nif [ \"$3\" = used.json ]; then echo '{\"torch\": \"1.13.1\"}' >used.json; fi\n";
        toy.write("python", python.as_bytes());
        std::fs::set_permissions(toy.path("python"), PermissionsExt::from_mode(0o755)).unwrap();
        toy.write(&format!("wheels/{WHEEL}"), &Wheel::named(WHEEL).bytes());
        toy.matrix("")
    }

    /// Adds lines to the matrix file.
    pub fn matrix(self, more: &str) -> Self {
        let python = self.path("python");
        let text = format!(
            "version: 1\ndistribution: toy\nrecipe: toy\naxes:\n  toy: [\"1.0\"]\n  python: [\"3.11\"]\n  rocm: [\"6.2\"]\n\
             gfx: [gfx90a]\ntorch-from: host\npython-from: host\nvars: {{python: \"{}\"}}\n{more}",
            python.display()
        );
        self.write("matrices/toy.yaml", text.as_bytes());
        self
    }

    /// Replaces the first of a text in the recipe.
    #[track_caller]
    pub fn recipe(self, from: &str, to: &str) -> Self {
        let text = std::fs::read_to_string(self.path("recipes/toy.yaml")).unwrap();
        assert!(text.contains(from), "{text}");
        self.write("recipes/toy.yaml", text.replacen(from, to, 1).as_bytes());
        self
    }

    /// Two jobs instead of one, for Python 3.11 and 3.12.
    pub fn two_pythons(self) -> Self {
        let text = std::fs::read_to_string(self.path("matrices/toy.yaml")).unwrap();
        self.write(
            "matrices/toy.yaml",
            text.replace("[\"3.11\"]", "[\"3.11\", \"3.12\"]")
                .as_bytes(),
        );
        self
    }

    /// Writes a file below the folder.
    pub fn write(&self, path: &str, bytes: &[u8]) {
        let path = self.path(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }

    /// A path below the folder.
    pub fn path(&self, path: &str) -> PathBuf {
        self.folder.join(path)
    }

    /// A path below the job's folder.
    pub fn job(&self, path: &str) -> PathBuf {
        self.path(".rock").join(JOB).join(path)
    }

    /// The text of a file below the job's folder; empty where there is none.
    pub fn text(&self, path: &str) -> String {
        std::fs::read_to_string(self.job(path)).unwrap_or_default()
    }

    /// The record of the last build.
    pub fn record(&self) -> serde_json::Value {
        serde_json::from_str(&self.text("build.json")).unwrap()
    }

    /// The program, to be run in the folder.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.project.command(arguments);
        command
            .args(["--recipes", "recipes"])
            .current_dir(&self.folder)
            .env("WHEELS", self.path("wheels"));
        command
    }

    /// The rendered workflow, and the first leg of a matrix of the plan, which is written to
    /// `plan.json`.
    #[track_caller]
    pub fn workflow(&self, matrix: &str) -> (serde_json::Value, serde_json::Value) {
        let stdout_of = |arguments: &[&str]| {
            ended(self.command(arguments).output().unwrap(), 0, &self.folder).0
        };
        stdout_of(&[
            "plan",
            "matrices/toy.yaml",
            "--format",
            "json",
            "--out",
            "plan.json",
        ]);
        let outputs = stdout_of(&["plan", "matrices/toy.yaml", "--github-output"]);
        let legs = outputs
            .lines()
            .find_map(|line| line.strip_prefix(matrix)?.strip_prefix('='))
            .unwrap();
        let legs: serde_json::Value = serde_json::from_str(legs).unwrap();
        let workflow =
            serde_yaml::from_str(&stdout_of(&["render", "workflow", "matrices/toy.yaml"])).unwrap();
        (workflow, legs["include"][0].clone())
    }

    /// Runs the script of a step of a workflow as a runner does, with the values of its
    /// expressions; whether it succeeded. What it puts out is in `outputs`, its summary in
    /// `summary.md`.
    pub fn step(&self, step: &serde_json::Value, value: impl Fn(&str) -> String) -> bool {
        let programs = Path::new(env!("CARGO_BIN_EXE_rock-matrix"))
            .parent()
            .unwrap();
        let path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap());
        let script = step["run"].as_str().unwrap();
        let mut bash = Command::new("bash");
        bash.args(["-e", "-o", "pipefail", "-c", script])
            .current_dir(&self.folder);
        bash.env_clear()
            .env("PATH", path)
            .env("WHEELS", self.path("wheels"));
        bash.env("GITHUB_STEP_SUMMARY", self.path("summary.md"))
            .env("GITHUB_OUTPUT", self.path("outputs"));
        for name in ["GITHUB_RUN_ID", "GITHUB_RUN_ATTEMPT"]
            .into_iter()
            .filter(|name| script.contains(*name))
        {
            bash.env(name, value(name));
        }
        for (variable, expression) in step["env"].as_object().into_iter().flatten() {
            bash.env(variable, value(expression.as_str().unwrap()));
        }
        bash.output().unwrap().status.success()
    }

    /// `build` of the job with these arguments, run to its end; asserts the exit code.
    #[track_caller]
    pub fn build(&self, code: i32, arguments: &[&str]) -> (String, String) {
        self.run_job("build", code, arguments)
    }

    /// Runs `test` for the job as [`Self::build`] runs `build`.
    #[track_caller]
    pub fn test(&self, code: i32, arguments: &[&str]) -> (String, String) {
        self.run_job("test", code, arguments)
    }

    #[track_caller]
    fn run_job(&self, command: &str, code: i32, arguments: &[&str]) -> (String, String) {
        let arguments: Vec<&str> = [command, JOB]
            .into_iter()
            .chain(arguments.iter().copied())
            .collect();
        let output = self.command(&arguments).output().unwrap();
        try_printed_commands(&String::from_utf8_lossy(&output.stderr), |words| {
            self.command(words)
        });
        ended(output, code, &self.folder)
    }

    /// Runs the first command between backticks after `before` as a shell reads it, as someone does
    /// who copies it from a message.
    #[track_caller]
    pub fn follow(&self, content: &str, before: &str, code: i32) -> (String, String) {
        let own = self.command(&[]);
        let mut shell = Command::new("bash");
        shell
            .args(["-c", printed_command(content, before)])
            .current_dir(&self.folder)
            .env_clear();
        shell.envs(
            own.get_envs()
                .filter_map(|(name, value)| Some((name, value?))),
        );
        shell.env("PATH", path_with_program());
        ended(shell.output().unwrap(), code, &self.folder)
    }

    /// Starts `build` of the job in the background.
    pub fn start(&self, arguments: &[&str]) -> Child {
        let arguments: Vec<&str> = ["build", JOB]
            .into_iter()
            .chain(arguments.iter().copied())
            .collect();
        self.command(&arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    }

    /// Waits for a file below the job's folder and gives its text.
    #[track_caller]
    pub fn await_file(&self, path: &str) -> String {
        wait_until(|| self.job(path).exists(), path);
        self.text(path)
    }
}

/// Waits for a child and asserts its exit code.
#[track_caller]
pub fn wait(child: Child, code: i32, folder: &Path) -> (String, String) {
    ended(child.wait_with_output().unwrap(), code, folder)
}

#[track_caller]
fn ended(output: Output, code: i32, folder: &Path) -> (String, String) {
    let text = |bytes: Vec<u8>| {
        String::from_utf8(bytes)
            .unwrap()
            .replace(folder.to_str().unwrap(), "[HERE]")
    };
    let (stdout, stderr) = (text(output.stdout), text(output.stderr));
    assert_eq!(
        output.status.code(),
        Some(code),
        "--- stdout\n{stdout}\n--- stderr\n{stderr}"
    );
    (stdout, stderr)
}

/// Looks until something holds.
#[track_caller]
pub fn wait_until(holds: impl Fn() -> bool, what: &str) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < PATIENCE, "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Whether the processes with these numbers, blanks between, are gone.
pub fn all_gone(ids: &str) -> bool {
    ids.split_whitespace()
        .all(|id| !rock_matrix::sys::process::is_running(id.parse().unwrap()))
}

/// A `docker` that writes down its words. `run` executes the script of the mounted folder, or says
/// what `trouble` holds and fails; `rm` ends what `run` started.
const ENGINE: &str = r#"#!/bin/bash
here=$(dirname "$0")
printf '%s\n' "$*" >>"$here/calls"
case $1 in
  version) if grep -qs "Cannot connect" "$here/trouble"; then cat "$here/trouble" >&2; exit 1; fi ;;
  run)
    if [ -s "$here/trouble" ]; then cat "$here/trouble" >&2; exit 125; fi
    for word in "$@"; do
      case $word in
        --volume=*:/rock) folder=${word#--volume=} folder=${folder%:/rock} ;;
        --volume=*:/rock-caller:ro) caller=${word#--volume=} caller=${caller%:/rock-caller:ro} ;;
      esac
    done
    script=$folder/build.sh
    if [ -n "${caller-}" ]; then
      # The mounted folder has a path that needs no quotes.
      mount=$(dirname "$(dirname "$here")")/rock-caller script=$here/script
      ln -sfn "$caller" "$mount"
      sed "s#/rock-caller#$mount#g" "$folder/build.sh" >"$script"
    fi
    # As with a real engine, the container is no child of the client.
    export ROCK_FOLDER=$folder
    env -u ROCK_JOB_FOLDER setsid bash "$script" </dev/null &
    echo $! >"$here/container"
    wait $!
    ;;
  rm)
    [ -e "$here/container" ] || exit 0
    # All of it, whatever groups it has made: it is one session.
    for process in /proc/[0-9]*; do
      read -r id _ _ _ _ session _ 2>/dev/null <"$process/stat" || continue
      [ "$session" != "$(cat "$here/container")" ] || kill -KILL "$id" 2>/dev/null
    done
    ;;
  image) echo "sha256:1234" ;;
esac
"#;

/// A toy that is built in a container, with a stand-in for the engine that runs the script on this
/// machine.
pub struct Harbour {
    pub toy: Toy,
}

impl Harbour {
    /// A toy whose `build` stage is this script, with further lines of the matrix file.
    pub fn new(build: &str, matrix: &str) -> Self {
        let toy = Toy::building(build).matrix(&format!("image: {{digest: ignore}}\n{matrix}"));
        toy.write("bin/docker", ENGINE.as_bytes());
        std::fs::set_permissions(toy.path("bin/docker"), PermissionsExt::from_mode(0o755)).unwrap();
        Self { toy }
    }

    /// `build` of the job with the engine, to be run.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let all: Vec<&str> = ["build", JOB, "--engine", "docker", "--image", "img:1"]
            .into_iter()
            .chain(arguments.iter().copied())
            .collect();
        let mut command = self.toy.command(&all);
        let path = format!(
            "{}:{}",
            self.toy.path("bin").display(),
            std::env::var("PATH").unwrap()
        );
        command.env("PATH", path);
        command
    }

    /// The same, run to its end; asserts the exit code.
    #[track_caller]
    pub fn build(&self, code: i32, arguments: &[&str]) -> (String, String) {
        let child = self
            .command(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        wait(child, code, &self.toy.folder)
    }

    /// The words of each call of the engine.
    pub fn calls(&self) -> Vec<String> {
        let calls = std::fs::read_to_string(self.toy.path("bin/calls")).unwrap_or_default();
        calls
            .replace(self.toy.folder.to_str().unwrap(), "[HERE]")
            .lines()
            .map(str::to_owned)
            .collect()
    }
}
