//! What cannot be right in the tables: unknown sources, dates that are none, rows that stand twice,
//! versions, targets, digests and commits of the wrong form, words that point at no row.
//!
//! **Invariant:** every fault names its row; nothing is mended silently.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use crate::rows::{ActionRow, Origin, PackageRow, Tables};

mod builds;
mod family;
mod requirements;
mod run_time;
mod source;

/// A row that cannot be right.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The table's name in the files, `torch-gfx`.
    pub table: &'static str,
    /// The row's number in its table, from 0, over all files.
    pub row: usize,
    /// What the row is called, `6.2.4`.
    pub name: String,
    /// What is wrong with it, one line.
    pub message: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}: {}", self.table, self.name, self.message)
    }
}

/// The faults of one table.
struct Table<'a> {
    name: &'static str,
    sources: &'a BTreeMap<String, String>,
    seen: BTreeSet<String>,
    faults: &'a mut Vec<Fault>,
}

/// Where the faults of one row go.
struct Row<'a> {
    table: &'static str,
    number: usize,
    name: String,
    faults: &'a mut Vec<Fault>,
}

impl Table<'_> {
    /// Checks what every row has: a name of its own, a known source, a date.
    fn row(&mut self, number: usize, name: String, origin: &Origin) -> Row<'_> {
        let first = self.seen.insert(name.clone());
        let mut row = Row {
            table: self.name,
            number,
            name,
            faults: self.faults,
        };
        row.expect(first, || "the row stands twice".to_owned());
        row.expect(self.sources.contains_key(&origin.source), || {
            format!("source `{}` is not in the table of sources", origin.source)
        });
        row.expect(is_date(&origin.checked), || {
            format!(
                "checked `{}` is not a date such as 2026-11-21",
                origin.checked
            )
        });
        row
    }
}

impl Row<'_> {
    fn expect(&mut self, holds: bool, message: impl FnOnce() -> String) {
        if !holds {
            let fault = Fault {
                table: self.table,
                row: self.number,
                name: self.name.clone(),
                message: message(),
            };
            self.faults.push(fault);
        }
    }

    /// Every text has this form, and none stands twice.
    fn each(&mut self, column: &str, texts: &[String], form: &str, is: fn(&str) -> bool) {
        let mut seen = BTreeSet::new();
        for text in texts {
            self.expect(is(text), || format!("{column}: `{text}` is not {form}"));
            self.expect(seen.insert(text), || {
                format!("{column}: `{text}` stands twice")
            });
        }
    }

    fn rocm(&mut self, column: &str, versions: &[String], known: &BTreeSet<&str>) {
        self.each(
            column,
            versions,
            "a ROCm version such as 6.2 or 6.2.4",
            is_rocm,
        );
        for version in versions
            .iter()
            .filter(|version| is_rocm(version) && !known.contains(version.as_str()))
        {
            self.expect(false, || {
                format!("{column}: `{version}` is not in the rocm table")
            });
        }
    }

    fn gfx(&mut self, column: &str, targets: &[String]) {
        self.each(column, targets, "a gfx target such as gfx942", is_gfx);
    }
}

/// Everything that cannot be right, table by table.
pub fn find(tables: &Tables) -> Vec<Fault> {
    let mut faults = Vec::new();
    versions(tables, &mut faults);
    targets(tables, &mut faults);
    family::find(tables, &mut faults);
    packages(tables, &mut faults);
    requirements::find(tables, &mut faults);
    machines(tables, &mut faults);
    builds::find(tables, &mut faults);
    source::find(tables, &mut faults);
    torch_abi(tables, &mut faults);
    run_time::find(tables, &mut faults);
    recipe_rows(tables, &mut faults);
    faults
}

/// Rows of one table have the same columns.
fn recipe_rows(tables: &Tables, faults: &mut Vec<Fault>) {
    let mut columns: BTreeMap<&str, Vec<&String>> = BTreeMap::new();
    let mut rows = table("recipe-rows", tables, faults);
    for (number, of) in tables.recipe_rows.iter().enumerate() {
        let words: Vec<String> = of.columns.values().map(|values| values.join(",")).collect();
        let mut row = rows.row(
            number,
            format!("{} {}", of.table, words.join(" ")),
            &of.origin,
        );
        let own: Vec<&String> = of.columns.keys().collect();
        let first = columns.entry(&of.table).or_insert_with(|| own.clone());
        row.expect(*first == own, || {
            format!(
                "its columns are not those of the first row of `{}`",
                of.table
            )
        });
        row.expect(!own.is_empty(), || "it has no columns".to_owned());
    }
}

fn table<'a>(name: &'static str, tables: &'a Tables, faults: &'a mut Vec<Fault>) -> Table<'a> {
    Table {
        name,
        sources: &tables.sources,
        seen: BTreeSet::new(),
        faults,
    }
}

fn versions(tables: &Tables, faults: &mut Vec<Fault>) {
    let known: BTreeSet<&str> = tables.rocm.iter().map(|row| row.rocm.as_str()).collect();
    let mut torch = table("torch", tables, faults);
    for (number, of) in tables.torch.iter().enumerate() {
        let mut row = torch.row(number, of.torch.clone(), &of.origin);
        row.expect(is_numbers(&of.torch, 2..=2), || {
            "a row is named by major and minor, such as 2.6".to_owned()
        });
        row.each("patches", &of.patches, "a version", is_version);
        for patch in of
            .patches
            .iter()
            .filter(|patch| !patch.starts_with(&format!("{}.", of.torch)))
        {
            row.expect(false, || {
                format!("patches: `{patch}` is not of torch {}", of.torch)
            });
        }
        row.rocm("rocm-index", &of.rocm_index, &known);
        row.each(
            "python",
            &of.python,
            "a Python version such as 3.12",
            |text| is_numbers(text, 2..=2),
        );
        row.each(
            "free-threaded",
            &of.free_threaded,
            "a free-threaded Python such as 3.13t",
            |text| {
                text.strip_suffix('t')
                    .is_some_and(|plain| is_numbers(plain, 2..=2))
            },
        );
    }
    let mut rocm = table("rocm", tables, faults);
    for (number, of) in tables.rocm.iter().enumerate() {
        let mut row = rocm.row(number, of.rocm.clone(), &of.origin);
        row.expect(is_rocm(&of.rocm), || {
            "it is not a ROCm version such as 6.2 or 6.2.4".to_owned()
        });
        row.expect(of.hip.is_empty() || is_numbers(&of.hip, 2..=4), || {
            format!("hip: `{}` is no version", of.hip)
        });
    }
    let mut hip = table("hip", tables, faults);
    for (number, of) in tables.hip.iter().enumerate() {
        let mut row = hip.row(number, of.rocm.clone(), &of.origin);
        row.expect(is_numbers(&of.rocm, 2..=2), || {
            "a row is named by major and minor, such as 10.0".to_owned()
        });
        row.expect(is_numbers(&of.hip, 2..=2), || {
            format!("hip: `{}` is not major and minor", of.hip)
        });
        row.rocm("rocm", std::slice::from_ref(&of.rocm), &known);
    }
    let mut builders = table("builders", tables, faults);
    for (number, of) in tables.builders.iter().enumerate() {
        let mut row = builders.row(number, of.image.clone(), &of.origin);
        row.expect(of.image.contains("{rocm}"), || {
            "image: `{rocm}` must stand where the version goes".to_owned()
        });
        row.rocm("rocm", &of.rocm, &known);
    }
    let mut images = table("images", tables, faults);
    for (number, of) in tables.images.iter().enumerate() {
        let mut row = images.row(number, format!("{}:{}", of.repository, of.tag), &of.origin);
        let digest = of.digest.strip_prefix("sha256:").unwrap_or("-");
        row.expect(of.digest.is_empty() || is_hex(digest, 64), || {
            format!(
                "digest: `{}` is not `sha256:` with 64 hex digits",
                of.digest
            )
        });
    }
}

fn targets(tables: &Tables, faults: &mut Vec<Fault>) {
    let known: BTreeSet<&str> = tables.rocm.iter().map(|row| row.rocm.as_str()).collect();
    for (name, rows) in [
        ("torch-gfx", &tables.torch_gfx),
        ("rocm-gfx", &tables.rocm_gfx),
    ] {
        let mut lists = table(name, tables, faults);
        let mut versions = BTreeSet::new();
        for (number, of) in rows.iter().enumerate() {
            let mut row = lists.row(number, of.rocm.join(" "), &of.origin);
            row.rocm("rocm", &of.rocm, &known);
            for version in &of.rocm {
                row.expect(versions.insert(version), || {
                    format!("another row has the targets of ROCm {version}")
                });
            }
            row.gfx("gfx", &of.gfx);
        }
    }
    let mut since = table("gfx-since", tables, faults);
    for (number, of) in tables.gfx_since.iter().enumerate() {
        let mut row = since.row(number, of.gfx.clone(), &of.origin);
        row.gfx("gfx", std::slice::from_ref(&of.gfx));
        row.rocm("rocm", std::slice::from_ref(&of.rocm), &known);
    }
    let mut families = table("families", tables, faults);
    for (number, of) in tables.families.iter().enumerate() {
        let mut row = families.row(number, of.family.clone(), &of.origin);
        row.expect(!is_gfx(&of.family), || {
            "the name is that of a gfx target".to_owned()
        });
        row.expect(!of.members.is_empty(), || {
            "members: a family has at least one".to_owned()
        });
        row.gfx("members", &of.members);
    }
}

fn packages(tables: &Tables, faults: &mut Vec<Fault>) {
    let mut packages = table("packages", tables, faults);
    let (mut versions, mut families) = (BTreeSet::new(), BTreeSet::new());
    for (number, of) in tables.packages.iter().enumerate() {
        let mut row = packages.row(number, format!("{} {}", of.package, of.version), &of.origin);
        for version in std::iter::once(&of.version).chain(&of.same) {
            row.expect(is_version(version), || {
                format!("`{version}` is not a version")
            });
            row.expect(versions.insert((&of.package, version)), || {
                format!("another row answers for {version}")
            });
        }
        for family in &of.commit_families {
            row.expect(families.insert((&of.package, family)), || {
                format!("another row answers for {family}:")
            });
        }
        package(of, &mut row);
    }
    let mut absent = table("absent-families", tables, faults);
    for (number, of) in tables.absent_families.iter().enumerate() {
        let mut row = absent.row(number, format!("{} {}", of.package, of.family), &of.origin);
        let has_a_row = families.contains(&(&of.package, &of.family));
        row.expect(!has_a_row, || {
            format!("a row of packages answers for {}:", of.family)
        });
    }
}

fn package(of: &PackageRow, row: &mut Row<'_>) {
    let name = of.package.as_str();
    let normalized = !name.is_empty()
        && name
            .bytes()
            .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-');
    row.expect(normalized, || {
        "package: write the normalized name, such as flash-attn".to_owned()
    });
    row.expect(!of.tag.is_empty() || is_hex(&of.commit, 40), || {
        "it has neither a tag nor a commit of 40 hex digits".to_owned()
    });
    row.expect(is_numbers(&of.python_min, 2..=2), || {
        format!("python-min: `{}` is no Python version", of.python_min)
    });
    row.each("backends", &of.backends, "a word", |text| !text.is_empty());
    row.each("env", &of.env, "a variable's name", |text| {
        text.bytes()
            .all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_')
    });
    for backend in of
        .gfx
        .keys()
        .chain(of.warnings.keys())
        .filter(|backend| !of.backends.contains(backend))
    {
        row.expect(false, || format!("`{backend}` is not one of its backends"));
    }
    for list in of.gfx.values() {
        row.gfx("gfx", list);
    }
    for count in of.objects.keys() {
        row.expect(count.parse::<u32>().is_ok(), || {
            format!("objects: `{count}` is no number of targets")
        });
    }
    for (version, digest) in &of.sdist_sha256 {
        row.expect(is_hex(digest, 64), || {
            format!("sdist-sha256: `{digest}` is not 64 hex digits")
        });
        let its_own = *version == of.version || of.same.contains(version);
        row.expect(its_own, || {
            format!("sdist-sha256: {version} is none of the row's versions")
        });
    }
}

fn machines(tables: &Tables, faults: &mut Vec<Fault>) {
    let mut runners = table("runners", tables, faults);
    let mut words = BTreeSet::new();
    for (number, of) in tables.runners.iter().enumerate() {
        let mut row = runners.row(number, of.name.clone(), &of.origin);
        row.expect(!of.labels.is_empty(), || {
            "labels: a runner has at least one".to_owned()
        });
        row.expect(
            ["hosted", "self-hosted", "arc"].contains(&of.kind.as_str()),
            || format!("kind: `{}` is not hosted, self-hosted or arc", of.kind),
        );
        row.expect(["linux", "windows"].contains(&of.os.as_str()), || {
            format!("os: `{}` is not linux or windows", of.os)
        });
        // It stands in names of jobs and artifacts.
        let is_word = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_';
        row.expect(!of.arch.is_empty() && of.arch.bytes().all(is_word), || {
            format!("arch: `{}` is not a word such as x86_64", of.arch)
        });
        row.gfx("gpu", &of.gpu);
        let aliases = of.aliases.iter().map(|alias| &alias.label);
        let own: BTreeSet<&String> = std::iter::once(&of.name)
            .chain(&of.labels)
            .chain(aliases)
            .collect();
        for word in own {
            row.expect(words.insert(word), || {
                format!("`{word}` names another runner too")
            });
        }
    }
    let mut pools = table("runner-pools", tables, faults);
    for (number, of) in tables.runner_pools.iter().enumerate() {
        let mut row = pools.row(number, of.name.clone(), &of.origin);
        row.expect(!words.contains(&of.name), || {
            "the name is that of a runner".to_owned()
        });
        row.expect(!of.members.is_empty(), || {
            "members: a pool has at least one".to_owned()
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
        row.expect(systems.len() <= 1, || {
            "members: they are of several systems".to_owned()
        });
        let mut seen = BTreeSet::new();
        for member in &of.members {
            row.expect(system(&member.runner).is_some(), || {
                format!("members: no runner is called `{}`", member.runner)
            });
            row.expect(seen.insert(&member.runner), || {
                format!("members: `{}` stands twice", member.runner)
            });
            row.expect(member.weight > 0, || {
                format!("members: `{}` has no weight", member.runner)
            });
        }
    }
    let mut actions = table("actions", tables, faults);
    for (number, of) in tables.actions.iter().enumerate() {
        let mut row = actions.row(number, of.name.clone(), &of.origin);
        row.expect(is_hex(&of.sha, 40), || {
            format!("sha: `{}` is not a commit of 40 hex digits", of.sha)
        });
        row.expect(of.name.contains('/'), || {
            "name: write OWNER/REPOSITORY".to_owned()
        });
        row.expect(ActionRow::may_run_on(&of.runtime), || {
            format!(
                "runtime: `{}` is neither composite nor node24 or later",
                of.runtime
            )
        });
    }
    let mut libc = table("libc", tables, faults);
    for (number, of) in tables.libc.iter().enumerate() {
        libc.row(number, of.host.clone(), &of.origin);
    }
}

fn torch_abi(tables: &Tables, faults: &mut Vec<Fault>) {
    let minor = |text: &str| -> Option<Vec<u32>> {
        text.split('.')
            .map(|part| part.parse().ok())
            .collect::<Option<_>>()
            .filter(|_| is_numbers(text, 2..=2))
    };
    let mut read = table("torch-abi-read", tables, faults);
    for (number, of) in tables.torch_abi_read.iter().enumerate() {
        let mut row = read.row(number, of.torch.clone(), &of.origin);
        row.expect(minor(&of.torch).is_some(), || {
            "a row is named by major and minor, such as 2.6".to_owned()
        });
        let follows =
            number == 0 || minor(&tables.torch_abi_read[number - 1].torch) < minor(&of.torch);
        row.expect(follows, || {
            "the row before it is of a later minor".to_owned()
        });
        row.expect(!of.wheels.is_empty(), || {
            "wheels: a minor was read from at least one".to_owned()
        });
    }
    let known: Vec<&str> = tables
        .torch_abi_read
        .iter()
        .map(|row| row.torch.as_str())
        .collect();
    let at = |text: &str| known.iter().position(|minor| *minor == text);
    let mut symbols = BTreeSet::new();
    let mut abi = table("torch-abi", tables, faults);
    for (number, of) in tables.torch_abi.iter().enumerate() {
        let name = format!("{} {} {}", of.library, of.since, of.until)
            .trim_end()
            .to_owned();
        let mut row = abi.row(number, name, &of.origin);
        for minor in [&of.since, &of.until]
            .into_iter()
            .filter(|minor| !minor.is_empty() && at(minor).is_none())
        {
            row.expect(false, || {
                format!("`{minor}` is not in the table torch-abi-read")
            });
        }
        row.expect(!of.since.is_empty(), || {
            "since: a row has a first minor".to_owned()
        });
        let ends = at(&of.since)
            .zip(at(&of.until))
            .is_none_or(|(since, until)| since <= until);
        row.expect(ends, || {
            format!("until: `{}` is before `{}`", of.until, of.since)
        });
        row.expect(!of.symbols.is_empty(), || {
            "symbols: a row has at least one".to_owned()
        });
        for symbol in &of.symbols {
            row.expect(symbols.insert(symbol), || {
                format!("another row has `{symbol}`")
            });
        }
    }
}

/// Numbers with dots, without leading zeros, so many of them.
fn is_numbers(text: &str, count: std::ops::RangeInclusive<usize>) -> bool {
    let number = |part: &str| {
        !part.is_empty()
            && part.bytes().all(|b| b.is_ascii_digit())
            && (part.len() == 1 || !part.starts_with('0'))
    };
    count.contains(&text.split('.').count()) && text.split('.').all(number)
}

fn is_rocm(text: &str) -> bool {
    is_numbers(text, 2..=4)
}

/// Near enough to PEP 440 to catch a slip: begins with a digit, letters and digits in dotted parts.
fn is_version(text: &str) -> bool {
    let part = |part: &str| {
        !part.is_empty()
            && part
                .bytes()
                .all(|b| b.is_ascii_digit() || b.is_ascii_lowercase())
    };
    text.starts_with(|c: char| c.is_ascii_digit()) && text.split('.').all(part)
}

/// `gfx942`, `gfx90a`, `gfx11-generic`: no family and no features.
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

fn is_hex(text: &str, length: usize) -> bool {
    text.len() == length
        && text
            .bytes()
            .all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
}

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
    use super::find;
    use crate::rows::Tables;

    /// One change of the shipped tables gives one fault with this text.
    fn check(change: impl FnOnce(&mut Tables), expect: &str) {
        let mut tables = crate::shipped::tables();
        change(&mut tables);
        let faults: Vec<String> = find(&tables).iter().map(ToString::to_string).collect();
        assert_eq!(faults, [expect]);
    }

    #[test]
    fn the_shipped_tables_have_no_fault() {
        assert_eq!(find(&crate::shipped::tables()), []);
    }

    #[test]
    fn a_row_names_a_known_source_and_a_day_that_exists_and_stands_once() {
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
            "limits jobs-per-matrix: the row stands twice",
        );
    }

    #[test]
    fn a_preset_has_patterns_of_libraries_and_a_soname_its_major_version() {
        check(
            |t| t.presets[0].patterns.push("torch".into()),
            "presets rocm: patterns: `torch` is not a pattern of shared libraries such as libhip*.so*",
        );
        check(
            |t| t.presets[0].patterns.clear(),
            "presets rocm: patterns: there is none",
        );
        check(
            |t| t.sonames[0].rocm = "4.5".into(),
            "sonames libamdhip64.so.4: rocm: `4.5` is not a major version such as 6",
        );
    }

    #[test]
    fn a_torch_row_names_its_own_patches_and_rocm_versions_that_exist() {
        check(
            |t| t.torch[3].patches.push("2.5.9".into()),
            "torch 2.6: patches: `2.5.9` is not of torch 2.6",
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
            "torch 2.6: rocm-index: `6.1` stands twice",
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
    fn rows_of_a_recipes_table_have_the_same_columns() {
        let change = |t: &mut Tables| {
            let mut row = t.recipe_rows[0].clone();
            row.table = "preloads".into();
            row.columns = [("platform".to_owned(), vec!["linux".to_owned()])].into();
            t.recipe_rows.push(row);
        };
        check(
            change,
            "recipe-rows preloads linux: its columns are not those of the first row of `preloads`",
        );
    }

    #[test]
    fn a_family_is_no_target_and_a_target_no_family() {
        check(
            |t| t.torch_gfx[0].gfx.push("gfx94X".into()),
            "torch-gfx 6.3: gfx: `gfx94X` is not a gfx target such as gfx942",
        );
        check(
            |t| t.families[0].family = "gfx942".into(),
            "families gfx942: the name is that of a gfx target",
        );
        check(
            |t| t.rocm_gfx[1].rocm.push("6.3".into()),
            "rocm-gfx 10.1 6.3: another row has the targets of ROCm 6.3",
        );
    }

    #[test]
    fn a_package_version_has_one_row_and_whole_digests() {
        check(
            |t| t.packages[0].same.push("2.7.4".into()),
            "packages flash-attn 2.7.4: another row answers for 2.7.4",
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
    fn a_version_has_one_row_of_requirements_with_specifiers_that_parse() {
        check(
            |t| t.torch_requirements[0].versions = "3.1.0".into(),
            "torch-requirements triton 2.3.0: versions: `3.1.0` is not `==` or `~=` with a version",
        );
        check(
            |t| t.torch_requirements[0].torch.push("2.4.0".into()),
            "torch-requirements triton 2.4.0 2.4.1: another row answers for torch 2.4.0",
        );
        check(
            |t| t.import_requirements[0].versions = "new".into(),
            "import-requirements flash-attn 2.7.4 triton triton: versions: `new` is not a specifier such as >=3.2",
        );
        check(
            |t| t.import_requirements[1].otherwise.clear(),
            "import-requirements flash-attn 2.8.3 triton triton: `versions` and `otherwise` go together",
        );
    }

    #[test]
    fn a_symbol_of_torch_stands_in_one_row_between_minors_that_were_read() {
        let check = |change: fn(&mut Tables), expect: &str| {
            let mut tables = crate::shipped::tables();
            change(&mut tables);
            let faults: Vec<String> = find(&tables)
                .iter()
                .map(|fault| fault.message.clone())
                .collect();
            assert_eq!(faults, [expect]);
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
            "symbols: a row has at least one",
        );
        check(
            |t| t.torch_abi_read.swap(3, 4),
            "the row before it is of a later minor",
        );
    }

    /// 6.38
    #[test]
    fn a_pool_has_members_that_exist_each_once_with_a_weight() {
        check(
            |t| t.runner_pools[0].members.clear(),
            "runner-pools rocm-scale: members: a pool has at least one",
        );
        check(
            |t| t.runner_pools[0].members[1].runner = "rocm".into(),
            "runner-pools rocm-scale: members: no runner is called `rocm`",
        );
        check(
            |t| t.runner_pools[0].members[1].runner = "rocm-aws".into(),
            "runner-pools rocm-scale: members: `rocm-aws` stands twice",
        );
        check(
            |t| t.runner_pools[0].members[0].weight = 0,
            "runner-pools rocm-scale: members: `rocm-aws` has no weight",
        );
        check(
            |t| t.runner_pools[0].members[0].runner = "windows-2022".into(),
            "runner-pools rocm-scale: members: they are of several systems",
        );
        check(
            |t| t.runner_pools[0].name = "mi300x".into(),
            "runner-pools mi300x: the name is that of a runner",
        );
        check(
            |t| t.runner_pools.push(t.runner_pools[0].clone()),
            "runner-pools rocm-scale: the row stands twice",
        );
    }

    #[test]
    fn a_word_means_one_runner_and_an_action_is_pinned_whole() {
        check(
            |t| t.runners[1].labels.push("ubuntu-22.04".into()),
            "runners ubuntu-24.04: `ubuntu-22.04` names another runner too",
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
