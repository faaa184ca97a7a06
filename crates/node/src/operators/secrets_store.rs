//! What the Secrets Store CSI driver does: the Secrets that a `SecretProviderClass` is to be mirrored in.
//!
//! The driver makes them when the first pod mounts the class, and takes them away after the last one. Here they are made as
//! soon as the class is there and end with it: no volume is ever mounted, and whoever waits for them can start.

use super::{
    Step,
    kinds::{Kind, World},
    secret::{Asked, Claims},
};
use crate::read::{is_deleting, list, text};

/// Secrets that are not as they are asked for.
pub(super) fn decide(world: &World, claims: &mut Claims) -> Vec<Step> {
    let all = world.all(Kind::SecretProviderClass);
    let living = all.filter(|(_, class)| !is_deleting(class));
    let asked = living.flat_map(|(place, class)| {
        let mirrored = list(&class["spec"]["secretObjects"]).iter();
        mirrored
            .map(|mirror| Asked {
                asker: (Kind::SecretProviderClass, place),
                name: text(&mirror["secretName"]),
                kind: mirror["type"].as_str().unwrap_or("Opaque"),
                keys: list(&mirror["data"])
                    .iter()
                    .map(|entry| text(&entry["key"]))
                    .collect(),
                labels: &mirror["labels"],
                annotations: &mirror["annotations"],
                owner: Some(class),
            })
            .filter(|asked| !asked.name.is_empty())
    });
    asked
        .filter_map(|asked| claims.claim(world, &asked))
        .collect()
}
