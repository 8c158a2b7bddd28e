//! Checks of a plan's jobs and exclusions.

use super::check::JsonChecker;
use super::field::JsonPath;
use super::field_checks::is_family;
use super::{DroppedDocument, EstimateDocument, ExcludedDocument, JobDocument, MatrixDocument};
use crate::config::{Gate, GpuPolicy, is_runner_group, syntax};
use crate::job_id::{self, is_id};
use rock_diagnostic::render::escape_line;
use rock_names::{DistributionName, ExpectedWheel, GfxTarget, LocalLabel, Version};

impl JsonChecker {
    pub(super) fn job(
        &mut self,
        at: JsonPath<'_>,
        document: &JobDocument,
        matrices: &[MatrixDocument],
    ) {
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
        let longest = job_id::LONGEST;
        if !is_id(id) {
            let reason = format!(
                "is `{}`, not a valid ID: a-z, 0-9, `.`, `_` and `-`, at most {longest} characters",
                escape_line(id)
            );
            self.fault(at.key("id"), reason);
        }
        let of = matrices.get(*matrix);
        if of.is_none() {
            self.fault(
                at.key("matrix"),
                format!("is {matrix}, but the plan has {} matrices", matrices.len()),
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
                format!(
                    "is `{}`, which differs from its matrix",
                    escape_line(distribution)
                ),
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
            "a backend name",
        );
        self.fits(
            at.key("recipe"),
            syntax::is_name(recipe),
            recipe,
            "a recipe name",
        );
        self.words(at.key("gates"), gates, Gate::WORDS);
        let list = at.key("gfx");
        for (number, target) in gfx.iter().enumerate() {
            self.parses::<GfxTarget>(list.item(number), target);
        }
        let list = at.key("families");
        for (number, family) in families.iter().enumerate() {
            self.fits(list.item(number), is_family(family), family, "a GPU family");
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
                "an image name",
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
                "a runner group",
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
                self.fault(
                    of.key("hours"),
                    format!("is {hours}, which is not a valid duration"),
                );
            }
            self.text(of.key("verdict"), verdict);
        }
        self.covers(at.key("covers"), covers, of);
        self.vars(at.key("vars"), vars);
        self.texts(at.key("warnings"), warnings);
        if let Some((_, reason)) = run_time.invalid_text() {
            self.fault(at.key("run_time"), reason);
        }
    }

    pub(super) fn excluded(
        &mut self,
        at: JsonPath<'_>,
        document: &ExcludedDocument,
        matrices: &[MatrixDocument],
    ) {
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
                format!("is {matrix}, but the plan has {} matrices", matrices.len()),
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
}
