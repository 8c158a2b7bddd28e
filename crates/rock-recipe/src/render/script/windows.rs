//! Renders the build script for the shells of Windows. It sets the variables of each step and
//! leaves the rest to a Python program of ours, because these shells lack the tools that a POSIX
//! script uses and cannot pass on every word of a command.

use serde::Serialize;

use super::comment;
use crate::render::environment::UnwritableValue;
use crate::render::windows::{cmd_text, powershell_text};
use crate::{Build, SHELL_VARIABLE, Step, VariableExtension, late_name, shell_variable};
use rock_compat::Compat;
use rock_plan::Job;
use rock_template::render;

const POWERSHELL: &str = include_str!("../../../templates/windows/build.ps1");
const CMD: &str = include_str!("../../../templates/windows/build.cmd");
const RUN: &str = include_str!("../../../templates/windows/run.py");

/// Extracts the files with words and programs from the last lines of a script: `#=NAME`, then lines
/// with the prefix `#|`. It is one line without double quotes, which both shells pass on unchanged.
const UNPACK: &str = r"import re, sys; text = open(sys.argv[1], encoding='utf-8-sig').read(); [open('words/' + name, 'w', encoding='utf-8', newline='').write(re.sub(r'(?m)^#\|', '', lines)[:-1]) for name, lines in re.findall(r'(?m)^#=(\S+)\n((?:#\|.*\n)*)', text)]";

/// The maximum length of a word in a command line; longer ones become files, because the length of
/// the whole line is limited.
const LONGEST_WORD: usize = 400;
/// The maximum length of a line. cmd accepts up to 8191 characters (Microsoft, "Command prompt line
/// string limitation"), and variables make a line longer.
const LONGEST_LINE: usize = 6000;

/// A Windows shell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WindowsShell {
    /// PowerShell, 5.1 and later.
    PowerShell,
    /// A batch file of cmd.
    Cmd,
}

#[derive(Serialize)]
struct WindowsScriptView<'a> {
    /// The job ID as part of the line that sets the job directory.
    id: String,
    /// The job ID as text of a comment.
    job: String,
    wheel: String,
    generator: &'a str,
    python: String,
    unpack: String,
    look: String,
    uses_caller: bool,
    facts: String,
    steps: Vec<StepView>,
    files: Vec<ScriptFile>,
}

#[derive(Serialize)]
struct StepView {
    stage: String,
    variables: Vec<String>,
    words: String,
    asks: bool,
    finally: bool,
}

/// A file that the script contains.
#[derive(Serialize)]
struct ScriptFile {
    name: String,
    lines: Vec<String>,
}

/// Renders the script that runs the steps of a build made for [`crate::BuildSite::Script`].
/// `python` is the default Python that runs the steps. The compatibility data limits the path
/// length of the job directory.
///
/// # Errors
/// If the shell cannot represent a value.
pub fn windows_script(
    job: &Job,
    build: &Build,
    python: &str,
    shell: WindowsShell,
    compat: &Compat,
    generator: &str,
) -> Result<String, UnwritableValue> {
    let run = ScriptFile {
        name: "run.py".to_owned(),
        lines: lines(RUN.trim_end()),
    };
    let mut writer = WindowsScriptWriter {
        shell,
        files: vec![run],
    };
    let steps = build
        .steps
        .iter()
        .map(|step| writer.step(step))
        .collect::<Result<_, _>>()?;
    let facts = build
        .steps
        .iter()
        .flat_map(|step| &step.facts)
        .map(String::as_str);
    let view = WindowsScriptView {
        id: match shell {
            WindowsShell::PowerShell => powershell_text(&job.id),
            WindowsShell::Cmd => cmd_text("ROCK_FOLDER", &job.id)?,
        },
        job: comment(&job.id),
        wheel: comment(&job.wheel),
        generator,
        python: match shell {
            WindowsShell::PowerShell => powershell_text(python),
            WindowsShell::Cmd => cmd_text("ROCK_PYTHON", python)?,
        },
        unpack: writer.quoted("unpack", UNPACK)?,
        look: writer.look(build, compat)?,
        uses_caller: build.uses_caller,
        facts: match shell {
            WindowsShell::PowerShell => facts.map(powershell_text).collect::<Vec<_>>().join(", "),
            WindowsShell::Cmd => facts.collect::<Vec<_>>().join(" "),
        },
        steps,
        files: writer.files,
    };
    let (name, text) = match shell {
        WindowsShell::PowerShell => ("build.ps1", POWERSHELL),
        WindowsShell::Cmd => ("build.cmd", CMD),
    };
    let text = render(name, text, &view).expect("the template uses only fields of its view");
    // PowerShell 5.1 decodes a file without a byte order mark with the system's code page.
    let mark = if shell == WindowsShell::PowerShell && !text.is_ascii() {
        "\u{feff}"
    } else {
        ""
    };
    Ok(format!("{mark}{}", text.replace('\n', "\r\n")))
}

fn lines(text: &str) -> Vec<String> {
    text.split('\n').map(str::to_owned).collect()
}

/// Renders the parts of steps; words that do not fit in a line become files.
struct WindowsScriptWriter {
    shell: WindowsShell,
    files: Vec<ScriptFile>,
}

impl WindowsScriptWriter {
    fn step(&mut self, step: &Step) -> Result<StepView, UnwritableValue> {
        let mut words: Vec<String> = Vec::new();
        let mut option = |name: &str, values: &[&str]| {
            words.push(name.to_owned());
            words.extend(values.iter().map(|value| (*value).to_owned()));
        };
        if let Some(seconds) = step.timeout_s {
            option("--seconds", &[&seconds.to_string()]);
        }
        if step.retries > 0 {
            option("--tries", &[&(step.retries + 1).to_string()]);
        }
        if !step.cwd.is_empty() {
            option("--cwd", &[&step.cwd]);
        }
        step.clean
            .iter()
            .chain(&step.outdated)
            .for_each(|path| option("--clean", &[path]));
        step.outputs
            .iter()
            .for_each(|output| option("--expect", &[&output.glob, &output.count.to_string()]));
        if let Some(jobs) = &step.jobs {
            let (count, tenths) = (
                jobs.count.unwrap_or_default().to_string(),
                jobs.tenths_gib_per_job.to_string(),
            );
            option("--jobs", &[&jobs.variable, &count, &tenths]);
        }
        option("--", &[]);
        let mut made = words
            .iter()
            .map(|word| self.quoted(&step.stage, word))
            .collect::<Result<Vec<_>, _>>()?;
        for word in &step.argv {
            made.push(self.word(step, word)?);
        }
        let words = self.line(&step.stage, &made)?;
        let (variables, asks) = (self.variables(step)?, !step.facts.is_empty());
        Ok(StepView {
            stage: self.quoted(&step.stage, &step.stage)?,
            variables,
            words,
            asks,
            finally: step.finally,
        })
    }

    /// Returns the arguments for the check of the job directory and of the sources that steps copy.
    fn look(&mut self, build: &Build, compat: &Compat) -> Result<String, UnwritableValue> {
        const NAME: &str = "look";
        let mut rows = compat
            .machine_tables()
            .paths
            .iter()
            .filter(|row| row.platform == "windows" && row.path == "folder");
        let bound = rows.find_map(|row| Some((row.longest?, row.reason.as_str())));
        let (longest, reason) = bound.unwrap_or((u32::MAX, ""));
        let mut made = vec![
            self.quoted(NAME, &longest.to_string())?,
            self.quoted(NAME, reason)?,
        ];
        for step in &build.steps {
            for (name, path) in step.sources() {
                made.push(self.quoted(NAME, name)?);
                made.push(self.word(step, path)?);
            }
        }
        self.line(NAME, &made)
    }

    /// Joins words in the syntax of the shell.
    fn line(&self, stage: &str, words: &[String]) -> Result<String, UnwritableValue> {
        let line = match self.shell {
            WindowsShell::PowerShell => words.join(", "),
            WindowsShell::Cmd => words.join(" "),
        };
        if self.shell == WindowsShell::Cmd && line.len() > LONGEST_LINE {
            return Err(UnwritableValue {
                name: stage.to_owned(),
                why: "has a command longer than cmd allows",
            });
        }
        Ok(line)
    }

    /// Encodes a word of a step's command by the rules of the program that runs the step.
    fn word(&mut self, step: &Step, word: &str) -> Result<String, UnwritableValue> {
        if let Some(fact) = step.optional_word(word) {
            return self.quoted(
                &step.stage,
                &format!("@?{}", shell_variable(&late_name(fact))),
            );
        }
        // Programs differ in how they parse a double quote, or a `\` before the closing one; the
        // encoding of non-ASCII characters depends on the console.
        let is_simple = word.is_ascii() && !word.contains(['"', '\n']) && !word.ends_with('\\');
        if !is_simple || word.len() > LONGEST_WORD {
            return self.file(&step.stage, word).map(|name| match self.shell {
                WindowsShell::PowerShell => powershell_text(&format!("@<{name}")),
                WindowsShell::Cmd => format!("\"@<{name}\""),
            });
        }
        let is_taken_otherwise = word.is_empty() || word.starts_with(['@', SHELL_VARIABLE]);
        self.quoted(
            &step.stage,
            &if is_taken_otherwise {
                format!("@={word}")
            } else {
                word.to_owned()
            },
        )
    }

    /// Quotes a word for the shell.
    fn quoted(&self, stage: &str, word: &str) -> Result<String, UnwritableValue> {
        let is_plain = |b: u8| b.is_ascii_alphanumeric() || b"-_./:+".contains(&b);
        Ok(match self.shell {
            WindowsShell::PowerShell => powershell_text(word),
            WindowsShell::Cmd if !word.is_empty() && word.bytes().all(is_plain) => word.to_owned(),
            WindowsShell::Cmd => format!("\"{}\"", cmd_text(stage, word)?),
        })
    }

    /// Returns the name of the file that contains a word. Variables in it become `@{NAME}`, and a
    /// literal `@{` becomes `@{}{`.
    fn file(&mut self, stage: &str, word: &str) -> Result<String, UnwritableValue> {
        if word.contains('\r') {
            return Err(UnwritableValue {
                name: stage.to_owned(),
                why: "contains a carriage return in its command",
            });
        }
        let part = |(number, part): (usize, &str)| match number % 2 {
            1 => format!("@{{{part}}}"),
            _ => part.replace("@{", "@{}{"),
        };
        let lines = lines(
            &word
                .split(SHELL_VARIABLE)
                .enumerate()
                .map(part)
                .collect::<String>(),
        );
        if let Some(known) = self.files.iter().find(|file| file.lines == lines) {
            return Ok(known.name.clone());
        }
        let name = format!("{stage}-{}", self.files.len());
        self.files.push(ScriptFile {
            name: name.clone(),
            lines,
        });
        Ok(name)
    }

    /// Returns the lines that set the variables of a step.
    fn variables(&self, step: &Step) -> Result<Vec<String>, UnwritableValue> {
        let mut lines = Vec::new();
        for name in &step.env_remove {
            lines.push(match self.shell {
                WindowsShell::PowerShell => format!("$env:{name} = $null"),
                WindowsShell::Cmd => format!("set \"{name}=\""),
            });
        }
        for (name, value) in &step.env {
            lines.push(self.set(name, value)?);
        }
        for (name, extend) in &step.env_extend {
            lines.extend(self.extend(name, extend)?);
        }
        for (name, only) in &step.env_if {
            let (fact, set) = (late_name(&only.fact), self.set(name, &only.value)?);
            lines.push(match self.shell {
                WindowsShell::PowerShell => format!("if ($env:{fact}) {{ {set} }}"),
                WindowsShell::Cmd => format!("if defined {fact} {set}"),
            });
        }
        Ok(lines)
    }

    fn set(&self, name: &str, value: &str) -> Result<String, UnwritableValue> {
        Ok(match self.shell {
            WindowsShell::PowerShell => format!("$env:{name} = {}", powershell_text(value)),
            WindowsShell::Cmd => format!("set \"{name}={}\"", cmd_text(name, value)?),
        })
    }

    /// Returns the lines that extend a variable; without an inherited value there is no separator.
    fn extend(
        &self,
        name: &str,
        extend: &VariableExtension,
    ) -> Result<Vec<String>, UnwritableValue> {
        let own = shell_variable(name);
        let part = |text: &Option<String>| text.as_deref().map(powershell_text);
        if self.shell == WindowsShell::PowerShell {
            let parts = [
                part(&extend.prepend),
                Some(powershell_text(&own)),
                part(&extend.append),
            ];
            let parts = parts.into_iter().flatten().collect::<Vec<_>>().join(", ");
            let separator = powershell_text(&extend.separator);
            return Ok(vec![format!(
                "$env:{name} = (@({parts}) | Where-Object {{ $_ }}) -join {separator}"
            )]);
        }
        let mut lines = Vec::new();
        let separator = &extend.separator;
        let before = extend
            .prepend
            .iter()
            .map(|text| (text, format!("{text}{separator}{own}")));
        let after = extend
            .append
            .iter()
            .map(|text| (text, format!("{own}{separator}{text}")));
        for (alone, joined) in before.chain(after) {
            lines.push(format!("if defined {name} {}", self.set(name, &joined)?));
            lines.push(format!("if not defined {name} {}", self.set(name, alone)?));
        }
        Ok(lines)
    }
}
