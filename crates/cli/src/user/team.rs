//! The local users of a running instance: bindings in its API, kubeconfigs in its folder.

use std::path::{Path, PathBuf};

use k8s_openapi::api::rbac::v1::{ClusterRoleBinding, RoleBinding};
use kube::{
    Api, Client,
    api::{DeleteParams, ListParams, Patch, PatchParams},
    config::{KubeConfigOptions, Kubeconfig},
};
use quadrille_controllers::permissions::people::{ROLES, Role};
use serde_json::{Value, json};

use crate::{
    data_folder::{DataFolder, command_on, shown},
    failure::Failure,
    instance::{self, Found},
};

/// On every binding of a local user: whose it is.
const LABEL: &str = "openchoreo.dev/local-user";
const MANAGER: &str = "quad";

/// A running instance, as those see it who run it.
pub(super) struct Team {
    pub(super) folder: DataFolder,
    /// `host:port` of its API.
    pub(super) address: String,
    client: Client,
}

/// One role of one user.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Member {
    pub(super) name: String,
    pub(super) role: String,
    /// Empty for a role in the whole cluster.
    pub(super) organization: String,
}

impl Team {
    /// Of the instance that runs on a folder.
    pub(super) async fn of(given: Option<&Path>) -> Result<Self, Failure> {
        let folder = DataFolder::open(given)?;
        let found = instance::find(folder.path()).map_err(|error| {
            Failure::new(format!("{} cannot be looked at", shown(folder.path()))).because(&error)
        })?;
        let address = match found {
            Found::Running(Some(facts)) if !facts.url.is_empty() => {
                facts.url.trim_start_matches("https://").to_owned()
            }
            Found::Running(_) => {
                return Err(
                    Failure::not_yet("the instance is just starting").next("Try again in a moment")
                );
            }
            Found::Nobody => {
                return Err(
                    Failure::new(format!("nothing runs on {}", shown(folder.path())))
                        .next(format!("Start it: {}", command_on(folder.path(), "up")))
                        .next("or name the folder of another one: --data-dir FOLDER"),
                );
            }
        };
        let client = connect(&folder).await?;
        Ok(Self {
            folder,
            address,
            client,
        })
    }

    /// Where the kubeconfig of a user is.
    pub(super) fn kubeconfig(&self, user: &str) -> PathBuf {
        self.folder.users().join(format!("{user}.kubeconfig"))
    }

    /// Gives a user a role.
    pub(super) async fn bind(&self, member: &Member, role: &Role) -> Result<(), Failure> {
        let name = format!("{}-{}", role.cluster_role(), member.name);
        let kind = if role.is_local {
            "RoleBinding"
        } else {
            "ClusterRoleBinding"
        };
        let binding = json!({
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": kind,
            "metadata": { "name": name, "labels": { LABEL: member.name } },
            "roleRef": {
                "apiGroup": "rbac.authorization.k8s.io",
                "kind": "ClusterRole",
                "name": role.cluster_role(),
            },
            "subjects": [{
                "apiGroup": "rbac.authorization.k8s.io",
                "kind": "User",
                "name": member.name,
            }],
        });
        let applied = if role.is_local {
            self.apply_local(&member.organization, &name, &binding)
                .await
        } else {
            let api = Api::<ClusterRoleBinding>::all(self.client.clone());
            api.patch(&name, &manager(), &Patch::Apply(&binding))
                .await
                .map(|_| ())
        };
        applied.map_err(|error| match &error {
            kube::Error::Api(status) if status.code == 404 => {
                Failure::new(format!("there is no organization {}", member.organization))
                    .because(&error)
                    .next("See which there are: kubectl get organizations,namespaces")
            }
            _ => refused(&error),
        })
    }

    async fn apply_local(
        &self,
        organization: &str,
        name: &str,
        binding: &Value,
    ) -> kube::Result<()> {
        let api = Api::<RoleBinding>::namespaced(self.client.clone(), organization);
        api.patch(name, &manager(), &Patch::Apply(binding))
            .await
            .map(|_| ())
    }

    /// Everybody, by name; of one user if one is named.
    pub(super) async fn members(&self, user: Option<&str>) -> Result<Vec<Member>, Failure> {
        let local = Api::<RoleBinding>::all(self.client.clone());
        let local = local
            .list(&wanted(user))
            .await
            .map_err(|error| refused(&error))?;
        let wide = Api::<ClusterRoleBinding>::all(self.client.clone());
        let wide = wide
            .list(&wanted(user))
            .await
            .map_err(|error| refused(&error))?;
        let local = local
            .items
            .into_iter()
            .map(|binding| (binding.metadata, binding.role_ref));
        let wide = wide
            .items
            .into_iter()
            .map(|binding| (binding.metadata, binding.role_ref));
        let members = local.chain(wide).filter_map(|(metadata, role)| {
            let role = ROLES
                .iter()
                .find(|known| known.cluster_role() == role.name)?;
            Some(Member {
                name: metadata.labels?.remove(LABEL)?,
                role: role.name.to_owned(),
                organization: metadata.namespace.unwrap_or_default(),
            })
        });
        let mut members: Vec<Member> = members.collect();
        members.sort();
        Ok(members)
    }

    /// Takes all roles from a user.
    pub(super) async fn unbind(&self, user: &str, members: &[Member]) -> Result<(), Failure> {
        let how = DeleteParams::default();
        for member in members {
            let deleted = if member.organization.is_empty() {
                let api = Api::<ClusterRoleBinding>::all(self.client.clone());
                api.delete_collection(&how, &wanted(Some(user)))
                    .await
                    .map(|_| ())
            } else {
                let api = Api::<RoleBinding>::namespaced(self.client.clone(), &member.organization);
                api.delete_collection(&how, &wanted(Some(user)))
                    .await
                    .map(|_| ())
            };
            deleted.map_err(|error| refused(&error))?;
        }
        Ok(())
    }
}

fn manager() -> PatchParams {
    PatchParams::apply(MANAGER).force()
}

fn wanted(user: Option<&str>) -> ListParams {
    let labels = user.map_or_else(|| LABEL.to_owned(), |user| format!("{LABEL}={user}"));
    ListParams::default().labels(&labels)
}

async fn connect(folder: &DataFolder) -> Result<Client, Failure> {
    let kubeconfig = folder.kubeconfig();
    let unusable = |error: &(dyn std::error::Error + 'static)| {
        Failure::new(format!("{} cannot be used", shown(&kubeconfig)))
            .because(error)
            .next(format!(
                "It is written anew at every start: {} && {}",
                command_on(folder.path(), "down"),
                command_on(folder.path(), "up")
            ))
    };
    let read = Kubeconfig::read_from(&kubeconfig).map_err(|error| unusable(&error))?;
    let config = kube::Config::from_custom_kubeconfig(read, &KubeConfigOptions::default())
        .await
        .map_err(|error| unusable(&error))?;
    quadrille_planes::connect::over(&config).map_err(|error| unusable(&error))
}

fn refused(error: &kube::Error) -> Failure {
    Failure::new("the API does not do it")
        .because(error)
        .next("See whether it is well: kubectl get --raw /readyz")
}
