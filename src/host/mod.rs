//! What the machine has, as plain values, and pure parsers of the files it is read from.
