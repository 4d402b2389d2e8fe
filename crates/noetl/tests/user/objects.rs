//! Large values are kept as objects, and nobody notices but the file system.

use crate::support::Folder;

const PLAYBOOK: &str = "\
apiVersion: noetl.io/v2
kind: Playbook
metadata: {name: large, path: large}
workflow:
  - step: start
    tool: {kind: python, code: \"result = {'text': 'x' * 3000000, 'n': 7}\"}
    next: {arcs: [{step: end}]}
  - step: end
    tool: {kind: python, input: {text: \"{{ start.text }}\"}, code: \"result = {'length': len(text)}\"}
";

fn objects(folder: &Folder, place: &str) -> Vec<std::path::PathBuf> {
    let Ok(runs) = std::fs::read_dir(folder.path(place)) else {
        return Vec::new();
    };
    let files = runs.flatten().flat_map(|run| std::fs::read_dir(run.path()).into_iter().flatten().flatten());
    files.map(|file| file.path()).collect()
}

#[test]
fn large_values_are_files_of_their_own_and_steps_see_them_whole() {
    let folder = Folder::with("flow.yaml", PLAYBOOK);
    let seen = folder.noetl(&["run", "flow.yaml", "--quiet", "--data", "data"]);
    assert_eq!(seen.text(), "{\n  \"length\": 3000000\n}\nexit 0\n");
    assert!(!objects(&folder, "data/objects").is_empty());
    let sql = "SELECT max(length(data)) AS largest FROM noetl.result_store";
    let seen = folder.noetl(&["query", "--data", "data", "--json", sql]);
    let answer: serde_json::Value = serde_json::from_str(&seen.stdout).expect("JSON");
    assert!(answer["rows"][0][0].as_i64().is_some_and(|bytes| bytes < 1000), "{answer}");
}

#[test]
fn another_place_can_be_configured() {
    let folder = Folder::with("flow.yaml", PLAYBOOK);
    let url = format!("objects.url=file://{}", folder.path("elsewhere").display());
    let seen = folder.noetl(&["run", "flow.yaml", "--quiet", "--data", "data", "-o", &url]);
    assert_eq!(seen.code, Some(0), "{}", seen.text());
    assert!(!objects(&folder, "elsewhere").is_empty() && objects(&folder, "data/objects").is_empty());
    let seen = folder.noetl(&["run", "flow.yaml", "-o", "objects.url=ftp://somewhere"]);
    assert_eq!(seen.code, Some(1), "{}", seen.text());
    assert!(seen.stderr.contains("ftp://somewhere can't be used for objects"), "{}", seen.text());
}
