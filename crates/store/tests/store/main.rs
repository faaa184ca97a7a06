//! Tests of the store through its public face.

mod basics;
mod builders;
mod watching;
