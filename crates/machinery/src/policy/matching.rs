//! Which requests a policy or a binding is about.

use serde_json::{Map, Value};

use crate::selector::{LabelSelector, SelectorError};

/// Labels of an object.
pub type Labels = Map<String, Value>;

/// A resource in one of its versions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place<'a> {
    /// API group.
    pub group: &'a str,
    /// Version.
    pub version: &'a str,
    /// Plural name.
    pub resource: &'a str,
}

/// What a request is about.
#[derive(Clone, Copy, Debug)]
pub struct Attributes<'a> {
    /// The resource as the client named it.
    pub place: Place<'a>,
    /// Other names for the same resource.
    pub equivalents: &'a [Place<'a>],
    /// Subresource; empty for the object itself.
    pub subresource: &'a str,
    /// Namespace of the request; for a namespace its own name.
    pub namespace: &'a str,
    /// Name of the object.
    pub name: &'a str,
    /// `CREATE`, `UPDATE`, `DELETE` or `CONNECT`.
    pub operation: &'a str,
    /// The new object; null when one is deleted.
    pub object: &'a Value,
    /// The object that is there; null when one is created.
    pub old: &'a Value,
    /// Labels of the namespace, if the request is in one.
    pub namespace_labels: Option<&'a Labels>,
}

/// Rules and selectors of a policy or a binding (`MatchResources`).
#[derive(Clone, Debug)]
pub struct Criteria {
    namespaces: Result<LabelSelector, SelectorError>,
    objects: Result<LabelSelector, SelectorError>,
    rules: Vec<Rule>,
    exceptions: Vec<Rule>,
    exact: bool,
}

#[derive(Clone, Debug)]
struct Rule {
    names: Vec<String>,
    operations: Vec<String>,
    groups: Vec<String>,
    versions: Vec<String>,
    /// Resources with their subresources.
    resources: Vec<(String, String)>,
    scope: Scope,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scope {
    Any,
    Cluster,
    Namespaced,
}

fn texts(value: &Value) -> Vec<String> {
    let list = value.as_array().into_iter().flatten();
    list.filter_map(Value::as_str).map(str::to_owned).collect()
}

impl Criteria {
    /// Reads `matchConstraints` or `matchResources`.
    pub fn new(criteria: &Value) -> Self {
        let rules = |field: &str| {
            let rules = criteria[field].as_array().into_iter().flatten();
            rules.map(Rule::new).collect()
        };
        Self {
            namespaces: LabelSelector::from_value(&criteria["namespaceSelector"]),
            objects: LabelSelector::from_value(&criteria["objectSelector"]),
            rules: rules("resourceRules"),
            exceptions: rules("excludeResourceRules"),
            exact: criteria["matchPolicy"] == "Exact",
        }
    }

    /// Whether a request for a resource, by its plural name, may be matched at all: most never are, and that is quickly
    /// told.
    pub fn may_concern(&self, plural: &str) -> bool {
        let names = |rule: &Rule| {
            let mut resources = rule.resources.iter();
            resources.any(|(resource, _)| resource == "*" || resource == plural)
        };
        self.rules.is_empty() || self.rules.iter().any(names)
    }

    /// The name under which the request is matched, if it is. An error is told only if it is.
    pub fn matched<'a>(&self, about: &Attributes<'a>) -> Result<Option<Place<'a>>, SelectorError> {
        let selected = self.selects_namespace(about);
        if matches!(selected, Ok(false)) {
            return Ok(None);
        }
        let fits = self.selects_object(about);
        if matches!(fits, Ok(false)) {
            return Ok(None);
        }
        if self.first(&self.exceptions, about).is_some() {
            return Ok(None);
        }
        let place = if self.rules.is_empty() {
            Some(about.place)
        } else {
            self.first(&self.rules, about)
        };
        if place.is_some() {
            selected?;
            fits?;
        }
        Ok(place)
    }

    fn selects_namespace(&self, about: &Attributes<'_>) -> Result<bool, SelectorError> {
        let is_namespace = about.place.resource == "namespaces";
        if about.namespace.is_empty() && !is_namespace {
            return Ok(true);
        }
        let selector = self.namespaces.as_ref().map_err(Clone::clone)?;
        // A namespace that is being written is judged by the labels that it will have.
        let own = is_namespace
            && about.subresource.is_empty()
            && matches!(about.operation, "CREATE" | "UPDATE");
        let labels = if own {
            labels(about.object)
        } else {
            about.namespace_labels
        };
        Ok(selector.is_empty() || selector.matches(labels))
    }

    fn selects_object(&self, about: &Attributes<'_>) -> Result<bool, SelectorError> {
        let selector = self.objects.as_ref().map_err(Clone::clone)?;
        let selects = |object: &Value| !object.is_null() && selector.matches(labels(object));
        Ok(selector.is_empty() || selects(about.object) || selects(about.old))
    }

    /// The first name of the resource that one of the rules means.
    fn first<'a>(&self, rules: &[Rule], about: &Attributes<'a>) -> Option<Place<'a>> {
        let others = if self.exact { &[] } else { about.equivalents };
        if rules.iter().any(|rule| rule.means(about, &about.place)) {
            return Some(about.place);
        }
        let mut means = rules
            .iter()
            .flat_map(|rule| others.iter().map(move |place| (rule, place)));
        means
            .find(|(rule, place)| **place != about.place && rule.means(about, place))
            .map(|(_, place)| *place)
    }
}

fn labels(object: &Value) -> Option<&Labels> {
    object["metadata"]["labels"].as_object()
}

impl Rule {
    fn new(rule: &Value) -> Self {
        let resources = texts(&rule["resources"]);
        let split = |resource: &String| match resource.split_once('/') {
            Some((resource, subresource)) => (resource.to_owned(), subresource.to_owned()),
            None => (resource.clone(), String::new()),
        };
        Self {
            names: texts(&rule["resourceNames"]),
            operations: texts(&rule["operations"]),
            groups: texts(&rule["apiGroups"]),
            versions: texts(&rule["apiVersions"]),
            resources: resources.iter().map(split).collect(),
            scope: match rule["scope"].as_str() {
                Some("Cluster") => Scope::Cluster,
                Some("Namespaced") => Scope::Namespaced,
                _ => Scope::Any,
            },
        }
    }

    fn means(&self, about: &Attributes<'_>, place: &Place<'_>) -> bool {
        let has = |list: &[String], wanted: &str| {
            list.iter().any(|entry| entry == "*" || entry == wanted)
        };
        self.fits_scope(about, place)
            && has(&self.operations, about.operation)
            && has(&self.groups, place.group)
            && has(&self.versions, place.version)
            && self.resources.iter().any(|(resource, subresource)| {
                (resource == "*" || resource == place.resource)
                    && (subresource == "*" || subresource == about.subresource)
            })
            && (self.names.is_empty() || self.names.iter().any(|name| name == about.name))
    }

    /// Namespaces belong to the cluster, whatever namespace the request is in.
    fn fits_scope(&self, about: &Attributes<'_>, place: &Place<'_>) -> bool {
        let is_namespace = place.group.is_empty() && place.resource == "namespaces";
        match self.scope {
            Scope::Any => true,
            Scope::Namespaced => !is_namespace && !about.namespace.is_empty(),
            Scope::Cluster => is_namespace || about.namespace.is_empty(),
        }
    }
}
