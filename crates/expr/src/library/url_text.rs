//! Reading URLs as Go does.

use std::fmt::Write as _;

use super::address_text;
use crate::value::number;

/// An absolute URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Url {
    pub(super) scheme: String,
    user: String,
    pub(super) host: String,
    path: String,
    query: String,
    fragment: String,
}

impl Url {
    /// Reads an absolute URL or an absolute path. The error names the text and the reason.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        // Once as a server gets it, where a fragment has no place, and once as people write it.
        Self::read(text, true)
            .and_then(|_| {
                let (whole, fragment) = text.split_once('#').unwrap_or((text, ""));
                let url = Self::read(whole, false)?;
                Ok(Self {
                    fragment: fragment.to_owned(),
                    ..url
                })
            })
            .map_err(|reason| format!("parse {}: {reason}", number::quote(text)))
    }

    fn read(text: &str, request: bool) -> Result<Self, String> {
        if text.bytes().any(|byte| byte < 0x20 || byte == 0x7f) {
            return Err("net/url: invalid control character in URL".to_owned());
        }
        if text.is_empty() {
            return Err("empty url".to_owned());
        }
        let (scheme, rest) = scheme(text)?;
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        let mut url = Self {
            scheme: scheme.to_ascii_lowercase(),
            user: String::new(),
            host: String::new(),
            path: String::new(),
            query: query.to_owned(),
            fragment: String::new(),
        };
        if !rest.starts_with('/') {
            if url.scheme.is_empty() {
                return Err("invalid URI for request".to_owned());
            }
            return Ok(url); // `mailto:somebody`: everything after the scheme is opaque
        }
        let mut path = rest;
        let with_host = !url.scheme.is_empty() || !request && !rest.starts_with("///");
        if with_host && let Some(after) = rest.strip_prefix("//") {
            let end = after.find('/').unwrap_or(after.len());
            path = &after[end..];
            let (user, host) = after[..end].rsplit_once('@').unwrap_or(("", &after[..end]));
            user.clone_into(&mut url.user);
            url.host = checked_host(host)?;
        }
        decode(path, false)?;
        path.clone_into(&mut url.path);
        Ok(url)
    }

    /// The host without its port and brackets.
    pub(super) fn hostname(&self) -> &str {
        split_port(&self.host).0
    }

    pub(super) fn port(&self) -> &str {
        split_port(&self.host).1
    }

    /// The path with everything escaped that must be.
    pub(super) fn escaped_path(&self) -> String {
        if self
            .path
            .bytes()
            .all(|byte| allowed_in_path(byte) || b"!'()*[]%".contains(&byte))
        {
            return self.path.clone();
        }
        let decoded = decode(&self.path, false).unwrap_or_default();
        decoded.iter().fold(String::new(), |mut out, byte| {
            if allowed_in_path(*byte) {
                out.push(char::from(*byte));
            } else {
                let _ = write!(out, "%{byte:02X}");
            }
            out
        })
    }

    /// Keys and values of the query; what cannot be read is left out.
    pub(super) fn query(&self) -> Vec<(String, String)> {
        let text = |part: &str| {
            decode(part, true)
                .ok()
                .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
        };
        self.query
            .split('&')
            .filter(|pair| !pair.is_empty() && !pair.contains(';'))
            .filter_map(|pair| {
                let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
                Some((text(key)?, text(value)?))
            })
            .collect()
    }
}

fn scheme(text: &str) -> Result<(&str, &str), String> {
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' => {}
            b'0'..=b'9' | b'+' | b'-' | b'.' if at > 0 => {}
            b':' if at == 0 => return Err("missing protocol scheme".to_owned()),
            b':' => return Ok((&text[..at], &text[at + 1..])),
            _ => return Ok(("", text)),
        }
    }
    Ok(("", text))
}

/// Host and port; brackets around an address are taken off.
fn split_port(host: &str) -> (&str, &str) {
    if let Some(inner) = host.strip_prefix('[')
        && let Some((address, rest)) = inner.split_once(']')
    {
        return (address, rest.strip_prefix(':').unwrap_or(""));
    }
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => (name, port),
        _ => (host, ""),
    }
}

fn checked_host(host: &str) -> Result<String, String> {
    let port = match host.strip_prefix('[') {
        Some(inner) => {
            let Some((address, rest)) = inner.rsplit_once(']') else {
                return Err("missing ']' in host".to_owned());
            };
            if address.parse::<std::net::Ipv6Addr>().is_err() && !address.contains('%') {
                return Err(format!(
                    "invalid host: {}",
                    address_text::complaint(address)
                ));
            }
            rest
        }
        None => host.rfind(':').map_or("", |at| &host[at..]),
    };
    let digits = port.strip_prefix(':').unwrap_or(port);
    let fine = port.is_empty()
        || port.starts_with(':') && digits.bytes().all(|byte| byte.is_ascii_digit());
    if !fine {
        return Err(format!("invalid port {} after host", number::quote(port)));
    }
    for letter in host.chars().filter(char::is_ascii) {
        let fine = letter.is_ascii_alphanumeric() || "-._~!$&'()*+,;=:[]<>\"%".contains(letter);
        if !fine {
            let quoted = number::quote(&letter.to_string());
            return Err(format!("invalid character {quoted} in host name"));
        }
    }
    if let Some(at) = host.find('%') {
        let code = host.get(at..at + 3).unwrap_or(&host[at..]);
        return Err(format!("invalid URL escape {}", number::quote(code)));
    }
    Ok(host.to_owned())
}

fn decode(text: &str, plus: bool) -> Result<Vec<u8>, String> {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'%' => {
                let code = bytes.get(at + 1..at + 3).and_then(|code| {
                    let text = std::str::from_utf8(code).ok()?;
                    let hex = text.bytes().all(|digit| digit.is_ascii_hexdigit());
                    u8::from_str_radix(text, 16).ok().filter(|_| hex)
                });
                let Some(code) = code else {
                    let end = (at + 3).min(bytes.len());
                    let shown = String::from_utf8_lossy(&bytes[at..end]);
                    return Err(format!("invalid URL escape {}", number::quote(&shown)));
                };
                out.push(code);
                at += 3;
                continue;
            }
            b'+' if plus => out.push(b' '),
            other => out.push(*other),
        }
        at += 1;
    }
    Ok(out)
}

fn allowed_in_path(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-_.~$&+,/:;=@".contains(&byte)
}
