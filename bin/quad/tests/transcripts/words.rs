//! What is said: versions, help, completion, and what comes of typing errors.

use std::{
    fs,
    io::{BufRead, BufReader},
    process::Stdio,
};

use serde_json::Value;
use tempfile::tempdir;

use crate::quad::{command, quad};

#[test]
fn the_version_is_told_to_people_and_to_scripts() {
    let home = tempdir().unwrap();
    let text = quad(home.path(), &["version"]);
    assert_eq!(text.code, Some(0));
    assert!(text.out.starts_with("quad 0."), "{}", text.out);
    let json: Value =
        serde_json::from_str(&quad(home.path(), &["version", "-o", "json"]).out).unwrap();
    assert!(
        json["version"].is_string() && json["kubernetesVersion"].is_string(),
        "{json}"
    );
}

#[test]
fn a_typing_error_is_usage_and_names_the_nearest() {
    let home = tempdir().unwrap();
    let typed = quad(home.path(), &["vresion"]);
    assert_eq!(typed.code, Some(2));
    assert!(typed.err.contains("'version'"), "{}", typed.err);
    let both = quad(home.path(), &["up", "--ephemeral", "--data-dir", "x"]);
    assert_eq!(both.code, Some(2), "{}", both.err);
}

#[test]
fn completion_scripts_know_the_verbs() {
    let home = tempdir().unwrap();
    for shell in ["bash", "zsh", "fish"] {
        let script = quad(home.path(), &["completion", shell]);
        assert_eq!(script.code, Some(0));
        assert!(script.out.contains("ephemeral"), "{shell}");
    }
}

#[test]
fn people_are_told_where_it_is_and_what_to_do_next_without_colour_in_a_pipe() {
    let home = tempdir().unwrap();
    let mut child = command(home.path())
        .args(["up", "--port", "0"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut text = String::new();
    let mut reader = BufReader::new(child.stdout.take().unwrap());
    while !text.contains("Ctrl-C stops it") {
        assert_ne!(
            reader.read_line(&mut text).unwrap(),
            0,
            "ended early: {text}"
        );
    }
    let stopped = quad(home.path(), &["down"]);
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert_eq!(stopped.code, Some(0), "{}", stopped.err);
    for part in [
        "Quadrille 0.",
        "data ~/.local/state/quadrille/default",
        "API            https://127.0.0.1:",
        "pods           simulated",
        "export KUBECONFIG=~/.local/state/quadrille/default/kubeconfig",
        "data plane     this cluster                      reachable",
        "environments   development → staging → production (approval)",
        "quad deploy greeter -f samples/greeter",
    ] {
        assert!(text.contains(part), "{part:?} is missing:\n{text}");
    }
    assert!(!text.contains('\u{1b}'), "{text:?}");
    let folder = home.path().join(".local/state/quadrille/default");
    assert!(fs::exists(folder.join("store.redb")).unwrap());
}
