//! Starts the parts in order and waits for each.

use std::{
    ffi::OsString,
    fs,
    net::{Ipv4Addr, TcpListener},
    path::Path,
    time::{Duration, Instant},
};

use anyhow::{Context, bail};
use http::Request;
use k8s_openapi::api::core::v1::ServiceAccount;
use kube::{Api, Client};
use tempfile::TempDir;

use super::{
    ControlPlane, Options, START_DEADLINE, config, credentials::Authority, nodes, process::Process,
};
use crate::assets;

pub(super) async fn launch(options: &Options) -> anyhow::Result<ControlPlane> {
    let [client_port, peer_port, api_port] = free_ports()?;
    let folder = tempfile::Builder::new()
        .prefix("quadrille-real-")
        .tempdir()?;
    let server = format!("https://127.0.0.1:{api_port}");
    let mut plane = ControlPlane {
        processes: Vec::new(),
        folder,
        server,
    };

    let authority = Authority::generate()?;
    authority.write_server_files(&plane.folder.path().join("kube-apiserver"))?;
    write_kubeconfig(&plane, &authority, "kube-apiserver", "admin")?;

    let etcd = start_etcd(&plane.folder, client_port, peer_port, options)?;
    plane.processes.insert(0, etcd);
    let apiserver = start_apiserver(&plane.folder, client_port, api_port, options)?;
    plane.processes.insert(0, apiserver);
    let client = Client::try_from(config(&plane.kubeconfig()).await?)?;
    until(&plane, "kube-apiserver is ready", async || {
        is_ready(&client).await
    })
    .await?;

    if options.controllers || options.nodes > 0 {
        let process = start_controllers(&plane, &authority, options)?;
        plane.processes.insert(0, process);
        let accounts = Api::<ServiceAccount>::namespaced(client.clone(), "default");
        until(&plane, "the default service account exists", async || {
            Ok(accounts.get_opt("default").await?.is_some())
        })
        .await?;
    }
    if options.nodes > 0 {
        for process in [
            start_scheduler(&plane, &authority)?,
            start_kwok(&plane, &authority)?,
        ] {
            plane.processes.insert(0, process);
        }
        nodes::create(&client, options.nodes).await?;
        until(&plane, "the simulated nodes are ready", async || {
            nodes::are_ready(&client, options.nodes).await
        })
        .await?;
    }
    Ok(plane)
}

/// Whether another program took a port between our looking and the server's binding.
pub(super) fn is_port_conflict(error: &anyhow::Error) -> bool {
    format!("{error:#}").contains("address already in use")
}

async fn is_ready(client: &Client) -> anyhow::Result<bool> {
    let request = Request::get("/readyz").body(Vec::new())?;
    Ok(client
        .request_text(request)
        .await
        .is_ok_and(|text| text == "ok"))
}

/// Waits for a condition while all processes run.
async fn until(
    plane: &ControlPlane,
    what: &str,
    condition: impl AsyncFn() -> anyhow::Result<bool>,
) -> anyhow::Result<()> {
    let deadline = Instant::now() + START_DEADLINE;
    loop {
        for process in &plane.processes {
            process.still_runs()?;
        }
        let last = condition().await;
        if matches!(last, Ok(true)) {
            return Ok(());
        }
        if Instant::now() > deadline {
            bail!("waited in vain until {what}: {last:?}");
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

fn free_ports<const N: usize>() -> anyhow::Result<[u16; N]> {
    // All are held until all are known, so that they differ.
    let mut ports = [0; N];
    let mut held = Vec::new();
    for port in &mut ports {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("find a free port")?;
        *port = listener.local_addr()?.port();
        held.push(listener);
    }
    Ok(ports)
}

fn start_etcd(
    folder: &TempDir,
    client_port: u16,
    peer_port: u16,
    options: &Options,
) -> anyhow::Result<Process> {
    let own = folder.path().join("etcd");
    let client = format!("http://127.0.0.1:{client_port}");
    let peer = format!("http://127.0.0.1:{peer_port}");
    let mut arguments = vec![
        flag("--data-dir", own.join("data")),
        flag("--listen-client-urls", &client),
        flag("--advertise-client-urls", &client),
        flag("--listen-peer-urls", &peer),
        flag("--initial-advertise-peer-urls", &peer),
        flag("--initial-cluster", format!("default={peer}")),
        flag("--log-level", "warn"),
    ];
    if options.forgetful {
        arguments.push(flag("--unsafe-no-fsync", "true"));
    }
    Process::start("etcd", &assets::binary("etcd")?, &own, &arguments)
}

fn start_apiserver(
    folder: &TempDir,
    etcd_port: u16,
    port: u16,
    options: &Options,
) -> anyhow::Result<Process> {
    let own = folder.path().join("kube-apiserver");
    let mut arguments = vec![
        flag("--etcd-servers", format!("http://127.0.0.1:{etcd_port}")),
        flag("--bind-address", "127.0.0.1"),
        flag("--advertise-address", "127.0.0.1"),
        flag("--secure-port", port.to_string()),
        flag("--service-cluster-ip-range", "10.0.0.0/16"),
        flag("--cert-dir", own.join("certificates")),
        flag("--tls-cert-file", own.join("server.crt")),
        flag("--tls-private-key-file", own.join("server.key")),
        flag("--client-ca-file", own.join("ca.crt")),
        flag(
            "--service-account-issuer",
            "https://kubernetes.default.svc.cluster.local",
        ),
        flag(
            "--service-account-key-file",
            own.join("service-accounts.pub"),
        ),
        flag(
            "--service-account-signing-key-file",
            own.join("service-accounts.key"),
        ),
        flag("--authorization-mode", "RBAC"),
        flag("--allow-privileged", "true"),
        flag("--endpoint-reconciler-type", "none"),
    ];
    if !options.controllers && options.nodes == 0 {
        // Nobody would create the service accounts that this plugin demands.
        arguments.push(flag("--disable-admission-plugins", "ServiceAccount"));
    }
    if options.audit {
        let policy = own.join("audit-policy.yaml");
        fs::write(
            &policy,
            "apiVersion: audit.k8s.io/v1\nkind: Policy\nrules:\n- level: Metadata\n",
        )?;
        arguments.push(flag("--audit-policy-file", policy));
        arguments.push(flag("--audit-log-path", own.join("audit.log")));
    }
    arguments.extend(options.apiserver_flags.iter().map(OsString::from));
    Process::start(
        "kube-apiserver",
        &assets::binary("kube-apiserver")?,
        &own,
        &arguments,
    )
}

fn start_controllers(
    plane: &ControlPlane,
    authority: &Authority,
    options: &Options,
) -> anyhow::Result<Process> {
    let name = "kube-controller-manager";
    let certificates = plane.folder.path().join("kube-apiserver");
    let mut arguments = vec![
        flag(
            "--kubeconfig",
            write_kubeconfig(plane, authority, name, name)?,
        ),
        flag(
            "--service-account-private-key-file",
            certificates.join("service-accounts.key"),
        ),
        flag("--root-ca-file", certificates.join("ca.crt")),
        flag("--cluster-signing-cert-file", certificates.join("ca.crt")),
        flag("--cluster-signing-key-file", certificates.join("ca.key")),
        flag("--leader-elect", "false"),
        flag("--secure-port", "0"),
        // A namespace that ends costs some requests for each kind there is, and tests leave hundreds behind: at the usual
        // 20 requests a second whoever comes last would wait for minutes.
        flag("--kube-api-qps", "300"),
        flag("--kube-api-burst", "600"),
        flag("--concurrent-namespace-syncs", "20"),
    ];
    arguments.extend(options.controller_flags.iter().map(OsString::from));
    Process::start(
        name,
        &assets::binary(name)?,
        &plane.folder.path().join(name),
        &arguments,
    )
}

fn start_scheduler(plane: &ControlPlane, authority: &Authority) -> anyhow::Result<Process> {
    let name = "kube-scheduler";
    let arguments = [
        flag(
            "--kubeconfig",
            write_kubeconfig(plane, authority, name, name)?,
        ),
        flag("--leader-elect", "false"),
        flag("--secure-port", "0"),
    ];
    Process::start(
        name,
        &assets::binary(name)?,
        &plane.folder.path().join(name),
        &arguments,
    )
}

fn start_kwok(plane: &ControlPlane, authority: &Authority) -> anyhow::Result<Process> {
    let name = "kwok";
    let arguments = [
        flag(
            "--kubeconfig",
            write_kubeconfig(plane, authority, name, name)?,
        ),
        flag("--config", assets::kwok_stages()?),
        flag("--manage-all-nodes", "true"),
        flag("--cidr", "10.50.0.1/16"),
        flag("--node-ip", "127.0.0.1"),
        flag("--node-lease-duration-seconds", "40"),
    ];
    Process::start(
        name,
        &assets::binary(name)?,
        &plane.folder.path().join(name),
        &arguments,
    )
}

/// Writes `USER.kubeconfig` into a process's folder.
fn write_kubeconfig(
    plane: &ControlPlane,
    authority: &Authority,
    process: &str,
    user: &str,
) -> anyhow::Result<OsString> {
    let folder = plane.folder.path().join(process);
    fs::create_dir_all(&folder)?;
    let path = folder.join(format!("{user}.kubeconfig"));
    fs::write(&path, authority.kubeconfig(&plane.server, user)?)
        .with_context(|| format!("write {}", path.display()))?;
    Ok(path.into_os_string())
}

fn flag(name: &str, value: impl AsRef<Path>) -> OsString {
    let mut flag = OsString::from(name);
    flag.push("=");
    flag.push(value.as_ref());
    flag
}
