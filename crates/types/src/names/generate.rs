//! Names of Kubernetes objects made out of several parts: readable, bounded and unique.
//!
//! Other tools compute the same names, so the rule is fixed to the byte: clean every part, give each an
//! equal share of the space, and end with a hash over the parts as they were.

use sha2::{Digest, Sha256};

use crate::names::{EnvironmentName, OrganizationName, ProjectName};

/// The longest name of most objects.
pub const RESOURCE_LIMIT: usize = 253;
/// The longest label value.
pub const LABEL_LIMIT: usize = 63;
/// The longest name of a namespace.
pub const NAMESPACE_LIMIT: usize = 63;
/// The longest name of a Service.
pub const SERVICE_LIMIT: usize = 63;
/// The longest name of a Job.
pub const JOB_LIMIT: usize = 63;
/// The longest name of a `CronJob`: its Jobs get a suffix of 11 characters.
pub const CRON_JOB_LIMIT: usize = 52;
/// The longest name of a container.
pub const CONTAINER_LIMIT: usize = 63;
/// The longest name of a volume.
pub const VOLUME_LIMIT: usize = 63;

const HASH_LENGTH: usize = 8;

/// A name of at most [`RESOURCE_LIMIT`] bytes.
pub fn name(parts: &[&str]) -> String {
    name_within(RESOURCE_LIMIT, parts)
}

/// A name of at most `limit` bytes. Limits too small for the hash give the hash alone.
pub fn name_within(limit: usize, parts: &[&str]) -> String {
    name_hashed(limit, parts, &parts.join("-"))
}

/// A name whose hash also depends on something that cannot be seen in it: another `extra`, another name.
pub fn name_with_extra(parts: &[&str], extra: &str) -> String {
    name_hashed(
        RESOURCE_LIMIT,
        parts,
        &format!("{}-{extra}", parts.join("-")),
    )
}

/// FNV-1a of 32 bits as eight hexadecimal digits: a fingerprint where length matters more than certainty.
pub fn short_hash(bytes: &[u8]) -> String {
    let hash = bytes.iter().fold(0x811c_9dc5_u32, |hash, byte| {
        (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193)
    });
    format!("{hash:08x}")
}

fn name_hashed(limit: usize, parts: &[&str], hashed: &str) -> String {
    let separators = parts.len().saturating_sub(1) + 1;
    let space = limit.saturating_sub(HASH_LENGTH + separators);
    let share = space / parts.len().max(1);
    let longer_parts = space % parts.len().max(1);
    let mut joined = String::with_capacity(limit);
    for (index, part) in parts.iter().enumerate() {
        let budget = share + usize::from(index < longer_parts);
        joined.push_str(cut(&cleaned(part), budget));
        joined.push('-');
    }
    joined.push_str(&hash(hashed));
    joined
        .trim_matches(|c: char| !c.is_alphanumeric())
        .to_owned()
}

/// The data-plane namespace of one project in one environment: its cell.
pub fn cell_namespace(
    organization: &OrganizationName,
    project: &ProjectName,
    environment: &EnvironmentName,
) -> String {
    let parts = [
        "dp",
        organization.as_str(),
        project.as_str(),
        environment.as_str(),
    ];
    name_within(NAMESPACE_LIMIT, &parts)
}

/// The part in lower case, with a dash for whatever a name may not hold.
fn cleaned(part: &str) -> String {
    let kept: String = part
        .chars()
        .map(lower)
        .map(|c| match c {
            '-' | '.' => c,
            c if c.is_alphanumeric() => c,
            _ => '-',
        })
        .collect();
    kept.trim_matches(['-', '.']).to_owned()
}

/// One letter becomes one letter; the rare letters whose lower case is several keep the first.
fn lower(c: char) -> char {
    c.to_lowercase().next().unwrap_or(c)
}

/// At most `budget` bytes of the text, never half a character.
fn cut(text: &str, budget: usize) -> &str {
    let mut end = budget.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// The first eight hexadecimal digits of a text's SHA-256.
pub fn hash(text: &str) -> String {
    let digest = Sha256::digest(text.as_bytes());
    let mut text = String::with_capacity(HASH_LENGTH);
    for byte in &digest[..HASH_LENGTH / 2] {
        for nibble in [byte >> 4, byte & 0xf] {
            text.push(char::from_digit(u32::from(nibble), 16).expect("a nibble is a hex digit"));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_names_come_out_to_the_byte() {
        let a = |n| "a".repeat(n);
        let b = |n| "b".repeat(n);
        let cases: Vec<(usize, Vec<String>, String)> = [
            (
                253,
                vec!["project", "component"],
                "project-component-932d1646",
            ),
            (
                253,
                vec!["My_Project$", "Component@Name"],
                "my-project-component-name-40314333",
            ),
            (
                253,
                vec!["-invalid-start", "invalid-end-"],
                "invalid-start-invalid-end-f124257d",
            ),
            (253, vec!["", ""], "3973e022"),
            (253, vec!["!!!", "###"], "606b424e"),
            (
                253,
                vec!["project.name", "component.name"],
                "project.name-component.name-851db5b2",
            ),
            (
                63,
                vec!["dp", "default-org", "default-project", "development"],
                "dp-default-org-default-proje-development-39faf2d8",
            ),
            (
                63,
                vec!["dp", "default", "default", "development"],
                "dp-default-default-development-f8e58905",
            ),
            (
                63,
                vec!["dp", "default-org", "test-project", "test-env"],
                "dp-default-org-test-project-test-env-a545d497",
            ),
            (
                63,
                vec!["service-component-basic", "test-track"],
                "service-component-basic-test-track-1b4959e7",
            ),
            (
                253,
                vec!["gateway-external", "test-endpoint"],
                "gateway-external-test-endpoint-2870b170",
            ),
            (253, vec!["react-starter"], "react-starter-5d6e572c"),
            (
                253,
                vec!["react-starter", "webapp", "httproute"],
                "react-starter-webapp-httproute-e7a4133f",
            ),
            (
                63,
                vec!["greeter-service", "greeter-api", "public", "httproute"],
                "greeter-servi-greeter-api-public-httproute-7c8cbc62",
            ),
            (
                63,
                vec!["reading-list-service-build-01"],
                "reading-list-service-build-01-a008bd4a",
            ),
            (
                63,
                vec![
                    "very-long-endpoint-name",
                    "very-long-component-name",
                    "very-long-env-name",
                ],
                "very-long-endpoint-very-long-compone-very-long-env-nam-23ab5d45",
            ),
        ]
        .into_iter()
        .map(|(limit, parts, name)| {
            (
                limit,
                parts.into_iter().map(str::to_owned).collect(),
                name.to_owned(),
            )
        })
        .chain([
            (
                253,
                vec![a(300), "component".to_owned()],
                format!("{}-component-a250aee3", a(122)),
            ),
            (
                253,
                vec![a(260), b(260)],
                format!("{}-{}-654ba7cd", a(122), b(121)),
            ),
        ])
        .collect();
        for (limit, parts, expected) in cases {
            let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
            assert_eq!(name_within(limit, &parts), expected, "{parts:?}");
        }
    }

    #[test]
    fn a_name_never_exceeds_its_limit_and_starts_and_ends_well() {
        for limit in [8, 9, 20, 52, 63, 253] {
            for count in 0..6 {
                let parts = vec!["--Ünïcode_ and.more!--"; count];
                let made = name_within(limit, &parts);
                assert!(made.len() <= limit, "{made} is over {limit}");
                assert!(
                    made.starts_with(char::is_alphanumeric)
                        && made.ends_with(char::is_alphanumeric)
                );
            }
        }
    }

    #[test]
    fn an_extra_changes_the_hash_and_nothing_else() {
        let parts = ["greeter-service-development", "env-secrets"];
        let extra = short_hash(b"GITHUB_TOKEN\0github-pat\0\0\0");
        assert_eq!(extra, "199c3911");
        assert_eq!(
            name_with_extra(&parts, &extra),
            "greeter-service-development-env-secrets-89185774"
        );
    }

    #[test]
    fn short_hashes_are_the_known_ones() {
        assert_eq!(short_hash(b"hello world"), "d58b3fa7");
        assert_eq!(short_hash(b"test data"), "578fbe87");
        assert_eq!(short_hash(b"test"), "afd071e5");
    }

    #[test]
    fn a_cell_is_named_after_organization_project_and_environment() {
        let made = cell_namespace(&"default".into(), &"default".into(), &"development".into());
        assert_eq!(made, "dp-default-default-development-f8e58905");
    }
}
