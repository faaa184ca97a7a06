//! Which number is which field: the generated table (`cargo xtask gen`), read when the first client needs it.

use std::{collections::HashMap, sync::OnceLock};

static FILE: &str = include_str!("../../kinds/protobuf.txt");

/// Kinds that every group version knows live here.
const META: &str = "k8s.io.apimachinery.pkg.apis.meta.v1";

/// All messages that built-in kinds consist of.
#[derive(Debug)]
pub(crate) struct Table {
    /// Package by `group/version`.
    packages: HashMap<&'static str, &'static str>,
    by_name: HashMap<&'static str, usize>,
    messages: Vec<Message>,
}

/// One message.
#[derive(Debug)]
pub(crate) struct Message {
    /// How JSON writes it.
    pub(crate) form: Form,
    fields: HashMap<u32, Field>,
    /// The numbers in the order in which Kubernetes declares their fields.
    declared: Vec<u32>,
}

/// How JSON writes a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// As an object of its fields.
    Object,
    /// `Quantity`: its only field.
    Text,
    /// Seconds and nanoseconds as text; microseconds are shown or not.
    Time { micro: bool },
    /// Nanoseconds, as Go writes durations.
    Duration,
    /// A number or a text.
    IntOrString,
    /// JSON inside.
    Raw,
    /// A list that Go has a name for.
    Items,
    /// A schema, or whether anything is allowed.
    SchemaOrBool,
    /// A schema or a list (of schemas, of texts).
    SchemaOrList,
}

/// One field.
#[derive(Debug)]
pub(crate) struct Field {
    /// The name in JSON; `-` when the fields of this message are those of its parent.
    pub(crate) name: &'static str,
    pub(crate) count: Count,
    pub(crate) ty: Type,
}

/// How many values a field has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Count {
    One,
    List,
    Map,
}

/// What a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Type {
    Text,
    Bool,
    Bytes,
    Integer,
    Double,
    /// The message of this index.
    Message(usize),
}

impl Table {
    /// The table of the built-in kinds.
    pub(crate) fn load() -> &'static Self {
        static TABLE: OnceLock<Table> = OnceLock::new();
        TABLE.get_or_init(|| Self::parse(FILE).expect("the generated table is well-formed"))
    }

    fn parse(text: &'static str) -> Option<Self> {
        let mut packages = HashMap::new();
        let mut lines = Vec::new();
        for line in text.lines() {
            if let Some(version) = line.strip_prefix('@') {
                let (version, package) = version.split_once(' ')?;
                packages.insert(version, package);
            } else {
                lines.push(line);
            }
        }
        let name = |line: &'static str| line.split(' ').next().unwrap_or_default();
        let by_name: HashMap<_, _> = lines
            .iter()
            .enumerate()
            .map(|(at, line)| (name(line), at))
            .collect();
        let messages = lines
            .iter()
            .map(|line| message(line, &by_name))
            .collect::<Option<_>>()?;
        Some(Self {
            packages,
            by_name,
            messages,
        })
    }

    /// The message of a kind.
    pub(crate) fn kind(&self, api_version: &str, kind: &str) -> Option<&Message> {
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        let package = self.packages.get(format!("{group}/{version}").as_str())?;
        let named = |package: &str| self.by_name.get(format!("{package}.{kind}").as_str());
        let at = named(package).or_else(|| named(META))?;
        self.messages.get(*at)
    }

    /// The message of an index that a field has given.
    pub(crate) fn message(&self, at: usize) -> &Message {
        &self.messages[at]
    }
}

impl Message {
    /// The field of a number; newer clients may know more of them.
    pub(crate) fn field(&self, number: u32) -> Option<&Field> {
        self.fields.get(&number)
    }

    /// The fields as Kubernetes declares them.
    pub(crate) fn declared(&self) -> impl Iterator<Item = &Field> {
        self.declared
            .iter()
            .filter_map(|number| self.fields.get(number))
    }
}

fn message(line: &'static str, by_name: &HashMap<&str, usize>) -> Option<Message> {
    let mut words = line.split(' ');
    let name = words.next()?;
    let (package, last) = name.rsplit_once('.')?;
    let mut fields = HashMap::new();
    let mut declared = Vec::new();
    while let Some(number) = words.next() {
        let (name, ty) = (words.next()?, words.next()?);
        let (count, ty) = match ty.split_at_checked(1)? {
            ("*", ty) => (Count::List, ty),
            ("%", ty) => (Count::Map, ty),
            _ => (Count::One, ty),
        };
        let ty = match ty {
            "s" => Type::Text,
            "b" => Type::Bool,
            "y" => Type::Bytes,
            "i" => Type::Integer,
            "d" => Type::Double,
            full if full.contains('.') => Type::Message(*by_name.get(full)?),
            local => Type::Message(*by_name.get(format!("{package}.{local}").as_str())?),
        };
        let number = number.parse().ok()?;
        declared.push(number);
        fields.insert(number, Field { name, count, ty });
    }
    Some(Message {
        form: form(last),
        fields,
        declared,
    })
}

fn form(name: &str) -> Form {
    match name {
        "Quantity" => Form::Text,
        "Time" => Form::Time { micro: false },
        "MicroTime" => Form::Time { micro: true },
        "Duration" => Form::Duration,
        "IntOrString" => Form::IntOrString,
        "RawExtension" | "FieldsV1" | "JSON" => Form::Raw,
        "ExtraValue" | "Verbs" => Form::Items,
        "JSONSchemaPropsOrBool" => Form::SchemaOrBool,
        "JSONSchemaPropsOrArray" | "JSONSchemaPropsOrStringArray" => Form::SchemaOrList,
        _ => Form::Object,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_built_in_kind_that_is_served_can_be_read() {
        let table = Table::load();
        for resource in &crate::kinds::load().resources {
            let api_version = resource.api_version();
            assert!(
                table.kind(&api_version, &resource.kind).is_some(),
                "{api_version} {}",
                resource.kind
            );
        }
        assert!(table.kind("apps/v1", "DeleteOptions").is_some());
        assert!(table.kind("example.dev/v1", "Cake").is_none());
    }
}
