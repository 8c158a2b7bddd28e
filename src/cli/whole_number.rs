//! Values of options that are whole numbers.

use std::ops::RangeInclusive;

/// Returns a parser of whole numbers in a range, for `value_parser`. Its errors name the unit:
/// "expected whole minutes from 1 to 60".
pub(super) fn whole_number<T>(
    unit: Unit,
    range: RangeInclusive<u64>,
) -> impl Fn(&str) -> Result<T, String> + Clone + Send + Sync + 'static
where
    T: TryFrom<u64> + Clone + Send + Sync + 'static,
{
    move |text: &str| {
        text.parse::<u64>()
            .ok()
            .filter(|number| range.contains(number))
            .and_then(|number| T::try_from(number).ok())
            .ok_or_else(|| expected(unit, &range))
    }
}

/// The unit of an option's number.
#[derive(Debug, Clone, Copy)]
pub(super) enum Unit {
    /// A count or level.
    One,
    /// Minutes.
    Minutes,
    /// Seconds.
    Seconds,
}

fn expected(unit: Unit, range: &RangeInclusive<u64>) -> String {
    let unit = match unit {
        Unit::One => "a whole number",
        Unit::Minutes => "whole minutes",
        Unit::Seconds => "whole seconds",
    };
    let least = range.start();
    match *range.end() {
        u64::MAX if *least == 0 => format!("expected {unit}"),
        u64::MAX => format!("expected {unit}, at least {least}"),
        most => format!("expected {unit} from {least} to {most}"),
    }
}

#[cfg(test)]
mod tests {
    use clap::error::ErrorKind;

    use super::{Unit, whole_number};

    #[test]
    fn a_number_is_whole_and_in_the_range() {
        let parse = whole_number::<u8>(Unit::One, 1..=4);
        assert_eq!(parse("4"), Ok(4));
        let error = Err("expected a whole number from 1 to 4".to_owned());
        for text in ["", "0", "5", "0.1", "-1", "x", "18446744073709551616"] {
            assert_eq!(parse(text), error, "{text}");
        }
        // A range may be larger than the type.
        let parse = whole_number::<u8>(Unit::Seconds, 0..=u64::MAX);
        let error = Err("expected whole seconds".to_owned());
        assert_eq!((parse("255"), parse("256")), (Ok(255), error));
        let parse = whole_number::<usize>(Unit::Minutes, 1..=u64::MAX);
        let error = Err("expected whole minutes, at least 1".to_owned());
        assert_eq!((parse("0"), parse("7")), (error, Ok(7)));
    }

    /// Returns clap's errors for the values that options of a command and its subcommands reject.
    fn value_errors(command: &clap::Command, found: &mut Vec<String>) {
        for inner in command.get_subcommands() {
            value_errors(inner, found);
        }
        let options = command.get_opts().filter_map(clap::Arg::get_long);
        for option in options {
            for value in ["0.1", "", "x", "99999999999999999999"] {
                let line = [command.get_name().to_owned(), format!("--{option}={value}")];
                if let Err(error) = command.clone().try_get_matches_from(line)
                    && error.kind() == ErrorKind::ValueValidation
                {
                    found.push(error.to_string());
                }
            }
        }
    }

    #[test]
    fn values_are_rejected_in_plain_words() {
        let mut errors = Vec::new();
        value_errors(&crate::cli::command(), &mut errors);
        let cap = "'--cap <MINUTES>': expected whole minutes from 1 to 525600";
        assert!(errors.iter().any(|text| text.contains(cap)), "{errors:#?}");
        // Texts of Rust's integers and floats, of clap's ranges and of `serde_json`.
        for raw in [
            "invalid digit",
            "from empty string",
            "number too",
            "invalid float",
            "..=",
            "value at line",
        ] {
            let with: Vec<&String> = errors.iter().filter(|text| text.contains(raw)).collect();
            assert!(with.is_empty(), "{raw}: {with:#?}");
        }
    }
}
