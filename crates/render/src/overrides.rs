//! Settings of one environment over those of the workload.

use quadrille_types::{
    release_binding::ResolvedOverrides,
    workload::{ResolvedContainer, Setting, SettingFile},
};

/// Puts the settings of an environment in. One takes the place of another with the same key, as a whole; new ones come
/// after the workload's, in their own order.
pub(crate) fn apply(container: &mut ResolvedContainer, overrides: ResolvedOverrides) {
    merge(&mut container.env, overrides.env, |env: &Setting| &env.key);
    merge(
        &mut container.files,
        overrides.files,
        |file: &SettingFile| &file.key,
    );
}

fn merge<T>(base: &mut Vec<T>, over: Vec<T>, key: impl Fn(&T) -> &String) {
    for entry in over {
        match base.iter_mut().find(|known| key(known) == key(&entry)) {
            Some(known) => *known = entry,
            None => base.push(entry),
        }
    }
}

#[cfg(test)]
mod tests {
    use quadrille_types::workload::Source;

    use super::*;

    #[test]
    fn an_override_takes_its_place_and_a_new_one_comes_last() {
        let env = |key: &str, value: &str| Setting {
            key: key.to_owned(),
            source: Source::Given(value.to_owned()),
        };
        let mut container = ResolvedContainer {
            image: "i".to_owned(),
            command: vec![],
            args: vec![],
            env: vec![env("B", "1"), env("A", "1")],
            files: vec![],
        };
        let overrides = ResolvedOverrides {
            env: vec![env("Z", "2"), env("B", "2"), env("C", "2")],
            files: vec![],
        };
        apply(&mut container, overrides);
        assert_eq!(
            container.env,
            [env("B", "2"), env("A", "1"), env("Z", "2"), env("C", "2")]
        );
    }
}
