//! The least that any reader of a wheel does: inflates members and looks at none of their bytes.
//!
//! Usage: `inflate THREADS WHEEL MEMBER...`. Benchmarks run it beside the commands that read the
//! same members. It reads as they do, through the same library in pieces of the same size, and
//! checks size and CRC-32 as they do.

use std::io::Write as _;

use rayon::prelude::*;
use rock_matrix::bytes::CHUNK_BYTES;
use rock_matrix::sys::PositionalFile;
use rock_matrix::wheel::ZipArchive;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, threads, wheel, names @ ..] = arguments.as_slice() else {
        return Err("usage: inflate THREADS WHEEL MEMBER...".into());
    };
    let file = PositionalFile::open(wheel.as_ref())?;
    let archive = ZipArchive::open(&file)?;
    let inflate = |name: &String| -> Result<u64, String> {
        let member = archive
            .member(name)
            .ok_or_else(|| format!("no member `{name}`"))?;
        let reader = archive.reader(member);
        let mut size_bytes = 0;
        reader
            .for_each_chunk(&mut vec![0; CHUNK_BYTES], |piece| {
                size_bytes += piece.len() as u64;
            })
            .map_err(|e| e.to_string())?;
        Ok(size_bytes)
    };
    let sizes: Result<Vec<u64>, String> = if threads == "1" {
        names.iter().map(inflate).collect()
    } else {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads.parse()?)
            .build()?;
        pool.install(|| names.par_iter().with_max_len(1).map(inflate).collect())
    };
    writeln!(std::io::stdout(), "{} bytes", sizes?.iter().sum::<u64>())?;
    Ok(())
}
