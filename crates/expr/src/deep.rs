//! Room for deep expressions.
//!
//! Steps over an expression recurse. Its depth has a limit, but the stack of the caller may be
//! small; expressions that nest deeply (few do) get a thread with a stack of their own.

/// Levels that any stack can take.
const SHALLOW: u32 = 40;
/// Enough for the deepest expression that the grammar lets through.
const STACK: usize = 96 << 20;

/// Does some work that recurses to a depth. `None` when no thread can be had.
pub(crate) fn run<T: Send>(depth: u32, work: impl FnOnce() -> T + Send) -> Option<T> {
    if depth <= SHALLOW {
        return Some(work());
    }
    std::thread::scope(|scope| {
        let worker = std::thread::Builder::new()
            .stack_size(STACK)
            .spawn_scoped(scope, work)
            .ok()?;
        worker.join().ok()
    })
}

/// How deep a text can nest at most, by its brackets and choices.
pub(crate) fn nesting(text: &str) -> u32 {
    let (mut depth, mut deepest, mut choices) = (0_u32, 0_u32, 0_u32);
    for byte in text.bytes() {
        match byte {
            b'(' | b'[' | b'{' => {
                depth = depth.saturating_add(1);
                deepest = deepest.max(depth);
            }
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            b'?' => choices = choices.saturating_add(1),
            _ => {}
        }
    }
    deepest.saturating_add(choices)
}
