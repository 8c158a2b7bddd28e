//! Facts of a Python interpreter and its torch.

use serde::Deserialize;

/// A Python program that prints [`PythonFacts`] as JSON.
///
/// It does not import torch, which would take seconds: the version is in torch's METADATA, and the
/// HIP version in `torch/version.py`. The current directory is not on its module path.
pub const PYTHON_FACTS_SCRIPT: &str = r#"
import sys
sys.path = [folder for folder in sys.path if folder]
import json, os, re, sysconfig
facts = {
    "version": "%d.%d" % sys.version_info[:2],
    "free_threaded": bool(sysconfig.get_config_var("Py_GIL_DISABLED")),
    "platform": re.sub("[-.]", "_", sysconfig.get_platform()),
}
try:
    facts["libc"] = os.confstr("CS_GNU_LIBC_VERSION")
except (AttributeError, OSError, ValueError):
    pass
if not facts.get("libc") and "musl" in (sysconfig.get_config_var("HOST_GNU_TYPE") or ""):
    facts["libc"] = "musl"
try:
    import importlib.metadata, importlib.util
    facts["torch"] = importlib.metadata.version("torch")
    with open(os.path.join(os.path.dirname(importlib.util.find_spec("torch").origin), "version.py")) as file:
        found = re.search(r"^hip\b[^=]*=\s*['\"]([^'\"]+)", file.read(), re.M)
    if found:
        facts["torch_hip"] = found.group(1)
except Exception:
    pass
print(json.dumps(facts))
"#;

/// The facts of an interpreter, as [`PYTHON_FACTS_SCRIPT`] prints them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub struct PythonFacts {
    /// The path of the interpreter.
    #[serde(default)]
    pub program: String,
    /// The major and minor version, `3.12`.
    #[serde(default)]
    pub version: String,
    /// Whether this is a free-threaded build.
    #[serde(default)]
    pub free_threaded: bool,
    /// The platform tag of the system without the C library, `linux_x86_64`.
    #[serde(default)]
    pub platform: String,
    /// The C library: `glibc 2.36`, or `musl` with or without a version.
    #[serde(default)]
    pub libc: Option<String>,
    /// The version of the installed torch, `2.9.1+rocm6.4`.
    #[serde(default)]
    pub torch: Option<String>,
    /// The HIP version that torch was built with, `6.4.43482`.
    #[serde(default)]
    pub torch_hip: Option<String>,
}

impl PythonFacts {
    /// Parses the output of [`PYTHON_FACTS_SCRIPT`]. Returns `None` for other texts.
    pub fn parse(program: &str, answer: &str) -> Option<Self> {
        let facts: Self = serde_json::from_str(answer.trim()).ok()?;
        (!facts.version.is_empty()).then(|| Self {
            program: program.to_owned(),
            ..facts
        })
    }
}

#[cfg(test)]
mod tests {
    use super::PythonFacts;

    #[test]
    fn only_the_output_of_the_script_is_parsed() {
        let facts = PythonFacts::parse(
            "/p",
            r#"{"version": "3.13", "free_threaded": true, "libc": null}"#,
        )
        .unwrap();
        assert_eq!(
            (
                facts.program.as_str(),
                facts.version.as_str(),
                facts.free_threaded
            ),
            ("/p", "3.13", true)
        );
        assert_eq!((facts.libc, facts.torch), (None, None));
        for text in ["", "Python 2.7.18", "{}", "[1]"] {
            assert_eq!(PythonFacts::parse("/p", text), None, "{text}");
        }
    }
}
