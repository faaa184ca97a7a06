//! Default values of built-in kinds.
//!
//! Each Go type has its defaults, wherever it stands in an object; a parent's come before its children's.
//! Simple ones are rows of a table, the others functions of the files below.

mod autoscaling;
mod core;
mod image;
mod legacy;
mod policies;
mod table;
mod workloads;

use serde_json::{Map, Value};

use super::encoding::encode_read;
use crate::{
    quantity::Quantity,
    schema::{Additional, SchemaRef},
};

/// Fills in all defaults and gives the value the shape in which real servers show it.
pub fn apply(schema: SchemaRef<'_>, value: &mut Value) {
    // Structs held by value exist even if nobody wrote them, and have defaults of their own.
    encode_read(schema, value);
    walk(schema, value);
    encode_read(schema, value);
}

fn walk(schema: SchemaRef<'_>, value: &mut Value) {
    match value {
        Value::Object(object) => {
            if let Some(name) = schema.node().type_name.as_deref() {
                table::apply(name, object);
                special(name, schema, object);
            }
            if is_resource_list(schema) {
                round_up_to_milli(object);
            }
            for (name, field) in object.iter_mut() {
                if let Some(schema) = schema.field(name) {
                    walk(schema, field);
                }
            }
        }
        Value::Array(entries) => {
            if let Some(items) = schema.items() {
                for entry in entries {
                    walk(items, entry);
                }
            }
        }
        _ => {}
    }
}

/// Defaults that depend on more than the field itself.
fn special(type_name: &str, schema: SchemaRef<'_>, object: &mut Map<String, Value>) {
    match type_name {
        "Container" | "EphemeralContainer" => core::container(object),
        "CustomResourceDefinition" => policies::custom_resource_definition(object),
        "DaemonSet" => legacy::template_generation(object),
        "DaemonSetUpdateStrategy" => workloads::daemon_set_strategy(object),
        "DeploymentStrategy" => workloads::deployment_strategy(object),
        "DeviceSubRequest" | "ExactDeviceRequest" => policies::device_request(object),
        "HorizontalPodAutoscalerSpec" if schema.property("metrics").is_some() => {
            autoscaling::spec(object);
        }
        "Job" => workloads::job(object),
        "LimitRangeItem" => core::limit_range_item(object),
        "Namespace" => core::namespace(object),
        "NetworkPolicySpec" => policies::network_policy(object),
        "NodeSpec" => legacy::pod_cidrs(object),
        "NodeStatus" => core::node_status(object),
        "Pod" => core::pod(object),
        "PodSpec" => legacy::service_account(object),
        "PodStatus" => legacy::pod_ips(object),
        "QueuingConfiguration" | "FlowSchemaSpec" => policies::flow_control(object),
        "ReplicationController" => workloads::replication_controller(object),
        "RoleRef" => policies::role_reference(object),
        "Secret" => legacy::string_data(object),
        "Service" => core::service(object),
        "StatefulSetSpec" => legacy::claim_templates(object),
        "StatefulSetUpdateStrategy" => workloads::stateful_set_strategy(object),
        "Subject" if schema.property("apiGroup").is_some() => policies::subject(object),
        "Volume" => core::volume(schema, object),
        _ => {}
    }
}

fn is_resource_list(schema: SchemaRef<'_>) -> bool {
    match schema.node().additional {
        Additional::Of(values) => {
            schema.schemas().node(values).type_name.as_deref() == Some("Quantity")
        }
        Additional::None | Additional::Any => false,
    }
}

/// Amounts of resources are kept to a thousandth; smaller parts are rounded up.
fn round_up_to_milli(amounts: &mut Map<String, Value>) {
    const MILLI: i128 = 1_000_000;
    for amount in amounts.values_mut() {
        let Some(text) = amount.as_str() else {
            continue;
        };
        let Ok(Some(quantity)) = Quantity::parse(text) else {
            continue;
        };
        let nanos = quantity.nanos();
        if nanos % MILLI != 0 {
            let whole = nanos / MILLI + i128::from(nanos > 0) - i128::from(nanos < 0);
            *amount = Value::String(match Quantity::parse(&format!("{whole}m")) {
                Ok(Some(rounded)) => rounded.canonical(),
                _ => format!("{whole}m"),
            });
        }
    }
}
