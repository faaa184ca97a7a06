//! Who we are, in the words of the server: it lets nobody ask or approve in the name of somebody else.

use http::{Request, header};
use serde_json::json;

use crate::{cluster::Cluster, failure::Failure, fields};

impl Cluster {
    /// The name that the server knows us by.
    pub(crate) async fn whoami(&self) -> Result<String, Failure> {
        let review =
            json!({ "apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview" });
        let request = Request::post("/apis/authentication.k8s.io/v1/selfsubjectreviews")
            .header(header::CONTENT_TYPE, "application/json")
            .body(review.to_string().into_bytes())
            .map_err(|error| self.failed(&kube::Error::HttpError(error)))?;
        let answer = self
            .send(request)
            .await
            .map_err(|error| self.failed(&error))?;
        match fields::text(&answer["status"]["userInfo"], "username") {
            "" => Err(
                Failure::new(format!("{} does not say who you are", self.url))
                    .next("Ask it yourself: kubectl auth whoami"),
            ),
            name => Ok(name.to_owned()),
        }
    }
}
