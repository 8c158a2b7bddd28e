//! Matches the torch of a wheel against that of a machine.

use rock_publish::NeededTorch;

use super::rules::WEIGHTS;
use super::wheel_match::{AxisMatch, not_known};
use super::{MatchRules, TargetMachine, WheelCandidate};

/// Matches the torch series.
pub(super) fn torch(
    wheel: &WheelCandidate,
    machine: &TargetMachine,
    rules: &MatchRules,
) -> AxisMatch {
    let Some(own) = &wheel.torch else {
        let row = wheel.offer.row.as_ref();
        let needed = row.and_then(|row| row.needs_torch.as_ref());
        return needed.map_or(AxisMatch::Exact, |needed| torch_symbols(needed, machine));
    };
    let Some(torch) = &machine.torch else {
        return not_known(&own.to_string());
    };
    if own == torch {
        return AxisMatch::Exact;
    }
    let steps = WEIGHTS.steps(own.minor, torch.minor);
    let reach = rules.reach("torch", wheel.compiled_code.torch_case());
    match reach.filter(|reach| reach.fits) {
        Some(reach) => {
            let text = format!("the wheel is for {own}, you have {torch}; {}", reach.said);
            AxisMatch::Fine {
                cost: WEIGHTS.other_rocm + steps,
                text,
            }
        }
        None => AxisMatch::Differs {
            size: WEIGHTS.torch + steps,
            wheel: own.to_string(),
            yours: torch.to_string(),
            why: reach.map(|reach| reach.said.clone()),
        },
    }
}

/// Matches the torch of a wheel whose name does not contain it, by the symbols that its libraries
/// need.
fn torch_symbols(needed: &NeededTorch, machine: &TargetMachine) -> AxisMatch {
    let Some(torch) = &machine.torch else {
        return not_known(&needed.versions);
    };
    let (major, minor) = torch.minor;
    if needed.lacking.contains(&format!("{major}.{minor}")) {
        return AxisMatch::Differs {
            size: WEIGHTS.torch,
            wheel: needed.versions.clone(),
            yours: torch.to_string(),
            why: Some("its libraries need symbols that other versions lack".to_owned()),
        };
    }
    let text = format!(
        "the wheel's name does not contain a torch version; its libraries need symbols of torch {}",
        needed.versions
    );
    AxisMatch::Fine {
        cost: WEIGHTS.other_rocm,
        text,
    }
}
