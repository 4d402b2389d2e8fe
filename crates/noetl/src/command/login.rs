//! Whom an OpenID provider vouches for, and what they may do here.

use std::sync::Arc;

use anyhow::{Result, bail};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use noetl_oidc::{Claims, Error, Provider, Settings};
use noetl_server::http::{Auth, Identities, Identity, Scope, Unproven};
use noetl_tools::Trust;

use crate::config::{OidcConfig, ServerConfig};
use crate::connection::builder;

/// The provider of the configuration, if there is one.
pub fn identities(server: &ServerConfig) -> Result<Option<Arc<Login>>> {
    let OidcConfig { issuer: Some(issuer), audience, .. } = &server.oidc else {
        return Ok(None);
    };
    let Some(audience) = audience else {
        bail!(
            "server.oidc.issuer is set without server.oidc.audience, so that nobody knows whom its tokens are for"
        );
    };
    if server.gate.auth != Auth::Tokens {
        bail!("server.oidc.issuer is set, but nobody has to log in; add --auth tokens");
    }
    let settings = Settings { issuer: issuer.clone(), audience: audience.clone() };
    // A redirect could lead away from HTTPS.
    let client = builder(Trust::System)?.redirect(reqwest::redirect::Policy::none()).build()?;
    let provider = Provider::new(settings, client)?;
    Ok(Some(Arc::new(Login { provider, rules: Rules::of(&server.oidc)? })))
}

/// Believes one provider.
#[derive(Debug)]
pub struct Login {
    provider: Provider,
    rules: Rules,
}

impl Login {
    /// Fails while the provider can't be asked.
    pub async fn look_up(&self) -> Result<(), Error> {
        self.provider.look_up().await
    }
}

impl Identities for Login {
    fn identify<'a>(&'a self, token: &'a str) -> BoxFuture<'a, Result<Identity, Unproven>> {
        async move {
            match self.provider.verify(token).await {
                Ok(claims) => Ok(self.rules.identity(&claims)),
                Err(refused @ Error::Refused(_)) => Err(Unproven::Refused(refused.to_string())),
                Err(other) => Err(Unproven::Unavailable(other.to_string())),
            }
        }
        .boxed()
    }
}

/// What follows from the claims of a token.
#[derive(Debug)]
struct Rules {
    claim: String,
    prefix: String,
    everyone: Vec<Scope>,
}

impl Rules {
    fn of(config: &OidcConfig) -> Result<Rules> {
        let mut everyone = Vec::new();
        for name in &config.everyone {
            match Scope::find(name) {
                Some(scope) => everyone.push(scope),
                None => bail!(
                    "server.oidc.everyone has '{name}', which is no scope; they are viewer, operator, worker and admin"
                ),
            }
        }
        Ok(Rules { claim: config.claim.clone(), prefix: config.prefix.clone(), everyone })
    }

    fn identity(&self, claims: &Claims) -> Identity {
        let words = claims.words(&self.claim);
        let named =
            words.iter().filter_map(|word| word.strip_prefix(self.prefix.as_str())).filter_map(Scope::find);
        Identity {
            name: format!("oidc:{}", claims.name()),
            scopes: self.everyone.iter().copied().chain(named).collect(),
        }
    }
}
