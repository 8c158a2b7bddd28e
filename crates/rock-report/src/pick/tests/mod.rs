//! Tests with wheels in memory.

use std::collections::BTreeSet;

use super::{
    Axis, Candidate, Decision, GfxCode, Libc, Machine, Offers, PrereleaseMode, PythonRange, Rules,
    candidates, decide,
};
use rock_compat::Compat;
use rock_names::{VersionSpecifiers, WheelName};
use rock_publish::{Accelerated, Listing, Manifest, ManifestFile};

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
        run_time: rock_plan::config::RunTime::default(),
        gfx: vec![],
        metadata_sha256: None,
        index: String::new(),
    }
}

fn wheels_of(rows: Vec<ManifestFile>) -> Vec<Candidate> {
    let mut offers = Offers::default();
    offers.add_manifest(&Manifest::new(None, None, rows), BASE);
    candidates(
        offers.into_wheels(),
        &Compat::embedded(),
        PrereleaseMode::IfNecessary,
    )
}

fn wheels(names: &[&str]) -> Vec<Candidate> {
    wheels_of(names.iter().map(|name| row(name)).collect())
}

/// Returns a machine with ROCm 6.4, torch 2.9 and Python 3.12.
fn usual_machine() -> Machine {
    machine("6.4", "2.9", "3.12")
}

/// Returns a machine with these versions of ROCm, torch and Python.
fn machine(rocm: &str, torch: &str, python: &str) -> Machine {
    Machine {
        rocm: rocm.parse().ok(),
        torch: torch.parse().ok(),
        python: python.parse().ok(),
        platform: Some("linux_x86_64".to_owned()),
        libc: "glibc 2.35".parse().ok(),
        gfx: BTreeSet::from(["gfx942".to_owned()]),
        ..Machine::default()
    }
}

fn decided(wheels: &[Candidate], machine: &Machine) -> Decision {
    decide(wheels, machine, &Rules::of(&Compat::embedded()))
}

/// Checks the start of the best wheel, or of the differences of the closest one.
#[track_caller]
fn check(names: &[&str], machine: &Machine, expect: &str) {
    let wheels = wheels(names);
    let decision = decided(&wheels, machine);
    let told = match decision.fits.first() {
        Some(fit) => wheels[fit.index].offer.file.clone(),
        None => decision.near[0]
            .differences
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join(" | "),
    };
    assert!(told.starts_with(expect), "{told}\nnot {expect}");
}

const CP312: &str = "flash_attn-2.8.3+rocm64torch2.9-cp312-cp312-manylinux_2_28_x86_64.whl";

const TRITON: &str = "flash_attn-2.8.3+rocm64torch2.9triton-py3-none-any.whl";
