//! Operating systems of platform tags.

use std::fmt;

/// The operating system of a platform tag (platform compatibility tags, "Platform Tag").
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum PlatformSystem {
    /// `any`: no machine code.
    Any,
    /// Linux with glibc or musl.
    Linux,
    /// A system whose wheels are not audited.
    Foreign(ForeignSystem),
    /// A tag that no specification and no installer defines.
    Unknown,
}

/// A system other than Linux, whose wheels are not audited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the variants are names of systems")]
pub enum ForeignSystem {
    Android,
    Ios,
    MacOs,
    Windows,
    Cygwin,
    WebAssembly,
    FreeBsd,
    OpenBsd,
    NetBsd,
    DragonFlyBsd,
    Solaris,
    Aix,
    Haiku,
    Hurd,
}

impl ForeignSystem {
    /// Returns the name of the system.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Android => "Android",
            Self::Ios => "iOS",
            Self::MacOs => "macOS",
            Self::Windows => "Windows",
            Self::Cygwin => "Cygwin",
            Self::WebAssembly => "WebAssembly",
            Self::FreeBsd => "FreeBSD",
            Self::OpenBsd => "OpenBSD",
            Self::NetBsd => "NetBSD",
            Self::DragonFlyBsd => "DragonFly BSD",
            Self::Solaris => "Solaris",
            Self::Aix => "AIX",
            Self::Haiku => "Haiku",
            Self::Hurd => "GNU Hurd",
        }
    }
}

impl fmt::Display for ForeignSystem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// Prefixes of the tags of other systems: PEP 738 (Android), PEP 730 (iOS), PEP 783 (Emscripten), the
/// specification (macOS and Windows), and `sysconfig.get_platform()` for the others, which
/// `packaging.tags._generic_platforms` takes.
const FOREIGN: &[(&str, ForeignSystem)] = &[
    ("android_", ForeignSystem::Android),
    ("ios_", ForeignSystem::Ios),
    ("macosx_", ForeignSystem::MacOs),
    ("win32", ForeignSystem::Windows),
    ("win_", ForeignSystem::Windows),
    ("mingw_", ForeignSystem::Windows),
    ("cygwin_", ForeignSystem::Cygwin),
    ("pyodide_", ForeignSystem::WebAssembly),
    ("pyemscripten_", ForeignSystem::WebAssembly),
    ("emscripten_", ForeignSystem::WebAssembly),
    ("wasi_", ForeignSystem::WebAssembly),
    ("wasm32", ForeignSystem::WebAssembly),
    ("wasm64", ForeignSystem::WebAssembly),
    ("freebsd_", ForeignSystem::FreeBsd),
    ("openbsd_", ForeignSystem::OpenBsd),
    ("netbsd_", ForeignSystem::NetBsd),
    ("dragonfly_", ForeignSystem::DragonFlyBsd),
    ("solaris_", ForeignSystem::Solaris),
    ("sunos_", ForeignSystem::Solaris),
    ("aix_", ForeignSystem::Aix),
    ("haiku_", ForeignSystem::Haiku),
    ("gnu_", ForeignSystem::Hurd),
];

/// The suffixes of manylinux tags older than PEP 600 (PEP 513, 571 and 599).
const OLD_MANYLINUX: [&str; 3] = ["1", "2010", "2014"];

impl PlatformSystem {
    /// Returns the system of a platform tag in lower case.
    pub fn of_tag(tag: &str) -> Self {
        if tag == "any" {
            return Self::Any;
        }
        if is_linux(tag) {
            return Self::Linux;
        }
        let foreign = FOREIGN.iter().find(|(start, _)| tag.starts_with(start));
        foreign.map_or(Self::Unknown, |(_, system)| Self::Foreign(*system))
    }

    /// Returns whether this is Windows.
    pub fn is_windows(self) -> bool {
        self == Self::Foreign(ForeignSystem::Windows)
    }

    /// Returns the foreign system of tags that are all for such systems; `None` where one of them
    /// is not.
    pub fn foreign_of(tags: &[String]) -> Option<ForeignSystem> {
        let mut systems = tags.iter().map(|tag| match Self::of_tag(tag) {
            Self::Foreign(system) => Some(system),
            _ => None,
        });
        let first = systems.next()??;
        systems.all(|system| system.is_some()).then_some(first)
    }
}

/// Returns whether a tag is `linux_ARCH`, or of manylinux or musllinux with a version and an
/// architecture (PEP 600 and the PEPs before it, PEP 656).
fn is_linux(tag: &str) -> bool {
    if let Some(arch) = tag.strip_prefix("linux_") {
        return !arch.is_empty();
    }
    let versioned = |rest: &str| {
        let mut parts = rest.splitn(3, '_');
        let is_number = |part: Option<&str>| part.is_some_and(|part| part.parse::<u32>().is_ok());
        is_number(parts.next())
            && is_number(parts.next())
            && parts.next().is_some_and(|arch| !arch.is_empty())
    };
    match (
        tag.strip_prefix("manylinux"),
        tag.strip_prefix("musllinux_"),
    ) {
        (Some(rest), _) => match rest.split_once('_') {
            Some(("", rest)) => versioned(rest),
            Some((year, arch)) => OLD_MANYLINUX.contains(&year) && !arch.is_empty(),
            None => false,
        },
        (None, Some(rest)) => versioned(rest),
        (None, None) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::{ForeignSystem, PlatformSystem};

    /// A tag is of Linux, of a system that is not judged, of none that is known, or for any.
    #[test]
    fn tags_name_their_systems() {
        let tags = [
            "any",
            "linux_x86_64",
            "linux_armv6l",
            "manylinux1_i686",
            "manylinux2014_x86_64",
            "manylinux_2_28_x86_64",
            "musllinux_1_2_aarch64",
            "android_21_x86_64",
            "ios_13_0_arm64_iphoneos",
            "macosx_11_0_arm64",
            "win32",
            "win_arm64",
            "pyemscripten_2025_0_wasm32",
            "emscripten_4_0_9_wasm32",
            "wasi_0_0_0_wasm32",
            "freebsd_14_1_release_amd64",
            "something",
            "linux",
            "linux_",
            "manylinux",
            "manylinux2015_x86_64",
            "manylinux_2_x86_64",
            "musllinux_1_2",
            "windows_amd64",
        ];
        let shown = tags.map(|tag| format!("{tag}: {:?}\n", PlatformSystem::of_tag(tag)));
        insta::assert_snapshot!(shown.concat(), @r#"
        any: Any
        linux_x86_64: Linux
        linux_armv6l: Linux
        manylinux1_i686: Linux
        manylinux2014_x86_64: Linux
        manylinux_2_28_x86_64: Linux
        musllinux_1_2_aarch64: Linux
        android_21_x86_64: Foreign(Android)
        ios_13_0_arm64_iphoneos: Foreign(Ios)
        macosx_11_0_arm64: Foreign(MacOs)
        win32: Foreign(Windows)
        win_arm64: Foreign(Windows)
        pyemscripten_2025_0_wasm32: Foreign(WebAssembly)
        emscripten_4_0_9_wasm32: Foreign(WebAssembly)
        wasi_0_0_0_wasm32: Foreign(WebAssembly)
        freebsd_14_1_release_amd64: Foreign(FreeBsd)
        something: Unknown
        linux: Unknown
        linux_: Unknown
        manylinux: Unknown
        manylinux2015_x86_64: Unknown
        manylinux_2_x86_64: Unknown
        musllinux_1_2: Unknown
        windows_amd64: Unknown
        "#);
    }

    /// Tags are of a foreign system where each of them is.
    #[test]
    fn a_set_with_a_linux_tag_is_not_foreign() {
        let of = |tags: &[&str]| {
            PlatformSystem::foreign_of(
                &tags.iter().map(|tag| (*tag).to_owned()).collect::<Vec<_>>(),
            )
        };
        assert_eq!(of(&["android_21_x86_64"]), Some(ForeignSystem::Android));
        assert_eq!(
            of(&["macosx_10_9_x86_64", "macosx_11_0_arm64"]),
            Some(ForeignSystem::MacOs)
        );
        for tags in [
            &["android_21_x86_64", "linux_x86_64"][..],
            &["any"],
            &["something"],
            &["win32", "something"],
            &[],
        ] {
            assert_eq!(of(tags), None, "{tags:?}");
        }
    }
}
