//! The JSON form of a decision.

use serde::Serialize;

use rock_compat::RuntimeRequirements;
use rock_names::Digest;

use super::{
    MatchNote, Mismatch, PassedOver, PickDecision, TargetMachine, WheelCandidate, torch_sentence,
};

/// The version of the format, incremented when a field is removed or changes its meaning.
const VERSION: u32 = 1;

#[derive(Debug, Serialize)]
struct PickDocument<'w> {
    version: u32,
    machine: MachineRow,
    wheel: Option<WheelRow<'w>>,
    fitting: usize,
    others: Vec<String>,
    nearest: Vec<NearRow<'w>>,
    yanked: Vec<YankedRow>,
}

#[derive(Debug, Serialize)]
struct YankedRow {
    name: String,
    reason: String,
}

#[derive(Debug, Serialize)]
struct MachineRow {
    distribution: Option<String>,
    rocm: Option<String>,
    torch: Option<String>,
    python: Option<String>,
    gfx: Vec<String>,
    backend: Option<String>,
    platform: Option<String>,
    libc: Option<String>,
}

#[derive(Debug, Serialize)]
struct WheelRow<'w> {
    name: String,
    release: String,
    url: String,
    sha256: Option<String>,
    size_bytes: Option<u64>,
    /// Device wheels with its code for the machine's GPUs.
    device_wheels: Vec<&'w str>,
    /// The command to use if its torch is installed.
    install: Option<String>,
    /// The command to use if nothing is installed.
    install_from_nothing: Option<String>,
    about_torch: &'static str,
    run_time: &'w RuntimeRequirements,
    notes: Vec<NoteRow>,
}

#[derive(Debug, Serialize)]
struct NoteRow {
    axis: &'static str,
    text: String,
}

#[derive(Debug, Serialize)]
struct NearRow<'w> {
    #[serde(flatten)]
    wheel: WheelRow<'w>,
    differences: Vec<DifferenceRow>,
}

#[derive(Debug, Serialize)]
struct DifferenceRow {
    axis: &'static str,
    wheel: String,
    yours: String,
    why: Option<String>,
    text: String,
}

/// Returns the decision as a JSON object with a final newline. `yanked` lists the yanked wheels
/// that fit and were skipped.
///
/// # Panics
/// Never: strings and numbers always serialize.
pub fn json(
    candidates: &[WheelCandidate],
    machine: &TargetMachine,
    decision: &PickDecision,
    yanked: &[PassedOver],
) -> String {
    let document = PickDocument {
        version: VERSION,
        machine: machine_row(machine),
        wheel: decision
            .fits
            .first()
            .map(|fit| wheel(&candidates[fit.index], machine, &fit.notes)),
        fitting: decision.fits.len(),
        others: decision
            .fits
            .iter()
            .skip(1)
            .map(|fit| candidates[fit.index].offer.file.clone())
            .collect(),
        nearest: decision
            .near
            .iter()
            .map(|near| NearRow {
                wheel: wheel(&candidates[near.index], machine, &near.notes),
                differences: near.differences.iter().map(difference).collect(),
            })
            .collect(),
        yanked: yanked
            .iter()
            .map(|wheel| YankedRow {
                name: wheel.file.clone(),
                reason: wheel.reason.clone(),
            })
            .collect(),
    };
    serde_json::to_string_pretty(&document).expect("a struct of strings and numbers serializes")
        + "\n"
}

fn machine_row(machine: &TargetMachine) -> MachineRow {
    MachineRow {
        distribution: machine.distribution.clone(),
        rocm: machine.rocm.as_ref().map(ToString::to_string),
        torch: machine.torch.as_ref().map(ToString::to_string),
        python: machine.python.map(|python| python.to_string()),
        gfx: machine.gfx.iter().cloned().collect(),
        backend: machine.backend.clone(),
        platform: machine.platform.clone(),
        libc: machine.libc.map(|libc| libc.to_string()),
    }
}

fn wheel<'w>(
    candidate: &'w WheelCandidate,
    machine: &'w TargetMachine,
    notes: &[MatchNote],
) -> WheelRow<'w> {
    let offer = &candidate.offer;
    let lines = candidate.install_lines(&machine.gfx);
    WheelRow {
        name: offer.file.clone(),
        release: offer.release.clone(),
        url: offer.url.clone(),
        sha256: offer.digest.map(Digest::to_hex),
        size_bytes: offer.size_bytes,
        device_wheels: candidate
            .needed_devices(&machine.gfx)
            .map(|device| device.offer.file.as_str())
            .collect(),
        install: lines.as_ref().map(|lines| lines.with_torch.clone()),
        install_from_nothing: lines.and_then(|lines| lines.from_nothing),
        about_torch: torch_sentence(candidate.torch.is_some()),
        run_time: &candidate.run_time,
        notes: notes
            .iter()
            .map(|note| NoteRow {
                axis: note.axis.key(),
                text: note.text.clone(),
            })
            .collect(),
    }
}

fn difference(difference: &Mismatch) -> DifferenceRow {
    DifferenceRow {
        axis: difference.axis.key(),
        wheel: difference.wheel.clone(),
        yours: difference.yours.clone(),
        why: difference.why.clone(),
        text: difference.to_string(),
    }
}
