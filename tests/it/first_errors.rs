//! A failed build shows the errors of the compiler before anything else.

use crate::support::toy::Toy;

/// Output of a build as pip shows it: the error of the compiler, then a traceback of setuptools and
/// advice of pip.
const PIP: &str = "cat <<'OUT'
  Building wheel for vecadd (setup.py): started
  running build_ext
  hipcc -shared -fPIC csrc/vecadd.hip
  csrc/vecadd.hip:7:19: error: use of undeclared identifier 'legnth'
      7 |   int i = index + legnth;
        |                   ^
  csrc/vecadd.hip:9:3: error: no matching function for call to 'launch'
  2 errors generated when compiling for gfx90a.
OUT
for line in $(seq 25); do echo \"    File \\\"setuptools/$line.py\\\", line $line, in run\"; done
echo '  error: command hipcc failed with exit code 1'
echo 'ERROR: Failed building wheel for vecadd'
exit 1";

#[test]
fn the_first_errors_of_a_compiler_come_before_the_traceback() {
    let toy = Toy::building(PIP);
    let (_, stderr) = toy.build(4, &[]);
    let expected = "\
error[B050 step-failed]: stage `build` failed: exit status 1
 = note: the first errors in its output are
         csrc/vecadd.hip:7:19: error: use of undeclared identifier 'legnth'
         csrc/vecadd.hip:9:3: error: no matching function for call to 'launch'
 = note: the command was bash -c ";
    assert!(stderr.contains(expected), "{stderr}");
    let last = "\
 = note: its last lines were
             File \"setuptools/23.py\", line 23, in run
             File \"setuptools/24.py\", line 24, in run
             File \"setuptools/25.py\", line 25, in run
           error: command hipcc failed with exit code 1
         ERROR: Failed building wheel for vecadd
";
    assert!(stderr.contains(last), "{stderr}");
    let reason = "stage `build`, exit status 1: csrc/vecadd.hip:7:19: error: use of undeclared identifier 'legnth'";
    assert_eq!(toy.record()["reason"], reason);
}

#[test]
fn an_error_of_cmake_is_shown_with_its_message() {
    let toy = Toy::building(
        "cat <<'OUT'
-- The HIP compiler identification is unknown
CMake Error at CMakeLists.txt:12 (find_package):
  By not providing \"Findhip.cmake\" in CMAKE_MODULE_PATH this project has

  asked CMake to find a package configuration file.
-- Configuring incomplete, errors occurred!
OUT
exit 1",
    );
    let (_, stderr) = toy.build(4, &[]);
    let expected = "
 = note: the first error in its output is
         CMake Error at CMakeLists.txt:12 (find_package):
           By not providing \"Findhip.cmake\" in CMAKE_MODULE_PATH this project has
           asked CMake to find a package configuration file.
 = note: the command was";
    assert!(stderr.contains(expected), "{stderr}");
}
