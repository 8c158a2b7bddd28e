//! The Python and ABI tags of a filename compared with the names of extension modules (PEP 3149).

use std::collections::{BTreeMap, BTreeSet};

use crate::codes::rocm as codes;
use crate::locations::{in_member, in_wheel};
use rock_diagnostic::Diagnostic;
use rock_names::{AbiTags, WheelName, is_abi_tag, is_python_tag, nearest_python_tag};

/// Returns the error that a name selects Pythons for which an extension module does not exist.
/// `members` are the paths in the archive. It is located in `file_name`.
///
/// Modules without a Python in their names, such as `_demo.so` and `_demo.abi3.so`, are not
/// checked.
///
/// ```
/// use rock_audit::check_python_tags;
///
/// let members = ["demo/_demo.cpython-312-x86_64-linux-gnu.so"];
/// let check = |name: &str| check_python_tags(name, &name.parse().unwrap(), members);
/// assert_eq!(check("demo-1.0-cp312-cp312-linux_x86_64.whl"), None);
/// assert_eq!(
///     check("demo-1.0-py3-none-linux_x86_64.whl").unwrap().message,
///     "the filename says py3, but `demo/_demo` exists only for cp312"
/// );
/// ```
pub fn check_python_tags<'m>(
    file_name: &str,
    name: &WheelName,
    members: impl IntoIterator<Item = &'m str>,
) -> Option<Diagnostic> {
    let mut modules: BTreeMap<&str, VersionedModule<'_>> = BTreeMap::new();
    let mut unversioned = BTreeSet::new();
    let is_library = |path: &&str| path.strip_suffix(".so").is_some();
    for path in members.into_iter().filter(is_library) {
        if let Some((stem, python)) = versioned_stem(path) {
            let entry = modules.entry(stem).or_insert_with(|| VersionedModule {
                path,
                pythons: BTreeSet::new(),
            });
            entry.pythons.insert(python);
        } else {
            unversioned.extend(unversioned_stem(path));
        }
    }
    let (tags, abis) = (name.python_tags().as_slice(), name.abi_tags());
    let is_stable_abi = abis.is_stable_abi();
    let (stem, module) = modules
        .iter()
        .filter(|(stem, _)| !unversioned.contains(*stem))
        .find(|(_, module)| is_stable_abi || !module.is_for_all(tags, Some(abis)))?;
    let claim = if is_stable_abi {
        format!("{} with the stable ABI", tags.join(" and "))
    } else if module.is_for_all(tags, None) {
        abis.as_slice().join(" and ")
    } else {
        tags.join(" and ")
    };
    let pythons: Vec<&str> = module.pythons.iter().map(String::as_str).collect();
    let pythons = pythons.join(" and ");
    let message = format!("the filename says {claim}, but `{stem}` exists only for {pythons}");
    Some(
        Diagnostic::new(&codes::NAME_NOT_IN_CONTENTS, message)
            .at(in_member(file_name, module.path), "")
            .help(format!(
                "use the tags of {pythons}, or build the module for the Pythons in the filename"
            )),
    )
}

/// Returns warnings about Python tags that no implementation of Python has, and ABI tags without a
/// number.
///
/// ```
/// use rock_audit::unknown_python_tags;
///
/// let name = "demo-1.0-3.12-none-any.whl".parse().unwrap();
/// let found = unknown_python_tags("demo-1.0-3.12-none-any.whl", &name);
/// assert_eq!(found[0].message, "`3` and `12` are not Python tags that an implementation has");
/// assert_eq!(found[0].help.as_deref(), Some("write `cp312`"));
/// ```
pub fn unknown_python_tags(file_name: &str, name: &WheelName) -> Vec<Diagnostic> {
    let unknown = |tags: &[String], is_known: fn(&str) -> bool| -> Vec<String> {
        tags.iter().filter(|tag| !is_known(tag)).cloned().collect()
    };
    let message = |tags: &[String], kind: &str| {
        let list = format!("`{}`", tags.join("` and `"));
        match tags {
            [_] => format!("{list} is not {kind} tag that an implementation has"),
            _ => {
                let kind = kind.split_once(' ').map_or(kind, |(_, word)| word);
                format!("{list} are not {kind} tags that an implementation has")
            }
        }
    };
    let mut findings = Vec::new();
    let pythons = unknown(name.python_tags().as_slice(), is_python_tag);
    if !pythons.is_empty() {
        let help = match nearest_python_tag(&pythons) {
            Some(near) => format!("write `{near}`"),
            None => "write a tag such as `py3` or `cp312`".to_owned(),
        };
        findings.push(finding(file_name, message(&pythons, "a Python"), help));
    }
    let abis = unknown(name.abi_tags().as_slice(), is_abi_tag);
    if !abis.is_empty() {
        let help = "write `none`, `abi3`, or the ABI of the Python, such as `cp312`".to_owned();
        findings.push(finding(file_name, message(&abis, "an ABI"), help));
    }
    findings
}

/// Returns a warning about a Python tag that installers accept with none of the ABI tags
/// (`packaging.tags.cpython_tags` and `compatible_tags`).
///
/// ABI tags that fit no Python tag, such as `cp313` in `cp312-cp312.cp313`, are not reported.
/// Unknown tags are left to [`unknown_python_tags`].
///
/// ```
/// use rock_audit::unfit_python_tag;
///
/// let check = |name: &str| unfit_python_tag(name, &name.parse().unwrap());
/// assert_eq!(check("demo-1.0-cp312-cp312.cp313-linux_x86_64.whl"), None);
/// assert_eq!(
///     check("demo-1.0-cp312.cp313-cp312-linux_x86_64.whl").unwrap().message,
///     "the Python tag `cp313` fits no ABI tag of the wheel (`cp312`), so that no installer selects \
///      the wheel for this tag"
/// );
/// ```
pub fn unfit_python_tag(file_name: &str, name: &WheelName) -> Option<Diagnostic> {
    let abis = name.abi_tags().as_slice();
    let fits = |python: &str| {
        abis.iter()
            .any(|abi| !is_abi_tag(abi) || fits_abi(python, abi))
    };
    let python = name
        .python_tags()
        .iter()
        .find(|python| is_python_tag(python) && !fits(python))?;
    let help = if python.starts_with("cp") {
        format!("use the ABI tag `{python}` if its modules are built for this Python")
    } else {
        "use the ABI tag `none` if it has no extension modules".to_owned()
    };
    let message = format!(
        "the Python tag `{python}` fits no ABI tag of the wheel (`{}`), so that no installer \
         selects the wheel for this tag",
        abis.join("`, `")
    );
    let help = format!("{help}, or the Python tag of the ABI");
    Some(finding(file_name, message, help))
}

fn finding(file_name: &str, message: String, help: String) -> Diagnostic {
    Diagnostic::new(&codes::UNKNOWN_PYTHON_TAG, message)
        .at(in_wheel(file_name), "")
        .help(help)
}

/// Returns whether installers accept a Python tag together with an ABI tag. Those of implementations
/// other than `CPython` are not compared.
fn fits_abi(python: &str, abi: &str) -> bool {
    let is_of = |implementation: &str| {
        let version = python.strip_prefix(implementation);
        version.is_some_and(|version| version.starts_with(|c: char| c.is_ascii_digit()))
    };
    if abi == "none" {
        return true;
    }
    if is_of("py") {
        return false;
    }
    // `t`, `d` and `m` are builds of a Python.
    let is_flags = |rest: &str| rest.bytes().all(|flag| flag.is_ascii_alphabetic());
    !is_of("cp") || !abi.starts_with("cp") || abi.strip_prefix(python).is_some_and(is_flags)
}

/// An extension module that exists for certain Pythons.
#[derive(Debug)]
struct VersionedModule<'m> {
    /// The path of its first file.
    path: &'m str,
    /// The Pythons, such as `cp312` and `cp313t`.
    pythons: BTreeSet<String>,
}

impl VersionedModule<'_> {
    /// Returns whether there is a file for each of the tags; see [`Self::is_for`].
    fn is_for_all(&self, tags: &[String], abis: Option<&AbiTags>) -> bool {
        tags.iter().all(|tag| self.is_for(tag, abis))
    }

    /// Returns whether one of the files is for this Python tag, and for one of the ABI tags if they
    /// name ABIs: a free-threaded Python imports other files than one with the global lock.
    fn is_for(&self, tag: &str, abis: Option<&AbiTags>) -> bool {
        self.pythons.iter().any(|python| {
            let is_for_abi = |abis: &AbiTags| abis.contains("none") || abis.contains(python);
            python.trim_end_matches(['t', 'd', 'm']) == tag && abis.is_none_or(is_for_abi)
        })
    }
}

/// Returns the path of an extension module up to the first dot of its name, and its Python,
/// `cp312t` (PEP 3149).
fn versioned_stem(path: &str) -> Option<(&str, String)> {
    let name = path.rsplit('/').next()?;
    let (stem, rest) = name.split_once('.')?;
    let version = rest.strip_prefix("cpython-")?.split(['-', '.']).next()?;
    let path_stem = &path[..path.len() - name.len() + stem.len()];
    Some((path_stem, format!("cp{version}")))
}

/// Returns the path up to the suffix of a library that any Python may import: `demo/_demo` for
/// `demo/_demo.so`, `demo/_demo.abi3.so` and `demo/_demo.abi3t.so` (PEP 803).
fn unversioned_stem(path: &str) -> Option<&str> {
    let stem = path.strip_suffix(".so")?;
    let stem = [".abi3", ".abi3t"]
        .into_iter()
        .find_map(|suffix| stem.strip_suffix(suffix))
        .unwrap_or(stem);
    let is_whole = !stem.rsplit('/').next()?.contains('.');
    is_whole.then_some(stem)
}

#[cfg(test)]
mod tests {
    use super::{check_python_tags, fits_abi, unfit_python_tag};
    use crate::locations::in_member;

    fn message(tags: &str, members: &[&str]) -> Option<String> {
        let name = format!("demo-1.0-{tags}-linux_x86_64.whl");
        check_python_tags(&name, &name.parse().unwrap(), members.iter().copied())
            .map(|error| error.message)
    }

    #[test]
    fn the_error_is_located_in_the_file_that_was_passed() {
        let name = "demo-1.0+a-py3-none-linux_x86_64.whl".parse().unwrap();
        let members = ["demo/_demo.cpython-312-x86_64-linux-gnu.so"];
        let file_name = "demo-1.0%2Ba-py3-none-linux_x86_64.whl";
        let error = check_python_tags(file_name, &name, members).unwrap();
        assert_eq!(error.labels[0].location, in_member(file_name, members[0]));
    }

    #[test]
    fn tags_must_select_pythons_that_every_module_exists_for() {
        let both = [
            "demo/_demo.cpython-311-x86_64-linux-gnu.so",
            "demo/_demo.cpython-312-x86_64-linux-gnu.so",
        ];
        let one = &both[1..];
        assert_eq!(message("cp312-cp312", one), None);
        assert_eq!(message("cp311.cp312-cp311.cp312", &both), None);
        for (tags, claim) in [
            ("py3-none", "py3"),
            ("cp311-cp311", "cp311"),
            ("cp311.cp312-cp312", "cp311 and cp312"),
            ("cp312-abi3", "cp312 with the stable ABI"),
            ("cp315-abi3t", "cp315 with the stable ABI"),
        ] {
            let expected =
                format!("the filename says {claim}, but `demo/_demo` exists only for cp312");
            assert_eq!(message(tags, one), Some(expected));
        }
    }

    #[test]
    fn each_python_tag_needs_an_abi_tag_that_fits() {
        for (python, abi) in [
            ("cp312", "cp312"),
            ("cp313", "cp313t"),
            ("cp37", "cp37m"),
            ("cp39", "abi3"),
            ("cp315", "abi3t"),
            ("cp312", "none"),
            ("py3", "none"),
            ("pp310", "pypy310_pp73"),
        ] {
            assert!(fits_abi(python, abi), "{python} {abi}");
        }
        for (python, abi) in [
            ("cp313", "cp312"),
            ("cp31", "cp312"),
            ("py3", "cp312"),
            ("py3", "abi3"),
        ] {
            assert!(!fits_abi(python, abi), "{python} {abi}");
        }
        let is_unfit = |tags: &str| {
            let name = format!("demo-1.0-{tags}-linux_x86_64.whl");
            unfit_python_tag(&name, &name.parse().unwrap()).is_some()
        };
        assert!(is_unfit("cp312.cp313-cp312"));
        for tags in ["cp312.cp313-cp312.cp313", "py3-foo", "cpython312-cp312"] {
            assert!(!is_unfit(tags), "{tags}");
        }
    }

    #[test]
    fn modules_that_any_python_may_import_are_accepted() {
        for other in ["demo/_demo.so", "demo/_demo.abi3.so", "demo/_demo.abi3t.so"] {
            let members = ["demo/_demo.cpython-312-x86_64-linux-gnu.so", other];
            assert_eq!(message("py3-none", &members), None);
            assert_eq!(message("py3-none", &members[1..]), None);
        }
        let others = [
            "demo/_demo.cpython-312.txt",
            "demo/libdemo.1.so",
            "demo/demo.py",
        ];
        assert_eq!(message("py3-none", &others), None);
        let free_threaded = ["demo/_demo.cpython-313t-x86_64-linux-gnu.so"];
        assert_eq!(message("cp313-cp313t", &free_threaded), None);
        assert_eq!(
            message("cp313-cp313", &free_threaded).as_deref(),
            Some("the filename says cp313, but `demo/_demo` exists only for cp313t")
        );
        let with_lock = ["demo/_demo.cpython-313-x86_64-linux-gnu.so"];
        assert_eq!(
            message("cp313-cp313t", &with_lock).as_deref(),
            Some("the filename says cp313t, but `demo/_demo` exists only for cp313")
        );
    }
}
