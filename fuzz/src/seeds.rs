//! Inputs that the targets `tar` and `bucket` begin with.

use rock_matrix::archive::{TarBuilder, TarMember, TarMemberKind};
use rock_matrix::bytes::ReadAt as _;

/// Archives as builds make them, with long names, and with every kind of extended header.
pub fn tars() -> Vec<Vec<u8>> {
    let long = "folder/".repeat(30) + "file";
    let mut made = TarBuilder::new();
    let members = [
        ("a", TarMemberKind::Directory, None),
        ("a/file", TarMemberKind::File, Some(b"content".to_vec())),
        (long.as_str(), TarMemberKind::File, Some(vec![7; 600])),
        ("a/link", TarMemberKind::Symlink(&long), None),
    ];
    for (path, kind, content) in members {
        let member = TarMember {
            path,
            kind,
            mode: 0o644,
            time_s: 315_532_800,
        };
        let content =
            content.map(|content| Box::new(content) as Box<dyn rock_matrix::bytes::ReadAt>);
        made.push(&member, content).expect("its paths are sound");
    }
    let made = made.finish();
    let mut whole = vec![0; usize::try_from(made.size_bytes()).expect("it is small")];
    made.read_exact_at(&mut whole, 0).expect("it is in memory");
    let file = block(b'0', "file", b"content");
    let pax = |records: &[(&str, &str)]| {
        let records: String = records
            .iter()
            .map(|(key, value)| record(key, value))
            .collect();
        block(b'x', "PaxHeaders/file", records.as_bytes())
    };
    let global = block(
        b'g',
        "pax_global_header",
        record("comment", &"0".repeat(40)).as_bytes(),
    );
    let link = block(b'2', "link", b"");
    vec![
        whole,
        [global, file.clone()].concat(),
        [
            pax(&[("path", &long), ("mtime", "1.5"), ("size", "7")]),
            file.clone(),
        ]
        .concat(),
        [pax(&[("linkpath", "else/where"), ("path", "")]), link].concat(),
        [
            pax(&[("GNU.sparse.major", "1"), ("GNU.sparse.name", "real")]),
            file.clone(),
        ]
        .concat(),
        [
            pax(&[("GNU.sparse.size", "9"), ("GNU.sparse.map", "0,7")]),
            file,
        ]
        .concat(),
        block(b'S', "sparse", b"data"),
        [
            block(b'L', "././@LongLink", b"name\0"),
            block(b'K', "././@LongLink", b"text\0"),
            block(b'1', "x", b""),
        ]
        .concat(),
        [
            block(b'3', "device", b""),
            block(b'6', "pipe", b""),
            block(b'7', "continuous", b"x"),
        ]
        .concat(),
    ]
}

/// A header and its content, filled up to whole blocks (POSIX.1-2017, pax, "ustar Interchange
/// Format").
fn block(kind: u8, name: &str, content: &[u8]) -> Vec<u8> {
    let mut header = [0_u8; 512];
    header[..name.len()].copy_from_slice(name.as_bytes());
    header[100..108].copy_from_slice(b"0000644\0");
    header[124..136].copy_from_slice(format!("{:011o}\0", content.len()).as_bytes());
    header[148..156].fill(b' ');
    header[156] = kind;
    header[257..265].copy_from_slice(if kind.is_ascii_uppercase() {
        b"ustar  \0"
    } else {
        b"ustar\x0000"
    });
    let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
    header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    let mut bytes = [&header, content].concat();
    bytes.resize(bytes.len().next_multiple_of(512), 0);
    bytes
}

/// A record of pax, whose length counts its own digits.
fn record(key: &str, value: &str) -> String {
    let rest = format!(" {key}={value}\n");
    let length = (1..).find(|length: &usize| length.to_string().len() + rest.len() == *length);
    format!("{}{rest}", length.expect("some number is long enough"))
}

/// Pages of listings (Amazon S3, `ListObjectsV2`).
pub const BUCKETS: [&str; 3] = [
    "<?xml version=\"1.0\"?><ListBucketResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><Name>b</Name><NextContinuationToken>1/a+b=</NextContinuationToken><Contents><Key>1-linux/a_lib_gfx90a:xnack&#43;.tar.zst</Key><Size>7</Size></Contents></ListBucketResult>",
    "<ListBucketResult><Contents><Size>6000000000</Size><Key>a&amp;b&lt;<![CDATA[x]]></Key></Contents><!-- c --><CommonPrefixes><Prefix>p</Prefix></CommonPrefixes></ListBucketResult>",
    "<Error><Code>NoSuchBucket</Code><Message>&quot;</Message></Error>",
];
