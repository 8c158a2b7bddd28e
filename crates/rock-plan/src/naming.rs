//! Labels and expected wheel names of a matrix file's cells.

use super::job_id::short_digest;
use crate::codes::plan as codes;
use crate::config::{
    AxisRole, LabelChoice, Leaves, MatrixConfig, ParsedValue, Platform, RecipeBackend,
    RecipeProfile, RocmPrecision,
};
use crate::matrix::{AxisSpace, CellRank};
use rock_compat::Compat;
use rock_diagnostic::{Diagnostic, Sink};
use rock_names::{
    Accelerator, GfxTarget, LabelParts, LabelStyle, LocalLabel, PackageVersion, RocmVersion,
    SDIST_SUFFIX, TREE_ARCHIVE_SUFFIX, TREE_SUFFIX, Version, is_compact_unambiguous,
};

/// The values of a cell by role.
#[derive(Debug, Clone, Copy)]
pub(super) struct CellValues<'a> {
    pub(super) package: Option<&'a PackageVersion>,
    pub(super) torch: Option<&'a Version>,
    pub(super) rocm: Option<&'a RocmVersion>,
    pub(super) python: Option<rock_names::PythonVersion>,
    pub(super) backend: &'a RecipeBackend,
}

impl<'a> CellValues<'a> {
    /// Reads a cell. Returns `None` if the recipe does not have the cell's backend.
    pub(super) fn of(
        space: &'a AxisSpace,
        cell: CellRank,
        profile: &'a RecipeProfile,
    ) -> Option<Self> {
        let mut name = None;
        let mut values = Self {
            package: None,
            torch: None,
            rocm: None,
            python: None,
            backend: profile.backends.first()?,
        };
        for axis in 0..space.axes().len() {
            match space.value(cell, axis).map(|value| &value.value) {
                Some(ParsedValue::Package(version)) => values.package = Some(version),
                Some(ParsedValue::Torch(version)) => values.torch = Some(version),
                Some(ParsedValue::Rocm(version)) => values.rocm = Some(version),
                Some(ParsedValue::Python(version)) => values.python = Some(*version),
                Some(ParsedValue::Text(text)) if space.axes()[axis].role == AxisRole::Backend => {
                    name = Some(text.as_str());
                }
                _ => {}
            }
        }
        values.backend = profile.backend(name)?;
        Some(values)
    }
}

/// Creates labels; knows all ROCm versions of the compatibility data and the plan, to detect
/// ambiguity.
#[derive(Debug)]
pub(super) struct LabelFactory {
    known: Vec<RocmVersion>,
}

impl LabelFactory {
    /// Collects the ROCm versions of the compatibility data and of these matrix files.
    pub(super) fn new<'a>(
        compat: &Compat,
        spaces: impl IntoIterator<Item = &'a AxisSpace>,
    ) -> Self {
        let mut known = compat.rocm_versions().to_vec();
        for space in spaces {
            for value in space
                .axes()
                .iter()
                .flat_map(|column| column.values.iter().flatten())
            {
                if let ParsedValue::Rocm(rocm) = &value.value
                    && !known.contains(rocm)
                {
                    known.push(rocm.clone());
                }
            }
        }
        Self { known }
    }

    /// Returns the label of a cell, or `None` without ROCm. Reports an error if a compact label was
    /// requested that is ambiguous.
    pub(super) fn label(
        &self,
        values: &CellValues<'_>,
        config: &MatrixConfig,
        sink: &mut Sink,
    ) -> Option<LocalLabel> {
        let full = values.rocm?;
        let rocm = match config.rocm_precision {
            RocmPrecision::Minor => full.minor(),
            RocmPrecision::Patch => full.clone(),
        };
        let unambiguous = is_compact_unambiguous(&rocm, &self.known);
        let style = match config.label_style {
            LabelChoice::Dotted => LabelStyle::Dotted,
            LabelChoice::Compact => LabelStyle::Compact,
            LabelChoice::Auto if unambiguous => LabelStyle::Compact,
            LabelChoice::Auto => LabelStyle::Dotted,
        };
        if style == LabelStyle::Compact && !unambiguous {
            let label = format!("rocm{}", rocm.compact());
            sink.push(
                Diagnostic::new(
                    &codes::AMBIGUOUS_LABEL,
                    format!("the compact label `{label}` of ROCm {rocm} can be read in two ways"),
                )
                .at(
                    config.locations.of("label-style"),
                    "compact labels are set here",
                )
                .help("use `label-style: auto`, which writes this label with dots"),
            );
        }
        Some(label_parts(values, rocm).label(style))
    }

    /// Returns the label, without the ROCm version, of a cell whose wheel is the same for every
    /// ROCm.
    pub(super) fn label_without_rocm(values: &CellValues<'_>) -> Option<LocalLabel> {
        label_parts(values, values.rocm?.clone()).label_without_accelerator()
    }
}

fn label_parts(values: &CellValues<'_>, rocm: RocmVersion) -> LabelParts {
    LabelParts {
        accelerator: Accelerator::Rocm(rocm),
        torch: values.torch.cloned(),
        git: match values.package {
            Some(PackageVersion::Commit { hash, .. }) => Some(hash[..7].to_owned()),
            _ => None,
        },
        backend: Some(values.backend.label.clone()).filter(|label| !label.is_empty()),
        cxx11abi: None,
    }
}

/// Returns the end of the name of a cell's output, after the version:
/// `-cp311-cp311-linux_x86_64.whl` for a wheel, `.tar.gz` for a source distribution, and for a tree
/// its targets, the Python version if it has one, and the platform:
/// `-gfx942_gfx950-linux_x86_64-tree.tar.gz`.
pub(super) fn name_end(
    values: &CellValues<'_>,
    leaves: Leaves,
    targets: &[GfxTarget],
    platform: &str,
) -> String {
    let ending = match leaves {
        Leaves::Wheels => {
            return format!(
                "-{}.whl",
                wheel_tag(values, values.backend.tag.as_deref(), platform)
            );
        }
        Leaves::Sdist => return SDIST_SUFFIX.to_owned(),
        Leaves::Archive => TREE_ARCHIVE_SUFFIX,
        Leaves::Tree => TREE_SUFFIX,
    };
    let python = values.python.map(|python| {
        python
            .cp_tag()
            .split('-')
            .next()
            .unwrap_or_default()
            .to_owned()
    });
    let parts = [targets_part(targets), python, Some(platform.to_owned())];
    format!(
        "-{}{ending}",
        parts.into_iter().flatten().collect::<Vec<_>>().join("-")
    )
}

/// Returns the targets as part of a name; a long list becomes its length and a digest.
pub(super) fn targets_part(targets: &[GfxTarget]) -> Option<String> {
    const LONGEST: usize = 100;
    let names: Vec<String> = targets
        .iter()
        .map(|target| target.to_string().replace([':', '-'], ""))
        .collect();
    let joined = names.join("_");
    match joined.len() {
        0 => None,
        1..=LONGEST => Some(joined),
        _ => Some(format!("{}targets.{}", names.len(), short_digest(&joined))),
    }
}

/// Returns the platform tag, before repair, of wheels for a platform and an architecture.
pub(super) fn platform_tag(platform: Platform, arch: &str) -> String {
    match platform {
        Platform::Linux => format!("linux_{arch}"),
        Platform::Windows => "win_amd64".to_owned(),
    }
}

/// Returns the wheel tag of a cell before repair, such as `cp311-cp311-linux_x86_64`. A recipe may
/// fix the whole tag, or its Python and ABI tags.
pub(super) fn wheel_tag(values: &CellValues<'_>, fixed: Option<&str>, platform: &str) -> String {
    match (fixed, values.python) {
        (Some(tag), _) if tag.matches('-').count() == 2 => tag.to_owned(),
        (Some(tag), _) => format!("{tag}-{platform}"),
        (None, Some(python)) => format!("{}-{platform}", python.cp_tag()),
        (None, None) => format!("py3-none-{platform}"),
    }
}
