//! Renders all pages of a repository.

use std::collections::BTreeMap;

use rayon::prelude::*;
use rustc_hash::{FxBuildHasher, FxHashSet};

use super::{
    FileLinks, IndexFile, NormalizedFile, RuntimeRequirementsLookup, html, json, landing, sorted,
};
use rock_bytes::start_threads;
use rock_compat::Compat;
use rock_template::TemplateError;

/// A static simple repository.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SimpleRepository {
    /// Pages by path relative to the root of the index, such as
    /// `rocm6.2-torch2.5/flash-attn/index.html`.
    pub pages: BTreeMap<String, Vec<u8>>,
    /// Files that belong next to the wheels, by name: `<wheel>.metadata`.
    pub metadata: BTreeMap<String, Vec<u8>>,
}

/// The error for files that cannot be indexed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IndexError {
    /// Two files have the same name up to the case of letters.
    #[error("two files have the same name, `{0}`")]
    SameName(String),
    /// A page could not be rendered.
    #[error("page template {}: {}", .0.name, .0.reason)]
    Template(#[from] TemplateError),
}

/// Renders every page. `run_time` returns the needs of wheels at run time that the files do not
/// state.
///
/// # Errors
/// If two files have the same name up to the case of letters, or a page cannot be rendered.
pub fn repository(
    files: &[&IndexFile],
    links: &FileLinks,
    compat: &Compat,
    run_time: RuntimeRequirementsLookup,
) -> Result<SimpleRepository, IndexError> {
    let mut names = FxHashSet::with_capacity_and_hasher(files.len(), FxBuildHasher);
    if let Some(twice) = files.iter().find(|file| !names.insert(file.folded_name())) {
        return Err(IndexError::SameName(twice.name.clone()));
    }
    let named = sorted(files);
    let folders: Vec<&[NormalizedFile<'_>]> = named
        .chunk_by(|(_, a), (_, b)| a.folder == b.folder)
        .collect();
    let pages = || {
        folders
            .par_iter()
            .flat_map(|files| folder(files, links))
            .collect()
    };
    start_threads();
    let (landing, pages) = rayon::join(|| landing::page(&named, compat, run_time), pages);
    let mut made = SimpleRepository {
        pages,
        ..SimpleRepository::default()
    };
    made.pages
        .insert("index.html".to_owned(), landing?.into_bytes());
    for file in files {
        if let Some(bytes) = file
            .metadata
            .as_ref()
            .and_then(|metadata| metadata.bytes.as_ref())
        {
            made.metadata
                .insert(format!("{}.metadata", file.name), bytes.clone());
        }
    }
    Ok(made)
}

/// Returns the pages of a directory of the index, by path.
fn folder(files: &[NormalizedFile<'_>], links: &FileLinks) -> Vec<(String, Vec<u8>)> {
    /// The depth of a project page below the root of the index.
    const DEPTH: usize = 2;
    let folder = files[0].1.folder.to_string();
    let projects: Vec<&[NormalizedFile<'_>]> = files.chunk_by(|(a, _), (b, _)| a == b).collect();
    let names = || projects.iter().map(|files| files[0].0.as_str());
    let mut pages = vec![
        (format!("{folder}/index.html"), html::root(&folder, names())),
        (format!("{folder}/index.json"), json::root(names())),
    ];
    for files in &projects {
        let name = &files[0].0;
        let linked: Vec<(&IndexFile, String)> = files
            .iter()
            .map(|(_, file)| (*file, file.link(links, DEPTH)))
            .collect();
        pages.push((
            format!("{folder}/{name}/index.html"),
            html::project(&format!("{name} in {folder}"), &linked),
        ));
        pages.push((
            format!("{folder}/{name}/index.json"),
            json::project(name, &linked),
        ));
    }
    pages
}

#[cfg(test)]
mod tests {
    use super::{IndexError, SimpleRepository, repository};
    use crate::testing::file;
    use crate::{FileLinks, IndexFile, YankStatus};
    use rock_compat::{Compat, RuntimeRequirements};

    fn some() -> Vec<IndexFile> {
        vec![
            file(
                "flash_attn-2.8.3+rocm62torch2.5-cp310-cp310-linux_x86_64.whl",
                "6.2",
                "2.5.1",
            ),
            file(
                "flash_attn-2.8.3+rocm62torch2.5-cp39-cp39-linux_x86_64.whl",
                "6.2",
                "2.5.1",
            ),
            file(
                "flash_attn-2.7.4+rocm62torch2.5-cp310-cp310-linux_x86_64.whl",
                "6.2",
                "2.5.1",
            ),
            file(
                "flash_attn-2.8.3+rocm72torch2.9-cp310-cp310-linux_x86_64.whl",
                "7.2",
                "2.9",
            ),
            file(
                "flash_attn-2.8.3+rocm72torch2.10triton-py3-none-any.whl",
                "7.2",
                "2.10",
            ),
            file(
                "rmx_vecadd-0.1.0+rocm52-cp311-cp311-linux_x86_64.whl",
                "5.2",
                "",
            ),
            file("plain-1.0-py3-none-any.whl", "", ""),
        ]
    }

    fn links() -> FileLinks {
        FileLinks::Relative(vec!["..".to_owned()])
    }

    fn made(files: &[IndexFile]) -> Result<SimpleRepository, IndexError> {
        repository(
            &files.iter().collect::<Vec<_>>(),
            &links(),
            &Compat::embedded(),
            |_, _| RuntimeRequirements::default(),
        )
    }

    fn text(bytes: &[u8]) -> &str {
        std::str::from_utf8(bytes).unwrap()
    }

    #[test]
    fn no_page_mixes_two_torch_versions() {
        let made = made(&some()).unwrap();
        let pages: Vec<&str> = made
            .pages
            .keys()
            .map(String::as_str)
            .filter(|p| p.ends_with("index.html"))
            .collect();
        insta::assert_snapshot!(pages.join("\n"), @r"
        any/index.html
        any/plain/index.html
        index.html
        rocm5.2/index.html
        rocm5.2/rmx-vecadd/index.html
        rocm6.2-torch2.5/flash-attn/index.html
        rocm6.2-torch2.5/index.html
        rocm7.2-torch2.10/flash-attn/index.html
        rocm7.2-torch2.10/index.html
        rocm7.2-torch2.9/flash-attn/index.html
        rocm7.2-torch2.9/index.html
        ");
        for (page, bytes) in &made.pages {
            let labels = ["torch2.5", "torch2.9", "torch2.10"]
                .iter()
                .filter(|l| text(bytes).contains(*l))
                .count();
            assert!(labels <= 1 || page == "index.html", "{page}");
        }
    }

    #[test]
    fn a_project_page_gives_address_hash_python_and_metadata() {
        let made = made(&some()).unwrap();
        insta::assert_snapshot!(text(&made.pages["rocm7.2-torch2.10/flash-attn/index.html"]), @r#"
        <!DOCTYPE html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="pypi:repository-version" content="1.0">
        <meta name="generator" content="rock-matrix index">
        <meta name="viewport" content="width=device-width">
        <style>a { overflow-wrap: anywhere; }</style>
        <title>flash-attn in rocm7.2-torch2.10</title>
        </head>
        <body>
        <a href="../../../flash_attn-2.8.3%2Brocm72torch2.10triton-py3-none-any.whl#sha256=abababababababababababababababababababababababababababababababab" data-requires-python="&gt;=3.9,&lt;4" data-core-metadata="sha256=cdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcd" data-dist-info-metadata="sha256=cdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcd">flash_attn-2.8.3+rocm72torch2.10triton-py3-none-any.whl</a><br>
        </body>
        </html>
        "#);
        insta::assert_snapshot!(text(&made.pages["rocm7.2-torch2.10/flash-attn/index.json"]), @r#"
        {
          "meta": {
            "api-version": "1.1"
          },
          "name": "flash-attn",
          "versions": [
            "2.8.3+rocm72torch2.10triton"
          ],
          "files": [
            {
              "filename": "flash_attn-2.8.3+rocm72torch2.10triton-py3-none-any.whl",
              "url": "../../../flash_attn-2.8.3%2Brocm72torch2.10triton-py3-none-any.whl",
              "hashes": {
                "sha256": "abababababababababababababababababababababababababababababababab"
              },
              "requires-python": ">=3.9,<4",
              "size": 1234,
              "core-metadata": {
                "sha256": "cdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcd"
              }
            }
          ]
        }
        "#);
        insta::assert_snapshot!(text(&made.pages["rocm7.2-torch2.10/index.html"]), @r#"
        <!DOCTYPE html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="pypi:repository-version" content="1.0">
        <meta name="generator" content="rock-matrix index">
        <meta name="viewport" content="width=device-width">
        <style>a { overflow-wrap: anywhere; }</style>
        <title>rocm7.2-torch2.10</title>
        </head>
        <body>
        <a href="flash-attn/">flash-attn</a><br>
        </body>
        </html>
        "#);
        assert_eq!(made.metadata.len(), 7);
    }

    #[test]
    fn files_stand_by_version_and_python_and_not_by_text() {
        let made = made(&some()).unwrap();
        let page = text(&made.pages["rocm6.2-torch2.5/flash-attn/index.html"]);
        let at = |part: &str| page.find(part).unwrap();
        assert!(
            at("2.7.4%2B") < at("2.8.3%2Brocm62torch2.5-cp39")
                && at("-cp39-") < at("2.8.3%2Brocm62torch2.5-cp310")
        );
    }

    #[test]
    fn equal_files_give_equal_bytes_in_whatever_order_they_come() {
        let expected = made(&some()).unwrap();
        for turn in 0..7 {
            let mut files = some();
            files.rotate_left(turn);
            files.swap(0, 3);
            assert_eq!(made(&files).unwrap(), expected);
        }
    }

    #[test]
    fn no_text_of_a_wheel_becomes_markup() {
        let evil = "<script>alert(1)</script>\" onclick='x' &";
        let mut file = file("x-1+rocm62torch2.5-py3-none-any.whl", "6.2", "2.5");
        file.requires_python = Some(evil.to_owned());
        file.requires = vec![evil.to_owned()];
        file.yanked = YankStatus::Because(evil.to_owned());
        let made = made(&[file]).unwrap();
        for (page, bytes) in made.pages.iter().filter(|(page, _)| page.ends_with("html")) {
            assert!(
                !text(bytes).contains("alert(1)</") && !text(bytes).contains("onclick='"),
                "{page}"
            );
        }
    }

    #[test]
    fn names_that_differ_in_case_alone_are_refused() {
        let mut files = vec![some().remove(0), some().remove(0)];
        files[1].name = files[1].name.to_uppercase();
        assert!(matches!(made(&files), Err(IndexError::SameName(_))));
    }

    #[test]
    fn an_index_of_nothing_is_a_landing_page() {
        assert_eq!(made(&[]).unwrap().pages.len(), 1);
    }
}
