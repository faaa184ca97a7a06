//! What is waited for, on standard error: one line that changes where somebody looks at it, a line for each change
//! elsewhere.

use std::{
    io::{self, Write as _},
    time::{Duration, Instant},
};

use crate::{
    style::Style,
    terminal::{self, cut},
};

const FRAMES: [char; 4] = ['◐', '◓', '◑', '◒'];

/// How long nothing is said.
const PATIENCE: Duration = Duration::from_secs(1);
/// How often the line moves where somebody looks at it.
const MOVE: Duration = Duration::from_millis(120);
/// How often it is said elsewhere that nothing happens.
const REPEAT: Duration = Duration::from_secs(10);

/// Something that takes its time.
pub(crate) struct Progress {
    started: Instant,
    /// Whether somebody looks at it.
    is_live: bool,
    is_drawn: bool,
    frame: usize,
    said: String,
}

impl Progress {
    pub(crate) fn start() -> Self {
        Self {
            started: Instant::now(),
            is_live: Style::of_standard_error().is_on(),
            is_drawn: false,
            frame: 0,
            said: String::new(),
        }
    }

    /// Shows what is waited for. Elsewhere than on a terminal the same words are said once.
    pub(crate) fn show(&mut self, words: &str) {
        if self.is_live {
            if self.started.elapsed() >= PATIENCE {
                self.draw(words);
            }
        } else if words != self.said && !words.is_empty() {
            eprintln!("  {words}");
        }
        words.clone_into(&mut self.said);
    }

    fn draw(&mut self, words: &str) {
        let seconds = self.started.elapsed().as_secs();
        let width = terminal::of_standard_error().map_or(80, |size| size.columns);
        let end = format!(" … {seconds} s");
        let room = width.saturating_sub(end.chars().count() + 3);
        let frame = FRAMES[self.frame % FRAMES.len()];
        self.frame += 1;
        self.is_drawn = true;
        rewrite(&format!("{frame} {}{end}", cut(words, room)));
    }

    /// Takes the line away, so that something else can be written.
    pub(crate) fn clear(&mut self) {
        if self.is_drawn {
            rewrite("");
            self.is_drawn = false;
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.clear();
    }
}

fn rewrite(line: &str) {
    // Nothing depends on it, and nothing could be done about it.
    let _ = write!(io::stderr(), "\r\u{1b}[K{line}").and_then(|()| io::stderr().flush());
}

/// Waits for something that is quick as a rule, and says so when it is not.
pub(crate) async fn during<T>(words: &str, work: impl Future<Output = T>) -> T {
    let mut work = std::pin::pin!(work);
    let mut progress = Progress::start();
    let pause = if progress.is_live { MOVE } else { REPEAT };
    let mut wait = PATIENCE;
    loop {
        tokio::select! {
            done = &mut work => return done,
            () = tokio::time::sleep(wait) => {
                if progress.is_live {
                    progress.show(words);
                } else {
                    let seconds = progress.started.elapsed().as_secs();
                    progress.show(&format!("{words} … {seconds} s"));
                }
                wait = pause;
            }
        }
    }
}
