//! `kubectl --as`: a request in somebody else's name, by those who may.

use std::collections::{BTreeMap, HashMap};

use http::{HeaderMap, HeaderName, HeaderValue};
use parking_lot::Mutex;
use quadrille_machinery::{names, status::Status};

use self::mode::{MODES, Mode};
use super::{Authorizer, User, action::Action};

mod mode;

const USER: &str = "impersonate-user";
const GROUP: &str = "impersonate-group";
const UID: &str = "impersonate-uid";
const EXTRA: &str = "impersonate-extra-";
/// Of how many senders it is remembered what they may.
const REMEMBERED: usize = 10_000;

/// Lets requests speak for others.
///
/// There are several ways to be allowed that ([`mode`]). The one that worked last for a sender is tried first, and
/// who has none is told why the first one failed.
#[derive(Debug, Default)]
pub(crate) struct Impersonation {
    last: Mutex<HashMap<String, usize>>,
}

impl Impersonation {
    /// Who a request is from in the end: its sender, or whom the sender names and may speak for in this.
    pub(crate) fn user(
        &self,
        sender: User,
        headers: &HeaderMap,
        action: &Action,
        authorizer: &dyn Authorizer,
    ) -> Result<User, Status> {
        let named = Named::read(headers);
        if named.name.is_empty() {
            if named.is_nobody() {
                return Ok(sender);
            }
            return Err(Status::bad_request(format!(
                "requested {} without impersonating a user name",
                named.in_go()
            )));
        }
        let last = self.last.lock().get(&sender.name).copied();
        let others = (0..MODES.len()).filter(|index| Some(*index) != last);
        let mut refused = None;
        for index in last.into_iter().chain(others) {
            let mode: Mode = MODES[index];
            if !mode.is_for(&named, &sender) {
                continue;
            }
            match mode.check(&named, &sender, action, authorizer) {
                Ok(()) => {
                    self.remember(sender.name, index);
                    return Ok(mode.user(named));
                }
                Err(status) => {
                    refused.get_or_insert(status);
                }
            }
        }
        // The last of the modes is for everybody, so there is a reason.
        Err(refused.unwrap_or_else(|| Status::internal("nobody says whether this is allowed")))
    }

    fn remember(&self, sender: String, mode: usize) {
        let mut last = self.last.lock();
        if last.len() >= REMEMBERED {
            last.clear();
        }
        last.insert(sender, mode);
    }
}

/// What the headers ask for.
#[derive(Default)]
struct Named {
    name: String,
    uid: String,
    groups: Vec<String>,
    /// Keys and values, a key as often as it has values.
    extra: Vec<(String, String)>,
}

impl Named {
    fn read(headers: &HeaderMap) -> Self {
        let text = |value: &HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
        let first = |name: &str| headers.get(name).map(text).unwrap_or_default();
        let extra = headers
            .iter()
            .filter_map(|(header, value)| Some((extra_key(header)?, text(value))));
        Self {
            name: first(USER),
            uid: first(UID),
            groups: headers.get_all(GROUP).iter().map(text).collect(),
            extra: extra.collect(),
        }
    }

    fn is_nobody(&self) -> bool {
        self.uid.is_empty() && self.groups.is_empty() && self.extra.is_empty()
    }

    /// As Go shows such a user.
    fn in_go(&self) -> String {
        let texts = |values: &[&str]| {
            let quoted: Vec<String> = values.iter().map(|value| format!("{value:?}")).collect();
            format!("[]string{{{}}}", quoted.join(", "))
        };
        let groups: Vec<&str> = self.groups.iter().map(String::as_str).collect();
        let groups = if groups.is_empty() {
            "[]string(nil)".to_owned()
        } else {
            texts(&groups)
        };
        let mut by_key: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for (key, value) in &self.extra {
            by_key.entry(key).or_default().push(value);
        }
        let entries: Vec<String> = by_key
            .iter()
            .map(|(key, values)| format!("{key:?}:{}", texts(values)))
            .collect();
        let extra = if entries.is_empty() {
            "(nil)".to_owned()
        } else {
            format!("{{{}}}", entries.join(", "))
        };
        format!(
            "&user.DefaultInfo{{Name:\"\", UID:{:?}, Groups:{groups}, Extra:map[string][]string{extra}}}",
            self.uid
        )
    }
}

fn extra_key(header: &HeaderName) -> Option<String> {
    let key = header.as_str().strip_prefix(EXTRA)?;
    // One wrong sequence, and all are taken as they stand.
    let mut rest = key.split('%').skip(1);
    let is_escaped = rest.all(|part| {
        let code = part.get(..2);
        code.is_some_and(|code| code.bytes().all(|byte| byte.is_ascii_hexdigit()))
    });
    if !is_escaped {
        return Some(key.to_owned());
    }
    let key = percent_encoding::percent_decode_str(key).decode_utf8_lossy();
    Some(key.into_owned())
}

/// Namespace and name, if a user's name is that of an account.
fn service_account(name: &str) -> Option<(&str, &str)> {
    let (namespace, name) = name
        .strip_prefix("system:serviceaccount:")?
        .split_once(':')?;
    let is_sound = names::dns_1123_label(namespace).is_empty()
        && names::name_is_subdomain(name, false).is_empty();
    is_sound.then_some((namespace, name))
}

/// The name of the node, if a user's name is that of one.
fn node(name: &str) -> Option<&str> {
    let name = name.strip_prefix("system:node:")?;
    names::name_is_subdomain(name, false)
        .is_empty()
        .then_some(name)
}

#[cfg(test)]
mod tests;
