//! How an object is doing: a total function of what is seen of it.
