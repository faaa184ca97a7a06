//! Binaries of the real control plane and CRDs of other projects: versions, and where they lie. `cargo xtask
//! assets` puts them there; nothing here downloads or builds.
//!
//! The folder is `$QUADRILLE_ASSETS`, or `quadrille/assets` in the user's cache folder, so that all clones on a
//! machine share it. Every part has a folder of its own with its version in the name.

use std::{
    env, fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, bail};

/// Version of kube-apiserver, kube-controller-manager, kube-scheduler and kubectl.
pub const KUBERNETES: &str = "1.36.3";
/// Version of etcd.
pub const ETCD: &str = "3.6.16";
/// Version of kwok, which simulates nodes and pods.
pub const KWOK: &str = "0.8.0";

/// Another project's CRDs inside its Go module.
#[derive(Debug, Clone, Copy)]
pub struct CrdSource {
    /// Short name, for [`crds`].
    pub name: &'static str,
    /// Path of the Go module.
    pub module: &'static str,
    /// Version of the module.
    pub version: &'static str,
    /// Checksum of the module's files, as in a `go.sum`.
    pub sum: &'static str,
    /// Folder inside the module; its subfolders are not searched.
    pub folder: &'static str,
}

/// Where each project keeps its CRDs.
pub const CRD_SOURCES: &[CrdSource] = &[
    CrdSource {
        name: "gateway-api-standard",
        module: "sigs.k8s.io/gateway-api",
        version: "v1.6.3",
        sum: "h1:lKpJa5bGlraC/QeACvCpsHLdmO6y0iKfzVl6gzaFEYc=",
        folder: "config/crd/standard",
    },
    CrdSource {
        name: "gateway-api-experimental",
        module: "sigs.k8s.io/gateway-api",
        version: "v1.6.3",
        sum: "h1:lKpJa5bGlraC/QeACvCpsHLdmO6y0iKfzVl6gzaFEYc=",
        folder: "config/crd/experimental",
    },
    CrdSource {
        name: "envoy-gateway",
        module: "github.com/envoyproxy/gateway",
        version: "v1.9.1",
        sum: "h1:vAVp6/AlBXJ1aOhp1mxL7fNEzVEfjADUguUhm2wzxQY=",
        folder: "charts/gateway-crds-helm/templates/generated",
    },
    CrdSource {
        name: "cilium-v2",
        module: "github.com/cilium/cilium",
        version: "v1.20.2",
        sum: "h1:dqiEGIcXc+gqCLYG/l7VCFJ8GHyb4HUrwbZOpkX5dL8=",
        folder: "pkg/k8s/apis/cilium.io/client/crds/v2",
    },
    CrdSource {
        name: "cilium-v2alpha1",
        module: "github.com/cilium/cilium",
        version: "v1.20.2",
        sum: "h1:dqiEGIcXc+gqCLYG/l7VCFJ8GHyb4HUrwbZOpkX5dL8=",
        folder: "pkg/k8s/apis/cilium.io/client/crds/v2alpha1",
    },
    CrdSource {
        name: "argo-workflows",
        module: "github.com/argoproj/argo-workflows/v3",
        version: "v3.7.9",
        sum: "h1:h3KPCzhFX04EuzFaLe7w7INB0JMA95S42N55hDZ49lE=",
        folder: "manifests/base/crds/full",
    },
    CrdSource {
        name: "external-secrets",
        module: "github.com/external-secrets/external-secrets",
        version: "v1.3.2",
        sum: "h1:u2J8RjlHIeF0oZCqtl92adI/uZWUwOesJIDkfql6LqQ=",
        folder: "config/crds/bases",
    },
    CrdSource {
        name: "keda",
        module: "github.com/kedacore/keda/v2",
        version: "v2.21.0",
        sum: "h1:R6z2HZvstK4RLUMxroNACzBj74xGxt3kG59b5Xc+Xps=",
        folder: "config/crd/bases",
    },
];

/// The one CRD that is in no Go module, kept here in a compact form of our own.
pub const SECRET_PROVIDER_CLASS_CRD: &str =
    include_str!("../data/crds/secrets-store.csi.x-k8s.io_secretproviderclasses.yaml");

/// A group of binaries that is built from one Go module.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Group {
    /// The Kubernetes programs.
    Kubernetes,
    /// The database under kube-apiserver.
    Etcd,
    /// Simulated nodes.
    Kwok,
}

impl Group {
    /// All groups, the quickest to build last.
    pub const ALL: [Self; 3] = [Self::Kubernetes, Self::Etcd, Self::Kwok];

    /// Names the folder of the group's `go.mod` and the first half of the folder of its binaries.
    pub fn name(self) -> &'static str {
        match self {
            Self::Kubernetes => "kubernetes",
            Self::Etcd => "etcd",
            Self::Kwok => "kwok",
        }
    }

    /// The version that is built.
    pub fn version(self) -> &'static str {
        match self {
            Self::Kubernetes => KUBERNETES,
            Self::Etcd => ETCD,
            Self::Kwok => KWOK,
        }
    }

    /// The binaries of the group and the Go packages they are built from.
    pub fn packages(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Kubernetes => &[
                ("kube-apiserver", "k8s.io/kubernetes/cmd/kube-apiserver"),
                ("kubectl", "k8s.io/kubernetes/cmd/kubectl"),
                (
                    "kube-controller-manager",
                    "k8s.io/kubernetes/cmd/kube-controller-manager",
                ),
                ("kube-scheduler", "k8s.io/kubernetes/cmd/kube-scheduler"),
            ],
            Self::Etcd => &[("etcd", "go.etcd.io/etcd/server/v3")],
            Self::Kwok => &[("kwok", "sigs.k8s.io/kwok/cmd/kwok")],
        }
    }

    /// Where the group's finished files are.
    pub fn folder(self) -> PathBuf {
        folder().join(format!("{}-{}", self.name(), self.version()))
    }
}

/// The folder of everything that `cargo xtask assets` makes.
pub fn folder() -> PathBuf {
    if let Some(folder) = env::var_os("QUADRILLE_ASSETS").filter(|value| !value.is_empty()) {
        return folder.into();
    }
    let cache = env::var_os("XDG_CACHE_HOME")
        .filter(|value| !value.is_empty())
        .map(PathBuf::from)
        .or_else(|| env::home_dir().map(|home| home.join(".cache")))
        .unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../target"));
    cache.join("quadrille/assets")
}

/// Where a binary such as `kube-apiserver` is: in `$KUBEBUILDER_ASSETS` if it is there, else built by us.
pub fn binary(name: &str) -> anyhow::Result<PathBuf> {
    let provided = env::var_os("KUBEBUILDER_ASSETS").map(|folder| PathBuf::from(folder).join(name));
    if let Some(path) = provided.filter(|path| path.is_file()) {
        return Ok(path);
    }
    let group = Group::ALL
        .into_iter()
        .find(|group| group.packages().iter().any(|(binary, _)| *binary == name))
        .with_context(|| format!("{name} is none of the control plane's binaries"))?;
    existing(group.folder().join(name))
}

/// The behaviour of simulated nodes and pods, for kwok's `--config`.
pub fn kwok_stages() -> anyhow::Result<PathBuf> {
    existing(Group::Kwok.folder().join("stages.yaml"))
}

/// Folder of one source's CRD files.
pub fn crd_folder(source: &CrdSource) -> PathBuf {
    folder()
        .join("crds")
        .join(format!("{}-{}", source.name, source.version))
}

/// The CRD files of one of [`CRD_SOURCES`], sorted by name, one CRD in each.
pub fn crds(name: &str) -> anyhow::Result<Vec<PathBuf>> {
    let Some(source) = CRD_SOURCES.iter().find(|source| source.name == name) else {
        bail!("{name} is none of the CRD sources");
    };
    let folder = existing(crd_folder(source))?;
    let mut files = fs::read_dir(&folder)
        .with_context(|| format!("read {}", folder.display()))?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<Vec<_>, _>>()?;
    files.sort();
    Ok(files)
}

/// Whether everything that a real control plane needs is there.
pub fn are_complete() -> bool {
    let binaries = Group::ALL.iter().flat_map(|group| group.packages());
    binaries.into_iter().all(|(name, _)| binary(name).is_ok())
        && kwok_stages().is_ok()
        && CRD_SOURCES.iter().all(|source| crd_folder(source).is_dir())
}

fn existing(path: PathBuf) -> anyhow::Result<PathBuf> {
    if !path.exists() {
        bail!(
            "{} is missing: run `cargo xtask assets` (needs Go)",
            path.display()
        );
    }
    Ok(path)
}
