//! Tests with archives in memory, and with large sparse ones.

use std::io::{Cursor, Read, Write};

use super::super::WheelError;
use super::*;

mod refusals;
mod round_trips;
mod zip64;

/// Returns options with this compression level.
fn at_level(level: u32) -> MemberOptions {
    MemberOptions {
        level,
        ..MemberOptions::default()
    }
}

fn written(members: &[(&str, &[u8], u32)]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer = ZipWriter::new(&mut bytes);
    for (name, content, level) in members {
        writer.add(name, content, &at_level(*level)).unwrap();
    }
    writer.finish().unwrap();
    bytes
}

fn sample() -> Vec<u8> {
    written(&[
        ("a.txt", &[b'a'; 999], 6),
        ("folder/", b"", 0),
        ("folder/b.bin", b"stored", 0),
    ])
}

/// Returns all members with their contents, or the first error.
fn read(bytes: &[u8]) -> Result<Vec<(String, Vec<u8>)>, WheelError> {
    let source = bytes.to_vec();
    let archive = ZipArchive::open(&source)?;
    archive
        .members()
        .iter()
        .map(|m| Ok((m.name().to_owned(), archive.read(m, 1 << 20)?)))
        .collect()
}

#[track_caller]
fn open_error(bytes: &[u8]) -> String {
    read(bytes).unwrap_err().to_string()
}

/// Returns the offset of the nth occurrence of some bytes.
fn nth(bytes: &[u8], needle: &[u8], n: usize) -> usize {
    bytes
        .windows(needle.len())
        .enumerate()
        .filter(|(_, w)| *w == needle)
        .nth(n)
        .unwrap()
        .0
}

const LOCAL: &[u8] = b"PK\x03\x04";

const CENTRAL: &[u8] = b"PK\x01\x02";

const END: &[u8] = b"PK\x05\x06";

/// Returns the sample with some bytes overwritten at an offset from the nth header of a kind.
fn patched(kind: &[u8], n: usize, at: usize, with: &[u8]) -> Vec<u8> {
    let mut bytes = sample();
    let start = nth(&bytes, kind, n) + at;
    bytes[start..start + with.len()].copy_from_slice(with);
    bytes
}

/// A large sparse file: bytes that are zero except for some ranges.
#[derive(Default)]
struct Sparse {
    ranges: Vec<(u64, Vec<u8>)>,
    size: u64,
}

impl rock_bytes::ReadAt for Sparse {
    fn size_bytes(&self) -> u64 {
        self.size
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> std::io::Result<usize> {
        let length =
            usize::try_from((self.size - offset.min(self.size)).min(buffer.len() as u64)).unwrap();
        buffer[..length].fill(0);
        for (start, bytes) in &self.ranges {
            for (at, byte) in bytes.iter().enumerate() {
                let position = start + at as u64;
                if position >= offset && position < offset + length as u64 {
                    buffer[usize::try_from(position - offset).unwrap()] = *byte;
                }
            }
        }
        Ok(length)
    }
}

impl Write for Sparse {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.ranges.push((self.size, bytes.to_vec()));
        self.size += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl rock_bytes::ByteSink for Sparse {
    /// Only zeros are copied.
    fn copy_from(
        &mut self,
        _: &dyn rock_bytes::ReadAt,
        _: u64,
        length: u64,
    ) -> std::io::Result<()> {
        self.size += length;
        Ok(())
    }

    fn overwrite(&mut self, back_bytes: u64, bytes: &[u8]) -> std::io::Result<()> {
        let start = self.size - back_bytes;
        let (_, range_bytes) = self.ranges.iter_mut().find(|(at, _)| *at == start).unwrap();
        range_bytes[..bytes.len()].copy_from_slice(bytes);
        Ok(())
    }
}
