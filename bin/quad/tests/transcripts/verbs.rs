//! What people type every day: each verb with its good ways and the mistakes that are made with it.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    net::{TcpListener, TcpStream},
    process::Stdio,
    thread,
};

use tempfile::tempdir;

use crate::{
    instance::Instance,
    quad::{command, finish},
    transcript::Desk,
};

#[test]
fn a_platform_is_applied_looked_at_changed_and_deleted() {
    let home = tempdir().unwrap();
    let instance = Instance::start_on_data(home.path());
    let desk = Desk::of(home.path(), &instance);
    desk.follow("apply");
    desk.until("quad describe release trouble -n shop", "cannot be pulled");
    for verb in ["get", "describe", "tree", "diff", "wait", "delete"] {
        desk.follow(verb);
    }
}

#[test]
fn a_component_goes_from_environment_to_environment_and_back() {
    let home = tempdir().unwrap();
    let instance = Instance::start_on_data(home.path());
    Desk::of(home.path(), &instance).follow("chain");
}

#[test]
fn mistakes_with_components_are_told_and_nothing_is_written() {
    let home = tempdir().unwrap();
    let instance = Instance::start_on_data(home.path());
    Desk::of(home.path(), &instance).follow("chain-mistakes");
}

#[test]
fn developers_ask_and_approvers_agree() {
    let home = tempdir().unwrap();
    let instance = Instance::start_on_data(home.path());
    Desk::of(home.path(), &instance).follow("chain-people");
}

#[test]
fn what_people_do_by_the_way_works_too() {
    let home = tempdir().unwrap();
    let instance = Instance::start_on_data(home.path());
    Desk::of(home.path(), &instance).follow("clumsy");
}

#[test]
fn an_empty_kubeconfig_is_none() {
    let home = tempdir().unwrap();
    let answer = |value: &str| {
        let mut command = command(home.path());
        finish(command.args(["get", "projects"]).env("KUBECONFIG", value))
    };
    // Nothing runs here yet.
    for (value, words) in [
        ("", "there is no cluster to talk to"),
        ("/dev/null", "does not lead to a cluster"),
    ] {
        let finished = answer(value);
        assert_eq!(finished.code, Some(1), "{finished:?}");
        assert!(finished.err.contains(words), "{finished:?}");
    }
    let _instance = Instance::start(home.path(), &[]);
    let finished = answer("");
    assert_eq!(finished.code, Some(0), "{finished:?}");
    assert!(finished.out.contains("default"), "{finished:?}");
    assert_eq!(answer("/dev/null").code, Some(1));
}

#[test]
fn a_deletion_that_is_stopped_halfway_is_finished_by_the_next() {
    let home = tempdir().unwrap();
    let instance = Instance::start_on_data(home.path());
    let desk = Desk::of(home.path(), &instance);
    let done = |line: &str| finish(&mut desk.command(line));
    assert_eq!(done("quad apply -f organization.yaml").code, Some(0));
    desk.until("quad get organization shop", "shop");
    assert_eq!(done("quad wait organization shop").code, Some(0));
    let all = "-f platform.yaml -f cart.yaml";
    assert_eq!(done(&format!("quad apply {all}")).code, Some(0));
    assert_eq!(done("quad wait release cart -n shop").code, Some(0));
    // It is stopped while it waits for the first ones to go.
    let mut stopped = desk
        .command(&format!("quad delete {all}"))
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut line = String::new();
    let mut said = BufReader::new(stopped.stdout.take().unwrap());
    said.read_line(&mut line).unwrap();
    stopped.kill().unwrap();
    stopped.wait().unwrap();
    assert!(line.contains("cart deleted"), "{line}");
    let finished = done(&format!("quad delete {all}"));
    assert_eq!(finished.code, Some(0), "{finished:?}");
    assert!(finished.out.contains("cart was not there"), "{finished:?}");
    let left = done("quad get projects,environments,dataplanes,releases -n shop -o name");
    assert_eq!(left.out, "", "{left:?}");
}

#[test]
fn samples_do_what_is_written_beside_them() {
    for sample in [
        "greeter",
        "shop",
        "scheduled-task",
        "overrides",
        "deployment-system",
    ] {
        let home = tempdir().unwrap();
        let instance = Instance::start_on_data(home.path());
        Desk::of(home.path(), &instance).follow_sample(sample);
    }
}

#[test]
fn documents_are_read_from_addresses() {
    let home = tempdir().unwrap();
    let instance = Instance::start(
        home.path(),
        &["--ephemeral", "--no-controllers", "--no-node"],
    );
    let mut desk = Desk::of(home.path(), &instance);
    desk.words.push(("{web}".to_owned(), web()));
    desk.follow("addresses");
}

#[test]
fn who_may_not_and_what_is_not_there_is_told_with_what_to_do() {
    let home = tempdir().unwrap();
    let mut instance = Instance::start(
        home.path(),
        &[
            "--data-dir",
            home.path().join("data").to_str().unwrap(),
            "--no-node",
        ],
    );
    let desk = Desk::of(home.path(), &instance);
    desk.follow("access");
    instance.signal(rustix::process::Signal::KILL);
    instance.ended();
    desk.follow("unreachable");
}

#[test]
fn what_needs_no_cluster_does_without() {
    let home = tempdir().unwrap();
    let desk = Desk::new(home.path());
    desk.follow("convert");
    desk.follow("nothing");
    desk.follow("offline");
}

/// A web server with a few pages. It ends with the test.
fn web() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            thread::spawn(move || answer(stream));
        }
    });
    address
}

fn answer(mut stream: TcpStream) -> std::io::Result<()> {
    let mut head = Vec::new();
    for line in BufReader::new(stream.try_clone()?).lines() {
        let line = line?;
        if line.is_empty() {
            break;
        }
        head.push(line);
    }
    let path = head[0].split(' ').nth(1).unwrap_or_default();
    let document = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: from-the-web}\n";
    let (status, more, body) = match path {
        "/document.yaml?raw=1" => ("200 OK", "", document.to_owned()),
        "/moved.yaml" => (
            "302 Found",
            "Location: /document.yaml?raw=1\r\n",
            String::new(),
        ),
        "/circle.yaml" => ("302 Found", "Location: /circle.yaml\r\n", String::new()),
        "/page" => (
            "200 OK",
            "",
            include_str!("documents/web-page.html").to_owned(),
        ),
        "/large.yaml" => ("200 OK", "", "# too much\n".repeat(2 << 20)),
        _ => ("404 Not Found", "", String::new()),
    };
    let length = body.len();
    write!(
        stream,
        "HTTP/1.1 {status}\r\n{more}Content-Length: {length}\r\nConnection: close\r\n\r\n{body}"
    )
}
