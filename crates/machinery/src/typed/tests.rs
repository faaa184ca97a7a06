//! Tests of typed values.
