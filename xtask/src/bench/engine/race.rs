//! The engine and a bare client take turns at the same writes: how fast a server is changes from minute to minute, for
//! both alike.

use std::time::Duration;

use anyhow::Result;
use serde_json::Value;

use super::{
    super::{board::Board, numbers::per_second},
    fixture, phases,
};
use crate::wire::Endpoint;

/// How often each has its turn.
const TURNS: usize = 5;

/// How fast both were, in releases per second.
pub(super) struct Race {
    bare: Vec<f64>,
    engine: Vec<f64>,
    /// What all turns of the engine took together.
    pub(super) took: Duration,
}

impl Race {
    /// Lets them make all releases but the first, which is there; `status` is what the engine writes about one.
    pub(super) async fn run(
        endpoint: &Endpoint,
        board: &mut Board,
        releases: usize,
        status: &Value,
    ) -> Result<Self> {
        // Somebody looks on at the bare client's releases as well.
        let looking_on = Board::open(endpoint, &fixture::releases(fixture::LIMIT)).await?;
        let watches = phases::Watches::open(endpoint).await?;
        let mut race = Self {
            bare: Vec::new(),
            engine: Vec::new(),
            took: Duration::ZERO,
        };
        for turn in 0..TURNS {
            let at = |turn: usize| 1 + (releases - 1) * turn / TURNS;
            let (from, to) = (at(turn), at(turn + 1));
            let took = phases::bare(endpoint, from, to, status).await?;
            race.bare.push(per_second(to - from, took));
            let took = phases::create(endpoint, board, from, to).await?;
            race.engine.push(per_second(to - from, took));
            race.took += took;
        }
        drop((looking_on, watches));
        Ok(race)
    }

    /// How fast the bare client was, the middle of its turns.
    pub(super) fn bare(&self) -> f64 {
        median(&self.bare)
    }

    /// How fast the engine was, the middle of its turns.
    pub(super) fn engine(&self) -> f64 {
        median(&self.engine)
    }

    /// The engine to the bare client just before it, the middle of all turns: those two had the same weather.
    pub(super) fn ratio(&self) -> f64 {
        median(&self.ratios())
    }

    /// The same in each turn, in words.
    pub(super) fn turns(&self) -> String {
        let turns = self.ratios().into_iter();
        turns
            .map(|ratio| format!("{ratio:.2}"))
            .collect::<Vec<_>>()
            .join(", ")
    }

    fn ratios(&self) -> Vec<f64> {
        let turns = self.engine.iter().zip(&self.bare);
        turns.map(|(engine, bare)| engine / bare).collect()
    }
}

fn median(of: &[f64]) -> f64 {
    let mut of = of.to_vec();
    of.sort_by(f64::total_cmp);
    of[of.len() / 2]
}
