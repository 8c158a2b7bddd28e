//! Invalid rows in the tables of build costs, limits, libraries and claims.

use super::{Fault, is_gfx, is_numbers, table};
use crate::rows::Tables;

pub(super) fn find(tables: &Tables, faults: &mut Vec<Fault>) {
    let mut costs = table("build-costs", tables, faults);
    for (number, of) in tables.build_costs.iter().enumerate() {
        let name = format!(
            "{} {} with {} targets on {} threads",
            of.package, of.backend, of.targets, of.threads
        );
        let mut row = costs.row(number, name, &of.origin);
        let measured = of.targets > 0 && of.threads > 0 && of.objects > 0 && of.wall_min > 0;
        row.expect(measured, || {
            "targets, threads, objects and wall-min are at least 1".to_owned()
        });
    }
    let mut needs = table("build-needs", tables, faults);
    for (number, of) in tables.build_needs.iter().enumerate() {
        let mut row = needs.row(number, of.recipe.clone(), &of.origin);
        let says_something = of.disk_gib.is_some() || of.thread_hours.is_some();
        row.expect(says_something, || {
            "disk-gib or thread-hours says what the builds need".to_owned()
        });
    }
    let mut limits = table("limits", tables, faults);
    for (number, of) in tables.limits.iter().enumerate() {
        let mut row = limits.row(number, of.name.clone(), &of.origin);
        row.expect(of.value > 0, || "value: a limit is at least 1".to_owned());
    }
    let mut presets = table("presets", tables, faults);
    for (number, of) in tables.presets.iter().enumerate() {
        let mut row = presets.row(number, of.name.clone(), &of.origin);
        row.expect(!of.patterns.is_empty(), || {
            "patterns: there is none".to_owned()
        });
        row.each(
            "patterns",
            &of.patterns,
            "a pattern of shared libraries such as libhip*.so*",
            |one| one.contains(".so"),
        );
    }
    let mut sonames = table("sonames", tables, faults);
    for (number, of) in tables.sonames.iter().enumerate() {
        let mut row = sonames.row(number, of.soname.clone(), &of.origin);
        row.expect(of.soname.contains(".so."), || {
            "soname: it ends with .so. and a number".to_owned()
        });
        row.expect(is_numbers(&of.rocm, 1..=1), || {
            format!("rocm: `{}` is not a major version such as 6", of.rocm)
        });
    }
    let mut claims = table("claims", tables, faults);
    for (number, of) in tables.claims.iter().enumerate() {
        claims.row(number, of.claim.clone(), &of.origin);
    }
    let mut reach = table("reach", tables, faults);
    for (number, of) in tables.reach.iter().enumerate() {
        let mut row = reach.row(number, format!("{} {}", of.about, of.when), &of.origin);
        let when: &[&str] = match of.about.as_str() {
            "rocm" => &[
                "other-patch",
                "newer-minor",
                "older-minor",
                "other-major",
                "no-compiled-code",
            ],
            "torch" => &["other-minor", "no-compiled-code"],
            _ => &[],
        };
        row.expect(when.contains(&of.when.as_str()), || {
            format!(
                "no wheel is asked for its reach about `{}` when `{}`",
                of.about, of.when
            )
        });
        row.expect(!of.why.is_empty(), || "why: say why it is so".to_owned());
    }
    let mut contents = table("wheel-contents", tables, faults);
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
        let mut row = contents.row(number, name, &of.origin);
        row.expect(
            ["", "linux", "windows"].contains(&of.platform.as_str()),
            || {
                format!(
                    "platform: `{}` is neither `linux` nor `windows`",
                    of.platform
                )
            },
        );
        row.expect(
            ["", "packages", "inside"].contains(&of.rocm.as_str()),
            || format!("rocm: `{}` is neither `packages` nor `inside`", of.rocm),
        );
        let asks_of_it = !of.holds.is_empty() || of.least_bytes > 0;
        let asks =
            asks_of_it || !of.requires.is_empty() || !of.beside.is_empty() || of.equal.is_some();
        row.expect(asks != of.absent, || {
            "a row has `holds`, `requires`, `equal`, `beside` or `least-bytes`, or it is `absent`"
                .to_owned()
        });
    }
    let mut embeddings = table("embeddings", tables, faults);
    for (number, of) in tables.embeddings.iter().enumerate() {
        let mut row = embeddings.row(
            number,
            format!("{} {}", of.distribution, of.platform),
            &of.origin,
        );
        let is_path = |text: &str| {
            !text.is_empty() && text.split('/').all(|part| !matches!(part, "" | "." | ".."))
        };
        row.expect(is_path(&of.into), || {
            format!("into: `{}` is no path in a wheel", of.into)
        });
        let parts = [&of.module, &of.marker, &of.insert].map(String::is_empty);
        row.expect(parts[0] == parts[1] && parts[1] == parts[2], || {
            "`module`, `marker` and `insert` go together".to_owned()
        });
        row.expect(!parts[0] || !of.search.is_empty(), || {
            "nothing leads to what is embedded: say `module` or `search`".to_owned()
        });
    }
    let mut device_wheels = table("device-wheels", tables, faults);
    for (number, of) in tables.device_wheels.iter().enumerate() {
        let mut row = device_wheels.row(number, of.distribution.clone(), &of.origin);
        row.expect(of.device.ends_with("-device"), || {
            format!("device: `{}` does not end with `-device`", of.device)
        });
        row.expect(!of.root.is_empty(), || {
            "root: say the folder with its archives".to_owned()
        });
    }
    let mut device_bundles = table("device-bundles", tables, faults);
    for (number, of) in tables.device_bundles.iter().enumerate() {
        let mut row = device_bundles.row(number, of.bundle.clone(), &of.origin);
        let is_name = |text: &str| text.starts_with("gfx");
        row.expect(is_name(&of.bundle), || {
            format!("bundle: `{}` does not begin with `gfx`", of.bundle)
        });
        row.expect(!of.members.is_empty(), || {
            "members: say its targets".to_owned()
        });
        row.each(
            "members",
            &of.members,
            "a gfx target such as gfx942",
            is_name,
        );
        row.expect(of.generic.is_empty() || is_gfx(&of.generic), || {
            format!("generic: `{}` is no target", of.generic)
        });
    }
}
