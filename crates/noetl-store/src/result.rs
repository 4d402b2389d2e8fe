//! Values stored aside, because they are too large for their events.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use async_trait::async_trait;
use noetl_types::{ExecutionId, Timestamp};

use crate::{Error, sha256_hex};

/// Names a stored value: `noetl://execution/<execution>/result/<name>/<id>`. The name may contain `/`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ResultRef {
    pub execution: ExecutionId,
    pub name: Arc<str>,
    /// Unique within the execution.
    pub id: i64,
}

impl fmt::Display for ResultRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "noetl://execution/{}/result/{}/{}", self.execution, self.name, self.id)
    }
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not of the form noetl://execution/<execution>/result/<name>/<id>")]
pub struct ResultRefError(String);

impl FromStr for ResultRef {
    type Err = ResultRefError;

    fn from_str(text: &str) -> Result<ResultRef, ResultRefError> {
        let parse = || {
            let (execution, rest) = text.strip_prefix("noetl://execution/")?.split_once("/result/")?;
            let (name, id) = rest.rsplit_once('/')?;
            let execution = ExecutionId(execution.parse().ok()?);
            (!name.is_empty()).then_some(ResultRef { execution, name: name.into(), id: id.parse().ok()? })
        };
        parse().ok_or_else(|| ResultRefError(text.to_owned()))
    }
}

/// A value with what is known of it. Its content never changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResultRow {
    pub at: ResultRef,
    /// How long it matters: `step`, `execution`, `workflow` or `permanent`.
    pub scope: Arc<str>,
    pub source_step: Option<Arc<str>>,
    pub content: Arc<[u8]>,
    /// The SHA-256 of the content in hexadecimal.
    pub sha256: String,
    pub media_type: Arc<str>,
    pub created_at: Timestamp,
    pub expires_at: Option<Timestamp>,
}

impl ResultRow {
    /// A JSON value of execution scope that does not expire. Computes the digest.
    pub fn json(at: ResultRef, content: impl Into<Arc<[u8]>>, created_at: Timestamp) -> ResultRow {
        let content = content.into();
        ResultRow {
            at,
            scope: "execution".into(),
            source_step: None,
            sha256: sha256_hex(&content),
            content,
            media_type: "application/json".into(),
            created_at,
            expires_at: None,
        }
    }

    /// Gives the row back if its content is what was stored.
    pub fn verified(self) -> Result<ResultRow, Error> {
        let found = sha256_hex(&self.content);
        if found == self.sha256 {
            Ok(self)
        } else {
            Err(Error::corrupt(self.at.to_string(), format!("its SHA-256 is {found}, not {}", self.sha256)))
        }
    }
}

/// What is known of a value without its content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResultInfo {
    pub at: ResultRef,
    pub scope: Arc<str>,
    pub source_step: Option<Arc<str>>,
    /// How many bytes the content has.
    pub size: u64,
    pub sha256: String,
    pub media_type: Arc<str>,
    pub created_at: Timestamp,
    pub expires_at: Option<Timestamp>,
}

/// What came of deleting the values of an execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResultsDeletion {
    Deleted {
        values: u64,
    },
    /// This execution refers to them.
    Needed {
        by: ExecutionId,
    },
}

/// Storing and finding values. Those that belong to events of a commit go into it; see
/// [`ExecutionWrite::results`](crate::ExecutionWrite::results).
#[async_trait]
pub trait Results {
    /// Stores a value. Doing it again with the same content is fine; with other content it is an [`Error::Conflict`].
    async fn put_result(&self, result: &ResultRow) -> Result<(), Error>;

    /// Content that does not match its digest is an [`Error::Corrupt`].
    async fn find_result(&self, at: &ResultRef) -> Result<Option<ResultRow>, Error>;

    /// The newest value of a name in an execution.
    async fn find_latest_result(
        &self,
        execution: ExecutionId,
        name: &str,
    ) -> Result<Option<ResultRow>, Error>;

    /// The values of an execution without their content, by id; those after the given id.
    async fn list_results(
        &self,
        execution: ExecutionId,
        after: Option<i64>,
        limit: usize,
    ) -> Result<Vec<ResultInfo>, Error>;

    /// Removes all values of an execution, unless another one refers to them.
    async fn delete_results(&self, execution: ExecutionId) -> Result<ResultsDeletion, Error>;

    /// Removes values that expired at `now` or before, at most `limit`, and says which. The values of an execution stay as
    /// long as one of its family runs, that is itself, an ancestor, or anything below those, or one that borrows from
    /// them: they pass references on.
    async fn collect_expired(&self, now: Timestamp, limit: usize) -> Result<Vec<ResultRef>, Error>;

    /// Removes objects that were written before an instant and that no value points to, and says how many. They come
    /// from crashes between the writing of an object and the commit that points to it, and from values that are gone.
    /// Stores that keep all values themselves have none.
    async fn collect_objects(&self, _before: Timestamp) -> Result<u64, Error> {
        Ok(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_survive_a_round_trip_with_slashes_in_the_name() {
        let reference = ResultRef { execution: ExecutionId(7), name: "a/result/b".into(), id: 9 };
        assert_eq!(reference.to_string(), "noetl://execution/7/result/a/result/b/9");
        assert_eq!(reference.to_string().parse(), Ok(reference));
    }

    #[test]
    fn other_texts_are_refused() {
        for text in [
            "",
            "noetl://execution/7/loop/1",
            "noetl://execution/x/result/a/1",
            "noetl://execution/7/result/1",
        ] {
            assert!(text.parse::<ResultRef>().is_err(), "{text}");
        }
    }
}
