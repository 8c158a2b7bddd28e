//! Dates in GitHub's formats.

/// Formats milliseconds since 1970 as `2026-11-21T17:22:58Z` (RFC 3339).
pub fn rfc3339(at_ms: u64) -> String {
    let (year, month, day) = date(at_ms / 86_400_000);
    let (hour, minute, second) = clock(at_ms);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

/// Formats milliseconds since 1970 as `Sat, 21 Nov 2026 17:22:58 GMT` (RFC 9110, section 5.6.7).
pub fn http_date(at_ms: u64) -> String {
    const DAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
    const MONTHS: [&str; 12] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ];
    let days = at_ms / 86_400_000;
    let ((year, month, day), (hour, minute, second)) = (date(days), clock(at_ms));
    let (weekday, month) = (DAYS[(days % 7) as usize], MONTHS[month - 1]);
    format!("{weekday}, {day:02} {month} {year:04} {hour:02}:{minute:02}:{second:02} GMT")
}

fn clock(at_ms: u64) -> (u64, u64, u64) {
    let seconds = at_ms / 1000 % 86_400;
    (seconds / 3600, seconds / 60 % 60, seconds % 60)
}

/// Days from 1970 to 2024, and from a leap year to the next one, up to 2100.
const DAYS_TO_2024: u64 = 19_723;
const DAYS_OF_4_YEARS: u64 = 1461;

/// Returns the Gregorian year, month and day, by subtracting years, then months.
fn date(mut days: u64) -> (u64, usize, u64) {
    let is_leap = |year: u64| {
        year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
    };
    let mut year = 1970;
    // Most times are after 2024, and thousands of releases have several each.
    if (DAYS_TO_2024..DAYS_TO_2024 + 19 * DAYS_OF_4_YEARS).contains(&days) {
        let leaps = (days - DAYS_TO_2024) / DAYS_OF_4_YEARS;
        year = 2024 + 4 * leaps;
        days -= DAYS_TO_2024 + leaps * DAYS_OF_4_YEARS;
    }
    while days >= 365 + u64::from(is_leap(year)) {
        days -= 365 + u64::from(is_leap(year));
        year += 1;
    }
    let lengths = [
        31,
        28 + u64::from(is_leap(year)),
        31,
        30,
        31,
        30,
        31,
        31,
        30,
        31,
        30,
        31,
    ];
    let mut month = 0;
    while days >= lengths[month] {
        days -= lengths[month];
        month += 1;
    }
    (year, month + 1, days + 1)
}

#[cfg(test)]
mod tests {
    use super::{http_date, rfc3339};

    #[test]
    fn known_moments_are_written_as_github_writes_them() {
        assert_eq!(rfc3339(0), "1970-01-01T00:00:00Z");
        assert_eq!(rfc3339(951_782_400_000), "2000-02-29T00:00:00Z");
        assert_eq!(rfc3339(1_704_067_199_000), "2023-12-31T23:59:59Z");
        assert_eq!(rfc3339(1_704_067_200_000), "2024-01-01T00:00:00Z");
        assert_eq!(rfc3339(1_709_164_800_000), "2024-02-29T00:00:00Z");
        assert_eq!(rfc3339(4_102_444_799_000), "2099-12-31T23:59:59Z");
        assert_eq!(rfc3339(4_107_542_400_000), "2100-03-01T00:00:00Z");
        assert_eq!(rfc3339(1_795_281_778_000), "2026-11-21T17:22:58Z");
        assert_eq!(
            http_date(1_795_281_778_000),
            "Sat, 21 Nov 2026 17:22:58 GMT"
        );
        assert_eq!(http_date(0), "Thu, 01 Jan 1970 00:00:00 GMT");
    }
}
