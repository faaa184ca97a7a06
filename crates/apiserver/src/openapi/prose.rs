//! Words that `kubectl explain` shows of what every object has. Those of a custom resource's own fields are
//! the same sentences as on a real server; those inside of its metadata are in our words.

/// Of `apiVersion`.
pub(super) const API_VERSION: &str = "APIVersion defines the versioned schema of this representation of an object. \
     Servers should convert recognized schemas to the latest internal value, and may reject unrecognized values. \
     More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#resources";
/// Of `kind`.
pub(super) const KIND: &str = "Kind is a string value representing the REST resource this object represents. \
     Servers may infer this from the endpoint the client submits requests to. Cannot be updated. In CamelCase. \
     More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#types-kinds";
/// Of `metadata`.
pub(super) const METADATA: &str = "Standard object's metadata. \
     More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata";

/// Of `apiVersion` in an object inside of another.
pub(super) const EMBEDDED_API_VERSION: &str = "apiVersion defines the versioned schema of this representation of an \
     object. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#resources";
/// Of `kind` in an object inside of another.
pub(super) const EMBEDDED_KIND: &str = "kind is a string value representing the type of this object. In CamelCase. \
     More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#types-kinds";

/// Of a list's `metadata`.
pub(super) const LIST_METADATA: &str = "Standard list metadata. \
     More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#types-kinds";
/// Of a list's `items`, after the name of what is listed.
pub(super) const LIST_ITEMS: &str = "More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md";

/// Of `ObjectMeta` as a whole.
pub(super) const OBJECT_META: &str =
    "What every stored object has: its name, its labels, who owns it.";

/// Of the fields of `ObjectMeta`.
pub(super) const OBJECT_META_FIELDS: [(&str, &str); 15] = [
    (
        "annotations",
        "Texts that tools keep with the object. Nothing is selected by them.",
    ),
    (
        "creationTimestamp",
        "CreationTimestamp is a timestamp of the server's clock when it stored the object first. Read-only.",
    ),
    (
        "deletionGracePeriodSeconds",
        "How many seconds the object has to end in peace after it was deleted. Read-only.",
    ),
    (
        "deletionTimestamp",
        "When the object goes away, or went for deletion: it stays until its finalizers are gone. Read-only.",
    ),
    (
        "finalizers",
        "Who must still do something before the object may go away; each takes its own name off the list.",
    ),
    (
        "generateName",
        "A beginning from which the server makes a name, where none is given.",
    ),
    (
        "generation",
        "Counts the versions of what is wanted. Read-only.",
    ),
    (
        "labels",
        "Keys and values by which objects are grouped and selected.",
    ),
    (
        "managedFields",
        "Which manager has set which fields: bookkeeping of the server.",
    ),
    (
        "name",
        "Unique among the objects of its kind in a namespace. It never changes.",
    ),
    (
        "namespace",
        "The namespace of the object; empty where its kind has none. It never changes.",
    ),
    (
        "ownerReferences",
        "The objects that this one belongs to: when all of them are gone, so is this one.",
    ),
    (
        "resourceVersion",
        "Names this state of the object; clients compare it and send it back, nothing more. Read-only.",
    ),
    ("selfLink", "No longer set by anybody."),
    (
        "uid",
        "Tells this object from all others, also from those of the same name before and after. Read-only.",
    ),
];
