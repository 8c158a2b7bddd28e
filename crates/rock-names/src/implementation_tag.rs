//! Python and ABI tags that an implementation of Python has (PEP 425).

/// The abbreviations of implementations in Python tags (PEP 425, "Python Tag"), and names of
/// implementations without one, as in `sys.implementation.name`.
const IMPLEMENTATIONS: [&str; 11] = [
    "py",
    "cp",
    "ip",
    "pp",
    "jy",
    "graalpy",
    "graalpython",
    "micropython",
    "circuitpython",
    "rustpython",
    "pyston",
];

/// Names of implementations that have an abbreviation.
const ABBREVIATED: [(&str, &str); 5] = [
    ("python", "py"),
    ("cpython", "cp"),
    ("ironpython", "ip"),
    ("pypy", "pp"),
    ("jython", "jy"),
];

/// Returns whether a Python tag in lower case is that of an implementation: its abbreviation or
/// name and a version, such as `py3`, `cp312` and `graalpy311`.
///
/// ```
/// use rock_names::is_python_tag;
///
/// assert!(["py3", "cp312", "pp310", "cp3_12", "graalpy311"].into_iter().all(is_python_tag));
/// assert!(!["3", "312", "python3", "cp", "cp312t", "foo"].into_iter().any(is_python_tag));
/// ```
pub fn is_python_tag(tag: &str) -> bool {
    let (name, version) = split_name(tag);
    IMPLEMENTATIONS.contains(&name) && is_version(version)
}

/// Returns whether an ABI tag in lower case may be that of an implementation: `none`, or one with a
/// number, such as `abi3`, `cp313t` and `graalpy242_311_native`.
pub fn is_abi_tag(tag: &str) -> bool {
    let has_number = tag.bytes().any(|byte| byte.is_ascii_digit());
    tag == "none" || has_number && tag.starts_with(|first: char| first.is_ascii_alphabetic())
}

/// Returns the likely Python tag for unknown tags in lower case: `cp312` for `312`, for `3` and
/// `12`, and for `cpython312`.
pub fn nearest_python_tag(tags: &[String]) -> Option<String> {
    let numbers = || tags.iter().filter(|tag| split_name(tag).0.is_empty());
    let is_major = |tag: &&String| ["2", "3"].contains(&tag.as_str());
    if let (Some(major), 2) = (numbers().find(is_major), numbers().count()) {
        let minor = numbers().find(|tag| *tag != major)?;
        return Some(format!("cp{major}{minor}")).filter(|tag| is_python_tag(tag));
    }
    tags.iter().find_map(|tag| {
        let (name, version) = split_name(tag);
        let known = ABBREVIATED.iter().find(|(long, _)| *long == name);
        let near = match known {
            Some((_, abbreviation)) => format!("{abbreviation}{version}"),
            None if name.is_empty() && ["2", "3"].contains(&version) => format!("py{version}"),
            None if name.is_empty() => format!("cp{version}"),
            None => return None,
        };
        is_python_tag(&near).then_some(near)
    })
}

/// Splits a tag before its first digit.
fn split_name(tag: &str) -> (&str, &str) {
    tag.split_at(tag.find(|c: char| c.is_ascii_digit()).unwrap_or(tag.len()))
}

/// Returns whether a text is a version without dots, `312` or `3_12`.
fn is_version(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_digit())
        && text
            .bytes()
            .all(|byte| byte.is_ascii_digit() || byte == b'_')
}

#[cfg(test)]
mod tests {
    use super::{is_abi_tag, nearest_python_tag};

    #[test]
    fn abis_have_a_number_or_are_none() {
        let known = ["none", "abi3", "abi3t", "cp312", "cp27mu", "cp313t"];
        assert!(known.into_iter().all(is_abi_tag));
        assert!(is_abi_tag("pypy310_pp73") && is_abi_tag("graalpy242_311_native"));
        assert!(!["foo", "312", "any"].into_iter().any(is_abi_tag));
    }

    #[test]
    fn versions_and_long_names_have_a_near_tag() {
        let near = |tags: &[&str]| {
            let tags: Vec<String> = tags.iter().map(|tag| (*tag).to_owned()).collect();
            nearest_python_tag(&tags).unwrap_or_default()
        };
        assert_eq!(near(&["12", "3"]), "cp312");
        assert_eq!(near(&["3", "12"]), "cp312");
        assert_eq!(near(&["312"]), "cp312");
        assert_eq!(near(&["3"]), "py3");
        assert_eq!(near(&["python3"]), "py3");
        assert_eq!(near(&["pypy310"]), "pp310");
        assert_eq!(near(&["foo"]), "");
    }
}
