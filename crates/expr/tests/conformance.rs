//! The language's conformance vectors, when `CEL_VECTORS` names the folder that holds them.

use quadrille_expr::conformance;

#[test]
fn all_vectors_pass_that_need_no_protobuf() {
    let Ok(folder) = std::env::var("CEL_VECTORS") else {
        return;
    };
    let mut passed = 0;
    for entry in std::fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        let report = conformance::run(&serde_json::from_str(&text).unwrap());
        assert_eq!(report.failed, Vec::new(), "{}", path.display());
        passed += report.passed;
    }
    assert!(passed > 1500, "only {passed} vectors were found");
}
