//! Added, renamed and replaced members.

use super::*;

#[test]
fn added_members_precede_dist_info_and_record_is_last() {
    let mut edits = WheelEdits::default();
    for name in [
        "flash_attn.libs/libz.so",
        "flash_attn.libs/liba.so",
        &format!("{DIST_INFO}/sboms/x.cdx.json"),
    ] {
        edits
            .added
            .insert(name.to_owned(), AddedMember::plain(b"new".to_vec()));
    }
    edits.removed.insert("a.py".to_owned());
    edits
        .renamed
        .insert("b/c.so".to_owned(), "d/c.so".to_owned());
    let out = rewritten_small(&edits).unwrap();
    assert_valid(&out);
    let expect = [
        "d/c.so",
        "flash_attn.libs/liba.so",
        "flash_attn.libs/libz.so",
        "flash_attn-2.8.3.dist-info/METADATA",
        "flash_attn-2.8.3.dist-info/WHEEL",
        "flash_attn-2.8.3.dist-info/sboms/x.cdx.json",
        "flash_attn-2.8.3.dist-info/RECORD",
    ];
    assert_eq!(names(&out), expect);
    let wheel = Wheel::open(&out).unwrap();
    assert!(
        wheel
            .record()
            .rows
            .iter()
            .map(|row| row.path.as_str())
            .eq(expect),
        "rows stand as the members do"
    );
}

#[test]
fn added_members_follow_a_renamed_directory() {
    let mut edits = WheelEdits::default();
    edits.renamed_dirs.insert(
        DIST_INFO.to_owned(),
        "flash_attn-2.8.3+x.dist-info".to_owned(),
    );
    edits.added.insert(
        format!("{DIST_INFO}/sboms/s"),
        AddedMember::plain(Vec::new()),
    );
    let out = rewritten_small(&edits).unwrap();
    assert!(names(&out).contains(&"flash_attn-2.8.3+x.dist-info/sboms/s".to_owned()));
    assert!(Wheel::open(&out).is_ok());
}

#[test]
fn the_name_of_a_moved_member_is_free() {
    let mut edits = WheelEdits::default();
    edits
        .renamed
        .insert("b/c.so".to_owned(), "scripts/c.so".to_owned());
    edits
        .replaced
        .insert("b/c.so".to_owned(), vec![8; 5].into());
    edits.added.insert(
        "b/c.so".to_owned(),
        AddedMember::executable(b"#!python".to_vec()),
    );
    let out = rewritten_small(&edits).unwrap();
    assert_valid(&out);
    let archive = ZipArchive::open(&out).unwrap();
    let read = |name: &str| archive.read(archive.member(name).unwrap(), 99).unwrap();
    assert_eq!(
        (read("scripts/c.so"), read("b/c.so")),
        (vec![8; 5], b"#!python".to_vec())
    );
}

/// Edits of missing members, and new names that are taken or unsafe.
#[test]
fn invalid_edits_are_refused() {
    let error = |change: fn(&mut WheelEdits<'_>)| {
        let mut edits = WheelEdits::default();
        change(&mut edits);
        rewritten_small(&edits).unwrap_err().to_string()
    };
    let gone = |edits: &mut WheelEdits<'_>| edits.removed.extend(["x".to_owned()]);
    assert_eq!(error(gone), "`x` is missing");
    assert_eq!(
        error(|edits| drop(edits.renamed.insert("y".to_owned(), "a".to_owned()))),
        "`y` is missing"
    );
    assert_eq!(
        error(|edits| drop(edits.replaced.insert("z".to_owned(), Vec::new().into()))),
        "`z` is missing"
    );
    let twice = |edits: &mut WheelEdits<'_>| {
        drop(
            edits
                .added
                .insert("a.py".to_owned(), AddedMember::plain(Vec::new())),
        );
    };
    assert_eq!(error(twice), "two members are named `a.py`");
    let record = |edits: &mut WheelEdits<'_>| {
        drop(edits.added.insert(
            format!("{DIST_INFO}/RECORD"),
            AddedMember::plain(Vec::new()),
        ));
    };
    assert_eq!(
        error(record),
        "two members are named `flash_attn-2.8.3.dist-info/RECORD`"
    );
    let out = |edits: &mut WheelEdits<'_>| {
        drop(
            edits
                .added
                .insert("../x".to_owned(), AddedMember::plain(Vec::new())),
        );
    };
    assert_eq!(
        error(out),
        "the member name `../x` is not valid: it leads out of its directory with `..`"
    );
}

#[test]
fn modes_are_kept_and_new_members_are_regular_files() {
    let mut bytes = Vec::new();
    let old = small();
    let archive = ZipArchive::open(&old).unwrap();
    let mut writer = ZipWriter::new(&mut bytes);
    for member in archive.members() {
        let unix_mode = match member.name() {
            "a.py" => 0,
            "b/c.so" => 0o100_711,
            _ => member.unix_mode(),
        };
        let options = MemberOptions {
            unix_mode,
            ..MemberOptions::default()
        };
        writer
            .add(
                member.name(),
                &archive.read(member, 9999).unwrap(),
                &options,
            )
            .unwrap();
    }
    writer.finish().unwrap();
    let mut edits = WheelEdits::default();
    for name in ["a.py", "b/c.so"] {
        edits.replaced.insert(name.to_owned(), vec![1].into());
    }
    edits
        .added
        .insert("libs/l.so".to_owned(), AddedMember::executable(vec![1]));
    edits
        .added
        .insert("t.txt".to_owned(), AddedMember::plain(vec![1]));
    let out = rewritten(&bytes, &edits, &RewriteOptions::default()).unwrap();
    let archive = ZipArchive::open(&out).unwrap();
    let mode = |name: &str| archive.member(name).unwrap().unix_mode();
    let modes = ["a.py", "b/c.so", "libs/l.so", "t.txt"].map(mode);
    assert_eq!(modes, [0, 0o100_711, 0o100_755, 0o100_644]);
}

#[test]
fn times_are_kept_or_the_same_for_all_members() {
    let mut edits = WheelEdits::default();
    edits.replaced.insert("a.py".to_owned(), vec![1].into());
    edits
        .added
        .insert("new".to_owned(), AddedMember::plain(vec![1]));
    let times = |time| {
        let out = rewritten(
            &small(),
            &edits,
            &RewriteOptions {
                time,
                ..RewriteOptions::default()
            },
        )
        .unwrap();
        ZipArchive::open(&out)
            .unwrap()
            .members()
            .iter()
            .map(ZipMember::time)
            .collect::<std::collections::BTreeSet<_>>()
    };
    let one = DosTime::from_epoch_s(1_709_164_805);
    assert_eq!(
        times(None).into_iter().collect::<Vec<_>>(),
        [DosTime::FIRST]
    );
    assert_eq!(times(Some(one)).into_iter().collect::<Vec<_>>(), [one]);
}

/// All other members are read again.
#[test]
fn copied_members_are_recognized_under_any_name() {
    let old = small();
    let mut edits = WheelEdits::default();
    edits
        .replaced
        .insert("a.py".to_owned(), b"y = 2\n".to_vec().into());
    edits
        .renamed
        .insert("b/c.so".to_owned(), "d/c.so".to_owned());
    edits
        .added
        .insert("e.so".to_owned(), AddedMember::executable(vec![5; 50]));
    let mut new = rewritten(&old, &edits, &RewriteOptions::default()).unwrap();
    assert_valid(&new);
    let name: WheelName = NAME.parse().unwrap();
    {
        let (before, after) = (Wheel::open(&old).unwrap(), Wheel::open(&new).unwrap());
        let carried = CopiedMembers::new(&before, &after);
        let known: Vec<&str> = after
            .archive()
            .members()
            .iter()
            .filter(|member| carried.contains(member))
            .map(ZipMember::name)
            .collect();
        assert_eq!(
            known,
            [
                "d/c.so",
                &format!("{DIST_INFO}/METADATA"),
                &format!("{DIST_INFO}/WHEEL")
            ]
        );
        assert_eq!(
            verify_except(&after, &name, &|member| carried.contains(member)),
            []
        );
    }
    // The data of the replaced member, after its local header.
    let at = new.windows(4).position(|bytes| bytes == b"a.py").unwrap() + 5;
    new[at] ^= 1;
    let (before, after) = (Wheel::open(&old).unwrap(), Wheel::open(&new).unwrap());
    let carried = CopiedMembers::new(&before, &after);
    assert_eq!(
        verify_except(&after, &name, &|member| carried.contains(member)).len(),
        1
    );
    assert_eq!(verify_except(&after, &name, &|_| true), []);
}
