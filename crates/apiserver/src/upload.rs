//! The body of a request on its way in: read when its sender may do what they want, and within bounds.

use axum::body::Body;
use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt as _;
use quadrille_machinery::status::Status;

/// The largest body that is read.
pub const MAX_BODY_BYTES: usize = 3 * 1024 * 1024;
/// After a body turned out too large, this much more is read and thrown away, so that the client gets to
/// read the answer before the connection closes.
const DRAINED_BYTES: usize = 16 * 1024 * 1024;

/// So much is read of what is not wanted.
const PASSED_OVER_BYTES: usize = 256 * 1024;

/// Reads a little and throws it away: a client that is still sending may not read the answer.
pub(crate) async fn pass_over(body: Body) {
    drain(body, PASSED_OVER_BYTES).await;
}

/// Reads the whole body, or says why that can't be.
pub(crate) async fn read(body: Body) -> Result<Bytes, Status> {
    read_up_to(MAX_BODY_BYTES, body).await
}

async fn read_up_to(limit: usize, mut body: Body) -> Result<Bytes, Status> {
    let mut taken = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let frame =
            frame.map_err(|error| Status::bad_request(format!("the body ended early: {error}")))?;
        let Ok(data) = frame.into_data() else {
            continue;
        };
        if taken.len() + data.len() > limit {
            drain(body, DRAINED_BYTES).await;
            return Err(Status::too_large(format!(
                "Request entity too large: limit is {limit}"
            )));
        }
        taken.extend_from_slice(&data);
    }
    Ok(taken.freeze())
}

async fn drain(mut body: Body, mut left: usize) {
    while let Some(Ok(frame)) = body.frame().await {
        let bytes = frame.data_ref().map_or(0, Bytes::len);
        match left.checked_sub(bytes) {
            Some(rest) => left = rest,
            None => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_body_of_exactly_the_limit_passes_and_one_byte_more_does_not() {
        let exact = read_up_to(1000, Body::from(vec![b' '; 1000]));
        assert_eq!(exact.await.unwrap().len(), 1000);
        let refusal = read_up_to(1000, Body::from(vec![b' '; 1001]));
        let refusal = refusal.await.unwrap_err();
        assert_eq!(refusal.code, 413);
        assert_eq!(refusal.message, "Request entity too large: limit is 1000");
    }
}
