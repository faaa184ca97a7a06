//! The field manager of a request that names none.

use crate::go_text::printable;

/// How long a field manager's name may be, in bytes.
const MAX_LENGTH: usize = 128;

/// The field manager of a request: the one that it names, or the program that its user agent tells.
pub fn manager_or_user_agent(manager: &str, user_agent: &str) -> String {
    if !manager.is_empty() {
        return manager.to_owned();
    }
    let program = user_agent.split('/').next().unwrap_or_default();
    let mut name = String::new();
    for letter in program.chars().filter(|letter| printable(*letter)) {
        if name.len() + letter.len_utf8() > MAX_LENGTH {
            break;
        }
        name.push(letter);
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_known_by_what_precedes_the_slash() {
        let agent = "kubectl\u{1}/v1.36.3 (linux/amd64)";
        assert_eq!(manager_or_user_agent("", agent), "kubectl");
        assert_eq!(manager_or_user_agent("me", agent), "me");
        assert_eq!(manager_or_user_agent("", &"é".repeat(80)).len(), MAX_LENGTH);
    }
}
