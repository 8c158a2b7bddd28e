//! Checks every field of a plan that is read back.
//!
//! A plan is passed between machines, and its fields become script arguments, container options and
//! file names. A field must not hold a value that the matrix file could not have produced. The
//! structs are destructured field by field, so that a new field without a check does not compile.

use std::collections::HashSet;

use super::field::{JsonFieldError, JsonPath};
use super::field_checks::is_family;
use super::{
    CoveredDocument, DockerDocument, ImageDocument, MatrixDocument, PlanDocument, RepairDocument,
    ShardDocument, TestDocument,
};
use crate::JOBS_PER_MATRIX;
use crate::config::{
    DigestRule, GpuPolicy, GroupIds, MissingImage, Platform, PythonFrom, RepairPlatform,
    RunnerSelector, Switch, TestFamilies, TorchFrom, docker_argument_fault, syntax,
};
use rock_diagnostic::render::escape_line;
use rock_names::DistributionName;

/// Maximum number of faults of one plan that are reported individually.
pub(super) const MOST_FAULTS: usize = 16;

/// Returns the invalid fields of a plan, at most one more than [`MOST_FAULTS`].
pub(super) fn faults(document: &PlanDocument) -> Vec<JsonFieldError> {
    let mut checker = JsonChecker { found: Vec::new() };
    checker.plan(document);
    checker.found
}

pub(super) struct JsonChecker {
    found: Vec<JsonFieldError>,
}

impl JsonChecker {
    pub(super) fn fault(&mut self, path: JsonPath<'_>, reason: impl Into<String>) {
        if self.found.len() <= MOST_FAULTS {
            self.found.push(JsonFieldError {
                steps: path.steps(),
                reason: reason.into(),
            });
        }
    }

    fn plan(&mut self, document: &PlanDocument) {
        let PlanDocument {
            version: _,
            generator,
            matrices,
            jobs,
            excluded,
            covered,
            published,
            not_failed,
            shards,
            limits,
            notes,
        } = document;
        let root = JsonPath::Root;
        self.text(root.key("generator"), generator);
        let list = root.key("matrices");
        for (number, matrix) in matrices.iter().enumerate() {
            self.matrix(list.item(number), matrix);
        }
        let list = root.key("jobs");
        let mut ids = HashSet::with_capacity(jobs.len());
        for (number, job) in jobs.iter().enumerate() {
            let at = list.item(number);
            self.job(at, job, matrices);
            if !ids.insert(job.id.as_str()) {
                self.fault(
                    at.key("id"),
                    format!(
                        "is `{}`, which is also the ID of another job",
                        escape_line(&job.id)
                    ),
                );
            }
        }
        let list = root.key("excluded");
        for (number, row) in excluded.iter().enumerate() {
            self.excluded(list.item(number), row, matrices);
        }
        let list = root.key("covered");
        for (number, CoveredDocument { id, axes }) in covered.iter().enumerate() {
            let at = list.item(number);
            if !ids.contains(id.as_str()) {
                self.fault(
                    at.key("id"),
                    format!("is `{}`, which is not a job of the plan", escape_line(id)),
                );
            }
            self.covers(at.key("axes"), axes, None);
        }
        self.file_names(root.key("published"), published);
        self.file_names(root.key("not_failed"), not_failed);
        self.shards(root.key("shards"), shards, jobs.len());
        for name in limits.keys() {
            self.fits(root.key("limits"), syntax::is_label(name), name, "a limit");
        }
        self.texts(root.key("notes"), notes);
    }

    fn matrix(&mut self, at: JsonPath<'_>, document: &MatrixDocument) {
        let MatrixDocument {
            matrix,
            distribution,
            platform,
            torch_from,
            python_from,
            image,
            docker,
            cache,
            cache_mb: _,
            vars,
            secrets,
            indexes,
            device_extras: _,
            repair,
            test,
        } = document;
        self.text(at.key("matrix"), matrix);
        let is_path = !matrix.is_empty() && !matrix.starts_with('-');
        self.fits(
            at.key("matrix"),
            is_path,
            matrix,
            "the path of a matrix file",
        );
        self.parses::<DistributionName>(at.key("distribution"), distribution);
        self.word(at.key("platform"), platform, Platform::WORDS);
        self.word(at.key("torch_from"), torch_from, TorchFrom::WORDS);
        self.word(at.key("python_from"), python_from, PythonFrom::WORDS);
        self.word(at.key("cache"), cache, Switch::WORDS);
        self.image_rule(at.key("image"), image);
        self.docker(at.key("docker"), docker);
        self.vars(at.key("vars"), vars);
        let list = at.key("secrets");
        let mut known = HashSet::new();
        for (number, name) in secrets.iter().enumerate() {
            // The value is not shown: it may be the secret.
            if !syntax::is_secret_word(name) {
                self.fault(
                    list.item(number),
                    "is not a valid secret name: only capitals, digits and `_` are allowed",
                );
            } else if syntax::is_taken(name) {
                self.fault(
                    list.item(number),
                    format!("is `{name}`, which is a variable of the runner or the system"),
                );
            } else if !known.insert(name) {
                self.fault(
                    list.item(number),
                    format!("is `{name}`, which is listed twice"),
                );
            }
        }
        let list = at.key("indexes");
        for (name, address) in indexes {
            self.fits(list, syntax::is_label(name), name, "an index name");
            if !syntax::is_index_address(address) {
                // The URL may contain a password.
                self.fault(
                    list.key(name),
                    "is not a valid index URL: http(s), without user, spaces or quotes",
                );
            }
            self.text(list.key(name), address);
        }
        let RepairDocument {
            platform,
            presets,
            exclude,
        } = repair;
        let of = at.key("repair");
        let is_platform = match RepairPlatform::from_word(platform) {
            RepairPlatform::Off | RepairPlatform::Auto => true,
            RepairPlatform::Tag(tag) => syntax::is_repair_platform(&tag),
        };
        self.fits(
            of.key("platform"),
            is_platform,
            platform,
            "`off`, `auto` or a platform tag",
        );
        self.labels(of.key("presets"), presets, "an exclude preset");
        let list = of.key("exclude");
        for (number, pattern) in exclude.iter().enumerate() {
            if let Some(reason) = syntax::library_pattern_fault(pattern) {
                self.fault(
                    list.item(number),
                    format!("is not a valid library name or pattern: {reason}"),
                );
            }
        }
        let TestDocument {
            runner,
            gpu,
            families,
        } = test;
        let of = at.key("test");
        self.parses::<RunnerSelector>(of.key("runner"), runner);
        self.word(of.key("gpu"), gpu, GpuPolicy::WORDS);
        if let Some(text) = families
            .as_deref()
            .filter(|text| TestFamilies::control(text).is_none())
        {
            for family in text.split(';') {
                self.fits(
                    of.key("families"),
                    is_family(family),
                    family,
                    "a GPU family",
                );
            }
        }
    }

    fn image_rule(
        &mut self,
        at: JsonPath<'_>,
        ImageDocument {
            repository,
            tag,
            missing,
            digest,
        }: &ImageDocument,
    ) {
        let is_repository = syntax::is_image_repository(repository);
        self.fits(
            at.key("repository"),
            is_repository,
            repository,
            "an image name",
        );
        let reference = format!("image:{tag}");
        let is_tag = tag.is_empty() || syntax::is_image_reference(&reference);
        self.fits(at.key("tag"), is_tag, tag, "an image tag");
        self.word(at.key("missing"), missing, MissingImage::WORDS);
        self.word(at.key("digest"), digest, DigestRule::WORDS);
    }

    fn docker(
        &mut self,
        at: JsonPath<'_>,
        DockerDocument {
            shm_size,
            groups,
            gid,
            args,
        }: &DockerDocument,
    ) {
        self.fits(
            at.key("shm_size"),
            syntax::is_size(shm_size),
            shm_size,
            "a size for shared memory",
        );
        let list = at.key("groups");
        for (number, group) in groups.iter().enumerate() {
            self.fits(
                list.item(number),
                syntax::is_group(group),
                group,
                "a group name or number",
            );
        }
        self.word(at.key("gid"), gid, GroupIds::WORDS);
        let list = at.key("args");
        for (number, text) in args.iter().enumerate() {
            self.text(list.item(number), text);
            if let Some((message, _)) = docker_argument_fault(number, text) {
                self.fault(
                    list.item(number),
                    format!(
                        "is not a valid container argument: {}",
                        escape_line(&message)
                    ),
                );
            }
        }
    }

    /// Checks that the shards contain every job once and in order.
    fn shards(&mut self, at: JsonPath<'_>, shards: &[ShardDocument], jobs: usize) {
        let mut next = 0;
        for (number, ShardDocument { first, count }) in shards.iter().enumerate() {
            let of = at.item(number);
            if *first != next {
                self.fault(
                    of.key("first"),
                    format!("is {first}, but the next job is {next}"),
                );
                return;
            }
            if !(1..=JOBS_PER_MATRIX).contains(count) || count.saturating_add(next) > jobs {
                self.fault(
                    of.key("count"),
                    format!(
                        "is {count}, but {} jobs are left and a shard has 1 to {JOBS_PER_MATRIX}",
                        jobs - next
                    ),
                );
                return;
            }
            next += count;
        }
        if !shards.is_empty() && next != jobs {
            self.fault(at, format!("have {next} jobs, but the plan has {jobs}"));
        }
    }
}
