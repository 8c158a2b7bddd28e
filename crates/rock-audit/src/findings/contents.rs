//! Expected contents and requirements of finished wheels, from the rows of `wheel-contents`.

use std::path::PathBuf;

use regex::Regex;

use super::devices::DeviceWheels;
use crate::codes::{rocm as codes, wheel as wheel_codes};
use crate::embed::{is_embedded, known_embedding_rule, says_embedded};
use crate::pattern::LibraryPatterns;
use rock_compat::Compat;
use rock_compat::rows::{RequirementMatch, WheelContentRow};
use rock_diagnostic::{Code, Diagnostic, Location, Severity, nearest};
use rock_names::{DistributionName, Version, WheelName};
use rock_wheel::{Wheel, WheelError};

/// Maximum size of a member that is read, in bytes.
const LIMIT_BYTES: u64 = 1 << 20;

/// Expectations for the finished wheels of a build.
#[derive(Debug, Clone, Default)]
pub struct ExpectedWheels {
    /// Distributions of which there must be a wheel.
    pub distributions: Vec<DistributionName>,
    /// Features that they were built with, `aotriton`.
    pub features: Vec<String>,
    /// The names of all wheels of the build, sorted.
    pub names: Vec<WheelName>,
}

/// Returns the features that have rows, sorted.
fn known_features(compat: &Compat) -> Vec<&str> {
    let rows = compat.wheel_tables().wheel_contents.iter();
    let mut known: Vec<&str> = rows
        .map(|row| row.feature.as_str())
        .filter(|feature| !feature.is_empty())
        .collect();
    known.sort_unstable();
    known.dedup();
    known
}

impl ExpectedWheels {
    /// Expects wheels of distributions, built with features, among the wheels at these paths.
    ///
    /// # Errors
    /// Returns an error if there is no such feature.
    pub fn new(
        distributions: Vec<DistributionName>,
        features: Vec<String>,
        paths: &[PathBuf],
        compat: &Compat,
    ) -> Result<Self, Diagnostic> {
        let known = known_features(compat);
        let unknown = features
            .iter()
            .find(|feature| !known.contains(&feature.as_str()));
        if let Some(unknown) = unknown {
            let near = nearest::nearest(unknown, known.iter().copied());
            let message = nearest::with_nearest(format!("unknown wheel feature `{unknown}`"), near);
            return Err(Diagnostic::new(&wheel_codes::UNKNOWN_FEATURE, message)
                .at(Location::Argument("--with".to_owned()), "")
                .help(format!("known features are {}", known.join(", "))));
        }
        let mut names: Vec<WheelName> = paths
            .iter()
            .filter_map(|path| path.file_name()?.to_str()?.parse().ok())
            .collect();
        names.sort_by_cached_key(ToString::to_string);
        Ok(Self {
            distributions,
            features,
            names,
        })
    }

    /// Returns the version of each distribution's wheel, with the escaped name of the distribution.
    pub fn versions(&self) -> Vec<(String, String)> {
        self.distributions
            .iter()
            .filter_map(|distribution| {
                let wheel = self.of(distribution).next()?;
                Some((distribution.escaped().clone(), wheel.version().to_string()))
            })
            .collect()
    }

    /// Returns whether a wheel is of one of the distributions.
    pub fn has(&self, name: &WheelName) -> bool {
        let project = name.distribution().normalized();
        self.distributions
            .iter()
            .any(|distribution| distribution.normalized() == project)
    }

    /// Returns the wheels of a distribution, in order.
    pub fn of<'e>(
        &'e self,
        distribution: &'e DistributionName,
    ) -> impl Iterator<Item = &'e WheelName> {
        let normalized = distribution.normalized();
        self.names
            .iter()
            .filter(move |name| name.distribution().normalized() == normalized)
    }

    /// Reports distributions without a wheel, and those with several.
    pub fn missing_wheels(&self, compat: &Compat) -> Vec<Diagnostic> {
        let platform = self
            .names
            .iter()
            .map(system)
            .find(|system| *system == "windows")
            .unwrap_or("linux");
        self.distributions
            .iter()
            .filter_map(|distribution| {
                let wheels: Vec<&WheelName> = self.of(distribution).collect();
                match wheels.as_slice() {
                    [] => Some(missing(distribution, platform, compat)),
                    [_] => None,
                    wheels => Some(several_wheels(distribution, wheels)),
                }
            })
            .collect()
    }

    /// Reports missing contents and requirements of a wheel, named `file_name` in the findings.
    ///
    /// # Errors
    /// Returns an error if a member cannot be read.
    pub fn missing_contents(
        &self,
        file_name: &str,
        wheel: &Wheel<'_>,
        size_bytes: u64,
        name: &WheelName,
        compat: &Compat,
    ) -> Result<Vec<Diagnostic>, WheelError> {
        let mut findings = Vec::new();
        let (project_name, platform) = (name.distribution().normalized(), system(name));
        let embedding = known_embedding_rule(name, compat);
        let is_inside = says_embedded(name) || embedding.is_some_and(|row| is_embedded(wheel, row));
        let rocm = if is_inside { "inside" } else { "packages" };
        let is_split = !DeviceWheels::new(wheel.metadata(), compat)
            .distributions
            .is_empty();
        let applies = |row: &&WheelContentRow| {
            row.distribution == project_name
                && (row.platform.is_empty() || row.platform == platform)
                && (row.rocm.is_empty() || row.rocm == rocm)
                && !(row.whole && is_split)
                && (row.feature.is_empty() || self.features.contains(&row.feature))
        };
        for row in compat.wheel_tables().wheel_contents.iter().filter(applies) {
            let check = ContentCheck {
                file_name,
                wheel,
                row,
            };
            findings.extend(check.too_small(size_bytes));
            findings.extend(check.missing_contents());
            findings.extend(check.missing_requirement());
            findings.extend(
                self.names
                    .iter()
                    .filter(|sibling| row.beside.contains(&sibling.distribution().normalized()))
                    .filter_map(|sibling| check.unrequired_sibling(sibling, &self.names)),
            );
            if let Some(equal) = &row.equal {
                findings.extend(check.version_mismatch(equal)?);
            }
        }
        Ok(findings)
    }
}

fn several_wheels(distribution: &DistributionName, wheels: &[&WheelName]) -> Diagnostic {
    let message = format!("there are {} wheels of {distribution}", wheels.len());
    let finding = wheels.iter().fold(
        Diagnostic::new(&wheel_codes::SEVERAL_WHEELS, message),
        |finding, name| finding.note(format!("`{name}`")),
    );
    let first = wheels.first().map(ToString::to_string).unwrap_or_default();
    finding.help(format!(
        "remove wheels of earlier builds; `{first}`, the first one, is used"
    ))
}

/// Reports a distribution without a wheel; as a note if none is expected for the platform.
fn missing(distribution: &DistributionName, platform: &str, compat: &Compat) -> Diagnostic {
    let normalized = distribution.normalized();
    let finding = Diagnostic::new(
        &wheel_codes::WHEEL_NOT_THERE,
        format!("there is no wheel of {distribution}"),
    );
    let absent_row = compat
        .wheel_tables()
        .wheel_contents
        .iter()
        .find(|row| row.absent && row.distribution == normalized && row.platform == platform);
    match absent_row {
        Some(row) => finding.severity(Severity::Note).note(row.reason.clone()),
        None => finding
            .at(Location::Argument("--expect".to_owned()), "")
            .help("see the log of the build that should have produced it"),
    }
}

/// The check of one row against one wheel.
struct ContentCheck<'l> {
    file_name: &'l str,
    wheel: &'l Wheel<'l>,
    row: &'l WheelContentRow,
}

impl ContentCheck<'_> {
    fn finding(&self, code: &'static Code, message: String, member: &str) -> Diagnostic {
        let location = Location::Member {
            wheel: self.file_name.to_owned(),
            member: member.to_owned(),
        };
        let finding = Diagnostic::new(code, message).at(location, self.row.reason.clone());
        if self.row.help.is_empty() {
            finding
        } else {
            finding.help(self.row.help.clone())
        }
    }

    fn bad_pattern(&self, reason: &dyn std::fmt::Display) -> Diagnostic {
        let message = format!(
            "a row of `wheel-contents` for {} is not valid: {reason}",
            self.row.distribution
        );
        Diagnostic::new(&wheel_codes::BAD_PATTERN, message)
            .help("correct the row in the directory of `--compat`")
    }

    fn regex(&self, pattern: &str) -> Result<Regex, Diagnostic> {
        Regex::new(pattern).map_err(|error| self.bad_pattern(&error.to_string().replace('\n', " ")))
    }

    fn too_small(&self, size_bytes: u64) -> Option<Diagnostic> {
        let min_bytes = self.row.least_bytes;
        if size_bytes >= min_bytes {
            return None;
        }
        let message =
            format!("it has {size_bytes} bytes, but a finished one has at least {min_bytes}");
        Some(
            Diagnostic::new(&wheel_codes::WHEEL_TOO_SMALL, message)
                .at(
                    Location::File(self.file_name.to_owned().into()),
                    self.row.reason.clone(),
                )
                .help(self.row.help.clone()),
        )
    }

    /// Reports patterns that no member matches.
    fn missing_contents(&self) -> Vec<Diagnostic> {
        self.row
            .holds
            .iter()
            .filter_map(|pattern| self.missing_content(pattern))
            .collect()
    }

    fn missing_content(&self, pattern: &str) -> Option<Diagnostic> {
        let patterns = match LibraryPatterns::new([pattern]) {
            Ok(patterns) => patterns,
            Err(error) => return Some(self.bad_pattern(&error)),
        };
        let mut members = self.wheel.archive().members().iter();
        let is_there = members.any(|member| member.size_bytes() > 0 && patterns.has(member.name()));
        let message = format!("it does not contain `{pattern}`");
        (!is_there).then(|| self.finding(&codes::CONTENT_MISSING, message, pattern))
    }

    /// Returns the requirements of METADATA without markers and spaces.
    fn requirements(&self) -> impl Iterator<Item = String> {
        self.wheel.metadata().get_all("Requires-Dist").map(|line| {
            let plain = line.split(';').next().unwrap_or_default();
            plain
                .chars()
                .filter(|c| !c.is_whitespace() && !matches!(c, '(' | ')'))
                .collect()
        })
    }

    /// Reports that no requirement matches the pattern of the row.
    fn missing_requirement(&self) -> Option<Diagnostic> {
        if self.row.requires.is_empty() {
            return None;
        }
        let pattern = match self.regex(&self.row.requires) {
            Ok(pattern) => pattern,
            Err(error) => return Some(error),
        };
        let is_there = self
            .requirements()
            .any(|requirement| pattern.is_match(&requirement));
        let metadata = self.wheel.dist_info_path("METADATA");
        let message = format!("METADATA has no `Requires-Dist` that matches `{pattern}`");
        (!is_there).then(|| self.finding(&codes::REQUIREMENT_MISSING, message, &metadata))
    }

    /// Reports a wheel of the build that is required at another version or not at all.
    fn unrequired_sibling(&self, sibling: &WheelName, names: &[WheelName]) -> Option<Diagnostic> {
        let required = sibling.distribution().normalized();
        let is_required = self
            .requirements()
            .any(|requirement| pins_wheel(&requirement, &required, names));
        let message = format!(
            "METADATA does not require `{}`, which is next to it",
            sibling.requirement()
        );
        let metadata = self.wheel.dist_info_path("METADATA");
        (!is_required).then(|| self.finding(&codes::REQUIREMENT_MISSING, message, &metadata))
    }

    /// Reports a version in a member that differs from that of a requirement. Other rows report a
    /// missing member or requirement.
    fn version_mismatch(&self, equal: &RequirementMatch) -> Result<Option<Diagnostic>, WheelError> {
        let Some(member) = self.wheel.archive().member(&equal.member) else {
            return Ok(None);
        };
        let (find, requires) = match (self.regex(&equal.find), self.regex(&equal.requires)) {
            (Ok(find), Ok(requires)) => (find, requires),
            (Err(error), _) | (_, Err(error)) => return Ok(Some(error)),
        };
        let content = self.wheel.archive().read(member, LIMIT_BYTES)?;
        let content = String::from_utf8_lossy(&content);
        let group =
            |pattern: &Regex, text: &str| Some(pattern.captures(text)?.get(1)?.as_str().to_owned());
        let disagrees =
            |message: String| Some(self.finding(&codes::CONTENT_DISAGREES, message, &equal.member));
        let Some(written) = group(&find, &content) else {
            return Ok(disagrees(format!("nothing in it matches `{find}`")));
        };
        let Some(required) = self
            .requirements()
            .find_map(|requirement| group(&requires, &requirement))
        else {
            return Ok(None);
        };
        let is_same = written == required
            || written
                .parse::<Version>()
                .is_ok_and(|written| required.parse().is_ok_and(|required| written == required));
        Ok(if is_same {
            None
        } else {
            disagrees(format!(
                "it names `{written}`, but METADATA requires `{required}`"
            ))
        })
    }
}

/// Returns the name that rows use for the system of a wheel.
fn system(name: &WheelName) -> &'static str {
    if name
        .platform_tags()
        .iter()
        .any(|tag| tag.starts_with("win"))
    {
        "windows"
    } else {
        "linux"
    }
}

/// Returns whether a requirement pins the distribution with this normalized name to the version of
/// one of the wheels.
fn pins_wheel(requirement: &str, normalized_name: &str, names: &[WheelName]) -> bool {
    let Some((name, version)) = requirement.split_once("==") else {
        return false;
    };
    let is_own = name
        .parse::<DistributionName>()
        .is_ok_and(|name| name.normalized() == normalized_name);
    let version = version.parse::<Version>();
    let mut own_wheels = names
        .iter()
        .filter(|name| name.distribution().normalized() == normalized_name);
    is_own && version.is_ok_and(|version| own_wheels.any(|name| *name.version() == version))
}

#[cfg(test)]
mod tests {
    use regex::Regex;

    use crate::pattern::LibraryPatterns;
    use rock_compat::Compat;

    #[test]
    fn patterns_of_embedded_rows_are_valid() {
        for row in &Compat::embedded().wheel_tables().wheel_contents {
            LibraryPatterns::new(row.holds.iter().map(String::as_str)).unwrap();
            let equal = row
                .equal
                .iter()
                .flat_map(|equal| [&equal.find, &equal.requires]);
            for pattern in equal.chain([&row.requires]) {
                Regex::new(pattern).unwrap();
            }
        }
    }
}
