//! What a Deployment does next with its ReplicaSets. Pure: numbers in, numbers out.

use serde_json::Value;

use crate::read::{self, int, share, text};

pub(super) const REVISION: &str = "deployment.kubernetes.io/revision";
pub(super) const DESIRED: &str = "deployment.kubernetes.io/desired-replicas";
pub(super) const MOST: &str = "deployment.kubernetes.io/max-replicas";

/// How many pods there shall be, and how far that may be missed for a while.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Wanted {
    pub(super) replicas: i64,
    /// How many there may be above.
    pub(super) surge: i64,
    /// How many may be unavailable.
    pub(super) unavailable: i64,
    pub(super) is_rolling: bool,
}

impl Wanted {
    pub(super) fn of(deployment: &Value) -> Self {
        let replicas = read::replicas(deployment);
        let strategy = &deployment["spec"]["strategy"];
        let is_rolling = strategy["type"] != "Recreate";
        let rolling = &strategy["rollingUpdate"];
        let (mut surge, mut unavailable) = (0, 0);
        if is_rolling {
            surge = share(&rolling["maxSurge"], replicas, true);
            unavailable = share(&rolling["maxUnavailable"], replicas, false);
            if surge == 0 && unavailable == 0 {
                // Neither above nor below: nothing could ever move.
                unavailable = 1;
            }
        }
        Self {
            replicas,
            surge,
            unavailable: unavailable.min(replicas),
            is_rolling,
        }
    }

    /// The most pods there may be.
    pub(super) fn most(self) -> i64 {
        self.replicas + self.surge
    }
}

/// A ReplicaSet's numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Set {
    pub(super) name: String,
    /// As asked for.
    pub(super) replicas: i64,
    /// As there are.
    pub(super) actual: i64,
    pub(super) available: i64,
    /// What the deployment wanted when it last scaled the set, and the most there might be then.
    pub(super) desired: Option<i64>,
    pub(super) most: Option<i64>,
    pub(super) revision: i64,
}

impl Set {
    pub(super) fn of(set: &Value) -> Self {
        let annotation = |name: &str| text(&set["metadata"]["annotations"][name]).parse().ok();
        Self {
            name: read::name(set).to_owned(),
            replicas: read::replicas(set),
            actual: int(&set["status"]["replicas"]),
            available: int(&set["status"]["availableReplicas"]),
            desired: annotation(DESIRED),
            most: annotation(MOST),
            revision: annotation(REVISION).unwrap_or(0),
        }
    }
}

/// A set's new number of replicas.
pub(super) type Scale = (String, i64);

/// How many replicas the new set gets, given all sets.
pub(super) fn new_replicas(wanted: Wanted, new: i64, total: i64) -> i64 {
    if !wanted.is_rolling {
        return wanted.replicas;
    }
    if total >= wanted.most() {
        return new;
    }
    new + (wanted.most() - total).min(wanted.replicas - new)
}

/// The next step of a rolling update: the new set grows, else old ones shrink. `old` is sorted by age.
pub(super) fn roll(wanted: Wanted, new: &Set, old: &[Set]) -> Vec<Scale> {
    let old_total: i64 = old.iter().map(|set| set.replicas).sum();
    let target = if new.replicas >= wanted.replicas {
        wanted.replicas
    } else {
        new_replicas(wanted, new.replicas, old_total + new.replicas)
    };
    if target != new.replicas {
        return vec![(new.name.clone(), target)];
    }
    shrink(wanted, new, old, old_total)
}

/// Old sets shrink: first by pods that don't work anyway, then as far as enough pods stay available.
fn shrink(wanted: Wanted, new: &Set, old: &[Set], old_total: i64) -> Vec<Scale> {
    let least = wanted.replicas - wanted.unavailable;
    let new_unavailable = new.replicas - new.available;
    let most = old_total + new.replicas - least - new_unavailable;
    if old_total == 0 || most <= 0 {
        return Vec::new();
    }
    let mut sizes: Vec<i64> = old.iter().map(|set| set.replicas).collect();
    let mut cleaned = 0;
    for (size, set) in sizes.iter_mut().zip(old) {
        if cleaned >= most {
            break;
        }
        if *size == 0 || set.available >= set.replicas {
            continue;
        }
        let by = (most - cleaned).min(set.replicas - set.available);
        *size -= by;
        cleaned += by;
    }
    let available: i64 = old.iter().map(|set| set.available).sum::<i64>() + new.available;
    let mut spare = available - least;
    for size in &mut sizes {
        if spare <= 0 {
            break;
        }
        let by = (*size).min(spare);
        *size -= by;
        spare -= by;
    }
    changes(old, &sizes)
}

fn changes(sets: &[Set], sizes: &[i64]) -> Vec<Scale> {
    sets.iter()
        .zip(sizes)
        .filter(|(set, size)| set.replicas != **size)
        .map(|(set, size)| (set.name.clone(), *size))
        .collect()
}

/// Whether the deployment was scaled since its sets were.
pub(super) fn is_scaling(wanted: Wanted, sets: &[Set]) -> bool {
    sets.iter()
        .filter(|set| set.replicas > 0)
        .filter_map(|set| set.desired)
        .any(|desired| desired != wanted.replicas)
}

/// Scales outside a rollout, or in the middle of one: in proportion. `old` is sorted by age. The flag says that sets
/// are written even if only what they remember of the deployment changes.
pub(super) fn scale(
    wanted: Wanted,
    current: i64,
    new: Option<&Set>,
    old: &[Set],
) -> (Vec<Scale>, bool) {
    let active: Vec<&Set> = old
        .iter()
        .rev()
        .chain(new)
        .filter(|set| set.replicas > 0)
        .collect();
    let only = match active.as_slice() {
        [] => new.or(old.last()),
        [only] => Some(*only),
        _ => None,
    };
    if let Some(set) = only {
        return (vec![(set.name.clone(), wanted.replicas)], false);
    }
    if let Some(new) = new.filter(|new| is_saturated(wanted, new)) {
        let rest = active.iter().filter(|set| set.name != new.name);
        return (rest.map(|set| (set.name.clone(), 0)).collect(), false);
    }
    if active.is_empty() || !wanted.is_rolling {
        return (Vec::new(), false);
    }
    (in_proportion(wanted, current, new, old), true)
}

fn is_saturated(wanted: Wanted, set: &Set) -> bool {
    set.replicas == wanted.replicas
        && set.desired == Some(wanted.replicas)
        && set.available == wanted.replicas
}

fn in_proportion(wanted: Wanted, current: i64, new: Option<&Set>, old: &[Set]) -> Vec<Scale> {
    // Oldest first; the new set is the youngest.
    let mut sets: Vec<&Set> = old
        .iter()
        .chain(new)
        .filter(|set| set.replicas > 0)
        .collect();
    let total: i64 = sets.iter().map(|set| set.replicas).sum();
    let allowed = if wanted.replicas > 0 {
        wanted.most()
    } else {
        0
    };
    let to_add = allowed - total;
    // Larger ones first; of equal ones the younger grow first, the older shrink first.
    if to_add > 0 {
        sets.reverse();
    }
    sets.sort_by_key(|set| std::cmp::Reverse(set.replicas));
    let mut sizes = Vec::new();
    let mut added = 0;
    for set in &sets {
        let part = if to_add == 0 || added == to_add {
            0
        } else {
            let fraction = fraction(wanted, current, set);
            let rest = to_add - added;
            if to_add > 0 {
                fraction.min(rest)
            } else {
                fraction.max(rest)
            }
        };
        added += part;
        sizes.push(set.replicas + part);
    }
    if let Some(first) = sizes.first_mut() {
        *first = (*first + to_add - added).max(0);
    }
    sets.iter()
        .zip(sizes)
        .map(|(set, size)| (set.name.clone(), size))
        .collect()
}

fn fraction(wanted: Wanted, current: i64, set: &Set) -> i64 {
    if wanted.replicas == 0 {
        return -set.replicas;
    }
    let before = set.most.filter(|most| *most != 0).unwrap_or(current);
    if before == 0 {
        return 0;
    }
    // Rounded half up: sizes are not negative.
    let size = (2 * set.replicas * wanted.most() + before) / (2 * before);
    size - set.replicas
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn wanted(replicas: i64, surge: i64, unavailable: i64) -> Wanted {
        Wanted {
            replicas,
            surge,
            unavailable,
            is_rolling: true,
        }
    }

    fn set(name: &str, replicas: i64, available: i64) -> Set {
        Set {
            name: name.to_owned(),
            replicas,
            actual: replicas,
            available,
            desired: None,
            most: None,
            revision: 0,
        }
    }

    /// Rolls until nothing moves, with pods that become available at once; the numbers of both sets on the way.
    fn sizes(wanted: Wanted, mut old: Set, mut new: Set) -> Vec<(i64, i64)> {
        let mut seen = Vec::new();
        loop {
            let steps = roll(wanted, &new, std::slice::from_ref(&old));
            let Some((name, to)) = steps.into_iter().next() else {
                return seen;
            };
            let moved = if name == "old" { &mut old } else { &mut new };
            *moved = set(&name, to, to);
            seen.push((old.replicas, new.replicas));
        }
    }

    #[test]
    fn a_roll_that_may_not_lose_pods_goes_one_by_one() {
        let seen = sizes(wanted(3, 1, 0), set("old", 3, 3), set("new", 0, 0));
        assert_eq!(seen, [(3, 1), (2, 1), (2, 2), (1, 2), (1, 3), (0, 3)]);
    }

    #[test]
    fn a_roll_that_may_not_have_more_pods_goes_down_first() {
        let seen = sizes(wanted(2, 0, 1), set("old", 2, 2), set("new", 0, 0));
        assert_eq!(seen, [(1, 0), (1, 1), (0, 1), (0, 2)]);
    }

    #[test]
    fn a_stuck_new_set_keeps_the_old_pods_that_work() {
        let steps = roll(wanted(4, 1, 1), &set("new", 2, 0), &[set("old", 3, 3)]);
        assert!(steps.is_empty(), "{steps:?}");
    }

    #[test]
    fn old_pods_that_do_not_work_go_first() {
        let old = [set("broken", 2, 0), set("fine", 3, 3)];
        let steps = roll(wanted(3, 1, 0), &set("new", 0, 0), &old);
        assert_eq!(steps, [("broken".to_owned(), 0)]);
    }

    #[test]
    fn percentages_round_so_that_something_moves() {
        let rolling = |surge: &str, unavailable: &str| {
            Wanted::of(&json!({ "spec": {
                "replicas": 3,
                "strategy": { "type": "RollingUpdate", "rollingUpdate": {
                    "maxSurge": surge, "maxUnavailable": unavailable,
                }},
            }}))
        };
        assert_eq!(rolling("25%", "25%"), wanted(3, 1, 0));
        assert_eq!(rolling("0%", "0%"), wanted(3, 0, 1));
    }

    #[test]
    fn scaling_in_a_rollout_is_in_proportion() {
        let mut old = set("old", 8, 8);
        let mut new = set("new", 5, 2);
        for set in [&mut old, &mut new] {
            (set.desired, set.most) = (Some(10), Some(13));
        }
        let (scales, always) = scale(wanted(15, 3, 2), 13, Some(&new), &[old]);
        assert!(always);
        assert_eq!(scales, [("old".to_owned(), 11), ("new".to_owned(), 7)]);
    }

    #[test]
    fn the_only_active_set_takes_it_all() {
        let (scales, _) = scale(
            wanted(5, 1, 0),
            3,
            Some(&set("new", 3, 3)),
            &[set("old", 0, 0)],
        );
        assert_eq!(scales, [("new".to_owned(), 5)]);
    }
}
