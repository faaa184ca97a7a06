//! Which specs run beside each other. Most of the time goes into waiting for events that must not come, so the
//! specs that wait longest have lanes of their own. All keep to namespaces and groups of their own.

/// Words in the names of the specs of each lane; the last lane takes all that are in no other.
const LANES: [&[&str]; 3] = [
    &["CustomResourceDefinition Watch"],
    &["ValidatingAdmissionPolicy"],
    &[
        "Watchers",
        "Namespaces",
        "Garbage collector",
        "FieldValidation",
    ],
];

/// Divides specs among the lanes; none is empty.
pub(super) fn divide(specs: &[String]) -> Vec<Vec<&str>> {
    let mut lanes = vec![Vec::new(); LANES.len() + 1];
    for spec in specs {
        let belongs = |words: &&[&str]| words.iter().any(|word| spec.contains(word));
        let lane = LANES.iter().position(belongs);
        lanes[lane.unwrap_or(LANES.len())].push(spec.as_str());
    }
    lanes.retain(|lane| !lane.is_empty());
    lanes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spec_is_in_one_lane() {
        let specs = ["a Watchers one", "something else", "another"].map(str::to_owned);
        assert_eq!(
            divide(&specs),
            [vec!["a Watchers one"], vec!["something else", "another"]]
        );
    }
}
