//! Objects, as people name them: `environment staging`, `environment/staging`.

use http::StatusCode;
use serde_json::Value;

use crate::{
    cluster::{Cluster, Which},
    failure::Failure,
    fields,
    kinds::{self, Found},
    nearest::nearest,
    requests::{OBJECTS, not_served},
};

/// Which object.
#[derive(Debug, clap::Args)]
pub(crate) struct Named {
    /// A kind and a name: `release cart` or `release/cart`.
    #[arg(value_names = ["KIND", "NAME"], num_args = 1..=2, required = true, value_parser = Words, hide_possible_values = true)]
    object: Vec<String>,
    #[command(flatten)]
    cluster: Which,
}

/// Where an object is, whether it exists or not.
pub(crate) struct Target {
    pub(crate) cluster: Cluster,
    pub(crate) kind: Found,
    pub(crate) name: String,
    pub(crate) path: String,
}

impl Named {
    /// Finds the cluster and the kind.
    pub(crate) async fn find(&self) -> Result<Target, Failure> {
        let (kind, names) = kind_and_names(&self.object)?;
        let [name] = names.as_slice() else {
            return Err(which(kind));
        };
        let cluster = self.cluster.find().await?;
        let found = cluster.named_kind(kind).await?;
        Ok(Target {
            path: cluster.path(&found, name),
            cluster,
            kind: found,
            name: (*name).to_owned(),
        })
    }
}

impl Target {
    /// Reads the object; one that is not there is a failure.
    pub(crate) async fn read(&self) -> Result<Value, Failure> {
        self.cluster.object(&self.kind, &self.name).await
    }
}

/// A kind without a name.
pub(crate) fn which(kind: &str) -> Failure {
    Failure::usage(format!("which {kind}?"))
        .next(format!("Name it: {kind} NAME"))
        .next(format!("See which there are: quad get {kind}"))
}

/// Takes words apart into a kind and names: `env dev test`, or `env/dev env/test`.
pub(crate) fn kind_and_names(words: &[String]) -> Result<(&str, Vec<&str>), Failure> {
    let [first, more @ ..] = words else {
        return Err(Failure::usage("what is meant?").next("Name a kind: quad get environments"));
    };
    let (kind, names) = match first.split_once('/') {
        None => (first.as_str(), more.iter().map(String::as_str).collect()),
        Some((kind, name)) => {
            let mut names = vec![name];
            for word in more {
                match word.split_once('/') {
                    Some((other, name)) if other == kind => names.push(name),
                    _ => {
                        return Err(Failure::usage(format!(
                            "{first} and {word} do not go together"
                        ))
                        .next(format!("Name objects of one kind: {kind} {name} …")));
                    }
                }
            }
            (kind, names)
        }
    };
    if let Some(wrong) = names.iter().find(|name| !is_name(name)) {
        return Err(Failure::usage(format!("{wrong:?} is no name")));
    }
    Ok((kind, names))
}

/// Whether this can be the name of an object: others would lead elsewhere in the address of one.
pub(crate) fn is_name(name: &str) -> bool {
    !name.is_empty() && !name.contains(|c: char| "/%?#".contains(c) || c.is_whitespace())
}

/// Words for kinds, known to completion; anything else is taken too.
#[derive(Clone, Debug)]
pub(crate) struct Words;

impl clap::builder::TypedValueParser for Words {
    type Value = String;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&clap::Arg>,
        value: &std::ffi::OsStr,
    ) -> Result<String, clap::Error> {
        clap::builder::StringValueParser::new().parse_ref(command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = clap::builder::PossibleValue>>> {
        let words = kinds::words().into_iter();
        Some(Box::new(words.map(clap::builder::PossibleValue::new)))
    }
}

impl Cluster {
    /// The path of an object in the namespace that is meant.
    pub(crate) fn path(&self, kind: &Found, name: &str) -> String {
        let namespace = kind.is_namespaced.then_some(self.namespace.as_str());
        format!("{}/{name}", kind.path(namespace))
    }

    /// Reads an object; one that is not there is a failure.
    pub(crate) async fn object(&self, kind: &Found, name: &str) -> Result<Value, Failure> {
        match self.read(&self.path(kind, name), OBJECTS).await {
            Ok(object) => Ok(object),
            Err(error) => Err(self.unread(kind, Some(name), &error).await),
        }
    }

    /// Why objects of a kind, or one of them, cannot be read.
    pub(crate) async fn unread(
        &self,
        kind: &Found,
        name: Option<&str>,
        error: &kube::Error,
    ) -> Failure {
        let kube::Error::Api(status) = error else {
            return self.failed(error);
        };
        if status.code != StatusCode::NOT_FOUND.as_u16() {
            return self.failed(error);
        }
        let is_about_one = status
            .details
            .as_ref()
            .is_some_and(|details| !details.name.is_empty());
        match name {
            Some(name) if is_about_one => self.missing(kind, name).await,
            _ => not_served(kind.api_version(), kind.kind()),
        }
    }

    /// There is no such object; which one may have been meant?
    pub(crate) async fn missing(&self, kind: &Found, name: &str) -> Failure {
        let place = if kind.is_namespaced {
            format!(" in namespace {}", self.namespace)
        } else {
            String::new()
        };
        let failure = Failure::new(format!("there is no {} {name}{place}", kind.word()));
        let namespace = kind.is_namespaced.then_some(self.namespace.as_str());
        let here = self.heads(&kind.path(namespace)).await;
        let names = here.iter().map(fields::name);
        if let Some(near) = nearest(name, names) {
            return failure.next(format!("Did you mean {near}?"));
        }
        if kind.is_namespaced {
            let query = format!("{}?fieldSelector=metadata.name%3D{name}", kind.path(None));
            let elsewhere = self.heads(&query).await;
            if let Some(other) = elsewhere.first() {
                return failure.next(format!(
                    "There is one in another namespace: -n {}",
                    fields::namespace(other)
                ));
            }
        }
        let all = if kind.is_namespaced { " -A" } else { "" };
        failure.next(format!(
            "See which there are: quad get {}{all}",
            kind.plural()
        ))
    }

    /// The metadata of what is there. It is for a hint: what cannot be read gives none.
    async fn heads(&self, path: &str) -> Vec<Value> {
        const HEADS: &str = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
        let list = self.read(path, HEADS).await.unwrap_or_default();
        fields::items(&list["items"]).to_vec()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(line: &str) -> Result<(String, Vec<String>), String> {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        let (kind, names) = kind_and_names(&words).map_err(|failure| failure.to_string())?;
        Ok((
            kind.to_owned(),
            names.into_iter().map(str::to_owned).collect(),
        ))
    }

    #[test]
    fn objects_are_named_in_two_ways() {
        let dev = Ok(("env".to_owned(), vec!["dev".to_owned()]));
        assert_eq!(split("env dev"), dev);
        assert_eq!(split("env/dev"), dev);
        assert_eq!(split("env/dev env/test").unwrap().1, ["dev", "test"]);
        assert!(split("env").unwrap().1.is_empty());
        assert!(
            split("env/dev project/a")
                .unwrap_err()
                .contains("do not go together")
        );
        assert!(split("env a?b").unwrap_err().contains("is no name"));
        assert!(split("env/").is_err());
    }
}
