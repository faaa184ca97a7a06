//! Tests of [`super`].

use proptest::prelude::*;

use super::*;

const HALF: f64 = 0.0;
const FULL: f64 = 1.0;

fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// A breaker after so many faults in a row.
fn after_faults(count: u32, now: Instant) -> Breaker {
    let mut breaker = Breaker::new(BreakerSettings::default());
    for _ in 0..count {
        breaker.failed(Pass::Normal, Fault::Plane, now, FULL);
    }
    breaker
}

#[test]
fn it_opens_after_enough_faults_in_a_row() {
    let now = Instant::now();
    let mut breaker = after_faults(4, now);
    assert_eq!(breaker.admit(now), Ok(Pass::Normal));
    breaker.failed(Pass::Normal, Fault::Plane, now, FULL);
    assert_eq!(breaker.admit(now), Err(millis(500)));
    assert_eq!(breaker.admit(now + millis(499)), Err(millis(1)));
}

#[test]
fn a_success_between_faults_starts_the_count_anew() {
    let now = Instant::now();
    let mut breaker = after_faults(4, now);
    breaker.succeeded();
    for _ in 0..4 {
        breaker.failed(Pass::Normal, Fault::Plane, now, FULL);
    }
    assert!(breaker.is_closed());
}

#[test]
fn refused_credentials_open_it_at_once() {
    let now = Instant::now();
    let mut breaker = Breaker::new(BreakerSettings::default());
    breaker.failed(Pass::Normal, Fault::Credentials, now, HALF);
    assert_eq!(breaker.admit(now), Err(millis(250)));
}

#[test]
fn one_probe_finds_out_whether_the_plane_is_back() {
    let now = Instant::now();
    let mut breaker = after_faults(5, now);
    let later = now + millis(500);
    assert_eq!(breaker.admit(later), Ok(Pass::Probe));
    assert!(breaker.admit(later).is_err(), "one is enough");
    breaker.succeeded();
    assert_eq!(breaker.admit(later), Ok(Pass::Normal));
}

#[test]
fn each_failed_probe_doubles_the_pause_up_to_the_longest() {
    let mut now = Instant::now();
    let mut breaker = after_faults(5, now);
    for expected in [
        500, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000,
    ] {
        assert_eq!(breaker.admit(now), Err(millis(expected)));
        now += millis(expected);
        assert_eq!(breaker.admit(now), Ok(Pass::Probe));
        breaker.failed(Pass::Probe, Fault::Plane, now, FULL);
    }
}

#[test]
fn calls_from_before_it_opened_change_nothing() {
    let now = Instant::now();
    let mut breaker = after_faults(5, now);
    let open = breaker;
    breaker.failed(Pass::Normal, Fault::Credentials, now + millis(400), FULL);
    assert_eq!(breaker, open);
    assert_eq!(breaker.admit(now + millis(500)), Ok(Pass::Probe));
    let half_open = breaker;
    breaker.failed(Pass::Normal, Fault::Plane, now + millis(600), FULL);
    breaker.abandoned(Pass::Normal, now + millis(600));
    assert_eq!(breaker, half_open);
}

#[test]
fn an_abandoned_probe_leaves_the_next_one_its_turn() {
    let now = Instant::now();
    let mut breaker = after_faults(5, now);
    let later = now + millis(500);
    assert_eq!(breaker.admit(later), Ok(Pass::Probe));
    breaker.abandoned(Pass::Probe, later);
    assert_eq!(breaker.admit(later), Ok(Pass::Probe));
    breaker.failed(Pass::Probe, Fault::Plane, later, FULL);
    assert_eq!(breaker.admit(later), Err(millis(1_000)));
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Ask,
    Succeed,
    Fail(bool, bool),
    Abandon,
    Wait(u64),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        Just(Step::Ask),
        Just(Step::Succeed),
        (any::<bool>(), any::<bool>()).prop_map(|(probe, login)| Step::Fail(probe, login)),
        Just(Step::Abandon),
        (0_u64..70_000).prop_map(Step::Wait),
    ];
    prop::collection::vec(step, 0..60)
}

proptest! {
    #[test]
    fn whatever_happens_it_never_stays_shut_longer_than_the_longest_pause(
        steps in steps(),
        chance in 0.0_f64..=1.0,
    ) {
        let mut now = Instant::now();
        let mut breaker = Breaker::new(BreakerSettings::default());
        let mut probe = false;
        for step in steps {
            match step {
                Step::Ask => match breaker.admit(now) {
                    Ok(pass) => {
                        prop_assert!(pass == Pass::Normal || !probe, "two probes at once");
                        probe |= pass == Pass::Probe;
                    }
                    Err(wait) => prop_assert!(wait <= Duration::from_mins(1)),
                },
                Step::Succeed => {
                    breaker.succeeded();
                    probe = false;
                    prop_assert!(breaker.is_closed());
                }
                Step::Fail(is_probe, login) => {
                    let pass = if is_probe && probe { Pass::Probe } else { Pass::Normal };
                    let fault = if login { Fault::Credentials } else { Fault::Plane };
                    breaker.failed(pass, fault, now, chance);
                    probe &= pass != Pass::Probe;
                }
                Step::Abandon => {
                    if probe {
                        breaker.abandoned(Pass::Probe, now);
                    }
                    probe = false;
                }
                Step::Wait(wait) => now += millis(wait),
            }
        }
        if probe {
            breaker.abandoned(Pass::Probe, now);
        }
        prop_assert!(breaker.admit(now + Duration::from_mins(1)).is_ok());
    }
}
