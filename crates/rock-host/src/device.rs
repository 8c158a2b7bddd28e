//! The state of device nodes.

/// A device node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeviceNode {
    /// The path, `/dev/dri/renderD128`.
    pub path: String,
    /// The state.
    pub state: DeviceState,
}

/// Whether a device node exists, is a character device and can be opened for reading and writing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DeviceState {
    /// There is no such node: the driver is not loaded, or the device is not passed to the
    /// container.
    Absent,
    /// The path is not a character device.
    NotCharDevice,
    /// The permissions deny access (`EACCES`).
    NoPermission {
        /// The group that owns it.
        gid: u32,
        /// The permission bits.
        mode: u32,
    },
    /// A device control group denies access to all users (`EPERM`).
    DeniedByCgroup {
        /// The group that owns it.
        gid: u32,
        /// The permission bits.
        mode: u32,
    },
    /// The node exists but cannot be opened for another reason, or its metadata cannot be read.
    Broken {
        /// The message of the system.
        reason: String,
    },
    /// The node can be opened for reading and writing.
    Usable {
        /// The group that owns it.
        gid: u32,
        /// The permission bits.
        mode: u32,
    },
}

/// Metadata of a device node, as `stat(2)` returns it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeviceMetadata {
    /// Whether it is a character device.
    pub is_char_device: bool,
    /// The group that owns it.
    pub gid: u32,
    /// The mode; the type of the file is ignored.
    pub mode: u32,
}

/// An error of the system when it accesses a file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AccessError {
    /// `ENOENT`.
    #[error("it does not exist")]
    NotFound,
    /// `EACCES`.
    #[error("permission denied")]
    PermissionDenied,
    /// `EPERM`.
    #[error("operation not permitted")]
    NotPermitted,
    /// Any other error, with the message of the system.
    #[error("{0}")]
    Other(String),
}

impl AccessError {
    /// Converts an error number of Linux (`errno-base.h`) and its message.
    pub fn from_errno(errno: Option<i32>, text: impl Into<String>) -> Self {
        match errno {
            Some(2) => Self::NotFound,
            Some(13) => Self::PermissionDenied,
            Some(1) => Self::NotPermitted,
            _ => Self::Other(text.into()),
        }
    }
}

impl DeviceState {
    /// Determines the state from the metadata of a path, and from the result of opening it for
    /// reading and writing.
    pub fn from_access(
        metadata: Result<DeviceMetadata, AccessError>,
        opened: Result<(), AccessError>,
    ) -> Self {
        let metadata = match metadata {
            Ok(metadata) => metadata,
            Err(AccessError::NotFound) => return Self::Absent,
            Err(error) => {
                return Self::Broken {
                    reason: error.to_string(),
                };
            }
        };
        if !metadata.is_char_device {
            return Self::NotCharDevice;
        }
        let (gid, mode) = (metadata.gid, metadata.mode & 0o7777);
        match opened {
            Ok(()) => Self::Usable { gid, mode },
            Err(AccessError::PermissionDenied) => Self::NoPermission { gid, mode },
            Err(AccessError::NotPermitted) => Self::DeniedByCgroup { gid, mode },
            Err(error) => Self::Broken {
                reason: error.to_string(),
            },
        }
    }

    /// Returns the group that owns the node, if it is known.
    pub fn gid(&self) -> Option<u32> {
        match self {
            Self::NoPermission { gid, .. }
            | Self::DeniedByCgroup { gid, .. }
            | Self::Usable { gid, .. } => Some(*gid),
            Self::Absent | Self::NotCharDevice | Self::Broken { .. } => None,
        }
    }

    /// Returns the permission bits, if it is known.
    pub fn mode(&self) -> Option<u32> {
        match self {
            Self::NoPermission { mode, .. }
            | Self::DeniedByCgroup { mode, .. }
            | Self::Usable { mode, .. } => Some(*mode),
            Self::Absent | Self::NotCharDevice | Self::Broken { .. } => None,
        }
    }

    /// Returns whether the node can be opened for reading and writing.
    pub fn is_usable(&self) -> bool {
        matches!(self, Self::Usable { .. })
    }

    /// Returns the name of the state in JSON.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Absent => "absent",
            Self::NotCharDevice => "not-a-char-device",
            Self::NoPermission { .. } => "no-permission",
            Self::DeniedByCgroup { .. } => "refused",
            Self::Broken { .. } => "broken",
            Self::Usable { .. } => "ok",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judge(opened: Result<(), AccessError>) -> DeviceState {
        DeviceState::from_access(
            Ok(DeviceMetadata {
                is_char_device: true,
                gid: 105,
                mode: 0o020_660,
            }),
            opened,
        )
    }

    #[test]
    fn each_error_number_has_its_own_meaning() {
        let refused = |errno| judge(Err(AccessError::from_errno(Some(errno), "no such device")));
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
            DeviceState::DeniedByCgroup {
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
            DeviceState::from_access(Err(AccessError::NotFound), Ok(())),
            DeviceState::Absent
        );
    }

    #[test]
    fn a_regular_file_is_not_a_device() {
        let metadata = DeviceMetadata {
            is_char_device: false,
            gid: 0,
            mode: 0o644,
        };
        assert_eq!(
            DeviceState::from_access(Ok(metadata), Ok(())),
            DeviceState::NotCharDevice
        );
    }
}
