//! What to type next, the most pressing first.

use crate::chain::{
    decide::{can_go_back, onward},
    scene::Scene,
    standing::{Health, Standing, running},
};

/// The most that are told.
const MOST: usize = 3;

/// Commands that bring the component on.
pub(super) fn of(scene: &Scene) -> Vec<String> {
    let name = scene.name();
    if scene.older.is_some() {
        return of_older(scene);
    }
    let mut next = Vec::new();
    for binding in &scene.bindings {
        let environment = &binding.spec.environment;
        match Standing::of(binding) {
            Standing::NeedsApproval(_) => {
                next.push(format!("quad approve {name} --env {environment}"));
            }
            Standing::Degraded(_) => {
                if can_go_back(binding) {
                    next.push(format!("quad rollback {name} --env {environment}"));
                }
                next.push(format!("quad describe release {name}-{environment}"));
            }
            _ => {}
        }
    }
    next.extend(promotions(scene));
    if scene.bindings.is_empty() {
        next.push(format!("quad deploy {name}"));
    }
    next.truncate(MOST);
    next
}

/// What is ready, and not yet where the pipeline leads.
fn promotions(scene: &Scene) -> Vec<String> {
    let name = scene.name();
    let mut next = Vec::new();
    for environment in scene.pipeline.environments() {
        let here = scene
            .bindings
            .iter()
            .find(|binding| binding.spec.environment == *environment);
        let Some(runs) = here.and_then(running) else {
            continue;
        };
        if runs.health != Health::Ready {
            continue;
        }
        for step in onward(scene, environment, runs.release) {
            next.push(format!("quad promote {name} --to {}", step.to));
        }
    }
    next
}

/// The verbs that are for components of older kinds, too.
fn of_older(scene: &Scene) -> Vec<String> {
    let name = scene.name();
    let waits = scene
        .bindings
        .iter()
        .filter(|binding| matches!(Standing::of(binding), Standing::NeedsApproval(_)));
    waits
        .map(|binding| format!("quad approve {name} --env {}", binding.spec.environment))
        .chain(promotions(scene))
        .take(MOST)
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::chain::scene::tests::{binding, condition, ready, scene};

    #[test]
    fn the_next_step_is_what_waits_then_what_can_go_on() {
        assert_eq!(of(&scene(vec![])), ["quad deploy cart"]);
        let held = json!({ "conditions": [
            condition("Ready", "False", "ApprovalRequired", ""),
            condition("Admitted", "False", "ApprovalRequired", ""),
        ] });
        let all = scene(vec![
            ready("development", "cart-2"),
            ready("staging", "cart-1"),
            binding("production", "cart-1", &held),
        ]);
        assert_eq!(
            of(&all),
            [
                "quad approve cart --env production",
                "quad promote cart --to staging"
            ]
        );
        let done = scene(vec![
            ready("development", "cart-1"),
            ready("staging", "cart-1"),
            ready("production", "cart-1"),
        ]);
        assert!(of(&done).is_empty());
    }
}
