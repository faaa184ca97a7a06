//! A component type, a trait or anything else that renders objects, described for compiling: parts
//! borrowed from what was written, each with its path there.

use serde_json::Value as Json;

use crate::variables::Variables;

/// A whole definition.
#[derive(Clone, Debug)]
pub struct Definition<'d> {
    /// Which variables there are, besides `parameters` and `environmentConfigs`.
    pub variables: &'d Variables,
    /// The schema of `parameters`; without one there are none.
    pub parameters: Option<Section<'d>>,
    /// The schema of `environmentConfigs`; without one there are none.
    pub environment_configs: Option<Section<'d>>,
    /// Conditions that must hold before rendering.
    pub rules: Vec<RuleSource<'d>>,
    /// Templates of objects.
    pub resources: Vec<ResourceSource<'d>>,
    /// Changes to rendered objects.
    pub patches: Vec<PatchSource<'d>>,
    /// Rendered objects that are taken away.
    pub removes: Vec<RemoveSource<'d>>,
    /// Conditions that must hold for rendered objects.
    pub post_rules: Vec<PostRuleSource<'d>>,
    /// Other values with expressions in them, such as the parameters of embedded traits.
    pub bindings: Vec<BindingSource<'d>>,
    /// Which kinds of objects it must and must not make.
    pub kinds: KindRule<'d>,
    /// The expression that is the only allowed `metadata.namespace` of templates.
    pub namespace: Option<&'d str>,
}

impl<'d> Definition<'d> {
    /// A definition with nothing in it.
    pub fn new(variables: &'d Variables) -> Self {
        Self {
            variables,
            parameters: None,
            environment_configs: None,
            rules: Vec::new(),
            resources: Vec::new(),
            patches: Vec::new(),
            removes: Vec::new(),
            post_rules: Vec::new(),
            bindings: Vec::new(),
            kinds: KindRule::default(),
            namespace: None,
        }
    }
}

/// A schema and where it stands.
#[derive(Clone, Debug)]
pub struct Section<'d> {
    /// Its path.
    pub path: String,
    /// The `openAPIV3Schema`.
    pub schema: &'d Json,
}

/// A condition with words for when it does not hold.
#[derive(Clone, Debug)]
pub struct RuleSource<'d> {
    /// Its path.
    pub path: String,
    /// The condition, as `${…}`.
    pub rule: &'d str,
    /// The words.
    pub message: &'d str,
}

/// A template of an object.
#[derive(Clone, Debug)]
pub struct ResourceSource<'d> {
    /// Its path.
    pub path: String,
    /// Its id.
    pub id: &'d str,
    /// The plane that its objects go to.
    pub plane: &'d str,
    /// A condition for all of it, as `${…}`.
    pub include_when: Option<&'d str>,
    /// What to loop over, as `${…}`.
    pub for_each: Option<&'d str>,
    /// The variable of the loop.
    pub var: Option<&'d str>,
    /// The object.
    pub template: &'d Json,
}

/// Which objects are meant.
#[derive(Clone, Debug)]
pub struct TargetSource<'d> {
    /// The API group; empty stands for any.
    pub group: &'d str,
    /// The API version.
    pub version: &'d str,
    /// The kind.
    pub kind: &'d str,
    /// A condition on the object, as `${…}` over `resource`.
    pub condition: Option<&'d str>,
}

/// A patch.
#[derive(Clone, Debug)]
pub struct PatchSource<'d> {
    /// Its path.
    pub path: String,
    /// The plane of its objects.
    pub plane: &'d str,
    /// Its objects.
    pub target: TargetSource<'d>,
    /// What to loop over, as `${…}`.
    pub for_each: Option<&'d str>,
    /// The variable of the loop.
    pub var: Option<&'d str>,
    /// What it does, in order.
    pub operations: Vec<OperationSource<'d>>,
}

/// One operation of a patch.
#[derive(Clone, Debug)]
pub struct OperationSource<'d> {
    /// `add`, `replace` or `remove`.
    pub op: &'d str,
    /// Where, with expressions.
    pub path: &'d str,
    /// What to put there, with expressions.
    pub value: Option<&'d Json>,
}

/// Objects to take away.
#[derive(Clone, Debug)]
pub struct RemoveSource<'d> {
    /// Its path.
    pub path: String,
    /// The plane of the objects.
    pub plane: &'d str,
    /// The objects.
    pub target: TargetSource<'d>,
    /// What to loop over, as `${…}`.
    pub for_each: Option<&'d str>,
    /// The variable of the loop.
    pub var: Option<&'d str>,
}

/// A condition on rendered objects.
#[derive(Clone, Debug)]
pub struct PostRuleSource<'d> {
    /// Its path.
    pub path: String,
    /// The plane of the objects.
    pub plane: &'d str,
    /// A condition for all of it, as `${…}`.
    pub when: Option<&'d str>,
    /// What to loop over, as `${…}`.
    pub for_each: Option<&'d str>,
    /// The variable of the loop.
    pub var: Option<&'d str>,
    /// The objects.
    pub target: TargetSource<'d>,
    /// Whether there must be such an object.
    pub must_match: bool,
    /// The condition, as `${…}` over `resource`.
    pub rule: &'d str,
    /// Words for when it does not hold.
    pub message: &'d str,
}

/// Any value with expressions in it.
#[derive(Clone, Debug)]
pub struct BindingSource<'d> {
    /// Its path.
    pub path: String,
    /// The value.
    pub value: &'d Json,
}

/// Which kinds of objects a definition must and must not make. Letters' case does not matter.
#[derive(Clone, Copy, Debug, Default)]
pub struct KindRule<'d> {
    /// Exactly one template must be of this kind.
    pub required: Option<&'d str>,
    /// No other template may be of these kinds, and no removal may aim at them.
    pub forbidden: &'d [&'d str],
}
