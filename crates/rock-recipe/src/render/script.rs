//! Renders the build script of a job, which people can run and containers do run.

mod windows;

use serde::Serialize;

use crate::{self as recipe, Build, BuildSite, SHELL_VARIABLE, Step, late_name};
use rock_plan::Job;
use rock_template::render;

pub use windows::{WindowsShell, windows_script};

const TEMPLATE: &str = include_str!("../../templates/docker/build.sh");

#[derive(Serialize)]
struct ScriptView<'a> {
    /// The job ID as a word of the shell.
    id: String,
    /// The job ID as text of a comment.
    job: String,
    wheel: String,
    generator: &'a str,
    site: &'a str,
    folder: String,
    caller: String,
    wheels: String,
    uses_caller: bool,
    /// The timestamp in archives if no source has a commit.
    first_date: i64,
    /// The command that labels and repairs the finished wheels; empty if they stay unchanged.
    finishing: String,
    /// The sources that steps copy.
    sources: Vec<SourceView>,
    uses_jobs: bool,
    /// The facts that steps detect for later ones.
    facts: Vec<&'a str>,
    /// Whether some steps also run after a failure.
    has_last: bool,
    programs: Vec<ProgramView>,
    steps: Vec<StepView>,
}

#[derive(Serialize)]
struct SourceView {
    name: String,
    path: String,
}

#[derive(Serialize)]
struct ProgramView {
    name: String,
    text: String,
}

#[derive(Serialize)]
pub(super) struct StepView {
    stage: String,
    seconds: u64,
    tries: u32,
    clean: Vec<String>,
    /// The lines of the command: the changes that `env` makes, one per line, then program and
    /// arguments.
    pub(super) lines: Vec<String>,
    outputs: Vec<OutputView>,
    asks: bool,
    finally: bool,
}

#[derive(Serialize)]
struct OutputView {
    glob: String,
    count: usize,
}

/// Renders the script that runs the steps of a build made for the same site, with every word
/// quoted.
///
/// A container uses the mount point of the job directory; a script for people uses `.rock/ID` below
/// the directory that it is called from. `ROCK_FOLDER` overrides this directory.
pub fn script(job: &Job, build: &Build, site: &BuildSite, generator: &str) -> String {
    let mut programs = SharedPrograms::default();
    // This program does not exist in a container: its checkouts were made before.
    let own = |step: &&Step| step.host && *site == BuildSite::Container;
    let mut steps = Vec::new();
    for step in build.steps.iter().filter(|step| !own(step)) {
        let mut view = step_view(step, &mut programs);
        // A script does not know the state of its last run; for a container, the program removes
        // outdated paths.
        if *site == BuildSite::Script {
            view.clean
                .extend(step.outdated.iter().map(|path| quote(path)));
        }
        steps.push(view);
    }
    let (word, folder, caller) = match site {
        BuildSite::Container => ("container", quote(&site.folder()), quote(&site.caller())),
        BuildSite::Host { .. } => ("host", quote(&site.folder()), quote(&site.caller())),
        BuildSite::Script => (
            "host",
            format!("$PWD/.rock/{}", plain_or_quoted(&job.id)),
            "$PWD".to_owned(),
        ),
    };
    let sources = build
        .steps
        .iter()
        .filter(|step| !own(step))
        .flat_map(Step::sources);
    // After a container build, `build` does this.
    let finishing = recipe::finishing(job, build.relabel).filter(|_| *site != BuildSite::Container);
    let view = ScriptView {
        id: plain_or_quoted(&job.id),
        job: comment(&job.id),
        wheel: comment(&job.wheel),
        generator,
        site: word,
        folder,
        caller,
        wheels: quote(&build.wheels),
        uses_caller: build.uses_caller,
        first_date: recipe::FIRST_DATE_S,
        finishing: finishing.as_deref().map(command).unwrap_or_default(),
        sources: sources
            .map(|(name, path)| SourceView {
                name: quote(name),
                path: quote(path),
            })
            .collect(),
        uses_jobs: build
            .steps
            .iter()
            .any(|step| step.jobs.as_ref().is_some_and(|jobs| jobs.count.is_none())),
        facts: build
            .steps
            .iter()
            .flat_map(|step| &step.facts)
            .map(String::as_str)
            .collect(),
        has_last: build.steps.iter().any(|step| step.finally),
        programs: programs
            .0
            .into_iter()
            .map(|(name, text)| ProgramView {
                name,
                text: single_quoted(&text),
            })
            .collect(),
        steps,
    };
    render("build.sh", TEMPLATE, &view).expect("the template uses only fields of its view")
}

/// Multi-line programs that steps take as one argument. Each is defined once under a name, at the
/// top of the script.
#[derive(Default)]
pub(super) struct SharedPrograms(Vec<(String, String)>);

impl SharedPrograms {
    fn word(&mut self, stage: &str, word: &str) -> String {
        // A program is literal; one that contains script variables is quoted like other words.
        if !word.contains('\n') || word.contains(SHELL_VARIABLE) {
            return quote(word);
        }
        let name = match self.0.iter().find(|(_, text)| text == word) {
            Some((name, _)) => name.clone(),
            None => {
                let stage: String = stage
                    .chars()
                    .map(|c| if c.is_ascii_alphanumeric() { c } else { '_' })
                    .collect();
                let base = format!("{stage}_program");
                let taken = |name: &String| self.0.iter().any(|(known, _)| known == name);
                let numbered = (2..).map(|number| format!("{base}_{number}"));
                let name = std::iter::once(base.clone())
                    .chain(numbered)
                    .find(|name| !taken(name))
                    .unwrap_or_default();
                self.0.push((name.clone(), word.to_owned()));
                name
            }
        };
        format!("\"${name}\"")
    }
}

pub(super) fn step_view(step: &Step, programs: &mut SharedPrograms) -> StepView {
    let mut lines = Vec::new();
    if !step.cwd.is_empty() {
        lines.push(format!("-C {}", quote(&step.cwd)));
    }
    lines.extend(step.env_remove.iter().map(|name| format!("-u {name}")));
    lines.extend(
        step.env
            .iter()
            .map(|(name, value)| format!("{name}={}", quote(value))),
    );
    for (name, extend) in &step.env_extend {
        // The variable with the separator, or nothing. Quotes take effect in an expansion that is
        // not quoted itself.
        let separator = quote(&extend.separator);
        let value = match (&extend.prepend, &extend.append) {
            (None, None) => format!("\"${{{name}:-}}\""),
            (Some(before), None) => format!("{}${{{name}:+{separator}\"${name}\"}}", quote(before)),
            (None, Some(after)) => format!("${{{name}:+\"${name}\"{separator}}}{}", quote(after)),
            (Some(before), Some(after)) => {
                format!(
                    "{}${{{name}:+{separator}\"${name}\"}}{separator}{}",
                    quote(before),
                    quote(after)
                )
            }
        };
        lines.push(format!("{name}={value}"));
    }
    // The shell omits the word if the fact has no value.
    lines.extend(step.env_if.iter().map(|(name, only)| {
        format!(
            "${{{}:+{name}={}}}",
            late_name(&only.fact),
            quote(&only.value)
        )
    }));
    if let Some(jobs) = &step.jobs {
        let (name, tenths) = (&jobs.variable, jobs.tenths_gib_per_job);
        let number = jobs.count.map_or_else(
            || format!("$(parallel_jobs {tenths})"),
            |count| count.to_string(),
        );
        lines.push(format!("{name}=\"${{{name}:-{number}}}\""));
    }
    if let Some(first) = lines.first_mut() {
        first.insert_str(0, "env ");
    }
    let word = |word: &String| match step.optional_word(word) {
        Some(fact) => format!("${{{0}:+\"${0}\"}}", late_name(fact)),
        None => programs.word(&step.stage, word),
    };
    let words: Vec<String> = step.argv.iter().map(word).collect();
    lines.push(words.join(" "));
    StepView {
        stage: quote(&step.stage),
        seconds: step.timeout_s.unwrap_or(0),
        tries: step.retries + 1,
        clean: step.clean.iter().map(|path| quote(path)).collect(),
        lines,
        outputs: step
            .outputs
            .iter()
            .map(|o| OutputView {
                glob: quote(&o.glob),
                count: o.count,
            })
            .collect(),
        asks: !step.facts.is_empty(),
        finally: step.finally,
    }
}

/// Escapes a name for a comment of any shell: characters that do not occur in names of files and
/// jobs become `_`, so that none ends the comment or has a meaning in it.
pub fn comment(name: &str) -> String {
    name.chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() || "._+-*".contains(c) {
                c
            } else {
                '_'
            }
        })
        .collect()
}

/// Renders words as one line for a POSIX shell. A first word with `=` is quoted, since it would be
/// an assignment.
pub fn command(words: &[String]) -> String {
    let word = |(number, word): (usize, &String)| match number {
        0 if word.contains('=') => single_quoted(word),
        _ => quote(word),
    };
    words
        .iter()
        .enumerate()
        .map(word)
        .collect::<Vec<_>>()
        .join(" ")
}

/// Quotes one word for a POSIX shell. A shell variable in it becomes `"$NAME"`; NUL cannot occur in
/// a word and is removed.
pub fn quote(word: &str) -> String {
    let word = word.replace('\0', "");
    let parts: Vec<&str> = word.split(SHELL_VARIABLE).collect();
    if parts.len() < 3 || parts.len().is_multiple_of(2) {
        return plain_or_quoted(&word);
    }
    let part = |(number, text): (usize, &&str)| match (number % 2, *text) {
        (1, name) => format!("\"${name}\""),
        (_, "") => String::new(),
        (_, text) => plain_or_quoted(text),
    };
    parts.iter().enumerate().map(part).collect()
}

/// Quotes a text, unless it has only characters without a meaning in any POSIX shell; the set is
/// that of Python's `shlex.quote`.
pub(super) fn plain_or_quoted(text: &str) -> String {
    let is_plain = |b: u8| b.is_ascii_alphanumeric() || b"@%+=:,./-_".contains(&b);
    if !text.is_empty() && text.bytes().all(is_plain) {
        text.to_owned()
    } else {
        single_quoted(text)
    }
}

pub(super) fn single_quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::{command, quote};
    use crate::shell_variable;
    use proptest::prelude::*;

    #[test]
    fn plain_words_stay_plain_and_variables_are_left_to_the_shell() {
        assert_eq!(quote("--device=/dev/kfd"), "--device=/dev/kfd");
        assert_eq!(quote(""), "''");
        assert_eq!(quote("it's"), r"'it'\''s'");
        assert_eq!(
            quote(&format!("{}/a b", shell_variable("PWD"))),
            "\"$PWD\"'/a b'"
        );
        assert_eq!(command(&["A=b".to_owned(), "A=b".to_owned()]), "'A=b' A=b");
    }

    /// No part of a job's name is evaluated: a plan that is loaded from a file may come from
    /// anywhere.
    #[test]
    #[expect(
        clippy::disallowed_methods,
        reason = "the shell judges how the script quotes"
    )]
    fn names_of_jobs_and_wheels_are_never_evaluated() {
        use super::{WindowsShell, script, windows_script};
        use crate::{BuildSite, fixture};
        use rock_compat::Compat;

        let mut job = fixture::flash_attn("2.7.4.post1", "6.2", "2.5.1", "triton", "");
        job.id = "a'\n$(touch evil)`touch evil`\"; touch evil #".to_owned();
        job.wheel = "x\r\ntouch evil\n$(touch evil).whl".to_owned();
        let build = fixture::made_at(&job, &BuildSite::Script).unwrap();
        let text = script(&job, &build, &BuildSite::Script, "g");
        let lines: Vec<&str> = text.lines().filter(|line| line.contains("evil")).collect();
        // The comments, and the ID twice as one quoted word that contains a line break.
        insta::assert_snapshot!(lines.join("\n"), @r#"
        # x__touch_evil___touch_evil_.whl
        # Job a____touch_evil__touch_evil____touch_evil__, by g. It runs on this machine, in the folder it is called from.
        $(touch evil)`touch evil`"; touch evil #'}
        $(touch evil)`touch evil`"; touch evil #' "$status" "$SECONDS" "$disk_before" "$(free_bytes)" "$bytes" >measured.json
        "#);
        let folder = tempfile::tempdir().unwrap();
        // The script ends at the first stage, because no stage has this name.
        let ended = std::process::Command::new("bash")
            .args(["-c", &text])
            .env("ROCK_FROM", "none")
            .current_dir(&folder)
            .output()
            .unwrap();
        assert_eq!(
            ended.status.code(),
            Some(2),
            "{}",
            String::from_utf8_lossy(&ended.stderr)
        );
        assert!(!folder.path().join("evil").exists());
        let shell = windows_script(
            &job,
            &build,
            "py",
            WindowsShell::PowerShell,
            &Compat::embedded(),
            "g",
        )
        .unwrap();
        let folder = shell.lines().find(|line| line.contains("/.rock/")).unwrap();
        assert!(folder.contains("\"$PWD/.rock/\" + 'a''"), "{folder}");
        assert!(
            shell
                .lines()
                .skip(3)
                .filter(|line| line.contains("touch evil"))
                .count()
                <= 2,
            "{shell}"
        );
        assert!(
            windows_script(
                &job,
                &build,
                "py",
                WindowsShell::Cmd,
                &Compat::embedded(),
                "g"
            )
            .is_err()
        );
    }

    proptest! {
        #[test]
        fn a_shell_reads_back_every_word_as_it_was(words in prop::collection::vec("[^\\x00\\x01]{0,12}", 1..5)) {
            prop_assert_eq!(shlex::split(&command(&words)).unwrap(), words);
        }
    }
}
