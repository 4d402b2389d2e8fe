//! Rations calls: each client has a bucket that fills at a steady rate, and every call takes one from it.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use noetl_types::Timestamp;

use super::super::guard::Caller;
use super::{Gate, Peer};
use crate::app::{Code, Error};

/// Whose bucket it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Client {
    Token(i64),
    Address(IpAddr),
    Unknown,
}

pub async fn ration(State(gate): State<Gate>, request: Request, next: Next) -> Response {
    let Some(buckets) = &gate.inner.buckets else {
        return next.run(request).await;
    };
    let token = request.extensions().get::<Caller>().and_then(|caller| caller.token);
    let peer = request.extensions().get::<Peer>();
    let client = match (token, peer) {
        (Some(token), _) => Client::Token(token),
        (None, Some(Peer(address))) => Client::Address(address.ip()),
        (None, None) => Client::Unknown,
    };
    match buckets.take(client, gate.app().now()) {
        Ok(()) => next.run(request).await,
        Err(wait) => Error::new(Code::TooManyRequests, "this client calls more often than it may")
            .help("wait for the time in Retry-After, then go on more slowly")
            .retry_after(wait)
            .into_response(),
    }
}

/// The buckets of all clients that called lately.
#[derive(Debug)]
pub struct Buckets {
    /// How fast they fill.
    per_second: u32,
    /// What they hold.
    burst: u32,
    by_client: Mutex<HashMap<Client, Bucket>>,
}

#[derive(Clone, Copy, Debug)]
struct Bucket {
    left: f64,
    at: Timestamp,
}

/// Buckets that are kept before those that are full again are thrown away.
const KEPT: usize = 10_000;

impl Buckets {
    pub fn new(per_second: u32, burst: u32) -> Buckets {
        Buckets { per_second, burst, by_client: Mutex::default() }
    }

    /// Takes one, or says how long to wait for it.
    fn take(&self, client: Client, now: Timestamp) -> Result<(), Duration> {
        let per_second = f64::from(self.per_second.max(1));
        let most = f64::from(self.burst.max(1));
        let filled =
            |bucket: &Bucket| (bucket.left + now.since(bucket.at).as_secs_f64() * per_second).min(most);
        let mut by_client = self.by_client.lock().unwrap_or_else(PoisonError::into_inner);
        if by_client.len() >= KEPT {
            by_client.retain(|_, bucket| filled(bucket) < most);
        }
        let bucket = by_client.entry(client).or_insert(Bucket { left: most, at: now });
        let left = filled(bucket);
        if left < 1.0 {
            *bucket = Bucket { left, at: now };
            return Err(Duration::from_secs_f64((1.0 - left) / per_second));
        }
        *bucket = Bucket { left: left - 1.0, at: now };
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_is_let_through_and_then_the_steady_rate() {
        let buckets = Buckets::new(2, 3);
        let mut now = Timestamp::from_millis(1_000);
        for _ in 0..3 {
            assert_eq!(buckets.take(Client::Token(1), now), Ok(()));
        }
        assert_eq!(buckets.take(Client::Token(1), now), Err(Duration::from_millis(500)));
        assert_eq!(buckets.take(Client::Token(2), now), Ok(()), "others have buckets of their own");
        now = now.after(Duration::from_millis(500));
        assert_eq!(buckets.take(Client::Token(1), now), Ok(()));
        assert!(buckets.take(Client::Token(1), now).is_err());
    }
}
