//! Objects: bytes that workers keep under keys of their own.

use noetl_store::Blob;

use super::{App, Code, Error};

const LONGEST_KEY: usize = 1024;

/// What bytes are when nobody says more.
const UNKNOWN: &str = "application/octet-stream";

impl App {
    /// Keeps bytes in the place of what was under the key.
    pub async fn put_object(&self, key: &str, media_type: Option<&str>, bytes: &[u8]) -> Result<Blob, Error> {
        if key.len() > LONGEST_KEY || key.chars().any(char::is_control) {
            let message = format!("a key has 1 to {LONGEST_KEY} bytes and no control characters");
            return Err(Error::new(Code::ParameterInvalid, message));
        }
        let media_type = media_type.map(str::trim).filter(|given| !given.is_empty()).unwrap_or(UNKNOWN);
        if !is_media_type(media_type) {
            return Err(Error::new(
                Code::ParameterInvalid,
                format!("'{}' is no media type", media_type.escape_debug()),
            ));
        }
        let blob = Blob::new(key, media_type, bytes, self.now());
        self.store().put_blob(&blob).await?;
        Ok(blob)
    }

    pub async fn get_object(&self, key: &str) -> Result<Blob, Error> {
        match self.store().find_blob(key).await {
            Ok(Some(blob)) => Ok(blob),
            Ok(None) => Err(Error::new(Code::ObjectNotFound, format!("there is no object '{key}'"))),
            Err(error @ noetl_store::Error::Corrupt { .. }) => {
                Err(Error::new(Code::ResultDamaged, error.to_string()))
            }
            Err(error) => Err(error.into()),
        }
    }
}

/// Whether it can stand in the head of an answer.
fn is_media_type(text: &str) -> bool {
    let is_visible = text.bytes().all(|byte| (b' '..=b'~').contains(&byte));
    text.len() <= 200 && is_visible && text.split_once('/').is_some_and(|(kind, _)| !kind.is_empty())
}
