//! Tests with wheels in memory.

use std::collections::BTreeSet;

use super::{
    CompiledCode, GfxCode, MachineLibc, MatchAxis, MatchRules, PickDecision, PrereleaseMode,
    PythonRange, TargetMachine, WheelCandidate, WheelOffers, candidates, decide,
};
use rock_compat::Compat;
use rock_names::{VersionSpecifiers, WheelName};
use rock_publish::{
    AcceleratorVersion, GfxOrigin, ManifestFile, NeededTorch, ReleaseListing, ReleaseManifest,
};

mod labels;
mod machine;
mod published;
mod python;
mod ranking;

const BASE: &str = "https://example.org/r/";

fn row(name: &str) -> ManifestFile {
    ManifestFile {
        name: name.to_owned(),
        sha256: rock_names::Digest::new([0xab; 32]),
        size_bytes: 7,
        distribution: String::new(),
        version: String::new(),
        label: None,
        accelerator: None,
        torch: None,
        git: None,
        backend: None,
        build: None,
        python: vec![],
        abi: vec![],
        platform: vec![],
        covers: vec![],
        requires_python: None,
        gfx_from: None,
        needs_rocm: vec![],
        needs_torch: None,
        run_time: rock_compat::RuntimeRequirements::default(),
        gfx: vec![],
        metadata_sha256: None,
        index: String::new(),
    }
}

fn wheels_of(rows: Vec<ManifestFile>) -> Vec<WheelCandidate> {
    let mut offers = WheelOffers::default();
    offers.add_manifest(&ReleaseManifest::new(None, None, rows), BASE);
    candidates(
        offers.into_wheels(),
        &Compat::embedded(),
        PrereleaseMode::IfNecessary,
    )
}

fn wheels(names: &[&str]) -> Vec<WheelCandidate> {
    wheels_of(names.iter().map(|name| row(name)).collect())
}

/// Returns a machine with ROCm 6.4, torch 2.9 and Python 3.12.
fn usual_machine() -> TargetMachine {
    machine("6.4", "2.9", "3.12")
}

/// Returns a machine with these versions of ROCm, torch and Python.
fn machine(rocm: &str, torch: &str, python: &str) -> TargetMachine {
    TargetMachine {
        rocm: rocm.parse().ok(),
        torch: torch.parse().ok(),
        python: python.parse().ok(),
        platform: Some("linux_x86_64".to_owned()),
        libc: "glibc 2.35".parse().ok(),
        gfx: BTreeSet::from(["gfx942".to_owned()]),
        ..TargetMachine::default()
    }
}

fn decided(wheels: &[WheelCandidate], machine: &TargetMachine) -> PickDecision {
    decide(wheels, machine, &MatchRules::of(&Compat::embedded()))
}

/// Checks how the name of the best wheel starts or, if none fits, the mismatches of the nearest
/// one.
#[track_caller]
fn check(names: &[&str], machine: &TargetMachine, expect: &str) {
    let wheels = wheels(names);
    let decision = decided(&wheels, machine);
    let answer = match decision.fits.first() {
        Some(fit) => wheels[fit.index].offer.file.clone(),
        None => decision.near[0]
            .differences
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join(" | "),
    };
    assert!(answer.starts_with(expect), "{answer}\nnot {expect}");
}

const CP312: &str = "flash_attn-2.8.3+rocm64torch2.9-cp312-cp312-manylinux_2_28_x86_64.whl";

const TRITON: &str = "flash_attn-2.8.3+rocm64torch2.9triton-py3-none-any.whl";
