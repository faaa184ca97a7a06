//! Names of Go types as they show in decode errors.
//!
//! Built-in schemas know the names of types. What they do not know are embedded structs; those that people
//! meet are listed here.

use crate::schema::{Additional, Node, SchemaRef, Type};

/// The struct's name without its package: `DeploymentSpec`.
pub(super) fn struct_name(node: &Node) -> &str {
    let name = node.type_name.as_deref().unwrap_or_default();
    name.rsplit('.').next().unwrap_or(name)
}

/// The type of a value as Go prints it: `[]v1.Container`, `map[string]string`, `int32`.
pub(super) fn name(schema: SchemaRef<'_>) -> String {
    let node = schema.node();
    if let Some(name) = &node.go_type {
        return name.to_string();
    }
    if let Some(name) = &node.type_name {
        return format!("v1.{name}");
    }
    let format = node
        .constraints
        .as_ref()
        .and_then(|constraints| constraints.format.as_deref());
    match node.ty {
        Some(Type::Array) => match schema.items() {
            Some(items) => format!("[]{}", name(items)),
            None => "[]interface {}".to_owned(),
        },
        Some(Type::Object) => match node.additional {
            Additional::Of(id) => {
                let values = schema.schemas().at(id);
                if struct_name(values.node()) == "Quantity" {
                    return "v1.ResourceList".to_owned();
                }
                format!("map[string]{}", name(values))
            }
            _ => "map[string]interface {}".to_owned(),
        },
        Some(Type::String) if format == Some("byte") => "[]uint8".to_owned(),
        Some(Type::String) => "string".to_owned(),
        Some(Type::Integer) => match format {
            Some("int32") => "int32".to_owned(),
            _ => "int64".to_owned(),
        },
        Some(Type::Number) => "float64".to_owned(),
        Some(Type::Boolean) => "bool".to_owned(),
        None => "interface {}".to_owned(),
    }
}

/// The embedded struct that really holds a field: it shows in the path of decode errors.
pub(super) fn embedded(owner: &str, field: &str) -> Option<&'static str> {
    match (owner, field) {
        ("Volume", name) if name != "name" => Some("VolumeSource"),
        ("Probe", "exec" | "grpc" | "httpGet" | "tcpSocket") => Some("ProbeHandler"),
        ("EphemeralContainer", name) if name != "targetContainerName" => {
            Some("EphemeralContainerCommon")
        }
        (
            "ConfigMapKeySelector"
            | "SecretKeySelector"
            | "ConfigMapEnvSource"
            | "SecretEnvSource"
            | "ConfigMapProjection"
            | "SecretProjection"
            | "ConfigMapVolumeSource",
            "name",
        ) => Some("LocalObjectReference"),
        (
            "PersistentVolumeSpec",
            "awsElasticBlockStore"
            | "azureDisk"
            | "azureFile"
            | "cephfs"
            | "cinder"
            | "csi"
            | "fc"
            | "flexVolume"
            | "flocker"
            | "gcePersistentDisk"
            | "glusterfs"
            | "hostPath"
            | "iscsi"
            | "local"
            | "nfs"
            | "photonPersistentDisk"
            | "portworxVolume"
            | "quobyte"
            | "rbd"
            | "scaleIO"
            | "storageos"
            | "vsphereVolume",
        ) => Some("PersistentVolumeSource"),
        _ => None,
    }
}
