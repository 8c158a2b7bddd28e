//! Dependencies between the modules of the main crate: the table of `ARCHITECTURE.md`.
//!
//! Between crates the compiler enforces the boundaries.

use std::collections::BTreeSet;

use regex::Regex;

use crate::none;
use crate::sources::{self, SourceFile};

/// The lowest layer that may use a library, by the name that the main crate gives it. Layers below
/// 5 read no files.
const LIBRARIES: &[(u8, &str)] = &[
    (3, "archive"),
    (2, "bytes"),
    (3, "codeobj"),
    (3, "compat"),
    (0, "diagnostic"),
    (3, "elf"),
    (4, "host"),
    (2, "names"),
    (3, "wheel"),
    (1, "yaml"),
    (5, "audit"),
    (5, "fetch"),
    (5, "sys"),
];

/// Layer, module, and the modules of its own layer that it may use, besides all modules of lower
/// layers.
const LAYERS: &[(u8, &str, &[&str])] = &[
    (0, "codes", &[]),
    (2, "cmake", &[]),
    (2, "template", &[]),
    (3, "config", &["compat"]),
    (4, "doctor", &[]),
    (4, "finder", &["pick"]),
    (4, "index", &[]),
    (4, "matrix", &[]),
    (4, "pick", &["publish"]),
    (4, "plan", &["matrix"]),
    (4, "publish", &["index", "plan"]),
    (4, "recipe", &["matrix", "plan"]),
    (4, "render", &["matrix", "plan", "recipe"]),
    (4, "report", &["index", "plan", "publish"]),
    (4, "sdk", &[]),
    (4, "source", &[]),
    (5, "checkout", &[]),
    (5, "exec", &[]),
    (5, "github", &[]),
    (6, "cli", &[]),
];

/// Uses of modules that this one may not use, and modules without a layer.
fn layer_faults(file: &SourceFile) -> Vec<String> {
    let module = file.module();
    let Some(own) = module.first().filter(|_| file.path.starts_with("src/")) else {
        return Vec::new();
    };
    let Some((layer, _, beside)) = row(own) else {
        return vec![format!(
            "{}: `{own}` has no layer in tests/tidy/layers.rs",
            file.path
        )];
    };
    let is_free = |other: &str| {
        other == *own
            || beside.contains(&other)
            || row(other).is_some_and(|(lower, ..)| lower < layer)
            || LIBRARIES
                .iter()
                .any(|(lowest, name)| *name == other && lowest <= layer)
    };
    let used = used_modules(&file.code(), module.len());
    used.iter()
        .filter(|other| !is_free(other))
        .map(|other| format!("{}: {own} uses {other}", file.path))
        .collect()
}

fn row(module: &str) -> Option<&'static (u8, &'static str, &'static [&'static str])> {
    LAYERS.iter().find(|(_, name, _)| *name == module)
}

/// The modules that a text names by `crate::X`, `crate::{X, Y::…}`, or by as many `super::` as it
/// is deep.
fn used_modules(code: &str, depth: usize) -> BTreeSet<String> {
    let mut used = BTreeSet::new();
    for found in Regex::new(r"\bcrate::([a-z_]+)")
        .unwrap()
        .captures_iter(code)
    {
        used.insert(found[1].to_owned());
    }
    for found in Regex::new(r"((?:\bsuper::)+)([a-z_]+)")
        .unwrap()
        .captures_iter(code)
    {
        if found[1].matches("super::").count() >= depth {
            used.insert(found[2].to_owned());
        }
    }
    for (at, opener) in code.match_indices("crate::{") {
        used.extend(outer_names(&code[at + opener.len()..]));
    }
    // A library under its own name; the codes of all libraries are one table.
    for found in Regex::new(r"\brock_([a-z]+)::([A-Za-z]+)")
        .unwrap()
        .captures_iter(code)
    {
        if &found[2] != "codes" {
            used.insert(found[1].to_owned());
        }
    }
    // `$crate` in a macro and `crate::Item` of the root itself are no modules.
    used.remove("macros");
    used
}

/// The first word of each item of a braced list, up to its end.
fn outer_names(list: &str) -> Vec<String> {
    let (mut depth, mut names, mut word) = (0, Vec::new(), String::new());
    for letter in list.chars() {
        match letter {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' if depth == 0 => names.push(std::mem::take(&mut word)),
            _ if depth == 0 => word.push(letter),
            _ => {}
        }
    }
    names.push(word);
    let first = |name: String| {
        name.trim()
            .split("::")
            .next()
            .unwrap_or_default()
            .trim()
            .to_owned()
    };
    names
        .into_iter()
        .map(first)
        .filter(|name| !name.is_empty())
        .collect()
}

#[test]
fn modules_use_only_lower_layers_and_the_listed_neighbours() {
    none(
        "layers",
        &sources::rust()
            .iter()
            .flat_map(layer_faults)
            .collect::<Vec<_>>(),
    );
}

#[test]
fn every_layer_row_is_a_module() {
    let files = sources::rust();
    let modules: BTreeSet<&str> = files
        .iter()
        .filter(|file| file.path.starts_with("src/"))
        .filter_map(|file| file.module().first().copied())
        .collect();
    let rows: BTreeSet<&str> = LAYERS.iter().map(|(_, name, _)| *name).collect();
    assert_eq!(rows, modules);
}

#[test]
fn the_table_of_the_architecture_page_is_this_one() {
    let page = sources::all()
        .into_iter()
        .find(|file| file.path == "ARCHITECTURE.md")
        .expect("ARCHITECTURE.md");
    let told: BTreeSet<(u8, String)> = page
        .text
        .lines()
        .filter_map(|line| {
            let mut cells = line.strip_prefix('|')?.split('|');
            let layer: u8 = cells.next()?.trim().split(' ').next()?.parse().ok()?;
            Some((layer, cells.next()?.to_owned()))
        })
        .flat_map(|(layer, cell)| {
            let names = Regex::new(r"`([a-z_]+)`").unwrap();
            names
                .captures_iter(&cell)
                .map(|found| (layer, found[1].to_owned()))
                .collect::<Vec<_>>()
        })
        .collect();
    let ours: BTreeSet<(u8, String)> = LAYERS
        .iter()
        .map(|(layer, name, _)| (*layer, (*name).to_owned()))
        .collect();
    assert_eq!(told, ours);
}

#[test]
fn uses_of_higher_layers_are_caught_in_every_spelling() {
    let check = |path: &str, text: &str, expect: &[&str]| {
        assert_eq!(
            layer_faults(&SourceFile::planted(path, text)),
            expect,
            "{text}"
        );
    };
    check(
        "src/plan/json.rs",
        "use crate::sys::read_text;",
        &["src/plan/json.rs: plan uses sys"],
    );
    check(
        "src/plan/json.rs",
        "fn f() { crate::exec::run() }",
        &["src/plan/json.rs: plan uses exec"],
    );
    check(
        "src/plan/json.rs",
        "use crate::{names, cli::{Exit, run}};",
        &["src/plan/json.rs: plan uses cli"],
    );
    check(
        "src/plan/json.rs",
        "use super::super::recipe;",
        &["src/plan/json.rs: plan uses recipe"],
    );
    check(
        "src/plan/mod.rs",
        "use super::render;",
        &["src/plan/mod.rs: plan uses render"],
    );
    check(
        "src/matrix/gfx.rs",
        "use crate::plan::Job;",
        &["src/matrix/gfx.rs: matrix uses plan"],
    );
    check(
        "src/plan/json.rs",
        "use rock_sys::read_text;",
        &["src/plan/json.rs: plan uses sys"],
    );
    check(
        "src/newcomer/mod.rs",
        "",
        &["src/newcomer/mod.rs: `newcomer` has no layer in tests/tidy/layers.rs"],
    );
}

#[test]
fn lower_layers_listed_neighbours_and_tests_are_free() {
    let fine = "use crate::{diagnostic, names::Version};\nuse crate::matrix::expand;\nuse super::job;\n\
                // crate::cli in a comment\n#[cfg(test)]\nmod tests {\n    use crate::sys;\n}\n";
    assert_eq!(
        layer_faults(&SourceFile::planted("src/plan/json.rs", fine)),
        Vec::<String>::new()
    );
}
