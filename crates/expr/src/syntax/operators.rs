//! Punctuation and the functions behind operators.

/// A token of punctuation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Punct {
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    And,
    Or,
    OpenBracket,
    CloseBracket,
    OpenBrace,
    CloseBrace,
    Open,
    Close,
    Dot,
    Comma,
    Minus,
    Not,
    Question,
    Colon,
    Plus,
    Star,
    Slash,
    Percent,
}

impl Punct {
    /// The punctuation at a place and its length, or how many characters ahead it breaks.
    pub(crate) fn at(first: char, second: char) -> Result<(Self, usize), usize> {
        let (punct, length) = match (first, second) {
            ('=', '=') => (Self::Equal, 2),
            ('!', '=') => (Self::NotEqual, 2),
            ('<', '=') => (Self::LessEqual, 2),
            ('>', '=') => (Self::GreaterEqual, 2),
            ('&', '&') => (Self::And, 2),
            ('|', '|') => (Self::Or, 2),
            ('<', _) => (Self::Less, 1),
            ('>', _) => (Self::Greater, 1),
            ('[', _) => (Self::OpenBracket, 1),
            (']', _) => (Self::CloseBracket, 1),
            ('{', _) => (Self::OpenBrace, 1),
            ('}', _) => (Self::CloseBrace, 1),
            ('(', _) => (Self::Open, 1),
            (')', _) => (Self::Close, 1),
            ('.', _) => (Self::Dot, 1),
            (',', _) => (Self::Comma, 1),
            ('-', _) => (Self::Minus, 1),
            ('!', _) => (Self::Not, 1),
            ('?', _) => (Self::Question, 1),
            (':', _) => (Self::Colon, 1),
            ('+', _) => (Self::Plus, 1),
            ('*', _) => (Self::Star, 1),
            ('/', _) => (Self::Slash, 1),
            ('%', _) => (Self::Percent, 1),
            ('=' | '&' | '|', _) => return Err(1),
            _ => return Err(0),
        };
        Ok((punct, length))
    }

    /// The function of a binary operator and how tightly it binds.
    pub(crate) fn arithmetic(self) -> Option<(&'static str, u8)> {
        Some(match self {
            Self::Plus => ("_+_", 1),
            Self::Minus => ("_-_", 1),
            Self::Star => ("_*_", 2),
            Self::Slash => ("_/_", 2),
            Self::Percent => ("_%_", 2),
            _ => return None,
        })
    }

    /// The function of a comparison.
    pub(crate) fn relation(self) -> Option<&'static str> {
        Some(match self {
            Self::Equal => "_==_",
            Self::NotEqual => "_!=_",
            Self::Less => "_<_",
            Self::LessEqual => "_<=_",
            Self::Greater => "_>_",
            Self::GreaterEqual => "_>=_",
            _ => return None,
        })
    }
}

/// Words that are fields but never variables.
pub(crate) fn reserved(word: &str) -> bool {
    matches!(
        word,
        "as" | "break"
            | "const"
            | "continue"
            | "else"
            | "false"
            | "for"
            | "function"
            | "if"
            | "import"
            | "in"
            | "let"
            | "loop"
            | "package"
            | "namespace"
            | "null"
            | "return"
            | "true"
            | "var"
            | "void"
            | "while"
    )
}
