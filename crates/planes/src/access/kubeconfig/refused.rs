//! What a kubeconfig may not have.

/// A field, and what to do instead.
type Row = (&'static str, &'static str);

/// The fields of a cluster that are not accepted.
pub(super) const OF_CLUSTER: [Row; 3] = [
    (
        "certificate-authority",
        "it is a path to a file on another machine; use certificate-authority-data",
    ),
    (
        "insecure-skip-tls-verify",
        "anybody could pose as the server; give certificate-authority-data",
    ),
    (
        "proxy-url",
        "planes are reached without a proxy; give an address that is reachable, or use an agent",
    ),
];

/// The fields of a user that are not accepted.
pub(super) const OF_USER: [Row; 12] = [
    (
        "exec",
        "no program is run to get credentials; use a service account's token or a client certificate",
    ),
    (
        "auth-provider",
        "login plugins are not supported; use a service account's token or a client certificate",
    ),
    (
        "client-certificate",
        "it is a path to a file on another machine; use client-certificate-data",
    ),
    (
        "client-key",
        "it is a path to a file on another machine; use client-key-data",
    ),
    (
        "tokenFile",
        "it is a path to a file on another machine; use token",
    ),
    (
        "username",
        "Kubernetes no longer takes passwords; use a token or a client certificate",
    ),
    (
        "password",
        "Kubernetes no longer takes passwords; use a token or a client certificate",
    ),
    (
        "as",
        "nobody is impersonated; use credentials of the user that is meant",
    ),
    (
        "as-uid",
        "nobody is impersonated; use credentials of the user that is meant",
    ),
    (
        "as-groups",
        "nobody is impersonated; use credentials of the user that is meant",
    ),
    (
        "as-user-extra",
        "nobody is impersonated; use credentials of the user that is meant",
    ),
    (
        "impersonate",
        "nobody is impersonated; use credentials of the user that is meant",
    ),
];
