//! The settings of a matrix file in the plan's JSON.

use super::super::{Plan, PlanGroup};
use super::{DockerDocument, ImageDocument, MatrixDocument, RepairDocument, TestDocument};

/// Creates the document of one group.
pub(super) fn matrix_document(plan: &Plan, group: &PlanGroup) -> MatrixDocument {
    let config = &group.config;
    MatrixDocument {
        matrix: config.locations.source().path.to_string(),
        distribution: config.distribution.to_string(),
        platform: config.platform.to_string(),
        torch_from: config.torch_from.to_string(),
        python_from: config.python_from.to_string(),
        image: ImageDocument {
            repository: config.image.repository.clone(),
            tag: config.image.tag.clone(),
            missing: config.image.missing.to_string(),
            digest: config.image.digest.to_string(),
        },
        docker: DockerDocument {
            shm_size: config.docker.shm_size.clone(),
            groups: config.docker.groups.clone(),
            gid: config.docker.gid.to_string(),
            args: config.docker.args.clone(),
        },
        cache: config.workflow.cache.to_string(),
        cache_mb: plan.cache_share_mb().filter(|_| group.keeps_cache()),
        vars: config.vars.clone(),
        secrets: config.secrets.clone(),
        indexes: config.indexes.clone(),
        device_extras: config.device_extras,
        repair: RepairDocument {
            platform: config.repair.platform.to_string(),
            presets: config.repair.presets.clone(),
            exclude: config.repair.exclude.clone(),
        },
        test: TestDocument {
            runner: config.test.runner.to_string(),
            gpu: config.test.gpu.to_string(),
            families: config.test.families.as_ref().map(ToString::to_string),
        },
    }
}
