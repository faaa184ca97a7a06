//! Which calls a fault strikes.

use super::call::{Call, Verb};

/// Which calls are meant: all conditions must hold. [`Matcher::any`] is where to start.
#[derive(Debug, Clone)]
pub struct Matcher {
    verbs: Vec<Verb>,
    writes: bool,
    resource: Option<String>,
    namespace: Option<String>,
    name: Option<String>,
    from: usize,
    until: usize,
}

impl Matcher {
    /// Every call.
    pub fn any() -> Self {
        Self {
            verbs: Vec::new(),
            writes: false,
            resource: None,
            namespace: None,
            name: None,
            from: 1,
            until: usize::MAX,
        }
    }

    /// Every call of one verb.
    pub fn verb(verb: Verb) -> Self {
        Self {
            verbs: vec![verb],
            ..Self::any()
        }
    }

    /// Every call that can change something.
    pub fn writes() -> Self {
        Self {
            writes: true,
            ..Self::any()
        }
    }

    /// This verb too.
    #[must_use]
    pub fn or_verb(mut self, verb: Verb) -> Self {
        self.verbs.push(verb);
        self
    }

    /// Only this resource, such as `configmaps` or `pods/status`.
    #[must_use]
    pub fn resource(mut self, resource: &str) -> Self {
        self.resource = Some(resource.to_owned());
        self
    }

    /// Only this namespace.
    #[must_use]
    pub fn namespace(mut self, namespace: &str) -> Self {
        self.namespace = Some(namespace.to_owned());
        self
    }

    /// Only the object of this name.
    #[must_use]
    pub fn name(mut self, name: &str) -> Self {
        self.name = Some(name.to_owned());
        self
    }

    /// Only the n-th of them, counted from 1.
    #[must_use]
    pub fn nth(mut self, n: usize) -> Self {
        (self.from, self.until) = (n, n);
        self
    }

    /// Only the first n of them.
    #[must_use]
    pub fn first(mut self, n: usize) -> Self {
        (self.from, self.until) = (1, n);
        self
    }

    /// The n-th of them, counted from 1, and all that follow: with [`super::Fault::Disconnect`], a process that
    /// dies after its (n-1)-th call.
    #[must_use]
    pub fn from_nth(mut self, n: usize) -> Self {
        (self.from, self.until) = (n, usize::MAX);
        self
    }

    /// Whether a call is meant, leaving aside how many came before it.
    pub(super) fn fits(&self, call: &Call) -> bool {
        let wants = |wanted: &Option<String>, value: Option<&str>| {
            wanted.as_deref().is_none_or(|wanted| Some(wanted) == value)
        };
        (self.verbs.is_empty() || self.verbs.contains(&call.verb))
            && (!self.writes || call.verb.writes())
            && wants(&self.resource, Some(&call.resource))
            && wants(&self.namespace, call.namespace.as_deref())
            && wants(&self.name, call.name.as_deref())
    }

    /// Whether the `count`-th call that fits is struck.
    pub(super) fn strikes(&self, count: usize) -> bool {
        (self.from..=self.until).contains(&count)
    }
}
