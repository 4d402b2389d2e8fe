//! The servers a person knows, by name: `~/.noetl/config.yaml`, in the form that earlier NoETL command lines write too.
//!
//! What is in the file and means nothing here stays in it.

use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

use anyhow::{Context as _, Result, bail};
use noetl_types::{Map, Value};

use super::notation;
use crate::config::Surroundings;

/// All of them, as the file has them.
#[derive(Debug)]
pub struct Contexts {
    file: PathBuf,
    root: Map,
}

/// A server by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Context {
    pub server_url: String,
    pub runtime: Runtime,
    pub token: Option<String>,
}

/// Where `noetl run` runs playbooks while the context is in use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Runtime {
    /// Files here, `catalog://` on the server
    #[default]
    Auto,
    /// Here
    Local,
    /// On the server
    Distributed,
}

impl Runtime {
    pub fn as_str(self) -> &'static str {
        match self {
            Runtime::Auto => "auto",
            Runtime::Local => "local",
            Runtime::Distributed => "distributed",
        }
    }
}

impl FromStr for Runtime {
    type Err = ();

    fn from_str(text: &str) -> Result<Runtime, ()> {
        match text {
            "auto" => Ok(Runtime::Auto),
            "local" => Ok(Runtime::Local),
            "distributed" => Ok(Runtime::Distributed),
            _ => Err(()),
        }
    }
}

impl Contexts {
    /// What the file has; nothing when there is no file.
    pub fn load(around: &Surroundings) -> Result<Contexts> {
        let home =
            around.variable("HOME").context("HOME is not set, so that there is no place for contexts")?;
        let file = Path::new(home).join(".noetl").join("config.yaml");
        let text = match std::fs::read_to_string(&file) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
            // Some part of the way there is a file, not a folder.
            Err(error) if error.kind() == std::io::ErrorKind::NotADirectory => String::new(),
            Err(error) => return Err(error).with_context(|| format!("{} can't be read", file.display())),
        };
        let document = noetl_dsl::yaml::parse(&text, &noetl_dsl::yaml::Limits::default());
        let root = match document.map(|document| document.root.to_value()) {
            Ok(Value::Map(root)) => (*root).clone(),
            Ok(Value::Null) => Map::new(),
            _ if text.trim().is_empty() => Map::new(),
            Ok(_) => bail!("{} is no file of contexts; `noetl context add` writes one", file.display()),
            Err(error) => bail!("{} is not YAML: {error}", file.display()),
        };
        Ok(Contexts { file, root })
    }

    /// The file they are in.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// The name of the one in use.
    pub fn current(&self) -> Option<&str> {
        self.root.get("current_context").and_then(Value::as_str).filter(|name| !name.is_empty())
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.all().into_iter().flat_map(|all| all.keys().map(|name| &**name))
    }

    pub fn find(&self, name: &str) -> Option<Context> {
        let entry = self.all()?.get(name)?;
        let text = |key: &str| entry.get(key).and_then(Value::as_str).map(str::to_owned);
        Some(Context {
            server_url: text("server_url")?,
            runtime: text("runtime").and_then(|word| word.parse().ok()).unwrap_or_default(),
            token: text("token").filter(|token| !token.is_empty()),
        })
    }

    fn all(&self) -> Option<&Map> {
        self.root.get("contexts").and_then(Value::as_map)
    }

    /// Adds one, or changes the one of this name.
    pub fn put(&mut self, name: &str, context: &Context) {
        let mut entry = self.all().and_then(|all| all.get(name)?.as_map()).cloned().unwrap_or_default();
        entry.insert("server_url".into(), context.server_url.as_str().into());
        entry.insert("runtime".into(), context.runtime.as_str().into());
        match &context.token {
            Some(token) => {
                entry.insert("token".into(), token.as_str().into());
            }
            None => {
                entry.shift_remove("token");
            }
        }
        self.change(|all| {
            all.insert(name.into(), Value::Map(Arc::new(entry)));
        });
    }

    /// Forgets one. It is no longer in use then.
    pub fn remove(&mut self, name: &str) {
        self.change(|all| {
            all.shift_remove(name);
        });
        if self.current() == Some(name) {
            self.root.shift_remove("current_context");
        }
    }

    pub fn make_current(&mut self, name: &str) {
        self.root.insert("current_context".into(), name.into());
    }

    fn change(&mut self, change: impl FnOnce(&mut Map)) {
        let mut all = self.all().cloned().unwrap_or_default();
        change(&mut all);
        self.root.insert("contexts".into(), Value::Map(Arc::new(all)));
    }

    /// Writes the file anew, for its owner's eyes only.
    pub fn save(&self) -> Result<()> {
        let folder = self.file.parent().context("the file of contexts is in a folder")?;
        let written = || format!("{} can't be written", self.file.display());
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder).with_context(written)?;
        let beside = folder.join(format!(".config.yaml.{}", std::process::id()));
        let mut options = std::fs::OpenOptions::new();
        let mut file = options
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(&beside)
            .with_context(written)?;
        file.write_all(notation::document(&self.root).as_bytes()).with_context(written)?;
        file.sync_all().with_context(written)?;
        std::fs::rename(&beside, &self.file).with_context(written)
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn what_was_written_is_read_again_and_what_is_unknown_stays() {
        let home = tempfile::tempdir().expect("a folder");
        let variables =
            [("HOME".to_owned(), home.path().to_str().expect("UTF-8").to_owned())].into_iter().collect();
        let around = Surroundings { variables, ..Surroundings::default() };
        let file = home.path().join(".noetl/config.yaml");
        std::fs::create_dir(home.path().join(".noetl")).expect("a folder");
        let kept = "contexts:\n  old:\n    server_url: http://old\n    kube_context: kind-x\n";
        std::fs::write(&file, kept).expect("a file");

        let mut contexts = Contexts::load(&around).expect("contexts");
        let context = Context {
            server_url: "https://new".to_owned(),
            runtime: Runtime::Distributed,
            token: Some("a: 'token'".to_owned()),
        };
        contexts.put("new one", &context);
        contexts.make_current("new one");
        contexts.save().expect("it is written");

        let again = Contexts::load(&around).expect("contexts");
        assert_eq!(again.current(), Some("new one"));
        assert_eq!(again.find("new one"), Some(context));
        assert_eq!(again.names().collect::<Vec<_>>(), ["old", "new one"]);
        let text = std::fs::read_to_string(&file).expect("a file");
        assert!(text.contains("kube_context: kind-x"), "{text}");
        let mode = std::fs::metadata(&file).expect("a file").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn a_context_that_is_removed_is_no_longer_in_use() {
        let mut contexts = Contexts { file: PathBuf::new(), root: Map::new() };
        let context = Context { server_url: "http://a".to_owned(), runtime: Runtime::Auto, token: None };
        contexts.put("a", &context);
        contexts.make_current("a");
        contexts.remove("a");
        assert_eq!((contexts.current(), contexts.names().count()), (None, 0));
    }
}
