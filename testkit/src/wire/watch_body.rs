//! The body of a watch that a test can end. Only whole lines pass, so that an ending never tears an event.

use bytes::{Bytes, BytesMut};
use futures::{Stream, StreamExt as _, stream};
use http_body::Frame;
use http_body_util::{BodyExt as _, StreamBody};
use kube::client::Body;
use serde_json::json;
use tokio::sync::watch;
use tower::BoxError;

use super::{
    fault::{Disturbance, Failure, WatchEnd},
    transport::{WireBody, broken},
};

/// Passes a watch on until it ends or is told to.
pub(super) fn ending(
    body: Body,
    mut ends: watch::Receiver<Option<WatchEnd>>,
    disturbance: watch::Receiver<Option<Disturbance>>,
) -> WireBody {
    let told = Box::pin(async move {
        match ends.changed().await {
            Ok(()) => *ends.borrow_and_update(),
            // The wire is gone: nobody can end the watch any more.
            Err(_) => std::future::pending().await,
        }
    });
    let lines = disturbed(lines(body), disturbance);
    let open = Some((lines.boxed(), told));
    let frames = stream::unfold(open, |open| async move {
        let (mut lines, mut told) = open?;
        tokio::select! {
            biased;
            end = &mut told => end.and_then(last_words).map(|line| (line, None)),
            line = lines.next() => line.map(|line| (line, Some((lines, told)))),
        }
    });
    StreamBody::new(frames.map(|line| line.map(Frame::data))).boxed_unsync()
}

/// What a watcher hears last.
fn last_words(end: WatchEnd) -> Option<Result<Bytes, BoxError>> {
    match end {
        WatchEnd::Closed => None,
        WatchEnd::Cut => Some(Err(broken().into())),
        WatchEnd::Expired => {
            let event = json!({ "type": "ERROR", "object": Failure::expired().status() });
            Some(Ok(Bytes::from(format!("{event}\n"))))
        }
    }
}

/// The same lines, as they suffer from what is the order at their time.
fn disturbed(
    lines: impl Stream<Item = Result<Bytes, BoxError>>,
    disturbance: watch::Receiver<Option<Disturbance>>,
) -> impl Stream<Item = Result<Bytes, BoxError>> {
    let mut held: Option<Bytes> = None;
    let suffer = move |line: Result<Bytes, BoxError>| {
        let now = *disturbance.borrow();
        let passed = match (line, now) {
            (Ok(_), Some(Disturbance::Lose)) => Vec::new(),
            (Ok(line), Some(Disturbance::Double)) => vec![Ok(line.clone()), Ok(line)],
            (Ok(line), Some(Disturbance::Swap)) => match held.take() {
                None => {
                    held = Some(line);
                    Vec::new()
                }
                Some(first) => vec![Ok(line), Ok(first)],
            },
            (line, _) => held.take().map(Ok).into_iter().chain([line]).collect(),
        };
        stream::iter(passed)
    };
    lines.flat_map(suffer)
}

/// The body in whole lines; what is left at its end passes as it is.
fn lines(body: Body) -> impl Stream<Item = Result<Bytes, BoxError>> {
    let chunks = body.into_data_stream().boxed();
    stream::unfold(
        (chunks, BytesMut::new(), false),
        |(mut chunks, mut buffer, mut ended)| async move {
            loop {
                if let Some(end) = buffer.iter().position(|byte| *byte == b'\n') {
                    let whole = buffer.split_to(end + 1).freeze();
                    return Some((Ok(whole), (chunks, buffer, ended)));
                }
                if ended {
                    let rest = buffer.split().freeze();
                    return (!rest.is_empty()).then_some((Ok(rest), (chunks, buffer, true)));
                }
                match chunks.next().await {
                    Some(Ok(chunk)) => buffer.extend_from_slice(&chunk),
                    Some(Err(error)) => return Some((Err(error.into()), (chunks, buffer, true))),
                    None => ended = true,
                }
            }
        },
    )
}
