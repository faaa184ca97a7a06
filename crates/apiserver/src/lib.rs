//! An embeddable Kubernetes API server.
