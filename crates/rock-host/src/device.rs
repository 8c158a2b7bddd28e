//! Whether a device node can be used, judged from what the system said of it.

/// A device node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeviceNode {
    /// `/dev/dri/renderD128`.
    pub path: String,
    /// What it is good for.
    pub state: DeviceState,
}

/// What became of looking at a device node: is it there, is it a character device, does it open for
/// reading and writing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DeviceState {
    /// Nothing has that name: no driver, or not passed into the container.
    Absent,
    /// Something has that name, but it is no character device.
    NotCharDevice,
    /// The owner, group and mode keep this user out (`EACCES`).
    NoPermission {
        /// The group that owns it.
        gid: u32,
        /// The permission bits.
        mode: u32,
    },
    /// A device control group keeps every user out (`EPERM`).
    Refused {
        /// The group that owns it.
        gid: u32,
        /// The permission bits.
        mode: u32,
    },
    /// It is there, but the driver behind it does not answer.
    Broken {
        /// What the system said.
        reason: String,
    },
    /// It opens for reading and writing.
    Usable {
        /// The group that owns it.
        gid: u32,
        /// The permission bits.
        mode: u32,
    },
}

/// Owner group and kind of a node, from its status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NodeStatus {
    /// Whether it is a character device.
    pub is_char_device: bool,
    /// The group that owns it.
    pub gid: u32,
    /// Mode; only the permission bits are kept.
    pub mode: u32,
}

/// How the system refused something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// `ENOENT`.
    Absent,
    /// `EACCES`.
    Permission,
    /// `EPERM`.
    NotPermitted,
    /// Anything else, in the system's words.
    Other(String),
}

impl Refusal {
    /// From an error number of Linux (`errno-base.h`) and its text.
    pub fn from_errno(errno: Option<i32>, text: impl Into<String>) -> Self {
        match errno {
            Some(2) => Self::Absent,
            Some(13) => Self::Permission,
            Some(1) => Self::NotPermitted,
            _ => Self::Other(text.into()),
        }
    }
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Absent => "it is not there",
            Self::Permission => "permission denied",
            Self::NotPermitted => "operation not permitted",
            Self::Other(text) => text,
        })
    }
}

impl DeviceState {
    /// Judges a node by its status and by an attempt to open it for reading and writing.
    pub fn judge(status: Result<NodeStatus, Refusal>, opened: Result<(), Refusal>) -> Self {
        let status = match status {
            Ok(status) => status,
            Err(Refusal::Absent) => return Self::Absent,
            Err(refusal) => {
                return Self::Broken {
                    reason: refusal.to_string(),
                };
            }
        };
        if !status.is_char_device {
            return Self::NotCharDevice;
        }
        let (gid, mode) = (status.gid, status.mode & 0o7777);
        match opened {
            Ok(()) => Self::Usable { gid, mode },
            Err(Refusal::Permission) => Self::NoPermission { gid, mode },
            Err(Refusal::NotPermitted) => Self::Refused { gid, mode },
            Err(refusal) => Self::Broken {
                reason: refusal.to_string(),
            },
        }
    }

    /// The owning group, where the node could be looked at.
    pub fn gid(&self) -> Option<u32> {
        match self {
            Self::NoPermission { gid, .. }
            | Self::Refused { gid, .. }
            | Self::Usable { gid, .. } => Some(*gid),
            Self::Absent | Self::NotCharDevice | Self::Broken { .. } => None,
        }
    }

    /// The permission bits, where the node could be looked at.
    pub fn mode(&self) -> Option<u32> {
        match self {
            Self::NoPermission { mode, .. }
            | Self::Refused { mode, .. }
            | Self::Usable { mode, .. } => Some(*mode),
            Self::Absent | Self::NotCharDevice | Self::Broken { .. } => None,
        }
    }

    /// Whether it can be opened.
    pub fn is_usable(&self) -> bool {
        matches!(self, Self::Usable { .. })
    }

    /// The word for it in JSON.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Absent => "absent",
            Self::NotCharDevice => "not-a-char-device",
            Self::NoPermission { .. } => "no-permission",
            Self::Refused { .. } => "refused",
            Self::Broken { .. } => "broken",
            Self::Usable { .. } => "ok",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judge(opened: Result<(), Refusal>) -> DeviceState {
        DeviceState::judge(
            Ok(NodeStatus {
                is_char_device: true,
                gid: 105,
                mode: 0o020_660,
            }),
            opened,
        )
    }

    #[test]
    fn each_error_number_has_its_own_meaning() {
        let refused = |errno| judge(Err(Refusal::from_errno(Some(errno), "no such device")));
        assert_eq!(
            judge(Ok(())),
            DeviceState::Usable {
                gid: 105,
                mode: 0o660
            }
        );
        assert_eq!(
            refused(13),
            DeviceState::NoPermission {
                gid: 105,
                mode: 0o660
            }
        );
        assert_eq!(
            refused(1),
            DeviceState::Refused {
                gid: 105,
                mode: 0o660
            }
        );
        assert_eq!(
            refused(19),
            DeviceState::Broken {
                reason: "no such device".to_owned()
            }
        );
        assert_eq!(
            DeviceState::judge(Err(Refusal::Absent), Ok(())),
            DeviceState::Absent
        );
    }

    #[test]
    fn a_plain_file_at_the_name_is_no_device() {
        let status = NodeStatus {
            is_char_device: false,
            gid: 0,
            mode: 0o644,
        };
        assert_eq!(
            DeviceState::judge(Ok(status), Ok(())),
            DeviceState::NotCharDevice
        );
    }
}
