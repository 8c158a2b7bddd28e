//! Archives that installers or PyPI refuse, or that two of them read as different files: no command takes one, and
//! none writes anything.

use crate::support::raw_zip::{RawZip, unicode_path};
use crate::support::{Project, Wheel, appears};

const NAME: &str = "demo-1.0-cp312-cp312-linux_x86_64.whl";

/// Every command that takes a wheel.
fn commands() -> [Vec<&'static str>; 9] {
    [
        vec!["wheel", "show", NAME, "--no-host-libs"],
        vec!["wheel", "check", NAME, "--no-host-libs"],
        vec!["wheel", "gfx", NAME],
        vec!["wheel", "verify", NAME],
        vec!["wheel", "repair", NAME, "--no-host-libs", "-w", "fixed"],
        vec!["wheel", "label", NAME, "--local", "rocm62", "-w", "out"],
        vec!["wheel", "retag", NAME, "--platform-tag", "manylinux_2_28_x86_64", "-w", "out"],
        vec!["publish", "--to", "release", NAME],
        vec!["index", "build", ".", "--out", "site"],
    ]
}

/// A sound wheel whose first member is `demo/__init__.py`.
fn sound() -> RawZip {
    RawZip::read(&Wheel::named(NAME).file("demo/z.bin", "evil()").bytes())
}

/// Returns what `wheel verify` says of an archive that every command must refuse with this code.
#[track_caller]
fn refused(code: &str, archive: &RawZip) -> String {
    let bytes = archive.bytes();
    let project = Project::new().bytes(NAME, &bytes);
    for command in commands() {
        let done = project.run(&command).exits(1);
        assert!(done.stderr.starts_with(&format!("error[{code} ")), "{command:?}: {}", done.stderr);
        assert_eq!(project.files(), [NAME], "{command:?}");
        assert!(std::fs::read(project.path(NAME)).unwrap() == bytes, "{command:?}");
    }
    verified(archive)
}

fn verified(archive: &RawZip) -> String {
    Project::new().bytes(NAME, &archive.bytes()).said(&["wheel", "verify", NAME])
}

#[test]
fn every_command_takes_the_sound_archive() {
    let project = Project::new().bytes(NAME, &sound().bytes());
    for command in commands() {
        project.run(&command).exits(0);
    }
}

/// The name that pip on Python 3.12 and uv install is the one that was checked, in both headers.
#[test]
fn a_unicode_path_that_names_another_file_is_refused() {
    let field = unicode_path(b"demo/z.bin", "demo/__init__.py");
    let with = |edit: fn(&mut crate::support::raw_zip::RawMember, Vec<u8>)| {
        sound().with(|archive| {
            let member = archive.members.iter_mut().find(|member| member.name == b"demo/z.bin").unwrap();
            edit(member, field.clone());
        })
    };
    let central = refused("W100", &with(|member, field| member.central_extra = field));
    let local = refused("W100", &with(|member, field| member.local_extra = field));
    insta::assert_snapshot!([central, local].concat(), @r"
    error[W100 unicode-path]: the central header of `demo/z.bin`, at byte 846, has an Info-ZIP Unicode Path field (0x7075) that names `demo/__init__.py`
    --> demo-1.0-cp312-cp312-linux_x86_64.whl: demo/z.bin

    error[W100 unicode-path]: the local header of `demo/z.bin`, at byte 62, has an Info-ZIP Unicode Path field (0x7075) that names `demo/__init__.py`
    --> demo-1.0-cp312-cp312-linux_x86_64.whl: demo/z.bin
    ");
    // The same name again changes nothing.
    let same = unicode_path(b"demo/z.bin", "demo/z.bin");
    let both = sound().with(|archive| {
        let member = archive.members.iter_mut().find(|member| member.name == b"demo/z.bin").unwrap();
        (member.local_extra, member.central_extra) = (same.clone(), same);
    });
    assert_eq!(verified(&both), "");
    appears("W100", &verified(&with(|member, field| member.central_extra = field)), &verified(&both));
}
