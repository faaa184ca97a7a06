//! Where settings go, and under which names.

use std::sync::LazyLock;

use quadrille_types::workload::{Setting, SettingFile};

use super::*;

fn secret(name: &str, key: &str) -> Source {
    Source::Secret(KeyRef {
        name: name.to_owned(),
        key: key.to_owned(),
    })
}

static REFERENCES: LazyLock<BTreeMap<String, SecretReferenceSpec>> = LazyLock::new(|| {
    let spec = json!({ "template": {}, "data": [
        { "secretKey": "token", "remoteRef": { "key": "github-pat" } },
        { "secretKey": "key", "remoteRef": { "key": "tls", "property": "key.pem" } },
    ]});
    [("github".to_owned(), serde_json::from_value(spec).unwrap())].into()
});

fn container(env: Vec<(&str, Source)>, files: Vec<(&str, Source)>) -> ResolvedContainer {
    ResolvedContainer {
        image: "i".to_owned(),
        command: vec![],
        args: vec![],
        env: env
            .into_iter()
            .map(|(key, source)| Setting {
                key: key.to_owned(),
                source,
            })
            .collect(),
        files: files
            .into_iter()
            .map(|(key, source)| SettingFile {
                key: key.to_owned(),
                mount_path: "/etc/app/".to_owned(),
                source,
            })
            .collect(),
    }
}

const STORE: SecretProvider = SecretProvider::ExternalSecrets;

fn sorted(container: &ResolvedContainer) -> Settings<'_> {
    sorted_for(container, STORE)
}

fn sorted_for(container: &ResolvedContainer, provider: SecretProvider) -> Settings<'_> {
    sort(
        container,
        &REFERENCES,
        provider,
        "greeter-service-development".to_owned(),
    )
    .unwrap()
}

#[test]
fn objects_have_the_names_that_others_compute_too() {
    let container = container(
        vec![
            ("LOG_LEVEL", Source::Given("info".to_owned())),
            ("GITHUB_TOKEN", secret("github", "token")),
        ],
        vec![],
    );
    let settings = sorted(&container);
    let derived = settings.derived(SecretProvider::ExternalSecrets);
    assert_eq!(
        derived.env_from,
        [
            json!({ "configMapRef": { "name": "greeter-service-development-env-configs-05db1bbb" } }),
            json!({ "secretRef": { "name": "greeter-service-development-env-secrets-89185774" } }),
        ]
    );
}

#[test]
fn another_way_to_a_secret_is_another_name_whatever_the_order() {
    let named = |env: Vec<(&str, Source)>| sorted(&container(env, vec![])).secret_envs_name();
    let one = named(vec![
        ("A", secret("github", "token")),
        ("B", secret("github", "key")),
    ]);
    let same = named(vec![
        ("B", secret("github", "key")),
        ("A", secret("github", "token")),
    ]);
    let other = named(vec![
        ("A", secret("github", "key")),
        ("B", secret("github", "token")),
    ]);
    assert_eq!(one, same);
    assert_ne!(one, other);
}

#[test]
fn files_are_mounted_one_by_one() {
    let container = container(
        vec![],
        vec![
            ("app.yaml", Source::Given("a: 1".to_owned())),
            ("key.pem", secret("github", "key")),
        ],
    );
    let settings = sorted(&container);
    let derived = settings.derived(SecretProvider::ExternalSecrets);
    let mount = |path: &str, file: &str| {
        let name = format!("file-mount-{}", generate::short_hash(path.as_bytes()));
        json!({ "name": name, "mountPath": path, "subPath": file })
    };
    assert_eq!(
        derived.mounts,
        [
            mount("/etc/app/app.yaml", "app.yaml"),
            mount("/etc/app/key.pem", "key.pem")
        ]
    );
    let names: Vec<_> = derived
        .volumes
        .iter()
        .map(|volume| volume["name"].as_str().unwrap())
        .collect();
    assert!(names.is_sorted() && names.len() == 2, "{names:?}");
}

#[test]
fn a_plane_with_its_own_secrets_gets_no_made_ones() {
    let container = container(
        vec![("TOKEN", secret("github", "token"))],
        vec![("key.pem", secret("github", "key"))],
    );
    let settings = sorted_for(&container, SecretProvider::Native);
    let derived = settings.derived(SecretProvider::Native);
    let remote = settings.secret_envs[0].1.property.as_deref();
    assert_eq!(
        remote,
        Some("token"),
        "a key of a Secret, as the reference calls it"
    );
    assert_eq!(derived.env_from, Vec::<Value>::new());
    assert_eq!(
        derived.volumes[0]["secret"],
        json!({ "secretName": "tls", "items": [{ "key": "key.pem", "path": "key.pem" }] })
    );
}

#[test]
fn a_driver_needs_its_folder_mounted() {
    let container = container(vec![("TOKEN", secret("github", "token"))], vec![]);
    let settings = sorted(&container);
    let derived = settings.derived(SecretProvider::Csi);
    let class = &derived.volumes[0]["csi"]["volumeAttributes"]["secretProviderClass"];
    assert_eq!(
        derived.env_from,
        [json!({ "secretRef": { "name": class } })]
    );
    assert_eq!(derived.mounts[0]["name"], derived.volumes[0]["name"]);
}

#[test]
fn a_key_that_does_not_exist_is_told_with_those_that_do() {
    let wrong = container(vec![("A", secret("github", "tokn"))], vec![]);
    let words = sort(&wrong, &REFERENCES, STORE, String::new())
        .unwrap_err()
        .to_string();
    assert_eq!(
        words,
        r#"key "tokn" not found in SecretReference "github"; available keys: [token, key]"#
    );
    let wrong = container(vec![], vec![("a.txt", secret("gitlab", "x"))]);
    let words = sort(&wrong, &REFERENCES, STORE, String::new())
        .unwrap_err()
        .to_string();
    assert_eq!(
        words,
        r#"SecretReference "gitlab" not found; file a.txt uses it"#
    );
}
