//! One connection per plane, and what is sent over it.

use futures::{StreamExt as _, TryStreamExt as _, future::join_all};
use k8s_openapi::api::{
    authentication::v1::{SelfSubjectReview, TokenRequest},
    core::v1::{ConfigMap, Namespace, ServiceAccount},
};
use kube::{
    Api, Client,
    api::{ListParams, PostParams, WatchParams},
    core::WatchEvent,
};
use quadrille_planes::{Access, Proof, Trouble, connect};
use quadrille_testkit::{Cluster, DEADLINE, builders::mk, builders::mk_config_map, eventually};
use quadrille_types::data_plane::Sensitive;
use serde_json::json;

use crate::{
    forwarder::Forwarder,
    reach,
    servers::{Authority, Server},
};

/// Who the server thinks a client is.
async fn who_am_i(client: Client) -> Result<String, Trouble> {
    let review = SelfSubjectReview::default();
    let api = Api::<SelfSubjectReview>::all(client);
    let review = api.create(&PostParams::default(), &review).await?;
    let user = review.status.and_then(|status| status.user_info);
    Ok(user.and_then(|user| user.username).unwrap_or_default())
}

async fn counted(cluster: &Cluster) -> anyhow::Result<(Forwarder, Client)> {
    let access = reach::as_admin(cluster).await?;
    let forwarder = Forwarder::before(reach::address(&access)?).await?;
    let client = connect(&reach::by_port(&access, forwarder.port())?)?;
    Ok((forwarder, client))
}

#[tokio::test]
async fn a_kubeconfig_in_a_secret_leads_to_its_cluster() -> anyhow::Result<()> {
    let cluster = Cluster::start().await?;
    let access = reach::as_admin(&cluster).await?;
    let client = connect(&access)?;
    assert_eq!(*client.valid_until(), access.expires());
    assert!(access.expires().is_some(), "a certificate ends some time");
    let namespaces = Api::<Namespace>::all(client);
    let list = namespaces.list(&ListParams::default()).await?;
    let names: Vec<_> = list
        .iter()
        .filter_map(|one| one.metadata.name.as_deref())
        .collect();
    assert!(names.contains(&cluster.namespace()), "{names:?}");
    Ok(())
}

#[tokio::test]
async fn watches_and_requests_share_one_connection() -> anyhow::Result<()> {
    let cluster = Cluster::start().await?;
    let (forwarder, client) = counted(&cluster).await?;
    let configs = Api::<ConfigMap>::namespaced(client.clone(), cluster.namespace());
    // All at once, before there is a connection.
    let params = WatchParams::default();
    let opened = join_all((0..40).map(|_| configs.watch(&params, "0"))).await;
    let names: Vec<String> = (0..40).map(|n| format!("config-{n}")).collect();
    let create = async |name: &String| {
        let params = PostParams::default();
        configs.create(&params, &mk_config_map(name, &[])).await
    };
    for created in join_all(names.iter().map(create)).await {
        created?;
    }
    for watch in opened {
        let mut watch = std::pin::pin!(watch?);
        let mut seen = 0;
        while seen < names.len() {
            if let WatchEvent::Added(config) = watch.try_next().await?.unwrap() {
                let name = config.metadata.name.unwrap_or_default();
                seen += usize::from(names.contains(&name));
            }
        }
    }
    assert_eq!(forwarder.accepted(), 1);
    Ok(())
}

#[tokio::test]
async fn more_watches_than_a_connection_carries_lock_nobody_out() -> anyhow::Result<()> {
    let cluster = Cluster::start().await?;
    let (forwarder, client) = counted(&cluster).await?;
    let configs = Api::<ConfigMap>::namespaced(client, cluster.namespace());
    let mut watches = Vec::new();
    for _ in 0..120 {
        watches.push(configs.watch(&WatchParams::default(), "0").await?.boxed());
    }
    configs.list(&ListParams::default()).await?;
    assert_eq!(forwarder.accepted(), 2);
    // What is over makes room.
    watches.clear();
    let list = async || configs.list(&ListParams::default()).await.map(|_| ());
    for listed in join_all((0..40).map(|_| list())).await {
        listed?;
    }
    assert_eq!(forwarder.accepted(), 2);
    Ok(())
}

#[tokio::test]
async fn a_server_that_allows_few_streams_gets_more_connections() -> anyhow::Result<()> {
    let authority = Authority::new()?;
    let server = Server {
        identity: authority.issue(3000)?,
        clients: None,
        protocol: "h2",
    };
    let door = format!("127.0.0.1:{}", server.start_http2(5).await?);
    let forwarder = Forwarder::before(door).await?;
    let proof = Proof::Token(Sensitive::new("any"));
    let client = connect(&authority.access(forwarder.port(), proof)?)?;
    client.apiserver_version().await?;
    let configs = Api::<ConfigMap>::default_namespaced(client.clone());
    let mut watches = Vec::new();
    for _ in 0..12 {
        watches.push(configs.watch(&WatchParams::default(), "0").await?);
    }
    client.apiserver_version().await?;
    assert_eq!(forwarder.accepted(), 3);
    Ok(())
}

#[tokio::test]
async fn a_cut_connection_is_replaced_by_one_new_one() -> anyhow::Result<()> {
    let cluster = Cluster::start().await?;
    let (forwarder, client) = counted(&cluster).await?;
    let configs = Api::<ConfigMap>::namespaced(client.clone(), cluster.namespace());
    let watch = configs.watch(&WatchParams::default(), "0").await?;
    forwarder.cut();
    // The watch ends, in whatever way its client tells that.
    let _ = watch.collect::<Vec<_>>().await;
    let version = async || client.apiserver_version().await.map(|_| ());
    for answer in join_all((0..20).map(|_| version())).await {
        answer?;
    }
    assert_eq!(forwarder.accepted(), 2);
    Ok(())
}

#[tokio::test]
async fn a_connection_that_has_gone_silent_is_given_up() -> anyhow::Result<()> {
    let cluster = Cluster::start().await?;
    let (forwarder, client) = counted(&cluster).await?;
    let configs = Api::<ConfigMap>::namespaced(client.clone(), cluster.namespace());
    let watch = configs.watch(&WatchParams::default(), "0").await?;
    forwarder.silence();
    // From here on time passes whenever there is nothing else to do.
    tokio::time::pause();
    let _ = tokio::time::timeout(DEADLINE, watch.collect::<Vec<_>>()).await?;
    tokio::time::resume();
    client.apiserver_version().await?;
    assert_eq!(forwarder.accepted(), 2);
    Ok(())
}

/// A service account's token, from the cluster itself.
async fn token_of(cluster: &Cluster, account: &str) -> anyhow::Result<Sensitive> {
    let accounts = cluster.api::<ServiceAccount>();
    let object = mk(json!({ "metadata": { "name": account } }));
    accounts.create(&PostParams::default(), &object).await?;
    let request: TokenRequest = mk(json!({ "spec": { "audiences": [] } }));
    let params = PostParams::default();
    let request = eventually("the account gets a token", async || {
        accounts
            .create_token_request(account, &params, &request)
            .await
    })
    .await;
    let status = request.status.unwrap_or_default();
    Ok(Sensitive::new(status.token.unwrap_or_default()))
}

fn with_token(access: &Access, token: Sensitive) -> Access {
    Access {
        proof: Proof::Token(token),
        ..access.clone()
    }
}

#[tokio::test]
async fn a_token_says_who_we_are_and_when_that_ends() -> anyhow::Result<()> {
    let cluster = Cluster::start().await?;
    let admin = reach::as_admin(&cluster).await?;
    let token = token_of(&cluster, "robot").await?;
    let access = with_token(&admin, token);
    let user = format!("system:serviceaccount:{}:robot", cluster.namespace());
    assert_eq!(who_am_i(connect(&access)?).await?, user);
    assert!(access.expires().is_some());
    assert_ne!(who_am_i(connect(&admin)?).await?, user);
    Ok(())
}

#[tokio::test]
async fn a_wrong_token_is_invalid_credentials() -> anyhow::Result<()> {
    let cluster = Cluster::start().await?;
    let admin = reach::as_admin(&cluster).await?;
    let access = with_token(&admin, Sensitive::new("not-a-token"));
    let trouble = who_am_i(connect(&access)?).await.unwrap_err();
    assert_eq!(trouble.reason(), "CredentialsInvalid", "{trouble}");
    assert!(!trouble.message().contains("not-a-token"));
    Ok(())
}

#[tokio::test]
async fn nobody_at_the_door_is_unreachable() -> anyhow::Result<()> {
    let cluster = Cluster::start().await?;
    let access = reach::as_admin(&cluster).await?;
    let port = {
        let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await?;
        listener.local_addr()?.port()
    };
    let client = connect(&reach::by_port(&access, port)?)?;
    let version = async || client.apiserver_version().await.map_err(Trouble::from);
    // All who wait for the same connection get the same words.
    for answer in join_all((0..5).map(|_| version())).await {
        let trouble = answer.unwrap_err();
        assert_eq!(trouble.reason(), "Unreachable", "{trouble}");
        assert!(
            trouble
                .message()
                .contains(&format!("connect to 127.0.0.1:{port}"))
        );
    }
    Ok(())
}
