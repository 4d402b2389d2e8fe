//! Lays the sources over each other: defaults, the file, the environment, the command line. Later ones win.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use noetl_client::api::config::{ConfigInEffect, SettingInEffect, SettingOrigin};
use noetl_tools::Environment;
use noetl_types::Value;

use super::notation::Given;
use super::settings::{PARTS, SETTINGS, Setting};
use super::{Config, file};

/// What the command line says about settings.
#[derive(Clone, Debug, Default)]
pub struct Flags {
    /// The configuration file to read in place of those that are looked for.
    pub file: Option<PathBuf>,
    given: Vec<Flag>,
}

#[derive(Clone, Debug)]
struct Flag {
    name: &'static str,
    key: String,
    text: String,
}

impl Flags {
    pub fn new(file: Option<PathBuf>) -> Flags {
        Flags { file, given: Vec::new() }
    }

    /// Notes that the flag of this name was given for a setting. Later ones win.
    pub fn set(&mut self, key: impl Into<String>, flag: &'static str, text: impl Into<String>) {
        self.given.push(Flag { name: flag, key: key.into(), text: text.into() });
    }
}

/// What a process finds around it.
#[derive(Clone, Debug, Default)]
pub struct Surroundings {
    pub variables: BTreeMap<String, String>,
    pub folder: PathBuf,
}

impl Surroundings {
    /// Variables that are not Unicode mean nothing to us and are passed over.
    pub fn of_this_process() -> Surroundings {
        let variables = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .collect();
        Surroundings { variables, folder: PathBuf::new() }
    }

    /// A variable that says something; an empty one does not.
    pub fn variable(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(String::as_str).filter(|text| !text.is_empty())
    }
}

/// Where a value comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    Default,
    File { file: PathBuf, line: usize },
    Variable(String),
    Flag(&'static str),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::Default => f.write_str("default"),
            Origin::File { file, line } => write!(f, "{}:{line}", file.display()),
            Origin::Variable(name) => write!(f, "{name}"),
            Origin::Flag(name) => write!(f, "{name}"),
        }
    }
}

/// A setting with the value that counts.
#[derive(Clone, Debug, PartialEq)]
pub struct Effective {
    pub key: &'static str,
    /// The systematic name of its environment variable.
    pub variable: String,
    /// Null when there is none.
    pub value: Value,
    pub origin: Origin,
}

/// A configuration and how it came about.
#[derive(Clone, Debug)]
pub struct Loaded {
    pub config: Config,
    /// The file that was read.
    pub file: Option<PathBuf>,
    /// Every setting, in the order of the default file.
    pub settings: Vec<Effective>,
}

impl Loaded {
    /// The same for programs: as `noetl config show --json` prints it, and as a server tells it.
    pub fn in_effect(&self) -> ConfigInEffect {
        ConfigInEffect {
            file: self.file.as_deref().map(text_of),
            settings: self.settings.iter().map(Effective::in_effect).collect(),
        }
    }
}

impl Effective {
    fn in_effect(&self) -> SettingInEffect {
        SettingInEffect {
            key: self.key.to_owned(),
            value: self.value.clone(),
            origin: match &self.origin {
                Origin::Default => SettingOrigin::Default,
                Origin::File { file, line } => SettingOrigin::File { file: text_of(file), line: *line },
                Origin::Variable(name) => SettingOrigin::Environment { variable: name.clone() },
                Origin::Flag(name) => SettingOrigin::Flag { flag: (*name).to_owned() },
            },
            variable: self.variable.clone(),
        }
    }
}

fn text_of(file: &Path) -> String {
    file.display().to_string()
}

/// Everything that is wrong, a sentence each.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", .problems.join("\n"))]
pub struct ConfigError {
    pub problems: Vec<String>,
}

/// Makes the configuration of a process with these flags and surroundings.
pub fn load(flags: &Flags, around: &Surroundings) -> Result<Loaded, ConfigError> {
    let mut layers = Layers::default();
    let file = file::find(flags.file.as_deref(), around);
    if let Some(file) = &file {
        layers.file(file, around);
    }
    layers.environment(around);
    layers.flags(flags);
    layers.settle(file, around)
}

#[derive(Default)]
struct Layers {
    config: Config,
    origins: BTreeMap<&'static str, Origin>,
    problems: Vec<String>,
}

impl Layers {
    fn file(&mut self, file: &Path, around: &Surroundings) {
        let text = match std::fs::read_to_string(around.folder.join(file)) {
            Ok(text) => text,
            Err(error) => {
                let file = file.display();
                self.problems.push(format!("the configuration file {file} can't be read: {error}"));
                return;
            }
        };
        let (entries, mut problems) = file::read(&text);
        for entry in entries {
            let key = entry.setting.key;
            match (entry.setting.read)(&mut self.config, Given::Typed(&entry.value)) {
                Ok(()) => {
                    self.origins.insert(key, Origin::File { file: file.to_owned(), line: entry.line });
                }
                Err(expected) => problems.push((entry.line, format!("`{key}` must be {expected}"))),
            }
        }
        problems.sort();
        let name = file.display();
        self.problems.extend(problems.iter().map(|(line, sentence)| format!("{name}:{line}: {sentence}")));
    }

    fn environment(&mut self, around: &Surroundings) {
        for part in PARTS {
            if let Some(text) = around.variable(part.variable) {
                let outcome = (part.read)(&mut self.config, text);
                self.note(part.key, part.variable, text, outcome);
            }
        }
        for setting in SETTINGS {
            let systematic = setting.variable();
            let names = std::iter::once(systematic.as_str()).chain(setting.also.iter().copied());
            let said = names.into_iter().find_map(|name| Some((name, around.variable(name)?)));
            if let Some((name, text)) = said {
                let outcome = (setting.read)(&mut self.config, Given::Text(text)).map(|()| true);
                self.note(setting.key, name, text, outcome);
            }
        }
    }

    fn note(&mut self, key: &'static str, variable: &str, text: &str, outcome: Result<bool, &'static str>) {
        match outcome {
            Ok(true) => {
                self.origins.insert(key, Origin::Variable(variable.to_owned()));
            }
            Ok(false) => {}
            Err(expected) => self.problems.push(format!(
                "the environment variable {variable} is `{text}`, but `{key}` must be {expected}"
            )),
        }
    }

    fn flags(&mut self, flags: &Flags) {
        for Flag { name, key, text } in &flags.given {
            let Some(setting) = Setting::find(key) else {
                let hint = super::settings::closest(key)
                    .map_or(String::new(), |near| format!("; did you mean `{near}`?"));
                self.problems.push(format!("{name}: there is no setting `{key}`{hint}"));
                continue;
            };
            match (setting.read)(&mut self.config, Given::Text(text)) {
                Ok(()) => {
                    self.origins.insert(setting.key, Origin::Flag(name));
                }
                Err(expected) => {
                    self.problems.push(format!("{name} says `{text}`, but `{key}` must be {expected}"));
                }
            }
        }
    }

    fn settle(mut self, file: Option<PathBuf>, around: &Surroundings) -> Result<Loaded, ConfigError> {
        if !self.problems.is_empty() {
            return Err(ConfigError { problems: self.problems });
        }
        let settings = SETTINGS
            .iter()
            .map(|setting| Effective {
                key: setting.key,
                variable: setting.variable(),
                value: (setting.show)(&self.config),
                origin: self.origins.remove(setting.key).unwrap_or(Origin::Default),
            })
            .collect();
        let mut config = self.config;
        config.tools.process.environment = Environment::inherited(around.variables.clone(), &config.inherit);
        if config.credentials.folder.is_none() {
            let usual = file::user_folder(around).map(|folder| folder.join("noetl").join("credentials"));
            config.credentials.folder = usual.filter(|folder| folder.is_dir());
        }
        Ok(Loaded { config, file, settings })
    }
}

#[cfg(test)]
mod tests;
