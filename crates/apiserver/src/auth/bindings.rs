//! Whether what a service account token is bound to still exists, asked of the API itself.

use axum::{Router, body::Body};
use futures::future::BoxFuture;
use http::{Request, StatusCode};
use http_body_util::BodyExt;
use serde_json::Value;
use tower::ServiceExt;

use super::{
    User,
    authenticate::Bindings,
    service_account::{Binding, Reference},
};

/// Looks objects up through the API's router, as its administrator.
#[derive(Clone, Debug)]
pub struct LookUp {
    router: Router,
}

impl LookUp {
    /// Asks this router, which takes the [`User`] from the request's extensions.
    pub fn new(router: Router) -> Self {
        Self { router }
    }

    async fn check_all(&self, binding: &Binding) -> Result<(), String> {
        let namespace = &binding.namespace;
        let account = &binding.serviceaccount;
        let uid = self
            .uid(&format!(
                "/api/v1/namespaces/{namespace}/serviceaccounts/{}",
                account.name
            ))
            .await
            .ok_or_else(|| format!("serviceaccounts {:?} not found", account.name))?;
        if uid != account.uid {
            return Err(format!(
                "service account UID ({uid}) does not match claim ({})",
                account.uid
            ));
        }
        let node = binding.node.as_ref().filter(|_| binding.pod.is_none());
        for (what, object, folder) in [
            (
                "secret",
                binding.secret.as_ref(),
                format!("namespaces/{namespace}/secrets"),
            ),
            (
                "pod",
                binding.pod.as_ref(),
                format!("namespaces/{namespace}/pods"),
            ),
            ("node", node, "nodes".to_owned()),
        ] {
            let Some(Reference { name, uid: claimed }) = object else {
                continue;
            };
            let uid = self.uid(&format!("/api/v1/{folder}/{name}")).await;
            let uid = uid.ok_or("service account token has been invalidated")?;
            if uid != *claimed {
                return Err(format!(
                    "{what} UID ({uid}) does not match service account {what} ref claim ({claimed})"
                ));
            }
        }
        Ok(())
    }

    /// The uid of an object, or `None` when it cannot be had.
    async fn uid(&self, path: &str) -> Option<String> {
        let request = Request::get(path)
            .extension(User::admin())
            .body(Body::empty())
            .ok()?;
        let response = self.router.clone().oneshot(request).await.ok()?;
        if response.status() != StatusCode::OK {
            return None;
        }
        let body = response.into_body().collect().await.ok()?.to_bytes();
        let object: Value = serde_json::from_slice(&body).ok()?;
        object["metadata"]["uid"].as_str().map(str::to_owned)
    }
}

impl Bindings for LookUp {
    fn check<'a>(&'a self, binding: &'a Binding) -> BoxFuture<'a, Result<(), String>> {
        Box::pin(self.check_all(binding))
    }
}

#[cfg(test)]
mod tests {
    use axum::routing::get;

    use super::*;

    fn look_up() -> LookUp {
        let object = |uid: &'static str| {
            get(move || async move { format!(r#"{{"metadata":{{"uid":"{uid}"}}}}"#) })
        };
        LookUp::new(
            Router::new()
                .route(
                    "/api/v1/namespaces/shop/serviceaccounts/builder",
                    object("u-1"),
                )
                .route("/api/v1/namespaces/shop/pods/web-0", object("p-1")),
        )
    }

    fn bound(account_uid: &str, pod: Option<(&str, &str)>) -> Binding {
        let reference = |name: &str, uid: &str| Reference {
            name: name.to_owned(),
            uid: uid.to_owned(),
        };
        Binding {
            namespace: "shop".to_owned(),
            serviceaccount: reference("builder", account_uid),
            pod: pod.map(|(name, uid)| reference(name, uid)),
            ..Binding::default()
        }
    }

    #[tokio::test]
    async fn an_account_and_a_pod_that_live_are_accepted() {
        let binding = bound("u-1", Some(("web-0", "p-1")));
        assert_eq!(look_up().check(&binding).await, Ok(()));
    }

    #[tokio::test]
    async fn successors_and_gaps_are_not_what_the_token_was_bound_to() {
        for binding in [
            bound("u-0", None),
            bound("u-1", Some(("web-0", "p-0"))),
            bound("u-1", Some(("gone", "p-1"))),
        ] {
            assert!(look_up().check(&binding).await.is_err(), "{binding:?}");
        }
    }
}
