//! `publish`: wheels to a release.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use super::assets::{self, Depth, Gathered};
use super::told::Told;
use super::{Exit, Format, Shell, load, release_folder};
use crate::diagnostic::{Diagnostic, Place, Sink, registry::release as codes};
use crate::index::{BaseUrl, Links};
use crate::names::Digest;
use crate::plan;
use crate::publish::{
    Cell, Conflict, Difference, Expected, MissingRule, Particulars, Release, TagName, against_plan, as_release,
    changes, superseded,
};

/// Publish wheels as a release: a folder with checksums, a manifest and an index that pip installs from
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The release is DIR, or DIR/TAG with --tag. It holds the wheels, SHA256SUMS, rock-manifest.json, and in simple/ one
package index for each ROCm and torch. What it holds already stays; a run that changes nothing writes nothing.
A killed run leaves the release as it was before or as it is after.

Examples:
  rock-matrix publish --to release dist/                       every wheel of dist/
  rock-matrix publish --to releases --tag v1 dist/ more.whl     into releases/v1
  rock-matrix publish --to release dist/ --plan plan.json       refuse when a planned wheel is missing
  rock-matrix publish --to release dist/ --dry-run              only say what would change
  pip install flash-attn --no-deps --index-url file://$PWD/release/simple/rocm6.2-torch2.5/")]
pub(super) struct Args {
    /// Wheels, source distributions, and folders that hold some
    #[arg(required = true, value_name = "WHEEL|DIR")]
    files: Vec<PathBuf>,
    /// Folder of the release
    #[arg(long, value_name = "DIR")]
    to: Option<PathBuf>,
    /// Tag of the release: a folder of this name in DIR
    #[arg(long, value_name = "TAG")]
    tag: Option<String>,
    /// Compare the wheels with a plan saved with `plan --format json`
    #[arg(long, value_name = "FILE")]
    plan: Option<PathBuf>,
    /// Publish although the plan has jobs whose wheel is missing
    #[arg(long, requires = "plan")]
    allow_missing: bool,
    /// Replace files of the release that have other bytes, and wheels that others take the place of
    #[arg(long)]
    replace: bool,
    /// Address below which the release will be served; links are relative without it
    #[arg(long, value_name = "URL")]
    base_url: Option<String>,
    /// Only say what would change
    #[arg(long)]
    dry_run: bool,
    /// What to print
    #[arg(long, value_enum, default_value = "human", value_name = "FORMAT")]
    format: Format,
}

/// Runs the command.
pub(super) fn run(args: &Args, shell: &Shell) -> Exit {
    let Some(folder) = &args.to else {
        let _ = shell.report(&[Diagnostic::new(&codes::NO_TARGET, "publishing to GitHub releases is to come")
            .help("make the same release in a folder, with no account: `--to DIR`")]);
        return Exit::Usage;
    };
    let mut sink = Sink::new();
    let exit = publish(args, folder.clone(), shell, &mut sink).unwrap_or_else(|exit| exit);
    match shell.report(&sink.finish()) {
        Exit::Done => exit,
        Exit::Fault if exit == Exit::Done => Exit::Fault,
        _ => exit,
    }
}

fn publish(args: &Args, mut folder: PathBuf, shell: &Shell, sink: &mut Sink) -> Result<Exit, Exit> {
    let tag: Option<TagName> = parsed(args.tag.as_deref(), &codes::BAD_TAG, "--tag", sink);
    let links = links(args.base_url.as_deref(), vec!["..".to_owned()], sink);
    if let Some(tag) = &tag {
        folder.push(tag.as_str());
    }
    let compat = load::compat(shell)?;
    let planned = match &args.plan {
        Some(path) => Planned::read(path, shell, sink)?,
        None => Planned::default(),
    };
    let files = assets::files(&args.files, sink);
    let offered = assets::gather(&files, Depth::Verify, &compat, sink);
    as_release(&cloned(&offered), sink);
    let Some(links) = links.filter(|_| !sink.has_errors()) else { return Err(Exit::Fault) };

    let opened = release_folder::open(&folder, &compat, args.dry_run, shell, sink)?;
    let offered = once(offered);
    let offered_names: BTreeSet<&str> = offered.iter().map(|g| g.asset.name()).collect();
    let mut kept: Vec<Gathered> =
        opened.assets.iter().filter(|g| !offered_names.contains(g.asset.name())).cloned().collect();
    let taken = superseded(&cloned(&offered), &cloned(&kept));
    opened.report_faults(&offered_names, args.replace, sink);
    if args.replace {
        kept.retain(|g| !taken.contains_key(g.asset.name()));
    } else {
        report_taken(&taken, sink);
    }
    if args.plan.is_some() {
        let rule = if args.allow_missing { MissingRule::Allow } else { MissingRule::Refuse };
        let kept: Vec<_> = kept.iter().filter_map(|g| g.asset.wheel().cloned()).collect();
        against_plan(&planned.expected, &cloned(&offered), &kept, rule, sink);
    }
    let particulars = Particulars {
        tag: tag.map(|tag| tag.to_string()),
        plan: planned.digest,
        covers: planned.covers(offered.iter().chain(&kept)),
    };
    let all: Vec<Gathered> = offered.into_iter().chain(kept).collect();
    let release = Release::of(cloned(&all), &particulars, opened.manifest.as_ref(), &links).map_err(|error| {
        sink.push(Diagnostic::new(&codes::CANNOT_INDEX, error.to_string()));
        Exit::Fault
    })?;
    let gone: BTreeSet<String> = taken.into_keys().filter(|_| args.replace).collect();
    let difference = if args.replace { Difference::Replace } else { Difference::Refuse };
    let made = changes(&release.wanted(), &opened.present(&gone), difference);
    made.conflicts.iter().for_each(|conflict| sink.push(differs(conflict, &folder)));
    if !made.steps.is_empty() {
        opened.report_foreign(sink);
    }
    if sink.has_errors() {
        return Err(Exit::Fault);
    }
    let told = Told { folder: &folder, release: &release, changes: &made, dry_run: args.dry_run };
    if !made.steps.is_empty() && !args.dry_run {
        let paths: BTreeMap<&str, &std::path::Path> = all.iter().map(|g| (g.asset.name(), g.path.as_path())).collect();
        opened.apply(&release, &made, &paths, sink)?;
    }
    Ok(shell.print(&told.text(args.format)))
}

/// What a plan says of wheels.
#[derive(Debug, Default)]
struct Planned {
    expected: Vec<Expected>,
    pythons: Vec<Vec<String>>,
    digest: Option<Digest>,
}

impl Planned {
    fn read(path: &std::path::Path, shell: &Shell, sink: &mut Sink) -> Result<Self, Exit> {
        let source = load::source(shell, path)?;
        let jobs = plan::read_json(&source, sink).ok_or(Exit::Fault)?;
        let mut planned = Self { digest: Some(release_folder::digest(source.text.as_bytes())), ..Self::default() };
        for job in jobs {
            // A plan that this program wrote has wheel names that it can read.
            let Ok(wheel) = job.wheel.parse() else { continue };
            planned.expected.push(Expected { job: job.id, wheel });
            let covered = job.covers.get("python").cloned();
            planned.pythons.push(covered.unwrap_or_else(|| job.python.iter().map(ToString::to_string).collect()));
        }
        Ok(planned)
    }

    /// Name of a file → the Pythons that its job is for.
    fn covers<'a>(&self, files: impl Iterator<Item = &'a Gathered>) -> BTreeMap<String, Vec<String>> {
        let jobs = self.expected.iter().map(|job| Cell::of(&job.wheel).planned());
        let pythons: BTreeMap<Cell, &Vec<String>> = jobs.zip(&self.pythons).collect();
        let of_file = |g: &Gathered| {
            let planned = pythons.get(&Cell::of(g.asset.wheel()?).planned())?;
            Some((g.asset.name().to_owned(), (*planned).clone()))
        };
        files.filter_map(of_file).collect()
    }
}

/// Links below `--base-url`, or relative ones; `None` after telling what is wrong with the address.
pub(super) fn links(base_url: Option<&str>, steps: Vec<String>, sink: &mut Sink) -> Option<Links> {
    match base_url {
        None => Some(Links::Relative(steps)),
        Some(_) => parsed::<BaseUrl>(base_url, &codes::BAD_BASE_URL, "--base-url", sink).map(Links::Absolute),
    }
}

fn parsed<T: std::str::FromStr<Err: std::fmt::Display>>(
    text: Option<&str>,
    code: &'static crate::diagnostic::Code,
    argument: &str,
    sink: &mut Sink,
) -> Option<T> {
    text?
        .parse()
        .map_err(|error: T::Err| {
            sink.push(Diagnostic::new(code, error.to_string()).at(Place::Argument(argument.to_owned()), ""));
        })
        .ok()
}

fn cloned(gathered: &[Gathered]) -> Vec<crate::publish::Asset> {
    gathered.iter().map(|g| g.asset.clone()).collect()
}

/// Each name once; [`as_release`] has told of those that are not the same file.
fn once(mut gathered: Vec<Gathered>) -> Vec<Gathered> {
    let mut seen = BTreeSet::new();
    gathered.retain(|g| seen.insert(g.asset.name().to_owned()));
    gathered
}

fn report_taken(taken: &BTreeMap<String, String>, sink: &mut Sink) {
    for (old, new) in taken {
        sink.push(
            Diagnostic::new(
                &codes::SAME_CELL_TWICE,
                format!("the release holds `{old}`, which `{new}` would stand beside"),
            )
            .help("take the old one out with `--replace`"),
        );
    }
}

fn differs(conflict: &Conflict, folder: &std::path::Path) -> Diagnostic {
    let present = conflict.present.map_or_else(|| "unknown".to_owned(), |digest| digest.to_string());
    Diagnostic::new(&codes::ASSET_DIFFERS, format!("the release has a `{}` with other bytes", conflict.name))
        .at(Place::File(folder.join(&conflict.name).display().to_string().into()), "")
        .note(format!("published is {present}"))
        .note(format!("given is {}", conflict.wanted))
        .help("give it another version or build tag, or replace it with `--replace`")
}
