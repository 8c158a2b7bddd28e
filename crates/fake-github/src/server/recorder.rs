//! The recorded bytes of connections.

use std::sync::{Arc, Mutex, PoisonError};

/// The bytes that were received over one connection.
#[derive(Debug, Clone, Default)]
pub struct RecordedConnection {
    /// Scheme and authority of the host.
    pub base: String,
    /// All bytes that the client sent: its requests, one after another.
    pub bytes: Vec<u8>,
}

/// All connections of a server, if they are recorded.
#[derive(Debug, Clone, Default)]
pub(super) struct ConnectionRecorder(Arc<Mutex<Option<Vec<RecordedConnection>>>>);

/// A connection that is being recorded.
#[derive(Debug)]
pub(super) struct ConnectionRecording {
    recorder: ConnectionRecorder,
    at: usize,
}

impl ConnectionRecorder {
    /// Records all connections from now on.
    pub(super) fn start(&self) {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get_or_insert_default();
    }

    /// Starts to record a connection, if connections are recorded.
    pub(super) fn connection(&self, base: &str) -> Option<ConnectionRecording> {
        let mut connections = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let connections = connections.as_mut()?;
        connections.push(RecordedConnection {
            base: base.to_owned(),
            bytes: Vec::new(),
        });
        Some(ConnectionRecording {
            recorder: self.clone(),
            at: connections.len() - 1,
        })
    }

    /// Returns the connections in the order in which they were opened.
    pub(super) fn connections(&self) -> Vec<RecordedConnection> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
            .unwrap_or_default()
    }
}

impl ConnectionRecording {
    /// Adds received bytes.
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
