//! What the pods of a cell may use together, as an annotation says it: `cpu=4,memory=8Gi,pods=20`.

use std::collections::BTreeMap;

use quadrille_expr::quantity::Quantity;

/// What a quota can be about, besides what has a group in its name (`count/jobs.batch`, `requests.example.com/gpu`).
const KNOWN: [&str; 18] = [
    "cpu",
    "memory",
    "ephemeral-storage",
    "requests.cpu",
    "requests.memory",
    "requests.storage",
    "requests.ephemeral-storage",
    "limits.cpu",
    "limits.memory",
    "limits.ephemeral-storage",
    "pods",
    "services",
    "services.loadbalancers",
    "services.nodeports",
    "secrets",
    "configmaps",
    "persistentvolumeclaims",
    "replicationcontrollers",
];

/// How much of what, or what is wrong with the text.
pub(super) fn read(text: &str) -> Result<BTreeMap<String, String>, String> {
    let mut hard = BTreeMap::new();
    for part in text.split(',').map(str::trim) {
        let Some((resource, amount)) = part.split_once('=') else {
            return Err(format!(
                "has {part:?}, must be a list such as cpu=4,memory=8Gi,pods=20"
            ));
        };
        let (resource, amount) = (resource.trim(), amount.trim());
        if !KNOWN.contains(&resource) && !has_group(resource) {
            return Err(format!(
                "limits {resource:?}, must be one of {} or a name with a group, such as count/jobs.batch",
                KNOWN.join(", ")
            ));
        }
        let quantity = Quantity::parse(amount).map_err(|_| {
            format!("limits {resource} to {amount:?}, must be an amount such as 4, 500m or 8Gi")
        })?;
        if quantity.is_some_and(|quantity| quantity.nanos() < 0) {
            return Err(format!("limits {resource} to {amount}, less than nothing"));
        }
        if hard
            .insert(resource.to_owned(), amount.to_owned())
            .is_some()
        {
            return Err(format!("limits {resource} twice"));
        }
    }
    Ok(hard)
}

/// Whether a name is of the shape `group/name`.
fn has_group(resource: &str) -> bool {
    let is_part = |part: &str| {
        let inner = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
        let ends = |letter: char| letter.is_ascii_alphanumeric();
        part.chars().all(inner) && part.starts_with(ends) && part.ends_with(ends)
    };
    let parts = resource.split_once('/');
    parts.is_some_and(|(group, name)| is_part(group) && is_part(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_by_resource() {
        let read = read("cpu=4, memory = 8Gi,count/jobs.batch=10").unwrap();
        let expected = [("cpu", "4"), ("memory", "8Gi"), ("count/jobs.batch", "10")];
        let expected = expected.map(|(what, much)| (what.to_owned(), much.to_owned()));
        assert_eq!(read, BTreeMap::from(expected));
    }

    #[test]
    fn what_cannot_be_understood_says_what_could() {
        for (text, words) in [
            ("", "must be a list such as"),
            ("cpu=4,", "must be a list such as"),
            ("cpu 4", "must be a list such as"),
            ("cores=4", "limits \"cores\", must be one of cpu, memory"),
            ("/gpu=1", "must be one of"),
            ("cpu=four", "limits cpu to \"four\", must be an amount"),
            ("memory=", "must be an amount"),
            ("cpu=-1", "less than nothing"),
            ("cpu=1,cpu=2", "limits cpu twice"),
        ] {
            let problem = read(text).unwrap_err();
            assert!(problem.contains(words), "{text:?}: {problem}");
        }
    }
}
