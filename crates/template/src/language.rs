//! The language of expressions: CEL with its libraries, our functions, and the component macros.

use quadrille_expr::{Env, Library, Options};
use serde_json::Value as Json;

use crate::{functions, problem::Problems, variables::Variables};

/// Makes a name of at most so many bytes out of parts.
pub type NameMaker = fn(usize, &[&str]) -> String;

/// The variable that macros read.
pub const DERIVED: &str = "derived";

/// A method of a variable that stands for something prepared beforehand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Macro {
    /// The variable that it is called on.
    pub receiver: &'static str,
    /// Its name.
    pub method: &'static str,
    /// The field of the variable `derived` that it reads.
    pub field: &'static str,
    /// Whether it takes a key and gives an optional: `derived.field[?key]`.
    pub by_key: bool,
}

const fn reads(receiver: &'static str, method: &'static str, field: &'static str) -> Macro {
    Macro {
        receiver,
        method,
        field,
        by_key: false,
    }
}

/// The macros of components.
pub const COMPONENT_MACROS: &[Macro] = &[
    reads("configurations", "toConfigFileList", "configFiles"),
    reads("configurations", "toSecretFileList", "secretFiles"),
    reads("configurations", "toContainerEnvFrom", "containerEnvFrom"),
    reads("configurations", "toConfigEnvsByContainer", "configEnvs"),
    reads("configurations", "toSecretEnvsByContainer", "secretEnvs"),
    reads("configurations", "toContainerVolumeMounts", "volumeMounts"),
    reads("configurations", "toVolumes", "volumes"),
    reads("dependencies", "toContainerEnvs", "dependencyEnvs"),
    reads(
        "dependencies",
        "toContainerVolumeMounts",
        "dependencyVolumeMounts",
    ),
    reads("dependencies", "toVolumes", "dependencyVolumes"),
    reads("workload", "toServicePorts", "servicePorts"),
    Macro {
        receiver: "workload",
        method: "toEndpointResources",
        field: "endpointResources",
        by_key: true,
    },
];

/// What expressions may say. One for the process; cheap to clone.
#[derive(Clone, Debug)]
pub struct Language {
    env: Env,
}

impl Language {
    /// CEL, its libraries and our functions. `names` makes the names that `oc_generate_name` and
    /// `oc_dns_label` give.
    pub fn new(names: NameMaker) -> Self {
        let env = Env::with(&[
            Library::Standard,
            Library::ExistsOne,
            Library::Optionals,
            Library::Strings(4),
            Library::Encoders,
            Library::Math,
            Library::Lists,
            Library::Sets,
            Library::TwoVariables,
        ])
        .options(Options {
            quoted_names: true,
            objects_as_maps: true,
            ..Options::default()
        });
        let env = functions::install(env, names);
        Self { env }
    }

    /// With methods that read prepared values, such as [`COMPONENT_MACROS`].
    #[must_use]
    pub fn macros(mut self, macros: &[Macro]) -> Self {
        for one in macros {
            self.env =
                self.env
                    .shorthand((one.receiver, one.method), (DERIVED, one.field), one.by_key);
        }
        self
    }

    /// Variables as one object schema (`openAPIV3Schema`) describes them, a property each. What
    /// has no type there may be anything.
    pub fn variables(&self, schema: &Json) -> Result<Variables, Problems> {
        Variables::none(self.env.clone()).described(schema)
    }

    /// Variables of which only the names are known.
    pub fn untyped(&self, names: &[&str]) -> Variables {
        Variables::untyped(self.env.clone(), names)
    }
}
