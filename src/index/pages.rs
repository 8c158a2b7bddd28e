//! All pages of a repository.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::escape::Html;
use super::{Folder, IndexFile, Links, Yanked, json, landing, sort};
use crate::template::{TemplateError, render};

/// A static simple repository.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Repository {
    /// Pages by path relative to the root of the index, `rocm6.2-torch2.5/flash-attn/index.html`.
    pub pages: BTreeMap<String, Vec<u8>>,
    /// Files that belong beside the wheels, by name: `<wheel>.metadata`.
    pub metadata: BTreeMap<String, Vec<u8>>,
}

/// Files of which no index can be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IndexError {
    /// Two files have one name, or names that differ only in case.
    #[error("two files have the name `{0}`")]
    SameName(String),
    /// A page could not be rendered.
    #[error("page template {}: {}", .0.name, .0.reason)]
    Template(#[from] TemplateError),
}

#[derive(Serialize)]
struct RootPage {
    generator: Html,
    title: Html,
    projects: Vec<Html>,
}

#[derive(Serialize)]
struct ProjectPage {
    generator: Html,
    title: Html,
    files: Vec<FileView>,
}

#[derive(Serialize)]
struct FileView {
    name: Html,
    href: Html,
    sha256: String,
    requires_python: Option<Html>,
    metadata: Option<String>,
    yanked: Option<Html>,
}

/// Makes every page.
///
/// # Errors
/// When two files have one name.
pub fn repository(mut files: Vec<IndexFile>, links: &Links) -> Result<Repository, IndexError> {
    sort(&mut files);
    let mut names = BTreeSet::new();
    if let Some(twice) = files.iter().find(|file| !names.insert(file.name.to_lowercase())) {
        return Err(IndexError::SameName(twice.name.clone()));
    }
    let mut made = Repository::default();
    made.pages.insert("index.html".to_owned(), landing::page(&files)?.into_bytes());
    for folder in files.chunk_by(|a, b| a.folder == b.folder) {
        add_folder(folder, links, &mut made.pages)?;
    }
    for file in files {
        if let Some(bytes) = file.metadata.and_then(|metadata| metadata.bytes) {
            made.metadata.insert(format!("{}.metadata", file.name), bytes);
        }
    }
    Ok(made)
}

fn add_folder(files: &[IndexFile], links: &Links, pages: &mut BTreeMap<String, Vec<u8>>) -> Result<(), IndexError> {
    let folder: &Folder = &files[0].folder;
    let mut projects: BTreeMap<String, Vec<&IndexFile>> = BTreeMap::new();
    for file in files {
        projects.entry(file.project.normalized()).or_default().push(file);
    }
    let root = RootPage {
        generator: Html::of(landing::GENERATOR),
        title: Html::of(&folder.to_string()),
        projects: projects.keys().map(|name| Html::of(name)).collect(),
    };
    let text = render("root.html", include_str!("../../templates/pages/root.html"), &root)?;
    pages.insert(format!("{folder}/index.html"), text.into_bytes());
    pages.insert(format!("{folder}/index.json"), json::root(projects.keys().map(String::as_str)));
    for (name, files) in &projects {
        let depth = 2;
        let page = ProjectPage {
            generator: Html::of(landing::GENERATOR),
            title: Html::of(&format!("{name} in {folder}")),
            files: files.iter().map(|file| view(file, links, depth)).collect(),
        };
        let text = render("project.html", include_str!("../../templates/pages/project.html"), &page)?;
        pages.insert(format!("{folder}/{name}/index.html"), text.into_bytes());
        pages.insert(format!("{folder}/{name}/index.json"), json::project(name, files, links, depth));
    }
    Ok(())
}

fn view(file: &IndexFile, links: &Links, depth: usize) -> FileView {
    FileView {
        name: Html::of(&file.name),
        href: Html::of(&links.link(depth, &file.name)),
        sha256: file.digest.to_hex(),
        requires_python: file.requires_python.as_deref().map(Html::of),
        metadata: file.metadata.as_ref().map(|metadata| metadata.digest.to_hex()),
        yanked: match &file.yanked {
            Yanked::No => None,
            Yanked::Because(reason) => Some(Html::of(reason)),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::{IndexError, repository};
    use crate::index::{CoreMetadata, FileKind, Folder, IndexFile, Links, Yanked};
    use crate::names::{Accelerator, Digest, LabelParts, WheelName};

    fn file(name: &str, rocm: &str, torch: &str) -> IndexFile {
        let wheel: WheelName = name.parse().unwrap();
        let label = (!rocm.is_empty()).then(|| LabelParts {
            accelerator: Accelerator::Rocm(rocm.parse().unwrap()),
            torch: torch.parse().ok(),
            git: None,
            backend: None,
            cxx11abi: None,
        });
        IndexFile {
            name: name.to_owned(),
            project: wheel.distribution.parse().unwrap(),
            version: wheel.version.clone(),
            folder: Folder::of(label.as_ref()),
            kind: FileKind::Wheel(wheel),
            digest: Digest::new([0xab; 32]),
            size_bytes: 1234,
            requires_python: Some(">=3.9,<4".to_owned()),
            requires: vec!["einops".to_owned(), "torch".to_owned()],
            metadata: Some(CoreMetadata { bytes: Some(b"Name: x\n".to_vec()), digest: Digest::new([0xcd; 32]) }),
            yanked: Yanked::No,
            uploaded: None,
        }
    }

    fn some() -> Vec<IndexFile> {
        vec![
            file("flash_attn-2.8.3+rocm62torch2.5-cp310-cp310-linux_x86_64.whl", "6.2", "2.5.1"),
            file("flash_attn-2.8.3+rocm62torch2.5-cp39-cp39-linux_x86_64.whl", "6.2", "2.5.1"),
            file("flash_attn-2.7.4+rocm62torch2.5-cp310-cp310-linux_x86_64.whl", "6.2", "2.5.1"),
            file("flash_attn-2.8.3+rocm72torch2.9-cp310-cp310-linux_x86_64.whl", "7.2", "2.9"),
            file("flash_attn-2.8.3+rocm72torch2.10triton-py3-none-any.whl", "7.2", "2.10"),
            file("rmx_vecadd-0.1.0+rocm52-cp311-cp311-linux_x86_64.whl", "5.2", ""),
            file("plain-1.0-py3-none-any.whl", "", ""),
        ]
    }

    fn links() -> Links {
        Links::Relative(vec!["..".to_owned()])
    }

    fn text(bytes: &[u8]) -> &str {
        std::str::from_utf8(bytes).unwrap()
    }

    /// P8
    #[test]
    fn no_page_mixes_two_torch_versions() {
        let made = repository(some(), &links()).unwrap();
        let pages: Vec<&str> = made.pages.keys().map(String::as_str).filter(|p| p.ends_with("index.html")).collect();
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
            let labels = ["torch2.5", "torch2.9", "torch2.10"].iter().filter(|l| text(bytes).contains(*l)).count();
            assert!(labels <= 1 || page == "index.html", "{page}");
        }
    }

    /// P8
    #[test]
    fn a_project_page_gives_address_hash_python_and_metadata() {
        let made = repository(some(), &links()).unwrap();
        insta::assert_snapshot!(text(&made.pages["rocm7.2-torch2.10/flash-attn/index.html"]), @r#"
        <!DOCTYPE html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="pypi:repository-version" content="1.0">
        <meta name="generator" content="rock-matrix index">
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
        let made = repository(some(), &links()).unwrap();
        let page = text(&made.pages["rocm6.2-torch2.5/flash-attn/index.html"]);
        let at = |part: &str| page.find(part).unwrap();
        assert!(
            at("2.7.4%2B") < at("2.8.3%2Brocm62torch2.5-cp39") && at("-cp39-") < at("2.8.3%2Brocm62torch2.5-cp310")
        );
    }

    #[test]
    fn equal_files_give_equal_bytes_in_whatever_order_they_come() {
        let expected = repository(some(), &links()).unwrap();
        for turn in 0..7 {
            let mut files = some();
            files.rotate_left(turn);
            files.swap(0, 3);
            assert_eq!(repository(files, &links()).unwrap(), expected);
        }
    }

    #[test]
    fn no_text_of_a_wheel_becomes_markup() {
        let evil = "<script>alert(1)</script>\" onclick='x' &";
        let mut file = file("x-1+rocm62torch2.5-py3-none-any.whl", "6.2", "2.5");
        file.requires_python = Some(evil.to_owned());
        file.requires = vec![evil.to_owned()];
        file.yanked = Yanked::Because(evil.to_owned());
        let made = repository(vec![file], &links()).unwrap();
        for (page, bytes) in made.pages.iter().filter(|(page, _)| page.ends_with("html")) {
            assert!(!text(bytes).contains("alert(1)</") && !text(bytes).contains("onclick='"), "{page}");
        }
    }

    #[test]
    fn names_that_differ_in_case_alone_are_refused() {
        let mut files = vec![some().remove(0), some().remove(0)];
        files[1].name = files[1].name.to_uppercase();
        assert!(matches!(repository(files, &links()), Err(IndexError::SameName(_))));
    }

    #[test]
    fn an_index_of_nothing_is_a_landing_page() {
        assert_eq!(repository(Vec::new(), &links()).unwrap().pages.len(), 1);
    }
}
