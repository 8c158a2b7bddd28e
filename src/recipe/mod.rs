//! A job and facts to ordered steps; the container argv.
