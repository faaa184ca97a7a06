//! What a new platform begins with, so that the first release has somewhere to go. It is made once, and only where
//! there is nothing yet: what somebody changes or deletes later stays so.

use http::{Request, StatusCode, header};
use kube::Client;
use serde_json::{Value, json};

use crate::{apply::MANAGER, failure::Failure, kinds};

const DOCUMENTS: &str = include_str!("defaults.yaml");

/// The namespace of what is made.
pub(crate) const NAMESPACE: &str = "default";

/// On that namespace: it was made.
const MADE: &str = "quadrille.dev/defaults-made";

/// Makes them, unless that was done before. What is there already is left as it is.
pub(crate) async fn make(client: &Client) -> Result<(), Failure> {
    let failed = |error: kube::Error| {
        Failure::new("the default organization and its environments cannot be made").because(&error)
    };
    let namespace = format!("/api/v1/namespaces/{NAMESPACE}");
    let found = send(client, Request::get(&namespace), None)
        .await
        .map_err(failed)?;
    if found["metadata"]["annotations"][MADE] == "true" {
        return Ok(());
    }
    let documents: Vec<Value> = serde_saphyr::from_multiple(DOCUMENTS)
        .map_err(|error| Failure::new("the defaults cannot be read").because(&error))?;
    let wanted = if has_platform(client, &documents).await.map_err(failed)? {
        Vec::new()
    } else {
        documents
    };
    for document in wanted {
        let path = path_of(&document);
        let request = Request::post(format!("{path}?fieldManager={MANAGER}"))
            .header(header::CONTENT_TYPE, "application/json");
        match send(client, request, Some(&document)).await {
            Err(kube::Error::Api(status)) if status.code == StatusCode::CONFLICT => {}
            made => {
                made.map_err(failed)?;
            }
        }
    }
    let patch = json!({ "metadata": { "annotations": { MADE: "true" } } });
    let request = Request::patch(format!("{namespace}?fieldManager={MANAGER}"))
        .header(header::CONTENT_TYPE, "application/merge-patch+json");
    send(client, request, Some(&patch)).await.map_err(failed)?;
    Ok(())
}

fn path_of(document: &Value) -> String {
    kinds::path_of_ours(document).expect("the defaults are of our kinds")
}

/// Whether somebody began already, as in a folder of an earlier version: then nothing is mixed into it.
async fn has_platform(client: &Client, documents: &[Value]) -> Result<bool, kube::Error> {
    for document in documents {
        let mut everywhere = document.clone();
        everywhere["metadata"]["namespace"].take();
        let request = Request::get(format!("{}?limit=1", path_of(&everywhere)));
        let found = send(client, request, None).await?;
        if found["items"]
            .as_array()
            .is_some_and(|items| !items.is_empty())
        {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Sends a request, with a body if there is one.
pub(super) async fn send(
    client: &Client,
    request: http::request::Builder,
    body: Option<&Value>,
) -> Result<Value, kube::Error> {
    let body = body.map(|body| body.to_string().into_bytes());
    let request = request
        .body(body.unwrap_or_default())
        .map_err(kube::Error::HttpError)?;
    client.request(request).await
}
