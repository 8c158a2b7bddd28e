//! `compat`: what is known about versions, and whether an index says otherwise.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use super::{Exit, Format, Shell, load};
use crate::compat::refresh::{self, IndexPage};
use crate::compat::{Compat, Verdict};
use crate::diagnostic::{Diagnostic, Place, Sink, nearest::nearest, registry::facts as codes};
use crate::{fetch, sys};

/// Show what is known about versions, and where it was read
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  rock-matrix compat list                            the tables
  rock-matrix compat list torch                      torch releases with their ROCm and Python versions
  rock-matrix compat explain torch=2.6.0 rocm=6.2     do they go together, and why not
  rock-matrix compat refresh --from saved-pages/     what a package index says that the table does not")]
pub(super) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Show a table, or which there are
    List {
        /// The table, such as torch, images or limits
        table: Option<String>,
        /// How to print it
        #[arg(long, value_enum, default_value = "human")]
        format: Format,
    },
    /// Say whether versions go together, and why
    Explain {
        /// torch=VERSION, rocm=VERSION, python=VERSION, flash-attn=VERSION, backend=NAME
        #[arg(required = true, value_name = "AXIS=VALUE")]
        values: Vec<String>,
        /// How to print it
        #[arg(long, value_enum, default_value = "human")]
        format: Format,
    },
    /// Compare the torch table with the pages of a package index
    Refresh {
        /// Root of an index laid out as rocm6.2/torch/, as a folder of saved pages or an address
        #[arg(long, value_name = "DIR|URL")]
        from: String,
        /// How to print the differences
        #[arg(long, value_enum, default_value = "human")]
        format: Format,
        /// Exit with 1 when there are differences
        #[arg(long)]
        check: bool,
    },
}

/// Runs the command.
pub(super) fn run(args: &Args, shell: &Shell) -> Exit {
    let compat = match load::compat(shell) {
        Ok(compat) => compat,
        Err(exit) => return exit,
    };
    match &args.command {
        Command::List { table, format } => list(&compat, table.as_deref(), *format, shell),
        Command::Explain { values, format } => explain(&compat, values, *format, shell),
        Command::Refresh { from, format, check } => refresh(&compat, from, *format, *check, shell),
    }
}

fn list(compat: &Compat, table: Option<&str>, format: Format, shell: &Shell) -> Exit {
    let Ok(serde_json::Value::Object(tables)) = serde_json::to_value(compat.tables()) else { return Exit::Machine };
    let Some(name) = table else {
        let count = |rows: &serde_json::Value| {
            rows.as_array().map_or_else(|| rows.as_object().map_or(0, serde_json::Map::len), Vec::len)
        };
        return shell.print(&match format {
            Format::Human => tables.iter().fold(String::new(), |mut text, (name, rows)| {
                let _ = writeln!(text, "{name:16} {} rows", count(rows));
                text
            }),
            Format::Json => {
                let counts: BTreeMap<&String, usize> = tables.iter().map(|(name, rows)| (name, count(rows))).collect();
                json(&counts)
            }
        });
    };
    let Some(rows) = tables.get(name) else {
        let fault = Diagnostic::new(&codes::UNKNOWN_TABLE, format!("there is no table `{name}`"))
            .at(Place::Argument(name.to_owned()), "");
        return shell.report(&[match nearest(name, tables.keys().map(String::as_str)) {
            Some(near) => fault.help(format!("did you mean `{near}`?")),
            None => fault.help("`rock-matrix compat list` shows the tables"),
        }]);
    };
    shell.print(&match format {
        Format::Json => json(rows),
        Format::Human => rows_as_text(rows),
    })
}

fn json<T: serde::Serialize>(value: &T) -> String {
    serde_json::to_string_pretty(value).map(|text| text + "\n").unwrap_or_default()
}

/// One block a row: its columns, then where it was read.
fn rows_as_text(rows: &serde_json::Value) -> String {
    let plain = |value: &serde_json::Value| match value {
        serde_json::Value::String(text) => text.clone(),
        serde_json::Value::Array(items) => items
            .iter()
            .map(|item| item.as_str().map_or_else(|| item.to_string(), str::to_owned))
            .collect::<Vec<_>>()
            .join(" "),
        other => other.to_string(),
    };
    let empty = |value: &serde_json::Value| matches!(plain(value).as_str(), "" | "null" | "{}" | "[]");
    let mut text = String::new();
    let list = match rows {
        serde_json::Value::Array(rows) => rows.clone(),
        other => vec![other.clone()],
    };
    for row in list.iter().filter_map(serde_json::Value::as_object) {
        for (column, value) in row.iter().filter(|(name, value)| *name != "origin" && !empty(value)) {
            let _ = writeln!(text, "{column:14} {}", plain(value));
        }
        if let Some(origin) = row.get("origin").and_then(serde_json::Value::as_object) {
            let part = |name: &str| origin.get(name).map(plain).unwrap_or_default();
            let reference = if part("ref").is_empty() { String::new() } else { format!(" ({})", part("ref")) };
            let _ = writeln!(
                text,
                "{:14} {}{reference}, {}, checked {}",
                "source",
                part("source"),
                part("status"),
                part("checked")
            );
            if !part("note").is_empty() {
                let _ = writeln!(text, "{:14} {}", "note", part("note"));
            }
        }
        text.push('\n');
    }
    text
}

#[derive(serde::Serialize)]
struct Answer {
    question: String,
    #[serde(rename = "answer")]
    verdict: &'static str,
    reason: String,
    hint: String,
    source: String,
}

const AXES: [&str; 5] = ["torch", "rocm", "python", "flash-attn", "backend"];

fn explain(compat: &Compat, values: &[String], format: Format, shell: &Shell) -> Exit {
    let mut sink = Sink::new();
    let mut given: BTreeMap<&str, &str> = BTreeMap::new();
    for pair in values {
        match pair.split_once('=') {
            Some((axis, value)) if AXES.contains(&axis) || compat.has_package(axis) => drop(given.insert(axis, value)),
            Some((axis, _)) => {
                let fault =
                    Diagnostic::new(&codes::BAD_QUESTION, format!("`{axis}` is nothing that facts speak about"))
                        .at(Place::Argument(pair.clone()), "");
                sink.push(match nearest(axis, AXES) {
                    Some(near) => fault.help(format!("did you mean `{near}`?")),
                    None => fault.help(format!("ask about {}", AXES.join(", "))),
                });
            }
            None => sink.push(
                Diagnostic::new(&codes::BAD_QUESTION, format!("`{pair}` is not of the form AXIS=VALUE"))
                    .at(Place::Argument(pair.clone()), "")
                    .help("write for example `torch=2.6.0 rocm=6.2`"),
            ),
        }
    }
    let answers = answers(compat, &given, &mut sink);
    if sink.has_errors() {
        return shell.report(&sink.finish());
    }
    let text = match format {
        Format::Json => json(&answers),
        Format::Human => answers.iter().fold(String::new(), |mut text, answer| {
            let _ = writeln!(text, "{}: {}", answer.question, answer.verdict);
            for (name, value) in [("because", &answer.reason), ("help", &answer.hint), ("from", &answer.source)] {
                if !value.is_empty() {
                    let _ = writeln!(text, "  {name}: {value}");
                }
            }
            text
        }),
    };
    shell.print(&text)
}

fn answers(compat: &Compat, given: &BTreeMap<&str, &str>, sink: &mut Sink) -> Vec<Answer> {
    fn parsed<T: std::str::FromStr<Err: std::fmt::Display>>(text: Option<&&str>, sink: &mut Sink) -> Option<T> {
        text?
            .parse()
            .map_err(|error: T::Err| {
                sink.push(Diagnostic::new(&codes::BAD_QUESTION, error.to_string()).help("correct the value"));
            })
            .ok()
    }
    let torch: Option<crate::names::Version> = parsed(given.get("torch"), sink);
    let rocm: Option<crate::names::RocmVersion> = parsed(given.get("rocm"), sink);
    let python: Option<crate::names::PythonVersion> = parsed(given.get("python"), sink);
    let package = given.iter().find(|(axis, _)| compat.has_package(axis));
    let version: Option<crate::names::PackageVersion> = parsed(package.map(|(_, value)| value), sink);
    let mut answers = Vec::new();
    let mut add = |question: String, verdict: Verdict| {
        let (answer, because) = match verdict {
            Verdict::Supported { source } => {
                return answers.push(Answer {
                    question,
                    verdict: "yes",
                    reason: String::new(),
                    hint: String::new(),
                    source,
                });
            }
            Verdict::Unsupported(because) => ("no", because),
            Verdict::Unknown(because) => ("unknown", because),
        };
        answers.push(Answer {
            question,
            verdict: answer,
            reason: because.reason,
            hint: because.hint,
            source: because.source,
        });
    };
    if let (Some(torch), Some(rocm)) = (&torch, &rocm) {
        add(format!("torch {torch} with ROCm {rocm}"), compat.torch_rocm(torch, rocm));
    }
    if let (Some(torch), Some(python)) = (&torch, python) {
        add(format!("torch {torch} with Python {python}"), compat.torch_python(torch, python));
    }
    if let (Some((package, _)), Some(version)) = (package, &version) {
        if let Some(backend) = given.get("backend") {
            add(
                format!("{package} {version} with the {backend} backend"),
                compat.package_backend(package, version, backend),
            );
        }
        if let Some(python) = python {
            add(format!("{package} {version} with Python {python}"), compat.package_python(package, version, python));
        }
    }
    if answers.is_empty() && !sink.has_errors() {
        sink.push(
            Diagnostic::new(&codes::BAD_QUESTION, "no fact joins these values")
                .help("ask about torch with rocm, torch with python, or flash-attn with backend or python"),
        );
    }
    answers
}

fn refresh(compat: &Compat, from: &str, format: Format, check: bool, shell: &Shell) -> Exit {
    let mut sink = Sink::new();
    let pages = if from.starts_with("http://") || from.starts_with("https://") {
        fetched(compat, from.trim_end_matches('/'), shell, &mut sink)
    } else {
        saved(Path::new(from), shell)
    };
    let pages = match pages {
        Ok(pages) => pages,
        Err(exit) => {
            shell.report(&sink.finish());
            return exit;
        }
    };
    let rows = &compat.tables().torch;
    let differences = refresh::differences(rows, &pages);
    let text = match format {
        Format::Json => json(&differences),
        Format::Human if differences.is_empty() => "the torch table says what the pages say\n".to_owned(),
        Format::Human => refresh::proposal(rows, &differences, &shell.environment.today()),
    };
    shell.report(&sink.finish());
    match shell.print(&text) {
        Exit::Done if check && !differences.is_empty() => Exit::Fault,
        exit => exit,
    }
}

/// Pages of a saved index: `DIR/rocm6.2/torch/index.html`, or `DIR/rocm6.2/torch.html`.
fn saved(root: &Path, shell: &Shell) -> Result<Vec<IndexPage>, Exit> {
    let mut pages = Vec::new();
    for folder in sys::folders(root).map_err(|error| shell.report(&[error.into()]))? {
        let Some(rocm) = folder.file_name().and_then(|name| name.to_str()?.strip_prefix("rocm")).map(str::to_owned)
        else {
            continue;
        };
        let candidates: [PathBuf; 2] = [folder.join("torch/index.html"), folder.join("torch.html")];
        if let Some(path) = candidates.iter().find(|path| sys::is_file(path)) {
            let bytes =
                sys::read_bytes(path, fetch::LARGEST_PAGE_BYTES).map_err(|error| shell.report(&[error.into()]))?;
            pages.push(IndexPage { rocm_index: rocm, html: String::from_utf8_lossy(&bytes).into_owned() });
        }
    }
    if pages.is_empty() {
        let text = format!("`{}` holds no pages such as rocm6.2/torch/index.html", root.display());
        let help = "save the pages of an index under those names";
        return Err(shell.report(&[Diagnostic::new(&codes::CANNOT_FETCH, text).help(help)]));
    }
    Ok(pages)
}

/// Pages of an index: those its root page names, and those of the table. One that is not there is told of.
fn fetched(compat: &Compat, root: &str, shell: &Shell, sink: &mut Sink) -> Result<Vec<IndexPage>, Exit> {
    let mut indexes: Vec<String> = compat.tables().torch.iter().flat_map(|row| row.rocm_index.clone()).collect();
    if let Ok(html) = fetch::get(&format!("{root}/"), fetch::LARGEST_PAGE_BYTES) {
        indexes.extend(refresh::linked_rocm_indexes(&html));
    }
    indexes.sort();
    indexes.dedup();
    let mut pages = Vec::new();
    for rocm in indexes {
        shell.detail(&format!("fetching {root}/rocm{rocm}/torch/"));
        match fetch::get(&format!("{root}/rocm{rocm}/torch/"), fetch::LARGEST_PAGE_BYTES) {
            Ok(html) => pages.push(IndexPage { rocm_index: rocm, html }),
            Err(error) if matches!(error.status, Some(403 | 404)) => {
                shell.say(&format!("there is no index rocm{rocm} any more, or not yet"));
            }
            Err(error) => {
                sink.push(error.into());
                return Err(Exit::Machine);
            }
        }
    }
    if pages.is_empty() {
        sink.push(
            Diagnostic::new(&codes::CANNOT_FETCH, format!("no page of torch was found under {root}"))
                .at(Place::Remote(root.to_owned()), "")
                .help("give the root of an index that has rocm6.2/torch/ and the like"),
        );
        return Err(Exit::Machine);
    }
    Ok(pages)
}
