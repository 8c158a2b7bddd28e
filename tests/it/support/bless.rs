//! Expected outputs in files, written anew by `ROCK_BLESS=1 cargo test`.

use std::path::Path;

/// Compares a text with a file below the package's root, or writes the file where `ROCK_BLESS` is
/// set.
#[track_caller]
pub fn assert_file(path: &str, actual: &str) {
    let full = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    if std::env::var_os("ROCK_BLESS").is_some() {
        if std::fs::read_to_string(&full).is_ok_and(|present| present == actual) {
            return;
        }
        std::fs::create_dir_all(full.parent().unwrap()).unwrap();
        std::fs::write(&full, actual).unwrap();
        return;
    }
    let expected = std::fs::read_to_string(&full).unwrap_or_default();
    assert!(
        expected == actual,
        "{path} is not what is made now; `ROCK_BLESS=1 cargo test` writes it anew\n--- expected\n{expected}\n--- actual\n{actual}"
    );
}
