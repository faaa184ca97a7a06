//! What people type every day: each verb with its good ways and the mistakes that are made with it.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    net::{TcpListener, TcpStream},
    thread,
};

use tempfile::tempdir;

use crate::{instance::Instance, transcript::Desk};

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
