//! What to say of Envoy Gateway's policies: whether what they target is there, and not another one's.

use std::collections::BTreeMap;

use quadrille_machinery::selector::LabelSelector;
use serde_json::{Value, json};

use super::{
    CONTROLLERS, GROUP, Wanted,
    condition::{self, Condition},
    gateways::{any_controller, controller},
    routes::Parent,
    world::{Kind, World},
};
use crate::{
    read::{Place, created, list, text},
    world::Kinds as _,
};

/// As many ancestors fit into a status.
const MOST_ANCESTORS: usize = 16;

/// The statuses of policies that are not as they should be.
pub(super) fn decide(world: &World, now: &str) -> Vec<Wanted> {
    let Some(controller) = any_controller(world) else {
        return Vec::new();
    };
    let mut wanted = Vec::new();
    for kind in Kind::POLICIES {
        let mut policies: Vec<(&Place, &Value)> = world.all(kind).collect();
        // The oldest comes first, and by that has what it targets; names decide between those of one age.
        policies.sort_by_key(|(place, policy)| (created(policy), *place));
        let mut taken = BTreeMap::new();
        for (place, policy) in policies {
            let mut said = Said::default();
            for target in targets(world, place, policy) {
                target.judge(world, kind, place, controller, &mut taken, &mut said);
            }
            let before = list(&policy["status"]["ancestors"]);
            let ancestors = said.entries(before, &policy["metadata"]["generation"], now);
            if before != ancestors {
                wanted.push(Wanted {
                    kind,
                    place: place.clone(),
                    status: json!({ "ancestors": ancestors }),
                });
            }
        }
    }
    wanted
}

/// Something that a policy is for: a whole object, or a section of it (a listener, a rule).
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Target<'a> {
    kind: &'a str,
    place: Place,
    section: Option<&'a str>,
}

/// What a policy names, and what it selects by labels; all in its own namespace.
fn targets<'a>(world: &'a World, place: &Place, policy: &'a Value) -> Vec<Target<'a>> {
    let spec = &policy["spec"];
    let one = Some(&spec["targetRef"]).filter(|target| target.is_object());
    let named = one.into_iter().chain(list(&spec["targetRefs"]));
    let mut targets: Vec<Target<'a>> = named
        .map(|reference| Target {
            kind: text(&reference["kind"]),
            place: Place::new(&place.namespace, text(&reference["name"])),
            section: reference["sectionName"].as_str(),
        })
        .collect();
    for wanted in list(&spec["targetSelectors"]) {
        let Some(kind) = targetable(text(&wanted["kind"])) else {
            continue;
        };
        let Ok(selector) = LabelSelector::from_value(wanted) else {
            continue;
        };
        let selected = world
            .all(kind)
            .filter(|(found, _)| found.namespace == place.namespace)
            .filter(|(_, object)| selector.matches(object["metadata"]["labels"].as_object()))
            .map(|(found, _)| Target {
                kind: kind.name(),
                place: found.clone(),
                section: None,
            });
        targets.extend(selected);
    }
    targets
}

fn targetable(name: &str) -> Option<Kind> {
    let mut kinds = Kind::ROUTES.into_iter().chain([Kind::Gateway]);
    kinds.find(|kind| kind.name() == name)
}

/// Who has what already.
type Taken<'a> = BTreeMap<Target<'a>, Place>;

impl<'a> Target<'a> {
    /// Says to each gateway that is concerned what becomes of a policy for this.
    fn judge(
        self,
        world: &'a World,
        policy: Kind,
        owner: &Place,
        controller: &'a str,
        taken: &mut Taken<'a>,
        said: &mut Said<'a>,
    ) {
        let no = |reason, why: String| Condition::no("Accepted", reason, why);
        let (kind, name) = (self.kind, &*self.place.name);
        let found = targetable(kind).and_then(|kind| {
            let object = world.get(kind, &self.place.namespace, name)?;
            Some((kind, object))
        });
        let Some((known, object)) = found else {
            // There is no gateway to name, so that what is missing stands for it.
            let reference = reference(kind, &self.place, self.section);
            let why = format!("there is no {kind} {name} in its namespace");
            said.say(reference, controller, no("TargetNotFound", why));
            return;
        };
        let ancestors = ancestors(world, known, &self, object);
        if ancestors.is_empty() {
            return;
        }
        let condition = if let Some(section) = self.section
            && !has_section(known, object, section)
        {
            let why = format!("the {kind} {name} has no section {section}");
            no("TargetNotFound", why)
        } else if let Some(other) = taken.get(&self).filter(|other| *other != owner) {
            let why = format!(
                "the {kind} {name} has a {} already: {}",
                policy.name(),
                other.name
            );
            no("Conflicted", why)
        } else {
            taken.insert(self, owner.clone());
            Condition::yes("Accepted", "Accepted", "the policy is accepted")
        };
        for (reference, controller) in ancestors {
            said.say(reference, controller, condition.clone());
        }
    }
}

/// Whether a gateway has a listener, or a route a rule, of a name.
fn has_section(kind: Kind, object: &Value, section: &str) -> bool {
    let sections = match kind {
        Kind::Gateway => &object["spec"]["listeners"],
        _ => &object["spec"]["rules"],
    };
    list(sections).iter().any(|known| known["name"] == section)
}

/// The gateways that a target belongs to, with their controllers; none where it is others' business.
fn ancestors<'a>(
    world: &'a World,
    kind: Kind,
    target: &Target<'_>,
    object: &'a Value,
) -> Vec<(Value, &'a str)> {
    let gateway = |place: &Place, section| reference(Kind::Gateway.name(), place, section);
    if kind == Kind::Gateway {
        let controller = controller(world, text(&object["spec"]["gatewayClassName"]));
        let ours = controller.into_iter();
        return ours
            .map(|controller| (gateway(&target.place, target.section), controller))
            .collect();
    }
    let parents = list(&object["spec"]["parentRefs"])
        .iter()
        .filter_map(|parent| Parent::of(world, &target.place, parent))
        .filter(|parent| parent.gateway.is_some());
    parents
        .map(|parent| (gateway(&parent.place, parent.section), parent.controller))
        .collect()
}

fn reference(kind: &str, place: &Place, section: Option<&str>) -> Value {
    let mut reference = json!({
        "group": GROUP, "kind": kind, "namespace": &*place.namespace, "name": &*place.name,
    });
    if let Some(section) = section {
        reference["sectionName"] = json!(section);
    }
    reference
}

/// What is said of one policy, per ancestor.
#[derive(Default)]
struct Said<'a> {
    conditions: Vec<(Value, &'a str, Condition)>,
}

impl<'a> Said<'a> {
    /// Where one ancestor is concerned by several targets, trouble counts.
    fn say(&mut self, reference: Value, controller: &'a str, condition: Condition) {
        let mut known = self.conditions.iter_mut();
        match known.find(|(known, _, _)| *known == reference) {
            Some((_, _, said)) if said.is_true => *said = condition,
            Some(_) => {}
            None => self.conditions.push((reference, controller, condition)),
        }
    }

    /// The ancestors of a status. What other controllers say of theirs stays.
    fn entries(&self, before: &[Value], generation: &Value, now: &str) -> Vec<Value> {
        let (ours, others): (Vec<&Value>, Vec<&Value>) = before
            .iter()
            .partition(|entry| CONTROLLERS.contains(&text(&entry["controllerName"])));
        let said = self
            .conditions
            .iter()
            .map(|(reference, controller, condition)| {
                let old = ours.iter().find(|entry| entry["ancestorRef"] == *reference);
                let old = old.map_or(&Value::Null, |entry| &entry["conditions"]);
                let conditions = std::slice::from_ref(condition);
                json!({
                    "ancestorRef": reference,
                    "controllerName": controller,
                    "conditions": condition::list(conditions, old, generation, now),
                })
            });
        let entries = others.into_iter().cloned().chain(said);
        entries.take(MOST_ANCESTORS).collect()
    }
}

#[cfg(test)]
mod tests;
