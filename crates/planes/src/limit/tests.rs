//! Tests of [`super`].

use futures::FutureExt as _;
use proptest::prelude::*;

use super::*;

const QUICK: Outcome = Outcome::Done {
    latency: Duration::from_millis(10),
};
const SLOW: Outcome = Outcome::Done {
    latency: Duration::from_secs(2),
};
const THROTTLED: Outcome = Outcome::Throttled { retry_after: None };

/// The limit after so many outcomes, all of saturated calls.
fn after(outcomes: &[(Outcome, usize)]) -> usize {
    let outcomes = outcomes
        .iter()
        .flat_map(|(outcome, count)| std::iter::repeat_n(*outcome, *count));
    outcomes
        .fold(Pace::default(), |pace, outcome| pace.next(outcome, true))
        .limit()
}

#[test]
fn the_pace_follows_the_plane() {
    for (outcomes, limit) in [
        (&[][..], 16),
        // A round of good answers earns one more.
        (&[(QUICK, 17)], 17),
        (&[(QUICK, 10_000)], 64),
        (&[(THROTTLED, 1)], 8),
        (&[(Outcome::Fault, 1)], 8),
        // All that were under way fail together: one cut.
        (&[(THROTTLED, 16)], 8),
        (&[(THROTTLED, 17)], 4),
        (&[(THROTTLED, 10_000)], 1),
        // Much slower than it was: a small cut.
        (&[(QUICK, 1), (SLOW, 1)], 12),
        // Slow from the start is how it is.
        (&[(SLOW, 17)], 17),
        // Slow for long becomes how it is.
        (&[(QUICK, 1), (SLOW, 5_000)], 64),
        (&[(THROTTLED, 10_000), (QUICK, 10_000)], 64),
    ] {
        assert_eq!(after(outcomes), limit, "{outcomes:?}");
    }
}

#[test]
fn an_idle_plane_earns_no_more() {
    let pace = (0..1000).fold(Pace::default(), |pace, _| pace.next(QUICK, false));
    assert_eq!(pace.limit(), 16);
}

fn outcomes() -> impl Strategy<Value = Vec<(Outcome, bool)>> {
    let outcome = prop_oneof![
        (0_u64..10_000_000).prop_map(|micros| Outcome::Done {
            latency: Duration::from_micros(micros)
        }),
        Just(Outcome::Done {
            latency: Duration::MAX / 64
        }),
        Just(THROTTLED),
        Just(Outcome::Fault),
    ];
    prop::collection::vec((outcome, any::<bool>()), 0..500)
}

proptest! {
    #[test]
    fn the_pace_stays_within_its_bounds_and_recovers(outcomes in outcomes()) {
        let mut pace = Pace::default();
        for (outcome, saturated) in outcomes {
            pace = pace.next(outcome, saturated);
            prop_assert!((Pace::LEAST..=Pace::MOST).contains(&pace.limit()));
        }
        for _ in 0..10_000 {
            pace = pace.next(QUICK, true);
        }
        prop_assert_eq!(pace.limit(), Pace::MOST);
    }
}

/// A limiter that lets two calls through.
fn of_two() -> Limiter {
    let mut pace = Pace::default();
    while pace.limit() > 2 {
        pace = pace.next(THROTTLED, true);
    }
    Limiter::new(pace)
}

#[tokio::test]
async fn turns_come_in_the_order_of_asking() {
    let limiter = of_two();
    let (first, _second) = (limiter.acquire().await, limiter.acquire().await);
    let mut third = Box::pin(limiter.acquire());
    let mut fourth = Box::pin(limiter.acquire());
    assert!((&mut third).now_or_never().is_none());
    assert!((&mut fourth).now_or_never().is_none());
    first.finish(QUICK);
    assert!(
        (&mut fourth).now_or_never().is_none(),
        "the third was first"
    );
    let third = third.await;
    drop(third);
    fourth.await;
}

#[tokio::test]
async fn who_gives_up_leaves_its_turn_to_the_next() {
    let limiter = of_two();
    let (first, _second) = (limiter.acquire().await, limiter.acquire().await);
    let mut third = Box::pin(limiter.acquire());
    assert!((&mut third).now_or_never().is_none());
    let fourth = limiter.acquire();
    drop(third);
    drop(first);
    fourth.await;
}

#[tokio::test]
async fn a_cut_takes_effect_as_calls_end() {
    let limiter = Limiter::default();
    let mut permits = Vec::new();
    for _ in 0..16 {
        permits.push(limiter.acquire().await);
    }
    permits.pop().unwrap().finish(THROTTLED);
    assert_eq!(limiter.limit(), 8);
    while permits.len() > 8 {
        assert!(
            limiter.acquire().now_or_never().is_none(),
            "{} under way",
            permits.len()
        );
        drop(permits.pop());
    }
    assert!(limiter.acquire().now_or_never().is_none(), "8 under way");
    drop(permits.pop());
    assert!(limiter.acquire().now_or_never().is_some());
}

#[tokio::test]
async fn more_turns_are_there_as_soon_as_they_are_earned() {
    let limiter = Limiter::default();
    let mut permits = Vec::new();
    for _ in 0..16 {
        permits.push(limiter.acquire().await);
    }
    // Only the call that took the last turn was held back by their number.
    while limiter.limit() == 16 {
        permits.pop().unwrap().finish(QUICK);
        permits.push(limiter.acquire().await);
    }
    assert_eq!(permits.len(), 16);
    assert!(limiter.acquire().now_or_never().is_some());
}

#[tokio::test(start_paused = true)]
async fn a_plane_that_asks_for_a_pause_gets_it_but_no_longer_than_a_minute() {
    let limiter = of_two();
    for (asked, given) in [(3, 3), (1_000_000, 60)] {
        let before = Instant::now();
        let retry_after = Some(Duration::from_secs(asked));
        let permit = limiter.acquire().await;
        permit.finish(Outcome::Throttled { retry_after });
        limiter.acquire().await.finish(QUICK);
        assert_eq!(before.elapsed().as_secs(), given);
    }
}

proptest! {
    #[test]
    fn there_are_never_more_calls_than_the_limit_allows(
        steps in prop::collection::vec((any::<bool>(), outcomes()), 0..20)
    ) {
        let limiter = Limiter::default();
        let mut under_way = Vec::new();
        let mut allowed = limiter.limit();
        for (take, outcomes) in steps {
            for (outcome, ask) in outcomes {
                if take || ask {
                    if let Some(permit) = limiter.acquire().now_or_never() {
                        under_way.push(permit);
                        prop_assert!(under_way.len() <= limiter.limit(), "more than allowed now");
                    }
                } else if let Some(permit) = under_way.pop() {
                    permit.finish(outcome);
                }
                allowed = allowed.max(limiter.limit());
                prop_assert!(under_way.len() <= allowed);
            }
        }
        under_way.clear();
        while let Some(permit) = limiter.acquire().now_or_never() {
            under_way.push(permit);
        }
        prop_assert_eq!(under_way.len(), limiter.limit());
    }
}
