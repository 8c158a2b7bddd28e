//! Checks of every field of a plan that is read back.
//!
//! A plan crosses machines, and its fields become words of scripts, options of a container, names
//! of files. None of them may hold what the matrix file could not have said. The structs are taken
//! apart field by field, so that a field that is added and not checked does not compile.

use std::collections::HashSet;
use std::fmt::Display;
use std::str::FromStr;

use indexmap::IndexMap;

use super::field::{FieldFault, Path};
use super::{
    CoveredDocument, DockerDocument, DroppedDocument, EstimateDocument, ExcludedDocument,
    ImageDocument, JobDocument, MatrixDocument, PlanDocument, RepairDocument, ShardDocument,
    TestDocument,
};
use crate::config::{
    DigestRule, Gate, GpuPolicy, GroupIds, MissingImage, Platform, PythonFrom, RepairPlatform,
    RunnerSelector, Switch, TestFamilies, TorchFrom, docker_argument_fault, is_runner_group,
    syntax,
};
use crate::diagnostic::render::visible;
use crate::names::{
    DistributionName, ExpectedWheel, GfxTarget, LocalLabel, PackageVersion, PythonVersion,
    RocmVersion, Version, WheelName, is_wheel_file,
};
use crate::plan::JOBS_PER_MATRIX;
use crate::plan::id::{self, is_id};

/// Faults of one plan that are reported one by one.
pub(super) const MOST_FAULTS: usize = 16;

/// Returns the faults of all fields, at most one more than [`MOST_FAULTS`].
pub(super) fn faults(document: &PlanDocument) -> Vec<FieldFault> {
    let mut checker = Checker { found: Vec::new() };
    checker.plan(document);
    checker.found
}

struct Checker {
    found: Vec<FieldFault>,
}

impl Checker {
    fn fault(&mut self, path: Path<'_>, reason: impl Into<String>) {
        if self.found.len() <= MOST_FAULTS {
            self.found.push(FieldFault {
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
        let root = Path::Root;
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
                    format!("is `{}`, as that of another job", visible(&job.id)),
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
                    format!("is `{}`, which is no job of the plan", visible(id)),
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

    fn matrix(&mut self, at: Path<'_>, document: &MatrixDocument) {
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
            // The text is not repeated: it may be the secret.
            if !syntax::is_secret_word(name) {
                self.fault(
                    list.item(number),
                    "is not the name of a secret: capitals, digits and `_`",
                );
            } else if syntax::is_taken(name) {
                self.fault(
                    list.item(number),
                    format!("is `{name}`, a variable of the runner or the system"),
                );
            } else if !known.insert(name) {
                self.fault(list.item(number), format!("is `{name}` once more"));
            }
        }
        let list = at.key("indexes");
        for (name, address) in indexes {
            self.fits(list, syntax::is_label(name), name, "the name of an index");
            if !syntax::is_index_address(address) {
                // It may hold a password.
                self.fault(
                    list.key(name),
                    "is not the address of an index: http(s), without user, blanks or quotes",
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
                self.fault(list.item(number), format!("matches no library: {reason}"));
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
                    "a family of GPUs",
                );
            }
        }
    }

    fn image_rule(
        &mut self,
        at: Path<'_>,
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
            "the name of an image",
        );
        let reference = format!("image:{tag}");
        let is_tag = tag.is_empty() || syntax::is_image_reference(&reference);
        self.fits(at.key("tag"), is_tag, tag, "the tag of an image");
        self.word(at.key("missing"), missing, MissingImage::WORDS);
        self.word(at.key("digest"), digest, DigestRule::WORDS);
    }

    fn docker(
        &mut self,
        at: Path<'_>,
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
                "the name or number of a group",
            );
        }
        self.word(at.key("gid"), gid, GroupIds::WORDS);
        let list = at.key("args");
        for (number, text) in args.iter().enumerate() {
            self.text(list.item(number), text);
            if let Some((message, _)) = docker_argument_fault(number, text) {
                self.fault(
                    list.item(number),
                    format!("cannot be given to the container: {}", visible(&message)),
                );
            }
        }
    }

    fn job(&mut self, at: Path<'_>, document: &JobDocument, matrices: &[MatrixDocument]) {
        let JobDocument {
            id,
            matrix,
            axes,
            distribution,
            version,
            wheel,
            wheels,
            label,
            backend,
            recipe,
            gates,
            gfx,
            families,
            dropped_gfx,
            image,
            image_glibc,
            runner,
            runner_group,
            gpu,
            estimate,
            covers,
            vars,
            warnings,
            run_time,
        } = document;
        let longest = id::LONGEST;
        if !is_id(id) {
            let reason = format!(
                "is `{}`, not an id: a-z, 0-9, `.`, `_` and `-`, at most {longest}",
                visible(id)
            );
            self.fault(at.key("id"), reason);
        }
        let of = matrices.get(*matrix);
        if of.is_none() {
            self.fault(
                at.key("matrix"),
                format!("is {matrix}, and the plan has {} matrices", matrices.len()),
            );
        }
        let list = at.key("axes");
        for (name, value) in axes {
            self.axis(list, name, value, of);
        }
        self.parses::<DistributionName>(at.key("distribution"), distribution);
        if of.is_some_and(|of| of.distribution != *distribution) {
            self.fault(
                at.key("distribution"),
                format!("is `{}`, not that of its matrix", visible(distribution)),
            );
        }
        self.optional::<Version>(at.key("version"), version.as_deref());
        self.file_name(at.key("wheel"), wheel);
        let list = at.key("wheels");
        for (number, name) in wheels.iter().enumerate() {
            self.parses::<ExpectedWheel>(list.item(number), name);
        }
        self.optional::<LocalLabel>(at.key("label"), label.as_deref());
        self.fits(
            at.key("backend"),
            syntax::is_label(backend),
            backend,
            "the name of a backend",
        );
        self.fits(
            at.key("recipe"),
            syntax::is_name(recipe),
            recipe,
            "the name of a recipe",
        );
        self.words(at.key("gates"), gates, Gate::WORDS);
        let list = at.key("gfx");
        for (number, target) in gfx.iter().enumerate() {
            self.parses::<GfxTarget>(list.item(number), target);
        }
        let list = at.key("families");
        for (number, family) in families.iter().enumerate() {
            self.fits(
                list.item(number),
                is_family(family),
                family,
                "a family of GPUs",
            );
        }
        let list = at.key("dropped_gfx");
        for (number, DroppedDocument { target, reason }) in dropped_gfx.iter().enumerate() {
            let of = list.item(number);
            self.parses::<GfxTarget>(of.key("target"), target);
            self.text(of.key("reason"), reason);
        }
        if let Some(image) = image {
            self.fits(
                at.key("image"),
                syntax::is_image_reference(image),
                image,
                "the name of an image",
            );
        }
        self.optional::<Version>(at.key("image_glibc"), image_glibc.as_deref());
        if runner.is_empty() && runner_group.is_none() {
            self.fault(at.key("runner"), "is empty");
        }
        if let Some(group) = runner_group {
            self.fits(
                at.key("runner_group"),
                is_runner_group(group),
                group,
                "the name of a group of runners",
            );
        }
        self.labels(at.key("runner"), runner, "a runner label");
        self.word(at.key("gpu"), gpu, GpuPolicy::WORDS);
        if let Some(EstimateDocument {
            objects: _,
            hours,
            attempts: _,
            cache_mb: _,
            verdict,
        }) = estimate
        {
            let of = at.key("estimate");
            if !hours.is_finite() || hours.is_sign_negative() {
                self.fault(of.key("hours"), format!("is {hours}, which no build takes"));
            }
            self.text(of.key("verdict"), verdict);
        }
        self.covers(at.key("covers"), covers, of);
        self.vars(at.key("vars"), vars);
        self.texts(at.key("warnings"), warnings);
        if let Some((_, reason)) = run_time.fault() {
            self.fault(at.key("run_time"), reason);
        }
    }

    fn excluded(&mut self, at: Path<'_>, document: &ExcludedDocument, matrices: &[MatrixDocument]) {
        let ExcludedDocument {
            matrix,
            axes,
            count: _,
            code,
            reason,
            hint,
            source,
        } = document;
        let of = matrices.get(*matrix);
        if of.is_none() {
            self.fault(
                at.key("matrix"),
                format!("is {matrix}, and the plan has {} matrices", matrices.len()),
            );
        }
        let list = at.key("axes");
        for (name, value) in axes {
            self.axis_name(list, name);
            self.text(list.key(name), value);
        }
        let is_code = matches!(code.as_bytes(), [letter, digits @ ..]
            if letter.is_ascii_uppercase() && digits.len() == 3 && digits.iter().all(u8::is_ascii_digit));
        self.fits(at.key("code"), is_code, code, "a code");
        self.text(at.key("reason"), reason);
        self.text(at.key("hint"), hint);
        self.text(at.key("source"), source);
    }

    /// The shards must deal the jobs out, each once and in order.
    fn shards(&mut self, at: Path<'_>, shards: &[ShardDocument], jobs: usize) {
        let mut next = 0;
        for (number, ShardDocument { first, count }) in shards.iter().enumerate() {
            let of = at.item(number);
            if *first != next {
                self.fault(
                    of.key("first"),
                    format!("is {first}, and the next job is {next}"),
                );
                return;
            }
            if !(1..=JOBS_PER_MATRIX).contains(count) || count.saturating_add(next) > jobs {
                self.fault(
                    of.key("count"),
                    format!(
                        "is {count}: {} jobs are left, and a shard has 1 to {JOBS_PER_MATRIX}",
                        jobs - next
                    ),
                );
                return;
            }
            next += count;
        }
        if !shards.is_empty() && next != jobs {
            self.fault(at, format!("have {next} jobs, and the plan has {jobs}"));
        }
    }

    fn axis_name(&mut self, at: Path<'_>, name: &str) {
        self.fits(at, syntax::is_label(name), name, "the name of an axis");
    }

    fn axis(&mut self, at: Path<'_>, name: &str, value: &str, of: Option<&MatrixDocument>) {
        self.axis_name(at, name);
        let at = at.key(name);
        match name {
            "python" => self.parses::<PythonVersion>(at, value),
            "torch" => self.parses::<Version>(at, value),
            "rocm" => self.parses::<RocmVersion>(at, value),
            "python-from" => self.word(at, value, PythonFrom::WORDS),
            "gpu" => self.word(at, value, GpuPolicy::WORDS),
            "runner" => self.fits(at, syntax::is_label(value), value, "a runner label"),
            "version" => self.parses::<PackageVersion>(at, value),
            _ if of.is_some_and(|of| of.distribution == name) => {
                self.parses::<PackageVersion>(at, value);
            }
            _ => self.path_or_word(at, value),
        }
    }

    fn covers(
        &mut self,
        at: Path<'_>,
        axes: &IndexMap<String, Vec<String>>,
        of: Option<&MatrixDocument>,
    ) {
        for (name, values) in axes {
            if values.is_empty() {
                self.axis_name(at, name);
            }
            for value in values {
                self.axis(at, name, value, of);
            }
        }
    }

    fn vars(&mut self, at: Path<'_>, vars: &IndexMap<String, String>) {
        for (name, value) in vars {
            self.fits(
                at,
                syntax::is_label(name),
                name,
                "the name of a recipe variable",
            );
            self.path_or_word(at.key(name), value);
        }
    }

    fn path_or_word(&mut self, at: Path<'_>, value: &str) {
        self.text(at, value);
        if syntax::leaves_the_repository(value) {
            self.fault(
                at,
                format!("is `{}`, a path that leaves the repository", visible(value)),
            );
        }
    }

    /// The name of what a job leaves: a wheel, a source distribution, an install tree or an archive
    /// of one.
    fn file_name(&mut self, at: Path<'_>, name: &str) {
        if is_wheel_file(name) {
            return self.parses::<ExpectedWheel>(at, name);
        }
        let inside = |b: u8| b.is_ascii_alphanumeric() || b"-_.+*".contains(&b);
        let is_name = name.starts_with(|c: char| c.is_ascii_alphanumeric())
            && name.len() <= WheelName::MAX_BYTES
            && name.bytes().all(inside);
        self.fits(
            at,
            is_name,
            name,
            "the name of a wheel, a source distribution or a tree",
        );
    }

    fn file_names(&mut self, at: Path<'_>, names: &[String]) {
        for (number, name) in names.iter().enumerate() {
            self.file_name(at.item(number), name);
        }
    }

    fn labels(&mut self, at: Path<'_>, texts: &[String], what: &str) {
        for (number, text) in texts.iter().enumerate() {
            self.fits(at.item(number), syntax::is_label(text), text, what);
        }
    }

    /// A text of one line that prints.
    fn text(&mut self, at: Path<'_>, text: &str) {
        if let Some(c) = syntax::unprintable(text) {
            self.fault(
                at,
                format!(
                    "holds the character U+{:04X}, which does not print",
                    u32::from(c)
                ),
            );
        }
    }

    fn texts(&mut self, at: Path<'_>, texts: &[String]) {
        for (number, text) in texts.iter().enumerate() {
            self.text(at.item(number), text);
        }
    }

    fn fits(&mut self, at: Path<'_>, fits: bool, text: &str, what: &str) {
        if !fits {
            self.fault(at, format!("is `{}`, not {what}", visible(text)));
        }
    }

    fn word(&mut self, at: Path<'_>, text: &str, words: &[&str]) {
        if !words.contains(&text) {
            self.fault(
                at,
                format!("is `{}`, not one of {}", visible(text), words.join(", ")),
            );
        }
    }

    fn words(&mut self, at: Path<'_>, texts: &[String], words: &[&str]) {
        for (number, text) in texts.iter().enumerate() {
            self.word(at.item(number), text, words);
        }
    }

    fn parses<T: FromStr<Err: Display>>(&mut self, at: Path<'_>, text: &str) {
        match text.parse::<T>() {
            Err(error) => self.fault(at, format!("is refused: {}", visible(&error.to_string()))),
            Ok(_) => self.text(at, text),
        }
    }

    fn optional<T: FromStr<Err: Display>>(&mut self, at: Path<'_>, text: Option<&str>) {
        if let Some(text) = text {
            self.parses::<T>(at, text);
        }
    }
}

/// Whether a text may name a family of GPUs or a target.
fn is_family(text: &str) -> bool {
    syntax::is_label(text) || text.parse::<GfxTarget>().is_ok()
}
