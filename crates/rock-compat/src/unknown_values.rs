//! Values of a query that no table covers.

use std::collections::BTreeSet;
use std::fmt::Display;

use super::compat::join_with_and;
use super::products::related_targets;
use super::support::{describe_known_rocm, nearest_rocm};
use super::{Compat, CompatQuery};
use crate::codes::facts as codes;
use rock_diagnostic::nearest::{did_you_mean, nearest_few};
use rock_diagnostic::{Diagnostic, Location};
use rock_names::{GfxTarget, PythonVersion, RocmVersion, Version};

impl Compat {
    /// Returns an error for each gfx target of a query that is in no table, and for a torch release
    /// that is not listed. If the query has no answers about pairs of values, which give their own
    /// reasons, also returns an error for each other value without data.
    pub fn unknown_values(&self, query: &CompatQuery, has_answers: bool) -> Vec<Diagnostic> {
        let known = self.known_gfx();
        let targets = query.gfx.iter();
        let mut errors: Vec<Diagnostic> = targets
            .filter(|target| !known.contains(target.processor()))
            .map(|target| unknown_target(target, &known))
            .collect();
        let torch = query.torch.iter();
        errors.extend(torch.filter_map(|torch| self.unlisted_torch_release(torch)));
        if has_answers {
            return errors;
        }
        let rocm = query.rocm.iter();
        errors.extend(rocm.filter_map(|rocm| self.unknown_rocm_version(rocm)));
        let torch = query.torch.iter();
        errors.extend(torch.filter_map(|torch| self.unknown_torch_version(torch)));
        errors.extend(
            query
                .python
                .and_then(|python| self.unknown_python_version(python)),
        );
        let backend = query.backend.iter();
        errors.extend(backend.map(|backend| self.backend_alone(backend)));
        errors
    }

    /// Returns whether no table lists a gfx target, the minor version of torch, ROCm or Python, or
    /// the package version of a query.
    pub fn has_unlisted_value(&self, query: &CompatQuery) -> bool {
        let known = self.known_gfx();
        let (torch, rocm) = (query.torch.as_ref(), query.rocm.as_ref());
        query.gfx.iter().any(|one| !known.contains(one.processor()))
            || torch.is_some_and(|torch| self.torch(torch).is_none())
            || rocm.is_some_and(|rocm| self.hint_if_unlisted_rocm(rocm).is_some())
            || query
                .python
                .is_some_and(|python| self.hint_if_unlisted_python(python).is_some())
            || query
                .package
                .as_ref()
                .is_some_and(|(name, version)| self.package(name, version).is_none())
    }

    /// Returns a hint with the nearest known versions if no table lists a release of the minor
    /// version of a ROCm version.
    pub fn hint_if_unlisted_rocm(&self, rocm: &RocmVersion) -> Option<String> {
        let known = self.rocm_versions();
        let is_listed = known.iter().any(|one| one.has_same_minor(rocm));
        if is_listed {
            return None;
        }
        unlisted_hint(rocm, known)
    }

    /// Returns a hint with the nearest known versions if no table lists a Python version, with or
    /// without the global interpreter lock.
    pub fn hint_if_unlisted_python(&self, python: PythonVersion) -> Option<String> {
        let mut known = self.python_versions();
        if known.any(|one| one.numbers() == python.numbers()) {
            return None;
        }
        let known: BTreeSet<PythonVersion> = self.python_versions().collect();
        unlisted_hint(&python, &known.into_iter().collect::<Vec<_>>())
    }

    /// Returns the Python versions of the table `torch`, with repetitions.
    fn python_versions(&self) -> impl Iterator<Item = PythonVersion> {
        let listed = self.tables().torch.iter().flat_map(|row| &row.python);
        listed.filter_map(|text| text.parse().ok())
    }

    fn unknown_rocm_version(&self, rocm: &RocmVersion) -> Option<Diagnostic> {
        if !self.rocm_overview(rocm).lines.is_empty() {
            return None;
        }
        let listed = self.rocm_versions();
        let message = if listed.contains(rocm) {
            format!("no table says what works with ROCm {rocm}")
        } else {
            format!("unknown ROCm version `{rocm}`")
        };
        let covered = listed
            .iter()
            .filter(|version| !self.rocm_overview(version).lines.is_empty());
        let covered: Vec<RocmVersion> = covered.cloned().collect();
        let near = describe_known_rocm(listed, rocm).or_else(|| {
            let near = nearest_rocm(&covered, rocm)?;
            Some(format!("the nearest version with data is {near}"))
        });
        let list = "`rock-matrix compat list rocm` shows";
        let help = match near {
            Some(near) => format!("{near}; {list} all"),
            None => format!("{list} the known versions"),
        };
        Some(bad_value(&format!("rocm={rocm}"), message).help(help))
    }

    fn unlisted_torch_release(&self, torch: &Version) -> Option<Diagnostic> {
        let newest = self.newest_release_if_unlisted(torch)?;
        let message = format!("torch {torch} is not a known release");
        let help = format!(
            "the newest known release of torch {} is {newest}",
            torch.minor()
        );
        Some(bad_value(&format!("torch={torch}"), message).help(help))
    }

    fn unknown_torch_version(&self, torch: &Version) -> Option<Diagnostic> {
        if !self.torch_overview(torch).lines.is_empty() {
            return None;
        }
        let listed = self.tables().torch.iter().map(|row| &row.torch);
        let known: BTreeSet<Version> = listed.filter_map(|text| text.parse().ok()).collect();
        let range = match (known.first(), known.last()) {
            (Some(first), Some(last)) => format!("the known versions are {first} to {last}; "),
            _ => String::new(),
        };
        let help = format!("{range}`rock-matrix compat list torch` shows them");
        let message = format!("unknown torch version `{torch}`");
        Some(bad_value(&format!("torch={torch}"), message).help(help))
    }

    fn unknown_python_version(&self, python: PythonVersion) -> Option<Diagnostic> {
        if !self.python_overview(python).lines.is_empty() {
            return None;
        }
        let known: BTreeSet<PythonVersion> = self.python_versions().collect();
        let help = match (known.first(), known.last()) {
            (Some(first), Some(last)) => format!("the known versions are {first} to {last}"),
            _ => "`rock-matrix compat list torch` shows the known versions".to_owned(),
        };
        let message = format!("unknown Python version `{python}`");
        Some(bad_value(&format!("python={python}"), message).help(help))
    }

    /// Returns the error for a backend without a package, with which alone tables relate it.
    fn backend_alone(&self, backend: &str) -> Diagnostic {
        let rows = &self.tables().packages;
        let known: BTreeSet<&str> = rows
            .iter()
            .flat_map(|row| row.backends.iter().map(String::as_str))
            .collect();
        let argument = format!("backend={backend}");
        let Some(row) = rows
            .iter()
            .find(|row| row.backends.iter().any(|known| known == backend))
        else {
            let near = nearest_few(backend, known.iter().copied());
            let message = format!("no package has a backend `{backend}`");
            return bad_value(&argument, message).help(if near.is_empty() {
                let known: Vec<String> = known.into_iter().map(str::to_owned).collect();
                format!("the known backends are {}", join_with_and(&known))
            } else {
                did_you_mean(&near)
            });
        };
        let message = "a backend is only compared with a package".to_owned();
        let help = format!("add a package, such as `{}={}`", row.package, row.version);
        bad_value(&argument, message).help(help)
    }
}

fn bad_value(argument: &str, message: String) -> Diagnostic {
    Diagnostic::new(&codes::BAD_QUESTION, message).at(Location::Argument(argument.to_owned()), "")
}

/// Returns the hint for a version that is not among the known ones, which are sorted; `None` if none
/// are known.
fn unlisted_hint<V: Display + Ord>(version: &V, known: &[V]) -> Option<String> {
    let (first, last) = (known.first()?, known.last()?);
    if version > last {
        return Some(format!(
            "the newest known version is {last}; if {version} is newer than the compatibility \
             data, ignore this"
        ));
    }
    let texts: Vec<String> = known.iter().map(ToString::to_string).collect();
    let near = nearest_few(&version.to_string(), texts.iter().map(String::as_str));
    Some(if near.is_empty() {
        format!("the known versions are {first} to {last}")
    } else {
        did_you_mean(&near)
    })
}

/// Returns the error for a target that is in no table, with those that begin like it: another
/// number is another architecture, not a misspelled one.
fn unknown_target(target: &GfxTarget, known: &BTreeSet<String>) -> Diagnostic {
    let processor = target.processor();
    let help = match related_targets(processor, known) {
        Some((prefix, related)) => format!(
            "known targets that begin with `{prefix}`: {}",
            join_with_and(&related)
        ),
        None => "`rock-matrix compat list families` shows the known targets".to_owned(),
    };
    let message = format!("unknown gfx target `{processor}`");
    bad_value(&format!("gfx={target}"), message).help(help)
}

#[cfg(test)]
mod tests {
    use crate::Compat;

    /// Returns the message and the help of each error.
    fn errors(pairs: &[&str]) -> Vec<(String, String)> {
        let compat = Compat::embedded();
        let pairs: Vec<String> = pairs.iter().map(|&pair| pair.to_owned()).collect();
        let query = compat.parse_query(&pairs).unwrap();
        let has_answers = !compat.explain(&query).is_empty();
        let errors = compat.unknown_values(&query, has_answers).into_iter();
        errors
            .map(|error| (error.message, error.help.unwrap_or_default()))
            .collect()
    }

    #[test]
    fn known_values_have_no_errors() {
        for pair in [
            "gfx=mi300x",
            "rocm=7.2",
            "torch=2.9",
            "torch=2.9.1",
            "torch=2.14.2.dev20261001",
            "python=3.13t",
        ] {
            assert!(errors(&[pair]).is_empty(), "{pair}");
        }
        assert!(errors(&["torch=2.99.0", "rocm=7.2"]).is_empty());
    }

    #[test]
    fn unknown_values_suggest_known_ones() {
        let message = |pairs: &[&str]| errors(pairs).remove(0);
        let (target, near) = message(&["gfx=gfx1299"]);
        assert_eq!(target, "unknown gfx target `gfx1299`");
        assert_eq!(
            near,
            "known targets that begin with `gfx12`: gfx1200, gfx1201 and gfx1250"
        );
        let (_, related) = message(&["gfx=gfx9999", "rocm=7.2"]);
        assert!(
            related.starts_with("known targets that begin with `gfx9`: gfx900, gfx906"),
            "{related}"
        );
        let (rocm, near) = message(&["rocm=99.1"]);
        assert_eq!(rocm, "unknown ROCm version `99.1`");
        assert!(
            near.starts_with("the newest known version is 10."),
            "{near}"
        );
        let (_, range) = message(&["rocm=9.9"]);
        assert!(
            range.starts_with("the known versions are 5.2 to 10."),
            "{range}"
        );
        let (_, near) = message(&["rocm=5.2"]);
        assert!(
            near.starts_with("the nearest version with data is "),
            "{near}"
        );
        let (torch, _) = message(&["torch=99"]);
        assert_eq!(torch, "unknown torch version `99`");
        assert_eq!(
            message(&["torch=2.9.7", "rocm=6.4"]),
            (
                "torch 2.9.7 is not a known release".to_owned(),
                "the newest known release of torch 2.9 is 2.9.1".to_owned()
            )
        );
        let (python, known) = message(&["python=9.9"]);
        assert_eq!(python, "unknown Python version `9.9`");
        assert!(known.starts_with("the known versions are 3."), "{known}");
        assert_eq!(
            message(&["backend=trion"]),
            (
                "no package has a backend `trion`".to_owned(),
                "did you mean `triton`?".to_owned()
            )
        );
        assert_eq!(
            message(&["backend=ck"]).0,
            "a backend is only compared with a package"
        );
    }

    #[test]
    fn versions_without_a_listed_minor_version_have_hints() {
        let compat = Compat::embedded();
        let rocm = |text: &str| compat.hint_if_unlisted_rocm(&text.parse().unwrap());
        for known in ["6.2", "6.2.9", "7.14.0"] {
            assert_eq!(rocm(known), None);
        }
        assert_eq!(rocm("7.41").unwrap(), "did you mean `7.1`, or `7.14`?");
        let newer = rocm("99.1").unwrap();
        assert!(newer.starts_with("the newest known version is 10."));
        assert!(newer.ends_with("if 99.1 is newer than the compatibility data, ignore this"));
        let python = |text: &str| compat.hint_if_unlisted_python(text.parse().unwrap());
        for known in ["3.8", "3.12", "3.13t"] {
            assert_eq!(python(known), None);
        }
        assert_eq!(
            python("3.1").unwrap(),
            "did you mean `3.10`, `3.11`, or `3.12`?"
        );
        let newer = python("9.9").unwrap();
        assert!(newer.starts_with("the newest known version is 3."));
    }
}
