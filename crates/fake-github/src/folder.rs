//! The state in a folder: `state.json`, and the kept bytes under `objects/` by their SHA-256.

use std::fs;
use std::io;
use std::path::Path;

use fake_github::model::Github;

/// Goes on with what a folder holds; a folder that is not there holds nothing.
pub fn load(folder: &Path, github: &mut Github) -> io::Result<()> {
    let text = match fs::read_to_string(folder.join("state.json")) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    let object = |sha256: &str| {
        let is_name = sha256.len() == 64 && sha256.bytes().all(|byte| byte.is_ascii_hexdigit());
        if is_name {
            fs::read(folder.join("objects").join(sha256)).ok()
        } else {
            None
        }
    };
    github
        .restore(&text, object)
        .map_err(|error| io::Error::other(format!("state.json: {error}")))
}

/// Writes the state; the text goes in last, and whole.
pub fn save(folder: &Path, github: &Github) -> io::Result<()> {
    let objects = folder.join("objects");
    fs::create_dir_all(&objects)?;
    for (sha256, bytes) in github.objects() {
        let path = objects.join(sha256);
        if !path.exists() {
            fs::write(objects.join("incoming"), bytes)?;
            fs::rename(objects.join("incoming"), path)?;
        }
    }
    let part = folder.join("state.json.part");
    fs::write(&part, github.to_json())?;
    fs::rename(part, folder.join("state.json"))
}

/// Writes the exchanges that were kept, one JSON object a line.
pub fn record(file: &Path, github: &Github) -> io::Result<()> {
    let mut text = String::new();
    for exchange in github.ledger.exchanges.iter().flatten() {
        text.push_str(&serde_json::to_string(exchange)?);
        text.push('\n');
    }
    fs::write(file, text)
}
