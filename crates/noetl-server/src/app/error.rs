//! Why a request is refused: a stable code for programs, a sentence for people.

use std::time::Duration;

use noetl_dsl::Diagnostic;

use crate::catalog::CatalogError;
use crate::drive::DriveError;

/// Makes the codes, their names, and the list of all of them.
macro_rules! codes {
    ($($(#[$doc:meta])* $code:ident => $name:literal,)*) => {
        /// What kind of refusal it is. Each has a page under `docs/errors/`.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Code { $($(#[$doc])* $code,)* }

        impl Code {
            pub const ALL: &'static [Code] = &[$(Code::$code,)*];

            /// The name that programs rely on.
            pub fn name(self) -> &'static str {
                match self { $(Code::$code => $name,)* }
            }
        }
    };
}

codes! {
    /// The body is not JSON, or broke off.
    BodyMalformed => "body_malformed",
    /// The body is JSON, but not of the shape that is needed.
    BodyInvalid => "body_invalid",
    BodyTooLarge => "body_too_large",
    MediaTypeUnsupported => "media_type_unsupported",
    /// A query parameter is missing or makes no sense.
    ParameterInvalid => "parameter_invalid",
    RouteNotFound => "route_not_found",
    MethodNotAllowed => "method_not_allowed",
    NotAuthenticated => "not_authenticated",
    /// Nobody can tell whose token it is, since its issuer does not answer.
    IssuerUnavailable => "issuer_unavailable",
    Forbidden => "forbidden",
    /// The server is called by a name that is not its own.
    HostRefused => "host_refused",
    /// The page that calls belongs to another origin.
    OriginRefused => "origin_refused",
    /// The internal routes are closed.
    InternalTokenMissing => "internal_token_missing",
    TokenNotFound => "token_not_found",
    TooManyRequests => "too_many_requests",
    RequestTimeout => "request_timeout",
    PlaybookInvalid => "playbook_invalid",
    DocumentInvalid => "document_invalid",
    CatalogEntryNotFound => "catalog_entry_not_found",
    ExecutionNotFound => "execution_not_found",
    /// The execution must have ended for this.
    ExecutionRunning => "execution_running",
    /// The text is no reference to a stored value.
    ReferenceInvalid => "reference_invalid",
    ResultNotFound => "result_not_found",
    PluginNotFound => "plugin_not_found",
    ObjectNotFound => "object_not_found",
    /// The code is not that which the caller knows.
    DigestMismatch => "digest_mismatch",
    SubscriptionNotFound => "subscription_not_found",
    NotASubscription => "not_a_subscription",
    /// The subscription is in a state from which this is not possible.
    TransitionNotAllowed => "transition_not_allowed",
    TestSuiteNotFound => "test_suite_not_found",
    /// The SQL can't be run, or is not allowed.
    QueryInvalid => "query_invalid",
    /// Something that the request can't do without is not there.
    ParameterMissing => "parameter_missing",
    /// What is stored is not what was put there.
    ResultDamaged => "result_damaged",
    /// The playbook has no such step, or the run has not come to it.
    StepNotFound => "step_not_found",
    /// There is no such state to look at.
    ReplayInvalid => "replay_invalid",
    /// The run is over, so that nothing can change it.
    ExecutionEnded => "execution_ended",
    /// The playbook does not take these inputs.
    ExecutionRefused => "execution_refused",
    CredentialNotFound => "credential_not_found",
    /// It was stored with another key, or is damaged.
    CredentialUnreadable => "credential_unreadable",
    /// The server was started without a key to keep secrets with.
    EncryptionKeyMissing => "encryption_key_missing",
    /// Something else has this identity.
    Conflict => "conflict",
    /// No open command was issued by this event.
    CommandNotFound => "command_not_found",
    /// The command is somebody else's, over, or unknown. Asking again will not help.
    CommandTaken => "command_taken",
    VariableNotFound => "variable_not_found",
    /// The worker has not registered, or was removed since.
    WorkerUnknown => "worker_unknown",
    /// The reference leads to no value that is stored aside.
    ValueNotFound => "value_not_found",
    /// This server does not do that, whatever the request says.
    NotSupported => "not_supported",
    StoreUnavailable => "store_unavailable",
    StoreFull => "store_full",
    StoreReadOnly => "store_read_only",
    ShuttingDown => "shutting_down",
    Internal => "internal",
}

#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    pub code: Code,
    pub message: String,
    /// What to do about it.
    pub help: Option<String>,
    pub diagnostics: Vec<Diagnostic>,
    /// When it is worth trying again.
    pub retry_after: Option<Duration>,
    #[source]
    pub source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl Error {
    pub fn new(code: Code, message: impl Into<String>) -> Error {
        Error {
            code,
            message: message.into(),
            help: None,
            diagnostics: Vec::new(),
            retry_after: None,
            source: None,
        }
    }

    pub fn help(self, help: impl Into<String>) -> Error {
        Error { help: Some(help.into()), ..self }
    }

    pub fn retry_after(self, delay: Duration) -> Error {
        Error { retry_after: Some(delay), ..self }
    }

    fn caused_by(self, source: impl std::error::Error + Send + Sync + 'static) -> Error {
        Error { source: Some(Box::new(source)), ..self }
    }

    /// Something that no request should be able to cause. The log gets the cause, the client a plain sentence.
    pub fn internal(source: impl std::error::Error + Send + Sync + 'static) -> Error {
        Error::new(Code::Internal, "something went wrong in the server; its log has the cause")
            .caused_by(source)
    }
}

impl From<noetl_store::Error> for Error {
    fn from(error: noetl_store::Error) -> Error {
        use noetl_store::Error as Store;
        let soon = Duration::from_secs(1);
        match &error {
            Store::Unavailable { .. } => {
                Error::new(Code::StoreUnavailable, "the store does not answer now; try again")
                    .retry_after(soon)
                    .caused_by(error)
            }
            Store::Full { .. } => Error::new(Code::StoreFull, error.to_string()),
            Store::ReadOnly { .. } => Error::new(Code::StoreReadOnly, error.to_string()),
            Store::Conflict { .. } => Error::new(Code::Conflict, error.to_string()),
            Store::Corrupt { .. }
            | Store::Locked { .. }
            | Store::NewerSchema { .. }
            | Store::NotFound { .. }
            | Store::Invalid { .. } => Error::internal(error),
        }
    }
}

impl From<CatalogError> for Error {
    fn from(error: CatalogError) -> Error {
        match error {
            CatalogError::UnknownPath(_)
            | CatalogError::UnknownVersion { .. }
            | CatalogError::UnknownId(_) => Error::new(Code::CatalogEntryNotFound, error.to_string()),
            CatalogError::Invalid { summary, diagnostics, .. } => Error {
                diagnostics,
                ..Error::new(Code::PlaybookInvalid, format!("the playbook is invalid: {summary}"))
            },
            CatalogError::Store(error) => error.into(),
        }
    }
}

impl From<DriveError> for Error {
    fn from(error: DriveError) -> Error {
        let soon = Duration::from_secs(1);
        match error {
            DriveError::NotFound(execution) => Error::execution_not_found(execution),
            DriveError::Refused(refusal) => Error::new(Code::ExecutionRefused, refusal.message.clone()),
            DriveError::Store(error) => match std::sync::Arc::try_unwrap(error) {
                Ok(error) => error.into(),
                Err(shared) => Error::new(Code::StoreUnavailable, shared.to_string()).retry_after(soon),
            },
            DriveError::Catalog(error) => match std::sync::Arc::try_unwrap(error) {
                Ok(error) => error.into(),
                Err(shared) => Error::new(Code::CatalogEntryNotFound, shared.to_string()),
            },
            DriveError::Duplicate { .. } => Error::new(Code::Conflict, error.to_string()),
            DriveError::Contended(_) => {
                Error::new(Code::StoreUnavailable, error.to_string()).retry_after(soon)
            }
            DriveError::Closed => Error::new(Code::ShuttingDown, error.to_string()).retry_after(soon),
        }
    }
}

impl Error {
    pub fn execution_not_found(execution: noetl_types::ExecutionId) -> Error {
        Error::new(Code::ExecutionNotFound, format!("there is no execution {execution}"))
    }
}
