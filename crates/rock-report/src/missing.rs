//! What is missing: a grid a platform and version, Pythons down, torch and accelerator across.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::ops::Range;

use super::bands::bands;
use super::{Combination, CoverageShare, ExpectedCells, MachineTag, MatchedArchive, MatchedCell};
use rock_names::PythonVersion;

/// One version of a distribution on one platform.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingGrid {
    /// The platform.
    pub machine: MachineTag,
    /// The distribution, normalised.
    pub distribution: String,
    /// Version and commit.
    pub version: String,
    /// What the columns are. One in which every cell is excluded is left out.
    pub columns: Vec<GridColumn>,
    /// One a Python.
    pub rows: Vec<GridRow>,
    /// What is there of it. Jobs that share a place of the grid count each.
    pub share: CoverageShare,
}

/// One accelerator, torch and backend.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GridColumn {
    /// The accelerator with its version, `ROCm 6.2`.
    pub accelerator: Option<String>,
    /// Torch.
    pub torch: Option<String>,
    /// The backend's tail; `None` for the default backend.
    pub backend: Option<String>,
}

/// One Python.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GridRow {
    /// The Python; `None` for wheels that name none.
    pub python: Option<PythonVersion>,
    /// Its cells, in the order of the columns.
    pub cells: Vec<GridCell>,
}

/// One cell of a grid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GridCell {
    /// How it is.
    pub state: CellState,
    /// The wheel that fills it, or that would.
    pub wheel: Option<String>,
    /// The job that makes it.
    pub job: Option<String>,
    /// Why it is excluded, where the plan says.
    pub reason: Option<String>,
}

/// How a cell is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CellState {
    /// A wheel fills it.
    Present,
    /// The plan makes a wheel for it, and there is none.
    Missing,
    /// The plan makes none for it.
    Excluded,
}

impl CellState {
    /// The word of tables and JSON.
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

    /// Letters of its widest line.
    fn width(&self) -> usize {
        self.head()
            .iter()
            .map(String::len)
            .chain(["MISSING".len()])
            .max()
            .unwrap_or(0)
    }

    /// The lines of a column's head.
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

/// A grid for every platform, distribution and version of a plan.
pub fn grids(expected: &ExpectedCells, found: &[MatchedCell<'_>]) -> Vec<MissingGrid> {
    // Pythons of a distribution on a platform are rows of all its grids, so that a gap is seen as
    // one.
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
        // Jobs that are told apart by a version that is not known share a place, and the first that
        // is missing has it.
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
                        .why_left_out(machine, column.0, *python)
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

/// A column in order: by torch, then accelerator, then backend.
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

/// The grids for a terminal. What is missing is in capitals, so that it is found without colour.
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

/// Archives of install trees for a terminal, each with whether it is there; nothing without any.
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

/// Letters of the widest line of a grid: what a terminal that nobody has made smaller shows beside
/// a margin.
const LINE: usize = 100;
/// Letters of the column of Pythons, and those between columns.
const FIRST: usize = 8;
const BETWEEN: usize = 2;

/// The head of some columns and their cells.
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

/// The wheels that are missing, one a line, sorted as the grids are, each once.
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
