//! From the reference's patterns to those of the engine we have.
//!
//! Both are of the same family. They differ in what `\w` and its kin mean (only ASCII there), in
//! brackets inside brackets, in braces that are no repetition, and in what counts as a mistake.

use std::fmt::Write as _;

/// Repetitions that the reference allows.
const MOST: u32 = 1000;

/// Classes by name.
const NAMES: [&str; 14] = [
    "alnum", "alpha", "ascii", "blank", "cntrl", "digit", "graph", "lower", "print", "punct",
    "space", "upper", "word", "xdigit",
];

/// The pattern as the engine wants it, or the complaint of the reference.
pub(super) fn translate(pattern: &str) -> Result<String, String> {
    let letters: Vec<char> = pattern.chars().collect();
    let mut translator = Translator {
        letters: &letters,
        at: 0,
        out: String::new(),
        last: Last::Nothing,
        weight: 1,
        groups: vec![1],
    };
    translator.run()?;
    Ok(translator.out)
}

/// What came before: repetitions need something to repeat.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Last {
    Nothing,
    Item,
    /// A repetition, from this place on.
    Repeat(usize),
}

struct Translator<'t> {
    letters: &'t [char],
    at: usize,
    out: String,
    last: Last,
    /// How often repetitions repeat what came last, all told, and the most of each group around.
    weight: u32,
    groups: Vec<u32>,
}

impl Translator<'_> {
    fn peek(&self) -> Option<char> {
        self.letters.get(self.at).copied()
    }

    fn text(&self, from: usize, to: usize) -> String {
        self.letters[from.min(self.letters.len())..to.min(self.letters.len())]
            .iter()
            .collect()
    }

    fn run(&mut self) -> Result<(), String> {
        let mut depth = 0;
        while let Some(letter) = self.peek() {
            match letter {
                '\\' => {
                    self.escape()?;
                    self.weight = 1;
                }
                '[' => {
                    self.class()?;
                    self.last = Last::Item;
                    self.weight = 1;
                }
                '(' => {
                    depth += 1;
                    self.groups.push(1);
                    self.out.push('(');
                    self.at += 1;
                    self.last = Last::Nothing;
                    if self.peek() == Some('?') {
                        self.group()?;
                    }
                }
                ')' => {
                    if depth == 0 {
                        return Err(format!("unexpected ): `{}`", self.whole()));
                    }
                    depth -= 1;
                    let heaviest = self.groups.pop().unwrap_or(1);
                    self.plain(Last::Item);
                    self.weigh(heaviest);
                }
                '|' => self.plain(Last::Nothing),
                '*' | '+' | '?' => self.repeat(1)?,
                '{' => match self.counted()? {
                    Some((length, count)) => {
                        let heavier = self.weight.saturating_mul(count.max(1));
                        if heavier > MOST && self.last == Last::Item {
                            let shown = self.text(self.at, self.at + length);
                            return Err(format!("invalid repeat count: `{shown}`"));
                        }
                        self.repeat(length)?;
                        self.weigh(heavier);
                    }
                    None => {
                        self.out.push('\\');
                        self.plain(Last::Item);
                    }
                },
                '}' | ']' => {
                    self.out.push('\\');
                    self.plain(Last::Item);
                }
                _ => self.plain(Last::Item),
            }
        }
        if depth > 0 {
            return Err(format!("missing closing ): `{}`", self.whole()));
        }
        Ok(())
    }

    fn whole(&self) -> String {
        self.letters.iter().collect()
    }

    fn plain(&mut self, last: Last) {
        self.out.extend(self.peek());
        self.at += 1;
        self.last = last;
        self.weight = 1;
    }

    /// Notes how often what came last is repeated.
    fn weigh(&mut self, weight: u32) {
        self.weight = weight;
        if let Some(heaviest) = self.groups.last_mut() {
            *heaviest = weight.max(*heaviest);
        }
    }

    /// `(?…`: flags or a name; looking around is not for this family.
    fn group(&mut self) -> Result<(), String> {
        let rest = self.text(self.at, self.letters.len());
        let open = if rest.starts_with("?P<") { 3 } else { 2 };
        if rest.starts_with("?P<") || rest.starts_with("?<") {
            let shown = || self.text(self.at - 1, self.letters.len());
            let Some((name, _)) = rest[open..].split_once('>') else {
                return Err(format!("invalid named capture: `{}`", shown()));
            };
            let word = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
            if name.is_empty() || !name.chars().all(word) {
                let shown = self.text(self.at - 1, self.at + open + name.chars().count() + 1);
                return Err(format!("invalid named capture: `{shown}`"));
            }
            // Nobody asks for the name.
            self.at += open + name.chars().count() + 1;
            return Ok(());
        }
        self.out.push('?');
        self.at += 1;
        let start = self.at - 2;
        let mut minus = false;
        while let Some(letter) = self.peek() {
            let fine = match letter {
                'i' | 'm' | 's' | 'U' => true,
                '-' => !std::mem::replace(&mut minus, true),
                ':' => {
                    self.plain(Last::Nothing);
                    return Ok(());
                }
                // The main loop takes the parenthesis.
                ')' => return Ok(()),
                _ => false,
            };
            if !fine {
                let shown = self.text(start, self.at + 1);
                return Err(format!("invalid or unsupported Perl syntax: `{shown}`"));
            }
            self.plain(Last::Nothing);
        }
        let shown = self.text(start, self.letters.len());
        Err(format!("missing closing ): `{shown}`"))
    }

    /// How long a repetition in braces is and how often it repeats, if it is one.
    fn counted(&self) -> Result<Option<(usize, u32)>, String> {
        let rest = self.text(self.at + 1, self.letters.len());
        let Some(end) = rest.find('}') else {
            return Ok(None);
        };
        let inner = &rest[..end];
        let (least, most) = inner.split_once(',').unwrap_or((inner, inner));
        let digits =
            |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        if !digits(least) || !(digits(most) || most.is_empty()) {
            return Ok(None);
        }
        let count = |text: &str| text.parse::<u32>().unwrap_or(u32::MAX);
        let ordered = most.is_empty() || count(least) <= count(most);
        let fits = count(least) <= MOST && (most.is_empty() || count(most) <= MOST);
        if !ordered || !fits {
            return Err(format!("invalid repeat count: `{{{inner}}}`"));
        }
        let most = if most.is_empty() { least } else { most };
        Ok(Some((end + 2, count(most))))
    }

    fn repeat(&mut self, length: usize) -> Result<(), String> {
        let mut end = self.at + length;
        if self.letters.get(end) == Some(&'?') {
            end += 1;
        }
        match self.last {
            Last::Nothing => {
                let shown = self.text(self.at, end);
                return Err(format!(
                    "missing argument to repetition operator: `{shown}`"
                ));
            }
            Last::Repeat(from) => {
                let shown = self.text(from, end);
                return Err(format!("invalid nested repetition operator: `{shown}`"));
            }
            Last::Item => {}
        }
        self.out.push_str(&self.text(self.at, end));
        self.last = Last::Repeat(self.at);
        self.at = end;
        Ok(())
    }

    fn escape(&mut self) -> Result<(), String> {
        let Some(letter) = self.letters.get(self.at + 1).copied() else {
            return Err("trailing backslash at end of expression: ``".to_owned());
        };
        self.last = Last::Item;
        let class = match letter {
            'd' => "[0-9]",
            'D' => "[^0-9]",
            'w' => "[0-9A-Za-z_]",
            'W' => "[^0-9A-Za-z_]",
            's' => "[\\t\\n\\x0C\\r ]",
            'S' => "[^\\t\\n\\x0C\\r ]",
            'b' => "(?-u:\\b)",
            'B' => "(?-u:\\B)",
            'Q' => {
                self.quoted();
                return Ok(());
            }
            _ => "",
        };
        if class.is_empty() {
            return self.single(&[]);
        }
        self.out.push_str(class);
        self.at += 2;
        Ok(())
    }

    /// An escape that stands for one letter or for a class of Unicode.
    fn single(&mut self, extra: &[char]) -> Result<(), String> {
        let letter = self.letters[self.at + 1];
        let start = self.at;
        let length = match letter {
            'A' | 'z' if extra.is_empty() => 2,
            'a' | 'f' | 'n' | 'r' | 't' | 'v' => 2,
            'x' => self.after_brace(start + 2).unwrap_or(4),
            'p' | 'P' => self.after_brace(start + 2).unwrap_or(3),
            '0'..='7' => return self.octal(),
            _ if letter.is_ascii_punctuation() || letter == ' ' => {
                self.out.push_str(&regex::escape(&letter.to_string()));
                self.at += 2;
                return Ok(());
            }
            _ => {
                return Err(format!("invalid escape sequence: `\\{letter}`"));
            }
        };
        self.out.push_str(&self.text(start, start + length));
        self.at = start + length;
        Ok(())
    }

    /// The length of an escape whose braces open here.
    fn after_brace(&self, open: usize) -> Option<usize> {
        if self.letters.get(open) != Some(&'{') {
            return None;
        }
        let close = self.letters[open..]
            .iter()
            .position(|letter| *letter == '}')?;
        Some(open + close + 1 - self.at)
    }

    fn octal(&mut self) -> Result<(), String> {
        let digits: String = self.letters[self.at + 1..]
            .iter()
            .take(3)
            .take_while(|letter| ('0'..='7').contains(*letter))
            .collect();
        if !digits.starts_with('0') && digits.len() < 2 {
            return Err(format!("invalid escape sequence: `\\{digits}`"));
        }
        let code = u32::from_str_radix(&digits, 8).unwrap_or(0);
        let _ = write!(self.out, "\\x{{{code:x}}}");
        self.at += 1 + digits.len();
        Ok(())
    }

    /// `\Q…\E`: everything as it is.
    fn quoted(&mut self) {
        let rest = self.text(self.at + 2, self.letters.len());
        let inner = rest.split("\\E").next().unwrap_or("");
        self.out.push_str(&regex::escape(inner));
        self.at = (self.at + 4 + inner.chars().count()).min(self.letters.len());
    }

    fn class(&mut self) -> Result<(), String> {
        let start = self.at;
        self.out.push('[');
        self.at += 1;
        if self.peek() == Some('^') {
            self.out.push('^');
            self.at += 1;
        }
        let mut first = true;
        loop {
            let Some(letter) = self.peek() else {
                return Err(format!(
                    "missing closing ]: `{}`",
                    self.text(start, self.letters.len())
                ));
            };
            match letter {
                ']' if !first => {
                    self.out.push(']');
                    self.at += 1;
                    return Ok(());
                }
                '[' if self.letters.get(self.at + 1) == Some(&':') => self.named_class()?,
                '\\' => match self.letters.get(self.at + 1) {
                    None => {
                        return Err("trailing backslash at end of expression: ``".to_owned());
                    }
                    Some('d' | 'D' | 'w' | 'W' | 's' | 'S') => self.escape()?,
                    Some(_) => self.single(&['c'])?,
                },
                '-' => {
                    self.out.push('-');
                    self.at += 1;
                    // Two dashes in a row would mean a difference of classes.
                    if self.peek() == Some('-') {
                        self.out.push_str("\\-");
                        self.at += 1;
                    }
                }
                '[' | ']' | '&' | '~' => {
                    self.out.push('\\');
                    self.out.push(letter);
                    self.at += 1;
                }
                _ => {
                    self.out.push(letter);
                    self.at += 1;
                }
            }
            first = false;
        }
    }

    /// `[:alpha:]` inside brackets.
    fn named_class(&mut self) -> Result<(), String> {
        let rest = self.text(self.at, self.letters.len());
        let Some(end) = rest.find(":]") else {
            self.out.push_str("\\[");
            self.at += 1;
            return Ok(());
        };
        let name = &rest[..end + 2];
        let bare = name
            .trim_start_matches("[:")
            .trim_start_matches('^')
            .trim_end_matches(":]");
        if !NAMES.contains(&bare) {
            return Err(format!("invalid character class range: `{name}`"));
        }
        self.out.push_str(name);
        self.at += name.chars().count();
        Ok(())
    }
}
