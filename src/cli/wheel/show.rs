//! `wheel show`: the platforms that wheels run on, and those that their filenames claim.

use std::path::{Path, PathBuf};

use super::options::{AuditSettings, Options};
use super::{Format, fail, report};
use crate::audit::{
    Auditor, Inspection, JsonDialect, ShowQueue, ShownWheel, WheelFile, find_wheels,
};
use crate::cli::{Exit, Shell, load};
use crate::diagnostic::Diagnostics;

/// Show which platforms wheels run on, and whether their filenames are accurate
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Exits with 0 if every wheel could be read: findings are warnings here, and errors in `wheel check`.

Examples:
  rock-matrix wheel show dist/*.whl
  rock-matrix wheel show built.whl --no-host-libs      the same result on every machine
  rock-matrix wheel show built.whl --exclude-preset rocm,torch
  rock-matrix wheel show built.whl --json              auditwheel's keys, and ours under `rock`
  rock-matrix wheel show built.whl --json=auditwheel   only auditwheel's keys")]
pub(super) struct Args {
    /// Wheels, or directories with wheels
    #[arg(required = true, value_name = "WHEEL|DIR")]
    wheels: Vec<PathBuf>,
    /// Output format
    #[arg(
        long,
        value_enum,
        default_value = "human",
        value_name = "FORMAT",
        conflicts_with = "json",
        help_heading = "Output"
    )]
    format: Format,
    /// Same as --format json, or only auditwheel's keys with =auditwheel
    ///
    /// Prints one line per wheel.
    #[arg(
        long,
        value_name = "KEYS",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "own",
        help_heading = "Output"
    )]
    json: Option<JsonReaders>,
    #[command(flatten)]
    options: Options,
    /// Accepted for compatibility with auditwheel: wheels without libraries never fail
    #[arg(long, hide = true)]
    allow_pure_python_wheel: bool,
}

/// The programs that JSON is for.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum JsonReaders {
    /// auditwheel's keys, and ours under `rock`
    Own,
    /// Only auditwheel's keys
    Auditwheel,
}

/// Runs the command.
pub(super) fn run(args: &Args, shell: &Shell) -> Exit {
    let settings = AuditSettings {
        inspection: Inspection::GPU_TABLES,
        ..AuditSettings::default()
    };
    let compat = match load::compat(shell) {
        Ok(compat) => compat,
        Err(exit) => return exit,
    };
    let auditor = match args.options.auditor(settings, compat, shell) {
        Ok(auditor) => auditor,
        Err(errors) => return fail(shell, &errors),
    };
    let dialect = match (args.json, args.format) {
        (Some(JsonReaders::Auditwheel), _) => Some(JsonDialect::Auditwheel),
        (Some(JsonReaders::Own), _) | (None, Format::Json) => Some(JsonDialect::Rock),
        (None, Format::Human) => None,
    };
    let (paths, mut all) = find_wheels(&args.wheels);
    let mut queue = ShowQueue::default();
    let last = paths.len().saturating_sub(1);
    for (number, path) in paths.iter().enumerate() {
        let mut outputs = queue.push(show(path, &auditor, dialect));
        if number == last {
            outputs.extend(queue.finish());
        }
        for (text, found) in outputs {
            if let exit @ (Exit::Machine | Exit::Fault) = shell.print(&text) {
                return exit;
            }
            all.extend(found);
        }
    }
    all.extend(args.options.unmatched_excludes(&auditor, paths.len()));
    report(shell, all)
}

/// Audits a wheel, or returns the errors if it cannot be read.
fn show(path: &Path, auditor: &Auditor<'_>, dialect: Option<JsonDialect>) -> ShownWheel {
    let try_show = || {
        let file = WheelFile::open(path)?;
        let audited = auditor.audit_as(&file.file_name, &file.name, &file.file)?;
        Ok::<_, Diagnostics>(ShownWheel::new(&audited, dialect))
    };
    try_show().unwrap_or_else(|errors| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        ShownWheel::unreadable(&name, errors, dialect)
    })
}
