//! How a pod finds other hosts.

use serde_json::Value;

use super::report::{Report, list, text};
use crate::names;

const MOST_SERVERS: usize = 3;
const MOST_SEARCHES: usize = 32;
const LONGEST_SEARCH_LIST: usize = 2048;

/// `dnsPolicy`.
pub(super) fn policy(report: &mut Report, spec: &Value, path: &str) {
    let policies = ["ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"];
    report.one_of(format!("{path}.dnsPolicy"), &spec["dnsPolicy"], &policies);
}

/// `dnsConfig`.
pub(super) fn config(report: &mut Report, spec: &Value, path: &str) {
    let config = &spec["dnsConfig"];
    let path = format!("{path}.dnsConfig");
    let servers = list(&config["nameservers"]);
    if spec["dnsPolicy"] == "None" {
        if !config.is_object() {
            let why = "must provide `dnsConfig` when `dnsPolicy` is None";
            return report.required_because(path, why);
        }
        if servers.is_empty() {
            let why = "must provide at least one DNS nameserver when `dnsPolicy` is None";
            return report.required_because(format!("{path}.nameservers"), why);
        }
    }
    let at = format!("{path}.nameservers");
    if servers.len() > MOST_SERVERS {
        let why = format!("must not have more than {MOST_SERVERS} nameservers");
        report.invalid(at.as_str(), &config["nameservers"], &why);
    }
    for (index, server) in servers.iter().enumerate() {
        report.ip(format!("{at}[{index}]"), server);
    }
    searches(report, &config["searches"], &format!("{path}.searches"));
    for (index, option) in list(&config["options"]).iter().enumerate() {
        if text(&option["name"]).is_empty() {
            report.required_because(format!("{path}.options[{index}]"), "must not be empty");
        }
    }
}

fn searches(report: &mut Report, searches: &Value, path: &str) {
    let domains = list(searches);
    if domains.len() > MOST_SEARCHES {
        let why = format!("must not have more than {MOST_SEARCHES} search paths");
        report.invalid(path, searches, &why);
    }
    let spaces = domains.len().saturating_sub(1);
    let length: usize = domains.iter().map(|domain| text(domain).len()).sum();
    if length + spaces > LONGEST_SEARCH_LIST {
        let why = format!(
            "must not have more than {LONGEST_SEARCH_LIST} characters (including spaces) in the search list"
        );
        report.invalid(path, searches, &why);
    }
    for (index, domain) in domains.iter().enumerate() {
        let domain = text(domain);
        if domain != "." {
            let domain = domain.strip_suffix('.').unwrap_or(domain);
            let complaints = names::search_domain(domain);
            report.names(&format!("{path}[{index}]"), domain, complaints);
        }
    }
}
