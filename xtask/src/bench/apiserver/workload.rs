//! What every subject is put through, in the same order.

use std::{collections::BTreeMap, time::Duration};

use anyhow::Result;
use bytes::Bytes;
use http::Method;
use serde_json::json;

use super::{
    super::process::{processor_share, resident},
    super::{
        Numbers,
        load::{Call, Seen, Until, create_namespace, drive},
        subject::Subject,
    },
    watching::{SENT, deliver},
};

/// The row of a server that does nothing.
pub(super) const IDLE: &str = "idle";

/// How much of everything.
pub(super) struct Sizes {
    /// Per operation.
    pub(super) seconds: u64,
    /// Objects in the namespace that is listed.
    pub(super) listed: usize,
    /// Objects in the end.
    pub(super) stored: usize,
}

const JSON: &str = "application/json";
const CLIENTS: [usize; 2] = [1, 32];
const WATCHERS: [usize; 2] = [1, 100];
/// Writes whose events watchers wait for.
const WATCHED_WRITES: usize = 300;
/// Namespaces: for single operations, for the list, for the mass.
const NAMESPACES: [&str; 3] = ["bench-single", "bench-list", "bench-mass"];

/// Runs everything and returns the numbers.
pub(super) async fn run(subject: &Subject, sizes: &Sizes) -> Result<Numbers> {
    let mut numbers = Numbers::new();
    let one = |name, value| BTreeMap::from([(name, value)]);
    numbers.insert(
        "start".to_owned(),
        one("start ms", subject.start.as_secs_f64() * 1000.0),
    );
    numbers.insert(IDLE.to_owned(), idle(subject).await?);
    for namespace in NAMESPACES {
        drive(&subject.endpoint, 1, Until::Sent(1), move |_, _| {
            create_namespace(namespace)
        })
        .await?;
    }
    for clients in CLIENTS {
        for (verb, seen) in singles(subject, sizes, clients).await? {
            let word = if clients == 1 { "client" } else { "clients" };
            numbers.insert(format!("{verb}, {clients} {word}"), seen.numbers());
        }
    }
    fill(subject, NAMESPACES[1], sizes.listed).await?;
    for clients in CLIENTS {
        let seen = drive(&subject.endpoint, clients, time(sizes), |_, _| {
            get(path(NAMESPACES[1], ""))
        })
        .await?;
        numbers.insert(
            format!("list {}, {clients} clients", sizes.listed),
            seen.numbers(),
        );
    }
    for watchers in WATCHERS {
        let path = path(NAMESPACES[0], "");
        let seen = deliver(
            &subject.endpoint,
            &path,
            watchers,
            WATCHED_WRITES,
            move |count, sent| stamped(watchers, count, sent),
        )
        .await?;
        numbers.insert(format!("watch, {watchers} watchers"), seen.numbers());
    }
    numbers.insert(
        format!("memory, {} objects", sizes.listed),
        one("MiB", resident(&subject.pids)?),
    );
    numbers.extend(mass(subject, sizes).await?);
    Ok(numbers)
}

async fn idle(subject: &Subject) -> Result<BTreeMap<&'static str, f64>> {
    // What starting left behind is done after a few seconds.
    tokio::time::sleep(Duration::from_secs(5)).await;
    let share = processor_share(&subject.pids, Duration::from_secs(10)).await?;
    Ok(BTreeMap::from([
        ("% CPU", share),
        ("MiB", resident(&subject.pids)?),
    ]))
}

/// Create, get, update and patch of single objects.
async fn singles(
    subject: &Subject,
    sizes: &Sizes,
    clients: usize,
) -> Result<Vec<(&'static str, Seen)>> {
    let namespace = NAMESPACES[0];
    let endpoint = &subject.endpoint;
    let name = move |client, count| format!("of-{clients}-{client}-{count}");
    let created = drive(endpoint, clients, time(sizes), move |client, count| {
        create(namespace, &name(client, count))
    })
    .await?;
    let read = drive(endpoint, clients, time(sizes), move |client, _| {
        get(path(namespace, &name(client, 0)))
    })
    .await?;
    let updated = drive(endpoint, clients, time(sizes), move |client, count| Call {
        method: Method::PUT,
        target: path(namespace, &name(client, 0)),
        content_type: JSON,
        body: config_map(&name(client, 0), "count", &count.to_string()),
    })
    .await?;
    let patched = drive(endpoint, clients, time(sizes), move |client, count| Call {
        method: Method::PATCH,
        target: path(namespace, &name(client, 0)),
        content_type: "application/merge-patch+json",
        body: json!({"data": {"patched": count.to_string()}})
            .to_string()
            .into(),
    })
    .await?;
    Ok(vec![
        ("create", created),
        ("get", read),
        ("update", updated),
        ("patch", patched),
    ])
}

/// Many objects: memory, and lists of them whole and in pages.
async fn mass(subject: &Subject, sizes: &Sizes) -> Result<Numbers> {
    let rest = sizes.stored.saturating_sub(sizes.listed);
    let filled = fill(subject, NAMESPACES[2], rest).await?;
    let target = path(NAMESPACES[2], "");
    let whole = {
        let target = target.clone();
        drive(&subject.endpoint, 1, Until::Sent(3), move |_, _| {
            get(target.clone())
        })
        .await?
    };
    let page = drive(&subject.endpoint, 1, Until::Sent(100), move |_, _| {
        get(format!("{target}?limit=500"))
    })
    .await?;
    let stored = sizes.stored;
    let only_latency = |seen: &Seen| BTreeMap::from([("p50 ms", seen.percentile(50))]);
    Ok(Numbers::from([
        (
            format!("memory, {stored} objects"),
            BTreeMap::from([("MiB", resident(&subject.pids)?)]),
        ),
        (
            format!("create up to {stored}, 32 clients"),
            filled.numbers(),
        ),
        (format!("list {rest} of {stored}"), only_latency(&whole)),
        (format!("first 500 of {stored}"), only_latency(&page)),
    ]))
}

async fn fill(subject: &Subject, namespace: &'static str, count: usize) -> Result<Seen> {
    const WRITERS: usize = 32;
    drive(
        &subject.endpoint,
        WRITERS,
        Until::Sent(count.div_ceil(WRITERS)),
        move |client, count| create(namespace, &format!("object-{client}-{count}")),
    )
    .await
}

fn time(sizes: &Sizes) -> Until {
    Until::Elapsed(Duration::from_secs(sizes.seconds))
}

fn path(namespace: &str, name: &str) -> String {
    let collection = format!("/api/v1/namespaces/{namespace}/configmaps");
    if name.is_empty() {
        collection
    } else {
        format!("{collection}/{name}")
    }
}

fn get(target: String) -> Call {
    Call {
        method: Method::GET,
        target,
        content_type: JSON,
        body: Bytes::new(),
    }
}

fn create(namespace: &str, name: &str) -> Call {
    Call {
        method: Method::POST,
        target: path(namespace, ""),
        content_type: JSON,
        body: config_map(name, "count", "0"),
    }
}

/// A new object that says when it was sent.
fn stamped(watchers: usize, count: usize, sent: Duration) -> Call {
    Call {
        method: Method::POST,
        target: path(NAMESPACES[0], ""),
        content_type: JSON,
        body: config_map(
            &format!("watched-{watchers}-{count}"),
            SENT,
            &sent.as_micros().to_string(),
        ),
    }
}

/// An object of about 700 bytes, as small configuration is.
fn config_map(name: &str, key: &str, value: &str) -> Bytes {
    json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "name": name,
            "labels": {"app.kubernetes.io/name": "bench", "app.kubernetes.io/part-of": "measurements"},
            "annotations": {"example.com/purpose": "to be read and written many times"},
        },
        "data": {key: value, "settings": "a=1\nb=2\nc=3\n".repeat(30)},
    })
    .to_string()
    .into()
}
