//! Files that one process leaves for another, and pages of package indexes.

use rock_matrix::compat::pages::{linked_files, linked_rocm_indexes};
use rock_matrix::diagnostic::{Location, Sink, SourceText};
use rock_matrix::index::page_rows;
use rock_matrix::plan::{is_id, read_saved};
use rock_matrix::recipe::container::{self, ContainerRun, DeviceAccess, EngineProgram};
use rock_matrix::render;

/// A plan: it is refused with a place in its text, or no job of it ends a line of a script or adds
/// an option to a container.
pub fn plan(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    let source = SourceText::new("plan.json", text);
    let mut sink = Sink::new();
    let Some(saved) = read_saved(&source, &mut sink) else {
        let found = sink.finish();
        assert!(
            !found.is_empty() && found.iter().all(|one| one.code.id == "P018"),
            "{found:?}"
        );
        for label in found.iter().flat_map(|one| &one.labels) {
            let Location::Text { span, .. } = &label.location else {
                panic!("{label:?}")
            };
            assert!(text.is_char_boundary(span.start) && span.start <= text.len());
        }
        return;
    };
    assert!(!sink.has_errors());
    for job in &saved.jobs {
        assert!(is_id(&job.id), "{}", job.id);
        let Some(image) = &job.image else { continue };
        let container = ContainerRun {
            engine: EngineProgram::Docker,
            image,
            devices: DeviceAccess::Present,
            folder: "/srv/.rock/job",
            caller: None,
            assigned: None,
            device_gids: &[],
            pass_env: &job.settings.secrets,
            extra: &[],
            name: Some(&container::name(&job.id, "/srv")),
        };
        let argv = container::argv(job, &container);
        let at = argv.len() - 3;
        assert!(argv[at] == *image && !image.starts_with('-'), "{argv:?}");
        assert!(
            argv.iter().all(|word| !word.contains(char::is_control)),
            "{argv:?}"
        );
        assert!(
            render::docker(job, &container)
                .lines()
                .all(|line| !line.contains(char::is_control))
        );
    }
}

/// Pages of an index, as HTML and as JSON.
pub fn page(bytes: &[u8]) {
    let html = String::from_utf8_lossy(bytes);
    let links = html.matches(['a', 'A']).count();
    assert!(linked_files(&html).len() <= links && linked_rocm_indexes(&html).len() <= links);
    for version in linked_rocm_indexes(&html) {
        assert!(
            version
                .bytes()
                .all(|byte| byte.is_ascii_digit() || byte == b'.'),
            "{version}"
        );
    }
    if let Ok(rows) = page_rows(bytes) {
        assert!(rows.len() <= bytes.len());
    }
}
