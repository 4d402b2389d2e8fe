use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use noetl_tools::{Call, Secrets, Toolbox};
use noetl_types::{ErrorKind, Report, Value, value};

use crate::harness::*;
use crate::http_server::{Request, Response, answer, serve};

/// Answers with what it was asked, as JSON.
fn echo() -> String {
    serve(|request| answer(200, "application/json", describe(&request)))
}

fn describe(request: &Request) -> String {
    let json: Option<Value> = serde_json::from_slice(&request.body).ok();
    let body = String::from_utf8_lossy(&request.body).into_owned();
    let headers =
        Value::map(request.headers.iter().map(|(name, value)| (name.as_str(), value.as_str().into())));
    Value::map([
        ("method", request.method.as_str().into()),
        ("target", request.target.as_str().into()),
        ("headers", headers),
        ("body_text", body.into()),
        ("json", json.unwrap_or_default()),
    ])
    .to_string()
}

#[track_caller]
fn seen(report: &Report) -> Value {
    data(report).get("data").unwrap().clone()
}

fn with(base: &str, path: &str, more: Value) -> Value {
    value!({"url": format!("{base}{path}")}).merged_deeply(&more)
}

#[test]
fn a_get_sends_parameters_and_headers_and_gives_the_whole_answer() {
    let report = run(
        "http",
        with(
            &echo(),
            "/echo?first=0",
            value!({"params": {"a": 1, "b": "東京 & co", "none": null, "l": [1, "x"], "t": true}, "headers": {"X-Trace": 5, "X-None": null}}),
        ),
    );
    let data = data(&report);
    assert_eq!(data.get("status"), Some(&value!("success")));
    assert_eq!(data.get("status_code"), Some(&value!(200)));
    assert_eq!(data.get("data"), data.get("body"));
    assert_eq!(data.get("headers").unwrap().get("content-type"), Some(&value!("application/json")));
    assert!(data.get("url").unwrap().as_str().unwrap().contains("/echo?first=0"));
    assert!(data.get("elapsed").unwrap().as_f64().unwrap() > 0.0);
    assert_eq!(report.facets.get("http").unwrap().get("status"), Some(&value!(200)));

    let seen = seen(&report);
    assert_eq!(seen.get("method"), Some(&value!("GET")));
    let target = "/echo?first=0&a=1&b=%E6%9D%B1%E4%BA%AC+%26+co&l=1&l=x&t=true";
    assert_eq!(seen.get("target"), Some(&value!(target)));
    assert_eq!(seen.get("headers").unwrap().get("x-trace"), Some(&value!("5")));
    assert_eq!(seen.get("headers").unwrap().get("x-none"), None);
}

#[test]
fn every_form_of_body_arrives_as_meant() {
    let base = echo();
    let sent = |settings: Value| seen(&run("http", with(&base, "/", settings)));
    let content_type =
        |seen: &Value| seen.get("headers").unwrap().get("content-type").cloned().unwrap_or_default();

    let json = sent(value!({"method": "post", "json": {"n": 5, "list": [1, null, "007"]}}));
    assert_eq!(json.get("json"), Some(&value!({"n": 5, "list": [1, null, "007"]})));
    assert_eq!(
        (content_type(&json), json.get("method")),
        (value!("application/json"), Some(&value!("POST")))
    );

    let form = sent(value!({"method": "POST", "form": {"a": 1, "b": "x y", "c": null}}));
    assert_eq!(form.get("body_text"), Some(&value!("a=1&b=x+y")));
    assert_eq!(content_type(&form), value!("application/x-www-form-urlencoded"));

    let raw = sent(value!({"method": "PUT", "headers": {"Content-Type": "text/csv"}, "body": "a,b"}));
    assert_eq!((raw.get("body_text"), content_type(&raw)), (Some(&value!("a,b")), value!("text/csv")));
    assert_eq!(sent(value!({"method": "POST", "body": {"a": 1}})).get("json"), Some(&value!({"a": 1})));

    assert_eq!(sent(value!({"method": "POST", "payload": {"a": 1}})).get("json"), Some(&value!({"a": 1})));
    let split = sent(value!({"method": "POST", "data": {"query": {"q": 1}, "body": {"b": 2}}}));
    assert_eq!((split.get("target"), split.get("json")), (Some(&value!("/?q=1")), Some(&value!({"b": 2}))));
    assert_eq!(sent(value!({"method": "POST", "data": {"b": 2}})).get("json"), Some(&value!({"b": 2})));
    assert_eq!(sent(value!({"data": {"b": 2}})).get("target"), Some(&value!("/?b=2")));
}

#[test]
fn endpoint_is_another_name_of_url() {
    let report = run("http", value!({"endpoint": echo(), "method": "DELETE"}));
    assert_eq!(seen(&report).get("method"), Some(&value!("DELETE")));
    assert_eq!(
        data(&run("http", value!({"url": echo(), "method": "HEAD"}))).get("status_code"),
        Some(&value!(200))
    );
}

#[test]
fn text_is_never_taken_for_json_unless_somebody_says_so() {
    let base = serve(|request| match request.target.as_str() {
        "/json" => answer(200, "application/problem+json; charset=utf-8", r#"{"n": 1}"#),
        "/broken" => answer(200, "application/json", "{oops"),
        "/latin" => answer(200, "text/plain; charset=iso-8859-1", vec![b'Z', 0xfc]),
        "/bytes" => answer(200, "application/octet-stream", vec![0, 255]),
        "/none" => Response::Answer { status: 204, headers: Vec::new(), body: Vec::new() },
        "/number" => answer(200, "text/plain", "42"),
        _ => answer(200, "text/plain", "0042"),
    });
    let get = |path: &str, kind: &str| run("http", with(&base, path, value!({"response_type": kind})));
    assert_eq!(seen(&get("/text", "auto")), value!("0042"));
    assert_eq!(seen(&get("/number", "json")), value!(42));
    assert_eq!(seen(&get("/json", "auto")), value!({"n": 1}));
    assert_eq!(seen(&get("/json", "text")), value!("{\"n\": 1}"));
    assert_eq!(seen(&get("/broken", "auto")), value!("{oops"));
    assert_fails(&get("/broken", "json"), ErrorKind::Parse, "is not JSON");
    assert_eq!(seen(&get("/latin", "auto")), value!("Zü"));
    assert_eq!(seen(&get("/none", "auto")), Value::Null);
    for kind in ["auto", "binary"] {
        let binary = get("/bytes", kind);
        assert_eq!(seen(&binary), value!("AP8="));
        assert_eq!(data(&binary).get("encoding"), Some(&value!("base64")));
    }
    assert_fails(&get("/", "xml"), ErrorKind::Config, "`response_type` must be");
}

#[test]
fn a_status_outside_2xx_is_an_error_that_carries_the_answer() {
    let base = serve(|request| {
        let status = request.target[1..4].parse().unwrap();
        let headers = vec![("content-type", "application/json".to_owned()), ("retry-after", "2".to_owned())];
        Response::Answer { status, headers, body: format!("{{\"code\": {status}}}").into_bytes() }
    });
    for (status, kind, retryable) in [
        (400, ErrorKind::ClientError, false),
        (401, ErrorKind::Auth, false),
        (403, ErrorKind::Auth, false),
        (404, ErrorKind::NotFound, false),
        (408, ErrorKind::Timeout, true),
        (429, ErrorKind::RateLimit, true),
        (500, ErrorKind::ServerError, true),
        (501, ErrorKind::ServerError, false),
        (503, ErrorKind::ServerError, true),
    ] {
        let report = run("http", with(&base, &format!("/{status}?token=abc"), value!({})));
        let error = error(&report);
        assert_eq!((error.kind, error.retryable, error.answered), (kind, retryable, true), "{status}");
        assert_eq!(error.message, format!("HTTP {status} response from GET {base}/{status}"));
        assert_eq!(error.code, Some(format!("HTTP_{status}")));
        assert_eq!(error.details, value!({"status_code": status, "http_status": status, "retry_after": 2}));
        let data = report.data.as_inline().unwrap();
        assert_eq!(
            (data.get("status"), data.get("data")),
            (Some(&value!("error")), Some(&value!({"code": status})))
        );
        assert_eq!(report.facets.get("http").unwrap().get("status"), Some(&value!(status)));
    }
}

#[test]
fn redirects_are_followed_unless_told_otherwise() {
    let base = serve(|request| match request.target.as_str() {
        "/from" => {
            Response::Answer { status: 302, headers: vec![("location", "/to".to_owned())], body: Vec::new() }
        }
        "/loop" => Response::Answer {
            status: 302,
            headers: vec![("location", "/loop".to_owned())],
            body: Vec::new(),
        },
        _ => answer(200, "text/plain", "arrived"),
    });
    assert_eq!(seen(&run("http", with(&base, "/from", value!({})))), value!("arrived"));
    let stopped = run("http", with(&base, "/from", value!({"follow_redirects": false})));
    assert_eq!(data(&stopped).get("status_code"), Some(&value!(302)));
    assert_fails(
        &run("http", with(&base, "/loop", value!({}))),
        ErrorKind::ClientError,
        "too many redirects",
    );
}

#[test]
fn a_secret_in_a_header_does_not_follow_a_redirect_to_another_host() {
    let received = Arc::new(Mutex::new(Vec::new()));
    let kept = received.clone();
    let other = serve(move |request| {
        kept.lock().unwrap().push(request.header("x-api-key").to_owned());
        answer(200, "text/plain", "got it")
    });
    let to_other = other.clone();
    let base = serve(move |_| Response::Answer {
        status: 302,
        headers: vec![("location", format!("{to_other}/take"))],
        body: Vec::new(),
    });
    let report = run("http", with(&base, "/", value!({"auth": {"type": "api_key", "token": "hush-key"}})));
    assert_fails(&report, ErrorKind::ClientError, "HTTP 302");
    assert!(received.lock().unwrap().is_empty());
    assert_eq!(seen(&run("http", with(&base, "/", value!({})))), value!("got it"));
}

#[test]
fn every_kind_of_access_is_shown_inline_or_by_credential() {
    let base = echo();
    let credentials = credentials(&[
        ("b", "bearer", value!({"token": "tok-stored"})),
        ("u", "basic", value!({"username": "ann", "password": "pw"})),
        ("k", "api_key", value!({"api_key": "key-stored", "header": "X-Conf-Key"})),
        ("pg", "postgres", value!({"db_host": "h"})),
    ]);
    let sent = |settings: Value| {
        let mut call = Call::new(with(&base, "/", settings));
        call.credentials = credentials.clone();
        run_call("http", call)
    };
    let header = |report: &Report, name: &str| {
        seen(report).get("headers").unwrap().get(name).cloned().unwrap_or_default()
    };

    assert_eq!(
        header(&sent(value!({"auth": {"type": "bearer", "token": "tok-inline"}})), "authorization"),
        value!("Bearer tok-inline")
    );
    assert_eq!(header(&sent(value!({"auth": "b"})), "authorization"), value!("Bearer tok-stored"));
    assert_eq!(
        header(&sent(value!({"auth": {"type": "bearer", "credential": "b"}})), "authorization"),
        value!("Bearer tok-stored")
    );
    assert_eq!(
        header(&sent(value!({"auth": {"source": "credential", "key": "b"}})), "authorization"),
        value!("Bearer tok-stored")
    );
    assert_eq!(
        header(&sent(value!({"auth": {"crm": {"type": "bearer", "token": "x"}}})), "authorization"),
        value!("Bearer x")
    );
    assert_eq!(
        header(
            &sent(value!({"auth": {"type": "basic", "username": "ann", "password": "pw"}})),
            "authorization"
        ),
        value!("Basic YW5uOnB3")
    );
    assert_eq!(header(&sent(value!({"credential": "u"})), "authorization"), value!("Basic YW5uOnB3"));
    assert_eq!(
        header(&sent(value!({"auth": {"type": "api_key", "token": "key-inline"}})), "x-api-key"),
        value!("key-inline")
    );
    assert_eq!(
        header(&sent(value!({"auth": {"type": "api_key", "key": "X-Own", "value": "v"}})), "x-own"),
        value!("v")
    );
    assert_eq!(header(&sent(value!({"auth": "k"})), "x-conf-key"), value!("key-stored"));
    assert_eq!(
        header(&sent(value!({"auth": {"credential": "k", "header": "X-Mine"}})), "x-mine"),
        value!("key-stored")
    );
    let in_query = sent(value!({"auth": {"type": "api_key", "value": "v w", "in": "query", "name": "key"}}));
    assert_eq!(seen(&in_query).get("target"), Some(&value!("/?key=v+w")));
    let own_header = sent(value!({"auth": "b", "headers": {"Authorization": "Mine x"}}));
    assert_eq!(header(&own_header, "authorization"), value!("Mine x"));
    assert_eq!(header(&sent(value!({"auth": {"type": "none"}})), "authorization"), Value::Null);

    assert_fails(&sent(value!({"auth": "absent"})), ErrorKind::Auth, "credential 'absent' does not exist");
    assert_fails(&sent(value!({"auth": "pg"})), ErrorKind::Config, "credential 'pg' has type 'postgres'");
    assert_fails(&sent(value!({"auth": {"type": "bearer"}})), ErrorKind::Config, "type bearer needs token");
}

#[test]
fn secrets_show_neither_in_messages_nor_in_the_url() {
    let base = serve(|_| answer(500, "text/plain", "no"));
    let mut call = Call::new(with(&base, "/hush-keychain/x?n=hush-keychain", value!({})));
    call.secrets = Secrets::new(["hush-keychain"]);
    let report = run_call("http", call);
    assert_eq!(error(&report).message, format!("HTTP 500 response from GET {base}/[redacted]/x"));
    let url = report.data.as_inline().unwrap().get("url").unwrap().as_str().unwrap().to_owned();
    assert_eq!(url, format!("{base}/[redacted]/x?n=[redacted]"));

    let mut call = Call::new(with(&echo(), "/", value!({"auth": "k"})));
    call.credentials =
        credentials(&[("k", "api_key", value!({"value": "hush key", "in": "query", "name": "k"}))]);
    let report = run_call("http", call);
    assert!(
        data(&report).get("url").unwrap().as_str().unwrap().ends_with("/?k=[redacted]"),
        "{:?}",
        data(&report).get("url")
    );
}

#[test]
fn a_silent_server_is_a_timeout() {
    let base = serve(|_| Response::Silence);
    let start = Instant::now();
    for name in ["timeout_seconds", "timeout"] {
        let report = run("http", with(&base, "/slow?secret=1", value!({name: 0.2})));
        assert_fails(
            &report,
            ErrorKind::Timeout,
            &format!("GET {base}/slow was stopped at its timeout of 0.2 s"),
        );
        assert!(error(&report).retryable && !error(&report).answered);
    }
    assert!(start.elapsed() < Duration::from_secs(5));
}

#[test]
fn cancelling_ends_the_request() {
    let arrived = Arc::new(tokio::sync::Notify::new());
    let told = arrived.clone();
    let base = serve(move |_| {
        told.notify_one();
        Response::Silence
    });
    let call = Call::new(with(&base, "/", value!({})));
    let cancel = call.cancel.clone();
    let report = block_on(async {
        let running = tokio::spawn(shared().call("http", call));
        arrived.notified().await;
        cancel.cancel();
        running.await.unwrap()
    });
    assert_fails(&report, ErrorKind::Cancelled, "was cancelled");
}

#[test]
fn a_host_that_cannot_be_reached_is_a_connection_error() {
    let refused = run("http", value!({"url": "http://127.0.0.1:1/x?token=t", "timeout": 5}));
    assert_fails(
        &refused,
        ErrorKind::Connection,
        "GET http://127.0.0.1:1/x failed: the connection was refused",
    );
    assert!(error(&refused).retryable && !error(&refused).answered);
    let unknown = run("http", value!({"url": "http://no-such-host.invalid/", "timeout": 10}));
    assert_fails(&unknown, ErrorKind::Connection, "the host name could not be resolved");
    let plain = run("http", value!({"url": echo().replace("http://", "https://"), "verify_ssl": false}));
    assert_fails(&plain, ErrorKind::Connection, "tls handshake eof");
}

#[test]
fn wrong_settings_are_told_without_the_url() {
    assert_fails(&run("http", value!({})), ErrorKind::Config, "http: `url` is missing or empty");
    let relative = run("http", value!({"url": "example.com/x?token=hush"}));
    assert_fails(&relative, ErrorKind::Config, "it must look like https://host/path");
    assert!(!error(&relative).message.contains("hush"));
    assert_fails(&run("http", value!({"url": "ftp://host/"})), ErrorKind::Config, "has the scheme 'ftp'");
    assert_fails(&run("http", value!({"url": "http://h/", "method": "G T"})), ErrorKind::Config, "`method`");
    assert_fails(
        &run("http", value!({"url": "http://h/", "headers": {"a b": 1}})),
        ErrorKind::Config,
        "'a b'",
    );
    assert_fails(
        &run("http", value!({"url": "http://h/", "headers": {"a": "x\ny"}})),
        ErrorKind::Config,
        "without line breaks",
    );
}

#[test]
fn an_answer_above_the_limit_is_refused() {
    let base = serve(|_| answer(200, "text/plain", vec![b'x'; 5000]));
    let mut config = config();
    config.http.response_limit = 1000;
    let report = block_on(Toolbox::builtin(config).call("http", Call::new(value!({"url": base}))));
    assert_fails(&report, ErrorKind::StorageQuota, "larger than the 1000 bytes");
}

#[test]
fn a_script_is_loaded_from_a_web_server() {
    let base = serve(|request| match request.header("authorization") {
        "Bearer tok" => answer(200, "text/x-python", "result = {'n': n * 2}"),
        _ => answer(403, "text/plain", "no"),
    });
    let with_auth = |auth: Value| {
        let mut call = Call::new(
            value!({"script": {"uri": format!("{base}/code.py"), "source": {"type": "http", "auth": auth}}}),
        );
        call.input = value!({"n": 9});
        run_call("python", call)
    };
    assert_eq!(*data(&with_auth(value!({"type": "bearer", "token": "tok"}))), value!({"n": 18}));
    assert_fails(&with_auth(Value::Null), ErrorKind::Auth, "HTTP 403 response from GET");
}
