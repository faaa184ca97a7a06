//! Copies CRDs out of other projects' Go modules.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, ensure};
use quadrille_testkit::assets::CrdSource;

use super::go;

/// Copies the CRDs of one source, one file each.
pub(super) fn copy(source: &CrdSource, into: &Path) -> anyhow::Result<()> {
    println!("fetching CRDs of {} {}", source.module, source.version);
    let module = go::download(source.module, source.version, source.sum)?;
    let mut count = 0;
    for file in yaml_files(&module.join(source.folder))? {
        let text = fs::read_to_string(&file)?;
        if let (Some(definition), Some(name)) = (definition(&text), file.file_name()) {
            fs::write(into.join(name), definition)?;
            count += 1;
        }
    }
    ensure!(
        count > 0,
        "{} {} holds no CRDs",
        source.module,
        source.folder
    );
    Ok(())
}

/// The YAML files of a folder, sorted by name.
pub(super) fn yaml_files(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut files = fs::read_dir(folder)
        .with_context(|| format!("read {}", folder.display()))?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<Vec<_>, _>>()?;
    files.retain(|path| {
        path.extension()
            .is_some_and(|extension| extension == "yaml")
    });
    files.sort();
    Ok(files)
}

/// The text of a CRD without the lines by which a Helm chart wraps it; nothing if it is something else.
fn definition(text: &str) -> Option<String> {
    text.lines()
        .any(|line| line == "kind: CustomResourceDefinition")
        .then(|| {
            let lines = text.lines().filter(|line| !line.starts_with("{{"));
            lines.flat_map(|line| [line, "\n"]).collect()
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chart_condition_around_a_definition_is_taken_off() {
        let text = "{{- if .Values.on }}\n---\nkind: CustomResourceDefinition\n{{- end }}\n";
        assert_eq!(
            definition(text).unwrap(),
            "---\nkind: CustomResourceDefinition\n"
        );
    }

    #[test]
    fn a_file_that_holds_something_else_is_left_out() {
        assert_eq!(definition("kind: Kustomization\n"), None);
    }
}
