//! Clients by what they were made from.
//!
//! Planes with the same access share a client, and with it a connection. When credentials rotate, the access has
//! another digest and so another client; the old one ends with whoever still holds it.

use std::{
    collections::HashMap,
    sync::{Arc, Weak},
};

use kube::Client;
use parking_lot::Mutex;

use crate::{
    access::{Access, Digest, Way},
    connect::{ConnectError, connect},
    kinds::Kinds,
};

/// A client, and what is known of the kinds behind it.
pub struct Connected {
    client: Client,
    kinds: Kinds,
}

impl Connected {
    /// Over any client, such as that of the cluster that we run in.
    pub fn over(client: Client) -> Self {
        Self {
            kinds: Kinds::new(client.clone()),
            client,
        }
    }

    /// The client.
    pub fn client(&self) -> Client {
        self.client.clone()
    }

    /// The kinds.
    pub fn kinds(&self) -> &Kinds {
        &self.kinds
    }
}

/// All clients that somebody holds. A client lives as long as its [`Connected`] is held, not longer.
pub struct Planes {
    local: Arc<Connected>,
    remote: Mutex<HashMap<Digest, Weak<Connected>>>,
}

impl Planes {
    /// With the client of the cluster that we run in.
    pub fn new(local: Client) -> Self {
        Self {
            local: Arc::new(Connected::over(local)),
            remote: Mutex::default(),
        }
    }

    /// The cluster that we run in.
    pub fn local(&self) -> Arc<Connected> {
        Arc::clone(&self.local)
    }

    /// The client for a way.
    pub fn get(&self, way: &Way) -> Result<Arc<Connected>, ConnectError> {
        match way {
            Way::Local => Ok(self.local()),
            Way::Remote(access) => self.get_or_connect(access),
        }
    }

    /// The client for an access: the one that somebody holds already, or a new one.
    pub fn get_or_connect(&self, access: &Access) -> Result<Arc<Connected>, ConnectError> {
        let digest = access.digest();
        let mut remote = self.remote.lock();
        if let Some(connected) = remote.get(&digest).and_then(Weak::upgrade) {
            return Ok(connected);
        }
        remote.retain(|_, held| held.strong_count() > 0);
        let connected = Arc::new(Connected::over(connect(access)?));
        remote.insert(digest, Arc::downgrade(&connected));
        Ok(connected)
    }

    /// How many clients to other clusters are held.
    pub fn held(&self) -> usize {
        let remote = self.remote.lock();
        remote
            .values()
            .filter(|held| held.strong_count() > 0)
            .count()
    }
}
