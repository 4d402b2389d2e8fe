//! Finds the file that a request asks for.

use bytes::Bytes;
use http::request::Parts;
use http::{HeaderMap, Method, Response, StatusCode, header};

use crate::file::{self, File};
use crate::headers::{ALWAYS, ASK_FIRST, FOREVER};

/// Paths below which only programs look. They never get a page in place of what is not there.
const OF_PROGRAMS: [&str; 2] = ["/api", "/assets"];

/// The answer to a request for a part of the UI, or nothing when it asks for something else. An address of the UI that is
/// no file gets its first page when a browser goes there, since the rest of the address is for the script.
pub fn answer(request: &Parts) -> Option<Response<Bytes>> {
    if !matches!(request.method, Method::GET | Method::HEAD) {
        return None;
    }
    let path = request.uri.path();
    let is_page = path == "/" || is_navigation(path, &request.headers);
    let found = file::find(path).or_else(|| is_page.then(file::index))?;
    Some(told(found, &request.headers))
}

fn is_navigation(path: &str, headers: &HeaderMap) -> bool {
    let is_below =
        |prefix: &str| path.strip_prefix(prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    !OF_PROGRAMS.into_iter().any(is_below) && names(headers, header::ACCEPT, "text/html")
}

fn told(file: &'static File, asked: &HeaderMap) -> Response<Bytes> {
    let mut response = Response::builder()
        .header(header::ETAG, file.tag)
        .header(header::CACHE_CONTROL, if file.is_hashed() { FOREVER } else { ASK_FIRST })
        .header(header::VARY, "accept-encoding");
    for (name, value) in ALWAYS {
        response = response.header(name, value);
    }
    let response = if names(asked, header::IF_NONE_MATCH, file.tag) {
        response.status(StatusCode::NOT_MODIFIED).body(Bytes::new())
    } else {
        let response = response.header(header::CONTENT_TYPE, file.media_type());
        match file.gzip.filter(|_| names(asked, header::ACCEPT_ENCODING, "gzip")) {
            Some(gzip) => response.header(header::CONTENT_ENCODING, "gzip").body(Bytes::from_static(gzip)),
            None => response.body(Bytes::from_static(file.content)),
        }
    };
    response.expect("all its headers are fixed text")
}

/// Whether a list in a header has this entry.
fn names(headers: &HeaderMap, name: header::HeaderName, wanted: &str) -> bool {
    let values = headers.get_all(name);
    let mut entries =
        values.iter().filter_map(|value| value.to_str().ok()).flat_map(|value| value.split(','));
    entries.any(|entry| entry.split(';').next().is_some_and(|entry| entry.trim() == wanted))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(method: &str, path: &str, headers: &[(&str, &str)]) -> Option<Response<Bytes>> {
        let mut request = http::Request::builder().method(method).uri(path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        answer(&request.body(()).expect("a valid request").into_parts().0)
    }

    fn header<'r>(response: &'r Response<Bytes>, name: &str) -> &'r str {
        response.headers().get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }

    const BROWSER: (&str, &str) = ("accept", "text/html,application/xhtml+xml;q=0.9");

    #[test]
    fn every_address_of_the_ui_begins_with_its_page() {
        for path in ["/", "/executions", "/executions/380361384216494080?tab=timeline"] {
            let page = ask("GET", path, &[BROWSER]).expect(path);
            assert_eq!(page.status(), 200);
            assert_eq!(header(&page, "content-type"), "text/html; charset=utf-8");
        }
        assert!(ask("GET", "/", &[("accept", "*/*")]).is_some(), "the first page is for everybody");
    }

    #[test]
    fn programs_never_get_a_page() {
        for path in ["/api", "/api/nothing", "/assets/gone-12345678.js"] {
            assert!(ask("GET", path, &[BROWSER]).is_none(), "{path}");
        }
        assert!(ask("GET", "/executions", &[("accept", "application/json")]).is_none());
        assert!(ask("GET", "/executions", &[]).is_none());
        assert!(ask("POST", "/", &[BROWSER]).is_none());
    }

    #[test]
    fn who_has_the_page_is_told_that_it_has_not_changed() {
        let page = ask("GET", "/", &[BROWSER]).expect("the page");
        let tag = header(&page, "etag").to_owned();
        let again = ask("GET", "/", &[BROWSER, ("if-none-match", &tag)]).expect("the page");
        assert_eq!(again.status(), 304);
        assert!(again.body().is_empty());
        let other =
            ask("GET", "/", &[BROWSER, ("if-none-match", "\"of an earlier build\"")]).expect("the page");
        assert_eq!(other.status(), 200);
    }

    #[test]
    fn scripts_come_from_the_site_alone_and_no_other_site_frames_it() {
        let page = ask("GET", "/", &[BROWSER]).expect("the page");
        let policy = header(&page, "content-security-policy");
        assert!(policy.contains("script-src 'self';"), "{policy}");
        assert!(policy.contains("frame-ancestors 'none'"), "{policy}");
        assert!(!policy.contains("unsafe"), "{policy}");
        assert_eq!(header(&page, "x-content-type-options"), "nosniff");
    }

    #[test]
    fn compressed_files_go_only_to_those_who_can_read_them() {
        for file in file::FILES.iter().filter(|file| file.gzip.is_some()) {
            let plain = ask("GET", file.path, &[]).expect(file.path);
            assert_eq!(header(&plain, "content-encoding"), "", "{}", file.path);
            assert_eq!(plain.body(), file.content);
            let gzip = ask("GET", file.path, &[("accept-encoding", "gzip, deflate, br")]).expect(file.path);
            assert_eq!(header(&gzip, "content-encoding"), "gzip", "{}", file.path);
            assert!(gzip.body().len() < plain.body().len(), "{}", file.path);
        }
    }
}
