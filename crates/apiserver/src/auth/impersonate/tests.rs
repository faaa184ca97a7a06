//! Who may speak for whom.

use http::Method;

use super::{
    super::{AUTHENTICATED, Attributes, Decision, MASTERS, MastersOnly},
    *,
};
use crate::{options::Query, path::Path};

fn listing_pods() -> Action {
    let path = "/api/v1/namespaces/shop/pods";
    Action::of(&Method::GET, &Path::parse(path), path, &Query::default())
}

fn asked_of(
    authorizer: &dyn Authorizer,
    sender: User,
    headers: &[(&'static str, &str)],
) -> Result<User, Status> {
    let mut map = HeaderMap::new();
    for (name, value) in headers {
        map.append(*name, value.parse().unwrap());
    }
    Impersonation::default().user(sender, &map, &listing_pods(), authorizer)
}

fn asked(sender: User, headers: &[(&'static str, &str)]) -> Result<User, Status> {
    asked_of(&MastersOnly, sender, headers)
}

fn anna() -> User {
    User {
        name: "anna".to_owned(),
        ..User::default()
    }
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
fn an_account_has_the_groups_of_accounts_and_a_node_that_of_nodes() {
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
    let node = asked(User::admin(), &[("impersonate-user", "system:node:n-1")]).unwrap();
    assert_eq!(node.groups, ["system:nodes", AUTHENTICATED]);
}

#[test]
fn others_may_not_and_hear_of_the_narrowest_permission() {
    let refused = asked(anna(), &[("impersonate-user", "jane")]).unwrap_err();
    assert_eq!(
        refused.message,
        "pods is forbidden: User \"anna\" cannot impersonate-on:user-info:list resource \"pods\" in API group \"\" \
         in the namespace \"shop\""
    );
    assert_eq!(asked(anna(), &[]), Ok(anna()));
}

#[test]
fn a_group_alone_is_nobody() {
    let refused = asked(User::admin(), &[("impersonate-group", "staff")]).unwrap_err();
    assert_eq!(refused.code, 400);
}

/// Allows these verbs.
struct Verbs(&'static [&'static str]);

impl Authorizer for Verbs {
    fn authorize(&self, attributes: &Attributes<'_>) -> Decision {
        if self.0.contains(&attributes.verb) {
            Decision::allow()
        } else {
            Decision::deny()
        }
    }
}

#[test]
fn a_narrow_permission_is_for_one_thing_and_never_for_those_who_rule() {
    let narrow = Verbs(&["impersonate:user-info", "impersonate-on:user-info:list"]);
    let jane = [("impersonate-user", "jane")];
    assert_eq!(asked_of(&narrow, anna(), &jane).unwrap().name, "jane");
    let master = [jane[0], ("impersonate-group", MASTERS)];
    let refused = asked_of(&narrow, anna(), &master).unwrap_err();
    assert!(
        refused
            .message
            .ends_with("impersonating the system:masters group is not allowed"),
        "{}",
        refused.message
    );
    let plain = Verbs(&["impersonate"]);
    assert!(asked_of(&plain, anna(), &master).is_ok());
}
