//! Recipe facts that are looked up in the compatibility data.

use std::collections::BTreeSet;

use indexmap::IndexMap;
use serde_json::{Value as Json, json};

use super::context::ExpressionContext;
use crate::codes::build as codes;
use rock_compat::Compat;
use rock_compat::rows::CompatTables;
use rock_diagnostic::Diagnostic;
use rock_names::Version;
use rock_plan::config::recipe::FactDocument;

impl ExpressionContext<'_> {
    /// Returns the value of a column in the row that matches `where` and has the newest versions
    /// within `at_most`; the first one of equals. If the fact has a `key`, returns the values of
    /// all rows that match `where`, by that column.
    pub(super) fn row(
        &self,
        name: &str,
        table: &str,
        fact: &FactDocument,
        compat: &Compat,
    ) -> Result<Json, Diagnostic> {
        let fault = |message: String| {
            let fault =
                Diagnostic::new(&codes::BAD_EXPRESSION, format!("fact `{name}`: {message}"));
            match self.document.place_of(&format!("{name}:")) {
                Some(place) => fault.at(place, ""),
                None => fault,
            }
        };
        let rows = rows_of(table, compat).map_err(|known| {
            fault(format!("there is no table `{table}`"))
                .help(format!("the tables are {}", known.join(", ")))
        })?;
        let texts = |asked: &IndexMap<String, String>| {
            let each = asked
                .iter()
                .map(|(column, text)| Ok((column.clone(), self.required(text)?)));
            each.collect::<Result<Vec<_>, Diagnostic>>()
        };
        let (wanted, at_most) = (texts(&fact.r#where)?, texts(&fact.at_most)?);
        let mut fitting = rows.iter().filter(|row| {
            wanted
                .iter()
                .all(|(column, text)| holds(&row[column.as_str()], text))
        });
        if !fact.key.is_empty() {
            let mut values = serde_json::Map::new();
            for row in fitting {
                let Some(key) = row[fact.key.as_str()].as_str() else {
                    return Err(fault(format!(
                        "table `{table}` has no column `{}` with strings",
                        fact.key
                    )));
                };
                values.insert(key.to_owned(), row[fact.column.as_str()].clone());
            }
            return Ok(Json::Object(values));
        }
        let mut newest: Option<(Vec<Version>, &Json)> = None;
        for row in fitting.by_ref() {
            let Some(versions) = at_most
                .iter()
                .map(|(column, most)| version_up_to(&row[column.as_str()], most))
                .collect()
            else {
                continue;
            };
            if newest.as_ref().is_none_or(|(known, _)| versions > *known) {
                newest = Some((versions, row));
            }
        }
        match newest.map(|(_, row)| &row[fact.column.as_str()]) {
            Some(value) if !value.is_null() => Ok(value.clone()),
            Some(_) => Err(fault(format!(
                "table `{table}` has no column `{}`",
                fact.column
            ))),
            None => match &fact.default {
                Some(default) => Ok(json!(default)),
                None => {
                    let up_to = at_most
                        .iter()
                        .map(|(column, text)| format!("{column} up to {text}"));
                    let asked = wanted
                        .iter()
                        .map(|(column, text)| format!("{column} {text}"))
                        .chain(up_to);
                    let asked: Vec<String> = asked.collect();
                    Err(fault(format!(
                        "table `{table}` has no row with {}",
                        asked.join(", ")
                    ))
                    .help("add a row, or set a `default`"))
                }
            },
        }
    }
}

/// Returns the rows of a table as JSON: of a table that only recipes query, or of one with its own
/// row type.
///
/// # Errors
/// Returns the names of the existing tables if this one does not exist.
fn rows_of(table: &str, compat: &Compat) -> Result<Vec<Json>, Vec<String>> {
    let own = compat
        .recipe_tables()
        .recipe_rows
        .iter()
        .filter(|row| row.table == table);
    let own: Vec<Json> = own.map(|row| json!(row.columns)).collect();
    if !own.is_empty() {
        return Ok(own);
    }
    match compat.rows_of(table) {
        Some(Json::Array(rows)) => Ok(rows),
        _ => {
            let own = compat
                .recipe_tables()
                .recipe_rows
                .iter()
                .map(|row| row.table.clone());
            Err(own
                .chain(CompatTables::names())
                .collect::<BTreeSet<_>>()
                .into_iter()
                .collect())
        }
    }
}

/// Whether a column equals a text or, if it is a list, contains it.
fn holds(column: &Json, text: &str) -> bool {
    let text_of = |value: &Json| {
        value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned)
    };
    let is = |value: &Json| text_of(value) == text;
    match column {
        Json::Array(items) => items.iter().any(is),
        value => is(value),
    }
}

/// Returns the version in a column if it is at most `most`.
fn version_up_to(column: &Json, most: &str) -> Option<Version> {
    let text = column
        .as_array()
        .map_or(column, |items| items.first().unwrap_or(&Json::Null))
        .as_str()?;
    let (version, most) = (text.parse::<Version>().ok()?, most.parse::<Version>().ok()?);
    (version <= most).then_some(version)
}
