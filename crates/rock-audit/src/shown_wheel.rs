//! Wheels that are shown one after the other, with the locations of their GPU code in each other.

use super::audited::AuditedWheel;
use super::document::{AuditDocument, JsonDialect};
use super::findings::{SplitCode, missing_archives};
use super::inspect::InspectedFile;
use rock_diagnostic::{Diagnostic, Diagnostics};

/// The results of an audit that are shown, as text or as a line of JSON.
#[derive(Debug)]
pub struct ShownWheel {
    form: ShowForm,
    findings: Vec<Diagnostic>,
    split: SplitCode,
    is_audited: bool,
}

/// The form in which a wheel is shown.
#[derive(Debug)]
enum ShowForm {
    Text(String),
    /// A document, and the files whose GPU code may be in other wheels.
    Document(Box<AuditDocument>, Vec<InspectedFile>),
}

/// A text to print, and the findings to report after it.
pub type ShowOutput = (String, Vec<Diagnostic>);

impl ShownWheel {
    /// Creates the results of an audited wheel: as JSON with the keys of `dialect`, or as text with
    /// findings.
    pub fn new(audited: &AuditedWheel<'_>, dialect: Option<JsonDialect>) -> Self {
        let split = audited.split_code();
        let (form, findings) = match dialect {
            Some(dialect) => {
                let files = audited
                    .files()
                    .iter()
                    .filter(|file| !split.is_empty() && !file.inventory.is_empty());
                let document = Box::new(AuditDocument::new(audited, dialect));
                let form = ShowForm::Document(document, files.cloned().collect());
                (form, Vec::new())
            }
            None => (
                ShowForm::Text(audited.overview()),
                audited.findings().to_vec(),
            ),
        };
        Self {
            form,
            findings,
            split,
            is_audited: true,
        }
    }

    /// Creates the results of a wheel that cannot be read.
    pub fn unreadable(file_name: &str, errors: Diagnostics, dialect: Option<JsonDialect>) -> Self {
        let form = match (dialect, errors.as_slice().first()) {
            (Some(_), Some(first)) => {
                let document = AuditDocument::of_error(file_name, first.message.clone());
                ShowForm::Document(Box::new(document), Vec::new())
            }
            _ => ShowForm::Text(String::new()),
        };
        Self {
            form,
            findings: errors.into_vec(),
            split: SplitCode::default(),
            is_audited: false,
        }
    }

    /// Returns the output, in which errors of an audited wheel are warnings: it is shown, not
    /// checked. `wheels` is the split-off code of all wheels, and `missing` reports archives that
    /// none of them has.
    fn output(self, wheels: &[SplitCode], missing: Vec<Diagnostic>) -> ShowOutput {
        match self.form {
            ShowForm::Text(text) => {
                let found = [self.findings, missing].concat().into_iter();
                let found = if self.is_audited {
                    found.map(Diagnostic::error_as_warning).collect()
                } else {
                    found.collect()
                };
                (text, found)
            }
            ShowForm::Document(document, _) if self.split.is_empty() => {
                (json(&document), self.findings)
            }
            ShowForm::Document(document, files) => {
                let document = document.with_other_wheels(&files, wheels, &missing);
                (json(&document), self.findings)
            }
        }
    }
}

fn json(document: &AuditDocument) -> String {
    serde_json::to_string(document).expect("texts, lists and maps of texts serialise") + "\n"
}

/// Wheels whose outputs wait for the wheels that follow, which may have their GPU code.
#[derive(Debug, Default)]
pub struct ShowQueue {
    waiting: Vec<ShownWheel>,
}

impl ShowQueue {
    /// Adds a wheel, and returns the outputs of all waiting ones if no GPU code is missing.
    pub fn push(&mut self, wheel: ShownWheel) -> Vec<ShowOutput> {
        self.waiting.push(wheel);
        if self.waiting.iter().all(|wheel| wheel.split.is_empty()) {
            self.finish()
        } else {
            Vec::new()
        }
    }

    /// Returns the outputs of the waiting wheels, in order.
    pub fn finish(&mut self) -> Vec<ShowOutput> {
        let waiting = std::mem::take(&mut self.waiting);
        let splits: Vec<SplitCode> = waiting.iter().map(|wheel| wheel.split.clone()).collect();
        let missing = missing_archives(&splits);
        waiting
            .into_iter()
            .zip(missing)
            .map(|(wheel, missing)| wheel.output(&splits, missing))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::{ShowQueue, ShownWheel};
    use crate::testing::wheel;
    use crate::{AuditOptions, Auditor, JsonDialect, NoLibraries};
    use rock_compat::Compat;
    use rock_diagnostic::{Diagnostic, Diagnostics, Severity};
    use rock_testkit::bundle;

    const HOST: &str = "demo-1.0-cp312-cp312-linux_x86_64.whl";
    const OTHER: &str = "demo-1.0-1-cp312-cp312-linux_x86_64.whl";

    fn shown(name: &str, members: &[(&str, &[u8])], dialect: Option<JsonDialect>) -> ShownWheel {
        let compat = Compat::embedded();
        let auditor = Auditor::new(&compat, NoLibraries, AuditOptions::default());
        let file = wheel(members);
        let audited = auditor.audit(&name.parse().unwrap(), &file).unwrap();
        ShownWheel::new(&audited, dialect)
    }

    #[test]
    fn a_wheel_with_split_off_code_waits_for_the_others() {
        let paths = ["../.kpack/demo_@GFXARCH@.kpack"];
        let library = bundle::library(&[
            bundle::part(".rocm_kpack_ref", bundle::kpack_reference("demo", &paths)),
            bundle::part(".hipFatBinSegment", bundle::wrappers(1, *b"HIPK")),
        ]);
        let kpack = bundle::kpack(&["gfx942"], &["demo"]);
        let dialect = Some(JsonDialect::Rock);
        let mut queue = ShowQueue::default();
        let plain = shown(HOST, &[("demo.py", b"")], dialect);
        assert_eq!(queue.push(plain).len(), 1, "it has nothing to wait for");
        let host = shown(HOST, &[("demo/_demo.so", library.as_slice())], dialect);
        assert!(!host.split.is_empty());
        assert_eq!(queue.push(host).len(), 0);
        let archive = (".kpack/demo_gfx942.kpack", kpack.as_slice());
        let device = shown(OTHER, &[archive], dialect);
        assert_eq!(queue.push(device).len(), 0);
        let outputs = queue.finish();
        let names: Vec<String> = outputs
            .iter()
            .map(|(text, _)| {
                let document: serde_json::Value = serde_json::from_str(text).unwrap();
                document["wheel"].as_str().unwrap().to_owned()
            })
            .collect();
        assert_eq!(names, [HOST, OTHER]);
        assert!(
            outputs[0].0.contains("\"elsewhere\":[\"gfx942\"]"),
            "{}",
            outputs[0].0
        );
        assert!(queue.finish().is_empty());
    }

    #[test]
    fn errors_of_an_audited_wheel_are_warnings() {
        let library = rock_testkit::library(&["libother.so.1"], &[]);
        let name = HOST.replace("linux", "manylinux_2_17");
        let wheel = shown(&name, &[("demo/_demo.so", library.as_slice())], None);
        let outputs = ShowQueue::default().push(wheel);
        let found = &outputs[0].1;
        assert!(!found.iter().any(Diagnostic::is_error), "{found:?}");
        let is_warning = |one: &Diagnostic| one.severity == Severity::Warning;
        let mut of_library = found.iter().filter(|one| one.code.id == "R105");
        assert!(of_library.any(is_warning), "{found:?}");
    }

    #[test]
    fn an_unreadable_wheel_has_its_error() {
        let error = || {
            let compat = Compat::embedded();
            let auditor = Auditor::new(&compat, NoLibraries, AuditOptions::default());
            let file = b"no archive".to_vec();
            let error = auditor.audit(&HOST.parse().unwrap(), &file).unwrap_err();
            Diagnostics::from(error)
        };
        let text = ShownWheel::unreadable("a.whl", error(), None);
        let outputs = ShowQueue::default().push(text);
        assert_eq!(outputs[0].0, "");
        assert!(outputs[0].1[0].is_error(), "{outputs:?}");
        let json = ShownWheel::unreadable("a.whl", error(), Some(JsonDialect::Auditwheel));
        let outputs = ShowQueue::default().push(json);
        let document: serde_json::Value = serde_json::from_str(&outputs[0].0).unwrap();
        assert_eq!(document["wheel"], "a.whl");
        assert_eq!(document["error"], outputs[0].1[0].message);
    }
}
