//! What only the Go sources of the API types say: how a field is encoded when it is empty, the Go names of
//! scalar types (servers print them in decode errors) and the values of enumerations.
//!
//! The sources are formatted by `gofmt`, so reading them line by line is enough.

use std::{
    cell::RefCell,
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    rc::Rc,
};

use anyhow::{Context, bail};

/// A struct field.
#[derive(Clone, Debug)]
pub(super) struct Field {
    /// The JSON name; empty if the fields of the type are inlined.
    pub(super) json: String,
    omit_empty: bool,
    omit_zero: bool,
    ty: String,
    package: String,
}

#[derive(Default)]
struct Package {
    name: String,
    structs: BTreeMap<String, Vec<Field>>,
    named: BTreeMap<String, String>,
    /// The types that are marked as enumerations.
    enums: BTreeSet<String>,
    /// Names of string constants by type.
    constants: BTreeMap<String, BTreeSet<String>>,
    /// String constants: the value, or import path and name of another constant.
    values: BTreeMap<String, Constant>,
}

enum Constant {
    Text(String),
    Other(String, String),
}

/// Go packages by import path, read when first asked for.
pub(super) struct Sources {
    modules: Vec<(String, PathBuf)>,
    packages: RefCell<BTreeMap<String, Rc<Package>>>,
}

/// What a Go type is once all names are resolved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Scalar,
    List,
    Pointer {
        to_scalar: bool,
    },
    Struct,
    /// A struct that encodes itself as `null` when empty.
    NullStruct,
    /// A struct that encodes itself as a scalar.
    ScalarStruct,
}

impl Sources {
    /// Sources of these modules: import path and folder.
    pub(super) fn new(modules: Vec<(String, PathBuf)>) -> Self {
        Self {
            modules,
            packages: RefCell::default(),
        }
    }

    /// The fields of a definition's struct, inlined ones included; `None` if it is no struct.
    pub(super) fn fields(&self, definition: &str) -> anyhow::Result<Option<Vec<Field>>> {
        let Some((path, name)) = import_path(definition) else {
            return Ok(None);
        };
        self.struct_fields(&path, &name)
    }

    fn struct_fields(&self, path: &str, name: &str) -> anyhow::Result<Option<Vec<Field>>> {
        let package = self.package(path)?;
        let Some(fields) = package.structs.get(name) else {
            return Ok(None);
        };
        let mut all = Vec::new();
        for field in fields {
            if field.json.is_empty() {
                let (path, name) = field.resolve(field.ty.trim_start_matches('*'));
                all.extend(self.struct_fields(&path, &name)?.unwrap_or_default());
            } else {
                all.push(field.clone());
            }
        }
        Ok(Some(all))
    }

    /// How the field is encoded when empty: `k` a set zero is kept, `s` an empty struct is shown, `n` null is
    /// shown, `v` the zero is shown; nothing: left out.
    pub(super) fn presence(&self, field: &Field) -> anyhow::Result<Option<char>> {
        let omitted = field.omit_empty || field.omit_zero;
        Ok(match self.kind(&field.package, &field.ty)? {
            Kind::Pointer { to_scalar: true } if omitted => Some('k'),
            Kind::Scalar | Kind::List | Kind::Pointer { .. } if omitted => None,
            Kind::Struct | Kind::NullStruct | Kind::ScalarStruct if field.omit_zero => None,
            Kind::List | Kind::Pointer { .. } | Kind::NullStruct => Some('n'),
            Kind::Struct => Some('s'),
            Kind::Scalar | Kind::ScalarStruct => Some('v'),
        })
    }

    /// The Go name of the innermost scalar type, if it has one of its own, and its values if it is an
    /// enumeration.
    pub(super) fn scalar(
        &self,
        field: &Field,
    ) -> anyhow::Result<Option<(String, BTreeSet<String>)>> {
        let mut ty = field.ty.as_str();
        loop {
            if let Some(rest) = ty.strip_prefix('*').or_else(|| ty.strip_prefix("[]")) {
                ty = rest;
            } else if let Some((_, rest)) =
                ty.strip_prefix("map[").and_then(|map| map.split_once(']'))
            {
                ty = rest;
            } else {
                break;
            }
        }
        if is_plain(ty) || self.kind(&field.package, ty)? != Kind::Scalar {
            return Ok(None);
        }
        let (path, name) = field.resolve(ty);
        let package = self.package(&path)?;
        let mut values = BTreeSet::new();
        if package.enums.contains(&name) {
            for constant in package.constants.get(&name).into_iter().flatten() {
                values.insert(self.value(&path, constant)?);
            }
        }
        Ok(Some((format!("{}.{name}", package.name), values)))
    }

    fn value(&self, path: &str, constant: &str) -> anyhow::Result<String> {
        let package = self.package(path)?;
        match package.values.get(constant) {
            Some(Constant::Text(text)) => Ok(text.clone()),
            Some(Constant::Other(path, name)) => self.value(path, name),
            None => bail!("no Go constant {path}.{constant}"),
        }
    }

    fn kind(&self, package: &str, ty: &str) -> anyhow::Result<Kind> {
        if let Some(target) = ty.strip_prefix('*') {
            let to_scalar = self.kind(package, target)? == Kind::Scalar;
            return Ok(Kind::Pointer { to_scalar });
        }
        if ty.starts_with("[]") || ty.starts_with("map[") || ty.starts_with("interface") {
            return Ok(Kind::List);
        }
        if is_plain(ty) {
            return Ok(Kind::Scalar);
        }
        let (path, name) = resolve(package, ty);
        match name.as_str() {
            "Time" | "MicroTime" | "RawExtension" | "JSON" | "FieldsV1" => {
                return Ok(Kind::NullStruct);
            }
            "Quantity" | "IntOrString" | "Duration" => return Ok(Kind::ScalarStruct),
            _ => {}
        }
        let package = self.package(&path)?;
        if package.structs.contains_key(&name) {
            return Ok(Kind::Struct);
        }
        let target = package
            .named
            .get(&name)
            .with_context(|| format!("no Go type {path}.{name}"))?;
        self.kind(&path, target)
    }

    fn package(&self, path: &str) -> anyhow::Result<Rc<Package>> {
        if let Some(package) = self.packages.borrow().get(path) {
            return Ok(Rc::clone(package));
        }
        let (module, folder) = self
            .modules
            .iter()
            .find(|(module, _)| path.starts_with(module.as_str()))
            .with_context(|| format!("no module holds {path}"))?;
        let folder = folder.join(path[module.len()..].trim_start_matches('/'));
        let package = Rc::new(Package::read(path, &folder)?);
        self.packages
            .borrow_mut()
            .insert(path.to_owned(), Rc::clone(&package));
        Ok(package)
    }
}

impl Field {
    fn resolve(&self, ty: &str) -> (String, String) {
        resolve(&self.package, ty)
    }
}

/// Types are rewritten to full import paths when read: `k8s.io/api/core/v1.Pod`; a bare name is local.
fn resolve(package: &str, ty: &str) -> (String, String) {
    match ty.rsplit_once('.') {
        Some((path, name)) => (path.to_owned(), name.to_owned()),
        None => (package.to_owned(), ty.to_owned()),
    }
}

fn is_plain(ty: &str) -> bool {
    matches!(
        ty,
        "string"
            | "bool"
            | "int"
            | "int32"
            | "int64"
            | "uint8"
            | "uint32"
            | "uint64"
            | "float32"
            | "float64"
            | "byte"
    )
}

/// `io.k8s.api.apps.v1.Deployment` is `Deployment` of `k8s.io/api/apps/v1`.
fn import_path(definition: &str) -> Option<(String, String)> {
    let (package, name) = definition.strip_prefix("io.k8s.")?.rsplit_once('.')?;
    Some((
        format!("k8s.io/{}", package.replace('.', "/")),
        name.to_owned(),
    ))
}

impl Package {
    fn read(path: &str, folder: &Path) -> anyhow::Result<Self> {
        let mut package = Self::default();
        let entries = fs::read_dir(folder).with_context(|| format!("read {}", folder.display()))?;
        for entry in entries {
            let file = entry?.path();
            let name = file
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned();
            let generated = name.starts_with("zz_") || name == "generated.pb.go";
            let is_go = file.extension().is_some_and(|extension| extension == "go");
            if is_go && !name.ends_with("_test.go") && !generated {
                let text = fs::read_to_string(&file)?;
                package.read_file(path, &text);
            }
        }
        Ok(package)
    }

    fn read_file(&mut self, path: &str, text: &str) {
        let mut imports = BTreeMap::new();
        let mut inside: Option<String> = None;
        let mut is_enum = false;
        for line in text.lines() {
            if let Some(name) = &inside {
                if line == "}" {
                    inside = None;
                } else if let Some(field) = read_field(line, path, &imports) {
                    self.structs.entry(name.clone()).or_default().push(field);
                }
            } else if let Some(name) = line.strip_prefix("package ") {
                name.clone_into(&mut self.name);
            } else if let Some((alias, import)) = read_import(line) {
                imports.insert(alias, import);
            } else if let Some(declaration) = line.strip_prefix("type ") {
                let (name, ty) = declaration.split_once(' ').unwrap_or((declaration, ""));
                if ty.starts_with("struct") {
                    self.structs.insert(name.to_owned(), Vec::new());
                    if ty.ends_with('{') {
                        inside = Some(name.to_owned());
                    }
                } else {
                    let ty = ty
                        .trim_start_matches("= ")
                        .split(" //")
                        .next()
                        .unwrap_or_default();
                    self.named
                        .insert(name.to_owned(), qualify(ty.trim(), &imports));
                    if is_enum {
                        self.enums.insert(name.to_owned());
                    }
                }
            } else if let Some((name, ty, value)) = read_constant(line, path, &imports) {
                self.constants.entry(ty).or_default().insert(name.clone());
                self.values.insert(name, value);
            }
            is_enum = line.starts_with("//") && (is_enum || line.trim_end() == "// +enum");
        }
    }
}

fn read_import(line: &str) -> Option<(String, String)> {
    let line = line
        .strip_prefix("import ")
        .or_else(|| line.strip_prefix('\t'))?;
    let (alias, path) = line.split_once('"')?;
    let path = path.strip_suffix('"')?;
    if !alias.trim().chars().all(char::is_alphanumeric) {
        return None;
    }
    let last = path.rsplit('/').next().unwrap_or(path);
    let alias = if alias.trim().is_empty() {
        last
    } else {
        alias.trim()
    };
    Some((alias.to_owned(), path.to_owned()))
}

fn read_field(line: &str, package: &str, imports: &BTreeMap<String, String>) -> Option<Field> {
    let (declaration, tags) = line.trim().split_once('`')?;
    let tag = tags.split("json:\"").nth(1)?.split('"').next()?;
    let mut options = tag.split(',');
    let json = options.next().unwrap_or_default();
    let options: Vec<&str> = options.collect();
    if json == "-" || (json.is_empty() && !options.contains(&"inline")) {
        return None;
    }
    let ty = declaration.split_whitespace().next_back()?;
    Some(Field {
        json: json.to_owned(),
        omit_empty: options.contains(&"omitempty"),
        omit_zero: options.contains(&"omitzero"),
        ty: qualify(ty, imports),
        package: package.to_owned(),
    })
}

/// `ProtocolTCP Protocol = "TCP"`, `PathTypeExact = PathType("Exact")` or
/// `AddressTypeIPv4 = AddressType(v1.IPv4Protocol)`.
fn read_constant(
    line: &str,
    package: &str,
    imports: &BTreeMap<String, String>,
) -> Option<(String, String, Constant)> {
    let line = line.strip_prefix("const ").unwrap_or(line.trim_start());
    let (declaration, value) = line.split_once(" = ")?;
    let words: Vec<&str> = declaration.split_whitespace().collect();
    let (name, ty, value) = match (words.as_slice(), value.split_once('(')) {
        ([name, ty], _) => (name, *ty, value),
        ([name], Some((ty, value))) => (name, ty, value.split(')').next()?),
        _ => return None,
    };
    let value = match value.strip_prefix('"') {
        Some(text) => Constant::Text(text.split('"').next()?.to_owned()),
        None => {
            let (path, name) = resolve(package, &qualify(value, imports));
            Constant::Other(path, name)
        }
    };
    Some(((*name).to_owned(), ty.to_owned(), value))
}

/// Replaces the package alias inside a type expression by the import path.
fn qualify(ty: &str, imports: &BTreeMap<String, String>) -> String {
    let start = ty.rfind([']', '*', '[']).map_or(0, |position| position + 1);
    let (wrapping, name) = ty.split_at(start);
    match name.split_once('.') {
        Some((alias, name)) => {
            let path = imports.get(alias).map_or(alias, String::as_str);
            format!("{wrapping}{path}.{name}")
        }
        None => ty.to_owned(),
    }
}
