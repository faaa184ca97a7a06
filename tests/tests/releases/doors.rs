//! Planes that are reached over the network: by kubeconfigs in Secrets, and through doors that can be shut.

use kube::api::{Patch, PatchParams};
use quadrille_testkit::{Cluster, eventually};
use quadrille_types::{
    DataPlane, Environment,
    conditions::{ConditionType, find},
};
use serde_json::{Value, json};
use tokio::{
    io::copy_bidirectional,
    net::{TcpListener, TcpStream},
    sync::watch,
};

use crate::platform::Platform;

/// A door in front of a server; it ends with the test's runtime.
pub(crate) struct Door {
    port: u16,
    is_open: watch::Sender<bool>,
}

impl Door {
    /// A door that is shut: whoever knocks is sent away.
    pub(crate) async fn shut_before(kubeconfig: &Value) -> Self {
        let server = kubeconfig["clusters"][0]["cluster"]["server"].as_str();
        let address = server.unwrap().trim_start_matches("https://").to_owned();
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let is_open = watch::Sender::new(false);
        let orders = is_open.clone();
        tokio::spawn(async move {
            while let Ok((near, _)) = listener.accept().await {
                if *orders.borrow() {
                    tokio::spawn(pass(near, address.clone(), orders.subscribe()));
                }
            }
        });
        Self { port, is_open }
    }

    pub(crate) fn open(&self) {
        self.is_open.send_replace(true);
    }

    /// Cuts all connections, and lets nobody in.
    pub(crate) fn shut(&self) {
        self.is_open.send_replace(false);
    }

    /// The same kubeconfig, through this door.
    pub(crate) fn through(&self, kubeconfig: &Value) -> Value {
        let mut kubeconfig = kubeconfig.clone();
        let server = format!("https://127.0.0.1:{}", self.port);
        kubeconfig["clusters"][0]["cluster"]["server"] = server.into();
        kubeconfig
    }
}

async fn pass(mut near: TcpStream, address: String, mut orders: watch::Receiver<bool>) {
    let Ok(mut far) = TcpStream::connect(address).await else {
        return;
    };
    tokio::select! {
        _ = copy_bidirectional(&mut near, &mut far) => {}
        _ = orders.wait_for(|is_open| !is_open) => {}
    }
}

/// The kubeconfig of a cluster's administrator.
pub(crate) async fn kubeconfig(cluster: &Cluster) -> Value {
    let path = cluster.kubeconfig().await.unwrap();
    let text = std::fs::read_to_string(path).unwrap();
    serde_saphyr::from_str(&text).unwrap()
}

/// The same with another user.
pub(crate) fn as_user(kubeconfig: &Value, user: Value) -> Value {
    let mut kubeconfig = kubeconfig.clone();
    kubeconfig["users"][0]["user"] = user;
    kubeconfig
}

impl Platform {
    /// Writes a kubeconfig into a Secret.
    pub(crate) async fn put_kubeconfig(&self, secret: &str, kubeconfig: &Value) {
        let object = json!({
            "apiVersion": "v1", "kind": "Secret", "metadata": { "name": secret },
            "stringData": { "kubeconfig": kubeconfig.to_string() },
        });
        let params = PatchParams::apply("test").force();
        self.any("", "v1", "Secret")
            .patch(secret, &params, &Patch::Apply(&object))
            .await
            .unwrap();
    }

    /// A plane by a kubeconfig in a Secret of the same name, and an environment on it, of the same name too.
    pub(crate) async fn add_plane(&self, name: &str) {
        let plane = json!({ "kubernetesCluster": { "secretRef": name } });
        self.apply::<DataPlane>(name, plane).await;
        self.apply::<Environment>(name, json!({ "dataPlaneRef": name }))
            .await;
    }

    /// Waits until a plane is said to be reachable or not, with a reason or some words. Tells the whole message.
    pub(crate) async fn until_plane(&self, name: &str, status: &str, words: &str) -> String {
        let what = format!("plane {name}: Reachable is {status} {words}");
        eventually(&what, async || {
            let plane = self.cluster.api::<DataPlane>().get(name).await.unwrap();
            let known = plane.status.unwrap_or_default();
            match find(&known.conditions, ConditionType::Reachable) {
                Some(found)
                    if found.status == status
                        && (found.reason.contains(words) || found.message.contains(words)) =>
                {
                    Ok(found.message.clone())
                }
                _ => Err(format!("{:?}", known.conditions)),
            }
        })
        .await
    }
}
