//! The results of an audit in a few lines for people.

use super::audited::AuditedWheel;
use super::document::GfxDocument;
use rock_diagnostic::counted;

impl AuditedWheel<'_> {
    /// Returns the platform, the ROCm and torch versions, the GPU code, and the size of the wheel,
    /// in up to three lines.
    pub fn summary(&self) -> Vec<String> {
        let mut first = vec![self.platform_summary()];
        first.extend(self.rocm_majors.iter().map(|(major, names)| {
            let name = names.first().map_or("", String::as_str);
            format!("ROCm {major} by {name}")
        }));
        first.extend(
            self.torch
                .as_ref()
                .map(|torch| format!("symbols of torch {torch}")),
        );
        let members = self
            .wheel
            .archive()
            .members()
            .iter()
            .filter(|member| !member.is_dir())
            .count();
        let mut lines = vec![first.join(", ")];
        lines.extend(self.gfx_summary());
        lines.push(format!(
            "{} in {}",
            format_size(self.size_bytes()),
            counted(members, "file")
        ));
        lines
    }

    /// Returns the platforms of the name, and the one that the wheel's own symbols permit if it is
    /// another one.
    fn platform_summary(&self) -> String {
        let tags = self.name.platform_tags().as_slice();
        let claims = tags.join(", ");
        let Some(compliance) = &self.compliance else {
            if self.has_unaudited_libraries() {
                return format!("{claims}, but no library can be audited");
            }
            return match self.unaudited_system() {
                Some(system) => format!("{claims}, but files for {system} are not audited"),
                None => format!("{claims}, without libraries"),
            };
        };
        let symbol_tag = compliance.own_symbol_policy().tag();
        if tags.contains(&symbol_tag) {
            claims
        } else {
            format!("{claims}, with the symbols of {symbol_tag}")
        }
    }

    fn gfx_summary(&self) -> Option<String> {
        let with_code: Vec<_> = self
            .files
            .iter()
            .filter(|file| !file.inventory.targets().is_empty())
            .collect();
        if with_code.is_empty() {
            return None;
        }
        let packed_bytes = with_code.iter().fold(0_u64, |bytes, file| {
            bytes.saturating_add(file.inventory.packed_bytes())
        });
        Some(format!(
            "{}, {} of code in {}",
            GfxDocument::new(&self.files).targets().join(" "),
            format_size(packed_bytes),
            counted(with_code.len(), "file")
        ))
    }
}

/// Formats a size in powers of ten, as PyPI and GitHub do: `4.5 MB`.
pub fn format_size(bytes: u64) -> String {
    const UNITS: [(&str, u64); 3] = [("GB", 1_000_000_000), ("MB", 1_000_000), ("kB", 1000)];
    match UNITS.into_iter().find(|(_, unit)| bytes >= *unit) {
        Some((word, unit)) => format!("{}.{} {word}", bytes / unit, bytes % unit / (unit / 10)),
        None if bytes == 1 => "1 byte".to_owned(),
        None => format!("{bytes} bytes"),
    }
}

/// Parses a size in bytes with a unit: MB is a power of ten, as GitHub and PyPI use it, MiB a power
/// of two. The default unit is bytes.
///
/// # Errors
/// Returns the reason for which the text is not a size.
pub fn parse_size(text: &str) -> Result<u64, String> {
    let digits = text
        .find(|letter: char| !letter.is_ascii_digit())
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let factor = match unit.trim() {
        "" | "B" => 1,
        "MB" | "M" => 1_000_000,
        "GB" | "G" => 1_000_000_000,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        _ => {
            return Err(
                "a size is a number with B, MB, GB, MiB or GiB, such as `100MB`".to_owned(),
            );
        }
    };
    let number: u64 = number
        .parse()
        .map_err(|_| "a size begins with a number, such as `100MB`".to_owned())?;
    number
        .checked_mul(factor)
        .ok_or_else(|| "the size is too large".to_owned())
}

#[cfg(test)]
mod tests {
    use super::{format_size, parse_size};

    #[test]
    fn size_has_the_largest_unit_below_it() {
        for (bytes, text) in [
            (0, "0 bytes"),
            (1, "1 byte"),
            (999, "999 bytes"),
            (1000, "1.0 kB"),
            (4_560_000, "4.5 MB"),
            (2 << 30, "2.1 GB"),
        ] {
            assert_eq!(format_size(bytes), text);
        }
    }

    #[test]
    fn sizes_have_units() {
        assert_eq!(
            (parse_size("100MB"), parse_size("2GiB"), parse_size("7")),
            (Ok(100_000_000), Ok(2 << 30), Ok(7))
        );
        for text in ["x", "1 parsec", "99999999999999GB"] {
            assert!(parse_size(text).is_err(), "{text}");
        }
    }
}
