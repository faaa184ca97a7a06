//! Volumes of pods.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::{
    container::{self, Volumes},
    environment,
    report::{Report, amount, list, text},
    storage,
};
use crate::names;

const MODES: &str = "must be a number between 0 and 0777 (octal), both inclusive";
/// In the order in which real servers look at them.
const SOURCES: [&str; 30] = [
    "emptyDir",
    "hostPath",
    "gitRepo",
    "gcePersistentDisk",
    "awsElasticBlockStore",
    "secret",
    "nfs",
    "iscsi",
    "glusterfs",
    "flocker",
    "persistentVolumeClaim",
    "rbd",
    "cinder",
    "cephfs",
    "quobyte",
    "downwardAPI",
    "fc",
    "flexVolume",
    "configMap",
    "azureFile",
    "vsphereVolume",
    "photonPersistentDisk",
    "portworxVolume",
    "azureDisk",
    "storageos",
    "projected",
    "scaleIO",
    "csi",
    "ephemeral",
    "image",
];

/// Checks volumes; gives the good ones. `pod` is the metadata of a real pod.
pub(super) fn volumes<'a>(
    report: &mut Report,
    volumes: &'a Value,
    path: &str,
    pod: Option<&Value>,
) -> Volumes<'a> {
    let mut good = BTreeMap::new();
    let pod_name = pod.map_or("", |metadata| text(&metadata["name"]));
    let claim_of = |volume: &Value| format!("{pod_name}-{}", text(&volume["name"]));
    let made: BTreeSet<String> = list(volumes)
        .iter()
        .filter(|volume| !pod_name.is_empty() && volume["ephemeral"].is_object())
        .map(claim_of)
        .collect();
    for (index, volume) in list(volumes).iter().enumerate() {
        let path = format!("{path}[{index}]");
        let before = report.errors.len();
        source(report, volume, &path, pod.is_some());
        let name = text(&volume["name"]);
        if made.contains(&claim_of(volume)) && !name.is_empty() {
            let claim = claim_of(volume);
            for complaint in names::dns_1123_subdomain(&claim) {
                let why = format!("PVC name {claim:?}: {complaint}");
                report.invalid(format!("{path}.name"), &volume["name"], &why);
            }
        }
        report.label_name(&format!("{path}.name"), &volume["name"]);
        if good.contains_key(name) {
            report.duplicate(format!("{path}.name"), &volume["name"]);
        }
        if report.errors.len() == before {
            good.insert(name, volume);
        }
        let claim = &volume["persistentVolumeClaim"]["claimName"];
        if made.contains(text(claim)) {
            let why = "must not reference a PVC that gets created for an ephemeral volume";
            report.invalid(
                format!("{path}.persistentVolumeClaim.claimName"),
                claim,
                why,
            );
        }
    }
    good
}

fn source(report: &mut Report, volume: &Value, path: &str, is_pod: bool) {
    let mut found = 0;
    for kind in SOURCES {
        let source = &volume[kind];
        if !source.is_object() {
            continue;
        }
        found += 1;
        if found > 1 {
            // Spelt as real servers spell them.
            let spelt = match kind {
                "cephfs" => "cephFS",
                "downwardAPI" => "downwarAPI",
                kind => kind,
            };
            let why = "may not specify more than 1 volume type";
            report.forbidden(format!("{path}.{spelt}"), why);
            continue;
        }
        let path = format!("{path}.{kind}");
        if kind == "image" {
            image(report, source, &path, is_pod);
        } else {
            of_kind(report, kind, source, &path);
        }
    }
    if found == 0 {
        report.required_because(path, "must specify a volume type");
    }
}

pub(super) fn of_kind(report: &mut Report, kind: &str, source: &Value, path: &str) {
    let must = |report: &mut Report, field: &str| {
        if text(&source[field]).is_empty() {
            report.required(format!("{path}.{field}"));
        }
    };
    match kind {
        "emptyDir" if amount(&source["sizeLimit"]) < 0 => {
            let why = "SizeLimit field must be a valid resource quantity";
            report.forbidden(format!("{path}.sizeLimit"), why);
        }
        "hostPath" => host_path(report, source, path),
        "gitRepo" => {
            must(report, "repository");
            report.descends(&format!("{path}.directory"), &source["directory"]);
        }
        "secret" => {
            must(report, "secretName");
            mode(report, &source["defaultMode"], path);
            items(report, &source["items"], path);
        }
        "configMap" => {
            must(report, "name");
            mode(report, &source["defaultMode"], path);
            items(report, &source["items"], path);
        }
        "persistentVolumeClaim" => must(report, "claimName"),
        "csi" => csi(report, source, path),
        "iscsi" => iscsi(report, source, path),
        "fc" => fibre_channel(report, source, path),
        "flexVolume" => must(report, "driver"),
        "nfs" => {
            must(report, "server");
            must(report, "path");
            if !text(&source["path"]).starts_with('/') {
                let value = json!(text(&source["path"]));
                report.invalid(format!("{path}.path"), &value, "must be an absolute path");
            }
        }
        "downwardAPI" => {
            mode(report, &source["defaultMode"], path);
            for item in list(&source["items"]) {
                downward(report, item, path);
            }
        }
        "projected" => projected(report, source, path),
        "ephemeral" => {
            let template = &source["volumeClaimTemplate"];
            let at = format!("{path}.volumeClaimTemplate");
            if template.is_object() {
                storage::claim(report, &template["spec"], &format!("{at}.spec"));
            } else {
                report.required(at);
            }
        }
        _ => {}
    }
}

fn image(report: &mut Report, source: &Value, path: &str, is_pod: bool) {
    if is_pod && text(&source["reference"]).is_empty() {
        report.required(format!("{path}.reference"));
    }
    let at = format!("{path}.pullPolicy");
    container::pull_policy(report, &source["pullPolicy"], &at);
}

fn csi(report: &mut Report, source: &Value, path: &str) {
    csi_driver(report, &source["driver"], &format!("{path}.driver"));
    let secret = &source["nodePublishSecretRef"];
    if secret.is_object() {
        match text(&secret["name"]) {
            "" => report.required(format!("{path}.nodePublishSecretRef.name")),
            name => {
                let at = format!("{path}.name");
                report.names(&at, name, names::dns_1123_subdomain(name));
            }
        }
    }
}

/// The name of a storage driver.
pub(super) fn csi_driver(report: &mut Report, value: &Value, path: &str) {
    const LONGEST: usize = 63;
    let driver = text(value);
    if driver.is_empty() {
        return report.required(path);
    }
    if driver.len() > LONGEST {
        report.too_long(path, LONGEST);
    }
    let complaints = names::dns_1123_subdomain(&driver.to_lowercase());
    report.names(path, driver, complaints);
}

fn iscsi(report: &mut Report, source: &Value, path: &str) {
    if text(&source["targetPortal"]).is_empty() {
        report.required(format!("{path}.targetPortal"));
    }
    if text(&source["iqn"]).is_empty() {
        report.required(format!("{path}.iqn"));
    } else {
        iscsi_name(report, &source["iqn"], &format!("{path}.iqn"));
    }
    report.within(format!("{path}.lun"), &source["lun"], 0, 255);
    let secret_needed = ["chapAuthDiscovery", "chapAuthSession"]
        .iter()
        .any(|field| source[*field] == json!(true));
    if secret_needed && !source["secretRef"].is_object() {
        report.required(format!("{path}.secretRef"));
    }
    if source["initiatorName"].is_string() {
        let at = format!("{path}.initiatorname");
        iscsi_name(report, &source["initiatorName"], &at);
    }
}

/// A name of an iSCSI node in one of its three forms.
fn iscsi_name(report: &mut Report, value: &Value, path: &str) {
    let name = text(value);
    let coded = |length: usize| {
        name.len() == 4 + length && name[4..].chars().all(|c| c.is_ascii_alphanumeric())
    };
    let valid = match name.get(..3) {
        Some("iqn") => is_qualified(name),
        Some("eui") => name.is_ascii() && coded(16),
        Some("naa") => name.is_ascii() && coded(32),
        _ => {
            let why = "must be valid format starting with iqn, eui, or naa";
            return report.invalid(path, value, why);
        }
    };
    if !valid {
        report.invalid(path, value, "must be valid format");
    }
}

/// `iqn.`, year and month, the reversed domain of whoever names, and the name after a colon.
fn is_qualified(name: &str) -> bool {
    let digits =
        |text: &str, count: usize| text.len() == count && text.chars().all(|c| c.is_ascii_digit());
    let Some((date, rest)) = name
        .strip_prefix("iqn.")
        .and_then(|rest| rest.split_once('.'))
    else {
        return false;
    };
    let Some(((year, month), (domain, own))) = date.split_once('-').zip(rest.split_once(':'))
    else {
        return false;
    };
    let in_domain = |c: char| c.is_ascii_alphanumeric() || "-.".contains(c);
    let outside = |c: char| ",;*&$|".contains(c) || c.is_ascii_whitespace();
    digits(year, 4)
        && digits(month, 2)
        && !domain.is_empty()
        && domain.chars().all(in_domain)
        && !own.is_empty()
        && !own.contains(outside)
}

fn fibre_channel(report: &mut Report, source: &Value, path: &str) {
    let targets = list(&source["targetWWNs"]);
    let ids = list(&source["wwids"]);
    let at = format!("{path}.targetWWNs");
    if targets.is_empty() && ids.is_empty() {
        let why = "must specify either targetWWNs or wwids, but not both";
        report.required_because(at.as_str(), why);
    }
    if !targets.is_empty() && !ids.is_empty() {
        let why = "targetWWNs and wwids can not be specified simultaneously";
        report.invalid(at, &source["targetWWNs"], why);
    }
    if !targets.is_empty() {
        let at = format!("{path}.lun");
        if source["lun"].is_null() {
            let why = "lun is required if targetWWNs is specified";
            report.required_because(at, why);
        } else {
            report.within(at, &source["lun"], 0, 255);
        }
    }
}

/// A folder of the node.
fn host_path(report: &mut Report, source: &Value, path: &str) {
    let place = text(&source["path"]);
    if place.is_empty() {
        report.required(format!("{path}.path"));
        return;
    }
    if place.split('/').any(|part| part == "..") {
        report.invalid(
            format!("{path}.path"),
            &source["path"],
            "must not contain '..'",
        );
    }
    report.one_of_if_set(
        format!("{path}.type"),
        &source["type"],
        &[
            "",
            "BlockDevice",
            "CharDevice",
            "Directory",
            "DirectoryOrCreate",
            "File",
            "FileOrCreate",
            "Socket",
        ],
    );
}

fn mode(report: &mut Report, mode: &Value, path: &str) {
    file_mode(report, mode, &format!("{path}.defaultMode"));
}

fn file_mode(report: &mut Report, mode: &Value, path: &str) {
    if mode
        .as_i64()
        .is_some_and(|mode| !(0..=0o777).contains(&mode))
    {
        report.invalid(path, mode, MODES);
    }
}

fn items(report: &mut Report, items: &Value, path: &str) {
    for (index, item) in list(items).iter().enumerate() {
        self::item(report, item, &format!("{path}.items[{index}]"));
    }
}

fn item(report: &mut Report, item: &Value, path: &str) {
    if text(&item["key"]).is_empty() {
        report.required(format!("{path}.key"));
    }
    relative(report, &item["path"], &format!("{path}.path"));
    file_mode(report, &item["mode"], &format!("{path}.mode"));
}

fn relative(report: &mut Report, value: &Value, path: &str) {
    if text(value).is_empty() {
        report.required(path);
    } else {
        not_reserved(report, value, path);
    }
}

/// A path inside a volume whose own names start with two dots.
fn not_reserved(report: &mut Report, value: &Value, path: &str) {
    report.descends(path, value);
    let place = text(value);
    if place.starts_with("..") && !place.starts_with("../") {
        report.invalid(path, value, "must not start with '..'");
    }
}

fn downward(report: &mut Report, item: &Value, path: &str) {
    relative(report, &item["path"], &format!("{path}.path"));
    let (field, amount) = (&item["fieldRef"], &item["resourceFieldRef"]);
    if field.is_object() {
        environment::field_reference(report, field, &format!("{path}.fieldRef"), true);
        if amount.is_object() {
            let why = "fieldRef and resourceFieldRef can not be specified simultaneously";
            report.invalid(path, &json!("resource"), why);
        }
    } else if amount.is_object() {
        let at = format!("{path}.resourceFieldRef");
        environment::amount_reference(report, amount, &at, true);
    } else {
        report.required_because(path, "one of fieldRef and resourceFieldRef is required");
    }
    file_mode(report, &item["mode"], &format!("{path}.mode"));
}

/// Several sources in one folder, whose files may not have the same place.
fn projected(report: &mut Report, source: &Value, volume: &str) {
    mode(report, &source["defaultMode"], volume);
    let mut places = BTreeSet::new();
    for (index, part) in list(&source["sources"]).iter().enumerate() {
        let path = format!("{volume}.sources[{index}]");
        let mut found = 0;
        for kind in ["secret", "configMap"] {
            let part = &part[kind];
            if part.is_object() {
                found += 1;
                if text(&part["name"]).is_empty() {
                    report.required(format!("{path}.{kind}.name"));
                }
                for (index, item) in list(&part["items"]).iter().enumerate() {
                    self::item(report, item, &format!("{path}.{kind}.items[{index}]"));
                    let shown = text(&part["name"]);
                    once(report, &mut places, &item["path"], shown, volume);
                }
            }
        }
        if part["downwardAPI"].is_object() {
            found += 1;
            for item in list(&part["downwardAPI"]["items"]) {
                downward(report, item, &format!("{path}.downwardAPI"));
                let shown = text(&item["path"]);
                once(report, &mut places, &item["path"], shown, volume);
            }
        }
        if part["serviceAccountToken"].is_object() {
            found += 1;
            token(report, &part["serviceAccountToken"], &path, volume);
        }
        if found > 1 {
            report.forbidden(path, "may not specify more than 1 volume type per source");
        }
    }
}

fn once<'a>(
    report: &mut Report,
    places: &mut BTreeSet<&'a str>,
    place: &'a Value,
    shown: &str,
    volume: &str,
) {
    let place = text(place);
    if !place.is_empty() && !places.insert(place) {
        report.invalid(volume, &json!(shown), "conflicting duplicate paths");
    }
}

fn token(report: &mut Report, token: &Value, path: &str, volume: &str) {
    let seconds = &token["expirationSeconds"];
    let at = format!("{path}.serviceAccountToken.expirationSeconds");
    if seconds.as_i64().is_some_and(|seconds| seconds < 600) {
        let why = "may not specify a duration less than 10 minutes";
        report.invalid(at, seconds, why);
    } else if seconds.as_i64().is_some_and(|seconds| seconds > 1 << 32) {
        let why = "may not specify a duration larger than 2^32 seconds";
        report.invalid(at, seconds, why);
    }
    // Blamed on the volume, whichever of its sources it is.
    relative(report, &token["path"], &format!("{volume}.path"));
}
