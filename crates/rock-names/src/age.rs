//! Ages, such as `36h`, `30d` and `4w`.

use std::fmt;
use std::str::FromStr;

const HOUR_S: u64 = 3600;
const DAY_S: u64 = 24 * HOUR_S;

/// A duration in whole hours, days or weeks, such as `36h`, `30d` or `4w`; the number fits in 32
/// bits.
///
/// ```
/// use rock_names::Age;
/// let age: Age = "2w".parse()?;
/// assert_eq!((age.seconds(), age.to_string()), (1_209_600, "14d".to_owned()));
/// # Ok::<(), rock_names::AgeError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Age(u64);

/// The error of parsing an [`Age`]; holds the text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a valid age: a number with `h`, `d` or `w`, such as `30d`")]
pub struct AgeError(pub String);

impl Age {
    /// Returns the duration in seconds.
    pub fn seconds(self) -> u64 {
        self.0
    }
}

impl FromStr for Age {
    type Err = AgeError;

    fn from_str(text: &str) -> Result<Self, AgeError> {
        let fault = || AgeError(text.to_owned());
        let unit = text.chars().last().ok_or_else(fault)?;
        let seconds = match unit {
            'h' => HOUR_S,
            'd' => DAY_S,
            'w' => 7 * DAY_S,
            _ => return Err(fault()),
        };
        let count: u32 = text[..text.len() - 1].parse().map_err(|_| fault())?;
        Ok(Self(u64::from(count) * seconds))
    }
}

impl fmt::Display for Age {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_multiple_of(DAY_S) {
            write!(f, "{}d", self.0 / DAY_S)
        } else {
            write!(f, "{}h", self.0 / HOUR_S)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Age;

    #[test]
    fn ages_are_hours_days_and_weeks() {
        let read = |text: &str| text.parse::<Age>().map(Age::seconds);
        assert_eq!(
            (read("36h"), read("30d"), read("4w")),
            (Ok(129_600), Ok(2_592_000), Ok(2_419_200))
        );
        assert_eq!(read("0d"), Ok(0));
        for bad in [
            "",
            "30",
            "d",
            "-1d",
            "30m",
            "1.5d",
            "3é",
            "99999999999999999999w",
        ] {
            assert!(read(bad).is_err(), "{bad}");
        }
        for (text, shown) in [("36h", "36h"), ("48h", "2d"), ("4w", "28d")] {
            assert_eq!(text.parse::<Age>().unwrap().to_string(), shown);
        }
    }
}
