//! Calendar days in versions.

/// Returns the eight digits of a day written as `2025-05-28` or `20250528`, if the day exists in the
/// Gregorian calendar.
///
/// ```
/// use rock_names::day_digits;
/// assert_eq!(day_digits("2024-02-29").as_deref(), Some("20240229"));
/// assert_eq!((day_digits("20250229"), day_digits("2025-5-28")), (None, None));
/// ```
pub fn day_digits(text: &str) -> Option<String> {
    let digits: String = match text.as_bytes() {
        [_, _, _, _, b'-', _, _, b'-', _, _] => text.replace('-', ""),
        _ => text.to_owned(),
    };
    if digits.len() != 8 || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let number = |range: std::ops::Range<usize>| digits[range].parse::<u32>().ok();
    let (year, month, day) = (number(0..4)?, number(4..6)?, number(6..8)?);
    let is_leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let days = match month {
        2 => 28 + u32::from(is_leap),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => 0,
    };
    (1..=days).contains(&day).then_some(digits)
}
