//! What follows a build whose stages are all done: find the wheel, check it, copy it out, say so.

use super::Args;
use super::prepare::{Prepared, shown};
use super::progress::span;
use crate::cli::{Exit, Format, Shell};
use crate::diagnostic::Diagnostic;
use crate::exec::{self, Built, BuiltWheel, CollectFault, Outcome};
use crate::sys;

/// Delivers the wheel of a finished build.
pub(super) fn finish(job: &Prepared, built: &mut Built, args: &Args, shell: &Shell) -> Exit {
    if job.build.wheels.is_empty() {
        return Exit::Done;
    }
    let exit = match deliver(job, args) {
        Ok(wheel) => {
            let told = say(&wheel, built, args, shell);
            built.record.wheels = vec![wheel];
            told
        }
        Err(fault) => {
            let machine = matches!(fault, CollectFault::File(_));
            built.record.outcome = if machine { Outcome::Machine } else { Outcome::Refused };
            shell.report(&[Diagnostic::from(&fault)]);
            if machine { Exit::Machine } else { Exit::Fault }
        }
    };
    match save(job, built, args) {
        Ok(()) => exit,
        Err(error) => {
            shell.report(&[error.into()]);
            Exit::Machine
        }
    }
}

fn deliver(job: &Prepared, args: &Args) -> Result<BuiltWheel, CollectFault> {
    let wheel = exec::collect(job.folder.path(), &job.build.wheels)?;
    exec::wheel_matches(&job.job.wheel, &wheel.name)?;
    exec::copy_out(&wheel.path, &wheel.name, &args.out)
}

/// Writes the record, and beside a wheel a copy of it.
fn save(job: &Prepared, built: &Built, args: &Args) -> Result<(), sys::FileError> {
    built.record.save(&job.folder.record())?;
    for wheel in &built.record.wheels {
        let stem = wheel.name.strip_suffix(".whl").unwrap_or(&wheel.name);
        built.record.save(&args.out.join(format!("{stem}.build.json")))?;
    }
    Ok(())
}

fn say(wheel: &BuiltWheel, built: &Built, args: &Args, shell: &Shell) -> Exit {
    let used: Vec<String> =
        built.record.used.iter().filter_map(|(name, value)| Some(format!("{name} {}", value.as_ref()?))).collect();
    let took = span(std::time::Duration::from_secs(built.record.seconds));
    match built.passed_over {
        0 => shell.say(&format!("built in {took}")),
        stages => shell.say(&format!("built in {took}; {stages} stages were done before")),
    }
    if !used.is_empty() {
        shell.say(&format!("it used {}", used.join(", ")));
    }
    if args.format == Format::Json {
        return Exit::Done;
    }
    let path = shown(std::path::Path::new(&wheel.path), shell);
    shell.print(&format!("{path}  {}  {} bytes\n", wheel.digest, wheel.size_bytes))
}
