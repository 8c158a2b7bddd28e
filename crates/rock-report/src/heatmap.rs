//! Coverage heatmaps as SVG: torch and accelerator versions as columns, Pythons as rows.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::ops::Range;

use super::bands::bands;
use super::{CoverageGrade, CoverageShare, MachineTag, MatchedCell};
use rock_index::HtmlEscaped;
use rock_names::{Accelerator, PythonVersion, Version};

/// The coverage of one distribution on all platforms.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heatmap {
    /// The normalized name of the distribution.
    pub distribution: String,
    /// One section per platform.
    sections: Vec<HeatmapSection>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct HeatmapSection {
    machine: MachineTag,
    columns: Vec<(Option<Version>, Option<Accelerator>)>,
    rows: Vec<(Option<PythonVersion>, Vec<Option<CoverageShare>>)>,
}

/// The color scheme of a heatmap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColorScheme {
    /// The scheme that the reader's system prefers.
    Auto,
    /// Dark text on a light background.
    Light,
    /// Light text on a dark background.
    Dark,
}

/// Returns one heatmap per distribution. A heatmap cell counts all versions and backends of its
/// distribution.
pub fn heatmaps(found: &[MatchedCell<'_>]) -> Vec<Heatmap> {
    type CellPosition = (
        Option<PythonVersion>,
        (Option<Version>, Option<Accelerator>),
    );
    let mut shares: BTreeMap<&str, BTreeMap<&MachineTag, BTreeMap<CellPosition, CoverageShare>>> =
        BTreeMap::new();
    for matched in found {
        let cell = matched.cell;
        let what = &cell.combination;
        let place = (cell.python, (what.torch.clone(), what.accelerator.clone()));
        let of_machine = shares
            .entry(&what.distribution)
            .or_default()
            .entry(&cell.machine)
            .or_default();
        of_machine
            .entry(place)
            .or_default()
            .count(matched.by.is_some());
    }
    let section = |(machine, cells): (&MachineTag, BTreeMap<CellPosition, CoverageShare>)| {
        let columns: BTreeSet<_> = cells.keys().map(|(_, column)| column.clone()).collect();
        let pythons: BTreeSet<_> = cells.keys().map(|(python, _)| *python).collect();
        let row = |python: Option<PythonVersion>| {
            let of_column = |column: &(Option<Version>, Option<Accelerator>)| {
                cells.get(&(python, column.clone())).copied()
            };
            (python, columns.iter().map(of_column).collect())
        };
        HeatmapSection {
            machine: machine.clone(),
            rows: pythons.iter().map(|python| row(*python)).collect(),
            columns: columns.iter().cloned().collect(),
        }
    };
    let heatmap = |(distribution, machines): (
        &str,
        BTreeMap<&MachineTag, BTreeMap<CellPosition, CoverageShare>>,
    )| Heatmap {
        distribution: distribution.to_owned(),
        sections: machines.into_iter().map(section).collect(),
    };
    shares.into_iter().map(heatmap).collect()
}

/// Sizes in pixels at the image's own scale. A character of the 12-pixel font is about 7 wide.
const LETTER: usize = 7;
const MARGIN: usize = 16;
const FIRST_COLUMN: usize = 64;
const LEAST_COLUMN: usize = 64;
/// The maximum width: GitHub scales down wider images in a README, whose column is about this wide.
const WIDEST: usize = 800;
const ROW: usize = 28;
const LINE: usize = 20;

/// Colors: background, text, muted text, lines, then the fill of complete, partial and empty cells.
const LIGHT: [&str; 7] = [
    "#ffffff", "#1f2328", "#59636e", "#818b98", "#aceebb", "#fae17d", "#ffcecb",
];
const DARK: [&str; 7] = [
    "#0d1117", "#f0f6fc", "#9198a1", "#656c76", "#1a5c2e", "#694f00", "#7a1f1f",
];

/// Renders a heatmap. Screen readers get a title, a description and a title per cell. The number
/// and the border style of a cell repeat the information in its color.
pub fn svg(heatmap: &Heatmap, scheme: ColorScheme) -> String {
    let column = heatmap
        .sections
        .iter()
        .flat_map(|section| &section.columns)
        .fold(LEAST_COLUMN, |width, (torch, other)| {
            let letters = torch_label(torch.as_ref())
                .len()
                .max(accelerator_label(other.as_ref()).len());
            width.max(letters * LETTER + 8)
        });
    let parts = |section: &HeatmapSection| {
        bands(
            &section.columns,
            |one, other| one.0 == other.0,
            |_| column,
            WIDEST - 2 * MARGIN - FIRST_COLUMN,
        )
    };
    let columns = heatmap
        .sections
        .iter()
        .flat_map(parts)
        .map(|band| band.len())
        .max();
    let title = format!("Coverage of {}", heatmap.distribution);
    let least = [
        title.len(),
        LEGEND.iter().map(|(_, words)| words.len() + 8).sum(),
    ]
    .map(|letters| letters * LETTER);
    let inner = (FIRST_COLUMN + columns.unwrap_or(0) * column)
        .max(least[0])
        .max(least[1]);
    let mut body = String::new();
    let mut y = MARGIN + LINE;
    let _ = writeln!(
        body,
        "<text class=\"h\" x=\"{MARGIN}\" y=\"{y}\">{}</text>",
        HtmlEscaped::of(&title)
    );
    for section in &heatmap.sections {
        y += LINE + 8;
        let title = HtmlEscaped::of(&section.machine.title());
        let _ = writeln!(
            body,
            "<text class=\"s\" x=\"{MARGIN}\" y=\"{y}\">{title}</text>"
        );
        for band in parts(section) {
            y = draw(section, band, column, y + LINE + 4, &mut body);
        }
    }
    y = legend(y + LINE, &mut body);
    let total = heatmap
        .sections
        .iter()
        .flat_map(|section| &section.rows)
        .flat_map(|(_, cells)| cells)
        .flatten();
    let total = total.fold(CoverageShare::default(), |total, share| total.plus(*share));
    let description = format!(
        "{} of {} cells are published, {total}. Rows are Python versions; columns are torch and accelerator versions.",
        total.present,
        total.total()
    );
    let (width, height) = (inner + 2 * MARGIN, y + MARGIN);
    let id = HtmlEscaped::of(&heatmap.distribution);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" \
         role=\"img\" aria-labelledby=\"title-{id} desc-{id}\">\n<title id=\"title-{id}\">{}</title>\n<desc id=\"desc-{id}\">{}</desc>\n\
         <style>\n{}</style>\n<rect class=\"b\" width=\"{width}\" height=\"{height}\"/>\n{body}</svg>\n",
        HtmlEscaped::of(&title),
        HtmlEscaped::of(&description),
        style(scheme)
    )
}

/// Draws a range of columns with their header below `y` and returns the `y` of the next element.
fn draw(
    section: &HeatmapSection,
    band: Range<usize>,
    column: usize,
    mut y: usize,
    body: &mut String,
) -> usize {
    let left = MARGIN + FIRST_COLUMN;
    let centre = |at: usize| left + at * column + column / 2;
    let columns = &section.columns[band.clone()];
    let _ = writeln!(
        body,
        "<text class=\"q\" x=\"{MARGIN}\" y=\"{}\">Python</text>",
        y + LINE - 4
    );
    for (at, (torch, accelerator)) in columns.iter().enumerate() {
        // Columns of one torch version are adjacent. Its name is centered above them.
        let same = columns[at..]
            .iter()
            .take_while(|other| other.0 == *torch)
            .count();
        if at == 0 || columns[at - 1].0 != *torch {
            let _ = writeln!(
                body,
                "<text class=\"t\" x=\"{}\" y=\"{y}\">{}</text>",
                usize::midpoint(centre(at), centre(at + same - 1)),
                HtmlEscaped::of(&torch_label(torch.as_ref()))
            );
        }
        let _ = writeln!(
            body,
            "<text class=\"t q\" x=\"{}\" y=\"{}\">{}</text>",
            centre(at),
            y + LINE - 4,
            HtmlEscaped::of(&accelerator_label(accelerator.as_ref()))
        );
    }
    y += LINE + 4;
    for (python, cells) in &section.rows {
        let python = python.map_or_else(|| "any".to_owned(), |python| python.to_string());
        let _ = writeln!(
            body,
            "<text x=\"{MARGIN}\" y=\"{}\">{}</text>",
            y + 16,
            HtmlEscaped::of(&python)
        );
        for (at, ((torch, accelerator), share)) in
            columns.iter().zip(&cells[band.clone()]).enumerate()
        {
            let place = format!(
                "Python {python}, {}, {}",
                torch_label(torch.as_ref()),
                accelerator_label(accelerator.as_ref())
            );
            let (class, number, title) = match share {
                None => ("x", "–".to_owned(), format!("{place}: excluded")),
                Some(share) => (
                    class(*share),
                    format!("{}/{}", share.present, share.total()),
                    format!("{place}: {} of {} published", share.present, share.total()),
                ),
            };
            let x = left + at * column + 2;
            let _ = writeln!(
                body,
                "<g><title>{}</title><rect class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"{}\" height=\"{}\" rx=\"4\"/>\
                 <text class=\"t\" x=\"{}\" y=\"{}\">{}</text></g>",
                HtmlEscaped::of(&title),
                column - 4,
                ROW - 4,
                centre(at),
                y + 16,
                HtmlEscaped::of(&number)
            );
        }
        y += ROW;
    }
    y
}

/// The CSS classes of cells with their legend texts.
const LEGEND: [(&str, &str); 4] = [
    ("a", "all published"),
    ("p", "some published"),
    ("n", "none published"),
    ("x", "excluded"),
];

fn legend(y: usize, body: &mut String) -> usize {
    let mut x = MARGIN;
    for (class, words) in LEGEND {
        let _ = writeln!(
            body,
            "<rect class=\"{class}\" x=\"{x}\" y=\"{}\" width=\"20\" height=\"14\" rx=\"3\"/><text class=\"q\" x=\"{}\" y=\"{y}\">{words}</text>",
            y - 11,
            x + 26
        );
        x += 26 + (words.len() + 3) * LETTER;
    }
    y
}

fn class(share: CoverageShare) -> &'static str {
    match (share.present, share.missing) {
        _ if share.grade() == CoverageGrade::None => "x",
        (_, 0) => "a",
        (0, _) => "n",
        _ => "p",
    }
}

fn torch_label(torch: Option<&Version>) -> String {
    torch.map_or_else(
        || "no torch".to_owned(),
        |torch| format!("torch {}", rock_names::torch_text(torch)),
    )
}

fn accelerator_label(accelerator: Option<&Accelerator>) -> String {
    match accelerator {
        Some(Accelerator::Rocm(rocm)) => format!("ROCm {rocm}"),
        Some(Accelerator::Cuda(digits)) => format!("CUDA {digits}"),
        None => "any".to_owned(),
    }
}

/// Returns the style sheet. Borders: solid for complete, dashed for partial, thick for empty and
/// dotted for excluded cells.
fn style(scheme: ColorScheme) -> String {
    let colours = |[back, text, quiet, line, all, some, none]: [&str; 7]| {
        format!(
            ".b{{fill:{back}}}text{{fill:{text}}}.q{{fill:{quiet}}}rect{{stroke:{line}}}.b{{stroke:none}}\
             .a{{fill:{all}}}.p{{fill:{some}}}.n{{fill:{none}}}.x{{fill:none}}"
        )
    };
    let shapes = "text{font:12px system-ui,sans-serif}.h{font-size:16px;font-weight:600}.s{font-size:13px;font-weight:600}\
                  .t{text-anchor:middle}rect{stroke-width:1}.p{stroke-dasharray:5 3}.n{stroke-width:2.5}\
                  .x{stroke-dasharray:1 3}\n";
    match scheme {
        ColorScheme::Light => format!("{shapes}{}\n", colours(LIGHT)),
        ColorScheme::Dark => format!("{shapes}{}\n", colours(DARK)),
        ColorScheme::Auto => {
            format!(
                "{shapes}{}\n@media (prefers-color-scheme:dark){{{}}}\n",
                colours(LIGHT),
                colours(DARK)
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{ColorScheme, Heatmap, HeatmapSection, svg};
    use crate::{CoverageShare, MachineTag};
    use rock_names::Platform;

    fn heatmap(distribution: &str) -> Heatmap {
        let column = |torch: &str, rocm: &str| {
            (
                Some(torch.parse().unwrap()),
                Some(rock_names::Accelerator::Rocm(rocm.parse().unwrap())),
            )
        };
        let shares = |share: [(u64, u64); 2]| {
            share
                .map(|(present, missing)| Some(CoverageShare { present, missing }))
                .to_vec()
        };
        Heatmap {
            distribution: distribution.to_owned(),
            sections: vec![HeatmapSection {
                machine: MachineTag::of_platform(Platform::Linux),
                columns: vec![column("2.9", "7.2"), column("2.10", "7.14")],
                rows: vec![
                    ("3.9".parse().ok(), shares([(3, 0), (1, 2)])),
                    (
                        "3.10".parse().ok(),
                        vec![
                            Some(CoverageShare {
                                present: 0,
                                missing: 3,
                            }),
                            None,
                        ],
                    ),
                ],
            }],
        }
    }

    #[test]
    fn every_cell_has_its_number_as_text_and_for_screen_readers() {
        let picture = svg(&heatmap("flash-attn"), ColorScheme::Auto);
        for text in [
            "Python 3.9, torch 2.9, ROCm 7.2: 3 of 3 published",
            "Python 3.9, torch 2.10, ROCm 7.14: 1 of 3 published",
            "Python 3.10, torch 2.9, ROCm 7.2: 0 of 3 published",
            "Python 3.10, torch 2.10, ROCm 7.14: excluded",
            "4 of 9 cells are published, 44%.",
            "role=\"img\"",
            "prefers-color-scheme:dark",
            ">1/3<",
        ] {
            assert!(picture.contains(text), "{text}\n{picture}");
        }
        assert!(!svg(&heatmap("a"), ColorScheme::Light).contains("prefers"));
        assert!(svg(&heatmap("a"), ColorScheme::Dark).contains("#0d1117"));
    }

    #[test]
    fn a_picture_is_never_wider_than_a_page_and_columns_of_one_torch_stay_together() {
        let mut wide = heatmap("a");
        let rocm = wide.sections[0].columns[0].1.clone();
        wide.sections[0].columns = (0..20)
            .map(|at| (format!("2.{}", at / 2).parse().ok(), rocm.clone()))
            .collect();
        wide.sections[0].rows = vec![("3.9".parse().ok(), vec![None; 20])];
        let picture = svg(&wide, ColorScheme::Auto);
        let count = |what: &str| picture.matches(what).count();
        assert_eq!(
            (count(": excluded"), count(">torch 2."), count(">Python<")),
            (20, 10, 3),
            "{picture}"
        );
        let width = picture
            .split(" width=\"")
            .nth(1)
            .and_then(|rest| rest.split('"').next())
            .unwrap();
        assert!(width.parse::<usize>().unwrap() <= 800, "{width}");
    }

    #[test]
    fn a_name_cannot_leave_its_text() {
        let picture = svg(&heatmap("<script>\"&"), ColorScheme::Auto);
        assert!(!picture.contains("<script>") && picture.contains("&lt;script&gt;&quot;&amp;"));
    }
}
