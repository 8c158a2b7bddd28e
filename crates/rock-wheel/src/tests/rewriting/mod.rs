//! Rewriting of wheels.
#![expect(
    clippy::ptr_arg,
    reason = "a slice of unknown length is no `dyn ReadAt`"
)]

use std::io::{Cursor, Read};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;
use rock_bytes::ReadAt;
use rock_names::WheelName;

mod large_members;
mod members;
mod record;

const DIST_INFO: &str = "flash_attn-2.8.3.dist-info";

fn rewritten(
    bytes: &Vec<u8>,
    edits: &WheelEdits<'_>,
    options: &RewriteOptions,
) -> Result<Vec<u8>, WheelError> {
    let wheel = Wheel::open(bytes)?;
    let mut out = Vec::new();
    let length = rewrite(&wheel, edits, options, &mut out)?;
    assert_eq!(length, out.len() as u64);
    Ok(out)
}

/// Rewrites the small wheel with the default options.
fn rewritten_small(edits: &WheelEdits<'_>) -> Result<Vec<u8>, WheelError> {
    rewritten(&small(), edits, &RewriteOptions::default())
}

/// Returns options with this check of RECORD.
fn checking(record_check: RecordCheck) -> RewriteOptions {
    RewriteOptions {
        record_check,
        ..RewriteOptions::default()
    }
}

#[track_caller]
fn assert_valid(bytes: &Vec<u8>) {
    assert_eq!(verify(bytes, &NAME.parse::<WheelName>().unwrap()), []);
}

fn names(bytes: &Vec<u8>) -> Vec<String> {
    ZipArchive::open(bytes)
        .unwrap()
        .members()
        .iter()
        .map(|member| member.name().to_owned())
        .collect()
}

/// Content that compresses a little.
fn content(length: usize, seed: u64) -> Vec<u8> {
    let mut state = seed | 1;
    let mut bytes = Vec::with_capacity(length + 8);
    while bytes.len() < length {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        bytes.extend((state & 0x3f3f_3f3f_3f3f_3f3f).to_le_bytes());
    }
    bytes.truncate(length);
    bytes
}
