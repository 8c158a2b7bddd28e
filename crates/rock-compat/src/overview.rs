//! Overviews of everything that works with a gfx target or with a version of ROCm, torch, Python or a
//! package.
//!
//! **Invariant:** every line cites at least one row.

use super::compat::join_with_and;
use super::rows::{PackageRow, Provenance, TorchRow};
use super::{Compat, CompatQuery};
use rock_names::{GfxTarget, PackageVersion, PythonVersion, RocmVersion, Version};

/// An overview of everything that works with one value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompatOverview<'a> {
    /// The value in words: `ROCm 7.2`.
    pub subject: String,
    /// The lines, each about one topic.
    pub lines: Vec<OverviewLine<'a>>,
}

/// One topic of an overview.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OverviewLine<'a> {
    /// `ROCm`, `torch`, or the name of a package.
    pub topic: String,
    /// The text.
    pub text: String,
    /// Citations of the rows behind the text, each with its provenance.
    pub rows: Vec<(String, &'a Provenance)>,
}

impl Compat {
    /// Returns an overview for each value of a query; values without rows and gfx targets that are
    /// in no table are left out.
    pub fn overviews(&self, query: &CompatQuery) -> Vec<CompatOverview<'_>> {
        let mut found: Vec<CompatOverview<'_>> = query
            .gfx
            .iter()
            .filter(|target| self.is_known_gfx(target.processor()))
            .map(|target| self.gfx_overview(target))
            .collect();
        found.extend(query.rocm.as_ref().map(|rocm| self.rocm_overview(rocm)));
        found.extend(query.torch.as_ref().map(|torch| self.torch_overview(torch)));
        found.extend(query.python.map(|python| self.python_overview(python)));
        found.extend(
            query
                .package
                .as_ref()
                .map(|(name, version)| self.package_overview(name, version)),
        );
        found.retain(|overview| !overview.lines.is_empty());
        found
    }

    fn gfx_overview(&self, target: &GfxTarget) -> CompatOverview<'_> {
        let processor = target.processor();
        let has = |list: &[String]| list.iter().any(|known| known == processor);
        let tables = self.tables();
        let mut lines = Vec::new();
        let of_product =
            |row: &&super::rows::ProductRow| row.gfx == processor && !row.rocm.is_empty();
        let since = tables.gfx_since.iter().find(|row| row.gfx == processor);
        if let Some(row) = since {
            let cited = self.cite("gfx.yaml", &format!("gfx-since {}", row.gfx), &row.origin);
            lines.push(line(
                "ROCm",
                format!("{} or later can compile for it", row.rocm),
                vec![(cited, &row.origin)],
            ));
        }
        if let Some(row) = self.product_tables().products.iter().find(of_product) {
            let cited = self.cite(
                "products.yaml",
                &format!("products {}", row.product),
                &row.origin,
            );
            let text = format!("{} or later supports the {}", row.rocm, row.name);
            lines.push(line("ROCm", text, vec![(cited, &row.origin)]));
        }
        if since.is_none() {
            lines.extend(self.compiling_line(target));
        }
        let in_wheels: Vec<_> = tables
            .torch_gfx
            .iter()
            .filter(|row| has(&row.gfx))
            .collect();
        if !in_wheels.is_empty() {
            let of_rocm = |rocm: &String| {
                let with = |row: &&TorchRow| row.rocm_index.contains(rocm);
                let torch: Vec<String> = tables
                    .torch
                    .iter()
                    .filter(with)
                    .map(|row| row.torch.clone())
                    .collect();
                (!torch.is_empty()).then(|| format!("{} for ROCm {rocm}", join_with_and(&torch)))
            };
            let torch: Vec<String> = in_wheels
                .iter()
                .flat_map(|row| &row.rocm)
                .filter_map(of_rocm)
                .collect();
            let cited = in_wheels
                .iter()
                .map(|row| (self.cite_gfx("torch-gfx", row), &row.origin))
                .collect();
            lines.push(line(
                "torch",
                format!("official wheels contain code for it: {}", torch.join("; ")),
                cited,
            ));
        } else if !tables.torch_gfx.is_empty() {
            let cited = tables
                .torch_gfx
                .iter()
                .map(|row| (self.cite_gfx("torch-gfx", row), &row.origin))
                .collect();
            lines.push(line(
                "torch",
                "no official wheels are known to contain code for it".to_owned(),
                cited,
            ));
        }
        for row in &tables.packages {
            let allowed = |backend: &&String| row.gfx.get(*backend).is_none_or(|list| has(list));
            let backends: Vec<String> = row.backends.iter().filter(allowed).cloned().collect();
            let text = if backends.is_empty() {
                format!("{}: no", version_of(row))
            } else {
                format!("{}: {}", version_of(row), join_with_and(&backends))
            };
            lines.push(line(&row.package, text, vec![self.cite_package(row)]));
        }
        lines.extend(self.attention_lines(processor));
        CompatOverview {
            subject: self.gfx_with_products(target),
            lines,
        }
    }

    /// Returns the line about the ROCm versions that can compile for a target, without patch versions
    /// of a minor version that can.
    fn compiling_line(&self, target: &GfxTarget) -> Option<OverviewLine<'_>> {
        let mut versions: Vec<&RocmVersion> = Vec::new();
        let mut cited: Vec<(String, &Provenance)> = Vec::new();
        for rocm in self.rocm_versions() {
            let Some((table, row)) = self.compiled_gfx(target, rocm) else {
                continue;
            };
            let citation = (self.cite_gfx(table, row), &row.origin);
            if !cited.contains(&citation) {
                cited.push(citation);
            }
            if !versions.contains(&&rocm.minor()) {
                versions.push(rocm);
            }
        }
        let versions: Vec<String> = versions.iter().map(ToString::to_string).collect();
        let text = format!(
            "{} can compile for it; other versions are unknown",
            join_with_and(&versions)
        );
        (!versions.is_empty()).then(|| line("ROCm", text, cited))
    }

    fn attention_lines(&self, processor: &str) -> Vec<OverviewLine<'_>> {
        let rows = self
            .machine_tables()
            .attention
            .iter()
            .filter(|row| row.gfx.iter().any(|gfx| gfx == processor));
        let text = |row: &super::rows::AttentionRow| {
            let titled = self
                .machine_tables()
                .attention
                .iter()
                .find(|of| of.library == row.library && !of.title.is_empty());
            let mut text = titled.map_or_else(|| row.library.clone(), |of| of.title.clone());
            for (before, value) in [
                (" with torch ", &row.torch),
                (", needs ", &row.needs),
                (", preferred by ", &row.preferred_by),
            ] {
                if !value.is_empty() {
                    text.push_str(before);
                    text.push_str(value);
                }
            }
            text
        };
        rows.map(|row| {
            let cited = self.cite(
                "attention.yaml",
                &format!("attention {}", row.library),
                &row.origin,
            );
            line("attention", text(row), vec![(cited, &row.origin)])
        })
        .collect()
    }

    /// Returns the rows of the torch versions with official wheels for a ROCm version.
    pub(super) fn torch_rows_for(&self, rocm: &RocmVersion) -> Vec<&TorchRow> {
        let serves = |row: &&TorchRow| {
            let patches = row
                .patches
                .iter()
                .filter_map(|patch| patch.parse::<Version>().ok());
            patches.into_iter().any(|torch| {
                matches!(
                    self.torch_rocm_support(&torch, rocm),
                    super::Support::Supported { .. }
                )
            })
        };
        self.tables().torch.iter().filter(serves).collect()
    }

    pub(super) fn rocm_overview(&self, rocm: &RocmVersion) -> CompatOverview<'_> {
        let mut lines = Vec::new();
        let rows = self.torch_rows_for(rocm);
        if !rows.is_empty() {
            let torch: Vec<String> = rows.iter().map(|row| row.torch.clone()).collect();
            let cited = rows.iter().map(|row| self.cite_torch(row)).collect();
            lines.push(line(
                "torch",
                format!("{} have official wheels for it", join_with_and(&torch)),
                cited,
            ));
        }
        if let Some(row) = self.torch_gfx(rocm) {
            let cited = self.cite_gfx("torch-gfx", row);
            lines.push(line(
                "GPUs",
                format!(
                    "torch's wheels contain code for {}",
                    join_with_and(&row.gfx)
                ),
                vec![(cited, &row.origin)],
            ));
        }
        if let Some(row) = self.rocm_gfx(rocm) {
            let cited = self.cite_gfx("rocm-gfx", row);
            lines.push(line(
                "GPUs",
                format!("ROCm lists {}", join_with_and(&row.gfx)),
                vec![(cited, &row.origin)],
            ));
        }
        CompatOverview {
            subject: format!("ROCm {rocm}"),
            lines,
        }
    }

    pub(super) fn torch_overview(&self, torch: &Version) -> CompatOverview<'_> {
        let mut lines = Vec::new();
        if let Some(row) = self.torch(torch) {
            let cited = || vec![self.cite_torch(row)];
            if !row.rocm_index.is_empty() {
                lines.push(line(
                    "ROCm",
                    format!("official wheels for {}", join_with_and(&row.rocm_index)),
                    cited(),
                ));
            }
            let pythons: Vec<String> = row
                .python
                .iter()
                .chain(&row.free_threaded)
                .cloned()
                .collect();
            if !pythons.is_empty() {
                lines.push(line("Python", join_with_and(&pythons), cited()));
            }
            for version in &row.rocm_index {
                let Some(gfx) = version
                    .parse()
                    .ok()
                    .and_then(|rocm: RocmVersion| self.torch_gfx(&rocm))
                else {
                    continue;
                };
                let text = format!(
                    "wheels for ROCm {version} contain code for {}",
                    join_with_and(&gfx.gfx)
                );
                lines.push(line(
                    "GPUs",
                    text,
                    vec![(self.cite_gfx("torch-gfx", gfx), &gfx.origin)],
                ));
            }
        }
        let required = self.tables().torch_requirements.iter().filter(|row| {
            let of_row = row
                .torch
                .iter()
                .filter_map(|version| version.parse::<Version>().ok());
            of_row.into_iter().any(|version| version == *torch)
        });
        for row in required {
            let cited = self.cite(
                "torch.yaml",
                &format!("torch-requirements {}", row.torch.join(", ")),
                &row.origin,
            );
            lines.push(line(
                &row.package,
                format!("requires {}{}", row.package, row.versions),
                vec![(cited, &row.origin)],
            ));
        }
        CompatOverview {
            subject: format!("torch {torch}"),
            lines,
        }
    }

    pub(super) fn python_overview(&self, python: PythonVersion) -> CompatOverview<'_> {
        let text = python.to_string();
        let serves = |row: &&TorchRow| {
            row.python
                .iter()
                .chain(&row.free_threaded)
                .any(|known| *known == text)
        };
        let rows: Vec<&TorchRow> = self.tables().torch.iter().filter(serves).collect();
        let mut lines = Vec::new();
        if !rows.is_empty() {
            let torch: Vec<String> = rows.iter().map(|row| row.torch.clone()).collect();
            let cited = rows.iter().map(|row| self.cite_torch(row)).collect();
            lines.push(line(
                "torch",
                format!("{} have official wheels for it", join_with_and(&torch)),
                cited,
            ));
        }
        CompatOverview {
            subject: format!("Python {python}"),
            lines,
        }
    }

    fn package_overview(&self, name: &str, version: &PackageVersion) -> CompatOverview<'_> {
        let mut lines = Vec::new();
        if let Some(row) = self.package(name, version) {
            let cited = || vec![self.cite_package(row)];
            lines.push(line(
                "Python",
                format!("{} or later", row.python_min),
                cited(),
            ));
            for backend in &row.backends {
                let targets = row
                    .gfx
                    .get(backend)
                    .map_or_else(|| "every GPU".to_owned(), |list| join_with_and(list));
                lines.push(line(backend, format!("builds for {targets}"), cited()));
            }
        }
        CompatOverview {
            subject: format!("{name} {version}"),
            lines,
        }
    }

    fn cite_torch<'a>(&self, row: &'a TorchRow) -> (String, &'a Provenance) {
        (
            self.cite("torch.yaml", &format!("torch {}", row.torch), &row.origin),
            &row.origin,
        )
    }

    fn cite_package<'a>(&self, row: &'a PackageRow) -> (String, &'a Provenance) {
        let (package, version) = (&row.package, &row.version);
        (
            self.cite(
                &format!("{package}.yaml"),
                &format!("{package} {version}"),
                &row.origin,
            ),
            &row.origin,
        )
    }
}

fn line<'a>(topic: &str, text: String, rows: Vec<(String, &'a Provenance)>) -> OverviewLine<'a> {
    OverviewLine {
        topic: topic.to_owned(),
        text,
        rows,
    }
}

/// Returns the version of a package row, `2.8.3`, or `fa2:<commit>` for commits.
fn version_of(row: &PackageRow) -> String {
    match row.commit_families.first() {
        Some(family) => format!("{family}:<commit>"),
        None => row.version.clone(),
    }
}
