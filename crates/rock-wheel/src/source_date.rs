//! The time of reproducible archives.

use super::codes::wheel as codes;
use super::zip::DosTime;
use rock_diagnostic::Diagnostic;

/// Parses `SOURCE_DATE_EPOCH` as seconds since 1970-01-01 UTC, clamped to the times that zip
/// archives represent (reproducible-builds.org, "`SOURCE_DATE_EPOCH`").
///
/// # Errors
/// Returns an error if it is not a whole number.
pub fn parse_source_date(text: &str) -> Result<i64, Diagnostic> {
    text.parse().map(DosTime::clamp_epoch_s).map_err(|_| {
        let message = format!("`SOURCE_DATE_EPOCH` is `{text}`, not a whole number of seconds");
        Diagnostic::new(&codes::BAD_SOURCE_DATE, message)
            .help("set it to seconds since 1970-01-01, or unset it")
    })
}

#[cfg(test)]
mod tests {
    use super::parse_source_date;

    #[test]
    fn a_source_date_is_a_number_that_is_clamped() {
        assert_eq!(parse_source_date("1700000000").unwrap(), 1_700_000_000);
        assert_eq!(parse_source_date("0").unwrap(), 315_532_800);
        let error = parse_source_date("yesterday").unwrap_err();
        assert_eq!(
            error.message,
            "`SOURCE_DATE_EPOCH` is `yesterday`, not a whole number of seconds"
        );
    }
}
