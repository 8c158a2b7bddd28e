//! Checks of a set of wheels as one release.

use std::collections::{BTreeMap, BTreeSet};

use super::{Asset, WheelCell};
use crate::codes::release as codes;
use rock_diagnostic::{Diagnostic, Location, Severity, Sink};
use rock_index::FileKind;
use rock_names::{ExpectedWheel, Version, WheelName, is_tree_archive};

/// A wheel that a plan expects.
#[derive(Debug, Clone)]
pub(crate) struct PlannedWheel {
    /// The ID of the job.
    pub(crate) job: String,
    /// The wheel before repair. A job with several wheels has one entry per wheel.
    pub(crate) wheel: ExpectedWheel,
}

/// An offered file that is excluded because of another error. Its name is checked nevertheless.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    /// Its valid filename.
    pub name: String,
    /// The path as the user gave it.
    pub shown: String,
}

/// The name and path of a file.
type NamedPath<'n> = (&'n str, &'n str);

/// Reports files that cannot be in the same release, and warns of names that GitHub would change.
pub fn as_release(offered: &[Asset], sink: &mut Sink) {
    stand_together(offered, sink);
    names_kept(offered.iter().map(named), Severity::Warning, sink);
}

/// Reports files that cannot be in the same release on GitHub, which rejects files whose names it
/// would change. Names of excluded files are checked too, so that one run reports every error.
pub fn as_github_release(offered: &[Asset], left_out: &[LeftOut], sink: &mut Sink) {
    stand_together(offered, sink);
    let others = left_out
        .iter()
        .map(|file| (file.name.as_str(), file.shown.as_str()));
    cases_differ(offered.iter().map(named), others.clone(), sink);
    names_kept(
        offered.iter().map(named).chain(others.clone()),
        Severity::Error,
        sink,
    );
    labels_normal(offered.iter().map(named).chain(others), sink);
}

fn named(file: &Asset) -> NamedPath<'_> {
    (file.name(), &file.shown)
}

/// Reports excluded files whose name differs from that of another file only in case.
fn cases_differ<'n>(
    offered: impl Iterator<Item = NamedPath<'n>>,
    others: impl Iterator<Item = NamedPath<'n>>,
    sink: &mut Sink,
) {
    let mut names: BTreeMap<String, NamedPath<'_>> =
        offered.map(|file| (file.0.to_lowercase(), file)).collect();
    for (name, shown) in others {
        if let Some((other, at)) = names
            .insert(name.to_lowercase(), (name, shown))
            .filter(|(other, _)| *other != name)
        {
            sink.push(
                Diagnostic::new(
                    &codes::SAME_NAME_TWICE,
                    format!("`{other}` and `{name}` are the same name in a GitHub release"),
                )
                .at(Location::File(shown.into()), "")
                .also(Location::File(at.into()), "the other one")
                .help("pass only one of them"),
            );
        }
    }
}

/// Reports labels that are not in the normal form of PEP 440, because installers look for that
/// form.
fn labels_normal<'n>(files: impl Iterator<Item = NamedPath<'n>>, sink: &mut Sink) {
    for (name, shown) in files {
        let Some((written, normal)) = label_not_normal(name) else {
            continue;
        };
        sink.push(
            Diagnostic::new(
                &codes::LABEL_NOT_NORMAL,
                format!("the label of `{name}` is `{written}`, but its normal form is `{normal}`"),
            )
            .at(Location::File(shown.into()), "")
            .help(format!(
                "set it with `rock-matrix wheel label WHEEL {normal} --out DIR`"
            )),
        );
    }
}

/// Returns the label in a wheel's name and its normal form, if they differ.
pub(super) fn label_not_normal(name: &str) -> Option<(String, String)> {
    let wheel: WheelName = name.parse().ok()?;
    let (written, normal) = (wheel.version().to_string(), wheel.version().normalized());
    let ((_, written), (_, normal)) = (written.split_once('+')?, normal.split_once('+')?);
    (written != normal).then(|| (written.to_owned(), normal.to_owned()))
}

/// Reports names that GitHub would change (REST API version 2022-11-28, "Upload a release asset":
/// "special characters, non-alphanumeric characters, and leading or trailing periods").
fn names_kept<'n>(files: impl Iterator<Item = NamedPath<'n>>, severity: Severity, sink: &mut Sink) {
    let names: BTreeMap<&str, &str> = files.collect();
    for (name, shown) in names {
        let Some(odd) = changed_character(name) else {
            continue;
        };
        sink.push(
            Diagnostic::new(
                &codes::NAME_NOT_KEPT,
                format!("the name `{name}` contains `{odd}`, which GitHub replaces in a release"),
            )
            .severity(severity)
            .at(Location::File(shown.into()), "")
            .help("use a version without an epoch, or publish to a directory with `--out`"),
        );
    }
}

/// Returns the first character of a name that GitHub would change.
fn changed_character(name: &str) -> Option<char> {
    let odd = name
        .chars()
        .find(|c| !c.is_ascii_alphanumeric() && !"._+-".contains(*c));
    odd.or_else(|| {
        (name.starts_with('.') || name.ends_with('.') || name.contains("..")).then_some('.')
    })
}

/// Whether GitHub keeps the name of an asset unchanged.
pub(super) fn is_kept_name(name: &str) -> bool {
    changed_character(name).is_none()
}

fn stand_together(offered: &[Asset], sink: &mut Sink) {
    let mut names: BTreeMap<String, &Asset> = BTreeMap::new();
    let mut cells: BTreeMap<WheelCell, &Asset> = BTreeMap::new();
    let mut source_distributions: BTreeMap<(String, &Version), &Asset> = BTreeMap::new();
    for file in offered {
        if let Some(other) = names.insert(file.name().to_lowercase(), file) {
            if other.digest != file.digest || other.name() != file.name() {
                sink.push(same_name(other, file));
            }
            continue;
        }
        if let Some(wheel) = file.wheel()
            && let Some(other) = cells.insert(WheelCell::of(wheel), file)
        {
            sink.push(
                Diagnostic::new(
                    &codes::SAME_CELL_TWICE,
                    format!(
                        "`{}` and `{}` are both {}",
                        other.name(),
                        file.name(),
                        WheelCell::of(wheel)
                    ),
                )
                .at(Location::File(file.shown.as_str().into()), "")
                .also(Location::File(other.shown.as_str().into()), "the other one")
                .help("publish one of them, usually the repaired one"),
            );
        }
        if file.file.kind == FileKind::Sdist
            && let Some(other) = source_distributions
                .insert((file.file.project.normalized(), &file.file.version), file)
        {
            let message = format!(
                "`{}` and `{}` are source distributions of the same version",
                other.name(),
                file.name()
            );
            sink.push(
                Diagnostic::new(&codes::SAME_CELL_TWICE, message)
                    .at(Location::File(file.shown.as_str().into()), "")
                    .also(Location::File(other.shown.as_str().into()), "the other one")
                    .help("publish one of them"),
            );
        }
    }
}

fn same_name(one: &Asset, other: &Asset) -> Diagnostic {
    Diagnostic::new(
        &codes::SAME_NAME_TWICE,
        format!(
            "two files with different content have the name `{}`",
            other.name()
        ),
    )
    .at(Location::File(other.shown.as_str().into()), "")
    .also(Location::File(one.shown.as_str().into()), "the other one")
    .note(format!("{} is {}", one.shown, one.digest))
    .note(format!("{} is {}", other.shown, other.digest))
    .help("pass only one of them")
}

/// Reports wheels that the plan expects and the release would lack, and offered wheels that are not
/// in the plan. `kept` are the wheels that are already in the release.
pub(crate) fn against_plan(
    expected: &[PlannedWheel],
    offered: &[Asset],
    kept: &[WheelName],
    missing: Severity,
    sink: &mut Sink,
) {
    let mut planned: BTreeMap<WheelCell, Vec<&PlannedWheel>> = BTreeMap::new();
    for job in expected {
        planned
            .entry(WheelCell::expected(&job.wheel))
            .or_default()
            .push(job);
    }
    let cell_of = |wheel: &WheelName| {
        WheelCell::as_planned(wheel)
            .into_iter()
            .find(|cell| planned.contains_key(cell))
    };
    let mut there: BTreeMap<WheelCell, BTreeSet<WheelCell>> = BTreeMap::new();
    for wheel in kept {
        there
            .entry(cell_of(wheel).unwrap_or_else(|| WheelCell::of(wheel).planned()))
            .or_default()
            .insert(WheelCell::of(wheel).planned());
    }
    for file in offered {
        let Some(wheel) = file.wheel() else { continue };
        let Some(cell) = cell_of(wheel) else {
            sink.push(unplanned(file));
            continue;
        };
        there
            .entry(cell)
            .or_default()
            .insert(WheelCell::of(wheel).planned());
    }
    for (cell, jobs) in &planned {
        // If only the builds know the versions, each job has its own wheel in this cell.
        let found = there.get(cell).map_or(0, BTreeSet::len);
        if found < jobs.len() {
            sink.push(missing_wheel(cell, jobs, found, missing));
        }
    }
}

/// Reports planned archives of install trees and source distributions that the release would lack,
/// and offered archives of install trees that are not in the plan. `expected` has a pair of job and
/// filename for each; `kept` are the names of files that are already in the release.
pub(crate) fn archives_against_plan(
    expected: &[(String, String)],
    offered: &[Asset],
    kept: &BTreeSet<&str>,
    missing: Severity,
    sink: &mut Sink,
) {
    let trees = || offered.iter().filter(|file| is_tree_archive(file.name()));
    for file in trees().filter(|file| !expected.iter().any(|(_, name)| name == file.name())) {
        sink.push(unplanned(file));
    }
    let is_there =
        |name: &str| kept.contains(name) || offered.iter().any(|file| file.name() == name);
    for (job, name) in expected.iter().filter(|(_, name)| !is_there(name)) {
        let what = if is_tree_archive(name) {
            "an archive of an install tree"
        } else {
            "a source distribution"
        };
        let message = format!("{what} is missing: `{name}`");
        sink.push(absent(
            message,
            format!("job `{job}` of the plan builds it"),
            missing,
        ));
    }
}

fn unplanned(file: &Asset) -> Diagnostic {
    Diagnostic::new(
        &codes::UNPLANNED_WHEEL,
        format!("no job of the plan builds `{}`", file.name()),
    )
    .at(Location::File(file.shown.as_str().into()), "")
    .help("leave it out, or publish without `--plan`")
}

fn absent(message: String, note: String, severity: Severity) -> Diagnostic {
    Diagnostic::new(&codes::MISSING_WHEEL, message)
        .severity(severity)
        .note(note)
        .help("build it, or publish the other wheels with `--allow G004`")
}

fn missing_wheel(
    cell: &WheelCell,
    jobs: &[&PlannedWheel],
    found: usize,
    missing: Severity,
) -> Diagnostic {
    let names: Vec<String> = jobs.iter().map(|job| format!("`{}`", job.job)).collect();
    let (message, note) = match (jobs, found) {
        ([job], _) => {
            let message = format!("the wheel for {cell} is missing: `{}`", job.wheel);
            (message, format!("job {} of the plan builds it", names[0]))
        }
        (several, found) => {
            let wanted = several.len();
            let message = format!(
                "there {} for {cell}, but {wanted} are planned",
                are_wheels(found)
            );
            (
                message,
                format!("jobs {} of the plan build them", names.join(", ")),
            )
        }
    };
    absent(message, note, missing)
}

fn are_wheels(count: usize) -> String {
    match count {
        0 => "is no wheel".to_owned(),
        1 => "is 1 wheel".to_owned(),
        count => format!("are {count} wheels"),
    }
}

#[cfg(test)]
mod tests {
    use super::{LeftOut, PlannedWheel, against_plan, as_github_release, as_release};
    use crate::{Asset, testing::asset};
    use rock_diagnostic::{Severity, Sink};

    fn offered(name: &str, byte: u8) -> Asset {
        asset(name, byte)
    }

    fn check(files: &[Asset], expect: &[&str]) {
        let mut sink = Sink::new();
        as_release(files, &mut sink);
        let names: Vec<&str> = sink.finish().iter().map(|d| d.code.name).collect();
        assert_eq!(names, expect);
    }

    #[test]
    fn a_raw_and_a_repaired_wheel_of_one_cell_cannot_both_be_published() {
        let raw = offered("a-1+rocm62-cp311-cp311-linux_x86_64.whl", 1);
        let repaired = offered("a-1+rocm62-cp311-cp311-manylinux_2_28_x86_64.whl", 2);
        let rebuilt = offered("a-1+rocm62-2-cp311-cp311-linux_x86_64.whl", 3);
        check(&[raw.clone(), repaired], &["same-cell-twice"]);
        check(&[raw, rebuilt], &[]);
    }

    #[test]
    fn one_name_with_other_bytes_is_a_fault_and_with_equal_bytes_is_none() {
        let file = offered("a-1-py3-none-any.whl", 1);
        check(&[file.clone(), file.clone()], &[]);
        check(
            &[file, offered("a-1-py3-none-any.whl", 2)],
            &["same-name-twice"],
        );
        check(
            &[
                offered("a-1-py3-none-any.whl", 1),
                offered("A-1-py3-none-any.whl", 1),
            ],
            &["same-name-twice"],
        );
    }

    #[test]
    fn a_name_that_github_would_change_is_reported() {
        let odd = [offered("a-1!2-py3-none-any.whl", 1)];
        check(&odd, &["name-not-kept"]);
        let mut sink = Sink::new();
        as_release(&odd, &mut sink);
        assert!(!sink.has_errors(), "a directory takes it");
        as_github_release(&odd, &[], &mut sink);
        assert!(sink.has_errors());
    }

    #[test]
    fn a_label_that_is_not_in_its_normal_form_is_refused_on_github() {
        for (label, normal) in [
            ("ROCm62", "rocm62"),
            ("rocm62_x", "rocm62.x"),
            ("rocm62.x", ""),
            ("cxx11abiTRUE", "cxx11abitrue"),
        ] {
            let mut sink = Sink::new();
            let name = format!("a-1+{label}-py3-none-any.whl");
            as_github_release(&[offered(&name, 1)], &[], &mut sink);
            let findings = sink.finish();
            assert_eq!(findings.is_empty(), normal.is_empty(), "{label}");
            assert!(
                findings
                    .iter()
                    .all(|one| one.message.contains(&format!("is `{normal}`"))),
                "{findings:?}"
            );
            let mut sink = Sink::new();
            as_github_release(
                &[],
                &[LeftOut {
                    shown: name.clone(),
                    name,
                }],
                &mut sink,
            );
            assert_eq!(
                sink.finish().len(),
                findings.len(),
                "also where the file has another fault"
            );
        }
    }

    #[test]
    fn each_job_whose_version_only_its_build_knows_must_leave_every_wheel_of_its_own() {
        let expected = |job: &str, name: &str| PlannedWheel {
            job: job.into(),
            wheel: name.parse().unwrap(),
        };
        let plan = [
            expected("stable", "torch-*-cp312-cp312-linux_x86_64.whl"),
            expected("stable", "triton-*-cp312-cp312-linux_x86_64.whl"),
            expected("nightly", "torch-*-cp312-cp312-linux_x86_64.whl"),
            expected("nightly", "triton-*-cp312-cp312-linux_x86_64.whl"),
        ];
        let messages_of = |names: &[&str]| {
            let files: Vec<Asset> = (0_u8..)
                .zip(names)
                .map(|(n, name)| offered(name, n))
                .collect();
            let mut sink = Sink::new();
            against_plan(&plan, &files, &[], Severity::Error, &mut sink);
            sink.finish()
                .into_iter()
                .map(|one| one.message)
                .collect::<Vec<_>>()
        };
        let all = [
            "torch-2.12.0+rocm7.14-cp312-cp312-linux_x86_64.whl",
            "torch-2.13.0a0+rocm7.14-cp312-cp312-linux_x86_64.whl",
            "triton-3.5.0-cp312-cp312-linux_x86_64.whl",
            "triton-3.6.0-cp312-cp312-linux_x86_64.whl",
        ];
        assert_eq!(messages_of(&all), Vec::<String>::new());
        let one_short =
            "there is 1 wheel for triton * for cp312-cp312 on linux_x86_64, but 2 are planned";
        assert_eq!(messages_of(&all[..3]), [one_short]);
        assert_eq!(messages_of(&all[..2]), [one_short.replace("is 1", "is no")]);
        let apex = "apex-1.12-cp312-cp312-linux_x86_64.whl";
        assert_eq!(
            messages_of(&[&all[..], &[apex]].concat()),
            [format!("no job of the plan builds `{apex}`")]
        );
    }

    #[test]
    fn missing_and_unplanned_wheels_are_named() {
        let expected = |name: &str| PlannedWheel {
            job: "j".into(),
            wheel: name.parse().unwrap(),
        };
        let plan = [
            expected("a-1+rocm62-cp311-cp311-linux_x86_64.whl"),
            expected("a-1+rocm62-cp312-cp312-linux_x86_64.whl"),
            expected("a-1+rocm62-cp313-cp313-linux_x86_64.whl"),
        ];
        let files = [
            offered("a-1+rocm62-cp311-cp311-manylinux_2_28_x86_64.whl", 1),
            offered("b-1-py3-none-any.whl", 2),
        ];
        let kept = ["a-1+rocm62-cp312-cp312-linux_x86_64.whl".parse().unwrap()];
        for severity in [Severity::Error, Severity::Warning] {
            let mut sink = Sink::new();
            against_plan(&plan, &files, &kept, severity, &mut sink);
            let found: Vec<(&str, Severity)> = sink
                .finish()
                .iter()
                .map(|d| (d.code.name, d.severity))
                .collect();
            assert_eq!(
                found,
                [
                    ("unplanned-wheel", Severity::Error),
                    ("missing-wheel", severity)
                ]
            );
        }
    }
}
