//! Projects and files to a static simple repository.
