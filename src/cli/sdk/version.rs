//! `sdk version`: computes the versions of a build.

use std::path::PathBuf;

use serde_json::json;

use super::{Exit, Format, OutputFormat, Shell};
use crate::cli::load;
use crate::cli::whole_number::{Unit, whole_number};
use crate::render::actions::ActionOutput;
use crate::sdk::version::{
    PackageVersions, VersionRequest, parse_base_version, parse_commit, parse_day,
};

/// Compute the versions of a build for wheels, Debian packages and RPMs
#[derive(Debug, clap::Args)]
#[command(
    override_usage = "rock-matrix sdk version [OPTIONS] \
        <--release-type <TYPE>|--custom-suffix <TEXT>>",
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
    #[arg(
        long,
        value_name = "N",
        value_parser = whole_number::<u32>(Unit::One, 0..=u64::from(u32::MAX)),
        help_heading = "Release"
    )]
    prerelease_version: Option<u32>,
    /// Build date [default: today in UTC]
    #[arg(
        long,
        value_name = "YYYYMMDD",
        value_parser = parse_day,
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
        value_parser = parse_base_version,
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
        value_parser = parse_commit,
        help_heading = "Sources"
    )]
    sha: Option<String>,
    #[command(flatten, next_help_heading = "Output")]
    format: OutputFormat,
}

/// Runs the command.
pub(super) fn run(args: &Args, shell: &Shell) -> Exit {
    let compat = match load::compat(shell) {
        Ok(compat) => compat,
        Err(exit) => return exit,
    };
    let rows = &compat.sdk_tables().sdk_versions;
    let request = args.request();
    let PackageVersions { wheel, deb, rpm } = match request.compute(rows, &shell.environment) {
        Ok(versions) => versions,
        Err(error) => return shell.report(&[error.diagnostic(&request)]),
    };
    if shell.environment.get("GITHUB_OUTPUT").is_some() {
        let names = [
            "rocm_package_version",
            "rocm_deb_package_version",
            "rocm_rpm_package_version",
        ];
        let outputs: Vec<ActionOutput> = names
            .into_iter()
            .zip([&wheel, &deb, &rpm])
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

impl Args {
    fn request(&self) -> VersionRequest {
        VersionRequest {
            release_type: self.release_type.clone(),
            prerelease_number: self.prerelease_version,
            date: self.date.clone(),
            custom_suffix: self.custom_suffix.clone(),
            base: self.base.clone(),
            version_file: self.version_file.clone(),
            commit: self.sha.clone(),
        }
    }
}
