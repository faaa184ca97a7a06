//! Answers what expressions ask about permissions.

use quadrille_machinery::policy::{Answer, Host, Question};

use crate::auth::{Attributes, Authorizer, Decision, User};

/// Asks about the user of a request, or about a service account.
pub(super) struct Asking<'a> {
    pub(super) user: &'a User,
    pub(super) authorizer: &'a dyn Authorizer,
}

impl Host for Asking<'_> {
    fn authorize(&self, question: &Question) -> Answer {
        let account = question.service_account.as_ref();
        let account = account.map(|(namespace, name)| User::service_account(namespace, name));
        let is_path = question.path.is_some();
        let attributes = Attributes {
            user: account.as_ref().unwrap_or(self.user),
            verb: &question.verb,
            group: &question.group,
            version: if is_path { "" } else { "*" },
            resource: &question.resource,
            subresource: &question.subresource,
            namespace: &question.namespace,
            name: &question.name,
            path: question.path.as_deref().unwrap_or_default(),
        };
        match self.authorizer.authorize(&attributes) {
            Decision::Allow { reason } => Answer {
                allowed: true,
                reason,
                ..Answer::default()
            },
            Decision::Deny { reason } => Answer {
                reason,
                ..Answer::default()
            },
        }
    }
}
