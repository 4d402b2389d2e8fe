//! A provider: where its keys are, and the keys as they were last fetched.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use reqwest::{Client, Url};
use serde::Deserialize;
use tokio::time::Instant;

use crate::keys::Keys;
use crate::token::Token;
use crate::{Claims, Error};

/// How long keys are good without being looked at again.
const FRESH: Duration = Duration::from_secs(3600);

/// How long keys are used at most while the provider does not answer.
const USABLE: Duration = Duration::from_secs(24 * 3600);

/// The provider is not asked more often, whatever tokens come.
const PAUSE: Duration = Duration::from_secs(10);

/// How long an answer of the provider may take, and how large it may be.
const PATIENCE: Duration = Duration::from_secs(10);
const LARGEST: usize = 1024 * 1024;

/// Which tokens count.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The address of the provider, as it stands in its tokens.
    pub issuer: String,
    /// Whom the tokens must be for.
    pub audience: String,
}

/// A provider of identities, cheap to share.
#[derive(Debug)]
pub struct Provider {
    settings: Settings,
    client: Client,
    known: Mutex<Known>,
    /// Held by the one who fetches.
    fetching: tokio::sync::Mutex<()>,
}

/// What was fetched, and when.
#[derive(Clone, Debug, Default)]
struct Known {
    keys: Option<(Arc<Keys>, Instant)>,
    /// The last try, and what went wrong.
    tried: Option<(Instant, Option<String>)>,
}

impl Known {
    /// The keys, if they were fetched no longer ago than this.
    fn keys_since(&self, age: Duration) -> Option<Arc<Keys>> {
        let (keys, fetched) = self.keys.as_ref()?;
        (fetched.elapsed() < age).then(|| keys.clone())
    }
}

/// The parts of the discovery document that matter here.
#[derive(Deserialize)]
struct Discovery {
    issuer: String,
    jwks_uri: String,
}

impl Provider {
    /// A provider that is asked over these connections. It is not asked yet.
    pub fn new(settings: Settings, client: Client) -> Result<Provider, Error> {
        safe(&settings.issuer).map_err(|why| {
            Error::Misconfigured(format!("'{}' can't be an issuer of tokens: {why}", settings.issuer))
        })?;
        Ok(Provider { settings, client, known: Mutex::default(), fetching: Default::default() })
    }

    /// Fetches the keys, to find out early whether that works.
    pub async fn look_up(&self) -> Result<(), Error> {
        self.keys_for(|_| false).await.map(drop)
    }

    /// What a token says of its bearer, if it counts.
    pub async fn verify(&self, token: &str) -> Result<Claims, Error> {
        let token = Token::parse(token)?;
        let keys = self.keys_for(|keys| keys.know(&token)).await?;
        keys.check(&token)?;
        let claims = token.into_claims()?;
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        claims.check(&self.settings.issuer, &self.settings.audience, now.as_secs_f64())?;
        Ok(claims)
    }

    /// The keys, fetched anew when they are old or do not serve, but not again and again. While one caller fetches them,
    /// others go on with those that are there.
    async fn keys_for(&self, serve: impl Fn(&Keys) -> bool) -> Result<Arc<Keys>, Error> {
        let known = self.known();
        if let Some(keys) = known.keys_since(FRESH).filter(|keys| serve(keys)) {
            return Ok(keys);
        }
        let _turn = match (self.fetching.try_lock(), known.keys_since(USABLE)) {
            (Ok(turn), _) => turn,
            (Err(_), Some(keys)) if serve(&keys) => return Ok(keys),
            (Err(_), _) => self.fetching.lock().await,
        };
        // Somebody else may have fetched them meanwhile.
        let mut known = self.known();
        if known.tried.as_ref().is_none_or(|(at, _)| at.elapsed() >= PAUSE) {
            let fetched = self.fetch().await;
            let now = Instant::now();
            known.tried = Some((now, fetched.as_ref().err().cloned()));
            if let Ok(keys) = fetched {
                known.keys = Some((Arc::new(keys), now));
            }
            *self.known.lock().unwrap_or_else(PoisonError::into_inner) = known.clone();
        }
        match (known.keys_since(USABLE), known.tried) {
            (Some(keys), _) => Ok(keys),
            (None, Some((_, Some(why)))) => Err(Error::Unavailable(why)),
            (None, _) => Err(Error::Unavailable(format!("{} has no keys", self.settings.issuer))),
        }
    }

    fn known(&self) -> Known {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    async fn fetch(&self) -> Result<Keys, String> {
        let issuer = &self.settings.issuer;
        let place = format!("{}/.well-known/openid-configuration", issuer.trim_end_matches('/'));
        let document = self.get(&place).await?;
        let discovery: Discovery = serde_json::from_slice(&document)
            .map_err(|error| format!("{place} is no discovery document: {error}"))?;
        if discovery.issuer != *issuer {
            return Err(format!("{place} is of '{}', not of '{issuer}'", discovery.issuer));
        }
        safe(&discovery.jwks_uri).map_err(|why| {
            format!("{place} names '{}' as the place of the keys: {why}", discovery.jwks_uri)
        })?;
        let document = self.get(&discovery.jwks_uri).await?;
        Keys::parse(&document).map_err(|error| format!("{} has no keys: {error}", discovery.jwks_uri))
    }

    async fn get(&self, place: &str) -> Result<Vec<u8>, String> {
        let failed = |error: reqwest::Error| format!("{place} does not answer: {}", error.without_url());
        let mut answer = self.client.get(place).timeout(PATIENCE).send().await.map_err(failed)?;
        if !answer.status().is_success() {
            return Err(format!("{place} answers with status {}", answer.status().as_u16()));
        }
        let mut document = Vec::new();
        while let Some(part) = answer.chunk().await.map_err(failed)? {
            document.extend_from_slice(&part);
            if document.len() > LARGEST {
                return Err(format!("{place} answers with more than {LARGEST} bytes"));
            }
        }
        Ok(document)
    }
}

/// Whoever can change what is fetched can let anybody in, so it must not be fetched in the clear over a network.
fn safe(address: &str) -> Result<(), String> {
    let url = Url::parse(address).map_err(|error| error.to_string())?;
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    let is_here =
        host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback());
    match url.scheme() {
        "https" => Ok(()),
        "http" if is_here => Ok(()),
        _ => Err("it must begin with https://".to_owned()),
    }
}
