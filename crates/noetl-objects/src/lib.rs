//! Objects in a folder of this machine or in a bucket, by URL.
//!
//! The credentials of buckets (`s3://`, `gs://`, `az://`) come from the environment, under the names that their own tools
//! use.

use std::fmt;
use std::io::{self, ErrorKind};
use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use futures_util::TryStreamExt;
use noetl_store::{Error, Objects};
use noetl_types::Timestamp;
use object_store::local::LocalFileSystem;
use object_store::path::Path as Key;
use object_store::prefix::PrefixStore;
use object_store::{ObjectStore, ObjectStoreExt, PutPayload};
use url::Url;

/// A place for objects.
#[derive(Clone)]
pub struct ObjectPlace {
    store: Arc<dyn ObjectStore>,
    /// For messages.
    name: Arc<str>,
}

impl fmt::Debug for ObjectPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ObjectPlace").field(&self.name).finish()
    }
}

impl ObjectPlace {
    /// A folder; it is made if there is none. What is put there is on the disk when the call returns.
    pub fn folder(folder: &Path) -> Result<ObjectPlace, Error> {
        let name = folder.display().to_string();
        make_private(folder).map_err(|error| cannot_use(&name, &error))?;
        let store = LocalFileSystem::new_with_prefix(folder).map_err(|error| fault(&name, &error))?;
        Ok(ObjectPlace { store: Arc::new(store.with_fsync(true)), name: name.as_str().into() })
    }

    /// The place that a URL names: `file:///path`, or a bucket such as `s3://bucket/path`.
    pub fn at(
        url: &str,
        environment: impl IntoIterator<Item = (String, String)>,
    ) -> Result<ObjectPlace, Error> {
        let parsed =
            Url::parse(url).map_err(|error| Error::invalid(format!("{url} is not a URL: {error}")))?;
        if let Ok(folder) = parsed.to_file_path() {
            return ObjectPlace::folder(&folder);
        }
        choose_ciphers();
        let options = environment.into_iter().map(|(name, value)| (name.to_ascii_lowercase(), value));
        let (store, prefix) = object_store::parse_url_opts(&parsed, options)
            .map_err(|error| Error::invalid(format!("{url} can't be used for objects: {error}")))?;
        let store = PrefixStore::new(Arc::<dyn ObjectStore>::from(store), prefix);
        Ok(ObjectPlace { store: Arc::new(store), name: url.into() })
    }

    fn failed(&self, error: object_store::Error) -> Error {
        fault(&self.name, &error)
    }
}

/// Clients of buckets take the ciphers that the process has chosen.
fn choose_ciphers() {
    // A choice that was made before is as good.
    let _ = rustls::crypto::ring::default_provider().install_default();
}

/// Makes the folder if there is none, for its owner alone: what runs work with may be nobody else's business.
fn make_private(folder: &Path) -> io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Names the cause: of the chain of causes, the one that the system gave.
fn fault(place: &str, error: &object_store::Error) -> Error {
    let mut cause: &(dyn std::error::Error + 'static) = error;
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    match cause.downcast_ref::<io::Error>() {
        Some(cause) => cannot_use(place, cause),
        None => Error::unavailable(format!("{place}: {cause}")),
    }
}

fn cannot_use(place: &str, error: &io::Error) -> Error {
    let place = place.to_owned();
    match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => Error::Full { place },
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => Error::ReadOnly { place },
        _ => Error::unavailable(format!("{place} cannot be used: {error}")),
    }
}

#[async_trait]
impl Objects for ObjectPlace {
    async fn put(&self, key: &str, content: Arc<[u8]>) -> Result<(), Error> {
        let payload = PutPayload::from(content.to_vec());
        self.store.put(&Key::from(key), payload).await.map_err(|error| self.failed(error))?;
        Ok(())
    }

    async fn find(&self, key: &str) -> Result<Option<Vec<u8>>, Error> {
        match self.store.get(&Key::from(key)).await {
            Ok(found) => {
                let content = found.bytes().await.map_err(|error| self.failed(error))?;
                Ok(Some(content.into()))
            }
            Err(object_store::Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(self.failed(error)),
        }
    }

    async fn delete(&self, key: &str) -> Result<(), Error> {
        match self.store.delete(&Key::from(key)).await {
            Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(self.failed(error)),
        }
    }

    async fn list_older(&self, than: Timestamp) -> Result<Vec<String>, Error> {
        let found: Vec<_> = self.store.list(None).try_collect().await.map_err(|error| self.failed(error))?;
        let is_older = |object: &object_store::ObjectMeta| object.last_modified.timestamp_micros() < than.0;
        Ok(found.into_iter().filter(is_older).map(|object| object.location.to_string()).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn objects_in_a_folder_can_be_stored_found_listed_and_removed() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let place = ObjectPlace::folder(&folder.path().join("objects")).expect("a folder");
        let content: Arc<[u8]> = vec![7; 3 << 20].into();
        place.put("12/34-abc", content.clone()).await.expect("it is stored");
        place.put("12/34-abc", content.clone()).await.expect("twice is fine");
        assert_eq!(place.find("12/34-abc").await.expect("readable").as_deref(), Some(&*content));
        assert_eq!(place.find("12/35-abc").await.expect("readable"), None);
        let far = Timestamp(i64::MAX);
        assert_eq!(place.list_older(far).await.expect("readable"), ["12/34-abc"]);
        assert_eq!(place.list_older(Timestamp(0)).await.expect("readable"), [] as [&str; 0]);
        place.delete("12/34-abc").await.expect("it is removed");
        place.delete("12/34-abc").await.expect("twice is fine");
        assert_eq!(place.find("12/34-abc").await.expect("readable"), None);
    }

    #[tokio::test]
    async fn a_url_may_name_a_folder() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let url = Url::from_file_path(folder.path()).expect("an absolute path");
        let place = ObjectPlace::at(url.as_str(), []).expect("a folder");
        place.put("1/2-x", vec![1].into()).await.expect("it is stored");
        assert!(folder.path().join("1/2-x").is_file());
    }

    #[test]
    fn buckets_are_known_by_their_urls() {
        let key = ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_REGION", "AZURE_STORAGE_ACCOUNT_NAME"]
            .map(|name| (name.to_owned(), "x".to_owned()));
        for url in ["s3://bucket/prefix", "gs://bucket/prefix", "az://container/prefix"] {
            let place = ObjectPlace::at(url, key.clone()).expect("a bucket");
            assert_eq!(&*place.name, url);
        }
    }

    #[test]
    fn places_that_are_not_known_are_refused() {
        for url in ["objects", "ftp://somewhere/else"] {
            assert!(matches!(ObjectPlace::at(url, []), Err(Error::Invalid { .. })), "{url}");
        }
    }
}
