//! What every request passes before it comes to its route, from the outside in: it gets a number and is counted, a panic
//! becomes an answer, its origin is looked at, its size and time are bounded, its caller is found out, calls are rationed,
//! and changes are written down.

mod audit;
mod identity;
mod limits;
mod observe;
mod origin;
mod panics;
mod rate;

use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::middleware::{from_fn, from_fn_with_state};

use super::config::HttpConfig;
use crate::app::App;
pub use audit::{Audited, Recorded};
use rate::Buckets;

/// Where a request came from.
#[derive(Clone, Copy, Debug)]
pub struct Peer(pub SocketAddr);

/// What the layers share.
#[derive(Clone, Debug)]
pub struct Gate {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    app: App,
    config: HttpConfig,
    buckets: Option<Buckets>,
}

impl Gate {
    pub fn new(app: App, config: &HttpConfig) -> Gate {
        let buckets = config.effective_rate().map(|rate| Buckets::new(rate, config.burst));
        Gate { inner: Arc::new(Inner { app, config: config.clone(), buckets }) }
    }

    /// The routes behind the gate.
    pub fn around(self, routes: Router<App>) -> Router<App> {
        routes
            .layer(from_fn_with_state(self.clone(), audit::record))
            .layer(from_fn_with_state(self.clone(), rate::ration))
            .layer(from_fn_with_state(self.clone(), identity::identify))
            .layer(from_fn_with_state(self.clone(), limits::bound))
            .layer(from_fn_with_state(self.clone(), origin::check))
            .layer(from_fn(panics::catch))
            .layer(from_fn_with_state(self, observe::observe))
    }

    fn app(&self) -> &App {
        &self.inner.app
    }

    fn config(&self) -> &HttpConfig {
        &self.inner.config
    }
}
