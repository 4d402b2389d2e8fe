//! Plug-in modules.

use std::cmp::Reverse;
use std::sync::Arc;

use async_trait::async_trait;

use super::MemoryStore;
use crate::{Error, PluginInfo, PluginModule, Plugins};

#[async_trait]
impl Plugins for MemoryStore {
    async fn register_plugin(&self, module: &PluginModule) -> Result<PluginInfo, Error> {
        self.with(|state| {
            let place = (module.info.path.clone(), module.info.version);
            let stored = state.plugins.entry(place).or_insert_with(|| Arc::new(module.clone()));
            if stored.info.digest == module.info.digest {
                Ok(stored.info.clone())
            } else {
                Err(stored.info.conflict(&module.info.digest))
            }
        })?
    }

    async fn find_plugin(&self, path: &str, version: Option<i64>) -> Result<Option<PluginModule>, Error> {
        let found = self.with(|state| {
            let path: Arc<str> = path.into();
            let (lowest, highest) = version.map_or((i64::MIN, i64::MAX), |version| (version, version));
            let mut versions = state.plugins.range((path.clone(), lowest)..=(path, highest));
            versions.next_back().map(|(_, module)| module.clone())
        })?;
        found.map(|module| (*module).clone().verified()).transpose()
    }

    async fn list_plugins(&self) -> Result<Vec<PluginInfo>, Error> {
        self.with(|state| {
            let mut all: Vec<PluginInfo> = state.plugins.values().map(|module| module.info.clone()).collect();
            all.sort_by_key(|info| (info.path.clone(), Reverse(info.version)));
            all
        })
    }

    async fn delete_plugin(&self, path: &str, version: i64) -> Result<bool, Error> {
        self.with(|state| state.plugins.remove(&(Arc::from(path), version)).is_some())
    }
}
