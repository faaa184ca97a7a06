//! Cluster scenarios live in `tests/`; this library is empty on purpose.
