//! The bytes that come over sockets, as they come.

use std::sync::{Arc, Mutex, PoisonError};

/// The bytes that came over one connection.
#[derive(Debug, Clone, Default)]
pub struct Connection {
    /// Scheme and authority of the host that was connected to.
    pub base: String,
    /// Everything the client sent: requests one after another.
    pub bytes: Vec<u8>,
}

/// All connections of a server, where they are recorded.
#[derive(Debug, Clone, Default)]
pub(super) struct Recorder(Arc<Mutex<Option<Vec<Connection>>>>);

/// One connection that is recorded.
#[derive(Debug)]
pub(super) struct Recording {
    recorder: Recorder,
    at: usize,
}

impl Recorder {
    /// Records every connection from now on.
    pub(super) fn start(&self) {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get_or_insert_default();
    }

    /// Begins to record a connection, where connections are recorded.
    pub(super) fn connection(&self, base: &str) -> Option<Recording> {
        let mut connections = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let connections = connections.as_mut()?;
        connections.push(Connection {
            base: base.to_owned(),
            bytes: Vec::new(),
        });
        Some(Recording {
            recorder: self.clone(),
            at: connections.len() - 1,
        })
    }

    /// The connections in the order in which they were made.
    pub(super) fn connections(&self) -> Vec<Connection> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
            .unwrap_or_default()
    }
}

impl Recording {
    /// Adds bytes that came.
    pub(super) fn add(&self, bytes: &[u8]) {
        let mut connections = self
            .recorder
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(connection) = connections
            .as_mut()
            .and_then(|connections| connections.get_mut(self.at))
        {
            connection.bytes.extend_from_slice(bytes);
        }
    }
}
