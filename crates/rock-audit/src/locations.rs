//! Locations of findings about a wheel. They have the file name that a wheel was audited under, also
//! if its [`WheelName`](rock_names::WheelName) is spelled otherwise.

use rock_diagnostic::Location;

/// Returns the location of the whole wheel.
pub(crate) fn in_wheel(file_name: &str) -> Location {
    Location::File(file_name.into())
}

/// Returns the location of a member.
pub(crate) fn in_member(file_name: &str, path: &str) -> Location {
    Location::Member {
        wheel: file_name.to_owned(),
        member: path.to_owned(),
    }
}
