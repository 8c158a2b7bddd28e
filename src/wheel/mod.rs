//! Wheels: zip container, METADATA, WHEEL, RECORD; read and write.
