//! The reference page and the JSON Schema of the matrix file, generated from its tables.

use super::fields::{MATRIX, MATRIX_FILE};
use rock_yaml::shape::{json_schema, reference_tables};

/// Returns the JSON Schema of a matrix file (draft 2020-12).
pub fn schema() -> serde_json::Value {
    let mut schema = json_schema(&MATRIX_FILE);
    if let Some(map) = schema.as_object_mut() {
        map.insert("title".into(), "rock-matrix matrix file".into());
    }
    schema
}

/// Returns the reference page of the matrix file, in Markdown.
pub fn reference() -> String {
    let mut out = String::from(
        "# Matrix file\n\n<!-- Generated from crates/rock-plan/src/config/fields.rs by \
         `ROCK_BLESS=1 cargo test`; do not edit. -->\n\nOne YAML file describes one group of \
         wheels; one plan can combine several files.\nValues are kept as written, so `3.10` stays \
         `3.10`; quote versions anyway, because other tools read a number.\nUnknown keys, \
         duplicate keys, tags, merge keys and multiple documents are errors.\n`rock-matrix check` \
         reports all errors of all files in one run.\n\nAn editor with a YAML language server \
         checks as you write with this first line:\n\n```yaml\n# yaml-language-server: \
         $schema=https://raw.githubusercontent.com/org/rock-action/main/docs/matrix.schema.json\n```\n\n",
    );
    out.push_str(&reference_tables(&MATRIX, "Fields"));
    out
}

#[cfg(test)]
mod tests {
    use super::{reference, schema};

    #[test]
    fn the_schema_is_valid_and_knows_every_field() {
        let schema = schema();
        assert!(jsonschema::draft202012::meta::is_valid(&schema));
        let valid = |text: &str| {
            let value: serde_json::Value = serde_yaml::from_str(text).unwrap();
            jsonschema::is_valid(&schema, &value)
        };
        assert!(valid(
            "version: 1\ndistribution: x\naxes: {python: ['3.12', 3.11]}\nimage: rocm/pytorch\nworkflow: {cache: off}\nexclude:\n"
        ));
        assert!(valid(
            "version: 1\ndistribution: x\nimage: {tag: x}\nrelease: {make-latest: true}\n"
        ));
        for wrong in [
            "distribution: x\n",
            "version: 1\ndistribution: x\nzebra: 1\n",
            "version: 1\ndistribution: x\ngpu: maybe\n",
        ] {
            assert!(!valid(wrong), "{wrong}");
        }
    }

    #[test]
    fn the_reference_names_every_field_once_a_table() {
        let page = reference();
        for name in [
            "`axes`",
            "`shm-size`",
            "`include[].set`",
            "`max-parallel`",
            "`make-latest`",
        ] {
            assert!(page.contains(name), "{name}");
        }
    }
}
