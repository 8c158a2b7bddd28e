//! Validation of compatibility tables.
//!
//! Input: the tables of all files. Output: one error for each invalid row: unknown sources, dates
//! that do not exist, duplicate rows, malformed versions, targets, digests and commits, and
//! references to rows that do not exist.
//!
//! **Invariant:** every error names its row, and nothing is corrected silently.

use std::collections::{BTreeMap, BTreeSet};

use crate::rows::{ActionRow, CompatTables, PackageRow, Provenance};

mod families;
mod requirements;
mod run_time;
mod sources;
mod wheels;

/// The reason why [`validate_tables`] rejects a row.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{table} {name}: {message}")]
pub struct RowError {
    /// The YAML key of the table, `torch-gfx`.
    pub table: &'static str,
    /// The index of the row in its table, over all files in the order in which they were merged.
    pub row: usize,
    /// The columns that identify the row, `6.2.4`.
    pub name: String,
    /// The reason, in one line.
    pub message: String,
    /// The index of the first row with the same name, if the error is that there are two.
    pub duplicate_of: Option<usize>,
}

/// Collects the errors of one table.
struct TableValidator<'a> {
    name: &'static str,
    sources: &'a BTreeMap<String, String>,
    /// Names of the rows checked so far, with the index of the first row.
    row_names: BTreeMap<String, usize>,
    errors: &'a mut Vec<RowError>,
}

/// Collects the errors of one row.
struct RowValidator<'a> {
    table: &'static str,
    number: usize,
    name: String,
    errors: &'a mut Vec<RowError>,
}

impl<'a> TableValidator<'a> {
    fn new(name: &'static str, tables: &'a CompatTables, errors: &'a mut Vec<RowError>) -> Self {
        Self {
            name,
            sources: &tables.sources,
            row_names: BTreeMap::new(),
            errors,
        }
    }

    /// Checks that the name of a row is unique in the table, its source known and its date
    /// well-formed, and returns a validator for its other columns.
    fn check_row(
        &mut self,
        number: usize,
        name: String,
        provenance: &Provenance,
    ) -> RowValidator<'_> {
        let first = *self.row_names.entry(name.clone()).or_insert(number);
        if first != number {
            self.errors.push(RowError {
                table: self.name,
                row: number,
                name: name.clone(),
                message: "the row is listed twice".to_owned(),
                duplicate_of: Some(first),
            });
        }
        let mut row = RowValidator {
            table: self.name,
            number,
            name,
            errors: self.errors,
        };
        row.require(self.sources.contains_key(&provenance.source), || {
            format!(
                "source `{}` is not in the table of sources",
                provenance.source
            )
        });
        row.require(is_date(&provenance.checked), || {
            format!(
                "checked `{}` is not a date such as 2026-11-21",
                provenance.checked
            )
        });
        row
    }
}

impl RowValidator<'_> {
    /// Adds an error unless the condition holds.
    fn require(&mut self, holds: bool, message: impl FnOnce() -> String) {
        if !holds {
            let error = RowError {
                table: self.table,
                row: self.number,
                name: self.name.clone(),
                message: message(),
                duplicate_of: None,
            };
            self.errors.push(error);
        }
    }

    /// Requires distinct texts in a column, each of which satisfies `is_valid`. `form` describes
    /// valid texts in the error.
    fn require_each(
        &mut self,
        column: &str,
        texts: &[String],
        form: &str,
        is_valid: fn(&str) -> bool,
    ) {
        let mut seen = BTreeSet::new();
        for text in texts {
            self.require(is_valid(text), || {
                format!("{column}: `{text}` is not {form}")
            });
            self.require(seen.insert(text), || {
                format!("{column}: `{text}` is listed twice")
            });
        }
    }

    /// Requires distinct ROCm versions that are in the table `rocm`.
    fn require_rocm_versions(&mut self, column: &str, versions: &[String], known: &BTreeSet<&str>) {
        self.require_each(
            column,
            versions,
            "a ROCm version such as 6.2 or 6.2.4",
            is_rocm,
        );
        for version in versions
            .iter()
            .filter(|version| is_rocm(version) && !known.contains(version.as_str()))
        {
            self.require(false, || {
                format!("{column}: `{version}` is not in the rocm table")
            });
        }
    }

    /// Requires `linux` or `windows`.
    fn require_platform(&mut self, platform: &str) {
        self.require(["linux", "windows"].contains(&platform), || {
            format!("platform: `{platform}` is not linux or windows")
        });
    }

    /// Requires distinct gfx targets.
    fn require_gfx_targets(&mut self, column: &str, targets: &[String]) {
        self.require_each(column, targets, "a gfx target such as gfx942", is_gfx);
    }
}

/// Returns the errors of all rows, table by table; empty if the tables are valid.
pub fn validate_tables(tables: &CompatTables) -> Vec<RowError> {
    [
        validate_versions(tables),
        validate_targets(tables),
        families::validate_families(tables),
        validate_packages(tables),
        requirements::validate_requirements(tables),
        validate_runners(tables),
        wheels::validate_wheel_tables(tables),
        sources::validate_sources(tables),
        wheels::validate_torch_abi(tables),
        run_time::validate_run_time(tables),
        validate_recipe_rows(tables),
    ]
    .concat()
}

/// Validates the tables of recipes: all rows of a table must have the same columns.
fn validate_recipe_rows(tables: &CompatTables) -> Vec<RowError> {
    let mut errors = Vec::new();
    let mut columns: BTreeMap<&str, Vec<&String>> = BTreeMap::new();
    let mut rows = TableValidator::new("recipe-rows", tables, &mut errors);
    for (number, of) in tables.recipe_rows.iter().enumerate() {
        let words: Vec<String> = of.columns.values().map(|values| values.join(",")).collect();
        let mut row = rows.check_row(
            number,
            format!("{} {}", of.table, words.join(" ")),
            &of.origin,
        );
        let own: Vec<&String> = of.columns.keys().collect();
        let first = columns.entry(&of.table).or_insert_with(|| own.clone());
        row.require(*first == own, || {
            format!(
                "its columns differ from those of the first row of `{}`",
                of.table
            )
        });
        row.require(!own.is_empty(), || "it has no columns".to_owned());
    }
    errors
}

/// Validates the tables of torch, ROCm and HIP versions and of container images.
fn validate_versions(tables: &CompatTables) -> Vec<RowError> {
    let mut errors = Vec::new();
    let known: BTreeSet<&str> = tables.rocm.iter().map(|row| row.rocm.as_str()).collect();
    let mut torch = TableValidator::new("torch", tables, &mut errors);
    for (number, of) in tables.torch.iter().enumerate() {
        let mut row = torch.check_row(number, of.torch.clone(), &of.origin);
        row.require(is_numbers(&of.torch, 2..=2), || {
            "the name of a row is major and minor, such as 2.6".to_owned()
        });
        row.require_each("patches", &of.patches, "a version", is_version);
        for patch in of
            .patches
            .iter()
            .filter(|patch| !patch.starts_with(&format!("{}.", of.torch)))
        {
            row.require(false, || {
                format!("patches: `{patch}` is not a release of torch {}", of.torch)
            });
        }
        row.require_rocm_versions("rocm-index", &of.rocm_index, &known);
        row.require_each(
            "python",
            &of.python,
            "a Python version such as 3.12",
            |text| is_numbers(text, 2..=2),
        );
        row.require_each(
            "free-threaded",
            &of.free_threaded,
            "a free-threaded Python such as 3.13t",
            |text| {
                text.strip_suffix('t')
                    .is_some_and(|plain| is_numbers(plain, 2..=2))
            },
        );
    }
    let mut rocm = TableValidator::new("rocm", tables, &mut errors);
    for (number, of) in tables.rocm.iter().enumerate() {
        let mut row = rocm.check_row(number, of.rocm.clone(), &of.origin);
        row.require(is_rocm(&of.rocm), || {
            "it is not a ROCm version such as 6.2 or 6.2.4".to_owned()
        });
        row.require(of.hip.is_empty() || is_numbers(&of.hip, 2..=4), || {
            format!("hip: `{}` is not a valid version", of.hip)
        });
    }
    let mut hip = TableValidator::new("hip", tables, &mut errors);
    for (number, of) in tables.hip.iter().enumerate() {
        let mut row = hip.check_row(number, of.rocm.clone(), &of.origin);
        row.require(is_numbers(&of.rocm, 2..=2), || {
            "the name of a row is major and minor, such as 10.0".to_owned()
        });
        row.require(is_numbers(&of.hip, 2..=2), || {
            format!("hip: `{}` is not major and minor", of.hip)
        });
        row.require_rocm_versions("rocm", std::slice::from_ref(&of.rocm), &known);
    }
    let mut builders = TableValidator::new("builders", tables, &mut errors);
    for (number, of) in tables.builders.iter().enumerate() {
        let mut row = builders.check_row(number, of.image.clone(), &of.origin);
        row.require(of.image.contains("{rocm}"), || {
            "image: the version must be written as `{rocm}`".to_owned()
        });
        row.require_rocm_versions("rocm", &of.rocm, &known);
    }
    let mut images = TableValidator::new("images", tables, &mut errors);
    for (number, of) in tables.images.iter().enumerate() {
        let mut row = images.check_row(number, format!("{}:{}", of.repository, of.tag), &of.origin);
        let digest = of.digest.strip_prefix("sha256:").unwrap_or("-");
        row.require(of.digest.is_empty() || is_hex(digest, 64), || {
            format!(
                "digest: `{}` is not `sha256:` with 64 hex digits",
                of.digest
            )
        });
    }
    errors
}

/// Validates the tables of gfx targets and the members of target families.
fn validate_targets(tables: &CompatTables) -> Vec<RowError> {
    let mut errors = Vec::new();
    let known: BTreeSet<&str> = tables.rocm.iter().map(|row| row.rocm.as_str()).collect();
    for (name, rows) in [
        ("torch-gfx", &tables.torch_gfx),
        ("rocm-gfx", &tables.rocm_gfx),
    ] {
        let mut lists = TableValidator::new(name, tables, &mut errors);
        let mut versions = BTreeSet::new();
        for (number, of) in rows.iter().enumerate() {
            let mut row = lists.check_row(number, of.rocm.join(" "), &of.origin);
            row.require_rocm_versions("rocm", &of.rocm, &known);
            for version in &of.rocm {
                row.require(versions.insert(version), || {
                    format!("another row lists the targets of ROCm {version}")
                });
            }
            row.require_gfx_targets("gfx", &of.gfx);
        }
    }
    let mut since = TableValidator::new("gfx-since", tables, &mut errors);
    for (number, of) in tables.gfx_since.iter().enumerate() {
        let mut row = since.check_row(number, of.gfx.clone(), &of.origin);
        row.require_gfx_targets("gfx", std::slice::from_ref(&of.gfx));
        row.require_rocm_versions("rocm", std::slice::from_ref(&of.rocm), &known);
    }
    let mut families = TableValidator::new("families", tables, &mut errors);
    for (number, of) in tables.families.iter().enumerate() {
        let mut row = families.check_row(number, of.family.clone(), &of.origin);
        row.require(!is_gfx(&of.family), || {
            "the name is a gfx target".to_owned()
        });
        row.require(!of.members.is_empty(), || {
            "members: a family has at least one member".to_owned()
        });
        row.require_gfx_targets("members", &of.members);
    }
    errors
}

/// Validates the tables `packages` and `absent-families`.
fn validate_packages(tables: &CompatTables) -> Vec<RowError> {
    let mut errors = Vec::new();
    let mut packages = TableValidator::new("packages", tables, &mut errors);
    let (mut versions, mut families) = (BTreeSet::new(), BTreeSet::new());
    for (number, of) in tables.packages.iter().enumerate() {
        let mut row =
            packages.check_row(number, format!("{} {}", of.package, of.version), &of.origin);
        for version in std::iter::once(&of.version).chain(&of.same) {
            row.require(is_version(version), || {
                format!("`{version}` is not a version")
            });
            row.require(versions.insert((&of.package, version)), || {
                format!("another row covers {version}")
            });
        }
        for family in &of.commit_families {
            row.require(families.insert((&of.package, family)), || {
                format!("another row covers {family}:")
            });
        }
        validate_package(of, &mut row);
    }
    let mut absent = TableValidator::new("absent-families", tables, &mut errors);
    for (number, of) in tables.absent_families.iter().enumerate() {
        let mut row = absent.check_row(number, format!("{} {}", of.package, of.family), &of.origin);
        let has_a_row = families.contains(&(&of.package, &of.family));
        row.require(!has_a_row, || {
            format!("a row of packages covers {}:", of.family)
        });
    }
    errors
}

/// Validates the columns of a row of `packages` that do not refer to other rows.
fn validate_package(of: &PackageRow, row: &mut RowValidator<'_>) {
    let name = of.package.as_str();
    row.require(is_normalized_name(name), || {
        "package: write the normalized name, such as flash-attn".to_owned()
    });
    row.require(!of.tag.is_empty() || is_hex(&of.commit, 40), || {
        "it has neither a tag nor a commit of 40 hex digits".to_owned()
    });
    row.require(is_numbers(&of.python_min, 2..=2), || {
        format!("python-min: `{}` is not a Python version", of.python_min)
    });
    row.require_each("backends", &of.backends, "a word", |text| !text.is_empty());
    row.require_each("env", &of.env, "a variable's name", |text| {
        text.bytes()
            .all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_')
    });
    for backend in of
        .gfx
        .keys()
        .chain(of.warnings.keys())
        .filter(|backend| !of.backends.contains(backend))
    {
        row.require(false, || format!("`{backend}` is not one of its backends"));
    }
    for list in of.gfx.values() {
        row.require_gfx_targets("gfx", list);
    }
    for count in of.objects.keys() {
        row.require(count.parse::<u32>().is_ok(), || {
            format!("objects: `{count}` is not a number of targets")
        });
    }
    for (version, digest) in &of.sdist_sha256 {
        row.require(is_hex(digest, 64), || {
            format!("sdist-sha256: `{digest}` is not 64 hex digits")
        });
        let its_own = *version == of.version || of.same.contains(version);
        row.require(its_own, || {
            format!("sdist-sha256: {version} is not one of the row's versions")
        });
    }
}

/// Validates the tables of runners, runner pools, actions and build hosts.
fn validate_runners(tables: &CompatTables) -> Vec<RowError> {
    let mut errors = Vec::new();
    let mut runners = TableValidator::new("runners", tables, &mut errors);
    let mut words = BTreeSet::new();
    for (number, of) in tables.runners.iter().enumerate() {
        let mut row = runners.check_row(number, of.name.clone(), &of.origin);
        row.require(!of.labels.is_empty(), || {
            "labels: a runner has at least one label".to_owned()
        });
        row.require(
            ["hosted", "self-hosted", "arc"].contains(&of.kind.as_str()),
            || format!("kind: `{}` is not hosted, self-hosted or arc", of.kind),
        );
        row.require(["linux", "windows"].contains(&of.os.as_str()), || {
            format!("os: `{}` is not linux or windows", of.os)
        });
        // The architecture becomes part of job and artifact names.
        let is_word = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_';
        row.require(!of.arch.is_empty() && of.arch.bytes().all(is_word), || {
            format!("arch: `{}` is not a word such as x86_64", of.arch)
        });
        row.require_gfx_targets("gpu", &of.gpu);
        let aliases = of.aliases.iter().map(|alias| &alias.label);
        let own: BTreeSet<&String> = std::iter::once(&of.name)
            .chain(&of.labels)
            .chain(aliases)
            .collect();
        for word in own {
            row.require(words.insert(word), || {
                format!("`{word}` is also used by another runner")
            });
        }
    }
    let mut pools = TableValidator::new("runner-pools", tables, &mut errors);
    for (number, of) in tables.runner_pools.iter().enumerate() {
        let mut row = pools.check_row(number, of.name.clone(), &of.origin);
        row.require(!words.contains(&of.name), || {
            "the name is already used by a runner".to_owned()
        });
        row.require(!of.members.is_empty(), || {
            "members: a pool has at least one member".to_owned()
        });
        let system = |runner: &str| {
            tables
                .runners
                .iter()
                .find(|row| row.name == runner)
                .map(|row| &row.os)
        };
        let systems: BTreeSet<&String> = of
            .members
            .iter()
            .filter_map(|member| system(&member.runner))
            .collect();
        row.require(systems.len() <= 1, || {
            "members: they have different operating systems".to_owned()
        });
        let mut seen = BTreeSet::new();
        for member in &of.members {
            row.require(system(&member.runner).is_some(), || {
                format!("members: `{}` is not a known runner", member.runner)
            });
            row.require(seen.insert(&member.runner), || {
                format!("members: `{}` is listed twice", member.runner)
            });
            row.require(member.weight > 0, || {
                format!("members: `{}` has no weight", member.runner)
            });
        }
    }
    let mut actions = TableValidator::new("actions", tables, &mut errors);
    for (number, of) in tables.actions.iter().enumerate() {
        let mut row = actions.check_row(number, of.name.clone(), &of.origin);
        row.require(is_hex(&of.sha, 40), || {
            format!("sha: `{}` is not a commit of 40 hex digits", of.sha)
        });
        row.require(of.name.contains('/'), || {
            "name: write OWNER/REPOSITORY".to_owned()
        });
        row.require(ActionRow::is_supported_runtime(&of.runtime), || {
            format!(
                "runtime: `{}` is neither composite nor node24 or later",
                of.runtime
            )
        });
    }
    let mut libc = TableValidator::new("libc", tables, &mut errors);
    for (number, of) in tables.libc.iter().enumerate() {
        libc.check_row(number, of.host.clone(), &of.origin);
    }
    errors
}

/// Returns whether a text is a dotted sequence of `count` numbers without leading zeros.
fn is_numbers(text: &str, count: std::ops::RangeInclusive<usize>) -> bool {
    let number = |part: &str| {
        !part.is_empty()
            && part.bytes().all(|b| b.is_ascii_digit())
            && (part.len() == 1 || !part.starts_with('0'))
    };
    count.contains(&text.split('.').count()) && text.split('.').all(number)
}

/// Returns whether a text consists of lower-case letters, digits and hyphens.
fn is_normalized_name(text: &str) -> bool {
    !text.is_empty()
        && text
            .bytes()
            .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
}

/// Returns whether a text has the form of a ROCm version, `6.2` or `6.2.4`.
fn is_rocm(text: &str) -> bool {
    is_numbers(text, 2..=4)
}

/// Returns whether a text looks like a version: dotted parts of lower-case letters and digits, the
/// first character a digit. This is looser than PEP 440 and sufficient to find typing errors.
fn is_version(text: &str) -> bool {
    let part = |part: &str| {
        !part.is_empty()
            && part
                .bytes()
                .all(|b| b.is_ascii_digit() || b.is_ascii_lowercase())
    };
    text.starts_with(|c: char| c.is_ascii_digit()) && text.split('.').all(part)
}

/// Returns whether a text is a processor or generic target, `gfx942`, `gfx90a`, `gfx11-generic`,
/// without target features.
fn is_gfx(text: &str) -> bool {
    let hex = |s: &str| {
        s.bytes()
            .all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
    };
    let Some(digits) = text.strip_prefix("gfx") else {
        return false;
    };
    match digits.strip_suffix("-generic") {
        Some(family) => family.split('-').all(|part| !part.is_empty() && hex(part)),
        None => {
            (3..=4).contains(&digits.len()) && hex(digits) && digits.as_bytes()[0].is_ascii_digit()
        }
    }
}

/// Returns whether a text has this many lower-case hexadecimal digits.
fn is_hex(text: &str, length: usize) -> bool {
    text.len() == length
        && text
            .bytes()
            .all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
}

/// Returns whether a text is a date as in ISO 8601, `2026-11-21`; every month may have 31 days.
fn is_date(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let within = |text: &str, most: u32| {
        text.parse()
            .is_ok_and(|number: u32| (1..=most).contains(&number))
    };
    text.bytes().all(|b| b.is_ascii_digit() || b == b'-')
        && matches!(parts[..], [year, month, day]
            if year.len() == 4 && month.len() == 2 && day.len() == 2 && within(month, 12) && within(day, 31))
}

#[cfg(test)]
mod tests {
    use super::validate_tables;
    use crate::rows::CompatTables;

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
    fn shipped_tables_are_valid() {
        assert_eq!(validate_tables(&crate::shipped::tables()), []);
    }

    #[test]
    fn rows_have_a_source_and_a_date_and_are_unique() {
        check(
            |t| t.torch[0].origin.source = "rumour".into(),
            "torch 2.3: source `rumour` is not in the table of sources",
        );
        check(
            |t| t.libc[0].origin.checked = "2026-13-01".into(),
            "libc ubuntu 20.04: checked `2026-13-01` is not a date such as 2026-11-21",
        );
        check(
            |t| t.limits.push(t.limits[0].clone()),
            "limits jobs-per-matrix: the row is listed twice",
        );
    }

    #[test]
    fn presets_and_sonames_are_well_formed() {
        check(
            |t| t.presets[0].patterns.push("torch".into()),
            "presets rocm: patterns: `torch` is not a pattern of shared libraries such as libhip*.so*",
        );
        check(
            |t| t.presets[0].patterns.clear(),
            "presets rocm: patterns: the list is empty",
        );
        check(
            |t| t.sonames[0].rocm = "4.5".into(),
            "sonames libamdhip64.so.4: rocm: `4.5` is not a major version such as 6",
        );
    }

    #[test]
    fn torch_rows_list_own_patches_and_known_rocm_versions() {
        check(
            |t| t.torch[3].patches.push("2.5.9".into()),
            "torch 2.6: patches: `2.5.9` is not a release of torch 2.6",
        );
        check(
            |t| t.torch[3].rocm_index.push("6.2.9".into()),
            "torch 2.6: rocm-index: `6.2.9` is not in the rocm table",
        );
        check(
            |t| t.torch[3].rocm_index.push("6".into()),
            "torch 2.6: rocm-index: `6` is not a ROCm version such as 6.2 or 6.2.4",
        );
        check(
            |t| t.torch[3].rocm_index.push("6.1".into()),
            "torch 2.6: rocm-index: `6.1` is listed twice",
        );
        check(
            |t| t.torch[3].python.push("3.12.1".into()),
            "torch 2.6: python: `3.12.1` is not a Python version such as 3.12",
        );
        check(
            |t| t.torch[3].free_threaded.push("3.12".into()),
            "torch 2.6: free-threaded: `3.12` is not a free-threaded Python such as 3.13t",
        );
    }

    #[test]
    fn rows_of_a_recipe_table_have_the_same_columns() {
        let change = |t: &mut CompatTables| {
            let mut row = t.recipe_rows[0].clone();
            row.table = "preloads".into();
            row.columns = [("platform".to_owned(), vec!["linux".to_owned()])].into();
            t.recipe_rows.push(row);
        };
        check(
            change,
            "recipe-rows preloads linux: its columns differ from those of the first row of \
             `preloads`",
        );
    }

    #[test]
    fn families_and_gfx_targets_have_distinct_names() {
        check(
            |t| t.torch_gfx[0].gfx.push("gfx94X".into()),
            "torch-gfx 6.3: gfx: `gfx94X` is not a gfx target such as gfx942",
        );
        check(
            |t| t.families[0].family = "gfx942".into(),
            "families gfx942: the name is a gfx target",
        );
        check(
            |t| t.rocm_gfx[1].rocm.push("6.3".into()),
            "rocm-gfx 6.4 6.3: another row lists the targets of ROCm 6.3",
        );
    }

    #[test]
    fn package_versions_have_one_row_and_full_digests() {
        check(
            |t| t.packages[0].same.push("2.7.4".into()),
            "packages flash-attn 2.7.4: another row covers 2.7.4",
        );
        check(
            |t| {
                drop(
                    t.packages[0]
                        .sdist_sha256
                        .insert("2.6.3".into(), "abc".into()),
                );
            },
            "packages flash-attn 2.6.3: sdist-sha256: `abc` is not 64 hex digits",
        );
        check(
            |t| drop(t.packages[0].warnings.insert("triton".into(), "x".into())),
            "packages flash-attn 2.6.3: `triton` is not one of its backends",
        );
        check(
            |t| t.packages[3].commit = "0251105".into(),
            "packages flash-attn 2.8.4: it has neither a tag nor a commit of 40 hex digits",
        );
    }

    #[test]
    fn each_version_has_one_row_of_requirements() {
        check(
            |t| t.torch_requirements[0].versions = "3.1.0".into(),
            "torch-requirements triton 2.3.0: versions: `3.1.0` is not `==` or `~=` with a version",
        );
        check(
            |t| t.torch_requirements[0].torch.push("2.4.0".into()),
            "torch-requirements triton 2.4.0 2.4.1: another row covers torch 2.4.0",
        );
        check(
            |t| t.import_requirements[0].versions = "new".into(),
            "import-requirements flash-attn 2.7.4 triton triton: versions: `new` is not a specifier such as >=3.2",
        );
        check(
            |t| t.import_requirements[1].otherwise.clear(),
            "import-requirements flash-attn 2.8.3 triton triton: `versions` and `otherwise` must \
             be set together",
        );
    }

    #[test]
    fn each_torch_symbol_has_one_row_between_known_minors() {
        let check = |change: fn(&mut CompatTables), expect: &str| {
            let mut tables = crate::shipped::tables();
            change(&mut tables);
            let errors: Vec<String> = validate_tables(&tables)
                .iter()
                .map(|error| error.message.clone())
                .collect();
            assert_eq!(errors, [expect]);
        };
        check(
            |t| t.torch_abi[0].until = "2.99".into(),
            "`2.99` is not in the table torch-abi-read",
        );
        check(
            |t| (t.torch_abi[0].since, t.torch_abi[0].until) = ("2.3".into(), "2.2".into()),
            "until: `2.2` is before `2.3`",
        );
        check(
            |t| {
                (t.torch_abi[0].symbols, t.torch_abi[1].symbols) =
                    (vec!["_Z1fv".into()], vec!["_Z1fv".into()]);
            },
            "another row has `_Z1fv`",
        );
        check(
            |t| t.torch_abi[0].symbols.clear(),
            "symbols: a row has at least one symbol",
        );
        check(
            |t| t.torch_abi_read.swap(3, 4),
            "the previous row has a later minor",
        );
    }

    #[test]
    fn pools_have_existing_members_with_weights() {
        check(
            |t| t.runner_pools[0].members.clear(),
            "runner-pools rocm-scale: members: a pool has at least one member",
        );
        check(
            |t| t.runner_pools[0].members[1].runner = "rocm".into(),
            "runner-pools rocm-scale: members: `rocm` is not a known runner",
        );
        check(
            |t| t.runner_pools[0].members[1].runner = "rocm-aws".into(),
            "runner-pools rocm-scale: members: `rocm-aws` is listed twice",
        );
        check(
            |t| t.runner_pools[0].members[0].weight = 0,
            "runner-pools rocm-scale: members: `rocm-aws` has no weight",
        );
        check(
            |t| t.runner_pools[0].members[0].runner = "windows-2022".into(),
            "runner-pools rocm-scale: members: they have different operating systems",
        );
        check(
            |t| t.runner_pools[0].name = "mi300x".into(),
            "runner-pools mi300x: the name is already used by a runner",
        );
        check(
            |t| t.runner_pools.push(t.runner_pools[0].clone()),
            "runner-pools rocm-scale: the row is listed twice",
        );
    }

    #[test]
    fn labels_have_one_runner_and_actions_a_full_commit() {
        check(
            |t| t.runners[1].labels.push("ubuntu-22.04".into()),
            "runners ubuntu-24.04: `ubuntu-22.04` is also used by another runner",
        );
        check(
            |t| t.runners[3].os = "beos".into(),
            "runners windows-2022: os: `beos` is not linux or windows",
        );
        check(
            |t| t.runners[0].arch = "x86-64".into(),
            "runners ubuntu-22.04: arch: `x86-64` is not a word such as x86_64",
        );
        check(
            |t| t.actions[0].sha = "v7".into(),
            "actions actions/checkout: sha: `v7` is not a commit of 40 hex digits",
        );
        check(
            |t| t.images[0].digest = "sha256:12".into(),
            "images rocm/pytorch:rocm6.0_ubuntu22.04_py3.9_pytorch_2.0.1: digest: `sha256:12` is not `sha256:` with 64 hex digits",
        );
    }
}
