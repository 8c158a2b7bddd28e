//! Reading what is published, for the commands that choose among it.

use std::path::{Path, PathBuf};

use super::told::file_url;
use super::{Exit, Shell, load};
use crate::diagnostic::{Diagnostic, Place, Sink, registry::release as codes};
use crate::pick::Offers;
use crate::publish::{Listing, MANIFEST, Manifest};
use crate::sys;

/// Reads lists of releases, manifests and folders. Wheels of manifests and folders lie where these lie, or below
/// `base`, an address with a slash at its end.
///
/// # Errors
/// When one cannot be read, or none holds a wheel. Wheels whose name cannot be read are told of as warnings.
pub(super) fn read(paths: &[PathBuf], base: Option<&str>, shell: &Shell, sink: &mut Sink) -> Result<Offers, Exit> {
    let mut offers = Offers::default();
    let mut manifests = Vec::new();
    for path in paths {
        let file = if path.is_dir() { path.join(MANIFEST) } else { path.clone() };
        if path.is_dir() && !sys::is_file(&file) {
            let wheels = sys::files_with_extension(path, &["whl"]).map_err(|error| shell.report(&[error.into()]))?;
            let names: Vec<String> =
                wheels.iter().filter_map(|file| Some(file.file_name()?.to_str()?.to_owned())).collect();
            offers.add_names(names.iter().map(String::as_str), &below(path, base));
            continue;
        }
        let source = load::source(shell, &file)?;
        if let Ok(manifest) = Manifest::from_json(&source.text) {
            manifests.push((manifest, below(file.parent().unwrap_or(Path::new("")), base)));
            continue;
        }
        match Listing::from_json(&source.text) {
            Ok(listing) => offers.add_listing(&listing),
            Err(error) => {
                sink.push(
                    Diagnostic::new(&codes::NOT_PUBLISHED_FILES, format!("`{}`: {error}", source.path))
                        .at(source.place(0..0), "")
                        .help("save it with `gh api --paginate --slurp repos/OWNER/REPO/releases`"),
                );
                return Err(Exit::Fault);
            }
        }
    }
    // What a list of releases says comes first: it has the addresses.
    for (manifest, base) in &manifests {
        offers.add_manifest(manifest, base);
    }
    for (name, reason) in &offers.unreadable {
        sink.push(
            Diagnostic::new(&codes::UNREADABLE_PUBLISHED_NAME, format!("published `{name}` is left out: {reason}"))
                .help("publish it again under the name of a wheel"),
        );
    }
    if offers.is_empty() {
        let shown = paths.iter().map(|path| format!("`{}`", path.display())).collect::<Vec<_>>().join(" and ");
        sink.push(
            Diagnostic::new(&codes::NO_PUBLISHED_WHEELS, format!("there is no published wheel in {shown}"))
                .at(Place::Argument("--published".to_owned()), "")
                .help("drafts and unfinished uploads do not count; publish the release first"),
        );
        return Err(Exit::Fault);
    }
    Ok(offers)
}

fn below(folder: &Path, base: Option<&str>) -> String {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    base.map_or_else(|| file_url(&sys::real_path(folder).iter().collect::<PathBuf>()), str::to_owned)
}
