//! The share of expected cells that are published.

use std::fmt;

/// The numbers of published and missing cells. Excluded cells are not counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CoverageShare {
    /// The number of cells with a wheel.
    pub present: u64,
    /// The number of cells without a wheel.
    pub missing: u64,
}

/// The color of a share, which is always shown with a number, so that it is never the only
/// information.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CoverageGrade {
    /// At least 90 %.
    Green,
    /// At least 70 %.
    Yellow,
    /// Less than 70 %.
    Red,
    /// There are no cells to count.
    None,
}

impl CoverageShare {
    /// Counts one cell.
    pub fn count(&mut self, is_present: bool) {
        if is_present {
            self.present += 1;
        } else {
            self.missing += 1;
        }
    }

    /// Returns the sum of both shares.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            present: self.present + other.present,
            missing: self.missing + other.missing,
        }
    }

    /// Returns the number of counted cells.
    pub fn total(self) -> u64 {
        self.present + self.missing
    }

    /// Returns the percentage, rounded down so that 100 means complete; `None` without cells.
    pub fn percent(self) -> Option<u64> {
        (u128::from(self.present) * 100)
            .checked_div(u128::from(self.total()))
            .and_then(|percent| u64::try_from(percent).ok())
    }

    /// Returns green from 90 %, yellow from 70 %, and red below.
    pub fn grade(self) -> CoverageGrade {
        let reaches =
            |percent: u128| u128::from(self.present) * 100 >= percent * u128::from(self.total());
        match self.total() {
            0 => CoverageGrade::None,
            _ if reaches(90) => CoverageGrade::Green,
            _ if reaches(70) => CoverageGrade::Yellow,
            _ => CoverageGrade::Red,
        }
    }
}

impl fmt::Display for CoverageShare {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.percent() {
            Some(percent) => write!(f, "{percent}%"),
            None => f.write_str("N/A"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{CoverageGrade, CoverageShare};

    #[test]
    fn green_begins_at_ninety_and_yellow_at_seventy() {
        let check = |present, missing, text: &str, grade| {
            let share = CoverageShare { present, missing };
            assert_eq!((share.to_string().as_str(), share.grade()), (text, grade));
        };
        check(9, 1, "90%", CoverageGrade::Green);
        check(899, 101, "89%", CoverageGrade::Yellow);
        check(7, 3, "70%", CoverageGrade::Yellow);
        check(699, 301, "69%", CoverageGrade::Red);
        check(999, 1, "99%", CoverageGrade::Green);
        check(5, 0, "100%", CoverageGrade::Green);
        check(0, 5, "0%", CoverageGrade::Red);
        check(0, 0, "N/A", CoverageGrade::None);
    }
}
