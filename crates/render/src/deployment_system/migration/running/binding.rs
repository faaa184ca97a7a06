//! What runs of a binding of a class, with the APIs that are bound by themselves.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use quadrille_types::{
    ApiBinding, ApiClass, ApiClassSpec, ConfigurationGroup, PublishedApi, ScheduledTaskBinding,
    ScheduledTaskClass, ServiceBinding, ServiceClass, WebApplicationBinding, WebApplicationClass,
    release_state::ReleaseState, workload::WorkloadTemplate,
};
use serde_json::Value;

use super::{
    Own, Running, Whose,
    deployment::{secrets, unrendered},
    given, groups, own_name,
};
use crate::{
    deployment_system::{
        Ground,
        api::{self, ApiInputs},
        binding::{self, Inputs, Instance, Offer},
        error::At,
        migration::{
            MigrationError, Warning,
            pile::{Site, read},
            pods,
            sources::{INSTANCES, is_of},
        },
        settings::Settings,
    },
    routes::Exposure,
};

/// The container of a workload that gives it no name.
const CONTAINER: &str = "main";

/// A binding, whatever it binds.
struct Binding<'a> {
    kind: &'static str,
    metadata: &'a ObjectMeta,
    environment: &'a str,
    state: ReleaseState,
    workload: &'a WorkloadTemplate,
}

pub(super) fn services(
    whose: Whose<'_>,
    bindings: &[ServiceBinding],
    warnings: &mut Vec<Warning>,
) -> Result<Vec<Running>, MigrationError> {
    let one = |bound: &ServiceBinding| {
        let binding = Binding {
            kind: "Service",
            metadata: &bound.metadata,
            environment: bound.spec.environment.as_str(),
            state: bound.spec.release_state,
            workload: &bound.spec.workload_spec,
        };
        let class: ServiceClass = binding.class(whose, &bound.spec.class_name)?;
        let mut spec = bound.spec.clone();
        spec.release_state = rendered_as(spec.release_state);
        binding.running(whose, Instance::Service(&spec, &class.spec), warnings)
    };
    bindings.iter().map(one).collect()
}

pub(super) fn web_applications(
    whose: Whose<'_>,
    bindings: &[WebApplicationBinding],
    warnings: &mut Vec<Warning>,
) -> Result<Vec<Running>, MigrationError> {
    let one = |bound: &WebApplicationBinding| {
        let binding = Binding {
            kind: "WebApplication",
            metadata: &bound.metadata,
            environment: bound.spec.environment.as_str(),
            state: bound.spec.release_state,
            workload: &bound.spec.workload_spec,
        };
        let class: WebApplicationClass = binding.class(whose, &bound.spec.class_name)?;
        let mut spec = bound.spec.clone();
        spec.release_state = rendered_as(spec.release_state);
        let instance = Instance::WebApplication(&spec, &class.spec);
        binding.running(whose, instance, warnings)
    };
    bindings.iter().map(one).collect()
}

pub(super) fn scheduled_tasks(
    whose: Whose<'_>,
    bindings: &[ScheduledTaskBinding],
    warnings: &mut Vec<Warning>,
) -> Result<Vec<Running>, MigrationError> {
    let one = |bound: &ScheduledTaskBinding| {
        let binding = Binding {
            kind: "ScheduledTask",
            metadata: &bound.metadata,
            environment: bound.spec.environment.as_str(),
            state: bound.spec.release_state,
            workload: &bound.spec.workload_spec,
        };
        let class: ScheduledTaskClass = binding.class(whose, &bound.spec.class_name)?;
        let mut spec = bound.spec.clone();
        spec.release_state = rendered_as(spec.release_state);
        let instance = Instance::ScheduledTask(&spec, &class.spec);
        binding.running(whose, instance, warnings)
    };
    bindings.iter().map(one).collect()
}

/// What was taken away is moved as it would run, so that it can be brought back there.
fn rendered_as(state: ReleaseState) -> ReleaseState {
    match state {
        ReleaseState::Undeploy => ReleaseState::Active,
        other => other,
    }
}

impl Binding<'_> {
    fn called(&self) -> String {
        format!("{}Binding {}", self.kind, own_name(self.metadata))
    }

    fn class<K: serde::de::DeserializeOwned>(
        &self,
        whose: Whose<'_>,
        name: &str,
    ) -> Result<K, MigrationError> {
        let kind = format!("{}Class", self.kind);
        whose.pile.get(&kind, name, &self.called())
    }

    fn running(
        &self,
        whose: Whose<'_>,
        instance: Instance<'_>,
        warnings: &mut Vec<Warning>,
    ) -> Result<Running, MigrationError> {
        let by = self.called();
        let site = whose.pile.site(self.environment, &by)?;
        let groups_known: Vec<ConfigurationGroup> = whose.pile.all("ConfigurationGroup")?;
        let secrets_known = secrets(whose)?;
        let classes: BTreeMap<String, ApiClass> = whose.pile.by_name("APIClass")?;
        let classes: BTreeMap<String, ApiClassSpec> = classes
            .into_iter()
            .map(|(name, class)| (name, class.spec))
            .collect();
        let name = own_name(self.metadata);
        let inputs = Inputs {
            organization: &whose.pile.organization,
            name,
            instance,
            environment: site.stage(),
            plane: site.plane(),
            groups: groups_known.iter().collect(),
            secrets: &secrets_known,
            offers: offers(whose, self.environment)?,
        };
        let outcome = binding::plan(&inputs, |base| {
            binding::routes(&inputs, base, &classes, &[])
        });
        let plan = outcome
            .map_err(|mistakes| unrendered(&site, &mistakes))?
            .plan;
        warnings.extend(plan.notes.iter().map(|note| Warning::new(&by, note)));
        let mut objects: Vec<Value> = plan.objects.into_iter().map(|one| one.object).collect();
        if let Some(pending) = plan.pending_connections.first()
            && !self.keep_what_it_is_told(whose, &mut objects)
        {
            return Err(MigrationError::NotRendered {
                environment: site.name,
                cause: format!(
                    "{by} waits for endpoint {} of {}/{}: {}",
                    pending.endpoint, pending.project, pending.component, pending.reason
                ),
            });
        }
        let mut ends = self.ends(whose);
        let apis = Apis {
            whose,
            site: &site,
            binding: name,
            classes: &classes,
        };
        apis.take(&mut objects, &mut ends, warnings)?;
        let workload = self.workload.resolve("spec.workloadSpec");
        let workload = workload.map_err(|problem| MigrationError::NotRendered {
            environment: site.name.clone(),
            cause: problem.to_string(),
        })?;
        let settings = Settings::of_container(&workload.container, &At::new(&by, ""));
        let (env, files) = given(&settings);
        let (used, secrets) = settings.names();
        let container = self.workload.containers.keys().next();
        Ok(Running {
            groups: groups(whose, &used, &[name]),
            parts: vec![name.to_owned()],
            by: (self.binding_kind(), name.to_owned()),
            objects,
            state: self.state,
            container: container.map_or(CONTAINER, String::as_str).to_owned(),
            own: Own {
                image: workload.container.image,
                command: workload.container.command,
                args: workload.container.args,
                env,
                files,
            },
            endpoints: self.workload.endpoints.clone(),
            connections: workload.connections,
            secrets,
            ends,
            site,
        })
    }

    /// Where something that it connects to has gone, what it is told about that is what its Release tells: that runs.
    fn keep_what_it_is_told(&self, whose: Whose<'_>, objects: &mut [Value]) -> bool {
        let is_own = |release: &&Value| {
            let owners = release["metadata"]["ownerReferences"].as_array();
            let mut owners = owners.into_iter().flatten();
            owners.any(|one| {
                one["kind"] == self.binding_kind() && one["name"] == *own_name(self.metadata)
            })
        };
        let release = whose.pile.of_kind("Release").find(is_own);
        let resources = release.and_then(|found| found["spec"]["resources"].as_array());
        let mut released = resources.into_iter().flatten().map(|one| &one["object"]);
        let containers = |object: &Value| {
            let pods = pods::of(object)?;
            pods.pointer("/spec/containers").cloned()
        };
        let Some(told) = released.find_map(containers) else {
            return false;
        };
        let env = |container: &Value| {
            let told = told.as_array();
            let mut told = told.into_iter().flatten();
            let same = told.find(|one| one["name"] == container["name"]);
            same.and_then(|one| one.get("env")).cloned()
        };
        for object in objects {
            let Some(way) = pods::way(object) else {
                continue;
            };
            let containers = object.pointer_mut(&format!("{way}/spec/containers"));
            let containers = containers.and_then(Value::as_array_mut);
            for container in containers.into_iter().flatten() {
                if let Some(env) = env(container) {
                    container["env"] = env;
                }
            }
        }
        true
    }

    fn binding_kind(&self) -> &'static str {
        match self.kind {
            "Service" => "ServiceBinding",
            "WebApplication" => "WebApplicationBinding",
            _ => "ScheduledTaskBinding",
        }
    }

    /// The binding, and its instance: that would only make the binding anew.
    fn ends(&self, whose: Whose<'_>) -> Vec<(&'static str, String)> {
        let mut ends = Vec::new();
        for kind in INSTANCES {
            let instances = whose.pile.of_kind(kind);
            let own = instances.filter(|one| is_of(one, whose.component));
            ends.extend(own.map(|one| (kind, super::pile::name(one).to_owned())));
        }
        ends.push((self.binding_kind(), own_name(self.metadata).to_owned()));
        ends
    }
}

/// What others offer in an environment.
fn offers(whose: Whose<'_>, environment: &str) -> Result<Vec<Offer>, MigrationError> {
    let services: Vec<ServiceBinding> = whose.pile.all("ServiceBinding")?;
    let here = services
        .iter()
        .filter(|one| one.spec.environment.as_str() == environment);
    Ok(here.flat_map(Offer::of).collect())
}

/// The APIs of a component that are bound by themselves.
struct Apis<'a> {
    whose: Whose<'a>,
    site: &'a Site,
    /// The binding of the service behind them.
    binding: &'a str,
    classes: &'a BTreeMap<String, ApiClassSpec>,
}

impl Apis<'_> {
    fn take(
        &self,
        objects: &mut Vec<Value>,
        ends: &mut Vec<(&'static str, String)>,
        warnings: &mut Vec<Warning>,
    ) -> Result<(), MigrationError> {
        for document in self.whose.pile.of_kind("APIBinding") {
            let bound: ApiBinding = read(document)?;
            let about = format!("APIBinding {}", own_name(&bound.metadata));
            let Some(api) = self.whose.pile.find("API", &bound.spec.api_name) else {
                continue;
            };
            let is_here = [&self.site.name, &self.site.called]
                .iter()
                .any(|name| bound.spec.environment_name.as_str() == name.as_str());
            if !is_here || !is_of(api, self.whose.component) {
                continue;
            }
            let api: PublishedApi = read(api)?;
            ends.push(("APIBinding", own_name(&bound.metadata).to_owned()));
            ends.push(("API", own_name(&api.metadata).to_owned()));
            match self.exposure(&bound, &api) {
                Ok(exposure) => {
                    let notes = exposure.notes.iter();
                    warnings.extend(notes.map(|note| Warning::new(&about, note)));
                    objects.extend(exposure.objects.into_iter().map(|one| one.object));
                }
                Err(words) => {
                    let words = format!(
                        "nothing leads to it in {} now, nor will: {words}",
                        self.site.name
                    );
                    warnings.push(Warning::new(about, words));
                }
            }
        }
        Ok(())
    }

    fn exposure(&self, bound: &ApiBinding, api: &PublishedApi) -> Result<Exposure, String> {
        let wanted = bound.spec.api_class_name.as_str();
        let class_spec = self.classes.get(wanted);
        let class_spec = class_spec.ok_or_else(|| format!("there is no APIClass {wanted}"))?;
        let owner = self.whose.names();
        let ground = Ground::of_binding(&owner, &self.site.name, self.binding);
        let inputs = ApiInputs {
            whose: &format!("API {}", bound.spec.api_name),
            field: "spec",
            binding: own_name(&bound.metadata),
            api: &bound.spec.api_name,
            spec: &api.spec.offered,
            class: wanted,
            class_spec,
            place: ground.place(owner, self.site.stage(), self.site.plane()),
            taken: &[],
        };
        api::plan(&inputs).map_err(|error| error.to_string())
    }
}
