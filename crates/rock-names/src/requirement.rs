//! Requirements on other distributions, `torch>=2.5; python_version > "3.8"` (PEP 508).
//!
//! `pep508_rs` reads the name, the extras, the versions and each comparison of a marker. The marker
//! as a whole is read here: `pep508_rs` turns it into a decision diagram, which takes memory that
//! grows exponentially with some markers.

use std::convert::Infallible;
use std::fmt;
use std::path::Path;
use std::str::FromStr;

use pep508_rs::{MarkerEnvironment, MarkerEnvironmentBuilder, MarkerTree, Pep508Error, Pep508Url};

use super::{PythonVersion, VersionError, VersionSpecifiers};

/// The maximum nesting of parentheses in a marker; `packaging` recurses for each.
const MAX_MARKER_DEPTH: usize = 64;

/// A valid requirement (PEP 508), without its extras and its URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Requirement {
    name: String,
    /// The version specifiers as written, without parentheses.
    versions: String,
    /// The marker as written, without its `;`.
    marker: Option<String>,
}

/// The error of parsing a [`Requirement`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a requirement: {reason}")]
pub struct RequirementError {
    /// The text.
    pub text: String,
    /// The reason.
    pub reason: String,
}

impl Requirement {
    /// Returns the normalized name of the required distribution.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the specifiers of the required versions; none for a URL.
    ///
    /// # Errors
    /// If a specifier is one that only `pep508_rs` accepts.
    pub fn specifiers(&self) -> Result<VersionSpecifiers, VersionError> {
        self.versions.parse()
    }

    /// Returns whether the marker holds for `CPython` of this version on x86-64 Linux.
    pub fn applies_to(&self, python: PythonVersion) -> bool {
        let Some(marker) = &self.marker else {
            return true;
        };
        linux_environment(python).is_ok_and(|environment| {
            let holds = |comparison: MarkerTree| comparison.evaluate(&environment, &[]);
            evaluate_marker(marker, holds) == Ok(true)
        })
    }
}

impl FromStr for Requirement {
    type Err = RequirementError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let read = || {
            let RequirementParts {
                head,
                versions,
                marker,
            } = split(text)?;
            // `pep508_rs` copies the whole text for each extra, so the head has none.
            let parsed = pep508_rs::Requirement::<UncheckedUrl>::from_str(&head)
                .map_err(|error| reason(&error))?;
            if let Some(marker) = marker {
                evaluate_marker(marker, |_| true)?;
            }
            Ok(Self {
                name: parsed.name.to_string(),
                versions: without_parentheses(versions).to_owned(),
                marker: marker.map(str::to_owned),
            })
        };
        read().map_err(|reason| RequirementError {
            text: text.to_owned(),
            reason,
        })
    }
}

/// The parts of a requirement, which are parsed separately.
struct RequirementParts<'t> {
    /// The name with the version specifiers or the URL.
    head: String,
    /// The version specifiers, which may be in parentheses; empty for a URL.
    versions: &'t str,
    /// The marker, without its `;`.
    marker: Option<&'t str>,
}

/// Splits a requirement (PEP 508, "Grammar"), and checks its name, its extras and the form of its
/// URL.
///
/// `pep508_rs` 0.9.2 panics where a name that ends the text ends with a character that no name ends
/// with, where an extra ends with one before a space, and where text that is not ASCII follows a
/// comparison of a marker.
fn split(text: &str) -> Result<RequirementParts<'_>, String> {
    let text = text.trim();
    let (name, rest) = text.split_at(text.find(|c| !is_inner(c)).unwrap_or(text.len()));
    if !is_name(name) {
        return Err(format!(
            "`{}` is not a valid name",
            excerpt(if name.is_empty() { text } else { name })
        ));
    }
    let rest = after_extras(rest)?;
    let (detail, versions, marker) = match rest.strip_prefix('@') {
        // A `;` may be part of a URL, which ends at a blank.
        Some(url) => {
            let url = url.trim_start_matches(BLANKS);
            let (url, after) = url.split_at(url.find(BLANKS).unwrap_or(url.len()));
            if url.is_empty() || url.contains(char::is_whitespace) {
                return Err(format!("`{}` is not a URL", excerpt(url)));
            }
            let after = after.trim_start_matches(BLANKS);
            let marker = after.strip_prefix(';');
            if marker.is_none() && !after.is_empty() {
                return Err(format!(
                    "expected `;` after its URL, found `{}`",
                    excerpt(after)
                ));
            }
            (format!("@ {url}"), "", marker)
        }
        None => match rest.split_once(';') {
            Some((versions, marker)) => (versions.to_owned(), versions, Some(marker)),
            None => (rest.to_owned(), rest, None),
        },
    };
    if text[..text.len() - marker.map_or(0, str::len)].contains(['\n', '\r']) {
        return Err("it spans several lines".to_owned());
    }
    Ok(RequirementParts {
        head: format!("{name} {detail}").trim_end().to_owned(),
        versions,
        marker,
    })
}

fn without_parentheses(text: &str) -> &str {
    let text = text.trim();
    let inner = text.strip_prefix('(');
    inner
        .and_then(|inner| inner.strip_suffix(')'))
        .unwrap_or(text)
}

/// Checks the extras after a name, and returns the rest.
fn after_extras(text: &str) -> Result<&str, String> {
    let text = text.trim_start();
    let Some(extras) = text.strip_prefix('[') else {
        return Ok(text);
    };
    let (extras, rest) = extras
        .split_once(']')
        .ok_or("its list of extras is not closed")?;
    let rest = rest.trim_start();
    match extras
        .split(',')
        .map(str::trim)
        .find(|extra| !is_name(extra))
    {
        Some(extra) if !extras.trim().is_empty() => {
            Err(format!("`{}` is not a valid extra", excerpt(extra)))
        }
        _ if rest.starts_with('[') => Err("it has a second list of extras".to_owned()),
        _ => Ok(rest),
    }
}

/// Whitespace of the grammar (PEP 508, `wsp`).
const BLANKS: [char; 2] = [' ', '\t'];

fn is_inner(c: char) -> bool {
    c.is_ascii_alphanumeric() || "._-".contains(c)
}

fn is_name(name: &str) -> bool {
    name.chars().all(is_inner)
        && name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && name.ends_with(|c: char| c.is_ascii_alphanumeric())
}

/// A URL that is accepted as it is; installers validate it.
#[derive(Debug)]
struct UncheckedUrl(String);

impl fmt::Display for UncheckedUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Pep508Url for UncheckedUrl {
    type Err = Infallible;

    /// Takes any text. The parser of `pep508_rs` puts variables of the environment into it.
    fn parse_url(url: &str, _: Option<&Path>) -> Result<Self, Self::Err> {
        Ok(Self(url.to_owned()))
    }
}

/// Returns the first line of an error, without the drawing that follows.
fn reason<T: Pep508Url>(error: &Pep508Error<T>) -> String {
    error
        .to_string()
        .lines()
        .next()
        .unwrap_or_default()
        .trim_end_matches(':')
        .to_owned()
}

/// Returns the environment of markers for `CPython` on x86-64 Linux.
fn linux_environment(
    python: PythonVersion,
) -> Result<MarkerEnvironment, pep440_rs::VersionParseError> {
    let version = python.plain();
    let full_version = format!("{version}.0");
    MarkerEnvironment::try_from(MarkerEnvironmentBuilder {
        implementation_name: "cpython",
        implementation_version: &full_version,
        os_name: "posix",
        platform_machine: "x86_64",
        platform_python_implementation: "CPython",
        platform_release: "",
        platform_system: "Linux",
        platform_version: "",
        python_full_version: &full_version,
        python_version: &version,
        sys_platform: "linux",
    })
}

/// The value of the part of a marker that was read, inside of its parentheses.
struct PartialMarker {
    /// Whether an operand of an `or` that was read holds.
    any: bool,
    /// Whether all comparisons after the last `or` hold.
    all: bool,
}

impl PartialMarker {
    const EMPTY: Self = Self {
        any: false,
        all: true,
    };

    fn value(&self) -> bool {
        self.any || self.all
    }
}

/// Evaluates a marker: comparisons, `and`, `or`, parentheses. Returns an error if it is invalid.
fn evaluate_marker(marker: &str, holds: impl Fn(MarkerTree) -> bool) -> Result<bool, String> {
    let mut rest = marker.trim_start();
    let mut part = PartialMarker::EMPTY;
    // The parts around the open parentheses.
    let mut outer_parts: Vec<PartialMarker> = Vec::new();
    loop {
        // A comparison, after any number of opening parentheses.
        while let Some(inner) = rest.strip_prefix('(') {
            if outer_parts.len() == MAX_MARKER_DEPTH {
                return Err(format!(
                    "its marker nests parentheses more than {MAX_MARKER_DEPTH} deep"
                ));
            }
            outer_parts.push(std::mem::replace(&mut part, PartialMarker::EMPTY));
            rest = inner.trim_start();
        }
        let (comparison, after) = split_comparison(rest)?;
        let comparison =
            MarkerTree::parse_str::<UncheckedUrl>(comparison).map_err(|error| reason(&error))?;
        part.all &= holds(comparison);
        rest = after.trim_start();
        // The operator before the next comparison, after any number of closing parentheses.
        while let Some(outer) = rest.strip_prefix(')') {
            let inner = part.value();
            part = outer_parts
                .pop()
                .ok_or("its marker closes a parenthesis that was not opened")?;
            part.all &= inner;
            rest = outer.trim_start();
        }
        if rest.is_empty() {
            return if outer_parts.is_empty() {
                Ok(part.value())
            } else {
                Err("its marker has an unclosed parenthesis".to_owned())
            };
        }
        let (word, after) = split_word(rest);
        match word {
            "and" => {}
            "or" => {
                part = PartialMarker {
                    any: part.value(),
                    all: true,
                };
            }
            _ => {
                return Err(format!(
                    "expected `and` or `or` in its marker, found `{}`",
                    excerpt(rest)
                ));
            }
        }
        rest = after.trim_start();
    }
}

/// Splits off a comparison: two values with an operator between them.
fn split_comparison(text: &str) -> Result<(&str, &str), String> {
    let after = split_value(text)?.trim_start();
    let operators = after.trim_start_matches(|c: char| "<>=!~".contains(c));
    let after = if operators.len() < after.len() {
        operators
    } else {
        match split_word(after) {
            ("in", rest) => rest,
            ("not", rest) if split_word(rest.trim_start()).0 == "in" => {
                split_word(rest.trim_start()).1
            }
            _ => {
                return Err(format!(
                    "expected an operator in its marker, found `{}`",
                    excerpt(after)
                ));
            }
        }
    };
    let rest = split_value(after.trim_start())?;
    Ok((&text[..text.len() - rest.len()], rest))
}

/// Splits off a quoted text or a variable, and returns the rest.
fn split_value(text: &str) -> Result<&str, String> {
    let Some(quote) = text
        .chars()
        .next()
        .filter(|first| ['"', '\''].contains(first))
    else {
        let (word, rest) = split_word(text);
        return match word {
            "" => Err(format!(
                "expected a quoted string or a variable in its marker, found `{}`",
                excerpt(text)
            )),
            _ => Ok(rest),
        };
    };
    text[1..]
        .split_once(quote)
        .map(|(_, rest)| rest)
        .ok_or_else(|| "its marker has an unclosed quote".to_owned())
}

fn split_word(text: &str) -> (&str, &str) {
    let end = text
        .find(|c: char| !(c.is_ascii_alphanumeric() || "_.".contains(c)))
        .unwrap_or(text.len());
    text.split_at(end)
}

/// Returns the first characters of a text, with control characters as escapes.
fn excerpt(text: &str) -> String {
    let visible = |c: char| {
        if c.is_control() {
            c.escape_default().to_string()
        } else {
            c.to_string()
        }
    };
    text.chars().take(20).map(visible).collect()
}

#[cfg(test)]
mod tests {
    use super::Requirement;

    fn is_read(text: &str) -> bool {
        text.parse::<Requirement>().is_ok()
    }

    #[test]
    fn requirements_of_pep_508_are_read() {
        for text in [
            "torch",
            "Torch [opt, all]>=2.5,<3",
            "torch (==2.5.1)",
            "torch==2.5.*",
            "torch===2.5.1",
            "torch ==2.5.1+rocm6.2 ; python_version > '3.8'",
            "a; (python_version < '3.9' and sys_platform == \"linux\") or extra == 'x;y'",
            "a; 'linux' in sys_platform",
            "a; platform_machine not in 'x86_64 aarch64'",
            "a @ https://example.invalid/a;b.whl ; os_name == 'posix'",
            "a @ https://example.invalid/a;b.whl",
        ] {
            assert!(is_read(text), "{text}");
        }
        assert_eq!(
            "Flash_Attn".parse::<Requirement>().unwrap().name(),
            "flash-attn"
        );
    }

    #[test]
    fn an_invalid_requirement_has_a_reason() {
        let refused: String = [
            "",
            "a>=",
            "a>=1 <2",
            "a>=1.*",
            "-a",
            "a.",
            "a[b.]",
            "a[b,]",
            "a[",
            "a[x",
            "a (>=1",
            "a=1",
            "a;",
            "a; bad",
            "a; python_version",
            "a; python_version > 3.8",
            "a; banana == '1'",
            "a; python_version > '3' and",
            "a; (os_name == 'x'",
            "a; os_name == 'x')",
            "a; os_name == 'x",
            "a; os_name == 'x' os_name == 'y'",
            "a; os_name 'x'",
            "a\n>=1",
            "a @",
            "a @ b c",
            "a @ b\u{c}; os_name == 'x'",
            "a @ b\u{c} ; os_name == 'x' \u{20f2}",
        ]
        .iter()
        .map(|text| {
            format!(
                "{text:?}: {}\n",
                text.parse::<Requirement>().unwrap_err().reason
            )
        })
        .collect();
        insta::assert_snapshot!(refused, @r#"
        "": `` is not a valid name
        "a>=": Unexpected end of version specifier, expected version
        "a>=1 <2": Trailing `<2` is not allowed
        "a>=1.*": Operator >= cannot be used with a wildcard version specifier
        "-a": `-a` is not a valid name
        "a.": `a.` is not a valid name
        "a[b.]": `b.` is not a valid extra
        "a[b,]": `` is not a valid extra
        "a[": its list of extras is not closed
        "a[x": its list of extras is not closed
        "a (>=1": Missing closing parenthesis (expected ')', found end of dependency specification)
        "a=1": no such comparison operator "=", must be one of ~= == != <= >= < > ===
        "a;": expected a quoted string or a variable in its marker, found ``
        "a; bad": expected an operator in its marker, found ``
        "a; python_version": expected an operator in its marker, found ``
        "a; python_version > 3.8": Expected a quoted string or a valid marker name, found `3.8`
        "a; banana == '1'": Expected a quoted string or a valid marker name, found `banana`
        "a; python_version > '3' and": expected a quoted string or a variable in its marker, found ``
        "a; (os_name == 'x'": its marker has an unclosed parenthesis
        "a; os_name == 'x')": its marker closes a parenthesis that was not opened
        "a; os_name == 'x": its marker has an unclosed quote
        "a; os_name == 'x' os_name == 'y'": expected `and` or `or` in its marker, found `os_name == 'y'`
        "a; os_name 'x'": expected an operator in its marker, found `'x'`
        "a\n>=1": it spans several lines
        "a @": `` is not a URL
        "a @ b c": expected `;` after its URL, found `c`
        "a @ b\u{c}; os_name == 'x'": `b\u{c};` is not a URL
        "a @ b\u{c} ; os_name == 'x' \u{20f2}": `b\u{c}` is not a URL
        "#);
    }

    #[test]
    fn versions_are_those_in_front_of_the_marker() {
        let versions = |text: &str| {
            let requirement: Requirement = text.parse().unwrap();
            requirement.specifiers().unwrap().to_string()
        };
        assert_eq!(versions("torch"), "");
        assert_eq!(versions("torch (==2.5.1)"), "==2.5.1");
        assert_eq!(
            versions("torch[opt] >= 2.5, <3 ; os_name == 'x'"),
            ">=2.5,<3"
        );
        assert_eq!(versions("torch @ https://example.invalid/a"), "");
    }

    /// `and` binds tighter than `or`.
    #[test]
    fn markers_hold_for_a_python_on_linux() {
        let applies = |marker: &str| {
            let requirement: Requirement = format!("a; {marker}").parse().unwrap();
            requirement.applies_to("3.12".parse().unwrap())
        };
        for marker in [
            "sys_platform == 'linux'",
            "platform_system == 'Linux' and platform_machine == 'x86_64'",
            "python_version >= '3.12' and python_version < '3.13'",
            "os_name == 'posix' or os_name == 'x' and os_name == 'y'",
            "(os_name == 'x' or (os_name == 'posix')) and implementation_name == 'cpython'",
        ] {
            assert!(applies(marker), "{marker}");
        }
        for marker in [
            "sys_platform == 'darwin'",
            "python_version < '3.12'",
            "extra == 'x'",
            "os_name == 'x' or os_name == 'posix' and os_name == 'y'",
            "(os_name == 'posix' or os_name == 'x') and os_name == 'y'",
            "os_name == 'posix' and (os_name == 'x' or os_name == 'y')",
        ] {
            assert!(!applies(marker), "{marker}");
        }
        assert!(
            "a".parse::<Requirement>()
                .unwrap()
                .applies_to("3.12".parse().unwrap())
        );
    }

    /// A decision diagram of this marker has 2^40 nodes.
    #[test]
    fn large_markers_take_no_memory_and_deep_ones_are_refused() {
        let pairs: Vec<String> = (10..50)
            .map(|at| format!("(extra == 'a{at}' and extra == 'b{}')", 100 - at))
            .collect();
        assert!(is_read(&format!("a; {}", pairs.join(" or "))));
        let nested = |depth| {
            format!(
                "a; {}os_name == 'x'{}",
                "(".repeat(depth),
                ")".repeat(depth)
            )
        };
        assert!(is_read(&nested(64)) && !is_read(&nested(65)));
        assert!(!is_read(&format!("a; {}", "(".repeat(1_000_000))));
    }

    /// Each extra took a copy of the whole text: a megabyte of them a minute.
    #[test]
    #[expect(clippy::disallowed_methods, reason = "the test bounds a time")]
    fn a_million_extras_are_read_in_linear_time() {
        let began = std::time::Instant::now();
        assert!(is_read(&format!("a[{}x]>=1", "x,".repeat(1_000_000))));
        assert!(began.elapsed().as_secs() < 20, "{:?}", began.elapsed());
        assert!(
            is_read("a [x] @ https://example.invalid/a")
                && is_read("a[] (>=1)")
                && !is_read("a[x]b")
        );
    }

    #[test]
    fn a_second_list_of_extras_is_refused() {
        for head in ["a[x][y]", "a [x] [y]", "a[][y]>=1", "a[x] [y. ]", "a[x]["] {
            let reason = head.parse::<Requirement>().unwrap_err().reason;
            assert_eq!(reason, "it has a second list of extras", "{head}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_a_requirement_or_an_error(text in "[a-z\\[\\]()<>=!~;@,'\" .0-9*\u{c}\u{20f2}]{0,40}") {
            let _ = text.parse::<Requirement>();
        }
    }
}
