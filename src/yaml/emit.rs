//! YAML output.

/// Writes a serialisable value as a YAML document; texts that other readers could take for numbers are quoted.
///
/// # Errors
/// When the value has no YAML form (a map with a composite key).
pub fn to_yaml<T: serde::Serialize>(value: &T) -> Result<String, serde_yaml::Error> {
    serde_yaml::to_string(value)
}
