use proptest::prelude::*;
use rock_bytes::ReadAt;

use super::record::{Record, RecordRow};
use super::zip::MemberOptions;
use super::*;
use rock_names::{LocalLabel, WheelName};

#[cfg(test)]
mod hostile;
#[cfg(test)]
mod rewriting;

const NAME: &str = "flash_attn-2.8.3-cp311-cp311-linux_x86_64.whl";

fn wheel_bytes(files: &[(String, Vec<u8>)], level: u32) -> Vec<u8> {
    let text = |text: &str| text.as_bytes().to_vec();
    let dist_info = |file: &str| format!("flash_attn-2.8.3.dist-info/{file}");
    let mut members = files.to_vec();
    members.push((
        dist_info("METADATA"),
        text("Metadata-Version: 2.1\nName: flash-attn\nVersion: 2.8.3\n"),
    ));
    let tags = "Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: cp311-cp311-linux_x86_64\n";
    members.push((dist_info("WHEEL"), text(tags)));
    let mut rows: Vec<RecordRow> = members
        .iter()
        .map(|(name, content)| RecordRow::for_content(name, content))
        .collect();
    rows.push(RecordRow::without_hash(&dist_info("RECORD")));
    members.push((dist_info("RECORD"), Record { rows }.to_bytes()));
    let mut bytes = Vec::new();
    let mut writer = ZipWriter::new(&mut bytes);
    for (name, content) in &members {
        writer
            .add(
                name,
                content,
                &MemberOptions {
                    level,
                    ..MemberOptions::default()
                },
            )
            .unwrap();
    }
    writer.finish().unwrap();
    bytes
}

fn small() -> Vec<u8> {
    wheel_bytes(
        &[
            ("a.py".to_owned(), b"x = 1\n".repeat(9)),
            ("b/c.so".to_owned(), vec![7; 99]),
        ],
        6,
    )
}

/// Returns the wheel with a label, and its new name.
fn relabelled(bytes: &[u8], label: &str) -> (Vec<u8>, WheelName) {
    let source = bytes.to_vec();
    let wheel = Wheel::open(&source).unwrap();
    let label: LocalLabel = label.parse().unwrap();
    let change = relabel(
        &wheel,
        &NAME.parse().unwrap(),
        &label,
        ExistingLabel::Refuse,
    )
    .unwrap();
    let mut out = Vec::new();
    let length = rewrite(&wheel, &change.edits, &RewriteOptions::default(), &mut out).unwrap();
    assert_eq!(length, out.len() as u64);
    (out, change.name)
}

#[test]
fn truncated_or_changed_wheels_never_panic() {
    let (bytes, name): (Vec<u8>, WheelName) = (small(), NAME.parse().unwrap());
    assert_eq!(verify(&bytes, &name), []);
    for at in 0..bytes.len() {
        assert!(
            !verify(&bytes[..at].to_vec(), &name).is_empty(),
            "cut off at {at}"
        );
        let mut wrong = bytes.clone();
        wrong[at] ^= 0x41;
        let _ = verify(&wrong, &name);
        let _ = read_metadata(&wrong);
    }
}

#[test]
fn metadata_is_read_alone() {
    assert!(
        read_metadata(&small())
            .unwrap()
            .starts_with(b"Metadata-Version: 2.1\nName: flash-attn\n")
    );
}

#[test]
fn directories_are_not_renamed_to_existing_ones() {
    let bytes = wheel_bytes(
        &[
            ("flash_attn-2.8.3.data/x".to_owned(), Vec::new()),
            ("flash_attn-2.8.3+l1.data/x".to_owned(), Vec::new()),
        ],
        6,
    );
    let wheel = Wheel::open(&bytes).unwrap();
    let change = relabel(
        &wheel,
        &NAME.parse().unwrap(),
        &"l1".parse().unwrap(),
        ExistingLabel::Refuse,
    )
    .unwrap();
    let error = rewrite(
        &wheel,
        &change.edits,
        &RewriteOptions::default(),
        &mut Vec::new(),
    )
    .unwrap_err();
    assert_eq!(
        error.to_string(),
        "two members are named `flash_attn-2.8.3+l1.data/x`"
    );
}

#[test]
fn unchanged_members_are_copied_raw() {
    let bytes = wheel_bytes(&[("a.py".to_owned(), b"import os\n".repeat(500))], 1);
    let (out, _) = relabelled(&bytes, "rocm62");
    let data = |source: &Vec<u8>| {
        let archive = ZipArchive::open(source).unwrap();
        let member = archive.member("a.py").unwrap();
        let mut data = vec![0; usize::try_from(member.compressed_bytes()).unwrap()];
        let at = source.windows(4).position(|w| w == b"a.py").unwrap() as u64 + 4;
        source.read_exact_at(&mut data, at).unwrap();
        data
    };
    assert_eq!(data(&bytes), data(&out));
}

#[test]
fn existing_labels_are_refused_replaced_or_appended() {
    let (bytes, name) = relabelled(&small(), "rocm62");
    let wheel = Wheel::open(&bytes).unwrap();
    let label = |text: &str, existing| relabel(&wheel, &name, &text.parse().unwrap(), existing);
    assert!(matches!(
        label("rocm63", ExistingLabel::Refuse),
        Err(WheelError::HasLabel { .. })
    ));
    assert!(
        label("rocm62", ExistingLabel::Refuse)
            .unwrap()
            .edits
            .is_empty()
    );
    let version = |existing| {
        label("rocm63", existing)
            .unwrap()
            .name
            .version()
            .to_string()
    };
    assert_eq!(version(ExistingLabel::Replace), "2.8.3+rocm63");
    assert_eq!(version(ExistingLabel::Append), "2.8.3+rocm62.rocm63");
}

#[test]
fn a_label_is_removed() {
    let (bytes, name) = relabelled(&small(), "rocm62");
    let plan = remove_label(&Wheel::open(&bytes).unwrap(), &name).unwrap();
    assert_eq!(plan.name.version().to_string(), "2.8.3");
    assert!(!plan.edits.is_empty());

    let bytes = small();
    let plan = remove_label(&Wheel::open(&bytes).unwrap(), &plan.name).unwrap();
    assert_eq!(plan.name.version().to_string(), "2.8.3");
    assert!(plan.edits.is_empty());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn relabelled_wheels_are_valid_and_reproducible(
        files in proptest::collection::btree_map("[a-zé]{1,6}/[a-z, \"]{0,5}[a-z]", proptest::collection::vec(any::<u8>(), 0..300), 0..6),
        level in 0..10_u32,
        label in "[a-z0-9]{1,5}(\\.[a-z0-9]{1,3})?",
    ) {
        let files: Vec<(String, Vec<u8>)> = files.into_iter().collect();
        let bytes = wheel_bytes(&files, level);
        let (out, name) = relabelled(&bytes, &label);
        prop_assert_eq!(verify(&out, &name), vec![]);
        prop_assert_eq!(&relabelled(&bytes, &label).0, &out);
        let archive = ZipArchive::open(&out).unwrap();
        for (file, content) in &files {
            prop_assert_eq!(&archive.read(archive.member(file).unwrap(), 999).unwrap(), content);
        }
        let last = archive.members().last().unwrap().name();
        prop_assert!(last.ends_with(".dist-info/RECORD"));
        prop_assert!(Wheel::open(&out).unwrap().dist_info().contains(&name.label().unwrap().to_string()));
    }
}
