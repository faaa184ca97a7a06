//! The client's side of a wire: a service in front of another client.

use bytes::Bytes;
use futures::StreamExt as _;
use http::{HeaderValue, Request, Response, header};
use http_body_util::{BodyExt as _, Full, StreamBody, combinators::UnsyncBoxBody};
use kube::{Client, client::Body};
use tower::BoxError;

use super::{Wire, call::Call, call::Verb, fault::Fault, watch_body};

/// The body of an answer that passed the wire.
pub(super) type WireBody = UnsyncBoxBody<Bytes, BoxError>;

/// A client over the wire.
pub(super) fn client(wire: Wire, direct: Client, default_namespace: &str) -> Client {
    let service = tower::service_fn(move |request| {
        let (wire, direct) = (wire.clone(), direct.clone());
        async move { pass(&wire, &direct, request).await }
    });
    Client::new(service, default_namespace)
}

async fn pass(
    wire: &Wire,
    direct: &Client,
    request: Request<Body>,
) -> Result<Response<WireBody>, BoxError> {
    let call = Call::of(request.method(), request.uri());
    // Subscribed before the call goes out, so that an order to end watches can't slip between.
    let ends = (call.verb == Verb::Watch).then(|| (wire.watch_ends(), wire.disturbance()));
    let response = match wire.pass(call) {
        None => direct.send(request).await?,
        Some(Fault::Fail(failure)) => return Ok(failure.response().map(whole)),
        Some(Fault::FailAfterEffect(failure)) => {
            finish(direct.send(request).await?).await?;
            return Ok(failure.response().map(whole));
        }
        Some(Fault::Hold(gate) | Fault::Stop(gate)) => {
            gate.pass().await;
            direct.send(request).await?
        }
        Some(Fault::HoldAnswer(gate)) => {
            let response = direct.send(request).await?;
            gate.pass().await;
            response
        }
        Some(Fault::Duplicate) => {
            let (first, second) = twice(request).await?;
            finish(direct.send(first).await?).await?;
            direct.send(second).await?
        }
        Some(Fault::Disconnect | Fault::Die) => return Err(broken().into()),
        Some(Fault::DisconnectAfterEffect) => {
            finish(direct.send(request).await?).await?;
            return Err(broken().into());
        }
        Some(Fault::Answer(bytes)) => return Ok(json(bytes).map(whole)),
        Some(Fault::CutBody(bytes)) => {
            return Ok(direct.send(request).await?.map(|body| cut(body, bytes)));
        }
    };
    Ok(match ends {
        Some((ends, disturbance)) if response.status().is_success() => {
            response.map(|body| watch_body::ending(body, ends, disturbance))
        }
        _ => response.map(passed_on),
    })
}

/// What a caller sees of a broken connection.
pub(super) fn broken() -> std::io::Error {
    std::io::Error::new(
        std::io::ErrorKind::ConnectionReset,
        "injected: the connection broke",
    )
}

/// Waits for the end of an answer, so that its effect is certain.
async fn finish(response: Response<Body>) -> Result<(), BoxError> {
    response.into_body().collect().await?;
    Ok(())
}

async fn twice(request: Request<Body>) -> Result<(Request<Body>, Request<Body>), BoxError> {
    let (parts, body) = request.into_parts();
    let bytes = body.collect().await?.to_bytes();
    let first = Request::from_parts(parts.clone(), Body::from(bytes.clone()));
    Ok((first, Request::from_parts(parts, Body::from(bytes))))
}

fn json(bytes: Bytes) -> Response<Bytes> {
    let mut response = Response::new(bytes);
    let kind = HeaderValue::from_static("application/json");
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    response
}

fn whole(bytes: Bytes) -> WireBody {
    Full::new(bytes)
        .map_err(|never| match never {})
        .boxed_unsync()
}

fn passed_on(body: Body) -> WireBody {
    body.map_err(Into::into).boxed_unsync()
}

/// The first bytes of a body, then an error.
fn cut(body: Body, bytes: usize) -> WireBody {
    let mut left = bytes;
    let frames = body.into_data_stream().map(move |chunk| {
        let chunk: Bytes = chunk.map_err(BoxError::from)?;
        if left == 0 {
            return Err(broken().into());
        }
        let part = chunk.slice(..chunk.len().min(left));
        left -= part.len();
        Ok(http_body::Frame::data(part))
    });
    // A body that ends before the cut breaks all the same.
    let error = futures::stream::once(async { Err(broken().into()) });
    StreamBody::new(frames.chain(error)).boxed_unsync()
}
