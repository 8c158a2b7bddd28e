//! Releases and indexes of thousands of wheels: what a command remembers of each is small.

use crate::support::hostile::{Bounds, peak_kib};
use crate::support::{Project, Wheel};

/// Far more than a command takes; only the difference of two runs is looked at.
const BOUNDS: Bounds = Bounds {
    address_mib: 4096,
    peak_mib: 1024,
    cpu_s: 120,
};
const FEW: u64 = 150;
const MANY: u64 = 4 * FEW;
/// Three times what `publish` takes, and half of what a state of inflating would that stays for
/// each wheel.
const MAX_BYTES_PER_WHEEL: u64 = 24 << 10;

fn project(count: u64) -> Project {
    (0..count).fold(Project::new(), |project, number| {
        let name = format!("tiny-1.{number}+rocm62torch2.5-py3-none-any.whl");
        project.bytes(&format!("dist/{name}"), &Wheel::named(&name).bytes())
    })
}

/// Compares the memory that a command takes of few wheels with that of four times as many.
#[test]
fn memory_per_wheel_of_an_index_and_a_release_is_bounded() {
    let (few, many) = (project(FEW), project(MANY));
    for command in [
        &["index", "build", "dist", "--out", "site"][..],
        &["publish", "--to", "release", "dist"],
    ] {
        let [of_few, of_many] = [&few, &many].map(|project| peak_kib(project, BOUNDS, command));
        let per_wheel = (of_many.saturating_sub(of_few) << 10) / (MANY - FEW);
        assert!(
            per_wheel < MAX_BYTES_PER_WHEEL,
            "{command:?}: {per_wheel} bytes a wheel; {of_few} and {of_many} KiB"
        );
        assert!(of_few > 1024, "the run was measured");
    }
}
