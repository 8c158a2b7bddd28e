//! Validation of the tables of target families, products, release types and index layouts.

use std::collections::BTreeSet;

use super::{RowError, RowValidator, TableValidator, is_gfx, is_normalized_name, is_rocm};
use crate::rows::CompatTables;

/// Workflows of `TheRock` (`FamilyBuildRow::trigger`).
const TRIGGERS: [&str; 3] = ["presubmit", "postsubmit", "nightly"];
/// Build variants of `TheRock` (`FamilyBuildRow::variants`).
const VARIANTS: [&str; 4] = ["release", "asan", "host-asan", "tsan"];

/// Returns the errors of the tables of target families, their builds, products, release types and
/// index layouts.
pub(super) fn validate_families(tables: &CompatTables) -> Vec<RowError> {
    let mut errors = Vec::new();
    let families: BTreeSet<&str> = tables
        .families
        .iter()
        .map(|row| row.family.as_str())
        .collect();
    let mut builds = TableValidator::new("family-builds", tables, &mut errors);
    for (number, of) in tables.family_builds.iter().enumerate() {
        let mut row = builds.check_row(
            number,
            format!("{} on {}", of.family, of.platform),
            &of.origin,
        );
        require_family(&mut row, &families, &of.family);
        row.require_platform(&of.platform);
        row.require(TRIGGERS.contains(&of.trigger.as_str()), || {
            format!("trigger: `{}` is not a valid trigger", of.trigger)
        });
        row.require_each("variants", &of.variants, "a variant", |text| {
            VARIANTS.contains(&text)
        });
        row.require_gfx_targets("fetch-gfx", &of.fetch_gfx);
    }
    let mut products = TableValidator::new("products", tables, &mut errors);
    for (number, of) in tables.products.iter().enumerate() {
        let mut row = products.check_row(number, of.product.clone(), &of.origin);
        row.require_gfx_targets("gfx", std::slice::from_ref(&of.gfx));
        row.require(
            !families.contains(of.product.as_str()) && !is_gfx(&of.product),
            || "the name is a family or a gfx target".to_owned(),
        );
        row.require(is_normalized_name(&of.product), || {
            "product: use lower-case letters, digits and `-`, such as mi300x".to_owned()
        });
        row.require(!of.name.is_empty(), || "name: it is empty".to_owned());
        row.require(of.rocm.is_empty() || is_rocm(&of.rocm), || {
            format!("rocm: `{}` is not a ROCm version", of.rocm)
        });
    }
    let mut types = TableValidator::new("release-types", tables, &mut errors);
    for (number, of) in tables.release_types.iter().enumerate() {
        let mut row = types.check_row(
            number,
            format!("{} on {}", of.release_type, of.platform),
            &of.origin,
        );
        row.require_platform(&of.platform);
        for (axis, values) in &of.axes {
            row.require(!values.is_empty(), || {
                format!("axes: `{axis}` has no values")
            });
            row.require_each(axis, values, "a value", |text| !text.is_empty());
        }
        for (axis, value) in of.untested.iter().flatten() {
            let has = of
                .axes
                .get(axis)
                .is_some_and(|values| values.contains(value));
            row.require(has, || format!("untested: `{axis}` has no value `{value}`"));
        }
    }
    let mut unsupported = TableValidator::new("unsupported-families", tables, &mut errors);
    for (number, of) in tables.unsupported_families.iter().enumerate() {
        let name = format!("{} {} {}", of.axis, of.value, of.platform);
        let mut row = unsupported.check_row(number, name.trim_end().to_owned(), &of.origin);
        if !of.platform.is_empty() {
            row.require_platform(&of.platform);
        }
        row.require(!of.families.is_empty(), || {
            "families: the list is empty".to_owned()
        });
        for family in &of.families {
            require_family(&mut row, &families, family);
        }
    }
    let mut templates = TableValidator::new("index-templates", tables, &mut errors);
    for (number, of) in tables.index_templates.iter().enumerate() {
        let mut row = templates.check_row(number, of.name.clone(), &of.origin);
        row.require(of.template.starts_with("{base}/"), || {
            "template: it must begin with `{base}/`".to_owned()
        });
        row.require(!of.name.contains("://"), || "the name is a URL".to_owned());
        row.require(
            of.base.is_empty() || of.base.starts_with("https://"),
            || format!("base: `{}` does not begin with `https://`", of.base),
        );
        row.require(
            !of.base.contains("{stream}") || !of.stream.is_empty(),
            || "stream: a base with `{stream}` needs a default stream".to_owned(),
        );
    }
    errors
}

/// Requires a target family or a single gfx target.
fn require_family(row: &mut RowValidator<'_>, families: &BTreeSet<&str>, name: &str) {
    row.require(families.contains(name) || is_gfx(name), || {
        format!("`{name}` is neither a family nor a gfx target")
    });
}
