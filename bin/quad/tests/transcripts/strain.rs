//! Clients that misbehave: nothing crashes, nothing leaks.

use std::{
    io::Write,
    net::TcpStream,
    time::{Duration, Instant},
};

use tempfile::tempdir;

use crate::instance::{DEADLINE, Instance};

/// One number from the metrics page.
async fn number(client: &kube::Client, name: &str) -> f64 {
    let request = http::Request::get("/metrics").body(Vec::new()).unwrap();
    let page = client.request_text(request).await.unwrap();
    let line = page
        .lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    line.unwrap_or_else(|| panic!("no {name} in:\n{page}"))
        .parse()
        .unwrap()
}

#[tokio::test]
async fn abandoned_connections_leave_nothing_behind() {
    let home = tempdir().unwrap();
    let instance = Instance::start(home.path(), &["--ephemeral"]);
    let client = instance.client().await;
    let before = number(&client, "process_open_fds").await;
    let address = instance.text("url").trim_start_matches("https://");
    for round in 0..300 {
        let mut stream = TcpStream::connect(address).unwrap();
        let begun: &[u8] = match round % 4 {
            // Nothing, half a TLS record, a record that lies about its length, plain text.
            0 => b"",
            1 => &[0x16, 0x03],
            2 => &[0x16, 0x03, 0x01, 0xff, 0xff, 0x01],
            _ => b"GET / HTTP/1.1\r\n\r\n",
        };
        stream.write_all(begun).unwrap();
    }
    let started = Instant::now();
    loop {
        let now = number(&client, "process_open_fds").await;
        if now <= before {
            break;
        }
        assert!(
            started.elapsed() < DEADLINE,
            "{now} open files, {before} before"
        );
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}
