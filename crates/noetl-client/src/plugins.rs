//! Plug-in modules.

use noetl_api::plugin::{PluginDeleted, PluginList, PluginRegistered};
use reqwest::{Method, header};
use serde::Serialize;

use crate::address::{question, segments};
use crate::call::Repeat;
use crate::{Client, Error};

#[derive(Serialize)]
struct Version {
    version: i64,
}

impl Client {
    pub async fn list_plugins(&self) -> Result<PluginList, Error> {
        self.get("/api/internal/plugins").await
    }

    /// Registers code under a path and a version. The same code again is fine.
    pub async fn push_plugin(
        &self,
        path: &str,
        version: i64,
        media_type: &str,
        code: Vec<u8>,
    ) -> Result<PluginRegistered, Error> {
        let address = plugin(path, version);
        let request = self.request(Method::POST, &address).timeout(crate::PATIENCE);
        let request = request.header(header::CONTENT_TYPE, media_type).body(code);
        let response = request.send().await.map_err(|source| self.not_sent(source))?;
        let response = self.unless_refused(response).await?;
        self.read(&address, response).await
    }

    /// The code of a module.
    pub async fn get_plugin(&self, path: &str, version: i64) -> Result<Vec<u8>, Error> {
        let request = self.request(Method::GET, &plugin(path, version)).timeout(crate::PATIENCE);
        let response = request.send().await.map_err(|source| self.not_sent(source))?;
        let response = self.unless_refused(response).await?;
        match response.bytes().await {
            Ok(bytes) => Ok(bytes.to_vec()),
            Err(source) => Err(Error::NoAnswer { url: self.base().to_owned(), source }),
        }
    }

    pub async fn delete_plugin(&self, path: &str, version: i64) -> Result<PluginDeleted, Error> {
        self.delete(&plugin(path, version), Repeat::Harmful).await
    }
}

fn plugin(path: &str, version: i64) -> String {
    format!("/api/internal/plugins/{}{}", segments(path), question(&Version { version }))
}
