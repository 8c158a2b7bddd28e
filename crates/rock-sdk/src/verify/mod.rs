//! Checks that finished packages are consistent with each other, before anyone installs them.
//!
//! [`VerifiedPackages::verify`] opens the wheels and source distributions of a directory as
//! [`OpenedPackages`] and checks them against the rows of `matrices/compat/sdk-packages.yaml`. Each
//! finding has its wheel and member.
//!
//! **Invariant:** The checks of [`OpenedPackages`] read no files and do not depend on each other.

mod archives;
mod devel;
mod devices;
mod directory;
mod names;
mod ownership;
mod packages;
mod scripts;
mod search;
mod selector;
mod siblings;
mod sonames;
mod split_code;
mod stubs;
mod texts;
mod wheel;

use rock_audit::codes::{rocm, wheel as audit_codes};
use rock_compat::rows::SdkTables;
use rock_diagnostic::{Code, Diagnostic};

pub use directory::{VerifiedPackage, VerifiedPackages};
pub use packages::{
    DynamicInfo, LoaderView, OpenedFile, OpenedPackages, OpenedWheel, PackedTree, PayloadEntry,
    SelectorSdist, identify,
};
pub use texts::is_read;
pub use wheel::verify_wheel;

/// Codes of properties that are intended in SDK packages and mistakes in other wheels: they contain
/// ROCm, put libraries into purelib, and contain copies instead of symlinks.
pub const ON_PURPOSE: [&Code; 4] = [
    &rocm::PURELIB_WITH_LIBRARIES,
    &rocm::VENDORED_ROCM,
    &rock_wheel::codes::wheel::PURELIB_MISMATCH,
    &audit_codes::COPIED_LIBRARY,
];

/// The help for a package that differs from what a build writes.
const MAKE_AGAIN: &str =
    "create the packages again with `rock-matrix sdk build`, and do not change them";

/// Checks the packages of a directory, each by itself and all together.
pub fn verify(opened: &OpenedPackages, facts: &SdkTables) -> Vec<Diagnostic> {
    let mut found = names::findings(opened, facts);
    for wheel in &opened.wheels {
        found.extend(check_wheel(wheel, facts));
    }
    found.extend(ownership::findings(opened));
    found.extend(search::across(opened));
    for wheel in &opened.wheels {
        found.extend(devel::owners(wheel, opened, facts));
    }
    for selector in &opened.selectors {
        found.extend(selector::findings(selector, opened, facts));
    }
    found
}

/// Checks one wheel, independent of the other packages.
pub fn check_wheel(wheel: &OpenedWheel, facts: &SdkTables) -> Vec<Diagnostic> {
    let mut found = names::of_wheel(wheel);
    found.extend(siblings::findings(wheel, facts));
    found.extend(scripts::findings(wheel));
    found.extend(search::of_wheel(wheel, facts));
    found.extend(sonames::findings(wheel, facts));
    found.extend(stubs::findings(wheel));
    found.extend(devices::findings(wheel, facts));
    found.extend(devel::findings(wheel, facts));
    found
}
