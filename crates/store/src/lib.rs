//! A durable, ordered revision log with watch.
