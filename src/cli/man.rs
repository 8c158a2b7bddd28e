//! `man`: manual pages, one for each command.

use std::path::PathBuf;

use super::{Exit, Shell, output_path};
use crate::diagnostic::Diagnostic;
use crate::sys;

#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  rock-matrix man | man -l -                     show the page of rock-matrix
  rock-matrix man --out ~/.local/share/man/man1  install all pages")]
pub(super) struct Args {
    /// Write a page for each command to this directory, instead of the first one to stdout
    #[arg(short, long, value_name = "DIR", value_parser = output_path::several_files())]
    out: Option<PathBuf>,
}

/// Runs the command.
pub(super) fn run(args: &Args, shell: &Shell) -> Exit {
    let pages = pages();
    let Some(directory) = &args.out else {
        return shell.print_data(pages.first().map_or("", |(_, text)| text));
    };
    let mut written = 0;
    for (name, text) in &pages {
        match sys::replace_if_changed(&directory.join(name), text.as_bytes()) {
            Ok(changed) => written += usize::from(changed),
            Err(error) => {
                shell.report(&[Diagnostic::from(error)]);
                return Exit::Machine;
            }
        }
    }
    let unchanged = pages.len() - written;
    shell.say(&format!(
        "wrote {written} pages into {}, {unchanged} were up to date",
        directory.display()
    ));
    Exit::Done
}

/// Returns the filenames and texts of all pages, the program's own page first.
fn pages() -> Vec<(String, String)> {
    let root = super::command();
    let source = format!(
        "{} {}",
        root.get_name(),
        root.get_version().unwrap_or_default()
    );
    let (mut pages, mut open) = (Vec::new(), vec![root]);
    while let Some(command) = open.pop() {
        let mut below: Vec<clap::Command> = command
            .get_subcommands()
            .filter(|inner| !inner.is_hide_set())
            .cloned()
            .collect();
        below.reverse();
        open.extend(below);
        // Options that only `--help` shows would have no description.
        let command = command.mut_args(|argument| argument.hide_short_help(false));
        let page = clap_mangen::Man::new(command).source(source.as_str());
        let mut text = Vec::new();
        page.render(&mut text)
            .expect("memory can always be written to");
        pages.push((
            page.get_filename(),
            String::from_utf8_lossy(&text).into_owned(),
        ));
    }
    pages
}

#[cfg(test)]
mod tests {
    #[test]
    fn each_option_of_each_page_has_a_description() {
        for (name, text) in super::pages() {
            let lines: Vec<&str> = text.lines().collect();
            for entry in lines.windows(3).filter(|entry| entry[0] == ".TP") {
                let is_described = !entry[2].is_empty() && !entry[2].starts_with('.');
                assert!(is_described, "{name}: {}", entry[1]);
            }
        }
    }
}
