//! Requirements at run time of the packages that the shipped recipes build.

use super::{embedded, embedded_names};
use rock_compat::RuntimeRequirements;
use rock_names::{DistributionName, LabelParts, RocmVersion, WheelName};

/// Returns the requirements of a published wheel at run time, according to the shipped recipes that build
/// the distribution, for the backend in its label.
pub fn shipped_runtime_requirements(
    distribution: &DistributionName,
    backend: Option<&str>,
) -> RuntimeRequirements {
    let normalized = distribution.normalized();
    let documents = embedded_names().filter_map(embedded);
    let of_distribution = documents.filter(|document| {
        document
            .distribution
            .parse::<DistributionName>()
            .is_ok_and(|name| name.normalized() == normalized)
    });
    let label = backend.unwrap_or_default();
    of_distribution
        .flat_map(|document| document.profile(&normalized).backends)
        .find(|known| known.label == label)
        .map(|known| known.run_time)
        .unwrap_or_default()
}

/// Returns the requirements of a wheel at run time by its name, like
/// [`shipped_runtime_requirements`]; `known` are the ROCm versions used to parse its label.
pub fn shipped_runtime_requirements_of_wheel(
    wheel: &WheelName,
    known: &[RocmVersion],
) -> RuntimeRequirements {
    let label = wheel
        .label()
        .and_then(|label| LabelParts::parse(&label, known).ok());
    let backend = label.and_then(|parsed| parsed.parts.backend);
    shipped_runtime_requirements(wheel.distribution(), backend.as_deref())
}

#[cfg(test)]
mod tests {
    use super::shipped_runtime_requirements;
    use rock_compat::RuntimeRequirements;

    fn of(backend: Option<&str>) -> RuntimeRequirements {
        shipped_runtime_requirements(&"Flash_Attn".parse().unwrap(), backend)
    }

    #[test]
    fn the_backend_of_a_label_determines_needs_at_run_time() {
        assert_eq!(
            of(Some("triton")).sentence(),
            "At run time it needs einops and triton, and this variable"
        );
        assert_eq!(
            of(Some("triton")).assignments().collect::<Vec<_>>(),
            ["FLASH_ATTENTION_TRITON_AMD_ENABLE=TRUE"]
        );
        assert_eq!(of(None).sentence(), "");
        assert_eq!(of(Some("metal")), RuntimeRequirements::default());
        assert!(shipped_runtime_requirements(&"numpy".parse().unwrap(), None).is_empty());
    }
}
