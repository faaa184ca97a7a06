//! A cluster in a variable, embedded or real, for tests.
