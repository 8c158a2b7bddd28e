//! Python modules and metadata of the packages: fixed sources, with the values of one build
//! appended.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::search::up;
use super::{PackageKind, RuntimePackage, SELECTOR, SplitMode};
use rock_compat::rows::{SdkLibraryRow, SdkScriptRow, SdkTables};
use rock_names::Platform;

/// The name of a Python source file and its text.
type PythonSource = (&'static str, &'static str);

const META: &[PythonSource] = &[
    (
        "__init__.py",
        include_str!("../templates/sdk/rocm_sdk/__init__.py"),
    ),
    (
        "__main__.py",
        include_str!("../templates/sdk/rocm_sdk/__main__.py"),
    ),
    (
        "_devel.py",
        include_str!("../templates/sdk/rocm_sdk/_devel.py"),
    ),
    (
        "_devices.py",
        include_str!("../templates/sdk/rocm_sdk/_devices.py"),
    ),
    (
        "_installed.py",
        include_str!("../templates/sdk/rocm_sdk/_installed.py"),
    ),
    (
        "_libraries.py",
        include_str!("../templates/sdk/rocm_sdk/_libraries.py"),
    ),
    (
        "_link.py",
        include_str!("../templates/sdk/rocm_sdk/_link.py"),
    ),
    (
        "_lock.py",
        include_str!("../templates/sdk/rocm_sdk/_lock.py"),
    ),
    (
        "_process.py",
        include_str!("../templates/sdk/rocm_sdk/_process.py"),
    ),
    (
        "_record.py",
        include_str!("../templates/sdk/rocm_sdk/_record.py"),
    ),
    (
        "_target.py",
        include_str!("../templates/sdk/rocm_sdk/_target.py"),
    ),
    (
        "py.typed",
        include_str!("../templates/sdk/rocm_sdk/py.typed"),
    ),
    (
        "tests/__init__.py",
        include_str!("../templates/sdk/rocm_sdk/tests/__init__.py"),
    ),
    (
        "tests/base_test.py",
        include_str!("../templates/sdk/rocm_sdk/tests/base_test.py"),
    ),
    (
        "tests/core_test.py",
        include_str!("../templates/sdk/rocm_sdk/tests/core_test.py"),
    ),
    (
        "tests/devel_test.py",
        include_str!("../templates/sdk/rocm_sdk/tests/devel_test.py"),
    ),
    (
        "tests/libraries_test.py",
        include_str!("../templates/sdk/rocm_sdk/tests/libraries_test.py"),
    ),
    (
        "tests/profiler_test.py",
        include_str!("../templates/sdk/rocm_sdk/tests/profiler_test.py"),
    ),
];
const CORE: &[PythonSource] = &[
    (
        "__init__.py",
        include_str!("../templates/sdk/rocm_sdk_core/__init__.py"),
    ),
    (
        "_cli.py",
        include_str!("../templates/sdk/rocm_sdk_core/_cli.py"),
    ),
    (
        "py.typed",
        include_str!("../templates/sdk/rocm_sdk_core/py.typed"),
    ),
];
const LIBRARIES: &[PythonSource] = &[
    (
        "__init__.py",
        include_str!("../templates/sdk/rocm_sdk_libraries/__init__.py"),
    ),
    (
        "py.typed",
        include_str!("../templates/sdk/rocm_sdk_libraries/py.typed"),
    ),
];
const DEVEL: &[PythonSource] = &[
    (
        "__init__.py",
        include_str!("../templates/sdk/rocm_sdk_devel/__init__.py"),
    ),
    (
        "py.typed",
        include_str!("../templates/sdk/rocm_sdk_devel/py.typed"),
    ),
];
const PROFILER: &[PythonSource] = &[
    (
        "__init__.py",
        include_str!("../templates/sdk/rocm_profiler/__init__.py"),
    ),
    (
        "_cli.py",
        include_str!("../templates/sdk/rocm_profiler/_cli.py"),
    ),
    (
        "py.typed",
        include_str!("../templates/sdk/rocm_profiler/py.typed"),
    ),
];
const PROJECT: &[PythonSource] = &[
    (
        "MANIFEST.in",
        include_str!("../templates/sdk/rocm/MANIFEST.in"),
    ),
    ("README.md", include_str!("../templates/sdk/rocm/README.md")),
    (
        "pyproject.toml",
        include_str!("../templates/sdk/rocm/pyproject.toml"),
    ),
    ("setup.cfg", include_str!("../templates/sdk/rocm/setup.cfg")),
    ("setup.py", include_str!("../templates/sdk/rocm/setup.py")),
];
const DIST_INFO: &str = include_str!("../templates/sdk/shared/_dist_info.py");
const TRAMPOLINE: &str = include_str!("../templates/sdk/shared/_trampoline.py");

/// The values of a build that all its packages contain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BuildInfo {
    /// The version of all packages.
    pub version: String,
    /// The way device code is split from the libraries.
    pub mode: SplitMode,
    /// The platform of the packages.
    pub platform: Platform,
    /// The suffix of the names of the directories with package files.
    pub name_suffix: String,
    /// The targets or families that have packages.
    pub gpus: BuildTargets,
}

/// The targets or families of a build.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BuildTargets {
    /// All targets or families, sorted.
    pub available: Vec<String>,
    /// The one to use if no GPU is found.
    pub default: String,
    /// The targets published for Linux, if both platforms were requested.
    pub linux: Vec<String>,
    /// The targets published for Windows, if both platforms were requested.
    pub windows: Vec<String>,
}

impl BuildTargets {
    /// Creates a value from the targets that have artifacts. The default is the first one.
    pub fn found(targets: impl IntoIterator<Item = String>) -> Self {
        let available: Vec<String> = targets
            .into_iter()
            .collect::<BTreeSet<_>>()
            .into_iter()
            .collect();
        let default = available.first().cloned().unwrap_or_default();
        Self {
            available,
            default,
            ..Self::default()
        }
    }

    /// Creates a value from the targets that were requested for each platform. The default is the
    /// first one that both platforms have, or else the first of all.
    pub fn requested(linux: BTreeSet<String>, windows: BTreeSet<String>) -> Self {
        let available: Vec<String> = linux.union(&windows).cloned().collect();
        let both = linux.intersection(&windows).next();
        let default = both.or(available.first()).cloned().unwrap_or_default();
        let list = |set: BTreeSet<String>| set.into_iter().collect();
        Self {
            available,
            default,
            linux: list(linux),
            windows: list(windows),
        }
    }

    /// Returns the value for a single family.
    #[must_use]
    pub fn of(&self, family: &str) -> Self {
        let only = |all: &[String]| {
            all.iter()
                .filter(|known| *known == family)
                .cloned()
                .collect()
        };
        Self {
            available: vec![family.to_owned()],
            default: family.to_owned(),
            linux: only(&self.linux),
            windows: only(&self.windows),
        }
    }

    /// Returns the environment marker for a target that is published for one platform only.
    fn marker(&self, target: &str) -> Option<&'static str> {
        let has = |list: &[String]| list.iter().any(|known| known == target);
        match (
            self.linux.is_empty() || self.windows.is_empty(),
            has(&self.linux),
            has(&self.windows),
        ) {
            (false, true, false) => Some("sys_platform == \"linux\""),
            (false, false, true) => Some("sys_platform == \"win32\""),
            _ => None,
        }
    }
}

/// Returns the modules of a package next to its directory of files, as paths in the wheel with
/// their text. Packages for one target have none.
pub fn modules(
    kind: PackageKind,
    distribution: &str,
    made_for: Option<&str>,
    build: &BuildInfo,
    facts: &SdkTables,
) -> Vec<(String, String)> {
    let (sources, has_scripts) = match kind {
        PackageKind::Core => (CORE, true),
        PackageKind::Profiler => (PROFILER, true),
        PackageKind::Libraries => (LIBRARIES, false),
        PackageKind::Devel => (DEVEL, false),
        PackageKind::Device => return Vec::new(),
    };
    let directory = module(distribution);
    let mut files: Vec<(String, String)> = sources
        .iter()
        .map(|(name, text)| (format!("{directory}/{name}"), (*text).to_owned()))
        .collect();
    files.push((
        format!("{directory}/_dist_info.py"),
        dist_info(kind.word(), made_for.unwrap_or_default(), build, facts),
    ));
    if has_scripts {
        files.push((format!("{directory}/_trampoline.py"), TRAMPOLINE.to_owned()));
    }
    files.sort();
    files
}

/// Returns the files of the `rocm` sdist, by their paths in it.
pub fn project(build: &BuildInfo, facts: &SdkTables) -> Vec<(String, String)> {
    let mut files: Vec<(String, String)> = PROJECT
        .iter()
        .map(|(name, text)| ((*name).to_owned(), (*text).to_owned()))
        .collect();
    files.extend(
        META.iter()
            .map(|(name, text)| (format!("src/rocm_sdk/{name}"), (*text).to_owned())),
    );
    files.push((
        "src/rocm_sdk/_dist_info.py".to_owned(),
        dist_info("meta", "", build, facts),
    ));
    files.push(("PKG-INFO".to_owned(), package_info(build, facts)));
    files.sort();
    files
}

/// Returns the module name of a distribution, `rocm_sdk_core`.
pub fn module(distribution: &str) -> String {
    distribution.replace('-', "_")
}

/// Returns the shared source with the values of a build appended. JSON strings, arrays and objects
/// are valid Python, too.
fn dist_info(package: &str, made_for: &str, build: &BuildInfo, facts: &SdkTables) -> String {
    let mut values: Vec<(&str, Value)> = vec![
        ("__version__", json!(build.version)),
        ("PY_PACKAGE_SUFFIX_NONCE", json!(build.name_suffix)),
        ("THIS_PACKAGE_ENTRY", json!(package)),
        ("THIS_TARGET_FAMILY", json!(made_for)),
        ("DEFAULT_TARGET_FAMILY", json!(build.gpus.default)),
        ("AVAILABLE_TARGET_FAMILIES", json!(build.gpus.available)),
        ("LINUX_TARGET_FAMILIES", json!(build.gpus.linux)),
        ("WINDOWS_TARGET_FAMILIES", json!(build.gpus.windows)),
    ];
    if build.mode == SplitMode::Kpack {
        values.push((
            "LIBRARIES_DIST_TEMPLATE",
            json!(distribution(facts, PackageKind::Libraries)),
        ));
    }
    if package == "meta" {
        let rows = &facts.sdk_libraries;
        let found: Map<String, Value> = rows
            .iter()
            .map(|row| (row.library.clone(), library(row)))
            .collect();
        let optional: Vec<&str> = rows
            .iter()
            .filter(|row| row.may_be_absent)
            .map(|row| row.library.as_str())
            .collect();
        values.extend([
            ("LIBRARIES", Value::Object(found)),
            ("OPTIONAL_LIBRARIES", json!(optional)),
        ]);
    }
    let scripts: Vec<_> = scripts(package, build.platform, facts).collect();
    if !scripts.is_empty() {
        let programs: Map<String, Value> = scripts
            .iter()
            .map(|row| (row.function.clone(), json!(row.program)))
            .collect();
        let expanding: Vec<&str> = scripts
            .iter()
            .filter(|row| row.expands)
            .map(|row| row.function.as_str())
            .collect();
        values.extend([
            ("SCRIPTS", Value::Object(programs)),
            ("EXPANDING_SCRIPTS", json!(expanding)),
        ]);
    }
    let lines: String = values
        .iter()
        .map(|(name, value)| format!("{name} = {value}\n"))
        .collect();
    format!("{DIST_INFO}\n# Of this build.\n{lines}")
}

fn library(row: &SdkLibraryRow) -> Value {
    let columns = [
        ("package", &row.package),
        ("dir", &row.dir),
        ("so", &row.so),
        ("dll", &row.dll),
    ];
    columns
        .into_iter()
        .filter(|(_, text)| !text.is_empty())
        .map(|(name, text)| (name.to_owned(), json!(text)))
        .collect()
}

/// Returns the distribution name of a package.
fn distribution(facts: &SdkTables, kind: PackageKind) -> &str {
    super::layout::row(facts, kind).map_or("", |row| row.distribution.as_str())
}

/// Returns the METADATA of a package (core metadata specification, version 2.4).
pub fn metadata(kind: PackageKind, project: &str, build: &BuildInfo, facts: &SdkTables) -> String {
    let mut text = format!(
        "Metadata-Version: 2.4\nName: {project}\nVersion: {}\n",
        build.version
    );
    if kind == PackageKind::Profiler {
        text += "Summary: Profilers of ROCm\nRequires-Python: >=3.8\n";
    }
    if kind == PackageKind::Device {
        text += &format!(
            "Requires-Dist: {}=={}\n",
            distribution(facts, PackageKind::Libraries),
            build.version
        );
    }
    text
}

/// Returns the PKG-INFO of `rocm`, with the requirements for a machine without a GPU. Installers
/// run `setup.py`, which detects the GPU.
fn package_info(build: &BuildInfo, facts: &SdkTables) -> String {
    let version = &build.version;
    let per_target = match build.mode {
        SplitMode::Kpack => PackageKind::Device,
        SplitMode::Legacy => PackageKind::Libraries,
    };
    let mut extras: BTreeMap<String, Vec<(String, Option<&'static str>)>> = BTreeMap::new();
    let neutral = [
        PackageKind::Libraries,
        PackageKind::Devel,
        PackageKind::Profiler,
    ];
    for kind in neutral.into_iter().filter(|kind| *kind != per_target) {
        extras
            .entry(kind.word().to_owned())
            .or_default()
            .push((distribution(facts, kind).to_owned(), None));
    }
    let project = |target: &str| format!("{}-{target}", distribution(facts, per_target));
    if !build.gpus.default.is_empty() {
        extras
            .entry(per_target.word().to_owned())
            .or_default()
            .push((project(&build.gpus.default), None));
    }
    if build.gpus.available.len() > 1 {
        for target in &build.gpus.available {
            let required = (project(target), build.gpus.marker(target));
            for extra in [target.as_str(), "all"] {
                extras
                    .entry(format!("{}-{extra}", per_target.word()))
                    .or_default()
                    .push(required.clone());
            }
        }
    }
    let mut text = format!(
        "Metadata-Version: 2.4\nName: {SELECTOR}\nVersion: {version}\nRequires-Python: >=3.8\n"
    );
    text += "Dynamic: requires-dist\nDynamic: provides-extra\n";
    text += &format!(
        "Requires-Dist: {}=={version}\n",
        distribution(facts, PackageKind::Core)
    );
    for (extra, required) in extras {
        text += &format!("Provides-Extra: {extra}\n");
        for (project, marker) in required {
            let marker = marker.map_or_else(String::new, |marker| format!("{marker} and "));
            text += &format!("Requires-Dist: {project}=={version}; {marker}extra == \"{extra}\"\n");
        }
    }
    text
}

/// Returns the `entry_points.txt` with the console scripts of a package, or `None` if it has none.
pub fn entry_points(
    package: &RuntimePackage,
    build: &BuildInfo,
    facts: &SdkTables,
) -> Option<String> {
    let module = module(&package.distribution);
    let is_there = |program: &str| {
        package.files.contains_key(program) || package.files.contains_key(&format!("{program}.exe"))
    };
    let scripts: BTreeMap<&str, String> = scripts(package.kind.word(), build.platform, facts)
        .filter(|row| !row.if_packaged || is_there(&row.program))
        .map(|row| {
            (
                row.script.as_str(),
                format!("{module}._cli:{}", row.function),
            )
        })
        .collect();
    let lines: String = scripts
        .iter()
        .map(|(script, function)| format!("{script} = {function}\n"))
        .collect();
    (!lines.is_empty()).then(|| format!("[console_scripts]\n{lines}"))
}

/// Returns the rows of a package's scripts on a platform.
fn scripts<'f>(
    package: &'f str,
    platform: Platform,
    facts: &'f SdkTables,
) -> impl Iterator<Item = &'f SdkScriptRow> {
    let is_of = move |row: &&SdkScriptRow| row.platforms.iter().any(|word| word == platform.word());
    facts
        .sdk_scripts
        .iter()
        .filter(move |row| row.package == package)
        .filter(is_of)
}

/// Returns the JSON file that lists the files of a device package, which are added to the devel
/// tree as symlinks.
pub fn device_links(package: &RuntimePackage, version: &str) -> String {
    let links: Vec<Value> = package
        .files
        .keys()
        .map(|path| json!({"relpath": path, "target": format!("{}{}/{path}", up(path), package.directory)}))
        .collect();
    let document = json!({"version": version, "links": links});
    format!("{document:#}")
}
