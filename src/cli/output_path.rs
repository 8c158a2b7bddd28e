//! Values of `--out`.

use std::path::{Path, PathBuf};

use clap::builder::{PathBufValueParser, TypedValueParser};

/// Returns the file that a document is written to; `None` for stdout, also for `-`. A document that
/// is compared with its file needs one, so that `-` is a file then.
pub(super) fn document_file(out: Option<&Path>, is_compared: bool) -> Option<&Path> {
    out.filter(|out| is_compared || !is_stdout(out))
}

fn is_stdout(out: &Path) -> bool {
    out == Path::new("-")
}

/// Returns a parser of paths that several files are written to, for `value_parser`. It refuses `-`.
pub(super) fn several_files() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(|out| {
        if is_stdout(&out) {
            return Err(
                "several files cannot be written to stdout; `./-` is the path of that name",
            );
        }
        Ok(out)
    })
}
