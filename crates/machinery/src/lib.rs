//! Rules of a Kubernetes API server as pure functions.
