//! Names of stored assets.

/// Returns the name under which GitHub stores an asset.
///
/// "GitHub renames asset filenames that have special characters, non-alphanumeric characters, and
/// leading or trailing periods" (REST API, "Upload a release asset"). The new names are not
/// documented, but users have reported them: `~`, `:`, space and brackets become a period
/// (softprops/action-gh-release, issue 159), a sequence of them becomes one (travis-ci/dpl, issue
/// 821), and `+`, `-`, `_` and `.` are kept. GitHub transliterates some non-ASCII letters; here
/// they become a period. A leading period gets the prefix `default`, a trailing one is removed.
pub fn stored_name(requested: &str) -> String {
    let mut name = String::with_capacity(requested.len());
    for letter in requested.chars() {
        let kept = if letter.is_ascii_alphanumeric() || "._+-".contains(letter) {
            letter
        } else {
            '.'
        };
        if kept != '.' || !name.ends_with('.') {
            name.push(kept);
        }
    }
    let name = name.trim_end_matches('.');
    if name.is_empty() || name.starts_with('.') {
        format!("default{name}")
    } else {
        name.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::stored_name;

    #[test]
    fn a_name_of_plain_letters_is_kept() {
        for name in [
            "flash_attn-2.8.3+rocm62torch2.5-cp310-cp310-linux_x86_64.whl",
            "SHA256SUMS",
            "a_b-c.d+e",
        ] {
            assert_eq!(stored_name(name), name);
        }
    }

    #[test]
    fn everything_else_becomes_a_period() {
        for (request, stored) in [
            ("a b.whl", "a.b.whl"),
            ("a~1_amd64.deb", "a.1_amd64.deb"),
            ("1:2.whl", "1.2.whl"),
            ("v1-(15-5)-x.apk", "v1-.15-5.-x.apk"),
            ("a!1.0", "a.1.0"),
            ("fake.      file.txt", "fake.file.txt"),
            ("erick%%%%%!!!zhao.txt", "erick.zhao.txt"),
            ("żółw.txt", "default.w.txt"),
        ] {
            assert_eq!(stored_name(request), stored, "{request}");
        }
    }

    #[test]
    fn periods_at_the_ends_do_not_stay() {
        assert_eq!(stored_name(".env"), "default.env");
        assert_eq!(stored_name("a.."), "a");
        assert_eq!(stored_name("..."), "default");
        assert_eq!(stored_name(""), "default");
    }
}
