//! The first errors of compilers, linkers and CMake in the output of a stage.
//!
//! Python's build frontends print their own traceback after the output of a compiler, so the last
//! lines of a failed stage seldom contain the cause.

use super::limits::{MAX_CMAKE_LINES, MAX_COMPILER_ERRORS};

/// Programs that report errors without a file: `clang: error: cannot find ROCm device library`.
const TOOLS: [&str; 19] = [
    "amdclang",
    "amdclang++",
    "c++",
    "cc",
    "cc1",
    "cc1plus",
    "clang",
    "clang++",
    "clang-linker-wrapper",
    "collect2",
    "g++",
    "gcc",
    "gfortran",
    "hipcc",
    "ld",
    "ld.bfd",
    "ld.gold",
    "ld.lld",
    "lld",
];

/// Errors in the output of one stage, in the order in which they were printed.
#[derive(Debug, Default)]
pub(super) struct CompilerErrors {
    found: Vec<String>,
    /// Lines that the message of a CMake error may still take.
    cmake_lines: usize,
}

impl CompilerErrors {
    /// Reads the next line of the output.
    pub(super) fn read(&mut self, line: &str) {
        if self.cmake_lines > 0 && line.starts_with(' ') {
            self.cmake_lines -= 1;
            if let Some(last) = self.found.last_mut() {
                last.push('\n');
                last.push_str(line);
            }
            return;
        }
        self.cmake_lines = 0;
        let text = line.trim_start();
        if self.found.len() == MAX_COMPILER_ERRORS
            || self
                .found
                .iter()
                .any(|error| error.lines().next() == Some(text))
        {
            return;
        }
        let is_cmake = text.starts_with("CMake Error");
        let is_error = is_at_a_line(text)
            || is_of_a_tool(text)
            || is_of_a_linker(text)
            || is_of_a_back_end(text);
        if is_cmake || is_error {
            self.found.push(text.to_owned());
            // pip indents its output, so the end of an indented CMake message cannot be detected;
            // its first line has the location.
            self.cmake_lines = if is_cmake && text.len() == line.len() {
                MAX_CMAKE_LINES
            } else {
                0
            };
        }
    }

    /// Returns the errors found so far.
    pub(super) fn found(&self) -> &[String] {
        &self.found
    }
}

/// Returns the text before `: error: ` or `: fatal error: `, as GCC and Clang print it.
fn before_error(text: &str) -> Option<&str> {
    let (before, _) = text.split_once(" error: ")?;
    let kinds = [" fatal", " internal compiler"];
    kinds
        .iter()
        .find_map(|kind| before.strip_suffix(kind))
        .unwrap_or(before)
        .strip_suffix(':')
}

/// Whether an error has a file and line: `src/a.hip:3:5: error: …`, with or without a column.
fn is_at_a_line(text: &str) -> bool {
    let Some((file, number)) = before_error(text).and_then(|before| before.rsplit_once(':')) else {
        return false;
    };
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    // A column may follow the line; in a time such as `12:30:45` there is no filename.
    let file = file
        .rsplit_once(':')
        .filter(|(_, line)| is_number(line))
        .map_or(file, |(file, _)| file);
    let name = file.rsplit('/').next().unwrap_or(file);
    // `setup.py` compiles `_configtest.c` to probe the compiler; its errors are expected.
    is_number(number) && name.contains('.') && !name.starts_with("_configtest.")
}

/// Whether an error was reported by a tool itself: `clang-17: error: …`, `/usr/bin/ld: error: …`.
fn is_of_a_tool(text: &str) -> bool {
    let Some(tool) = before_error(text) else {
        return false;
    };
    let name = tool.rsplit('/').next().unwrap_or(tool);
    let is_version = |text: &str| {
        text.bytes()
            .all(|byte| byte.is_ascii_digit() || byte == b'.')
    };
    let name = name
        .rsplit_once('-')
        .filter(|(_, version)| is_version(version))
        .map_or(name, |(name, _)| name);
    // Cross compilers are prefixed with the target, `x86_64-linux-gnu-gcc`.
    TOOLS.contains(&name)
        || name
            .rsplit_once("-gnu-")
            .is_some_and(|(_, tool)| TOOLS.contains(&tool))
}

/// Whether a line is an error of LLVM's AMDGPU backend, which has no filename.
fn is_of_a_back_end(text: &str) -> bool {
    text.contains("error in backend: ")
        || text.contains(": local memory (") && text.contains(") exceeds limit (")
}

/// Whether a line is an error of GNU ld about a missing symbol or library.
fn is_of_a_linker(text: &str) -> bool {
    text.contains(": undefined reference to `") || text.contains("ld: cannot find ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(lines: &[&str]) -> Vec<String> {
        let mut errors = CompilerErrors::default();
        for line in lines {
            errors.read(line);
        }
        errors.found().to_vec()
    }

    #[test]
    fn errors_of_compilers_and_linkers_are_found_and_those_of_build_frontends_are_not() {
        for line in [
            "csrc/a.hip:3:5: error: use of undeclared identifier 'x'",
            "csrc/a.hip:1:10: fatal error: 'missing.h' file not found",
            "a.c:7: error: old style",
            "clang: error: cannot find ROCm device library",
            "/opt/rocm/llvm/bin/clang-17: error: linker command failed with exit code 1",
            "ld.lld: error: undefined symbol: f",
            "/usr/bin/ld: cannot find -lamdhip64: No such file or directory",
            "a.cpp:(.text+0x9): undefined reference to `f()'",
            "collect2: error: ld returned 1 exit status",
            "x86_64-linux-gnu-gcc-12: fatal error: no input files",
            "a.c:1:1: internal compiler error: Segmentation fault",
            "fatal error: error in backend: Cannot select: intrinsic",
            "error: local memory (70000) exceeds limit (65536) in function 'f'",
            "CMake Error: CMake was unable to find a build program corresponding to \"Ninja\".",
        ] {
            assert_eq!(found(&[&format!("      {line}")]), [line]);
        }
        for line in [
            "error: subprocess-exited-with-error",
            "error: command '/usr/bin/hipcc' failed with exit code 1",
            "ERROR: Failed building wheel for x",
            "a.c:7:1: warning: unused",
            "RuntimeError: Error compiling objects for extension",
            "note: This error originates from a subprocess",
            "1 error generated when compiling for gfx90a.",
            "_configtest.c:1:10: fatal error: x.h: No such file or directory",
            "12:30:45: error: no such job",
        ] {
            assert!(found(&[line]).is_empty(), "{line}");
        }
    }

    #[test]
    fn a_cmake_error_has_the_lines_of_its_message() {
        let lines = [
            "-- x",
            "CMake Error at CMakeLists.txt:5 (find_package):",
            "  Could not find hip.",
            "Call Stack:",
        ];
        assert_eq!(
            found(&lines),
            ["CMake Error at CMakeLists.txt:5 (find_package):\n  Could not find hip."]
        );
        let twice = [
            &lines[..],
            &lines[1..],
            &["CMake Error (dev) in CMakeLists.txt:", "  No project()."],
        ]
        .concat();
        assert_eq!(found(&twice).len(), 2, "{:?}", found(&twice));
    }

    #[test]
    fn an_error_is_found_once_and_the_first_ones_stay() {
        let line = |number: usize| format!("a.c:{number}:1: error: no");
        let lines: Vec<String> = (1..9)
            .flat_map(|number| [line(number), line(number)])
            .collect();
        let found = found(&lines.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(
            found,
            (1..=MAX_COMPILER_ERRORS).map(line).collect::<Vec<_>>()
        );
    }
}
