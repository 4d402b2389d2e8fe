//! Plug-in modules: code that workers load by path and version.

use noetl_store::{PluginInfo, PluginModule};

use super::{App, Code, Error};

/// What a module may be: compiled, or as text.
const MEDIA_TYPES: [&str; 2] = ["application/wasm", "text/wat"];

/// What senders say when they don't know better; modules are compiled then.
const UNKNOWN: [&str; 2] = ["", "application/octet-stream"];

/// A module to register.
#[derive(Clone, Debug)]
pub struct NewPlugin {
    pub path: String,
    pub version: i64,
    pub media_type: String,
    /// What the sender says the digest is.
    pub digest: Option<String>,
}

impl App {
    /// Registers a module. The same code again changes nothing; other code for a version that is taken is a conflict.
    pub async fn register_plugin(&self, new: NewPlugin, code: &[u8]) -> Result<PluginInfo, Error> {
        if code.is_empty() {
            return Err(Error::new(Code::BodyInvalid, "the module has no code").help("send it as the body"));
        }
        let module =
            PluginModule::new(&new.path, new.version, media_type(&new.media_type)?, code, self.now());
        compare(&module.info, new.digest.as_deref())?;
        Ok(self.store().register_plugin(&module).await?)
    }

    /// A version of a module with its code, if that has the digest.
    pub async fn get_plugin(
        &self,
        path: &str,
        version: i64,
        digest: Option<&str>,
    ) -> Result<PluginModule, Error> {
        let found = self.store().find_plugin(path, Some(version)).await?;
        let module = found.ok_or_else(|| not_found(path, version))?;
        compare(&module.info, digest)?;
        Ok(module)
    }

    pub async fn delete_plugin(&self, path: &str, version: i64) -> Result<(), Error> {
        match self.store().delete_plugin(path, version).await? {
            true => Ok(()),
            false => Err(not_found(path, version)),
        }
    }
}

fn media_type(given: &str) -> Result<&'static str, Error> {
    let essence = given.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    if UNKNOWN.contains(&&*essence) {
        return Ok(MEDIA_TYPES[0]);
    }
    MEDIA_TYPES.into_iter().find(|known| *known == essence).ok_or_else(|| {
        Error::new(Code::MediaTypeUnsupported, format!("a module is not sent as '{given}'"))
            .help("send application/wasm or text/wat")
    })
}

fn compare(info: &PluginInfo, wanted: Option<&str>) -> Result<(), Error> {
    let Some(wanted) = wanted.map(|digest| digest.trim_start_matches("sha256:").to_ascii_lowercase()) else {
        return Ok(());
    };
    if wanted == info.digest {
        return Ok(());
    }
    let message = format!("{info} has the digest {}, not {wanted}", info.digest);
    Err(Error::new(Code::DigestMismatch, message))
}

fn not_found(path: &str, version: i64) -> Error {
    Error::new(Code::PluginNotFound, format!("there is no plug-in '{path}' version {version}"))
}
