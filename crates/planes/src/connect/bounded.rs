//! How much of an answer is taken. A plane is somebody else's server; it must not be able to fill our memory.
//!
//! An answer may have [`LARGEST_ANSWER`] bytes; page through larger lists. A watch may go on for ever, and each of
//! its lines, which is one event, may have [`LARGEST_EVENT`] bytes.

use std::{
    pin::Pin,
    task::{Context, Poll, ready},
};

use bytes::{Buf as _, Bytes};
use http::Uri;
use http_body::{Body, Frame, SizeHint};
use tower::BoxError;

use super::lanes::Stream;

/// The most bytes of an answer.
const LARGEST_ANSWER: usize = 64 * 1024 * 1024;
/// The most bytes of a watch event; an object has at most 3 MiB or so, a bookmark of a watch list no more.
const LARGEST_EVENT: usize = 8 * 1024 * 1024;

/// An answer has more bytes than we take.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("read an answer: it has more than {most} bytes")]
pub(crate) struct AnswerTooLarge {
    most: usize,
}

/// What is bounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bound {
    /// The whole answer.
    Answer,
    /// Each line of it.
    Line,
}

impl Bound {
    /// Watches and logs go on for ever.
    pub(super) fn of(uri: &Uri) -> Self {
        let goes_on = uri.query().is_some_and(|query| {
            query.split('&').any(|pair| {
                matches!(
                    pair,
                    "watch=true" | "watch=1" | "watch" | "follow=true" | "follow=1"
                )
            })
        });
        if goes_on { Self::Line } else { Self::Answer }
    }

    fn most(self) -> usize {
        match self {
            Self::Answer => LARGEST_ANSWER,
            Self::Line => LARGEST_EVENT,
        }
    }
}

/// A body that ends with an error where it grows too large. It holds on to its stream until it is dropped.
pub(super) struct Bounded<B> {
    body: B,
    bound: Bound,
    most: usize,
    seen: usize,
    _stream: Option<Stream>,
}

impl<B> Bounded<B> {
    pub(super) fn new(body: B, bound: Bound, stream: Option<Stream>) -> Self {
        Self {
            body,
            bound,
            most: bound.most(),
            seen: 0,
            _stream: stream,
        }
    }

    /// Counts the bytes of a piece; false when they are too many.
    fn takes(&mut self, piece: &[u8]) -> bool {
        match self.bound {
            Bound::Answer => self.seen += piece.len(),
            Bound::Line => {
                let mut lines = piece.split(|byte| *byte == b'\n');
                self.seen += lines.next().map_or(0, <[u8]>::len);
                for line in lines {
                    if self.seen > self.most {
                        return false;
                    }
                    self.seen = line.len();
                }
            }
        }
        self.seen <= self.most
    }
}

impl<B> Body for Bounded<B>
where
    B: Body<Data = Bytes> + Unpin,
    B::Error: Into<BoxError>,
{
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let frame = match ready!(Pin::new(&mut self.body).poll_frame(context)) {
            None => return Poll::Ready(None),
            Some(Err(error)) => return Poll::Ready(Some(Err(error.into()))),
            Some(Ok(frame)) => frame,
        };
        let fits = frame
            .data_ref()
            .is_none_or(|piece| self.takes(piece.chunk()));
        let most = self.most;
        Poll::Ready(Some(if fits {
            Ok(frame)
        } else {
            Err(AnswerTooLarge { most }.into())
        }))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use http_body_util::{BodyExt as _, StreamBody};

    use super::*;

    fn bounded(
        bound: Bound,
        most: usize,
        pieces: &[&'static str],
    ) -> Bounded<impl Body<Data = Bytes, Error = std::convert::Infallible> + Unpin> {
        let frames: Vec<_> = pieces
            .iter()
            .map(|piece| Ok(Frame::data(Bytes::from_static(piece.as_bytes()))))
            .collect();
        let mut body = Bounded::new(StreamBody::new(futures::stream::iter(frames)), bound, None);
        body.most = most;
        body
    }

    #[tokio::test]
    async fn an_answer_is_taken_up_to_its_bound() {
        let taken = bounded(Bound::Answer, 4, &["ab", "cd"]).collect().await;
        assert_eq!(taken.unwrap().to_bytes(), "abcd");
        let refused = bounded(Bound::Answer, 4, &["ab", "cde"]).collect().await;
        assert!(refused.unwrap_err().is::<AnswerTooLarge>());
    }

    #[tokio::test]
    async fn a_watch_goes_on_as_long_as_its_lines_are_short() {
        let pieces = ["abc", "d\nef", "gh\n\nabcd\na"];
        let taken = bounded(Bound::Line, 4, &pieces).collect().await;
        assert!(taken.is_ok());
        for pieces in [&["abcde"][..], &["abc", "de\n"], &["a\nabcde\na"]] {
            let refused = bounded(Bound::Line, 4, pieces).collect().await;
            assert!(refused.unwrap_err().is::<AnswerTooLarge>(), "{pieces:?}");
        }
    }

    #[test]
    fn watches_are_told_by_their_query() {
        for (uri, bound) in [
            ("/api/v1/pods", Bound::Answer),
            ("/api/v1/pods?labelSelector=watch", Bound::Answer),
            ("/api/v1/pods?limit=1&watch=true", Bound::Line),
            ("/api/v1/namespaces/a/pods/b/log?follow=true", Bound::Line),
        ] {
            assert_eq!(Bound::of(&uri.parse().unwrap()), bound, "{uri}");
        }
    }
}
