//! Tests of field sets.
