//! The text files of wheels, and their names.

use rock_matrix::names::WheelName;
use rock_matrix::wheel::Headers;
use rock_matrix::wheel::record::Record;

/// RECORD: what was read reads the same when it was written.
pub fn record(bytes: &[u8]) {
    let Ok(record) = Record::parse(bytes, "RECORD") else { return };
    let written = record.to_bytes();
    let again = Record::parse(&written, "RECORD").expect("what was written can be read");
    assert_eq!(again, record);
    assert_eq!(again.to_bytes(), written);
}

/// METADATA and WHEEL: setting one header leaves the others and the body as they are.
pub fn metadata(bytes: &[u8]) {
    let before = Headers::parse(bytes.to_vec());
    assert_eq!(before.bytes(), bytes);
    for (name, values) in [("Version", &["1.0"][..]), ("Tag", &["a-b-c", "d-e-f"]), ("Name", &[])] {
        let values: Vec<String> = values.iter().map(|value| (*value).to_owned()).collect();
        let mut after = before.clone();
        after.set(name, &values);
        assert!(after.all(name).eq(values.iter().map(String::as_str)), "{name}");
        for other in ["Version", "Tag", "Name", "Requires-Dist", "Author"].iter().filter(|one| **one != name) {
            assert!(after.all(other).eq(before.all(other)), "{other} when {name} is set");
        }
        let once = after.bytes().to_vec();
        after.set(name, &values);
        assert_eq!(after.bytes(), once);
        assert_eq!(Headers::parse(once), after);
    }
}

/// Wheel names: what was read is printed the same, and a normal form is its own.
pub fn wheel_name(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let name: WheelName = match text.parse() {
        Ok(name) => name,
        Err(error) => return assert!(!error.to_string().is_empty()),
    };
    assert_eq!(name.to_string().parse::<WheelName>().as_ref(), Ok(&name));
    let normal = name.normalized();
    assert_eq!(normal.normalized(), normal);
    // A normal form may be longer than what was written, and so than a name may be.
    if normal.to_string().len() <= WheelName::MOST_BYTES {
        assert_eq!(normal.to_string().parse::<WheelName>().as_ref(), Ok(&normal));
    }
    assert_eq!(name.label().is_some(), normal.label().is_some());
    assert!(name.expanded_tags().iter().all(|tag| tag.matches('-').count() == 2));
}
