//! The text files of wheels, and their names.

use rock_matrix::names::{Requirement, WheelName};
use rock_matrix::wheel::record::Record;
use rock_matrix::wheel::{HeaderDocument, invalid_entry_points};

/// RECORD: what was read reads the same when it was written.
pub fn record(bytes: &[u8]) {
    let Ok(record) = Record::parse(bytes, "RECORD") else {
        return;
    };
    let written = record.to_bytes();
    let again = Record::parse(&written, "RECORD").expect("what was written can be read");
    assert_eq!(again, record);
    assert_eq!(again.to_bytes(), written);
}

/// METADATA and WHEEL: setting one header leaves the others and the body as they are.
pub fn metadata(bytes: &[u8]) {
    let before = HeaderDocument::parse(bytes.to_vec());
    assert_eq!(before.bytes(), bytes);
    for (name, values) in [
        ("Version", &["1.0"][..]),
        ("Tag", &["a-b-c", "d-e-f"]),
        ("Name", &[]),
    ] {
        let values: Vec<String> = values.iter().map(|value| (*value).to_owned()).collect();
        let mut after = before.clone();
        after.set(name, &values);
        assert!(
            after.get_all(name).eq(values.iter().map(String::as_str)),
            "{name}"
        );
        for other in ["Version", "Tag", "Name", "Requires-Dist", "Author"]
            .iter()
            .filter(|one| **one != name)
        {
            assert!(
                after.get_all(other).eq(before.get_all(other)),
                "{other} when {name} is set"
            );
        }
        let once = after.bytes().to_vec();
        after.set(name, &values);
        assert_eq!(after.bytes(), once);
        assert_eq!(HeaderDocument::parse(once), after);
    }
}

/// Wheel names: a name prints as it was written, and a normal form is its own.
pub fn wheel_name(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    let _ = WheelName::from_percent_encoded(text);
    let name: WheelName = match text.parse() {
        Ok(name) => name,
        Err(error) => return assert!(!error.to_string().is_empty()),
    };
    assert_eq!(name.to_string().parse::<WheelName>().as_ref(), Ok(&name));
    let normal = name.normalized();
    assert_eq!(normal.normalized(), normal);
    // A normal form may be longer than what was written, and so than a name may be.
    if normal.to_string().len() <= WheelName::MAX_BYTES {
        assert_eq!(
            normal.to_string().parse::<WheelName>().as_ref(),
            Ok(&normal)
        );
    }
    assert_eq!(name.label().is_some(), normal.label().is_some());
    assert!(
        name.expanded_tags()
            .iter()
            .all(|tag| tag.matches('-').count() == 2)
    );
}

/// `entry_points.txt`: faults come in the order of lines, and a text without faults has only groups
/// and entries, each group once. A line with another end of a line in it may have several faults.
pub fn entry_points(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    let faults = invalid_entry_points(text);
    assert!(faults.windows(2).all(|pair| pair[0].line <= pair[1].line));
    assert!(
        faults
            .iter()
            .all(|fault| fault.line <= text.lines().count() && !fault.reason.is_empty())
    );
    let lines: Vec<&str> = text
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .collect();
    if faults.is_empty() {
        assert!(
            lines
                .iter()
                .all(|line| line.starts_with('[') == line.ends_with(']') || line.contains('='))
        );
        let groups = lines.iter().filter(|line| line.starts_with('['));
        let distinct: std::collections::BTreeSet<&&str> = groups.clone().collect();
        assert_eq!(distinct.len(), groups.count());
    }
}

/// Requirements: the name of one that parses is a requirement itself.
pub fn requirement(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    match text.parse::<Requirement>() {
        Ok(requirement) => assert!(requirement.name().parse::<Requirement>().is_ok()),
        Err(error) => assert!(!error.reason.is_empty()),
    }
}
