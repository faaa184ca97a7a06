//! A service, web application or scheduled task in its environment: its class's templates with its workload in them.

mod parts;
mod routes;

use std::collections::{BTreeMap, BTreeSet};

use quadrille_types::{
    ConfigurationGroup, ScheduledTaskBindingSpec, ScheduledTaskClassSpec, SecretReferenceSpec,
    ServiceBindingSpec, ServiceClassSpec, WebApplicationBindingSpec, WebApplicationClassSpec,
    exposed_endpoint::ExposedEndpoint,
    names::generate,
    release::TargetPlane,
    release_state::ReleaseState,
    workload::{EndpointPort, Resolved as Workload, WorkloadOwner, WorkloadTemplate},
};
use serde_json::Value;

pub use self::routes::routes;
pub use super::connections::Offer;
use super::{
    Plane, Stage,
    bundle::Stock,
    checked, connections,
    error::{At, Found, Mistake, Mistakes},
    exposed,
    place::{Ground, Place, Whose},
    settings::Settings,
    told,
};
use crate::{
    error::RenderError,
    finish::{self, Rendered, id_of},
    gateway::Gateways,
    plan::{Plan, Planned},
    routes::Exposure,
};

/// What is bound, with its class.
#[derive(Clone, Copy, Debug)]
pub enum Instance<'a> {
    /// A service.
    Service(&'a ServiceBindingSpec, &'a ServiceClassSpec),
    /// A web application.
    WebApplication(&'a WebApplicationBindingSpec, &'a WebApplicationClassSpec),
    /// A scheduled task.
    ScheduledTask(&'a ScheduledTaskBindingSpec, &'a ScheduledTaskClassSpec),
}

/// Everything that a binding is rendered from.
#[derive(Clone, Debug)]
pub struct Inputs<'a> {
    /// The organization: the namespace of the binding.
    pub organization: &'a str,
    /// The name of the binding.
    pub name: &'a str,
    /// What is bound.
    pub instance: Instance<'a>,
    /// The environment.
    pub environment: Stage<'a>,
    /// Its data plane.
    pub plane: Plane<'a>,
    /// Configuration groups of the organization: at least those that are used.
    pub groups: Vec<&'a ConfigurationGroup>,
    /// References to secrets of the organization, by name: at least those that are used.
    pub secrets: &'a BTreeMap<String, SecretReferenceSpec>,
    /// What others offer in the environment: at least what is needed.
    pub offers: Vec<Offer>,
}

/// What routes to a binding are made from: whoever makes them gets this.
#[derive(Clone, Copy, Debug)]
pub struct Base<'a> {
    /// The name of the binding.
    pub name: &'a str,
    /// Where it answers.
    pub ground: &'a Ground,
    /// What it listens on, by name.
    pub endpoints: &'a BTreeMap<String, EndpointPort>,
}

/// What a binding becomes.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// Its objects; none where it was taken away.
    pub plan: Plan,
    /// Where it is reached, for its status.
    pub endpoints: Vec<ExposedEndpoint>,
}

impl<'a> Inputs<'a> {
    fn whose(&self) -> Whose<'a> {
        let owner = self.instance.owner();
        Whose {
            organization: self.organization,
            project: owner.project_name.as_str(),
            component: owner.component_name.as_str(),
        }
    }
}

impl<'a> Instance<'a> {
    /// Its kind.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Service(..) => "Service",
            Self::WebApplication(..) => "WebApplication",
            Self::ScheduledTask(..) => "ScheduledTask",
        }
    }

    fn owner(&self) -> &'a WorkloadOwner {
        match self {
            Self::Service(binding, _) => &binding.owner,
            Self::WebApplication(binding, _) => &binding.owner,
            Self::ScheduledTask(binding, _) => &binding.owner,
        }
    }

    fn workload(&self) -> &WorkloadTemplate {
        match self {
            Self::Service(binding, _) => &binding.workload_spec,
            Self::WebApplication(binding, _) => &binding.workload_spec,
            Self::ScheduledTask(binding, _) => &binding.workload_spec,
        }
    }

    fn class_name(&self) -> &str {
        match self {
            Self::Service(binding, _) => &binding.class_name,
            Self::WebApplication(binding, _) => &binding.class_name,
            Self::ScheduledTask(binding, _) => &binding.class_name,
        }
    }

    fn state(&self) -> ReleaseState {
        match self {
            Self::Service(binding, _) => binding.release_state,
            Self::WebApplication(binding, _) => binding.release_state,
            Self::ScheduledTask(binding, _) => binding.release_state,
        }
    }

    /// Words that are kept and mean nothing.
    fn idle_words(&self) -> Vec<String> {
        let overrides = match self {
            Self::Service(..) => return Vec::new(),
            Self::WebApplication(binding, _) => &binding.overrides,
            Self::ScheduledTask(binding, _) => &binding.overrides,
        };
        let note = |name: &String| format!("spec.overrides.{name} is kept and means nothing");
        overrides.keys().map(note).collect()
    }
}

/// The configuration groups and secret references that a workload uses, by name: whoever fetches looks for these.
pub fn uses(workload: &WorkloadTemplate) -> (Vec<String>, Vec<String>) {
    let resolved = workload.resolve("spec.workloadSpec");
    let settings = resolved.map(|workload| {
        let at = At::new("", "spec.workloadSpec");
        Settings::of_container(&workload.container, &at)
    });
    settings
        .map(|settings| settings.names())
        .unwrap_or_default()
}

/// What a binding becomes. `routes` makes what leads to it from beyond its cell; what it cannot make, nothing is made of:
/// an endpoint that should be guarded is never left without its guard.
pub fn plan(
    inputs: &Inputs<'_>,
    routes: impl FnOnce(&Base<'_>) -> Result<Exposure, Vec<RenderError>>,
) -> Result<Outcome, Mistakes> {
    let instance = inputs.instance;
    let whose = format!("{}Binding {}", instance.kind(), inputs.name);
    let owner = instance.owner();
    let place = Place::of_binding(&inputs.whose(), inputs.environment.name);
    if instance.state() == ReleaseState::Undeploy {
        return Ok(Outcome {
            plan: gathered(&place, Vec::new()),
            endpoints: Vec::new(),
        });
    }
    let mut found = Found::default();
    let at = At::new(&whose, "spec.workloadSpec");
    let resolved = instance.workload().resolve(&at.field);
    let Some(workload) = found.keep(resolved.map_err(|problem| at.problem(problem))) else {
        return Err(found.finish().err().unwrap_or(Mistakes(Vec::new())));
    };
    refuse_newer_needs(&workload, &at, &mut found);
    refuse_split_ports(&workload, &at, &mut found);
    let names = [inputs.name];
    let stock = Stock {
        groups: &inputs.groups,
        secrets: inputs.secrets,
        environment: inputs.environment.name,
        plane: inputs.plane,
        parts: &names,
    };
    let settings = Settings::of_container(&workload.container, &at.below("containers"));
    let mut told = told::tell(&settings, &stock, &place, &mut found);
    let (env, pending) = connections::inject(
        &workload.connections,
        inputs.organization,
        owner.project_name.as_str(),
        &inputs.offers,
        &at.below("connections"),
        &mut found,
    );
    add_once(&mut told, env);
    let parts = parts::Parts {
        inputs,
        place: &place,
        workload: &workload,
        told: &told,
    };
    let mut objects = found.keep_all(parts.objects()).unwrap_or_default();
    let ground = Ground::of_binding(&inputs.whose(), inputs.environment.name, inputs.name);
    let base = Base {
        name: inputs.name,
        ground: &ground,
        endpoints: &workload.endpoints,
    };
    let routes =
        routes(&base).map_err(|errors| errors.into_iter().map(Mistake::from).collect::<Vec<_>>());
    let routes = found.keep_all(routes).unwrap_or_default();
    found.finish()?;
    objects.extend(
        told.objects
            .iter()
            .map(|object| (config_id(object), object.clone())),
    );
    let mut plan = finished(&place, objects, routes.objects)?;
    let gateways = Gateways::of(inputs.environment.spec, inputs.plane.spec);
    let rendered = plan.objects.iter().map(|planned| &planned.object);
    let endpoints = exposed::of(
        &instance.workload().endpoints,
        &ground.service,
        &rendered,
        &gateways,
    );
    plan.pending_connections = pending;
    plan.secret_references = told.secret_references;
    plan.notes = told.notes;
    plan.notes.extend(routes.notes);
    plan.notes.extend(instance.idle_words());
    Ok(Outcome { plan, endpoints })
}

/// The id of an object of a binding: the binding's name and what it is, where that fits into a label.
fn own_id(binding: &str, what: &str) -> String {
    id_of(&[binding, what])
}

fn config_id(object: &Value) -> String {
    let kind = object["kind"].as_str().unwrap_or_default().to_lowercase();
    id_of(&[
        &kind,
        object["metadata"]["name"].as_str().unwrap_or_default(),
    ])
}

/// Adds variables about connections; one that the workload sets itself stays as it is.
fn add_once(told: &mut told::Told, env: Vec<Value>) {
    for variable in env {
        if told
            .env
            .iter()
            .any(|known| known["name"] == variable["name"])
        {
            told.notes.push(format!(
                "variable {} is set by itself; what its connection has for it is left out",
                variable["name"].as_str().unwrap_or_default()
            ));
        } else {
            told.env.push(variable);
        }
    }
}

/// Needs that only component types know.
fn refuse_newer_needs(workload: &Workload, at: &At, found: &mut Found) {
    for (needs, field) in [
        (!workload.resources.is_empty(), "dependencies.resources"),
        (!workload.outside.is_empty(), "dependencies.external"),
    ] {
        if needs {
            found.push(at.below(field).wrong(
                "cannot be met for an instance of a class: give the component a componentType instead",
            ));
        }
    }
}

/// One port of a Service leads to one port of its pods.
fn refuse_split_ports(workload: &Workload, at: &At, found: &mut Found) {
    let mut known: BTreeMap<(i32, &str), (i32, &str)> = BTreeMap::new();
    for (name, endpoint) in &workload.endpoints {
        let port = (endpoint.port, endpoint.protocol.transport());
        let (target, first) = *known.entry(port).or_insert((endpoint.target_port, name));
        if target != endpoint.target_port {
            found.push(at.below(&format!("endpoints.{name}.targetPort")).wrong(format!(
                "is {}, but port {} leads to {target} already, by endpoint {first}: give one of them another port",
                endpoint.target_port, endpoint.port
            )));
        }
    }
}

/// What a server would refuse, and what restarts pods.
fn finished(
    place: &Place,
    objects: Vec<(String, Value)>,
    routes: Vec<Planned>,
) -> Result<Plan, Mistakes> {
    let mut found = Found::default();
    for (_, object) in &objects {
        checked::check(object, &[], &mut found);
    }
    let mut ids = BTreeSet::new();
    let all = objects.iter().map(|(id, _)| id);
    for id in all.chain(routes.iter().map(|planned| &planned.id)) {
        if !ids.insert(id) {
            let object = id.clone();
            found.push(RenderError::Duplicate { object }.into());
        }
    }
    found.finish()?;
    let (ids, objects): (Vec<String>, Vec<Value>) = objects.into_iter().unzip();
    let rendered = |object| Rendered {
        plane: TargetPlane::Data,
        object,
        made_by: "binding",
    };
    let mut rendered: Vec<Rendered<'_>> = objects.into_iter().map(rendered).collect();
    finish::note_restarts(&mut rendered, "deployment", None);
    let own = ids.into_iter().zip(rendered).map(|(id, rendered)| Planned {
        id,
        plane: rendered.plane,
        object: rendered.object,
    });
    Ok(gathered(place, own.chain(routes).collect()))
}

fn gathered(place: &Place, objects: Vec<Planned>) -> Plan {
    Plan {
        objects,
        namespace: place.namespace.clone(),
        endpoints: Vec::new(),
        secret_references: Vec::new(),
        pending_connections: Vec::new(),
        pending_resources: Vec::new(),
        notes: Vec::new(),
    }
}

/// What a `CronJob` is called.
fn cron_job_name(binding: &str) -> String {
    generate::name_within(generate::CRON_JOB_LIMIT, &[binding])
}
