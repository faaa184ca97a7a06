//! Rounds: everything is looked at again now and then, although no event came. A look costs no request, so a round costs
//! nothing; and if ever somebody who waits is not woken, that is a delay, and not a standstill.

use std::{
    hash::{DefaultHasher, Hash, Hasher as _},
    sync::Arc,
    time::Duration,
};

use jiff::SignedDuration;

use crate::{queue::Urgency, releases::Context, system};

/// A round is made in so many parts, so that it is felt by nobody.
const PARTS: u64 = 72;
/// The time between two parts: a round takes six hours.
const PAUSE: SignedDuration = SignedDuration::from_mins(5);

/// Makes its rounds for ever.
pub(crate) async fn work(context: Arc<Context>) {
    for part in (0..PARTS).cycle() {
        context.alarms.pass(PAUSE).await;
        look_at_part(&context, part);
    }
}

fn look_at_part(context: &Context, part: u64) {
    let (things, releases) = {
        let world = context.world.look();
        let things = system::wake::everything(&world);
        let releases: Vec<_> = world.releases.keys().cloned().collect();
        (things, releases)
    };
    for thing in things.into_iter().filter(|thing| part_of(thing) == part) {
        context.look_at(thing, Urgency::Background, Duration::ZERO);
    }
    for key in releases.into_iter().filter(|key| part_of(key) == part) {
        context.wake(&key, Urgency::Background);
    }
}

/// Which part something belongs to, in every round.
fn part_of(something: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    something.hash(&mut hasher);
    hasher.finish() % PARTS
}

#[cfg(test)]
mod tests {
    use std::pin::pin;

    use futures::FutureExt as _;
    use quadrille_engine::Fence;
    use quadrille_planes::feed::{News, Told};
    use quadrille_testkit::{Cluster, clock::ManualClock};
    use serde_json::json;

    use super::*;
    use crate::{Without, control::Control, platform::step::Thing};

    fn project(number: usize) -> News {
        News::Changed(Told::from(json!({
            "apiVersion": "openchoreo.dev/v1alpha1", "kind": "Project",
            "metadata": { "name": format!("shop-{number}"), "namespace": "acme" },
            "spec": { "deploymentPipelineRef": "main" },
        })))
    }

    /// Those who are to be looked at now.
    fn looked_at(context: &Context) -> Vec<Thing> {
        let mut things = Vec::new();
        while let Some((lane, thing)) = context.things.next().now_or_never() {
            context.things.done(&lane, &thing);
            things.push(thing);
        }
        things
    }

    #[tokio::test]
    async fn in_a_round_everything_is_looked_at_once_and_never_all_of_it_together() {
        let clock = ManualClock::default();
        let control = Control::new(Cluster::embedded().await.unwrap().client(), Fence::closed());
        let (time, without) = (Arc::new(clock.clone()), Without::default());
        let context = Arc::new(Context::new(control, None, time, without));
        for number in 0..500 {
            context.world.look().shelves.projects.hear(project(number));
        }
        let mut all = context.world.look().shelves.everything();
        let mut rounds = pin!(work(Arc::clone(&context)));
        let mut go_on = || assert!(rounds.as_mut().now_or_never().is_none());
        go_on();
        let mut seen = Vec::new();
        for _ in 0..PARTS {
            assert_eq!(looked_at(&context), [], "too early");
            clock.advance(Duration::try_from(PAUSE).unwrap());
            go_on();
            let part = looked_at(&context);
            assert!(part.len() < all.len() / 10, "{} together", part.len());
            seen.extend(part);
        }
        all.sort();
        seen.sort();
        assert_eq!(seen, all);
    }
}
