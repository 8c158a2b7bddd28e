//! Prints the requests that bring a GitHub release to the files of a `SHA256SUMS`:
//! `gh api --paginate --slurp repos/OWNER/REPO/releases > releases.json`, then
//! `reconcile v1.0 dist/SHA256SUMS releases.json`.
#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "programs access files and print"
)]

use std::{env, error::Error, fs, path::Path};

use rock_compat::Compat;
use rock_publish::remote::{DesiredRelease, PublishPolicy, Reconciliation, reconcile};
use rock_publish::{DesiredFile, ReleaseListing, read_sums};

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = env::args().collect();
    let [_, tag, sums, listing] = args.as_slice() else {
        return Err("usage: reconcile TAG SHA256SUMS RELEASES.JSON".into());
    };
    let mut desired = DesiredRelease::new(tag.clone(), "example".to_owned(), &Compat::embedded());
    for (name, digest) in read_sums(&fs::read_to_string(sums)?)? {
        desired.assets.push(DesiredFile {
            size_bytes: fs::metadata(Path::new(sums).with_file_name(&name))?.len(),
            name,
            digest,
            generated: false,
        });
    }
    let observed = ReleaseListing::from_json(&fs::read_to_string(listing)?)?;
    match reconcile(&desired, PublishPolicy::default(), &observed.releases) {
        Reconciliation::Steps(steps) => steps.iter().for_each(|step| println!("{step:?}")),
        Reconciliation::Refused(reasons) => println!("refused: {reasons:?}"),
        Reconciliation::Done(releases) => println!("nothing to do; releases {releases:?}"),
    }
    Ok(())
}
