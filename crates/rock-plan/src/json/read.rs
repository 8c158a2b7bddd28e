//! Reads a saved plan.

use std::path::Path;
use std::sync::Arc;

use super::{ExcludedDocument, JobDocument, MatrixDocument, PlanDocument, VERSION, check, field};
use crate::codes::plan as codes;
use crate::config::{
    DigestRule, DockerConfig, Gate, GpuPolicy, GroupIds, ImageConfig, MissingImage, Platform,
    PythonFrom, RepairConfig, RepairPlatform, RunnerSelector, Switch, TestConfig, TestFamilies,
    TorchFrom,
};
use crate::job::indexes_for;
use crate::{BuildEstimate, DroppedGfx, Job, JobSettings, SavedExclusion, SavedPlan};
use rock_diagnostic::{Diagnostic, Location, Sink, SourceText, shell_quoted};

/// Reads the jobs of a saved plan. Reports an error if the file is not a plan of this version.
pub fn read_json(source: &SourceText, sink: &mut Sink) -> Option<Vec<Job>> {
    read_saved(source, sink).map(|saved| saved.jobs)
}

/// Returns the error for a matrix file in place of a saved plan: a YAML file that is not JSON.
fn matrix_file_fault(source: &SourceText) -> Option<Diagnostic> {
    let extension = Path::new(&*source.path).extension()?.to_str()?;
    if !["yaml", "yml"].contains(&extension) || source.text.trim_start().starts_with('{') {
        return None;
    }
    let message = format!("`{}` is a matrix file, not a saved plan", source.path);
    Some(
        Diagnostic::new(&codes::BAD_PLAN_FILE, message)
            .at(Location::File(Arc::clone(&source.path)), "")
            .help(format!(
                "save its plan with `rock-matrix plan {} --format json --out plan.json`, and pass \
                 `plan.json`",
                shell_quoted(&*source.path)
            )),
    )
}

/// Reads a saved plan: its jobs, its exclusions, and the wheels that were already published when it
/// was made. Reports an error if the file is not a plan of this version.
pub fn read_saved(source: &SourceText, sink: &mut Sink) -> Option<SavedPlan> {
    let fault_at = |reason: String, at: usize| {
        Diagnostic::new(
            &codes::BAD_PLAN_FILE,
            format!("`{}` is not a valid plan: {reason}", source.path),
        )
        .at(source.location(at..at), "")
        .help("create it with `rock-matrix plan --format json`")
    };
    let fault = |reason: String| fault_at(reason, 0);
    let document: PlanDocument = match serde_json::from_str(&source.text) {
        Ok(document) => document,
        Err(error) => {
            if let Some(fault) = matrix_file_fault(source) {
                sink.push(fault);
                return None;
            }
            let message = error.to_string();
            // The location is reported separately.
            let reason = message
                .rsplit_once(" at line ")
                .map_or(message.as_str(), |(reason, _)| reason);
            let line: usize = source
                .text
                .split_inclusive('\n')
                .take(error.line().saturating_sub(1))
                .map(str::len)
                .sum();
            let at = source
                .text
                .floor_char_boundary(line + error.column().saturating_sub(1));
            sink.push(fault_at(reason.to_owned(), at));
            return None;
        }
    };
    if document.version != VERSION {
        sink.push(fault(format!(
            "it has version {}, but this program reads version {VERSION}",
            document.version
        )));
        return None;
    }
    let faults = check::faults(&document);
    if !faults.is_empty() {
        for fault in faults.iter().take(check::MOST_FAULTS) {
            sink.push(fault_at(
                fault.to_string(),
                field::offset(&source.text, &fault.steps),
            ));
        }
        if faults.len() > check::MOST_FAULTS {
            sink.push(fault(format!(
                "more than {} fields are invalid",
                check::MOST_FAULTS
            )));
        }
        return None;
    }
    let saved = || {
        let jobs = document
            .jobs
            .iter()
            .map(|job| job_of(job, &document.matrices))
            .collect::<Result<_, String>>()?;
        let excluded = document
            .excluded
            .iter()
            .map(|row| saved_exclusion(row, &document.matrices));
        Ok(SavedPlan {
            jobs,
            excluded: excluded.collect::<Result<_, String>>()?,
            published: document.published.clone(),
        })
    };
    saved()
        .map_err(|reason: String| sink.push(fault(reason)))
        .ok()
}

fn test_families(text: &str) -> TestFamilies {
    TestFamilies::control(text)
        .unwrap_or_else(|| TestFamilies::These(text.split(';').map(str::to_owned).collect()))
}

fn saved_exclusion(
    row: &ExcludedDocument,
    matrices: &[MatrixDocument],
) -> Result<SavedExclusion, String> {
    let matrix = matrices.get(row.matrix).ok_or_else(|| {
        format!(
            "an excluded row refers to matrix {}, which does not exist",
            row.matrix
        )
    })?;
    let fault =
        |error: &dyn std::fmt::Display| format!("an excluded row of `{}`: {error}", matrix.matrix);
    Ok(SavedExclusion {
        distribution: matrix.distribution.parse().map_err(|e| fault(&e))?,
        platform: Platform::from_word(&matrix.platform)
            .ok_or_else(|| fault(&format!("unknown value `{}`", matrix.platform)))?,
        axes: row.axes.clone(),
        count: row.count,
        code: row.code.clone(),
        reason: row.reason.clone(),
    })
}

fn job_of(job: &JobDocument, matrices: &[MatrixDocument]) -> Result<Job, String> {
    let matrix = matrices
        .get(job.matrix)
        .ok_or_else(|| format!("job `{}` refers to a matrix that does not exist", job.id))?;
    let fault = |error: &dyn std::fmt::Display| format!("job `{}`: {error}", job.id);
    let axis = |name: &str| job.axes.get(name).map(String::as_str);
    macro_rules! parsed {
        ($text:expr) => {
            $text.map(str::parse).transpose().map_err(|e| fault(&e))?
        };
    }
    macro_rules! word {
        ($kind:ty, $text:expr) => {
            <$kind>::from_word($text).ok_or_else(|| fault(&format!("unknown value `{}`", $text)))?
        };
    }
    let mut vars = matrix.vars.clone();
    vars.extend(job.vars.clone());
    let targets = job
        .gfx
        .iter()
        .map(|target| target.parse().map_err(|e| fault(&e)));
    let dropped = job.dropped_gfx.iter().map(|d| {
        Ok(DroppedGfx {
            target: d.target.parse().map_err(|e| fault(&e))?,
            reason: d.reason.clone(),
        })
    });
    Ok(Job {
        id: job.id.clone(),
        axes: job.axes.clone(),
        distribution: matrix.distribution.parse().map_err(|e| fault(&e))?,
        package: parsed!(axis(&matrix.distribution).or(axis("version"))),
        version: parsed!(job.version.as_deref()),
        label: parsed!(job.label.as_deref()),
        wheel: job.wheel.clone(),
        extra_wheels: job.wheels.clone(),
        python: parsed!(axis("python")),
        torch: parsed!(axis("torch")),
        rocm: parsed!(axis("rocm")),
        backend: job.backend.clone(),
        gfx: targets.collect::<Result<_, String>>()?,
        families: if job.families.is_empty() {
            job.gfx.clone()
        } else {
            job.families.clone()
        },
        dropped_gfx: dropped.collect::<Result<_, String>>()?,
        image: job.image.clone(),
        image_glibc: parsed!(job.image_glibc.as_deref()),
        runner: job.runner.clone(),
        runner_group: job.runner_group.clone(),
        gpu: word!(GpuPolicy, &job.gpu),
        recipe: job.recipe.clone(),
        gates: job
            .gates
            .iter()
            .map(|gate| Ok(word!(Gate, gate)))
            .collect::<Result<_, String>>()?,
        estimate: job.estimate.as_ref().map(|e| BuildEstimate {
            objects: e.objects,
            hours: e.hours,
            attempts: e.attempts,
            cache_mb: e.cache_mb,
            verdict: e.verdict.clone(),
        }),
        covers: job.covers.clone(),
        warnings: job.warnings.clone(),
        run_time: job.run_time.clone(),
        settings: JobSettings {
            matrix: matrix.matrix.clone(),
            platform: word!(Platform, &matrix.platform),
            torch_from: word!(TorchFrom, &matrix.torch_from),
            python_from: word!(
                PythonFrom,
                axis("python-from").unwrap_or(&matrix.python_from)
            ),
            image: ImageConfig {
                repository: matrix.image.repository.clone(),
                tag: matrix.image.tag.clone(),
                missing: word!(MissingImage, &matrix.image.missing),
                digest: word!(DigestRule, &matrix.image.digest),
            },
            docker: DockerConfig {
                shm_size: matrix.docker.shm_size.clone(),
                groups: matrix.docker.groups.clone(),
                gid: word!(GroupIds, &matrix.docker.gid),
                args: matrix.docker.args.clone(),
            },
            cache: word!(Switch, &matrix.cache),
            cache_mb: matrix.cache_mb,
            vars,
            secrets: matrix.secrets.clone(),
            indexes: indexes_for(
                &matrix.indexes,
                if job.families.is_empty() {
                    &job.gfx
                } else {
                    &job.families
                },
            ),
            device_extras: matrix.device_extras,
            repair: RepairConfig {
                platform: RepairPlatform::from_word(&matrix.repair.platform),
                presets: matrix.repair.presets.clone(),
                exclude: matrix.repair.exclude.clone(),
            },
            test: TestConfig {
                runner: matrix
                    .test
                    .runner
                    .parse::<RunnerSelector>()
                    .map_err(|error| fault(&error))?,
                families: matrix.test.families.as_deref().map(test_families),
                gpu: word!(GpuPolicy, &matrix.test.gpu),
            },
        },
    })
}
