//! Writes a copy of a wheel with a local version label to the working directory:
//! `relabel dist/demo-1.0-py3-none-any.whl rocm6.2`.
#![expect(clippy::print_stdout, reason = "the output of the example")]

use std::{error::Error, path::Path};

use rock_sys::{OnExisting, PositionalFile, save};
use rock_wheel::{ExistingLabel, RewriteOptions, Wheel, relabel, rewrite, verify};

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().collect();
    let [_, path, label] = args.as_slice() else {
        return Err("usage: relabel WHEEL LABEL".into());
    };
    let filename = Path::new(path).file_name().unwrap_or_default();
    let name = filename.to_string_lossy().parse()?;
    let file = PositionalFile::open(Path::new(path))?;
    let wheel = Wheel::open(&file)?;
    let plan = relabel(&wheel, &name, &label.parse()?, ExistingLabel::Replace)?;
    let output = plan.name.to_string();
    save::<Box<dyn Error>>(Path::new(&output), OnExisting::Keep, |target| {
        Ok(rewrite(&wheel, &plan.edits, &RewriteOptions::default(), target).map(drop)?)
    })?;
    println!("{output}");
    for finding in verify(&PositionalFile::open(Path::new(&output))?, &plan.name) {
        println!("{}: {}", finding.code.id, finding.message);
    }
    Ok(())
}
