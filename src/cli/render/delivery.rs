//! Texts that are printed, written to files or compared with them.

use std::path::{Component, Path};

use super::options::Options;
use crate::cli::load::MAX_FILE_BYTES;
use crate::cli::{Exit, Shell, output_path};
use crate::exec::{ROOT, ignore_directory};
use crate::publish::file_in_path_error;
use crate::{render, sys};

/// Prints the texts, writes them, or compares them with files. The text of a single job is written
/// to `--out` itself, unless that is a directory or ends with `/`.
pub(super) fn deliver(
    texts: Vec<(String, String)>,
    alone: bool,
    options: &Options,
    shell: &Shell,
) -> Exit {
    let Some(out) = output_path::document_file(options.out.as_deref(), options.check) else {
        return shell.print_data(
            &texts
                .into_iter()
                .map(|(_, text)| text)
                .collect::<Vec<_>>()
                .join("\n"),
        );
    };
    let is_directory = out.as_os_str().to_string_lossy().ends_with('/')
        || (sys::exists(out) && !sys::is_file(out));
    let alone = alone && !is_directory;
    if !alone && let Some(error) = file_in_path_error(out) {
        return shell.report(&[error]);
    }
    let mut exit = Exit::Done;
    for (name, text) in texts {
        let path = if alone {
            out.to_owned()
        } else {
            out.join(name)
        };
        let ended = if options.check {
            compare(shell, &path, &text)
        } else {
            write(shell, &path, &text)
        };
        let is_of_jobs = path.components().find(|part| *part != Component::CurDir)
            == Some(Component::Normal(ROOT.as_ref()));
        if is_of_jobs
            && ended == Exit::Done
            && let Err(error) = ignore_directory(Path::new(ROOT))
        {
            shell.report(&[error.into()]);
            return Exit::Machine;
        }
        if ended != Exit::Done {
            exit = ended;
        }
    }
    exit
}

/// Compares a file with the text that would be written, and reports the first difference.
pub(in crate::cli) fn compare(shell: &Shell, path: &Path, text: &str) -> Exit {
    let present = sys::read_text(path, MAX_FILE_BYTES).ok();
    match render::drift(&path.display().to_string(), present.as_deref(), text) {
        None => Exit::Done,
        Some(difference) => {
            shell.tell(&difference);
            Exit::Fault
        }
    }
}

/// Writes a file atomically unless it is up to date. A script is made executable.
pub(in crate::cli) fn write(shell: &Shell, path: &Path, text: &str) -> Exit {
    let written = sys::write_if_changed(path, text.as_bytes()).and_then(|changed| {
        if text.starts_with("#!") {
            sys::make_executable(path)?;
        }
        Ok(changed)
    });
    match written {
        Ok(changed) => {
            shell.say(&format!(
                "{} {}",
                if changed { "wrote" } else { "unchanged:" },
                path.display()
            ));
            Exit::Done
        }
        Err(error) => {
            shell.report(&[error.into()]);
            Exit::Machine
        }
    }
}
