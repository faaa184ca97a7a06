//! Tests of reading protobuf: bodies as Go clients write them, put together by hand.

use super::*;

/// A field of bytes (text, message).
fn bytes(number: u8, content: impl AsRef<[u8]>) -> Vec<u8> {
    let content = content.as_ref();
    let mut out = vec![number << 3 | 2];
    let mut length = content.len();
    while length >= 0x80 {
        out.push(u8::try_from(length & 0x7f).unwrap() | 0x80);
        length >>= 7;
    }
    out.push(u8::try_from(length).unwrap());
    out.extend_from_slice(content);
    out
}

/// A field of a small number.
fn number(number: u8, value: u8) -> Vec<u8> {
    assert!(value < 0x80);
    vec![number << 3, value]
}

fn envelope(api_version: &str, kind: &str, raw: &[u8]) -> Vec<u8> {
    let type_meta = [bytes(1, api_version), bytes(2, kind)].concat();
    [
        MAGIC.to_vec(),
        bytes(1, type_meta),
        bytes(2, raw),
        bytes(3, ""),
        bytes(4, ""),
    ]
    .concat()
}

fn read(api_version: &str, kind: &str, raw: &[u8]) -> Value {
    to_json(&envelope(api_version, kind, raw)).unwrap().unwrap()
}

fn named(name: &str) -> Vec<u8> {
    // Go writes fields that are no pointers even when they are empty.
    bytes(1, [bytes(1, name), bytes(2, ""), bytes(8, "")].concat())
}

#[test]
fn maps_of_texts_and_of_bytes_become_objects() {
    let entry = |key: &str, value: &str| [bytes(1, key), bytes(2, value)].concat();
    let raw = [
        named("c"),
        bytes(2, entry("a", "1")),
        bytes(2, entry("b", "")),
        bytes(3, [bytes(1, "bin"), bytes(2, [0, 255])].concat()),
    ]
    .concat();
    assert_eq!(
        read("v1", "ConfigMap", &raw),
        json!({
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": { "name": "c", "generateName": "", "creationTimestamp": null },
            "data": { "a": "1", "b": "" },
            "binaryData": { "bin": "AP8=" },
        })
    );
}

#[test]
fn quantities_ports_and_embedded_structs_are_written_as_json_has_them() {
    let quantity = [bytes(1, "cpu"), bytes(2, bytes(1, "500m"))].concat();
    let resources = bytes(8, bytes(1, quantity));
    let http_get = bytes(
        2,
        [
            bytes(1, "/ready"),
            bytes(2, [number(1, 1), bytes(3, "http")].concat()),
        ]
        .concat(),
    );
    let probe = bytes(11, [bytes(1, http_get), number(2, 5)].concat());
    let container = [bytes(1, "main"), resources, probe].concat();
    let volume = [bytes(1, "tmp"), bytes(2, bytes(2, bytes(1, "")))].concat();
    let spec = [bytes(1, volume), bytes(2, container)].concat();
    let pod = read("v1", "Pod", &[named("p"), bytes(2, spec)].concat());
    let container = &pod["spec"]["containers"][0];
    assert_eq!(
        container["resources"],
        json!({ "limits": { "cpu": "500m" } })
    );
    assert_eq!(
        container["readinessProbe"],
        json!({ "httpGet": { "path": "/ready", "port": "http" }, "initialDelaySeconds": 5 })
    );
    assert_eq!(
        pod["spec"]["volumes"][0],
        json!({ "name": "tmp", "emptyDir": { "medium": "" } })
    );
}

#[test]
fn times_are_texts() {
    // 2001-09-09T01:46:40Z, and half a second more.
    let seconds = [0x08, 0x80, 0x94, 0xeb, 0xdc, 0x03];
    let nanoseconds = [0x10, 0x80, 0xca, 0xb5, 0xee, 0x01];
    let renewed = bytes(4, [&seconds[..], &nanoseconds].concat());
    let lease = read(
        "coordination.k8s.io/v1",
        "Lease",
        &[named("l"), bytes(2, renewed)].concat(),
    );
    assert_eq!(lease["spec"]["renewTime"], "2001-09-09T01:46:40.500000Z");
    let created = bytes(1, bytes(8, seconds));
    let map = read("v1", "ConfigMap", &created);
    assert_eq!(map["metadata"]["creationTimestamp"], "2001-09-09T01:46:40Z");
}

#[test]
fn schemas_of_definitions_keep_their_odd_names() {
    let default = bytes(1, r#"{"a":1}"#);
    // The numbers of `x-kubernetes-…` lie above 15 and take a tag of two bytes.
    let preserve = [0xb0, 0x02, 0x01]; // 38, varint 1
    let schema = [bytes(5, "object"), bytes(8, default), preserve.to_vec()].concat();
    let version = [bytes(1, "v1"), bytes(4, bytes(1, schema))].concat();
    let spec = bytes(2, bytes(7, version));
    let definition = read("apiextensions.k8s.io/v1", "CustomResourceDefinition", &spec);
    assert_eq!(
        definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"],
        json!({ "type": "object", "default": { "a": 1 }, "x-kubernetes-preserve-unknown-fields": true })
    );
}

#[test]
fn what_is_not_ours_to_read_is_left_and_what_is_broken_is_refused() {
    assert_eq!(to_json(&envelope("example.dev/v1", "Cake", &[])), Ok(None));
    assert_eq!(to_json(b""), Ok(None));
    assert_eq!(to_json(b"{}"), Err(DecodeError::Prefix));
    let cut = envelope("v1", "ConfigMap", &[0x0a, 0x05, 0x01]);
    assert!(matches!(to_json(&cut), Err(DecodeError::Wire(_))));
    let wrong = envelope("v1", "ConfigMap", &number(1, 1));
    assert_eq!(to_json(&wrong), Err(DecodeError::Mismatch("metadata")));
}

#[test]
fn nesting_without_end_is_refused() {
    // A schema in a schema in a schema: `not` is field 28.
    let mut schema = bytes(5, "object");
    for _ in 0..2000 {
        let mut outer = vec![0xe2, 0x01];
        outer.extend(&bytes(1, &schema)[1..]);
        schema = outer;
    }
    let version = [bytes(1, "v1"), bytes(4, bytes(1, schema))].concat();
    let body = envelope(
        "apiextensions.k8s.io/v1",
        "CustomResourceDefinition",
        &bytes(2, bytes(7, version)),
    );
    assert_eq!(to_json(&body), Err(DecodeError::Depth));
}
