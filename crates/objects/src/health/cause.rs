//! What of other people's error texts is worth telling: the part that stays the same while they retry.

/// Why an image cannot be pulled, as far as the text of a kubelet or a runtime tells. The name of the
/// image in it tells nothing.
pub(super) fn image(text: &str, name: &str) -> Option<&'static str> {
    // The first that fits counts: registries wrap one error in another.
    const SIGNS: [(&str, &[&str]); 8] = [
        (
            "the registry's rate limit is reached",
            &["toomanyrequests", "too many requests"],
        ),
        (
            "the registry's certificate is not trusted",
            &["x509:", "certificate signed by"],
        ),
        (
            "no image for the node's platform",
            &["no match for platform", "no matching manifest"],
        ),
        (
            "its signature is not valid",
            &["signature validation failed", "signaturevalidationfailed"],
        ),
        ("no space left on the node", &["no space left on device"]),
        (
            "access denied",
            &[
                "unauthorized",
                "denied",
                "forbidden",
                "authentication required",
                "no basic auth",
            ],
        ),
        (
            "not found",
            &["not found", "notfound", "manifest unknown", "name unknown"],
        ),
        (
            "the registry cannot be reached",
            &[
                "no such host",
                "timeout",
                "connection refused",
                "connection reset",
                "deadline exceeded",
                "unreachable",
                "unavailable",
            ],
        ),
    ];
    let mut text = text.to_lowercase();
    if !name.is_empty() {
        text = text.replace(&name.to_lowercase(), "");
    }
    let known = SIGNS.iter();
    let mut fitting = known.filter(|(_, signs)| signs.iter().any(|sign| text.contains(sign)));
    fitting.next().map(|(cause, _)| *cause)
}

/// Why no node takes a pod: the scheduler's reasons without how many nodes give each of them, since
/// that changes with every node that comes or goes.
pub(super) fn scheduling(text: &str) -> String {
    let (_, listed) = text
        .split_once("nodes are available: ")
        .unwrap_or(("", text));
    let listed = listed.split(" preemption: ").next().unwrap_or_default();
    let mut reasons: Vec<String> = Vec::new();
    for part in listed.trim().trim_end_matches('.').split(", ") {
        let reason = part.trim_start_matches(|c: char| c.is_ascii_digit());
        match reasons.last_mut() {
            // A comma within a reason, as in the list of a taint's parts.
            Some(last) if reason == part => {
                last.push_str(", ");
                last.push_str(part);
            }
            _ => reasons.push(reason.trim_start().to_owned()),
        }
    }
    reasons.sort_unstable();
    reasons.dedup();
    reasons.join(", ")
}

/// Why the API refuses to make a pod, without the name it would have had (a new one at each try) and
/// without what of a quota is used (which changes with everybody else's pods).
pub(super) fn refusal(text: &str) -> String {
    let kept = text.split(", used: ").next().unwrap_or_default();
    let named = kept
        .strip_prefix("pods \"")
        .and_then(|rest| rest.split_once("\" "));
    match named {
        Some((_, rest)) => format!("pod {rest}"),
        None => kept.to_owned(),
    }
}

/// Why a container's command cannot be run, from the long chain that a runtime reports.
pub(super) fn start(text: &str) -> Option<&str> {
    let (_, cause) = text.split_once("unable to start container process: ")?;
    Some(cause.trim_end_matches(": unknown")).filter(|cause| tells(cause))
}

/// Why a container cannot be made: what stands last in the chain of errors.
pub(super) fn creation(text: &str) -> Option<&str> {
    // The pod's name and uid follow some causes.
    let text = text.split(" (pod: ").next().unwrap_or_default();
    let cause = text.rsplit(": ").next().unwrap_or_default().trim();
    Some(cause).filter(|cause| tells(cause))
}

/// Whether a text says something, and is not about the id of a container that differs at each try.
fn tells(text: &str) -> bool {
    let mut run = 0;
    let has_id = text.chars().any(|c| {
        run = if c.is_ascii_hexdigit() { run + 1 } else { 0 };
        run >= 32
    });
    !text.is_empty() && !has_id
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pull_fails_for_the_same_cause_however_it_is_wrapped() {
        for (text, cause) in [
            (
                "rpc error: code = NotFound desc = failed to pull and unpack image \"r/denied:v9\": r/denied:v9: not found",
                Some("not found"),
            ),
            (
                "Back-off pulling image \"r/denied:v9\": ErrImagePull: rpc error: code = NotFound desc = x",
                Some("not found"),
            ),
            (
                "pull access denied, repository does not exist",
                Some("access denied"),
            ),
            (
                "429 Too Many Requests - unauthorized",
                Some("the registry's rate limit is reached"),
            ),
            (
                "dial tcp: lookup r: no such host",
                Some("the registry cannot be reached"),
            ),
            ("Back-off pulling image \"r/denied:v9\"", None),
        ] {
            assert_eq!(image(text, "r/denied:v9"), cause, "{text}");
        }
    }

    #[test]
    fn the_scheduler_s_reasons_come_without_counts_and_in_one_order() {
        let reasons = "Insufficient cpu, node(s) had untolerated taint {a, b: c}";
        for text in [
            "0/3 nodes are available: 1 node(s) had untolerated taint {a, b: c}, 2 Insufficient cpu. \
             preemption: 0/3 nodes are available: 3 No preemption victims found.",
            "0/5 nodes are available: 3 Insufficient cpu, 2 node(s) had untolerated taint {a, b: c}.",
        ] {
            assert_eq!(scheduling(text), reasons);
        }
        assert_eq!(
            scheduling("no nodes available to schedule pods"),
            "no nodes available to schedule pods"
        );
    }

    #[test]
    fn a_refusal_names_no_pod_and_no_use() {
        assert_eq!(
            refusal(
                "pods \"cart-7d4-x8k2p\" is forbidden: exceeded quota: q, requested: cpu=1, used: cpu=4, limited: cpu=4"
            ),
            "pod is forbidden: exceeded quota: q, requested: cpu=1"
        );
        assert_eq!(refusal("no"), "no");
    }

    #[test]
    fn causes_with_ids_in_them_are_left_out() {
        let id = "8a7f".repeat(16);
        assert_eq!(creation(&format!("name x is reserved for \"{id}\"")), None);
        assert_eq!(
            creation("failed to generate spec: no command specified"),
            Some("no command specified")
        );
        assert_eq!(
            creation(
                "container has runAsNonRoot and image will run as root (pod: \"a_b(c)\", container: main)"
            ),
            Some("container has runAsNonRoot and image will run as root")
        );
        assert_eq!(
            start(
                "OCI runtime create failed: unable to start container process: exec: \"x\": not found: unknown"
            ),
            Some("exec: \"x\": not found")
        );
        assert_eq!(start("whatever"), None);
    }
}
