//! Paths below a root, with `/` between their parts.

/// A path without `.`, `..` and doubled slashes; `None` where it leads above its root.
pub fn without_dots(path: &str) -> Option<String> {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::without_dots;

    #[test]
    fn a_path_is_folded_below_its_root_and_above_it_there_is_nothing() {
        assert_eq!(without_dots("a//./b/../c").as_deref(), Some("a/c"));
        assert_eq!(without_dots("a/..").as_deref(), Some(""));
        assert_eq!(without_dots("a/../.."), None);
    }
}
