//! `sdk version`: computes the versions of a build.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::json;

use super::{Exit, Format, OutputFormat, Shell};
use crate::cli::load;
use crate::codes::sdk as codes;
use crate::diagnostic::{Diagnostic, Location};
use crate::names::{Version, day_digits};
use crate::render::actions::ActionOutput;
use crate::sdk::limits::MAX_VERSION_FILE_BYTES;
use crate::sdk::version::{self, PackageVersions};
use crate::sys;

/// The time limit for reading a commit with git.
const GIT_TIMEOUT: std::time::Duration = std::time::Duration::from_secs(10);

/// Compute the versions of a build for wheels, Debian packages and RPMs
#[derive(Debug, clap::Args)]
#[command(
    after_help = "\
Examples:
  rock-matrix sdk version --release-type nightly                  base version from version.json
  rock-matrix sdk version --custom-suffix +mine1 --base 7.10.0    a version with a suffix",
    after_long_help = "\
`rock-matrix compat list sdk-versions` shows how each type of release is numbered. In a workflow,
the versions are also outputs of the step: rocm_package_version, rocm_deb_package_version and
rocm_rpm_package_version.

Examples:
  rock-matrix sdk version --release-type nightly                  base version from version.json
  rock-matrix sdk version --custom-suffix +mine1 --base 7.10.0    a version with a suffix
  rock-matrix sdk version --release-type prerelease --prerelease-version 2 --base 7.10.0"
)]
pub(super) struct Args {
    /// Type of the release, such as `nightly` or `prerelease`
    #[arg(
        long,
        value_name = "TYPE",
        required_unless_present = "custom_suffix",
        conflicts_with = "custom_suffix",
        help_heading = "Release"
    )]
    release_type: Option<String>,
    /// Number of the release candidate, for the type `prerelease`
    #[arg(long, value_name = "N", help_heading = "Release")]
    prerelease_version: Option<u32>,
    /// Build date [default: today in UTC]
    #[arg(
        long,
        value_name = "YYYYMMDD",
        value_parser = day,
        help_heading = "Release"
    )]
    date: Option<String>,
    /// Append this to the base version in all three formats
    #[arg(
        long,
        value_name = "TEXT",
        conflicts_with = "prerelease_version",
        help_heading = "Release"
    )]
    custom_suffix: Option<String>,
    /// Base version [default: `rocm-version` in the version file]
    #[arg(
        long,
        value_name = "X.Y.Z",
        value_parser = release,
        help_heading = "Sources"
    )]
    base: Option<String>,
    /// File with the version of the sources
    #[arg(
        long,
        value_name = "FILE",
        default_value = "version.json",
        help_heading = "Sources"
    )]
    version_file: PathBuf,
    /// Commit of the sources [default: `GITHUB_SHA`, or HEAD of the working directory]
    #[arg(
        long,
        value_name = "SHA",
        value_parser = commit,
        help_heading = "Sources"
    )]
    sha: Option<String>,
    #[command(flatten, next_help_heading = "Output")]
    format: OutputFormat,
}

/// The contents of `version.json` that are used.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
struct VersionFile {
    rocm_version: Option<String>,
    #[serde(default)]
    release_metadata: Metadata,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Metadata {
    #[serde(default)]
    base_date: String,
}

/// Runs the command.
pub(super) fn run(args: &Args, shell: &Shell) -> Exit {
    let compat = match load::compat(shell) {
        Ok(compat) => compat,
        Err(exit) => return exit,
    };
    let made = match versions(args, shell, &compat.sdk_tables().sdk_versions) {
        Ok(made) => made,
        Err(error) => return shell.report(&[error]),
    };
    let PackageVersions { wheel, deb, rpm } = &made;
    if shell.environment.get("GITHUB_OUTPUT").is_some() {
        let names = [
            "rocm_package_version",
            "rocm_deb_package_version",
            "rocm_rpm_package_version",
        ];
        let outputs: Vec<ActionOutput> = names
            .into_iter()
            .zip([wheel, deb, rpm])
            .map(|(name, value)| (name.to_owned(), value.clone()))
            .collect();
        if let Err(exit) = shell.write_outputs(&outputs) {
            return exit;
        }
    }
    match args.format.get() {
        Format::Human => shell.print(&format!("wheel {wheel}\ndeb   {deb}\nrpm   {rpm}\n")),
        Format::Json => {
            let document = json!({"version": 1, "wheel": wheel, "deb": deb, "rpm": rpm});
            shell.print(&format!("{document:#}\n"))
        }
    }
}

fn versions(
    args: &Args,
    shell: &Shell,
    rows: &[crate::compat::rows::SdkVersionRow],
) -> Result<PackageVersions, Diagnostic> {
    let file = read(&args.version_file, args.base.is_some())?;
    let of_file = || Location::File(args.version_file.display().to_string().into());
    let base = match (&args.base, file.rocm_version) {
        (Some(base), _) => base.clone(),
        (None, Some(text)) => release(&text).map_err(|reason| {
            invalid(&reason, "fix `rocm-version`, or pass `--base`").at(of_file(), "")
        })?,
        (None, None) => {
            return Err(
                invalid("`rocm-version` is missing", "add it, or pass `--base`").at(of_file(), ""),
            );
        }
    };
    if let Some(suffix) = &args.custom_suffix {
        let text = format!("{base}{suffix}");
        let wheel = text.parse::<Version>().map_err(|error| {
            invalid(
                &error.to_string(),
                "append one such as `.dev0`, `rc1` or `+mine`",
            )
            .at(Location::Argument(format!("--custom-suffix {suffix}")), "")
        })?;
        return Ok(PackageVersions {
            wheel: wheel.normalized(),
            deb: text.clone(),
            rpm: text,
        });
    }
    let wanted = args.release_type.as_deref().unwrap_or_default();
    let row = rows
        .iter()
        .find(|row| row.release_type == wanted)
        .ok_or_else(|| {
            let known: Vec<&str> = rows.iter().map(|row| row.release_type.as_str()).collect();
            invalid(
                &format!("unknown release type `{wanted}`"),
                &format!("known types are {}", known.join(", ")),
            )
            .at(Location::Argument(format!("--release-type {wanted}")), "")
        })?;
    let takes_number = row.wheel.contains("{number}");
    if args.prerelease_version.is_some() && !takes_number {
        return Err(invalid(
            &format!("a {wanted} version has no number"),
            "remove `--prerelease-version`",
        ));
    }
    let of_workflow = || {
        shell
            .environment
            .get("GITHUB_SHA")
            .filter(|_| row.wheel.contains("{sha}"))
            .map(commit)
    };
    let sha = match args.sha.clone().map(Ok).or_else(of_workflow) {
        Some(sha) => Some(sha.map_err(|reason| {
            invalid(&reason, "pass `--sha`").at(Location::Argument("GITHUB_SHA".to_owned()), "")
        })?),
        None if row.wheel.contains("{sha}") => head(shell),
        None => None,
    };
    let mut known = BTreeMap::from([("base", base)]);
    known.insert(
        "date",
        args.date
            .clone()
            .unwrap_or_else(|| shell.environment.today().replace('-', "")),
    );
    known.extend(
        args.prerelease_version
            .map(|number| ("number", number.to_string())),
    );
    if !file.release_metadata.base_date.is_empty() {
        known.insert(
            "base-date",
            day(&file.release_metadata.base_date).map_err(|reason| {
                invalid(&reason, "fix `release-metadata.base-date`").at(of_file(), "")
            })?,
        );
    }
    if let Some(sha) = sha {
        known.insert("sha8", sha.chars().take(8).collect());
        known.insert("sha", sha);
    }
    let made = version::versions(row, &known).map_err(|missing| {
        let mut help: Vec<&str> = missing.iter().map(|word| how_to_provide(word)).collect();
        help.dedup();
        invalid(
            &format!("a {wanted} version requires {}", missing.join(", ")),
            &help.join("; "),
        )
    })?;
    // Normalizing removes the leading zeros of a commit that has only digits.
    let wheel = made
        .wheel
        .parse::<Version>()
        .map_err(|error| invalid(&error.to_string(), "fix the table `sdk-versions`"))?;
    Ok(PackageVersions {
        wheel: wheel.normalized(),
        ..made
    })
}

fn how_to_provide(word: &str) -> &'static str {
    match word {
        "number" => "pass `--prerelease-version`",
        "base-date" => "set `release-metadata.base-date` in the version file to YYYYMMDD",
        "sha" | "sha8" => "pass `--sha`, or run the command in a checkout",
        _ => "pass `--base` and `--date`",
    }
}

fn read(path: &Path, may_be_absent: bool) -> Result<VersionFile, Diagnostic> {
    if may_be_absent && !sys::exists(path) {
        return Ok(VersionFile::default());
    }
    let text = sys::read_text(path, MAX_VERSION_FILE_BYTES).map_err(|error| {
        Diagnostic::from(error)
            .help("pass the version with `--base`, or the file with `--version-file`")
    })?;
    crate::sdk::parse_json_object(text.as_bytes()).map_err(|reason| {
        invalid(
            &format!("this is not a version file: {reason}"),
            "see `version.json` of the ROCm sources",
        )
        .at(Location::File(path.display().to_string().into()), "")
    })
}

fn head(shell: &Shell) -> Option<String> {
    let git = sys::find_program("git", &shell.environment)?;
    let answer = sys::probe(
        &git,
        &["rev-parse", "HEAD"],
        &shell.environment,
        GIT_TIMEOUT,
    );
    answer
        .first_line_of_success()
        .filter(|text| crate::source::is_commit_hash(text))
}

/// Parses a day in the form that versions have.
fn day(text: &str) -> Result<String, String> {
    day_digits(text)
        .filter(|digits| digits == text)
        .ok_or_else(|| format!("`{text}` is not a date such as 20251120"))
}

/// Parses the version of the sources: numbers only, in normal form.
fn release(text: &str) -> Result<String, String> {
    let is_number = |word: &str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
    let normal = text.parse::<Version>().map(|version| version.normalized());
    let is_release =
        text.contains('.') && text.split('.').all(is_number) && normal.as_deref() == Ok(text);
    if is_release {
        Ok(text.to_owned())
    } else {
        Err(format!("`{text}` is not a version such as 7.10.0"))
    }
}

/// Parses a commit hash of at least eight digits, and returns it in lower case.
fn commit(text: &str) -> Result<String, String> {
    let is_hash =
        (8..=64).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    if is_hash {
        Ok(text.to_ascii_lowercase())
    } else {
        Err(format!("`{text}` is not a commit hash"))
    }
}

fn invalid(message: &str, help: &str) -> Diagnostic {
    Diagnostic::new(&codes::BAD_SDK_VERSION, message).help(help)
}
