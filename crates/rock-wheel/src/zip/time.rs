//! Modification times of members.

/// A time in the MS-DOS format of zip headers: 1980 to 2107, in steps of two seconds (APPNOTE
/// 4.4.6).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct DosTime {
    /// Years since 1980, month and day, in 7, 4 and 5 bits.
    pub(super) date: u16,
    /// Hours, minutes and half seconds, in 5, 6 and 5 bits.
    pub(super) time: u16,
}

/// 1980-01-01 in seconds since 1970-01-01.
const FIRST_S: i64 = 315_532_800;
/// 2107-12-31 23:59:58 in seconds since 1970-01-01.
const LAST_S: i64 = 4_354_819_198;

impl DosTime {
    /// 1980-01-01, the default time of new members.
    pub const FIRST: Self = Self {
        date: 1 << 5 | 1,
        time: 0,
    };

    /// Clamps a time, in seconds since 1970-01-01 UTC, to the years 1980 to 2107.
    pub fn clamp_epoch_s(seconds: i64) -> i64 {
        seconds.clamp(FIRST_S, LAST_S)
    }

    /// Converts a time in seconds since 1970-01-01 UTC, clamped to the range and rounded down to
    /// two seconds.
    pub fn from_epoch_s(seconds: i64) -> Self {
        let seconds = Self::clamp_epoch_s(seconds);
        let (days, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
        let (year, month, day) = civil(days);
        let part = |value: i64| u16::try_from(value).expect("parts of a clamped time are small");
        Self {
            date: part((year - 1980) << 9 | month << 5 | day),
            time: part((second / 3600) << 11 | (second / 60 % 60) << 5 | (second % 60 / 2)),
        }
    }
}

/// Returns the Gregorian year, month and day of a number of days since 1970-01-01. Counts in years
/// that start in March, so that leap days come last.
fn civil(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let (era, day_of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 {
        shifted_month + 3
    } else {
        shifted_month - 9
    };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::DosTime;

    #[test]
    fn times_are_clamped_and_rounded_down() {
        let fields = |seconds| {
            let DosTime { date, time } = DosTime::from_epoch_s(seconds);
            (
                1980 + (date >> 9),
                date >> 5 & 15,
                date & 31,
                time >> 11,
                time >> 5 & 63,
                (time & 31) * 2,
            )
        };
        assert_eq!(DosTime::from_epoch_s(0), DosTime::FIRST);
        assert_eq!(DosTime::from_epoch_s(-1), DosTime::FIRST);
        assert_eq!(fields(1_709_164_805), (2024, 2, 29, 0, 0, 4));
        assert_eq!(fields(951_782_399), (2000, 2, 28, 23, 59, 58));
        assert_eq!(fields(i64::MAX), (2107, 12, 31, 23, 59, 58));
    }
}
