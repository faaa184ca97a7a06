//! Why a text is no address, in the words of the reference.

use crate::value::number;

/// The complaint about a text that is no address.
pub(super) fn complaint(text: &str) -> String {
    let reason = match text
        .chars()
        .find(|letter| matches!(letter, '.' | ':' | '%'))
    {
        Some('.') => four(text).err(),
        Some(':') => six(text).err(),
        Some(_) => Some(plain("missing IPv6 address")),
        None => Some(plain("unable to parse IP")),
    };
    let (words, rest) = reason.unwrap_or_else(|| plain("unable to parse IP"));
    let at = if rest.is_empty() {
        String::new()
    } else {
        format!(" (at {})", number::quote(&rest))
    };
    format!("ParseAddr({}): {words}{at}", number::quote(text))
}

/// What is wrong, and the rest of the text from there on.
type Reason = (&'static str, String);

fn plain(words: &'static str) -> Reason {
    (words, String::new())
}

fn at(words: &'static str, rest: &str) -> Reason {
    (words, rest.to_owned())
}

/// Four numbers with dots between them.
fn four(text: &str) -> Result<(), Reason> {
    let (mut value, mut digits, mut fields) = (0_u32, 0, 0);
    let bytes = text.as_bytes();
    for (place, letter) in text.char_indices() {
        match letter {
            '0'..='9' => {
                if digits == 1 && value == 0 {
                    return Err(plain("IPv4 field has octet with leading zero"));
                }
                value = value * 10 + (u32::from(bytes[place]) - 48);
                digits += 1;
                if value > 255 {
                    return Err(plain("IPv4 field has value >255"));
                }
            }
            '.' => {
                let empty = place == 0 || place + 1 == text.len() || bytes[place - 1] == b'.';
                if empty {
                    return Err(at(
                        "IPv4 field must have at least one digit",
                        &text[place..],
                    ));
                }
                if fields == 3 {
                    return Err(plain("IPv4 address too long"));
                }
                fields += 1;
                (value, digits) = (0, 0);
            }
            _ => return Err(at("unexpected character", &text[place..])),
        }
    }
    if fields < 3 {
        return Err(plain("IPv4 address too short"));
    }
    Ok(())
}

/// Eight groups with colons between them; `::` stands for groups of zeros.
fn six(text: &str) -> Result<(), Reason> {
    let mut rest = match text.split_once('%') {
        Some((_, "")) => return Err(plain("zone must be a non-empty string")),
        Some((address, _)) => address,
        None => text,
    };
    let mut gap = false;
    if let Some(after) = rest.strip_prefix("::") {
        gap = true;
        rest = after;
    }
    let mut groups = 0;
    while groups < 8 && !(rest.is_empty() && gap && groups == 0) {
        let digits = rest.bytes().take_while(u8::is_ascii_hexdigit).count();
        if digits > 4 {
            return Err(at("each group must have 4 or less digits", rest));
        }
        if digits == 0 {
            return Err(at(
                "each colon-separated field must have at least one digit",
                rest,
            ));
        }
        if rest[digits..].starts_with('.') {
            if !gap && groups != 6 {
                let words = "embedded IPv4 address must replace the final 2 fields of the address";
                return Err(at(words, rest));
            }
            if groups > 6 {
                let words = "too many hex fields to fit an embedded IPv4 at the end of the address";
                return Err(at(words, rest));
            }
            four(rest)?;
            (rest, groups) = ("", groups + 2);
            break;
        }
        groups += 1;
        rest = &rest[digits..];
        if rest.is_empty() {
            break;
        }
        let Some(after) = rest.strip_prefix(':') else {
            return Err(at("unexpected character, want colon", rest));
        };
        if after.is_empty() {
            return Err(at("colon must be followed by more characters", rest));
        }
        rest = after;
        if let Some(after) = rest.strip_prefix(':') {
            if gap {
                return Err(at("multiple :: in address", rest));
            }
            gap = true;
            rest = after;
            if rest.is_empty() {
                break;
            }
        }
    }
    if !rest.is_empty() {
        return Err(at("trailing garbage after address", rest));
    }
    if groups < 8 && !gap {
        return Err(plain("address string too short"));
    }
    if groups == 8 && gap {
        return Err(plain("the :: must expand to at least one field of zeros"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn complaints_point_at_the_trouble() {
        for (text, words) in [
            ("1.2.3", "IPv4 address too short"),
            ("16c.1.1.1", "unexpected character (at \"c.1.1.1\")"),
            ("::1::", "multiple :: in address (at \":\")"),
            (
                "fe80::1.",
                "IPv4 field must have at least one digit (at \".\")",
            ),
            ("1:2", "address string too short"),
            ("x", "unable to parse IP"),
        ] {
            assert_eq!(
                complaint(text),
                format!("ParseAddr({}): {words}", number::quote(text))
            );
        }
    }
}
