//! Identification of the C library that a file is for.

use rock_compat::policy::PolicyFamily;
use rock_elf::VersionNeed;

/// Prefixes of libraries that only glibc has (glibc, `shlib-versions`). musl has all of them in
/// one.
const OF_GLIBC: &[&str] = &[
    "libc.so.6",
    "libm.so.6",
    "libmvec.so.1",
    "libpthread.so.0",
    "libdl.so.2",
    "librt.so.1",
    "libutil.so.1",
    "libanl.so.1",
    "ld-linux",
    "ld64.so.",
];
/// Prefix of the symbol versions of glibc (glibc, `Versions`); symbols of musl have none.
const GLIBC_VERSIONS: &str = "GLIBC_";
/// The prefix of musl's library in Alpine and PEP 656, and of its dynamic linker.
const OF_MUSL: &[&str] = &["libc.musl-", "ld-musl-"];
/// The name of musl's library in its own build and in linkers such as zig's. Android's has this
/// name too, and versions.
const PLAIN_LIBC: &str = "libc.so";

/// The last Python whose extension modules are named `-linux-gnu` also on musl; later ones are
/// named `-linux-musl` there (<https://github.com/python/cpython/issues/87278>).
const LAST_PYTHON_WITHOUT_MUSL_SUFFIX: (u32, u32) = (3, 10);

/// Functions of C, POSIX and Linux; a module that calls a C library calls some of these.
const FUNCTIONS: &[&str] = &[
    "__assert_fail",
    "__errno_location",
    "__stack_chk_fail",
    "abort",
    "accept",
    "access",
    "atexit",
    "atof",
    "atoi",
    "atol",
    "bind",
    "bsearch",
    "calloc",
    "clock_gettime",
    "close",
    "connect",
    "cos",
    "dlclose",
    "dlerror",
    "dlopen",
    "dlsym",
    "dup2",
    "epoll_create1",
    "epoll_wait",
    "eventfd",
    "execve",
    "exit",
    "exp",
    "fclose",
    "fcntl",
    "fflush",
    "floor",
    "fmod",
    "fopen",
    "fork",
    "fprintf",
    "fputc",
    "fputs",
    "fread",
    "free",
    "fseek",
    "fstat",
    "ftell",
    "fwrite",
    "getcwd",
    "getentropy",
    "getenv",
    "getpagesize",
    "getpid",
    "getrandom",
    "gettimeofday",
    "getuid",
    "ioctl",
    "isalnum",
    "isalpha",
    "isatty",
    "isdigit",
    "isspace",
    "kill",
    "listen",
    "localtime_r",
    "log",
    "longjmp",
    "lseek",
    "madvise",
    "malloc",
    "memchr",
    "memcmp",
    "memcpy",
    "memfd_create",
    "memmove",
    "memset",
    "mkdir",
    "mmap",
    "mprotect",
    "munmap",
    "nanosleep",
    "open",
    "opendir",
    "pipe",
    "poll",
    "posix_memalign",
    "pow",
    "pread",
    "printf",
    "pthread_create",
    "pthread_join",
    "pthread_mutex_lock",
    "pthread_mutex_unlock",
    "pthread_self",
    "putchar",
    "puts",
    "pwrite",
    "qsort",
    "raise",
    "rand",
    "read",
    "readlink",
    "realloc",
    "recv",
    "rename",
    "sched_getaffinity",
    "select",
    "send",
    "shm_open",
    "sigaction",
    "signal",
    "sin",
    "snprintf",
    "socket",
    "sprintf",
    "sqrt",
    "srand",
    "sscanf",
    "stat",
    "strcasecmp",
    "strcat",
    "strchr",
    "strcmp",
    "strcpy",
    "strdup",
    "strerror",
    "strftime",
    "strlen",
    "strncmp",
    "strncpy",
    "strndup",
    "strrchr",
    "strstr",
    "strtod",
    "strtok_r",
    "strtol",
    "strtoul",
    "syscall",
    "sysconf",
    "time",
    "tolower",
    "toupper",
    "unlink",
    "usleep",
    "vfprintf",
    "vsnprintf",
    "waitpid",
    "write",
];

/// Returns the C library that the interpreter, needed libraries and symbol versions of a file
/// identify.
pub(super) fn from_dependencies(
    interpreter: Option<&str>,
    needed: &[String],
    versions: &[VersionNeed],
) -> Option<PolicyFamily> {
    if let Some(interpreter) = interpreter {
        let name = interpreter.rsplit('/').next().unwrap_or_default();
        return Some(if name.starts_with("ld-musl-") {
            PolicyFamily::Musllinux
        } else {
            PolicyFamily::Manylinux
        });
    }
    if has_prefix(needed, OF_MUSL) {
        return Some(PolicyFamily::Musllinux);
    }
    let mut all = versions.iter().flat_map(|need| &need.versions);
    (has_prefix(needed, OF_GLIBC) || all.any(|version| version.starts_with(GLIBC_VERSIONS)))
        .then_some(PolicyFamily::Manylinux)
}

/// Returns whether a needed name starts with one of these prefixes.
fn has_prefix(needed: &[String], prefixes: &[&str]) -> bool {
    needed
        .iter()
        .any(|needed| prefixes.iter().any(|prefix| needed.starts_with(prefix)))
}

/// Returns whether musl's library is needed under its plain name, and without versions, which
/// Android's has.
pub(super) fn needs_plain_musl(needed: &[String], versions: &[VersionNeed]) -> bool {
    needed.iter().any(|needed| needed == PLAIN_LIBC)
        && !versions.iter().any(|need| need.library == PLAIN_LIBC)
}

/// Returns the C library in the file name of an extension module (PEP 3149, and PEP 656 for musl).
pub(super) fn of_module_name(path: &str) -> Option<PolicyFamily> {
    let name = path.rsplit('/').next().unwrap_or(path);
    if name.ends_with("-linux-musl.so") || name.ends_with("-linux-musleabihf.so") {
        return Some(PolicyFamily::Musllinux);
    }
    let is_gnu = name.ends_with("-linux-gnu.so") || name.ends_with("-linux-gnueabihf.so");
    (is_gnu && !is_of_untold_python(name)).then_some(PolicyFamily::Manylinux)
}

/// Returns whether an extension module, `_demo.cpython-310-x86_64-linux-gnu.so`, is for a Python
/// that uses the same names on musl.
fn is_of_untold_python(name: &str) -> bool {
    let Some((_, rest)) = name.rsplit_once(".cpython-") else {
        return false;
    };
    let digits = &rest[..rest
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(rest.len())];
    let Some((major, minor)) = digits.split_at_checked(1) else {
        return false;
    };
    let numbers = major.parse().ok().zip(minor.parse().ok());
    numbers.is_some_and(|python: (u32, u32)| python <= LAST_PYTHON_WITHOUT_MUSL_SUFFIX)
}

/// Returns whether an undefined symbol without a version may be a function of the C library.
///
/// Names with the prefixes of Python or C++ are not. In a file that needs other libraries, a name
/// that is not a common C function belongs to one of those.
pub(super) fn may_be_function(symbol: &str, has_libraries: bool) -> bool {
    let is_other = ["Py", "_Py", "_Z"]
        .iter()
        .any(|start| symbol.starts_with(start));
    !symbol.is_empty() && !is_other && (!has_libraries || FUNCTIONS.binary_search(&symbol).is_ok())
}

#[cfg(test)]
mod tests {
    use super::{FUNCTIONS, from_dependencies, may_be_function, needs_plain_musl, of_module_name};
    use rock_compat::policy::PolicyFamily;
    use rock_elf::VersionNeed;

    fn need(library: &str, version: &str) -> VersionNeed {
        VersionNeed {
            library: library.to_owned(),
            versions: vec![version.to_owned()],
            indexes: vec![2],
        }
    }

    /// Libraries and versions identify the C library; a `libc.so` without versions may be musl's.
    #[test]
    fn needs_identify_the_c_library() {
        let of = |needed: &[&str], versions: &[VersionNeed]| {
            from_dependencies(
                None,
                &needed
                    .iter()
                    .map(|name| (*name).to_owned())
                    .collect::<Vec<_>>(),
                versions,
            )
        };
        assert_eq!(
            of(&["libfoo.so.1", "libc.so.6"], &[]),
            Some(PolicyFamily::Manylinux)
        );
        assert_eq!(of(&["libm.so.6"], &[]), Some(PolicyFamily::Manylinux));
        assert_eq!(
            of(&[], &[need("libc.so.6", "GLIBC_2.17")]),
            Some(PolicyFamily::Manylinux)
        );
        assert_eq!(
            of(&["libc.musl-x86_64.so.1"], &[]),
            Some(PolicyFamily::Musllinux)
        );
        let plain = ["libc.so".to_owned()];
        assert!(
            needs_plain_musl(&plain, &[]) && from_dependencies(None, &plain, &[]).is_none(),
            "zig's musl"
        );
        assert!(
            !needs_plain_musl(&plain, &[need("libc.so", "LIBC")]),
            "Android's"
        );
        assert_eq!(
            of(
                &["libstdc++.so.6"],
                &[need("libstdc++.so.6", "GLIBCXX_3.4")]
            ),
            None
        );
        assert_eq!(
            from_dependencies(Some("/lib/ld-musl-x86_64.so.1"), &[], &[]),
            Some(PolicyFamily::Musllinux)
        );
        assert_eq!(
            from_dependencies(Some("/lib64/ld-linux-x86-64.so.2"), &[], &[]),
            Some(PolicyFamily::Manylinux)
        );
    }

    /// Modules of Python 3.10 and older have the same names on both C libraries.
    #[test]
    fn module_names_identify_the_c_library_from_python_3_11_on() {
        let of = |python: &str, libc: &str| {
            of_module_name(&format!(
                "demo/_demo.cpython-{python}-x86_64-linux-{libc}.so"
            ))
        };
        assert_eq!(
            [of("311", "gnu"), of("315t", "gnu")],
            [Some(PolicyFamily::Manylinux); 2]
        );
        assert_eq!(
            [
                of("310", "gnu"),
                of("37m", "gnu"),
                of("39", "gnu"),
                of("27mu", "gnu")
            ],
            [None; 4]
        );
        assert_eq!(
            [of("310", "musl"), of("312", "musl")],
            [Some(PolicyFamily::Musllinux); 2]
        );
        assert_eq!(of_module_name("demo/_demo.abi3.so"), None);
        assert_eq!(
            of_module_name("demo/_demo.pypy310-pp73-x86_64-linux-gnu.so"),
            Some(PolicyFamily::Manylinux)
        );
    }

    /// Names of Python and C++ are never functions of C; next to other libraries only common ones
    /// are.
    #[test]
    fn c_functions_are_recognized() {
        assert!(FUNCTIONS.is_sorted());
        assert!(may_be_function("malloc", true) && may_be_function("getrandom", true));
        assert!(
            may_be_function("arc4random_uniform", false)
                && !may_be_function("arc4random_uniform", true)
        );
        assert!(!may_be_function("hipMalloc", true) && !may_be_function("PyModule_Create2", false));
        assert!(
            !may_be_function("_ZN5torch3jitE", false) && !may_be_function("_Py_NoneStruct", false)
        );
    }
}
