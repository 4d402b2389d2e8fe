//! Where pushed messages go: the subscription that listens under a name, and how its messages prove where they come from.

use noetl_dsl::{Options, Subscription, check_subscription};
use noetl_store::CatalogFilter;
use noetl_types::{ExecutionId, Value};

use super::{App, Code, Error};

/// What the gateway needs to take in messages.
#[derive(Clone, Debug, PartialEq)]
pub struct Ingress {
    pub catalog_path: String,
    pub source: String,
    pub subscription: ExecutionId,
    pub verify: Verify,
    pub playbook: String,
    pub payload_from: String,
    pub pool: Option<String>,
    pub directives: Option<Value>,
}

/// How a message proves where it comes from.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Verify {
    pub kind: String,
    pub header: Option<String>,
    pub secret: Option<String>,
    pub audience: Option<String>,
    pub service_account: Option<String>,
}

/// Leaves the secret out.
impl std::fmt::Debug for Verify {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Verify")
            .field("kind", &self.kind)
            .field("header", &self.header)
            .finish_non_exhaustive()
    }
}

/// Documents that are looked through at a time.
const PAGE: usize = 100;

/// Where a credential that holds one secret has it.
const SECRET_FIELDS: [&str; 5] = ["secret", "value", "token", "key", "password"];

impl App {
    /// Finds the subscription that listens under a name, registers it if need be, and resolves its secret.
    pub async fn ingress(&self, listener: &str) -> Result<Ingress, Error> {
        let Some(document) = self.find_listener(listener).await? else {
            let message = format!("no subscription listens as '{listener}'");
            return Err(Error::new(Code::SubscriptionNotFound, message)
                .help("the last part of spec.ingress.gateway_path is its name"));
        };
        let subscription = self.register_subscription(&document.path).await?.id;
        let text = |place: &[&str]| find(&document.spec, place).and_then(Value::as_str).map(str::to_owned);
        let verify = |key: &str| text(&["ingress", "verify", key]);
        let secret = match verify("secret") {
            Some(name) => Some(self.secret(&name).await?),
            None => None,
        };
        Ok(Ingress {
            catalog_path: document.path.to_string(),
            source: document.source.to_string(),
            subscription,
            verify: Verify {
                kind: verify("type").unwrap_or_default(),
                header: verify("header").map(|header| header.to_lowercase()),
                secret,
                audience: verify("audience"),
                service_account: verify("service_account"),
            },
            playbook: document.playbook.to_string(),
            payload_from: text(&["dispatch", "payload_from"]).unwrap_or_else(|| "message.json".to_owned()),
            pool: text(&["dispatch", "execution_pool"]),
            directives: find(&document.spec, &["headers", "directives"]).cloned(),
        })
    }

    async fn find_listener(&self, listener: &str) -> Result<Option<std::sync::Arc<Subscription>>, Error> {
        let mut filter = CatalogFilter {
            kind: Some("subscription".to_owned()),
            latest_only: true,
            ..CatalogFilter::default()
        };
        loop {
            let page = self.store().list_entries(&filter, PAGE).await?;
            for entry in &page {
                let checked = check_subscription(&entry.entry.content, &Options::default());
                if let Some(found) =
                    checked.subscription.filter(|found| found.listener.as_deref() == Some(listener))
                {
                    return Ok(Some(found));
                }
            }
            match page.last() {
                Some(last) if page.len() == PAGE => {
                    filter.after = Some((last.entry.path.to_string(), last.version));
                }
                _ => return Ok(None),
            }
        }
    }

    /// The secret in the credential of a name.
    async fn secret(&self, name: &str) -> Result<String, Error> {
        let row = self.get_credential(name).await?;
        let data = self.open_credential(&row)?;
        let found = SECRET_FIELDS.iter().find_map(|field| data.get(field).and_then(Value::as_str));
        found.map(str::to_owned).ok_or_else(|| {
            Error::new(Code::DocumentInvalid, format!("the credential '{name}' holds no secret"))
                .help(format!("it must have one of {}", SECRET_FIELDS.join(", ")))
        })
    }
}

fn find<'a>(value: &'a Value, place: &[&str]) -> Option<&'a Value> {
    place.iter().try_fold(value, |value, key| value.get(key))
}
