//! What the HTTP server counts.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::histogram::Histogram;
use super::text::Text;
use super::{HTTP_CONNECTIONS, HTTP_DURATION, HTTP_REQUESTS};

const BOUNDS: &[f64] = &[0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0];

/// Requests by route. Paths that are no route count as one, so that callers can't make up labels.
#[derive(Debug, Default)]
pub struct Requests {
    by_route: Mutex<BTreeMap<(&'static str, String), Answered>>,
    connections: AtomicU64,
}

#[derive(Debug)]
struct Answered {
    by_status: BTreeMap<u16, u64>,
    took: Histogram,
}

/// Counts a connection for as long as it lives.
#[derive(Debug)]
pub struct Connected<'a>(&'a Requests);

impl Drop for Connected<'_> {
    fn drop(&mut self) {
        self.0.connections.fetch_sub(1, Relaxed);
    }
}

impl Requests {
    pub fn connected(&self) -> Connected<'_> {
        self.connections.fetch_add(1, Relaxed);
        Connected(self)
    }

    pub fn answered(&self, method: &axum::http::Method, route: Option<&str>, status: u16, took: Duration) {
        let key = (known(method), route.unwrap_or("other").to_owned());
        let mut by_route = self.by_route.lock().unwrap_or_else(PoisonError::into_inner);
        let answered = by_route
            .entry(key)
            .or_insert_with(|| Answered { by_status: BTreeMap::new(), took: Histogram::new(BOUNDS) });
        *answered.by_status.entry(status).or_default() += 1;
        answered.took.observe(took.as_secs_f64());
    }

    pub(super) fn write(&self, text: &mut Text) {
        let by_route = self.by_route.lock().unwrap_or_else(PoisonError::into_inner);
        text.begin(&HTTP_REQUESTS);
        for ((method, route), answered) in by_route.iter() {
            for (status, count) in &answered.by_status {
                let labels = [("method", *method), ("route", route), ("status", &status.to_string())];
                text.sample(HTTP_REQUESTS.name, &labels, *count as f64);
            }
        }
        text.begin(&HTTP_DURATION);
        for ((method, route), answered) in by_route.iter() {
            text.histogram(HTTP_DURATION.name, &[("method", method), ("route", route)], &answered.took);
        }
        text.single(&HTTP_CONNECTIONS, self.connections.load(Relaxed) as f64);
    }
}

/// A method can be any word; those that nobody needs are one.
fn known(method: &axum::http::Method) -> &'static str {
    ["GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS"]
        .into_iter()
        .find(|name| *name == method.as_str())
        .unwrap_or("OTHER")
}
