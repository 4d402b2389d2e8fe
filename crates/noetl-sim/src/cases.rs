//! The conformance cases as scenarios: their playbooks, with the tools of the simulation.

use std::path::{Path, PathBuf};

use noetl_types::Value;

use crate::random::Random;
use crate::scenario::{Scenario, Source};

/// The cases whose playbooks can be registered.
#[derive(Clone, Debug, Default)]
pub struct Cases {
    scenarios: Vec<Scenario>,
}

impl Cases {
    /// Reads the folder of cases. A folder that is not there has none.
    pub fn read(folder: &Path) -> Cases {
        let mut folders: Vec<PathBuf> = folders_in(folder).iter().flat_map(|area| folders_in(area)).collect();
        folders.sort();
        let scenarios = folders.iter().filter_map(|case| read_case(folder, case)).collect();
        Cases { scenarios }
    }

    /// The cases of this workspace.
    pub fn of_workspace() -> Cases {
        Cases::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/cases"))
    }

    pub fn len(&self) -> usize {
        self.scenarios.len()
    }

    pub fn is_empty(&self) -> bool {
        self.scenarios.is_empty()
    }

    /// A case for every so many seeds.
    pub(crate) fn draw(&self, seed: u64, every: u64, random: &mut Random) -> Option<Scenario> {
        let wanted = seed % every == every - 1 && !self.is_empty();
        wanted.then(|| random.pick(&self.scenarios).clone())
    }
}

fn folders_in(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).filter(|path| path.is_dir()).collect()
}

fn read_case(root: &Path, folder: &Path) -> Option<Scenario> {
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).ok().map(|text| fill_in(&text));
    let case: Value = serde_json::from_str(&read("case.json")?).ok()?;
    let expected = case.get("expect").and_then(|expect| expect.get("status")).and_then(Value::as_str);
    if expected == Some("register_error") {
        return None;
    }
    let mut playbooks = vec![Source { path: "conformance/main".to_owned(), text: read("playbook.yaml")? }];
    for name in case.get("register").and_then(Value::as_list).into_iter().flatten() {
        let text = read(name.as_str()?)?;
        if text.contains("kind: Playbook") {
            playbooks.push(Source { path: path_of(&text)?, text });
        }
    }
    let name = folder.strip_prefix(root).unwrap_or(folder).display().to_string();
    let payload = case.get("payload").cloned().unwrap_or_default();
    Some(Scenario { name, playbooks, main: "conformance/main".to_owned(), payload, ends: false })
}

/// The catalog path that a playbook gives itself.
fn path_of(text: &str) -> Option<String> {
    let line = text.lines().find_map(|line| line.trim().strip_prefix("path:"))?;
    Some(line.trim().trim_matches(['"', '\'']).to_owned())
}

/// The words that the suite replaces.
fn fill_in(text: &str) -> String {
    text.replace("${mock}", "http://mock.test")
        .replace("${prefix}", "conformance")
        .replace("${uid}", "u1")
        .replace("${files}", "/files")
        .replace("${tmp}", "/tmp")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cases_of_the_workspace_are_found_and_compile() {
        let cases = Cases::of_workspace();
        assert!(cases.len() > 100, "only {} cases", cases.len());
        for scenario in &cases.scenarios {
            if let Err(error) = scenario.compile() {
                panic!("{}: {error}", scenario.name);
            }
        }
    }
}
