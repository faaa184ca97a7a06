//! Starts that cannot succeed: each says what, why and what next, and harms nothing.

use std::{fs, net::TcpListener, path::Path};

use tempfile::tempdir;

use crate::{
    instance::Instance,
    quad::{Finished, quad},
};

fn failed(finished: &Finished, parts: &[&str]) {
    assert_eq!(finished.code, Some(1), "{finished:?}");
    assert!(finished.err.starts_with("✖ "), "{}", finished.err);
    assert!(!finished.err.contains('\u{1b}'), "{:?}", finished.err);
    assert!(finished.out.is_empty(), "{}", finished.out);
    for part in parts {
        assert!(
            finished.err.contains(part),
            "{part:?} is missing:\n{}",
            finished.err
        );
    }
}

fn up(home: &Path, folder: &Path, more: &[&str]) -> Finished {
    let mut arguments = vec!["up", "--data-dir", folder.to_str().unwrap()];
    if !more.contains(&"--port") {
        arguments.extend(["--port", "0"]);
    }
    arguments.extend(more);
    quad(home, &arguments)
}

#[test]
fn a_used_port_is_named_with_a_way_out() {
    let home = tempdir().unwrap();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let refused = up(home.path(), &home.path().join("data"), &["--port", &port]);
    failed(
        &refused,
        &[&format!("port {port} is in use"), "quad up --port 0"],
    );
}

#[test]
fn a_folder_that_cannot_be_made_is_named() {
    let home = tempdir().unwrap();
    let file = home.path().join("file");
    fs::write(&file, "keep me").unwrap();
    let refused = up(home.path(), &file.join("data"), &[]);
    failed(
        &refused,
        &[
            "file/data cannot be used as data folder",
            "--data-dir FOLDER",
        ],
    );
    assert_eq!(fs::read_to_string(&file).unwrap(), "keep me");
}

#[test]
fn a_running_twin_is_named_and_not_disturbed() {
    let home = tempdir().unwrap();
    let twin = Instance::start_on_data(home.path());
    let refused = up(home.path(), &home.path().join("data"), &[]);
    let pid = format!("in use by process {}", twin.ready["pid"]);
    failed(&refused, &[&pid, twin.text("url"), "quad down --data-dir"]);
    let still = quad(
        home.path(),
        &[
            "down",
            "--data-dir",
            home.path().join("data").to_str().unwrap(),
        ],
    );
    assert_eq!(still.code, Some(0), "{}", still.err);
}

#[test]
fn a_damaged_data_file_is_named_and_left_untouched() {
    let home = tempdir().unwrap();
    let folder = home.path().join("data");
    fs::create_dir(&folder).unwrap();
    let file = folder.join("store.redb");
    let rubbish = vec![7_u8; 64 * 1024];
    fs::write(&file, &rubbish).unwrap();
    let refused = up(home.path(), &folder, &[]);
    failed(
        &refused,
        &["store.redb is damaged", "left untouched", "mv "],
    );
    assert_eq!(fs::read(&file).unwrap(), rubbish);
}

#[test]
fn a_damaged_key_is_named_and_left_untouched() {
    let home = tempdir().unwrap();
    let folder = home.path().join("data");
    fs::create_dir_all(folder.join("pki")).unwrap();
    let key = folder.join("pki/service-account.key");
    fs::write(&key, "not a key").unwrap();
    let refused = up(home.path(), &folder, &[]);
    failed(&refused, &["service-account.key is damaged", "mv "]);
    assert_eq!(fs::read_to_string(&key).unwrap(), "not a key");
}

#[test]
fn a_kubeconfig_with_other_clusters_is_left_as_it_is() {
    let home = tempdir().unwrap();
    let config = home.path().join("config");
    let text = "apiVersion: v1\nkind: Config\nclusters: [{name: work}]\n";
    fs::write(&config, text).unwrap();
    let folder = home.path().join("data");
    let refused = up(
        home.path(),
        &folder,
        &["--kubeconfig-out", config.to_str().unwrap()],
    );
    failed(
        &refused,
        &[
            "holds other clusters and was left as it is",
            "--kubeconfig-out FILE",
        ],
    );
    assert_eq!(fs::read_to_string(&config).unwrap(), text);
    assert!(
        !fs::exists(&folder).unwrap(),
        "something was made before refusing"
    );
}

#[test]
fn without_a_home_a_folder_must_be_named() {
    let home = tempdir().unwrap();
    let mut command = crate::quad::command(home.path());
    let refused = crate::quad::finish(command.env_remove("HOME").args(["up", "--port", "0"]));
    failed(
        &refused,
        &[
            "neither XDG_STATE_HOME nor HOME is set",
            "--data-dir FOLDER",
        ],
    );
}
