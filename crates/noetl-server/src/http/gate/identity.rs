//! Who asks: found out from the token that comes with the request.

use std::time::Duration;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use noetl_store::sha256_hex;
use subtle::ConstantTimeEq;

use super::super::config::{Auth, SecretText};
use super::super::guard::{Caller, Identities, Identity, Scope, Unproven, not_authenticated};
use super::Gate;
use crate::app::{Code, Error};

/// Routes of this prefix are for workers and other servers.
const INTERNAL: &str = "/api/internal/";

/// When it is worth trying again after the issuer of a token did not answer.
const SOON: Duration = Duration::from_secs(10);

pub async fn identify(State(gate): State<Gate>, mut request: Request, next: Next) -> Response {
    let shown = Shown::by(&request);
    match caller(&gate, &shown).await {
        Ok(Some(caller)) => {
            request.extensions_mut().insert(caller);
            next.run(request).await
        }
        // Routes for everybody answer; the others ask for a token.
        Ok(None) => next.run(request).await,
        Err(error) => error.into_response(),
    }
}

/// What a request shows of its caller.
struct Shown {
    is_internal: bool,
    /// There is something, though it may not be a token.
    anything: bool,
    token: Option<String>,
}

impl Shown {
    fn by(request: &Request) -> Shown {
        Shown {
            is_internal: request.uri().path().starts_with(INTERNAL),
            anything: request.headers().contains_key(header::AUTHORIZATION),
            token: bearer(request.headers()).map(str::to_owned),
        }
    }
}

async fn caller(gate: &Gate, shown: &Shown) -> Result<Option<Caller>, Error> {
    let config = gate.config();
    if let Some(token) = &shown.token
        && let Some(caller) = configured(gate, token)
    {
        return Ok(Some(caller));
    }
    match (config.auth, shown.is_internal) {
        (Auth::None, true) if config.internal_token.is_some() => Err(not_internal()),
        (Auth::None, _) => Ok(Some(Caller::anonymous_admin())),
        (Auth::Tokens, is_internal) => {
            if let Some(token) = &shown.token {
                let found = match &config.identities {
                    Some(identities) if is_signed(token) => Some(vouched(&**identities, token).await?),
                    _ => stored(gate, token).await?,
                };
                if found.is_some() {
                    return Ok(found);
                }
            }
            match (is_internal, &config.internal_token) {
                (true, None) if !shown.anything => Err(Error::new(
                    Code::InternalTokenMissing,
                    "the internal routes are closed, since the server was started without an internal token",
                )
                .help(
                    "use a token with the scope 'worker', or start the server with NOETL_INTERNAL_API_TOKEN",
                )),
                (true, Some(_)) => Err(not_internal()),
                _ if shown.anything => {
                    Err(not_authenticated("the token is unknown, has expired or was revoked"))
                }
                _ => Ok(None),
            }
        }
    }
}

/// A caller with one of the tokens that the server was started with.
fn configured(gate: &Gate, token: &str) -> Option<Caller> {
    let config = gate.config();
    if config.admin_token.as_ref().is_some_and(|admin| same(admin, token)) {
        return Some(Caller::fixed("admin", Scope::Admin));
    }
    if config.internal_token.as_ref().is_some_and(|internal| same(internal, token)) {
        return Some(Caller::fixed("internal", Scope::Worker));
    }
    None
}

async fn stored(gate: &Gate, token: &str) -> Result<Option<Caller>, Error> {
    let found = gate.app().find_token(token).await?;
    Ok(found.map(|found| Caller {
        name: found.name.to_string(),
        scopes: found.scopes.iter().filter_map(|name| Scope::find(name)).collect(),
        token: Some(found.id),
    }))
}

/// Whether a token is of the form that other programs sign: three parts with dots between them. Ours have none.
fn is_signed(token: &str) -> bool {
    token.split('.').count() == 3
}

async fn vouched(identities: &dyn Identities, token: &str) -> Result<Caller, Error> {
    match identities.identify(token).await {
        Ok(Identity { name, scopes }) => Ok(Caller { name, scopes, token: None }),
        Err(Unproven::Refused(why)) => Err(Error::new(Code::NotAuthenticated, why).help(
            "get a new token from its issuer; `noetl config show` on the server says which one counts",
        )),
        Err(Unproven::Unavailable(why)) => {
            Err(Error::new(Code::IssuerUnavailable, format!("nobody can tell whose token it is: {why}"))
                .help("try again, or use a token of this server (`noetl token create`)")
                .retry_after(SOON))
        }
    }
}

/// Compares digests, so that neither content nor length shows in the time it takes.
fn same(known: &SecretText, given: &str) -> bool {
    let digest = |text: &str| sha256_hex(text.as_bytes()).into_bytes();
    digest(known.reveal()).ct_eq(&digest(given)).into()
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim()).filter(|token| !token.is_empty())
}

fn not_internal() -> Error {
    Error::new(Code::Forbidden, "this route is for workers and other servers")
        .help("send the internal token, or a token with the scope 'worker'")
}
