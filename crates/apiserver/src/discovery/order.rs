//! The order of groups and versions: built-in ones by their fixed priority, then custom groups by name.

use std::{cmp::Reverse, sync::Arc};

use crate::resource::{Origin, Resource};

/// A group with its versions, the preferred one first.
#[derive(Debug)]
pub struct Group<'a> {
    /// The group's name; empty for the core group.
    pub name: &'a str,
    /// Its versions in order of preference.
    pub versions: Vec<Version<'a>>,
}

/// A version with its resources.
#[derive(Debug)]
pub struct Version<'a> {
    /// The version's name.
    pub name: &'a str,
    /// Its resources: built-in ones in their fixed order, custom ones by name.
    pub resources: Vec<&'a Arc<Resource>>,
}

/// All groups in the order in which discovery shows them.
pub fn groups(resources: &[Arc<Resource>]) -> Vec<Group<'_>> {
    let is_custom = |resource: &&Arc<Resource>| matches!(resource.origin, Origin::Custom { .. });
    let mut custom: Vec<&Arc<Resource>> = resources.iter().filter(is_custom).collect();
    custom.sort_by_key(|resource| {
        (
            resource.group.as_str(),
            Reverse(version_priority(&resource.version)),
            resource.plural.as_str(),
        )
    });
    let built_in = resources.iter().filter(|resource| !is_custom(resource));
    let mut groups: Vec<Group> = Vec::new();
    for resource in built_in.chain(custom) {
        let group = position_or_push(
            &mut groups,
            |group| group.name == resource.group,
            || Group {
                name: &resource.group,
                versions: Vec::new(),
            },
        );
        let version = position_or_push(
            &mut group.versions,
            |version| version.name == resource.version,
            || Version {
                name: &resource.version,
                resources: Vec::new(),
            },
        );
        version.resources.push(resource);
    }
    groups
}

fn position_or_push<T>(
    list: &mut Vec<T>,
    is_it: impl Fn(&T) -> bool,
    new: impl FnOnce() -> T,
) -> &mut T {
    let at = list.iter().position(is_it).unwrap_or_else(|| {
        list.push(new());
        list.len() - 1
    });
    &mut list[at]
}

/// A key that grows with the priority of a version: `v10` > `v2` > `v2beta1` > `v1alpha1` > `foo`.
pub fn version_priority(version: &str) -> (u8, u64, u64, Reverse<String>) {
    let unknown = || (0, 0, 0, Reverse(version.to_owned()));
    let Some(rest) = version.strip_prefix('v') else {
        return unknown();
    };
    let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (major, rest) = rest.split_at(digits);
    let (stability, minor) = match (rest.strip_prefix("alpha"), rest.strip_prefix("beta")) {
        (Some(minor), _) => (1, minor),
        (_, Some(minor)) => (2, minor),
        _ if rest.is_empty() => (3, "0"),
        _ => return unknown(),
    };
    match (major.parse(), minor.parse()) {
        (Ok(major), Ok(minor)) => (stability, major, minor, Reverse(String::new())),
        _ => unknown(),
    }
}
