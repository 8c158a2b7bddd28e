//! The repair of built wheels in a matrix file.

/// Wheel repair.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RepairConfig {
    /// The target platform.
    pub platform: RepairPlatform,
    /// Exclude presets.
    pub presets: Vec<String>,
    /// Names and patterns of additional excluded libraries.
    pub exclude: Vec<String>,
}

/// Library presets that repairs exclude by default: a process must load only one copy of the GPU
/// runtimes and of torch.
pub const REPAIR_PRESETS: [&str; 3] = ["rocm", "torch", "cuda"];

/// The platform that a built wheel is repaired for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RepairPlatform {
    /// No repair: the wheel stays as built.
    Off,
    /// The oldest platform that its symbols allow.
    Auto,
    /// This platform tag.
    Tag(String),
}

impl RepairPlatform {
    /// Returns the platform for a keyword or tag in a matrix file.
    pub fn from_word(word: &str) -> Self {
        match word {
            "off" => Self::Off,
            "auto" => Self::Auto,
            tag => Self::Tag(tag.to_owned()),
        }
    }
}

/// Formats the platform as a keyword or tag of a matrix file.
impl std::fmt::Display for RepairPlatform {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Off => "off",
            Self::Auto => "auto",
            Self::Tag(tag) => tag,
        })
    }
}
