//! What cannot be right in the tables of families and kinds of releases.

use std::collections::BTreeSet;

use super::{Fault, Row, is_gfx, is_rocm, table};
use crate::rows::Tables;

const TRIGGERS: [&str; 3] = ["presubmit", "postsubmit", "nightly"];
const VARIANTS: [&str; 4] = ["release", "asan", "host-asan", "tsan"];

pub(super) fn find(tables: &Tables, faults: &mut Vec<Fault>) {
    let families: BTreeSet<&str> = tables
        .families
        .iter()
        .map(|row| row.family.as_str())
        .collect();
    let known = |row: &mut Row<'_>, name: &str| {
        row.expect(families.contains(name) || is_gfx(name), || {
            format!("`{name}` is neither a family nor a gfx target")
        });
    };
    let platform = |row: &mut Row<'_>, name: &str| {
        row.expect(["linux", "windows"].contains(&name), || {
            format!("platform: `{name}` is not linux or windows")
        });
    };
    let mut builds = table("family-builds", tables, faults);
    for (number, of) in tables.family_builds.iter().enumerate() {
        let mut row = builds.row(
            number,
            format!("{} on {}", of.family, of.platform),
            &of.origin,
        );
        known(&mut row, &of.family);
        platform(&mut row, &of.platform);
        row.expect(TRIGGERS.contains(&of.trigger.as_str()), || {
            format!("trigger: `{}` is none", of.trigger)
        });
        row.each("variants", &of.variants, "a variant", |text| {
            VARIANTS.contains(&text)
        });
        row.gfx("fetch-gfx", &of.fetch_gfx);
    }
    let mut products = table("products", tables, faults);
    for (number, of) in tables.products.iter().enumerate() {
        let mut row = products.row(number, of.product.clone(), &of.origin);
        row.gfx("gfx", std::slice::from_ref(&of.gfx));
        row.expect(
            !families.contains(of.product.as_str()) && !is_gfx(&of.product),
            || "the name is that of a family or a gfx target".to_owned(),
        );
        let is_word = |text: &str| {
            !text.is_empty()
                && text
                    .bytes()
                    .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
        };
        row.expect(is_word(&of.product), || {
            "product: lower-case letters, digits and `-`, such as mi300x".to_owned()
        });
        row.expect(!of.name.is_empty(), || "name: there is none".to_owned());
        row.expect(of.rocm.is_empty() || is_rocm(&of.rocm), || {
            format!("rocm: `{}` is not a ROCm version", of.rocm)
        });
    }
    let mut types = table("release-types", tables, faults);
    for (number, of) in tables.release_types.iter().enumerate() {
        let mut row = types.row(
            number,
            format!("{} on {}", of.release_type, of.platform),
            &of.origin,
        );
        platform(&mut row, &of.platform);
        for (axis, values) in &of.axes {
            row.expect(!values.is_empty(), || {
                format!("axes: `{axis}` has no values")
            });
            row.each(axis, values, "a value", |text| !text.is_empty());
        }
        for (axis, value) in of.untested.iter().flatten() {
            let has = of
                .axes
                .get(axis)
                .is_some_and(|values| values.contains(value));
            row.expect(has, || format!("untested: `{axis}` has no value `{value}`"));
        }
    }
    let mut unsupported = table("unsupported-families", tables, faults);
    for (number, of) in tables.unsupported_families.iter().enumerate() {
        let name = format!("{} {} {}", of.axis, of.value, of.platform);
        let mut row = unsupported.row(number, name.trim_end().to_owned(), &of.origin);
        if !of.platform.is_empty() {
            platform(&mut row, &of.platform);
        }
        row.expect(!of.families.is_empty(), || {
            "families: there is none".to_owned()
        });
        for family in &of.families {
            known(&mut row, family);
        }
    }
    let mut templates = table("index-templates", tables, faults);
    for (number, of) in tables.index_templates.iter().enumerate() {
        let mut row = templates.row(number, of.name.clone(), &of.origin);
        row.expect(of.template.starts_with("{base}/"), || {
            "template: it begins with `{base}/`".to_owned()
        });
        row.expect(!of.name.contains("://"), || {
            "the name is an address".to_owned()
        });
        row.expect(
            of.base.is_empty() || of.base.starts_with("https://"),
            || format!("base: `{}` does not begin with `https://`", of.base),
        );
        row.expect(
            !of.base.contains("{stream}") || !of.stream.is_empty(),
            || {
                "stream: a base with `{stream}` needs the one of builds that belong to none"
                    .to_owned()
            },
        );
    }
}
