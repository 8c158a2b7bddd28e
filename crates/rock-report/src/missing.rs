//! Grids of missing wheels, one per platform and version: Pythons as rows, torch and accelerator
//! versions as columns.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::ops::Range;

use super::bands::bands;
use super::{Combination, CoverageShare, ExpectedCells, MachineTag, MatchedArchive, MatchedCell};
use rock_names::PythonVersion;

/// The cells of one version of a distribution on one platform.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingGrid {
    pub machine: MachineTag,
    /// The normalized name of the distribution.
    pub distribution: String,
    /// The version and commit.
    pub version: String,
    /// The columns. Columns in which every cell is excluded are omitted.
    pub columns: Vec<GridColumn>,
    /// One row per Python.
    pub rows: Vec<GridRow>,
    /// Present and missing cells. Jobs that share a grid position are counted separately.
    pub share: CoverageShare,
}

/// A combination of accelerator, torch and backend.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GridColumn {
    /// The accelerator and its version, `ROCm 6.2`.
    pub accelerator: Option<String>,
    /// The torch version.
    pub torch: Option<String>,
    /// The backend suffix; `None` for the default backend.
    pub backend: Option<String>,
}

/// The cells of one Python.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GridRow {
    /// The Python version; `None` for wheels that are not specific to one.
    pub python: Option<PythonVersion>,
    /// The cells, in the order of the columns.
    pub cells: Vec<GridCell>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GridCell {
    /// Whether the cell is present, missing or excluded.
    pub state: CellState,
    /// The wheel that fills the cell, or the expected wheel if it is missing; `None` for an
    /// excluded cell.
    pub wheel: Option<String>,
    /// The job that builds the wheel.
    pub job: Option<String>,
    /// The reason for an exclusion, if the plan gives one.
    pub reason: Option<String>,
}

/// The state of a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CellState {
    /// A published wheel fills the cell.
    Present,
    /// The plan expects a wheel for the cell, and none is published.
    Missing,
    /// The plan does not build a wheel for the cell.
    Excluded,
}

impl CellState {
    /// Returns the word for tables and JSON.
    pub fn word(self) -> &'static str {
        match self {
            Self::Present => "present",
            Self::Missing => "missing",
            Self::Excluded => "excluded",
        }
    }
}

impl GridColumn {
    fn of(combination: &Combination) -> Self {
        let version = combination.accelerator_version();
        Self {
            accelerator: version
                .map(|version| format!("{} {version}", combination.accelerator_name())),
            torch: combination.torch_text(),
            backend: combination.backend.clone(),
        }
    }

    /// Returns the width of the column in characters.
    fn width(&self) -> usize {
        self.head()
            .iter()
            .map(String::len)
            .chain(["MISSING".len()])
            .max()
            .unwrap_or(0)
    }

    /// Returns the three lines of the column header: torch, accelerator and backend.
    fn head(&self) -> [String; 3] {
        let torch = self
            .torch
            .as_ref()
            .map_or_else(|| "no torch".to_owned(), |torch| format!("torch {torch}"));
        [
            torch,
            self.accelerator.clone().unwrap_or_default(),
            self.backend.clone().unwrap_or_default(),
        ]
    }
}

/// Returns one grid per platform, distribution and version of a plan.
pub fn grids(expected: &ExpectedCells, found: &[MatchedCell<'_>]) -> Vec<MissingGrid> {
    // All grids of a distribution on a platform have the same rows, so that a missing Python shows
    // up as a gap.
    let mut pythons: BTreeMap<(&MachineTag, &str), BTreeSet<Option<PythonVersion>>> =
        BTreeMap::new();
    let mut groups: BTreeMap<(&MachineTag, Combination, String), Vec<&MatchedCell<'_>>> =
        BTreeMap::new();
    for matched in found {
        let cell = matched.cell;
        let distribution = cell.combination.distribution.as_str();
        pythons
            .entry((&cell.machine, distribution))
            .or_default()
            .insert(cell.python);
        let version = Combination {
            accelerator: None,
            torch: None,
            backend: None,
            ..cell.combination.clone()
        };
        groups
            .entry((&cell.machine, version, cell.version_text()))
            .or_default()
            .push(matched);
    }
    let grid = |((machine, version, text), cells): (
        (&MachineTag, Combination, String),
        Vec<&MatchedCell<'_>>,
    )| {
        let distribution = version.distribution.as_str();
        let columns: BTreeSet<ByTorch<'_>> = cells
            .iter()
            .map(|matched| ByTorch(&matched.cell.combination))
            .collect();
        // Jobs that differ only in an unknown version share a position. If any of their wheels is
        // missing, the position shows the first missing one.
        let mut by_place: BTreeMap<(Option<PythonVersion>, ByTorch<'_>), &MatchedCell<'_>> =
            BTreeMap::new();
        for matched in &cells {
            let shown = by_place
                .entry((matched.cell.python, ByTorch(&matched.cell.combination)))
                .or_insert(matched);
            if shown.by.is_some() && matched.by.is_none() {
                *shown = matched;
            }
        }
        let row = |python: &Option<PythonVersion>| {
            let of_column = |column: &ByTorch<'_>| match by_place.get(&(*python, *column)) {
                Some(matched) => GridCell {
                    state: if matched.by.is_some() {
                        CellState::Present
                    } else {
                        CellState::Missing
                    },
                    wheel: Some(
                        matched
                            .by
                            .map_or_else(|| matched.cell.wheel.clone(), |wheel| wheel.name.clone()),
                    ),
                    job: matched.cell.job.clone(),
                    reason: None,
                },
                None => GridCell {
                    state: CellState::Excluded,
                    wheel: None,
                    job: None,
                    reason: expected
                        .exclusion_of(machine, column.0, *python)
                        .map(|row| row.reason.clone()),
                },
            };
            GridRow {
                python: *python,
                cells: columns.iter().map(of_column).collect(),
            }
        };
        let mut share = CoverageShare::default();
        for matched in &cells {
            share.count(matched.by.is_some());
        }
        MissingGrid {
            share,
            machine: machine.clone(),
            distribution: distribution.to_owned(),
            version: text,
            rows: pythons
                .get(&(machine, distribution))
                .into_iter()
                .flatten()
                .map(row)
                .collect(),
            columns: columns
                .iter()
                .map(|column| GridColumn::of(column.0))
                .collect(),
        }
    };
    groups.into_iter().map(grid).collect()
}

/// A combination that is ordered by torch, then accelerator, then backend.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct ByTorch<'a>(&'a Combination);

impl Ord for ByTorch<'_> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        let key = |own: &Self| {
            let Combination {
                torch,
                accelerator,
                backend,
                ..
            } = own.0;
            (torch.clone(), accelerator.clone(), backend.clone())
        };
        key(self).cmp(&key(other))
    }
}

impl PartialOrd for ByTorch<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// Renders the grids for a terminal. Missing cells are in capitals, so that they stand out without
/// color.
pub fn missing_text(grids: &[MissingGrid]) -> String {
    let mut text = String::new();
    for grid in grids {
        let share = grid.share;
        let _ = writeln!(
            text,
            "{} {} on {}: {} of {} present, {} missing",
            grid.distribution,
            grid.version,
            grid.machine.title(),
            share.present,
            share.total(),
            share.missing
        );
        for band in bands(
            &grid.columns,
            |one, other| one.torch == other.torch,
            |one| BETWEEN + one.width(),
            LINE - FIRST,
        ) {
            push_band(&mut text, grid, band);
            text.push('\n');
        }
    }
    text
}

/// Lists archives of install trees for a terminal and marks the missing ones. The text is empty if
/// there are no archives.
pub fn archives_text(archives: &[MatchedArchive<'_>]) -> String {
    let mut text = String::new();
    if !archives.is_empty() {
        let present = archives.iter().filter(|found| found.is_there).count();
        let missing = archives.len() - present;
        let _ = writeln!(
            text,
            "install trees: {present} of {} present, {missing} missing",
            archives.len()
        );
    }
    for found in archives {
        let _ = writeln!(
            text,
            "  {:7}  {}",
            if found.is_there { "yes" } else { "MISSING" },
            found.archive.name.text
        );
    }
    text
}

/// The maximum width of a grid line in characters, which fits a terminal of the usual width with a
/// margin.
const LINE: usize = 100;
/// The widths in characters of the Python column, with its indentation, and of the gap between
/// columns.
const FIRST: usize = 8;
const BETWEEN: usize = 2;

/// Appends the header and the cells of a range of columns.
fn push_band(text: &mut String, grid: &MissingGrid, band: Range<usize>) {
    let columns = &grid.columns[band.clone()];
    let heads: Vec<[String; 3]> = columns.iter().map(GridColumn::head).collect();
    for line in 0..3 {
        let name = if line == 0 { "Python" } else { "" };
        push_line(
            text,
            name,
            heads.iter().map(|head| head[line].as_str()).zip(columns),
        );
    }
    for row in &grid.rows {
        let python = row
            .python
            .map_or_else(|| "any".to_owned(), |python| python.to_string());
        let word = |cell: &GridCell| match cell.state {
            CellState::Present => "yes",
            CellState::Missing => "MISSING",
            CellState::Excluded => "-",
        };
        push_line(
            text,
            &python,
            row.cells[band.clone()].iter().map(word).zip(columns),
        );
    }
}

fn push_line<'a>(
    text: &mut String,
    first: &str,
    cells: impl Iterator<Item = (&'a str, &'a GridColumn)>,
) {
    let mut line = format!("  {first:0$}", FIRST - 2);
    for (cell, column) in cells {
        let _ = write!(line, "{:BETWEEN$}{cell:1$}", "", column.width());
    }
    let line = line.trim_end();
    if !line.is_empty() {
        text.push_str(line);
        text.push('\n');
    }
}

/// Returns the names of the missing wheels in the order of the cells, each once per job.
pub fn listed(found: &[MatchedCell<'_>]) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let missing = found
        .iter()
        .filter(|matched| matched.by.is_none())
        .map(|matched| matched.cell);
    missing
        .filter(|cell| seen.insert((&cell.wheel, &cell.job)))
        .map(|cell| cell.wheel.clone())
        .collect()
}
