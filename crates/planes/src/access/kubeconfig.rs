//! A kubeconfig out of a Secret.
//!
//! Only what it says itself is used: inline certificates and tokens. What would make us run a program or read our
//! own files is refused, since whoever writes the Secret is not whoever owns this process.

mod refused;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use quadrille_types::data_plane::Sensitive;
use serde::Deserialize;
use serde_json::Value;

use super::{Access, AccessProblem, Proof, material, material::Found, server};

type Fields = serde_json::Map<String, Value>;

#[derive(Deserialize)]
struct Kubeconfig {
    #[serde(rename = "current-context", default)]
    current_context: Option<String>,
    #[serde(default)]
    contexts: Option<Vec<Named>>,
    #[serde(default)]
    clusters: Option<Vec<Named>>,
    #[serde(default)]
    users: Option<Vec<Named>>,
}

/// A context, cluster or user, which differ only in the name of their content.
#[derive(Deserialize)]
struct Named {
    #[serde(default)]
    name: String,
    #[serde(alias = "context", alias = "cluster", alias = "user", default)]
    content: Option<Fields>,
}

/// Reads the current context of a kubeconfig, or the only one. `place` is where the kubeconfig is.
pub(super) fn read(place: &str, text: &str) -> Result<Access, AccessProblem> {
    let Ok(config) = serde_saphyr::from_str::<Kubeconfig>(text) else {
        // The parser's own words may quote what it read.
        return Err(AccessProblem::malformed(place, "is no kubeconfig in YAML"));
    };
    let reader = Reader { place };
    let context = reader.context(&config)?;
    let cluster = reader.named("cluster", config.clusters.as_deref(), context)?;
    let user = reader.named("user", config.users.as_deref(), context)?;
    reader.refuse("cluster", cluster, &refused::OF_CLUSTER)?;
    reader.refuse("user", user, &refused::OF_USER)?;

    let Some(address) = reader.text("cluster", cluster, "server")? else {
        return Err(reader.malformed("cluster.server", "is missing"));
    };
    let field = reader.field("cluster.server");
    let access = Access {
        server: server::read(&field, &address)?,
        server_name: reader.text("cluster", cluster, "tls-server-name")?,
        ca_pem: reader
            .decoded("cluster", cluster, "certificate-authority-data")?
            .map(material::authorities)
            .transpose()?,
        proof: reader.proof(user)?,
    };
    access.fitting(&field)
}

struct Reader<'a> {
    place: &'a str,
}

impl Reader<'_> {
    fn context<'c>(&self, config: &'c Kubeconfig) -> Result<&'c Fields, AccessProblem> {
        let contexts = config.contexts.as_deref().unwrap_or_default();
        let wanted = config.current_context.as_deref().unwrap_or_default();
        let context = match contexts {
            [only] if wanted.is_empty() => Some(only),
            _ => contexts.iter().find(|context| context.name == wanted),
        };
        let context = context.and_then(|context| context.content.as_ref());
        context.ok_or_else(|| {
            self.malformed(
                "current-context",
                "names none of the contexts, and there is not just one",
            )
        })
    }

    fn named<'c>(
        &self,
        what: &str,
        all: Option<&'c [Named]>,
        context: &Fields,
    ) -> Result<&'c Fields, AccessProblem> {
        let wanted = context.get(what).and_then(Value::as_str);
        let mut all = all.unwrap_or_default().iter();
        let found = all.find(|one| Some(one.name.as_str()) == wanted);
        found.and_then(|one| one.content.as_ref()).ok_or_else(|| {
            let field = format!("context.{what}");
            self.malformed(&field, &format!("names no {what} of the file"))
        })
    }

    fn refuse(
        &self,
        what: &str,
        fields: &Fields,
        refused: &[(&str, &str)],
    ) -> Result<(), AccessProblem> {
        let set = refused
            .iter()
            .find(|(field, _)| fields.get(*field).is_some_and(is_set));
        match set {
            Some((field, words)) => Err(AccessProblem::refused(
                self.field(&format!("{what}.{field}")),
                *words,
            )),
            None => Ok(()),
        }
    }

    fn proof(&self, user: &Fields) -> Result<Proof, AccessProblem> {
        let token = self.text("user", user, "token")?;
        let certificate = self.decoded("user", user, "client-certificate-data")?;
        let key = self.decoded("user", user, "client-key-data")?;
        match (token, certificate, key) {
            (Some(_), Some(_), _) => Err(AccessProblem::refused(
                self.field("user"),
                "it has both a token and a client certificate; keep the one that is meant",
            )),
            (Some(token), None, _) => material::token(Found {
                place: self.field("user.token"),
                text: Sensitive::new(token),
            }),
            (None, Some(certificate), Some(key)) => material::certificate(certificate, key),
            (None, Some(_), None) => Err(self.malformed("user.client-key-data", "is missing")),
            (None, None, Some(_)) => {
                Err(self.malformed("user.client-certificate-data", "is missing"))
            }
            (None, None, None) => Ok(Proof::Nothing),
        }
    }

    fn text(
        &self,
        what: &str,
        fields: &Fields,
        field: &str,
    ) -> Result<Option<String>, AccessProblem> {
        match fields.get(field) {
            Some(Value::String(text)) if !text.is_empty() => Ok(Some(text.clone())),
            Some(value) if is_set(value) => {
                Err(self.malformed(&format!("{what}.{field}"), "is no text"))
            }
            _ => Ok(None),
        }
    }

    fn decoded(
        &self,
        what: &str,
        fields: &Fields,
        field: &str,
    ) -> Result<Option<Found>, AccessProblem> {
        let Some(text) = self.text(what, fields, field)? else {
            return Ok(None);
        };
        let packed: String = text.split_whitespace().collect();
        let decoded = STANDARD
            .decode(packed)
            .ok()
            .and_then(|bytes| String::from_utf8(bytes).ok());
        let field = format!("{what}.{field}");
        match decoded {
            Some(text) => Ok(Some(Found {
                place: self.field(&field),
                text: Sensitive::new(text),
            })),
            None => Err(self.malformed(&field, "is no text in base64")),
        }
    }

    fn field(&self, path: &str) -> String {
        format!("{path} in {}", self.place)
    }

    fn malformed(&self, path: &str, words: &str) -> AccessProblem {
        AccessProblem::malformed(self.field(path), words)
    }
}

/// Whether a field says anything; tools write empty ones too.
fn is_set(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => false,
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(fields) => !fields.is_empty(),
        Value::Bool(true) | Value::Number(_) => true,
    }
}
