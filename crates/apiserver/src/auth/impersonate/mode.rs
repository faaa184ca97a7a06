//! The ways to be allowed to speak for somebody.
//!
//! The plain one (`impersonate`) allows to be somebody for everything. The others are narrower: one permission to be
//! somebody of a kind (`impersonate:user-info` …) and one to do this very thing as such
//! (`impersonate-on:user-info:list` …).

use quadrille_machinery::{names, status::Status};

use super::{
    super::{
        ANONYMOUS, AUTHENTICATED, Attributes, Authorizer, MASTERS, UNAUTHENTICATED, User,
        action::Action, forbidden,
    },
    Named, node, service_account,
};

/// From how many on a permission for all of them is asked for first.
const MANY: usize = 4;
const NODE_NAME: &str = "authentication.kubernetes.io/node-name";

/// A way to be allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// A service account's own node.
    AssociatedNode,
    /// Any node.
    ArbitraryNode,
    /// Service accounts.
    ServiceAccount,
    /// Everybody else.
    UserInfo,
    /// Anybody, for everything.
    Plain,
}

/// In the order in which they are tried.
pub(super) const MODES: [Mode; 5] = [
    Mode::AssociatedNode,
    Mode::ArbitraryNode,
    Mode::ServiceAccount,
    Mode::UserInfo,
    Mode::Plain,
];

impl Mode {
    /// Its name in verbs; nothing for the plain one.
    fn name(self) -> Option<&'static str> {
        Some(match self {
            Self::AssociatedNode => "associated-node",
            Self::ArbitraryNode => "arbitrary-node",
            Self::ServiceAccount => "serviceaccount",
            Self::UserInfo => "user-info",
            Self::Plain => return None,
        })
    }

    /// Whether it is a way to be whom the sender names at all.
    pub(super) fn is_for(self, named: &Named, sender: &User) -> bool {
        let is_node = node(&named.name).is_some();
        let is_account = service_account(&named.name).is_some();
        match self {
            Self::AssociatedNode => named.is_nobody() && is_own_node(&named.name, sender),
            Self::ArbitraryNode => named.is_nobody() && is_node,
            Self::ServiceAccount => named.is_nobody() && is_account,
            Self::UserInfo => !is_node && !is_account,
            Self::Plain => true,
        }
    }

    /// Whether the sender may.
    pub(super) fn check(
        self,
        named: &Named,
        sender: &User,
        action: &Action,
        authorizer: &dyn Authorizer,
    ) -> Result<(), Status> {
        let Some(name) = self.name() else {
            return Asking::new("impersonate", "", sender, authorizer).all(named, self);
        };
        let attributes = action.by(sender);
        let verb = format!("impersonate-on:{name}:{}", attributes.verb);
        authorizer.require(&Attributes {
            verb: &verb,
            ..attributes
        })?;
        let verb = format!("impersonate:{name}");
        Asking::new(&verb, "authentication.k8s.io", sender, authorizer).all(named, self)
    }

    /// Whom the request is from then.
    pub(super) fn user(self, named: Named) -> User {
        let mut groups = named.groups;
        if groups.is_empty() {
            if let Some((namespace, _)) = service_account(&named.name) {
                groups.push("system:serviceaccounts".to_owned());
                groups.push(format!("system:serviceaccounts:{namespace}"));
            } else if self != Self::Plain && node(&named.name).is_some() {
                groups.push("system:nodes".to_owned());
            }
        }
        let has = |name: &str| groups.iter().any(|group| group == name);
        if named.name == ANONYMOUS {
            if !has(UNAUTHENTICATED) {
                groups.push(UNAUTHENTICATED.to_owned());
            }
        } else if !has(AUTHENTICATED) && !has(UNAUTHENTICATED) {
            groups.push(AUTHENTICATED.to_owned());
        }
        let mut user = User {
            name: named.name,
            uid: named.uid,
            groups,
            ..User::default()
        };
        for (key, value) in named.extra {
            user.extra.entry(key).or_default().push(value);
        }
        user
    }
}

/// Whether the sender is a service account on that node.
fn is_own_node(name: &str, sender: &User) -> bool {
    let Some(node) = node(name) else {
        return false;
    };
    let own = sender.extra.get(NODE_NAME).map(Vec::as_slice);
    service_account(&sender.name).is_some() && own.is_some_and(|names| names == [node])
}

/// Asks about the parts of whom the sender names.
struct Asking<'a> {
    /// About users and groups, in this group.
    attributes: Attributes<'a>,
    authorizer: &'a dyn Authorizer,
}

impl<'a> Asking<'a> {
    fn new(
        verb: &'a str,
        group: &'static str,
        sender: &'a User,
        authorizer: &'a dyn Authorizer,
    ) -> Self {
        Self {
            attributes: Attributes {
                group,
                ..Attributes::of_path(sender, verb, "")
            },
            authorizer,
        }
    }

    fn all(&self, named: &Named, mode: Mode) -> Result<(), Status> {
        self.name(&named.name, mode)?;
        if !named.uid.is_empty() {
            self.authorizer.require(&Attributes {
                group: "authentication.k8s.io",
                resource: "uids",
                name: &named.uid,
                ..self.attributes
            })?;
        }
        self.groups(&named.groups, mode)?;
        self.extra(&named.extra, mode)
    }

    fn name(&self, name: &str, mode: Mode) -> Result<(), Status> {
        let user = Attributes {
            resource: "users",
            name,
            ..self.attributes
        };
        if let Some((namespace, name)) = service_account(name) {
            return self.authorizer.require(&Attributes {
                resource: "serviceaccounts",
                namespace,
                name,
                ..user
            });
        }
        match node(name) {
            // An account's own node is the same for all nodes.
            Some(_) if mode == Mode::AssociatedNode => self.authorizer.require(&Attributes {
                resource: "nodes",
                name: "*",
                ..user
            }),
            Some(name) if mode != Mode::Plain => self.authorizer.require(&Attributes {
                resource: "nodes",
                name,
                ..user
            }),
            _ => self.authorizer.require(&user),
        }
    }

    fn groups(&self, groups: &[String], mode: Mode) -> Result<(), Status> {
        let about = |name| Attributes {
            resource: "groups",
            name,
            ..self.attributes
        };
        if mode != Mode::Plain {
            let refuse = |name, why: &str| Err(forbidden(&about(name), why));
            if groups.iter().any(String::is_empty) {
                return refuse("", "impersonating the empty string group is not allowed");
            }
            if groups.iter().any(|group| group == MASTERS) {
                return refuse(
                    MASTERS,
                    "impersonating the system:masters group is not allowed",
                );
            }
            if groups.len() >= MANY && self.authorizer.require(&about("*")).is_ok() {
                return Ok(());
            }
        }
        let mut names = groups.iter();
        names.try_for_each(|group| self.authorizer.require(&about(group)))
    }

    fn extra(&self, extra: &[(String, String)], mode: Mode) -> Result<(), Status> {
        let about = |subresource, name| Attributes {
            group: "authentication.k8s.io",
            resource: "userextras",
            subresource,
            name,
            ..self.attributes
        };
        if mode != Mode::Plain {
            if let Some(why) = extra.iter().find_map(|(key, value)| unsound(key, value)) {
                return Err(forbidden(&about("", ""), &why));
            }
            if extra.len() >= MANY && self.authorizer.require(&about("*", "*")).is_ok() {
                return Ok(());
            }
        }
        let mut pairs = extra.iter();
        pairs.try_for_each(|(key, value)| self.authorizer.require(&about(key, value)))
    }
}

/// What is wrong with something extra, where the rules for it are strict.
fn unsound(key: &str, value: &str) -> Option<String> {
    if key.is_empty() {
        return Some("impersonating the empty string key in extra is not allowed".to_owned());
    }
    let (host, path) = key.split_once('/').unwrap_or((key, ""));
    if host.is_empty() || path.is_empty() {
        return Some(format!(
            "impersonating an invalid key in extra is not allowed: extra.key: Invalid value: {key:?}: must be a \
             domain-prefixed path (such as \"acme.io/foo\")"
        ));
    }
    if let Some(wrong) = names::dns_1123_subdomain(host).first() {
        return Some(format!(
            "impersonating an invalid key in extra is not allowed: extra.key: Invalid value: {host:?}: {wrong}"
        ));
    }
    value
        .is_empty()
        .then(|| "impersonating the empty string value in extra is not allowed".to_owned())
}
