//! The grammar of single values of a matrix file: labels, names of images and secrets, addresses,
//! sizes.
//!
//! Input: a text. Output: whether it is valid. The reader of matrix files explains errors; a saved
//! plan must not contain values that a matrix file could not have.

use rock_compat::policy::{PlatformPolicies, PolicyFamily};
use rock_diagnostic::render;
use rock_names::Arch;

/// Environment variables of build steps that users cannot set: those of the rendered workflow, of
/// the runner (docs.github.com, "Variables reference"; the name of a secret may not begin with
/// `GITHUB_` either), and those that decide which programs run and what they load.
const TAKEN: [&str; 7] = ["CAP", "ENGINE", "BEGAN", "CI", "HOME", "PATH", "BASH_ENV"];
const TAKEN_BEGINNINGS: [&str; 6] = ["GITHUB_", "RUNNER_", "ACTIONS_", "INPUT_", "ROCK_", "LD_"];

/// Returns the first unprintable character of a text: a control character, a line break or an
/// invisible mark.
pub fn unprintable(text: &str) -> Option<char> {
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
        return None;
    }
    text.chars()
        .find(|&c| c.is_control() || render::is_invisible(c))
}

/// Whether a text is a label: letters, digits, `-`, `_` and `.`, beginning with a letter or digit.
pub fn is_label(text: &str) -> bool {
    let inside = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.');
    text.starts_with(|c: char| c.is_ascii_alphanumeric())
        && text.bytes().all(inside)
        && text.len() <= 256
}

/// Whether a text is the name of a recipe: lower-case letters, digits and `-`, beginning with a
/// letter or digit.
pub fn is_name(text: &str) -> bool {
    let inside = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
    !text.is_empty() && !text.starts_with('-') && text.bytes().all(inside) && text.len() <= 64
}

/// Whether a text is the name of an image repository (distribution reference grammar: lower-case
/// path components, an optional host with port before).
pub fn is_image_repository(text: &str) -> bool {
    let component = |part: &str| {
        part.bytes().all(|b| {
            b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'.' | b'_' | b'-')
        }) && part.starts_with(|c: char| c.is_ascii_alphanumeric())
            && part.ends_with(|c: char| c.is_ascii_alphanumeric())
    };
    let host = |part: &str| match part.split_once(':') {
        Some((name, port)) => {
            component(name) && !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit())
        }
        None => component(part),
    };
    let mut parts = text.split('/');
    parts.next().is_some_and(host) && parts.all(component)
}

/// Whether a text is the tag of an image, without a digest (distribution reference grammar).
pub fn is_image_tag(text: &str) -> bool {
    is_label(text.strip_prefix('_').unwrap_or(text)) && text.len() <= 128
}

/// Whether a text is the digest of an image, `sha256:` and 64 hex digits.
pub fn is_image_digest(text: &str) -> bool {
    text.starts_with("sha256:") && text.parse::<rock_names::Digest>().is_ok()
}

/// Splits an image reference into repository, tag and digest; the latter two may be missing.
pub fn image_parts(text: &str) -> (&str, Option<&str>, Option<&str>) {
    let (name, digest) = text
        .split_once('@')
        .map_or((text, None), |(name, digest)| (name, Some(digest)));
    let name_start = name.rfind('/').map_or(0, |slash| slash + 1);
    match name[name_start..].rfind(':') {
        Some(colon) => (
            &name[..name_start + colon],
            Some(&name[name_start + colon + 1..]),
            digest,
        ),
        None => (name, None, digest),
    }
}

/// Whether a text is an image reference, `REPOSITORY[:TAG][@sha256:DIGEST]`.
pub fn is_image_reference(text: &str) -> bool {
    let (repository, tag, digest) = image_parts(text);
    is_image_repository(repository)
        && tag.is_none_or(is_image_tag)
        && digest.is_none_or(is_image_digest)
}

/// Whether a text is a size for docker: a number with an optional unit.
pub fn is_size(text: &str) -> bool {
    let digits = text.trim_end_matches(|c: char| "bkmgBKMG".contains(c));
    !digits.is_empty()
        && digits.bytes().all(|b| b.is_ascii_digit())
        && text.len() <= digits.len() + 1
}

/// Whether a text is the name or number of a group.
pub fn is_group(text: &str) -> bool {
    is_label(text.strip_prefix('_').unwrap_or(text))
}

/// Whether wheels can be repaired for a platform tag: a policy must describe it.
pub fn is_repair_platform(tag: &str) -> bool {
    let (Some(family), Some(arch)) = (
        PolicyFamily::of_platform_tag(tag),
        Arch::of_platform_tag(tag),
    ) else {
        return false;
    };
    PlatformPolicies::embedded(family, arch).get(tag).is_some()
}

/// Returns the reason why a text is not a name or shell pattern of libraries.
pub fn library_pattern_fault(text: &str) -> Option<String> {
    if text.is_empty() || text.starts_with('-') || text.chars().any(|c| c.is_control() || c == ',')
    {
        return Some(
            "library names cannot contain control characters or commas, or start with `-`"
                .to_owned(),
        );
    }
    // Glob options as in `audit`.
    let glob = globset::GlobBuilder::new(text)
        .literal_separator(false)
        .backslash_escape(false)
        .build();
    glob.err().map(|error| error.kind().to_string())
}

/// Whether a text is spelled like the name of a secret: capitals, digits and `_`.
pub fn is_secret_word(text: &str) -> bool {
    let upper = |b: u8| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_';
    text.starts_with(|c: char| c.is_ascii_uppercase() || c == '_') && text.bytes().all(upper)
}

/// Whether the runner, the workflow or the system uses a variable of this name.
pub fn is_taken(name: &str) -> bool {
    TAKEN.contains(&name)
        || TAKEN_BEGINNINGS
            .iter()
            .any(|beginning| name.starts_with(beginning))
}

/// Returns the host of an index address, including anything before an `@`; `None` if the text is
/// not an http(s) address.
pub fn index_host(text: &str) -> Option<&str> {
    let rest = text
        .strip_prefix("https://")
        .or_else(|| text.strip_prefix("http://"))?;
    rest.split(['/', '?', '#']).next()
}

/// Whether an address contains a character that ends a word or a quotation in a rendered text.
pub fn has_address_breaker(text: &str) -> bool {
    text.contains(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '\\' | '`' | '<' | '>'))
}

/// Whether a text is the address of an index: http(s), a host without a user, no spaces and no
/// quotation marks.
pub fn is_index_address(text: &str) -> bool {
    index_host(text).is_some_and(|host| !host.is_empty() && !host.contains('@'))
        && !has_address_breaker(text)
}

/// Whether a relative path leads above its starting directory, or into the home directory.
pub fn leaves_the_repository(text: &str) -> bool {
    let climbs = text.split(['/', '\\']).any(|part| part == "..");
    (climbs && !text.contains(char::is_whitespace)) || text.starts_with("~/") || text == "~"
}

#[cfg(test)]
mod tests {
    use super::{is_image_reference, is_index_address, is_size, unprintable};

    #[test]
    fn an_image_reference_is_never_an_option_or_two_words() {
        let digest = format!("rocm/pytorch:a@sha256:{}", "0".repeat(64));
        for text in ["rocm/pytorch", "host:5000/a/b:_tag", &digest] {
            assert!(is_image_reference(text), "{text}");
        }
        for text in [
            "--privileged",
            "-v",
            "",
            "a b",
            "A/b",
            "a:",
            "a@sha256:00",
            "a:b:c",
            "a/../b",
            "a\nb",
            "a:$(id)",
        ] {
            assert!(!is_image_reference(text), "{text}");
        }
    }

    #[test]
    fn urls_sizes_and_single_lines_are_recognized() {
        assert!(is_index_address("https://a.example/whl/{family}?x=1"));
        for text in [
            "https://u:p@a.example/",
            "https:///x",
            "ftp://a",
            "https://a/'x",
            "https://a/ b",
            "file:///a",
        ] {
            assert!(!is_index_address(text), "{text}");
        }
        assert!(
            is_size("8G") && is_size("64") && !is_size("8GG") && !is_size("G") && !is_size("8 G")
        );
        assert_eq!(
            (
                unprintable("a b"),
                unprintable("a\nb"),
                unprintable("a\u{202e}")
            ),
            (None, Some('\n'), Some('\u{202e}'))
        );
    }
}
