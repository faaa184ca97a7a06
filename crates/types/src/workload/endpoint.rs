//! What a workload listens on.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::words::written_words;

/// What a workload listens on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Endpoint {
    /// What is spoken there.
    #[serde(rename = "type")]
    pub protocol: EndpointType,
    /// The port by which others reach it.
    #[schemars(range(min = 1, max = 65535))]
    pub port: i32,
    /// The port that the container listens on; the same where nothing is said.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 65535))]
    pub target_port: Option<i32>,
    /// Who may reach it, beyond the project itself.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-kubernetes-list-type" = "set"))]
    pub visibility: Vec<Visibility>,
    /// What people call it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub display_name: Option<String>,
    /// The path that its addresses start with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base_path: Option<String>,
    /// What it offers, as a machine reads it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schema: Option<EndpointSchema>,
}

/// What an endpoint offers: an `OpenAPI` document, a `.proto` file …
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EndpointSchema {
    /// The language of the content.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
    /// The text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
}

written_words! {
    /// What is spoken at an endpoint.
    EndpointType {
        /// HTTP.
        Http = "HTTP",
        /// The older word for HTTP.
        Rest = "REST",
        /// gRPC.
        Grpc = "gRPC",
        /// GraphQL over HTTP.
        GraphQl = "GraphQL",
        /// Websockets.
        Websocket = "Websocket",
        /// Bytes over TCP.
        Tcp = "TCP",
        /// Datagrams.
        Udp = "UDP",
    }
}

written_words! {
    /// Who may reach an endpoint.
    Visibility {
        /// The project's own components: always.
        Project = "project",
        /// Other projects of the organization, in the same environment.
        Namespace = "namespace",
        /// Whoever comes by the organization's gateway.
        Internal = "internal",
        /// The world.
        External = "external",
    }
}

impl EndpointType {
    /// The word that is meant: `REST` is HTTP.
    #[must_use]
    pub const fn plain(self) -> Self {
        match self {
            Self::Rest => Self::Http,
            other => other,
        }
    }

    /// What the port carries.
    pub const fn transport(self) -> &'static str {
        match self {
            Self::Udp => "UDP",
            _ => "TCP",
        }
    }

    /// How addresses within the cluster start.
    pub const fn scheme(self) -> &'static str {
        match self {
            Self::Http | Self::Rest | Self::GraphQl => "http",
            Self::Websocket => "ws",
            Self::Grpc => "grpc",
            Self::Tcp => "tcp",
            Self::Udp => "udp",
        }
    }
}
