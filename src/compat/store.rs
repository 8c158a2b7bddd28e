//! The tables with their look-ups.

use std::sync::OnceLock;

use super::rows::{GfxRow, LimitRow, Origin, PackageRow, RunnerRow, Tables, TorchRow};
use super::{Because, Verdict};
use crate::names::{GfxTarget, PackageVersion, PythonVersion, RocmVersion, Version};

const EMBEDDED: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/facts.bin"));

/// The facts.
#[derive(Debug, Clone)]
pub struct Compat {
    tables: Tables,
    /// Versions of the tables in parsed form, made when they are first asked for.
    parsed: OnceLock<Parsed>,
}

/// What look-ups compare: parsed once, in the order of the rows.
#[derive(Debug, Clone)]
pub(super) struct Parsed {
    /// ROCm versions of each torch row's index.
    torch_rocm: Vec<Vec<RocmVersion>>,
    /// Image tags that say what they hold, with the number of their row.
    pub(super) images: Vec<(usize, super::images::Holds)>,
}

impl Compat {
    /// The facts shipped with the program; no YAML is parsed for them.
    pub fn embedded() -> Self {
        let tables = postcard::from_bytes(EMBEDDED).expect("the build script wrote these tables with the same types");
        Self::new(tables)
    }

    /// Facts read from elsewhere.
    pub fn new(tables: Tables) -> Self {
        Self { tables, parsed: OnceLock::new() }
    }

    pub(super) fn parsed(&self) -> &Parsed {
        self.parsed.get_or_init(|| Parsed {
            torch_rocm: self
                .tables
                .torch
                .iter()
                .map(|row| row.rocm_index.iter().filter_map(|text| text.parse().ok()).collect())
                .collect(),
            images: super::images::parse_all(&self.tables.images),
        })
    }

    /// Every row.
    pub fn tables(&self) -> &Tables {
        &self.tables
    }

    /// The row of a torch version's minor, whatever the patch.
    pub fn torch(&self, torch: &Version) -> Option<&TorchRow> {
        let minor = torch.minor();
        self.tables.torch.iter().find(|row| row.torch == minor)
    }

    /// The row of a package version (by version, or by family for a commit); `package` is the normalized name.
    pub fn package(&self, package: &str, version: &PackageVersion) -> Option<&PackageRow> {
        self.tables.packages.iter().filter(|row| row.package == package).find(|row| match version {
            PackageVersion::Commit { family, .. } => row.commit_families.iter().any(|known| known == family),
            PackageVersion::Released(version) => {
                let is = |text: &String| text.parse::<Version>().is_ok_and(|known| known == version.public());
                is(&row.version) || row.same.iter().any(is)
            }
        })
    }

    /// Whether any row speaks about this package (normalized name).
    pub fn has_package(&self, package: &str) -> bool {
        self.tables.packages.iter().any(|row| row.package == package)
    }

    /// The gfx targets compiled into torch wheels of this ROCm: by the exact version, else by its minor.
    pub fn torch_gfx(&self, rocm: &RocmVersion) -> Option<&GfxRow> {
        find_gfx(&self.tables.torch_gfx, rocm)
    }

    /// The gfx targets this ROCm supports: by the exact version, else by its minor.
    pub fn rocm_gfx(&self, rocm: &RocmVersion) -> Option<&GfxRow> {
        find_gfx(&self.tables.rocm_gfx, rocm)
    }

    /// Why this ROCm's toolchain cannot compile for a target that came later: `gfx950 needs ROCm 7.0 or later`;
    /// `None` when it can, or when no row speaks about it.
    pub fn gfx_too_new(&self, target: &GfxTarget, rocm: &RocmVersion) -> Option<String> {
        let row = self.tables.gfx_since.iter().find(|row| row.gfx == target.processor())?;
        let since: RocmVersion = row.rocm.parse().ok()?;
        (*rocm < since).then(|| format!("{} needs ROCm {since} or later", row.gfx))
    }

    /// Every ROCm version that any table names, sorted, each once.
    pub fn rocm_versions(&self) -> Vec<RocmVersion> {
        let listed = self.tables.rocm.iter().map(|row| &row.rocm);
        let indexes = self.tables.torch.iter().flat_map(|row| &row.rocm_index);
        let mut versions: Vec<RocmVersion> = listed.chain(indexes).filter_map(|text| text.parse().ok()).collect();
        versions.sort();
        versions.dedup();
        versions
    }

    /// Whether the official index has wheels of this torch for this ROCm. An index named by a minor (`7.1`) serves its
    /// patches (`7.1.1`), but for those that some torch has an index of its own for (`6.2.4`).
    pub fn torch_rocm(&self, torch: &Version, rocm: &RocmVersion) -> Verdict {
        let Some(row) = self.torch(torch) else { return self.unknown_torch(torch) };
        let parsed = &self.parsed().torch_rocm;
        let number = self.tables.torch.iter().position(|other| std::ptr::eq(other, row));
        let listed = number.map_or(&[][..], |number| &parsed[number]);
        let has_its_own = parsed.iter().flatten().any(|index| index == rocm);
        let serves = |index: &RocmVersion| index == rocm || (!has_its_own && *index == rocm.minor());
        if listed.iter().any(serves) {
            return Verdict::Supported {
                source: self.cite("torch.yaml", &format!("torch {}", row.torch), &row.origin),
            };
        }
        Verdict::Unsupported(Because {
            reason: format!("torch {torch} has wheels for ROCm {}, not {rocm}", and(&row.rocm_index)),
            hint: nearest_rocm(listed, rocm).map_or_else(String::new, |near| {
                let other = if self.torch_is_in_an_image(torch, rocm) {
                    ", or `torch-from: image`, where an image has both"
                } else {
                    ", or another source of torch (`torch-from: image` or `amd-index`)"
                };
                format!("use ROCm {near}{other}")
            }),
            source: self.cite("torch.yaml", &format!("torch {}", row.torch), &row.origin),
        })
    }

    /// Whether this torch has wheels for this Python, free-threaded ones by their own column.
    pub fn torch_python(&self, torch: &Version, python: PythonVersion) -> Verdict {
        let Some(row) = self.torch(torch) else { return self.unknown_torch(torch) };
        let listed = if python.is_free_threaded() { &row.free_threaded } else { &row.python };
        let source = self.cite("torch.yaml", &format!("torch {}", row.torch), &row.origin);
        if listed.iter().any(|text| text.parse::<PythonVersion>().is_ok_and(|known| known == python)) {
            return Verdict::Supported { source };
        }
        let hint = match (listed.first(), listed.last()) {
            (Some(first), Some(last)) => format!("use Python {first} to {last}"),
            _ => {
                format!("use a Python with the global lock: {} to {}", row.python[0], row.python[row.python.len() - 1])
            }
        };
        let which =
            if listed.is_empty() { "no free-threaded Python".to_owned() } else { format!("Python {}", and(listed)) };
        Verdict::Unsupported(Because {
            reason: format!("torch {torch} has wheels for {which}, not {python}"),
            hint,
            source,
        })
    }

    /// Whether an image of this repository carries this torch with this ROCm.
    pub fn torch_in_image(&self, repository: &str, torch: &Version, rocm: &RocmVersion) -> Verdict {
        match self.images(repository).find(|image| image.rocm == rocm && image.torch == torch) {
            Some(image) => Verdict::Supported { source: format!("images.yaml, tag {}", image.row.tag) },
            None => {
                let near = self.nearest_tags(repository, rocm, Some(torch), None);
                Verdict::Unsupported(Because {
                    reason: format!("no image of {repository} carries torch {torch} with ROCm {rocm}"),
                    hint: format!("the nearest tags are {}", near.join(", ")),
                    source: "images.yaml".to_owned(),
                })
            }
        }
    }

    /// Whether this package version has this backend. A version without a row is unknown; a family that cannot be
    /// built for AMD GPUs is unsupported; a package without rows is not constrained.
    pub fn package_backend(&self, package: &str, version: &PackageVersion, backend: &str) -> Verdict {
        if !self.has_package(package) {
            return Verdict::Supported { source: String::new() };
        }
        let file = format!("{package}.yaml");
        if let PackageVersion::Commit { family, .. } = version
            && let Some(row) = self.tables.absent_families.iter().find(|r| r.package == package && r.family == *family)
        {
            return Verdict::Unsupported(Because {
                reason: format!("{version}: {}", row.reason),
                hint: String::new(),
                source: self.cite(&file, &row.family, &row.origin),
            });
        }
        let Some(row) = self.package(package, version) else {
            return Verdict::Unknown(Because {
                reason: format!("no fact speaks about {package} {version}"),
                hint: format!("known are {}", and(&self.known_versions(package))),
                source: String::new(),
            });
        };
        let source = self.cite(&file, &format!("{package} {}", row.version), &row.origin);
        if row.backends.iter().any(|known| known == backend) {
            return Verdict::Supported { source };
        }
        let since = self.tables.packages.iter().filter(|r| r.package == package);
        let first =
            since.filter(|r| r.backends.iter().any(|known| known == backend)).map(|r| r.version.as_str()).next();
        Verdict::Unsupported(Because {
            reason: format!("{package} {version} has no {backend} backend in this version"),
            hint: first.map_or_else(String::new, |first| format!("{backend} is there since {first}")),
            source,
        })
    }

    /// Whether this package version runs on this Python.
    pub fn package_python(&self, package: &str, version: &PackageVersion, python: PythonVersion) -> Verdict {
        let Some(row) = self.package(package, version) else {
            return Verdict::Unknown(Because {
                reason: format!("no fact speaks about {package} {version}"),
                hint: String::new(),
                source: String::new(),
            });
        };
        let source = self.cite(&format!("{package}.yaml"), &format!("{package} {}", row.version), &row.origin);
        let least = row.python_min.parse::<PythonVersion>();
        let plain = python.plain().parse::<PythonVersion>();
        match (least, plain) {
            (Ok(least), Ok(plain)) if plain < least => Verdict::Unsupported(Because {
                reason: format!("{package} {version} needs Python {least} or later, not {python}"),
                hint: format!("use Python {least} or later"),
                source,
            }),
            _ => Verdict::Supported { source },
        }
    }

    /// The runner with this name, label or alias.
    pub fn runner(&self, word: &str) -> Option<&RunnerRow> {
        self.tables.runners.iter().find(|row| {
            row.name == word || row.labels.iter().any(|l| l == word) || row.aliases.iter().any(|a| a.label == word)
        })
    }

    /// The targets of a family, `gfx94X-all`.
    pub fn family(&self, name: &str) -> Option<&[String]> {
        self.tables.families.iter().find(|row| row.family == name).map(|row| row.members.as_slice())
    }

    /// A limit of GitHub by its name in the facts, `jobs-per-matrix`.
    pub fn limit(&self, name: &str) -> Option<&LimitRow> {
        self.tables.limits.iter().find(|row| row.name == name)
    }

    /// A row as people cite it: `torch.yaml, torch 2.6, checked 2026-11-21`.
    pub fn cite(&self, file: &str, row: &str, origin: &Origin) -> String {
        format!("compat/{file}, {row}, checked {}", origin.checked)
    }

    fn known_versions(&self, package: &str) -> Vec<String> {
        let rows = self.tables.packages.iter().filter(|row| row.package == package);
        rows.flat_map(|row| std::iter::once(&row.version).chain(&row.same)).cloned().collect()
    }

    fn unknown_torch(&self, torch: &Version) -> Verdict {
        let known: Vec<String> = self.tables.torch.iter().map(|row| row.torch.clone()).collect();
        Verdict::Unknown(Because {
            reason: format!("no fact speaks about torch {torch}"),
            hint: format!(
                "known are {} to {}; newer ones come with `rock-matrix compat refresh`, or set `unknown: lenient`",
                known.first().map_or("none", String::as_str),
                known.last().map_or("none", String::as_str)
            ),
            source: String::new(),
        })
    }
}

fn find_gfx<'a>(rows: &'a [GfxRow], rocm: &RocmVersion) -> Option<&'a GfxRow> {
    let by = |text: &str| rows.iter().find(|row| row.rocm.iter().any(|r| r == text));
    by(rocm.as_str()).or_else(|| by(rocm.minor().as_str()))
}

/// The listed version nearest to a wanted one: of its minor, else of its major, else the last one before it, else the
/// first one after it.
fn nearest_rocm<'a>(listed: &'a [RocmVersion], wanted: &RocmVersion) -> Option<&'a RocmVersion> {
    let of_minor = listed.iter().find(|version| version.minor() == wanted.minor());
    let distance = |version: &&RocmVersion| (version.parts()[1].abs_diff(wanted.parts()[1]), *version < wanted);
    let of_major = || listed.iter().filter(|version| version.major() == wanted.major()).min_by_key(distance);
    let before = || listed.iter().filter(|version| *version < wanted).max();
    of_minor.or_else(of_major).or_else(before).or_else(|| listed.iter().min())
}

/// `a`, `a and b`, `a, b and c`.
pub(super) fn and(items: &[String]) -> String {
    match items {
        [] => "none".to_owned(),
        [one] => one.clone(),
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
    }
}
