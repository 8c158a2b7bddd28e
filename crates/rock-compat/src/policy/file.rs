//! Policy files in the format of auditwheel: a JSON list of objects with `name`, `aliases`,
//! `priority`, `symbol_versions`, `lib_whitelist` and `blacklist`.
//!
//! Input: the text of a file. Output: checked policies, or a diagnostic for every error.
//!
//! **Invariant:** a [`PolicyFile`] has at least one policy, and policies of lower priority permit
//! more.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use super::policies::{LINUX, MOST_POLICIES, parse_policy_version};
use super::{PlatformPolicies, PolicyFamily};
use crate::codes::facts as codes;
use rock_diagnostic::{
    Diagnostic, Sink, SourceText, Span,
    nearest::{nearest, with_nearest},
};
use rock_names::Arch;
use rock_yaml::codes::matrix;
use rock_yaml::{
    Node,
    shape::{FieldShape, RecordShape, Shape},
};

/// The checked policies of a file, by falling priority and without `linux`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolicyFile(Vec<PolicyFileEntry>);

/// A policy of a file, for all architectures.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(super) struct PolicyFileEntry {
    pub(super) name: String,
    pub(super) aliases: BTreeSet<String>,
    pub(super) priority: u32,
    /// Versions without prefix, by architecture and prefix.
    pub(super) symbol_versions: BTreeMap<String, BTreeMap<String, BTreeSet<String>>>,
    pub(super) lib_whitelist: BTreeSet<String>,
    /// Forbidden symbols by library.
    pub(super) blacklist: BTreeMap<String, BTreeSet<String>>,
}

const TEXTS: Shape = Shape::List(&Shape::Text);

const fn field(name: &'static str, shape: Shape, doc: &'static str) -> FieldShape {
    FieldShape {
        name,
        shape,
        required: true,
        default: "",
        doc,
    }
}

/// The shape of a policy file.
const SHAPE: Shape = Shape::List(&Shape::Record(&RecordShape {
    name: "policy",
    fields: &[
        field(
            "name",
            Shape::Text,
            "Name without an architecture, such as `manylinux_2_28`.",
        ),
        field("aliases", TEXTS, "Older names, such as `manylinux2014`."),
        field(
            "priority",
            Shape::Integer,
            "Policies with a higher number are satisfied by more systems; 0 is `linux`.",
        ),
        field(
            "symbol_versions",
            Shape::Map(&Shape::Map(&TEXTS)),
            "Per architecture and prefix, the permitted versions without the prefix.",
        ),
        field(
            "lib_whitelist",
            TEXTS,
            "Libraries that a wheel may need from the system.",
        ),
        field(
            "blacklist",
            Shape::Map(&TEXTS),
            "Per library, its symbols that no wheel may need.",
        ),
    ],
}));

impl PolicyFile {
    /// Parses and checks a file. Reports all errors to the sink; `None` if there is one.
    pub fn read(source: &SourceText, sink: &mut Sink) -> Option<Self> {
        let mut own = Sink::new();
        let policies = read(source, &mut own);
        let is_good = !own.has_errors();
        own.finish()
            .into_iter()
            .map(with_policy_code)
            .for_each(|diagnostic| sink.push(diagnostic));
        policies.filter(|_| is_good)
    }

    /// Returns the policies for a family and architecture.
    pub fn policies_of(&self, family: PolicyFamily, arch: Arch) -> PlatformPolicies {
        PlatformPolicies::from_file(self, family, arch)
    }

    pub(super) fn policies(&self) -> &[PolicyFileEntry] {
        &self.0
    }
}

/// Replaces the code and help of a syntax error, which are about matrix files.
fn with_policy_code(mut found: Diagnostic) -> Diagnostic {
    if matrix::ALL.contains(&found.code) {
        found.code = &codes::BAD_POLICY_FILE;
        found = found.help(FORM);
    }
    found
}

/// The help for a file in another format.
const FORM: &str = "use the format of auditwheel's policy files";

fn read(source: &SourceText, sink: &mut Sink) -> Option<PolicyFile> {
    let node = rock_yaml::parse(source, sink)?;
    rock_yaml::shape::check(&node, &SHAPE, source, sink);
    if sink.has_errors() {
        return None;
    }
    let mut checker = PolicyFileChecker { source, sink };
    let policies: Vec<PolicyFileEntry> = match rock_yaml::de::from_node(&node) {
        Ok(policies) => policies,
        Err(error) => {
            checker.report(error.span, error.message, FORM);
            return None;
        }
    };
    let mut both: Vec<(PolicyFileEntry, &Node)> = policies
        .into_iter()
        .zip(node.items().unwrap_or_default())
        .collect();
    // The sort is stable, so that the later one of two equal priorities is reported.
    both.sort_by_key(|(policy, _)| std::cmp::Reverse(policy.priority));
    checker.check_names(&both);
    both.retain(|(policy, _)| policy.name != LINUX);
    if both.is_empty() {
        checker.report(
            node.span.clone(),
            format!("the file has no policy in addition to `{LINUX}`"),
            "add one, such as `manylinux_2_28`",
        );
    }
    if let Some((_, policy)) = both.get(MOST_POLICIES) {
        let message =
            format!("a file may have at most {MOST_POLICIES} policies in addition to `{LINUX}`");
        checker.report(
            value_span(policy, "name"),
            message,
            "remove policies that are not needed",
        );
    }
    for family in [PolicyFamily::Manylinux, PolicyFamily::Musllinux] {
        checker.check_growth(
            both.iter()
                .filter(|(policy, _)| PolicyFamily::of_platform_tag(&policy.name) == Some(family)),
        );
    }
    Some(PolicyFile(
        both.into_iter().map(|(policy, _)| policy).collect(),
    ))
}

/// Returns the span of the value of a key, or of the node without the key.
fn value_span(node: &Node, key: &str) -> Span {
    node.get(key)
        .map_or_else(|| node.span.clone(), |value| value.span.clone())
}

struct PolicyFileChecker<'a> {
    source: &'a SourceText,
    sink: &'a mut Sink,
}

impl PolicyFileChecker<'_> {
    fn report(&mut self, at: Span, message: String, help: &str) {
        let diagnostic = Diagnostic::new(&codes::BAD_POLICY_FILE, message)
            .at(self.source.location(at), "")
            .help(help);
        self.sink.push(diagnostic);
    }

    /// Checks names, priorities and architectures.
    fn check_names(&mut self, policies: &[(PolicyFileEntry, &Node)]) {
        let (mut seen, mut priorities) = (BTreeSet::new(), BTreeSet::new());
        for (policy, node) in policies {
            let name = &policy.name;
            let is_known = name == LINUX
                || [PolicyFamily::Manylinux, PolicyFamily::Musllinux]
                    .into_iter()
                    .any(|family| parse_policy_version(family, name).is_some());
            if !is_known {
                let message = format!("`{name}` is not a valid policy name");
                self.report(
                    value_span(node, "name"),
                    message,
                    "write a name such as `manylinux_2_28` or `musllinux_1_2`",
                );
            }
            if (name == LINUX) != (policy.priority == 0) {
                let message = format!("`{name}` has priority {}", policy.priority);
                self.report(
                    value_span(node, "priority"),
                    message,
                    "give `linux` priority 0 and every other policy a higher one",
                );
            }
            if !priorities.insert((PolicyFamily::of_platform_tag(name), policy.priority))
                && policy.priority > 0
            {
                let message = format!("two policies have priority {}", policy.priority);
                self.report(
                    value_span(node, "priority"),
                    message,
                    "give each policy a different priority",
                );
            }
            for name in std::iter::once(name).chain(&policy.aliases) {
                if !seen.insert(name.clone()) {
                    self.report(
                        value_span(node, "name"),
                        format!("two policies have the name `{name}`"),
                        "keep one of them",
                    );
                }
            }
            let arches = node
                .get("symbol_versions")
                .and_then(Node::entries)
                .unwrap_or_default();
            for (key, _) in arches
                .iter()
                .filter(|(key, _)| key.text.parse::<Arch>().is_err())
            {
                let near = nearest(&key.text, Arch::ALL.map(Arch::as_str));
                let message = with_nearest(
                    format!("`{}` is not an architecture of Linux wheels", key.text),
                    near,
                );
                self.report(
                    key.span.clone(),
                    message,
                    "write it as in a platform tag, such as `x86_64`",
                );
            }
        }
    }

    /// Checks that each policy permits everything that the policies before it permit (PEP 600).
    fn check_growth<'f>(&mut self, family: impl Iterator<Item = &'f (PolicyFileEntry, &'f Node)>) {
        let mut libraries: BTreeMap<&str, &str> = BTreeMap::new();
        let mut versions: BTreeMap<(&str, &str), BTreeMap<&str, &str>> = BTreeMap::new();
        for (policy, node) in family {
            let is_gone = |library: &str| !policy.lib_whitelist.contains(library);
            self.report_lost(
                policy,
                value_span(node, "lib_whitelist"),
                "",
                &libraries,
                is_gone,
            );
            libraries.extend(
                policy
                    .lib_whitelist
                    .iter()
                    .map(|library| (&**library, &*policy.name)),
            );
            for (arch, prefixes) in &policy.symbol_versions {
                for (prefix, own) in prefixes {
                    let before = versions.entry((arch, prefix)).or_default();
                    let list = node
                        .get("symbol_versions")
                        .and_then(|node| node.get(arch)?.get(prefix));
                    let at = list.map_or_else(|| node.span.clone(), |list| list.span.clone());
                    self.report_lost(
                        policy,
                        at,
                        &format!("{arch} {prefix}_"),
                        before,
                        |version| !own.contains(version),
                    );
                    before.extend(own.iter().map(|version| (&**version, &*policy.name)));
                }
            }
        }
    }

    /// Reports the items that an earlier policy permits and this one does not.
    fn report_lost(
        &mut self,
        policy: &PolicyFileEntry,
        at: Span,
        prefix: &str,
        before: &BTreeMap<&str, &str>,
        is_gone: impl Fn(&str) -> bool,
    ) {
        let gone: Vec<_> = before.iter().filter(|(item, _)| is_gone(item)).collect();
        let Some((_, first)) = gone.first() else {
            return;
        };
        let items = gone
            .iter()
            .map(|(item, _)| format!("`{prefix}{item}`"))
            .collect::<Vec<_>>()
            .join(", ");
        let diagnostic = Diagnostic::new(
            &codes::POLICY_SHRINKS,
            format!(
                "`{}` does not permit {items}, but `{first}` does",
                policy.name
            ),
        )
        .at(self.source.location(at), "")
        .note(
            "PEP 600: what complies with a policy also complies with every policy of lower \
            priority",
        )
        .help(format!("add it here, or remove it from `{first}`"));
        self.sink.push(diagnostic);
    }
}

#[cfg(test)]
mod tests {
    use super::PolicyFile;
    use crate::policy::{PolicyFamily, SymbolVersionNeed};
    use rock_diagnostic::{Sink, SourceText};
    use rock_names::Arch;

    fn policy(name: &str, priority: u32, libraries: &str, versions: &str) -> String {
        format!(
            r#"{{"name": "{name}", "aliases": [], "priority": {priority}, "symbol_versions": {versions},
                "lib_whitelist": {libraries}, "blacklist": {{"libz.so.1": ["zcalloc"]}}}}"#
        )
    }

    const LINUX: &str = r#"{"name": "linux", "aliases": [], "priority": 0, "symbol_versions": {},
        "lib_whitelist": [], "blacklist": {}}"#;

    fn read(policies: &[String]) -> Result<PolicyFile, Vec<String>> {
        let source = SourceText::new("policies.json", format!("[\n{}\n]", policies.join(",\n")));
        let mut sink = Sink::new();
        let file = PolicyFile::read(&source, &mut sink);
        let line = |d: rock_diagnostic::Diagnostic| {
            let line = d
                .labels
                .first()
                .and_then(|label| label.location.line_column())
                .map_or(0, |(line, _)| line);
            format!("{line}: {} {}", d.code.id, d.message)
        };
        file.ok_or_else(|| sink.finish().into_iter().map(line).collect())
    }

    #[track_caller]
    fn check(policies: &[String], expect: &[&str]) {
        assert_eq!(read(policies).unwrap_err(), expect);
    }

    #[test]
    fn auditwheel_files_are_read() {
        let file = read(&[
            LINUX.to_owned(),
            policy(
                "manylinux_2_40",
                52,
                r#"["libc.so.6", "libm.so.6"]"#,
                r#"{"x86_64": {"GLIBC": ["2.2.5", "2.40"]}}"#,
            ),
            policy(
                "manylinux_2_28",
                64,
                r#"["libc.so.6"]"#,
                r#"{"x86_64": {"GLIBC": ["2.2.5"]}, "i686": {}}"#,
            ),
            policy(
                "musllinux_1_2",
                63,
                r#"["libc.so", "libc.so.6"]"#,
                r#"{"x86_64": {}}"#,
            ),
        ])
        .unwrap();
        let policies = file.policies_of(PolicyFamily::Manylinux, Arch::X86_64);
        let names: Vec<_> = policies.iter().map(|policy| policy.name()).collect();
        assert_eq!(names, ["manylinux_2_28", "manylinux_2_40", "linux"]);
        let needs = [SymbolVersionNeed {
            library: "libc.so.6",
            version: "GLIBC_2.40",
        }];
        let verdict = policies.symbol_compliance(needs);
        assert_eq!(verdict.best.tag(), "manylinux_2_40_x86_64");
        assert_eq!(verdict.unmet.len(), 1);
        assert!(
            !policies.highest().permits_library("libm.so.6")
                && policies.lowest().permits_library("libm.so.6")
        );
        assert_eq!(
            policies.lowest().blacklist().collect::<Vec<_>>(),
            [("libz.so.1", vec!["zcalloc"])]
        );
        assert_eq!(
            file.policies_of(PolicyFamily::Manylinux, Arch::S390x)
                .highest()
                .tag(),
            "linux_s390x"
        );
        let musl = file.policies_of(PolicyFamily::Musllinux, Arch::X86_64);
        assert!(
            musl.highest().permits_library("libc.musl-x86_64.so.1")
                && !musl.highest().permits_library("libc.so")
        );
    }

    #[test]
    fn a_policy_must_not_permit_less_than_an_earlier_one() {
        check(
            &[
                policy(
                    "manylinux_2_5",
                    100,
                    r#"["libc.so.6", "libz.so.1"]"#,
                    r#"{"x86_64": {"GLIBC": ["2.2.5", "2.4"]}}"#,
                ),
                policy(
                    "manylinux_2_12",
                    90,
                    r#"["libc.so.6"]"#,
                    r#"{"x86_64": {"GLIBC": ["2.2.5", "2.12"]}}"#,
                ),
                policy(
                    "manylinux_2_17",
                    80,
                    r#"["libc.so.6", "libz.so.1"]"#,
                    r#"{"x86_64": {"GCC": ["3.0"]}}"#,
                ),
            ],
            &[
                "4: K008 `manylinux_2_12` does not permit `x86_64 GLIBC_2.4`, but `manylinux_2_5` \
                 does",
                "5: K008 `manylinux_2_12` does not permit `libz.so.1`, but `manylinux_2_5` does",
            ],
        );
    }

    #[test]
    fn all_errors_are_reported_in_one_run() {
        check(
            &[
                policy("manylinux_2_5", 100, "[]", r#"{"x86-64": {}}"#),
                policy("manylinux_2_5", 100, "[]", "{}"),
                policy("centos7", 80, "[]", "{}"),
                policy("musllinux_1_2", 0, "[]", "{}"),
            ],
            &[
                "2: K007 `x86-64` is not an architecture of Linux wheels; did you mean `x86_64`?",
                "4: K007 two policies have the name `manylinux_2_5`",
                "4: K007 two policies have priority 100",
                "6: K007 `centos7` is not a valid policy name",
                "8: K007 `musllinux_1_2` has priority 0",
            ],
        );
        check(
            &[LINUX.to_owned()],
            &["1: K007 the file has no policy in addition to `linux`"],
        );
    }

    #[test]
    fn a_file_of_another_format_is_reported_key_by_key() {
        let lines = read(&[
            r#"{"name": "linux", "aliases": {}, "priority": "x", "lib_whitelst": []}"#.to_owned(),
        ]);
        let lines = lines.unwrap_err();
        for text in [
            "lib_whitelst",
            "`aliases` must be a list",
            "priority",
            "symbol_versions",
            "blacklist",
        ] {
            assert!(
                lines.iter().any(|line| line.contains(text)),
                "{text}: {lines:#?}"
            );
        }
        for text in ["", "[", "{}", "null", "[[]]", "\t[]"] {
            let mut sink = Sink::new();
            assert_eq!(
                PolicyFile::read(&SourceText::new("p.json", text), &mut sink),
                None,
                "{text:?}"
            );
            assert!(sink.has_errors(), "{text:?}");
        }
    }
}
