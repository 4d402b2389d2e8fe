//! Keeps web pages of other origins from using a visitor's browser against this server.
//!
//! Without login the browser's place in the network is all it takes to be let in, so two things are looked at: the name
//! under which the server is called, since a page can make its own name lead here, and the origin that the browser names.
//! Programs that are no browsers send no origin and are not concerned.

use std::net::IpAddr;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::super::config::Auth;
use super::Gate;
use crate::app::{Code, Error};

pub async fn check(State(gate): State<Gate>, request: Request, next: Next) -> Response {
    let config = gate.config();
    let host = host(&request);
    if config.auth == Auth::None
        && let Some(host) = &host
        && !is_ours(host, &config.hosts)
    {
        let name = name_of(host);
        return Error::new(
            Code::HostRefused,
            format!("this server is not called '{}'", name.escape_default()),
        )
        .help("call it by its address, or add the name to the hosts of its configuration")
        .into_response();
    }
    let origin = text(request.headers(), header::ORIGIN);
    let Some(origin) = origin else {
        return next.run(request).await;
    };
    if host.as_deref().is_some_and(|host| is_same(&origin, host)) {
        return next.run(request).await;
    }
    if is_allowed(&origin, &config.cors_origins) {
        return shared_with(&origin, request, next).await;
    }
    if is_page(&request) {
        return next.run(request).await;
    }
    Error::new(
        Code::OriginRefused,
        format!("pages of '{}' may not call this server", origin.escape_default()),
    )
    .help("add the origin to the cors-origins of the server's configuration")
    .into_response()
}

/// What the client calls the server, with the port.
fn host(request: &Request) -> Option<String> {
    let authority = request.uri().authority().map(|authority| authority.as_str().to_owned());
    authority.or_else(|| text(request.headers(), header::HOST))
}

fn text(headers: &HeaderMap, name: HeaderName) -> Option<String> {
    headers.get(name).map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned())
}

/// Plain addresses can't be made to lead elsewhere, and the names of this machine neither.
fn is_ours(host: &str, hosts: &[String]) -> bool {
    let name = name_of(host);
    let is_address = name.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>().is_ok();
    let name = name.to_ascii_lowercase();
    let is_local = name == "localhost" || name.ends_with(".localhost");
    is_address
        || is_local
        || hosts.iter().any(|known| known.eq_ignore_ascii_case(&name) || known.eq_ignore_ascii_case(host))
}

/// The host without its port.
fn name_of(host: &str) -> &str {
    match host.rfind(':') {
        Some(at) if !host[at..].contains(']') => &host[..at],
        _ => host,
    }
}

/// Whether a page of this origin was served by us.
fn is_same(origin: &str, host: &str) -> bool {
    let place = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
    place.is_some_and(|place| place.eq_ignore_ascii_case(host))
}

fn is_allowed(origin: &str, allowed: &[String]) -> bool {
    allowed.iter().any(|one| one == "*" || one.eq_ignore_ascii_case(origin))
}

/// Reading what is no part of the API harms nobody.
fn is_page(request: &Request) -> bool {
    let is_read = matches!(*request.method(), Method::GET | Method::HEAD);
    is_read && !request.uri().path().starts_with("/api/")
}

/// Answers a page of another origin so that its browser lets it see the answer.
async fn shared_with(origin: &str, request: Request, next: Next) -> Response {
    let is_question = request.method() == Method::OPTIONS
        && request.headers().contains_key(header::ACCESS_CONTROL_REQUEST_METHOD);
    let wanted = request.headers().get(header::ACCESS_CONTROL_REQUEST_HEADERS).cloned();
    let mut response =
        if is_question { StatusCode::NO_CONTENT.into_response() } else { next.run(request).await };
    let headers = response.headers_mut();
    if let Ok(origin) = HeaderValue::from_str(origin) {
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    }
    headers.append(header::VARY, HeaderValue::from_static("origin"));
    headers.insert(
        header::ACCESS_CONTROL_EXPOSE_HEADERS,
        HeaderValue::from_static("etag, retry-after, x-request-id"),
    );
    if is_question {
        headers.insert(
            header::ACCESS_CONTROL_ALLOW_METHODS,
            HeaderValue::from_static("GET, HEAD, POST, PUT, PATCH, DELETE"),
        );
        headers.insert(header::ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("600"));
        if let Some(wanted) = wanted {
            headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, wanted);
        }
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_of_this_machine_and_plain_addresses_are_ours() {
        let hosts = ["noetl.example.com".to_owned()];
        for host in [
            "localhost:8082",
            "LOCALHOST",
            "ui.localhost:1",
            "127.0.0.1",
            "[::1]:8082",
            "10.0.0.7:80",
            "noetl.example.com",
            "NoETL.example.com:443",
        ] {
            assert!(is_ours(host, &hosts), "{host}");
        }
        for host in ["evil.example.com", "localhost.evil.example.com:8082", "127.0.0.1.evil.example.com", ""]
        {
            assert!(!is_ours(host, &hosts), "{host}");
        }
    }

    #[test]
    fn only_the_very_same_place_is_the_same_origin() {
        assert!(is_same("http://localhost:8082", "localhost:8082"));
        assert!(!is_same("http://localhost:3000", "localhost:8082"));
        assert!(!is_same("null", "localhost:8082"));
        assert!(!is_same("http://localhost:8082.evil.example.com", "localhost:8082"));
    }
}
