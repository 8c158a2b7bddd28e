//! What is written behind `pip install` for a project of an index.

use super::{FileKind, IndexFile};

/// How a project is installed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Installing {
    /// By itself: what it needs is elsewhere.
    Alone,
    /// It is the source distribution of a ROCm SDK, which is built where it is installed, and brings the packages of the
    /// SDK along.
    Chooses,
    /// It is a package of the SDK, which the other one brings along.
    Chosen,
}

impl Installing {
    /// How the project of a file is installed.
    pub fn of(file: &IndexFile) -> Self {
        match (file.is_of_sdk, &file.kind) {
            (true, FileKind::Sdist) => Self::Chooses,
            (true, FileKind::Wheel(_)) => Self::Chosen,
            _ => Self::Alone,
        }
    }

    /// The words behind `pip install`; none where another project of the folder brings this one along.
    pub fn words(self, project: &str, folder: impl IntoIterator<Item = Self>) -> Option<String> {
        match self {
            // The index has nothing to build it with, and the packages need each other and nothing else.
            Self::Chooses => Some(format!("'{project}[libraries,devel]' --no-build-isolation")),
            Self::Chosen if folder.into_iter().any(|other| other == Self::Chooses) => None,
            Self::Alone | Self::Chosen => Some(format!("{project} --no-deps")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Installing::{Alone, Chooses, Chosen};

    #[test]
    fn packages_of_the_sdk_come_by_the_one_that_chooses_and_all_others_alone() {
        let words = |one: super::Installing, others: &[super::Installing]| one.words("x", others.iter().copied());
        assert_eq!(words(Alone, &[Alone, Chooses]).as_deref(), Some("x --no-deps"));
        assert_eq!(words(Chosen, &[Alone]).as_deref(), Some("x --no-deps"));
        assert_eq!(words(Chosen, &[Chosen, Chooses]), None);
        assert_eq!(words(Chooses, &[Chooses]).as_deref(), Some("'x[libraries,devel]' --no-build-isolation"));
    }
}
