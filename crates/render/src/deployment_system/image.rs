//! Which image an artifact is.

use quadrille_types::{Build, DeployableArtifact, deployable_artifact::FromBuild};

use super::{
    Plane,
    error::{At, Mistake},
    overrides::artifact_name,
};

/// The image of an artifact. `own` is what its images are called in the plane's registry where only a tag is given.
pub(super) fn of(
    artifact: &DeployableArtifact,
    builds: &[&Build],
    plane: Plane<'_>,
    own: &str,
) -> Result<String, Mistake> {
    let target = &artifact.spec.target_artifact;
    let at = At::new(artifact_name(artifact), "spec.targetArtifact");
    match (&target.from_build_ref, &target.from_image_ref) {
        (Some(build), None) => of_build(build, artifact, builds, plane, &at.below("fromBuildRef")),
        (None, Some(image)) => {
            let at = at.below("fromImageRef.tag");
            let tag = image.tag.as_deref().unwrap_or_default().trim();
            if tag.is_empty() {
                return Err(at.wrong("is missing: give the image, or its tag"));
            }
            if tag.contains(['/', ':', '@']) {
                return Ok(tag.to_owned());
            }
            in_registry(&format!("{own}:{tag}"), plane, &at)
        }
        (None, None) => Err(at.wrong("is empty: give fromBuildRef or fromImageRef")),
        (Some(_), Some(_)) => {
            Err(at.wrong("has both fromBuildRef and fromImageRef: only one can be meant"))
        }
    }
}

fn of_build(
    wanted: &FromBuild,
    artifact: &DeployableArtifact,
    builds: &[&Build],
    plane: Plane<'_>,
    at: &At,
) -> Result<String, Mistake> {
    let text = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
    let artifact = artifact.metadata.name.clone().unwrap_or_default();
    let (build, candidates) = match (text(&wanted.name), text(&wanted.git_revision)) {
        (Some(name), _) => {
            let named = |build: &&&Build| build.metadata.name.as_deref() == Some(&name);
            let found: Vec<&Build> = builds.iter().filter(named).copied().collect();
            (name, found)
        }
        (None, Some(commit)) => {
            let found = builds.iter().filter(|build| is_of(build, &commit));
            let found: Vec<&Build> = found.copied().collect();
            (commit, found)
        }
        (None, None) => return Err(at.wrong("is empty: give name or gitRevision")),
    };
    if candidates.is_empty() {
        return Err(Mistake::BuildNotFound { build, artifact });
    }
    // Of several builds of one commit, the newest that has made an image.
    let made = candidates.into_iter().filter_map(|build| {
        let made_at = build
            .metadata
            .creation_timestamp
            .as_ref()
            .map(|time| time.0);
        Some((made_at, build.metadata.name.as_deref(), build.image()?))
    });
    match made.max() {
        Some((_, _, image)) if has_registry(image) => Ok(image.to_owned()),
        Some((_, _, image)) => in_registry(image, plane, at),
        None => Err(Mistake::NoImageYet { build, artifact }),
    }
}

/// Whether a build is of a commit, which may be written short.
fn is_of(build: &Build, commit: &str) -> bool {
    let of = build.spec.repository.revision.commit.as_deref();
    of.is_some_and(|of| of.starts_with(commit))
}

/// Whether a reference says which registry it is in: its first part looks like a host.
fn has_registry(image: &str) -> bool {
    let host = image.split_once('/').map(|(host, _)| host);
    host.is_some_and(|host| host.contains(['.', ':']) || host == "localhost")
}

fn in_registry(image: &str, plane: Plane<'_>, at: &At) -> Result<String, Mistake> {
    let registry = plane.spec.registry.as_ref();
    let prefix = registry.map(|registry| registry.prefix.trim_end_matches('/'));
    match prefix.filter(|prefix| !prefix.is_empty()) {
        Some(prefix) => Ok(format!("{prefix}/{image}")),
        None => Err(at.wrong(format!(
            "leads to {image}, but plane {} has no registry: give spec.registry.prefix there, or a whole image",
            plane.name
        ))),
    }
}
