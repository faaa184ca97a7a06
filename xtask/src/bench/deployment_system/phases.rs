//! What is done to the deployment system, and how long it takes.

use std::{
    collections::BTreeMap,
    ops::Range,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, ensure};
use bytes::Bytes;
use http::Method;
use serde_json::Value;

use super::{
    super::{
        board::Board,
        engine::phases::{send, send_all},
        objects::{OURS, until_ready},
    },
    fixture,
};
use crate::wire::{Connection, Endpoint};

/// Watches of what is waited for.
pub(super) struct Boards {
    pub(super) deployments: Board,
    pub(super) endpoints: Board,
    pub(super) releases: Board,
}

impl Boards {
    pub(super) async fn open(endpoint: &Endpoint) -> Result<Self> {
        let board = async |plural: &str| Board::open(endpoint, &format!("{OURS}/{plural}")).await;
        Ok(Self {
            deployments: board("deployments").await?,
            endpoints: board("endpoints").await?,
            releases: board("releases").await?,
        })
    }
}

/// Makes the projects and the group.
pub(super) async fn begin(endpoint: &Endpoint, projects: usize) -> Result<()> {
    send_all(endpoint, projects, |index| vec![fixture::project(index)]).await?;
    let mut connection = endpoint.connect().await?;
    for index in 0..projects {
        let path = fixture::project_path(index);
        until_ready(&mut connection, &path).await?;
    }
    send(&mut connection, fixture::group()).await?;
    let group = format!("{OURS}/configurationgroups/{}", fixture::GROUP);
    until_ready(&mut connection, &group).await
}

/// Creates Deployments with all they need, and waits until they and their endpoints are Ready. The first so many use the
/// group.
pub(super) async fn deploy(
    endpoint: &Endpoint,
    boards: &mut Boards,
    which: Range<usize>,
    projects: usize,
    users: usize,
) -> Result<Duration> {
    let began = Instant::now();
    send_all(endpoint, which.len(), |index| {
        let index = which.start + index;
        fixture::deployment(index, projects, index < users)
    })
    .await?;
    let end = which.end;
    boards
        .deployments
        .until("all Deployments are Ready", |board| {
            board.count(|state| state.is_ready) >= end
        })
        .await?;
    boards
        .endpoints
        .until("all Endpoints are Ready", |board| {
            board.count(|state| state.is_ready) >= 2 * end
        })
        .await?;
    Ok(began.elapsed())
}

/// The revision of every Release, by name.
async fn revisions(connection: &mut Connection) -> Result<BTreeMap<String, String>> {
    let path = format!("{OURS}/releases");
    let answer = connection
        .send(Method::GET, &path, &[], Bytes::new())
        .await?;
    ensure!(answer.status == 200, "list releases: {}", answer.status);
    let list: Value = serde_json::from_slice(&answer.body)?;
    let items = list["items"].as_array().context("no items")?;
    let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let of = |release: &Value| {
        let metadata = &release["metadata"];
        (word(&metadata["name"]), word(&metadata["resourceVersion"]))
    };
    Ok(items.iter().map(of).collect())
}

/// What a change of the group came to.
pub(super) struct Rolled {
    /// Until every Deployment that uses it says that it runs with the other value.
    pub(super) took: Duration,
    /// How many other Releases were written.
    pub(super) touched: usize,
}

/// Edits the group, and waits until those that use it are rolled and well.
pub(super) async fn edit_group(
    endpoint: &Endpoint,
    boards: &mut Boards,
    users: usize,
) -> Result<Rolled> {
    let mut connection = endpoint.connect().await?;
    let before = revisions(&mut connection).await?;
    let generations: Vec<i64> = (0..users)
        .map(|index| {
            let state = boards.releases.state(&fixture::release(index));
            state.map_or(0, |state| state.generation)
        })
        .collect();
    let began = Instant::now();
    send(&mut connection, fixture::edit("redis.elsewhere")).await?;
    boards
        .releases
        .until("all that use the group are rolled", |board| {
            generations.iter().enumerate().all(|(index, generation)| {
                let state = board.state(&fixture::release(index));
                state.is_some_and(|state| state.generation > *generation && state.is_ready)
            })
        })
        .await?;
    boards
        .deployments
        .until("all of them are Ready again", |board| {
            (0..users).all(|index| {
                let state = board.state(&fixture::name(index));
                state.is_some_and(|state| state.is_ready)
            })
        })
        .await?;
    let took = began.elapsed();
    let after = revisions(&mut connection).await?;
    let is_users = |name: &String| (0..users).any(|index| *name == fixture::release(index));
    let touched = after
        .iter()
        .filter(|(name, revision)| !is_users(name) && before.get(*name) != Some(revision))
        .count();
    Ok(Rolled { took, touched })
}

/// Deletes the Deployments, and waits until they, their Endpoints and Releases are gone.
pub(super) async fn delete(
    endpoint: &Endpoint,
    boards: &mut Boards,
    count: usize,
) -> Result<Duration> {
    let began = Instant::now();
    send_all(endpoint, count, |index| vec![fixture::deletion(index)]).await?;
    for (what, board) in [
        ("Deployments", &mut boards.deployments),
        ("Endpoints", &mut boards.endpoints),
        ("Releases", &mut boards.releases),
    ] {
        let what = format!("all {what} are gone");
        board
            .until(&what, |board| board.count(|_| true) == 0)
            .await?;
    }
    Ok(began.elapsed())
}
