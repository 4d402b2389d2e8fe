//! The configuration file: where it is looked for, and the settings in it with their lines.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use noetl_types::Value;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::load::Surroundings;
use super::settings::{Setting, closest};

const NAME: &str = "noetl.toml";

/// A setting as the file has it.
pub struct Entry {
    pub setting: &'static Setting,
    pub line: usize,
    pub value: Value,
}

/// The file to read: the one that was asked for, else the first that exists.
pub fn find(asked_for: Option<&Path>, around: &Surroundings) -> Option<PathBuf> {
    if let Some(file) = asked_for {
        return Some(file.to_owned());
    }
    if let Some(file) = around.variable("NOETL_CONFIG") {
        return Some(file.into());
    }
    let here = around.folder.join(NAME);
    if here.is_file() {
        return Some(NAME.into());
    }
    user_folder(around).map(|folder| folder.join("noetl").join(NAME)).filter(|file| file.is_file())
}

/// Where programs keep the configuration of this user.
pub fn user_folder(around: &Surroundings) -> Option<PathBuf> {
    let given = ["XDG_CONFIG_HOME", "APPDATA"].into_iter().find_map(|name| around.variable(name));
    match given {
        Some(folder) => Some(folder.into()),
        None => around.variable("HOME").map(|home| Path::new(home).join(".config")),
    }
}

/// The settings in a text, and what is wrong with it: each finding with its line.
pub fn read(text: &str) -> (Vec<Entry>, Vec<(usize, String)>) {
    let (document, mistakes) = DeTable::parse_recoverable(text);
    let mut reading = Reading { text, entries: Vec::new(), problems: Vec::new() };
    for mistake in mistakes {
        let at = mistake.span().map_or(0, |span| span.start);
        reading.problem(at, format!("this is not TOML: {}", mistake.message()));
    }
    if reading.problems.is_empty() {
        reading.table("", document.get_ref());
    }
    (reading.entries, reading.problems)
}

struct Reading<'t> {
    text: &'t str,
    entries: Vec<Entry>,
    problems: Vec<(usize, String)>,
}

impl Reading<'_> {
    fn table(&mut self, prefix: &str, table: &DeTable<'_>) {
        for (name, value) in table {
            let key = format!("{prefix}{}", name.get_ref());
            match (Setting::find(&key), value.get_ref()) {
                (Some(setting), value) => {
                    let line = self.line(name.span().start);
                    self.entries.push(Entry { setting, line, value: plain(value) });
                }
                (None, DeValue::Table(inner)) => self.table(&format!("{key}."), inner),
                (None, _) => self.unknown(name, &key),
            }
        }
    }

    fn unknown(&mut self, name: &Spanned<std::borrow::Cow<'_, str>>, key: &str) {
        let hint = closest(key).map_or_else(
            || "; `noetl config default` shows all there are".to_owned(),
            |near| format!("; did you mean `{near}`?"),
        );
        self.problem(name.span().start, format!("there is no setting `{key}`{hint}"));
    }

    fn problem(&mut self, at: usize, sentence: String) {
        let line = self.line(at);
        self.problems.push((line, sentence));
    }

    fn line(&self, at: usize) -> usize {
        let before = &self.text.as_bytes()[..at.min(self.text.len())];
        1 + before.iter().filter(|byte| **byte == b'\n').count()
    }
}

fn plain(value: &DeValue<'_>) -> Value {
    match value {
        DeValue::String(text) => Value::from(text.as_ref()),
        DeValue::Integer(number) => i64::from_str_radix(number.as_str(), number.radix())
            .map_or_else(|_| Value::from(number.as_str()), Value::Int),
        DeValue::Float(number) => number.as_str().parse().map_or(Value::Null, Value::Float),
        DeValue::Boolean(flag) => Value::Bool(*flag),
        DeValue::Datetime(instant) => Value::from(instant.to_string().as_str()),
        DeValue::Array(items) => Value::list(items.iter().map(|item| plain(item.get_ref()))),
        DeValue::Table(table) => Value::map(
            table.iter().map(|(name, value)| (Arc::from(name.get_ref().as_ref()), plain(value.get_ref()))),
        ),
    }
}
