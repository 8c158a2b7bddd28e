//! Recognizes the errors of a container engine that cannot start a container.
//!
//! Exit codes are not sufficient: the same error gives 125, 126 or 127, depending on client and
//! version. The texts are those of docker 20.10 to 28 and podman 4.3, observed by provoking each
//! error.

use super::step_failure::MessageContext;
use crate::codes::build as codes;
use rock_diagnostic::Diagnostic;

/// A container that did not start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EngineFailure {
    /// `docker` or `podman`.
    pub engine: String,
    /// The requested image.
    pub image: String,
    /// The kind of error.
    pub kind: EngineErrorKind,
    /// The output of the engine, by line.
    pub output: Vec<String>,
}

/// The kind of error that an engine reports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EngineErrorKind {
    /// The program is not installed.
    NoProgram,
    /// No daemon responds, or this user may not access it.
    Unreachable,
    /// The image is not on this machine and cannot be pulled.
    NoImage,
    /// A device node is missing on this machine.
    NoDevice,
    /// The image has no group of that name.
    NoGroup,
    /// A container of that name already exists.
    NameTaken,
    /// Any other error, with the status of the engine.
    Other(String),
}

impl EngineErrorKind {
    /// Classifies the last lines of an engine that started no container; `status` is its exit
    /// status.
    pub fn of(output: &[String], status: &str) -> Self {
        let text = output.join("\n").to_lowercase();
        let says = |words: &[&str]| words.iter().any(|word| text.contains(word));
        let unreachable = [
            "cannot connect to the docker daemon",
            "docker daemon socket",
            "error during connect",
            "podman socket",
        ];
        let no_image = [
            "no such image",
            "pull access denied",
            "manifest unknown",
            "repository does not exist",
            "image not known",
            "did not resolve to an alias",
            "initializing source",
            "unable to find image",
            "failed to resolve reference",
        ];
        if says(&unreachable) {
            Self::Unreachable
        } else if says(&["in group file", "unable to find group"]) {
            Self::NoGroup
        } else if says(&["/dev/kfd", "/dev/dri"])
            && says(&["no such file or directory", "not a device node"])
        {
            Self::NoDevice
        } else if says(&["is already in use"]) {
            Self::NameTaken
        } else if says(&no_image) {
            Self::NoImage
        } else {
            Self::Other(status.to_owned())
        }
    }
}

impl EngineFailure {
    pub fn diagnostic(&self, context: &MessageContext<'_>) -> Diagnostic {
        let (engine, image) = (&self.engine, &self.image);
        let (code, message, help) = match &self.kind {
            EngineErrorKind::NoProgram => (
                &codes::ENGINE_MISSING,
                format!("`{engine}` is not installed"),
                format!("install {engine}, or build on this machine with `--engine local`"),
            ),
            EngineErrorKind::Unreachable => (
                &codes::NO_ENGINE_ANSWERS,
                format!("{engine} cannot be reached"),
                match engine.as_str() {
                    "docker" => "start the daemon, name its socket in DOCKER_HOST, or join its \
                                 group; `rock-matrix doctor` shows what it sees"
                        .to_owned(),
                    _ => format!("see `{engine} info`; `rock-matrix doctor` shows what it sees"),
                },
            ),
            EngineErrorKind::NoImage => (
                &codes::IMAGE_MISSING,
                format!("the image `{image}` is not on this machine and cannot be pulled"),
                format!(
                    "run `{engine} pull {image}` for details, or select another image with \
                     `--image`"
                ),
            ),
            EngineErrorKind::NoDevice => (
                &codes::DEVICE_MISSING,
                "this machine has no GPU device nodes, but the job requires them".to_owned(),
                "build without them (`gpu: none`, or `auto`, which uses them only if they exist), \
                 or load the amdgpu driver"
                    .to_owned(),
            ),
            EngineErrorKind::NoGroup => (
                &codes::GROUP_MISSING,
                format!("a group of `docker: groups` is not in the image `{image}`"),
                "set `docker: {gid: auto}`, which passes the numbers of the groups that own the \
                 devices"
                    .to_owned(),
            ),
            EngineErrorKind::NameTaken => (
                &codes::ENGINE_FAILED,
                "a container of an earlier build of this job still exists".to_owned(),
                format!("remove it with `{engine} rm --force NAME`; its name is below"),
            ),
            EngineErrorKind::Other(status) => (
                &codes::ENGINE_FAILED,
                format!("{engine} did not start the build: {status}"),
                format!("run the command by hand; `{}` prints it", context.dry_run),
            ),
        };
        let mut diagnostic = Diagnostic::new(code, message);
        if !self.output.is_empty() {
            diagnostic = diagnostic.note(format!(
                "the output of {engine} was\n{}",
                self.output.join("\n")
            ));
        }
        if !matches!(
            self.kind,
            EngineErrorKind::NoProgram | EngineErrorKind::Unreachable
        ) {
            diagnostic = diagnostic.note(format!("the complete log is in {}", context.log));
        }
        diagnostic.help(help)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(output: &str) -> &'static str {
        let output: Vec<String> = output.lines().map(str::to_owned).collect();
        let kind = EngineErrorKind::of(&output, "exit status 125");
        EngineFailure {
            engine: "docker".into(),
            image: "x:1".into(),
            kind,
            output,
        }
        .diagnostic(&MessageContext::default())
        .code
        .id
    }

    #[test]
    fn failures_of_both_engines_are_recognized_by_their_text() {
        let device = "docker: Error response from daemon: error gathering device information while \
                      adding custom device \"/dev/kfd\": no such file or directory.";
        assert_eq!(check(device), "B064");
        assert_eq!(
            check("Error: stat /dev/kfd: no such file or directory"),
            "B064"
        );
        assert_eq!(
            check(
                "docker: Cannot connect to the Docker daemon at unix:///x.sock. Is the docker \
                 daemon running?"
            ),
            "B062"
        );
        assert_eq!(
            check(
                "permission denied while trying to connect to the Docker daemon socket at unix:///x"
            ),
            "B062"
        );
        assert_eq!(
            check(
                "docker: Error response from daemon: Unable to find group render: no matching \
                 entries in group file."
            ),
            "B065"
        );
        assert_eq!(
            check(
                "Unable to find image 'x:1' locally\ndocker: Error response from daemon: pull \
                 access denied for x, repository does not exist or may require 'docker login'"
            ),
            "B063"
        );
        assert_eq!(
            check(
                "Error: short-name \"x:1\" did not resolve to an alias and no unqualified-search \
                 registries are defined"
            ),
            "B063"
        );
        assert_eq!(
            check(
                "docker: Error response from daemon: Conflict. The container name \"/rock-a\" is \
                 already in use by container"
            ),
            "B066"
        );
        assert_eq!(
            check("error setting rlimit type 8: operation not permitted"),
            "B066"
        );
        let none = EngineFailure {
            engine: "podman".into(),
            image: "x".into(),
            kind: EngineErrorKind::NoProgram,
            output: vec![],
        };
        assert_eq!(none.diagnostic(&MessageContext::default()).code.id, "B061");
    }
}
