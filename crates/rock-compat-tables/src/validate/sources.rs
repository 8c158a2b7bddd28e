//! Validation of the tables of source trees: references to unknown projects, unknown pin formats,
//! and paths that leave their directory.

use std::collections::BTreeSet;

use super::{RowError, RowValidator, TableValidator, is_hex, is_numbers};
use crate::rows::{CompatTables, PinRow};

/// Platforms that projects are built on.
const PLATFORMS: [&str; 2] = ["linux", "windows"];
/// Formats of files with pins (`PinRow::format`).
const FORMATS: [&str; 4] = ["text", "lines", "cmake", "related-commits"];
/// Release kinds of torch (`TorchIndexRow::versions`).
const VERSIONS: [&str; 3] = ["final", "candidate", "nightly"];
/// Values of `PinRow::unlisted_rocm`.
const UNLISTED: [&str; 4] = ["", "clamp", "refuse", "build-runtime"];

/// Returns the errors of the tables of projects, combinations of sources, pins and torch indexes.
pub(super) fn validate_sources(tables: &CompatTables) -> Vec<RowError> {
    [
        validate_projects(tables),
        validate_torch_sources(tables),
        validate_pins(tables),
    ]
    .concat()
}

/// Validates the tables `projects` and `torch-companions`.
fn validate_projects(tables: &CompatTables) -> Vec<RowError> {
    let mut errors = Vec::new();
    let pins: BTreeSet<&str> = tables.pins.iter().map(|row| row.pin.as_str()).collect();
    let mut projects = TableValidator::new("projects", tables, &mut errors);
    let mut seen = BTreeSet::new();
    for (number, of) in tables.projects.iter().enumerate() {
        let mut row = projects.check_row(
            number,
            format!("{} on {}", of.project, of.platforms.join(" ")),
            &of.origin,
        );
        require_platforms(&mut row, of.platforms.iter());
        for platform in &of.platforms {
            row.require(seen.insert((&of.project, platform)), || {
                format!("another row is for {platform}")
            });
        }
        row.require(is_path_component(&of.folder), || {
            format!("folder: `{}` is not a valid folder name", of.folder)
        });
        row.require(of.url.contains("://"), || {
            format!("url: `{}` is not a URL", of.url)
        });
        row.require(!of.reference.is_empty() || !of.pin.is_empty(), || {
            "it has neither a ref nor a pin".to_owned()
        });
        for pin in [&of.pin, &of.release_pin]
            .into_iter()
            .filter(|pin| !pin.is_empty())
        {
            row.require(pins.contains(pin.as_str()), || {
                format!("`{pin}` is not in the table pins")
            });
        }
    }
    let known: BTreeSet<&str> = tables
        .projects
        .iter()
        .map(|row| row.project.as_str())
        .collect();
    let mut companions = TableValidator::new("torch-companions", tables, &mut errors);
    for (number, of) in tables.torch_companions.iter().enumerate() {
        let mut row = companions.check_row(number, of.torch.clone(), &of.origin);
        row.require(is_numbers(&of.torch, 2..=2), || {
            "the name of a row is major and minor, such as 2.6".to_owned()
        });
        for (project, version) in &of.companions {
            row.require(known.contains(project.as_str()), || {
                format!("`{project}` is not in the table projects")
            });
            row.require(is_numbers(version, 2..=2), || {
                format!("{project}: `{version}` is not a minor such as 0.28")
            });
        }
    }
    errors
}

/// Validates the table `torch-sources`.
fn validate_torch_sources(tables: &CompatTables) -> Vec<RowError> {
    let mut errors = Vec::new();
    let known: BTreeSet<&str> = tables
        .projects
        .iter()
        .map(|row| row.project.as_str())
        .collect();
    let mut sources = TableValidator::new("torch-sources", tables, &mut errors);
    for (number, of) in tables.torch_sources.iter().enumerate() {
        let mut row = sources.check_row(number, of.name.clone(), &of.origin);
        require_platforms(&mut row, of.packages.keys());
        let mut seen = BTreeSet::new();
        for source in &of.sources {
            let project = source.project.as_str();
            row.require(known.contains(project), || {
                format!("`{project}` is not in the table projects")
            });
            row.require(seen.insert(project), || {
                format!("`{project}` is listed twice")
            });
            row.require(source.reference.is_empty() || !source.related, || {
                format!("`{project}` has both a ref and `related`")
            });
        }
        for (platform, packages) in &of.packages {
            for package in packages {
                row.require(builds_on(tables, package, platform), || {
                    format!("no row of projects has `{package}` on {platform}")
                });
            }
        }
    }
    errors
}

/// Returns whether a project is built on a platform.
fn builds_on(tables: &CompatTables, project: &str, platform: &String) -> bool {
    tables
        .projects
        .iter()
        .any(|row| row.project == project && row.platforms.contains(platform))
}

/// Validates the tables `pins`, `torch-indexes` and `torch-aotriton`.
fn validate_pins(tables: &CompatTables) -> Vec<RowError> {
    let mut errors = Vec::new();
    let mut pins = TableValidator::new("pins", tables, &mut errors);
    for (number, of) in tables.pins.iter().enumerate() {
        let mut row = pins.check_row(
            number,
            format!("{} {}", of.pin, of.generation)
                .trim_end()
                .to_owned(),
            &of.origin,
        );
        validate_pin(of, &mut row);
    }
    let mut indexes = TableValidator::new("torch-indexes", tables, &mut errors);
    for (number, of) in tables.torch_indexes.iter().enumerate() {
        let words = [of.from.as_str(), &of.versions.join(" "), &of.since];
        let name = words
            .into_iter()
            .filter(|word| !word.is_empty())
            .collect::<Vec<_>>()
            .join(" ");
        let mut row = indexes.check_row(number, name, &of.origin);
        let names_rocm =
            of.address.contains("{rocm}") || of.local.contains("{rocm}") || !of.since.is_empty();
        row.require(of.address.contains("://") && names_rocm, || {
            format!(
                "address: `{}` is not a URL with `{{rocm}}` in it",
                of.address
            )
        });
        row.require(of.since.is_empty() || is_numbers(&of.since, 2..=4), || {
            format!("since: `{}` is not a ROCm version such as 7.14", of.since)
        });
        for word in &of.versions {
            row.require(VERSIONS.contains(&word.as_str()), || {
                format!("versions: `{word}` is not one of {}", VERSIONS.join(", "))
            });
        }
    }
    let mut aotriton = TableValidator::new("torch-aotriton", tables, &mut errors);
    for (number, of) in tables.torch_aotriton.iter().enumerate() {
        let mut row = aotriton.check_row(number, of.torch.clone(), &of.origin);
        row.require(is_numbers(&of.torch, 2..=2), || {
            "the name of a row is major and minor, such as 2.6".to_owned()
        });
        row.require(!of.upstream.is_empty() || !of.fork.is_empty(), || {
            "it has no version".to_owned()
        });
    }
    errors
}

/// Validates the columns of a row of `pins`.
fn validate_pin(of: &PinRow, row: &mut RowValidator<'_>) {
    row.require(of.file.split('/').all(is_path_component), || {
        format!("file: `{}` is not a path below the checkout", of.file)
    });
    row.require(["torch", "project"].contains(&of.beside.as_str()), || {
        format!("beside: `{}` is not torch or project", of.beside)
    });
    row.require(FORMATS.contains(&of.format.as_str()), || {
        format!(
            "format: `{}` is not one of {}",
            of.format,
            FORMATS.join(", ")
        )
    });
    row.require(UNLISTED.contains(&of.unlisted_rocm.as_str()), || {
        format!(
            "unlisted-rocm: `{}` is not clamp, refuse or build-runtime",
            of.unlisted_rocm
        )
    });
    row.require(of.default.is_empty() || is_hex(&of.default, 40), || {
        format!("default: `{}` is not a commit of 40 hex digits", of.default)
    });
    let is_place = |text: &String| of.format == "cmake" || text.parse::<usize>().is_ok();
    for (field, places) in &of.fields {
        row.require(!places.is_empty() && places.iter().all(is_place), || {
            format!("fields: `{field}` has no line numbers from 0")
        });
    }
}

/// Requires at least one platform, each of them `linux` or `windows`.
fn require_platforms<'a>(row: &mut RowValidator<'_>, platforms: impl Iterator<Item = &'a String>) {
    let mut is_any = false;
    for platform in platforms {
        is_any = true;
        row.require(PLATFORMS.contains(&platform.as_str()), || {
            format!("`{platform}` is not linux or windows")
        });
    }
    row.require(is_any, || "it has no platforms".to_owned());
}

/// Returns whether a text is a single path component other than `.` and `..`.
fn is_path_component(part: &str) -> bool {
    !part.is_empty() && part != "." && part != ".." && !part.contains(['/', '\\'])
}

#[cfg(test)]
mod tests {
    use crate::rows::CompatTables;
    use crate::validate_tables;

    /// Asserts that a change of the shipped tables gives one error with this text.
    fn check(change: impl FnOnce(&mut CompatTables), expect: &str) {
        let mut tables = crate::shipped::tables();
        change(&mut tables);
        let errors: Vec<String> = validate_tables(&tables)
            .iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(errors, [expect]);
    }

    #[test]
    fn projects_have_one_row_per_platform_and_a_ref_or_pin() {
        check(
            |t| t.projects[1].platforms.push("windows".into()),
            "projects triton on windows: another row is for windows",
        );
        check(
            |t| t.projects[0].reference.clear(),
            "projects torch on linux windows: it has neither a ref nor a pin",
        );
        check(
            |t| t.projects[0].folder = "../pytorch".into(),
            "projects torch on linux windows: folder: `../pytorch` is not a valid folder name",
        );
        check(
            |t| t.projects[1].pin = "tritno".into(),
            "projects triton on linux: `tritno` is not in the table pins",
        );
    }

    #[test]
    fn torch_indexes_have_a_rocm_placeholder() {
        check(
            |t| t.torch_indexes[0].address = "https://example.org/rocm6.2".into(),
            "torch-indexes pytorch-index final: address: `https://example.org/rocm6.2` is not a \
             URL with `{rocm}` in it",
        );
        check(
            |t| t.torch_indexes[0].versions = vec!["stable".into()],
            "torch-indexes pytorch-index stable: versions: `stable` is not one of final, \
             candidate, nightly",
        );
    }

    #[test]
    fn torch_sources_name_projects_of_their_platforms() {
        check(
            |t| {
                t.torch_sources[0]
                    .packages
                    .get_mut("linux")
                    .unwrap()
                    .push("ao".into());
            },
            "torch-sources default-2025: no row of projects has `ao` on linux",
        );
        check(
            |t| {
                drop(
                    t.torch_sources[0]
                        .packages
                        .insert("beos".into(), Vec::new()),
                );
            },
            "torch-sources default-2025: `beos` is not linux or windows",
        );
        check(
            |t| t.torch_sources[0].sources[1].related = true,
            "torch-sources default-2025: `audio` has both a ref and `related`",
        );
        check(
            |t| t.torch_companions[0].torch = "2.7.0".into(),
            "torch-companions 2.7.0: the name of a row is major and minor, such as 2.6",
        );
    }

    #[test]
    fn pins_have_a_file_of_the_checkout_and_a_known_format() {
        check(
            |t| t.pins[1].file = "../triton.txt".into(),
            "pins triton: file: `../triton.txt` is not a path below the checkout",
        );
        check(
            |t| t.pins[1].format = "toml".into(),
            "pins triton: format: `toml` is not one of text, lines, cmake, related-commits",
        );
        check(
            |t| {
                drop(
                    t.pins[1]
                        .fields
                        .insert("commit".into(), vec!["first".into()]),
                );
            },
            "pins triton: fields: `commit` has no line numbers from 0",
        );
        check(
            |t| t.pins[4].default = "1f9a37cdfbfc".into(),
            "pins aotriton C: default: `1f9a37cdfbfc` is not a commit of 40 hex digits",
        );
    }
}
