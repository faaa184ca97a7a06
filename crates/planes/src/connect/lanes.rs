//! As few connections as can carry a plane's requests: one, as a rule.
//!
//! A server limits how many streams a connection may have (kube-apiserver: 100), and a watch holds its stream for
//! as long as it lives. So when a connection carries what it can, another one is opened; otherwise the hundredth
//! watch would lock out every request. It is closed when it is idle and another one is too. All who wait for a
//! connection wait for the same one, and get the same error.

use std::sync::{Arc, atomic::Ordering};

use futures::{
    FutureExt as _,
    future::{BoxFuture, Shared},
};
use http::{Request, Response};
use hyper::body::Incoming;
use kube::client::Body;
use parking_lot::Mutex;
use tokio::sync::oneshot;
use tower::BoxError;

use super::{
    bounded::{Bound, Bounded},
    dial::{DialError, Dialed, Dialer, Health, Http1, Sender},
};

/// How many streams a connection carries at most: a little less than servers allow, who may come to know of the
/// end of one later than we do.
const MOST_STREAMS: usize = 90;
/// How often a request that was not sent yet waits for a connection or tries the next one.
const TRIES: usize = 6;

/// Takes part in a connection: dropped when the answer was read.
pub(super) type Stream = Arc<()>;

type Dialing = Shared<BoxFuture<'static, Result<(), DialError>>>;

/// The connections to one server.
pub(super) struct Lanes {
    dialer: Dialer,
    open: Mutex<Open>,
}

#[derive(Default)]
struct Open {
    lanes: Vec<Lane>,
    /// Set for good once the server was found to speak nothing newer.
    http1: Option<Http1>,
    dialing: Option<Dialing>,
}

struct Lane {
    sender: Sender,
    streams: Stream,
    health: Arc<Health>,
}

impl Lane {
    fn is_idle(&self) -> bool {
        Arc::strong_count(&self.streams) == 1
    }

    fn has_room(&self) -> bool {
        let allowed = self.health.most_streams.load(Ordering::Relaxed);
        // The count includes ourselves.
        Arc::strong_count(&self.streams) <= allowed.min(MOST_STREAMS)
    }
}

enum Way {
    Http2(Sender, Stream, Arc<Health>),
    Http1(Http1),
    Wait(Dialing),
}

impl Lanes {
    pub(super) fn new(dialer: Dialer) -> Self {
        Self {
            dialer,
            open: Mutex::default(),
        }
    }

    /// Sends a request. It is sent again only if it never left.
    pub(super) async fn send(
        self: &Arc<Self>,
        mut request: Request<Body>,
    ) -> Result<Response<Bounded<Incoming>>, BoxError> {
        let bound = Bound::of(request.uri());
        let mut why = None;
        for _ in 0..TRIES {
            match self.way() {
                Way::Wait(dialing) => dialing.await?,
                Way::Http1(client) => {
                    let response = client.request(request).await?;
                    return Ok(response.map(|body| Bounded::new(body, bound, None)));
                }
                Way::Http2(mut sender, stream, health) => {
                    match sender.try_send_request(request).await {
                        Ok(response) => {
                            return Ok(response.map(|body| Bounded::new(body, bound, Some(stream))));
                        }
                        Err(mut error) => match error.take_message() {
                            Some(unsent) => request = unsent,
                            None => return Err(error.into_error().into()),
                        },
                    }
                    why = health.end.get().cloned().or(why);
                }
            }
        }
        Err(self.dialer.unsteady(why).into())
    }

    fn way(self: &Arc<Self>) -> Way {
        let mut open = self.open.lock();
        if let Some(client) = &open.http1 {
            return Way::Http1(client.clone());
        }
        let mut idle = 0;
        open.lanes.retain(|lane| {
            idle += usize::from(lane.is_idle());
            !lane.sender.is_closed() && (!lane.is_idle() || idle == 1)
        });
        if let Some(lane) = open.lanes.iter().find(|lane| lane.has_room()) {
            let (stream, health) = (Arc::clone(&lane.streams), Arc::clone(&lane.health));
            return Way::Http2(lane.sender.clone(), stream, health);
        }
        let dialing = open.dialing.get_or_insert_with(|| self.dial());
        Way::Wait(dialing.clone())
    }

    /// Opens a connection in a task of its own, which no caller's end can leave half done.
    fn dial(self: &Arc<Self>) -> Dialing {
        let lanes = Arc::clone(self);
        let (tell, told) = oneshot::channel();
        tokio::spawn(async move {
            let dialed = lanes.dialer.dial().await;
            let mut open = lanes.open.lock();
            open.dialing = None;
            let result = dialed.map(|dialed| match dialed {
                Dialed::Http1(client) => open.http1 = Some(client),
                Dialed::Http2(sender, health) => open.lanes.push(Lane {
                    sender,
                    streams: Stream::default(),
                    health,
                }),
            });
            drop(open);
            let _ = tell.send(result);
        });
        let dialer = self.dialer.clone();
        told.map(move |told| told.unwrap_or_else(|_| Err(dialer.unsteady(None))))
            .boxed()
            .shared()
    }
}
