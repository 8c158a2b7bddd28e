//! Where a file differs from what would be rendered.

/// One line for people, `None` when they are equal.
pub fn drift(path: &str, present: Option<&str>, rendered: &str) -> Option<String> {
    let Some(present) = present else { return Some(format!("{path}: the file is not there")) };
    if present == rendered {
        return None;
    }
    let mut line = 0;
    let (mut old, mut new) = (present.split('\n'), rendered.split('\n'));
    loop {
        line += 1;
        match (old.next(), new.next()) {
            (None, None) => return None,
            (old, new) if old == new => {}
            (old, new) => {
                let shown = |text: Option<&str>| text.map_or_else(|| "nothing".to_owned(), |text| format!("`{text}`"));
                return Some(format!("{path}:{line}: has {}, would be {}", shown(old), shown(new)));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::drift;

    #[test]
    fn the_first_line_that_differs_is_told() {
        assert_eq!(drift("a", Some("x\ny\n"), "x\ny\n"), None);
        assert_eq!(drift("a", Some("x\ny\n"), "x\nz\n").unwrap(), "a:2: has `y`, would be `z`");
        assert_eq!(drift("a", Some("x"), "x\n").unwrap(), "a:2: has nothing, would be ``");
        assert_eq!(drift("a", None, "x").unwrap(), "a: the file is not there");
    }
}
