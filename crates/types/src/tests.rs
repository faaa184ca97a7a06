//! The definitions and the sample documents, as a whole.
