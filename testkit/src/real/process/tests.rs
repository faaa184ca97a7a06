//! Programs end with their holder.

use std::time::{Duration, Instant};

use super::*;

fn wait_until(what: &str, condition: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(30);
    while !condition() {
        assert!(Instant::now() < deadline, "timed out: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn runs(pid: u32) -> bool {
    Path::new("/proc").join(pid.to_string()).exists()
}

fn sleeper(folder: &Path) -> Process {
    Process::start(
        "sleeper",
        Path::new("sleep"),
        &folder.join("sleeper"),
        &["1000".into()],
    )
    .unwrap()
}

#[test]
fn a_dropped_process_has_ended_and_its_folder_is_gone() {
    let folder = tempfile::tempdir().unwrap();
    let process = sleeper(folder.path());
    wait_until("a pid", || process.pid().is_some());
    let pid = process.pid().unwrap();
    assert!(runs(pid));
    drop(process);
    assert!(!runs(pid));
    assert!(!folder.path().join("sleeper").exists());
}

#[test]
fn a_process_ends_when_its_holder_is_killed() {
    // A shell plays the holder: it keeps the writing end of the guard's pipe, then is killed.
    let folder = tempfile::tempdir().unwrap();
    let own = folder.path().join("sleeper");
    fs::create_dir(&own).unwrap();
    let mut holder = Command::new("sh")
        .args(["-c", r#"mkfifo "$1/pipe"; sh -c "$2" guard "$1" sleep 1000 <"$1/pipe" & exec 9>"$1/pipe"; exec sleep 1000"#])
        .args(["holder".as_ref(), own.as_os_str(), GUARD.as_ref()])
        .spawn()
        .unwrap();
    let pid = || {
        fs::read_to_string(own.join("pid"))
            .ok()
            .and_then(|text| text.trim().parse().ok())
    };
    wait_until("a pid", || pid().is_some());
    let pid: u32 = pid().unwrap();
    holder.kill().unwrap();
    holder.wait().unwrap();
    wait_until("its end", || !runs(pid));
    wait_until("its folder to go", || !own.exists());
}

#[test]
fn a_program_that_ends_by_itself_is_noticed_with_its_last_words() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = ["-c".into(), "echo last words; exit 3".into()];
    let own = folder.path().join("talker");
    let process = Process::start("talker", Path::new("sh"), &own, &arguments).unwrap();
    wait_until("its end", || process.still_runs().is_err());
    let error = process.still_runs().unwrap_err().to_string();
    assert_eq!(error, "talker ended with code 3:\nlast words");
}
