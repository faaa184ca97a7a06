//! Conditions of a status: one of each type, in the order in which they came.

use serde_json::{Value, json};

/// Sets a condition; its time changes only with its status. Says whether anything changed.
pub fn set(status: &mut Value, mut condition: Value, now: &str) -> bool {
    if !status["conditions"].is_array() {
        status["conditions"] = json!([]);
    }
    let Some(conditions) = status["conditions"].as_array_mut() else {
        return false;
    };
    condition["lastTransitionTime"] = json!(now);
    let mut known = conditions.iter_mut();
    let Some(known) = known.find(|known| known["type"] == condition["type"]) else {
        conditions.push(condition);
        return true;
    };
    if known["status"] == condition["status"] && !known["lastTransitionTime"].is_null() {
        condition["lastTransitionTime"] = known["lastTransitionTime"].clone();
    }
    let has_changed = *known != condition;
    *known = condition;
    has_changed
}

/// The condition of a type, if a status has it.
pub fn find<'a>(status: &'a Value, kind: &str) -> Option<&'a Value> {
    let mut conditions = status["conditions"].as_array()?.iter();
    conditions.find(|condition| condition["type"] == kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ready(status: &str, reason: &str) -> Value {
        json!({ "type": "Ready", "status": status, "reason": reason })
    }

    #[test]
    fn the_time_of_a_condition_is_that_of_its_last_turn() {
        let mut status = json!({});
        let time = |status: &Value| find(status, "Ready").unwrap()["lastTransitionTime"].clone();
        assert!(set(&mut status, ready("False", "Starts"), "1"));
        assert!(set(
            &mut status,
            json!({ "type": "Other", "status": "True" }),
            "2"
        ));
        assert!(!set(&mut status, ready("False", "Starts"), "3"));
        assert!(set(&mut status, ready("False", "Waits"), "4"));
        assert_eq!(time(&status), "1");
        assert!(set(&mut status, ready("True", "Runs"), "5"));
        assert_eq!(time(&status), "5");
        assert_eq!(status["conditions"][0]["reason"], "Runs", "where it was");
        assert_eq!(find(&status, "None"), None);
    }
}
