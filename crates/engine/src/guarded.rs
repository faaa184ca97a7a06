//! Requests to a plane by somebody who may lose the lead: every one within the same deadline, and no write that could
//! outlive the lease.

use std::time::Duration;

use http::Request;
use quadrille_planes::{Call, Plane, Trouble};
use serde::de::DeserializeOwned;

use crate::fence::Fence;

/// How long one request may take.
pub const DEADLINE: Duration = Duration::from_secs(15);

/// A plane, and whether it may be written to. Clones are the same.
#[derive(Clone)]
pub struct Guarded {
    plane: Plane,
    fence: Fence,
}

impl Guarded {
    /// Writes to a plane only while the fence allows it.
    pub fn new(plane: Plane, fence: Fence) -> Self {
        Self { plane, fence }
    }

    /// The plane.
    pub fn plane(&self) -> &Plane {
        &self.plane
    }

    /// Reads something; nothing if it is not there.
    pub async fn read<T: DeserializeOwned>(
        &self,
        request: Request<Vec<u8>>,
    ) -> Result<Option<T>, Trouble> {
        let client = self.plane.client();
        let found = client.request::<T>(request);
        match self.plane.call(Call::Read, DEADLINE, found).await {
            Ok(found) => Ok(Some(found)),
            Err(Trouble::NotFound(_)) => Ok(None),
            Err(trouble) => Err(trouble),
        }
    }

    /// Writes something.
    pub async fn write<T: DeserializeOwned>(
        &self,
        request: Request<Vec<u8>>,
    ) -> Result<T, Trouble> {
        let (client, fence) = (self.plane.client(), &self.fence);
        // Asked when the request goes out, not when it was queued.
        let work = async {
            if !fence.allows(DEADLINE) {
                return Err(Trouble::Unsendable(
                    "another controller leads now".to_owned(),
                ));
            }
            client.request::<T>(request).await.map_err(Trouble::from)
        };
        self.plane.call(Call::Write, DEADLINE, work).await
    }
}
