//! Measurements of a build, whether it succeeds or not.

use serde::Serialize;

use rock_diagnostic::markdown::code;

/// The file, relative to the job directory, that measurements are written to, either by `build` or
/// by a script that runs without it.
pub const MEASURED_FILE: &str = "measured.json";

/// Measurements of one attempt.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct BuildMeasurements {
    /// Version of this format, 1.
    pub version: u32,
    /// The job ID.
    pub job: String,
    /// The exit code: 0, 124 for a capped build, else that of the failed step.
    pub exit: i32,
    /// Wall-clock seconds.
    pub seconds: u64,
    /// Free bytes on the job's file system before the build.
    pub disk_before_bytes: u64,
    /// Free bytes after the build.
    pub disk_after_bytes: u64,
    /// Total size of the built wheels; 0 if there are none.
    pub wheel_bytes: u64,
}

impl BuildMeasurements {
    /// Serializes the measurements for the file.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self)
            .map(|text| text + "\n")
            .unwrap_or_default()
    }

    /// The head of a table of [`Self::row`]s, without the text before it.
    pub const TABLE_HEAD: &str = "\n| job | ended with | minutes | wheel MiB | disk used MiB | disk free MiB |\n| --- | --- | --- | --- | --- | --- |\n";

    /// Returns a Markdown table row for the summary of a workflow job.
    pub fn row(&self) -> String {
        let mib = |bytes: u64| bytes.div_ceil(1 << 20);
        let used = self.disk_before_bytes.saturating_sub(self.disk_after_bytes);
        format!(
            "| {} | {} | {} | {} | {} | {} |\n",
            code(&self.job),
            self.exit,
            self.seconds.div_ceil(60),
            mib(self.wheel_bytes),
            mib(used),
            mib(self.disk_after_bytes),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::BuildMeasurements;

    #[test]
    fn disk_wheel_and_time_are_written_for_programs_and_people() {
        let measured = BuildMeasurements {
            version: 1,
            job: "flash-attn-2.7.4.post1-rocm6.2-torch2.5.1-triton".into(),
            exit: 124,
            seconds: 19_801,
            disk_before_bytes: 14 << 30,
            disk_after_bytes: 9 << 30,
            wheel_bytes: 0,
        };
        let json = measured.to_json();
        assert_eq!(
            json,
            "{\"version\":1,\"job\":\"flash-attn-2.7.4.post1-rocm6.2-torch2.5.1-triton\",\"exit\":124,\"seconds\":19801,\
             \"disk_before_bytes\":15032385536,\"disk_after_bytes\":9663676416,\"wheel_bytes\":0}\n"
        );
        assert_eq!(
            measured.row(),
            "| `flash-attn-2.7.4.post1-rocm6.2-torch2.5.1-triton` | 124 | 331 | 0 | 5120 | 9216 |\n"
        );
    }
}
