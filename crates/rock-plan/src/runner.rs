//! The size of a machine as given on the command line: `16x64`.

use std::fmt;
use std::str::FromStr;

/// Hardware threads and memory of a runner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunnerShape {
    /// Hardware threads, 1 to 1024.
    pub threads: u32,
    /// Memory in GiB, 1 to 65536.
    pub memory_gib: u32,
}

/// An invalid runner shape.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a runner shape: threads and memory in GiB joined with `x`, such as `16x64`")]
pub struct RunnerShapeError(pub String);

impl FromStr for RunnerShape {
    type Err = RunnerShapeError;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let fault = || RunnerShapeError(text.to_owned());
        let number = |part: &str, most: u32| {
            part.parse()
                .ok()
                .filter(|n| (1..=most).contains(n))
                .ok_or_else(fault)
        };
        let (threads, memory) = text.split_once('x').ok_or_else(fault)?;
        Ok(Self {
            threads: number(threads, 1024)?,
            memory_gib: number(memory, 65_536)?,
        })
    }
}

impl fmt::Display for RunnerShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{}", self.threads, self.memory_gib)
    }
}

#[cfg(test)]
mod tests {
    use super::RunnerShape;

    #[test]
    fn a_shape_round_trips_and_nonsense_is_refused() {
        assert_eq!("16x64".parse::<RunnerShape>().unwrap().to_string(), "16x64");
        for text in ["16", "x64", "0x4", "16x", "16x64x1", "-1x4"] {
            assert!(text.parse::<RunnerShape>().is_err(), "{text}");
        }
    }
}
