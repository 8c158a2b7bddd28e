//! The state in a directory: `state.json`, and the kept bytes in `objects/` by their SHA-256
//! digest.

use std::fs;
use std::io;
use std::path::Path;

use fake_github::model::FakeGithub;

/// Loads the state of a directory; a missing directory is an empty state.
pub fn load(folder: &Path, github: &mut FakeGithub) -> io::Result<()> {
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

/// Saves the state; `state.json` is replaced last, in one step.
pub fn save(folder: &Path, github: &FakeGithub) -> io::Result<()> {
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

/// Writes the recorded exchanges, one JSON object per line.
pub fn record(file: &Path, github: &FakeGithub) -> io::Result<()> {
    let mut text = String::new();
    for exchange in github.ledger.exchanges.iter().flatten() {
        text.push_str(&serde_json::to_string(exchange)?);
        text.push('\n');
    }
    fs::write(file, text)
}
