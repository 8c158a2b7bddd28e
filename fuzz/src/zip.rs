//! Reading archives and wheels.

use rock_matrix::bytes::{ReadAt, in_memory};
use rock_matrix::wheel::{Archive, MemberView, Wheel, read_metadata, verify};

use crate::WHEEL;

/// What is read of one member, and how many members are.
const MOST_BYTES: u64 = 1 << 16;
const MOST_MEMBERS: usize = 16;

/// Reads the members of an archive in each way there is, which must agree, and verifies it as a wheel.
pub fn zip(bytes: &[u8]) {
    let source = bytes.to_vec();
    let found = verify(&source, &WHEEL.parse().expect("it is a wheel's name"));
    let archive = match Archive::open(&source) {
        Ok(archive) => archive,
        Err(error) => {
            assert!(!found.is_empty() && !error.to_string().is_empty());
            return;
        }
    };
    for member in archive.members() {
        assert!(archive.member(member.name()).is_some_and(|other| other.name() == member.name()));
    }
    for member in archive.members().iter().take(MOST_MEMBERS) {
        let whole = archive.read(member, MOST_BYTES);
        if let Ok(whole) = &whole {
            assert_eq!(whole.len() as u64, member.size_bytes());
        }
        let mut streamed = 0;
        let stream = archive.stream(member, &mut |piece| streamed += piece.len() as u64);
        assert!(streamed <= member.size_bytes());
        let mut seen = Vec::new();
        let view = MemberView::new(&archive, member, &in_memory, Some(Box::new(|piece| seen.extend_from_slice(piece))));
        let size = member.size_bytes();
        for (at, length) in [(0, 64), (size / 2, 100), (size.saturating_sub(9), 20), (7, 5000), (size / 3, 1)] {
            let mut buffer = vec![0; length];
            match (view.read_at(&mut buffer, at), &whole) {
                (Ok(0), _) => assert!(at >= size),
                (Ok(read), Ok(whole)) => {
                    let at = usize::try_from(at).expect("it is small");
                    assert_eq!(buffer[..read], whole[at..at + read]);
                }
                (Ok(read), Err(_)) => assert!(read <= length),
                (Err(_), whole) => assert!(whole.is_err(), "{whole:?}"),
            }
        }
        let end = view.finish();
        drop(view);
        if let Ok(whole) = whole {
            assert!(stream.is_ok() && end.is_ok() && whole == seen);
        }
    }
    let _ = read_metadata(&source);
    if let Ok(wheel) = Wheel::open(&source) {
        assert!(archive.member(&wheel.dist_info_path("RECORD")).is_some());
    }
}
