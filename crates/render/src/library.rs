//! The component types and traits that we ship: good for a start, and readable as examples.

use quadrille_machinery::decode;
use serde_json::Value;

macro_rules! shipped {
    ($($path:literal),* $(,)?) => {
        /// Every file with its text.
        pub const FILES: &[(&str, &str)] = &[$(($path, include_str!(concat!("../library/", $path)))),*];
    };
}

shipped![
    "types/service.yaml",
    "types/web-application.yaml",
    "types/worker.yaml",
    "types/scheduled-task.yaml",
    "types/manual-task.yaml",
    "types/proxy.yaml",
    "traits/configuration.yaml",
    "traits/autoscaler.yaml",
    "traits/pod-disruption-budget.yaml",
    "traits/persistent-volume.yaml",
    "traits/sidecar.yaml",
    "traits/ingress-policies.yaml",
];

/// The objects, in an order in which they can be applied. They are read as a server reads those of users.
pub fn documents() -> Vec<Value> {
    let read = |(_, text): &(&str, &str)| {
        let read = decode::yaml(text.as_bytes()).expect("tests read every file that is shipped");
        read.value
    };
    FILES.iter().map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Documents, Renderer};

    #[test]
    fn every_shipped_type_and_trait_is_free_of_problems() {
        let renderer = Renderer::new();
        let shipped = Documents::read(documents()).unwrap();
        let mut count = 0;
        for (reference, spec) in shipped.component_types() {
            let checked = renderer.check_component_type(&reference.kind, spec);
            assert!(checked.is_ok(), "{reference:?}:\n{}", checked.unwrap_err());
            count += 1;
        }
        for (reference, spec) in shipped.traits() {
            let checked = renderer.check_trait(spec);
            assert!(checked.is_ok(), "{reference:?}:\n{}", checked.unwrap_err());
            count += 1;
        }
        assert_eq!(count, FILES.len());
    }

    #[test]
    fn nothing_is_said_twice_in_a_shipped_file() {
        for (path, text) in FILES {
            let read = decode::yaml(text.as_bytes()).unwrap();
            assert_eq!(read.duplicates, [], "{path}");
        }
    }

    #[test]
    fn every_file_of_the_library_is_shipped() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("library");
        let mut found = 0;
        for part in ["types", "traits"] {
            for entry in std::fs::read_dir(folder.join(part)).unwrap() {
                let name = format!("{part}/{}", entry.unwrap().file_name().to_string_lossy());
                assert!(FILES.iter().any(|(path, _)| *path == name), "{name}");
                found += 1;
            }
        }
        assert_eq!(found, FILES.len());
    }
}
