//! Tests of the choice of a platform, on libraries in memory.

use std::sync::Arc;

use super::PlatformRequest;
use crate::compliance::evaluate_policies;
use crate::inspect::{InspectedFile, InspectedKind};
use crate::library::ElfLibrary;
use crate::{AuditOptions, Auditor, NoLibraries, RepairOptions};
use rock_codeobj::CodeInventory;
use rock_compat::Compat;
use rock_compat::policy::PolicyFamily;
use rock_elf::{Elf, VersionNeed};
use rock_names::{Arch, WheelName};

const FILE_NAME: &str = "demo-1.0-cp312-cp312-linux_x86_64.whl";

/// Returns a library that needs a version of glibc and a level of x86-64.
fn file(version: &str, isa_level: Option<usize>) -> InspectedFile {
    let bytes = rock_testkit::library(&["libc.so.6"], &[]);
    let elf = Elf::read(&bytes).unwrap();
    let library = ElfLibrary::read(&bytes, &elf, "_demo.so", &|_| false).unwrap();
    let library = ElfLibrary {
        versions: vec![VersionNeed {
            library: "libc.so.6".to_owned(),
            versions: vec![version.to_owned()],
            indexes: vec![2],
        }],
        isa_level,
        ..library
    };
    InspectedFile {
        path: "demo/_demo.so".to_owned(),
        size_bytes: 0,
        crc32: 0,
        kind: InspectedKind::Library(Box::new(library)),
        inventory: CodeInventory::default(),
        layout_errors: Vec::new(),
        record_verified: false,
    }
}

/// Returns the tags of the repaired wheel, or else the reasons why there are none.
fn choose(platform: Option<&str>, only_platform: bool, file: InspectedFile) -> Vec<String> {
    let compat = Compat::embedded();
    let auditor = Auditor::new(&compat, NoLibraries, AuditOptions::default());
    let policies = Arc::new(auditor.policies(PolicyFamily::Manylinux, Arch::X86_64));
    let files = [file];
    let compliance = evaluate_policies(&files, &[0], &policies, auditor.policy_context(false));
    let name: WheelName = FILE_NAME.parse().unwrap();
    let options = RepairOptions {
        only_platform,
        ..RepairOptions::default()
    };
    let request = PlatformRequest {
        file_name: FILE_NAME,
        name: &name,
        files: &files,
        compliance: &compliance,
        platform,
        options: &options,
    };
    let choice = match request.choose_policies() {
        Ok(choice) => choice,
        Err(unknown) => return vec![unknown.message],
    };
    if !choice.violations.is_empty() {
        let messages = choice.violations.iter().map(|error| error.message.clone());
        return messages.collect();
    }
    let (platform, findings) = request.choose_tags(&choice).unwrap();
    assert!(findings.is_empty(), "{findings:?}");
    platform.tags.iter().cloned().collect()
}

#[test]
fn tags_are_those_of_the_requested_and_of_the_best_platform() {
    let (requested, only_platform) = (Some("manylinux_2_28_x86_64"), true);
    for (platform, only_platform, version, expected) in [
        (
            None,
            false,
            "GLIBC_2.17",
            vec!["manylinux2014_x86_64", "manylinux_2_17_x86_64"],
        ),
        (
            requested,
            false,
            "GLIBC_2.17",
            vec![
                "manylinux2014_x86_64",
                "manylinux_2_17_x86_64",
                "manylinux_2_28_x86_64",
            ],
        ),
        (
            requested,
            only_platform,
            "GLIBC_2.17",
            vec!["manylinux_2_28_x86_64"],
        ),
        (
            Some("linux_x86_64"),
            false,
            "GLIBC_2.99",
            vec!["linux_x86_64"],
        ),
    ] {
        assert_eq!(
            choose(platform, only_platform, file(version, None)),
            expected,
            "{platform:?}"
        );
    }
}

#[test]
fn all_violations_of_a_platform_are_returned() {
    let level_3 = Some(2);
    for (platform, expected) in [
        (
            Some("manylinux_2_17_x86_64"),
            vec![
                "the wheel cannot comply with `manylinux_2_17_x86_64`: `demo/_demo.so` needs \
                 GLIBC_2.99, which it does not provide",
                "the wheel cannot comply with `manylinux_2_17_x86_64`: `demo/_demo.so` needs an \
                 x86-64 level above the baseline",
            ],
        ),
        (
            None,
            vec![
                "the wheel cannot comply with any platform: `demo/_demo.so` needs GLIBC_2.99, \
                 which none of them provides",
                "the wheel cannot comply with any platform: `demo/_demo.so` needs an x86-64 level \
                 above the baseline",
            ],
        ),
        (
            Some("manylinux_2_99_x86_64"),
            vec!["there is no platform `manylinux_2_99_x86_64` for this wheel"],
        ),
    ] {
        let violations = choose(platform, false, file("GLIBC_2.99", level_3));
        assert_eq!(violations, expected, "{platform:?}");
    }
}
