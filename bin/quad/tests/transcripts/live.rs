//! What moves: watches, and what is shown and asked on a terminal.

use std::{
    collections::BTreeSet,
    fs::{self, File, OpenOptions},
    io::{Read, Write as _},
    path::Path,
    process::{Child, Command, Stdio},
    sync::mpsc::{self, Receiver},
    thread,
    time::Instant,
};

use k8s_openapi::api::core::v1::Pod;
use kube::api::{Api, ListParams};
use rustix::{
    process::{Pid, Signal, kill_process},
    pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt},
    termios::{Winsize, tcsetwinsize},
};
use tempfile::tempdir;

use crate::{
    instance::{DEADLINE, Instance},
    transcript::Desk,
};

/// A command whose words are read while it runs. It ends with the test.
struct Running {
    child: Child,
    pieces: Receiver<Vec<u8>>,
    said: String,
}

impl Running {
    /// In a pipe.
    fn piped(command: &mut Command) -> Self {
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let out = child.stdout.take().unwrap();
        Self::reading(child, out)
    }

    /// On a terminal of 24 rows, with the hand that types there.
    fn on_terminal(command: &mut Command) -> (Self, File) {
        let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&terminal).unwrap();
        unlockpt(&terminal).unwrap();
        let size = Winsize {
            ws_row: 24,
            ws_col: 100,
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        tcsetwinsize(&terminal, size).unwrap();
        let name = ptsname(&terminal, Vec::new())
            .unwrap()
            .into_string()
            .unwrap();
        let end = || {
            OpenOptions::new()
                .read(true)
                .write(true)
                .open(&name)
                .unwrap()
        };
        let child = command
            .stdin(end())
            .stdout(end())
            .stderr(end())
            .spawn()
            .unwrap();
        let terminal = File::from(terminal);
        let hand = terminal.try_clone().unwrap();
        (Self::reading(child, terminal), hand)
    }

    fn reading(child: Child, mut from: impl Read + Send + 'static) -> Self {
        let (sender, pieces) = mpsc::channel();
        thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(count @ 1..) = from.read(&mut buffer) {
                if sender.send(buffer[..count].to_vec()).is_err() {
                    return;
                }
            }
        });
        Self {
            child,
            pieces,
            said: String::new(),
        }
    }

    /// Waits until these words were said, and gives everything up to there.
    fn until(&mut self, words: &str) -> String {
        let started = Instant::now();
        loop {
            if let Some(at) = self.said.find(words) {
                let rest = self.said.split_off(at + words.len());
                return std::mem::replace(&mut self.said, rest);
            }
            let left = DEADLINE.saturating_sub(started.elapsed());
            let Ok(piece) = self.pieces.recv_timeout(left) else {
                panic!("{words:?} was not said, only: {:?}", self.said);
            };
            self.said.push_str(&String::from_utf8_lossy(&piece));
        }
    }

    /// Ends it. Whoever runs tests in the background may have its interrupts ignored.
    fn end(&self) {
        kill_process(Pid::from_child(&self.child), Signal::TERM).unwrap();
    }

    fn code(&mut self) -> Option<i32> {
        self.child.wait().unwrap().code()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Already gone is fine.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// An instance without life: what is written stays as it is.
fn still(home: &Path) -> (Instance, Desk) {
    let instance = Instance::start(home, &["--ephemeral", "--no-controllers", "--no-node"]);
    let desk = Desk::of(home, &instance);
    (instance, desk)
}

fn done(desk: &Desk, line: &str) {
    let output = desk.command(line).output().unwrap();
    assert!(output.status.success(), "{line}: {output:?}");
}

#[test]
fn a_watch_in_a_pipe_gives_a_line_for_each_change() {
    let home = tempdir().unwrap();
    let (_instance, desk) = still(home.path());
    let mut watch = Running::piped(&mut desk.command("quad get configmaps -l watched=yes -w"));
    done(&desk, "quad apply -f watched-1.yaml");
    let said = watch.until("watched   1");
    assert_eq!(said, "NAME      DATA   AGE\nwatched   1");
    done(&desk, "quad apply -f watched-2.yaml");
    watch.until("watched   2");
    done(&desk, "quad delete -f watched-2.yaml");
    let said = watch.until("(deleted)");
    assert_eq!(said.lines().count(), 2, "{said:?}");
    done(&desk, "quad apply -f watched-1.yaml");
    let mut names = Running::piped(&mut desk.command("quad get configmap watched -w -o name"));
    names.until("configmap/watched\n");
    done(&desk, "quad apply -f watched-2.yaml");
    assert_eq!(names.until("\n"), "configmap/watched\n");
}

#[test]
fn a_watch_on_a_terminal_changes_in_place() {
    let home = tempdir().unwrap();
    let (_instance, desk) = still(home.path());
    done(&desk, "quad apply -f watched-1.yaml");
    let line = "quad get configmaps -l watched=yes -w";
    let (mut watch, _hand) = Running::on_terminal(&mut desk.command(line));
    watch.until("watched   1");
    done(&desk, "quad apply -f watched-2.yaml");
    // Two lines up, and the table once more.
    let said = watch.until("watched   2");
    assert!(said.contains("\u{1b}[2A\r\u{1b}[J"), "{said:?}");
}

#[test]
fn the_status_of_a_component_is_followed_until_somebody_ends_it() {
    let home = tempdir().unwrap();
    let instance = Instance::start(home.path(), &["--ephemeral"]);
    let desk = Desk::of(home.path(), &instance);
    done(&desk, "quad deploy greeter -f samples/greeter");
    let line = "quad status greeter -w";
    let mut piped = Running::piped(&mut desk.command(line));
    let first = piped.until("next: quad promote greeter --to staging\n");
    assert!(!first.contains('\u{1b}'), "{first:?}");
    let (mut drawn, _hand) = Running::on_terminal(&mut desk.command(line));
    drawn.until("quad promote greeter --to staging");
    let mut facts = Running::piped(&mut desk.command(&format!("{line} -o json")));
    facts.until("\n");
    done(&desk, "quad promote greeter --to staging");
    let second = piped.until("next: quad promote greeter --to production\n");
    assert!(second.contains("staging"), "{second:?}");
    // On a terminal it changes in place.
    let second = drawn.until("quad promote greeter --to production");
    assert!(second.contains("\u{1b}[J"), "{second:?}");
    facts.until("quad promote greeter --to production");
    for mut running in [piped, drawn, facts] {
        running.end();
        assert_eq!(running.code(), None, "the signal ended it");
    }
}

#[tokio::test]
async fn a_restart_is_over_when_every_pod_is_a_new_one() {
    let home = tempdir().unwrap();
    let instance = Instance::start(home.path(), &["--ephemeral"]);
    let desk = Desk::of(home.path(), &instance);
    done(&desk, "quad deploy greeter -f samples/greeter");
    let client = instance.client().await;
    let pods = async || -> BTreeSet<String> {
        let all: Api<Pod> = Api::all(client.clone());
        let of = ListParams::default().labels("openchoreo.dev/component=greeter");
        let all = all.list(&of).await.unwrap().items.into_iter();
        let there = all.filter(|pod| pod.metadata.deletion_timestamp.is_none());
        there.filter_map(|pod| pod.metadata.name).collect()
    };
    let before = pods().await;
    assert!(!before.is_empty());
    for _ in 0..3 {
        let before = pods().await;
        done(&desk, "quad restart greeter --env development");
        let after = pods().await;
        assert_eq!(after.len(), before.len());
        assert!(after.is_disjoint(&before), "{before:?} {after:?}");
    }
}

#[test]
fn what_cannot_be_undone_is_asked_about_on_a_terminal() {
    let home = tempdir().unwrap();
    let (_instance, desk) = still(home.path());
    done(&desk, "quad apply -f watched-1.yaml");
    let line = "quad delete configmap watched";
    for (answer, words, code) in [
        ("\n", "nothing was deleted", 1),
        ("no\n", "nothing was deleted", 1),
        ("y\n", "configmap/watched deleted", 0),
    ] {
        let (mut delete, mut hand) = Running::on_terminal(&mut desk.command(line));
        let question = delete.until("[y/N] ");
        assert_eq!(
            question,
            "Delete configmap watched? It cannot be undone. [y/N] "
        );
        hand.write_all(answer.as_bytes()).unwrap();
        delete.until(words);
        assert_eq!(delete.code(), Some(code));
    }
    done(&desk, "quad apply -f watched-1.yaml");
    let (mut delete, _hand) = Running::on_terminal(&mut desk.command(&format!("{line} --yes")));
    assert!(!delete.until("deleted").contains("[y/N]"));
}

#[test]
fn a_terminal_gets_colour_unless_it_is_refused() {
    let home = tempdir().unwrap();
    let (_instance, desk) = still(home.path());
    let line = "quad get configmap nowhere";
    let (mut coloured, _hand) = Running::on_terminal(&mut desk.command(line));
    assert!(
        coloured
            .until("quad get configmaps -A")
            .contains("\u{1b}[31m✖")
    );
    for (name, value) in [("NO_COLOR", "1"), ("TERM", "dumb")] {
        let (mut plain, _hand) = Running::on_terminal(desk.command(line).env(name, value));
        let said = plain.until("quad get configmaps -A");
        // A slow machine is told what it waits for before that.
        let is_plain =
            said.contains("✖ there is no configmap nowhere") && !said.contains("\u{1b}[3");
        assert!(is_plain, "{said:?}");
    }
}

#[test]
fn bash_completes_kinds_and_names() {
    let home = tempdir().unwrap();
    let (_instance, desk) = still(home.path());
    done(&desk, "quad apply -f watched-1.yaml");
    let script = desk.command("quad completion bash").output().unwrap();
    fs::write(home.path().join("completion.bash"), script.stdout).unwrap();
    let quad = Path::new(env!("CARGO_BIN_EXE_quad")).parent().unwrap();
    let path = format!("{}:{}", quad.display(), std::env::var("PATH").unwrap());
    let completed = |words: &str| {
        let typed = format!(
            "source completion.bash; COMP_WORDS=({words} \"\"); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 2)); \
             unset 'COMP_WORDS[COMP_CWORD + 1]'; \
             _quad_with_names quad \"${{COMP_WORDS[COMP_CWORD]}}\" \"${{COMP_WORDS[COMP_CWORD - 1]}}\"; echo \"${{COMPREPLY[*]}}\""
        );
        let mut bash = Command::new("bash");
        bash.args(["-c", &typed]).current_dir(home.path());
        bash.envs(desk.environment.iter().cloned())
            .env("PATH", &path);
        String::from_utf8(bash.output().unwrap().stdout).unwrap()
    };
    assert_eq!(completed("quad descr"), "describe\n");
    assert_eq!(completed("quad get enviro"), "environment environments\n");
    assert_eq!(completed("quad get configmap wat"), "watched\n");
    assert_eq!(completed("quad get configmap -n default wat"), "watched\n");
}
