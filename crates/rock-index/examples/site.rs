//! Writes the pages of a package index for wheels that are served below a URL:
//! `site https://example.org/wheels site dist/*.whl`.
#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "programs access files and print"
)]

use std::path::{Path, PathBuf};
use std::{env, error::Error, fs};

use rock_compat::{Compat, RuntimeRequirements};
use rock_index::{FileKind, FileLinks, IndexFile, IndexFolder, repository};
use rock_names::{LabelParts, WheelName};

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = env::args().skip(1);
    let (Some(url), Some(out)) = (args.next(), args.next()) else {
        return Err("usage: site URL OUT WHEEL...".into());
    };
    let compat = Compat::embedded();
    let rocm_versions = compat.rocm_versions();
    let mut files = Vec::new();
    for path in args.map(PathBuf::from) {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let wheel: WheelName = name.parse()?;
        let (project, version) = (wheel.distribution().clone(), wheel.version().clone());
        let label = wheel
            .label()
            .map(|label| LabelParts::parse(&label, rocm_versions));
        files.push(IndexFile {
            folder: IndexFolder::of(label.transpose()?.map(|label| label.parts).as_ref()),
            size_bytes: path.metadata()?.len(),
            ..IndexFile::named(name.into_owned(), project, version, FileKind::Wheel(wheel))
        });
    }
    let files: Vec<&IndexFile> = files.iter().collect();
    let links = FileLinks::Absolute(url.parse()?);
    let site = repository(&files, &links, &compat, |_, _| {
        RuntimeRequirements::default()
    })?;
    for (name, page) in &site.pages {
        let path = Path::new(&out).join(name);
        fs::create_dir_all(path.parent().unwrap_or(Path::new(".")))?;
        fs::write(&path, page)?;
        println!("{}", path.display());
    }
    Ok(())
}
