//! Finished wheels with something changed, as a faulty tool would have written them.

use std::collections::BTreeMap;
use std::io::{Cursor, Read as _, Write as _};
use std::path::Path;

use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::wheel::row;

/// Members of a wheel by name, with their permission bits.
pub type Members = BTreeMap<String, (Vec<u8>, u32)>;

/// The members of a wheel.
pub fn members(path: &Path) -> Members {
    let mut archive = zip::ZipArchive::new(Cursor::new(std::fs::read(path).unwrap())).unwrap();
    (0..archive.len())
        .map(|at| {
            let mut file = archive.by_index(at).unwrap();
            let mut content = Vec::new();
            file.read_to_end(&mut content).unwrap();
            (
                file.name().unwrap().into_owned(),
                (content, file.unix_mode().unwrap() & 0o777),
            )
        })
        .collect()
}

/// Changes members of a wheel, whose RECORD is then that of the result.
pub fn rewrite(path: &Path, edit: impl FnOnce(&mut Members)) {
    let mut members = members(path);
    edit(&mut members);
    let record = members
        .keys()
        .find(|name| name.ends_with(".dist-info/RECORD"))
        .unwrap()
        .clone();
    members.remove(&record);
    let mut rows: String = members
        .iter()
        .map(|(name, (content, _))| row(name, content))
        .collect();
    rows.push_str(&format!("{record},,\n"));
    members.insert(record, (rows.into_bytes(), 0o644));
    write(path, &members);
}

/// Writes a wheel of these members as they are.
pub fn write(path: &Path, members: &Members) {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, (content, mode)) in members {
        writer
            .start_file(
                name.as_str(),
                SimpleFileOptions::default().unix_permissions(*mode),
            )
            .unwrap();
        writer.write_all(content).unwrap();
    }
    std::fs::write(path, writer.finish().unwrap().into_inner()).unwrap();
}
