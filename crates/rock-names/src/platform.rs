//! Operating systems to build wheels for.

use std::fmt;

/// The operating system that wheels are built for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Platform {
    /// Linux.
    Linux,
    /// Windows.
    Windows,
}

impl Platform {
    /// The words of the platforms in files and options, in the order of the variants.
    pub const WORDS: &'static [&'static str] = &["linux", "windows"];

    /// Returns the word of the platform.
    pub fn word(self) -> &'static str {
        match self {
            Self::Linux => "linux",
            Self::Windows => "windows",
        }
    }

    /// Returns the platform of a word.
    pub fn from_word(word: &str) -> Option<Self> {
        match word {
            "linux" => Some(Self::Linux),
            "windows" => Some(Self::Windows),
            _ => None,
        }
    }
}

impl fmt::Display for Platform {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

#[cfg(test)]
mod tests {
    use super::Platform;

    #[test]
    fn words_and_platforms_agree() {
        let platforms = Platform::WORDS.iter().map(|word| Platform::from_word(word));
        let platforms: Vec<Platform> = platforms.flatten().collect();
        assert_eq!(platforms, [Platform::Linux, Platform::Windows]);
        let words: Vec<&str> = platforms.iter().map(|platform| platform.word()).collect();
        assert_eq!(words, Platform::WORDS);
        assert_eq!(Platform::from_word("Linux"), None);
    }
}
