//! Values that are too large for a database: kept as objects, with a pointer to each in the database.
//!
//! An object is written before the row that points to it. A crash in between leaves an object that nothing points to,
//! which is collected later; the other way round can't happen. What is read is held against the digest in the row.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use noetl_types::{Timestamp, tier_of};
use serde::{Deserialize, Serialize};

use crate::{Batch, Error, ResultInfo, ResultRow, sha256_hex};

/// A place for objects: a folder, a bucket.
#[async_trait]
pub trait Objects: Send + Sync + fmt::Debug {
    /// Stores an object for good before it answers. Doing it again is fine.
    async fn put(&self, key: &str, content: Arc<[u8]>) -> Result<(), Error>;

    async fn find(&self, key: &str) -> Result<Option<Vec<u8>>, Error>;

    /// Removing what is not there is fine.
    async fn delete(&self, key: &str) -> Result<(), Error>;

    /// The keys of all objects that were written before an instant.
    async fn list_older(&self, than: Timestamp) -> Result<Vec<String>, Error>;
}

/// Marks a row whose content is a pointer.
const POINTER_TYPE: &str = "application/vnd.noetl.object+json";

/// What the database has of a value that is an object.
#[derive(Debug, Serialize, Deserialize)]
struct Pointer {
    object: String,
    bytes: u64,
    sha256: String,
    media_type: Arc<str>,
}

/// Puts large values into objects, and brings them back.
#[derive(Clone, Debug)]
pub struct Shelf {
    objects: Arc<dyn Objects>,
}

impl Shelf {
    pub fn new(objects: Arc<dyn Objects>) -> Shelf {
        Shelf { objects }
    }

    pub fn objects(&self) -> &dyn Objects {
        &*self.objects
    }

    /// Stores a large value and gives the row that points to it. A small one stays as it is.
    pub async fn put<'r>(&self, row: &'r ResultRow) -> Result<Cow<'r, ResultRow>, Error> {
        if !is_large(row) {
            return Ok(Cow::Borrowed(row));
        }
        // With the digest in its name, an object never replaces one with other content.
        let object =
            format!("{}/{}-{}", row.at.execution, row.at.id, &row.sha256[..row.sha256.len().min(16)]);
        self.objects.put(&object, row.content.clone()).await?;
        let pointer = Pointer {
            object,
            bytes: row.content.len() as u64,
            sha256: row.sha256.clone(),
            media_type: row.media_type.clone(),
        };
        let content = serde_json::to_vec(&pointer).expect("a pointer is plain data");
        Ok(Cow::Owned(ResultRow {
            sha256: sha256_hex(&content),
            content: content.into(),
            media_type: POINTER_TYPE.into(),
            ..row.clone()
        }))
    }

    /// Stores the large values of a commit and gives the commit with rows that point to them.
    pub async fn put_all<'b>(&self, batch: &'b Batch) -> Result<Cow<'b, Batch>, Error> {
        if !batch.executions.iter().any(|write| write.results.iter().any(is_large)) {
            return Ok(Cow::Borrowed(batch));
        }
        let mut batch = batch.clone();
        for row in batch.executions.iter_mut().flat_map(|write| &mut write.results) {
            if let Cow::Owned(pointer) = self.put(row).await? {
                *row = pointer;
            }
        }
        Ok(Cow::Owned(batch))
    }
}

fn is_large(row: &ResultRow) -> bool {
    tier_of(row.content.len() as u64) == "disk"
}

/// The row with the value itself, wherever it is kept.
pub async fn resolve(shelf: Option<&Shelf>, row: ResultRow) -> Result<ResultRow, Error> {
    let Some(pointer) = pointer_of(&row.media_type, &row.content) else {
        return Ok(row);
    };
    let Some(shelf) = shelf else {
        let reason = format!("{} is kept as an object, and no place for objects is configured", row.at);
        return Err(Error::invalid(reason));
    };
    let Some(content) = shelf.objects.find(&pointer.object).await? else {
        return Err(Error::corrupt(row.at.to_string(), format!("the object {} is gone", pointer.object)));
    };
    let row =
        ResultRow { content: content.into(), sha256: pointer.sha256, media_type: pointer.media_type, ..row };
    row.verified()
}

/// The object that a row points to, if it points to one.
pub fn object_of(media_type: &str, content: &[u8]) -> Option<String> {
    pointer_of(media_type, content).map(|pointer| pointer.object)
}

/// What is known of a value, as it is itself and not as the pointer to it.
pub fn described(info: ResultInfo, content: &[u8]) -> ResultInfo {
    match pointer_of(&info.media_type, content) {
        Some(Pointer { bytes, sha256, media_type, .. }) => {
            ResultInfo { size: bytes, sha256, media_type, ..info }
        }
        None => info,
    }
}

fn pointer_of(media_type: &str, content: &[u8]) -> Option<Pointer> {
    (media_type == POINTER_TYPE).then(|| serde_json::from_slice(content).ok()).flatten()
}

/// The execution and the id of the value that an object was written for.
pub fn owner_of(object: &str) -> Option<(i64, i64)> {
    let (execution, rest) = object.split_once('/')?;
    let (id, _) = rest.split_once('-')?;
    Some((execution.parse().ok()?, id.parse().ok()?))
}

/// Objects in memory, for tests and for stores in memory.
#[derive(Clone, Default)]
pub struct MemoryObjects {
    kept: Arc<Mutex<BTreeMap<String, Arc<[u8]>>>>,
}

impl MemoryObjects {
    /// The keys of all objects.
    pub fn keys(&self) -> Vec<String> {
        self.kept().keys().cloned().collect()
    }

    fn kept(&self) -> MutexGuard<'_, BTreeMap<String, Arc<[u8]>>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for MemoryObjects {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("MemoryObjects").field(&self.keys()).finish()
    }
}

#[async_trait]
impl Objects for MemoryObjects {
    async fn put(&self, key: &str, content: Arc<[u8]>) -> Result<(), Error> {
        self.kept().insert(key.to_owned(), content);
        Ok(())
    }

    async fn find(&self, key: &str) -> Result<Option<Vec<u8>>, Error> {
        Ok(self.kept().get(key).map(|content| content.to_vec()))
    }

    async fn delete(&self, key: &str) -> Result<(), Error> {
        self.kept().remove(key);
        Ok(())
    }

    /// Objects in memory have no age: all are old.
    async fn list_older(&self, _than: Timestamp) -> Result<Vec<String>, Error> {
        Ok(self.keys())
    }
}

#[cfg(test)]
mod tests {
    use noetl_types::ExecutionId;

    use super::*;
    use crate::ResultRef;

    fn row(bytes: usize) -> ResultRow {
        let at = ResultRef { execution: ExecutionId(7), name: "ctx/rows".into(), id: 9 };
        ResultRow::json(at, vec![b'1'; bytes], Timestamp::default())
    }

    #[tokio::test]
    async fn a_mebibyte_becomes_an_object_and_comes_back_whole() {
        let objects = MemoryObjects::default();
        let shelf = Shelf::new(Arc::new(objects.clone()));
        let (small, large) = (row(1024 * 1024 - 1), row(1024 * 1024));
        assert!(matches!(shelf.put(&small).await, Ok(Cow::Borrowed(_))));
        let pointer = shelf.put(&large).await.expect("it is stored").into_owned();
        assert!(pointer.content.len() < 1024 && pointer.clone().verified().is_ok());
        let object = object_of(&pointer.media_type, &pointer.content).expect("it points to an object");
        assert_eq!((objects.keys(), owner_of(&object)), (vec![object], Some((7, 9))));
        assert_eq!(resolve(Some(&shelf), pointer).await.expect("it is found"), large);
        assert_eq!(resolve(None, small.clone()).await.expect("it is no object"), small);
    }

    #[tokio::test]
    async fn an_object_that_is_gone_or_changed_is_damage() {
        let objects = MemoryObjects::default();
        let shelf = Shelf::new(Arc::new(objects.clone()));
        let pointer = shelf.put(&row(2 << 20)).await.expect("it is stored").into_owned();
        let key = objects.keys().remove(0);
        objects.put(&key, vec![b'2'; 2 << 20].into()).await.expect("it is replaced");
        let changed = resolve(Some(&shelf), pointer.clone()).await;
        assert!(matches!(changed, Err(Error::Corrupt { .. })), "{changed:?}");
        objects.delete(&key).await.expect("it is removed");
        let gone = resolve(Some(&shelf), pointer).await;
        assert!(matches!(gone, Err(Error::Corrupt { .. })), "{gone:?}");
    }
}
