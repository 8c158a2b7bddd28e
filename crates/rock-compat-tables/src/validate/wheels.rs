//! Validation of the tables of build costs, wheel contents, device wheels and the symbols of torch.

use std::collections::BTreeSet;

use super::{RowError, TableValidator, is_gfx, is_numbers};
use crate::rows::CompatTables;

/// Returns the errors of the tables of build costs, limits, libraries, claims, wheel contents,
/// embeddings and device wheels.
pub(super) fn validate_wheel_tables(tables: &CompatTables) -> Vec<RowError> {
    let mut errors = Vec::new();
    let mut costs = TableValidator::new("build-costs", tables, &mut errors);
    for (number, of) in tables.build_costs.iter().enumerate() {
        let name = format!(
            "{} {} with {} targets on {} threads",
            of.package, of.backend, of.targets, of.threads
        );
        let mut row = costs.check_row(number, name, &of.origin);
        let measured = of.targets > 0 && of.threads > 0 && of.objects > 0 && of.wall_min > 0;
        row.require(measured, || {
            "targets, threads, objects and wall-min must be at least 1".to_owned()
        });
    }
    let mut needs = TableValidator::new("build-needs", tables, &mut errors);
    for (number, of) in tables.build_needs.iter().enumerate() {
        let mut row = needs.check_row(number, of.recipe.clone(), &of.origin);
        let says_something = of.disk_gib.is_some() || of.thread_hours.is_some();
        row.require(says_something, || {
            "disk-gib or thread-hours must be set".to_owned()
        });
    }
    let mut limits = TableValidator::new("limits", tables, &mut errors);
    for (number, of) in tables.limits.iter().enumerate() {
        let mut row = limits.check_row(number, of.name.clone(), &of.origin);
        row.require(of.value > 0, || {
            "value: a limit must be at least 1".to_owned()
        });
    }
    let mut presets = TableValidator::new("presets", tables, &mut errors);
    for (number, of) in tables.presets.iter().enumerate() {
        let mut row = presets.check_row(number, of.name.clone(), &of.origin);
        row.require(!of.patterns.is_empty(), || {
            "patterns: the list is empty".to_owned()
        });
        row.require_each(
            "patterns",
            &of.patterns,
            "a pattern of shared libraries such as libhip*.so*",
            |one| one.contains(".so"),
        );
    }
    let mut sonames = TableValidator::new("sonames", tables, &mut errors);
    for (number, of) in tables.sonames.iter().enumerate() {
        let mut row = sonames.check_row(number, of.soname.clone(), &of.origin);
        row.require(of.soname.contains(".so."), || {
            "soname: it must end with .so. and a number".to_owned()
        });
        row.require(is_numbers(&of.rocm, 1..=1), || {
            format!("rocm: `{}` is not a major version such as 6", of.rocm)
        });
    }
    let mut claims = TableValidator::new("claims", tables, &mut errors);
    for (number, of) in tables.claims.iter().enumerate() {
        claims.check_row(number, of.claim.clone(), &of.origin);
    }
    let mut reach = TableValidator::new("reach", tables, &mut errors);
    for (number, of) in tables.reach.iter().enumerate() {
        let mut row = reach.check_row(number, format!("{} {}", of.about, of.when), &of.origin);
        let when: &[&str] = match of.about.as_str() {
            "rocm" => &[
                "other-patch",
                "newer-minor",
                "older-minor",
                "other-major",
                "no-compiled-code",
                "no-rocm-library",
            ],
            "torch" => &["other-minor", "no-compiled-code"],
            _ => &[],
        };
        row.require(when.contains(&of.when.as_str()), || {
            format!("when: `{}` has no case `{}`", of.about, of.when)
        });
        row.require(!of.why.is_empty(), || {
            "why: a reason is required".to_owned()
        });
    }
    let mut contents = TableValidator::new("wheel-contents", tables, &mut errors);
    for (number, of) in tables.wheel_contents.iter().enumerate() {
        let name = [
            &of.distribution,
            &of.platform,
            &of.rocm,
            &of.feature,
            &of.reason,
        ]
        .map(String::as_str)
        .join(" ");
        let mut row = contents.check_row(number, name, &of.origin);
        row.require(
            ["", "linux", "windows"].contains(&of.platform.as_str()),
            || {
                format!(
                    "platform: `{}` is neither `linux` nor `windows`",
                    of.platform
                )
            },
        );
        row.require(
            ["", "packages", "inside"].contains(&of.rocm.as_str()),
            || format!("rocm: `{}` is neither `packages` nor `inside`", of.rocm),
        );
        let asks_of_it = !of.holds.is_empty() || of.least_bytes > 0;
        let asks =
            asks_of_it || !of.requires.is_empty() || !of.beside.is_empty() || of.equal.is_some();
        row.require(asks != of.absent, || {
            "a row needs one of `holds`, `requires`, `equal`, `beside` and `least-bytes`, or only \
             `absent`"
                .to_owned()
        });
    }
    let mut embeddings = TableValidator::new("embeddings", tables, &mut errors);
    for (number, of) in tables.embeddings.iter().enumerate() {
        let mut row = embeddings.check_row(
            number,
            format!("{} {}", of.distribution, of.platform),
            &of.origin,
        );
        let is_path = |text: &str| {
            !text.is_empty() && text.split('/').all(|part| !matches!(part, "" | "." | ".."))
        };
        row.require(is_path(&of.into), || {
            format!("into: `{}` is not a path in a wheel", of.into)
        });
        let parts = [&of.module, &of.marker, &of.insert].map(String::is_empty);
        row.require(parts[0] == parts[1] && parts[1] == parts[2], || {
            "`module`, `marker` and `insert` must be set together".to_owned()
        });
        row.require(!parts[0] || !of.search.is_empty(), || {
            "the embedded files cannot be found: set `module` or `search`".to_owned()
        });
    }
    let mut device_wheels = TableValidator::new("device-wheels", tables, &mut errors);
    for (number, of) in tables.device_wheels.iter().enumerate() {
        let mut row = device_wheels.check_row(number, of.distribution.clone(), &of.origin);
        row.require(of.device.ends_with("-device"), || {
            format!("device: `{}` does not end with `-device`", of.device)
        });
        row.require(!of.root.is_empty(), || {
            "root: set the folder with its archives".to_owned()
        });
    }
    let mut device_bundles = TableValidator::new("device-bundles", tables, &mut errors);
    for (number, of) in tables.device_bundles.iter().enumerate() {
        let mut row = device_bundles.check_row(number, of.bundle.clone(), &of.origin);
        let is_name = |text: &str| text.starts_with("gfx");
        row.require(is_name(&of.bundle), || {
            format!("bundle: `{}` does not begin with `gfx`", of.bundle)
        });
        row.require(!of.members.is_empty(), || {
            "members: list its targets".to_owned()
        });
        row.require_each(
            "members",
            &of.members,
            "a gfx target such as gfx942",
            is_name,
        );
        row.require(of.generic.is_empty() || is_gfx(&of.generic), || {
            format!("generic: `{}` is not a gfx target", of.generic)
        });
    }
    errors
}

/// Returns the errors of the tables `torch-abi-read` and `torch-abi`.
pub(super) fn validate_torch_abi(tables: &CompatTables) -> Vec<RowError> {
    let mut errors = Vec::new();
    let minor = |text: &str| -> Option<Vec<u32>> {
        text.split('.')
            .map(|part| part.parse().ok())
            .collect::<Option<_>>()
            .filter(|_| is_numbers(text, 2..=2))
    };
    let mut read = TableValidator::new("torch-abi-read", tables, &mut errors);
    for (number, of) in tables.torch_abi_read.iter().enumerate() {
        let mut row = read.check_row(number, of.torch.clone(), &of.origin);
        row.require(minor(&of.torch).is_some(), || {
            "the name of a row is major and minor, such as 2.6".to_owned()
        });
        let follows =
            number == 0 || minor(&tables.torch_abi_read[number - 1].torch) < minor(&of.torch);
        row.require(follows, || "the previous row has a later minor".to_owned());
        row.require(!of.wheels.is_empty(), || {
            "wheels: a row has at least one wheel".to_owned()
        });
    }
    let known: Vec<&str> = tables
        .torch_abi_read
        .iter()
        .map(|row| row.torch.as_str())
        .collect();
    let at = |text: &str| known.iter().position(|minor| *minor == text);
    let mut symbols = BTreeSet::new();
    let mut abi = TableValidator::new("torch-abi", tables, &mut errors);
    for (number, of) in tables.torch_abi.iter().enumerate() {
        let name = format!("{} {} {}", of.library, of.since, of.until)
            .trim_end()
            .to_owned();
        let mut row = abi.check_row(number, name, &of.origin);
        for minor in [&of.since, &of.until]
            .into_iter()
            .filter(|minor| !minor.is_empty() && at(minor).is_none())
        {
            row.require(false, || {
                format!("`{minor}` is not in the table torch-abi-read")
            });
        }
        row.require(!of.since.is_empty(), || {
            "since: a row has a first minor".to_owned()
        });
        let ends = at(&of.since)
            .zip(at(&of.until))
            .is_none_or(|(since, until)| since <= until);
        row.require(ends, || {
            format!("until: `{}` is before `{}`", of.until, of.since)
        });
        row.require(!of.symbols.is_empty(), || {
            "symbols: a row has at least one symbol".to_owned()
        });
        for symbol in &of.symbols {
            row.require(symbols.insert(symbol), || {
                format!("another row has `{symbol}`")
            });
        }
    }
    errors
}
