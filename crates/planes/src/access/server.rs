//! The address of an API server.

use std::net::IpAddr;

use http::Uri;

use super::AccessProblem;

/// Reads an address: `https://`, or `http://` on loopback; a path is kept.
pub(super) fn read(field: &str, text: &str) -> Result<Uri, AccessProblem> {
    let malformed = |words: &str| Err(AccessProblem::malformed(field, words));
    let Ok(server) = text.trim().parse::<Uri>() else {
        return malformed("is no address: write it like https://10.0.0.1:6443");
    };
    let (Some(scheme), Some(authority)) = (server.scheme_str(), server.authority()) else {
        return malformed("is no whole address: write it like https://10.0.0.1:6443");
    };
    if authority.as_str().contains('@') {
        return Err(AccessProblem::refused(
            field,
            "a user name in the address is no way to log in; use a token or a client certificate",
        ));
    }
    if server.query().is_some() {
        return malformed("has a query (?…), which no API server's address has");
    }
    match scheme {
        "https" => Ok(server),
        "http" if is_loopback(authority.host()) => Ok(server),
        "http" => Err(AccessProblem::refused(
            field,
            "credentials would be sent in clear; use https://",
        )),
        _ => malformed("starts with neither https:// nor http://"),
    }
}

fn is_loopback(host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    bare == "localhost" || bare.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}
