//! The terminal's size, where there is one.

use std::{io, os::fd::AsFd};

/// Rows and columns.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Size {
    pub(crate) rows: usize,
    pub(crate) columns: usize,
}

/// The size of the terminal behind standard output.
pub(crate) fn of_standard_output() -> Option<Size> {
    of(io::stdout())
}

/// The size of the terminal behind standard error.
pub(crate) fn of_standard_error() -> Option<Size> {
    of(io::stderr())
}

fn of(stream: impl AsFd) -> Option<Size> {
    let size = rustix::termios::tcgetwinsize(stream).ok()?;
    let size = Size {
        rows: size.ws_row.into(),
        columns: size.ws_col.into(),
    };
    (size.rows > 0 && size.columns > 0).then_some(size)
}

/// As much of a line as fits beside other text of some width.
pub(crate) fn cut(line: &str, columns: usize) -> String {
    if line.chars().count() <= columns {
        return line.to_owned();
    }
    let kept = line.chars().take(columns.saturating_sub(1));
    kept.chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_cut_between_characters() {
        assert_eq!(cut("größer", 6), "größer");
        assert_eq!(cut("größer", 4), "grö…");
        assert_eq!(cut("größer", 0), "…");
    }
}
