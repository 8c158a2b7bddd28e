//! Requirements of torch builds on a machine, by the tables `tools`, `paths` and `known-failures`.

use crate::codes::host as codes;
use rock_compat::Compat;
use rock_compat::rows::KnownFailureRow;
use rock_diagnostic::Diagnostic;
use rock_host::HostFacts;
use rock_names::{Platform, Version};

/// The known properties of a machine that builds torch.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BuildMachine<'a> {
    /// `linux` or `windows`.
    pub platform: &'a str,
    /// The path of the interpreter.
    pub python: Option<&'a str>,
    /// The directory that builds are made in.
    pub folder: Option<&'a str>,
    /// The output of `ninja --version`.
    pub ninja: Option<&'a str>,
}

impl<'a> BuildMachine<'a> {
    /// Completes the properties with those of this machine, unless it has another system.
    /// `current_dir` is the working directory.
    #[must_use]
    pub fn complete(self, facts: &'a HostFacts, current_dir: &'a str) -> Self {
        if self.platform != Platform::Linux.word() {
            return self;
        }
        let python = facts.python.as_ref().map(|python| python.program.as_str());
        Self {
            platform: self.platform,
            python: self.python.or(python),
            folder: self.folder.or(Some(current_dir)),
            ninja: self.ninja.or(facts.ninja_version.as_deref()),
        }
    }
}

/// Returns the problems that builds would have on a machine. Unknown properties are not checked.
pub fn build_findings(compat: &Compat, machine: &BuildMachine<'_>) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for row in compat
        .machine_tables()
        .tools
        .iter()
        .filter(|row| row.platform == machine.platform)
    {
        let version = if row.tool == "ninja" {
            machine.ninja
        } else {
            None
        };
        let is_old = |text: &str| {
            let number = text
                .split(|c: char| !c.is_ascii_digit() && c != '.')
                .next()
                .unwrap_or_default();
            let version = number.trim_matches('.').parse::<Version>();
            version
                .and_then(|version| version.satisfies(&format!("<{}", row.least)))
                .unwrap_or(false)
        };
        if let Some(version) = version.filter(|version| is_old(version)) {
            let message = format!("{} {version} is older than {}", row.tool, row.least);
            let fault = Diagnostic::new(&codes::OLD_BUILD_TOOL, message).note(row.reason.clone());
            found.push(fault.help(format!("install {} {} or later", row.tool, row.least)));
        }
    }
    for row in compat
        .machine_tables()
        .paths
        .iter()
        .filter(|row| row.platform == machine.platform)
    {
        let (what, path) = match row.path.as_str() {
            "python" => ("Python", machine.python),
            _ => ("the build folder", machine.folder),
        };
        let Some(path) = path else { continue };
        let length = path.chars().count();
        let mut report = |message: String| {
            let fault = Diagnostic::new(&codes::UNFIT_PATH, message).note(row.reason.clone());
            found.push(fault.help(row.help.clone()));
        };
        if row.no_blanks && path.contains(char::is_whitespace) {
            report(format!("the path of {what}, `{path}`, contains a space"));
        }
        if let Some(longest) = row.longest.filter(|longest| length > *longest as usize) {
            report(format!(
                "the path of {what}, `{path}`, has {length} characters, more than {longest}"
            ));
        }
    }
    found
}

/// Returns the known failures whose words all occur in `output`, the description and output of a
/// failed step. Case is ignored.
pub fn known_failures<'a>(compat: &'a Compat, output: &str) -> Vec<&'a KnownFailureRow> {
    let output = output.to_lowercase();
    let rows = compat.machine_tables().known_failures.iter();
    rows.filter(|row| row.words.iter().all(|word| output.contains(word.as_str())))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{BuildMachine, build_findings, known_failures};
    use rock_compat::Compat;
    use rock_host::HostFacts;

    fn check(machine: BuildMachine<'_>, expect: &[&str]) {
        let found = build_findings(&Compat::embedded(), &machine);
        let findings: Vec<String> = found
            .iter()
            .map(|one| format!("{} {}", one.code.id, one.message))
            .collect();
        assert_eq!(findings, expect);
        assert!(
            found
                .iter()
                .all(|one| one.help.is_some() && !one.notes.is_empty())
        );
    }

    const WINDOWS: BuildMachine<'_> = BuildMachine {
        platform: "windows",
        python: None,
        folder: None,
        ninja: None,
    };
    const LINUX: BuildMachine<'_> = BuildMachine {
        platform: "linux",
        ..WINDOWS
    };

    #[test]
    fn a_long_directory_is_reported_on_windows_only() {
        let long = Some("C:/Users/someone/src/pytorch");
        check(
            BuildMachine {
                folder: long,
                ..WINDOWS
            },
            &[
                "H032 the path of the build folder, `C:/Users/someone/src/pytorch`, has 28 \
                 characters, more than 20",
            ],
        );
        check(
            BuildMachine {
                folder: Some("C:/b/pytorch"),
                ..WINDOWS
            },
            &[],
        );
        check(
            BuildMachine {
                folder: long,
                ..LINUX
            },
            &[],
        );
    }

    #[test]
    fn blanks_in_the_path_of_python_are_reported() {
        let blank = Some("C:/Program Files/Python312/python.exe");
        check(
            BuildMachine {
                python: blank,
                ..WINDOWS
            },
            &["H032 the path of Python, `C:/Program Files/Python312/python.exe`, contains a space"],
        );
        check(
            BuildMachine {
                python: Some("/data/my venv/bin/python"),
                ..LINUX
            },
            &["H032 the path of Python, `/data/my venv/bin/python`, contains a space"],
        );
        check(
            BuildMachine {
                python: Some("/usr/bin/python3"),
                ..LINUX
            },
            &[],
        );
    }

    #[test]
    fn ninja_has_another_bound_on_windows() {
        check(
            BuildMachine {
                ninja: Some("1.12.1"),
                ..WINDOWS
            },
            &["H031 ninja 1.12.1 is older than 1.13.1"],
        );
        check(
            BuildMachine {
                ninja: Some("1.13.1"),
                ..WINDOWS
            },
            &[],
        );
        let of_pypi = "1.10.2.git.kitware.jobserver-1";
        let expect = "H031 ninja 1.10.2.git.kitware.jobserver-1 is older than 1.11";
        check(
            BuildMachine {
                ninja: Some(of_pypi),
                ..LINUX
            },
            &[expect],
        );
        check(
            BuildMachine {
                ninja: Some("1.11.1.git.kitware.jobserver-1"),
                ..LINUX
            },
            &[],
        );
        check(
            BuildMachine {
                ninja: Some("none"),
                ..LINUX
            },
            &[],
        );
        check(
            BuildMachine {
                ninja: Some("1.11"),
                ..LINUX
            },
            &[],
        );
    }

    #[test]
    fn an_invalid_argument_of_aotriton_behind_ccache_is_known() {
        let compat = Compat::embedded();
        let known = |text: &str| known_failures(&compat, text).len();
        assert_eq!(
            known(
                "FAILED: v2src/CMakeFiles/aotriton_v2.dir/x.o\nccache clang++ …\nInvalid argument"
            ),
            1
        );
        assert_eq!(
            known("FAILED: v2src/CMakeFiles/aotriton_v2.dir/x.o\nclang++ …\nInvalid argument"),
            0
        );
        assert_eq!(known("ccache clang++ x.cpp: invalid argument"), 0);
    }

    #[test]
    fn a_link_that_wants_fbgemm_genai_is_known() {
        let compat = Compat::embedded();
        let known = known_failures(
            &compat,
            "ld.lld: error: unable to find library -lfbgemm_genai",
        );
        assert_eq!(
            known
                .iter()
                .map(|row| row.failure.as_str())
                .collect::<Vec<_>>(),
            ["fbgemm-genai"]
        );
        assert!(
            known[0]
                .help
                .starts_with("build again with USE_FBGEMM_GENAI=OFF")
        );
    }

    #[test]
    fn a_machine_with_another_system_has_no_properties_of_this_one() {
        let facts = HostFacts {
            ninja_version: Some("1.12.0".to_owned()),
            ..HostFacts::default()
        };
        let complete = |platform| {
            let machine = BuildMachine {
                platform,
                ..BuildMachine::default()
            };
            let machine = machine.complete(&facts, "/src");
            (machine.folder, machine.ninja)
        };
        assert_eq!(complete("linux"), (Some("/src"), Some("1.12.0")));
        assert_eq!(complete("windows"), (None, None));
    }
}
