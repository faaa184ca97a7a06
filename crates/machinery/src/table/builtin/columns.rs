//! The columns of built-in kinds.

use super::Column;

/// The columns of a kind; kinds without any of their own show name and time of creation.
pub fn columns(kind: &str) -> &'static [Column] {
    match kind {
        "APIService" => APISERVICE,
        "CSIDriver" => CSIDRIVER,
        "CSINode" => CSINODE,
        "CertificateSigningRequest" => CERTIFICATE_SIGNING_REQUEST,
        "ClusterRoleBinding" | "RoleBinding" => CLUSTER_ROLE_BINDING,
        "ComponentStatus" => COMPONENT_STATUS,
        "ConfigMap" => CONFIG_MAP,
        "ControllerRevision" => CONTROLLER_REVISION,
        "CronJob" => CRON_JOB,
        "DaemonSet" => DAEMON_SET,
        "Deployment" => DEPLOYMENT,
        "DeviceClass" | "ResourceClaimTemplate" | "ServiceAccount" => DEVICE_CLASS,
        "EndpointSlice" => ENDPOINT_SLICE,
        "Endpoints" => ENDPOINTS,
        "Event" => EVENT,
        "FlowSchema" => FLOW_SCHEMA,
        "HorizontalPodAutoscaler" => HORIZONTAL_POD_AUTOSCALER,
        "IPAddress" => IPADDRESS,
        "Ingress" => INGRESS,
        "IngressClass" => INGRESS_CLASS,
        "Job" => JOB,
        "Lease" => LEASE,
        "MutatingAdmissionPolicy" => MUTATING_ADMISSION_POLICY,
        "MutatingAdmissionPolicyBinding" | "ValidatingAdmissionPolicyBinding" => {
            MUTATING_ADMISSION_POLICY_BINDING
        }
        "MutatingWebhookConfiguration" | "ValidatingWebhookConfiguration" => {
            MUTATING_WEBHOOK_CONFIGURATION
        }
        "Namespace" => NAMESPACE,
        "NetworkPolicy" => NETWORK_POLICY,
        "Node" => NODE,
        "PersistentVolume" => PERSISTENT_VOLUME,
        "PersistentVolumeClaim" => PERSISTENT_VOLUME_CLAIM,
        "Pod" => POD,
        "PodDisruptionBudget" => POD_DISRUPTION_BUDGET,
        "PodTemplate" => POD_TEMPLATE,
        "PriorityClass" => PRIORITY_CLASS,
        "PriorityLevelConfiguration" => PRIORITY_LEVEL_CONFIGURATION,
        "ReplicaSet" | "ReplicationController" => REPLICA_SET,
        "ResourceClaim" => RESOURCE_CLAIM,
        "ResourceQuota" => RESOURCE_QUOTA,
        "ResourceSlice" => RESOURCE_SLICE,
        "RuntimeClass" => RUNTIME_CLASS,
        "Scale" => SCALE,
        "Secret" => SECRET,
        "Service" => SERVICE,
        "ServiceCIDR" => SERVICE_CIDR,
        "StatefulSet" => STATEFUL_SET,
        "StorageClass" => STORAGE_CLASS,
        "ValidatingAdmissionPolicy" => VALIDATING_ADMISSION_POLICY,
        "VolumeAttachment" => VOLUME_ATTACHMENT,
        "VolumeAttributesClass" => VOLUME_ATTRIBUTES_CLASS,
        _ => OTHERS,
    }
}

const fn column(name: &'static str, ty: &'static str) -> Column {
    Column {
        name,
        ty,
        format: "",
        priority: 0,
    }
}

const fn wide(name: &'static str) -> Column {
    Column {
        name,
        ty: "string",
        format: "",
        priority: 1,
    }
}

const NAME: Column = Column {
    name: "Name",
    ty: "string",
    format: "name",
    priority: 0,
};

const AGE: Column = column("Age", "string");

const OTHERS: &[Column] = &[NAME, column("Created At", "date")];

const APISERVICE: &[Column] = &[
    NAME,
    column("Service", "string"),
    column("Available", "string"),
    AGE,
];

const CSIDRIVER: &[Column] = &[
    NAME,
    column("AttachRequired", "boolean"),
    column("PodInfoOnMount", "boolean"),
    column("StorageCapacity", "boolean"),
    column("TokenRequests", "string"),
    column("RequiresRepublish", "boolean"),
    column("Modes", "string"),
    AGE,
];

const CSINODE: &[Column] = &[NAME, column("Drivers", "integer"), AGE];

const CERTIFICATE_SIGNING_REQUEST: &[Column] = &[
    NAME,
    AGE,
    column("SignerName", "string"),
    column("Requestor", "string"),
    column("RequestedDuration", "string"),
    column("Condition", "string"),
];

const CLUSTER_ROLE_BINDING: &[Column] = &[
    NAME,
    column("Role", "string"),
    AGE,
    wide("Users"),
    wide("Groups"),
    wide("ServiceAccounts"),
];

const COMPONENT_STATUS: &[Column] = &[
    NAME,
    column("Status", "string"),
    column("Message", "string"),
    column("Error", "string"),
];

const CONFIG_MAP: &[Column] = &[NAME, column("Data", "string"), AGE];

const CONTROLLER_REVISION: &[Column] = &[
    NAME,
    column("Controller", "string"),
    column("Revision", "string"),
    AGE,
];

const CRON_JOB: &[Column] = &[
    NAME,
    column("Schedule", "string"),
    column("Timezone", "string"),
    column("Suspend", "boolean"),
    column("Active", "integer"),
    column("Last Schedule", "string"),
    AGE,
    wide("Containers"),
    wide("Images"),
    wide("Selector"),
];

const DAEMON_SET: &[Column] = &[
    NAME,
    column("Desired", "integer"),
    column("Current", "integer"),
    column("Ready", "integer"),
    column("Up-to-date", "integer"),
    column("Available", "integer"),
    column("Node Selector", "string"),
    AGE,
    wide("Containers"),
    wide("Images"),
    wide("Selector"),
];

const DEPLOYMENT: &[Column] = &[
    NAME,
    column("Ready", "string"),
    column("Up-to-date", "string"),
    column("Available", "string"),
    AGE,
    wide("Containers"),
    wide("Images"),
    wide("Selector"),
];

const DEVICE_CLASS: &[Column] = &[NAME, AGE];

const ENDPOINT_SLICE: &[Column] = &[
    NAME,
    column("AddressType", "string"),
    column("Ports", "string"),
    column("Endpoints", "string"),
    AGE,
];

const ENDPOINTS: &[Column] = &[NAME, column("Endpoints", "string"), AGE];

const EVENT: &[Column] = &[
    column("Last Seen", "string"),
    column("Type", "string"),
    column("Reason", "string"),
    column("Object", "string"),
    wide("Subobject"),
    wide("Source"),
    column("Message", "string"),
    wide("First Seen"),
    wide("Count"),
    Column {
        priority: 1,
        ..NAME
    },
];

const FLOW_SCHEMA: &[Column] = &[
    NAME,
    column("PriorityLevel", "string"),
    column("MatchingPrecedence", "string"),
    column("DistinguisherMethod", "string"),
    AGE,
    column("MissingPL", "string"),
];

const HORIZONTAL_POD_AUTOSCALER: &[Column] = &[
    NAME,
    column("Reference", "string"),
    column("Targets", "string"),
    column("MinPods", "string"),
    column("MaxPods", "string"),
    column("Replicas", "string"),
    AGE,
];

const IPADDRESS: &[Column] = &[NAME, column("ParentRef", "string")];

const INGRESS: &[Column] = &[
    NAME,
    column("Class", "string"),
    column("Hosts", "string"),
    column("Address", "string"),
    column("Ports", "string"),
    AGE,
];

const INGRESS_CLASS: &[Column] = &[
    NAME,
    column("Controller", "string"),
    column("Parameters", "string"),
    AGE,
];

const JOB: &[Column] = &[
    NAME,
    column("Status", "string"),
    column("Completions", "string"),
    column("Duration", "string"),
    AGE,
    wide("Containers"),
    wide("Images"),
    wide("Selector"),
];

const LEASE: &[Column] = &[NAME, column("Holder", "string"), AGE];

const MUTATING_ADMISSION_POLICY: &[Column] = &[
    NAME,
    column("Mutations", "integer"),
    column("ParamKind", "string"),
    AGE,
];

const MUTATING_ADMISSION_POLICY_BINDING: &[Column] = &[
    NAME,
    column("PolicyName", "string"),
    column("ParamRef", "string"),
    AGE,
];

const MUTATING_WEBHOOK_CONFIGURATION: &[Column] = &[NAME, column("Webhooks", "integer"), AGE];

const NAMESPACE: &[Column] = &[NAME, column("Status", "string"), AGE];

const NETWORK_POLICY: &[Column] = &[NAME, column("Pod-Selector", "string"), AGE];

const NODE: &[Column] = &[
    NAME,
    column("Status", "string"),
    column("Roles", "string"),
    AGE,
    column("Version", "string"),
    wide("Internal-IP"),
    wide("External-IP"),
    wide("OS-Image"),
    wide("Kernel-Version"),
    wide("Container-Runtime"),
];

const PERSISTENT_VOLUME: &[Column] = &[
    NAME,
    column("Capacity", "string"),
    column("Access Modes", "string"),
    column("Reclaim Policy", "string"),
    column("Status", "string"),
    column("Claim", "string"),
    column("StorageClass", "string"),
    column("VolumeAttributesClass", "string"),
    column("Reason", "string"),
    AGE,
    wide("VolumeMode"),
];

const PERSISTENT_VOLUME_CLAIM: &[Column] = &[
    NAME,
    column("Status", "string"),
    column("Volume", "string"),
    column("Capacity", "string"),
    column("Access Modes", "string"),
    column("StorageClass", "string"),
    column("VolumeAttributesClass", "string"),
    AGE,
    wide("VolumeMode"),
];

const POD: &[Column] = &[
    NAME,
    column("Ready", "string"),
    column("Status", "string"),
    column("Restarts", "string"),
    AGE,
    wide("IP"),
    wide("Node"),
    wide("Nominated Node"),
    wide("Readiness Gates"),
];

const POD_DISRUPTION_BUDGET: &[Column] = &[
    NAME,
    column("Min Available", "string"),
    column("Max Unavailable", "string"),
    column("Allowed Disruptions", "integer"),
    AGE,
];

const POD_TEMPLATE: &[Column] = &[
    NAME,
    column("Containers", "string"),
    column("Images", "string"),
    column("Pod Labels", "string"),
];

const PRIORITY_CLASS: &[Column] = &[
    NAME,
    column("Value", "integer"),
    column("Global-Default", "boolean"),
    AGE,
    column("PreemptionPolicy", "string"),
];

const PRIORITY_LEVEL_CONFIGURATION: &[Column] = &[
    NAME,
    column("Type", "string"),
    column("NominalConcurrencyShares", "string"),
    column("Queues", "string"),
    column("HandSize", "string"),
    column("QueueLengthLimit", "string"),
    AGE,
];

const REPLICA_SET: &[Column] = &[
    NAME,
    column("Desired", "integer"),
    column("Current", "integer"),
    column("Ready", "integer"),
    AGE,
    wide("Containers"),
    wide("Images"),
    wide("Selector"),
];

const RESOURCE_CLAIM: &[Column] = &[NAME, column("State", "string"), AGE];

const RESOURCE_QUOTA: &[Column] = &[
    NAME,
    column("Request", "string"),
    column("Limit", "string"),
    AGE,
];

const RESOURCE_SLICE: &[Column] = &[
    NAME,
    column("Node", "string"),
    column("Driver", "string"),
    column("Pool", "string"),
    AGE,
];

const RUNTIME_CLASS: &[Column] = &[NAME, column("Handler", "string"), AGE];

const SCALE: &[Column] = &[
    column("Name", "string"),
    column("Desired", "integer"),
    column("Available", "integer"),
    AGE,
];

const SECRET: &[Column] = &[
    NAME,
    column("Type", "string"),
    column("Data", "string"),
    AGE,
];

const SERVICE: &[Column] = &[
    NAME,
    column("Type", "string"),
    column("Cluster-IP", "string"),
    column("External-IP", "string"),
    column("Port(s)", "string"),
    AGE,
    wide("Selector"),
];

const SERVICE_CIDR: &[Column] = &[NAME, column("CIDRs", "string"), AGE];

const STATEFUL_SET: &[Column] = &[
    NAME,
    column("Ready", "string"),
    AGE,
    wide("Containers"),
    wide("Images"),
];

const STORAGE_CLASS: &[Column] = &[
    NAME,
    column("Provisioner", "string"),
    column("ReclaimPolicy", "string"),
    column("VolumeBindingMode", "string"),
    column("AllowVolumeExpansion", "string"),
    AGE,
];

const VALIDATING_ADMISSION_POLICY: &[Column] = &[
    NAME,
    column("Validations", "integer"),
    column("ParamKind", "string"),
    AGE,
];

const VOLUME_ATTACHMENT: &[Column] = &[
    NAME,
    Column {
        format: "name",
        ..column("Attacher", "string")
    },
    column("PV", "string"),
    column("Node", "string"),
    column("Attached", "boolean"),
    AGE,
];

const VOLUME_ATTRIBUTES_CLASS: &[Column] = &[NAME, column("DriverName", "string"), AGE];
