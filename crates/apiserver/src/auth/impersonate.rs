//! `kubectl --as`: a request in somebody else's name, by those who may.

use std::collections::BTreeMap;

use http::{HeaderMap, HeaderName, HeaderValue};
use quadrille_machinery::{names, status::Status};

use super::{AUTHENTICATED, Attributes, Authorizer, Decision, User, forbidden};

const USER: &str = "impersonate-user";
const GROUP: &str = "impersonate-group";
const UID: &str = "impersonate-uid";
const EXTRA: &str = "impersonate-extra-";
const NODE: &str = "system:node:";
const ANONYMOUS: &str = "system:anonymous";
const UNAUTHENTICATED: &str = "system:unauthenticated";

/// Who a request is from in the end: its sender, or whom the sender names and may speak for.
pub(crate) fn impersonated(
    sender: User,
    headers: &HeaderMap,
    authorizer: &dyn Authorizer,
) -> Result<User, Status> {
    let named = Named::read(headers);
    if named.name.is_empty() {
        if named.wishes().next().is_none() {
            return Ok(sender);
        }
        return Err(Status::bad_request(format!(
            "requested {} without impersonating a user name",
            named.in_go()
        )));
    }
    for wish in named.wishes() {
        let attributes = Attributes {
            user: &sender,
            verb: "impersonate",
            group: wish.group,
            version: "",
            resource: wish.resource,
            subresource: wish.subresource,
            namespace: wish.namespace,
            name: wish.name,
            path: "",
        };
        if let Decision::Deny { reason } = authorizer.authorize(&attributes) {
            return Err(forbidden(&attributes, &reason));
        }
    }
    Ok(named.user())
}

/// What the headers ask for.
#[derive(Default)]
struct Named {
    name: String,
    uid: String,
    groups: Vec<String>,
    extra: Vec<(String, String)>,
}

/// One thing that the sender must be allowed to be.
struct Wish<'a> {
    group: &'static str,
    resource: &'static str,
    subresource: &'a str,
    namespace: &'a str,
    name: &'a str,
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

    fn wishes(&self) -> impl Iterator<Item = Wish<'_>> {
        let wish = |group, resource, name| Wish {
            group,
            resource,
            subresource: "",
            namespace: "",
            name,
        };
        let account = service_account(&self.name);
        let user = match account {
            Some((namespace, name)) => Wish {
                namespace,
                ..wish("", "serviceaccounts", name)
            },
            None => wish("", "users", self.name.as_str()),
        };
        let user = (!self.name.is_empty()).then_some(user);
        let groups = self.groups.iter().map(move |name| wish("", "groups", name));
        let extra = self.extra.iter().map(move |(key, value)| Wish {
            subresource: key,
            ..wish("authentication.k8s.io", "userextras", value)
        });
        let uid = (!self.uid.is_empty()).then(|| wish("authentication.k8s.io", "uids", &self.uid));
        user.into_iter().chain(uid).chain(groups).chain(extra)
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

    fn user(self) -> User {
        let only_name = self.uid.is_empty() && self.extra.is_empty();
        let mut groups = self.groups;
        if groups.is_empty() {
            if let Some((namespace, _)) = service_account(&self.name) {
                groups.push("system:serviceaccounts".to_owned());
                groups.push(format!("system:serviceaccounts:{namespace}"));
            } else if only_name && self.name.starts_with(NODE) {
                groups.push("system:nodes".to_owned());
            }
        }
        let has = |name: &str| groups.iter().any(|group| group == name);
        if self.name == ANONYMOUS {
            if !has(UNAUTHENTICATED) {
                groups.push(UNAUTHENTICATED.to_owned());
            }
        } else if !has(AUTHENTICATED) && !has(UNAUTHENTICATED) {
            groups.push(AUTHENTICATED.to_owned());
        }
        let mut user = User {
            name: self.name,
            uid: self.uid,
            groups,
            ..User::default()
        };
        for (key, value) in self.extra {
            user.extra.entry(key).or_default().push(value);
        }
        user
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

#[cfg(test)]
mod tests {
    use super::{super::MastersOnly, *};

    fn asked(sender: User, headers: &[(&'static str, &str)]) -> Result<User, Status> {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(*name, value.parse().unwrap());
        }
        impersonated(sender, &map, &MastersOnly)
    }

    #[test]
    fn an_administrator_may_be_anybody() {
        let jane = asked(
            User::admin(),
            &[
                ("impersonate-user", "jane"),
                ("impersonate-group", "staff"),
                ("impersonate-extra-example.com%2ffloor", "3"),
            ],
        )
        .unwrap();
        assert_eq!(jane.name, "jane");
        assert_eq!(jane.groups, ["staff", AUTHENTICATED]);
        assert_eq!(jane.extra["example.com/floor"], ["3"]);
    }

    #[test]
    fn an_account_has_the_groups_of_accounts() {
        let name = "system:serviceaccount:shop:builder";
        let account = asked(User::admin(), &[("impersonate-user", name)]).unwrap();
        assert_eq!(
            account.groups,
            [
                "system:serviceaccounts",
                "system:serviceaccounts:shop",
                AUTHENTICATED
            ]
        );
    }

    #[test]
    fn others_may_not() {
        let anna = User {
            name: "anna".to_owned(),
            ..User::default()
        };
        let refused = asked(anna.clone(), &[("impersonate-user", "jane")]).unwrap_err();
        assert_eq!(
            refused.message,
            "users \"jane\" is forbidden: User \"anna\" cannot impersonate resource \"users\" in API group \"\" \
             at the cluster scope"
        );
        assert_eq!(asked(anna.clone(), &[]), Ok(anna));
    }

    #[test]
    fn a_group_alone_is_nobody() {
        let refused = asked(User::admin(), &[("impersonate-group", "staff")]).unwrap_err();
        assert_eq!(refused.code, 400);
    }
}
