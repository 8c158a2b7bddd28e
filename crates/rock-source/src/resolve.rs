//! Resolution of the repository and ref of a project: from command-line options, else a preset,
//! else a pin, else the project's row.

use std::collections::BTreeMap;
use std::fmt;

use super::patch_sets::PatchSetSelection;
use super::related::{RelatedCommits, is_commit};
use crate::codes::sources as codes;
use rock_compat::Compat;
use rock_compat::rows::{PinRow, ProjectRow, SourceRow, TorchSourceRow};
use rock_diagnostic::{Diagnostic, Location, SourceText};

/// Options given on the command line.
#[derive(Debug, Clone, Default)]
pub struct ExplicitSelection {
    /// `--origin`.
    pub url: Option<String>,
    /// `--ref`.
    pub reference: Option<String>,
    /// `--patchset`.
    pub patchset: Option<String>,
    /// `--hipify`, `--no-hipify`.
    pub hipify: Option<bool>,
    /// `--release`: use the branch of the version that torch names, instead of the commit.
    pub release: bool,
    /// `--require-related-commit`.
    pub require_related: bool,
}

/// The existing files with pins, by path.
#[derive(Debug, Clone, Default)]
pub struct PinFiles {
    /// Files of the torch checkout; `None` if there is no checkout.
    pub torch: Option<BTreeMap<String, SourceText>>,
    /// Files of the working directory.
    pub project: BTreeMap<String, SourceText>,
    /// The rows of torch's `related_commits`, if the file exists.
    pub related: Option<RelatedCommits>,
}

/// The inputs for resolving one project.
#[derive(Debug, Clone, Copy)]
pub struct ProjectQuery<'a> {
    /// The row of the project for the platform.
    pub row: &'a ProjectRow,
    /// The options given on the command line.
    pub explicit: &'a ExplicitSelection,
    /// The selected preset.
    pub preset: Option<&'a TorchSourceRow>,
    /// The files with pins.
    pub files: &'a PinFiles,
    /// The operating system whose rows of `related_commits` are preferred.
    pub related_os: &'a str,
}

/// A value with its origin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sourced<T> {
    pub value: T,
    pub from: ValueOrigin,
}

/// The origin of a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ValueOrigin {
    /// A command-line option.
    Option(&'static str),
    /// The preset of this name.
    Preset(String),
    /// A line of a file.
    Pin {
        /// The path under which the file was read.
        file: String,
        /// The line number, from 1.
        line: usize,
    },
    /// An environment variable.
    Variable(String),
    /// A row of the compatibility data.
    Row(String),
}

impl fmt::Display for ValueOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Option(name) => f.write_str(name),
            Self::Preset(name) => write!(f, "preset {name}"),
            Self::Pin { file, line } => write!(f, "{file}:{line}"),
            Self::Variable(text) | Self::Row(text) => f.write_str(text),
        }
    }
}

/// The ref to check out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SourceRef {
    /// A branch, a tag or a commit.
    Known(Sourced<String>),
    /// The path of a file in the torch checkout, which does not exist yet, that will contain the
    /// ref.
    Later(String),
}

/// The resolved source of a project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResolvedProject {
    /// The name of the project, `audio`.
    pub project: String,
    /// The directory of the project, `pytorch_audio`.
    pub directory: String,
    /// The URL of the repository.
    pub url: Sourced<String>,
    /// The ref to check out.
    pub reference: SourceRef,
    /// The patch set to look up.
    pub patch_set: Sourced<PatchSetSelection>,
    /// Whether hipify runs.
    pub hipify: Sourced<bool>,
    /// The number of parallel fetches of submodules.
    pub fetch_jobs: Option<u32>,
}

/// Returns whether the commit of a project may come from torch's `related_commits`.
pub fn reads_related(
    row: &ProjectRow,
    explicit: &ExplicitSelection,
    preset: Option<&TorchSourceRow>,
) -> bool {
    let says_ref =
        |source: &SourceRow| source.project == row.project && !source.reference.is_empty();
    let by_preset = preset.is_some_and(|preset| preset.sources.iter().any(says_ref));
    !row.related.is_empty() && explicit.reference.is_none() && !by_preset
}

/// Resolves the source of a project.
///
/// # Errors
/// When a required pin is missing or cannot be parsed.
pub fn resolve(
    question: &ProjectQuery<'_>,
    compat: &Compat,
) -> Result<ResolvedProject, Diagnostic> {
    let ProjectQuery { row, explicit, .. } = question;
    let found = question.reference(compat)?;
    let patch_set = question.patch_set(compat, &found);
    let url = question.url(compat, found.url);
    let of_row = Sourced {
        value: row.hipify,
        from: cite(compat, row),
    };
    let hipify = match explicit.hipify {
        Some(value) if !row.hipify_is_fixed => Sourced {
            value,
            from: ValueOrigin::Option(if value { "--hipify" } else { "--no-hipify" }),
        },
        _ => of_row,
    };
    Ok(ResolvedProject {
        project: row.project.clone(),
        directory: row.folder.clone(),
        url,
        reference: found.reference,
        patch_set,
        hipify,
        fetch_jobs: row.fetch_jobs,
    })
}

/// A candidate for the ref of a project.
struct RefCandidate {
    reference: SourceRef,
    /// The URL that belongs to the ref, if a pin names one.
    url: Option<Sourced<String>>,
    is_pinned: bool,
}

impl RefCandidate {
    fn chosen(value: String, from: ValueOrigin) -> Self {
        Self {
            reference: SourceRef::Known(Sourced { value, from }),
            url: None,
            is_pinned: false,
        }
    }

    fn pinned(reference: SourceRef) -> Self {
        Self {
            reference,
            url: None,
            is_pinned: true,
        }
    }
}

impl ProjectQuery<'_> {
    fn of_preset(&self) -> Option<(&SourceRow, ValueOrigin)> {
        let preset = self.preset?;
        let source = preset
            .sources
            .iter()
            .find(|source| source.project == self.row.project)?;
        Some((source, ValueOrigin::Preset(preset.name.clone())))
    }

    fn url(&self, compat: &Compat, pinned: Option<Sourced<String>>) -> Sourced<String> {
        if let Some(url) = &self.explicit.url {
            return Sourced {
                value: url.clone(),
                from: ValueOrigin::Option("--origin"),
            };
        }
        let of_preset = self
            .of_preset()
            .filter(|(source, _)| !source.url.is_empty());
        let of_preset = of_preset.map(|(source, from)| Sourced {
            value: source.url.clone(),
            from,
        });
        of_preset.or(pinned).unwrap_or_else(|| Sourced {
            value: self.row.url.clone(),
            from: cite(compat, self.row),
        })
    }

    fn patch_set(&self, compat: &Compat, found: &RefCandidate) -> Sourced<PatchSetSelection> {
        if let Some(name) = &self.explicit.patchset {
            return Sourced {
                value: PatchSetSelection::Named(name.clone()),
                from: ValueOrigin::Option("--patchset"),
            };
        }
        match (
            &found.reference,
            self.of_preset()
                .filter(|(source, _)| !source.patchset.is_empty()),
        ) {
            (SourceRef::Known(known), _) if found.is_pinned => Sourced {
                value: PatchSetSelection::Pinned,
                from: known.from.clone(),
            },
            (SourceRef::Later(_), _) => Sourced {
                value: PatchSetSelection::Pinned,
                from: cite(compat, self.row),
            },
            (_, Some((source, from))) => Sourced {
                value: PatchSetSelection::Fitting(source.patchset.clone()),
                from,
            },
            (SourceRef::Known(known), None) => Sourced {
                value: PatchSetSelection::Fitting(known.value.clone()),
                from: known.from.clone(),
            },
        }
    }

    fn reference(&self, compat: &Compat) -> Result<RefCandidate, Diagnostic> {
        if let Some(reference) = &self.explicit.reference {
            return Ok(RefCandidate::chosen(
                reference.clone(),
                ValueOrigin::Option("--ref"),
            ));
        }
        if self.explicit.release && !self.row.release_ref.is_empty() {
            return self.release(compat);
        }
        let of_preset = self.of_preset();
        if let Some((source, from)) = of_preset
            .clone()
            .filter(|(source, _)| !source.reference.is_empty())
        {
            return Ok(RefCandidate::chosen(source.reference.clone(), from));
        }
        if let Some(pinned) = self.pin(
            compat,
            &self.row.pin,
            is_commit,
            "a commit of 7 to 40 hex digits",
        )? {
            return Ok(RefCandidate::pinned(pinned));
        }
        let is_required =
            self.explicit.require_related || of_preset.is_some_and(|(source, _)| source.related);
        if let Some(related) = self.related(compat, is_required)? {
            return Ok(related);
        }
        Ok(RefCandidate::chosen(
            self.row.reference.clone(),
            cite(compat, self.row),
        ))
    }

    /// Returns the branch of the release that torch names.
    fn release(&self, compat: &Compat) -> Result<RefCandidate, Diagnostic> {
        let is_version = |text: &str| {
            text.split('.').count() >= 2 && text.split('.').all(|part| part.parse::<u32>().is_ok())
        };
        let pinned = self.pin(
            compat,
            &self.row.release_pin,
            is_version,
            "a version such as 3.4.0",
        )?;
        Ok(match pinned {
            Some(SourceRef::Known(Sourced {
                value: version,
                from,
            })) => {
                let mut parts = version.split('.');
                let (major, minor) = (
                    parts.next().unwrap_or_default(),
                    parts.next().unwrap_or_default(),
                );
                RefCandidate::chosen(
                    self.row
                        .release_ref
                        .replace("{major}", major)
                        .replace("{minor}", minor),
                    from,
                )
            }
            Some(later) => RefCandidate::pinned(later),
            None => RefCandidate::chosen(self.row.reference.clone(), cite(compat, self.row)),
        })
    }

    /// Returns the ref in a single-line pin; `None` if there is no pin, or its file is missing and
    /// the project has a default ref.
    fn pin(
        &self,
        compat: &Compat,
        name: &str,
        is_value: impl Fn(&str) -> bool,
        form: &str,
    ) -> Result<Option<SourceRef>, Diagnostic> {
        let project = &self.row.project;
        let Some(row) = compat
            .source_tables()
            .pins
            .iter()
            .find(|row| row.pin == name)
        else {
            return Ok(None);
        };
        let Some(source) = self.file_of(row) else {
            if row.beside == "torch" && self.files.torch.is_none() {
                return Ok(Some(SourceRef::Later(row.file.clone())));
            }
            if !self.row.reference.is_empty() {
                return Ok(None);
            }
            let message = format!(
                "torch's checkout has no `{}`, which pins {project}",
                row.file
            );
            return Err(Diagnostic::new(&codes::NO_PIN, message).help(format!(
                "check out torch first and pass its directory with `--torch-dir`, or pass \
                 {project}'s ref with `--ref`"
            )));
        };
        let text = source.text.trim();
        if is_value(text) {
            let line = source
                .text
                .lines()
                .position(|line| !line.trim().is_empty())
                .unwrap_or(0)
                + 1;
            let from = ValueOrigin::Pin {
                file: source.path.to_string(),
                line,
            };
            return Ok(Some(SourceRef::Known(Sourced {
                value: text.to_owned(),
                from,
            })));
        }
        let shown = text.lines().next().unwrap_or_default();
        let start = source.text.len() - source.text.trim_start().len();
        Err(
            Diagnostic::new(&codes::NO_PIN, format!("`{shown}` is not {form}"))
                .at(source.location(start..start + shown.len()), "")
                .help(format!(
                    "fix the file, or pass {project}'s ref with `--ref`"
                )),
        )
    }

    fn file_of(&self, row: &PinRow) -> Option<&SourceText> {
        let files = if row.beside == "torch" {
            self.files.torch.as_ref()?
        } else {
            &self.files.project
        };
        files.get(&row.file)
    }

    /// Returns the row of `related_commits`; `None` if there is none and none is required.
    fn related(
        &self,
        compat: &Compat,
        is_required: bool,
    ) -> Result<Option<RefCandidate>, Diagnostic> {
        let Some(file) = compat
            .source_tables()
            .pins
            .iter()
            .find(|row| row.format == "related-commits")
            .map(|row| &row.file)
        else {
            return Ok(None);
        };
        if self.row.related.is_empty() {
            return Ok(None);
        }
        if self.files.torch.is_none() && is_required {
            return Ok(Some(RefCandidate::pinned(SourceRef::Later(file.clone()))));
        }
        let source = self.files.torch.as_ref().and_then(|files| files.get(file));
        let row = self
            .files
            .related
            .as_ref()
            .and_then(|related| related.of(&self.row.related, self.related_os));
        if let (Some(row), Some(source)) = (row, source) {
            let from = ValueOrigin::Pin {
                file: source.path.to_string(),
                line: row.line,
            };
            let url = Sourced {
                value: row.origin.clone(),
                from: from.clone(),
            };
            let reference = SourceRef::Known(Sourced {
                value: row.commit.clone(),
                from,
            });
            return Ok(Some(RefCandidate {
                reference,
                url: Some(url),
                is_pinned: true,
            }));
        }
        if !is_required {
            return Ok(None);
        }
        let name = &self.row.related;
        let (message, place) = match source {
            Some(source) => (
                format!("`{}` has no row for `{name}`", source.path),
                Location::File(source.path.clone()),
            ),
            None => (
                format!("torch's checkout has no `{file}`, so the commit of `{name}` is unknown"),
                Location::File(file.as_str().into()),
            ),
        };
        Err(Diagnostic::new(&codes::NO_RELATED_COMMIT, message)
            .at(place, "")
            .help(format!(
                "pass {}'s ref with `--ref`, or use a torch that pins it",
                self.row.project
            )))
    }
}

fn cite(compat: &Compat, row: &ProjectRow) -> ValueOrigin {
    ValueOrigin::Row(compat.cite("projects.yaml", &row.project, &row.origin))
}
