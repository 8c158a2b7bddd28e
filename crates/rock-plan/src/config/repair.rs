//! The repair of built wheels in a matrix file.


