//! What a refusal shows of a real server's insides, taken out of both answers: Go structures where a value is
//! shown, and the differences between two of them.

use serde_json::Value;

/// Makes the refusals of two servers comparable. A message that only repeats its causes goes, since the causes
/// are compared.
pub(super) fn normalize(status: &mut Value) {
    if status["kind"] != "Status" || !status["details"]["causes"].is_array() {
        return;
    }
    let causes = status["details"]["causes"]
        .as_array()
        .cloned()
        .unwrap_or_default();
    let mut told: Vec<String> = Vec::new();
    for cause in &causes {
        let text = |field: &str| cause[field].as_str().unwrap_or_default();
        let one = format!("{}: {}", text("field"), text("message"));
        if !told.contains(&one) {
            told.push(one);
        }
    }
    let list = match told.as_slice() {
        [one] => one.clone(),
        several => format!("[{}]", several.join(", ")),
    };
    let message = status["message"].as_str().unwrap_or_default();
    if let Some(start) = message.strip_suffix(&list) {
        status["message"] = format!("{start}<its causes>").into();
    }
    for cause in status["details"]["causes"]
        .as_array_mut()
        .into_iter()
        .flatten()
    {
        let message = cause["message"].as_str().unwrap_or_default();
        let message = without_structures(message.split("\n@@").next().unwrap_or_default());
        cause["message"] = message.trim_end_matches('\n').into();
    }
}

/// `Invalid value: {"Some":"structure"}: why` without the structure, whose names are nobody's contract.
fn without_structures(message: &str) -> String {
    let start = "Invalid value: ";
    let Some(rest) = message.strip_prefix(start) else {
        return message.to_owned();
    };
    if !rest.starts_with('{') && !rest.starts_with("[{") {
        return message.to_owned();
    }
    let mut values = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
    match values.next() {
        Some(Ok(_)) => format!("{start}<structure>{}", &rest[values.byte_offset()..]),
        _ => message.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn insides_go_and_words_stay() {
        let mut status = json!({
            "kind": "Status",
            "message": "Pod \"a\" is invalid: [spec: Forbidden: no\n@@ -1 +1 @@\n-a, x: Invalid value: {\"A\":{\"B\":1}}: bad]",
            "details": {"causes": [
                {"field": "spec", "message": "Forbidden: no\n@@ -1 +1 @@\n-a"},
                {"field": "x", "message": "Invalid value: {\"A\":{\"B\":1}}: bad"},
            ]},
        });
        normalize(&mut status);
        assert_eq!(status["message"], "Pod \"a\" is invalid: <its causes>");
        assert_eq!(status["details"]["causes"][0]["message"], "Forbidden: no");
        assert_eq!(
            status["details"]["causes"][1]["message"],
            "Invalid value: <structure>: bad"
        );
    }

    #[test]
    fn a_message_with_words_of_its_own_stays() {
        let mut status = json!({
            "kind": "Status", "message": "other words",
            "details": {"causes": [{"field": "x", "message": "y"}]},
        });
        let before = status.clone();
        normalize(&mut status);
        assert_eq!(status, before);
    }
}
